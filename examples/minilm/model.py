"""The all-MiniLM-L6-v2 sentence encoder in plain JAX: a six-layer BERT, mean pooling, and a unit-length embedding."""

import jax
import jax.numpy as jnp

from weights import EPSILON, HEADS, HIDDEN, LAYERS, weight_shapes


def _dense(x, weights, name):
    return x @ weights[name + ".weight"].T + weights[name + ".bias"]


def _layer_norm(x, weights, name):
    mean = x.mean(axis=-1, keepdims=True)
    variance = jnp.square(x - mean).mean(axis=-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + EPSILON) * weights[name + ".weight"] + weights[name + ".bias"]


def _gelu(x):
    return 0.5 * x * (1 + jax.lax.erf(x * 0.7071067811865476))


def _attention(x, bias, weights, prefix):
    batch, length, _ = x.shape

    def heads(name):
        y = _dense(x, weights, f"{prefix}attention.self.{name}")
        return y.reshape(batch, length, HEADS, HIDDEN // HEADS).transpose(0, 2, 1, 3)

    scores = heads("query") @ heads("key").transpose(0, 1, 3, 2) / (HIDDEN // HEADS) ** 0.5 + bias
    mixed = jax.nn.softmax(scores, axis=-1) @ heads("value")
    return _dense(mixed.transpose(0, 2, 1, 3).reshape(batch, length, HIDDEN), weights, prefix + "attention.output.dense")


def encode(ids, mask, weights):
    """Embeds sentences.

    ids: s32[batch, length] token ids. mask: s32[batch, length], 1 on tokens and 0 on padding. weights: float32 arrays by
    name. Returns f32[batch, 384] of unit length.
    """
    x = (weights["embeddings.word_embeddings.weight"][ids]
         + weights["embeddings.position_embeddings.weight"][: ids.shape[1]]
         + weights["embeddings.token_type_embeddings.weight"][0])
    x = _layer_norm(x, weights, "embeddings.LayerNorm")
    mask = mask.astype(jnp.float32)
    bias = (1 - mask)[:, None, None, :] * jnp.finfo(jnp.float32).min
    for layer in range(LAYERS):
        prefix = f"encoder.layer.{layer}."
        x = _layer_norm(x + _attention(x, bias, weights, prefix), weights, prefix + "attention.output.LayerNorm")
        wide = _gelu(_dense(x, weights, prefix + "intermediate.dense"))
        x = _layer_norm(x + _dense(wide, weights, prefix + "output.dense"), weights, prefix + "output.LayerNorm")
    pooled = (x * mask[:, :, None]).sum(axis=1) / jnp.maximum(mask.sum(axis=1, keepdims=True), 1e-9)
    return pooled / jnp.maximum(jnp.sqrt(jnp.square(pooled).sum(axis=-1, keepdims=True)), 1e-12)


def encode_flat(ids, mask, *weights):
    """`encode` with the weights in parameter order: the function whose HLO is checked in."""
    return encode(ids, mask, dict(zip(weight_shapes(), weights, strict=True)))
