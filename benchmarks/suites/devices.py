"""Programs on eight devices of one process, whose arrays are divided among them: the suite "devices" of benchmarks/compare.py."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jax_programs import Program, f32, program

LINE = Mesh(np.array(jax.devices()[:8]), ("x",))
GRID = Mesh(np.array(jax.devices()[:8]).reshape(2, 4), ("data", "model"))


def divided(value, mesh, *axes):
    return jax.device_put(value, NamedSharding(mesh, PartitionSpec(*axes)))


def on_shards(function, axes=1):
    """The function of the shards of arrays that are divided along their first dimensions."""
    spec = PartitionSpec("x")
    shard_map = jax.shard_map if hasattr(jax, "shard_map") else __import__("jax.experimental.shard_map", fromlist=["shard_map"]).shard_map
    return shard_map(function, mesh=LINE, in_specs=(spec,) * axes, out_specs=spec)


def varying(value):
    """What is equal on all devices as a value that may differ, which newer versions tell apart."""
    return lax.pcast(value, "x", to="varying") if hasattr(lax, "pcast") else value


@program
def elementwise_64(generator, device):
    return Program(lambda x: 2 * x + 1, [divided(f32(generator, 64), LINE, "x")], placed=True)


@program
def elementwise_1m(generator, device):
    return Program(lambda x: jnp.exp(-x * x), [divided(f32(generator, 1 << 20), LINE, "x")], placed=True)


@program
def sum_of_all(generator, device):
    return Program(jnp.sum, [divided(f32(generator, 512), LINE, "x")], placed=True)


@program
def ten_all_reduces(generator, device):
    step = on_shards(lambda x: lax.fori_loop(0, 10, lambda i, v: varying(lax.psum(v, "x")) * 0.125, x))
    return Program(step, [divided(f32(generator, 64), LINE, "x")], placed=True)


@program
def ring(generator, device):
    shift = on_shards(lambda x: lax.ppermute(x, "x", [(i, (i + 1) % 8) for i in range(8)]))
    return Program(shift, [divided(f32(generator, 64), LINE, "x")], placed=True)


@program
def stencil_with_halos(generator, device):
    def step(x):
        left = lax.ppermute(x[-1:], "x", [(i, i + 1) for i in range(7)])
        right = lax.ppermute(x[:1], "x", [(i + 1, i) for i in range(7)])
        y = jnp.concatenate([left, x, right])
        return x + 0.1 * (y[2:] - 2 * x + y[:-2])
    return Program(on_shards(lambda x: lax.fori_loop(0, 20, lambda i, v: step(v), x)), [divided(f32(generator, 8 * 128), LINE, "x")], placed=True)


@program
def product_on_a_grid(generator, device):
    return Program(lambda x, w: jnp.tanh(x @ w), [divided(f32(generator, 64, 64), GRID, "data", "model"), divided(f32(generator, 64, 64), GRID, None, "model")], placed=True)


@program
def softmax_across(generator, device):
    return Program(functools.partial(jax.nn.softmax, axis=1), [divided(f32(generator, 64, 64), GRID, "data", "model")], placed=True)


@program
def transpose(generator, device):
    return Program(lambda x: lax.with_sharding_constraint(x.T, NamedSharding(LINE, PartitionSpec("x"))), [divided(f32(generator, 64, 64), LINE, "x")], placed=True)


@program
def cumulative_sum(generator, device):
    return Program(jnp.cumsum, [divided(f32(generator, 4096), LINE, "x")], placed=True)


def two_layers(parameters, x):
    w, v = parameters
    return jnp.mean((jnp.tanh(x @ w) @ v) ** 2)


def descent(parameters, x):
    return jax.tree.map(lambda p, g: p - 0.01 * g, parameters, jax.grad(two_layers)(parameters, x))


@program
def data_parallel_step(generator, device):
    parameters = [divided(0.1 * f32(generator, 32, 64), LINE), divided(0.1 * f32(generator, 64, 8), LINE)]
    return Program(descent, [parameters, divided(f32(generator, 64, 32), LINE, "x")], placed=True)


@program
def fully_sharded_step(generator, device):
    parameters = [divided(0.1 * f32(generator, 256, 512), LINE, "x"), divided(0.1 * f32(generator, 512, 64), LINE, "x")]
    return Program(descent, [parameters, divided(f32(generator, 512, 256), LINE, "x")], placed=True)


@program
def tensor_parallel_step(generator, device):
    parameters = [divided(0.1 * f32(generator, 256, 512), GRID, None, "model"), divided(0.1 * f32(generator, 512, 64), GRID, "model", None)]
    return Program(descent, [parameters, divided(f32(generator, 512, 256), GRID, "data", None)], placed=True)


@program
def transformer_step(generator, device):
    """Two layers, their heads and features along one axis of the grid, sequences along the other."""
    width = 32
    shapes = [((width, width), (None, "model"))] * 3 + [((width, width), ("model",)), ((width, 4 * width), (None, "model")), ((4 * width, width), ("model",))]
    layers = [[divided(0.1 * f32(generator, *shape), GRID, *axes) for shape, axes in shapes] for _ in range(2)]

    def norm(x):
        return x * lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6)

    def layer(x, weights):
        q, k, v, out, up, down = weights
        heads = [(norm(x) @ w).reshape(*x.shape[:2], 4, width // 4) for w in (q, k, v)]
        scores = jax.nn.softmax(jnp.einsum("bthd,bshd->bhts", heads[0], heads[1]))
        x = x + jnp.einsum("bhts,bshd->bthd", scores, heads[2]).reshape(x.shape) @ out
        return x + jax.nn.gelu(norm(x) @ up) @ down

    def step(layers, x):
        gradients = jax.grad(lambda layers: (functools.reduce(layer, layers, x) ** 2).mean())(layers)
        return jax.tree.map(lambda w, g: w - 0.01 * g, layers, gradients)
    return Program(step, [layers, divided(f32(generator, 8, 16, width), GRID, "data")], placed=True)


@program
def pipeline_of_eight(generator, device):
    def stage(w, x):
        def step(i, carry):
            state, output = carry
            state = jnp.tanh(state @ w[0])
            return lax.ppermute(state, "x", [(j, (j + 1) % 8) for j in range(8)]), output + state
        return lax.fori_loop(0, 8, step, (x, jnp.zeros_like(x)))[1]
    return Program(on_shards(stage, 2), [divided(0.3 * f32(generator, 8, 32, 32), LINE, "x"), divided(f32(generator, 64, 32), LINE, "x")], placed=True)
