"""Trains the network of examples/digits with JAX on Hilo, and with jaxlib's CPU platform for comparison.

    python examples/jax/digits.py          # needs JAX, scikit-learn and the plugin (docs/pjrt.md)
"""

import os
import pathlib
import sys
import time

os.environ.setdefault("JAX_PLATFORMS", "hilo,cpu")
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "digits"), str(HERE.parent), str(HERE.parents[1] / "python")]

import jax
import numpy as np
import train
from sklearn.datasets import load_digits

EPOCHS = 20


def fit(device):
    """Returns the loss of the last epoch, the accuracy on held-out images, and the seconds a step."""
    images, labels = load_digits(return_X_y=True)
    images, labels = (images / 16).astype(np.float32), labels.astype(np.int32)
    generator = np.random.default_rng(0)
    order = generator.permutation(len(images))
    images, labels = images[order], labels[order]
    batches = 1500 // train.BATCH
    step, state = jax.jit(train.train_step, donate_argnums=(2, 3, 4, 5)), jax.device_put(train.initial_state(generator), device)
    data = jax.device_put([(images[i * train.BATCH:][:train.BATCH], labels[i * train.BATCH:][:train.BATCH]) for i in range(batches)], device)
    start = None
    for epoch in range(EPOCHS):
        losses = []
        for x, y in data:
            loss, *state = step(x, y, *state)
            losses.append(loss)
        losses = np.array(jax.device_get(losses))
        start = start or time.perf_counter()  # after the first epoch, which compiles
    seconds = (time.perf_counter() - start) / (EPOCHS - 1) / batches
    answers = jax.jit(train.logits)(jax.device_put(images[1500:], device), *state[1]).argmax(-1)
    return losses.mean(), (np.asarray(answers) == labels[1500:]).mean(), seconds


def main():
    results = {platform: fit(jax.devices(platform)[0]) for platform in ("hilo", "cpu")}
    for platform, (loss, accuracy, seconds) in results.items():
        print(f"{platform:5}  loss {loss:.5f}  accuracy {accuracy:.3f}  {1e6 * seconds:.0f} us a step")
    if abs(results["hilo"][0] - results["cpu"][0]) > 1e-3 or results["hilo"][1] < 0.9:
        sys.exit("the two do not agree")


if __name__ == "__main__":
    main()
