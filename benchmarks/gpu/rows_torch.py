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


def rows(small):
  s = sizes(small)
  table = {}
  for n in s.products:
    table[f"gemm_bf16_{n}"] = (torch.matmul, [normal(0, (n, n)), normal(1, (n, n))])
  n = s.products[-1]
  table[f"gemm_bf16_bias_gelu_{n}"] = (lambda a, b, c: F.gelu(a @ b + c, approximate="tanh"), [normal(0, (n, n)), normal(1, (n, n)), normal(2, (n,))])
  table[f"gemm_int8_{n}"] = (torch._int_mm, [(10 * normal(i, (n, n))).to(torch.int8) for i in range(2)])
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
