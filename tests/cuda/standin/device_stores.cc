#include "device_stores.h"

namespace ricci::cuda::standin {
namespace {

constexpr const char* kStores = R"(
#define RICCI_STORES RICCI_UNSEEN __attribute__((noinline)) static void
RICCI_STORES ricci_store_box(const void* map, const void* from, unsigned rank, const int* at) {
  here->store_box({(char*)from, ricci_shared_address(from), rank, map, at}, RICCI_SITE);
}
RICCI_UNSEEN static void ricci_commit_stores() { here->commit_stores(); }
RICCI_UNSEEN static void ricci_wait_for_stores(unsigned but, bool only_reads) { here->wait_for_stores(but, only_reads); }
RICCI_STORES ricci_meet_named_barrier(unsigned number, unsigned threads) {
  ricci_meet("bar.sync", RICCI_SITE, 0xffffffffu, number);
  const Place* const p = ricci_here();
  p->named_barrier(number, threads);
  Enter(p);
}
// Lane 8 j + i names row i of matrix j, of which lane 4 i + c has elements 2 c and 2 c + 1: `in[j]`. The row counts as
// written by the lane that names it.
struct OfStmatrix { unsigned in[4]; };
RICCI_STORES ricci_meet_stmatrix(unsigned short* row, const unsigned* in) {
  const OfStmatrix mine = {{in[0], in[1], in[2], in[3]}};
  const OfLanes<OfStmatrix> all = ricci_meet("stmatrix", RICCI_SITE, 0xffffffffu, mine);
#ifdef RICCI_CHECKED
  here->access(row, 16, 1, RICCI_SITE);
#endif
  const unsigned matrix = ricci_lane() / 8, first = ricci_lane() % 8 * 4;
  for (unsigned c = 0; c < 4; ++c) {
    row[2 * c] = (unsigned short)all.of[first + c].in[matrix];
    row[2 * c + 1] = (unsigned short)(all.of[first + c].in[matrix] >> 16);
  }
}
)";

}  // namespace

const char* DeviceStores() { return kStores; }

}  // namespace ricci::cuda::standin
