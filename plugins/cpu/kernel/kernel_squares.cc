// Points in squares of lanes by lanes (codegen/squares): arrays that are contiguous along the rows are loaded
// contiguously, a vector for each lane, and transposed in registers, instead of gathered for each row.
#include <algorithm>

#include "cpu/kernel/kernel_blocks.h"

namespace ricci::cpu {

// Units are blocks of rows: [begin, end) of them.
void KernelEmitter::Squares(V begin, V end) {
  const uint32_t rank = k_.domain_rank, rows = schedule_.dims[rank - 2];
  const int64_t lanes = l_.lanes, height = k_.domain[rank - 2], width = k_.domain[rank - 1];
  V blocks = l_.I64((height + lanes - 1) / lanes);
  Loop(begin, end, 1, LoopPoll{polls_.units}, [&](V unit) {
    SetRow(LLVMBuildUDiv(l_.b, unit, blocks, ""), 2);
    V first = LLVMBuildMul(l_.b, LLVMBuildURem(l_.b, unit, blocks, ""), l_.I64(lanes), "");
    const auto columns = [&] { Spread(l_.I64(0), l_.I64(width), width % lanes == 0); };
    const auto square = [&] {
      square_first_ = first;
      columns();
      square_first_ = nullptr;
    };
    if (height % lanes == 0) return square();
    V whole = LLVMBuildICmp(l_.b, LLVMIntSLE, first, l_.I64(height - lanes), "");
    Branch(whole, square, [&] {
      Loop(first, l_.I64(height), 1, [&](V row) {
        Put(rows, {row, nullptr, 0});
        columns();
      });
    });
  });
}

// The body for all rows of a square, whose columns are the lanes.
void KernelEmitter::SquarePoints() {
  for (square_row_ = 0; square_row_ < static_cast<int64_t>(l_.lanes); ++square_row_) {
    V row = LLVMBuildNSWAdd(l_.b, square_first_, l_.I64(square_row_), "");
    Put(schedule_.dims[k_.domain_rank - 2], {row, nullptr, 0});
    Range(1, k_.n_insts);
  }
  square_row_ = -1;
}

bool KernelEmitter::IsSquareLoad(uint32_t id) const {
  return square_row_ >= 0 && std::binary_search(schedule_.squares.begin(), schedule_.squares.end(), id);
}

// The load for the current row of the square; the first row loads all of them.
void KernelEmitter::LoadSquare(uint32_t id, uint32_t dtype, V base, const Value& index) {
  std::vector<V>& square = squares_[id];
  if (square_row_ == 0) {
    const LLVMTypeRef t = MemoryType(l_, dtype);
    square.clear();
    V last = LLVMBuildSub(l_.b, l_.I64(k_.domain[k_.domain_rank - 1] - 1), column_, "");  // the last lane with a column
    for (unsigned lane = 0; lane < l_.lanes; ++lane) {
      V column = l_.I64(lane);
      if (mask_ != nullptr && lane != 0) column = l_.Fn("llvm.smin", column, last);
      V at = LLVMBuildAdd(l_.b, index.one, LLVMBuildMul(l_.b, column, l_.I64(index.stride), ""), "");
      V v = LLVMBuildLoad2(l_.b, l_.vec(t), Element(t, base, at), "");
      LLVMSetAlignment(v, Align(dtype));
      square.push_back(v);
    }
    for (unsigned side = l_.lanes / 2; side > 0; side /= 2) ExchangeSquares(square, side);
  }
  Define(id, FromMemory(dtype, square[static_cast<size_t>(square_row_)]));
}

// One stage of a transposition: the off-diagonal squares of side `side` of all squares of twice that side change
// places.
void KernelEmitter::ExchangeSquares(std::vector<V>& rows, unsigned side) {
  std::vector<V> upper, lower;
  for (unsigned i = 0; i < l_.lanes; ++i) {
    const bool left = (i & side) == 0;
    upper.push_back(l_.I32(static_cast<int>(left ? i : l_.lanes + i - side)));
    lower.push_back(l_.I32(static_cast<int>(left ? i + side : l_.lanes + i)));
  }
  V take_upper = LLVMConstVector(upper.data(), l_.lanes), take_lower = LLVMConstVector(lower.data(), l_.lanes);
  for (unsigned i = 0; i < l_.lanes; ++i) {
    if ((i & side) != 0) continue;
    V x = rows[i], y = rows[i + side];
    rows[i] = LLVMBuildShuffleVector(l_.b, x, y, take_upper, "");
    rows[i + side] = LLVMBuildShuffleVector(l_.b, x, y, take_lower, "");
  }
}

}  // namespace ricci::cpu
