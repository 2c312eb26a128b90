#include "plan_codegen.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "code_symbols.h"
#include "codegen/repeats.h"
#include "jit.h"
#include "kernel_codegen.h"
#include "looks.h"
#include "ricci/api_table.h"
#include "ricci/exact.h"
#include "run_state.h"

namespace ricci::cpu {
namespace {

using V = LLVMValueRef;
constexpr double kCopiedAtOnce = 8;        // bytes, in the work of an instruction
constexpr uint64_t kBehindPartials = 256;  // bytes that the last vector of partial results may read beyond them
constexpr unsigned kConstantAlignment = 64;
using KernelFn = void (*)(void* const* buffers, int64_t begin, int64_t end, void* scratch);

// ---- called by generated code ----

struct ParallelKernel {
  RunState* run;
  KernelFn fn;
  void* const* buffers;
  int64_t units, grain;
  char* scratch;
  uint64_t scratch_stride;
};

// 1: the run is to end.
extern "C" uint32_t RicciCpuParallel(RunState* run, KernelFn fn, void* const* buffers, int64_t units, int64_t grain,
                                     char* scratch, uint64_t scratch_stride, uint32_t scratch_parts) {
  ParallelKernel k{run, fn, buffers, units, grain, scratch, scratch_stride};
  run->pool->Run((units + grain - 1) / grain,
                 [](void* arg, int64_t task, uint32_t worker) {
                   const auto& p = *static_cast<ParallelKernel*>(arg);
                   if (IsStopped(*p.run)) return;
                   p.fn(p.buffers, task * p.grain, std::min(p.units, (task + 1) * p.grain),
                        p.scratch + worker * p.scratch_stride);
                 },
                 &k, scratch_parts);
  return run->stopped.load(std::memory_order_relaxed) == 0 ? 0 : 1;
}

// The tasks of a library call. Once one fails, later ones are left out, while those before it still run: so it is
// always the failure of the lowest number that is reported, whichever thread comes first.
struct LibraryTasks {
  RunState* run;
  const ricci_plan_library* call;
  const ricci_launch* launch;
  char* scratch;
  uint64_t scratch_stride;
  std::atomic<int64_t> failed_task{INT64_MAX};
  std::mutex mutex;
  ricci_status* status = nullptr;  // of failed_task

  void Run(int64_t task, uint32_t worker) {
    if (task > failed_task.load(std::memory_order_relaxed) || IsStopped(*run)) return;
    ricci_launch mine = *launch;
    mine.task = task;
    if (call->scratch_bytes != 0) mine.scratch = scratch + worker * scratch_stride;
    if (ricci_status* s = call->library->launch(call->state, &mine)) Keep(task, s);
  }
  void Keep(int64_t task, ricci_status* s) {
    {
      std::lock_guard lock(mutex);
      if (task < failed_task.load(std::memory_order_relaxed)) {
        failed_task.store(task, std::memory_order_relaxed);
        std::swap(status, s);
      }
    }
    if (s != nullptr) ricci_status_free(s);
  }
};

// 1: a task has failed, and its status is that of the run; or the run is to end.
extern "C" uint32_t RicciCpuLibrary(RunState* run, const ricci_plan_library* call, void* const* buffers, char* scratch,
                                    uint64_t scratch_stride, uint32_t scratch_parts) {
  ricci_launch launch{};
  launch.hdr.size = sizeof launch;
  launch.n_in = call->n_in;
  launch.n_out = call->n_out;
  launch.in = buffers;
  launch.out = buffers + call->n_in;
  launch.workspace = call->workspace_bytes != 0 ? buffers[call->n_in + call->n_out] : nullptr;
  LibraryTasks tasks{run, call, &launch, scratch, scratch_stride, INT64_MAX, {}, nullptr};
  run->pool->Run(
      call->tasks, [](void* arg, int64_t task, uint32_t worker) { static_cast<LibraryTasks*>(arg)->Run(task, worker); },
      &tasks, scratch_parts);
  run->status = tasks.status;
  return run->status == nullptr && run->stopped.load(std::memory_order_relaxed) == 0 ? 0 : 1;
}

template <typename F>
void* Address(F* f) {
  void* p;
  static_assert(sizeof p == sizeof f);
  std::memcpy(&p, &f, sizeof p);
  return p;
}

// ---- generation ----

class PlanCodegen {
 public:
  PlanCodegen(const LlvmBuilder& l, const ricci_kernel_table* const* kernels, uint32_t n_kernels,
              const ricci_plan& plan, uint32_t workers, Constants constants)
      : l_(l), kernels_(kernels), n_kernels_(n_kernels), plan_(plan), workers_(workers), constants_(constants) {}

  PlanCode Emit() {
    for (uint32_t i = 0; i < n_kernels_; ++i) {
      const std::string name(kernels_[i]->name.ptr, kernels_[i]->name.len);
      code_.push_back(EmitKernel(l_, *kernels_[i], "kernel." + name, workers_));
      if (!code_.back().error.empty()) {
        out_.error = name + ": " + code_.back().error;
        return out_;
      }
      per_worker_ = std::max(per_worker_, (code_.back().scratch_bytes + 63) / 64 * 64);
      const auto partials = static_cast<uint64_t>(code_.back().partials);
      if (partials != 0) partials_ = std::max(partials_, (partials * 8 + 63) / 64 * 64 + kBehindPartials);
    }
    for (uint32_t i = 0; i < plan_.n_libraries; ++i) {
      per_worker_ = std::max(per_worker_, (plan_.libraries[i].scratch_bytes + 63) / 64 * 64);
    }
    const auto limited = [](ricci_exact n) { return static_cast<uint64_t>(ricci_exact_clamp(n, 0, RICCI_MAX_DIM)); };
    per_worker_ = limited(ricci_exact_of(static_cast<int64_t>(per_worker_)));
    out_.scratch_bytes = limited(ricci_exact_of(static_cast<int64_t>(per_worker_)) * workers_ +
                                 static_cast<int64_t>(std::min<uint64_t>(partials_, RICCI_MAX_DIM)));
    Function(kEntryName, [&] {
      for (uint32_t s = 0; s < plan_.n_steps;) {
        const uint32_t straight = Straight(s);
        straight == 0 ? Step(plan_.steps[s]) : Sequence(s, straight);
        s += std::max(straight, 1u);
      }
    });
    return out_;
  }

 private:
  struct Block {
    LLVMBasicBlockRef head, inside, after;
    std::vector<LLVMBasicBlockRef> cases;
    uint32_t kind, next_case = 0;
    uint32_t predicate = 0;  // buffer
  };
  struct PlanPiece {
    V function;
    bool ends;  // it may end the plan
  };

  // A function with the parameters and the result of the entry, and for a piece of a plan its first library call. Its
  // first block is left to private memory.
  template <typename Body>
  V Function(const std::string& name, Body body, bool piece = false) {
    LLVMTypeRef params[] = {l_.ptr(), l_.ptr(), l_.ptr(), l_.ptr(), l_.ptr()};
    LLVMTypeRef type = LLVMFunctionType(l_.i32(), params, piece ? 5 : 4, 0);
    V function = LLVMAddFunction(l_.module, name.c_str(), type);
    const V outer = std::exchange(function_, function);
    const LLVMBasicBlockRef outer_end = std::exchange(end_, nullptr);
    LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(l_.ctx, function, "entry");
    LLVMBasicBlockRef start = LLVMAppendBasicBlockInContext(l_.ctx, function, "start");
    LLVMPositionBuilderAtEnd(l_.b, start);
    body();
    LLVMBuildRet(l_.b, l_.I32(0));
    if (end_ != nullptr) {
      LLVMPositionBuilderAtEnd(l_.b, end_);
      LLVMBuildRet(l_.b, l_.I32(1));
    }
    LLVMPositionBuilderAtEnd(l_.b, entry);
    LLVMBuildBr(l_.b, start);
    function_ = outer, end_ = outer_end;
    return function;
  }

  // How many steps from `s` on run one after the other.
  uint32_t Straight(uint32_t s) const {
    uint32_t n = 0;
    while (s + n < plan_.n_steps && plan_.steps[s + n].kind <= RICCI_STEP_COPY) ++n;
    return n;
  }

  // Steps that run one after the other. Long sequences are cut into functions, because code generation of one function
  // is not linear in its length; what is repeated has code once.
  void Sequence(uint32_t first, uint32_t n) {
    const uint32_t most = l_.cuts.piece_steps;
    if (n <= most) {
      for (uint32_t s = first; s < first + n; ++s) Step(plan_.steps[s]);
      return;
    }
    for (const codegen::Repeat& r : codegen::RepeatsOf(NumbersOf(first, n), l_.cuts.repeat_steps)) {
      if (r.times > 1) {
        Repeated(first + r.first, r.period, r.times);
        continue;
      }
      for (uint32_t done = 0; done < r.period; done += most) {
        const uint32_t from = first + r.first + done, left = std::min(most, r.period - done);
        CallPiece(Piece(from, left), LibraryOf(from, left));
      }
    }
  }

  // Numbers by which steps are equal: they do the same with the same buffers, library calls by calls that follow each
  // other in the table.
  std::vector<uint32_t> NumbersOf(uint32_t first, uint32_t n) {
    std::vector<uint32_t> numbers;
    uint32_t due = FirstLibrary(first, n).value_or(0);
    for (uint32_t s = first; s < first + n; ++s) {
      const ricci_plan_step& step = plan_.steps[s];
      std::vector<uint64_t> key = {step.kind, step.index};
      if (step.kind == RICCI_STEP_LIBRARY) {
        const bool in_turn = step.index == due++;
        key[1] = in_turn ? 0 : s + 1;
        key.push_back(plan_.libraries[step.index].scratch_bytes != 0);
      }
      for (uint32_t i = 0; i < step.n_args; ++i) AppendPlace(plan_.args[step.args + i], key);
      numbers.push_back(known_.try_emplace(std::move(key), static_cast<uint32_t>(known_.size())).first->second);
    }
    return numbers;
  }

  void AppendPlace(uint32_t buffer, std::vector<uint64_t>& key) const {
    const ricci_plan_buffer& b = plan_.buffers[buffer];
    const bool constant = b.kind == RICCI_BUFFER_CONSTANT, arena = b.kind == RICCI_BUFFER_ARENA;
    key.insert(key.end(), {b.kind, b.bytes, constant ? buffer : arena ? b.offset : b.index});
  }

  // The first library call of these steps.
  std::optional<uint32_t> FirstLibrary(uint32_t first, uint32_t n) const {
    const auto is_call = [](const ricci_plan_step& step) { return step.kind == RICCI_STEP_LIBRARY; };
    const auto* const end = plan_.steps + first + n;
    const auto* const found = std::find_if(plan_.steps + first, end, is_call);
    return found == end ? std::nullopt : std::optional(found->index);
  }
  V LibraryOf(uint32_t first, uint32_t n) {
    const std::optional<uint32_t> number = FirstLibrary(first, n);
    return number ? Library(*number) : LLVMConstNull(l_.ptr());
  }
  V Library(uint32_t number) {
    V first = first_library_ ? LLVMGetParam(function_, 4) : OfArgs(offsetof(ricci_run_args, libraries), "libraries");
    return Offset(first, (uint64_t{number} - first_library_.value_or(0)) * sizeof(ricci_plan_library));
  }

  PlanPiece Piece(uint32_t first, uint32_t n) {
    bool ends = false;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(l_.b);
    const std::optional<uint32_t> outer = std::exchange(first_library_, FirstLibrary(first, n));
    V piece = Function(
        "piece" + std::to_string(first),
        [&] {
          Sequence(first, n);
          ends = end_ != nullptr;
        },
        /*piece=*/true);
    first_library_ = outer;
    LLVMSetLinkage(piece, LLVMInternalLinkage);
    LLVMPositionBuilderAtEnd(l_.b, here);
    return {piece, ends};
  }
  void CallPiece(PlanPiece piece, V library) {
    V args[] = {LLVMGetParam(function_, 0), LLVMGetParam(function_, 1), LLVMGetParam(function_, 2),
                LLVMGetParam(function_, 3), library};
    V ended = LLVMBuildCall2(l_.b, LLVMGlobalGetValueType(piece.function), piece.function, args, 5, "");
    if (piece.ends) EndIf(ended);
  }

  // A loop over a piece; the next trip has the next library calls.
  void Repeated(uint32_t first, uint32_t period, uint32_t times) {
    const PlanPiece piece = Piece(first, period);
    V library = LibraryOf(first, period);
    const auto calls = std::count_if(plan_.steps + first, plan_.steps + first + period,
                                     [](const ricci_plan_step& step) { return step.kind == RICCI_STEP_LIBRARY; });
    LLVMBasicBlockRef before = LLVMGetInsertBlock(l_.b), loop = l_.NewBlock("repeat"), after = l_.NewBlock("repeated");
    LLVMBuildBr(l_.b, loop);
    LLVMPositionBuilderAtEnd(l_.b, loop);
    V trip = LLVMBuildPhi(l_.b, l_.i32(), "trip"), now = LLVMBuildPhi(l_.b, l_.ptr(), "library");
    Look();
    CallPiece(piece, now);
    V trips[] = {l_.I32(0), LLVMBuildAdd(l_.b, trip, l_.I32(1), "")};
    V libraries[] = {library, Offset(now, static_cast<uint64_t>(calls) * sizeof(ricci_plan_library))};
    LLVMBasicBlockRef from[] = {before, LLVMGetInsertBlock(l_.b)};
    LLVMAddIncoming(trip, trips, from, 2);
    LLVMAddIncoming(now, libraries, from, 2);
    V more = LLVMBuildICmp(l_.b, LLVMIntULT, trips[1], l_.I32(static_cast<int32_t>(times)), "");
    LLVMBuildCondBr(l_.b, more, loop, after);
    LLVMPositionBuilderAtEnd(l_.b, after);
  }

  // The plan ends here if a call says so: what follows would read what is not there.
  void EndIf(V ended) {
    LLVMBasicBlockRef next = l_.NewBlock("next");
    LLVMBuildCondBr(l_.b, LLVMBuildICmp(l_.b, LLVMIntNE, ended, l_.I32(0), ""), End(), next);
    LLVMPositionBuilderAtEnd(l_.b, next);
    work_ = 0;
  }
  LLVMBasicBlockRef End() {
    if (end_ == nullptr) end_ = l_.NewBlock("end");
    return end_;
  }
  // Here if the host wants the run to end.
  void Look() {
    EmitLook(l_, LLVMGetParam(function_, 3), End());
    work_ = 0;
  }
  // Before a step that takes so much. Most steps are short, so most have no look before them.
  void LookBefore(double work) {
    if (work_ + work > kLookWork) Look();
    work_ += work;
  }

  V Offset(V base, uint64_t bytes) {
    V index = l_.I64(static_cast<int64_t>(bytes));
    return LLVMBuildGEP2(l_.b, l_.i8(), base, &index, 1, "");
  }
  V OfArgs(uint64_t offset, const char* name) { return EmitLoadOfArgs(l_, LLVMGetParam(function_, 3), offset, name); }
  V Entry(V table, uint32_t index) {
    V i = l_.I64(index);
    return LLVMBuildLoad2(l_.b, l_.ptr(), LLVMBuildGEP2(l_.b, l_.ptr(), table, &i, 1, ""), "");
  }
  V Scratch() { return Offset(LLVMGetParam(function_, 2), (plan_.arena_bytes + 63) / 64 * 64); }
  V Buffer(uint32_t number) {
    const ricci_plan_buffer& b = plan_.buffers[number];
    switch (b.kind) {
      case RICCI_BUFFER_INPUT:
        return Entry(LLVMGetParam(function_, 0), b.index);
      case RICCI_BUFFER_OUTPUT:
        return Entry(LLVMGetParam(function_, 1), b.index);
      case RICCI_BUFFER_CONSTANT:
        if (constants_ == Constants::kData) return Data(b);
        return Entry(OfArgs(offsetof(ricci_run_args, constants), "constants"), b.index);
      default:
        return Offset(LLVMGetParam(function_, 2), b.offset);
    }
  }

  // A constant in the code.
  V Data(const ricci_plan_buffer& b) {
    const std::string name = "constant." + std::to_string(b.index);
    if (V known = LLVMGetNamedGlobal(l_.module, name.c_str())) return known;
    V bytes = LLVMConstStringInContext2(l_.ctx, static_cast<const char*>(b.data), b.bytes, /*DontNullTerminate=*/1);
    V data = LLVMAddGlobal(l_.module, LLVMTypeOf(bytes), name.c_str());
    LLVMSetInitializer(data, bytes);
    LLVMSetGlobalConstant(data, 1);
    LLVMSetLinkage(data, LLVMPrivateLinkage);
    LLVMSetAlignment(data, kConstantAlignment);
    return data;
  }

  V Call(LLVMTypeRef result, const char* name, std::vector<V> args) {
    std::vector<LLVMTypeRef> types;
    for (V a : args) types.push_back(LLVMTypeOf(a));
    LLVMTypeRef ft = LLVMFunctionType(result, types.data(), static_cast<unsigned>(types.size()), 0);
    V f = LLVMGetNamedFunction(l_.module, name);
    if (f == nullptr) f = LLVMAddFunction(l_.module, name, ft);
    return LLVMBuildCall2(l_.b, ft, f, args.data(), static_cast<unsigned>(args.size()), "");
  }

  // The buffers of a step, and what a kernel wants behind them, as an array on the stack.
  V Arguments(const ricci_plan_step& step, std::vector<V> behind = {}) {
    std::vector<V> all;
    for (uint32_t i = 0; i < step.n_args; ++i) all.push_back(Buffer(plan_.args[step.args + i]));
    all.insert(all.end(), behind.begin(), behind.end());
    V array = l_.Alloca(LLVMArrayType2(l_.ptr(), std::max<size_t>(all.size(), 1)), "buffers");
    for (size_t i = 0; i < all.size(); ++i) {
      V index = l_.I64(static_cast<int64_t>(i));
      LLVMBuildStore(l_.b, all[i], LLVMBuildGEP2(l_.b, l_.ptr(), array, &index, 1, ""));
    }
    return array;
  }

  // Of kernel `k`: all of it, or its chunks. `last`: nothing comes after it, whether it is stopped or not.
  void RunUnits(const KernelCode& k, V function, V arguments, int64_t units, int64_t grain, bool last) {
    V run = LLVMGetParam(function_, 3), scratch = Offset(Scratch(), partials_);
    if (units <= grain) {
      LookBefore(k.look_work);
      V args[] = {arguments, l_.I64(0), l_.I64(units), scratch};
      LLVMBuildCall2(l_.b, LLVMGlobalGetValueType(function), function, args, 4, "");
      if (k.looks && !last) EmitEndIfStopped(l_, run, End());
      return;
    }
    V ended = Call(l_.i32(), "ricci_cpu_parallel",
                   {run, function, arguments, l_.I64(units), l_.I64(grain), scratch, ScratchStride(),
                    ScratchParts(k.scratch_bytes)});
    if (!last) EndIf(ended);
  }
  V ScratchStride() { return l_.I64(static_cast<int64_t>(per_worker_)); }
  // How many workers may run what needs `bytes` of scratch each.
  V ScratchParts(uint64_t bytes) { return l_.I32(static_cast<int32_t>(bytes == 0 ? Pool::kMaxWorkers : workers_)); }

  void Step(const ricci_plan_step& step) {
    const uint32_t* args = plan_.args + step.args;
    switch (step.kind) {
      case RICCI_STEP_KERNEL: {
        const KernelCode& k = code_[step.index];
        std::vector<V> behind;
        if (k.partial != nullptr) behind.push_back(Scratch());
        if (k.run_state) behind.push_back(LLVMGetParam(function_, 3));
        V arguments = Arguments(step, behind);
        if (k.partial != nullptr) RunUnits(k, k.partial, arguments, k.partial_chunks, 1, /*last=*/false);
        RunUnits(k, k.function, arguments, k.units, k.grain, &step == plan_.steps + plan_.n_steps - 1);
        return;
      }
      case RICCI_STEP_LIBRARY:
        return EndIf(
            Call(l_.i32(), "ricci_cpu_library",
                 {LLVMGetParam(function_, 3), Library(step.index), Arguments(step), Offset(Scratch(), partials_),
                  ScratchStride(), ScratchParts(plan_.libraries[step.index].scratch_bytes)}));
      case RICCI_STEP_COPY: {
        const uint64_t bytes = plan_.buffers[args[0]].bytes;
        LookBefore(static_cast<double>(bytes) / kCopiedAtOnce);
        V to = Buffer(args[0]), from = Buffer(args[1]);
        V same = LLVMBuildICmp(l_.b, LLVMIntEQ, to, from, "");  // a donated array
        V size = LLVMBuildSelect(l_.b, same, l_.I64(0), l_.I64(static_cast<int64_t>(bytes)), "");
        LLVMBuildMemMove(l_.b, to, 1, from, 1, size);
        return;
      }
      default:
        Control(step, args);
    }
  }

  void Control(const ricci_plan_step& step, const uint32_t* args) {
    switch (step.kind) {
      case RICCI_STEP_WHILE: {
        Block block{l_.NewBlock("while"), l_.NewBlock("body"), l_.NewBlock("done"), {}, RICCI_STEP_WHILE};
        block.predicate = args[0];
        LLVMBuildBr(l_.b, block.head);
        LLVMPositionBuilderAtEnd(l_.b, block.head);
        open_.push_back(block);
        return;
      }
      case RICCI_STEP_COND: {
        const Block& block = open_.back();
        V p = LLVMBuildLoad2(l_.b, l_.i8(), Buffer(block.predicate), "");
        LLVMBuildCondBr(l_.b, LLVMBuildICmp(l_.b, LLVMIntNE, p, l_.IntLike(p, 0), ""), block.inside, block.after);
        LLVMPositionBuilderAtEnd(l_.b, block.inside);
        return Look();
      }
      case RICCI_STEP_CASE:
        return Case(step, args);
      case RICCI_STEP_NEXT: {
        Block& block = open_.back();
        LLVMBuildBr(l_.b, block.after);
        LLVMPositionBuilderAtEnd(l_.b, block.cases[++block.next_case]);
        return;
      }
      default: {
        const Block block = open_.back();
        open_.pop_back();
        LLVMBuildBr(l_.b, block.kind == RICCI_STEP_WHILE ? block.head : block.after);
        LLVMPositionBuilderAtEnd(l_.b, block.after);
        return;
      }
    }
  }

  void Case(const ricci_plan_step& step, const uint32_t* args) {
    Block block{};
    block.kind = RICCI_STEP_CASE;
    block.after = l_.NewBlock("done");
    V index = LLVMBuildLoad2(l_.b, l_.i32(), Buffer(args[0]), "");
    index = l_.Fn("llvm.smax", l_.Fn("llvm.smin", index, l_.I32(static_cast<int>(step.index) - 1)), l_.I32(0));
    for (uint32_t i = 0; i < step.index; ++i) block.cases.push_back(l_.NewBlock("case"));
    V choice = LLVMBuildSwitch(l_.b, index, block.cases.back(), step.index);
    for (uint32_t i = 0; i + 1 < step.index; ++i) LLVMAddCase(choice, l_.I32(static_cast<int>(i)), block.cases[i]);
    LLVMPositionBuilderAtEnd(l_.b, block.cases[0]);
    open_.push_back(block);
  }

  const LlvmBuilder& l_;
  const ricci_kernel_table* const* kernels_;
  uint32_t n_kernels_;
  const ricci_plan& plan_;
  const uint32_t workers_;  // that scratch is laid out for
  const Constants constants_;
  PlanCode out_;
  std::vector<KernelCode> code_;
  std::vector<Block> open_;
  uint64_t per_worker_ = 0, partials_ = 0;
  V function_ = nullptr;
  LLVMBasicBlockRef end_ = nullptr;        // of function_, where the plan ends early; NULL: nothing goes there
  double work_ = 0;                        // of the steps since the last look (looks.h)
  std::optional<uint32_t> first_library_;  // that the function is given; of the entry, and without calls, none
  std::map<std::vector<uint64_t>, uint32_t> known_;  // steps that are equal
};

}  // namespace

PlanCode EmitPlan(const LlvmBuilder& l, const ricci_kernel_table* const* kernels, uint32_t n_kernels,
                  const ricci_plan& plan, uint32_t workers, Constants constants) {
  return PlanCodegen(l, kernels, n_kernels, plan, workers, constants).Emit();
}

std::span<const CodeSymbol> RuntimeSymbols() {
  static const CodeSymbol symbols[] = {{"ricci_cpu_parallel", Address(&RicciCpuParallel)},
                                       {"ricci_cpu_library", Address(&RicciCpuLibrary)},
                                       {"ricci_cpu_stopped", Address(&RicciCpuStopped)}};
  return symbols;
}

}  // namespace ricci::cpu
