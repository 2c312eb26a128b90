#include "cuda/device/tensor_format.h"

#include "codegen/analysis.h"

namespace ricci::cuda {
namespace {

constexpr int64_t kBelowTf32 = 1 << 13;  // what f32 has beyond tf32

class Formats {
 public:
  explicit Formats(const ricci_kernel_table& k) : k_(k) {}

  // The narrow float, or integer of 8 bits, that a factor is in f32.
  TensorFactor Narrow(uint32_t v) const {
    const ricci_inst& q = At(v);
    if (q.op != RICCI_S_CONVERT || q.dtype != RICCI_F32) return {};
    const uint32_t from = At(q.a).dtype;
    if (from == RICCI_BF16 || from == RICCI_F16) return {q.a, from};
    const bool is_tiny = codegen::IsTiny(from) && from != RICCI_F8E8M0FNU;
    return is_tiny || from == RICCI_I8 || from == RICCI_U8 ? TensorFactor{q.a, RICCI_F16} : TensorFactor{};
  }
  // The integer of 8 bits that a factor is in 32.
  TensorFactor Integer(uint32_t v) const {
    const ricci_inst& q = At(v);
    const uint32_t from = At(q.a).dtype;
    const bool is_one = q.op == RICCI_S_CONVERT && q.dtype == RICCI_I32 && (from == RICCI_I8 || from == RICCI_U8);
    return is_one ? TensorFactor{q.a, from} : TensorFactor{};
  }
  // x of `x != x ? x : f32((bits(x) + half) & ~below)`: rounded to nearest, ties away from zero, as dot_general writes
  // it and `cvt.rna.tf32` does.
  TensorFactor Rounded(uint32_t v) const {
    const ricci_inst& q = At(v);
    if (q.op != RICCI_S_SELECT || q.dtype != RICCI_F32) return {};
    const ricci_inst& is_nan = At(q.a);
    const uint32_t x = is_nan.a;
    if (is_nan.op != RICCI_S_NE || is_nan.b != x || q.b != x || At(q.c).op != RICCI_S_BITCAST) return {};
    const uint32_t sum = Other(At(q.c).a, RICCI_S_AND, uint32_t{0} - kBelowTf32);
    const uint32_t bits = sum == 0 ? 0 : Other(sum, RICCI_S_ADD, kBelowTf32 / 2);
    const bool is_rounded = bits != 0 && At(bits).op == RICCI_S_BITCAST && At(bits).a == x;
    return is_rounded && At(bits).dtype == RICCI_U32 ? TensorFactor{x, RICCI_F32} : TensorFactor{};
  }

 private:
  const ricci_inst& At(uint32_t v) const { return k_.insts[v]; }
  // Of an operation with a constant the other operand; 0: it is another one.
  uint32_t Other(uint32_t v, uint16_t op, int64_t constant) const {
    const ricci_inst& q = At(v);
    const auto is_constant = [&](uint32_t operand) {
      return At(operand).op == RICCI_K_CONST &&
             static_cast<uint32_t>(At(operand).imm) == static_cast<uint32_t>(constant);
    };
    if (q.op != op) return 0;
    return is_constant(q.b) ? q.a : is_constant(q.a) ? q.b : 0;
  }

  const ricci_kernel_table& k_;
};

// bf16 and f16 hold what is smaller, neither the other.
TensorFormat OfNarrow(const ricci_kernel_table& k, const TensorFactor& a, const TensorFactor& b) {
  if (a.dtype == 0 || b.dtype == 0) return {};
  TensorFormat out{{a, b}};
  if (a.dtype == b.dtype) return out;
  for (TensorFactor& f : out.factors) {
    if (f.dtype == RICCI_F16 && k.insts[f.value].dtype == RICCI_F16) return {};
    f.dtype = RICCI_BF16;
  }
  return out;
}
TensorFormat Both(const TensorFactor& a, const TensorFactor& b) {
  return a.dtype == 0 || b.dtype == 0 ? TensorFormat{} : TensorFormat{{a, b}};
}

}  // namespace

TensorFormat TensorFormatOf(const ricci_kernel_table& k, uint32_t product, uint32_t a, uint32_t b) {
  const Formats formats(k);
  if (k.insts[product].dtype == RICCI_I32) return Both(formats.Integer(a), formats.Integer(b));
  if (k.insts[product].dtype != RICCI_F32) return {};
  const TensorFormat narrow = OfNarrow(k, formats.Narrow(a), formats.Narrow(b));
  return narrow.IsUsed() ? narrow : Both(formats.Rounded(a), formats.Rounded(b));
}

std::string_view NameOfFormat(uint32_t dtype) {
  if (IsReadEitherWay(dtype)) return {};
  return dtype == RICCI_F32 ? " as tf32" : " as integers of 8 bits";
}

}  // namespace ricci::cuda
