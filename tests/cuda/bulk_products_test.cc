// Products whose factors the GPU copies by itself (plugins/cuda/print/tile_bulk.cc) on the simulated GPU: the same
// bytes as `ref` for each layout that a tensor map can say, at all edges; and the old way where it cannot.
#include "cuda/bulk_programs.h"
#include "cuda/on_gpu.h"

namespace ricci::testing { namespace {

TEST_F(BulkProducts, Layouts) {
  for (const bool left : {false, true}) {
    for (const bool right : {false, true}) {
      CheckAll(left != right);
      ExpectCopies(Of(Batched(left, right), {128, 16, 136}, "bf16"), 3);
    }
  }
  ExpectCopies(Of(Batched(false, false), {128, 16, 64}, "f16"), 3);
  ExpectCopies(Of(Batched(true, false, "96"), {64, 64, 72}, "bf16"), 3);
}

// Rows, columns and trips that tiles and steps do not divide, also so few trips that lines are of 32 and 64 bytes; one
// step, as many as there is room for, and more.
TEST_F(BulkProducts, Edges) {
  bool turned = false;
  for (const Sizes n :
       {Sizes{120, 16, 104}, {128, 16, 16}, {104, 16, 24}, {112, 16, 40}, {120, 16, 256}, {128, 16, 648}}) {
    CheckAll(n.trips == 104 || n.trips == 16);
    SCOPED_TRACE(std::to_string(n.rows) + " x " + std::to_string(n.columns) + " x " + std::to_string(n.trips));
    ExpectCopies(Of(Batched(turned, !turned), n, "bf16"), 3);
    turned = !turned;
  }
}

// Several tiles for a block, whose phases go on: of steps that are fewer than places, and more.
TEST_F(BulkProducts, ManyTiles) {
  CheckAll(true);
  ExpectCopies(Of(Batched(false, true, "150"), {104, 16, 24}, "bf16"), 3);
  CheckAll(false);
  ExpectCopies(Of(Batched(true, false, "150"), {104, 16, 328}, "bf16"), 3);
}

TEST_F(BulkProducts, OrdersOfThreads) {
  CheckAll(true);
  for (const uint64_t seed : {2, 3}) {
    OfStandin<void(uint64_t)>("ricci_standin_seed")(seed);
    ExpectCopies(Of(Batched(seed % 2 == 0, false), {104, 16, 392}, "bf16"), 3);
    CheckAll(false);
  }
  OfStandin<void(uint64_t)>("ricci_standin_seed")(1);
}

// The batch anywhere, as two dimensions, or of one factor alone; rows that are several dimensions.
TEST_F(BulkProducts, Dimensions) {
  ExpectCopies(Of(R"(program f(%x: T[R,48,K], %y: T[K,48,C]) {
  %z: S[48,R,C] = dot_general(%x, %y) lhs_contract=[2] rhs_contract=[0] lhs_batch=[1] rhs_batch=[1] preferred_element_type=S
  return %z
})",
                  {128, 16, 72}, "bf16"),
               3);
  ExpectCopies(Of(R"(program f(%x: T[12,R,4,K], %y: T[12,C,4,K]) {
  %z: S[12,4,R,C] = dot_general(%x, %y) lhs_contract=[3] rhs_contract=[3] lhs_batch=[0,2] rhs_batch=[0,2] preferred_element_type=S
  return %z
})",
                  {128, 16, 72}, "bf16"),
               4);
  ExpectCopies(Of(R"(program f(%x: T[48,R,K], %y: T[K,C]) {
  %z: S[48,R,C] = dot_general(%x, %y) lhs_contract=[2] rhs_contract=[0] preferred_element_type=S
  return %z
})",
                  {128, 16, 72}, "bf16"),
               2);
  ExpectCopies(Of(R"(program f(%x: T[6144,8,K], %y: T[8,K,C]) {
  %z: S[6144,C] = dot_general(%x, %y) lhs_contract=[1,2] rhs_contract=[0,1] preferred_element_type=S
  return %z
})",
                  {0, 16, 16}, "bf16"),
               2);
}

// A part of an array, which begins in its midst.
TEST_F(BulkProducts, PartsOfArrays) {
  const auto part = [](int first) {
    return "program f(%x: T[48,136,80], %y: T[48,K,C]) {\n  %a: T[48,R,K] = slice(%x) start_indices=[0,2," +
           std::to_string(first) + "] limit_indices=[48,130," + std::to_string(first + 64) +
           "] strides=[1,1,1]\n  %z: S[48,R,C] = dot_general(%a, %y) lhs_contract=[2] rhs_contract=[1] lhs_batch=[0] "
           "rhs_batch=[0] preferred_element_type=S\n  return %z\n}";
  };
  ExpectCopies(Of(part(8), {128, 16, 64}, "bf16"), 3);
  ExpectNoCopies(Of(part(3), {128, 16, 64}, "bf16"));
}

TEST_F(BulkProducts, WhatNoMapCanSay) {
  ExpectNoCopies(Of(Batched(false, true), {128, 16, 68}, "bf16"));     // distances of 136 bytes
  ExpectNoCopies(Of(Batched(true, false), {124, 16, 64}, "bf16"));     // of 248
  ExpectNoCopies(Of(Batched(false, false), {128, 16, 64}, "f8e5m2"));  // converted on their way
  ExpectNoCopies(Of(R"(program f(%x: T[48,R,K], %y: T[48,K,C]) {
  %a: T[48,R,K] = rev(%x) dimensions=[1]
  %z: S[48,R,C] = dot_general(%a, %y) lhs_contract=[2] rhs_contract=[1] lhs_batch=[0] rhs_batch=[0] preferred_element_type=S
  return %z
})",
                    {128, 16, 64}, "bf16"));
}

TEST_F(BulkProducts, AddressesThatAreNotAligned) {
  for (const uint64_t shift : {1, 4}) {
    ExpectCopies(Of(Batched(false, false), {128, 16, 72}, "bf16"), 3, 2, {.shift = shift});
  }
}

// A short dimension of the sum is written out: two products for each trip, in sequence, through the same places.
TEST_F(BulkProducts, SeveralProducts) {
  CheckAll(true);
  ExpectCopies(Of(R"(program f(%x: T[48,K,2,R], %y: T[48,K,2,C]) {
  %z: S[48,R,C] = dot_general(%x, %y) lhs_contract=[1,2] rhs_contract=[1,2] lhs_batch=[0] rhs_batch=[0] preferred_element_type=S
  return %z
})",
                  {128, 16, 136}, "bf16"),
               3, 4);
  CheckAll(false);
  ExpectCopies(Of(R"(program f(%x: T[48,K,R], %y: T[48,K,2,C]) {
  %a: T[48,K,2,R] = broadcast_in_dim(%x) shape=[48,K,2,R] broadcast_dimensions=[0,1,3]
  %z: S[48,R,C] = dot_general(%a, %y) lhs_contract=[1,2] rhs_contract=[1,2] lhs_batch=[0] rhs_batch=[0] preferred_element_type=S
  return %z
})",
                  {128, 16, 328}, "bf16"),
               3, 3);  // the first factor has one map
}

// Both launches are given the maps. Of parts the last ones are cut, or empty.
TEST_F(BulkProducts, LongSumsInParts) {
  for (const bool turned : {false, true}) {
    CheckAll(turned);
    const Program f = Of(Batched(turned, turned, "4"), {104, 16, 4104}, "bf16");
    ExpectText(f, "// first of two launches: 16 parts of each sum");
    ExpectCopies(f, 3, 4);
  }
}

class BulkProductsOnOlderGpu : OnGpu<80>, public BulkProducts {};
TEST_F(BulkProductsOnOlderGpu, HaveNoMaps) {
  Calls();
  ExpectSameBytes(Of(Batched(false, true), {128, 16, 72}, "bf16"));
  EXPECT_EQ(Encoded(Calls()), 0u);
}

// ---- maps hold addresses ----
constexpr const char* kProduct = R"(program f(%x: bf16[6144,72], %y: bf16[72,16]) {
  %z: f32[6144,16] = dot_general(%x, %y) lhs_contract=[1] rhs_contract=[0] preferred_element_type=f32
  return %z
})";

class Executable {
 public:
  Executable(ProgramRunner& runner, uint32_t flags) : device_(ricci_device_find(runner.ctx(), "cuda", 4)) {
    ricci_compile_opts o = ricci_compile_opts_default();
    o.hdr.flags = flags;
    o.devices = &device_;
    o.n_devices = 1;
    EXPECT_TRUE(Ok(ricci_compile(runner.Parse(kProduct).get(), &o, &x_)));
  }
  ~Executable() { ricci_executable_release(x_); }
  Executable(const Executable&) = delete;

  // Of bf16 numbers whose bits are all these.
  Array Argument(uint32_t i, uint16_t bits) const {
    uint32_t n_params, n_results;
    const ricci_type *params, *results;
    ricci_executable_signature(x_, &n_params, &params, &n_results, &results);
    const std::vector<uint16_t> numbers(6144 * 72, bits);
    ricci_array* out = nullptr;
    EXPECT_TRUE(Ok(ricci_array_from_host(device_, params[i], numbers.data(), nullptr, &out)));
    return Array(out);
  }
  ricci_status* Run(const Array& x, const Array& y, float& first) {
    ricci_array *in[] = {x.get(), y.get()}, *out = nullptr;
    if (ricci_status* failed = ricci_executable_run(x_, in, 2, &out, 1, nullptr)) return failed;
    std::vector<float> sums(6144 * 16);
    ricci_status* const failed = ricci_array_copy_to_host(out, sums.data(), sums.size() * sizeof(float));
    ricci_array_release(out);
    first = sums[0];
    return failed;
  }

 private:
  ricci_device* device_;
  ricci_executable* x_ = nullptr;
};

constexpr uint16_t kOne = 0x3f80, kTwo = 0x4000;

TEST_F(BulkProducts, OtherAddressesMakeOtherMaps) {
  for (const uint32_t flags : {0u, uint32_t{RICCI_COMPILE_PROFILED}}) {
    Executable f(runner_, flags);
    const Array ones = f.Argument(0, kOne), twos = f.Argument(0, kTwo), right = f.Argument(1, kOne);
    float first = 0;
    for (const auto& [left, wanted] : {std::pair(&ones, 72.0f), {&twos, 144.0f}, {&ones, 72.0f}}) {
      Calls();
      EXPECT_TRUE(Ok(f.Run(*left, right, first)));
      EXPECT_EQ(first, wanted);
      EXPECT_EQ(Encoded(Calls()), 2u);
    }
  }
}

// In a graph and step by step: what the driver says of a map is what the run says, and the next run goes on. In a
// context of its own each time: a graph that is there would be made again.
TEST_F(BulkProducts, MapsThatTheDriverRefuses) {
  constexpr int kUnknown = 999;
  const auto fail = OfStandin<void(uint64_t, int, int)>("ricci_standin_fail");
  for (const uint32_t flags : {0u, uint32_t{RICCI_COMPILE_PROFILED}}) {
    std::string message;
    for (uint64_t n = 1; n < 100 && message.empty(); ++n) {
      ProgramRunner runner;
      ASSERT_TRUE(Ok(ricci_context_add_plugin(runner.ctx(), QuerySimulatedGpu)));
      Executable f(runner, flags);
      const Array left = f.Argument(0, kOne), right = f.Argument(1, kTwo);
      float first = 0;
      fail(n, kUnknown, 0);
      const std::string said = Message(f.Run(left, right, first));
      const bool is_it = OfStandin<const char*()>("ricci_standin_failed")() == std::string("cuTensorMapEncodeTiled");
      fail(0, 0, 0);
      if (!is_it) continue;
      message = said;
      EXPECT_TRUE(Ok(f.Run(left, right, first)));
      EXPECT_EQ(first, 144);
    }
    EXPECT_NE(message.find("cuda: cuTensorMapEncodeTiled: CUDA_ERROR_UNKNOWN"), std::string::npos) << message;
  }
}

}}  // namespace ricci::testing
