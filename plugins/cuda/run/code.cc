// Compilation of a plan.
#include "cuda/run/code.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "cuda/driver/conditions.h"
#include "cuda/schedule/launch_shape.h"
#include "cuda/schedule/team.h"

namespace ricci::cuda {
namespace {

// Of a code: when so many runs are in flight, or fewer with so many graphs in total, further runs issue their steps
// individually.
constexpr size_t kMostRunsOfGraphs = 16, kMostGraphs = 256;

}  // namespace

ricci_status* Code::Create(Gpu& device, const ricci_compile_args& a, std::unique_ptr<Code>& out,
                           ricci_code_info& info) {
  std::unique_ptr<Code> code(new Code(device, a));
  PlanModules plan;  // made without the context, since the host's executor and cache are called
  if (ricci_status* failed = CompilePlan(device.compiler(), a, plan, info)) return failed;
  Current current(device);
  if (ricci_status* failed = current.Failure()) return failed;
  if (ricci_status* failed = code->LoadAll(plan, current, info)) return failed;
  if (ricci_status* failed = code->PrepareRuns(current)) return failed;
  out = std::move(code);
  return nullptr;
}

// An image that was kept may be damaged in ways that only the driver sees, or be of no use to it.
ricci_status* Code::Load(Module& m, Current& current, CuModule& out) {
  modules_.reserve(modules_.size() + 1);
  CuResult result = device_.driver().cuModuleLoadData(&out, m.image.data());
  device_.Note(result);
  if (result != kCuSuccess && m.kept) {
    const auto again = [&] { return device_.compiler().CompileAgain(m, given_.opt_level), nullptr; };
    if (ricci_status* failed = current.Outside(again)) return failed;
    if (m.image.empty()) return Fail(RICCI_INTERNAL, m.error);
    result = device_.driver().cuModuleLoadData(&out, m.image.data());
  }
  if (result != kCuSuccess) return device_.Check("cuModuleLoadData", result);
  modules_.push_back(out);
  bytes_ += m.image.size();
  return nullptr;
}

// The function, with leave to have the shared memory that its launch gives, since that and what the text declares may
// be more than every block has. Launches that share a function ask for the most of them.
ricci_status* Code::Find(CuModule module, const std::string& name, Function& f) {
  const Driver& d = device_.driver();
  if (ricci_status* failed = device_.Check("cuModuleGetFunction", d.cuModuleGetFunction(&f.f, module, name.c_str()))) {
    return failed;
  }
  uint64_t& most = shared_bytes_[f.f];
  if (f.shared_bytes <= most) return nullptr;
  most = f.shared_bytes;
  return device_.Check("cuFuncSetAttribute",
                       d.cuFuncSetAttribute(f.f, kCuFunctionMostShared, static_cast<int>(f.shared_bytes)));
}

ricci_status* Code::LoadAll(PlanModules& plan, Current& current, ricci_code_info& info) {
  launches_ = plan.launches;
  has_checks_ = ChecksOf(given_);
  any_checks_ = std::find(has_checks_.begin(), has_checks_.end(), true) != has_checks_.end();
  std::map<const Module*, CuModule> loaded;
  const auto load = [&](Module& m) {
    CuModule& module = loaded[&m];
    return module != nullptr ? nullptr : Load(m, current, module);
  };
  for (uint32_t i = 0; i < given_.n_kernels; ++i) {
    Module& m = plan.OfKernel(i);
    if (ricci_status* failed = load(m)) return failed;
    if (ricci_status* failed = LoadKernel(i, loaded[&m])) return failed;
  }
  for (uint32_t i = 0; i < given_.plan->n_sources; ++i) {
    info.wrong_source = i + 1;
    Module& m = plan.OfSource(i);
    if (ricci_status* failed = load(m)) return failed;
    if (ricci_status* failed = LoadSource(i, loaded[&m])) return failed;
  }
  info.wrong_source = 0;
  return nullptr;
}

ricci_status* Code::LoadKernel(uint32_t i, CuModule module) {
  const std::string name = KernelName(*given_.kernels[i], i);
  const Launch& launch = launches_[i];
  kernels_.push_back(ByThreads(launch.threads(), launch.thread_bytes, launch.shared_bytes(/*of_parts=*/false)));
  parts_.push_back(ByThreads(launch.parts_threads, 0, launch.shared_bytes(/*of_parts=*/true)));
  unaligned_.push_back(launch.parts == 0 ? kernels_.back() : parts_.back());
  if (ricci_status* failed = Find(module, name, kernels_.back())) return failed;
  if (ricci_status* failed = LoadPairs(i, module, name)) return failed;
  if (launch.alignment.IsUsed()) {
    if (ricci_status* failed = Find(module, launch.NameOfUnaligned(name), unaligned_.back())) return failed;
  }
  return launch.parts == 0 ? nullptr : Find(module, name + "_parts", parts_.back());
}

ricci_status* Code::LoadPairs(uint32_t i, CuModule module, const std::string& name) {
  const PairLaunch& launch = launches_[i].pairs;
  pairs_.push_back({});
  if (launch.pairs == 0) return nullptr;
  const unsigned blocks = launch.blocks(device_.processors());
  pairs_.back() = {nullptr, {blocks, 1, 1}, {launch.threads, 1, 1}, static_cast<unsigned>(launch.shared_bytes)};
  return Find(module, name + "_pairs", pairs_.back());
}

Function Code::ByThreads(int64_t threads, uint64_t thread_bytes, uint64_t shared_bytes) const {
  const LaunchShape shape = ShapeOf(threads, thread_bytes, device_.processors());
  return {nullptr, {shape.blocks, 1, 1}, {shape.threads, 1, 1}, static_cast<unsigned>(shared_bytes)};
}

// Besides its arguments, of one launch of kernel i.
uint64_t Code::MemoryOf(uint32_t i) const {
  const uint64_t threads = uint64_t{kernels_[i].grid[0]} * kernels_[i].block[0];
  return Aligned(launches_[i].parts_bytes + threads * launches_[i].thread_bytes);
}

ricci_status* Code::LoadSource(uint32_t i, CuModule module) {
  const ricci_plan_source& s = given_.plan->sources[i];
  Function f{nullptr, {}, {}};
  for (int d = 0; d < 3; ++d) {
    f.grid[d] = static_cast<unsigned>(s.grid[d]);
    f.block[d] = static_cast<unsigned>(s.block[d]);
  }
  const auto most = static_cast<uint64_t>(device_.most_shared_bytes());
  if (s.shared_bytes > most) {
    return Fail(RICCI_INVALID_ARGUMENT, "its launch wants " + std::to_string(s.shared_bytes) +
                                            " bytes of shared memory; a block of " + device_.name() + " has " +
                                            std::to_string(most) + " at most");
  }
  f.shared_bytes = static_cast<unsigned>(s.shared_bytes);
  if (ricci_status* failed = Find(module, std::string(s.entry.ptr, s.entry.len), f)) return failed;
  sources_.push_back(f);
  return nullptr;
}

ricci_status* Code::PrepareRuns(Current& current) {
  LayOutMemory();
  if (ricci_status* failed = FindParts(current)) return failed;
  return plan_parts_.parts.empty() ? nullptr : MakeGraphs();
}

ricci_status* Code::FindParts(Current& current) {
  if ((given_.hdr.flags & RICCI_COMPILE_PROFILED) != 0) {
    plan_parts_ = StepByStep("runs can be profiled", "compile it without RICCI_COMPILE_PROFILED");
    return nullptr;
  }
  plan_parts_ = PartsOf(*given_.plan, blocks_, /*why_no_conditions=*/"");
  if (!plan_parts_.Any(&PlanPart::has_blocks)) return nullptr;
  std::string why_not;
  if (ricci_status* failed = device_.conditions().Prepare(blocks_.depth(), current, why_not)) return failed;
  if (!why_not.empty()) return plan_parts_ = PartsOf(*given_.plan, blocks_, why_not), nullptr;
  return plan_parts_.Any(&PlanPart::has_choices) ? device_.conditions().PrepareChoices(why_no_choices_) : nullptr;
}

ricci_status* Code::MakeGraphs() {
  const size_t n = plan_parts_.parts.size();
  slots_.SetGraphs(std::clamp(kMostGraphs / n, size_t{1}, kMostRunsOfGraphs), n);
  std::vector<bool> uses_arena(given_.plan->n_steps);
  for (uint32_t s = 0; s < given_.plan->n_steps; ++s) {
    const ricci_plan_step& step = given_.plan->steps[s];
    uses_arena[s] = step.kind == RICCI_STEP_KERNEL && MemoryOf(step.index) != 0;
  }
  for (const PlanPart& part : plan_parts_.parts) {
    if (ricci_status* failed = MakePlanGraph(given_, blocks_, part.steps, plan_parts_.is_one(), uses_arena, has_checks_,
                                             /*has_choices=*/why_no_choices_.empty(), graphs_.emplace_back())) {
      return failed;
    }
  }
  return nullptr;
}

// Each step has memory of its own, since steps may run at the same time.
void Code::LayOutMemory() {
  const ricci_plan& plan = *given_.plan;
  scratch_.resize(plan.n_steps);
  for (uint32_t s = 0; s < plan.n_steps; ++s) {
    if (plan.steps[s].kind != RICCI_STEP_KERNEL) continue;
    scratch_[s] = scratch_bytes_;
    scratch_bytes_ += MemoryOf(plan.steps[s].index);
  }
}

Code::~Code() {
  const Current current(device_);
  slots_.Clear();
  libraries_.Clear();
  for (CuModule module : modules_) device_.Note(device_.driver().cuModuleUnload(module));
}

}  // namespace ricci::cuda
