// The functions of the stand-in of tests/cuda/standin that are not of the driver.
#ifndef RICCI_TESTS_CUDA_OF_STANDIN_H_
#define RICCI_TESTS_CUDA_OF_STANDIN_H_
#include <dlfcn.h>

#include <cstring>

namespace ricci::testing {

template <typename F>
F* OfStandin(const char* name) {
  void* const library = dlopen(RICCI_STANDIN, RTLD_NOW | RTLD_LOCAL);
  void* const found = dlsym(library, name);
  F* f = nullptr;
  std::memcpy(&f, &found, sizeof f);
  return f;
}

}  // namespace ricci::testing
#endif
