// Points that blocks compute by tiles because operands are read along another dimension
// (plugins/cuda/tile/transpose_tile.h): the same bytes as `ref`, whatever sizes, types, orders of dimensions and
// addresses are; which kernels have such tiles; and how warps access memory.
#include <gtest/gtest.h>

#include <algorithm>

#include "cuda/same_bytes.h"
#include "cuda/standin/standin.h"

namespace ricci::testing { namespace {

using Shape = std::vector<int64_t>;

std::string ToText(const Shape& shape) {
  std::string text;
  for (const int64_t n : shape) text += (text.empty() ? "" : ",") + std::to_string(n);
  return "[" + text + "]";
}

class Transposes : public SameBytes {
 protected:
  ~Transposes() override { EXPECT_EQ(OfStandin<const char*()>("ricci_standin_complaints")(), std::string()); }

  // A program with R and C in place of the numbers of rows and columns of its result, and T of the type.
  Program Of(std::string text, int64_t rows, int64_t columns, const std::string& type = "f32") {
    const auto put = [&](char letter, const std::string& by) {
      for (size_t at = 0; (at = text.find(letter, at)) != text.npos; at += by.size()) text.replace(at, 1, by);
    };
    put('R', std::to_string(rows));
    put('C', std::to_string(columns));
    put('T', type);
    return runner_.Parse(text);
  }
  Program Permuted(const Shape& shape, const Shape& permutation, const std::string& type = "f32") {
    Shape out;
    for (const int64_t d : permutation) out.push_back(shape[static_cast<size_t>(d)]);
    return runner_.Parse("program f(%x: " + type + ToText(shape) + ") {\n  %z: " + type + ToText(out) +
                         " = transpose(%x) permutation=" + ToText(permutation) + "\n  return %z\n}");
  }
  bool HasTiles(const Program& f) { return Text(f).find("// tiles of ") != std::string::npos; }
  std::string Text(const Program& f) { return runner_.Dump(f, "native", "cuda"); }
  void ExpectText(const Program& f, const std::string& wanted) {
    EXPECT_NE(Text(f).find(wanted), std::string::npos) << Text(f);
  }
  void Expect(const Program& f, Ways ways = {}) {
    EXPECT_TRUE(HasTiles(f)) << Text(f);
    ExpectSameBytes(f, ways);
  }
  void ExpectNone(const Program& f) {
    EXPECT_FALSE(HasTiles(f)) << Text(f);
    ExpectSameBytes(f);
  }
  // In bank conflicts, and in sectors against the least.
  void ExpectFigures(const Program& f, double least, Ways ways = {}) {
    ricci_standin_figures figures{};
    const auto counted = OfStandin<void(ricci_standin_figures*)>("ricci_standin_counted");
    counted(&figures);
    OfStandin<void(int)>("ricci_standin_count")(1);
    Expect(f, ways);
    OfStandin<void(int)>("ricci_standin_count")(0);
    counted(&figures);
    EXPECT_GT(figures.shared_requests, 0u);
    EXPECT_EQ(figures.conflicts, 0u) << "of " << figures.shared_requests << "\n" << Text(f);
    EXPECT_GE(static_cast<double>(figures.least_sectors), least * static_cast<double>(figures.sectors)) << Text(f);
  }
};

constexpr const char* kTranspose =
    "program f(%x: T[C,R]) {\n  %z: T[R,C] = transpose(%x) permutation=[1,0]\n  return %z\n}";
constexpr const char* kPlus = R"(program f(%x: T[R,C], %y: T[C,R]) {
  %t: T[R,C] = transpose(%y) permutation=[1,0]
  %z: T[R,C] = add(%x, %t)
  return %z
})";
constexpr const char* kTypes[] = {"bool", "i8",  "u8",  "f8e4m3fn", "i16", "u16", "f16", "bf16", "i32",
                                  "u32",  "f32", "i64", "u64",      "f64", "key", "c64", "c128"};

TEST_F(Transposes, SizesThatTilesDivideAndNot) {
  constexpr std::pair<int64_t, int64_t> kSizes[] = {{64, 64}, {128, 96}, {100, 75}, {65, 129}, {8, 600},
                                                    {600, 8}, {9, 1000}, {37, 352}, {352, 37}, {1024, 20}};
  for (const auto& [rows, columns] : kSizes) {
    SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(columns));
    Expect(Of(kTranspose, rows, columns));
    Expect(Of(kPlus, rows, columns));
  }
}

TEST_F(Transposes, Types) {
  for (const char* type : kTypes) {
    SCOPED_TRACE(type);
    Expect(Of(kTranspose, 128, 64, type));
    Expect(Of(kTranspose, 67, 83, type));
  }
}

// Large tiles are for many points.
TEST_F(Transposes, LargeTiles) {
  OfStandin<void(uint32_t)>("ricci_standin_check")(0);
  for (const char* type : {"f32", "u8", "bf16"}) {
    const Program f = Of(kTranspose, 1030, 2056, type);
    ExpectText(f, std::string("// tiles of ") + (*type == 'u' ? "128" : "64") + " rows");
    ExpectSameBytes(f);
  }
  OfStandin<void(uint32_t)>("ricci_standin_check")(1);
}

TEST_F(Transposes, AddressesThatAreNotAligned) {
  for (const char* type : {"f32", "u8", "f64", "c64"}) {
    for (const uint64_t shift : {1, 2, 4}) {
      SCOPED_TRACE(type + std::to_string(shift));
      Expect(Of(kTranspose, 128, 64, type), {.shift = shift});
    }
  }
  Expect(Of(kPlus, 64, 128), {.shift = 1});
}

TEST_F(Transposes, OrdersOfThreeDimensions) {
  Shape permutation{0, 1, 2};
  do {
    for (const Shape& shape : {Shape{20, 24, 28}, Shape{9, 33, 17}}) {
      SCOPED_TRACE(ToText(permutation) + " of " + ToText(shape));
      const Program f = Permuted(shape, permutation);
      EXPECT_EQ(HasTiles(f), permutation.back() != 2);
      ExpectSameBytes(f);
    }
  } while (std::next_permutation(permutation.begin(), permutation.end()));
}

TEST_F(Transposes, OrdersOfFourDimensions) {
  Shape permutation{0, 1, 2, 3};
  do {
    SCOPED_TRACE(ToText(permutation));
    const Program f = Permuted({9, 8, 10, 11}, permutation, "bf16");
    EXPECT_EQ(HasTiles(f), permutation.back() != 3);
    ExpectSameBytes(f);
  } while (std::next_permutation(permutation.begin(), permutation.end()));
}

// More tiles than the simulated GPU runs blocks.
TEST_F(Transposes, SeveralTilesOfABlock) { Expect(Permuted({150, 32, 32}, {0, 2, 1})); }

// Images of 7 by 7: rows of results go on in the next dimension; so do columns the other way.
TEST_F(Transposes, ShortDimensionsThatGoOn) {
  Expect(Permuted({4, 7, 7, 40}, {0, 3, 1, 2}));
  Expect(Permuted({4, 40, 7, 7}, {0, 2, 3, 1}));
  Expect(Permuted({3, 1, 5, 6, 60, 1}, {0, 4, 1, 2, 3, 5}));
}

TEST_F(Transposes, OperandsThatLieAcross) {
  Expect(Of(R"(program f(%x: T[C,R], %y: T[C,R], %w: T[R,C], %b: T[C]) {
  %s: T[R,C] = transpose(%x) permutation=[1,0]
  %t: T[R,C] = transpose(%y) permutation=[1,0]
  %c: T[R,C] = broadcast_in_dim(%b) shape=[R,C] broadcast_dimensions=[1]
  %d: T[R,C] = sub(%s, %t)
  %e: T[R,C] = mul(%d, %w)
  %z: T[R,C] = add(%e, %c)
  return %z, %d
})",
            100, 72));
  // One of them is brought, the other one lies along the batch.
  Expect(runner_.Parse(R"(program f(%x: f32[16,20,24], %y: f32[24,16,20], %w: f32[20,16,24]) {
  %s: f32[16,24,20] = transpose(%x) permutation=[0,2,1]
  %t: f32[16,24,20] = transpose(%y) permutation=[1,0,2]
  %u: f32[16,24,20] = transpose(%w) permutation=[1,2,0]
  %d: f32[16,24,20] = sub(%s, %t)
  %z: f32[16,24,20] = add(%d, %u)
  return %z
})"));
}

// Parts of complex numbers, of which some are for groups of points, and one number for all points.
TEST_F(Transposes, ComplexNumbersAmongOthers) {
  const Program f = Of(R"(program f(%x: c64[C,R], %y: f32[C,R], %w: c64[R,C], %v: f32[R,C], %s: c64[]) {
  %a: c64[R,C] = transpose(%x) permutation=[1,0]
  %b: f32[R,C] = transpose(%y) permutation=[1,0]
  %t: c64[R,C] = broadcast_in_dim(%s) shape=[R,C] broadcast_dimensions=[]
  %c: c64[R,C] = sub(%a, %w)
  %d: c64[R,C] = add(%c, %t)
  %e: f32[R,C] = real(%d)
  %g: f32[R,C] = add(%e, %b)
  %z: f32[R,C] = add(%g, %v)
  return %z, %d
})",
                       96, 72);
  for (const uint64_t shift : {0, 1}) Expect(f, {.shift = shift});
}

TEST_F(Transposes, OperandsOfSeveralTypes) {
  const Program f = Of(R"(program f(%x: f64[C,R], %y: u8[C,R], %w: bf16[C,R], %v: f32[R,C]) {
  %s: f64[R,C] = transpose(%x) permutation=[1,0]
  %t: u8[R,C] = transpose(%y) permutation=[1,0]
  %u: bf16[R,C] = transpose(%w) permutation=[1,0]
  %a: f64[R,C] = convert_element_type(%t) new_dtype=f64
  %b: f64[R,C] = convert_element_type(%u) new_dtype=f64
  %c: f64[R,C] = add(%s, %a)
  %d: f64[R,C] = add(%c, %b)
  %e: f32[R,C] = convert_element_type(%d) new_dtype=f32
  %z: f32[R,C] = add(%e, %v)
  return %z
})",
                       96, 128);
  ExpectFigures(f, 0.5);  // of single bytes a warp writes or reads less than a sector
}

TEST_F(Transposes, PartsOfOperandsAndBackwards) {
  Expect(Of(R"(program f(%x: T[200,150], %y: T[C,R]) {
  %p: T[C,R] = slice(%x) start_indices=[3,5] limit_indices=[103,77]
  %r: T[C,R] = rev(%p) dimensions=[1]
  %q: T[C,R] = rev(%y) dimensions=[0,1]
  %s: T[R,C] = transpose(%r) permutation=[1,0]
  %t: T[R,C] = transpose(%q) permutation=[1,0]
  %z: T[R,C] = sub(%s, %t)
  return %z
})",
            72, 100));
  // Every other element, and results in parts of an array.
  Expect(Of(R"(program f(%x: T[C,144], %y: T[C,R]) {
  %p: T[C,R] = slice(%x) start_indices=[0,1] limit_indices=[C,144] strides=[1,2]
  %s: T[R,C] = transpose(%p) permutation=[1,0]
  %t: T[R,C] = transpose(%y) permutation=[1,0]
  %z: T[144,C] = concatenate(%s, %t) dimension=0
  %n: T[144,C] = neg(%z)
  return %n, %s
})",
            72, 100));
}

// What not every point reads, and at other places than coordinates say.
TEST_F(Transposes, PaddingStaysAsItIs) {
  const Program f = Of(R"(program f(%x: T[C,R], %v: T[]) {
  %p: T[80,110] = pad(%x, %v) low=[3,4] high=[5,6] interior=[0,0]
  %z: T[110,80] = transpose(%p) permutation=[1,0]
  %n: T[110,80] = neg(%z)
  return %n
})",
                       100, 72);
  ExpectNone(f);
  Expect(Of(R"(program f(%x: T[C,R], %v: T[], %y: T[C,R]) {
  %p: T[C,R] = pad(%x, %v) low=[-2,0] high=[2,0] interior=[0,0]
  %a: T[C,R] = add(%p, %y)
  %z: T[R,C] = transpose(%a) permutation=[1,0]
  return %z
})",
            100, 72));
}

TEST_F(Transposes, IndicesOfDataHaveNoTiles) {
  ExpectNone(Of(R"(program f(%x: T[300,R], %i: i32[C,1]) {
  %y: T[C,R] = gather(%x, %i) offset_dims=[1] collapsed_slice_dims=[0] start_index_map=[0] slice_sizes=[1,R] mode="clip"
  %z: T[R,C] = transpose(%y) permutation=[1,0]
  return %z
})",
                100, 72));
  ExpectNone(Of(R"(program f(%x: T[300,R], %i: i32[], %k: i32[]) {
  %y: T[C,R] = dynamic_slice(%x, %i, %k) slice_sizes=[C,R]
  %z: T[R,C] = transpose(%y) permutation=[1,0]
  return %z
})",
                100, 72));
}

// What is brought decides where a point reads.
TEST_F(Transposes, ValuesAsIndices) {
  Expect(Of(R"(program f(%x: T[64], %i: i32[C,R,1]) {
  %t: i32[R,C,1] = transpose(%i) permutation=[1,0,2]
  %z: T[R,C] = gather(%x, %t) offset_dims=[] collapsed_slice_dims=[0] start_index_map=[0] slice_sizes=[1] mode="clip"
  return %z
})",
            100, 72));
}

TEST_F(Transposes, ResultInTheMemoryOfAnArgument) {
  Expect(Of(kPlus, 96, 96), {.donate = true});
  const Program own = Of(R"(program f(%x: T[R,C], %y: T[R,C]) {
  %t: T[R,C] = transpose(%x) permutation=[1,0]
  %a: T[R,C] = add(%x, %t)
  %z: T[R,C] = mul(%a, %y)
  return %z
})",
                         96, 96);
  Expect(own, {.donate = true, .alias = -1});
}

TEST_F(Transposes, SmallAndShortOnesHaveNone) {
  ExpectNone(Of(kTranspose, 60, 60));
  ExpectNone(Of(kTranspose, 7, 1000));
  ExpectNone(Of(kTranspose, 1000, 7));
  ExpectNone(Of(kTranspose, 1, 5000));
  ExpectNone(Permuted({50, 60, 4}, {1, 0, 2}));
}

// One element for a whole row of results.
TEST_F(Transposes, BroadcastsHaveNone) {
  ExpectNone(Of(R"(program f(%x: T[R]) {
  %b: T[R,C] = broadcast_in_dim(%x) shape=[R,C] broadcast_dimensions=[0]
  %z: T[R,C] = neg(%b)
  return %z
})",
                100, 72));
}

// No machine here has so much memory, but the text can be had.
TEST_F(Transposes, IndicesOf64Bits) {
  const Program f = Of(kTranspose, 1 << 16, 1 << 15);
  ExpectText(f, "for (i64 tile = (i64)blockIdx.x; tile < 524288; ");
}

TEST_F(Transposes, Checks) {
  const Program f = Of(R"(program f(%x: T[C,R], %ok: bool[]) {
  %t: T[R,C] = transpose(%x) permutation=[1,0]
  %y: T[R,C] = add(%t, %t)
  %z: T[R,C] = check(%ok, %y) code=3 message="refused"
  return %z
})",
                       100, 72);
  EXPECT_TRUE(HasTiles(f)) << Text(f);
  runner_.RunEverywhere(f, {Numbers(7200, 1), {1}}, 0);
  EXPECT_NE(runner_.RunError(f, {Numbers(7200, 1), {0}}).find("refused"), std::string::npos);
}

TEST_F(Transposes, AccessesOfWarps) {
  for (const char* type : kTypes) {
    SCOPED_TRACE(type);
    ExpectFigures(Of(kTranspose, 128, 256, type), 0.95);
  }
  ExpectFigures(Of(kPlus, 128, 256), 0.95);
  ExpectFigures(Of(kPlus, 256, 128, "c64"), 0.95);
  ExpectFigures(Permuted({16, 32, 128}, {0, 2, 1}), 0.95);
  ExpectFigures(Permuted({64, 8, 64}, {2, 1, 0}), 0.95);
}

TEST_F(Transposes, AccessesOfWarpsWithLargeTiles) {
  OfStandin<void(uint32_t)>("ricci_standin_check")(1);
  for (const char* type : {"f32", "u8", "bf16"}) {
    SCOPED_TRACE(type);
    ExpectFigures(Of(kTranspose, 1024, 2048, type), 0.95);
  }
}

// No bank conflicts where tiles are cut or addresses are not aligned.
TEST_F(Transposes, ConflictsOfUnevenSizes) {
  for (const char* type : {"u8", "bf16", "f32", "f64", "c128"}) {
    SCOPED_TRACE(type);
    ExpectFigures(Of(kTranspose, 101, 75, type), 0);
    ExpectFigures(Of(kTranspose, 128, 96, type), 0, {.shift = 1});
  }
}

}}  // namespace ricci::testing
