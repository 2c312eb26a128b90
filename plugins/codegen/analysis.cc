#include "codegen/analysis.h"

#include <map>

#include "codegen/facts.h"

namespace ricci::codegen {
namespace {

constexpr int64_t kUnrollInsts = 512;   // instructions that unrolling a small loop may make
constexpr int64_t kShortestSpread = 4;  // iterations of an independent loop that take lanes

}  // namespace

double OpCost(uint16_t op) {
  if (op >= RICCI_S_EXP && IsScalar(op) && op != RICCI_S_FLOOR && op != RICCI_S_CEIL && op != RICCI_S_TRUNC) return 12;
  return op == RICCI_K_CONST || op == RICCI_K_LOCAL || op == RICCI_K_DOMAIN ? 0 : 1;
}

Blocks::Blocks(const ricci_kernel_table& k) : close(k.n_insts, 0), middle(k.n_insts, 0), parent(k.n_insts, 0) {
  std::vector<uint32_t> open;
  for (uint32_t i = 0; i < k.n_insts; ++i) {
    parent[i] = open.empty() ? 0 : open.back();
    switch (k.insts[i].op) {
      case RICCI_K_FOR:
      case RICCI_K_WHILE:
      case RICCI_K_IF:
      case RICCI_K_REDUCE:
      case RICCI_K_SCAN:
        open.push_back(i);
        break;
      case RICCI_K_ELSE:
      case RICCI_K_COND:
        middle[open.back()] = i;
        break;
      case RICCI_K_END:
      case RICCI_K_YIELD:
        close[open.back()] = i;
        if (middle[open.back()] != 0) close[middle[open.back()]] = i;
        open.pop_back();
        parent[i] = open.empty() ? 0 : open.back();
        break;
      default:
        break;
    }
  }
}

ScanParts::ScanParts(const ricci_kernel_table& k, const Blocks& blocks, uint32_t scan) {
  states = static_cast<uint32_t>(k.insts[scan].imm);
  left = scan + 1, right = left + states, combiner = right + states;
  for (combined = combiner; k.insts[combined].op != RICCI_K_COMBINED;) ++combined;
  body = combined + states;
  for (prefix = body; k.insts[prefix].op != RICCI_K_PREFIX || blocks.parent[prefix] != scan;) ++prefix;
}

std::vector<uint8_t> FindVarying(const ricci_kernel_table& k, const Blocks& blocks, uint32_t root, uint32_t first,
                                 uint32_t last) {
  std::vector<uint8_t> varying(k.n_insts, 0), masked(k.n_insts, 0);  // masked: some lanes may be off inside this block
  varying[root] = 1;
  std::map<uint32_t, ScanParts> scans;
  const auto scan_of = [&](uint32_t scan) -> const ScanParts& {
    return scans.try_emplace(scan, k, blocks, scan).first->second;
  };
  for (bool changed = true; changed;) {
    changed = false;
    auto set = [&](uint8_t& flag) {
      changed |= flag == 0;
      flag = 1;
    };
    for (uint32_t i = first; i < last; ++i) {
      const ricci_inst& inst = k.insts[i];
      const uint32_t block = blocks.parent[i];
      const auto state_of = [&](uint32_t part) { return varying[part + static_cast<uint32_t>(inst.imm)] != 0; };
      const bool off = block != 0 && masked[block];
      switch (inst.op) {
        case RICCI_K_LOAD:
          if (varying[inst.a]) set(varying[i]);
          break;
        case RICCI_K_GET:
          if (varying[inst.a] || varying[inst.b]) set(varying[i]);
          break;
        case RICCI_K_SET:
          if (varying[inst.b] || varying[inst.c] || off) set(varying[inst.a]);
          break;
        case RICCI_K_IF:
          if (off || varying[inst.a]) set(masked[i]);
          break;
        case RICCI_K_COND:
          if (varying[inst.a]) set(masked[block]);
          break;
        case RICCI_K_WHILE:
          if (off) set(masked[i]);
          break;
        case RICCI_K_LEFT:  // what a scan holds from trip to trip
          if (off || varying[inst.a] || state_of(scan_of(block).combined)) set(varying[i]);
          break;
        case RICCI_K_RIGHT:
          if (off || state_of(scan_of(block).prefix)) set(varying[i]);
          break;
        case RICCI_K_COMBINED:
          if (varying[inst.a]) set(varying[i]);
          break;
        case RICCI_K_PREFIX:
          if (varying[inst.a] || state_of(scan_of(block).combined)) set(varying[i]);
          break;
        case RICCI_K_FOR:
        case RICCI_K_SCAN:
        case RICCI_K_REDUCE:
          if (varying[inst.a] || varying[inst.b]) {
            set(masked[i]);
            set(varying[i]);
          }
          if (off) set(masked[i]);
          break;
        case RICCI_K_YIELD:
          if (varying[inst.b] || masked[inst.a]) set(varying[i]);
          break;
        default:
          if (!IsScalar(inst.op)) break;
          if ((inst.a && varying[inst.a]) || (inst.b && varying[inst.b]) || (inst.c && varying[inst.c]))
            set(varying[i]);
      }
    }
  }
  return varying;
}

int64_t PointsOf(const ricci_kernel_table& k) {
  int64_t points = 1;
  for (uint32_t d = 0; d < k.domain_rank; ++d) points *= k.domain[d];
  return points;
}

std::optional<int64_t> ConstantOf(const ricci_kernel_table& k, uint32_t value) {
  if (k.insts[value].op != RICCI_K_CONST) return std::nullopt;
  return k.insts[value].imm;
}

std::optional<int64_t> TripsOf(const ricci_kernel_table& k, uint32_t loop) {
  const auto lo = ConstantOf(k, k.insts[loop].a), hi = ConstantOf(k, k.insts[loop].b);
  if (!lo || !hi) return std::nullopt;
  return ricci_exact_clamp(ricci_exact_of(*hi) - *lo, 0, INT64_MAX);
}

// No stride if the number does not fit 64 bits: such an index is outside of every array.
static std::optional<int64_t> AsStride(ricci_exact stride) {
  int64_t out = 0;
  return ricci_exact_narrow(stride, INT64_MIN, INT64_MAX, &out) != 0 ? std::optional(out) : std::nullopt;
}

std::optional<int64_t> Strides::Of(uint32_t value) {
  if (value == root_) return 1;
  if (value < root_) return 0;
  if (!known_[value - root_].seen) known_[value - root_] = {true, Find(value)};
  return known_[value - root_].stride;
}

bool Strides::InOrder(uint32_t value) {
  const auto stride = Of(value);
  return stride && *stride >= -1 && *stride <= 1;
}

namespace {

// An index as the sum of another one and a constant.
struct Offset {
  uint32_t base;
  int64_t offset;
};
Offset OffsetOf(const ricci_kernel_table& k, uint32_t index) {
  const ricci_inst& inst = k.insts[index];
  constexpr int64_t kLimit = int64_t{1} << 61;  // differences of two do not overflow
  const auto constant = inst.op == RICCI_S_ADD ? ConstantOf(k, inst.b) : std::nullopt;
  if (!constant || *constant < -kLimit || *constant > kLimit) return {index, 0};
  return {inst.a, *constant};
}

}  // namespace

uint32_t NextElementStore(const ricci_kernel_table& k, uint32_t store) {
  uint32_t i = store + 1;
  while (i < k.n_insts && (IsScalar(k.insts[i].op) || k.insts[i].op == RICCI_K_CONST)) ++i;
  if (i == k.n_insts || k.insts[i].op != RICCI_K_STORE || k.insts[i].imm != k.insts[store].imm) return 0;
  const auto [base, offset] = OffsetOf(k, k.insts[store].a);
  const auto [next_base, next_offset] = OffsetOf(k, k.insts[i].a);
  return base == next_base && next_offset - offset == 1 ? i : 0;
}

std::optional<int64_t> Strides::Find(uint32_t value) {
  if (facts_ != nullptr && facts_->is(value) == Facts::Is::kConstant) return 0;
  if (facts_ != nullptr && facts_->is(value) == Facts::Is::kSame) return Of(facts_->same(value));
  const ricci_inst& inst = k_.insts[value];
  if (inst.op == RICCI_K_CONST || inst.op == RICCI_K_DOMAIN || inst.op == RICCI_K_FOR || inst.op == RICCI_K_REDUCE ||
      inst.op == RICCI_K_SCAN)
    return 0;
  if (inst.op == RICCI_S_ADD || inst.op == RICCI_S_SUB || inst.op == RICCI_S_MUL) {
    const auto a = Of(inst.a), b = Of(inst.b);
    if (!a || !b) return std::nullopt;
    if (inst.op == RICCI_S_ADD) return AsStride(ricci_exact_of(*a) + *b);
    if (inst.op == RICCI_S_SUB) return AsStride(ricci_exact_of(*a) - *b);
    return Product(inst, *a, *b);
  }
  if (inst.op == RICCI_S_SELECT && Of(inst.a) == 0 && Of(inst.b) == Of(inst.c)) return Of(inst.b);
  if (!IsScalar(inst.op)) return std::nullopt;
  for (uint32_t operand : {inst.a, inst.b, inst.c}) {
    if (operand != 0 && Of(operand) != 0) return std::nullopt;
  }
  return 0;
}

std::optional<int64_t> Strides::Product(const ricci_inst& inst, int64_t a, int64_t b) const {
  if (const auto factor = ConstantOf(k_, inst.b)) return AsStride(ricci_exact_of(a) * *factor);
  if (const auto factor = ConstantOf(k_, inst.a)) return AsStride(ricci_exact_of(b) * *factor);
  if (a == 0 && b == 0) return 0;
  return std::nullopt;
}

// The instructions of the code for one trip of a loop; inner loops count as unrolled if that makes at most `limit`.
static int64_t UnrolledSize(const ricci_kernel_table& k, const Blocks& blocks, uint32_t loop, int64_t limit) {
  int64_t size = 0;
  for (uint32_t i = loop + 1; i < blocks.close[loop]; ++i) {
    ++size;
    if (k.insts[i].op != RICCI_K_FOR && k.insts[i].op != RICCI_K_REDUCE && k.insts[i].op != RICCI_K_SCAN) continue;
    const int64_t trip = UnrolledSize(k, blocks, i, limit);
    const auto trips = TripsOf(k, i);
    size += trips && trip > 0 && *trips <= limit / trip ? *trips * trip : trip;
    i = blocks.close[i];
  }
  return size;
}

std::vector<double> TimesOf(const ricci_kernel_table& k, const Blocks& blocks) {
  std::vector<double> times(k.n_insts, 1);
  for (uint32_t i = 1; i < k.n_insts; ++i) {
    const uint16_t op = k.insts[i].op;
    times[i] = times[blocks.parent[i]];
    if (op == RICCI_K_FOR || op == RICCI_K_REDUCE || op == RICCI_K_SCAN) {
      const auto trips = TripsOf(k, i);
      times[i] *= trips ? static_cast<double>(*trips) : kUnknownTrips;
    } else if (op == RICCI_K_WHILE) {
      times[i] *= kUnknownTrips;
    }
  }
  return times;
}

double CostOfPoint(const ricci_kernel_table& k, const Blocks& blocks) {
  const std::vector<double> times = TimesOf(k, blocks);
  double cost = 0;
  for (uint32_t i = 1; i < k.n_insts; ++i) cost += times[blocks.parent[i]] * OpCost(k.insts[i].op);
  return cost;
}

bool Unrolls(const ricci_kernel_table& k, const Blocks& blocks, uint32_t loop) {
  if (k.insts[loop].op == RICCI_K_SCAN) return false;
  const auto trips = TripsOf(k, loop);
  return trips && *trips <= kUnrollInsts && *trips * UnrolledSize(k, blocks, loop, kUnrollInsts) <= kUnrollInsts;
}

bool Innermost(const ricci_kernel_table& k, const Blocks& blocks, uint32_t loop, unsigned lanes) {
  for (uint32_t i = loop + 1; i < blocks.close[loop]; ++i) {
    const ricci_inst& inst = k.insts[i];
    const bool in_any_order = inst.op == RICCI_K_REDUCE || inst.op == RICCI_K_SCAN;
    const auto trips = inst.op == RICCI_K_FOR || in_any_order ? TripsOf(k, i) : std::nullopt;
    const bool spreads = in_any_order || (inst.op == RICCI_K_FOR && inst.imm == 1);
    if (spreads && (!trips || *trips >= static_cast<int64_t>(lanes))) return false;
  }
  return true;
}

bool Spreads(const ricci_kernel_table& k, const Blocks& blocks, uint32_t loop, unsigned lanes) {
  const ricci_inst& inst = k.insts[loop];
  if (inst.op == RICCI_K_FOR && inst.imm != 1) return false;
  const int64_t least = inst.op == RICCI_K_FOR ? kShortestSpread : static_cast<int64_t>(lanes);
  const auto trips = TripsOf(k, loop);
  return (!trips || *trips >= least) && Innermost(k, blocks, loop, lanes);
}

unsigned SizeOfDType(uint32_t dtype) {
  // By dtype: none, bool, signed and unsigned integers, f16 to f64, complex numbers, floats of 8 and 4 bits.
  constexpr unsigned char kSizes[] = {8, 1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16, 1, 1, 1, 1};
  static_assert(std::size(kSizes) == RICCI_KEY);
  return dtype < std::size(kSizes) ? kSizes[dtype] : 8;
}

}  // namespace ricci::codegen
