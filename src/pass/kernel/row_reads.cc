#include "pass/kernel/row_reads.h"

#include <algorithm>
#include <span>

namespace ricci { inline namespace v0 { namespace pass {

absl::StatusOr<ir::FactorsRef> KnownFactors(const ir::Program& f, uint32_t e, bool elementwise) {
  RICCI_ASSIGN(ir::FactorsRef said, trace::FactorsOf(f, e));
  if (said == nullptr && elementwise) return trace::ElementwiseFactors(f, f.equations[e]);
  return said == nullptr || said->wrong.ok() ? said : ir::FactorsRef();
}

std::optional<std::vector<Reads>> ReadsOfRow(const ir::Factors* f, uint32_t n_rows) {
  if (f == nullptr || f->out.empty() || f->out[0].size() < n_rows) return std::nullopt;
  const std::span<const uint32_t> rows(f->out[0].data(), n_rows);
  const auto starts_with_rows = [&](const std::vector<uint32_t>& dims) {
    return dims.size() >= n_rows && std::equal(rows.begin(), rows.end(), dims.begin());
  };
  for (const std::vector<uint32_t>& out : f->out) {
    if (!starts_with_rows(out)) return std::nullopt;
  }
  for (uint32_t r : rows) {
    if (!IsIndependent(f->factors[r].kind)) return std::nullopt;
  }
  std::vector<Reads> reads;
  for (const std::vector<uint32_t>& in : f->in) {
    reads.push_back(starts_with_rows(in) ? Reads::kRow : Reads::kOther);
  }
  return reads;
}

bool RowReads::Visit(const ir::Equation& eqn, const ir::Factors* f) {
  bool row = false, other = false;
  for (uint32_t i = 0; i < eqn.n_results; ++i) {
    const Use use = Of(eqn.result(i));
    row |= use.row, other |= use.other;
  }
  std::optional<std::vector<Reads>> reads;
  if (row && !(reads = ReadsOfRow(f, n_rows_))) return false;
  for (size_t i = 0; i < eqn.operands.size(); ++i) {
    const bool as_row = row && (*reads)[i] == Reads::kRow;
    Use& use = uses_[eqn.operands[i]];
    use.row |= as_row;
    use.other |= other || (row && !as_row);
  }
  return true;
}

}}}  // namespace ricci::v0::pass
