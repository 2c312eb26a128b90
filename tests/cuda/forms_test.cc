// The forms of code that people read (`ricci compile --dump`, `--explain`), made by NVRTC and nvdisasm without a GPU.
#include <gtest/gtest.h>

#include "cuda/explain/occupancy.h"
#include "cuda/explain/resources.h"
#include "support/program_runner.h"

namespace ricci::testing { namespace {

constexpr std::string_view kText = R"(program f(%x: f32[1024,1024]) {
  %s: f32[1024] = reduce_sum(%x) axes=[1]
  %y: f32[1024] = sqrt(%s)
  return %y
})";

class Forms : public ::testing::Test {
 protected:
  void Attach(std::string_view disassembler) {
    Set("cuda.arch", "sm_90a");
    Set("cuda.compiler", RICCI_NVRTC);
    if (!disassembler.empty()) Set("cuda.disassembler", disassembler);
    ASSERT_TRUE(Ok(ricci_context_add_plugin(runner_.ctx(), ricci_plugin_query_cuda)));
  }
  void Set(std::string_view key, std::string_view value) {
    ASSERT_TRUE(Ok(ricci_context_config(runner_.ctx(), key.data(), key.size(), value.data(), value.size())));
  }
  std::string Dump(std::string_view form, std::string_view text = kText) {
    return runner_.Dump(runner_.Parse(text), form, "cuda");
  }
  std::string DumpError(std::string_view form) {
    const Program f = runner_.Parse(kText);
    ricci_compile_opts o = ricci_compile_opts_default();
    ricci_device* const gpu = ricci_device_find(runner_.ctx(), "cuda", 4);
    o.devices = &gpu;
    o.n_devices = 1;
    ricci_executable* x = nullptr;
    EXPECT_TRUE(Ok(ricci_compile(f.get(), &o, &x)));
    ricci_status* const s =
        ricci_executable_dump(x, form.data(), form.size(), nullptr, [](void*, const char*, size_t) {});
    ricci_executable_release(x);
    return s == nullptr ? "" : Message(s);
  }

  ProgramRunner runner_;
};

TEST_F(Forms, SourcePtxAndMachineCode) {
  Attach(RICCI_NVDISASM);
  const std::string source = Dump("source"), ptx = Dump("ptx"), sass = Dump("sass");
  EXPECT_NE(source.find("__global__ void k0_"), source.npos) << source;
  EXPECT_EQ(source.find("typedef"), source.npos) << "the kernels alone";
  EXPECT_NE(ptx.find(".target sm_90a"), ptx.npos) << ptx;
  EXPECT_NE(ptx.find(".visible .entry k0_"), ptx.npos) << ptx;
  EXPECT_NE(ptx.find(".loc"), ptx.npos) << "its lines";
  EXPECT_NE(sass.find("LDG.E.128"), sass.npos) << sass;
  EXPECT_NE(sass.find("//## File \""), sass.npos) << "its lines";
}

// The compiler contracts no product by itself: its operations are those that round (.rn), and fused only where the
// program says so. The simulated one never contracts.
TEST_F(Forms, ProductsAreContractedByTheProgramAlone) {
  Attach("");
  const std::string head =
      "program f(%x: f32[64], %y: f32[64], %z: f32[64]) {\n  %p: f32[64] = mul(%x, %y)\n  %s: f32[64] = add(%p, %z)\n";
  const std::string fused = Dump("ptx", head + "  return %s\n}"),
                    apart = Dump("ptx", head + "  %d: f32[64] = sub(%s, %p)\n  return %d\n}");
  EXPECT_NE(fused.find("fma.rn.f32"), fused.npos) << fused;
  EXPECT_EQ(apart.find("fma.rn.f32"), apart.npos) << apart;
  EXPECT_NE(apart.find("mul.rn.f32"), apart.npos) << apart;
  EXPECT_NE(apart.find("add.rn.f32"), apart.npos) << apart;
}

TEST_F(Forms, DisassemblersThatAreNone) {
  Attach("");
  EXPECT_EQ(DumpError("sass"),
            "cuda: sass: set the option cuda.disassembler to the path of nvdisasm, which a CUDA toolkit and the Python "
            "package nvidia-cuda-nvdisasm have");
  EXPECT_EQ(DumpError("object"), "");
  EXPECT_NE(DumpError("soul").find(", object, source, ptx, sass, and the passes inline"), std::string::npos);
}

TEST_F(Forms, DisassemblersThatFail) {
  Attach("/no/nvdisasm");
  EXPECT_EQ(DumpError("sass"), "cuda: sass: /no/nvdisasm cannot be run: No such file or directory");
}

TEST_F(Forms, ProgramsThatAreNoDisassembler) {
  Attach("/bin/false");
  EXPECT_EQ(DumpError("sass"), "cuda: sass: /bin/false fails: ");
}

// Of blocks with 256 threads, by NVIDIA's tables and its occupancy calculator.
TEST(Occupancy, ByRegistersAndSharedMemory) {
  struct Case {
    const char* architecture;
    int registers, shared_bytes, threads, percent;
  };
  constexpr Case kCases[] = {{"sm_75", 64, 0, 256, 100}, {"sm_80", 37, 0, 256, 75},     {"sm_86", 32, 0, 256, 100},
                             {"sm_89", 48, 0, 256, 83},  {"sm_90a", 32, 0, 256, 100},   {"sm_90a", 33, 0, 256, 75},
                             {"sm_90", 255, 0, 256, 12}, {"sm_90", 32, 49152, 256, 50}, {"sm_120", 32, 0, 32, 50}};
  for (const Case& c : kCases) {
    cuda::Resources used;
    used.registers = c.registers;
    used.shared_bytes = c.shared_bytes;
    EXPECT_EQ(cuda::OccupancyOf(c.architecture, used, c.threads), c.percent) << c.architecture << " " << c.registers;
  }
  EXPECT_EQ(cuda::OccupancyOf("sm_88", {}, 256), std::nullopt);
}

TEST(ResourcesOfKernels, AreInTheLog) {
  const auto used = cuda::ResourcesIn(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'a' for 'sm_90a'\n"
      "    8 bytes stack frame, 12 bytes spill stores, 4 bytes spill loads\n"
      "ptxas info    : Used 10 registers, used 0 barriers, 8 bytes cumulative stack size, 1024 bytes smem\n"
      "ptxas info    : Compiling entry function 'b' for 'sm_90a'\n"
      "ptxas info    : Used 32 registers, used 0 barriers\n");
  ASSERT_EQ(used.size(), 2u);
  const cuda::Resources& a = used.at("a");
  EXPECT_EQ(std::vector<int>({a.registers, a.stack_bytes, a.spill_bytes, a.shared_bytes}),
            std::vector<int>({10, 8, 16, 1024}));
  EXPECT_EQ(used.at("b").registers, 32);
}

}}  // namespace ricci::testing
