#!/usr/bin/env python3
"""libhilo exports what include/ marks with HILO_EXPORT, and nothing else: exports_test.py NM LIBHILO INCLUDE"""

import pathlib
import re
import subprocess
import sys

CLASS = re.compile(r"(?:class|struct) HILO_EXPORT (\w+).*?^};", re.MULTILINE | re.DOTALL)
MARKED = re.compile(r"(?:class|struct) HILO_EXPORT (\w+)|^\s*HILO_EXPORT [^(;{]*?\b(operator\W+|\w+)\(", re.MULTILINE)
C_FUNCTION = re.compile(r"^HILO_EXPORT [^(;]*?\b(Hilo\w+)\(", re.MULTILINE)
SYMBOL = re.compile(r"(?:(?:vtable|typeinfo|typeinfo name|guard variable) for )?hilo::(?:ffi::)?(operator\W+(?=\()|\w+)")


def marked(folder):
    """The names that the headers mark, those that a list X(Name, ...) declares included; and of them the interfaces, which need no symbol."""
    names, interfaces = set(), set()
    for header in folder.glob("hilo/*.h"):
        text = re.sub(r"\\\n", " ", header.read_text())
        names.update(name for found in MARKED.findall(text) for name in found if name)
        interfaces.update(found[1] for found in CLASS.finditer(text) if " = 0;" in found[0])
        for kind, row in re.findall(r"#define HILO_(\w+)_FUNCTIONS\(X\)(.*)", text):
            listed = re.findall(r"X\((\w+), \w+\)", row)
            names.update(listed)
            if kind == "COMPARISON":
                names.update(name + "TotalOrder" for name in listed)
    names.discard("Function")
    return names, interfaces


def main():
    nm, library, include = sys.argv[1:]
    promised, interfaces = marked(pathlib.Path(include))
    listed = subprocess.run([nm, "-DC", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    exported = [line.split(maxsplit=2)[2] for line in listed.splitlines() if len(line.split(maxsplit=2)) == 3]
    c_functions = set(C_FUNCTION.findall((pathlib.Path(include) / "hilo-c/hilo.h").read_text()))
    promised |= c_functions
    owners = {name: [name] for name in c_functions & set(exported)}
    for symbol in set(exported) - c_functions:
        owner = SYMBOL.match(symbol)
        owners.setdefault(owner[1] if owner else None, []).append(symbol)
    wrong = [symbol for owner, symbols in owners.items() for symbol in symbols if owner not in promised]
    missing = sorted(promised - interfaces - set(owners))
    print(f"{len(exported)} symbols are exported, of {len(promised)} classes and functions")
    for symbol in wrong[:40]:
        print(f"exported, but not marked: {symbol}")
    for name in missing:
        print(f"marked, but not exported: {name}")
    sys.exit(1 if wrong or missing or not exported else 0)


main()
