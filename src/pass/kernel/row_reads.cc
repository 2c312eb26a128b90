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

namespace {

// Where those factors are in an operand that has each of them once; empty: it has not.
std::vector<uint32_t> PositionsIn(const std::vector<uint32_t>& dims, const std::vector<uint32_t>& factors) {
  std::vector<uint32_t> positions;
  for (uint32_t factor : factors) {
    const auto at = std::find(dims.begin(), dims.end(), factor);
    if (at == dims.end() || std::find(at + 1, dims.end(), factor) != dims.end()) return {};
    positions.push_back(static_cast<uint32_t>(at - dims.begin()));
  }
  return positions;
}

}  // namespace

// The factors of the rows in the only result of the equation, if all reads of it agree; empty: they do not.
std::vector<uint32_t> RowReads::RowsOf(const ir::Equation& eqn, const ir::Factors* f) const {
  if (f == nullptr || f->out.size() != 1 || eqn.n_results != 1) return {};
  const Use use = Of(eqn.result(0));
  const std::vector<uint32_t>& out = f->out[0];
  std::vector<uint32_t> rows;
  if (use.row && !use.other && out.size() >= n_rows_) rows.assign(out.begin(), out.begin() + n_rows_);
  for (uint32_t position : use.row ? std::vector<uint32_t>() : use.apart) rows.push_back(out[position]);
  const bool parallel = std::all_of(rows.begin(), rows.end(),
                                    [&](uint32_t r) { return f->factors[r].kind == ir::FactorKind::kParallel; });
  return parallel ? rows : std::vector<uint32_t>();
}

bool RowReads::Visit(const ir::Equation& eqn, const ir::Factors* f) {
  bool row = false, other = false;
  for (uint32_t i = 0; i < eqn.n_results; ++i) {
    const Use use = Of(eqn.result(i));
    row |= use.row, other |= use.other;
  }
  std::optional<std::vector<Reads>> reads;
  if (row && !(reads = ReadsOfRow(f, n_rows_))) return false;
  const std::vector<uint32_t> rows = RowsOf(eqn, f);
  for (size_t i = 0; i < eqn.operands.size(); ++i) {
    const bool as_row = row && (*reads)[i] == Reads::kRow;
    Use& use = uses_[eqn.operands[i]];
    use.row |= as_row;
    if (!other && (!row || as_row)) continue;
    const std::vector<uint32_t> apart = rows.empty() ? rows : PositionsIn(f->in[i], rows);
    use.apart = !use.other || use.apart == apart ? apart : std::vector<uint32_t>();
    use.other = true;
  }
  return true;
}

}}}  // namespace ricci::v0::pass
