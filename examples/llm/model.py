"""A Llama-like language model in plain JAX: RMSNorm, rotary positions, grouped-query attention over a key/value cache, SwiGLU, tied embeddings.

Weights are F32, BF16, or integers of 8 or 4 bits with an F16 scale for each group (weights.py); a product converts them as it reads them. Activations and sums
are F32. The layers' weights are stacked, and a scan goes over them.
"""

import functools

import jax
import jax.numpy as jnp

from weights import GROUP


def dequantize(weight):
    if not isinstance(weight, dict):
        return weight.astype(jnp.float32)
    rows = weight["scale"].shape[:-1]
    if "int4" in weight:
        pairs = weight["int4"].reshape(*rows, -1, 1, GROUP // 2).astype(jnp.int32)
        integers = (pairs >> jnp.array([[0], [4]]) & 15) - 8
    else:
        integers = weight["int8"]
    groups = integers.reshape(*rows, -1, GROUP).astype(jnp.float32)
    return (groups * weight["scale"][..., None].astype(jnp.float32)).reshape(*rows, -1)


def dense(x, weight):
    return jnp.einsum("ti,oi->to", x, dequantize(weight))


def rms_norm(x, weight, epsilon):
    return x * jax.lax.rsqrt(jnp.square(x).mean(axis=-1, keepdims=True) + epsilon) * weight


def rotate(x, positions, theta):
    """Rotary positions of x[tokens, heads, head], of which the halves are the parts of pairs."""
    half = x.shape[-1] // 2
    angles = positions[:, None] * theta ** (-jnp.arange(half) / half)
    cosine, sine = jnp.cos(angles)[:, None, :], jnp.sin(angles)[:, None, :]
    low, high = x[..., :half], x[..., half:]
    return jnp.concatenate([low * cosine - high * sine, high * cosine + low * sine], axis=-1)


def attention(x, layer, cache, index, positions, config):
    """Attention of x[tokens, hidden] over the tokens before and itself. Returns it, and the cache with the keys and values of x."""
    tokens = x.shape[0]

    def heads(name, count):
        y = dense(x, layer[name])
        return (y + layer[name + "_bias"] if config.bias else y).reshape(tokens, count, config.head)

    def extended(name, new):
        return jax.lax.dynamic_update_slice(cache[name], new.transpose(1, 0, 2)[None], (index, 0, positions[0], 0))

    queries = rotate(heads("query", config.heads), positions, config.theta)
    cache = {"keys": extended("keys", rotate(heads("key", config.kv_heads), positions, config.theta)),
             "values": extended("values", heads("value", config.kv_heads))}
    keys, values = (jax.lax.dynamic_index_in_dim(cache[name], index, keepdims=False) for name in ("keys", "values"))
    scores = jnp.einsum("tkgh,ksh->kgts", queries.reshape(tokens, config.kv_heads, -1, config.head), keys) * config.head**-0.5
    seen = jnp.arange(keys.shape[1])[None, :] <= positions[:, None]
    mixed = jnp.einsum("kgts,ksh->tkgh", jax.nn.softmax(jnp.where(seen, scores, -1e30), axis=-1), values)
    return dense(mixed.reshape(tokens, -1), layer["output"]), cache


def empty_cache(config, length):
    """The keys and values of no tokens, with room for `length`."""
    shape = (config.layers, config.kv_heads, length, config.head)
    return {"keys": jnp.zeros(shape), "values": jnp.zeros(shape)}


def forward(weights, cache, tokens, start, config):
    """Returns the logits after the last of `tokens`, s32[n], of which the first has position `start`, and the cache with them."""
    x = dequantize(jax.tree.map(lambda array: array[tokens], weights["embedding"]))
    positions = start + jnp.arange(tokens.shape[0])

    def step(carry, inputs):
        (x, cache), (index, layer) = carry, inputs
        mixed, cache = attention(rms_norm(x, layer["norm1"], config.epsilon), layer, cache, index, positions, config)
        x = x + mixed
        y = rms_norm(x, layer["norm2"], config.epsilon)
        return (x + dense(jax.nn.silu(dense(y, layer["gate"])) * dense(y, layer["up"]), layer["down"]), cache), None

    (x, cache), _ = jax.lax.scan(step, (x, cache), (jnp.arange(config.layers), weights["layers"]))
    return dense(rms_norm(x[-1:], weights["norm"], config.epsilon), weights["embedding"])[0], cache


@functools.partial(jax.jit, static_argnames="config", donate_argnames="cache")
def next_token(weights, cache, tokens, start, config):
    """Takes `tokens` in. Returns the most likely token after them as s32[1], its position, and the cache, which is updated in place."""
    logits, cache = forward(weights, cache, tokens, start, config)
    return jnp.argmax(logits, keepdims=True).astype(jnp.int32), start + tokens.shape[0], cache
