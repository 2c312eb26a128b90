// Programs that are loops: one pendulum and many by Runge-Kutta, with gradients; Newton's method; a lattice gas.
#include "bench_program.h"

namespace bench {
namespace {

using namespace ricci::lax;  // NOLINT: the programs read like jax.lax
using ricci::DType;
using ricci::Shape;
using ricci::Value;
using ricci::Values;

// ---- pendulum ----
Value Acceleration(const Value& angle, const Value& speed) { return sub(neg(sin(angle)), mul(0.1, speed)); }
Value Ahead(const Value& x, double h, const Value& slope) { return add(x, mul(h, slope)); }
Value Weighted(const Value& x, double h, const Value& k1, const Value& k2, const Value& k3, const Value& k4) {
  return Ahead(x, h / 6, add(add(add(k1, mul(2.0, k2)), mul(2.0, k3)), k4));
}
Values Rk4(const Values& in) {
  const double h = 0.01;
  const Value th = in[0], w = in[1];
  const Value b1 = Acceleration(th, w);
  const Value a2 = Ahead(w, h / 2, b1), b2 = Acceleration(Ahead(th, h / 2, w), a2);
  const Value a3 = Ahead(w, h / 2, b2), b3 = Acceleration(Ahead(th, h / 2, a2), a3);
  const Value a4 = Ahead(w, h, b3), b4 = Acceleration(Ahead(th, h, a3), a4);
  return {Weighted(th, h, w, a2, a3, a4), Weighted(w, h, b1, b2, b3, b4)};
}

// batch = 0: one pendulum, without vmap.
Prepared Pendulum(ricci_ctx* ctx, int64_t length, int64_t batch, bool grad) {
  const std::vector<Param> state(2, Param{});
  const ProgramRef body = Trace(ctx, state, Rk4);
  ProgramRef f = Trace(ctx, state, [&](const Values& in) {
    const Values out = Scan(body.get(), in, length);
    return grad ? Values{out[0]} : out;
  });
  if (grad) f = Grad(f.get(), 2);
  if (batch == 0) return Ready(ctx, f.get(), {{1.0f}, {0.0f}});
  std::vector<float> angles = Uniform(batch), speeds(angles.size());
  for (float& v : angles) v = 1 + 0.25f * v;
  return Ready(ctx, Vmap(f.get(), batch).get(), {angles, speeds});
}

// ---- Newton's method for a cube root ----
Values NewtonGoes(const Values& in) {  // a, x, i
  const Value wrong = gt(abs(sub(integer_pow(in[1], 3), in[0])), full_like(in[0], 1e-5));
  return {bitwise_and(wrong, lt(in[2], full_like(in[2], 100)))};
}
Values NewtonStep(const Values& in) {
  const Value x = in[1];
  const Value next = sub(x, div(sub(integer_pow(x, 3), in[0]), mul(3.0, integer_pow(x, 2))));
  return {next, add(in[2], full_like(in[2], 1))};
}
Prepared Newton(ricci_ctx* ctx) {
  const std::vector<Param> state = {{}, {}, {{}, DType::kI32}};
  const ProgramRef cond = Trace(ctx, state, NewtonGoes), body = Trace(ctx, state, NewtonStep);
  const ProgramRef f = Trace(ctx, {{}}, [&](const Values& in) {
    const Value a = in[0], count = full(a.builder, Shape{}, DType::kI32, 0);
    ricci_program *const c = cond.get(), *const b = body.get();
    const Values operands = {a, a, add(a, 1.0), count};
    return Values{
        ricci::EmitN(2, "while", operands, {{"cond", c}, {"body", b}, {"cond_nconsts", 1}, {"body_nconsts", 1}})[0]};
  });
  return Ready(ctx, f.get(), {{7.0f}});
}

// ---- D2Q9 lattice Boltzmann on a periodic grid ----
constexpr int kCx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, kCy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
constexpr double kWeight[9] = {4.0 / 9, 1.0 / 9, 1.0 / 9, 1.0 / 9, 1.0 / 9, 1.0 / 36, 1.0 / 36, 1.0 / 36, 1.0 / 36};

Value Roll(const Value& x, int64_t shift, int64_t axis) {
  const int64_t n = x.dim(axis), cut = shift > 0 ? n - shift : -shift;
  if (shift == 0) return x;
  const Value parts[] = {slice_in_dim(x, cut, n, axis), slice_in_dim(x, 0, cut, axis)};
  return concatenate(parts, axis);
}
// sum of c[i] f[i]
Value Moment(const Values& f, const int (&c)[9]) {
  Value sum;
  for (size_t i = 0; i < 9; ++i) {
    if (c[i] == 0) continue;
    const Value term = c[i] == 1 ? f[i] : neg(f[i]);
    sum = sum.is_none() ? term : add(sum, term);
  }
  return sum;
}
Values LatticeStep(const Values& in) {
  const int64_t n = in[0].dim(1);
  Values f;
  for (int64_t i = 0; i < 9; ++i) f.push_back(squeeze(slice_in_dim(in[0], i, i + 1, 0), Shape{0}));
  const Value rho = reduce_sum(in[0], Shape{0}), u = div(Moment(f, kCx), rho), v = div(Moment(f, kCy), rho);
  const Value square = mul(1.5, add(mul(u, u), mul(v, v)));
  Values out;
  for (size_t i = 0; i < 9; ++i) {
    const Value cu = mul(3.0, add(mul(kCx[i], u), mul(kCy[i], v)));
    const Value shape = sub(add(add(cu, 1.0), mul(0.5, mul(cu, cu))), square);
    const Value moved = Roll(Roll(mul(mul(rho, kWeight[i]), shape), kCx[i], 0), kCy[i], 1);
    out.push_back(reshape(moved, Shape{1, n, n}));
  }
  return {concatenate(out, 0)};
}
Prepared Lattice(ricci_ctx* ctx, const Settings& s) {
  const int64_t n = s.small ? 8 : 1024;
  const Param grid{{9, n, n}};
  const ProgramRef body = Trace(ctx, {grid}, LatticeStep);
  const ProgramRef f = Trace(ctx, {grid}, [&](const Values& in) { return Scan(body.get(), in, 10); });
  std::vector<float> start = Uniform(9 * n * n);
  for (size_t i = 0; i < start.size(); ++i) {
    start[i] = static_cast<float>(kWeight[i / static_cast<size_t>(n * n)]) * (1 + 0.1f * start[i]);
  }
  return Ready(ctx, f.get(), {start}, 10.0 * static_cast<double>(n * n));
}

}  // namespace

std::vector<Case> LoopCases(ricci_ctx* ctx) {
  const auto pendulum = [=](int64_t length, int64_t batch, bool grad) {
    return [=](const Settings& s) {
      return Pendulum(ctx, s.small ? 10 : length, s.small ? std::min<int64_t>(batch, 8) : batch, grad);
    };
  };
  return {
      {"rk4_scan", "ms", pendulum(10000, 0, false)},
      {"rk4_scan_grad", "ms", pendulum(10000, 0, true)},
      {"rk4_vmap", "ms", pendulum(1000, 4096, false)},
      {"rk4_vmap_grad", "ms", pendulum(1000, 4096, true)},
      {"newton", "us", [=](const Settings&) { return Newton(ctx); }},
      {"lbm", "MLUPS", [=](const Settings& s) { return Lattice(ctx, s); }},
  };
}

}  // namespace bench
