// PlanEmitter: emits the function around the kernels of a plan. Its functions are in the files of its parts: what is
// around the steps (plan_codegen.cc), steps that follow each other (plan_pieces.cc), each step (plan_steps.cc,
// plan_sources.cc).
#ifndef RICCI_CPU_PLAN_EMITTER_H_
#define RICCI_CPU_PLAN_EMITTER_H_
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cpu/kernel/kernel_codegen.h"
#include "cpu/plan/plan_codegen.h"
#include "cpu/run/pool.h"
#include "cpu/run/run_state.h"

namespace ricci::cpu {

using V = LLVMValueRef;

class PlanEmitter {
 public:
  PlanEmitter(const LlvmBuilder& l, const ricci_kernel_table* const* kernels, uint32_t n_kernels,
              const ricci_plan& plan, uint32_t workers, Constants constants, bool profiled)
      : l_(l),
        kernels_(kernels),
        n_kernels_(n_kernels),
        plan_(plan),
        workers_(workers),
        constants_(constants),
        profiled_(profiled) {}

  PlanCode Emit();

 private:
  struct Block {
    LLVMBasicBlockRef head, inside, after;
    std::vector<LLVMBasicBlockRef> cases;
    uint32_t kind, next_case = 0;
    uint32_t predicate = 0;  // buffer
    V trips = nullptr;       // in memory: those that have begun, where the host may end the run
  };
  struct PlanPiece {
    V function;
    bool ends;  // it may end the plan
  };

  struct LinkedSource {
    V function;  // runs some of its tasks
    int64_t tasks;
  };

  // ---- around the steps (plan_codegen.cc) ----

  bool EmitKernels();
  void LayOutScratch();
  // A function with the parameters and the result of the entry, and for a piece of a plan its first library call. Its
  // first block is left to private memory.
  V Function(const std::string& name, const std::function<void()>& body, bool piece = false);
  // Ends the plan if `ended` is not 0: later steps would read results that do not exist.
  void EndIf(V ended);
  LLVMBasicBlockRef End() {
    if (end_ == nullptr) end_ = l_.NewBlock("end");
    return end_;
  }
  // Ends the plan here, before or in a step, if the host wants the run to end.
  void Poll(uint32_t step, const std::function<V()>& trips = {});
  // A poll before a step with this much work. Most steps are short, so most have no poll before them.
  void PollBefore(double work);
  V Offset(V base, uint64_t bytes);
  V OfArgs(uint64_t offset, const char* name) { return EmitLoadOfArgs(l_, LLVMGetParam(function_, 3), offset, name); }

  // ---- steps that follow each other (plan_pieces.cc) ----

  // Neither a loop nor a branch.
  static bool IsStraight(uint32_t kind) { return kind <= RICCI_STEP_COPY || kind == RICCI_STEP_SOURCE; }
  uint32_t Straight(uint32_t s) const;
  void Sequence(uint32_t first, uint32_t n);
  std::vector<uint32_t> NumbersOf(uint32_t first, uint32_t n);
  void AppendStorage(uint32_t buffer, std::vector<uint64_t>& key) const;
  std::optional<uint32_t> FirstLibrary(uint32_t first, uint32_t n) const;
  V LibraryOf(uint32_t first, uint32_t n);
  V Library(uint32_t number);
  PlanPiece Piece(uint32_t first, uint32_t n);
  void CallPiece(PlanPiece piece, V library);
  void Repeated(uint32_t first, uint32_t period, uint32_t times);

  // ---- sources (plan_sources.cc) ----

  bool EmitSources();
  V Tasks(const ricci_plan_source& s, V entry, const std::string& name);
  void SourceStep(const ricci_plan_step& step);

  // ---- each step (plan_steps.cc) ----

  void Step(const ricci_plan_step& step);
  bool PollsInside(const ricci_plan_step& step) const;
  uint64_t LocationOf(const ricci_plan_step& step) const;
  void ProfiledStep(const ricci_plan_step& step);
  void StepItself(const ricci_plan_step& step);
  void KernelStep(const ricci_plan_step& step);
  void LibraryStep(const ricci_plan_step& step);
  bool IsLast(const ricci_plan_step& step) const { return &step == plan_.steps + plan_.n_steps - 1; }
  void CopyStep(const uint32_t* args);
  void RunUnits(const KernelCode& k, V function, V arguments, int64_t units, int64_t grain, bool last);
  void Control(const ricci_plan_step& step, const uint32_t* args);
  void BeginWhile(uint32_t predicate);
  void EnterBody();
  V CountTrip(V trips);
  void Case(const ricci_plan_step& step, const uint32_t* args);
  void NextCase();
  void EndBlock();
  V Buffer(uint32_t number);
  V Entry(V table, uint32_t index);
  V Data(const ricci_plan_buffer& b);
  V Call(LLVMTypeRef result, const char* name, std::vector<V> args);
  V Arguments(const ricci_plan_step& step, std::vector<V> behind = {});
  void StoreBuffers(const ricci_plan_step& step, uint32_t first, uint32_t last, V array);
  void CallStoreBuffers(const ricci_plan_step& step, uint32_t first, V array);
  V Scratch() { return Offset(LLVMGetParam(function_, 2), (plan_.arena_bytes + 63) / 64 * 64); }
  V ScratchStride() { return l_.I64(static_cast<int64_t>(per_worker_)); }
  // How many workers may run what needs `bytes` of scratch each.
  V ScratchParts(uint64_t bytes) { return l_.I32(static_cast<int32_t>(bytes == 0 ? Pool::kMaxWorkers : workers_)); }

  const LlvmBuilder& l_;
  const ricci_kernel_table* const* kernels_;
  uint32_t n_kernels_;
  const ricci_plan& plan_;
  const uint32_t workers_;  // that scratch is laid out for
  const Constants constants_;
  const bool profiled_;
  PlanCode out_;
  std::vector<KernelCode> code_;
  std::vector<LinkedSource> sources_;
  std::vector<Block> open_;
  uint64_t per_worker_ = 0, partials_ = 0;
  V function_ = nullptr;
  uint32_t step_ = 0;                      // that is emitted
  LLVMBasicBlockRef end_ = nullptr;        // of function_, for a plan that ends early; NULL: nothing jumps there
  double work_ = 0;                        // of the steps since the last poll (polls.h)
  std::optional<uint32_t> first_library_;  // that the function is given; none for the entry, and without calls
  std::map<std::vector<uint64_t>, uint32_t> known_;  // steps that are equal
};

}  // namespace ricci::cpu
#endif
