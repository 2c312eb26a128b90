// Texts for Options.decisions: what was chosen for an equation, and why.
#ifndef RICCI_PASS_DECISION_H_
#define RICCI_PASS_DECISION_H_
#include "ir/program.h"
#include "pass/target/pass_options.h"

namespace ricci { inline namespace v0 { namespace pass {

// `scan at file:line: `, with which each text begins; `more` follows the name.
std::string TitleOf(const ir::Program& f, const ir::Equation& eqn, std::string_view more = "");
// A separate line for one of the ways that were estimated.
std::string TextOf(std::string_view way, const absl::StatusOr<Estimate>& e);

}}}  // namespace ricci::v0::pass
#endif
