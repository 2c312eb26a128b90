#include "codegen/cost_walk.h"

#include <cmath>

namespace ricci::codegen {
namespace {

constexpr double kMask = 3;                             // to switch lanes on and off
constexpr double kDivergence = 1.3, kStragglers = 1.7;  // lanes wait for the slowest of them, whole arrays longer
// Latencies: cycles until a result can be used.
constexpr double kLoadLatency = 5, kStoredLatency = 5, kMaskedLatency = 16;
constexpr double kHidden = 2;  // for the latency of a sum, which other work partly hides

}  // namespace

CostWalk::CostWalk(const ricci_kernel_table& k, const Blocks& blocks, const ricci_target& target, unsigned lanes)
    : k_(k), blocks_(blocks), target_(target), lanes_(lanes), ready_(k.n_insts, 0), from_memory_(k.n_insts, 0) {
  for (uint32_t i = 1; i < k.n_insts; ++i) {
    const ricci_inst& inst = k.insts[i];
    const bool read = inst.op == RICCI_K_LOAD || inst.op == RICCI_K_GET;
    const bool of_read = FromMemory(inst.a) || FromMemory(inst.b) || FromMemory(inst.c);
    from_memory_[i] = read || (IsScalar(inst.op) && of_read);
  }
}

Cost CostWalk::Body(uint32_t root, uint32_t first, uint32_t last, const Facts* facts) {
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

double CostWalk::PrivateBytes(uint32_t first, uint32_t last) const {
  double bytes = 0;
  for (uint32_t i = first; i < last; ++i) {
    const ricci_inst& inst = k_.insts[i];
    if (inst.op != RICCI_K_LOCAL) continue;
    bytes += static_cast<double>(inst.imm) * SizeOfDType(inst.dtype) * (IsPerLane(i) ? lanes_ : 1);
  }
  return bytes;
}

Cost CostWalk::Range(uint32_t first, uint32_t last) {
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

// ---- chains ----

// When the result of instruction i is ready, counted from the start of the trip of the enclosing sequential loop.
void CostWalk::FollowChain(uint32_t i) {
  const ricci_inst& inst = k_.insts[i];
  const double in = std::max({Ready(inst.a), Ready(inst.b), Ready(inst.c)});
  switch (inst.op) {
    case RICCI_K_LOAD:
    case RICCI_K_GET:
      ready_[i] = in + kLoadLatency;
      break;
    case RICCI_K_SET:
      // If an index was read from memory, the next trip is unlikely to read the same element.
      if (FromMemory(inst.b)) break;
      // A store under a mask has to complete before it can be read.
      ready_[inst.a] = in + (masked_ && !IsPerLane(inst.a) ? kMaskedLatency : kStoredLatency);
      break;
    default:
      ready_[i] = IsScalar(inst.op) ? in + LatencyOf(inst.op, inst.dtype) : 0;
  }
}

// One trip of a loop whose trips follow one another takes as long as its work, or as the chain that it carries from
// trip to trip in private arrays, whichever is longer.
template <typename Trip>
Cost CostWalk::Sequential(uint32_t loop, double trips, Trip trip_of) {
  Arrivals carried, read;  // before the loop
  for (uint32_t i = loop + 1; i < blocks_.close[loop]; ++i) {
    const ricci_inst& inst = k_.insts[i];
    if (inst.a >= loop) continue;
    if (inst.op == RICCI_K_SET) carried.emplace_back(inst.a, std::exchange(ready_[inst.a], 0));
    if (inst.op == RICCI_K_GET) read.emplace_back(inst.a, std::exchange(ready_[inst.a], 0));
  }
  const uint32_t around = std::exchange(trip_begin_, loop);
  Cost trip = trip_of();
  trip_begin_ = around;
  if (!RunsMany(target_)) trip.cycles = std::max(trip.cycles, LongestChain(carried, read));
  for (const auto& [local, before] : carried) ready_[local] = trips * trip.cycles;
  // The first entry of an array holds its time from before the loop.
  for (const auto& [local, before] : carried) ready_[local] += before;
  for (const auto& [local, before] : read) ready_[local] += before;
  return trip;
}

// When the last of the arrays is ready that a trip reads from the trip before.
double CostWalk::LongestChain(const Arrivals& carried, const Arrivals& read) const {
  std::vector<uint32_t> back;
  for (const auto& [local, before] : read) back.push_back(local);
  std::sort(back.begin(), back.end());
  double longest = 0;
  for (const auto& [local, before] : carried) {
    if (std::binary_search(back.begin(), back.end(), local)) longest = std::max(longest, ready_[local]);
  }
  return longest;
}

// ---- loops and branches ----

Cost CostWalk::Loop(uint32_t i) {
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
double CostWalk::ChainOfScan(uint32_t scan) const {
  const ScanParts parts(k_, blocks_, scan);
  if (RunsMany(target_)) return 0;
  double chain = 0;
  for (uint32_t i = parts.combiner; i < parts.combined; ++i) {
    chain += LatencyOf(k_.insts[i].op, k_.insts[i].dtype);
  }
  return chain;
}

Cost CostWalk::SpreadLoop(uint32_t i, double trips) {
  const Facts* const around = facts_;
  std::vector<Piece> pieces;
  if (around == nullptr && k_.insts[i].op == RICCI_K_FOR) pieces = CutLoop(k_, blocks_, i, lanes_);
  Cost cost;
  for (const Piece& p : pieces) cost += Vectors(i, static_cast<double>(p.range.hi - p.range.lo), &p.facts[0]);
  if (pieces.empty()) cost = Vectors(i, trips, around);
  facts_ = around;
  return cost;
}

Cost CostWalk::Vectors(uint32_t i, double trips, const Facts* facts) {
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
Cost CostWalk::CombinersOfVector(uint32_t scan, double vectors) {
  const ScanParts parts(k_, blocks_, scan);
  const Cost once = Range(parts.combiner, parts.combined);
  const double steps = std::log2(static_cast<double>(lanes_));
  return {vectors * steps * (2 * once.cycles + parts.states * kHidden), steps * once.code};
}

Cost CostWalk::While(uint32_t i) {
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

// Whether the loop goes on until the last element of an array is done.
bool CostWalk::WaitsForAny(uint32_t loop, uint32_t cond) const {
  return std::any_of(k_.insts + loop, k_.insts + cond, [](const ricci_inst& inst) {
    return inst.op == RICCI_K_REDUCE && (inst.imm == RICCI_S_OR || inst.imm == RICCI_S_MAX);
  });
}

// Lanes run both sides unless all agree.
Cost CostWalk::If(uint32_t i) {
  const uint32_t other = blocks_.middle[i], close = blocks_.close[i];
  Cost cost = Range(i + 1, other != 0 ? other : close);
  if (other != 0) cost += Range(other + 1, close);
  const bool both = Varies(k_.insts[i].a);
  cost.cycles = both ? cost.cycles + 2 * kMask : cost.cycles / 2 + kBranch;
  cost.code += 6;
  return cost;
}

}  // namespace ricci::codegen
