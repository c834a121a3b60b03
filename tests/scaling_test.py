"""Compiles a program and one of eight times as many instructions, whose time must grow with the number alone: scaling_test.py HILO."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "benchmarks"))
import scaling  # noqa: E402

SMALL, TIMES = 1000, 8
MOST_GROWTH = 1.5 * TIMES  # measured: 7 to 8; what is quadratic has 64
ATTEMPTS = 3  # other work on the machine


def growth(hilo, shape):
    seconds = [scaling.compile_chain(hilo, instructions, shape)[0] for instructions in (SMALL, TIMES * SMALL)]
    return seconds[1] / seconds[0]


def main():
    failures = 0
    for shape in ("f32[]", "f32[8]"):
        least = min(growth(sys.argv[1], shape) for _ in range(ATTEMPTS))
        print(f"{'ok' if least <= MOST_GROWTH else 'FAILED'}: {TIMES} times as many instructions on {shape} take {least:.1f} times as long; at most {MOST_GROWTH:g}")
        failures += least > MOST_GROWTH
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
