// Loops and branches of a plan: the words `around`, `next` and `end` of its steps.
#include "kernel/kernel.h"

namespace ricci { inline namespace v0 { namespace kernel {
namespace {

// What is around a step that follows `s`.
uint32_t AroundNext(std::span<const ricci_plan_step> steps, uint32_t s) {
  if (Opens(steps[s])) return s + 1;
  if (steps[s].kind != RICCI_STEP_END || steps[s].around == 0) return steps[s].around;
  return steps[Around(steps[s])].around;
}

// Step `s` divides or ends the block that it is in. Until the END is found, `end` of the block is what divides it last.
void Divide(std::span<ricci_plan_step> steps, uint32_t s) {
  ricci_plan_step& block = steps[Around(steps[s])];
  steps[block.end == 0 ? Around(steps[s]) : block.end].next = s;
  block.end = s;
  if (steps[s].kind != RICCI_STEP_END) return;
  for (uint32_t part = block.next; part != s; part = steps[part].next) steps[part].end = s;
}

}  // namespace

void MatchBlock(std::span<ricci_plan_step> steps, uint32_t s) {
  ricci_plan_step& step = steps[s];
  step.around = s == 0 ? 0 : AroundNext(steps, s - 1);
  step.next = step.end = 0;
  if (IsControl(step.kind) && !Opens(step) && step.around != 0) Divide(steps, s);
}

void MatchBlocks(std::span<ricci_plan_step> steps) {
  for (uint32_t s = 0; s < steps.size(); ++s) MatchBlock(steps, s);
}

uint32_t LoopAround(std::span<const ricci_plan_step> steps, uint32_t s) {
  while (s != kNoStep && steps[s].kind != RICCI_STEP_WHILE) s = Around(steps[s]);
  return s;
}

// Inner loops begin later.
StepInterval WidenedOverLoops(std::span<const ricci_plan_step> steps, StepInterval span) {
  uint32_t a = LoopAround(steps, span.first), b = LoopAround(steps, span.last);
  while (a != b) {
    const bool leave_first = b == kNoStep || (a != kNoStep && a > b);
    uint32_t& left = leave_first ? a : b;
    (leave_first ? span.first : span.last) = leave_first ? left : steps[left].end;
    left = LoopAround(steps, Around(steps[left]));
  }
  return span;
}

}}}  // namespace ricci::v0::kernel
