// Compilation of plans in modules: what the host keeps of them, cancellation, and what is said of those that are
// refused.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>

#include "cuda/driver_calls.h"
#include "cuda/gpu_program.h"
#include "cuda/scaled_row.h"
#include "cuda/simulated_gpu.h"
#include "cuda/sum_chain.h"
#include "cuda/while_program.h"
#include "runtime/cache/cache_entry.h"
#include "support/cached_host.h"

namespace ricci::testing { namespace {

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
  // Entries are whole, but no images.
  void DamageAll() const {
    for (const std::filesystem::path& path : folder_.Files()) {
      const std::string whole = BytesOfFile(path);
      base::Digest key;
      std::memcpy(key.data(), whole.data() + 16, key.size());
      SetBytesOfFile(path, runtime::WriteCacheEntry(key, std::string(8, '\0')));
    }
  }
  const TemporaryFolder folder_;
};

TEST_F(KeptModules, ASecondProcessNeedsNoCompiler) {
  const pid_t child = fork();
  if (child == 0) {
    OfStandin<void()>("ricci_standin_new_process")();
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
  DamageAll();
  const uint32_t before = Made();
  Host host(folder_.path());
  EXPECT_EQ(host.RunChain(), want);
  EXPECT_EQ(Made() - before, kModules);
  EXPECT_EQ(host.stats().stores, kModules);
  Host again(folder_.path());
  EXPECT_EQ(again.RunChain(), want);
  EXPECT_EQ(again.stats().stores, 0u);
}

// What decides about loops is kept too, and made again if it is of no use.
TEST_F(KeptModules, KernelsOfConditions) {
  const auto expect_graph = [&](uint64_t stores) {
    Host host(folder_.path());
    Calls();
    EXPECT_EQ(host.runner().Run(host.runner().Parse(WhileBelow(5)), {{1}, Numbers(1000, 1)}, "cuda").at(0),
              Numbers(1000, 16));
    EXPECT_EQ(CountOf(Calls(), "cuGraphLaunch"), 1);
    EXPECT_EQ(host.stats().stores, stores);
  };
  expect_graph(2);  // the kernels of the plan, and those that decide
  Refuse("__global__");
  expect_graph(0);
  Refuse("");
  DamageAll();
  expect_graph(2);
  expect_graph(0);
}

// A host that counts its calls, and those that find a context of ours.
struct NotingHost : CachingHost {
  NotingHost() : plain(hooks) {
    hooks.cache_load = [](void* self, const void* key, size_t n, void* sink,
                          void (*write)(void* sink, const char* p, size_t n)) {
      Noted(self).plain.cache_load(self, key, n, sink, write);
    };
    hooks.cache_store = [](void* self, const void* key, size_t n, const void* entry, size_t len) {
      Noted(self).plain.cache_store(self, key, n, entry, len);
    };
    hooks.exec_self = hooks.cache_self;
    hooks.exec_workers = 1;
    hooks.parallel_for = [](void* self, int64_t n, void (*fn)(void* arg, int64_t i), void* arg) {
      Noted(self);
      for (int64_t i = 0; i < n; ++i) fn(arg, i);
    };
  }
  static NotingHost& Noted(void* self) {
    auto& host = static_cast<NotingHost&>(*static_cast<CachingHost*>(self));
    ++host.asked;
    host.wrong += OfStandin<int()>("ricci_standin_pushed")() != 0;
    return host;
  }
  // The number of calls for two programs, one of which has a loop.
  uint64_t CompileAll() {
    asked = 0;
    ProgramRunner r(&opts);
    EXPECT_TRUE(Ok(ricci_context_add_plugin(r.ctx(), QueryScaledRow)));
    EXPECT_TRUE(Ok(ricci_context_add_plugin(r.ctx(), QuerySimulatedGpu)));
    r.Run(r.Parse(Chain()), {Argument()}, "cuda");
    r.Run(r.Parse(WhileBelow(5)), {{1}, Numbers(1000, 1)}, "cuda");
    return asked;
  }

  const ricci_hooks plain;
  uint64_t asked = 0, wrong = 0;
};

// Also for an image that is of no use and made again.
TEST_F(KeptModules, TheHostIsCalledWithoutOurContext) {
  constexpr uint64_t kAll = kModules + 2, kCalls = 2 * kAll + 1;  // each is looked for and kept; the executor
  NotingHost host;
  EXPECT_EQ(host.CompileAll(), kCalls);
  for (auto& [key, entry] : host.entries) {
    base::Digest digest;
    std::memcpy(digest.data(), key.data(), digest.size());
    entry = runtime::WriteCacheEntry(digest, std::string(8, '\0'));
  }
  EXPECT_EQ(host.CompileAll(), kCalls);
  EXPECT_EQ(host.wrong, 0u);
}

// A host whose cache compiles another program with a loop on the same GPU when it is asked for what decides, the second
// time that it is asked.
struct CallingBackHost : CachingHost {
  CallingBackHost() : plain(hooks) {
    hooks.cache_load = [](void* self, const void* key, size_t n, void* sink,
                          void (*write)(void* sink, const char* p, size_t n)) {
      auto& host = static_cast<CallingBackHost&>(*static_cast<CachingHost*>(self));
      if (++host.asked == 2) host.CompileAnother();
      host.plain.cache_load(self, key, n, sink, write);
    };
  }
  void CompileAnother() const {
    GpuProgram f(GpuOf(runner->ctx()));
    EXPECT_TRUE(Ok(f.Compile(runner->ctx(), WhileBelow(3))));
  }
  const ricci_hooks plain;
  ProgramRunner* runner = nullptr;
  int asked = 0;
};

TEST_F(KeptModules, TheHostMayCallBack) {
  CallingBackHost host;
  ProgramRunner r(&host.opts);
  ASSERT_TRUE(Ok(ricci_context_add_plugin(r.ctx(), QuerySimulatedGpu)));
  host.runner = &r;
  Calls();
  EXPECT_EQ(r.Run(r.Parse(WhileBelow(5)), {{1}, Numbers(1000, 1)}, "cuda").at(0), Numbers(1000, 16));
  EXPECT_EQ(host.asked, 4) << "for two programs, each of which wanted what decides";
  EXPECT_EQ(CountOf(Calls(), "cuModuleLoadData"), 3) << "what decides was loaded once";
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
  EXPECT_NE(message.find("NVRTC refuses a kernel for sm_90a: ricci.cu(1): error: the test refuses void k17_"),
            std::string::npos)
      << message;
}

}}  // namespace ricci::testing
