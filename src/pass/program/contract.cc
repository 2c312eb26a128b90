// contract: a product that one addition or subtraction reads, and nothing else, becomes a fused multiply-add with it.
//
// This is the only place where equations are contracted, and code generators contract nothing: a value may be computed
// in several kernels (fused into each that reads it), in a vector loop and in its tail, and a comparison of it with
// something computed from it (`d == max(d, eps)`, the derivative of extrema) is only right if it has the same bits
// everywhere. So the decision looks at equations alone. A product that something else reads too stays, with its own
// rounding, which that reader sees: `p - max(p, q)` is exactly 0 where p is the maximum. Equal equations have become
// one before (cse), or two copies of one value would be rounded differently.
//
// It comes before anything that depends on a schedule: in lanes and as operations on batches the same equations are
// contracted. What is a product or a sum is known by the rows (rule `contract`).
//
// Within lowerings `ricci_kernel_multiply_add` contracts, and sums of products do when their loop is closed (YIELD).
// `reduce_precision` to the same precision keeps a product apart. When code generators contracted, `d = v - m * m` had
// other bits in a kernel that also needed `m * m`. Then `eq(d, max(d, eps))` was false where it must be true. The
// fuzzer compares these bits between schedules, levels and sets of passes.
#include "pass/program/rewrite_rule.h"
#include "transform/rules.h"

namespace ricci { inline namespace v0 { namespace pass {
namespace {

// How many operands and results of `f` each of its values is.
std::vector<uint32_t> CountReaders(const ir::Program& f) {
  std::vector<uint32_t> readers(f.values.size());
  for (const ir::Equation& eqn : f.equations) {
    for (const ir::ValueId v : eqn.operands) ++readers[v];
  }
  for (const ir::ValueId v : f.results) ++readers[v];
  return readers;
}

// The rule `contract` on `eqn` with operands `in`. Empty: it stays.
absl::StatusOr<Vals> ApplyContract(Builder& b, const ir::Program& f, const ir::Equation& eqn,
                                   std::span<const trace::Val> in, std::span<const uint32_t> readers) {
  const prim::Row& row = b.registry().Get(eqn.prim);
  if (row.def.contract == nullptr) return Vals{};
  std::vector<uint8_t> only;
  for (const ir::ValueId v : eqn.operands) only.push_back(readers[v] == 1);
  if (std::ranges::none_of(only, [](uint8_t o) { return o != 0; })) return Vals{};
  return RewriteByRule(b, f, eqn, "contract", prim::Rule::kContract, [&](const ricci_op* op, ricci_val* out) {
    return row.def.contract(row.def.self, Abi(&b), op, in.data(), only.data(), out);
  });
}

absl::StatusOr<ir::ProgramRef> ContractProgram(const ir::Program& program) {
  const std::vector<uint32_t> readers = CountReaders(program);
  return Rebuild(program,
                 [&](Builder& b, const ir::Program& f, const ir::Equation& eqn,
                     std::span<const trace::Val> in) -> absl::StatusOr<Vals> {
                   auto contracted = ApplyContract(b, f, eqn, in, readers);
                   if (!contracted.ok()) return transform::AtEquation(contracted.status(), f, eqn, "contract");
                   if (!contracted->empty()) return contracted;
                   return CopyWithNested(b, f, eqn, in, ContractProgram);
                 });
}

}  // namespace

absl::StatusOr<ir::ProgramRef> Contract(const ir::Program& f, const Options& options) {
  if (!options.target.contracts()) return ir::ProgramRef(&f);
  RICCI_ASSIGN(const ir::ProgramRef contracted, ContractProgram(f));
  return Dce(*contracted, options);  // the products that nothing reads now
}

}}}  // namespace ricci::v0::pass
