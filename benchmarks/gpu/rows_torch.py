"""What people run, in PyTorch: {name: (function, arguments)}, as rows_jax.py has it."""
import torch
import torch.nn.functional as F

from sizes import sizes


def normal(i, shape, dtype=torch.bfloat16):
  return torch.randn(shape, generator=torch.Generator("cuda").manual_seed(i), device="cuda").to(dtype)


def attention(q, k, v):
  q, k, v = (t.transpose(1, 2) for t in (q, k, v))
  return F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2)


def gradient_of(function, inputs):
  def gradient(*arguments):
    leaves = [a.detach().requires_grad_() for a in arguments[:inputs]]
    return torch.autograd.grad(function(*leaves, *arguments[inputs:]).float().sum(), leaves)

  return gradient


def block(qkv, out, up, down, x):
  norm = lambda t: F.layer_norm(t, t.shape[-1:])
  q, k, v = (t.unflatten(-1, (-1, 64)) for t in (norm(x) @ qkv).chunk(3, -1))
  x = x + attention(q, k, v).flatten(2) @ out
  return x + F.gelu(norm(x) @ up, approximate="tanh") @ down


def mlp_step(w0, w1, w2, m0, m1, m2, v0, v1, v2, x, y):
  weights = [w.detach().requires_grad_() for w in (w0, w1, w2)]
  loss = F.mse_loss(F.relu(F.relu(x @ weights[0]) @ weights[1]) @ weights[2], y)
  gradients = torch.autograd.grad(loss, weights)
  first = [0.9 * m + 0.1 * g for m, g in zip((m0, m1, m2), gradients)]
  second = [0.99 * v + 0.01 * g * g for v, g in zip((v0, v1, v2), gradients)]
  return [w.detach() - 1e-3 * m / (v.sqrt() + 1e-8) for w, m, v in zip(weights, first, second)], first, second


def decode(q, keys, values, length):
  mask = torch.arange(keys.shape[1], device="cuda") < length
  return F.scaled_dot_product_attention(q[:, :, None], keys.transpose(1, 2), values.transpose(1, 2), attn_mask=mask)


def residual_network(weights, images):
  """As that of rows_jax.py, whose padding of strides lies on one side; arrays are NCHW, and lie in memory as NHWC."""
  conv = lambda x, w, stride=1: F.conv2d(x, w, stride=stride, padding=w.shape[-1] // 2)
  norm = lambda x, scale: F.batch_norm(x, None, None, scale, None, training=True)
  x = F.max_pool2d(F.relu(norm(conv(images, weights["stem"][0], 2), weights["stem"][1])), 3, 2, 1)
  for number, blocks in enumerate(weights["stages"]):
    for index, (down, between, up, around) in enumerate(blocks):
      stride = 2 if number > 0 and index == 0 else 1
      y = F.relu(norm(conv(x, down[0]), down[1]))
      y = norm(conv(F.relu(norm(conv(y, between[0], stride), between[1])), up[0]), up[1])
      x = F.relu(y + (x if around is None else norm(conv(x, around[0], stride), around[1])))
  return x.mean((2, 3)) @ weights["out"]


def residual_row(stages, count, side):
  numbers, leaves = iter(range(1000)), []

  def leaf(value):
    leaves.append(value.requires_grad_())
    return leaves[-1]

  def layer(size, of, to):
    filters = normal(next(numbers), (to, of, size, size)) * (size * size * of) ** -0.5
    return leaf(filters.contiguous(memory_format=torch.channels_last)), leaf(torch.ones(to, device="cuda"))

  weights = {"stem": layer(7, 3, stages[0][0]), "stages": []}
  features = stages[0][0]
  for width, blocks in stages:
    weights["stages"].append([])
    for index in range(blocks):
      around = layer(1, features, 4 * width) if index == 0 else None
      weights["stages"][-1].append((layer(1, features, width), layer(3, width, width), layer(1, width, 4 * width), around))
      features = 4 * width
  weights["out"] = leaf(normal(next(numbers), (features, 1000)) * features ** -0.5)

  def step(images, labels):
    gradients = torch.autograd.grad(F.cross_entropy(residual_network(weights, images).float(), labels), leaves)
    return [w.detach() - 0.01 * g for w, g in zip(leaves, gradients)]

  images = normal(5, (count, 3, side, side)).contiguous(memory_format=torch.channels_last)
  return step, [images, torch.arange(count, device="cuda") % 1000]


def rows(small):
  s = sizes(small)
  table = {}
  for n in s.products:
    table[f"gemm_bf16_{n}"] = (torch.matmul, [normal(0, (n, n)), normal(1, (n, n))])
  n = s.products[-1]
  table[f"gemm_bf16_bias_gelu_{n}"] = (lambda a, b, c: F.gelu(a @ b + c, approximate="tanh"), [normal(0, (n, n)), normal(1, (n, n)), normal(2, (n,))])
  table[f"gemm_int8_{n}"] = (torch._int_mm, [(10 * normal(i, (n, n))).to(torch.int8) for i in range(2)])
  eights = [normal(i, (n, n)).to(torch.float8_e4m3fn) for i in range(2)]
  one, half = (torch.tensor(x, device="cuda") for x in (1.0, 0.5))
  table[f"gemm_fp8_{n}"] = (lambda a, b, x, y: torch._scaled_mm(a, b.t(), x, y, out_dtype=torch.bfloat16), [*eights, one, half])
  for length, heads in s.attention:
    qkv = [normal(i, (1, length, heads, 64)) for i in range(3)]
    table[f"attention_{length}"] = (attention, qkv)
    if length <= s.longest_gradient:
      table[f"attention_gradient_{length}"] = (gradient_of(attention, 3), qkv)
  w = s.width
  weights = [0.02 * normal(i, shape) for i, shape in enumerate([(w, 3 * w), (w, w), (w, 4 * w), (4 * w, w)])]
  x = normal(9, (s.batch, s.length, w))
  table["block"] = (block, [*weights, x])
  table["block_gradient"] = (gradient_of(block, 4), [*weights, x])
  dense = [0.02 * normal(i, (w, w), torch.float32) for i in range(3)]
  zeros = [torch.zeros_like(d) for d in dense]
  table["mlp_adam"] = (mlp_step, [*dense, *zeros, *zeros, normal(7, (s.rows, w), torch.float32), normal(8, (s.rows, w), torch.float32)])
  cells = torch.nn.LSTM(w, w, device="cuda")
  table["lstm"] = (lambda t: cells(t)[0], [normal(2, (s.steps, 32, w), torch.float32)])
  table["decode"] = (decode, [normal(0, (8, 16, 64)), normal(1, (8, s.cache, 16, 64)), normal(2, (8, s.cache, 16, 64)), s.cache - 5])
  table["residual_network_step"] = residual_row(s.stages, *s.images)
  e = s.elements
  flat = normal(3, (e,), torch.float32)
  table["random_normal"] = (lambda: torch.randn(e, device="cuda"), [])
  table["segment_sum"] = (lambda v, i: torch.zeros(1024, device="cuda").index_add(0, i, v), [flat, torch.randint(0, 1024, (e,), device="cuda")])
  table["sort_flat"] = (lambda t: torch.sort(t).values, [flat])
  table["cumsum_flat"] = (lambda t: torch.cumsum(t, 0), [flat])
  table["fft"] = (torch.fft.fft, [flat.reshape(-1, 1024).to(torch.complex64)])
  m = s.matrix
  square = normal(4, (m, m), torch.float32)
  positive = square @ square.T + m * torch.eye(m, device="cuda")
  table["cholesky"] = (torch.linalg.cholesky, [positive])
  table["solve"] = (torch.linalg.solve, [positive, square[:, :8]])
  return table
