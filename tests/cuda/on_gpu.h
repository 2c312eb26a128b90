// OnGpu<80>: while a test runs, the simulated GPU has compute capability 8.0. A base before the one that makes a
// context, which asks for it.
#ifndef RICCI_TESTS_CUDA_ON_GPU_H_
#define RICCI_TESTS_CUDA_ON_GPU_H_
#include "cuda/of_standin.h"

namespace ricci::testing {

template <int kCapability>
class OnGpu {
 protected:
  OnGpu() { Set(kCapability); }
  ~OnGpu() { Set(90); }
  OnGpu(const OnGpu&) = delete;

 private:
  static void Set(int capability) { OfStandin<void(int)>("ricci_standin_capability")(capability); }
};

}  // namespace ricci::testing
#endif
