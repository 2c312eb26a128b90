// TileCode: emits loops, and blocks of sums that stay in registers; what products and factorisations are made of.
//
// A block of sums ("cell") is as many rows and vectors as the processor's registers hold. It multiplies packed rows by
// a packed panel of columns; what is left over at an edge is computed in full and stored in part.
#ifndef RICCI_OBJECT_TILE_CODE_H_
#define RICCI_OBJECT_TILE_CODE_H_
#include <string>
#include <vector>

#include "cpu/library/product.h"
#include "cpu/llvm/llvm_blocks.h"
#include "cpu/llvm/llvm_builder.h"
#include "processor_names.h"

namespace ricci::object {

inline constexpr int64_t kRows = 96;                         // packed at a time; a multiple of the rows of every cell
inline constexpr int64_t kColumns = 512;                     // packed at a time, at most
inline constexpr int64_t kRowStride = cpu::kGemmDepth + 16;  // of rows that are packed as they are: no power of two
// Elements of scratch for rows packed at a time, either way.
inline constexpr int64_t kPackedRows = kRows * kRowStride;

class TileCode {
 protected:
  using V = LLVMValueRef;
  // Sums are of type `sum`: f32 or f64. `by_rows`: rows are packed as they are, kRowStride apart; else as panels
  // [steps][rows].
  TileCode(const cpu::LlvmBuilder& l, cpu::GemmType sum, bool by_rows, const Processor& processor);

  // ---- code in general ----
  // An internal function without result, where code goes on.
  V Begin(const std::string& name, const std::vector<LLVMTypeRef>& params);
  template <typename Body>
  void Loop(V lo, V hi, int64_t step, Body body) {
    cpu::EmitLoop(l_, lo, hi, step, body);
  }
  template <typename Then, typename Else>
  void If(V condition, Then then, Else otherwise) {
    cpu::EmitBranch(l_, condition, then, otherwise);
  }
  template <typename Then>
  void If(V condition, Then then) {
    If(condition, then, [] {});
  }
  // body(i, n) for all of [lo, hi): n a vector's lanes, and 1 for the rest.
  template <typename Body>
  void Strips(V lo, V hi, Body body) {
    V whole = Add(lo, Whole(Sub(hi, lo), l_.lanes));
    Loop(lo, whole, l_.lanes, [&](V i) { body(i, l_.lanes); });
    Loop(whole, hi, 1, [&](V i) { body(i, 1U); });
  }
  V At(LLVMTypeRef t, V base, V index) { return LLVMBuildGEP2(l_.b, t, base, &index, 1, ""); }
  V At(V base, V index) { return At(Sum(), base, index); }
  V Load(LLVMTypeRef t, V at) { return LLVMBuildLoad2(l_.b, t, at, ""); }
  V Load(V at) { return Load(Sum(), at); }
  // One element, or a vector of them.
  V LoadSome(V at, unsigned n) { return n == 1 ? Load(at) : LoadVector(at); }
  V LoadVector(V at) { return Aligned(Load(l_.vec(Sum()), at)); }
  void Store(V v, V at) { Aligned(LLVMBuildStore(l_.b, v, at)); }  // an element or a vector
  V Aligned(V access) const {
    LLVMSetAlignment(access, size());
    return access;
  }
  V Add(V x, V y) { return LLVMBuildNSWAdd(l_.b, x, y, ""); }
  V Sub(V x, V y) { return LLVMBuildNSWSub(l_.b, x, y, ""); }
  V Mul(V x, V y) { return LLVMBuildNSWMul(l_.b, x, y, ""); }
  V Min(V x, V y) { return l_.Fn("llvm.smin", x, y); }
  V Max(V x, V y) { return l_.Fn("llvm.smax", x, y); }
  V Less(V x, V y) { return LLVMBuildICmp(l_.b, LLVMIntSLT, x, y, ""); }
  V Differ(V x, V y) { return LLVMBuildICmp(l_.b, LLVMIntNE, x, y, ""); }
  // The largest multiple of `step` up to n.
  V Whole(V n, int64_t step) { return Mul(LLVMBuildSDiv(l_.b, n, l_.I64(step), ""), l_.I64(step)); }
  // What is left of `all` from `from` on, up to `most`.
  V Left(V from, V all, int64_t most) { return Min(Sub(all, from), l_.I64(most)); }
  V Left(V from, int64_t all, int64_t most) { return Left(from, l_.I64(all), most); }
  // x - y z, rounded once where the processor can.
  V SubtractProduct(V x, V y, V z) { return l_.MultiplyAdd(LLVMBuildFNeg(l_.b, y, ""), z, x); }
  void Call(V f, std::vector<V> args) {
    LLVMBuildCall2(l_.b, LLVMGlobalGetValueType(f), f, args.data(), static_cast<unsigned>(args.size()), "");
  }
  LLVMTypeRef TypeOf(cpu::GemmType t) const;
  LLVMTypeRef Sum() const { return TypeOf(sum_); }
  unsigned size() const { return static_cast<unsigned>(cpu::SizeOf(sum_)); }
  std::string OfType(const char* name) const { return std::string(name) + (size() == 8 ? ".f64" : ".f32"); }

  // ---- transposition: to[j, i] = from[i, j], i < n, j < k ----
  // From here on it can be called: before the function that calls it begins.
  void EmitTransposition();
  void Transpose(V from, V from_stride, V n, V k, V to, V to_stride) {
    Call(transposition_, {from, from_stride, n, k, to, to_stride});
  }

  // ---- blocks of sums ----
  // c[m, n] = rows times panels, over k steps; added to c if `adds` is not 0. With `diagonal`, the column of c's first
  // row that is on a diagonal, nothing is computed of cells that are wholly above that.
  struct Block {
    V packed, panels, c, c_stride, m, n, k, adds, diagonal = nullptr;
  };
  // As EmitTransposition.
  void EmitCell();
  void Cells(const Block& x);

  cpu::LlvmBuilder l_;
  const cpu::GemmType sum_;
  const bool by_rows_;
  int64_t rows_, width_, columns_;  // of a cell; columns of all panels that are packed at a time
  unsigned vectors_;                // of a cell's row

 private:
  void Step(V f, const std::vector<V>& sums, V step);
  void WriteWhole(V f, const std::vector<V>& sums, bool added);
  void WritePart(V f, const std::vector<V>& sums, bool added);
  void TransposeSquare(V from, V from_stride, V to, V to_stride);
  V cell_ = nullptr, transposition_ = nullptr;
};

}  // namespace ricci::object
#endif
