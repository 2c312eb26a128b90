#include "device_mbarriers.h"

namespace ricci::cuda::standin {
namespace {

constexpr const char* kMbarriers = R"(
#define RICCI_MBARRIER RICCI_UNSEEN __attribute__((noinline)) static void
RICCI_MBARRIER ricci_mbarrier_init(unsigned long long* at, unsigned arrivals) {
  here->mbarrier_init(at, arrivals, RICCI_SITE);
}
RICCI_MBARRIER ricci_mbarrier_arrive(unsigned long long* at, unsigned bytes) {
  here->mbarrier_arrive(at, bytes, RICCI_SITE);
}
RICCI_MBARRIER ricci_meet_mbarrier_wait(unsigned long long* at, unsigned parity) {
  const Place* const p = ricci_here();
  p->mbarrier_wait(at, parity, RICCI_SITE);
  Enter(p);  // others ran in between
}
RICCI_UNSEEN __attribute__((noinline)) static bool ricci_meet_elect() {
  ricci_meet("elect.sync", RICCI_SITE, 0xffffffffu, 0);
  return ricci_lane() == 0;
}
RICCI_MBARRIER ricci_copy_box(void* to, const void* map, unsigned rank, const int* at, unsigned long long* barrier) {
  here->copy_box({(char*)to, ricci_shared_address(to), rank, map, at}, barrier, RICCI_SITE);
}
)";

}  // namespace

const char* DeviceMbarriers() { return kMbarriers; }

}  // namespace ricci::cuda::standin
