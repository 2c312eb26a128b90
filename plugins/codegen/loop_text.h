// ` in the loop at f.py:3, after 4096 trips`: what the error of a run that the host ended says about a loop.
#ifndef RICCI_CODEGEN_LOOP_TEXT_H_
#define RICCI_CODEGEN_LOOP_TEXT_H_
#include <cstdint>
#include <string>
#include <string_view>

namespace ricci::codegen {

// `trips` have ended; 0: they are not counted. Empty if the file is.
inline std::string InTheLoop(std::string_view file, uint32_t line, uint64_t trips) {
  if (file.empty()) return {};
  std::string text = " in the loop at " + std::string(file) + ":" + std::to_string(line);
  if (trips != 0) text += ", after " + std::to_string(trips) + (trips == 1 ? " trip" : " trips");
  return text;
}

}  // namespace ricci::codegen
#endif
