// Loops of a kernel without a bound or of many trips, which the error of a run that was ended may name.
#ifndef RICCI_KERNEL_LONG_LOOPS_H_
#define RICCI_KERNEL_LONG_LOOPS_H_
#include <cstdint>
#include <vector>

#include "kernel/kernel.h"

namespace ricci { inline namespace v0 { namespace kernel {

// A loop of more trips is long.
inline constexpr int64_t kManyTrips = 1024;
// The locations in the host's source of its long loops, in order; empty if no location of the kernel is known.
std::vector<uint64_t> LocationsOfLongLoops(const Kernel& k);

struct LongLoop {
  uint32_t begin, end;  // instructions that open and close it
  uint64_t location;
  int64_t first;  // its number in the first trip
};
// Those whose location is known, inner ones after those around them.
std::vector<LongLoop> LongLoopsOf(const ricci_kernel_table& k);

}}}  // namespace ricci::v0::kernel
#endif
