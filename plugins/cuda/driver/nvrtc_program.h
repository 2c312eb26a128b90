// NvrtcProgram: a text that NVRTC compiles, and what it has made of it.
#ifndef RICCI_CUDA_NVRTC_PROGRAM_H_
#define RICCI_CUDA_NVRTC_PROGRAM_H_
#include <string>
#include <vector>

#include "cuda/driver/driver.h"

namespace ricci::cuda {

// Given back to the compiler at the end.
class NvrtcProgram {
 public:
  NvrtcProgram(const Compiler& c, const std::string& text) : c_(c) {
    if (c.nvrtcCreateProgram(&program_, text.c_str(), "ricci.cu", 0, nullptr, nullptr) != 0) program_ = nullptr;
  }
  ~NvrtcProgram() {
    if (program_ != nullptr) c_.nvrtcDestroyProgram(&program_);
  }
  NvrtcProgram(const NvrtcProgram&) = delete;

  bool is_there() const { return program_ != nullptr; }
  bool Compile(const NvrtcOptions& how) const { return Result(how) == 0; }
  // An nvrtcResult: what it says of the text and the options (IsRefusal), or that something went wrong.
  int Result(const NvrtcOptions& how) const {
    constexpr int kNoProgram = 4;  // NVRTC_ERROR_INVALID_PROGRAM
    const std::vector<std::string> texts = how.Texts();
    std::vector<const char*> options;
    for (const std::string& option : texts) options.push_back(option.c_str());
    if (!is_there()) return kNoProgram;
    return c_.nvrtcCompileProgram(program_, static_cast<int>(options.size()), options.data());
  }
  static bool IsRefusal(int result) {
    constexpr int kInvalidInput = 3, kInvalidOption = 5, kCompilation = 6;
    return result == kInvalidInput || result == kInvalidOption || result == kCompilation;
  }
  // What two functions of the compiler give: the size, then the bytes.
  bool Read(int (*size)(void*, size_t*), int (*get)(void*, char*), std::string& out) const {
    size_t bytes = 0;
    if (size(program_, &bytes) != 0) return false;
    out.resize(bytes);
    return get(program_, out.data()) == 0;
  }
  // A text, without the zero that NVRTC counts at its end.
  bool ReadText(int (*size)(void*, size_t*), int (*get)(void*, char*), std::string& out) const {
    if (!Read(size, get, out)) return false;
    while (!out.empty() && out.back() == '\0') out.pop_back();
    return true;
  }

 private:
  const Compiler& c_;
  void* program_ = nullptr;
};

}  // namespace ricci::cuda
#endif
