#include "trace/roles.h"

#include <numeric>

#include "trace/attrs.h"

namespace ricci { inline namespace v0 { namespace trace {

using Ints = std::vector<int64_t>;

absl::StatusOr<Val> Add(Builder& b, Val x, Val y) {
  const Val in[] = {x, y};
  return b.Emit1("add", {}, in);
}

absl::StatusOr<Val> Sub(Builder& b, Val x, Val y) {
  const Val in[] = {x, y};
  return b.Emit1("sub", {}, in);
}

absl::StatusOr<Val> Not(Builder& b, Val x) { return b.Emit1("not", {}, {&x, 1}); }

absl::StatusOr<Val> And(Builder& b, Val x, Val y) {
  const Val in[] = {x, y};
  return b.Emit1("and", {}, in);
}

absl::StatusOr<Val> ReduceSum(Builder& b, Val x, std::span<const int64_t> axes) {
  if (axes.empty()) return x;
  const ricci_attr attrs[] = {IntsAttr("axes", axes)};
  return b.Emit1("reduce_sum", attrs, {&x, 1});
}

namespace {

absl::StatusOr<Val> ReduceToScalar(Builder& b, std::string_view reduction, Val x) {
  if (b.type(x).rank() == 0) return x;
  Ints axes(b.type(x).rank());
  std::iota(axes.begin(), axes.end(), 0);
  const ricci_attr attrs[] = {IntsAttr("axes", axes)};
  return b.Emit1(reduction, attrs, {&x, 1});
}

}  // namespace

absl::StatusOr<Val> ReduceAny(Builder& b, Val x) { return ReduceToScalar(b, "reduce_or", x); }
absl::StatusOr<Val> ReduceAll(Builder& b, Val x) { return ReduceToScalar(b, "reduce_and", x); }

absl::StatusOr<Val> BroadcastInDim(Builder& b, Val x, std::span<const int64_t> shape, std::span<const int64_t> dims) {
  const ricci_attr attrs[] = {IntsAttr("shape", shape), IntsAttr("broadcast_dimensions", dims)};
  return b.Emit1("broadcast_in_dim", attrs, {&x, 1});
}

absl::StatusOr<Val> BroadcastLeading(Builder& b, Val x, int64_t size) {
  const auto shape = b.type(x).shape;
  Ints to{size}, dims(shape.size());
  to.insert(to.end(), shape.begin(), shape.end());
  std::iota(dims.begin(), dims.end(), 1);
  return BroadcastInDim(b, x, to, dims);
}

absl::StatusOr<Val> MoveAxis(Builder& b, Val x, int64_t from, int64_t to) {
  if (from == to) return x;
  Ints permutation;
  for (int64_t d = 0; d < b.type(x).rank(); ++d) {
    if (d != from) permutation.push_back(d);
  }
  permutation.insert(permutation.begin() + to, from);
  const ricci_attr attrs[] = {IntsAttr("permutation", permutation)};
  return b.Emit1("transpose", attrs, {&x, 1});
}

absl::StatusOr<Val> Select(Builder& b, Val pred, Val on_true, Val on_false) {
  const Val in[] = {pred, on_false, on_true};
  return b.Emit1("select_n", {}, in);
}

absl::StatusOr<Vals> OptimizationBarrier(Builder& b, std::span<const Val> values) {
  RICCI_ASSIGN(Vals out, b.Emit("optimization_barrier", {}, values));
  if (out.size() == values.size()) return out;
  return base::InvalidArgument("optimization_barrier: gives ", base::Count(out.size(), "result"), ", not ",
                               values.size());
}

absl::StatusOr<TypeId> WithDim(types::TypeTable& types, TypeId t, int64_t axis, int64_t size) {
  if (axis < 0) return t;
  const ArrayType& type = types.Get(t);
  Ints shape(type.shape.begin(), type.shape.end());
  shape.insert(shape.begin() + axis, size);
  return types.WithShape(type, shape);
}

absl::StatusOr<TypeId> WithoutDim(types::TypeTable& types, TypeId t, int64_t axis) {
  if (axis < 0) return t;
  const ArrayType& type = types.Get(t);
  Ints shape(type.shape.begin(), type.shape.end());
  shape.erase(shape.begin() + axis);
  return types.WithShape(type, shape);
}

}}}  // namespace ricci::v0::trace
