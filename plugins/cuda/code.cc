// Compilation of a plan and its runs. A run issues its steps in order; where a loop or a branch depends on a value, the
// host waits for that value.
#include "code.h"

#include <algorithm>
#include <cstring>

#include "team.h"

namespace ricci::cuda {
namespace {

constexpr unsigned kThreads = kBlock;        // of a block
constexpr int64_t kBlocksPerProcessor = 32;  // more points than that take several turns of a thread

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

}  // namespace

std::string PrintModule(const ricci_compile_args& a, std::vector<Launch>& launches, std::string& error) {
  DeviceText device;
  std::string kernels;
  launches.resize(a.n_kernels);
  for (uint32_t i = 0; i < a.n_kernels; ++i) {
    if (!PrintKernel(*a.kernels[i], KernelName(*a.kernels[i], i), device, kernels, launches[i], error)) return {};
  }
  return device.Text() + kernels;
}

ricci_status* Code::Create(Gpu& device, const ricci_compile_args& a, std::unique_ptr<Code>& out,
                           uint32_t& wrong_source) {
  if (a.plan->n_libraries != 0) {
    return Fail(RICCI_UNIMPLEMENTED, "a program with functions of the host cannot run on a GPU yet");
  }
  std::unique_ptr<Code> code(new Code(device, a));
  const Current current(device);
  if (ricci_status* failed = code->LoadKernels()) return failed;
  for (uint32_t i = 0; i < a.plan->n_sources; ++i) {
    ricci_status* const failed = code->LoadSource(i);
    if (failed == nullptr) continue;
    wrong_source = i + 1;
    return failed;
  }
  code->FindEnds();
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
  std::vector<Launch> launches;
  const std::string text = PrintModule(given_, launches, error);
  if (!error.empty()) return ricci_status_make(RICCI_UNIMPLEMENTED, error.data(), error.size());
  CuModule module = nullptr;
  if (ricci_status* failed = Load(text, RICCI_INTERNAL, module)) return failed;
  for (uint32_t i = 0; i < given_.n_kernels; ++i) {
    const int64_t turns = (launches[i].threads() + kThreads - 1) / kThreads;
    const int64_t most = kBlocksPerProcessor * device_.processors();
    Function f{nullptr, {static_cast<unsigned>(std::clamp<int64_t>(turns, 0, most)), 1, 1}, {kThreads, 1, 1}};
    if (ricci_status* failed = Find(module, KernelName(*given_.kernels[i], i), f)) return failed;
    kernels_.push_back(f);
  }
  return nullptr;
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
  for (CuModule module : modules_) device_.driver().cuModuleUnload(module);
}

// ---- a run ----

// What its end needs, in memory that the device can write: given back by the function that reports the end.
struct Code::Run {
  struct Host {  // pinned
    uint32_t failed_check, value;
  };
  struct End {
    Gpu& device;
    Host* host;
    ricci_done_fn done;
    void* arg;
  };

  const ricci_run_args& args;
  CuStream stream;
  Host* host;

  // Pinned memory cannot be freed by a function that the stream calls: it goes back to the pool.
  static void Finish(void* p) {
    const std::unique_ptr<End> end(static_cast<End*>(p));
    const uint32_t failed_check = end->host->failed_check;
    end->device.ReturnPinned(end->host);
    end->done(end->arg, nullptr, failed_check);
  }
};

namespace {
ricci_status* Stopped(const ricci_run_args& a) {
  const uint32_t code = ricci_stop_requested(&a);
  if (code == 0) return nullptr;
  return Fail(code, code == RICCI_CANCELLED ? "run cancelled by the host" : "run passed its deadline");
}
}  // namespace

ricci_status* Code::Enqueue(const ricci_run_args& a, ricci_done_fn done, void* arg, void** event) {
  const Driver& driver = device_.driver();
  const Current current(device_);
  void* pinned = nullptr;
  if (ricci_status* failed = device_.TakePinned(&pinned)) return failed;
  Run run{a, static_cast<CuStream>(a.stream), static_cast<Run::Host*>(pinned)};
  const auto failed_check = static_cast<CuPointer>(reinterpret_cast<uintptr_t>(a.failed_check));
  ricci_status* failed =
      device_.Check("cuMemsetD32Async", driver.cuMemsetD32Async(failed_check, RICCI_NO_CHECK, 1, run.stream));
  if (failed == nullptr) failed = Steps(run, 0, given_.plan->n_steps);
  if (failed == nullptr) {
    failed = device_.Check("cuMemcpyDtoHAsync", driver.cuMemcpyDtoHAsync(&run.host->failed_check, failed_check,
                                                                         sizeof(uint32_t), run.stream));
  }
  if (failed == nullptr) {
    auto end = std::make_unique<Run::End>(Run::End{device_, run.host, done, arg});
    failed = device_.Check("cuLaunchHostFunc", driver.cuLaunchHostFunc(run.stream, Run::Finish, end.get()));
    if (failed == nullptr) {
      end.release();
      return device_.Record(run.stream, event);
    }
  }
  // As if nothing had been enqueued.
  driver.cuStreamSynchronize(run.stream);
  device_.ReturnPinned(run.host);
  return failed;
}

CuPointer Code::AddressOf(const Run& run, uint32_t buffer) const {
  const ricci_plan_buffer& b = given_.plan->buffers[buffer];
  const void* p = nullptr;
  switch (b.kind) {
    case RICCI_BUFFER_INPUT:
      p = run.args.inputs[b.index];
      break;
    case RICCI_BUFFER_OUTPUT:
      p = run.args.outputs[b.index];
      break;
    case RICCI_BUFFER_CONSTANT:
      p = run.args.constants[b.index];
      break;
    default:
      p = static_cast<const char*>(run.args.arena) + b.offset;
      break;
  }
  return static_cast<CuPointer>(reinterpret_cast<uintptr_t>(p));
}

std::vector<CuPointer> Code::Addresses(const Run& run, const ricci_plan_step& step) const {
  std::vector<CuPointer> out;
  for (uint32_t i = 0; i < step.n_args; ++i) out.push_back(AddressOf(run, given_.plan->args[step.args + i]));
  return out;
}

ricci_status* Code::Steps(Run& run, uint32_t first, uint32_t last) {
  for (uint32_t i = first; i < last; ++i) {
    const ricci_plan_step& step = given_.plan->steps[i];
    ricci_status* failed = Stopped(run.args);
    if (failed == nullptr && step.kind == RICCI_STEP_KERNEL) failed = Kernel(run, step);
    if (failed == nullptr && step.kind == RICCI_STEP_SOURCE) failed = Source(run, step);
    if (failed == nullptr && step.kind == RICCI_STEP_COPY) failed = Copy(run, step);
    if (failed == nullptr && step.kind == RICCI_STEP_WHILE) failed = While(run, i);
    if (failed == nullptr && step.kind == RICCI_STEP_CASE) failed = Case(run, i);
    if (failed != nullptr) return failed;
    if (close_[i] != 0) i = close_[i];
  }
  return nullptr;
}

ricci_status* Code::Start(const Run& run, const Function& f, std::vector<CuPointer>& arguments) {
  if (f.grid[0] == 0 || f.grid[1] == 0 || f.grid[2] == 0) return nullptr;
  std::vector<void*> places;
  for (CuPointer& p : arguments) places.push_back(&p);
  return device_.Check("cuLaunchKernel",
                       device_.driver().cuLaunchKernel(f.f, f.grid[0], f.grid[1], f.grid[2], f.block[0], f.block[1],
                                                       f.block[2], f.shared_bytes, run.stream, places.data(), nullptr));
}

ricci_status* Code::Kernel(Run& run, const ricci_plan_step& step) {
  std::vector<CuPointer> arguments = Addresses(run, step);
  arguments.push_back(static_cast<CuPointer>(reinterpret_cast<uintptr_t>(run.args.failed_check)));
  return Start(run, kernels_[step.index], arguments);
}

// Operands, results, workspace if any, then the scalars.
ricci_status* Code::Source(Run& run, const ricci_plan_step& step) {
  const ricci_plan_source& s = given_.plan->sources[step.index];
  std::vector<CuPointer> arguments = Addresses(run, step);
  for (uint32_t i = 0; i < s.n_scalars; ++i) arguments.push_back(s.scalars[i].bits);
  return Start(run, sources_[step.index], arguments);
}

ricci_status* Code::Copy(Run& run, const ricci_plan_step& step) {
  const uint32_t* const args = given_.plan->args + step.args;
  const uint64_t bytes = given_.plan->buffers[args[0]].bytes;
  if (bytes == 0) return nullptr;
  return device_.Check("cuMemcpyDtoDAsync", device_.driver().cuMemcpyDtoDAsync(
                                                AddressOf(run, args[0]), AddressOf(run, args[1]), bytes, run.stream));
}

// The first bytes of a buffer, into run.host->value, once all that was issued before is done.
ricci_status* Code::Read(Run& run, uint32_t buffer, uint32_t bytes) {
  const Driver& driver = device_.driver();
  run.host->value = 0;
  ricci_status* failed = device_.Check(
      "cuMemcpyDtoHAsync", driver.cuMemcpyDtoHAsync(&run.host->value, AddressOf(run, buffer), bytes, run.stream));
  return failed != nullptr ? failed : device_.Check("cuStreamSynchronize", driver.cuStreamSynchronize(run.stream));
}

ricci_status* Code::While(Run& run, uint32_t step) {
  const ricci_plan& plan = *given_.plan;
  uint32_t cond = step + 1;
  while (plan.steps[cond].kind != RICCI_STEP_COND) {
    const uint32_t kind = plan.steps[cond].kind;
    cond = (kind == RICCI_STEP_WHILE || kind == RICCI_STEP_CASE ? close_[cond] : cond) + 1;
  }
  for (;;) {
    if (ricci_status* failed = Steps(run, step + 1, cond)) return failed;
    if (ricci_status* failed = Read(run, plan.args[plan.steps[step].args], 1)) return failed;
    if (run.host->value == 0) return nullptr;
    if (ricci_status* failed = Steps(run, cond + 1, close_[step])) return failed;
  }
}

ricci_status* Code::Case(Run& run, uint32_t step) {
  const ricci_plan& plan = *given_.plan;
  if (ricci_status* failed = Read(run, plan.args[plan.steps[step].args], 4)) return failed;
  const auto which = static_cast<int32_t>(run.host->value);
  const auto branch =
      static_cast<uint32_t>(std::clamp<int64_t>(which, 0, static_cast<int64_t>(plan.steps[step].index) - 1));
  uint32_t first = step + 1, number = 0;
  for (uint32_t i = first; i <= close_[step]; ++i) {
    const uint32_t kind = plan.steps[i].kind;
    if (kind == RICCI_STEP_WHILE || kind == RICCI_STEP_CASE) {
      i = close_[i];
      continue;
    }
    if (kind != RICCI_STEP_NEXT && i != close_[step]) continue;
    if (number++ == branch) return Steps(run, first, i);
    first = i + 1;
  }
  return nullptr;
}

}  // namespace ricci::cuda
