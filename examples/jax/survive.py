"""Training that survives the death of any of its processes, and goes on from its last checkpoint when all have ended.

    hilo launch -n 4 --coordinator=python --heartbeat=3 --restarts=5 python examples/jax/survive.py FOLDER [STEPS]

Needs JAX, orbax-checkpoint and the plugin (docs/pjrt.md, docs/distributed.md). Kill a process while it runs: the others go on without it, and with it
as soon as `hilo launch` has started it again. Start the same command again, with more steps: it goes on where it was.
"""

import os
import pathlib
import sys
import time

os.environ.setdefault("JAX_PLATFORMS", "hilo")
os.environ.setdefault("HILO_NUM_DEVICES", "1")
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[2] / "python")]

import jax
import numpy as np
import orbax.checkpoint as ocp
from jax.experimental.multihost_utils import live_devices
from jax.sharding import NamedSharding, PartitionSpec as P

BATCH, FEATURES, EVERY = 240, 8, 5


def batch(step):
    x = np.random.default_rng(step).standard_normal((BATCH, FEATURES)).astype(np.float32)
    return x, np.tanh(x @ np.linspace(-1, 1, FEATURES, dtype=np.float32))


@jax.jit
def update(weights, x, y):
    loss, slope = jax.value_and_grad(lambda w: ((jax.numpy.tanh(x @ w) - y) ** 2).mean())(weights)
    return loss, weights - 0.2 * slope


def spread(value, devices, spec):
    """An array of the devices, of which every process has the whole value."""
    sharding = NamedSharding(jax.make_mesh((len(devices),), ("data",), devices=devices, axis_types=(jax.sharding.AxisType.Auto,)), spec)
    return jax.make_array_from_callback(value.shape, sharding, lambda index: value[index])


def latest(step, weights, devices):
    """The step and weights of the process that is furthest: one that has been started again has those of a checkpoint."""
    own = np.concatenate([[step], weights]).astype(np.float32)[None]
    sharding = NamedSharding(jax.make_mesh((len(devices),), ("data",), devices=devices, axis_types=(jax.sharding.AxisType.Auto,)), P("data"))
    rows = jax.make_array_from_process_local_data(sharding, own, (len(devices), own.size))
    rows = jax.jit(lambda rows: rows, out_shardings=NamedSharding(sharding.mesh, P()))(rows).addressable_data(0)
    best = np.asarray(rows)[np.argmax(rows[:, 0])]
    return int(best[0]), best[1:]


def checkpoints(folder, rank):
    """A manager of one process alone: it waits for no others, which may be dead."""
    alone = ocp.options.MultiprocessingOptions(primary_host=rank, active_processes={rank}, barrier_sync_key_prefix=f"{rank}-{time.time_ns()}")
    return ocp.CheckpointManager(folder, options=ocp.CheckpointManagerOptions(max_to_keep=2, create=False, enable_async_checkpointing=False, multiprocessing_options=alone))


def main():
    folder, steps = pathlib.Path(sys.argv[1]).resolve(), int((sys.argv + ["40"])[2])
    rank = int(os.environ["HILO_RANK"])
    jax.config.update("jax_enable_recoverability", True)
    jax.distributed.initialize(num_processes=int(os.environ["HILO_WORLD_SIZE"]), process_id=rank, heartbeat_timeout_seconds=3)
    folder.mkdir(parents=True, exist_ok=True)
    manager = checkpoints(folder, rank)
    step, weights = manager.latest_step() or 0, np.zeros(FEATURES, np.float32)
    if step > 0:
        weights = np.asarray(manager.restore(step, args=ocp.args.StandardRestore({"weights": weights}))["weights"])
    print(f"process {os.getpid()} starts from step {step}", flush=True)
    while step < steps:
        try:
            with live_devices(jax.devices()) as devices:
                step, weights = latest(step, weights, devices)
                x, y = batch(step)
                loss, new = update(spread(weights, devices, P()), spread(x, devices, P("data")), spread(y, devices, P("data")))
                loss, weights = float(loss), np.asarray(new.addressable_data(0))
        except Exception as error:  # a process has died: once more, with the others
            print(f"step {step}: {type(error).__name__}", flush=True)
            continue
        print(f"step {step} on {len(devices)} devices: loss {loss:.6f}", flush=True)
        step += 1
        if devices[0].process_index == rank and step % EVERY == 0:
            manager.reload()
            manager.save(step, args=ocp.args.StandardSave({"weights": weights}), force=True)
    os._exit(0)  # as a process that may go at any time


if __name__ == "__main__":
    main()
