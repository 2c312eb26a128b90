// Panels of columns from left to right: each is factorised (lu_panel_code), its swaps are made in the other columns,
// its own rows of the columns after it are found, and what it takes away from the rows below is a product, block by
// block. Pivots, NaN and zeros are as in the generated loops (plugins/lax/lu.cc): nothing else is compared or skipped.
#include "lu_code.h"

#include <algorithm>
#include <vector>

#include "lu_panel_code.h"

namespace ricci::object {
namespace {

using cpu::LlvmBuilder;
using V = LLVMValueRef;

constexpr int64_t kSmallest = 24;      // columns to eliminate below which the generated loops are as good, and fuse
constexpr int64_t kLargest = 1 << 20;  // rows and columns; far above any memory

class LuEmitter : LuPanelCode {
 public:
  LuEmitter(const LlvmBuilder& l, const Lu& lu, const Processor& processor)
      : LuPanelCode(l, lu.type, /*symmetric=*/false, processor), s_(lu) {}

  V Emit(const std::string& name) {
    EmitCell();
    panel_ = LuPanel();
    V f = Begin(name, {l_.ptr(), l_.ptr()}), buffers = LLVMGetParam(f, 0);
    const auto buffer = [&](int64_t i) { return Load(l_.ptr(), At(l_.ptr(), buffers, l_.I64(i))); };
    V a = buffer(0), lu = buffer(1), pivots = buffer(2), permutation = buffer(3);
    scratch_ = LLVMGetParam(f, 1);
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
  V Scratch(int64_t at) { return At(scratch_, l_.I64(at)); }

  void Factorise() {
    Loop(l_.I64(0), l_.I64(s_.rows), 1,
         [&](V i) { LLVMBuildStore(l_.b, LLVMBuildTrunc(l_.b, i, l_.i32(), ""), At(l_.i32(), permutation_, i)); });
    Loop(l_.I64(0), l_.I64(s_.steps), kPanelColumns, [&](V first) {
      V width = Left(first, s_.steps, kPanelColumns), end = Add(first, width);
      Call(panel_, {Element(first, first), l_.I64(s_.columns), Sub(l_.I64(s_.rows), first), width,
                    At(l_.i32(), pivots_, first), Scratch(kPanelAt)});
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
    V panels = scratch_, packed = Scratch(kPackedAt);
    Loop(l_.I64(0), width, 1, [&](V i) {
      V row = At(Scratch(kTriangleAt), Mul(i, l_.I64(kPanelColumns))), from = Element(Add(first, i), first);
      Strips(l_.I64(0), width, [&](V j, unsigned lanes) { Store(LoadSome(At(from, j), lanes), At(row, j)); });
    });
    Loop(end, l_.I64(s_.columns), columns_, [&](V n0) {
      V n = Left(n0, s_.columns, columns_);
      Loop(l_.I64(0), n, width_, [&](V j) {
        V panel = At(panels, Mul(j, width)), column = Add(n0, j), count = Left(j, n, width_);
        CopyTop(first, width, column, count, panel, /*back=*/false);
        Solve(panel, width);
        CopyTop(first, width, column, count, panel, /*back=*/true);
      });
      Loop(end, l_.I64(s_.rows), kRows, [&](V m0) {
        V m = Left(m0, s_.rows, kRows);
        PackNegative({lu_, s_.columns, s_.rows}, m0, m, first, width, packed);
        Cells({packed, panels, Element(m0, n0), l_.I64(s_.columns), m, n, width, l_.I64(1)});
      });
    });
  }
  // Between rows [first, first + width) of `count` columns and a panel [width][columns of a cell]; past the last
  // column, that one again.
  void CopyTop(V first, V width, V column, V count, V panel, bool back) {
    V is_whole = LLVMBuildICmp(l_.b, LLVMIntEQ, count, l_.I64(width_), "");
    Loop(l_.I64(0), width, 1, [&](V i) {
      V row = At(panel, Mul(i, l_.I64(width_))), matrix = Element(Add(first, i), column);
      const auto copy = [&](V from, V to, unsigned lanes) { Store(LoadSome(from, lanes), to); };
      const auto whole = [&] {
        for (int64_t j = 0; j < width_; j += l_.lanes) {
          V inside = At(row, l_.I64(j)), outside = At(matrix, l_.I64(j));
          back ? copy(inside, outside, l_.lanes) : copy(outside, inside, l_.lanes);
        }
      };
      const auto part = [&] {
        Loop(l_.I64(0), back ? count : l_.I64(width_), 1, [&](V j) {
          V inside = At(row, j), outside = At(matrix, Min(j, Sub(count, l_.I64(1))));
          back ? copy(inside, outside, 1) : copy(outside, inside, 1);
        });
      };
      If(is_whole, whole, part);
    });
  }
  // The rows of u of a panel [width][columns of a cell]: a system of the triangle, whose diagonal is ones.
  void Solve(V panel, V width) {
    const int64_t few = rows_ > 6 ? 8 : 4;  // rows that stay in registers
    V whole = Whole(width, few);
    Loop(l_.I64(0), whole, few, [&](V row) { SolveRows(panel, row, few); });
    Loop(whole, width, 1, [&](V row) { SolveRows(panel, row, 1); });
  }
  void SolveRows(V panel, V row, int64_t n) {
    const auto factor = [&](int64_t i, V j) {
      return l_.Splat(Load(At(Scratch(kTriangleAt), Add(Mul(Add(row, l_.I64(i)), l_.I64(kPanelColumns)), j))));
    };
    const auto at = [&](V i, unsigned v) { return At(panel, Add(Mul(i, l_.I64(width_)), l_.I64(v * l_.lanes))); };
    std::vector<V> rest;  // slots, [n][vectors]
    for (int64_t i = 0; i < n * vectors_; ++i) {
      rest.push_back(l_.Alloca(l_.vec(Sum()), "rest"));
      V from = at(Add(row, l_.I64(i / vectors_)), static_cast<unsigned>(i % vectors_));
      LLVMBuildStore(l_.b, LoadVector(from), rest.back());
    }
    const auto subtract = [&](int64_t i, V scale, const std::vector<V>& found) {
      for (unsigned v = 0; v < vectors_; ++v) {
        V slot = rest[static_cast<size_t>(i * vectors_ + v)];
        LLVMBuildStore(l_.b, SubtractProduct(Load(l_.vec(Sum()), slot), scale, found[v]), slot);
      }
    };
    Loop(l_.I64(0), row, 1, [&](V j) {
      std::vector<V> found;
      for (unsigned v = 0; v < vectors_; ++v) found.push_back(LoadVector(at(j, v)));
      for (int64_t i = 0; i < n; ++i) subtract(i, factor(i, j), found);
    });
    for (int64_t k = 0; k < n; ++k) {
      std::vector<V> found;
      for (unsigned v = 0; v < vectors_; ++v) {
        found.push_back(Load(l_.vec(Sum()), rest[static_cast<size_t>(k * vectors_ + v)]));
        Store(found.back(), at(Add(row, l_.I64(k)), v));
      }
      for (int64_t i = k + 1; i < n; ++i) subtract(i, factor(i, Add(row, l_.I64(k))), found);
    }
  }
  const Lu& s_;
  V panel_ = nullptr, scratch_ = nullptr, lu_ = nullptr, pivots_ = nullptr, permutation_ = nullptr;
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
  return static_cast<uint64_t>(FactorElements(lu.rows) * cpu::SizeOf(lu.type) + 63) / 64 * 64;
}

LLVMValueRef EmitLu(const LlvmBuilder& l, const Lu& lu, const Processor& processor, const std::string& name) {
  return LuEmitter(l, lu, processor).Emit(name);
}

}  // namespace ricci::object
