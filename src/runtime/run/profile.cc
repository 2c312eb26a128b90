// Reports of the steps of a run to the host: the backend gives numbers, the host gets names and lines.
#include "runtime/context/compiled_code.h"

namespace ricci { inline namespace v0 { namespace runtime {
namespace {

ricci_str Text(std::string_view v) { return {v.data(), v.size()}; }

uint32_t KindOf(const ricci_plan_step& step) {
  switch (step.kind) {
    case RICCI_STEP_KERNEL:
      return RICCI_SPAN_KERNEL;
    case RICCI_STEP_LIBRARY:
      return RICCI_SPAN_LIBRARY;
    case RICCI_STEP_SOURCE:
      return RICCI_SPAN_SOURCE;
    default:
      return RICCI_SPAN_COPY;
  }
}

}  // namespace

std::string_view CompiledCode::StepName(const ricci_plan_step& step) const {
  switch (step.kind) {
    case RICCI_STEP_KERNEL:
      return lowered_->kernels[step.index].name;
    case RICCI_STEP_LIBRARY:
      return lowered_->library_names[step.index];
    case RICCI_STEP_SOURCE:
      return lowered_->sources[step.index]->entry;
    default:
      return "copy";
  }
}

// Any thread.
void CompiledCode::ReportSpan(void* frame, uint32_t step, uint32_t thread, uint64_t begin_ns, uint64_t end_ns) {
  const auto& run = *static_cast<const RunFrame*>(frame);
  const CompiledCode& code = *run.code;
  if (step >= code.plan_.n_steps) return;  // of a wrong backend
  const ricci_plan_step& s = code.plan_.steps[step];
  const ir::Location& at = code.program().vocabulary()->GetLocation(static_cast<ir::LocationId>(s.location));
  ricci_span span{};
  span.hdr.size = sizeof span;
  span.kind = KindOf(s);
  span.step = step;
  span.thread = thread;
  span.name = Text(code.StepName(s));
  span.file = Text(at.file);
  span.line = at.line;
  span.begin_ns = begin_ns;
  span.end_ns = end_ns;
  run.profile->span(run.profile->self, &span);
}

}}}  // namespace ricci::v0::runtime
