// The pipeline: what happens to a program between the host and the backend, in order. Read this file first.
//
// Every stage is a function from program to program in the file of its name; after each the verifier runs, in release
// builds too, and a dump is offered. The reference device skips all but `inline`: each equation is lowered alone.
#include "pass/pipeline.h"

#include <chrono>

#include "ir/print.h"
#include "ir/verify.h"
#include "pass/lower_plan.h"
#include "pass/pass.h"
#include "transform/memo.h"

namespace ricci::inline v0::pass {
namespace {

using Pass = absl::StatusOr<ir::ProgramRef> (*)(const ir::Program&, const Options&);
struct Stage {
  std::string_view name;
  Pass run;
  bool in_reference = false;
};

constexpr Stage kStages[] = {
    // Shapes and types never change below; only what is computed, and how.
    {"inline", InlineCalls, /*in_reference=*/true},
    {"dce", Dce},
    {"fold", Fold},
    {"simplify", Simplify},
    {"hoist", Hoist},
    // From here on a vmap equation is a decision taken: it runs in lanes.
    {"schedule_vmap", ScheduleVmap},
    {"inline_rules", InlineCalls},  // what batching rules emitted
    {"fold_again", Fold},
    {"simplify_again", Simplify},
    {"cse", Cse},
    {"barriers", Barriers},
    {"dce_again", Dce},
    // From here on a fusion equation is a kernel.
    {"fuse", Fuse},
};

double Seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

std::string KernelsText(const Lowered& l) {
  std::string text;
  for (const kernel::Kernel& k : l.kernels) text += kernel::ToText(k) + "\n";
  return text;
}

std::string PlanText(const Lowered& l) {
  std::vector<ricci_kernel_table> tables;
  std::vector<const ricci_kernel_table*> views;
  for (const kernel::Kernel& k : l.kernels) tables.push_back(k.View());
  for (const ricci_kernel_table& t : tables) views.push_back(&t);
  return kernel::ToText(l.plan.View(), views.data(), static_cast<uint32_t>(views.size()));
}

void Offer(const Options& options, std::string_view stage, const std::function<std::string()>& text) {
  if (options.dump) options.dump(stage, text);
}

absl::Status Progress(const Options& options, uint32_t done) {
  constexpr uint32_t kTotal = std::size(kStages) + 1;
  if (options.progress && !options.progress(done, kTotal))
    return absl::CancelledError("compile: cancelled by the host");
  return absl::OkStatus();
}

}  // namespace

Lowered::~Lowered() {
  for (const ricci_plan_library& call : plan.libraries) {
    if (call.library->drop_state != nullptr) call.library->drop_state(call.state);
  }
}

absl::StatusOr<std::unique_ptr<Lowered>> Lower(const ir::Program& f, const Options& given) {
  Options options = given;
  options.costs = NewBodyCosts();
  auto out = std::make_unique<Lowered>();
  const double start = Seconds();
  out->optimized = ir::ProgramRef(&f);
  Offer(options, "program", [&] { return ir::Print(f); });
  uint32_t done = 0;
  for (const Stage& stage : kStages) {
    RICCI_TRY(Progress(options, done++));
    if (options.reference && !stage.in_reference) continue;
    const transform::MemoUse memo(f);  // for the whole stage
    RICCI_ASSIGN(out->optimized, stage.run(*out->optimized, options));
    RICCI_TRY(ir::Verify(*out->optimized));
    Offer(options, stage.name, [&] { return ir::Print(*out->optimized); });
  }
  out->transform_s = Seconds() - start;

  // From here on there are no programs, only kernels and a plan over buffers.
  RICCI_TRY(Progress(options, done));
  RICCI_TRY(LowerPlan(*out->optimized, options, *out));
  if (!options.reference) RICCI_TRY(ShareInPlace(options, *out));
  RICCI_TRY(MergeKernels(*out));
  RICCI_TRY(PlanBuffers(*out));
  out->flops = kernel::CountFlops(out->plan, out->kernels);
  Offer(options, "kernels", [&] { return KernelsText(*out); });
  Offer(options, "plan", [&] { return PlanText(*out); });
  out->lower_s = Seconds() - start - out->transform_s;
  return out;
}

}  // namespace ricci::inline v0::pass
