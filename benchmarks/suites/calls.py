"""What calls from Python cost, and programs of many small operations: the suite "calls" of benchmarks/compare.py."""

import pathlib
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax_programs import Program, Transfer, f32, program

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
sys.path[:0] = [str(EXAMPLES / "digits"), str(EXAMPLES)]


# --- dispatch ---
@program
def scalar_add(generator, device):
    return Program(lambda x: x + 1, [jnp.float32(1)])


@program
def donation_of_1000(generator, device):
    return Program(lambda x: (x + 1,), [jnp.ones(1000)], threaded=1)


@program
def twenty_arguments(generator, device):
    return Program(lambda *args: [x + 1 for x in args], [jnp.full(10, float(i)) for i in range(20)])


@program
def device_put_100(generator, device):
    given = np.ones(100, np.float32)
    return Transfer(lambda: jax.device_put(given, device))


@program
def device_put_1m(generator, device):
    given = np.ones(1 << 20, np.float32)
    return Transfer(lambda: jax.device_put(given, device))


# --- programs of many small operations ---
@program
def scan_f64_3x3(generator, device):
    def step(state, turn):
        return turn @ state @ turn.T + 0.1 * state, jnp.trace(state)
    turns = jnp.asarray(generator.standard_normal((200, 3, 3)) * 0.3)
    return Program(lambda state, turns: lax.scan(step, state, turns), [jnp.eye(3, dtype=jnp.float64), turns])


@program
def gradient_of_60_scalars(generator, device):
    def loss(leaves, x):
        for i in range(0, 60, 3):
            x = jnp.tanh(leaves[i] * x + leaves[i + 1]) * leaves[i + 2]
        return x.sum()
    return Program(jax.grad(loss), [[jnp.float32(v) for v in generator.standard_normal(60)], jnp.ones(8)])


@program
def kinematic_tree_gradient(generator, device):
    """The position of the last of 12 joints, each turned against the one before it."""
    def last_position(angles, lengths):
        position, frame = jnp.zeros(3), jnp.eye(3)
        for i in range(12):
            c, s = jnp.cos(angles[i]), jnp.sin(angles[i])
            turn = jnp.stack([jnp.stack([c, -s, 0 * c]), jnp.stack([s, c, 0 * c]), jnp.array([0, 0, 1.0])])
            frame = frame @ jnp.roll(turn, i % 3, (0, 1))
            position = position + frame @ lengths[i]
        return (position ** 2).sum()
    return Program(jax.grad(last_position, argnums=(0, 1)), [f32(generator, 12), f32(generator, 12, 3)])


@program
def n_body_scan(generator, device):
    def step(state, _):
        x, v = state
        d = x[:, None] - x[None]
        a = -(d / ((d ** 2).sum(-1, keepdims=True) + 0.01) ** 1.5).sum(1)
        v = v + 0.01 * a
        return (x + 0.01 * v, v), None
    return Program(lambda x, v: lax.scan(step, (x, v), None, length=100)[0], [f32(generator, 8, 3), f32(generator, 8, 3)])


@program
def hodgkin_huxley_gradient(generator, device):
    def rates(v):
        a = jnp.stack([0.1 * (v + 40.01) / (1 - jnp.exp(-(v + 40.01) / 10)), 0.07 * jnp.exp(-(v + 65) / 20), 0.01 * (v + 55.01) / (1 - jnp.exp(-(v + 55.01) / 10))])
        b = jnp.stack([4 * jnp.exp(-(v + 65) / 18), 1 / (1 + jnp.exp(-(v + 35) / 10)), 0.125 * jnp.exp(-(v + 65) / 80)])
        return a, b

    def loss(conductances, current):
        def step(state, _):
            v, gates = state
            m, h, n = gates
            flow = conductances[0] * m ** 3 * h * (v - 50) + conductances[1] * n ** 4 * (v + 77) + conductances[2] * (v + 54.4)
            a, b = rates(v)
            return (v + 0.01 * (current - flow), gates + 0.01 * (a * (1 - gates) - b * gates)), v
        _, voltages = lax.scan(step, (jnp.float32(-65), jnp.array([0.05, 0.6, 0.32])), None, length=200)
        return (voltages ** 2).mean()
    return Program(jax.grad(loss), [jnp.array([120.0, 36.0, 0.3]), jnp.float32(10)])


@program
def runge_kutta_adaptive(generator, device):
    """Bogacki and Shampine's method with steps of its own choice, on the equation of van der Pol."""
    def field(y):
        return jnp.stack([y[1], 5 * (1 - y[0] ** 2) * y[1] - y[0]])

    def step(state):
        t, y, h = state
        k1 = field(y)
        k2 = field(y + h * k1 / 2)
        k3 = field(y + h * k2 * 3 / 4)
        new = y + h * (2 * k1 + 3 * k2 + 4 * k3) / 9
        k4 = field(new)
        error = jnp.sqrt(jnp.mean((h * (-5 * k1 / 72 + k2 / 12 + k3 / 9 - k4 / 8) / (1e-6 + 1e-4 * jnp.abs(new))) ** 2))
        good = error <= 1
        factor = jnp.clip(0.9 * error ** (-1 / 3), 0.2, 5)
        return jnp.where(good, t + h, t), jnp.where(good, new, y), jnp.minimum(h * factor, 10.0 - t + 1e-6)
    return Program(lambda y: lax.while_loop(lambda s: s[0] < 10, step, (jnp.float32(0), y, jnp.float32(0.01)))[1], [jnp.array([2.0, 0.0])])


@program
def adam_step_40_leaves(generator, device):
    def update(leaves, m, v, count):
        count = count + 1
        g = jax.grad(lambda ls: sum((x ** 2).sum() for x in ls))(leaves)
        m = [0.9 * a + 0.1 * b for a, b in zip(m, g)]
        v = [0.999 * a + 0.001 * b * b for a, b in zip(v, g)]
        scale = 1e-3 * jnp.sqrt(1 - 0.999 ** count) / (1 - 0.9 ** count)
        return [x - scale * a / (jnp.sqrt(b) + 1e-8) for x, a, b in zip(leaves, m, v)], m, v, count
    leaves = [f32(generator, 16, 16) for _ in range(40)]
    return Program(update, [leaves, [x * 0 for x in leaves], [x * 0 for x in leaves], jnp.float32(0)], threaded=4)


@program
def mlp_step_4x8x8(generator, device):
    def loss(layers, x, y):
        for w in layers:
            x = jnp.tanh(x @ w)
        return ((x - y) ** 2).mean()
    layers = [0.5 * jnp.eye(8) for _ in range(4)]
    return Program(lambda layers, x, y: [w - 0.1 * g for w, g in zip(layers, jax.grad(loss)(layers, x, y))], [layers, jnp.ones((8, 8)), jnp.zeros((8, 8))])


@program
def metropolis_chain(generator, device):
    def step(state, key):
        x, energy = state
        a, b = jax.random.split(key)
        new = x + 0.3 * jax.random.normal(a, x.shape)
        new_energy = (new ** 2).sum() + jnp.cos(3 * new).sum()
        take = jnp.log(jax.random.uniform(b)) < energy - new_energy
        return (jnp.where(take, new, x), jnp.where(take, new_energy, energy)), x[0]
    return Program(lambda x, key: lax.scan(step, (x, jnp.float32(0)), jax.random.split(key, 200))[1].mean(), [f32(generator, 4), jax.random.key(0)])


@program
def stiff_implicit_euler(generator, device):
    """Robertson's kinetics and a fourth species, three steps of Newton's method each."""
    def field(y):
        a, b, c = 0.04 * y[0], 1e4 * y[1] * y[2], 3e7 * y[1] ** 2
        return jnp.stack([b - a, a - b - c, c - 0.1 * y[2], 0.1 * y[2]])

    def step(y, h):
        def newton(_, new):
            return new - jnp.linalg.solve(jnp.eye(4) - h * jax.jacfwd(field)(new), new - y - h * field(new))
        new = lax.fori_loop(0, 3, newton, y)
        return new, new[1]
    return Program(lambda y: lax.scan(step, y, jnp.geomspace(1e-5, 1e-1, 100)), [jnp.array([1.0, 0, 0, 0])])


@program
def leapfrog_64_bodies_gradient(generator, device):
    def force(x):
        d = x[None] - x[:, None]
        return (d * ((d ** 2).sum(-1, keepdims=True) + 0.1) ** -1.5).mean(1)

    def energy(x, v):
        def step(state, _):
            x, v = state
            v = v + 0.005 * force(x)
            x = x + 0.01 * v
            return (x, v + 0.005 * force(x)), None
        x, v = lax.scan(step, (x, v), None, length=10)[0]
        return (v ** 2).sum() + (x ** 2).sum()
    return Program(jax.grad(energy, argnums=(0, 1)), [f32(generator, 64, 3), f32(generator, 64, 3)])


@program
def roots_of_32(generator, device):
    """Newton's method, each root to its own precision."""
    def root(c):
        def f(x):
            return x ** 3 - 2 * x - c + jnp.exp(-x)
        return lax.while_loop(lambda s: (jnp.abs(f(s[0])) > 1e-5) & (s[1] < 50), lambda s: (s[0] - f(s[0]) / jax.grad(f)(s[0]), s[1] + 1), (c, 0))[0]
    return Program(jax.vmap(root), [jnp.linspace(3.0, 30.0, 32)])


@program
def kalman_filter(generator, device):
    move, see = jnp.eye(4) + 0.1 * jnp.eye(4, k=2), jnp.eye(2, 4)

    def step(state, z):
        x, p = state
        x, p = move @ x, move @ p @ move.T + 0.01 * jnp.eye(4)
        gain = jnp.linalg.solve(see @ p @ see.T + 0.1 * jnp.eye(2), see @ p).T
        x = x + gain @ (z - see @ x)
        return (x, (jnp.eye(4) - gain @ see) @ p), x
    return Program(lambda zs: lax.scan(step, (jnp.zeros(4), jnp.eye(4)), zs)[1], [f32(generator, 200, 2)])


def lstm(weights, xs):
    w, u, b = weights

    def cell(state, x):
        h, c = state
        i, f, g, o = jnp.split(x @ w + h @ u + b, 4)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h
    return lax.scan(cell, (jnp.zeros(16), jnp.zeros(16)), xs)[1]


@program
def lstm_scan(generator, device):
    return Program(lstm, [(0.3 * f32(generator, 8, 64), 0.3 * f32(generator, 16, 64), jnp.zeros(64)), f32(generator, 100, 8)])


@program
def lstm_gradient(generator, device):
    loss = jax.grad(lambda weights, xs: (lstm(weights, xs) ** 2).sum())
    return Program(loss, [(0.3 * f32(generator, 8, 64), 0.3 * f32(generator, 16, 64), jnp.zeros(64)), f32(generator, 100, 8)])


@program
def expression_tree_gradient(generator, device):
    """Fifty operations, most of them on two of those before."""
    unary = [jnp.sin, jnp.tanh, jnp.square, jax.nn.softplus, jnp.arctan]
    binary = [jnp.add, jnp.multiply, jnp.maximum, jnp.hypot, lambda a, b: a / (1 + b * b)]

    def tree(leaves):
        values = list(leaves)
        for i in range(50):
            a, b = values[(7 * i) % len(values)], values[-1]
            values.append(unary[i // 2 % 5](b) if i % 2 else binary[i // 2 % 5](a, b))
        return values[-1].sum()
    return Program(jax.grad(tree), [[f32(generator, 5) for _ in range(4)]])


@program
def mandelbrot(generator, device):
    def escape(c):
        def step(_, state):
            z, count = state
            inside = jnp.abs(z) <= 2
            return jnp.where(inside, z * z + c, z), count + inside
        return lax.fori_loop(0, 50, step, (jnp.zeros_like(c), jnp.zeros(c.shape, jnp.int32)))[1]
    plane = jnp.linspace(-2, 0.5, 48)[None] + 1j * jnp.linspace(-1.2, 1.2, 32)[:, None]
    return Program(escape, [plane.astype(jnp.complex64)])


@program
def linear_recurrence_scan(generator, device):
    """associative_scan of x = a x + b."""
    def combine(left, right):
        return left[0] * right[0], left[1] * right[0] + right[1]
    return Program(lambda a, b: lax.associative_scan(combine, (a, b))[1], [0.9 + 0.01 * f32(generator, 256, 4), f32(generator, 256, 4)])


# --- larger ones ---
@program
def digits_step(generator, device):
    import train

    x, y = f32(generator, train.BATCH, 64), jnp.asarray(generator.integers(0, 10, train.BATCH).astype(np.int32))

    def step(opt, *rest):
        loss, *state = train.train_step(x, y, opt, *rest)
        return (*state, loss)
    return Program(step, list(train.initial_state(generator)), threaded=len(train.initial_state(generator)))


@program
def attention_gradient(generator, device):
    def loss(w, x):
        q, k, v = (x @ w[i] for i in range(3))
        return (jax.nn.softmax(q @ k.swapaxes(-1, -2) / 8) @ v).sum()
    return Program(jax.grad(loss), [0.1 * f32(generator, 3, 64, 64), f32(generator, 4, 64, 64)])
