// Descriptors and swizzles are those of PTX ISA, "asynchronous warpgroup level matrix instructions": "matrix descriptor
// format", "canonical layouts", and the fragments of wgmma.m64nNk16.
//
// A product is computed when it is waited for; until then its sums are not numbers. What it reads is noted, as reads of
// the group, when it is issued, after each barrier since, and when it is waited for: so a stage that is written too
// early, or was not written before, is a race, and gives wrong numbers too. The threads of a group share what it reads;
// each piece may be written over once it is known that the warp of its thread has waited (race_log.h).
#include "device_warpgroups.h"

namespace ricci::cuda::standin {
namespace {

constexpr const char* kWarpgroups = R"(
#pragma GCC push_options
#pragma GCC optimize("O2")
extern char __start_ricci_shared[] __attribute__((weak, visibility("hidden")));
extern char __start_ricci_dynamic[] __attribute__((weak, visibility("hidden")));
extern char __stop_ricci_dynamic[] __attribute__((weak, visibility("hidden")));
// Shared memory as the GPU addresses it: of a kernel its dynamic array, which is as large as any may be, or what all
// kernels of the text declare. Of a cluster that of its first block.
static char* ricci_shared_begin;
RICCI_UNSEEN static unsigned ricci_shared_address(const void* p) {
  char* const at = (char*)p;
  ricci_shared_begin = __start_ricci_shared;
  if (at >= __start_ricci_dynamic && at < __stop_ricci_dynamic) {
    ricci_shared_begin =
        __start_ricci_dynamic + ((at - __start_ricci_dynamic) / 232448 - (long)here->rank) * 232448;
  }
  return (unsigned)(at - ricci_shared_begin - here->rank * 232448);
}

struct RicciSums {
  float* of_thread;  // null: not in use
  unsigned pending, count;
  float numbers[128];
};
struct RicciProduct {
  RicciSums* sums;
  unsigned columns, group;
  unsigned long long rows_at, columns_at;
  int rows_turned, columns_turned;
  float (*widen)(unsigned);
  const void* site;
};
struct RicciProducts {
  RicciSums sums[4];
  RicciProduct of[64];
  unsigned count, groups;  // of products; of groups that were committed
  unsigned waits;          // of this thread so far
  bool is_fenced;
};
static RicciProducts ricci_products[1024];  // by thread
static bool ricci_has_products;             // else they are not needed: they are large
static unsigned ricci_begun;                // threads that have begun, of all launches
RICCI_UNSEEN static unsigned ricci_number() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
RICCI_UNSEEN static RicciProducts& ricci_of_thread() {
  return ricci_products[ricci_number() + here->rank * blockDim.x * blockDim.y * blockDim.z];
}

// The element (number `side` of the rows or columns, trip) of the factor that a descriptor names; turned: a line holds
// the same trip of neighbours.
RICCI_UNSEEN static inline const unsigned short* ricci_element(unsigned long long at, int turned, unsigned side,
                                                              unsigned trip) {
  const unsigned first = (at & 0x3fff) << 4, leading = (at >> 16 & 0x3fff) << 4, stride = (at >> 32 & 0x3fff) << 4;
  const unsigned line = 256u >> (at >> 62);
  const unsigned offset = turned ? side * 2 / line * leading + trip / 8 * stride + trip % 8 * line + side * 2 % line
                                 : side / 8 * stride + side % 8 * line + trip * 2;
  const unsigned linear = first + offset;
  return (const unsigned short*)(ricci_shared_begin + here->rank * 232448 + (linear ^ (linear >> 7 & (line / 16 - 1)) << 4));
}

// The threads of the group share the pieces of 16 bytes.
RICCI_UNSEEN static void ricci_note_factor(unsigned long long at, int turned, unsigned extent, unsigned group,
                                           const void* site) {
#ifdef RICCI_CHECKED
  for (unsigned c = ricci_number() % 128; c < extent * 2; c += 128) {
    const unsigned side = turned ? c % (extent / 8) * 8 : c / 2, trip = turned ? c / (extent / 8) : c % 2 * 8;
    here->access((void*)ricci_element(at, turned, side, trip), 16, 5 + group * 256, site);
  }
#endif
}
RICCI_UNSEEN static void ricci_note_product(const RicciProduct& p) {
  ricci_note_factor(p.rows_at, p.rows_turned, 64, p.group, p.site);
  ricci_note_factor(p.columns_at, p.columns_turned, p.columns, p.group, p.site);
}
RICCI_UNSEEN static void ricci_after_barrier() {
  if (!ricci_has_products) return;
  const RicciProducts& t = ricci_of_thread();
  for (unsigned i = 0; i < t.count; ++i) ricci_note_product(t.of[i]);
}
RICCI_UNSEEN static void ricci_begin_thread() {
  if (!ricci_has_products) return;
  RicciProducts& t = ricci_of_thread();
  t.count = t.groups = t.waits = 0;
  ++ricci_begun;
  t.is_fenced = false;
  for (RicciSums& s : t.sums) s.of_thread = 0;
}
RICCI_UNSEEN static void ricci_end_thread() {
  if (ricci_has_products && ricci_of_thread().count != 0) here->fault("a product of a group of warps is never waited for");
}

// What a warp multiplies, as numbers: its lanes compute a product in turn, and no other lane runs meanwhile.
struct RicciFactors {
  const RicciProducts* warp;  // that has read them, in which of its waits, and before which threads began
  unsigned wait, begun;
  float rows[16][16], columns[256][16];
};
static RicciFactors ricci_factors[64];  // by the place of the product among those that are waited for
RICCI_UNSEEN static const RicciFactors& ricci_read_factors(const RicciProduct& p, unsigned number, unsigned wait) {
  RicciFactors& f = ricci_factors[number];
  const RicciProducts* const warp = &ricci_of_thread() - ricci_lane();
  if (f.warp == warp && f.wait == wait && f.begun == ricci_begun) return f;
  f.warp = warp;
  f.wait = wait;
  f.begun = ricci_begun;
  for (unsigned row = 0; row < 16; ++row) {
    for (unsigned trip = 0; trip < 16; ++trip) {
      f.rows[row][trip] = p.widen(*ricci_element(p.rows_at, p.rows_turned, ricci_number() / 32 % 4 * 16 + row, trip));
    }
  }
  for (unsigned column = 0; column < p.columns; ++column) {
    for (unsigned trip = 0; trip < 16; ++trip) {
      f.columns[column][trip] = p.widen(*ricci_element(p.columns_at, p.columns_turned, column, trip));
    }
  }
  return f;
}
// Of each 8 columns a thread has two neighbours of row lane / 4 of its warp's 16 rows, and two of the row 8 below it.
RICCI_UNSEEN static void ricci_compute(const RicciProduct& p, const RicciFactors& f) {
  const float* const x = f.rows[ricci_lane() / 4];
  const float* const below = f.rows[ricci_lane() / 4 + 8];
  for (unsigned e = 0; e < p.columns / 2; ++e) {
    if (e / 2 % 2 != 0) continue;
    const float* const y = f.columns[e / 4 * 8 + ricci_lane() % 4 * 2 + e % 2];
    float sum = p.sums->numbers[e], sum_below = p.sums->numbers[e + 2];
    for (unsigned trip = 0; trip < 16; ++trip) {
      sum += x[trip] * y[trip];
      sum_below += below[trip] * y[trip];
    }
    p.sums->numbers[e] = sum;
    p.sums->numbers[e + 2] = sum_below;
  }
}
RICCI_UNSEEN static void ricci_finish(const RicciProduct& p, unsigned number) {
  ricci_note_product(p);
  ricci_compute(p, ricci_read_factors(p, number, ricci_of_thread().waits));
  RicciSums& s = *p.sums;
  if (--s.pending != 0) return;
  for (unsigned e = 0; e < s.count; ++e) s.of_thread[e] = s.numbers[e];
  s.of_thread = 0;
}

RICCI_UNSEEN static RicciSums* ricci_take_sums(RicciProducts& t, float* sums, unsigned count) {
  RicciSums* room = 0;
  for (RicciSums& s : t.sums) {
    if (s.of_thread == sums) return &s;
    if (s.of_thread == 0) room = &s;
  }
  if (room == 0) here->fault("more sums are pending than are modelled");
  room->of_thread = sums;
  room->pending = 0;
  room->count = count;
  for (unsigned e = 0; e < count; ++e) {
    room->numbers[e] = sums[e];
    sums[e] = __builtin_nanf("");
  }
  return room;
}
RICCI_UNSEEN static void ricci_check_descriptor(unsigned long long at) {
  if (at >> 62 == 0) here->fault("a matrix descriptor without a swizzle, which is not modelled");
  if ((at >> 46 & 0xffff) != 0 || (at >> 14 & 3) != 0 || (at >> 30 & 3) != 0) {
    here->fault("a matrix descriptor with bits that mean nothing, or a base offset");
  }
}
RICCI_UNSEEN static void ricci_meet_wgmma(float* sums, unsigned columns, unsigned long long rows_at,
                                          unsigned long long columns_at, int rows_turned, int columns_turned,
                                          float (*widen)(unsigned), const void* site) {
  const Place* const p = ricci_here();
  const unsigned long long mine[] = {rows_at, columns_at, columns, (unsigned long long)(rows_turned * 2 + columns_turned)};
  p->meet({"wgmma.mma_async", site, ~0u, (unsigned)sizeof mine, mine, 0, 128});
  Enter(p);
  ricci_has_products = true;
  RicciProducts& t = ricci_of_thread();
  ricci_check_descriptor(rows_at);
  ricci_check_descriptor(columns_at);
  if (!t.is_fenced) p->fault("wgmma.mma_async whose sums no wgmma.fence precedes");
  if (t.count == sizeof t.of / sizeof *t.of) p->fault("more products are pending than are modelled");
  RicciProduct& product = t.of[t.count++];
  product = {ricci_take_sums(t, sums, columns / 2), columns, t.groups, rows_at, columns_at, rows_turned, columns_turned,
             widen, site};
  ++product.sums->pending;
  ricci_note_product(product);
}
RICCI_UNSEEN __attribute__((noinline)) static void ricci_meet_wgmma_bf16(float* sums, unsigned columns,
    unsigned long long rows_at, unsigned long long columns_at, int rows_turned, int columns_turned) {
  ricci_meet_wgmma(sums, columns, rows_at, columns_at, rows_turned, columns_turned, ricci_widen_bf16, RICCI_SITE);
}
RICCI_UNSEEN __attribute__((noinline)) static void ricci_meet_wgmma_f16(float* sums, unsigned columns,
    unsigned long long rows_at, unsigned long long columns_at, int rows_turned, int columns_turned) {
  ricci_meet_wgmma(sums, columns, rows_at, columns_at, rows_turned, columns_turned, ricci_widen_f16, RICCI_SITE);
}
RICCI_UNSEEN __attribute__((noinline)) static void ricci_meet_wgmma_fence() {
  ricci_meet("wgmma.fence", RICCI_SITE, 0xffffffffu, 0);
  ricci_of_thread().is_fenced = true;
}
RICCI_UNSEEN __attribute__((noinline)) static void ricci_meet_wgmma_commit() {
  ricci_meet("wgmma.commit_group", RICCI_SITE, 0xffffffffu, 0);
  ++ricci_of_thread().groups;
}
// All but the last so many groups that were committed.
RICCI_UNSEEN __attribute__((noinline)) static void ricci_meet_wgmma_wait(unsigned but) {
  ricci_meet("wgmma.wait_group", RICCI_SITE, 0xffffffffu, 0);
  RicciProducts& t = ricci_of_thread();
  unsigned kept = 0;
  ++t.waits;
  for (unsigned i = 0; i < t.count; ++i) {
    if (t.of[i].group + but < t.groups) {
      ricci_finish(t.of[i], i);
    } else {
      t.of[kept++] = t.of[i];
    }
  }
  t.count = kept;
  t.is_fenced = false;
  // The warp has waited as one: of what tensor cores have read for it each lane knows all.
  here->has_waited(t.groups > but ? t.groups - but : 0);
  ricci_meet("wgmma.wait_group, its end", RICCI_SITE, 0xffffffffu, 0);
}
RICCI_UNSEEN static void ricci_fence_proxy_async() { here->fence_proxy(); }
#pragma GCC pop_options
)";

constexpr const char* kNoWarpgroups = R"(
RICCI_UNSEEN static inline void ricci_after_barrier() {}
RICCI_UNSEEN static inline void ricci_begin_thread() {}
RICCI_UNSEEN static inline void ricci_end_thread() {}
)";

}  // namespace

const char* DeviceWarpgroups() { return kWarpgroups; }
const char* NoDeviceWarpgroups() { return kNoWarpgroups; }

}  // namespace ricci::cuda::standin
