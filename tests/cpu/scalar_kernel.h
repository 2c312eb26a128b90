// ScalarKernel: scalar operations over arrays as one kernel, compiled by the CPU plugin and run by the interpreter,
// without any pass before.
#ifndef RICCI_TESTS_CPU_SCALAR_KERNEL_H_
#define RICCI_TESTS_CPU_SCALAR_KERNEL_H_
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "cpu/llvm/jit.h"
#include "cpu/plan/plan_codegen.h"
#include "cpu/run/run_state.h"
#include "kernel/writer.h"
#include "ricci/base.h"

namespace ricci::testing {

class ScalarKernel {
 public:
  struct Op {
    uint32_t op, to;  // dtype of the result
  };
  using Bits = std::vector<uint64_t>;  // of elements, zero-extended

  // Each operation i reads all operands (`in` of `points` elements, dtype `from`) and gives result i.
  ScalarKernel(uint32_t from, std::vector<Op> ops, uint32_t arity, int64_t points)
      : from_(from), ops_(std::move(ops)), points_(points) {
    kernel::Writer w("scalars");
    for (uint32_t a = 0; a < arity; ++a) w.Buffer(from, points, RICCI_ACCESS_READ);
    for (const Op& o : ops_) w.Buffer(o.to, points, RICCI_ACCESS_WRITE);
    kernel::Val i;
    const int64_t extents[] = {points};
    w.Parallel(extents, &i);
    std::vector<kernel::Val> in;
    for (uint32_t a = 0; a < arity; ++a) in.push_back(w.Load(a, i));
    for (uint32_t o = 0; o < ops_.size(); ++o) {
      const bool typed = ops_[o].op == RICCI_S_CONVERT || ops_[o].op == RICCI_S_BITCAST;
      w.Store(arity + o, i, w.Scalar(ops_[o].op, typed ? ops_[o].to : 0, in));
    }
    w.End();
    auto finished = w.Finish();
    if (!finished.ok()) {
      error_ = std::string(finished.status().message());
      return;
    }
    kernel_ = *std::move(finished);
    kernel::Plan& p = plan_;
    std::vector<uint32_t> args;
    for (uint32_t b = 0; b < kernel_.buffers.size(); ++b) {
      const bool input = b < arity;
      const uint32_t dtype = kernel_.buffers[b].dtype;
      p.buffers.push_back({static_cast<uint32_t>(input ? RICCI_BUFFER_INPUT : RICCI_BUFFER_OUTPUT),
                           input ? b : b - arity, static_cast<uint64_t>(points) * ricci_dtype_size(dtype), 0, nullptr});
      args.push_back(b);
    }
    p.n_inputs = arity;
    p.n_outputs = static_cast<uint32_t>(ops_.size());
    p.Step(RICCI_STEP_KERNEL, 0, args);
  }

  const std::string& error() const { return error_; }

  std::vector<Bits> Compiled(const cpu::Settings& settings, const std::vector<Bits>& in, uint32_t opt_level = 2) {
    auto jit = cpu::Jit::Create(settings, error_);
    if (jit == nullptr) return {};
    LLVMContextRef ctx = LLVMContextCreate();
    cpu::LlvmBuilder l{ctx,
                       LLVMModuleCreateWithNameInContext("test", ctx),
                       LLVMCreateBuilderInContext(ctx),
                       jit->lanes(),
                       settings.stack_local,
                       settings.cuts,
                       jit->lanes() == 16};
    const ricci_kernel_table table = kernel_.View();
    const ricci_kernel_table* tables[] = {&table};
    const ricci_plan plan = plan_.View();
    const cpu::PlanCode emitted = cpu::EmitPlan(l, tables, 1, plan, 1, cpu::Constants::kOfRun);
    LLVMDisposeBuilder(l.b);
    error_ = emitted.error;
    if (!error_.empty()) {
      LLVMDisposeModule(l.module);
      LLVMContextDispose(ctx);
      return {};
    }
    const auto code = jit->Compile(ctx, l.module, opt_level, error_);
    if (code == nullptr) return {};
    cpu::Pool pool(nullptr);
    uint32_t failed_check = RICCI_NO_CHECK;
    ricci_run_args args{};
    args.failed_check = &failed_check;
    cpu::RunState run{&pool, &args, nullptr, 0, 0};
    std::unique_ptr<void, decltype(&std::free)> arena(std::aligned_alloc(64, (emitted.scratch_bytes + 127) / 64 * 64),
                                                      &std::free);
    return Run(in, [&](void* const* inputs, void* const* outputs) { code->entry(inputs, outputs, arena.get(), &run); });
  }
  std::vector<Bits> Interpreted(const std::vector<Bits>& in) {
    return Run(in, [&](void* const* inputs, void* const* outputs) {
      std::vector<void*> all(inputs, inputs + plan_.n_inputs);
      all.insert(all.end(), outputs, outputs + plan_.n_outputs);
      const absl::Status s = kernel::Interpret(kernel_.View(), all.data());
      if (!s.ok()) error_ = std::string(s.message());
    });
  }

 private:
  template <typename Body>
  std::vector<Bits> Run(const std::vector<Bits>& in, Body body) {
    std::vector<std::vector<char>> memory;
    std::vector<void*> inputs, outputs;
    const auto n = static_cast<size_t>(points_);
    memory.reserve(in.size() + ops_.size());
    for (const Bits& bits : in) {
      const size_t size = ricci_dtype_size(from_);
      memory.emplace_back(n * size);
      for (size_t i = 0; i < n; ++i) std::memcpy(&memory.back()[i * size], &bits[i], size);
      inputs.push_back(memory.back().data());
    }
    for (const Op& o : ops_) {
      memory.emplace_back(n * ricci_dtype_size(o.to));
      outputs.push_back(memory.back().data());
    }
    body(inputs.data(), outputs.data());
    std::vector<Bits> out;
    for (size_t o = 0; o < ops_.size(); ++o) {
      const size_t size = ricci_dtype_size(ops_[o].to);
      out.emplace_back(n);
      for (size_t i = 0; i < n; ++i) std::memcpy(&out[o][i], static_cast<char*>(outputs[o]) + i * size, size);
    }
    return out;
  }

  const uint32_t from_;
  const std::vector<Op> ops_;
  const int64_t points_;
  kernel::Kernel kernel_;
  kernel::Plan plan_;
  std::string error_;
};

}  // namespace ricci::testing
#endif
