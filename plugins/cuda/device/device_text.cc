#include "cuda/device/device_text.h"

namespace ricci::cuda {
namespace {

constexpr std::string_view kTypes =
    "typedef signed char i8;\n"
    "typedef short i16;\n"
    "typedef int i32;\n"
    "typedef long long i64;\n"
    "typedef unsigned char u8;\n"
    "typedef unsigned short u16;\n"
    "typedef unsigned int u32;\n"
    "typedef unsigned long long u64;\n"
    "typedef float f32;\n"
    "typedef double f64;\n";

}  // namespace

std::string DeviceText::Function(const std::string& name, const std::function<std::string()>& write) {
  if (names_.insert(name).second) {
    const std::string text = write();  // which may add others first
    text_ += std::string("\n") + (for_some_ ? "[[maybe_unused]] " : "") + "static __device__ " + text + "\n";
  }
  return name;
}

std::string DeviceText::Vector(const std::string& type, int64_t n) {
  const std::string count = std::to_string(n), name = type + "x" + count;
  if (names_.insert(name).second) {
    structs_ +=
        "struct alignas(" + count + " * sizeof(" + type + ")) " + name + " {\n  " + type + " at[" + count + "];\n};\n";
  }
  return name;
}

std::string DeviceText::Text() const { return std::string(kTypes) + structs_ + text_; }

std::string Fill(std::string_view text, std::initializer_list<std::pair<char, std::string_view>> by) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '$' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    ++i;
    for (const auto& [letter, value] : by) {
      if (letter == text[i]) out += value;
    }
  }
  return out;
}

}  // namespace ricci::cuda
