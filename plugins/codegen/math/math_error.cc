// erf, erfc and the inverse of erf: what activation functions and normal random numbers are full of.
//
// erf in f32: 1 - exp(-q) where -q is log(erfc |x|), as |x| + |x| times a polynomial in |x|; without the 1, which the
// parts of exp allow, it keeps its digits near 0. In f64: odd polynomial below 1, above it 1 - erfc.
//
// erfc in f32: t exp(-x^2 + q) with t = 1 / (1 + c |x|), close to exp(x^2) erfc |x|, so that q is small and |x| t times
// a polynomial in t - 1 / 2 (in t its terms would cancel), and c as a compromise: a smaller one takes a shorter
// polynomial but leaves a larger q. To -x^2 are also added what the square and t lost to rounding. In f64:
// exp(-x^2) times a polynomial in (x - 4) / (x + 4) over x + 4 (as Shepherd and Laframboise, 1981, proposed), with the
// square in two parts.
//
// erf_inv in f32: polynomials in w = -log(1 - x^2), as M. Giles proposed (GPU Computing Gems, 2011), in sqrt(w) for the
// tail. In f64: a polynomial in x^2 up to sqrt(1/2); beyond, where 1 - |x| is exact and all that x still says, s =
// sqrt(-log(1 - |x|)) times a polynomial in (s - 15 / 4) / (s + 15 / 4).
//
// Coefficients in f32 are our own least-squares fits, reweighted towards equal ripple, with the error relative to the
// result: at most 0.08 * 2^-24 for erf and 0.12 * 2^-24 for erfc, where they are rounded individually, lowest powers
// first, with the others fitted again each time. Over all f32 the errors, with those of roundings, are at most 1.8 ulp
// for erf and 2.3 for erfc. In f64 minimax (Remez exchange), of erf_inv interpolated at Chebyshev points.
#include <cmath>

#include "codegen/math/math_functions.h"

namespace ricci::codegen {
namespace {

Real ErfF32(Real x) {
  const Real a = AtMost(Abs(x), x(4));
  const Real p = HornerByHalves(a, {-0x1.3b1de4p-17, 0x1.f2a7f6p-14, -0x1.4e35aep-11, 0x1.b74eb2p-10, -0x1.63bcccp-13,
                                    -0x1.39b794p-6, 0x1.a4f8c2p-4, 0x1.45f3p-1, 0x1.06eba8p-3});
  const ExpParts e = SplitExp(-Fma(p, a, a));
  const Real s = PowerOfTwo(e.n, x);
  return CopySign(Fma(-s, e.p, 1 - s), x);
}

// erfc x for x >= 0, in f32.
Real UpperErfcF32(Real x) {
  constexpr double kSlope = 0.9765625;  // c above
  const Real a = AtMost(x, x(10.5)), d = Fma(a, kSlope, 1), t = 1 / d, lost = Fma(a, x(kSlope), 1 - d);
  const Real rest = Fma(-t, lost, Fma(-t, d, 1));  // the error of t, relative to it
  const Real p = HornerByHalves(
      t - 0.5, {-0x1.22172p+0, 0x1.d0b8fcp-1, 0x1.a065b4p-2, -0x1.96183ap-1, 0x1.bead6ep-2, 0x1.2fc858p-8,
                -0x1.33f964p-2, 0x1.5effc8p-2, -0x1.10dc7p-3, -0x1.a0dddap-3, 0x1.e67f76p-2, -0x1.576852p-2});
  const Real square = a * a, low = Fma(a, a, -square);
  const ExpParts e = SplitExp(-square, Fma(p, a * t, rest - low));
  return ScaleBy(Fma(e.p, t, t), e.n, e.value);
}

// erfc x for x >= 0, in f64.
Real UpperErfc(Real x) {
  const Real a = AtMost(x, x(28)), d = a + 4, lost = a - (d - 4), inverse = 1 / d;
  // The polynomial is steep where x is small, so t must be exact to its last place.
  const Real quotient = (d - 8) * inverse;
  const Real t = Fma(Fma(lost, 1 - quotient, Fma(-quotient, d, d - 8)), inverse, quotient);
  const Real g =
      Horner(t, {0x1.c6e735f56c3a4p-32, 0x1.201684bea37d2p-29,  -0x1.caa78322a2225p-31, -0x1.3f2abdf851295p-26,
                 0x1.f2313a30e19cap-30, 0x1.12dd25578592cp-23,  -0x1.466aa935f5a58p-24, -0x1.c7c2f4ac65470p-21,
                 0x1.7e55184be9124p-20, 0x1.3b1e689c21ee9p-18,  -0x1.3c6ede686414fp-16, -0x1.e7f3ce45a7b96p-19,
                 0x1.72cda78f4fa4bp-13, -0x1.dd2841b634957p-12, -0x1.269b5217ec88bp-12, 0x1.908f471e80890p-8,
                 -0x1.b00c052c3c21fp-6, 0x1.38dbd2c8e7d4ap-4,   -0x1.645fd8a4bc069p-3,  0x1.52cac2371009cp-2,
                 -0x1.14eacb1ad033cp-1, 0x1.8be202d26c707p-1,   -0x1.f3fe31ecb49bfp-1,  0x1.18932bf08e154p+0});
  const Real square = a * a, low = Fma(a, a, -square);
  const ExpParts e = SplitExp(-square);
  const Real rest = Fma(-inverse, lost, Fma(-inverse, d, 1));  // the error of the inverse, relative to it
  const Real p = Fma(rest - low, e.p + 1, e.p), h = g * inverse;
  return Scale(Fma(p, h, h), e.n);
}

// erf x for |x| <= 1, in f64.
Real InnerErf(Real x) {
  const Real p =
      Horner(x * x, {0x1.053c6765aced5p-34, -0x1.385496f4ba0cbp-30, 0x1.f79d108de5d13p-27, -0x1.5f1c94229b848p-23,
                     0x1.b9dedef2064b3p-20, -0x1.f4d1ddcf6c041p-17, 0x1.f9a3218edfc14p-14, -0x1.c02db3d85277cp-11,
                     0x1.565bcd0dacf09p-8, -0x1.b82ce31284855p-6, 0x1.ce2f21a042b1cp-4, -0x1.812746b0379e6p-2,
                     0x1.06eba8214db69p-3});
  return Fma(p, x, x);
}

Real ErfInvF64(Real x) {
  const Real a = Abs(x);
  const Real centre =
      x * Horner(x * x - 0.25, {0x1.0df672d2d9836p+3, 0x1.a3b75d0398a0cp+2, 0x1.22ca590124891p+1, 0x1.d75d85f7e551fp+0,
                                0x1.e84ee152ad316p+0, 0x1.85b38995c9239p+0, 0x1.2fc21601b8917p+0, 0x1.eae9c9d77962fp-1,
                                0x1.8fb584a206b4ap-1, 0x1.46ab73464cb23p-1, 0x1.0cec7aef04569p-1, 0x1.beb6e6cb5c630p-2,
                                0x1.76f39265b3d5ep-2, 0x1.3ecff9de4c6a3p-2, 0x1.1385ed095de40p-2, 0x1.e65c001648503p-3,
                                0x1.b99a7801d1253p-3, 0x1.a16391d97747fp-3, 0x1.a3679981bb101p-3, 0x1.d3e9857f5c3f4p-3,
                                0x1.450aefd2e5b57p-2, 0x1.e861fbb24c00ap-1});
  const Real s = Sqrt(-Log(1 - a)), t = (s - 3.75) / (s + 3.75);
  const Real tail =
      s * Horner(t, {-0x1.7cd2b4c3abab2p+0, -0x1.335a7bcf73d56p+2, -0x1.6e8ee11fc479bp+2, -0x1.831ecfe1dbc29p+1,
                     -0x1.62850b1642262p-3, 0x1.4ad1fcd34e4b2p-1,  0x1.a11b7cd38f6d2p-3,  0x1.e14978cfd6859p-6,
                     -0x1.13b1be37e3bbap-4, 0x1.ff0f9338053c7p-7,  0x1.43946aa1602d4p-8,  -0x1.e1f4a4cbf3156p-6,
                     0x1.c2872fd163ca0p-5,  -0x1.2cf9db9df6889p-4, 0x1.46ee64f060f8bp-4,  -0x1.1e88595150977p-4,
                     0x1.51b7c8619a2fap-5,  0x1.8b9ff5f5b9368p-8,  -0x1.1a2084306faf0p-4, 0x1.1e3a601b1d712p-3,
                     -0x1.ab7590f8d3e59p-3, 0x1.09431c5675cc5p-2,  -0x1.1961602fefe2ap-2, 0x1.a42f9bca304e1p-3,
                     0x1.dced6e0cc9334p-1});
  const Real y = Select(a < 0.7071, centre, CopySign(tail, x));
  return Select(NotWithin(a, 1), NAN, Select(a == 1, CopySign(INFINITY, x), y));
}

}  // namespace

Real Erf(Real x) {
  if (!x.is_f64()) return ErfF32(x);
  const Real a = Abs(x);
  return CopySign(Select(a < 1, InnerErf(x), 1 - UpperErfc(a)), x);
}

Real Erfc(Real x) {
  const Real a = Abs(x);
  if (!x.is_f64()) {
    const Real upper = UpperErfcF32(a);
    return Select(x < 0, 2 - upper, upper);
  }
  const Real upper = UpperErfc(a);
  return Select(a < 0.75, 1 - InnerErf(x), Select(x < 0, 2 - upper, upper));
}

Real ErfInv(Real x) {
  if (x.is_f64()) return ErfInvF64(x);
  const Real a = Abs(x), w = -Log((1 - a) * (1 + a));
  const Real centre = Horner(
      w - 2.5, {3.355898318e-10, -8.772756933e-09, 1.803646692e-08, 4.658911846e-07, -3.434607980e-06, -4.961907706e-06,
                2.182826238e-04, -1.252744668e-03, -4.177339400e-03, 2.466402876e-01, 1.501409354e+00});
  const Real tail =
      Horner(Sqrt(w) - 3, {1.219361841e-04, -3.150288495e-04, -6.539466154e-05, 1.491480478e-03, -3.593124319e-03,
                           5.684696707e-03, -7.638144371e-03, 9.445531911e-03, 1.001675016e+00, 2.832976798e+00});
  const Real y = Select(w < 5, centre, tail) * x;
  return Select(NotWithin(a, 1), NAN, Select(a == 1, CopySign(INFINITY, x), y));
}

}  // namespace ricci::codegen
