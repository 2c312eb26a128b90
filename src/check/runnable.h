// Runnable: a program with everything that runs it, compiled when it is first asked for, and its derivatives.
//
// A law runs the same program many times (a loop over a batch, differences), so what is compiled is kept. Besides the
// devices there is the optimized form: all passes, fused kernels and the planned arena, but interpreted. `ref` itself
// runs no pass, so this form tells a wrong pass or simplify rule from a wrong backend.
#ifndef RICCI_CHECK_RUNNABLE_H_
#define RICCI_CHECK_RUNNABLE_H_
#include <utility>

#include "check/numbers.h"
#include "pass/pipeline.h"
#include "ricci/device.h"
#include "ricci/executable.h"

namespace ricci::inline v0::check {

class Runnable;
using RunnableRef = std::shared_ptr<Runnable>;

// ricci_vjp: fwd: parameters -> results, residuals; bwd: residuals, cotangents -> cotangents of real parameters.
struct Pullback {
  RunnableRef fwd, bwd;
};

class Runnable {
 public:
  static absl::StatusOr<RunnableRef> Of(ricci_ctx* ctx, ricci_program* owned);

  const ricci_program* program() const { return program_.get(); }
  const std::vector<Type>& params() const { return signature_.params; }
  const std::vector<Type>& results() const { return signature_.results; }
  bool differentiable() const;  // a real parameter and a real result

  // True once: what is checked of every program is checked then.
  bool TakeFirstRun() { return !std::exchange(has_run_, true); }
  absl::StatusOr<Arrays> Run(ricci_device* device, const Arrays& inputs);
  absl::StatusOr<Arrays> RunOptimized(const Arrays& inputs);

  // By all real parameters; made once.
  absl::StatusOr<RunnableRef> Jvp();
  absl::StatusOr<RunnableRef> Jvp(const std::vector<uint8_t>& active) const;
  absl::StatusOr<Pullback> Vjp();
  absl::StatusOr<RunnableRef> Vmap(const std::vector<int32_t>& in_axes, const std::vector<int32_t>& out_axes,
                                   int64_t size) const;
  // By the batching rules; all results have the batch as axis 0.
  absl::StatusOr<RunnableRef> Batch(const std::vector<int32_t>& in_axes, int64_t size) const;

 private:
  using Executable = std::shared_ptr<ricci_executable>;

  Runnable(ricci_ctx* ctx, Program p, Signature s) : ctx_(ctx), program_(std::move(p)), signature_(std::move(s)) {}
  std::vector<uint8_t> RealParams() const;
  absl::StatusOr<Executable> Compiled(ricci_device* device);

  ricci_ctx* ctx_;
  Program program_;
  Signature signature_;
  std::vector<std::pair<ricci_device*, Executable>> executables_;
  std::unique_ptr<pass::Lowered> optimized_;
  RunnableRef jvp_;
  Pullback vjp_;
  bool has_run_ = false;
};

}  // namespace ricci::inline v0::check
#endif
