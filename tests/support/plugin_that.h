// A plugin that does one thing when it is attached.
#ifndef RICCI_TESTS_SUPPORT_PLUGIN_THAT_H_
#define RICCI_TESTS_SUPPORT_PLUGIN_THAT_H_
#include "ricci/ricci.h"

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

}  // namespace ricci::testing
#endif
