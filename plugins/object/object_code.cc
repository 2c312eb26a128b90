#include "object_code.h"

#include <llvm-c/IRReader.h>
#include <llvm-c/Linker.h>

#include <algorithm>
#include <cstddef>

#include "called_code.h"
#include "cpu/plan/plan_codegen.h"
#include "cpu/run/run_state.h"
#include "inlined_entry.h"
#include "object_symbols.h"
#include "runtime_text.h"

namespace ricci::object {
namespace {

using cpu::LlvmBuilder;
using V = LLVMValueRef;

constexpr uint64_t kAlignment = 64;         // of working memory
constexpr uint32_t kLevelOfProducts = 2;    // at least
constexpr uint64_t kPrivateOnStack = 4096;  // hosts may have small stacks

uint64_t Aligned(uint64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

V Field(const LlvmBuilder& l, V base, uint64_t offset) {
  V index = l.I64(static_cast<int64_t>(offset));
  return LLVMBuildGEP2(l.b, l.i8(), base, &index, 1, "");
}

// Records of library calls as code finds them, each with its function at the front; NULL if there are none.
V LibraryTable(const LlvmBuilder& l, const ricci_plan& plan, const Processor& processor) {
  if (plan.n_libraries == 0) return LLVMConstNull(l.ptr());
  LLVMTypeRef rest = LLVMArrayType2(l.i8(), sizeof(ricci_plan_library) - sizeof(void*));
  LLVMTypeRef parts[] = {l.ptr(), rest};
  LLVMTypeRef record = LLVMStructTypeInContext(l.ctx, parts, 2, 0);
  std::vector<V> records;
  for (uint32_t i = 0; i < plan.n_libraries; ++i) {
    const auto& code = *static_cast<const CalledCode*>(plan.libraries[i].state);
    V values[] = {code(l, processor, "called" + std::to_string(i)), LLVMConstNull(rest)};
    records.push_back(LLVMConstNamedStruct(record, values, 2));
  }
  V all = LLVMConstArray2(record, records.data(), records.size());
  V table = LLVMAddGlobal(l.module, LLVMTypeOf(all), "libraries");
  LLVMSetInitializer(table, all);
  LLVMSetGlobalConstant(table, 1);
  LLVMSetLinkage(table, LLVMPrivateLinkage);
  return table;
}

// Internal functions and declarations that nothing uses.
void RemoveUnused(LLVMModuleRef module) {
  for (bool again = true; again;) {
    again = false;
    for (V f = LLVMGetFirstFunction(module), next = nullptr; f != nullptr; f = next) {
      next = LLVMGetNextFunction(f);
      const bool outer = LLVMIsDeclaration(f) == 0 && LLVMGetLinkage(f) == LLVMExternalLinkage;
      if (outer || LLVMGetFirstUse(f) != nullptr) continue;
      LLVMDeleteFunction(f);
      again = true;
    }
  }
}

// Pointers in an array on the stack; NULL if there are none.
V PointerArray(const LlvmBuilder& l, const std::vector<V>& pointers, const char* name) {
  V array = l.Alloca(LLVMArrayType2(l.ptr(), std::max<size_t>(pointers.size(), 1)), name);
  for (size_t i = 0; i < pointers.size(); ++i) LLVMBuildStore(l.b, pointers[i], Field(l, array, i * sizeof(void*)));
  return array;
}

// The first address from `p` on that is aligned.
V AlignedPointer(const LlvmBuilder& l, V p) {
  V types = LLVMBuildPtrToInt(l.b, p, l.i64(), "");
  V short_of = LLVMBuildAnd(l.b, LLVMBuildNeg(l.b, types, ""), l.I64(kAlignment - 1), "");
  return LLVMBuildGEP2(l.b, l.i8(), p, &short_of, 1, "");
}

}  // namespace

ObjectUnit::ObjectUnit(const Processor& processor, bool own_workspace)
    : processor_(processor),
      own_workspace_(own_workspace),
      ctx_(LLVMContextCreate()),
      all_(LLVMModuleCreateWithNameInContext("ricci", ctx_)) {}

ObjectUnit::~ObjectUnit() {
  LLVMDisposeModule(all_);
  LLVMContextDispose(ctx_);
}

std::unique_ptr<ObjectUnit> ObjectUnit::Create(const Processor& processor, bool own_workspace, std::string& error) {
  std::unique_ptr<ObjectUnit> unit(new ObjectUnit(processor, own_workspace));
  unit->settings_.stack_local = kPrivateOnStack;
  unit->settings_.triple = unit->processor_.triple.c_str();
  unit->settings_.processor = unit->processor_.name.empty() ? nullptr : unit->processor_.name.c_str();
  unit->settings_.features = unit->processor_.features.c_str();
  unit->jit_ = cpu::Jit::Create(unit->settings_, error);
  return unit->jit_ == nullptr ? nullptr : std::move(unit);
}

LLVMModuleRef ObjectUnit::Runtime(std::string& error) const {
  const std::string text = RuntimeText(processor_.triple.starts_with("x86_64"));
  LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(text.data(), text.size(), "runtime");
  LLVMModuleRef module = nullptr;
  char* message = nullptr;
  if (LLVMParseIRInContext(ctx_, buffer, &module, &message) == 0) return module;
  error = message;
  LLVMDisposeMessage(message);
  return nullptr;
}

bool ObjectUnit::Add(const ricci_kernel_table* const* kernels, uint32_t n_kernels, const ricci_plan& plan,
                     const std::string& name, uint32_t opt_level, uint64_t& scratch_bytes, std::string& error) {
  LLVMModuleRef module = Runtime(error);
  if (module == nullptr) return false;
  LlvmBuilder l{ctx_,           module,       LLVMCreateBuilderInContext(ctx_), lanes(), settings_.stack_local,
                settings_.cuts, lanes() == 16};
  l.contracts = contracts();
  l.processor = &jit_->processor();
  l.stoppable = false;
  // The quick code generator of level 1 keeps sums in memory, and fuses only some of the multiplications in a loop.
  opt_level_ = std::max({opt_level_, opt_level, plan.n_libraries == 0 ? 1u : kLevelOfProducts});
  const cpu::PlanCode code = EmitPlan(l, kernels, n_kernels, plan, /*workers=*/1, cpu::Constants::kData);
  error = code.error;
  if (error.empty()) AddFunction(l, plan, name, code.scratch_bytes);
  LLVMDisposeBuilder(l.b);
  if (!error.empty()) {
    LLVMDisposeModule(module);
    return false;
  }
  scratch_bytes = code.scratch_bytes;
  RemoveUnused(module);
  LLVMSetTarget(module, jit_->processor().triple.c_str());
  LLVMSetDataLayout(module, jit_->processor().layout.c_str());
  LLVMSetTarget(all_, jit_->processor().triple.c_str());
  LLVMSetDataLayout(all_, jit_->processor().layout.c_str());
  if (LLVMLinkModules2(all_, module) == 0) return true;
  error = "function " + name + " does not fit the others";
  return false;
}

// `int name(inputs, outputs, workspace)`: 0, or 1 + the number of the check that failed (their numbers begin with 0).
void ObjectUnit::AddFunction(const LlvmBuilder& l, const ricci_plan& plan, const std::string& name,
                             uint64_t scratch) const {
  V entry = LLVMGetNamedFunction(l.module, cpu::kEntryName);
  LLVMSetLinkage(entry, LLVMInternalLinkage);
  V libraries = LibraryTable(l, plan, processor_);
  if (V other = LLVMGetNamedFunction(l.module, name.c_str())) LLVMSetValueName2(other, "", 0);
  const uint32_t n = plan.n_inputs + plan.n_outputs;
  std::vector<LLVMTypeRef> params(n + (own_workspace_ ? 0 : 1), l.ptr());
  V f = LLVMAddFunction(l.module, name.c_str(),
                        LLVMFunctionType(l.i32(), params.data(), static_cast<unsigned>(params.size()), 0));
  LLVMPositionBuilderAtEnd(l.b, LLVMAppendBasicBlockInContext(l.ctx, f, "entry"));
  LLVMBasicBlockRef start = LLVMAppendBasicBlockInContext(l.ctx, f, "start");
  LLVMBuildBr(l.b, start);
  LLVMPositionBuilderAtEnd(l.b, start);
  std::vector<V> inputs, outputs;
  for (uint32_t i = 0; i < n; ++i) (i < plan.n_inputs ? inputs : outputs).push_back(LLVMGetParam(f, i));
  V workspace = LLVMConstNull(l.ptr());
  const uint64_t bytes = Aligned(plan.arena_bytes) + scratch;
  if (own_workspace_ && bytes != 0) {
    LLVMTypeRef memory = LLVMArrayType2(l.i8(), bytes);
    workspace = LLVMAddGlobal(l.module, memory, "workspace");
    LLVMSetInitializer(workspace, LLVMConstNull(memory));
    LLVMSetLinkage(workspace, LLVMInternalLinkage);
    LLVMSetAlignment(workspace, kAlignment);
  } else if (!own_workspace_) {
    workspace = AlignedPointer(l, LLVMGetParam(f, n));
  }
  V args = l.Alloca(LLVMArrayType2(l.i8(), sizeof(ricci_run_args)), "args");
  V run = l.Alloca(LLVMArrayType2(l.i8(), sizeof(cpu::RunState)), "run");
  V failed = l.Alloca(l.i32(), "failed");
  LLVMBuildStore(l.b, l.I32(-1), failed);  // RICCI_NO_CHECK
  LLVMBuildStore(l.b, failed, Field(l, args, offsetof(ricci_run_args, failed_check)));
  LLVMBuildStore(l.b, libraries, Field(l, args, offsetof(ricci_run_args, libraries)));
  LLVMBuildStore(l.b, args, Field(l, run, offsetof(cpu::RunState, args)));
  V call[] = {PointerArray(l, inputs, "inputs"), PointerArray(l, outputs, "outputs"), workspace, run};
  V called = LLVMBuildCall2(l.b, LLVMGlobalGetValueType(entry), entry, call, 4, "");
  LLVMBuildRet(l.b, LLVMBuildAdd(l.b, LLVMBuildLoad2(l.b, l.i32(), failed, ""), l.I32(1), ""));
  // Else pointers go through memory: a call of a small program would take 40 ns instead of 10.
  InlineCall(called);
}

std::string ObjectUnit::Write(std::string& error) {
  const std::string object = jit_->ObjectOf(all_, opt_level_, error);
  for (const std::string& symbol : UndefinedSymbols(object)) {
    if (IsOfCLibrary(symbol)) continue;
    error = "its code would call " + symbol +
            ", which the C library does not have; a newer processor (--cpu x86-64-v3) may do that itself";
    return {};
  }
  return object;
}

}  // namespace ricci::object
