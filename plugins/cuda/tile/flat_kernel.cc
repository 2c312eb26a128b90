#include "cuda/tile/flat_kernel.h"

#include "cuda/schedule/phases.h"
#include "cuda/tile/product_tile.h"

namespace ricci::cuda {
namespace {

constexpr codegen::FlatLimits kLimits = {.least_trips = kWarp,
                                         .least_row = kLeastRow,
                                         .rows_at_once = kBlock / kWarp,
                                         .least_part = kLeastTrips,
                                         .most_parts = kMostBlocks};

}  // namespace

FlatKernel::FlatKernel(const ricci_kernel_table& k, const TextTarget& target)
    : k_(k), flat_(k, kLimits), is_flat_(IsShared(target)) {}

bool FlatKernel::IsShared(const TextTarget& target) const {
  if (!flat_.IsChanged()) return false;
  const codegen::Blocks blocks(k_), flat_blocks(flat_.table());
  if (TileOf(k_, blocks, IndexRanges(k_), target).IsUsed()) return false;
  return TeamOf(flat_.table(), flat_blocks, /*may_keep_rows=*/false).size > 1;
}

}  // namespace ricci::cuda
