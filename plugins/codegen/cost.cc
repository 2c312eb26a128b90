#include "codegen/cost.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ricci::codegen {
namespace {

// Cycles, measured on processors with AVX-512; what counts are their ratios.
constexpr double kLoad = 0.6, kStore = 1, kIndex = 0.25;  // in order or of one value; arithmetic of addresses
constexpr double kGathered = 1.3, kScattered = 1.7;       // per lane
constexpr double kCombined = 8;                           // per lane, one after the other
constexpr double kTurned = 1;                             // lanes in reverse
constexpr double kTrip = 1.5, kRow = 5, kBranch = 3;      // of a loop; of all dimensions but the last; of a branch
constexpr double kMask = 3;                               // to switch lanes on and off
constexpr double kDivergence = 1.3, kStragglers = 1.7;    // lanes wait for the last of them, whole arrays longer
constexpr double kShared = 0.7;                           // of the work of rows that are computed together
constexpr double kFar = 2;                                // how much dearer private arrays are that are not near
// Until a result can be used.
constexpr double kAddLatency = 4, kLoadLatency = 5, kStoredLatency = 5, kMaskedLatency = 16;
// The same of polynomials, and of divisions and roots, times the root of their cycles.
constexpr double kFunctionLatency = 12, kQuotientLatency = 6;
constexpr double kDouble = 2;  // of functions of f64
constexpr double kHidden = 2;  // of the latency of a sum, partly hidden by what runs beside it

class Walk {
 public:
  Walk(const ricci_kernel_table& k, const Blocks& blocks, const ricci_target& target, unsigned lanes)
      : k_(k), blocks_(blocks), target_(target), lanes_(lanes), ready_(k.n_insts, 0), from_memory_(k.n_insts, 0) {
    for (uint32_t i = 1; i < k.n_insts; ++i) {
      const ricci_inst& inst = k.insts[i];
      const bool read = inst.op == RICCI_K_LOAD || inst.op == RICCI_K_GET;
      const bool of_read = FromMemory(inst.a) || FromMemory(inst.b) || FromMemory(inst.c);
      from_memory_[i] = read || (IsScalar(inst.op) && of_read);
    }
  }

  // These loads are rows of squares that are transposed in registers.
  void Transpose(const std::vector<uint32_t>& squares) { squares_ = &squares; }

  // Of [first, last), run for all lanes of `root`; 0: for one point, so that loops within take the lanes.
  Cost Body(uint32_t root, uint32_t first, uint32_t last, const Facts* facts) {
    facts_ = facts;
    if (root == 0) return Range(first, last);
    Spread spread{FindVarying(k_, blocks_, root, first, last), Strides(k_, root, last, facts), first};
    spread_ = &spread;
    far_ = PrivateBytes(first, last) > static_cast<double>(target_.near_bytes);
    const Cost cost = Range(first, last);
    spread_ = nullptr;
    far_ = false;
    return cost;
  }

 private:
  double CyclesOf(uint64_t op, uint16_t dtype) const {
    const double cycles = op < target_.n_op_cycles ? target_.op_cycles[op] : 1;
    return dtype == RICCI_F64 && cycles > 1 ? kDouble * cycles : cycles;
  }
  double LatencyOf(uint16_t op, uint16_t dtype) const {
    const double cycles = CyclesOf(op, dtype);
    if (cycles <= 1) return kAddLatency;
    return (op >= RICCI_S_EXP && op != RICCI_S_SQRT ? kFunctionLatency : kQuotientLatency) * std::sqrt(cycles);
  }
  struct Spread {
    std::vector<uint8_t> varying;
    Strides strides;
    uint32_t first;  // instruction that runs for all lanes
  };
  bool Varies(uint32_t v) const { return spread_ != nullptr && spread_->varying[v] != 0; }
  bool IsPerLane(uint32_t local) const { return Varies(local) && local >= spread_->first; }
  // Registers that one value of all lanes takes.
  double Registers(uint32_t dtype) const {
    return std::max(1.0, static_cast<double>(lanes_ * SizeOfDType(dtype)) / (4.0 * target_.lanes));
  }
  double PrivateBytes(uint32_t first, uint32_t last) const {
    double bytes = 0;
    for (uint32_t i = first; i < last; ++i) {
      const ricci_inst& inst = k_.insts[i];
      if (inst.op != RICCI_K_LOCAL) continue;
      bytes += static_cast<double>(inst.imm) * SizeOfDType(inst.dtype) * (IsPerLane(i) ? lanes_ : 1);
    }
    return bytes;
  }

  Cost Range(uint32_t first, uint32_t last) {
    Cost cost;
    for (uint32_t i = first; i < last; ++i) {
      if (facts_ != nullptr && facts_->is(i) != Facts::Is::kComputed) {
        if (facts_->is(i) == Facts::Is::kDead && k_.insts[i].op == RICCI_K_REDUCE) i = blocks_.close[i];
        continue;
      }
      switch (k_.insts[i].op) {
        case RICCI_K_FOR:
        case RICCI_K_REDUCE:
        case RICCI_K_SCAN:
          cost += Loop(i);
          i = blocks_.close[i];
          break;
        case RICCI_K_WHILE:
          cost += While(i);
          i = blocks_.close[i];
          break;
        case RICCI_K_IF:
          cost += If(i);
          i = blocks_.close[i];
          break;
        default:
          cost += {Single(i), 1};
          FollowChain(i);
      }
    }
    return cost;
  }

  // When what instruction i gives is there, from the begin of the trip of the sequential loop around.
  void FollowChain(uint32_t i) {
    const ricci_inst& inst = k_.insts[i];
    const double in = std::max({Ready(inst.a), Ready(inst.b), Ready(inst.c)});
    switch (inst.op) {
      case RICCI_K_LOAD:
      case RICCI_K_GET:
        ready_[i] = in + kLoadLatency;
        break;
      case RICCI_K_SET:
        // Where an index was read from memory, the next trip will hardly read the very element.
        if (FromMemory(inst.b)) break;
        // A store under a mask has to leave before it can be read.
        ready_[inst.a] = in + (masked_ && !IsPerLane(inst.a) ? kMaskedLatency : kStoredLatency);
        break;
      default:
        ready_[i] = IsScalar(inst.op) ? in + LatencyOf(inst.op, inst.dtype) : 0;
    }
  }
  static bool IsFloat(uint16_t dtype) {
    return dtype == RICCI_F16 || dtype == RICCI_BF16 || dtype == RICCI_F32 || dtype == RICCI_F64;
  }
  bool FromMemory(uint32_t v) const { return from_memory_[v] != 0; }
  // Values from before the loop are there when its trip begins.
  double Ready(uint32_t v) const { return v < trip_begin_ && k_.insts[v].op != RICCI_K_LOCAL ? 0 : ready_[v]; }

  // One trip of a loop whose trips follow one another: as long as its work takes, or what it carries in private arrays
  // from one trip to the next.
  template <typename Trip>
  Cost Sequential(uint32_t loop, double trips, Trip trip_of) {
    std::vector<std::pair<uint32_t, double>> carried, read;  // arrays, and when they were there before
    for (uint32_t i = loop + 1; i < blocks_.close[loop]; ++i) {
      const ricci_inst& inst = k_.insts[i];
      if (inst.a >= loop) continue;
      if (inst.op == RICCI_K_SET) carried.emplace_back(inst.a, std::exchange(ready_[inst.a], 0));
      if (inst.op == RICCI_K_GET) read.emplace_back(inst.a, std::exchange(ready_[inst.a], 0));
    }
    const uint32_t around = std::exchange(trip_begin_, loop);
    Cost trip = trip_of();
    trip_begin_ = around;
    if (!RunsMany(target_)) {
      std::vector<uint32_t> back;  // arrays that trips read from trips
      for (const auto& [local, before] : read) back.push_back(local);
      std::sort(back.begin(), back.end());
      for (const auto& [local, before] : carried) {
        const bool chain = std::binary_search(back.begin(), back.end(), local);
        if (chain) trip.cycles = std::max(trip.cycles, ready_[local]);
      }
    }
    for (const auto& [local, before] : carried) ready_[local] = trips * trip.cycles;
    // What was before stands in the first of the entries for one array.
    for (const auto& [local, before] : carried) ready_[local] += before;
    for (const auto& [local, before] : read) ready_[local] += before;
    return trip;
  }

  double Single(uint32_t i) {
    const ricci_inst& inst = k_.insts[i];
    switch (inst.op) {
      case RICCI_K_LOAD:
        if (squares_ != nullptr && std::binary_search(squares_->begin(), squares_->end(), i)) {
          return (kLoad + std::log2(lanes_)) * Registers(inst.dtype);  // and a stage each of the transposition
        }
        return Access(inst.a, inst.dtype, kLoad, kGathered);
      case RICCI_K_STORE:
        return Access(inst.a, k_.buffers[inst.imm].dtype, kStore, kScattered);
      case RICCI_K_COMBINE:
        return Access(inst.a, k_.buffers[RICCI_BUFFER_OF(inst.imm)].dtype, kLoad + kStore + 1, kCombined);
      case RICCI_K_GET:
        return Private(inst.a, inst.b, kLoad, kGathered);
      case RICCI_K_SET:
        return Private(inst.a, inst.b, kStore, kScattered);
      case RICCI_K_CHECK:
        return kBranch;
      default:
        return IsScalar(inst.op) ? Scalar(i) : 0;
    }
  }

  double Scalar(uint32_t i) {
    const ricci_inst& inst = k_.insts[i];
    const uint16_t from = k_.insts[inst.op == RICCI_S_SELECT ? inst.b : inst.a].dtype;
    if (inst.dtype == RICCI_I64 && (!Varies(i) || spread_->strides.Of(i))) return kIndex;
    const double cycles = CyclesOf(inst.op, from);
    // Of one value: a processor does four at a time.
    if (!Varies(i) && cycles == 1 && !IsFloat(inst.dtype)) return kIndex;
    return Varies(i) ? cycles * std::max(Registers(from), Registers(inst.dtype)) : cycles;
  }

  double Access(uint32_t index, uint32_t dtype, double in_order, double apart) {
    if (!Varies(index)) return in_order;
    if (spread_->strides.InOrder(index)) {
      const double turned = spread_->strides.Of(index) == -1 ? kTurned : 0;
      return (in_order + turned) * Registers(dtype);
    }
    return apart * lanes_;
  }

  double Private(uint32_t local, uint32_t index, double in_order, double apart) {
    const uint32_t dtype = k_.insts[local].dtype;
    const double distance = far_ ? kFar : 1;
    if (!IsPerLane(local)) return Access(index, dtype, in_order, apart) * distance;
    return (Varies(index) ? apart * lanes_ : in_order * Registers(dtype)) * distance;
  }

  Cost Loop(uint32_t i) {
    const ricci_inst& inst = k_.insts[i];
    const auto known = TripsOf(k_, i);
    const double trips = known ? static_cast<double>(*known) : kUnknownTrips;
    const uint32_t close = blocks_.close[i];
    if (spread_ == nullptr && Spreads(k_, blocks_, i, lanes_)) return SpreadLoop(i, trips);
    const auto body = [&] { return Range(i + 1, close); };
    Cost trip;
    if (inst.op == RICCI_K_REDUCE) {
      trip = body();
      trip.cycles += CyclesOf(static_cast<uint64_t>(inst.imm), k_.insts[close].dtype) *
                     (Varies(close) ? Registers(k_.insts[close].dtype) : 1);
      trip.cycles = std::max(trip.cycles, kHidden);
      ready_[close] += kAddLatency;
    } else {
      trip = inst.op == RICCI_K_FOR && inst.imm == 0 ? Sequential(i, trips, body) : body();
      if (inst.op == RICCI_K_SCAN) trip.cycles = std::max(trip.cycles, ChainOfScan(i));
    }
    if (Varies(inst.a) || Varies(inst.b)) return {trips * kDivergence * (trip.cycles + kMask), trip.code + 8};
    if (Unrolls(k_, blocks_, i)) return {trips * trip.cycles, trips * trip.code};
    return {trips * (trip.cycles + kTrip), trip.code + 4};
  }

  // From the state of one trip to that of the next.
  double ChainOfScan(uint32_t scan) const {
    const ScanParts parts(k_, blocks_, scan);
    if (RunsMany(target_)) return 0;
    double chain = 0;
    for (uint32_t i = parts.combiner; i < parts.combined; ++i) {
      chain += LatencyOf(k_.insts[i].op, k_.insts[i].dtype);
    }
    return chain;
  }

  Cost SpreadLoop(uint32_t i, double trips) {
    const Facts* const around = facts_;
    std::vector<Piece> pieces;
    if (around == nullptr && k_.insts[i].op == RICCI_K_FOR) pieces = CutLoop(k_, blocks_, i, lanes_);
    Cost cost;
    for (const Piece& p : pieces) cost += Vectors(i, static_cast<double>(p.range.hi - p.range.lo), &p.facts[0]);
    if (pieces.empty()) cost = Vectors(i, trips, around);
    facts_ = around;
    return cost;
  }

  Cost Vectors(uint32_t i, double trips, const Facts* facts) {
    masked_ = std::fmod(trips, lanes_) != 0;
    const Cost trip = Body(i, i + 1, blocks_.close[i], facts);
    masked_ = false;
    const double vectors = std::ceil(trips / lanes_);
    Cost cost{vectors * (trip.cycles + kTrip) + kTrip, trip.code + 8};
    if (k_.insts[i].op == RICCI_K_SCAN) cost += CombinersOfVector(i, vectors);
    if (k_.insts[i].op == RICCI_K_REDUCE) {
      const double halves = std::log2(static_cast<double>(lanes_));
      cost += {vectors + 2 * halves * kHidden + kTrip, 3 * trip.code + 4 * halves};
    }
    return cost;
  }

  // The combiner runs once for each doubling of the distance between lanes, after a shuffle of each state.
  Cost CombinersOfVector(uint32_t scan, double vectors) {
    const ScanParts parts(k_, blocks_, scan);
    const Cost once = Range(parts.combiner, parts.combined);
    const double steps = std::log2(static_cast<double>(lanes_));
    return {vectors * steps * (2 * once.cycles + parts.states * kHidden), steps * once.code};
  }

  Cost While(uint32_t i) {
    const uint32_t cond = blocks_.middle[i], close = blocks_.close[i];
    const Cost trip = Sequential(i, kUnknownTrips, [&] {
      Cost sum = Range(i + 1, cond);
      return sum += Range(cond + 1, close);
    });
    if (!Varies(k_.insts[cond].a)) {
      return {kUnknownTrips * (WaitsForAny(i, cond) ? kStragglers : 1) * (trip.cycles + kTrip), trip.code + 4};
    }
    return {kUnknownTrips * kDivergence * (trip.cycles + kMask), trip.code + 8};
  }

  // It goes on while any element of an array does.
  bool WaitsForAny(uint32_t loop, uint32_t cond) const {
    return std::any_of(k_.insts + loop, k_.insts + cond, [](const ricci_inst& inst) {
      return inst.op == RICCI_K_REDUCE && (inst.imm == RICCI_S_OR || inst.imm == RICCI_S_MAX);
    });
  }

  // Lanes take both sides unless all agree.
  Cost If(uint32_t i) {
    const uint32_t other = blocks_.middle[i], close = blocks_.close[i];
    Cost cost = Range(i + 1, other != 0 ? other : close);
    if (other != 0) cost += Range(other + 1, close);
    const bool both = Varies(k_.insts[i].a);
    cost.cycles = both ? cost.cycles + 2 * kMask : cost.cycles / 2 + kBranch;
    cost.code += 6;
    return cost;
  }

  const ricci_kernel_table& k_;
  const Blocks& blocks_;
  const ricci_target& target_;
  const unsigned lanes_;
  const Facts* facts_ = nullptr;
  const std::vector<uint32_t>* squares_ = nullptr;
  Spread* spread_ = nullptr;          // while something is spread over the lanes
  bool masked_ = false;               // some lanes of the last vector are off
  bool far_ = false;                  // private arrays are more than the nearest cache holds
  std::vector<double> ready_;         // of values and private arrays
  std::vector<uint8_t> from_memory_;  // values that follow from what was read
  uint32_t trip_begin_ = 0;           // the sequential loop around
};

// Cycles to bring what is read and written; of a buffer no more than its accesses can touch.
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
    // Where each point has a lane of its own there are no loops over them.
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
  Walk walk_;
};

}  // namespace

Cost CostOfKernel(const ricci_kernel_table& k, const Blocks& blocks, const ricci_target& target, const Spreading& how) {
  return DomainWalk(k, blocks, target, how).Run();
}

}  // namespace ricci::codegen
