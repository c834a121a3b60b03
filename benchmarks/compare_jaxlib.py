"""Times Hilo against jaxlib on the same HLO text and inputs, turn by turn, and prints a markdown table.

    python benchmarks/compare_jaxlib.py --hilo build/hilo --jax-python VENV/bin/python

Machines are noisy and drift, so the two sides take turns: in every round Hilo runs for a while, then jaxlib, then jaxlib
with memory kept. The last is the same jaxlib with glibc told never to give memory back to the system: stock malloc does
after every run on big results, and jaxlib then pays for page faults, which is no merit of Hilo's kernels.

Compile times are those of a fresh process with no cache on disk; Hilo's from HLO text, jaxlib's from StableHLO, so that its
conversion is not counted. A run is one call with inputs in place and results waited for: jaxlib's from Python (some
microseconds more than from C++), Hilo's from `hilo bench`. --threads binds both sides to that many CPUs. Needs NumPy here,
and JAX only in --jax-python.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from inputs import INPUTS, module_path, write_inputs

KEEP_MEMORY = {"MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_MAX_": "0", "MALLOC_MMAP_THRESHOLD_": str(1 << 40),
               "MALLOC_TRIM_THRESHOLD_": str(1 << 40), "MALLOC_TOP_PAD_": str(64 << 20)}
SIDES = ("hilo", "jaxlib", "kept")


class JaxlibWorker:
    """jaxlib in a process of its own, with one program compiled."""

    def __init__(self, options, module, inputs, extra_environment):
        command = [options.jax_python, str(HERE / "jaxlib_worker.py"), str(module), str(inputs)]
        environment = {**os.environ, "JAX_PLATFORMS": "cpu", **extra_environment}
        self._process = subprocess.Popen(command, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                         preexec_fn=options.bind)
        self.compile_ms = self._answer()["compile_ms"]

    def _answer(self):
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"jaxlib ended with code {self._process.wait()}")
        return json.loads(line)

    def ask(self, line):
        print(line, file=self._process.stdin, flush=True)
        return self._answer()

    def close(self):
        self._process.stdin.close()
        self._process.wait()


def call_hilo(options, subcommand, module, inputs, *flags):
    command = [options.hilo, subcommand, str(module), f"--inputs={inputs}", f"--platform={options.platform}", *flags]
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=options.bind)
    if done.returncode != 0:
        raise RuntimeError(f"hilo {subcommand} ended with code {done.returncode}: {done.stderr.strip()[-300:]}")
    return done.stdout


def bench_hilo(options, module, inputs, iterations):
    return json.loads(call_hilo(options, "bench", module, inputs, f"--iterations={iterations}", "--json"))


def difference(ours, theirs):
    """The largest difference of two files of results, relative to the largest magnitude of each array."""
    worst = 0.0
    with np.load(ours) as got, np.load(theirs) as want:
        if sorted(got.files) != sorted(want.files):
            return np.inf
        for name in want.files:
            wide = np.complex128 if np.iscomplexobj(want[name]) else np.float64
            a, b = got[name].astype(wide), want[name].astype(wide)
            if a.shape != b.shape:
                return np.inf
            distance = np.abs(a - b).max(initial=0) / max(np.abs(b).max(initial=0), 1e-300)
            worst = max(worst, float(distance)) if np.isfinite(distance) else np.inf
    return worst


def compare(options, name, folder):
    """Times one program on all sides: a dict of side to compile, least and median milliseconds, and the difference."""
    module, inputs = module_path(name), folder / f"{name}.npz"
    write_inputs(name, inputs)
    first = bench_hilo(options, module, inputs, 3)
    workers = {"jaxlib": JaxlibWorker(options, module, inputs, {}), "kept": JaxlibWorker(options, module, inputs, KEEP_MEMORY)}
    iterations = int(min(max(options.seconds * 1e3 / max(first["run_ms"]["median"], 1e-4), 3), 100000))
    rounds = {side: {"min": [], "median": []} for side in SIDES}
    for _ in range(options.rounds):
        hilo = bench_hilo(options, module, inputs, iterations)["run_ms"]
        for key in ("min", "median"):
            rounds["hilo"][key].append(hilo[key])
        for side, worker in workers.items():
            times = worker.ask(f"{options.seconds}")["run_ms"]
            rounds[side]["min"].append(min(times))
            rounds[side]["median"].append(float(np.median(times)))
    ours, theirs = folder / "hilo_out.npz", folder / "jaxlib_out.npz"
    call_hilo(options, "run", module, inputs, f"--outputs={ours}")
    workers["jaxlib"].ask(f"save {theirs}")
    for worker in workers.values():
        worker.close()
    inputs.unlink()
    compile_ms = {"hilo": first["compile_ms"], **{side: worker.compile_ms for side, worker in workers.items()}}
    result = {side: {"compile_ms": compile_ms[side], "min_ms": min(times["min"]), "median_ms": float(np.median(times["median"]))}
              for side, times in rounds.items()}
    return {**result, "difference": difference(ours, theirs)}


def row(name, result):
    hilo, jaxlib, kept = (result[side] for side in SIDES)
    ratio = lambda other, key: f"{other[key] / max(hilo[key], 1e-9):.2f}"
    cells = [name, *(f"{side['min_ms']:.4g} / {side['median_ms']:.4g}" for side in (hilo, jaxlib, kept)),
             f"{ratio(jaxlib, 'min_ms')} / {ratio(jaxlib, 'median_ms')}", f"{ratio(kept, 'min_ms')} / {ratio(kept, 'median_ms')}",
             f"{hilo['compile_ms']:.4g}", f"{jaxlib['compile_ms']:.4g}", ratio(jaxlib, "compile_ms"), f"{result['difference']:.0e}"]
    return "| " + " | ".join(cells) + " |"


def parse_options():
    parser = argparse.ArgumentParser(description="Times Hilo against jaxlib.")
    parser.add_argument("--hilo", required=True, help="the program hilo")
    parser.add_argument("--jax-python", default=sys.executable, help="a Python with JAX; this one unless told")
    parser.add_argument("--programs", default=",".join(INPUTS), help="names, separated by commas; all unless told")
    parser.add_argument("--platform", default="cpu", help="Hilo's platform")
    parser.add_argument("--threads", type=int, help="CPUs for each side; all unless told")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each side, 5 unless told")
    parser.add_argument("--seconds", type=float, default=0.5, help="how long a turn is, 0.5 unless told")
    parser.add_argument("--json", help="also write the numbers to this file")
    options = parser.parse_args()
    options.programs = options.programs.split(",")
    unknown = [name for name in options.programs if name not in INPUTS]
    if unknown:
        parser.error(f"no program {', '.join(unknown)}; there are {', '.join(INPUTS)}")
    cpus = sorted(os.sched_getaffinity(0))
    if options.threads and not 1 <= options.threads <= len(cpus):
        parser.error(f"--threads={options.threads}: there are {len(cpus)} CPUs")
    chosen = cpus[: options.threads] if options.threads else cpus
    options.bind = lambda: os.sched_setaffinity(0, chosen)
    print(f"{len(chosen)} CPUs, {options.rounds} rounds of {options.seconds} s; milliseconds, least / median; "
          "ratios are jaxlib over Hilo, above 1 Hilo is faster\n")
    return options


def main():
    options = parse_options()
    print("| program | Hilo | jaxlib | jaxlib, memory kept | ratio | ratio, memory kept | compile Hilo | compile jaxlib | ratio | results differ |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    results, failed = {}, []
    with tempfile.TemporaryDirectory(prefix="hilo_bench_") as folder:
        for name in options.programs:
            try:
                results[name] = compare(options, name, pathlib.Path(folder))
                print(row(name, results[name]), flush=True)
            except RuntimeError as error:
                failed.append(f"{name}: {error}")
                print(f"| {name} | failed |" + " |" * 8, flush=True)
    print("\n".join(["", *failed]) if failed else "")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(results, indent=1) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
