// MathEmitter: what a code generator must be able to write so that the special functions (math_functions.h) are the
// same formulas on each target.
//
// A value is a number that the generator chooses, never 0: an f32 or f64 (one, or one for each lane), an integer of the
// same width, or a mask, which says for one value or each lane whether something holds. A generator
// rounds each operation; products are contracted with sums by the formulas (math_value.h).
#ifndef RICCI_CODEGEN_MATH_EMITTER_H_
#define RICCI_CODEGEN_MATH_EMITTER_H_
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>

namespace ricci::codegen {

enum class MathOp : uint8_t {
  // Of reals.
  kAdd,
  kSub,
  kMul,
  kDiv,
  kNeg,
  kFma,  // a * b + c, rounded once
  kAbs,
  kSqrt,
  kTrunc,
  kRoundEven,
  kCopySign,  // the magnitude of a, the sign of b
  kWiden,     // f32 to f64
  kNarrow,    // f64 to f32
  // Of reals, to a mask; of NaN those with `Or` hold.
  kEqual,
  kLess,
  kGreater,
  kGreaterEqual,
  kLessOrNan,
  kGreaterOrNan,
  kIsNan,
  // Of integers, which wrap.
  kBitsAdd,
  kBitsSub,
  kBitsAnd,
  kBitsXor,
  kBitsShiftLeft,
  kBitsShiftRight,  // keeps the sign
  kBitsEqual,       // to a mask
  kBitsOf,          // of a real
  kRealOf,          // back
  // Of masks.
  kMaskAnd,
  kMaskOr,
  kMaskXor,
  kMaskNot,
  kSelect,  // b where the mask a holds, else c; of reals or integers
};

class MathEmitter {
 public:
  using Value = uintptr_t;

  virtual ~MathEmitter() = default;
  virtual bool IsF64(Value real) const = 0;
  // Fused multiply-adds are instructions (RICCI_TARGET_FMA).
  virtual bool Contracts() const = 0;
  // Constants of the type of `like`.
  virtual Value RealLike(Value like, double c) const = 0;
  virtual Value BitsLike(Value like, uint64_t c) const = 0;
  virtual Value Emit(MathOp op, std::initializer_list<Value> in) const = 0;
  // `otherwise`, or, if the mask holds for any lane, what `then` emits: separate code, which is rarely run.
  virtual Value IfAny(Value mask, Value otherwise, const std::function<Value()>& then) const = 0;
  // A RICCI_S_* operation, or one of math_functions.h, for arguments that no formula takes.
  virtual Value Exact(uint32_t op, std::span<const Value> in) const = 0;
  // x * 2^n, rounded once, if the target has an instruction for it; else 0. `real_n` is n as a real.
  virtual Value ScaleBy(Value x, Value real_n) const = 0;
};

}  // namespace ricci::codegen
#endif
