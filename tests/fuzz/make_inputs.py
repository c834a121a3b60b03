#!/usr/bin/env python3
"""Writes the inputs with which the fuzzers begin, and their dictionaries.

    make_inputs.py FOLDER HILO

FOLDER/hlo_text gets the modules of tests/ops, one a file, and tests/fuzz/short_forms; FOLDER/compile the shortest two of each file, tests/fuzz/cases and
tests/fuzz/short_forms;
FOLDER/hlo_proto those shortest ones as protos, which the program HILO makes, and tests/programs/proto; FOLDER/stablehlo the modules of
tests/programs/stablehlo; FOLDER/npy the small archives of tests/programs and each array in them; FOLDER/artifact serialized executables. FOLDER/NAME.dict holds words to try.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LARGEST = 8192  # bytes of an input


def modules(path):
    """The modules of a test file that can be read, without comments."""
    for part in path.read_text(encoding="utf-8").split("// ----"):
        lines = part.splitlines()
        if not any(line.startswith("// error:") for line in lines):
            yield "\n".join(line for line in lines if line and not line.startswith("//"))


def words():
    """Opcodes and attributes from the tables, element types, and numbers at the edges."""
    table = (ROOT / "hlo/ops/table/hlo_opcode.def").read_text(encoding="utf-8")
    found = set(re.findall(r'^HLO_\w+\(k\w+, "([^"]+)"', table, re.M))
    for header in (ROOT / "hlo/ops").rglob("*attributes.h"):
        text = header.read_text(encoding="utf-8")
        found.update(name + "=" for name in re.findall(r'Field\("(\w+)"', text))
        for names in re.findall(r"names\[\] = \{(.*?)\};", text, re.S):
            found.update(re.findall(r'"(\w+)"', names))
    if not {"add", "dimensions=", "HIGHEST"} <= found | {word.upper() for word in found}:
        sys.exit("the tables of opcodes, attributes and their values are not where this looks for them")
    found.update("pred[] s4[] s8[] s32[] u64[] f16[] bf16[] f32[2] f64[] c64[2] f8e4m3fn[] token[] ( ) { } , => ROOT ENTRY -1 0 inf nan".split())
    found.update("to_apply={ calls={ body={ condition={ branch_computations={{ true_computation={ }} constant({...}) =add( =tuple( negate( e{ ENTRY(".split())
    found.update("HloModule parameter(0) constant(1) [<=4] [0:1:1] {1,0} {1,0:T(8,128)} /*index=1*/ -0 1e9 9223372036854775807".split())
    return sorted(found)


def write(folder, name, content):
    if len(content) <= LARGEST:
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())


def main():
    out, hilo = pathlib.Path(sys.argv[1]), sys.argv[2]
    shutil.rmtree(out, ignore_errors=True)
    text, compiled, proto, stablehlo, npy, artifact = folders = [
        out / name for name in ("hlo_text", "compile", "hlo_proto", "stablehlo", "npy", "artifact")]
    for folder in folders:
        folder.mkdir(parents=True)
        dictionary = words() if folder in (text, compiled) else ["NUMPY", "descr", "PK\\x03\\x04", "ML\\xefR", "stablehlo.add", "tensor<2xf32>", "func.func"]
        (out / f"{folder.name}.dict").write_text("".join(f'"{word}"\n' for word in dictionary), encoding="utf-8")
    shortest = []
    for path in sorted((ROOT / "tests/ops").glob("*.hlo")):
        found = sorted(modules(path), key=len)
        for i, module in enumerate(found):
            write(text, f"{path.stem}.{i}.hlo", module)
        for i, module in enumerate(found[:2]):
            write(compiled, f"{path.stem}.{i}.hlo", module)
            shortest.append(compiled / f"{path.stem}.{i}.hlo")
    for path in (ROOT / "tests/fuzz/cases").glob("*.hlo"):
        write(compiled, path.name, path.read_bytes())
    for path in (ROOT / "tests/fuzz/short_forms").glob("*.hlo"):
        write(text, path.name, path.read_bytes())
        write(compiled, path.name, path.read_bytes())

    def to_proto(path):
        made = subprocess.run([hilo, "opt", path, "--stage=input", "--format=proto"], capture_output=True)
        if made.returncode == 0:
            write(proto, path.stem + ".pb", made.stdout)
        return made.returncode == 0

    for path in shortest[::25]:
        subprocess.run([hilo, "compile", path, "-o", artifact / f"{path.stem}.hilo"], capture_output=True)
    # What stands behind the number of a section is taken for its content: texts of operations and of modules.
    for section in range(8):
        write(artifact, f"section.{section}", bytes([section]) + (ROOT / "tests/ops/fft.hlo").read_bytes()[:400])

    with ThreadPoolExecutor(2) as threads:
        made = sum(threads.map(to_proto, shortest))
    for path in (ROOT / "tests/programs/proto").glob("*.pb"):
        write(proto, path.name, path.read_bytes())
    for path in (ROOT / "tests/programs/stablehlo").glob("*.mlir*"):
        write(stablehlo, path.name, path.read_bytes())
    for path in (ROOT / "tests/programs").rglob("*.npz"):
        if path.stat().st_size > LARGEST:
            continue
        shutil.copy(path, npy)
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                write(npy, f"{path.stem}.{name}", archive.read(name))
    counts = {folder.name: len(list(folder.iterdir())) for folder in folders}
    print(counts)
    return 0 if made > len(shortest) * 0.9 and min(counts.values()) > 5 else 1


if __name__ == "__main__":
    sys.exit(main())
