// In a copy of the panel columns are adjacent, and lanes are over rows. Some columns are eliminated one after the
// other, then taken away from all columns after them at once. The rows of zeros below the last one, up to a whole
// vector, compute too; nobody reads them.
#include "panel_code.h"

#include <vector>

namespace ricci::object {

using V = LLVMValueRef;

void PanelCode::BeginPanel(V f, V transposition) {
  V a = LLVMGetParam(f, 0), a_stride = LLVMGetParam(f, 1);
  height_ = LLVMGetParam(f, 2), panel_width_ = LLVMGetParam(f, 3);
  pivots_of_panel_ = LLVMGetParam(f, 4), data_ = LLVMGetParam(f, 5);
  stride_ = StrideOf(height_);
  Call(transposition, {a, a_stride, height_, panel_width_, data_, stride_});
  Loop(l_.I64(0), panel_width_, 1,
       [&](V j) { Loop(height_, stride_, 1, [&](V i) { Store(LLVMConstNull(Sum()), At(Column(j), i)); }); });
}

void PanelCode::EndPanel(V f, V transposition) {
  Call(transposition, {data_, stride_, panel_width_, height_, LLVMGetParam(f, 0), LLVMGetParam(f, 1)});
  LLVMBuildRetVoid(l_.b);
}

// ---- void transpose(from, from_stride, n, k, to, to_stride): to[j, i] = from[i, j], i < n, j < k ----
V PanelCode::Transposition() {
  const std::string name = OfType("transpose");
  if (V known = LLVMGetNamedFunction(l_.module, name.c_str())) return known;
  LLVMTypeRef number = l_.i64(), at = l_.ptr();
  V f = Begin(name, {at, number, number, number, at, number});
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
void PanelCode::TransposeSquare(V from, V from_stride, V to, V to_stride) {
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

// ---- elimination ----
void PanelCode::Eliminate(V j, V divisor, V divides, V end) {
  V column = Column(j), next = Add(j, l_.I64(1));
  Loop(next, height_, l_.lanes, [&](V i) {
    V rest = LoadVector(At(column, i)), quotient = LLVMBuildFDiv(l_.b, rest, l_.Splat(divisor), "");
    Store(LLVMBuildSelect(l_.b, divides, quotient, rest, ""), At(column, i));
  });
  Loop(next, height_, l_.lanes, [&](V i) {
    V factor = LoadVector(At(column, i));
    Loop(next, end, 1, [&](V k) {
      V to = At(Column(k), i);
      Store(SubtractProduct(LoadVector(to), factor, l_.Splat(Load(Top(j, k)))), to);
    });
  });
}

void PanelCode::EliminateFew(V first) {
  Loop(Add(first, l_.I64(kFew)), height_, l_.lanes, [&](V i) {
    std::vector<V> factors;
    for (int64_t t = 0; t < kFew; ++t) factors.push_back(LoadVector(At(Column(Add(first, l_.I64(t))), i)));
    Loop(Add(first, l_.I64(kFew)), panel_width_, 1, [&](V k) {
      V to = At(Column(k), i), rest = LoadVector(to);
      for (int64_t t = 0; t < kFew; ++t) {
        rest = SubtractProduct(rest, factors[static_cast<size_t>(t)], l_.Splat(Load(Top(Add(first, l_.I64(t)), k))));
      }
      Store(rest, to);
    });
  });
}

void PanelCode::PackNegative(const Rows& a, V row, V m, V first, V width, V to) {
  Loop(l_.I64(0), Whole(Add(m, l_.I64(rows_ - 1)), rows_), 1, [&](V i) {
    V number = Min(Add(row, i), l_.I64(a.all - 1));
    V from = At(a.matrix, Add(Mul(number, l_.I64(a.stride)), first)), line = At(to, Mul(i, l_.I64(kRowStride)));
    Strips(l_.I64(0), width,
           [&](V j, unsigned lanes) { Store(LLVMBuildFNeg(l_.b, LoadSome(At(from, j), lanes), ""), At(line, j)); });
  });
}

}  // namespace ricci::object
