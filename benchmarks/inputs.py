"""The inputs of the benchmark programs, made anew from fixed seeds: some are too big to be kept. NumPy only."""

import pathlib
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
MINILM = HERE.parent / "examples" / "minilm"
sys.path.append(str(MINILM))


def _normal(seed, *shape, scale=1.0, dtype=np.float32):
    return (np.random.default_rng(seed).standard_normal(shape) * scale).astype(dtype)


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
}


def module_path(name):
    """The HLO text of a benchmark program."""
    return MINILM / "minilm_8x128.hlo" if name == "minilm_8x128" else HERE / "programs" / f"{name}.hlo"


def write_inputs(name, path):
    """Writes the program's inputs as arg0, arg1 ... of an .npz file."""
    np.savez(path, **{f"arg{index}": array for index, array in enumerate(INPUTS[name]())})
