// Arguments next to every zero, pole and end of domain of the scalar functions, where formulas cancel, overflow and
// switch: compiled code and the interpreter against the C library in quadruple precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "quad.h"
#include "scalar_kernel.h"

namespace ricci::testing { namespace {

const Quad kPi = acosf128(-1);

Quad Log2(Quad x) { return log2f128(x); }
Quad Logistic(Quad x) { return x < 0 ? expf128(x) / (1 + expf128(x)) : 1 / (1 + expf128(-x)); }
Quad Rsqrt(Quad x) { return 1 / sqrtf128(x); }
Quad Lgamma(Quad x) { return lgammaf128(x); }

// Newton's method on log erfc from above, where it converges from one side; erf for small arguments.
Quad ErfInv(Quad x) {
  const Quad a = fabsf128(x);
  if (!(a <= 1)) return nanf128("");
  if (a == 1) return copysignf128(static_cast<Quad>(INFINITY), x);
  Quad y = a < Quad(0.5) ? a : sqrtf128(-logf128(1 - a));
  for (int i = 0; i < 200; ++i) {
    const Quad slope = 2 / sqrtf128(kPi) * expf128(-y * y), tail = erfcf128(y);
    const Quad step = a < Quad(0.5) ? (erff128(y) - a) / slope : (logf128(1 - a) - logf128(tail)) * tail / slope;
    y -= step;
    if (fabsf128(step) < y * Quad(1e-32)) break;
  }
  return copysignf128(y, x);
}

// Recurrence up to 60, then the asymptotic series (Abramowitz and Stegun 6.3.18); reflection below 0.
Quad Digamma(Quad x) {
  if (x <= 0 && x == floorf128(x)) return nanf128("");
  if (x < 0) return Digamma(1 - x) - kPi / tanf128(kPi * (x - roundf128(x)));
  Quad r = 0;
  for (; x < 60; x += 1) r -= 1 / x;
  const Quad i = 1 / (x * x);
  Quad series = 0;
  const int terms[][2] = {{-3617, 8160}, {1, 12}, {-691, 32760}, {1, 132}, {-1, 240}, {1, 252}, {-1, 120}, {1, 12}};
  for (const auto& [above, below] : terms) series = series * i + Quad(above) / below;
  return r + logf128(x) - 1 / (2 * x) - series * i;
}

struct Edge {
  uint32_t op;
  Quad (*exact)(Quad);
  std::vector<double> at;
  double ulps;
  double absolute = 0;  // an error that is accepted in f64 for any result
};

const std::vector<Edge>& Edges() {
  static const std::vector<Edge> edges = {
      {RICCI_S_EXP, expf128, {0, 709.782712893384, -745.1332191019412, -708.3964, 88.72284, -103.97208, -87.33655}, 2},
      {RICCI_S_EXP2, exp2f128, {0, 0.5, 1024, -1075, -1022, 128, -150, -126}, 2},
      {RICCI_S_EXPM1, expm1f128, {0, 709.782712893384, 88.72284, -37.43, -17.33}, 2},
      {RICCI_S_LOG, logf128, {0, 1, 0.70710678118654752, 1.4142135623730951}, 2},
      {RICCI_S_LOG1P, log1pf128, {-1, 0, -0.29289321881345, 0.41421356237309}, 2},
      {RICCI_S_LOG2, Log2, {0, 0.5, 1, 2, 0.70710678118654752}, 3},
      {RICCI_S_SIN, sinf128, {0, 1.5707963267948966, M_PI, 2 * M_PI, 22, 355, 60000, 4194304, 1e22, 1e300}, 2},
      {RICCI_S_COS, cosf128, {0, M_PI_2, 3 * M_PI_2, 11, 60000, 4194304, 1e22, 1e300}, 2},
      {RICCI_S_TAN, tanf128, {0, M_PI_2, M_PI, 3 * M_PI_2, 11, 355, 60000, 4194304, 1e22}, 3},
      {RICCI_S_ASIN, asinf128, {-1, 0, 1, 0.70710678118654752}, 3},
      {RICCI_S_ACOS, acosf128, {-1, 0, 1, 0.70710678118654752}, 3},
      {RICCI_S_ATAN, atanf128, {0, 1, 0.41421356237309505, 1e16}, 3},
      {RICCI_S_SINH, sinhf128, {0, 1, 710.4758600739439, 89.41599, 20}, 3},
      {RICCI_S_COSH, coshf128, {0, 710.4758600739439, 89.41599, 20}, 2},
      {RICCI_S_TANH, tanhf128, {0, 19.06, 9.01, 0.5}, 2},
      {RICCI_S_ASINH, asinhf128, {0, 268435456, 1}, 3},
      {RICCI_S_ACOSH, acoshf128, {1, 268435456}, 3},
      {RICCI_S_ATANH, atanhf128, {-1, 0, 1}, 3},
      {RICCI_S_SQRT, sqrtf128, {0, 1}, 1},
      {RICCI_S_RSQRT, Rsqrt, {0, 1}, 2},
      {RICCI_S_CBRT, cbrtf128, {0, 1, 0.25, 2}, 2},
      {RICCI_S_ERF, erff128, {0, 0.875, 1, 4, 5.92}, 2},
      {RICCI_S_ERFC, erfcf128, {0, 0.75, 26.5432, 10.0545, -5.86, 27.2}, 4},
      {RICCI_S_ERF_INV, ErfInv, {-1, 0, 1, 0.7071, 0.5, 0.9966, 0.9932621}, 4},
      {RICCI_S_LOGISTIC, Logistic, {0, -745.13321, -708.3964, 36.73, -103.97208, -87.33655}, 3},
      {RICCI_S_LGAMMA,
       Lgamma,
       {0, 1, 2, -1, -2, -3, -2.4570247382208006, -2.7476826467274127, -3.1435808883499798, -3.9552942848585979,
        -4.0393618397405369, -4.9915445, 0.5, 8},
       4},
      {RICCI_S_DIGAMMA,
       Digamma,
       {0, -1, -2, -3, 1.4616321449683623, -0.50408300826445541, -1.5734984731623904, -2.6107208684441447,
        -3.6352933664369010, 0.5, 8, 16},
       4,
       1e-16}};
  return edges;
}

template <typename T>
std::vector<T> Near(const std::vector<double>& at) {
  const T inf = std::numeric_limits<T>::infinity();
  std::vector<T> x;
  for (double wide : at) {
    const auto z = static_cast<T>(wide);
    if (std::isinf(z)) continue;
    T above = z, below = z;
    for (int i = 0; i < 30; ++i) {
      x.push_back(above);
      x.push_back(below);
      above = std::nextafter(above, inf);
      below = std::nextafter(below, -inf);
    }
    const int depth =
        z == 0 ? std::numeric_limits<T>::digits - std::numeric_limits<T>::min_exponent : std::numeric_limits<T>::digits;
    for (int i = 1; i < depth; ++i) {
      const T step = std::ldexp(z == 0 ? T{1} : z, -i), more = step * T(1.37);
      for (T v : {z + step, z - step, z + more, z - more}) x.push_back(v);
    }
  }
  return x;
}

// In units of the last place of `want`; an infinity counts as the number after the largest one.
template <typename T>
double Ulps(T got, Quad want) {
  using L = std::numeric_limits<T>;
  if (want != want) return std::isnan(got) ? 0 : INFINITY;
  if (std::isnan(got)) return INFINITY;
  const Quad largest = L::max(), limit = largest + largest * static_cast<Quad>(L::epsilon()) / 2;
  const Quad size = std::min(fabsf128(want), limit), within = copysignf128(size, want);
  const Quad value = std::isinf(got) ? copysignf128(limit, static_cast<Quad>(got)) : static_cast<Quad>(got);
  const T rounded = size > largest ? L::max() : static_cast<T>(size);
  const Quad unit =
      rounded == L::max() ? limit - largest : static_cast<Quad>(std::nextafter(rounded, L::infinity())) - rounded;
  return static_cast<double>(fabsf128(value - within) / unit);
}

template <typename T>
class EdgesOf : public ::testing::Test {};
using Widths = ::testing::Types<float, double>;
TYPED_TEST_SUITE(EdgesOf, Widths);

TYPED_TEST(EdgesOf, AccuracyNextToZerosPolesAndEnds) {
  using T = TypeParam;
  using Raw = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  constexpr uint32_t kDType = sizeof(T) == 4 ? RICCI_F32 : RICCI_F64;
  for (const Edge& e : Edges()) {
    const std::vector<T> x = Near<T>(e.at);
    ScalarKernel::Bits in;
    for (T v : x) in.push_back(std::bit_cast<Raw>(v));
    ScalarKernel k(kDType, {{e.op, kDType}}, 1, static_cast<int64_t>(x.size()));
    const auto compiled = k.Compiled({}, {in}), interpreted = k.Interpreted({in});
    ASSERT_EQ(k.error(), "");
    const auto check = [&](const char* who, const ScalarKernel::Bits& out) {
      double worst = 0;
      T at = 0, is = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        const auto got = std::bit_cast<T>(static_cast<Raw>(out[i]));
        const Quad want = e.exact(x[i]);
        if (e.absolute != 0 && sizeof(T) == 8 && fabsf128(got - want) <= static_cast<Quad>(e.absolute)) continue;
        if (const double ulps = Ulps(got, want); ulps > worst) worst = ulps, at = x[i], is = got;
      }
      EXPECT_LE(worst, e.ulps) << who << ", operation " << e.op << " of f" << 8 * sizeof(T) << " at " << std::hexfloat
                               << at << " is " << is << ", not " << static_cast<double>(e.exact(at));
    };
    check("compiled", compiled[0]);
    check("interpreted", interpreted[0]);
  }
}

// Powers of numbers close to 1, and powers just within the range of the dtype.
TYPED_TEST(EdgesOf, Powers) {
  using T = TypeParam;
  using Raw = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  constexpr uint32_t kDType = sizeof(T) == 4 ? RICCI_F32 : RICCI_F64;
  constexpr T kEnd = std::numeric_limits<T>::max_exponent, kOne = std::numeric_limits<T>::epsilon();
  ScalarKernel::Bits x, y;
  const std::pair<T, T> at[] = {{1, 1 / kOne},
                                {2, kEnd},
                                {2, -kEnd},
                                {10, kEnd / T(3.3219281)},
                                {0, 2},
                                {3, 0},
                                {T(0.5), kEnd + std::numeric_limits<T>::digits}};
  for (const auto& [base, exponent] : at) {
    for (T b : Near<T>({base})) {
      for (T e : {exponent, -exponent, std::nextafter(exponent, T{0}), exponent + T(0.5), exponent / 3}) {
        x.push_back(std::bit_cast<Raw>(b));
        y.push_back(std::bit_cast<Raw>(e));
      }
    }
  }
  ScalarKernel k(kDType, {{RICCI_S_POW, kDType}}, 2, static_cast<int64_t>(x.size()));
  const auto compiled = k.Compiled({}, {x, y}), interpreted = k.Interpreted({x, y});
  ASSERT_EQ(k.error(), "");
  for (const auto& out : {compiled[0], interpreted[0]}) {
    for (size_t i = 0; i < x.size(); ++i) {
      const auto b = std::bit_cast<T>(static_cast<Raw>(x[i])), e = std::bit_cast<T>(static_cast<Raw>(y[i]));
      EXPECT_LE(Ulps(std::bit_cast<T>(static_cast<Raw>(out[i])), powf128(b, e)), 2) << std::hexfloat << b << "^" << e;
    }
  }
}

}  // namespace
}  // namespace ricci::testing
