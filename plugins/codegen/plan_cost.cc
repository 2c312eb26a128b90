// What one run of a plan costs: its steps, those of loops as often as they run.
#include <algorithm>

#include "codegen/schedule.h"

namespace ricci::codegen {
namespace {

constexpr double kLaunch = 20, kCopy = 15, kCopiedBytes = 24;  // cycles; bytes per cycle
constexpr double kCall = 300;                                  // of a library
constexpr double kPeakShare = 0.5;                             // of two multiply-adds per cycle that its loops reach,
constexpr double kReuse = 10;                                  // with so many operations for each byte
constexpr double kPlanTrip = 10;
constexpr double kStepCode = 6;

class PlanWalk {
 public:
  PlanWalk(const ricci_plan& plan, const std::vector<Cost>& kernels, const Machine& machine)
      : plan_(plan), kernels_(kernels), machine_(machine) {}

  // Up to the COND, NEXT or END that closes the list.
  Cost List() {
    Cost cost;
    while (at_ < plan_.n_steps) {
      const ricci_plan_step& step = plan_.steps[at_++];
      if (step.kind == RICCI_STEP_COND || step.kind == RICCI_STEP_NEXT || step.kind == RICCI_STEP_END) break;
      cost += Of(step);
      cost.code += kStepCode;
    }
    return cost;
  }

 private:
  Cost Of(const ricci_plan_step& step) {
    switch (step.kind) {
      case RICCI_STEP_KERNEL: {
        const Cost& kernel = kernels_[step.index];
        return {kLaunch + kernel.cycles, 0};
      }
      case RICCI_STEP_COPY: {
        const auto bytes = static_cast<double>(plan_.buffers[plan_.args[step.args]].bytes);
        return {kCopy + bytes / kCopiedBytes, 0};
      }
      case RICCI_STEP_LIBRARY: {
        const auto flops = static_cast<double>(plan_.libraries[step.index].flops);
        const double peak = machine_.vector_bytes;  // f32 operations per cycle: two multiply-adds of all lanes
        const double share = kPeakShare * std::min(1.0, flops / Bytes(step) / kReuse);
        // What does not tell its operations passes over its operands.
        return {kCall + (flops > 0 ? flops / (peak * share) : Bytes(step) / kCopiedBytes), 0};
      }
      case RICCI_STEP_WHILE: {
        const double trips = step.index == 0 ? kUnknownTrips : static_cast<double>(step.index);
        Cost trip = List();
        trip += List();
        return {trips * (trip.cycles + kPlanTrip), trip.code};
      }
      case RICCI_STEP_CASE: {
        Cost cost;
        for (uint32_t i = 0; i < step.index; ++i) cost += List();
        return {kPlanTrip + cost.cycles / std::max(1u, step.index), cost.code};
      }
      default:
        return {};
    }
  }

  double Bytes(const ricci_plan_step& step) const {
    double bytes = 1;
    for (uint32_t i = 0; i < step.n_args; ++i)
      bytes += static_cast<double>(plan_.buffers[plan_.args[step.args + i]].bytes);
    return bytes;
  }

  const ricci_plan& plan_;
  const std::vector<Cost>& kernels_;
  const Machine& machine_;
  uint32_t at_ = 0;
};

}  // namespace

Cost CostOfPlan(const ricci_plan& plan, const std::vector<Cost>& kernels, const Machine& machine) {
  Cost cost = PlanWalk(plan, kernels, machine).List();
  for (const Cost& kernel : kernels) cost.code += kernel.code;
  return cost;
}

}  // namespace ricci::codegen
