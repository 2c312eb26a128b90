#include "transform/rules.h"

#include <algorithm>

#include "absl/strings/str_split.h"
#include "trace/roles.h"
#include "trace/rule_slot.h"
#include "transform/transpose.h"
#include "transform/vmap.h"

namespace ricci { inline namespace v0 { namespace transform {
namespace {

using prim::Row;
using trace::CallWithLoan;
using trace::CheckSlot;
using trace::Op;

template <typename T>
T MakeArgs() {
  T args{};
  args.hdr.size = sizeof(T);
  return args;
}

// The decomposition that may replace a missing rule, or NULL.
const ricci_lowering* Transformable(const Row& row) {
  for (const ricci_lowering& l : row.lowerings) {
    if (l.kind == RICCI_LOWER_DECOMPOSE && (l.hdr.flags & RICCI_LOWERING_TRANSFORMABLE)) return &l;
  }
  return nullptr;
}

// Does `names` list `rule`, as `jvp, batch` does?
bool Lists(const std::string& names, std::string_view rule) {
  const std::vector<std::string> listed = absl::StrSplit(names, ", ");
  return std::ranges::find(listed, rule) != listed.end();
}

// The reason that a row gives for a rule: `not linear`, for transpose, of `jvp: integer result; transpose: not linear`.
// What follows a `; ` belongs to the reason before it unless it names rules.
std::string ReasonOf(const std::string& missing, std::string_view rule) {
  constexpr std::string_view kRules[] = {"jvp", "transpose", "batch"};
  std::string reason;
  bool is_of_rule = false;
  const std::vector<std::string> parts = absl::StrSplit(missing, "; ");
  for (std::string part : parts) {
    const std::string names = part.substr(0, part.find(": "));
    if (names.size() < part.size() && std::ranges::any_of(kRules, [&](auto r) { return Lists(names, r); })) {
      is_of_rule = Lists(names, rule);
      part.erase(0, names.size() + 2);
    }
    if (is_of_rule) reason += base::Cat(reason.empty() ? "" : "; ", part);
  }
  return reason;
}

// A decomposition that could supply rules, but is not declared to.
bool HasPlainDecomposition(const Row& row) {
  return std::ranges::any_of(row.lowerings, [](const ricci_lowering& l) { return l.kind == RICCI_LOWER_DECOMPOSE; });
}

absl::Status Missing(const Row& row, const char* rule) {
  std::string why = ReasonOf(row.missing, rule);
  if (why.empty() && HasPlainDecomposition(row)) {
    why = "flag its decomposition RICCI_LOWERING_TRANSFORMABLE, and it supplies one";
  }
  return absl::UnimplementedError(base::Cat(row.name, ": no ", rule, " rule", why.empty() ? "" : " (" + why + ")"));
}

absl::StatusOr<Tangents> JvpByRule(Builder& b, const Row& row, const Op& op, std::span<const Val> primals,
                                   std::span<const Val> tangents) {
  Tangents out{Vals(op->n_out, kNone), Vals(op->n_out, kZero)};
  auto args = MakeArgs<ricci_jvp_args>();
  args.primals = primals.data();
  args.tangents = tangents.data();
  args.out_primals = out.primals.data();
  args.out_tangents = out.tangents.data();
  RICCI_TRY(CallWithLoan(&b, row, "jvp", [&] { return row.def.jvp(row.def.self, Abi(&b), op.get(), &args); }));
  for (uint32_t i = 0; i < op->n_out; ++i) {
    RICCI_TRY(CheckSlot(b, row, "jvp", i, out.primals[i], op->out_types[i]));
    if (out.tangents[i] != kZero) RICCI_TRY(CheckSlot(b, row, "jvp", op->n_out + i, out.tangents[i], op->out_types[i]));
    if (!types::IsDifferentiable(b.types().Get(op->out_types[i]).dtype)) out.tangents[i] = kZero;
  }
  return out;
}

// A linear operation is its own derivative.
absl::StatusOr<Tangents> JvpOfLinear(Builder& b, const ir::Program& p, const ir::Equation& eqn,
                                     std::span<const Val> primals, std::span<const Val> tangents) {
  Tangents out;
  RICCI_ASSIGN(out.primals, b.Copy(p, eqn, primals));
  Vals in(primals.begin(), primals.end());
  for (size_t i = 0; i < in.size(); ++i) {
    if (types::IsDifferentiable(b.type(primals[i]).dtype)) {
      RICCI_ASSIGN(in[i], b.Instantiate(tangents[i], b.type_id(primals[i])));
    }
  }
  RICCI_ASSIGN(out.tangents, b.Copy(p, eqn, in));
  for (Val& t : out.tangents) {
    if (!types::IsDifferentiable(b.type(t).dtype)) t = kZero;
  }
  return out;
}

absl::StatusOr<Tangents> JvpByDecomposition(Builder& b, const ir::Program& f, std::span<const Val> primals,
                                            std::span<const Val> tangents) {
  Mask active;
  Vals in(primals.begin(), primals.end());
  for (Val t : tangents) {
    active.push_back(t != kZero);
    if (t != kZero) in.push_back(t);
  }
  RICCI_ASSIGN(JvpProgram jvp, Jvp(f, active));
  RICCI_ASSIGN(Vals all, b.Inline(*jvp.program, in));
  Tangents out{Vals(all.begin(), all.begin() + f.n_results()), Vals(f.n_results(), kZero)};
  Scatter(jvp.nonzero, std::span<const Val>(all).subspan(f.n_results()), out.tangents.data());
  return out;
}

absl::StatusOr<Vals> TransposeByDecomposition(Builder& b, const ir::Program& f, std::span<const Val> cts,
                                              MaskView linear, std::span<const Val> operands) {
  const Mask nonzero = NonZero(cts);
  Vals in = Where(operands, Not(linear));
  const Vals given = Where(cts, nonzero);
  in.insert(in.end(), given.begin(), given.end());
  RICCI_ASSIGN(TransposeProgram t, Transpose(f, linear, nonzero, /*instantiate=*/false));
  RICCI_ASSIGN(Vals all, b.Inline(*t.program, in));
  Vals out(linear.size(), kZero);
  Scatter(t.nonzero, all, out.data());
  return out;
}

// Has a result of `eqn` a tangent?
bool HasTangents(const ir::Program& p, const ir::Equation& eqn) {
  for (uint32_t i = 0; i < eqn.n_results; ++i) {
    if (types::IsDifferentiable(p.type(eqn.result(i)).dtype)) return true;
  }
  return false;
}

// Moves batch dimensions to the front and broadcasts unbatched operands; then the operation itself works on whole
// batches.
absl::StatusOr<Batched> BatchElementwise(Builder& b, const ir::Program& p, const ir::Equation& eqn,
                                         std::span<const Val> in, std::span<const int32_t> dims,
                                         const BatchAxis& axis) {
  uint32_t rank = 0;  // of the unbatched operation
  for (ir::ValueId v : eqn.operands) rank = std::max(rank, p.type(v).rank());
  Vals moved(in.begin(), in.end());
  for (size_t i = 0; i < in.size(); ++i) {
    const uint32_t own_rank = p.type(eqn.operands[i]).rank();
    if (dims[i] < 0) {
      if (own_rank == rank) {
        RICCI_ASSIGN(moved[i], trace::BroadcastLeading(b, in[i], axis.size));
      }
      continue;
    }
    RICCI_ASSIGN(moved[i], trace::MoveAxis(b, in[i], dims[i], 0));
    if (own_rank == rank) continue;
    std::vector<int64_t> shape{axis.size}, batch_dim{0};
    const auto full = p.type(eqn.result(0)).shape;
    shape.insert(shape.end(), full.begin(), full.end());
    RICCI_ASSIGN(moved[i], trace::BroadcastInDim(b, moved[i], shape, batch_dim));
  }
  Batched out;
  RICCI_ASSIGN(out.out, b.Copy(p, eqn, moved));
  out.dims.assign(out.out.size(), 0);
  return out;
}

absl::StatusOr<Batched> BatchByRule(Builder& b, const Row& row, const Op& op, std::span<const Val> in,
                                    std::span<const int32_t> dims, const BatchAxis& axis) {
  Batched out{Vals(op->n_out, kNone), std::vector<int32_t>(op->n_out, 0)};
  auto args = MakeArgs<ricci_batch_args>();
  args.axis_size = axis.size;
  args.axis_name = {axis.name.data(), axis.name.size()};
  args.in = in.data();
  args.in_dims = dims.data();
  args.out = out.out.data();
  args.out_dims = out.dims.data();
  RICCI_TRY(CallWithLoan(&b, row, "batch", [&] { return row.def.batch(row.def.self, Abi(&b), op.get(), &args); }));
  for (uint32_t i = 0; i < op->n_out; ++i) {
    const auto rank = static_cast<int32_t>(b.types().Get(op->out_types[i]).rank());
    if (out.dims[i] < -1 || out.dims[i] > rank) {
      return prim::Violation(row, "batch", base::Cat("dimension ", out.dims[i], " of slot ", i, " is out of range"));
    }
    RICCI_ASSIGN(ir::TypeId want, trace::WithDim(b.types(), op->out_types[i], out.dims[i], axis.size));
    RICCI_TRY(CheckSlot(b, row, "batch", i, out.out[i], want));
  }
  return out;
}

absl::StatusOr<Batched> BatchByDecomposition(Builder& b, const ir::Program& f, std::span<const Val> in,
                                             std::span<const int32_t> dims, const BatchAxis& axis) {
  Vals moved(in.begin(), in.end());
  Mask batched;
  for (size_t i = 0; i < in.size(); ++i) {
    batched.push_back(dims[i] >= 0);
    if (dims[i] > 0) {
      RICCI_ASSIGN(moved[i], trace::MoveAxis(b, in[i], dims[i], 0));
    }
  }
  RICCI_ASSIGN(BatchProgram batch, Batch(f, batched, axis.size, axis.name));
  Batched out;
  RICCI_ASSIGN(out.out, b.Inline(*batch.program, moved));
  for (uint8_t is_batched : batch.out_batched) out.dims.push_back(is_batched ? 0 : -1);
  return out;
}

}  // namespace

absl::Status AtEquation(absl::Status status, const ir::Program& p, const ir::Equation& eqn, const char* rule) {
  return status.ok() ? status : base::WithSite(std::move(status), SiteOf(p, eqn, rule));
}

base::StatusSite SiteOf(const ir::Program& p, const ir::Equation& eqn, const char* rule) {
  const ir::Location at = p.vocabulary()->GetLocation(eqn.location);
  return {std::string(p.vocabulary()->PrimName(eqn.prim)), rule, std::string(at.file), at.line};
}

absl::StatusOr<ir::ProgramRef> Decompose(prim::Registry& registry, const ricci_op& op, const ricci_lowering& l,
                                         uint32_t depth) {
  const Row& row = registry.Get(op.prim);
  if (depth + 1 >= trace::kMaxDepth) return base::InvalidArgument(row.name, ": its decomposition never ends");
  RICCI_ASSIGN(auto b, Builder::Create(registry, row.name, {op.in_types, op.n_in}, depth + 1));
  b->SetLocation(static_cast<ir::LocationId>(op.location));
  const Vals in = b->params();
  Vals out(op.n_out, kNone);
  RICCI_TRY(CallWithLoan(b.get(), row, "decompose",
                         [&] { return l.decompose(l.self, Abi(b.get()), &op, in.data(), out.data()); }));
  for (uint32_t i = 0; i < op.n_out; ++i) RICCI_TRY(CheckSlot(*b, row, "decompose", i, out[i], op.out_types[i]));
  return b->Finish(out);
}

absl::StatusOr<Tangents> ApplyJvp(Builder& b, const ir::Program& p, const ir::Equation& eqn,
                                  std::span<const Val> primals, std::span<const Val> tangents) {
  const Row& row = b.registry().Get(eqn.prim);
  const Op op(p, eqn);
  b.registry().CountUse(row.id, prim::Rule::kJvp);
  b.SetLocation(eqn.location);
  auto apply = [&]() -> absl::StatusOr<Tangents> {
    if (row.def.jvp != nullptr) return JvpByRule(b, row, op, primals, tangents);
    if (!HasTangents(p, eqn)) {
      RICCI_ASSIGN(Vals out, b.Copy(p, eqn, primals));
      return Tangents{std::move(out), Vals(eqn.n_results, kZero)};
    }
    if (row.linear()) return JvpOfLinear(b, p, eqn, primals, tangents);
    const ricci_lowering* l = Transformable(row);
    if (l == nullptr) return Missing(row, "jvp");
    RICCI_ASSIGN(ir::ProgramRef f, Decompose(b.registry(), *op.get(), *l, b.depth()));
    return JvpByDecomposition(b, *f, primals, tangents);
  };
  auto out = apply();
  return out.ok() ? std::move(out) : AtEquation(out.status(), p, eqn, "jvp");
}

absl::StatusOr<Vals> ApplyTranspose(Builder& b, const ir::Program& p, const ir::Equation& eqn, std::span<const Val> cts,
                                    MaskView linear, std::span<const Val> operands) {
  const Row& row = b.registry().Get(eqn.prim);
  const Op op(p, eqn);
  b.registry().CountUse(row.id, prim::Rule::kTranspose);
  b.SetLocation(eqn.location);
  auto apply = [&]() -> absl::StatusOr<Vals> {
    if (row.def.transpose == nullptr) {
      const ricci_lowering* l = Transformable(row);
      if (l == nullptr) return Missing(row, "transpose");
      RICCI_ASSIGN(ir::ProgramRef f, Decompose(b.registry(), *op.get(), *l, b.depth()));
      return TransposeByDecomposition(b, *f, cts, linear, operands);
    }
    Vals out(op->n_in, kZero);
    auto args = MakeArgs<ricci_transpose_args>();
    args.cts = cts.data();
    args.linear = linear.data();
    args.operands = operands.data();
    args.in_cts = out.data();
    RICCI_TRY(
        CallWithLoan(&b, row, "transpose", [&] { return row.def.transpose(row.def.self, Abi(&b), op.get(), &args); }));
    for (uint32_t i = 0; i < op->n_in; ++i) {
      if (!linear[i]) out[i] = kZero;
      if (out[i] != kZero) RICCI_TRY(CheckSlot(b, row, "transpose", i, out[i], op->in_types[i]));
    }
    return out;
  };
  auto out = apply();
  return out.ok() ? std::move(out) : AtEquation(out.status(), p, eqn, "transpose");
}

absl::StatusOr<Batched> ApplyBatch(Builder& b, const ir::Program& p, const ir::Equation& eqn, std::span<const Val> in,
                                   std::span<const int32_t> dims, const BatchAxis& axis) {
  const Row& row = b.registry().Get(eqn.prim);
  const Op op(p, eqn);
  b.registry().CountUse(row.id, prim::Rule::kBatch);
  b.SetLocation(eqn.location);
  auto apply = [&]() -> absl::StatusOr<Batched> {
    if (row.def.batch != nullptr) return BatchByRule(b, row, op, in, dims, axis);
    if (row.def.batch_kind == RICCI_BATCH_ELEMENTWISE) return BatchElementwise(b, p, eqn, in, dims, axis);
    const ricci_lowering* l = Transformable(row);
    if (l == nullptr) return Missing(row, "batch");
    RICCI_ASSIGN(ir::ProgramRef f, Decompose(b.registry(), *op.get(), *l, b.depth()));
    return BatchByDecomposition(b, *f, in, dims, axis);
  };
  auto out = apply();
  return out.ok() ? std::move(out) : AtEquation(out.status(), p, eqn, "batch");
}

}}}  // namespace ricci::v0::transform
