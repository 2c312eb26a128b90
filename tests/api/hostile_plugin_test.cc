// Plugins that break the contract when they are loaded, and their backends: a status that names them, and a context
// that keeps working and accepts the plugin once it is fixed.
#include <cstdio>

#include "hostile_plugin.h"

namespace ricci::testing { namespace {

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
            "plugin: its query function: failed without a message");
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
  EXPECT_EQ(LoadError(RICCI_INTERNAL), "plugin hostile: not today");
  EXPECT_EQ(dropped, 1);
  ricci_prim p = 0;
  EXPECT_EQ(ErrorOf(ricci_prim_find(ctx, "h.op", 4, &p), RICCI_NOT_FOUND),
            "h.op: no such primitive; add the plugin that provides it");
  ricci_executable* x =
      CompileText("program f(%x: f32[4]) {\n %c: f32[4] = cos(%x)\n %y: f32[4] = sin(%c)\n return %y\n}");
  ASSERT_NE(x, nullptr) << "sin and cos are those of lax again";
  ricci_executable_release(x);
  fail = false;
  ASSERT_TRUE(Ok(ricci_context_add_plugin(ctx, Query)));
  EXPECT_NE(Prim("h.op"), 0u);
}

TEST_F(HostilePlugin, BackendsThatFail) {
  static int kind;
  static int dropped;
  dropped = 0;
  ricci_backend b{};
  b.hdr.size = sizeof b;
  b.kind = Str("odd");
  b.drop_self = [](void*) { ++dropped; };
  b.compile = [](void*, const ricci_compile_args*, void** code, ricci_code_info*) -> ricci_status* {
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
  device = ricci_device_get(ctx, 0);
  ricci_device_desc desc{};
  desc.hdr.size = sizeof desc;
  ricci_device_info(device, &desc);
  EXPECT_EQ(std::string(desc.kind.ptr, desc.kind.len), "odd") << "device 0 is that of the backend added last";
  ricci_program* f = Parse(kAddText);
  ricci_executable* x = nullptr;
  kind = 0;
  EXPECT_EQ(ErrorOf(ricci_compile(f, nullptr, &x), RICCI_INTERNAL), "no code");
  kind = 1;
  ASSERT_TRUE(Ok(ricci_compile(f, nullptr, &x)));
  ricci_array *a = Floats({1, 2, 3, 4}), *out = nullptr;
  ricci_array* in[2] = {a, a};
  EXPECT_EQ(ErrorOf(ricci_executable_run(x, in, 2, &out, 1, nullptr), RICCI_DATA_LOSS), "burnt");
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
  EXPECT_EQ(ErrorOf(ricci_context_load_plugin(ctx, "a\0b", 3)),
            "ricci_context_load_plugin: path has a NUL at byte 1, which no path may hold");
}

}  // namespace
}  // namespace ricci::testing
