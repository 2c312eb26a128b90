// The steps of a plan: kernels, library calls, copies, and the loops and branches around them; over buffers that are
// found when the plan runs.
//
// The many buffers of a kernel are listed by functions of 256 each. With that a choice among 6,400 arrays compiles in
// 1.5 s instead of 10, a scan of 6,400 scalars in 3.7 instead of 13.5.
#include <algorithm>

#include "cpu/llvm/debug_info.h"
#include "cpu/plan/plan_emitter.h"

namespace ricci::cpu {
namespace {

constexpr double kCopiedAtOnce = 8;  // bytes, for the work of one instruction
constexpr unsigned kConstantAlignment = 64;
constexpr uint32_t kStoredTogether = 256;  // buffers of a step

}  // namespace

void PlanEmitter::Step(const ricci_plan_step& step) {
  step_ = static_cast<uint32_t>(&step - plan_.steps);
  if (l_.debug != nullptr) l_.debug->At(LocationOf(step));
  if (profiled_ && IsStraight(step.kind)) return ProfiledStep(step);
  if (PollsInside(step)) EmitStepNumber(l_, LLVMGetParam(function_, 3), step_);
  StepItself(step);
}

// Whether the step itself or its tasks poll if the run is to end. Those that are equal share their code, and say the
// number of the first: all are of one loop, and run one kernel.
bool PlanEmitter::PollsInside(const ricci_plan_step& step) const {
  if (step.kind == RICCI_STEP_LIBRARY || step.kind == RICCI_STEP_SOURCE) return true;
  if (step.kind != RICCI_STEP_KERNEL) return false;
  const KernelCode& k = code_[step.index];
  return k.polls || k.units > k.grain || k.partial_chunks > 1;
}

// Of a kernel, where its first instruction with a location comes from.
uint64_t PlanEmitter::LocationOf(const ricci_plan_step& step) const {
  if (step.kind != RICCI_STEP_KERNEL || kernels_[step.index]->locations == nullptr) return 0;
  const ricci_kernel_table& k = *kernels_[step.index];
  const auto* first =
      std::find_if(k.locations, k.locations + k.n_insts, [](uint64_t location) { return location != 0; });
  return first == k.locations + k.n_insts ? 0 : *first;
}

// A step that ends the plan is not reported as a whole.
void PlanEmitter::ProfiledStep(const ricci_plan_step& step) {
  V run = LLVMGetParam(function_, 3), number = l_.I32(static_cast<int>(&step - plan_.steps));
  V begin = Call(l_.i64(), "ricci_cpu_step_begin", {run, number});
  StepItself(step);
  Call(LLVMVoidTypeInContext(l_.ctx), "ricci_cpu_step_end", {run, number, begin});
}

void PlanEmitter::StepItself(const ricci_plan_step& step) {
  switch (step.kind) {
    case RICCI_STEP_KERNEL:
      return KernelStep(step);
    case RICCI_STEP_LIBRARY:
      return LibraryStep(step);
    case RICCI_STEP_SOURCE:
      return SourceStep(step);
    case RICCI_STEP_COPY:
      return CopyStep(plan_.args + step.args);
    default:
      return Control(step, plan_.args + step.args);
  }
}

void PlanEmitter::KernelStep(const ricci_plan_step& step) {
  const KernelCode& k = code_[step.index];
  std::vector<V> behind;
  if (k.partial != nullptr) behind.push_back(Scratch());
  if (k.run_state) behind.push_back(LLVMGetParam(function_, 3));
  V arguments = Arguments(step, behind);
  if (k.partial != nullptr) RunUnits(k, k.partial, arguments, k.partial_chunks, 1, /*last=*/false);
  RunUnits(k, k.function, arguments, k.units, k.grain, IsLast(step));
}

// Kernel `k`, all of it or its chunks. `last`: nothing follows, whether the run is to end or not.
void PlanEmitter::RunUnits(const KernelCode& k, V function, V arguments, int64_t units, int64_t grain, bool last) {
  V run = LLVMGetParam(function_, 3), scratch = Offset(Scratch(), partials_);
  if (units <= grain) {
    PollBefore(k.poll_work);
    V args[] = {arguments, l_.I64(0), l_.I64(units), scratch};
    LLVMBuildCall2(l_.b, LLVMGlobalGetValueType(function), function, args, 4, "");
    if (k.polls && !last) EmitEndIfStopped(l_, run, End());
    return;
  }
  V ended = Call(l_.i32(), profiled_ ? "ricci_cpu_parallel_profiled" : "ricci_cpu_parallel",
                 {run, function, arguments, l_.I64(units), l_.I64(grain), scratch, ScratchStride(),
                  ScratchParts(k.scratch_bytes)});
  if (!last) EndIf(ended);
}

void PlanEmitter::LibraryStep(const ricci_plan_step& step) {
  EndIf(Call(l_.i32(), profiled_ ? "ricci_cpu_library_profiled" : "ricci_cpu_library",
             {LLVMGetParam(function_, 3), Library(step.index), Arguments(step), Offset(Scratch(), partials_),
              ScratchStride(), ScratchParts(plan_.libraries[step.index].scratch_bytes)}));
}

void PlanEmitter::CopyStep(const uint32_t* args) {
  const uint64_t bytes = plan_.buffers[args[0]].bytes;
  PollBefore(static_cast<double>(bytes) / kCopiedAtOnce);
  V to = Buffer(args[0]), from = Buffer(args[1]);
  V same = LLVMBuildICmp(l_.b, LLVMIntEQ, to, from, "");  // a donated array
  V size = LLVMBuildSelect(l_.b, same, l_.I64(0), l_.I64(static_cast<int64_t>(bytes)), "");
  LLVMBuildMemMove(l_.b, to, 1, from, 1, size);
}

// ---- loops and branches ----

void PlanEmitter::Control(const ricci_plan_step& step, const uint32_t* args) {
  switch (step.kind) {
    case RICCI_STEP_WHILE:
      return BeginWhile(args[0]);
    case RICCI_STEP_COND:
      return EnterBody();
    case RICCI_STEP_CASE:
      return Case(step, args);
    case RICCI_STEP_NEXT:
      return NextCase();
    default:
      return EndBlock();
  }
}

void PlanEmitter::BeginWhile(uint32_t predicate) {
  Block block{l_.NewBlock("while"), l_.NewBlock("body"), l_.NewBlock("done"), {}, RICCI_STEP_WHILE};
  block.predicate = predicate;
  if (l_.stoppable) {
    block.trips = l_.Alloca(l_.i64(), "trips");
    LLVMBuildStore(l_.b, l_.I64(0), block.trips);
  }
  LLVMBuildBr(l_.b, block.head);
  LLVMPositionBuilderAtEnd(l_.b, block.head);
  open_.push_back(block);
}

// If the predicate of the loop holds.
void PlanEmitter::EnterBody() {
  const Block& block = open_.back();
  V p = LLVMBuildLoad2(l_.b, l_.i8(), Buffer(block.predicate), "");
  LLVMBuildCondBr(l_.b, LLVMBuildICmp(l_.b, LLVMIntNE, p, l_.IntLike(p, 0), ""), block.inside, block.after);
  LLVMPositionBuilderAtEnd(l_.b, block.inside);
  Poll(step_, [&] { return CountTrip(block.trips); });
}

// How many trips have begun before.
V PlanEmitter::CountTrip(V trips) {
  V before = LLVMBuildLoad2(l_.b, l_.i64(), trips, "");
  LLVMBuildStore(l_.b, LLVMBuildAdd(l_.b, before, l_.I64(1), ""), trips);
  return before;
}

void PlanEmitter::Case(const ricci_plan_step& step, const uint32_t* args) {
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

void PlanEmitter::NextCase() {
  Block& block = open_.back();
  LLVMBuildBr(l_.b, block.after);
  LLVMPositionBuilderAtEnd(l_.b, block.cases[++block.next_case]);
}

void PlanEmitter::EndBlock() {
  const Block block = open_.back();
  open_.pop_back();
  LLVMBuildBr(l_.b, block.kind == RICCI_STEP_WHILE ? block.head : block.after);
  LLVMPositionBuilderAtEnd(l_.b, block.after);
}

// ---- operands ----

V PlanEmitter::Buffer(uint32_t number) {
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

V PlanEmitter::Entry(V table, uint32_t index) {
  V i = l_.I64(index);
  return LLVMBuildLoad2(l_.b, l_.ptr(), LLVMBuildGEP2(l_.b, l_.ptr(), table, &i, 1, ""), "");
}

// A constant in the code.
V PlanEmitter::Data(const ricci_plan_buffer& b) {
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

V PlanEmitter::Call(LLVMTypeRef result, const char* name, std::vector<V> args) {
  std::vector<LLVMTypeRef> types;
  for (V a : args) types.push_back(LLVMTypeOf(a));
  LLVMTypeRef ft = LLVMFunctionType(result, types.data(), static_cast<unsigned>(types.size()), 0);
  V f = LLVMGetNamedFunction(l_.module, name);
  if (f == nullptr) f = LLVMAddFunction(l_.module, name, ft);
  return LLVMBuildCall2(l_.b, ft, f, args.data(), static_cast<unsigned>(args.size()), "");
}

// The buffers of a step, and what a kernel takes after them, as an array on the stack. Many are stored by functions of
// their own, since LLVM goes through all uses of an array for each of them.
V PlanEmitter::Arguments(const ricci_plan_step& step, std::vector<V> behind) {
  const size_t count = step.n_args + behind.size();
  V array = l_.Alloca(LLVMArrayType2(l_.ptr(), std::max<size_t>(count, 1)), "buffers");
  if (step.n_args <= kStoredTogether) {
    StoreBuffers(step, 0, step.n_args, array);
  } else {
    for (uint32_t first = 0; first < step.n_args; first += kStoredTogether) CallStoreBuffers(step, first, array);
  }
  for (size_t i = 0; i < behind.size(); ++i) {
    LLVMBuildStore(l_.b, behind[i], Offset(array, (step.n_args + i) * sizeof(void*)));
  }
  return array;
}

void PlanEmitter::StoreBuffers(const ricci_plan_step& step, uint32_t first, uint32_t last, V array) {
  for (uint32_t i = first; i < last; ++i) {
    LLVMBuildStore(l_.b, Buffer(plan_.args[step.args + i]), Offset(array, i * sizeof(void*)));
  }
}

void PlanEmitter::CallStoreBuffers(const ricci_plan_step& step, uint32_t first, V array) {
  LLVMBasicBlockRef here = LLVMGetInsertBlock(l_.b);
  const uint32_t last = std::min(first + kStoredTogether, step.n_args);
  V store = Function(
      "buffers" + std::to_string(step.args + first),
      [&] { StoreBuffers(step, first, last, LLVMGetParam(function_, 4)); }, /*piece=*/true);
  LLVMSetLinkage(store, LLVMInternalLinkage);
  LLVMPositionBuilderAtEnd(l_.b, here);
  V args[] = {LLVMGetParam(function_, 0), LLVMGetParam(function_, 1), LLVMGetParam(function_, 2),
              LLVMGetParam(function_, 3), array};
  LLVMBuildCall2(l_.b, LLVMGlobalGetValueType(store), store, args, 5, "");
}

}  // namespace ricci::cpu
