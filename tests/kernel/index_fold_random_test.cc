// The index simplifier against naive evaluation: random expressions over loop indices, written once through the Writer
// and evaluated once operation by operation, must agree at every point.
#include <gtest/gtest.h>

#include <random>

#include "kernel/scalar/scalar_eval.h"
#include "kernel/writer.h"

namespace ricci::kernel { namespace {

struct Step {
  uint32_t op, dtype;  // op 0: loop index `a`, 1000: constant `bits`
  size_t a = 0, b = 0, c = 0;
  uint64_t bits = 0;
};
constexpr uint32_t kIndexOp = 0, kConstantOp = 1000;

class RandomExpression {
 public:
  RandomExpression(uint32_t seed, Writer& w) : random_(seed), w_(w) {}

  void AddIndex(size_t dim, Val v) { Push({kIndexOp, RICCI_I64, dim}, v); }

  void Grow(int n) {
    for (int i = 0; i < n; ++i) GrowOne();
  }

  size_t size() const { return steps_.size(); }
  Val ValueAt(size_t i) const { return values_[i]; }
  uint32_t DTypeAt(size_t i) const { return steps_[i].dtype; }
  size_t LastOf(uint32_t dtype) const {
    for (size_t i = steps_.size(); i-- > 0;) {
      if (steps_[i].dtype == dtype) return i;
    }
    return 0;
  }

  std::vector<uint64_t> Evaluate(const std::vector<int64_t>& point) const {
    std::vector<uint64_t> v(steps_.size());
    for (size_t i = 0; i < steps_.size(); ++i) {
      const Step& s = steps_[i];
      if (s.op == kIndexOp) {
        v[i] = static_cast<uint64_t>(point[s.a]);
      } else if (s.op == kConstantOp) {
        v[i] = s.bits;
      } else {
        const size_t last = InfoOf(s.op).arity == 3 ? s.c : InfoOf(s.op).arity == 2 ? s.b : s.a;
        v[i] = FindScalarFn(s.op, steps_[last].dtype, s.dtype)(v[s.a], v[s.b], v[s.c]);
      }
    }
    return v;
  }

 private:
  uint32_t Below(uint32_t n) { return std::uniform_int_distribution<uint32_t>(0, n - 1)(random_); }
  void Push(Step s, Val v) {
    steps_.push_back(s);
    values_.push_back(v);
  }
  // A recent value of the dtype, or a new constant.
  size_t Pick(uint32_t dtype) {
    for (int attempt = 0; attempt < 12; ++attempt) {
      const size_t i = steps_.size() - 1 - Below(static_cast<uint32_t>(std::min<size_t>(steps_.size(), 14)));
      if (steps_[i].dtype == dtype) return i;
    }
    return Constant(dtype);
  }
  size_t Constant(uint32_t dtype) {
    static constexpr int64_t kUseful[] = {0, 1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 64, -1, -2, -8, 100, INT64_MAX};
    const uint64_t bits = EncodeInteger(dtype, kUseful[Below(dtype == RICCI_BOOL ? 2 : 18)]);
    Push({kConstantOp, dtype, 0, 0, 0, bits}, w_.Const(dtype, bits));
    return steps_.size() - 1;
  }
  void Emit(uint32_t op, uint32_t requested, size_t a, size_t b = 0, size_t c = 0) {
    const Val in[] = {values_[a], values_[b], values_[c]};
    const Val v = w_.Scalar(op, requested, {in, InfoOf(op).arity});
    ASSERT_TRUE(w_.ok()) << w_.status();
    Push({op, w_.DType(v), a, b, c}, v);
  }
  void GrowOne() {
    const uint32_t dtype = Below(4) == 0 ? RICCI_I32 : RICCI_I64;
    static constexpr uint32_t kBinary[] = {RICCI_S_ADD, RICCI_S_ADD, RICCI_S_SUB, RICCI_S_SUB, RICCI_S_MIN,
                                           RICCI_S_MAX, RICCI_S_AND, RICCI_S_SHL, RICCI_S_SHR, RICCI_S_SAR};
    static constexpr uint32_t kCompare[] = {RICCI_S_EQ, RICCI_S_NE, RICCI_S_LT, RICCI_S_LE, RICCI_S_GT, RICCI_S_GE};
    static constexpr uint32_t kByConstant[] = {RICCI_S_MUL, RICCI_S_DIV, RICCI_S_REM};
    const size_t x = Pick(dtype);
    switch (Below(10)) {
      case 0:
      case 1:
        return Emit(kBinary[Below(10)], 0, x, Pick(dtype));
      case 2:
        return Emit(RICCI_S_ADD, 0, x, Pick(dtype));
      case 3:
      case 4:
      case 5:
        return Emit(kByConstant[Below(3)], 0, x, Constant(dtype));
      case 6:
        return Emit(kCompare[Below(6)], 0, x, Pick(dtype));
      case 7:
        return Emit(RICCI_S_SELECT, 0, Pick(RICCI_BOOL), x, Pick(dtype));
      case 8:
        return Emit(RICCI_S_CONVERT, dtype == RICCI_I32 ? RICCI_I64 : RICCI_I32, x);
      default:
        return Emit(kByConstant[Below(3)], 0, x, Pick(dtype));
    }
  }

  std::mt19937 random_;
  Writer& w_;
  std::vector<Step> steps_;
  std::vector<Val> values_;
};

constexpr int64_t kExtents[] = {3, 4, 6};
constexpr int64_t kPoints = 3 * 4 * 6;

// Stores an i64 and a branch on a bool; in the branches more of the expression is written under the facts known there.
void CheckSeed(uint32_t seed) {
  Writer w("random");
  const uint32_t out = w.Buffer(RICCI_I64, kPoints, RICCI_ACCESS_WRITE);
  const uint32_t then_out = w.Buffer(RICCI_I64, kPoints, RICCI_ACCESS_WRITE);
  Val index[3];
  w.Parallel(kExtents, index);
  RandomExpression e(seed, w);
  for (size_t d = 0; d < 3; ++d) e.AddIndex(d, index[d]);
  e.Grow(12);
  const Val flat = w.Linear(index, {{24, 6, 1}});
  const size_t condition = e.LastOf(RICCI_BOOL);
  w.Store(out, flat, e.ValueAt(e.LastOf(RICCI_I64)));
  const size_t before = e.LastOf(RICCI_I64);
  size_t inside = before;
  if (e.DTypeAt(condition) == RICCI_BOOL) {
    w.If(e.ValueAt(condition));
    e.Grow(8);
    inside = e.LastOf(RICCI_I64);
    w.Store(then_out, flat, e.ValueAt(inside));
    w.Else();
    w.Store(then_out, flat, w.Index(-77));
    w.End();
  }
  w.End();
  const absl::StatusOr<Kernel> k = w.Finish();
  ASSERT_TRUE(k.ok()) << k.status();
  std::vector<int64_t> got(kPoints), got_then(kPoints);
  void* const buffers[] = {got.data(), got_then.data()};
  const absl::Status run = Interpret(k->View(), buffers);
  ASSERT_TRUE(run.ok()) << run << "\n" << ToText(*k);
  for (int64_t p = 0; p < kPoints; ++p) {
    const std::vector<uint64_t> v = e.Evaluate({p / 24, p / 6 % 4, p % 6});
    ASSERT_EQ(got[p], static_cast<int64_t>(v[before])) << "seed " << seed << " point " << p << "\n" << ToText(*k);
    if (e.DTypeAt(condition) != RICCI_BOOL) continue;
    const int64_t want = v[condition] ? static_cast<int64_t>(v[inside]) : -77;
    ASSERT_EQ(got_then[p], want) << "seed " << seed << " in branch, point " << p << "\n" << ToText(*k);
  }
}

TEST(IndexFold, RandomExpressionsAgreeWithNaiveEvaluation) {
  for (uint32_t seed = 0; seed < 20000 && !testing::Test::HasFatalFailure(); ++seed) CheckSeed(seed);
}

}  // namespace
}  // namespace ricci::kernel
