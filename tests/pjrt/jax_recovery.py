"""JAX programs that survive the death of a process: features for jax_test.py."""

import importlib.util
import json
import os
import pathlib
import re
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.multihost_utils import live_devices
from jax_features import feature

PROCESSES, STEPS, BATCH = 4, 12, 24
LAST_STEP, WAITS_AT = 4, 8  # the victim dies in the step after its last one; the others go on to the third, and there wait for it


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


def train(process, victim, port=None):
    """One process of several that train a linear model, and prints what it has seen, a line of JSON for each event.

    Process 0 serves JAX's coordination service at the port; without one the launcher does.
    """
    def tell(event, **more):
        print(json.dumps(dict(event=event, time=time.time(), **more)), flush=True)

    jax.config.update("jax_enable_recoverability", True)
    jax.distributed.initialize(port and f"127.0.0.1:{port}", PROCESSES, process, heartbeat_timeout_seconds=3)
    here = jax.local_devices()[0]
    mesh_of = lambda devices: jax.make_mesh((len(devices),), ("a",), devices=devices, axis_types=(jax.sharding.AxisType.Auto,))

    def spread(value, devices, spec):
        """An array of `devices` of which every process has the whole."""
        sharding = jax.sharding.NamedSharding(mesh_of(devices), spec)
        return jax.make_array_from_callback(value.shape, sharding, lambda index: value[index])

    def latest(values, devices):
        """Of the values that the devices have, those of the latest step, which comes first in them."""
        mesh, spec = mesh_of(devices), jax.sharding.PartitionSpec("a")
        own = jax.make_array_from_single_device_arrays((len(devices), values.size), jax.sharding.NamedSharding(mesh, spec),
                                                       [jax.device_put(values[None], here)])
        gathered = jax.shard_map(lambda v: jax.lax.all_gather(v[0], "a")[None], mesh=mesh, in_specs=spec, out_specs=spec)(own).addressable_data(0)[0]
        return gathered[gathered[:, 0].argmax()]

    @jax.jit
    def update(weights, x, y):
        loss, slope = jax.value_and_grad(lambda w: ((x @ w - y)**2).mean())(weights)
        return loss, weights - 0.1 * slope

    everything = jax.sharding.PartitionSpec()
    rows = jax.sharding.PartitionSpec("a")
    step, weights, done = 0, jnp.zeros(3), 0
    while step < STEPS:
        loss = None
        try:
            with live_devices(jax.devices()) as devices:
                try:
                    state = latest(jnp.concatenate([jnp.array([step], jnp.float32), jnp.asarray(weights)]), devices)
                    step, weights = int(state[0]), jnp.asarray(state[1:])
                    if process == victim and done > 0 and step == LAST_STEP + 1:
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
        step, weights, done = step + 1, new, done + 1
    tell("done")
    # As a process that may go at any time: the one that serves the others last.
    time.sleep(1 if process == 0 and port else 0)
    os._exit(0)


def environment():
    return dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path), JAX_PLATFORMS="hilo", HILO_NUM_DEVICES="1")


def check(events_of, victim):
    """The survivors have made every step once, the victim those of its second life, all with the losses of a run without faults."""
    expected = reference()
    died = next(event for event in events_of[victim] if event["event"] == "dies")
    for process, events in enumerate(events_of):
        seen = events[events.index(died) + 1:] if process == victim else events
        steps = [event for event in seen if event["event"] == "step"]
        by_step = {event["step"]: event for event in steps}
        assert len(by_step) == len(steps) and seen[-1]["event"] == "done", (process, events)
        np.testing.assert_allclose([event["loss"] for event in steps], [expected[event["step"]] for event in steps], rtol=2e-5)
        assert all(len(by_step[step]["live"]) == PROCESSES for step in range(WAITS_AT, STEPS)), (process, events)
        if process == victim:
            assert min(by_step) >= LAST_STEP + 1, events
            continue
        assert sorted(by_step) == list(range(STEPS)), (process, events)
        errors = [event for event in seen if event["event"] == "error"]
        assert len(errors) >= 1, (process, events)
        assert f"process {victim} is gone" in errors[0]["message"], errors
        assert errors[0]["time"] - died["time"] < 1, (process, errors, died)
    return events_of


@feature
def a_process_dies_and_comes_back():
    """Training goes on without a process that is killed, and with it when it is started again; the losses are those of a run without faults."""
    victim = 2
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])

    def start(process):
        command = [sys.executable, str(pathlib.Path(__file__).resolve()), str(process), str(victim), port]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), text=True)

    started = [start(process) for process in range(PROCESSES)]
    try:
        first_life = started[victim].communicate(timeout=60)
        assert started[victim].returncode == -signal.SIGKILL, first_life[1][-600:]
        said = [""] * PROCESSES
        said[victim] = first_life[0]
        while f'"step": {LAST_STEP + 2}' not in said[0]:  # the others have gone on
            said[0] += started[0].stdout.readline()
            assert started[0].poll() is None, said[0]
        started[victim] = start(victim)
        for process, one in enumerate(started):
            out, log = one.communicate(timeout=60)
            said[process] += out
            assert one.returncode == 0, (process, out[-600:], log[-1000:])
        events_of = check([[json.loads(line) for line in out.splitlines()] for out in said], victim)
    finally:
        for one in started:
            one.kill()
    for process, events in enumerate(events_of):
        if process == victim:
            continue
        assert sum(event["event"] == "error" for event in events) == 1, (process, events)
        without = next(event for event in events if event["event"] == "step" and event["step"] == LAST_STEP + 1)
        assert without["live"] == [0, 1, 3], (process, events)


@feature
def process_0_dies_and_comes_back():
    """Where `hilo launch` hosts the coordination service and starts again what has died, process 0 is like the others."""
    hilo = pathlib.Path(os.environ["HILO_PJRT_LIBRARY"]).parents[1] / "bin" / "hilo"
    script = f'exec {shlex.quote(sys.executable)} {shlex.quote(str(pathlib.Path(__file__).resolve()))} "$HILO_RANK" 0'
    command = [hilo, "launch", "-n", str(PROCESSES), f"--coordinator={sys.executable}", "--heartbeat=3", "--restarts=1", "sh", "-c", script]
    result = subprocess.run(command, capture_output=True, text=True, timeout=100, env=environment())
    assert result.returncode == 0, result.stderr[-2000:]
    assert "hilo: rank 0: ended by signal 9 (Killed); started again, 1 of 1\n" in result.stderr, result.stderr[-2000:]
    events_of = [[] for _ in range(PROCESSES)]
    for line in result.stdout.splitlines():
        rank, event = line.split(" ", 1)
        events_of[int(rank.strip("[]"))].append(json.loads(event))
    check(events_of, victim=0)


@feature
def an_example_goes_on_from_its_checkpoint():
    """examples/jax/survive.py: process 0 is killed, and the job started again with more steps."""
    if importlib.util.find_spec("orbax") is None:
        return print("orbax: not installed")
    root = pathlib.Path(__file__).resolve().parents[2]
    hilo = pathlib.Path(os.environ["HILO_PJRT_LIBRARY"]).parents[1] / "bin" / "hilo"

    def run(folder, steps, kill_at):
        command = [hilo, "launch", "-n", "3", f"--coordinator={sys.executable}", "--heartbeat=3", "--restarts=1", sys.executable, root / "examples" / "jax" / "survive.py", folder, str(steps)]
        losses, starts, victim = {}, [], None
        with tempfile.TemporaryFile("w+") as log, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, env=environment(), text=True) as job:
            for line in job.stdout:
                if found := re.match(r"\[(\d)\] process (\d+) starts from step (\d+)", line):
                    starts.append(int(found[3]))
                    victim = victim or (int(found[2]) if found[1] == "0" else None)
                if found := re.match(r"\[\d\] step (\d+) on \d devices: loss (.*)", line):
                    losses.setdefault(int(found[1]), set()).add(float(found[2]))
                    if int(found[1]) == kill_at and victim is not None:
                        os.kill(victim, signal.SIGKILL)
                        kill_at = None
            log.seek(0)
            assert job.wait() == 0, log.read()[-2000:]
        assert sorted(losses) == list(range(min(starts), steps)), (starts, sorted(losses))
        assert all(max(of_step) - min(of_step) < 1e-4 for of_step in losses.values()), losses
        return starts, [max(losses[step]) for step in sorted(losses)]

    with tempfile.TemporaryDirectory() as folder:
        starts, undisturbed = run(f"{folder}/a", 30, kill_at=None)
        assert starts == [0] * 3, starts
        starts, losses = run(f"{folder}/b", 20, kill_at=12)
        assert len(starts) == 4, starts
        np.testing.assert_allclose(losses, undisturbed[:20], atol=1e-4)
        starts, losses = run(f"{folder}/b", 30, kill_at=None)
        assert starts == [20] * 3, starts
        np.testing.assert_allclose(losses, undisturbed[20:], atol=1e-4)


if __name__ == "__main__":
    train(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])
