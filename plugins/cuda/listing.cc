#include "listing.h"

#include "gpu.h"

namespace ricci::cuda {
namespace {

// A program of NVRTC, given back at the end.
class NvrtcProgram {
 public:
  NvrtcProgram(const Compiler& c, const std::string& text) : c_(c) {
    if (c.nvrtcCreateProgram(&program_, text.c_str(), "ricci.cu", 0, nullptr, nullptr) != 0) program_ = nullptr;
  }
  ~NvrtcProgram() {
    if (program_ != nullptr) c_.nvrtcDestroyProgram(&program_);
  }
  NvrtcProgram(const NvrtcProgram&) = delete;

  bool Compile(const std::string& architecture) const {
    const std::string arch = "--gpu-architecture=" + architecture;
    const char* const options[] = {arch.c_str(), "--std=c++17", "--generate-line-info", "--ptxas-options=-v"};
    return program_ != nullptr && c_.nvrtcCompileProgram(program_, 4, options) == 0;
  }
  template <typename Bytes>
  bool Read(int (*size)(void*, size_t*), int (*get)(void*, char*), Bytes& out) const {
    size_t bytes = 0;
    if (size(program_, &bytes) != 0) return false;
    out.resize(bytes);
    return get(program_, out.data()) == 0;
  }

 private:
  const Compiler& c_;
  void* program_ = nullptr;
};

// NVRTC counts the zero at the end.
void DropEnd(std::string& text) {
  while (!text.empty() && text.back() == '\0') text.pop_back();
}

}  // namespace

ricci_status* MakeListing(const Compiler& c, const std::string& text, const std::string& architecture, Listing& out) {
  const NvrtcProgram program(c, text);
  if (!program.Compile(architecture) || !program.Read(c.nvrtcGetPTXSize, c.nvrtcGetPTX, out.ptx) ||
      !program.Read(c.nvrtcGetCUBINSize, c.nvrtcGetCUBIN, out.code) ||
      !program.Read(c.nvrtcGetProgramLogSize, c.nvrtcGetProgramLog, out.log)) {
    return Fail(RICCI_INTERNAL, "NVRTC refuses to list a text that it has compiled for " + architecture);
  }
  DropEnd(out.ptx);
  DropEnd(out.log);
  return nullptr;
}

}  // namespace ricci::cuda
