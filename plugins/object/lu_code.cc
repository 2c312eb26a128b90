// Panels of columns from left to right: each is factorised (panel_code), its swaps are made in the other columns,
// its own rows of the columns after it are found, and what it takes away from the rows below is a product, block by
// block. Pivots, NaN and zeros are as in the generated loops (plugins/lax/lu.cc): nothing else is compared or skipped.
#include "lu_code.h"

#include <algorithm>

#include "block_code.h"

namespace ricci::object {
namespace {

using cpu::LlvmBuilder;
using V = LLVMValueRef;

constexpr int64_t kSmallest = 24;      // columns to eliminate below which the generated loops are as good, and fuse
constexpr int64_t kLargest = 1 << 20;  // rows and columns; far above any memory

class LuEmitter : TileCode {
 public:
  LuEmitter(const LlvmBuilder& l, const Lu& lu, const Processor& processor)
      : TileCode(l, lu.type, /*by_rows=*/true, processor),
        s_(lu),
        blocks_(l, lu.type, processor),
        panel_(EmitLuPanel(l, lu.type, processor)) {}

  V Emit(const std::string& name) {
    V f = Begin(name, {l_.ptr(), l_.ptr()}), buffers = LLVMGetParam(f, 0);
    const auto buffer = [&](int64_t i) { return Load(l_.ptr(), At(l_.ptr(), buffers, l_.I64(i))); };
    V a = buffer(0), lu = buffer(1), pivots = buffer(2), permutation = buffer(3);
    blocks_.Begin(LLVMGetParam(f, 1));
    Loop(l_.I64(0), l_.I64(s_.batch), 1, [&](V matrix) {
      V at = Mul(matrix, l_.I64(s_.rows * s_.columns));
      lu_ = At(lu, at);
      pivots_ = At(l_.i32(), pivots, Mul(matrix, l_.I64(s_.steps)));
      permutation_ = At(l_.i32(), permutation, Mul(matrix, l_.I64(s_.rows)));
      LLVMBuildMemCpy(l_.b, lu_, size(), At(a, at), size(), l_.I64(s_.rows * s_.columns * size()));
      Factorise();
    });
    LLVMBuildRetVoid(l_.b);
    return f;
  }

 private:
  V Element(V i, V j) { return At(lu_, Add(Mul(i, l_.I64(s_.columns)), j)); }

  void Factorise() {
    Loop(l_.I64(0), l_.I64(s_.rows), 1,
         [&](V i) { LLVMBuildStore(l_.b, LLVMBuildTrunc(l_.b, i, l_.i32(), ""), At(l_.i32(), permutation_, i)); });
    Loop(l_.I64(0), l_.I64(s_.steps), kPanelColumns, [&](V first) {
      V width = Left(first, s_.steps, kPanelColumns), end = Add(first, width);
      Call(panel_, {Element(first, first), l_.I64(s_.columns), Sub(l_.I64(s_.rows), first), width,
                    At(l_.i32(), pivots_, first), blocks_.scratch(kBlockElements)});
      Loop(first, end, 1, [&](V i) { Swap(i, first, end); });
      If(Less(end, l_.I64(s_.columns)), [&] { Continue(first, width, end); });
    });
  }
  // The swap of step i, of a panel [first, end), in the other columns; its pivot counts from the panel's first row.
  void Swap(V i, V first, V end) {
    V at = At(l_.i32(), pivots_, i);
    V pivot = Add(first, LLVMBuildZExt(l_.b, Load(l_.i32(), at), l_.i64(), ""));
    LLVMBuildStore(l_.b, LLVMBuildTrunc(l_.b, pivot, l_.i32(), ""), at);
    If(Differ(pivot, i), [&] {
      V x = At(l_.i32(), permutation_, i), y = At(l_.i32(), permutation_, pivot), number = Load(l_.i32(), x);
      LLVMBuildStore(l_.b, Load(l_.i32(), y), x);
      LLVMBuildStore(l_.b, number, y);
      const auto swap = [&](V j, unsigned lanes) {
        V to = Element(i, j), from = Element(pivot, j), v = LoadSome(to, lanes);
        Store(LoadSome(from, lanes), to);
        Store(v, from);
      };
      Strips(l_.I64(0), first, swap);
      Strips(end, l_.I64(s_.columns), swap);
    });
  }

  // What a panel does to the columns after it.
  void Continue(V first, V width, V end) {
    const BlockCode::Matrix lu = {lu_, s_.columns, s_.rows};
    blocks_.CopyTriangle(lu, first, width);
    Loop(end, l_.I64(s_.columns), columns_, [&](V n0) {
      V n = Left(n0, s_.columns, columns_);
      blocks_.SolveTop({/*forward=*/true, /*unit=*/true}, lu, first, width, n0, n);
      Loop(end, l_.I64(s_.rows), kRows, [&](V m0) {
        V m = Left(m0, s_.rows, kRows);
        blocks_.PackRows(lu, m0, m, first, width);
        blocks_.Cells(
            {blocks_.packed(), blocks_.panels(), Element(m0, n0), l_.I64(s_.columns), m, n, width, l_.I64(1)});
      });
    });
  }

  const Lu& s_;
  BlockCode blocks_;
  V panel_, lu_ = nullptr, pivots_ = nullptr, permutation_ = nullptr;
};

}  // namespace

bool PlanLu(const ricci_op* op, Lu& lu) {
  cpu::Array a;
  if (!cpu::ReadType(op, op->in_types[0], a) || a.dims.size() < 2) return false;
  if (a.dtype != RICCI_F32 && a.dtype != RICCI_F64) return false;
  lu.type = a.dtype == RICCI_F64 ? cpu::GemmType::kF64 : cpu::GemmType::kF32;
  lu.columns = a.dims.back();
  lu.rows = a.dims[a.dims.size() - 2];
  lu.steps = std::min(lu.rows, lu.columns);
  if (lu.steps < kSmallest || std::max(lu.rows, lu.columns) > kLargest) return false;
  for (size_t i = 0; i + 2 < a.dims.size(); ++i) lu.batch *= a.dims[i];
  return lu.batch > 0;
}

uint64_t LuFlops(const Lu& lu) {
  const auto steps = static_cast<uint64_t>(lu.steps),
             more = static_cast<uint64_t>(std::max(lu.rows, lu.columns)) - steps;
  return static_cast<uint64_t>(lu.batch) * steps * steps * (2 * steps / 3 + more);
}

uint64_t LuScratch(const Lu& lu) {
  return static_cast<uint64_t>((kBlockElements + kPanelColumns * PanelStride(lu.rows)) * cpu::SizeOf(lu.type) + 63) /
         64 * 64;
}

LLVMValueRef EmitLu(const LlvmBuilder& l, const Lu& lu, const Processor& processor, const std::string& name) {
  return LuEmitter(l, lu, processor).Emit(name);
}

}  // namespace ricci::object
