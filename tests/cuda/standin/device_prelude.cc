#include "device_prelude.h"

namespace ricci::cuda::standin {
namespace {

constexpr const char* kPrelude = R"(
#define __device__
#define __global__
#define __noinline__ __attribute__((noinline))
#define __forceinline__ inline
#define __restrict__ __restrict
#define __launch_bounds__(...)
#define __shared__ static thread_local
struct Index { unsigned x, y, z; };
struct Meeting {
  const char* what;
  const void* site;
  unsigned mask, bytes;
  const void* mine;
  void* all;
};
struct Place {
  Index block, blocks, thread, threads;
  void (*meet)(const Meeting&);
  void (*barrier)();
};
static thread_local Index blockIdx, gridDim, threadIdx, blockDim;
static thread_local const Place* here;
static void Enter(const Place* p) {
  here = p;
  blockIdx = p->block; gridDim = p->blocks; threadIdx = p->thread; blockDim = p->threads;
}

// The lanes of `mask` meet at the operation `what`, in the text at `site`: each gives a value and gets those of all.
template <typename T>
struct OfLanes { T of[32]; };
template <typename T>
static OfLanes<T> ricci_meet(const char* what, const void* site, unsigned mask, T mine) {
  OfLanes<T> all = {};
  const Place* const p = here;
  p->meet({what, site, mask, (unsigned)sizeof(T), &mine, &all});
  Enter(p);  // others ran in between
  return all;
}
static unsigned ricci_lane() {
  return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32;
}
#define RICCI_SITE __builtin_return_address(0)
#define RICCI_OF_WARP template <typename T> __attribute__((noinline)) static T
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
__attribute__((noinline)) static unsigned __ballot_sync(unsigned mask, int predicate) {
  const OfLanes<int> all = ricci_meet("__ballot_sync", RICCI_SITE, mask, predicate);
  unsigned bits = 0;
  for (unsigned lane = 0; lane < 32; ++lane) bits |= (unsigned)((mask >> lane & 1) && all.of[lane] != 0) << lane;
  return bits;
}
__attribute__((noinline)) static void __syncwarp(unsigned mask = 0xffffffffu) {
  ricci_meet("__syncwarp", RICCI_SITE, mask, 0);
}
static void __syncthreads() {
  const Place* const p = here;
  p->barrier();
  Enter(p);
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
template <typename T> static void atomicMin(T* p, T v) { if (v < *p) *p = v; }
template <typename T> static void atomicMax(T* p, T v) { if (v > *p) *p = v; }
template <typename T> static void atomicAdd(T* p, T v) { *p += v; }
)";

}  // namespace

const char* DevicePrelude() { return kPrelude; }

}  // namespace ricci::cuda::standin
