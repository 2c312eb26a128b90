// One line per function: a Python expression of jax.numpy, and the same in C++.
//
// The program runs the C++ side and writes the results; compare.py evaluates the expressions with JAX and compares
// dtype, shape and elements. The names in the expressions are the members of Given.
#ifndef RICCI_TESTS_NUMPY_CASE_H_
#define RICCI_TESTS_NUMPY_CASE_H_
#include <span>
#include <utility>
#include <vector>

#include "ricci/ricci.hpp"

namespace ricci::testing {

// The arrays that cases use.
struct Given {
  explicit Given(const Context& ctx);
  Context ctx;
  Array x, y, p, u, v, w, m, t, e, n, s;  // f32: any, like x, positive, in (-1, 1), vector, scalar, 3 x 3, 2 x 3 x 4,
                                          // no elements, with NaN and infinities, sorted
  Array d, h, z, zv;                      // f64, f16, c64, vector of c64
  Array i, j, l, k;                       // i32, indices from 0 to 3, i64, u8
  Array b, c;                             // bool: 2 x 3, vector
  template <typename F>
  void ForEach(F f) const {
    f("x", x), f("y", y), f("p", p), f("u", u), f("v", v), f("w", w), f("m", m), f("t", t), f("e", e), f("n", n);
    f("s", s), f("d", d), f("h", h), f("z", z), f("zv", zv), f("i", i), f("j", j), f("l", l), f("k", k), f("b", b);
    f("c", c);
  }
};

// What a case gives: one Value or several.
struct Results : std::vector<Array> {
  Results(const Value& v) : std::vector<Array>{Array(v)} {}  // NOLINT
  Results(const Array& a) : std::vector<Array>{a} {}         // NOLINT
  Results(const Values& vs) {                                // NOLINT
    for (const Value& v : vs) push_back(Array(v));
  }
  Results(const std::pair<Value, Value>& p) : std::vector<Array>{Array(p.first), Array(p.second)} {}  // NOLINT
};

struct Case {
  const char* expression;
  Results (*run)(const Given&);
  double tolerance = 8;  // in units of the last place of the dtype, of the greater of 1 and the element
};

std::span<const Case> ElementwiseCases();
std::span<const Case> ComplexCases();
std::span<const Case> FloatPartCases();
std::span<const Case> ReductionCases();
std::span<const Case> StatisticsCases();
std::span<const Case> JoiningCases();
std::span<const Case> CreationCases();
std::span<const Case> IndexingCases();
std::span<const Case> SetCases();
std::span<const Case> DifferenceCases();
std::span<const Case> ProductCases();
std::span<const Case> LinalgCases();
std::span<const Case> FftCases();
std::span<const Case> ScipyCases();
std::span<const Case> SpecialCases();
std::span<const Case> ScipyLinalgCases();
std::span<const Case> StatsCases();
std::span<const Case> AppliedCases();
std::span<const Case> NnCases();
std::span<const Case> ProgramCases();

}  // namespace ricci::testing
#endif
