// The inline PTX that kernels hold, evaluated as it stands (standin/ptx.h): the same bytes as `ref`, and what the
// evaluator does not let pass.
#include <gtest/gtest.h>

#include "cuda/all_bits.h"
#include "cuda/bare_driver.h"
#include "cuda/on_gpu.h"
#include "cuda/same_bytes.h"

namespace ricci::testing { namespace {

// By instructions that GPUs had before groups of warps, of which the evaluator knows none.
class EvaluatedPtx : OnGpu<89>, public SameBytes {
 protected:
  EvaluatedPtx() { OfStandin<void(int)>("ricci_standin_ptx")(1); }
  ~EvaluatedPtx() override {
    OfStandin<void(int)>("ricci_standin_ptx")(0);
    EXPECT_EQ(BareDriver::Complaints(), std::string());
    EXPECT_GT(OfStandin<uint64_t()>("ricci_standin_evaluated")(), before_);
  }
  // Operands as they are, or turned, in `how` the program asks for.
  void ExpectProducts(const std::string& left, const std::string& right, const std::string& sum,
                      const std::string& how = "") {
    for (const bool turned : {false, true}) {
      const std::string x = turned ? "[44,72]" : "[72,44]", y = turned ? "[44,80]" : "[80,44]",
                        contract = turned ? "0" : "1";
      ExpectSameBytes(runner_.Parse("program f(%x: " + left + x + ", %y: " + right + y + ") {\n  %z: " + sum +
                                    "[72,80] = dot_general(%x, %y) lhs_contract=[" + contract + "] rhs_contract=[" +
                                    contract + "] preferred_element_type=" + sum + how + "\n  return %z\n}"));
    }
  }
  void ExpectProduct(const std::string& left, const std::string& right, int contract_left, int contract_right,
                     const std::string& more = "") {
    const auto contract = [](int d) { return "_contract=[" + std::to_string(d) + "]"; };
    ExpectSameBytes(runner_.Parse("program f(%x: " + left + ", %y: " + right +
                                  ") {\n  %z: f32[72,80] = dot_general(%x, %y) lhs" + contract(contract_left) + " rhs" +
                                  contract(contract_right) + " preferred_element_type=f32\n" + more + "  return %" +
                                  (more.empty() ? "z" : "w") + "\n}"));
  }

 private:
  const uint64_t before_ = OfStandin<uint64_t()>("ricci_standin_evaluated")();
};

TEST_F(EvaluatedPtx, TensorCores) {
  for (const std::string type : {"bf16", "f16"}) {
    ExpectProduct(type + "[72,48]", type + "[48,80]", 1, 0);
    ExpectProduct(type + "[48,72]", type + "[48,80]", 0, 0);
    ExpectProduct(type + "[72,48]", type + "[80,48]", 1, 1);
    ExpectProduct(type + "[43,72]", type + "[80,43]", 0, 1);
  }
}

TEST_F(EvaluatedPtx, IntegersOnTensorCores) {
  for (const std::string left : {"i8", "u8"}) {
    for (const std::string right : {"i8", "u8"}) ExpectProducts(left, right, "i32");
  }
}

TEST_F(EvaluatedPtx, Tf32OnTensorCores) { ExpectProducts("f32", "f32", "f32", " precision=\"TF32_TF32_F32\""); }

TEST_F(EvaluatedPtx, CopiesOfRegisterTiles) {
  ExpectProduct("f32[72,48]", "f32[48,80]", 1, 0);
  ExpectProduct("f32[72,41]", "f32[80,41]", 1, 1, "  %w: f32[72,80] = tanh(%z)\n");
}

TEST_F(EvaluatedPtx, ConversionsOfAllBits) {
  for (const char* type : {"f16", "bf16"}) {
    runner_.RunEverywhere(runner_.Parse(AllBitsProgram(type, 16, /*as_bits=*/false)), {}, 0);
  }
  for (const char* type : {"f8e4m3fn", "f8e5m2"}) {
    runner_.RunEverywhere(runner_.Parse(AllBitsProgram(type, 8, /*as_bits=*/false)), {}, 0);
  }
}

TEST_F(EvaluatedPtx, ProductsOfFloatsOf8Bits) {
  for (const std::string right : {"f8e4m3fn", "f8e5m2", "bf16"}) ExpectProducts("f8e4m3fn", right, "f32");
}

// ---- what does not pass ----
struct Planted {
  const char *name, *fault, *body;
};
// 64 threads: `t`; `a` and `b` have 64 numbers, `s` too, in shared memory, `at` is the address of s[t] there.
constexpr Planted kPlanted[] = {
    {"Unknown", "does not know this instruction: membar.gl", "asm volatile(\"membar.gl;\" ::: \"memory\");"},
    {"NoSuchOperand", "names no operand", "asm volatile(\"cp.async.wait_group %0;\");"},
    {"WideAddress", "an address in shared memory has 32 bits",
     "asm volatile(\"cp.async.ca.shared.global [%0], [%1], 4;\" :: \"l\"((u64)at), \"l\"(a + t));"},
    {"SourceNarrow", "one in global memory 64",
     "asm volatile(\"cp.async.ca.shared.global [%0], [%1], 4;\" :: \"r\"(at), \"r\"(t));"},
    {"SizeOfGlobalOnly", "4, 8 or 16 bytes, .cg 16",
     "asm volatile(\"cp.async.cg.shared.global [%0], [%1], 4;\" :: \"r\"(at), \"l\"(a + t));"},
    {"MoreThanCopied", "longer than the copy",
     "asm volatile(\"cp.async.ca.shared.global [%0], [%1], 4, %2;\" :: \"r\"(at), \"l\"(a + t), \"r\"(8));"},
    {"SourceMisaligned", "source of cp.async is misaligned",
     "asm volatile(\"cp.async.ca.shared.global [%0], [%1], 8;\" :: \"r\"(at & ~7u), \"l\"(a + t + 1 - t % 2));"},
    {"PlaceMisaligned", "misaligned: thread 1 of block 0 writes 8 bytes at s + 4",
     "if (t == 1) asm volatile(\"cp.async.ca.shared.global [%0], [%1], 8;\" :: \"r\"(at), \"l\"(a));"},
    {"BeyondShared", "out of bounds: thread 63 of block 0 writes 4 bytes at s + 256 of 256",
     "asm volatile(\"cp.async.ca.shared.global [%0], [%1], 4;\" :: \"r\"(at + 4), \"l\"(a + t));"},
    {"BeyondGlobal", "out of bounds: thread 63 of block 0 reads 4 bytes at argument 0 + 256 of 256",
     "asm volatile(\"cp.async.ca.shared.global [%0], [%1], 4;\" :: \"r\"(at), \"l\"(a + t + 1));"},
    {"RowOfMatrixMisaligned", "a row of ldmatrix is misaligned",
     "u32 r[4]; s[t] = 0; __syncthreads(); asm volatile(\"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, "
     "[%4];\""
     " : \"=r\"(r[0]), \"=r\"(r[1]), \"=r\"(r[2]), \"=r\"(r[3]) : \"r\"(at));"},
    {"SumsOfBits", "sums f32",
     "u32 r[4] = {}; asm(\"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%0, %1, %2, %3}, {%0, "
     "%1}, {%0, %1, %2, %3};\" : \"+r\"(r[0]), \"+r\"(r[1]), \"+r\"(r[2]), \"+r\"(r[3]));"},
    {"SumsOfIntegersAsF32", "sums integers",
     "f32 r[4] = {}; asm(\"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %4, %4, %4}, {%4, "
     "%4}, {%0, %1, %2, %3};\" : \"+f\"(r[0]), \"+f\"(r[1]), \"+f\"(r[2]), \"+f\"(r[3]) : \"r\"(0u));"},
    {"NotRoundedToTf32", "is not rounded to tf32",
     "f32 r[4] = {}; asm(\"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %4, %4, %4}, {%4, "
     "%4}, {%0, %1, %2, %3};\" : \"+f\"(r[0]), \"+f\"(r[1]), \"+f\"(r[2]), \"+f\"(r[3]) : \"r\"(0x3f801000u));"},
    {"HalfOfLanes", "wrong mask",
     "f32 r[4] = {}; if (t % 2) asm(\"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %4, %4, "
     "%4}, {%4, %4}, {%0, %1, %2, %3};\" : \"+f\"(r[0]), \"+f\"(r[1]), \"+f\"(r[2]), \"+f\"(r[3]) : \"r\"(0u));"},
    {"PlaceThatOthersRead", "race in shared memory: thread 32 of block 0 writes",
     "asm volatile(\"cp.async.ca.shared.global [%0], [%1], 4;\" :: \"r\"(at), \"l\"(a + t)); b[t] = s[63 - t];"},
};

// One copy of a number for each thread, which then reads it.
constexpr char kCopied[] =
    "asm volatile(\"cp.async.ca.shared.global [%0], [%1], 4, %2;\" :: \"r\"(at), \"l\"(a + t), \"r\"(t < 60 ? 4 : 0));"
    " s2[t] = 7;";
constexpr char kWaited[] =
    "asm volatile(\"cp.async.commit_group;\"); asm volatile(\"cp.async.wait_group 0;\"); b[t] = s[t];";
constexpr char kNotWaited[] =
    "asm volatile(\"cp.async.commit_group;\"); asm volatile(\"cp.async.wait_group 1;\"); b[t] = s[t];";

class PlantedPtx : public ::testing::Test {
 protected:
  static constexpr uint32_t kThreads = 64;
  static constexpr uint64_t kBytes = kThreads * sizeof(float);

  PlantedPtx() { OfStandin<void(int)>("ricci_standin_ptx")(1); }
  ~PlantedPtx() override { OfStandin<void(int)>("ricci_standin_ptx")(0); }

  // What `body` makes of b, which is zeros, with a[i] = i + 1. s is 3 everywhere.
  std::vector<float> Run(const std::string& body) {
    std::string error;
    const cuda::CuModule module = driver_.Load(
        "typedef int i32;\ntypedef unsigned u32;\ntypedef unsigned long long u64;\ntypedef float f32;\n"
        "extern \"C\" __global__ void k(f32* a, f32* b) {\n  __shared__ __align__(16) f32 s[64];\n"
        "  __shared__ f32 s2[64];\n  const u32 t = threadIdx.x, at = (u32)__cvta_generic_to_shared(s + t);\n  " +
            body + "\n  __syncthreads();\n}\n",
        error);
    EXPECT_NE(module, nullptr) << error;
    std::vector<float> numbers(kThreads), results(kThreads);
    for (uint32_t i = 0; i < kThreads; ++i) numbers[i] = static_cast<float>(i + 1);
    cuda::CuStream stream = nullptr;
    driver_->cuStreamCreate(&stream, 1);
    cuda::CuPointer a = driver_.Allocate(kBytes, stream), b = driver_.Allocate(kBytes, stream);
    driver_->cuMemcpyHtoDAsync(a, numbers.data(), kBytes, stream);
    driver_->cuMemcpyHtoDAsync(b, results.data(), kBytes, stream);
    void* arguments[] = {&a, &b};
    driver_->cuLaunchKernel(driver_.Find(module, "k"), 1, 1, 1, kThreads, 1, 1, 0, stream, arguments, nullptr);
    driver_->cuMemcpyDtoHAsync(results.data(), b, kBytes, stream);
    driver_->cuMemFreeAsync(a, stream);
    driver_->cuMemFreeAsync(b, stream);
    driver_->cuStreamSynchronize(stream);
    driver_->cuStreamDestroy(stream);
    driver_->cuModuleUnload(module);
    return results;
  }
  BareDriver driver_;
};

TEST_F(PlantedPtx, IsReported) {
  for (const Planted& p : kPlanted) {
    Run(p.body);
    const std::string said = BareDriver::Complaints();
    EXPECT_NE(said.find(p.fault), said.npos) << p.name << ": " << said;
  }
}

// To nearest, ties away from zero; up to infinity, and of the smallest numbers too.
TEST_F(PlantedPtx, RoundsToTf32) {
  const std::vector<float> rounded = Run(
      "static const u32 bits[] = {0x3f800fff, 0x3f801000, 0x3f803000, 0xbf801000, 0x3f800000, 0x7f7fffff, 0x00001000, "
      "0x00000fff, 0xff800000, 0x7f800001, 0, 0x80000000}; if (t < 12) { f32 x; u32 r; __builtin_memcpy(&x, bits + t, "
      "4); asm(\"cvt.rna.tf32.f32 %0, %1;\" : \"=r\"(r) : \"f\"(x)); __builtin_memcpy(b + t, &r, 4); }");
  constexpr uint32_t kWanted[] = {0x3f800000, 0x3f802000, 0x3f804000, 0xbf802000, 0x3f800000, 0x7f800000,
                                  0x00002000, 0,          0xff800000, 0x7fffe000, 0,          0x80000000};
  for (size_t i = 0; i < std::size(kWanted); ++i) {
    uint32_t bits;
    std::memcpy(&bits, &rounded[i], sizeof bits);
    EXPECT_EQ(bits, kWanted[i]) << i;
  }
  EXPECT_EQ(BareDriver::Complaints(), std::string());
}

// A copy is made when the thread waits for it: one that is not waited for is not there.
TEST_F(PlantedPtx, CopiesThatNobodyWaitsFor) {
  const std::string begin = std::string("s[t] = 3; ") + kCopied;
  const std::vector<float> waited = Run(begin + kWaited), not_waited = Run(begin + kNotWaited);
  for (uint32_t i = 0; i < kThreads; ++i) {
    EXPECT_EQ(waited[i], i < 60 ? static_cast<float>(i + 1) : 0) << i;
    EXPECT_EQ(not_waited[i], 3) << i;
  }
  EXPECT_EQ(BareDriver::Complaints(), std::string());
}

}}  // namespace ricci::testing
