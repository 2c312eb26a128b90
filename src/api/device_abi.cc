// ricci/device.h and ricci/target.h: the devices of a context, and what they are like.
#include "api/arguments.h"
#include "base/abi_struct.h"
#include "pass/target.h"
#include "runtime/context.h"

using namespace ricci;
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
  base::WriteStruct(out, desc);
}

void ricci_target_init(ricci_target* t) {
  if (t != nullptr) base::WriteStruct(t, pass::TypicalTarget());
}
}
