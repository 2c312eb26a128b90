#include "pass/cost/factor_cost.h"

#include <algorithm>
#include <cmath>

namespace ricci { inline namespace v0 { namespace pass {

// In cycles for an element, whose first way from memory both have in common. Stored, it is written and read again, by
// a launch of its own; tiles then read it from the cache, or what it is computed from.
bool PaysInProduct(const FactorWork& work, const ricci_target& t) {
  const double stored = 2 * work.bytes / t.memory_bytes_per_cycle + t.launch_cycles / work.elements;
  const double each_time = (work.read_bytes - work.bytes) / t.cached_bytes_per_cycle +
                           static_cast<double>(work.operations) / static_cast<double>(t.points_wanted);
  return work.times * each_time <= stored;
}

double TilesThatRead(const ir::Factors* product, size_t k, int64_t tile) {
  if (product == nullptr || k >= product->in.size()) return 0;
  const std::vector<uint32_t>& own = product->in[k];
  double others = 1;
  for (uint32_t i = 0; i < product->factors.size(); ++i) {
    const ir::Factor& factor = product->factors[i];
    if (factor.kind != ir::FactorKind::kParallel && factor.kind != ir::FactorKind::kSum) return 0;
    if (std::find(own.begin(), own.end(), i) == own.end()) others *= static_cast<double>(factor.size);
  }
  return std::ceil(others / static_cast<double>(tile));
}

}}}  // namespace ricci::v0::pass
