// fold: an equation whose operands are constants becomes a constant, computed by the reference interpreter.
//
// Small results are computed whole; elementwise work on splats of any size is done once, on scalars. Beyond 1 MB
// nothing is folded, and beyond kInterpreted elements only splats are, because compile time counts too.
#include "pass/kernel_builder.h"
#include "pass/pass.h"

namespace ricci { inline namespace v0 { namespace pass {
namespace {

constexpr int64_t kInterpreted = 4096;

using Bytes = std::vector<std::byte>;

// All elements of a constant.
Bytes Elements(const ir::Program& f, ir::ValueId v) {
  const ir::Constant& c = *f.constant(v);
  Bytes out;
  for (uint64_t n = c.splat ? static_cast<uint64_t>(f.type(v).elements) : 1; n > 0; --n)
    out.insert(out.end(), c.data->bytes.begin(), c.data->bytes.end());
  return out;
}

// Runs one equation on constants in the interpreter; returns the bytes of its single result, empty if a check does not
// hold. `update`: its lowering writes into operand 0.
absl::StatusOr<Bytes> Interpret(const ir::Program& f, const ir::Equation& eqn, bool update, const Target& interpreter) {
  KernelBuilder k(prim::Registry::Of(f), "fold", interpreter);
  RICCI_ASSIGN(KernelBuilder::Result lowered, k.Lower(f, eqn));
  Bytes out = update ? Elements(f, eqn.operands[0]) : Bytes(f.type(eqn.result(0)).bytes);
  std::vector<void*> buffers;
  for (const KernelBuilder::Binding& b : lowered.bindings) {
    const bool result = b.kind == KernelBuilder::Binding::Kind::kResult;
    RICCI_TRY(base::Invariant(result || b.data != nullptr, "fold: an operand is not constant"));
    buffers.push_back(result ? static_cast<void*>(out.data()) : const_cast<std::byte*>(b.data->bytes.data()));
  }
  const ricci_kernel_table table = lowered.kernel.View();
  uint32_t failed_check = RICCI_NO_CHECK;
  RICCI_TRY(kernel::Interpret(table, buffers.data(), &failed_check));
  return failed_check == RICCI_NO_CHECK ? out : Bytes{};
}

bool AllSplats(const ir::Program& f, const ir::Equation& eqn) {
  for (ir::ValueId v : eqn.operands) {
    if (!f.constant(v)->splat) return false;
  }
  return true;
}

// The same elementwise equation on scalars.
absl::StatusOr<Bytes> FoldSplat(const ir::Program& f, const ir::Equation& eqn, const Target& interpreter) {
  RICCI_ASSIGN(auto b, Builder::Create(prim::Registry::Of(f), "fold", {}));
  Vals in;
  for (ir::ValueId v : eqn.operands) {
    RICCI_ASSIGN(ir::TypeId scalar, b->types().WithShape(f.type(v), {}));
    RICCI_ASSIGN(trace::Val c, b->Constant(scalar, true, f.constant(v)->data));
    in.push_back(c);
  }
  RICCI_ASSIGN(Vals out, b->Emit(eqn.prim, eqn.attrs, in));
  RICCI_ASSIGN(ir::ProgramRef p, b->Finish(out));
  return Interpret(*p, p->equations[0], false, interpreter);
}

bool OneValue(const Bytes& bytes, uint32_t size) {
  return bytes.size() > size && std::memcmp(bytes.data(), bytes.data() + size, bytes.size() - size) == 0;
}

// The constant that `eqn` is; empty if it is not constant or too large.
absl::StatusOr<Bytes> FoldEquation(const ir::Program& f, const ir::Equation& eqn, const Target& interpreter) {
  const prim::Row& row = prim::Registry::Of(f).Get(eqn.prim);
  if (eqn.n_results != 1 || eqn.operands.empty() || row.effectful() || row.flow != prim::Flow::kNone ||
      row.has(RICCI_PRIM_BARRIER)) {
    return Bytes{};
  }
  for (ir::ValueId v : eqn.operands) {
    if (f.constant(v) == nullptr) return Bytes{};
  }
  const ir::ArrayType& t = f.type(eqn.result(0));
  if (t.elements == 0) return Bytes{};
  const uint32_t size = types::Info(t.dtype).size;
  const trace::Op op(f, eqn);
  RICCI_ASSIGN(const ricci_lowering* l, ChooseLowering(row, *op.get(), interpreter, kKernelKinds));
  if (l == nullptr) return Bytes{};
  if (AllSplats(f, eqn) && row.has(RICCI_PRIM_VIEW))
    return Bytes(f.constant(eqn.operands[0])->data->bytes.begin(),
                 f.constant(eqn.operands[0])->data->bytes.begin() + size);
  if (t.rank() != 0 && l->kind == RICCI_LOWER_SCALAR && AllSplats(f, eqn)) return FoldSplat(f, eqn, interpreter);
  if (t.elements > kInterpreted) return Bytes{};
  for (ir::ValueId v : eqn.operands) {
    if (f.type(v).elements > kInterpreted) return Bytes{};
  }
  RICCI_ASSIGN(Bytes bytes, Interpret(f, eqn, IsUpdate(*l), interpreter));
  if (OneValue(bytes, size)) bytes.resize(size);
  return bytes;
}

}  // namespace

absl::StatusOr<ir::ProgramRef> Fold(const ir::Program& program, const Options& options) {
  const Target interpreter("ref");
  return Rebuild(program,
                 [&](Builder& b, const ir::Program& f, const ir::Equation& eqn,
                     std::span<const trace::Val> in) -> absl::StatusOr<Vals> {
                   // Operands folded just before are constants only in the new program, so the equation is examined
                   // there.
                   RICCI_ASSIGN(Vals out,
                                CopyWithNested(b, f, eqn, in, [&](const ir::Program& q) { return Fold(q, options); }));
                   if (out.size() != 1) return out;
                   const ir::Program& now = b.program();
                   const ir::Equation* copy = now.definition(Builder::Index(out[0]));
                   if (copy == nullptr) return out;
                   const ir::Equation stable = *copy;
                   RICCI_ASSIGN(Bytes bytes, FoldEquation(now, stable, interpreter));
                   if (bytes.empty()) return out;
                   RICCI_ASSIGN(trace::Val c, b.Constant(b.type_id(out[0]), bytes));
                   return Vals{c};
                 });
}

}}}  // namespace ricci::v0::pass
