// schedule_vmap: decides for each vmap equation how it runs.
//
// batched: the batching rules turn the body into operations on whole batches, several kernels and library calls.
// lanes: the equation stays and becomes one kernel whose points are the elements of the batch; everything stays in
//   registers or private memory, and each element takes its own branches and trip counts.
// A body with an effect is batched, and before any other pass (BatchEffects): what is the same for all elements is done
// once, and no simplification may change how often that is.
// On the reference device it is lanes wherever that is possible. Elsewhere, if both are possible, both are lowered to a
// plan and the backend estimates what each costs; maps within the body are decided together with it. Lowering costs a
// small part of code generation.
//
// Sometimes only one way is possible: of a check in a branch, or a primitive without a lowering in kernels. Then the
// choice is fixed, and a hint for the other is an error. How good the choices are: tests/bench/SCHEDULES.md.
#include "absl/strings/str_format.h"
#include "control/parts.h"
#include "ir/structural.h"
#include "pass/cost/body_cost.h"
#include "pass/cost/decision.h"
#include "pass/program/pass.h"
#include "pass/target/choose_lowering.h"
#include "trace/attrs.h"
#include "transform/rules.h"

namespace ricci { inline namespace v0 { namespace pass {
namespace {

using transform::Schedule;

constexpr int32_t kMostLevels = 6;  // of nested maps that are worth lowering in all ways
// Estimates that differ by less count as equal: then the way with less code is chosen.
constexpr double kEqual = 1.1;

// A way to run an equation: a program with only this equation.
struct Way {
  ir::ProgramRef program;
  std::vector<std::string> decisions;  // made within it
  const char* name = "";
  absl::StatusOr<Estimate> estimate = Estimate{};

  double cycles() const { return estimate.ok() ? estimate->cycles : std::numeric_limits<double>::infinity(); }
  double code() const { return estimate.ok() ? estimate->code : std::numeric_limits<double>::infinity(); }
};

class Scheduler {
 public:
  // `inner`: what becomes of the vmap equations in an expanded one.
  using Inner = absl::StatusOr<ir::ProgramRef>(const ir::Program&, const Options&);
  Scheduler(const ir::Program& f, const ir::Equation& eqn, const Options& options, Inner& inner)
      : f_(f), eqn_(eqn), registry_(prim::Registry::Of(f)), options_(options), inner_(inner), op_(f, eqn) {}

  absl::StatusOr<Vals> Run(Builder& b, std::span<const trace::Val> in) {
    const control::VmapParts parts(eqn_.attrs);
    RICCI_ASSIGN(const BodyCost cost, Measure(*parts.body, options_));
    const Schedule asked = parts.schedule;
    if (!cost.kernel_possible) {
      if (asked == Schedule::kLanes)
        return Refuse(asked, base::Cat(cost.no_kernel, " in its body cannot run within a kernel"));
      return Take(b, in, Batched(cost.guards_failure ? cost.no_kernel : ""),
                  base::Cat("batched, since no kernel can hold ", cost.no_kernel));
    }
    if (options_.reference) return Take(b, in, Lanes(Schedule::kLanes), "");  // nothing was decided
    // Batched, all branches run on all elements, and an element could fail in a branch that it does not take.
    if (cost.guards_failure) {
      if (asked == Schedule::kBatched)
        return Refuse(asked, "a check in a branch would fail for elements that do not take it");
      return Take(b, in, Lanes(options_.vmap), "lanes, since a branch holds a check");
    }
    if (asked != Schedule::kAuto) {
      return asked == Schedule::kLanes ? Take(b, in, Lanes(Schedule::kLanes), "lanes, as its vmap says")
                                       : Take(b, in, Batched(), "batched, as its vmap says");
    }
    if (options_.vmap == Schedule::kBatched) return Take(b, in, Batched(), "batched, by the option vmap");
    if (options_.vmap == Schedule::kLanes) return Take(b, in, Lanes(Schedule::kLanes), "lanes, by the option vmap");
    if (!options_.estimate || cost.map_levels > kMostLevels) {
      // In lanes if the values of one element are small and it gains by it: with a loop or a branch, or a product of
      // few elements.
      const Limits& limits = options_.target.limits;
      const bool small = cost.largest <= limits.lane_elements && cost.total <= limits.lane_total;
      if (small && (cost.control || (cost.product && cost.largest <= limits.body_product)))
        return Take(b, in, Lanes(Schedule::kAuto), "lanes, by the sizes of its arrays");
      return Take(b, in, Batched(), "batched, by the sizes of its arrays");
    }
    return TakeCheaper(b, in, cost);
  }

 private:
  absl::Status Refuse(Schedule asked, std::string_view why) const {
    const absl::Status status = base::InvalidArgument("schedule `", NameOf(asked), "` is not possible: ", why);
    return transform::AtEquation(status, f_, eqn_, "compile");
  }

  // The equation itself, with the maps in it run by `inner`.
  absl::StatusOr<Way> Lanes(Schedule inner) {
    Way way;
    Options options = options_;
    options.vmap = inner;
    options.decisions = &way.decisions;
    RICCI_ASSIGN(auto b, Builder::Create(registry_, f_.name, {op_->in_types, op_->n_in}));
    auto nested = [&](const ir::Program& q) { return ScheduleVmap(q, options); };
    RICCI_ASSIGN(Vals out, CopyWithNested(*b, f_, eqn_, b->params(), nested));
    RICCI_ASSIGN(way.program, b->Finish(out));
    return way;
  }

  // `guarded`: what no kernel can hold, if there is a check in a branch too.
  absl::StatusOr<Way> Batched(std::string_view guarded = {}) {
    Way way;
    Options options = options_;
    options.decisions = &way.decisions;
    RICCI_ASSIGN(const ir::ProgramRef body, Expanded(*op_.get()));
    RICCI_ASSIGN(const bool is_stuck, !guarded.empty() ? HoldsStuck(*body) : false);
    if (is_stuck) {
      return transform::AtEquation(
          absl::UnimplementedError(base::Cat("its body holds a check in a branch, so it can only run in lanes, and ",
                                             guarded, ", which cannot run within a kernel")),
          f_, eqn_, "vmap");
    }
    RICCI_ASSIGN(way.program, inner_(*body, options));
    return way;
  }
  // A vmap as operations on the whole batch.
  absl::StatusOr<ir::ProgramRef> Expanded(const ricci_op& op) const {
    RICCI_ASSIGN(const ricci_lowering* l,
                 ChooseLowering(registry_.Get(op.prim), op, options_.target, 1u << RICCI_LOWER_DECOMPOSE));
    auto body = transform::Decompose(registry_, op, *l, 0);
    return body.ok() ? body : transform::AtEquation(body.status(), f_, eqn_, "vmap");
  }
  // Batching returns an operation as a vmap of it alone if each element must run it by itself, so that none fails in a
  // branch that it does not take. If no kernel can hold it either, no expansion of it, or of a vmap around it, ends.
  absl::StatusOr<bool> HoldsStuck(const ir::Program& p) const {
    for (const ir::Equation& e : p.equations) {
      if (registry_.Get(e.prim).flow != prim::Flow::kVmap) continue;
      const ir::Program& body = *control::VmapParts(e.attrs).body;
      RICCI_ASSIGN(const BodyCost cost, Measure(body, options_));
      if (cost.kernel_possible || !cost.guards_failure) continue;
      RICCI_ASSIGN(const ir::ProgramRef expanded, Expanded(*trace::Op(p, e).get()));
      if (HoldsVmapOf(*expanded, body)) return true;
      RICCI_ASSIGN(const bool within, HoldsStuck(body));
      if (within) return true;
    }
    return false;
  }
  bool HoldsVmapOf(const ir::Program& p, const ir::Program& body) const {
    return std::any_of(p.equations.begin(), p.equations.end(), [&](const ir::Equation& e) {
      return registry_.Get(e.prim).flow == prim::Flow::kVmap && ir::Equal(*control::VmapParts(e.attrs).body, body);
    });
  }

  absl::StatusOr<Vals> TakeCheaper(Builder& b, std::span<const trace::Val> in, const BodyCost& cost) {
    std::vector<Way> ways;
    const auto consider = [&](const char* name, absl::StatusOr<Way> way) {
      Way& considered = ways.emplace_back();
      if (way.ok()) considered = *std::move(way);
      considered.name = name;
      considered.estimate = way.ok() ? EstimateScheduled(*considered.program, options_, "schedule_vmap") : way.status();
    };
    consider("batched", Batched());
    consider("lanes", Lanes(Schedule::kLanes));
    if (cost.map_levels > 0) consider("lanes, batched within", Lanes(Schedule::kBatched));
    const Way* best = ways.data();
    for (const Way& way : ways) {
      const bool faster = way.cycles() * kEqual < best->cycles();
      const bool equal = way.cycles() <= best->cycles() * kEqual;
      if (faster || (equal && way.code() < best->code())) best = &way;
    }
    RICCI_TRY(best->estimate.status());  // the status of the first, if none is possible
    std::string reason = best->name;
    for (const Way& way : ways) reason += TextOf(way.name, way.estimate);
    return Take(b, in, *best, reason);
  }

  absl::StatusOr<Vals> Take(Builder& b, std::span<const trace::Val> in, absl::StatusOr<Way> way,
                            std::string_view reason) {
    if (!way.ok()) return way.status();
    if (options_.decisions != nullptr && !reason.empty()) {
      std::vector<std::string>& notes = *options_.decisions;
      notes.push_back(Title() + std::string(reason) + "\n");
      notes.insert(notes.end(), way->decisions.begin(), way->decisions.end());
    }
    b.SetLocation(eqn_.location);
    return b.Inline(*way->program, in);
  }

  // `vmap of 16 (f32[16,3], f32[3]) at file:line: `
  std::string Title() const {
    std::string title = absl::StrFormat(" of %d (", control::VmapParts(eqn_.attrs).size);
    for (uint32_t i = 0; i < op_->n_in; ++i) {
      absl::StrAppend(&title, i == 0 ? "" : ", ", ToText(f_.type(eqn_.operands[i])));
    }
    return TitleOf(f_, eqn_, title + ")");
  }

  const ir::Program& f_;
  const ir::Equation& eqn_;
  prim::Registry& registry_;
  const Options& options_;
  Inner& inner_;
  const trace::Op op_;
};

}  // namespace

absl::StatusOr<ir::ProgramRef> BatchEffects(const ir::Program& f, const Options& options) {
  if (!f.effectful) return ir::ProgramRef(&f);
  return Rebuild(f,
                 [&](Builder& b, const ir::Program& p, const ir::Equation& eqn,
                     std::span<const trace::Val> in) -> absl::StatusOr<Vals> {
                   const bool is_vmap = b.registry().Get(eqn.prim).flow == prim::Flow::kVmap;
                   if (is_vmap && b.registry().HasEffect(eqn))
                     return Scheduler(p, eqn, options, BatchEffects).Run(b, in);
                   auto nested = [&](const ir::Program& q) { return BatchEffects(q, options); };
                   return CopyWithNested(b, p, eqn, in, nested);
                 });
}

absl::StatusOr<ir::ProgramRef> ScheduleVmap(const ir::Program& f, const Options& options) {
  return Rebuild(f,
                 [&](Builder& b, const ir::Program& p, const ir::Equation& eqn,
                     std::span<const trace::Val> in) -> absl::StatusOr<Vals> {
                   if (b.registry().Get(eqn.prim).flow == prim::Flow::kVmap)
                     return Scheduler(p, eqn, options, ScheduleVmap).Run(b, in);
                   auto nested = [&](const ir::Program& q) { return ScheduleVmap(q, options); };
                   return CopyWithNested(b, p, eqn, in, nested);
                 });
}

}}}  // namespace ricci::v0::pass
