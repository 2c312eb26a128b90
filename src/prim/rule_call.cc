#include "prim/rule_call.h"

namespace ricci { inline namespace v0 { namespace prim {

std::string NameOfRule(const Row& row, std::string_view rule) {
  return base::Cat(row.name, ": rule ", rule, " of ", row.plugin);
}

absl::Status Violation(const Row& row, std::string_view rule, std::string_view what) {
  return absl::InvalidArgumentError(base::Cat(NameOfRule(row, rule), ": ", what));
}

absl::Status Named(const Row& row, std::string_view rule, absl::Status status) {
  const std::string name = NameOfRule(row, rule), front = row.name + ": ";
  std::string text(status.message());
  if (status.ok() || text.rfind(name, 0) == 0) return status;
  if (text.rfind(front, 0) == 0) text.erase(0, front.size());
  const base::StatusSite site = base::SiteOf(status);
  return base::WithSite(absl::Status(status.code(), base::Cat(name, ": ", text)),
                        {row.name, std::string(rule), site.file, site.line});
}

absl::Status CheckLowerings(const Row& row, std::string_view rule, size_t n) {
  if (row.lowerings.size() == n) return absl::OkStatus();
  return absl::FailedPreconditionError(
      base::Cat(NameOfRule(row, rule), ": adds a lowering to its own row while that is used; only attach may"));
}

}}}  // namespace ricci::v0::prim
