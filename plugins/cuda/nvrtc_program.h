// NvrtcProgram: a text that NVRTC compiles, and what it has made of it.
#ifndef RICCI_CUDA_NVRTC_PROGRAM_H_
#define RICCI_CUDA_NVRTC_PROGRAM_H_
#include <string>
#include <vector>

#include "driver.h"

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
  bool Compile(const CompileOptions& how) const {
    const std::vector<std::string> texts = how.Texts();
    std::vector<const char*> options;
    for (const std::string& option : texts) options.push_back(option.c_str());
    return is_there() && c_.nvrtcCompileProgram(program_, static_cast<int>(options.size()), options.data()) == 0;
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
