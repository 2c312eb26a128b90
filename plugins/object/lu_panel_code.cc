// Pivots are searched for along columns. The rows of zeros below the last one are zero or NaN, and never the first
// largest. The same way as lu_kernel.h of plugins/cpu.
#include "lu_panel_code.h"

#include <limits>
#include <vector>

namespace ricci::object {

using V = LLVMValueRef;

V LuPanelCode::LuPanel() {
  return Panel(OfType("lu_panel"), [&] {
    Loop(l_.I64(0), panel_width_, kFew, [&](V first) {
      V end = Add(first, Left(first, panel_width_, kFew));
      Loop(first, end, 1, [&](V j) {
        V row = FindPivot(j);
        LLVMBuildStore(l_.b, LLVMBuildTrunc(l_.b, row, l_.i32(), ""), At(l_.i32(), pivots_of_panel_, j));
        If(Differ(row, j), [&] { SwapRows(j, row); });
        // A pivot of zero divides nothing.
        V pivot = Load(At(Column(j), j)), divides = LLVMBuildFCmp(l_.b, LLVMRealUNE, pivot, LLVMConstNull(Sum()), "");
        Eliminate(j, pivot, divides, end);
      });
      If(Less(end, panel_width_), [&] {
        EliminateTop(first);
        EliminateFew(first);
      });
    });
  });
}

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
  Loop(l_.I64(0), panel_width_, 1, [&](V j) {
    V x = At(Column(j), i), y = At(Column(j), k), v = Load(x);
    Store(Load(y), x);
    Store(v, y);
  });
}

// With the columns [first, first + kFew), their own rows of the columns after them.
void LuPanelCode::EliminateTop(V first) {
  Loop(Add(first, l_.I64(kFew)), panel_width_, 1, [&](V k) {
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

}  // namespace ricci::object
