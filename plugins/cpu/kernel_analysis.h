// Facts about a kernel that code generation needs before it starts: block structure, which values differ between lanes,
// cost.
#ifndef RICCI_CPU_KERNEL_ANALYSIS_H_
#define RICCI_CPU_KERNEL_ANALYSIS_H_
#include <cstdint>
#include <optional>
#include <vector>

#include "ricci/backend.h"
#include "ricci/exact.h"

namespace ricci::cpu {

struct Blocks {
  explicit Blocks(const ricci_kernel_table& k);
  // For FOR, WHILE, IF, REDUCE, ELSE and COND: the instruction that closes the block (END or YIELD).
  std::vector<uint32_t> close;
  std::vector<uint32_t> middle;  // for IF: its ELSE; for WHILE: its COND; 0 = none
  std::vector<uint32_t> parent;  // the innermost block an instruction stands in (its opening instruction; 0 = top)
};

// Which values differ between the lanes when `root` (a DOMAIN or loop index) does, within instructions [first, last).
// A private array varies if what it holds may. Conditions and loops on varying values make what is set below them
// varying.
std::vector<uint8_t> FindVarying(const ricci_kernel_table& k, const Blocks& blocks, uint32_t root, uint32_t first,
                                 uint32_t last);

std::optional<int64_t> ConstantOf(const ricci_kernel_table& k, uint32_t value);
// Trips of a FOR or REDUCE, if its bounds are constant.
std::optional<int64_t> TripsOf(const ricci_kernel_table& k, uint32_t loop);

// d value / d root for index values, where that is a constant. Each value is looked at once.
class Strides {
 public:
  Strides(const ricci_kernel_table& k, uint32_t root) : k_(k), root_(root), known_(k.n_insts) {}
  // Nothing if the value is not linear in the root with a constant factor.
  std::optional<int64_t> Of(uint32_t value);
  // The same address for all, or one element further each.
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
  std::vector<Known> known_;
};

// Instructions that code for one trip of loop `loop` has, loops in it unrolled where that makes at most `limit`.
int64_t UnrolledSize(const ricci_kernel_table& k, const Blocks& blocks, uint32_t loop, int64_t limit);
// Rough cost of an operation beside that of an addition.
double OpCost(uint16_t op);
// Rough number of scalar operations for one point of the domain; loops of unknown length count 16 times.
double CostOfPoint(const ricci_kernel_table& k, const Blocks& blocks);

// Shall the innermost domain dimension be spread over lanes? Else inner loops are, where they read memory in order.
bool LanesOverDomain(const ricci_kernel_table& k, const Blocks& blocks, unsigned lanes);

}  // namespace ricci::cpu
#endif
