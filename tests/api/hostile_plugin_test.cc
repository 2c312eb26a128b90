// Plugins that break the contract at load, transform, compile or run: a status that names them, and a context that goes
// on working and can take the plugin once it is mended.
#include <cstdio>
#include <functional>

#include "ricci/backend.h"
#include "support/small_program.h"

namespace ricci::testing {
namespace {

ricci_str Str(std::string_view v) { return {v.data(), v.size()}; }

// What the plugin under test does; query functions have no argument to carry it.
struct Behaviour {
  ricci_plugin plugin;
  std::function<ricci_status*(ricci_ctx*)> attach;
  int detached = 0;
} g_behaviour;

ricci_status* Attach(void*, ricci_ctx* c) { return g_behaviour.attach ? g_behaviour.attach(c) : nullptr; }
void Detach(void*, ricci_ctx* c) {
  ricci_context_release(ricci_context_retain(c));  // allowed even now
  ++g_behaviour.detached;
}
ricci_status* Query(const ricci_host_info* h, const ricci_plugin** out) {
  EXPECT_EQ(h->abi_major, RICCI_ABI_MAJOR);
  EXPECT_NE(h->api, nullptr);
  *out = &g_behaviour.plugin;
  return nullptr;
}

ricci_status* SameType(void*, ricci_builder* b, const ricci_op* op) {
  return ricci_builder_set_out_types(b, op->in_types, 1);
}

ricci_prim_def Def(std::string_view name) {
  ricci_prim_def d{};
  d.hdr.size = sizeof d;
  d.name = Str(name);
  d.abstract_eval = SameType;
  return d;
}

class HostilePlugin : public SmallProgram {
 protected:
  HostilePlugin() {
    ricci_plugin p{};
    p.hdr.size = sizeof p;
    p.abi_major = RICCI_ABI_MAJOR;
    p.abi_minor = RICCI_ABI_MINOR;
    p.name = Str("hostile");
    p.version = Str("1");
    p.attach = Attach;
    p.detach = Detach;
    g_behaviour = {p, nullptr, 0};
  }
  std::string LoadError(uint32_t code = RICCI_INVALID_ARGUMENT) {
    return ErrorOf(ricci_context_add_plugin(ctx, Query), code);
  }
  // Loads a plugin with this one row.
  void Load(const ricci_prim_def& d) {
    g_behaviour.attach = [d](ricci_ctx* c) { return ricci_prim_register(c, &d, nullptr); };
    ASSERT_TRUE(Ok(ricci_context_add_plugin(ctx, Query)));
  }
  ricci_program* UseRow() { return Parse("program f(%x: f32[4]) {\n %y: f32[4] = h.op(%x)\n return %y\n}"); }
  std::string ParseError(std::string_view text, uint32_t code = RICCI_INVALID_ARGUMENT) {
    ricci_program* p = nullptr;
    return ErrorOf(ricci_program_parse(ctx, text.data(), text.size(), "t", 1, &p), code);
  }
};

TEST_F(HostilePlugin, WrongVersionFeatureOrSize) {
  g_behaviour.plugin.abi_minor = 99;
  EXPECT_EQ(LoadError(RICCI_FAILED_PRECONDITION),
            "plugin hostile: compiled against ABI 0.99, this core has 0.1; rebuild it");
  g_behaviour.plugin.abi_minor = RICCI_ABI_MINOR;
  g_behaviour.plugin.needs_features[1] = 2;
  EXPECT_EQ(LoadError(RICCI_FAILED_PRECONDITION), "plugin hostile: needs feature 65, which this core lacks");
  g_behaviour.plugin.needs_features[1] = 0;
  g_behaviour.plugin.hdr.size = 3;
  EXPECT_EQ(LoadError(), "plugin: hdr.size is 3; set it to the size of the struct");
  g_behaviour.plugin.hdr.size = sizeof(ricci_plugin);
  g_behaviour.plugin.attach = nullptr;
  EXPECT_EQ(LoadError(), "plugin hostile: attach is NULL");
  g_behaviour.plugin.attach = Attach;
  g_behaviour.plugin.name = {nullptr, 7};
  EXPECT_EQ(LoadError(), "plugin: name is empty");
}

TEST_F(HostilePlugin, QueryGivesNothingOrFails) {
  EXPECT_EQ(ErrorOf(ricci_context_add_plugin(
                ctx, [](const ricci_host_info*, const ricci_plugin**) -> ricci_status* { return nullptr; })),
            "plugin: its query function gave no plugin");
  EXPECT_EQ(ErrorOf(ricci_context_add_plugin(ctx,
                                             [](const ricci_host_info*, const ricci_plugin**) {
                                               return ricci_status_make(RICCI_CANCELLED, "", 0);
                                             }),
                    RICCI_CANCELLED),
            "");
  EXPECT_EQ(ErrorOf(ricci_context_add_plugin(ctx, nullptr)), "ricci_context_add_plugin: query is NULL");
}

TEST_F(HostilePlugin, TwiceIsAnError) {
  ASSERT_TRUE(Ok(ricci_context_add_plugin(ctx, Query)));
  EXPECT_EQ(LoadError(), "plugin hostile: already added to this context");
  EXPECT_EQ(ErrorOf(ricci_context_add_plugin(ctx, ricci_plugin_query_lax)),
            "plugin lax: already added to this context");
}

TEST_F(HostilePlugin, DetachRunsOnceAtTheEnd) {
  ricci_ctx* own = nullptr;
  ASSERT_TRUE(Ok(host.CreateContext(&own)));
  ASSERT_TRUE(Ok(ricci_context_add_plugin(own, Query)));
  EXPECT_EQ(g_behaviour.detached, 0);
  ricci_context_release(own);
  EXPECT_EQ(g_behaviour.detached, 1);
}

TEST_F(HostilePlugin, FailedAttachLeavesNothingBehind) {
  static int dropped;
  dropped = 0;
  ricci_prim_def d = Def("h.op"), over = Def("sin");
  d.drop_self = [](void*) { ++dropped; };
  over.hdr.flags = RICCI_PRIM_OVERRIDE;
  ricci_lowering l{};
  l.hdr.size = sizeof l;
  l.kind = RICCI_LOWER_LOOPS;
  l.priority = 1000;
  l.loops = [](void*, ricci_kernel_builder*, const ricci_op*) { return ricci_status_make(RICCI_INTERNAL, "bad", 3); };
  bool fail = true;
  g_behaviour.attach = [&](ricci_ctx* c) {
    ricci_prim cos = Prim("cos");
    EXPECT_TRUE(Ok(ricci_prim_register(c, &d, nullptr)));
    EXPECT_TRUE(Ok(ricci_prim_add_lowering(c, cos, &l)));
    if (!fail) return static_cast<ricci_status*>(nullptr);
    EXPECT_TRUE(Ok(ricci_prim_register(c, &over, nullptr)));
    return ricci_status_make(RICCI_INTERNAL, "not today", 9);
  };
  EXPECT_EQ(LoadError(RICCI_INTERNAL), "not today");
  EXPECT_EQ(dropped, 1);
  ricci_prim p = 0;
  EXPECT_EQ(ErrorOf(ricci_prim_find(ctx, "h.op", 4, &p), RICCI_NOT_FOUND),
            "h.op: no such primitive; add the plugin that holds it");
  ricci_executable* x =
      CompileText("program f(%x: f32[4]) {\n %c: f32[4] = cos(%x)\n %y: f32[4] = sin(%c)\n return %y\n}");
  ASSERT_NE(x, nullptr) << "sin and cos are those of lax again";
  ricci_executable_release(x);
  fail = false;
  ASSERT_TRUE(Ok(ricci_context_add_plugin(ctx, Query)));
  EXPECT_NE(Prim("h.op"), 0u);
}

TEST_F(HostilePlugin, RowsThatCannotBe) {
  ricci_prim_def d = Def("");
  EXPECT_EQ(ErrorOf(ricci_prim_register(ctx, &d, nullptr)), "primitive: a row needs a name");
  d = Def("two words");
  EXPECT_EQ(ErrorOf(ricci_prim_register(ctx, &d, nullptr)),
            "primitive: `two words` is no name; take letters, digits, _, . and -, a letter first");
  d = Def("h.typeless");
  d.abstract_eval = nullptr;
  EXPECT_EQ(ErrorOf(ricci_prim_register(ctx, &d, nullptr)),
            "h.typeless: a row needs abstract_eval, which gives the types of its results");
  d = Def("sin");
  EXPECT_EQ(ErrorOf(ricci_prim_register(ctx, &d, nullptr)),
            "sin: already registered by plugin lax; RICCI_PRIM_OVERRIDE replaces it");
  d = Def("h.twice");
  EXPECT_TRUE(Ok(ricci_prim_register(ctx, &d, nullptr)));
  EXPECT_EQ(ErrorOf(ricci_prim_register(ctx, &d, nullptr)),
            "h.twice: already registered by the host; RICCI_PRIM_OVERRIDE replaces it");
  ricci_lowering l{};
  EXPECT_EQ(ErrorOf(ricci_prim_add_lowering(ctx, Prim("sin"), &l)),
            "sin: lowering: hdr.size is 0; set it to the size of the struct");
  l.hdr.size = sizeof l;
  l.kind = RICCI_LOWER_SCALAR;
  EXPECT_EQ(ErrorOf(ricci_prim_add_lowering(ctx, Prim("sin"), &l)), "sin: lowering of kind 2 lacks its callback");
  EXPECT_EQ(ErrorOf(ricci_prim_add_lowering(ctx, 99999, &l)), "lowering: primitive 99999 is not registered");
  ricci_backend b{};
  b.hdr.size = sizeof b;
  EXPECT_EQ(ErrorOf(ricci_backend_register(ctx, &b)), "backend: kind is empty");
  b.kind = Str("odd");
  EXPECT_EQ(ErrorOf(ricci_backend_register(ctx, &b)), "backend odd: compile is NULL");
}

TEST_F(HostilePlugin, AbstractEvalThatSetsNothing) {
  ricci_prim_def d = Def("h.op");
  d.abstract_eval = [](void*, ricci_builder*, const ricci_op*) -> ricci_status* { return nullptr; };
  Load(d);
  EXPECT_EQ(ParseError("program f(%x: f32[4]) {\n %y: f32[4] = h.op(%x)\n return %y\n}"),
            "t:2: h.op: abstract_eval set no result types");
}

TEST_F(HostilePlugin, AbstractEvalThatEmitsOrInventsTypes) {
  static ricci_prim sin;
  sin = Prim("sin");
  ricci_prim_def d = Def("h.op");
  d.abstract_eval = [](void*, ricci_builder* b, const ricci_op*) {
    ricci_val out = 0;
    return ricci_builder_emit(b, sin, nullptr, 0, nullptr, 0, &out, 1);
  };
  Load(d);
  EXPECT_EQ(ParseError("program f(%x: f32[4]) {\n %y: f32[4] = h.op(%x)\n return %y\n}", RICCI_FAILED_PRECONDITION),
            "t:2: sin: abstract_eval may not emit");
}

TEST_F(HostilePlugin, MissingRulesAreNamed) {
  Load(Def("h.op"));
  ricci_program *f = UseRow(), *g = nullptr;
  const uint8_t active = 1;
  const std::string message = ErrorOf(ricci_jvp(f, &active, 1, &g), RICCI_UNIMPLEMENTED);
  EXPECT_NE(message.find("h.op"), message.npos) << message;
  EXPECT_NE(message.find("jvp"), message.npos) << message;
  ricci_executable* x = nullptr;
  const std::string lowering = ErrorOf(ricci_compile(f, nullptr, &x), RICCI_UNIMPLEMENTED);
  EXPECT_NE(lowering.find("h.op"), lowering.npos) << lowering;
  ricci_program_release(f);
}

TEST_F(HostilePlugin, RulesThatFillNothingOrGarbage) {
  for (const ricci_val garbage : {RICCI_VAL_NONE, ricci_val{12345}, ~ricci_val{1}}) {
    static ricci_val fill;
    fill = garbage;
    ricci_prim_def d = Def("h.op");
    d.hdr.flags = garbage == RICCI_VAL_NONE ? 0u : uint32_t{RICCI_PRIM_OVERRIDE};
    d.jvp = [](void*, ricci_builder*, const ricci_op*, const ricci_jvp_args* a) -> ricci_status* {
      a->out_primals[0] = fill;
      a->out_tangents[0] = fill;
      return nullptr;
    };
    ASSERT_TRUE(Ok(ricci_prim_register(ctx, &d, nullptr)));
    ricci_program *f = UseRow(), *g = nullptr;
    const uint8_t active = 1;
    ricci_status* s = ricci_jvp(f, &active, 1, &g);
    ASSERT_NE(s, nullptr);
    const std::string message = Message(s);
    EXPECT_NE(message.find("h.op"), message.npos) << message;
    EXPECT_NE(message.find("jvp"), message.npos) << message;
    ricci_program_release(f);
  }
}

TEST_F(HostilePlugin, LoweringsThatFailOrLeaveLoopsOpen) {
  for (int how = 0; how < 3; ++how) {
    static int kind;
    kind = how;
    ricci_prim_def d = Def("h.op");
    d.hdr.flags = how == 0 ? 0u : uint32_t{RICCI_PRIM_OVERRIDE};
    ricci_lowering l{};
    l.hdr.size = sizeof l;
    l.kind = RICCI_LOWER_LOOPS;
    l.loops = [](void*, ricci_kernel_builder* k, const ricci_op*) -> ricci_status* {
      if (kind == 0) return ricci_status_make(RICCI_INTERNAL, "cannot", 6);
      if (kind == 1) return ricci_kernel_while(k);
      ricci_sval bad = 4711;
      return ricci_kernel_store(k, ricci_kernel_result(k, 0), &bad, 1, bad);
    };
    const ricci_lowering* list[] = {&l};
    d.lowerings = list;
    d.n_lowerings = 1;
    ASSERT_TRUE(Ok(ricci_prim_register(ctx, &d, nullptr)));
    ricci_program* f = UseRow();
    ricci_executable* x = nullptr;
    ricci_status* s = ricci_compile(f, nullptr, &x);
    ASSERT_NE(s, nullptr) << "case " << how;
    const std::string message = Message(s);
    EXPECT_NE(message.find("h.op"), message.npos) << message;
    ricci_program_release(f);
  }
}

TEST_F(HostilePlugin, BackendsThatFail) {
  static int kind;
  static int dropped;
  dropped = 0;
  ricci_backend b{};
  b.hdr.size = sizeof b;
  b.kind = Str("odd");
  b.drop_self = [](void*) { ++dropped; };
  b.compile = [](void*, const ricci_kernel_table* const*, uint32_t, const ricci_plan*, uint32_t, void** code,
                 ricci_code_info*) -> ricci_status* {
    if (kind == 0) return ricci_status_make(RICCI_INTERNAL, "no code", 7);
    *code = &kind;
    return nullptr;
  };
  b.run = [](void*, const ricci_run_args*) { return ricci_status_make(RICCI_DATA_LOSS, "burnt", 5); };
  b.drop_code = [](void*) {};
  ricci_ctx* own = nullptr;
  ASSERT_TRUE(Ok(host.CreateContext(&own)));
  std::swap(own, ctx);
  ASSERT_TRUE(Ok(ricci_context_add_plugin(ctx, ricci_plugin_query_lax)));
  ASSERT_TRUE(Ok(ricci_backend_register(ctx, &b)));
  ref = ricci_device_get(ctx, 0);
  ricci_device_desc desc{};
  desc.hdr.size = sizeof desc;
  ricci_device_info(ref, &desc);
  EXPECT_EQ(std::string(desc.kind.ptr, desc.kind.len), "odd") << "device 0 is that of the backend added last";
  ricci_program* f = Parse(kAddText);
  ricci_executable* x = nullptr;
  kind = 0;
  EXPECT_EQ(ErrorOf(ricci_compile(f, nullptr, &x), RICCI_INTERNAL), "no code");
  kind = 1;
  ASSERT_TRUE(Ok(ricci_compile(f, nullptr, &x)));
  ricci_array *a = Floats({1, 2, 3, 4}), *out = nullptr;
  ricci_array* in[2] = {a, a};
  EXPECT_EQ(ErrorOf(ricci_executable_run(x, in, 2, &out, 1), RICCI_DATA_LOSS), "burnt");
  EXPECT_EQ(out, nullptr);
  ricci_array_release(a);
  ricci_executable_release(x);
  ricci_program_release(f);
  std::swap(own, ctx);
  EXPECT_EQ(dropped, 0);
  ricci_context_release(own);
  EXPECT_EQ(dropped, 1);
}

TEST_F(HostilePlugin, NamesThatAreNoPlugin) {
  EXPECT_EQ(ErrorOf(ricci_context_load_plugin(ctx, "/nonexistent.so", 15), RICCI_NOT_FOUND),
            "plugin /nonexistent.so: No such file or directory");
  ErrorOf(ricci_context_load_plugin(ctx, "nonexistent.so", 14), RICCI_NOT_FOUND);
  EXPECT_EQ(ErrorOf(ricci_context_load_plugin(ctx, "libm.so.6", 9)), "plugin libm.so.6: exports no ricci_plugin_query");
  EXPECT_EQ(ErrorOf(ricci_context_load_plugin(ctx, "a\0b", 3)), "ricci_context_load_plugin: path is not a file name");
}

}  // namespace
}  // namespace ricci::testing
