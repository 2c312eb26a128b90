// The numbers of a convolution as a library reads them: sizes, and strides in the elements of each array.
#ifndef RICCI_CPU_CONVOLUTION_SHAPE_H_
#define RICCI_CPU_CONVOLUTION_SHAPE_H_
#include <vector>

#include "cpu/library/library_op.h"

namespace ricci::cpu {

// One dimension of an array that all three may have: its size, and the strides of the arrays (0: it has none).
struct ConvolutionLoop {
  int64_t size = 1, lhs = 0, rhs = 0, out = 0;
};
// A spatial dimension. Element `x` of lhs and `w` of the window meet in element `y` of the result where
// x lhs_dilation = y stride + w rhs_dilation - low.
struct ConvolutionWindow {
  int64_t lhs, rhs, out;  // sizes
  int64_t lhs_stride, rhs_stride, out_stride;
  int64_t stride = 1, low = 0, high = 0, lhs_dilation = 1, rhs_dilation = 1;

  bool padded() const { return low != 0 || high != 0 || lhs_dilation != 1; }
};
struct ConvolutionShape {
  Array lhs, rhs, out;
  ConvolutionLoop group, batch, inputs, features;  // of one group, but for `group`
  std::vector<ConvolutionWindow> windows;
};

inline bool IsPadded(const ConvolutionShape& c) {
  for (const ConvolutionWindow& v : c.windows) {
    if (v.padded()) return true;
  }
  return false;
}

// False: a type is none of an array.
bool ReadShape(const ricci_op* op, ConvolutionShape& c);

}  // namespace ricci::cpu
#endif
