// The incomplete gamma functions P(a, x) and Q(a, x) = 1 - P(a, x), the derivative of P by a, and that of a sample.
//
// Three forms: the power series of P for x up to a or 1, the continued fraction of Q above (both as in Cephes and
// jax.lax, with derivatives by a taken term by term), and for a large `a` with x near it, where those would take
// sqrt(a) steps, Temme's expansion (DLMF 8.12; its coefficients, exact fractions rounded, follow from 8.12.9
// to 8.12.11). Where gamma(a) is large, x^a e^-x / gamma(a) is computed as exp(-a (m - log(1 + m))) with m = x / a - 1,
// so that no digits are lost to cancellation. Everything is in f64; a > 0 and x > 0 are finite.
#ifndef RICCI_LAX_INCOMPLETE_GAMMA_HPP_
#define RICCI_LAX_INCOMPLETE_GAMMA_HPP_
#include "element_loops.hpp"
#include "scalar_math.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace incomplete_gamma {

// What is wanted: P, Q, dP/da, or dx/da of a sample x of the gamma distribution, -(dP/da) / (dP/dx).
enum class Kind : uint8_t { kLower, kUpper, kSlope, kSample };
inline bool NeedsSlope(Kind kind) { return kind == Kind::kSlope || kind == Kind::kSample; }

constexpr double kLargeShape = 1000;  // from here on Temme's expansion is used, for |x / a - 1| < scalar::kNear
constexpr double kMostSteps = 2000;
constexpr double kEpsilon = 0x1p-52;

// A value and its derivative by a.
struct Slope {
  Scalar value, by_a;
};
struct Arguments {
  Scalar a, x;
};

// x^a e^-x / gamma(a + 1).
inline Scalar Density(const Work& w, const Arguments& in) {
  const Scalar a = in.a, x = in.x;
  const Variable log = w.New(0.0);
  w.k.If(
      a < scalar::kStirling, [&] { log = a * scalar::Log(x) - x - scalar::Lgamma(a + 1.0); },
      [&] {
        const Scalar root = 0.5 * scalar::Log(2 * std::numbers::pi * a);
        log = -(a * scalar::LessItsLog((x - a) / a, x / a)) - scalar::StirlingRest(a) - root;
      });
  return scalar::Exp(log);
}

// 1 + x / (a + 1) + x^2 / ((a + 1) (a + 2)) + ...
inline Slope Series(const Work& w, const Arguments& in, bool slope) {
  const Scalar a = in.a, x = in.x;
  const Variable step = w.New(0.0), term = w.New(1.0), sum = w.New(1.0), term_by_a = w.New(0.0), sum_by_a = w.New(0.0);
  const Variable going = w.New(w.k.Constant(DType::kBool, true));
  w.k.While([&] { return Scalar(going); },
            [&] {
              step = step + 1.0;
              const Scalar r = a + step, ratio = x / r;
              if (slope) {
                term_by_a = term_by_a * ratio - term * ratio / r;
                sum_by_a = sum_by_a + term_by_a;
              }
              term = term * ratio;
              sum = sum + term;
              const Scalar rest = slope ? scalar::Abs(term_by_a) > kEpsilon * scalar::Abs(sum_by_a)
                                        : Scalar(term) > kEpsilon * Scalar(sum);
              going = rest & (step < kMostSteps);
            });
  return {sum, sum_by_a};
}

// Numerator and denominator of the approximations of a continued fraction, this one and the one before, and their
// derivatives by a.
class Convergents {
 public:
  Convergents(const Work& w, Scalar first, Scalar before)
      : now(w.New(first)), before(w.New(before)), now_by_a(w.New(0.0)), before_by_a(w.New(0.0)) {}
  // The next one is now * z - before * y c, where dz/da = dy/da = -1.
  void Step(Scalar z, Scalar y, Scalar c, bool slope) const {
    const Scalar last = now, older = before;
    if (slope) {
      const Scalar last_by_a = now_by_a;
      now_by_a = last_by_a * z - last - before_by_a * y * c + older * c;
      before_by_a = last_by_a;
    }
    now = last * z - older * (y * c);
    before = last;
  }
  void Scale(Scalar by) const {
    for (const Variable& v : {now, before, now_by_a, before_by_a}) v = v * by;
  }
  Variable now, before, now_by_a, before_by_a;
};

// The continued fraction of Q / (x^a e^-x / gamma(a)), which is about 1 / x.
inline Slope Fraction(const Work& w, const Arguments& in, bool slope) {
  const Scalar a = in.a, x = in.x;
  const Convergents p(w, x + 1.0, w.Number(1)), q(w, (x - a + 2.0) * x, x);
  q.now_by_a = -x;
  // Far out it is 1 / (x - a) to all digits, and its terms would overflow.
  const Scalar near = x < 1e50, first = Select(near, p.now / q.now, 1.0 / (x - a));
  const Variable value = w.New(first), by_a = w.New(Select(near, first * x / q.now, first * first));
  const Variable step = w.New(0.0), going = w.New(near);
  w.k.While([&] { return Scalar(going); },
            [&] {
              step = step + 1.0;
              const Scalar y = (1.0 - a) + step, z = (x - a + 2.0) + 2.0 * Scalar(step);
              p.Step(z, y, step, slope);
              q.Step(z, y, step, slope);
              const Scalar last = value, last_by_a = by_a;
              value = p.now / q.now;
              Scalar rest = scalar::Abs(value - last) > kEpsilon * scalar::Abs(value);
              if (slope) {
                const Scalar part = p.now_by_a / q.now;
                by_a = part - value * (q.now_by_a / q.now);
                rest = rest | (scalar::Abs(by_a - last_by_a) > kEpsilon * scalar::Abs(part));
              }
              const Scalar scale = Select(scalar::Abs(p.now) > 1 / kEpsilon, w.Number(kEpsilon), w.Number(1));
              p.Scale(scale);
              q.Scale(scale);
              going = rest & (step < kMostSteps);
            });
  return {value, by_a};
}

inline Scalar FromSeries(const Work& w, const Arguments& in, Kind kind) {
  const Scalar a = in.a, x = in.x;
  const Slope s = Series(w, in, NeedsSlope(kind));
  if (!NeedsSlope(kind)) {
    const Scalar lower = Density(w, in) * s.value;
    return kind == Kind::kLower ? lower : 1.0 - lower;
  }
  const Scalar slope = s.value * (scalar::Log(x) - scalar::Digamma(a + 1.0)) + s.by_a;
  return kind == Kind::kSlope ? Density(w, in) * slope : -(slope * x / a);
}
inline Scalar FromFraction(const Work& w, const Arguments& in, Kind kind) {
  const Scalar a = in.a, x = in.x;
  const Slope s = Fraction(w, in, NeedsSlope(kind));
  if (!NeedsSlope(kind)) {
    const Scalar upper = Density(w, in) * a * s.value;
    return kind == Kind::kUpper ? upper : 1.0 - upper;
  }
  const Scalar slope = s.value * (scalar::Log(x) - scalar::Digamma(a)) + s.by_a;
  return kind == Kind::kSlope ? -(Density(w, in) * a * slope) : slope * x;
}

// ---- Temme's expansion: Q = erfc(n sqrt(a / 2)) / 2 + e^(-a n^2 / 2) / sqrt(2 pi a) * sum of c(k, n) / a^k, where
// ----
// ---- n^2 / 2 = m - log(1 + m) with m = x / a - 1; c(k, n) is a polynomial in n ----
constexpr double kTransition0[] = {
    -2.5514193994946248e-11, 9.14769958223679e-10,    -4.382036018453353e-09, 1.0261809784240309e-08,
    6.707853543401498e-09,   -1.7665952736826078e-07, 8.296711340953087e-07,  -1.85406221071516e-06,
    -2.185448510679992e-06,  3.919263178522438e-05,   -0.0001787551440329218, 0.0003527336860670194,
    0.0011574074074074073,   -0.014814814814814815,   0.08333333333333333,    -0.3333333333333333};
constexpr double kTransition1[] = {1.1951628599778148e-08,  -5.752545603517705e-08,  1.378633446915721e-07,
                                   4.647127802807434e-09,   -1.6120900894563446e-06, 7.64916091608111e-06,
                                   -1.8098550334489977e-05, -4.018775720164609e-07,  0.00020576131687242798,
                                   -0.0009902263374485596,  0.0026455026455026454,   -0.003472222222222222,
                                   -0.001851851851851852};
constexpr double kTransition2[] = {-6.298992138380055e-07,  1.3721957309062934e-06, 3.423578734096138e-08,
                                   -1.2760635188618728e-05, 5.2923448829120125e-05, -0.0001073665322636516,
                                   2.0093878600823047e-06,  0.0007716049382716049,  -0.0026813271604938273,
                                   0.004133597883597883};
constexpr double kTransition3[] = {1.1082654115347302e-05, -2.396505113867297e-07, -7.561801671883977e-05,
                                   0.00026772063206283885, -0.0004691894943952557, 0.00022947209362139917,
                                   0.0006494341563786008};
constexpr double kTransition4[] = {-1.4638452578843418e-06, -0.0002990724803031902, 0.0007840392217200666,
                                   -0.0008618882909167117};
constexpr std::span<const double> kTransition[] = {kTransition0, kTransition1, kTransition2, kTransition3,
                                                   kTransition4};

// A polynomial and its derivative.
struct WithDerivative {
  Scalar value, derivative;
};
inline WithDerivative PolynomialAndSlope(std::span<const double> coefficients, Scalar x) {
  Scalar value = Like(x, coefficients[0]), derivative = Like(x, 0.0);
  for (double c : coefficients.subspan(1)) {
    derivative = derivative * x + value;
    value = value * x + c;
  }
  return {value, derivative};
}

inline Scalar FromExpansion(const Arguments& in, Kind kind) {
  const Scalar a = in.a, x = in.x;
  const Scalar m = (x - a) / a, inverse = 1.0 / a, n_by_m = scalar::Sqrt(2.0 * scalar::Bend(m)), n = m * n_by_m;
  Scalar sum = Like(a, 0.0), by_n = sum, by_a = sum;
  for (size_t k = std::size(kTransition); k-- > 0;) {
    const WithDerivative c = PolynomialAndSlope(kTransition[k], n);
    sum = sum * inverse + c.value;
    by_n = by_n * inverse + c.derivative;
    by_a = by_a * inverse - static_cast<double>(k) * c.value;
  }
  const Scalar bell = scalar::Exp(-(0.5 * a * n * n)) / scalar::Sqrt(2 * std::numbers::pi * a);
  const Scalar s = n * scalar::Sqrt(0.5 * a);
  if (kind == Kind::kUpper) return 0.5 * scalar::Erfc(s) + bell * sum;
  if (kind == Kind::kLower) return 0.5 * scalar::Erfc(-s) - bell * sum;
  // dQ/da over the bell.
  const Scalar log = scalar::Log1p(m), log_by_m = Select(m == 0.0, Like(m, 1.0), log / m);
  const Scalar slope = log_by_m / n_by_m + sum * (log - 0.5 * inverse) - by_n * inverse / n_by_m + by_a * inverse;
  return kind == Kind::kSlope ? -(bell * slope) : (m + 1.0) * scalar::Exp(scalar::StirlingRest(a)) * slope;
}

inline Scalar Compute(const Work& w, const Arguments& in, Kind kind) {
  const Scalar a = in.a, x = in.x;
  const Variable y = w.New(0.0);
  const Scalar expand = (a >= kLargeShape) & (scalar::Abs((x - a) / a) < scalar::kNear);
  const auto otherwise = [&] {
    w.k.If((x >= 1.0) & (x > a), [&] { y = FromFraction(w, in, kind); }, [&] { y = FromSeries(w, in, kind); });
  };
  w.k.If(
      expand, [&] { y = FromExpansion(in, kind); }, otherwise);
  return y;
}

}}}}  // namespace ricci::v0::lax::incomplete_gamma
#endif
