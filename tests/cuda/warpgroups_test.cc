// Products by groups of four warps (plugins/cuda/print/tile_warpgroups.cc) on the simulated GPU, whose compute
// capability is 9.0: the same bytes as `ref` for each tile and layout; and that older GPUs compute the same without
// them.
#include "cuda/on_gpu.h"
#include "cuda/tile_programs.h"

namespace ricci::testing { namespace {

// So many products that a tile of that size is chosen for each.
struct Shape {
  int64_t batch;
  Sizes n;
  const char* tile;
};
constexpr Shape kShapes[] = {{96, {64, 64, 72}, "64 rows and 64 columns"},
                             {104, {128, 64, 72}, "128 rows and 64 columns"},
                             {104, {64, 128, 72}, "64 rows and 128 columns"},
                             {48, {128, 16, 72}, "128 rows and 16 columns"},
                             {107, {128, 128, 24}, "128 rows and 128 columns"}};
constexpr Shape kSmall = kShapes[0];

std::string Calls() { return OfStandin<const char*()>("ricci_standin_calls")(); }

class Warpgroups : public Tiles {
 protected:
  Warpgroups() { CheckAll(false); }
  ~Warpgroups() override { CheckAll(true); }
  // All accesses of a program: many, so of few programs.
  static void CheckAll(bool check) { OfStandin<void(uint32_t)>("ricci_standin_check")(check ? 1 : 0); }
  static std::string Batched(const Shape& s, bool left, bool right) {
    const std::string b = "[" + std::to_string(s.batch) + ",";
    return "program f(%x: T" + b + (left ? "K,R]" : "R,K]") + ", %y: T" + b + (right ? "C,K]" : "K,C]") +
           ") {\n  %z: S" + b + "R,C] = dot_general(%x, %y) lhs_contract=[" + (left ? "1" : "2") + "] rhs_contract=[" +
           (right ? "2" : "1") + "] lhs_batch=[0] rhs_batch=[0] preferred_element_type=S\n  return %z\n}";
  }
  Program Of(const Shape& s, bool left, bool right, const std::string& type = "bf16") {
    return Tiles::Of(Batched(s, left, right), s.n, type);
  }
  void ExpectTiles(const Program& f, const std::string& tile = kSmall.tile, Ways ways = {}) {
    ExpectText(f, "// tiles of " + tile + " for 256 threads: ");
    ExpectText(f, "on tensor cores of sm_90a");
    ExpectSameBytes(f, ways);
  }
};

class WarpgroupsOnOlderGpu : OnGpu<80>, public Warpgroups {};

TEST_F(Warpgroups, TilesAndLayouts) {
  Calls();
  uint32_t number = 0;
  for (const Shape& s : kShapes) {
    for (const bool left : {false, true}) {
      for (const bool right : {false, true}) {
        if (s.tile != kSmall.tile && left != right) continue;  // each layout of each operand once
        SCOPED_TRACE(std::string(s.tile) + (left ? ", left turned" : "") + (right ? ", right turned" : ""));
        CheckAll(s.tile == kSmall.tile && number++ % 3 == 0);
        ExpectTiles(Of(s, left, right), s.tile);
      }
    }
  }
  EXPECT_NE(Calls().find("cuFuncSetAttribute\n"), std::string::npos);
}

TEST_F(WarpgroupsOnOlderGpu, ComputeTheSame) {
  Calls();
  for (const bool turned : {false, true}) {
    const Program f = Of(kSmall, turned, turned);
    ExpectText(f, "on tensor cores");
    ExpectText(f, "sm_90a", /*found=*/false);
    ExpectSameBytes(f);
  }
  EXPECT_EQ(Calls().find("cuFuncSetAttribute\n"), std::string::npos);
}

TEST_F(Warpgroups, Types) {
  for (const std::string type : {"f16", "f8e4m3fn", "f8e5m2"}) ExpectTiles(Of(kSmall, false, true, type));
}

TEST_F(Warpgroups, SizesThatTilesDoNotDivide) {
  CheckAll(true);
  for (const Sizes n : {Sizes{50, 60, 100}, {61, 59, 33}, {64, 56, 17}}) {
    for (const bool turned : {false, true}) ExpectTiles(Of({96, n, ""}, turned, !turned));
    CheckAll(false);
  }
}

TEST_F(Warpgroups, AddressesThatAreNotAligned) {
  for (const std::string type : {"bf16", "f8e4m3fn"}) {
    const Program f = Of(kSmall, false, false, type);
    ExpectText(f, "_unaligned(");
    for (const uint64_t shift : {1, 4}) ExpectTiles(f, kSmall.tile, {.shift = shift, .again = true});
  }
}

TEST_F(Warpgroups, WhatComesAfter) {
  ExpectTiles(Tiles::Of(R"(program f(%x: T[96,R,K], %y: T[96,K,C], %b: S[C]) {
  %z: S[96,R,C] = dot_general(%x, %y) lhs_contract=[2] rhs_contract=[1] lhs_batch=[0] rhs_batch=[0] preferred_element_type=S
  %c: S[96,R,C] = broadcast_in_dim(%b) shape=[96,R,C] broadcast_dimensions=[2]
  %d: S[96,R,C] = add(%z, %c)
  %e: T[96,R,C] = convert_element_type(%d) new_dtype=T
  return %e
})",
                        {64, 64, 40}, "bf16"));
}

TEST_F(Warpgroups, SeveralSums) {
  const Program f = Tiles::Of(R"(program f(%x: T[104,R,K], %y: T[104,K,C], %v: T[104,K,C]) {
  %a: S[104,R,C] = dot_general(%x, %y) lhs_contract=[2] rhs_contract=[1] lhs_batch=[0] rhs_batch=[0] preferred_element_type=S
  %b: S[104,R,C] = dot_general(%x, %v) lhs_contract=[2] rhs_contract=[1] lhs_batch=[0] rhs_batch=[0] preferred_element_type=S
  %z: S[104,R,C] = mul(%a, %b)
  return %z
})",
                              {64, 64, 80}, "bf16");
  ExpectText(f, "on tensor cores of sm_90a");
  ExpectSameBytes(f);
}

// Of which the last parts are cut, or empty.
TEST_F(Warpgroups, LongSumsInParts) {
  for (const bool turned : {false, true}) {
    const Program f = Of({4, {100, 16, 4100}, ""}, turned, turned);
    ExpectText(f, "// first of two launches: 16 parts of each sum");
    ExpectTiles(f, "128 rows and 16 columns");
  }
}

// The message of the error that compilation gives; empty if there is none.
std::string CompileError(const Program& f, ricci_ctx* ctx) {
  ricci_device* const gpu = ricci_device_find(ctx, "cuda", 4);
  ricci_compile_opts o = ricci_compile_opts_default();
  o.devices = &gpu;
  o.n_devices = 1;
  ricci_executable* x = nullptr;
  ricci_status* const failed = ricci_compile(f.get(), &o, &x);
  if (failed != nullptr) return Message(failed);
  ricci_executable_release(x);
  return {};
}

TEST_F(Warpgroups, SharedMemoryThatTheDriverDoesNotGive) {
  constexpr int kUnknown = 999;
  const auto fail = OfStandin<void(uint64_t, int, int)>("ricci_standin_fail");
  const Program f = Of(kSmall, false, false);
  Calls();
  EXPECT_EQ(CompileError(f, runner_.ctx()), "");
  const std::string calls = Calls(), before = calls.substr(0, calls.find("cuFuncSetAttribute\n"));
  ASSERT_NE(before, calls);
  fail(1 + static_cast<uint64_t>(std::count(before.begin(), before.end(), '\n')), kUnknown, 0);
  const std::string message = CompileError(Of({kSmall.batch, {64, 64, 80}, ""}, false, false), runner_.ctx());
  fail(0, 0, 0);
  EXPECT_NE(message.find("cuda: cuFuncSetAttribute: CUDA_ERROR_UNKNOWN"), std::string::npos) << message;
}

// A plain product of many tiles, with bands of them and cut ones at the end.
TEST_F(Warpgroups, LargeProduct) {
  const Program f = Tiles::Of(Product(false, true), {1030, 1028, 72}, "bf16");
  ExpectText(f, "on tensor cores of sm_90a");
  ExpectSameBytes(f);
}

// Stages are written without conflicts of banks, whatever the layout.
TEST_F(Warpgroups, AccessesOfWarps) {
  CheckAll(true);
  for (const bool turned : {false, true}) {
    const Program f = Of({kSmall.batch, {64, 64, 64}, kSmall.tile}, turned, turned);
    ricci_standin_figures figures{};
    OfStandin<void(int)>("ricci_standin_count")(1);
    ExpectTiles(f);
    OfStandin<void(int)>("ricci_standin_count")(0);
    OfStandin<void(ricci_standin_figures*)>("ricci_standin_counted")(&figures);
    EXPECT_GT(figures.shared_requests, 0u);
    EXPECT_EQ(figures.conflicts, 0u) << " of " << figures.shared_requests;
    EXPECT_LE(figures.sectors, figures.least_sectors * 1.01);
  }
}

}}  // namespace ricci::testing
