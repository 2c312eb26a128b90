// merge_groups: kernels that run over the same rows become one, so that a row is read once and stays in the cache.
//
// Two groups merge if one reads what the other stores, or both read the same array, and all of it row by row: for one
// point of their common leading dimensions only the same point (softmax: a maximum, a sum, and what is between and
// after them). Their factors say so. With all dimensions in common (the moments and the update of Adam) the result is a
// plain loop with several results; otherwise rows are the domain, and values that are only used within a row are
// private.
//
// Where many points run at once, what follows a product element by element joins it too (bias, activation): the product
// is then never stored.
//
// Which rows, and whether that pays, is decided in row_choice.cc. One comparison checks that the order of groups stays
// legal, because every group has a position and reads only from groups before it: the merged group runs where its last
// part ran if nothing waits for the first, or where its first part ran if the last part waits for nothing else. Each
// group looks at a bounded number of others, each of bounded size, so the cost is linear.
//
// Then groups that hold only views, which move what one other group computes elsewhere (populations of a lattice
// that stream to their neighbours, the parts of a concatenation), become part of that group: each value is stored
// directly where it goes (view_moves).
#include "pass/program/merge_groups.h"

#include <algorithm>

#include "base/status.h"
#include "pass/kernel/view_moves.h"
#include "pass/program/row_choice.h"
#include "prim/registry.h"

namespace ricci { inline namespace v0 { namespace pass {
namespace {

constexpr uint32_t kNone = ~0u;
// These limits bound the time to compile.
constexpr size_t kMaxMembers = 192;
constexpr size_t kMaxRoots = 16;
constexpr size_t kMaxArrays = 32;     // read or written by one kernel
constexpr size_t kMaxCandidates = 6;  // groups that one group tries
constexpr size_t kMaxReaders = 32;    // of one value that are considered

class Merger {
 public:
  Merger(const ir::Program& f, const Options& options, const std::vector<Joins>& joins,
         const std::vector<int64_t>& costs, std::vector<Group>& groups)
      : f_(f),
        joins_(joins),
        rows_(f, options, joins, costs),
        groups_(groups),
        into_(groups.size()),
        producer_(f.values.size(), kNone),
        readers_(f.values.size()),
        inputs_(groups.size()) {}

  absl::Status Run() {
    for (uint32_t g = 0; g < groups_.size(); ++g) {
      into_[g] = g;
      if (!groups_[g].members.empty()) Index(g);
    }
    for (uint32_t g = 0; g < groups_.size(); ++g) {
      if (groups_[g].members.empty() || !MayMerge(g)) continue;
      for (uint32_t other : Candidates(g)) {
        const uint32_t a = Find(other), b = Find(g);
        if (a != b) RICCI_TRY(TryMerge(a, b));
      }
    }
    for (uint32_t g = 0; g < groups_.size(); ++g) {
      if (!groups_[g].members.empty()) RICCI_TRY(TryStoreThrough(g));
    }
    return absl::OkStatus();
  }

 private:
  uint32_t Find(uint32_t g) {
    while (into_[g] != g) g = into_[g] = into_[into_[g]];
    return g;
  }
  bool MayMerge(uint32_t g) const {
    return std::all_of(groups_[g].roots.begin(), groups_[g].roots.end(), [&](uint32_t root) {
      const ir::Equation& eqn = f_.equations[root];
      return joins_[root] != Joins::kNever && f_.type(eqn.result(0)).rank() > 0 && f_.type(eqn.result(0)).elements > 0;
    });
  }

  // Records what the group reads from outside, and the group as a reader of those values.
  void Index(uint32_t g) {
    for (uint32_t root : groups_[g].roots) {
      const ir::Equation& eqn = f_.equations[root];
      for (uint32_t i = 0; i < eqn.n_results; ++i) producer_[eqn.result(i)] = g;
    }
    inputs_[g] = InputsOf(groups_[g].members);
    for (ir::ValueId v : inputs_[g]) readers_[v].push_back(g);
  }
  std::vector<ir::ValueId> InputsOf(const std::vector<uint32_t>& members) const {
    std::vector<ir::ValueId> inputs;
    for (uint32_t m : members) {
      for (ir::ValueId v : f_.equations[m].operands) {
        if (f_.constant(v) != nullptr) continue;
        const bool inside = f_.values[v].kind == ir::ValueKind::kResult &&
                            std::binary_search(members.begin(), members.end(), f_.values[v].index);
        if (!inside) inputs.push_back(v);
      }
    }
    std::sort(inputs.begin(), inputs.end());
    inputs.erase(std::unique(inputs.begin(), inputs.end()), inputs.end());
    return inputs;
  }

  // Groups before `g` that it reads from, or that read what it reads; the nearest first.
  std::vector<uint32_t> Candidates(uint32_t g) {
    std::vector<uint32_t> out;
    const auto add = [&](uint32_t other) {
      other = Find(other);
      if (other != g && MayMerge(other) && std::find(out.begin(), out.end(), other) == out.end()) out.push_back(other);
    };
    for (ir::ValueId v : inputs_[g]) {
      if (producer_[v] != kNone) add(producer_[v]);
      const auto& readers = readers_[v];
      const auto end = std::lower_bound(readers.begin(), readers.end(), g);
      size_t n = 0;
      for (auto it = end; it != readers.begin() && n < kMaxReaders; ++n) add(*--it);
    }
    std::sort(out.begin(), out.end(),
              [&](uint32_t x, uint32_t y) { return groups_[x].position > groups_[y].position; });
    if (out.size() > kMaxCandidates) out.resize(kMaxCandidates);
    return out;
  }

  absl::Status TryMerge(uint32_t a, uint32_t b) {
    if (groups_[a].position > groups_[b].position) std::swap(a, b);
    const std::optional<uint32_t> position = PositionOf(a, b);
    if (!position) return absl::OkStatus();
    Group merged;
    std::set_union(groups_[a].members.begin(), groups_[a].members.end(), groups_[b].members.begin(),
                   groups_[b].members.end(), std::back_inserter(merged.members));
    merged.roots = groups_[a].roots;
    merged.roots.insert(merged.roots.end(), groups_[b].roots.begin(), groups_[b].roots.end());
    merged.position = *position;
    if (merged.members.size() > kMaxMembers || merged.roots.size() > kMaxRoots) return absl::OkStatus();
    RICCI_ASSIGN(const bool chosen, rows_.Choose(merged, Shared(a, b)));
    if (!chosen) return absl::OkStatus();
    std::vector<ir::ValueId> inputs = InputsOf(merged.members);
    if (inputs.size() + merged.roots.size() > kMaxArrays) return absl::OkStatus();
    groups_[b] = std::move(merged);
    inputs_[b] = std::move(inputs);
    groups_[a] = {};
    into_[a] = b;
    return absl::OkStatus();
  }

  // Where the union of `a` and, after it, `b` can run, if anywhere.
  std::optional<uint32_t> PositionOf(uint32_t a, uint32_t b) {
    const uint32_t first = groups_[a].position, last = groups_[b].position;
    bool late = true, early = true;
    for (uint32_t root : groups_[a].roots) {
      const ir::Equation& eqn = f_.equations[root];
      for (uint32_t i = 0; i < eqn.n_results && late; ++i) {
        for (uint32_t reader : readers_[eqn.result(i)]) {
          if (!late) break;
          const uint32_t r = Find(reader);
          late &= r == a || r == b || groups_[r].position > last;
        }
      }
    }
    if (late) return last;
    for (ir::ValueId v : inputs_[b]) {
      if (producer_[v] == kNone) continue;
      const uint32_t p = Find(producer_[v]);
      early &= p == a || groups_[p].position < first;
    }
    return early ? std::optional(first) : std::nullopt;
  }

  // Makes `g` part of the group that computes everything it reads, if `g` only moves that.
  absl::Status TryStoreThrough(uint32_t g) {
    if (inputs_[g].empty() || producer_[inputs_[g][0]] == kNone) return absl::OkStatus();
    const uint32_t from = Find(producer_[inputs_[g][0]]);
    const Group &moving = groups_[g], &computing = groups_[from];
    const size_t members = computing.members.size() + computing.views.size() + moving.members.size();
    const size_t arrays = inputs_[from].size() + computing.roots.size() + moving.roots.size();
    const bool together =
        from != g && MayMerge(from) && !rows_.HasProduct(computing) && members <= kMaxMembers && arrays <= kMaxArrays &&
        std::all_of(inputs_[g].begin(), inputs_[g].end(), [&](ir::ValueId v) {
          return producer_[v] != kNone && Find(producer_[v]) == from &&
                 std::binary_search(computing.members.begin(), computing.members.end(), f_.values[v].index);
        });
    if (!together) return absl::OkStatus();
    RICCI_ASSIGN(const bool moves, OnlyMoves(moving));
    if (!moves) return absl::OkStatus();
    RICCI_ASSIGN(const bool by_points, rows_.ByPoints(computing, inputs_[g]));
    if (!by_points) return absl::OkStatus();
    Group joined = std::move(groups_[from]);
    joined.roots.insert(joined.roots.end(), moving.roots.begin(), moving.roots.end());
    joined.views.insert(joined.views.end(), moving.members.begin(), moving.members.end());
    joined.n_rows = static_cast<uint32_t>(f_.type(inputs_[g][0]).rank());
    groups_[from] = std::move(joined);
    groups_[g] = {};
    into_[g] = from;
    return absl::OkStatus();
  }

  // Does the group only move values of another group, so that they could be stored where they go?
  absl::StatusOr<bool> OnlyMoves(const Group& g) const {
    const bool expressions = std::all_of(g.members.begin(), g.members.end(), [&](uint32_t m) {
      return joins_[m] == Joins::kExpression &&
             prim::Registry::Of(f_).Get(f_.equations[m].prim).def.view_map != nullptr;
    });
    if (!expressions) return false;
    RICCI_ASSIGN(const std::vector<Moves> moves, MovesOf(f_, g.members));
    if (moves.empty()) return false;
    for (uint32_t root : g.roots) {
      const auto at = std::find(g.members.begin(), g.members.end(), root) - g.members.begin();
      const int64_t elements = f_.type(f_.equations[root].result(0)).elements;
      if (!AreStored(f_, moves[static_cast<size_t>(at)], elements)) return false;
    }
    return true;
  }

  // Values that both read, or that one stores and the other reads: if the groups merge, these are read once less.
  std::vector<ir::ValueId> Shared(uint32_t a, uint32_t b) {
    std::vector<ir::ValueId> shared;
    std::set_intersection(inputs_[a].begin(), inputs_[a].end(), inputs_[b].begin(), inputs_[b].end(),
                          std::back_inserter(shared));
    for (ir::ValueId v : inputs_[b]) {
      if (producer_[v] != kNone && Find(producer_[v]) == a) shared.push_back(v);
    }
    return shared;
  }

  const ir::Program& f_;
  const std::vector<Joins>& joins_;
  RowChoice rows_;
  std::vector<Group>& groups_;
  std::vector<uint32_t> into_;                    // the group it was merged into
  std::vector<uint32_t> producer_;                // group that stores a value
  std::vector<std::vector<uint32_t>> readers_;    // groups that read a value; by number
  std::vector<std::vector<ir::ValueId>> inputs_;  // of a group
};

}  // namespace

absl::Status MergeGroups(const ir::Program& f, const Options& options, const std::vector<Joins>& joins,
                         const std::vector<int64_t>& costs, std::vector<Group>& groups) {
  return Merger(f, options, joins, costs, groups).Run();
}

}}}  // namespace ricci::v0::pass
