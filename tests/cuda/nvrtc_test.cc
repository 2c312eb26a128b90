// What needs the real compiler: machine code on any number of threads, its keys, places of the host's source in
// messages and in the line table of machine code, architectures that it does not know, PTX for older drivers.
#include <atomic>
#include <cctype>
#include <iterator>
#include <sstream>
#include <thread>

#include "cuda/driver/conditions.h"
#include "cuda/driver/nvrtc_program.h"
#include "cuda/explain/listing.h"
#include "cuda/explain/resources.h"
#include "cuda/in_turn.h"
#include "cuda/scaled_row.h"
#include "cuda/simulated_gpu.h"
#include "cuda/sum_chain.h"
#include "cuda/text_for.h"
#include "support/cached_host.h"

namespace ricci::testing { namespace {

// An executor of so many threads, and what it keeps.
struct Executor : CachingHost {
  explicit Executor(uint32_t workers) {
    hooks.exec_self = this;
    hooks.exec_workers = workers;
    hooks.parallel_for = [](void* self, int64_t n, void (*fn)(void* arg, int64_t i), void* arg) {
      Executor& e = *static_cast<Executor*>(self);
      ++e.jobs;
      std::atomic<int64_t> next{0};
      std::vector<std::thread> threads;
      for (uint32_t t = 0; t < e.hooks.exec_workers; ++t) {
        threads.emplace_back([&] {
          for (int64_t i; (i = next++) < n;) fn(arg, i);
        });
      }
      for (std::thread& t : threads) t.join();
    };
  }
  std::atomic<int> jobs{0};
};

// A device that only compiles, by the real compiler.
struct RealCompilerOf {
  RealCompilerOf(const CachingHost& host, const char* architecture) {
    EXPECT_TRUE(Ok(ricci_context_create(&host.opts, &ctx)));
    SetOption(ctx, "cuda.arch", architecture);
    SetOption(ctx, "cuda.compiler", RICCI_NVRTC);
    for (const auto query : {ricci_plugin_query_lax, QueryScaledRow, ricci_plugin_query_cuda}) {
      EXPECT_TRUE(Ok(ricci_context_add_plugin(ctx, query)));
    }
  }
  ~RealCompilerOf() { ricci_context_release(ctx); }
  RealCompilerOf(const RealCompilerOf&) = delete;
  void Compile(const std::string& text, uint32_t opt_level) const {
    ricci_program* f = nullptr;
    ricci_executable* x = nullptr;
    ricci_compile_opts o = ricci_compile_opts_default();
    o.opt_level = opt_level;
    EXPECT_TRUE(Ok(ricci_program_parse(ctx, text.data(), text.size(), "test", 4, &f)));
    EXPECT_TRUE(Ok(ricci_compile(f, &o, &x)));
    ricci_executable_release(x);
    ricci_program_release(f);
  }
  ricci_ctx* ctx = nullptr;
};

// The same entries, to the last bit, on one thread and on four.
TEST(Nvrtc, GivesTheSameOnAnyThreads) {
  std::vector<std::map<std::string, std::string>> made;
  for (const uint32_t workers : {1u, 4u}) {
    Executor host(workers);
    RealCompilerOf(host, "sm_90").Compile(Chain(), 1);
    EXPECT_EQ(host.jobs, 1);
    made.push_back(host.entries);
  }
  EXPECT_EQ(made[0].size(), kModules);
  EXPECT_EQ(made[0], made[1]);
}

// Level 1 is the quick one; 2 and 3 are one.
TEST(Nvrtc, KeysHaveLevelAndArchitecture) {
  CachingHost host;
  const std::string text = "program f(%x: f32[9]) {\n  %y: f32[9] = neg(%x)\n  return %y\n}";
  const RealCompilerOf hopper(host, "sm_90"), ampere(host, "sm_80");
  for (const uint32_t level : {1u, 2u, 3u}) hopper.Compile(text, level);
  EXPECT_EQ(CacheStats(hopper.ctx).misses, 2u);
  EXPECT_EQ(CacheStats(hopper.ctx).hits, 1u);
  ampere.Compile(text, 2);
  EXPECT_EQ(CacheStats(ampere.ctx).misses, 1u);
  const RealCompilerOf again(host, "sm_80");
  again.Compile(text, 2);
  EXPECT_EQ(CacheStats(again.ctx).hits, 1u);
}

// ---- lines ----

constexpr std::string_view kText =
    "program f(%x: f32[100], %y: f32[100]) {\n"
    "  %a: f32[100] = mul(%x, %y)\n"
    "  %b: f32[100] = sin(%a)\n"
    "  %c: f32[100] = add(%b, %x)\n"
    "  return %c\n"
    "}";

class LinesOfNvrtc : public ::testing::Test {
 protected:
  LinesOfNvrtc() {
    SetOption(runner_.ctx(), "cuda.arch", "sm_90");
    SetOption(runner_.ctx(), "cuda.compiler", RICCI_NVRTC);
    EXPECT_TRUE(Ok(ricci_context_add_plugin(runner_.ctx(), QueryScaledRow)));
    EXPECT_TRUE(Ok(ricci_context_add_plugin(runner_.ctx(), ricci_plugin_query_cuda)));
  }
  std::string CompileError(const std::string& text) {
    const Program f = runner_.Parse(text);
    ricci_executable* x = nullptr;
    ricci_device* const gpu = ricci_device_find(runner_.ctx(), "cuda", 4);
    ricci_compile_opts o = ricci_compile_opts_default();
    o.devices = &gpu;
    o.n_devices = 1;
    ricci_status* const s = ricci_compile(f.get(), &o, &x);
    EXPECT_NE(s, nullptr);
    return Message(s);
  }
  ProgramRunner runner_;
};

// Each equation's line once, in the order of the text.
TEST_F(LinesOfNvrtc, OfFusedEquations) {
  const std::string text = runner_.Dump(runner_.Parse(kText), "native", "cuda");
  for (const char* line : {"#line 2 \"test\"", "#line 3 \"test\"", "#line 4 \"test\""}) {
    EXPECT_NE(text.find(line), std::string::npos) << text;
  }
  size_t directives = 0;
  for (size_t at = text.find("#line"); at != text.npos; at = text.find("#line", at + 1)) ++directives;
  EXPECT_LE(directives, 8u) << text;
}

// The line table of the machine code has a list of files.
TEST_F(LinesOfNvrtc, InMachineCode) {
  const Program f = runner_.Parse(std::string("program f(%x: f32[100]) {\n  %y: f32[100] = sin(%x)\n  return %y\n}"));
  const std::string object = runner_.Dump(f, "object", "cuda");
  EXPECT_NE(object.find(".debug_line"), std::string::npos);
  EXPECT_NE(object.find(std::string("test\0", 5)), std::string::npos);
}

TEST_F(LinesOfNvrtc, OfASourceAreThePlugins) {
  const auto text = [](const char* a) {
    return std::string("program f(%x: f64[40]) {\n  %z: f64[40] = test.scaled(%x) a=") + a + "\n  return %z\n}";
  };
  const std::string known = CompileError(text("15.0")), unknown = CompileError(text("13.0"));
  EXPECT_EQ(known.find("test:2: test.scaled: "), 0u) << known;
  EXPECT_NE(
      known.find("scaled_row.h(" + std::to_string(kWrongTextLine + 1) + "): error: identifier \"y\" is undefined"),
      std::string::npos)
      << known;
  EXPECT_NE(unknown.find("ricci.cu(2): error: identifier \"y\" is undefined"), std::string::npos) << unknown;
}

// ---- products by groups of warps ----
// What ptxas advises where it makes products wait that should run by themselves.
constexpr const char* kSerialized = "Potential Performance Loss";

struct Compiled {
  std::string log, code;
};
Compiled CompileFor(const cuda::Compiler& c, const std::string& text, const char* architecture) {
  const cuda::NvrtcProgram program(c, text);
  Compiled out;
  EXPECT_TRUE(program.Compile({.architecture = architecture, .figures = true})) << architecture;
  EXPECT_TRUE(program.ReadText(c.nvrtcGetProgramLogSize, c.nvrtcGetProgramLog, out.log));
  if (!program.Read(c.nvrtcGetCUBINSize, c.nvrtcGetCUBIN, out.code)) ADD_FAILURE() << out.log;
  return out;
}
bool Has(const std::string& text, const char* word) { return text.find(word) != text.npos; }

class ProductsOfNvrtc : public ::testing::Test {
 protected:
  ProductsOfNvrtc() {
    std::string error;
    nvrtc_ = cuda::OpenCompiler({RICCI_NVRTC}, error);
    nvrtc_->disassembler = RICCI_NVDISASM;
  }
  // Without a warning, with the instructions that the architecture has: one in turn.
  void ExpectInstructions(const std::string& program, bool may_spill_by_mma = false) {
    constexpr const char* kArchitectures[] = {"sm_80", "sm_90a", "sm_100a", "sm_120a"};
    for (uint64_t n = 0; n < std::size(kArchitectures); ++n) {
      if (!IsInTurn(n + texts_, std::size(kArchitectures))) continue;
      const char* const architecture = kArchitectures[n];
      SCOPED_TRACE(architecture + (" " + program));
      const std::string text = TextFor(architecture, program);
      const Compiled c = CompileFor(*nvrtc_, text, architecture);
      EXPECT_FALSE(Has(c.log, kSerialized) || Has(c.log, "warning")) << c.log;
      const bool has_wgmma = std::string(architecture) == "sm_90a";
      for (const auto& [name, used] : cuda::ResourcesIn(c.log)) {
        EXPECT_TRUE(used.spill_bytes == 0 || (may_spill_by_mma && !has_wgmma)) << name << " " << used.spill_bytes;
      }
      std::string sass;
      EXPECT_TRUE(Ok(cuda::Disassemble(*nvrtc_, c.code, sass)));
      EXPECT_EQ(Has(sass, "HGMMA"), has_wgmma);
      EXPECT_EQ(Has(sass, " HMMA"), !has_wgmma);
    }
    ++texts_;
  }
  std::unique_ptr<cuda::Compiler> nvrtc_;
  uint64_t texts_ = 0;
};

TEST_F(ProductsOfNvrtc, RunByThemselves) {
  const auto product = [](const char* type, const char* x, const char* y, const char* z, const char* how) {
    const std::string t(type);
    return "program f(%x: " + t + x + ", %y: " + t + y + ") {\n  %z: f32" + z + " = dot_general(%x, %y) " + how +
           " preferred_element_type=f32\n  return %z\n}";
  };
  const char* const kPlain = "lhs_contract=[1] rhs_contract=[0]";
  ExpectInstructions(product("bf16", "[4096,1024]", "[1024,1024]", "[4096,1024]", kPlain));  // 128 by 128
  ExpectInstructions(product("f16", "[1024,4096]", "[1024,1024]", "[4096,1024]", "lhs_contract=[0] rhs_contract=[1]"));
  ExpectInstructions(product("bf16", "[96,64,64]", "[96,64,64]", "[96,64,64]",  // 64 by 64
                             "lhs_contract=[2] rhs_contract=[1] lhs_batch=[0] rhs_batch=[0]"));
  ExpectInstructions(product("bf16", "[4096,1001]", "[1001,1023]", "[4096,1023]", kPlain),
                     /*may_spill_by_mma=*/true);  // element by element
}

// A use of sums between a product and its wait: the advisory is what the tests look for.
TEST_F(ProductsOfNvrtc, WhereTheyDoNotTheAdvisorySaysSo) {
  const std::string text = R"(
extern "C" __global__ void k(float* b, unsigned long long x) {
  float s[4] = {};
  for (int i = 0; i < 8; ++i) {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %4, 1, 1, 1, 0, 0;"
                 : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3]) : "l"(x));
    s[0] += 1;
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  }
  b[threadIdx.x] = s[0] + s[1] + s[2] + s[3];
})";
  const Compiled c = CompileFor(*nvrtc_, text, "sm_90a");
  EXPECT_TRUE(Has(c.log, kSerialized)) << c.log;
}

TEST(Nvrtc, UnknownArchitecture) {
  for (const char* arch : {"sm_76", "sm_91", "sm_90b", "sm_", "compute_90", "hopper"}) {
    ProgramRunner runner;
    SetOption(runner.ctx(), "cuda.arch", arch);
    SetOption(runner.ctx(), "cuda.compiler", RICCI_NVRTC);
    EXPECT_EQ(Message(ricci_context_add_plugin(runner.ctx(), ricci_plugin_query_cuda)),
              std::string("cuda: option cuda.arch: NVRTC 13.0 does not know the architecture ") + arch +
                  "; it knows sm_75, sm_80, sm_86, sm_87, sm_88, sm_89, sm_90, sm_100, sm_103, sm_110, sm_120, sm_121");
  }
}

// The kernels that decide about loops: the driver links what they call, and takes their PTX as that of CUDA 12.0, so
// they use nothing newer than the instructions of the first GPUs.
TEST(Nvrtc, KernelsOfConditionsAreOldPtx) {
  std::string error;
  const auto compiler = cuda::OpenCompiler({RICCI_NVRTC}, error);
  ASSERT_NE(compiler, nullptr) << error;
  EXPECT_EQ(compiler->OldestArchitecture(), 75);
  const std::string ptx =
      compiler->CompileToPtx(cuda::kConditionText, {.architecture = "compute_75", .unlinked = true}, error);
  EXPECT_EQ(error, "");
  for (const char* has : {"\n.version ", "\n.target sm_75", "\n.extern .func cudaGraphSetConditional",
                          ".visible .entry ricci_loop(", ".visible .entry ricci_branches("}) {
    EXPECT_NE(ptx.find(has), ptx.npos) << has << " in\n" << ptx;
  }
  EXPECT_EQ(ptx.find(".version "), ptx.rfind(".version "));
  static constexpr const char* kOld[] = {"ld",  "st",  "cvta", "mov", "setp", "selp", "cvt", "add", "sub",
                                         "min", "max", "and",  "or",  "call", "ret",  "bra", "xor", "not"};
  std::istringstream lines(ptx);
  int instructions = 0;
  for (std::string line; std::getline(lines, line);) {
    const size_t begin = line.find_first_not_of(" \t");
    if (begin == line.npos || line.find(';') == line.npos || std::islower(line[begin]) == 0) continue;
    const std::string opcode = line.substr(begin, line.find_first_of(".; \t", begin) - begin);
    if (opcode == "cudaGraphSetConditional") continue;
    ++instructions;
    EXPECT_NE(std::find(std::begin(kOld), std::end(kOld), opcode), std::end(kOld)) << line;
  }
  EXPECT_GT(instructions, 10);
}

}}  // namespace ricci::testing
