#include "cuda/schedule/team.h"

#include <algorithm>
#include <optional>

#include "codegen/reduction_nests.h"

namespace ricci::cuda {
namespace {

constexpr int64_t kManyPoints = 1 << 15;  // so many threads hide the latency of memory without help
constexpr int64_t kFewPoints = 1 << 8;
constexpr int64_t kLongLoop = 1 << 11;  // worth a block
constexpr int64_t kShortLoop = kWarp;   // the least worth a warp

class Finder {
 public:
  Finder(const ricci_kernel_table& k, const codegen::Blocks& blocks, bool may_keep_rows)
      : k_(k), blocks_(blocks), may_keep_rows_(may_keep_rows) {}

  Team Find() {
    team_ = Team::Alone(k_, "");
    if (!MayShare()) return Team::Alone(k_, "it updates elements, or reads what it writes");
    for (uint32_t i = 1; i < k_.n_insts; ++i) Consider(i);
    if (longest_ == 0)
      return Team::Alone(k_, "no reduction, scan or parallel loop of " + std::to_string(kShortLoop) + " trips");
    if (!Worth()) return Team::Alone(k_, std::to_string(points_) + " points, whose loops do not read in order");
    if (!PrivateArraysAllow()) return Team::Alone(k_, "its loops fill private arrays");
    team_.columns = !in_order_ && stores_always_ && across_ && points_ >= kWarp && all_outside_ && !scans_ &&
                    (points_ % kWarp == 0 || !stores_inside_);
    team_.size = team_.columns ? kBlock / kWarp : points_ < kFewPoints && longest_ >= kLongLoop ? kBlock : kWarp;
    if (may_keep_rows_) KeepRows();
    team_.reason = std::to_string(points_) + (points_ == 1 ? " point" : " points") + ", loops of " +
                   std::to_string(longest_) +
                   (in_order_       ? " elements in order"
                    : team_.columns ? " rows of elements in order"
                                    : " elements");
    return std::move(team_);
  }

 private:
  // What one thread writes, another one must not read; updates of the same elements are made in order.
  bool MayShare() {
    std::vector<uint8_t> loaded(k_.n_buffers), stored(k_.n_buffers);
    for (uint32_t i = 1; i < k_.n_insts; ++i) {
      const ricci_inst& q = k_.insts[i];
      if (q.op == RICCI_K_COMBINE) return false;
      if (q.op == RICCI_K_DOMAIN && q.imm + 1 == k_.domain_rank) across_points_.emplace(k_, i, k_.n_insts, nullptr);
      if (q.op == RICCI_K_LOAD) loaded[RICCI_BUFFER_OF(q.imm)] = 1;
      if (q.op == RICCI_K_STORE) stored[RICCI_BUFFER_OF(q.imm)] = 1;
    }
    for (uint32_t b = 0; b < k_.n_buffers; ++b) {
      if (loaded[b] != 0 && stored[b] != 0) return false;
    }
    return points_ > 0;
  }

  // The outermost reductions, scans and parallel loops that are long enough.
  void Consider(uint32_t i) {
    const uint32_t parent = blocks_.parent[i];
    team_.inside[i] = parent != 0 && (team_.shared[parent] != 0 || team_.inside[parent] != 0);
    const ricci_inst& q = k_.insts[i];
    const bool store = q.op == RICCI_K_STORE;
    stores_always_ &= !store || parent == 0 || team_.inside[i] != 0;
    stores_inside_ |= store && team_.inside[i] != 0;
    const bool scan = q.op == RICCI_K_SCAN, apart = q.op == RICCI_K_REDUCE || (q.op == RICCI_K_FOR && q.imm == 1);
    if ((!apart && !scan) || team_.inside[i] != 0) return;
    const std::optional<int64_t> trips = codegen::TripsOf(k_, i);
    const uint32_t row = RowWithin(i);
    if (row == 0 && (!trips || *trips < kShortLoop || (scan && !StoresBetweenTrips(i)))) return;
    if (row != 0) ShareRows(i, row);
    team_.shared[i] = 1;
    const ricci_exact elements = ricci_exact_of(*trips) * (row != 0 ? *codegen::TripsOf(k_, row) : 1);
    longest_ = std::max(longest_, ricci_exact_clamp(elements, 0, INT64_MAX));
    const uint32_t along = row != 0 ? row : i;
    codegen::Strides strides(k_, along, blocks_.close[along], nullptr);
    for (uint32_t at = along + 1; at < blocks_.close[along]; ++at) {
      if (k_.insts[at].op != RICCI_K_LOAD) continue;
      in_order_ |= strides.Of(k_.insts[at].a) == 1 || (scan && strides.Of(k_.insts[at].a) == -1);
      across_ |= strides.Of(k_.insts[at].a) != 0 && across_points_ && across_points_->Of(k_.insts[at].a) == 1;
    }
    all_outside_ &= parent == 0;
    scans_ |= scan;
  }

  // The reduction along a row that this one is over, if lanes may share it; 0: there is none.
  uint32_t RowWithin(uint32_t outer) const {
    if (k_.insts[outer].op != RICCI_K_REDUCE || !codegen::TripsOf(k_, outer)) return 0;
    const std::vector<uint32_t> within = codegen::ReductionsWithin(k_, blocks_, outer);
    if (within.size() != 1 || !codegen::ReductionsWithin(k_, blocks_, within[0]).empty()) return 0;
    const uint32_t row = within[0];
    if (codegen::TripsOf(k_, row).value_or(0) < kLeastRow) return 0;
    codegen::Strides strides(k_, row, blocks_.close[row], nullptr);
    for (uint32_t i = row + 1; i < blocks_.close[row]; ++i) {
      if (k_.insts[i].op == RICCI_K_LOAD && strides.Of(k_.insts[i].a) == 1) return row;
    }
    return 0;
  }
  void ShareRows(uint32_t outer, uint32_t row) {
    team_.over_rows.resize(k_.n_insts);
    team_.over_rows[row] = outer;
    team_.shared[row] = 1;
  }

  // Where all threads of a team meet: its stores are in no other block.
  bool StoresBetweenTrips(uint32_t scan) const {
    for (uint32_t i = scan + 1; i < blocks_.close[scan]; ++i) {
      if (k_.insts[i].op == RICCI_K_STORE && blocks_.parent[i] != scan) return false;
    }
    return true;
  }

  // A row that is too long for the registers of a warp may fit into those of a block.
  void KeepRows() {
    team_.rows = KeptRowsOf(k_, blocks_, team_.shared, team_.size);
    if (team_.rows.reason.empty() || team_.size != kWarp) return;
    KeptRows of_block = KeptRowsOf(k_, blocks_, team_.shared, kBlock);
    if (!of_block.IsUsed()) return;
    team_.size = kBlock;
    team_.rows = std::move(of_block);
  }

  // Neighbours of a warp should read neighbours in memory, and enough threads should run.
  bool Worth() const { return points_ < kManyPoints || in_order_; }

  // A private array that a shared loop fills is spread over the team: it must also be declared there. Long arrays are
  // in memory, which is not enough for a team of threads.
  bool PrivateArraysAllow() const {
    if (LocalBytes(k_) > kMostLocalBytes) return false;
    for (uint32_t i = 1; i < k_.n_insts; ++i) {
      const ricci_inst& q = k_.insts[i];
      if (q.op == RICCI_K_SET && team_.inside[i] != 0 && team_.inside[q.a] == 0) return false;
    }
    return true;
  }

  const ricci_kernel_table& k_;
  const codegen::Blocks& blocks_;
  const bool may_keep_rows_;
  Team team_;
  const int64_t points_ = codegen::PointsOf(k_);
  int64_t longest_ = 0;
  std::optional<codegen::Strides> across_points_;  // along the last dimension of the domain
  bool in_order_ = false, across_ = false;
  bool scans_ = false;
  bool stores_inside_ = false;  // of the loops that are shared
  bool stores_always_ = true;   // no store of a point is in a branch, so that all threads of a block may meet before it
  bool all_outside_ = true;     // the shared loops are in no other block, so that all threads of a block meet there
};

}  // namespace

int64_t LocalBytes(const ricci_kernel_table& k) {
  int64_t bytes = 0;
  for (uint32_t i = 0; i < k.n_insts; ++i) {
    if (k.insts[i].op == RICCI_K_LOCAL)
      bytes += k.insts[i].imm * static_cast<int64_t>(ricci_dtype_size(k.insts[i].dtype));
  }
  return bytes;
}

Team Team::Alone(const ricci_kernel_table& k, std::string reason) {
  Team alone{.reason = std::move(reason)};
  alone.shared.resize(k.n_insts);
  alone.inside.resize(k.n_insts);
  return alone;
}

Team TeamOf(const ricci_kernel_table& k, const codegen::Blocks& blocks, bool may_keep_rows) {
  return Finder(k, blocks, may_keep_rows).Find();
}

}  // namespace ricci::cuda
