// Compilation of a plan.
#include "code.h"

#include <algorithm>
#include <cstring>

#include "launch_shape.h"
#include "team.h"

namespace ricci::cuda {
namespace {

constexpr size_t kMostGraphs = 16;  // of a code; when so many runs are in flight, the steps of more go one by one

}  // namespace

std::string KernelName(const ricci_kernel_table& k, uint32_t i) {
  std::string name = "k" + std::to_string(i) + "_";
  for (size_t c = 0; c < k.name.len && c < 40; ++c) {
    const char letter = k.name.ptr[c];
    const bool plain =
        (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9');
    name += plain ? letter : '_';
  }
  return name;
}

std::string PrintKernels(const ricci_compile_args& a, DeviceText& device, std::vector<Launch>& launches,
                         std::string& error) {
  std::string kernels;
  launches.resize(a.n_kernels);
  for (uint32_t i = 0; i < a.n_kernels; ++i) {
    if (!PrintKernel(*a.kernels[i], KernelName(*a.kernels[i], i), device, kernels, launches[i], error)) return {};
  }
  return kernels;
}

std::string PrintModule(const ricci_compile_args& a, std::vector<Launch>& launches, std::string& error) {
  DeviceText device;
  const std::string kernels = PrintKernels(a, device, launches, error);
  return error.empty() ? device.Text() + kernels : "";
}

ricci_status* Code::Create(Gpu& device, const ricci_compile_args& a, std::unique_ptr<Code>& out,
                           uint32_t& wrong_source) {
  if (a.plan->n_libraries != 0) {
    return Fail(RICCI_UNIMPLEMENTED, "a program with functions of the host cannot run on a GPU yet");
  }
  std::unique_ptr<Code> code(new Code(device, a));
  const Current current(device);
  if (ricci_status* failed = current.Failure()) return failed;
  if (ricci_status* failed = code->LoadKernels()) return failed;
  for (uint32_t i = 0; i < a.plan->n_sources; ++i) {
    ricci_status* const failed = code->LoadSource(i);
    if (failed == nullptr) continue;
    wrong_source = i + 1;
    return failed;
  }
  if (ricci_status* failed = code->PrepareRuns()) return failed;
  out = std::move(code);
  return nullptr;
}

ricci_status* Code::Load(const std::string& text, uint32_t if_refused, CuModule& out) {
  std::string error;
  const std::vector<char> image = device_.compiler().Compile(text, device_.architecture(), error);
  if (image.empty()) return Fail(if_refused, error);
  bytes_ += image.size();
  modules_.reserve(modules_.size() + 1);
  ricci_status* const failed = device_.Check("cuModuleLoadData", device_.driver().cuModuleLoadData(&out, image.data()));
  if (failed == nullptr) modules_.push_back(out);
  return failed;
}

ricci_status* Code::Find(CuModule module, const std::string& name, Function& f) {
  return device_.Check("cuModuleGetFunction", device_.driver().cuModuleGetFunction(&f.f, module, name.c_str()));
}

ricci_status* Code::LoadKernels() {
  std::string error;
  if (given_.n_kernels == 0) return nullptr;
  const std::string text = PrintModule(given_, launches_, error);
  if (!error.empty()) return ricci_status_make(RICCI_UNIMPLEMENTED, error.data(), error.size());
  CuModule module = nullptr;
  if (ricci_status* failed = Load(text, RICCI_INTERNAL, module)) return failed;
  for (uint32_t i = 0; i < given_.n_kernels; ++i) {
    const std::string name = KernelName(*given_.kernels[i], i);
    const Launch& launch = launches_[i];
    kernels_.push_back(ByThreads(launch.threads(), launch.thread_bytes));
    parts_.push_back(ByThreads(launch.points * launch.parts * kBlock, 0));
    if (ricci_status* failed = Find(module, name, kernels_.back())) return failed;
    if (launch.parts == 0) continue;
    if (ricci_status* failed = Find(module, name + "_parts", parts_.back())) return failed;
  }
  return nullptr;
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

// A module of its own: its names cannot meet those of kernels.
ricci_status* Code::LoadSource(uint32_t i) {
  constexpr int64_t kMostBlocks[] = {INT32_MAX, 65535, 65535}, kMostThreads[] = {1024, 1024, 64};
  const ricci_plan_source& s = given_.plan->sources[i];
  Function f{nullptr, {}, {}};
  for (int d = 0; d < 3; ++d) {
    if (s.grid[d] > kMostBlocks[d] || s.block[d] > kMostThreads[d]) {
      return Fail(RICCI_INVALID_ARGUMENT, "dimension " + std::to_string(d) + " of its launch has " +
                                              std::to_string(s.grid[d]) + " blocks of " + std::to_string(s.block[d]) +
                                              " threads; there are " + std::to_string(kMostBlocks[d]) + " of " +
                                              std::to_string(kMostThreads[d]) + " at most");
    }
    f.grid[d] = static_cast<unsigned>(s.grid[d]);
    f.block[d] = static_cast<unsigned>(s.block[d]);
  }
  f.shared_bytes = static_cast<unsigned>(std::min<uint64_t>(s.shared_bytes, UINT32_MAX));
  CuModule module = nullptr;
  if (ricci_status* failed = Load(std::string(s.text.ptr, s.text.len), RICCI_INVALID_ARGUMENT, module)) return failed;
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
  for (CuModule module : modules_) device_.driver().cuModuleUnload(module);
}

}  // namespace ricci::cuda
