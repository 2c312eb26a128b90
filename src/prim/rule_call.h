// CallRule: the one way to call a rule of a row, and what to say of one that breaks the contract.
//
// Whatever a rule does, the status names it: the primitive, the rule, and the plugin that it comes from.
#ifndef RICCI_PRIM_RULE_CALL_H_
#define RICCI_PRIM_RULE_CALL_H_
#include "base/foreign_call.h"
#include "prim/row.h"

namespace ricci { inline namespace v0 { namespace prim {

// `vendor.op: rule jvp of plugin vendor`.
std::string NameOfRule(const Row& row, std::string_view rule);
// INVALID_ARGUMENT: what a rule did against the contract, for example `slot 0 is not filled`.
absl::Status Violation(const Row& row, std::string_view rule, std::string_view what);
// `status`, a failure that a rule returned, with the name of the rule: for rules whose caller has no location to name.
absl::Status Named(const Row& row, std::string_view rule, absl::Status status);
// OK if the row still has `n` lowerings, which transforms and kernels refer to while they call its rules.
absl::Status CheckLowerings(const Row& row, std::string_view rule, size_t n);

template <typename Call>
absl::Status CallRule(const Row& row, std::string_view rule, Call&& call) {
  const size_t n_lowerings = row.lowerings.size();
  RICCI_TRY(base::CallForeign([&] { return NameOfRule(row, rule); }, std::forward<Call>(call)));
  return CheckLowerings(row, rule, n_lowerings);
}

}}}  // namespace ricci::v0::prim
#endif
