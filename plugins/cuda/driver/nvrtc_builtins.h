// The second library of NVRTC, libnvrtc-builtins, opened before NVRTC needs it.
//
// NVRTC opens it by its name alone when it compiles its first kernel. Where only NVIDIA's Python package has both, the
// system finds neither by name, and every kernel fails. A library that is open is found by its name wherever it came
// from, so it is opened here from the folder of NVRTC.
#ifndef RICCI_CUDA_NVRTC_BUILTINS_H_
#define RICCI_CUDA_NVRTC_BUILTINS_H_
#include <string>

namespace ricci::cuda {

// `of_nvrtc`: the address of a function of NVRTC. Empty if the library is open; else its name and where it was looked
// for.
std::string OpenBuiltins(const void* of_nvrtc, int major, int minor);

}  // namespace ricci::cuda
#endif
