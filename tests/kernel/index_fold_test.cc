// The identities that index_fold.h names, one test each: that it applies, and that what it gives is what operation by
// operation gives, at every point of small ranges and of ranges at the ends of i32 and i64.
#include <gtest/gtest.h>

#include <map>

#include "kernel/index_fold.h"
#include "kernel/scalar/scalar_eval.h"

namespace ricci::kernel { namespace {

constexpr uint32_t kDTypes[] = {RICCI_I32, RICCI_I64};

// Expressions as the folder writes them, and their values.
class Folded {
 public:
  using T = Val;
  explicit Folded(uint32_t dtype) : dtype_(dtype) {}

  Val Operand(Range r) {
    const Val v = table_.Append({RICCI_K_LOAD, static_cast<uint16_t>(dtype_), 0, 0, 0, 0});
    table_.Narrow(v, r);
    return v;
  }
  Val Constant(int64_t v) { return table_.Integer(dtype_, v); }
  Val Add(Val x, Val y) { return fold_.Add(x, y); }
  Val Sub(Val x, Val y) { return fold_.Sub(x, y); }
  Val Mul(Val x, Val y) { return fold_.Mul(x, y); }
  Val Div(Val x, Val y) { return fold_.Div(x, y); }
  Val Rem(Val x, Val y) { return fold_.Rem(x, y); }
  std::optional<bool> Decide(uint32_t op, Val x, Val y) { return fold_.Decide(op, x, y); }

  const Node& operator[](Val v) const { return table_[v]; }
  Range RangeOf(Val v) const { return table_.RangeOf(v); }
  int64_t Value(Val v, const std::map<Val, int64_t>& point) const {
    if (const auto at = point.find(v); at != point.end()) return at->second;
    if (const auto c = table_.IntegerOf(v)) return *c;
    const ricci_inst& i = table_[v].inst;
    const auto bits = [&](Val operand) { return operand == 0 ? 0 : EncodeInteger(dtype_, Value(operand, point)); };
    return DecodeInteger(dtype_, FindScalarFn(i.op, dtype_, dtype_)(bits(i.a), bits(i.b), 0));
  }

 private:
  uint32_t dtype_;
  NodeTable table_;
  IndexFolder fold_{table_};
};

// The same, operation by operation.
class Naive {
 public:
  using T = int64_t;
  explicit Naive(uint32_t dtype) : dtype_(dtype) {}
  int64_t Constant(int64_t v) const { return v; }
  int64_t Add(int64_t x, int64_t y) const { return Apply(RICCI_S_ADD, x, y); }
  int64_t Sub(int64_t x, int64_t y) const { return Apply(RICCI_S_SUB, x, y); }
  int64_t Mul(int64_t x, int64_t y) const { return Apply(RICCI_S_MUL, x, y); }
  int64_t Div(int64_t x, int64_t y) const { return Apply(RICCI_S_DIV, x, y); }
  int64_t Rem(int64_t x, int64_t y) const { return Apply(RICCI_S_REM, x, y); }

 private:
  int64_t Apply(uint32_t op, int64_t x, int64_t y) const {
    return DecodeInteger(dtype_,
                         FindScalarFn(op, dtype_, dtype_)(EncodeInteger(dtype_, x), EncodeInteger(dtype_, y), 0));
  }
  uint32_t dtype_;
};

// Of few values each: around zero, and at the ends of the dtype.
std::vector<Range> RangesOf(uint32_t dtype) {
  const auto [min, max] = WidestRange(dtype);
  return {{0, 6}, {-4, 3}, {-6, -1}, {5, 9}, {max / 2 - 2, max / 2 + 2}, {max - 3, max}, {min, min + 3}};
}
std::vector<int64_t> ConstantsOf(uint32_t dtype) {
  const auto [min, max] = WidestRange(dtype);
  return {1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -6, max / 4 + 1, max / 2, max / 2 + 1, max - 1, max, min, min + 1};
}

// `expression(k, x, y)` of two operands has the same values folded and not, at every point of the ranges.
template <typename Expression>
void ExpectSameValues(uint32_t dtype, Range xs, Range ys, Expression expression) {
  Folded folded(dtype);
  Naive naive(dtype);
  const Val x = folded.Operand(xs), y = folded.Operand(ys), v = expression(folded, x, y);
  const Range range = folded.RangeOf(v);
  // Counted from the begin: the end may be the largest number there is.
  for (int64_t i = 0; i <= xs.max - xs.min; ++i) {
    for (int64_t j = 0; j <= ys.max - ys.min; ++j) {
      const std::map<Val, int64_t> point = {{x, xs.min + i}, {y, ys.min + j}};
      const int64_t want = expression(naive, xs.min + i, ys.min + j);
      ASSERT_EQ(folded.Value(v, point), want) << "dtype " << dtype << " x " << xs.min + i << " y " << ys.min + j;
      ASSERT_LE(range.min, want);
      ASSERT_GE(range.max, want);
    }
  }
}
// For all ranges, and all constants c and d.
template <typename Expression>
void ExpectSameValuesEverywhere(Expression expression) {
  for (const uint32_t dtype : kDTypes) {
    for (const Range xs : RangesOf(dtype)) {
      for (const Range ys : RangesOf(dtype)) {
        for (const int64_t c : ConstantsOf(dtype)) {
          for (const int64_t d : ConstantsOf(dtype)) {
            ExpectSameValues(dtype, xs, ys, [&](auto& k, auto x, auto y) {
              return expression(k, x, y, k.Constant(c), k.Constant(d));
            });
            if (testing::Test::HasFatalFailure()) return (void)(ADD_FAILURE() << "constants " << c << ", " << d);
          }
        }
      }
    }
  }
}

// Two small operands that are not negative.
struct Small {
  explicit Small(uint32_t dtype, Range xs = {0, 50}, Range ys = {0, 50})
      : k(dtype), x(k.Operand(xs)), y(k.Operand(ys)) {}
  Val C(int64_t v) { return k.Constant(v); }
  Folded k;
  Val x, y;
};

TEST(IndexFold, SumsAndMultiplesOfForms) {
  for (const uint32_t dtype : kDTypes) {
    Small s(dtype, WidestRange(dtype), WidestRange(dtype));
    const Val sum = s.k.Add(s.k.Mul(s.x, s.C(3)), s.y);
    EXPECT_EQ(s.k.Sub(sum, s.y), s.k.Mul(s.x, s.C(3)));
    EXPECT_EQ(s.k.Sub(sum, sum), s.C(0));
    EXPECT_EQ(s.k.Mul(s.k.Add(s.x, s.C(2)), s.C(5)), s.k.Add(s.k.Mul(s.x, s.C(5)), s.C(10)));
    EXPECT_EQ(s.k.Sub(s.k.Mul(s.x, s.C(4)), s.k.Mul(s.x, s.C(3))), s.x);
  }
  ExpectSameValuesEverywhere([](auto& k, auto x, auto y, auto c, auto d) {
    return k.Sub(k.Mul(k.Add(k.Mul(x, c), y), d), k.Add(k.Mul(y, c), d));
  });
  ExpectSameValuesEverywhere([](auto& k, auto x, auto y, auto c, auto d) { return k.Mul(k.Add(k.Sub(x, y), c), d); });
}

TEST(IndexFold, QuotientOfAMultipleAndARest) {
  for (const uint32_t dtype : kDTypes) {
    for (const int64_t c : {2, 3, 7, 8}) {
      Small s(dtype);
      const Val v = s.k.Add(s.k.Mul(s.x, s.C(c)), s.y);
      EXPECT_EQ(s.k.Div(v, s.C(c)), s.k.Add(s.x, s.k.Div(s.y, s.C(c)))) << c;
    }
    Small below(dtype, {0, 50}, {0, 6});
    EXPECT_EQ(below.k.Div(below.k.Add(below.k.Mul(below.x, below.C(7)), below.y), below.C(7)), below.x);
  }
  ExpectSameValuesEverywhere(
      [](auto& k, auto x, auto y, auto c, auto d) { return k.Div(k.Add(k.Add(k.Mul(x, c), y), d), c); });
}

TEST(IndexFold, RemainderOfAMultipleAndARest) {
  for (const uint32_t dtype : kDTypes) {
    for (const int64_t c : {2, 3, 7, 8}) {
      Small s(dtype);
      const Val v = s.k.Add(s.k.Mul(s.x, s.C(c)), s.y);
      EXPECT_EQ(s.k.Rem(v, s.C(c)), s.k.Rem(s.y, s.C(c))) << c;
      EXPECT_EQ(s.k.Rem(s.k.Mul(s.x, s.C(3 * c)), s.C(c)), s.C(0)) << c;
    }
    Small positive(dtype, {1, 50});
    const Val less =
        positive.k.Add(positive.k.Mul(positive.x, positive.C(7)), positive.k.Sub(positive.y, positive.C(3)));
    EXPECT_EQ(positive.k.Rem(less, positive.C(7)),
              positive.k.Rem(positive.k.Add(positive.y, positive.C(4)), positive.C(7)));
  }
  ExpectSameValuesEverywhere(
      [](auto& k, auto x, auto y, auto c, auto d) { return k.Rem(k.Add(k.Add(k.Mul(x, c), y), d), c); });
}

TEST(IndexFold, QuotientByACommonDivisor) {
  for (const uint32_t dtype : kDTypes) {
    Small s(dtype, {0, 50}, {0, 3});
    const Val v = s.k.Add(s.k.Mul(s.x, s.C(4)), s.y);
    EXPECT_EQ(s.k.Div(v, s.C(12)), s.k.Div(s.x, s.C(3)));
    Small above(dtype, {0, 50}, {0, 4});  // the rest is not below the divisor
    const Val w = above.k.Add(above.k.Mul(above.x, above.C(4)), above.y);
    EXPECT_EQ(above.k[above.k.Div(w, above.C(12))].inst.a, w);
  }
  ExpectSameValuesEverywhere(
      [](auto& k, auto x, auto y, auto c, auto d) { return k.Div(k.Add(k.Mul(x, c), y), k.Mul(c, d)); });
}

TEST(IndexFold, RemainderByACommonDivisor) {
  for (const uint32_t dtype : kDTypes) {
    Small s(dtype, {0, 50}, {0, 3});
    const Val v = s.k.Add(s.k.Mul(s.x, s.C(4)), s.y);
    EXPECT_EQ(s.k.Rem(v, s.C(12)), s.k.Add(s.k.Mul(s.k.Rem(s.x, s.C(3)), s.C(4)), s.y));
    Small above(dtype, {0, 50}, {0, 4});
    const Val w = above.k.Add(above.k.Mul(above.x, above.C(4)), above.y);
    EXPECT_EQ(above.k[above.k.Rem(w, above.C(12))].inst.a, w);
  }
  ExpectSameValuesEverywhere(
      [](auto& k, auto x, auto y, auto c, auto d) { return k.Rem(k.Add(k.Mul(x, c), y), k.Mul(c, d)); });
}

TEST(IndexFold, QuotientOfAQuotient) {
  for (const uint32_t dtype : kDTypes) {
    Small s(dtype, {0, 1000});
    EXPECT_EQ(s.k.Div(s.k.Div(s.x, s.C(4)), s.C(6)), s.k.Div(s.x, s.C(24)));
  }
  ExpectSameValuesEverywhere([](auto& k, auto x, auto y, auto c, auto d) { return k.Div(k.Div(k.Add(x, y), c), d); });
}

TEST(IndexFold, QuotientOfARemainder) {
  for (const uint32_t dtype : kDTypes) {
    Small s(dtype, {0, 1000});
    EXPECT_EQ(s.k.Div(s.k.Rem(s.x, s.C(24)), s.C(4)), s.k.Rem(s.k.Div(s.x, s.C(4)), s.C(6)));
  }
  ExpectSameValuesEverywhere([](auto& k, auto x, auto y, auto c, auto d) { return k.Div(k.Rem(k.Add(x, y), c), d); });
}

TEST(IndexFold, RemainderOfARemainder) {
  for (const uint32_t dtype : kDTypes) {
    Small s(dtype, {0, 1000});
    EXPECT_EQ(s.k.Rem(s.k.Rem(s.x, s.C(24)), s.C(4)), s.k.Rem(s.x, s.C(4)));
    const Val other = s.k.Rem(s.x, s.C(25));  // no multiple
    EXPECT_EQ(s.k[s.k.Rem(other, s.C(4))].inst.a, other);
  }
  ExpectSameValuesEverywhere([](auto& k, auto x, auto y, auto c, auto d) { return k.Rem(k.Rem(k.Add(x, y), c), d); });
}

TEST(IndexFold, DigitsMerge) {
  for (const uint32_t dtype : kDTypes) {
    for (const int64_t m : {1, 3, -2}) {
      Small s(dtype, WidestRange(dtype));
      const Val high = s.k.Mul(s.k.Div(s.x, s.C(7)), s.C(7 * m)), low = s.k.Mul(s.k.Rem(s.x, s.C(7)), s.C(m));
      EXPECT_EQ(s.k.Add(high, low), s.k.Mul(s.x, s.C(m))) << m;
      EXPECT_EQ(s.k.Add(s.k.Add(low, s.y), high), s.k.Add(s.y, s.k.Mul(s.x, s.C(m)))) << m;
    }
    // Of digits of a digit: 6 (x / 24) + (x / 4) % 6 = x / 4.
    Small s(dtype, {0, 1000});
    const Val q = s.k.Div(s.x, s.C(4));
    EXPECT_EQ(s.k.Add(s.k.Mul(s.k.Div(q, s.C(6)), s.C(6)), s.k.Rem(q, s.C(6))), q);
  }
  ExpectSameValuesEverywhere([](auto& k, auto x, auto y, auto c, auto d) {
    const auto q = k.Add(x, y);
    return k.Add(k.Mul(k.Mul(k.Div(q, c), c), d), k.Mul(k.Rem(q, c), d));
  });
  ExpectSameValuesEverywhere([](auto& k, auto x, auto y, auto c, auto d) {
    const auto q = k.Div(k.Add(x, y), c);
    return k.Add(k.Mul(k.Div(q, d), d), k.Rem(q, d));
  });
  // Digits that do not belong together.
  ExpectSameValuesEverywhere([](auto& k, auto x, auto y, auto c, auto d) {
    const auto q = k.Add(x, y);
    return k.Add(k.Mul(k.Div(q, c), d), k.Rem(q, c));
  });
  ExpectSameValuesEverywhere([](auto& k, auto x, auto y, auto c, auto d) {
    const auto q = k.Add(x, y);
    return k.Add(k.Mul(k.Div(q, d), c), k.Rem(q, c));
  });
  ExpectSameValuesEverywhere([](auto& k, auto x, auto y, auto c, auto d) {
    const auto q = k.Add(x, y);
    return k.Add(k.Mul(k.Div(q, d), d), k.Rem(k.Div(q, c), d));
  });
}

// ---- comparisons ----
bool Holds(uint32_t op, int64_t x, int64_t y) {
  return op == RICCI_S_LT ? x < y : op == RICCI_S_LE ? x <= y : op == RICCI_S_EQ ? x == y : x != y;
}

// What is decided of x and y, and of x + c and x + y, holds at every point.
void ExpectTrueDecisions(uint32_t dtype, Range xs, Range ys, int64_t c) {
  Folded k(dtype);
  const Naive naive(dtype);
  const Val x = k.Operand(xs), y = k.Operand(ys), left = k.Add(x, k.Constant(c)), right = k.Add(x, y);
  for (const uint32_t op : {RICCI_S_LT, RICCI_S_LE, RICCI_S_EQ, RICCI_S_NE}) {
    const std::optional<bool> direct = k.Decide(op, x, y), of_sums = k.Decide(op, left, right);
    for (int64_t i = 0; i <= xs.max - xs.min; ++i) {
      for (int64_t j = 0; j <= ys.max - ys.min; ++j) {
        const int64_t a = xs.min + i, b = ys.min + j;
        const bool want = Holds(op, a, b), want_of_sums = Holds(op, naive.Add(a, c), naive.Add(a, b));
        ASSERT_EQ(direct.value_or(want), want) << op << ": " << a << ", " << b;
        ASSERT_EQ(of_sums.value_or(want_of_sums), want_of_sums) << op << ": " << a << ", " << b << " and " << c;
      }
    }
  }
}

TEST(IndexFold, ComparisonsByTheRangeOfTheDifference) {
  for (const uint32_t dtype : kDTypes) {
    Small s(dtype, {0, 50}, {0, 2});
    const Val more = s.k.Add(s.x, s.C(3)), more_or_less = s.k.Add(s.x, s.y);
    EXPECT_EQ(s.k.Decide(RICCI_S_LT, s.x, more), true);
    EXPECT_EQ(s.k.Decide(RICCI_S_LE, more, s.x), false);
    EXPECT_EQ(s.k.Decide(RICCI_S_LT, more_or_less, more), true);
    EXPECT_EQ(s.k.Decide(RICCI_S_LE, s.x, more_or_less), true);
    EXPECT_EQ(s.k.Decide(RICCI_S_LT, s.x, more_or_less), std::nullopt);
    EXPECT_EQ(s.k.Decide(RICCI_S_EQ, more, s.k.Add(s.x, s.C(3))), true);
    EXPECT_EQ(s.k.Decide(RICCI_S_NE, s.x, more), true);
    // A sum that wraps differs all the same, but may be less.
    Small wide(dtype, WidestRange(dtype));
    EXPECT_EQ(wide.k.Decide(RICCI_S_EQ, wide.x, wide.k.Add(wide.x, wide.C(3))), false);
    EXPECT_EQ(wide.k.Decide(RICCI_S_LT, wide.x, wide.k.Add(wide.x, wide.C(3))), std::nullopt);
    for (const Range xs : RangesOf(dtype)) {
      for (const Range ys : RangesOf(dtype)) {
        for (const int64_t c : ConstantsOf(dtype)) ExpectTrueDecisions(dtype, xs, ys, c);
      }
    }
  }
}

}  // namespace
}  // namespace ricci::kernel
