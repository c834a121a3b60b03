"""The sizes of the rows; the small ones try the script on the emulated device."""
import types


def sizes(small):
  if small:
    return types.SimpleNamespace(products=[64], attention=[(64, 2)], longest_gradient=64, width=64, batch=1, length=32, rows=16, steps=4, cache=32, elements=4096, matrix=16,
                                 images=(2, 16), stages=[(8, 1), (16, 2)])
  return types.SimpleNamespace(products=[1024, 2048, 4096, 8192], attention=[(2048, 16), (8192, 16), (32768, 2)], longest_gradient=8192, width=1024, batch=8, length=1024, rows=4096,
                               steps=128, cache=4096, elements=1 << 24, matrix=2048, images=(64, 224), stages=[(64, 3), (128, 4), (256, 6), (512, 3)])
