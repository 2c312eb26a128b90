// einsum: subscripts of every form, against numbers of NumPy and JAX; the order of products; wrong subscripts.
#include "binding_fixture.h"

namespace ricci::testing { namespace {

using Einsum = BindingTest;

TEST_F(Einsum, TwoOperands) {
  const Array a = Count({2, 3}), b = Count({3, 2}, 0.5f), v = Vec({1, -1, 2});
  const auto of = [](const char* s) { return jit([s](Value x, Value y) { return einsum(s, x, y); }); };
  ExpectClose(of("ij,jk->ik")(a, b), {11, 14, 24.5f, 32});
  ExpectClose(of("ij,jk")(a, b), {11, 14, 24.5f, 32});
  ExpectClose(of("ij , jk -> ki")(a, b), {11, 24.5f, 14, 32});
  ExpectClose(of("ij,ji->")(a, b), {43});
  ExpectClose(of("ij,ji")(a, b), {43});
  ExpectClose(of("ij,ji->i")(a, b), {11, 32});
  ExpectClose(of("ij,j->i")(a, v), {5, 11});
  ExpectClose(of("ij,j->ij")(a, v), {1, -2, 6, 4, -5, 12});
  ExpectClose(of("ba,a")(a, v), {5, 11});
  ExpectClose(of("i,j->ij")(v, v), {1, -1, 2, -1, 1, -2, 2, -2, 4});
  ExpectClose(of("Bi,i->B")(a, v), {5, 11});
  // Letters that only one operand has are summed.
  ExpectClose(of("ij,kl->k")(a, b), {31.5f, 73.5f, 115.5f});
  // Without `->` letters come in alphabetical order, capitals first.
  EXPECT_EQ(ShapeOfArray(of("ba,Ac")(a, b)), (Shape{3, 3, 2, 2}));
}

TEST_F(Einsum, OneOperand) {
  const Array a = Count({2, 3}), m = Count({3, 3}), t = Count({2, 2, 2});
  const auto of = [](const char* s, const Array& x) { return jit([s](Value v) { return einsum(s, v); })(x); };
  ExpectClose(of("ji", a), {1, 4, 2, 5, 3, 6});
  ExpectClose(of("ij->j", a), {5, 7, 9});
  ExpectClose(of("ij->", a), {21});
  ExpectClose(of("ii", m), {15});
  ExpectClose(of("ii->i", m), {1, 5, 9});
  ExpectClose(of("iij->ij", t), {1, 2, 7, 8});
  ExpectClose(of("iji->ij", t), {1, 3, 6, 8});
  ExpectClose(of("jii->ij", t), {1, 5, 4, 8});
  ExpectClose(of("iii", t), {9});
  ExpectClose(of("i...->...", a), {5, 7, 9});
  ExpectClose(of("...i->...", a), {6, 15});
  ExpectClose(of("...ii->...i", t), {1, 4, 5, 8});
  ExpectClose(of("...", a), {1, 2, 3, 4, 5, 6});
  ExpectInts(jit([](Value v) { return einsum("i->", v); })(Array(ctx, {1, 2, 3})), {6});
}

TEST_F(Einsum, EllipsesBroadcast) {
  const Array a = Count({2, 1, 2, 3}), b = Count({4, 3, 2});
  const auto of = [](const char* s) { return jit([s](Value x, Value y) { return einsum(s, x, y); }); };
  const Array y = of("...ij,...jk->...ik")(a, b);
  EXPECT_EQ(ShapeOfArray(y), (Shape{2, 4, 2, 2}));
  const Floats v = y.to_vector<float>();
  EXPECT_EQ((Floats{v[0], v[3], v[4], v[31]}), (Floats{22, 64, 58, 730}));
  EXPECT_EQ(of("...ij,...jk")(a, b).to_vector<float>(), v);
  EXPECT_EQ(ShapeOfArray(of("ij...,jk...->...ki")(Count({2, 3, 5}), Count({3, 4, 5}))), (Shape{5, 4, 2}));
  // The derivative of a broadcast dimension is summed.
  const Array g = jit(grad([](Value x, Value z) { return sum(einsum("...ij,...jk->...ik", x, z)); }))(a, b);
  EXPECT_EQ(ShapeOfArray(g), (Shape{2, 1, 2, 3}));
  EXPECT_EQ(g.to_vector<float>()[0], 3 + 15 + 27 + 39);
  // A letter of size 1 is repeated.
  ExpectClose(of("ij,ij->ij")(Count({2, 1}), Count({1, 2})), {1, 2, 2, 4});
  ExpectClose(of("ij,jk->ik")(Count({2, 1}), Count({2, 2})), {4, 6, 8, 12});
}

TEST_F(Einsum, SeveralOperandsInTheBestOrder) {
  const Array a = Count({2, 3}), b = Count({3, 4}), c = Count({4, 2});
  ExpectClose(jit([](Value x, Value y, Value z) { return einsum("ij,jk,kl->il", x, y, z); })(a, b, c),
              {812, 1000, 1838, 2260});
  ExpectClose(jit([](Value x, Value y, Value z) { return einsum("ij,jk,ki", x, y, z); })(a, b, c), {3072});
  ExpectClose(jit([](Value x) { return einsum("i,i,i->", x, x, x); })(Vec({1, 2, 3})), {36});
  // The vector goes first: every product has a vector in it, whatever the order in the text.
  const auto chain = [](Value m, Value v) { return einsum("ij,jk,kl,l->i", m, m, m, v); };
  const ShapeDType m{{100, 100}, DType::kF32}, v{{100}, DType::kF32};
  const std::string text = make_program(ctx, chain, m, v).text();
  EXPECT_EQ(text.find("f32[100,100] = dot_general"), std::string::npos) << text;
  // More operands than the exhaustive search takes.
  const auto many = [](Value x) { return einsum("ab,bc,cd,de,ef,fg,gh,hi,ij->aj", x, x, x, x, x, x, x, x, x); };
  ExpectClose(jit(many)(Mat(2, 2, {1, 1, 1, 0})), {55, 34, 34, 21});
}

TEST_F(Einsum, DtypesArePromoted) {
  const Array n(ctx, {1, 2}), x(ctx, {0.5, 1.5});
  const auto dot = jit([](Value a, Value b) { return einsum("i,i", a, b); });
  EXPECT_EQ(dot(n, x).item<double>(), 3.5);
  EXPECT_EQ(dot(n, n).item<int32_t>(), 5);
  EXPECT_TRUE(dot(Array(ctx, {true, true}), Array(ctx, {true, true})).item<bool>());
  EXPECT_FALSE(dot(Array(ctx, {true, false}), Array(ctx, {false, true})).item<bool>());
  ExpectClose(jit([](Value a) { return einsum("i,->i", a, 2.0); })(Vec({1, 2})), {2, 4});
}

TEST_F(Einsum, NestsInTransforms) {
  const Array a = Count({2, 3}), v = Vec({1, -1, 2});
  const auto f = [](Value x, Value y) { return einsum("ij,j->i", x, y); };
  ExpectClose(grad<1>([&](Value x, Value y) { return sum(f(x, y)); })(a, v), {5, 7, 9});
  ExpectClose(vmap([](Value x, Value y) { return einsum("i,i", x, y); }, {0, kUnbatched})(a, v), {5, 11});
  ExpectClose(jit(grad([](Value m) { return einsum("ii", m); }))(Count({2, 2})), {1, 0, 0, 1});
}

TEST_F(Einsum, Errors) {
  const Array a = Count({2, 3});
#define EXPECT_EINSUM(statement, text) \
  EXPECT_ERROR_HERE(jit([](Value x) { return statement; })(a), "einsum: subscripts " text)
  EXPECT_EINSUM(einsum("i->i", x), "\"i->i\": operand 0 has 2 dimensions and 1 letter");
  EXPECT_EINSUM(einsum("ijk...", x), "\"ijk...\": operand 0 has 2 dimensions, fewer than its letters");
  EXPECT_EINSUM(einsum("ij,jk", x), "\"ij,jk\": more lists than the 1 operand");
  EXPECT_EINSUM(einsum("ij", x, x), "\"ij\": 1 list for 2 operands");
  EXPECT_EINSUM(einsum("ij->k", x), "\"ij->k\": `k` of the result does not occur in any operand");
  EXPECT_EINSUM(einsum("ij->ii", x), "\"ij->ii\": `i` occurs twice in the result");
  EXPECT_EINSUM(einsum("i1", x), "\"i1\": `1` is not allowed there");
#undef EXPECT_EINSUM
  EXPECT_ERROR_HERE(jit([](Value x) { return einsum("ij,jk", x, x); })(a), "einsum: `j` runs over sizes 3 and 2");
  EXPECT_ERROR_HERE(jit([](Value x) { return einsum("ii", x); })(a),
                    "einsum: `i` of operand 0 runs over sizes 2 and 3");
}

}  // namespace
}  // namespace ricci::testing
