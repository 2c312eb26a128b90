// ScalarFolder: turns a scalar operation into the simplest value equal to it, by constants, identities and known facts.
//
// Bits of floating values never change: a function of a constant, which has other bits on other devices, stays; x * 1
// and x - 0 become x, x + 0 (wrong for -0) and x * 0 stay. Integer arithmetic is left to IndexFolder. Facts are ranges
// that hold inside a branch: `if i < n` bounds i there, and the condition itself has the range [1, 1].
#ifndef RICCI_KERNEL_SCALAR_FOLD_H_
#define RICCI_KERNEL_SCALAR_FOLD_H_
#include <utility>
#include <vector>

#include "kernel/index_fold.h"

namespace ricci { inline namespace v0 { namespace kernel {

// Ranges as they were before facts were added, to be put back in reverse order.
using FactLog = std::vector<std::pair<Val, Range>>;

class ScalarFolder {
 public:
  explicit ScalarFolder(NodeTable& table) : table_(table), index_(table) {}
  // Operands are typed already (ResultDType); `n` of them.
  Val Fold(uint32_t op, uint32_t result, const Val* in, uint32_t n);
  // The value of a condition, if it is known here.
  std::optional<bool> Truth(Val condition) const;
  void Assume(Val condition, bool truth, FactLog* log);
  void AssumeRange(Val v, Range r, FactLog* log);
  void Forget(FactLog* log);
  IndexFolder& index() { return index_; }

 private:
  Val Simplify(uint32_t op, uint32_t result, const Val* in);
  Val SimplifyLogic(uint32_t op, Val x, Val y);
  Val SimplifyFloat(uint32_t op, Val x, Val y);
  Val SimplifyInteger(uint32_t op, Val x, Val y);
  Val SimplifyForms(uint32_t op, Val x, Val y);
  Val SimplifyShift(uint32_t op, Val x, Val y);
  Val SimplifyComparison(uint32_t op, Val x, Val y);
  Val SimplifySelect(Val condition, Val yes, Val no);
  Val MergeSelects(Val condition, Val yes, Val no);
  Val SimplifyConvert(Val x, uint32_t to);
  Val SimplifyNot(Val x);
  Val FoldTwo(uint32_t op, Val x, Val y);  // to bool
  Val SimplifyUnary(uint32_t op, Val x);
  void AssumeOrder(uint32_t op, Val x, Val y, FactLog* log);
  Val Emit(uint32_t op, uint32_t result, const Val* in, uint32_t n);
  Range RangeAfter(const ricci_inst& inst) const;
  Val Truthful(bool v) { return table_.Constant(RICCI_BOOL, v); }
  bool IsFloat(Val v, double value) const;

  NodeTable& table_;
  IndexFolder index_;
};

}}}  // namespace ricci::v0::kernel
#endif
