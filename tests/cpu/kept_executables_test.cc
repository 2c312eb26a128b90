// Whole executables that a cache keeps: another process runs them without a pass or a compilation and sees no
// difference; whatever they depend on is part of their key.
#include <sys/wait.h>
#include <unistd.h>

#include <set>

#include "cpu/backend_with.h"
#include "cpu/kept_programs.h"
#include "cpu/source_rows.h"
#include "support/another_process.h"
#include "support/cached_host.h"

namespace ricci::testing { namespace {

// The host of a process.
class Host {
 public:
  explicit Host(const std::string& folder, const ricci_context_opts* options = nullptr) : runner_(options) {
    EXPECT_TRUE(Ok(ricci_context_add_plugin(runner_.ctx(), query_source_row_in_c)));
    if (!folder.empty()) SetOption(runner_.ctx(), "cache_dir", folder);
    const ricci_callback twice = TwiceCallback();
    EXPECT_TRUE(Ok(ricci_context_add_callback(runner_.ctx(), "twice", 5, &twice)));
  }
  Executed Run(const KeptProgram& e, uint32_t flags = 0, const ricci_run_opts* run = nullptr) {
    const Program f = runner_.Parse(e.text);
    ricci_compile_opts o = ricci_compile_opts_default();
    o.hdr.flags = flags;
    o.donate = e.donate.data();
    o.n_donate = static_cast<uint32_t>(e.donate.size());
    Executed out;
    out.stats.hdr.size = sizeof out.stats;
    ricci_executable* x = nullptr;
    if (ricci_status* s = ricci_compile(f.get(), &o, &x)) {
      ADD_FAILURE() << Message(s);
      return out;
    }
    RunInto(out, runner_.ctx(), x, e.args, run);
    ricci_executable_release(x);
    return out;
  }
  ricci_cache_stats stats() const { return CacheStats(runner_.ctx()); }
  ProgramRunner& runner() { return runner_; }

 private:
  ProgramRunner runner_;
};

void ExpectSame(const Executed& got, const Executed& want, std::string_view text) {
  EXPECT_EQ(got.error, want.error) << text;
  EXPECT_EQ(got.aliases, want.aliases) << text;
  ASSERT_EQ(got.values.size(), want.values.size()) << text;
  for (size_t i = 0; i < got.values.size(); ++i) {
    ASSERT_EQ(got.values[i].size(), want.values[i].size()) << text;
    if (got.values[i].empty()) continue;
    EXPECT_EQ(std::memcmp(got.values[i].data(), want.values[i].data(), 8 * got.values[i].size()), 0) << text;
  }
  const ricci_executable_stats &a = got.stats, &b = want.stats;
  EXPECT_EQ(a.code_bytes, b.code_bytes) << text;
  EXPECT_EQ(a.arena_bytes, b.arena_bytes) << text;
  EXPECT_EQ(a.scratch_bytes, b.scratch_bytes) << text;
  EXPECT_EQ(a.constant_bytes, b.constant_bytes) << text;
  EXPECT_EQ(a.flops, b.flops) << text;
  EXPECT_EQ(a.kernels, b.kernels) << text;
  EXPECT_EQ(a.library_calls, b.library_calls) << text;
  EXPECT_EQ(a.steps, b.steps) << text;
}

// Some run with several arguments.
size_t CountOfPrograms() {
  std::set<std::string> texts;
  for (const KeptProgram& e : KeptPrograms()) texts.insert(e.text);
  return texts.size();
}

TEST(KeptExecutables, AnotherProcessCompilesNothing) {
  const TemporaryFolder folder;
  InAnotherProcess([&] {
    Host host(folder.path());
    for (const KeptProgram& e : KeptPrograms()) host.Run(e);
    EXPECT_EQ(host.stats().executable_stores, CountOfPrograms());
    EXPECT_EQ(host.stats().executable_hits, 0u);
  });
  Host host(folder.path()), alone("");
  for (const KeptProgram& e : KeptPrograms()) {
    const Executed got = host.Run(e);
    ExpectSame(got, alone.Run(e), e.text);
    EXPECT_EQ(got.stats.transform_s + got.stats.lower_s, 0) << "no pass runs";
    EXPECT_EQ(got.stats.cache_hit, 1u);
  }
  EXPECT_EQ(host.stats().executable_hits, CountOfPrograms());
  EXPECT_EQ(host.stats().executable_misses + host.stats().refused, 0u);
  EXPECT_EQ(host.stats().hits + host.stats().misses, 0u) << "the backend generates no code: it asks for none";
}

// ---- what is promised of every executable ----

TEST(KeptExecutables, TextsAreThoseOfAFullCompilation) {
  const TemporaryFolder folder;
  const KeptProgram e = KeptPrograms()[1];
  Host(folder.path()).Run(e);
  Host host(folder.path()), alone("");
  for (const char* stage : {"program", "optimized", "decisions", "kernels", "plan", "native", "assembly", "fuse"}) {
    const Program f = host.runner().Parse(e.text), g = alone.runner().Parse(e.text);
    EXPECT_EQ(host.runner().Dump(f, stage, "cpu"), alone.runner().Dump(g, stage, "cpu")) << stage;
  }
  EXPECT_EQ(host.stats().executable_hits, 1u) << "one program, compiled in full once";
}

std::vector<std::string> Spans(Host& host, const KeptProgram& e) {
  std::vector<std::string> spans;
  ricci_profile profile{};
  profile.hdr.size = sizeof profile;
  profile.self = &spans;
  profile.span = [](void* self, const ricci_span* s) {
    if (s->thread != 0) return;
    static_cast<std::vector<std::string>*>(self)->push_back(std::string(s->name.ptr, s->name.len) + " " +
                                                            std::string(s->file.ptr, s->file.len) + ":" +
                                                            std::to_string(s->line));
  };
  ricci_run_opts run = ricci_run_opts_default();
  run.profile = &profile;
  host.Run(e, RICCI_COMPILE_PROFILED, &run);
  return spans;
}

TEST(KeptExecutables, ProfilesNameStepsAndLines) {
  const TemporaryFolder folder;
  for (const KeptProgram& e : KeptPrograms()) {
    if (e.fails) continue;
    const std::vector<std::string> want = [&] {
      Host host(folder.path());
      return Spans(host, e);
    }();
    Host host(folder.path());
    EXPECT_EQ(Spans(host, e), want) << e.text;
    EXPECT_EQ(host.stats().executable_hits, 1u);
  }
}

// The message if a run gets no memory.
std::string WithoutMemory(Host& host, const KeptProgram& e) {
  const Program f = host.runner().Parse(e.text);
  ricci_executable* x = nullptr;
  EXPECT_TRUE(Ok(ricci_compile(f.get(), nullptr, &x)));
  EXPECT_TRUE(Ok(ricci_device_set_memory_limit(ricci_device_get(host.runner().ctx(), 0), 100)));
  ricci_call* call = nullptr;
  ricci_status* const s = ricci_call_create(x, &call);
  EXPECT_NE(s, nullptr);
  const std::string message = s == nullptr ? "" : Message(s);
  ricci_call_release(call);
  ricci_executable_release(x);
  return message;
}

TEST(KeptExecutables, NameWhatTheyNeedMemoryFor) {
  const TemporaryFolder folder;
  const KeptProgram e = KeptPrograms()[1];
  Host(folder.path()).Run(e);
  Host host(folder.path()), alone("");
  const std::string want = WithoutMemory(alone, e);
  EXPECT_NE(want.find("the largest: "), want.npos) << want;
  EXPECT_EQ(WithoutMemory(host, e), want);
  EXPECT_EQ(host.stats().executable_hits, 1u);
}

// ---- keys ----

// Of two programs in hosts that differ only by what `change` does, the second one is compiled.
template <typename Change>
void ExpectOther(const std::string& what, Change change) {
  const TemporaryFolder folder;
  KeptProgram e = KeptPrograms()[0];
  Host(folder.path()).Run(e);
  Host same(folder.path()), other(folder.path());
  same.Run(e);
  EXPECT_EQ(same.stats().executable_hits, 1u) << what;
  change(other, e);
  EXPECT_EQ(other.stats().executable_hits, 0u) << what;
  EXPECT_GE(other.stats().executable_misses, 1u) << what;
}

TEST(KeptExecutables, HaveAKeyOfAllThatTheyDependOn) {
  ExpectOther("a constant", [](Host& h, KeptProgram& e) {
    e.text.replace(e.text.find("0.5"), 3, "0.7");
    h.Run(e);
  });
  ExpectOther("the name", [](Host& h, KeptProgram& e) {
    e.text.replace(e.text.find(" f("), 3, " g(");
    h.Run(e);
  });
  ExpectOther("a line, which errors and reports name", [](Host& h, KeptProgram& e) {
    e.text = "\n" + e.text;
    h.Run(e);
  });
  ExpectOther("reports of steps", [](Host& h, KeptProgram& e) { h.Run(e, RICCI_COMPILE_PROFILED); });
  ExpectOther("donated arguments", [](Host& h, KeptProgram& e) {
    e.donate = {1};
    h.Run(e);
  });
  ExpectOther("the number of threads", [](Host& h, KeptProgram& e) {
    SetOption(h.runner().ctx(), "threads", "1");
    h.Run(e);
  });
  ExpectOther("how mapped programs run", [](Host& h, KeptProgram& e) {
    SetOption(h.runner().ctx(), "vmap", "batched");
    h.Run(e);
  });
}

ricci_status* NoRows(ricci_ctx*) { return nullptr; }

TEST(KeptExecutables, AreThoseOfTheirPlugins) {
  ExpectOther("another plugin", [](Host& h, KeptProgram& e) {
    EXPECT_TRUE(Ok(ricci_context_add_plugin(h.runner().ctx(), QueryPluginThat<NoRows>)));
    h.Run(e);
  });
}

template <int kVersion>
cpu::Settings ForProcessor() {
  cpu::Settings s;
  s.processor = kVersion == 2 ? "x86-64-v2" : "x86-64";
  return s;
}

TEST(KeptExecutables, AreThoseOfAProcessor) {
  CachingHost host;
  const auto hits = [&](ricci_plugin_query_fn query) {
    ricci_ctx* ctx = nullptr;
    EXPECT_TRUE(Ok(ricci_context_create(&host.opts, &ctx)));
    for (const auto q : {ricci_plugin_query_lax, query}) EXPECT_TRUE(Ok(ricci_context_add_plugin(ctx, q)));
    const std::string_view text = "program f(%x: f64[9]) { %y: f64[9] = floor(%x) return %y }";
    ricci_program* f = nullptr;
    ricci_executable* x = nullptr;
    EXPECT_TRUE(Ok(ricci_program_parse(ctx, text.data(), text.size(), "test", 4, &f)));
    EXPECT_TRUE(Ok(ricci_compile(f, nullptr, &x)));
    const uint64_t hits = CacheStats(ctx).executable_hits;
    ricci_executable_release(x);
    ricci_program_release(f);
    ricci_context_release(ctx);
    return hits;
  };
  EXPECT_EQ(hits(QueryBackendWith<ForProcessor<2>>), 0u);
  EXPECT_EQ(hits(QueryBackendWith<ForProcessor<1>>), 0u);
  EXPECT_EQ(hits(QueryBackendWith<ForProcessor<2>>), 1u);
}

// A lowering of the host's own, which no key describes: its programs are compiled each time.
TEST(KeptExecutables, NotOfWhatNoKeyDescribes) {
  const TemporaryFolder folder;
  const KeptProgram e = KeptPrograms()[0];
  for (int i = 0; i < 2; ++i) {
    Host host(folder.path());
    ricci_prim sine = 0;
    EXPECT_TRUE(Ok(ricci_prim_find(host.runner().ctx(), "sin", 3, &sine)));
    ricci_lowering l{};
    l.hdr.size = sizeof l;
    l.kind = RICCI_LOWER_DECOMPOSE;
    l.target = {"elsewhere", 9};
    l.decompose = [](void*, ricci_builder*, const ricci_op*, const ricci_val*, ricci_val*) -> ricci_status* {
      return ricci_status_make(RICCI_INTERNAL, "not called", 10);
    };
    EXPECT_TRUE(Ok(ricci_prim_add_lowering(host.runner().ctx(), sine, &l)));
    host.Run(e);
    EXPECT_EQ(host.stats().executable_hits + host.stats().executable_misses + host.stats().executable_stores, 0u);
    EXPECT_EQ(host.stats().hits, static_cast<uint64_t>(i)) << "machine code is kept all the same";
  }
}

TEST(KeptExecutables, AreListedWithWhatTheyAreOf) {
  const TemporaryFolder folder;
  Host(folder.path()).Run(KeptPrograms()[0]);
  std::vector<std::string> programs;
  std::string about;
  struct Sink {
    std::vector<std::string>& programs;
    std::string& about;
  } sink{programs, about};
  EXPECT_TRUE(
      Ok(ricci_cache_list(folder.path().data(), folder.path().size(), &sink, [](void* p, const ricci_cache_entry* e) {
        const Sink& s = *static_cast<Sink*>(p);
        EXPECT_EQ(e->damaged, 0u);
        if (e->kind != RICCI_CACHE_OF_EXECUTABLE) return;
        s.programs.emplace_back(e->program.ptr, e->program.len);
        s.about = std::string(e->about.ptr, e->about.len);
      })));
  EXPECT_EQ(programs, std::vector<std::string>{"f"});
  for (const char* line :
       {"ricci 0.", "plugin lax ", "plugin cpu ", "device cpu ", "code cpu ", "LLVM 19", "options level=2"}) {
    EXPECT_NE(about.find(line), about.npos) << line << " in " << about;
  }
}

// The stages of a compilation are wanted, so there must be one.
TEST(KeptExecutables, NotWhereStagesAreWritten) {
  const TemporaryFolder folder, dumps;
  const KeptProgram e = KeptPrograms()[0];
  Host(folder.path()).Run(e);
  Host host(folder.path());
  SetOption(host.runner().ctx(), "dump_dir", dumps.path());
  host.Run(e);
  EXPECT_EQ(host.stats().executable_hits, 0u);
  EXPECT_FALSE(dumps.Files().empty());
}

}}  // namespace ricci::testing
