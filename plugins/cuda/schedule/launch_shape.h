// LaunchShape: how many blocks of how many threads a kernel is launched with. Kernels loop over what is left, so fewer
// blocks than there is work for are enough.
//
// Private arrays above 4 KB a point (kMostLocalBytes of team.h) are in memory that the launch is given. They are there
// element after element for all threads, so that the accesses of a warp are contiguous. All threads together get 8 MB
// of it for each processor, so few threads run where arrays are very long.
#ifndef RICCI_CUDA_LAUNCH_SHAPE_H_
#define RICCI_CUDA_LAUNCH_SHAPE_H_
#include <cstdint>

namespace ricci::cuda {

struct LaunchShape {
  unsigned blocks = 0, threads = 0;  // of a block
};
// `thread_bytes`: of memory that each thread has of its own (Launch). `processors`: of the GPU; 0: as many as it takes.
LaunchShape ShapeOf(int64_t threads, uint64_t thread_bytes, int64_t processors);

}  // namespace ricci::cuda
#endif
