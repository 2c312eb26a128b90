// index and updates with lists of items of several axes, against NumPy.
#include "binding_fixture.h"

namespace ricci::testing { namespace {

using IndexLists = BindingTest;

TEST_F(IndexLists, UpdatesOfSeveralAxes) {
  const Array x = Count({3, 4});
  const auto on = [&](auto f) { return jit(f)(x); };
  ExpectClose(on([](Value v) { return set_at(v, {0, 1}, -1.0); }), {1, -1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  ExpectClose(on([](Value v) {
                return set_at(v, {Slice{1, {}}, Slice{0, 2}}, 0);
              }),
              {1, 2, 3, 4, 0, 0, 7, 8, 0, 0, 11, 12});
  ExpectClose(on([](Value v) { return set_at(v, {kEllipsis, -1}, 0.0); }), {1, 2, 3, 0, 5, 6, 7, 0, 9, 10, 11, 0});
  ExpectClose(on([](Value v) { return set_at(v, {kAll}, 1); }), Floats(12, 1));
  const auto with = [&](auto f, const Array& i, const Array& j, const Array& u) { return jit(f)(x, i, j, u); };
  const Array i(ctx, {0, 2}), j(ctx, {1, 3}), same(ctx, {1, 1});
  ExpectClose(with(
                  [](Value v, Value i, Value j, Value u) {
                    return set_at(v, {i, j}, u);
                  },
                  i, j, Vec({-1, -2})),
              {1, -1, 3, 4, 5, 6, 7, 8, 9, 10, 11, -2});
  ExpectClose(with(
                  [](Value v, Value i, Value j, Value u) {
                    return add_at(v, {0, j}, u[0]) + 0 * i[0];
                  },
                  i, same, Vec({10, 0})),
              {1, 22, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  ExpectClose(with(
                  [](Value v, Value, Value, Value u) {
                    return set_at(v, {kAll, 2}, u);
                  },
                  i, j, Vec({7, 8, 9})),
              {1, 2, 7, 4, 5, 6, 8, 8, 9, 10, 9, 12});
  ExpectClose(with(
                  [](Value v, Value, Value, Value u) {
                    return set_at(v, {Slice{{}, {}, -2}, 0}, u);
                  },
                  i, j, Vec({5, 6})),
              {6, 2, 3, 4, 5, 6, 7, 8, 5, 10, 11, 12});
  ExpectClose(with(
                  [](Value v, Value, Value, Value u) {
                    return mul_at(v, {1, kAll}, u);
                  },
                  i, j, Vec({1, 2, 3, 4})),
              {1, 2, 3, 4, 5, 12, 21, 32, 9, 10, 11, 12});
  ExpectClose(with(
                  [](Value v, Value i, Value, Value u) {
                    return sub_at(v, {i, 0}, u);
                  },
                  i, j, Vec({1, 2})),
              {0, 2, 3, 4, 5, 6, 7, 8, 7, 10, 11, 12});
  ExpectClose(with(
                  [](Value v, Value i, Value j, Value) {
                    return max_at(min_at(v, {i, j}, 0), {0, 0}, 9);
                  },
                  i, j, i),
              {9, 0, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0});
  // A traced scalar with a slice; a negative one counts from the end, one out of bounds changes nothing.
  const auto row = [](Value v, Value k) { return set_at(v, {k, Slice{1, 3}}, 0); };
  ExpectClose(jit(row)(x, -1), {1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 12});
  ExpectClose(jit(row)(x, 3), {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  // The derivative of a replaced element is zero.
  ExpectClose(grad([](Value v) { return sum(set_at(v * v, {1, 2}, v[0][0])); })(Count({2, 3})), {3, 4, 6, 8, 10, 0});
}

TEST_F(IndexLists, ArraysAmongTheIndices) {
  const Array x = Count({2, 3, 4}), i(ctx, {0, 2, 1}), j(ctx, {3, 0, 1});
  const auto with = [&](auto f) { return jit(f)(x, i, j); };
  ExpectClose(with([](Value v, Value i, Value j) { return index(v, {kAll, i, j}); }), {4, 9, 6, 16, 21, 18});
  const Array apart = with([](Value v, Value i, Value) { return index(v, {1, kAll, i}); });
  EXPECT_EQ(ShapeOfArray(apart), (Shape{3, 3}));
  ExpectClose(apart, {13, 17, 21, 15, 19, 23, 14, 18, 22});
  const Array rows = with([](Value v, Value i, Value) { return index(v, {0, i}); });
  EXPECT_EQ(ShapeOfArray(rows), (Shape{3, 4}));
  ExpectClose(rows, {1, 2, 3, 4, 9, 10, 11, 12, 5, 6, 7, 8});
}

TEST_F(IndexLists, NarrowIndices) {
  // i8 does not hold the size of the axis, from which a negative index counts.
  const Array x = Count({300}), i(ctx, std::vector<int8_t>{-1, 5});
  ExpectClose(jit([](Value v, Value k) { return take(v, k); })(x, i), {300, 6});
  ExpectClose(jit([](Value v, Value k) { return v[k]; })(x, i), {300, 6});
}

TEST_F(IndexLists, ExtremeSlices) {
  const Array x = Count({3});
  const auto of = [&](Slice s) { return jit([s](Value v) { return index(v, {s}); })(x); };
  ExpectClose(of({{}, {}, INT64_MAX}), {1});
  ExpectClose(of({{}, {}, INT64_MIN}), {3});
  ExpectClose(of({INT64_MIN, INT64_MAX, 2}), {1, 3});
  ExpectClose(of({INT64_MAX, INT64_MIN, -1}), {3, 2, 1});
}

TEST_F(IndexLists, Errors) {
  const Array x = Count({2, 3});
  const auto on = [&](auto f) { return jit(f)(x); };
  EXPECT_ERROR_HERE(on([](Value v) {
                      return set_at(v, {0, 3}, 0);
                    }),
                    "set_at: index 3 is out of range for axis 1 of f32[2,3]");
  EXPECT_ERROR_HERE(on([](Value v) { return set_at(v, {0, 0, 0}, 0); }), "set_at: 3 indices for f32[2,3]");
  EXPECT_ERROR_HERE(on([](Value v) {
                      return add_at(v, {0, kAll}, ones(v, {2}));
                    }),
                    "add_at: updates of shape [2] do not broadcast to [3], the shape of the elements");
  EXPECT_ERROR_HERE(on([](Value v) {
                      return set_at(v, {v, 0}, 0);
                    }),
                    "set_at: the index is f32[2,3]; it must be an integer");
  EXPECT_ERROR_HERE(on([](Value v) {
                      return set_at(v, {kNewAxis, 0}, 0);
                    }),
                    "set_at: kNewAxis names no element; leave it out");
  EXPECT_ERROR_HERE(on([](Value v) {
                      return index(v, {kEllipsis, 0, kEllipsis});
                    }),
                    "index: kEllipsis occurs 2 times; it may occur once");
}

}  // namespace
}  // namespace ricci::testing
