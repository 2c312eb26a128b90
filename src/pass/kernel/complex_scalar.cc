#include "pass/kernel/complex_scalar.h"

#include <algorithm>

#include "base/status.h"
#include "kernel/block_ops.h"
#include "kernel/scalar/scalar_eval.h"
#include "pass/kernel/complex_functions.h"
#include "pass/kernel/complex_inverses.h"
#include "types/dtype.h"

namespace ricci { inline namespace v0 { namespace pass {
namespace {

struct Formula {
  uint32_t op;
  Pair (*unary)(const Parts& p, Pair z);
  Pair (*binary)(const Parts& p, Pair x, Pair y);
};
constexpr Formula kFormulas[] = {
    {RICCI_S_ADD, nullptr, Add},     {RICCI_S_SUB, nullptr, Sub},     {RICCI_S_MUL, nullptr, Mul},
    {RICCI_S_DIV, nullptr, Div},     {RICCI_S_POW, nullptr, Pow},     {RICCI_S_NEG, Neg, nullptr},
    {RICCI_S_MAX, nullptr, Max},     {RICCI_S_MIN, nullptr, Min},     {RICCI_S_SIGN, Sign, nullptr},
    {RICCI_S_EXP, Exp, nullptr},     {RICCI_S_EXP2, Exp2, nullptr},   {RICCI_S_EXPM1, Expm1, nullptr},
    {RICCI_S_LOG, Log, nullptr},     {RICCI_S_LOG1P, Log1p, nullptr}, {RICCI_S_LOGISTIC, Logistic, nullptr},
    {RICCI_S_SQRT, Sqrt, nullptr},   {RICCI_S_RSQRT, Rsqrt, nullptr}, {RICCI_S_SIN, Sin, nullptr},
    {RICCI_S_COS, Cos, nullptr},     {RICCI_S_TAN, Tan, nullptr},     {RICCI_S_SINH, Sinh, nullptr},
    {RICCI_S_COSH, Cosh, nullptr},   {RICCI_S_TANH, Tanh, nullptr},   {RICCI_S_ASIN, Asin, nullptr},
    {RICCI_S_ACOS, Acos, nullptr},   {RICCI_S_ATAN, Atan, nullptr},   {RICCI_S_ATAN2, nullptr, Atan2},
    {RICCI_S_ASINH, Asinh, nullptr}, {RICCI_S_ACOSH, Acosh, nullptr}, {RICCI_S_ATANH, Atanh, nullptr},
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
  if (!w.IsPair(from)) return w.Complex(as_part(from), w.Float(part, 0));
  const Val im = as_part(w.PartsOf(from).im);
  return w.Complex(as_part(w.PartsOf(from).re), im);
}

Val Select(ElementWriter& w, std::span<const Val> in) {
  const Pair chosen = Select({w, 0}, in[0], w.PartsOf(in[1]), w.PartsOf(in[2]));
  return w.Complex(chosen.re, chosen.im);
}

// An operation on one or two numbers of a complex dtype: first those whose results are not complex, then the table.
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

}}}  // namespace ricci::v0::pass
