"""What JAX does with arrays over several devices; jax_test.py runs these beside jax_features.py."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import NamedSharding, PartitionSpec as P

from jax_features import feature, mesh


def normal(*shape):
    return np.random.default_rng(shape).normal(size=shape).astype(np.float32)


def same(function, arguments, specs, results=None, m=None):
    """The function of sharded arguments gives what it gives of whole ones, its results cut as `results` say."""
    m = m or mesh(2, 2)
    whole = jax.jit(function)(*[jax.device_put(argument, NamedSharding(m, P())) for argument in arguments])
    cut = jax.jit(function)(*[jax.device_put(argument, NamedSharding(m, spec)) for argument, spec in zip(arguments, specs)])
    for ours, theirs in zip(jax.tree.leaves(cut), jax.tree.leaves(whole), strict=True):
        np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), rtol=2e-4, atol=1e-5)
    if results is not None:
        for result, spec in zip(jax.tree.leaves(cut), results, strict=True):
            assert result.sharding.is_equivalent_to(NamedSharding(m, spec), result.ndim), (result.sharding, spec)


@feature
def sharded_loops():
    """Loops are done on tiles, which the shardings of what they leave tell."""
    x, w = normal(4, 8, 4), normal(4, 4)

    def scan(x, w):
        return lax.scan(lambda c, t: (jnp.tanh(c @ w + t), c * 2), jnp.zeros((8, 4)), x)

    same(scan, [x, w], [P(None, "a"), P()], [P("a"), P(None, "a")])
    same(scan, [x, w], [P(None, "a"), P("a", "b")], [P("a"), P(None, "a")])
    same(jax.grad(lambda w, x: scan(x, w)[1].sum(), (0, 1)), [w, x], [P("b"), P(None, "a")])
    same(lambda x: lax.while_loop(lambda c: jnp.any(jnp.abs(c * c - 2) > 1e-4), lambda c: (c + 2 / c) / 2, x), [np.abs(x[0]) + 0.5], [P("a", "b")], [P("a", "b")])
    same(lambda x: lax.fori_loop(0, 3, lambda i, c: lax.fori_loop(0, i, lambda j, d: d * 0.5 + j, c).T, x), [normal(8, 8)], [P("a")])
    constrained = lambda x: lax.fori_loop(0, 3, lambda i, c: lax.with_sharding_constraint(jnp.sin(c), NamedSharding(mesh(2, 2), P("b", "a"))), x)
    same(constrained, [x[0]], [P("a")], [P("b", "a")])
    part = jax.shard_map(lambda c: c + lax.psum(c, "a") + lax.axis_index("a"), mesh=mesh(2, 2), in_specs=P("a"), out_specs=P("a"), check_vma=False)
    same(lambda x: lax.fori_loop(0, 3, lambda i, c: part(c) * 0.25, x), [x[0]], [P("a")], [P("a")])


@feature
def sharded_branches():
    x, y = normal(8, 4), normal(8, 4)
    choose = lambda x, y: lax.cond(x[0, 0] > 0, lambda x, y: (x * y, y.sum(0)), lambda x, y: (x - 1, y[0]), x, y)
    same(choose, [x, y], [P("a"), P("a")], [P("a"), P()])
    same(choose, [-x, y], [P("a", "b"), P("b")])
    same(jax.grad(lambda x, y: choose(x, y)[0].sum(), (0, 1)), [x, y], [P("a"), P("b")])
    same(lambda x, k: lax.switch(k, [lambda x: x.T @ x, lambda x: jnp.ones((4, 4)), lambda x: x[:4]], x), [x, np.int32(2)], [P("a", "b"), P()])


@feature
def callbacks_in_sharded_loops():
    seen = []

    def step(c, t):
        jax.debug.callback(lambda s: seen.append(float(s)), c.sum(), ordered=False)
        return c + t, None

    x = jax.device_put(np.ones((3, 8, 4), np.float32), NamedSharding(mesh(2, 2), P(None, "a", "b")))
    jax.block_until_ready(jax.jit(lambda x: lax.scan(step, jnp.zeros((8, 4)), x)[0])(x))
    jax.effects_barrier()
    assert seen == [0, 32, 64], seen
