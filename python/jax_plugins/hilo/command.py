"""The program `hilo`, as it was installed with this package."""

import os
import pathlib
import sys


def main():
    program = pathlib.Path(__file__).resolve().parent / "bin" / "hilo"
    os.execv(program, ["hilo", *sys.argv[1:]])
