// fuse: groups equations into fusion equations; each becomes one kernel, in which producers are pulled into consumers.
//
// A group has one root: the equation whose results are stored. Walking backwards from the roots, a producer joins the
// group of its consumers if it is an expression (SCALAR or INDEX lowering) and computing it there costs nothing extra:
// it has one consumer group, or it is cheap enough to be computed again in each. Views of one array at several
// positions (a stencil, a shifted copy) compute what they read once per access, so that is bounded too (read_accesses).
// What a product reads many times is stored before it, but for views and, where many points run at once, factors that
// are cheaper computed there (factor_cost). LOOPS equations, library calls and all results of the program are roots.
// Then groups that run over the same rows are merged (merge_groups.cc).
//
// Where many points run at once, what a root only moves (the parts of a concatenation) is first taken to be stored by
// kernels of its own: if one kernel computes all of it, it stores each part where it goes, and no point asks which part
// it is in. Which kernels are merged shows at the end only, so roots for which it did not come so are grouped again,
// with what they move pulled in.
//
// Groups are formed three times at most. The last time keeps only the concatenations that one kernel had before.
#include <cmath>

#include "pass/cost/decision.h"
#include "pass/kernel/read_accesses.h"
#include "pass/program/equation_info.h"
#include "pass/program/fusion_writer.h"
#include "pass/program/pass.h"
#include "pass/program/product_readers.h"

namespace ricci { inline namespace v0 { namespace pass {
namespace {

constexpr uint32_t kMaxGroup = 512;  // equations in one kernel, which bounds code size and compile time
constexpr size_t kMaxRepeats = 4;    // kernels that compute the same expression

// Whether an expression is computed where it is read, or separately and stored, and why.
enum class Verdict : uint8_t { kComputed, kNeeded, kReadByKernels, kLargeKernel, kReadOften, kReadVariously, kMoved };

class Fuser {
 public:
  // `pulled`: by equation, a root that computes what it moves.
  Fuser(const ir::Program& f, const Options& options, const EquationInfos& infos, const std::vector<uint8_t>& pulled)
      : f_(f),
        options_(options),
        pulled_(pulled),
        limits_(options.target.limits),
        registry_(prim::Registry::Of(f)),
        info_(infos.of),
        users_(infos.users),
        products_(f, options, users_, info_),
        accesses_(f) {}

  // Decides which equations are kernels of their own, and merges these.
  absl::Status GroupAll() {
    // Backwards, so that the groups of consumers are known before their producers are assigned.
    members_.resize(f_.equations.size());
    for (uint32_t e = static_cast<uint32_t>(f_.equations.size()); e-- > 0;) Assign(e);
    return Merge();
  }

  const Grouping& grouping() const { return grouping_; }

  // Roots that move what was stored for them, by whether another kernel has joined them, which stores the parts in
  //  where they go.
  struct Moving {
    std::vector<uint32_t> alone, joined;
  };
  Moving MovingRoots() const {
    std::vector<uint8_t> joined(f_.equations.size());
    for (const Group& g : grouping_.groups) {
      for (const uint32_t view : g.views) joined[view] = 1;
    }
    Moving out;
    for (uint32_t e = 0; e < joined.size(); ++e) {
      if (info_[e].moves) (joined[e] == 0 ? out.alone : out.joined).push_back(e);
    }
    return out;
  }

 private:
  // Decides where equation e goes: into the groups of all its users, or into a group of its own.
  void Assign(uint32_t e) {
    EquationInfo& info = info_[e];
    const ir::Equation& eqn = f_.equations[e];
    std::vector<uint32_t> groups;  // of the users; kNoGroup among them: the value must be stored
    for (uint32_t i = 0; i < eqn.n_results; ++i) {
      for (uint32_t user : users_[eqn.result(i)]) {
        if (user == kNoGroup) {
          groups.push_back(kNoGroup);
        } else {
          groups.insert(groups.end(), grouping_.joined[user].begin(), grouping_.joined[user].end());
          if (info_[user].kind == EquationKind::kCall && !info_[user].dead) groups.push_back(kNoGroup);
        }
      }
    }
    std::sort(groups.begin(), groups.end());
    groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
    info.dead = groups.empty() && !registry_.HasEffect(eqn);
    grouping_.joined.try_emplace(e);
    if (info.dead) return;
    Accesses accesses;
    const Verdict verdict = Judge(e, groups, accesses);
    Explain(e, verdict, groups.size(), accesses.size());
    const bool elementwise = info.kind == EquationKind::kExpression && !info.view;
    if (verdict != Verdict::kComputed) {
      accesses_.SetStored(e, elementwise);
      info.spread = 1;
      members_[e].push_back(e);
      grouping_.joined[e] = {e};
      return;
    }
    for (uint32_t g : groups) {
      members_[g].push_back(e);
      info_[g].cost += info.cost;
    }
    accesses_.SetComputed(e, elementwise, std::move(accesses));
    grouping_.joined[e] = groups;
  }

  // May e be computed in these groups, where its users read it? `accesses`: where that is, if nothing else is against
  // it.
  Verdict Judge(uint32_t e, const std::vector<uint32_t>& groups, Accesses& accesses) {
    EquationInfo& info = info_[e];
    const ir::Equation& eqn = f_.equations[e];
    if (info.kind != EquationKind::kExpression || groups.empty() || groups.back() == kNoGroup) return Verdict::kNeeded;
    const bool may_repeat = info.view || info.cost <= limits_.cheap_to_repeat;
    if (groups.size() > 1 && (!may_repeat || groups.size() > kMaxRepeats)) return Verdict::kReadByKernels;
    for (uint32_t g : groups) {
      if (members_[g].size() >= kMaxGroup) return Verdict::kLargeKernel;
    }
    info.spread = SpreadOf(eqn.result(0));
    const bool often = IsReadOften(eqn.result(0));
    if (often) products_.Find(e);
    if (often && (info.view ? JoinsArrays(f_, eqn) : !products_.IsFactor(e, groups))) return Verdict::kReadOften;
    if (!info.view && RepeatsWork(e)) return Verdict::kReadOften;
    accesses = accesses_.Of(eqn.result(0));
    if (!MayRepeatAt(accesses.size(), info.view, info.cost, limits_.cheap_to_repeat)) return Verdict::kReadVariously;
    if (!info.view && !eqn.operands.empty() && IsOnlyMoved(groups)) {
      info_[groups[0]].moves = true;
      return Verdict::kMoved;
    }
    info.often = often;
    for (uint32_t g : groups) info_[g].factor_operations += often && !info.view ? info.own : 0;
    return Verdict::kComputed;
  }

  // Does the only reader put it next to other arrays, and compute nothing?
  bool IsOnlyMoved(const std::vector<uint32_t>& groups) const {
    const uint32_t g = groups[0];
    if (!RunsMany(options_) || groups.size() != 1 || pulled_[g] != 0 || !JoinsArrays(f_, f_.equations[g])) return false;
    return std::all_of(members_[g].begin(), members_[g].end(), [&](uint32_t m) { return info_[m].view; });
  }

  // Is an element of v loaded many times by one of its users (a product, a window), or through views of it?
  bool IsReadOften(ir::ValueId v) const {
    return std::any_of(users_[v].begin(), users_[v].end(), [&](uint32_t user) {
      if (user == kNoGroup) return false;
      const bool expression = info_[user].kind == EquationKind::kExpression;
      return info_[user].often || (!expression && !registry_.Get(f_.equations[user].prim).has(RICCI_PRIM_READS_ONCE));
    });
  }
  // Explains only choices that could have been different.
  void Explain(uint32_t e, Verdict verdict, size_t n_groups, size_t n_accesses) const {
    const EquationInfo& info = info_[e];
    const bool again = verdict == Verdict::kComputed && n_groups > 1 && !info.view;
    const bool factor = verdict == Verdict::kComputed && info.often && !info.view;
    if (options_.decisions == nullptr || verdict == Verdict::kNeeded ||
        (verdict == Verdict::kComputed && !again && !factor))
      return;
    const std::string expensive = base::Cat(", and it takes ", base::Count(info.cost, "operation"), " (up to ",
                                            limits_.cheap_to_repeat, " would be computed again)");
    const auto text = [&]() -> std::string {
      switch (verdict) {
        case Verdict::kReadByKernels:
          return base::Cat("computed once: ", n_groups, " loops read it", expensive);
        case Verdict::kLargeKernel:
          return base::Cat("computed once: its reader has ", kMaxGroup, " operations");
        case Verdict::kReadOften:
          return "computed once: its reader reads each element many times";
        case Verdict::kMoved:
          return "computed once: it is stored where its reader would move it";
        case Verdict::kReadVariously:
          return base::Cat("computed once: it is read at ", n_accesses, " places", expensive);
        default:
          if (!factor) {
            return base::Cat("computed in ", n_groups, " loops: it takes ", base::Count(info.cost, "operation"));
          }
          return base::Cat("computed by the product that reads it, ", base::Count(std::llround(info.times), "time"),
                           " an element: it takes ", base::Count(info.cost, "operation"));
      }
    };
    options_.decisions->push_back(base::Cat(TitleOf(f_, f_.equations[e]), text(), "\n"));
  }

  double SpreadOf(ir::ValueId v) const {
    double spread = 1;
    for (uint32_t user : users_[v]) {
      if (info_[user].kind != EquationKind::kExpression) continue;
      const auto points = static_cast<double>(f_.type(f_.equations[user].result(0)).elements);
      spread = std::max(spread,
                        info_[user].spread * points / static_cast<double>(std::max<int64_t>(f_.type(v).elements, 1)));
    }
    return spread;
  }

  // What an element of e costs with all expressions that it reads, as far as that can matter.
  int64_t WorkOf(uint32_t e) const {
    int64_t work = 0;
    std::vector<uint32_t> all = {e};
    for (size_t i = 0; i < all.size() && work <= limits_.cheap_to_repeat; ++i) {
      if (!info_[all[i]].view) work += info_[all[i]].own;
      for (ir::ValueId v : f_.equations[all[i]].operands) {
        if (f_.values[v].kind != ir::ValueKind::kResult) continue;
        const uint32_t from = f_.values[v].index;
        const bool known = std::find(all.begin(), all.end(), from) != all.end();
        if (info_[from].kind == EquationKind::kExpression && !known) all.push_back(from);
      }
    }
    return work;
  }

  // Would a user with more elements than e (a broadcast that computes) evaluate it many times?
  bool RepeatsWork(uint32_t e) const {
    const ir::Equation& eqn = f_.equations[e];
    const int64_t n = f_.type(eqn.result(0)).elements;
    if (const double again = (info_[e].spread - 1) * static_cast<double>(n); again > 0) {
      const int64_t work = WorkOf(e);
      if (work > limits_.cheap_to_repeat &&
          again * static_cast<double>(work) > static_cast<double>(limits_.worth_a_kernel))
        return true;
    }
    if (info_[e].cost <= 2) return false;
    return std::any_of(users_[eqn.result(0)].begin(), users_[eqn.result(0)].end(), [&](uint32_t user) {
      return info_[user].kind == EquationKind::kExpression && f_.type(f_.equations[user].result(0)).elements > n;
    });
  }

  absl::Status Merge() {
    auto& [joins, groups, joined] = grouping_;
    joins.assign(f_.equations.size(), Joins::kNever);
    std::vector<int64_t> costs(f_.equations.size());
    groups.resize(f_.equations.size());
    for (uint32_t e = 0; e < f_.equations.size(); ++e) {
      const prim::Row& row = registry_.Get(f_.equations[e].prim);
      costs[e] = info_[e].own;
      if (info_[e].kind == EquationKind::kExpression) joins[e] = Joins::kExpression;
      if (info_[e].kind == EquationKind::kLoops) joins[e] = JoinsOf(row, options_);
      if (members_[e].empty()) continue;
      std::sort(members_[e].begin(), members_[e].end());
      groups[e] = {{e}, std::move(members_[e]), e, 0};
    }
    RICCI_TRY(MergeGroups(f_, options_, joins, costs, groups));
    MergeScalars(f_, joins, groups);
    return absl::OkStatus();
  }

  const ir::Program& f_;
  const Options& options_;
  const std::vector<uint8_t>& pulled_;
  const Limits& limits_;
  prim::Registry& registry_;
  std::vector<EquationInfo> info_;
  const std::vector<std::vector<uint32_t>>& users_;  // equations that read a value
  ProductReaders products_;
  ReadAccesses accesses_;
  std::vector<std::vector<uint32_t>> members_;  // of the group with this root
  Grouping grouping_;                           // its groups are those members, after merging
};

}  // namespace

// The last try pulls in all that it moves but for what was joined in the one before.
absl::StatusOr<ir::ProgramRef> Fuse(const ir::Program& f, const Options& options) {
  constexpr int kTries = 3;
  RICCI_ASSIGN(const EquationInfos infos, InfosOf(f, options));
  std::vector<uint8_t> pulled(f.equations.size());
  for (int tries = kTries;; --tries) {
    std::vector<std::string> decisions;
    Options own = options;
    if (options.decisions != nullptr) own.decisions = &decisions;
    Fuser fuser(f, own, infos, pulled);
    RICCI_TRY(fuser.GroupAll());
    const Fuser::Moving moving = fuser.MovingRoots();
    if (moving.alone.empty() || tries == 1) {
      RICCI_ASSIGN(ir::ProgramRef out, WriteFusions(f, own, infos.users, fuser.grouping()));
      if (options.decisions != nullptr) {
        options.decisions->insert(options.decisions->end(), decisions.begin(), decisions.end());
      }
      return out;
    }
    if (tries == 2) {
      std::fill(pulled.begin(), pulled.end(), uint8_t{1});
      for (const uint32_t root : moving.joined) pulled[root] = 0;
    }
    for (const uint32_t root : moving.alone) pulled[root] = 1;
  }
}

}}}  // namespace ricci::v0::pass
