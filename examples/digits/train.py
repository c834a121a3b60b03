"""Trains a small network on scikit-learn's handwritten digits, and writes what the digits example is made of.

Needs JAX and scikit-learn. Run it as `python examples/digits/train.py`; beside this file it writes
  forward.hlo     logits f32[64,10] of 64 images; parameters: images f32[64,64], then weights and biases of three layers
  train_step.hlo  one Adam step on 64 images; parameters: images, labels, step count, weights, first and second moments;
                  results: loss, step count, weights, first and second moments
  digits.npz      the trained weights (w0, b0, w1, b1, w2, b2) and 64 test images with their labels
"""

import pathlib
import sys

import jax
import jax.numpy as jnp
import numpy as np
from sklearn.datasets import load_digits

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from hlo_text import lower

BATCH = 64
SIZES = (64, 96, 48, 10)
EPOCHS = 40


def logits(images, *weights):
    x = images
    for layer in range(0, len(weights), 2):
        x = x @ weights[layer] + weights[layer + 1]
        x = jnp.maximum(x, 0) if layer + 2 < len(weights) else x
    return x


def loss(weights, images, labels):
    log_probability = jax.nn.log_softmax(logits(images, *weights))
    return -jnp.take_along_axis(log_probability, labels[:, None], axis=1).mean()


def train_step(images, labels, step, weights, first, second):
    """One step of Adam: rate 0.002, decay 0.9 and 0.999."""
    value, gradient = jax.value_and_grad(loss)(weights, images, labels)
    step = step + 1
    first = [0.9 * m + 0.1 * g for m, g in zip(first, gradient)]
    second = [0.999 * v + 0.001 * g * g for v, g in zip(second, gradient)]
    rate = 0.002 * jnp.sqrt(1 - 0.999**step) / (1 - 0.9**step)
    weights = [w - rate * m / (jnp.sqrt(v) + 1e-8) for w, m, v in zip(weights, first, second)]
    return value, step, weights, first, second


def initial_state(generator):
    weights = []
    for inputs, outputs in zip(SIZES, SIZES[1:]):
        weights += [generator.normal(0, np.sqrt(2 / inputs), (inputs, outputs)).astype(np.float32), np.zeros(outputs, np.float32)]
    zeros = [np.zeros_like(w) for w in weights]
    return np.float32(0), weights, zeros, zeros


def main():
    generator = np.random.default_rng(0)
    images, labels = load_digits(return_X_y=True)
    images, labels = (images / 16).astype(np.float32), labels.astype(np.int32)
    order = generator.permutation(len(labels))
    test, training = order[: 5 * BATCH], order[5 * BATCH :]

    state = initial_state(generator)
    head = ["Written by examples/digits/train.py."]
    batch = images[:BATCH], labels[:BATCH]
    (HERE / "forward.hlo").write_text(lower(logits, batch[0], *state[1], head=["Digits network, forward pass. " + head[0]]))
    (HERE / "train_step.hlo").write_text(lower(train_step, *batch, *state, head=["Digits network, one Adam step. " + head[0]]))

    step = jax.jit(train_step)
    for epoch in range(EPOCHS):
        generator.shuffle(training)
        for start in range(0, len(training) - BATCH + 1, BATCH):
            chosen = training[start : start + BATCH]
            value, *state = step(images[chosen], labels[chosen], *state)
    right = np.argmax(logits(images[test], *state[1]), axis=1) == labels[test]
    print(f"{EPOCHS} epochs: last loss {value:.4f}, {right.mean():.1%} of {len(test)} test images right")

    names = [f"{kind}{layer}" for layer in range(len(SIZES) - 1) for kind in "wb"]
    shown = test[:BATCH]
    np.savez_compressed(HERE / "digits.npz", images=images[shown], labels=labels[shown],
                        **{name: np.asarray(w) for name, w in zip(names, state[1])})
    for path in sorted(HERE.glob("*.hlo")) + [HERE / "digits.npz"]:
        print(f"{path.name}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
