"""Layers and their gradients, simulations, linear algebra, statistics, data: the suite "workloads" of benchmarks/compare.py."""

import jax
import jax.numpy as jnp
import jax.scipy as jsp
import numpy as np
from jax import lax
from jax_programs import Program, f32, program

NHWC = ("NHWC", "HWIO", "NHWC")


def gradient(function, argnums=0):
    return jax.grad(lambda *args: (function(*args) ** 2).mean(), argnums=argnums)


# --- layers ---
def convolution(x, weights, strides=(1, 1)):
    return lax.conv_general_dilated(x, weights, strides, "SAME", dimension_numbers=NHWC)


def batch_norm(x, scale, bias):
    return (x - x.mean((0, 1, 2))) * lax.rsqrt(x.var((0, 1, 2)) + 1e-5) * scale + bias


def residual_block(x, first, second, scales, biases):
    h = jax.nn.relu(batch_norm(convolution(x, first), scales[0], biases[0]))
    return jax.nn.relu(batch_norm(convolution(h, second), scales[1], biases[1]) + x)


def residual_arguments(generator):
    return [f32(generator, 8, 28, 28, 64), 0.05 * f32(generator, 3, 3, 64, 64), 0.05 * f32(generator, 3, 3, 64, 64), f32(generator, 2, 64), f32(generator, 2, 64)]


@program
def residual_block_forward(generator, device):
    return Program(residual_block, residual_arguments(generator))


@program
def residual_block_gradient(generator, device):
    return Program(gradient(residual_block, (0, 1, 2, 3, 4)), residual_arguments(generator))


@program
def strided_convolutions_gradient(generator, device):
    def network(weights, x):
        for w in weights:
            x = jax.nn.relu(convolution(x, w, (2, 2)))
        return x.mean((1, 2))
    return Program(gradient(network), [[0.1 * f32(generator, 3, 3, i, o) for i, o in ((3, 16), (16, 32), (32, 64))], f32(generator, 16, 64, 64, 3)])


@program
def max_pool_gradient(generator, device):
    pool = lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    return Program(gradient(pool), [f32(generator, 8, 64, 64, 32)])


@program
def depthwise_convolution(generator, device):
    return Program(lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=NHWC, feature_group_count=64),
                   [f32(generator, 4, 56, 56, 64), f32(generator, 3, 3, 1, 64)])


@program
def transformer_gradient(generator, device):
    """Two layers of width 128 with 4 heads, on 8 sequences of 64."""
    width, heads, length, batch = 128, 4, 64, 8
    mask = np.tril(np.ones((length, length), bool))

    def norm(x):
        return (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)

    def network(layers, x):
        for project, out, up, down in layers:
            q, k, v = (norm(x) @ project).reshape(batch, length, 3, heads, -1).transpose(2, 0, 3, 1, 4)
            scores = jnp.where(mask, q @ k.swapaxes(-1, -2) / np.sqrt(width // heads), -1e9)
            x = x + (jax.nn.softmax(scores) @ v).transpose(0, 2, 1, 3).reshape(batch, length, width) @ out
            x = x + jax.nn.gelu(norm(x) @ up) @ down
        return x
    layers = [[0.05 * f32(generator, *shape) for shape in ((width, 3 * width), (width, width), (width, 4 * width), (4 * width, width))] for _ in range(2)]
    return Program(gradient(network), [layers, f32(generator, batch, length, width)])


@program
def attention_with_cache(generator, device):
    def step(q, keys, values, index):
        keys = lax.dynamic_update_slice(keys, q[:, :, None], (0, 0, index, 0))
        scores = jnp.where(jnp.arange(512) <= index, jnp.einsum("bhd,bhtd->bht", q, keys), -1e9)
        return jnp.einsum("bht,bhtd->bhd", jax.nn.softmax(scores), values)
    return Program(step, [f32(generator, 1, 8, 64), f32(generator, 1, 8, 512, 64), f32(generator, 1, 8, 512, 64), jnp.int32(100)])


@program
def embedding_gradient(generator, device):
    return Program(gradient(lambda table, rows, w: jnp.tanh(table[rows].mean(1) @ w)),
                   [f32(generator, 10000, 64), jnp.asarray(generator.integers(0, 10000, (64, 20))), f32(generator, 64, 32)])


@program
def adam_of_a_million(generator, device):
    def step(p, m, v, g):
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        return p - 1e-3 * m / (jnp.sqrt(v) + 1e-8), m, v
    return Program(step, [f32(generator, 1000000), f32(generator, 1000000), abs(f32(generator, 1000000)), f32(generator, 1000000)])


@program
def message_passing_gradient(generator, device):
    def network(nodes, weights, sources, targets):
        for _ in range(3):
            nodes = jax.nn.relu(jax.ops.segment_sum(nodes[sources], targets, 2000) @ weights)
        return nodes
    edges = [jnp.asarray(generator.integers(0, 2000, 20000)) for _ in range(2)]
    return Program(gradient(network, (0, 1)), [f32(generator, 2000, 32), 0.1 * f32(generator, 32, 32), *edges])


# --- simulations ---
@program
def heat_equation(generator, device):
    def step(_, u):
        return u + 0.1 * (jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) + jnp.roll(u, 1, 1) + jnp.roll(u, -1, 1) - 4 * u)
    return Program(lambda u: lax.fori_loop(0, 50, step, u), [f32(generator, 256, 256)])


@program
def spectral_diffusion(generator, device):
    k = np.fft.fftfreq(256) * 256
    decay = np.exp(-1e-4 * (k[:, None] ** 2 + k[None] ** 2)).astype(np.float32)
    step = lambda u, _: (jnp.fft.ifft2(jnp.fft.fft2(u) * decay).real, None)
    return Program(lambda u: lax.scan(step, u, None, length=5)[0], [f32(generator, 256, 256)])


@program
def lattice_boltzmann(generator, device):
    velocities = np.array([[0, 0], [1, 0], [0, 1], [-1, 0], [0, -1], [1, 1], [-1, 1], [-1, -1], [1, -1]], np.float32)
    weights = np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4, np.float32)

    def step(f, _):
        density = f.sum(-1)
        u = f @ velocities / density[..., None]
        along = u @ velocities.T
        settled = density[..., None] * weights * (1 + 3 * along + 4.5 * along**2 - 1.5 * (u**2).sum(-1, keepdims=True))
        f = f - 0.6 * (f - settled)
        return jnp.stack([jnp.roll(f[..., i], velocities[i].astype(int), (0, 1)) for i in range(9)], -1), None
    return Program(lambda f: lax.scan(step, f, None, length=10)[0], [1 + 0.01 * abs(f32(generator, 128, 64, 9))])


@program
def gravity_of_256(generator, device):
    def step(state, _):
        x, v = state
        d = x[:, None] - x[None]
        v = v - 0.01 * (d / ((d**2).sum(-1) + 0.01)[..., None] ** 1.5).sum(1)
        return (x + 0.01 * v, v), None
    return Program(lambda *state: lax.scan(step, state, None, length=10)[0], [f32(generator, 256, 3), f32(generator, 256, 3)])


@program
def lorenz_of_1000(generator, device):
    def rate(y):
        a, b, c = y[..., 0], y[..., 1], y[..., 2]
        return jnp.stack([10 * (b - a), a * (28 - c) - b, a * b - 8 / 3 * c], -1)

    def step(y, _):
        k1 = rate(y)
        k2 = rate(y + 0.005 * k1)
        k3 = rate(y + 0.005 * k2)
        return y + 0.01 / 6 * (k1 + 2 * k2 + 2 * k3 + rate(y + 0.01 * k3)), None
    return Program(lambda y: lax.scan(step, y, None, length=100)[0], [f32(generator, 1000, 3)])


@program
def gated_recurrent_scan(generator, device):
    weights = [0.3 * f32(generator, 16, 16) for _ in range(6)]

    def run(w, xs):
        def step(h, x):
            update, reset = jax.nn.sigmoid(x @ w[0] + h @ w[1]), jax.nn.sigmoid(x @ w[2] + h @ w[3])
            return (1 - update) * jnp.tanh(x @ w[4] + (reset * h) @ w[5]) + update * h, None
        return lax.scan(step, jnp.zeros(16), xs)[0]
    return Program(run, [weights, f32(generator, 100, 16)])


@program
def recurrent_gradient_of_128(generator, device):
    """Gated units on 16 sequences."""
    def loss(w, xs):
        def step(h, x):
            update, reset = jax.nn.sigmoid(x @ w[0] + h @ w[1]), jax.nn.sigmoid(x @ w[2] + h @ w[3])
            h = (1 - update) * h + update * jnp.tanh(x @ w[4] + (reset * h) @ w[5])
            return h, h
        return (lax.scan(step, jnp.zeros((16, 128)), xs)[1] ** 2).mean()
    return Program(jax.grad(loss), [[0.1 * f32(generator, 128, 128) for _ in range(6)], f32(generator, 50, 16, 128)])


@program
def training_of_a_tiny_network(generator, device):
    def loss(p, x, y):
        return ((jnp.tanh(x @ p[0] + p[1]) @ p[2] + p[3] - y) ** 2).mean()

    def run(p, x, y):
        def step(p, _):
            value, gradients = jax.value_and_grad(loss)(p, x, y)
            return jax.tree.map(lambda a, g: a - 0.05 * g, p, gradients), value
        return lax.scan(step, p, None, length=200)
    return Program(run, [[f32(generator, 4, 8), jnp.zeros(8), f32(generator, 8, 1), jnp.zeros(1)], f32(generator, 32, 4), f32(generator, 32, 1)])


@program
def extended_kalman_filter(generator, device):
    def motion(x):
        return jnp.stack([x[0] + 0.1 * x[2] * jnp.cos(x[3]), x[1] + 0.1 * x[2] * jnp.sin(x[3]), x[2], x[3] + 0.02])

    def sight(x):
        return jnp.stack([jnp.sqrt(x[0] ** 2 + x[1] ** 2 + 1e-3), jnp.arctan2(x[1], x[0] + 1e-3)])

    def step(state, seen):
        x, p = state
        f = jax.jacfwd(motion)(x)
        x, p = motion(x), f @ p @ f.T + 0.01 * jnp.eye(4)
        h = jax.jacfwd(sight)(x)
        gain = jnp.linalg.solve(h @ p @ h.T + 0.1 * jnp.eye(2), h @ p).T
        x, p = x + gain @ (seen - sight(x)), (jnp.eye(4) - gain @ h) @ p
        return (x, p), x
    return Program(lambda seen: lax.scan(step, (jnp.array([1.0, 1.0, 1.0, 0.0]), jnp.eye(4)), seen)[1], [f32(generator, 100, 2)])


@program
def game_of_life(generator, device):
    def step(board, _):
        near = sum(jnp.roll(board, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0))
        return ((near == 3) | ((board == 1) & (near == 2))).astype(jnp.int8), None
    return Program(lambda board: lax.scan(step, board, None, length=20)[0], [jnp.asarray(generator.integers(0, 2, (256, 256), np.int8))])


@program
def option_prices(generator, device):
    def price(key):
        steps = jax.random.normal(key, (100000, 12))
        paths = 100 * jnp.exp(jnp.cumsum(0.2 * np.sqrt(1 / 12) * steps - 0.02 / 12, 1))
        return jnp.maximum(paths.mean(1) - 100, 0).mean()
    return Program(price, [jax.random.PRNGKey(0)])


# --- linear algebra ---
@program
def gaussian_process_gradient(generator, device):
    def likelihood(scales, x, y):
        distances = ((x[:, None] - x[None]) ** 2).sum(-1)
        covariance = jnp.exp(scales[0] - 0.5 * distances / jnp.exp(scales[1])) + jnp.eye(len(x)) * (0.01 + jnp.exp(scales[2]))
        factor = jnp.linalg.cholesky(covariance)
        return 0.5 * y @ jsp.linalg.cho_solve((factor, True), y) + jnp.log(jnp.diag(factor)).sum()
    return Program(jax.grad(likelihood), [jnp.array([0.0, 0, -2]), f32(generator, 200, 4), f32(generator, 200)])


@program
def systems_of_6(generator, device):
    return Program(lambda a, b: jnp.linalg.solve(a @ a.swapaxes(-1, -2) + jnp.eye(6), b), [f32(generator, 500, 6, 6), f32(generator, 500, 6, 1)])


@program
def singular_values_100x80(generator, device):
    return Program(lambda a: jnp.linalg.svd(a), [f32(generator, 100, 80)])


@program
def orthogonal_factor_300x100(generator, device):
    return Program(lambda a: jnp.linalg.qr(a), [f32(generator, 300, 100)])


@program
def conjugate_gradients(generator, device):
    a = f32(generator, 100, 100)
    return Program(lambda a, b: jsp.sparse.linalg.cg(lambda x: a @ x, b, maxiter=30)[0], [a @ a.T + 100 * jnp.eye(100), f32(generator, 100)])


@program
def hessian_of_50(generator, device):
    return Program(jax.hessian(lambda x, a: (jnp.tanh(a @ x) ** 2).sum()), [f32(generator, 50), f32(generator, 80, 50)])


# --- statistics and data ---
@program
def k_means(generator, device):
    def step(centres, points):
        nearest = jnp.argmin(((points[:, None] - centres[None]) ** 2).sum(-1), 1)
        counts = jax.ops.segment_sum(jnp.ones(len(points)), nearest, 16)
        return jax.ops.segment_sum(points, nearest, 16) / jnp.maximum(counts, 1)[:, None]
    return Program(lambda centres, points: lax.fori_loop(0, 10, lambda _, c: step(c, points), centres), [f32(generator, 16, 8), f32(generator, 5000, 8)])


@program
def hidden_markov_gradient(generator, device):
    def likelihood(start, moves, seen):
        step = lambda a, x: (jsp.special.logsumexp(a[:, None] + moves, 0) + x, None)
        return jsp.special.logsumexp(lax.scan(step, start, seen)[0])
    return Program(jax.grad(likelihood, (0, 1)), [f32(generator, 20), f32(generator, 20, 20), f32(generator, 100, 20)])


@program
def particle_filter(generator, device):
    def step(state, seen):
        particles, key = state
        key, move, draw = jax.random.split(key, 3)
        particles = particles + 0.1 * jax.random.normal(move, particles.shape)
        weights = jax.nn.softmax(-0.5 * (particles - seen) ** 2)
        places = (jnp.arange(200) + jax.random.uniform(draw)) / 200
        chosen = jnp.searchsorted(jnp.cumsum(weights), places).clip(0, 199)
        return (particles[chosen], key), (weights * particles).sum()
    return Program(lambda seen, key: lax.scan(step, (jnp.zeros(200), key), seen)[1], [f32(generator, 50), jax.random.PRNGKey(0)])


@program
def boosted_trees(generator, device):
    """50 trees of depth 6."""
    def predict(features, bounds, leaves, x):
        def tree(feature, bound, leaf):
            node = jnp.zeros(len(x), jnp.int32)
            for _ in range(6):
                node = 2 * node + 1 + (x[jnp.arange(len(x)), feature[node]] > bound[node])
            return leaf[node - 63]
        return jax.vmap(tree)(features, bounds, leaves).sum(0)
    return Program(predict, [jnp.asarray(generator.integers(0, 8, (50, 63)).astype(np.int32)), f32(generator, 50, 63), f32(generator, 50, 64), f32(generator, 500, 8)])


@program
def sinkhorn(generator, device):
    def step(state, cost):
        u = -jsp.special.logsumexp(state[1][None] - cost, 1)
        return u, -jsp.special.logsumexp(u[:, None] - cost, 0)
    return Program(lambda cost: lax.fori_loop(0, 50, lambda _, s: step(s, cost), (jnp.zeros(100), jnp.zeros(100))), [abs(f32(generator, 100, 100))])


@program
def edit_distance(generator, device):
    def distance(a, b):
        def row(above, letter):
            def cell(left, x):
                least = jnp.minimum(jnp.minimum(left, x[0]) + 1, x[1] + (letter != x[2]))
                return least, least
            return jnp.concatenate([above[:1] + 1, lax.scan(cell, above[0] + 1, (above[1:], above[:-1], b))[1]]), None
        return lax.scan(row, jnp.arange(65), a)[0][-1]
    return Program(distance, [jnp.asarray(generator.integers(0, 4, 64)) for _ in range(2)])


@program
def sort_and_search(generator, device):
    return Program(lambda x: (jnp.sort(x), jnp.argsort(x), jnp.searchsorted(jnp.sort(x), x)), [f32(generator, 50000)])


@program
def quantiles(generator, device):
    return Program(lambda x: (jnp.median(x, 0), jnp.quantile(x, jnp.array([0.1, 0.9]), axis=0)), [f32(generator, 1000, 100)])


@program
def histogram(generator, device):
    return Program(lambda x: jnp.histogram(x, 50)[0], [f32(generator, 100000)])


@program
def moments(generator, device):
    return Program(lambda x: (x.var(0), x.std(0), x.mean(1)), [f32(generator, 1000, 1000)])


@program
def interpolation(generator, device):
    return Program(jnp.interp, [f32(generator, 10000), jnp.sort(f32(generator, 500)), f32(generator, 500)])


@program
def image_coordinates(generator, device):
    return Program(lambda image, at: jsp.ndimage.map_coordinates(image, list(at), order=1), [f32(generator, 256, 256), 100 * abs(f32(generator, 2, 256, 256))])


@program
def blur(generator, device):
    return Program(lambda image, kernel: jsp.signal.convolve2d(image, kernel, mode="same"), [f32(generator, 256, 256), f32(generator, 9, 9)])


@program
def running_sums(generator, device):
    return Program(lambda x: (jnp.cumsum(x, 1), lax.cumlogsumexp(x, 1), lax.cummax(x, 1)), [f32(generator, 200, 1000)])


@program
def special_functions(generator, device):
    return Program(lambda x: (jsp.special.gammaln(x), jsp.special.digamma(x), jsp.special.erfinv(x / 10), jsp.special.i0e(x)), [abs(f32(generator, 50000)) + 0.1])


@program
def integer_product(generator, device):
    a, b = (jnp.asarray(generator.integers(-100, 100, shape, np.int8)) for shape in ((128, 512), (512, 512)))
    return Program(lambda a, b: lax.dot_general(a, b, (((1,), (0,)), ((), ())), preferred_element_type=jnp.int32), [a, b])


@program
def few_rows_product(generator, device):
    return Program(lambda x, w: x @ w, [f32(generator, 4, 4096), f32(generator, 4096, 1024)])


@program
def bf16_product(generator, device):
    return Program(lambda x, w: x @ w, [f32(generator, 16, 2048).astype(jnp.bfloat16), f32(generator, 2048, 2048).astype(jnp.bfloat16)])


@program
def complex_product(generator, device):
    return Program(lambda a, b: a @ b, [lax.complex(f32(generator, 200, 200), f32(generator, 200, 200)) for _ in range(2)])
