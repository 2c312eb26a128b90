// rem: what a division rounded towards zero leaves, exactly, as fmod of the C library gives it.
//
// With n the quotient without its fraction, x - n y is exact in one fused operation: it is below y and a multiple of
// the last place of x or y. Rounding may have made the quotient a whole number too large by one; then y is added again.
// A quotient of 2^23 or more (2^52) has no fraction to tell n by, so there the C library divides bit by bit.
#include <cmath>

#include "math_functions.h"
#include "ricci/kernel.h"

namespace ricci::cpu {

Real Rem(Real x, Real y) {
  const LlvmBuilder& l = *x.l;
  const Real a = Abs(x), b = Abs(y), quotient = a / b, rest = Fma(-Trunc(quotient), b, a);
  const Real near = Select(a < b, a, Select(rest < 0, rest + b, rest));
  const Mask none = IsNan(quotient) | (a == INFINITY) | (b == 0);
  const Mask beyond = (!none) & NotWithin(quotient, x.is_f64() ? 0x1p52 : 0x1p23);
  LLVMBasicBlockRef from = LLVMGetInsertBlock(l.b), far = l.NewBlock("far"), join = l.NewBlock("rem");
  LLVMBuildCondBr(l.b, Any(beyond), far, join);
  LLVMPositionBuilderAtEnd(l.b, far);
  const Real exact = Select(beyond, CallLibrary(RICCI_S_REM, a, b), near);
  LLVMBuildBr(l.b, join);
  LLVMPositionBuilderAtEnd(l.b, join);
  LLVMValueRef r = LLVMBuildPhi(l.b, LLVMTypeOf(x.v), "");
  LLVMValueRef values[] = {near.v, exact.v};
  LLVMBasicBlockRef blocks[] = {from, far};
  LLVMAddIncoming(r, values, blocks, 2);
  return Select(none, NAN, CopySign({x.l, r}, x));
}

}  // namespace ricci::cpu
