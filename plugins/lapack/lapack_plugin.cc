// The plugin's entry: opens the library and adds its lowerings to the rows of lax.
#include "lapack_rows.h"
#include "ricci/plugin.hpp"

namespace ricci::lapack {

ricci_status* AttachLibrary(ricci_ctx* ctx, std::span<const char* const> names) {
  return Guard([&] {
    const BlasLibrary library = BlasLibrary::Open(names);
    AddEigh(ctx, library);
    AddSvd(ctx, library);
    AddQr(ctx, library);
    AddEig(ctx, library);
    AddSchur(ctx, library);
  });
}

namespace {

ricci_status* Attach(void*, ricci_ctx* ctx) { return AttachLibrary(ctx, BlasNames()); }

constexpr ricci_plugin kPlugin = Describe("lapack", "0.1.0", Attach);

}  // namespace
}  // namespace ricci::lapack

extern "C" RICCI_API ricci_status* ricci_plugin_query_lapack(const ricci_host_info*, const ricci_plugin** out) {
  *out = &ricci::lapack::kPlugin;
  return nullptr;
}
