// bessel_i0e, bessel_i1e: the modified Bessel functions of the first kind, times exp(-|x|).
//
// Below kSplit the entire function I(x) (over x for order 1) is a polynomial in x^2 with positive coefficients, so
// nothing cancels. Above, I(x) exp(-x) sqrt(x) is a polynomial in 1/x, the shape of its expansion for large x
// (DLMF 10.40.1). Both come from our own Chebyshev fits, in 60 digits, to one unit in 1e-17 for f64 and 1e-9 for f32;
// the second is in t = 2 kSplit / x - 1, which goes from 1 to -1. Arguments are clamped, so that neither form overflows
// where the other one is used. narrow floats are computed in f32.
#include <limits>

#include "scalar_math.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

constexpr double kSplit = 8;

constexpr double kNear0F32[] = {1.482890414e-19, 1.612711993e-17, 1.054899294e-14, 2.338777785e-12,
                                4.73190974e-10,  6.776678787e-8,  6.782378386e-6,  4.340221729e-4,
                                1.562502316e-2,  0.2499999627,    1.00000001};
constexpr double kNear0F64[] = {8.4890799672403716e-37,
                                4.6006506174969267e-34,
                                5.0328757723984115e-31,
                                3.8293884542786716e-28,
                                2.598786220717598e-25,
                                1.4962821580600773e-22,
                                7.24227907083928e-20,
                                2.8969027865351838e-17,
                                9.385967122738159e-15,
                                2.4028075473974418e-12,
                                4.7095027973135325e-10,
                                6.7816840277580718e-8,
                                6.7816840277788197e-6,
                                4.3402777777777444e-4,
                                1.5625000000000006e-2,
                                0.25,
                                1.0};
constexpr double kFar0F32[] = {3.161985528e-8, 1.086794248e-7, 3.073322917e-7, 1.476115734e-6,
                               1.113981566e-5, 1.362171642e-4, 3.360552242e-3, 0.4021765094};
constexpr double kFar0F64[] = {
    9.3650868928181908e-11, 3.629355229718733e-11, -6.6332871125470835e-10, -2.8033819978869997e-10,
    2.1968921378829005e-9,  1.1050558794424346e-9, -4.5755534245349736e-9,  -3.1346276429240789e-9,
    6.5601387469170572e-9,  7.3359687108161539e-9, -5.0381064879032841e-9,  -1.3326094405766387e-8,
    -6.8493381882867697e-9, 7.5343558438033422e-9, 2.1566251453104355e-8,   3.9328893751146338e-8,
    8.8720343833141437e-8,  2.9735960465627117e-7, 1.4838476651250266e-6,   1.1143033800708979e-5,
    1.3621607438984735e-4,  3.3605519836677505e-3, 0.40217650944500808};
constexpr double kNear1F32[] = {6.363409543e-21, 9.324252742e-19, 5.680073508e-16, 1.476174366e-13,
                                3.372869279e-11, 5.649408727e-9,  6.781960516e-7,  5.425324918e-5,
                                2.604167588e-3,  0.06249999852,   0.5000000004};
constexpr double kNear1F64[] = {
    2.717003032172177e-35,  1.3805794771921391e-32, 1.408977785612294e-29,  9.9569030925648132e-27,
    6.2370262972245457e-24, 3.2918255700128939e-21, 1.4484555512565448e-18, 5.2144251166645504e-16,
    1.5017547368904686e-13, 3.3639305668839623e-11, 5.6514033567062533e-9,  6.7816840277642533e-7,
    5.425347222222714e-5,   2.6041666666666573e-3,  0.062500000000000007,   0.5};
constexpr double kFar1F32[] = {-3.577435816e-8, -1.227321724e-7, -3.584298887e-7, -1.825690732e-6,
                               -1.503526803e-5, -2.192371254e-4, -9.749577458e-3, 0.3893984591};
constexpr double kFar1F64[] = {
    -9.7523972041381948e-11, -3.3654318531801765e-11, 6.917089294193807e-10,  2.6340771095136485e-10,
    -2.2970041618852009e-9,  -1.0594544160443166e-9,  4.810597405089944e-9,   3.0868867367227253e-9,
    -6.9838396248958659e-9,  -7.4444414771972701e-9,  5.5933701017906101e-9,  1.3958551001385954e-8,
    6.8401389977069582e-9,   -8.4091820404429181e-9,  -2.3392503748018582e-8, -4.3131964899777332e-8,
    -1.000109565963654e-7,   -3.4838534380376332e-7,  -1.8349102358955385e-6, -1.5038547209501858e-5,
    -2.192357638317243e-4,   -9.7495771932356347e-3,  0.38939845902587232};

struct Fits {
  std::span<const double> near, far;
};

// I(x) exp(-x) for x >= 0, over x below kSplit if `odd`.
Scalar Scaled(Scalar x, const Fits& fits, bool odd) {
  const Scalar inner = Min(x, Like(x, kSplit)), outer = Max(x, Like(x, kSplit));
  const Scalar decay = scalar::Exp(-inner);
  Scalar near = scalar::Polynomial(fits.near, inner * inner) * decay;
  if (odd) near = near * inner;
  const Scalar root = scalar::Sqrt(outer), far = scalar::Polynomial(fits.far, 2 * kSplit / outer - 1.0) / root;
  return Select(x < kSplit, near, far);
}

Scalar Order(int order, Scalar x) {
  static constexpr Fits kF32[] = {{kNear0F32, kFar0F32}, {kNear1F32, kFar1F32}};
  static constexpr Fits kF64[] = {{kNear0F64, kFar0F64}, {kNear1F64, kFar1F64}};
  const Scalar y = Scaled(scalar::Abs(x), (x.dtype() == DType::kF64 ? kF64 : kF32)[order], order == 1);
  if (order == 0) return y;
  const Scalar opposite = -y;
  return Select(x < 0.0, opposite, y);
}

template <int order>
Scalar Lower(KernelBuilder&, const Eqn&, std::span<const Scalar> in) {
  const DType dtype = in[0].dtype();
  return Convert(Order(order, Convert(in[0], dtype == DType::kF64 ? dtype : DType::kF32)), dtype);
}

Value I0e(const Value& x, const Value& y) {
  const Value decay = mul(sign(x), y);
  return sub(bessel_i1e(x), decay);
}
// Next to 0, y / x is its limit (as in JAX).
Value I1e(const Value& x, const Value& y) {
  const Value eps = full_like(x, InfoOf(x.dtype()).epsilon), ordinary = gt(abs(x), eps);
  const Value safe = select(ordinary, x, eps);
  const Value inverse = div(1.0, safe), decay = mul(y, add(sign(safe), inverse));
  const Value slope = sub(bessel_i0e(safe), decay);
  return select(ordinary, slope, full_like(x, 0.5));
}

template <int order, Value (*D)(const Value& x, const Value& y)>
constexpr Row Bessel(std::string_view name, std::string_view doc) {
  return {.name = name,
          .doc = doc,
          .flags = RICCI_PRIM_TRANSCENDENTAL,
          .type = rules::Same<1, kFloats>,
          .jvp = rules::Derivative<D>,
          .batch = rules::kElementwise,
          .lowerings = lower::Scalar<Lower<order>>,
          .missing = rules::kNotLinear,
          .examples = "(f64[2,3]); (f64[4] in -30..-7); (f64[4] in 7..30)"};
}

constexpr Row kRows[] = {
    Bessel<0, I0e>("bessel_i0e", "y = bessel_i0e(x): exp(-|x|) I0(x), the modified Bessel function of order 0, scaled"),
    Bessel<1, I1e>("bessel_i1e", "y = bessel_i1e(x): exp(-|x|) I1(x), the modified Bessel function of order 1, scaled"),
};

}  // namespace

RowList bessel_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
