#!/usr/bin/env python3
"""Every opcode of the table must be whole: built by an XlaBuilder function and tested by a file of its own. One without
inference, evaluation or a row in the emission table of a backend does not compile or link. Every kind of kernel must be
described in docs/kernels.md or docs/gpu.md.

    op_coverage_test.py build/bin/hilo [--update]      --update writes docs/ops.md, which must otherwise be up to date
"""
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOC = ROOT / "docs/ops.md"

# Opcodes without an XlaBuilder function of their own: the compiler's, and those that only dumps of compiled programs hold.
NOT_BUILT = {"add-dependency", "all-gather-done", "all-gather-start", "all-reduce-done", "all-reduce-start", "async-done",
             "async-start", "async-update", "collective-permute-done", "collective-permute-start", "constant", "copy", "copy-done",
             "copy-start", "domain", "fusion", "parameter", "partition-id"}
HEAD = """# Operations

Every operation: how each platform emits it, and how many modules of `tests/ops` test it. In brackets, how the instructions that the
words describe are emitted instead. `tests/op_coverage_test.py --update` writes this page from `hilo ops --json`.

- element: computed element by element from its operands, in any part of a fusion
- forwarding: the value of its operands, in their memory
- kernel: a kernel of its own, perhaps fused with producers or users
- runtime call: a call of the runtime or of a library; collective: computed by several devices together
- expanded: written in other operations first (`hlo/passes/expand`)
- rewritten: made synchronous or static by another pass of the pipeline
"""


def constant_of(opcode):
    """all-gather -> kAllGather, as C++ has it."""
    special = {"topk": "kTopK", "opt-barrier": "kOptimizationBarrier"}
    return special.get(opcode, "k" + "".join(word.capitalize() for word in opcode.split("-")))


def missing_kinds():
    """The kinds of kernels that no page describes."""
    table = (ROOT / "hlo/ir/kernel_config.def").read_text(encoding="utf-8")
    pages = "".join((ROOT / "docs" / page).read_text(encoding="utf-8") for page in ("kernels.md", "gpu.md"))
    return [kind for kind in re.findall(r'^HILO_KERNEL_KIND\(k\w+, "(.+)"\)$', table, re.M) if f"`{kind}`" not in pages]


def main():
    ops = json.loads(subprocess.run([sys.argv[1], "ops", "--json"], capture_output=True, text=True, check=True).stdout)
    builder = "".join(p.read_text(encoding="utf-8") for p in (ROOT / "hlo/builder").glob("*"))
    platforms = list(ops[0]["emission"])
    lines = [HEAD, "| opcode | operands | attributes | " + " | ".join(platforms) + " | test modules |",
             "|---|--:|---|" + "---|" * len(platforms) + "--:|"]
    problems = [f"{kind}: no line in docs/kernels.md or docs/gpu.md" for kind in missing_kinds()]
    for op in ops:
        name = op["opcode"]
        path = ROOT / f"tests/ops/{name}.hlo"
        modules = path.read_text(encoding="utf-8").count("HloModule ") if path.exists() else 0
        if modules == 0:
            problems.append(f"{name}: no tests/ops/{name}.hlo")
        # The functions of the unary and binary families come from the table.
        is_built = op["from_table"] or f"HloOpcode::{constant_of(name)}" in builder
        if is_built == (name in NOT_BUILT):
            problems.append(f"{name}: has a builder function, though NOT_BUILT has it" if is_built else f"{name}: no builder function")
        operands = "any" if op["operands"] is None else op["operands"]
        how = " | ".join(op["emission"][platform] for platform in platforms)
        lines.append(f"| {name} | {operands} | {', '.join(op['attributes'])} | {how} | {modules} |")
    table = "\n".join(lines) + "\n"
    if "--update" in sys.argv:
        DOC.write_text(table, encoding="utf-8")
    elif not DOC.exists() or DOC.read_text(encoding="utf-8") != table:
        problems.append("docs/ops.md is not up to date: run tests/op_coverage_test.py build/bin/hilo --update")
    print("\n".join(problems) if problems else f"{len(ops)} operations, all whole")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
