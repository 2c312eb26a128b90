#include "transform/vmap.h"

#include "ir/self_reference.h"
#include "trace/attrs.h"
#include "trace/rewriter.h"
#include "trace/roles.h"
#include "transform/dead_code.h"
#include "transform/memo.h"
#include "transform/rules.h"

namespace ricci { inline namespace v0 { namespace transform {
namespace {

// Appends `f`; only its used parameters have the types of the builder's parameters.
absl::StatusOr<Vals> InlinePlain(Builder& b, const ir::Program& f, MaskView used) {
  Mask drop;
  for (uint8_t u : used) drop.push_back(!u);
  const Mask all(f.n_results(), 1);
  RICCI_ASSIGN(PrunedProgram small, Prune(f, all, drop));
  Vals in;
  for (uint32_t i = 0; i < used.size(); ++i) {
    if (used[i]) in.push_back(b.param(i));
  }
  return b.Inline(*small.program, in);
}

// Of the results without an axis, one of which depends on parameter `param`, the first that does; for a message.
absl::StatusOr<size_t> FirstThatDepends(const ir::Program& f, std::span<const int32_t> out_axes, uint32_t param) {
  size_t found = 0;
  for (size_t r = out_axes.size(); r-- > 0;) {
    if (out_axes[r] >= 0) continue;
    Mask own(out_axes.size(), 0);
    own[r] = 1;
    RICCI_ASSIGN(const PrunedProgram alone, Prune(f, own, {}, Effects::kLeave));
    if (alone.used_params[param]) found = r;
  }
  return found;
}

}  // namespace

absl::StatusOr<ir::ProgramRef> Vmap(const ir::Program& f, std::span<const int32_t> in_axes,
                                    std::span<const int32_t> out_axes, int64_t size, std::string_view axis_name,
                                    Schedule schedule) {
  if (in_axes.size() != f.n_params() || out_axes.size() != f.n_results()) {
    return base::InvalidArgument("vmap: program ", f.name, " has ", base::Count(f.n_params(), "parameter"), " and ",
                                 base::Count(f.n_results(), "result"), "; ", in_axes.size(), " in_axes and ",
                                 out_axes.size(), " out_axes are given");
  }
  if (size < 0) return base::InvalidArgument("vmap: size ", size, " is negative");
  prim::Registry& registry = prim::Registry::Of(f);
  auto& types = registry.vocabulary().types;
  std::vector<ir::TypeId> params;
  for (uint32_t i = 0; i < f.n_params(); ++i) {
    if (in_axes[i] < -1 || in_axes[i] > static_cast<int32_t>(f.type(i).rank())) {
      return base::InvalidArgument("vmap: in_axes ", in_axes[i], " of parameter ", i, " is out of range for ",
                                   ToText(f.type(i)), " with a batch dimension");
    }
    RICCI_ASSIGN(ir::TypeId t, trace::WithDim(types, f.param_types[i], in_axes[i], size));
    params.push_back(t);
  }
  RICCI_ASSIGN(auto b, Builder::Create(registry, f.name, params, f.level));
  // Results with out_axes -1 do not depend on the batch: they are computed once, outside the vmap equation.
  Mask batched_out, plain_out;
  for (int32_t axis : out_axes) {
    batched_out.push_back(axis >= 0);
    plain_out.push_back(axis < 0);
  }
  RICCI_ASSIGN(PrunedProgram plain, Prune(f, plain_out, {}, Effects::kLeave));
  for (uint32_t i = 0; i < f.n_params(); ++i) {
    if (plain.used_params[i] && in_axes[i] >= 0) {
      RICCI_ASSIGN(const size_t result, FirstThatDepends(f, out_axes, i));
      return base::InvalidArgument("vmap: result ", result, " of program ", f.name,
                                   " has out_axes -1, one value for the batch, but depends on parameter ", i,
                                   ", which is batched; give it an axis");
    }
  }
  if (plain.program->effectful) {
    return base::InvalidArgument("vmap: a result of program ", f.name,
                                 " has out_axes -1 but comes from an operation with an effect; give it an axis");
  }
  RICCI_ASSIGN(PrunedProgram body, Prune(f, batched_out));
  RICCI_TRY(CheckSchedule(*body.program, NameOf(schedule)));
  const std::vector<int64_t> in64(in_axes.begin(), in_axes.end());
  std::vector<int64_t> out64;
  for (int32_t axis : out_axes) {
    if (axis >= 0) out64.push_back(axis);
  }
  ricci_program* slot;
  const ricci_attr attrs[] = {trace::ProgramAttr("body", *body.program, slot),
                              trace::IntAttr("size", size),
                              trace::IntsAttr("in_axes", in64),
                              trace::IntsAttr("out_axes", out64),
                              trace::StringAttr("axis_name", axis_name),
                              trace::StringAttr("schedule", NameOf(schedule))};
  const std::span<const ricci_attr> given(attrs, std::size(attrs) - (schedule == Schedule::kAuto ? 1 : 0));
  Vals batched, once, out;
  if (!out64.empty() || f.effectful) {
    const ir::Program& held = *body.program;
    RICCI_ASSIGN(batched, held.custom_batch ? InlineBatch(*b, held, in64, out64, size, axis_name, b->params())
                                            : b->Emit("vmap", given, b->params()));
  }
  if (plain.program->n_results() != 0) {
    RICCI_ASSIGN(once, InlinePlain(*b, *plain.program, plain.used_params));
  }
  size_t next_batched = 0, next_once = 0;
  for (int32_t axis : out_axes) out.push_back(axis >= 0 ? batched[next_batched++] : once[next_once++]);
  return b->Finish(out);
}

absl::Status CheckSchedule(const ir::Program& body, std::string_view schedule) {
  if (!body.custom_batch || schedule != NameOf(Schedule::kLanes)) return absl::OkStatus();
  return base::InvalidArgument("vmap: schedule `", schedule, "` is not possible: program ", body.name,
                               " holds a custom_vmap, whose rule is for whole batches");
}

absl::StatusOr<Vals> InlineBatch(Builder& b, const ir::Program& body, std::span<const int64_t> in_axes,
                                 std::span<const int64_t> out_axes, int64_t size, std::string_view axis_name,
                                 std::span<const Val> operands) {
  Vals in(operands.begin(), operands.end());
  Mask batched;
  for (size_t i = 0; i < in.size(); ++i) {
    batched.push_back(in_axes[i] >= 0);
    if (in_axes[i] <= 0) continue;
    RICCI_ASSIGN(in[i], trace::MoveAxis(b, in[i], in_axes[i], 0));
  }
  const Mask force(body.n_results(), 1);
  RICCI_ASSIGN(auto batch, Batch(body, batched, size, axis_name, force));
  RICCI_ASSIGN(Vals out, b.Inline(*batch.program, in));
  for (size_t i = 0; i < out.size(); ++i) {
    RICCI_ASSIGN(out[i], trace::MoveAxis(b, out[i], 0, out_axes[i]));
  }
  return out;
}

absl::StatusOr<BatchProgram> Batch(const ir::Program& f, MaskView in_batched, int64_t size, std::string_view axis_name,
                                   MaskView force) {
  std::vector<int32_t> in_axes;
  for (uint32_t i = 0; i < f.n_params(); ++i) in_axes.push_back(in_batched[i] ? 0 : -1);
  return BatchAt(f, in_axes, size, axis_name, force);
}

namespace {

absl::StatusOr<BatchProgram> WithBatch(const ir::Program& f, std::span<const int32_t> in_axes, int64_t size,
                                       std::string_view axis_name, MaskView force) {
  prim::Registry& registry = prim::Registry::Of(f);
  std::vector<ir::TypeId> params;
  for (uint32_t i = 0; i < f.n_params(); ++i) {
    RICCI_ASSIGN(ir::TypeId t, trace::WithDim(registry.vocabulary().types, f.param_types[i], in_axes[i], size));
    params.push_back(t);
  }
  RICCI_ASSIGN(auto b, Builder::Create(registry, f.name, params, f.level));
  trace::Rewriter values(f, *b);
  values.SetParams(b->params());
  RICCI_TRY(values.AddConstants());
  std::vector<int32_t> dim(f.values.size(), -1);
  std::copy(in_axes.begin(), in_axes.end(), dim.begin());
  for (const ir::Equation& eqn : f.equations) {
    std::vector<int32_t> dims;
    // An equation that stands for one around it is batched with that one, even if its operands are constants.
    bool any = ir::RefersOutward(eqn);
    for (ir::ValueId v : eqn.operands) {
      dims.push_back(dim[v]);
      any |= dim[v] >= 0;
    }
    if (!any) {
      RICCI_TRY(values.Copy(eqn));
      continue;
    }
    RICCI_ASSIGN(const Batched out, ApplyBatch(*b, f, eqn, values[eqn.operands], dims, {size, axis_name}));
    values.SetResults(eqn, out.out);
    std::copy(out.dims.begin(), out.dims.end(), dim.begin() + eqn.first_result);
  }
  BatchProgram out;
  Vals results;
  for (uint32_t i = 0; i < f.n_results(); ++i) {
    const ir::ValueId r = f.results[i];
    Val v = values[r];
    out.out_batched.push_back(dim[r] >= 0 || (!force.empty() && force[i]));
    if (dim[r] > 0) {
      RICCI_ASSIGN(v, trace::MoveAxis(*b, v, dim[r], 0));
    } else if (dim[r] < 0 && out.out_batched[i]) {
      RICCI_ASSIGN(v, trace::BroadcastLeading(*b, v, size));
    }
    results.push_back(v);
  }
  RICCI_ASSIGN(out.program, b->Finish(results));
  return out;
}

}  // namespace

absl::StatusOr<BatchProgram> BatchAt(const ir::Program& f, std::span<const int32_t> in_axes, int64_t size,
                                     std::string_view axis_name, MaskView force) {
  return Remembered<BatchProgram>(MemoKey("batch", f).Add(in_axes).Add(size).Add(axis_name).Add(force),
                                  [&] { return WithBatch(f, in_axes, size, axis_name, force); });
}

}}}  // namespace ricci::v0::transform
