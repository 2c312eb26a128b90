#include "trace/rewriter.h"

#include "base/hash_map.h"

namespace ricci { inline namespace v0 { namespace trace {

Vals Rewriter::operator[](std::span<const ir::ValueId> values) const {
  Vals out;
  out.reserve(values.size());
  for (ir::ValueId v : values) out.push_back(values_[v]);
  return out;
}

absl::Status Rewriter::AddConstant(const ir::Constant& c) {
  RICCI_ASSIGN(values_[c.value], to_.Constant(from_.type_id(c.value), c.splat, c.data));
  return absl::OkStatus();
}

absl::Status Rewriter::AddConstants() {
  for (const ir::Constant& c : from_.constants) RICCI_TRY(AddConstant(c));
  return absl::OkStatus();
}

absl::Status Rewriter::Copy(const ir::Equation& eqn) {
  operands_.clear();
  for (ir::ValueId v : eqn.operands) operands_.push_back(values_[v]);
  RICCI_ASSIGN(const Vals out, to_.Copy(from_, eqn, operands_));
  SetResults(eqn, out);
  return absl::OkStatus();
}

absl::Status Rewriter::CopyAll() {
  for (const ir::Equation& eqn : from_.equations) RICCI_TRY(Copy(eqn));
  return absl::OkStatus();
}

// Adds constants and given values that `v` takes; lists the equations that are left, found backwards.
absl::Status Rewriter::Collect(ir::ValueId v, const Given& given, std::vector<uint32_t>& equations) {
  std::vector<ir::ValueId> stack{v};
  base::HashSet<uint32_t> seen;
  while (!stack.empty()) {
    const ir::ValueId at = stack.back();
    stack.pop_back();
    if (values_[at] != kNone) continue;
    if (const ir::Constant* c = from_.constant(at)) {
      RICCI_TRY(AddConstant(*c));
      continue;
    }
    if (given) {
      RICCI_ASSIGN(values_[at], given(at));
    }
    if (values_[at] != kNone) continue;
    const ir::Equation* eqn = from_.definition(at);
    RICCI_TRY(base::Invariant(eqn != nullptr, "a parameter is needed that has no value"));
    if (!seen.insert(from_.values[at].index).second) continue;
    equations.push_back(from_.values[at].index);
    stack.insert(stack.end(), eqn->operands.begin(), eqn->operands.end());
  }
  return absl::OkStatus();
}

absl::StatusOr<Val> Rewriter::Need(ir::ValueId v, const Given& given) {
  if (values_[v] != kNone) return values_[v];
  std::vector<uint32_t> equations;
  RICCI_TRY(Collect(v, given, equations));
  std::sort(equations.begin(), equations.end());
  for (uint32_t e : equations) RICCI_TRY(Copy(from_.equations[e]));
  return values_[v];
}

}}}  // namespace ricci::v0::trace
