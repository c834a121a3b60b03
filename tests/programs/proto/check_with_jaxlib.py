"""Checks that jaxlib reads the protos that Hilo writes: check_with_jaxlib.py HILO FILE.hlo ...

Each module that both Hilo and jaxlib can parse goes through `hilo opt --format=proto`; jaxlib must read the proto and print the same module
as it prints for the text.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

from jaxlib import _hlo


def printed(module):
    options = _hlo.HloPrintOptions()
    options.print_large_constants = True
    text = module.to_string(options)
    # Protos have no field for the former; jaxlib does not print the latter back.
    text = re.sub(r", allow_spmd_sharding_propagation_to_\w+=\{[^}]*\}", "", text)
    return re.sub(r", (replica_count|num_partitions)=\d+", "", text)


def without_order(text):
    """jaxlib lists the instructions of a computation in an order of its own."""
    return sorted(text.split("\n"))


def check(hilo, text, place):
    try:
        wanted = printed(_hlo.hlo_module_from_text(text))
    except Exception:
        return "skipped"
    with tempfile.NamedTemporaryFile("w", suffix=".hlo") as file:
        file.write(text)
        file.flush()
        run = subprocess.run([hilo, "opt", file.name, "--stage=input", "--format=proto"], capture_output=True)
    if run.returncode:
        return "skipped" if b"nimplemented" in run.stderr or b"UNIMPLEMENTED" in run.stderr else f"{place}: {run.stderr.decode()}"
    try:
        got = printed(_hlo.HloModule.from_serialized_hlo_module_proto(run.stdout))
    except Exception as error:
        return f"{place}: jaxlib refuses the proto: {error}"
    if without_order(got) != without_order(wanted):
        lines = [line for line in got.split("\n") if line not in wanted.split("\n")][:3]
        return f"{place}: jaxlib reads another module:\n  " + "\n  ".join(lines)
    return ""


def main(hilo, paths):
    passed = skipped = failed = 0
    for path in paths:
        for number, text in enumerate(pathlib.Path(path).read_text().split("\n// ----")):
            if "// error:" in text or "HloModule" not in text:
                continue
            result = check(hilo, text[text.index("HloModule"):], f"{path}, module {number}")
            passed += result == ""
            skipped += result == "skipped"
            failed += result not in ("", "skipped")
            if result not in ("", "skipped"):
                print(result)
    print(f"{passed} modules agree, {failed} do not, {skipped} are not for both")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
