"""Writes the test programs of this folder: for each, NAME.hlo (a module lowered by JAX) and NAME.npz (inputs and results).

    python tests/programs/generate.py            lowers everything again
    python tests/programs/generate.py --check    compiles every NAME.hlo with jaxlib and compares with NAME.npz

In NAME.npz arg0, arg1 ... are the parameters and out0, out1 ... the results, tuples flattened depth first; bfloat16 is
stored as raw |V2. The results are jaxlib's. Comments at the head of a module say how close another compiler must come:
"tolerance: f32 1e-5 relative" means |got - want| <= 1e-5 * (|want| + root mean square of the finite values of that
result), with NaN equal to NaN and infinities equal to themselves. Types without such a line are exact.

Needs JAX. The programs are in learning.py, dynamics.py, indexing.py and linear_algebra.py.
"""

import pathlib
import re
import sys

import jax
import jaxlib.xla_client as xla_client
import ml_dtypes
import numpy as np
from jaxlib import _hlo

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent.parent / "examples")]

import dynamics
import indexing
import learning
import linear_algebra
from hlo_text import lower

PROGRAMS = learning.PROGRAMS + dynamics.PROGRAMS + indexing.PROGRAMS + linear_algebra.PROGRAMS
TYPE_NAMES = {"float32": "f32", "float64": "f64", "bfloat16": "bf16", "complex64": "c64", "complex128": "c128"}


def run_text(text, arguments):
    """Compiles HLO text with jaxlib, runs it once, and returns its results."""
    module = _hlo.hlo_module_from_text(text)
    computation = _hlo.XlaComputation(module.as_serialized_hlo_module_proto())
    devices = jax.devices("cpu")[:1]
    executable = devices[0].client.compile_and_load(xla_client._xla.mlir.xla_computation_to_mlir_module(computation),
                                                    xla_client.DeviceList(tuple(devices)), xla_client.CompileOptions())
    with jax.enable_x64(True):
        placed = [jax.device_put(argument, devices[0]) for argument in arguments]
        results = executable.execute_sharded(placed).disassemble_into_single_device_arrays()
        return [np.asarray(result[0]) for result in results]


def error(got, want):
    """The error of an array, in the measure of the tolerance lines."""
    if got.shape != want.shape or got.dtype != want.dtype:
        return np.inf
    if want.dtype.name not in TYPE_NAMES:
        return 0.0 if np.array_equal(got, want) else np.inf
    kind = np.complex128 if want.dtype.kind == "c" else np.float64
    got, want = got.astype(kind), want.astype(kind)
    finite = np.isfinite(want)
    if not np.array_equal(got[~finite], want[~finite], equal_nan=True):
        return np.inf
    got, want = got[finite], want[finite]
    scale = np.abs(want) + np.sqrt(np.mean(np.abs(want) ** 2)) if want.size else 0.0
    difference = np.abs(got - want)
    return float(np.max(difference / np.where(scale > 0, scale, 1), initial=0))


def compare(results, wanted, text):
    """A line about the first result that is further off than the module's head allows, or None."""
    tolerances = {kind: float(value) for kind, value in re.findall(r"^// tolerance: (\w+) (\S+) relative$", text, re.M)}
    if len(results) != len(wanted):
        return f"{len(results)} results, expected {len(wanted)}"
    for index, (got, want) in enumerate(zip(results, wanted)):
        allowed = tolerances.get(TYPE_NAMES.get(want.dtype.name), 0.0)
        if not error(got, want) <= allowed:
            return f"out{index} is off by {error(got, want)}, allowed {allowed}"
    return None


def flat_arguments(program):
    return [np.asarray(leaf) for leaf in jax.tree.leaves(program.arguments)]


def generate(program):
    head = [program.what, "Written by tests/programs/generate.py.", *(f"tolerance: {line}" for line in program.tolerance)]
    with jax.enable_x64(program.x64):
        text = lower(program.function, *program.arguments, form=program.form, head=head)
        direct = [np.asarray(leaf) for leaf in jax.tree.leaves(jax.jit(program.function)(*program.arguments))]
    arguments = flat_arguments(program)
    results = run_text(text, arguments)
    wrong = compare(results, direct, text)
    if wrong:
        raise SystemExit(f"{program.name}: the text gives other results than the function: {wrong}")
    (HERE / f"{program.name}.hlo").write_text(text)
    arrays = {f"arg{i}": a for i, a in enumerate(arguments)} | {f"out{i}": a for i, a in enumerate(results)}
    np.savez_compressed(HERE / f"{program.name}.npz", **arrays)
    print(f"{program.name}: {text.count(' = ')} instructions, {len(arguments)} parameters, {len(results)} results")


def check(path):
    """Runs a stored module on its stored inputs; returns a line about what is wrong, or None."""
    with np.load(path.with_suffix(".npz")) as stored:
        arrays = {name: stored[name].view(ml_dtypes.bfloat16) if stored[name].dtype == "V2" else stored[name] for name in stored.files}
    numbered = lambda kind: [arrays[f"{kind}{i}"] for i in range(sum(name.startswith(kind) for name in arrays))]
    text = path.read_text()
    wrong = compare(run_text(text, numbered("arg")), numbered("out"), text)
    return wrong and f"{path.name}: {wrong}"


def main(arguments):
    if arguments == ["--check"]:
        paths = sorted(HERE.glob("*.hlo"))
        wrong = [line for line in map(check, paths) if line]
        print("\n".join(wrong + [f"{len(paths) - len(wrong)} passed, {len(wrong)} failed"]))
        return 1 if wrong or not paths else 0
    if arguments:
        raise SystemExit("usage: generate.py [--check]")
    for program in PROGRAMS:
        generate(program)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
