// What can be wrong with a plugin as a whole and with its backend: the query, the description, attach and what ends it.
#include "hostile_case.h"

namespace ricci::testing { namespace {

HostileCase Described(std::string name, std::vector<std::string> said, std::function<void(ricci_plugin&)> change) {
  return {std::move(name), std::move(said), [change](HostileCases& t) {
            change(g_behaviour.plugin);
            return t.Attached(nullptr);
          }};
}
HostileCase AttachThat(std::string name, std::vector<std::string> said,
                       std::function<ricci_status*(ricci_ctx*)> attach) {
  said.push_back("plugin hostile");
  return {std::move(name), std::move(said), [attach](HostileCases& t) { return t.Attached(attach); }};
}

std::vector<HostileCase> Descriptions() {
  std::vector<HostileCase> out;
  for (const BadHeader& bad : BadHeaders()) {
    out.push_back(Described("plugin_" + bad.name, {"plugin: ", bad.said}, [=](ricci_plugin& p) { bad.change(p.hdr); }));
  }
  for (const uint32_t flag : {1u, 1u << 31}) {
    out.push_back(Described("plugin_flag_" + std::to_string(flag), {"plugin: unknown flags in hdr.flags"},
                            [=](ricci_plugin& p) { p.hdr.flags = flag; }));
  }
  for (const auto& [major, minor] :
       {std::pair{0u, 0u}, std::pair{0u, RICCI_ABI_MINOR + 1u}, std::pair{1u, 0u}, std::pair{UINT32_MAX, UINT32_MAX}}) {
    const std::string version = std::to_string(major) + "." + std::to_string(minor);
    out.push_back(
        Described("abi_" + version, {"plugin hostile: compiled against ABI " + version},
                  [major = major, minor = minor](ricci_plugin& p) { p.abi_major = major, p.abi_minor = minor; }));
  }
  for (const uint32_t feature : {0u, 1u, 63u, 64u, 127u, 128u, 255u}) {
    out.push_back(Described("feature_" + std::to_string(feature),
                            {"plugin hostile: needs feature " + std::to_string(feature)},
                            [=](ricci_plugin& p) { p.needs_features[feature / 64] = uint64_t{1} << feature % 64; }));
  }
  for (const BadText& bad : BadTexts(256)) {
    out.push_back(Described("plugin_name_" + bad.name,
                            {"plugin: ", bad.said == "not UTF-8" ? "is not a name" : bad.said},
                            [=](ricci_plugin& p) { p.name = bad.text; }));
    if (bad.said == "not UTF-8") continue;
    out.push_back(Described("plugin_version_" + bad.name, {"plugin hostile: version has", bad.said},
                            [=](ricci_plugin& p) { p.version = bad.text; }));
  }
  for (const char* name : {"two words", "9", "a.b", "-", "a/b", "a\n"}) {
    out.push_back(Described(std::string("plugin_name_is_") + name, {"is not a name"},
                            [=](ricci_plugin& p) { p.name = Str(name); }));
  }
  out.push_back(Described("plugin_name_is_null", {"plugin: name is empty"}, [](ricci_plugin& p) {
    p.name = {nullptr, 7};
  }));
  out.push_back(
      Described("plugin_name_is_taken", {"plugin lax: already added"}, [](ricci_plugin& p) { p.name = Str("lax"); }));
  out.push_back(
      Described("attach_is_null", {"plugin hostile: attach is NULL"}, [](ricci_plugin& p) { p.attach = nullptr; }));
  return out;
}

template <ricci_status* (*kQuery)(const ricci_plugin**)>
HostileCase QueryThat(std::string name, std::string said) {
  return {std::move(name), {"plugin: its query function", std::move(said)}, [](HostileCases& t) {
            return ricci_context_add_plugin(
                t.context(), [](const ricci_host_info*, const ricci_plugin** out) { return kQuery(out); });
          }};
}
ricci_status* GivesNothing(const ricci_plugin**) { return nullptr; }
ricci_status* FailsSilently(const ricci_plugin**) { return ricci_status_make(RICCI_INTERNAL, nullptr, 0); }
ricci_status* Throws(const ricci_plugin**) { throw std::runtime_error("boom"); }
ricci_status* ThrowsANumber(const ricci_plugin**) { throw 7; }

std::vector<HostileCase> Attaching() {
  return {
      QueryThat<GivesNothing>("query_gives_nothing", "gave no plugin"),
      QueryThat<FailsSilently>("query_fails_without_a_message", "failed without a message"),
      QueryThat<Throws>("query_throws", "threw a C++ exception: boom"),
      QueryThat<ThrowsANumber>("query_throws_a_number", "threw something"),
      AttachThat("attach_fails", {"not today"},
                 [](ricci_ctx*) { return ricci_status_make(RICCI_INTERNAL, "not today", 9); }),
      AttachThat("attach_fails_without_a_message", {"attach: failed without a message"},
                 [](ricci_ctx*) { return ricci_status_make(RICCI_CANCELLED, "", 0); }),
      AttachThat("attach_fails_with_code_ok", {"fine"},
                 [](ricci_ctx*) { return ricci_status_make(RICCI_OK, "fine", 4); }),
      AttachThat("attach_fails_with_an_unknown_code", {"odd"},
                 [](ricci_ctx*) { return ricci_status_make(4711, "odd", 3); }),
      AttachThat("attach_throws", {"attach: threw a C++ exception: boom"},
                 [](ricci_ctx*) -> ricci_status* { throw std::runtime_error("boom"); }),
      AttachThat("attach_throws_a_number", {"attach: threw something"}, [](ricci_ctx*) -> ricci_status* { throw 7; }),
      AttachThat("attach_throws_bad_alloc", {"attach: out of memory"},
                 [](ricci_ctx*) -> ricci_status* { throw std::bad_alloc(); }),
      AttachThat("attach_throws_after_rows", {"attach: threw a C++ exception: late"},
                 [](ricci_ctx* c) -> ricci_status* {
                   ricci_prim_def d = Def("h.op");
                   d.drop_self = [](void*) { throw std::runtime_error("and again"); };
                   EXPECT_TRUE(Ok(ricci_prim_register(c, &d, nullptr)));
                   throw std::runtime_error("late");
                 }),
      AttachThat("attach_registers_twice", {"h.op: already registered by plugin hostile"},
                 [](ricci_ctx* c) {
                   const ricci_prim_def d = Def("h.op");
                   EXPECT_TRUE(Ok(ricci_prim_register(c, &d, nullptr)));
                   return ricci_prim_register(c, &d, nullptr);
                 }),
      AttachThat("attach_registers_null", {"d is NULL"},
                 [](ricci_ctx* c) { return ricci_prim_register(c, nullptr, nullptr); }),
      AttachThat("attach_adds_itself", {"already added"},
                 [](ricci_ctx* c) { return ricci_context_add_plugin(c, Query); }),
      AttachThat("attach_adds_a_lowering_to_nothing", {"no primitive has id 0"},
                 [](ricci_ctx* c) {
                   const ricci_lowering l{};
                   return ricci_prim_add_lowering(c, 0, &l);
                 }),
      AttachThat("attach_adds_a_lowering_to_a_wrong_id", {"no primitive has id 4294967295"},
                 [](ricci_ctx* c) {
                   const ricci_lowering l{};
                   return ricci_prim_add_lowering(c, UINT32_MAX, &l);
                 }),
      AttachThat("attach_adds_a_null_lowering", {"l is NULL"},
                 [](ricci_ctx* c) { return ricci_prim_add_lowering(c, 1, nullptr); }),
      {"added_twice",
       {"plugin hostile: already added"},
       [](HostileCases& t) {
         EXPECT_TRUE(Ok(t.Attached(nullptr)));
         return t.Attached(nullptr);
       }},
  };
}

// ---- what outlives an attach that failed ----

// A program with a primitive that is gone, used by `use`.
HostileCase KeptProgram(std::string name, std::vector<std::string> said,
                        ricci_status* (*use)(HostileCases&, const ricci_program*, ricci_program** out)) {
  return {"kept_program_" + name, std::move(said), [use](HostileCases& t) {
            ricci_program *kept = nullptr, *out = nullptr;
            const std::string why = ErrorOf(t.Attached([&](ricci_ctx* c) {
              const ricci_prim_def d = Def("h.op");
              EXPECT_TRUE(Ok(ricci_prim_register(c, &d, nullptr)));
              kept = t.Read("program f(%x: f32[4]) {\n %y: f32[4] = h.op(%x)\n return %y\n}");
              return ricci_status_make(RICCI_INTERNAL, "not today", 9);
            }),
                                            RICCI_INTERNAL);
            EXPECT_EQ(why, "plugin hostile: not today");
            ricci_status* s = use(t, kept, &out);
            ricci_program_release(kept);
            ricci_program_release(out);
            return s;
          }};
}
ricci_status* CompileKept(HostileCases& t, const ricci_program* f, ricci_program**) {
  ricci_compile_opts o = ricci_compile_opts_default();
  ricci_device* on = t.ref();
  o.devices = &on;
  o.n_devices = 1;
  ricci_executable* x = nullptr;
  ricci_status* s = ricci_compile(f, &o, &x);
  ricci_executable_release(x);
  return s;
}
std::vector<HostileCase> Kept() {
  const std::string gone = "a primitive whose plugin failed to attach";
  return {KeptProgram("jvp", {gone},
                      [](HostileCases&, const ricci_program* f, ricci_program** out) {
                        const uint8_t one = 1;
                        return ricci_jvp(f, &one, 1, out);
                      }),
          KeptProgram("batch", {gone},
                      [](HostileCases&, const ricci_program* f, ricci_program** out) {
                        const uint8_t one = 1;
                        uint8_t batched = 0;
                        return ricci_batch(f, &one, 1, 3, nullptr, &batched, out);
                      }),
          KeptProgram("compiled", {"there is no primitive with that id"}, CompileKept),
          // Its number is that of another primitive now.
          KeptProgram("compiled_as_another", {"h.other: no lowering"},
                      [](HostileCases& t, const ricci_program* f, ricci_program** out) {
                        EXPECT_TRUE(Ok(t.Attached([](ricci_ctx* c) {
                          const ricci_prim_def d = Def("h.other");
                          return ricci_prim_register(c, &d, nullptr);
                        })));
                        return CompileKept(t, f, out);
                      })};
}

// ---- backends ----

ricci_backend Backend() {
  ricci_backend b{};
  b.hdr.size = sizeof b;
  b.kind = Str("odd");
  b.compile = [](void*, const ricci_compile_args*, void**, ricci_code_info*) -> ricci_status* { return nullptr; };
  b.run = [](void*, const ricci_run_args*) -> ricci_status* { return nullptr; };
  b.drop_code = [](void*) {};
  return b;
}
HostileCase BackendWith(std::string name, std::vector<std::string> said, std::function<void(ricci_backend&)> change) {
  return AttachThat("backend_" + name, std::move(said), [change](ricci_ctx* c) {
    ricci_backend b = Backend();
    change(b);
    return ricci_backend_register(c, &b);
  });
}

std::vector<HostileCase> Backends() {
  std::vector<HostileCase> out;
  for (const BadHeader& bad : BadHeaders()) {
    out.push_back(BackendWith(bad.name, {"backend: ", bad.said}, [=](ricci_backend& b) { bad.change(b.hdr); }));
  }
  for (const BadText& bad : BadTexts(4096)) {
    if (bad.said == "not UTF-8") continue;
    out.push_back(
        BackendWith("kind_" + bad.name, {"backend: kind", bad.said}, [=](ricci_backend& b) { b.kind = bad.text; }));
    out.push_back(
        BackendWith("name_" + bad.name, {"backend: name", bad.said}, [=](ricci_backend& b) { b.name = bad.text; }));
    out.push_back(
        BackendWith("forms_" + bad.name, {"backend: forms", bad.said}, [=](ricci_backend& b) { b.forms = bad.text; }));
  }
  for (const uint32_t alignment : {1u, 8u, 17u, 48u, UINT32_MAX}) {
    out.push_back(BackendWith("alignment_" + std::to_string(alignment), {"alignment is " + std::to_string(alignment)},
                              [=](ricci_backend& b) { b.alignment = alignment; }));
  }
  for (const uint32_t level : {4u, UINT32_MAX}) {
    out.push_back(BackendWith("level_" + std::to_string(level), {"opt_level_default is " + std::to_string(level)},
                              [=](ricci_backend& b) { b.opt_level_default = level; }));
  }
  out.push_back(
      BackendWith("without_compile", {"backend odd: compile is NULL"}, [](ricci_backend& b) { b.compile = nullptr; }));
  out.push_back(BackendWith("without_run", {"backend odd: run is NULL"}, [](ricci_backend& b) { b.run = nullptr; }));
  out.push_back(BackendWith("without_drop_code", {"backend odd: drop_code is NULL"},
                            [](ricci_backend& b) { b.drop_code = nullptr; }));
  out.push_back(BackendWith("with_half_a_memory", {"backend odd: free is given, but alloc is NULL"},
                            [](ricci_backend& b) { b.free = [](void*, void*, uint64_t, void*) {}; }));
  out.push_back(BackendWith("with_events_only", {"backend odd: event_drop is given, but alloc is NULL"},
                            [](ricci_backend& b) { b.event_drop = [](void*, void*) {}; }));
  return out;
}

// A program for a backend whose compile is this.
HostileCase CompileThat(std::string name, std::string said, decltype(ricci_backend::compile) compile) {
  return {"compile_" + name, {"backend odd: compile: ", std::move(said)}, [compile](HostileCases& t) {
            ricci_backend b = Backend();
            b.compile = compile;
            EXPECT_TRUE(Ok(ricci_backend_register(t.context(), &b)));
            ricci_device* odd = ricci_device_find(t.context(), "odd", 3);
            ricci_compile_opts o = ricci_compile_opts_default();
            o.devices = &odd;
            o.n_devices = 1;
            ricci_program* f = t.Read(kAddText);
            ricci_executable* x = nullptr;
            ricci_status* s = ricci_compile(f, &o, &x);
            ricci_program_release(f);
            return s;
          }};
}
std::vector<HostileCase> Compiling() {
  return {CompileThat("fails_without_a_message", "failed without a message",
                      [](void*, const ricci_compile_args*, void**, ricci_code_info*) {
                        return ricci_status_make(RICCI_CANCELLED, "", 0);
                      }),
          CompileThat("throws", "threw a C++ exception: boom",
                      [](void*, const ricci_compile_args*, void**, ricci_code_info*) -> ricci_status* {
                        throw std::runtime_error("boom");
                      }),
          CompileThat("throws_a_number", "threw something",
                      [](void*, const ricci_compile_args*, void**, ricci_code_info*) -> ricci_status* { throw 7; })};
}

std::vector<HostileCase> AllPlugins() {
  std::vector<HostileCase> out;
  for (auto part : {Descriptions, Attaching, Kept, Backends, Compiling}) {
    for (HostileCase& c : part()) out.push_back(std::move(c));
  }
  return Named(std::move(out));
}

using HostilePluginCases = HostileCases;
TEST_P(HostilePluginCases, GiveAStatus) { RunCase(); }
INSTANTIATE_TEST_SUITE_P(Plugins, HostilePluginCases, ::testing::ValuesIn(AllPlugins()), NameOfCase);

// Functions that only clean up can report nothing, so what they throw ends there.
TEST_F(HostilePlugin, WhatCleansUpMayThrow) {
  ricci_ctx* own = nullptr;
  ASSERT_TRUE(Ok(host.CreateContext(&own)));
  g_behaviour.plugin.detach = [](void*, ricci_ctx*) { throw std::runtime_error("detach"); };
  g_behaviour.attach = [](ricci_ctx* c) {
    ricci_prim_def d = Def("h.op");
    d.drop_self = [](void*) { throw std::runtime_error("drop_self"); };
    EXPECT_TRUE(Ok(ricci_prim_register(c, &d, nullptr)));
    ricci_backend b = Backend();
    b.drop_self = [](void*) { throw 7; };
    return ricci_backend_register(c, &b);
  };
  ASSERT_TRUE(Ok(ricci_context_add_plugin(own, Query)));
  ricci_context_release(own);
}

}  // namespace
}  // namespace ricci::testing
