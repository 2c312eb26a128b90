#include "base/status.h"

#include <charconv>

#include "absl/strings/cord.h"

namespace ricci { inline namespace v0 { namespace base {
namespace {

constexpr char kPrimitive[] = "ricci/primitive";
constexpr char kRule[] = "ricci/rule";
constexpr char kFile[] = "ricci/file";
constexpr char kLine[] = "ricci/line";

void SetOnce(absl::Status& status, const char* key, const std::string& value) {
  if (!value.empty() && !status.GetPayload(key)) status.SetPayload(key, absl::Cord(value));
}

std::string Get(const absl::Status& status, const char* key) {
  auto payload = status.GetPayload(key);
  return payload ? std::string(*payload) : std::string();
}

}  // namespace

absl::Status WithSite(absl::Status status, const StatusSite& site) {
  if (status.ok()) return status;
  SetOnce(status, kPrimitive, site.primitive);
  SetOnce(status, kRule, site.rule);
  if (!status.GetPayload(kFile)) {
    SetOnce(status, kFile, site.file);
    if (site.line) SetOnce(status, kLine, std::to_string(site.line));
  }
  return status;
}

StatusSite SiteOf(const absl::Status& status) {
  StatusSite site{Get(status, kPrimitive), Get(status, kRule), Get(status, kFile), 0};
  const std::string line = Get(status, kLine);
  std::from_chars(line.data(), line.data() + line.size(), site.line);
  return site;
}

}}}  // namespace ricci::v0::base
