// jax.numpy.linalg, and jax.random.orthogonal.
#include <cmath>

#include "case.h"

namespace ricci::testing {
namespace {

// Positive definite.
Value Definite(const Given& g) { return matmul(g.m, matrix_transpose(g.m)) + eye(g.ctx, 3); }
Value Hermitian(const Given& g) { return matmul(g.z, conj(matrix_transpose(g.z))) + eye(g.ctx, 2); }
Results All(const linalg::LstsqResult& r) { return Values{r.x, r.resid, r.rank, r.s}; }

const Case kCases[] = {
    {"jnp.linalg.cholesky(m @ m.T + jnp.eye(3))",
     [](const Given& g) -> Results { return linalg::cholesky(Definite(g)); }, 32},
    {"jnp.linalg.cholesky(z @ z.conj().T + jnp.eye(2))",
     [](const Given& g) -> Results { return linalg::cholesky(Hermitian(g)); }, 32},
    {"jnp.linalg.cholesky(m @ m.T + m + 5 * jnp.eye(3), upper=True)",
     [](const Given& g) -> Results {
       return linalg::cholesky(matmul(g.m, matrix_transpose(g.m)) + g.m + 5 * eye(g.ctx, 3), true);
     },
     32},
    {"jnp.linalg.solve(m, s[:3])", [](const Given& g) -> Results { return linalg::solve(g.m, slice(g.s, 0, 3)); }, 32},
    {"jnp.linalg.solve(z[:, 1:], z)", [](const Given& g) -> Results { return linalg::solve(slice(g.z, 1, 3, 1), g.z); },
     32},
    {"jnp.linalg.solve(m, zv[:3])", [](const Given& g) -> Results { return linalg::solve(g.m, slice(g.zv, 0, 3)); },
     32},
    {"jnp.linalg.inv(z[:, :2])", [](const Given& g) -> Results { return linalg::inv(slice(g.z, 0, 2, 1)); }, 32},
    {"jnp.linalg.inv(m)", [](const Given& g) -> Results { return linalg::inv(g.m); }, 32},
    {"jnp.linalg.det(m)", [](const Given& g) -> Results { return linalg::det(g.m); }, 32},
    {"jnp.linalg.slogdet(m)",
     [](const Given& g) -> Results {
       const linalg::SignAndLog r = linalg::slogdet(g.m);
       return Values{r.sign, r.logabsdet};
     },
     32},
    {"jnp.linalg.eigvalsh(m)", [](const Given& g) -> Results { return linalg::eigvalsh(g.m); }, 64},
    {"jnp.sort(jnp.abs(jnp.linalg.eigvals(m)))",
     [](const Given& g) -> Results { return sort(abs(linalg::eigvals(g.m))); }, 64},
    {"jnp.linalg.svdvals(t)", [](const Given& g) -> Results { return linalg::svdvals(g.t); }, 64},
    {"jnp.linalg.pinv(x)", [](const Given& g) -> Results { return linalg::pinv(g.x); }, 64},
    {"jnp.linalg.matrix_rank(x)", [](const Given& g) -> Results { return linalg::matrix_rank(g.x); }},
    {"jnp.abs(jnp.linalg.qr(m).R)", [](const Given& g) -> Results { return abs(linalg::qr(g.m).r); }, 64},
    {"jnp.linalg.vector_norm(t)", [](const Given& g) -> Results { return linalg::vector_norm(g.t); }},
    {"jnp.linalg.vector_norm(t, axis=(0, 2), ord=1, keepdims=True)",
     [](const Given& g) -> Results {
       return linalg::vector_norm(g.t, {0, 2}, true, 1);
     }},
    {"jnp.linalg.vector_norm(z, axis=0, ord=3)",
     [](const Given& g) -> Results { return linalg::vector_norm(g.z, 0, false, 3); }, 16},
    {"jnp.linalg.vector_norm(s, axis=0, ord=0)",
     [](const Given& g) -> Results { return linalg::vector_norm(g.s, 0, false, 0); }},
    {"jnp.linalg.vector_norm(x, axis=1, ord=jnp.inf)",
     [](const Given& g) -> Results { return linalg::vector_norm(g.x, 1, false, INFINITY); }},
    {"jnp.linalg.vector_norm(x, axis=1, ord=-jnp.inf)",
     [](const Given& g) -> Results { return linalg::vector_norm(g.x, 1, false, -INFINITY); }},
    {"jnp.linalg.norm(t)", [](const Given& g) -> Results { return linalg::norm(g.t); }},
    {"jnp.linalg.norm(z, axis=1)", [](const Given& g) -> Results { return linalg::norm(g.z, {}, 1); }},
    {"jnp.linalg.norm(x, 2)", [](const Given& g) -> Results { return linalg::norm(g.x, 2); }, 16},
    {"jnp.linalg.norm(x, -2)", [](const Given& g) -> Results { return linalg::norm(g.x, -2); }, 16},
    {"jnp.linalg.norm(t, 'nuc', axis=(0, 2), keepdims=True)",
     [](const Given& g) -> Results {
       return linalg::norm(g.t, "nuc", {0, 2}, true);
     },
     16},
    {"jnp.linalg.norm(t, 1, axis=(0, 1))",
     [](const Given& g) -> Results {
       return linalg::norm(g.t, 1, {0, 1});
     }},
    {"jnp.linalg.norm(t, -jnp.inf, axis=(1, 2))",
     [](const Given& g) -> Results {
       return linalg::norm(g.t, -INFINITY, {1, 2});
     }},
    {"jnp.linalg.norm(x, 3, axis=0)", [](const Given& g) -> Results { return linalg::norm(g.x, 3, 0); }, 16},
    {"jnp.linalg.norm(z, 'fro')", [](const Given& g) -> Results { return linalg::norm(g.z, "fro"); }},
    {"jnp.linalg.cond(x)", [](const Given& g) -> Results { return linalg::cond(g.x); }, 64},
    {"jnp.linalg.cond(m, -2)", [](const Given& g) -> Results { return linalg::cond(g.m, -2); }, 64},
    {"jnp.linalg.cond(m, 1)", [](const Given& g) -> Results { return linalg::cond(g.m, 1); }, 64},
    {"jnp.linalg.cond(m, 'fro')", [](const Given& g) -> Results { return linalg::cond(g.m, "fro"); }, 64},
    {"jnp.linalg.cond(jnp.zeros((2, 2)), 1)",
     [](const Given& g) -> Results {
       return linalg::cond(zeros(g.ctx, {2, 2}), 1);
     }},
    {"jnp.linalg.lstsq(m, s[:3])", [](const Given& g) -> Results { return All(linalg::lstsq(g.m, slice(g.s, 0, 3))); },
     128},
    {"jnp.linalg.lstsq(x.T, m)",
     [](const Given& g) -> Results { return All(linalg::lstsq(matrix_transpose(g.x), g.m)); }, 256},
    {"jnp.linalg.lstsq(x, v[:2], rcond=0.5)",
     [](const Given& g) -> Results { return All(linalg::lstsq(g.x, slice(g.v, 0, 2), 0.5)); }, 128},
    {"jnp.linalg.matrix_power(m, 5)", [](const Given& g) -> Results { return linalg::matrix_power(g.m, 5); }, 32},
    {"jnp.linalg.matrix_power(m, -2)", [](const Given& g) -> Results { return linalg::matrix_power(g.m, -2); }, 64},
    {"jnp.linalg.matrix_power(t[:, :, :3], 0)",
     [](const Given& g) -> Results { return linalg::matrix_power(slice(g.t, 0, 3, 2), 0); }},
    {"jnp.linalg.multi_dot([v[:2], x, m, s[:3]])",
     [](const Given& g) -> Results {
       return linalg::multi_dot({slice(g.v, 0, 2), g.x, g.m, slice(g.s, 0, 3)});
     },
     32},
    {"jnp.linalg.multi_dot([x, m, x.T])",
     [](const Given& g) -> Results {
       return linalg::multi_dot({g.x, g.m, matrix_transpose(g.x)});
     },
     32},
    {"jnp.linalg.tensorinv(m.reshape(3, 3, 1), 1)",
     [](const Given& g) -> Results {
       return linalg::tensorinv(reshape(g.m, {3, 3, 1}), 1);
     },
     32},
    {"jnp.linalg.tensorsolve(m.reshape(3, 1, 3), s[:3, None])",
     [](const Given& g) -> Results {
       return linalg::tensorsolve(reshape(g.m, {3, 1, 3}), expand_dims(slice(g.s, 0, 3), 1));
     },
     32},
    {"jnp.linalg.tensorsolve(m, s[:3], axes=(0,))",
     [](const Given& g) -> Results { return linalg::tensorsolve(g.m, slice(g.s, 0, 3), {0}); }, 32},
    {"jax.random.orthogonal(jax.random.key(42), 4)",
     [](const Given& g) -> Results { return random::orthogonal(random::key(g.ctx, 42), 4); }, 32},
    {"jax.random.orthogonal(jax.random.key(7), 2, (2,), m=3)",
     [](const Given& g) -> Results { return random::orthogonal(random::key(g.ctx, 7), 2, {2}, DType::kF32, 3); }, 32},
};

}  // namespace

std::span<const Case> LinalgCases() { return kCases; }

}  // namespace ricci::testing
