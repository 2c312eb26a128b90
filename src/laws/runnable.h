// Runnable: a program with everything that runs it, compiled at its first use, and its derivatives.
//
// A law runs the same program many times (a loop over a batch, differences), so compiled code is kept. Besides the
// devices there is the optimized form: all passes, fused kernels and the planned arena, but interpreted. `ref` itself
// runs no pass, so this form distinguishes a wrong pass or simplify rule from a wrong backend.
#ifndef RICCI_LAWS_RUNNABLE_H_
#define RICCI_LAWS_RUNNABLE_H_
#include <optional>
#include <span>
#include <utility>

#include "laws/numbers.h"
#include "laws/rules_used.h"
#include "pass/pipeline.h"
#include "ricci/device.h"
#include "ricci/executable.h"

namespace ricci { inline namespace v0 { namespace laws {

class Runnable;
using RunnableRef = std::shared_ptr<Runnable>;

// ricci_vjp: fwd: parameters -> results, residuals; bwd: residuals, cotangents -> cotangents of real parameters.
struct Pullback {
  RunnableRef fwd, bwd;
};

// A program with parameters of types `in` whose only equation applies `prim` to them.
absl::StatusOr<Program> OneEquation(ricci_ctx* ctx, ricci_prim prim, std::span<const ricci_attr> attrs,
                                    std::span<const ricci_type> in);

class Runnable {
 public:
  // `used`: the rules that made the program.
  static absl::StatusOr<RunnableRef> Of(ricci_ctx* ctx, ricci_program* owned, RulesUsed used = {});

  const ricci_program* program() const { return program_.get(); }
  const std::vector<Type>& params() const { return signature_.params; }
  const std::vector<Type>& results() const { return signature_.results; }
  bool differentiable() const;  // a real parameter and a real result

  // True once for each device, and once for NULL: the checks of every program are made then.
  bool TakeFirstRun(ricci_device* device);
  // On a device, or, if NULL, in the optimized form. The memory of the results is filled with `fill` before.
  absl::StatusOr<std::vector<Bytes>> RunBytes(ricci_device* device, const std::vector<Bytes>& inputs, uint8_t fill = 0);
  absl::StatusOr<Arrays> Run(ricci_device* device, const Arrays& inputs);
  // In the optimized form for the target of that kind, interpreted; nothing if that has calls, which are made there
  // only.
  absl::StatusOr<std::optional<Arrays>> RunFor(std::string_view kind, const Arrays& inputs);
  // Does a kernel of the optimized form hold a check? False where there is none.
  bool HoldsCheck() const;
  // FAILED_PRECONDITION names the first element of a result that a run does not write, or of an operand that it does. A
  // run that fails is not judged.
  absl::Status CheckWritten(ricci_device* device, const Arrays& inputs);

  // The rules that made this program, and those that made its optimized form.
  const RulesUsed& used() const { return used_; }
  const RulesUsed& used_by_passes() const { return used_by_passes_; }

  // By all real parameters; made once.
  absl::StatusOr<RunnableRef> Jvp();
  absl::StatusOr<RunnableRef> Jvp(const std::vector<uint8_t>& active) const;
  absl::StatusOr<Pullback> Vjp();
  absl::StatusOr<RunnableRef> Vmap(const std::vector<int32_t>& in_axes, const std::vector<int32_t>& out_axes,
                                   int64_t size) const;
  // By the batching rules; all results have the batch as axis 0.
  absl::StatusOr<RunnableRef> Batch(const std::vector<int32_t>& in_axes, int64_t size) const;

 private:
  using Call = std::shared_ptr<ricci_call>;

  Runnable(ricci_ctx* ctx, Program p, Signature s, RulesUsed used)
      : ctx_(ctx), program_(std::move(p)), signature_(std::move(s)), used_(std::move(used)) {}
  std::vector<uint8_t> PreciseParams() const;
  absl::StatusOr<Call> Compiled(ricci_device* device);
  absl::StatusOr<std::vector<Bytes>> RunOver(ricci_device* device, std::vector<Bytes>& in, uint8_t fill);
  absl::Status RunInto(ricci_device* device, std::vector<Bytes>& in, std::vector<Bytes>& out);
  absl::Status RunOptimized(std::vector<Bytes>& in, std::vector<Bytes>& out, uint8_t fill);
  RuleWatch Watch() const;

  ricci_ctx* ctx_;
  Program program_;
  Signature signature_;
  RulesUsed used_, used_by_passes_;
  std::vector<std::pair<ricci_device*, Call>> calls_;
  std::unique_ptr<pass::Lowered> optimized_;
  RunnableRef jvp_;
  Pullback vjp_;
  std::vector<ricci_device*> has_run_;
};

}}}  // namespace ricci::v0::laws
#endif
