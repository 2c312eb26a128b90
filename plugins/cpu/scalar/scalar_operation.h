// Operation: one scalar operation that is being emitted; the functions that emit one are entries of the table of
// scalar_codegen.cc.
#ifndef RICCI_CPU_SCALAR_OPERATION_H_
#define RICCI_CPU_SCALAR_OPERATION_H_
#include <algorithm>
#include <span>

#include "cpu/scalar/conversion_codegen.h"

namespace ricci::cpu {

struct Operation {
  const LlvmBuilder& l;
  uint32_t op, from, to;  // as of EmitScalar
  std::span<const V> in;

  V a() const { return in[0]; }
  V b() const { return in[1]; }
  V c() const { return in[2]; }
};
using EmitFn = V (*)(const Operation& o);

// ---- what is one instruction or one intrinsic of LLVM ----
template <V (*kBuild)(LLVMBuilderRef, V, const char*)>
V Unary(const Operation& o) {
  return kBuild(o.l.b, o.a(), "");
}
template <V (*kBuild)(LLVMBuilderRef, V, V, const char*)>
V Binary(const Operation& o) {
  return kBuild(o.l.b, o.a(), o.b(), "");
}
template <size_t kSize>
struct IntrinsicName {
  constexpr IntrinsicName(const char (&name)[kSize]) { std::copy_n(name, kSize, text); }  // NOLINT: implicit
  char text[kSize];
};
template <IntrinsicName kName>
V UnaryIntrinsic(const Operation& o) {
  return o.l.Fn(kName.text, o.a());
}
template <IntrinsicName kName>
V BinaryIntrinsic(const Operation& o) {
  return o.l.Fn(kName.text, o.a(), o.b());
}

// ---- integer_codegen.cc: of integers and bools ----
V IntegerQuotient(const Operation& o);   // x / 0 = -1, MIN / -1 = MIN
V IntegerRemainder(const Operation& o);  // x % 0 = x
V IntegerMin(const Operation& o);
V IntegerMax(const Operation& o);
V IntegerMultiplyAdd(const Operation& o);
V IntegerMagnitude(const Operation& o);
V IntegerSign(const Operation& o);
V IntegerShift(const Operation& o);  // SHL, SHR or SAR; by the width or more as if bit by bit
V IntegerComparison(const Operation& o);
V LeadingZeros(const Operation& o);
V HighProduct(const Operation& o);

}  // namespace ricci::cpu
#endif
