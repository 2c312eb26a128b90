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

// ---- clusters: dynamic shared memory of their blocks is contiguous ----
RICCI_UNSEEN static unsigned ricci_rank_in_cluster() { return here->rank; }
RICCI_UNSEEN static void* ricci_in_cluster(void* p, unsigned rank) {
  return (char*)p + ((long)rank - (long)here->rank) * 232448;
}
RICCI_UNSEEN static void ricci_fence_mbarrier_init() { here->fence_mbarrier_init(); }
RICCI_MBARRIER ricci_mbarrier_arrive_in_cluster(unsigned long long* at, unsigned rank) {
  void* const there = ricci_in_cluster(at, rank);
  here->other_block(rank, there);
  here->mbarrier_arrive(there, 0, RICCI_SITE);
}
RICCI_MBARRIER ricci_copy_box_to_cluster(void* to, const void* map, unsigned rank, const int* at,
                                         unsigned long long* barrier, unsigned blocks) {
  const unsigned address = ricci_shared_address(to);
  for (unsigned block = 0; block < 16; ++block) {
    if ((blocks >> block & 1) == 0) continue;
    here->other_block(block, ricci_in_cluster(barrier, block));
    here->copy_box({(char*)ricci_in_cluster(to, block), address, rank, map, at}, ricci_in_cluster(barrier, block),
                   RICCI_SITE);
  }
}
RICCI_UNSEEN __attribute__((noinline)) static void ricci_meet_setmaxnreg(unsigned registers) {
  if (registers % 8 != 0 || registers < 24 || registers > 256) here->fault("setmaxnreg of a wrong number");
  const Place* const p = ricci_here();
  p->meet({"setmaxnreg", RICCI_SITE, ~0u, (unsigned)sizeof registers, &registers, 0, 128});
  Enter(p);
}
)";

}  // namespace

const char* DeviceMbarriers() { return kMbarriers; }

}  // namespace ricci::cuda::standin
