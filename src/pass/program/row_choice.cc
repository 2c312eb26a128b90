// Of the leading dimensions that all results have in common a group takes as many as it can, such that each point of
// them reads only its own row. By its factors an equation can run by rows, but its lowering may still loop over
// something else. So each lowering is tried by itself, once, and one that leaves its row is never merged.
//
// Few long rows stay apart: their points, not the rows, keep the threads busy, unless so many threads share a row that
// it stays in their registers. Reductions beside each other (of x and of its squares) have no more points apart than
// together. Where many points run at once they are one kernel, however few or long the rows are, and wherever the
// dimensions of the rows are in what is read: the backend `cuda` reads an element once for all of them. On processors
// this would save little: each reduction still has a loop of its own there.
#include "pass/program/row_choice.h"

#include <algorithm>

#include "pass/kernel/kernel_builder.h"
#include "pass/kernel/operation_cost.h"
#include "pass/program/equation_info.h"
#include "pass/target/choose_lowering.h"
#include "trace/builder.h"

namespace ricci { inline namespace v0 { namespace pass {
namespace {

constexpr uint32_t kNone = ~0u, kSeveral = ~0u - 1;
// Reductions beside each other in a kernel. On a GPU a block of columns has up to 4 KB of shared memory for each (the
// index of an extremum of f64, a complex sum), of 48 KB that every GPU gives.
constexpr size_t kMostBeside = 8;

}  // namespace

RowChoice::RowChoice(const ir::Program& f, const Options& options, const std::vector<Joins>& joins,
                     const std::vector<int64_t>& costs)
    : f_(f),
      target_(options.target),
      many_points_(RunsMany(options)),
      joins_(joins),
      costs_(costs),
      factors_(f.equations.size()),
      is_known_(f.equations.size()),
      is_scalar_(f.equations.size()) {}

absl::Status RowChoice::Learn(uint32_t e) {
  if (is_known_[e]) return absl::OkStatus();
  is_known_[e] = 1;
  // Chosen as the kernel will choose it: no text means elementwise only for scalar lowerings, not for views and
  // gathers.
  const trace::Op op(f_, f_.equations[e]);
  const prim::Row& row = prim::Registry::Of(f_).Get(f_.equations[e].prim);
  RICCI_ASSIGN(const ricci_lowering* l, ChooseLowering(row, *op.get(), target_, kKernelKinds));
  is_scalar_[e] = l != nullptr && l->kind == RICCI_LOWER_SCALAR;
  RICCI_ASSIGN(factors_[e], KnownFactors(f_, e, is_scalar_[e] != 0));
  return absl::OkStatus();
}

// The product of the group, or kNone, or kSeveral: a kernel has one, so that a backend has all its registers for it.
uint32_t RowChoice::ProductOf(const Group& g) const {
  uint32_t product = kNone;
  for (uint32_t root : g.roots) {
    if (joins_[root] == Joins::kPoints) product = product == kNone ? root : kSeveral;
  }
  return product;
}
bool RowChoice::HasProduct(const Group& g) const { return ProductOf(g) != kNone; }

// Chooses as many leading dimensions as all can have in common; with a product all of its dimensions, so that no loop
// is around it.
absl::StatusOr<bool> RowChoice::Choose(Group& g, const std::vector<ir::ValueId>& shared) {
  for (uint32_t m : g.members) RICCI_TRY(Learn(m));
  bool plain = true;  // only expressions, of one shape
  const auto shape = f_.type(f_.equations[g.roots[0]].result(0)).shape;
  size_t rank = shape.size();
  for (uint32_t root : g.roots) {
    const ir::ArrayType& t = f_.type(f_.equations[root].result(0));
    rank = std::min<size_t>(rank, t.rank());
    plain &=
        joins_[root] == Joins::kExpression && std::equal(t.shape.begin(), t.shape.end(), shape.begin(), shape.end());
  }
  const uint32_t product = ProductOf(g);
  if (product != kNone && (product == kSeveral || f_.type(f_.equations[product].result(0)).rank() != rank)) {
    return false;
  }
  const uint32_t least = product == kNone ? 1 : static_cast<uint32_t>(rank);
  for (auto n = static_cast<uint32_t>(rank); n >= least; --n) {
    RowReads reads(n);
    if (!RunsByRows(g, n, shared, reads)) continue;
    const bool loops_over_all = plain && n == rank;
    RICCI_ASSIGN(const bool legal, loops_over_all ? absl::StatusOr<bool>(true) : AllStayInRow(g, n, reads));
    if (!legal) continue;
    g.n_rows = loops_over_all ? 0 : n;
    return true;
  }
  return false;
}

absl::StatusOr<bool> RowChoice::ByPoints(const Group& g, const std::vector<ir::ValueId>& values) {
  const auto n = static_cast<uint32_t>(f_.type(values[0]).rank());
  for (ir::ValueId v : values) {
    if (f_.type(v).rank() != n) return false;
  }
  if (g.n_rows != 0) return g.n_rows == n;
  if (!FillsLanes(f_.type(values[0]).shape.back())) return false;
  for (uint32_t m : g.members) RICCI_TRY(Learn(m));
  RowReads reads(n);
  if (!RunsByRows(g, n, values, reads)) return false;
  return AllStayInRow(g, n, reads);
}

// A plain loop over all elements fills the lanes except at its end; a loop over rows should do so too.
bool RowChoice::FillsLanes(int64_t row) const {
  const int64_t lanes = target_.numbers.lanes, left = row % lanes;
  return left == 0 || 16 * (lanes - left) <= row;
}

bool RowChoice::RunsByRows(const Group& g, uint32_t n, const std::vector<ir::ValueId>& shared, RowReads& reads) const {
  const auto shape = f_.type(f_.equations[g.roots[0]].result(0)).shape.first(n);
  for (uint32_t root : g.roots) {
    const ir::Equation& eqn = f_.equations[root];
    for (uint32_t i = 0; i < eqn.n_results; ++i) {
      const auto own = f_.type(eqn.result(i)).shape;
      if (own.size() < n || !std::equal(shape.begin(), shape.end(), own.begin())) return false;
      reads.MarkRow(eqn.result(i));
    }
  }
  for (auto m = g.members.rbegin(); m != g.members.rend(); ++m) {
    if (!reads.Visit(f_.equations[*m], factors_[*m].get())) return false;
  }
  for (uint32_t root : g.roots) {
    const ir::Equation& eqn = f_.equations[root];
    for (uint32_t i = 0; i < eqn.n_results; ++i) {
      if (reads.Of(eqn.result(i)).other) return false;
    }
  }
  const bool beside = AreBesideEachOther(g, n);
  const bool saves = std::any_of(shared.begin(), shared.end(), [&](ir::ValueId v) {
    const RowReads::Use use = reads.Of(v);
    return beside ? use.OncePerRow() : use.row;
  });
  return saves && ((beside && KeepNoRow(g, n, reads)) || Pays(g, n, shape, reads));
}

// Do all lowerings that run by rows stay in their rows?
absl::StatusOr<bool> RowChoice::AllStayInRow(const Group& g, uint32_t n, const RowReads& reads) {
  for (uint32_t m : g.members) {
    const ir::Equation& eqn = f_.equations[m];
    bool by_row = false;
    for (uint32_t i = 0; i < eqn.n_results; ++i) by_row |= reads.Of(eqn.result(i)).row;
    if (!by_row) continue;
    auto [it, fresh] = stays_.try_emplace(std::pair{m, n}, false);
    if (fresh) {
      KernelBuilder trial(prim::Registry::Of(f_), "trial", target_);
      RICCI_ASSIGN(it->second, trial.StaysInRow(f_, eqn, n, *ReadsOfRow(factors_[m].get(), n)));
    }
    if (!it->second) return false;
  }
  return true;
}

// Loops that give one element for a row, of which none needs another.
bool RowChoice::AreBesideEachOther(const Group& g, uint32_t n) const {
  if (!many_points_ || g.roots.size() < 2 || g.roots.size() > kMostBeside) return false;
  const auto is_root = [&](ir::ValueId v) {
    return f_.values[v].kind == ir::ValueKind::kResult &&
           std::find(g.roots.begin(), g.roots.end(), f_.values[v].index) != g.roots.end();
  };
  return std::all_of(g.roots.begin(), g.roots.end(),
                     [&](uint32_t root) {
                       return joins_[root] == Joins::kRows && f_.type(f_.equations[root].result(0)).rank() == n;
                     }) &&
         std::none_of(g.members.begin(), g.members.end(), [&](uint32_t m) {
           const auto& operands = f_.equations[m].operands;
           return std::any_of(operands.begin(), operands.end(), is_root);
         });
}

// Is all that such loops read of a row so cheap that each may compute it? Else a row of it would be kept
// (KernelBuilder::ChooseKept), and of a long one that is too much.
bool RowChoice::KeepNoRow(const Group& g, uint32_t n, const RowReads& reads) const {
  const auto loops = static_cast<int64_t>(g.roots.size());
  base::HashMap<ir::ValueId, int64_t> costs;  // of members, with what they read
  for (uint32_t m : g.members) {
    const ir::Equation& eqn = f_.equations[m];
    const ir::ValueId v = eqn.result(0);
    if (joins_[m] != Joins::kExpression || !reads.Of(v).row || f_.type(v).rank() <= n) continue;
    int64_t cost = costs_[m];
    for (ir::ValueId read : eqn.operands) {
      const auto known = costs.find(read);
      if (known == costs.end()) continue;
      if (is_scalar_[m] == 0) return false;  // a view, which may read other elements than others do
      cost = std::min(cost + known->second, kMostCost);
    }
    if (cost > target_.limits.read_back || 2 * loops * costs_[m] > target_.limits.cheap_to_repeat) return false;
    costs[v] = cost;
  }
  return true;
}

bool RowChoice::Pays(const Group& g, uint32_t n, std::span<const int64_t> shape, const RowReads& reads) const {
  const Limits& limits = target_.limits;
  constexpr int64_t kWord = 4;  // bytes of the elements that limits.near_row counts
  int64_t rows = 1, elements = 0, bytes = 0, widest = 0;
  for (int64_t extent : shape) rows *= extent;
  bool full = true;  // a row is one element everywhere
  for (uint32_t m : g.members) {
    const ir::Equation& eqn = f_.equations[m];
    if (!reads.Of(eqn.result(0)).row) continue;
    const ir::ArrayType& t = f_.type(eqn.result(0));
    full &= t.rank() == n;
    elements = std::max<int64_t>(elements, t.elements);
    widest = std::max(widest, static_cast<int64_t>(t.bytes));
    const bool expensive = joins_[m] == Joins::kRows || costs_[m] > limits.read_back;
    if (expensive && t.rank() > n) bytes = std::min(bytes + static_cast<int64_t>(t.bytes) / rows, limits.row_bytes + 1);
    for (size_t i = 0; i < eqn.operands.size() && joins_[m] == Joins::kRows; ++i) {
      const ir::ArrayType& read = f_.type(eqn.operands[i]);
      if (!reads.Of(eqn.operands[i]).row) continue;
      elements = std::max<int64_t>(elements, read.elements);
      widest = std::max(widest, static_cast<int64_t>(read.bytes));
    }
  }
  if (elements <= limits.small || full) return bytes <= limits.row_bytes;
  const int64_t length = elements / rows, words = std::max(length, widest / kWord / rows);
  const int64_t few = words <= limits.near_row ? limits.few_near_rows : limits.few_rows;
  return rows >= few && length >= limits.short_row && bytes <= limits.row_bytes;
}

}}}  // namespace ricci::v0::pass
