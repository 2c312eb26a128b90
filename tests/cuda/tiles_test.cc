// Products that blocks compute by tiles (plugins/cuda/tile/product_tile.h): the same bytes as `ref`, for all layouts of
// operands, sizes that tiles do not divide, what is computed before and after a product, types and addresses.
#include "cuda/on_gpu.h"
#include "cuda/tile_programs.h"

namespace ricci::testing { namespace {

TEST_F(Tiles, LayoutsAndSizes) {
  for (const bool left : {false, true}) {
    for (const bool right : {false, true}) {
      Expect(Of(Product(left, right), {64, 96, 48}));
      for (int i = 0; i < 2; ++i) Expect(Of(Product(left, right), Any()));
    }
  }
}

TEST_F(Tiles, Types) {
  const std::pair<const char*, const char*> kTypes[] = {
      {"f64", "f64"}, {"i32", "i32"}, {"i64", "i64"}, {"bf16", "bf16"}, {"i8", "i32"}, {"f32", "f64"}, {"f16", "f64"}};
  for (const auto& [type, sum] : kTypes) {
    for (const bool turned : {false, true}) Expect(Of(Product(turned, turned), Any(), type, sum));
  }
}

TEST_F(Tiles, TensorCores) {
  for (const std::string type : {"bf16", "f16"}) {
    for (const bool left : {false, true}) {
      for (const bool right : {false, true}) {
        const Program whole = Of(Product(left, right), {64, 64, 96}, type), any = Of(Product(left, right), Any(), type);
        ExpectText(whole, "on tensor cores");
        Expect(whole);
        Expect(any);
      }
    }
  }
  Expect(Of(Product(false, false), {128, 136, 40}, "bf16", "bf16"));
}

TEST_F(Tiles, SmallerFloatsOnTensorCores) {
  for (const std::string type : {"f8e4m3fn", "f8e5m2"}) {
    const Program f = Of(Product(false, true), {70, 64, 48}, type);
    ExpectText(f, "on tensor cores");
    ExpectSameBytes(f);
  }
}

// ---- addresses: each form of a product is two functions, of which a run takes one (of groups of warps:
// warpgroups_test)
// ----
class TilesAtAnyAddress : public Tiles {
 protected:
  void ExpectBothFunctions(const std::string& type, const std::string& sum, const std::string& form) {
    for (const bool turned : {false, true}) {
      const Program f = Of(Product(turned, turned), {64, 64, 48}, type, sum);
      SCOPED_TRACE(type + (turned ? ", turned" : ""));
      ExpectText(f, form);
      ExpectText(f, "_unaligned(");
      for (const uint64_t shift : {1, 4}) ExpectSameBytes(f, {.shift = shift, .again = true});
    }
  }
  // Of odd sizes elements are accessed individually: one function serves all addresses.
  void ExpectOneFunction(const std::string& type, const std::string& sum) {
    for (const bool turned : {false, true}) {
      const Program f = Of(Product(turned, turned), {67, 65, 33}, type, sum);
      SCOPED_TRACE(type + (turned ? ", turned" : ""));
      ExpectText(f, "_unaligned(", /*found=*/false);
      for (const uint64_t shift : {0, 1}) ExpectSameBytes(f, {.shift = shift});
    }
  }
  void ExpectAll(const std::string& tensor_cores) {
    const std::string registers = "64 columns\n";
    for (const std::string type : {"bf16", "f8e4m3fn"}) ExpectBothFunctions(type, "f32", tensor_cores);
    ExpectBothFunctions("f32", "f32", registers);
    ExpectBothFunctions("i8", "i32", tensor_cores == registers ? registers : "as integers of 8 bits");
    for (const std::string type : {"bf16", "f32", "f8e5m2"}) ExpectOneFunction(type, "f32");
  }
};
class TilesOnSm80 : OnGpu<80>, public TilesAtAnyAddress {};
class TilesOnSm75 : OnGpu<75>, public TilesAtAnyAddress {};

TEST_F(TilesOnSm80, Warps) { ExpectAll("on tensor cores\n"); }
TEST_F(TilesOnSm75, Registers) { ExpectAll("64 columns\n"); }

// The plan knows the addresses of the second of three products: it needs one function.
TEST_F(Tiles, AddressesInTheArena) {
  const Program f = runner_.Parse(R"(program f(%x: f32[64,48], %y: f32[48,80], %w: f32[80,32]) {
  %a: f32[64,80] = dot_general(%x, %y) lhs_contract=[1] rhs_contract=[0]
  %b: f32[80,80] = dot_general(%a, %a) lhs_contract=[0] rhs_contract=[0]
  %z: f32[80,32] = dot_general(%b, %w) lhs_contract=[1] rhs_contract=[0]
  return %z
})");
  ExpectText(f, "k0_dot_general_unaligned(");
  ExpectText(f, "k1_dot_general_2_unaligned(", /*found=*/false);
  ExpectText(f, "k2_dot_general_3_unaligned(");
  for (const uint64_t shift : {0, 1}) ExpectSameBytes(f, {.shift = shift, .like = "cuda", .again = true});
}

// Not all accesses checked: these are many.
TEST_F(Tiles, LargeTiles) {
  OfStandin<void(uint32_t)>("ricci_standin_check")(0);
  Expect(Of(Product(false, true), {1030, 1025, 17}));  // 9 rows of tiles: a band of 8, and one that is cut
  Expect(Of(Product(false, true), {1030, 1028, 20}, "bf16"));
  OfStandin<void(uint32_t)>("ricci_standin_check")(1);
}

// Lanes of a warp meet no others in a bank of shared memory, and what they access of memory is next to each other.
TEST_F(Tiles, AccessesOfWarps) {
  for (const std::string type : {"f32", "bf16"}) {
    for (const bool left : {false, true}) {
      for (const bool right : {false, true}) {
        const Program f = Of(Product(left, right), {64, 64, 96}, type);
        ricci_standin_figures figures{};
        OfStandin<void(int)>("ricci_standin_count")(1);
        ExpectSameBytes(f);
        OfStandin<void(int)>("ricci_standin_count")(0);
        OfStandin<void(ricci_standin_figures*)>("ricci_standin_counted")(&figures);
        EXPECT_GT(figures.shared_requests, 0u);
        EXPECT_EQ(figures.conflicts, 0u) << type << left << right << " of " << figures.shared_requests;
        EXPECT_LE(figures.sectors, figures.least_sectors * 1.01) << type << left << right;
      }
    }
  }
}

TEST_F(Tiles, Batches) {
  const Program scores = Of(R"(program f(%q: T[2,R,3,K], %k: T[2,C,3,K]) {
  %z: S[2,3,R,C] = dot_general(%q, %k) lhs_contract=[3] rhs_contract=[3] lhs_batch=[0,2] rhs_batch=[0,2] preferred_element_type=S
  return %z
})",
                            {40, 33, 24}, "bf16");
  Expect(scores);
  Expect(Of(R"(program f(%x: T[3,R,2,K], %w: T[K,C]) {
  %z: S[3,R,2,C] = dot_general(%x, %w) lhs_contract=[3] rhs_contract=[0] preferred_element_type=S
  return %z
})",
            {13, 40, 36}));
  Expect(Of(R"(program f(%x: T[R,20,K], %w: T[K,20,C]) {
  %z: S[R,C] = dot_general(%x, %w) lhs_contract=[1,2] rhs_contract=[1,0] preferred_element_type=S
  return %z
})",
            {50, 40, 9}));
}

// Long sums of few tiles are computed in parts, whose last one may be cut or empty.
TEST_F(Tiles, LongSumsInParts) {
  OfStandin<void(uint32_t)>("ricci_standin_check")(0);  // but for the last program
  for (const auto& [type, n] : {std::pair<std::string, Sizes>{"f32", {40, 36, 1100}},
                                {"f32", {33, 17, 1029}},
                                {"f64", {32, 32, 1100}},
                                {"bf16", {64, 40, 1500}},
                                {"i32", {20, 32, 1100}}}) {
    const Program f = Of(Product(false, false), n, type, type == "bf16" ? "f32" : type);
    ExpectText(f, "// first of two launches: ");
    ExpectSameBytes(f);
  }
  OfStandin<void(uint32_t)>("ricci_standin_check")(1);
  const Program layer = Of(R"(program f(%x: T[2,R,K], %y: T[2,K,C], %b: S[C]) {
  %z: S[2,R,C] = dot_general(%x, %y) lhs_contract=[2] rhs_contract=[1] lhs_batch=[0] rhs_batch=[0] preferred_element_type=S
  %c: S[2,R,C] = broadcast_in_dim(%b) shape=[2,R,C] broadcast_dimensions=[2]
  %d: S[2,R,C] = add(%z, %c)
  return %d
})",
                           {40, 36, 600});
  ExpectText(layer, "// second of two launches: ");
  ExpectText(layer, "_parts_unaligned(");
  for (const uint64_t shift : {0, 1}) ExpectSameBytes(layer, {.shift = shift, .again = true});
}

// Windows of a convolution are read where they are: 3 of a row are terms of one trip, 5 have trips of their own.
TEST_F(Tiles, Convolutions) {
  Expect(Of(R"(program f(%x: f32[2,K,12,13], %w: f32[R,K,3,3]) {
  %y: f32[2,R,10,11] = conv_general_dilated(%x, %w) window_strides=[1,1] padding=[0,0,0,0]
  return %y
})",
            {20, 0, 18}));
  Expect(Of(R"(program f(%x: bf16[2,K,12,13], %w: bf16[R,K,5,5]) {
  %y: bf16[2,R,8,9] = conv_general_dilated(%x, %w) window_strides=[1,1] padding=[0,0,0,0]
  return %y
})",
            {20, 0, 6}));
}

TEST_F(Tiles, WhatComesBefore) {
  Expect(Of(R"(program f(%x: f32[R,K], %s: f32[R], %y: f32[K,C]) {
  %b: f32[R,K] = broadcast_in_dim(%s) shape=[R,K] broadcast_dimensions=[0]
  %a: f32[R,K] = mul(%x, %b)
  %c: f32[K,C] = neg(%y)
  %z: f32[R,C] = dot_general(%a, %c) lhs_contract=[1] rhs_contract=[0]
  return %z
})",
            {70, 40, 36}));
  Expect(Of(R"(program f(%x: f32[R,K], %y: f32[K,C]) {
  %a: bf16[R,K] = convert_element_type(%x) new_dtype=bf16
  %c: bf16[K,C] = convert_element_type(%y) new_dtype=bf16
  %z: f32[R,C] = dot_general(%a, %c) lhs_contract=[1] rhs_contract=[0] preferred_element_type=f32
  return %z
})",
            {70, 40, 36}));
}

TEST_F(Tiles, WhatComesAfter) {
  Expect(Of(R"(program f(%x: T[R,K], %y: T[K,C], %b: S[C], %r: S[R,C]) {
  %z: S[R,C] = dot_general(%x, %y) lhs_contract=[1] rhs_contract=[0] preferred_element_type=S
  %c: S[R,C] = broadcast_in_dim(%b) shape=[R,C] broadcast_dimensions=[1]
  %d: S[R,C] = add(%z, %c)
  %e: S[R,C] = add(%d, %r)
  %zero: S[] = constant 0
  %o: S[R,C] = broadcast_in_dim(%zero) shape=[R,C] broadcast_dimensions=[]
  %g: S[R,C] = max(%e, %o)
  %h: bf16[R,C] = convert_element_type(%g) new_dtype=bf16
  return %g, %h
})",
            {70, 40, 36}));
}

TEST_F(Tiles, SeveralProducts) {
  Expect(Of(R"(program f(%x: T[R,K], %y: T[K,C], %v: T[K,C]) {
  %a: S[R,C] = dot_general(%x, %y) lhs_contract=[1] rhs_contract=[0] preferred_element_type=S
  %b: S[R,C] = dot_general(%x, %v) lhs_contract=[1] rhs_contract=[0] preferred_element_type=S
  %z: S[R,C] = add(%a, %b)
  return %z
})",
            {70, 40, 36}));
}

TEST_F(Tiles, FewRowsOrColumns) {
  OfStandin<void(uint32_t)>("ricci_standin_check")(0);
  for (const auto& [type, n] : {std::pair<std::string, Sizes>{"f32", {5, 16500, 60}}, {"bf16", {16500, 5, 60}}}) {
    const Program f = Of(Product(false, false), n, type);
    ExpectText(f, n.rows < 16 ? "// tiles of 16 rows" : "and 16 columns");
    ExpectSameBytes(f);
  }
  OfStandin<void(uint32_t)>("ricci_standin_check")(1);
}

TEST_F(Tiles, SmallProductsHaveNone) {
  ExpectText(Of(Product(false, false), {6, 6, 6}), "// tiles of ", /*found=*/false);
  ExpectText(Of(Product(false, false), {1, 512, 512}), "// tiles of ", /*found=*/false);
}

}}  // namespace ricci::testing
