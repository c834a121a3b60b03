"""Test programs from scientific computing: integrators, loops, and gradients through them."""

import jax
import jax.numpy as jnp
import numpy as np

from program import Program, normal


def nbody(position, velocity, mass, steps=20):
    """Leapfrog steps of bodies under softened gravity; returns the end and the energy at every step."""
    def acceleration(x):
        apart = x[None, :, :] - x[:, None, :]
        cube = (jnp.square(apart).sum(-1) + 0.01) ** -1.5
        return (apart * (mass[None, :] * cube)[:, :, None]).sum(1)

    def step(state, _):
        x, v = state
        v = v + 0.005 * acceleration(x)
        x = x + 0.01 * v
        v = v + 0.005 * acceleration(x)
        return (x, v), 0.5 * (mass * jnp.square(v).sum(-1)).sum()

    return jax.lax.scan(step, (position, velocity), None, length=steps)


def lorenz(start, tolerance):
    """Runge-Kutta with step doubling: a while loop whose step size adapts, with a conditional that accepts or shrinks."""
    def slope(s):
        x, y, z = s
        return jnp.stack([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z])

    def rk4(s, h):
        a = slope(s)
        b = slope(s + h / 2 * a)
        c = slope(s + h / 2 * b)
        return s + h / 6 * (a + 2 * b + 2 * c + slope(s + h * c))

    def body(carry):
        time, h, s, accepted, tried = carry
        once, twice = rk4(s, h), rk4(rk4(s, h / 2), h / 2)
        good = jnp.abs(once - twice).max() < tolerance
        take = lambda: (time + h, jnp.minimum(h * 1.5, 1 - (time + h)), twice, accepted + 1)
        time, h, s, accepted = jax.lax.cond(good, take, lambda: (time, h / 2, s, accepted))
        return time, h, s, accepted, tried + 1

    start = (jnp.zeros(()), jnp.full((), 0.1), start, 0, 0)
    return jax.lax.while_loop(lambda carry: (carry[0] < 1 - 1e-9) & (carry[4] < 1000), body, start)


def hodgkin_huxley(conductances, current):
    """Gradient, in three conductances, of the mean voltage of a nerve cell model over 200 Euler steps."""
    def mean_voltage(conductances):
        sodium, potassium, leak = conductances

        def step(state, drive):
            v, n, m, h = state
            flow = sodium * m**3 * h * (v - 50) + potassium * n**4 * (v + 77) + leak * (v + 54.4)
            an, bn = 0.01 * (v + 55.1) / (1 - jnp.exp(-(v + 55.1) / 10)), 0.125 * jnp.exp(-(v + 65) / 80)
            am, bm = 0.1 * (v + 40.1) / (1 - jnp.exp(-(v + 40.1) / 10)), 4 * jnp.exp(-(v + 65) / 18)
            ah, bh = 0.07 * jnp.exp(-(v + 65) / 20), 1 / (1 + jnp.exp(-(v + 35) / 10))
            gate = lambda x, a, b: x + 0.01 * (a * (1 - x) - b * x)
            return (v + 0.01 * (drive - flow), gate(n, an, bn), gate(m, am, bm), gate(h, ah, bh)), v

        start = tuple(jnp.full((), value, current.dtype) for value in (-65.0, 0.32, 0.05, 0.6))
        return jax.lax.scan(step, start, current)[1].mean()

    return jax.value_and_grad(mean_voltage)(conductances)


def matrix_scan(matrices, start):
    """Running products of 3x3 matrices, each made a rotation again by one Newton step."""
    def step(state, matrix):
        state = state @ matrix
        state = 1.5 * state - 0.5 * state @ state.T @ state
        return state, jnp.trace(state)

    return jax.lax.scan(step, start, matrices)


def scalar_leaves(leaves, drive):
    """Gradient through a scan whose parameters and state are 60 separate scalars."""
    def loss(leaves):
        def step(state, x):
            state = [s + 0.1 * (jnp.tanh(w * x + t) - s) for s, t, w in zip(state, state[1:] + state[:1], leaves)]
            return state, None

        return sum(s * s for s in jax.lax.scan(step, [jnp.zeros(()) for _ in leaves], drive)[0])

    return jax.value_and_grad(loss)(leaves)


def kinematic_tree(angles, lengths):
    """Gradient of the hands' distance from a target, down a tree of 15 joints in space."""
    def distance(angles, lengths):
        placed = []
        for joint in range(15):
            a, b = angles[joint]
            turn_z = jnp.array([[jnp.cos(a), -jnp.sin(a), 0.0], [jnp.sin(a), jnp.cos(a), 0.0], [0.0, 0.0, 1.0]])
            turn_x = jnp.array([[1.0, 0.0, 0.0], [0.0, jnp.cos(b), -jnp.sin(b)], [0.0, jnp.sin(b), jnp.cos(b)]])
            rotation, origin = placed[(joint - 1) // 2] if joint else (jnp.eye(3), jnp.zeros(3))
            rotation = rotation @ turn_z @ turn_x
            placed.append((rotation, origin + rotation @ jnp.array([0.0, 0.0, 1.0]) * lengths[joint]))
        hands = jnp.stack([origin for _, origin in placed[7:]])
        return jnp.sqrt(jnp.square(hands - jnp.array([1.0, 2.0, 3.0])).sum(-1)).sum()

    return jax.value_and_grad(distance, argnums=(0, 1))(angles, lengths)


def collatz(starts):
    """Loops inside a mapped loop, with a conditional of two and a switch of four branches."""
    def length(n):
        def body(carry):
            n, steps, peak = carry
            n = jax.lax.cond(n % 2 == 0, lambda n: n // 2, lambda n: 3 * n + 1, n)
            return n, steps + 1, jnp.maximum(peak, n)

        n, steps, peak = jax.lax.while_loop(lambda carry: carry[0] != 1, body, (n, jnp.int32(0), n))
        branches = [lambda s: s, lambda s: -s, lambda s: s * s, lambda s: s // 2]
        return steps, peak, jax.lax.switch(steps % 5, branches, steps)

    return jax.lax.map(length, starts)


def ring_buffer(samples, weights):
    """A filter over the last eight samples, kept in a buffer that is written and read at a moving place in a loop."""
    def body(index, carry):
        buffer, outputs = carry
        buffer = jax.lax.dynamic_update_slice(buffer, samples[index][None], (index % 8,))
        recent = jnp.roll(jax.lax.dynamic_slice(jnp.concatenate([buffer, buffer]), (index % 8 + 1,), (8,)), 1)
        return buffer, outputs.at[index].set(recent @ weights)

    return jax.lax.fori_loop(0, samples.shape[0], body, (jnp.zeros(8), jnp.zeros_like(samples)))


def roll_stencil(grid):
    """Five diffusion steps on a periodic grid, then one with fixed borders through slices and pad."""
    for _ in range(5):
        neighbours = sum(jnp.roll(grid, shift, axis) for axis in (0, 1) for shift in (1, -1))
        grid = grid + 0.2 * (neighbours - 4 * grid)
    inner = grid[1:-1, 1:-1] + 0.2 * (grid[2:, 1:-1] + grid[:-2, 1:-1] + grid[1:-1, 2:] + grid[1:-1, :-2] - 4 * grid[1:-1, 1:-1])
    return jnp.pad(inner, 1, constant_values=-1.0), grid[::-1, ::2]


def rotations(seed, count):
    matrices, _ = np.linalg.qr(normal(seed, count, 3, 3, dtype=np.float64))
    return matrices


def pair_forces(position, mass, box):
    """Gravity and a soft repulsion in a periodic box, of every pair of bodies, and their potential."""
    def energy(x):
        apart = x[:, None] - x[None]
        apart = apart - box * jnp.round(apart / box)
        itself = jnp.eye(x.shape[0], dtype=bool)
        square = jnp.where(itself, 1.0, jnp.square(apart).sum(-1) + 0.05)
        pull = -mass[:, None] * mass[None] / jnp.sqrt(square)
        return 0.5 * jnp.where(itself, 0.0, pull + 0.01 / square**3).sum()

    return jax.value_and_grad(energy)(position)


def chamfer_distance(left, right):
    """The mean of squared distances to the nearest point of another cloud, both ways, and its gradients."""
    def distance(left, right):
        square = jnp.square(left[:, None] - right[None]).sum(-1)
        return square.min(1).mean() + square.min(0).mean()

    return jax.value_and_grad(distance, argnums=(0, 1))(left, right)


def random_steps(key, start):
    """Normal and uniform numbers of two keys, whose bits come of a loop of few iterations, added to a state."""
    first, second = jax.random.split(key)
    return start + jax.random.normal(first, start.shape) * jax.random.uniform(second, start.shape)


F64 = ("f64 1e-13 relative",)
PROGRAMS = [
    Program("nbody_leapfrog", "Twelve bodies under gravity, 20 leapfrog steps in a scan.", nbody,
            (normal(0, 12, 3, dtype=np.float64), normal(1, 12, 3, scale=0.1, dtype=np.float64),
             np.abs(normal(2, 12, dtype=np.float64))), F64, x64=True),
    Program("lorenz_adaptive", "The Lorenz system with adaptive Runge-Kutta steps in a while loop.", lorenz,
            (np.array([1.0, 1.0, 1.0]), np.float64(1e-6)), ("f64 1e-12 relative",), form="full", x64=True),
    Program("hodgkin_huxley_gradient", "Gradient of a nerve cell model through 200 steps.", hodgkin_huxley,
            ((np.float64(120), np.float64(36), np.float64(0.3)), np.linspace(0, 20, 200)), ("f64 1e-12 relative",), x64=True),
    Program("matrix_scan", "A scan over 3x3 matrices of doubles.", matrix_scan, (rotations(0, 50), np.eye(3)), F64, x64=True),
    Program("scalar_leaves_gradient", "Gradient through a scan with 60 scalar parameters.", scalar_leaves,
            ([np.float64(w) for w in normal(0, 60)], normal(1, 25, dtype=np.float64)), ("f64 1e-11 relative",), x64=True),
    Program("kinematic_tree_gradient", "Gradient through a tree of joints: thousands of tiny operations.", kinematic_tree,
            (normal(0, 15, 2, dtype=np.float64), np.abs(normal(1, 15, dtype=np.float64))), F64, x64=True),
    Program("collatz", "While loops, conditionals and a switch inside a mapped loop.", collatz,
            (np.array([1, 2, 3, 7, 27, 97, 871, 1000], np.int32),), (), form="full"),
    Program("ring_buffer", "A moving window kept by dynamic slices and updates in a loop.", ring_buffer, (normal(0, 40), normal(1, 8))),
    Program("pair_forces", "Forces of every pair of bodies in a periodic box.", pair_forces,
            (normal(0, 150, 3, scale=4), np.abs(normal(1, 150)), np.float32(7)), ("f32 2e-5 relative",), form="full"),
    Program("chamfer_distance", "Distances between two clouds of points, and their gradients.", chamfer_distance,
            (normal(0, 161, 3), normal(1, 130, 3)), ("f32 2e-6 relative",), form="full"),
    Program("random_steps", "Random numbers, as a loop of few iterations computes them.", random_steps,
            (np.array([3, 4], np.uint32), normal(0, 67, 65)), ("f32 2e-6 relative",), form="full"),
    Program("roll_stencil", "Diffusion on a grid by rolls, slices and pads.", roll_stencil, (normal(0, 17, 24, dtype=np.float64),), F64, x64=True),
]
