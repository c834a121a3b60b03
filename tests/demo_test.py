"""What ./demo builds and advises: demo_test.py HILO

It builds what the Python package is made of, and what it says to try next works.
"""

import pathlib
import re
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
HILO = sys.argv[1]


def check(condition, what):
    if not condition:
        sys.exit(f"failed: {what}")


def main():
    demo = (ROOT / "demo").read_text()
    built = re.search(r"^readonly TARGETS=\((.*)\)$", demo, re.MULTILINE).group(1).split()
    package = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["scikit-build"]["build"]["targets"]
    check(sorted(built) == sorted(package), f"./demo builds {built}, and pip install . needs {package}")
    advice = re.findall(r"^  build/bin/hilo (.*?) +# ", demo, re.MULTILINE)
    check(len(advice) >= 4, f"advice: {advice}")
    for arguments in advice:
        done = subprocess.run([HILO, *arguments.split()], cwd=ROOT, capture_output=True, text=True)
        check(done.returncode == 0 and done.stdout, f"hilo {arguments}: {done.stderr}")


main()
