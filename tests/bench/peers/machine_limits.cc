#include "machine_limits.h"

#include <immintrin.h>

#include <cstdlib>
#include <memory>
#include <new>
#include <thread>
#include <vector>

namespace bench {
namespace {

// f(part) on one thread per core.
template <typename F>
void OnAllCores(unsigned cores, const F& f) {
  std::vector<std::thread> threads;
  for (unsigned k = 1; k < cores; ++k) threads.emplace_back([&f, k] { f(k); });
  f(0);
  for (std::thread& t : threads) t.join();
}

unsigned Cores() { return std::max(1u, std::thread::hardware_concurrency()); }

constexpr std::size_t kLine = 64;
using Memory = std::unique_ptr<char, void (*)(void*)>;
Memory Touched(std::size_t bytes) {
  Memory m(static_cast<char*>(std::aligned_alloc(kLine, bytes)), std::free);
  if (m == nullptr) throw std::bad_alloc();
  std::fill_n(m.get(), bytes, 1);
  return m;
}

// Stores that do not fetch the line first.
void CopyStreaming(char* to, const char* from, std::size_t bytes) {
#ifdef __AVX__
  for (std::size_t i = 0; i < bytes; i += sizeof(__m256i)) {
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to + i), *reinterpret_cast<const __m256i*>(from + i));
  }
  _mm_sfence();
#else
  std::copy_n(from, bytes, to);
#endif
}

// Chains that do not depend on each other, enough to fill both units for multiply-adds; some ten milliseconds.
constexpr int kChains = 16, kTurns = 1 << 21;
#ifdef __AVX512F__
constexpr int kVector = 64;
#else
constexpr int kVector = 32;
#endif
typedef float Vector __attribute__((vector_size(kVector)));

float MultiplyAdds(float factor, float term) {
  Vector sums[kChains], by = Vector{} + factor, plus = Vector{} + term;
  for (int k = 0; k < kChains; ++k) sums[k] = Vector{} + static_cast<float>(k);
  for (int n = 0; n < kTurns; ++n) {
#pragma GCC unroll 16
    for (int k = 0; k < kChains; ++k) sums[k] = sums[k] * by + plus;
  }
  Vector all{};
  for (const Vector& s : sums) all += s;
  return all[0];
}

Prepared Copy(const Settings& s) {
  const std::size_t part = (s.small ? std::size_t{1} << 12 : std::size_t{1} << 28) / Cores() / kLine * kLine;
  auto from = std::make_shared<Memory>(Touched(part * Cores())), to = std::make_shared<Memory>(Touched(part * Cores()));
  Prepared p;
  p.run = [=] {
    OnAllCores(Cores(), [&](unsigned k) { CopyStreaming(to->get() + k * part, from->get() + k * part, part); });
  };
  p.work = 2.0 * static_cast<double>(part * Cores());
  return p;
}

Prepared MultiplyAdd(const Settings&) {
  auto factor = std::make_shared<float>(0.5f);
  auto sums = std::make_shared<std::vector<float>>(Cores() * kLine);
  Prepared p;
  p.run = [=] { OnAllCores(Cores(), [&](unsigned k) { (*sums)[k * kLine] = MultiplyAdds(*factor, 0.3f); }); };
  p.work = 2.0 * kChains * kTurns * (kVector / sizeof(float)) * Cores();
  return p;
}

}  // namespace

std::vector<Case> MachineLimits() {
  return {{"copy_limit", "GB/s", Copy}, {"multiply_add_limit", "GFLOP/s", MultiplyAdd}};
}

}  // namespace bench
