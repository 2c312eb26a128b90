#include "runtime/context/device_put.h"

namespace ricci { inline namespace v0 { namespace runtime {
namespace {

constexpr std::string_view kPut = "ricci_device_put";

absl::StatusOr<StreamRef> StreamFor(Device* device, Stream* stream) {
  if (stream == nullptr) return device->DefaultStream();
  RICCI_TRY(stream->CheckUsable());
  return StreamRef(stream);
}

// A copy between devices of the same kind.
absl::StatusOr<base::Ref<Array>> CopyDirectly(const Array& a, Device* to) {
  RICCI_ASSIGN(const StreamRef stream, to->DefaultStream());
  RICCI_ASSIGN(auto copy, Array::Create(to, a.type_id(), stream.get()));
  RICCI_TRY(a.Order(*stream, /*for_writing=*/false));
  EventRef event = Event::AtPoint(stream);
  RICCI_ASSIGN(void* end, to->CopyBetween(copy->data(), a.data(), *a.device(), a.bytes(), stream.get()));
  if (end == nullptr) return copy;
  event->Started(end);
  a.AddRead(event);
  copy->SetWritten(std::move(event));
  return copy;
}

}  // namespace

absl::StatusOr<base::Ref<Array>> FromHost(Device* to, types::TypeId type, const void* host, Stream* stream) {
  RICCI_ASSIGN(const StreamRef order, StreamFor(to, stream));
  RICCI_ASSIGN(auto array, Array::Create(to, type, order.get()));
  RICCI_TRY(to->CopyTo(array->data(), host, array->bytes(), order.get()));
  if (order) {
    RICCI_ASSIGN(EventRef end, order->Record());
    array->SetWritten(std::move(end));
  }
  return array;
}

absl::Status CopyToHost(const Array& a, void* host, std::string_view who) {
  RICCI_TRY(a.Wait(who));
  const Device& device = *a.device();
  return device.CopyFrom(host, a.data(), a.bytes(), nullptr);
}

// Memory of the host is copied at once, memory of another kind of device through the host.
absl::StatusOr<base::Ref<Array>> DevicePut(const Array& a, Device* to) {
  Device* const from = a.device();
  if (from->host_memory) return FromHost(to, a.type_id(), a.data(), nullptr);
  if (from->kind == to->kind) return CopyDirectly(a, to);
  if (to->host_memory) {
    RICCI_ASSIGN(auto copy, Array::Create(to, a.type_id(), nullptr));
    RICCI_TRY(CopyToHost(a, copy->data(), kPut));
    return copy;
  }
  base::Vec<std::byte> staged(a.bytes(), base::HostAllocator<std::byte>(from->context->memory()));
  RICCI_TRY(CopyToHost(a, staged.data(), kPut));
  return FromHost(to, a.type_id(), staged.data(), nullptr);
}

}}}  // namespace ricci::v0::runtime
