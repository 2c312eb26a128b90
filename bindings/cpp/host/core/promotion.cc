// The lattice of dtypes, and broadcasting of shapes.
#include "ricci/promotion.hpp"

namespace ricci { inline namespace v0 {

namespace {

// The signed integer type of `bytes`.
DType SignedOf(int64_t bytes) {
  return bytes == 1 ? DType::kI8 : bytes == 2 ? DType::kI16 : bytes == 4 ? DType::kI32 : DType::kI64;
}
DType PromoteInts(DType a, DType b) {
  if (In(a, kUnsigned) == In(b, kUnsigned)) return SizeOf(a) >= SizeOf(b) ? a : b;
  const DType u = In(a, kUnsigned) ? a : b, s = In(a, kUnsigned) ? b : a;
  if (SizeOf(s) > SizeOf(u)) return s;
  return SizeOf(u) == 8 ? kDefaultFloat : SignedOf(2 * SizeOf(u));
}

}  // namespace

DType Promote(DType a, DType b) {
  if (a == b || b == DType::kNone) return a;
  if (a == DType::kNone) return b;
  if (!In(a, kAny) || !In(b, kAny)) return DType::kNone;
  if (a == DType::kBool) return b;
  if (b == DType::kBool) return a;
  if (IsInt(a) && IsInt(b)) return PromoteInts(a, b);
  if (IsInt(a)) return b;
  if (IsInt(b)) return a;
  if (In(a, kTinyFloats) || In(b, kTinyFloats)) return DType::kNone;  // as in JAX: convert them
  if (IsComplex(a) || IsComplex(b)) return SizeOf(ComplexOf(a)) >= SizeOf(ComplexOf(b)) ? ComplexOf(a) : ComplexOf(b);
  if (SizeOf(a) == SizeOf(b)) return kDefaultFloat;  // f16 and bf16
  return SizeOf(a) > SizeOf(b) ? a : b;
}
DType PromoteWeak(DType d, Weak w) {
  if (w == Weak::kComplex) return ComplexOf(d);
  if (w == Weak::kFloat) return IsInexact(d) ? d : kDefaultFloat;
  if (w == Weak::kInt) return d == DType::kNone || d == DType::kBool ? kDefaultInt : d;
  if (w == Weak::kBool && d == DType::kNone) return DType::kBool;
  return d;
}
DType ToInexact(DType d) {
  if (IsInexact(d)) return d;
  return d == DType::kI64 || d == DType::kU64 ? DType::kF64 : kDefaultFloat;
}
bool BroadcastInto(Shape& shape, Dims other) {
  if (other.size() > shape.size()) shape.insert(shape.begin(), other.size() - shape.size(), 1);
  const size_t first = shape.size() - other.size();
  for (size_t i = 0; i < other.size(); ++i) {
    int64_t& d = shape[first + i];
    if (d != other[i] && d != 1 && other[i] != 1) return false;
    if (d == 1) d = other[i];
  }
  return true;
}

}}  // namespace ricci::v0
