"""Writes the StableHLO programs of this folder: for each, NAME.mlirbc (a portable artifact), NAME.mlir (text) and NAME.npz (inputs, results).

    python tests/programs/stablehlo/generate.py [NAME...]

The results are jaxlib's. The head of NAME.mlir says how close another compiler must come (tests/programs/generate.py), for both forms. Programs on
four devices have arguments and results argI_rD and outI_rD of device D; their artifacts keep Shardy's operations, as a PJRT plugin gets them.

Needs JAX.
"""

import os
import pathlib
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax, shard_map
from jax._src.interpreters import mlir
from jax._src.lib import xla_client
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

# Places in the source are written as they are in the repository.
jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/(?=tests/)")

HERE = pathlib.Path(__file__).resolve().parent
NEW, OLD, WITH_MESHES = "1.13.0", "0.9.0", "1.17.0"
PROGRAMS = []


def program(*arguments, version=NEW, tolerance="f32 1e-5 relative", shardings=None, results=None, donate=(), platform="cpu"):
    def add(function):
        PROGRAMS.append((function, arguments, version, tolerance, shardings, results, donate, platform))
        return function

    return add


def normal(seed, *shape, dtype=np.float32):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


@program(normal(0, 5), np.int32(4))
def control_flow(x, n):
    """Loops and branches that use values from outside of them, and loops in branches in loops."""
    y = lax.fori_loop(0, n, lambda i, v: v * x + jnp.sum(v) * 3 - i, x)
    z = lax.cond(n > 3, lambda: x + y, lambda: y * 2)
    w = lax.switch(n, [lambda v: v, lambda v: v * y + x, lambda v: jnp.zeros_like(v)], z)
    u = lax.while_loop(lambda v: jnp.sum(v * v) < 100, lambda v: lax.fori_loop(0, 3, lambda j, t: lax.cond(j > 0, lambda: t + jnp.abs(x), lambda: t + j), v), x)
    carry, stacked = lax.scan(lambda c, r: (c + r, c * r), jnp.float32(1), x)
    return y, z, w, u, carry, stacked


@program(normal(1, 4, 6), version=OLD)
def oldest_version(x):
    """The same operations as VHLO 0.9.0 wrote them."""
    y = jnp.exp(x) + jnp.tanh(x) * jax.nn.sigmoid(x) + jnp.log1p(jnp.abs(x)) - lax.rsqrt(x * x + 1) + jnp.cbrt(x) + jnp.expm1(x)
    return y @ y.T, y[jnp.array([2, 0, -1])], x.at[jnp.array([1, 3])].add(1), jnp.sin(x) + jnp.cos(x) + jnp.sqrt(jnp.abs(x))


@program(np.float32(1.5))
def constants(x):
    """Elements of all sizes, packed bits, and one element for all."""
    kinds = ["bool", "int8", "uint16", "int32", "uint64", "float16", "bfloat16", "float32", "int4", "uint4", "float8_e4m3fn"]
    arrays = [jnp.asarray((np.arange(size) % 3).astype(kind)) for kind in kinds for size in (0, 1, 3, 8, 9, 17)]
    arrays += [jnp.asarray(np.full((3, 4), 1, kind)) for kind in kinds]
    return [array.astype(jnp.float32) * x for array in arrays] + [jnp.asarray(np.array([1 + 2j, 3], np.complex64)) * x]


@program(normal(2, 6, 5), np.array([4, 0, 9, -1], np.int32), tolerance="f32 1e-6 relative")
def indexing(x, i):
    moved = lax.pad(x.T[::-1, 1:5:2], np.float32(7), ((1, 2, 1), (-1, 0, 0)))
    rows = lax.dynamic_update_slice(x, x[:2, :2], (i[0], i[1]))
    batches = jax.vmap(lambda row, at: row.at[at].max(3))(x[:4], jnp.stack([i, i - 1], 1))
    return moved, rows, batches, x[i], jnp.take(x, i, axis=1, mode="clip"), x.at[i].mul(2), jnp.concatenate([x, x], 1), lax.rev(x, (0, 1))


@program(normal(3, 6, 8))
def orders(x):
    return jnp.sort(x, 1), jnp.argsort(x, 0), lax.top_k(x, 3), jnp.cumsum(x, 1), jnp.argmax(x, 0), lax.sort((jnp.round(x), x), num_keys=2), jnp.median(x)


@program(normal(4, 2, 3, 8, 9), normal(5, 4, 3, 3, 2), tolerance="f32 3e-5 relative")
def windows(x, kernel):
    conv = lax.conv_general_dilated(x, kernel, (2, 1), ((1, 0), (2, -1)), lhs_dilation=(1, 2), rhs_dilation=(2, 1))
    pool = lambda v: lax.reduce_window(v, -np.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "SAME")
    mean = lax.reduce_window(x, 0.0, lax.add, (1, 1, 3, 2), (1, 1, 1, 2), "VALID", base_dilation=(1, 1, 2, 1), window_dilation=(1, 1, 1, 2))
    return conv, pool(x), mean, jax.grad(lambda v: jnp.sum(pool(v) ** 2))(x), jax.grad(lambda k: jnp.sum(lax.conv(x, k, (1, 1), "SAME") ** 2))(kernel)


@program(normal(6, 2, 3, 4), normal(7, 2, 4, 5))
def products(a, b):
    low = lambda v: v.astype(jnp.bfloat16)
    mixed = lax.dot_general(low(a), low(b), (((2,), (1,)), ((0,), (0,))), preferred_element_type=jnp.float32)
    exact = jnp.einsum("bij,bjk->ikb", a, b, precision="highest")
    chosen = lax.dot_general(a[0], b[0], (((1,), (0,)), ((), ())), precision=lax.DotAlgorithmPreset.F32_F32_F32)
    return mixed, exact, chosen, jnp.tensordot(a, b, ((0, 2), (0, 1))), jnp.dot(a[0, 0], b[0])


@program(normal(8, 4, 7), tolerance="f32 2e-5 relative")
def functions(x):
    """Composites that are an opcode of HLO, and others that are called."""
    y = jnp.tanh(x) * 0.9
    return lax.erf(x), jnp.arccosh(jnp.abs(x) + 1), jnp.arcsin(y), jnp.sinh(x), jnp.cosh(x), jnp.arctanh(y), jnp.arccos(y), jnp.tan(y), lax.erf_inv(y), \
        lax.lgamma(jnp.abs(x) + 1), lax.digamma(jnp.abs(x) + 1), jax.nn.gelu(x), jnp.arctan2(x, y), jnp.nextafter(x, y), jnp.arcsinh(x), lax.erfc(x * 3), jnp.arctan(x), \
        lax.lgamma(x - 2), lax.digamma(x - 2), lax.erf_inv(x * 1e-3)


@program(normal(9, 3, 4))
def reductions(x):
    pair = lax.reduce((x, x), (np.float32(0), np.float32(1)), lambda p, q: (p[0] + q[0], p[1] * q[1]), (0,))
    return pair, jnp.var(x, 1), jnp.max(x), jnp.any(x > 0), lax.reduce_and(x.astype(jnp.int32), (0,)), lax.reduce_precision(x, 5, 7), \
        lax.bitcast_convert_type(x, jnp.uint8), lax.optimization_barrier((x + 1, x * 2)), lax.clamp(np.float32(-0.5), x, np.float32(0.5))


@program(np.array([0, 7], np.uint32), np.arange(4, dtype=np.uint32))
def random_bits(key, state):
    return jax.random.normal(key, (5,)), jax.random.permutation(key, 9), lax.rng_bit_generator(state, (5,), dtype=jnp.uint32, algorithm=lax.RandomAlgorithm.RNG_PHILOX)


@program(normal(10, 9), normal(11, 4, 4), tolerance="f32 1e-4 relative")
def linear_algebra(v, m):
    """Custom calls of LAPACK in column-major layouts, and Fourier transforms."""
    s = m @ m.T + 4 * jnp.eye(4)
    solve = lambda b: jax.scipy.linalg.solve_triangular(s, b, lower=True)
    spectrum = jnp.fft.rfft(v)
    return jnp.linalg.cholesky(s), jnp.linalg.solve(s, m), lax.fori_loop(0, 2, lambda i, b: solve(b) + 1, m), jnp.abs(spectrum), jnp.fft.irfft(spectrum, 9)


@program(normal(22, 2, 3), normal(23, 3, 4))
def converted_sums(x, y):
    """Products of floats whose sums are asked for as integers."""
    c = lax.complex(x, x)
    return lax.dot(x * 4, y, preferred_element_type=np.int32), lax.dot(c, c.T, preferred_element_type=np.int32)


@program(normal(19, 2, 5, 3), normal(20, 4, 4), normal(21, 3, 9), tolerance="f32 1e-4 relative, c64 1e-4 relative", platform="tpu")
def library_calls(tall, m, scores):
    """Linear algebra and the approximate search for the best as JAX lowers them where a platform has no rules of its own."""
    s, c = m @ m.T + 4 * jnp.eye(4), lax.complex(m, m.T)
    values, vectors = jnp.linalg.eigh(s)
    return jnp.linalg.qr(tall), jnp.linalg.qr(c, mode="complete"), jnp.linalg.qr(tall[0].T, mode="r"), values, jnp.abs(vectors), \
        lax.approx_max_k(scores, 3), lax.approx_min_k(scores, 2, reduction_dimension=0)


@program(normal(16, 4), normal(17, 2, 3), normal(18, 4), donate=(0, 1))
def donated(x, unmatched, y):
    """The first argument may become the result."""
    return x * 2 + y, y - 1


MESH = Mesh(np.array(jax.devices()).reshape(2, 2), ("a", "b"))
PERMUTED = Mesh(np.array(jax.devices())[[2, 0, 3, 1]].reshape(2, 2), ("a", "b"))


def named(*spec, mesh=MESH):
    return NamedSharding(mesh, P(*spec))


@program(normal(12, 8, 4), normal(13, 4, 8), shardings=(named("a"), named(None, "b")), results=(named("a", "b"), named("b")))
def sharded_product(x, y):
    z = lax.with_sharding_constraint(jnp.sin(x @ y), named("b", "a"))
    return z * 2, z.sum(1)


def manual(mesh):
    def body(v):
        i = lax.axis_index("b")
        looped = lax.fori_loop(0, 3, lambda k, s: lax.ppermute(s, "b", [(0, 1), (1, 0)]) + k, v)
        return lax.all_gather(v, "a", tiled=True) + i, lax.psum_scatter(v, "b", scatter_dimension=1, tiled=True), lax.all_to_all(v, "b", 0, 1, tiled=True), \
            lax.pmax(v, ("a", "b")), lax.all_gather(v, "b"), looped

    out = (P(None, "b"), P("a", "b"), P("a", "b"), P(None, None), P(None, "a", "b"), P("a", "b"))
    return lambda x: shard_map(body, mesh=mesh, in_specs=P("a", "b"), out_specs=out, check_vma=False)(x)


@program(normal(14, 8, 4), shardings=(named("a", "b"),))
def manual_collectives(x):
    return manual(MESH)(x)


@program(normal(15, 8, 4), shardings=(named("a", "b", mesh=PERMUTED),))
def manual_on_permuted_devices(x):
    return manual(PERMUTED)(x)


@program(normal(16, 8, 4), shardings=(named("a", "b", mesh=PERMUTED),), version=WITH_MESHES)
def collectives_over_axes(x):
    """Groups of devices by the axes of a mesh, as JAX 0.12 and later say them."""
    def body(v):
        scattered, exchanged = lax.psum_scatter(v, ("a", "b"), tiled=True), lax.all_to_all(v, "b", 0, 1, tiled=True)
        return lax.all_gather(v, ("b", "a")), lax.psum(v, "a"), scattered, exchanged

    out = P(), P("a", "b"), P(("a", "b")), P("a", "b")
    return shard_map(body, mesh=PERMUTED, in_specs=P("a", "b"), out_specs=out, check_vma=False)(x)


def write(function, arguments, version, tolerance, shardings, results, donate, platform):
    name = function.__name__
    options = {} if shardings is None else {"in_shardings": shardings} | ({} if results is None else {"out_shardings": results})
    jitted = jax.jit(function, keep_unused=True, donate_argnums=donate, **options)
    lowered = jitted.trace(*arguments).lower(lowering_platforms=(platform,))
    artifact = xla_client._xla.mlir.serialize_portable_artifact(mlir.module_to_bytecode(lowered.compiler_ir("stablehlo")), version, shardings is not None)
    (HERE / f"{name}.mlirbc").write_bytes(artifact)
    head = [line.strip() for line in (function.__doc__ or "").splitlines() if line.strip()]
    head += ["Written by tests/programs/stablehlo/generate.py.", *(f"tolerance: {each}" for each in tolerance.split(", "))]
    (HERE / f"{name}.mlir").write_text("".join(f"// {line}\n" for line in head) + lowered.as_text())
    arrays = {}
    if shardings is None:
        arrays |= {f"arg{i}": np.asarray(a) for i, a in enumerate(arguments)}
        arrays |= {f"out{i}": np.asarray(r) for i, r in enumerate(jax.tree.leaves(jitted(*arguments)))}
    else:
        devices = list(shardings[0].mesh.devices.flat)
        placed = [jax.device_put(a, s) for a, s in zip(arguments, shardings)]
        for kind, values in (("arg", placed), ("out", jax.tree.leaves(jitted(*placed)))):
            for i, value in enumerate(values):
                arrays |= {f"{kind}{i}_r{devices.index(shard.device)}": np.asarray(shard.data) for shard in value.addressable_shards}
    np.savez_compressed(HERE / f"{name}.npz", **arrays)
    print(f"{name}: {len(artifact)} bytes, {len(arrays)} arrays")


if __name__ == "__main__":
    for entry in PROGRAMS:
        if not sys.argv[1:] or entry[0].__name__ in sys.argv[1:]:
            write(*entry)
