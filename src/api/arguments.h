// The border of the C ABI: the argument checks that every function needs, and the conversion of absl::Status to
// ricci_status.
//
// Wrong use is INVALID_ARGUMENT with the name of the function and of the argument. Each function of api/ is one
// Border(__func__, body): the body checks, calls the layer below and writes its results last, so that outputs stay
// untouched on error.
#ifndef RICCI_API_ARGUMENTS_H_
#define RICCI_API_ARGUMENTS_H_
#include <initializer_list>
#include <span>
#include <string_view>
#include <utility>

#include "base/abi_struct.h"
#include "base/abi_text.h"
#include "base/path.h"
#include "base/status.h"
#include "base/status_abi.h"

namespace ricci { inline namespace v0 { namespace api {

class Arguments {
 public:
  explicit Arguments(const char* function) : function_(function) {}

  struct Pointer {
    const char* name;
    const void* p;
  };
  absl::Status NotNull(std::initializer_list<Pointer> pointers) const {
    for (const Pointer& pointer : pointers) {
      if (pointer.p == nullptr) return Null(pointer.name);
    }
    return absl::OkStatus();
  }
  // An array may be NULL only if it is empty.
  absl::Status Array(const char* name, const void* p, uint64_t count) const {
    return p != nullptr || count == 0 ? absl::OkStatus() : Null(name);
  }
  // A path, which may be NULL only if it is empty.
  absl::Status Path(const char* name, const char* p, size_t len) const {
    RICCI_TRY(Array(name, p, len));
    return base::CheckPath(base::Cat(function_, ": ", name), {p, p == nullptr ? 0 : len});
  }
  // `count` must be `expected`; `of` says what is counted: `one per parameter`.
  absl::Status Count(const char* name, uint64_t count, uint64_t expected, std::string_view of) const {
    if (count == expected) return absl::OkStatus();
    return Wrong(name, " is ", count, ", not ", expected, " (", of, ")");
  }
  template <typename... Parts>
  absl::Status Wrong(const Parts&... parts) const {
    return base::InvalidArgument(function_, ": ", parts...);
  }

 private:
  absl::Status Null(const char* name) const { return Wrong(name, " is NULL"); }
  const char* function_;
};

template <typename Body>
ricci_status* Border(const char* function, Body&& body) noexcept {
  return base::AtBorder([&] { return body(Arguments(function)); });
}

// The options that were given, or the defaults if they are NULL.
template <typename T>
absl::StatusOr<T> ReadOptions(const T* given, const T& defaults, std::string_view what, base::Flags known = {}) {
  if (given == nullptr) return defaults;
  return base::ReadStruct(given, what, known);
}

using base::View;
inline ricci_str ToStr(std::string_view v) { return {v.data() == nullptr ? "" : v.data(), v.size()}; }
template <typename T>
std::span<const T> Span(const T* p, size_t n) {
  return {p, n};
}

}}}  // namespace ricci::v0::api
#endif
