"""Annotated programs of the kinds that people write, for sharding_test.py.

PROGRAMS: name -> (mesh, make, arguments). `make(mesh)` is the function, an argument is (shape, dtype, spec); a spec of None leaves the argument open, as all results are. Loops make four iterations.
"""
import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import NamedSharding, PartitionSpec as P

U = P.UNCONSTRAINED
PROGRAMS = {}
MESHES = {"8": (8,), "24": (2, 4), "42": (4, 2), "222": (2, 2, 2)}
NAMES = "xyz"


def add(name, mesh, make, *args):
    assert name not in PROGRAMS, name
    full = []
    for a in args:
        shape, spec = a[0], a[1]
        full.append((shape, a[2] if len(a) > 2 else "f4", spec))
    PROGRAMS[name] = (mesh, make, full)

def label(*specs):
    return "_".join("open" if spec is None else str(tuple(spec)).replace(" ", "") for spec in specs)


def simple(name, mesh, f, *args):
    add(name, mesh, lambda m: f, *args)


def con(m, x, *spec):
    return lax.with_sharding_constraint(x, NamedSharding(m, P(*spec)))



def normed(hidden, gain):
    return hidden * lax.rsqrt((hidden * hidden).mean(-1, keepdims=True) + 1e-5) * gain


def transformer_layer(hidden, weights):
    projections, out, up, down, gains = weights
    batch, length, width = hidden.shape
    query, key, value = ((normed(hidden, gains[0]) @ projection).reshape(batch, length, 4, -1).transpose(0, 2, 1, 3) for projection in projections)
    scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), query @ key.swapaxes(-1, -2) / 4, -1e9)
    hidden += (jax.nn.softmax(scores, -1) @ value).transpose(0, 2, 1, 3).reshape(batch, length, width) @ out
    return hidden + jax.nn.gelu(normed(hidden, gains[1]) @ up) @ down, None


def transformer_step(embed):
    """A training step with momentum; parameters are cut along both axes of the mesh."""

    def step(tokens, table, *weights):
        def loss(table, weights):
            hidden, _ = lax.scan(transformer_layer, embed(table[tokens[:, :-1]]), weights)
            return -(jax.nn.log_softmax(hidden @ table.T) * jax.nn.one_hot(tokens[:, 1:], 128)).sum(-1).mean()

        value, gradients = jax.value_and_grad(loss, (0, 1))(table, weights)
        return value, jax.tree.map(lambda weight, gradient: weight - 0.1 * gradient, (table, weights), gradients)

    return step


TRANSFORMER = [((8, 33), P("x"), "i4"), ((128, 64), P("y", "x")), ((4, 3, 64, 64), P(None, None, "x", "y")), ((4, 64, 64), P(None, "y", "x")), ((4, 64, 256), P(None, "x", "y")),
               ((4, 256, 64), P(None, "y", "x")), ((4, 2, 64), P())]
add("transformer_constrained", "24", lambda m: transformer_step(lambda hidden: con(m, hidden, "x")), *TRANSFORMER)
simple("transformer", "24", transformer_step(lambda hidden: hidden), *TRANSFORMER)
relu = jax.nn.relu
x, y, z, xy, n = "x", "y", "z", ("x", "y"), None
# ---- MLPs
mlp = lambda a, w1, w2: jnp.tanh(a @ w1) @ w2
A, W1, W2 = (16, 32), (32, 64), (64, 32)
for mesh, sa, s1, s2 in [("24", P(x), P(n, y), P(y)), ("24", P(x), P(), P()), ("24", P(x), P(x, y), P(y, x)), ("24", P(), P(n, y), P(y)),
                         ("8", P(x), P(x), P(x)), ("8", P(), P(n, x), P(x)), ("24", P(x, y), P(y), P(n, y)), ("222", P(x), P(y, z), P(z, y)),
                         ("24", P(xy), P(xy), P(xy)), ("8", P(), P(x), P(n, x)), ("24", P(x, n), P(y), P(y)), ("24", P(n, x), P(x, y), P(y)),
                         ("8", n, P(n, x), P(x)), ("24", n, P(n, y), n), ("24", P(x), n, P(y)), ("222", P((x, y)), P(n, z), P(z))]:
    simple(f"mlp_{mesh}_{label(sa, s1, s2)}", mesh, mlp, (A, sa), (W1, s1), (W2, s2))
step = lambda w1, w2, a, t: jax.value_and_grad(lambda ws: jnp.mean((mlp(a, *ws) - t) ** 2))((w1, w2))
for mesh, sa, s1, s2 in [("24", P(x), P(n, y), P(y)), ("24", P(x), P(x, y), P(y, x)), ("8", P(x), P(x), P(x)), ("8", P(x), P(), P()), ("8", P(), P(n, x), P(x)), ("24", P(xy), P(xy), P(xy))]:
    simple(f"mlpgrad_{mesh}_{label(sa, s1, s2)}", mesh, step, (W1, s1), (W2, s2), (A, sa), (A, sa))
    def sgd(w1, w2, a, t):
        l, (g1, g2) = step(w1, w2, a, t)
        return l, w1 - 0.1 * g1, w2 - 0.1 * g2
    simple(f"mlpsgd_{mesh}_{label(sa, s1, s2)}", mesh, sgd, (W1, s1), (W2, s2), (A, sa), (A, sa))
bias = lambda a, w, b: relu(a @ w + b)
simple("bias_tp", "24", bias, (A, P(x)), (W1, P(n, y)), ((64,), P(y)))
simple("bias_open", "24", bias, (A, P(x)), (W1, P(n, y)), ((64,), n))
add("mlp_constrained_hidden", "24", lambda m: lambda a, w1, w2: con(m, jnp.tanh(a @ w1), x, y) @ w2, (A, P(x)), (W1, n), (W2, n))
add("mlp_constrained_open", "24", lambda m: lambda a, w1, w2: con(m, jnp.tanh(a @ w1), U, y) @ w2, (A, P(x)), (W1, n), (W2, n))
add("mlp_constrained_out", "24", lambda m: lambda a, w1, w2: con(m, jnp.tanh(a @ w1) @ w2, x, n), (A, n), (W1, P(n, y)), (W2, P(y)))
add("constrained_in", "8", lambda m: lambda a: jnp.sin(con(m, a * 2, x)) + 1, (A, n))
add("constrained_back", "8", lambda m: lambda a: con(m, jnp.sin(a) + 1, n, x), (A, n))
add("constrained_twice", "24", lambda m: lambda a: con(m, con(m, a * 2, x, y) + 1, y, x), (A, P(x, y)))
add("constrained_gather", "24", lambda m: lambda a: con(m, a * 2, n, n), (A, P(x, y)))
add("constrained_move", "8", lambda m: lambda a: con(m, a * 2, n, x), (A, P(x)))
add("constrained_less", "24", lambda m: lambda a: con(m, a * 2, x, n), (A, P(x, y)))
add("constrained_rows", "24", lambda m: lambda a: con(m, a * 2, x, y), (A, P(y)))
add("constrained_three", "222", lambda m: lambda a: con(m, a * 2, (z, x), y), (A, P(x, (y, z))))
add("constrained_more", "24", lambda m: lambda a: con(m, a * 2, x, y), (A, P(x, n)))
# ---- dots
dot = lambda a, b: a @ b
for mesh, sa, sb in [("8", P(x), P(x)), ("8", P(n, x), P(x)), ("8", P(x), P(n, x)), ("8", P(n, x), P(n, x)), ("24", P(x, y), P(y, x)), ("24", P(x, y), P(x, y)),
                     ("24", P(y, x), P(x, y)), ("24", P(x), P(y)), ("24", P(n, xy), P(xy)), ("24", P(xy), P(n, y)), ("8", n, P(x)), ("8", n, P(n, x)), ("8", P(x), n), ("8", P(n, x), n), ("24", P(n, y), P(x, y)), ("222", P(x, y), P(y, z))]:
    simple(f"dot_{mesh}_{label(sa, sb)}", mesh, dot, ((64, 64), sa), ((64, 64), sb))
simple("dot_small_big", "8", dot, ((8, 256), P(n, x)), ((256, 256), P(n, x)))
simple("dot_transposed", "8", lambda a, b: a.T @ b, ((64, 32), P(x)), ((64, 16), P(x)))
simple("dot_self", "8", lambda a: a @ a.T, ((64, 32), P(x)))
simple("dot_batch", "24", lambda a, b: jnp.einsum("bij,bjk->bik", a, b), ((8, 16, 32), P(x)), ((8, 32, 16), P(x)))
simple("dot_batch_half", "24", lambda a, b: jnp.einsum("bij,bjk->bik", a, b), ((8, 16, 32), P(x)), ((8, 32, 16), n))
simple("dot_batch_tp", "24", lambda a, b: jnp.einsum("bij,bjk->bik", a, b), ((8, 16, 32), P(x)), ((8, 32, 16), P(x, n, y)))
simple("dot_batch_conflict", "24", lambda a, b: jnp.einsum("bij,bjk->bik", a, b), ((8, 16, 32), P(x)), ((8, 32, 16), P(y)))
simple("dot_batch_contract", "24", lambda a, b: jnp.einsum("bij,bjk->bik", a, b), ((8, 16, 32), P(x, n, y)), ((8, 32, 16), P(x, y)))
simple("einsum_abc", "222", lambda a, b: jnp.einsum("abc,cd->abd", a, b), ((8, 16, 32), P(x, y)), ((32, 64), P(n, z)))
simple("einsum_fsdp", "8", lambda a, b: jnp.einsum("abc,cd->abd", a, b), ((8, 16, 32), P(x)), ((32, 64), P(x)))
simple("einsum_outer", "24", lambda a, b: jnp.einsum("i,j->ij", a, b), ((16,), P(x)), ((32,), P(y)))
simple("einsum_outer_same", "8", lambda a, b: jnp.einsum("i,j->ij", a, b), ((16,), P(x)), ((32,), P(x)))
simple("matvec", "8", lambda a, b: a @ b, ((64, 32), P(x)), ((32,), n))
simple("matvec_c", "8", lambda a, b: a @ b, ((64, 32), P(n, x)), ((32,), P(x)))
simple("dot_chain", "24", lambda a, b, c, d: a @ b @ c @ d, ((32, 32), P(x)), ((32, 32), P(n, y)), ((32, 32), P(y)), ((32, 32), P(n, y)))
simple("dot_minor_of_two", "24", dot, ((64, 64), P(n, xy)), ((64, 64), P(y, x)))
# ---- attention
def attention(h):
    def f(a, wq, wk, wv, wo):
        q, k, v = (jnp.einsum("bsd,dhe->bhse", a, w) for w in (wq, wk, wv))
        s = jax.nn.softmax(jnp.einsum("bhse,bhte->bhst", q, k) / 4.0, -1)
        return jnp.einsum("bhse,hed->bsd", jnp.einsum("bhst,bhte->bhse", s, v), wo)
    return f
AT = (4, 16, 32); WQ = (32, 4, 8); WO = (4, 8, 32)
for mesh, sa, sq, so in [("24", P(x), P(n, y), P(y)), ("24", P(x), P(x, y), P(y, n, x)), ("24", P(), P(n, y), P(y)), ("24", P(x), P(), P()), ("222", P(x), P(y, z), P(z, n, y)), ("24", n, P(n, y), P(y)), ("24", P(x, y), P(), P())]:
    simple(f"attention_{mesh}_{label(sa, sq, so)}", mesh, attention(4), (AT, sa), (WQ, sq), (WQ, sq), (WQ, sq), (WO, so))
def attention_split(a, wq, wk, wv, wo):
    b, s, d = a.shape
    q, k, v = ((a @ w).reshape(b, s, 4, 8).transpose(0, 2, 1, 3) for w in (wq, wk, wv))
    p = jax.nn.softmax(q @ k.swapaxes(-1, -2) + jnp.where(jnp.tril(jnp.ones((s, s), bool)), 0, -1e9), -1)
    return (p @ v).transpose(0, 2, 1, 3).reshape(b, s, d) @ wo
W = (32, 32)
for mesh, sa, sq, so in [("24", P(x), P(n, y), P(y)), ("24", P(x), P(x, y), P(y, x)), ("8", P(), P(n, x), P(x)), ("8", n, P(n, x), P(x)), ("24", P(x), n, n)]:
    simple(f"attsplit_{mesh}_{label(sa, sq, so)}", mesh, attention_split, (AT, sa), (W, sq), (W, sq), (W, sq), (W, so))
attgrad = lambda a, *w: jax.grad(lambda *w: attention_split(a, *w).sum(), (0, 1, 2, 3))(*w)
simple("attgrad_tp", "24", attgrad, (AT, P(x)), (W, P(n, y)), (W, P(n, y)), (W, P(n, y)), (W, P(y)))
simple("attgrad_fsdp", "24", attgrad, (AT, P(x)), (W, P(x, y)), (W, P(x, y)), (W, P(x, y)), (W, P(y, x)))
simple("kvcache", "24", lambda c, k, i: lax.dynamic_update_slice(c, k, (0, i, 0, 0)), ((4, 32, 4, 8), P(x, n, y)), ((4, 1, 4, 8), P(x, n, y)), ((), P(), "i4"))
simple("kvcache_open", "24", lambda c, k, i: lax.dynamic_update_slice(c, k, (0, i, 0, 0)), ((4, 32, 4, 8), P(x, n, y)), ((4, 1, 4, 8), n), ((), P(), "i4"))
# ---- embeddings
take = lambda t, i: jnp.take(t, i, axis=0)
take_clip = lambda t, i: t.at[i].get(mode="clip")
for mesh, st, si in [("8", P(x), P()), ("8", P(), P(x)), ("8", P(n, x), P()), ("8", P(n, x), P(x)), ("24", P(x), P(y)), ("24", P(n, y), P(x)), ("24", P(y, x), P(x)), ("8", n, P(x)), ("8", P(x), P(x)), ("8", P(n, x), n)]:
    simple(f"embed_{mesh}_{label(st, si)}", mesh, take, ((64, 32), st), ((16, 8), si, "i4"))
simple("embed_clip", "24", take_clip, ((64, 32), P(x, y)), ((16, 8), P(x), "i4"))
onehot = lambda t, i: jax.nn.one_hot(i, 64) @ t
simple("embed_onehot", "24", onehot, ((64, 32), P(y)), ((16,), P(x), "i4"))
simple("embedgrad", "24", lambda t, i: jax.grad(lambda t: (take(t, i) ** 2).sum())(t), ((64, 32), P(n, y)), ((16, 8), P(x), "i4"))
simple("embedgrad_rows", "8", lambda t, i: jax.grad(lambda t: (take(t, i) ** 2).sum())(t), ((64, 32), P(x)), ((16, 8), P(), "i4"))
simple("logits", "24", lambda a, t, i: -jnp.take_along_axis(jax.nn.log_softmax(a @ t.T), i[:, None], 1).mean(), ((16, 32), P(x)), ((64, 32), P(y)), ((16,), P(x), "i4"))
simple("logits_onehot", "24", lambda a, t, i: -(jax.nn.log_softmax(a @ t.T) * jax.nn.one_hot(i, 64)).sum(-1).mean(), ((16, 32), P(x)), ((64, 32), P(y)), ((16,), P(x), "i4"))
# ---- norms
def layernorm(a, g, b):
    m = a.mean(-1, keepdims=True); v = ((a - m) ** 2).mean(-1, keepdims=True)
    return (a - m) * lax.rsqrt(v + 1e-5) * g + b
for mesh, sa, sg in [("8", P(x), P()), ("8", P(n, x), P(x)), ("24", P(x, y), P(y)), ("24", P(x, y), n), ("24", P(x), P(y)), ("8", P(), P(x))]:
    simple(f"ln_{mesh}_{label(sa, sg)}", mesh, layernorm, ((16, 32), sa), ((32,), sg), ((32,), sg))
simple("lngrad", "24", lambda a, g, b: jax.grad(lambda *t: (layernorm(*t) ** 2).sum(), (0, 1, 2))(a, g, b), ((16, 32), P(x, y)), ((32,), P(y)), ((32,), P(y)))
simple("lngrad_dp", "8", lambda a, g, b: jax.grad(lambda *t: (layernorm(*t) ** 2).sum(), (0, 1, 2))(a, g, b), ((16, 32), P(x)), ((32,), P()), ((32,), P()))
simple("softmax_cut", "8", lambda a: jax.nn.softmax(a), ((16, 32), P(n, x)))
simple("softmax_rows", "24", lambda a: jax.nn.softmax(a), ((16, 32), P(x, y)))
simple("batchnorm", "8", lambda a: (a - a.mean((0, 1, 2))) / jnp.sqrt(a.var((0, 1, 2)) + 1e-5), ((8, 4, 4, 16), P(x)))
# ---- convolutions
conv = lambda a, k: lax.conv_general_dilated(a, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
for mesh, sa, sk in [("8", P(x), P()), ("8", P(), P(n, n, n, x)), ("24", P(x), P(n, n, n, y)), ("24", P(x, n, n, y), P(n, n, y)), ("8", P(n, x), P()), ("8", P(n, n, n, x), P()), ("8", P(x), n)]:
    simple(f"conv_{mesh}_{label(sa, sk)}", mesh, conv, ((8, 16, 8, 8), sa), ((3, 3, 8, 16), sk))
simple("convgrad", "8", lambda a, k: jax.grad(lambda k: (conv(a, k) ** 2).sum())(k), ((8, 8, 8, 8), P(x)), ((3, 3, 8, 16), P()))
simple("convgrad_tp", "24", lambda a, k: jax.grad(lambda k: (conv(a, k) ** 2).sum())(k), ((8, 8, 8, 8), P(x)), ((3, 3, 8, 16), P(n, n, n, y)))
simple("conv_grouped", "8", lambda a, k: lax.conv_general_dilated(a, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"), feature_group_count=8), ((8, 8, 8, 8), P(x)), ((3, 3, 1, 8), P()))
simple("conv_depthwise_features", "8", lambda a, k: lax.conv_general_dilated(a, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"), feature_group_count=8), ((8, 8, 8, 8), P(n, n, n, x)), ((3, 3, 1, 8), P(n, n, n, x)))
simple("conv_depthwise_grad", "24", lambda a, k: jax.grad(lambda a, k: (lax.conv_general_dilated(a, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"), feature_group_count=8) ** 2).sum(), (0, 1))(a, k), ((8, 8, 8, 8), P(x, n, n, y)), ((3, 3, 1, 8), P(n, n, n, y)))
for count in 2, 4:
    simple(f"conv_groups{count}_grad", "24", lambda a, k, count=count: jax.grad(lambda a, k: (lax.conv_general_dilated(a, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"), feature_group_count=count) ** 2).sum(), (0, 1))(a, k), ((8, 8, 8, 16), P(x, n, n, y)), ((3, 3, 16 // count, 16), P()))
simple("conv_stride", "8", lambda a, k: lax.conv_general_dilated(a, k, (2, 2), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")), ((8, 9, 9, 8), P(x)), ((3, 3, 8, 16), n))
simple("maxpool", "8", lambda a: lax.reduce_window(a, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"), ((8, 8, 8, 8), P(x)))
simple("maxpool_space", "24", lambda a: lax.reduce_window(a, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"), ((8, 8, 8, 8), P(x, y)))
simple("poolgrad", "8", lambda a: jax.grad(lambda a: (lax.reduce_window(a, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID") ** 2).sum())(a), ((8, 8, 8, 8), P(x)))
# ---- windows along cut dimensions
simple("conv_spatial", "8", conv, ((4, 32, 16, 8), P(n, x)), ((3, 3, 8, 16), P()))
simple("conv_spatial_w", "8", conv, ((4, 16, 32, 8), P(n, n, x)), ((5, 5, 8, 16), P()))
simple("conv_spatial2", "24", conv, ((4, 16, 32, 8), P(n, x, y)), ((3, 3, 8, 16), P()))
simple("conv_spatial_stride", "8", lambda a, k: lax.conv_general_dilated(a, k, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")), ((4, 32, 16, 8), P(n, x)), ((3, 3, 8, 16), P()))
simple("conv_spatial_valid", "8", lambda a, k: lax.conv_general_dilated(a, k, (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")), ((4, 32, 16, 8), P(n, x)), ((3, 3, 8, 16), P()))
simple("conv_spatial_dil", "8", lambda a, k: lax.conv_general_dilated(a, k, (1, 1), "SAME", rhs_dilation=(2, 2), dimension_numbers=("NHWC", "HWIO", "NHWC")), ((4, 32, 16, 8), P(n, x)), ((3, 3, 8, 16), P()))
simple("conv_spatial_grad", "8", lambda a, k: jax.grad(lambda a: (conv(a, k) ** 2).sum())(a), ((4, 32, 16, 8), P(n, x)), ((3, 3, 8, 16), P()))
simple("conv_spatial_gradk", "8", lambda a, k: jax.grad(lambda k: (conv(a, k) ** 2).sum())(k), ((4, 32, 16, 8), P(n, x)), ((3, 3, 8, 16), P()))
simple("conv_patch", "8", lambda a, k: lax.conv_general_dilated(a, k, (4, 4), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")), ((4, 32, 32, 3), P(n, x)), ((4, 4, 3, 16), P()))
simple("conv1d", "8", lambda a, k: lax.conv_general_dilated(a, k, (1,), "SAME", dimension_numbers=("NHC", "HIO", "NHC")), ((4, 64, 8), P(n, x)), ((3, 8, 16), P()))
simple("conv1d_causal", "8", lambda a, k: lax.conv_general_dilated(a, k, (1,), [(2, 0)], dimension_numbers=("NHC", "HIO", "NHC")), ((4, 64, 8), P(n, x)), ((3, 8, 16), P()))
simple("avgpool_spatial", "8", lambda a: lax.reduce_window(a, 0., lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"), ((4, 32, 8, 8), P(n, x)))
simple("avgpool3_spatial", "8", lambda a: lax.reduce_window(a, 0., lax.add, (1, 3, 3, 1), (1, 1, 1, 1), "SAME"), ((4, 32, 8, 8), P(n, x)))
simple("poolgrad_spatial", "8", lambda a: jax.grad(lambda a: (lax.reduce_window(a, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID") ** 2).sum())(a), ((4, 32, 8, 8), P(n, x)))
simple("group_conv4", "24", lambda a, k: lax.conv_general_dilated(a, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"), feature_group_count=4), ((8, 8, 8, 16), P(x, n, n, y)), ((3, 3, 4, 16), P(n, n, n, y)))
# ---- loops (4 iterations)
scan_rnn = lambda c, w, t: lax.scan(lambda c, s: ((d := jnp.tanh(c @ w + s)), d), c, t)
for mesh, sc, sw, st in [("8", P(x), P(), P(n, x)), ("8", n, P(n, x), n), ("24", P(x), P(n, y), P(n, x)), ("24", P(x, y), P(), P(n, x, y)), ("8", P(), P(), P(n, x)), ("8", P(x), P(), n), ("24", P(x), P(y), n)]:
    simple(f"rnn_{mesh}_{label(sc, sw, st)}", mesh, scan_rnn, ((16, 32), sc), ((32, 32), sw), ((4, 16, 32), st))
layers = lambda a, w: lax.scan(lambda a, w: (jnp.tanh(a @ w), None), a, w)[0]
for mesh, sa, sw in [("8", P(x), P()), ("8", P(x), P(n, x)), ("24", P(x), P(n, n, y)), ("24", P(x), P(n, x, y)), ("24", P(x, y), P(n, x, y)), ("24", P(x), P(n, y))]:
    simple(f"layers_{mesh}_{label(sa, sw)}", mesh, layers, ((16, 32), sa), ((4, 32, 32), sw))
    simple(f"layersgrad_{mesh}_{label(sa, sw)}", mesh, lambda a, w: jax.grad(lambda w: (layers(a, w) ** 2).sum())(w), ((16, 32), sa), ((4, 32, 32), sw))
mlplayers = lambda a, w, v: lax.scan(lambda a, wv: (a + jnp.tanh(a @ wv[0]) @ wv[1], None), a, (w, v))[0]
simple("mlplayers_tp", "24", mlplayers, ((16, 32), P(x)), ((4, 32, 64), P(n, n, y)), ((4, 64, 32), P(n, y)))
simple("mlplayers_fsdp_tp", "24", mlplayers, ((16, 32), P(x)), ((4, 32, 64), P(n, x, y)), ((4, 64, 32), P(n, y, x)))
simple("mlplayersgrad", "24", lambda a, w, v: jax.grad(lambda w, v: (mlplayers(a, w, v) ** 2).sum(), (0, 1))(w, v), ((16, 32), P(x)), ((4, 32, 64), P(n, x, y)), ((4, 64, 32), P(n, y, x)))
simple("fori", "24", lambda a: lax.fori_loop(0, 4, lambda i, c: c * 0.5 + i, a), ((16, 32), P(x, y)))
simple("fori_zeros", "24", lambda a: lax.fori_loop(0, 4, lambda i, c: c * 0.5 + a, jnp.zeros((16, 32))), ((16, 32), P(x, y)))
simple("while_newton", "8", lambda a: lax.while_loop(lambda c: c[0] < 4, lambda c: (c[0] + 1, (c[1] + a / c[1]) / 2), (0, jnp.ones_like(a)))[1], ((64,), P(x)))
simple("while_norm", "8", lambda a: lax.while_loop(lambda c: (c * c).sum() > 0.1, lambda c: c * 0.5, a), ((64, 8), P(x)))
add("scan_constrained", "24", lambda m: lambda a, w: lax.scan(lambda a, w: (con(m, jnp.tanh(a @ w), x, y), None), a, w)[0], ((16, 32), n), ((4, 32, 32), n))
add("scan_constrained_mid", "24", lambda m: lambda a, w: lax.scan(lambda a, w: (con(m, jnp.tanh(a @ w), x, y) @ w.T, None), a, w)[0], ((16, 32), P(x)), ((4, 32, 32), n))
simple("scan_stack", "8", lambda a: lax.scan(lambda c, t: (c + t, c * t), jnp.zeros(16), a), ((4, 16), P(n, x)))
simple("scan_carry_only", "8", lambda a: lax.scan(lambda c, _: (jnp.sin(c), c.sum()), a, None, length=4), ((16, 8), P(x)))
# ---- conditionals
choose = lambda p, a, b: lax.cond(p > 0, lambda a, b: a * b, lambda a, b: a - b, a, b)
for mesh, sa, sb in [("8", P(x), P(x)), ("8", P(x), P()), ("24", P(x), P(y)), ("8", P(x), n), ("24", P(x), P(n, y))]:
    simple(f"cond_{mesh}_{label(sa, sb)}", mesh, choose, ((), P()), ((16, 32), sa), ((16, 32), sb))
simple("cond_dot", "24", lambda p, a, b: lax.cond(p > 0, lambda: a @ b, lambda: jnp.zeros((16, 16))), ((), P()), ((16, 32), P(x)), ((32, 16), P(n, y)))
simple("switch", "8", lambda i, a: lax.switch(i, [jnp.sin, jnp.cos, lambda v: v[::-1]], a), ((), P(), "i4"), ((16, 32), P(x)))
# ---- reductions
for ax in (0, 1, None):
    for red in ("sum", "max", "argmax", "mean"):
        simple(f"{red}_{ax}", "24", lambda a, red=red, ax=ax: getattr(jnp, red)(a, ax), ((16, 32), P(x, y)))
simple("sum_keep", "24", lambda a: a - a.sum(1, keepdims=True), ((16, 32), P(x, y)))
simple("norm_global", "24", lambda a, b: (a / jnp.sqrt((a * a).sum() + (b * b).sum()), b), ((16, 32), P(x, y)), ((64,), P(x)))
simple("var", "8", lambda a: jnp.var(a, 0), ((64, 8), P(x)))
simple("any", "8", lambda a: jnp.any(a > 1, 0), ((64, 8), P(x)))
simple("prod", "8", lambda a: jnp.prod(a, 1), ((8, 64), P(n, x)))
simple("logsumexp", "8", lambda a: jax.nn.logsumexp(a, 1), ((8, 64), P(n, x)))
# ---- elementwise conflicts and broadcasts
plus = lambda a, b: a + b
for mesh, sa, sb in [("8", P(x), P(n, x)), ("24", P(x), P(n, y)), ("24", P(x), P(y)), ("24", P(x), P(xy)), ("24", P(x), n), ("24", P(), P(x)), ("222", P(x, y), P(n, n)), ("222", P((x, y)), P(x, z)), ("8", P(x), P())]:
    simple(f"add_{mesh}_{label(sa, sb)}", mesh, plus, ((16, 32), sa), ((16, 32), sb))
simple("add_row", "24", plus, ((16, 32), P(x, y)), ((32,), P(y)))
simple("add_row_open", "24", plus, ((16, 32), P(x, y)), ((32,), n))
simple("add_row_other", "24", plus, ((16, 32), P(x)), ((32,), P(y)))
simple("add_col", "24", lambda a, b: a + b[:, None], ((16, 32), P(x)), ((16,), P(y)))
simple("add_three", "24", lambda a, b, c: (a + b) * c, ((16, 32), P(x)), ((16, 32), P(y)), ((16, 32), P(n, x)))
simple("where", "8", lambda a, b: jnp.where(a > 0, a, b), ((16, 32), P(x)), ((16, 32), P()))
simple("iota_mask", "8", lambda a: a * jnp.arange(32), ((16, 32), P(n, x)))
simple("scalar", "8", lambda a, s: a * s, ((16, 32), P(x)), ((), P()))
simple("identity", "24", lambda a: a, ((16, 32), P(x, y)))
simple("unused", "24", lambda a, b: (a, b * 2), ((16, 32), P(x, y)), ((16, 32), n))
# ---- structure
for name, f in {
    "concat0": lambda a: jnp.concatenate([a, a * 2], 0), "concat1": lambda a: jnp.concatenate([a, a], 1), "stack": lambda a: jnp.stack([a, a + 1]), "pad0": lambda a: jnp.pad(a, ((1, 1), (0, 0))),
    "pad8": lambda a: jnp.pad(a, ((8, 8), (0, 0))), "slice0": lambda a: a[:8], "slice1": lambda a: a[:, :16], "slice_mid": lambda a: a[4:12], "slice_odd": lambda a: a[1:], "stride": lambda a: a[::2],
    "rev0": lambda a: a[::-1], "rev1": lambda a: a[:, ::-1], "transpose": lambda a: a.T, "roll0": lambda a: jnp.roll(a, 1, 0), "roll1": lambda a: jnp.roll(a, 1, 1), "shift": lambda a: jnp.concatenate([a[1:], a[:1]], 0),
    "cumsum0": lambda a: jnp.cumsum(a, 0), "cumsum1": lambda a: jnp.cumsum(a, 1), "cummax": lambda a: lax.cummax(a, 0), "sort0": lambda a: jnp.sort(a, 0), "sort1": lambda a: jnp.sort(a, 1), "argsort0": lambda a: jnp.argsort(a, 0),
    "topk": lambda a: lax.top_k(a, 4), "topk_rows": lambda a: lax.top_k(a.T, 4), "diff": lambda a: a[1:] - a[:-1], "tile": lambda a: jnp.tile(a, (2, 1)), "repeat": lambda a: jnp.repeat(a, 2, 0), "flatten": lambda a: a.reshape(-1),
    "split0": lambda a: a.reshape(4, 4, 32), "split1": lambda a: a.reshape(16, 8, 4), "merge": lambda a: a.reshape(16 * 32 // 64, 64), "unsplit": lambda a: a.reshape(2, 8, 32), "expand": lambda a: a[:, None, :], "dus": lambda a: a.at[2].set(0.0), "dus_block": lambda a: a.at[4:8].set(1.0),
    "dslice": lambda a: lax.dynamic_slice(a, (2, 0), (4, 32)), "index": lambda a: a[3], "index1": lambda a: a[:, 3], "triu": lambda a: jnp.triu(a), "diag": lambda a: jnp.diagonal(a), "quant": lambda a: (a * 10).astype(jnp.int8),
    "gather_rows": lambda a: a[jnp.array([3, 1, 15, 0])], "take_along": lambda a: jnp.take_along_axis(a, jnp.argsort(a, 1), 1), "scatter_rows": lambda a: a.at[jnp.array([3, 1])].add(1.0), "fft": lambda a: jnp.abs(jnp.fft.fft(a)), "swap3": lambda a: a.reshape(4, 4, 32).transpose(2, 0, 1),
}.items():
    simple(f"s_{name}", "24", f, ((16, 32), P(x, y)))
    simple(f"r_{name}", "8", f, ((16, 32), P(x)))
simple("merge_split", "8", lambda a: a.reshape(64, 4), ((8, 8, 4), P(x)))
simple("merge_minor", "8", lambda a: a.reshape(64, 4), ((8, 8, 4), P(n, x)))
simple("merge_both", "24", lambda a: a.reshape(64, 4), ((8, 8, 4), P(x, y)))
simple("split_both", "24", lambda a: a.reshape(2, 8, 4), ((16, 4), P(xy)))
simple("split_sub", "8", lambda a: a.reshape(2, 8, 4), ((16, 4), P(x)))
simple("split_sub4", "8", lambda a: a.reshape(4, 4, 4), ((16, 4), P(x)))
simple("reshape_back", "8", lambda a: (a.reshape(2, 8, 4) * 2).reshape(16, 4) + a, ((16, 4), P(x)))
simple("heads", "24", lambda a: a.reshape(4, 16, 4, 8).transpose(0, 2, 1, 3), ((4, 16, 32), P(x, n, y)))
simple("concat_two", "24", lambda a, b: jnp.concatenate([a, b], 0), ((16, 32), P(x, y)), ((16, 32), n))
simple("concat_conflict", "24", lambda a, b: jnp.concatenate([a, b], 1), ((16, 32), P(x)), ((16, 32), P(y)))
simple("dus_open", "8", lambda a, b, i: lax.dynamic_update_slice(a, b, (i, 0)), ((16, 32), P(n, x)), ((4, 32), n), ((), P(), "i4"))
simple("dus_rows", "8", lambda a, b, i: lax.dynamic_update_slice(a, b, (i, 0)), ((16, 32), P(x)), ((4, 32), n), ((), P(), "i4"))
simple("ds_rows", "8", lambda a, i: lax.dynamic_slice(a, (i, 0), (4, 32)), ((16, 32), P(x)), ((), P(), "i4"))
simple("scatter_add", "8", lambda a, i, u: a.at[i].add(u), ((16, 32), P(n, x)), ((8,), P(), "i4"), ((8, 32), n))
simple("scatter_updates", "8", lambda a, i, u: a.at[i].add(u), ((16, 32), P()), ((8,), P(x), "i4"), ((8, 32), P(x)))
simple("segment_sum", "8", lambda u, i: jax.ops.segment_sum(u, i, 16), ((64, 4), P(x)), ((64,), P(x), "i4"))
simple("batched_gather", "8", lambda a, i: jax.vmap(lambda a, i: a[i])(a, i), ((8, 16, 4), P(x)), ((8, 3), P(x), "i4"))
simple("batched_gather_open", "8", lambda a, i: jax.vmap(lambda a, i: a[i])(a, i), ((8, 16, 4), P(x)), ((8, 3), n, "i4"))
# ---- indices and shifts
simple("attn_kcut", "8", lambda q, k, v: jnp.einsum("bhst,bhte->bhse", jax.nn.softmax(jnp.einsum("bhse,bhte->bhst", q, k)), v), ((4, 4, 1, 8), P()), ((4, 4, 64, 8), P(n, n, x)), ((4, 4, 64, 8), P(n, n, x)))
simple("decode", "24", lambda q, k, v, c, d, i: (lambda c, d: jnp.einsum("bht,bhte->bhe", jax.nn.softmax(jnp.where(jnp.arange(32) <= i, jnp.einsum("bhe,bhte->bht", q, c), -1e9)), d))(lax.dynamic_update_slice(c, k[:, :, None], (0, 0, i, 0)), lax.dynamic_update_slice(d, v[:, :, None], (0, 0, i, 0))), ((4, 4, 8), P(x, y)), ((4, 4, 8), P(x, y)), ((4, 4, 8), P(x, y)), ((4, 4, 32, 8), P(x, y)), ((4, 4, 32, 8), P(x, y)), ((), P(), "i4"))
simple("heat", "8", lambda u: lax.fori_loop(0, 4, lambda i, u: u + 0.1 * (jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) + jnp.roll(u, 1, 1) + jnp.roll(u, -1, 1) - 4 * u), u), ((64, 32), P(x)))
simple("heat2", "24", lambda u: lax.fori_loop(0, 4, lambda i, u: u + 0.1 * (jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) + jnp.roll(u, 1, 1) + jnp.roll(u, -1, 1) - 4 * u), u), ((64, 32), P(x, y)))
simple("heat_pad", "8", lambda u: u + 0.1 * (jnp.pad(u, ((1, 1), (0, 0)))[2:] + jnp.pad(u, ((1, 1), (0, 0)))[:-2] - 2 * u), ((64, 32), P(x)))
simple("stencil_at", "8", lambda u: u.at[1:-1].add(0.1 * (u[2:] + u[:-2] - 2 * u[1:-1])), ((64, 32), P(x)))
simple("interleave", "8", lambda a, b: jnp.stack([a, b], 1).reshape(-1, 4), ((32, 4), P(x)), ((32, 4), P(x)))
simple("evenodd", "8", lambda a: (a[::2] + a[1::2]) / 2, ((64, 4), P(x)))
simple("window_sum", "8", lambda a: sum(jnp.roll(a, i, 0) for i in range(4)), ((64, 8), P(x)))
simple("idxdyn", "8", lambda a, i: a[i], ((64, 32), P(x)), ((), P(), "i4"))
simple("idx_last", "8", lambda a: a[:, -1], ((8, 16, 32), P(n, x)))
simple("cls_token", "8", lambda a: a[:, 0] * 2, ((8, 16, 32), P(n, x)))
simple("shift_tokens", "8", lambda a: jnp.concatenate([jnp.zeros((8, 1)), a[:, :-1]], 1), ((8, 64), P(n, x)))
simple("take_perm", "8", lambda a, p: a[p], ((64, 8), P(x)), ((64,), P(x), "i4"))
simple("take_perm_rep", "8", lambda a, p: a[p], ((64, 8), P(x)), ((64,), P(), "i4"))
simple("take2", "24", lambda a, i, j: a[i, j], ((16, 32), P(x, y)), ((8,), P(), "i4"), ((8,), P(), "i4"))
simple("take_along0", "8", lambda a, i: jnp.take_along_axis(a, i, 0), ((64, 8), P(x)), ((4, 8), P(), "i4"))
simple("take_along1c", "8", lambda a, i: jnp.take_along_axis(a, i, 1), ((8, 64), P(n, x)), ((8, 4), P(), "i4"))
simple("hist", "8", lambda i: jnp.zeros(16).at[i].add(1.0), ((256,), P(x), "i4"))
simple("bincount_w", "8", lambda i, w: jnp.zeros(16).at[i].add(w), ((256,), P(x), "i4"), ((256,), P(x)))
simple("segmax", "8", lambda u, i: jax.ops.segment_max(u, i, 16), ((64, 4), P(x)), ((64,), P(x), "i4"))
simple("cumprod_part_grad", "8", jax.grad(lambda u: (jnp.cumprod(u[2:62], 0) ** 2).sum()), ((64, 16), P(x)))
simple("cumlogsumexp_part_grad", "8", jax.grad(lambda u: (lax.cumlogsumexp(u[2:62], 0) ** 2).sum()), ((64, 16), P(x)))
simple("cumprod_reverse_part_grad", "8", jax.grad(lambda u: (lax.cumprod(u[2:62], 0, reverse=True) ** 2).sum()), ((64, 16), P(x)))
add("cumprod_part_constrained", "8", lambda m: jax.grad(lambda u: (con(m, jnp.cumprod(con(m, u[1:], x), 0), x) ** 2).sum()), ((64, 4), P(x)))
simple("segsum_columns_odd", "24", lambda u, i: jax.ops.segment_sum(u[1:, 1:], i[1:], 12), ((64, 8), P(x, y)), ((64,), P(x), "i4"))
simple("segmax_odd", "8", lambda u, i: jax.ops.segment_max(u[1:], i[1:], 12), ((64, 4), P(x)), ((64,), P(x), "i4"))
simple("segsum_odd", "24", lambda u, i: jax.ops.segment_sum(u[1:], i[1:], 12), ((64, 8), P(x, y)), ((64,), P(x), "i4"))
simple("take_odd", "8", lambda u, i: u[1:][i], ((64, 4), P(x)), ((5,), P(), "i4"))
simple("segsum_cut", "8", lambda u, i: jax.ops.segment_sum(u, i, 64), ((128, 4), P()), ((128,), P(), "i4"))
simple("scatter_set", "8", lambda a, i, u: a.at[i].set(u), ((64, 8), P(x)), ((4,), P(), "i4"), ((4, 8), P()))
simple("scatter_mul", "8", lambda a, i, u: a.at[i].multiply(u), ((64, 8), P(n, x)), ((4,), P(), "i4"), ((4, 8), P(n, x)))
simple("scatter_2d", "24", lambda a, i, j, u: a.at[i, j].add(u), ((16, 32), P(x, y)), ((8,), P(), "i4"), ((8,), P(), "i4"), ((8,), P()))
simple("gnn", "8", lambda h, s, t, w: jax.ops.segment_sum((h @ w)[s], t, 64), ((64, 16), P(x)), ((256,), P(x), "i4"), ((256,), P(x), "i4"), ((16, 16), P()))
simple("gnn_rep", "8", lambda h, s, t, w: jax.ops.segment_sum((h @ w)[s], t, 64), ((64, 16), P()), ((256,), P(x), "i4"), ((256,), P(x), "i4"), ((16, 16), P()))
simple("pipeline_like", "8", lambda w, a: lax.fori_loop(0, 4, lambda i, s: jnp.roll(jnp.tanh(jnp.einsum("sbd,sdf->sbf", s, w)), 1, 0), a), ((8, 16, 16), P(x)), ((8, 8, 16), P(x)))
simple("contrastive", "8", lambda a, b: -jax.nn.log_softmax(a @ b.T).diagonal().mean(), ((32, 16), P(x)), ((32, 16), P(x)))
simple("knn_db", "8", lambda a, b: lax.top_k(b @ a.T, 4), ((64, 8), P(x)), ((16, 8), P()))
for mesh, st, si in [("8", P(x), P(x)), ("24", P(x, y), P(n)), ("24", P(x, y), P(x)), ("24", P(xy), P()), ("24", P(n, xy), P(x)), ("222", P(x, y), P(z))]:
    simple(f"rows_{mesh}_{label(st, si)}", mesh, lambda t, i: t[i], ((64, 32), st), ((32, 4), si, "i4"))
    simple(f"rowsgrad_{mesh}_{label(st, si)}", mesh, lambda t, i: jax.grad(lambda t: (t[i] ** 2).sum())(t), ((64, 32), st), ((32, 4), si, "i4"))
# ---- sizes that do not divide (inside)
simple("odd_slice", "8", lambda a: a[:15] * 2, ((16, 4), P(x)))
simple("odd_pad", "8", lambda a: (jnp.pad(a, ((0, 1), (0, 0))) * 2)[:16], ((16, 4), P(x)))
simple("odd_concat", "8", lambda a, b: jnp.concatenate([a, b]) * 2, ((16, 4), P(x)), ((3, 4), P()))
add("odd_constraint", "8", lambda m: lambda a: con(m, a * 2, x) + 1, ((13, 4), n))
add("odd_constraint_sum", "8", lambda m: lambda a: con(m, a * 2, x).sum(), ((13, 4), n))
add("odd_constraint_dot", "8", lambda m: lambda a, w: con(m, jnp.sin(a), x) @ w, ((13, 4), n), ((4, 16), n))
# ---- linear algebra of batches
simple("chol_b", "8", lambda a: jnp.linalg.cholesky(a @ a.swapaxes(1, 2) + 64 * jnp.eye(16)), ((8, 16, 16), P(x)))
simple("solve_b", "8", lambda a, b: lax.linalg.triangular_solve(jnp.tril(a) + 8 * jnp.eye(16), b, left_side=True, lower=True), ((8, 16, 16), P(x)), ((8, 16, 4), P(x)))
simple("eigvals_b", "24", lambda a: jnp.linalg.eigvalsh(a + a.swapaxes(1, 2)), ((8, 16, 16), P(x)))
simple("lu_b", "8", lambda a, b: jnp.linalg.solve(a + 8 * jnp.eye(16), b), ((8, 16, 16), P(x)), ((8, 16, 4), P(x)))
simple("conv_transposed", "8", lambda a, k: lax.conv_transpose(a, k, (2, 2), "SAME"), ((8, 16, 8, 8), P(n, x)), ((3, 3, 8, 16), P()))
# ---- others
add("remat", "24", lambda m: lambda w1, w2, a: jax.grad(lambda w1: jax.checkpoint(lambda a: jnp.tanh(con(m, a @ w1, x, y)))(a).sum())(w1), (W1, P(n, y)), (W2, P()), (A, P(x)))
simple("adam", "8", lambda p, g, mu, nu: (p - mu / (jnp.sqrt(nu) + 1e-8), 0.9 * mu + 0.1 * g, 0.99 * nu + 0.01 * g * g), ((64, 16), P(x)), ((64, 16), n), ((64, 16), P(x)), ((64, 16), P(x)))
simple("moe", "8", lambda a, g, w: jnp.einsum("te,etd->td", jax.nn.softmax(a @ g), jnp.einsum("td,edf->etf", a, w)), ((32, 16), P()), ((16, 8), P()), ((8, 16, 16), P(x)))
simple("moe_dp", "24", lambda a, g, w: jnp.einsum("te,etd->td", jax.nn.softmax(a @ g), jnp.einsum("td,edf->etf", a, w)), ((32, 16), P(x)), ((16, 8), P()), ((8, 16, 16), P(y)))
simple("gram", "8", lambda a: a.T @ a, ((64, 16), P(x)))
simple("power", "8", lambda a, v: lax.fori_loop(0, 4, lambda i, v: (u := a @ v) / jnp.linalg.norm(u), v), ((64, 64), P(x)), ((64,), n))
simple("kmeans", "8", lambda a, c: jnp.argmin(((a[:, None] - c[None]) ** 2).sum(-1), 1), ((64, 4), P(x)), ((8, 4), P()))
simple("pairwise", "24", lambda a, c: ((a[:, None] - c[None]) ** 2).sum(-1), ((64, 4), P(x)), ((16, 4), P(y)))
simple("vmap_dot", "8", lambda a, b: jax.vmap(jnp.dot)(a, b), ((64, 4), P(x)), ((64, 4), n))
simple("bf16", "24", lambda a, w: (a.astype(jnp.bfloat16) @ w.astype(jnp.bfloat16)).astype(jnp.float32), (A, P(x)), (W1, P(x, y)))
simple("dropout_like", "8", lambda a: jnp.where(jax.random.bernoulli(jax.random.key(0), 0.5, a.shape), a, 0), ((16, 32), P(x)))

# ---- sizes that a mesh divides in part
simple("uneven_mlp", "24", lambda a, w, v: jnp.tanh(jnp.tanh(a[:60] @ w) @ v), ((64, 32), P(x, y)), ((32, 64), P()), ((64, 32), P()))
simple("uneven_attn", "24", lambda q, k: jax.nn.softmax(q[:52] @ k.T) @ k, ((64, 32), P(xy)), ((64, 32), P()))
simple("uneven_concat", "24", lambda a, b: jnp.sin(jnp.concatenate([a, b[:4]])) @ jnp.ones((32, 32)), ((64, 32), P(xy)), ((16, 32), P()))
simple("uneven_tail", "24", lambda a: jnp.exp(a[4:]).sum(1), ((64, 256), P(xy)))
simple("uneven_norm", "24", lambda a: (a[:36] - a[:36].mean(0)) / a[:36].std(0), ((40, 256), P(xy)))
simple("uneven_mean", "8", lambda a: a[1:-1].mean(0) + a[3:].max(0), ((64, 32), P(x)))
simple("uneven_product", "24", lambda a: (jnp.sin(a[:63]).T @ a[1:]).sum(0), ((64, 32), P(x)))
simple("power_iteration", "24", lambda a: lax.fori_loop(0, 4, lambda i, v: (lambda u: u / jnp.linalg.norm(u))(a @ v), jnp.ones(64)), ((64, 64), P(x, y)))
simple("pad_between", "8", lambda a: lax.pad(a, 0.0, ((0, 1, 1), (0, 0, 0))) + lax.pad(a, 1.0, ((1, 0, 1), (0, 0, 0))), ((64, 16), P(x)))
simple("pad_between_other", "8", lambda a: lax.pad(a, 0.0, ((1, 4, 2), (0, 0, 0))), ((9, 16), P()))
simple("uneven_gradient", "8", lambda a: jnp.gradient(a, axis=0), ((64, 8), P(x)))
simple("uneven_cache", "8", lambda c, k: jnp.concatenate([c[:, 1:], k[:, None]], 1), ((4, 64, 16), P(n, x)), ((4, 16), P()))
simple("uneven_recurrence", "8", lambda a, b: lax.associative_scan(lambda p, q: (p[0] * q[0], p[1] * q[0] + q[1]), (a, b), axis=0), ((64, 16), P(x)), ((64, 16), P(x)))
simple("uneven_average", "24", lambda a: lax.associative_scan(lambda p, q: (p[0] * q[0], p[1] * q[0] + q[1]), (jnp.full_like(a, 0.9), a), axis=1)[1], ((16, 64, 8), P(x, y)))
simple("uneven_segments", "8", lambda a, r: lax.associative_scan(lambda p, q: (jnp.where(q[1] > 0, q[0], p[0] + q[0]), jnp.maximum(p[1], q[1])), (a, r)), ((128,), P(x)), ((128,), P(x), "i4"))
simple("uneven_rows", "8", lambda a, w: jax.nn.relu(a[:61] @ w).sum(0), ((64, 16), P(x)), ((16, 8), P()))
simple("wave", "24", lambda u: (lambda p: p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2] - 4 * u)(jnp.pad(u, 1)), ((64, 128), P(x, y)))
# ---- Shardy's rules and its order
def residual(h, w, v): return h + 0.1 * (jnp.tanh(0.1 * (h @ w)) @ v)
def likelihood(h, w, t): return -jnp.take_along_axis(jax.nn.log_softmax(h @ w), t[:, 1:, None], -1).mean()
WORDS = ((256, 64), P(y, x)), ((8, 33), P(x), "i4")
simple("decoder_residual", "24", lambda e, t, w, v, o: jax.grad(lambda e, w, v, o: likelihood(lax.scan(lambda h, p: (residual(h, *p), None), e[t[:, :-1]], (w, v))[0], o, t), (0, 1, 2, 3))(e, w, v, o),
       *WORDS, ((4, 64, 128), P(n, x, y)), ((4, 128, 64), P(n, y, x)), ((64, 256), P(x, y)))
simple("decoder_chain", "24", lambda e, t, w, o: jax.grad(lambda e, w, o: likelihood(lax.scan(lambda h, w: (jnp.tanh(h @ w), None), e[t[:, :-1]], w)[0], o, t), (0, 1, 2))(e, w, o),
       *WORDS, ((4, 64, 64), P(n, x, y)), ((64, 256), P(x, y)))
simple("split_keys", "8", lambda k: jax.vmap(lambda k: jax.random.uniform(jax.random.wrap_key_data(k), (16,)))(k), ((64, 2), P(x), "u4"))
simple("reshape_gcd", "42", lambda a: a.reshape(12, 8) * 2, ((8, 12), P(x, y)))
simple("spectrum", "24", lambda a, k: jnp.fft.irfft(jnp.fft.rfft(a, axis=1) * jnp.fft.rfft(k, 64, axis=0)[None], axis=1), ((16, 64, 8), P(x, y)), ((64, 8), P()))
simple("embed_project", "8", lambda t, i, w: jnp.sin(t[i]) @ w, ((256, 64), P(x)), ((8, 33), P(x), "i4"), ((64, 256), P(n, x)))
simple("embed_layer", "8", lambda t, i, g, w, v: (lambda h: h + jax.nn.silu(normed(h, g) @ w) @ v)(t[i]), ((256, 64), P(x)), ((8, 33), P(x), "i4"), ((64,), P()), ((64, 128), P(x)), ((128, 64), P(x)))
simple("scatter_open_indices", "8", lambda a, i, u: a.at[i].add(u), ((64, 32), P()), ((16,), n, "i4"), ((16, 32), P(x)))
simple("time_cut", "8", lambda r: lax.scan(lambda c, t: (0.9 * c + t, 0.9 * c + t), jnp.zeros(16), r)[1], ((16, 16), P(x)))
simple("cache_positions", "8", lambda c, k, i: lax.dynamic_update_slice(c, k, (0, i, 0)), ((4, 128, 16), P(n, x)), ((4, 1, 16), P()), ((), P(), "i4"))
simple("cache_block", "24", lambda c, k, i: lax.dynamic_update_slice(c, k, (i, i)), ((64, 32), P(x, y)), ((3, 5), P()), ((), P(), "i4"))
simple("projections_grad", "24", lambda a, *w: jax.grad(lambda a: sum((jnp.tanh(a @ u) ** 2).sum() for u in w))(a), ((16, 32), P(x)), *[((32, 64), P(n, y))] * 3)
add("constrained_chain", "222", lambda m: lambda a: con(m, con(m, a, y, (z, x)), z, n), ((64, 64), P(x, (y, z))))

add("shard_map_gradient", "8", lambda m: lambda a, w: jax.grad(lambda w: jax.shard_map(lambda a, w: lax.psum((jnp.tanh(a @ w) ** 2).sum(), x), mesh=m, in_specs=(P(x), P()), out_specs=P(), check_vma=False)(a, w))(w), ((64, 16), P(x)), ((16, 16), P()))
# ---- manual along some axes
part = lambda m, f, i, o, *axes: jax.shard_map(f, mesh=m, in_specs=i, out_specs=o, axis_names=set(axes), check_vma=False)
add("part_elementwise", "24", lambda m: part(m, lambda a: jnp.sin(a) * 2 + lax.axis_index(y), P(n, y), P(n, y), y), ((16, 32), P(x, y)))
add("part_psum", "24", lambda m: part(m, lambda a: lax.psum(jnp.sin(a), y), P(n, y), P(), y), ((16, 32), P(x, y)))
add("part_tp_inside", "24", lambda m: part(m, lambda a, w, v: lax.pmean(jnp.tanh(a @ w) @ v, x), (P(x), P(), P()), P(), x), ((16, 32), P(x)), ((32, 64), P(n, y)), ((64, 32), P(y)))
add("part_constraint", "24", lambda m: part(m, lambda a: lax.with_sharding_constraint(jnp.cos(a), P(n, y)) + 1, P(x), P(x), x), ((16, 32), P(x)))


def pipeline_tp(m):
    def stage(w, a):
        i, w = lax.axis_index(x), w[0]
        def tick(c, t):
            state, out = c
            o = jnp.tanh(jnp.where(i == 0, a[jnp.minimum(t, 3)], state) @ w)
            out = out.at[jnp.maximum(t - 1, 0)].set(jnp.where((i == 1) & (t >= 1), o, out[jnp.maximum(t - 1, 0)]))
            return (lax.ppermute(o, x, [(0, 1), (1, 0)]), out), None
        (_, out), _ = lax.scan(tick, (jnp.zeros_like(a[0]), jnp.zeros_like(a)), jnp.arange(4))
        return lax.psum(jnp.where(i == 1, out, 0), x)
    return part(m, stage, (P(x), P()), P(), x)

add("part_pipeline_tp", "24", pipeline_tp, ((2, 32, 32), P(x, n, y)), ((4, 8, 32), P()))
add("part_pipeline_dp", "24", pipeline_tp, ((2, 32, 32), P(x)), ((4, 8, 32), P(n, y)))
add("part_pipeline_grad", "24", lambda m: lambda w, a: jax.grad(lambda w: (pipeline_tp(m)(w, a) ** 2).sum())(w), ((2, 32, 32), P(x, n, y)), ((4, 8, 32), P()))
add("part_moe", "24", lambda m: part(m, lambda t, w: lax.all_to_all(jnp.tanh(jnp.einsum("ecd,edf->ecf", lax.all_to_all(t, y, 0, 1, tiled=True), w)), y, 1, 0, tiled=True), (P(n, y), P(y)), P(n, y), y), ((8, 32, 16), P(n, y)), ((8, 16, 16), P(y, n, x)))
add("part_dp_grad", "222", lambda m: lambda w, v, a: part(m, lambda w, v, a: lax.pmean(jax.grad(lambda w: (jnp.tanh(a @ w) @ v).sum())(w), x), (P(), P(), P(x)), P(), x)(w, v, a), ((32, 64), P(n, y)), ((64, 32), P(y)), ((16, 32), P(x, n)))
add("part_two_of_three", "222", lambda m: part(m, lambda a, b: lax.psum(a @ b, (x, y)), (P(n, (x, y)), P((x, y))), P(), x, y), ((16, 32), P(z, (x, y))), ((32, 16), P((x, y))))
add("part_gather_inside", "24", lambda m: part(m, lambda a, w: lax.all_gather(a, x, tiled=True) @ w, (P(x), P()), P(), x), ((16, 32), P(x)), ((32, 64), P(n, y)))
add("part_reduce_scatter", "24", lambda m: part(m, lambda a: lax.psum_scatter(a * 2, x, scatter_dimension=0, tiled=True), P(n, x), P(x, n), x), ((16, 32), P(y, x)))
add("part_nested", "24", lambda m: part(m, lambda a: jax.shard_map(lambda b: lax.psum(b, y), mesh=jax.sharding.get_abstract_mesh(), in_specs=P(n, y), out_specs=P(n, n), axis_names={y}, check_vma=False)(a) * 2, P(x), P(x), x), ((16, 32), P(x, y)))
add("part_nested_loop", "222", lambda m: part(m, lambda a: lax.fori_loop(0, 4, lambda i, a: a + jax.shard_map(lambda b: lax.ppermute(b, y, [(0, 1), (1, 0)]), mesh=jax.sharding.get_abstract_mesh(), in_specs=P(n, y), out_specs=P(n, y), axis_names={y}, check_vma=False)(a), a), P(x), P(x), x), ((16, 32), P(x, (y, z))))
def nested(f, ins, outs, *axes):
    """`f` as a manual computation along `axes` in the one that this is called in."""
    return lambda *a: jax.shard_map(f, mesh=jax.sharding.get_abstract_mesh(), in_specs=ins, out_specs=outs, axis_names=set(axes), check_vma=False)(*a)

def nested_ring(q, k):
    step = lambda i, c: (c[0] + jnp.tanh(q @ c[1].mT), lax.ppermute(c[1], y, [(0, 1), (1, 0)]))
    return lax.fori_loop(0, 2, step, (jnp.zeros((4, 4, 4, 4)), k))[0]

ring_in_part = lambda m: part(m, nested(nested_ring, (P(n, n, y), P(n, n, y)), P(n, n, y), y), (P(x), P(x)), P(x), x)
add("part_nested_ring", "222", ring_in_part, ((8, 4, 8, 4), P(x, z, y)), ((8, 4, 8, 4), P(x, z, y)))
add("part_nested_ring_grad", "222", lambda m: lambda q, k: jax.grad(lambda qk: (ring_in_part(m)(*qk) ** 2).sum())((q, k)), ((8, 4, 8, 4), P(x, z, y)), ((8, 4, 8, 4), P(x, z, y)))
add("part_nested_gather", "222", lambda m: part(m, nested(lambda b, w: lax.all_gather(b, y, tiled=True) @ w, (P(y), P()), P(), y), (P(x), P()), P(x), x), ((16, 32), P((x, y))), ((32, 16), P(n, z)))
add("part_nested_psum", "222", lambda m: part(m, nested(lambda b, w: lax.psum(b @ w, y), (P(n, y), P(y)), P(), y), (P(x), P()), P(x), x), ((16, 32), P(x, y)), ((32, 16), P(y, z)))
add("part_nested_cond", "222", lambda m: part(m, lambda p, a: lax.cond(p[0] > 0, nested(lambda b: lax.psum(b, y), P(y), P(), y), lambda a: a[:4] * 2, a), (P(), P(x)), P(x), x), ((1,), P(), "i4"), ((16, 32), P((x, y), z)))
add("part_nested_all", "222", lambda m: part(m, nested(lambda b: lax.psum(b, (y, z)), P((y, z)), P(), y, z), P(x), P(x), x), ((16, 32), P((x, y, z))))
add("part_cond", "24", lambda m: part(m, lambda p, a: lax.cond(p > 0, lambda a: lax.psum(jnp.sin(a), x), lambda a: a - 1, a), (P(), P(x)), P(x), x), ((), P()), ((16, 32), P(x, y)))
add("part_in_loop", "24", lambda m: lambda a: lax.fori_loop(0, 4, lambda i, a: jnp.tanh(part(m, lambda b: b - lax.pmean(b, x), P(x), P(x), x)(a)) + i, a), ((16, 32), P(x, y)))
add("part_scan_ys", "24", lambda m: part(m, lambda a, w: lax.scan(lambda a, w: (jnp.tanh(a @ w), lax.psum(a.sum(), x)), a, w), (P(x), P()), (P(x), P()), x), ((16, 32), P(x)), ((4, 32, 32), P(n, n, y)))
add("part_mask", "24", lambda m: part(m, lambda a: jnp.where(jnp.arange(32) > 7, a, 0) @ jnp.eye(32) + jnp.arange(8)[:, None], P(x), P(x), x), ((16, 32), P(x, y)))
add("part_softmax", "24", lambda m: part(m, lambda a: jax.nn.softmax(a, -1), P(x), P(x), x), ((16, 32), P(x, y)))
add("part_sort", "24", lambda m: part(m, lambda a: jnp.sort(a, 0) + lax.psum(a, x), P(x), P(x), x), ((16, 32), P(x, y)))
add("part_unmapped_out", "24", lambda m: lambda a, b: part(m, lambda a, b: a @ b, (P(x), P()), P(x), x)(a, b) @ b.T, ((16, 32), P(x)), ((32, 64), P(y)))
add("part_seq_parallel", "24", lambda m: lambda h, w1, w2: part(m, lambda h, w1, w2: h + lax.psum_scatter(jax.nn.gelu(lax.all_gather(h, y, axis=1, tiled=True) @ w1) @ w2, y, scatter_dimension=1, tiled=True), (P(n, y), P(n, y), P(y)), P(n, y), y)(h, w1, w2), ((4, 16, 32), P(x, y)), ((32, 64), P(n, y)), ((64, 32), P(y)))
# ---------------------------------------------------------------- sums and rows of loops
simple("loop_microbatches", "24", lambda w, v, a: lax.scan(lambda g, m: (jax.tree.map(jnp.add, g, jax.grad(lambda wv: (jnp.tanh(m @ wv[0]) @ wv[1]).sum())((w, v))), None), (w, jnp.zeros_like(v)), a)[0],
       ((32, 64), P(n, y)), ((64, 16), P(y)), ((4, 16, 32), P(n, x)))
simple("loop_rows_cut", "8", lambda a, w: jax.grad(lambda w: (lax.scan(lambda c, r: (jnp.tanh(c @ w + r), c), jnp.zeros(16), a)[0] ** 2).sum())(w), ((4, 16), P(n, x)), ((16, 16), P(n, x)))
simple("loop_steps_cut", "8", lambda a, c: lax.scan(lambda c, r: (jnp.tanh(c * r + 1), None), c, a)[0], ((8, 16), P(x)), ((16,), P(x)))
# ---------------------------------------------------------------- reductions and windows by other computations than single ops
first_greater = lambda p, q: (jnp.maximum(p[0], q[0]), jnp.where(p[0] >= q[0], p[1], q[1]))
simple("reduce_pairs", "8", lambda a, b: lax.reduce((a, b), (-jnp.inf, 0.0), first_greater, (0,)), ((64, 8), P(x)), ((64, 8), P(x)))
simple("reduce_pairs_whole", "24", lambda a, b: lax.reduce((a, b), (-jnp.inf, 0.0), first_greater, (0, 1)), ((16, 32), P(x, y)), ((16, 32), P(x, y)))
simple("reduce_xor_and_sum", "8", lambda a: lax.reduce((a, a * 3), (0, 0), lambda p, q: (p[0] ^ q[0], p[1] + q[1]), (0,)), ((64, 8), P(x), "i4"))
simple("window_pairs", "8", lambda a, b: lax.reduce_window((a, b), (-jnp.inf, 0.0), first_greater, (3, 1), (1, 1), ((1, 1), (0, 0))), ((64, 8), P(x)), ((64, 8), P(x)))
# ---------------------------------------------------------------- others
simple("convolution_dilated_between", "24", lambda a, k: lax.conv_general_dilated(a, k, (1, 1), ((1, 0), (2, 2)), lhs_dilation=(2, 1), dimension_numbers=("NHWC", "HWIO", "NHWC")), ((2, 20, 8, 4), P(n, y)), ((5, 5, 4, 2), P()))
add("pool_constrained_uneven", "8", lambda m: lambda a: lax.reduce_window(con(m, a * 2, n, x), -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME"), ((2, 30, 16, 4), n))
simple("empty_columns", "8", lambda a: (a.sum(1), a @ a.T, a.max(initial=0)), ((64, 0), P(x)))
add("loop_without_iterations", "8", lambda m: lambda a: lax.fori_loop(0, 0, lambda i, c: jnp.tanh(c @ c.T @ c), a) + 1, ((16, 32), P(x)))
squares = jax.jit(lambda a: lax.fori_loop(0, 4, lambda i, c: c * c.sum(0), a))
simple("loop_called_twice", "24", lambda a, b: (squares(a), squares(b)), ((16, 32), P(x)), ((16, 32), P(n, y)))
add("part_called_twice", "222", lambda m: lambda a: (part(m, squares, P(x), P(x), x)(a), part(m, squares, P(y), P(y), y)(a), squares(a)), ((16, 32), P(x, z)))
# ---------------------------------------------------------------- state spaces, losses over a cut vocabulary, experts, optimizers, serving
def ssm(u, a, b, c):
    A = jnp.broadcast_to(jnp.exp(-jnp.abs(a)), u.shape + a.shape[-1:])
    X = u[..., None] * b
    _, h = lax.associative_scan(lambda p, q: (p[0] * q[0], q[0] * p[1] + q[1]), (A, X), axis=1)
    return (h * c).sum(-1)
SSM = lambda su, sp: (((8, 64, 32), su), ((32, 8), sp), ((32, 8), sp), ((32, 8), sp))
simple("ssm_time", "8", ssm, *SSM(P(n, x), P()))
simple("ssm_both", "24", ssm, *SSM(P(x, n, y), P(y)))
def ssm_scan(u, a, b):
    def step(h, ut):
        h = h * a + ut[..., None] * b
        return h, h.sum(-1)
    return lax.scan(step, jnp.zeros(u.shape[1:] + a.shape[-1:]), u)[1]
simple("ssm_scan_grad", "24", lambda u, a, b: jax.grad(lambda a, b: (ssm_scan(u, a, b) ** 2).mean(), (0, 1))(a, b), ((16, 8, 32), P(n, x, y)), ((32, 8), P(y)), ((32, 8), P(y)))
def griffin(h, wx, wg, wa, wo):
    u = h @ wx; g = jax.nn.gelu(h @ wg); a = jax.nn.sigmoid(h @ wa)
    _, r = lax.associative_scan(lambda p, q: (p[0] * q[0], q[0] * p[1] + q[1]), (a, u * jnp.sqrt(1 - a * a)), axis=1)
    return h + (r * g) @ wo
GATED = lambda sh, si, so: (((8, 64, 32), sh), ((32, 64), si), ((32, 64), si), ((32, 64), si), ((64, 32), so))
simple("griffin_sp", "24", griffin, *GATED(P(n, x), P(n, y), P(y)))
def xent(h, w, t):
    l = h @ w
    m = lax.stop_gradient(l.max(-1, keepdims=True))
    lse = jnp.log(jnp.exp(l - m).sum(-1)) + m[..., 0]
    return (lse - jnp.take_along_axis(l, t[..., None], -1)[..., 0]).mean()
HEAD = lambda sh, sw, st: (((8, 32, 64), sh), ((64, 512), sw), ((8, 32), st, "i4"))
simple("xent_grad", "24", lambda h, w, t: jax.value_and_grad(xent, (0, 1))(h, w, t), *HEAD(P(x), P(n, y), P(x)))
simple("accuracy_vocab", "24", lambda h, w, t: (jnp.argmax(h @ w, -1) == t).mean(), *HEAD(P(x), P(n, y), P(x)))
simple("xent_chunks", "24", lambda h, w, t: lax.map(lambda a: xent(a[0][None], w, a[1][None]), (h.reshape(4, 64, 64), t.reshape(4, 64))).mean(), *HEAD(P(n, x), P(n, y), P(n, x)))
simple("embed_bag", "8", lambda e, i, s: jax.ops.segment_sum(e[i], s, 16), ((512, 32), P(x)), ((128,), P(), "i4"), ((128,), P(), "i4"))
def moe_dispatch(m, t, gate, w1, w2, cap=16):
    E = gate.shape[1]
    p = jax.nn.softmax(t @ gate)
    e = jnp.argmax(p, -1)
    oh = jax.nn.one_hot(e, E)
    pos = (jnp.cumsum(oh, 0) * oh - 1)
    disp = oh[:, :, None] * jax.nn.one_hot(pos.max(-1).astype(int), cap)[:, None, :]
    xin = jnp.einsum("tec,td->ecd", disp, t)
    if m is not None: xin = con(m, xin, x)
    h = jax.nn.relu(jnp.einsum("ecd,edf->ecf", xin, w1))
    out = jnp.einsum("ecf,efd->ecd", h, w2)
    return jnp.einsum("tec,ecd->td", disp * p.max(-1)[:, None, None], out)
EXPERTS = lambda st, sg, s1, s2: (((128, 32), st), ((32, 8), sg), ((8, 32, 64), s1), ((8, 64, 32), s2))
add("moe_dispatch_ep_tp", "24", lambda m: lambda *a: moe_dispatch(m, *a), *EXPERTS(P(x), P(), P(x, n, y), P(x, y)))
def moe_sorted(t, gate, w1, w2):
    e = jnp.argmax(t @ gate, -1)
    o = jnp.argsort(e)
    s = t[o].reshape(8, 16, 32)
    r = jnp.einsum("ecf,efd->ecd", jax.nn.relu(jnp.einsum("ecd,edf->ecf", s, w1)), w2).reshape(128, 32)
    return jnp.zeros_like(t).at[o].set(r)
add("moe_sorted", "8", lambda m: moe_sorted, *EXPERTS(P(x), P(), P(x), P(x)))
simple("quantile", "24", lambda a: jnp.quantile(a, jnp.array([0.1, 0.9]), axis=1), ((16, 64), P(x, y)))
simple("topp_sample", "24", lambda l: (lambda s: jnp.where(jnp.cumsum(s, -1) < 0.9, s, 0))(-jnp.sort(-jax.nn.softmax(l), -1)), ((8, 512), P(x, y)))
simple("odd_split", "8", lambda a: [p.sum(0) for p in jnp.array_split(a, 3)], ((64, 16), P(x)))
def resblock(a, k1, k2): return a + conv(jax.nn.relu(conv(jax.nn.relu(a), k1)), k2)
simple("resblock_spatial_grad", "24", lambda a, k, l: jax.grad(lambda k, l: (resblock(a, k, l) ** 2).mean(), (0, 1))(k, l), ((4, 32, 32, 8), P(x, y)), ((3, 3, 8, 8), P()), ((3, 3, 8, 8), P()))
simple("heat_pad_edge", "24", lambda u: lax.fori_loop(0, 4, lambda i, u: (lambda p: u + 0.1 * (p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2] - 4 * u))(jnp.pad(u, 1, mode="edge")), u), ((64, 64), P(x, y)))
def lstm(xs, wi, wh):
    def step(c, xt):
        h, s = c
        i, f, g, o = jnp.split(xt @ wi + h @ wh, 4, -1)
        s = jax.nn.sigmoid(f) * s + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(s)
        return (h, s), h
    z0 = jnp.zeros((xs.shape[1], wh.shape[0]))
    return lax.scan(step, (z0, z0), xs)[1]
simple("lstm_tp", "24", lstm, ((4, 16, 32), P(n, x)), ((32, 256), P(n, y)), ((64, 256), P(n, y)))
simple("sinkhorn", "24", lambda c: (lambda K: lax.fori_loop(0, 4, lambda i, uv: ((u := 1 / (K @ uv[1])), 1 / (K.T @ u)), (jnp.ones(64), jnp.ones(32))))(jnp.exp(-c)), ((64, 32), P(x, y)))
def smap(m, f, i, o, **k): return jax.shard_map(f, mesh=m, in_specs=i, out_specs=o, **k)
add("sm_moe_a2a", "8", lambda m: lambda t, w: smap(m, lambda t, w: lax.all_to_all(jax.nn.relu(lax.all_to_all(t.reshape(8, -1, 16), x, 0, 0).reshape(-1, 16) @ w[0]).reshape(8, -1, 16), x, 0, 0).reshape(-1, 16), (P(x), P(x)), P(x))(jnp.sin(t), w), ((512, 16), P(x)), ((8, 16, 16), P(x)))
add("vmap_spmd_scan", "24", lambda m: lambda a, w: jax.vmap(lambda a: lax.scan(lambda c, w: (con(m, jnp.tanh(c @ w), n, y), None), a, w)[0], spmd_axis_name=x)(a), ((8, 16, 32), P(x)), ((4, 32, 32), P(n, n, y)))
def adamw(p, g, m, v, s):
    m = 0.9 * m + 0.1 * g; v = 0.999 * v + 0.001 * g * g
    return p - 1e-3 * (m / (1 - 0.9 ** s) / (jnp.sqrt(v / (1 - 0.999 ** s)) + 1e-8) + 0.01 * p), m, v
def clip_step(w1, w2, m1, m2, v1, v2, a, t):
    l, g = jax.value_and_grad(lambda w: ((jnp.tanh(a @ w[0]) @ w[1] - t) ** 2).mean())((w1, w2))
    nn = jnp.sqrt(sum((q * q).sum() for q in g)); g = jax.tree.map(lambda q: q * jnp.minimum(1, 1 / nn), g)
    o1, o2 = adamw(w1, g[0], m1, v1, 1.0), adamw(w2, g[1], m2, v2, 1.0)
    return l, nn, o1, o2
STEP = lambda s1, s2, sm1, sm2, sa: (((32, 64), s1), ((64, 32), s2), ((32, 64), sm1), ((64, 32), sm2), ((32, 64), sm1), ((64, 32), sm2), ((16, 32), sa), ((16, 32), sa))
simple("adamw_clip_zero1", "8", clip_step, *STEP(P(), P(), P(x), P(x), P(x)))
simple("muon", "24", lambda g: (lambda X: lax.fori_loop(0, 4, lambda i, X: 3.4445 * X + (lambda A: -4.775 * A @ X + 2.0315 * A @ A @ X)(X @ X.T), X))(g / jnp.linalg.norm(g)), ((32, 64), P(x, y)))
simple("shampoo_stats", "24", lambda g, l, r: (l + g @ g.T, r + g.T @ g), ((32, 64), P(x, y)), ((32, 32), P(x)), ((64, 64), P(y)))
simple("graph_conv", "8", lambda h, s, r, w: jax.ops.segment_sum((h @ w)[s], r, 64), ((64, 16), P(x)), ((256,), P(x), "i4"), ((256,), P(x), "i4"), ((16, 16), P()))
simple("contrastive_grad", "8", lambda a, b: jax.grad(lambda a, b: (lambda l: -jnp.diag(jax.nn.log_softmax(l)).mean())(a @ b.T), (0, 1))(a, b), ((64, 16), P(x)), ((64, 16), P(x)))
simple("decode_step", "24", lambda h, ck, cv, wq, wk, wv, wo, i: (lambda q, k, v: (lambda ck, cv: (jnp.einsum("bhk,bkhd->bhd", jax.nn.softmax(jnp.where(jnp.arange(64) <= i, jnp.einsum("bhd,bkhd->bhk", q, ck), -1e9)), cv).reshape(8, 32) @ wo, ck, cv))(lax.dynamic_update_slice(ck, k[:, None], (0, i, 0, 0)), lax.dynamic_update_slice(cv, v[:, None], (0, i, 0, 0))))(*((h @ w).reshape(8, 4, 8) for w in (wq, wk, wv))), ((8, 32), P(x)), ((8, 64, 4, 8), P(x, n, y)), ((8, 64, 4, 8), P(x, n, y)), ((32, 32), P(n, y)), ((32, 32), P(n, y)), ((32, 32), P(n, y)), ((32, 32), P(y)), ((), P(), "i4"))
simple("beam_gather", "24", lambda s, b, c: jnp.take_along_axis(s, b[:, :, None], 1) + c[:, None], ((8, 16, 64), P(x, n, y)), ((8, 16), P(x), "i4"), ((8, 64), P(x, y)))
simple("window_attn", "8", lambda q, k: (lambda qb, kb: jax.nn.softmax(jnp.einsum("bwqd,bwkd->bwqk", qb, jnp.concatenate([jnp.roll(kb, 1, 1), kb], 2))))(q.reshape(2, 8, 8, 16), k.reshape(2, 8, 8, 16)), ((2, 64, 16), P(n, x)), ((2, 64, 16), P(n, x)))
simple("fsdp_flat_grad", "8", lambda f, a: jax.grad(lambda f: ((lambda w1, w2: jnp.tanh(a @ w1) @ w2)(f[:2048].reshape(32, 64), f[2048:].reshape(64, 32)) ** 2).sum())(f), ((4096,), P(x)), ((16, 32), P(x)))
