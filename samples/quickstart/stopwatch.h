// stopwatch: measures how long tracing, compiling and running a jitted function takes.
#ifndef SAMPLES_QUICKSTART_STOPWATCH_H_
#define SAMPLES_QUICKSTART_STOPWATCH_H_
#include <chrono>
#include <cstdio>

#include "ricci/ricci.hpp"

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

// Compiles `f` for these arguments and prints how long each part took.
template <typename F, typename... Args>
void CompileAndReport(const char* what, const F& f, const Args&... args) {
  const Stopwatch watch;
  const auto stats = f.lower(args...).stats();
  const double compile = stats.transform_s + stats.lower_s + stats.codegen_s;
  std::printf("%s: traced in %.1f ms, compiled in %.1f ms (%.0f kB of code)\n", what, 1e3 * (watch.seconds() - compile),
              1e3 * compile, static_cast<double>(stats.code_bytes) / 1024);
}

#endif
