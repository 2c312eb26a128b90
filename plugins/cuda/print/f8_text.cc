// Floats of 8 bits that are read in vectors (groups of vector.h, accesses of vector_access.h), as text: each widens its
// pair, numbers 2n and 2n + 1 of the vector, and takes its half. Loops over a vector are unrolled, so the compiler
// makes one instruction of two equal ones.
//
// Factors of products that are read in vectors are kept as pairs of f16 or bf16 (tile_operands.cc).
#include "cuda/print/kernel_printer.h"

namespace ricci::cuda {
namespace {

bool IsOf16Bits(uint32_t dtype) { return dtype == RICCI_F16 || dtype == RICCI_BF16; }

}  // namespace

// Of a group what is kept in registers from another loop, or comes through shared memory, is read from there.
bool KernelPrinter::IsOfF8Vector(uint32_t load) const {
  if (At(load).op != RICCI_K_LOAD || !HasF8Instructions(At(load).dtype)) return false;
  if (!access_vectors_[load].empty()) return true;
  return IsTogether(load) && rows_.IsComputed(load) && !IsBrought(load) && OtherOfPair(load) == 0;
}

bool KernelPrinter::IsOnlyWidened(uint32_t load) const {
  if (!IsOfF8Vector(load) || (rows_.IsUsed() && rows_.keeps[load] != 0)) return false;
  for (uint32_t i = load + 1; i < k_.n_insts; ++i) {
    const ricci_inst& q = At(i);
    const bool is_read = q.a == load || q.b == load || q.c == load;
    if (is_read && (q.op != RICCI_S_CONVERT || q.dtype == At(load).dtype)) return false;
  }
  return true;
}

// Both of the pair that number `e`, or `e + 1` of a group of pairs, is one of.
std::string KernelPrinter::F8Pair(uint32_t load) const {
  const bool is_access = !access_vectors_[load].empty();
  const std::string vector = is_access ? access_vectors_[load] : "x" + std::to_string(load);
  const bool is_even = !is_access && vector_.pairs;
  return "*(const u16*)(" + vector + ".at + " + (is_even ? "e" : "e / 2 * 2") + ")";
}

std::string KernelPrinter::Converted(uint32_t v, uint32_t to) {
  const uint32_t from = At(v).dtype;
  if (!IsOfF8Vector(v) || from == to) return Convert(device_, from, to, V(v));
  const bool is_half_known = access_vectors_[v].empty() && vector_.pairs;
  if (IsOf16Bits(to)) {
    const std::string pair = WidenedPair(v, to);
    return is_half_known ? HalfOfPair(pair, half_) : "(u16)(" + pair + " >> 16 * (e % 2))";
  }
  const std::string half = is_half_known ? std::to_string(half_) : "e % 2";
  return Convert(device_, RICCI_F32, to, F32OfF8Pair(device_, from, F8Pair(v), half));
}

std::string KernelPrinter::WidenedPair(uint32_t load, uint32_t to) {
  return WidenedF8Pair(device_, At(load).dtype, to, F8Pair(load));
}

}  // namespace ricci::cuda
