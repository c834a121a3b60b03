"""Trains a logistic regression on a platform of Hilo's, without JAX: python logistic.py [PLATFORM]

The step is HLO text. Arrays are lists of Python's here; NumPy's and PyTorch's go the same way.
"""

import pathlib
import random
import sys
import tempfile

try:
    import hilo
except ImportError:  # in the source tree
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
    import hilo

STEP = """
HloModule step, input_output_alias={ {0}: (0, {}, may-alias) }
sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY main {
  weights = f32[3] parameter(0)  points = f32[256,3] parameter(1)  labels = f32[256] parameter(2)
  scores = f32[256] dot(points, weights), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  guesses = f32[256] logistic(scores)
  errors = f32[256] subtract(guesses, labels)
  gradient = f32[3] dot(errors, points), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  rate = f32[] constant(0.01)  rates = f32[3] broadcast(rate), dimensions={}
  change = f32[3] multiply(rates, gradient)
  next = f32[3] subtract(weights, change)
  squares = f32[256] multiply(errors, errors)
  zero = f32[] constant(0)
  loss = f32[] reduce(squares, zero), dimensions={0}, to_apply=sum
  ROOT both = (f32[3], f32[]) tuple(next, loss)
}
"""


def main():
    platform = sys.argv[1] if len(sys.argv) > 1 else "cpu"
    step = hilo.compile(STEP, platform)
    random.seed(1)
    points = [[random.uniform(-1, 1), random.uniform(-1, 1), 1.0] for _ in range(256)]
    labels = [float(2 * x - y + 0.5 > 0) for x, y, _ in points]
    client = step.client
    points, labels = client.array(points, "f32"), client.array(labels, "f32")  # on the device, once
    weights = client.array([0, 0, 0], "f32")
    for i in range(301):
        weights, loss = step(weights, points, labels, donate=[0])
        if i % 100 == 0:
            print(f"step {i}: loss {loss.item():.4f}")
    x, y, one = weights.tolist()
    print(f"the line {x / one:.1f} x {y / one:+.1f} y + 1 = 0")
    with tempfile.NamedTemporaryFile(suffix=".hilo") as file:
        step.save(file.name)
        again, _ = hilo.load(file.name, platform)(weights, points, labels)
        print("the same from a file:", again.tolist() == step(weights, points, labels)[0].tolist())


if __name__ == "__main__":
    main()
