#include "architecture.h"

#include "gpu.h"

namespace ricci::cuda {

ricci_status* CheckArchitecture(const Compiler& compiler, const std::string& what, const std::string& architecture) {
  int n = 0;
  if (compiler.nvrtcGetNumSupportedArchs(&n) != 0 || n <= 0)
    return Fail(RICCI_INTERNAL, "nvrtcGetNumSupportedArchs fails");
  std::vector<int> numbers(static_cast<size_t>(n));
  if (compiler.nvrtcGetSupportedArchs(numbers.data()) != 0) return Fail(RICCI_INTERNAL, "nvrtcGetSupportedArchs fails");
  std::string known;
  for (const int number : numbers) {
    const std::string name = "sm_" + std::to_string(number);
    if (architecture == name || architecture == name + "a" || architecture == name + "f") return nullptr;
    known += (known.empty() ? "" : ", ") + name;
  }
  return Fail(RICCI_INVALID_ARGUMENT, what + ": NVRTC does not know " + architecture + "; it knows " + known);
}

}  // namespace ricci::cuda
