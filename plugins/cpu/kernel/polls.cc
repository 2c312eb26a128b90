#include "cpu/kernel/polls.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "cpu/kernel/kernel_codegen.h"

namespace ricci::cpu {
namespace {

using codegen::TripsOf;

struct Loop {
  uint32_t every = 0;
  double work = 0;  // between its last poll and its end
};

uint32_t TripsOfWork(double body) {
  return static_cast<uint32_t>(std::clamp(std::floor(kPollWork / body), 1.0, kPollTrips));
}

// A loop whose trips do `body` each; without a value, the number of trips is not known.
Loop LoopOf(std::optional<double> trips, double body, double most_trips) {
  if (trips && *trips <= most_trips && *trips * body <= kPollWork) return {0, *trips * body};
  const uint32_t every = TripsOfWork(body);
  return {every, trips ? 1 : std::min<double>(every, kLikelyTrips) * body};
}

bool IsLoop(uint16_t op) {
  return op == RICCI_K_FOR || op == RICCI_K_WHILE || op == RICCI_K_REDUCE || op == RICCI_K_SCAN;
}

class Finder {
 public:
  Finder(const ricci_kernel_table& k, const codegen::Blocks& blocks, const codegen::KernelSchedule& schedule)
      : k_(k), blocks_(blocks), schedule_(schedule) {}

  Polls Find(int64_t grain) {
    polls_.every.assign(k_.n_insts, 0);
    Domain(Body(), static_cast<double>(grain));
    polls_.any |= polls_.columns != 0 || polls_.units != 0;
    return polls_;
  }

 private:
  // The work of all instructions at one point.
  double Body() {
    std::vector<uint32_t> open;
    std::vector<double> work{0};
    for (uint32_t i = 1; i < k_.n_insts; ++i) {
      work.back() += 1;
      if (IsLoop(k_.insts[i].op)) {
        open.push_back(i);
        work.push_back(1);
      }
      if (open.empty() || i != blocks_.close[open.back()]) continue;
      const Loop loop = LoopOf(CodeTrips(open.back()), work.back(), kPollTrips);
      polls_.every[open.back()] = loop.every;
      polls_.any |= loop.every != 0;
      open.pop_back();
      work.pop_back();
      work.back() += loop.work;
    }
    return work.back();
  }

  // How often the code of a loop runs.
  std::optional<double> CodeTrips(uint32_t loop) const {
    if (k_.insts[loop].op == RICCI_K_WHILE) return std::nullopt;
    const std::optional<int64_t> all = TripsOf(k_, loop);
    if (!all) return std::nullopt;
    const int64_t trips = loop == schedule_.split ? std::min(*all, schedule_.chunk_length) : *all;
    const bool spread = !schedule_.over_domain && codegen::Spreads(k_, blocks_, loop, schedule_.lanes);
    return std::ceil(static_cast<double>(trips) / (spread ? schedule_.lanes : 1) / Sums(loop, trips, spread));
  }
  // The number of accumulators that one trip of its code adds to.
  uint32_t Sums(uint32_t loop, int64_t trips, bool spread) const {
    if (k_.insts[loop].op != RICCI_K_REDUCE) return 1;
    const uint32_t length = blocks_.close[loop] - loop;
    return spread ? SumsInLanes(length) : SumsInOrder(trips, length);
  }

  // Loops over points poll by their work only: they are the shortest there are, and end with their task.
  void Domain(double point, double grain) {
    polls_.work = point;
    if (IsSplitScan()) return Units(grain, point);
    if (k_.domain_rank == 0) return;
    const double units = schedule_.shared != 0 ? Rows() : schedule_.copied ? ChunkLength() : grain;
    const bool flat = k_.domain_rank == 1;
    double columns = flat ? std::min(units, Extent(0)) : Extent(k_.domain_rank - 1);
    if (schedule_.over_domain) columns = std::ceil(columns / schedule_.lanes);
    if (schedule_.rows_together) point *= Extent(k_.domain_rank - 2);
    if (!schedule_.squares.empty()) point *= schedule_.lanes;
    const Loop inner = LoopOf(columns, point, HUGE_VAL);
    polls_.columns = inner.every, polls_.work = inner.work;
    if (!flat) Units(units, inner.work);
  }
  void Units(double units, double work) {
    const Loop loop = LoopOf(units, work + 1, HUGE_VAL);
    polls_.units = loop.every, polls_.work = loop.work;
  }

  bool IsSplitScan() const { return schedule_.split != 0 && k_.insts[schedule_.split].op == RICCI_K_SCAN; }
  double Extent(uint32_t d) const { return static_cast<double>(k_.domain[d]); }
  double ChunkLength() const { return static_cast<double>(schedule_.chunk_length); }
  double Rows() const {
    double rows = k_.domain_rank == 1 ? Extent(0) : 1;
    for (uint32_t d = 0; d + 1 < k_.domain_rank; ++d) rows *= Extent(d);
    return rows;
  }

  const ricci_kernel_table& k_;
  const codegen::Blocks& blocks_;
  const codegen::KernelSchedule& schedule_;
  Polls polls_;
};

}  // namespace

bool Polls::IsIn(uint32_t first, uint32_t last) const {
  return std::any_of(every.begin() + first, every.begin() + last, [](uint32_t trips) { return trips != 0; });
}

Polls FindPolls(const ricci_kernel_table& k, const codegen::Blocks& blocks, const codegen::KernelSchedule& schedule,
                int64_t grain) {
  return Finder(k, blocks, schedule).Find(grain);
}

}  // namespace ricci::cpu
