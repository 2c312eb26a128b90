// ricci/scalar.hpp: the kernel builder for lowerings: scalars with operators, arrays, loops as lambdas.
//
// A Scalar is a value inside a kernel under construction. Operators emit scalar operations; a C++ number next to a
// Scalar becomes a constant of its dtype. Loops and branches take lambdas, so no block can stay open.
// Iterations of Parallel may run in any order; what changes from one iteration of Loop to the next is held in a Local.
#ifndef RICCI_SCALAR_HPP_
#define RICCI_SCALAR_HPP_
#include <span>
#include <vector>

#include "ricci/element.hpp"
#include "ricci/value.hpp"

namespace ricci { inline namespace v0 {

struct Scalar {
  ricci_kernel_builder* kernel = nullptr;
  ricci_sval id = 0;
  DType dtype() const { return static_cast<DType>(ricci_kernel_dtype(kernel, id)); }
};
using Index = std::vector<Scalar>;

// As the C functions take them.
inline std::vector<ricci_sval> Ids(std::span<const Scalar> scalars) {
  std::vector<ricci_sval> ids;
  ids.reserve(scalars.size());
  for (const Scalar& s : scalars) ids.push_back(s.id);
  return ids;
}

// Operation `op` (RICCI_S_*); `dtype` is that of the result for CONVERT and BITCAST.
inline Scalar Apply(uint32_t op, std::initializer_list<Scalar> in, DType dtype = DType::kNone) {
  ricci_sval ids[3] = {};
  uint32_t n = 0;
  for (const Scalar& s : in) ids[n++] = s.id;
  Scalar out{in.begin()->kernel};
  Check(ricci_kernel_scalar(out.kernel, op, static_cast<uint32_t>(dtype), ids, n, &out.id));
  return out;
}
// The number `v` as a constant.
template <typename T>
Scalar Constant(ricci_kernel_builder* k, DType dtype, T v) {
  const Element e = Encode(dtype, v);
  Scalar out{k};
  Check(ricci_kernel_const(k, static_cast<uint32_t>(dtype), e.bytes.data(), &out.id));
  return out;
}
// The number `v` as a constant of the dtype of `like`.
template <typename T>
Scalar Like(const Scalar& like, T v) {
  return Constant(like.kernel, like.dtype(), v);
}

// ---- complex numbers ----
inline Scalar Complex(Scalar re, Scalar im) {
  Scalar out{re.kernel};
  Check(ricci_kernel_complex(re.kernel, re.id, im.id, &out.id));
  return out;
}
inline Scalar Real(Scalar z) {
  Scalar re{z.kernel}, im{z.kernel};
  Check(ricci_kernel_parts(z.kernel, z.id, &re.id, &im.id));
  return re;
}
inline Scalar Imag(Scalar z) {
  Scalar re{z.kernel}, im{z.kernel};
  Check(ricci_kernel_parts(z.kernel, z.id, &re.id, &im.id));
  return im;
}

// One side of a binary operator: a scalar or a number.
struct ScalarOrNumber {
  template <typename T>
  requires std::is_arithmetic_v<T> ScalarOrNumber(T v)
      : number(static_cast<double>(v)),
        integer(std::is_integral_v<T> ? static_cast<int64_t>(v) : 0),  // not of a float, which may be too large
        is_integer(std::is_integral_v<T>) {}
  Scalar As(const Scalar& like) const {
    if (!is_integer) return Like(like, number);
    const bool is_above_int64 = integer < 0 && number > 0;
    return is_above_int64 ? Like(like, static_cast<uint64_t>(integer)) : Like(like, integer);
  }
  double number;
  int64_t integer;
  bool is_integer;
};

inline Scalar operator+(Scalar a, Scalar b) { return Apply(RICCI_S_ADD, {a, b}); }
inline Scalar operator-(Scalar a, Scalar b) { return Apply(RICCI_S_SUB, {a, b}); }
// A product, which an addition or subtraction in the same expression takes in before it is rounded (as
// ricci_kernel_multiply_add does). Kept as a Scalar it is rounded: `const Scalar p = a * b`.
struct ScalarProduct {
  Scalar x, y;
  bool is_contracted() const { return IsContracted(x.dtype()); }
  operator Scalar() const { return Apply(RICCI_S_MUL, {x, y}); }  // NOLINT: a product is a number
};
// a * b + c, rounded once where the target does so.
inline Scalar MultiplyAdd(Scalar a, Scalar b, Scalar c) {
  Scalar out{a.kernel};
  Check(ricci_kernel_multiply_add(out.kernel, a.id, b.id, c.id, &out.id));
  return out;
}
inline ScalarProduct operator*(Scalar a, Scalar b) { return {a, b}; }
inline Scalar operator/(Scalar a, Scalar b) { return Apply(RICCI_S_DIV, {a, b}); }
inline Scalar operator%(Scalar a, Scalar b) { return Apply(RICCI_S_REM, {a, b}); }
inline Scalar operator&(Scalar a, Scalar b) { return Apply(RICCI_S_AND, {a, b}); }
inline Scalar operator|(Scalar a, Scalar b) { return Apply(RICCI_S_OR, {a, b}); }
inline Scalar operator^(Scalar a, Scalar b) { return Apply(RICCI_S_XOR, {a, b}); }
inline Scalar operator<<(Scalar a, Scalar b) { return Apply(RICCI_S_SHL, {a, b}); }
inline Scalar operator==(Scalar a, Scalar b) { return Apply(RICCI_S_EQ, {a, b}); }
inline Scalar operator!=(Scalar a, Scalar b) { return Apply(RICCI_S_NE, {a, b}); }
inline Scalar operator<(Scalar a, Scalar b) { return Apply(RICCI_S_LT, {a, b}); }
inline Scalar operator<=(Scalar a, Scalar b) { return Apply(RICCI_S_LE, {a, b}); }
inline Scalar operator>(Scalar a, Scalar b) { return Apply(RICCI_S_GT, {a, b}); }
inline Scalar operator>=(Scalar a, Scalar b) { return Apply(RICCI_S_GE, {a, b}); }
inline Scalar operator-(Scalar a) { return Apply(RICCI_S_NEG, {a}); }
inline Scalar operator+(const ScalarProduct& p, Scalar c) {
  return p.is_contracted() ? MultiplyAdd(p.x, p.y, c) : Apply(RICCI_S_ADD, {p, c});
}
inline Scalar operator+(Scalar c, const ScalarProduct& p) {
  return p.is_contracted() ? MultiplyAdd(p.x, p.y, c) : Apply(RICCI_S_ADD, {c, p});
}
inline Scalar operator+(const ScalarProduct& p, const ScalarProduct& q) { return p + static_cast<Scalar>(q); }
inline Scalar operator-(const ScalarProduct& p, Scalar c) {
  return p.is_contracted() ? MultiplyAdd(p.x, p.y, -c) : Apply(RICCI_S_SUB, {p, c});
}
inline Scalar operator-(Scalar c, const ScalarProduct& p) {
  return p.is_contracted() ? MultiplyAdd(-p.x, p.y, c) : Apply(RICCI_S_SUB, {c, p});
}
inline Scalar operator-(const ScalarProduct& p, const ScalarProduct& q) { return static_cast<Scalar>(p) - q; }
inline Scalar operator+(Scalar a, ScalarOrNumber b) { return a + b.As(a); }
inline Scalar operator+(const ScalarProduct& p, ScalarOrNumber b) { return p + b.As(p.x); }
inline Scalar operator-(Scalar a, ScalarOrNumber b) { return a - b.As(a); }
inline Scalar operator-(const ScalarProduct& p, ScalarOrNumber b) { return p - b.As(p.x); }
inline ScalarProduct operator*(Scalar a, ScalarOrNumber b) { return a * b.As(a); }
inline Scalar operator/(Scalar a, ScalarOrNumber b) { return a / b.As(a); }
inline Scalar operator%(Scalar a, ScalarOrNumber b) { return a % b.As(a); }
inline Scalar operator&(Scalar a, ScalarOrNumber b) { return a & b.As(a); }
inline Scalar operator<<(Scalar a, ScalarOrNumber b) { return a << b.As(a); }
inline Scalar operator==(Scalar a, ScalarOrNumber b) { return a == b.As(a); }
inline Scalar operator!=(Scalar a, ScalarOrNumber b) { return a != b.As(a); }
inline Scalar operator<(Scalar a, ScalarOrNumber b) { return a < b.As(a); }
inline Scalar operator<=(Scalar a, ScalarOrNumber b) { return a <= b.As(a); }
inline Scalar operator>(Scalar a, ScalarOrNumber b) { return a > b.As(a); }
inline Scalar operator>=(Scalar a, ScalarOrNumber b) { return a >= b.As(a); }
inline Scalar operator+(ScalarOrNumber a, Scalar b) { return a.As(b) + b; }
inline Scalar operator+(ScalarOrNumber a, const ScalarProduct& p) { return a.As(p.x) + p; }
inline Scalar operator-(ScalarOrNumber a, Scalar b) { return a.As(b) - b; }
inline Scalar operator-(ScalarOrNumber a, const ScalarProduct& p) { return a.As(p.x) - p; }
inline ScalarProduct operator*(ScalarOrNumber a, Scalar b) { return a.As(b) * b; }
inline Scalar operator/(ScalarOrNumber a, Scalar b) { return a.As(b) / b; }
inline Scalar operator!(Scalar a) { return Apply(RICCI_S_NOT, {a}); }
inline Scalar Min(Scalar a, Scalar b) { return Apply(RICCI_S_MIN, {a, b}); }
inline Scalar Max(Scalar a, Scalar b) { return Apply(RICCI_S_MAX, {a, b}); }
inline Scalar ShiftRightLogical(Scalar a, Scalar b) { return Apply(RICCI_S_SHR, {a, b}); }
inline Scalar Select(Scalar which, Scalar if_true, Scalar if_false) {
  return Apply(RICCI_S_SELECT, {which, if_true, if_false});
}
inline Scalar Convert(Scalar a, DType to) { return a.dtype() == to ? a : Apply(RICCI_S_CONVERT, {a}, to); }
inline Scalar Bitcast(Scalar a, DType to) { return a.dtype() == to ? a : Apply(RICCI_S_BITCAST, {a}, to); }

// An operand, result, private array or view.
struct KernelArray {
  ricci_kernel_builder* kernel = nullptr;
  ricci_karr id = 0;

  Scalar Load(std::span<const Scalar> index) const {
    Scalar out{kernel};
    const std::vector<ricci_sval> at = Ids(index);
    Check(ricci_kernel_load(kernel, id, at.data(), static_cast<uint32_t>(at.size()), &out.id));
    return out;
  }
  Scalar Load(std::initializer_list<Scalar> index) const { return Load(std::span(index.begin(), index.size())); }
  void Store(std::span<const Scalar> index, Scalar v) const {
    const std::vector<ricci_sval> at = Ids(index);
    Check(ricci_kernel_store(kernel, id, at.data(), static_cast<uint32_t>(at.size()), v.id));
  }
  void Store(std::initializer_list<Scalar> index, Scalar v) const { Store(std::span(index.begin(), index.size()), v); }
  // Combines `v` into the element (ricci_kernel_combine): by RICCI_S_ADD, MUL, MAX or MIN.
  void Combine(std::span<const Scalar> index, uint32_t combiner, Scalar v) const {
    const std::vector<ricci_sval> at = Ids(index);
    Check(ricci_kernel_combine(kernel, id, at.data(), static_cast<uint32_t>(at.size()), combiner, v.id));
  }
  // The sub-array at `index` of dimension `axis`, which is dropped; it shares its elements with this one.
  KernelArray View(uint32_t axis, Scalar index) const {
    KernelArray out{kernel};
    Check(ricci_kernel_view(kernel, id, axis, index.id, &out.id));
    return out;
  }
};

class KernelBuilder {
 public:
  explicit KernelBuilder(ricci_kernel_builder* k) : k_(k) {}
  ricci_kernel_builder* get() const { return k_; }

  KernelArray Operand(uint32_t i) const { return {k_, ricci_kernel_operand(k_, i)}; }
  KernelArray Result(uint32_t i = 0) const { return {k_, ricci_kernel_result(k_, i)}; }
  KernelArray Local(const ArrayType& t) const {
    KernelArray out{k_};
    Check(ricci_kernel_private(k_, t.id(), &out.id));
    return out;
  }
  void Copy(KernelArray to, KernelArray from) const { Check(ricci_kernel_copy(k_, to.id, from.id)); }

  template <typename T>
  Scalar Constant(DType dtype, T v) const {
    return ricci::Constant(k_, dtype, v);
  }
  // A constant index (i64).
  Scalar At(int64_t v) const {
    Scalar out{k_};
    Check(ricci_kernel_const_index(k_, v, &out.id));
    return out;
  }

  // f(Index): once for each point of the box, in any order.
  template <typename F>
  void Parallel(Dims extents, F&& f) const {
    if (extents.empty()) return f(Index{});
    std::vector<ricci_sval> ids(extents.size());
    Check(ricci_kernel_parallel(k_, extents.data(), static_cast<uint32_t>(extents.size()), ids.data()));
    Index index;
    for (ricci_sval id : ids) index.push_back({k_, id});
    f(index);
    End();
  }
  // f(Scalar i, Scalar j): once for each element of a matrix, in any order.
  template <typename F>
  void ParallelMatrix(int64_t rows, int64_t columns, F&& f) const {
    const int64_t extents[2] = {rows, columns};
    ricci_sval ids[2] = {};
    Check(ricci_kernel_parallel(k_, extents, 2, ids));
    f(Scalar{k_, ids[0]}, Scalar{k_, ids[1]});
    End();
  }
  // f(Scalar i): for i from lo to hi - 1, in order.
  template <typename F>
  void Loop(Scalar lo, Scalar hi, F&& f) const {
    Scalar i{k_};
    Check(ricci_kernel_for(k_, lo.id, hi.id, &i.id));
    f(i);
    End();
  }
  template <typename F>
  void Loop(int64_t hi, F&& f) const {
    Loop(At(0), At(hi), std::forward<F>(f));
  }
  // While cond() (a bool) holds: body().
  template <typename Cond, typename Body>
  void While(Cond&& cond, Body&& body) const {
    Check(ricci_kernel_while(k_));
    Check(ricci_kernel_cond(k_, cond().id));
    body();
    End();
  }
  template <typename Then>
  void If(Scalar pred, Then&& then) const {
    Check(ricci_kernel_if(k_, pred.id));
    then();
    End();
  }
  template <typename Then, typename Else>
  void If(Scalar pred, Then&& then, Else&& otherwise) const {
    Check(ricci_kernel_if(k_, pred.id));
    then();
    Check(ricci_kernel_else(k_));
    otherwise();
    End();
  }
  // Wherever this is reached, `pred` (a bool) must hold; otherwise the kernel goes on, so what follows must stay within
  // bounds, and the run fails with `code` (RICCI_OUT_OF_RANGE) and `why`. The row needs RICCI_PRIM_MAY_FAIL.
  void Require(Scalar pred, uint32_t code, std::string_view why) const {
    Check(ricci_kernel_check(k_, pred.id, code, why.data(), why.size()));
  }
  // f(Scalar i) for i from lo to hi - 1, combined by RICCI_S_ADD, MUL, MAX, MIN, AND, OR or XOR.
  template <typename F>
  Scalar Reduce(uint32_t combiner, int64_t n, F&& f) const {
    return Reduce(combiner, At(0), At(n), std::forward<F>(f));
  }
  template <typename F>
  Scalar Reduce(uint32_t combiner, Scalar lo, Scalar hi, F&& f) const {
    Scalar i{k_}, out{k_};
    Check(ricci_kernel_reduce(k_, combiner, lo.id, hi.id, &i.id));
    const Scalar v = f(i);
    Check(ricci_kernel_yield(k_, v.id, &out.id));
    return out;
  }
  // f(Index) over a box, the last dimension innermost; without dimensions f itself.
  template <typename F>
  Scalar ReduceBox(uint32_t combiner, Dims extents, F&& f, Index at = {}) const {
    if (extents.empty()) return f(at);
    return Reduce(combiner, extents[0], [&](Scalar i) {
      Index inner = at;
      inner.push_back(i);
      return ReduceBox(combiner, extents.subspan(1), f, inner);
    });
  }

  // A prefix scan of n trips (ricci_kernel_scan): `combine(left, right)` takes and gives lists of one Scalar for each
  // state, `element(i)` gives the elements of trip i, `body(i, prefixes)` takes the elements up to trip i, combined.
  template <typename Combine, typename Element, typename Body>
  void Scan(int64_t n, std::span<const Scalar> identity, Combine&& combine, Element&& element, Body&& body) const {
    std::vector<ricci_sval> first = Ids(identity), left(first.size()), right(first.size());
    const auto states = static_cast<uint32_t>(first.size());
    Check(ricci_kernel_scan(k_, At(0).id, At(n).id, first.data(), states, left.data(), right.data()));
    Scalar i{k_};
    Check(ricci_kernel_combiner(k_, Ids(combine(Scalars(left), Scalars(right))).data(), states, &i.id));
    std::vector<ricci_sval> prefix(states);
    Check(ricci_kernel_prefix(k_, Ids(element(i)).data(), states, prefix.data()));
    body(i, Scalars(prefix));
    End();
  }

 private:
  std::vector<Scalar> Scalars(std::span<const ricci_sval> ids) const {
    std::vector<Scalar> scalars;
    for (ricci_sval id : ids) scalars.push_back({k_, id});
    return scalars;
  }
  void End() const { Check(ricci_kernel_end(k_)); }
  ricci_kernel_builder* k_;
};

}}  // namespace ricci::v0
#endif
