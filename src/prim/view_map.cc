#include "prim/view_map.h"

#include <algorithm>
#include <span>

#include "prim/rule_call.h"

namespace ricci { inline namespace v0 { namespace prim {
namespace {

// A rule may give any numbers, so their sums may overflow.
bool IsInside(int64_t first, int64_t limit, int64_t shift, int64_t size) {
  int64_t low, high;
  return !__builtin_add_overflow(first, shift, &low) && !__builtin_add_overflow(limit, shift, &high) && low >= 0 &&
         high <= size;
}

bool IsViewMap(const ViewMap& p, std::span<const int64_t> operand, std::span<const int64_t> result) {
  std::vector<uint8_t> used(operand.size(), 0);
  for (size_t d = 0; d < operand.size(); ++d) {
    if (p.first[d] < 0 || p.limit[d] < p.first[d] || p.limit[d] > operand[d]) return false;
  }
  const bool empty = p.elements() == 0;
  for (size_t j = 0; j < result.size(); ++j) {
    const auto d = static_cast<size_t>(p.from[j]);  // exact: -1 is beyond all
    if (p.from[j] != -1 && (d >= operand.size() || used[d]++ != 0)) return false;
    const int64_t first = p.from[j] == -1 ? 0 : p.first[d], limit = p.from[j] == -1 ? 1 : p.limit[d];
    if (!empty && !IsInside(first, limit, p.shift[j], result[j])) return false;
  }
  for (size_t d = 0; d < operand.size(); ++d) {
    if (!empty && !used[d] && p.limit[d] - p.first[d] > 1) return false;
  }
  return true;
}

}  // namespace

int64_t ViewMap::elements() const {
  int64_t n = 1;
  for (size_t d = 0; d < first.size(); ++d) {
    if (limit[d] <= first[d]) return 0;
    n *= limit[d] - first[d];
  }
  return n;
}

absl::StatusOr<std::optional<ViewMap>> ViewMapOf(Registry& registry, const ricci_op& op, uint32_t operand) {
  const Row& row = registry.Get(op.prim);
  if (row.def.view_map == nullptr || op.n_out != 1) return std::nullopt;
  const types::TypeTable& types = registry.vocabulary().types;
  const auto in = types.Get(op.in_types[operand]).shape, out = types.Get(op.out_types[0]).shape;
  ViewMap p;
  p.first.assign(in.size(), 0), p.limit.assign(in.begin(), in.end());
  p.from.assign(out.size(), -1), p.shift.assign(out.size(), 0);
  ricci_view_map told{};
  told.hdr.size = sizeof told;
  told.first = p.first.data(), told.limit = p.limit.data();
  told.from = p.from.data(), told.shift = p.shift.data();
  const auto call = [&] { return row.def.view_map(row.def.self, &op, operand, &told); };
  RICCI_TRY(Named(row, "view_map", CallRule(row, "view_map", call)));
  if (!told.known) return std::nullopt;
  if (IsViewMap(p, in, out)) return p;
  return absl::InternalError(
      base::Cat(NameOfRule(row, "view_map"), ": gives an impossible map for elements of operand ", operand, ", ",
                ToText(types.Get(op.in_types[operand])), ", in ", ToText(types.Get(op.out_types[0]))));
}

ViewMap Then(const ViewMap& a, const ViewMap& b) {
  ViewMap p = a;
  p.from.assign(b.from.size(), -1);
  p.shift = b.shift;
  for (size_t j = 0; j < a.from.size(); ++j) {
    if (a.from[j] < 0) {
      const bool outside = a.shift[j] < b.first[j] || a.shift[j] >= b.limit[j];
      if (outside && !p.limit.empty()) p.limit[0] = p.first[0];  // nothing is left
      continue;
    }
    const auto d = static_cast<size_t>(a.from[j]);  // exact: a dimension
    p.first[d] = std::max(p.first[d], b.first[j] - a.shift[j]);
    p.limit[d] = std::max(p.first[d], std::min(p.limit[d], b.limit[j] - a.shift[j]));
  }
  for (size_t k = 0; k < b.from.size(); ++k) {
    if (b.from[k] < 0) continue;
    const auto j = static_cast<size_t>(b.from[k]);  // exact: a dimension
    p.from[k] = a.from[j];
    p.shift[k] += a.shift[j];
  }
  return p;
}

bool Overlap(const ViewMap& a, const ViewMap& b) {
  for (size_t d = 0; d < a.first.size(); ++d) {
    if (std::max(a.first[d], b.first[d]) >= std::min(a.limit[d], b.limit[d])) return false;
  }
  return true;
}

}}}  // namespace ricci::v0::prim
