"""Lowers the MiniLM encoder to HLO text, for 8 sentences of 128 tokens: writes minilm_8x128.hlo beside this file.

Needs JAX. Run it as `python examples/minilm/lower.py`.
"""

import pathlib
import sys

import jax
import jax.numpy as jnp

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from hlo_text import lower
from model import encode_flat
from weights import weight_shapes

BATCH, LENGTH = 8, 128


def main():
    ids = jax.ShapeDtypeStruct((BATCH, LENGTH), jnp.int32)
    weights = [jax.ShapeDtypeStruct(shape, jnp.float32) for shape in weight_shapes().values()]
    head = [f"all-MiniLM-L6-v2 sentence encoder, {BATCH} x {LENGTH} tokens; written by examples/minilm/lower.py.",
            "parameter(0): token ids, parameter(1): attention mask, then the weights in the order of weights.py."]
    text = lower(encode_flat, ids, ids, *weights, head=head)
    path = HERE / f"minilm_{BATCH}x{LENGTH}.hlo"
    path.write_text(text)
    instructions = sum(" = " in line for line in text.splitlines())
    print(f"wrote {path.name}: {instructions} instructions, {len(weights) + 2} parameters, {len(text)} bytes (JAX {jax.__version__})")


if __name__ == "__main__":
    main()
