// Damage to whole executables that a cache keeps: what was changed, cut off, or written by a process that was killed is
// a miss, and programs compute what they always do.
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>

#include "cpu/kept_key.h"
#include "runtime/cache/cache_entry.h"
#include "runtime/cache/executable_entry.h"
#include "runtime/compile/saved_executable.h"
#include "runtime/run/executable.h"
#include "support/cached_host.h"

namespace ricci::testing { namespace {

// One executable in the cache of a host, loaded as compilation does it, as often as one wants.
class OneEntry {
 public:
  explicit OneEntry(const KeptProgram& e)
      : args_(e.args),
        runner_(&host_.opts),
        program_(ParseKept(runner_, e)),
        key_(KeyOf(*ir::FromAbi(program_.get()))) {
    ricci_executable* x = nullptr;
    EXPECT_TRUE(Ok(ricci_compile(program_.get(), nullptr, &x)));
    RunInto(want_, runner_.ctx(), x, args_);
    ricci_executable_release(x);
    for (auto& [key, entry] : host_.entries) {
      const auto code = runtime::ReadCacheEntry(DigestOf(key), entry);
      if (code && runtime::IsExecutableEntry(*code)) entry_ = &entry, digest_ = DigestOf(key);
    }
    EXPECT_NE(entry_, nullptr);
    whole_ = *entry_;
  }

  const std::string& whole() const { return whole_; }
  // The entry of these bytes, with a header that fits.
  std::string WithHeader(const std::string& code) const { return runtime::WriteCacheEntry(digest_, code); }
  base::Ref<runtime::CompiledCode> Load(const std::string& entry) {
    *entry_ = entry;
    runtime::Context& context = *runtime::FromAbi(runner_.ctx());
    const auto kept = runtime::ExecutableKey::Of(key_);
    return runtime::LoadExecutable(context.code_cache(), *kept, key_);
  }
  void ExpectRight(base::Ref<runtime::CompiledCode> code) {
    const auto x = runtime::Executable::Create(std::move(code), true, false, true);
    Executed got;
    RunInto(got, runner_.ctx(), runtime::Abi(x.get()), args_);
    EXPECT_EQ(got.values, want_.values);
  }

 private:
  static base::Digest DigestOf(const std::string& key) {
    base::Digest digest{};
    std::memcpy(digest.data(), key.data(), std::min(key.size(), digest.size()));
    return digest;
  }

  const std::vector<Numbers> args_;
  CachingHost host_;
  ProgramRunner runner_;
  const Program program_;
  const runtime::CompileKey key_;
  Executed want_;
  std::string* entry_ = nullptr;
  base::Digest digest_{};
  std::string whole_;
};

// A byte, a piece that is missing, twice there or zero, or another number.
std::string Damaged(const std::string& whole, std::mt19937& random) {
  const auto below = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); };
  std::string bytes = whole;
  const size_t at = below(whole.size()), n = 1 + below(std::min<size_t>(whole.size() - at, 256));
  switch (below(5)) {
    case 0:
      bytes[at] = static_cast<char>(bytes[at] + 1 + static_cast<int>(below(255)));
      break;
    case 1:
      bytes.erase(at, n);
      break;
    case 2:
      bytes.insert(below(whole.size()), whole.substr(at, n));
      break;
    case 3:
      bytes.replace(at, n, std::string(n, '\0'));
      break;
    default:
      for (size_t i = at; i < std::min(at + 4, whole.size()); ++i) bytes[i] = static_cast<char>(below(256));
  }
  return bytes;
}

TEST(KeptDamage, ARandomMistakeIsAMiss) {
  constexpr int kRounds = 20000;
  std::mt19937 random(1);
  const std::vector<KeptProgram> programs = KeptPrograms();
  int missed = 0;
  for (const size_t which : {0u, 1u, 4u, 10u}) {
    OneEntry entry(programs[which]);
    for (int i = 0; i < kRounds / 4; ++i) {
      const std::string damaged = Damaged(entry.whole(), random);
      auto code = entry.Load(damaged);
      missed += !code;
      if (code) {
        ASSERT_EQ(damaged, entry.whole());
      }
    }
    auto code = entry.Load(entry.whole());
    ASSERT_TRUE(code);
    entry.ExpectRight(std::move(code));
  }
  EXPECT_GT(missed, kRounds * 9 / 10);
}

// The mistakes of someone who knows the checksum: the tables and the object that are read keep to their bounds. What
// such code computes is up to its writer, so it is not run (ricci/cache.h).
TEST(KeptDamage, ReadersTrustNoChecksum) {
  std::mt19937 random(2);
  const std::vector<KeptProgram> programs = KeptPrograms();
  for (const size_t which : {0u, 4u, 10u}) {
    OneEntry entry(programs[which]);
    const std::string code = entry.whole().substr(64);
    for (int i = 0; i < 4000; ++i) entry.Load(entry.WithHeader(Damaged(code, random)));
    EXPECT_TRUE(entry.Load(entry.whole()));
  }
}

// ---- processes ----

class Process {
 public:
  explicit Process(const std::string& folder, std::string_view bytes = "0") {
    SetOption(runner_.ctx(), "cache_dir", folder);
    SetOption(runner_.ctx(), "cache_bytes", bytes);
  }
  std::vector<Numbers> Run(int version) {
    const Program f = runner_.Parse("program f(%x: f64[100]) { %c: f64[] = constant " + std::to_string(version) +
                                    ".0 %b: f64[100] = broadcast_in_dim(%c) shape=[100] broadcast_dimensions=[]"
                                    " %y: f64[100] = mul(%x, %b) return %y }");
    return runner_.Run(f, {Rising(100)}, "cpu");
  }
  ricci_cache_stats stats() const { return CacheStats(runner_.ctx()); }

 private:
  ProgramRunner runner_;
};

void ExpectProducts(Process& p, int versions) {
  for (int version = 1; version <= versions; ++version) {
    const std::vector<Numbers> got = p.Run(version);
    ASSERT_EQ(got.size(), 1u);
    for (int i = 0; i < 100; ++i)
      ASSERT_EQ(got[0][static_cast<size_t>(i)], Rising(100)[static_cast<size_t>(i)] * version);
  }
}

TEST(KeptDamage, OfAProcessThatIsKilled) {
  const TemporaryFolder folder;
  uint64_t found = 0;
  for (int round = 0; round < 8; ++round) {
    int began[2];  // the child writes when it has stored everything once
    ASSERT_EQ(pipe(began), 0);
    const pid_t child = fork();
    if (child == 0) {
      for (;;) {
        std::error_code ignored;
        for (const auto& path : folder.Files()) std::filesystem::remove(path, ignored);
        Process p(folder.path());
        for (int version = 1; version <= 6; ++version) p.Run(version);
        [[maybe_unused]] const ssize_t written = write(began[1], "", 1);
      }
    }
    pollfd beginning = {began[0], POLLIN, 0};
    EXPECT_EQ(poll(&beginning, 1, 60'000), 1);
    usleep(static_cast<useconds_t>(60'000 + 37'000 * round));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    for (const int end : began) close(end);
    Process p(folder.path());
    ExpectProducts(p, 6);
    EXPECT_EQ(p.stats().refused, 0u) << "a reader sees whole entries or none";
    found += p.stats().executable_hits;
  }
  EXPECT_GT(found, 0u);
}

TEST(KeptDamage, NoneByProcessesThatShareAFolder) {
  const TemporaryFolder folder;
  std::vector<pid_t> children;
  for (int i = 0; i < 3; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      for (int round = 0; round < 4 && !::testing::Test::HasFailure(); ++round) {
        Process p(folder.path(), i == 2 ? "40000" : "0");
        ExpectProducts(p, 6);
        EXPECT_EQ(p.stats().refused, 0u);
      }
      _exit(::testing::Test::HasFailure() ? 1 : 0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
}

}}  // namespace ricci::testing
