#include "cuda/run/library_calls.h"

#include <algorithm>

namespace ricci::cuda {
namespace {

bool IsOnHost(const ricci_plan_library& call) { return (call.flags & RICCI_CALL_ON_HOST) != 0; }

// Where a call of the host has its operands and results in a block, then its workspace and scratch.
struct Layout {
  std::vector<uint64_t> offsets;
  uint64_t bytes = 0;

  // No block is larger than kMost, so one that would be is refused by the driver.
  void Add(uint64_t size) {
    constexpr uint64_t kMost = uint64_t{1} << 62;
    offsets.push_back(bytes);
    bytes = std::min(kMost, size) > kMost - bytes ? kMost : bytes + std::min(kMost - bytes, Aligned(size));
  }
};
Layout LayoutOf(const ricci_plan& plan, const ricci_plan_step& step) {
  const ricci_plan_library& call = plan.libraries[step.index];
  Layout out;
  for (uint32_t i = 0; i < call.n_in + call.n_out; ++i) out.Add(plan.buffers[plan.args[step.args + i]].bytes);
  out.Add(call.workspace_bytes);
  out.Add(call.scratch_bytes);
  return out;
}

struct alignas(64) ScratchLine {
  char bytes[64];
};

}  // namespace

// ---- memory ----
LibraryCalls::LibraryCalls(const Gpu& device, const ricci_plan& plan) : device_(device), plan_(plan) {
  for (uint32_t s = 0; s < plan.n_steps; ++s) {
    const ricci_plan_step& step = plan.steps[s];
    if (step.kind != RICCI_STEP_LIBRARY || !IsOnHost(plan.libraries[step.index])) continue;
    block_bytes_ = std::max({block_bytes_, LayoutOf(plan, step).bytes, uint64_t{kAlignment}});
  }
}

ricci_status* LibraryCalls::Take(char*& out) {
  return blocks_.Take(out, [&](char*& made) {
    void* block = nullptr;
    const CuResult result = device_.driver().cuMemHostAlloc(&block, block_bytes_, 0);
    made = static_cast<char*>(block);
    return device_.Check("cuMemHostAlloc", result);
  });
}

void LibraryCalls::Clear() {
  blocks_.Clear([&](char* block) { device_.Note(device_.driver().cuMemFreeHost(block)); });
}

// ---- calls ----
// On the device, and how many bytes each has; where they are in a block.
struct LibraryRun::Arguments {
  std::vector<CuPointer> addresses;
  std::vector<uint64_t> bytes;
  Layout layout;
};

LibraryRun::Arguments LibraryRun::ArgumentsOf(const ricci_plan_step& step, const Addresses& addresses) const {
  const ricci_plan& plan = calls_.plan();
  Arguments out;
  for (uint32_t i = 0; i < step.n_args; ++i) {
    const uint32_t buffer = plan.args[step.args + i];
    out.addresses.push_back(AddressOf(plan, addresses, buffer));
    out.bytes.push_back(plan.buffers[buffer].bytes);
  }
  out.layout = LayoutOf(plan, step);
  return out;
}

ricci_status* LibraryRun::Call(const ricci_plan_step& step, const Addresses& addresses) {
  const ricci_plan_library& call = args_.libraries[step.index];
  const Arguments arguments = ArgumentsOf(step, addresses);
  return IsOnHost(call) ? OnHost(call, arguments) : OnDevice(call, arguments, stream_);
}
ricci_status* LibraryRun::CallInto(CuStream stream, const ricci_plan_step& step, const Addresses& addresses) {
  return OnDevice(args_.libraries[step.index], ArgumentsOf(step, addresses), stream);
}

ricci_status* LibraryRun::OnHost(const ricci_plan_library& call, const Arguments& a) {
  const Gpu& device = calls_.device();
  if (block_ == nullptr) {
    if (ricci_status* failed = calls_.Take(block_)) return failed;
  }
  std::vector<void*> pointers;
  for (const uint64_t offset : a.layout.offsets) pointers.push_back(block_ + offset);
  for (uint32_t i = 0; i < call.n_in; ++i) {
    if (a.bytes[i] == 0) continue;
    const CuResult result = device.driver().cuMemcpyDtoHAsync(pointers[i], a.addresses[i], a.bytes[i], stream_);
    if (ricci_status* failed = device.Check("cuMemcpyDtoHAsync", result)) return failed;
  }
  if (ricci_status* failed = device.Wait(stream_)) return failed;
  const uint32_t n = call.n_in + call.n_out;
  ricci_launch launch{};
  launch.in = pointers.data();
  launch.out = pointers.data() + call.n_in;
  launch.workspace = call.workspace_bytes == 0 ? nullptr : pointers[n];
  launch.scratch = call.scratch_bytes == 0 ? nullptr : pointers[n + 1];
  if (ricci_status* failed = current_.Outside([&] { return Launch(call, launch); })) return failed;
  for (uint32_t i = call.n_in; i < n; ++i) {
    if (a.bytes[i] == 0) continue;
    const CuResult result = device.driver().cuMemcpyHtoDAsync(a.addresses[i], pointers[i], a.bytes[i], stream_);
    if (ricci_status* failed = device.Check("cuMemcpyHtoDAsync", result)) return failed;
  }
  return call.n_out == 0 ? nullptr : device.Wait(stream_);
}

// With the context current, as such functions expect it.
ricci_status* LibraryRun::OnDevice(const ricci_plan_library& call, const Arguments& a, CuStream stream) {
  std::vector<void*> pointers;
  for (const CuPointer p : a.addresses) pointers.push_back(reinterpret_cast<void*>(static_cast<uintptr_t>(p)));
  std::vector<ScratchLine> scratch((call.scratch_bytes + sizeof(ScratchLine) - 1) / sizeof(ScratchLine));
  ricci_launch launch{};
  launch.in = pointers.data();
  launch.out = pointers.data() + call.n_in;
  launch.workspace = call.workspace_bytes == 0 ? nullptr : pointers[call.n_in + call.n_out];
  launch.scratch = scratch.empty() ? nullptr : scratch.data();
  launch.stream = stream;
  return Launch(call, launch);
}

ricci_status* LibraryRun::Launch(const ricci_plan_library& call, ricci_launch& launch) {
  launch.hdr.size = sizeof launch;
  launch.n_in = call.n_in;
  launch.n_out = call.n_out;
  const int64_t tasks = std::max<int64_t>(call.tasks, 1);
  for (launch.task = 0; launch.task < tasks; ++launch.task) {
    ricci_status* const failed = call.library->launch(call.state, &launch);
    has_failed_ = failed != nullptr;
    if (has_failed_) return failed;
  }
  return nullptr;
}

}  // namespace ricci::cuda
