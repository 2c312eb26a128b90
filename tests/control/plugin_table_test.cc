// A plugin that is a shared object takes the function table of the core only if it is the one that it was compiled for.
#include <dlfcn.h>

#include "api/function_table.h"
#include "ricci/api_table.h"
#include "support/program_runner.h"

namespace ricci::testing { namespace {

TEST(PluginTable, OfAnotherSizeIsRefused) {
  const char* const path = std::getenv("RICCI_TEST_LAX");
  if (path == nullptr) GTEST_SKIP() << "the plugin is linked, not loaded";
  void* const object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(object, nullptr) << dlerror();
  const auto query = reinterpret_cast<ricci_plugin_query_fn>(dlsym(object, "ricci_plugin_query"));
  ASSERT_NE(query, nullptr);
  ricci_api other = *api::FunctionTable();
  other.size += sizeof(void*);  // one function more, of the same version
  ricci_host_info host{};
  host.hdr.size = sizeof host;
  host.abi_major = RICCI_ABI_MAJOR;
  host.abi_minor = RICCI_ABI_MINOR;
  host.api = &other;
  const ricci_plugin* plugin = nullptr;
  ricci_status* const refused = query(&host, &plugin);
  ASSERT_EQ(ricci_status_code(refused), uint32_t{RICCI_FAILED_PRECONDITION});
  EXPECT_EQ(Message(refused), "plugin lax: compiled for another version of the ABI; rebuild it for this core");
  EXPECT_EQ(plugin, nullptr);
  dlclose(object);
}

}}  // namespace ricci::testing
