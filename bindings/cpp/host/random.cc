// The generators and distributions of jax.random.
#include "ricci/random.hpp"

#include <cmath>

#include "numpy_steps.h"
#include "ricci/shaping.hpp"

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

namespace {

Value UseKey(std::string_view name, const Operand& k) {
  const Value v = Use(name, k);
  if (v.dtype() != DType::kKey) FailAt(k.at, name, ": needs a key, not ", v.type());
  return v;
}

}  // namespace

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

}  // namespace

Value uniform(const Operand& k, const Shape& shape, DType dtype, double low, double high) {
  if (!IsFloat(dtype)) FailAt(k.at, "uniform: dtype ", dtype, " is not a floating dtype");
  const int mantissa = InfoOf(dtype).mantissa_bits;
  // Random mantissas under the exponent of 1 give [1, 2); bf16 has fewer bits than a byte needs for that.
  const DType word = dtype == DType::kBF16 ? DType::kU8 : UnsignedOf(dtype);
  Value b = bits(k, shape, word);
  if (dtype == DType::kBF16) {
    b = lax::convert_element_type(b, DType::kU16);
    b = lax::shift_right_logical(b, lax::full_like(b, 8 - mantissa));
  } else {
    b = lax::shift_right_logical(b, lax::full_like(b, BitsOf(dtype) - mantissa));
  }
  const Value one = lax::full(b.builder, {}, dtype, 1.0);
  const Value exponent = lax::bitcast_convert_type(one, b.dtype());
  const Value floats = lax::bitcast_convert_type(lax::bitwise_or(b, BroadcastValue(exponent, shape)), dtype);
  const Value unit = lax::sub(floats, 1.0);
  const Value from = lax::full_like(unit, low), width = lax::sub(lax::full_like(unit, high), from);
  return lax::max(from, lax::add(lax::mul(unit, width), from));
}
Value normal(const Operand& k, const Shape& shape, DType dtype) {
  const double above = -1.0 + InfoOf(dtype).epsilon / 2;  // the number after -1
  const Value u = uniform(k, shape, dtype, above, 1.0);
  return lax::mul(lax::full_like(u, 1.4142135623730951), lax::erf_inv(u));
}
Value bernoulli(const Operand& k, const Operand& p, const Shape& shape) {
  const DType dtype = IsFloat(p.dtype()) ? p.dtype() : kDefaultFloat;
  return less(Operand(uniform(k, shape, dtype), k.at), p);
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
Value permutation(const Operand& k, const Operand& x, AxisNumber given) {
  const Operand both[] = {k, x};
  const CallSite site = SiteOf("permutation", both);
  const Value v = site.Lift(x, DType::kNone);
  const int64_t axis = Axis("permutation", site.at, given, v.rank());
  const int64_t n = v.dim(axis);
  Value source = site.Lift(k, DType::kNone);
  // One-dimensional data is sorted itself, as in JAX; otherwise its indices are.
  Value order = v.rank() == 1 ? v : Iota(Operand(v, site.at), kDefaultInt, {n}, 0);
  const auto rounds = static_cast<int64_t>(
      std::ceil(3 * std::log(std::max<double>(1.0, static_cast<double>(n))) / std::log(4294967295.0)));
  for (int64_t i = 0; i < rounds; ++i) {
    const Values keys = split(Operand(source, site.at));
    source = keys[0];
    const Value in[] = {bits(Operand(keys[1], site.at), {n}), order};
    order = lax::sort(in, 0)[1];
  }
  return v.rank() == 1 ? order : GatherAlong(v, order, axis, "clip");
}
Value permutation(const Operand& k, int64_t n) { return permutation(k, Operand(arange(k, n), k.at)); }
Value gumbel(const Operand& k, const Shape& shape, DType dtype) {
  const Value u = uniform(k, shape, dtype, InfoOf(dtype).tiny, 1.0);
  return lax::neg(lax::log(lax::neg(lax::log(u))));
}
Value categorical(const Operand& k, const Operand& logits, AxisNumber axis) {
  const Operand both[] = {k, logits};
  const CallSite site = SiteOf("categorical", both);
  const Value l = site.Lift(logits, DType::kNone);
  const Value noise =
      gumbel(Operand(site.Lift(k, DType::kNone), site.at), Shape(l.shape().begin(), l.shape().end()), l.dtype());
  return argmax(Operand(lax::add(noise, l), site.at), axis);
}
Value exponential(const Operand& k, const Shape& shape, DType dtype) {
  return lax::neg(lax::log1p(lax::neg(uniform(k, shape, dtype))));
}

}}}  // namespace ricci::v0::random
