#include "kernel/long_loops.h"

#include "kernel/block_ops.h"
#include "ricci/exact.h"

namespace ricci { inline namespace v0 { namespace kernel {
namespace {

bool IsLong(const ricci_inst* insts, const ricci_inst& loop) {
  if (loop.op == RICCI_K_WHILE) return true;
  if (loop.op != RICCI_K_FOR) return false;
  const ricci_inst &lo = insts[loop.a], &hi = insts[loop.b];
  if (lo.op != RICCI_K_CONST || hi.op != RICCI_K_CONST) return false;
  return ricci_exact_clamp(ricci_exact_of(hi.imm) - lo.imm, 0, INT64_MAX) > kManyTrips;
}

// Of a long loop. One without a bound counts from 0.
int64_t FirstOf(const ricci_inst* insts, const ricci_inst& loop) {
  return loop.op == RICCI_K_WHILE ? 0 : insts[loop.a].imm;
}

}  // namespace

std::vector<uint64_t> LocationsOfLongLoops(const Kernel& k) {
  std::vector<uint64_t> locations;
  for (size_t i = 0; i < k.locations.size(); ++i) {
    if (IsLong(k.insts.data(), k.insts[i])) locations.push_back(k.locations[i]);
  }
  return locations;
}

std::vector<LongLoop> LongLoopsOf(const ricci_kernel_table& k) {
  std::vector<LongLoop> loops;
  if (k.locations == nullptr) return loops;
  constexpr size_t kNone = SIZE_MAX;
  std::vector<size_t> open;  // by block that is open: its number among the loops, or kNone
  for (uint32_t i = 1; i < k.n_insts; ++i) {
    if (OpensBlock(k.insts[i].op)) {
      const bool is_named = k.locations[i] != 0 && IsLong(k.insts, k.insts[i]);
      open.push_back(is_named ? loops.size() : kNone);
      if (is_named) loops.push_back({i, i, k.locations[i], FirstOf(k.insts, k.insts[i])});
    }
    if (!ClosesBlock(k.insts[i].op)) continue;
    if (open.back() != kNone) loops[open.back()].end = i;
    open.pop_back();
  }
  return loops;
}

}}}  // namespace ricci::v0::kernel
