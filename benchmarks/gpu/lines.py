"""Files of measurements: a line of JSON for each, written as soon as it is known, so that a call that is cut off loses none and the next goes on."""
import json
import pathlib
import sys


def is_small(elements):
  """Whether the arrays are those of a dry run."""
  return elements < 1 << 20


def measure_all(work, measure, file):
  """`work`: functions by name that return (function, arguments). Appends {name, and what measure(function, arguments) returns} to `file`, or {name, error}, for names that are not in it.
  Returns 1 if any row of the file is an error, else 0."""
  path = pathlib.Path(file)
  rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
  known = {row["name"] for row in rows}
  with path.open("a") as out:
    for name, make in work.items():
      if name in known:
        continue
      try:
        row = {"name": name, **measure(*make())}
      except Exception as error:  # one row that cannot be measured leaves the others
        row = {"name": name, "error": f"{type(error).__name__}: {error}".splitlines()[0][:300]}
      rows.append(row)
      print(json.dumps(row), file=out, flush=True)
  errors = [row["name"] for row in rows if "error" in row]
  print(f"{len(rows)} rows, {len(errors)} failed{': ' if errors else ''}{', '.join(errors)}", file=sys.stdout)
  return 1 if errors else 0
