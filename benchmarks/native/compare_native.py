"""Times loops of small things on Hilo beside the same loops written by hand in C++ (native.cc, -O3 -march=native), alternately.

    python benchmarks/native/compare_native.py [PROGRAM...] [--page docs/benchmarks.md]

Needs JAX, which lowers native_programs.py. Both sides run on one thread, Hilo by `hilo bench`; a time is the least of a call, in microseconds, with
inputs in place. Results must agree. A ratio is Hilo's time over that of C++: below 1 Hilo is faster.
"""

import argparse
import datetime
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(HERE.parent)]
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import numpy as np

import report
from native_programs import PROGRAMS


def run(*command):
    return subprocess.run([str(part) for part in command], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout


def compare(options, native, name, folder):
    """(Hilo's least time, that of C++)"""
    function, arguments = PROGRAMS[name](np.random.default_rng(0))
    module, inputs, outputs = folder / f"{name}.mlir", folder / f"{name}.npz", folder / f"{name}_out.npz"
    module.write_text(jax.jit(function).lower(*arguments).as_text())
    np.savez(inputs, **{f"arg{i}": argument for i, argument in enumerate(arguments)})
    raw, results = folder / f"{name}.in", folder / f"{name}.out"
    raw.write_bytes(b"".join(np.ascontiguousarray(argument).tobytes() for argument in arguments))
    hilo, cxx = [], []
    for _ in range(options.rounds):
        line = run(options.hilo, "bench", module, f"--inputs={inputs}", "--threads=1", "--no-roofs", "--json")
        hilo.append(1e3 * json.loads(line)["run_ms"]["min"])
        cxx.append(float(run(native, name, raw, results, options.seconds)))
    run(options.hilo, "run", module, f"--inputs={inputs}", "--threads=1", f"--outputs={outputs}")
    check(name, outputs, results)
    return min(hilo), min(cxx)


def check(name, outputs, results):
    """Raises an error if the results differ by more than rounding."""
    content, offset = results.read_bytes(), 0
    with np.load(outputs) as arrays:
        for i in range(len(arrays.files)):
            ours = arrays[f"out{i}"]
            theirs = np.frombuffer(content, ours.dtype, max(ours.size, 1), offset).reshape(ours.shape)
            offset += theirs.nbytes
            # Integers may count what rounding decides, in a few of many places.
            exact = ours.dtype.kind in "iu"
            wrong = ours != theirs if exact else ~(np.abs(ours - theirs) <= 2e-3 * (1 + np.abs(theirs)))
            if np.sum(wrong) > (0.01 * ours.size if exact else 0):
                raise ValueError(f"{name}: result {i} is {ours.ravel()[:4]} on Hilo, {theirs.ravel()[:4]} in C++")
    if offset != len(content):
        raise ValueError(f"{name}: results of {offset} bytes on Hilo, of {len(content)} in C++")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("programs", nargs="*", default=list(PROGRAMS), help="names; all by default")
    parser.add_argument("--hilo", default=ROOT / "build" / "bin" / "hilo", help="the program hilo")
    parser.add_argument("--compiler", default="c++", help="the C++ compiler")
    parser.add_argument("--rounds", type=int, default=3, help="how often each side runs, 3 by default")
    parser.add_argument("--seconds", type=float, default=0.5, help="how long C++ runs each time, 0.5 by default; Hilo runs for a second")
    parser.add_argument("--page", help="also write the table to this page (docs/benchmarks.md)")
    options = parser.parse_args()
    lines = ["| program | | Hilo, us | C++, us | Hilo over C++ |", "|---|---|--:|--:|--:|"]
    with tempfile.TemporaryDirectory() as folder:
        native = pathlib.Path(folder) / "native"
        flags = ["-std=c++20", "-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math"]
        run(options.compiler, *flags, HERE / "native.cc", "-o", native)
        ratios = []
        for name in options.programs:
            hilo, cxx = compare(options, native, name, pathlib.Path(folder))
            ratios.append(hilo / cxx)
            summary = (PROGRAMS[name].__doc__ or "").rstrip(".")
            lines.append(f"| {name} | {summary} | {report.number(hilo)} | {report.number(cxx)} | {hilo / cxx:.2f} |")
            print(lines[-1], file=sys.stderr, flush=True)
    lines.append(f"| geometric mean | | | | {report.geometric_mean(ratios):.2f} |")
    version = run(options.compiler, "--version").splitlines()[0]
    text = (f"{datetime.date.today()}, one thread; {version}, {' '.join(flags[1:])}; least of {options.rounds} alternating runs; below 1 Hilo is faster\n\n"
            + "\n".join(lines))
    print(text)
    if options.page:
        report.write_section(options.page, "native", text)


if __name__ == "__main__":
    main()
