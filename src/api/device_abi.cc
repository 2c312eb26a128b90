// ricci/device.h and ricci/target.h: the devices of a context, and what they are like.
#include "api/arguments.h"
#include "base/abi_struct.h"
#include "pass/target/target.h"
#include "runtime/context/context.h"

using namespace ricci;
using api::Arguments;
using api::Border;
using runtime::FromAbi;

extern "C" {

uint32_t ricci_device_count(const ricci_ctx* c) { return c == nullptr ? 0 : FromAbi(c)->device_count(); }

ricci_device* ricci_device_get(const ricci_ctx* c, uint32_t i) {
  if (c == nullptr || i >= FromAbi(c)->device_count()) return nullptr;
  return runtime::Abi(FromAbi(c)->device(i));
}

ricci_device* ricci_device_find(const ricci_ctx* c, const char* kind, size_t len) {
  return c == nullptr ? nullptr : runtime::Abi(FromAbi(c)->FindDevice(api::View(kind, len)));
}

void ricci_device_info(const ricci_device* d, ricci_device_desc* out) {
  if (d == nullptr || out == nullptr) return;
  const runtime::Device& device = *FromAbi(d);
  ricci_device_desc desc{};
  desc.kind = device.backend.kind;
  desc.name = device.backend.name;
  desc.ordinal = device.ordinal;
  desc.workers = device.backend.workers;
  desc.host_memory = device.host_memory;
  desc.host_visible = device.host_visible;
  desc.alignment = static_cast<uint32_t>(device.alignment);
  base::WriteStruct(out, desc);
}

ricci_status* ricci_device_memory(const ricci_device* d, uint64_t* total_bytes, uint64_t* free_bytes) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"d", d}, {"total_bytes", total_bytes}, {"free_bytes", free_bytes}}));
    return FromAbi(d)->MemoryInfo(total_bytes, free_bytes);
  });
}

ricci_status* ricci_device_memory_stats(const ricci_device* d, ricci_memory_stats* out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"d", d}, {"out", out}}));
    RICCI_ASSIGN(const ricci_memory_stats stats, FromAbi(d)->MemoryStats());
    if (base::WriteStruct(out, stats)) return absl::OkStatus();
    return args.Wrong("out->hdr.size is ", out->hdr.size, "; set it to the size of the struct");
  });
}

ricci_status* ricci_device_set_memory_limit(ricci_device* d, uint64_t bytes) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"d", d}}));
    FromAbi(d)->SetMemoryLimit(bytes);
    return absl::OkStatus();
  });
}

ricci_status* ricci_device_trim(ricci_device* d, uint64_t keep_bytes) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"d", d}}));
    return FromAbi(d)->Trim(keep_bytes);
  });
}

void ricci_target_init(ricci_target* t) {
  if (t != nullptr) base::WriteStruct(t, pass::TypicalTarget());
}
}
