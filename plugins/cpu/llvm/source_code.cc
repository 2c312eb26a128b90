// The text goes through LLVM's parser and verifier, then every function, constant and instruction is looked at, and
// the module is linked into that of the program under names of its own. LLVM's parser is called by its class, because
// the function around it also upgrades debug information, and ends the process if the text is wrong and has any.
#include "cpu/llvm/source_code.h"

#include <llvm/AsmParser/LLParser.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>

#include "cpu/llvm/code_symbols.h"
#include "ricci/api_table.h"

namespace ricci::cpu {
namespace {

constexpr int kDeepest = 256;  // brackets within brackets, for each of which the parser calls itself

// Intrinsics that every processor has code for.
constexpr std::string_view kIntrinsics[] = {"llvm.abs",
                                            "llvm.assume",
                                            "llvm.bitreverse",
                                            "llvm.bswap",
                                            "llvm.ceil",
                                            "llvm.copysign",
                                            "llvm.ctlz",
                                            "llvm.ctpop",
                                            "llvm.cttz",
                                            "llvm.expect",
                                            "llvm.fabs",
                                            "llvm.floor",
                                            "llvm.fma",
                                            "llvm.fmuladd",
                                            "llvm.fptosi.sat",
                                            "llvm.fptoui.sat",
                                            "llvm.fshl",
                                            "llvm.fshr",
                                            "llvm.is.fpclass",
                                            "llvm.lifetime.end",
                                            "llvm.lifetime.start",
                                            "llvm.masked.gather",
                                            "llvm.masked.load",
                                            "llvm.masked.scatter",
                                            "llvm.masked.store",
                                            "llvm.maximum",
                                            "llvm.maxnum",
                                            "llvm.memcpy",
                                            "llvm.memmove",
                                            "llvm.memset",
                                            "llvm.minimum",
                                            "llvm.minnum",
                                            "llvm.round",
                                            "llvm.roundeven",
                                            "llvm.sadd.sat",
                                            "llvm.sadd.with.overflow",
                                            "llvm.smax",
                                            "llvm.smin",
                                            "llvm.smul.with.overflow",
                                            "llvm.sqrt",
                                            "llvm.ssub.sat",
                                            "llvm.ssub.with.overflow",
                                            "llvm.trunc",
                                            "llvm.uadd.sat",
                                            "llvm.uadd.with.overflow",
                                            "llvm.umax",
                                            "llvm.umin",
                                            "llvm.umul.with.overflow",
                                            "llvm.usub.sat",
                                            "llvm.usub.with.overflow",
                                            "llvm.vector.reduce.add",
                                            "llvm.vector.reduce.and",
                                            "llvm.vector.reduce.fadd",
                                            "llvm.vector.reduce.fmax",
                                            "llvm.vector.reduce.fmin",
                                            "llvm.vector.reduce.fmul",
                                            "llvm.vector.reduce.mul",
                                            "llvm.vector.reduce.or",
                                            "llvm.vector.reduce.smax",
                                            "llvm.vector.reduce.smin",
                                            "llvm.vector.reduce.umax",
                                            "llvm.vector.reduce.umin",
                                            "llvm.vector.reduce.xor"};
static_assert(std::ranges::is_sorted(kIntrinsics));

// What a function keeps of its attributes: all else asks for code that the others do not have.
constexpr llvm::Attribute::AttrKind kKept[] = {
    llvm::Attribute::AlwaysInline, llvm::Attribute::Cold,     llvm::Attribute::Memory,
    llvm::Attribute::MustProgress, llvm::Attribute::NoFree,   llvm::Attribute::NoInline,
    llvm::Attribute::NoSync,       llvm::Attribute::NoUnwind, llvm::Attribute::WillReturn,
};

template <typename T>
std::string Printed(const T& what) {
  std::string text;
  llvm::raw_string_ostream(text) << what;
  return text;
}
std::string Name(const llvm::GlobalValue& v) { return "@" + v.getName().str(); }

// LLVM's messages in one line.
std::string InOneLine(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  for (size_t at = 0; (at = text.find('\n', at)) != text.npos;) text.replace(at, 1, ": ");
  return text;
}

bool IsTooDeep(std::string_view text) {
  int depth = 0;
  for (char c : text) {
    depth += c == '(' || c == '[' || c == '{' || c == '<';
    depth -= c == ')' || c == ']' || c == '}' || c == '>';
    if (depth > kDeepest) return true;
  }
  return false;
}

// One text on its way into a module. Each function returns false with error_ set if the text is wrong.
class SourceReader {
 public:
  SourceReader(llvm::LLVMContext& context, const ricci_plan_source& source, const ProcessorText& processor)
      : context_(context), source_(source), processor_(processor) {}

  // NULL with an error.
  std::unique_ptr<llvm::Module> Read() {
    const bool fine = Parse() && CheckTarget() && Verify() && CheckGlobals() && CheckFunctions() && CheckEntry();
    return fine ? std::move(module_) : nullptr;
  }
  const std::string& error() const { return error_; }

 private:
  bool Wrong(std::string what) {
    error_ = std::move(what);
    return false;
  }

  bool Parse() {
    const std::string text(source_.text.ptr, source_.text.len);
    if (IsTooDeep(text)) return Wrong("more than " + std::to_string(kDeepest) + " brackets within each other");
    llvm::SourceMgr lines;
    lines.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(text, "source"), llvm::SMLoc());
    llvm::SMDiagnostic wrong;
    module_ = std::make_unique<llvm::Module>("source", context_);
    llvm::LLParser parser(text, lines, wrong, module_.get(), nullptr, context_);
    const bool failed = parser.Run(/*UpgradeDebugInfo=*/false, [&](llvm::StringRef, llvm::StringRef layout) {
      layout_ = layout.str();
      return std::optional(processor_.layout);
    });
    if (!failed) return true;
    return Wrong(LineText(wrong.getLineNo()) + ", column " + std::to_string(wrong.getColumnNo() + 1) + ": " +
                 InOneLine(wrong.getMessage().str()));
  }

  // Of a line of the text, in the plugin's source if it says where that is.
  std::string LineText(int line) const {
    if (source_.file.len == 0) return "line " + std::to_string(line);
    return std::string(source_.file.ptr, source_.file.len) + ":" + std::to_string(int64_t{source_.line} + line - 1);
  }

  bool CheckTarget() {
    const std::string& triple = module_->getTargetTriple();
    if (!triple.empty() && triple != processor_.triple) {
      return Wrong("it is for " + triple + ", not " + processor_.triple + "; leave `target triple` out");
    }
    if (!layout_.empty() && layout_ != processor_.layout) {
      return Wrong("its data layout is " + layout_ + ", not " + processor_.layout + "; leave `target datalayout` out");
    }
    return module_->getModuleInlineAsm().empty() ? true : Wrong("it has assembly of the processor");
  }

  bool Verify() {
    std::string wrong;
    llvm::raw_string_ostream out(wrong);
    if (llvm::verifyModule(*module_, &out)) return Wrong(InOneLine(wrong));
    llvm::StripDebugInfo(*module_);
    while (!module_->named_metadata_empty()) module_->eraseNamedMetadata(&*module_->named_metadata_begin());
    return true;
  }

  bool CheckGlobals() {
    if (!module_->alias_empty()) return Wrong(Name(*module_->alias_begin()) + " is an alias");
    if (!module_->ifunc_empty()) return Wrong(Name(*module_->ifunc_begin()) + " is an ifunc");
    for (llvm::GlobalVariable& g : module_->globals()) {
      const bool constant = g.isConstant() && g.hasInitializer() && !g.isThreadLocal() && !g.hasAppendingLinkage() &&
                            !g.isExternallyInitialized() && IsPlain(g.getValueType());
      if (!constant) return Wrong(Name(g) + " is not a constant");
      if (g.hasSection() || g.getAddressSpace() != 0) return Wrong(Name(g) + " has a section or an address space");
      Hide(g);
    }
    return true;
  }

  bool CheckFunctions() {
    for (auto at = module_->begin(); at != module_->end();) {
      llvm::Function& f = *at++;
      if (f.isDeclaration() && f.use_empty() && std::string_view(f.getName()) != Entry()) {
        f.eraseFromParent();
      } else if (f.isDeclaration() ? !CheckDeclaration(f) : !CheckDefinition(f)) {
        return false;
      }
    }
    return true;
  }

  bool CheckDeclaration(const llvm::Function& f) {
    const std::string_view name(f.getName());
    if (!f.isIntrinsic()) {
      const bool known = FindCodeSymbol(name) != nullptr && !name.starts_with("ricci_");
      return known || name == Entry() ? true : Wrong(Name(f) + " is not a function that code for cpu may call");
    }
    const llvm::Intrinsic::ID id = f.getIntrinsicID();
    const bool known = id != llvm::Intrinsic::not_intrinsic &&
                       std::ranges::binary_search(kIntrinsics, std::string_view(llvm::Intrinsic::getBaseName(id)));
    return known ? true : Wrong(Name(f) + " is not an intrinsic that code for cpu may call");
  }

  bool CheckDefinition(llvm::Function& f) {
    const bool plain = !f.hasPersonalityFn() && !f.hasGC() && !f.hasPrefixData() && !f.hasPrologueData() &&
                       !f.hasSection() && IsPlain(f.getCallingConv()) && !f.isVarArg();
    if (!plain) return Wrong(Name(f) + " is more than a plain function");
    for (const llvm::BasicBlock& block : f) {
      for (const llvm::Instruction& i : block) {
        if (!IsPlain(i)) return Wrong(Name(f) + ": code for cpu does not have:" + InOneLine(Printed(i)));
      }
    }
    llvm::AttrBuilder kept(context_);
    for (llvm::Attribute::AttrKind kind : kKept) {
      if (f.hasFnAttribute(kind)) kept.addAttribute(f.getFnAttribute(kind));
    }
    f.setAttributes(f.getAttributes().removeFnAttributes(context_).addFnAttributes(context_, kept));
    Hide(f);
    return true;
  }

  static bool IsPlain(llvm::CallingConv::ID c) { return c == llvm::CallingConv::C || c == llvm::CallingConv::Fast; }
  static bool IsPlain(const llvm::Type* t) {
    if (t->isX86_AMXTy() || t->isTargetExtTy() || t->isX86_FP80Ty() || t->isPPC_FP128Ty() || t->isFP128Ty() ||
        t->isBFloatTy()) {
      return false;
    }
    if (const auto* number = llvm::dyn_cast<llvm::IntegerType>(t)) return number->getBitWidth() <= 64;
    if (t->isPointerTy()) return t->getPointerAddressSpace() == 0;
    if (llvm::isa<llvm::ScalableVectorType>(t)) return false;
    return std::ranges::all_of(t->subtypes(), [](const llvm::Type* part) { return IsPlain(part); });
  }
  static bool IsPlain(const llvm::Instruction& i) {
    if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&i)) {
      if (call->isInlineAsm() || !llvm::isa<llvm::CallInst>(i) || !IsPlain(call->getCallingConv())) return false;
      if (call->hasOperandBundles()) return false;
    }
    if (llvm::isa<llvm::VAArgInst>(i) || i.getOpcode() == llvm::Instruction::FRem || i.isEHPad()) return false;
    const auto of_operand = [](const llvm::Use& u) { return u->getType()->isMetadataTy() || IsPlain(u->getType()); };
    return IsPlain(i.getType()) && std::ranges::all_of(i.operands(), of_operand);
  }

  // A global of a module of its own: only the entry is seen from outside.
  static void Hide(llvm::GlobalObject& g) {
    g.setComdat(nullptr);
    g.setVisibility(llvm::GlobalValue::DefaultVisibility);
    g.setDLLStorageClass(llvm::GlobalValue::DefaultStorageClass);
    g.setLinkage(llvm::GlobalValue::InternalLinkage);
  }

  std::string_view Entry() const { return {source_.entry.ptr, source_.entry.len}; }

  bool CheckEntry() {
    const std::string name(Entry());
    const llvm::Function* entry = module_->getFunction(name);
    if (entry == nullptr || entry->isDeclaration()) return Wrong("it does not define the entry @" + name);
    const llvm::FunctionType* wanted = EntryType();
    if (entry->getFunctionType() == wanted && entry->getCallingConv() == llvm::CallingConv::C) return true;
    return Wrong("the entry @" + name + " is " + Printed(*entry->getFunctionType()) + ", not " + Printed(*wanted));
  }

  llvm::FunctionType* EntryType() const {
    llvm::Type* const address = llvm::PointerType::get(context_, 0);
    std::vector<llvm::Type*> of = {address, address, llvm::Type::getInt64Ty(context_)};
    for (uint32_t i = 0; i < source_.n_scalars; ++i) {
      const uint32_t dtype = source_.scalars[i].dtype;
      of.push_back(dtype == RICCI_F32   ? llvm::Type::getFloatTy(context_)
                   : dtype == RICCI_F64 ? llvm::Type::getDoubleTy(context_)
                                        : llvm::Type::getIntNTy(context_, 8 * ricci_dtype_size(dtype)));
    }
    return llvm::FunctionType::get(llvm::Type::getVoidTy(context_), of, /*isVarArg=*/false);
  }

  llvm::LLVMContext& context_;
  const ricci_plan_source& source_;
  const ProcessorText& processor_;
  std::unique_ptr<llvm::Module> module_;
  std::string layout_, error_;
};

// Gives all functions and constants names of this source; returns that of the entry, which stays visible until it is
// linked.
std::string Rename(llvm::Module& m, const std::string& entry, uint32_t number) {
  llvm::Function& first = *m.getFunction(entry);
  const std::string prefix = std::string(kSourcePrefix) + std::to_string(number) + ".";
  for (llvm::Function& f : m) {
    if (!f.isDeclaration()) f.setName(prefix + f.getName());
  }
  for (llvm::GlobalVariable& g : m.globals()) g.setName(prefix + g.getName());
  first.setLinkage(llvm::GlobalValue::ExternalLinkage);
  return first.getName().str();
}

}  // namespace

LLVMValueRef LinkSource(LLVMModuleRef module, const ricci_plan_source& source, uint32_t number,
                        const ProcessorText& processor, std::string& error) {
  llvm::Module& to = *llvm::unwrap(module);
  LLVMContextSetDiagnosticHandler(
      LLVMGetModuleContext(module), [](LLVMDiagnosticInfoRef, void*) {}, nullptr);
  SourceReader reader(to.getContext(), source, processor);
  std::unique_ptr<llvm::Module> read = reader.Read();
  if (read == nullptr) {
    error = reader.error();
    return nullptr;
  }
  const std::string entry = Rename(*read, {source.entry.ptr, source.entry.len}, number);
  read->setTargetTriple("");  // as that of the program, which gets its own at the end
  read->setDataLayout("");
  if (llvm::Linker::linkModules(to, std::move(read))) {
    error = "it does not fit to the rest of the program";
    return nullptr;
  }
  llvm::Function* const linked = to.getFunction(entry);
  linked->setLinkage(llvm::GlobalValue::InternalLinkage);
  return llvm::wrap(linked);
}

}  // namespace ricci::cpu
