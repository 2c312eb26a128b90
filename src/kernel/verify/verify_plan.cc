// Checks of a plan against its kernels: numbers in range, sizes that match, blocks that balance. Backends and the
// interpreter rely on these; the pipeline also checks what the steps do to the buffers (verify_values, verify_memory).
#include <vector>

#include "base/status.h"
#include "kernel/kernel.h"
#include "ricci/exact.h"
#include "types/dtype.h"

namespace ricci { inline namespace v0 { namespace kernel {
namespace {

class PlanVerifier {
 public:
  PlanVerifier(const ricci_plan& p, const ricci_kernel_table* const* kernels, uint32_t n_kernels, bool has_offsets)
      : p_(p), kernels_(kernels), n_kernels_(n_kernels), has_offsets_(has_offsets) {}

  absl::Status Run() {
    const bool sizes = p_.buffer_size == sizeof(ricci_plan_buffer) && p_.step_size == sizeof(ricci_plan_step) &&
                       p_.library_size == sizeof(ricci_plan_library) &&
                       (p_.n_sources == 0 || p_.source_size == sizeof(ricci_plan_source));
    if (!sizes) return absl::InternalError("plan: buffer_size, step_size, library_size or source_size is not ours");
    for (uint32_t i = 0; i < p_.n_buffers; ++i) RICCI_TRY(CheckBuffer(i));
    for (uint32_t i = 0; p_.output_alias != nullptr && i < p_.n_outputs; ++i) RICCI_TRY(CheckAlias(i));
    for (at_ = 0; at_ < p_.n_steps; ++at_) RICCI_TRY(CheckStep(p_.steps[at_]));
    return blocks_.empty() ? absl::OkStatus() : absl::InternalError("plan: a block is not closed");
  }

 private:
  struct Open {
    uint32_t kind;
    uint32_t branches;  // CASE: lists still to come; WHILE: 1 until COND
  };

  absl::Status Error(std::string_view what) const {
    return absl::InternalError(base::Cat("plan: step ", at_, ": ", what));
  }

  absl::Status CheckBuffer(uint32_t i) const {
    const ricci_plan_buffer& b = p_.buffers[i];
    bool valid = false;
    switch (b.kind) {
      case RICCI_BUFFER_INPUT:
        valid = b.index < p_.n_inputs;
        break;
      case RICCI_BUFFER_OUTPUT:
        valid = b.index < p_.n_outputs;
        break;
      case RICCI_BUFFER_CONSTANT:
        valid = b.index < p_.n_constants && (b.data != nullptr || b.bytes == 0);
        break;
      case RICCI_BUFFER_ARENA:
        valid = !has_offsets_ || (b.offset <= p_.arena_bytes && b.bytes <= p_.arena_bytes - b.offset);
        break;
      default:
        break;
    }
    if (valid) return absl::OkStatus();
    constexpr std::string_view kWhy[] = {"is of no kind", "is not an input", "is not an output",
                                         "is a constant without a number or data", "leaves the arena"};
    return absl::InternalError(base::Cat("plan: buffer ", i, " ", kWhy[b.kind < std::size(kWhy) ? b.kind : 0]));
  }

  absl::Status CheckAlias(uint32_t i) const {
    const int32_t from = p_.output_alias[i];
    if (from == -1 || (from >= 0 && static_cast<uint32_t>(from) < p_.n_inputs)) return absl::OkStatus();
    return absl::InternalError(base::Cat("plan: output ", i, " takes the memory of input ", from, " of ", p_.n_inputs));
  }

  const ricci_plan_buffer& Arg(const ricci_plan_step& s, uint32_t i) const { return p_.buffers[p_.args[s.args + i]]; }

  absl::Status CheckArgs(const ricci_plan_step& s) const {
    if (s.args > p_.n_args || s.n_args > p_.n_args - s.args) return Error("arguments are out of range");
    for (uint32_t i = 0; i < s.n_args; ++i) {
      if (p_.args[s.args + i] >= p_.n_buffers) return Error("an argument is not a buffer");
    }
    return absl::OkStatus();
  }

  absl::Status CheckStep(const ricci_plan_step& s) {
    RICCI_TRY(CheckArgs(s));
    switch (s.kind) {
      case RICCI_STEP_KERNEL:
        return CheckKernel(s);
      case RICCI_STEP_LIBRARY:
        return CheckLibrary(s);
      case RICCI_STEP_SOURCE:
        return CheckSource(s);
      case RICCI_STEP_COPY:
        if (s.n_args != 2 || Arg(s, 0).bytes != Arg(s, 1).bytes) return Error("a copy takes two buffers of one size");
        return Arg(s, 0).kind == RICCI_BUFFER_CONSTANT ? Error("copy to a constant") : absl::OkStatus();
      case RICCI_STEP_WHILE:
        if (s.n_args != 1 || Arg(s, 0).bytes < 1) return Error("a while takes one buffer, of a bool");
        blocks_.push_back({s.kind, 1});
        return absl::OkStatus();
      case RICCI_STEP_CASE:
        if (s.n_args != 1 || Arg(s, 0).bytes < 4 || s.index == 0)
          return Error("a case takes one buffer, of an i32, and has branches");
        blocks_.push_back({s.kind, s.index});
        return absl::OkStatus();
      default:
        return CheckInner(s);
    }
  }

  absl::Status CheckInner(const ricci_plan_step& s) {
    const uint32_t open = blocks_.empty() ? 0 : blocks_.back().kind;
    const uint32_t left = blocks_.empty() ? 0 : blocks_.back().branches;
    switch (s.kind) {
      case RICCI_STEP_COND:
        if (open != RICCI_STEP_WHILE || left != 1) return Error("cond is not in a while");
        blocks_.back().branches = 0;
        return absl::OkStatus();
      case RICCI_STEP_NEXT:
        if (open != RICCI_STEP_CASE || left < 2) return Error("next is not in a case, or there are too many");
        --blocks_.back().branches;
        return absl::OkStatus();
      case RICCI_STEP_END:
        if (left != (open == RICCI_STEP_WHILE ? 0u : 1u))
          return Error("end closes no block, or one without its cond or branches");
        blocks_.pop_back();
        return absl::OkStatus();
      default:
        return Error(base::Cat("there is no step of kind ", s.kind));
    }
  }

  absl::Status CheckKernel(const ricci_plan_step& s) const {
    if (s.index >= n_kernels_) return Error(base::Cat("there is no kernel ", s.index));
    const ricci_kernel_table& k = *kernels_[s.index];
    if (k.n_buffers != s.n_args) {
      return Error(base::Cat("the kernel takes ", k.n_buffers, " buffers but gets ", s.n_args));
    }
    for (uint32_t i = 0; i < s.n_args; ++i) {
      const ricci_exact needed = ricci_exact_of(k.buffers[i].elements) * types::Info(k.buffers[i].dtype).size;
      int64_t bytes = 0;
      if (ricci_exact_narrow(needed, 0, INT64_MAX, &bytes) == 0 || Arg(s, i).bytes < static_cast<uint64_t>(bytes)) {
        char text[48];
        return Error(base::Cat("argument ", i, " has ", base::Count(Arg(s, i).bytes, "byte"), " but the kernel needs ",
                               ricci_exact_text(needed, text)));
      }
      const bool read_only = Arg(s, i).kind == RICCI_BUFFER_CONSTANT || Arg(s, i).kind == RICCI_BUFFER_INPUT;
      const bool written = k.buffers[i].access & RICCI_ACCESS_WRITE;
      if (written && read_only) return Error(base::Cat("argument ", i, " is written but must not be"));
    }
    return absl::OkStatus();
  }

  absl::Status CheckLibrary(const ricci_plan_step& s) const {
    if (s.index >= p_.n_libraries) return Error(base::Cat("there is no library call ", s.index));
    const ricci_plan_library& l = p_.libraries[s.index];
    if (l.library == nullptr || l.library->launch == nullptr) return Error("the library has no launch");
    const uint32_t needed = l.n_in + l.n_out + (l.workspace_bytes ? 1 : 0);
    return s.n_args == needed ? absl::OkStatus()
                              : Error(base::Cat("the library call takes ", needed, " buffers but gets ", s.n_args));
  }

  absl::Status CheckSource(const ricci_plan_step& s) const {
    if (s.index >= p_.n_sources) return Error(base::Cat("there is no source ", s.index));
    const ricci_plan_source& source = p_.sources[s.index];
    const uint32_t needed = source.n_in + source.n_out + (source.workspace_bytes ? 1 : 0);
    return s.n_args == needed ? absl::OkStatus()
                              : Error(base::Cat("the source takes ", needed, " buffers but gets ", s.n_args));
  }

  const ricci_plan& p_;
  const ricci_kernel_table* const* kernels_;
  const uint32_t n_kernels_;
  const bool has_offsets_;
  std::vector<Open> blocks_;
  uint32_t at_ = 0;
};

}  // namespace

absl::Status Verify(const ricci_plan& p, const ricci_kernel_table* const* kernels, uint32_t n_kernels) {
  return PlanVerifier(p, kernels, n_kernels, /*has_offsets=*/true).Run();
}

absl::Status VerifyPlan(const Plan& plan, std::span<const Kernel> kernels, const PlanFacts& facts) {
  const KernelViews views(kernels);
  RICCI_TRY(PlanVerifier(plan.View(), views.data(), views.size(), facts.has_offsets).Run());
  RICCI_TRY(VerifyValues(plan, kernels, facts));
  return VerifyMemory(plan, kernels, facts);
}

}}}  // namespace ricci::v0::kernel
