"""Writes NAME.mlirbc (a portable artifact) and NAME.npz (inputs, results) of chlo.mlir, chlo_by_hand.mlir,
gather_orders.mlir, deprecated.mlir, newest_version.mlir and scaled_products.mlir in this folder.

    python tests/programs/stablehlo/generate_chlo.py

Needs JAX, whose compiler gives the results of chlo.mlir; those of the others are computed here.
"""

import math
import os
import pathlib

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import numpy as np
from jax._src import compiler, xla_bridge
from jax._src.interpreters import mlir
from jax._src.lib import xla_client
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

jax.config.update("jax_enable_x64", True)
HERE = pathlib.Path(__file__).resolve().parent


def normal(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def write(name, arguments, results=None, version="1.13.0"):
    """Arguments and results are lists, or name all arrays; without results jaxlib's are taken."""
    with mlir.make_ir_context():
        text = (HERE / f"{name}.mlir").read_text()
        artifact = stablehlo.serialize_portable_artifact(ir.Module.parse(text), version, True)  # which takes the module apart
        if results is None:
            options = compiler.get_compile_options(num_replicas=1, num_partitions=1)
            devices = xla_client.DeviceList((jax.local_devices()[0],))
            executable = xla_bridge.get_backend("cpu").compile_and_load(ir.Module.parse(text), devices, options)
            buffers = [jax.device_put(argument) for argument in arguments]
            results = [np.asarray(out[0]) for out in executable.execute_sharded(buffers).disassemble_into_single_device_arrays()]
    (HERE / f"{name}.mlirbc").write_bytes(artifact)
    named = lambda kind, arrays: arrays if isinstance(arrays, dict) else {f"{kind}{i}": a for i, a in enumerate(arrays)}
    np.savez(HERE / f"{name}.npz", **named("arg", arguments), **named("out", results))


def main():
    integers = np.array([[1 << 30, -(1 << 31), (1 << 31) - 1, -1], [12345, -67890, 0x5A5A5A5A, 7]], np.int32)
    write("chlo", [normal(0, 2, 4), np.array([0.7, -0.3, 0.05, -0.95], np.float32), np.array([0, 1, 2, 5], np.float32),
                   (normal(1, 4) + 1j * normal(2, 4)).astype(np.complex64), integers, np.array([1, 5, 13, 31], np.int32),
                   np.array([2**64 - 1, 2**63, 0x123456789ABCDEF0], np.uint64)])
    a, b, v, sizes = normal(3, 6, 3), normal(4, 2, 3, 5), normal(5, 2), np.array([2, 3], np.int32)
    product = np.concatenate([a[:2] @ b[0], a[2:5] @ b[1], np.zeros((1, 5), np.float32)])
    write("chlo_by_hand", [a, b, sizes, v], [product, b + 2 * v[:, None, None]])
    rng = np.random.default_rng(7)
    x, y = rng.integers(-8, 9, (2, 3, 64)).astype(np.float32), rng.integers(-4, 5, (2, 5, 64)).astype(np.float32)
    sx, sy = 2.0 ** rng.integers(-3, 4, (2, 3, 2)).astype(np.float32), rng.choice(np.float32([0.25, 0.5, 1, 1.5, 2]), (2, 5, 4))
    product = np.einsum("bmk,bnk->bmn", x * np.repeat(sx, 32, 2), y * np.repeat(sy, 16, 2))
    write("scaled_products", [x, y, sx, sy], [product, product.astype(jax.numpy.bfloat16).astype(np.float32)])
    devices, order = range(4), [0, 2, 1, 3]
    pieces, rows = np.arange(4, dtype=np.float32).reshape(4, 1), normal(6, 4, 8).round(2)
    sums = rows.sum(0).reshape(4, 2)
    arguments = {f"arg0_r{d}": pieces[d] for d in devices} | {f"arg1_r{d}": rows[d] for d in devices}
    results = {f"out0_r{d}": pieces[order, 0] for d in devices} | {f"out1_r{d}": sums[order.index(d)] for d in devices}
    write("gather_orders", arguments, results)
    a, b, t, i, j = normal(9, 2, 3), normal(10, 3, 2, 4), normal(11, 3, 5, 4), np.array([4, 0], np.int32), np.array([[1, 2], [0, 4], [3, 3]], np.int32)
    write("deprecated", [a, b, t, i, j], [np.einsum("ij,jik->ki", a, b), a.sum(0), t[:, i], t[np.arange(3)[:, None], j]])
    a, b = normal(7, 3), normal(8, 3)
    erf = np.vectorize(math.erf)
    results = {"out0_r0": 0 * a, "out0_r1": a + b, "out1_r0": b, "out1_r1": b, "out2_r0": erf(a).astype(np.float32), "out2_r1": erf(b).astype(np.float32)}
    write("newest_version", {"arg0_r0": a, "arg0_r1": b}, results, version="1.20.0")


main()
