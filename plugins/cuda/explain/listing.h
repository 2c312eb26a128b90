// Listing: all that NVRTC gives for a text, for people: PTX, machine code with the lines that it comes from, the log.
#ifndef RICCI_CUDA_LISTING_H_
#define RICCI_CUDA_LISTING_H_
#include <string>

#include "cuda/driver/driver.h"
#include "ricci/context.h"

namespace ricci::cuda {

struct Listing {
  std::string ptx, log, code;
};
// The text was compiled for this architecture before, so a failure is INTERNAL.
ricci_status* MakeListing(const Compiler& compiler, const std::string& text, const std::string& architecture,
                          Listing& out);
// The machine code as the program at `compiler.disassembler` prints it.
ricci_status* Disassemble(const Compiler& compiler, const std::string& code, std::string& out);

}  // namespace ricci::cuda
#endif
