"""Times collectives on CPU devices, in Hilo and in jaxlib, and prints them as nccl-tests does.

    VENV/bin/python benchmarks/collectives.py --plugin build/lib/libpjrt_hilo.so [--devices 2,4] [--processes 1] [--sizes 4,1048576,67108864] [--ops all-reduce]

VENV has JAX. The devices are those of one process, or of as many as --processes says, which find each other by jax.distributed; jaxlib's then talk over Gloo. Each program is a jitted shard_map of one collective on f32, called from Python with its argument in place; the two sides take turns, and each
cell is the least of several rounds. `bytes` is what nccl-tests calls the size: of the array that every device has (all-reduce, broadcast, permute), of what
it ends with (all-gather) or begins with (reduce-scatter, all-to-all). Algorithm bandwidth is bytes over time; bus bandwidth is that times what the
operation must send (2 (n-1)/n, (n-1)/n or 1). The limit is the time of one thread of NumPy copying the bytes.
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import time

OPS = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute", "collective-broadcast")


def bus_factor(op, n):
    return {"all-reduce": 2 * (n - 1) / n, "all-gather": (n - 1) / n, "reduce-scatter": (n - 1) / n, "all-to-all": (n - 1) / n}.get(op, 1)


def worker(devices, processes, process, port):
    """Answers lines of JSON: {"op", "bytes", "calls"} with the least time of so many calls."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax import lax
    from jax.sharding import NamedSharding, PartitionSpec

    if processes > 1:
        jax.distributed.initialize(f"127.0.0.1:{port}", processes, process)
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
            array = jax.make_array_from_callback((count * devices,), NamedSharding(mesh, PartitionSpec("d")), lambda index: np.ones(count, np.float32))
            try:
                call = jax.jit(sharded)
                jax.block_until_ready(call(array))
            except Exception as error:  # one of the two may lack an operation
                print(json.dumps({"error": str(error).splitlines()[0]}), flush=True)
                continue
            programs[key] = call, array
        call, array = programs[key]
        least = float("inf")
        for _ in range(task["calls"]):  # as many in all processes
            start = time.perf_counter()
            jax.block_until_ready(call(array))
            least = min(least, time.perf_counter() - start)
        print(json.dumps({"time": least}), flush=True)
    if processes > 1:
        jax.distributed.shutdown()


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
    def __init__(self, platform, devices, processes, plugin):
        here = os.path.dirname(os.path.abspath(__file__))
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        own = devices // processes
        environment = dict(os.environ, JAX_PLATFORMS=platform, HILO_NUM_DEVICES=str(own), HILO_PJRT_LIBRARY=os.path.abspath(plugin),
                           PYTHONPATH=os.path.join(here, "..", "python"), XLA_FLAGS=f"--xla_force_host_platform_device_count={own}")
        self.processes = [subprocess.Popen([sys.executable, __file__, "--worker", f"{process}:{port}", "--devices", str(devices), "--processes", str(processes)],
                                           stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) for process in range(processes)]
        self.calls = {}

    def ask(self, op, size, calls):
        for process in self.processes:
            process.stdin.write(json.dumps({"op": op, "bytes": size, "calls": calls}) + "\n")
            process.stdin.flush()
        answers = []
        for process in self.processes:  # Gloo talks in between
            line = next((line for line in process.stdout if line.startswith("{")), '{"error": "the worker has ended"}')
            answers.append(json.loads(line))
        return next((answer for answer in answers if "error" in answer), max(answers, key=lambda answer: answer.get("time", 0)))

    def time(self, op, size, seconds):
        """The least time of a call in about so many seconds of calls; of several processes, that of the slowest."""
        if (op, size) not in self.calls:
            first = self.ask(op, size, 5)
            if "error" in first:
                return first
            self.calls[op, size] = max(3, int(seconds / first["time"]))
        return self.ask(op, size, self.calls[op, size])

    def close(self):
        for process in self.processes:
            process.stdin.close()
        for process in self.processes:
            process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plugin", default="build/lib/libpjrt_hilo.so", help="libpjrt_hilo.so")
    parser.add_argument("--devices", default="2,4")
    parser.add_argument("--processes", type=int, default=1, help="that share the devices")
    parser.add_argument("--sizes", default="4,1024,65536,1048576,16777216,67108864,268435456", help="bytes")
    parser.add_argument("--ops", default=",".join(OPS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.1, help="seconds of calls of each side in a round")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        return worker(int(arguments.devices), arguments.processes, *map(int, arguments.worker.split(":")))
    if any(int(devices) % arguments.processes for devices in arguments.devices.split(",")):
        parser.error("every process has as many devices")
    print("| operation | devices | bytes | Hilo us | alg GB/s | bus GB/s | jaxlib us | Hilo/jaxlib | Hilo/copy |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    for devices in map(int, arguments.devices.split(",")):
        sides = {platform: Side(platform, devices, arguments.processes, arguments.plugin) for platform in ("hilo", "cpu")}
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
