// The text of factors (`m k, k n -> m n; sum k`) becomes numbers; everything else here only compares them.
#include "pass/factors.h"

#include <numeric>

#include "base/status_abi.h"

namespace ricci::inline v0::pass {
namespace {

absl::StatusOr<std::string> TextOf(const prim::Row& row, const ricci_op& op) {
  if (row.def.factors_of == nullptr) return row.factors;
  std::string text;
  const auto write = [](void* sink, const char* p, size_t n) { static_cast<std::string*>(sink)->append(p, n); };
  RICCI_TRY(base::FromAbi(row.def.factors_of(row.def.self, &op, &text, write)));
  return text;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  // "" at the end. `,` `;` `->` are words of their own.
  std::string_view Word() {
    while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
    size_t n = 0;
    while (n < rest_.size() && rest_[n] != ' ' && rest_[n] != ',' && rest_[n] != ';') ++n;
    if (n == 0 && !rest_.empty()) n = 1;
    const std::string_view word = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return word;
  }
  uint32_t Number(std::string_view name) {
    return numbers_.try_emplace(std::string(name), static_cast<uint32_t>(numbers_.size())).first->second;
  }
  size_t count() const { return numbers_.size(); }

 private:
  std::string_view rest_;
  base::HashMap<std::string, uint32_t> numbers_;
};

Factors Parse(std::string_view text, uint32_t n_in, uint32_t n_out) {
  Factors f;
  f.in.resize(n_in), f.out.resize(n_out);
  Parser parser(text);
  std::vector<std::vector<uint32_t>>* side = &f.in;
  std::vector<uint32_t> dependent;
  size_t list = 0;
  std::string_view word = parser.Word();
  for (; !word.empty() && word != ";"; word = parser.Word()) {
    if (word == "->") {
      side = &f.out, list = 0;
    } else if (word == ",") {
      ++list;
    } else if (list >= side->size()) {
      return {};
    } else {
      (*side)[list].push_back(parser.Number(word));
    }
  }
  // Points along a factor that is summed are not in the results; along all other kinds they depend on each other.
  for (bool kind = true; !word.empty(); word = parser.Word()) {
    if (kind) f.ordered |= word == "seq";
    if (!kind && word != ";") dependent.push_back(parser.Number(word));
    kind = word == ";";
  }
  f.splits.assign(parser.count(), 1);
  for (uint32_t d : dependent) f.splits[d] = 0;
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
  RICCI_ASSIGN(const std::string text, TextOf(prim::Registry::Of(f).Get(eqn.prim), *op.get()));
  if (!text.empty()) return Parse(text, op->n_in, op->n_out);
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
