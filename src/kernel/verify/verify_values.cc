// Checks of what the buffers of a plan hold when they are read.
//
// One walk over the steps tracks which buffers were written on every path to here. What a loop writes counts after it
// only if the loop is known to run; of a CASE counts what all branches write. A write of a part counts as a write (a
// scan fills a stack slice by slice), but a kernel that updates needs its buffer written before. Where the dtype of a
// buffer's elements is known (written by a kernel, or given by the program), a read must be of that dtype.
#include <algorithm>

#include "base/status.h"
#include "kernel/kernel.h"

namespace ricci { inline namespace v0 { namespace kernel {
namespace {

// Per buffer of a kernel: does the kernel need its earlier contents? Not if it reads back what it has written itself.
std::vector<uint8_t> Needs(const Kernel& k) {
  std::vector<uint8_t> needs(k.buffers.size(), 0), stored(k.buffers.size(), 0);
  for (const ricci_inst& inst : k.insts) {
    if (inst.op == RICCI_K_STORE) stored[inst.imm] = 1;
    if (inst.op == RICCI_K_COMBINE) needs[RICCI_BUFFER_OF(inst.imm)] = 1;
    if (inst.op == RICCI_K_LOAD && !stored[inst.imm]) needs[inst.imm] = 1;
  }
  if (k.updates >= 0) needs[static_cast<size_t>(k.updates)] = 1;
  return needs;
}

class ValueChecker {
 public:
  ValueChecker(const Plan& plan, std::span<const Kernel> kernels, const PlanFacts& facts)
      : plan_(plan),
        kernels_(kernels),
        facts_(facts),
        written_(plan.buffers.size(), 0),
        dtype_(plan.buffers.size(), 0) {
    for (const Kernel& k : kernels) needs_.push_back(Needs(k));
  }

  absl::Status Run() {
    RICCI_TRY(CheckSignature());
    for (uint32_t b = 0; b < plan_.buffers.size(); ++b) {
      const ricci_plan_buffer& buffer = plan_.buffers[b];
      written_[b] = buffer.kind == RICCI_BUFFER_INPUT || buffer.kind == RICCI_BUFFER_CONSTANT;
      if (buffer.kind == RICCI_BUFFER_INPUT) dtype_[b] = types::PartOf(facts_.inputs[buffer.index].dtype);
    }
    for (at_ = 0; at_ < plan_.steps.size(); ++at_) RICCI_TRY(Visit(plan_.steps[at_]));
    for (uint32_t b = 0; b < plan_.buffers.size(); ++b) {
      const ricci_plan_buffer& buffer = plan_.buffers[b];
      if (buffer.kind == RICCI_BUFFER_OUTPUT)
        RICCI_TRY(CheckRead(b, types::PartOf(facts_.outputs[buffer.index].dtype)));
    }
    return absl::OkStatus();
  }

 private:
  struct Open {
    uint32_t step;                          // WHILE or CASE
    std::vector<uint32_t> written;          // since it began, in this branch
    size_t before_body = 0;                 // WHILE: how many of these its condition writes
    std::vector<uint32_t> in_all_branches;  // CASE: written by each branch so far; sorted
    bool first_branch = true;
  };

  absl::Status CheckSignature() const {
    if (plan_.n_inputs != facts_.inputs.size() || plan_.n_outputs != facts_.outputs.size()) {
      return absl::InternalError(base::Cat("plan: takes ", plan_.n_inputs, " and gives ", plan_.n_outputs,
                                           " arrays, the program ", facts_.inputs.size(), " and ",
                                           facts_.outputs.size()));
    }
    std::vector<uint8_t> given(plan_.n_outputs, 0);
    for (uint32_t b = 0; b < plan_.buffers.size(); ++b) {
      const ricci_plan_buffer& buffer = plan_.buffers[b];
      const bool input = buffer.kind == RICCI_BUFFER_INPUT, output = buffer.kind == RICCI_BUFFER_OUTPUT;
      if (!input && !output) continue;
      if (output) given[buffer.index] = 1;
      const types::ArrayType& t = (input ? facts_.inputs : facts_.outputs)[buffer.index];
      if (buffer.bytes == t.bytes) continue;
      return absl::InternalError(base::Cat("plan: buffer ", b, " has ", base::Count(buffer.bytes, "byte"), ", but ",
                                           input ? "parameter " : "result ", buffer.index, " is ", ToText(t), " of ",
                                           t.bytes));
    }
    const auto missing = std::find(given.begin(), given.end(), 0);
    if (missing == given.end()) return absl::OkStatus();
    return absl::InternalError(base::Cat("plan: result ", missing - given.begin(), " has no buffer"));
  }

  std::string Where(uint32_t b) const {
    return base::Cat("plan: ", at_ < plan_.steps.size() ? base::Cat("step ", at_) : std::string("end"), ": buffer ", b);
  }

  // `dtype` 0: any.
  absl::Status CheckRead(uint32_t b, uint32_t dtype) {
    if (plan_.buffers[b].bytes == 0) return absl::OkStatus();
    if (!written_[b]) return absl::InternalError(base::Cat(Where(b), " is read but not written on every path to here"));
    if (dtype == 0) return absl::OkStatus();
    if (dtype_[b] == 0) dtype_[b] = dtype;
    if (dtype_[b] == dtype) return absl::OkStatus();
    return absl::InternalError(
        base::Cat(Where(b), " holds ", types::Info(dtype_[b]).name, " but is read as ", types::Info(dtype).name));
  }
  void Write(uint32_t b, uint32_t dtype) {
    dtype_[b] = dtype;
    if (std::exchange(written_[b], uint8_t{1}) == 0 && !open_.empty()) open_.back().written.push_back(b);
  }
  void Forget(std::vector<uint32_t>& written, size_t from) {
    for (size_t i = from; i < written.size(); ++i) written_[written[i]] = 0;
    written.resize(from);
  }

  uint32_t Arg(const ricci_plan_step& s, uint32_t i) const { return plan_.args[s.args + i]; }

  absl::Status Visit(const ricci_plan_step& s) {
    switch (s.kind) {
      case RICCI_STEP_KERNEL:
        return VisitKernel(s);
      case RICCI_STEP_LIBRARY:
        return VisitCall(s, plan_.libraries[s.index].n_in);
      case RICCI_STEP_SOURCE:
        return VisitCall(s, plan_.sources[s.index].n_in);
      case RICCI_STEP_COPY:
        RICCI_TRY(CheckRead(Arg(s, 1), 0));
        Write(Arg(s, 0), dtype_[Arg(s, 1)]);
        return absl::OkStatus();
      case RICCI_STEP_CASE:
        RICCI_TRY(CheckRead(Arg(s, 0), RICCI_I32));
        [[fallthrough]];
      case RICCI_STEP_WHILE:
        open_.push_back({at_, {}, 0, {}, true});
        return absl::OkStatus();
      case RICCI_STEP_COND:
        open_.back().before_body = open_.back().written.size();
        return CheckRead(Arg(plan_.steps[open_.back().step], 0), RICCI_BOOL);
      case RICCI_STEP_NEXT:
        EndBranch(open_.back());
        return absl::OkStatus();
      default:
        Close();
        return absl::OkStatus();
    }
  }

  absl::Status VisitKernel(const ricci_plan_step& s) {
    const Kernel& k = kernels_[s.index];
    for (uint32_t i = 0; i < s.n_args; ++i) {
      if (needs_[s.index][i]) RICCI_TRY(CheckRead(Arg(s, i), k.buffers[i].dtype));
    }
    for (uint32_t i = 0; i < s.n_args; ++i) {
      if (k.buffers[i].access & RICCI_ACCESS_WRITE) Write(Arg(s, i), k.buffers[i].dtype);
    }
    return absl::OkStatus();
  }

  // The tables do not give the dtypes of the arrays of a library call or a source.
  absl::Status VisitCall(const ricci_plan_step& s, uint32_t n_in) {
    for (uint32_t i = 0; i < n_in; ++i) RICCI_TRY(CheckRead(Arg(s, i), 0));
    for (uint32_t i = n_in; i < s.n_args; ++i) Write(Arg(s, i), 0);
    return absl::OkStatus();
  }

  void EndBranch(Open& o) {
    std::vector<uint32_t> now = o.written;
    std::sort(now.begin(), now.end());
    if (o.first_branch) {
      o.in_all_branches = std::move(now);
    } else {
      std::vector<uint32_t> both;
      std::set_intersection(o.in_all_branches.begin(), o.in_all_branches.end(), now.begin(), now.end(),
                            std::back_inserter(both));
      o.in_all_branches = std::move(both);
    }
    o.first_branch = false;
    Forget(o.written, 0);
  }

  void Close() {
    Open o = std::move(open_.back());
    const ricci_plan_step& begin = plan_.steps[o.step];
    if (begin.kind == RICCI_STEP_CASE) {
      EndBranch(o);
      o.written = std::move(o.in_all_branches);
    } else if (begin.index == 0) {  // the body may never run; the condition does
      Forget(o.written, o.before_body);
    }
    open_.pop_back();
    for (uint32_t b : o.written) {
      written_[b] = 1;
      if (!open_.empty()) open_.back().written.push_back(b);
    }
  }

  const Plan& plan_;
  const std::span<const Kernel> kernels_;
  const PlanFacts& facts_;
  std::vector<std::vector<uint8_t>> needs_;  // per kernel and buffer
  std::vector<uint8_t> written_;             // on every path to here
  std::vector<uint32_t> dtype_;              // of the contents of a buffer; 0: not known
  std::vector<Open> open_;
  uint32_t at_ = 0;
};

}  // namespace

absl::Status VerifyValues(const Plan& plan, std::span<const Kernel> kernels, const PlanFacts& facts) {
  return ValueChecker(plan, kernels, facts).Run();
}

}}}  // namespace ricci::v0::kernel
