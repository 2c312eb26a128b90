// Polynomials as vectors of coefficients, the highest power first.
#include <algorithm>

#include "host/core/plain_math.h"
#include "ricci/differences.hpp"

namespace ricci { inline namespace v0 {

using namespace plain;

namespace {

Value Coefficient(const Value& p, int64_t i) { return lax::reshape(Cut(p, i, i + 1, 0), Shape{}); }
void WantVector(std::string_view name, const Location& at, const Value& p) {
  if (p.rank() != 1) FailAt(at, name, ": the coefficients are ", p.type(), "; they must be a vector");
}
// With zeros before, n coefficients.
Value Longer(const Value& p, int64_t n) {
  if (p.dim(0) >= n) return p;
  return lax::pad(p, Scalar(p, 0), Shape{n - p.dim(0)}, Shape{0}, Shape{0});
}
Values Pair(std::string_view name, const Operand& a, const Operand& b) {
  const Operand in[] = {a, b};
  Values v = UseList(name, in);
  for (Value& p : v) {
    p = atleast_1d(Operand(p, a.at));
    WantVector(name, a.at, p);
  }
  return v;
}

}  // namespace

Value polyval(const Operand& p, const Operand& x) {
  const Operand in[] = {p, x};
  const CallSite site = SiteOf("polyval", in);
  const DType dtype = PromotedDType(site, in);
  const Value c = To(site.Lift(p, dtype), dtype), v = To(site.Lift(x, dtype), dtype);
  WantVector("polyval", p.at, c);
  Value out = lax::zeros_like(v);
  for (int64_t i = 0; i < c.dim(0); ++i) out = out * v + Coefficient(c, i);
  return out;
}
Value polyadd(const Operand& a, const Operand& b) {
  const Values p = Pair("polyadd", a, b);
  const int64_t n = std::max(p[0].dim(0), p[1].dim(0));
  return Longer(p[0], n) + Longer(p[1], n);
}
Value polysub(const Operand& a, const Operand& b) {
  const Values p = Pair("polysub", a, b);
  const int64_t n = std::max(p[0].dim(0), p[1].dim(0));
  return Longer(p[0], n) - Longer(p[1], n);
}
Value polymul(const Operand& a, const Operand& b) { return convolve(a, b, "full"); }
std::pair<Value, Value> polydiv(const Operand& u, const Operand& v) {
  const Operand in[] = {u, v};
  const CallSite site = SiteOf("polydiv", in);
  const DType dtype = ToInexact(PromotedDType(site, in));
  Value rest = To(site.Lift(u, dtype), dtype);
  const Value divisor = To(site.Lift(v, dtype), dtype);
  WantVector("polydiv", u.at, rest);
  WantVector("polydiv", u.at, divisor);
  const int64_t n = rest.dim(0), m = divisor.dim(0);
  if (m == 0) site.Fail("the divisor has no coefficients");
  if (n < m) return {BroadcastValue(Scalar(rest, 0), Shape{1}), rest};
  Values quotient;
  const Value scale = 1 / Coefficient(divisor, 0);
  for (int64_t k = 0; k <= n - m; ++k) {
    const Value d = scale * Coefficient(rest, k);
    quotient.push_back(lax::reshape(d, Shape{1}));
    rest = Join({Cut(rest, 0, k, 0), Cut(rest, k, k + m, 0) - d * divisor, Cut(rest, k + m, n, 0)}, 0);
  }
  return {lax::concatenate(quotient, 0), rest};
}
Value polyder(const Operand& p, int64_t m) {
  Value c = Use("polyder", p);
  WantVector("polyder", p.at, c);
  if (m < 0) FailAt(p.at, "polyder: m is ", m, "; it must not be negative");
  if (m == 0) return c;
  if (!IsInexact(c.dtype())) c = To(c, ToInexact(c.dtype()));
  for (; m > 0; --m) {
    const int64_t n = c.dim(0);
    if (n == 0) return c;
    const Value powers = lax::rev(Positions(c, c.dtype(), 0), Shape{0});
    c = Cut(c * powers, 0, n - 1, 0);
  }
  return c;
}
Value polyint(const Operand& p, int64_t m, const std::optional<Operand>& k) {
  if (m < 0) FailAt(p.at, "polyint: m is ", m, "; it must not be negative");
  std::vector<Operand> in{p};
  if (k) in.push_back(*k);
  const CallSite site = SiteOf("polyint", in);
  const DType dtype = ToInexact(PromotedDType(site, in));
  Value c = To(site.Lift(p, dtype), dtype);
  WantVector("polyint", p.at, c);
  Value constants = BroadcastValue(k ? To(site.Lift(*k, dtype), dtype) : Scalar(c, 0), Shape{std::max<int64_t>(m, 1)});
  for (int64_t i = 0; i < m; ++i) {
    const Value powers = lax::rev(Positions(c, dtype, 0) + 1, Shape{0});
    c = Join({c / powers, Cut(constants, i, i + 1, 0)}, 0);
  }
  return c;
}
Value poly(const Operand& roots) {
  const Value r = UseInexact("poly", roots);
  WantVector("poly", roots.at, r);
  const Value zero = BroadcastValue(Scalar(r, 0), Shape{1});
  Value out = zero + 1;
  for (int64_t i = 0; i < r.dim(0); ++i) out = Join({out, zero}, 0) - Join({zero, out * Coefficient(r, i)}, 0);
  return out;
}

}}  // namespace ricci::v0
