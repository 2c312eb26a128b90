#include "pass/cost/decision.h"

#include "absl/strings/str_format.h"

namespace ricci { inline namespace v0 { namespace pass {

std::string TitleOf(const ir::Program& f, const ir::Equation& eqn, std::string_view more) {
  const ir::Location at = f.vocabulary()->GetLocation(eqn.location);
  const std::string title = base::Cat(f.vocabulary()->PrimName(eqn.prim), more);
  return at.line == 0 ? title + ": " : base::Cat(title, " at ", at.file, ":", at.line, ": ");
}

std::string TextOf(std::string_view way, const absl::StatusOr<Estimate>& e) {
  if (!e.ok()) return base::Cat("\n  ", way, ": ", e.status().message());
  return absl::StrFormat("\n  %s: %.0f cycles, code for %.0f operations", way, e->cycles, e->code);
}

}}}  // namespace ricci::v0::pass
