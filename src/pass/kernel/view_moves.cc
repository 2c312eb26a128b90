#include "pass/kernel/view_moves.h"

#include <algorithm>

#include "base/hash_map.h"
#include "trace/builder.h"
#include "transform/rules.h"

namespace ricci { inline namespace v0 { namespace pass {
namespace {

constexpr size_t kMaxMoves = 64;  // into one array; they bound the time to compile
constexpr size_t kMaxMaps = 16;   // of one value; overlaps are searched for in all pairs

absl::StatusOr<bool> Follow(const ir::Program& f, const ir::Equation& eqn,
                            const base::HashMap<ir::ValueId, Moves>& known, Moves& out) {
  prim::Registry& registry = prim::Registry::Of(f);
  const trace::Op op(f, eqn);
  for (uint32_t i = 0; i < eqn.operands.size(); ++i) {
    const ir::ValueId v = eqn.operands[i];
    const absl::StatusOr<std::optional<prim::ViewMap>> told = prim::ViewMapOf(registry, *op.get(), i);
    if (!told.ok()) return transform::AtEquation(told.status(), f, eqn, "fuse");
    const std::optional<prim::ViewMap>& map = *told;
    if (!map || f.type(v).rank() == 0 || f.constant(v) != nullptr) return false;
    const auto before = known.find(v);
    if (before == known.end()) {
      out.push_back({v, *map});
    } else {
      for (const Moved& m : before->second) out.push_back({m.source, prim::Then(m.map, *map)});
    }
    if (out.size() > kMaxMoves) return false;
  }
  std::erase_if(out, [](const Moved& m) { return m.map.elements() == 0; });
  return true;
}

}  // namespace

absl::StatusOr<std::vector<Moves>> MovesOf(const ir::Program& f, std::span<const uint32_t> views) {
  base::HashMap<ir::ValueId, Moves> known;
  std::vector<Moves> out;
  for (uint32_t e : views) {
    const ir::Equation& eqn = f.equations[e];
    Moves moves;
    RICCI_ASSIGN(const bool followed, Follow(f, eqn, known, moves));
    if (!followed || eqn.n_results != 1) return std::vector<Moves>();
    known[eqn.result(0)] = moves;
    out.push_back(std::move(moves));
  }
  return out;
}

std::map<ir::ValueId, std::vector<prim::ViewMap>> BySource(const Moves& moves) {
  std::map<ir::ValueId, std::vector<prim::ViewMap>> out;
  for (const Moved& m : moves) out[m.source].push_back(m.map);
  return out;
}

bool AreStored(const ir::Program& f, const Moves& moves, int64_t elements) {
  for (const Moved& m : moves) {
    const auto last = static_cast<int64_t>(f.type(m.source).rank()) - 1;
    if (m.map.from.empty() || m.map.from.back() != last) return false;  // adjacent elements stay adjacent
    elements -= m.map.elements();
  }
  for (const auto& [v, maps] : BySource(moves)) {
    int64_t left = f.type(v).elements;
    if (maps.size() > kMaxMaps) return false;
    for (size_t i = 0; i < maps.size(); ++i) {
      left -= maps[i].elements();
      for (size_t j = 0; j < i; ++j) {
        if (prim::Overlap(maps[i], maps[j])) return false;
      }
    }
    if (left != 0) return false;
  }
  return elements == 0 && !moves.empty();
}

}}}  // namespace ricci::v0::pass
