// Facts about a kernel that code generation needs before it starts: block structure, which values differ between lanes,
// strides, which loops are unrolled or spread over lanes.
#ifndef RICCI_CODEGEN_ANALYSIS_H_
#define RICCI_CODEGEN_ANALYSIS_H_
#include <cstdint>
#include <optional>
#include <vector>

#include "ricci/backend.h"
#include "ricci/exact.h"

namespace ricci::codegen {

inline bool IsScalar(uint16_t op) { return op < RICCI_S_LIMIT; }
// Whether the instruction has an effect besides its value: it writes, or may fail.
inline bool HasEffect(uint16_t op) {
  return op == RICCI_K_STORE || op == RICCI_K_COMBINE || op == RICCI_K_SET || op == RICCI_K_CHECK;
}

struct Blocks {
  explicit Blocks(const ricci_kernel_table& k);
  // For FOR, WHILE, IF, REDUCE, ELSE and COND: the instruction that closes the block (END or YIELD).
  std::vector<uint32_t> close;
  std::vector<uint32_t> middle;  // for IF: its ELSE; for WHILE: its COND; 0 = none
  std::vector<uint32_t> parent;  // the innermost block around an instruction (its opening instruction; 0 = top)
};

// The instructions of a SCAN: each number is the first of a group with one instruction per state.
struct ScanParts {
  ScanParts(const ricci_kernel_table& k, const Blocks& blocks, uint32_t scan);
  uint32_t states, left, right;
  uint32_t combiner, combined;  // scalars [combiner, combined), then COMBINED
  uint32_t body;                // the first instruction after those
  uint32_t prefix;
};

// Which values differ between the lanes when `root` (a DOMAIN or loop index) does, within instructions [first, last).
// A private array varies if its elements may. What is set inside of a block with a varying condition or bound varies.
std::vector<uint8_t> FindVarying(const ricci_kernel_table& k, const Blocks& blocks, uint32_t root, uint32_t first,
                                 uint32_t last);

// Of the domain.
int64_t PointsOf(const ricci_kernel_table& k);
std::optional<int64_t> ConstantOf(const ricci_kernel_table& k, uint32_t value);
// Trips of a FOR or REDUCE, if its bounds are constant.
std::optional<int64_t> TripsOf(const ricci_kernel_table& k, uint32_t loop);

class Facts;

// d value / d root for index values, if that is a constant. Each value is visited once.
class Strides {
 public:
  // For values before instruction `last`. `facts`: what else is known, or NULL.
  Strides(const ricci_kernel_table& k, uint32_t root, uint32_t last, const Facts* facts)
      : k_(k), root_(root), facts_(facts), known_(last - root) {}
  // Nothing if the value is not linear in the root with a constant factor.
  std::optional<int64_t> Of(uint32_t value);
  // All lanes have the same address, or each lane the next element.
  bool InOrder(uint32_t value);

 private:
  struct Known {
    bool seen = false;
    std::optional<int64_t> stride;
  };
  std::optional<int64_t> Find(uint32_t value);
  std::optional<int64_t> Product(const ricci_inst& inst, int64_t a, int64_t b) const;
  const ricci_kernel_table& k_;
  const uint32_t root_;
  const Facts* const facts_;
  std::vector<Known> known_;  // from the root on
};

// Steps at which all elements between two lanes are loaded too, which is faster than to gather those that are wanted.
inline bool IsNear(int64_t stride) { return stride >= 2 && stride <= 4; }
// The STORE of the element after that of STORE `store`, if only scalars are between the two; 0 = none.
uint32_t NextElementStore(const ricci_kernel_table& k, uint32_t store);

// Whether the FOR or REDUCE is short, and its code small, enough to be unrolled.
bool Unrolls(const ricci_kernel_table& k, const Blocks& blocks, uint32_t loop);
// Whether it contains no loop whose iterations could be spread over lanes instead.
bool Innermost(const ricci_kernel_table& k, const Blocks& blocks, uint32_t loop, unsigned lanes);
// Whether its iterations would be spread over lanes if the points of the domain are not.
bool Spreads(const ricci_kernel_table& k, const Blocks& blocks, uint32_t loop, unsigned lanes);
// Rough cost of an operation relative to an addition.
double OpCost(uint16_t op);
inline constexpr double kUnknownTrips = 16;  // that a loop of unknown length counts
// How often each instruction runs for one point of the domain; for one that opens a block, what is in the block.
std::vector<double> TimesOf(const ricci_kernel_table& k, const Blocks& blocks);
// Rough number of scalar operations for one point of the domain.
double CostOfPoint(const ricci_kernel_table& k, const Blocks& blocks);
// Bytes of one element in memory.
unsigned SizeOfDType(uint32_t dtype);

}  // namespace ricci::codegen
#endif
