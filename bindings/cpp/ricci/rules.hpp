// ricci/rules.hpp: ready-made rules, so that most rows name their rules instead of writing them.
//
// Each is a function or a function template over the row's own formulas, and is used directly as a member of a Row:
// `.jvp = rules::Derivative<Cos>`. kLinear and kElementwise are tags: the core does the work.
#ifndef RICCI_RULES_HPP_
#define RICCI_RULES_HPP_
#include <algorithm>

#include "ricci/lax.hpp"
#include "ricci/producer.hpp"
#include "ricci/row.hpp"

namespace ricci { inline namespace v0 { namespace rules {

// ---- tags: the core does the work ----
inline constexpr LinearTag kLinear;
inline constexpr ElementwiseTag kElementwise;

// ---- types ----
// Fails unless operand `i` has a dtype of `set`.
std::string NameOfSet(DTypeSet set);
inline void WantDType(const Eqn& e, uint32_t i, DTypeSet set) {
  if (!In(e.in(i).dtype(), set)) e.Fail("operand ", i, " is ", e.in(i), "; it takes ", NameOfSet(set));
}
// `integer and floating dtypes`, `f32 and f64`
inline std::string NameOfSet(DTypeSet set) {
  static constexpr std::pair<DTypeSet, std::string_view> kKinds[] = {{kBools, "bool"},      {kInts, "integer"},
                                                                     {kSigned, "signed"},   {kUnsigned, "unsigned"},
                                                                     {kFloats, "floating"}, {kComplexes, "complex"}};
  std::vector<std::string_view> names;
  for (const auto& [kind, name] : kKinds) {
    if ((set & kind) != kind) continue;
    names.push_back(name);
    set &= ~kind;
  }
  const bool kinds = !names.empty();
  for (uint32_t d = 0; set != 0; ++d, set >>= 1) {
    if ((set & 1) != 0) names.push_back(NameOf(static_cast<DType>(d)));
  }
  std::string out;
  for (size_t i = 0; i < names.size(); ++i) {
    out += i == 0 ? "" : i + 1 == names.size() ? " and " : ", ";
    out += names[i];
  }
  return kinds ? out + " dtypes" : out;
}
// All `n` operands and the result have one type, with a dtype of `set`.
template <uint32_t n, DTypeSet set>
ArrayTypes Same(const Eqn& e) {
  e.WantOperands(n);
  WantDType(e, 0, set);
  for (uint32_t i = 1; i < n; ++i) {
    if (e.in_id(i) != e.in_id(0)) {
      e.Fail("operands 0 and ", i, " are ", e.in(0), " and ", e.in(i), "; they must have one type");
    }
  }
  return e.in(0);
}
// The same, with a result of bool.
template <uint32_t n, DTypeSet set>
ArrayTypes Predicate(const Eqn& e) {
  return Same<n, set>(e)[0].WithDType(DType::kBool);
}
// Fails unless `axes` are distinct dimensions of operand `i`.
inline void WantAxes(const Eqn& e, uint32_t i, std::string_view attr, Dims axes) {
  const int64_t rank = e.in(i).rank();
  for (size_t k = 0; k < axes.size(); ++k) {
    if (axes[k] < 0 || axes[k] >= rank) e.Fail(attr, " ", axes, " is out of range for operand ", i, " of ", e.in(i));
    for (size_t l = 0; l < k; ++l) {
      if (axes[l] == axes[k]) e.Fail(attr, " ", axes, " names dimension ", axes[k], " twice");
    }
  }
}

// ---- jvp ----
// y = f(x), D(x, y) = dy/dx for each element.
template <Value (*D)(const Value& x, const Value& y)>
void Derivative(const Eqn& e, Jvp& a) {
  a.out = e.EmitN(a.primals);
  if (!a.tangents[0].is_zero()) a.out_tangents[0] = lax::mul(a.tangents[0], D(a.primals[0], a.out[0]));
}
// The contribution of one operand: its tangent, all operands, the result -> a tangent of the result.
using Term = Value (*)(const Eqn& e, const Value& tangent, std::span<const Value> in, const Value& out);
// The sum of the contributions of all operands with a tangent; a null term contributes nothing.
template <Term... terms>
void Terms(const Eqn& e, Jvp& a) {
  constexpr Term all[] = {terms...};
  a.out = e.EmitN(a.primals);
  Value& sum = a.out_tangents[0];
  for (uint32_t i = 0; i < std::min<size_t>(e.n_in(), sizeof...(terms)); ++i) {
    if (a.tangents[i].is_zero() || all[i] == nullptr) continue;
    const Value part = all[i](e, a.tangents[i], a.primals, a.out[0]);
    if (!part.is_zero()) sum = sum.is_zero() ? part : lax::add(sum, part);
  }
}
// For Terms: a derivative with respect to operand `i` does not exist, so a tangent of it is an error.
template <uint32_t i>
Value NoDerivative(const Eqn& e, const Value&, std::span<const Value>, const Value&) {
  throw Error(RICCI_UNIMPLEMENTED, Text(e.name(), ": it has no derivative with respect to operand ", i));
}
// Linear in each of two operands: the operation itself on the tangent of one and the other.
inline Value FirstTerm(const Eqn& e, const Value& t, std::span<const Value> in, const Value&) {
  return e.Emit({t, in[1]});
}
inline Value SecondTerm(const Eqn& e, const Value& t, std::span<const Value> in, const Value&) {
  return e.Emit({in[0], t});
}
inline constexpr JvpRule kBilinear = Terms<FirstTerm, SecondTerm>;
// The tangent is zero for all operands (sign, floor).
inline void ZeroTangent(const Eqn& e, Jvp& a) { a.out = e.EmitN(a.primals); }
// Linear in operand 0 with the others fixed: the operation itself on its tangent. Other tangents must be 0 (indices).
inline void LinearInFirst(const Eqn& e, Jvp& a) {
  a.out = e.EmitN(a.primals);
  if (a.tangents[0].is_zero()) return;
  Values in = a.primals;
  in[0] = a.tangents[0];
  a.out_tangents = e.EmitN(in);
}

// ---- transpose ----
// Linear in its only (or first) operand: F(e, ct) is the cotangent.
template <Value (*F)(const Eqn& e, const Value& ct)>
void TransposeFirst(const Eqn& e, Transpose& a) {
  if (a.linear[0] && !a.cts[0].is_zero()) a.in_cts[0] = F(e, a.cts[0]);
}
// The cotangent of one operand, from the cotangent of the result and the operands (linear ones are not available).
using CtTerm = Value (*)(const Eqn& e, const Value& ct, std::span<const Value> operands);
// Each linear operand gets its own term; a null term is an error.
template <CtTerm... terms>
void TransposeEach(const Eqn& e, Transpose& a) {
  constexpr CtTerm all[] = {terms...};
  for (uint32_t i = 0; i < e.n_in(); ++i) {
    if (!a.linear[i] || a.cts[0].is_zero()) continue;
    if (i >= sizeof...(terms) || all[i] == nullptr) {
      throw Error(RICCI_UNIMPLEMENTED, Text(e.name(), ": it is not linear in operand ", i));
    }
    a.in_cts[i] = all[i](e, a.cts[0], a.operands);
  }
}

// ---- batch ----
// `x` with dimension `from` moved to `to`; the others keep their order.
inline Value MoveDim(const Value& x, int64_t from, int64_t to) {
  if (from == to) return x;
  Shape order;
  for (int64_t i = 0; i < x.rank(); ++i) {
    if (i != from) order.push_back(i);
  }
  order.insert(order.begin() + to, from);
  return lax::transpose(x, order);
}
// The operand with its batch as dimension 0, repeated if it has none.
inline Value BatchFirst(const Batched& x, int64_t size) {
  const int64_t sizes[] = {size};
  return x.is_batched() ? MoveDim(x.value, x.dim, 0) : lax::broadcast(x.value, sizes);
}
// Dimension `axis` of the unbatched operand, counted in the batched one.
inline int64_t Shifted(int64_t axis, int64_t batch_dim) { return axis >= batch_dim ? axis + 1 : axis; }
inline Shape Shifted(Dims axes, int64_t batch_dim) {
  Shape out;
  for (int64_t a : axes) out.push_back(Shifted(a, batch_dim));
  return out;
}
// Moves every batch to dimension 0 and repeats unbatched operands for F, whose results have the batch first.
template <Values (*F)(const Eqn& e, std::span<const Value> in, int64_t size)>
void BatchAllFirst(const Eqn& e, Batch& a) {
  Values in;
  for (const Batched& x : a.in) in.push_back(BatchFirst(x, a.size));
  const Values out = F(e, in, a.size);
  for (size_t i = 0; i < out.size(); ++i) a.out[i] = {out[i], 0};
}
// Only the first operand is batched; F emits with the batch where it is and returns where it went.
template <Batched (*F)(const Eqn& e, const Batched& x)>
void BatchFirstOperand(const Eqn& e, Batch& a) {
  a.out[0] = F(e, a.in[0]);
}

// ---- lowering ----
// The element of operand 0 at the position that From gives.
template <Index (*From)(KernelBuilder& k, const Eqn& e, std::span<const Scalar> at)>
Scalar LoadFrom(KernelBuilder& k, const Eqn& e, uint32_t, std::span<const Scalar> at) {
  if (e.out().elements() == 0) return k.Constant(e.out().dtype(), 0);
  return k.Operand(0).Load(From(k, e, at));
}
// The scalar operation `op` on all operands.
template <uint32_t op>
Scalar Op(KernelBuilder& k, const Eqn& e, std::span<const Scalar> in) {
  ricci_sval ids[3] = {}, out = 0;
  for (size_t i = 0; i < in.size() && i < 3; ++i) ids[i] = in[i].id;
  (void)e;
  Check(ricci_kernel_scalar(k.get(), op, 0, ids, static_cast<uint32_t>(in.size()), &out));
  return {k.get(), out};
}

// The value itself.
inline Scalar Identity(KernelBuilder&, const Eqn&, std::span<const Scalar> in) { return in[0]; }

// ---- simplify ----
// Two applications cancel (neg, not).
inline Values Involution(const Eqn& e, std::span<const Value> in) {
  const Producer p(in[0]);
  return p.Is(e.name()) ? Values{p.operand(0)} : Values{};
}
// The operation does nothing at compile time.
inline Values Transparent(const Eqn&, std::span<const Value> in) { return {in[0]}; }
// F gives a simpler value for the only result, or an unset one.
template <Value (*F)(const Eqn& e, std::span<const Value> in)>
Values One(const Eqn& e, std::span<const Value> in) {
  const Value v = F(e, in);
  return v.is_none() ? Values{} : Values{v};
}

// ---- reasons why a rule is missing ----
inline constexpr std::string_view kNotLinear = "transpose: not linear";
inline constexpr std::string_view kDiscrete = "transpose: its tangent is zero";

// ---- examples for the laws ----
inline constexpr std::string_view kOneReal = "(f64[2,3])", kTwoReals = "(f64[2,3], f64[2,3])";

// ---- whole rows ----
// A view: each element of the result is one of the only operand, which From finds by the position in the result. T
// gives the cotangent of the operand from that of the result; B is for BatchFirstOperand, S for One. `row` has the
// rest.
template <Index (*From)(KernelBuilder& k, const Eqn& e, std::span<const Scalar> at),
          Value (*T)(const Eqn& e, const Value& ct), Batched (*B)(const Eqn& e, const Batched& x),
          Value (*S)(const Eqn& e, std::span<const Value> in)>
constexpr Row ViewRow(Row row) {
  row.jvp = kLinear;
  row.transpose = TransposeFirst<T>;
  row.batch = BatchFirstOperand<B>;
  row.simplify = One<S>;
  row.lowerings = lower::Index<LoadFrom<From>>;
  return row;
}
// A function of one number of a dtype of `set` with derivative D(x, y).
template <uint32_t op, Value (*D)(const Value& x, const Value& y), DTypeSet set = kFloats>
constexpr Row RealFunction(std::string_view name, std::string_view doc, std::string_view examples = kOneReal) {
  return {.name = name,
          .doc = doc,
          .flags = RICCI_PRIM_TRANSCENDENTAL,
          .type = Same<1, set>,
          .jvp = Derivative<D>,
          .batch = kElementwise,
          .lowerings = lower::Scalar<Op<op>>,
          .missing = kNotLinear,
          .examples = examples};
}
// An operation on `n` numbers of one dtype of `set` whose tangent is zero.
template <uint32_t n, DTypeSet set, uint32_t op>
constexpr Row DiscreteFunction(std::string_view name, std::string_view doc, std::string_view examples,
                               uint32_t flags = 0) {
  return {.name = name,
          .doc = doc,
          .flags = flags,
          .type = Same<n, set>,
          .jvp = ZeroTangent,
          .batch = kElementwise,
          .lowerings = lower::Scalar<Op<op>>,
          .missing = kDiscrete,
          .examples = examples};
}

// ---- lists of dimensions ----
inline bool Contains(Dims axes, int64_t a) { return std::find(axes.begin(), axes.end(), a) != axes.end(); }
// The dimensions 0 .. rank - 1 that are not in `axes`.
inline Shape Complement(Dims axes, int64_t rank) {
  Shape out;
  for (int64_t i = 0; i < rank; ++i) {
    if (!Contains(axes, i)) out.push_back(i);
  }
  return out;
}
inline Shape Pick(Dims dims, Dims axes) {
  Shape out;
  for (int64_t a : axes) out.push_back(dims[static_cast<size_t>(a)]);
  return out;
}
inline Shape Without(Dims dims, Dims axes) { return Pick(dims, Complement(axes, static_cast<int64_t>(dims.size()))); }

// ---- factors ----
// Name of factor `i`: a, b, ..., z, a1, b1, ...
inline std::string Letter(int64_t i) {
  const std::string letter(1, static_cast<char>('a' + i % 26));
  return i < 26 ? letter : letter + std::to_string(i / 26);
}
// One operand or result: the factors `ids`, separated by spaces.
inline std::string Letters(Dims ids) {
  std::string out;
  for (int64_t i : ids) out += (out.empty() ? "" : " ") + Letter(i);
  return out;
}
// Operands that have the shape of the result share its factors, scalars have none.
inline std::string ElementwiseFactors(const Eqn& e) {
  const int64_t rank = e.out().rank();
  const std::string all = Letters(Complement({}, rank));
  std::string out;
  for (uint32_t i = 0; i < e.n_in(); ++i) out += (i == 0 ? "" : ", ") + (e.in(i).rank() == rank ? all : std::string());
  return out + " -> " + all;
}
// 0 .. n - 1.
inline Shape Range(int64_t n) { return Complement({}, n); }

}}}  // namespace ricci::v0::rules
#endif
