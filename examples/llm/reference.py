"""The model of model.py in NumPy, written apart from it: no cache, all tokens at once, one head at a time, in float64."""

import numpy as np

from weights import GROUP


def _matrix(weight):
    if not isinstance(weight, dict):
        return weight.astype(np.float64)
    scale = np.repeat(weight["scale"].astype(np.float64), GROUP, axis=-1)
    if "int8" in weight:
        return weight["int8"] * scale
    pairs = weight["int4"].reshape(*weight["int4"].shape[:-1], -1, GROUP // 2).astype(np.int64)
    integers = np.concatenate([pairs % 16, pairs // 16], axis=-1) - 8
    return integers.reshape(scale.shape) * scale


def _norm(x, weight, epsilon):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + epsilon) * weight


def _rotate(x, theta):
    """x[tokens, head]: pairs of coordinates as complex numbers, turned by their angles."""
    half = x.shape[1] // 2
    turned = (x[:, :half] + 1j * x[:, half:]) * np.exp(1j * np.outer(np.arange(len(x)), theta ** -(np.arange(half) / half)))
    return np.concatenate([turned.real, turned.imag], axis=1)


def logits(weights, tokens, config):
    """Returns the logits after each of `tokens`."""
    embedding = _matrix(weights["embedding"])
    x = embedding[tokens]
    for i in range(config.layers):
        layer = {name: {key: part[i] for key, part in weight.items()} if isinstance(weight, dict) else weight[i]
                 for name, weight in weights["layers"].items()}
        y = _norm(x, layer["norm1"], config.epsilon)
        q, k, v = (y @ _matrix(layer[name]).T + (layer[name + "_bias"] if config.bias else 0) for name in ("query", "key", "value"))
        mixed = np.zeros_like(q)
        for head in range(config.heads):
            own = slice(head * config.head, (head + 1) * config.head)
            shared = head * config.kv_heads // config.heads
            other = slice(shared * config.head, (shared + 1) * config.head)
            scores = _rotate(q[:, own], config.theta) @ _rotate(k[:, other], config.theta).T / np.sqrt(config.head)
            powers = np.tril(np.exp(scores - scores.max()))
            mixed[:, own] = powers / powers.sum(-1, keepdims=True) @ v[:, other]
        x = x + mixed @ _matrix(layer["output"]).T
        y = _norm(x, layer["norm2"], config.epsilon)
        gate = y @ _matrix(layer["gate"]).T
        x = x + (gate / (1 + np.exp(-gate)) * (y @ _matrix(layer["up"]).T)) @ _matrix(layer["down"]).T
    return _norm(x, weights["norm"], config.epsilon) @ embedding.T
