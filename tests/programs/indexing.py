"""Test programs about order, indices, bits and number types."""

import jax
import jax.numpy as jnp
import numpy as np

from program import Program, integers, normal


def sorting(values, keys, text):
    """Sorts by one key and by several, of floats with NaN and signed zeros, of rows and of columns."""
    ordered, moved = jax.lax.sort((keys, values), num_keys=2)
    return (jnp.sort(values), jnp.argsort(values), jnp.sort(text, axis=0, descending=True), jnp.argsort(text, axis=1), ordered, moved,
            jnp.searchsorted(jnp.sort(keys), jnp.array([0, 3, 9], keys.dtype)), jnp.median(text, axis=1))


def gathers_and_scatters(table, ids, values, segments):
    embedded = table[ids]
    counted = jax.ops.segment_sum(values, segments, num_segments=6)
    largest = jax.ops.segment_max(values, segments, num_segments=6)
    added = table.at[ids].add(embedded * 2)
    placed = table.at[ids[0], 1].set(-1.0, mode="drop").at[::2, -1].mul(3.0)
    along = jnp.take_along_axis(table, jnp.argsort(table, axis=1), axis=1)
    kept = jnp.take(table, ids + 8, axis=0, mode="fill", fill_value=7.0)
    lowest = table.at[ids.reshape(-1)[:4], :2].min(0.25)
    windows = jax.vmap(lambda at: jax.lax.dynamic_slice(table, (at, 1), (2, 3)))(ids[0])
    return embedded, counted, largest, added, placed, along, kept, lowest, windows


def gather_gradient(table, ids, weights):
    return jax.grad(lambda t: (jnp.tanh(t[ids]) * weights).sum())(table)


def cumulative(x, counts):
    return (jnp.cumsum(x, axis=0), jnp.cumsum(x, axis=1), jnp.cumprod(x * 0.5 + 1, axis=1), jax.lax.cummax(x, axis=0),
            jnp.cumsum(counts[::-1])[::-1], jax.lax.cumlogsumexp(x, axis=1), jax.lax.associative_scan(jnp.minimum, x, axis=1),
            jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (3, 2), (2, 1), "SAME"),
            jax.lax.reduce_window(x, 0.0, jax.lax.add, (2, 3), (1, 2), ((0, 1), (2, 0)), window_dilation=(2, 1)))


def linear_recurrence(decay, x):
    """An associative scan over pairs: h[t] = decay[t] * h[t-1] + x[t]."""
    return jax.lax.associative_scan(lambda a, b: (a[0] * b[0], b[0] * a[1] + b[1]), (decay, x))


def points(x, y, labels, waves, steps):
    """Tables of two to four columns, whose rows are points: columns taken apart and put together, in loops and in trajectories."""
    def rate(p):
        a, b, c = p[..., 0], p[..., 1], p[..., 2]
        return jnp.stack([b - a, a * (2 - c), a * b - c], -1)

    def step(p, _):
        p = p + 0.01 * rate(p)
        return p, (p[:, ::-1], p[:, :2] * 2)
    last, path = jax.lax.scan(step, x, None, length=4)
    apart = x[:, None] - x[None]
    turned = jnp.stack([jnp.cos(y[..., 0]), jnp.sin(y[..., 1] * y[..., 3]), y[..., 2], y[..., 0]], -1)
    return (last, path, (apart**2).sum(-1), apart / (1 + jnp.abs(apart[..., :1])), turned, jnp.concatenate([labels[:, 1:], labels[:, :1] + 1], 1),
            jnp.stack([waves[:, 1].conj(), waves[:, 0] * 2], 1), x[1::2] * 2 + 1, steps[1:-1:3] + 1, steps[::-2] - 1,
            jnp.where(labels > 1, x[:, :2].astype(jnp.int8)[: len(labels)], labels))


def extrema(x, counts):
    return (jnp.argmax(x, axis=1), jnp.argmin(x, axis=0), jnp.argmax(x), x.max(axis=0), jnp.nanargmax(x, axis=1),
            jnp.argmin(counts), counts.max(), jnp.any(x > 2.5, axis=1), jnp.all(counts >= 0), jnp.prod(counts[:3]))


def threefry(key_data):
    """Counter-based random numbers: exact bits, then uniform and normal numbers and a shuffle made from them."""
    key = jax.random.wrap_key_data(key_data)
    a, b, c, d = jax.random.split(key, 4)
    return (jax.random.bits(a, (20,), jnp.uint32), jax.random.uniform(b, (3, 5)), jax.random.normal(c, (12,)),
            jax.random.permutation(d, 10), jax.random.randint(a, (8,), -5, 5), jax.random.key_data(d))


def integer_bits(a, b, small, wide):
    """Integer arithmetic with wrap-around, division, shifts beyond the width, bit counts and bit casts."""
    shifts = b % 40
    return (a + b, a * b, jax.lax.div(a, b | 1), jax.lax.rem(a, b | 1), a // (b | 1), a % (b | 1),
            jax.lax.shift_left(a, shifts), jax.lax.shift_right_arithmetic(a, shifts), jax.lax.shift_right_logical(a, shifts),
            a & b, a | b, a ^ b, ~a, -a, jnp.abs(a), jnp.sign(a), jax.lax.population_count(a), jax.lax.clz(b),
            small + small, small.astype(jnp.int32) * 3, small.astype(jnp.uint8) >> 1, wide * wide, wide >> 7,
            jax.lax.bitcast_convert_type(a, jnp.float32) > 0, jax.lax.bitcast_convert_type(wide, jnp.uint32),
            wide.astype(jnp.float64), a.astype(jnp.int8), a > b, jnp.clip(a, -100, b))


def complex_numbers(z, w, grid):
    """Complex arithmetic and functions, and escape times of a Mandelbrot iteration."""
    def body(carry):
        step, point, escaped = carry
        point = jnp.where(jnp.abs(point) < 2, point * point + grid, point)
        return step + 1, point, escaped + (jnp.abs(point) < 2)

    start = (0, jnp.zeros_like(grid), jnp.zeros(grid.shape, jnp.int32))
    escaped = jax.lax.while_loop(lambda carry: carry[0] < 30, body, start)[2]
    return (z * w, z / w, z.conj(), z.real - w.imag, jnp.abs(z), jnp.angle(z), jnp.exp(z), jnp.log(z), jnp.sqrt(z), jnp.sin(z),
            jnp.tanh(z), z @ w, z[:, None] - w, z == w, jax.lax.complex(w.real, z.imag), escaped)


def grid():
    real, imaginary = np.meshgrid(np.linspace(-2, 0.6, 13), np.linspace(-1.15, 1.2, 9))
    return (real + 1j * imaginary).astype(np.complex64)


def odd_values():
    values = normal(0, 20)
    values[[1, 5, 9, 10, 15]] = [np.nan, -0.0, 0.0, np.inf, -np.inf]
    return values


def rows_with_nan():
    x = normal(3, 6, 7)
    x[2, 4] = x[4, 1] = np.nan
    x[0, 2] = x[0, 5] = x[0].max() + 1
    return x


def complex_normal(seed, count):
    return (normal(seed, count) + 1j * normal(seed + 1, count)).astype(np.complex64)


PROGRAMS = [
    Program("sorting", "Sorts, argsorts and searches, one key and several.", sorting,
            (odd_values(), integers(1, 0, 5, 20), normal(2, 5, 9)), ("f32 1e-6 relative",), form="full"),
    Program("gathers_and_scatters", "Embedding look-ups, segment sums and indexed updates.", gathers_and_scatters,
            (normal(0, 10, 5), integers(1, 0, 10, (3, 4)), normal(2, 16), integers(3, -1, 7, 16)), ("f32 1e-6 relative",)),
    Program("gather_gradient", "The gradient of an embedding look-up with repeated indices.", gather_gradient,
            (normal(0, 9, 4), integers(1, 0, 9, (5, 6)), normal(2, 5, 6, 4)), form="full"),
    Program("cumulative", "Running sums, products and maxima, and windows.", cumulative,
            (normal(0, 9, 14), integers(1, 0, 50, 30)), ("f32 3e-6 relative",)),
    Program("linear_recurrence", "An associative scan over pairs of doubles.", linear_recurrence,
            (np.abs(normal(0, 37, 3, dtype=np.float64)), normal(1, 37, 3, dtype=np.float64)), ("f64 1e-12 relative",), x64=True),
    Program("points", "Tables of few columns, by columns.", points,
            (normal(0, 37, 3), normal(1, 5, 21, 4).astype(jnp.bfloat16), integers(2, -3, 4, (37, 2), np.int8), complex_normal(3, 74).reshape(37, 2),
             normal(5, 101).astype(jnp.bfloat16)), ("f32 1e-5 relative", "c64 1e-6 relative", "bf16 1e-2 relative")),
    Program("extrema", "Places of the largest and least values, with ties and NaN.", extrema,
            (rows_with_nan(), integers(4, 0, 9, 12)), (), form="full"),
    Program("threefry", "Counter-based random bits and what is made from them.", threefry, (np.array([12, 3456789], np.uint32),),
            ("f32 5e-6 relative",)),
    Program("integer_bits", "Integer arithmetic, shifts, bit counts and casts.", integer_bits,
            (integers(0, -(2**31), 2**31, 24), integers(1, 0, 1000, 24), integers(2, -128, 128, 12, np.int8),
             integers(3, 0, 2**62, 6, np.uint64)), ("f64 0 relative",), x64=True),
    Program("complex_numbers", "Complex arithmetic, functions and an iteration.", complex_numbers,
            (complex_normal(0, 11), complex_normal(2, 11), grid()), ("f32 3e-6 relative", "c64 3e-6 relative")),
]
