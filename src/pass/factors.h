// Factors: which dimensions of an equation's operands and results are one and the same, from what its row declares; and
// from that, what an equation reads when it is run for one row: one point of the leading dimensions of its results.
#ifndef RICCI_PASS_FACTORS_H_
#define RICCI_PASS_FACTORS_H_
#include <optional>
#include <vector>

#include "base/hash_map.h"
#include "trace/builder.h"

namespace ricci::inline v0::pass {

struct Factors {
  bool known = false;                          // the row tells them
  std::vector<std::vector<uint32_t>> in, out;  // per operand and result: the factor of each dimension
  std::vector<uint8_t> splits;                 // per factor: points along it are independent of each other
};
// `elementwise`: the equation has a SCALAR lowering, so that no text means one factor for each dimension.
absl::StatusOr<Factors> FactorsOf(const ir::Program& f, const ir::Equation& eqn, bool elementwise);

enum class Reads : uint8_t { kRow, kOther };
// How each operand is read for one point of the leading `n_rows` dimensions of the results: only the same point of its
// own leading dimensions, or anything. Nothing if the results of different points depend on each other.
std::optional<std::vector<Reads>> ReadsOfRow(const Factors& f, uint32_t n_rows);

// How the values of a group of equations are read when it runs row by row. Visit the equations from the last to the
// first; what leaves the group is marked before.
class RowReads {
 public:
  struct Use {
    bool row = false, other = false;
  };
  explicit RowReads(uint32_t n_rows) : n_rows_(n_rows) {}

  void MarkRow(ir::ValueId v) { uses_[v].row = true; }
  Use Of(ir::ValueId v) const {
    const auto it = uses_.find(v);
    return it == uses_.end() ? Use{} : it->second;
  }
  // False if the equation is needed by rows but cannot run so.
  bool Visit(const ir::Equation& eqn, const Factors& f);

 private:
  uint32_t n_rows_;
  base::HashMap<ir::ValueId, Use> uses_;
};

}  // namespace ricci::inline v0::pass
#endif
