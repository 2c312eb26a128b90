// Pairs of a group (vector.h): a loop over numbers e and e + 1. A float of 16 bits is half of a u32, `w12`, which an
// instruction computes at once where there is one (device_pairs.cc); all else is written for e, then for e + 1, as
// `v12_0` and `v12_1`.
//
// Not there yet: pairs in points with branches or private arrays, after a product, and where operands come through
// shared memory (transpose_tile.h).
#include "cuda/print/kernel_printer.h"

namespace ricci::cuda {

// A vector of pairs.
bool KernelPrinter::IsPairAccess(uint32_t i) const {
  if (!vector_.pairs || vector_.together[i] == 0) return false;
  const uint32_t dtype = At(i).op == RICCI_K_LOAD ? At(i).dtype : At(At(i).b).dtype;
  return dtype == RICCI_F16 || dtype == RICCI_BF16;
}

// The value for both numbers.
std::string KernelPrinter::PairValue(uint32_t i) {
  if (At(i).op == RICCI_K_CONST) return PairOfConstant(static_cast<uint64_t>(At(i).imm));
  return IsPair(i) ? PairName(i) : PairOfBits(device_, V(i), V(i));
}

void KernelPrinter::ForHalves(const std::function<void()>& write) {
  for (half_ = 0; half_ < (vector_.pairs ? 2 : 1); ++half_) write();
  half_ = 0;
}

void KernelPrinter::LetPair(uint32_t i, const std::string& expression) {
  Line("const u32 " + PairName(i) + " = " + expression + ";");
}
void KernelPrinter::LetHalf(uint32_t i, const std::string& expression) {
  if (half_ == 0) {
    first_half_ = expression;
  } else {
    LetPair(i, PairOfBits(device_, first_half_, expression));
  }
}

// Of a scalar operation; empty if it is to be written for each half.
std::string KernelPrinter::PairExpression(uint32_t i) {
  const ricci_inst& q = At(i);
  const uint32_t operands[] = {q.a, q.b, q.c}, from = At(q.a).dtype;
  const uint32_t n = q.c != 0 ? 3 : q.b != 0 ? 2 : 1;
  if (IsPairOperation(k_, i)) {
    const std::string in[] = {PairValue(q.a), n > 1 ? PairValue(q.b) : std::string()};
    return PrintPair(device_, q.op, q.dtype, in);
  }
  if (IsWidenedF8(i)) return WidenedPair(q.a, q.dtype);
  std::string wide[2];
  for (half_ = 0; half_ < 2; ++half_) {
    std::string in[3];
    for (uint32_t o = 0; o < n; ++o) in[o] = V(operands[o]);
    wide[half_] = q.op == RICCI_S_CONVERT && from == RICCI_F32 ? in[0] : PrintWide(device_, q.op, from, in, n);
  }
  half_ = 0;
  return wide[0].empty() ? std::string() : PairOfF32(device_, q.dtype, wide[0], wide[1]);
}

void KernelPrinter::BothOfPair(uint32_t i) {
  const ricci_inst& q = At(i);
  const bool is_pair = IsPair(i), is_scalar = codegen::IsScalar(q.op), is_computed = rows_.IsComputed(i);
  const std::string expression = is_pair && is_scalar && is_computed ? PairExpression(i) : std::string();
  if (is_pair && !is_computed) {
    LetPair(i, KeptElement(i, rows_.of[i]));
  } else if (q.op == RICCI_K_LOAD && IsPairAccess(i)) {
    LetPair(i, "x" + std::to_string(i) + ".at[e / 2]");
  } else if (q.op == RICCI_K_STORE && IsPairAccess(i)) {
    Line("y" + std::to_string(i) + ".at[e / 2] = " + PairValue(q.b) + ";");
  } else if (!expression.empty()) {
    LetPair(i, expression);
  } else {
    ForHalves([&] { is_computed ? Compute(i) : Let(i, KeptElement(i, rows_.of[i])); });
  }
  if (!rows_.IsUsed() || rows_.keeps[i] == 0) return;
  if (is_pair) return Line(KeptElement(i, i) + " = " + PairName(i) + ";");
  ForHalves([&] { Line(KeptElement(i, i) + " = " + V(i) + ";"); });
}

}  // namespace ricci::cuda
