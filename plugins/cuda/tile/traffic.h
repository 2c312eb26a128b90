// Traffic: what the points of a kernel read, write and compute, counted from its instructions.
#ifndef RICCI_CUDA_TRAFFIC_H_
#define RICCI_CUDA_TRAFFIC_H_
#include "codegen/analysis.h"
#include "cuda/tile/vector.h"

namespace ricci::cuda {

// For one point, on average. Loops of unknown length count as in codegen::TimesOf; both sides of a branch count.
struct Traffic {
  double read = 0, written = 0;              // bytes of all accesses; a group reads once what is the same for it
  double least_read = 0, least_written = 0;  // if each element that a buffer has is accessed once at most
  double operations = 0;
};
// Of the instructions that `in_launch` marks; empty: of all.
Traffic TrafficOf(const ricci_kernel_table& k, const codegen::Blocks& blocks, const Vector& vector,
                  const std::vector<uint8_t>& in_launch);

}  // namespace ricci::cuda
#endif
