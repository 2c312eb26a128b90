// The pipeline: what happens to a program between the host and the backend, in order. Read this file first.
//
// There are two tables: stages from program to program, and stages of the plan. Each is a function in the file of its
// name. After each stage its result is checked (stage_checks.h), in release builds too, and can be dumped. The
// reference device runs only the stages that every plan needs: each equation is lowered by itself. There a vmap stays a
// loop, unless no kernel can hold its body.
#include "pass/pipeline.h"

#include <chrono>

#include "absl/strings/str_split.h"
#include "base/foreign_call.h"
#include "ir/print.h"
#include "pass/plan/lower_plan.h"
#include "pass/program/pass.h"
#include "pass/stage_checks.h"
#include "transform/memo.h"

namespace ricci { inline namespace v0 { namespace pass {
namespace {

enum class Need : uint8_t {
  kOptional,      // may be skipped, and is on the reference device
  kReferenceToo,  // may be skipped, but runs on the reference device
  kAlways         // cannot be skipped
};

struct ProgramStage {
  std::string_view name;
  absl::StatusOr<ir::ProgramRef> (*run)(const ir::Program&, const Options&);
  Need need = Need::kOptional;
};
constexpr ProgramStage kProgramStages[] = {
    // Shapes and types never change below; only what is computed, and how.
    {"inline", InlineCalls, Need::kAlways},
    {"batch_effects", BatchEffects, Need::kAlways},
    // From here on it is fixed how often an effect happens.
    {"sink_constants", SinkConstants},
    {"dce", Dce},
    {"fold", Fold},
    {"simplify", Simplify},
    {"cse", Cse},
    // From here on it is fixed how every value is rounded: no schedule changes it.
    {"contract", Contract},
    {"hoist", Hoist},
    // From here on the schedule is fixed: a vmap equation runs in lanes.
    {"schedule_vmap", ScheduleVmap, Need::kReferenceToo},
    {"inline_rules", InlineCalls, Need::kAlways},  // of what batching rules emitted
    {"fold_again", FoldExact},
    {"simplify_again", Simplify},
    {"cse_again", Cse},  // what rules emitted, and what folding and simplification have made equal
    {"barriers", Barriers},
    {"dce_again", Dce},
    {"schedule_loops", ScheduleLoops},
    // From here on a fusion equation is a kernel.
    {"fuse", Fuse},
};

struct PlanStage {
  std::string_view name;
  absl::Status (*run)(const Options&, Lowered&);
  Need need = Need::kOptional;
  bool assigns_offsets = false;  // gives the buffers of the arena their offsets
};
constexpr PlanStage kPlanStages[] = {
    // From here on programs are replaced by kernels and a plan over buffers.
    {"lower_plan", LowerPlan, Need::kAlways},
    {"coalesce_copies", CoalesceCopies},
    {"take_turns", TakeTurns},
    {"in_place", ShareInPlace},
    // From here on every kernel has a different name, by which backends know it.
    {"merge_kernels", MergeKernels, Need::kAlways},
    {"buffers", PlanBuffers, Need::kAlways, /*assigns_offsets=*/true},
};

constexpr size_t kProgramCount = std::size(kProgramStages), kCount = kProgramCount + std::size(kPlanStages);
static_assert(kCount <= 64, "StageSet has a bit for each");

constexpr auto kNames = [] {
  std::array<std::string_view, kCount> names;
  for (size_t i = 0; i < kProgramCount; ++i) names[i] = kProgramStages[i].name;
  for (size_t i = kProgramCount; i < kCount; ++i) names[i] = kPlanStages[i - kProgramCount].name;
  return names;
}();

Need NeedOf(size_t stage) {
  return stage < kProgramCount ? kProgramStages[stage].need : kPlanStages[stage - kProgramCount].need;
}
bool Runs(const Options& options, size_t stage) {
  if (NeedOf(stage) == Need::kAlways) return true;
  if (options.reference) return NeedOf(stage) == Need::kReferenceToo;
  return (options.stages >> stage & 1) != 0;
}

absl::StatusOr<StageSet> ParseStages(std::string_view option, std::string_view list) {
  StageSet set = 0;
  for (absl::string_view word : absl::StrSplit(base::ToAbsl(list), ',', absl::SkipEmpty())) {
    const auto found = std::find(kNames.begin(), kNames.end(), std::string_view(word.data(), word.size()));
    if (found == kNames.end()) {
      std::string known;
      for (std::string_view name : kNames) known += base::Cat(known.empty() ? "" : ", ", name);
      return base::InvalidArgument(option, ": unknown pass ", word, "; known: ", known);
    }
    set |= StageSet{1} << (found - kNames.begin());
  }
  return set;
}

double Seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

std::string KernelsText(const Lowered& l) {
  std::string text;
  for (const kernel::Kernel& k : l.kernels) text += kernel::ToText(k) + "\n";
  return text;
}

std::string PlanText(const Lowered& l) {
  const kernel::KernelViews views(l.kernels);
  return kernel::ToText(l.plan.View(), views.data(), views.size());
}

void Offer(const Options& options, std::string_view stage, const std::function<std::string()>& text) {
  if (options.dump) options.dump(stage, text);
}

absl::Status Progress(const Options& options, size_t done) {
  if (options.progress && !options.progress(static_cast<uint32_t>(done), kCount))
    return absl::CancelledError("compile: cancelled by the host");
  return absl::OkStatus();
}

// Runs the program stages from `first` on.
absl::Status RunProgramStages(const ir::Program& f, const Options& options, size_t first, Lowered& out) {
  out.optimized = ir::ProgramRef(&f);
  for (size_t i = first; i < kProgramCount; ++i) {
    RICCI_TRY(Progress(options, i));
    if (!Runs(options, i)) continue;
    const transform::MemoUse memo(f);  // for the whole stage
    RICCI_ASSIGN(out.optimized, kProgramStages[i].run(*out.optimized, options));
    RICCI_TRY(CheckProgram(kNames[i], f, *out.optimized));
    Offer(options, kNames[i], [&] { return ir::Print(*out.optimized); });
  }
  return absl::OkStatus();
}

absl::Status RunPlanStages(const Options& options, Lowered& out) {
  bool has_offsets = false;
  for (size_t i = kProgramCount; i < kCount; ++i) {
    RICCI_TRY(Progress(options, i));
    if (!Runs(options, i)) continue;
    const PlanStage& stage = kPlanStages[i - kProgramCount];
    RICCI_TRY(stage.run(options, out));
    has_offsets |= stage.assigns_offsets;
    RICCI_TRY(CheckPlan(stage.name, options, out, has_offsets));
    Offer(options, stage.name, [&] { return PlanText(out); });
  }
  return absl::OkStatus();
}

}  // namespace

std::span<const std::string_view> StageNames() { return kNames; }

absl::StatusOr<StageSet> ChooseStages(std::string_view only, std::string_view skip) {
  RICCI_ASSIGN(const StageSet wanted, ParseStages("passes", only));
  RICCI_ASSIGN(const StageSet unwanted, ParseStages("skip", skip));
  for (size_t i = 0; i < kCount; ++i) {
    if ((unwanted >> i & 1) != 0 && NeedOf(i) == Need::kAlways) {
      return base::InvalidArgument("skip: pass ", kNames[i], " cannot be skipped, because every plan needs it");
    }
  }
  return (only.empty() ? kAllStages : wanted) & ~unwanted;
}

absl::StatusOr<std::unique_ptr<Lowered>> Lower(const ir::Program& f, const Options& given) {
  auto out = std::make_unique<Lowered>();
  Options options = given;
  options.costs = NewBodyCosts();
  options.decisions = &out->decisions;
  const double start = Seconds();
  Offer(options, "program", [&] { return ir::Print(f); });
  RICCI_TRY(RunProgramStages(f, options, 0, *out));
  out->transform_s = Seconds() - start;
  RICCI_TRY(RunPlanStages(options, *out));
  out->flops = kernel::CountFlops(out->plan, out->kernels);
  Offer(options, "kernels", [&] { return KernelsText(*out); });
  Offer(options, "plan", [&] { return PlanText(*out); });
  out->lower_s = Seconds() - start - out->transform_s;
  return out;
}

absl::StatusOr<Estimate> EstimateScheduled(const ir::Program& f, const Options& given, std::string_view after) {
  if (!given.estimate) return base::InvalidArgument("estimate: device ", given.target.kind, " gives none");
  Options options = given;
  options.decisions = nullptr;
  options.donate = {};
  options.dump = nullptr;
  options.progress = nullptr;
  const auto last = std::find(kNames.begin(), kNames.end(), after) - kNames.begin();
  Lowered out;
  RICCI_TRY(RunProgramStages(f, options, static_cast<size_t>(last) + 1, out));
  RICCI_TRY(RunPlanStages(options, out));
  return options.estimate(out);
}

absl::StatusOr<std::string> TextAfter(const ir::Program& f, const Options& options, std::string_view stage) {
  std::optional<std::string> found;
  Options listening = options;
  listening.dump = [&](std::string_view name, const std::function<std::string()>& text) {
    if (name == stage) found = text();
  };
  RICCI_TRY(Lower(f, listening).status());
  if (found) return *std::move(found);
  return absl::NotFoundError(base::Cat("pass ", stage, " did not run"));
}

}}}  // namespace ricci::v0::pass
