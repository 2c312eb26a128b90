// Status inside the core: absl::Status with two macros, and the site (primitive, rule, host file and line) as payloads.
//
// Our own bugs are an INTERNAL status through Invariant, never an abort. The C ABI's ricci_status is made from an
// absl::Status only at the border (status_abi.h), so nothing in between allocates twice or loses the site.
#ifndef RICCI_BASE_STATUS_H_
#define RICCI_BASE_STATUS_H_
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#define RICCI_CONCAT_(a, b) a##b
#define RICCI_CONCAT(a, b) RICCI_CONCAT_(a, b)

// Returns the status of `expr` from the enclosing function unless it is OK.
#define RICCI_TRY(expr)                                                  \
  do {                                                                   \
    if (absl::Status ricci_s_ = (expr); !ricci_s_.ok()) return ricci_s_; \
  } while (0)

// RICCI_ASSIGN(auto x, F()): x = value of the StatusOr, or returns its status.
#define RICCI_ASSIGN(lhs, expr) RICCI_ASSIGN_(RICCI_CONCAT(ricci_so_, __LINE__), lhs, expr)
#define RICCI_ASSIGN_(so, lhs, expr)           \
  auto so = (expr);                            \
  if (!so.ok()) return std::move(so).status(); \
  lhs = *std::move(so)

namespace ricci { inline namespace v0 { namespace base {

// Debian's Abseil has a string_view of its own: these let std::string_view through.
inline absl::string_view ToAbsl(std::string_view v) { return {v.data(), v.size()}; }
template <typename T>
decltype(auto) ToAbslArg(const T& v) {
  if constexpr (std::is_same_v<T, std::string_view>) {
    return ToAbsl(v);
  } else {
    return (v);
  }
}
template <typename... Args>
std::string Cat(const Args&... args) {
  return absl::StrCat(ToAbslArg(args)...);
}

// "1 operand", "2 operands"; for irregular plurals pass both forms.
template <typename Int>
std::string Count(Int n, std::string_view one, std::string_view many = {}) {
  if (n == 1 || many.empty()) return Cat(n, " ", one, n == 1 ? "" : "s");
  return Cat(n, " ", many);
}

// OK if `holds`; else an INTERNAL status: a bug of ours, with its location in the source.
inline absl::Status Invariant(bool holds, std::string_view what, const char* file = __builtin_FILE(),
                              int line = __builtin_LINE()) {
  if (holds) return absl::OkStatus();
  return absl::InternalError(Cat(file, ":", line, ": invariant broken: ", what));
}

template <typename... Args>
absl::Status InvalidArgument(const Args&... args) {
  return absl::InvalidArgumentError(Cat(args...));
}

// Where a failure happened; empty or 0 where unknown.
struct StatusSite {
  std::string primitive, rule, file;
  uint32_t line = 0;
};

// The same status, with those fields of `site` added that are set and that it does not have yet.
absl::Status WithSite(absl::Status status, const StatusSite& site);
StatusSite SiteOf(const absl::Status& status);

}}}  // namespace ricci::v0::base
#endif
