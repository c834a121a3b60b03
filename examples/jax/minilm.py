"""The MiniLM sentence encoder of examples/minilm, run by JAX on Hilo and compared with jaxlib's CPU platform.

    python examples/jax/minilm.py          # needs JAX and the plugin (docs/pjrt.md); the weights are random numbers

What is compared is arithmetic, so the weights need not be those of the trained model, whose download is prepare.py's.
"""

import os
import pathlib
import sys
import time

os.environ.setdefault("JAX_PLATFORMS", "hilo,cpu")
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "minilm"), str(HERE.parents[1] / "python")]

import jax
import numpy as np
from model import encode
from weights import random_weights

BATCH, LENGTH, RUNS = 8, 128, 5


def embed(device, ids, mask, weights):
    """Returns the embeddings and the seconds of the fastest run."""
    arguments = jax.device_put((ids, mask, weights), device)
    run = jax.jit(encode)
    result, seconds = run(*arguments).block_until_ready(), []
    for _ in range(RUNS):
        start = time.perf_counter()
        run(*arguments).block_until_ready()
        seconds.append(time.perf_counter() - start)
    return np.asarray(result), min(seconds)


def main():
    generator = np.random.default_rng(0)
    weights = random_weights()
    ids = generator.integers(0, 30000, (BATCH, LENGTH)).astype(np.int32)
    mask = (np.arange(LENGTH) < generator.integers(10, LENGTH, (BATCH, 1))).astype(np.int32)
    results = {platform: embed(jax.devices(platform)[0], ids, mask, weights) for platform in ("hilo", "cpu")}
    for platform, (_, seconds) in results.items():
        print(f"{platform:5}  {1e3 * seconds:.1f} ms for {BATCH} sentences of {LENGTH} tokens")
    difference = np.abs(results["hilo"][0] - results["cpu"][0]).max()
    print(f"greatest difference {difference:.2g}")
    if difference > 1e-4:
        sys.exit("the two do not agree")


if __name__ == "__main__":
    main()
