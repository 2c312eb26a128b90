#include "codegen/regions.h"

#include <algorithm>

namespace ricci::codegen {
namespace {

constexpr int64_t kCallCode = 64;  // of a call with its arguments and results, about
constexpr int64_t kShortRun = 64;  // a run between large loops this many times shorter than a region gets no call

bool Opens(uint16_t op) {
  return op == RICCI_K_FOR || op == RICCI_K_WHILE || op == RICCI_K_IF || op == RICCI_K_REDUCE || op == RICCI_K_SCAN;
}

class RegionCutter {
 public:
  RegionCutter(const ricci_kernel_table& k, const Blocks& blocks, const PartBounds& bounds)
      : k_(k), blocks_(blocks), bounds_(bounds), most_(bounds.most), code_(k.n_insts, 1) {}

  Regions Run() {
    if (Measure(1, k_.n_insts) > most_) Cut(1, k_.n_insts, /*shares=*/true);
    return std::move(regions_);
  }

 private:
  uint32_t After(uint32_t i) const { return Opens(k_.insts[i].op) ? blocks_.close[i] + 1 : i + 1; }

  // Instructions of code; unrolled loops count once per trip, others twice: for whole vectors and for the rest.
  int64_t Measure(uint32_t first, uint32_t last) {
    int64_t sum = 0;
    for (uint32_t i = first; i < last; i = After(i)) {
      const uint16_t op = k_.insts[i].op;
      if (Opens(op)) {
        code_[i] = 2 + Measure(i + 1, blocks_.close[i]);
        const bool loop = op == RICCI_K_FOR || op == RICCI_K_REDUCE || op == RICCI_K_SCAN;
        if (loop) code_[i] *= Unrolls(k_, blocks_, i) ? std::max<int64_t>(1, *TripsOf(k_, i)) : 2;
      }
      sum += code_[i];
    }
    return sum;
  }

  void Cut(uint32_t first, uint32_t last, bool shares) {
    std::vector<Part> parts;
    if (shares) parts = FindAlikeParts(k_, blocks_, code_, first, last, bounds_);
    regions_.calls.insert(regions_.calls.end(), parts.begin(), parts.end());
    auto part = parts.begin();
    uint32_t begin = first;
    int64_t code = 0;
    const auto end_at = [&](uint32_t end) {
      if (code > most_ / kShortRun) regions_.functions.push_back({begin, end});
      begin = end, code = 0;
    };
    for (uint32_t i = first, next; i < last; i = next) {
      const bool calls = part != parts.end() && part->first == i;
      const int64_t own = calls ? kCallCode : code_[i];
      next = calls ? (part++)->last : After(i);
      if (code + own > most_) end_at(i);
      if (calls || own <= most_ || k_.insts[i].op == RICCI_K_SCAN) {  // its combiner goes with its prefixes
        code += own;
        continue;
      }
      CutInside(i, shares);
      begin = next;
    }
    end_at(last);
  }

  // Parts of a parallel loop are not compared: its code may be made for pieces of it, about which different things are
  // known.
  void CutInside(uint32_t i, bool shares) {
    const uint32_t middle = blocks_.middle[i], close = blocks_.close[i];
    shares = shares && (k_.insts[i].op != RICCI_K_FOR || k_.insts[i].imm == 0);
    Cut(i + 1, middle != 0 ? middle : close, shares);
    if (middle != 0) Cut(middle + 1, close, shares);
  }

  const ricci_kernel_table& k_;
  const Blocks& blocks_;
  const PartBounds bounds_;
  const int64_t most_;
  std::vector<int64_t> code_;  // of what begins at each instruction
  Regions regions_;
};

}  // namespace

Regions CutRegions(const ricci_kernel_table& k, const Blocks& blocks, const PartBounds& bounds) {
  return RegionCutter(k, blocks, bounds).Run();
}

// Instructions within loops that may be cut into pieces.
static std::vector<uint8_t> InParallelLoops(const ricci_kernel_table& k, const Blocks& blocks) {
  std::vector<uint8_t> inside(k.n_insts, 0);
  for (uint32_t i = 1; i < k.n_insts; ++i) {
    const ricci_inst& around = k.insts[blocks.parent[i]];
    inside[i] = inside[blocks.parent[i]] != 0 || (around.op == RICCI_K_FOR && around.imm == 1) ? 1 : 0;
  }
  return inside;
}

std::vector<uint32_t> LastReads(const ricci_kernel_table& k, const Blocks& blocks) {
  std::vector<uint32_t> last(k.n_insts, 0);
  const std::vector<uint8_t> in_parallel = InParallelLoops(k, blocks);
  const auto reads = [&](uint32_t value, uint32_t at) {
    const uint32_t block = blocks.parent[value];
    uint32_t end = at;
    while (at != 0 && blocks.parent[at] != block) at = blocks.parent[at], end = blocks.close[at];
    last[value] = std::max(last[value], end);
  };
  for (uint32_t i = k.n_insts; i-- > 1;) {
    const ricci_inst& inst = k.insts[i];
    // A contracted product is multiplied where it is added.
    const bool contracted = inst.op == RICCI_K_YIELD && inst.imm != 0;
    const ricci_inst& product = k.insts[contracted ? inst.b : 0];
    // If the choice is known in a piece of a loop, the value chosen takes the place of this one.
    const bool may_choose = inst.op == RICCI_S_SELECT || inst.op == RICCI_S_MIN || inst.op == RICCI_S_MAX;
    const bool chooses = may_choose && in_parallel[i] != 0;
    for (uint32_t operand : {inst.a, inst.b, inst.c, product.a, product.b}) {
      if (operand == 0) continue;
      if (inst.op != RICCI_K_YIELD) {
        reads(operand, i);
      } else if (blocks.parent[operand] == inst.a) {
        last[operand] = std::max(last[operand], i);
      } else {
        reads(operand, inst.a);
      }
      if (chooses) last[operand] = std::max(last[operand], last[i]);
    }
  }
  return last;
}

}  // namespace ricci::codegen
