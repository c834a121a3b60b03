"""What `hilo bench` prints and writes: bench_test.py HILO DIGITS, the program and the folder of the digits example."""

import json
import pathlib
import subprocess
import sys
import tempfile
import xml.dom.minidom

HILO, DIGITS = sys.argv[1], pathlib.Path(sys.argv[2])


def bench(*arguments):
    return subprocess.run([HILO, "bench", *map(str, arguments)], capture_output=True, text=True)


def check(condition, what):
    if not condition:
        sys.exit(f"failed: {what}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        page, google = pathlib.Path(folder, "b.html"), pathlib.Path(folder, "b.json")
        done = bench(DIGITS / "forward.hlo", DIGITS / "train_step.hlo", "--platform=cpu,interpreter", "--iterations=7", "--json", f"--plot={page}",
                     f"--benchmark-out={google}")
        check(done.returncode == 0, done.stderr)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        check([(r["module"], r["platform"]) for r in rows] == [("jit_logits", "cpu"), ("jit_logits", "interpreter"), ("jit_train_step", "cpu"),
                                                               ("jit_train_step", "interpreter")], "a row a program and platform")
        for row in rows:
            run = row["run_ms"]
            check(0 < run["min"] <= run["median"] <= run["p90"] <= run["p99"], f"quantiles are in order: {run}")
            check(row["iterations"] == 7 and row["compile_ms"] > 0, "iterations and compilation")
            check(row["to_device_ms"] > 0 and row["from_device_ms"] > 0, "transfers")
            check((row["of_roof"] is not None) == (row["platform"] == "cpu"), "roofs of the CPU alone")
        forward = rows[0]
        # Images, and weights and biases of three layers; logits. A product of m x k and k x n is 2 m k n operations.
        check(forward["argument_bytes"] == 4 * (64 * 64 + 64 * 96 + 96 + 96 * 48 + 48 + 48 * 10 + 10), "bytes of arguments")
        check(forward["result_bytes"] == 4 * 64 * 10, "bytes of results")
        products = 2 * 64 * (64 * 96 + 96 * 48 + 48 * 10)
        check(products <= forward["flops"] < 1.1 * products, f"operations: {forward['flops']} of {products}")
        rate = forward["flops"] / forward["run_ms"]["median"] * 1e-6
        check(abs(forward["gflop_per_s"] / rate - 1) < 1e-3, "operations a second")

        names = [b["name"] for b in json.loads(google.read_text())["benchmarks"]]
        check("jit_logits/cpu" in names and "jit_train_step/interpreter_median" in names, f"Google Benchmark's names: {names}")
        text = page.read_text()
        check("http" not in text.replace("http://www.w3.org/2000/svg", ""), "the page needs no network")
        begin = 0
        for _ in range(2):
            begin = text.index("<svg", begin + 1)
            xml.dom.minidom.parseString(text[begin : text.index("</svg>", begin) + 6])

    emulated = bench(DIGITS / "forward.hlo", "--platform=interpreter,cuda", "--iterations=2", "--json")
    rows = [json.loads(line) for line in emulated.stdout.splitlines()]
    check(emulated.returncode == 0 and len(rows) == 2, emulated.stderr)
    if rows[1]["platform"] == "cuda-emulated":  # there is no GPU
        check("is measured instead" in emulated.stderr, f"an emulated device is called so: {emulated.stderr}")
        counted = [k for k in rows[1]["kernels"] if "bytes=" in k]
        check(counted and all("sectors=" in k and "sector_ratio=" in k for k in counted), f"sectors: {rows[1]['kernels']}")
    emulated = bench(DIGITS / "forward.hlo", "--platform=cuda-emulated", "--iterations=2")
    check(emulated.returncode == 0 and "say nothing of a GPU" in emulated.stdout, f"an emulated device is called so: {emulated.stdout}{emulated.stderr}")
    for arguments, words in (
        ([], "expected a module file"),
        ([DIGITS / "forward.hlo", DIGITS / "train_step.hlo", "--input=random"], "are for one module, and 2 are given"),
        ([DIGITS / "forward.hlo", "--platform=tpu"], "tpu"),
        ([DIGITS / "forward.hlo", "--iterations=0"], "iterations"),
        ([DIGITS / "missing.hlo"], "cannot open"),
    ):
        done = bench(*arguments)
        check(done.returncode == 2 and words in done.stderr, f"{arguments}: {done.returncode} {done.stderr}")


main()
