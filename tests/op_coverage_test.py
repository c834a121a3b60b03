#!/usr/bin/env python3
"""Every opcode of the table must be whole: buildable, emitted on the CPU in some way, and tested by a file of its own. (One
without inference or evaluation does not link.)

    op_coverage_test.py [--update]      --update writes docs/ops.md, which must otherwise be up to date
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROW = re.compile(r'^HLO_(UNARY|BINARY|OP)\((k\w+), "([^"]+)", (.*)\)$')

# Opcodes that no XlaBuilder function makes: the compiler's own, and those that only dumps of compiled programs hold.
NOT_BUILT = {"add-dependency", "all-gather-done", "all-gather-start", "all-reduce-done", "all-reduce-start", "async-done", "async-start", "async-update",
             "bitcast", "collective-permute-done", "collective-permute-start", "copy", "copy-done", "copy-start", "domain", "fusion", "parameter", "constant",
             "recv-done", "send-done", "partition-id", "rng-get-and-update-state", "tuple", "get-tuple-element"}


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


def cases_of(path, function):
    """The opcodes that `function` in a file lists."""
    text = read(path)
    start = text.index(function)
    end = text.index("\n}\n", start)
    return set(re.findall(r"HloOpcode::(k\w+)", text[start:end]))


def fields_of():
    """Attribute names by struct."""
    fields = {}
    for path in sorted((ROOT / "hlo/ops").rglob("*attributes.h")):
        for name, body in re.findall(r"struct (\w+) : Attributes<\w+> \{(.*?)\n\};", path.read_text(encoding="utf-8"), re.S):
            fields[name] = re.findall(r'Field\("(\w+)"', body)
    return fields


def main():
    builder = "".join(p.read_text(encoding="utf-8") for p in (ROOT / "hlo/builder").glob("*"))
    ways = {"loop": cases_of("backends/llvm/lanes/lane_plan.cc", "bool IsElementGenerated(HloOpcode opcode)"),
            "kernel": cases_of("backends/cpu/kernels/kernels.cc", "absl::StatusOr<Kernel> MakeKernel("),
            "C++": cases_of("backends/cpu/runtime_calls/runtime_call.cc", "Factory FactoryOf("),
            "expanded": set(re.findall(r"\{HloOpcode::(k\w+)", read("hlo/passes/expand/expansions.cc"))),
            "made synchronous": set(re.findall(r"case HloOpcode::(k\w+)", read("hlo/passes/async_to_sync.cc"))),
            "control flow": {"kWhile", "kConditional", "kCall"},
            "no code": {"kParameter", "kAfterAll", "kAddDependency", "kDomain"}}
    dynamic = ROOT / "hlo/passes/dynamic"
    ways["made static"] = set().union(*(re.findall(r"HloOpcode::(k(?:Set|Get)DimensionSize|kDynamicReshape)", p.read_text(encoding="utf-8"))
                                        for p in sorted(dynamic.rglob("*.cc")) if "dynamic" in str(p)) or [set()])
    fields, problems, lines = fields_of(), [], []
    for kind, opcode, text, rest in (m.groups() for m in map(ROW.match, read("hlo/ops/table/hlo_opcode.def").splitlines()) if m):
        parts = [p.strip() for p in re.split(r',(?=(?:[^"]*"[^"]*")*[^"]*$)', rest)]
        elementwise = kind != "OP" or "kElementwise" in parts[-2]
        how = [way for way, opcodes in ways.items() if opcode in opcodes] or (["loop"] if elementwise else [])
        path = ROOT / f"tests/ops/{text}.hlo"
        cases = path.read_text(encoding="utf-8").count("HloModule ") if path.exists() else 0
        for missing, name in ((not how, "emission on the CPU"), (cases == 0, f"tests/ops/{text}.hlo"),
                              (opcode not in builder and text not in NOT_BUILT, "builder function")):
            if missing:
                problems.append(f"{text}: no {name}")
        arity = "1" if kind == "UNARY" else "2" if kind == "BINARY" else {"kVariadic": "any"}.get(parts[0], parts[0])
        attributes = ", ".join(fields.get(parts[1], [])) if kind == "OP" else ""
        lines.append(f"| {text} | {arity} | {attributes} | {', '.join(how)} | {cases} |")
    table = "\n".join(["# Operations", "", "Written by `tests/op_coverage_test.py --update`. How each opcode becomes code on the CPU, and how many modules of `tests/ops` test it.", "",
                       "| opcode | operands | attributes | on the CPU | test modules |", "|---|--:|---|---|--:|", *sorted(lines), ""])
    if "--update" in sys.argv:
        (ROOT / "docs/ops.md").write_text(table, encoding="utf-8")
    elif not (ROOT / "docs/ops.md").exists() or read("docs/ops.md") != table:
        problems.append("docs/ops.md is not up to date: run tests/op_coverage_test.py --update")
    print("\n".join(problems) if problems else f"{len(lines)} opcodes, all whole")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
