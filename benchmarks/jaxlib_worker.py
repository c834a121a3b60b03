"""The jaxlib side of compare_jaxlib.py: compiles one module, then runs it whenever asked.

    python benchmarks/jaxlib_worker.py MODULE.hlo INPUTS.npz

It compiles the HLO text itself, not a function lowered again, and answers in JSON lines: first {"compile_ms": ...}, then
for each line "SECONDS" on standard input the times of runs for that long, {"run_ms": [...]}, and for each line
"save FILE.npz" the results, {}.
"""

import json
import sys
import time

import jax
import jaxlib.xla_client as xla_client
import numpy as np
from jaxlib import _hlo


def main(module_path, inputs_path):
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_enable_compilation_cache", False)
    with open(module_path, encoding="utf-8") as file:
        module = _hlo.hlo_module_from_text(file.read())
    computation = _hlo.XlaComputation(module.as_serialized_hlo_module_proto())
    stablehlo = xla_client._xla.mlir.xla_computation_to_mlir_module(computation)
    devices = jax.devices("cpu")[:1]
    with np.load(inputs_path) as arrays:
        arguments = [jax.device_put(arrays[f"arg{index}"], devices[0]) for index in range(len(arrays.files))]

    start = time.perf_counter()
    executable = devices[0].client.compile_and_load(stablehlo, xla_client.DeviceList(tuple(devices)), xla_client.CompileOptions())
    print(json.dumps({"compile_ms": (time.perf_counter() - start) * 1e3}), flush=True)

    def run():
        results = executable.execute_sharded(arguments).disassemble_into_single_device_arrays()
        for result in results:
            result[0].block_until_ready()
        return results

    run()
    for line in sys.stdin:
        word, _, rest = line.strip().partition(" ")
        if word == "save":
            np.savez(rest, **{f"out{index}": np.asarray(result[0]) for index, result in enumerate(run())})
            print("{}", flush=True)
            continue
        times, end = [], time.perf_counter() + float(word)
        while not times or time.perf_counter() < end:
            start = time.perf_counter()
            run()
            times.append((time.perf_counter() - start) * 1e3)
        print(json.dumps({"run_ms": times}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
