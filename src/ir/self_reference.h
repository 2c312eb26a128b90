// Self reference: an equation that stands for one that holds it, so that a derivative rule may apply the function whose
// rule it is.
//
// Programs are data and closed, so such a rule cannot hold the equation it belongs to: that would never end. Instead
// `custom_jvp(%x) call=program... self=k` inside it stands for the k-th enclosing equation of the same primitive,
// counted from inside. It holds the program that computes its value (`call`) and lacks the derivative, which is added
// when the rule is taken out of the enclosing equation (transform/release). Everything else (typing, text, hashing,
// inlining) treats it as the ordinary equation that it is.
#ifndef RICCI_IR_SELF_REFERENCE_H_
#define RICCI_IR_SELF_REFERENCE_H_
#include <functional>

#include "absl/status/status.h"
#include "ir/program.h"

namespace ricci { inline namespace v0 { namespace ir {

inline constexpr std::string_view kSelf = "self";  // the name of the INT attribute

// The enclosing equation that these attributes stand for: 1 is the innermost; 0: none, it is an ordinary equation.
int64_t SelfLevel(std::span<const ricci_attr> attrs);

// The level of the outermost equation of `prim` around `f` for which one in it stands; 0: none.
int64_t OutwardLevel(const Program& f, PrimId prim);
// Adds to `outward` what an equation of `prim` with these attributes refers to outside itself.
void AddOutward(base::Vec<Program::Outward>& outward, PrimId prim, std::span<const ricci_attr> attrs);
// Does the equation stand for another, or does one in its programs stand for one outside it?
bool RefersOutward(const Equation& e);

// Calls `see` for every equation, in `held` and the programs in it, that stands for the equation of `prim` that holds
// `held`; once for each distinct program. Programs that refer to nothing that far out are not entered.
absl::Status EachSelf(const Program& held, PrimId prim,
                      const std::function<absl::Status(const Program&, const Equation&)>& see);

}}}  // namespace ricci::v0::ir
#endif
