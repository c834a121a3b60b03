"""The programs of programs.py in PyTorch on its first GPU. bench_torch.py ELEMENTS: a line of JSON each, {name, ms} with the median of 20 runs; says so if there is no PyTorch or no GPU."""
import json
import statistics
import sys

import programs


def main():
  elements = int(sys.argv[1])
  try:
    import torch
    if not torch.cuda.is_available():
      raise RuntimeError("it sees no GPU")
  except Exception as error:  # not installed, or no GPU for it
    print(f"PyTorch is not measured: {error}".splitlines()[0])
    return
  count = elements // programs.WIDTH
  rows = (torch.arange(count, device="cuda") * 7919) & (count - 1)
  table = programs.functions(torch, elements, lambda x: torch.softmax(x, 1), lambda t: t[rows], lambda t, u: t.index_add(0, rows, u), lambda x: torch.sort(x).values, torch.topk, torch.cat,
                             lambda x: torch.cumsum(x, 1))
  torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = torch.backends.cudnn.benchmark = True
  # The arrays of programs.layers are NHWC and HWIO; as PyTorch sees them in NCHW and OIHW, they lie as its channels_last.
  images, filters = lambda x: x.permute(0, 3, 1, 2), lambda w: w.permute(3, 2, 0, 1)
  convolve = lambda x, w: torch.nn.functional.conv2d(images(x), filters(w), padding=1).permute(0, 2, 3, 1)
  table.update(programs.layers(torch.matmul, convolve, torch.relu, lambda x, w, y: torch.nn.grad.conv2d_weight(images(x), filters(w).shape, images(y), padding=1)))
  for name, (function, shapes) in table.items():
    arguments = [torch.randn(shape, device="cuda", dtype=torch.bfloat16 if "bf16" in name else torch.float32) for shape in shapes]
    try:
      compiled = torch.compile(function)
      compiled(*arguments)
    except Exception:  # a machine without a host compiler
      compiled = function
    compiled(*arguments)
    times = []
    for _ in range(20):
      start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
      start.record()
      compiled(*arguments)
      end.record()
      end.synchronize()
      times.append(start.elapsed_time(end))
    print(json.dumps({"name": name, "ms": statistics.median(times)}), flush=True)


if __name__ == "__main__":
  main()
