"""Kernels beside the best library for each: JAX on Hilo, JAX on jaxlib's CPU platform, PyTorch (oneDNN, MKL) and NumPy, in one process.

    python benchmarks/peers.py build/lib/libpjrt_hilo.so [--only=TEXT] [--seconds=S] [--page=docs/benchmarks.md]

needs a Python with jax, torch and numpy. The sides take turns, a few runs each, for S seconds a row; what is printed is the least time of each, in
microseconds, and the time of the fastest other side over Hilo's: rows below 1 are those that Hilo loses.
"""

import argparse
import math
import os
import pathlib
import sys
import time

import report

ROWS = {}


def row(name, *inputs, torch=None, numpy=None):
    """Registers the decorated function of JAX arrays; `torch` and `numpy` are the same program in those libraries. inputs: (shape, type)."""
    def register(function):
        ROWS[name] = (function, inputs, torch, numpy)
        return function
    return register


def define_products():
    import jax.numpy as jnp
    import numpy as np
    import torch as t
    f32, bf16, f64, c64 = "float32", "bfloat16", "float64", "complex64"
    for m, k, n in ((512, 512, 512), (1024, 1024, 1024), (100, 300, 200), (1, 2048, 2048), (2048, 2048, 1), (8, 1024, 4096), (32, 1024, 1024), (64, 4096, 512),
                    (4096, 64, 64), (16, 16, 4096), (2048, 8, 2048), (37, 91, 53)):
        row(f"dot f32 {m}x{k}x{n}", ((m, k), f32), ((k, n), f32), torch=t.matmul, numpy=np.matmul)(jnp.matmul)
    for m, k, n in ((512, 512, 512), (8, 1024, 4096), (1, 2048, 2048), (64, 1024, 1024)):
        row(f"dot bf16 {m}x{k}x{n}", ((m, k), bf16), ((k, n), bf16), torch=t.matmul)(jnp.matmul)
    for m, k, n in ((512, 512, 512), (100, 100, 100)):
        row(f"dot f64 {m}x{k}x{n}", ((m, k), f64), ((k, n), f64), torch=t.matmul, numpy=np.matmul)(jnp.matmul)
        row(f"dot c64 {m}x{k}x{n}", ((m, k), c64), ((k, n), c64), torch=t.matmul, numpy=np.matmul)(jnp.matmul)
    for m, k, n in ((512, 512, 512), (32, 1024, 1024), (1, 2048, 2048)):
        row(f"dot f32 x weights[n,k] {m}x{k}x{n}", ((m, k), f32), ((n, k), f32), torch=t.nn.functional.linear, numpy=lambda x, w: x @ w.T)(lambda x, w: x @ w.T)
    for b, m, k, n in ((64, 32, 32, 32), (1000, 4, 4, 4), (16, 64, 64, 64), (512, 8, 16, 8), (8, 256, 64, 256)):
        row(f"dot f32 {b} x {m}x{k}x{n}", ((b, m, k), f32), ((b, k, n), f32), torch=t.bmm, numpy=np.matmul)(jnp.matmul)
    row("linear, bias, gelu 256x768x3072", ((256, 768), f32), ((3072, 768), f32), ((3072,), f32),
        torch=lambda x, w, b: t.nn.functional.gelu(t.nn.functional.linear(x, w, b), approximate="tanh"))(lambda x, w, b: _gelu(x @ w.T + b))
    row("linear, bias, relu 64x256x256", ((64, 256), f32), ((256, 256), f32), ((256,), f32),
        torch=lambda x, w, b: t.relu(t.nn.functional.linear(x, w, b)))(lambda x, w, b: jnp.maximum(x @ w.T + b, 0))


def _gelu(x):
    import jax
    return jax.nn.gelu(x)


def define_convolutions():
    import torch as t
    from jax import lax
    f32 = "float32"

    def convolution(name, image, kernel, stride=1, padding="SAME", groups=1, pad=None):
        rank = len(image) - 2
        spatial = "DHW"[3 - rank:]

        def run(x, w):
            return lax.conv_general_dilated(x, w, (stride,) * rank, padding if pad is None else [(pad, pad)] * rank, feature_group_count=groups,
                                            dimension_numbers=("NC" + spatial, "OI" + spatial, "NC" + spatial))
        native = {1: t.nn.functional.conv1d, 2: t.nn.functional.conv2d, 3: t.nn.functional.conv3d}[rank]
        row(f"conv {name}", (image, f32), (kernel, f32), torch=lambda x, w: native(x, w, stride=stride, padding=pad, groups=groups))(run)

    convolution("3x3 64 on 56x56", (1, 64, 56, 56), (64, 64, 3, 3), pad=1)
    convolution("3x3 512 on 7x7", (1, 512, 7, 7), (512, 512, 3, 3), pad=1)
    convolution("3x3 128 stride 2 on 28x28", (4, 128, 28, 28), (128, 128, 3, 3), stride=2, pad=1)
    convolution("1x1 256 on 14x14", (4, 256, 14, 14), (256, 256, 1, 1), pad=0)
    convolution("7x7 stem on 112x112", (1, 3, 112, 112), (64, 3, 7, 7), stride=2, pad=3)
    convolution("depthwise 3x3 128 on 28x28", (4, 128, 28, 28), (128, 1, 3, 3), groups=128, pad=1)
    convolution("5 of 1000, 64", (8, 64, 1000), (64, 64, 5), pad=2)
    convolution("3x3x3 16 on 16^3", (2, 16, 16, 16, 16), (16, 16, 3, 3, 3), pad=1)


def define_rows():
    import jax
    import jax.numpy as jnp
    import numpy as np
    import torch as t
    f32, i32 = "float32", "int32"
    functional = t.nn.functional
    for shape in ((1024, 1024), (32, 50257), (8192, 96), (4096, 33)):
        text = "x".join(map(str, shape))
        row(f"softmax {text}", (shape, f32), torch=lambda x: t.softmax(x, -1))(lambda x: jax.nn.softmax(x, -1))
        row(f"log-sum-exp {text}", (shape, f32), torch=lambda x: t.logsumexp(x, -1))(lambda x: jax.nn.logsumexp(x, -1))
        row(f"layer norm {text}", (shape, f32), torch=lambda x: functional.layer_norm(x, x.shape[-1:]))(
            lambda x: (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5))
    for shape in ((1000, 1000), (64, 64, 256)):
        text = "x".join(map(str, shape))
        for axis in range(len(shape)):
            row(f"sum over {axis} of {text}", (shape, f32), torch=lambda x, axis=axis: x.sum(axis), numpy=lambda x, axis=axis: x.sum(axis))(lambda x, axis=axis: x.sum(axis))
            row(f"max over {axis} of {text}", (shape, f32), torch=lambda x, axis=axis: x.amax(axis), numpy=lambda x, axis=axis: x.max(axis))(lambda x, axis=axis: x.max(axis))
            row(f"argmax over {axis} of {text}", (shape, f32), torch=lambda x, axis=axis: x.argmax(axis), numpy=lambda x, axis=axis: x.argmax(axis))(
                lambda x, axis=axis: x.argmax(axis))
            row(f"cumsum over {axis} of {text}", (shape, f32), torch=lambda x, axis=axis: x.cumsum(axis), numpy=lambda x, axis=axis: x.cumsum(axis))(
                lambda x, axis=axis: jnp.cumsum(x, axis))
    for n in (1000, 100000, 1000000):
        row(f"sort {n}", ((n,), f32), torch=lambda x: t.sort(x)[0], numpy=np.sort)(jnp.sort)
        row(f"argsort {n}", ((n,), f32), torch=t.argsort, numpy=np.argsort)(jnp.argsort)
    row("sort rows 1000x100", ((1000, 100), f32), torch=lambda x: t.sort(x)[0], numpy=lambda x: np.sort(x, -1))(lambda x: jnp.sort(x, -1))
    row("top 10 of rows 100x10000", ((100, 10000), f32), torch=lambda x: t.topk(x, 10)[0])(lambda x: jax.lax.top_k(x, 10)[0])
    row("median of rows 1000x101", ((1000, 101), f32), torch=lambda x: t.median(x, -1)[0], numpy=lambda x: np.median(x, -1))(lambda x: jnp.median(x, -1))
    for shape, order in (((1024, 1024), (1, 0)), ((8, 128, 8, 64), (0, 2, 1, 3)), ((8, 32, 32, 64), (0, 3, 1, 2)), ((64, 64, 64), (2, 1, 0)), ((4096, 16), (1, 0))):
        text = "x".join(map(str, shape)) + " to " + "".join(map(str, order))
        row(f"transpose {text}", (shape, f32), torch=lambda x, order=order: x.permute(order).contiguous(),
            numpy=lambda x, order=order: np.ascontiguousarray(x.transpose(order)))(lambda x, order=order: x.transpose(order))
    row("gather 100000 rows of 16", ((5000, 16), f32), ((100000,), i32), torch=lambda x, i: x[i], numpy=lambda x, i: x[i])(lambda x, i: x.at[i].get(mode="clip"))
    row("scatter-add 100000 into 5000", ((5000,), f32), ((100000,), i32), ((100000,), f32),
        torch=lambda x, i, u: x.index_add(0, i, u))(lambda x, i, u: x.at[i].add(u))
    row("scatter-add 20000 rows of 32", ((5000, 32), f32), ((20000,), i32), ((20000, 32), f32),
        torch=lambda x, i, u: x.index_add(0, i, u))(lambda x, i, u: x.at[i].add(u))


def define_elementwise():
    import jax
    import jax.numpy as jnp
    import numpy as np
    import torch as t
    f32 = "float32"
    functions = {"exp": (jnp.exp, t.exp, np.exp), "log": (jnp.log, t.log, np.log), "sin": (jnp.sin, t.sin, np.sin), "tanh": (jnp.tanh, t.tanh, np.tanh),
                 "erf": (jax.lax.erf, t.erf, None), "sqrt": (jnp.sqrt, t.sqrt, np.sqrt), "lgamma": (jax.lax.lgamma, t.lgamma, None),
                 "arctan": (jnp.arctan, t.arctan, np.arctan), "add 1": (lambda x: x + 1, lambda x: x + 1, lambda x: x + np.float32(1)),
                 "sigmoid": (jax.nn.sigmoid, t.sigmoid, None), "gelu": (jax.nn.gelu, lambda x: t.nn.functional.gelu(x, approximate="tanh"), None)}
    for name, (ours, torch, numpy) in functions.items():
        for n in (1000, 100000, 4000000):
            row(f"{name} {n}", ((n,), f32), torch=torch, numpy=numpy)(ours)
    row("power 100000", ((100000,), f32), ((100000,), f32), torch=lambda x, y: t.pow(t.abs(x), y))(lambda x, y: jnp.abs(x) ** y)


def define_transforms():
    import jax
    import jax.numpy as jnp
    import jax.scipy.linalg
    import numpy as np
    import torch as t
    c64, f32, f64 = "complex64", "float32", "float64"
    for shape in ((1024,), (100, 1000), (65536,), (64, 1009), (1 << 20,)):
        row("fft " + "x".join(map(str, shape)), (shape, c64), torch=t.fft.fft, numpy=np.fft.fft)(jnp.fft.fft)
    row("rfft 100x4096", ((100, 4096), f32), torch=t.fft.rfft, numpy=np.fft.rfft)(jnp.fft.rfft)
    row("fft2 256x256", ((256, 256), c64), torch=t.fft.fft2, numpy=np.fft.fft2)(jnp.fft.fft2)
    for n in (16, 64, 256):
        row(f"inverse {n}", ((n, n), f32), torch=t.linalg.inv, numpy=np.linalg.inv)(jnp.linalg.inv)
        row(f"solve {n}", ((n, n), f64), ((n, 1), f64), torch=t.linalg.solve, numpy=np.linalg.solve)(jnp.linalg.solve)
        row(f"qr {n}", ((n, n), f32), torch=t.linalg.qr, numpy=np.linalg.qr)(lambda a: tuple(jnp.linalg.qr(a)))
        row(f"eigh {n}", ((n, n), f32), torch=lambda a: t.linalg.eigh(a + a.T), numpy=lambda a: np.linalg.eigh(a + a.T))(lambda a: tuple(jnp.linalg.eigh(a + a.T)))
        row(f"svd {n}", ((n, n), f32), torch=t.linalg.svd, numpy=np.linalg.svd)(lambda a: tuple(jnp.linalg.svd(a)))
    row("cholesky 500 of 4x4", ((500, 4, 4), f32), torch=lambda a: t.linalg.cholesky(a @ a.mT + 4 * t.eye(4)))(
        lambda a: jnp.linalg.cholesky(a @ a.mT + 4 * jnp.eye(4)))
    row("inverse 500 of 4x4", ((500, 4, 4), f32), torch=t.linalg.inv, numpy=np.linalg.inv)(jnp.linalg.inv)


def define_attention():
    import jax
    import torch as t
    f32 = "float32"
    for batch, heads, queries, keys, size, causal in ((1, 8, 512, 512, 64, False), (1, 8, 2048, 2048, 64, True), (4, 12, 128, 128, 64, False), (1, 32, 1, 1024, 64, False)):
        def ours(q, k, v, causal=causal):
            return jax.nn.dot_product_attention(q, k, v, is_causal=causal)

        def theirs(q, k, v, causal=causal):
            return t.nn.functional.scaled_dot_product_attention(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), is_causal=causal).transpose(1, 2)
        side = ((batch, keys, heads, size), f32)
        row(f"attention {batch}x{heads}x{queries}x{keys}x{size}" + (" causal" if causal else ""), ((batch, queries, heads, size), f32), side, side, torch=theirs)(ours)


def make_input(shape, dtype, generator):
    import ml_dtypes
    import numpy as np
    if dtype.startswith("int"):
        return generator.integers(0, 5000, shape).astype(dtype)
    values = generator.standard_normal(shape)
    if dtype.startswith("complex"):
        values = values + 1j * generator.standard_normal(shape)
    return values.astype(ml_dtypes.bfloat16 if dtype == "bfloat16" else np.dtype(dtype))


def sides(name):
    """Returns {side: run} for a row."""
    import jax
    import numpy as np
    import torch
    function, inputs, torch_function, numpy_function = ROWS[name]
    generator = np.random.default_rng(0)
    arrays = [make_input(shape, dtype, generator) for shape, dtype in inputs]
    runs = {}
    for side, platform in (("hilo", "hilo"), ("jaxlib", "cpu")):
        device = jax.devices(platform)[0]
        on_device = jax.device_put(arrays, device)
        with jax.default_device(device):
            compiled = jax.jit(function).lower(*on_device).compile()
        runs[side] = lambda compiled=compiled, on_device=on_device: jax.block_until_ready(compiled(*on_device))
    if torch_function is not None:
        tensors = [torch.from_numpy(a.astype(np.float32)).bfloat16() if a.dtype.name == "bfloat16" else torch.from_numpy(a.copy()) for a in arrays]
        runs["torch"] = lambda: torch_function(*tensors)
    if numpy_function is not None:
        runs["numpy"] = lambda: numpy_function(*arrays)
    return runs


def measure(runs, seconds):
    best = {side: math.inf for side in runs}
    for run in runs.values():
        run()
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for side, run in runs.items():
            time.sleep(0.005)  # threads of the last side still spin
            for _ in range(8):
                begin = time.perf_counter()
                run()
                best[side] = min(best[side], time.perf_counter() - begin)
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plugin", help="build/lib/libpjrt_hilo.so")
    parser.add_argument("--only", default="", help="rows whose names contain one of these texts, separated by commas")
    parser.add_argument("--seconds", type=float, default=0.3, help="seconds of measurement for each row")
    parser.add_argument("--page", help="a page whose section of kernels gets the table")
    options = parser.parse_args()
    # Threads of OpenBLAS and of PyTorch's OpenMP spin for longer than the sides sleep, and would take a processor from the next one: 2^20 cycles rather than
    # 2^28, and 60,000 iterations rather than 300,000.
    os.environ.update(JAX_PLATFORMS="hilo,cpu", HILO_PJRT_LIBRARY=os.path.abspath(options.plugin), OPENBLAS_THREAD_TIMEOUT="20", GOMP_SPINCOUNT="60000")
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))
    import jax
    import numpy
    import torch
    jax.config.update("jax_enable_x64", True)
    torch.set_grad_enabled(False)
    torch.set_num_threads(len(os.sched_getaffinity(0)))
    for define in (define_products, define_convolutions, define_rows, define_elementwise, define_transforms, define_attention):
        define()
    lines = ["| kernel | Hilo, us | jaxlib, us | PyTorch, us | NumPy, us | best other over Hilo |", "|---|--:|--:|--:|--:|--:|"]
    print("\n".join(lines))
    ratios = []
    for name in [name for name in ROWS if any(text in name for text in options.only.split(","))]:
        times = measure(sides(name), options.seconds)
        ratios.append(min(seconds for side, seconds in times.items() if side != "hilo") / times["hilo"])
        cells = " | ".join(f"{times[side] * 1e6:.1f}" if side in times else "" for side in ("hilo", "jaxlib", "torch", "numpy"))
        lines.append(f"| {name} | {cells} | {ratios[-1]:.2f} |")
        print(lines[-1], flush=True)
    if not ratios:
        return
    summary = f"{len(ratios)} kernels, geometric mean {report.geometric_mean(ratios):.2f}, {sum(ratio < 0.95 for ratio in ratios)} below 0.95"
    print(f"\n{summary}")
    if options.page:
        libraries = f"jaxlib {jax.lib.__version__}, PyTorch {torch.__version__}, NumPy {numpy.__version__}"
        report.write_section(options.page, "peers", f"{summary}; {libraries}.\n\n" + "\n".join(lines))


if __name__ == "__main__":
    main()
