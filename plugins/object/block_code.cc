#include "block_code.h"

namespace ricci::object {

using V = LLVMValueRef;

BlockCode::BlockCode(const cpu::LlvmBuilder& l, cpu::GemmType type, const Processor& processor)
    : TileCode(l, type, /*by_rows=*/true, processor) {
  EmitCell();
  EmitTransposition();
}

void BlockCode::PackRows(const Matrix& a, V row, V m, V first, V width) {
  if (a.turned) return Transpose(Element(a, first, row), l_.I64(a.stride), width, m, packed(), l_.I64(kRowStride));
  Loop(l_.I64(0), Whole(Add(m, l_.I64(rows_ - 1)), rows_), 1, [&](V i) {
    V from = Element(a, Min(Add(row, i), l_.I64(a.rows - 1)), first), to = At(packed(), Mul(i, l_.I64(kRowStride)));
    Strips(l_.I64(0), width, [&](V j, unsigned lanes) { Store(LoadSome(At(from, j), lanes), At(to, j)); });
  });
}

void BlockCode::CopyTriangle(const Matrix& a, V first, V width) {
  V block = Element(a, first, first), to = scratch(kTriangleAt);
  if (a.turned) return Transpose(block, l_.I64(a.stride), width, width, to, l_.I64(kPanelColumns));
  Loop(l_.I64(0), width, 1, [&](V i) {
    V from = At(block, Mul(i, l_.I64(a.stride))), row = At(to, Mul(i, l_.I64(kPanelColumns)));
    Strips(l_.I64(0), width, [&](V j, unsigned lanes) { Store(LoadSome(At(from, j), lanes), At(row, j)); });
  });
}

void BlockCode::SolveTop(const System& s, const Matrix& x, V first, V width, V n0, V n) {
  Loop(l_.I64(0), n, width_, [&](V j) {
    V panel = At(panels(), Mul(j, width)), column = Add(n0, j), count = Left(j, n, width_);
    CopyTop(x, first, width, column, count, panel, /*back=*/false);
    Solve(s, panel, width);
    CopyTop(x, first, width, column, count, panel, /*back=*/true);
  });
}

// Between rows [row, row + width) of `count` columns and a panel [width][columns of a cell]; past the last column, that
// one again. Back, what is left in the panel is the negative.
void BlockCode::CopyTop(const Matrix& x, V row, V width, V column, V count, V panel, bool back) {
  const auto copy = [&](V inside, V outside, unsigned lanes) {
    V v = LoadSome(back ? inside : outside, lanes);
    if (back) Store(v, outside);
    Store(back ? LLVMBuildFNeg(l_.b, v, "") : v, inside);
  };
  V is_whole = LLVMBuildICmp(l_.b, LLVMIntEQ, count, l_.I64(width_), "");
  Loop(l_.I64(0), width, 1, [&](V i) {
    V line = At(panel, Mul(i, l_.I64(width_))), matrix = Element(x, Add(row, i), column);
    const auto whole = [&] {
      for (int64_t j = 0; j < width_; j += l_.lanes) copy(At(line, l_.I64(j)), At(matrix, l_.I64(j)), l_.lanes);
    };
    const auto part = [&] {
      Loop(l_.I64(0), back ? count : l_.I64(width_), 1,
           [&](V j) { copy(At(line, j), At(matrix, Min(j, Sub(count, l_.I64(1)))), 1); });
    };
    If(is_whole, whole, part);
  });
}

// A panel [width][columns of a cell], some rows at a time: first those that depend on no other.
void BlockCode::Solve(const System& s, V panel, V width) {
  const int64_t few = rows_ > 6 ? 8 : 4;  // rows that stay in registers
  V whole = Whole(width, few);
  const auto some = [&] {
    Loop(l_.I64(0), whole, few,
         [&](V i) { SolveRows(s, panel, s.forward ? i : Sub(Sub(whole, i), l_.I64(few)), width, few); });
  };
  const auto rest = [&] {
    Loop(whole, width, 1,
         [&](V i) { SolveRows(s, panel, s.forward ? i : Add(whole, Sub(Sub(width, l_.I64(1)), i)), width, 1); });
  };
  if (!s.forward) rest();
  some();
  if (s.forward) rest();
}

void BlockCode::SolveRows(const System& s, V panel, V row, V width, int64_t n) {
  const auto number = [&](int64_t i) { return Add(row, l_.I64(i)); };
  const auto element = [&](V i, V j) { return Load(At(scratch(kTriangleAt), Add(Mul(i, l_.I64(kPanelColumns)), j))); };
  const auto at = [&](V i, unsigned v) { return At(panel, Add(Mul(i, l_.I64(width_)), l_.I64(v * l_.lanes))); };
  std::vector<V> rest;  // slots, [n][vectors]
  for (int64_t i = 0; i < n * vectors_; ++i) {
    rest.push_back(l_.Alloca(l_.vec(Sum()), "rest"));
    LLVMBuildStore(l_.b, LoadVector(at(number(i / vectors_), static_cast<unsigned>(i % vectors_))), rest.back());
  }
  const auto slot = [&](int64_t i, unsigned v) { return rest[static_cast<size_t>(i * vectors_ + v)]; };
  const auto subtract = [&](int64_t i, V factor, const std::vector<V>& found) {
    for (unsigned v = 0; v < vectors_; ++v) {
      V less = SubtractProduct(Load(l_.vec(Sum()), slot(i, v)), l_.Splat(factor), found[v]);
      LLVMBuildStore(l_.b, less, slot(i, v));
    }
  };
  V lo = s.forward ? l_.I64(0) : number(n), hi = s.forward ? row : width;
  Loop(lo, hi, 1, [&](V j) {
    std::vector<V> found;
    for (unsigned v = 0; v < vectors_; ++v) found.push_back(LoadVector(at(j, v)));
    for (int64_t i = 0; i < n; ++i) subtract(i, element(number(i), j), found);
  });
  for (int64_t step = 0; step < n; ++step) {
    const int64_t k = s.forward ? step : n - 1 - step;
    std::vector<V> found;
    for (unsigned v = 0; v < vectors_; ++v) {
      found.push_back(Load(l_.vec(Sum()), slot(k, v)));
      if (!s.unit) found.back() = LLVMBuildFDiv(l_.b, found.back(), l_.Splat(element(number(k), number(k))), "");
      Store(found.back(), at(number(k), v));
    }
    for (int64_t more = step + 1; more < n; ++more) {
      const int64_t i = s.forward ? more : n - 1 - more;
      subtract(i, element(number(i), number(k)), found);
    }
  }
}

}  // namespace ricci::object
