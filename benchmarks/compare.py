"""Times Hilo against any number of jaxlibs, alternately, and prints, keeps and judges the table.

    python benchmarks/compare.py SUITE [PROGRAM...] --hilo-python VENV/bin/python \\
        --rival "jaxlib 0.12.0.1=VENV/bin/python" --rival "0.6.2 without thunks=OLD/bin/python,XLA_FLAGS=--xla_cpu_use_thunk_runtime=false"

Suites: "hlo", modules of HLO text that each side compiles as they are (Hilo by `hilo bench`); "calls" and "workloads", programs of JAX
(benchmarks/suites), where Hilo runs through its plugin in --hilo-python; "devices", such programs on eight devices of one process;
"packages", such programs of packages from PyPI, of which those that are not installed are left out, with a second table of peaks of memory
and of the largest difference of results, relative to the largest element.

Machines are noisy and drift, so each program is loaded on all sides, which then run alternately, --rounds times for --seconds each, every side in a process of its own. A time is that of one call with inputs in place;
the ratios are of the least times, a rival's over Hilo's: above 1 Hilo is faster. Compilations have no cache, and are never the
first of their process.

--page writes the table and a chart into a page of docs; --gate ends with 1 if a row is below 1 that benchmarks/behind.txt does not explain.
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
ROOT = HERE.parent
sys.path.insert(0, str(HERE))

import report

SUITES = ("hlo", "calls", "workloads", "devices", "packages")
EIGHT_DEVICES = "--xla_force_host_platform_device_count=8"
WITHOUT_CACHE = {"HILO_CODE_CACHE_MB": "0"}  # a program's second compilation in a process would otherwise find its code


class Failed(Exception):
    pass


class Missing(Exception):
    """A program's package is not installed."""


class WorkerSide:
    """benchmarks/worker.py in a Python with JAX."""

    def __init__(self, options, python, environment):
        self._start = lambda: subprocess.Popen([python, str(HERE / "worker.py"), options.suite], env={**os.environ, **environment}, text=True,
                                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL if options.quiet else None,
                                               preexec_fn=options.bind)
        self._process = self._start()

    def _ask(self, command):
        try:
            print(json.dumps(command), file=self._process.stdin, flush=True)
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            code = self._process.wait()
            self._process = self._start()
            raise Failed(f"the process ended with code {code}")
        answer = json.loads(line)
        if "missing" in answer:
            raise Missing(answer["missing"])
        if "error" in answer:
            raise Failed(answer["error"])
        return answer

    def load(self, name, module, inputs):
        return self._ask({"load": name, "module": str(module), "inputs": str(inputs)})

    def run(self, seconds):
        return self._ask({"seconds": seconds})["us"]

    def save(self, path):
        self._ask({"save": str(path)})

    def close(self):
        self._process.stdin.close()
        self._process.wait()


class ToolSide:
    """`hilo bench` on HLO text."""

    def __init__(self, options):
        self._options = options

    def _call(self, *arguments):
        command = [self._options.hilo, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, preexec_fn=self._options.bind, env={**os.environ, **WITHOUT_CACHE})
        if done.returncode != 0:
            raise Failed(done.stderr.strip()[-300:])
        return done.stdout

    def _run_ms(self, iterations):
        return json.loads(self._call("bench", self._module, f"--inputs={self._inputs}", f"--iterations={iterations}", "--no-roofs", "--json"))["run_ms"]

    def load(self, name, module, inputs):
        self._module, self._inputs = str(module), inputs
        self._us = max(1e3 * self._run_ms(3)["median"], 0.1)
        twice = self._call("bench", self._module, self._module, "--iterations=1", "--no-roofs", "--json")
        return {"compile_ms": json.loads(twice.splitlines()[-1])["compile_ms"]}

    def run(self, seconds):
        times = self._run_ms(int(min(max(seconds * 1e6 / self._us, 3), 100000)))
        return {"min": 1e3 * times["min"], "median": 1e3 * times["median"]}

    def save(self, path):
        self._call("run", self._module, f"--inputs={self._inputs}", f"--outputs={path}")

    def close(self):
        pass


def make_sides(options):
    if options.suite == "hlo":
        sides = {"Hilo": ToolSide(options)}
    else:
        environment = {"JAX_PLATFORMS": "hilo,cpu", **WITHOUT_CACHE}
        if options.suite == "packages":
            environment["HILO_PLATFORM_NAME"] = "cpu"  # Brax and MJX refuse platforms that they do not know
        if options.suite == "devices":
            environment["XLA_FLAGS"] = EIGHT_DEVICES
        if options.plugin:
            environment["HILO_PJRT_LIBRARY"] = options.plugin
        sides = {"Hilo": WorkerSide(options, options.hilo_python, environment)}
    for name, python, environment in options.rivals:
        if options.suite == "devices":
            environment = {**environment, "XLA_FLAGS": f"{environment.get('XLA_FLAGS', '')} {EIGHT_DEVICES}"}
        sides[name] = WorkerSide(options, python, {"JAX_PLATFORMS": "cpu", **environment})
    return sides


def compare(options, sides, name, folder):
    """Times one program on all sides; a side that fails has its error and the others go on."""
    module, inputs = None, folder / f"{name}.npz"
    if options.suite == "hlo":
        from inputs import module_path, write_inputs
        module = module_path(name)
        write_inputs(name, inputs)
    results, times = {}, {}

    def attempt(side, action):
        if "error" in results.get(side, {}):
            return None
        try:
            return action()
        except Failed as error:
            results[side] = {"error": str(error)}
            return None

    for side, worker in sides.items():
        loaded = attempt(side, lambda: worker.load(name, module, inputs))
        results.setdefault(side, loaded)
        times[side] = []
    for _ in range(options.rounds):
        for side, worker in sides.items():
            taken = attempt(side, lambda: worker.run(options.seconds))
            if taken is not None:
                times[side].append(taken)
    for side, taken in times.items():
        if "error" not in results[side]:
            results[side]["min"] = min(one["min"] for one in taken)
            results[side]["median"] = sorted(one["median"] for one in taken)[len(taken) // 2]
    inputs.unlink(missing_ok=True)
    if options.suite == "packages":
        compare_results(sides, results, attempt, folder)
    return {"program": name, "sides": results}


def compare_results(sides, results, attempt, folder):
    """Adds to each rival's results "difference", the largest between its results and Hilo's, relative to the array's largest element."""
    for side, worker in sides.items():
        attempt(side, lambda: worker.save(folder / f"{side}.npz"))
    if "error" in results["Hilo"]:
        return
    for side in sides:
        if side != "Hilo" and "error" not in results[side]:
            results[side]["difference"] = report.difference(folder / "Hilo.npz", folder / f"{side}.npz")


def parse_rival(text):
    name, equals, rest = text.partition("=")
    python, *variables = rest.split(",")
    if not equals or not python or any("=" not in variable for variable in variables):
        raise argparse.ArgumentTypeError(f"expected NAME=PYTHON[,VARIABLE=VALUE...], got {text}")
    return name, python, dict(variable.split("=", 1) for variable in variables)


def programs_of(options):
    """The names of the suite's programs, of which those of JAX are read from the source: this Python may lack JAX."""
    if options.suite == "hlo":
        from inputs import INPUTS
        return list(INPUTS)
    if options.suite == "packages":
        import numpy  # noqa: F401, with which the results are compared
    lines = [line for path in sorted((HERE / "suites").glob(f"{options.suite}*.py")) for line in path.read_text().splitlines()]
    return [line.split("(")[0].removeprefix("def ") for above, line in zip(lines, lines[1:]) if above == "@program"]


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], epilog="\n".join(__doc__.split("\n")[1:]),
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", choices=SUITES)
    parser.add_argument("programs", nargs="*", help="names; all by default")
    parser.add_argument("--hilo", default=str(ROOT / "build" / "bin" / "hilo"), help="the program hilo")
    parser.add_argument("--hilo-python", default=sys.executable, help="a Python with JAX, in which Hilo's plugin runs; this one by default")
    parser.add_argument("--plugin", default=str(ROOT / "build" / "lib" / "libpjrt_hilo.so"), help="the plugin")
    parser.add_argument("--rival", dest="rivals", action="append", type=parse_rival, default=[], metavar="NAME=PYTHON[,VARIABLE=VALUE...]",
                        help="a Python with JAX; repeat it for several")
    parser.add_argument("--threads", type=int, help="CPUs for each side; all by default")
    parser.add_argument("--rounds", type=int, default=5, help="how often each side runs, 5 by default")
    parser.add_argument("--seconds", type=float, default=0.2, help="how long it runs each time, 0.2 by default")
    parser.add_argument("--json", help="also write the numbers to this file")
    parser.add_argument("--page", help="also write table and chart to this page (docs/benchmarks.md)")
    parser.add_argument("--gate", action="store_true", help="end with 1 if Hilo is behind in a row without a reason in benchmarks/behind.txt")
    parser.add_argument("--quiet", action="store_true", help="leave out what the workers write to standard error")
    options = parser.parse_args()
    if not options.rivals:
        parser.error("no --rival")
    try:
        existing = programs_of(options)
    except ModuleNotFoundError as error:
        parser.error(f"the suite {options.suite} needs {error.name}, which {sys.executable} lacks: start this with a Python that has it")
    unknown = [name for name in options.programs if name not in existing]
    if unknown:
        parser.error(f"no program {', '.join(unknown)} in {options.suite}; there are {', '.join(existing)}")
    options.programs = options.programs or existing
    cpus = sorted(os.sched_getaffinity(0))
    if options.threads and not 1 <= options.threads <= len(cpus):
        parser.error(f"--threads={options.threads}: there are {len(cpus)} CPUs")
    options.cpus = cpus[: options.threads] if options.threads else cpus
    options.bind = lambda: os.sched_setaffinity(0, options.cpus)
    return options


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return "an unknown processor"


def main():
    options = parse_options()
    rivals = [name for name, _, _ in options.rivals]
    title = (f"{datetime.date.today()}, {len(options.cpus)} threads of {processor()}; {options.rounds} times {options.seconds} s a side, alternately; "
             "least / median; ratios of the least times, above 1 Hilo is faster")
    results = []
    sides = make_sides(options)
    with tempfile.TemporaryDirectory(prefix="hilo_bench_") as folder:
        for number, name in enumerate(options.programs, 1):
            try:
                results.append(compare(options, sides, name, pathlib.Path(folder)))
            except Missing as package:
                print(f"[{number}/{len(options.programs)}] {name} is left out: there is no {package}", file=sys.stderr, flush=True)
                continue
            print(f"[{number}/{len(options.programs)}] {report.table(results[-1:], rivals).splitlines()[2]}", file=sys.stderr, flush=True)
    for side in sides.values():
        side.close()
    text = f"{title}\n\n{report.table(results, rivals)}"
    if options.suite == "packages":
        text += f"\n\n{report.results_table(results, rivals)}"
    print(text)
    for result in results:
        for side, times in result["sides"].items():
            if "error" in times:
                print(f"{result['program']} on {side}: {times['error']}", file=sys.stderr)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps({"title": title, "rivals": rivals, "results": results}, indent=1) + "\n")
    if options.page:
        page = pathlib.Path(options.page)
        picture = page.with_name(f"{page.stem}_{options.suite}.svg")
        picture.write_text(report.chart(results, rivals, f"{options.suite}: times of rivals over Hilo's"))
        report.write_section(page, options.suite, f"{text}\n\n![ratios of {options.suite}]({picture.name})")
    found = report.behind(options.suite, results, rivals, report.read_reasons(HERE / "behind.txt")) if options.gate else []
    if found:
        print("\nbehind, without a reason in benchmarks/behind.txt:\n  " + "\n  ".join(found), file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
