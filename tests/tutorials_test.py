"""Does what a page of docs/ says: tutorials_test.py PAGE --hilo PROGRAM --prefix FOLDER --python PYTHON

In the page's order, a block with title="FILE" becomes that file, and each line of a console block that begins with
"$ " is a command, in one shell and one empty folder for the whole page. What a command prints must be the lines below
it; "..." stands for anything within a line, and on a line of its own for any lines. In a block behind
<!-- figures vary --> numbers may be others. A command without lines below it must succeed. A block of another kind that
looks like commands needs <!-- not run: why --> above it.

Exits with 77, which says that it was skipped, if the page imports a package that PYTHON lacks.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SKIPPED = 77
FENCE = re.compile(
    r'^(?:<!-- (?P<note>.*?) -->\n)?```(?P<language>\S*)(?: title="(?P<title>[^"]+)")?\n(?P<body>.*?)^```$',
    re.MULTILINE | re.DOTALL,
)


def pattern(expected, figures_vary):
    """The regular expression of the lines that a command should print."""
    lines = []
    for line in expected:
        if line == "...":
            lines.append("(?:.*\n)*?")
            continue
        words = " ".join(line.split()) if figures_vary else line
        text = r".*?".join(re.escape(part) for part in words.split("..."))
        if figures_vary:  # and with them the unit of a time
            text = re.sub(
                r"\d+(?:\\\.\d+)?(\\ [num]?s\b)?", lambda found: r"[\d.]+" + (" [num]?s" if found[1] else ""), text
            )
            # A roof that was measured on a busy machine is lower than what caches give.
            text = text.replace(r"[\d.]+%", r"(?:[\d.]+%|in\ caches)")
        lines.append(text + "\n")
    return re.compile("".join(lines))


def steps(page):
    """The page as a list of (kind, ...): files to write and commands to run."""
    found = []
    for fence in FENCE.finditer(page):
        note, language, title, body = fence.group("note") or "", fence["language"], fence["title"], fence["body"]
        if title:
            found.append(("file", title, body))
        elif language == "console":
            if not body.startswith("$ "):
                sys.exit(f"a console block begins with {body.splitlines()[0]!r}, and not with a command")
            for command, expected in re.findall(r"^\$ (.*\n)((?:(?!\$ ).*\n)*)", body, re.MULTILINE):
                found.append(("command", command.strip(), expected.splitlines(), "figures vary" in note))
        elif language in ("sh", "bash", "shell", "") and not note.startswith("not run: "):
            sys.exit(f"a block is neither run nor says why not:\n{body}")
    return found


def missing_packages(page, python):
    wanted = sorted(set(re.findall(r"^(?:import|from) (jax|torch|numpy)\b", page, re.MULTILINE)))
    return [
        name for name in wanted if subprocess.run([python, "-c", f"import {name}"], capture_output=True).returncode != 0
    ]


def script(found, folder):
    """A shell script that does all steps in `folder` / work, and writes what command N prints to `folder` / N."""
    lines = [f"cd {folder}/work"]
    for number, (kind, *what) in enumerate(found):
        if kind == "file":
            (folder / f"file{number}").write_text(what[1])
            lines.append(f"cp {folder}/file{number} {what[0]}")
        else:
            lines.append(f"{{ {what[0]}\n}} > {folder}/{number} 2>&1 < /dev/null\necho $? > {folder}/status{number}")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("--hilo", type=pathlib.Path, required=True)
    parser.add_argument(
        "--prefix", type=lambda path: pathlib.Path(path).resolve(), required=True, help="where Hilo is installed"
    )
    parser.add_argument("--python", required=True)
    arguments = parser.parse_args()
    page = arguments.page.read_text()
    found = steps(page)
    if not any(kind == "command" for kind, *_ in found):
        sys.exit(f"{arguments.page} has no commands")
    missing = missing_packages(page, arguments.python)
    if missing:
        print(f"skipped: {arguments.python} has no {', '.join(missing)}")
        return SKIPPED
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for part in ("work", "bin"):
            (folder / part).mkdir()
        for command, target in (("hilo", arguments.hilo.resolve()), ("python", arguments.python)):
            (folder / "bin" / command).write_text(f'#!/bin/sh\nexec {target} "$@"\n')
            (folder / "bin" / command).chmod(0o755)
        pkgconfig = ":".join(str(file.parent) for file in arguments.prefix.rglob("hilo.pc"))
        environment = {
            **os.environ,
            "PATH": f"{folder}/bin:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT / "python"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "CMAKE_GENERATOR": "Ninja",
            "CMAKE_PREFIX_PATH": str(arguments.prefix),
            "PKG_CONFIG_PATH": pkgconfig,
        }
        subprocess.run(["bash", "-c", script(found, folder)], env=environment, check=True)
        failures = 0
        for number, (kind, *what) in enumerate(found):
            if kind != "command":
                continue
            command, expected, figures_vary = what
            printed = (folder / str(number)).read_text()
            compared = (
                "".join(" ".join(line.split()) + "\n" for line in printed.splitlines()) if figures_vary else printed
            )
            good = (
                pattern(expected, figures_vary).fullmatch(compared)
                if expected
                else int((folder / f"status{number}").read_text()) == 0
            )
            if not good:
                failures += 1
                print(
                    f"{arguments.page.name}: $ {command}\n  expected:",
                    *expected,
                    "  printed:",
                    *printed.splitlines(),
                    sep="\n    ",
                )
    return 1 if failures else 0


sys.exit(main())
