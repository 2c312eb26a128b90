// The evaluator of inline PTX: what a thread does at an instruction, as "PTX ISA" says, from the text of the
// instruction and the operands in their order.
//
// It evaluates texts that are compiled after `ricci_standin_ptx(1)`: ptx_text makes a call of each statement. What
// `cp.async` copies is there when the thread has waited for it, not before. PTX of `wgmma` is not evaluated: functions
// of device_warpgroups do what it would.
#ifndef RICCI_TESTS_CUDA_PTX_H_
#define RICCI_TESTS_CUDA_PTX_H_
#include <cstdint>
#include <vector>

namespace ricci::cuda::standin {

struct Place;

// As in the text (ptx_text.cc): the letter of the constraint, the size of the expression, and its bits.
struct PtxOperand {
  char kind;
  uint32_t bytes;
  uint64_t value;
};

// A copy to shared memory that goes on while the thread does. It is made when the thread waits for it, not before.
struct AsyncCopy {
  char* to;
  const char* from;
  uint32_t bytes, from_bytes;  // the rest is zeros
  const void* site;
};
struct AsyncCopies {
  std::vector<AsyncCopy> open;
  std::vector<std::vector<AsyncCopy>> groups;  // the oldest first
};

struct PtxCall {
  const Place& at;
  PtxOperand* operands;
  uint32_t n;
  const void* site;
  char* shared;  // from where addresses in shared memory are counted
  AsyncCopies& copies;
};

// What is wrong, or null. The thread may meet others meanwhile; nothing in its stack then owns memory.
const char* EvaluatePtx(const char* text, const PtxCall& call);

}  // namespace ricci::cuda::standin
#endif
