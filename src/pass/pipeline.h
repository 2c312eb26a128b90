// The pipeline: from a program as the host gave it to kernels and a plan. Read pipeline.cc first.
#ifndef RICCI_PASS_PIPELINE_H_
#define RICCI_PASS_PIPELINE_H_
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "ir/program.h"
#include "pass/plan/lowered.h"
#include "pass/target/pass_options.h"

namespace ricci { inline namespace v0 { namespace pass {

// In the order in which they run.
std::span<const std::string_view> StageNames();
// The stages named in `only` (all, if it is empty) except those named in `skip`; names are separated by commas.
// INVALID_ARGUMENT for unknown names, and for names in `skip` of stages that every plan needs.
absl::StatusOr<StageSet> ChooseStages(std::string_view only, std::string_view skip);

absl::StatusOr<std::unique_ptr<Lowered>> Lower(const ir::Program& f, const Options& options);

// The program, or the plan, after stage `stage`. NOT_FOUND if that stage does not run under these options.
absl::StatusOr<std::string> TextAfter(const ir::Program& f, const Options& options, std::string_view stage);

}}}  // namespace ricci::v0::pass
#endif
