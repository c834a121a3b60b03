#!/usr/bin/env python3
"""Checks tests/checklist.tsv, which says for each claim of the specification which test would fail if it broke.

The first line says how many claims have no test, a number that must only shrink. Then comes a line a claim: its id (area and number),
the claim, the tests, separated by tabs; tests by blanks: FILE.hlo:MODULE, or FILE.cc:SUITE.NAME, where NAME may be a row of a table of cases. "- " and
a reason stand for no test.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CLAIMS = 596


def names_in(path):
    """The tests that a file holds."""
    text = path.read_text()
    if path.suffix == ".hlo":
        return set(re.findall(r"^HloModule ([\w.-]+)", text, re.M))
    names = {".".join(pair) for pair in re.findall(r"^TEST(?:_F|_P)?\((\w+), (\w+)\)", text, re.M)}
    tables = re.findall(r"^TEST_P\((\w+), \w+\)|^HILO_INFERENCE_TESTS\((\w+),", text, re.M)
    rows = re.findall(r"^\s+(?:\w+\(|\{)\"(\w+)\",", text, re.M)
    return names | {f"{parameterized or inference}.{row}" for parameterized, inference in tables for row in rows}


def check_reference(reference, known):
    """What is wrong with the reference, or None."""
    file, colon, name = reference.rpartition(":")
    path = ROOT / file
    if not colon or not file.startswith("tests/") or path.suffix not in (".hlo", ".cc") or not path.is_file():
        return f"{reference}: no such file of tests"
    if file not in known:
        known[file] = names_in(path)
    return None if name in known[file] else f"{reference}: {file} has no test {name}"


def check(lines):
    """Returns the list of what is wrong, the number of claims, and that of claims without a test."""
    errors, known, counts, untested = [], {}, {}, 0
    for number, line in enumerate(lines[1:], 2):
        fields = line.split("\t")
        if len(fields) != 3 or not all(fields):
            errors.append(f"line {number}: expected an id, a claim and tests, separated by tabs")
            continue
        area, _, index = fields[0].rpartition("-")
        counts[area] = counts.get(area, 0) + 1
        if index != str(counts[area]):
            errors.append(f"line {number}: expected the id {area}-{counts[area]}, got {fields[0]}")
        if fields[2].startswith("-"):
            untested += 1
            if not fields[2].startswith("- "):
                errors.append(f"line {number}: a claim without a test needs a reason")
            continue
        found = (check_reference(reference, known) for reference in fields[2].split(" "))
        errors += [f"line {number}: {error}" for error in found if error]
    claims = sum(counts.values())
    if claims != CLAIMS:
        errors.append(f"expected {CLAIMS} claims, got {claims}")
    allowed = int(lines[0].split()[0])
    if untested != allowed:
        errors.append(f"{untested} claims have no test, but line 1 says {allowed}, which must not grow")
    return errors, claims, untested


def main():
    errors, claims, untested = check((ROOT / "tests/checklist.tsv").read_text().splitlines())
    for error in errors:
        print("tests/checklist.tsv:", error)
    print(f"checklist: {claims} claims, {untested} without a test")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
