// A host in C++ that proves that an installed prefix works; with the component cpu it also adds that backend.
#include <cstdio>

#include "ricci/ricci.h"

namespace {

bool Ok(ricci_status* status) {
  if (status == nullptr) return true;
  ricci_str message;
  ricci_status_message(status, &message);
  std::fprintf(stderr, "%.*s\n", static_cast<int>(message.len), message.ptr);
  ricci_status_free(status);
  return false;
}

}  // namespace

int main() {
  ricci_ctx* ctx = nullptr;
  if (!Ok(ricci_context_create(nullptr, &ctx)) || !Ok(ricci_context_add_plugin(ctx, ricci_plugin_query_lax))) return 1;
#ifdef CONSUMER_CPU
  if (!Ok(ricci_context_add_plugin(ctx, ricci_plugin_query_cpu))) return 1;
#endif
  ricci_device_desc device = {};
  device.hdr.size = sizeof(device);
  ricci_device_info(ricci_device_get(ctx, 0), &device);
  std::printf("ok: C++ host, device 0 is %.*s\n", static_cast<int>(device.kind.len), device.kind.ptr);
  ricci_context_release(ctx);
  return 0;
}
