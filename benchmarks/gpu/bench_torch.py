"""The programs of programs.py and the rows of rows_torch.py in PyTorch on its first GPU: bench_torch.py ELEMENTS LINES. What LINES gets is as in bench_jax.py, and device_ms in addition: of
one of the queued runs, by events of the device. Says so if there is no PyTorch or no GPU."""
import sys

import clock
import lines
import programs


def main():
  elements = int(sys.argv[1])
  try:
    import torch
    if not torch.cuda.is_available():
      raise RuntimeError("it sees no GPU")
  except Exception as error:  # not installed, or no GPU for it
    print(f"PyTorch is not measured: {error}".splitlines()[0])
    return 0
  import rows_torch
  count = elements // programs.WIDTH
  rows = (torch.arange(count, device="cuda") * 7919) & (count - 1)
  table = programs.functions(torch, elements, lambda x: torch.softmax(x, 1), lambda t: t[rows], lambda t, u: t.index_add(0, rows, u), lambda x: torch.sort(x).values, torch.topk, torch.cat,
                             lambda x: torch.cumsum(x, 1))
  torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = torch.backends.cudnn.benchmark = True
  # The arrays of programs.layers are NHWC and HWIO; as PyTorch sees them in NCHW and OIHW, they lie as its channels_last.
  images, filters = lambda x: x.permute(0, 3, 1, 2), lambda w: w.permute(3, 2, 0, 1)
  convolve = lambda x, w: torch.nn.functional.conv2d(images(x), filters(w), padding=1).permute(0, 2, 3, 1)
  table.update(programs.layers(torch.matmul, convolve, torch.relu, lambda x, w, y: torch.nn.grad.conv2d_weight(images(x), filters(w).shape, images(y), padding=1)))
  arguments_of = lambda name, shapes: [torch.randn(shape, device="cuda", dtype=torch.bfloat16 if "bf16" in name else torch.float32) for shape in shapes]
  work = {name: lambda name=name, f=function, s=shapes: (f, arguments_of(name, s)) for name, (function, shapes) in table.items()}
  work.update({name: lambda row=row: row for name, row in rows_torch.rows(lines.is_small(elements)).items()})

  def measure(function, arguments):
    try:
      compiled = torch.compile(function)
      compiled(*arguments)
    except Exception:  # a machine without a host compiler
      compiled = function
    call, wait = lambda: compiled(*arguments), lambda _: torch.cuda.synchronize()
    row = clock.measure(call, wait)
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    for _ in range(row["runs"]):
      call()
    end.record()
    end.synchronize()
    return {**row, "device_ms": start.elapsed_time(end) / row["runs"]}

  return lines.measure_all(work, measure, sys.argv[2])


if __name__ == "__main__":
  sys.exit(main())
