// Compilation of a plan.
#include "code.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "launch_shape.h"
#include "team.h"

namespace ricci::cuda {
namespace {

constexpr size_t kMostGraphs = 16;  // of a code; when so many runs are in flight, the steps of more go one by one

}  // namespace

ricci_status* Code::Create(Gpu& device, const ricci_compile_args& a, std::unique_ptr<Code>& out,
                           ricci_code_info& info) {
  if (a.plan->n_libraries != 0) {
    return Fail(RICCI_UNIMPLEMENTED, "a program with functions of the host cannot run on a GPU yet");
  }
  std::unique_ptr<Code> code(new Code(device, a));
  const Current current(device);
  if (ricci_status* failed = current.Failure()) return failed;
  if (ricci_status* failed = code->LoadAll(info)) return failed;
  if (ricci_status* failed = code->PrepareRuns()) return failed;
  out = std::move(code);
  return nullptr;
}

// An image that was kept may be damaged in ways that only the driver sees, or be of no use to it.
ricci_status* Code::Load(Module& m, CuModule& out) {
  modules_.reserve(modules_.size() + 1);
  CuResult result = device_.driver().cuModuleLoadData(&out, m.image.data());
  device_.Note(result);
  if (result != kCuSuccess && m.kept) {
    device_.compiler().CompileAgain(m, given_.opt_level);
    if (m.image.empty()) return Fail(RICCI_INTERNAL, m.error);
    result = device_.driver().cuModuleLoadData(&out, m.image.data());
  }
  if (result != kCuSuccess) return device_.Check("cuModuleLoadData", result);
  modules_.push_back(out);
  bytes_ += m.image.size();
  return nullptr;
}

ricci_status* Code::Find(CuModule module, const std::string& name, Function& f) {
  return device_.Check("cuModuleGetFunction", device_.driver().cuModuleGetFunction(&f.f, module, name.c_str()));
}

ricci_status* Code::LoadAll(ricci_code_info& info) {
  PlanModules plan;
  if (ricci_status* failed = CompilePlan(device_.compiler(), given_, plan, info)) return failed;
  launches_ = plan.launches;
  std::map<const Module*, CuModule> loaded;
  const auto load = [&](Module& m) {
    CuModule& module = loaded[&m];
    return module != nullptr ? nullptr : Load(m, module);
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
  kernels_.push_back(ByThreads(launch.threads(), launch.thread_bytes));
  parts_.push_back(ByThreads(launch.parts_threads, 0));
  if (ricci_status* failed = Find(module, name, kernels_.back())) return failed;
  return launch.parts == 0 ? nullptr : Find(module, name + "_parts", parts_.back());
}

Function Code::ByThreads(int64_t threads, uint64_t thread_bytes) const {
  const LaunchShape shape = ShapeOf(threads, thread_bytes, device_.processors());
  return {nullptr, {shape.blocks, 1, 1}, {shape.threads, 1, 1}};
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
  f.shared_bytes = static_cast<unsigned>(std::min<uint64_t>(s.shared_bytes, UINT32_MAX));
  if (ricci_status* failed = Find(module, std::string(s.entry.ptr, s.entry.len), f)) return failed;
  sources_.push_back(f);
  return nullptr;
}

ricci_status* Code::PrepareRuns() {
  FindEnds();
  PlaceMemory();
  if (HasControl(*given_.plan) || (given_.hdr.flags & RICCI_COMPILE_PROFILED) != 0) return nullptr;
  slots_.SetGraphs(kMostGraphs);
  std::vector<bool> uses_arena(given_.plan->n_steps);
  for (uint32_t s = 0; s < given_.plan->n_steps; ++s) {
    const ricci_plan_step& step = given_.plan->steps[s];
    uses_arena[s] = step.kind == RICCI_STEP_KERNEL && MemoryOf(step.index) != 0;
  }
  return MakePlanGraph(given_, uses_arena, graph_);
}

// Each step has memory of its own, since steps may run at the same time.
void Code::PlaceMemory() {
  const ricci_plan& plan = *given_.plan;
  scratch_.resize(plan.n_steps);
  for (uint32_t s = 0; s < plan.n_steps; ++s) {
    if (plan.steps[s].kind != RICCI_STEP_KERNEL) continue;
    scratch_[s] = scratch_bytes_;
    scratch_bytes_ += MemoryOf(plan.steps[s].index);
  }
}

void Code::FindEnds() {
  std::vector<uint32_t> open;
  const ricci_plan& plan = *given_.plan;
  close_.resize(plan.n_steps);
  for (uint32_t i = 0; i < plan.n_steps; ++i) {
    const uint32_t kind = plan.steps[i].kind;
    if (kind == RICCI_STEP_WHILE || kind == RICCI_STEP_CASE) open.push_back(i);
    if (kind != RICCI_STEP_END) continue;
    close_[open.back()] = i;
    open.pop_back();
  }
}

Code::~Code() {
  const Current current(device_);
  slots_.Clear();
  for (CuModule module : modules_) device_.Note(device_.driver().cuModuleUnload(module));
}

}  // namespace ricci::cuda
