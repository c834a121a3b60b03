"""Programs that the tests of the package hilo have in common."""

import ctypes
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINE = "HloModule line\nENTRY main {\n  x = f32[3] parameter(0)\n  ROOT y = f32[3] add(x, x)\n}\n"
PAIR = """HloModule pair
ENTRY main {
  state = (f32[2,3], s32[]) parameter(0)
  x = f32[2,3] get-tuple-element(state), index=0
  n = s32[] get-tuple-element(state), index=1
  y = f32[2,3] add(x, x)
  m = s32[] add(n, n)
  ROOT both = (f32[2,3], s32[]) tuple(y, m)
}
"""
LONG = """HloModule long
body { p = s64[] parameter(0)  one = s64[] constant(1)  ROOT n = s64[] add(p, one) }
test { p = s64[] parameter(0)  end = s64[] constant(9000000000000000000)
  q = s64[] multiply(p, p)  r = s64[] xor(q, p)  ROOT c = pred[] compare(r, end), direction=NE }
ENTRY main { x = s64[] parameter(0)  big = f32[65536] parameter(1)  ROOT w = s64[] while(x), condition=test, body=body }
"""
REPLICAS = """HloModule sum, replica_count=2
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY main { x = f32[2] parameter(0)  ROOT y = f32[2] all-reduce(x), to_apply=add, replica_groups={{0,1}} }
"""
STABLEHLO = """module @twice {
  func.func public @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.add %arg0, %arg0 : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
"""


def identity(shape, name="same"):
    return f"HloModule {name}\nENTRY main {{ x = {shape} parameter(0)  ROOT y = {shape} copy(x) }}\n"


def big_program(steps):
    """A program that takes long to compile."""
    lines = "".join(f"  x{i} = f32[100] sine(y{i - 1})  r{i} = f32[100] reverse(y{i - 1}), dimensions={{0}}  y{i} = f32[100] add(x{i}, r{i})\n"
                    for i in range(1, steps))
    return f"HloModule big\nENTRY main {{ y0 = f32[100] parameter(0)\n{lines}  ROOT z = f32[100] negate(y{steps - 1}) }}"


def aligned(size):
    """A ctypes array of floats at a multiple of 64 bytes."""
    memory = (ctypes.c_char * (4 * size + 64))()
    start = -ctypes.addressof(memory) % 64
    return (ctypes.c_float * size).from_buffer(memory, start)
