// Elementwise functions, with promotion and complex numbers.
#include "case.h"

namespace ricci::testing {
namespace {

// 0 of each dtype, plus each number: as operands of a program that runs for all numbers, and as its constants.
template <typename Number>
Results Sums(const Given& g, std::initializer_list<DType> dtypes, std::initializer_list<Number> numbers) {
  Results out{Values()};
  for (const DType d : dtypes) {
    for (const Number n : numbers) {
      const Array none(zeros(g.ctx, {}, d));
      out.push_back(Array(none + n));
      out.push_back(jit([n](Value zero) { return zero + n; })(none));
    }
  }
  return out;
}

const Case kCases[] = {
    {"[np.uint64(v).astype(d) for d in (np.uint64, np.float64, np.float32, np.float16, np.complex64) "
     "for v in (2**63, 2**63 + 2**62 + 1, 2**64 - 1) for _ in range(2)]",
     [](const Given& g) {
       return Sums<uint64_t>(g, {DType::kU64, DType::kF64, DType::kF32, DType::kF16, DType::kC64},
                             {uint64_t{1} << 63, (uint64_t{3} << 62) + 1, UINT64_MAX});
     }},
    {"[np.int64(v).astype(d) for d in (np.uint64, np.int64, np.int32, np.uint8, np.float64, np.float32, np.float16) "
     "for v in (2**63 - 1, -2**63, -1, 300, 2**31) for _ in range(2)]",
     [](const Given& g) {
       return Sums<int64_t>(g,
                            {DType::kU64, DType::kI64, DType::kI32, DType::kU8, DType::kF64, DType::kF32, DType::kF16},
                            {INT64_MAX, INT64_MIN, -1, 300, int64_t{1} << 31});
     }},
    {"(b + b, b * ~b, b % True, b // True, jnp.square(b), b << True, b >> b, jnp.fmod(b, True), b ** b, b ** 2, "
     "jnp.outer(c, c))",
     [](const Given& g) -> Results {
       return Values{g.b + g.b,     g.b * ~g.b,  g.b % true,     floor_divide(g.b, true),
                     square(g.b),   g.b << true, g.b >> g.b,     fmod(g.b, true),
                     pow(g.b, g.b), pow(g.b, 2), outer(g.c, g.c)};
     }},
    {"(i ** abs(i), 2 ** j, j ** -j, k ** k, l ** jnp.uint8(3), h ** i)",
     [](const Given& g) -> Results {
       return Values{
           pow(g.i, abs(g.i)), pow(2, g.j), pow(g.j, -g.j), pow(g.k, g.k), pow(g.l, constant(g.ctx, 3, DType::kU8)),
           pow(g.h, g.i)};
     }},
    {"jnp.add(x, y)", [](const Given& g) -> Results { return add(g.x, g.y); }},
    {"x - i", [](const Given& g) -> Results { return g.x - g.i; }},
    {"x * d", [](const Given& g) -> Results { return g.x * g.d; }},
    {"h * x", [](const Given& g) -> Results { return g.h * g.x; }},
    {"h * 2.5", [](const Given& g) -> Results { return g.h * 2.5; }},
    {"i / 2", [](const Given& g) -> Results { return g.i / 2; }},
    {"l / 2", [](const Given& g) -> Results { return g.l / 2; }},
    {"k + 1", [](const Given& g) -> Results { return g.k + 1; }},
    {"b + 1", [](const Given& g) -> Results { return g.b + 1; }},
    {"z * x", [](const Given& g) -> Results { return g.z * g.x; }},
    {"jnp.add(l, jnp.uint8(1))",
     [](const Given& g) -> Results { return g.l + astype(constant(g.ctx, 1), DType::kU8); }},
    {"jnp.remainder(x, y)", [](const Given& g) -> Results { return remainder(g.x, g.y); }},
    {"jnp.mod(i, 3)", [](const Given& g) -> Results { return mod(g.i, 3); }},
    {"jnp.floor_divide(x, y)", [](const Given& g) -> Results { return floor_divide(g.x, g.y); }},
    {"(jnp.floor_divide(n, 0.0), jnp.floor_divide(x, -0.0), i % 0, jnp.fmod(i, 0), k % 0)",
     [](const Given& g) -> Results {
       return Values{floor_divide(g.n, 0.0), floor_divide(g.x, -0.0), g.i % 0, fmod(g.i, 0), g.k % 0};
     }},
    {"jnp.floor_divide(i, 4)", [](const Given& g) -> Results { return floor_divide(g.i, 4); }},
    {"jnp.floor_divide(k, 7)", [](const Given& g) -> Results { return floor_divide(g.k, 7); }},
    {"jnp.abs(i)", [](const Given& g) -> Results { return abs(g.i); }},
    {"jnp.absolute(z)", [](const Given& g) -> Results { return absolute(g.z); }},
    {"jnp.fabs(i)", [](const Given& g) -> Results { return fabs(g.i); }},
    {"jnp.sign(i)", [](const Given& g) -> Results { return sign(g.i); }},
    {"jnp.positive(x)", [](const Given& g) -> Results { return positive(g.x); }},
    {"jnp.arccos(u)", [](const Given& g) -> Results { return arccos(g.u); }},
    {"jnp.arcsin(u)", [](const Given& g) -> Results { return arcsin(g.u); }},
    {"jnp.arctan(x)", [](const Given& g) -> Results { return arctan(g.x); }},
    {"jnp.arccosh(1 + p)", [](const Given& g) -> Results { return arccosh(1 + g.p); }},
    {"jnp.arcsinh(x)", [](const Given& g) -> Results { return arcsinh(g.x); }},
    {"jnp.arctanh(u)", [](const Given& g) -> Results { return arctanh(g.u); }},
    {"jnp.atan2(x, y)", [](const Given& g) -> Results { return atan2(g.x, g.y); }},
    {"jnp.arctan2(i, 2)", [](const Given& g) -> Results { return arctan2(g.i, 2); }},
    {"jnp.sin(i)", [](const Given& g) -> Results { return sin(g.i); }},
    {"jnp.sin(l)", [](const Given& g) -> Results { return sin(g.l); }},
    {"jnp.exp(b)", [](const Given& g) -> Results { return exp(g.b); }},
    {"jnp.sinh(x)", [](const Given& g) -> Results { return sinh(g.x); }},
    {"jnp.log2(p)", [](const Given& g) -> Results { return log2(g.p); }},
    {"jnp.log10(p)", [](const Given& g) -> Results { return log10(g.p); }},
    {"jnp.exp2(x)", [](const Given& g) -> Results { return exp2(g.x); }},
    {"jnp.cbrt(x)", [](const Given& g) -> Results { return cbrt(g.x); }},
    {"jnp.reciprocal(x)", [](const Given& g) -> Results { return reciprocal(g.x); }},
    {"jnp.hypot(x, y)", [](const Given& g) -> Results { return hypot(g.x, g.y); }},
    {"jnp.hypot(n, 3e38)", [](const Given& g) -> Results { return hypot(g.n, 3e38); }},
    {"jnp.logaddexp(x, y)", [](const Given& g) -> Results { return logaddexp(g.x, g.y); }},
    {"jnp.logaddexp(n, n)", [](const Given& g) -> Results { return logaddexp(g.n, g.n); }},
    {"jax.grad(lambda a: (jnp.logaddexp(a, x) + jnp.logaddexp2(a, x)).sum())(x)",
     [](const Given& g) -> Results {
       const Array x = g.x;
       return grad([x](Value a) { return sum(logaddexp(a, x) + logaddexp2(a, x)); })(x);
     }},
    // Second derivatives where both are equal; those of hypot are not right in JAX.
    {"jax.vmap(jax.grad(jax.grad(lambda a: jnp.logaddexp(a, 2.0) + jnp.logaddexp2(2.0, a) + jax.nn.softplus(a - 2) + "
     "jnp.sqrt(a * a + 4))))(s * 0 + 2)",
     [](const Given& g) -> Results {
       const auto f = [](Value a) {
         return logaddexp(a, 2.0) + logaddexp2(2.0, a) + softplus(a - 2.0) + hypot(a, 2.0);
       };
       return vmap(grad(grad(f)))(g.s * 0.0 + 2.0);
     }},
    // Where one is infinite, the limit; JAX has (1, 1).
    {"jnp.array([1.0, 0.0])",
     [](const Given& g) -> Results {
       const auto f = [](Value v) { return logaddexp(index(v, {0}), index(v, {1})); };
       return grad(f)(Array(g.ctx, {INFINITY, 0.0f}));
     }},
    {"jnp.logaddexp2(x, y)", [](const Given& g) -> Results { return logaddexp2(g.x, g.y); }},
    {"jnp.float_power(p, i)", [](const Given& g) -> Results { return float_power(g.p, g.i); }},
    {"jnp.power(p, y)", [](const Given& g) -> Results { return power(g.p, g.y); }},
    {"x ** 3", [](const Given& g) -> Results { return pow(g.x, 3); }},
    {"jnp.power(i, 2)", [](const Given& g) -> Results { return pow(g.i, 2); }},
    {"jnp.degrees(x)", [](const Given& g) -> Results { return degrees(g.x); }},
    {"jnp.rad2deg(i)", [](const Given& g) -> Results { return rad2deg(g.i); }},
    {"jnp.radians(x)", [](const Given& g) -> Results { return radians(g.x); }},
    {"jnp.deg2rad(d)", [](const Given& g) -> Results { return deg2rad(g.d); }},
    {"jnp.sinc(n)", [](const Given& g) -> Results { return sinc(g.n); }},
    {"jnp.sinc(u)", [](const Given& g) -> Results { return sinc(g.u); }},
    {"jax.vmap(jax.grad(jax.grad(jnp.sinc)))(s * 0)",
     [](const Given& g) -> Results { return vmap(grad(grad([](Value v) { return sinc(v); })))(g.s * 0.0); }},
    {"jnp.heaviside(x, 0.5)", [](const Given& g) -> Results { return heaviside(g.x, 0.5); }},
    {"jnp.heaviside(n, v[0])", [](const Given& g) -> Results { return heaviside(g.n, 0.5); }},
    {"jnp.real(z)", [](const Given& g) -> Results { return real(g.z); }},
    {"jnp.imag(x)", [](const Given& g) -> Results { return imag(g.x); }},
    {"jnp.conjugate(z)", [](const Given& g) -> Results { return conjugate(g.z); }},
    {"jnp.angle(z)", [](const Given& g) -> Results { return angle(g.z); }},
    {"jnp.angle(z, deg=True)", [](const Given& g) -> Results { return angle(g.z, true); }},
    {"jnp.angle(x)", [](const Given& g) -> Results { return angle(g.x); }},
    {"jnp.round(x)", [](const Given& g) -> Results { return round(g.x); }},
    {"jnp.round(p * 1.2345, 2)", [](const Given& g) -> Results { return round(g.p * 1.2345, 2); }},
    {"jnp.around(p * 123.45, -1)", [](const Given& g) -> Results { return around(g.p * 123.45, -1); }},
    {"jnp.round(z)", [](const Given& g) -> Results { return round(g.z); }},
    {"jnp.round(i, 1)", [](const Given& g) -> Results { return round(g.i, 1); }},
    {"jnp.floor(i)", [](const Given& g) -> Results { return floor(g.i); }},
    {"jnp.ceil(x)", [](const Given& g) -> Results { return ceil(g.x); }},
    {"jnp.maximum(x, i)", [](const Given& g) -> Results { return maximum(g.x, g.i); }},
    {"jnp.minimum(n, x)", [](const Given& g) -> Results { return minimum(g.n, g.x); }},
    {"jnp.fmax(n, x)", [](const Given& g) -> Results { return fmax(g.n, g.x); }},
    {"jnp.fmin(x, n)", [](const Given& g) -> Results { return fmin(g.x, g.n); }},
    {"jnp.clip(x, -1, 2)", [](const Given& g) -> Results { return clip(g.x, -1, 2); }},
    {"jnp.clip(i, 0, 3)", [](const Given& g) -> Results { return clip(g.i, 0, 3); }},
    {"jnp.clip(x, y, 2.5)", [](const Given& g) -> Results { return clip(g.x, g.y, 2.5); }},
    {"jnp.where(b, x, 0)", [](const Given& g) -> Results { return where(g.b, g.x, 0); }},
    {"jnp.where(x > 0, i, d)", [](const Given& g) -> Results { return where(g.x > 0, g.i, g.d); }},
    {"jnp.logical_and(x, b)", [](const Given& g) -> Results { return logical_and(g.x, g.b); }},
    {"jnp.logical_or(i, b)", [](const Given& g) -> Results { return logical_or(g.i, g.b); }},
    {"jnp.logical_xor(b, True)", [](const Given& g) -> Results { return logical_xor(g.b, true); }},
    {"jnp.logical_not(x)", [](const Given& g) -> Results { return logical_not(g.x); }},
    {"jnp.invert(i)", [](const Given& g) -> Results { return invert(g.i); }},
    {"jnp.bitwise_and(i, 6)", [](const Given& g) -> Results { return bitwise_and(g.i, 6); }},
    {"jnp.bitwise_invert(b)", [](const Given& g) -> Results { return bitwise_invert(g.b); }},
    {"jnp.bitwise_left_shift(i, 2)", [](const Given& g) -> Results { return bitwise_left_shift(g.i, 2); }},
    {"jnp.bitwise_right_shift(i, 1)", [](const Given& g) -> Results { return bitwise_right_shift(g.i, 1); }},
    {"jnp.isnan(n)", [](const Given& g) -> Results { return isnan(g.n); }},
    {"jnp.isnan(i)", [](const Given& g) -> Results { return isnan(g.i); }},
    {"jnp.isinf(n)", [](const Given& g) -> Results { return isinf(g.n); }},
    {"jnp.isfinite(i)", [](const Given& g) -> Results { return isfinite(g.i); }},
    {"jnp.square(i)", [](const Given& g) -> Results { return square(g.i); }},
    {"jnp.true_divide(i, 3)", [](const Given& g) -> Results { return true_divide(g.i, 3); }},
    {"x + e[:0].sum()", [](const Given& g) -> Results { return g.x + sum(g.e); }},
    {"jnp.exp(e)", [](const Given& g) -> Results { return exp(g.e); }},
    {"jnp.i0(x)", [](const Given& g) -> Results { return i0(g.x); }},
    {"jnp.i0(i)", [](const Given& g) -> Results { return i0(g.i); }},
};

}  // namespace

std::span<const Case> ElementwiseCases() { return kCases; }

}  // namespace ricci::testing
