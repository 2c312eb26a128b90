// Complex arithmetic: formulas over the parts of complex numbers.
#ifndef RICCI_PASS_COMPLEX_ARITHMETIC_H_
#define RICCI_PASS_COMPLEX_ARITHMETIC_H_
#include "pass/kernel/element_writer.h"

namespace ricci { inline namespace v0 { namespace pass {

// What a formula is written with: operations on parts, and numbers of their dtype.
struct Parts {
  ElementWriter& w;
  uint32_t part;  // dtype

  Val Number(double v) const { return w.Float(part, v); }
  Val Op(uint32_t op, Val a) const { return w.Writer::Op(op, a); }
  Val Op(uint32_t op, Val a, Val b) const { return w.Writer::Op(op, a, b); }
  Val Neg(Val a) const { return Op(RICCI_S_NEG, a); }
  Val MultiplyAdd(Val a, Val b, Val c) const { return w.Writer::MultiplyAdd(a, b, c); }
  Val Half(Val a) const { return w.Mul(a, Number(0.5)); }
  Val Is(uint32_t op, Val a, double v) const { return Op(op, a, Number(v)); }
  Val Infinite(Val a) const;
  Val Negative(Val a) const;  // by its sign bit, -0 too
};

// `size` with the sign of `of`; -0 has that of 0.
Val WithSign(const Parts& p, Val of, Val size);
// Whether both parts are 0; whether one is infinite.
Val IsZero(const Parts& p, Pair z);
Val IsInfinite(const Parts& p, Pair z);

Pair Add(const Parts& p, Pair x, Pair y);
Pair Sub(const Parts& p, Pair x, Pair y);
Pair Neg(const Parts& p, Pair z);
Pair Mul(const Parts& p, Pair x, Pair y);
Pair Div(const Parts& p, Pair x, Pair y);
// |z|, without intermediate overflow.
Val Abs(const Parts& p, Pair z);
// z / |z|; 0 stays as it is.
Pair Sign(const Parts& p, Pair z);
// Numbers are ordered by their real parts, equal ones by their imaginary parts. x if it is the greater (or lesser) one,
// else y, as in jax.lax: so y if a part that decides is NaN.
Pair Max(const Parts& p, Pair x, Pair y);
Pair Min(const Parts& p, Pair x, Pair y);
Pair Select(const Parts& p, Val condition, Pair yes, Pair no);

}}}  // namespace ricci::v0::pass
#endif
