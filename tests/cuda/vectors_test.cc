// Points that a thread computes in groups (plugins/cuda/tile/vector.h): the same bytes as `ref`, whatever sizes, types
// and addresses are.
#include <gtest/gtest.h>

#include "cuda/same_bytes.h"

namespace ricci::testing { namespace {

class Vectors : public SameBytes {
 protected:
  // A body over lines of `n` elements, with parameters such as `%x: f32[n]`, where n is written as N.
  Program Over(int64_t n, std::string text) {
    for (size_t at; (at = text.find('N')) != text.npos;) text.replace(at, 1, std::to_string(n));
    return runner_.Parse(text);
  }
  // The text of the device's code holds `wanted`, or no groups if that is empty.
  void ExpectText(const Program& f, const std::string& wanted) {
    const std::string text = runner_.Dump(f, "native", "cuda");
    const bool found = text.find(wanted.empty() ? " points for a thread" : wanted) != text.npos;
    EXPECT_EQ(found, !wanted.empty()) << text;
  }
};

constexpr const char* kFused = R"(program f(%x: f32[N], %y: f32[N]) {
  %a: f32[N] = mul(%x, %y)
  %b: f32[N] = add(%a, %x)
  return %b
})";

TEST_F(Vectors, SizesThatGroupsDivideAndNot) {
  for (const int64_t n : {1 << 16, (1 << 16) + 1, (1 << 17) + 3}) {
    const Program f = Over(n, kFused);
    ExpectText(f, "// 4 points for a thread: 16 bytes at once of b0, b1, b2");
    ExpectSameBytes(f);
  }
  ExpectText(Over(1 << 14, kFused), "");  // too few for groups
}

TEST_F(Vectors, AddressesThatAreNotAligned) {
  for (const uint64_t shift : {1, 2, 4}) ExpectSameBytes(Over((1 << 16) + 1, kFused), {.shift = shift});
}

TEST_F(Vectors, ResultInTheMemoryOfAnArgument) {
  ExpectSameBytes(Over(1 << 16, kFused), {.donate = true});
  ExpectSameBytes(Over(1 << 16, kFused), {.shift = 1, .donate = true});
}

TEST_F(Vectors, TypesOfSeveralSizes) {
  const Program halves = Over((1 << 18) + 5, R"(program f(%x: bf16[N], %y: bf16[N]) {
  %a: bf16[N] = add(%x, %y)
  return %a
})");
  ExpectText(halves, "// 8 points for a thread: 16 bytes");
  ExpectSameBytes(halves);
  ExpectSameBytes(halves, {.shift = 1});
  const Program bytes = Over((1 << 18) + 17, R"(program f(%u: u8[N], %v: u8[N]) {
  %a: u8[N] = add(%u, %v)
  return %a
})");
  ExpectText(bytes, "// 16 points for a thread: 16 bytes");
  ExpectSameBytes(bytes);
  ExpectSameBytes(bytes, {.shift = 3});
  const Program mixed = Over(1 << 17, R"(program f(%p: bool[N], %x: f32[N], %y: bf16[N], %u: u8[N]) {
  %a: f32[N] = convert_element_type(%y) new_dtype=f32
  %b: f32[N] = convert_element_type(%u) new_dtype=f32
  %c: f32[N] = add(%a, %b)
  %d: f32[N] = select_n(%p, %x, %c)
  %e: bool[N] = gt(%d, %x)
  %g: u8[N] = add(%u, %u)
  return %d, %e, %g
})");
  ExpectText(mixed, "// 4 points for a thread: 16 bytes");
  ExpectSameBytes(mixed);
  ExpectSameBytes(mixed, {.shift = 4});
  const Program doubles = Over((1 << 16) + 1, R"(program f(%x: f64[N], %i: i32[N]) {
  %a: f64[N] = convert_element_type(%i) new_dtype=f64
  %b: f64[N] = mul(%x, %a)
  return %b
})");
  ExpectText(doubles, "// 2 points for a thread: 16 bytes");
  ExpectSameBytes(doubles);
}

TEST_F(Vectors, OperandsThatAreBroadcast) {
  const Program f = Over(128, R"(program f(%x: f32[1024,N], %c: f32[N], %r: f32[1024], %s: f32[]) {
  %a: f32[1024,N] = broadcast_in_dim(%c) shape=[1024,N] broadcast_dimensions=[1]
  %b: f32[1024,N] = broadcast_in_dim(%r) shape=[1024,N] broadcast_dimensions=[0]
  %d: f32[1024,N] = broadcast_in_dim(%s) shape=[1024,N] broadcast_dimensions=[]
  %e: f32[1024,N] = mul(%x, %a)
  %g: f32[1024,N] = add(%e, %b)
  %h: f32[1024,N] = sub(%g, %d)
  return %h
})");
  ExpectText(f, "// 4 points for a thread");
  ExpectSameBytes(f);
  ExpectSameBytes(f, {.shift = 1});
}

// All operands are one line: no division finds coordinates, and rows of any length are in groups.
TEST_F(Vectors, LinesOfSeveralDimensions) {
  const Program f = Over(3, R"(program f(%x: f32[129,257,N], %y: f32[129,257,N]) {
  %a: f32[129,257,N] = mul(%x, %y)
  %b: f32[129,257,N] = add(%a, %x)
  return %b
})");
  ExpectText(f, "// 4 points for a thread");
  EXPECT_EQ(runner_.Dump(f, "native", "cuda").find("p / "), std::string::npos);
  ExpectSameBytes(f);
}

// Rows of 128 are cut into groups; those of 129 are not, so coordinates are computed for each point.
TEST_F(Vectors, RowsThatGroupsDivideAndNot) {
  const std::string text = R"(program f(%x: f32[1024,N], %c: f32[N], %r: f32[1024]) {
  %a: f32[1024,N] = broadcast_in_dim(%c) shape=[1024,N] broadcast_dimensions=[1]
  %b: f32[1024,N] = broadcast_in_dim(%r) shape=[1024,N] broadcast_dimensions=[0]
  %d: f32[1024,N] = mul(%x, %a)
  %e: f32[1024,N] = add(%d, %b)
  return %e
})";
  for (const int64_t n : {128, 129, 130}) {
    const Program f = Over(n, text);
    ExpectText(f, "// 4 points for a thread: 16 bytes at once of ");
    EXPECT_EQ(runner_.Dump(f, "native", "cuda").find("(p + e)") == std::string::npos, n == 128);
    ExpectSameBytes(f);
    ExpectSameBytes(f, {.shift = 1});
  }
}

TEST_F(Vectors, OperandsInOtherOrders) {
  const Program f = Over(256, R"(program f(%x: f32[N,N], %y: f32[N,N], %z: f32[N,N], %w: f32[N,N]) {
  %a: f32[N,N] = rev(%y) dimensions=[0]
  %b: f32[N,N] = rev(%z) dimensions=[1]
  %c: f32[N,N] = transpose(%w) permutation=[1,0]
  %d: f32[N,N] = add(%x, %a)
  %e: f32[N,N] = add(%d, %b)
  %g: f32[N,N] = sub(%e, %c)
  return %g
})");
  ExpectText(f, "// 4 points for a thread");
  ExpectSameBytes(f);
}

// Parts that begin at a multiple of the group's points, and one that does not.
TEST_F(Vectors, PartsOfResults) {
  for (const char* shift : {"8", "3"}) {
    std::string text = R"(program f(%x: f32[512,N]) {
  %p: f32[512,CUT] = slice(%x) start_indices=[0,0] limit_indices=[512,CUT]
  %q: f32[512,REST] = slice(%x) start_indices=[0,CUT] limit_indices=[512,256]
  %r: f32[512,N] = concatenate(%q, %p) dimension=1
  %s: f32[512,N] = add(%r, %x)
  return %s
})";
    const auto put = [&](const std::string& name, const std::string& value) {
      for (size_t at; (at = text.find(name)) != text.npos;) text.replace(at, name.size(), value);
    };
    put("CUT", shift);
    put("REST", std::to_string(256 - std::atoi(shift)));
    ExpectSameBytes(Over(256, text));
  }
}

// Coordinates as values, in both forms of the kernel.
TEST_F(Vectors, CoordinatesAsValues) {
  const Program f = Over((1 << 16) + 2, R"(program f(%x: f32[N]) {
  %i: i32[N] = iota() dtype=i32 shape=[N] dimension=0
  %k: f32[N] = convert_element_type(%i) new_dtype=f32
  %y: f32[N] = add(%x, %k)
  return %y
})");
  ExpectText(f, "// 4 points for a thread");
  ExpectSameBytes(f);
  ExpectSameBytes(f, {.shift = 1});
}

TEST_F(Vectors, RowsByIndex) {
  const Program f = Over(64, R"(program f(%x: f32[61,N], %i: i32[2048,1]) {
  %y: f32[2048,N] = gather(%x, %i) offset_dims=[1] collapsed_slice_dims=[0] start_index_map=[0] slice_sizes=[1,N] mode="fill"
  return %y
})");
  ExpectText(f, "// 4 points for a thread");
  ExpectSameBytes(f);
}

// Loops that a team shares: sums of whole numbers are exact, so their order does not matter here.
TEST_F(Vectors, TripsOfTeams) {
  const auto rows = [this](const std::string& type, int64_t n) {
    std::string text = R"(program f(%x: T[64,N], %y: T[64,N]) {
  %a: T[64,N] = mul(%x, %y)
  %w: f32[64,N] = convert_element_type(%a) new_dtype=f32
  %s: f32[64] = reduce_sum(%w) axes=[1]
  %b: f32[64,N] = broadcast_in_dim(%s) shape=[64,N] broadcast_dimensions=[0]
  %v: f32[64,N] = convert_element_type(%x) new_dtype=f32
  %c: f32[64,N] = add(%v, %b)
  return %c, %s
})";
    for (size_t at; (at = text.find('T')) != text.npos;) text.replace(at, 1, type);
    return Over(n, text);
  };
  const auto expect = [&](const Program& f, const std::string& threads, const std::string& trips) {
    ExpectText(f, "// " + threads + " threads for a point");
    if (!trips.empty()) ExpectText(f, "// " + trips + " trips at a time");
    const bool has_trips = runner_.Dump(f, "native", "cuda").find("trips at a time") != std::string::npos;
    EXPECT_EQ(has_trips, !trips.empty());
    ExpectSameBytes(f);
    ExpectSameBytes(f, {.shift = 1});
  };
  expect(rows("f32", 1024), "32", "4");
  expect(rows("f32", 4096), "256", "4");
  expect(rows("f32", 1026), "32", "2");
  expect(rows("f32", 1027), "32", "");
  expect(rows("bf16", 1024), "32", "4");
}

// The order of a sum does not depend on addresses.
TEST_F(Vectors, SumsHaveTheSameBitsAtAllAddresses) {
  const Program f = Over(1 << 14, R"(program f(%x: f32[N]) {
  %e: f32[N] = sin(%x)
  %s: f32[] = reduce_sum(%e) axes=[0]
  return %s
})");
  ExpectText(f, "// 4 trips at a time");
  EXPECT_EQ(Run(f, "cuda", {}), Run(f, "cuda", {.shift = 1}));
}

// A condition of all points, and one of each.
TEST_F(Vectors, Checks) {
  constexpr size_t kPoints = (1 << 16) + 1;
  const Program all = Over(kPoints, R"(program f(%x: f32[N], %ok: bool[]) {
  %y: f32[N] = add(%x, %x)
  %z: f32[N] = check(%ok, %y) code=3 message="refused"
  return %z
})");
  ExpectText(all, "// 4 points for a thread");
  runner_.RunEverywhere(all, {Numbers(kPoints, 1), {1}}, 0);
  EXPECT_NE(runner_.RunError(all, {Numbers(kPoints, 1), {0}}).find("refused"), std::string::npos);
  const Program each = runner_.Vmap(runner_.Parse(R"(program f(%x: f32[]) {
  %zero: f32[] = constant 0.0
  %p: bool[] = gt(%x, %zero)
  %z: f32[] = check(%p, %x) code=3 message="not positive"
  return %z
})"),
                                    {0}, {0}, kPoints);
  runner_.RunEverywhere(each, {Numbers(kPoints, 1)}, 0);
  for (const size_t at : {size_t{5}, kPoints - 1}) {
    Numbers x(kPoints, 1);
    x[at] = -1;
    EXPECT_NE(runner_.RunError(each, {x}).find("not positive"), std::string::npos) << at;
  }
}

}}  // namespace ricci::testing
