// Products by pairs of blocks (plugins/cuda/tile/pair_tile.h) on the simulated GPU: the same bytes as the other
// backends in each layout, at all edges and in other orders of threads; and the other form where they cannot be.
#include "cuda/tile/pair_tile.h"
#include "cuda/tile_programs.h"

namespace ricci::testing { namespace {

class PairsOfBlocks : public Tiles {
 protected:
  PairsOfBlocks() : Tiles(QueryPairingGpu) {
    CheckAll(false);
    like_ = kQuickest;  // `ref` takes too long
  }
  ~PairsOfBlocks() override { CheckAll(true); }
  static void CheckAll(bool check) { OfStandin<void(uint32_t)>("ricci_standin_check")(check ? 1 : 0); }
  void ExpectPairs(const Program& f) {
    ExpectText(f, "_pairs(");
    ExpectSameBytes(f);
  }
  void ExpectStoredByGpu(const Program& f) {
    ExpectText(f, "// the GPU stores results in boxes of 64 x 64");
    ExpectPairs(f);
  }
  void ExpectNoPairs(const Program& f, const std::string& why) {
    ExpectText(f, "_pairs(", /*found=*/false);
    ExpectText(f, "// no pairs of blocks: " + why);
  }
  // As many tiles of 256 x 256 as there have to be.
  static std::string Batched(bool left, bool right, const std::string& after = "") {
    return std::string("program f(%x: T[48,") + (left ? "K,R]" : "R,K]") + ", %y: T[48," + (right ? "C,K]" : "K,C]") +
           ") {\n  %z: S[48,R,C] = dot_general(%x, %y) lhs_contract=[" + (left ? "1" : "2") + "] rhs_contract=[" +
           (right ? "2" : "1") + "] lhs_batch=[0] rhs_batch=[0] preferred_element_type=S\n" +
           (after.empty() ? "  return %z\n}" : after);
  }
};

TEST_F(PairsOfBlocks, Layouts) {
  for (const bool left : {false, true}) {
    for (const bool right : {false, true}) {
      ExpectPairs(Of(Batched(left, right), {256, 256, left == right ? 72 : 64}, "bf16"));
    }
  }
}

// Steps that are fewer than places, and more; rows, columns and trips that tiles and steps do not divide.
TEST_F(PairsOfBlocks, Edges) {
  bool turned = false;
  for (const Sizes n : {Sizes{248, 240, 64}, {240, 248, 264}}) {
    SCOPED_TRACE(std::to_string(n.rows) + " x " + std::to_string(n.columns) + " x " + std::to_string(n.trips));
    ExpectPairs(Of(Batched(turned, !turned), n, n.trips == 64 ? "f16" : "bf16"));
    turned = !turned;
  }
}

TEST_F(PairsOfBlocks, OrdersOfThreads) {
  CheckAll(true);
  OfStandin<void(uint64_t)>("ricci_standin_seed")(3);
  ExpectPairs(Of(Batched(false, false), {256, 256, 72}, "bf16"));
  OfStandin<void(uint64_t)>("ricci_standin_seed")(1);
}

// Results of 4 bytes and of 2, of which a thread has 4 and 8: no conflicts of banks, and whole sectors.
TEST_F(PairsOfBlocks, AccessesOfWarps) {
  CheckAll(true);
  for (const char* type : {"f32", "bf16"}) {
    ricci_standin_figures figures{};
    const Program f = Of(Batched(false, false), {256, 256, 64}, "bf16", type);
    OfStandin<void(int)>("ricci_standin_count")(1);
    ExpectPairs(f);
    OfStandin<void(int)>("ricci_standin_count")(0);
    OfStandin<void(ricci_standin_figures*)>("ricci_standin_counted")(&figures);
    EXPECT_GT(figures.shared_requests, 0u);
    EXPECT_EQ(figures.conflicts, 0u) << type << " of " << figures.shared_requests;
    EXPECT_EQ(figures.sectors, figures.least_sectors) << type;
  }
}

// What points do with their sums is as it was: a bias, a square, a cast, in packets and where rows end anywhere.
TEST_F(PairsOfBlocks, WhatPointsDo) {
  const std::string after = R"(  %b: f32[48,R,C] = broadcast_in_dim(%bias) shape=[48,R,C] broadcast_dimensions=[2]
  %s: f32[48,R,C] = add(%z, %b)
  %m: f32[48,R,C] = mul(%s, %s)
  %h: bf16[48,R,C] = convert_element_type(%m) new_dtype=bf16
  return %h
})";
  std::string text = Batched(false, false, after);
  text.replace(text.find(") {"), 1, ", %bias: f32[C])");
  ExpectPairs(Of(text, {256, 256, 64}, "bf16"));
  text = Batched(false, true, after);
  text.replace(text.find(") {"), 1, ", %bias: f32[C])");
  ExpectPairs(Of(text, {250, 250, 64}, "bf16"));
  ExpectStoredByGpu(Of(text, {244, 248, 64}, "bf16"));
}

// Results of 16 bits, in each order of threads; rows and columns that tiles do not divide are not stored.
TEST_F(PairsOfBlocks, ResultsThatTheGpuStores) {
  CheckAll(true);
  for (const uint64_t seed : {3, 4}) {
    OfStandin<void(uint64_t)>("ricci_standin_seed")(seed);
    ExpectStoredByGpu(Of(Batched(false, seed == 3), {244, 248, 72}, "bf16", seed == 3 ? "bf16" : "f16"));
  }
  OfStandin<void(uint64_t)>("ricci_standin_seed")(1);
}

// A row of scales, a column of them, coordinates, and values that are not rounded last.
TEST_F(PairsOfBlocks, WhatPointsOfPiecesDo) {
  std::string text =
      Batched(false, false, R"(  %rows: f32[48,R,C] = broadcast_in_dim(%p) shape=[48,R,C] broadcast_dimensions=[1]
  %columns: bf16[48,R,C] = broadcast_in_dim(%q) shape=[48,R,C] broadcast_dimensions=[0,2]
  %i: f32[48,R,C] = iota() dtype=f32 shape=[48,R,C] dimension=2
  %s: f32[48,R,C] = mul(%z, %rows)
  %t: f32[48,R,C] = add(%s, %i)
  %h: bf16[48,R,C] = convert_element_type(%t) new_dtype=bf16
  %m: bf16[48,R,C] = mul(%h, %columns)
  return %m
})");
  text.replace(text.find(") {"), 1, ", %p: f32[R], %q: bf16[48,C])");
  ExpectStoredByGpu(Of(text, {244, 248, 64}, "bf16"));
}

TEST_F(PairsOfBlocks, ResultsThatThreadsStore) {
  const auto stored_by_threads = [this](const std::string& why, const std::string& after,
                                        const std::string& argument = "", Sizes n = {256, 256, 64}) {
    std::string text = Batched(false, true, after);
    text.replace(text.find(") {"), 1, argument + ")");
    Program f = Of(text, n, "bf16");
    ExpectText(f, "// threads store results: " + why);
    return f;
  };
  const std::string rounded = "  %h: bf16[48,R,C] = convert_element_type(%m) new_dtype=bf16\n  return %h\n}";
  ExpectPairs(stored_by_threads("b2 is read by rows and columns", "  %m: f32[48,R,C] = add(%z, %b)\n" + rounded,
                                ", %b: f32[48,R,C]"));
  stored_by_threads("a point computes 24 operations",
                    "  %n: f32[48,R,C] = tan(%z)\n  %m: f32[48,R,C] = tan(%n)\n" + rounded);
  stored_by_threads("of their memory a distance is 500 bytes, no multiple of 16",
                    "  %m: f32[48,R,C] = mul(%z, %z)\n" + rounded, "", {256, 250, 64});
  stored_by_threads("they are i32", "  %i: i32[48,R,C] = convert_element_type(%z) new_dtype=i32\n  return %i\n}");
  stored_by_threads("there are several results",
                    "  %m: f32[48,R,C] = mul(%z, %z)\n  %n: bf16[48,R,C] = convert_element_type(%z) new_dtype=bf16\n"
                    "  return %m, %n\n}");
}

// The same executable with addresses that are aligned and with others: another function of the graph's node.
TEST_F(PairsOfBlocks, AddressesThatAreNotAligned) {
  const Program f = Of(Batched(false, false), {256, 256, 64}, "bf16");
  ExpectText(f, "_pairs(");
  ricci_device* const d = ricci_device_find(runner_.ctx(), "cuda", 4);
  ricci_compile_opts o = ricci_compile_opts_default();
  o.devices = &d;
  o.n_devices = 1;
  ricci_executable* x = nullptr;
  ASSERT_TRUE(Ok(ricci_compile(f.get(), &o, &x)));
  uint32_t n_params, n_results;
  const ricci_type *params, *results;
  ricci_executable_signature(x, &n_params, &params, &n_results, &results);
  constexpr int64_t kElements = 48 * 256 * 64, kMore = 8;
  const std::vector<uint16_t> ones(kElements + kMore, 0x3f80);
  const int64_t bytes = (kElements + kMore) * 2;
  const ricci_type_desc line = ricci_type_desc_of(RICCI_U8, 1, &bytes);
  ricci_type longer = 0;
  ASSERT_TRUE(Ok(ricci_type_make(runner_.ctx(), &line, &longer)));
  ricci_array* memory = nullptr;
  ASSERT_TRUE(Ok(ricci_array_from_host(d, longer, ones.data(), nullptr, &memory)));
  const Array owner(memory);
  for (const int64_t shift : {0, 1}) {
    ricci_array *in[2] = {}, *out = nullptr;
    auto* const data = static_cast<uint16_t*>(ricci_array_device_data(memory)) + shift;
    for (int i = 0; i < 2; ++i) {
      ASSERT_TRUE(Ok(ricci_array_wrap(d, params[i], data, nullptr, nullptr, nullptr, &in[i])));
    }
    const Array left(in[0]), right(in[1]);
    ASSERT_TRUE(Ok(ricci_executable_run(x, in, 2, &out, 1, nullptr)));
    const Array sums(out);
    std::vector<float> got(48 * 256 * 256);
    EXPECT_TRUE(Ok(ricci_array_copy_to_host(out, got.data(), got.size() * sizeof(float))));
    EXPECT_EQ(std::count(got.begin(), got.end(), 64.0f), static_cast<std::ptrdiff_t>(got.size())) << shift;
  }
  ricci_executable_release(x);
}

TEST_F(PairsOfBlocks, WhatKeepsTheOtherForm) {
  ExpectNoPairs(Of(Product(false, false), {1024, 1024, 1024}, "bf16"), "its 16 tiles of 256 x 256 would leave");
  ExpectNoPairs(Of(Product(false, false), {2048, 2304, 1024}, "bf16"), "its 72 tiles of 256 x 256 would leave");
  ExpectNoPairs(Of(Product(false, false), {4096, 4096, 4100}, "bf16"), "threads copy factors");
  ExpectNoPairs(Of(Product(false, false), {4096, 4096, 32}, "bf16"), "its sums are short");
  ExpectNoPairs(Of(Batched(false, false), {264, 256, 64}, "bf16"), "tiles of 256 x 256 would be too empty");
  ExpectNoPairs(Of(R"(program f(%x: T[K,2,R], %y: T[K,2,C]) {
  %z: S[R,C] = dot_general(%x, %y) lhs_contract=[0,1] rhs_contract=[0,1] preferred_element_type=S
  return %z
})",
                   {4096, 4096, 1000}, "bf16"),
                "it has 2 products");
}

}}  // namespace ricci::testing
