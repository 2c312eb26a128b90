// A plugin that adds a backend of kind `cpu` with a test's own settings, which is found before the one of the plugin.
#ifndef RICCI_TESTS_CPU_BACKEND_WITH_H_
#define RICCI_TESTS_CPU_BACKEND_WITH_H_
#include "cpu/llvm/settings.h"
#include "support/plugin_that.h"

namespace ricci::testing {

template <cpu::Settings (*kSettings)()>
ricci_status* AttachWith(ricci_ctx* ctx) {
  return cpu::AttachBackend(ctx, kSettings());
}
template <cpu::Settings (*kSettings)()>
inline constexpr auto QueryBackendWith = QueryPluginThat<AttachWith<kSettings>>;

}  // namespace ricci::testing
#endif
