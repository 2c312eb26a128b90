// The cost of one run of a plan: of its steps, those in loops times their trips.
#include <algorithm>

#include "codegen/schedule.h"

namespace ricci::codegen {
namespace {

constexpr double kCopy = 0.75;  // of the launch of a kernel; its bytes move at this share of the cache's speed:
constexpr double kCopied = 0.75;
constexpr double kPeakShare = 0.5;  // of two multiply-adds per cycle, which the loops of a library reach
constexpr double kReuse = 10;       // with at least this many operations for each byte
constexpr double kPlanTrip = 10;
constexpr double kStepCode = 6;

class PlanWalk {
 public:
  PlanWalk(const ricci_plan& plan, const std::vector<Cost>& kernels, const ricci_target& target)
      : plan_(plan), kernels_(kernels), target_(target) {}

  // The steps up to the COND, NEXT or END that closes the list.
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
        return {target_.launch_cycles + kernel.cycles, 0};
      }
      case RICCI_STEP_COPY: {
        const auto bytes = static_cast<double>(plan_.buffers[plan_.args[step.args]].bytes);
        return {kCopy * target_.launch_cycles + bytes / CopiedBytes(), 0};
      }
      case RICCI_STEP_LIBRARY:
        return {target_.call_cycles + CallCycles(step, plan_.libraries[step.index].flops), 0};
      case RICCI_STEP_SOURCE:
        return {target_.launch_cycles + CallCycles(step, plan_.sources[step.index].flops), 0};
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

  // A call that does not state its operations counts as one pass over its operands.
  double CallCycles(const ricci_plan_step& step, uint64_t stated) const {
    const auto flops = static_cast<double>(stated);
    const double peak = 4 * static_cast<double>(target_.points_wanted);  // two multiply-adds of all lanes
    const double share = kPeakShare * std::min(1.0, flops / Bytes(step) / kReuse);
    return flops > 0 ? flops / (peak * share) : Bytes(step) / CopiedBytes();
  }
  double CopiedBytes() const { return kCopied * target_.cached_bytes_per_cycle; }  // in a cycle
  double Bytes(const ricci_plan_step& step) const {
    double bytes = 1;
    for (uint32_t i = 0; i < step.n_args; ++i)
      bytes += static_cast<double>(plan_.buffers[plan_.args[step.args + i]].bytes);
    return bytes;
  }

  const ricci_plan& plan_;
  const std::vector<Cost>& kernels_;
  const ricci_target& target_;
  uint32_t at_ = 0;
};

}  // namespace

void EstimatePlan(const ricci_kernel_table* const* kernels, uint32_t n_kernels, const ricci_plan& plan,
                  const ricci_target& target, ricci_estimate& out) {
  std::vector<Cost> costs;
  for (uint32_t i = 0; i < n_kernels; ++i) {
    const ricci_kernel_table& k = *kernels[i];
    const KernelSchedule schedule = ScheduleKernel(k, Blocks(k), target);
    costs.push_back(CostInPlan(schedule));
    if (out.write == nullptr) continue;
    const std::string line = "kernel " + std::string(k.name.ptr, k.name.len) + ": " + ToText(schedule) + "\n";
    out.write(out.sink, line.data(), line.size());
  }
  Cost cost = PlanWalk(plan, costs, target).List();
  for (const Cost& kernel : costs) cost.code += kernel.code;
  out.cycles = cost.cycles;
  out.code = cost.code;
}

}  // namespace ricci::codegen
