// Messages of the functions of linear algebra, statistics and updates at an index for operands that they do not take.
#include "binding_fixture.h"
#include "ricci/scipy_kde.hpp"
#include "ricci/scipy_linalg.hpp"
#include "ricci/scipy_signal.hpp"
#include "ricci/scipy_special.hpp"
#include "ricci/scipy_stats.hpp"

namespace ricci::testing { namespace {

using NumpyErrors = BindingTest;

TEST_F(NumpyErrors, OfNorms) {
  const Array x = Vec({1, 2, 3});
  EXPECT_ERROR_HERE(linalg::norm(x, "nuc"), "norm: order is `nuc`; that of a vector is a number");
  EXPECT_ERROR_HERE(linalg::norm(ones(ctx, {2, 2, 2}), 1),
                    "norm: 3 axes of f32[2,2,2] with an order; give one axis for vectors, two for matrices");
  EXPECT_ERROR_HERE(linalg::cond(x),
                    "cond: operand is f32[3]; its last two dimensions must be those of a matrix with elements");
}

// Signed integers do not hold them, and nothing that counts or is a place takes them.
TEST_F(NumpyErrors, OfNumbersAboveInt64) {
  const Array x = Vec({1, 2, 3}), i(ctx, {1, 2});
  const uint64_t n = uint64_t{1} << 63;
  EXPECT_ERROR_HERE(i + n,
                    "the number 9223372036854775808 does not fit i32; convert the operand to u64 or a floating dtype");
  EXPECT_ERROR_HERE(zeros(ctx, {2}, DType::kI64) * n,
                    "the number 9223372036854775808 does not fit i64; convert the operand to u64 or a floating dtype");
  EXPECT_ERROR_HERE(pow(x, n), "pow: the number 9223372036854775808 is too large; the largest is 9223372036854775807");
  EXPECT_ERROR_HERE(index(x, {n}),
                    "index: the number 9223372036854775808 is too large; the largest is 9223372036854775807");
  EXPECT_ERROR_HERE(arange(ctx, n), "arange: from 0 to 9223372036854775808 by 1 are too many elements");
  EXPECT_ERROR_HERE(arange(ctx, -1, n), "arange: from -1 to 9223372036854775808 by 1 are too many elements");
  EXPECT_ERROR_HERE(arange(ctx, n, n + 3),
                    "arange: from 9223372036854775808 to 9223372036854775811 by 1 does not fit i32; give a dtype");
  EXPECT_ERROR_HERE(arange(ctx, 0, n, n / 4),
                    "arange: from 0 to 9223372036854775808 by 2305843009213693952 does not fit i32; give a dtype");
  EXPECT_ERROR_HERE(arange(ctx, n, n + 3, DType::kI64),
                    "the number 9223372036854775808 does not fit i64; convert the operand to u64 or a floating dtype");
  EXPECT_EQ(Array(arange(ctx, n, n + 3, DType::kU64)).to_vector<uint64_t>(), (std::vector<uint64_t>{n, n + 1, n + 2}));
  EXPECT_EQ(Array(arange(ctx, UINT64_MAX, n, n - UINT64_MAX, DType::kU64)).size(), 0u);
  EXPECT_EQ(Array(arange(ctx, 1, UINT64_MAX, n, DType::kU64)).to_vector<uint64_t>(), (std::vector<uint64_t>{1, n + 1}));
  EXPECT_TRUE(Array(arange(ctx, -1)).to_vector<int32_t>().empty());
  EXPECT_EQ(Array(arange(ctx, n, 0, INT64_MIN, DType::kF64)).to_vector<double>(), (std::vector<double>{0x1p63}));
}

TEST_F(NumpyErrors, OfSolutions) {
  const Array x = Vec({1, 2, 3});
  EXPECT_ERROR_HERE(linalg::lstsq(x, x),
                    "lstsq: operands are f32[3] and f32[3]; they need one matrix, and as many rows of b");
  EXPECT_ERROR_HERE(polyfit(x, Vec({1, 2}), 1),
                    "polyfit: points are f32[3] and f32[2]; they need a vector, and as many rows of y");
  EXPECT_ERROR_HERE(polyfit(x, x, -1), "polyfit: the degree is -1; it must not be negative");
  EXPECT_ERROR_HERE(linalg::multi_dot({x, x, x}),
                    "multi_dot: operand 1 has 1 dimension; all are matrices, except that the first and the last may be "
                    "vectors");
  EXPECT_ERROR_HERE(linalg::tensorinv(ones(ctx, {2, 3}), 1),
                    "tensorinv: the first 1 dimension of f32[2,3] has 2 elements, the others 3");
  EXPECT_ERROR_HERE(scipy::linalg::solve(eye(ctx, 3), x, "any"),
                    "solve: assume_a is any; it must be gen, sym, her or pos");
  EXPECT_ERROR_HERE(
      scipy::linalg::solve_triangular(eye(ctx, 2), x),
      "solve_triangular: operands are f32[2,2] and f32[3]; they need a square matrix, and as many rows of b");
  EXPECT_ERROR_HERE(scipy::linalg::expm(x),
                    "expm: operand is f32[3]; it must be square matrices of f32, f64, c64 or c128");
}

TEST_F(NumpyErrors, OfSchurFunctions) {
  using namespace scipy::linalg;
  const Array x = Vec({1, 2, 3}), m = eye(ctx, 3), two = ones(ctx, {2, 2});
  EXPECT_ERROR_HERE(qr_multiply(m, x, "both"), "qr_multiply: mode is both; it must be right or left");
  EXPECT_ERROR_HERE(qr_multiply(two, x),
                    "qr_multiply: operands are f32[2,2] and f32[3]; with mode right c needs as many columns as a has "
                    "rows");
  EXPECT_ERROR_HERE(rsf2csf(m, two),
                    "rsf2csf: operands are f32[3,3] and f32[2,2]; they need square matrices of one size");
  EXPECT_ERROR_HERE(funm(m, [](Value w) { return sum(w); }),
                    "funm: the function gave c64[] for c64[3]; it must give one number for each");
  EXPECT_ERROR_HERE(
      solve_sylvester(m, two, m),
      "solve_sylvester: operands are f32[3,3], f32[2,2] and f32[3,3]; they need matrices m x m, n x n and "
      "m x n, with batches that broadcast");
  EXPECT_ERROR_HERE(solve_sylvester(m, m, m, {.method = "lu"}),
                    "solve_sylvester: method is lu; it must be schur or eigen");
  EXPECT_ERROR_HERE(eigh_tridiagonal(x, x),
                    "eigh_tridiagonal: operands are f32[3] and f32[3]; they must be vectors of n and n - 1 elements, "
                    "both of f32, f64, c64 or c128");
  EXPECT_ERROR_HERE(eigh_tridiagonal(x, Vec({1, 2}), {.select = "v"}),
                    "eigh_tridiagonal: select is v; it must be a or i");
  EXPECT_ERROR_HERE(eigh_tridiagonal(x, Vec({1, 2}), {.select = "i", .select_range = {{1, 3}}}),
                    "eigh_tridiagonal: select_range is 1 to 3; it must be a range from 0 to 2");
}

TEST_F(NumpyErrors, OfShapesAndRanges) {
  const Array x = Vec({1, 2, 3});
  EXPECT_ERROR_HERE(squeeze(x, 0), "squeeze: axis 0 of f32[3] has size 3, not 1");
  EXPECT_ERROR_HERE(squeeze(ones(ctx, {1, 3}), {0, -1}), "squeeze: axis 1 of f32[1,3] has size 3, not 1");
  EXPECT_EQ(Array(squeeze(ones(ctx, {1, 3, 1}))).size(), 3u);
  EXPECT_EQ(Array(squeeze(ones(ctx, {1, 3, 1}), -1)).type().rank(), 2);
  EXPECT_ERROR_HERE(pad(x, {{-1, 0}}), "pad: widths -1 and 0 must not be negative");
  EXPECT_ERROR_HERE(eye(ctx, -1), "eye: the count is -1; it must not be negative");
  EXPECT_ERROR_HERE(tri(ctx, 2, -3), "tri: the count is -3; it must not be negative");
  EXPECT_ERROR_HERE(random::permutation(random::key(ctx, 1), -3),
                    "permutation: the count is -3; it must not be negative");
  EXPECT_ERROR_HERE(arange(ctx, INT64_MIN, INT64_MAX, 1),
                    "arange: from -9223372036854775808 to 9223372036854775807 by 1 are too many elements");
  EXPECT_EQ(Array(arange(ctx, INT64_MIN, INT64_MAX, INT64_MAX, DType::kI64)).to_vector<int64_t>(),
            (std::vector<int64_t>{INT64_MIN, -1, INT64_MAX - 1}));
  EXPECT_ERROR_HERE(arange(ctx, 0, 5, 0), "arange: step is 0");
  EXPECT_ERROR_HERE(arange(ctx, 0.0, 5, 0), "arange: from 0.000000 to 5 by 0 has no end");
  EXPECT_ERROR_HERE(arange(ctx, INFINITY), "arange: from 0 to inf by 1 has no end");
  EXPECT_ERROR_HERE(arange(ctx, NAN), "arange: from 0 to nan by 1 has no end");
  EXPECT_ERROR_HERE(arange(ctx, true), "arange: from 0 to 1 by 1 cannot be of bool; give another dtype");
  EXPECT_ERROR_HERE(arange(ctx, 2, DType::kBool), "arange: from 0 to 2 by 1 cannot be of bool; give another dtype");
  EXPECT_ERROR_HERE(arange(ctx, std::complex(0.0, 1.0)), "arange: start, stop and step must be real numbers");
  EXPECT_ERROR_HERE(arange(ctx, x), "arange: start, stop and step must be real numbers");
}

TEST_F(NumpyErrors, OfStatistics) {
  const Array x = Vec({1, 2, 3});
  EXPECT_ERROR_HERE(histogramdd(ones(ctx, {4, 2}), {3, 3, 3}),
                    "histogramdd: 3 numbers of bins for 2 dimensions; give one for each");
  EXPECT_ERROR_HERE(histogramdd(ones(ctx, {4, 2}), {3, 3}, {.range = {HistogramRange({0.0, 1.0})}}),
                    "histogramdd: 2 numbers of bins and 1 range for 2 dimensions; give one for each");
  EXPECT_ERROR_HERE(scipy::stats::rankdata(x, "first"),
                    "rankdata: method is first; it must be average, min, max, dense or ordinal");
  EXPECT_ERROR_HERE(scipy::stats::dirichlet::logpdf(x, 1.0),
                    "dirichlet.logpdf: x is f32[3] and alpha f32[]; alpha must be a vector, and x have as many rows or "
                    "one fewer");
}

TEST_F(NumpyErrors, OfComplexNumbers) {
  const Array x = Vec({1, 2, 3}), z = Array(astype(x, DType::kC64));
  EXPECT_ERROR_HERE(floor(z), "floor: operand is c64[3]; it must be real");
  EXPECT_ERROR_HERE(ceil(z), "ceil: operand is c64[3]; it must be real");
  EXPECT_ERROR_HERE(trunc(z), "trunc: operand is c64[3]; it must be real");
  EXPECT_ERROR_HERE(fabs(z), "fabs: operand is c64[3]; it must be real");
  EXPECT_ERROR_HERE(hypot(z, x), "hypot: operands are c64[3]; they must be real");
  EXPECT_ERROR_HERE(heaviside(x, z), "heaviside: operands are c64[3]; they must be real");
  EXPECT_ERROR_HERE(clip(x, 0, z), "clip: operands are of c64; they must be real");
  EXPECT_ERROR_HERE(argmax(z), "argmax: operand 0 is c64[3]; it takes bool, integer and floating dtypes");
  EXPECT_ERROR_HERE(top_k(z, 1), "top_k: operand 0 is c64[3]; it takes integer and floating dtypes");
}

TEST_F(NumpyErrors, OfSpecialFunctions) {
  using namespace scipy;
  const Array x = Vec({1, 2, 3}), z = Array(astype(x, DType::kC64));
  EXPECT_ERROR_HERE(special::dawsn(z), "dawsn: operand is c64[3]; it must be real");
  EXPECT_ERROR_HERE(special::owens_t(x, z), "owens_t: operands are c64[3]; they must be real");
  EXPECT_ERROR_HERE(special::entr(z), "entr: operand is c64[3]; it must be real");
  EXPECT_ERROR_HERE(special::rel_entr(x, z), "rel_entr: operands are c64[3]; they must be real");
  EXPECT_ERROR_HERE(special::ndtr(z), "ndtr: operand is c64[3]; it must be real");
  EXPECT_ERROR_HERE(special::gammasgn(z), "gammasgn: operand is c64[3]; it must be real");
  EXPECT_ERROR_HERE(special::bessel_jn(x, -1), "bessel_jn: v is -1; it must be at least 0");
  EXPECT_ERROR_HERE(special::bessel_jn(x, 5, 3), "bessel_jn: n_iter is 3; it must be at least v, which is 5");
  EXPECT_ERROR_HERE(special::sph_harm_y(1, 1, x, x, -2), "sph_harm_y: n_max is -2; it must be at least 0");
  EXPECT_ERROR_HERE(special::bernoulli(ctx, -1), "bernoulli: n is -1; it must be at least 0");
}

TEST_F(NumpyErrors, OfNamedMatrices) {
  const Array x = Vec({1, 2, 3});
  EXPECT_ERROR_HERE(scipy::linalg::hadamard(ctx, 6), "hadamard: n is 6; it must be a power of 2");
  EXPECT_ERROR_HERE(scipy::linalg::helmert(ctx, 0), "helmert: n is 0; it must be at least 1");
  EXPECT_ERROR_HERE(scipy::linalg::pascal(ctx, 2, "full"),
                    "pascal: kind is full; it must be symmetric, lower or upper");
  EXPECT_ERROR_HERE(scipy::linalg::leslie(x, x),
                    "leslie: operands are f32[3] and f32[3]; they need vectors of n and n - 1 elements, n at least 2");
  EXPECT_ERROR_HERE(scipy::linalg::fiedler_companion(Vec({1})),
                    "fiedler_companion: operand is f32[1]; its last dimension must be at least 2");
  EXPECT_ERROR_HERE(scipy::linalg::convolution_matrix(x, 0), "convolution_matrix: n is 0; it must be at least 1");
  EXPECT_ERROR_HERE(scipy::linalg::convolution_matrix(x, 2, "all"),
                    "convolution_matrix: mode is all; it must be full, same or valid");
  EXPECT_ERROR_HERE(scipy::linalg::convolution_matrix(Array(ctx, 1.0f), 2),
                    "convolution_matrix: operand is f32[]; it needs a vector with elements");
  EXPECT_ERROR_HERE(scipy::linalg::expm_frechet(x, Vec({1})),
                    "expm_frechet: operands are f32[3] and f32[1]; they need one shape");
}

TEST_F(NumpyErrors, OfDensityEstimates) {
  using scipy::stats::gaussian_kde;
  const Array x = Vec({1, 2, 4}), two = ones(ctx, {2, 3}), planes = random::normal(random::key(ctx, 0), {2, 5});
  EXPECT_ERROR_HERE(gaussian_kde(Vec({1})),
                    "gaussian_kde: dataset is f32[1,1]; it must be real, [d, n], with at least 2 elements");
  EXPECT_ERROR_HERE(gaussian_kde(x, {.bw_method = "best"}),
                    "gaussian_kde: bw_method is best; it must be scott or silverman");
  EXPECT_ERROR_HERE(gaussian_kde(x, {.factor = x}), "gaussian_kde: factor is f32[3]; it must be a scalar");
  EXPECT_ERROR_HERE(gaussian_kde(x, {.weights = Vec({1})}),
                    "gaussian_kde: weights are f32[1]; they must be a vector of 3 elements");
  const auto line = gaussian_kde(x), plane = gaussian_kde(planes);
  EXPECT_ERROR_HERE(line.pdf(two), "evaluate: points are f32[2,3]; they must be columns of 1 element");
  EXPECT_ERROR_HERE(line.integrate_kde(plane), "integrate_kde: the estimates have 1 and 2 dimensions");
  EXPECT_ERROR_HERE(plane.integrate_box_1d(0, 1), "integrate_box_1d: the estimate has 2 dimensions; it must have 1");
  EXPECT_ERROR_HERE(line.integrate_box_1d(0, x), "integrate_box_1d: a limit is f32[3]; it must be a scalar");
  EXPECT_ERROR_HERE(plane.integrate_gaussian(Vec({0, 0}), 1),
                    "integrate_gaussian: mean is f32[2,1] and cov f32[1,1]; they must be one point and f32[2,2]");
}

TEST_F(NumpyErrors, OfSpectra) {
  using namespace scipy;
  const Array x = Vec({1, 2, 3, 4}), scalar(ctx, 1.0f), z = Array(astype(ones(ctx, {3, 2}), DType::kC64));
  EXPECT_ERROR_HERE(signal::stft(scalar), "stft: operand is f32[]; it needs elements along an axis");
  EXPECT_ERROR_HERE(signal::stft(x, 0), "stft: fs is 0.000000; it must be positive");
  EXPECT_ERROR_HERE(signal::welch(x, 1, {.nperseg = 0}), "welch: nperseg is 0; it must be at least 1");
  EXPECT_ERROR_HERE(signal::welch(x, 1, {.nperseg = 3, .noverlap = 3}),
                    "welch: noverlap is 3; it must be from 0 to 2, one less than nperseg");
  EXPECT_ERROR_HERE(signal::welch(x, 1, {.nperseg = 3, .nfft = 2}),
                    "welch: nfft is 2; it must be at least nperseg, which is 3");
  EXPECT_ERROR_HERE(signal::welch(x, 1, {.window = "flat"}),
                    "welch: window is flat; it must be hann, hamming, blackman, bartlett, boxcar or a vector");
  EXPECT_ERROR_HERE(signal::welch(x, 1, {.window = x, .nperseg = 3}),
                    "welch: window is f32[4]; it must be a vector of 3 elements");
  EXPECT_ERROR_HERE(signal::welch(x, 1, {.window = Vec({1, 2, 3, 4, 5})}),
                    "welch: window is f32[5]; the signal has only 4 elements");
  EXPECT_ERROR_HERE(signal::welch(x, 1, {.scaling = "power"}),
                    "welch: scaling is power; it must be density or spectrum");
  EXPECT_ERROR_HERE(signal::welch(x, 1, {.average = "sum"}), "welch: average is sum; it must be mean or median");
  EXPECT_ERROR_HERE(signal::csd(x, ones(ctx, {2, 2})),
                    "csd: operands are f32[4] and f32[2,2]; they need the same dimensions");
  EXPECT_ERROR_HERE(signal::stft(x, 1, {.boundary = "none"}),
                    "stft: boundary is none; it must be zeros, even, odd or constant");
  EXPECT_ERROR_HERE(signal::istft(x), "istft: operand is c64[4]; it needs at least 2 dimensions");
  EXPECT_ERROR_HERE(signal::istft(z, 1, {.time_axis = 0, .freq_axis = 0}),
                    "istft: time_axis and freq_axis are both 0; they must differ");
}

TEST_F(NumpyErrors, OfUpdatesAtAnIndex) {
  const Array x = Vec({1, 2, 3});
  EXPECT_ERROR_HERE(at(x, {Slice{0, 2}}).set(x),
                    "at: updates of shape [3] do not broadcast to [2], the shape of the elements");
  EXPECT_ERROR_HERE(at(x, {0, 1}).get(), "get: 2 indices for f32[3]");
  EXPECT_ERROR_HERE(at(x, 0, {.mode = "wrap"}).add(1.0),
                    "at: mode is wrap; it must be fill, drop, clip or promise_in_bounds");
}

}}  // namespace ricci::testing
