// Keys, bits and what is exact in jax.random: uniform numbers, integers, permutations and choices.
#include <cmath>

#include "host/random/random_draws.h"
#include "ricci/sorting.hpp"

namespace ricci { inline namespace v0 { namespace random {

Value key(const Operand& seed) { return Emit1("random_seed", {Use("random_seed", seed)}); }
Value key(const Operand& in, int64_t seed) {
  return Emit1("random_seed", {full(in, {}, seed, seed == static_cast<int32_t>(seed) ? DType::kI32 : DType::kI64)});
}
Array key(const Context& ctx, uint64_t seed) {
  const uint32_t words[] = {static_cast<uint32_t>(seed >> 32), static_cast<uint32_t>(seed)};
  const uint64_t both = words[0] | (static_cast<uint64_t>(words[1]) << 32);
  return Array(ctx, DType::kKey, {}, &both);
}

Value UseKey(std::string_view name, const Operand& k) {
  const Value v = Use(name, k);
  if (v.dtype() != DType::kKey) FailAt(k.at, name, ": needs a key, not ", v.type());
  return v;
}

// ---- draws ----
std::pair<Operand, Operand> Draw::TwoKeys() const {
  const Values keys = split(key());
  return {In(keys[0]), In(keys[1])};
}
Draw DrawOf(std::string_view name, const Operand& k, std::span<const Operand> parameters, const Shape& shape,
            DType dtype) {
  std::vector<Operand> all = {k};
  all.insert(all.end(), parameters.begin(), parameters.end());
  Draw draw{SiteOf(name, all), {}, shape, dtype, {}};
  if (!IsFloat(dtype)) draw.site.Fail("dtype ", dtype, " is not a floating dtype");
  if (dtype == DType::kF4E2M1FN)
    draw.site.Fail("there are no random numbers of ", dtype, "; draw f32 and convert them");
  draw.key_value = draw.site.Lift(k, DType::kNone);
  if (draw.key_value.dtype() != DType::kKey) draw.site.Fail("needs a key, not ", draw.key_value.type());
  const Shape together = BroadcastShape(draw.site, parameters);
  if (shape.empty()) draw.shape = together;
  Shape reached = together;
  if (!BroadcastInto(reached, draw.shape) || reached != draw.shape) {
    draw.site.Fail("parameters of shape ", together, " do not broadcast to shape ", draw.shape);
  }
  for (const Operand& p : parameters) {
    const Value v = lax::convert_element_type(draw.site.Lift(p, dtype), dtype);
    draw.parameters.push_back(BroadcastValue(v, draw.shape));
  }
  return draw;
}
int64_t TakeLast(const CallSite& site, std::string_view parameter, Dims of, Shape& batch) {
  if (of.empty()) site.Fail(parameter, " is a scalar; it needs at least one dimension");
  if (batch.empty()) batch.assign(of.begin(), of.end() - 1);
  return of.back();
}

Value wrap_key_data(const Operand& words) { return Emit1("random_wrap", {Use("random_wrap", words)}); }
Value key_data(const Operand& k) { return Emit1("random_unwrap", {UseKey("random_unwrap", k)}); }
Value split_array(const Operand& k, int64_t n) {
  return Emit1("random_split", {UseKey("random_split", k)}, {{"shape", Dims(&n, 1)}});
}
Values split(const Operand& k, int64_t n) {
  const Value keys = split_array(k, n);
  Values out;
  for (int64_t i = 0; i < n; ++i) out.push_back(index(Operand(keys, k.at), {kEllipsis, i}));
  return out;
}
Value fold_in(const Operand& k, const Operand& number) {
  const Operand both[] = {k, number};
  const CallSite site = SiteOf("random_fold_in", both);
  const Value n = site.Lift(number, DType::kU32);
  return Emit1("random_fold_in", {site.Lift(k, DType::kNone), lax::convert_element_type(n, DType::kU32)});
}
Value clone(const Operand& k) { return lax::copy(UseKey("clone", k)); }
Value bits(const Operand& k, const Shape& shape, DType dtype) {
  return Emit1("random_bits", {UseKey("random_bits", k)}, {{"bit_width", BitsOf(dtype)}, {"shape", shape}});
}

namespace {

DType UnsignedOf(DType d) {
  switch (SizeOf(d)) {
    case 1:
      return DType::kU8;
    case 2:
      return DType::kU16;
    case 4:
      return DType::kU32;
    default:
      return DType::kU64;
  }
}

// Uniform in [0, 1).
Value Unit(const Operand& k, const Shape& shape, DType dtype) {
  const int mantissa = InfoOf(dtype).mantissa_bits;
  // Random mantissas under the exponent of 1 give [1, 2); where they fit into a byte, a byte is drawn.
  const DType drawn = mantissa < 8 ? DType::kU8 : UnsignedOf(dtype);
  Value b = lax::convert_element_type(bits(k, shape, drawn), UnsignedOf(dtype));
  b = lax::shift_right_logical(b, lax::full_like(b, BitsOf(drawn) - mantissa));
  const Value one = lax::full(b.builder, {}, dtype, 1.0);
  const Value exponent = lax::bitcast_convert_type(one, b.dtype());
  const Value floats = lax::bitcast_convert_type(lax::bitwise_or(b, BroadcastValue(exponent, shape)), dtype);
  return lax::sub(floats, 1.0);
}

}  // namespace

Value uniform(const Operand& k, const Shape& shape, DType dtype, const Operand& low, const Operand& high) {
  const Draw draw = DrawOf("uniform", k, {low, high}, shape, dtype);
  const Value unit = Unit(draw.key(), draw.shape, dtype), from = draw.parameters[0];
  return lax::max(from, lax::add(lax::mul(unit, lax::sub(draw.parameters[1], from)), from));
}
Value bernoulli(const Operand& k, const Operand& p, const Shape& shape) {
  const Draw draw = DrawOf("bernoulli", k, {p}, shape, IsFloat(p.dtype()) ? p.dtype() : kDefaultFloat);
  return lax::lt(draw.Uniform(), draw.parameters[0]);
}
Value randint(const Operand& k, const Shape& shape, int64_t low, int64_t high, DType dtype) {
  if (!IsInt(dtype)) FailAt(k.at, "randint: dtype ", dtype, " is not an integer dtype");
  const DType word = SizeOf(dtype) < 4 ? DType::kU32 : UnsignedOf(dtype);  // as in JAX, at least 32 bits are drawn
  const Values keys = split(k);
  const Value top = bits(Operand(keys[0], k.at), shape, word), bottom = bits(Operand(keys[1], k.at), shape, word);
  const uint64_t span = high > low ? static_cast<uint64_t>(high) - static_cast<uint64_t>(low) : 1;
  const int64_t width = BitsOf(word);
  // 2^width mod span joins two random words to one twice as wide; the products wrap as in JAX.
  const uint64_t mask = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
  const uint64_t half = (uint64_t{1} << (width / 2)) % span;
  const uint64_t multiplier = ((half * half) & mask) % span;
  const Value n = lax::full_like(top, span);
  const Value joined = lax::add(lax::mul(lax::rem(top, n), lax::full_like(top, multiplier)), lax::rem(bottom, n));
  const Value offset = lax::convert_element_type(lax::rem(joined, n), dtype);
  return lax::add(lax::full_like(offset, low), offset);
}
namespace {

// `x` sorted along `axis` by random keys, as often as it takes for these to differ (as in JAX).
Value Shuffled(const Operand& k, Value x, int64_t axis) {
  const auto n = static_cast<double>(std::max<int64_t>(1, x.type().elements()));
  const auto rounds = static_cast<int64_t>(std::ceil(3 * std::log(n) / std::log(4294967295.0)));
  Value source = UseKey("permutation", k);
  for (int64_t i = 0; i < rounds; ++i) {
    const Values keys = split(Operand(source, k.at));
    source = keys[0];
    const Value in[] = {bits(Operand(keys[1], k.at), ShapeOfValue(x)), x};
    x = lax::sort(in, axis)[1];
  }
  return x;
}

}  // namespace

Value permutation(const Operand& k, const Operand& x, AxisNumber given, bool independent) {
  const Operand both[] = {k, x};
  const CallSite site = SiteOf("permutation", both);
  const Value v = site.Lift(x, DType::kNone);
  const int64_t axis = Axis("permutation", site.at, given, v.rank());
  const Operand source(site.Lift(k, DType::kNone), site.at);
  // One-dimensional data is sorted itself, as in JAX; otherwise its indices are.
  if (independent || v.rank() == 1) return Shuffled(source, v, axis);
  const Value order = Shuffled(source, Iota(Operand(v, site.at), kDefaultInt, {v.dim(axis)}, 0), 0);
  return GatherAlong(v, order, axis, "clip");
}
Value permutation(const Operand& k, int64_t n) {
  if (n < 0) FailAt(k.at, "permutation: the count is ", n, "; it must not be negative");
  return permutation(k, Operand(arange(k, n), k.at));
}

// ---- choice ----
namespace {

// Positions among `n`, drawn with the probabilities `p`.
Value PositionsByProbability(const CallSite& site, const Operand& k, const Operand& given, int64_t n,
                             const Shape& shape, bool replace) {
  const Value p = UseInexact("choice", Operand(site.Lift(given, DType::kNone), site.at));
  if (p.rank() != 1 || p.dim(0) != n) site.Fail("p is ", p.type(), "; it must have one dimension of ", n);
  if (!replace) {
    const Value noise = lax::add(gumbel(k, {n}, p.dtype()), lax::log(p));
    return lax::top_k(noise, ElementCount(shape), 0)[1];
  }
  // The first position whose cumulative probability is not below a random share of the whole.
  const Value cumulative = lax::cumsum(p, 0);
  const Value whole = index(Operand(cumulative, site.at), {n - 1});
  const Value share = lax::sub(1.0, uniform(k, shape, p.dtype()));
  const Operand drawn(lax::mul(BroadcastValue(whole, shape), share), site.at);
  const Value below = less(Operand(cumulative, site.at), expand_dims(drawn, -1));
  return sum(Operand(lax::convert_element_type(below, kDefaultInt), site.at), -1);
}

}  // namespace

Value choice(const Operand& k, const Operand& x, const Shape& shape, const ChoiceOptions& options) {
  std::vector<Operand> all = {k, x};
  if (options.p) all.push_back(*options.p);
  const CallSite site = SiteOf("choice", all);
  const Operand key_here(site.Lift(k, DType::kNone), site.at);
  if (x.is_number() && x.weak != Weak::kInt) site.Fail("the number to choose below is not an integer");
  const Value from = x.is_number() ? arange(key_here, x.int64("choice")) : site.Lift(x, DType::kNone);
  const int64_t axis = Axis("choice", site.at, options.axis, from.rank()), n = from.dim(axis);
  const int64_t drawn = ElementCount(shape);
  if (n == 0 && drawn != 0)
    site.Fail("there is nothing to choose from: dimension ", axis, " of ", from.type(), " is 0");
  if (!options.replace && drawn > n) site.Fail("cannot choose ", drawn, " of ", n, " without replacement");
  Shape out(from.shape().begin(), from.shape().begin() + axis);
  out.insert(out.end(), shape.begin(), shape.end());
  out.insert(out.end(), from.shape().begin() + axis + 1, from.shape().end());
  if (drawn == 0) return zeros(key_here, out, from.dtype());
  Value chosen;
  if (!options.p && !options.replace) {
    chosen = lax::slice_in_dim(permutation(key_here, Operand(from, site.at), axis), 0, drawn, axis);
  } else {
    const Value positions = options.p ? PositionsByProbability(site, key_here, *options.p, n, shape, options.replace)
                                      : randint(key_here, shape, 0, n);
    chosen = GatherAlong(from, lax::reshape(positions, Shape{drawn}), axis, "clip");
  }
  return lax::reshape(chosen, out);
}

}}}  // namespace ricci::v0::random
