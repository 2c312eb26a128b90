// TensorFormat: as which numbers tensor cores multiply the two factors of a product. They hold every value that a
// factor can have, so that nothing is rounded which the program does not round itself.
//
// bf16 and f16 (which hold floats and integers of 8 bits too) with sums in f32; signed and unsigned integers of 8 bits
// with sums that wrap; tf32 for f32 that the program has rounded to it. Floats of 8 bits are multiplied as f16: the
// sums of products of their own have fewer bits than f32 on some GPUs.
//
// That is so on sm_89 and sm_90, where `mma.sync` and `wgmma` of e4m3 and e5m2 add with about 14 bits (arXiv
// 2412.19437, 3.3.2; 2512.07004). No dtype of a program says so; XLA has a switch for such sums. In machine code for
// sm_90a and sm_100a `mma.sync` of them is two of f16 anyway.
//
// tf32 is used only where a program asks for it (`precision="TF32_TF32_F32"`). On every device operands are then
// rounded to nearest, ties away from zero, as `cvt.rna.tf32` does with the fragments. The algorithms of several bf16 or
// tf32 products are f32 here. Other f32, f64 and other integers are multiplied as they are, in registers.
#ifndef RICCI_CUDA_TENSOR_FORMAT_H_
#define RICCI_CUDA_TENSOR_FORMAT_H_
#include <cstdint>
#include <string_view>

#include "codegen/dtypes.h"
#include "ricci/backend.h"

namespace ricci::cuda {

struct TensorFactor {
  uint32_t value = 0;  // the instruction whose value is kept in shared memory,
  uint32_t dtype = 0;  // as this type; f32 is that before it is rounded to tf32. 0: there is none
};
struct TensorFormat {
  TensorFactor factors[2];

  bool IsUsed() const { return factors[0].dtype != 0; }
  int64_t bytes() const { return ricci_dtype_size(factors[0].dtype); }  // of an element of either factor
};
// Of the product of `a` and `b`, which is added up in its own type.
TensorFormat TensorFormatOf(const ricci_kernel_table& k, uint32_t product, uint32_t a, uint32_t b);

// What one instruction of a warp multiplies of the sum: 32 bytes of each row and column.
inline int64_t TripsOfMatrices(uint32_t dtype) { return 32 / int64_t{ricci_dtype_size(dtype)}; }
// Matrices in shared memory are read along the sum; those of 2 bytes along rows (columns) too.
inline bool IsReadEitherWay(uint32_t dtype) { return ricci_dtype_size(dtype) == 2; }

// What the text says of products in that format; empty for those of 2 bytes.
std::string_view NameOfFormat(uint32_t dtype);

}  // namespace ricci::cuda
#endif
