"""Programs of JAX, each a function and its arguments. jax_test.py runs them on Hilo and on jaxlib's CPU platform and compares."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.scipy import linalg as jsl
from jax.scipy import special

_rng = np.random.default_rng(0)
PROGRAMS = {}


def f32(*shape):
    return _rng.standard_normal(shape).astype(np.float32)


def positive(*shape):
    return (_rng.random(shape) + 0.1).astype(np.float32)


def ints(high, *shape):
    return _rng.integers(0, high, shape).astype(np.int32)


def complexes(*shape):
    return (f32(*shape) + 1j * f32(*shape)).astype(np.complex64)


def spd(n, *batch):
    a = f32(*batch, n, n)
    return a @ a.swapaxes(-1, -2) + n * np.eye(n, dtype=np.float32)


def add(name, function, *args):
    assert name not in PROGRAMS, name
    PROGRAMS[name] = (function, args)


# --- elementwise ---
for _f in ("sin cos tan tanh exp log1p expm1 sqrt cbrt floor ceil round sign abs negative square arcsinh arctan sinh cosh isnan isfinite exp2 reciprocal "
           "deg2rad rint trunc nan_to_num").split():
    add(f"numpy.{_f}", getattr(jnp, _f), positive(3, 5))
for _f in "add subtract multiply divide maximum minimum power arctan2 hypot logaddexp fmod remainder floor_divide copysign nextafter ldexp heaviside".split():
    add(f"numpy.{_f}", getattr(jnp, _f), positive(4, 3), ints(3, 4, 3) if _f == "ldexp" else positive(4, 3))
for _f in "erf erfc erf_inv lgamma digamma i0 i0e i1 i1e".split():
    add(f"lax.{_f}" if hasattr(lax, _f) else f"special.{_f}", getattr(lax, _f, None) or getattr(special, _f), 0.9 * positive(20))
for _f in "bitwise_and bitwise_or bitwise_xor left_shift right_shift gcd lcm".split():
    add(f"numpy.{_f}", getattr(jnp, _f), ints(9, 7), ints(9, 7))
add("numpy.popcount", lambda x: (jnp.bitwise_count(x), lax.clz(x), ~x), ints(1000, 9))
add("special.gammas", lambda a, x: (special.gammainc(a, x), special.gammaincc(a, x), special.betaln(a, x), special.polygamma(1, x), special.zeta(x + 1.5, a)),
    positive(6), positive(6))
add("special.more", lambda x: (special.logit(x), special.expit(x), special.ndtr(x), special.log_ndtr(x), special.ndtri(x), special.entr(x), special.xlogy(x, x),
                               special.logsumexp(x), special.erfinv(x), special.bessel_jn(x, v=2)), 0.8 * positive(7))
add("complex.elementwise", lambda z: (jnp.exp(z), jnp.log(z), jnp.sqrt(z), jnp.tanh(z), jnp.abs(z), jnp.angle(z), jnp.conj(z), z * z, z / (z + 2)), complexes(5))
add("lax.reduce_precision", lambda x: lax.reduce_precision(x, 5, 7), f32(9))
add("bfloat16", lambda x: jnp.tanh(x.astype(jnp.bfloat16) * 2).astype(jnp.float32), f32(50))
add("float16", lambda x: x.astype(jnp.float16) + 1, f32(50))
add("int4", lambda x: (x.astype(jnp.int4) + 1).astype(jnp.int32), ints(5, 6))
add("float8", lambda x: x.astype(jnp.float8_e4m3fn).astype(jnp.float32), f32(30))
add("erf of narrow floats", lambda x: [lax.erf(x.astype(t)) for t in (jnp.float8_e4m3fn, jnp.float8_e5m2, jnp.float8_e3m4, jnp.float4_e2m1fn)], f32(30))
add("bitcast", lambda x: (lax.bitcast_convert_type(x, jnp.int32), lax.bitcast_convert_type(x, jnp.int8), x.view(jnp.uint16)), f32(4, 2))
add("select and clamp", lambda x, y: (jnp.where(x > 0, x, y), lax.clamp(-0.5, x, 0.5), lax.select_n(x > y, x, y)), f32(9), f32(9))

# --- shapes ---
add("reshape and transpose", lambda x: x.reshape(4, 6).T[::-1, ::2], f32(2, 3, 4))
add("concatenate and stack", lambda x, y: (jnp.concatenate([x, y], 1), jnp.stack([x, y]), jnp.tile(x, (2, 3)), jnp.repeat(y, 2, 0)), f32(2, 3), f32(2, 3))
add("pad", lambda x: (jnp.pad(x, ((1, 2), (0, 1)), mode="reflect"), lax.pad(x, 0.5, ((1, -1, 2), (0, 2, 0)))), f32(4, 5))
add("roll, flip and rot90", lambda x: (jnp.roll(x, 2, 1), jnp.flip(x), jnp.rot90(x)), f32(3, 4))
add("iota and eye", lambda: (jnp.arange(7), jnp.eye(3), jnp.linspace(0, 1, 5), jnp.tri(3), lax.broadcasted_iota(jnp.int32, (2, 3), 1)))
add("gather", lambda x, i: (x[i], x[:, i], x.at[i].get(mode="fill", fill_value=-1), jnp.take(x, i, axis=1, mode="wrap"), jnp.take_along_axis(x, i[:, None] % 5, 1)),
    f32(6, 5), ints(5, 6))
add("scatter", lambda x, i, y: (x.at[i].add(y), x.at[i].max(y), x.at[:, 2].set(0), x.at[i].multiply(y), x.at[1:4].set(7)), f32(6, 5), ints(6, 6), f32(6, 5))
add("dynamic slices", lambda x, i: (lax.dynamic_slice(x, (i, i + 1), (2, 2)), lax.dynamic_update_slice(x, jnp.zeros((2, 2)), (i, 0)), lax.dynamic_index_in_dim(x, i)),
    f32(6, 5), np.int32(2))
add("searchsorted and bincount", lambda x, y, i: (jnp.searchsorted(jnp.sort(x), y), jnp.bincount(i, length=8), jnp.histogram(x, 5)[0]), f32(20), f32(9), ints(8, 30))
add("unique with a size", lambda i: jnp.unique(i, size=6, fill_value=-1, return_counts=True), ints(5, 20))
add("nonzero with a size", lambda x: jnp.nonzero(x > 0, size=10, fill_value=-1), f32(20))

# --- reductions, scans, sorts ---
for _f in "sum prod max min mean var std argmax argmin any all median ptp cumsum cumprod nansum count_nonzero".split():
    add(f"numpy.{_f} of a row", functools.partial(getattr(jnp, _f), axis=1), f32(4, 9))
add("norms", lambda x: (jnp.linalg.norm(x), jnp.linalg.norm(x, 1), jnp.linalg.norm(x, axis=0), jnp.quantile(x, 0.3), jnp.percentile(x, 70., axis=1)), f32(4, 5))
add("lax.reduce of two", lambda x, i: lax.reduce((x, i), (np.float32(-np.inf), np.int32(0)),
                                                 lambda a, b: (jnp.maximum(a[0], b[0]), jnp.where(a[0] >= b[0], a[1], b[1])), (1,)), f32(4, 8), ints(9, 4, 8))
add("windows", lambda x: (lax.reduce_window(x, -np.inf, lax.max, (2, 3), (1, 2), "SAME"), lax.reduce_window(x, 0., lax.add, (3, 3), (1, 1), "VALID"),
                          lax.cummax(x, 1), lax.cumlogsumexp(x, 0), lax.cumsum(x, 0, reverse=True)), f32(6, 7))
add("sort", lambda x, k: (jnp.sort(x, 0), jnp.argsort(x), lax.sort((k, x), num_keys=2), jnp.lexsort((x, k)), jnp.sort(x, descending=True), lax.top_k(x, 3)),
    f32(4, 8), ints(3, 4, 8))
add("associative scan", lambda x: lax.associative_scan(lambda a, b: a * b + b, x), f32(17))
add("convolve", lambda x, y: (jnp.convolve(x, y, mode="same"), jnp.correlate(x, y)), f32(20), f32(5))

# --- linear algebra ---
add("dots", lambda a, b, v: (a @ b, jnp.dot(a, v), jnp.tensordot(a, b, 1), jnp.vdot(v, v), jnp.outer(v, v), jnp.kron(a, b)), f32(4, 5), f32(5, 3), f32(5))
add("einsum", lambda a, b: (jnp.einsum("bij,bjk->bik", a, b), jnp.einsum("bij,bjk->ik", a, b), jnp.einsum("bii->b", a)), f32(3, 4, 4), f32(3, 4, 4))
add("dot of bfloat16", lambda a, b: jnp.dot(a.astype(jnp.bfloat16), b.astype(jnp.bfloat16), preferred_element_type=jnp.float32), f32(8, 16), f32(16, 8))
add("dot of integers", lambda a, b: lax.dot(a.astype(jnp.int8), b.astype(jnp.int8), preferred_element_type=jnp.int32), ints(9, 8, 16), ints(9, 16, 8))
add("cholesky", lambda a: (jnp.linalg.cholesky(a), jsl.cho_solve(jsl.cho_factor(a), a[:, 0])), spd(5))
add("solve", lambda a, b: (jnp.linalg.solve(a, b), jsl.solve_triangular(a, b, lower=True), jnp.linalg.inv(a), jnp.linalg.det(a), jnp.linalg.slogdet(a)), spd(6), f32(6, 2))
add("solve in batches", lambda a, b: jnp.linalg.solve(a, b), spd(4, 3), f32(3, 4, 2))
add("lu", lambda a: jsl.lu(a), spd(5))
add("qr", lambda a: jnp.abs(jnp.linalg.qr(a)[1]), f32(6, 4))
add("eigh", lambda a: jnp.linalg.eigvalsh(a), spd(6))
add("eigh projectors", lambda a: (lambda w, v: (v * w) @ v.T)(*jnp.linalg.eigh(a)), spd(6))
add("svd", lambda a: jnp.linalg.svd(a, compute_uv=False), f32(5, 7))
add("eig", lambda a: jnp.sort(jnp.abs(jnp.linalg.eigvals(a))), f32(5, 5))
add("pinv and lstsq", lambda a, b: (jnp.linalg.pinv(a), jnp.linalg.lstsq(a, b)[0]), f32(7, 3), f32(7))
add("expm", lambda a: jsl.expm(a), 0.3 * f32(5, 5))
add("schur and hessenberg", lambda a: (jnp.abs(jnp.diag(jsl.schur(a)[0])), jnp.abs(jnp.diag(jsl.hessenberg(a)))), spd(4))
add("tridiagonal solve", lambda d, b: lax.linalg.tridiagonal_solve(0.1 * d, d + 3, 0.1 * d, b), positive(6), f32(6, 2))
add("fft", lambda x, z: (jnp.fft.fft(z), jnp.fft.ifft2(z), jnp.fft.rfft(x), jnp.fft.irfft(z), jnp.fft.fftn(z), jnp.fft.fftshift(x)), f32(4, 12), complexes(4, 10))
add("convolution", lambda x, w: lax.conv_general_dilated(x, w, (1, 2), "SAME", rhs_dilation=(2, 1), dimension_numbers=("NHWC", "HWIO", "NHWC")),
    f32(2, 8, 9, 3), f32(3, 3, 3, 4))
add("convolution in groups", lambda x, w: lax.conv_general_dilated(x, w, (1,), [(1, 1)], feature_group_count=2), f32(2, 4, 10), f32(6, 2, 3))
add("transposed convolution", lambda x, w: lax.conv_transpose(x, w, (2, 2), "SAME"), f32(1, 4, 4, 2), f32(3, 3, 2, 3))

# --- control flow ---
add("while", lambda n: lax.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, s[1] * 1.5), (0, 1.0)), np.int32(7))
add("fori with an array", lambda x: lax.fori_loop(0, 5, lambda i, v: v.at[i].set(v[i] * i), x), f32(6))
add("scan", lambda x: lax.scan(lambda c, a: (c * 0.5 + a, (c, a * 2)), jnp.zeros(3), x), f32(6, 3))
add("reverse scan with lengths", lambda x: lax.scan(lambda c, a: (c + 1, c * a), 0.0, x, reverse=True, unroll=2), f32(9))
add("cond", lambda p, x: lax.cond(p, lambda v: v * 2, lambda v: v - 1, x), np.bool_(True), f32(4))
add("switch", lambda i, x: lax.switch(i, [jnp.sin, jnp.cos, lambda v: v * 3], x), np.int32(2), f32(4))
add("nested loops", lambda x: lax.fori_loop(0, 3, lambda i, v: lax.fori_loop(0, i, lambda j, w: w + j * v, v), x), f32(3))
add("map", lambda x: lax.map(lambda r: jnp.dot(r, r), x), f32(5, 4))
add("cond of vmap", jax.vmap(lambda p, x: lax.cond(p, jnp.sin, jnp.cos, x)), np.array([True, False, True]), f32(3))
add("while of vmap", jax.vmap(lambda n: lax.while_loop(lambda s: s < n, lambda s: s * 2 + 1, 0)), ints(50, 6))

# --- autodiff ---
_mlp = lambda p, x: jnp.tanh(jnp.tanh(x @ p[0] + p[1]) @ p[2]).sum()
add("grad of an mlp", jax.grad(_mlp), (f32(4, 8), f32(8), f32(8, 2)), f32(5, 4))
add("hessian", jax.hessian(lambda x: jnp.sum(jnp.sin(x) ** 2 * x)), f32(4))
add("jacobians", lambda x: (jax.jacfwd(jnp.tanh)(x), jax.jacrev(lambda v: jnp.cumsum(v) ** 2)(x)), f32(4))
add("jvp and vjp", lambda x, t: (jax.jvp(lambda v: jnp.fft.rfft(v).real, (x,), (t,)), jax.vjp(jnp.sort, x)[1](t)), f32(8), f32(8))
add("grad through a scan", jax.grad(lambda w: lax.scan(lambda h, x: (jnp.tanh(w @ h + x), None), jnp.zeros(4), jnp.ones((10, 4)))[0].sum()), f32(4, 4))
add("grad with remat", jax.grad(jax.checkpoint(lambda x: jnp.sin(jnp.sin(x)).sum())), f32(5))
add("grad of linear algebra", jax.grad(lambda a: jnp.linalg.slogdet(a)[1] + jnp.trace(jnp.linalg.cholesky(a)) + jnp.linalg.eigvalsh(a)[0]), spd(4))
add("grad of pooling", jax.grad(lambda x: (lax.reduce_window(x, -np.inf, lax.max, (2, 2), (2, 2), "VALID") ** 2).sum()), f32(6, 6))
add("grad of a convolution", jax.grad(lambda w, x: (lax.conv(x, w, (2, 2), "SAME") ** 2).sum(), (0, 1)), f32(3, 2, 3, 3), f32(1, 2, 7, 7))
add("complex derivatives at infinities", lambda z: [jax.jvp(f, (z,), (jnp.ones_like(z),))[1] for f in (jnp.exp, jnp.square, jnp.sinh)],
    np.array([np.inf, complex(-np.inf, 1), complex(1, np.inf), complex(np.nan, 1), complex(1, 2)], np.complex64))
add("grad of gathers", jax.grad(lambda x, i: (x[i] ** 2).sum() + jnp.take(x, i, 1).sum()), f32(5, 5), ints(5, 7))


@jax.custom_vjp
def _clipped(x):
    return x * 2


_clipped.defvjp(lambda x: (_clipped(x), x), lambda x, g: (jnp.clip(g, -0.1, 0.1) * x,))
add("custom_vjp", jax.grad(lambda x: (_clipped(x) ** 2).sum()), f32(5))
add("per-example gradients", jax.vmap(jax.grad(lambda w, x: jnp.tanh(w @ x).sum()), (None, 0)), f32(3, 4), f32(6, 4))

# --- random numbers: the same bits ---
for _name, _draw in {
        "uniform": lambda k: jax.random.uniform(k, (7,)), "normal": lambda k: jax.random.normal(k, (3, 4)), "bits": lambda k: jax.random.bits(k, (9,)),
        "randint": lambda k: jax.random.randint(k, (9,), 3, 100), "permutation": lambda k: jax.random.permutation(k, 12),
        "choice": lambda k: jax.random.choice(k, 9, (4,), replace=False), "categorical": lambda k: jax.random.categorical(k, jnp.ones((4, 5))),
        "gamma": lambda k: jax.random.gamma(k, 2.5, (6,)), "beta": lambda k: jax.random.beta(k, 2., 3., (5,)), "poisson": lambda k: jax.random.poisson(k, 4., (6,)),
        "bernoulli": lambda k: jax.random.bernoulli(k, 0.3, (12,)), "split": lambda k: jax.random.key_data(jax.random.split(k, 4)),
        "truncated normal": lambda k: jax.random.truncated_normal(k, -1., 1., (6,)), "dirichlet": lambda k: jax.random.dirichlet(k, jnp.ones(4)),
        "gumbel": lambda k: jax.random.gumbel(k, (5,)), "laplace": lambda k: jax.random.laplace(k, (5,)), "fold_in": lambda k: jax.random.key_data(jax.random.fold_in(k, 7)),
        "multivariate normal": lambda k: jax.random.multivariate_normal(k, jnp.zeros(3), jnp.eye(3))}.items():
    add(f"random.{_name}", lambda s, draw=_draw: draw(jax.random.key(s)), np.int32(5))
for _kind in ("rbg", "unsafe_rbg"):
    add(f"random.{_kind}", lambda s, kind=_kind: jax.random.normal(jax.random.key(s, impl=kind), (5,)), np.int32(5))

# --- functions of NumPy on all types, with the values that differ from others ---
_types = "bool int8 uint8 int16 uint16 int32 uint32 bfloat16 float16 float32"
_small_floats = "float8_e4m3fn float8_e5m2 float8_e4m3b11fnuz float8_e4m3fnuz float8_e5m2fnuz float8_e3m4 float8_e4m3 float8_e8m0fnu"


def special_values(dtype, *shape):
    """Numbers of the type, among them the first of its extremes, of NaN, of the infinities and of both zeros."""
    dtype = jnp.dtype(dtype)
    x = 4 * f32(*shape)
    if dtype == bool:
        return x > 0
    if dtype.kind in "iu":
        x = (x if dtype.kind == "i" else np.abs(x)).astype(dtype)
        x.flat[:4] = [np.iinfo(dtype).max, np.iinfo(dtype).min, 0, 1]
    else:
        x = x.astype(dtype)
        x.flat[:6] = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0], dtype)
    return x


def wide(tree):
    """What NumPy can compare: small floats as f32."""
    return jax.tree.map(lambda x: x.astype(jnp.float32) if x.dtype.itemsize < 4 and jnp.issubdtype(x.dtype, jnp.floating) else x, tree)


for _t in _types.split():
    add(f"sorts of {_t}", lambda x: wide((jnp.sort(x), jnp.argsort(x, axis=0), jnp.sort(x, descending=True), jnp.argsort(x, descending=True), jnp.lexsort((x[0], x[1])),
                                          jnp.unique(x, size=40, return_index=True, return_counts=True), jnp.searchsorted(jnp.sort(x[1]), x[2]),
                                          jnp.searchsorted(jnp.sort(x[1]), x[2], side="right", method="sort"))), special_values(_t, 3, 17))
    add(f"reductions of {_t}", lambda x: wide((x.max(1), x.min(0), x.argmax(1), x.argmin(0), jnp.any(x, 1), jnp.all(x, 0), jnp.count_nonzero(x), jnp.median(x[1:], axis=1),
                                               jnp.nanmax(x), lax.cummax(x.astype("int32") if x.dtype == bool else x, reverse=True))),
        special_values(_t, 3, 17))
for _mode in ("clip", "drop", "promise_in_bounds"):
    for _t in "int8 float32 bfloat16 complex64".split():
        add(f"indexed updates, {_mode}, {_t}", lambda x, y, i, mode=_mode: wide((
            x.at[i].add(y, mode=mode), x.at[i].multiply(y, mode=mode), x.at[i[:3]].set(y[:3], mode=mode), x.at[:, i].get(mode="fill" if mode == "drop" else mode),
            x.at[i, i].get(mode="clip") if x.dtype == jnp.complex64 else x.at[i].max(y, mode=mode), x.at[i[:3]].apply(jnp.negative, mode=mode))),
            f32(9, 11).astype(_t), f32(6, 11).astype(_t), np.array([3, 0, 8, 3, 5, 3] if _mode == "promise_in_bounds" else [3, -1, 12, 3, -20, 3], np.int32))
add("casts", lambda x: wide([[x.astype(a).astype(b) for b in ("float32", "bfloat16", "float16")] for a in _small_floats.split()] +
                            [x.astype(a) for a in _types.split()]), special_values("float32", 60))
add("casts of halves", lambda x: wide([x.astype(a).astype("float32") for a in _small_floats.split()] + [x.astype(a) for a in _types.split()]), special_values("bfloat16", 60))
add("quantiles", lambda x: [jnp.quantile(x, jnp.array([0.1, 0.5, 1.0]), axis=1, method=m) for m in ("linear", "lower", "higher", "midpoint", "nearest")], f32(6, 17))
add("sets", lambda x: (jnp.intersect1d(x, x[::2], size=20), jnp.setdiff1d(x, x[::2], size=20), jnp.union1d(x, x + 1, size=60), jnp.isin(x, x[:9])), ints(30, 25))
add("histograms", lambda x: (jnp.histogram(x, bins=7), jnp.histogram2d(x[:20], x[20:40], bins=4), jnp.digitize(x, jnp.array([-1., 0., 2.]))), f32(40))
add("paddings", lambda x: [jnp.pad(x, 2, mode=m) for m in "constant edge reflect symmetric wrap linear_ramp maximum mean minimum".split()], f32(5, 7))
add("windows with dilations", lambda x: [lax.reduce_window(x, init, op, (1, 2, 2, 1), (1, 1, 1, 1), ((0, 0), (1, 2), (0, 1), (0, 0)), base_dilation=(1, 2, 1, 1),
                                                           window_dilation=(1, 2, 3, 1)) for init, op in ((0., lax.add), (-np.inf, lax.max), (np.inf, lax.min))],
    f32(2, 9, 8, 3))

add("large windows", lambda x: [lax.reduce_window(x, init, op, (1, 7, 6), strides, padding) for init, op in ((0., lax.add), (-np.inf, lax.max), (0.5, lax.min))
                                for strides, padding in (((1, 1, 1), "SAME"), ((1, 2, 1), "VALID"))], f32(2, 19, 21))
add("long windows", lambda x: (lax.reduce_window(x, 0., lax.add, (20,), (1,), "SAME"), lax.reduce_window(x, -np.inf, lax.max, (31,), (1,), "VALID"),
                               lax.reduce_window(jnp.where(x > 1, np.nan, x), np.inf, lax.min, (17,), (1,), ((3, 9),))), f32(150))
for _t in "float32 float64 int32 uint8 int64".split():
    add(f"short sorts of {_t}", lambda x: wide((jnp.sort(x, 1), jnp.argsort(x, 1), jnp.argsort(x, 1, descending=True), jnp.sort(x, 2), jnp.median(x, 1),
                                                lax.sort((x, x[:, ::-1]), dimension=1))), special_values(_t, 2, 9, 37))
add("short sorts of rows", lambda x, i: (jnp.sort(x, -1), jnp.argsort(x, -1), lax.sort((i, x), num_keys=1), jnp.lexsort((x, i))), special_values("float32", 50, 6), ints(3, 50, 6))
add("distance transform", lambda m: [lax.associative_scan(jnp.minimum, d, axis=1) for d in (jnp.where(m, 0., 1e6) - jnp.arange(90), jnp.where(m.T, 0., 1e6))], f32(80, 90) > 1)
add("sums by group", lambda v, g: lax.associative_scan(lambda a, b: (a[0] | b[0], jnp.where(b[0], b[1], a[1] + b[1])),
                                                       (jnp.concatenate([jnp.ones(1, bool), g[1:] != g[:-1]]), v))[1], f32(700), np.sort(ints(40, 700)))
add("levels of a wavelet transform", lambda x: [(d := x[::2] - x[1::2], x := x[::2] + x[1::2])[0] for _ in range(5)] + [x], f32(1024))
add("automata", jax.vmap(lambda t, x: lax.scan(lambda s, c: ((n := t[s, c]), n), 0, x), (None, 0)), ints(6, 6, 8), ints(8, 37, 20))
add("tables of a batch", jax.vmap(lambda t, i, j: (t[i, j], lax.dynamic_slice(t, (i, j), (1, 2)), t[i])), f32(20, 5, 7), ints(5, 20), ints(9, 20))
add("adaptive filter", lambda x, d: lax.scan(lambda w, t: (w + 0.01 * (t[1] - w @ t[0]) * t[0], t[1] - w @ t[0]), jnp.zeros(16), (x, d)), f32(100, 16), f32(100))
add("retention", lambda q, k, v: ((q @ k.swapaxes(1, 2)) * jnp.where((d := jnp.arange(24)[:, None] - jnp.arange(24)) >= 0, 0.95 ** jnp.maximum(d, 0), 0)) @ v,
    f32(3, 24, 8), f32(3, 24, 8), f32(3, 24, 8))
add("radial filters", lambda r: jnp.exp(-10 * (r[:, None] - jnp.linspace(0, 5, 25)) ** 2) * (0.5 * (jnp.cos(r * np.pi / 5) + 1) * (r < 5))[:, None], 6 * positive(90))

# --- nn ---
for _f in "relu gelu silu softplus elu selu log_sigmoid leaky_relu hard_tanh relu6 celu glu softmax log_softmax standardize".split():
    add(f"nn.{_f}", getattr(jax.nn, _f), f32(4, 6))
add("attention", lambda q, k, v: jax.nn.dot_product_attention(q, k, v, is_causal=True), f32(2, 6, 2, 8), f32(2, 6, 2, 8), f32(2, 6, 2, 8))
add("one hot and losses", lambda x, i: -(jax.nn.one_hot(i, 5) * jax.nn.log_softmax(x)).sum(-1), f32(4, 5), ints(5, 4))
add("layer norm", lambda x: (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5), f32(4, 16))
add("stats", lambda x: (jax.scipy.stats.norm.logpdf(x), jax.scipy.stats.norm.cdf(x), jax.scipy.stats.t.logpdf(x, 3.), jax.scipy.stats.gamma.logpdf(jnp.abs(x), 2.)), f32(6))
add("interpolation", lambda x: (jnp.interp(x, jnp.arange(5.), jnp.arange(5.) ** 2), jax.image.resize(x.reshape(1, 4, 4, 1), (1, 7, 6, 1), "bilinear"),
                                jax.scipy.ndimage.map_coordinates(x.reshape(4, 4), [jnp.array([0.5, 1.2]), jnp.array([1.5, 2.2])], order=1)), 4 * positive(16))
add("polynomials", lambda p, x: (jnp.polyval(p, x), jnp.polyfit(x, x ** 2, 2), jnp.vander(x)), f32(4), f32(6))
add("segments", lambda x, i: (jax.ops.segment_sum(x, i, 4), jax.ops.segment_max(x, i, 4)), f32(10), ints(4, 10))
add("empty arrays", lambda x: (x + 1, jnp.sum(x), x.reshape(3, 0), jnp.concatenate([x, x])), np.zeros((0, 3), np.float32))
add("results that are arguments", lambda x, y: (x, x, y, x + y), f32(3), f32(3))
add("no results", lambda x: (), f32(3))
