// Suspended: a stack on which something waits, and the switch from one to another.
//
// ucontext asks the kernel for the mask of signals at each switch, which takes most of the time of a kernel with
// barriers; AddressSanitizer also clears its notes of the whole stack then. So x86-64 has a switch of its own, which
// keeps what a function must keep for its caller.
#ifndef RICCI_TESTS_CUDA_STACK_SWITCH_H_
#define RICCI_TESTS_CUDA_STACK_SWITCH_H_
#include <cstddef>
#ifndef __x86_64__
#include <ucontext.h>
#endif

namespace ricci::cuda::standin {

struct Suspended {
#ifdef __x86_64__
  void* stack = nullptr;
#else
  ucontext_t context;
#endif
};

// The next switch to `s` calls `f` on that stack. `f` never returns.
void Prepare(Suspended& s, void (*f)(), char* stack, size_t bytes);
// Goes on at `to`, until somebody switches to `from`.
void Switch(Suspended& from, Suspended& to);

}  // namespace ricci::cuda::standin
#endif
