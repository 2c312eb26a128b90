// Compilation of plans in modules: what the host keeps of them, on which threads they are made, and what is said of
// those that are refused.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "cuda/scaled_row.h"
#include "cuda/simulated_gpu.h"
#include "runtime/cache_entry.h"
#include "support/cached_host.h"

namespace ricci::testing { namespace {

// A chain of sums of different lengths, each a kernel of its own: more kernels than one module has, and a text of a
// plugin.
constexpr int kSums = 20;
constexpr uint64_t kModules = 3;
std::string Chain() {
  std::string text = "program f(%x: f64[3000]) {\n  %s0: f64[] = constant 1.0\n";
  for (int i = 0; i < kSums; ++i) {
    const std::string n = std::to_string(i), next = std::to_string(i + 1),
                      type = "f64[" + std::to_string(2900 + i) + "]";
    text += "  %a" + n + ": " + type + " = slice(%x) limit_indices=[" + std::to_string(2900 + i) +
            "] start_indices=[0] strides=[1]\n  %b" + n + ": " + type + " = broadcast_in_dim(%s" + n +
            ") broadcast_dimensions=[] shape=[" + std::to_string(2900 + i) + "]\n  %c" + n + ": " + type + " = mul(%a" +
            n + ", %b" + n + ")\n  %s" + next + ": f64[] = reduce_sum(%c" + n + ") axes=[0]\n";
  }
  const std::string last = std::to_string(kSums);
  return text + "  %t: f64[1] = reshape(%s" + last + ") new_sizes=[1]\n  %y: f64[1] = test.scaled(%t) a=0.5\n" +
         "  return %y\n}";
}
Numbers Argument() {
  Numbers x(3000);
  for (size_t i = 0; i < x.size(); ++i) x[i] = (i % 2 == 0 ? 1.0 : 0.5) / 2000;
  return x;
}

void Refuse(const char* word) { OfStandin<void(const char*)>("ricci_standin_refuse")(word); }
uint32_t Made() { return OfStandin<uint32_t()>("ricci_standin_made")(); }

// A context with the simulated GPU.
class Host {
 public:
  explicit Host(const std::string& folder = "") {
    EXPECT_TRUE(Ok(ricci_context_add_plugin(runner_.ctx(), QueryScaledRow)));
    EXPECT_TRUE(Ok(ricci_context_add_plugin(runner_.ctx(), QuerySimulatedGpu)));
    SetOption(runner_.ctx(), "cache_dir", folder);
  }
  Numbers RunChain() { return runner_.Run(runner_.Parse(Chain()), {Argument()}, "cuda").at(0); }
  std::string RefusedChain() { return CompileError(Chain(), nullptr); }
  std::string CompileError(const std::string& text, uint32_t (*progress)(void*, uint32_t, uint32_t)) {
    const Program f = runner_.Parse(text);
    ricci_device* const gpu = ricci_device_find(runner_.ctx(), "cuda", 4);
    ricci_compile_opts o = ricci_compile_opts_default();
    o.devices = &gpu;
    o.n_devices = 1;
    o.progress = progress;
    ricci_executable* x = nullptr;
    ricci_status* const s = ricci_compile(f.get(), &o, &x);
    EXPECT_NE(s, nullptr);
    return Message(s);
  }
  ricci_cache_stats stats() const { return CacheStats(runner_.ctx()); }
  ProgramRunner& runner() { return runner_; }

 private:
  ProgramRunner runner_;
};

class KeptModules : public ::testing::Test {
 protected:
  ~KeptModules() override { Refuse(""); }
  const TemporaryFolder folder_;
};

TEST_F(KeptModules, ASecondProcessNeedsNoCompiler) {
  const pid_t child = fork();
  if (child == 0) {
    Host host(folder_.path());
    host.RunChain();
    EXPECT_EQ(host.stats().misses, kModules);
    EXPECT_EQ(host.stats().stores, kModules);
    _exit(HasFailure() ? 1 : 0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  Refuse("__global__");
  Host host(folder_.path());
  const Numbers got = host.RunChain();
  EXPECT_EQ(host.stats().hits, kModules);
  EXPECT_EQ(host.stats().misses, 0u);
  Refuse("");
  EXPECT_EQ(got, Host().RunChain());
}

TEST_F(KeptModules, AnImageOfNoUseIsMadeAgain) {
  const Numbers want = Host(folder_.path()).RunChain();
  for (const std::filesystem::path& path : folder_.Files()) {
    const std::string whole = BytesOfFile(path);
    base::Digest key;
    std::memcpy(key.data(), whole.data() + 16, key.size());
    SetBytesOfFile(path, runtime::WriteCacheEntry(key, std::string(8, '\0')));
  }
  const uint32_t before = Made();
  Host host(folder_.path());
  EXPECT_EQ(host.RunChain(), want);
  EXPECT_EQ(Made() - before, kModules);
  EXPECT_EQ(host.stats().stores, kModules);
  Host again(folder_.path());
  EXPECT_EQ(again.RunChain(), want);
  EXPECT_EQ(again.stats().stores, 0u);
}

// ---- threads ----

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
TEST_F(KeptModules, DoNotDependOnThreads) {
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
TEST_F(KeptModules, HaveAKeyOfLevelAndArchitecture) {
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

TEST_F(KeptModules, TheHostMayCancelInBetween) {
  static std::atomic<int> asked;
  asked = 0;
  const uint32_t before = Made();
  Host host;
  const std::string message = host.CompileError(
      Chain(), [](void*, uint32_t done, uint32_t total) -> uint32_t { return done < total || ++asked < 2; });
  EXPECT_EQ(message, "cuda: compilation cancelled by the host");
  EXPECT_LE(Made() - before, 1u);
}

// ---- refusal ----

TEST_F(KeptModules, ARefusedKernelIsNamed) {
  Refuse("void k17_");
  const std::string message = Host().RefusedChain();
  EXPECT_EQ(message.find("test:"), 0u) << message;
  EXPECT_NE(message.find("cuda: kernel k17_"), std::string::npos) << message;
  EXPECT_NE(message.find("NVRTC refuses a kernel for sm_90: ricci.cu(1): error: the test refuses void k17_"),
            std::string::npos)
      << message;
}

}}  // namespace ricci::testing
