#include "codegen/schedule.h"

#include <algorithm>
#include <cstdio>

#include "codegen/updates.h"

namespace ricci::codegen {
namespace {

constexpr unsigned kFewestLanes = 4;
constexpr int64_t kRowsTogether = 8;      // rows of one small matrix,
constexpr double kTogetherCode = 512;     // and the operations in the code of all of them
constexpr int64_t kLeastChunk = 1 << 10;  // elements of a chunk of a reduction that are combined, at least
constexpr int64_t kFewTasks = 64;         // a reduction for fewer tasks than that is cut into chunks
constexpr int64_t kLine = 16;             // elements: tasks share no such group
constexpr int64_t kCopies = 16, kMostCopied = 1 << 20;  // of all elements; elements of all copies
constexpr int64_t kTasks = 256;           // of one kernel, at most: long tasks keep the processor's prefetching going
constexpr double kSeveralThreads = 0.85;  // of its cycles count, for work that several threads can share
// Bounds of the kernels that take lanes two vectors at a time (IsLongChain).
constexpr int64_t kChainPoints = 128, kChainInsts = 128, kChainState = 8, kChainTrips = 512;

int64_t RoundedUp(int64_t n, int64_t multiple) { return (n + multiple - 1) / multiple * multiple; }

class Scheduler {
 public:
  Scheduler(const ricci_kernel_table& k, const Blocks& blocks, const ricci_target& target, const Cuts& cuts)
      : k_(k), blocks_(blocks), target_(target), cuts_(cuts) {}

  KernelSchedule Run() {
    FindDims();
    ChooseLanes();
    FindSplit();
    CountUnits();
    if (s_.split == 0 && !s_.rows_together && s_.pieces.empty() && s_.squares.empty() && !s_.copied && s_.shared == 0)
      s_.regions = CutRegions(k_, blocks_, {cuts_.shared_code, cuts_.region_code});
    return std::move(s_);
  }

 private:
  int64_t Inner() const { return k_.domain_rank == 0 ? 1 : k_.domain[k_.domain_rank - 1]; }

  void FindDims() {
    s_.dims.assign(k_.domain_rank, 0);
    for (uint32_t i = 0; i < k_.n_insts; ++i) {
      if (k_.insts[i].op == RICCI_K_DOMAIN) s_.dims[static_cast<size_t>(k_.insts[i].imm)] = i;
    }
  }

  // A short innermost dimension needs no more lanes than it has points.
  unsigned LanesOverDomain() const {
    unsigned lanes = target_.lanes;
    while (lanes > kFewestLanes && lanes / 2 >= Inner()) lanes /= 2;
    return lanes;
  }

  // Whichever is cheaper. Lanes over the domain keep branches.
  void ChooseLanes() {
    Use(target_.lanes, /*over_domain=*/false);
    if (k_.domain_rank == 0 || s_.dims.back() == 0) return;
    KernelSchedule inner = s_;
    Use((IsLongChain() ? 2 : 1) * LanesOverDomain(), /*over_domain=*/true);
    if (s_.cost.cycles > inner.cost.cycles && InnerMayTakeLanes()) s_ = std::move(inner);
  }

  // If many points run at once, the estimate would accept lanes that no loop uses, but other kernels would lose them.
  bool InnerMayTakeLanes() const {
    if (!RunsMany(target_)) return true;
    for (uint32_t i = 1; i < k_.n_insts; ++i) {
      const uint16_t op = k_.insts[i].op;
      if ((op == RICCI_K_FOR || op == RICCI_K_REDUCE || op == RICCI_K_SCAN) && Spreads(k_, blocks_, i, target_.lanes))
        return true;
    }
    return false;
  }

  void Use(unsigned lanes, bool over_domain) {
    s_.lanes = lanes;
    s_.over_domain = over_domain;
    s_.rows_together = RowsTogether();
    s_.pieces.clear();
    if (!s_.rows_together) s_.pieces = CutDomain(k_, blocks_, s_.dims, lanes, cuts_.pieces);
    s_.squares.clear();
    const bool whole = over_domain && !s_.rows_together && s_.pieces.empty() && !RunsMany(target_);
    if (whole) s_.squares = SquareLoads(k_, blocks_, s_.dims, lanes);
    s_.cost = CostOfKernel(k_, blocks_, target_,
                           {lanes, over_domain ? s_.dims.back() : 0, s_.rows_together, s_.pieces, s_.squares});
  }

  // Whether a point is one long chain of dependent steps, such as a time integration or an iteration over little
  // private state. Two vectors of lanes then run at once and hide each other's latency; their state must fit
  // the registers.
  bool IsLongChain() const {
    if (Inner() < kChainPoints || RunsMany(target_)) return false;
    bool chain = false;
    int64_t state = 0;
    const std::vector<uint8_t> varying = FindVarying(k_, blocks_, s_.dims.back(), 1, k_.n_insts);
    for (uint32_t i = 1; i < k_.n_insts; ++i) {
      const ricci_inst& inst = k_.insts[i];
      // Gathers take most of the time.
      if ((inst.op == RICCI_K_GET || inst.op == RICCI_K_SET) && varying[inst.b]) return false;
      if (inst.dtype == RICCI_F64 || inst.op == RICCI_K_REDUCE) return false;
      if (inst.op == RICCI_K_LOCAL && inst.imm <= kChainState) state += inst.imm;
      if (inst.op == RICCI_K_WHILE) {
        if (blocks_.close[i] - i > kChainInsts) return false;
        chain = true;
      }
      if (inst.op != RICCI_K_FOR) continue;
      const auto trips = TripsOf(k_, i);
      const int64_t length = blocks_.close[i] - i;
      if (inst.imm == 1 || !trips || length > kChainInsts) return false;
      chain |= *trips > kChainTrips / length;
    }
    return chain && state <= kChainState;
  }

  // Trips of the reductions inside `reduce` for one trip of `reduce`.
  int64_t NestedTrips(uint32_t reduce) const {
    int64_t most = 1;
    for (uint32_t i = reduce + 1; i < blocks_.close[reduce]; ++i) {
      if (k_.insts[i].op != RICCI_K_REDUCE) continue;
      const ricci_exact trips = ricci_exact_of(TripsOf(k_, i).value_or(1)) * NestedTrips(i);
      most = std::max(most, ricci_exact_clamp(trips, 0, cuts_.chunk));
      i = blocks_.close[i];
    }
    return most;
  }

  int64_t ChunkLength(uint32_t reduce) const {
    const int64_t inner = std::max<int64_t>(Inner(), 1), nested = NestedTrips(reduce);
    if (nested > 1) return std::max(cuts_.chunk / inner / nested, int64_t{1});
    const int64_t least = std::min(kLeastChunk, cuts_.chunk);
    return std::max(cuts_.chunk / inner / least, int64_t{1}) * least;
  }

  // The top-level REDUCE that is long enough to be split over threads, or 0.
  uint32_t LongReduction() const {
    uint32_t found = 0;
    for (uint32_t i = 1; i < k_.n_insts; ++i) {
      const uint16_t op = k_.insts[i].op;
      if (blocks_.parent[i] != 0) continue;
      if (op == RICCI_K_FOR || op == RICCI_K_WHILE || op == RICCI_K_IF || op == RICCI_K_LOCAL || op == RICCI_K_SCAN) {
        return 0;
      }
      if (HasEffect(op) && found == 0) return 0;
      if (op != RICCI_K_REDUCE) continue;
      const auto trips = TripsOf(k_, i);
      if (found != 0 || !trips || *trips < 2 * ChunkLength(i)) return 0;
      found = i;
    }
    return found;
  }

  // The top-level SCAN that is all of the kernel's work, is long enough to be split over threads, and whose elements do
  // not depend on its body; or 0.
  uint32_t LongScan() const {
    uint32_t found = 0;
    for (uint32_t i = 1; i < k_.n_insts; ++i) {
      const uint16_t op = k_.insts[i].op;
      if (blocks_.parent[i] != 0 || IsScalar(op)) continue;
      if (op == RICCI_K_SCAN && found == 0 && IsLongScan(i)) {
        found = i;
      } else if (op != RICCI_K_CONST && op != RICCI_K_DOMAIN && op != RICCI_K_LOAD && op != RICCI_K_ASSUME_LESS &&
                 op != RICCI_K_END) {
        return 0;
      }
    }
    return found;
  }

  bool IsLongScan(uint32_t scan) const {
    const auto trips = TripsOf(k_, scan);
    if (s_.over_domain || !trips || *trips < 2 * cuts_.chunk || !Spreads(k_, blocks_, scan, s_.lanes)) return false;
    const ScanParts parts(k_, blocks_, scan);
    return std::none_of(k_.insts + parts.body, k_.insts + parts.prefix,
                        [](const ricci_inst& inst) { return HasEffect(inst.op); });
  }

  void SplitScan(uint32_t scan) {
    const int64_t points = PointsOf(k_);
    if (points >= kFewTasks) return;
    s_.split = scan;
    s_.rows_together = false;
    s_.pieces.clear();
    s_.chunk_length = cuts_.chunk;
    s_.chunks = (*TripsOf(k_, scan) + cuts_.chunk - 1) / cuts_.chunk;
    s_.partial_chunks = points * s_.chunks;
    s_.partials = s_.partial_chunks * k_.insts[scan].imm;
  }

  void FindSplit() {
    if (const uint32_t scan = LongScan()) return SplitScan(scan);
    const uint32_t reduce = LongReduction(), rank = k_.domain_rank;
    if (reduce == 0) return;
    int64_t rows = 1;
    for (uint32_t d = 0; d + 1 < rank; ++d) rows *= k_.domain[d];
    int64_t tasks = rank == 1 ? k_.domain[0] : rows;
    if (rank == 1 && s_.over_domain) tasks /= int64_t{4} * s_.lanes;
    if (rank != 0 && tasks >= kFewTasks) return;
    s_.split = reduce;
    s_.rows_together = false;
    s_.pieces.clear();
    s_.chunk_length = ChunkLength(reduce);
    s_.chunks = (*TripsOf(k_, reduce) + s_.chunk_length - 1) / s_.chunk_length;
    s_.partial_chunks = rows * s_.chunks;
    s_.partials = s_.partial_chunks * Inner();
  }

  // Many short rows, a few of which make a matrix: the rows of one matrix are computed together, so that what they all
  // read is loaded once. Nothing may be read back, since the stores of all come last.
  bool RowsTogether() const {
    const uint32_t rank = k_.domain_rank;
    if (!s_.over_domain || rank <= 2 || s_.dims[rank - 2] == 0) return false;
    const int64_t rows = k_.domain[rank - 2];
    if (rows > kRowsTogether || Inner() > s_.lanes) return false;
    for (uint32_t i = 1; i < k_.n_insts; ++i) {
      const ricci_inst& inst = k_.insts[i];
      if (inst.op == RICCI_K_COMBINE) return false;
      if (inst.op == RICCI_K_STORE && (blocks_.parent[i] != 0 || k_.buffers[inst.imm].access != RICCI_ACCESS_WRITE)) {
        return false;
      }
    }
    return CostOfPoint(k_, blocks_) * static_cast<double>(rows) <= kTogetherCode;
  }

  void CountUnits() {
    const uint32_t rank = k_.domain_rank;
    if (s_.split != 0 && k_.insts[s_.split].op == RICCI_K_SCAN) {
      s_.units = s_.partial_chunks;
      return;
    }
    if (rank == 0) return;
    s_.units = rank == 1 ? k_.domain[0] : 1;
    for (uint32_t d = 0; d + 1 + s_.rows_together + !s_.squares.empty() < rank; ++d) s_.units *= k_.domain[d];
    if (!s_.squares.empty()) s_.units *= (k_.domain[rank - 2] + s_.lanes - 1) / s_.lanes;
    s_.grain = s_.split != 0 ? s_.units : Grain();  // what is left after a split is little
    if (s_.split == 0) ShareUpdates();
  }

  // Points that may combine into one element belong to one task, or each chunk of them has a copy of all elements.
  void ShareUpdates() {
    const std::optional<Updates> updates = FindUpdates(k_, blocks_, s_.dims);
    if (!updates) return;
    if (updates->apart == 0) {
      if (!CopyElements(*updates) && !ShareLoop(*updates)) s_.grain = s_.units;
      return;
    }
    int64_t together = 1;  // rows
    for (uint32_t d = updates->apart; d + 1 < k_.domain_rank; ++d) together *= k_.domain[d];
    s_.grain = RoundedUp(s_.grain, together);
  }

  // Many updates of few elements.
  bool CopyElements(const Updates& updates) {
    if (!updates.elements) return false;
    const int64_t count = updates.elements->hi - updates.elements->lo;
    const double cycles = s_.cost.cycles;
    const double copies = std::min({cycles / cuts_.copy_cycles / static_cast<double>(count), cycles / cuts_.task_cycles,
                                    static_cast<double>(kMostCopied / count), static_cast<double>(kCopies),
                                    static_cast<double>(s_.units)});
    if (copies < 2) return false;
    s_.copied = updates.elements;
    // Chunks of points are whole vectors, as tasks are.
    const int64_t align = k_.domain_rank == 1 && s_.over_domain ? s_.lanes : 1;
    const int64_t parts = static_cast<int64_t>(copies) * align;
    s_.chunk_length = RoundedUp(s_.units, parts) / parts * align;
    s_.chunks = s_.partial_chunks = (s_.units + s_.chunk_length - 1) / s_.chunk_length;
    s_.partials = s_.chunks * count;
    s_.units = count;
    const auto least = static_cast<int64_t>(cuts_.task_cycles / static_cast<double>(s_.chunks));
    s_.grain = RoundedUp(least, kLine);
    return true;
  }

  bool ShareLoop(const Updates& updates) {
    if (updates.loop == 0 || s_.over_domain || !Spreads(k_, blocks_, updates.loop, s_.lanes)) return false;
    const int64_t trips = *TripsOf(k_, updates.loop);
    const auto least = static_cast<int64_t>(static_cast<double>(trips) * cuts_.task_cycles / s_.cost.cycles) + 1;
    const int64_t grain = RoundedUp(least, kLine);
    if (grain >= trips) return false;
    s_.shared = updates.loop, s_.units = trips, s_.grain = grain;
    return true;
  }

  int64_t Grain() const {
    const double per_unit = std::max(0.01, s_.cost.cycles / static_cast<double>(std::max<int64_t>(s_.units, 1)));
    const int64_t align = k_.domain_rank == 1 && s_.over_domain ? int64_t{4} * s_.lanes : 1;
    const auto least = static_cast<int64_t>(cuts_.task_cycles / per_unit);
    return std::max<int64_t>({1, (least + align - 1) / align, (s_.units / kTasks + align - 1) / align}) * align;
  }

  const ricci_kernel_table& k_;
  const Blocks& blocks_;
  const ricci_target& target_;
  const Cuts& cuts_;
  KernelSchedule s_;
};

}  // namespace

KernelSchedule ScheduleKernel(const ricci_kernel_table& k, const Blocks& blocks, const ricci_target& target,
                              const Cuts& cuts) {
  return Scheduler(k, blocks, target, cuts).Run();
}

Cost CostInPlan(const KernelSchedule& s) {
  return {s.cost.cycles * (s.units > s.grain ? kSeveralThreads : 1), s.cost.code};
}

static std::string TextOf(const Regions& regions) {
  std::string text = ", " + std::to_string(regions.functions.size()) + " regions";
  const auto shared = std::ranges::count_if(regions.calls, [](const Part& p) { return p.same == p.first; });
  if (shared != 0)
    text += ", " + std::to_string(regions.calls.size()) + " calls of " + std::to_string(shared) + " shared functions";
  return text;
}

std::string ToText(const KernelSchedule& s) {
  std::string text = std::to_string(s.lanes) + (s.over_domain ? " lanes over the domain" : " lanes over inner loops");
  if (s.rows_together) text += ", rows together";
  if (!s.squares.empty()) text += ", squares of " + std::to_string(s.squares.size()) + " transposed";
  if (!s.pieces.empty()) text += ", " + std::to_string(s.pieces.size()) + " pieces";
  if (!s.regions.functions.empty()) text += TextOf(s.regions);
  if (s.split != 0) text += ", " + std::to_string(s.chunks) + " chunks of %" + std::to_string(s.split);
  if (s.copied)
    text += ", " + std::to_string(s.chunks) + " chunks with copies of " + std::to_string(s.units) + " elements";
  const char* const units = s.shared != 0 ? " trips" : s.copied ? " elements" : " rows";
  if (s.units > s.grain) text += ", tasks of " + std::to_string(s.grain) + " of " + std::to_string(s.units) + units;
  char cycles[32];
  std::snprintf(cycles, sizeof cycles, "%.0f", s.cost.cycles);
  return text + ", about " + cycles + " cycles";
}

}  // namespace ricci::codegen
