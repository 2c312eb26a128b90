// Values of reductions over windows and by programs in edge cases: ties, NaN, windows without an element, huge windows,
// and the functions of the binding for them.
#include <gtest/gtest.h>

#include <limits>

#include "lax/traced_function.h"

namespace ricci::testing { namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

class WindowValues : public ::testing::Test {
 protected:
  // Result 0 of f on arrays of f64.
  Numbers Of(const std::vector<Shape>& shapes, const std::vector<Numbers>& inputs, const Function& f) {
    std::vector<ArrayType> types;
    for (const Shape& s : shapes) types.push_back(bench_.Type(DType::kF64, s));
    return bench_.Run(bench_.Trace(types, f), inputs).at(0);
  }
  static void ExpectSame(const Numbers& got, const Numbers& want) {
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_TRUE(got[i] == want[i] || (std::isnan(got[i]) && std::isnan(want[i])))
          << "element " << i << " is " << got[i] << ", not " << want[i];
    }
  }
  // The program (a, b) -> f(a, b) of two scalars.
  Program Pairwise(DType dtype, const Function& f) { return bench_.Trace({2, bench_.Type(dtype, {})}, f); }
  Bench bench_;
};

TEST_F(WindowValues, Pooling) {
  const Shape two = {2, 2};
  const Numbers x = {1, 2, 5, 0, 3, 4, 1, 1, 0, 0, 2, 9, 0, 7, 2, 2};
  const auto pool = [&](auto op) {
    return Of({{4, 4}}, {x}, [&](const Values& in) { return Values{op(in[0], two, two, Dims{}, Dims{}, Dims{})}; });
  };
  ExpectSame(pool(lax::reduce_window_max), {4, 5, 7, 9});
  ExpectSame(pool(lax::reduce_window_min), {1, 0, 0, 2});
  ExpectSame(pool(lax::reduce_window_sum), {10, 7, 7, 15});
}

// The first of equal elements is chosen, after a NaN whatever follows, and never an infinity that nothing is beyond.
TEST_F(WindowValues, ChosenElements) {
  const Shape two = {2};
  const Numbers x = {1, 1, kNan, 0, -kInf, -kInf, kNan}, ones(6, 1);
  ExpectSame(Of({{7}, {7}}, {{1, 2, 3, 4, 5, 6, 7}, x},
                [&](const Values& in) { return Values{lax::select_and_gather_add(in[0], in[1], "ge", two)}; }),
             {1, 3, 4, 4, 0, 7});
  ExpectSame(Of({{6}, {7}}, {ones, x},
                [&](const Values& in) { return Values{lax::select_and_scatter_add(in[0], in[1], "ge", two)}; }),
             {1, 0, 1, 2, 0, 0, 1});
}

TEST_F(WindowValues, NoElement) {
  const Shape one = {1}, padding = {1, 1};
  const auto padded = [&](auto op) {
    return Of({{1}}, {{3}}, [&](const Values& in) { return Values{op(in[0], one, one, padding, Dims{}, Dims{})}; });
  };
  ExpectSame(padded(lax::reduce_window_sum), {0, 3, 0});
  ExpectSame(padded(lax::reduce_window_max), {-kInf, 3, -kInf});
  ExpectSame(padded(lax::reduce_window_min), {kInf, 3, kInf});
}

// A window costs no more than the elements in it.
TEST_F(WindowValues, HugeWindow) {
  const Shape window = {int64_t{1} << 50}, padding = {window[0] - 1, 0};
  ExpectSame(Of({{3}}, {{1, 2, 4}},
                [&](const Values& in) { return Values{lax::reduce_window_sum(in[0], window, {}, padding)}; }),
             {1, 3, 7});
}

TEST_F(WindowValues, ByProgram) {
  const Program larger = Pairwise(DType::kF64, [](const Values& in) { return Values{lax::max(in[0], in[1])}; });
  const Program either = Pairwise(
      DType::kF64, [](const Values& in) { return Values{lax::sub(lax::add(in[0], in[1]), lax::mul(in[0], in[1]))}; });
  const Shape all = {0}, two = {2};
  for (const auto& [program, want] : {std::pair(larger, Numbers{0.75}), std::pair(either, Numbers{0.9375})}) {
    ricci_program* f = program.get();
    ExpectSame(Of({{3}, {}}, {{0.5, 0.75, 0.5}, {0}},
                  [&](const Values& in) {
                    return lax::reduce({&in[0], 1}, {&in[1], 1}, f, all);
                  }),
               want);
  }
  ricci_program* f = either.get();
  ExpectSame(Of({{3}, {}}, {{0.5, 0.75, 0.5}, {0}},
                [&](const Values& in) {
                  return lax::reduce_window({&in[0], 1}, {&in[1], 1}, f, two);
                }),
             {0.875, 0.875});
}

// (a, b) is x -> a x + b, and these are composed in order. A batch of initial values goes another way.
TEST_F(WindowValues, AnAssociativeProgramNeedNotCommute) {
  const ArrayType scalar = bench_.Type(DType::kF64, {}), seven = bench_.Type(DType::kF64, {7});
  const Program then = bench_.Trace({4, scalar}, [](const Values& in) {
    return Values{lax::mul(in[0], in[2]), lax::add(lax::mul(in[1], in[2]), in[3])};
  });
  ricci_program* f = then.get();
  const Shape all = {0}, window = {5};
  const Program both = bench_.Trace({seven, seven, scalar, scalar}, [&](const Values& in) {
    Values out = lax::reduce({&in[0], 2}, {&in[2], 2}, f, all);
    for (const Value& v : lax::reduce_window({&in[0], 2}, {&in[2], 2}, f, window)) out.push_back(v);
    return out;
  });
  const std::vector<Numbers> x = {{1, 2, -1, 3, 2, -2, 1}, {3, 1, 4, 1, 5, 9, 2}};
  const uint8_t batched[] = {0, 0, 1, 1};
  uint8_t out[] = {1, 1, 1, 1};
  ricci_program* raw = nullptr;
  Check(ricci_batch(both.get(), batched, 4, 2, nullptr, out, &raw));
  const std::vector<Numbers> got = bench_.Run(Own(raw), {x[0], x[1], {2, -3}, {5, 7}});
  for (size_t k = 0; k < 2; ++k) {
    const std::vector<Numbers> want = bench_.Run(both, {x[0], x[1], {Numbers{2, -3}[k]}, {Numbers{5, 7}[k]}});
    for (size_t i = 0; i < want.size(); ++i) {
      const size_t n = want[i].size();
      ExpectSame(Numbers(got[i].begin() + k * n, got[i].begin() + (k + 1) * n), want[i]);
    }
  }
}

TEST_F(WindowValues, CandidatesAndGroups) {
  ExpectSame(Of({{5}}, {{3, 1, kNan, 4, 1}},
                [](const Values& in) { return lax::approx_top_k(in[0], 5, 0, {.is_max_k = false}); }),
             {1, 1, 3, 4, kNan});
  // The last row is in no group.
  ExpectSame(Of({{4, 1}, {2, 1, 1}}, {{1, 2, 3, 4}, {10, 100}},
                [&](const Values& in) {
                  const Value sizes = lax::full(in[0].builder, Shape{2}, DType::kI32, 1);
                  const Value last = lax::iota(in[0].builder, DType::kI32, Shape{2}, 0);
                  return Values{lax::ragged_dot_general(in[0], in[1], lax::add(sizes, last),
                                                        {{.lhs_contract = {1}, .rhs_contract = {1}}, {0}, {0}})};
                }),
             {10, 200, 300, 0});
}

}}  // namespace ricci::testing
