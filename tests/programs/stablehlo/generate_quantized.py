"""Writes quantized.mlirbc (a portable artifact) and quantized.npz (inputs, results) of quantized.mlir in this folder, and
quantized_blocks.npz of quantized_blocks.mlir, whose types no artifact has.

    python tests/programs/stablehlo/generate_quantized.py

Needs jaxlib for the artifact. Results are computed here, in NumPy, by StableHLO's definition.
"""

import pathlib

import numpy as np
from jaxlib.mlir.dialects import stablehlo

HERE = pathlib.Path(__file__).resolve().parent
F = np.float32


def quantize(x, scales, zeros, low=-128, high=127):
    return np.rint(np.clip(np.asarray(x, F) / np.asarray(scales, F) + np.asarray(zeros, F), F(low), F(high))).astype(np.int64)


def dequantize(q, scales, zeros=0):
    return (q.astype(np.int64) - zeros).astype(F) * np.asarray(scales, F)


random = np.random.default_rng(5)
x = F([[1, -2.3, 40], [100, 0.25, -0.75]])  # of which one saturates, and two are halfway between integers
w = random.integers(-127, 128, (3, 2), dtype=np.int8)
image = (random.standard_normal((1, 4, 4, 2)) * 10).astype(F)
kernel = random.integers(-3, 4, (2, 2, 2, 3), dtype=np.int8)

q = quantize(x, 0.5, 3)
numbers = dequantize(q, 0.5, 3)
total = dequantize(quantize(numbers + numbers, 0.5, 3), 0.5, 3)
scales, zeros = [0.5, 2.5, 0.125], np.array([100, 1, 200])
narrow = dequantize(quantize(numbers, scales, zeros, 1, 200), scales, zeros)
weights = dequantize(w, [0.25, 0.5])
below = numbers.T < dequantize(w, 0.125, -1)
rows = np.full(2, 3)
for column in range(3):
    rows = quantize(dequantize(rows, 0.5, 3) + numbers[:, column], 0.5, 3)
pixels = np.pad(dequantize(quantize(image, 0.25, -7), 0.25, -7), [(0, 0), (1, 1), (1, 1), (0, 0)])
windows = np.stack([pixels[:, i : i + 5 : 2, j : j + 5 : 2] for i in range(2) for j in range(2)], axis=3)
filtered = np.einsum("bhwkf,kfo->bhwo", windows, dequantize(kernel, [0.5, 0.25, 1.0]).reshape(4, 2, 3))
filtered = dequantize(quantize(filtered, 0.75, 5), 0.75, 5)
larger = quantize(np.maximum(dequantize(np.array([-4, 0, 2, 7]), 1.5, 1), dequantize(quantize(np.arange(4), 1.5, 1, -8, 7), 1.5, 1)), 1.5, 1, -8, 7)
s = np.arange(-96, 96, 3, dtype=np.int8)
sums = quantize(dequantize(s, 0.1, 3)[:, None] + dequantize(s, 0.05, -7), 0.2, 5)
results = [q.astype(np.int8), total, narrow, numbers @ weights, x @ weights, below, dequantize(rows, 0.5, 3), filtered,
           dequantize(larger, 1.5, 1), dequantize(np.array([-(2**31), 1000]), 2.0, 1000), sums.astype(np.int8)]
arrays = {f"arg{i}": value for i, value in enumerate([x, w, image, kernel, s])}
arrays |= {f"out{i}": value for i, value in enumerate(results)}
np.savez(HERE / "quantized.npz", **arrays)
text = (HERE / "quantized.mlir").read_text()
(HERE / "quantized.mlirbc").write_bytes(stablehlo.serialize_portable_artifact_str(text, "1.13.0"))

random = np.random.default_rng(6)
x = (random.standard_normal((4, 6)) * 20).astype(F)
r = random.integers(-8, 8, (4, 6), dtype=np.int8)
c = random.integers(-128, 128, (4, 6), dtype=np.int8)


def spread(values, rows, columns):
    return np.repeat(np.repeat(values, rows, axis=0), columns, axis=1)


scales, zeros = spread([[0.5, 0.25], [0.125, 2.0]], 2, 3), spread([[1, 0], [-3, 5]], 2, 3)
columns = spread([[0.5], [0.25]], 2, 6), spread([[3], [-7]], 2, 6)
q = quantize(x, scales, zeros, -127, 127)
numbers = dequantize(q, scales, zeros)
again = dequantize(quantize(numbers, *columns), *columns)
weights = dequantize(r, spread([[0.5, 0.25, 1.0]], 4, 2), spread([[0, 1, 0]], 4, 2))
lhs = dequantize(np.array([[3, 4, 5, 6], [0, 3, 2, -9], [127, -128, 3, 1], [3, 3, 3, 4], [1, 2, 3, 4], [-7, 8, -9, 10]]), 0.5, 3)
rhs = dequantize(c, *columns)
results = [q.astype(np.int8), numbers, again, x @ weights.T, lhs.T @ rhs.T, dequantize(quantize(-rhs, *columns), *columns)]
arrays = {"arg0": x, "arg1": r.view("V1"), "arg2": c} | {f"out{i}": value for i, value in enumerate(results)}
np.savez(HERE / "quantized_blocks.npz", **arrays)
