// fold: an equation whose operands are constants becomes constants, computed by the reference interpreter.
//
// Small results are computed whole; elementwise work on splats of any size is done once, on scalars. Beyond 1 MB
// nothing is folded, and beyond kInterpreted elements only splats are, because compile time counts too.
//
// What comes from nothing (iota), and elementwise work on it, is known too, but stays: consumers compute it as they go,
// and see more of it than of a table (which elements of a triangle are zero). Its elements are computed only for a
// consumer that is folded, such as a sort or a scatter of it, so they must have the same bits both times: functions
// that backends approximate (exp, sin), and products, which may become part of a sum without being rounded, do not
// stay.
//
// What is known without a schedule has the interpreter's bits, in every schedule. What a schedule makes known keeps the
// backend's.
//
// The reference interpreter runs the equation's own kernel: it needs no second implementation. Its sine has other bits
// than a backend's. The law of one rounding (tests/fuzz) found each of these exceptions.
#include "base/hash_map.h"
#include "kernel/scalar/scalar_eval.h"
#include "pass/kernel/kernel_builder.h"
#include "pass/program/pass.h"
#include "pass/target/choose_lowering.h"

namespace ricci { inline namespace v0 { namespace pass {
namespace {

constexpr int64_t kInterpreted = 4096;
constexpr uint32_t kDeepest = 16;  // equations from iota on; what is deeper becomes a constant

using Bytes = std::vector<std::byte>;

// What equations of one program are known to be, beside constants.
class Folder {
 public:
  Folder(const Target& interpreter, bool exactly) : interpreter_(interpreter), exactly_(exactly) {}

  // The constants that the results of `eqn`, of the program `f` so far, are; empty: it stays.
  absl::StatusOr<std::vector<Bytes>> Fold(const ir::Program& f, const ir::Equation& eqn) {
    RICCI_ASSIGN(const ricci_lowering* l, LoweringOf(f, eqn));
    if (l == nullptr) return std::vector<Bytes>{};
    if (OfSplats(f, eqn)) {
      const ir::ArrayType& t = f.type(eqn.result(0));
      if (prim::Registry::Of(f).Get(eqn.prim).has(RICCI_PRIM_VIEW)) return std::vector<Bytes>{FirstElement(f, eqn)};
      if (t.rank() != 0 && l->kind == RICCI_LOWER_SCALAR) return FoldSplat(f, eqn);
    }
    if (!IsSmall(f, eqn)) return std::vector<Bytes>{};
    const uint32_t depth = DepthOf(f, eqn);
    if (l->kind != RICCI_LOWER_LOOPS && eqn.n_results == 1 && depth != 0 && depth < kDeepest) {
      RICCI_ASSIGN(const KernelBuilder::Result lowered, Lowered(f, eqn));
      if (IsExact(lowered.kernel)) {
        kept_[eqn.result(0)] = {depth, {}};
        return std::vector<Bytes>{};
      }
    }
    return Interpret(f, eqn, IsUpdate(*l));
  }

 private:
  struct Kept {
    uint32_t depth = 0;
    Bytes bytes;  // empty: not computed yet
  };

  bool IsKnown(const ir::Program& f, ir::ValueId v) const {
    return f.constant(v) != nullptr || kept_.find(v) != kept_.end();
  }
  // The lowering of an equation that is known if it is small enough, or NULL.
  absl::StatusOr<const ricci_lowering*> LoweringOf(const ir::Program& f, const ir::Equation& eqn) const {
    const prim::Row& row = prim::Registry::Of(f).Get(eqn.prim);
    if (eqn.n_results == 0 || row.effectful() || row.flow != prim::Flow::kNone || row.has(RICCI_PRIM_BARRIER)) {
      return nullptr;
    }
    for (ir::ValueId v : eqn.operands) {
      if (!IsKnown(f, v)) return nullptr;
    }
    for (uint32_t i = 0; i < eqn.n_results; ++i) {
      if (f.type(eqn.result(i)).elements == 0) return nullptr;
    }
    const trace::Op op(f, eqn);
    return ChooseLowering(row, *op.get(), interpreter_, kKernelKinds);
  }
  absl::StatusOr<KernelBuilder::Result> Lowered(const ir::Program& f, const ir::Equation& eqn) const {
    return KernelBuilder(prim::Registry::Of(f), "fold", interpreter_).Lower(f, eqn);
  }
  // Does the interpreter compute it with the bits of every backend? Before products are contracted, of none.
  bool IsExact(const kernel::Kernel& k) const {
    return std::ranges::none_of(k.insts, [&](const ricci_inst& inst) {
      return kernel::IsApproximated(inst.op) ||
             (!exactly_ && inst.op == RICCI_S_MUL && types::IsContracted(inst.dtype));
    });
  }
  static bool IsSmall(const ir::Program& f, const ir::Equation& eqn) {
    for (uint32_t i = 0; i < eqn.n_results; ++i) {
      if (f.type(eqn.result(i)).elements > kInterpreted) return false;
    }
    return std::all_of(eqn.operands.begin(), eqn.operands.end(),
                       [&](ir::ValueId v) { return f.type(v).elements <= kInterpreted; });
  }
  // 0: it comes from constants alone.
  uint32_t DepthOf(const ir::Program& f, const ir::Equation& eqn) const {
    uint32_t depth = eqn.operands.empty() ? 1 : 0;
    for (ir::ValueId v : eqn.operands) {
      if (f.constant(v) == nullptr) depth = std::max(depth, kept_.find(v)->second.depth + 1);
    }
    return depth;
  }

  static bool OfSplats(const ir::Program& f, const ir::Equation& eqn) {
    return eqn.n_results == 1 && !eqn.operands.empty() &&
           std::all_of(eqn.operands.begin(), eqn.operands.end(),
                       [&](ir::ValueId v) { return f.constant(v) != nullptr && f.constant(v)->splat; });
  }
  static Bytes FirstElement(const ir::Program& f, const ir::Equation& eqn) {
    const auto& bytes = f.constant(eqn.operands[0])->data->bytes;
    return Bytes(bytes.begin(), bytes.begin() + types::Info(f.type(eqn.result(0)).dtype).size);
  }
  // The same elementwise equation on scalars.
  absl::StatusOr<std::vector<Bytes>> FoldSplat(const ir::Program& f, const ir::Equation& eqn) {
    RICCI_ASSIGN(auto b, Builder::Create(prim::Registry::Of(f), "fold", {}));
    Vals in;
    for (ir::ValueId v : eqn.operands) {
      RICCI_ASSIGN(ir::TypeId scalar, b->types().WithShape(f.type(v), {}));
      RICCI_ASSIGN(trace::Val c, b->Constant(scalar, true, f.constant(v)->data));
      in.push_back(c);
    }
    RICCI_ASSIGN(Vals out, b->Emit(eqn.prim, eqn.attrs, in));
    RICCI_ASSIGN(ir::ProgramRef p, b->Finish(out));
    return Interpret(*p, p->equations[0], false);
  }

  // All elements of a known value.
  absl::StatusOr<Bytes> Elements(const ir::Program& f, ir::ValueId v) {
    const ir::Constant* c = f.constant(v);
    if (c != nullptr) {
      Bytes out;
      for (uint64_t n = c->splat ? static_cast<uint64_t>(f.type(v).elements) : 1; n > 0; --n)
        out.insert(out.end(), c->data->bytes.begin(), c->data->bytes.end());
      return out;
    }
    if (kept_[v].bytes.empty()) {
      RICCI_ASSIGN(std::vector<Bytes> computed, Interpret(f, *f.definition(v), false));
      RICCI_TRY(base::Invariant(computed.size() == 1, "fold: what is kept cannot be computed"));
      kept_[v].bytes = std::move(computed[0]);
    }
    return kept_[v].bytes;
  }
  // Runs one equation on known values; returns its results, none if a check does not hold or they would not be exact
  // where they have to be. `update`: its lowering writes into operand 0.
  absl::StatusOr<std::vector<Bytes>> Interpret(const ir::Program& f, const ir::Equation& eqn, bool update) {
    RICCI_ASSIGN(const KernelBuilder::Result lowered, Lowered(f, eqn));
    if (exactly_ && !IsExact(lowered.kernel)) return std::vector<Bytes>{};
    std::vector<Bytes> out, in(eqn.operands.size());
    for (uint32_t i = 0; i < eqn.n_results; ++i) out.emplace_back(f.type(eqn.result(i)).bytes);
    if (update) {
      RICCI_ASSIGN(out[0], Elements(f, eqn.operands[0]));
    }
    std::vector<void*> buffers;
    for (const KernelBuilder::Binding& b : lowered.bindings) {
      RICCI_ASSIGN(void* at, BufferOf(f, eqn, b, in, out));
      buffers.push_back(at);
    }
    const ricci_kernel_table table = lowered.kernel.View();
    uint32_t failed_check = RICCI_NO_CHECK;
    RICCI_TRY(kernel::Interpret(table, buffers.data(), &failed_check));
    return failed_check == RICCI_NO_CHECK ? out : std::vector<Bytes>{};
  }
  absl::StatusOr<void*> BufferOf(const ir::Program& f, const ir::Equation& eqn, const KernelBuilder::Binding& b,
                                 std::vector<Bytes>& in, std::vector<Bytes>& out) {
    if (b.kind == KernelBuilder::Binding::Kind::kResult) return static_cast<void*>(out[b.index].data());
    if (b.data != nullptr) return const_cast<void*>(static_cast<const void*>(b.data->bytes.data()));
    RICCI_TRY(base::Invariant(b.kind == KernelBuilder::Binding::Kind::kOperand, "fold: a buffer is not known"));
    RICCI_ASSIGN(in[b.index], Elements(f, eqn.operands[b.index]));
    return static_cast<void*>(in[b.index].data());
  }

  const Target& interpreter_;
  const bool exactly_;
  base::HashMap<ir::ValueId, Kept> kept_;
};

bool OneValue(const Bytes& bytes, uint32_t size) {
  return bytes.size() > size && std::memcmp(bytes.data(), bytes.data() + size, bytes.size() - size) == 0;
}

// Constants with these elements.
absl::StatusOr<Vals> Constants(Builder& b, std::span<const trace::Val> like, std::vector<Bytes> elements) {
  Vals out;
  for (size_t i = 0; i < like.size(); ++i) {
    const uint32_t size = types::Info(b.type(like[i]).dtype).size;
    if (OneValue(elements[i], size)) elements[i].resize(size);
    RICCI_ASSIGN(trace::Val c, b.Constant(b.type_id(like[i]), elements[i]));
    out.push_back(c);
  }
  return out;
}

absl::StatusOr<ir::ProgramRef> FoldProgram(const ir::Program& program, bool exactly) {
  const Target interpreter("ref");
  Folder folder(interpreter, exactly);
  return Rebuild(program,
                 [&](Builder& b, const ir::Program& f, const ir::Equation& eqn,
                     std::span<const trace::Val> in) -> absl::StatusOr<Vals> {
                   // Operands folded just before are constants only in the new program, so the equation is examined
                   // there.
                   RICCI_ASSIGN(Vals out, CopyWithNested(b, f, eqn, in, [&](const ir::Program& q) {
                                  return FoldProgram(q, exactly);
                                }));
                   if (out.empty()) return out;
                   const ir::Program& now = b.program();
                   const ir::Equation* copy = now.definition(Builder::Index(out[0]));
                   if (copy == nullptr) return out;
                   const ir::Equation stable = *copy;
                   RICCI_ASSIGN(std::vector<Bytes> elements, folder.Fold(now, stable));
                   return elements.empty() ? out : Constants(b, out, std::move(elements));
                 });
}

}  // namespace

absl::StatusOr<ir::ProgramRef> Fold(const ir::Program& f, const Options&) { return FoldProgram(f, false); }
absl::StatusOr<ir::ProgramRef> FoldExact(const ir::Program& f, const Options&) { return FoldProgram(f, true); }

}}}  // namespace ricci::v0::pass
