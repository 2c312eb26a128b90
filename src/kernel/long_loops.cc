#include "kernel/long_loops.h"

#include "ricci/exact.h"

namespace ricci { inline namespace v0 { namespace kernel {
namespace {

bool IsLong(const Kernel& k, const ricci_inst& loop) {
  if (loop.op == RICCI_K_WHILE) return true;
  if (loop.op != RICCI_K_FOR) return false;
  const ricci_inst &lo = k.insts[loop.a], &hi = k.insts[loop.b];
  if (lo.op != RICCI_K_CONST || hi.op != RICCI_K_CONST) return false;
  return ricci_exact_clamp(ricci_exact_of(hi.imm) - lo.imm, 0, INT64_MAX) > kManyTrips;
}

}  // namespace

std::vector<uint64_t> PlacesOfLongLoops(const Kernel& k) {
  std::vector<uint64_t> places;
  for (size_t i = 0; i < k.locations.size(); ++i) {
    if (IsLong(k, k.insts[i])) places.push_back(k.locations[i]);
  }
  return places;
}

}}}  // namespace ricci::v0::kernel
