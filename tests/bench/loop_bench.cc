// Programs that are loops: one pendulum and many by Runge-Kutta, with gradients; Newton's method; a lattice gas.
#include "typical_programs.h"

namespace bench {
namespace {

using namespace ricci::lax;  // NOLINT: the programs read like jax.lax
using ricci::DType;
using ricci::Shape;
using ricci::Value;
using ricci::Values;

// ---- pendulum ----
// batch = 0: one pendulum, without vmap.
Prepared Pendulums(ricci_ctx* ctx, int64_t length, int64_t batch, bool grad) {
  const ProgramRef f = Pendulum(ctx, length, grad);
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
Prepared Lattice(ricci_ctx* ctx, int64_t n, Values (*step)(const Values& in)) {
  const Param grid{{9, n, n}};
  const ProgramRef body = Trace(ctx, {grid}, step);
  const ProgramRef f = Trace(ctx, {grid}, [&](const Values& in) { return Scan(body.get(), in, 10); });
  std::vector<float> start = Uniform(9 * n * n);
  for (size_t i = 0; i < start.size(); ++i) {
    start[i] = static_cast<float>(kLatticeWeights[i / static_cast<size_t>(n * n)]) * (1 + 0.1f * start[i]);
  }
  return Ready(ctx, f.get(), {start}, 10.0 * static_cast<double>(n * n));
}

}  // namespace

std::vector<Case> LoopCases(ricci_ctx* ctx) {
  const auto pendulum = [=](int64_t length, int64_t batch, bool grad) {
    return [=](const Settings& s) {
      return Pendulums(ctx, s.small ? 10 : length, s.small ? std::min<int64_t>(batch, 8) : batch, grad);
    };
  };
  return {
      {"rk4_scan", "ms", pendulum(10000, 0, false)},
      {"rk4_scan_grad", "ms", pendulum(10000, 0, true)},
      {"rk4_vmap", "ms", pendulum(1000, 4096, false)},
      {"rk4_vmap_grad", "ms", pendulum(1000, 4096, true)},
      {"newton", "us", [=](const Settings&) { return Newton(ctx); }},
      {"lbm", "MLUPS", [=](const Settings& s) { return Lattice(ctx, s.small ? 8 : 1024, LatticeStep); }},
      {"stream", "MLUPS", [=](const Settings& s) { return Lattice(ctx, s.small ? 8 : 128, StreamStep); }},
  };
}

}  // namespace bench
