// The pipeline: from a program as the host gave it to kernels and a plan. Read pipeline.cc first.
#ifndef RICCI_PASS_PIPELINE_H_
#define RICCI_PASS_PIPELINE_H_
#include <functional>
#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "ir/program.h"
#include "kernel/kernel.h"
#include "pass/target.h"
#include "transform/vmap_schedule.h"

namespace ricci { inline namespace v0 { namespace pass {

class BodyCosts;  // body_cost.cc
std::shared_ptr<BodyCosts> NewBodyCosts();

// Stages of the pipeline, bit i for stage i of StageNames().
using StageSet = uint64_t;
inline constexpr StageSet kAllStages = ~StageSet{0};

// In the order in which they run.
std::span<const std::string_view> StageNames();
// The stages named in `only` (all, if it is empty) except those named in `skip`; names are separated by commas.
// INVALID_ARGUMENT for unknown names, and for names in `skip` of stages that every plan needs.
absl::StatusOr<StageSet> ChooseStages(std::string_view only, std::string_view skip);

struct Lowered;

// What a backend expects a plan to cost (ricci_estimate).
struct Estimate {
  double cycles = 0;  // of one run on one thread
  double code = 0;    // operations to generate code for
};

struct Options {
  Target target;
  bool reference = false;  // no pass: each equation is lowered alone (the oracle)
  transform::Schedule vmap = transform::Schedule::kAuto;
  uint64_t alignment = 64;         // of the device's memory
  ricci_device* device = nullptr;  // for which library calls are planned
  void* native_context = nullptr;
  bool open_calls = false;           // the backend sees libraries and their states (RICCI_BACKEND_OPEN_CALLS)
  std::span<const uint8_t> donate;   // per parameter
  std::shared_ptr<BodyCosts> costs;  // of held programs, as far as they are known; Lower makes its own
  // The backend's estimate; empty: it gives none, and sizes of arrays decide.
  std::function<absl::StatusOr<Estimate>(const Lowered&)> estimate;
  std::vector<std::string>* decisions = nullptr;  // gets a text for each choice; may be NULL
  StageSet stages = kAllStages;                   // those that run; the stages that every plan needs always run
  // Called after each stage with its name and a function that prints it; may be empty.
  std::function<void(std::string_view stage, const std::function<std::string()>& text)> dump;
  std::function<bool(uint32_t done, uint32_t total)> progress;  // false cancels; may be empty
};

// What a rule wrote for the compiler of the target, and where in the program, for errors.
struct SourceText {
  std::string text, entry, file;
  std::vector<ricci_source_scalar> scalars;
  ricci_plan_source call{};  // points to them
  base::StatusSite site;
};

// The equation of a library call, in `optimized` or a program in it.
struct CallSite {
  const ir::Program* program;
  const ir::Equation* equation;
};

// What a backend compiles; it keeps kernels and the plan's constants alive.
struct Lowered {
  Lowered() = default;
  Lowered(const Lowered&) = delete;
  ~Lowered();  // drops the states of library calls

  ir::ProgramRef optimized;
  std::vector<kernel::Kernel> kernels;
  kernel::Plan plan;
  std::vector<std::shared_ptr<const ir::ConstantData>> constants;  // the plan's CONSTANT buffers point into them
  std::vector<std::unique_ptr<const SourceText>> sources;          // what the plan's sources point to
  std::vector<std::string> library_names;                          // the primitive of each library call of the plan
  std::vector<absl::Status> checks;    // what a run returns when the CHECK of that number does not hold
  std::vector<int32_t> output_alias;   // [results]: the donated parameter whose memory result i takes, or -1
  std::vector<std::string> decisions;  // what was chosen, and why
  uint64_t flops = 0;
  double transform_s = 0, lower_s = 0;
  std::vector<CallSite> call_sites;  // of each library call of the plan
};

absl::StatusOr<std::unique_ptr<Lowered>> Lower(const ir::Program& f, const Options& options);
// The cost of a program that has gone through all stages up to `after`, schedule_vmap or schedule_loops.
// INVALID_ARGUMENT without an estimate.
absl::StatusOr<Estimate> EstimateScheduled(const ir::Program& f, const Options& options, std::string_view after);

// The program, or the plan, after stage `stage`. NOT_FOUND if that stage does not run under these options.
absl::StatusOr<std::string> TextAfter(const ir::Program& f, const Options& options, std::string_view stage);

}}}  // namespace ricci::v0::pass
#endif
