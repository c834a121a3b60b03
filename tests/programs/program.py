"""What a test program is, and small things that the files of programs share."""

import dataclasses
from typing import Any, Callable

import numpy as np


@dataclasses.dataclass(frozen=True)
class Program:
    """A JAX function with its inputs; generate.py lowers it and keeps its results.

    tolerance is one line a float type, such as "f32 1e-5 relative"; types without a line are compared exactly.
    """

    name: str
    what: str
    function: Callable[..., Any]
    arguments: tuple
    tolerance: tuple = ("f32 3e-6 relative",)
    form: str = "bare"
    x64: bool = False


def normal(seed, *shape, scale=1.0, dtype=np.float32):
    """Repeatable random numbers."""
    return (np.random.default_rng(seed).standard_normal(shape) * scale).astype(dtype)


def integers(seed, low, high, shape, dtype=np.int32):
    return np.random.default_rng(seed).integers(low, high, shape).astype(dtype)
