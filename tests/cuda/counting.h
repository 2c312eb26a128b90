// Counted and Counting: what the simulated GPU counts of accesses of memory (standin_figures.h).
#ifndef RICCI_TESTS_CUDA_COUNTING_H_
#define RICCI_TESTS_CUDA_COUNTING_H_
#include "cuda/of_standin.h"
#include "cuda/standin/standin_figures.h"

namespace ricci::testing {

// Since the last time that this was called.
inline ricci_standin_figures Counted() {
  ricci_standin_figures f{};
  OfStandin<void(ricci_standin_figures*)>("ricci_standin_counted")(&f);
  return f;
}

// As long as it lives, accesses are counted.
class Counting {
 public:
  Counting() {
    Counted();
    OfStandin<void(int)>("ricci_standin_count")(1);
  }
  ~Counting() { OfStandin<void(int)>("ricci_standin_count")(0); }
  Counting(const Counting&) = delete;
};

}  // namespace ricci::testing
#endif
