// Copies of arrays from device to device.
#ifndef RICCI_RUNTIME_DEVICE_PUT_H_
#define RICCI_RUNTIME_DEVICE_PUT_H_
#include "runtime/context/array.h"

namespace ricci { inline namespace v0 { namespace runtime {

// A copy of `a`, committed to `to`, enqueued where possible. Both belong to the same context.
absl::StatusOr<base::Ref<Array>> DevicePut(const Array& a, Device* to);
// An array with the data at `host`, made in the order of `stream` (NULL: the device's own).
absl::StatusOr<base::Ref<Array>> FromHost(Device* to, types::TypeId type, const void* host, Stream* stream);
// Waits for `a`; `who` is named if it was donated.
absl::Status CopyToHost(const Array& a, void* host, std::string_view who);

}}}  // namespace ricci::v0::runtime
#endif
