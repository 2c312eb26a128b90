#include "control/structural_row.h"

#include "absl/strings/str_join.h"
#include "ir/walk.h"
#include "ricci/exact.h"

namespace ricci { inline namespace v0 { namespace control {
namespace {

absl::Status CheckTypes(Builder& b, std::string_view what, std::span<const TypeId> have, std::span<const TypeId> want) {
  if (have.size() != want.size()) return base::InvalidArgument(what, "s: ", have.size(), " instead of ", want.size());
  for (size_t i = 0; i < have.size(); ++i) {
    if (have[i] == want[i]) continue;
    return base::InvalidArgument(what, " ", i, " is ", ToText(b.types().Get(have[i])), ", not ",
                                 ToText(b.types().Get(want[i])));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckParams(Builder& b, std::string_view prim, std::string_view name, const Program& p,
                         std::span<const TypeId> types) {
  return CheckTypes(b, base::Cat(prim, ": ", name, " parameter"), {p.param_types.data(), p.param_types.size()}, types);
}

absl::Status CheckResults(Builder& b, std::string_view prim, std::string_view name, const Program& p,
                          std::span<const TypeId> types) {
  return CheckTypes(b, base::Cat(prim, ": ", name, " result"), {p.result_types.data(), p.result_types.size()}, types);
}

absl::Status SetOutTypes(Builder& b, std::span<const TypeId> types) { return b.SetOutTypes(types); }

absl::Status CheckCounts(std::string_view prim, const StructuralOp& h, std::initializer_list<std::string_view> names) {
  ricci_exact sum = ricci_exact_of(0);
  std::vector<std::string> counts;
  for (std::string_view name : names) {
    const int64_t n = h.integer(name);
    if (n < 0) return base::InvalidArgument(prim, ": ", name, " ", n, " must not be negative");
    counts.push_back(base::Cat(name, " ", n));
    sum = ricci_exact_add(sum, ricci_exact_of(n));
  }
  int64_t total = 0;
  if (ricci_exact_narrow(sum, 0, h.op.n_in, &total) != 0) return absl::OkStatus();
  return base::InvalidArgument(prim, ": ", absl::StrJoin(counts, " and "),
                               counts.size() == 1 ? " exceeds " : " exceed ", base::Count(h.op.n_in, "operand"));
}

absl::StatusOr<Vals> EmitHolding(Builder& b, std::string_view prim, const Program& body, std::vector<ricci_attr> attrs,
                                 std::span<const Val> in) {
  ricci_program* slot;
  attrs.push_back(trace::ProgramAttr("body", body, slot));
  return b.Emit(prim, attrs, in);
}

absl::StatusOr<Vals> EmitCall(Builder& b, const Program& body, std::span<const Val> in) {
  return EmitHolding(b, "call", body, {}, in);
}

Mask HasTangent(Builder& b, std::span<const TypeId> types) {
  Mask out;
  for (const TypeId t : types) out.push_back(types::IsDifferentiable(b.types().Get(t).dtype));
  return out;
}

void GiveBatch(const ricci_batch_args& a, MaskView batched, std::span<const Val> out) {
  std::copy_n(out.begin(), batched.size(), a.out);
  for (size_t i = 0; i < batched.size(); ++i) a.out_dims[i] = batched[i] ? 0 : -1;
}

void GiveJvp(const ricci_jvp_args& a, MaskView nonzero, std::span<const Val> out) {
  std::copy_n(out.begin(), nonzero.size(), a.out_primals);
  Scatter(nonzero, out.subspan(nonzero.size()), a.out_tangents);
}

absl::StatusOr<Vals> UnknownOperands(const StructuralOp& h, const ricci_partial_eval_args& a) {
  Vals in(a.in, a.in + h.op.n_in);
  for (uint32_t i = 0; i < h.op.n_in; ++i) {
    if (a.is_known[i]) RICCI_TRY(base::FromAbi(a.residual(a.split, a.in[i], &in[i])));
  }
  return in;
}

namespace {

// The rules of the C ABI; `self` is the row.
const StructuralRow& RowOf(void* self) { return *static_cast<const StructuralRow*>(self); }

ricci_status* Type(void* self, ricci_builder* b, const ricci_op* op) {
  return base::AtBorder([&] { return RowOf(self).type(*trace::FromAbi(b), StructuralOp(op)); });
}
template <auto kRule, typename Args>
ricci_status* Rule(void* self, ricci_builder* b, const ricci_op* op, const Args* a) {
  return base::AtBorder([&] { return (RowOf(self).*kRule)(*trace::FromAbi(b), StructuralOp(op), *a); });
}
ricci_status* PartialEval(void* self, const ricci_op* op, const ricci_partial_eval_args* a) {
  return base::AtBorder([&] { return RowOf(self).partial_eval(StructuralOp(op), *a); });
}
ricci_status* Dce(void* self, ricci_builder* b, const ricci_op* op, const ricci_dce_args* a) {
  return base::AtBorder([&] { return RowOf(self).dce(trace::FromAbi(b), StructuralOp(op), *a); });
}

}  // namespace

ricci_prim_def DefinitionOf(const StructuralRow& row) {
  ricci_prim_def d{};
  d.hdr = Header(sizeof d, row.flags);
  d.name = Str(row.name);
  d.doc = Str(row.doc);
  d.self = const_cast<StructuralRow*>(&row);
  d.attr_specs = row.attrs.data();
  d.n_attr_specs = static_cast<uint32_t>(row.attrs.size());
  d.attr_spec_size = sizeof(ricci_attr_spec);
  d.lowerings = row.lowerings.data();
  d.n_lowerings = static_cast<uint32_t>(row.lowerings.size());
  d.abstract_eval = Type;
  if (row.jvp != nullptr) d.jvp = Rule<&StructuralRow::jvp>;
  if (row.transpose != nullptr) d.transpose = Rule<&StructuralRow::transpose>;
  if (row.batch != nullptr) d.batch = Rule<&StructuralRow::batch>;
  if (row.partial_eval != nullptr) d.partial_eval = PartialEval;
  if (row.dce != nullptr) d.dce = Dce;
  d.missing = Str(row.missing);
  d.examples = Str(row.examples);
  return d;
}

absl::StatusOr<Val> ScalarI32(Builder& b, int32_t value) {
  RICCI_ASSIGN(TypeId t, b.types().Intern(RICCI_I32, {}));
  return b.Constant(t, std::as_bytes(std::span(&value, 1)));
}

absl::StatusOr<Vals> BatchFront(Builder& b, const ricci_batch_args& a, uint32_t n_in) {
  Vals out(a.in, a.in + n_in);
  for (uint32_t i = 0; i < n_in; ++i) {
    if (a.in_dims[i] <= 0) continue;
    RICCI_ASSIGN(out[i], trace::MoveAxis(b, out[i], a.in_dims[i], 0));
  }
  return out;
}

absl::StatusOr<Vals> BatchAll(Builder& b, const ricci_batch_args& a, uint32_t n_in, uint32_t first) {
  RICCI_ASSIGN(Vals out, BatchFront(b, a, n_in));
  for (uint32_t i = first; i < n_in; ++i) {
    if (a.in_dims[i] >= 0) continue;
    RICCI_ASSIGN(out[i], trace::BroadcastLeading(b, out[i], a.axis_size));
  }
  return out;
}

Mask IsBatched(const ricci_batch_args& a, uint32_t n_in) {
  Mask out;
  for (uint32_t i = 0; i < n_in; ++i) out.push_back(a.in_dims[i] >= 0);
  return out;
}

absl::Status CheckRunIn(std::string_view prim, const StructuralOp& h) {
  const std::string_view run_in = h.text("run_in");
  if (run_in.empty() || run_in == "kernel" || run_in == "plan") return absl::OkStatus();
  return base::InvalidArgument(prim, ": run_in is `", run_in, "`; it must be kernel or plan, or left out");
}

bool MayFail(const prim::Row& row, std::span<const ricci_attr> attrs) {
  const bool bounded = row.flow != prim::Flow::kWhile || ir::FindAttr(attrs, "max_trips") != nullptr;
  return row.has(RICCI_PRIM_MAY_FAIL) && bounded;
}

bool MayFail(const Program& f) {
  const std::vector<const Program*> all = ir::NestedFirst(f);
  return std::any_of(all.begin(), all.end(), [](const Program* p) {
    return std::any_of(p->equations.begin(), p->equations.end(), [&](const ir::Equation& eqn) {
      return MayFail(prim::Registry::Of(*p).Get(eqn.prim), eqn.attrs);
    });
  });
}

}}}  // namespace ricci::v0::control
