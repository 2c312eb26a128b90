// merge_scalars: scalar expressions that nothing keeps apart become one kernel.
//
// A small simulation is thousands of scalar equations with many results. A kernel for each result would spend its time
// in calls, loads and stores, so groups whose results are all scalars are gathered in program order: a group joins an
// earlier one if that can still run at the later position (nothing in between waits for it), or if everything that the
// later one reads is there already. No other kernel moves, so arrays live no longer than before. What two results need
// is computed once. Groups are bounded, because code generation of one function is not linear in its length.
#include <algorithm>

#include "pass/program/merge_groups.h"

namespace ricci { inline namespace v0 { namespace pass {
namespace {

constexpr uint32_t kNone = ~0u;
constexpr size_t kMaxScalars = 1024;  // equations in one kernel
constexpr size_t kMaxOpen = 4;        // groups that one group tries, the last first

class Gatherer {
 public:
  Gatherer(const ir::Program& f, const std::vector<Joins>& joins, std::vector<Group>& groups)
      : f_(f), joins_(joins), groups_(groups), at_(f.equations.size(), kNone), in_(at_), sealed_(groups.size(), 0) {}

  void Run() {
    std::vector<uint32_t> order(f_.equations.size(), kNone);
    for (uint32_t g = 0; g < groups_.size(); ++g) {
      if (groups_[g].members.empty()) continue;
      order[groups_[g].position] = g;
      for (uint32_t root : groups_[g].roots) at_[root] = g;
    }
    for (uint32_t g : order) {
      if (g != kNone) Visit(g);
    }
    for (Group& g : groups_) {
      std::sort(g.members.begin(), g.members.end());
      g.members.erase(std::unique(g.members.begin(), g.members.end()), g.members.end());
    }
  }

 private:
  bool IsScalar(const Group& g) const {
    return g.n_rows == 0 && std::all_of(g.roots.begin(), g.roots.end(), [&](uint32_t root) {
             const ir::Equation& eqn = f_.equations[root];
             return joins_[root] == Joins::kExpression && f_.type(eqn.result(0)).rank() == 0;
           });
  }

  // The groups that store what `g` reads. `g.members` are still in program order.
  std::vector<uint32_t> Producers(const Group& g) const {
    std::vector<uint32_t> producers;
    for (uint32_t m : g.members) {
      for (ir::ValueId v : f_.equations[m].operands) {
        if (f_.values[v].kind != ir::ValueKind::kResult) continue;
        const uint32_t e = f_.values[v].index;
        if (!std::binary_search(g.members.begin(), g.members.end(), e)) producers.push_back(at_[e]);
      }
    }
    std::sort(producers.begin(), producers.end());
    producers.erase(std::unique(producers.begin(), producers.end()), producers.end());
    return producers;
  }

  void Visit(uint32_t g) {
    const std::vector<uint32_t> producers = Producers(groups_[g]);
    const bool scalar = IsScalar(groups_[g]);
    const uint32_t into = scalar ? Choose(g, producers) : kNone;
    for (uint32_t p : producers) sealed_[p] |= p != into;
    if (into != kNone) return Join(g, into);
    if (!scalar) return;
    open_.insert(open_.begin(), g);
    for (uint32_t m : groups_[g].members) in_[m] = g;
    if (open_.size() > kMaxOpen) open_.pop_back();
  }

  uint32_t Choose(uint32_t g, const std::vector<uint32_t>& producers) const {
    for (uint32_t o : open_) {
      if (groups_[o].members.size() + NewMembers(g, o).size() > kMaxScalars) continue;
      const bool early = std::all_of(producers.begin(), producers.end(),
                                     [&](uint32_t p) { return p == o || groups_[p].position < groups_[o].position; });
      if (early || !sealed_[o]) return o;
    }
    return kNone;
  }

  // Members of `g` that `into` does not have, as far as is known: cheap expressions are in several groups.
  std::vector<uint32_t> NewMembers(uint32_t g, uint32_t into) const {
    std::vector<uint32_t> fresh;
    for (uint32_t m : groups_[g].members) {
      if (in_[m] != into) fresh.push_back(m);
    }
    return fresh;
  }

  void Join(uint32_t g, uint32_t into) {
    Group &from = groups_[g], &to = groups_[into];
    if (!sealed_[into]) to.position = from.position;
    to.roots.insert(to.roots.end(), from.roots.begin(), from.roots.end());
    for (uint32_t m : NewMembers(g, into)) {
      to.members.push_back(m);
      in_[m] = into;
    }
    for (uint32_t root : from.roots) at_[root] = into;
    from = {};
  }

  const ir::Program& f_;
  const std::vector<Joins>& joins_;
  std::vector<Group>& groups_;
  std::vector<uint32_t> at_;     // the group that stores the results of an equation
  std::vector<uint32_t> in_;     // the open group into which an equation was put last
  std::vector<uint32_t> open_;   // scalar groups that others may join, the last first
  std::vector<uint8_t> sealed_;  // something waits for the group: it stays where it is
};

}  // namespace

void MergeScalars(const ir::Program& f, const std::vector<Joins>& joins, std::vector<Group>& groups) {
  Gatherer(f, joins, groups).Run();
}

}}}  // namespace ricci::v0::pass
