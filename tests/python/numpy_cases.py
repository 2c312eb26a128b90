"""One call or more for each function of ricci.numpy, as text: `np` is the namespace, ours or JAX's, and the arrays are
those of ARRAYS. A case may be followed by `# digits=N` where fewer digits agree."""
import numpy as np

_draws = np.random.default_rng(0)


def _floats(*shape):
    return _draws.standard_normal(shape).astype(np.float32)


ARRAYS = {
    "x": _floats(3, 4), "y": _floats(3, 4) + np.float32(0.1), "v": _floats(4), "w": _floats(4), "m": _floats(4, 4),
    "p": np.abs(_floats(3, 4)) + np.float32(0.1), "u": np.tanh(_floats(3, 4)).astype(np.float32) * np.float32(0.9),
    "t": _floats(2, 3, 4), "i": np.array([[3, -1, 2, 7], [0, 5, -6, 1], [2, 2, 4, -3]], np.int32),
    "j": np.array([[1, 2, 3, 4], [5, 6, 7, 8], [2, 3, 1, 9]], np.int32), "k": np.array([2, 0, 1], np.int32),
    "b": np.array([[True, False, True, True], [False, False, True, False], [True, True, False, False]]),
    "r": np.array([1, 0, 2, 3]), "c": (_floats(3, 4) + 1j * _floats(3, 4)).astype(np.complex64), "h": _floats(3, 4).astype(np.float16),
    "l": np.full(5000, 100, np.float16), "q": np.array([5, 200, 7], np.uint8), "n": np.array([1.0, np.nan, -np.inf, np.inf, 0.0], np.float32),
    "s": (lambda a: (a @ a.T + 3 * np.eye(4)).astype(np.float32))(_draws.standard_normal((4, 4))),
}

STATIC = {"k", "b", "r"}  # known to the traced function: sizes may follow from their elements

CASES = """
np.sin(x); np.cos(x); np.tan(u); np.arcsin(u); np.arccos(u); np.arctan(x); np.sinh(x); np.cosh(x); np.tanh(x)
np.arcsinh(x); np.arccosh(p + 1); np.arctanh(u); np.exp(x); np.exp2(x); np.expm1(x); np.log(p); np.log1p(p); np.log2(p)
np.log10(p); np.sqrt(p); np.cbrt(x); np.asin(u); np.acos(u); np.atan(x); np.asinh(x); np.acosh(p + 1); np.atanh(u)
np.negative(x); np.negative(i); np.sign(x); np.sign(i); np.square(x); np.positive(x); np.abs(x); np.abs(i); np.abs(c)
np.absolute(x); np.fabs(i); np.reciprocal(p); np.sin(i); np.sin(h)
np.add(x, y); np.add(b, b); np.add(x, i); np.add(h, x); np.add(q, 1); np.add(i, 2.5); np.subtract(x, v); np.multiply(x, 2)
np.multiply(b, b); np.divide(i, j); np.true_divide(x, y); np.floor_divide(i, j); np.floor_divide(x, p); np.remainder(i, j)
np.remainder(x, p); np.mod(x, -p); np.fmod(x, p); np.fmod(i, j); np.divmod(i, j); np.power(x, 3); np.power(p, y)
np.power(j, 2); np.power(j, np.abs(i)); np.power(p, 0.5); np.pow(p, 2); np.float_power(j, 2); np.power(2.0, x)
np.arctan2(x, y); np.atan2(x, y); np.nextafter(x, y); np.maximum(x, y); np.minimum(x, 0); np.fmax(n, 0.5); np.fmin(n, 0.5)
np.hypot(x, y); np.logaddexp(x, y); np.logaddexp2(x, y); np.heaviside(x, 0.5); np.copysign(x, y); np.deg2rad(x)
np.radians(x); np.rad2deg(x); np.degrees(x); np.sinc(x)
np.floor(x); np.ceil(x); np.rint(3 * x); np.trunc(3 * x); np.round(3 * x); np.round(x, 1); np.floor(x * 2)
np.signbit(x); np.signbit(i); np.isnan(n); np.isinf(n); np.isfinite(n); np.isfinite(i); np.isposinf(n); np.isneginf(n)
np.clip(x, -0.5, 0.5); np.clip(i, 0, None); np.nan_to_num(n); np.nan_to_num(n, nan=1, posinf=2, neginf=3)
np.equal(i, j); np.not_equal(x, y); np.less(x, y); np.less_equal(i, 2); np.greater(x, 0); np.greater_equal(x, y)
np.logical_and(x, b); np.logical_or(b, i); np.logical_xor(b, i > 0); np.logical_not(i)
np.bitwise_and(i, j); np.bitwise_or(i, 3); np.bitwise_xor(i, j); np.invert(i); np.bitwise_not(b); np.bitwise_invert(i)
np.left_shift(j, 2); np.right_shift(i, 1); np.bitwise_left_shift(j, 1); np.bitwise_right_shift(q, 1); np.bitwise_count(j)
np.real(c); np.imag(c); np.imag(x); np.conj(c); np.conjugate(c); np.angle(c); np.angle(c, deg=True); np.astype(x, np.int32)
np.where(b, x, y); np.where(b, 1, x); np.where(x > 0, x, 0); np.select([x > 0, y > 0], [x, y], 7); np.isclose(x, y, 1, 0.1)
c * c + 1j; c / (c + 2); c ** 2; np.exp(c)
np.sum(x); np.sum(x, 0); np.sum(t, (0, 2), keepdims=True); np.sum(q); np.sum(b); np.sum(x, where=b, initial=2.0)
np.prod(x, 1); np.max(x); np.max(i, 1); np.min(x, 0, keepdims=True); np.amax(x, 1); np.amin(x, -1); np.any(b, 0)
np.max(x, 1, initial=0.5); np.max(x, 0, initial=-9.0, where=b); np.all(b, 1); np.count_nonzero(i, 1); np.mean(x, 1)
np.mean(i); np.mean(x, where=b); np.var(x, 0); np.var(x, 1, ddof=1); np.std(x); np.var(c); np.average(x, 0)
np.average(x, 1, weights=p[0]); np.average(x, weights=p); np.ptp(x, 0); np.argmax(x); np.argmax(x, 1, keepdims=True)
np.argmin(i, 0); np.nansum(n[:2]); np.nanprod(n[:2]); np.nanmean(n[:2]); np.cumsum(x, 0); np.cumsum(x); np.cumprod(x, 1)
np.cumsum(q); np.cumulative_sum(x, axis=1); np.cumulative_sum(v, include_initial=True); np.median(x); np.median(x, 1)
np.median(t, (0, 2), keepdims=True)
np.nanvar(n[:2]); np.nanstd(n[:2]); np.nanmax(n); np.nanmin(n[:2]); np.nanmax(i, 1); np.nanmax(n[1:2])
np.allclose(x, y); np.allclose(x, x); np.array_equal(x, x); np.array_equal(x, v); np.array_equal(n, n, equal_nan=True)
np.diff(x); np.diff(x, 2); np.diff(i, axis=0); np.diff(b); np.trapezoid(x); np.trapezoid(x, dx=0.5, axis=0)
np.trapezoid(x, np.sort(v)); np.trapezoid(q, q[::-1]); np.cumulative_sum(q); np.rint(i); np.log2(c * 0); np.round(c, 1)
np.roll(q, q[1]); np.roll(x, i[0, 0], 1); np.floor_divide(x, 0.0); np.mod(i, 0); np.less(c, c[::-1]); np.fmax(c, c[::-1])
np.interp(x, np.sort(v), w); np.interp(x, np.sort(v), w, left=5, right=-5.0)
np.around(3 * x); np.matvec(m, v); np.matvec(t, v); np.vecmat(v, m); np.vecmat(c, m); np.vsplit(m, 2); np.hsplit(x, [1])
np.hsplit(v, 2); np.dsplit(t, 2)
np.reshape(x, (2, 6)); np.reshape(x, -1); np.reshape(x, (4, 3), order="F"); np.ravel(x); np.transpose(t)
np.transpose(t, (1, 0, 2)); np.permute_dims(t, (2, 0, 1)); np.matrix_transpose(t); np.swapaxes(t, 0, 2)
np.moveaxis(t, 0, -1); np.moveaxis(t, (0, 1), (2, 0)); np.rollaxis(t, 2); np.rollaxis(t, 0, 3); np.expand_dims(x, 1)
np.expand_dims(x, (0, 3)); np.squeeze(x[:1]); np.squeeze(x[None], 0); np.broadcast_to(v, (3, 4)); np.broadcast_arrays(x, v)
np.atleast_1d(1.5); np.atleast_2d(v); np.atleast_3d(x); np.concatenate([x, y]); np.concatenate([x, i], 1)
np.concatenate([x, y], None); np.concat([v, w]); np.stack([v, w], 1); np.unstack(x, axis=1); np.vstack([v, w])
np.hstack([v, w]); np.hstack([x, y]); np.dstack([x, y]); np.column_stack([v, w]); np.append(v, w); np.split(v, 2)
np.split(x, [1, 3], 1); np.array_split(v, 3); np.tile(v, 2); np.tile(x, (2, 1, 2)); np.repeat(x, 2); np.repeat(x, 3, 1)
np.repeat(v, r, total_repeat_length=6); np.flip(x); np.flip(x, 1); np.flipud(x); np.fliplr(x)
np.rot90(x); np.rot90(x, 3); np.rot90(x, 2); np.roll(x, 1); np.roll(x, 2, 1); np.roll(x, (1, -1), (0, 1))
np.pad(x, 1); np.pad(x, ((1, 0), (0, 2)), constant_values=3); np.pad(v, (2, 1), "edge"); np.pad(v, 2, "reflect")
np.pad(v, 2, "symmetric"); np.pad(x, 1, "wrap"); np.tril(m); np.triu(m, 1); np.tril(t, -1); np.diagonal(m, 1)
np.diagonal(t, 0, 1, 2); np.trace(m); np.trace(t, 0, 1, 2); np.diag(v); np.diag(v, -1); np.diag(m, 1)
np.sort(x); np.sort(x, 0); np.sort(x, None); np.sort(x, descending=True); np.argsort(x); np.argsort(i, 0)
np.argsort(x, descending=True); np.searchsorted(np.sort(v), w); np.searchsorted(np.sort(v), v, side="right")
np.zeros((2, 3)); np.ones(3, np.int32); np.empty((0,)); np.full((2, 2), 1.5); np.full(3, v[:1]); np.zeros_like(x)
np.ones_like(i, np.float32); np.empty_like(x)[:0]; np.full_like(x, 2); np.arange(5); np.arange(1, 7, 2); np.arange(3.0)
np.arange(2.5); np.arange(-2.5); np.arange(0.5, 3); np.arange(1, 10, 0.3); np.arange(2.5, dtype=np.int32)
np.arange(1.5, 9, 2.5, np.int32); np.arange(1, 2, 0.5, np.int32); np.arange(250, 260, dtype=np.uint8)
np.arange(1, 2, 0.1, np.float16); np.arange(0.1, 5, dtype=np.float16); np.arange(1, 4, 1, np.complex64)
np.arange(0, True)
np.arange(5, 0, -2); np.arange(0, 1, 0.25); np.linspace(0, 1, 5); np.linspace(0.0, 2.0, 4, endpoint=False)
np.linspace(v, w, 3, axis=1); np.logspace(0, 2, 3); np.eye(3); np.eye(2, 4, 1, np.int32); np.identity(2); np.tri(3, 4, 1)
np.meshgrid(v, w[:3]); np.meshgrid(v, w[:3], indexing="ij", sparse=True); np.array([[1, 2], [3, 4]]); np.array([1.5, x[0, 0]])
np.asarray(x, np.float16); np.array(v, ndmin=2); np.copy(x)
np.take(x, k, 0); np.take(x, k); np.take(v, np.array([0, 9, -1])); np.take(x, 1, 1); np.take_along_axis(x, np.argsort(x), 1)
np.take(v, np.array([0, 9]), mode="clip")
np.dot(x, m); np.dot(v, w); np.dot(t, m); np.dot(2.0, x); np.matmul(x, m); np.matmul(t, m); np.matmul(v, m)
np.matmul(m, v); np.matmul(t, np.ones((2, 4, 5), np.float32)); np.matmul(i, j.T); np.vdot(x, y); np.vdot(c, c)
np.vecdot(x, y); np.vecdot(t, v); np.inner(x, y); np.outer(v, w); np.tensordot(t, m, 1); np.tensordot(t, x, ((1, 2), (0, 1)))
np.cross(v[:3], w[:3]); np.cross(x[:, :3], y[:, :3]); np.kron(x, m); np.kron(v, w)
np.einsum("ij,kj->ik", x, y); np.einsum("ij->j", x); np.einsum("ii->i", m); np.einsum("ii", m); np.einsum("bij,jk->bik", t, m)
np.einsum("i,i", v, w); np.einsum("ij,jk,kl->il", x, m, m); np.einsum("...i,i->...", t, v); np.einsum("i,j->ij", v, w)
np.einsum("ij,ij->i", x, y); np.einsum("bij,bkj->bik", t, t)
np.einsum(x, [0, 1], m, [1, 2], [0, 2]); np.einsum(x, [0, 1], y, [0, 1]); np.einsum(t, [..., 3], v, [3])
np.mean(l); np.var(l); np.std(l, ddof=1); np.mean(l, where=l > 0); np.nanmean(l[:9]); np.nanvar(l); np.average(l); np.median(l)
np.linalg.norm(x); np.linalg.norm(v, 1); np.linalg.norm(x, np.inf, 1); np.linalg.norm(x, axis=0, keepdims=True)
np.linalg.norm(v, 3); np.linalg.norm(m, 1, (0, 1)); np.linalg.norm(m, "nuc", (0, 1)); np.linalg.norm(m, 2, (0, 1))
np.linalg.vector_norm(x); np.linalg.matrix_norm(t); np.linalg.cholesky(s); np.linalg.solve(s, v); np.linalg.solve(s, m)
np.linalg.inv(s); np.linalg.det(m); np.linalg.slogdet(m); np.linalg.eigvalsh(s); np.linalg.svdvals(m)
np.abs(np.linalg.qr(m)[1]); np.linalg.slogdet(m).sign; np.linalg.eigh(s).eigenvalues; np.linalg.svd(m).S
np.linalg.eigh(s)[0]; np.linalg.svd(m, compute_uv=False); np.linalg.matrix_power(m, 3)
np.linalg.matrix_power(s, -2) # digits=4
np.fft.fft(x); np.fft.fft(c, 3); np.fft.fft(v, 7, norm="ortho"); np.fft.ifft(c, axis=0); np.fft.ifft(c, norm="forward")
np.fft.ifft(c, 2, 0, "ortho"); np.fft.rfft(x); np.fft.rfft(t, 5, 1); np.fft.rfft(i); np.fft.irfft(c); np.fft.irfft(c, 5)
np.fft.irfft(c, axis=0, norm="ortho"); np.fft.irfft(x, 4, norm="forward")
np.fft.fft(np.float32(2)*h.astype(np.float32)); np.fft.hfft(c); np.fft.hfft(c, 5, norm="ortho"); np.fft.ihfft(x)
np.fft.ihfft(x, 3, 0, "forward"); np.fft.hfft(c, norm="forward"); np.fft.fft2(t); np.fft.ifft2(c, (2, 5))
np.fft.rfft2(t, axes=(0, 1)); np.fft.irfft2(c, norm="ortho"); np.fft.fftn(t); np.fft.ifftn(c, (4,))
np.fft.rfftn(t, (2, 2), (2, 0)); np.fft.irfftn(t); np.fft.rfftn(x, norm="forward"); np.fft.fftfreq(5)
np.fft.fftfreq(4, 0.5); np.fft.rfftfreq(5); np.fft.rfftfreq(6, 0.1); np.fft.fftshift(x); np.fft.fftshift(t, (0, 2))
np.fft.ifftshift(x, 1); np.fft.ifftshift(v[:3]); np.fft.fftfreq(1); np.linalg.pinv(x); np.linalg.pinv(m, 0.1)
np.linalg.pinv(t); np.linalg.pinv(t, np.abs(v[:2]) / 9); np.linalg.pinv(c); np.linalg.matrix_rank(m)
np.linalg.matrix_rank(t); np.linalg.matrix_rank(m, 0.5)
np.linalg.matrix_rank(v); np.linalg.matrix_rank(np.outer(v, w), tol=1e-3); np.linalg.cond(m); np.linalg.cond(m, 1)
np.linalg.cond(m, -2); np.linalg.cond(m, "fro"); np.linalg.cond(t); np.linalg.cond(t[:, :2, :2], np.inf)
np.linalg.lstsq(x.T, v); np.linalg.lstsq(x, y); np.linalg.lstsq(x.T, m, 0.1); np.linalg.lstsq(np.outer(v, w), v, 1e-3)
np.linalg.lstsq(x, y, -1); np.linalg.multi_dot([x, m, s]); np.linalg.multi_dot([v, m, w]); np.linalg.multi_dot([v, w])
np.linalg.tensorinv(np.reshape(s, (4, 2, 2)), 1); np.linalg.tensorsolve(np.reshape(s, (2, 2, 4)), m[:2, :2])
np.linalg.tensorsolve(np.reshape(s, (2, 2, 2, 2)), m[:2, :2])
np.linalg.tensorsolve(np.reshape(s, (2, 4, 2)), m[:2, :2], (1,)); np.sort(np.abs(np.linalg.eigvals(m)))
np.sort(np.real(np.linalg.eig(m).eigenvalues))
np.matmul(m.astype(np.complex64), np.linalg.eig(m)[1]) / np.linalg.eig(m)[0] - np.linalg.eig(m)[1]; np.convolve(v, x[0])
np.convolve(v, w[:2], "same"); np.convolve(w[:3], v, "valid"); np.convolve(i[0], j[0]); np.convolve(c[0], c[1])
np.correlate(v, w); np.correlate(v, w[:2], "full"); np.correlate(w[:2], v, "same"); np.correlate(c[0], c[1][:3], "full")
np.convolve(v, w[:3], "same"); np.convolve(w[:3], v, "same"); np.bartlett(5); np.blackman(6); np.hamming(7)
np.hanning(4); np.kaiser(6, 2.5); np.i0(x); np.i0(i); np.hanning(1); np.hamming(0); np.kaiser(1, 1.0); np.kaiser(5, 14)
np.cov(x); np.cov(v); np.cov(v, w); np.cov(x, rowvar=False); np.cov(x, bias=True); np.cov(x, ddof=2); np.cov(x, y)
np.cov(c); np.cov(x, fweights=np.array([1, 2, 3, 1])); np.cov(x, aweights=np.abs(w))
np.cov(x, fweights=np.array([1, 2, 3, 1]), aweights=np.abs(w)); np.cov(i); np.cov(x, y, rowvar=False)
np.cov(x, dtype=np.float32); np.corrcoef(x); np.corrcoef(v, w); np.corrcoef(c); np.corrcoef(v); np.quantile(x, 0.3)
np.quantile(x, np.array([0.1, 0.5]), 1); np.quantile(x, 0.5, 0, keepdims=True); np.quantile(t, np.array([0.25]), (0, 2))
np.percentile(x, 30); np.percentile(x, np.array([10, 90]), axis=1, method="lower")
np.quantile(i, 0.4, method="nearest"); np.quantile(x, 0.4, method="midpoint"); np.quantile(x, 0.4, 1, method="higher")
np.quantile(n, 0.5); np.nanquantile(n, 0.4); np.nanmedian(n); np.nanmedian(x, 1)
np.nanpercentile(n, np.array([20, 60]), keepdims=True); np.quantile(x, np.array([0.2, 0.7]), axis=(0,1), keepdims=True)
np.nanquantile(np.where(b, x, np.nan), 0.5, 1); np.nanquantile(n[1:2], 0.5); np.quantile(h, 0.3); np.percentile(i, 50)
np.bincount(k, length=5); np.bincount(k, v[:3], length=2)
np.bincount(b[0], length=3); np.digitize(x, np.array([-1.0, 0, 1]))
np.digitize(x, np.array([1.0, 0, -1]), right=True); np.digitize(i, np.array([0, 2])); np.histogram_bin_edges(x)
np.histogram_bin_edges(x, 4, (0, 2)); np.histogram(x); np.histogram(x, np.array([-1.0, 0, 1]))
np.histogram(x, 5, density=True); np.histogram(x, 3, (0, 1), y); np.histogram(i, 4); np.histogram(np.ones(3), 2)
np.polyval(v, x); np.polyval(v, 2.0); np.polyval(i[0], 3); np.polyval(v[:0], x); np.polyadd(v, w[:2])
np.polysub(v[:1], w); np.polymul(v, w[:2]); np.polyder(v); np.polyder(v, 2); np.polyder(i[0]); np.polyder(v, 4)
np.polyint(v); np.polyint(v, 2, np.array([1.0, 2.0])); np.polyint(v, 1, 3); np.polyint(i[0], 3); np.vander(v)
np.vander(v, 2); np.vander(i[0], 3, increasing=True); np.polyfit(v, w, 2); np.polyfit(v, m, 1, w=np.abs(w))
np.polyfit(v, w, 1, full=True)[:4]; np.ediff1d(x); np.ediff1d(v, to_end=np.array([1, 2]), to_begin=9); np.unwrap(10 * x)
np.unwrap(10 * x, axis=0); np.unwrap(i, period=5); np.unwrap(5 * v, discont=4.0); np.gradient(x); np.gradient(x, axis=1)
np.gradient(v); np.gradient(v, 0.5); np.gradient(x, 2.0, 0.5); np.gradient(x, np.array([0.0, 1, 3]), 2.0)
np.gradient(v, np.sort(w)); np.gradient(t, axis=(0, 2)); np.gradient(i[0]); np.gradient(x, axis=(1,))
np.gradient(x, 2.0); np.cumulative_prod(v); np.cumulative_prod(x, axis=1, include_initial=True); np.cumulative_prod(q)
np.nancumsum(n[:2]); np.nancumsum(x, 1); np.nancumprod(n[:2]); np.nancumprod(i, 0); np.nanargmax(n); np.nanargmin(n)
np.nanargmax(np.where(b, x, np.nan), 1); np.nanargmin(i, 0); np.nanargmax(n[1:2]); np.nanargmin(x, 1, keepdims=True)
np.nanargmax(x, keepdims=True); np.geomspace(1, 100, 5); np.geomspace(-1.0, -8.0, 4, endpoint=False)
np.geomspace(np.abs(v) + 1, 10, 3, axis=1); np.tril_indices(3); np.triu_indices(3, 1, 4); np.tril_indices_from(x)
np.triu_indices_from(m, k=1); np.diag_indices(3); np.diag_indices(2, 3); np.indices((2, 3))
np.indices((2, 3), sparse=True); np.indices((2,), np.float32); np.diagflat(x); np.diagflat(v, -1); np.lexsort((k, k))
np.lexsort((i[0] % 2, j[0])); np.lexsort((x, np.round(y)), 0); np.cumulative_sum(q)
x[0]; x[-1, 2]; x[1:, ::2]; x[:, ::-1]; x[..., 1]; x[None, :, 0]; x[:, None, 1:3]; x[2:0:-1]; x[5:]; t[1, ..., 2]
x[k]; x[:, k]; x[k, k]; x[k[:, None], k]; t[k[:2] % 2, :, k[:2]]; t[:, k, 1:3]; t[0, :, k]; t[..., k]; x[b]; x[np.asarray(k)]
t[1, k, ::2]; t[:, None, k]; x[k, 1:]; x[k][:, None]
x.at[:].multiply(2); x.at[...].add(y); x.at[None].min(0); v.at[:].subtract(1); x.at[()].max(y); x.at[...].set(0)
v.at[1].set(9.0); v.at[1:3].set(w[:2]); x.at[0].add(1); x.at[:, 1].multiply(2); x.at[k].set(0); x.at[k, k].add(v[:3])
x.at[:, k].subtract(1); x.at[k].min(y); x.at[k].max(y); x.at[::2].set(5); x.at[::2, k].add(1); x.at[1].divide(2)
x.at[1].power(2); x.at[k].apply(np.sin); x.at[k].get(); v.at[np.array([0, 9])].set(1); v.at[np.array([0, 9])].get(mode="fill")
t.at[1, ..., 2].set(0); t.at[:, k, 1:3].set(1.5); v.at[np.array([1, 1, 2])].add(1); x.at[0, 1:].set(3); v.at[-1].mul(3)
x.T; t.mT; x + 1; 1 - x; 2 * i; x / 2; i // 2; 7 % j; x ** 2; 2 ** x; -x; +x; abs(x); ~b; i & 3; i | j; i ^ j; j << 1; j >> 1
x < y; x >= 0; i == j; i != 2; x @ m; x.sum(); x.mean(0); x.reshape(4, 3); x.reshape((2, -1)); x.ravel(); x.transpose()
x.astype(np.int32); x.max(1); x.min(); x.std(); x.var(1); x.any(); x.all(0); x.argmax(0); x.argmin(); x.cumsum(1); x.dot(m)
x.clip(0, 1); x.round(); x.squeeze(); x.swapaxes(0, 1); x.repeat(2, 0); x.sort(1) if False else np.sort(x, 1); x.prod()
x.conj(); c.real; c.imag; len(x) * x; [r.sum() for r in x]; x.flatten(); x.take(k, 0); x.size + x; divmod(i, j)
np.isdtype(x.dtype, "real floating") * x; np.result_type(x, i, 1.5) == np.float32; np.promote_types("int8", "uint8") == np.int16
np.finfo(np.float32).eps * x; np.iinfo(np.int32).max + i * 0; np.can_cast("int8", np.int16) * x
np.ndim(x) + x; np.shape(x)[1] + x; np.size(x) + x; np.pi * x; np.broadcast_shapes((3, 1), (4,))[0] + x
"""


def cases():
    """(text, digits that agree)."""
    for line in CASES.strip().splitlines():
        texts, _, note = line.partition("#")
        digits = int(note.split("=")[1]) if note else 5
        yield from ((text.strip(), digits) for text in texts.split(";") if text.strip())
