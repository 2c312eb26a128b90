#include "machine_limits.h"

#ifdef __AVX__
#include <immintrin.h>
#endif

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "parallel.h"

namespace bench {
namespace {

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

// Independent chains, enough to fill both units for multiply-adds; takes about ten milliseconds.
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
  const int64_t lines = s.small ? 1 << 6 : 1 << 22;
  const std::size_t bytes = kLine * static_cast<std::size_t>(lines);
  auto from = std::make_shared<Memory>(Touched(bytes)), to = std::make_shared<Memory>(Touched(bytes));
  Prepared p;
  p.run = [=] {
    Parallel(lines, [&](int64_t begin, int64_t end) {
      const auto first = kLine * static_cast<std::size_t>(begin);
      CopyStreaming(to->get() + first, from->get() + first, kLine * static_cast<std::size_t>(end - begin));
    });
  };
  p.work = 2.0 * static_cast<double>(bytes);
  return p;
}

Prepared MultiplyAdd(const Settings&) {
  auto factor = std::make_shared<float>(0.5f);
  auto sums = std::make_shared<std::vector<float>>(kLine * static_cast<std::size_t>(Cores()));
  Prepared p;
  p.run = [=] {
    Parallel(Cores(), [&](int64_t core, int64_t) {
      (*sums)[kLine * static_cast<std::size_t>(core)] = MultiplyAdds(*factor, 0.3f);
    });
  };
  p.work = 2.0 * kChains * kTurns * (kVector / sizeof(float)) * static_cast<double>(Cores());
  return p;
}

}  // namespace

std::vector<Case> MachineLimits() {
  return {{"copy_limit", "GB/s", Copy}, {"multiply_add_limit", "GFLOP/s", MultiplyAdd}};
}

}  // namespace bench
