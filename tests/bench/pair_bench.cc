// Forces between all pairs of bodies in a periodic box (Lennard-Jones), and the gradient of their squared sum: the work
// of a pair should be done once for its three coordinates.
#include "bench_program.h"

namespace bench {
namespace {

using namespace ricci::lax;  // NOLINT: the programs read like jax.lax
using ricci::Shape;
using ricci::Value;
using ricci::Values;

Value Forces(const Value& x) {
  const int64_t n = x.dim(0);
  const Shape pairs = {n, n}, all = {n, n, 3};
  const Value between = sub(broadcast_in_dim(x, all, Shape{0, 2}), broadcast_in_dim(x, all, Shape{1, 2}));
  const Value wrapped = rem(between, full_like(between, 1.0));
  const Value d = select(gt(wrapped, full_like(wrapped, 0.5)), sub(wrapped, 1.0), wrapped);
  const Value r2 = add(reduce_sum(mul(d, d), Shape{2}), 0.01);
  const Value s2 = div(full_like(r2, 0.01), r2), s6 = mul(mul(s2, s2), s2);
  const Value strength = mul(mul(sub(mul(2.0, mul(s6, s6)), s6), s2), 24.0);
  const Value near = select(lt(r2, full_like(r2, 0.0625)), strength, full_like(strength, 0.0));
  return reduce_sum(mul(broadcast_in_dim(near, all, Shape{0, 1}), d), Shape{1});
}

Prepared Pairs(ricci_ctx* ctx, const Settings& s, bool grad) {
  const int64_t n = s.small ? 8 : 256;
  const Param bodies{{n, 3}};
  ProgramRef f = Trace(ctx, {bodies}, [&](const Values& in) -> Values {
    const Value forces = Forces(in[0]);
    return {grad ? reduce_sum(mul(forces, forces), Shape{0, 1}) : forces};
  });
  if (grad) f = Grad(f.get(), 1);
  return Ready(ctx, f.get(), {Uniform(3 * n)});
}

}  // namespace

std::vector<Case> PairCases(ricci_ctx* ctx) {
  return {{"pairs", "us", [=](const Settings& s) { return Pairs(ctx, s, false); }},
          {"pairs_grad", "us", [=](const Settings& s) { return Pairs(ctx, s, true); }}};
}

}  // namespace bench
