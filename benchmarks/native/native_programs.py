"""Loops of small things, as programs of JAX: native.cc has the same arithmetic by hand. PROGRAMS by name: (function, arguments)."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

PROGRAMS = {}


def program(make):
    PROGRAMS[make.__name__] = make
    return make


def f32(generator, *shape, scale=1.0):
    return (scale * generator.standard_normal(shape)).astype(np.float32)


@program
def lstm_steps(generator):
    """100 steps of an LSTM of width 32."""
    def run(inputs, weights, recurrent, bias):
        def step(state, x):
            h, c = state
            gates = x @ weights + h @ recurrent + bias
            i, f, g, o = jnp.split(gates, 4)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            return (jax.nn.sigmoid(o) * jnp.tanh(c), c), None
        return lax.scan(step, (jnp.zeros(32), jnp.zeros(32)), inputs)[0]
    return run, [f32(generator, 100, 32), f32(generator, 32, 128, scale=0.2), f32(generator, 32, 128, scale=0.2), f32(generator, 128)]


@program
def runge_kutta(generator):
    """1,000 steps of the Lorenz system by the classical Runge-Kutta method."""
    def rate(y):
        return jnp.stack([10 * (y[1] - y[0]), y[0] * (28 - y[2]) - y[1], y[0] * y[1] - jnp.float32(8 / 3) * y[2]])

    def run(y):
        def step(_, y):
            k1 = rate(y)
            k2 = rate(y + jnp.float32(0.0005) * k1)
            k3 = rate(y + jnp.float32(0.0005) * k2)
            k4 = rate(y + jnp.float32(0.001) * k3)
            return y + jnp.float32(0.001 / 6) * (k1 + 2 * k2 + 2 * k3 + k4)
        return lax.fori_loop(0, 1000, step, y)
    return run, [f32(generator, 3)]


@program
def kalman_filter(generator):
    """200 steps of a filter with 4 states and 2 measurements; the inverse of the 2 x 2 matrix is written out."""
    def run(z, a, h, q, r):
        def step(state, z):
            x, p = state
            x, p = a @ x, a @ p @ a.T + q
            s = h @ p @ h.T + r
            det = s[0, 0] * s[1, 1] - s[0, 1] * s[1, 0]
            inverse = jnp.array([[s[1, 1], -s[0, 1]], [-s[1, 0], s[0, 0]]]) / det
            k = p @ h.T @ inverse
            return (x + k @ (z - h @ x), p - k @ h @ p), None
        return lax.scan(step, (jnp.zeros(4), jnp.eye(4)), z)[0]
    a = np.eye(4, dtype=np.float32)
    a[0, 2] = a[1, 3] = 0.1
    return run, [f32(generator, 200, 2), a, np.eye(2, 4, dtype=np.float32), 0.01 * np.eye(4, dtype=np.float32), 0.1 * np.eye(2, dtype=np.float32)]


@program
def n_body(generator):
    """10 leapfrog steps of 64 bodies."""
    def run(position, velocity, mass):
        def step(_, state):
            position, velocity = state
            d = [position[k][None, :] - position[k][:, None] for k in range(3)]
            squared = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + jnp.float32(0.01)
            force = mass[None, :] / (squared * jnp.sqrt(squared))
            acceleration = jnp.stack([(force * d[k]).sum(1) for k in range(3)])
            velocity = velocity + jnp.float32(0.01) * acceleration
            return position + jnp.float32(0.01) * velocity, velocity
        return lax.fori_loop(0, 10, step, (position, velocity))
    return run, [f32(generator, 3, 64), f32(generator, 3, 64), np.abs(f32(generator, 64))]


@program
def edit_distance(generator):
    """Of two words of 64 letters, cell by cell."""
    def run(a, b):
        def row(previous, pair):
            letter, number = pair

            def cell(left, column):
                above_left, above, other = column
                here = jnp.minimum(jnp.minimum(left, above) + 1, above_left + (letter != other).astype(jnp.int32))
                return here, here
            _, cells = lax.scan(cell, number, (previous[:-1], previous[1:], b))
            return jnp.concatenate([number[None], cells]), None
        first = jnp.arange(65, dtype=jnp.int32)
        return lax.scan(row, first, (a, jnp.arange(1, 65, dtype=jnp.int32)))[0][-1]
    return run, [generator.integers(0, 4, 64).astype(np.int32), generator.integers(0, 4, 64).astype(np.int32)]


@program
def scalar_gradient(generator):
    """The gradient of a chain of 20 layers on 8 numbers in its 60 scalars."""
    def loss(leaves, x):
        for i in range(0, 60, 3):
            x = jnp.tanh(leaves[i] * x + leaves[i + 1]) * leaves[i + 2]
        return x.sum()
    return lambda leaves, x: jnp.stack(jax.grad(loss)([leaves[i] for i in range(60)], x)), [f32(generator, 60), f32(generator, 8)]


@program
def table_walk(generator):
    """A walk through a table until it comes to a multiple of 4,093: data decide on every step."""
    def run(table, start):
        def more(state):
            at, count, _ = state
            return (table[at] % 4093 != 0) & (count < 100000)

        def step(state):
            at, count, total = state
            value = table[at]
            return (at + value) % 1024, count + 1, total ^ (value * count)
        return lax.while_loop(more, step, (start, jnp.int32(0), jnp.int32(0)))
    table = generator.integers(1, 1 << 20, 1024).astype(np.int32)
    table[table % 4093 == 0] += 1
    return run, [table, np.int32(5)]


@program
def mandelbrot(generator):
    """50 iterations at 64 x 64 points."""
    def run(cr, ci):
        def step(_, state):
            r, i, count = state
            r2, i2 = r * r, i * i
            inside = r2 + i2 <= 4
            return jnp.where(inside, r2 - i2 + cr, r), jnp.where(inside, 2 * r * i + ci, i), count + inside.astype(jnp.int32)
        return lax.fori_loop(0, 50, step, (jnp.zeros((64, 64)), jnp.zeros((64, 64)), jnp.zeros((64, 64), jnp.int32)))[2]
    r, i = np.meshgrid(np.linspace(-2, 1, 64), np.linspace(-1.5, 1.5, 64))
    return run, [r.astype(np.float32), i.astype(np.float32)]


@program
def metropolis(generator):
    """A chain of 100,000 steps on a density with two peaks, with random numbers of a 32-bit shift register."""
    def shuffled(seed):
        seed = seed ^ (seed << 13)
        seed = seed ^ (seed >> 17)
        return seed ^ (seed << 5)

    def uniform(seed):
        return (seed >> 8).astype(jnp.float32) * jnp.float32(2.0 ** -24)

    def density(x):
        return jnp.exp(-(x - 2) * (x - 2)) + jnp.exp(-(x + 2) * (x + 2) * jnp.float32(0.5))

    def run(seed, x):
        def step(_, state):
            seed, x, at, total = state
            first = shuffled(seed)
            second = shuffled(first)
            proposal = x + (uniform(first) - jnp.float32(0.5)) * 3
            there = density(proposal)
            accepted = uniform(second) * at < there
            x, at = jnp.where(accepted, proposal, x), jnp.where(accepted, there, at)
            return second, x, at, total + x
        return lax.fori_loop(0, 100_000, step, (seed, x, density(x), jnp.float32(0)))
    return run, [np.uint32(12345), np.float32(0.3)]


@program
def implicit_euler(generator):
    """100 steps of Robertson's reaction, with 3 Newton iterations each; the 3 x 3 systems by Cramer's rule."""
    def run(y):
        h = jnp.float32(0.01)

        def newton(_, state):
            y, old = state
            a, b, c = y
            reaction, fast = jnp.float32(0.04) * a, jnp.float32(1e4) * b * c
            slow = jnp.float32(3e7) * b * b
            f0 = a - old[0] - h * (fast - reaction)
            f1 = b - old[1] - h * (reaction - fast - slow)
            f2 = c - old[2] - h * slow
            j00, j01, j02 = 1 + h * jnp.float32(0.04), -h * jnp.float32(1e4) * c, -h * jnp.float32(1e4) * b
            j10, j11, j12 = -h * jnp.float32(0.04), 1 + h * (jnp.float32(1e4) * c + jnp.float32(6e7) * b), h * jnp.float32(1e4) * b
            j21 = -h * jnp.float32(6e7) * b
            m00, m01, m02 = j11 - j12 * 0 - 0 * j21, j10 - 0 * j12, j10 * j21 - 0 * j11
            m00 = j11 - j12 * j21
            det = j00 * m00 - j01 * m01 + j02 * m02
            x0 = f0 * m00 - j01 * (f1 - j12 * f2) + j02 * (f1 * j21 - j11 * f2)
            x1 = j00 * (f1 - j12 * f2) - f0 * m01 + j02 * (j10 * f2)
            x2 = j00 * (j11 * f2 - f1 * j21) - j01 * (j10 * f2) + f0 * m02
            return (a - x0 / det, b - x1 / det, c - x2 / det), old

        def step(_, y):
            return lax.fori_loop(0, 3, newton, (y, y))[0]
        return lax.fori_loop(0, 100, step, (y[0], y[1], y[2]))
    return run, [np.array([1, 0, 0], np.float32)]
