// Lowering: each equation becomes a kernel or a library call, over one buffer per value.
//
// Parameters, results and constants are bound by the caller; what lies between is in the arena. A result that is a
// parameter, a constant or given twice is a copy of its own.
#include "pass/lower_plan.h"

#include "base/status_abi.h"
#include "pass/kernel_builder.h"
#include "trace/builder.h"
#include "transform/rules.h"

namespace ricci::inline v0::pass {
namespace {

class PlanLowering {
 public:
  PlanLowering(const ir::Program& f, const Options& options, Lowered& out)
      : f_(f), options_(options), registry_(prim::Registry::Of(f)), out_(out), buffer_of_(f.values.size(), kNone) {}

  absl::Status Run() {
    out_.plan.n_inputs = f_.n_params();
    out_.plan.n_outputs = f_.n_results();
    for (uint32_t i = 0; i < f_.n_params(); ++i) buffer_of_[i] = AddBuffer(RICCI_BUFFER_INPUT, i, f_.type(i).bytes);
    for (uint32_t i = 0; i < f_.n_results(); ++i) {
      const ir::ValueId r = f_.results[i];
      if (f_.definition(r) != nullptr && buffer_of_[r] == kNone) {
        buffer_of_[r] = AddBuffer(RICCI_BUFFER_OUTPUT, i, f_.type(r).bytes);
      }
    }
    for (const ir::Equation& eqn : f_.equations) RICCI_TRY(Equation(eqn));
    for (uint32_t i = 0; i < f_.n_results(); ++i) RICCI_TRY(ExtraResult(i));
    return absl::OkStatus();
  }

 private:
  static constexpr uint32_t kNone = ~0u;

  uint32_t AddBuffer(uint32_t kind, uint32_t index, uint64_t bytes, const void* data = nullptr) {
    out_.plan.buffers.push_back({kind, index, bytes, 0, data});
    return static_cast<uint32_t>(out_.plan.buffers.size() - 1);
  }
  uint32_t AddConstant(const std::shared_ptr<const ir::ConstantData>& data) {
    auto [it, fresh] = constant_buffer_.try_emplace(data.get(), 0);
    if (fresh) {
      out_.constants.push_back(data);
      it->second = AddBuffer(RICCI_BUFFER_CONSTANT, 0, data->bytes.size(), data->bytes.data());
    }
    return it->second;
  }

  // The buffer of a value, which is made (in the arena, or by filling a splat) where there is none yet.
  absl::StatusOr<uint32_t> BufferOf(ir::ValueId v) {
    if (buffer_of_[v] != kNone) return buffer_of_[v];
    const ir::Constant* c = f_.constant(v);
    if (c != nullptr && (!c->splat || f_.type(v).elements == 1)) {
      buffer_of_[v] = AddConstant(c->data);
    } else {
      buffer_of_[v] = AddBuffer(RICCI_BUFFER_ARENA, 0, f_.type(v).bytes);
      if (c != nullptr) RICCI_TRY(Fill(buffer_of_[v], f_.type(v), *c));
    }
    return buffer_of_[v];
  }

  absl::Status Fill(uint32_t buffer, const ir::ArrayType& t, const ir::Constant& c) {
    kernel::Writer w("fill");
    uint64_t bits = 0;
    std::memcpy(&bits, c.data->bytes.data(), types::Info(t.dtype).size);
    const uint32_t to = w.Buffer(t.dtype, t.elements, RICCI_ACCESS_WRITE);
    kernel::Val i;
    if (t.elements == 0) return absl::OkStatus();
    w.Parallel({&t.elements, 1}, &i);
    w.Store(to, i, w.Const(t.dtype, bits));
    w.End();
    RICCI_ASSIGN(kernel::Kernel k, w.Finish());
    return KernelStep(std::move(k), {buffer}, 0);
  }

  absl::Status KernelStep(kernel::Kernel k, const std::vector<uint32_t>& buffers, uint64_t location) {
    out_.plan.Step(RICCI_STEP_KERNEL, static_cast<uint32_t>(out_.kernels.size()), buffers, location);
    out_.kernels.push_back(std::move(k));
    return absl::OkStatus();
  }

  absl::Status Equation(const ir::Equation& eqn) {
    const trace::Op op(f_, eqn);
    const prim::Row& row = registry_.Get(eqn.prim);
    RICCI_ASSIGN(const ricci_lowering* l,
                 ChooseLowering(row, *op.get(), options_.target, kKernelKinds | 1u << RICCI_LOWER_LIBRARY));
    if (l != nullptr && l->kind == RICCI_LOWER_LIBRARY) return Library(eqn, op, *l);
    KernelBuilder k(registry_, row.name, options_.target);
    RICCI_ASSIGN(KernelBuilder::Result lowered, k.Lower(f_, eqn));
    std::vector<uint32_t> buffers;
    for (const KernelBuilder::Binding& binding : lowered.bindings) {
      switch (binding.kind) {
        case KernelBuilder::Binding::Kind::kConstant:
          buffers.push_back(AddConstant(binding.data));
          break;
        case KernelBuilder::Binding::Kind::kOperand: {
          RICCI_ASSIGN(uint32_t b, BufferOf(eqn.operands[binding.index]));
          buffers.push_back(b);
          break;
        }
        case KernelBuilder::Binding::Kind::kResult: {
          RICCI_ASSIGN(uint32_t b, BufferOf(eqn.result(binding.index)));
          buffers.push_back(b);
          break;
        }
      }
    }
    return KernelStep(std::move(lowered.kernel), buffers, eqn.location);
  }

  absl::Status Library(const ir::Equation& eqn, const trace::Op& op, const ricci_lowering& l) {
    ricci_library_plan plan{};
    plan.hdr.size = sizeof plan;
    RICCI_TRY(transform::AtEquation(base::FromAbi(l.library->plan(l.self, op.get(), &plan)), f_, eqn, "plan"));
    std::vector<uint32_t> buffers;
    for (ir::ValueId v : eqn.operands) {
      RICCI_ASSIGN(uint32_t b, BufferOf(v));
      buffers.push_back(b);
    }
    for (uint32_t i = 0; i < eqn.n_results; ++i) {
      RICCI_ASSIGN(uint32_t b, BufferOf(eqn.result(i)));
      buffers.push_back(b);
    }
    if (plan.workspace_bytes != 0) buffers.push_back(AddBuffer(RICCI_BUFFER_ARENA, 0, plan.workspace_bytes));
    out_.plan.Step(RICCI_STEP_LIBRARY, static_cast<uint32_t>(out_.plan.libraries.size()), buffers, eqn.location);
    out_.plan.libraries.push_back(
        {l.library, plan.state, std::max<int64_t>(plan.tasks, 1), op->n_in, op->n_out, plan.workspace_bytes});
    return absl::OkStatus();
  }

  // Result i where it is not the buffer its equation wrote to.
  absl::Status ExtraResult(uint32_t i) {
    const ir::ValueId r = f_.results[i];
    const ir::Constant* c = f_.constant(r);
    if (c != nullptr && c->splat && f_.type(r).elements != 1) {
      return Fill(AddBuffer(RICCI_BUFFER_OUTPUT, i, f_.type(r).bytes), f_.type(r), *c);
    }
    RICCI_ASSIGN(uint32_t from, BufferOf(r));
    const ricci_plan_buffer& known = out_.plan.buffers[from];
    if (known.kind == RICCI_BUFFER_OUTPUT && known.index == i) return absl::OkStatus();
    const uint32_t to = AddBuffer(RICCI_BUFFER_OUTPUT, i, f_.type(r).bytes);
    out_.plan.Step(RICCI_STEP_COPY, 0, {to, from});
    return absl::OkStatus();
  }

  const ir::Program& f_;
  const Options& options_;
  prim::Registry& registry_;
  Lowered& out_;
  std::vector<uint32_t> buffer_of_;
  absl::flat_hash_map<const ir::ConstantData*, uint32_t> constant_buffer_;
};

}  // namespace

absl::Status LowerPlan(const ir::Program& f, const Options& options, Lowered& out) {
  return PlanLowering(f, options, out).Run();
}

}  // namespace ricci::inline v0::pass
