"""Times each operation in Hilo against jaxlib, by element type and size, and prints a markdown table of ratios.

    VENV/bin/python benchmarks/op_table.py --hilo build/bin/hilo [--ops=sine,sort] [--types=f32] [--out=docs/op_table.md]

A case is a function of jax.numpy or jax.lax, lowered to HLO text, on random inputs of 1e4 and 1e6 elements. Both sides run it in turn, --rounds times
for --seconds each; the least time of each counts, so noise of the machine hardly does. A cell is Hilo's time over jaxlib's: below 1 Hilo is faster.
jaxlib is called from Python, which costs it some microseconds that only the small size shows.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

jax.config.update("jax_enable_x64", True)

TYPES = {"f32": jnp.float32, "f64": jnp.float64, "bf16": jnp.bfloat16, "s32": jnp.int32}
FLOATS = ("f32", "f64", "bf16")
ALL = tuple(TYPES)
UNARY = {"negate": lax.neg, "abs": lax.abs, "exponential": lax.exp, "log": lax.log, "sine": lax.sin, "cosine": lax.cos, "tan": lax.tan,
         "tanh": lax.tanh, "logistic": lax.logistic, "sqrt": lax.sqrt, "rsqrt": lax.rsqrt, "cbrt": lax.cbrt, "erf": lax.erf,
         "exponential-minus-one": lax.expm1, "log-plus-one": lax.log1p, "floor": lax.floor, "round-nearest-even": jnp.round,
         "asin": lax.asin, "acos": lax.acos, "atan": lax.atan, "sinh": lax.sinh, "cosh": lax.cosh, "asinh": lax.asinh, "acosh": lax.acosh,
         "atanh": lax.atanh, "erf_inv": lax.erf_inv, "lgamma": lax.lgamma, "digamma": lax.digamma}
BINARY = {"add": lax.add, "multiply": lax.mul, "divide": lax.div, "maximum": lax.max, "remainder": lax.rem, "power": lax.pow,
          "atan2": lax.atan2}


def square(n):
    return (int(n**0.5),) * 2


def cases(n):
    """Yields (name, element types, function, shapes and kinds of the inputs)."""
    flat, matrix = (n,), square(n)
    for name, function in UNARY.items():
        yield name, ALL if name in ("negate", "abs") else FLOATS, function, [flat]
    for name, function in BINARY.items():
        yield name, FLOATS if name in ("power", "atan2") else ALL, function, [flat, flat]
    yield "select", ALL, lambda x, y: jnp.where(x > y, x, y), [flat, flat]
    yield "clamp", ALL, lambda x: lax.clamp(lax.convert_element_type(0, x.dtype), x, lax.convert_element_type(1, x.dtype)), [flat]
    yield "convert to f32", ALL, lambda x: x.astype(jnp.float32) + 1, [flat]
    yield "convert to s8", ALL, lambda x: x.astype(jnp.int8), [flat]
    yield "reduce all", ALL, jnp.sum, [matrix]
    yield "reduce rows", ALL, lambda x: jnp.sum(x, axis=1), [matrix]
    yield "reduce columns", ALL, lambda x: jnp.sum(x, axis=0), [matrix]
    yield "maximum of rows", ALL, lambda x: jnp.max(x, axis=1), [matrix]
    yield "argmax all", ALL, lambda x: jnp.argmax(x), [flat]
    yield "argmax rows", ALL, lambda x: jnp.argmax(x, axis=1), [matrix]
    yield "argmin columns", ALL, lambda x: jnp.argmin(x, axis=0), [matrix]
    yield "variance of rows", FLOATS, lambda x: jnp.var(x, axis=1), [matrix]
    yield "softmax", FLOATS, lambda x: jax.nn.softmax(x, axis=1), [matrix]
    yield "logsumexp", FLOATS, lambda x: jax.nn.logsumexp(x, axis=1), [matrix]
    yield "cumsum", ALL, jnp.cumsum, [flat]
    yield "cumsum axis 0", ALL, lambda x: jnp.cumsum(x, axis=0), [matrix]
    yield "cumsum axis 1", ALL, lambda x: jnp.cumsum(x, axis=1), [matrix]
    yield "cummax axis 0", ALL, lambda x: lax.cummax(x, axis=0), [matrix]
    yield "sort", ALL, jnp.sort, [flat]
    yield "sort rows", ALL, lambda x: jnp.sort(x, axis=1), [matrix]
    yield "argsort", ALL, jnp.argsort, [flat]
    yield "argsort axis 0", ALL, lambda x: jnp.argsort(x, axis=0), [matrix]
    yield "top 10", ALL, lambda x: lax.top_k(x, 10), [flat]
    yield "transpose", ALL, lambda x: x.T + 1, [matrix]
    yield "reverse", ALL, lambda x: x[::-1] + 1, [flat]
    yield "slice", ALL, lambda x: x[1:-1:2] + 1, [flat]
    yield "pad", ALL, lambda x: jnp.pad(x, 3), [matrix]
    yield "concatenate", ALL, lambda x, y: jnp.concatenate([x, y]), [flat, flat]
    yield "roll", ALL, lambda x: jnp.roll(x, 5), [flat]
    yield "broadcast", ALL, lambda x: jnp.broadcast_to(x, square(n)) + 1, [(square(n)[0],)]
    yield "iota", ALL, lambda x: x + lax.iota(x.dtype, n), [flat]
    yield "gather", ALL, lambda x, i: x[i], [flat, ("indices", n)]
    yield "gather rows", ALL, lambda x, i: x[i], [(n // 64, 64), ("indices", n // 64)]
    yield "scatter add", ALL, lambda x, i, u: x.at[i].add(u), [flat, ("indices", n), flat]
    yield "scatter add rows", ALL, lambda x, i, u: x.at[i].add(u), [(n // 64, 64), ("indices", n // 64), (n // 64, 64)]
    yield "scatter", ALL, lambda x, i, u: x.at[i].set(u), [flat, ("indices", n), flat]
    yield "dot", ALL, lambda x, y: x @ y, [matrix, matrix]
    yield "dot vector", ALL, lambda x, y: x @ y, [matrix, (matrix[0],)]
    yield "dot batched 4x4", FLOATS, lambda x, y: x @ y, [(n // 16, 4, 4), (n // 16, 4, 4)]
    image, kernel = (1, square(n // 8)[0], square(n // 8)[0], 8), (3, 3, 8, 8)
    yield "convolution 3x3", FLOATS, lambda x, k: lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")), [image, kernel]
    yield "max pool", FLOATS, lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME"), [image]
    yield "max pool gradient", FLOATS, jax.grad(lambda x: jnp.sum(lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID") ** 2)), [image]
    yield "average pool", FLOATS, lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 3, 3, 1), (1, 1, 1, 1), "SAME"), [image]
    yield "fft", ("f32", "f64"), lambda x: jnp.abs(jnp.fft.fft(x)), [(2 ** int(np.log2(n)),)]
    yield "rfft rows", ("f32", "f64"), lambda x: jnp.abs(jnp.fft.rfft(x)), [(n // 100, 100)]
    yield "cholesky", ("f32", "f64"), lambda x: jnp.linalg.cholesky(x @ x.T + 100 * jnp.eye(x.shape[0], dtype=x.dtype)), [square(n // 16)]
    yield "triangular solve", ("f32", "f64"), lambda x: lax.linalg.triangular_solve(jnp.tril(x) + 100 * jnp.eye(x.shape[0], dtype=x.dtype), x, left_side=True, lower=True), [square(n // 16)]
    yield "random bits", ("f32",), lambda x: x + jax.random.bits(jax.random.key(0), (n,)).astype(x.dtype), [flat]
    yield "random normal", ("f32", "f64"), lambda x: x + jax.random.normal(jax.random.key(0), (n,), x.dtype), [flat]
    yield "layer norm", FLOATS, lambda x: (x - x.mean(1, keepdims=True)) * lax.rsqrt(x.var(1, keepdims=True) + 1e-5), [matrix]


def make_inputs(shapes, dtype, n):
    rng, arrays = np.random.default_rng(0), []
    for shape in shapes:
        if shape[0] == "indices":
            arrays.append(jnp.asarray(rng.integers(0, shape[1], shape[1]).astype(np.int32)))
        elif dtype == jnp.int32:
            arrays.append(jnp.asarray(rng.integers(1, 1000, shape), dtype))
        else:
            arrays.append(jnp.asarray(rng.uniform(0.05, 0.95, shape), dtype))
    return arrays


def time_jax(compiled, arrays, seconds):
    least, end = float("inf"), time.perf_counter() + seconds
    while True:
        start = time.perf_counter()
        jax.block_until_ready(compiled(*arrays))
        now = time.perf_counter()
        least = min(least, now - start)
        if now > end:
            return least * 1e3


def time_hilo(options, module, inputs, seconds, guess_ms):
    iterations = max(3, min(20000, int(seconds * 1e3 / max(guess_ms, 1e-4))))
    command = [options.hilo, "bench", str(module), f"--inputs={inputs}", f"--iterations={iterations}", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip().splitlines()[0][:160])
    return json.loads(done.stdout)["run_ms"]["min"]


def measure(options, function, arrays, folder):
    lowered = jax.jit(function, keep_unused=True).lower(*arrays)
    module, inputs = folder / "case.hlo", folder / "case.npz"
    module.write_text(lowered.as_text(dialect="hlo"))
    raw = lambda a: np.asarray(a).view(np.dtype("V2")) if a.dtype == jnp.bfloat16 else np.asarray(a)
    np.savez(inputs, **{f"arg{i}": raw(a) for i, a in enumerate(arrays)})
    compiled = lowered.compile()
    jax_ms = time_jax(compiled, arrays, 0.02)
    hilo_ms = time_hilo(options, module, inputs, 0, 1)
    for _ in range(options.rounds):
        hilo_ms = min(hilo_ms, time_hilo(options, module, inputs, options.seconds, hilo_ms))
        jax_ms = min(jax_ms, time_jax(compiled, arrays, options.seconds))
    return hilo_ms, jax_ms


def main():
    parser = argparse.ArgumentParser(description="Times operations in Hilo against jaxlib.")
    parser.add_argument("--hilo", required=True, help="the program hilo")
    parser.add_argument("--ops", help="names, separated by commas; all unless told")
    parser.add_argument("--types", default=",".join(TYPES), help="element types, all four unless told")
    parser.add_argument("--sizes", default="10000,1000000", help="numbers of elements")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.1, help="seconds of each repetition on a side")
    parser.add_argument("--out", help="also write the table to this file")
    options = parser.parse_args()
    sizes, wanted = [int(s) for s in options.sizes.split(",")], options.ops and options.ops.split(",")
    columns = [(t, n) for t in options.types.split(",") for n in sizes]
    lines = ["| operation | " + " | ".join(f"{t} {n:.0e}".replace("e+0", "e") for t, n in columns) + " |", "|---|" + "--:|" * len(columns)]
    print("\n".join(lines), flush=True)
    table, slow = {n: {name: (types, f, shapes) for name, types, f, shapes in cases(n)} for n in sizes}, []
    with tempfile.TemporaryDirectory(prefix="hilo_ops_") as folder:
        for name in table[sizes[0]]:
            if wanted and name not in wanted:
                continue
            cells = []
            for element_type, n in columns:
                types, function, shapes = table[n][name]
                if element_type not in types:
                    cells.append("")
                    continue
                try:
                    hilo_ms, jax_ms = measure(options, function, make_inputs(shapes, TYPES[element_type], n), pathlib.Path(folder))
                except (RuntimeError, subprocess.TimeoutExpired) as error:
                    cells.append("failed")
                    slow.append(f"{name} {element_type} {n}: {error}")
                    continue
                ratio = hilo_ms / jax_ms
                cells.append(f"**{ratio:.2f}**" if ratio > 1.2 else f"{ratio:.2f}")
                if ratio > 1.2:
                    slow.append(f"{name} {element_type} {n}: {hilo_ms:.4g} ms against {jax_ms:.4g} ms")
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
            print(lines[-1], flush=True)
    print("\n" + "\n".join(slow))
    if options.out:
        pathlib.Path(options.out).write_text("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
