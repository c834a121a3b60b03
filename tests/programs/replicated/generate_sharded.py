"""Writes sharded_*.hlo and .npz: programs as JAX lowers them for four devices, before XLA partitions them, with XLA's results.

    python tests/programs/replicated/generate_sharded.py

X.npz has argI_rD and outI_rD, the parts of device D. The header is told the number of partitions, which JAX gives XLA beside the module.
"""

import os
import pathlib

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

HERE = pathlib.Path(__file__).resolve().parent
MESH = Mesh(np.array(jax.devices()).reshape(2, 2), ("a", "b"))


def write(name, comment, function, in_specs, out_spec, arguments):
    shardings = [NamedSharding(MESH, spec) for spec in in_specs]
    jitted = jax.jit(function, in_shardings=tuple(shardings), out_shardings=NamedSharding(MESH, out_spec))
    head, body = jitted.lower(*arguments).as_text(dialect="hlo").split(",", 1)
    text = f"// {comment}\n// tolerance: f32 1e-05 relative\n{head}, num_partitions=4,{body}"
    (HERE / f"{name}.hlo").write_text("\n".join(line.rstrip() for line in text.splitlines()) + "\n")
    arrays = {}
    for i, (value, sharding) in enumerate(zip(arguments, shardings)):
        for shard in jax.device_put(value, sharding).addressable_shards:
            arrays[f"arg{i}_r{shard.device.id}"] = np.asarray(shard.data)
    for shard in jitted(*arguments).addressable_shards:
        arrays[f"out0_r{shard.device.id}"] = np.asarray(shard.data)
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


if __name__ == "__main__":
    main()
