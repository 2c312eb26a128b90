// Inline PTX of a text as calls of ricci_ptx, which evaluates it (ptx.h).
#ifndef RICCI_TESTS_CUDA_PTX_TEXT_H_
#define RICCI_TESTS_CUDA_PTX_TEXT_H_
#include <string>

namespace ricci::cuda::standin {

// Each `asm("..." : results : values : ...)` becomes a block that calls ricci_ptx with the operands in their order.
// Lines stay where they are. A statement that is not understood stays as it is, and is then refused by the compiler.
std::string WithPtxCalls(const std::string& text);

// What those blocks use, after the prelude.
const char* PtxPrelude();

}  // namespace ricci::cuda::standin
#endif
