// Where libcuda and NVRTC may be, in the order in which they are tried.
//
// NVRTC is in a toolkit (CUDA_HOME, CUDA_PATH, /usr/local/cuda*), in folders that the host knows (those of NVIDIA's
// Python packages, which bindings/python gives), or where the system looks by its name; the newest version that is in
// any of them. The driver comes by its name first: it belongs to the system, and a process that has opened it (PyTorch,
// JAX) must not get a second one. A toolkit has only stubs of it, and a driver for older systems in `compat`.
#ifndef RICCI_CUDA_LIBRARY_PATHS_H_
#define RICCI_CUDA_LIBRARY_PATHS_H_
#include <string>
#include <string_view>
#include <vector>

namespace ricci::cuda {

// Folders of toolkits: those that the environment names, then the others, the newest first.
std::vector<std::string> Toolkits();

std::vector<std::string> DriverPaths(const std::vector<std::string>& toolkits);
// `folders`: those that the host knows, separated by colons.
std::vector<std::string> CompilerPaths(const std::vector<std::string>& toolkits, std::string_view folders);

}  // namespace ricci::cuda
#endif
