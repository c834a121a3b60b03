"""docs/README.md lists every page of docs/ once, and its links lead somewhere."""

import pathlib
import re
import sys

DOCS = pathlib.Path(__file__).resolve().parent.parent / "docs"
links = re.findall(r"^- \[.*?\]\((.*?)\): ", (DOCS / "README.md").read_text(), re.MULTILINE)
pages = sorted(page.name for page in DOCS.glob("*.md") if page.name != "README.md")
if sorted(link for link in links if "/" not in link) != pages:
    sys.exit(f"docs/README.md lists {links}, and the pages are {pages}")
missing = [link for link in links if not (DOCS / link).exists()]
if missing:
    sys.exit(f"docs/README.md leads to {missing}, which are not there")
