// ricci/dlpack.hpp: arrays shared with other libraries without a copy, as tensors of DLPack 1. Include it next to
// ricci.hpp; the struct itself is in DLPack's own dlpack/dlpack.h.
#ifndef RICCI_DLPACK_HPP_
#define RICCI_DLPACK_HPP_
#include "ricci/array.hpp"

namespace ricci { inline namespace v0 {

// A read-only tensor over the array's memory, which lives until the tensor's deleter is called, on any thread. The
// caller owns it. Waits for what writes the array. Throws UNIMPLEMENTED where memory of the device is not shared.
ricci_dlpack* to_dlpack(const Array& array, Location at = Location::Here());
// An array over the tensor's memory on the context's first device (or `device`); it takes the tensor over, unless it
// throws. The data must not change while the array lives. What is read-only, empty or not aligned is copied, and the
// tensor deleted at once. Throws INVALID_ARGUMENT unless the tensor is row-major without gaps in memory of the device.
Array from_dlpack(const Context& ctx, ricci_dlpack* tensor, Device device = {}, Location at = Location::Here());

}}  // namespace ricci::v0
#endif
