"""Runs a pipeline over a ring of four replicas (ring.hlo), and compares what comes out with NumPy.

    python examples/replicas/ring.py build/bin/hilo [PROCESSES]

With PROCESSES (2 or 4) the replicas are spread over that many processes of `hilo launch`. ring.npz, the inputs, weights and NumPy's results, is
written by `ring.py --write`.
"""

import pathlib
import subprocess
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
STAGES = 4


def write():
    generator = np.random.default_rng(0)
    inputs = generator.normal(size=(8, 16)).astype(np.float32)
    arrays, results = {"arg0": inputs}, inputs
    for stage in range(STAGES):
        weights = generator.normal(0, 0.4, (16, 16)).astype(np.float32)
        arrays[f"arg1_r{stage}"] = weights
        results = np.tanh(results @ weights)
    arrays.update({f"out0_r{stage}": results for stage in range(STAGES)})
    np.savez(HERE / "ring.npz", **arrays)


def run(hilo, processes):
    with tempfile.TemporaryDirectory() as folder:
        command = [hilo, "run", HERE / "ring.hlo", f"--replicas={STAGES}", f"--inputs={HERE / 'ring.npz'}", f"--outputs={folder}/out.npz"]
        if processes > 1:
            command = [hilo, "launch", "-n", str(processes), "--"] + command
        subprocess.run(command, check=True)
        # Each process writes what its own replicas have.
        results = np.load(f"{folder}/out_p0.npz" if processes > 1 else f"{folder}/out.npz")["out0_r0"]
    difference = np.abs(results - np.load(HERE / "ring.npz")["out0_r0"]).max()
    print(f"8 inputs through {STAGES} stages on {processes} process(es): largest difference from NumPy {difference:.2g}")
    if not difference < 1e-5:
        sys.exit("the pipeline computed something else")


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        write()
    elif len(sys.argv) in (2, 3):
        run(sys.argv[1], int(sys.argv[2]) if len(sys.argv) == 3 else 1)
    else:
        sys.exit(__doc__)
