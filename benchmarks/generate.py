"""Lowers the benchmark programs with JAX into benchmarks/programs/*.hlo; their inputs are in inputs.py.

Needs JAX. Run it as `python benchmarks/generate.py`. Programs that are also tests come from tests/programs, here at sizes
worth timing.
"""

import functools
import pathlib
import sys

import jax
import jax.numpy as jnp
import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tests" / "programs"), str(HERE.parent / "examples")]

from dynamics import hodgkin_huxley, kinematic_tree, matrix_scan, nbody, scalar_leaves
from hlo_text import lower
from inputs import INPUTS, module_path
from learning import adam_step, layer_norm


def roll_stencil(grid):
    for _ in range(5):
        neighbours = sum(jnp.roll(grid, shift, axis) for axis in (0, 1) for shift in (1, -1))
        grid = grid + 0.2 * (neighbours - 4 * grid)
    return grid


def mlp_train_step(*arrays):
    state, step, images, labels = arrays[:18], *arrays[18:]
    layers = lambda flat: [(flat[i], flat[i + 1]) for i in range(0, 6, 2)]
    return adam_step(layers(state[:6]), layers(state[6:12]), layers(state[12:]), step, images, labels)


PROGRAMS = {
    "mlp_train_step": mlp_train_step,
    "matrix_scan": matrix_scan,
    "scalar_leaves_gradient": lambda *a: scalar_leaves(list(a[:60]), a[60]),
    "kinematic_tree_gradient": kinematic_tree,
    "hodgkin_huxley_gradient": lambda a, b, c, current: hodgkin_huxley((a, b, c), current),
    "nbody_scan": functools.partial(nbody, steps=200),
    "roll_stencil": roll_stencil,
    "cumsum_axis0": lambda x: jnp.cumsum(x, axis=0),
    "softmax_rows": lambda x: jax.nn.softmax(x, axis=1),
    "layer_norm_rows": layer_norm,
    "argsort_axis0": lambda x: jnp.argsort(x, axis=0),
}


def main():
    module_path("matrix_scan").parent.mkdir(exist_ok=True)
    for name, function in PROGRAMS.items():
        arguments = [np.asarray(array) for array in INPUTS[name]()]
        with jax.enable_x64(any(array.dtype == np.float64 for array in arguments)):
            text = lower(function, *arguments, head=["Written by benchmarks/generate.py."])
        module_path(name).write_text(text)
        print(f"{name}: {text.count(' = ')} instructions, {len(text)} bytes")


if __name__ == "__main__":
    main()
