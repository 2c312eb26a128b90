// What the structural rows share: making a row from C++ rules, checks of held programs, and emitting operations that
// hold programs.
//
// A rule here is a plain function over core types; DefinitionOf a row gives its rules the form of the C ABI. The rest
// of the core sees these rows only as ricci_prim_def, like those of any plugin.
#ifndef RICCI_CONTROL_STRUCTURAL_ROW_H_
#define RICCI_CONTROL_STRUCTURAL_ROW_H_
#include "base/abi_text.h"
#include "base/status_abi.h"
#include "prim/registry.h"
#include "trace/attrs.h"
#include "trace/roles.h"
#include "transform/partial_eval.h"
#include "transform/rules.h"

namespace ricci { inline namespace v0 { namespace control {

using base::Str;
using ir::Program;
using ir::ProgramRef;
using ir::TypeId;
using trace::Attrs;
using trace::Builder;
using trace::kNone;
using trace::kZero;
using trace::Val;
using trace::Vals;
using transform::Count;
using transform::Mask;
using transform::MaskView;
using transform::Merge;
using transform::NonZero;
using transform::Not;
using transform::Scatter;
using transform::Where;

// One operation as structural rules read it.
struct StructuralOp {
  explicit StructuralOp(const ricci_op* op) : op(*op), attrs(trace::AttrsOf(*op)) {}
  const ricci_op& op;
  Attrs attrs;

  const Program& program(std::string_view name) const { return trace::ProgramOf(attrs, name); }
  int64_t integer(std::string_view name, int64_t otherwise = 0) const { return trace::IntOf(attrs, name, otherwise); }
  std::span<const int64_t> ints(std::string_view name) const { return trace::IntsOf(attrs, name); }
  std::string_view text(std::string_view name) const { return trace::StringOf(attrs, name); }
  std::span<const TypeId> in_types() const { return {op.in_types, op.n_in}; }
  std::span<const TypeId> out_types() const { return {op.out_types, op.n_out}; }
};

// Rules in C++ form and their thunks.
using TypeRule = absl::Status(Builder&, const StructuralOp&);
using JvpRule = absl::Status(Builder&, const StructuralOp&, const ricci_jvp_args&);
using TransposeRule = absl::Status(Builder&, const StructuralOp&, const ricci_transpose_args&);
using BatchRule = absl::Status(Builder&, const StructuralOp&, const ricci_batch_args&);
using PartialEvalRule = absl::Status(const StructuralOp&, const ricci_partial_eval_args&);
using DceRule = absl::Status(Builder*, const StructuralOp&, const ricci_dce_args&);
using LoopsRule = absl::Status(ricci_kernel_builder*, const StructuralOp&);
using IndexRule = absl::Status(ricci_kernel_builder*, const StructuralOp&, const ricci_sval* index, ricci_sval*);
using DecomposeRule = absl::StatusOr<Vals>(Builder&, const StructuralOp&, std::span<const Val>);

template <LoopsRule* F>
ricci_status* LoopsThunk(void*, ricci_kernel_builder* k, const ricci_op* op) {
  return base::AtBorder([&] { return F(k, StructuralOp(op)); });
}
template <IndexRule* F>
ricci_status* IndexThunk(void*, ricci_kernel_builder* k, const ricci_op* op, uint32_t, const ricci_sval* index,
                         ricci_sval* out) {
  return base::AtBorder([&] { return F(k, StructuralOp(op), index, out); });
}
template <DecomposeRule* F>
ricci_status* DecomposeThunk(void*, ricci_builder* b, const ricci_op* op, const ricci_val* in, ricci_val* out) {
  return base::AtBorder([&]() -> absl::Status {
    RICCI_ASSIGN(Vals results, F(*trace::FromAbi(b), StructuralOp(op), {in, op->n_in}));
    std::copy(results.begin(), results.end(), out);
    return absl::OkStatus();
  });
}

constexpr ricci_hdr Header(size_t size, uint32_t flags = 0) { return {static_cast<uint32_t>(size), flags, nullptr}; }
// `absent`: the value of an optional one if it is left out.
constexpr ricci_attr_spec Spec(std::string_view name, uint32_t kind, std::string_view absent = {}) {
  return {Str(name), kind, absent.empty() ? 0 : RICCI_ATTR_OPTIONAL, Str(absent)};
}

template <LoopsRule* F>
constexpr ricci_lowering Loops() {
  ricci_lowering l{};
  l.hdr = Header(sizeof l);
  l.kind = RICCI_LOWER_LOOPS;
  l.target = Str("*");
  l.loops = LoopsThunk<F>;
  return l;
}
template <IndexRule* F>
constexpr ricci_lowering Indexed() {
  ricci_lowering l{};
  l.hdr = Header(sizeof l);
  l.kind = RICCI_LOWER_INDEX;
  l.target = Str("*");
  l.index = IndexThunk<F>;
  return l;
}
// Expanded before kernels are made.
template <DecomposeRule* F>
constexpr ricci_lowering Decomposition(int32_t priority = 0) {
  ricci_lowering l{};
  l.hdr = Header(sizeof l);
  l.kind = RICCI_LOWER_DECOMPOSE;
  l.priority = priority;
  l.target = Str("*");
  l.decompose = DecomposeThunk<F>;
  return l;
}

// A structural primitive: its rules as C++ functions, what it holds and how it runs. Attributes, lowerings and texts
// are static. A rule that is null is named in `missing`.
struct StructuralRow {
  std::string_view name, doc;
  prim::Flow flow = prim::Flow::kNone;
  uint32_t flags = 0;
  std::span<const ricci_attr_spec> attrs;
  std::span<const ricci_lowering* const> lowerings;
  TypeRule* type = nullptr;
  JvpRule* jvp = nullptr;
  TransposeRule* transpose = nullptr;
  BatchRule* batch = nullptr;
  PartialEvalRule* partial_eval = nullptr;
  DceRule* dce = nullptr;
  std::string_view missing = {}, examples = {};
};
// The definition of `row`, which outlives the registry.
ricci_prim_def DefinitionOf(const StructuralRow& row);

// The parameters of the held program `name` must be `types`; INVALID_ARGUMENT names the first that differs.
absl::Status CheckParams(Builder& b, std::string_view prim, std::string_view name, const Program& p,
                         std::span<const TypeId> types);
absl::Status CheckResults(Builder& b, std::string_view prim, std::string_view name, const Program& p,
                          std::span<const TypeId> types);
absl::Status SetOutTypes(Builder& b, std::span<const TypeId> types);
inline std::span<const TypeId> ResultTypes(const Program& p) { return {p.result_types.data(), p.result_types.size()}; }
// Checks that the integer attributes `names`, which count operands, are not negative and that their sum is at most the
// number of operands. Only after that may they be used as 32-bit numbers.
absl::Status CheckCounts(std::string_view prim, const StructuralOp& h, std::initializer_list<std::string_view> names);
// Checks that `run_in`, where a loop runs, is `kernel`, `plan` or left out.
absl::Status CheckRunIn(std::string_view prim, const StructuralOp& h);

// Emits `prim{body = p}` with more attributes.
absl::StatusOr<Vals> EmitHolding(Builder& b, std::string_view prim, const Program& body, std::vector<ricci_attr> attrs,
                                 std::span<const Val> in);
absl::StatusOr<Vals> EmitCall(Builder& b, const Program& body, std::span<const Val> in);

// x, with a check that `pred` holds; if it does not, the run fails with `code` and `message`.
absl::StatusOr<Val> EmitCheck(Builder& b, Val pred, Val x, uint32_t code, std::string_view message);

// Flags of the types whose values have tangents.
Mask HasTangent(Builder& b, std::span<const TypeId> types);
// What a jvp rule gives: `out` has all results, then the tangents of those with nonzero[i] != 0.
void GiveJvp(const ricci_jvp_args& a, MaskView nonzero, std::span<const Val> out);
// The operands of an equation that partial evaluation splits, all as values of the unknown builder.
absl::StatusOr<Vals> UnknownOperands(const StructuralOp& h, const ricci_partial_eval_args& a);
// How a rule splits the programs it holds: as it is asked to, or by a policy of its own.
inline transform::Saving SavingOf(const ricci_partial_eval_args& a, std::string_view policy) {
  return {policy, (a.hdr.flags & RICCI_PARTIAL_EVAL_APART) != 0};
}
inline transform::Saving SavingOf(const ricci_partial_eval_args& a) { return SavingOf(a, base::View(a.policy)); }
// An i32 scalar constant.
absl::StatusOr<Val> ScalarI32(Builder& b, int32_t value);

// The value of operand i with its batch dimension at 0, or as it is if not batched.
absl::StatusOr<Vals> BatchFront(Builder& b, const ricci_batch_args& a, uint32_t n_in);
// What a batching rule gives: for each flag a result, with the batch as dimension 0 if it is batched[i] != 0.
void GiveBatch(const ricci_batch_args& a, MaskView batched, std::span<const Val> out);
// The same with every operand batched: from number `first` on, one without a batch is repeated.
absl::StatusOr<Vals> BatchAll(Builder& b, const ricci_batch_args& a, uint32_t n_in, uint32_t first = 0);
Mask IsBatched(const ricci_batch_args& a, uint32_t n_in);
// Whether a run of the program may fail, anywhere in it.
bool MayFail(const Program& f);
// The same of an equation, without the programs that it holds: a while fails only if it has a bound.
bool MayFail(const prim::Row& row, std::span<const ricci_attr> attrs);
// `f` with a call in place of each custom_vmap.
absl::StatusOr<ProgramRef> WithoutBatchRules(const Program& f);
// The batching rule of an operation that must not run for elements that do not take it: each element runs by itself, in
// one vmap equation, so no batch exists that a custom_vmap in it could get.
absl::Status BatchAsVmap(Builder& b, const StructuralOp& h, const ricci_batch_args& a);
// The same where calls of the host must be made for each element in order: a scan over the batch.
absl::Status BatchOneByOne(Builder& b, const StructuralOp& h, const ricci_batch_args& a);

// ---- one per file ----
extern const StructuralRow kCallRow, kCondRow, kWhileRow, kScanRow, kVmapRow, kCheckRow, kCheckpointRow, kCustomJvpRow,
    kCustomVjpRow, kCustomLinearRow, kCustomVmapRow, kCustomLinearSolveRow, kLinearCallRow, kPureCallbackRow,
    kIoCallbackRow, kDebugCallbackRow, kDebugPrintRow;

}}}  // namespace ricci::v0::control
#endif
