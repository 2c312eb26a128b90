// ricci/operand.hpp: what a numpy-like function takes: a Value, an Array or a number, and the location of the caller.
//
// The conversion to an Operand captures file and line of the caller, for operators too. Functions turn their operands
// into Values of one program (the deepest one among theirs, so loop-invariant work is outside of loops), which also
// gets the equation; errors begin with the caller's location. Arrays alone, or a Context, begin a program of their own,
// whose Values are pending: one is computed when it is converted to an Array (deferred.cc). A function of numbers
// alone has no program to go to, which is an error.
#ifndef RICCI_OPERAND_HPP_
#define RICCI_OPERAND_HPP_
#include <complex>

#include "ricci/promotion.hpp"
#include "ricci/trace.hpp"

namespace ricci { inline namespace v0 {

class Operand {
 public:
  // NOLINTBEGIN: conversions are the purpose
  Operand(const Value& v, Location at = Location::Here());
  Operand(const Array& a, Location at = Location::Here());
  // Where a function that makes an array from nothing makes it.
  Operand(const Context& c, Location at = Location::Here());
  template <typename T>
  requires std::is_arithmetic_v<T> Operand(T number, Location at = Location::Here())
      : Operand(std::same_as<T, bool>         ? Weak::kBool
                : std::is_floating_point_v<T> ? Weak::kFloat
                                              : Weak::kInt,
                static_cast<double>(number), std::is_integral_v<T> ? static_cast<int64_t>(number) : 0, at) {}
  template <typename T>
  Operand(std::complex<T> number, Location at = Location::Here())
      : Operand(Weak::kComplex, static_cast<double>(number.real()), 0, at, static_cast<double>(number.imag())) {}
  // NOLINTEND
  Operand(const Operand& o);
  Operand& operator=(const Operand& o);
  ~Operand();

  bool is_value() const { return weak == Weak::kNone && array == nullptr && ctx == nullptr; }
  bool is_number() const { return weak != Weak::kNone; }
  // An unsigned number of 2^63 or more, of which `integer` has the bits: u64 and floating types hold it.
  bool is_above_int64() const { return weak == Weak::kInt && integer < 0 && real > 0; }
  // The whole number as an index, bound or exponent of the function `name`, which takes none above int64.
  int64_t int64(std::string_view name) const;
  // kNone for a number or Context.
  DType dtype() const;
  // Empty for a number or Context.
  Dims shape() const;

  Location at;
  Value value;
  const Array* array = nullptr;
  ricci_ctx* ctx = nullptr;
  Weak weak = Weak::kNone;
  double real = 0, imag = 0;
  int64_t integer = 0;

 private:
  Operand(Weak kind, double real, int64_t integer, const Location& at, double imag = 0);
};

// One call of the function `name` by the host: where the caller is and, inside of a trace, the program that the
// operation goes to. Outside of any trace there is a context alone.
struct CallSite {
  std::string_view name;
  Location at;
  ricci_builder* builder = nullptr;
  ScopeRef scope = nullptr;
  ricci_ctx* ctx = nullptr;  // NULL inside of a trace

  template <typename... Parts>
  [[noreturn]] void Fail(const Parts&... parts) const {
    FailAt(at, name, ": ", parts...);
  }
  // Whether the program is one of operations on Arrays alone, outside of any traced function.
  bool is_outside() const;
  ricci_ctx* context() const { return builder == nullptr ? ctx : ricci_builder_context(builder); }
  // A constant of this program.
  Value Constant(const Operand& number, DType dtype, Dims shape) const;
  // `x` as a value here; a number becomes one of `dtype` and `shape`: a constant, or an operand if it is outside of any
  // traced function, so that the same program runs for other numbers.
  Value Lift(const Operand& x, DType dtype, Dims shape = {}) const;
};

// Chooses the program and sets the location of what follows there. Not empty.
CallSite SiteOf(std::string_view name, std::span<const Operand> xs);

// The only operand of `name` as a value; the location is set.
Value Use(std::string_view name, const Operand& x);
// The same, converted to a floating dtype.
Value UseInexact(std::string_view name, const Operand& x);

DType PromotedDType(const CallSite& site, std::span<const Operand> xs);
Shape BroadcastShape(const CallSite& site, std::span<const Operand> xs);
// `x` repeated to `shape`, to which it broadcasts.
Value BroadcastValue(const Value& x, Dims shape);
// The operands with one dtype and one shape. `dtype` kNone: the promoted one.
Values UseTogether(std::string_view name, std::span<const Operand> xs, bool inexact = false);
// prim(a, b) of the promoted, broadcast operands; `name` is what messages call it.
Value Binary(std::string_view name, std::string_view prim, const Operand& a, const Operand& b, bool inexact = false);

// An axis that may count from the end.
int64_t Axis(std::string_view name, const Location& at, int64_t axis, int64_t rank);

}}  // namespace ricci::v0
#endif
