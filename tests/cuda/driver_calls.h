// The calls of the simulated driver, as tests count them.
#ifndef RICCI_TESTS_CUDA_DRIVER_CALLS_H_
#define RICCI_TESTS_CUDA_DRIVER_CALLS_H_
#include <algorithm>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/of_standin.h"

namespace ricci::testing {

// The calls of the driver since the last time, without those that only make a context current.
inline std::vector<std::string> Calls() {
  std::istringstream all(OfStandin<const char*()>("ricci_standin_calls")());
  std::vector<std::string> out;
  for (std::string name; std::getline(all, name);) {
    if (name.rfind("cuCtx", 0) != 0) out.push_back(name);
  }
  return out;
}
inline int64_t CountOf(const std::vector<std::string>& calls, std::string_view name) {
  return std::count_if(calls.begin(), calls.end(), [&](const std::string& c) { return c.find(name) != c.npos; });
}

}  // namespace ricci::testing
#endif
