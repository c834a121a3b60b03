#!/usr/bin/env python3
"""Runs `hilo` on the modules of a file and compares what it prints with the CHECK lines beside them.

    check_lines.py build/bin/hilo tests/passes tests/codegen

A file holds modules separated by "// ----" lines. In each,

    // hilo: opt --passes=simplify       the command; the module is its input
    // CHECK: add(%x, {{.*}})            appears behind the match before it; {{...}} is a regular expression
    // CHECK-NEXT: ...                   on the very next line
    // CHECK-DAG: ...                    behind the match before adjacent CHECK-DAG lines, which match in any order
    // CHECK-NOT: multiply               appears nowhere between the matches around it
    // CHECK-COUNT 3: transpose          appears exactly so often in the whole output

White space counts as one blank. A module whose command fails is matched against the error's text.
"""
import os
import re
import subprocess
import sys

DIRECTIVE = re.compile(r"// (hilo|CHECK(?:-[A-Z]+)?(?: \d+)?): *(.*)$")
KIND = re.compile(r"hilo|CHECK(-NEXT|-DAG|-NOT|-COUNT \d+)?")


def pattern(text):
    parts = re.split(r"\{\{(.*?)\}\}", text.strip())
    quoted = (re.escape(re.sub(r"\s+", " ", p)) if i % 2 == 0 else p for i, p in enumerate(parts))
    return re.compile("".join(quoted))


def modules(path):
    """Yields (first line, text, directives) of each module."""
    start, lines = 1, []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(list(file) + ["// ----\n"], 1):
            if not line.startswith("// ----"):
                lines.append(line)
                continue
            found = [(start + i, *m.groups()) for i, l in enumerate(lines) if (m := DIRECTIVE.match(l.rstrip("\n")))]
            yield start, "".join(lines), found
            start, lines = number + 1, []


def check(output, directives):
    """The first directive that does not hold, as (line, message); None if all do."""
    text = "\n".join(re.sub(r"\s+", " ", line) for line in output.split("\n"))
    position, forbidden, end_of_group = 0, [], 0
    for line, kind, argument in directives:
        expression = pattern(argument)
        if kind != "CHECK-DAG":
            position, end_of_group = max(position, end_of_group), 0
        if kind.startswith("CHECK-COUNT"):
            wanted, count = int(kind.split()[1]), len(expression.findall(text))
            if count != wanted:
                return line, f"expected {wanted} times, found {count} times: {argument}"
        elif kind == "CHECK-NOT":
            forbidden.append((line, expression, argument))
        else:
            if kind == "CHECK-NEXT":
                begin = text.find("\n", position) + 1
                match = expression.search(text, begin, text.find("\n", begin) % (len(text) + 1)) if begin else None
            else:
                match = expression.search(text, position)
            if match is None:
                return line, f"not found: {argument}"
            for at, unwanted, words in forbidden:
                if unwanted.search(text, position, match.start()):
                    return at, f"found, but must not be there: {words}"
            forbidden = []
            if kind == "CHECK-DAG":
                end_of_group = max(end_of_group, match.end())
            else:
                position = match.end()
    for at, unwanted, words in forbidden:
        if unwanted.search(text, max(position, end_of_group)):
            return at, f"found, but must not be there: {words}"
    return None


def main():
    program, paths = sys.argv[1], sys.argv[2:]
    files = [os.path.join(p, f) for p in paths for f in sorted(os.listdir(p))] if all(map(os.path.isdir, paths)) else paths
    passed = failed = 0
    for path in files:
        for start, text, directives in modules(path):
            commands = [argument for _, kind, argument in directives if kind == "hilo"]
            checks = [d for d in directives if d[1] != "hilo"]
            unknown = [(line, f"what is {kind}?") for line, kind, _ in directives if not KIND.fullmatch(kind)]
            if unknown:
                problem, checks = unknown[0], []
            elif len(commands) != 1 or not checks:
                problem = (start, "expected one '// hilo:' line and at least one CHECK line")
            else:
                command, *flags = commands[0].split()
                run = subprocess.run([program, command, "-", *flags], input=text, capture_output=True, text=True, timeout=60)
                output = run.stdout + run.stderr
                problem = check(output, checks)
            if problem is None:
                passed += 1
                continue
            failed += 1
            print(f"FAILED {path}:{problem[0]}: {problem[1]}")
            if commands and checks:
                print("  the output is\n    " + "\n    ".join(output.rstrip().split("\n")[:200]))
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0 or passed == 0)


if __name__ == "__main__":
    main()
