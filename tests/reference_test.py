"""Reference pages (docs/site/reference.py) have all that headers and the Python package declare, and nothing private."""

import ast
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "docs" / "site"))
sys.dont_write_bytecode = True
import reference  # noqa: E402

failures = []
for header in sorted((ROOT / "include").rglob("*.h")):
    page = reference.header_page(header, ROOT / "include")
    text = re.sub(r"//.*|/\*.*?\*/", "", header.read_text(), flags=re.DOTALL if header.parent.name == "hilo-c" else 0)
    wanted = set(
        re.findall(
            r"^(?:class|struct|enum class|typedef enum|typedef struct) (?:HILO_EXPORT )?(\w+)\s[^;]*\{",
            text,
            re.MULTILINE,
        )
    )
    wanted |= set(re.findall(r"^HILO_EXPORT [^;(]*?(\w+)\(", text, re.MULTILINE))
    failures += [f"{header.name}: {name} is not on its page" for name in wanted if not re.search(rf"\b{name}\b", page)]
    failures += [
        f"{header.name}: its page has '{word}'"
        for word in (" private:", "HILO_EXPORT ", "_(std::move(")
        if word in page
    ]
    if page.count("```") % 2 != 0:
        failures.append(f"{header.name}: a block of code does not end")

page = reference.python_page(ROOT / "python" / "hilo")
for node in ast.parse((ROOT / "python" / "hilo" / "__init__.pyi").read_text()).body:
    if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and f"## `{node.name}`" not in page:
        failures.append(f"the Python page has no {node.name}")
if failures:
    sys.exit("\n".join(failures))
