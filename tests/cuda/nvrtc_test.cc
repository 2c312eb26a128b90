// What needs the real compiler: machine code on any number of threads, its keys, places of the host's source in
// messages and in the line table of machine code, architectures that it does not know, PTX for older drivers.
#include <atomic>
#include <cctype>
#include <sstream>
#include <thread>

#include "conditions.h"
#include "cuda/scaled_row.h"
#include "cuda/simulated_gpu.h"
#include "cuda/sum_chain.h"
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

TEST(Nvrtc, UnknownArchitecture) {
  for (const char* arch : {"sm_70", "sm_91", "sm_90b", "sm_", "compute_90", "hopper"}) {
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
