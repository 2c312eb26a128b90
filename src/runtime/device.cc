#include "runtime/device.h"

namespace ricci::inline v0::runtime {
namespace {

std::string Text(ricci_str s) { return s.ptr == nullptr ? std::string() : std::string(s.ptr, s.len); }

}  // namespace

Device::Device(Context* context, const ricci_backend& from, int32_t ordinal)
    : context(context),
      backend(from),
      kind(Text(from.kind)),
      name(Text(from.name)),
      ordinal(ordinal),
      reference(kind == "ref") {
  backend.kind = {kind.data(), kind.size()};
  backend.name = {name.data(), name.size()};
}

Device::~Device() {
  if (owns_self && backend.drop_self != nullptr) backend.drop_self(backend.self);
}

}  // namespace ricci::inline v0::runtime
