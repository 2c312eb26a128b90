// Fused elementwise programs, reductions, normalisations, random numbers and sorting over large arrays.
#include <bit>

#include "typical_programs.h"

namespace bench {
namespace {

using namespace ricci::lax;  // NOLINT: the programs read like jax.lax
using ricci::Dims;
using ricci::DType;
using ricci::Shape;
using ricci::Value;
using ricci::Values;

int64_t Length(const Settings& s) { return s.small ? 1 << 10 : 1 << 24; }

Prepared Saxpy(ricci_ctx* ctx, const Settings& s) {
  const int64_t n = Length(s);
  const ProgramRef f = Trace(ctx, {{{n}}, {{n}}}, [](const Values& in) { return Values{add(mul(in[0], 2.0), in[1])}; });
  return Ready(ctx, f.get(), {Ramp(n), Uniform(n)});
}

Prepared GeluOfSum(ricci_ctx* ctx, const Settings& s) {
  const int64_t n = Length(s);
  return Ready(ctx, Trace(ctx, {{{n}}, {{n}}}, Gelu).get(), {Ramp(n), Uniform(n)});
}

Prepared Sum(ricci_ctx* ctx, const Settings& s) {
  const int64_t n = Length(s);
  const ProgramRef f = Trace(ctx, {{{n}}}, [](const Values& in) { return Values{reduce_sum(in[0], Shape{0})}; });
  return Ready(ctx, f.get(), {Positive(n)});
}

// ---- rows of 1024 ----
constexpr int64_t kWidth = 1024;

Prepared Rows(ricci_ctx* ctx, const Settings& s, Values (*f)(const Values&)) {
  const int64_t n = s.small ? 4 : 4096;
  return Ready(ctx, Trace(ctx, {{{n, kWidth}}}, f).get(), {Uniform(n * kWidth)});
}

// As jax.random.normal: uniform in (-1, 1) from the upper 23 bits, then sqrt(2) erf_inv.
Values Normal(const Values& in, int64_t n) {
  const Value key = ricci::Emit1("random_wrap", {in[0]});
  const Shape shape{n};
  const Value bits = ricci::Emit1("random_bits", {key}, {{"shape", shape}, {"bit_width", 32}});
  const Value mantissa = shift_right_logical(bits, full_like(bits, 9));
  const Value one_to_two = bitcast_convert_type(bitwise_or(mantissa, full_like(bits, 0x3f800000)), DType::kF32);
  const double low = -0x1.fffffep-1;
  const Value u = max(add(mul(sub(one_to_two, 1.0), 1.0 - low), low), full_like(one_to_two, low));
  return {mul(erf_inv(u), 1.4142135623730951)};
}
Prepared Normals(ricci_ctx* ctx, const Settings& s) {
  const int64_t n = Length(s);
  const ProgramRef f = Trace(ctx, {{{2}, DType::kU32}}, [n](const Values& in) { return Normal(in, n); });
  return Ready(ctx, f.get(), {{0.0f, std::bit_cast<float>(uint32_t{1})}});
}

Prepared Sort(ricci_ctx* ctx, const Settings& s) {
  const int64_t n = s.small ? 1 << 10 : 1 << 20;
  const ProgramRef f = Trace(ctx, {{{n}}}, [](const Values& in) {
    return Values{ricci::Emit1("sort", {in[0]}, {{"dimension", 0}, {"is_stable", true}, {"num_keys", 1}})};
  });
  std::vector<float> x = Ramp(n);
  std::reverse(x.begin(), x.end());
  return Ready(ctx, f.get(), {x});
}

// Of 2^20 complex numbers, by their parts.
Prepared Fft(ricci_ctx* ctx, const Settings& s) {
  const int64_t n = s.small ? 1 << 10 : 1 << 20;
  const ProgramRef f = Trace(ctx, {{{n}}, {{n}}}, [n](const Values& in) {
    const Value y = fft(complex(in[0], in[1]), "FFT", Shape{n});
    return Values{real(y), imag(y)};
  });
  return Ready(ctx, f.get(), {Uniform(n), Uniform(n, 1)});
}

}  // namespace

std::vector<Case> ElementwiseCases(ricci_ctx* ctx) {
  return {
      {"saxpy", "ms", [=](const Settings& s) { return Saxpy(ctx, s); }},
      {"gelu", "ms", [=](const Settings& s) { return GeluOfSum(ctx, s); }},
      {"sum", "ms", [=](const Settings& s) { return Sum(ctx, s); }},
      {"softmax", "ms", [=](const Settings& s) { return Rows(ctx, s, Softmax); }},
      {"layernorm", "ms", [=](const Settings& s) { return Rows(ctx, s, Layernorm); }},
      {"normal", "ms", [=](const Settings& s) { return Normals(ctx, s); }},
      {"sort", "ms", [=](const Settings& s) { return Sort(ctx, s); }},
      {"fft", "ms", [=](const Settings& s) { return Fft(ctx, s); }},
  };
}

}  // namespace bench
