"""table.py STATE: what a GPU day has measured so far, as tables on standard output and as STATE/results.json.

Reads STATE/stages.tsv, the measurements STATE/{bandwidth,libraries,programs}.jsonl, and those of clock.py: Hilo's and JAX's own in JAX, STATE/bench_{hilo,jax}.jsonl, and PyTorch's, STATE/bench_torch.jsonl.
A program's bandwidth is the bytes that it must move over its median time; the last column of each is its part of what the copy of the same library reaches (Hilo's if it has none).
"""
import json
import pathlib
import re
import sys


def lines_of(path):
  return [json.loads(line) for line in path.read_text().splitlines() if line.startswith("{")] if path.exists() else []


def milliseconds(path):
  return {row["name"]: row["ms"] if "ms" in row else row["result"]["run_ms"]["median"] for row in lines_of(path) if "error" not in row}


def not_measured(state):
  for name in "bench_hilo", "bench_jax", "bench_torch":
    log = state / f"{name}.log"
    for line in log.read_text(errors="replace").splitlines() if log.exists() else []:
      if "not measured" in line:
        print(line)


def queued(state):
  """By one clock: ms of a run among queued ones, the host's microseconds until it is queued, and Hilo's time over that of the faster of the others."""
  sides = {"Hilo": "bench_hilo", "JAX": "bench_jax", "PyTorch": "bench_torch"}
  tables = {side: {row["name"]: row for row in lines_of(state / f"{file}.jsonl")} for side, file in sides.items()}
  names = list(dict.fromkeys(name for table in tables.values() for name in table))
  if names:
    print(f"{'queued runs':28}" + "".join(f"{side + ' ms':>14} {'call us':>9}" for side in sides) + f"{'Hilo / best':>13}")
  result = []
  for name in names:
    row, line = {"name": name}, f"{name:28}"
    for side, table in tables.items():
      row[side] = table.get(name)
      known = row[side] is not None and "ms" in row[side]
      line += f"{row[side]['ms']:14.4f} {row[side]['call_us']:9.1f}" if known else f"{'-' if row[side] is None else 'failed':>14} {'-':>9}"
    times = {side: row[side]["ms"] for side in sides if row[side] is not None and "ms" in row[side]}
    others = [ms for side, ms in times.items() if side != "Hilo"]
    if "Hilo" in times and others:
      row["ratio"] = times["Hilo"] / min(others)
      line += f"{row['ratio']:13.2f}"
    print(line)
    result.append(row)
  return result


def bandwidths(state):
  programs = json.loads((state / "programs" / "programs.json").read_text())
  columns = {"Hilo": milliseconds(state / "bandwidth.jsonl"), "JAX": milliseconds(state / "bench_jax.jsonl"), "PyTorch": milliseconds(state / "bench_torch.jsonl")}
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
  jax, torch, table = milliseconds(state / "bench_jax.jsonl"), milliseconds(state / "bench_torch.jsonl"), {}
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
  not_measured(state)
  results["queued"] = queued(state)
  if (state / "programs" / "programs.json").exists():
    results["bandwidth"] = bandwidths(state)
  for name in "libraries", "programs":
    results[name] = times(lines_of(state / f"{name}.jsonl"))
  results["layers"] = layers(state)
  (state / "results.json").write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
  main()
