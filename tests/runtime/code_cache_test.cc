// The cache of compiled code: what is kept comes back, and nothing else does, whatever happens to hooks, files and
// folder.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <random>
#include <thread>

#include "support/cached_host.h"

namespace ricci::testing { namespace {

namespace fs = std::filesystem;

// A context with a cache.
class Cached {
 public:
  explicit Cached(const ricci_context_opts* o = nullptr) { EXPECT_TRUE(Ok(ricci_context_create(o, &ctx_))); }
  Cached(const std::string& folder, std::string_view bytes = "0") : Cached() {
    SetOption(ctx_, "cache_dir", folder);
    SetOption(ctx_, "cache_bytes", bytes);
  }
  ~Cached() { ricci_context_release(ctx_); }
  Cached(const Cached&) = delete;

  void Store(std::string_view key, std::string_view code) {
    ricci_cache_store(ctx_, key.data(), key.size(), code.data(), code.size());
  }
  // `-` if there is none.
  std::string Load(std::string_view key) {
    std::string code;
    const auto append = [](void* sink, const char* p, size_t n) { static_cast<std::string*>(sink)->append(p, n); };
    return ricci_cache_load(ctx_, key.data(), key.size(), &code, append) != 0 ? code : "-";
  }
  ricci_cache_stats stats() const { return CacheStats(ctx_); }
  ricci_ctx* ctx() { return ctx_; }

 private:
  ricci_ctx* ctx_ = nullptr;
};

TEST(CodeCache, IsOffUnlessTheHostWantsIt) {
  Cached c;
  EXPECT_EQ(ricci_cache_is_on(c.ctx()), 0u);
  c.Store("key", "code");
  EXPECT_EQ(c.Load("key"), "-");
  EXPECT_EQ(c.stats().misses + c.stats().stores, 0u);
}

TEST(CodeCache, HooksKeepEntriesByKey) {
  CachingHost host;
  Cached first(&host.opts);
  EXPECT_EQ(ricci_cache_is_on(first.ctx()), 1u);
  EXPECT_EQ(first.Load("key"), "-");
  first.Store("key", "code");
  first.Store("other", "");
  Cached second(&host.opts);
  EXPECT_EQ(second.Load("key"), "code");
  EXPECT_EQ(second.Load("other"), "") << "empty code is code";
  EXPECT_EQ(second.stats().hits, 2u);
  EXPECT_EQ(first.stats().misses, 1u);
  EXPECT_EQ(first.stats().stores, 2u);
  for (const auto& [key, entry] : host.entries) EXPECT_EQ(key.size(), 32u);
}

TEST(CodeCache, WhatHooksGiveBackIsChecked) {
  CachingHost host;
  Cached c(&host.opts);
  c.Store("a", "code of a");
  c.Store("b", "code of b");
  std::swap(host.entries.begin()->second, host.entries.rbegin()->second);
  EXPECT_EQ(c.Load("a"), "-");
  host.entries.begin()->second.back() ^= 1;
  EXPECT_EQ(c.Load("b"), "-");
  EXPECT_EQ(c.stats().refused, 2u);
}

// 20,000 entries with a random mistake: a byte, a piece that is missing, twice there or zero, or one of another entry.
TEST(CodeCache, RandomDamage) {
  CachingHost host;
  Cached c(&host.opts);
  std::mt19937 random(1);
  const auto below = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); };
  std::string code(500, ' ');
  for (char& byte : code) byte = static_cast<char>(below(256));
  c.Store("other", std::string(700, 'x'));
  const std::string other = host.entries.begin()->second;
  host.entries.clear();
  c.Store("key", code);
  std::string& entry = host.entries.begin()->second;
  const std::string whole = entry;
  for (int i = 0; i < 20000; ++i) {
    entry = whole;
    const size_t at = below(whole.size()), n = 1 + below(whole.size() - at);
    const std::string piece = whole.substr(at, n);
    switch (below(5)) {
      case 0:
        entry[at] = static_cast<char>(entry[at] + 1 + static_cast<int>(below(255)));
        break;
      case 1:
        entry.erase(at, n);
        break;
      case 2:
        entry.insert(below(whole.size()), piece);
        break;
      case 3:
        entry.replace(at, n, std::string(n, '\0'));
        break;
      default:
        entry.replace(at, n, other, at, n);
    }
    ASSERT_EQ(c.Load("key"), entry == whole ? code : "-") << i;
  }
  EXPECT_GT(c.stats().refused, 19000u);
}

TEST(CodeCache, WithoutMemoryIsAMiss) {
  const TemporaryFolder folder;
  Cached(folder.path()).Store("key", "code");
  bool fails = false;
  ricci_hooks hooks{};
  hooks.hdr.size = sizeof hooks;
  hooks.alloc_self = &fails;
  hooks.alloc = [](void* self, size_t size, size_t align) -> void* {
    return *static_cast<bool*>(self) ? nullptr : std::aligned_alloc(align, (size + align - 1) / align * align);
  };
  hooks.free = [](void*, void* p, size_t, size_t) { std::free(p); };
  ricci_context_opts o = ricci_context_opts_default();
  o.hooks = &hooks;
  Cached c(&o);
  SetOption(c.ctx(), "cache_dir", folder.path());
  fails = true;
  EXPECT_EQ(c.Load("key"), "-");
  fails = false;
  EXPECT_EQ(c.Load("key"), "code");
}

TEST(CodeCache, WrongHooks) {
  CachingHost host;
  Cached c(&host.opts);
  EXPECT_EQ(Message(ricci_context_config(c.ctx(), "cache_dir", 9, "/tmp", 4)),
            "config: cache_dir: the host's hooks keep compiled code already");
  host.hooks.cache_store = nullptr;
  ricci_ctx* made = nullptr;
  EXPECT_EQ(Message(ricci_context_create(&host.opts, &made)),
            "hooks: cache_load and cache_store must be given together; cache_store is NULL");
}

TEST(CodeCache, AFolderKeepsEntriesForOthers) {
  const TemporaryFolder folder;
  const std::string inner = folder.path() + "/made/when/written";
  {
    Cached c(inner);
    EXPECT_EQ(c.Load("key"), "-");
    EXPECT_FALSE(fs::exists(inner)) << "nothing is made before something is kept";
    c.Store("key", "code");
    c.Store("key", "newer code");
  }
  Cached c(inner);
  EXPECT_EQ(c.Load("key"), "newer code");
  EXPECT_EQ(c.stats().hits, 1u);
  SetOption(c.ctx(), "cache_dir", "");
  EXPECT_EQ(ricci_cache_is_on(c.ctx()), 0u);
}

// ---- damage ----

class DamagedFile : public ::testing::Test {
 protected:
  DamagedFile() {
    cache_.Store("key", code_);
    path_ = folder_.Files().at(0);
    whole_ = BytesOfFile(path_);
  }
  // The next entry replaces what a test has left.
  ~DamagedFile() override {
    cache_.Store("key", code_);
    EXPECT_EQ(cache_.Load("key"), code_);
  }
  // A file with these bytes is a miss.
  void ExpectRefused(std::string_view bytes, const std::string& what) {
    fs::remove(path_);  // disks wait for files that are written over
    SetBytesOfFile(path_, bytes);
    const uint64_t before = cache_.stats().refused;
    EXPECT_EQ(cache_.Load("key"), "-") << what;
    EXPECT_EQ(cache_.stats().refused, before + 1) << what;
  }

  const std::string code_ = std::string("code\0 of some length", 20) + std::string(80, 'x');
  const TemporaryFolder folder_;
  Cached cache_{folder_.path()};
  fs::path path_;
  std::string whole_;
};

TEST_F(DamagedFile, EveryBit) {
  for (size_t i = 0; i < whole_.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bytes = whole_;
      bytes[i] = static_cast<char>(bytes[i] ^ (1 << bit));
      ExpectRefused(bytes, "bit " + std::to_string(bit) + " of byte " + std::to_string(i));
    }
  }
}

TEST_F(DamagedFile, EveryLength) {
  for (size_t n = 0; n < whole_.size(); ++n) ExpectRefused(whole_.substr(0, n), "cut to " + std::to_string(n));
  ExpectRefused(whole_ + '\0', "longer");
  ExpectRefused(whole_ + whole_, "twice");
}

TEST_F(DamagedFile, OtherFiles) {
  std::string version = whole_;
  version[8] = 2;
  ExpectRefused(version, "the next version");
  ExpectRefused("#!/bin/sh\nexit 1\n", "a program");
  cache_.Store("other", "code of another key");
  for (const fs::path& p : folder_.Files()) {
    if (p != path_) ExpectRefused(BytesOfFile(p), "an entry of another key");
  }
}

TEST_F(DamagedFile, WhatIsNoFile) {
  fs::remove(path_);
  fs::create_directory(path_);
  EXPECT_EQ(cache_.Load("key"), "-");
  cache_.Store("key", code_);
  EXPECT_EQ(cache_.stats().failed_stores, 1u);
  fs::remove(path_);
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_EQ(cache_.Load("key"), "-") << "and it does not wait for a writer";
}

// ---- folders ----

TEST(CodeCacheFolder, GoneInBetween) {
  const TemporaryFolder folder;
  Cached c(folder.path() + "/cache");
  c.Store("key", "code");
  fs::remove_all(folder.path() + "/cache");
  EXPECT_EQ(c.Load("key"), "-");
  c.Store("key", "code");
  EXPECT_EQ(c.Load("key"), "code");
}

TEST(CodeCacheFolder, ThatCannotBeWritten) {
  const TemporaryFolder folder;
  SetBytesOfFile(folder.path() + "/file", "");
  std::string log;
  ricci_hooks hooks{};
  hooks.hdr.size = sizeof hooks;
  hooks.log_self = &log;
  hooks.log = [](void* self, uint32_t, const char* msg, size_t len) {
    static_cast<std::string*>(self)->append(msg, len).append("\n");
  };
  ricci_context_opts o = ricci_context_opts_default();
  o.hooks = &hooks;
  Cached c(&o);
  SetOption(c.ctx(), "cache_dir", folder.path() + "/file");
  for (int i = 0; i < 3; ++i) c.Store("key", "code");
  EXPECT_EQ(c.Load("key"), "-");
  EXPECT_EQ(c.stats().failed_stores, 3u);
  EXPECT_EQ(log.find("cache_dir: compiled code is not kept: "), 0u) << log;
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 1) << log;
}

// The status of a process that runs `body`.
template <typename Body>
pid_t InProcess(Body body) {
  const pid_t child = fork();
  if (child != 0) return child;
  body();
  _exit(::testing::Test::HasFailure() ? 1 : 0);
}
void ExpectToEndWell(pid_t child) {
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

// A full disk: files cannot be longer than half of the entry.
TEST(CodeCacheFolder, Full) {
  const TemporaryFolder folder;
  ExpectToEndWell(InProcess([&] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit most{1000, 1000};
    EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &most), 0);
    Cached c(folder.path());
    c.Store("key", std::string(2000, 'x'));
    EXPECT_EQ(c.stats().failed_stores, 1u);
    EXPECT_EQ(c.Load("key"), "-");
  }));
  EXPECT_TRUE(folder.Files().empty());
}

TEST(CodeCacheFolder, KeepsToItsSize) {
  const TemporaryFolder folder;
  SetBytesOfFile(folder.path() + "/notes.txt", std::string(5000, 'x'));
  SetBytesOfFile(folder.path() + "/" + std::string(64, 'a') + ".1-1-1.part", std::string(5000, 'x'));
  const fs::path left = folder.path() + "/" + std::string(64, 'b') + ".1-1-1.part";
  SetBytesOfFile(left, "of a process that died");
  fs::last_write_time(left, fs::file_time_type::clock::now() - std::chrono::hours(2));
  Cached c(folder.path(), "10000");
  const std::string code(1000 - 64, 'c');
  for (int i = 0; i < 9; ++i) {
    c.Store(std::to_string(i), code);
    for (const fs::path& p : folder.Files()) {  // all of the past, in order
      if (p.extension() == ".code") fs::last_write_time(p, fs::last_write_time(p) - std::chrono::minutes(1));
    }
  }
  EXPECT_EQ(c.Load("0"), code) << "now it is the one that was used last";
  c.Store("9", code);
  c.Store("10", code);
  EXPECT_EQ(c.stats().evicted, 2u) << "to nine tenths";
  EXPECT_EQ(c.Load("1"), "-");
  EXPECT_EQ(c.Load("2"), "-");
  for (const char* key : {"0", "3", "8", "9", "10"}) EXPECT_EQ(c.Load(key), code) << key;
  EXPECT_TRUE(fs::exists(folder.path() + "/notes.txt"));
  EXPECT_FALSE(fs::exists(left));
  EXPECT_EQ(folder.Files().size(), 9u + 2);
}

// ---- several at once ----

std::string CodeOf(int key, int version) {
  return std::string(static_cast<size_t>(20000 + 1000 * key), static_cast<char>('a' + (key + version) % 26));
}
// What any version of any key is.
void ExpectWhole(Cached& c, int key) {
  const std::string code = c.Load(std::to_string(key));
  if (code == "-") return;
  EXPECT_EQ(code, std::string(static_cast<size_t>(20000 + 1000 * key), code[0])) << key;
}
void ReadAndWrite(Cached& c, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    ExpectWhole(c, (i + 1) % 3);
    c.Store(std::to_string(i % 3), CodeOf(i % 3, i));
  }
}

TEST(CodeCacheShared, ByThreads) {
  const TemporaryFolder folder;
  Cached c(folder.path(), "50000");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) threads.emplace_back([&] { ReadAndWrite(c, 60); });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(c.stats().refused, 0u);
  EXPECT_EQ(c.stats().failed_stores, 0u);
}

TEST(CodeCacheShared, WhileTheFolderComesAndGoes) {
  const TemporaryFolder folder;
  Cached c(folder.path());
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) threads.emplace_back([&] { ReadAndWrite(c, 60); });
  for (int i = 0; i < 400; ++i) SetOption(c.ctx(), "cache_dir", i % 2 == 0 ? "" : folder.path());
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(c.stats().refused, 0u);
}

TEST(CodeCacheShared, ByProcesses) {
  const TemporaryFolder folder;
  std::vector<pid_t> children;
  for (int p = 0; p < 3; ++p) {
    children.push_back(InProcess([&] {
      Cached c(folder.path(), p == 2 ? "50000" : "0");
      ReadAndWrite(c, 150);
      EXPECT_EQ(c.stats().refused, 0u);
      EXPECT_EQ(c.stats().failed_stores, 0u);
    }));
  }
  for (const pid_t child : children) ExpectToEndWell(child);
}

TEST(CodeCacheShared, WithAProcessThatIsKilled) {
  const TemporaryFolder folder;
  for (int round = 0; round < 10; ++round) {
    const pid_t child = InProcess([&] {
      Cached c(folder.path());
      ReadAndWrite(c, 1 << 30);
    });
    usleep(static_cast<useconds_t>(3000 + 700 * round));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    Cached c(folder.path());
    for (int key = 0; key < 3; ++key) ExpectWhole(c, key);
    EXPECT_EQ(c.stats().refused, 0u);
  }
}

}}  // namespace ricci::testing
