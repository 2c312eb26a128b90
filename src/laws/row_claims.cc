// What a row says of its operation by flags, and its lowerings for devices that are not here.
//
// Passes believe the flags: nothing else would show that one is wrong until two operations are merged, or one is moved.
// So each flag that can be shown false is: operands exchanged (COMMUTATIVE), elements looked for (VIEW), checks in
// kernels (MAY_FAIL). What a LIBRARY lowering may fail with only it knows. A lowering for a device that is not here is
// lowered for its target and interpreted, unless it is a call.
#include <algorithm>

#include "laws/trial.h"
#include "ricci/kernel.h"
#include "trace/builder.h"

namespace ricci { inline namespace v0 { namespace laws {
namespace {

absl::Status Claims(std::string_view flag, std::string_view but) {
  return absl::FailedPreconditionError(base::Cat("the row has ", flag, ", but ", but));
}

// The operation with its two operands exchanged gives the same.
absl::Status CheckCommutative(Trial& t, const Arrays& want) {
  constexpr std::string_view kFlag = "RICCI_PRIM_COMMUTATIVE";
  const ir::Program& p = *ir::FromAbi(t.f()->program());
  const ir::Equation& eqn = p.equations[0];
  if (eqn.operands.size() != 2) return Claims(kFlag, base::Cat("takes ", base::Count(eqn.operands.size(), "operand")));
  const trace::Op op(p, eqn);
  const ricci_type exchanged[] = {op->in_types[1], op->in_types[0]};
  RICCI_ASSIGN(const Program swapped, OneEquation(t.ctx(), eqn.prim, {op->attrs, op->n_attrs}, exchanged));
  RICCI_ASSIGN(const RunnableRef runnable, Runnable::Of(t.ctx(), ricci_program_retain(swapped.get())));
  RICCI_ASSIGN(const Arrays got, t.Run(LawId::kRules, *runnable, {t.x()[1], t.x()[0]}));
  for (size_t i = 0; i < want.size(); ++i) {
    const Type& type = t.f()->results()[i];
    const absl::Status s = t.Compare(LawId::kRules, i, type, got[i], want[i], Tolerance(type), t.x());
    const absl::string_view why = s.message();
    if (!s.ok()) return Claims(kFlag, base::Cat("with its operands exchanged ", std::string(why)));
  }
  return absl::OkStatus();
}

// Every element of the result is one of operand 0.
absl::Status CheckView(const Trial& t, const Arrays& want) {
  constexpr std::string_view kFlag = "RICCI_PRIM_VIEW";
  const Runnable& f = *t.f();
  if (f.params().empty() || f.results().size() != 1) return Claims(kFlag, "not one result of one operand or more");
  const auto step = static_cast<size_t>(f.results()[0].parts());
  if (f.params()[0].dtype != f.results()[0].dtype) return Claims(kFlag, "the result has another dtype than operand 0");
  RICCI_ASSIGN(const Bytes encoded, Encode(f.params()[0], t.x()[0]));
  RICCI_ASSIGN(const Numbers from, Decode(f.params()[0], encoded));  // rounded, as the operation gets it
  const Numbers& to = want[0];
  for (size_t i = 0; i < to.size(); i += step) {
    bool found = false;
    for (size_t k = 0; k < from.size() && !found; k += step) {
      found = true;
      for (size_t part = 0; part < step; ++part) found &= Difference(to[i + part], from[k + part]) == 0;
    }
    if (!found) return Claims(kFlag, base::Cat(ElementOf(f.results()[0], i), " of the result is none of operand 0"));
  }
  return absl::OkStatus();
}

// Where a lowering is for a device that is not here, what can be interpreted of its kernels gives what `ref` gives.
absl::Status CheckTargets(Trial& t, const prim::Row& row, const Arrays& want) {
  std::vector<std::string> kinds;
  for (const ricci_lowering& l : row.lowerings) {
    const std::string kind(l.target.ptr, l.target.len);
    if (kind != "*" && t.device(kind) == nullptr && std::ranges::find(kinds, kind) == kinds.end())
      kinds.push_back(kind);
  }
  for (const std::string& kind : kinds) {
    RICCI_ASSIGN(const std::optional<Arrays> got, t.f()->RunFor(kind, t.x()));
    if (!got.has_value()) continue;
    const absl::Status s = t.CompareResults(LawId::kRules, *t.f(), *got, want, t.x());
    const absl::string_view why = s.message();
    if (!s.ok()) return absl::FailedPreconditionError(base::Cat("its lowering for `", kind, "`: ", std::string(why)));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckClaims(Trial& t) {
  const prim::Row* row = t.row();
  if (row == nullptr) return absl::OkStatus();
  const absl::StatusOr<Arrays> want = t.Run(LawId::kRules, *t.f(), t.x());
  if (!want.ok()) return absl::OkStatus();  // the law of the device says so
  if (row->has(RICCI_PRIM_COMMUTATIVE)) RICCI_TRY(CheckCommutative(t, *want));
  if (row->has(RICCI_PRIM_VIEW)) RICCI_TRY(CheckView(t, *want));
  const bool holds_programs = !ir::FromAbi(t.f()->program())->nested.empty();
  if (!row->has(RICCI_PRIM_MAY_FAIL) && !holds_programs && t.f()->HoldsCheck()) {
    return absl::FailedPreconditionError(
        "a lowering checks its operands (ricci_kernel_check), so a run may fail; the row needs RICCI_PRIM_MAY_FAIL");
  }
  return CheckTargets(t, *row, *want);
}

}}}  // namespace ricci::v0::laws
