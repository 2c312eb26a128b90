#include "pass/complex_arithmetic.h"

#include "base/status.h"
#include "kernel/block_ops.h"
#include "kernel/scalar_eval.h"
#include "types/dtype.h"

namespace ricci::inline v0::pass {
namespace {

// What a formula has at hand: operations on parts, and numbers of their dtype.
struct Parts {
  ElementWriter& w;
  uint32_t part;  // dtype

  Val Number(double v) const { return w.Float(part, v); }
  Val Op(uint32_t op, Val a) const { return w.Writer::Op(op, a); }
  Val Op(uint32_t op, Val a, Val b) const { return w.Writer::Op(op, a, b); }
  Val Neg(Val a) const { return Op(RICCI_S_NEG, a); }
  Val Is(uint32_t op, Val a, double v) const { return Op(op, a, Number(v)); }
  Val Infinite(Val a) const { return Is(RICCI_S_EQ, Op(RICCI_S_ABS, a), std::numeric_limits<double>::infinity()); }
};

using Unary = Pair (*)(const Parts& w, Pair z);
using Binary = Pair (*)(const Parts& w, Pair x, Pair y);

// ---- arithmetic ----
Pair Add(const Parts& p, Pair x, Pair y) { return {p.w.Add(x.re, y.re), p.w.Add(x.im, y.im)}; }
Pair Sub(const Parts& p, Pair x, Pair y) { return {p.w.Sub(x.re, y.re), p.w.Sub(x.im, y.im)}; }
Pair Neg(const Parts& p, Pair z) { return {p.Neg(z.re), p.Neg(z.im)}; }
Pair Mul(const Parts& p, Pair x, Pair y) {
  ElementWriter& w = p.w;
  return {w.Sub(w.Mul(x.re, y.re), w.Mul(x.im, y.im)), w.Add(w.Mul(x.re, y.im), w.Mul(x.im, y.re))};
}

// By the larger part of y (R. L. Smith, "Algorithm 116: Complex division", CACM 1962), so that nothing overflows that
// need not: x / (c + di) = ((a + bt) + (b - at) i) / (c + dt), t = d / c, and the same with parts changed about. What
// is no number then is that of C (Annex G.5.1): x / 0 is infinite, so is infinity / y, and y / infinity is 0.
Pair Div(const Parts& p, Pair x, Pair y) {
  ElementWriter& w = p.w;
  const Val wide = p.Op(RICCI_S_GE, p.Op(RICCI_S_ABS, y.re), p.Op(RICCI_S_ABS, y.im));
  const Val large = w.Select(wide, y.re, y.im), small = w.Select(wide, y.im, y.re);
  const Val t = w.Div(small, large), scale = w.Add(large, w.Mul(small, t));
  const Val near = w.Select(wide, x.re, x.im), far = w.Select(wide, x.im, x.re);
  const Val re = w.Div(w.Add(near, w.Mul(far, t)), scale);
  const Val across = w.Div(w.Sub(far, w.Mul(near, t)), scale);
  const Val im = w.Select(wide, across, p.Neg(across));
  // The quotient where that is NaN twice: x times the sign of y, as large or as small as it must be.
  const Val zero = w.And(p.Is(RICCI_S_EQ, y.re, 0), p.Is(RICCI_S_EQ, y.im, 0));
  const Val large_x = w.Or(p.Infinite(x.re), p.Infinite(x.im)), large_y = w.Or(p.Infinite(y.re), p.Infinite(y.im));
  const auto unit = [&](Val v, Val is_large) {
    const Val size = w.Select(w.And(is_large, p.Infinite(v)), p.Number(1), p.Number(0));
    return w.Select(is_large, w.Select(p.Is(RICCI_S_LT, v, 0), p.Neg(size), size), v);
  };
  const Pair u{unit(x.re, large_x), unit(x.im, large_x)}, v{unit(y.re, large_y), unit(y.im, large_y)};
  const Pair product = Mul(p, u, {v.re, p.Neg(v.im)});
  const double infinity = std::numeric_limits<double>::infinity();
  const Val finite_only = w.And(large_y, w.Not(large_x)), beyond = w.And(large_x, w.Not(large_y));
  const Val factor = w.Select(finite_only, p.Number(0), p.Number(infinity));
  const Val lost = w.And(p.Op(RICCI_S_NE, re, re), p.Op(RICCI_S_NE, im, im));
  const Val special = w.And(lost, w.Or(zero, w.Or(finite_only, beyond)));
  const auto signed_zero = [&](Val numerator) { return w.Mul(numerator, w.Div(p.Number(1), y.re)); };
  const auto choose = [&](Val number, Val numerator, Val part) {
    const Val other = w.Select(zero, signed_zero(numerator), w.Mul(factor, part));
    return w.Select(special, other, number);
  };
  return {choose(re, x.re, product.re), choose(im, x.im, product.im)};
}

// ---- functions ----
// e^x by halves, so that e^x cos y is finite where e^x alone is not.
Pair Exp(const Parts& p, Pair z) {
  ElementWriter& w = p.w;
  const Val half = p.Op(RICCI_S_EXP, w.Mul(z.re, p.Number(0.5)));
  const auto scaled = [&](Val v) { return w.Mul(w.Mul(half, v), half); };
  const Val real = p.Is(RICCI_S_EQ, z.im, 0);
  return {w.Select(real, w.Mul(half, half), scaled(p.Op(RICCI_S_COS, z.im))),
          w.Select(real, z.im, scaled(p.Op(RICCI_S_SIN, z.im)))};
}

// |z| without overflow: large * sqrt(1 + (small / large)^2).
Val Abs(const Parts& p, Pair z) {
  ElementWriter& w = p.w;
  const Val a = p.Op(RICCI_S_ABS, z.re), b = p.Op(RICCI_S_ABS, z.im);
  const Val large = w.Max(a, b), small = w.Min(a, b), t = w.Div(small, large);
  const Val size = w.Mul(large, p.Op(RICCI_S_SQRT, w.Add(p.Number(1), w.Mul(t, t))));
  // Equal where both are 0 or infinite, and the quotient of them is none.
  const Val known = w.Or(p.Is(RICCI_S_EQ, large, 0), p.Infinite(large));
  return w.Select(known, large, size);
}

// ---- the table ----
struct Formula {
  uint32_t op;
  Unary unary;
  Binary binary;
};
constexpr Formula kFormulas[] = {
    {RICCI_S_ADD, nullptr, Add}, {RICCI_S_SUB, nullptr, Sub}, {RICCI_S_MUL, nullptr, Mul},
    {RICCI_S_DIV, nullptr, Div}, {RICCI_S_NEG, Neg, nullptr}, {RICCI_S_EXP, Exp, nullptr},
};

Val Refuse(ElementWriter& w, uint32_t op, std::span<const Val> operands) {
  std::string dtypes;
  for (const Val v : operands) dtypes += base::Cat(dtypes.empty() ? "" : ", ", types::Info(w.DType(v)).name);
  const std::string_view name = kernel::IsScalar(op) ? kernel::InfoOf(op).name : std::string_view("that operation");
  w.Fail(base::InvalidArgument("kernel: ", name, " has no form for (", dtypes, ")"));
  return 0;
}

Val Convert(ElementWriter& w, Val from, uint32_t dtype) {
  const uint32_t part = types::PartOf(dtype);
  const auto as_part = [&](Val v) { return w.Writer::Convert(v, part); };
  if (!types::IsComplex(dtype)) return as_part(w.PartsOf(from).re);
  if (w.IsPair(from)) return w.Complex(as_part(w.PartsOf(from).re), as_part(w.PartsOf(from).im));
  return w.Complex(as_part(from), w.Float(part, 0));
}

Val Select(ElementWriter& w, std::span<const Val> in) {
  const Pair yes = w.PartsOf(in[1]), no = w.PartsOf(in[2]);
  return w.Complex(w.Select(in[0], yes.re, no.re), w.Select(in[0], yes.im, no.im));
}

// Of two numbers of one complex dtype, or one: the operations whose results are not complex, then the table.
Val OnPairs(ElementWriter& w, uint32_t op, std::span<const Val> in) {
  const Parts p{w, types::PartOf(w.DType(in[0]))};
  const Pair x = w.PartsOf(in[0]);
  if (op == RICCI_S_ABS && in.size() == 1) return Abs(p, x);
  if (in.size() == 2 && (op == RICCI_S_EQ || op == RICCI_S_NE)) {
    const Pair y = w.PartsOf(in[1]);
    const Val re = p.Op(op, x.re, y.re), im = p.Op(op, x.im, y.im);
    return op == RICCI_S_EQ ? w.And(re, im) : w.Or(re, im);
  }
  for (const Formula& f : kFormulas) {
    if (f.op != op || (in.size() == 1) != (f.unary != nullptr) || in.size() > 2) continue;
    const Pair out = in.size() == 1 ? f.unary(p, x) : f.binary(p, x, w.PartsOf(in[1]));
    return w.Complex(out.re, out.im);
  }
  return Refuse(w, op, in);
}

}  // namespace

Val ComplexScalar(ElementWriter& w, uint32_t op, uint32_t dtype, std::span<const Val> operands) {
  const auto is_pair = [&](Val v) { return w.IsPair(v); };
  const bool one_dtype = std::all_of(operands.begin(), operands.end(),
                                     [&](Val v) { return is_pair(v) && w.DType(v) == w.DType(operands[0]); });
  const bool select = op == RICCI_S_SELECT && operands.size() == 3 && is_pair(operands[1]) && is_pair(operands[2]);
  if (op == RICCI_S_CONVERT && operands.size() == 1) return Convert(w, operands[0], dtype);
  if (select && w.DType(operands[1]) == w.DType(operands[2])) return Select(w, operands);
  return one_dtype && !operands.empty() && dtype == 0 ? OnPairs(w, op, operands) : Refuse(w, op, operands);
}

}  // namespace ricci::inline v0::pass
