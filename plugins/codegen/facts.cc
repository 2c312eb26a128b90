// Intervals of index values, by a forward walk; what nothing needs, by a backward one.
//
// A concatenation is a choice between clamped loads of all its operands. Between two of its seams the choice is known
// and the clamps do nothing: what is left is one load in order. So the domain is cut at the seams (comparisons of an
// index with a constant) and code is made for each piece, as long as there are few pieces and little code; the
// innermost dimension only where the pieces are long on average.
//
// The chunks of the domain share one kernel, so what is computed before and after them still fuses.
#include "codegen/facts.h"

#include <algorithm>
#include <numeric>

#include "codegen/by_operation.h"
#include "ricci/exact.h"

namespace ricci::codegen {
namespace {

constexpr int64_t kSmallIndex = int64_t{1} << 61;  // sums of two such do not overflow
constexpr size_t kMaxPieces = 48;
constexpr double kMaxCost = 4096;    // of the code for all pieces together
constexpr uint32_t kMaxDepth = 512;  // steps from an index to the value compared

bool IsComparison(uint16_t op) { return op >= RICCI_S_EQ && op <= RICCI_S_GE; }

// What is known of a comparison of two intervals.
struct Sides {
  bool always, never;
};
using CompareFn = Sides (*)(int64_t a_lo, int64_t a_hi, int64_t b_lo, int64_t b_hi);
constexpr Sides Equal(int64_t a_lo, int64_t a_hi, int64_t b_lo, int64_t b_hi) {
  return {a_lo == a_hi && b_lo == b_hi && a_lo == b_lo, a_hi < b_lo || b_hi < a_lo};
}
constexpr Sides Below(int64_t a_lo, int64_t a_hi, int64_t b_lo, int64_t b_hi) { return {a_hi < b_lo, a_lo >= b_hi}; }
constexpr Sides AtMost(int64_t a_lo, int64_t a_hi, int64_t b_lo, int64_t b_hi) { return {a_hi <= b_lo, a_lo > b_hi}; }
template <CompareFn kOther>
constexpr Sides Not(int64_t a_lo, int64_t a_hi, int64_t b_lo, int64_t b_hi) {
  const Sides other = kOther(a_lo, a_hi, b_lo, b_hi);
  return {other.never, other.always};
}
// From RICCI_S_EQ on: equal, not equal, less, at most, greater, at least.
constexpr CompareFn kComparisons[] = {Equal, Not<Equal>, Below, AtMost, Not<AtMost>, Not<Below>};
static_assert(std::size(kComparisons) == RICCI_S_GE - RICCI_S_EQ + 1);

}  // namespace

Facts::Facts(const ricci_kernel_table& k, const Blocks& blocks, const std::vector<Bound>& bounds)
    : k_(k), ranges_(k.n_insts), is_(k.n_insts, Is::kComputed), same_(k.n_insts, 0) {
  for (uint32_t v = 1; v < k.n_insts; ++v) {
    const auto given = std::find_if(bounds.begin(), bounds.end(), [&](const Bound& b) { return b.index == v; });
    if (given != bounds.end()) {
      ranges_[v] = {true, given->range.lo, given->range.hi - 1};
      continue;
    }
    Range r = Of(k.insts[v], v);
    r.known = r.known && r.lo > -kSmallIndex && r.hi < kSmallIndex;
    ranges_[v] = r;
    if (r.known && r.lo == r.hi && IsScalar(k.insts[v].op)) is_[v] = Is::kConstant;
  }
  FindDead(blocks);
}

Facts::Range Facts::Of(const ricci_inst& inst, uint32_t v) {
  switch (inst.op) {
    case RICCI_K_CONST:
      if (inst.dtype != RICCI_I64 && inst.dtype != RICCI_BOOL) return {};
      return {true, inst.imm, inst.imm};
    case RICCI_K_DOMAIN:
      return {k_.domain[inst.imm] > 0, 0, k_.domain[inst.imm] - 1};
    case RICCI_K_FOR:
    case RICCI_K_SCAN: {
      const Range &a = ranges_[inst.a], &b = ranges_[inst.b];
      return {a.known && b.known && a.lo < b.hi, a.lo, b.hi - 1};
    }
    case RICCI_S_SELECT:
      return Choice(inst, v);
    default:
      break;
  }
  if (!IsScalar(inst.op) || inst.a == 0) return {};
  const uint16_t from = k_.insts[inst.a].dtype;
  if (from == RICCI_BOOL && inst.dtype == RICCI_BOOL) return Logic(inst.op, ranges_[inst.a], ranges_[inst.b]);
  if (from != RICCI_I64 || inst.b == 0) return {};
  if (IsComparison(inst.op)) return Comparison(inst.op, ranges_[inst.a], ranges_[inst.b]);
  return inst.dtype == RICCI_I64 ? Arithmetic(inst, v) : Range{};
}

Facts::Range Facts::Same(uint32_t v, uint32_t as) {
  is_[v] = Is::kSame;
  same_[v] = is_[as] == Is::kSame ? same_[as] : as;
  return ranges_[as];
}

Facts::Range Facts::Choice(const ricci_inst& inst, uint32_t v) {
  const Range &condition = ranges_[inst.a], &b = ranges_[inst.b], &c = ranges_[inst.c];
  if (condition.known && condition.lo == condition.hi) return Same(v, condition.lo != 0 ? inst.b : inst.c);
  return {b.known && c.known, std::min(b.lo, c.lo), std::max(b.hi, c.hi)};
}

Facts::Range Facts::Arithmetic(const ricci_inst& inst, uint32_t v) {
  static constexpr auto kRules = ByOperation<ArithmeticFn>({{RICCI_S_ADD, &Facts::OfSum},
                                                            {RICCI_S_SUB, &Facts::OfDifference},
                                                            {RICCI_S_MUL, &Facts::OfProduct},
                                                            {RICCI_S_MIN, &Facts::OfLeast},
                                                            {RICCI_S_MAX, &Facts::OfGreatest}});
  if (!ranges_[inst.a].known || !ranges_[inst.b].known) return Clamped(inst);
  const ArithmeticFn rule = inst.op < kRules.size() ? kRules[inst.op] : nullptr;
  return rule == nullptr ? Range{} : (this->*rule)(inst, v);
}

Facts::Range Facts::OfSum(const ricci_inst& inst, uint32_t) {
  const Range &a = ranges_[inst.a], &b = ranges_[inst.b];
  return {true, a.lo + b.lo, a.hi + b.hi};
}
Facts::Range Facts::OfDifference(const ricci_inst& inst, uint32_t) {
  const Range &a = ranges_[inst.a], &b = ranges_[inst.b];
  return {true, a.lo - b.hi, a.hi - b.lo};
}
// By a constant.
Facts::Range Facts::OfProduct(const ricci_inst& inst, uint32_t) {
  const Range &a = ranges_[inst.a], &b = ranges_[inst.b];
  int64_t lo, hi;
  if (b.lo != b.hi || b.lo < 0 || __builtin_mul_overflow(a.lo, b.lo, &lo) || __builtin_mul_overflow(a.hi, b.lo, &hi)) {
    return {};
  }
  return {true, lo, hi};
}
Facts::Range Facts::OfLeast(const ricci_inst& inst, uint32_t v) {
  const Range &a = ranges_[inst.a], &b = ranges_[inst.b];
  if (a.hi <= b.lo) return Same(v, inst.a);
  if (b.hi <= a.lo) return Same(v, inst.b);
  return {true, std::min(a.lo, b.lo), std::min(a.hi, b.hi)};
}
Facts::Range Facts::OfGreatest(const ricci_inst& inst, uint32_t v) {
  const Range &a = ranges_[inst.a], &b = ranges_[inst.b];
  if (a.lo >= b.hi) return Same(v, inst.a);
  if (b.lo >= a.hi) return Same(v, inst.b);
  return {true, std::max(a.lo, b.lo), std::max(a.hi, b.hi)};
}

// min(max(x, lo), hi) or max(min(x, hi), lo) of any x.
Facts::Range Facts::Clamped(const ricci_inst& outer) const {
  const auto is_bound = [&](const ricci_inst& inst) {
    return (inst.op == RICCI_S_MIN || inst.op == RICCI_S_MAX) && ConstantOf(k_, inst.b);
  };
  const ricci_inst& inner = k_.insts[outer.a];
  if (!is_bound(outer) || !is_bound(inner) || inner.op == outer.op) return {};
  const int64_t a = *ConstantOf(k_, inner.b), b = *ConstantOf(k_, outer.b);
  return outer.op == RICCI_S_MIN ? Range{true, std::min(a, b), b} : Range{true, b, std::max(a, b)};
}

Facts::Range Facts::Comparison(uint16_t op, const Range& a, const Range& b) const {
  if (!a.known || !b.known) return {};
  const Sides sides = kComparisons[op - RICCI_S_EQ](a.lo, a.hi, b.lo, b.hi);
  return {sides.always || sides.never, sides.always ? 1 : 0, sides.always ? 1 : 0};
}

Facts::Range Facts::Logic(uint16_t op, const Range& a, const Range& b) {
  using LogicFn = Range (*)(const Range& a, const Range& b);
  static constexpr auto is = [](const Range& r, int64_t value) { return r.known && r.lo == value && r.hi == value; };
  static constexpr auto kRules = ByOperation<LogicFn>(
      {{RICCI_S_AND,
        [](const Range& a, const Range& b) -> Range {
          return {is(a, 0) || is(b, 0) || (is(a, 1) && is(b, 1)), is(a, 1) && is(b, 1), is(a, 1) && is(b, 1)};
        }},
       {RICCI_S_OR,
        [](const Range& a, const Range& b) -> Range {
          return {is(a, 1) || is(b, 1) || (is(a, 0) && is(b, 0)), is(a, 1) || is(b, 1), is(a, 1) || is(b, 1)};
        }},
       {RICCI_S_NOT, [](const Range& a, const Range&) -> Range {
          return {is(a, 0) || is(a, 1), is(a, 0), is(a, 0)};
        }}});
  return op < kRules.size() && kRules[op] != nullptr ? kRules[op](a, b) : Range{};
}

bool Facts::IsPure(uint32_t first, uint32_t last) const {
  return std::none_of(k_.insts + first, k_.insts + last, [](const ricci_inst& i) { return HasEffect(i.op); });
}

// Stores, checks and control flow are needed, and so is what they need. A reduction whose sum is not needed is dropped
// as a whole.
void Facts::FindDead(const Blocks& blocks) {
  std::vector<uint8_t> needed(k_.n_insts, 0);
  for (uint32_t v = k_.n_insts; v-- > 1;) {
    const ricci_inst& inst = k_.insts[v];
    const bool value = IsScalar(inst.op) || inst.op == RICCI_K_LOAD || inst.op == RICCI_K_GET;
    if (inst.op == RICCI_K_YIELD && !needed[v] && blocks.close[inst.a] == v && IsPure(inst.a, v)) {
      for (; v > inst.a; --v) is_[v] = Is::kDead;
      is_[v] = Is::kDead;
      continue;
    }
    if (value && !needed[v]) is_[v] = Is::kDead;
    if (is_[v] == Is::kDead || is_[v] == Is::kConstant) continue;
    if (is_[v] == Is::kSame) {
      needed[same_[v]] = 1;
      continue;
    }
    for (uint32_t operand : {inst.a, inst.b, inst.c}) needed[operand] = 1;
  }
}

double Facts::cost() const {
  double sum = 0;
  for (uint32_t v = 1; v < k_.n_insts; ++v) sum += is_[v] == Is::kComputed ? OpCost(k_.insts[v].op) : 0;
  return sum;
}

Facts::Sum Facts::SumOf(uint32_t v) const {
  Sum sum{v, 0};
  for (uint32_t depth = 0; depth < kMaxDepth; ++depth) {
    if (is_[sum.index] == Is::kSame) sum.index = same_[sum.index];
    const ricci_inst& inst = k_.insts[sum.index];
    if (inst.op != RICCI_S_ADD && inst.op != RICCI_S_SUB) break;
    const auto b = ConstantOf(k_, inst.b), a = ConstantOf(k_, inst.a);
    if (!b && (!a || inst.op != RICCI_S_ADD)) break;
    const ricci_exact offset = ricci_exact_of(sum.offset);
    const ricci_exact more = b && inst.op == RICCI_S_SUB ? offset - *b : offset + (b ? *b : *a);
    if (ricci_exact_narrow(more, INT64_MIN, INT64_MAX, &sum.offset) == 0) break;
    sum.index = b ? inst.a : inst.b;
  }
  return sum;
}

std::vector<int64_t> Facts::CutsOf(uint32_t index) const {
  std::vector<int64_t> cuts;
  const Range& range = ranges_[index];
  const auto add = [&](int64_t at) {
    if (at > range.lo && at <= range.hi) cuts.push_back(at);
  };
  for (uint32_t v = 1; v < k_.n_insts; ++v) {
    const ricci_inst& inst = k_.insts[v];
    if (!IsComparison(inst.op) || is_[v] != Is::kComputed || k_.insts[inst.a].dtype != RICCI_I64) continue;
    const auto a = ConstantOf(k_, inst.a), b = ConstantOf(k_, inst.b);
    if (a.has_value() == b.has_value()) continue;
    const Sum sum = SumOf(a ? inst.b : inst.a);
    if (sum.index != index) continue;
    // Where the sum equals the constant; outside of all ranges any limit will do.
    const int64_t at = ricci_exact_clamp(ricci_exact_of(a ? *a : *b) - sum.offset, INT64_MIN, INT64_MAX - 1);
    const bool equal = inst.op == RICCI_S_EQ || inst.op == RICCI_S_NE;
    const bool before =
        b ? inst.op == RICCI_S_LT || inst.op == RICCI_S_GE : inst.op == RICCI_S_GT || inst.op == RICCI_S_LE;
    if (equal || before) add(at);
    if (equal || !before) add(at + 1);
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  return cuts;
}

namespace {

class Cutter {
 public:
  // `dims`: the indices to cut, with their full intervals; the last one is the innermost.
  Cutter(const ricci_kernel_table& k, const Blocks& blocks, std::vector<Facts::Bound> dims, unsigned lanes,
         const PieceLimits& limits)
      : k_(k),
        blocks_(blocks),
        dims_(std::move(dims)),
        shortest_(std::max<int64_t>(static_cast<int64_t>(limits.vectors * lanes), 1)) {}

  // Empty: too many pieces, too much code, or nothing to cut.
  std::vector<Piece> Run(bool inner_only) {
    inner_only_ = inner_only;
    pieces_ = 0;
    cost_ = 0;
    std::vector<Facts::Bound> box;
    std::vector<Piece> out = Dimension(0, box);
    return pieces_ < 2 || Exceeded() ? std::vector<Piece>() : std::move(out);
  }

 private:
  bool Exceeded() const { return pieces_ > kMaxPieces || cost_ > kMaxCost; }

  std::vector<Piece> Dimension(uint32_t d, std::vector<Facts::Bound>& box) {
    std::vector<Piece> out;
    box.push_back(dims_[d]);
    Cut(d, box, dims_[d].range, out);
    box.pop_back();
    return out;
  }

  // Adds the pieces of `range` of dimension d; the last of `box` is that dimension.
  void Cut(uint32_t d, std::vector<Facts::Bound>& box, Interval range, std::vector<Piece>& out) {
    if (Exceeded()) return;
    box.back().range = range;
    const bool last = d + 1 == dims_.size();
    Facts facts(k_, blocks_, box);
    std::vector<int64_t> cuts;
    if (dims_[d].index != 0 && (last || !inner_only_)) cuts = facts.CutsOf(dims_[d].index);
    const int64_t extent = dims_[d].range.hi - dims_[d].range.lo;
    if (!cuts.empty() && extent / (last ? shortest_ : 1) >= static_cast<int64_t>(out.size() + cuts.size() + 1)) {
      const int64_t middle = cuts[cuts.size() / 2];
      Cut(d, box, {range.lo, middle}, out);
      return Cut(d, box, {middle, range.hi}, out);
    }
    Piece piece{range, {}, {}};
    if (last) {
      ++pieces_;
      cost_ += facts.cost();
      piece.facts.push_back(std::move(facts));
    } else {
      piece.inner = Dimension(d + 1, box);
    }
    out.push_back(std::move(piece));
  }

  const ricci_kernel_table& k_;
  const Blocks& blocks_;
  const std::vector<Facts::Bound> dims_;
  const int64_t shortest_;  // piece of the innermost dimension, on average
  bool inner_only_ = false;
  size_t pieces_ = 0;
  double cost_ = 0;
};

}  // namespace

std::vector<Piece> CutDomain(const ricci_kernel_table& k, const Blocks& blocks, const std::vector<uint32_t>& dims,
                             unsigned lanes, const PieceLimits& limits) {
  std::vector<Facts::Bound> box;
  for (uint32_t d = 0; d < k.domain_rank; ++d) {
    if (k.domain[d] <= 0) return {};
    box.push_back({dims[d], {0, k.domain[d]}});
  }
  const int64_t points = std::accumulate(k.domain, k.domain + k.domain_rank, int64_t{1}, std::multiplies<>());
  if (box.empty() || points < limits.points) return {};
  Cutter cutter(k, blocks, std::move(box), lanes, limits);
  std::vector<Piece> pieces = cutter.Run(/*inner_only=*/false);
  return pieces.empty() ? cutter.Run(/*inner_only=*/true) : pieces;
}

std::vector<Piece> CutLoop(const ricci_kernel_table& k, const Blocks& blocks, uint32_t loop, unsigned lanes) {
  const auto lo = ConstantOf(k, k.insts[loop].a), hi = ConstantOf(k, k.insts[loop].b);
  if (!lo || !hi || *lo >= *hi) return {};
  // Facts take time linear in the length of the kernel, and there may be many loops.
  const bool chooses = std::any_of(k.insts + loop, k.insts + blocks.close[loop], [&](const ricci_inst& inst) {
    return IsComparison(inst.op) && k.insts[inst.a].dtype == RICCI_I64;
  });
  if (!chooses) return {};
  return Cutter(k, blocks, {{loop, {*lo, *hi}}}, lanes, {}).Run(/*inner_only=*/true);
}

}  // namespace ricci::codegen
