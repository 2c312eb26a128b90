// erf and its inverse, expm1 and log1p in f32: what activation functions and normal random numbers are full of.
//
// Coefficients are our own least-squares fits, reweighted towards equal ripple, with the error relative to the result.
// erf: odd polynomial below 0.875, above it 1 - exp(q(|x|)) with q fitted to log(erfc). erf_inv: polynomials in
// w = -log(1 - x^2), as M. Giles proposed (GPU Computing Gems, 2011), in sqrt(w) for the tail. expm1: reduced as exp
// is, put together at half the scale so that the largest exponent does not overflow. log1p: log of the rounded sum and
// a correction for what rounding lost.
#include <cmath>

#include "math_f32.h"
#include "ricci/kernel.h"

namespace ricci::cpu {
namespace {

using V = LLVMValueRef;

V Less(const LlvmBuilder& l, V x, double bound) { return LLVMBuildFCmp(l.b, LLVMRealOLT, x, l.RealLike(x, bound), ""); }
// `v`, but `special` where x equals `at`.
V Except(const LlvmBuilder& l, V x, double at, V special, V v) {
  return LLVMBuildSelect(l.b, LLVMBuildFCmp(l.b, LLVMRealOEQ, x, l.RealLike(x, at), ""), special, v, "");
}
V KeepNan(const LlvmBuilder& l, V x, V v) {
  return LLVMBuildSelect(l.b, LLVMBuildFCmp(l.b, LLVMRealUNO, x, x, ""), x, v, "");
}

V Erf(const LlvmBuilder& l, V x) {
  V a = l.Fn("llvm.fabs", x), z = LLVMBuildFMul(l.b, x, x, "");
  V p = HornerF32(l, z,
                  {8.671095535e-05, -8.210660737e-04, 5.206757104e-03, -2.686160804e-02, 1.128373378e-01,
                   -3.761263614e-01, 1.283791669e-01});
  V inner = FmaF32(l, p, x, x);
  V c = l.Fn("llvm.minnum", a, l.RealLike(x, 4));
  V q = HornerF32(l, c,
                  {1.223935499e-06, -1.968854313e-05, 1.162171026e-04, -1.108042657e-04, -2.811518855e-03,
                   2.291062249e-02, -1.059400486e-01, -6.349069576e-01, -1.128920551e+00, 7.599521323e-05});
  V outer = LLVMBuildFSub(l.b, l.RealLike(x, 1), ExpF32(l, q), "");
  V y = LLVMBuildSelect(l.b, Less(l, a, 0.875), inner, l.Fn("llvm.copysign", outer, x), "");
  return KeepNan(l, x, y);
}

V ErfInv(const LlvmBuilder& l, V x) {
  V one = l.RealLike(x, 1), a = l.Fn("llvm.fabs", x);
  V product = LLVMBuildFMul(l.b, LLVMBuildFSub(l.b, one, a, ""), LLVMBuildFAdd(l.b, one, a, ""), "");
  V w = LLVMBuildFNeg(l.b, LogF32(l, product), "");
  V centre = HornerF32(
      l, LLVMBuildFSub(l.b, w, l.RealLike(x, 2.5), ""),
      {3.355898318e-10, -8.772756933e-09, 1.803646692e-08, 4.658911846e-07, -3.434607980e-06, -4.961907706e-06,
       2.182826238e-04, -1.252744668e-03, -4.177339400e-03, 2.466402876e-01, 1.501409354e+00});
  V tail = HornerF32(l, LLVMBuildFSub(l.b, l.Fn("llvm.sqrt", w), l.RealLike(x, 3), ""),
                     {1.219361841e-04, -3.150288495e-04, -6.539466154e-05, 1.491480478e-03, -3.593124319e-03,
                      5.684696707e-03, -7.638144371e-03, 9.445531911e-03, 1.001675016e+00, 2.832976798e+00});
  V y = LLVMBuildFMul(l.b, LLVMBuildSelect(l.b, Less(l, w, 5), centre, tail, ""), x, "");
  y = Except(l, a, 1, l.Fn("llvm.copysign", l.RealLike(x, INFINITY), x), y);
  V outside = LLVMBuildFCmp(l.b, LLVMRealUGT, a, one, "");
  return LLVMBuildSelect(l.b, outside, l.RealLike(x, NAN), y, "");
}

V Expm1(const LlvmBuilder& l, V x) {
  V c = l.Fn("llvm.minnum", l.Fn("llvm.maxnum", x, l.RealLike(x, -20)), l.RealLike(x, 89));
  V n = l.Fn("llvm.roundeven", LLVMBuildFMul(l.b, c, l.RealLike(x, M_LOG2E), ""));
  V r = FmaF32(l, n, l.RealLike(x, -0x1.62e43p-1), c);
  r = FmaF32(l, n, l.RealLike(x, 0x1.05c61p-29), r);
  V p = HornerF32(l, r, {1.395170935e-03, 8.369598347e-03, 4.166618740e-02, 1.666651289e-01, 5.000000101e-01});
  p = FmaF32(l, p, LLVMBuildFMul(l.b, r, r, ""), r);
  V e = LLVMBuildFPToSI(l.b, n, LlvmBuilder::IsVector(x) ? l.vec(l.i32()) : l.i32(), "");
  V half = LLVMBuildShl(l.b, LLVMBuildAdd(l.b, e, l.IntLike(e, 126), ""), l.IntLike(e, 23), "");  // 2^(n - 1)
  V s = LLVMBuildBitCast(l.b, half, LLVMTypeOf(x), "");
  V y = FmaF32(l, s, p, LLVMBuildFSub(l.b, s, l.RealLike(x, 0.5), ""));
  return KeepNan(l, x, Except(l, x, 0, x, LLVMBuildFAdd(l.b, y, y, "")));
}

V Log1p(const LlvmBuilder& l, V x) {
  V one = l.RealLike(x, 1), u = LLVMBuildFAdd(l.b, x, one, "");
  V lost = LLVMBuildFSub(l.b, x, LLVMBuildFSub(l.b, u, one, ""), "");
  V y = LLVMBuildFAdd(l.b, LogF32(l, u), LLVMBuildFDiv(l.b, lost, u, ""), "");
  y = Except(l, x, 0, x, y);
  y = Except(l, x, INFINITY, x, y);
  return Except(l, x, -1, l.RealLike(x, -INFINITY), y);
}

}  // namespace

LLVMValueRef EmitErrorFunction(const LlvmBuilder& l, uint32_t op, LLVMValueRef x) {
  switch (op) {
    case RICCI_S_ERF:
      return Erf(l, x);
    case RICCI_S_ERF_INV:
      return ErfInv(l, x);
    case RICCI_S_EXPM1:
      return Expm1(l, x);
    case RICCI_S_LOG1P:
      return Log1p(l, x);
    default:
      return nullptr;
  }
}

}  // namespace ricci::cpu
