"""Writes the programs of this folder: what JAX lowers under shard_map, partitioned for four devices by XLA, with XLA's results.

    python tests/programs/replicated/generate.py [NAME...]

X.hlo is the module as it leaves XLA's partitioner, which is what runs on each device; X.npz has argI_rD and outI_rD of device D.
"""

import os
import pathlib
import re
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
DUMP = tempfile.mkdtemp()
os.environ["XLA_FLAGS"] = (
    f"--xla_force_host_platform_device_count=4 --xla_dump_to={DUMP} --xla_dump_hlo_as_text --xla_dump_hlo_pass_re=.*spmd.*")
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import PartitionSpec as P

jax.config.update("jax_enable_x64", True)
AUTO = jax.sharding.AxisType.Auto
PAIR = jax.make_mesh((2, 2), ("a", "b"), axis_types=(AUTO, AUTO))
LINE = jax.make_mesh((4,), ("a",), axis_types=(AUTO,))


def uniform(seed, *shape, dtype=np.float32):
    return np.random.default_rng(seed).uniform(-2, 2, shape).astype(dtype)


def integers(seed, *shape, dtype=np.int32):
    return np.random.default_rng(seed).integers(-100, 100, shape).astype(dtype)


# Name: mesh, function of a device's part, specs of its arguments and results, arguments, tolerances.
PROGRAMS = {}


def program(mesh, in_specs, out_specs, arguments, tolerances=()):
    def add(f):
        PROGRAMS[f.__name__] = (mesh, f, in_specs, out_specs, arguments, tolerances)
        return f
    return add


@program(PAIR, P("a", "b"), P("a", "b"), [uniform(1, 8, 8)])
def collectives(x):
    return (lax.psum(x, "a") + lax.axis_index("a"), lax.all_gather(x, "b", axis=1, tiled=True),
            lax.all_gather(x, "a", axis=0, tiled=False).sum(0), lax.ppermute(x, ("a", "b"), [(0, 1), (1, 2), (2, 3)]),
            lax.all_to_all(x, "b", 1, 0, tiled=True), lax.psum_scatter(x, "a", scatter_dimension=1, tiled=True),
            lax.pmax(x, ("a", "b")), lax.pmin(x, "b"), lax.pmean(x, "b"))


@program(LINE, (P("a"), P("a"), P("a"), P("a")), P("a"),
         [integers(2, 8, 3), integers(3, 8, dtype=np.uint8), uniform(4, 8, dtype=np.float64),
          uniform(5, 8).astype(np.complex64) * 1j + uniform(6, 8)], [("bf16", 0.01)])
def types(i, u, d, c):
    """XLA adds bf16 in f32; here each sum is rounded."""
    b = i > 0
    return (lax.psum(i, "a"), lax.psum(u, "a"), lax.pmax(u, "a"), lax.psum(d, "a"), lax.psum(c, "a"),
            lax.all_gather(b, "a", axis=1, tiled=True), lax.ppermute(b, "a", [(0, 3), (3, 0)]),
            lax.psum(d.astype(jnp.bfloat16), "a"), lax.psum(d.astype(jnp.float16), "a"), lax.pmin(i, "a"),
            lax.psum_scatter(jnp.tile(c, 2), "a", tiled=True))


@program(LINE, (P("a"), P()), P("a"), [uniform(7, 16, 4), uniform(8, 4, 4)], [("f32", 1e-5)])
def ring_product(x, w):
    """Rows travel round the ring, a step a device, as in collective matrix products."""
    def step(i, carry):
        total, block = carry
        total = total + jnp.sin(block @ w) * (i + 1)
        return total, lax.ppermute(block, "a", [(j, (j + 1) % 4) for j in range(4)])
    total, _ = lax.fori_loop(0, 4, step, (jnp.zeros_like(x), x))
    return total


@program(LINE, (P(None, "a"), P("a", None), P("a", None)), (P(None, "a"), P("a", None), P()),
         [uniform(9, 6, 8), uniform(10, 8, 5), uniform(11, 6, 5)[:4]], [("f32", 1e-5)])
def tensor_parallel_step(x, w, y):
    """A layer whose weights are cut over the devices, and its gradient."""
    def loss(x, w):
        out = lax.psum(x @ w, "a")
        return jnp.sum((jnp.tanh(out)[:4] - lax.all_gather(y, "a", axis=0, tiled=True)) ** 2)
    value, (dx, dw) = jax.value_and_grad(loss, (0, 1))(x, w)
    return dx, dw, lax.pmean(value, "a")


@program(PAIR, P("a", "b"), P("a", "b"), [integers(12, 8, 8)])
def steps_until_small(x):
    """A loop that goes on while the largest element of all devices is large: all make the same number of steps."""
    def cond(state):
        return lax.pmax(jnp.max(jnp.abs(state[0])), ("a", "b")) > 5
    def body(state):
        x, n = state
        return x // 2 + lax.ppermute(x, "b", [(0, 1), (1, 0)]) // 4, n + 1
    x, n = lax.while_loop(cond, body, (x, 0))
    return x + n.astype(jnp.int32)


@program(LINE, P("a", None, None), P("a", None, None), [uniform(13, 4, 8, 6)])
def transposed_exchange(x):
    """Cuts and joins along every dimension."""
    return (lax.all_to_all(x, "a", 1, 2, tiled=True), lax.all_to_all(x, "a", 1, 1, tiled=True),
            lax.all_gather(x, "a", axis=2, tiled=True), lax.psum_scatter(x, "a", scatter_dimension=1, tiled=True),
            lax.all_gather(x[0, 0, 0], "a")[None, None])


def partitioned(name):
    """The text of the module after partitioning, without what was done with (sharding) and the tables of source lines."""
    path, = pathlib.Path(DUMP).glob(f"*.jit_{name}.*.after_spmd-partitioning.*")
    text = path.read_text()
    text = re.sub(r", (sharding|metadata)=\{(?:[^{}]|\{[^{}]*\})*\}", "", text)
    text = re.sub(r"\n(FileNames|FunctionNames|FileLocations|StackFrames)\n(.+\n)*", "\n", text)
    return re.sub(r"\n{3,}", "\n\n", text)


def write(name):
    mesh, f, in_specs, out_specs, arguments, tolerances = PROGRAMS[name]
    mapped = jax.jit(jax.shard_map(f, mesh=mesh, in_specs=in_specs, out_specs=out_specs, check_vma=False))
    specs = in_specs if isinstance(in_specs, tuple) and not isinstance(in_specs, P) else (in_specs,) * len(arguments)
    placed = [jax.device_put(x, jax.sharding.NamedSharding(mesh, spec)) for x, spec in zip(arguments, specs)]
    results = jax.tree.leaves(mapped(*placed))
    order = {device: i for i, device in enumerate(mesh.devices.flat)}
    arrays = {}
    for kind, values in (("arg", placed), ("out", results)):
        for i, value in enumerate(values):
            for shard in value.addressable_shards:
                arrays[f"{kind}{i}_r{order[shard.device]}"] = np.asarray(shard.data)
    header = "".join(f"// tolerance: {kind} {value} relative\n" for kind, value in tolerances)
    doc = f"// {f.__doc__.strip()}\n" if f.__doc__ else ""
    (HERE / f"{name}.hlo").write_text(doc + header + partitioned(name).rstrip() + "\n")
    np.savez_compressed(HERE / f"{name}.npz", **arrays)


for wanted in sys.argv[1:] or PROGRAMS:
    write(wanted)
