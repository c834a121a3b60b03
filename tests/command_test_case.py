"""What tests of the program hilo have in common: PROGRAM HILO SOURCES [UNITTEST-ARGUMENT...]"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HILO, SOURCES = os.path.abspath(sys.argv.pop(1)), pathlib.Path(sys.argv.pop(1))
TRAIN = SOURCES / "examples/digits/train_step.hlo"

CHAIN = """HloModule chain
ENTRY main {
  x = f32[8] parameter(0)
  a = f32[8] sine(x)
  b = f32[8] add(a, x)
  c = f32[8] multiply(b, b)
  d = f32[8] tanh(c)
  e = f32[8] cosine(d)
  ROOT r = (f32[8], f32[8]) tuple(e, b)
}
"""
# Subtracts 1 in a loop, and takes the logarithm.
LOGARITHMS = """HloModule logarithms
body {
  s = (f32[2], s32[]) parameter(0)
  x = f32[2] get-tuple-element(s), index=0
  i = s32[] get-tuple-element(s), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  ones = f32[2] constant({1, 1})
  y = f32[2] subtract(x, ones)
  l = f32[2] log(y), metadata={op_name="jit(loss)/log" source_file="loss.py" source_line=12}
  ROOT t = (f32[2], s32[]) tuple(l, next)
}
condition {
  s = (f32[2], s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=1
  n = s32[] constant(3)
  ROOT c = pred[] compare(i, n), direction=LT
}
ENTRY main {
  x = f32[2] parameter(0)
  zero = s32[] constant(0)
  t = (f32[2], s32[]) tuple(x, zero)
  w = (f32[2], s32[]) while(t), condition=condition, body=body
  ROOT r = f32[2] get-tuple-element(w), index=0
}
"""


def hilo(*arguments, **options):
    return subprocess.run([HILO, *map(str, arguments)], capture_output=True, text=True, timeout=300, **options)


class CommandTestCase(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def file(self, text, name="module.hlo"):
        path = self.folder / name
        path.write_text(text)
        return path

    def check(self, done, code, pattern="", stream="stdout"):
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertIsNotNone(re.search(pattern, getattr(done, stream)), f"expected {pattern} in {done.stdout}{done.stderr}")
