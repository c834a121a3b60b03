"""What JAX does with arrays over several devices; jax_test.py runs these beside jax_features.py."""

import importlib.util
import os
import subprocess
import sys

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
    same(scan, [x, w], [P(None, "a"), P("a", "b")], [P("a", "b"), P(None, "a", "b")])
    same(jax.grad(lambda w, x: scan(x, w)[1].sum(), (0, 1)), [w, x], [P("b"), P(None, "a")])
    same(lambda x: lax.while_loop(lambda c: jnp.any(jnp.abs(c * c - 2) > 1e-4), lambda c: (c + 2 / c) / 2, x), [np.abs(x[0]) + 0.5], [P("a", "b")], [P("a", "b")])
    same(lambda x: lax.fori_loop(0, 3, lambda i, c: lax.fori_loop(0, i, lambda j, d: d * 0.5 + j, c).T, x), [normal(8, 8)], [P("a")])
    constrained = lambda x: lax.fori_loop(0, 3, lambda i, c: lax.with_sharding_constraint(jnp.sin(c), NamedSharding(mesh(2, 2), P("b", "a"))), x)
    same(constrained, [x[0]], [P("a")], [P("b", "a")])
    part = jax.shard_map(lambda c: c + lax.psum(c, "a") + lax.axis_index("a"), mesh=mesh(2, 2), in_specs=P("a"), out_specs=P("a"), check_vma=False)
    same(lambda x: lax.fori_loop(0, 3, lambda i, c: part(c) * 0.25, x), [x[0]], [P("a")], [P("a")])


@feature
def donated_and_returned():
    """What is given up is a result, in its own position or in another's, on one device and on several."""
    m = mesh(4)
    cut, whole = NamedSharding(m, P("a")), NamedSharding(m, P())
    functions = [lambda x, y: x, lambda x, y: (x, y), lambda x, y: (y, x), lambda x, y: (x, x), lambda x, y: (x, x.at[0].set(1), -x),
                 lambda x, y: lax.cond(x[0, 0] > 0, lambda: (x, y), lambda: (y, x)), lambda x, y: lax.fori_loop(0, 3, lambda i, c: c[::-1], (x, y))]
    for function in functions:
        for donated in (0,), (0, 1):
            for options in {}, {"in_shardings": cut, "out_shardings": cut}, {"in_shardings": cut, "out_shardings": whole}:
                x, y = normal(8, 4), normal(8, 5)[:, :4]
                wanted = function(x, y) if function in functions[:4] else jax.jit(function)(x, y)
                placed = [jax.device_put(v, options.get("in_shardings")) for v in (x, y)]
                given = jax.jit(function, donate_argnums=donated, keep_unused=True, **options)(*placed)
                for ours, theirs in zip(jax.tree.leaves(given), jax.tree.leaves(wanted), strict=True):
                    np.testing.assert_array_equal(np.asarray(ours), np.asarray(theirs))
    for source, target in (cut, cut), (cut, whole), (whole, cut), (jax.devices()[1], cut), (cut, jax.devices()[1]):
        tree = {"x": normal(8, 4), "y": [normal(4), normal(8)]}
        moved = jax.device_put(jax.device_put(tree, source), target, donate=True)
        jax.tree.map(np.testing.assert_array_equal, moved, tree)


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


@feature
def callbacks_on_one_device():
    """Calls with effects are made once, and all devices get their results."""
    from jax.experimental import io_callback

    m, seen = mesh(4), []
    x = jax.device_put(np.arange(8, dtype=np.float32), NamedSharding(m, P("a")))
    twice = lambda v: (seen.append(float(v)), np.float32(2 * v))[1]
    for ordered in False, True:
        ask = lambda v: io_callback(twice, jax.ShapeDtypeStruct((), jnp.float32), v, ordered=ordered)
        np.testing.assert_allclose(np.asarray(jax.jit(lambda v: ask(v.sum()) + v)(x)), 56 + np.arange(8))
        scanned = jax.jit(lambda v: lax.scan(lambda c, _: (c + 1, ask(c[0])), v, None, length=3)[1])(x)
        np.testing.assert_allclose(np.asarray(scanned), [0, 2, 4])
    assert seen == [28, 0, 1, 2] * 2, seen


@feature
def unconstrained_dimensions():
    m, free = mesh(2, 2), P.UNCONSTRAINED
    x = normal(8, 4)
    for given, wanted, result in [(P("a", "b"), P(free, "b"), P("a", "b")), (P(None, "b"), P("a", free), P("a", "b")), (P("a", "b"), P(free, None), P("a")),
                                  (P("a", "b"), P("b", free), P("b")), (P("a"), P(free, free), P("a"))]:
        same(lambda v: lax.with_sharding_constraint(v * 2, NamedSharding(m, wanted)) + 1, [x], [given], [result])
        same(lambda v: lax.with_sharding_constraint(v * 2, NamedSharding(m, wanted)), [x], [given], [result])


@feature
def axes_that_shard_map_leaves():
    """The axes that shard_map does not make manual divide what is computed within."""
    m, x, w = mesh(2, 2), normal(8, 16), normal(16, 8)
    part = lambda function, specs, results: jax.shard_map(function, mesh=m, in_specs=specs, out_specs=results, axis_names={"a"}, check_vma=False)
    product = part(lambda v, w: lax.psum(jnp.tanh(v @ w), "a"), (P("a"), P()), P())
    same(product, [x, w], [P("a"), P(None, "b")], [P(None, "b")], m)
    looped = part(lambda v: lax.fori_loop(0, 3, lambda i, c: jnp.sin(lax.ppermute(c, "a", [(0, 1), (1, 0)])) + i, v), P("a"), P("a"))
    same(looped, [x], [P("a", "b")], [P("a", "b")], m)
    text = jax.jit(looped).lower(jax.device_put(x, NamedSharding(m, P("a", "b")))).compile().as_text()
    assert "all-gather" not in text and "f32[4,8]" in text, text


@feature
def inspected_shardings():
    m, seen = mesh(2, 2), []
    see = lambda v: jax.debug.inspect_array_sharding(v, callback=lambda sharding: seen.append(sharding.spec))

    def function(v):
        see(jnp.sin(v))
        return lax.scan(lambda c, _: (see(c.T), (c * 2, c))[1], v, None, length=3)

    same(function, [normal(8, 4)], [P("a", "b")])
    assert seen == [P(), P(), P("a", "b"), P("b", "a")], seen


@feature
def explicit_shardings():
    """Shardings in types."""
    m = jax.make_mesh((2, 2), ("a", "b"), devices=jax.devices("hilo"), axis_types=(jax.sharding.AxisType.Explicit,) * 2)
    x, y = normal(8, 16), normal(16, 4)
    with jax.set_mesh(m):
        left, right = jax.device_put(x, P("a", "b")), jax.device_put(y, P("b", None))
        product = jax.jit(lambda v, w: jnp.einsum("ij,jk->ik", v, w, out_sharding=P("a", None)))(left, right)
        np.testing.assert_allclose(np.asarray(product), x @ y, rtol=1e-4, atol=1e-5)
        moved = jax.jit(lambda v: jax.sharding.reshard(v, P("b", "a")) * 2)(left)
        assert product.sharding.spec == P("a", None) and moved.sharding.spec == P("b", "a")
        np.testing.assert_allclose(np.asarray(moved), 2 * x)
        ordered = jax.jit(jax.sharding.auto_axes(lambda v: jnp.sort(v, 1), out_sharding=P("a", None)))(left)
        np.testing.assert_allclose(np.asarray(ordered), np.sort(x, 1))
    rows = jax.device_put(x, NamedSharding(m, P("a", None)))
    ordered = jax.jit(lambda v: jnp.sort(v, 1))(rows)  # whose comparator marks its constants with shardings
    np.testing.assert_array_equal(np.asarray(ordered), np.sort(x, 1))


@feature
def narrow_floats_on_several_devices():
    x, names = np.arange(8), "e5m2 e4m3 e4m3fn e5m2fnuz e4m3fnuz e4m3b11fnuz e3m4 e8m0fnu".split()
    for name in [f"float8_{name}" for name in names] + ["float4_e2m1fn"]:
        if not hasattr(jnp, name):
            print(f"{name}: this version of JAX has none")
            continue
        turn = jax.shard_map(lambda v: jax.lax.ppermute(v, "a", [(i, (i + 1) % 4) for i in range(4)]), mesh=mesh(4), in_specs=P("a"), out_specs=P("a"))
        given = (2.0 ** (x % 3)).astype(getattr(jnp, name))
        np.testing.assert_array_equal(np.asarray(jax.jit(turn)(given)).astype(np.float32), np.roll(given.astype(np.float32), 2), err_msg=name)


@feature
def unreduced_axes():
    """Partial sums over axes of explicit meshes, which are added up when they are resharded."""
    explicit = lambda *shape: mesh(*shape).update(axis_types=(jax.sharding.AxisType.Explicit,) * len(shape))
    x, y, reshard = normal(8, 16), normal(16, 8), jax.sharding.reshard
    with jax.set_mesh(explicit(2, 2)):
        left, right = jax.device_put(x, P("a", "b")), jax.device_put(y, P("b", None))
        product = lambda v, w: jnp.einsum("ij,jk->ik", v, w, out_sharding=P("a", None, unreduced={"b"}))
        within = jax.jit(lambda v, w: reshard(product(v, w), P("a", None)))(left, right)
        np.testing.assert_allclose(np.asarray(within), x @ y, rtol=1e-4, atol=1e-4)
        parts = jax.jit(product)(left, right)
        assert parts.sharding.spec.unreduced == {"b"}
        for shard, piece in zip(parts.addressable_shards, (x[:4, :8] @ y[:8], x[:4, 8:] @ y[8:], x[4:, :8] @ y[:8], x[4:, 8:] @ y[8:])):
            np.testing.assert_allclose(np.asarray(shard.data), piece, rtol=1e-4, atol=1e-4)
        twice = jax.jit(lambda v: v + v)(parts)
        assert twice.sharding.spec.unreduced == {"b"}
        for spec in P("a", None), P("a", "b"), P(("a", "b"), None):
            for given in reshard(twice, spec), jax.jit(lambda v: reshard(v, spec))(twice):
                np.testing.assert_allclose(np.asarray(given), 2 * x @ y, rtol=1e-4, atol=1e-4)
                assert given.sharding.spec == spec, given.sharding
    with jax.set_mesh(explicit(4)):  # a parameter whose gradient is left in parts
        batch, weights = jax.device_put(x, P("a", None)), jax.device_put(y, P(None, None, reduced={"a"}))
        loss = lambda w, v: jnp.sin(jnp.einsum("ij,jk->ik", v, w, out_sharding=P("a", None))).sum()
        gradient = jax.jit(jax.grad(loss))(weights, batch)
        assert gradient.sharding.spec.unreduced == {"a"}
        np.testing.assert_allclose(np.asarray(reshard(gradient, P(None, None))), x.T @ np.cos(x @ y), rtol=1e-3, atol=1e-4)


@feature
def values_that_are_sharded_alike():
    if importlib.util.find_spec("jax.experimental.shard_alike") is None:
        return print("shard_alike: this version of JAX has none")
    from jax.experimental.shard_alike import shard_alike

    def alike(x, y):
        x, y = shard_alike(x, y)
        return x * 1, y * 1

    x = normal(8, 4)
    for specs in (P("a", "b"), P()), (P(), P("a", "b")):
        same(alike, [x, x], specs, [P("a", "b")] * 2)
    same(lambda x: shard_alike(x, jnp.cos(jnp.arange(32.0).reshape(8, 4)))[1] + 1, [x], [P("a")], [P("a")])


@feature
def open_results_are_cut_as_operands():
    """What needs all of a dimension leaves its result cut along it all the same, as XLA does."""
    x = normal(8, 4)
    for function in (lambda v: jnp.sort(v, 0), lambda v: jnp.argsort(v, 1), lambda v: jnp.cumsum(v, 0), lambda v: jnp.concatenate([v, v]), lambda v: v[::2],
                     lambda v: jnp.pad(v, 1), lambda v: jnp.flip(v, 0), lambda v: v.at[2].set(0), lambda v: lax.dynamic_slice(v, (1, 1), (4, 2)),
                     lambda v: lax.reduce_window(v, 0.0, lax.add, (2, 1), (1, 1), "SAME"), lambda v: jnp.sin(jnp.sort(jnp.sort(v, 0) * 2, 0)),
                     lambda v: jnp.take_along_axis(v, jnp.argsort(v, 0), 0)):
        same(function, [x], [P("a", "b")], [P("a", "b")])
    same(lambda v: v[1:], [x], [P("a", "b")], [P(None, "b")])  # of seven rows
    same(lambda v: v[1:, ::-1], [x], [P("a", "b")], [P(None, "b")])  # which move along the other dimension then


@feature
def shardings_are_shown_where_nothing_is_returned():
    seen = []
    jax.jit(lambda v: jax.debug.inspect_array_sharding(v * 2, callback=seen.append))(jax.device_put(normal(8), NamedSharding(mesh(2, 2), P("a"))))
    assert seen[0].is_equivalent_to(NamedSharding(mesh(2, 2), P("a")), 1), seen


@feature
def the_log_names_what_is_not_divided():
    code = "import jax, jax.numpy as jnp; from jax.sharding import NamedSharding, PartitionSpec as P; m = jax.make_mesh((4,), ('x',), axis_types=(jax.sharding.AxisType.Auto,)); " \
           "jax.jit(lambda v: jnp.sin(v[:6]))(jax.device_put(jnp.arange(8.0), NamedSharding(m, P('x'))))"
    for level, expected in (("", "hilo: warning: jit__lambda: shardings do not divide arrays"), ("error", None), ("loud", "HILO_LOG_LEVEL: expected info, warning or error, got 'loud'")):
        environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path), JAX_PLATFORMS="hilo", HILO_LOG_LEVEL=level)
        log = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60).stderr
        assert expected in log if expected else "hilo:" not in log, (level, log)
        assert level != "" or "sine (f32[6] into 2 instead of 4 along dimension 0)" in log, log
