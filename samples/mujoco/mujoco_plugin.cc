// The plugin's entry: it adds mujoco.step and its derivatives to a context.
#include "mujoco_rows.h"

namespace engine { namespace {

constexpr ricci::RowList (*kTables[])() = {step_rows, jacobian_rows, transition_rows};

ricci_status* Attach(void*, ricci_ctx* ctx) { return ricci::AttachRows(ctx, kTables); }

constexpr ricci_plugin kPlugin = ricci::Describe("mujoco", "0.1.0", Attach);

}  // namespace
}  // namespace engine

extern "C" RICCI_API ricci_status* ricci_plugin_query_mujoco(const ricci_host_info*, const ricci_plugin** out) {
  *out = &engine::kPlugin;
  return nullptr;
}
