"""Trains a linear model on two workers that Ray starts, each with half of the data:

    pip install 'ray[train]' jax
    JAX_PLATFORMS=hilo python examples/jax/ray_train.py
"""

import os
import socket

os.environ["RAY_TRAIN_V2_ENABLED"] = "1"

import ray
import ray.train
from ray.train.collective import broadcast_from_rank_zero
from ray.train.v2.jax import JaxTrainer

WORKERS, ROWS, FEATURES, STEPS = 2, 1024, 16, 100


def free_address():
    with socket.socket() as listener:
        listener.bind((ray.util.get_node_ip_address(), 0))
        return "{}:{}".format(*listener.getsockname())


def train():
    """What each worker runs. Ray connects processes of JAX for TPUs and GPUs alone, so that this one does it."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.sharding import NamedSharding, PartitionSpec

    context = ray.train.get_context()
    rank = context.get_world_rank()
    address = broadcast_from_rank_zero(free_address() if rank == 0 else None)
    jax.distributed.initialize(address, context.get_world_size(), rank)

    mesh = jax.make_mesh((jax.device_count(),), ("data",))
    generator = np.random.default_rng(rank)
    truth = np.arange(FEATURES, dtype=np.float32)
    inputs = generator.standard_normal((ROWS, FEATURES)).astype(np.float32)
    rows = NamedSharding(mesh, PartitionSpec("data"))
    x, y = (jax.make_array_from_process_local_data(rows, part) for part in (inputs, inputs @ truth))

    def loss(weights, x, y):
        return ((x @ weights - y) ** 2).mean()

    @jax.jit
    def step(weights, x, y):
        value, gradient = jax.value_and_grad(loss)(weights, x, y)
        return weights - 0.1 * gradient, value

    weights = jax.device_put(jnp.zeros(FEATURES), NamedSharding(mesh, PartitionSpec()))
    for _ in range(STEPS):
        weights, value = step(weights, x, y)
    print(f"worker {rank} of {context.get_world_size()}, {jax.device_count()} devices: loss {float(value):.2e}", flush=True)
    assert np.allclose(np.asarray(weights), truth, atol=1e-3)


def main():
    ray.init(num_cpus=WORKERS, include_dashboard=False, _node_ip_address="127.0.0.1")
    result = JaxTrainer(train, scaling_config=ray.train.ScalingConfig(num_workers=WORKERS)).fit()
    if result.error is not None:
        raise result.error


if __name__ == "__main__":
    main()
