// The loop of a measured C++ program, ours or a peer. peers/peer_loop.py describes the protocol.
#ifndef RICCI_TESTS_BENCH_BENCH_LOOP_H_
#define RICCI_TESTS_BENCH_BENCH_LOOP_H_
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace bench {

struct Settings {
  bool small = false;    // tiny sizes, to check results only
  double seconds = 0.6;  // how long a case is repeated
};

// A case ready to run. The closures own what it needs.
struct Prepared {
  std::function<void()> run;
  std::function<double()> check;  // sum of the absolute values of the result, after a run
  double work = 1;                // for units that are rates
  double bytes = 0, flops = 0;    // of one run: the least to be read and written, and to be computed; 0: not known
  std::function<double()> once;   // if set, gives the seconds of one fresh measurement instead of `run`
};

struct Case {
  std::string_view name;
  std::string_view unit;  // us, ms, s, GFLOP/s, GB/s, MLUPS
  std::function<Prepared(const Settings&)> prepare;
};

// `n` numbers in [-1, 1) that are the same in every language; in [0.5, 1.5); and -3 to 3 in equal steps.
std::vector<float> Uniform(int64_t n, uint32_t seed = 0);
std::vector<float> Positive(int64_t n);
std::vector<float> Ramp(int64_t n);
double Magnitude(const float* p, int64_t n);
double Magnitude(const std::vector<float>& v);
double Now();

// Answers case names on stdin with one record each. `start` computes one small result.
int Serve(int argc, char** argv, std::string_view what, const std::vector<Case>& cases,
          const std::function<void()>& start);

}  // namespace bench
#endif
