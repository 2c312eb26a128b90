// ricci/text.hpp: text of the C ABI as std::string_view and back, and messages made of parts.
//
// The C ABI comes in through api_table.h, so that the same source calls functions in a host and slots of the core's
// table in a shared object.
#ifndef RICCI_TEXT_HPP_
#define RICCI_TEXT_HPP_
#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "ricci/api_table.h"
#include "ricci/exact.h"

namespace ricci { inline namespace v0 {

// ---- text of the C ABI, borrowed ----
constexpr std::string_view View(ricci_str text) { return {text.ptr, text.len}; }
constexpr ricci_str ToAbi(std::string_view text) { return {text.data(), text.size()}; }

// ---- text of messages ----
inline void AppendText(std::string& out, std::string_view text) { out += text; }
inline void AppendText(std::string& out, ricci_str text) { out += View(text); }
inline void AppendText(std::string& out, std::integral auto number) { out += std::to_string(number); }
inline void AppendText(std::string& out, ricci_exact number) {
  char buffer[48];
  out += ricci_exact_text(number, buffer);
}
inline void AppendText(std::string& out, double number) { out += std::to_string(number); }
inline void AppendText(std::string& out, std::span<const int64_t> numbers) {
  out += '[';
  for (size_t i = 0; i < numbers.size(); ++i) out += (i == 0 ? "" : ",") + std::to_string(numbers[i]);
  out += ']';
}
// All parts as one text: numbers, texts, lists of integers as `[1,2]`.
template <typename... Parts>
std::string Text(const Parts&... parts) {
  std::string out;
  (AppendText(out, parts), ...);
  return out;
}
// "1 operand", "2 operands".
template <typename Int>
std::string Count(Int n, std::string_view what) {
  return Text(n, " ", what, n == 1 ? "" : "s");
}

}}  // namespace ricci::v0
#endif
