"""Compares the compiler's estimates with measured times: cost_model_test.py HILO [SANITIZERS].

Each program is one operation, or a few that fuse, on one thread. The ranks of the estimates and of the least times must correlate; a factor that is wrong for all programs
does not matter, as decisions compare estimates with each other.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

LEAST_CORRELATION = 0.9
ADD = "add { a = %s[] parameter(0)  b = %s[] parameter(1)  ROOT c = %s[] add(a, b) }\n"
LESS = "less { a = %s[] parameter(0)  b = %s[] parameter(1)  ROOT c = pred[] compare(a, b), direction=LT }\n"


def programs():
    """Yields (name, text) of each program."""
    for n in (10_000, 300_000):
        for t in ("f32", "f64"):
            x, y = f"x = {t}[{n}] parameter(0)", f"y = {t}[{n}] parameter(1)"
            for op in ("negate", "exponential", "log", "sine", "tanh", "sqrt", "cbrt", "erf", "tan"):
                yield f"{op} {t} {n}", f"ENTRY main {{ {x}  ROOT r = {t}[{n}] {op}(x) }}"
            for op in ("add", "multiply", "divide", "power", "atan2", "remainder"):
                yield f"{op} {t} {n}", f"ENTRY main {{ {x}  {y}  ROOT r = {t}[{n}] {op}(x, y) }}"
            yield f"sum {t} {n}", ADD % (t, t, t) + f"ENTRY main {{ {x}  z = {t}[] constant(0)  ROOT r = {t}[] reduce(x, z), dimensions={{0}}, to_apply=add }}"
            yield f"sort {t} {n}", LESS % (t, t) + f"ENTRY main {{ {x}  ROOT r = {t}[{n}] sort(x), dimensions={{0}}, to_apply=less }}"
            yield (f"dynamic-slice {t} {n}",
                   f"ENTRY main {{ {x}  i = s32[] parameter(1)  ROOT r = {t}[8] dynamic-slice(x, i), dynamic_slice_sizes={{8}} }}")
            yield (f"gather {t} {n}", f"ENTRY main {{ {x}  i = s32[{n},1] parameter(1)  ROOT r = {t}[{n}] gather(x, i), offset_dims={{}}, "
                   "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1} }")
            yield f"chain {t} {n}", f"ENTRY main {{ {x}  {y}  a = {t}[{n}] sine(x)  b = {t}[{n}] exponential(y)  c = {t}[{n}] multiply(a, b)  ROOT r = {t}[{n}] add(c, x) }}"
        for t in ("s32", "bf16"):
            yield f"add {t} {n}", f"ENTRY main {{ x = {t}[{n}] parameter(0)  y = {t}[{n}] parameter(1)  ROOT r = {t}[{n}] add(x, y) }}"
            yield f"divide {t} {n}", f"ENTRY main {{ x = {t}[{n}] parameter(0)  y = {t}[{n}] parameter(1)  ROOT r = {t}[{n}] divide(x, y) }}"
    for n in (32, 128, 384):
        for t in ("f32", "f64"):
            x, y = f"x = {t}[{n},{n}] parameter(0)", f"y = {t}[{n},{n}] parameter(1)"
            yield f"dot {t} {n}", f"ENTRY main {{ {x}  {y}  ROOT r = {t}[{n},{n}] dot(x, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}} }}"
            yield f"transpose {t} {n}", f"ENTRY main {{ {x}  ROOT r = {t}[{n},{n}] transpose(x), dimensions={{1,0}} }}"
            yield (f"sums {t} {n}",
                   ADD % (t, t, t) + f"ENTRY main {{ {x}  z = {t}[] constant(0)  ROOT r = {t}[{n}] reduce(x, z), dimensions={{1}}, to_apply=add }}")


def ranks(numbers):
    """The rank of each number, equal ones sharing their mean."""
    order = sorted(range(len(numbers)), key=lambda i: numbers[i])
    result = [0.0] * len(numbers)
    begin = 0
    while begin < len(order):
        end = begin
        while end < len(order) and numbers[order[end]] == numbers[order[begin]]:
            end += 1
        for i in order[begin:end]:
            result[i] = (begin + end - 1) / 2
        begin = end
    return result


def correlation(a, b):
    mean_a, mean_b = sum(a) / len(a), sum(b) / len(b)
    covariance = sum((x - mean_a) * (y - mean_b) for x, y in zip(a, b))
    return covariance / (sum((x - mean_a) ** 2 for x in a) * sum((y - mean_b) ** 2 for y in b)) ** 0.5


def main():
    hilo = sys.argv[1]
    if len(sys.argv) > 2:
        print("not measured: a sanitizer would be all that it measures")
        return
    names = []
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for name, text in programs():
            names.append(name)
            files.append(pathlib.Path(folder, f"p{len(files)}.hlo"))
            files[-1].write_text(f"HloModule p{len(names)}\n{text}\n")
        done = subprocess.run([hilo, "bench", *map(str, files), "--threads=1", "--iterations=15", "--json"], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    estimated, measured = [row["estimated_ms"] for row in rows], [row["run_ms"]["min"] for row in rows]
    rank = correlation(ranks(estimated), ranks(measured))
    print(f"{len(rows)} programs, rank correlation {rank:.3f}")
    for ratio, name, estimate, time in sorted((e / m, n, e, m) for n, e, m in zip(names, estimated, measured)):
        print(f"  {name:28s} estimated {1000 * estimate:10.2f} us, measured {1000 * time:10.2f}: {ratio:.2f}")
    if rank < LEAST_CORRELATION:
        sys.exit(f"failed: the rank correlation is {rank:.3f}, expected at least {LEAST_CORRELATION}")


main()
