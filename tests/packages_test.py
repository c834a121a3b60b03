"""The packages have the version that CMakeLists.txt states, and Debian's are named after the soname."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def found(pattern, path):
    match = re.search(pattern, (ROOT / path).read_text(), re.MULTILINE)
    if match is None:
        sys.exit(f"{path} has nothing like {pattern}")
    return match.group(1)


version = found(r"^project\(Hilo VERSION (\S+)", "CMakeLists.txt")
for pattern, path in ((r"^hilo \((\S+)\)", "debian/changelog"), (r"^  version: (\S+)$", "packaging/conda/recipe.yaml")):
    if found(pattern, path) != version:
        sys.exit(f"{path} is for version {found(pattern, path)}, expected {version}")
library = "libhilo" + version.rpartition(".")[0]
if (
    found(r"^Package: (libhilo[0-9.]+)$", "debian/control") != library
    or not (ROOT / "debian" / f"{library}.install").is_file()
):
    sys.exit(
        f"the package of the library is to be named {library}, after its soname, in debian/control, "
        f"and debian/{library}.install says what is in it"
    )
# rattler-build has default compilers, but no default C library.
if "stdlib('c')" in (ROOT / "packaging/conda/recipe.yaml").read_text():
    found(r"^c_stdlib:\n  - (\S+)$", "packaging/conda/variants.yaml")
