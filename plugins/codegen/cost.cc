#include "codegen/cost.h"

#include <algorithm>
#include <cmath>

#include "codegen/cost_walk.h"

namespace ricci::codegen {
namespace {

constexpr double kRow = 5;       // cycles of a loop over all dimensions but the last
constexpr double kShared = 0.7;  // share of the work when rows are computed together

// Cycles to move what is read and written; of a buffer at most what its accesses can touch.
double Traffic(const ricci_kernel_table& k, const Blocks& blocks, const ricci_target& target) {
  double points = 1;
  for (uint32_t d = 0; d < k.domain_rank; ++d) points *= static_cast<double>(k.domain[d]);
  const std::vector<double> times = TimesOf(k, blocks);
  std::vector<double> touched(k.n_buffers, 0);
  for (uint32_t i = 1; i < k.n_insts; ++i) {
    const ricci_inst& inst = k.insts[i];
    const bool access = inst.op == RICCI_K_LOAD || inst.op == RICCI_K_STORE || inst.op == RICCI_K_COMBINE;
    if (access) touched[RICCI_BUFFER_OF(inst.imm)] += points * times[i];
  }
  double bytes = 0;
  for (uint32_t i = 0; i < k.n_buffers; ++i) {
    bytes += std::min(touched[i], static_cast<double>(k.buffers[i].elements)) * SizeOfDType(k.buffers[i].dtype);
  }
  const bool in_cache = bytes <= static_cast<double>(target.cache_bytes);
  return bytes / (in_cache ? target.cached_bytes_per_cycle : target.memory_bytes_per_cycle);
}

class DomainWalk {
 public:
  DomainWalk(const ricci_kernel_table& k, const Blocks& blocks, const ricci_target& target, const Spreading& how)
      : k_(k), blocks_(blocks), target_(target), how_(how), walk_(k, blocks, target, how.lanes) {
    walk_.Transpose(how.squares);
  }

  Cost Run() {
    if (k_.domain_rank == 0) return walk_.Body(0, 1, k_.n_insts, nullptr);
    Cost cost;
    if (!how_.pieces.empty()) {
      cost = Pieces(how_.pieces, 0);
    } else {
      cost = Columns({0, k_.domain[k_.domain_rank - 1]}, nullptr);
      for (uint32_t d = 0; d + 1 < k_.domain_rank; ++d) cost.cycles *= static_cast<double>(k_.domain[d]);
    }
    cost.cycles = std::max(cost.cycles / Beside(), Traffic(k_, blocks_, target_));
    return cost;
  }

 private:
  // How many vectors run at once: as many as there are, up to what keeps the device busy.
  double Beside() const {
    const auto inner = static_cast<double>(k_.domain[k_.domain_rank - 1]);
    double vectors = how_.root != 0 ? std::ceil(inner / how_.lanes) : inner;
    for (uint32_t d = 0; d + 1 < k_.domain_rank; ++d) vectors *= static_cast<double>(k_.domain[d]);
    return std::clamp(vectors, 1.0, static_cast<double>(target_.points_wanted) / target_.lanes);
  }

  Cost Columns(Interval range, const Facts* facts) {
    const auto extent = static_cast<double>(range.hi - range.lo);
    // A target with a lane for each point needs no loops over points.
    const double trip = RunsMany(target_) ? 0 : kTrip, row = RunsMany(target_) ? 0 : kRow;
    Cost cost = walk_.Body(how_.root, 1, k_.n_insts, facts);
    cost.cycles = (how_.root != 0 ? std::ceil(extent / how_.lanes) : extent) * (cost.cycles + trip);
    if (!how_.squares.empty()) cost.code *= how_.lanes + 1;
    if (how_.rows_together) {
      cost.cycles = kShared * cost.cycles + row / static_cast<double>(k_.domain[k_.domain_rank - 2]);
    } else if (k_.domain_rank > 1) {
      cost.cycles += row;
    }
    return cost;
  }

  Cost Pieces(const std::vector<Piece>& pieces, uint32_t d) {
    Cost sum;
    for (const Piece& p : pieces) {
      if (d + 1 == k_.domain_rank) {
        sum += Columns(p.range, &p.facts[0]);
        continue;
      }
      Cost inner = Pieces(p.inner, d + 1);
      inner.cycles *= static_cast<double>(p.range.hi - p.range.lo);
      sum += inner;
    }
    return sum;
  }

  const ricci_kernel_table& k_;
  const Blocks& blocks_;
  const ricci_target& target_;
  const Spreading& how_;
  CostWalk walk_;
};

}  // namespace

Cost CostOfKernel(const ricci_kernel_table& k, const Blocks& blocks, const ricci_target& target, const Spreading& how) {
  return DomainWalk(k, blocks, target, how).Run();
}

}  // namespace ricci::codegen
