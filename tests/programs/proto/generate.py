"""Writes the modules of this folder: HloModuleProtos as jaxlib makes them, with inputs and results.

NAME.pb is the module that JAX hands to XLA, NAME.optimized.pb what XLA's CPU compiler makes of it, NAME.optimized.hlo the text of that, and
NAME.npz holds arg0 ..., out0 .... Arguments: names; default: all.
"""

import pathlib
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxlib import _hlo

HERE = pathlib.Path(__file__).resolve().parent


def random(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def softmax_gather(x, table, indices):
    """Fusions, a reduction, a gather, a dot."""
    return jax.nn.softmax(x @ table.T, axis=-1)[indices], jnp.sum(jnp.exp(x) * jnp.tanh(x) + 1, axis=0)


def counted_loop(x):
    """A loop with a known trip count, with dynamic slices and updates."""

    def step(i, state):
        row = lax.dynamic_index_in_dim(state, i, 0, keepdims=False)
        return lax.dynamic_update_index_in_dim(state, jnp.sin(row) + i, (i + 1) % 5, 0)

    return lax.fori_loop(0, 7, step, x)


def sort_and_scatter(keys, values, places):
    """A sort of two arrays, a scatter that adds, a cumulative sum."""
    sorted_keys, sorted_values = lax.sort((keys, values), num_keys=1)
    return sorted_keys, sorted_values, jnp.zeros(12, jnp.float32).at[places].add(values), jnp.cumsum(values)


def windows(image, kernel):
    """A reduce-window, its gradient, a transposition that compilers turn into a layout."""
    pooled = lax.reduce_window(image, -jnp.inf, lax.max, (2, 2), (2, 2), "VALID")
    padded = lax.reduce_window(image, 0.0, lax.add, (3, 2), (1, 2), ((1, 1), (0, 1)), window_dilation=(1, 2))
    return pooled, padded, jnp.einsum("ij,kj->ki", image, kernel).T + image[:, :4]


def branches(index, x):
    """A conditional of three, calls of functions, a value that is not a number in a constant, small integers."""
    chosen = lax.switch(index, [jnp.sin, lambda v: v * jnp.float32(2.5), lambda v: v[::-1]], x)
    masked = jnp.where(x > 0, chosen, jnp.float32(np.nan))
    return masked, jnp.isnan(masked).astype(jnp.int8), jnp.array([1, -2, 3], jnp.int4).astype(jnp.int32) + index


def transposed(x, y):
    """A transposition of which only a layout is left, a concatenation, pads, a reverse, complex numbers."""
    joined = jnp.concatenate([x.transpose(2, 0, 1), y], axis=0)
    padded = lax.pad(joined, jnp.float32(1), ((1, 0, 0), (0, 2, 1), (-1, 0, 0)))
    return padded[::-1], jnp.abs(x[0] + 1j * y[:3].transpose(2, 0, 1)[0][:, :1].astype(jnp.complex64))


def sort_with_nan(x):
    """The total order of floats, which releases of XLA write in two ways."""
    return lax.sort(x), jnp.argsort(x)


PROGRAMS = {
    "softmax_gather": (softmax_gather, (random(1, 6, 8), random(2, 5, 8), np.array([3, 0, 5], np.int32))),
    "counted_loop": (counted_loop, (random(3, 5, 4),)),
    "sort_and_scatter": (sort_and_scatter, (np.array([3, 1, 2, 1, 0, 7], np.int32), random(4, 6), np.array([2, 2, 0, 11, 5, 2], np.int32))),
    "windows": (windows, (random(5, 8, 8), random(6, 4, 8))),
    "branches": (branches, (np.int32(2), random(7, 9))),
    "sort_with_nan": (sort_with_nan, (np.array([2, np.nan, -1, 0, np.inf, np.nan, -0.0, 1, -np.inf], np.float32),)),
    "transposed": (transposed, (random(8, 2, 3, 4), random(9, 5, 2, 3))),
}


def without_places(module):
    """The module without the tables of source places, which name files of this machine."""
    options = _hlo.HloPrintOptions()
    options.print_metadata = False
    options.print_large_constants = True
    text = module.to_string(options)
    return text, _hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto()


def generate(name, function, arguments):
    lowered = jax.jit(function, keep_unused=True).lower(*arguments)
    compiled = lowered.compile()
    _, proto = without_places(lowered.compiler_ir("hlo").get_hlo_module())
    text, optimized = without_places(compiled.runtime_executable().hlo_modules()[0])
    (HERE / f"{name}.pb").write_bytes(proto)
    (HERE / f"{name}.optimized.pb").write_bytes(optimized)
    (HERE / f"{name}.optimized.hlo").write_text(f"// {function.__doc__}\n// Written by tests/programs/proto/generate.py.\n{text}")
    results = jax.tree.leaves(compiled(*arguments))
    arrays = {f"arg{i}": a for i, a in enumerate(arguments)} | {f"out{i}": np.asarray(a) for i, a in enumerate(results)}
    np.savez_compressed(HERE / f"{name}.npz", **arrays)
    print(f"{name}: {len(proto)} bytes, {len(optimized)} bytes optimized")


if __name__ == "__main__":
    for name in sys.argv[1:] or PROGRAMS:
        generate(name, *PROGRAMS[name])
