// Arrays made from the host's data and read back.
#include "ricci/array.hpp"

namespace ricci { inline namespace v0 {
namespace {

// On the first device of the context, uncommitted, if none is given.
ricci_array* FromHost(const Location& at, Device device, const Context& ctx, DType dtype, Dims shape,
                      const void* data) {
  ricci_array_opts options = ricci_array_opts_default();
  if (device.handle() == nullptr) options.hdr.flags = RICCI_ARRAY_UNCOMMITTED;
  ricci_device* const on = device.handle() == nullptr ? ctx.device().handle() : device.handle();
  ricci_array* handle = nullptr;
  CheckAt(at, ricci_array_from_host(on, MakeTypeAt(at, ctx.handle(), dtype, shape).id(), data, &options, &handle));
  return handle;
}
const void* Filling(const Location& at, Dims shape, const void* data, size_t n) {
  for (int64_t d : shape) {
    if (d < 0) FailAt(at, "array: size ", d, " in shape ", shape, " is negative");
  }
  uint64_t room = 1;
  for (int64_t d : shape) {
    if (__builtin_mul_overflow(room, static_cast<uint64_t>(d), &room)) room = UINT64_MAX;
  }
  if (room != n) FailAt(at, "array: ", n, n == 1 ? " element does" : " elements do", " not fill shape ", shape);
  return data;
}

}  // namespace

Array::Array(const Context& ctx, DType dtype, const Shape& shape, const void* data, Location at)
    : Array(Device(), ctx, dtype, shape, data, at) {}
Array::Array(Device device, const Context& ctx, DType dtype, const Shape& shape, const void* data, Location at)
    : Handle(FromHost(at, device, ctx, dtype, shape, data)), ctx_(ctx.handle()) {}
Array::Array(const Context& ctx, DType dtype, Dims shape, const void* data, size_t n, const Location& at)
    : Handle(FromHost(at, Device(), ctx, dtype, shape, Filling(at, shape, data, n))), ctx_(ctx.handle()) {}
Array::Array(const Array& o) = default;
Array& Array::operator=(const Array& o) = default;

ArrayType Array::type() const {
  if (empty()) Fail("array: the Array is empty (default-constructed or moved from)");
  return ArrayType(ctx_, type_id());
}

const Array& Array::block_until_ready(Location at) const {
  if (empty()) FailAt(at, "array: the Array is empty (default-constructed or moved from)");
  CheckAt(at, ricci_array_wait(handle()));
  return *this;
}

Array device_put(const Array& a, Device device, Location at) {
  if (a.empty()) FailAt(at, "device_put: the array is empty");
  ricci_array* copy = nullptr;
  CheckAt(at, ricci_device_put(a.handle(), device.handle(), &copy));
  return Array(a.context(), copy);
}

Device CommittedDevice(std::span<const Array> arrays) {
  for (const Array& a : arrays) {
    if (a.is_committed()) return a.device();
  }
  return {};
}

size_t Array::CountOf(DType d, const Location& at) const {
  if (empty()) FailAt(at, "array: the Array is empty (default-constructed or moved from)");
  const ArrayType t = type();
  if (t.dtype() != d) FailAt(at, "array: its elements are ", t.dtype(), ", not ", d);
  return static_cast<size_t>(t.elements());
}
void Array::CopyTo(void* out, const Location& at) const {
  CheckAt(at, ricci_array_copy_to_host(handle(), out, static_cast<size_t>(ricci_array_bytes(handle()))));
}
void Array::CopyItemTo(void* out, DType d, const Location& at) const {
  if (CountOf(d, at) != 1) FailAt(at, "array: item() needs one element, not ", type());
  CopyTo(out, at);
}

}}  // namespace ricci::v0
