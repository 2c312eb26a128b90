// A plugin that does one thing when it is attached, and one that adds a backend of kind `cpu` with a test's own
// settings, which is found before the one of the plugin.
#ifndef RICCI_TESTS_CPU_BACKEND_WITH_H_
#define RICCI_TESTS_CPU_BACKEND_WITH_H_
#include "ricci/ricci.h"
#include "settings.h"

namespace ricci::testing {

template <ricci_status* (*kAttach)(ricci_ctx*)>
ricci_status* QueryPluginThat(const ricci_host_info*, const ricci_plugin** out) {
  static const ricci_plugin plugin = [] {
    ricci_plugin p{};
    p.hdr.size = sizeof p;
    p.abi_major = RICCI_ABI_MAJOR;
    p.abi_minor = RICCI_ABI_MINOR;
    p.name = {"other_settings", 14};
    p.version = {"0", 1};
    p.attach = [](void*, ricci_ctx* ctx) { return kAttach(ctx); };
    return p;
  }();
  *out = &plugin;
  return nullptr;
}

template <cpu::Settings (*kSettings)()>
ricci_status* AttachWith(ricci_ctx* ctx) {
  return cpu::AttachBackend(ctx, kSettings());
}
template <cpu::Settings (*kSettings)()>
inline constexpr auto QueryBackendWith = QueryPluginThat<AttachWith<kSettings>>;

}  // namespace ricci::testing
#endif
