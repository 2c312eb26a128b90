// ricci/value.hpp: types and values of a program under construction, as light handles.
//
// A Value is {builder, id} and keeps alive only its Scope, so one that is used after its function has ended is an error
// and not freed memory. The symbolic zero (a tangent or cotangent for which nothing is built) is a state of a Value:
// test it with is_zero() before use. Functions that emit take the builder from their operands; where operands come from
// different builders, the innermost one's Scope captures the others, which is how closures work without a thread-local
// trace.
#ifndef RICCI_VALUE_HPP_
#define RICCI_VALUE_HPP_
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "ricci/dtype.hpp"
#include "ricci/exact.hpp"

namespace ricci { inline namespace v0 {

using Shape = std::vector<int64_t>;
using Dims = std::span<const int64_t>;

// The product of any numbers; that of the dimensions of a type, or of some of them, always fits an ElementCount.
inline ricci_exact ExactCount(Dims dims) {
  ricci_exact n = Exact(1);
  for (int64_t d : dims) {
    if (d == 0) return Exact(0);  // however large the others are
    n = n * d;
  }
  return n;
}
// Throws INVALID_ARGUMENT if no array could hold that many.
inline int64_t ElementCount(Dims dims) {
  return AsDimension(ExactCount(dims), "shape ", dims, ": number of elements ");
}
// first, first + 1, ...: n numbers.
inline Shape CountFrom(int64_t first, int64_t n) {
  Shape out(static_cast<size_t>(n));
  for (int64_t& d : out) d = first++;
  return out;
}
inline bool SameDims(Dims a, Dims b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

// An interned array type of a context: equal ids mean equal types. Its dimensions live as long as the context.
class ArrayType {
 public:
  ArrayType() = default;
  ArrayType(ricci_ctx* ctx, ricci_type id) : ctx_(ctx), id_(id) {
    ricci_type_desc d = ricci_type_desc_default();
    Check(ricci_type_get(ctx, id, &d));
    dtype_ = static_cast<DType>(d.dtype);
    dims_ = {d.dims, d.rank};
  }
  static ricci_type_desc Describe(DType dtype, Dims dims) {
    return ricci_type_desc_of(static_cast<uint32_t>(dtype), static_cast<uint32_t>(dims.size()), dims.data());
  }
  static ArrayType Make(ricci_ctx* ctx, DType dtype, Dims dims) {
    const ricci_type_desc d = Describe(dtype, dims);
    ricci_type id = 0;
    Check(ricci_type_make(ctx, &d, &id));
    return ArrayType(ctx, id);
  }

  ricci_ctx* context() const { return ctx_; }
  ricci_type id() const { return id_; }
  DType dtype() const { return dtype_; }
  Dims shape() const { return dims_; }
  int64_t dim(int64_t i) const { return dims_[static_cast<size_t>(i)]; }
  int64_t rank() const { return static_cast<int64_t>(dims_.size()); }
  int64_t elements() const { return ElementCount(dims_); }

  ArrayType WithDType(DType d) const { return d == dtype_ ? *this : Make(ctx_, d, dims_); }
  ArrayType WithShape(Dims dims) const { return Make(ctx_, dtype_, dims); }

  bool operator==(const ArrayType& o) const { return id_ == o.id_; }

 private:
  ricci_ctx* ctx_ = nullptr;
  ricci_type id_ = 0;
  DType dtype_ = DType::kNone;
  Dims dims_;
};
inline void AppendText(std::string& out, const ArrayType& t) { out += Text(t.dtype(), t.shape()); }

// Where a host asked for an operation. A parameter `Location at = Location::Here()` captures the caller.
struct Location {
  const char* file = nullptr;
  uint32_t line = 0;
  const char* function = nullptr;
  static Location Here(const char* file = __builtin_FILE(), uint32_t line = __builtin_LINE(),
                       const char* function = __builtin_FUNCTION()) {
    return {file, line, function};
  }
};
struct Value;
using Values = std::vector<Value>;
class Operand;

// A program being traced inside others. `Capture` gives a value of one of the enclosing builders (identified by
// Value::builder, its scope may be unset) as a value of this one. It outlives its program while Values refer to it, so
// that one used too late is told apart.
class Scope : public Counted {
 public:
  virtual Value Capture(const Value& outer) = 0;
  ricci_builder* builder() const { return builder_; }
  // The number of programs around this one; among the operands of an operation, the deepest scope gets the equation.
  uint32_t depth() const { return depth_; }
  // Whether the program is still being traced; false: its builder is gone.
  bool open() const { return open_; }

 protected:
  Scope(ricci_builder* builder, uint32_t depth) : builder_(builder), depth_(depth) {}
  void Close() { open_ = false; }

 private:
  ricci_builder* builder_;
  uint32_t depth_;
  bool open_ = true;
};

// A reference to a Scope, or none; made of a plain pointer it adds one.
class ScopeRef : public Ref<Scope> {
 public:
  ScopeRef(Scope* scope = nullptr) : Ref<Scope>(Retained(scope)) {}  // NOLINT: a plain pointer everywhere else
  operator Scope*() const { return handle(); }                       // NOLINT
};

template <typename T>
inline constexpr bool kNoElement = false;
template <typename T>
inline constexpr bool kNoTruth = false;

// A value of a program under construction, or the symbolic zero. `scope` is set where closures may be captured.
struct Value {
  ricci_builder* builder = nullptr;
  ricci_val id = RICCI_VAL_NONE;
  ScopeRef scope = nullptr;

  static Value Zero(ricci_builder* b) { return {b, RICCI_VAL_ZERO, nullptr}; }
  bool is_zero() const { return id == RICCI_VAL_ZERO; }
  bool is_none() const { return id == RICCI_VAL_NONE; }
  // Throws unless the program that holds this value is still under construction.
  void WantOpen() const {
    if (scope != nullptr && !scope->open()) {
      throw Error(RICCI_INVALID_ARGUMENT,
                  "a value is used after the function that made it has returned; return it instead");
    }
  }

  ricci_ctx* context() const { return ricci_builder_context(builder); }
  ArrayType type() const {
    if (is_zero() || is_none()) throw Error(RICCI_INTERNAL, "a symbolic zero or an unset value has no type");
    WantOpen();
    return ArrayType(context(), ricci_builder_type(builder, id));
  }
  DType dtype() const { return type().dtype(); }
  Dims shape() const { return type().shape(); }
  int64_t rank() const { return type().rank(); }
  int64_t dim(int64_t i) const { return type().dim(i); }
  // The elements of a pending Value, as those of an Array (ricci/array.hpp): `auto y = sin(x)` is read as it is.
  template <typename T>
  std::vector<T> to_vector(Location at = Location::Here()) const;
  template <typename T>
  T item(Location at = Location::Here()) const;
  // `if (x > 0)` and `x > 0 && y > 0` have a sentence here.
  template <std::same_as<bool> T>
  explicit operator T() const {
    static_assert(
        kNoTruth<T>,
        "a Value is not a bool, because its elements are not known yet; instead of if (p) write cond(p, f, g, x) "
        "or where(p, x, y), instead of p && q, p || q and !p logical_and(p, q), logical_or(p, q) and "
        "logical_not(p), instead of while (p) while_loop; outside of a traced function p.item<bool>()");
    return false;
  }
  // A slice of dimension 0, see ricci/indexing.hpp. It is a copy, so nothing can be assigned to it.
  const Value operator[](const Operand& index) const;
  template <typename T>
  void operator=(const T&) const&& {
    static_assert(kNoElement<T>, "x[i] is a copy, to which nothing can be assigned; write x = set_at(x, i, value)");
  }
};

// The location of the equations that follow. Rules never set it: what they emit belongs to the operation they serve.
inline void SetLocation(ricci_builder* b, const Location& at) {
  ricci_builder_set_location(b, at.file, at.line, at.function);
}

}}  // namespace ricci::v0
#endif
