// ricci/operand.hpp: what a numpy-like function takes: a Value, an Array or a number, and where the caller stands.
//
// The conversion to an Operand captures file and line of the caller, for operators too. Functions turn their operands
// into Values of one program (the deepest one among them), which is also where the equation goes; errors begin with the
// caller's place. A function of numbers and Arrays alone has no program to go to, which is an error.
#ifndef RICCI_OPERAND_HPP_
#define RICCI_OPERAND_HPP_
#include "ricci/lax.hpp"
#include "ricci/promotion.hpp"
#include "ricci/trace.hpp"

namespace ricci::inline v0 {

class Operand {
 public:
  // NOLINTBEGIN: conversions are the purpose
  Operand(const Value& v, Location at = Location::Here()) : at(at), value(v) {}
  Operand(const Array& a, Location at = Location::Here()) : at(at), array(&a) {}
  template <Number T>
  Operand(T number, Location at = Location::Here())
      : at(at),
        weak(std::same_as<T, bool>         ? Weak::kBool
             : std::is_floating_point_v<T> ? Weak::kFloat
                                           : Weak::kInt),
        real(static_cast<double>(number)),
        integer(static_cast<int64_t>(number)) {}
  // NOLINTEND

  bool is_value() const { return weak == Weak::kNone && array == nullptr; }
  // kNone for a number.
  DType dtype() const {
    if (weak != Weak::kNone) return DType::kNone;
    return array != nullptr ? array->dtype() : value.dtype();
  }
  // Empty for a number.
  Dims shape() const {
    if (weak != Weak::kNone) return {};
    return array != nullptr ? array->shape() : value.shape();
  }

  Location at;
  Value value;
  const Array* array = nullptr;
  Weak weak = Weak::kNone;
  double real = 0;
  int64_t integer = 0;
};

// The program that an operation goes to, for one function `name` called at `at`.
struct Place {
  std::string_view name;
  Location at;
  ricci_builder* builder = nullptr;
  Scope* scope = nullptr;

  template <typename... Parts>
  [[noreturn]] void Fail(const Parts&... parts) const {
    FailAt(at, name, ": ", parts...);
  }
  // A constant of this program.
  Value Constant(const Operand& number, DType dtype, Dims shape) const {
    Value v = number.weak == Weak::kFloat ? lax::full(builder, shape, dtype, number.real)
                                          : lax::full(builder, shape, dtype, number.integer);
    v.scope = scope;
    return v;
  }
  // `x` as a value here; a number becomes one of `dtype` and `shape`.
  Value Lift(const Operand& x, DType dtype, Dims shape = {}) const {
    if (x.weak != Weak::kNone) return Constant(x, dtype, shape);
    if (x.array != nullptr) {
      if (scope == nullptr) Fail("an array cannot be used in a rule; make it a constant");
      return scope->Capture(static_cast<Trace*>(scope)->CaptureArray(*x.array));
    }
    return x.value.builder != builder && scope != nullptr ? scope->Capture(x.value) : x.value;
  }
};

// Chooses the place and sets the location of what follows there. Not empty.
inline Place PlaceOf(std::string_view name, std::span<const Operand> xs) {
  Place p{name, xs[0].at};
  for (const Operand& x : xs) {
    if (!x.is_value()) continue;
    CheckOpen(x.value, p.at, name);
    const bool deeper = x.value.scope != nullptr && (p.scope == nullptr || x.value.scope->depth() > p.scope->depth());
    if (p.builder != nullptr && !deeper) continue;
    p.builder = x.value.builder;
    p.scope = x.value.scope;
  }
  if (p.builder == nullptr) p.Fail("no operand is a traced value; call it in a function given to jit");
  SetLocation(p.builder, p.at);
  return p;
}

// The only operand of `name` as a value; the location is set.
inline Value Use(std::string_view name, const Operand& x) { return PlaceOf(name, {&x, 1}).Lift(x, DType::kNone); }
// The same, converted to a floating dtype.
inline Value UseInexact(std::string_view name, const Operand& x) {
  const Value v = Use(name, x);
  return lax::convert_element_type(v, ToInexact(v.dtype()));
}

inline DType PromotedDType(const Place& p, std::span<const Operand> xs) {
  DType d = DType::kNone;
  for (const Operand& x : xs) {
    if (x.weak != Weak::kNone) continue;
    const DType next = Promote(d, x.dtype());
    if (next == DType::kNone) p.Fail("dtypes ", d, " and ", x.dtype(), " have no common dtype");
    d = next;
  }
  for (const Operand& x : xs) d = PromoteWeak(d, x.weak);
  return d;
}
inline Shape BroadcastShape(const Place& p, std::span<const Operand> xs) {
  Shape shape;
  for (const Operand& x : xs) {
    const Shape before = shape;
    if (!BroadcastInto(shape, x.shape())) p.Fail("shapes ", before, " and ", x.shape(), " do not broadcast");
  }
  return shape;
}
// `x` repeated to `shape`, to which it broadcasts.
inline Value BroadcastValue(const Value& x, Dims shape) {
  if (SameDims(x.shape(), shape)) return x;
  Shape dims(static_cast<size_t>(x.rank()));
  std::iota(dims.begin(), dims.end(), static_cast<int64_t>(shape.size()) - x.rank());
  return lax::broadcast_in_dim(x, shape, dims);
}

// The operands with one dtype and one shape. `dtype` kNone: the promoted one.
inline Values UseTogether(std::string_view name, std::span<const Operand> xs, bool inexact = false) {
  const Place p = PlaceOf(name, xs);
  DType dtype = PromotedDType(p, xs);
  if (inexact) dtype = ToInexact(dtype);
  const Shape shape = BroadcastShape(p, xs);
  Values out;
  for (const Operand& x : xs) {
    const Value v = lax::convert_element_type(p.Lift(x, dtype, shape), dtype);
    out.push_back(BroadcastValue(v, shape));
  }
  return out;
}
// prim(a, b) of the promoted, broadcast operands; `name` is what messages call it.
inline Value Binary(std::string_view name, std::string_view prim, const Operand& a, const Operand& b,
                    bool inexact = false) {
  const Operand in[] = {a, b};
  return Emit1(prim, UseTogether(name, in, inexact));
}

// An axis that may count from the end.
inline int64_t Axis(std::string_view name, const Location& at, int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank)
    FailAt(at, name, ": axis ", axis, " is out of range for ", Count(rank, "dimension"));
  return axis < 0 ? axis + rank : axis;
}

}  // namespace ricci::inline v0
#endif
