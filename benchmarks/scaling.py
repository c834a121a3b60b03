"""Compilation of programs of a thousand to a million instructions: does its time grow with their number alone?

    python3 benchmarks/scaling.py --hilo=build/bin/hilo --sizes=1000,10000,100000

prints a row for each size and shape: processor seconds of compiling on two threads, the same an instruction, and the peak of memory.
A program is a chain of element-wise instructions, each of which reads one of the last 8 values and one of the last 64.
`--write=FILE` writes the program of the first size and shape instead.
"""
import argparse
import os
import random
import subprocess
import sys
import tempfile

BINARY = ("add", "multiply", "subtract", "maximum")
UNARY = {0.05: "tanh", 0.10: "sine", 0.15: "negate"}  # by the upper end of their share
RESULTS = 8


def chain(instructions, shape, seed=1):
    """Returns HLO text: `instructions` element-wise instructions on arrays of `shape`, such as f32[8]."""
    choose = random.Random(seed)
    values = [f"p{i}" for i in range(4)]
    lines = ["HloModule chain", "ENTRY main {"]
    lines += [f"  p{i} = {shape} parameter({i})" for i in range(4)]
    for i in range(instructions):
        near, far = (values[-1 - choose.randrange(min(reach, len(values)))] for reach in (8, 64))
        share = choose.random()
        unary = next((opcode for end, opcode in UNARY.items() if share < end), None)
        operation = f"{unary}({near})" if unary else f"{choose.choice(BINARY)}({near}, {far})"
        lines.append(f"  v{i} = {shape} {operation}")
        values.append(f"v{i}")
    results = values[-RESULTS:]
    lines.append(f"  ROOT results = ({', '.join([shape] * len(results))}) tuple({', '.join(results)})")
    return "\n".join(lines + ["}"]) + "\n"


def measure(hilo, module):
    """Returns the processor seconds and the peak of memory, in bytes, of compiling a file."""
    with tempfile.TemporaryDirectory() as folder:
        command = [hilo, "compile", module, "-o", os.path.join(folder, "program"), "--threads=2"]
        process = subprocess.Popen(command, env={**os.environ, "HILO_CODE_CACHE_MB": "0"})
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: exit status {process.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def compile_chain(hilo, instructions, shape):
    """Returns what measure() returns for a chain."""
    with tempfile.NamedTemporaryFile("w", suffix=".hlo", encoding="utf-8") as file:
        file.write(chain(instructions, shape))
        file.flush()
        return measure(hilo, file.name)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hilo", default="build/bin/hilo")
    parser.add_argument("--sizes", default="1000,3000,10000,30000,100000")
    parser.add_argument("--shapes", default="f32[] f32[8]", help="separated by blanks")
    parser.add_argument("--write", help="write the program of the first size and shape to this file, and end")
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    shapes = options.shapes.split()
    if options.write:
        with open(options.write, "w", encoding="utf-8") as file:
            file.write(chain(sizes[0], shapes[0]))
        return
    print("| instructions | shape | processor s | ms an instruction | peak MB |\n|--:|---|--:|--:|--:|")
    for shape in shapes:
        for size in sizes:
            seconds, peak = compile_chain(options.hilo, size, shape)
            print(f"| {size:,} | {shape} | {seconds:.2f} | {1e3 * seconds / size:.3f} | {peak / 2**20:.0f} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
