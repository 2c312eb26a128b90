// Kernel and Plan: the owning forms of the flat tables that backends get (include/ricci/kernel.h, backend.h).
//
// Only data. View() lends a C table that points into the object and is valid until the object changes, moves or dies.
// Kernels are written with kernel/writer.h, never by hand, so that what is here has been folded and verified.
#ifndef RICCI_KERNEL_KERNEL_H_
#define RICCI_KERNEL_KERNEL_H_
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "ricci/backend.h"

namespace ricci::inline v0::kernel {

struct Kernel {
  std::string name;
  std::vector<ricci_inst> insts;             // instruction 0 is NOP
  std::vector<ricci_kernel_buffer> buffers;  // in the order of the arguments of a KERNEL step
  std::vector<int64_t> domain;               // extents; empty = one point

  ricci_kernel_table View() const;
};

struct Plan {
  std::vector<ricci_plan_buffer> buffers;
  std::vector<ricci_plan_step> steps;
  std::vector<uint32_t> args;
  std::vector<ricci_plan_library> libraries;  // states are owned by whoever made them
  uint32_t n_inputs = 0, n_outputs = 0;
  uint64_t arena_bytes = 0;

  // Appends a step with these buffers as arguments.
  void Step(uint32_t kind, uint32_t index, std::initializer_list<uint32_t> buffers, uint64_t location = 0);
  void Step(uint32_t kind, uint32_t index, const std::vector<uint32_t>& buffers, uint64_t location = 0);
  ricci_plan View() const;
};

// ---- print_kernel.cc: stable text, for dumps and golden tests ----
std::string ToText(const ricci_kernel_table& k);
std::string ToText(const ricci_plan& p, const ricci_kernel_table* const* kernels, uint32_t n_kernels);
inline std::string ToText(const Kernel& k) { return ToText(k.View()); }

// ---- verify_kernel.cc: INTERNAL, naming kernel and instruction (or step), if a table is malformed ----
absl::Status Verify(const ricci_kernel_table& k);
absl::Status Verify(const ricci_plan& p, const ricci_kernel_table* const* kernels, uint32_t n_kernels);
inline absl::Status Verify(const Kernel& k) { return Verify(k.View()); }

// ---- count_flops.cc: floating operations of one run ----
uint64_t CountFlops(const ricci_kernel_table& k);
uint64_t CountFlops(const Plan& plan, std::span<const Kernel> kernels);

// ---- interpret.cc: the oracle. Floats are computed in double and rounded once to their dtype; sums and products of
// REDUCE are kept in double to the end. Every access is checked: INTERNAL, never undefined behaviour. ----
struct Interruption {  // what ends a run early, or lets it fail
  // Asked about every 2^16 instructions and before each step; true ends the run as CANCELLED. May be empty.
  std::function<bool()> requested;
  // Lowered to the number of each CHECK that does not hold. NULL: such a check is FAILED_PRECONDITION.
  uint32_t* failed_check = nullptr;
};
// `buffers[i]` has buffers[i].elements elements. Thread-safe for distinct memory.
absl::Status Interpret(const ricci_kernel_table& k, void* const* buffers, const Interruption& interruption = {});
// `arena` has arena_bytes; it may be NULL if that is 0.
absl::Status Interpret(const ricci_plan& p, const ricci_kernel_table* const* kernels, uint32_t n_kernels,
                       void* const* inputs, void* const* outputs, void* arena, const Interruption& interruption = {});

}  // namespace ricci::inline v0::kernel
#endif
