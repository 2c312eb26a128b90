// Roles: the few array operations that transforms and structural rows write into programs, found by name in the
// registry.
//
// The core knows no primitive; what its own rules need of arrays (sum cotangents, move a batch dimension, select) is
// here, except for one comparison and one conversion (control/cond_rules, control/while_rules). In a context whose
// plugins lack one of them, the transform that needs it returns NOT_FOUND with the name.
#ifndef RICCI_TRACE_ROLES_H_
#define RICCI_TRACE_ROLES_H_
#include "trace/builder.h"

namespace ricci { inline namespace v0 { namespace trace {

absl::StatusOr<Val> Add(Builder& b, Val x, Val y);
absl::StatusOr<Val> Sub(Builder& b, Val x, Val y);
// Sums over `axes`, which disappear.
absl::StatusOr<Val> ReduceSum(Builder& b, Val x, std::span<const int64_t> axes);
// Whether any element is true, as a bool scalar.
absl::StatusOr<Val> ReduceAny(Builder& b, Val x);
absl::StatusOr<Val> ReduceAll(Builder& b, Val x);
// Dimension i of x becomes dimension dims[i] of the result.
absl::StatusOr<Val> BroadcastInDim(Builder& b, Val x, std::span<const int64_t> shape, std::span<const int64_t> dims);
// A new leading dimension of `size`, every slice x.
absl::StatusOr<Val> BroadcastLeading(Builder& b, Val x, int64_t size);
// Moves dimension `from` to position `to`.
absl::StatusOr<Val> MoveAxis(Builder& b, Val x, int64_t from, int64_t to);
// Elementwise `pred ? on_true : on_false`; pred is bool of that shape or a scalar.
absl::StatusOr<Val> Select(Builder& b, Val pred, Val on_true, Val on_false);
absl::StatusOr<Val> Not(Builder& b, Val x);
absl::StatusOr<Val> And(Builder& b, Val x, Val y);
// The same values, available once all of them are; what is computed from them is not merged with anything computed
// before.
absl::StatusOr<Vals> OptimizationBarrier(Builder& b, std::span<const Val> values);

// The type with a dimension of `size` inserted at `axis` (or unchanged if axis < 0), and with it removed.
absl::StatusOr<TypeId> WithDim(types::TypeTable& types, TypeId t, int64_t axis, int64_t size);
absl::StatusOr<TypeId> WithoutDim(types::TypeTable& types, TypeId t, int64_t axis);

}}}  // namespace ricci::v0::trace
#endif
