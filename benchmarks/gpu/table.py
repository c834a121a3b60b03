"""table.py OUT: joins OUT/programs/programs.json with the measurements OUT/bandwidth.jsonl (Hilo), OUT/bench_jax.log and OUT/bench_torch.log; prints a table, writes OUT/bandwidth.json.

A program's bandwidth is the bytes that it must move over its median time; the last column of each is its part of what the copy of the same library reaches (Hilo's for all if it has none).
"""
import json
import pathlib
import sys


def milliseconds(path):
  times = {}
  for line in path.read_text().splitlines() if path.exists() else []:
    if line.startswith("{"):
      row = json.loads(line)
      times[row["name"]] = row["ms"]
    elif "not measured" in line:
      print(line)
  return times


def main():
  out = pathlib.Path(sys.argv[1])
  programs = json.loads((out / "programs" / "programs.json").read_text())
  columns = {"Hilo": milliseconds(out / "bandwidth.jsonl"), "JAX": milliseconds(out / "bench_jax.log"), "PyTorch": milliseconds(out / "bench_torch.log")}
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
  (out / "bandwidth.json").write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
  main()
