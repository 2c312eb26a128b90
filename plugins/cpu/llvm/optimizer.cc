// Passes are named as types, and the analyses they ask for are registered individually. LLVM's PassBuilder, which its C
// API goes through, knows every pass by name and so links all of them into the host, where eight are used. This file
// and source_code.cc alone here include LLVM's C++ headers.
#include "cpu/llvm/optimizer.h"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/BasicAliasAnalysis.h>
#include <llvm/Analysis/BlockFrequencyInfo.h>
#include <llvm/Analysis/BranchProbabilityInfo.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/MemoryDependenceAnalysis.h>
#include <llvm/Analysis/MemorySSA.h>
#include <llvm/Analysis/OptimizationRemarkEmitter.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/Analysis/ProfileSummaryInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/GVN.h>
#include <llvm/Transforms/Scalar/InstSimplifyPass.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

#include <algorithm>

namespace ricci::cpu {
namespace {

constexpr size_t kLongBlock = 256;  // instructions
constexpr size_t kLongSum = 6;      // additions that follow each other

// The analysis managers, each of which reaches the others.
struct Analyses {
  llvm::LoopAnalysisManager loop;
  llvm::FunctionAnalysisManager function;
  llvm::ModuleAnalysisManager module;

  explicit Analyses(llvm::TargetMachine& machine) {
    module.registerPass([] { return llvm::PassInstrumentationAnalysis(); });
    module.registerPass([] { return llvm::ProfileSummaryAnalysis(); });
    module.registerPass([this] { return llvm::FunctionAnalysisManagerModuleProxy(function); });
    RegisterFunctionAnalyses(machine);
    loop.registerPass([] { return llvm::PassInstrumentationAnalysis(); });
    loop.registerPass([this] { return llvm::FunctionAnalysisManagerLoopProxy(function); });
  }

 private:
  void RegisterFunctionAnalyses(llvm::TargetMachine& machine) {
    function.registerPass([] { return llvm::PassInstrumentationAnalysis(); });
    function.registerPass([&machine] { return machine.getTargetIRAnalysis(); });
    function.registerPass([] { return llvm::TargetLibraryAnalysis(); });
    function.registerPass([] { return llvm::AssumptionAnalysis(); });
    function.registerPass([] { return llvm::DominatorTreeAnalysis(); });
    function.registerPass([] { return llvm::PostDominatorTreeAnalysis(); });
    function.registerPass([] { return llvm::LoopAnalysis(); });
    function.registerPass([] { return llvm::ScalarEvolutionAnalysis(); });
    function.registerPass([] { return llvm::BranchProbabilityAnalysis(); });
    function.registerPass([] { return llvm::BlockFrequencyAnalysis(); });
    function.registerPass([] { return llvm::BasicAA(); });
    function.registerPass([] {
      llvm::AAManager aliases;
      aliases.registerFunctionAnalysis<llvm::BasicAA>();  // the code has no metadata for other analyses
      return aliases;
    });
    function.registerPass([] { return llvm::MemorySSAAnalysis(); });
    function.registerPass([] { return llvm::MemoryDependenceAnalysis(); });
    function.registerPass([] { return llvm::OptimizationRemarkEmitterAnalysis(); });
    function.registerPass([this] { return llvm::ModuleAnalysisManagerFunctionProxy(module); });
    function.registerPass([this] { return llvm::LoopAnalysisManagerFunctionProxy(loop); });
  }
};

// Levels 2 and 3 move invariant work out of loops and find equal work across blocks.
llvm::FunctionPassManager PassesOf(uint32_t level) {
  llvm::FunctionPassManager passes;
  const bool thorough = level >= 2;
  const auto combine = [] { return llvm::InstCombinePass(llvm::InstCombineOptions().setVerifyFixpoint(false)); };
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/thorough));
  if (thorough) passes.addPass(combine());
  passes.addPass(llvm::SimplifyCFGPass());
  if (!thorough) return passes;
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), /*UseMemorySSA=*/true));
  passes.addPass(llvm::GVNPass());
  if (level == 2) {
    passes.addPass(llvm::InstSimplifyPass());
  } else {
    passes.addPass(combine());
  }
  passes.addPass(llvm::ADCEPass());
  passes.addPass(llvm::SimplifyCFGPass());
  return passes;
}

// The instruction after which `block` is cut, or NULL if it is short enough. Variables of the stack stay in their
// block, and so do phis (a loop with hundreds of carries begins with as many), which belong to the edges into it.
llvm::Instruction* FindCut(llvm::BasicBlock& block) {
  size_t n = 0;
  llvm::Instruction* last = nullptr;
  for (llvm::Instruction& i : block) {
    if (llvm::isa<llvm::AllocaInst>(i)) last = nullptr, n = 0;
    if (llvm::isa<llvm::PHINode>(i)) continue;
    if (++n == kLongBlock) last = &i;
    if (n == kLongBlock + kLongBlock / 2) return last;
  }
  return nullptr;
}

// LLVM selects instructions, schedules them and orders accesses to memory block by block, in time that grows with the
// square of a block's length, so long blocks are cut. Each part ends with a branch that is never taken (no address is
// -1), because an unconditional one would be removed before instructions are selected.
void CutLongBlocks(llvm::Function& f) {
  if (f.arg_empty() || !f.getArg(0)->getType()->isPointerTy()) return;
  llvm::BasicBlock* never = nullptr;
  for (auto at = f.begin(); at != f.end(); ++at) {
    llvm::Instruction* cut = FindCut(*at);
    if (cut == nullptr) continue;
    llvm::BasicBlock* rest = at->splitBasicBlock(std::next(cut->getIterator()));
    if (never == nullptr) {
      never = llvm::BasicBlock::Create(f.getContext(), "never", &f);
      llvm::Type* const type = f.getReturnType();
      llvm::ReturnInst::Create(f.getContext(), type->isVoidTy() ? nullptr : llvm::Constant::getNullValue(type), never);
    }
    llvm::IRBuilder<> b(at->getTerminator());
    llvm::Value* no_address = llvm::ConstantExpr::getIntToPtr(b.getInt64(~uint64_t{0}), f.getArg(0)->getType());
    b.CreateCondBr(b.CreateICmpEQ(f.getArg(0), no_address), never, rest);
    at->getTerminator()->eraseFromParent();
  }
}

// LLVM searches for the cheapest way to step through each sum that contains the counter of a loop, and splits the sum
// in all ways for that. A random number made from such a counter is a sum of 20 terms: a chain of elliptical slice
// sampling took 1.6 s to compile, 0.06 now. Addresses are rarely sums of so many terms. A freeze hides what it is
// applied to from that search and is not an instruction of the machine.
void CutLongSums(llvm::Function& f) {
  llvm::DenseMap<const llvm::Value*, size_t> terms;
  llvm::SmallVector<llvm::Instruction*> cut;
  for (llvm::BasicBlock* block : llvm::ReversePostOrderTraversal<llvm::Function*>(&f)) {
    for (llvm::Instruction& i : *block) {
      if (!i.getType()->isIntegerTy()) continue;
      if (i.getOpcode() != llvm::Instruction::Add && i.getOpcode() != llvm::Instruction::Sub) continue;
      const size_t n = 1 + std::max(terms.lookup(i.getOperand(0)), terms.lookup(i.getOperand(1)));
      if (n >= kLongSum) cut.push_back(&i);
      terms[&i] = n % kLongSum;
    }
  }
  for (llvm::Instruction* sum : cut) {
    auto* frozen = new llvm::FreezeInst(sum, "", std::next(sum->getIterator()));
    sum->replaceUsesWithIf(frozen, [&](const llvm::Use& use) { return use.getUser() != frozen; });
  }
}

}  // namespace

void Optimize(LLVMModuleRef module, LLVMTargetMachineRef machine, uint32_t level) {
  Analyses analyses(*reinterpret_cast<llvm::TargetMachine*>(machine));
  llvm::ModulePassManager passes;
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(PassesOf(level)));
  passes.run(*llvm::unwrap(module), analyses.module);
  for (llvm::Function& f : *llvm::unwrap(module)) {
    if (f.isDeclaration()) continue;
    CutLongSums(f);
    CutLongBlocks(f);
  }
}

}  // namespace ricci::cpu
