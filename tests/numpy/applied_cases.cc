// Functions that apply a function.
#include "case.h"

namespace ricci::testing {
namespace {

Value Center(Value row) { return row - mean(row); }

const Case kCases[] = {
    {"jnp.apply_along_axis(lambda r: r - r.mean(), 1, t)",
     [](const Given& g) -> Results { return apply_along_axis(Center, 1, g.t); }},
    {"jnp.apply_along_axis(jnp.sum, 0, t)",
     [](const Given& g) -> Results { return apply_along_axis([](Value r) { return sum(r); }, 0, g.t); }},
    {"jnp.apply_along_axis(lambda r: jnp.outer(r, r), -1, x)",
     [](const Given& g) -> Results { return apply_along_axis([](Value r) { return outer(r, r); }, -1, g.x); }},
    {"jnp.apply_over_axes(jnp.sum, t, (0, 2))",
     [](const Given& g) -> Results {
       return apply_over_axes([](Value v, int64_t a) { return sum(v, a); }, g.t, {0, 2});
     }},
    {"jnp.vectorize(lambda a, b: a * b + 1)(x, v[:3])",
     [](const Given& g) -> Results {
       return vectorize([](Value a, Value b) { return a * b + 1; })(g.x, slice(g.v, 0, 3));
     }},
    {"jnp.fromfunction(lambda i, j: i * 10 + j, (2, 3), dtype=jnp.float32)",
     [](const Given& g) -> Results {
       return fromfunction(
           g.ctx, [](Value i, Value j) { return i * 10 + j; }, 2, 3);
     }},
    {"jnp.piecewise(x, [x < 0, x > 2], [lambda v: -v, 7, lambda v: v * 2])",
     [](const Given& g) -> Results {
       return piecewise(
           g.x, {g.x<0, g.x> 2}, [](Value v) { return -v; }, 7, [](Value v) { return v * 2; });
     }},
    {"jnp.piecewise(i, [i > 0], [lambda v: v / 2])",
     [](const Given& g) -> Results { return piecewise(g.i, {g.i > 0}, [](Value v) { return v / 2; }); }},
    {"jax.flatten_util.ravel_pytree([x, i])[0]",
     [](const Given& g) -> Results {
       return ravel_pytree(std::vector<Value>{g.x * 1, g.i * 1}).first;
     }},
    {"jax.flatten_util.ravel_pytree([x, y])[1](jnp.arange(12.0))",
     [](const Given& g) -> Results {
       return Values(ravel_pytree(std::vector<Value>{g.x * 1, g.y * 1}).second(arange(g.ctx, 12, DType::kF32)));
     }},
    {"jax.tree.reduce(lambda a, l: a + l.sum(), [x, y], 1.0)",
     [](const Given& g) -> Results {
       return tree_reduce([](Value a, Value l) { return a + sum(l); }, std::vector<Value>{g.x * 1, g.y * 1}, 1.0);
     }},
};

}  // namespace

std::span<const Case> AppliedCases() { return kCases; }

}  // namespace ricci::testing
