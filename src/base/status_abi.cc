#include "base/status_abi.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

// One block from malloc, so that making a status needs no context and can only fail as a whole.
struct ricci_status {
  uint32_t code, line;
  uint32_t message_len, prim_len, rule_len, file_len;
  // The four texts follow.
  const char* text() const { return reinterpret_cast<const char*>(this + 1); }
};

namespace ricci { inline namespace v0 { namespace base {
namespace {

struct OutOfMemoryStatus {
  ricci_status status;
  char text[32];
};
constexpr OutOfMemoryStatus kOutOfMemory = {{RICCI_RESOURCE_EXHAUSTED, 0, 13, 0, 0, 0}, "out of memory"};

ricci_status* Make(uint32_t code, std::string_view message, const StatusSite& site) {
  const size_t bytes = message.size() + site.primitive.size() + site.rule.size() + site.file.size();
  void* block = std::malloc(sizeof(ricci_status) + bytes);
  if (block == nullptr) return OutOfMemory();
  auto* s = new (block) ricci_status{code,
                                     site.line,
                                     static_cast<uint32_t>(message.size()),
                                     static_cast<uint32_t>(site.primitive.size()),
                                     static_cast<uint32_t>(site.rule.size()),
                                     static_cast<uint32_t>(site.file.size())};
  char* p = reinterpret_cast<char*>(s + 1);
  for (std::string_view part :
       {message, std::string_view(site.primitive), std::string_view(site.rule), std::string_view(site.file)}) {
    if (!part.empty()) std::memcpy(p, part.data(), part.size());
    p += part.size();
  }
  return s;
}

}  // namespace

ricci_status* OutOfMemory() { return const_cast<ricci_status*>(&kOutOfMemory.status); }

ricci_status* Unexpected(std::string_view what) noexcept {
  constexpr std::string_view kPrefix = "a C++ exception reached the border of the C ABI: ";
  char text[256];
  const size_t n = std::min(what.size(), sizeof text - kPrefix.size());
  std::memcpy(text, kPrefix.data(), kPrefix.size());
  std::memcpy(text + kPrefix.size(), what.data(), n);
  return Make(RICCI_INTERNAL, {text, kPrefix.size() + n}, {});
}

ricci_status* ToAbi(const absl::Status& status) {
  if (status.ok()) return nullptr;
  const StatusSite site = SiteOf(status);
  std::string message;
  if (!site.file.empty()) absl::StrAppend(&message, site.file, ":", site.line, ": ");
  const std::string text(status.message());
  if (!site.primitive.empty() && text.rfind(site.primitive + ":", 0) != 0)
    absl::StrAppend(&message, site.primitive, ": ");
  message += text;
  return Make(static_cast<uint32_t>(status.code()), message, site);
}

absl::Status FromAbi(ricci_status* status) {
  if (status == nullptr) return absl::OkStatus();
  struct Free {
    void operator()(ricci_status* s) const { ricci_status_free(s); }
  };
  const std::unique_ptr<ricci_status, Free> owner(status);  // the copies below may run out of memory
  ricci_str message, prim, rule, file;
  uint32_t line;
  ricci_status_message(status, &message);
  ricci_status_site(status, &prim, &rule, &file, &line);
  std::string_view text(message.ptr, message.len);
  const std::string where = absl::StrCat(std::string(file.ptr, file.len), ":", line, ": ");
  if (file.len != 0 && text.substr(0, where.size()) == where) text.remove_prefix(where.size());
  absl::Status result(static_cast<absl::StatusCode>(ricci_status_code(status)),
                      absl::string_view(text.data(), text.size()));
  result = WithSite(result, {std::string(prim.ptr, prim.len), std::string(rule.ptr, rule.len),
                             std::string(file.ptr, file.len), line});
  return result;
}

}}}  // namespace ricci::v0::base

using ricci::base::Make;

extern "C" {

ricci_status* ricci_status_make(uint32_t code, const char* msg, size_t len) {
  if (code == RICCI_OK) code = RICCI_INTERNAL;
  return Make(code, msg == nullptr ? std::string_view() : std::string_view(msg, len), {});
}

uint32_t ricci_status_code(const ricci_status* s) { return s == nullptr ? 0 : s->code; }

void ricci_status_message(const ricci_status* s, ricci_str* out) {
  if (out != nullptr) *out = s == nullptr ? ricci_str{"", 0} : ricci_str{s->text(), s->message_len};
}

void ricci_status_site(const ricci_status* s, ricci_str* prim, ricci_str* rule, ricci_str* file, uint32_t* line) {
  const char* p = s == nullptr ? "" : s->text() + s->message_len;
  const auto next = [&](ricci_str* out, uint32_t len) {
    if (out != nullptr) *out = {p, len};
    p += len;
  };
  next(prim, s == nullptr ? 0 : s->prim_len);
  next(rule, s == nullptr ? 0 : s->rule_len);
  next(file, s == nullptr ? 0 : s->file_len);
  if (line != nullptr) *line = s == nullptr ? 0 : s->line;
}

void ricci_status_free(ricci_status* s) {
  if (s != nullptr && s != ricci::base::OutOfMemory()) std::free(s);
}
}
