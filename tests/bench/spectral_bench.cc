// Programs of signals: a turbulent flow by its spectrum in two dimensions, its gradient, and a linear recurrence of
// complex numbers as an associative scan.
#include "bench_program.h"

namespace bench {
namespace {

using namespace ricci::lax;  // NOLINT: the programs read like jax.lax
using ricci::DType;
using ricci::Shape;
using ricci::Value;
using ricci::Values;

// ---- vorticity on a periodic grid of n x n points ----
constexpr int64_t kSteps = 20;
constexpr double kTimeStep = 1e-3, kViscosity = 1e-3;

// The numbers of the waves along `dim`, as rfft2 orders them; in each element of a spectrum.
Value Waves(ricci_builder* b, int64_t n, int64_t dim) {
  const Value i = iota(b, DType::kF32, Shape{n, n / 2 + 1}, dim);
  const auto size = static_cast<double>(n);
  return dim == 0 ? select(ge(i, full_like(i, size / 2)), sub(i, full_like(i, size)), i) : i;
}
// i times the real array x.
Value Imaginary(const Value& x) { return complex(zeros_like(x), x); }
Value Real(const Value& x) { return complex(x, zeros_like(x)); }
Value ToGrid(const Value& spectrum, int64_t n) { return fft(spectrum, "IRFFT", Shape{n, n}); }

// Advection by the flow of this vorticity, without the upper third of the waves, and diffusion.
Value Change(const Value& w, int64_t n) {
  const Value x = Waves(w.builder, n, 0), y = Waves(w.builder, n, 1), squares = add(mul(x, x), mul(y, y));
  const Value inverse = div(sign(squares), max(squares, full_like(squares, 1)));
  const Value stream = mul(w, Real(inverse));
  const Value u = ToGrid(mul(Imaginary(y), stream), n), v = ToGrid(mul(Imaginary(neg(x)), stream), n);
  const Value wx = ToGrid(mul(Imaginary(x), w), n), wy = ToGrid(mul(Imaginary(y), w), n);
  const Value third = full_like(x, static_cast<double>(n) / 3);
  const Value kept = select(bitwise_and(lt(abs(x), third), lt(y, third)), ones_like(x), zeros_like(x));
  const Value advected = mul(fft(add(mul(u, wx), mul(v, wy)), "RFFT", Shape{n, n}), Real(kept));
  return neg(add(advected, mul(Real(mul(squares, kViscosity)), w)));
}
Values Step(const Values& in) {
  const Value w = in[0];
  const int64_t n = w.dim(0);
  const Value first = Change(w, n), second = Change(add(w, mul(first, kTimeStep)), n);
  return {add(w, mul(add(first, second), kTimeStep / 2))};
}
ProgramRef Flow(ricci_ctx* ctx, int64_t n, bool grad) {
  const ProgramRef step = Trace(ctx, {{{n, n / 2 + 1}, DType::kC64}}, Step);
  const ProgramRef f = Trace(ctx, {{{n, n}}}, [&](const Values& in) {
    const Value y = ToGrid(Scan(step.get(), {fft(in[0], "RFFT", Shape{n, n})}, kSteps)[0], n);
    return Values{grad ? reduce_sum(mul(y, y), Shape{0, 1}) : y};
  });
  return grad ? Grad(f.get(), 1) : f;
}

// In a context of its own, so that nothing is found in a cache.
Prepared CompileTime(int64_t n) {
  Prepared p;
  p.once = [=] {
    const ContextRef fresh = MakeContext();
    const ProgramRef f = Flow(fresh.get(), n, /*grad=*/true);
    const double start = Now();
    const ExecutableRef x = Compile(f.get());
    return Now() - start;
  };
  return p;
}

// ---- x_t = a_t x_{t - 1} + b_t, by the parts of a and b ----
Values Combined(const Values& l, const Values& r) { return {mul(l[0], r[0]), add(mul(r[0], l[1]), r[1])}; }
Value Every(const Value& x, int64_t first, int64_t limit) {
  return slice(x, Shape{first, 0}, Shape{limit, x.dim(1)}, Shape{2, 1});
}
// The elements of both in turn.
Value Interleaved(const Value& even, const Value& odd) {
  const Value zero = full(even.builder, even.type().WithShape({}), 0);
  const int64_t longer = even.dim(0) - odd.dim(0);  // exact: 0 or 1
  return add(pad(even, zero, Shape{0, 0}, Shape{1 - longer, 0}, Shape{1, 0}),
             pad(odd, zero, Shape{1, 0}, Shape{longer, 0}, Shape{1, 0}));
}
// As jax.lax.associative_scan.
Values Prefixes(const Values& x) {
  const int64_t n = x[0].dim(0);
  if (n < 2) return x;
  const auto every = [&](int64_t first, int64_t limit) {
    return Values{Every(x[0], first, limit), Every(x[1], first, limit)};
  };
  const Values odd = Prefixes(Combined(every(0, n - 1), every(1, n)));
  Values even = every(2, n);
  if (even[0].dim(0) != 0) {
    const auto before = [&](const Value& v) { return slice_in_dim(v, 0, even[0].dim(0), 0); };
    even = Combined({before(odd[0]), before(odd[1])}, even);
  }
  Values out;
  for (size_t i = 0; i < 2; ++i) {
    const Value first = slice_in_dim(x[i], 0, 1, 0);
    out.push_back(Interleaved(concatenate(Values{first, even[i]}, 0), odd[i]));
  }
  return out;
}
Prepared Recurrence(ricci_ctx* ctx, int64_t n, int64_t width) {
  const Param part{{n, width}};
  const ProgramRef f = Trace(ctx, {part, part, part, part}, [](const Values& in) {
    const Value x = Prefixes({complex(in[0], in[1]), complex(in[2], in[3])})[1];
    return Values{real(x), imag(x)};
  });
  std::vector<std::vector<float>> inputs;
  for (uint32_t i = 0; i < 4; ++i) inputs.push_back(Uniform(n * width, i));
  for (size_t i = 0; i < 2; ++i) {
    for (float& v : inputs[i]) v *= 0.6f;
  }
  return Ready(ctx, f.get(), inputs);
}

}  // namespace

std::vector<Case> SpectralCases(ricci_ctx* ctx) {
  const auto flow = [=](int64_t n, bool grad) {
    return [=](const Settings& s) {
      const int64_t size = s.small ? 8 : n;
      return Ready(ctx, Flow(ctx, size, grad).get(), {Uniform(size * size)});
    };
  };
  return {
      {"flow64", "ms", flow(64, false)},
      {"flow128", "ms", flow(128, false)},
      {"flow64_grad", "ms", flow(64, true)},
      {"flow64_grad_compile", "s", [](const Settings& s) { return CompileTime(s.small ? 8 : 64); }},
      {"lru", "us", [=](const Settings& s) { return Recurrence(ctx, s.small ? 9 : 1024, s.small ? 2 : 32); }},
  };
}

}  // namespace bench
