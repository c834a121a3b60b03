"""docs/README.md and the menu of the site list every page of docs/ once, and all links of pages lead somewhere."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
paths = sorted(path for path in DOCS.rglob("*.md") if path != DOCS / "README.md")
pages = [path.relative_to(DOCS).as_posix() for path in paths]
listed = re.findall(r"^- \[.*?\]\((.*?)\): ", (DOCS / "README.md").read_text(), re.MULTILINE)
if sorted(link for link in listed if not link.startswith("../")) != pages:
    sys.exit(f"docs/README.md lists {listed}, and the pages are {pages}")

# The menu: pages of docs/, those at the root of the repository, and reference pages, which tools/site makes.
menu = re.findall(r"^ +- (?:.*: )?(\S+\.md)$", (DOCS / "site" / "mkdocs.yml").read_text(), re.MULTILINE)
generated = [f"reference/cpp/{path.stem}.md" for path in sorted((ROOT / "include" / "hilo").glob("*.h"))]
generated += ["reference/cpp/index.md", "reference/c.md", "reference/python.md", "reference/commands.md"]
expected = sorted([*pages, *generated, "README.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md"])
if sorted(menu) != expected:
    sys.exit(
        f"the menu in docs/site/mkdocs.yml differs from the pages by {sorted(set(menu) ^ set(expected))}, "
        "or names one twice"
    )

missing = []
for path in [*paths, DOCS / "README.md"]:
    text = re.sub(r"^```.*?^```", "", path.read_text(), flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"`[^`]*`", "", text)
    for link in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        target = (path.parent / link).resolve()
        if "://" not in link and not target.exists() and not any(target == DOCS / page for page in generated):
            missing.append(f"{path.relative_to(ROOT)} leads to {link}")
if missing:
    sys.exit("\n".join(missing))
