// mujoco.transition: the linear map from tangents of state and controls to tangents of the next state, for each world:
// the matrix of mujoco.jacobian times what its columns stand for, one result for each part of its rows.
//
// `transposed` is the same matrix the other way round, so the transpose of either form is the other one. The matrix may
// have a tangent or cotangent too, as in any product, though mujoco.jacobian has no derivative.
#include "mujoco_rows.h"

namespace engine {
namespace {

namespace lax = ricci::lax;
using ricci::Eqn;
using ricci::Shape;
using ricci::Value;
using ricci::Values;

constexpr ricci::AttrSpec kAttrs[] = {{"transposed", ricci::AttrKind::kBool, "false"}};
constexpr uint32_t kStateParts = 3;  // qpos, qvel, act; the controls are the fourth part of a column

bool IsTransposed(const Eqn& e) { return e.flag("transposed", false); }
// Dimensions before those of the matrix.
int64_t WorldDims(const Eqn& e) { return e.in(0).rank() - 2; }
int64_t Rows(const Eqn& e) { return e.in(0).dim(WorldDims(e)); }
int64_t Columns(const Eqn& e) { return e.in(0).dim(WorldDims(e) + 1); }

// ---- type ----
// The sum of the last dimensions of operands first, first + 1, ..., end - 1.
ricci_exact LengthOf(const Eqn& e, uint32_t first, uint32_t end) {
  ricci_exact sum = ricci::Exact(0);
  for (uint32_t i = first; i < end; ++i) sum = sum + e.in(i).shape().back();
  return sum;
}
void CheckParts(const Eqn& e) {
  const auto worlds = static_cast<size_t>(WorldDims(e));
  for (uint32_t i = 1; i < e.n_in(); ++i) {
    ricci::rules::WantDType(e, i, ricci::SetOf(ricci::DType::kF64));
    const ricci::Dims dims = e.in(i).shape();
    if (dims.size() != worlds + 1 || !ricci::SameDims(dims.first(worlds), e.in(0).shape().first(worlds))) {
      e.Fail("operand ", i, " is ", e.in(i), " and the matrix ", e.in(0),
             "; it must have the worlds and one dimension");
    }
  }
}
ricci::ArrayTypes Type(const Eqn& e) {
  const bool transposed = IsTransposed(e);
  e.WantOperands(1 + kStateParts + (transposed ? 0 : 1));
  ricci::rules::WantDType(e, 0, ricci::SetOf(ricci::DType::kF64));
  if (e.in(0).rank() < 2) e.Fail("the matrix is ", e.in(0), "; it must have rows and columns");
  CheckParts(e);
  const ricci_exact state = LengthOf(e, 1, 1 + kStateParts), all = LengthOf(e, 1, e.n_in());
  if (ricci::Narrow(state) != Rows(e) || (!transposed && ricci::Narrow(all) != Columns(e)) || Columns(e) < Rows(e)) {
    e.Fail("the matrix is ", e.in(0), ", but state and controls have ", state, " and ", all - state, " numbers");
  }
  ricci::ArrayTypes out = {e.in(1), e.in(2), e.in(3)};
  if (!transposed) return out;
  Shape controls(e.in(1).shape().begin(), e.in(1).shape().end());
  controls.back() = Columns(e) - Rows(e);  // exact: not negative, as checked above
  out.push_back(e.in(1).WithShape(controls));
  return out;
}

// ---- derivatives ----
void AddTo(Values& sum, const Values& terms) {
  for (size_t i = 0; i < sum.size(); ++i) sum[i] = sum[i].is_zero() ? terms[i] : lax::add(sum[i], terms[i]);
}
void JvpRule(const Eqn& e, ricci::Jvp& a) {
  a.out = e.EmitN(a.primals);
  if (!a.tangents[0].is_zero()) {
    Values in = a.primals;
    in[0] = a.tangents[0];
    AddTo(a.out_tangents, e.EmitN(in));
  }
  if (std::all_of(a.tangents.begin() + 1, a.tangents.end(), [](const Value& t) { return t.is_zero(); })) return;
  Values in = {a.primals[0]};
  for (uint32_t i = 1; i < e.n_in(); ++i) in.push_back(lax::instantiate(a.tangents[i], e.in(i)));
  AddTo(a.out_tangents, e.EmitN(in));
}

// Rows times columns, for each world.
Value Outer(const Eqn& e, std::span<const Value> rows, std::span<const Value> columns) {
  const int64_t worlds = WorldDims(e);
  Shape row_dims = ricci::CountFrom(0, worlds), column_dims = row_dims;
  row_dims.push_back(worlds);
  column_dims.push_back(worlds + 1);
  const ricci::Dims shape = e.in(0).shape();
  const Value across = lax::broadcast_in_dim(lax::concatenate(columns, worlds), shape, column_dims);
  return lax::mul(lax::broadcast_in_dim(lax::concatenate(rows, worlds), shape, row_dims), across);
}
void TransposeRule(const Eqn& e, ricci::Transpose& a) {
  Values cts;
  for (uint32_t i = 0; i < e.n_out(); ++i) cts.push_back(lax::instantiate(a.cts[i], e.out(i)));
  const bool by_matrix = a.linear[0] != 0;
  const bool by_parts = std::any_of(a.linear.begin() + 1, a.linear.end(), [](uint8_t l) { return l != 0; });
  if (by_matrix && by_parts) throw ricci::Error(RICCI_UNIMPLEMENTED, "mujoco.transition: not linear in both factors");
  if (by_matrix) {
    const std::span<const Value> parts = std::span(a.operands).subspan(1);
    a.in_cts[0] = IsTransposed(e) ? Outer(e, parts, cts) : Outer(e, cts, parts);
    return;
  }
  Values in = {a.operands[0]};
  in.insert(in.end(), cts.begin(), cts.end());
  const Values back = ricci::EmitN(e.n_in() - 1, e.name(), in, {{"transposed", !IsTransposed(e)}});
  for (uint32_t i = 1; i < e.n_in(); ++i) {
    if (a.linear[i] != 0) a.in_cts[i] = back[i - 1];
  }
}

// ---- lowering ----
Values Decompose(const Eqn& e, std::span<const Value> in) {
  const int64_t worlds = WorldDims(e);
  const Shape world_dims = ricci::CountFrom(0, worlds);
  const lax::DotDims dims = {{IsTransposed(e) ? worlds : worlds + 1}, {worlds}, world_dims, world_dims};
  const Value product = lax::dot_general(in[0], lax::concatenate(in.subspan(1), worlds), dims);
  Shape sizes;
  for (uint32_t i = 0; i < e.n_out(); ++i) sizes.push_back(e.out(i).shape().back());
  return lax::split(product, sizes, worlds);
}

constexpr ricci::Row kRows[] = {
    {.name = "mujoco.transition",
     .doc = "ys... = mujoco.transition(matrix, xs...): the matrix of mujoco.jacobian times tangents of qpos, qvel, act "
            "and ctrl: tangents of qpos, qvel and act; `transposed`: cotangents, from those of the results to all four",
     .attrs = kAttrs,
     .flags = RICCI_PRIM_EXPENSIVE,
     .type = Type,
     .jvp = JvpRule,
     .transpose = TransposeRule,
     .batch = ricci::rules::BatchAllFirst<MoreWorlds>,
     .lowerings = ricci::lower::Decompose<Decompose>,
     .examples = "(f64[4,5], f64[1], f64[2], f64[1], f64[1]); (f64[3,4,6], f64[3,1], f64[3,2], f64[3,1]) "
                 "transposed=true; (f64[2,2,2], f64[2,1], f64[2,1], f64[2,0], f64[2,0])"}};

}  // namespace

ricci::RowList transition_rows() { return kRows; }

}  // namespace engine
