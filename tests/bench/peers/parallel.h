// One thread per core over equal parts, started for each run.
#ifndef RICCI_TESTS_BENCH_PEERS_PARALLEL_H_
#define RICCI_TESTS_BENCH_PEERS_PARALLEL_H_
#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

namespace bench {

inline int64_t Cores() { return std::max<int64_t>(1, std::thread::hardware_concurrency()); }

// f(begin, end) on parts of [0, n), one per core.
template <typename F>
void Parallel(int64_t n, const F& f) {
  const int64_t workers = Cores();
  std::vector<std::thread> threads;
  for (int64_t k = 1; k < workers; ++k) threads.emplace_back([&, k] { f(n * k / workers, n * (k + 1) / workers); });
  f(0, n / workers);
  for (std::thread& t : threads) t.join();
}

}  // namespace bench
#endif
