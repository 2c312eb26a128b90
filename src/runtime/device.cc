#include "runtime/device.h"

namespace ricci::inline v0::runtime {
namespace {

std::string Text(ricci_str s) { return s.ptr == nullptr ? std::string() : std::string(s.ptr, s.len); }

}  // namespace

Device::Device(Context* context, const ricci_backend& from, const ricci_target& target, int32_t ordinal)
    : context(context),
      backend(from),
      target(Text(from.kind), target),
      kind(Text(from.kind)),
      name(Text(from.name)),
      ordinal(ordinal),
      reference((from.hdr.flags & RICCI_BACKEND_REFERENCE) != 0) {
  backend.kind = {kind.data(), kind.size()};
  backend.target = &this->target.numbers;
  backend.name = {name.data(), name.size()};
}

Device::~Device() {
  if (owns_self && backend.drop_self != nullptr) backend.drop_self(backend.self);
}

}  // namespace ricci::inline v0::runtime
