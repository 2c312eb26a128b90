// ricci/context.h and the functions of ricci/backend.h: contexts, how plugins and devices enter them, and what plugins
// and devices ask of them.

#include "api/arguments.h"
#include "api/function_table.h"
#include "kernel/kernel.h"
#include "kernel/stop_request.h"
#include "ricci/backend.h"
#include "runtime/context/context.h"
#include "runtime/plugin/plugin_loader.h"

using namespace ricci;
using api::Arguments;
using api::Border;
using api::View;
using runtime::Context;
using runtime::FromAbi;

extern "C" {

ricci_status* ricci_context_create(const ricci_context_opts* o, ricci_ctx** out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"out", out}}));
    RICCI_ASSIGN(const ricci_context_opts opts, api::ReadOptions(o, ricci_context_opts_default(), "context options"));
    RICCI_ASSIGN(base::Ref<Context> context, Context::Create(opts.hooks));
    *out = runtime::Abi(context.Detach());
    return absl::OkStatus();
  });
}

ricci_ctx* ricci_context_retain(ricci_ctx* c) {
  if (c != nullptr) FromAbi(c)->RetainHandle();
  return c;
}

void ricci_context_release(ricci_ctx* c) {
  if (c != nullptr) FromAbi(c)->ReleaseHandle();
}

ricci_status* ricci_context_add_plugin(ricci_ctx* c, ricci_plugin_query_fn query) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"c", c}, {"query", reinterpret_cast<const void*>(query)}}));
    return runtime::AddPlugin(*FromAbi(c), query, api::FunctionTable());
  });
}

ricci_status* ricci_context_load_plugin(ricci_ctx* c, const char* path, size_t len) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"c", c}, {"path", path}}));
    RICCI_TRY(args.Path("path", path, len));
    if (len == 0) return args.Wrong("path is not a file name");
    return runtime::LoadPlugin(*FromAbi(c), std::string(path, len), api::FunctionTable());
  });
}

ricci_status* ricci_context_config(ricci_ctx* c, const char* key, size_t key_len, const char* value, size_t value_len) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"c", c}, {"key", key}}));
    RICCI_TRY(args.Array("value", value, value_len));
    return FromAbi(c)->Configure(View(key, key_len), View(value, value_len));
  });
}

uint32_t ricci_context_option(ricci_ctx* c, const char* key, size_t key_len, ricci_str* value) {
  if (value != nullptr) *value = {nullptr, 0};
  if (c == nullptr || key == nullptr || value == nullptr) return 0;
  const std::string* const found = FromAbi(c)->PluginOption(View(key, key_len));
  if (found == nullptr) return 0;
  *value = {found->data(), found->size()};
  return 1;
}

ricci_status* ricci_backend_register(ricci_ctx* c, const ricci_backend* b) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"c", c}, {"b", b}}));
    return FromAbi(c)->AddBackend(*b);
  });
}

uint32_t ricci_stop_requested(const ricci_run_args* a) {
  return a == nullptr ? 0 : kernel::StopRequest{a->cancel, a->deadline_ns}.Code();
}

ricci_status* ricci_plan_edges(const ricci_plan* p, const ricci_kernel_table* const* kernels, uint32_t n_kernels,
                               void* sink, void (*write)(void* sink, uint32_t earlier, uint32_t later)) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"p", p}, {"write", reinterpret_cast<const void*>(write)}}));
    RICCI_TRY(args.Array("kernels", kernels, n_kernels));
    RICCI_ASSIGN(const ricci_plan plan, base::ReadStruct(p, "plan"));
    RICCI_TRY(kernel::Verify(plan, kernels, n_kernels));
    for (const kernel::PlanEdge& e : kernel::PlanEdges(plan, kernels)) write(sink, e.earlier, e.later);
    return absl::OkStatus();
  });
}

const ricci_hooks* ricci_context_hooks(const ricci_ctx* c) { return c == nullptr ? nullptr : &FromAbi(c)->hooks(); }
}
