#include "stack_switch.h"

#include <cstdint>

#ifdef __x86_64__
// Pushes what the caller's caller relies on, exchanges the stacks, and pops the same of the other.
asm(R"(
.text
.hidden ricci_standin_switch
.globl ricci_standin_switch
.type ricci_standin_switch, @function
ricci_standin_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size ricci_standin_switch, . - ricci_standin_switch
)");
extern "C" __attribute__((visibility("hidden"))) void ricci_standin_switch(void** from, void* to);
#endif

namespace ricci::cuda::standin {

#ifdef __x86_64__
// As if `f` had been called: below the top there is the place to return to, of which there is none, then that of `f`,
// to which the switch returns, and six registers.
void Prepare(Suspended& s, void (*f)(), char* stack, size_t bytes) {
  constexpr uintptr_t kAlignment = 16;
  constexpr size_t kRegisters = 6;
  auto* top = reinterpret_cast<uintptr_t*>(reinterpret_cast<uintptr_t>(stack + bytes) / kAlignment * kAlignment);
  *--top = 0;
  *--top = reinterpret_cast<uintptr_t>(f);
  for (size_t i = 0; i < kRegisters; ++i) *--top = 0;
  s.stack = top;
}

void Switch(Suspended& from, Suspended& to) { ricci_standin_switch(&from.stack, to.stack); }
#else
void Prepare(Suspended& s, void (*f)(), char* stack, size_t bytes) {
  getcontext(&s.context);
  s.context.uc_stack.ss_sp = stack;
  s.context.uc_stack.ss_size = bytes;
  makecontext(&s.context, f, 0);
}

void Switch(Suspended& from, Suspended& to) { swapcontext(&from.context, &to.context); }
#endif

}  // namespace ricci::cuda::standin
