// Blocks of rows of x in sequence: each is found by substitution (block_code), and what it takes away from the rows
// that depend on it is a product. From the right it is the system of the transposes, and b is turned in scratch memory.
#include "solve_code.h"

#include <algorithm>

#include "block_code.h"

namespace ricci::object {
namespace {

using cpu::LlvmBuilder;
using V = LLVMValueRef;

constexpr int64_t kSmallest = 33;                     // elements of a line and
constexpr int64_t kFewestLeft = 4, kFewestRight = 2;  // lines below which the generated loops are as good, and fuse
constexpr int64_t kLargest = 1 << 20;                 // of either; far above any memory

class SolutionEmitter : TileCode {
 public:
  SolutionEmitter(const LlvmBuilder& l, const Solution& s, const Processor& processor)
      : TileCode(l, s.type, /*by_rows=*/true, processor),
        s_(s),
        turned_(s.transposed == s.left),
        forward_(s.lower != turned_),
        blocks_(l, s.type, processor) {}

  V Emit(const std::string& name) {
    V f = Begin(name, {l_.ptr(), l_.ptr()}), buffers = LLVMGetParam(f, 0);
    const auto buffer = [&](int64_t i) { return Load(l_.ptr(), At(l_.ptr(), buffers, l_.I64(i))); };
    V all_a = buffer(0), all_b = buffer(1), all_x = buffer(2), n = l_.I64(s_.n), lines = l_.I64(s_.lines);
    blocks_.Begin(LLVMGetParam(f, 1));
    Loop(l_.I64(0), l_.I64(s_.batch), 1, [&](V matrix) {
      V at = Mul(matrix, l_.I64(s_.n * s_.lines)), b = At(all_b, at), x = At(all_x, at);
      a_ = At(all_a, Mul(matrix, l_.I64(s_.n * s_.n)));
      x_ = s_.left ? x : blocks_.scratch(kBlockElements);
      if (s_.left) {
        LLVMBuildMemCpy(l_.b, x, size(), b, size(), l_.I64(s_.n * s_.lines * size()));
      } else {
        blocks_.Transpose(b, n, lines, n, x_, lines);
      }
      Substitute();
      if (!s_.left) blocks_.Transpose(x_, lines, n, lines, x, n);
    });
    LLVMBuildRetVoid(l_.b);
    return f;
  }

 private:
  void Substitute() {
    const int64_t last = (s_.n - 1) / kPanelColumns;
    Loop(l_.I64(0), l_.I64(last + 1), 1, [&](V step) {
      V first = Mul(forward_ ? step : Sub(l_.I64(last), step), l_.I64(kPanelColumns));
      V width = Left(first, s_.n, kPanelColumns), end = Add(first, width);
      blocks_.CopyTriangle(Matrix(), first, width);
      Loop(l_.I64(0), l_.I64(s_.lines), columns_, [&](V n0) {
        V n = Left(n0, s_.lines, columns_);
        blocks_.SolveTop({forward_, s_.unit}, {x_, s_.lines, s_.n}, first, width, n0, n);
        V rest = forward_ ? end : l_.I64(0), rest_end = forward_ ? l_.I64(s_.n) : first;
        Loop(rest, rest_end, kRows, [&](V m0) { TakeAway(first, width, n0, n, m0, Left(m0, rest_end, kRows)); });
      });
    });
  }
  // Rows [first, first + width) from rows [m0, m0 + m), both in columns [n0, n0 + n).
  void TakeAway(V first, V width, V n0, V n, V m0, V m) {
    blocks_.PackRows(Matrix(), m0, m, first, width);
    V to = At(x_, Add(Mul(m0, l_.I64(s_.lines)), n0));
    blocks_.Cells({blocks_.packed(), blocks_.panels(), to, l_.I64(s_.lines), m, n, width, l_.I64(1)});
  }
  BlockCode::Matrix Matrix() { return {a_, s_.n, s_.n, turned_}; }

  const Solution& s_;
  const bool turned_, forward_;  // of the system for columns of x
  BlockCode blocks_;
  V a_ = nullptr, x_ = nullptr;
};

bool Has(const ricci_op* op, std::string_view name) {
  const ricci_attr* a = cpu::FindAttr(op, name);
  return a != nullptr && a->i != 0;
}

}  // namespace

bool PlanSolution(const ricci_op* op, Solution& s) {
  cpu::Array a, b;
  if (!cpu::ReadType(op, op->in_types[0], a) || !cpu::ReadType(op, op->in_types[1], b) || a.dims.size() < 2)
    return false;
  if (a.dtype != RICCI_F32 && a.dtype != RICCI_F64) return false;
  s.type = a.dtype == RICCI_F64 ? cpu::GemmType::kF64 : cpu::GemmType::kF32;
  s.left = Has(op, "left_side"), s.lower = Has(op, "lower");
  s.transposed = Has(op, "transpose_a"), s.unit = Has(op, "unit_diagonal");
  s.n = a.dims.back();
  s.lines = b.dims[b.dims.size() - (s.left ? 1 : 2)];
  for (size_t i = 0; i + 2 < a.dims.size(); ++i) s.batch *= a.dims[i];
  return s.batch > 0 && s.n >= kSmallest && s.lines >= (s.left ? kFewestLeft : kFewestRight) &&
         std::max(s.n, s.lines) <= kLargest;
}

uint64_t SolutionFlops(const Solution& s) {
  return static_cast<uint64_t>(s.batch * s.n) * static_cast<uint64_t>(s.n * s.lines);
}

uint64_t SolutionScratch(const Solution& s) {
  const int64_t turned = s.left ? 0 : s.n * s.lines;
  return static_cast<uint64_t>((kBlockElements + turned) * cpu::SizeOf(s.type) + 63) / 64 * 64;
}

LLVMValueRef EmitSolution(const LlvmBuilder& l, const Solution& s, const Processor& processor,
                          const std::string& name) {
  return SolutionEmitter(l, s, processor).Emit(name);
}

}  // namespace ricci::object
