"""What the packages say of Hilo is what CMakeLists.txt says: the version, and the soname in the names of Debian's packages."""

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
if found(r"^Package: (libhilo[0-9.]+)$", "debian/control") != library or not (ROOT / "debian" / f"{library}.install").is_file():
    sys.exit(f"the package of the library is to be named {library}, after its soname, in debian/control and debian/{library}.install")
