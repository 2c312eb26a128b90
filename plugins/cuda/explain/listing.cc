#include "cuda/explain/listing.h"

#include "cuda/driver/gpu.h"
#include "cuda/driver/nvrtc_program.h"

namespace ricci::cuda {

ricci_status* MakeListing(const Compiler& c, const std::string& text, const std::string& architecture, Listing& out) {
  const NvrtcProgram program(c, text);
  if (!program.Compile({.architecture = architecture, .figures = true}) ||
      !program.ReadText(c.nvrtcGetPTXSize, c.nvrtcGetPTX, out.ptx) ||
      !program.Read(c.nvrtcGetCUBINSize, c.nvrtcGetCUBIN, out.code) ||
      !program.ReadText(c.nvrtcGetProgramLogSize, c.nvrtcGetProgramLog, out.log)) {
    return Fail(RICCI_INTERNAL, "NVRTC refuses to list a text that it has compiled for " + architecture);
  }
  return nullptr;
}

}  // namespace ricci::cuda
