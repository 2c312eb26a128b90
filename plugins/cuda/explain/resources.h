// Resources: what a thread or block of a compiled function takes, from the log of NVRTC.
#ifndef RICCI_CUDA_RESOURCES_H_
#define RICCI_CUDA_RESOURCES_H_
#include <map>
#include <string>
#include <string_view>

namespace ricci::cuda {

struct Resources {
  int registers = 0;     // of a thread
  int stack_bytes = 0;   // of a thread, in memory
  int spill_bytes = 0;   // of the code: stores and loads of registers that had no room
  int shared_bytes = 0;  // of a block
};
// By the name of the kernel; its own functions that are not inlined are counted with it. `log`: with the option
// --ptxas-options=-v.
std::map<std::string, Resources> ResourcesIn(std::string_view log);

}  // namespace ricci::cuda
#endif
