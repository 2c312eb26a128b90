#include "tile_code.h"

namespace ricci::object {

using cpu::GemmType;
using V = LLVMValueRef;

TileCode::TileCode(const cpu::LlvmBuilder& l, GemmType sum, bool by_rows, const Processor& processor)
    : l_(l), sum_(sum), by_rows_(by_rows), vectors_(2) {
  l_.lanes = processor.vector_bytes / size();
  rows_ = processor.vector_bytes == 64 ? 12 : processor.vector_bytes == 32 ? 6 : processor.registers == 32 ? 8 : 4;
  width_ = static_cast<int64_t>(vectors_ * l_.lanes);
  columns_ = kColumns / width_ * width_;
}

V TileCode::Begin(const std::string& name, const std::vector<LLVMTypeRef>& params) {
  std::vector<LLVMTypeRef> types = params;
  V f = LLVMAddFunction(
      l_.module, name.c_str(),
      LLVMFunctionType(LLVMVoidTypeInContext(l_.ctx), types.data(), static_cast<unsigned>(types.size()), 0));
  LLVMSetLinkage(f, LLVMInternalLinkage);
  LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(l_.ctx, f, "entry");
  LLVMBasicBlockRef start = LLVMAppendBasicBlockInContext(l_.ctx, f, "start");
  LLVMPositionBuilderAtEnd(l_.b, entry);
  LLVMBuildBr(l_.b, start);
  LLVMPositionBuilderAtEnd(l_.b, start);
  return f;
}

LLVMTypeRef TileCode::TypeOf(GemmType t) const {
  if (t == GemmType::kF16) return LLVMHalfTypeInContext(l_.ctx);
  if (t == GemmType::kBF16) return LLVMInt16TypeInContext(l_.ctx);  // as in conversion_codegen
  return t == GemmType::kF64 ? l_.f64() : l_.f32();
}

// ---- transposition: void transpose(from, from_stride, n, k, to, to_stride): to[j, i] = from[i, j], i < n, j < k ----
void TileCode::EmitTransposition() {
  const std::string name = OfType("transpose");
  transposition_ = LLVMGetNamedFunction(l_.module, name.c_str());
  if (transposition_ != nullptr) return;
  LLVMTypeRef number = l_.i64(), at = l_.ptr();
  V f = transposition_ = Begin(name, {at, number, number, number, at, number});
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
}

// In stages, each of which exchanges the off-diagonal squares of side `side` of all squares of twice that.
void TileCode::TransposeSquare(V from, V from_stride, V to, V to_stride) {
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

// ---- blocks of sums: void cell(k, a, rows, b, c, c_stride, columns, adds) ----
void TileCode::EmitCell() {
  const std::string name = OfType("cell") + (by_rows_ ? ".rows" : ".panels");
  cell_ = LLVMGetNamedFunction(l_.module, name.c_str());
  if (cell_ != nullptr) return;
  LLVMTypeRef n = l_.i64(), at = l_.ptr();
  V f = cell_ = Begin(name, {n, at, n, at, at, n, n, n});
  std::vector<V> sums;
  for (int64_t i = 0; i < rows_ * vectors_; ++i) {
    sums.push_back(l_.Alloca(l_.vec(Sum()), "sum"));
    LLVMBuildStore(l_.b, LLVMConstNull(l_.vec(Sum())), sums.back());
  }
  Loop(l_.I64(0), LLVMGetParam(f, 0), 1, [&](V step) { Step(f, sums, step); });
  V all_rows = LLVMBuildICmp(l_.b, LLVMIntEQ, LLVMGetParam(f, 2), l_.I64(rows_), "");
  V all_columns = LLVMBuildICmp(l_.b, LLVMIntEQ, LLVMGetParam(f, 6), l_.I64(width_), "");
  V adds = Differ(LLVMGetParam(f, 7), l_.I64(0));
  const auto whole = [&](bool added) { WriteWhole(f, sums, added); };
  const auto part = [&](bool added) { WritePart(f, sums, added); };
  const auto both = [&](auto write) {
    If(
        adds, [&] { write(true); }, [&] { write(false); });
  };
  If(
      LLVMBuildAnd(l_.b, all_rows, all_columns, ""), [&] { both(whole); }, [&] { both(part); });
  LLVMBuildRetVoid(l_.b);
}

// `a` is rows kRowStride apart or a panel [steps][rows], b a panel [steps][columns].
void TileCode::Step(V f, const std::vector<V>& sums, V step) {
  V panel = At(LLVMGetParam(f, 3), Mul(step, l_.I64(width_)));
  V column = At(LLVMGetParam(f, 1), Mul(step, l_.I64(by_rows_ ? 1 : rows_)));
  std::vector<V> right;
  for (unsigned v = 0; v < vectors_; ++v) right.push_back(LoadVector(At(panel, l_.I64(v * l_.lanes))));
  V left = nullptr;
  for (unsigned i = 0; i < sums.size(); ++i) {
    const int64_t row = i / vectors_ * (by_rows_ ? kRowStride : 1);
    if (i % vectors_ == 0) left = l_.Splat(Load(At(column, l_.I64(row))));
    LLVMBuildStore(l_.b, l_.MultiplyAdd(left, right[i % vectors_], Load(l_.vec(Sum()), sums[i])), sums[i]);
  }
}

void TileCode::WriteWhole(V f, const std::vector<V>& sums, bool added) {
  for (unsigned i = 0; i < sums.size(); ++i) {
    V row = At(LLVMGetParam(f, 4), Mul(l_.I64(i / vectors_), LLVMGetParam(f, 5)));
    V at = At(row, l_.I64(i % vectors_ * l_.lanes)), sum = Load(l_.vec(Sum()), sums[i]);
    Store(added ? LLVMBuildFAdd(l_.b, LoadVector(at), sum, "") : sum, at);
  }
}

// The rows and columns that there are, by way of a block on the stack.
void TileCode::WritePart(V f, const std::vector<V>& sums, bool added) {
  V part = l_.Alloca(LLVMArrayType2(Sum(), static_cast<uint64_t>(rows_ * width_)), "part");
  for (unsigned i = 0; i < sums.size(); ++i) Store(Load(l_.vec(Sum()), sums[i]), At(part, l_.I64(i * l_.lanes)));
  Loop(l_.I64(0), LLVMGetParam(f, 2), 1, [&](V row) {
    V from = At(part, Mul(row, l_.I64(width_))), to = At(LLVMGetParam(f, 4), Mul(row, LLVMGetParam(f, 5)));
    Loop(l_.I64(0), LLVMGetParam(f, 6), 1, [&](V j) {
      V sum = Load(At(from, j)), at = At(to, j);
      Store(added ? LLVMBuildFAdd(l_.b, Load(at), sum, "") : sum, at);
    });
  });
}

void TileCode::Cells(const Block& x) {
  Loop(l_.I64(0), x.n, width_, [&](V j) {
    V first = x.diagonal == nullptr ? l_.I64(0) : Whole(Max(Sub(j, x.diagonal), l_.I64(0)), rows_);
    Loop(first, x.m, rows_, [&](V i) {
      Call(cell_,
           {x.k, At(x.packed, Mul(i, by_rows_ ? l_.I64(kRowStride) : x.k)), Left(i, x.m, rows_),
            At(x.panels, Mul(j, x.k)), At(x.c, Add(Mul(i, x.c_stride), j)), x.c_stride, Left(j, x.n, width_), x.adds});
    });
  });
}

}  // namespace ricci::object
