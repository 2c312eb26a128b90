// jax.scipy.linalg.
#include "ricci/scipy_linalg.hpp"

#include "case.h"

namespace ricci::testing {
namespace {

namespace linalg = scipy::linalg;

// Positive definite.
Value Definite(const Given& g) { return matmul(g.m, matrix_transpose(g.m)) + eye(g.ctx, 3); }
Value Hermitian(const Given& g) { return matmul(g.z, conj(matrix_transpose(g.z))) + eye(g.ctx, 2); }
Results Factors(const linalg::LuFactor& f) { return Values{f.lu, f.piv}; }
Results Matrices(const linalg::LuMatrices& f) { return Values{f.p, f.l, f.u}; }
Results Polar(const linalg::PolarResult& f) { return Values{f.u, f.p}; }
// The matrix that factors up to signs give.
Value Rebuilt(const Value& q, const Value& middle) { return matmul(matmul(q, middle), conj(matrix_transpose(q))); }
Value Rebuilt(const linalg::SchurResult& f) { return Rebuilt(f.z, f.t); }
Value Rebuilt(const linalg::HessenbergResult& f) { return Rebuilt(f.q, f.h); }

Results Product(const linalg::QrMultiplyResult& f) { return Values{f.cq, f.r}; }
Results Pivoted(const linalg::QrMultiplyResult& f) { return Values{f.cq, f.r, f.p}; }
Results Forms(const linalg::SchurResult& f) { return Values{sort(abs(diag(f.t))), Rebuilt(f)}; }
Results Spectrum(const linalg::EighResult& f) { return Values{f.eigenvalues, abs(f.eigenvectors)}; }
Value First(const Operand& x) { return index(x, {0}); }
linalg::SchurResult RealForm(const Given& g) { return linalg::schur(g.m); }

const Case kCases[] = {
    {"jsp.linalg.cholesky(m @ m.T + jnp.eye(3))",
     [](const Given& g) -> Results { return linalg::cholesky(Definite(g)); }, 32},
    {"jsp.linalg.cholesky(m @ m.T + jnp.eye(3), lower=True)",
     [](const Given& g) -> Results { return linalg::cholesky(Definite(g), true); }, 32},
    {"jsp.linalg.cholesky(z @ z.conj().T + jnp.eye(2))",
     [](const Given& g) -> Results { return linalg::cholesky(Hermitian(g)); }, 32},
    {"jsp.linalg.cholesky(z @ z.conj().T + jnp.eye(2), lower=True)",
     [](const Given& g) -> Results { return linalg::cholesky(Hermitian(g), true); }, 32},
    {"jsp.linalg.cho_solve(jsp.linalg.cho_factor(z @ z.conj().T + jnp.eye(2)), z)",
     [](const Given& g) -> Results { return linalg::cho_solve(linalg::cho_factor(Hermitian(g)), g.z); }, 64},
    {"jsp.linalg.cho_solve(jsp.linalg.cho_factor(m @ m.T + jnp.eye(3), False), s[:3])",
     [](const Given& g) -> Results {
       return linalg::cho_solve(linalg::cho_factor(Definite(g), false), slice(g.s, 0, 3));
     },
     64},
    {"jsp.linalg.cho_solve(jsp.linalg.cho_factor(m @ m.T + jnp.eye(3), True), s[:3])",
     [](const Given& g) -> Results {
       return linalg::cho_solve(linalg::cho_factor(Definite(g), true), slice(g.s, 0, 3));
     },
     64},
    {"jsp.linalg.lu_factor(m)", [](const Given& g) -> Results { return Factors(linalg::lu_factor(g.m)); }, 32},
    {"jsp.linalg.lu_solve(jsp.linalg.lu_factor(m), x.T, 0)",
     [](const Given& g) -> Results {
       return linalg::lu_solve(linalg::lu_factor(g.m), matrix_transpose(g.x), linalg::Trans::kNone);
     },
     64},
    {"jsp.linalg.lu_solve(jsp.linalg.lu_factor(m), x.T, 1)",
     [](const Given& g) -> Results {
       return linalg::lu_solve(linalg::lu_factor(g.m), matrix_transpose(g.x), linalg::Trans::kTranspose);
     },
     64},
    {"jsp.linalg.lu_solve(jsp.linalg.lu_factor(m), x.T, 2)",
     [](const Given& g) -> Results {
       return linalg::lu_solve(linalg::lu_factor(g.m), matrix_transpose(g.x), linalg::Trans::kAdjoint);
     },
     64},
    {"jsp.linalg.lu(x)", [](const Given& g) -> Results { return Matrices(linalg::lu(g.x)); }, 32},
    {"jsp.linalg.lu(x.T)", [](const Given& g) -> Results { return Matrices(linalg::lu(matrix_transpose(g.x))); }, 32},
    {"jsp.linalg.solve_triangular(m, s[:3])",
     [](const Given& g) -> Results { return linalg::solve_triangular(g.m, slice(g.s, 0, 3)); }, 32},
    {"jsp.linalg.solve_triangular(m, x.T, trans=1, lower=True, unit_diagonal=True)",
     [](const Given& g) -> Results {
       return linalg::solve_triangular(g.m, matrix_transpose(g.x),
                                       {.trans = linalg::Trans::kTranspose, .lower = true, .unit_diagonal = true});
     },
     32},
    {"jsp.linalg.solve(m @ m.T + jnp.eye(3), s[:3], assume_a='pos')",
     [](const Given& g) -> Results { return linalg::solve(Definite(g), slice(g.s, 0, 3), "pos"); }, 64},
    {"jsp.linalg.solve(m, s[:3])", [](const Given& g) -> Results { return linalg::solve(g.m, slice(g.s, 0, 3)); }, 64},
    {"jax.grad(lambda a: jsp.linalg.solve(a @ a.T + jnp.eye(3), s[:3], assume_a='pos').sum())(m)",
     [](const Given& g) -> Results {
       return grad([&g](Value a) {
         return sum(linalg::solve(matmul(a, matrix_transpose(a)) + eye(g.ctx, 3), slice(g.s, 0, 3), "pos"));
       })(g.m);
     },
     64},
    {"jsp.linalg.eigh(m, eigvals_only=True)", [](const Given& g) -> Results { return linalg::eigh(g.m).eigenvalues; },
     64},
    {"jnp.abs(jsp.linalg.qr(x.T)[1])",
     [](const Given& g) -> Results { return abs(linalg::qr(matrix_transpose(g.x)).r); }, 64},
    {"jnp.abs(jsp.linalg.qr(x.T, mode='economic')[0])",
     [](const Given& g) -> Results { return abs(linalg::qr(matrix_transpose(g.x), "economic").q); }, 64},
    {"m", [](const Given& g) -> Results { return Rebuilt(linalg::schur(g.m)); }, 64},
    {"m.astype(jnp.complex64)", [](const Given& g) -> Results { return Rebuilt(linalg::schur(g.m, "complex")); }, 64},
    {"jnp.abs(jsp.linalg.hessenberg(m))", [](const Given& g) -> Results { return abs(linalg::hessenberg(g.m).h); }, 64},
    {"m", [](const Given& g) -> Results { return Rebuilt(linalg::hessenberg(g.m)); }, 64},
    {"jsp.linalg.polar(x.T, method='svd')",
     [](const Given& g) -> Results { return Polar(linalg::polar(matrix_transpose(g.x))); }, 64},
    {"jsp.linalg.polar(x, side='left', method='svd')",
     [](const Given& g) -> Results { return Polar(linalg::polar(g.x, "left")); }, 64},
    {"jsp.linalg.expm(m)", [](const Given& g) -> Results { return linalg::expm(g.m); }, 256},
    {"jsp.linalg.expm(m / 9)", [](const Given& g) -> Results { return linalg::expm(g.m / 9); }, 32},
    {"jsp.linalg.expm(jnp.triu(m), upper_triangular=True)",
     [](const Given& g) -> Results { return linalg::expm(triu(g.m), true); }, 64},
    {"jsp.linalg.expm(m * 3, max_squarings=0)",
     [](const Given& g) -> Results { return linalg::expm(g.m * 3, false, 0); }, 32},
    {"jnp.stack([jsp.linalg.expm(m / 9), jsp.linalg.expm(m)])",
     [](const Given& g) -> Results {
       return linalg::expm(stack({g.m / 9, g.m}));
     },
     256},
    {"jax.grad(lambda a: jsp.linalg.expm(a).sum())(m)",
     [](const Given& g) -> Results { return grad([](Value a) { return sum(linalg::expm(a)); })(g.m); }, 1024},
    {"jsp.linalg.sqrtm(m)", [](const Given& g) -> Results { return linalg::sqrtm(g.m); }, 64},
    {"jsp.linalg.sqrtm(m * (1 + 2j))",
     [](const Given& g) -> Results { return linalg::sqrtm(g.m * std::complex<float>(1, 2)); }, 64},
    {"jsp.linalg.block_diag(x, v, 2.0, m)",
     [](const Given& g) -> Results {
       return linalg::block_diag({g.x, g.v, 2.0, g.m});
     },
     32},
    {"jsp.linalg.toeplitz(v)", [](const Given& g) -> Results { return linalg::toeplitz(g.v); }, 32},
    {"jsp.linalg.toeplitz(zv)", [](const Given& g) -> Results { return linalg::toeplitz(g.zv); }, 32},
    {"jsp.linalg.toeplitz(v, u)", [](const Given& g) -> Results { return linalg::toeplitz(g.v, g.u); }, 32},
    {"jsp.linalg.toeplitz(x, u)", [](const Given& g) -> Results { return linalg::toeplitz(g.x, g.u); }, 32},
    {"jsp.linalg.hankel(v)", [](const Given& g) -> Results { return linalg::hankel(g.v); }, 32},
    {"jsp.linalg.hankel(v, u)", [](const Given& g) -> Results { return linalg::hankel(g.v, g.u); }, 32},
    {"jsp.linalg.circulant(x)", [](const Given& g) -> Results { return linalg::circulant(g.x); }, 32},
    {"jsp.linalg.companion(v)", [](const Given& g) -> Results { return linalg::companion(g.v); }, 32},
    {"jsp.linalg.hilbert(4)", [](const Given& g) -> Results { return linalg::hilbert(g.ctx, 4); }, 32},
    {"jsp.linalg.dft(4)", [](const Given& g) -> Results { return linalg::dft(g.ctx, 4); }, 32},
    {"jsp.linalg.hadamard(8)", [](const Given& g) -> Results { return linalg::hadamard(g.ctx, 8); }},
    {"jsp.linalg.hadamard(1, 'float32')",
     [](const Given& g) -> Results { return linalg::hadamard(g.ctx, 1, DType::kF32); }},
    {"jsp.linalg.helmert(5)", [](const Given& g) -> Results { return linalg::helmert(g.ctx, 5); }},
    {"jsp.linalg.helmert(4, True)", [](const Given& g) -> Results { return linalg::helmert(g.ctx, 4, true); }},
    {"jsp.linalg.helmert(1)", [](const Given& g) -> Results { return linalg::helmert(g.ctx, 1); }},
    {"jsp.linalg.pascal(6)", [](const Given& g) -> Results { return linalg::pascal(g.ctx, 6); }, 128},
    {"jsp.linalg.pascal(5, 'lower')", [](const Given& g) -> Results { return linalg::pascal(g.ctx, 5, "lower"); }, 128},
    {"jsp.linalg.pascal(5, 'upper')", [](const Given& g) -> Results { return linalg::pascal(g.x, 5, "upper"); }, 128},
    {"jnp.asarray(np.array([[4., -6., 4., -1.], [-6., 14., -11., 3.], [4., -11., 10., -3.], [-1., 3., -3., 1.]], 'f'))",
     [](const Given& g) -> Results { return linalg::invpascal(g.ctx, 4); }},
    {"jsp.linalg.invpascal(5, 'lower')", [](const Given& g) -> Results { return linalg::invpascal(g.ctx, 5, "lower"); },
     128},
    {"jsp.linalg.invhilbert(4)", [](const Given& g) -> Results { return linalg::invhilbert(g.ctx, 4); }, 512},
    {"jsp.linalg.fiedler(x)", [](const Given& g) -> Results { return linalg::fiedler(g.x); }},
    {"jsp.linalg.fiedler(zv)", [](const Given& g) -> Results { return linalg::fiedler(g.zv); }},
    {"jsp.linalg.leslie(x, y[:, :2])",
     [](const Given& g) -> Results { return linalg::leslie(g.x, slice(g.y, 0, 2, 1)); }},
    {"jsp.linalg.fiedler_companion(t)", [](const Given& g) -> Results { return linalg::fiedler_companion(g.t); }},
    {"jsp.linalg.fiedler_companion(jnp.arange(2.0, 9.0))",
     [](const Given& g) -> Results { return linalg::fiedler_companion(arange(g.ctx, 2.0, 9.0)); }},
    {"jsp.linalg.fiedler_companion(v[:2])",
     [](const Given& g) -> Results { return linalg::fiedler_companion(slice(g.v, 0, 2)); }},
    {"jsp.linalg.convolution_matrix(x, 5)",
     [](const Given& g) -> Results { return linalg::convolution_matrix(g.x, 5); }},
    {"jsp.linalg.convolution_matrix(v, 3, 'same')",
     [](const Given& g) -> Results { return linalg::convolution_matrix(g.v, 3, "same"); }},
    {"jsp.linalg.convolution_matrix(v, 6, 'same')",
     [](const Given& g) -> Results { return linalg::convolution_matrix(g.v, 6, "same"); }},
    {"jsp.linalg.convolution_matrix(i, 2, 'valid')",
     [](const Given& g) -> Results { return linalg::convolution_matrix(g.i, 2, "valid"); }},
    {"jsp.linalg.convolution_matrix(v, 7, 'valid')",
     [](const Given& g) -> Results { return linalg::convolution_matrix(g.v, 7, "valid"); }},
    {"jsp.linalg.expm_frechet(m, m.T)",
     [](const Given& g) -> Results {
       const auto [value, slope] = linalg::expm_frechet(g.m, transpose(g.m));
       return Values{value, slope};
     },
     1024},
    {"jsp.linalg.dft(5, 'sqrtn')", [](const Given& g) -> Results { return linalg::dft(g.ctx, 5, "sqrtn"); }, 32},
    {"jsp.linalg.qr_multiply(x.T, m)",
     [](const Given& g) -> Results { return Product(linalg::qr_multiply(matrix_transpose(g.x), g.m)); }, 64},
    {"jsp.linalg.qr_multiply(x.T, y, mode='left')",
     [](const Given& g) -> Results { return Product(linalg::qr_multiply(matrix_transpose(g.x), g.y, "left")); }, 64},
    {"jsp.linalg.qr_multiply(x, y.T)",
     [](const Given& g) -> Results { return Product(linalg::qr_multiply(g.x, matrix_transpose(g.y))); }, 64},
    {"jsp.linalg.qr_multiply(z, z.T, conjugate=True)",
     [](const Given& g) -> Results {
       return Product(linalg::qr_multiply(g.z, matrix_transpose(g.z), "right", {.conjugate = true}));
     },
     64},
    {"jsp.linalg.qr_multiply(z.T, z, mode='left', conjugate=True)",
     [](const Given& g) -> Results {
       return Product(linalg::qr_multiply(matrix_transpose(g.z), g.z, "left", {.conjugate = true}));
     },
     64},
    {"jsp.linalg.qr_multiply(x.T, s[:3], pivoting=True)",
     [](const Given& g) -> Results {
       return Pivoted(linalg::qr_multiply(matrix_transpose(g.x), slice(g.s, 0, 3), "right", {.pivoting = true}));
     },
     64},
    {"jsp.linalg.qr_multiply(m, s[:3], mode='left', pivoting=True)",
     [](const Given& g) -> Results {
       return Pivoted(linalg::qr_multiply(g.m, slice(g.s, 0, 3), "left", {.pivoting = true}));
     },
     64},
    {"[jnp.abs(a) for a in jsp.linalg.qr(t[0], pivoting=True)]",
     [](const Given& g) -> Results {
       const auto [q, r, p] = linalg::qr_pivoted(First(g.t));
       return Values{abs(q), abs(r), p};
     },
     64},
    {"(lambda f: (jnp.sort(jnp.abs(jnp.diag(f[0]))), f[1] @ f[0] @ f[1].conj().T))"
     "(jsp.linalg.rsf2csf(*jsp.linalg.schur(m)))",
     [](const Given& g) -> Results { return Forms(linalg::rsf2csf(RealForm(g).t, RealForm(g).z)); }, 64},
    {"jsp.linalg.rsf2csf(*jsp.linalg.schur(m))[0]",
     [](const Given& g) -> Results {
       const auto form = RealForm(g);
       return linalg::rsf2csf(form.t, form.z).t;
     },
     256},
    {"jsp.linalg.rsf2csf(jnp.float32([[3, 1, 2], [0, 1, -4], [0, 1, 1]]), jnp.eye(3))[0].diagonal()",
     [](const Given& g) -> Results {
       const Array t(g.ctx, {3.0f, 1.0f, 2.0f, 0.0f, 1.0f, -4.0f, 0.0f, 1.0f, 1.0f}, {3, 3});
       return diag(linalg::rsf2csf(t, eye(g.ctx, 3)).t);
     },
     32},
    {"jsp.linalg.funm(m, lambda w: jnp.sin(w) + 2 * jnp.cos(w))",
     [](const Given& g) -> Results { return linalg::funm(g.m, [](Value w) { return sin(w) + 2 * cos(w); }); }, 256},
    {"jsp.linalg.funm(m, jnp.exp, disp=False)",
     [](const Given& g) -> Results {
       const auto [f, err] = linalg::funm_with_error(g.m, [](Value w) { return exp(w); });
       return Values{f, err};
     },
     256},
    {"jsp.linalg.funm(z @ z.T, jnp.sqrt)",
     [](const Given& g) -> Results {
       return linalg::funm(matmul(g.z, matrix_transpose(g.z)), [](Value w) { return sqrt(w); });
     },
     256},
    {"jsp.linalg.solve_sylvester(m, x[:, :2], x.T)",
     [](const Given& g) -> Results { return linalg::solve_sylvester(g.m, slice(g.x, 0, 2, 1), matrix_transpose(g.x)); },
     256},
    {"jsp.linalg.solve_sylvester(m, x[:, :2], x.T, method='eigen')",
     [](const Given& g) -> Results {
       return linalg::solve_sylvester(g.m, slice(g.x, 0, 2, 1), matrix_transpose(g.x), {.method = "eigen"});
     },
     256},
    {"jsp.linalg.solve_sylvester(z[:, 1:], m, z)",
     [](const Given& g) -> Results { return linalg::solve_sylvester(slice(g.z, 1, 3, 1), g.m, g.z); }, 256},
    {"jsp.linalg.solve_sylvester(m, jnp.stack([m.T, m / 2]), m)",
     [](const Given& g) -> Results {
       return linalg::solve_sylvester(g.m, stack({matrix_transpose(g.m), g.m / 2}), g.m);
     },
     256},
    {"jsp.linalg.solve_sylvester(m, -m, m)",
     [](const Given& g) -> Results { return linalg::solve_sylvester(g.m, -g.m, g.m, {.tol = 1e-3}); }},
    {"jax.grad(lambda a: (jnp.linalg.solve(jnp.kron(a, jnp.eye(2)) + jnp.kron(jnp.eye(3), x[:, :2].T), "
     "x.T.reshape(6)) ** 2).sum())(m)",
     [](const Given& g) -> Results {
       return grad([&](Value a) {
         return sum(square(linalg::solve_sylvester(a, slice(g.x, 0, 2, 1), matrix_transpose(g.x))));
       })(g.m);
     },
     1024},
    {"jsp.linalg.eigh_tridiagonal(t[0, 0], y[0], eigvals_only=True)",
     [](const Given& g) -> Results {
       return linalg::eigh_tridiagonal(First(First(g.t)), First(g.y), {.eigvals_only = true}).eigenvalues;
     },
     16},
    {"jsp.linalg.eigh_tridiagonal(d.ravel(), d.ravel()[1:], eigvals_only=True)",
     [](const Given& g) -> Results {
       return linalg::eigh_tridiagonal(ravel(g.d), slice(ravel(g.d), 1, 6), {.eigvals_only = true}).eigenvalues;
     },
     32},
    {"(lambda f: (f[0], jnp.abs(f[1])))(jsp.linalg.eigh_tridiagonal(t[0, 0], y[0]))",
     [](const Given& g) -> Results { return Spectrum(linalg::eigh_tridiagonal(First(First(g.t)), First(g.y))); }, 64},
    {"(lambda f: (f[0], jnp.abs(f[1])))(jsp.linalg.eigh_tridiagonal(zv, z[0], select='i', select_range=(1, 2)))",
     [](const Given& g) -> Results {
       return Spectrum(linalg::eigh_tridiagonal(g.zv, First(g.z), {.select = "i", .select_range = {{1, 2}}}));
     },
     64},
    {"jsp.linalg.eigh_tridiagonal(zv, z[0], eigvals_only=True, select='i', select_range=(2, 2))",
     [](const Given& g) -> Results {
       return linalg::eigh_tridiagonal(g.zv, First(g.z),
                                       {.eigvals_only = true, .select = "i", .select_range = {{2, 2}}})
           .eigenvalues;
     },
     64},
    {"jax.grad(lambda d: jnp.linalg.eigvalsh(jnp.diag(d) + jnp.diag(y[0], 1) + jnp.diag(y[0], -1))[1])(v)",
     [](const Given& g) -> Results {
       return grad([&](Value d) {
         return linalg::eigh_tridiagonal(d, First(g.y), {.eigvals_only = true}).eigenvalues[1];
       })(g.v);
     },
     64},
    {"jax.grad(lambda e: jnp.linalg.eigvalsh(jnp.diag(v) + jnp.diag(e, 1) + jnp.diag(e, -1))[0])(y[0])",
     [](const Given& g) -> Results {
       return grad([&](Value e) { return linalg::eigh_tridiagonal(g.v, e, {.eigvals_only = true}).eigenvalues[0]; })(
           First(g.y));
     },
     64},
    {"jsp.linalg.eigh_tridiagonal(v, y[0], eigvals_only=True)",
     [](const Given& g) -> Results {
       return linalg::eigh_tridiagonal(g.v * 1e30, First(g.y) * 1e30, {.eigvals_only = true}).eigenvalues / 1e30;
     },
     32},
};

}  // namespace

std::span<const Case> ScipyLinalgCases() { return kCases; }

}  // namespace ricci::testing
