#include "trace/rule_slot.h"

namespace ricci { inline namespace v0 { namespace trace {

absl::Status CheckSlot(const Builder& b, const prim::Row& row, std::string_view rule, uint32_t i, Val v, TypeId want) {
  if (v == kNone) return prim::Violation(row, rule, base::Cat("slot ", i, " is not filled"));
  if (!b.Owns(v)) return prim::Violation(row, rule, base::Cat("slot ", i, " holds a value of another builder"));
  if (want == 0 || b.type_id(v) == want) return absl::OkStatus();
  return prim::Violation(row, rule,
                         base::Cat("slot ", i, " is ", ToText(b.type(v)), ", not ", ToText(b.types().Get(want))));
}

}}}  // namespace ricci::v0::trace
