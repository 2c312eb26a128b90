// What rows say of their factors, as numbers, and comparisons of them.
#include "pass/factors.h"

#include <numeric>

#include "prim/factor_text.h"

namespace ricci::inline v0::pass {
namespace {

// Points along a factor that is combined are not in the results; where a part cannot stand alone, they depend on each
// other. A text that says nothing sensible is as none.
Factors Numbers(std::string_view text, uint32_t n_in, uint32_t n_out) {
  Factors f;
  absl::StatusOr<prim::FactorText> read = prim::ReadFactors(text, n_in, n_out);
  if (!read.ok()) return f;
  f.in = std::move(read->in), f.out = std::move(read->out);
  for (prim::FactorKind kind : read->kinds) {
    f.splits.push_back(kind == prim::FactorKind::kParallel || kind == prim::FactorKind::kPlace);
  }
  f.known = true;
  return f;
}

Factors Elementwise(const ir::Program& f, const ir::Equation& eqn) {
  Factors out;
  const auto numbers = [&](ir::ValueId v) {
    std::vector<uint32_t> dims(f.type(v).rank());
    std::iota(dims.begin(), dims.end(), 0);
    return dims;
  };
  for (ir::ValueId v : eqn.operands) out.in.push_back(numbers(v));
  for (uint32_t i = 0; i < eqn.n_results; ++i) out.out.push_back(numbers(eqn.result(i)));
  out.splits.assign(out.out[0].size(), 1);
  out.known = true;
  return out;
}

}  // namespace

absl::StatusOr<Factors> FactorsOf(const ir::Program& f, const ir::Equation& eqn, bool elementwise) {
  const trace::Op op(f, eqn);
  RICCI_ASSIGN(const std::string text, prim::FactorTextOf(prim::Registry::Of(f).Get(eqn.prim), *op.get()));
  if (!text.empty()) return Numbers(text, op->n_in, op->n_out);
  return elementwise ? Elementwise(f, eqn) : Factors{};
}

std::optional<std::vector<Reads>> ReadsOfRow(const Factors& f, uint32_t n_rows) {
  if (!f.known || f.out.empty() || f.out[0].size() < n_rows) return std::nullopt;
  const std::span<const uint32_t> rows(f.out[0].data(), n_rows);
  const auto starts_with_rows = [&](const std::vector<uint32_t>& dims) {
    return dims.size() >= n_rows && std::equal(rows.begin(), rows.end(), dims.begin());
  };
  for (const std::vector<uint32_t>& out : f.out) {
    if (!starts_with_rows(out)) return std::nullopt;
  }
  for (uint32_t r : rows) {
    if (!f.splits[r]) return std::nullopt;
  }
  std::vector<Reads> reads;
  for (const std::vector<uint32_t>& in : f.in) {
    reads.push_back(starts_with_rows(in) ? Reads::kRow : Reads::kOther);
  }
  return reads;
}

bool RowReads::Visit(const ir::Equation& eqn, const Factors& f) {
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

}  // namespace ricci::inline v0::pass
