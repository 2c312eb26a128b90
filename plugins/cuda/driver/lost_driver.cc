#include "cuda/driver/lost_driver.h"

namespace ricci::cuda {
namespace {

template <typename F>
struct Refusal;
template <typename... Arguments>
struct Refusal<CuResult (*)(Arguments...)> {
  static CuResult Call(Arguments...) { return kCuDeinitialized; }
};

constexpr Driver AllRefused() {
  Driver d;
#define RICCI_X(name, arguments) d.name = Refusal<decltype(d.name)>::Call;
  RICCI_CUDA_FUNCTIONS(RICCI_X)
  RICCI_CUDA_CONDITION_FUNCTIONS(RICCI_X)
#undef RICCI_X
  return d;
}
constexpr Driver kLost = AllRefused();

}  // namespace

const Driver& LostDriver() { return kLost; }

}  // namespace ricci::cuda
