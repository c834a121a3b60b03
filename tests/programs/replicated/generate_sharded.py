"""Writes sharded_*.hlo and .npz: programs as JAX lowers them for four devices, before XLA partitions them, with the results of XLA's program for one device.

    python tests/programs/replicated/generate_sharded.py

X.npz has argI_rD and outI_rD, the parts of device D. The header is told the number of partitions, which JAX gives XLA beside the module.
"""

import os
import pathlib
import re

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

HERE = pathlib.Path(__file__).resolve().parent
MESH = Mesh(np.array(jax.devices()).reshape(2, 2), ("a", "b"))


def write(name, comment, function, in_specs, out_specs, arguments):
    """`out_specs` is one for the result, or one for each of a tuple."""
    shardings = [NamedSharding(MESH, spec) for spec in in_specs]
    out_shardings = tuple(NamedSharding(MESH, spec) for spec in out_specs) if isinstance(out_specs, list) else NamedSharding(MESH, out_specs)
    jitted = jax.jit(function, in_shardings=tuple(shardings), out_shardings=out_shardings)
    head, body = jitted.lower(*arguments).as_text(dialect="hlo").split(",", 1)
    body = re.sub(r"/\*index=\d+\*/", "", body)  # XLA counts in comments
    text = f"// {comment}\n// tolerance: f32 1e-05 relative\n{head}, num_partitions=4,{body}"
    (HERE / f"{name}.hlo").write_text("\n".join(line.rstrip() for line in text.splitlines()) + "\n")
    arrays = {}
    for i, (value, sharding) in enumerate(zip(arguments, shardings)):
        for shard in jax.device_put(value, sharding).addressable_shards:
            arrays[f"arg{i}_r{shard.device.id}"] = np.asarray(shard.data)
    results = jax.jit(function)(*arguments)  # XLA's partitioner ends the process at some interior pads
    for i, result in enumerate(jax.tree.leaves(jax.tree.map(jax.device_put, results, out_shardings))):
        for shard in result.addressable_shards:
            arrays[f"out{i}_r{shard.device.id}"] = np.asarray(shard.data)
    np.savez_compressed(HERE / f"{name}.npz", **arrays)


def main():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(8, 4)).astype(np.float32), rng.normal(size=(4, 6)).astype(np.float32)
    write("sharded_product", "Two arrays cut along different axes of the mesh; the result along both.", lambda x, y: jnp.sin(x @ y),
          [P("a", None), P(None, "b")], P("a", "b"), [x, y])

    def part(x, y):
        z = lax.psum(x @ y, "b")
        return z + lax.ppermute(z, "a", [(0, 1), (1, 0)])

    manual = jax.shard_map(part, mesh=MESH, in_specs=(P("a", "b"), P("b", None)), out_specs=P("a"))
    write("sharded_manual", "A manual computation between arrays that are cut outside of it, too.", lambda x, y: jnp.tanh(manual(x, y)) * 2,
          [P("a", "b"), P("b", None)], P("a"), [x, y])

    def step(x, labels, w, v, table, words):
        def loss(w, v, table):
            hidden = jax.nn.gelu(x @ w + table[words].mean(1))
            logits = jax.lax.with_sharding_constraint(hidden @ v, NamedSharding(MESH, P("a", None)))
            picked = jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1)
            return -picked.mean()

        value, gradients = jax.value_and_grad(loss, (0, 1, 2))(w, v, table)
        return (value, *gradients)

    normal = lambda *shape: rng.normal(size=shape).astype(np.float32)
    write("sharded_step", "Loss and gradients of a network: images along one axis of the mesh, weights along the other.", step,
          [P("a"), P("a"), P(None, "b"), P("b", None), P(None, "b"), P("a")], [P(), P(None, "b"), P("b", None), P(None, "b")],
          [normal(8, 4), rng.integers(0, 6, 8).astype(np.int32), normal(4, 8), normal(8, 6), normal(10, 8), rng.integers(0, 10, (8, 3)).astype(np.int32)])

    def rules(x, image, kernel, index):
        kept = jnp.concatenate([x[:, 1:3], x[:, ::-1], jnp.pad(x, ((0, 0), (1, 0)))], 1)
        rows = jnp.sort(kept, 1).reshape(8, 11, 1) + lax.top_k(x, 1)[0][:, None]
        pooled = lax.reduce_window(lax.conv_general_dilated(image, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")), -jnp.inf, lax.max,
                                   (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        moved = lax.dynamic_update_slice(x, x[:, :2] * 2, (0, index[0]))
        extremes = jnp.stack([x.max(0), x.min(0), x.prod(0), (x > 0).all(0).astype(x.dtype), (x > 1).any(0).astype(x.dtype)])
        return rows.transpose(2, 0, 1), pooled, moved.T @ x, extremes, jnp.fft.rfft(x).real, x.reshape(4, 2, 4).std((1, 2))

    write("sharded_rules", "Operations that go through on tiles, each in its own way.", rules, [P(("a", "b")), P("b", None, None, "a"), P(None, None, "a"), P()],
          [P(None, "a"), P("b"), P("a", "b"), P(None, "b"), P("a"), P(("a", "b"))],
          [normal(8, 4), normal(4, 6, 6, 2), normal(3, 3, 2, 4), np.array([1], np.int32)])

    def training(x, y, w, v):
        def step(parameters, batch):
            def loss(parameters):
                def layer(hidden, weights):
                    return jnp.tanh(hidden @ weights), None

                return ((lax.scan(jax.checkpoint(layer), batch[0], parameters[0])[0] @ parameters[1] - batch[1]) ** 2).mean()

            value, gradients = jax.value_and_grad(loss)(parameters)
            rate = lax.cond(value > 1, lambda: 0.1, lambda: 0.05)
            return jax.tree.map(lambda a, b: a - rate * b, parameters, gradients), value

        return lax.scan(step, (w, v), (x, y))

    def halvings(x):
        return lax.while_loop(lambda state: jnp.abs(state[1]).sum() > 1, lambda state: (state[0] + 1, state[1] / 2 + state[1].mean(0) / 4), (0, x))

    write("sharded_loops", "Epochs of a deep network, batches along one axis of the mesh, weights along the other; loops, branches and their gradients.",
          lambda x, y, w, v, z: (*training(x, y, w, v)[0], training(x, y, w, v)[1], *halvings(z)),
          [P(None, "a"), P(None, "a"), P(None, None, "b"), P("b"), P("b", "a")], [P(None, None, "b"), P("b"), P(), P(), P("b", "a")],
          [normal(3, 8, 4), normal(3, 8, 2), normal(2, 4, 4), normal(4, 2), normal(4, 4)])

    def moves(x, indices, updates):
        within = lambda value, *spec: lax.with_sharding_constraint(value, NamedSharding(MESH, P(*spec)))
        return (x[2:10:2, ::-1], jnp.pad(x, ((3, 1), (2, 2))), jnp.concatenate([x[:4], x * 2, x[8:]])[::-1], x.at[indices].add(updates), within(within(x, "b", "a"), None, ("a", "b")),
                jnp.sort(x, 0), (x.reshape(2, 6, 8) * 2).reshape(12, 8) + x)

    write("sharded_moves", "Elements that move along the axes of the mesh.", moves, [P("a", "b"), P(), P()], [P("a", "b")] * 4 + [P(None, ("a", "b"))] + [P("a", "b")] * 2,
          [normal(12, 8), np.array([11, 3, 3, 12, -1], np.int32), normal(5, 8)])

    def windows(x, kernel, depthwise):
        conv = lambda x, kernel, strides=(1, 1), padding="SAME", **options: lax.conv_general_dilated(x, kernel, strides, padding, dimension_numbers=("NHWC", "HWIO", "NHWC"), **options)
        pool = lambda x, start, op, size, stride, padding: lax.reduce_window(x, start, op, (1, size, size, 1), (1, stride, stride, 1), padding)
        gradients = lambda f, *arguments: jax.grad(lambda *arguments: (f(*arguments) ** 2).sum(), tuple(range(len(arguments))))(*arguments)
        return (conv(x, kernel), conv(x, kernel, (2, 2)), conv(x, kernel, padding=((2, 0), (1, 1))), conv(x, kernel, rhs_dilation=(2, 1)), lax.conv_transpose(x, kernel, (2, 2), "SAME"), conv(x, depthwise, feature_group_count=4),
                pool(x, 0.0, lax.add, 3, 1, "SAME"), pool(x, -jnp.inf, lax.max, 2, 2, "VALID"), *gradients(conv, x, kernel), *gradients(lambda x, kernel: conv(x, kernel, (2, 2)), x, kernel),
                *gradients(lambda x: pool(x, -jnp.inf, lax.max, 2, 2, "VALID"), x))

    write("sharded_windows", "Windows that slide along cut dimensions, their gradients, and groups of features.", windows, [P(None, "a", "b"), P(), P()],
          [P(None, "a", "b")] * 5 + [P(None, "a", None, "b")] + [P(None, "a", "b")] * 3 + [P(), P(None, "a", "b"), P(), P(None, "a", "b")],
          [normal(2, 8, 8, 4), normal(3, 3, 4, 4), normal(3, 3, 1, 4)])

    def indices(table, words, pixels, updates, image):
        zeros = jnp.zeros((8, 4))
        return (table[words], table.at[words].get(mode="clip"), image[pixels[:, 0], pixels[:, 1]], table > 0, (table > 0)[words], zeros.at[words].add(updates), table.at[words].add(updates), table.at[words].max(updates),
                table.at[words].multiply(updates), jnp.argmax(table, 0), jnp.argmin(image, 1), jnp.argmax(jnp.where(jnp.arange(8)[:, None] > 2, jnp.nan, table), 0), table[5], image[3, 1:3], image[-1:, 6],
                lax.dynamic_slice(image, (2, 0), (4, 8)))

    rows = normal(8, 4)
    rows[3] = -0.0
    write("sharded_indices", "Indices of rows that are cut, updates that are cut, positions of extremes, and slices of one tile.", indices, [P("a"), P("b"), P(), P("b"), P("b", "a")],
          [P(), P("b"), P(), P("a"), P("b"), P(), P("a"), P("b"), P(), P(), P(), P(), P(), P("a"), P(), P("a", "b")],
          [rows, np.array([7, 3, 0, 9, -1, 3], np.int32), np.array([[0, 7], [7, 0], [3, 3]], np.int32), normal(6, 4), np.round(normal(8, 8))])

    def rolls(x, y):
        pad = lambda x, value=0.0: jnp.pad(x, ((1, 1), (0, 0)), constant_values=value)
        return (jnp.roll(x, 1, 0), jnp.roll(x, (-3, 2), (0, 1)), pad(x)[2:] + pad(x)[:-2] - 2 * x, pad(x, 7.0)[:8], jnp.concatenate([jnp.zeros((1, 8)), x[:-1]]), jnp.concatenate([x[5:], y, x[:1]])[::-1],
                jnp.roll(jnp.roll(x, 1, 0), 2, 0), pad(pad(x, 1.0), 2.0)[2:10], jnp.concatenate([x[1:], x[:1]]) + x[1:][:1])

    write("sharded_rolls", "Elements that move in several steps, over sizes that do not divide.", rolls, [P("a", "b"), P("b")], [P("a", "b")] * 9, [normal(8, 8), normal(4, 8)])

    def groups(x, kernel, pairs):
        conv = lambda x, kernel, count: lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"), feature_group_count=count)
        gradients = lambda kernel, count: jax.grad(lambda x, kernel: (conv(x, kernel, count) ** 2).sum(), (0, 1))(x, kernel)
        return (*gradients(kernel, 4), *gradients(pairs, 2))

    write("sharded_groups", "Gradients of convolutions with groups of features, whose kernels have groups of the batch.", groups, [P("a", None, None, "b"), P(None, None, None, "b"), P()],
          [P("a", None, None, "b"), P(None, None, None, "b"), P("a", None, None, "b"), P(None, None, None, "b")], [normal(4, 5, 4, 4), normal(3, 3, 1, 8), normal(3, 3, 2, 8)])

    def stage(x, w):
        def tick(carry, _):
            state = jnp.where(lax.axis_index("a") == 0, jnp.tanh(carry @ w[0]), carry)
            return lax.ppermute(state, "a", [(0, 1), (1, 0)]), lax.psum(state.sum(1), "a")

        last, sums = lax.scan(tick, x * jnp.arange(4.0), None, length=3)
        return last + jnp.sort(last, 0), sums

    stages = jax.shard_map(stage, mesh=MESH, in_specs=(P(), P("a")), out_specs=(P("a"), P()), axis_names={"a"}, check_vma=False)
    write("sharded_regions", "A computation that is manual along one axis of the mesh, while the other one divides its arrays.", stages,
          [P(), P("a", None, "b")], [P("a", "b"), P(None, "b")], [normal(8, 4), normal(2, 4, 4)])

    def scans(x, counts):
        return (jnp.cumsum(x, 0), lax.cumsum(x, 1, reverse=True), lax.cumprod(x, 0, reverse=True), lax.cummax(x, 1), lax.cummin(counts), jnp.cumsum(counts), jnp.cumsum(x, 0))

    write("sharded_scans", "Prefix scans along dimensions that are cut, forwards and backwards.", scans, [P("a", "b"), P(("b", "a"))],
          [P("a", "b"), P("a", "b"), P("b", "a"), P("a"), P(("b", "a")), P(), P(None, "b")], [normal(8, 12), rng.integers(-9, 9, 16).astype(np.int32)])

    def updates(cache, row, block, starts):
        update = lambda update, *start: lax.dynamic_update_slice(cache, update, start)
        long = jnp.concatenate([block, block + 1], 0)
        return (update(row, starts[0], 0), update(row, starts[1], starts[2]), update(block, starts[0], starts[2]), update(block, starts[3], starts[4]), update(long, starts[1], starts[0]),
                update(long, starts[0], 0), update(jnp.tile(row, (5, 1)), starts[2], starts[4]), lax.fori_loop(0, 8, lambda i, c: c.at[i].set(c[7 - i] + row[0]), cache))

    write("sharded_updates", "Updates of slices, at positions that values tell, of dimensions that are cut.", updates, [P("a", "b"), P(), P(), P()], [P("a", "b")] * 8,
          [normal(8, 12), normal(1, 12), normal(3, 5), np.array([5, 2, 3, -4, 11], np.int32)])

    def uneven(x, w):
        padded = lambda value=0.0: jnp.pad(x, 1, constant_values=value)
        return (x[1:-2].mean(0), x[:7].max(0) + x[3:].min(0), ((x[1:] - x[:-1]) ** 2).sum(), jnp.sin(x[:7]).T @ jnp.cos(x[1:]), jnp.pad(jnp.exp(x[1:]) * 2, ((0, 1), (0, 0))), x[:5, 3:].sum(1), x[2:, :11] @ w[:11],
                padded()[2:, 1:-1] + padded()[:-2, 1:-1] + padded()[1:-1, 2:] + padded()[1:-1, :-2] - 4 * x, padded(7.0)[1:9, 2:], (x[::-1][1:] * 2).T[1:].sum(0), jnp.concatenate([x[1:] + 1, x[:1]]).prod(0))

    write("sharded_uneven", "Tiles that do not divide an array equally, and elements that move along two dimensions at once.", uneven, [P("a", "b"), P("b")],
          [P(), P(), P(), P(), P("a", "b"), P(), P(None, "b"), P("a", "b"), P("a"), P(), P("b")], [normal(8, 12), normal(12, 4)])

    def uneven_windows(x, kernel):
        conv = lambda x, kernel, strides=(1, 1), padding="SAME", **options: lax.conv_general_dilated(x, kernel, strides, padding, dimension_numbers=("NHWC", "HWIO", "NHWC"), **options)
        pool = lambda x, start, op, size, stride, padding: lax.reduce_window(x, start, op, (1, size, size, 1), (1, stride, stride, 1), padding)
        gradients = lambda f, *arguments: jax.grad(lambda *arguments: (f(*arguments) ** 2).sum(), tuple(range(len(arguments))))(*arguments)
        odd = jnp.sin(x[:, 1:, :-1])
        valid = lambda x, kernel: conv(x, kernel, padding="VALID")
        return (valid(x, kernel).sum(3), conv(odd, kernel), conv(odd, kernel, (2, 3)), conv(jnp.maximum(valid(x, kernel), 0), kernel), conv(odd, kernel, padding=((-1, 2), (4, -2))), conv(odd, kernel, rhs_dilation=(1, 2)),
                conv(odd, kernel, padding=((3, 1), (2, 3)), lhs_dilation=(2, 3)), conv(odd, kernel[::-1, ::-1], padding=((7, 6), (0, 0))), pool(odd, 0.0, lax.add, 3, 1, "SAME"), pool(odd, -jnp.inf, lax.max, 3, 2, "VALID"),
                pool(odd, 2.0, lax.add, 3, 1, "VALID"), pool(odd[:, :1], 0.0, lax.add, 3, 1, "SAME"), jnp.pad(conv(odd, kernel), ((0, 0), (0, 1), (1, 0), (0, 0))),
                *gradients(valid, x, kernel), *gradients(lambda x: pool(x, 0.0, lax.add, 3, 1, "SAME"), x), *gradients(lambda x: pool(x[:, :7], -jnp.inf, lax.max, 2, 2, "VALID"), x))

    write("sharded_uneven_windows", "Windows along dimensions that tiles do not divide.", uneven_windows, [P(None, "a", "b"), P()],
          [P()] * 3 + [P(None, None, None, "b")] + [P()] * 8 + [P(None, "a", "b")] + [P(None, "a", "b"), P(), P(None, "a", "b"), P(None, "a", "b")],
          [normal(2, 8, 12, 2), normal(4, 4, 2, 2)])

    def strides(x, y):
        spread = lambda value, low, high, interior: lax.pad(value, np.float32(2), ((low, high, interior), (0, 0, 0)))
        pair = lambda left, right: (left[0] * right[0], right[0] * left[1] + right[1])
        halves = lambda x: jnp.concatenate([x[8:], x[:8]])
        both = lambda x: jnp.stack([x[1:], x[:-1]]).max(0)
        gradients = lambda f, *arguments: jax.grad(lambda *arguments: (f(*arguments) ** 2).sum(), tuple(range(len(arguments))))(*arguments)
        return (spread(x, 0, 1, 1), spread(x, -1, 2, 2)[::-1], spread(x[1:], 3, -4, 1), spread(spread(x, 1, 0, 1), -1, -1, 0)[::2], spread(x, -2, 1, 1)[3::3], spread(x[::-2], 1, 1, 3)[2::5], spread(x, 2, 3, 5)[-3::-4], halves(x),
                jnp.concatenate([halves(x)[3:5], x[:0], x, x[5:2:-1]])[1::2], jnp.cumprod(1 + x[:13] / 4, 0), lax.associative_scan(pair, (x[1:], y[:-1]))[1], both(x).sum(0),
                *gradients(lambda x: jnp.cumprod(1 + x / 4, 0), x), *gradients(lambda x, y: lax.associative_scan(pair, (x, y))[1], x, y), *gradients(both, x), *gradients(lambda x: jnp.pad(x, ((1, 1), (0, 0)), mode="edge")[::2], x))

    write("sharded_strides", "Elements that move apart and together along a dimension that is cut.", strides, [P(("a", "b")), P("b", "a")],
          [P(("a", "b"))] + [P()] * 6 + [P(("a", "b")), P("a"), P(), P(), P()] + [P(("a", "b")), P(("b", "a")), P("a", "b"), P("b"), P(("a", "b"))], [normal(16, 4), normal(16, 4)])

    def uneven_rows(x, matrices):
        odd = lax.with_sharding_constraint(x[:7, :11], NamedSharding(MESH, P("a", "b")))
        rows = lax.with_sharding_constraint(x[:7] * 2, NamedSharding(MESH, P("a")))
        odd_matrices = matrices[:7] @ matrices[:7].mT + jnp.eye(3)
        cumulative = lambda f, **options: f(rows, 0, **options)
        return (odd - odd.mean(0), odd.std(), (odd - odd.max(1, keepdims=True)).sum(), jnp.argmax(odd, 0), jnp.argmin(odd, 1), jnp.argmax(jnp.where(odd > 1, jnp.nan, odd)), jnp.outer(odd[:, 0], odd[:, 1]),
                jnp.sort(rows, 1), *lax.top_k(rows, 2), jnp.argsort(odd, 0), cumulative(lax.cumsum), cumulative(lax.cumsum, reverse=True), cumulative(lax.cummax), cumulative(lax.cummin, reverse=True), cumulative(lax.cumlogsumexp),
                jnp.linalg.cholesky(odd_matrices), jnp.fft.rfft(rows, axis=1).real, rows[:, ::-1], *lax.reduce((odd, odd * 2), (jnp.float32(0), -jnp.float32(jnp.inf)), lambda a, b: (a[0] + b[0], jnp.maximum(a[1], b[1])), (0,)))

    write("sharded_uneven_rows", "Reductions, scans, and what is done to each row, of tiles that do not divide an array.", uneven_rows, [P("a", "b"), P("b")],
          [P()] * 12 + [P(None, "b")] * 4 + [P()] * 2 + [P(None, "b")] + [P()] * 2, [normal(8, 12), normal(8, 3, 3)])

    def uneven_indices(x, i, v, k, w, y, j, few, table):
        odd, updates, places, once = x[1:], v[:-1], i[1:], k[1:]
        segments = lambda f, updates=updates, places=places, **options: f(updates, places, 3, **options)
        matrix = y[1:, 1:]
        each = lambda f, matrix: jax.vmap(f)(matrix, j[1:])
        return (segments(jax.ops.segment_sum), segments(jax.ops.segment_max), segments(jax.ops.segment_prod), segments(jax.ops.segment_min, w[1:], once // 30, indices_are_sorted=True), jnp.bincount(places, length=3),
                segments(jax.ops.segment_max, (w[:59] > 0).astype(jnp.int32)), jnp.zeros((61, 4)).at[once].add(w[:-1], unique_indices=True, indices_are_sorted=True).sum(0), odd[few], (odd > 0)[few] ^ (odd[few - 9] > 1),
                odd.at[few].add(1).sum(0), odd.at[few].set(0).max(1)[few], odd.at[few].max(w[:5]).sum(0), table[places].sum(0), matrix[few % 7], matrix[few % 7, few % 5],
                each(lambda row, at: row[at], matrix).sum(0), each(lambda row, at: row.at[at].add(1, unique_indices=True), matrix).sum(0), matrix.at[:, few % 7].multiply(3).sum(0), jax.grad(lambda table: (table[places] ** 2).sum())(table),
                jax.grad(lambda x: (x[1:][few] ** 3).sum())(x), jnp.histogram(v[1:], 4, (-1, 1))[0])

    rows = P(("a", "b"))
    write("sharded_uneven_indices", "Gathers and scatters of tiles that do not divide an array.", uneven_indices, [rows] * 5 + [P("a", "b"), P("a"), P(), P()], [P()] * 19 + [rows, P()],
          [normal(60, 4), rng.integers(-1, 4, 60).astype(np.int32), normal(60, 4), np.arange(60, dtype=np.int32), normal(60, 4), normal(8, 8), np.arange(24, dtype=np.int32).reshape(8, 3) % 7, np.array([58, 3, -1, 30, 44], np.int32), normal(3, 4)])

    def uneven_scans(x, i, y):
        keep = lambda value: lax.with_sharding_constraint(value, NamedSharding(MESH, P(("a", "b"))))
        gradient = lambda f: jax.grad(lambda x: (f(x) ** 2).sum())(x)
        return (gradient(lambda x: jnp.cumprod(1 + x[1:63] / 4, 0)), gradient(lambda x: lax.cumprod(1 + x[1:] / 4, 0, reverse=True)), gradient(lambda x: keep(lax.cumlogsumexp(keep(x[:-1]), 0))),
                gradient(lambda x: keep(x[::-1][1:63])), gradient(lambda x: lax.cummax(keep(x[1:63]), 0, reverse=True)), keep(x[3:]).sum(0), jax.ops.segment_sum(y[1:, 1:], i[1:], 3), jax.ops.segment_max(y[1:, :7], i[1:], 4))

    write("sharded_uneven_scans", "Gradients of scans and constraints of tiles that do not divide an array, and windows of scatters.", uneven_scans, [rows, rows, P("a", "b")], [rows] * 5 + [P()] * 3,
          [normal(64, 4), rng.integers(-1, 5, 64).astype(np.int32), normal(64, 8)])


if __name__ == "__main__":
    main()
