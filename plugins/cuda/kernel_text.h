// A kernel as CUDA C++: a `__global__` function that a person could have written.
#ifndef RICCI_CUDA_KERNEL_TEXT_H_
#define RICCI_CUDA_KERNEL_TEXT_H_
#include <string>

#include "device_text.h"
#include "ricci/backend.h"

namespace ricci::cuda {

// How a kernel is launched.
struct Launch {
  int64_t points = 0;     // of the domain; 0: nothing runs
  int64_t team = 1;       // threads for each point (team.h)
  bool in_order = false;  // one thread computes all: points update the same elements, in a fixed order
};
Launch LaunchOf(const ricci_kernel_table& k);

// Appends the function `name`, whose arguments are the addresses of the buffers, then that of the word of failed
// checks. False, with `error`, if the kernel holds what cannot be printed.
bool PrintKernel(const ricci_kernel_table& k, const std::string& name, DeviceText& device, std::string& text,
                 std::string& error);

}  // namespace ricci::cuda
#endif
