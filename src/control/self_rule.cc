#include "control/self_rule.h"

#include "absl/strings/str_join.h"
#include "transform/release.h"
#include "transform/vmap.h"

namespace ricci { inline namespace v0 { namespace control {
namespace {

std::string_view NameOf(Builder& b, const StructuralOp& h) { return b.registry().Get(h.op.prim).name; }

std::string TypesText(Builder& b, std::span<const TypeId> types) {
  std::vector<std::string> texts;
  for (TypeId t : types) texts.push_back(ToText(b.types().Get(t)));
  return base::Cat("(", absl::StrJoin(texts, ", "), ")");
}

// The types of an equation's operands and of its results as text.
std::string Signature(Builder& b, std::span<const TypeId> in, std::span<const TypeId> out) {
  return base::Cat(TypesText(b, in), " -> ", TypesText(b, out));
}

absl::Status CheckStandIn(Builder& b, const StructuralOp& h, std::span<const TypeId> results, const Program& p,
                          const ir::Equation& e) {
  const std::span<const TypeId> in(e.types, e.operands.size()), out(e.types + e.operands.size(), e.n_results);
  if (std::ranges::equal(in, h.in_types()) && std::ranges::equal(out, results)) return absl::OkStatus();
  const std::string_view name = NameOf(b, h);
  return transform::AtEquation(
      base::InvalidArgument(name, ": self=", ir::SelfLevel(e.attrs), " stands for a ", name, " of types ",
                            Signature(b, h.in_types(), results), ", but is applied at ", Signature(b, in, out),
                            "; other types need an operation of their own"),
      p, e, "abstract_eval");
}

}  // namespace

absl::Status CheckSelfRule(Builder& b, const StructuralOp& h, std::span<const std::string_view> rules,
                           std::span<const TypeId> results) {
  const std::string_view name = NameOf(b, h);
  const ricci_attr* self = ir::FindAttr(h.attrs, ir::kSelf);
  if (self != nullptr && (self->i < 1 || self->i > trace::kMaxDepth)) {
    return base::InvalidArgument(name, ": self=", self->i, " stands for nothing; 1 is the innermost ", name,
                                 " around it, 2 the next");
  }
  for (std::string_view rule : rules) {
    const bool given = ir::FindAttr(h.attrs, rule) != nullptr;
    if (self == nullptr && !given) return base::InvalidArgument(name, ": attribute ", rule, " (program) is missing");
    if (self != nullptr && given) {
      return base::InvalidArgument(name, ": has self=", self->i, " and ", rule,
                                   "; an operation that stands for another ", name, " has the rules of that one");
    }
    if (!given) continue;
    RICCI_TRY(ir::EachSelf(h.program(rule), h.op.prim,
                           [&](const Program& p, const ir::Equation& e) { return CheckStandIn(b, h, results, p, e); }));
  }
  return absl::OkStatus();
}

bool IsRecursive(const StructuralOp& h) {
  bool any = StandsForOther(h);
  for (const ricci_attr& a : h.attrs) {
    for (ricci_program* p : ir::Programs(a)) any |= !ir::FromAbi(p)->outward.empty();
  }
  return any;
}

absl::StatusOr<ProgramRef> Released(const StructuralOp& h, std::string_view name) {
  if (ir::FindAttr(h.attrs, name) == nullptr) {
    return absl::FailedPreconditionError(base::Cat(
        "self=", ir::SelfLevel(h.attrs),
        " stands for the operation whose rule it is in and has no derivative of its own; differentiate that one"));
  }
  return transform::Release(h.program(name), h.op.prim, h.attrs);
}

absl::Status BatchWhole(Builder& b, const StructuralOp& h, const ricci_batch_args& a) {
  RICCI_ASSIGN(const Vals in, BatchAll(b, a, h.op.n_in));
  const std::string_view axis(a.axis_name.ptr, a.axis_name.len);
  std::vector<ricci_attr> attrs(h.attrs.begin(), h.attrs.end());
  std::vector<ProgramRef> keep;
  std::vector<ricci_program*> handles(attrs.size());
  for (size_t i = 0; i < attrs.size(); ++i) {
    if (attrs[i].kind != RICCI_ATTR_PROGRAM) continue;
    const Program& p = *ir::FromAbi(ir::Programs(attrs[i])[0]);
    const Mask params(p.n_params(), 1), results(p.n_results(), 1);
    RICCI_ASSIGN(auto batched, transform::Batch(p, params, a.axis_size, axis, results));
    handles[i] = ir::Abi(batched.program.get());
    attrs[i].data = &handles[i];
    keep.push_back(std::move(batched.program));
  }
  RICCI_ASSIGN(Vals out, b.Emit(h.op.prim, attrs, in));
  std::copy(out.begin(), out.end(), a.out);
  return absl::OkStatus();
}

}}}  // namespace ricci::v0::control
