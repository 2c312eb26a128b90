// Text of the C ABI, borrowed, as std::string_view and back.
#ifndef RICCI_BASE_ABI_TEXT_H_
#define RICCI_BASE_ABI_TEXT_H_
#include <string_view>

#include "ricci/base.h"

namespace ricci { inline namespace v0 { namespace base {

// NULL is the empty text, whatever length comes with it.
constexpr std::string_view View(const char* p, size_t n) { return {p, p == nullptr ? 0 : n}; }
constexpr std::string_view View(ricci_str s) { return View(s.ptr, s.len); }
constexpr ricci_str Str(std::string_view s) { return {s.data(), s.size()}; }

}}}  // namespace ricci::v0::base
#endif
