// What an equation reads when it is run for one row (one point of the leading dimensions of its results), from its
// factors.
#ifndef RICCI_PASS_ROW_READS_H_
#define RICCI_PASS_ROW_READS_H_
#include <optional>
#include <vector>

#include "base/hash_map.h"
#include "trace/equation_factors.h"

namespace ricci { inline namespace v0 { namespace pass {

// What is known of the factors of equation `e` of `f`, or NULL: what its primitive's row says, or, if that is nothing
// and the equation has a SCALAR lowering (`elementwise`), one factor for each dimension. Nothing is known if the row's
// text is wrong.
absl::StatusOr<ir::FactorsRef> KnownFactors(const ir::Program& f, uint32_t e, bool elementwise);

enum class Reads : uint8_t { kRow, kOther };
// How each operand is read for one point of the leading `n_rows` dimensions of the results: only the same point of its
// own leading dimensions, or anything. Empty if the results of different points depend on each other, as they may if
// `f` is NULL.
std::optional<std::vector<Reads>> ReadsOfRow(const ir::Factors* f, uint32_t n_rows);

// How the values of a group of equations are read when it runs row by row. Visit the equations from the last to the
// first; mark the results of the group before that.
class RowReads {
 public:
  struct Use {
    bool row = false, other = false;
    // Of what is not read as a row: where the dimensions of the rows are in the value, if all of it is read for one
    // point of them there (by a sum over all dimensions but the second). Empty: it is not.
    std::vector<uint32_t> apart;

    bool OncePerRow() const { return row || !apart.empty(); }
  };
  explicit RowReads(uint32_t n_rows) : n_rows_(n_rows) {}

  void MarkRow(ir::ValueId v) { uses_[v].row = true; }
  Use Of(ir::ValueId v) const {
    const auto it = uses_.find(v);
    return it == uses_.end() ? Use{} : it->second;
  }
  // False if the equation must run by rows but cannot.
  bool Visit(const ir::Equation& eqn, const ir::Factors* f);

 private:
  std::vector<uint32_t> RowsOf(const ir::Equation& eqn, const ir::Factors* f) const;

  uint32_t n_rows_;
  base::HashMap<ir::ValueId, Use> uses_;
};

}}}  // namespace ricci::v0::pass
#endif
