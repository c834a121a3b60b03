"""Times collectives on the CPU devices of one process, in Hilo and in jaxlib, and prints them as nccl-tests does.

    VENV/bin/python benchmarks/collectives.py --plugin build/lib/libpjrt_hilo.so [--devices 2,4] [--sizes 4,1048576,67108864] [--ops all-reduce]

VENV has JAX. Each program is a jitted shard_map of one collective on f32, called from Python with its argument in place; the two sides take turns, and each
cell is the least of several rounds. `bytes` is what nccl-tests calls the size: of the array that every device has (all-reduce, broadcast, permute), of what
it ends with (all-gather) or begins with (reduce-scatter, all-to-all). Algorithm bandwidth is bytes over time; bus bandwidth is that times what the
operation must send (2 (n-1)/n, (n-1)/n or 1). The limit is the time of one thread of NumPy copying the bytes.
"""

import argparse
import json
import os
import subprocess
import sys
import time

OPS = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute", "collective-broadcast")


def bus_factor(op, n):
    return {"all-reduce": 2 * (n - 1) / n, "all-gather": (n - 1) / n, "reduce-scatter": (n - 1) / n, "all-to-all": (n - 1) / n}.get(op, 1)


def worker(devices):
    """Answers lines of JSON: {"op", "bytes", "seconds"} with the least time of a call."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax import lax
    from jax.sharding import NamedSharding, PartitionSpec

    mesh = jax.make_mesh((devices,), ("d",), devices=jax.devices()[:devices])
    ring = [(i, (i + 1) % devices) for i in range(devices)]
    # What a device has of the operand, as a multiple of the bytes, and the operation on it.
    body = {
        "all-reduce": (1, lambda x: lax.psum(x, "d")),
        "all-gather": (1 / devices, lambda x: lax.all_gather(x, "d", tiled=True)),
        "reduce-scatter": (1, lambda x: lax.psum_scatter(x, "d", tiled=True)),
        "all-to-all": (1, lambda x: lax.all_to_all(x, "d", 0, 0, tiled=True)),
        "collective-permute": (1, lambda x: lax.ppermute(x, "d", ring)),
        "collective-broadcast": (1, lambda x: lax.pbroadcast(x, "d", 0) if hasattr(lax, "pbroadcast") else None),
    }
    programs = {}
    for line in sys.stdin:
        task = json.loads(line)
        key = task["op"], task["bytes"]
        if key not in programs:
            share, function = body[task["op"]]
            count = max(1, int(task["bytes"] // 4 * share))
            if task["op"] in ("reduce-scatter", "all-to-all"):
                count = max(devices, count)
            sharded = jax.shard_map(function, mesh=mesh, in_specs=PartitionSpec("d"), out_specs=PartitionSpec("d"), check_vma=False)
            array = jax.device_put(np.ones(count * devices, np.float32), NamedSharding(mesh, PartitionSpec("d")))
            try:
                call = jax.jit(sharded)
                jax.block_until_ready(call(array))
            except Exception as error:  # one of the two may lack an operation
                print(json.dumps({"error": str(error).splitlines()[0]}), flush=True)
                continue
            programs[key] = call, array
        call, array = programs[key]
        least, end = float("inf"), time.perf_counter() + task["seconds"]
        while True:
            start = time.perf_counter()
            jax.block_until_ready(call(array))
            now = time.perf_counter()
            least = min(least, now - start)
            if now > end:
                break
        print(json.dumps({"time": least}), flush=True)


def copy_seconds(size):
    import numpy as np

    source, target = np.ones(max(1, size // 4), np.float32), np.zeros(max(1, size // 4), np.float32)
    least = float("inf")
    for _ in range(10):
        start = time.perf_counter()
        np.copyto(target, source)
        least = min(least, time.perf_counter() - start)
    return least


class Side:
    def __init__(self, platform, devices, plugin):
        here = os.path.dirname(os.path.abspath(__file__))
        environment = dict(os.environ, JAX_PLATFORMS=platform, HILO_NUM_DEVICES=str(devices), HILO_PJRT_LIBRARY=os.path.abspath(plugin),
                           PYTHONPATH=os.path.join(here, "..", "python"), XLA_FLAGS=f"--xla_force_host_platform_device_count={devices}")
        self.process = subprocess.Popen([sys.executable, __file__, "--worker", "--devices", str(devices)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, env=environment)

    def time(self, op, size, seconds):
        self.process.stdin.write(json.dumps({"op": op, "bytes": size, "seconds": seconds}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        return json.loads(line) if line else {"error": "the worker has ended"}

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plugin", default="build/lib/libpjrt_hilo.so", help="libpjrt_hilo.so")
    parser.add_argument("--devices", default="2,4")
    parser.add_argument("--sizes", default="4,1024,65536,1048576,16777216,67108864,268435456", help="bytes")
    parser.add_argument("--ops", default=",".join(OPS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.1, help="length of a turn")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        return worker(int(arguments.devices))
    print("| operation | devices | bytes | Hilo us | alg GB/s | bus GB/s | jaxlib us | Hilo/jaxlib | Hilo/copy |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    for devices in map(int, arguments.devices.split(",")):
        sides = {"hilo": Side("hilo", devices, arguments.plugin), "cpu": Side("cpu", devices, arguments.plugin)}
        for op in arguments.ops.split(","):
            for size in map(int, arguments.sizes.split(",")):
                least, errors = {}, {}
                for _ in range(arguments.rounds):
                    for name, side in sides.items():
                        answer = side.time(op, size, arguments.seconds)
                        if "error" in answer:
                            errors[name] = answer["error"]
                        else:
                            least[name] = min(answer["time"], least.get(name, float("inf")))
                if "hilo" not in least:
                    print(f"| {op} | {devices} | {size} | {errors['hilo']} |")
                    continue
                seconds = least["hilo"]
                rate = size / seconds * 1e-9
                jaxlib = f"{least['cpu'] * 1e6:.1f} | {seconds / least['cpu']:.2f}" if "cpu" in least else "lacks it | "
                print(f"| {op} | {devices} | {size} | {seconds * 1e6:.1f} | {rate:.3g} | {rate * bus_factor(op, devices):.3g} | {jaxlib} | "
                      f"{seconds / copy_seconds(size):.2f} |", flush=True)
        for side in sides.values():
            side.close()


if __name__ == "__main__":
    main()
