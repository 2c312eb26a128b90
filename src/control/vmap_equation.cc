// vmap: runs a held program once per element of a batch. in_axes[i] is the batched dimension of operand i (-1: the same
// for all); every result is batched, at out_axes[i].
//
// It stays one equation through all transforms; only at compile time does it become either array operations (Expand) or
// a loop whose iterations are independent (lanes), which its lowering here writes.
#include "control/computed_again.h"
#include "control/invariant_residuals.h"
#include "control/parts.h"
#include "control/scan.h"
#include "control/structural_row.h"
#include "transform/dead_code.h"
#include "transform/partial_eval.h"
#include "transform/transpose.h"
#include "transform/vmap.h"

namespace ricci { inline namespace v0 { namespace control {
namespace {

using Axes = std::vector<int64_t>;

Axes AxesOf(const StructuralOp& h, std::string_view name) {
  const auto axes = h.ints(name);
  return Axes(axes.begin(), axes.end());
}

absl::StatusOr<Vals> EmitVmap(Builder& b, const StructuralOp& like, const Program& body, const Axes& in_axes,
                              const Axes& out_axes, std::span<const Val> in) {
  std::vector<ricci_attr> attrs = {trace::IntAttr("size", like.integer("size")), trace::IntsAttr("in_axes", in_axes),
                                   trace::IntsAttr("out_axes", out_axes),
                                   trace::StringAttr("axis_name", like.text("axis_name"))};
  if (const auto schedule = like.text("schedule"); !schedule.empty()) {
    attrs.push_back(trace::StringAttr("schedule", schedule));
  }
  return EmitHolding(b, "vmap", body, std::move(attrs), in);
}

absl::Status Type(Builder& b, const StructuralOp& h) {
  const Program& body = h.program("body");
  const Axes in_axes = AxesOf(h, "in_axes"), out_axes = AxesOf(h, "out_axes");
  const int64_t size = h.integer("size");
  RICCI_TRY(transform::CheckSchedule(body, h.text("schedule")));
  if (size < 0) return base::InvalidArgument("vmap: size ", size, " is negative");
  const auto schedule = h.text("schedule"), automatic = transform::NameOf(transform::Schedule::kAuto);
  if (!schedule.empty() && (schedule == automatic || !transform::ScheduleNamed(schedule))) {
    return base::InvalidArgument("vmap: schedule is `", schedule, "`; it must be batched or lanes, or left out");
  }
  if (in_axes.size() != h.op.n_in || out_axes.size() != body.n_results()) {
    return base::InvalidArgument("vmap: ", in_axes.size(), " in_axes for ", base::Count(h.op.n_in, "operand"), " and ",
                                 out_axes.size(), " out_axes for ", base::Count(body.n_results(), "result"));
  }
  std::vector<TypeId> params(h.in_types().begin(), h.in_types().end()), out;
  for (size_t i = 0; i < params.size(); ++i) {
    if (in_axes[i] == -1) continue;
    const auto& t = b.types().Get(params[i]);
    if (in_axes[i] < -1 || in_axes[i] >= t.rank() || t.shape[in_axes[i]] != size) {
      return base::InvalidArgument("vmap: operand ", i, " is ", ToText(t), "; dimension ", in_axes[i],
                                   " must be the size ", size);
    }
    RICCI_ASSIGN(params[i], trace::WithoutDim(b.types(), params[i], in_axes[i]));
  }
  RICCI_TRY(CheckParams(b, "vmap", "body", body, params));
  for (uint32_t i = 0; i < body.n_results(); ++i) {
    const auto& t = b.types().Get(body.result_types[i]);
    if (out_axes[i] < 0 || out_axes[i] > t.rank()) {
      return base::InvalidArgument("vmap: out_axes ", out_axes[i], " of result ", i, " is out of range for ",
                                   ToText(t));
    }
    RICCI_ASSIGN(TypeId batched, trace::WithDim(b.types(), body.result_types[i], out_axes[i], size));
    out.push_back(batched);
  }
  return SetOutTypes(b, out);
}

absl::Status Jvp(Builder& b, const StructuralOp& h, const ricci_jvp_args& a) {
  const std::span<const Val> tangents(a.tangents, h.op.n_in);
  const Mask active = NonZero(tangents);
  RICCI_ASSIGN(auto jvp, transform::Jvp(h.program("body"), active));
  Axes in_axes = AxesOf(h, "in_axes"), out_axes = AxesOf(h, "out_axes");
  const Axes tangent_in = Where(std::span<const int64_t>(in_axes), active);
  const Axes tangent_out = Where(std::span<const int64_t>(out_axes), jvp.nonzero);
  in_axes.insert(in_axes.end(), tangent_in.begin(), tangent_in.end());
  out_axes.insert(out_axes.end(), tangent_out.begin(), tangent_out.end());
  Vals in(a.primals, a.primals + h.op.n_in);
  const Vals live = Where(tangents, active);
  in.insert(in.end(), live.begin(), live.end());
  RICCI_ASSIGN(Vals out, EmitVmap(b, h, *jvp.program, in_axes, out_axes, in));
  GiveJvp(a, jvp.nonzero, out);
  return absl::OkStatus();
}

absl::Status PartialEval(const StructuralOp& h, const ricci_partial_eval_args& a) {
  const MaskView known(a.is_known, h.op.n_in);
  const std::span<const Val> in(a.in, h.op.n_in);
  const Axes in_axes = AxesOf(h, "in_axes");
  Axes out_axes = AxesOf(h, "out_axes");
  if (a.again != nullptr) out_axes.insert(out_axes.end(), h.ints("out_axes").begin(), h.ints("out_axes").end());
  RICCI_ASSIGN(auto split, a.again != nullptr ? SplitAgain(h.program("body"), SavingOf(a))
                                              : transform::PartialEval(h.program("body"), known, {}, SavingOf(a)));
  Builder& kb = *trace::FromAbi(a.known);
  // Residuals that are operands are passed as operands; those that are the same for all elements are computed once and
  // passed unbatched; the others are batched at dimension 0.
  const uint32_t n_known = Count(split.out_known);
  Axes known_out = Where(std::span<const int64_t>(out_axes), split.out_known), unknown_in;
  const Axes known_axes = Where(std::span<const int64_t>(in_axes), known);
  const Vals known_in = Where(in, known);
  Mask is_const;
  for (int64_t axis : known_axes) is_const.push_back(axis < 0);
  RICCI_ASSIGN(const Vals const_residuals, InvariantResiduals(kb, split, known_in, is_const));
  std::vector<uint32_t> known_results, params;
  for (uint32_t i = 0; i < n_known; ++i) known_results.push_back(i);
  for (uint32_t i = 0; i < split.known->n_params(); ++i) params.push_back(i);
  for (uint32_t r = 0; r < split.n_residuals; ++r) {
    if (const_residuals[r] != kNone || split.residual_param[r] >= 0) continue;
    known_results.push_back(n_known + r);
    known_out.push_back(0);
  }
  RICCI_ASSIGN(ProgramRef known_body, Permute(*split.known, params, known_results));
  RICCI_ASSIGN(Vals known_vals, EmitVmap(kb, h, *known_body, known_axes, known_out, known_in));
  Vals unknown_vals;
  uint32_t next = n_known;
  for (uint32_t r = 0; r < split.n_residuals; ++r) {
    const int32_t param = split.residual_param[r];
    Val value = const_residuals[r];
    unknown_in.push_back(value != kNone ? -1 : param >= 0 ? in_axes[param] : 0);
    if (value == kNone) value = param >= 0 ? in[param] : known_vals[next++];
    unknown_vals.push_back(kNone);
    RICCI_TRY(base::FromAbi(a.residual(a.split, value, &unknown_vals.back())));
  }
  for (uint32_t i = 0; i < h.op.n_in; ++i) {
    if (known[i]) continue;
    unknown_in.push_back(in_axes[i]);
    unknown_vals.push_back(in[i]);
  }
  RICCI_ASSIGN(Vals unknown_out,
               EmitVmap(*trace::FromAbi(a.unknown), h, *split.unknown, unknown_in,
                        Where(std::span<const int64_t>(out_axes), Not(split.out_known)), unknown_vals));
  if (a.again != nullptr) return GiveAgain(h, a, known_vals, unknown_out), absl::OkStatus();
  uint32_t next_known = 0, next_unknown = 0;
  for (uint32_t i = 0; i < h.op.n_out; ++i) {
    a.out_is_known[i] = split.out_known[i];
    a.out[i] = split.out_known[i] ? known_vals[next_known++] : unknown_out[next_unknown++];
  }
  return absl::OkStatus();
}

// The cotangent of an operand that is the same for all elements is the sum over the elements.
absl::Status Transpose(Builder& b, const StructuralOp& h, const ricci_transpose_args& a) {
  const MaskView linear(a.linear, h.op.n_in);
  const std::span<const Val> cts(a.cts, h.op.n_out);
  const Mask ct_nonzero = NonZero(cts);
  const Axes in_axes = AxesOf(h, "in_axes"), out_axes = AxesOf(h, "out_axes");
  RICCI_ASSIGN(auto t, transform::Transpose(h.program("body"), linear, ct_nonzero, /*instantiate=*/false));
  if (t.program->n_results() == 0) return absl::OkStatus();
  Axes new_in = Where(std::span<const int64_t>(in_axes), Not(linear)), new_out;
  const Axes ct_axes = Where(std::span<const int64_t>(out_axes), ct_nonzero);
  new_in.insert(new_in.end(), ct_axes.begin(), ct_axes.end());
  for (uint32_t i = 0; i < h.op.n_in; ++i) {
    if (t.nonzero[i]) new_out.push_back(std::max<int64_t>(in_axes[i], 0));
  }
  Vals in = Where(std::span<const Val>(a.operands, h.op.n_in), Not(linear));
  const Vals live = Where(cts, ct_nonzero);
  in.insert(in.end(), live.begin(), live.end());
  RICCI_ASSIGN(Vals out, EmitVmap(b, h, *t.program, new_in, new_out, in));
  uint32_t next = 0;
  for (uint32_t i = 0; i < h.op.n_in; ++i) {
    if (!t.nonzero[i]) continue;
    a.in_cts[i] = out[next++];
    if (in_axes[i] >= 0) continue;
    const std::vector<int64_t> batch_dim{0};
    RICCI_ASSIGN(a.in_cts[i], trace::ReduceSum(b, a.in_cts[i], batch_dim));
  }
  return absl::OkStatus();
}

// An outer batch passes through: it becomes dimension 0 of the operands, of the body's parameters and of the results.
absl::Status Batch(Builder& b, const StructuralOp& h, const ricci_batch_args& a) {
  RICCI_ASSIGN(Vals in, BatchFront(b, a, h.op.n_in));
  const std::string_view axis(a.axis_name.ptr, a.axis_name.len);
  const Mask batched = IsBatched(a, h.op.n_in);
  RICCI_ASSIGN(auto batch, transform::Batch(h.program("body"), batched, a.axis_size, axis));
  Axes in_axes = AxesOf(h, "in_axes"), out_axes = AxesOf(h, "out_axes");
  for (uint32_t i = 0; i < h.op.n_in; ++i) in_axes[i] += in_axes[i] >= 0 && batched[i];  // exact: dimensions
  for (uint32_t i = 0; i < h.op.n_out; ++i) out_axes[i] += batch.out_batched[i];         // exact: dimensions
  RICCI_ASSIGN(Vals out, EmitVmap(b, h, *batch.program, in_axes, out_axes, in));
  GiveBatch(a, batch.out_batched, out);
  return absl::OkStatus();
}

absl::Status Dce(Builder* b, const StructuralOp& h, const ricci_dce_args& a) {
  const MaskView used_out(a.used_out, h.op.n_out);
  const Mask droppable(h.op.n_in, 1);
  RICCI_ASSIGN(auto pruned, transform::Prune(h.program("body"), used_out, droppable));
  std::copy(pruned.used_params.begin(), pruned.used_params.end(), a.used_in);
  if (a.in == nullptr) return absl::OkStatus();
  const Axes in_axes = AxesOf(h, "in_axes"), out_axes = AxesOf(h, "out_axes");
  RICCI_ASSIGN(Vals out, EmitVmap(*b, h, *pruned.program, Where(std::span<const int64_t>(in_axes), pruned.used_params),
                                  Where(std::span<const int64_t>(out_axes), used_out),
                                  Where(std::span<const Val>(a.in, h.op.n_in), pruned.used_params)));
  Scatter(used_out, out, a.out);
  return absl::OkStatus();
}

#define RICCI_K(call) RICCI_TRY(base::FromAbi(call))

absl::Status Lower(ricci_kernel_builder* k, const StructuralOp& h) {
  const VmapParts v(h.attrs);
  ricci_sval lane;
  RICCI_K(ricci_kernel_parallel(k, &v.size, 1, &lane));
  std::vector<ricci_karr> in, out(h.op.n_out);
  for (uint32_t i = 0; i < h.op.n_in; ++i) {
    in.push_back(ricci_kernel_operand(k, i));
    if (v.in_axes[i] < 0) continue;
    const auto axis = static_cast<uint32_t>(v.in_axes[i]);  // exact: a dimension
    RICCI_K(ricci_kernel_view(k, in[i], axis, lane, &in[i]));
  }
  for (uint32_t i = 0; i < h.op.n_out; ++i) {
    const auto axis = static_cast<uint32_t>(v.out_axes[i]);  // exact: a dimension
    RICCI_K(ricci_kernel_view(k, ricci_kernel_result(k, i), axis, lane, &out[i]));
  }
  RICCI_K(ricci_kernel_inline(k, ir::Abi(v.body), in.data(), h.op.n_in, out.data(), nullptr, h.op.n_out));
  return base::FromAbi(ricci_kernel_end(k));
}

// Lanes run elements by themselves: a custom_vmap in the body would never see the batch.
ricci_status* TakesLanes(void*, const ricci_op* op, uint32_t* accept) {
  *accept = !StructuralOp(op).program("body").custom_batch;
  return nullptr;
}

// As array operations, by the batching rules of the body's rows.
absl::StatusOr<Vals> Expand(Builder& b, const StructuralOp& h, std::span<const Val> operands) {
  const VmapParts v(h.attrs);
  return transform::InlineBatch(b, *v.body, v.in_axes, v.out_axes, v.size, v.axis_name, operands);
}

constexpr std::string_view kExamples =
    "(f64[3,2], f64[2], f64[2,3]) size=3 in_axes=[0,-1,1] out_axes=[1,0] axis_name=\"\" body=program(%a: f64[2], %b: "
    "f64[2], %c: f64[2]) {\n"
    "  %p: f64[2] = mul(%a, %b)\n"
    "  %q: f64[2] = mul(%p, %c)\n"
    "  %s: f64[] = reduce_sum(%q) axes=[0]\n"
    "  return %q, %s\n"
    "}";
constexpr ricci_attr_spec kAttrs[] = {Spec("body", RICCI_ATTR_PROGRAM),
                                      Spec("size", RICCI_ATTR_INT),
                                      Spec("in_axes", RICCI_ATTR_INTS),
                                      Spec("out_axes", RICCI_ATTR_INTS),
                                      Spec("axis_name", RICCI_ATTR_STRING, "none"),
                                      Spec("schedule", RICCI_ATTR_STRING, "chosen by estimate")};
constexpr ricci_lowering kLanes = [] {
  ricci_lowering l = Loops<Lower>();
  l.match = TakesLanes;
  return l;
}();
constexpr ricci_lowering kBatched = Decomposition<Expand>(/*priority=*/-1);
constexpr const ricci_lowering* kLowerings[] = {&kLanes, &kBatched};

}  // namespace

absl::Status BatchAsVmap(Builder& b, const StructuralOp& h, const ricci_batch_args& a) {
  RICCI_ASSIGN(auto body, b.Nest("one", h.in_types()));
  RICCI_ASSIGN(const Vals one, body->Emit(h.op.prim, h.attrs, body->params()));
  RICCI_ASSIGN(const ProgramRef whole, body->Finish(one));
  RICCI_ASSIGN(const ProgramRef program, WithoutBatchRules(*whole));
  const Mask batched = IsBatched(a, h.op.n_in);
  Axes in_axes;
  for (uint8_t each : batched) in_axes.push_back(each != 0 ? 0 : -1);
  const Axes out_axes(h.op.n_out, 0);
  RICCI_ASSIGN(const Vals in, BatchFront(b, a, h.op.n_in));
  RICCI_ASSIGN(const Vals out, EmitHolding(b, "vmap", *program,
                                           {trace::IntAttr("size", a.axis_size), trace::IntsAttr("in_axes", in_axes),
                                            trace::IntsAttr("out_axes", out_axes),
                                            trace::StringAttr("axis_name", base::View(a.axis_name))},
                                           in));
  std::copy(out.begin(), out.end(), a.out);
  std::fill(a.out_dims, a.out_dims + h.op.n_out, 0);
  return absl::OkStatus();
}

constinit const StructuralRow kVmapRow = {
    .name = "vmap",
    .doc =
        "ys... = vmap(xs...): `body` on each slice of the operands along `in_axes`, its results stacked along "
        "`out_axes`",
    .flow = prim::Flow::kVmap,
    .flags = RICCI_PRIM_SAVES_INSIDE,
    .attrs = kAttrs,
    .lowerings = kLowerings,
    .type = Type,
    .jvp = Jvp,
    .transpose = Transpose,
    .batch = Batch,
    .partial_eval = PartialEval,
    .dce = Dce,
    .examples = kExamples,
};

}}}  // namespace ricci::v0::control
