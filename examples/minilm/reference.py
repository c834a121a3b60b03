"""The MiniLM encoder in NumPy, written apart from model.py: what every result of the demo is compared with.

It computes in float64 from the float32 weights, one sentence at a time and without padding, so that neither the mask nor
the batching can be wrong in the same way here and there.
"""

import math

import numpy as np

from weights import EPSILON, HEADS, LAYERS

_erf = np.frompyfunc(math.erf, 1, 1)


def _norm(x, scale, shift):
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + EPSILON) * scale + shift


def _embed_one(tokens, w):
    count = len(tokens)
    linear = lambda x, name: np.einsum("ti,oi->to", x, w[name + ".weight"], optimize=True) + w[name + ".bias"]
    norm = lambda x, name: _norm(x, w[name + ".weight"], w[name + ".bias"])
    x = w["embeddings.word_embeddings.weight"][tokens].astype(np.float64)
    x += w["embeddings.position_embeddings.weight"][:count] + w["embeddings.token_type_embeddings.weight"][0]
    x = norm(x, "embeddings.LayerNorm")
    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}."
        q, k, v = (linear(x, f"{at}attention.self.{part}").reshape(count, HEADS, -1) for part in ("query", "key", "value"))
        scores = np.einsum("qhd,khd->hqk", q, k) / math.sqrt(q.shape[-1])
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
        mixed = np.einsum("hqk,khd->qhd", weights, v).reshape(count, -1)
        x = norm(x + linear(mixed, at + "attention.output.dense"), at + "attention.output.LayerNorm")
        wide = linear(x, at + "intermediate.dense")
        wide = wide * 0.5 * (1 + _erf(wide / math.sqrt(2)).astype(np.float64))
        x = norm(x + linear(wide, at + "output.dense"), at + "output.LayerNorm")
    mean = x.mean(0)
    return mean / np.linalg.norm(mean)


def embed(ids, mask, weights):
    """Embeds sentences: integer arrays ids and mask of [batch, length], weights by name; returns float64 [batch, 384]."""
    w = {name: array if "word_embeddings" in name else array.astype(np.float64) for name, array in weights.items()}
    return np.stack([_embed_one(row[: int(valid.sum())], w) for row, valid in zip(ids, mask)])
