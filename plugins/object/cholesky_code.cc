// Panels of columns from left to right, in the result, which first holds the matrix: each is factorised, and what it
// takes away from the columns after it is a product of the panel by its transpose, which its copy by columns is. The
// part above the diagonal is computed in part, never read, and zero in the end.
#include "cholesky_code.h"

#include <algorithm>
#include <limits>

#include "block_code.h"

namespace ricci::object {
namespace {

using cpu::LlvmBuilder;
using V = LLVMValueRef;

constexpr int64_t kSmallest = 20;       // rows below which the generated loops are as good, and fuse;
constexpr int64_t kSmallestBatch = 48;  // with lanes over a batch of at least
constexpr int64_t kBatch = 8;           // this size
constexpr int64_t kLargest = 1 << 20;   // rows; far above any memory

class CholeskyEmitter : TileCode {
 public:
  CholeskyEmitter(const LlvmBuilder& l, const Cholesky& c, const Processor& processor)
      : TileCode(l, c.type, /*by_rows=*/true, processor),
        n_(c.n),
        batch_(c.batch),
        blocks_(l, c.type, processor),
        panel_(EmitCholeskyPanel(l, c.type, processor)) {}

  V Emit(const std::string& name) {
    V f = Begin(name, {l_.ptr(), l_.ptr()}), buffers = LLVMGetParam(f, 0);
    V a = Load(l_.ptr(), buffers), factors = Load(l_.ptr(), At(l_.ptr(), buffers, l_.I64(1)));
    blocks_.Begin(LLVMGetParam(f, 1));
    Loop(l_.I64(0), l_.I64(batch_), 1, [&](V matrix) {
      V at = Mul(matrix, l_.I64(n_ * n_));
      factor_ = At(factors, at);
      LLVMBuildMemCpy(l_.b, factor_, size(), At(a, at), size(), l_.I64(n_ * n_ * size()));
      Loop(l_.I64(0), l_.I64(n_), kPanelColumns, [&](V first) { FactorisePanel(first); });
      Finish();
    });
    LLVMBuildRetVoid(l_.b);
    return f;
  }

 private:
  V Element(V i, V j) { return At(factor_, Add(Mul(i, l_.I64(n_)), j)); }
  V NotANumber() { return LLVMConstReal(Sum(), std::numeric_limits<double>::quiet_NaN()); }

  void FactorisePanel(V first) {
    V width = Left(first, n_, kPanelColumns), end = Add(first, width), height = Sub(l_.I64(n_), first);
    Call(panel_,
         {Element(first, first), l_.I64(n_), height, width, LLVMConstNull(l_.ptr()), blocks_.scratch(kBlockElements)});
    Loop(end, l_.I64(n_), columns_, [&](V n0) {
      V n = Left(n0, n_, columns_);
      PackNegative(Sub(n0, first), width, n, height);
      Loop(n0, l_.I64(n_), kRows, [&](V m0) {
        V m = Left(m0, n_, kRows);
        blocks_.PackRows({factor_, n_, n_}, m0, m, first, width);
        blocks_.Cells(
            {blocks_.packed(), blocks_.panels(), Element(m0, n0), l_.I64(n_), m, n, width, l_.I64(1), Sub(m0, n0)});
      });
    });
  }
  // The negative, since cells add, of rows [row, row + n) of the panel as panels [width][columns of a cell] of the
  // right operand, the last of which reaches into the room after the panel's columns.
  void PackNegative(V row, V width, V n, V height) {
    V stride = EmitPanelStride(l_, height);
    Loop(l_.I64(0), n, width_, [&](V j) {
      V to = At(blocks_.panels(), Mul(j, width)), from = At(blocks_.scratch(kBlockElements), Add(row, j));
      Loop(l_.I64(0), width, 1, [&](V step) {
        for (int64_t v = 0; v < width_; v += l_.lanes) {
          V found = LoadVector(At(from, Add(Mul(step, stride), l_.I64(v))));
          Store(LLVMBuildFNeg(l_.b, found, ""), At(to, Add(Mul(step, l_.I64(width_)), l_.I64(v))));
        }
      });
    });
  }
  void Finish() {
    V last = Load(Element(l_.I64(n_ - 1), l_.I64(n_ - 1))), one = l_.I64(1);
    Loop(l_.I64(0), l_.I64(n_), 1,
         [&](V i) { Loop(Add(i, one), l_.I64(n_), 1, [&](V j) { Store(LLVMConstNull(Sum()), Element(i, j)); }); });
    If(LLVMBuildFCmp(l_.b, LLVMRealUNO, last, last, ""), [&] {
      Loop(l_.I64(0), l_.I64(n_), 1,
           [&](V i) { Loop(l_.I64(0), Add(i, one), 1, [&](V j) { Store(NotANumber(), Element(i, j)); }); });
    });
  }

  const int64_t n_, batch_;
  BlockCode blocks_;
  V panel_, factor_ = nullptr;
};

}  // namespace

bool PlanCholesky(const ricci_op* op, Cholesky& c) {
  cpu::Array a;
  if (!cpu::ReadType(op, op->in_types[0], a) || a.dims.size() < 2) return false;
  if (a.dtype != RICCI_F32 && a.dtype != RICCI_F64) return false;
  c.type = a.dtype == RICCI_F64 ? cpu::GemmType::kF64 : cpu::GemmType::kF32;
  c.n = a.dims.back();
  for (size_t i = 0; i + 2 < a.dims.size(); ++i) c.batch *= a.dims[i];
  return c.batch > 0 && c.n >= (c.batch < kBatch ? kSmallest : kSmallestBatch) && c.n <= kLargest;
}

uint64_t CholeskyFlops(const Cholesky& c) {
  return static_cast<uint64_t>(c.batch * c.n) * static_cast<uint64_t>(c.n * c.n) / 3;
}

uint64_t CholeskyScratch(const Cholesky& c) {
  return static_cast<uint64_t>((kBlockElements + kPanelColumns * PanelStride(c.n)) * cpu::SizeOf(c.type) + 63) / 64 *
         64;
}

LLVMValueRef EmitCholesky(const LlvmBuilder& l, const Cholesky& c, const Processor& processor,
                          const std::string& name) {
  return CholeskyEmitter(l, c, processor).Emit(name);
}

}  // namespace ricci::object
