// Conversions between all pairs of element types.
//
// Integers wrap; floats to integers truncate, saturate and take NaN to 0, as Rust's `as` does; to bool means x != 0.
#ifndef RICCI_KERNEL_SCALAR_CONVERT_H_
#define RICCI_KERNEL_SCALAR_CONVERT_H_
#include "kernel/scalar/scalar_eval.h"

namespace ricci { inline namespace v0 { namespace kernel {

// NULL if there is none (key, complex dtypes).
ScalarFn FindConversion(uint32_t from, uint32_t to);

}}}  // namespace ricci::v0::kernel
#endif
