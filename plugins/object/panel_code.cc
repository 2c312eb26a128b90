// In the copy columns are adjacent, and lanes are over rows: pivots are searched for along columns. Some columns are
// eliminated in sequence, then taken away from all columns after them at once. The rows of zeros below the last one, up
// to a whole vector, compute too; they are zero or NaN, and never the first largest. The same way as lu_kernel.h of
// plugins/cpu.
#include "panel_code.h"

#include <limits>
#include <string>
#include <vector>

#include "tile_code.h"

namespace ricci::object {
namespace {

using cpu::GemmType;
using cpu::LlvmBuilder;
using V = LLVMValueRef;

constexpr int64_t kFew = 8;  // columns whose factors stay in registers

class PanelCode : TileCode {
 public:
  // `symmetric`: the elements of a column are the factors of its row too.
  PanelCode(const LlvmBuilder& l, GemmType type, bool symmetric, const Processor& processor)
      : TileCode(l, type, /*by_rows=*/true, processor), symmetric_(symmetric) {}

  V Emit() {
    const std::string name = OfType(symmetric_ ? "cholesky_panel" : "lu_panel");
    if (V known = LLVMGetNamedFunction(l_.module, name.c_str())) return known;
    EmitTransposition();
    LLVMTypeRef n = l_.i64(), at = l_.ptr();
    V f = Begin(name, {at, n, n, n, at, at}), a = LLVMGetParam(f, 0), a_stride = LLVMGetParam(f, 1);
    rows_of_ = LLVMGetParam(f, 2), columns_of_ = LLVMGetParam(f, 3);
    pivots_ = LLVMGetParam(f, 4), data_ = LLVMGetParam(f, 5);
    stride_ = EmitPanelStride(l_, rows_of_);
    Transpose(a, a_stride, rows_of_, columns_of_, data_, stride_);
    Loop(l_.I64(0), columns_of_, 1,
         [&](V j) { Loop(rows_of_, stride_, 1, [&](V i) { Store(LLVMConstNull(Sum()), At(Column(j), i)); }); });
    Loop(l_.I64(0), columns_of_, kFew, [&](V first) {
      V end = Add(first, Left(first, columns_of_, kFew));
      Loop(first, end, 1, [&](V j) { symmetric_ ? Root(j, end) : Pivot(j, end); });
      If(Less(end, columns_of_), [&] {
        if (!symmetric_) EliminateTop(first);
        EliminateFew(first);
      });
    });
    Transpose(data_, stride_, columns_of_, rows_of_, a, a_stride);
    LLVMBuildRetVoid(l_.b);
    return f;
  }

 private:
  V Column(V j) { return At(data_, Mul(j, stride_)); }
  // What takes column j away from column k.
  V Top(V j, V k) { return symmetric_ ? At(Column(j), k) : At(Column(k), j); }

  void Root(V j, V end);
  void Pivot(V j, V end);
  V FindPivot(V j);
  void SwapRows(V i, V k);
  void Eliminate(V j, V divisor, V divides, V end);
  void EliminateTop(V first);
  void EliminateFew(V first);

  const bool symmetric_;
  V data_ = nullptr, stride_ = nullptr, rows_of_ = nullptr, columns_of_ = nullptr, pivots_ = nullptr;
};

void PanelCode::Root(V j, V end) {
  V at = At(Column(j), j), square = Load(at);
  V positive = LLVMBuildFCmp(l_.b, LLVMRealOGT, square, LLVMConstNull(Sum()), "");
  V none = LLVMConstReal(Sum(), std::numeric_limits<double>::quiet_NaN());
  V root = LLVMBuildSelect(l_.b, positive, l_.Fn("llvm.sqrt", square), none, "");
  Store(root, at);
  Eliminate(j, root, LLVMConstInt(l_.i1(), 1, 0), end);
}

// ---- pivots ----
// A pivot of zero divides nothing.
void PanelCode::Pivot(V j, V end) {
  V row = FindPivot(j);
  LLVMBuildStore(l_.b, LLVMBuildTrunc(l_.b, row, l_.i32(), ""), At(l_.i32(), pivots_, j));
  If(Differ(row, j), [&] { SwapRows(j, row); });
  V pivot = Load(At(Column(j), j));
  Eliminate(j, pivot, LLVMBuildFCmp(l_.b, LLVMRealUNE, pivot, LLVMConstNull(Sum()), ""), end);
}

// The first row of column j, from its diagonal down, of the largest magnitude. NaN is larger than nothing; on the
// diagonal it stays the pivot.
V PanelCode::FindPivot(V j) {
  LLVMTypeRef index = size() == 8 ? l_.i64() : l_.i32(), numbers = l_.vec(Sum()), indices = l_.vec(index);
  V pivot = l_.Alloca(l_.i64(), "pivot"), largest = l_.Alloca(numbers, "largest"), at = l_.Alloca(indices, "at");
  V column = Column(j), diagonal = Load(At(column, j));
  const auto as_index = [&](V v) { return LLVMBuildTrunc(l_.b, v, index, ""); };
  LLVMBuildStore(l_.b, j, pivot);
  If(LLVMBuildFCmp(l_.b, LLVMRealORD, diagonal, diagonal, ""), [&] {
    LLVMBuildStore(l_.b, l_.Splat(LLVMConstReal(Sum(), -1)), largest);
    LLVMBuildStore(l_.b, LLVMConstNull(indices), at);
    V lane = LLVMBuildTrunc(l_.b, l_.LaneNumbers(), indices, "");
    Loop(j, rows_of_, l_.lanes, [&](V i) {
      V magnitude = l_.Fn("llvm.fabs", LoadVector(At(column, i))), before = Load(numbers, largest);
      V larger = LLVMBuildFCmp(l_.b, LLVMRealOGT, magnitude, before, "");
      V here = LLVMBuildAdd(l_.b, l_.Splat(as_index(i)), lane, "");
      LLVMBuildStore(l_.b, LLVMBuildSelect(l_.b, larger, magnitude, before, ""), largest);
      LLVMBuildStore(l_.b, LLVMBuildSelect(l_.b, larger, here, Load(indices, at), ""), at);
    });
    V most = l_.Fn("llvm.vector.reduce.fmax", Load(numbers, largest));
    V is_most = LLVMBuildFCmp(l_.b, LLVMRealOEQ, Load(numbers, largest), l_.Splat(most), "");
    V none = l_.Splat(LLVMConstInt(index, static_cast<uint64_t>(std::numeric_limits<int32_t>::max()), 0));
    V first = l_.Fn("llvm.vector.reduce.umin", LLVMBuildSelect(l_.b, is_most, Load(indices, at), none, ""));
    LLVMBuildStore(l_.b, size() == 8 ? first : LLVMBuildZExt(l_.b, first, l_.i64(), ""), pivot);
  });
  return Load(l_.i64(), pivot);
}

void PanelCode::SwapRows(V i, V k) {
  Loop(l_.I64(0), columns_of_, 1, [&](V j) {
    V x = At(Column(j), i), y = At(Column(j), k), v = Load(x);
    Store(Load(y), x);
    Store(v, y);
  });
}

// ---- elimination ----
// Column j, below its diagonal, divided by `divisor` if `divides`, and taken away from the columns (j, end).
void PanelCode::Eliminate(V j, V divisor, V divides, V end) {
  V column = Column(j), next = Add(j, l_.I64(1));
  Loop(next, rows_of_, l_.lanes, [&](V i) {
    V rest = LoadVector(At(column, i)), quotient = LLVMBuildFDiv(l_.b, rest, l_.Splat(divisor), "");
    Store(LLVMBuildSelect(l_.b, divides, quotient, rest, ""), At(column, i));
  });
  Loop(next, rows_of_, l_.lanes, [&](V i) {
    V factor = LoadVector(At(column, i));
    Loop(next, end, 1, [&](V k) {
      V to = At(Column(k), i);
      Store(SubtractProduct(LoadVector(to), factor, l_.Splat(Load(Top(j, k)))), to);
    });
  });
}

// With the columns [first, first + kFew), their own rows of the columns after them.
void PanelCode::EliminateTop(V first) {
  Loop(Add(first, l_.I64(kFew)), columns_of_, 1, [&](V k) {
    V top = At(Column(k), first);
    std::vector<V> found;
    for (int64_t t = 0; t < kFew; ++t) found.push_back(Load(At(top, l_.I64(t))));
    for (int64_t t = 0; t < kFew; ++t) {
      V factors = At(Column(Add(first, l_.I64(t))), first);
      for (int64_t s = t + 1; s < kFew; ++s) {
        found[s] = SubtractProduct(found[s], Load(At(factors, l_.I64(s))), found[t]);
      }
      Store(found[t], At(top, l_.I64(t)));
    }
  });
}

// With the same columns, the rows below them.
void PanelCode::EliminateFew(V first) {
  Loop(Add(first, l_.I64(kFew)), rows_of_, l_.lanes, [&](V i) {
    std::vector<V> factors;
    for (int64_t t = 0; t < kFew; ++t) factors.push_back(LoadVector(At(Column(Add(first, l_.I64(t))), i)));
    Loop(Add(first, l_.I64(kFew)), columns_of_, 1, [&](V k) {
      V to = At(Column(k), i), rest = LoadVector(to);
      for (int64_t t = 0; t < kFew; ++t) {
        rest = SubtractProduct(rest, factors[static_cast<size_t>(t)], l_.Splat(Load(Top(Add(first, l_.I64(t)), k))));
      }
      Store(rest, to);
    });
  });
}

}  // namespace

V EmitPanelStride(const LlvmBuilder& l, V rows) {
  return LLVMBuildNSWAdd(l.b, LLVMBuildAnd(l.b, rows, l.I64(-16), ""), l.I64(PanelStride(0)), "");
}

V EmitLuPanel(const LlvmBuilder& l, GemmType type, const Processor& processor) {
  return PanelCode(l, type, /*symmetric=*/false, processor).Emit();
}
V EmitCholeskyPanel(const LlvmBuilder& l, GemmType type, const Processor& processor) {
  return PanelCode(l, type, /*symmetric=*/true, processor).Emit();
}

}  // namespace ricci::object
