// In a copy of the panel columns are adjacent, and lanes are over rows: pivots are searched for along columns. Some
// columns are eliminated one after the other, then taken away from all columns after them at once. The rows of zeros
// below the last one, up to a whole vector, compute too; they are zero or NaN, and never the first largest. The same
// way as lu_kernel.h of plugins/cpu.
#include "lu_panel_code.h"

#include <limits>
#include <vector>

namespace ricci::object {
namespace {

using V = LLVMValueRef;

constexpr int64_t kFew = 8;  // columns whose factors stay in registers

}  // namespace

void LuPanelCode::EmitPanel() {
  const std::string name = OfType("lu_panel");
  panel_ = LLVMGetNamedFunction(l_.module, name.c_str());
  if (panel_ != nullptr) return;
  V transposition = Transposition(), zero = l_.I64(0);
  LLVMTypeRef n = l_.i64(), at = l_.ptr();
  V f = panel_ = Begin(name, {at, n, n, n, at, at});
  V a = LLVMGetParam(f, 0), a_stride = LLVMGetParam(f, 1), pivots = LLVMGetParam(f, 4);
  height_ = LLVMGetParam(f, 2), width_of_panel_ = LLVMGetParam(f, 3), data_ = LLVMGetParam(f, 5);
  stride_ = Add(Whole(Add(height_, l_.I64(15)), 16), l_.I64(16));
  Call(transposition, {a, a_stride, height_, width_of_panel_, data_, stride_});
  Loop(zero, width_of_panel_, 1,
       [&](V j) { Loop(height_, stride_, 1, [&](V i) { Store(LLVMConstNull(Sum()), At(Column(j), i)); }); });
  Loop(zero, width_of_panel_, kFew, [&](V first) {
    V end = Add(first, Left(first, width_of_panel_, kFew));
    Loop(first, end, 1, [&](V j) {
      V pivot = FindPivot(j);
      LLVMBuildStore(l_.b, LLVMBuildTrunc(l_.b, pivot, l_.i32(), ""), At(l_.i32(), pivots, j));
      If(Differ(pivot, j), [&] { SwapRows(j, pivot); });
      Eliminate(j, end);
    });
    If(Less(end, width_of_panel_), [&] {
      EliminateTop(first);
      EliminateFew(first);
    });
  });
  Call(transposition, {data_, stride_, width_of_panel_, height_, a, a_stride});
  LLVMBuildRetVoid(l_.b);
}

// ---- void transpose(from, from_stride, n, k, to, to_stride): to[j, i] = from[i, j], i < n, j < k ----
V LuPanelCode::Transposition() {
  LLVMTypeRef number = l_.i64(), at = l_.ptr();
  V f = Begin(OfType("lu_transpose"), {at, number, number, number, at, number});
  V from = LLVMGetParam(f, 0), from_stride = LLVMGetParam(f, 1), n = LLVMGetParam(f, 2), k = LLVMGetParam(f, 3),
    to = LLVMGetParam(f, 4), to_stride = LLVMGetParam(f, 5), zero = l_.I64(0);
  const auto source = [&](V i, V j) { return At(from, Add(Mul(i, from_stride), j)); };
  const auto target = [&](V i, V j) { return At(to, Add(Mul(j, to_stride), i)); };
  const auto one_by_one = [&](V i0, V i1, V j0, V j1) {
    Loop(i0, i1, 1, [&](V i) { Loop(j0, j1, 1, [&](V j) { Store(Load(source(i, j)), target(i, j)); }); });
  };
  V whole_n = Whole(n, l_.lanes), whole_k = Whole(k, l_.lanes);
  Loop(zero, whole_n, l_.lanes, [&](V i) {
    Loop(zero, whole_k, l_.lanes, [&](V j) { TransposeSquare(source(i, j), from_stride, target(i, j), to_stride); });
    one_by_one(i, Add(i, l_.I64(l_.lanes)), whole_k, k);
  });
  one_by_one(whole_n, n, zero, k);
  LLVMBuildRetVoid(l_.b);
  return f;
}

// In stages, each of which exchanges the off-diagonal squares of side `side` of all squares of twice that.
void LuPanelCode::TransposeSquare(V from, V from_stride, V to, V to_stride) {
  const unsigned n = l_.lanes;
  std::vector<V> rows;
  for (unsigned i = 0; i < n; ++i) rows.push_back(LoadVector(At(from, Mul(l_.I64(i), from_stride))));
  for (unsigned side = n / 2; side > 0; side /= 2) {
    std::vector<V> upper, lower;
    for (unsigned lane = 0; lane < n; ++lane) {
      const bool right = (lane & side) != 0;
      upper.push_back(l_.I32(static_cast<int32_t>(right ? n + lane - side : lane)));
      lower.push_back(l_.I32(static_cast<int32_t>(right ? n + lane : lane + side)));
    }
    for (unsigned i = 0; i < n; ++i) {
      if ((i & side) != 0) continue;
      V x = rows[i], y = rows[i + side];
      rows[i] = LLVMBuildShuffleVector(l_.b, x, y, LLVMConstVector(upper.data(), n), "");
      rows[i + side] = LLVMBuildShuffleVector(l_.b, x, y, LLVMConstVector(lower.data(), n), "");
    }
  }
  for (unsigned i = 0; i < n; ++i) Store(rows[i], At(to, Mul(l_.I64(i), to_stride)));
}

// ---- pivots ----
// The first row of column j, from its diagonal down, of the largest magnitude. NaN is larger than nothing; on the
// diagonal it stays the pivot.
V LuPanelCode::FindPivot(V j) {
  LLVMTypeRef index = size() == 8 ? l_.i64() : l_.i32(), numbers = l_.vec(Sum()), indices = l_.vec(index);
  V pivot = l_.Alloca(l_.i64(), "pivot"), largest = l_.Alloca(numbers, "largest"), at = l_.Alloca(indices, "at");
  V column = Column(j), diagonal = Load(At(column, j));
  const auto as_index = [&](V v) { return LLVMBuildTrunc(l_.b, v, index, ""); };
  LLVMBuildStore(l_.b, j, pivot);
  If(LLVMBuildFCmp(l_.b, LLVMRealORD, diagonal, diagonal, ""), [&] {
    LLVMBuildStore(l_.b, l_.Splat(LLVMConstReal(Sum(), -1)), largest);
    LLVMBuildStore(l_.b, LLVMConstNull(indices), at);
    V lane = LLVMBuildTrunc(l_.b, l_.LaneNumbers(), indices, "");
    Loop(j, height_, l_.lanes, [&](V i) {
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

void LuPanelCode::SwapRows(V i, V k) {
  Loop(l_.I64(0), width_of_panel_, 1, [&](V j) {
    V x = At(Column(j), i), y = At(Column(j), k), v = Load(x);
    Store(Load(y), x);
    Store(v, y);
  });
}

// ---- elimination ----
// With column j, in those of [j + 1, end). A pivot of zero divides nothing.
void LuPanelCode::Eliminate(V j, V end) {
  V column = Column(j), pivot = Load(At(column, j)), next = Add(j, l_.I64(1));
  V divides = LLVMBuildFCmp(l_.b, LLVMRealUNE, pivot, LLVMConstNull(Sum()), "");
  Loop(next, height_, l_.lanes, [&](V i) {
    V rest = LoadVector(At(column, i)), quotient = LLVMBuildFDiv(l_.b, rest, l_.Splat(pivot), "");
    V factor = LLVMBuildSelect(l_.b, divides, quotient, rest, "");
    Store(factor, At(column, i));
    Loop(next, end, 1, [&](V k) {
      V to = At(Column(k), i), top = l_.Splat(Load(At(Column(k), j)));
      Store(SubtractProduct(LoadVector(to), factor, top), to);
    });
  });
}

// With the columns [first, first + kFew), their own rows of the columns after them.
void LuPanelCode::EliminateTop(V first) {
  Loop(Add(first, l_.I64(kFew)), width_of_panel_, 1, [&](V k) {
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

// With the same columns, all rows below of the columns after them.
void LuPanelCode::EliminateFew(V first) {
  Loop(Add(first, l_.I64(kFew)), height_, l_.lanes, [&](V i) {
    std::vector<V> factors;
    for (int64_t t = 0; t < kFew; ++t) factors.push_back(LoadVector(At(Column(Add(first, l_.I64(t))), i)));
    Loop(Add(first, l_.I64(kFew)), width_of_panel_, 1, [&](V k) {
      V to = At(Column(k), i), top = At(Column(k), first), rest = LoadVector(to);
      for (int64_t t = 0; t < kFew; ++t) {
        rest = SubtractProduct(rest, factors[t], l_.Splat(Load(At(top, l_.I64(t)))));
      }
      Store(rest, to);
    });
  });
}

}  // namespace ricci::object
