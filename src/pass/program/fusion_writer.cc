#include "pass/program/fusion_writer.h"

#include "pass/cost/body_cost.h"
#include "pass/program/equation_info.h"
#include "pass/program/pass.h"
#include "trace/attrs.h"
#include "trace/rewriter.h"
#include "transform/rules.h"

namespace ricci { inline namespace v0 { namespace pass {
namespace {

class FusionWriter {
 public:
  FusionWriter(const ir::Program& f, const Options& options, const std::vector<std::vector<uint32_t>>& users,
               const Grouping& grouping)
      : f_(f),
        options_(options),
        registry_(prim::Registry::Of(f)),
        users_(users),
        grouping_(grouping),
        group_of_(f.equations.size(), kNoGroup),
        group_at_(f.equations.size(), kNoGroup) {
    for (uint32_t g = 0; g < grouping.groups.size(); ++g) {
      for (uint32_t root : grouping.groups[g].roots) group_of_[root] = g;
      if (!grouping.groups[g].members.empty()) group_at_[grouping.groups[g].position] = g;
    }
  }

  absl::StatusOr<ir::ProgramRef> Write() {
    RICCI_ASSIGN(auto b, Builder::Create(registry_, f_.name, {f_.param_types.data(), f_.param_types.size()}));
    trace::Rewriter values(f_, *b);
    values.SetParams(b->params());
    RICCI_TRY(values.AddConstants());
    for (uint32_t g : group_at_) {
      if (g == kNoGroup) continue;
      if (grouping_.groups[g].members.size() == 1 && grouping_.groups[g].views.empty()) {
        RICCI_TRY(EmitAlone(values, f_.equations[grouping_.groups[g].members[0]]));
      } else {
        RICCI_TRY(EmitGroup(values, g));
      }
    }
    return b->Finish(values.Results());
  }

 private:
  // The results of a group's roots that something outside the group reads; for a group with one root, all.
  std::vector<ir::ValueId> Stored(uint32_t g) const {
    std::vector<ir::ValueId> stored;
    for (uint32_t root : grouping_.groups[g].roots) {
      const ir::Equation& eqn = f_.equations[root];
      for (uint32_t i = 0; i < eqn.n_results; ++i) {
        const ir::ValueId v = eqn.result(i);
        bool outside = grouping_.groups[g].roots.size() == 1;
        for (uint32_t user : users_[v]) {
          if (outside || user == kNoGroup) {
            outside = true;
            continue;
          }
          for (uint32_t joined : grouping_.joined.at(user)) outside |= group_of_[joined] != g;
        }
        if (outside) stored.push_back(v);
      }
    }
    return stored;
  }

  absl::Status EmitAlone(trace::Rewriter& values, const ir::Equation& eqn) {
    const Vals in = values[eqn.operands];
    if (registry_.Get(eqn.prim).has(RICCI_PRIM_BARRIER)) {
      // Everything has its place in the order of the plan by now: the values themselves are left.
      values.SetResults(eqn, in);
      return absl::OkStatus();
    }
    RICCI_ASSIGN(bool in_plan, RunsInPlan(f_, eqn, options_));
    if (!in_plan) return values.Copy(eqn);
    auto fuse_body = [&](const ir::Program& q) { return Fuse(q, options_); };
    RICCI_ASSIGN(const Vals out, CopyWithNested(values.to(), f_, eqn, in, fuse_body));
    values.SetResults(eqn, out);
    return absl::OkStatus();
  }

  // A program of these equations over the values that come from outside, which are listed in `outside`.
  absl::StatusOr<ir::ProgramRef> BodyOf(Builder& b, std::string_view name, const std::vector<uint32_t>& equations,
                                        const std::vector<ir::ValueId>& wanted, std::vector<ir::ValueId>& outside) {
    RICCI_ASSIGN(auto body, b.Nest(name, {}));
    base::HashMap<ir::ValueId, trace::Val> inner;
    const auto value = [&](ir::ValueId v) -> absl::StatusOr<trace::Val> {
      auto [it, fresh] = inner.try_emplace(v, trace::kNone);
      if (!fresh) return it->second;
      if (const ir::Constant* c = f_.constant(v)) {
        RICCI_ASSIGN(it->second, body->Constant(f_.type_id(v), c->splat, c->data));
      } else {
        RICCI_ASSIGN(it->second, body->AddParam(f_.type_id(v)));
        outside.push_back(v);
      }
      return it->second;
    };
    for (uint32_t e : equations) {
      const ir::Equation& eqn = f_.equations[e];
      Vals in;
      for (ir::ValueId v : eqn.operands) {
        RICCI_ASSIGN(in.emplace_back(), value(v));
      }
      RICCI_ASSIGN(Vals out, body->Copy(f_, eqn, in));
      for (uint32_t i = 0; i < eqn.n_results; ++i) inner[eqn.result(i)] = out[i];
    }
    Vals results;
    for (ir::ValueId v : wanted) {
      RICCI_ASSIGN(results.emplace_back(), value(v));
    }
    return body->Finish(results);
  }

  // The fusion equation of group `g`: its members in program order, followed by views of their results.
  absl::Status EmitGroup(trace::Rewriter& values, uint32_t g) {
    Builder& b = values.to();
    const Group& group = grouping_.groups[g];
    const std::vector<ir::ValueId> stored = Stored(g);
    std::vector<ir::ValueId> computed = stored, outside;
    ir::ProgramRef views;
    if (!group.views.empty()) {
      computed.clear();
      RICCI_ASSIGN(views, BodyOf(b, "views", group.views, stored, computed));
    }
    const std::string name = FusionName(f_, grouping_.joins, group.members);
    RICCI_ASSIGN(const ir::ProgramRef body, BodyOf(b, name, group.members, computed, outside));
    ricci_program *body_handle = nullptr, *views_handle = nullptr;
    std::vector<ricci_attr> attrs = {trace::ProgramAttr("body", *body, body_handle)};
    if (group.n_rows != 0) attrs.push_back(trace::IntAttr("rows", group.n_rows));
    if (views) attrs.push_back(trace::ProgramAttr("views", *views, views_handle));
    b.SetLocation(f_.equations[group.roots.back()].location);
    RICCI_ASSIGN(Vals out, b.Emit("fusion", attrs, values[outside]));
    for (size_t i = 0; i < stored.size(); ++i) values[stored[i]] = out[i];
    return absl::OkStatus();
  }

  const ir::Program& f_;
  const Options& options_;
  prim::Registry& registry_;
  const std::vector<std::vector<uint32_t>>& users_;
  const Grouping& grouping_;
  std::vector<uint32_t> group_of_, group_at_;  // the group of a root; the group that runs at a position
};

}  // namespace

absl::StatusOr<ir::ProgramRef> WriteFusions(const ir::Program& f, const Options& options,
                                            const std::vector<std::vector<uint32_t>>& users, const Grouping& grouping) {
  return FusionWriter(f, options, users, grouping).Write();
}

}}}  // namespace ricci::v0::pass
