#include "cuda/print/source_lines.h"

#include <algorithm>
#include <cstdint>

namespace ricci::cuda {

std::string LineDirective(std::string_view file, uint32_t line) {
  std::string name;
  for (const char c : file) {
    if (static_cast<unsigned char>(c) < ' ') return {};
    if (c == '"' || c == '\\') name += '\\';
    name += c;
  }
  if (name.empty() || line == 0 || line > INT32_MAX) return {};
  return "#line " + std::to_string(line) + " \"" + name + "\"";
}

std::string LineDirective(const ricci_ctx* ctx, uint64_t location) {
  ricci_str file{};
  uint32_t line = 0;
  if (ctx == nullptr || location == 0) return {};
  ricci_location_get(ctx, location, &file, &line, nullptr);
  return LineDirective({file.ptr, file.len}, line);
}

std::string WithLineOfEach(std::string_view text) {
  std::string out;
  std::string_view directive;
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.substr(0, 6) == "#line ") {
      directive = line;
      continue;
    }
    if (line.empty() && !directive.empty()) {
      directive = {};
      out += "#line " + std::to_string(number) + " \"ricci.cu\"\n";
    }
    if (!directive.empty()) out.append(directive) += '\n';
    out.append(line) += '\n';
  }
  return out;
}

}  // namespace ricci::cuda
