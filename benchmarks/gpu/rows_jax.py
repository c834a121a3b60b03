"""What people run, in JAX: {name: (function, arguments)}. The same by the same names is in rows_torch.py."""
import jax
import jax.numpy as jnp

from sizes import sizes


def normal(i, shape, dtype=jnp.bfloat16):
  return jax.random.normal(jax.random.key(i), shape, jnp.float32).astype(dtype)


def attention(q, k, v):
  """Causal, as model code writes it: [batch, length, heads, width]; the heads of k and v are shared by groups of those of q."""
  batch, length, heads, width = q.shape
  q = q.reshape(batch, length, k.shape[2], heads // k.shape[2], width)
  scores = jnp.einsum("blkgd,bmkd->bkglm", q, k, preferred_element_type=jnp.float32) * width ** -0.5
  scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e30)
  weights = jax.nn.softmax(scores, axis=-1).astype(v.dtype)
  return jnp.einsum("bkglm,bmkd->blkgd", weights, v).reshape(batch, length, heads, width)


def block(weights, x):
  qkv, out, up, down = weights
  heads = x.shape[-1] // 64
  norm = lambda t: ((t - t.mean(-1, keepdims=True)) * jax.lax.rsqrt(t.var(-1, keepdims=True) + 1e-5)).astype(t.dtype)
  q, k, v = (t.reshape(*x.shape[:2], heads, 64) for t in jnp.split(norm(x) @ qkv, 3, -1))
  x = x + attention(q, k, v).reshape(x.shape) @ out
  return x + jax.nn.gelu(norm(x) @ up) @ down


def adam(weights, moments, gradients):
  first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, moments[0], gradients)
  second = jax.tree.map(lambda m, g: 0.99 * m + 0.01 * g * g, moments[1], gradients)
  return jax.tree.map(lambda w, m, v: w - 1e-3 * m / (jnp.sqrt(v) + 1e-8), weights, first, second), (first, second)


def mlp_step(weights, moments, x, y):
  def loss(weights):
    h = x
    for w in weights[:-1]:
      h = jax.nn.relu(h @ w)
    return jnp.mean((h @ weights[-1] - y) ** 2)

  return adam(weights, moments, jax.grad(loss)(weights))


def lstm(w, u, x):
  def cell(state, t):
    h, c = state
    i, f, g, o = jnp.split(t @ w + h @ u, 4, -1)
    c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
    h = jax.nn.sigmoid(o) * jnp.tanh(c)
    return (h, c), h

  zero = jnp.zeros((x.shape[1], u.shape[0]), x.dtype)
  return jax.lax.scan(cell, (zero, zero), x)[1]


def decode(q, keys, values, length):
  scores = jnp.einsum("bhd,blhd->bhl", q, keys, preferred_element_type=jnp.float32) * q.shape[-1] ** -0.5
  scores = jnp.where(jnp.arange(keys.shape[1]) < length, scores, -1e30)
  return jnp.einsum("bhl,blhd->bhd", jax.nn.softmax(scores, -1).astype(values.dtype), values)


def residual_network(weights, images):
  """ResNet-50 for s.stages of 64 to 512 features: the features of each image, of which all but the statistics are bf16."""
  conv = lambda x, w, stride=1: jax.lax.conv_general_dilated(x, w, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

  def norm(x, scale):
    f = x.astype(jnp.float32)
    return ((f - f.mean((0, 1, 2))) * jax.lax.rsqrt(f.var((0, 1, 2)) + 1e-5) * scale).astype(x.dtype)

  x = jax.nn.relu(norm(conv(images, weights["stem"][0], 2), weights["stem"][1]))
  x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
  for number, blocks in enumerate(weights["stages"]):
    for index, (down, between, up, around) in enumerate(blocks):
      stride = 2 if number > 0 and index == 0 else 1
      y = jax.nn.relu(norm(conv(x, down[0]), down[1]))
      y = norm(conv(jax.nn.relu(norm(conv(y, between[0], stride), between[1])), up[0]), up[1])
      x = jax.nn.relu(y + (x if around is None else norm(conv(x, around[0], stride), around[1])))
  return x.mean((1, 2)) @ weights["out"]


def residual_weights(stages):
  count = iter(range(1000))
  layer = lambda size, of, to: (normal(next(count), (size, size, of, to)) * (size * size * of) ** -0.5, jnp.ones(to))
  weights = {"stem": layer(7, 3, stages[0][0]), "stages": []}
  features = stages[0][0]
  for width, blocks in stages:
    weights["stages"].append([])
    for index in range(blocks):
      around = layer(1, features, 4 * width) if index == 0 else None
      weights["stages"][-1].append((layer(1, features, width), layer(3, width, width), layer(1, width, 4 * width), around))
      features = 4 * width
  weights["out"] = normal(next(count), (features, 1000)) * features ** -0.5
  return weights


def residual_step(weights, images, labels):
  def loss(weights):
    scores = residual_network(weights, images).astype(jnp.float32)
    return -jnp.take_along_axis(jax.nn.log_softmax(scores), labels[:, None], 1).mean()

  return jax.tree.map(lambda w, g: w - 0.01 * g.astype(w.dtype), weights, jax.grad(loss)(weights))


def rows(small):
  s = sizes(small)
  table = {}
  for n in s.products:
    table[f"gemm_bf16_{n}"] = (jnp.matmul, [normal(0, (n, n)), normal(1, (n, n))])
  n = s.products[-1]
  table[f"gemm_bf16_bias_gelu_{n}"] = (lambda a, b, c: jax.nn.gelu(a @ b + c), [normal(0, (n, n)), normal(1, (n, n)), normal(2, (n,))])
  integers = [(10 * normal(i, (n, n), jnp.float32)).astype(jnp.int8) for i in range(2)]
  table[f"gemm_int8_{n}"] = (lambda a, b: jnp.matmul(a, b, preferred_element_type=jnp.int32), integers)
  eights = [normal(i, (n, n), jnp.float8_e4m3fn) for i in range(2)]
  scaled = lambda a, b, scale: (jnp.matmul(a, b.T, preferred_element_type=jnp.float32) * scale).astype(jnp.bfloat16)
  table[f"gemm_fp8_{n}"] = (scaled, [*eights, jnp.float32(0.5)])
  for length, heads in s.attention:
    qkv = [normal(i, (1, length, heads, 64)) for i in range(3)]
    table[f"attention_{length}"] = (attention, qkv)
    if length <= s.longest_gradient:
      table[f"attention_gradient_{length}"] = (jax.grad(lambda q, k, v: attention(q, k, v).astype(jnp.float32).sum(), (0, 1, 2)), qkv)
  w = s.width
  weights = [0.02 * normal(i, shape) for i, shape in enumerate([(w, 3 * w), (w, w), (w, 4 * w), (4 * w, w)])]
  x = normal(9, (s.batch, s.length, w))
  table["block"] = (block, [weights, x])
  table["block_gradient"] = (jax.grad(lambda weights, x: block(weights, x).astype(jnp.float32).mean()), [weights, x])
  dense = [0.02 * normal(i, (w, w), jnp.float32) for i in range(3)]
  zeros = jax.tree.map(jnp.zeros_like, dense)
  table["mlp_adam"] = (mlp_step, [dense, (zeros, zeros), normal(7, (s.rows, w), jnp.float32), normal(8, (s.rows, w), jnp.float32)])
  table["lstm"] = (lstm, [normal(0, (w, 4 * w), jnp.float32) * 0.02, normal(1, (w, 4 * w), jnp.float32) * 0.02, normal(2, (s.steps, 32, w), jnp.float32)])
  table["decode"] = (decode, [normal(0, (8, 16, 64)), normal(1, (8, s.cache, 16, 64)), normal(2, (8, s.cache, 16, 64)), jnp.int32(s.cache - 5)])
  images, side = s.images
  table["residual_network_step"] = (residual_step, [residual_weights(s.stages), normal(5, (images, side, side, 3)), jnp.arange(images) % 1000])
  e = s.elements
  flat = normal(3, (e,), jnp.float32)
  table["random_normal"] = (lambda seed: jax.random.normal(jax.random.key(seed), (e,)), [jnp.uint32(1)])
  table["segment_sum"] = (lambda v, i: jax.ops.segment_sum(v, i, 1024), [flat, jax.random.randint(jax.random.key(1), (e,), 0, 1024)])
  table["sort_flat"] = (jnp.sort, [flat])
  table["cumsum_flat"] = (jnp.cumsum, [flat])
  table["fft"] = (jnp.fft.fft, [flat.reshape(-1, 1024).astype(jnp.complex64)])
  m = s.matrix
  square = normal(4, (m, m), jnp.float32)
  positive = square @ square.T + m * jnp.eye(m)
  table["cholesky"] = (jnp.linalg.cholesky, [positive])
  table["solve"] = (jnp.linalg.solve, [positive, square[:, :8]])
  return table
