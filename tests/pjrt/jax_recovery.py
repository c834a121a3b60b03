"""JAX programs that survive the death of a process: features for jax_test.py."""

import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.multihost_utils import live_devices
from jax_features import feature

PROCESSES, STEPS, BATCH = 4, 12, 24
VICTIM, LAST_STEP, WAITS_AT = 2, 4, 8  # it dies in the step after its last one; the others go on to the third, and there wait for it


def reference():
    """The losses of the training below."""
    weights, losses = np.zeros(3, np.float32), []
    for step in range(STEPS):
        x, y = batch(step)
        error = x @ weights - y
        losses.append(float((error**2).mean()))
        weights = weights - 0.1 * (2 / BATCH) * (x.T @ error)
    return losses


def batch(step):
    x = np.random.default_rng(step).standard_normal((BATCH, 3)).astype(np.float32)
    return x, (x @ np.arange(1, 4, dtype=np.float32) + 1).astype(np.float32)


def train(process, port, comes_back):
    """One process of several that train a linear model, and prints what it has seen, a line of JSON for each event."""
    def tell(event, **more):
        print(json.dumps(dict(event=event, time=time.time(), **more)), flush=True)

    jax.config.update("jax_enable_recoverability", True)
    jax.distributed.initialize(f"127.0.0.1:{port}", PROCESSES, process, heartbeat_timeout_seconds=3)
    here = jax.local_devices()[0]
    mesh_of = lambda devices: jax.make_mesh((len(devices),), ("a",), devices=devices, axis_types=(jax.sharding.AxisType.Auto,))

    def spread(value, devices, spec):
        """An array of `devices` of which every process has the whole."""
        sharding = jax.sharding.NamedSharding(mesh_of(devices), spec)
        return jax.make_array_from_callback(value.shape, sharding, lambda index: value[index])

    def from_first(values, devices):
        """The values that the first of the devices has."""
        mesh, spec = mesh_of(devices), jax.sharding.PartitionSpec("a")
        own = jax.make_array_from_single_device_arrays((len(devices), values.size), jax.sharding.NamedSharding(mesh, spec),
                                                       [jax.device_put(values[None], here)])
        return jax.shard_map(lambda v: jax.lax.all_gather(v[0], "a")[None], mesh=mesh, in_specs=spec, out_specs=spec)(own).addressable_data(0)[0, 0]

    @jax.jit
    def update(weights, x, y):
        loss, slope = jax.value_and_grad(lambda w: ((x @ w - y)**2).mean())(weights)
        return loss, weights - 0.1 * slope

    everything = jax.sharding.PartitionSpec()
    rows = jax.sharding.PartitionSpec("a")
    step, weights = 0, jnp.zeros(3)
    while step < STEPS:
        loss = None
        try:
            with live_devices(jax.devices()) as devices:
                try:
                    state = from_first(jnp.concatenate([jnp.array([step], jnp.float32), jnp.asarray(weights)]), devices)
                    step, weights = int(state[0]), jnp.asarray(state[1:])
                    if process == VICTIM and not comes_back and step == LAST_STEP + 1:
                        tell("dies")
                        os.kill(os.getpid(), signal.SIGKILL)
                    if step != WAITS_AT or len(devices) == PROCESSES:
                        x, y = batch(step)
                        loss, new = update(spread(weights, devices, everything), spread(x, devices, rows), spread(y, devices, rows))
                        loss, new = float(loss), jax.device_put(new.addressable_data(0), here)
                except Exception as error:
                    tell("error", message=str(error))
                    raise
        except Exception as error:
            tell("failed", kind=type(error).__name__)
            continue
        if loss is None:
            time.sleep(0.1)
            continue
        tell("step", step=step, loss=loss, live=[device.id for device in devices])
        step, weights = step + 1, new
    tell("done")
    # As a process that may go at any time: process 0, which serves the others, last.
    time.sleep(1 if process == 0 else 0)
    os._exit(0)


@feature
def a_process_dies_and_comes_back():
    """Training goes on without a process that is killed, and with it when it is started again; the losses are those of a run without faults."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path), JAX_PLATFORMS="hilo", HILO_NUM_DEVICES="1")

    def start(process, comes_back):
        command = [sys.executable, str(pathlib.Path(__file__).resolve()), str(process), port, str(int(comes_back))]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, text=True)

    started = [start(process, False) for process in range(PROCESSES)]
    try:
        first_life = started[VICTIM].communicate(timeout=60)
        assert started[VICTIM].returncode == -signal.SIGKILL, first_life[1][-600:]
        died = json.loads(first_life[0].splitlines()[-1])
        assert died["event"] == "dies", died
        said = ""
        while f'"step": {LAST_STEP + 2}' not in said:  # the others have gone on
            said += started[0].stdout.readline()
            assert started[0].poll() is None, said
        started[VICTIM] = start(VICTIM, True)
        expected = reference()
        for process, one in enumerate(started):
            out, log = one.communicate(timeout=60)
            out = said + out if process == 0 else out
            assert one.returncode == 0, (process, out[-600:], log[-1000:])
            events = [json.loads(line) for line in out.splitlines()]
            steps = [event for event in events if event["event"] == "step"]
            by_step = {event["step"]: event for event in steps}
            assert len(by_step) == len(steps) and events[-1]["event"] == "done", (process, out)
            np.testing.assert_allclose([event["loss"] for event in steps], [expected[event["step"]] for event in steps], rtol=2e-5)
            assert all(len(by_step[step]["live"]) == PROCESSES for step in range(WAITS_AT, STEPS)), (process, out)
            if process == VICTIM:
                assert min(by_step) >= LAST_STEP + 1, out
                continue
            assert sorted(by_step) == list(range(STEPS)), (process, out)
            errors = [event for event in events if event["event"] == "error"]
            assert len(errors) == 1, (process, out)
            assert f"process {VICTIM} is gone" in errors[0]["message"], errors
            assert errors[0]["time"] - died["time"] < 1, (process, errors, died)
            assert by_step[LAST_STEP + 1]["live"] == [0, 1, 3], (process, out)
    finally:
        for one in started:
            one.kill()


if __name__ == "__main__":
    train(int(sys.argv[1]), sys.argv[2], sys.argv[3] == "1")
