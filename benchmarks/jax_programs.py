"""Programs of JAX as the suites of benchmarks/compare.py write them: PROGRAMS by name, in the order of their definition."""

import time

import jax
import jax.numpy as jnp
import numpy as np

PROGRAMS = {}


def program(make):
    """Adds what `make(generator, device)` returns; arrays that it makes lie on that device. Names with "f64" run with 64 bits."""
    PROGRAMS[make.__name__] = make
    return make


def f32(generator, *shape):
    return jnp.asarray(generator.standard_normal(shape).astype(np.float32))


class Program:
    """A jitted function and its arguments; `threaded` of them are replaced by the first results of each call, and donated. Arguments that are
    `placed` are on their devices already."""

    def __init__(self, function, args, threaded=0, placed=False):
        self.placed = placed
        self.function, self.args, self.threaded = jax.jit(function, donate_argnums=tuple(range(threaded))), args, threaded
        self.given = jax.tree.map(jnp.array, args) if threaded else args

    def compile(self):
        """Returns the seconds of a compilation, without tracing."""
        lowered = self.function.lower(*self.args)
        start = time.perf_counter()
        lowered.compile()
        return time.perf_counter() - start

    def call(self, count):
        """Returns the seconds of one of `count` calls, of which the last result is awaited."""
        args = list(self.args)
        start = time.perf_counter()
        for _ in range(count):
            result = self.function(*args)
            if self.threaded:
                args[:self.threaded] = result[:self.threaded]
        jax.block_until_ready(result)
        seconds = time.perf_counter() - start
        self.args = args
        return seconds / count

    def save(self, path):
        """Writes the results of a call with the arguments that the program was made with."""
        args = jax.tree.map(jnp.array, self.given) if self.threaded else self.given
        results = [leaf for leaf in jax.tree.leaves(self.function(*args)) if not jnp.issubdtype(leaf.dtype, jax.dtypes.extended)]
        np.savez(path, **{f"out{index}": np.asarray(result) for index, result in enumerate(results)})


class Transfer:
    """A call of JAX that is no program."""

    def __init__(self, function):
        self.function = function

    def compile(self):
        return None

    def call(self, count):
        start = time.perf_counter()
        for _ in range(count):
            result = self.function()
        jax.block_until_ready(result)
        return (time.perf_counter() - start) / count
