// Interpretation of plans, with the kernels by quick_decode and quick_run: the backend `ref` runs this.
//
// Kernels of a plan are decoded at their first use and kept for the rest of the run, since a loop of the plan may run
// them often.
#include <algorithm>
#include <cstring>
#include <memory>

#include "base/status.h"
#include "base/status_abi.h"
#include "kernel/interpret/quick_kernel.h"
#include "kernel/kernel.h"
#include "kernel/matched_blocks.h"

namespace ricci { inline namespace v0 { namespace kernel {
namespace {

struct alignas(64) ScratchLine {
  char bytes[64];
};

class PlanMachine {
 public:
  PlanMachine(const ricci_plan& p, const ricci_kernel_table* const* kernels, uint32_t n_kernels,
              const ricci_run_args& a)
      : p_(p),
        kernels_(kernels),
        a_(a),
        stop_{a.cancel, a.deadline_ns},
        blocks_(std::span(p.steps, p.n_steps)),
        decoded_(n_kernels) {}

  absl::Status Run(HostStop* ended) {
    FindAddresses();
    absl::Status status = RunSteps(0, p_.n_steps);
    if (ended != nullptr) *ended = ended_;
    return status;
  }

 private:
  void FindAddresses() {
    for (uint32_t i = 0; i < p_.n_buffers; ++i) {
      const ricci_plan_buffer& b = p_.buffers[i];
      void* address = nullptr;
      if (b.kind == RICCI_BUFFER_INPUT) address = a_.inputs[b.index];
      if (b.kind == RICCI_BUFFER_OUTPUT) address = a_.outputs[b.index];
      if (b.kind == RICCI_BUFFER_CONSTANT) address = const_cast<void*>(a_.constants[b.index]);
      if (b.kind == RICCI_BUFFER_ARENA) address = static_cast<char*>(a_.arena) + b.offset;
      address_.push_back(address);
    }
  }

  absl::Status Poll() {
    const absl::Status status = stop_.Poll();
    ended_.happened = !status.ok();
    return status;
  }

  absl::Status RunSteps(uint32_t begin, uint32_t end) {
    for (uint32_t i = begin; i < end; i = blocks_[i].end + 1) {
      const ricci_plan_step& s = p_.steps[i];
      RICCI_TRY(Poll());
      const uint64_t begin_ns = a_.span == nullptr ? 0 : MonotonicNow();
      switch (s.kind) {
        case RICCI_STEP_KERNEL:
          RICCI_TRY(RunKernel(s));
          break;
        case RICCI_STEP_LIBRARY:
          RICCI_TRY(RunLibrary(s));
          break;
        case RICCI_STEP_SOURCE:
          return absl::UnimplementedError("source: the interpreter has no compiler for it");
        case RICCI_STEP_COPY:
          Copy(s);
          break;
        case RICCI_STEP_WHILE:
          RICCI_TRY(RunWhile(i));
          break;
        default:
          RICCI_TRY(RunCase(i));
          break;
      }
      const bool reports = a_.span != nullptr && !ricci_step_opens(&s);
      if (reports) a_.span(a_.span_self, i, /*thread=*/0, begin_ns, MonotonicNow());
    }
    return absl::OkStatus();
  }

  void* Address(const ricci_plan_step& s, uint32_t i) const { return address_[p_.args[s.args + i]]; }

  std::vector<void*> Addresses(const ricci_plan_step& s) const {
    std::vector<void*> all;
    for (uint32_t i = 0; i < s.n_args; ++i) all.push_back(Address(s, i));
    return all;
  }

  // Buffers without bytes may have no address.
  void Copy(const ricci_plan_step& s) const {
    const uint64_t bytes = p_.buffers[p_.args[s.args]].bytes;
    if (bytes != 0) std::memmove(Address(s, 0), Address(s, 1), bytes);
  }

  absl::Status RunKernel(const ricci_plan_step& s) {
    std::unique_ptr<QuickKernel>& quick = decoded_[s.index];
    if (quick == nullptr) {
      RICCI_ASSIGN(QuickKernel decoded, QuickKernel::Decode(*kernels_[s.index]));
      quick = std::make_unique<QuickKernel>(std::move(decoded));
    }
    return quick->Run(Addresses(s).data(), a_.failed_check, stop_, ended_);
  }

  absl::Status RunLibrary(const ricci_plan_step& s) {
    const ricci_plan_library& l = a_.libraries[s.index];
    const std::vector<void*> args = Addresses(s);
    ricci_launch launch{};
    launch.hdr.size = sizeof(launch);
    launch.n_in = l.n_in;
    launch.n_out = l.n_out;
    launch.in = args.data();
    launch.out = args.data() + l.n_in;
    launch.workspace = l.workspace_bytes ? args[l.n_in + l.n_out] : nullptr;
    std::vector<ScratchLine> scratch((l.scratch_bytes + sizeof(ScratchLine) - 1) / sizeof(ScratchLine));
    launch.scratch = scratch.empty() ? nullptr : scratch.data();
    for (launch.task = 0; launch.task < std::max<int64_t>(l.tasks, 1); ++launch.task) {
      RICCI_TRY(Poll());
      RICCI_TRY(base::FromAbi(l.library->launch(l.state, &launch)));
    }
    return absl::OkStatus();
  }

  absl::Status RunWhile(uint32_t at) {
    uint64_t trips = 0;
    const absl::Status status = RunTrips(at, trips);
    // Several trips of a scan may be one of the plan's, so trips of a loop whose number is known are not reported.
    const ricci_plan_step& s = p_.steps[at];
    if (ended_.happened && ended_.location == 0) ended_ = {true, s.location, s.index == 0 ? trips : 0};
    return status;
  }

  absl::Status RunTrips(uint32_t at, uint64_t& trips) {
    const uint32_t cond = blocks_[at].next, end = blocks_[at].end;
    for (;; ++trips) {
      RICCI_TRY(Poll());
      RICCI_TRY(RunSteps(at + 1, cond));
      uint8_t holds = 0;
      std::memcpy(&holds, Address(p_.steps[at], 0), 1);
      if (!holds) return absl::OkStatus();
      RICCI_TRY(RunSteps(cond + 1, end));
    }
  }

  absl::Status RunCase(uint32_t at) {
    int32_t branch = 0;
    std::memcpy(&branch, Address(p_.steps[at], 0), sizeof(branch));
    branch = std::clamp<int32_t>(branch, 0, static_cast<int32_t>(p_.steps[at].index) - 1);
    uint32_t begin = at;
    for (; branch > 0; --branch) begin = blocks_[begin].next;
    return RunSteps(begin + 1, blocks_[begin].next);
  }

  const ricci_plan& p_;
  const ricci_kernel_table* const* kernels_;
  const ricci_run_args& a_;
  const StopRequest stop_;
  const MatchedBlocks blocks_;
  HostStop ended_;
  std::vector<std::unique_ptr<QuickKernel>> decoded_;
  std::vector<void*> address_;
};

}  // namespace

absl::Status Interpret(const ricci_kernel_table& k, void* const* buffers, uint32_t* failed_check) {
  RICCI_ASSIGN(const QuickKernel quick, QuickKernel::Decode(k));
  HostStop never;
  return quick.Run(buffers, failed_check, {}, never);
}

absl::Status Interpret(const ricci_plan& p, const ricci_kernel_table* const* kernels, uint32_t n_kernels,
                       void* const* inputs, void* const* outputs, void* arena, uint32_t* failed_check) {
  std::vector<const void*> constants(p.n_constants);
  for (uint32_t i = 0; i < p.n_buffers; ++i) {
    const ricci_plan_buffer& b = p.buffers[i];
    if (b.kind == RICCI_BUFFER_CONSTANT && b.index < p.n_constants) constants[b.index] = b.data;
  }
  ricci_run_args a{};
  a.inputs = inputs;
  a.outputs = outputs;
  a.constants = constants.data();
  a.libraries = p.libraries;
  a.arena = arena;
  a.failed_check = failed_check;
  return Interpret(p, kernels, n_kernels, a);
}

absl::Status Interpret(const ricci_plan& p, const ricci_kernel_table* const* kernels, uint32_t n_kernels,
                       const ricci_run_args& a, HostStop* ended) {
  RICCI_TRY(Verify(p, kernels, n_kernels));
  return PlanMachine(p, kernels, n_kernels, a).Run(ended);
}

}}}  // namespace ricci::v0::kernel
