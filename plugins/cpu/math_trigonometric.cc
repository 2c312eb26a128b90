// sin and cos.
//
// x = n pi + r with |r| <= pi / 2, then sin x = (-1)^n sin r: one polynomial and no choice between two. The polynomial
// takes arguments within pi / 2 as they are, so a vector whose lanes all lie there skips the reduction; the bits are
// the same because the reduction would leave n = 0. pi comes in three parts (Cody and Waite, 1980): with fused
// multiply-add the first step is exact, as r is a multiple of the last place of the first part. Lanes beyond what that
// reduces go through the C library, which here gives the reduced argument, not the result.
//
// Coefficients: minimax (Remez exchange) of sin(r) / r - 1 in r^2 with errors relative to the sine, rounded one by one,
// leading ones first, with the others fitted again each time.
#include <cmath>

#include "math_functions.h"
#include "ricci/kernel.h"

namespace ricci::cpu {
namespace {

constexpr double kReach[] = {60000, 0x1p22};  // |x| up to which three parts of pi do, for f32 and f64

constexpr double kNoTurn = 1.57;  // below pi / 2, where n = 0

// The argument within pi / 2 that has the sine of x, or the cosine.
Real Reduced(Real x, bool cosine) {
  const Rounded n = Nearest(cosine ? Fma(x, M_1_PI, 0.5) : x, cosine ? 1 : M_1_PI);
  const Real turns = cosine ? n.value - 0.5 : n.value;
  Real r = Fma(turns, x(-0x1.921fb6p+1, -0x1.921fb54442d18p+1), x);
  r = Fma(turns, x(0x1.777a5cp-24, -0x1.1a62633145c07p-53), r);
  r = Fma(turns, x(0x1.ee59dap-49, 0x1.f1976b7ed8fbcp-109), r);
  return RealOf(BitsOf(r) ^ (n.bits << (x.is_f64() ? 63 : 31)), x);
}

Real Polynomial(Real r) {
  const Real z = r * r, w = z * z;
  const Real odd = Horner(w, {0x1.5dc8c4p-19, 0x1.110edap-7},
                          {0x1.88328b8a6ab0ep-49, 0x1.6123cd03c12d3p-33, 0x1.71de3a52a0a12p-19, 0x1.11111111110c8p-7});
  const Real even =
      Horner(w, {-0x1.9f70eep-13, -0x1.55554cp-3},
             {-0x1.ae43836dab924p-41, -0x1.ae6454d4691f8p-26, -0x1.a01a01a014d6ep-13, -0x1.5555555555555p-3});
  return CopySign(Fma(r * z, Fma(odd, z, even), r), r);  // the sum of r = -0 and the product +0 would be +0
}

}  // namespace

Real Sine(Real x, uint32_t op) {
  const LlvmBuilder& l = *x.l;
  const bool cosine = op == RICCI_S_COS;
  LLVMBasicBlockRef from = LLVMGetInsertBlock(l.b), reduce = l.NewBlock("reduce"), far = l.NewBlock("far"),
                    join = l.NewBlock("reduced");
  if (cosine) {
    LLVMBuildBr(l.b, reduce);
  } else {
    LLVMBuildCondBr(l.b, Any(NotWithin(Abs(x), kNoTurn)), reduce, join);
  }
  LLVMPositionBuilderAtEnd(l.b, reduce);
  const Real near = Reduced(x, cosine);
  const Mask beyond = NotWithin(Abs(x), x.is_f64() ? kReach[1] : kReach[0]);
  LLVMBuildCondBr(l.b, Any(beyond), far, join);
  LLVMPositionBuilderAtEnd(l.b, far);
  const Real exact = Select(beyond, CallLibrary(cosine ? kReduceCosine : kReduceSine, x), near);
  far = LLVMGetInsertBlock(l.b);
  LLVMBuildBr(l.b, join);
  LLVMPositionBuilderAtEnd(l.b, join);
  LLVMValueRef r = LLVMBuildPhi(l.b, LLVMTypeOf(x.v), "");
  LLVMValueRef values[] = {near.v, exact.v, x.v};
  LLVMBasicBlockRef blocks[] = {reduce, far, from};
  LLVMAddIncoming(r, values, blocks, cosine ? 2 : 3);
  return Polynomial({x.l, r});
}

}  // namespace ricci::cpu
