// Binomial and multinomial numbers of jax.random.
//
// Where few successes are expected, the trials between one and the next are drawn (a geometric number each) until there
// are more than `n`; otherwise by rejection (Hoermann, "The generation of binomial random variates", 1993, algorithm
// BTRS). As in JAX both are computed for all elements, and all elements draw until the last one is done.
#include <array>
#include <cmath>

#include "host/random/random_draws.h"
#include "ricci/loops.hpp"
#include "ricci/shaping.hpp"

namespace ricci { inline namespace v0 { namespace random {

namespace {

using State = std::array<Value, 3>;

Value Below(const Value& x, double number) { return lax::lt(x, lax::full_like(x, number)); }
Value Either(const Value& a, const Value& b) { return lax::bitwise_or(a, b); }
Value IsNaN(const Value& x) { return lax::ne(x, x); }

// Its state: successes so far, key, trials that they took.
Value ByCounting(const Draw& draw, const Value& n, const Value& p) {
  const Value log_miss = lax::log1p(lax::neg(p));
  const auto going = [&](const State& s) { return lax::le(s[2], n); };
  const auto round = [&](const State& s) {
    const Values keys = random::split(draw.In(s[1]));
    const Value count = lax::select(going(s), lax::add(s[0], 1.0), s[0]);
    const Value u = uniform(draw.In(keys[0]), draw.shape, p.dtype());
    return State{count, keys[1], lax::add(s[2], lax::ceil(lax::div(lax::log(u), log_miss)))};
  };
  const State first = {zeros_like(p), draw.key_value, zeros_like(p)};
  const State last = while_loop([&](const State& s) { return any(going(s)); }, round, first);
  return lax::sub(last[0], 1.0);
}

// What Stirling's formula leaves of log(k!), as jax.random has it.
Value StirlingTail(const Value& k) {
  constexpr double kFirst[] = {0.0810614667953272,  0.0413406959554092, 0.0276779256849983, 0.02079067210376509,
                               0.0166446911898211,  0.0138761288230707, 0.0118967099458917, 0.0104112652619720,
                               0.00925546218271273, 0.00833056343336287};
  const Value next = lax::add(lax::clamp(zeros_like(k), k, lax::full_like(k, 9)), 1.0), square = lax::mul(next, next);
  const Value inner = lax::sub(1.0 / 360, lax::div(lax::full_like(k, 1.0 / 1260), square));
  Value tail = lax::div(lax::sub(1.0 / 12, lax::div(inner, square)), next);
  const Value whole = lax::floor(k);
  for (int i = 0; i < 10; ++i) {
    tail = lax::select(lax::eq(whole, lax::full_like(k, i)), lax::full_like(k, kFirst[i]), tail);
  }
  return tail;
}

// The proposal of BTRS and the logarithm of its density, for `n` trials with probability `p` below 1/2.
class Rejection {
 public:
  Rejection(const Value& n, const Value& p)
      : n_(n), rest_(lax::sub(1.0, p)), odds_(lax::div(p, rest_)), mode_(lax::floor(lax::mul(lax::add(n, 1.0), p))) {
    const Value mean = lax::mul(n, p), deviation = lax::sqrt(lax::mul(mean, rest_));
    b_ = lax::add(1.15, lax::mul(2.53, deviation));
    a_ = lax::add(lax::add(-0.0873, lax::mul(0.0248, b_)), lax::mul(0.01, p));
    center_ = lax::add(mean, 0.5);
    limit_ = lax::sub(0.92, lax::div(4.2, b_));
    scale_ = lax::mul(lax::add(2.83, lax::div(5.1, b_)), deviation);
  }
  // {accepted, number}
  std::pair<Value, Value> Try(const Value& unit, const Value& v) const {
    const Value u = lax::sub(unit, 0.5), edge = lax::sub(0.5, lax::abs(u));
    const Value slope = lax::add(lax::div(lax::mul(2.0, a_), edge), b_);
    const Value k = lax::floor(lax::add(lax::mul(slope, u), center_));
    const Value at_once = lax::bitwise_and(lax::bitwise_not(Below(edge, 0.07)), lax::le(v, limit_));
    const Value outside = Either(Below(k, 0), lax::gt(k, n_));
    const Value width = lax::add(lax::div(a_, lax::mul(edge, edge)), b_);
    const Value below = lax::le(lax::log(lax::div(lax::mul(v, scale_), width)), Density(k));
    return {Either(at_once, lax::bitwise_and(lax::bitwise_not(outside), below)), k};
  }

 private:
  Value Density(const Value& k) const {
    const Value above_mode = lax::add(lax::sub(n_, mode_), 1.0), above = lax::add(lax::sub(n_, k), 1.0);
    const auto term = [](const Value& factor, const Value& x, const Value& y) {
      return lax::mul(factor, lax::log(lax::div(x, y)));
    };
    Value sum = term(lax::add(mode_, 0.5), lax::add(mode_, 1.0), lax::mul(odds_, above_mode));
    sum = lax::add(sum, term(lax::add(n_, 1.0), above_mode, above));
    sum = lax::add(sum, term(lax::add(k, 0.5), lax::mul(odds_, above), lax::add(k, 1.0)));
    sum = lax::add(lax::add(sum, StirlingTail(mode_)), StirlingTail(lax::sub(n_, mode_)));
    return lax::sub(lax::sub(sum, StirlingTail(k)), StirlingTail(lax::sub(n_, k)));
  }

  Value n_, rest_, odds_, mode_, a_, b_, center_, limit_, scale_;
};

Value ByRejection(const Draw& draw, const Value& n, const Value& p) {
  const Rejection rejection(n, p);
  const auto round = [&](const State& s) {
    const Values keys = random::split(draw.In(s[1]), 3);
    const auto number = [&](size_t i) { return uniform(draw.In(keys[i]), draw.shape, p.dtype()); };
    const auto [accepted, k] = rejection.Try(number(1), number(2));
    return State{lax::select(accepted, k, s[0]), keys[0], Either(s[2], accepted)};
  };
  const State first = {lax::full_like(p, -1), draw.key_value, full(draw.In(p), draw.shape, false)};
  return while_loop([](const State& s) { return any(lax::bitwise_not(s[2])); }, round, first)[0];
}

}  // namespace

Value binomial(const Operand& k, const Operand& n, const Operand& p, const Shape& shape, DType dtype) {
  const Draw draw = DrawOf("binomial", k, {n, p}, shape, IsFloat(p.dtype()) ? p.dtype() : kDefaultFloat);
  if (!IsFloat(dtype)) draw.site.Fail("dtype ", dtype, " is not a floating dtype");
  const Value given = draw.parameters[0], count = lax::floor(given), probability = draw.parameters[1];
  const Value is_rare = Below(probability, 0.5);
  const Value side = lax::select(is_rare, probability, lax::sub(1.0, probability));
  const Value no_count = Either(IsNaN(given), Below(given, 0)), no_side = Either(IsNaN(side), Below(side, 0));
  const Value q = lax::select(no_side, lax::full_like(side, 0.01), side), mean = lax::mul(given, q);
  // Of infinitely many trials without a chance rejection would accept nothing and counting not end.
  const Value no_end = lax::eq(given, lax::full_like(given, INFINITY));
  const Value few = Either(Either(no_count, IsNaN(mean)), lax::le(mean, lax::full_like(mean, 10)));
  const Value counts = lax::bitwise_and(few, lax::bitwise_not(no_end));
  const Value counted = ByCounting(draw, lax::select(counts, count, zeros_like(count)), q);
  const Value rejected = ByRejection(draw, lax::select(few, lax::full_like(count, 1e4), count),
                                     lax::select(few, lax::full_like(q, 0.5), q));
  const auto convert = [&](const Value& v) { return lax::convert_element_type(v, dtype); };
  const Value invalid = Either(no_side, no_count);
  Value y = lax::select(few, convert(counted), convert(rejected));
  y = lax::select(invalid, lax::full_like(y, NAN), y);
  y = lax::select(lax::bitwise_and(no_end, lax::bitwise_not(invalid)), lax::full_like(y, INFINITY), y);
  const Value as_drawn = Either(Either(is_rare, no_count), Either(IsNaN(side), no_end));
  return lax::select(as_drawn, y, lax::sub(convert(count), y));
}
Value multinomial(const Operand& k, const Operand& n, const Operand& p, const Shape& shape, DType dtype) {
  const Operand all[] = {k, n, p};
  const CallSite site = SiteOf("multinomial", all);
  if (p.shape().empty()) site.Fail("p is a scalar; it needs at least one dimension");
  const Operand numbers[] = {n, p};
  const DType computed = ToInexact(PromotedDType(site, numbers));
  const Shape out = shape.empty() ? Shape(p.shape().begin(), p.shape().end()) : shape;
  const Draw of_p = DrawOf("multinomial", k, {p}, out, computed);
  const Draw of_n = DrawOf("multinomial", k, {n}, Shape(out.begin(), out.end() - 1), computed);
  // Outcome by outcome: the share of its probability in those that are left.
  const Value first = moveaxis(of_p.In(of_p.parameters[0]), -1, 0);
  const Value left = lax::cumsum(first, 0, /*reverse=*/true), zero = zeros_like(left);
  const Value shares = lax::div(first, lax::select(lax::eq(left, zero), lax::full_like(left, 1), left));
  const Value keys = split_array(of_p.key(), first.dim(0));
  const auto outcome = [&](Value rest, std::array<Value, 2> in) {
    const Value share = lax::clamp(zeros_like(in[0]), in[0], lax::full_like(in[0], 1));
    const Value count = binomial(of_p.In(in[1]), of_p.In(rest), of_p.In(share), {}, computed);
    return std::pair(lax::sub(rest, count), count);
  };
  const Value counts = scan(outcome, of_n.parameters[0], std::array<Value, 2>{shares, keys}).second;
  return lax::convert_element_type(moveaxis(of_p.In(counts), 0, -1), dtype);
}

}}}  // namespace ricci::v0::random
