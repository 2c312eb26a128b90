// Runs of a plan: one launch of a graph, in which the device decides about loops and branches. Where the host takes
// part (plan_parts.h), a run issues its steps in order, and what is between those that need the host is a graph each;
// the host waits for functions of its own and for each value that a loop or branch of its own depends on, but not for
// loops whose trips the plan says. All steps are issued individually when all graphs are in flight, and loops where the
// host may want to end one. A profiled run issues its steps too (code_profile.cc). A captured run is the nodes of the
// plan's graph in the graph of the host, which has no word of the host to report to: what its checks have found stays
// on the device.
//
// The code that adds these nodes is that of our own graphs, so loops and branches are among them. A child graph may
// hold no conditional nodes, and steps issued into the stream would wait for each other. All addresses are fixed then,
// also those of the working memory, which lives as long as the call or the event of the run. The event reads the word
// of failed checks whenever it is waited for. Nodes cannot be taken out of a graph that is captured, so after a failure
// the host must throw it away. With loops or branches the host's graph has the driver's limits for conditional nodes:
// one executable graph at a time, and no copy. Not there yet: profiled programs, calls on arrays, and user objects that
// would keep our memory with the graph.
#include <algorithm>
#include <optional>
#include <utility>

#include "codegen/loop_text.h"
#include "cuda/driver/conditions.h"
#include "cuda/run/code.h"

namespace ricci::cuda {
namespace {

// May the host want to end the run while it is going on?
bool MayEnd(const ricci_run_args& a) { return a.cancel != nullptr || a.deadline_ns != 0; }

// A failure after which some nodes of a run are in the graph of the host.
ricci_status* InPart(ricci_status* failed) {
  ricci_str text{};
  ricci_status_message(failed, &text);
  const std::string all = std::string(text.ptr, text.len) +
                          "; the graph that the host captures has a part of the run: end the capture and throw it away";
  ricci_status* const out = ricci_status_make(ricci_status_code(failed), all.data(), all.size());
  ricci_status_free(failed);
  return out;
}

}  // namespace

ricci_status* Code::Enqueue(const ricci_run_args& a, ricci_done_fn done, void* arg, void** event) {
  const NvtxRange range(device_.nvtx(), [&] { return std::string(given_.program.ptr, given_.program.len); });
  Current current(device_);
  if (ricci_status* failed = current.Failure()) return failed;
  const auto stream = static_cast<CuStream>(a.stream);
  Run run{a, AddressesOf(*given_.plan, a), stream, current, LibraryRun(libraries_, a, stream, current)};
  auto end = std::make_unique<GpuEvent>();
  if (ricci_status* failed = slots_.Take(run.addresses, done, arg, run.slot)) return failed;
  ricci_status* failed = Guard([&] { return Start(run); });
  // What a function gives is the end of a run that has begun.
  if (run.libraries.has_failed() && current.is_current()) run.slot->status = std::exchange(failed, nullptr);
  if (failed == nullptr) failed = device_.Record(run.stream, *end);
  if (failed == nullptr) {
    end->OnCompleted(RunSlots::Finish, run.slot);
    *event = end.release();
    return nullptr;
  }
  // As if nothing had been enqueued.
  ricci_status_free(device_.Wait(run.stream));
  slots_.Drop(*run.slot);
  return failed;
}

// The innermost loop whose location is known. Several trips of a scan may be one of the plan's, so those of a loop
// whose number is known are not reported.
std::string Code::WhereStopped(const Run& run) const {
  for (const OpenLoop* loop = run.loop; loop != nullptr; loop = loop->around) {
    const ricci_plan_step& step = given_.plan->steps[loop->step];
    ricci_str file{};
    uint32_t line = 0;
    ricci_location_get(device_.compiler().ctx(), step.location, &file, &line, nullptr);
    if (file.len != 0) return codegen::InTheLoop({file.ptr, file.len}, line, step.index == 0 ? loop->trips : 0);
  }
  return {};
}

ricci_status* Code::Stopped(const Run& run) const {
  const uint32_t code = ricci_stop_requested(&run.args);
  if (code == 0) return nullptr;
  const std::string what = code == RICCI_CANCELLED ? "run cancelled by the host" : "run passed its deadline";
  return Fail(code, what + WhereStopped(run));
}

// What the device runs cannot be ended, and a loop may never end. So a run that the host may end issues the trips of
// its loops.
bool Code::MayLaunch(const Run& run, const PlanPart& part) const {
  return run.slot->has_graphs() && !(MayEnd(run.args) && part.has_loops);
}

// The part that begins with this step and that the run launches; null: there is none.
const PlanPart* Code::PartAt(const Run& run, uint32_t step) const {
  const std::vector<PlanPart>& all = plan_parts_.parts;
  const auto at = std::lower_bound(all.begin(), all.end(), step,
                                   [](const PlanPart& p, uint32_t first) { return p.steps.first < first; });
  const bool is_there = at != all.end() && at->steps.first == step && !plan_parts_.is_one();
  return is_there && MayLaunch(run, *at) ? &*at : nullptr;
}

ricci_status* Code::LaunchPart(Run& run, const PlanPart& part) {
  const auto number = static_cast<size_t>(&part - plan_parts_.parts.data());
  const PlanGraph& graph = graphs_[number];
  if (graph.size() == 0) return nullptr;
  const auto work = [&](uint32_t node) { return WorkOfNode(run, graph.nodes[node]); };
  const auto name = [&] { return "graph " + std::to_string(number + 1) + " of " + std::to_string(graphs_.size()); };
  const NvtxRange range(plan_parts_.is_one() ? nullptr : device_.nvtx(), name);
  return run.slot->graphs[number].Launch(graph, run.addresses, work, run.stream);
}

ricci_status* Code::Start(Run& run) {
  if (ricci_status* failed = Stopped(run)) return failed;
  if (plan_parts_.is_one() && MayLaunch(run, plan_parts_.parts[0])) return LaunchPart(run, plan_parts_.parts[0]);
  const bool is_recorded = run.args.span != nullptr && device_.recorder() != nullptr;
  return is_recorded ? StartRecorded(run) : StartSteps(run);
}

ricci_status* Code::StartSteps(Run& run) {
  const StepRange all{0, given_.plan->n_steps};
  if (!any_checks_) return Steps(run, all);
  if (ricci_status* failed = Issue(device_, SetFailedCheck(run), run.stream)) return failed;
  if (ricci_status* failed = Steps(run, all)) return failed;
  return Issue(device_, ReadFailedCheck(run), run.stream);
}

// ---- part of a graph of the host ----
ricci_status* Code::WhyNotCaptured(const ricci_run_args& a) const {
  const std::string cannot = "a run cannot be part of the graph that the host captures: ";
  if (a.cancel != nullptr || a.deadline_ns != 0 || a.span != nullptr) {
    return Fail(RICCI_FAILED_PRECONDITION, cannot +
                                               "such a graph is not ended or profiled by Ricci; give the run no word "
                                               "to cancel it, no deadline and no profile");
  }
  if (plan_parts_.is_one()) return nullptr;
  return Fail(RICCI_FAILED_PRECONDITION,
              cannot + "it is not one graph, since " + plan_parts_.why_not_one + "; " + plan_parts_.for_captures);
}

// All that the host's graph will use is fixed now. The node that reports to a word of the host is not in it. Nodes
// cannot be removed from a graph that is captured.
ricci_status* Code::Capture(const ricci_run_args& a) {
  Current current(device_);
  if (ricci_status* failed = current.Failure()) return failed;
  const auto stream = static_cast<CuStream>(a.stream);
  Run run{a, AddressesOf(*given_.plan, a), stream, current, LibraryRun(libraries_, a, stream, current)};
  Captured to;
  if (ricci_status* failed = device_.FindCapture(run.stream, to)) return failed;
  if (ricci_status* refused = WhyNotCaptured(a)) return refused;
  PlanNodes nodes(device_);
  const PlanGraph& graph = graphs_[0];
  if (graph.n_before_read() == 0) return nullptr;  // a run does nothing
  ricci_status* const failed = Guard([&]() -> ricci_status* {
    const auto work = [&](uint32_t node) { return WorkOfNode(run, graph.nodes[node]); };
    if (ricci_status* none = nodes.Add(graph, graph.n_before_read(), to.graph, to.last, work)) return none;
    std::vector<CuGraphNode> last;
    for (const uint32_t node : graph.last) last.push_back(nodes[node]);
    return device_.Check("cuStreamUpdateCaptureDependencies", device_.driver().cuStreamUpdateCaptureDependencies(
                                                                  run.stream, last.data(), last.size(), kCuSetLast));
  });
  return failed == nullptr || !nodes.HasAdded() ? failed : InPart(failed);
}

// ---- work ----
Work Code::SetFailedCheck(const Run& run) const {
  return {.kind = Work::kSet, .arguments = {run.addresses.back()}, .value = RICCI_NO_CHECK};
}
Work Code::ReadFailedCheck(const Run& run) const {
  return {.kind = Work::kRead,
          .arguments = {run.addresses.back()},
          .bytes = sizeof(uint32_t),
          .host = &run.slot->host->failed_check};
}

// Arguments of a kernel are its buffers and the word of failed checks, NULL if it has none; of a source operands,
// results, workspace if any, then the scalars.
Work Code::WorkOf(const Run& run, const ricci_plan_step& step) const {
  const ricci_plan& plan = *given_.plan;
  Work work;
  for (uint32_t i = 0; i < step.n_args; ++i) {
    work.arguments.push_back(AddressOf(plan, run.addresses, plan.args[step.args + i]));
  }
  if (step.kind == RICCI_STEP_COPY) {
    work.bytes = plan.buffers[plan.args[step.args]].bytes;
    work.kind = work.bytes == 0 ? Work::kNothing : Work::kCopy;
    return work;
  }
  work.function = step.kind == RICCI_STEP_KERNEL ? &kernels_[step.index] : &sources_[step.index];
  if (step.kind == RICCI_STEP_KERNEL) {
    const Launch& launch = launches_[step.index];
    const bool by_pairs = pairs_[step.index].f != nullptr && launch.pairs.alignment.Has(work.arguments);
    const bool is_aligned = launch.alignment.Has(work.arguments);
    if (launch.parts != 0) work.before = is_aligned ? &parts_[step.index] : &unaligned_[step.index];
    if (launch.parts == 0 && !is_aligned) work.function = &unaligned_[step.index];
    if (by_pairs) work.function = &pairs_[step.index];
    const std::vector<TensorMap>& maps = by_pairs ? launch.pairs.maps : launch.maps;
    if (!maps.empty()) work.maps = &maps;
    work.arguments.push_back(has_checks_[step.index] ? run.addresses.back() : 0);
    if (MemoryOf(step.index) != 0) {
      work.arguments.push_back(run.addresses[ArenaIndex(plan)] + Aligned(plan.arena_bytes) +
                               scratch_[static_cast<size_t>(&step - plan.steps)]);
    }
  } else {
    const ricci_plan_source& s = plan.sources[step.index];
    for (uint32_t i = 0; i < s.n_scalars; ++i) work.arguments.push_back(s.scalars[i].bits);
  }
  const unsigned(&grid)[3] = work.function->grid;
  work.kind = grid[0] == 0 || grid[1] == 0 || grid[2] == 0 ? Work::kNothing : Work::kKernel;
  return work;
}

// While the run is enqueued, since that is when its graphs are made.
Work Code::LibraryWork(Run& run, const ricci_plan_step& step) const {
  const ricci_str name = given_.plan->libraries[step.index].name;
  const auto enqueue = [&run, &step](CuStream stream) { return run.libraries.CallInto(stream, step, run.addresses); };
  return {.kind = Work::kEnqueued, .enqueued = {{name.ptr, name.len}, enqueue}};
}

// Without the conditions, which are the graph's.
Work Code::Decide(const Run& run, const PlanNode& node) const {
  const ricci_plan_step& step = given_.plan->steps[node.step];
  const Conditions& kernels = device_.conditions();
  Work work{.kind = Work::kKernel, .arguments = {AddressOf(*given_.plan, run.addresses, given_.plan->args[step.args])}};
  const bool is_loop = step.kind == RICCI_STEP_WHILE, is_choice = !is_loop && node.bodies.size() == 1;
  work.function = is_loop ? &kernels.loop() : is_choice ? &kernels.choice() : &kernels.branches();
  if (is_choice) work.arguments.push_back(step.index);
  if (is_loop || is_choice) return work;
  CuPointer which = 0;
  for (size_t i = 0; i < node.bodies.size(); ++i) which |= CuPointer{node.bodies[i] != 0} << i;
  work.arguments.insert(work.arguments.end(), {node.first, step.index, which});
  return work;
}

Work Code::WorkOfNode(Run& run, const PlanNode& node) const {
  switch (node.kind) {
    case PlanNode::kSetCheck:
      return SetFailedCheck(run);
    case PlanNode::kReadCheck:
      return ReadFailedCheck(run);
    case PlanNode::kStep: {
      const ricci_plan_step& step = given_.plan->steps[node.step];
      return step.kind == RICCI_STEP_LIBRARY ? LibraryWork(run, step) : WorkOf(run, step);
    }
    case PlanNode::kDecide:
      return Decide(run, node);
    default:
      return {};
  }
}

// ---- step by step, or part by part ----
ricci_status* Code::Steps(Run& run, StepRange range) {
  for (uint32_t i = range.first; i < range.last;) {
    if (ricci_status* failed = Stopped(run)) return failed;
    const PlanPart* const part = PartAt(run, i);
    if (ricci_status* failed = part != nullptr ? LaunchPart(run, *part) : Step(run, i)) return failed;
    i = part != nullptr ? part->steps.last : blocks_.After(i);
  }
  return nullptr;
}

// As tools see it: kernels by the names of their functions.
std::string Code::StepName(const ricci_plan_step& step) const {
  switch (step.kind) {
    case RICCI_STEP_KERNEL:
      return KernelName(*given_.kernels[step.index], step.index);
    case RICCI_STEP_SOURCE:
      return {given_.plan->sources[step.index].entry.ptr, given_.plan->sources[step.index].entry.len};
    case RICCI_STEP_LIBRARY:
      return (given_.plan->libraries[step.index].flags & RICCI_CALL_ON_HOST) != 0 ? "function of the host"
                                                                                  : "library call";
    default:
      return "copy";
  }
}

ricci_status* Code::IssueStep(Run& run, const ricci_plan_step& step) {
  const NvtxRange range(device_.nvtx(), [&] { return StepName(step); });
  if (step.kind == RICCI_STEP_LIBRARY) return run.libraries.Call(step, run.addresses);
  const Work work = WorkOf(run, step);
  if (work.before != nullptr) {
    if (ricci_status* failed = Issue(device_, Before(work), run.stream)) return failed;
  }
  return Issue(device_, work, run.stream);
}

ricci_status* Code::Step(Run& run, uint32_t i) {
  const ricci_plan_step& step = given_.plan->steps[i];
  switch (step.kind) {
    case RICCI_STEP_KERNEL:
    case RICCI_STEP_SOURCE:
    case RICCI_STEP_COPY:
    case RICCI_STEP_LIBRARY:
      return run.args.span == nullptr ? IssueStep(run, step) : IssueTimed(run, i);
    case RICCI_STEP_WHILE:
      return While(run, i);
    case RICCI_STEP_CASE:
      return Case(run, i);
    default:
      return nullptr;
  }
}

// The first bytes of a buffer, into run.slot->host->value, once all that was issued before is done.
ricci_status* Code::Read(Run& run, uint32_t buffer, uint32_t bytes) {
  uint32_t& value = run.slot->host->value;
  value = 0;
  const Work read{.kind = Work::kRead,
                  .arguments = {AddressOf(*given_.plan, run.addresses, buffer)},
                  .bytes = bytes,
                  .host = &value};
  if (ricci_status* failed = Issue(device_, read, run.stream)) return failed;
  return device_.Wait(run.stream);
}

// The trips of a loop that ends without the host reading its predicate: the plan says them, and the host cannot end the
// run. (A run that the host can end may be at most one trip ahead of the device.) Nothing: the predicate is read in
// each trip.
std::optional<uint32_t> Code::KnownTrips(const Run& run, uint32_t step) const {
  const uint32_t trips = given_.plan->steps[step].index;
  return trips == 0 || trips == UINT32_MAX || MayEnd(run.args) ? std::nullopt : std::optional(trips);
}

ricci_status* Code::While(Run& run, uint32_t step) {
  OpenLoop loop{step, 0, run.loop};
  run.loop = &loop;
  ricci_status* const failed = Trips(run, loop);
  run.loop = loop.around;
  return failed;
}

ricci_status* Code::Trips(Run& run, OpenLoop& loop) {
  const ricci_plan& plan = *given_.plan;
  const uint32_t step = loop.step;
  const std::optional<uint32_t> trips = KnownTrips(run, step);
  for (;; ++loop.trips) {
    if (ricci_status* failed = Steps(run, blocks_.Condition(step))) return failed;
    if (!trips) {
      if (ricci_status* failed = Read(run, plan.args[plan.steps[step].args], 1)) return failed;
    }
    if (trips ? loop.trips == *trips : run.slot->host->value == 0) return nullptr;
    if (ricci_status* failed = Steps(run, blocks_.Body(step))) return failed;
  }
}

ricci_status* Code::Case(Run& run, uint32_t step) {
  const ricci_plan& plan = *given_.plan;
  if (ricci_status* failed = Read(run, plan.args[plan.steps[step].args], 4)) return failed;
  const auto which = static_cast<int32_t>(run.slot->host->value);
  const std::vector<StepRange> branches = blocks_.Branches(step);
  const auto last = static_cast<int64_t>(branches.size()) - 1;
  return Steps(run, branches[static_cast<size_t>(std::clamp<int64_t>(which, 0, last))]);
}

}  // namespace ricci::cuda
