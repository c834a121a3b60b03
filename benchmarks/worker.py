"""One side of benchmarks/compare.py in a process of its own: compiles programs with JAX's first platform and times them when asked.

    python benchmarks/worker.py SUITE

Commands are lines of JSON on standard input, each answered by one: {"load": NAME} (for the suite "hlo" also "module" and "inputs", files)
with {"compile_ms": ..., "peak_mb": ...}, where the peak of memory is of making, compiling and two calls, over what the process had before, or with
{"missing": PACKAGE}; {"seconds": S} with {"us": least, median and count of calls during S seconds}; {"save": FILE.npz} with {}.
An error is answered with {"error": text}.
"""

import contextlib
import ctypes
import gc
import importlib
import json
import os
import pathlib
import re
import statistics
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "suites"), str(HERE.parent / "python")]

import jax
import numpy as np

if hasattr(jax, "enable_x64"):
    enable_x64 = jax.enable_x64
else:  # of older versions
    from jax.experimental import enable_x64


class HloProgram:
    """A module of HLO text, compiled as it is."""

    def __init__(self, module, inputs):
        jax.config.update("jax_enable_x64", True)
        import jaxlib.xla_client as xla_client
        try:
            from jaxlib import _hlo as hlo
        except ImportError:
            hlo = xla_client._xla
        proto = hlo.hlo_module_from_text(pathlib.Path(module).read_text()).as_serialized_hlo_module_proto()
        self.stablehlo = xla_client._xla.mlir.xla_computation_to_mlir_module(hlo.XlaComputation(proto))
        self.client = xla_client
        self.device = jax.devices()[0]
        with np.load(inputs) as arrays:
            self.arguments = [jax.device_put(arrays[f"arg{index}"], self.device) for index in range(len(arrays.files))]

    def compile(self):
        client, options = self.device.client, self.client.CompileOptions()
        start = time.perf_counter()
        if hasattr(client, "compile_and_load"):
            self.executable = client.compile_and_load(self.stablehlo, self.client.DeviceList((self.device,)), options)
        else:
            self.executable = client.compile(self.stablehlo, options)
        return time.perf_counter() - start

    def results(self):
        results = self.executable.execute_sharded(self.arguments).disassemble_into_single_device_arrays()
        for result in results:
            result[0].block_until_ready()
        return results

    def call(self, count):
        start = time.perf_counter()
        for _ in range(count):
            self.results()
        return (time.perf_counter() - start) / count

    def save(self, path):
        np.savez(path, **{f"out{index}": np.asarray(result[0]) for index, result in enumerate(self.results())})


def memory_kb(name):
    """A line of /proc/self/status: VmRSS, the memory in use, or VmHWM, its peak."""
    return int(re.search(rf"{name}:\s*(\d+)", pathlib.Path("/proc/self/status").read_text())[1])


class Worker:
    def __init__(self, suite):
        jax.config.update("jax_enable_compilation_cache", False)
        self.suite = suite
        if suite != "hlo":
            for path in sorted((HERE / "suites").glob(f"{suite}*.py")):
                importlib.import_module(path.stem)
        self.program, self.scope = None, contextlib.nullcontext
        jax.block_until_ready(jax.jit(lambda x: x + 1)(0.0))  # what a process compiles first takes longer

    def load(self, command):
        self.program = None
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)  # what earlier programs freed would hide this one's memory
        before = memory_kb("VmRSS")
        pathlib.Path("/proc/self/clear_refs").write_text("5")  # the peak begins at what is in use
        if self.suite == "hlo":
            self.program = HloProgram(command["module"], command["inputs"])
        else:
            import jax_programs
            name, device = command["load"], jax.devices()[0]
            self.scope = lambda: enable_x64("f64" in name)
            with self.scope(), jax.default_device(device):
                self.program = jax_programs.PROGRAMS[name](np.random.default_rng(0), device)
                if not getattr(self.program, "placed", True):
                    self.program.args = jax.device_put(self.program.args, device)
        with self.scope():
            seconds = self.program.compile()
            self.program.call(2)
        return {"compile_ms": None if seconds is None else 1e3 * seconds, "peak_mb": (memory_kb("VmHWM") - before) / 1024}

    def time(self, seconds):
        """Calls are timed in groups of at least a hundredth of the time, so that reading the clock costs nothing."""
        with self.scope():
            count = max(1, int(0.01 * seconds / max(self.program.call(3), 1e-7)))
            times, end = [], time.perf_counter() + seconds
            while not times or time.perf_counter() < end:
                times.append(1e6 * self.program.call(count))
        return {"us": {"min": min(times), "median": statistics.median(times), "calls": count * len(times)}}

    def answer(self, command):
        if "load" in command:
            return self.load(command)
        if "save" in command:
            with self.scope():
                self.program.save(command["save"])
            return {}
        return self.time(command["seconds"])


def main():
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what packages print is no answer
    worker = Worker(sys.argv[1])
    for line in sys.stdin:
        try:
            answer = worker.answer(json.loads(line))
        except ModuleNotFoundError as error:
            answer = {"missing": error.name}
        except Exception as error:  # of any program and version: the other sides go on
            answer = {"error": f"{type(error).__name__}: {error}"[:500]}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
