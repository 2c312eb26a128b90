// A program with more kernels than one module has, and a text of a plugin.
#ifndef RICCI_TESTS_CUDA_SUM_CHAIN_H_
#define RICCI_TESTS_CUDA_SUM_CHAIN_H_
#include <string>

namespace ricci::testing {

// Sums of different lengths, so that each is a kernel of its own.
inline constexpr int kSums = 20;
inline constexpr uint64_t kModules = 3;
inline std::string Chain() {
  std::string text = "program f(%x: f64[3000]) {\n  %s0: f64[] = constant 1.0\n";
  for (int i = 0; i < kSums; ++i) {
    const std::string n = std::to_string(i), next = std::to_string(i + 1),
                      type = "f64[" + std::to_string(2900 + i) + "]";
    text += "  %a" + n + ": " + type + " = slice(%x) limit_indices=[" + std::to_string(2900 + i) +
            "] start_indices=[0] strides=[1]\n  %b" + n + ": " + type + " = broadcast_in_dim(%s" + n +
            ") broadcast_dimensions=[] shape=[" + std::to_string(2900 + i) + "]\n  %c" + n + ": " + type + " = mul(%a" +
            n + ", %b" + n + ")\n  %s" + next + ": f64[] = reduce_sum(%c" + n + ") axes=[0]\n";
  }
  const std::string last = std::to_string(kSums);
  return text + "  %t: f64[1] = reshape(%s" + last + ") new_sizes=[1]\n  %y: f64[1] = test.scaled(%t) a=0.5\n" +
         "  return %y\n}";
}
}  // namespace ricci::testing
#endif
