// What is known about the values of a kernel while its indices stay within given intervals, and where to cut the
// intervals so that more is known.
#ifndef RICCI_CODEGEN_FACTS_H_
#define RICCI_CODEGEN_FACTS_H_
#include <vector>

#include "codegen/analysis.h"

namespace ricci::codegen {

struct Interval {
  int64_t lo, hi;  // lo <= x < hi
};

class Facts {
 public:
  struct Bound {
    uint32_t index;  // a DOMAIN or FOR
    Interval range;
  };
  enum class Is : uint8_t { kComputed, kDead, kSame, kConstant };

  Facts(const ricci_kernel_table& k, const Blocks& blocks, const std::vector<Bound>& bounds);

  Is is(uint32_t v) const { return is_[v]; }
  uint32_t same(uint32_t v) const { return same_[v]; }  // the earlier value that v equals
  int64_t constant(uint32_t v) const { return ranges_[v].lo; }
  // Bounds of an integer, if they are known.
  std::optional<Interval> RangeOf(uint32_t v) const {
    return ranges_[v].known ? std::optional(Interval{ranges_[v].lo, ranges_[v].hi + 1}) : std::nullopt;
  }
  // Rough number of scalar operations that are left.
  double cost() const;
  // Where the results of comparisons of `index` with a constant change, in order.
  std::vector<int64_t> CutsOf(uint32_t index) const;

 private:
  struct Range {  // lo <= x <= hi
    bool known = false;
    int64_t lo = 0, hi = 0;
  };
  struct Sum {  // index + offset
    uint32_t index;
    int64_t offset;
  };
  Range Of(const ricci_inst& inst, uint32_t v);
  Range Arithmetic(const ricci_inst& inst, uint32_t v);
  Range Clamped(const ricci_inst& outer) const;
  Range Comparison(uint16_t op, const Range& a, const Range& b) const;
  // Of operands that are known; the value's number is wanted where it may be the same as one of them.
  using ArithmeticFn = Range (Facts::*)(const ricci_inst& inst, uint32_t v);
  Range OfSum(const ricci_inst& inst, uint32_t v);
  Range OfDifference(const ricci_inst& inst, uint32_t v);
  Range OfProduct(const ricci_inst& inst, uint32_t v);
  Range OfLeast(const ricci_inst& inst, uint32_t v);
  Range OfGreatest(const ricci_inst& inst, uint32_t v);
  static Range Logic(uint16_t op, const Range& a, const Range& b);
  Range Choice(const ricci_inst& inst, uint32_t v);
  Range Same(uint32_t v, uint32_t as);
  void FindDead(const Blocks& blocks);
  bool IsPure(uint32_t first, uint32_t last) const;
  Sum SumOf(uint32_t v) const;

  const ricci_kernel_table& k_;
  std::vector<Range> ranges_;
  std::vector<Is> is_;
  std::vector<uint32_t> same_;
};

// A box of the domain: an interval of one dimension, and how the next one is cut there.
struct Piece {
  Interval range;
  std::vector<Piece> inner;  // of the next dimension; empty if this is the last
  std::vector<Facts> facts;  // one, at the last dimension only
};
// Which domains and loops are worth code for each of their pieces.
struct PieceLimits {
  int64_t points = 1024;  // of a domain, at least
  double vectors = 1;     // that a piece of the innermost dimension has on average, at least; its last one is masked
};
// The domain, cut where concatenations, paddings and so on change from one piece to the next; empty if it is better
// left whole. `dims`: the DOMAIN instruction of each dimension, 0 = none.
std::vector<Piece> CutDomain(const ricci_kernel_table& k, const Blocks& blocks, const std::vector<uint32_t>& dims,
                             unsigned lanes, const PieceLimits& limits);
// The same for a FOR with constant bounds.
std::vector<Piece> CutLoop(const ricci_kernel_table& k, const Blocks& blocks, uint32_t loop, unsigned lanes);

}  // namespace ricci::codegen
#endif
