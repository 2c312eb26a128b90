// inline: equations whose best lowering is a decomposition (call, checkpoint, custom rules, composite primitives) are
// replaced by that, in nested programs too, until none is left.
//
// An operation is not decomposed if something better accepts it: a library call or a kernel lowering with a higher
// priority.
#include "pass/program/pass.h"
#include "pass/target/choose_lowering.h"
#include "transform/rules.h"

namespace ricci { inline namespace v0 { namespace pass {
namespace {

constexpr uint32_t kMaxRounds = 1000;  // of decompositions within decompositions

absl::StatusOr<ir::ProgramRef> InlineIn(const ir::Program& f, const Options& options, uint32_t round);
absl::StatusOr<Vals> AppendInlined(Builder& b, const ir::Program& f, std::span<const trace::Val> in,
                                   const Options& options, uint32_t round);

absl::StatusOr<Vals> Step(Builder& b, const ir::Program& f, const ir::Equation& eqn, std::span<const trace::Val> in,
                          const Options& options, uint32_t round) {
  const trace::Op op(f, eqn);
  const prim::Row& row = b.registry().Get(eqn.prim);
  RICCI_ASSIGN(const ricci_lowering* l, ChooseLowering(row, *op.get(), options.target, kAllKinds));
  if (l == nullptr || l->kind != RICCI_LOWER_DECOMPOSE) {
    return CopyWithNested(b, f, eqn, in, [&](const ir::Program& p) { return InlineIn(p, options, round); });
  }
  if (round >= kMaxRounds) {
    return transform::AtEquation(base::InvalidArgument(row.name, ": its decomposition never ends"), f, eqn,
                                 "decompose");
  }
  auto body = transform::Decompose(b.registry(), *op.get(), *l, b.depth());
  if (!body.ok()) return transform::AtEquation(body.status(), f, eqn, "decompose");
  return AppendInlined(b, **body, in, options, round + 1);
}

// Appends the equations of `f`, each replaced by its decomposition, directly to `b`: an intermediate program for every
// level would copy the innermost equations once per level.
absl::StatusOr<Vals> AppendInlined(Builder& b, const ir::Program& f, std::span<const trace::Val> params,
                                   const Options& options, uint32_t round) {
  return AppendRebuilt(b, f, params,
                       [&](Builder&, const ir::Program& p, const ir::Equation& eqn, std::span<const trace::Val> in) {
                         return Step(b, p, eqn, in, options, round);
                       });
}

absl::StatusOr<ir::ProgramRef> InlineIn(const ir::Program& f, const Options& options, uint32_t round) {
  return Rebuild(f, [&](Builder& b, const ir::Program& p, const ir::Equation& eqn, std::span<const trace::Val> in) {
    return Step(b, p, eqn, in, options, round);
  });
}

}  // namespace

absl::StatusOr<ir::ProgramRef> InlineCalls(const ir::Program& f, const Options& options) {
  return InlineIn(f, options, 0);
}

}}}  // namespace ricci::v0::pass
