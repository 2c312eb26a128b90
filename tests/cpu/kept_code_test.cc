// Machine code that the host keeps: a second process runs it without LLVM's code generator, and whatever the code
// depends on is part of its key. Whole executables are kept too (kept_executables_test.cc); they are of the lines of
// their program, so one that has moved down shows what becomes of its code.
#include <sys/wait.h>
#include <unistd.h>

#include "cpu/backend_with.h"
#include "cpu/source_rows.h"
#include "runtime/cache/cache_entry.h"
#include "runtime/cache/executable_entry.h"
#include "support/another_process.h"
#include "support/cached_host.h"

namespace ricci::testing { namespace {

struct Example {
  std::string text;
  std::vector<Numbers> args;
};

Numbers Rising(int n) {
  Numbers out;
  for (int i = 0; i < n; ++i) out.push_back(0.01 * i - 1);
  return out;
}

// Constants, special functions that are called, parallel loops with a branch around them, products, a text of a plugin.
std::vector<Example> Examples() {
  return {
      {"program f(%x: f64[3]) { %c: f64[3] = constant [0.5, 1.5, 2.5] %s: f64[3] = sin(%x) %y: f64[3] = mul(%s, %c)"
       " %z: f64[3] = lgamma(%c) return %y, %z }",
       {{1, 2, 3}}},
      {"program f(%x: f64[200,200]) { %n: i32[] = constant 3 %i: i32[] = constant 0"
       " %j: i32[], %y: f64[200,200] = while(%n, %i, %x) cond_nconsts=1 body_nconsts=0"
       " cond=program(%n: i32[], %i: i32[], %a: f64[200,200]) { %p: bool[] = lt(%i, %n) return %p }"
       " body=program(%i: i32[], %a: f64[200,200]) { %o: i32[] = constant 1 %k: i32[] = add(%i, %o)"
       " %s: f64[200,200] = cos(%a) return %k, %s } %m: f64[] = reduce_sum(%y) axes=[0,1] return %m }",
       {Rising(40000)}},
      {"program f(%x: f64[70,70]) { %y: f64[70,70] = dot_general(%x, %x) lhs_contract=[1] rhs_contract=[0]"
       " %z: f64[70] = test.sum_last(%y) return %y, %z }",
       {Rising(4900)}},
  };
}

Example Moved(Example e, size_t lines = 1) {
  e.text.insert(0, lines, '\n');
  return e;
}

// The host of a process.
class Host {
 public:
  explicit Host(const std::string& folder) {
    EXPECT_TRUE(Ok(ricci_context_add_plugin(runner_.ctx(), query_source_row_in_c)));
    SetOption(runner_.ctx(), "cache_dir", folder);
  }
  std::vector<Numbers> Run(const Example& e) { return runner_.Run(runner_.Parse(e.text), e.args, "cpu"); }
  ricci_cache_stats stats() const { return CacheStats(runner_.ctx()); }
  ProgramRunner& runner() { return runner_; }

 private:
  ProgramRunner runner_;
};

TEST(KeptCode, ASecondProcessGeneratesNone) {
  const TemporaryFolder folder;
  const std::vector<Example> examples = Examples();
  InAnotherProcess([&] {
    Host host(folder.path());
    for (const Example& e : examples) host.Run(e);
    EXPECT_EQ(host.stats().misses, examples.size());
    EXPECT_EQ(host.stats().stores, examples.size());
  });
  Host host(folder.path()), alone("");
  for (const Example& e : examples) EXPECT_EQ(host.Run(Moved(e)), alone.Run(e)) << e.text;
  EXPECT_EQ(host.stats().hits, examples.size());
  EXPECT_EQ(host.stats().misses, 0u);
  EXPECT_EQ(alone.stats().misses, 0u) << "without a folder nothing is asked for";
}

// Levels, numbers of threads, reports of steps and constants in the text give other code; constants of a run do not.
TEST(KeptCode, HasAKeyOfAllThatItDependsOn) {
  const TemporaryFolder folder;
  Host host(folder.path());
  const auto compile = [&](const char* text, uint32_t level, uint32_t flags) {
    const Program f = host.runner().Parse(text);
    ricci_compile_opts o = ricci_compile_opts_default();
    o.hdr.flags = flags;
    o.opt_level = level;
    ricci_executable* x = nullptr;
    EXPECT_TRUE(Ok(ricci_compile(f.get(), &o, &x)));
    ricci_executable_release(x);
    return std::to_string(host.stats().hits) + " of " + std::to_string(host.stats().hits + host.stats().misses);
  };
  const char* const text = "program f(%x: f64[9]) { %y: f64[9] = sin(%x) return %y }";
  EXPECT_EQ(compile(text, 2, 0), "0 of 1");
  EXPECT_EQ(compile(text, 1, 0), "0 of 2");
  EXPECT_EQ(compile(text, 2, RICCI_COMPILE_PROFILED), "0 of 3");
  EXPECT_EQ(compile("program f(%x: f64[9]) { %y: f64[9] = cos(%x) return %y }", 2, 0), "0 of 4");
  EXPECT_EQ(compile("program f(%x: f64[8]) { %y: f64[8] = sin(%x) return %y }", 2, 0), "0 of 5");
  Host again(folder.path());
  EXPECT_EQ(again.Run(Moved({text, {Rising(9)}})).size(), 1u);
  EXPECT_EQ(again.stats().hits, 1u);
}

template <int kVersion>
cpu::Settings ForProcessor() {
  cpu::Settings s;
  s.processor = kVersion == 2 ? "x86-64-v2" : "x86-64";
  return s;
}

TEST(KeptCode, IsThatOfAProcessor) {
  CachingHost host;
  size_t lines = 0;
  const auto misses = [&](ricci_plugin_query_fn query) {
    ricci_ctx* ctx = nullptr;
    EXPECT_TRUE(Ok(ricci_context_create(&host.opts, &ctx)));
    for (const auto q : {ricci_plugin_query_lax, query}) EXPECT_TRUE(Ok(ricci_context_add_plugin(ctx, q)));
    const Example e = Moved({"program f(%x: f64[9]) { %y: f64[9] = floor(%x) return %y }", {}}, lines++);
    ricci_program* f = nullptr;
    ricci_executable* x = nullptr;
    EXPECT_TRUE(Ok(ricci_program_parse(ctx, e.text.data(), e.text.size(), "test", 4, &f)));
    EXPECT_TRUE(Ok(ricci_compile(f, nullptr, &x)));
    const uint64_t misses = CacheStats(ctx).misses;
    ricci_executable_release(x);
    ricci_program_release(f);
    ricci_context_release(ctx);
    return misses;
  };
  EXPECT_EQ(misses(QueryBackendWith<ForProcessor<2>>), 1u);
  EXPECT_EQ(misses(QueryBackendWith<ForProcessor<1>>), 1u);
  EXPECT_EQ(misses(QueryBackendWith<ForProcessor<2>>), 0u);
}

// Entries that are whole, but hold no object that could be loaded.
TEST(KeptCode, OfNoUseIsGeneratedAgain) {
  const TemporaryFolder folder;
  const Example e = Examples()[0];
  std::vector<Numbers> want = Host(folder.path()).Run(e);
  std::filesystem::path path;
  for (const std::filesystem::path& p : folder.Files()) {
    if (!runtime::IsExecutableEntry(BytesOfFile(p).substr(64))) path = p;
  }
  const std::string whole = BytesOfFile(path);
  size_t lines = 1;
  base::Digest key;
  std::memcpy(key.data(), whole.data() + 16, key.size());
  for (const std::string& code : {std::string(), std::string("no object"), whole.substr(64, 100)}) {
    SetBytesOfFile(path, runtime::WriteCacheEntry(key, code));
    Host host(folder.path());
    EXPECT_EQ(host.Run(Moved(e, lines++)), want);
    EXPECT_EQ(host.stats().stores, 1u);
    EXPECT_EQ(BytesOfFile(path), whole);
  }
}

TEST(KeptCode, CancelledBeforeItIsGenerated) {
  const TemporaryFolder folder;
  Host host(folder.path());
  const Program f = host.runner().Parse(Examples()[0].text);
  ricci_compile_opts o = ricci_compile_opts_default();
  o.progress = [](void*, uint32_t done, uint32_t total) { return done == total ? 0u : 1u; };
  ricci_executable* x = nullptr;
  EXPECT_EQ(Message(ricci_compile(f.get(), &o, &x)), "cpu: compilation cancelled by the host");
  EXPECT_EQ(host.stats().misses, 0u);
}

}}  // namespace ricci::testing
