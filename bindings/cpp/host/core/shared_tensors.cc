// Arrays as tensors of DLPack and back, over the C ABI.
#include "ricci/dlpack.hpp"

namespace ricci { inline namespace v0 {

ricci_dlpack* to_dlpack(const Array& array, Location at) {
  if (array.empty()) FailAt(at, "to_dlpack: the array is empty");
  ricci_dlpack* out = nullptr;
  CheckAt(at, ricci_array_to_dlpack(array.handle(), &out));
  return out;
}
Array from_dlpack(const Context& ctx, ricci_dlpack* tensor, Device device, Location at) {
  ricci_device* const on = device.handle() == nullptr ? ctx.device().handle() : device.handle();
  ricci_array* out = nullptr;
  CheckAt(at, ricci_array_from_dlpack(on, tensor, &out));
  return Array(ctx.handle(), out);
}

}}  // namespace ricci::v0
