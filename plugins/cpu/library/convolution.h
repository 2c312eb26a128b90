// Convolutions by packed tiles: a library lowering of conv_general_dilated.
#ifndef RICCI_CPU_CONVOLUTION_H_
#define RICCI_CPU_CONVOLUTION_H_
#include "ricci/primitive.h"

namespace ricci::cpu {

// Registers it with the row `conv_general_dilated`, which must exist.
ricci_status* AddConvolution(ricci_ctx* ctx);

struct Product;
// False: the generated kernel is as good as tiles, they have no such types, or lhs has padding or dilation.
bool PlanConvolution(const ricci_op* op, Product& p);

// What one thread needs with lhs padded first, about, in cycles for a vector of sums; infinity: tiles do not take it.
// Sizes must be below 2^31.
struct ConvolutionShape;
double TileCycles(const ConvolutionShape& shape);

}  // namespace ricci::cpu
#endif
