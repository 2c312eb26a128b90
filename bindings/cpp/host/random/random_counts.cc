// The distributions of jax.random over classes and whole numbers.
//
// Poisson and binomial numbers are drawn by counting where there are few (Knuth), and by rejection otherwise (Hoermann,
// "The transformed rejection method for generating Poisson random variables", 1993). As in JAX both are computed for
// all elements, and all elements draw until the last one is done: each round uses one key for all of them.
#include <array>

#include "host/random/random_draws.h"
#include "ricci/loops.hpp"
#include "ricci/shaping.hpp"

namespace ricci { inline namespace v0 { namespace random {

Value rademacher(const Operand& k, const Shape& shape, DType dtype) {
  const Value one = lax::convert_element_type(bernoulli(k, 0.5, shape), dtype);
  return lax::sub(lax::mul(lax::full_like(one, 2), one), lax::full_like(one, 1));
}
Value geometric(const Operand& k, const Operand& p, const Shape& shape, DType dtype) {
  const Draw draw = DrawOf("geometric", k, {p}, shape, IsFloat(p.dtype()) ? p.dtype() : kDefaultFloat);
  const Value drawn = draw.Uniform(),
              u = lax::select(lax::eq(drawn, lax::zeros_like(drawn)), lax::ones_like(drawn), drawn);
  const Value trials = lax::floor(lax::div(lax::log(u), lax::log1p(lax::neg(draw.parameters[0]))));
  return lax::convert_element_type(lax::add(trials, 1.0), dtype);
}
Value categorical(const Operand& k, const Operand& logits, AxisNumber given, const Shape& shape, bool replace) {
  const Operand both[] = {k, logits};
  const CallSite site = SiteOf("categorical", both);
  const Operand key_here(site.Lift(k, DType::kNone), site.at);
  const Value l = site.Lift(logits, DType::kNone);
  const int64_t axis = Axis("categorical", site.at, given, l.rank());
  Shape batch(l.shape().begin(), l.shape().end());
  batch.erase(batch.begin() + axis);
  const Shape wanted = shape.empty() ? batch : shape;
  const bool fits = wanted.size() >= batch.size() && std::equal(batch.rbegin(), batch.rend(), wanted.rbegin());
  if (!fits) site.Fail("shape ", wanted, " must end with ", batch, ", that of the slices of ", l.type());
  const Shape draws(wanted.begin(), wanted.end() - static_cast<int64_t>(batch.size()));
  if (replace) {
    Shape all = draws;
    all.insert(all.end(), l.shape().begin(), l.shape().end());
    const Value noisy = lax::add(gumbel(key_here, all, l.dtype()), BroadcastValue(l, all));
    return argmax(Operand(noisy, site.at), axis - l.rank());
  }
  const int64_t n = ElementCount(draws), classes = l.dim(axis);
  if (n > classes) site.Fail("cannot draw ", n, " of ", classes, " classes without replacement");
  const Value noisy = lax::add(l, gumbel(key_here, ShapeOfValue(l), l.dtype()));
  const Value last = moveaxis(Operand(noisy, site.at), axis, -1);
  const Value best = lax::top_k(last, n, last.rank() - 1)[1];
  return lax::reshape(moveaxis(Operand(best, site.at), -1, 0), wanted);
}

namespace {

using State = std::array<Value, 3>;

// A loop until `rounds` have left no element for which `waits` holds.
template <typename Waits, typename Round>
State Until(const State& first, const Waits& waits, const Round& round) {
  return while_loop([&](const State& s) { return any(waits(s)); }, round, first);
}
// `n` + 1 keys: the one to go on with, and those of this round.
Values NextKeys(const Value& key, int64_t n) { return random::split(key, n + 1); }
Value NotYet(const Value& accepted) { return lax::bitwise_not(accepted); }

// ---- Poisson ----
Value PoissonByCounting(const Draw& draw, const Value& lam) {
  const auto going = [&](const State& s) { return lax::gt(s[2], lax::neg(lam)); };
  const auto round = [&](const State& s) {
    const Values keys = NextKeys(s[1], 1);
    const Value count = lax::select(going(s), lax::add(s[0], 1.0), s[0]);
    return State{count, keys[0], lax::add(s[2], lax::log(uniform(keys[1], draw.shape, lam.dtype())))};
  };
  return lax::sub(Until({zeros_like(lam), draw.key_value, zeros_like(lam)}, going, round)[0], 1.0);
}
Value PoissonByRejection(const Draw& draw, const Value& lam) {
  const Value log_lam = lax::log(lam), b = lax::add(0.931, lax::mul(2.53, lax::sqrt(lam)));
  const Value a = lax::add(-0.059, lax::mul(0.02483, b));
  const Value inverse = lax::add(1.1239, lax::div(1.1328, lax::sub(b, 3.4)));
  const Value limit = lax::sub(0.9277, lax::div(3.6224, lax::sub(b, 2.0)));
  const auto round = [&](const State& s) {
    const Values keys = NextKeys(s[1], 2);
    const Value u = lax::sub(uniform(keys[1], draw.shape, lam.dtype()), 0.5),
                v = uniform(keys[2], draw.shape, lam.dtype());
    const Value edge = lax::sub(0.5, lax::abs(u));
    const Value slope = lax::add(lax::div(lax::mul(2.0, a), edge), b);
    const Value count = lax::floor(lax::add(lax::add(lax::mul(slope, u), lam), 0.43));
    const Value scaled = lax::div(lax::mul(v, inverse), lax::add(lax::div(a, lax::mul(edge, edge)), b));
    const Value density =
        lax::sub(lax::add(lax::neg(lam), lax::mul(count, log_lam)), lax::lgamma(lax::add(count, 1.0)));
    const Value at_once = logical_and(greater_equal(edge, 0.07), lax::le(v, limit));
    const Value outside = logical_or(less(count, 0.0), logical_and(less(edge, 0.013), lax::gt(v, edge)));
    const Value accept = logical_or(at_once, logical_and(NotYet(outside), lax::le(lax::log(scaled), density)));
    return State{lax::select(accept, count, s[0]), keys[0], lax::bitwise_or(s[2], accept)};
  };
  const Value none = lax::ne(lam, lam);
  const State first = {lax::full_like(lam, -1), draw.key_value, lax::bitwise_and(none, NotYet(none))};
  return Until(
      first, [](const State& s) { return NotYet(s[2]); }, round)[0];
}

}  // namespace

Value poisson(const Operand& k, const Operand& given, const Shape& shape, DType dtype) {
  const Draw draw = DrawOf("poisson", k, {given}, shape, DType::kF32);  // as in JAX, for every dtype
  const Value lam = draw.parameters[0], zero = zeros_like(lam);
  const Value few = logical_or(isnan(lam), less(lam, 10.0));
  const Value counted = PoissonByCounting(draw, lax::select(few, lam, zero));
  const Value accepted = PoissonByRejection(draw, lax::select(few, lax::full_like(lam, 1e5), lam));
  const auto whole = [&](const Value& v) { return lax::convert_element_type(v, dtype); };
  const Value y = lax::select(few, whole(counted), whole(accepted));
  return lax::select(lax::eq(lam, zero), zeros_like(y), y);
}

}}}  // namespace ricci::v0::random
