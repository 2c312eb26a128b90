// Kernels that store what they compute where views move it (`views` of a fusion).
//
// A point of the domain computes one element of each result of the body. Its index in the array that it goes to is a
// choice between the maps of the views: a processor cuts its loops where the choice changes, so that only
// stores in order are left.
#include <numeric>

#include "control/parts.h"
#include "pass/kernel/fusion.h"
#include "pass/kernel/kernel_builder.h"
#include "pass/kernel/view_moves.h"

namespace ricci { inline namespace v0 { namespace pass {

// A result of the body is a row of a result of the fusion, or is stored where its views say, or both.
absl::Status KernelBuilder::InlineFusion(const ir::Equation& eqn, uint32_t n_rows, std::span<const ArrayId> in,
                                         std::span<const ArrayId> dst) {
  const FusionParts parts(eqn.attrs);
  const ir::Program &body = *parts.body, *views = parts.views;
  if (views == nullptr) return InlineRows(body, n_rows, in, dst, {});
  std::vector<uint32_t> all(views->equations.size());
  std::iota(all.begin(), all.end(), 0u);
  RICCI_ASSIGN(const std::vector<Moves> moves, MovesOf(*views, all));
  std::vector<ArrayId> rows(body.n_results(), 0);
  std::vector<StoreThrough> elsewhere;
  for (uint32_t i = 0; i < dst.size(); ++i) {
    const ir::ValueId r = views->results[i];
    if (r < views->n_params()) {
      rows[r] = dst[i];
      continue;
    }
    RICCI_TRY(base::Invariant(!moves.empty(), "views of a fusion have maps"));
    for (const auto& [source, maps] : BySource(moves[views->values[r].index])) {
      elsewhere.push_back({source, dst[i], maps});
    }
  }
  return InlineRows(body, n_rows, in, rows, elsewhere);
}

// Stores the value of this point where it goes: one store, whose index is chosen by the position of the point.
absl::Status KernelBuilder::StoreElsewhere(const StoreThrough& s, std::span<const int64_t> shape, Val v) {
  const auto position = [&](const prim::ViewMap& p) {
    Index index;
    for (size_t j = 0; j < p.from.size(); ++j) {
      const Val shift = w_.Index(p.shift[j]);
      index.at.push_back(p.from[j] < 0 ? shift : w_.Add(row_.index[static_cast<size_t>(p.from[j])], shift));
    }
    return PositionInStorage(s.to, index);
  };
  const auto holds = [&](const prim::ViewMap& p) {
    Val all = 0;
    const auto add = [&](uint32_t op, Val x, int64_t limit) {
      const Val one = w_.Op(op, x, w_.Index(limit));
      all = all == 0 ? one : w_.And(all, one);
    };
    for (size_t d = 0; d < shape.size(); ++d) {
      if (p.first[d] > 0) add(RICCI_S_GE, row_.index[d], p.first[d]);
      if (p.limit[d] < shape[d]) add(RICCI_S_LT, row_.index[d], p.limit[d]);
    }
    return all;
  };
  Val at = position(s.maps.back());  // points that are in none of the others are there
  for (size_t i = s.maps.size() - 1; i-- > 0;) {
    const Val here = holds(s.maps[i]);
    at = w_.Select(here, position(s.maps[i]), at);
  }
  w_.Store(StorageOf(s.to).number, at, v);
  return w_.status();
}

}}}  // namespace ricci::v0::pass
