"""Shardings beside those of jaxlib on 8 devices: sharding_test.py LIBPJRT_HILO [--every=N] [--table] [NAME...]

Compiles every Nth (6th) of the programs of sharded_programs.py, or those whose names contain one of NAME, on Hilo and on jaxlib's CPU. Values, shardings of arguments and shardings of results must be
the same, and Hilo must not exchange more bytes, but for the programs listed in MORE_BYTES. --table prints all programs that differ, the worst first. Without JAX it says so and passes.
"""

import importlib.util
import math
import os
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
# What takes more bytes than in XLA; one that does not any more must leave the list.
MORE_BYTES = set("""
uneven_tail uneven_norm
""".split())
SIZES = {"pred": 1, "s8": 1, "u8": 1, "bf16": 2, "f16": 2, "s16": 2, "u16": 2, "f32": 4, "s32": 4, "u32": 4, "f64": 8, "s64": 8, "u64": 8, "c64": 8, "c128": 16}
COLLECTIVES = {"all-gather": lambda size, n: size * (n - 1) / n, "all-reduce": lambda size, n: 2 * size * (n - 1) / n, "reduce-scatter": lambda size, n: size * (n - 1),
               "all-to-all": lambda size, n: size * (n - 1) / n, "collective-broadcast": lambda size, n: size}


def bytes_of(shape):
    return sum(SIZES[kind] * math.prod(int(d) for d in sizes.split(",") if d) for kind, sizes in re.findall(r"\b([a-z]+\d*)\[([\d,]*)\]", shape))


def group_size(line):
    if groups := re.search(r"replica_groups=\{\{([\d,]+)\}", line):
        return groups[1].count(",") + 1
    if groups := re.search(r"replica_groups=\[\d+,(\d+)\]", line):
        return int(groups[1])
    if groups := re.search(r"replica_groups=mesh\[([^\]]*)\]\s*\{([^}]*)\}", line):  # of axes and parts of axes: 'x':(1)2
        sizes = dict(re.findall(r"'([^']+)'=(\d+)", groups[1]))
        return math.prod(int(part or sizes[axis]) for axis, part in re.findall(r"(\w+)'?(?::\(\d+\)(\d+))?", groups[2]))
    return 8


def traffic(text):
    """Bytes that a device receives: a loop makes four iterations, and of branches the most expensive one is taken."""
    computations, name, entry = {}, None, None
    for line in text.splitlines():
        if head := re.match(r"(ENTRY )?%?([\w.\-]+) .*\{\s*$", line):
            name = head[2]
            computations[name] = []
            entry = name if head[1] else entry
        elif name is not None:
            computations[name].append(line)
    known = {}

    def of(computation):
        if computation not in known:
            known[computation] = 0
            known[computation] = sum(map(of_line, computations.get(computation, ())))
        return known[computation]

    def of_line(line):
        op = re.match(r"\s*(?:ROOT )?%?[\w.\-]+ = (.*?) ([\w\-]+)\(", re.sub(r"/\*.*?\*/", "", line))
        if op is None:
            return 0
        if op[2] in COLLECTIVES:
            return COLLECTIVES[op[2]](bytes_of(op[1]), group_size(line))
        if op[2] == "collective-permute":
            pairs = re.search(r"source_target_pairs=\{(.*?)\}\}", line)[1]
            return bytes_of(op[1]) * sum(source != target for source, target in re.findall(r"(\d+),(\d+)", pairs)) / 8
        assert not re.match("(all|reduce-scatter|collective).*-start", op[2]), line
        called = re.findall(r"(?:to_apply|calls|body|condition|true_computation|false_computation)=%?([\w.\-]+)", line)
        called += re.findall(r"[\w.\-]+", (re.search(r"branch_computations=\{(.*?)\}", line) or ["", ""])[1])
        if op[2] == "while":
            return 4 * sum(map(of, called))
        if op[2] == "conditional":
            return max(map(of, called))
        return sum(map(of, called)) if op[2] in ("call", "fusion") else 0

    return of(entry)


def measure(platform, mesh, make, arguments):
    import jax
    import numpy as np
    from jax.sharding import Mesh, NamedSharding
    from sharded_programs import MESHES, NAMES

    mesh = Mesh(np.array(jax.devices(platform)).reshape(MESHES[mesh]), tuple(NAMES[: len(MESHES[mesh])]))
    random = np.random.default_rng(len(arguments))
    values = [random.integers(0, 3, shape).astype(kind) if kind[0] == "i" else (random.normal(size=shape) * 0.5).astype(kind) for shape, kind, _ in arguments]
    shardings = tuple(None if spec is None else NamedSharding(mesh, spec) for _, _, spec in arguments)
    function = jax.jit(make(mesh), in_shardings=shardings, keep_unused=True)
    compiled = function.lower(*[jax.ShapeDtypeStruct(value.shape, value.dtype) for value in values]).compile()
    given = [jax.device_put(value, sharding) for value, sharding in zip(values, jax.tree.leaves(compiled.input_shardings[0]))]
    results = jax.tree.leaves(compiled(*given))
    tiles = lambda array: [tuple((index.start or 0, size if index.stop is None else index.stop) for index, size in zip(indices, array.shape))
                           for _, indices in sorted(array.sharding.devices_indices_map(array.shape).items(), key=lambda item: item[0].id)]
    specs = [str(getattr(array.sharding, "spec", array.sharding)) for array in given + results]
    return [np.asarray(result) for result in results], [tiles(array) for array in given], [tiles(array) for array in results], traffic(compiled.as_text()), specs


def main():
    if importlib.util.find_spec("jax") is None:
        print("skipped: this Python has no jax")
        return 0
    options = [argument for argument in sys.argv[2:] if argument.startswith("--")]
    wanted = [argument for argument in sys.argv[2:] if not argument.startswith("--")]
    every = next((int(option[8:]) for option in options if option.startswith("--every=")), 1 if wanted else 6)
    os.environ |= {"HILO_PJRT_LIBRARY": sys.argv[1], "HILO_NUM_DEVICES": "8", "JAX_PLATFORMS": "hilo,cpu", "XLA_FLAGS": "--xla_force_host_platform_device_count=8", "TF_CPP_MIN_LOG_LEVEL": "3"}
    os.environ.setdefault("HILO_LOG_LEVEL", "error")
    sys.path[:0] = [str(HERE), str(HERE.parents[1] / "python")]
    import numpy as np
    from sharded_programs import PROGRAMS

    rows, ratios, failed, counts = [], [], [], dict(programs=0, values=0, arguments=0, results=0, bytes=0)
    names = [name for name in PROGRAMS if not wanted or any(part in name for part in wanted)][::every]
    for number, name in enumerate(names):
        if number % 50 == 49:
            print(f"{number} of {len(names)} programs, {len(failed)} failed", flush=True)
        ours, theirs = (measure(platform, *PROGRAMS[name]) for platform in ("hilo", "cpu"))
        close = lambda u, v: np.allclose(u, v, rtol=2e-3, atol=2e-5 * (1 + np.nanmax(np.abs(np.nan_to_num(v, posinf=0, neginf=0)), initial=0)), equal_nan=True)
        rough = lambda u, v: np.allclose(u, v, rtol=3e-2, atol=2e-2)  # products of bfloat16
        same = dict(values=all(map(rough if name == "bf16" else close, ours[0], theirs[0])), arguments=ours[1] == theirs[1], results=ours[2] == theirs[2], bytes=ours[3] <= theirs[3] * 1.0001)
        counts = {key: count + same.get(key, True) for key, count in counts.items()}
        ratios.append(math.log((ours[3] + 64) / (theirs[3] + 64)))
        wrong = [key for key, right in same.items() if not right]
        if wrong:
            rows.append((-len([key for key in wrong if key != "bytes"]), -ratios[-1], f"{name}: {', '.join(wrong)}: {ours[3]:.0f} bytes for {theirs[3]:.0f}; {ours[4]} for {theirs[4]}"))
        if [key for key in wrong if key != "bytes"] or same["bytes"] == (name in MORE_BYTES):
            failed.append(f"FAILED {name}: expected the same as in XLA, got other {', '.join(wrong)}" if wrong else f"FAILED {name}: takes no more bytes than in XLA, and is in MORE_BYTES")
    for *_, row in sorted(rows) if "--table" in options else ():
        print(row)
    print(*failed, sep="\n", end="\n" if failed else "")
    print(f"{len(names)} programs: the same values in {counts['values']}, shardings of arguments in {counts['arguments']}, of results in {counts['results']}, no more bytes in {counts['bytes']}; "
          f"geometric mean of bytes against XLA {math.exp(sum(ratios) / len(ratios)):.3f}")
    return 1 if failed else 0


sys.exit(main())
