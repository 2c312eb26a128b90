// Products on tensor cores of other numbers than bf16 and f16 (plugins/cuda/device/tensor_format.h), and of factors
// that the product computes itself: the same bytes as `ref`.
#include "cuda/on_gpu.h"
#include "cuda/tile_programs.h"

namespace ricci::testing { namespace {

size_t Count(const std::string& text, std::string_view word) {
  size_t n = 0;
  for (size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) ++n;
  return n;
}

class TensorFormats : public Tiles {
 protected:
  TensorFormats() { like_ = "ref"; }  // `cpu` does not round to tf32

  // One kernel, for all addresses or with another function for those that are not aligned, with these words in its
  // text.
  void ExpectAlone(const Program& f, const std::string& words, Ways ways = {}) {
    const std::string text = runner_.Dump(f, "source", "cuda");
    EXPECT_NE(text.find(words), text.npos) << words << " in\n" << text;
    EXPECT_EQ(Count(text, "__global__") - Count(text, "_unaligned("), 1u) << text;
    ExpectSameBytes(f, ways);
  }
  // Of `x` and `w`, which `more` makes of parameters.
  Program OfFactors(const std::string& parameters, const std::string& more, Sizes n, const std::string& type = "bf16") {
    return Of("program f(" + parameters + ") {\n" + more +
                  "  %z: f32[R,C] = dot_general(%x, %w) lhs_contract=[1] rhs_contract=[0] preferred_element_type=f32\n"
                  "  return %z\n}",
              n, type);
  }
};

// ---- integers of 8 bits ----
constexpr const char* kIntegers = "on tensor cores as integers of 8 bits";

TEST_F(TensorFormats, IntegersInAllLayouts) {
  for (const bool left : {false, true}) {
    for (const bool right : {false, true}) {
      ExpectAlone(Of(Product(left, right), {64, 64, 96}, "i8", "i32"), kIntegers);
      ExpectAlone(Of(Product(left, right), {68, 72, 80}, "u8", "i32"), kIntegers);
      ExpectAlone(Of(Product(left, right), Any(), "i8", "i32"), kIntegers);
    }
  }
}

TEST_F(TensorFormats, SignedAndUnsigned) {
  for (const auto& [left, right] : {std::pair<std::string, std::string>{"i8", "u8"}, {"u8", "i8"}}) {
    const Program f = Of("program f(%x: " + left + "[R,K], %y: " + right + R"([K,C]) {
  %z: i32[R,C] = dot_general(%x, %y) lhs_contract=[1] rhs_contract=[0] preferred_element_type=i32
  return %z
})",
                         {40, 52, 70});
    ExpectAlone(f, kIntegers);
  }
}

TEST_F(TensorFormats, AddressesOfIntegers) {
  for (const uint64_t shift : {1, 4, 7}) {
    for (const bool turned : {false, true}) {
      ExpectAlone(Of(Product(turned, turned), {64, 64, 64}, "i8", "i32"), kIntegers, {.shift = shift});
    }
  }
}

// Above 2^31, in parts that a second launch adds.
TEST_F(TensorFormats, SumsOfIntegersWrap) {
  OfStandin<void(uint32_t)>("ricci_standin_check")(0);
  const Program f = Of(R"(program f(%a: u8[R,K], %y: u8[C,K]) {
  %most: u8[] = constant 224
  %b: u8[R,K] = broadcast_in_dim(%most) shape=[R,K] broadcast_dimensions=[]
  %x: u8[R,K] = or(%a, %b)
  %c: u8[C,K] = broadcast_in_dim(%most) shape=[C,K] broadcast_dimensions=[]
  %w: u8[C,K] = or(%y, %c)
  %z: i32[R,C] = dot_general(%x, %w) lhs_contract=[1] rhs_contract=[1] preferred_element_type=i32
  return %z
})",
                       {16, 16, 40000});
  ExpectText(f, kIntegers);
  ExpectText(f, "// first of two launches: ");
  ExpectSameBytes(f);
  OfStandin<void(uint32_t)>("ricci_standin_check")(1);
}

// Sums of other types are computed in registers.
TEST_F(TensorFormats, OtherSumsOfIntegers) {
  for (const auto& [type, sum] : {std::pair<std::string, std::string>{"i8", "i64"}, {"i16", "i32"}}) {
    const Program f = Of(Product(false, false), {40, 40, 40}, type, sum);
    ExpectText(f, "on tensor cores", /*found=*/false);
    ExpectSameBytes(f);
  }
}

// As f16, which holds them.
TEST_F(TensorFormats, IntegersWithSumsOfF32) {
  const Program f = Of(Product(false, true), {40, 48, 64}, "i8", "f32");
  ExpectText(f, "mma_f16");
  ExpectAlone(f, "on tensor cores");
}

// ---- tf32 ----
constexpr const char* kTf32 = "TF32_TF32_F32";

std::string ByAlgorithm(std::string product) { return product.insert(product.find(" preferred"), " precision=\"@\""); }

TEST_F(TensorFormats, Tf32InAllLayouts) {
  for (const bool left : {false, true}) {
    for (const bool right : {false, true}) {
      for (const Sizes n : {Sizes{64, 64, 48}, Any()}) {
        ExpectAlone(Of(ByAlgorithm(Product(left, right)), n, "f32", "f32", kTf32), "as tf32");
      }
    }
  }
}

TEST_F(TensorFormats, OnlyWhereTheProgramAsksForTf32) {
  for (const char* other : {"TF32_TF32_F32_X3", "F32_F32_F32", "tensorfloat32", "default"}) {
    const Program f = Of(ByAlgorithm(Product(false, false)), {64, 64, 48}, "f32", "f32", other);
    ExpectText(f, "// tiles of ");
    ExpectText(f, "tf32", /*found=*/false);
  }
}

// Operands with more bits than tf32 has: beyond the half of its last one (which rounding drops), and exactly there.
TEST_F(TensorFormats, OperandsAreRoundedToTf32) {
  for (const char* factor : {"1.000244140625", "1.00048828125"}) {
    const std::string text = std::string(R"(program f(%a: f32[R,K], %y: f32[K,C]) {
  %s: f32[] = constant )") + factor +
                             R"(
  %b: f32[R,K] = broadcast_in_dim(%s) shape=[R,K] broadcast_dimensions=[]
  %x: f32[R,K] = mul(%a, %b)
  %z: f32[R,C] = dot_general(%x, %y) lhs_contract=[1] rhs_contract=[0] precision="@"
  return %z
})";
    const Program f = Of(text, {32, 40, 16}, "f32", "f32", kTf32);
    ExpectAlone(f, "as tf32");
    EXPECT_NE(Run(f, "ref", {}), Run(Of(text, {32, 40, 16}), "ref", {}));
  }
}

// Of other dtypes in f32, as of any algorithm.
TEST_F(TensorFormats, OtherOperandsAsTf32) {
  ExpectSameBytes(Of(ByAlgorithm(Product(false, false)), {32, 40, 24}, "f64", "f64", kTf32));
  ExpectSameBytes(Of(ByAlgorithm(Product(false, true)), {32, 40, 24}, "bf16", "f32", kTf32));
}

class TensorFormatsOnSm80 : OnGpu<80>, public TensorFormats {};

TEST_F(TensorFormatsOnSm80, ComputeTheSame) {
  ExpectAlone(Of(Product(false, true), {64, 40, 64}, "i8", "i32"), kIntegers);
  ExpectAlone(Of(ByAlgorithm(Product(true, false)), {64, 40, 64}, "f32", "f32", kTf32), "as tf32");
}

// ---- factors that are computed ----
TEST_F(TensorFormats, WeightsInFewerBits) {
  for (const Sizes n : {Sizes{64, 64, 96}, Any()}) {
    for (const std::string bits : {"i8", "u8", "f8e4m3fn", "f8e5m2"}) {
      ExpectAlone(OfFactors("%x: bf16[R,K], %q: " + bits + "[K,C], %s: bf16[C]",
                            "  %a: bf16[K,C] = convert_element_type(%q) new_dtype=bf16\n"
                            "  %b: bf16[K,C] = broadcast_in_dim(%s) shape=[K,C] broadcast_dimensions=[1]\n"
                            "  %w: bf16[K,C] = mul(%a, %b)\n",
                            n),
                  "on tensor cores");
    }
    ExpectAlone(OfFactors("%x: bf16[R,K], %q: i8[C,K], %s: f32[K]",
                          "  %a: f32[C,K] = convert_element_type(%q) new_dtype=f32\n"
                          "  %b: f32[C,K] = broadcast_in_dim(%s) shape=[C,K] broadcast_dimensions=[1]\n"
                          "  %c: f32[C,K] = mul(%a, %b)\n  %d: bf16[C,K] = convert_element_type(%c) new_dtype=bf16\n"
                          "  %w: bf16[K,C] = transpose(%d) permutation=[1,0]\n",
                          n),
                "on tensor cores");
  }
}

TEST_F(TensorFormats, CastsMasksAndActivationsOfFactors) {
  for (const Sizes n : {Sizes{64, 64, 64}, Any()}) {
    ExpectAlone(OfFactors("%a: f32[R,K], %b: f32[K,C]",
                          "  %x: bf16[R,K] = convert_element_type(%a) new_dtype=bf16\n"
                          "  %w: bf16[K,C] = convert_element_type(%b) new_dtype=bf16\n",
                          n),
                "on tensor cores");
    ExpectAlone(OfFactors("%a: bf16[R,K], %m: bool[R,K], %w: bf16[K,C]",
                          "  %zero: bf16[R,K] = constant 0\n  %r: bf16[R,K] = max(%a, %zero)\n"
                          "  %x: bf16[R,K] = select_n(%m, %zero, %r)\n",
                          n),
                "on tensor cores");
    ExpectAlone(OfFactors("%a: f32[R,K], %s: f32[R], %v: f32[K,C]",
                          "  %b: f32[R,K] = broadcast_in_dim(%s) shape=[R,K] broadcast_dimensions=[0]\n"
                          "  %x: f32[R,K] = add(%a, %b)\n  %w: f32[K,C] = neg(%v)\n",
                          n),
                "// tiles of ");
  }
}

// Products without tiles compute their factors too: those of few rows by teams, small ones by a thread for each point.
TEST_F(TensorFormats, FactorsOfSmallProducts) {
  for (const Sizes n : {Sizes{1, 300, 200}, {3, 64, 70}, {5, 7, 9}, {300, 2, 64}}) {
    for (const std::string type : {"bf16", "f32"}) {
      const Program f = OfFactors("%a: T[R,K], %s: T[R], %q: i8[K,C], %m: bool[K,C]",
                                  "  %b: T[R,K] = broadcast_in_dim(%s) shape=[R,K] broadcast_dimensions=[0]\n"
                                  "  %x: T[R,K] = add(%a, %b)\n"
                                  "  %v: T[K,C] = convert_element_type(%q) new_dtype=T\n"
                                  "  %zero: T[K,C] = constant 0\n  %w: T[K,C] = select_n(%m, %zero, %v)\n",
                                  n, type);
      ExpectText(f, "// tiles of ", /*found=*/false);
      ExpectAlone(f, "__global__");
    }
  }
}

// Rows that indices choose are stored, with what scales them; so is a factor that is a result.
TEST_F(TensorFormats, FactorsThatAreStored) {
  const Program chosen =
      OfFactors("%a: f32[50,K], %i: i32[R,1], %w: f32[K,C]",
                "  %g: f32[R,K] = gather(%a, %i) slice_sizes=[1,K] offset_dims=[1] collapsed_slice_dims=[0] "
                "start_index_map=[0] mode=\"clip\"\n  %x: f32[R,K] = mul(%g, %g)\n",
                {40, 48, 32}, "f32");
  ExpectText(chosen, "fusion_gather_mul(");
  ExpectSameBytes(chosen);
  ExpectSameBytes(Of(R"(program f(%a: f32[R,K], %y: f32[K,C]) {
  %x: f32[R,K] = neg(%a)
  %z: f32[R,C] = dot_general(%x, %y) lhs_contract=[1] rhs_contract=[0]
  return %z, %x
})",
                     {40, 48, 32}));
}

// With what comes before and after it in one kernel, large enough for groups of warps.
TEST_F(TensorFormats, ALayerOfWeightsInFewerBits) {
  OfStandin<void(uint32_t)>("ricci_standin_check")(0);
  const Program f = Of(R"(program f(%x: bf16[96,R,K], %q: i8[96,K,C], %s: bf16[C], %b: f32[C]) {
  %a: bf16[96,K,C] = convert_element_type(%q) new_dtype=bf16
  %t: bf16[96,K,C] = broadcast_in_dim(%s) shape=[96,K,C] broadcast_dimensions=[2]
  %w: bf16[96,K,C] = mul(%a, %t)
  %z: f32[96,R,C] = dot_general(%x, %w) lhs_contract=[2] rhs_contract=[1] lhs_batch=[0] rhs_batch=[0] preferred_element_type=f32
  %c: f32[96,R,C] = broadcast_in_dim(%b) shape=[96,R,C] broadcast_dimensions=[2]
  %d: f32[96,R,C] = add(%z, %c)
  %e: bf16[96,R,C] = convert_element_type(%d) new_dtype=bf16
  return %e
})",
                       {64, 64, 72});
  ExpectAlone(f, "on tensor cores of sm_90a");
  OfStandin<void(uint32_t)>("ricci_standin_check")(1);
}

// ---- accesses ----
TEST_F(TensorFormats, AccessesOfWarps) {
  const auto conflicts = [&](const Program& f) {
    ricci_standin_figures figures{};
    OfStandin<void(int)>("ricci_standin_count")(1);
    ExpectSameBytes(f);
    OfStandin<void(int)>("ricci_standin_count")(0);
    OfStandin<void(ricci_standin_figures*)>("ricci_standin_counted")(&figures);
    EXPECT_GT(figures.shared_requests, 0u);
    EXPECT_LE(figures.sectors, figures.least_sectors * 1.01);
    return static_cast<double>(figures.conflicts) / static_cast<double>(figures.shared_requests);
  };
  const Sizes n{64, 64, 128};
  EXPECT_EQ(conflicts(Of(Product(false, true), n, "i8", "i32")), 0);
  EXPECT_EQ(conflicts(Of(ByAlgorithm(Product(false, true)), n, "f32", "f32", kTf32)), 0);
  // Turned: what is written meets one other lane in a bank, what is read none.
  EXPECT_LT(conflicts(Of(Product(true, false), n, "i8", "i32")), 0.5);
  EXPECT_LT(conflicts(Of(ByAlgorithm(Product(true, false)), n, "f32", "f32", kTf32)), 0.5);
}

}}  // namespace ricci::testing
