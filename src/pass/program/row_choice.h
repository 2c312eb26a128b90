// RowChoice: by which rows a merged group runs, if by any (merge_groups.cc).
#ifndef RICCI_PASS_ROW_CHOICE_H_
#define RICCI_PASS_ROW_CHOICE_H_
#include <span>
#include <utility>
#include <vector>

#include "base/hash_map.h"
#include "pass/program/merge_groups.h"

namespace ricci { inline namespace v0 { namespace pass {

class RowChoice {
 public:
  // `costs`: of each equation, of one element, without what it reads.
  RowChoice(const ir::Program& f, const Options& options, const std::vector<Joins>& joins,
            const std::vector<int64_t>& costs);

  // May the group be one kernel? Then sets its n_rows. `shared`: values that would be read once less.
  absl::StatusOr<bool> Choose(Group& g, const std::vector<ir::ValueId>& shared);
  // Can the group run point by point, so that each element of `values` is computed in one point?
  absl::StatusOr<bool> ByPoints(const Group& g, const std::vector<ir::ValueId>& values);
  bool HasProduct(const Group& g) const;

 private:
  absl::Status Learn(uint32_t e);
  uint32_t ProductOf(const Group& g) const;
  bool FillsLanes(int64_t row) const;
  bool RunsByRows(const Group& g, uint32_t n, const std::vector<ir::ValueId>& shared, RowReads& reads) const;
  absl::StatusOr<bool> AllStayInRow(const Group& g, uint32_t n, const RowReads& reads);
  bool AreBesideEachOther(const Group& g, uint32_t n) const;
  bool KeepNoRow(const Group& g, uint32_t n, const RowReads& reads) const;
  bool Pays(const Group& g, uint32_t n, std::span<const int64_t> shape, const RowReads& reads) const;

  const ir::Program& f_;
  const Target& target_;
  const bool many_points_;  // run at once
  const std::vector<Joins>& joins_;
  const std::vector<int64_t>& costs_;
  std::vector<ir::FactorsRef> factors_;  // of the equations that are known
  std::vector<uint8_t> is_known_, is_scalar_;
  base::HashMap<std::pair<uint32_t, uint32_t>, bool> stays_;  // an equation and n_rows: does it stay in its row?
};

}}}  // namespace ricci::v0::pass
#endif
