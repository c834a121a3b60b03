"""Test programs from machine learning: training steps, attention, recurrent nets, mixed precision."""

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np

from program import Program, integers, normal


def mlp_loss(weights, images, labels):
    x = images
    for matrix, bias in weights[:-1]:
        x = jnp.tanh(x @ matrix + bias)
    matrix, bias = weights[-1]
    scores = jax.nn.log_softmax(x @ matrix + bias)
    return -jnp.mean(jnp.where(labels[:, None] == jnp.arange(scores.shape[1]), scores, 0).sum(axis=1))


def adam_step(weights, first, second, step, images, labels):
    loss, gradient = jax.value_and_grad(mlp_loss)(weights, images, labels)
    step = step + 1
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradient)
    second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, second, gradient)
    unbias1, unbias2 = 1 - 0.9 ** step.astype(jnp.float32), 1 - 0.999 ** step.astype(jnp.float32)
    update = lambda w, m, v: w - 0.01 * (m / unbias1) / (jnp.sqrt(v / unbias2) + 1e-8)
    return loss, jax.tree.map(update, weights, first, second), first, second, step


def mlp_arguments():
    sizes = (20, 32, 16, 5)
    weights = [(normal(i, a, b, scale=a**-0.5), normal(i + 10, b, scale=0.1)) for i, (a, b) in enumerate(zip(sizes, sizes[1:]))]
    first = jax.tree.map(lambda w: (0.01 * w[::-1]).copy(), weights)
    second = jax.tree.map(lambda w: np.float32(0.001) * w * w + np.float32(1e-4), weights)
    return weights, first, second, np.int32(3), normal(20, 24, 20), integers(21, 0, 5, 24)


def layer_norm(x, scale, shift):
    mean = x.mean(-1, keepdims=True)
    variance = jnp.square(x - mean).mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * scale + shift


def transformer_block(x, p):
    """Pre-norm, causal attention with four heads, exact GELU."""
    length, width = x.shape[1:]
    y = layer_norm(x, p["scale1"], p["shift1"])
    q, k, v = jnp.split(y @ p["qkv"], 3, axis=-1)
    heads = lambda t: t.reshape(t.shape[0], length, 4, width // 4).transpose(0, 2, 1, 3)
    scores = jnp.einsum("bhqd,bhkd->bhqk", heads(q), heads(k)) / (width // 4) ** 0.5
    causal = jnp.tril(jnp.ones((length, length), bool))
    attention = jax.nn.softmax(jnp.where(causal, scores, -jnp.inf), axis=-1)
    mixed = jnp.einsum("bhqk,bhkd->bhqd", attention, heads(v)).transpose(0, 2, 1, 3).reshape(x.shape)
    x = x + mixed @ p["out"]
    y = layer_norm(x, p["scale2"], p["shift2"])
    return x + jax.nn.gelu(y @ p["up"], approximate=False) @ p["down"]


def transformer_arguments():
    width = 32
    shapes = {"qkv": (width, 3 * width), "out": (width, width), "up": (width, 2 * width), "down": (2 * width, width)}
    p = {name: normal(i, *shape, scale=0.15) for i, (name, shape) in enumerate(shapes.items())}
    for i, name in enumerate(("scale1", "scale2", "shift1", "shift2")):
        p[name] = normal(10 + i, width, scale=0.1) + np.float32(name.startswith("scale"))
    return normal(20, 2, 12, width), p


def transformer_gradient(x, p):
    return jax.grad(lambda x, p: jnp.square(transformer_block(x, p)).mean(), argnums=(0, 1))(x, p)


def lstm(inputs, hidden, cell, wx, wh, bias):
    def step(state, x):
        hidden, cell = state
        i, f, g, o = jnp.split(x @ wx + hidden @ wh + bias, 4, axis=-1)
        cell = jax.nn.sigmoid(f + 1) * cell + jax.nn.sigmoid(i) * jnp.tanh(g)
        hidden = jax.nn.sigmoid(o) * jnp.tanh(cell)
        return (hidden, cell), hidden

    (hidden, cell), outputs = jax.lax.scan(step, (hidden, cell), inputs)
    return outputs, hidden, cell


def gru_gradient(inputs, start, weights):
    """Gradients of a loss over two recurrent scans, one of them reversed."""
    def gru(hidden, x, p):
        gx, gh = x @ p["x"] + p["bias"], hidden @ p["h"]
        reset, update = jax.nn.sigmoid(gx[:, :8] + gh[:, :8]), jax.nn.sigmoid(gx[:, 8:16] + gh[:, 8:16])
        candidate = jnp.tanh(gx[:, 16:] + reset * gh[:, 16:])
        hidden = update * hidden + (1 - update) * candidate
        return hidden, hidden

    def loss(start, weights):
        backward, states = jax.lax.scan(lambda hidden, x: gru(hidden, x, weights), start, inputs, reverse=True)
        forward, _ = jax.lax.scan(lambda hidden, state: (jnp.tanh(hidden + state), None), start, states)
        return jnp.square(backward).sum() + forward.mean()

    return jax.value_and_grad(loss, argnums=(0, 1))(start, weights)


def attention_gradient(q, k, v, mask, gradient):
    """Gradients of causal attention with grouped heads, and a mask of keys."""
    attend = lambda q, k, v: jax.nn.dot_product_attention(q, k, v, mask=mask, is_causal=True)
    return jax.vjp(attend, q, k, v)[1](gradient)


def attention_training(q, k, v, bias, targets):
    """The loss of attention with a soft cap and a bias, and its gradients."""

    def loss(q, k, v):
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k, preferred_element_type=jnp.float32)
        weights = jax.nn.softmax(20 * jnp.tanh(scores / 20) + bias, axis=-1).astype(jnp.bfloat16)
        mixed = jnp.einsum("bhqk,bkhd->bqhd", weights, v)
        return jnp.mean((mixed.astype(jnp.float32) - targets) ** 2)

    return jax.value_and_grad(loss, argnums=(0, 1, 2))(q, k, v)


def contrastive_training(images, texts, scale):
    """The loss of pairs of embeddings among all others, along both sides, and its gradients."""

    def loss(images, texts, scale):
        scores = jnp.einsum("md,nd->mn", images, texts, preferred_element_type=jnp.float32) * scale
        labels = jnp.arange(scores.shape[0])[:, None]
        of_images = jnp.take_along_axis(jax.nn.log_softmax(scores, axis=1), labels, axis=1)
        of_texts = jnp.take_along_axis(jax.nn.log_softmax(scores.T, axis=1), labels, axis=1)
        return -(of_images.mean() + of_texts.mean()) / 2

    return jax.value_and_grad(loss, argnums=(0, 1, 2))(images, texts, scale)


def nearest_codes(points, codes):
    """The least and the mean distance of points to codes, and of codes to points, by a product."""
    products = jnp.einsum("md,nd->mn", points, codes, preferred_element_type=jnp.float32)
    norms = jnp.square(points.astype(jnp.float32)).sum(1)[:, None] + jnp.square(codes.astype(jnp.float32)).sum(1)
    squares = norms - 2 * products
    return squares.min(1), squares.min(0), jnp.exp(-squares / 32).sum(1), jnp.sqrt(jnp.maximum(squares, 0)).mean()


def attention_bias_gradient(q, k, v, bias, gradient):
    """Gradients of attention with a bias that all of the batch share, and its own."""

    def attend(q, k, v, bias):
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k, preferred_element_type=jnp.float32) + bias
        return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores, axis=-1).astype(jnp.bfloat16), v)

    return jax.vjp(attend, q, k, v, bias)[1](gradient)


def attention_key_bias_gradient(q, k, v, of_keys, of_heads, gradient):
    """Gradients of attention with biases for each key, and their own: sums along the queries."""

    def attend(q, k, v, of_keys, of_heads):
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k, preferred_element_type=jnp.float32)
        weights = jax.nn.softmax(scores + of_keys + of_heads[:, :, None, :], axis=-1)
        return jnp.einsum("bhqk,bkhd->bqhd", weights.astype(jnp.bfloat16), v)

    output, pull = jax.vjp(attend, q, k, v, of_keys, of_heads)
    return output, pull(gradient * output)


def cross_entropy_odd_classes(hidden, weights, labels):
    """The gradients of a cross entropy with smoothed labels, and of its scores, of an odd number of classes."""

    def loss(hidden, weights):
        scores = (hidden @ weights).astype(jnp.float32)
        logs = jax.nn.log_softmax(scores, axis=-1)
        targets = 0.9 * jax.nn.one_hot(labels, scores.shape[1]) + 0.1 / scores.shape[1]
        return jnp.mean(1e-4 * jax.nn.logsumexp(scores, -1) ** 2 - jnp.sum(targets * logs, -1))

    return jax.value_and_grad(loss, (0, 1))(hidden, weights)


def attention_masked_softly(q, k, v, gradient):
    """Gradients of attention whose masked keys have a logit that may be the largest of a row."""

    def attend(q, k, v):
        scores = jnp.einsum("bhqd,bhkd->bhqk", q, k, preferred_element_type=jnp.float32)
        causal = jnp.tril(jnp.ones(scores.shape[-2:], bool))
        weights = jax.nn.softmax(jnp.where(causal, scores, -1), axis=-1).astype(jnp.bfloat16)
        return jnp.einsum("bhqk,bhkd->bhqd", weights, v)

    return jax.vjp(attend, q, k, v)[1](gradient)


def attention_window(q, k, v, gradient):
    """Gradients of attention to the last 40 positions."""

    def attend(q, k, v):
        scores = jnp.einsum("bhqd,bhkd->bhqk", q, k, preferred_element_type=jnp.float32)
        distance = jnp.arange(q.shape[2])[:, None] - jnp.arange(k.shape[2])
        weights = jax.nn.softmax(jnp.where((distance >= 0) & (distance < 40), scores, -1e9), axis=-1)
        return jnp.einsum("bhqk,bhkd->bhqd", weights.astype(jnp.bfloat16), v)

    return jax.vjp(attend, q, k, v)[1](gradient)


def attention_of_thirds(x, weights):
    """Attention whose queries, keys and values are thirds of one product."""
    batch, length, _ = x.shape
    q, k, v = (part.reshape(batch, length, -1, 16) for part in jnp.split(x @ weights, 3, axis=-1))
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k, preferred_element_type=jnp.float32)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores, axis=-1).astype(jnp.bfloat16), v)


def attention_around(q, k, v):
    """Attention to the positions around, of which the last ones have none."""
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k, preferred_element_type=jnp.float32)
    rows = jnp.arange(q.shape[2])[:, None]
    keys = jnp.arange(k.shape[2])
    scores = jnp.where(keys > rows - 33, jnp.where(keys <= rows + 20, scores, -1e30), -1e30)
    return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores, axis=-1).astype(jnp.bfloat16), v)


def attention_paged(q, keys, values, pages, lengths):
    """A step of decoding with a cache whose pages of 16 positions are anywhere, for queries that share their keys."""
    batch, heads, features = q.shape
    groups = keys.shape[2]
    k, v = (cache[pages].reshape(batch, -1, groups, features) for cache in (keys, values))
    grouped = q.reshape(batch, groups, heads // groups, features)
    scores = jnp.einsum("bhgd,bkhd->bhgk", grouped, k, preferred_element_type=jnp.float32)
    visible = jnp.arange(k.shape[1]) < lengths[:, None, None, None]
    weights = jax.nn.softmax(jnp.where(visible, scores, -1e30), axis=-1).astype(v.dtype)
    return jnp.einsum("bhgk,bkhd->bhgd", weights, v).reshape(q.shape)


def attention_quantized_cache(q, k, k_scale, v, v_scale, lengths):
    """A step of decoding with a cache of 8-bit keys and values: a scale for each."""
    keys = k.astype(jnp.bfloat16) * k_scale[..., None]
    values = v.astype(jnp.bfloat16) * v_scale[..., None]
    scores = jnp.einsum("bhd,bhsd->bhs", q, keys, preferred_element_type=jnp.float32)
    scores = jnp.where(jnp.arange(k.shape[2]) < lengths[:, None, None], scores, -1e30)
    weights = jax.nn.softmax(scores, axis=-1).astype(jnp.bfloat16)
    return jnp.einsum("bhs,bhsd->bhd", weights, values)


def attention_sinks(q, k, v, step, keys, values, sinks, last):
    """Attention of grouped heads in a window, and a step of decoding, with a logit for each head that has no value."""

    def softmax(scores, sinks):
        rows = jnp.concatenate([scores, jnp.broadcast_to(sinks, scores.shape[:-1] + (1,))], axis=-1)
        return jax.nn.softmax(rows, axis=-1)[..., :-1].astype(jnp.bfloat16)

    groups = q.reshape(q.shape[:2] + (k.shape[2], -1) + q.shape[3:])
    scores = jnp.einsum("bqkgd,bskd->bkgqs", groups, k).astype(jnp.float32) / 4
    ahead = jnp.arange(q.shape[1])[:, None] - jnp.arange(k.shape[1])
    weights = softmax(jnp.where((ahead >= 0) & (ahead < 20), scores, -jnp.inf), sinks.reshape(1, k.shape[2], -1, 1, 1))
    scores = jnp.einsum("bhd,bshd->bhs", step, keys, preferred_element_type=jnp.float32) / 4
    of_step = softmax(jnp.where(jnp.arange(keys.shape[1]) <= last, scores, -1e30), sinks[:, None])
    return jnp.einsum("bkgqs,bskd->bqkgd", weights, v), jnp.einsum("bhs,bshd->bhd", of_step, values)


def bf16_mlp(x, w1, w2, scale):
    """bf16 operands, products added up in f32, results rounded back to bf16."""
    wide = jax.lax.dot(x, w1, preferred_element_type=jnp.float32)
    active = jax.nn.relu(wide * scale).astype(jnp.bfloat16)
    narrow = jax.lax.dot(active, w2, preferred_element_type=jnp.float32)
    return narrow, narrow.astype(jnp.bfloat16), (x * x + 1).sum(dtype=jnp.float32)


def batched_dots(a, b, c, d):
    """Contractions in every arrangement of batch, kept and contracted dimensions."""
    return (jnp.einsum("bij,bjk->bik", a, b), jnp.einsum("bij,bkj->bik", a, c), jnp.einsum("bij,bij->b", a, a),
            jnp.einsum("bij,bjk->kib", a, b), jnp.einsum("bij,kb->ikj", a, d), jnp.tensordot(a, b, axes=([0, 2], [0, 1])), d @ d[0])


def bf16(seed, *shape):
    return normal(seed, *shape).astype(ml_dtypes.bfloat16)


def cache(seed):
    return (integers(seed, -127, 128, (2, 3, 160, 16), np.int8),
            (abs(normal(seed + 1, 2, 3, 160)) / 64).astype(ml_dtypes.bfloat16))


PROGRAMS = [
    Program("mlp_adam_step", "One Adam step of a three-layer network on a classification loss.", adam_step, mlp_arguments(),
            ("f32 3e-6 relative",), form="full"),
    Program("transformer_block", "A causal transformer block: layer norm, attention, softmax, GELU.", transformer_block,
            transformer_arguments()),
    Program("transformer_gradient", "The gradient of a transformer block in its input and all its weights.", transformer_gradient,
            transformer_arguments(), ("f32 5e-6 relative",)),
    Program("lstm_scan", "An LSTM over 15 steps, as a scan.", lstm,
            (normal(0, 15, 4, 6), normal(1, 4, 8), normal(2, 4, 8), normal(3, 6, 32), normal(4, 8, 32), normal(5, 32)), form="full"),
    Program("gru_gradient", "Gradients through two recurrent scans, one of them reversed.", gru_gradient,
            (normal(0, 9, 3, 5), normal(1, 3, 8), {"x": normal(2, 5, 24), "h": normal(3, 8, 24, scale=0.4), "bias": normal(4, 24)}),
            ("f32 5e-6 relative",)),
    Program("bf16_mlp", "A mixed-precision network: bf16 operands, f32 sums.", bf16_mlp,
            (bf16(0, 16, 24), bf16(1, 24, 32), bf16(2, 32, 8), np.float32(0.125)), ("f32 1e-2 relative", "bf16 1e-2 relative")),
    Program("attention_gradient", "Gradients of causal attention with grouped heads, in bf16.", attention_gradient,
            (bf16(0, 1, 72, 4, 16), bf16(1, 1, 88, 2, 16), bf16(2, 1, 88, 2, 16), integers(3, 0, 5, (1, 1, 1, 88)) > 0,
             bf16(4, 1, 72, 4, 16)), ("bf16 3e-2 relative",), form="full"),
    Program("attention_training", "The loss of attention with a soft cap and a bias, in bf16, and its gradients.",
            attention_training, (bf16(0, 2, 64, 2, 32), bf16(1, 2, 64, 2, 32), bf16(2, 2, 64, 2, 32),
                                 normal(3, 2, 64, 64), normal(4, 2, 64, 2, 32)),
            ("bf16 3e-2 relative", "f32 1e-2 relative"), form="full"),
    Program("attention_bias_gradient", "Gradients of attention and of a bias for its heads, in bf16.", attention_bias_gradient,
            (bf16(0, 5, 72, 3, 16), bf16(1, 5, 88, 3, 16), bf16(2, 5, 88, 3, 16), normal(3, 3, 72, 88),
             bf16(4, 5, 72, 3, 16)), ("bf16 3e-2 relative", "f32 2e-2 relative"), form="full"),
    Program("attention_key_bias_gradient", "Gradients of attention and of biases for its keys, in bf16.",
            attention_key_bias_gradient,
            (bf16(0, 3, 112, 2, 16), bf16(1, 3, 104, 2, 16), bf16(2, 3, 104, 2, 16), normal(3, 104), normal(4, 3, 2, 104),
             bf16(5, 3, 112, 2, 16)), ("bf16 3e-2 relative", "f32 2e-2 relative"), form="full"),
    Program("contrastive_training", "A contrastive loss of bf16 embeddings, and its gradients.", contrastive_training,
            (bf16(0, 157, 32), bf16(1, 157, 32), np.float32(0.3)), ("bf16 3e-2 relative", "f32 1e-2 relative"), form="full"),
    Program("nearest_codes", "Distances of bf16 points to codes.", nearest_codes, (bf16(0, 203, 32), bf16(1, 150, 32)),
            ("f32 1e-4 relative",), form="full"),
    Program("cross_entropy_odd_classes", "Gradients of a cross entropy of an odd number of classes, in bf16.",
            cross_entropy_odd_classes,
            (bf16(0, 64, 64), bf16(1, 64, 301), np.arange(64, dtype=np.int32) * 7 % 301),
            ("bf16 3e-2 relative", "f32 1e-3 relative"), form="full"),
    Program("attention_masked_softly", "Gradients of attention whose masked keys count, in bf16.", attention_masked_softly,
            tuple(bf16(i, 1, 2, 96, 16) for i in range(4)), ("bf16 3e-2 relative",), form="full"),
    Program("attention_sinks", "Attention with sinks, and a step of decoding.", attention_sinks,
            (bf16(0, 1, 48, 4, 16), bf16(1, 1, 48, 2, 16), bf16(2, 1, 48, 2, 16), bf16(3, 2, 4, 16),
             bf16(4, 2, 600, 4, 16), bf16(5, 2, 600, 4, 16),
             np.array([0.5, 2, -np.inf, 40], np.float32), np.int32(470)),
            ("bf16 3e-2 relative",), form="full"),
    Program("attention_window", "Gradients of attention to a window of keys, in bf16.", attention_window,
            tuple(bf16(i, 1, 2, 200, 16) for i in range(4)), ("bf16 3e-2 relative",), form="full"),
    Program("attention_of_thirds", "Attention of the thirds of one product, in bf16.", attention_of_thirds,
            (bf16(0, 2, 130, 24), bf16(1, 24, 192)), ("bf16 3e-2 relative",), form="full"),
    Program("attention_around", "Attention to a window of keys on both sides, in bf16.", attention_around,
            (bf16(0, 1, 2, 290, 16), bf16(1, 1, 2, 200, 16), bf16(2, 1, 2, 200, 16)), ("bf16 3e-2 relative",),
            form="full"),
    Program("attention_paged", "A step of decoding with a cache in pages, in bf16.", attention_paged,
            (bf16(0, 2, 6, 32), bf16(1, 9, 16, 2, 32), bf16(2, 9, 16, 2, 32),
             np.array([[3, 0, 8, 5], [-2, 1, 1, 12]], np.int32), np.array([64, 37], np.int32)),
            ("bf16 3e-2 relative",), form="full"),
    Program("attention_quantized_cache", "A step of decoding with a cache of 8-bit keys and values.", attention_quantized_cache,
            (bf16(0, 2, 3, 16), *cache(1), *cache(3), np.array([160, 33], np.int32)),
            ("bf16 3e-2 relative",), form="full"),
    Program("batched_dots", "Batched and transposed contractions.", batched_dots,
            (normal(0, 3, 4, 5), normal(1, 3, 5, 6), normal(2, 3, 7, 5), normal(3, 3, 3)), form="full"),
]
