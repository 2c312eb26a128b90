// CheckSlot: what a rule fills in must be a value of the builder that it got, of the right type.
#ifndef RICCI_TRACE_RULE_SLOT_H_
#define RICCI_TRACE_RULE_SLOT_H_
#include "prim/rule_call.h"
#include "trace/builder.h"

namespace ricci { inline namespace v0 { namespace trace {

// Slot `i` of what rule `rule` of `row` fills must be a value of `b` with type `want` (0 = any).
absl::Status CheckSlot(const Builder& b, const prim::Row& row, std::string_view rule, uint32_t i, Val v, TypeId want);

// Runs `call`, a rule that gets `b` (NULL: none).
template <typename Call>
absl::Status CallWithLoan(Builder* b, const prim::Row& row, std::string_view rule, Call&& call) {
  const Loan loan(b);
  RICCI_TRY(prim::CallRule(row, rule, std::forward<Call>(call)));
  return loan.Returned(row, rule);
}

}}}  // namespace ricci::v0::trace
#endif
