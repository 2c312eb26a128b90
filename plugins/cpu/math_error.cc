// erf, erfc and the inverse of erf: what activation functions and normal random numbers are full of.
//
// erf in f32: odd polynomial below 0.875, above it 1 - exp(q(|x|)) with q fitted to log(erfc). In f64: odd polynomial
// below 1, above it 1 - erfc. erfc in f64: exp(-x^2) times a polynomial in (x - 4) / (x + 4) over x + 4 (as Shepherd
// and Laframboise, 1981, proposed), with the square in two parts. erf_inv in f32: polynomials in w = -log(1 - x^2), as
// M. Giles proposed (GPU Computing Gems, 2011), in sqrt(w) for the tail. In f64: a polynomial in x^2 up to sqrt(1/2);
// beyond, where 1 - |x| is exact and all that x still says, s = sqrt(-log(1 - |x|)) times a polynomial in (s - 15 / 4)
// / (s + 15 / 4).
//
// Coefficients in f32 are our own least-squares fits, reweighted towards equal ripple, with the error relative to the
// result; in f64 minimax (Remez exchange), of erf_inv interpolated at Chebyshev points.
#include <cmath>

#include "math_functions.h"

namespace ricci::cpu {
namespace {

Real ErfF32(Real x) {
  const Real a = Abs(x);
  const Real p = Horner(x * x, {8.671095535e-05, -8.210660737e-04, 5.206757104e-03, -2.686160804e-02, 1.128373378e-01,
                                -3.761263614e-01, 1.283791669e-01});
  const Real inner = Fma(p, x, x);
  const Real q =
      Horner(AtMost(a, x(4)), {1.223935499e-06, -1.968854313e-05, 1.162171026e-04, -1.108042657e-04, -2.811518855e-03,
                               2.291062249e-02, -1.059400486e-01, -6.349069576e-01, -1.128920551e+00, 7.599521323e-05});
  return CopySign(Select(a < 0.875, inner, 1 - Exp(q)), x);
}

// erfc x for x >= 0, in f64.
Real UpperErfc(Real x) {
  const Real a = AtMost(x, x(28)), d = a + 4, lost = a - (d - 4), inverse = 1 / d;
  // The polynomial is steep where x is small: t to its last place.
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
  const Real rest = Fma(-inverse, lost, Fma(-inverse, d, 1));  // what the inverse is short of, relative to it
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
  const Real a = Abs(x), upper = UpperErfc(a);
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

}  // namespace ricci::cpu
