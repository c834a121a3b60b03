"""The inputs of the benchmark programs, generated from fixed seeds: some are too big to be kept. NumPy only."""

import pathlib
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
MINILM = HERE.parent / "examples" / "minilm"
sys.path.append(str(MINILM))


def _normal(seed, *shape, scale=1.0, dtype=np.float32):
    return (np.random.default_rng(seed).standard_normal(shape) * scale).astype(dtype)


def _complex(seed, *shape):
    return (_normal(seed, *shape) + 1j * _normal(seed + 100, *shape)).astype(np.complex64)


def _minilm():
    from weights import VOCABULARY, random_weights
    ids = np.random.default_rng(0).integers(0, VOCABULARY, (8, 128)).astype(np.int32)
    return [ids, np.ones((8, 128), np.int32), *random_weights().values()]


def _rotations(count):
    return np.linalg.qr(_normal(0, count, 3, 3, dtype=np.float64))[0]


def _mlp():
    sizes = (784, 512, 256, 10)
    weights = [array for i, (a, b) in enumerate(zip(sizes, sizes[1:])) for array in (_normal(i, a, b, scale=a**-0.5), np.zeros(b, np.float32))]
    zeros = [np.zeros_like(w) for w in weights]
    labels = np.random.default_rng(9).integers(0, 10, 128).astype(np.int32)
    return [*weights, *zeros, *zeros, np.int32(0), _normal(8, 128, 784), labels]


F64 = np.float64
INPUTS = {
    "minilm_8x128": _minilm,
    "mlp_train_step": _mlp,
    "matrix_scan": lambda: [_rotations(1000), np.eye(3)],
    "scalar_leaves_gradient": lambda: [*_normal(0, 60), _normal(1, 200)],
    "kinematic_tree_gradient": lambda: [_normal(0, 15, 2, dtype=F64), np.abs(_normal(1, 15, dtype=F64))],
    "hodgkin_huxley_gradient": lambda: [F64(120), F64(36), F64(0.3), np.linspace(0, 20, 5000)],
    "nbody_scan": lambda: [_normal(0, 64, 3, dtype=F64), _normal(1, 64, 3, scale=0.1, dtype=F64), np.abs(_normal(2, 64, dtype=F64))],
    "roll_stencil": lambda: [_normal(0, 1024, 1024, dtype=F64)],
    "cumsum_axis0": lambda: [_normal(0, 8192, 1024)],
    "softmax_rows": lambda: [_normal(0, 4096, 1024)],
    "layer_norm_rows": lambda: [_normal(0, 4096, 1024), _normal(1, 1024), _normal(2, 1024)],
    "argsort_axis0": lambda: [_normal(0, 100, 10000)],
    "conv_3x3": lambda: [_normal(0, 4, 56, 56, 64), _normal(1, 3, 3, 64, 64)],
    "conv_3x3_deep": lambda: [_normal(0, 8, 14, 14, 256), _normal(1, 3, 3, 256, 256)],
    "conv_stem": lambda: [_normal(0, 1, 224, 224, 3), _normal(1, 7, 7, 3, 64)],
    "conv_pointwise": lambda: [_normal(0, 4, 28, 28, 256), _normal(1, 1, 1, 256, 512)],
    "conv_depthwise": lambda: [_normal(0, 4, 56, 56, 144), _normal(1, 3, 3, 1, 144)],
    "conv_grouped": lambda: [_normal(0, 4, 28, 28, 128), _normal(1, 3, 3, 4, 128)],
    "conv_nchw": lambda: [_normal(0, 4, 64, 56, 56), _normal(1, 64, 64, 3, 3)],
    "conv_1d": lambda: [_normal(0, 4, 4096, 64), _normal(1, 3, 64, 64)],
    "conv_transposed": lambda: [_normal(0, 4, 16, 16, 128), _normal(1, 4, 4, 128, 64)],
    "conv_kernel_gradient": lambda: [_normal(0, 8, 28, 28, 64), _normal(1, 8, 28, 28, 64)],
    "conv_input_gradient": lambda: [_normal(0, 4, 28, 28, 128), _normal(1, 3, 3, 64, 128)],
    "conv_few_features": lambda: [_normal(0, 1, 128, 128, 32), _normal(1, 3, 3, 32, 3)],
    "conv_f64": lambda: [_normal(0, 2, 28, 28, 64, dtype=F64), _normal(1, 3, 3, 64, 64, dtype=F64)],
    "conv_complex": lambda: [_complex(0, 2, 28, 28, 32), _complex(1, 3, 3, 32, 32)],
}


def module_path(name):
    """The HLO text of a benchmark program."""
    return MINILM / "minilm_8x128.hlo" if name == "minilm_8x128" else HERE / "programs" / f"{name}.hlo"


def write_inputs(name, path):
    """Writes the program's inputs as arg0, arg1 ... of an .npz file."""
    np.savez(path, **{f"arg{index}": array for index, array in enumerate(INPUTS[name]())})
