// Steps that several numpy-like functions share.
#ifndef RICCI_BINDINGS_CPP_HOST_NUMPY_STEPS_H_
#define RICCI_BINDINGS_CPP_HOST_NUMPY_STEPS_H_
#include "ricci/indexing.hpp"
#include "ricci/lax.hpp"

namespace ricci { inline namespace v0 {

inline Value ToBool(const Value& v) { return v.dtype() == DType::kBool ? v : lax::ne(v, lax::zeros_like(v)); }
inline Shape ShapeOfValue(const Value& v) { return Shape(v.shape().begin(), v.shape().end()); }

// The operands in their promoted dtype; each keeps its shape.
Values UseList(std::string_view name, std::span<const Operand> xs);
// The operands with one dtype and one shape, bool as i32, because it has no arithmetic.
Values UseNumbers(std::string_view name, std::span<const Operand> xs);
// lax::rem; of an integer and 0 it is 0, as in jax.numpy.
Value RemainderOrZero(const Value& x, const Value& y);
// 0, 1, ... along `dimension`, in the program of `in`.
Value Iota(const Operand& in, DType dtype, const Shape& shape, int64_t dimension);

// Traced indices with negative ones counted from the end.
Value FromEnd(const Value& index, int64_t size);
void WantIndex(std::string_view name, const Location& at, const Value& x, const Value& i);
// The index `i` of a number, counted from the start; throws if it is out of range.
int64_t InBounds(const CallSite& site, int64_t i, int64_t axis, const Value& x);
// The slices of x along `axis` at indices of any shape, which takes the place of the axis.
Value GatherAlong(const Value& x, const Value& indices, int64_t axis, std::string_view mode);

}}  // namespace ricci::v0
#endif
