#include "device_prelude.h"

namespace ricci::cuda::standin {
namespace {

constexpr const char* kPrelude = R"(
#define __device__
#define __global__
#define __grid_constant__
#define __noinline__ __attribute__((noinline))
#define __forceinline__ inline
#define __restrict__ __restrict
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __align__(n) __attribute__((aligned(n)))
// The check finds shared memory by its sections. Between arrays there are gaps.
#define RICCI_IN(section_name) __attribute__((section(section_name ",\"aw\",@nobits#")))
#define RICCI_NAME(a, b) a##b
#define RICCI_GAP(number) static char RICCI_NAME(ricci_gap, number)[256] RICCI_IN("ricci_shared") __attribute__((used));
#define __shared__ RICCI_GAP(__COUNTER__) static RICCI_IN("ricci_shared")
#define __dynamic_shared__ static RICCI_IN("ricci_dynamic")
// What the check does not see.
#define RICCI_UNSEEN __attribute__((no_sanitize("thread"), no_sanitize_coverage))
#define RICCI_OF_CODE RICCI_UNSEEN __attribute__((visibility("hidden")))
struct Index { unsigned x, y, z; };
struct Meeting {
  const char* what;
  const void* site;
  unsigned mask, bytes;
  const void* mine;
  void* all;
  unsigned group;
};
struct PtxOperand;
// The box of a tensor map that begins at these coordinates, to a place whose address in shared memory is this.
struct BoxToCopy {
  char* to;
  unsigned address, rank;
  const void* map;
  const int* at;
};
struct Place {
  Index block, blocks, thread, threads;
  void (*meet)(const Meeting&);
  void (*barrier)();
  void (*access)(const void* p, unsigned bytes, unsigned kind, const void* site);
  void (*never_ends)();
  unsigned long long* blocks_left;
  void (*ptx)(const char* text, PtxOperand* operands, unsigned n, const void* site, char* shared);
  void (*set_condition)(unsigned long long condition, unsigned value);
  void (*fence_proxy)();
  void (*fault)(const char* what);
  void (*mbarrier_init)(void* at, unsigned arrivals, const void* site);
  void (*mbarrier_arrive)(void* at, unsigned bytes, const void* site);
  void (*mbarrier_wait)(void* at, unsigned parity, const void* site);
  void (*copy_box)(const BoxToCopy& box, void* at, const void* site);
  void (*has_waited)(unsigned group);
  unsigned rank;  // of the block in its cluster
  void (*barrier_of_cluster)();
  void (*fence_mbarrier_init)();
  void (*other_block)(unsigned rank, const void* mbarrier);
  void (*store_box)(const BoxToCopy& box, const void* site);
  void (*commit_stores)();
  void (*wait_for_stores)(unsigned but, bool only_reads);
  void (*named_barrier)(unsigned number, unsigned threads);
};
static const Place* here;
RICCI_UNSEEN static void Enter(const Place* p) { here = p; }
RICCI_UNSEEN static const Place* ricci_here() { return here; }
RICCI_UNSEEN static Index ricci_block() { return here->block; }
RICCI_UNSEEN static Index ricci_blocks() { return here->blocks; }
RICCI_UNSEEN static Index ricci_thread() { return here->thread; }
RICCI_UNSEEN static Index ricci_threads() { return here->threads; }
extern "C" RICCI_OF_CODE void cudaGraphSetConditional(unsigned long long condition, unsigned value) {
  here->set_condition(condition, value);
}
#define blockIdx ricci_block()
#define gridDim ricci_blocks()
#define threadIdx ricci_thread()
#define blockDim ricci_threads()

#ifdef RICCI_CHECKED
// What the compiler calls before each access and at the beginning of each basic block.
#define RICCI_ACCESS(name, bytes, kind) RICCI_OF_CODE void name(void* p) { here->access(p, bytes, kind, __builtin_return_address(0)); }
#define RICCI_ACCESSES(bytes) RICCI_ACCESS(__tsan_read##bytes, bytes, 0) RICCI_ACCESS(__tsan_write##bytes, bytes, 1)
extern "C" {
int ricci_is_checked;
RICCI_ACCESSES(1) RICCI_ACCESSES(2) RICCI_ACCESSES(4) RICCI_ACCESSES(8) RICCI_ACCESSES(16)
RICCI_OF_CODE void __tsan_read_range(void* p, unsigned long n) { here->access(p, (unsigned)n, 3, __builtin_return_address(0)); }
RICCI_OF_CODE void __tsan_write_range(void* p, unsigned long n) { here->access(p, (unsigned)n, 4, __builtin_return_address(0)); }
RICCI_OF_CODE void __tsan_init() {}
RICCI_OF_CODE void __sanitizer_cov_trace_pc() { if (here != 0 && --*here->blocks_left == 0) here->never_ends(); }
}
RICCI_UNSEEN static void ricci_atomic(void* p, unsigned bytes, const void* site) { here->access(p, bytes, 2, site); }
#else
static void ricci_atomic(void*, unsigned, const void*) {}
#endif

// The lanes of `mask` meet at the operation `what`, in the text at `site`: each gives a value and gets those of all.
template <typename T>
struct OfLanes { T of[32]; };
template <typename T>
RICCI_UNSEEN static OfLanes<T> ricci_meet(const char* what, const void* site, unsigned mask, T mine) {
  OfLanes<T> all = {};
  const Place* const p = ricci_here();
  p->meet({what, site, mask, (unsigned)sizeof(T), &mine, &all});
  Enter(p);  // others ran in between
  return all;
}
RICCI_UNSEEN static unsigned ricci_lane() {
  return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32;
}
#define RICCI_SITE __builtin_return_address(0)
#define RICCI_OF_WARP template <typename T> RICCI_UNSEEN __attribute__((noinline)) static T
RICCI_OF_WARP __shfl_xor_sync(unsigned mask, T v, int across, int width = 32) {
  const OfLanes<T> all = ricci_meet("__shfl_xor_sync", RICCI_SITE, mask, v);
  const unsigned from = ricci_lane() ^ (unsigned)across;
  return from / width > ricci_lane() / width ? v : all.of[from % 32];
}
RICCI_OF_WARP __shfl_sync(unsigned mask, T v, int lane, int width = 32) {
  const OfLanes<T> all = ricci_meet("__shfl_sync", RICCI_SITE, mask, v);
  return all.of[ricci_lane() / width * width + (unsigned)lane % width];
}
RICCI_OF_WARP __shfl_down_sync(unsigned mask, T v, unsigned down, int width = 32) {
  const OfLanes<T> all = ricci_meet("__shfl_down_sync", RICCI_SITE, mask, v);
  const unsigned from = ricci_lane() + down;
  return from / width != ricci_lane() / width ? v : all.of[from];
}
RICCI_OF_WARP __shfl_up_sync(unsigned mask, T v, unsigned up, int width = 32) {
  const OfLanes<T> all = ricci_meet("__shfl_up_sync", RICCI_SITE, mask, v);
  return ricci_lane() % width < up ? v : all.of[ricci_lane() - up];
}
RICCI_UNSEEN __attribute__((noinline)) static unsigned __ballot_sync(unsigned mask, int predicate) {
  const OfLanes<int> all = ricci_meet("__ballot_sync", RICCI_SITE, mask, predicate);
  unsigned bits = 0;
  for (unsigned lane = 0; lane < 32; ++lane) bits |= (unsigned)((mask >> lane & 1) && all.of[lane] != 0) << lane;
  return bits;
}
RICCI_UNSEEN __attribute__((noinline)) static void __syncwarp(unsigned mask = 0xffffffffu) {
  ricci_meet("__syncwarp", RICCI_SITE, mask, 0);
}
RICCI_UNSEEN static void ricci_after_barrier();
RICCI_UNSEEN static void __syncthreads() {
  const Place* const p = ricci_here();
  p->barrier();
  Enter(p);
  ricci_after_barrier();
}
RICCI_UNSEEN static void ricci_meet_cluster() {
  const Place* const p = ricci_here();
  p->barrier_of_cluster();
  Enter(p);
  ricci_after_barrier();
}
// The check orders nothing by a fence, so what blocks tell each other within a launch is a race.
static void __threadfence() {}
static void __threadfence_block() {}

static int ricci_any;
RICCI_UNSEEN static int __syncthreads_or(int predicate) {
  __syncthreads();
  ricci_any = 0;
  __syncthreads();
  if (predicate) ricci_any = 1;
  __syncthreads();
  const int any = ricci_any;
  __syncthreads();
  return any;
}

extern "C" {
float fabsf(float); float sqrtf(float); float fmaf(float, float, float); float truncf(float); float rintf(float);
float copysignf(float, float); float floorf(float); float ceilf(float); float roundf(float); float fmodf(float, float);
float tanf(float); float lgammaf_r(float, int*);
double fabs(double); double sqrt(double); double fma(double, double, double); double trunc(double); double rint(double);
double copysign(double, double); double floor(double); double ceil(double); double round(double);
double fmod(double, double); double tan(double); double lgamma_r(double, int*); double ldexp(double, int);
}
static double lgamma(double x) { int sign; return lgamma_r(x, &sign); }
static int __clz(int x) { return x == 0 ? 32 : __builtin_clz((unsigned)x); }
static int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll((unsigned long long)x); }
static int __popc(unsigned x) { return __builtin_popcount(x); }
static int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return (unsigned long long)((unsigned __int128)a * b >> 64); }
static long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }
#define RICCI_ATOMIC(name, condition, result) \
  template <typename T> RICCI_UNSEEN __attribute__((noinline)) static T name(T* p, T v) { \
    ricci_atomic(p, sizeof(T), __builtin_return_address(0)); \
    const T old = *p; \
    if (condition) *p = result; \
    return old; \
  }
RICCI_ATOMIC(atomicMin, v < old, v)
RICCI_ATOMIC(atomicMax, v > old, v)
RICCI_ATOMIC(atomicAdd, true, old + v)
RICCI_ATOMIC(atomicExch, true, v)
RICCI_ATOMIC(atomicOr, true, old | v)
RICCI_ATOMIC(atomicAnd, true, old & v)
)";

constexpr const char* kEnd = R"(
static char ricci_gap_last[256] RICCI_IN("ricci_shared") __attribute__((used));
)";

}  // namespace

const char* DevicePrelude() { return kPrelude; }
const char* DeviceEnd() { return kEnd; }

}  // namespace ricci::cuda::standin
