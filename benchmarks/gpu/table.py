"""table.py STATE: what a GPU day has measured so far, as tables on standard output and as STATE/results.json.

Reads STATE/stages.tsv, the measurements STATE/{bandwidth,libraries,programs}.jsonl, and JAX's and PyTorch's in STATE/bench_jax.log and STATE/bench_torch.log.
A program's bandwidth is the bytes that it must move over its median time; the last column of each is its part of what the copy of the same library reaches (Hilo's if it has none).
"""
import json
import pathlib
import re
import sys


def lines_of(path):
  return [json.loads(line) for line in path.read_text().splitlines() if line.startswith("{")] if path.exists() else []


def milliseconds(path):
  if path.exists():
    print("".join(line + "\n" for line in path.read_text().splitlines() if "not measured" in line), end="")
  return {row["name"]: row["ms"] if "ms" in row else row["result"]["run_ms"]["median"] for row in lines_of(path)}


def bandwidths(state):
  programs = json.loads((state / "programs" / "programs.json").read_text())
  columns = {"Hilo": milliseconds(state / "bandwidth.jsonl"), "JAX": milliseconds(state / "bench_jax.log"), "PyTorch": milliseconds(state / "bench_torch.log")}
  columns = {name: times for name, times in columns.items() if times}
  rate = lambda program, times: program["bytes"] / times[program["name"]] * 1e-6 if times.get(program["name"]) else None
  copies = {name: rate(programs[0], times) for name, times in columns.items()}
  print(f"{'program':14} {'MB':>8}" + "".join(f"{name + ' ms':>14} {'GB/s':>8} {'of copy':>8}" for name in columns))
  rows = []
  for program in programs:
    line, row = f"{program['name']:14} {program['bytes'] * 1e-6:8.1f}", dict(program)
    for name, times in columns.items():
      speed, copy = rate(program, times), copies[name] or copies.get("Hilo")
      part = speed / copy if speed and copy else None
      row[name] = {"ms": times.get(program["name"]), "gb_per_s": speed, "of_copy": part}
      line += f"{times[program['name']]:14.4f} {speed:8.1f} {part:8.0%}" if speed and part else f"{'-':>14} {'-':>8} {'-':>8}"
    print(line)
    rows.append(row)
  return rows


def times(rows):
  if rows:
    print(f"{'program':44} {'compile ms':>12} {'run ms, least':>14} {'median':>10}")
  for row in rows:
    compile_ms, run = row["result"]["compile_ms"], row["result"]["run_ms"]
    print(f"{row['name'] + ', ' + row['how']:44} {compile_ms:12.1f} {run['min']:14.4f} {run['median']:10.4f}")
  return rows


def layers(state):
  """Products and convolutions in TFLOP/s: by the library, its best algorithm and our own kernels, and in JAX and PyTorch."""
  jax, torch, table = milliseconds(state / "bench_jax.log"), milliseconds(state / "bench_torch.log"), {}
  for row in lines_of(state / "libraries.jsonl"):
    flops = re.search(r"(\d+) floating-point operations", pathlib.Path(f"benchmarks/gpu/{row['name']}.hlo").read_text())
    if flops:
      rate = lambda ms: int(flops[1]) / ms * 1e-9
      columns = table.setdefault(row["name"], {name: rate(times[row["name"]]) for name, times in (("JAX", jax), ("PyTorch", torch)) if row["name"] in times})
      columns[row["how"]] = rate(row["result"]["run_ms"]["median"])
  names = ["library", "best algorithm", "kernels", "JAX", "PyTorch"]
  if table:
    print(f"{'TFLOP/s':28}" + "".join(f"{name:>16}" for name in names))
  for program, columns in table.items():
    print(f"{program:28}" + "".join(f"{columns[name]:16.1f}" if name in columns else f"{'-':>16}" for name in names))
  return table


def main():
  state = pathlib.Path(sys.argv[1])
  stages = [line.split("\t") for line in (state / "stages.tsv").read_text().splitlines()]
  results = {"version": pathlib.Path("version").read_text().strip() if pathlib.Path("version").exists() else "",
             "stages": [{"name": name, "state": how, "exit_status": int(code), "seconds": int(seconds)} for name, how, code, seconds in stages]}
  environment = state / "environment.log"
  results["environment"] = environment.read_text(errors="replace").splitlines() if environment.exists() else []
  if (state / "programs" / "programs.json").exists():
    results["bandwidth"] = bandwidths(state)
  for name in "libraries", "programs":
    results[name] = times(lines_of(state / f"{name}.jsonl"))
  results["layers"] = layers(state)
  (state / "results.json").write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
  main()
