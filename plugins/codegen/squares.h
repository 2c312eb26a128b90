// Transposed loads: of arrays that are contiguous along the dimension before the innermost one. A square of points is
// then computed at once: as many rows as there are lanes, with each load a square that is transposed in registers.
#ifndef RICCI_CODEGEN_SQUARES_H_
#define RICCI_CODEGEN_SQUARES_H_
#include <vector>

#include "codegen/analysis.h"

namespace ricci::codegen {

// The loads to transpose, if points are to be computed in squares, which takes a kernel without loops and branches,
// with little code, and that reads nothing it writes. `dims`: the DOMAIN instruction of each dimension, 0 = none.
std::vector<uint32_t> SquareLoads(const ricci_kernel_table& k, const Blocks& blocks, const std::vector<uint32_t>& dims,
                                  unsigned lanes);

}  // namespace ricci::codegen
#endif
