// Derivatives of the scatters.
//
// They follow JAX's rules, but look windows up in the mode of the scatter, so that they hold for clamped positions too.
// Rules that hold only for distinct positions fail without `unique_indices`.
#ifndef RICCI_LAX_SCATTER_DERIVATIVES_HPP_
#define RICCI_LAX_SCATTER_DERIVATIVES_HPP_
#include "scatter_dims.hpp"

namespace ricci { inline namespace v0 { namespace lax {

// ---- windows at the positions of a scatter ----
// The windows of `x` at the positions of this scatter. `fill`: the value outside, or none for the default.
inline Value GatherBack(const Eqn& e, const Value& x, const Value& indices, const double* fill) {
  if (WritesNothing(e)) return zeros(e.builder(), e.in(2).WithDType(x.type().dtype()));
  const WindowDims d(e, kScatterNames);
  const Shape sizes = WindowSizes(d, e.in(2).shape());
  const Attr dims[] = {{"offset_dims", d.window},
                       {"collapsed_slice_dims", d.dropped},
                       {"start_index_map", d.start_map},
                       {"operand_batching_dims", d.operand_batch},
                       {"start_indices_batching_dims", d.index_batch},
                       {"slice_sizes", sizes},
                       {"mode", e.str("mode")}};
  if (fill == nullptr) {
    return Emit1("gather", {x, indices}, {dims[0], dims[1], dims[2], dims[3], dims[4], dims[5], dims[6]});
  }
  return Emit1("gather", {x, indices},
               {dims[0], dims[1], dims[2], dims[3], dims[4], dims[5], dims[6], {"fill_value", *fill}});
}
inline Value WindowsAt(const Eqn& e, const Value& x, const Value& indices) {
  return GatherBack(e, x, indices, nullptr);
}
inline Value WindowsOrZero(const Eqn& e, const Value& x, const Value& indices) {
  const double zero = 0;
  return GatherBack(e, x, indices, &zero);
}
// Another scatter at the same positions.
inline Value ScatterLike(const Eqn& e, std::string_view name, const Value& x, const Value& indices,
                         const Value& updates) {
  const WindowDims d(e, kScatterNames);
  return Emit1(name, {x, indices, updates},
               {{"update_window_dims", d.window},
                {"inserted_window_dims", d.dropped},
                {"scatter_dims_to_operand_dims", d.start_map},
                {"operand_batching_dims", d.operand_batch},
                {"scatter_indices_batching_dims", d.index_batch},
                {"indices_are_sorted", e.flag("indices_are_sorted", false)},
                {"unique_indices", e.flag("unique_indices", false)},
                {"mode", e.str("mode")}});
}
inline bool IsUnique(const Eqn& e) { return e.flag("unique_indices", false); }
[[noreturn]] inline void NeedsUnique(const Eqn& e, std::string_view what) {
  throw Error(RICCI_UNIMPLEMENTED, Text(e.name(), ": its ", what, " is defined for unique_indices=true only"));
}
inline Value Where(const Value& pred, const Value& x) { return select(pred, x, zeros_like(x)); }

// ---- replace ----
// The updates are numbered and the numbers scattered: an update whose number is found at its position is the one that
// remains, and the others do not contribute to the tangent.
inline void ScatterJvp(const Eqn& e, Jvp& a) {
  a.out = e.EmitN(a.primals);
  if (a.tangents[0].is_zero() && a.tangents[2].is_zero()) return;
  const Value x = instantiate(a.tangents[0], e.in(0)), updates = instantiate(a.tangents[2], e.in(2));
  const Value& indices = a.primals[1];
  if (IsUnique(e)) {
    a.out_tangents[0] = e.Emit({x, indices, updates});
    return;
  }
  const WindowDims d(e, kScatterNames);
  const Shape counting = d.Counting(), counts = rules::Pick(e.in(2).shape(), counting);
  const int64_t n[] = {ElementCount(counts)};
  const DType dtype = n[0] < INT32_MAX ? DType::kI32 : DType::kI64;
  const Value numbers = reshape(iota(e.builder(), dtype, n, 0), counts);
  const Value ids = add(broadcast_in_dim(numbers, e.in(2).shape(), counting), 1);
  const Value standing = ScatterLike(e, "scatter", zeros(e.builder(), e.in(0).WithDType(dtype)), indices, ids);
  const Value kept = Where(eq(standing, zeros_like(standing)), x);
  const Value chosen = Where(eq(ids, WindowsAt(e, standing, indices)), updates);
  a.out_tangents[0] = ScatterLike(e, "scatter-add", kept, indices, chosen);
}
inline void ScatterTranspose(const Eqn& e, Transpose& a) {
  if (!IsUnique(e)) NeedsUnique(e, "transpose");
  const Value& indices = a.operands[1];
  if (a.linear[0]) a.in_cts[0] = e.Emit({a.cts[0], indices, zeros(e.builder(), e.in(2))});
  if (a.linear[2]) a.in_cts[2] = WindowsOrZero(e, a.cts[0], indices);
}

// ---- add, sub ----
inline void ScatterAddTranspose(const Eqn& e, Transpose& a) {
  if (a.linear[0]) a.in_cts[0] = a.cts[0];
  if (a.linear[2]) a.in_cts[2] = WindowsOrZero(e, a.cts[0], a.operands[1]);
}
inline void ScatterSubTranspose(const Eqn& e, Transpose& a) {
  ScatterAddTranspose(e, a);
  if (a.linear[2]) a.in_cts[2] = neg(a.in_cts[2]);
}

// ---- mul ----
inline void ScatterMulJvp(const Eqn& e, Jvp& a) {
  a.out = e.EmitN(a.primals);
  Value& out = a.out_tangents[0];
  if (!a.tangents[0].is_zero()) out = e.Emit({a.tangents[0], a.primals[1], a.primals[2]});
  if (a.tangents[2].is_zero()) return;
  if (!IsUnique(e)) NeedsUnique(e, "jvp by updates");
  const Value sum = ScatterLike(e, "scatter-add", zeros(e.builder(), e.in(0)), a.primals[1], a.tangents[2]);
  const Value part = mul(a.primals[0], sum);
  out = out.is_zero() ? part : add(out, part);
}
inline void ScatterMulTranspose(const Eqn& e, Transpose& a) {
  if (a.linear[0]) a.in_cts[0] = e.Emit({a.cts[0], a.operands[1], a.operands[2]});
  if (!a.linear[2]) return;
  if (!IsUnique(e)) NeedsUnique(e, "transpose by updates");
  a.in_cts[2] = WindowsOrZero(e, mul(a.cts[0], a.operands[0]), a.operands[1]);
}

// ---- min, max ----
// All candidates for an element (updates and the old value) that equal the result share its tangent.
inline void ScatterExtremumJvp(const Eqn& e, Jvp& a) {
  a.out = e.EmitN(a.primals);
  if (a.tangents[0].is_zero() && a.tangents[2].is_zero()) return;
  const Value x = instantiate(a.tangents[0], e.in(0)), dy = instantiate(a.tangents[2], e.in(2));
  const Value &indices = a.primals[1], &updates = a.primals[2];
  const Value target = WindowsAt(e, a.out[0], indices), zero = zeros(e.builder(), e.in(0)), one = ones_like(updates);
  const Value succeeds = eq(updates, target), retained = eq(WindowsAt(e, a.primals[0], indices), target);
  const auto count = [&](const Value& what) {
    return WindowsAt(e, ScatterLike(e, "scatter-add", zero, indices, what), indices);
  };
  const Value winners = count(Where(succeeds, one)), contenders = count(one);
  const Value share = div(1.0, add(winners, 1.0));
  const Value of_update = Where(succeeds, select(retained, share, div(1.0, winners)));
  const Value of_old = div(sub(Where(retained, share), 1.0), contenders);
  const Value updated = mul(dy, of_update), change = add(mul(WindowsAt(e, x, indices), of_old), updated);
  a.out_tangents[0] = ScatterLike(e, "scatter-add", x, indices, change);
}

}}}  // namespace ricci::v0::lax
#endif
