// What a context is made with: options that plugins read when they are added, plugins, hooks.
#include "cpp/binding_fixture.h"
#include "support/plugin_that.h"

namespace ricci::testing { namespace {

std::string value_read;

ricci_status* ReadColour(ricci_ctx* ctx) {
  ricci_str value{};
  constexpr std::string_view kKey = "other_settings.colour";
  const bool is_set = ricci_context_option(ctx, kKey.data(), kKey.size(), &value) != 0;
  value_read = is_set ? std::string(value.ptr, value.len) : "nothing";
  return nullptr;
}
constexpr ricci_plugin_query_fn kColoured = QueryPluginThat<ReadColour>;

TEST(ContextOptions, PluginsReadTheirOptionsWhenTheyAreAdded) {
  const Context c({.options = {{"other_settings.colour", "blue"}, {"threads", "2"}}, .plugins = {kColoured}});
  EXPECT_EQ(value_read, "blue");
  const Context none({.plugins = {kColoured}});
  EXPECT_EQ(value_read, "nothing");
  Context later({.options = {{"other_settings.colour", "red"}}});
  later.add_plugin(kColoured);
  EXPECT_EQ(value_read, "red");
}

TEST(ContextOptions, WrongOnesAreErrors) {
  EXPECT_EQ(MessageOf([] {
              Context({.options = {{"thread", "2"}}});
            }).substr(0, 51),
            "config: unknown key thread; known: threads, log_com");
  EXPECT_EQ(MessageOf([] {
              Context({.options = {{"other_settings.size", "2"}}, .plugins = {kColoured}});
            }),
            "config: unknown key other_settings.size; the plugin other_settings knows other_settings.colour");
  EXPECT_EQ(MessageOf([] {
              Context({.plugins = {kColoured, kColoured}});
            }),
            "plugin other_settings: already added to this context");
  EXPECT_EQ(MessageOf([] { Context({.plugins = {"no such plugin.so"}}); }).substr(0, 24), "plugin no such plugin.so");
}

TEST(ContextOptions, HooksAreUsed) {
  static std::string logged;
  ricci_hooks hooks{};
  hooks.hdr.size = sizeof hooks;
  hooks.log = [](void*, uint32_t, const char* text, size_t n) { logged.assign(text, n); };
  Context c({.options = {{"log_compiles", "1"}}, .hooks = &hooks});
  const auto f = jit([](Value x) { return sin(x); });
  const int line = __LINE__ - 1;
  f(Array(c, Floats{1, 2}));
  const std::string want = "compile jit at " + std::string(__FILE__) + ":" + std::to_string(line) + " key=";
  EXPECT_EQ(logged.substr(0, want.size()), want);
}

#ifdef RICCI_TEST_CPU
TEST(ContextOptions, OptionsOfTheCpuBackend) {
  const Context c({.options = {{"cpu.affinity", "0"}, {"cpu.debug", "gdb"}}});
  EXPECT_EQ(c.device().kind(), "cpu");
  EXPECT_NE(MessageOf([] {
              Context({.options = {{"cpu.affinity", "all"}}});
            }).find("`all` is not a list of processors"),
            std::string::npos);
  Context after;
  EXPECT_EQ(MessageOf([&] { after.config("cpu.affinity", "0"); }),
            "config: cpu.affinity is read when the plugin cpu is added: set it before");
}
#endif

}  // namespace
}  // namespace ricci::testing
