"""Programs that a GPU's memory bounds, the bytes that each must move at least, and the same in JAX and PyTorch.

  programs.py FOLDER ELEMENTS   writes FOLDER/NAME.hlo for arrays of some ELEMENTS (a power of two, 2**14 at least), and FOLDER/programs.json: a list of {name, bytes}
"""
import json
import pathlib
import sys

ADD = "add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }"
MAX = "max { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] maximum(a, b) }"
LESS = "less { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = pred[] compare(a, b), direction=LT, type=TOTALORDER }"
COLUMNS = 1024
WIDTH = 128  # of rows that are gathered and scattered


def programs(elements):
  """(name, computations, entry, bytes) of each; the first is the copy that the others are compared with."""
  n, r, c, w = elements, elements // COLUMNS, COLUMNS, WIDTH
  x = f"x = f32[{r},{c}] parameter(0)  zero = f32[] constant(0)  low = f32[] constant(-inf)"
  # Every row once, in an order that caches do not like.
  rows = (f"i = u32[{n // w}] iota(), iota_dimension=0  p = u32[] constant(7919)  ps = u32[{n // w}] broadcast(p), dimensions={{}}  "
          f"m = u32[{n // w}] multiply(i, ps)  k = u32[] constant({n // w - 1})  ks = u32[{n // w}] broadcast(k), dimensions={{}}  "
          f"at = u32[{n // w}] and(m, ks)  index = s32[{n // w}] convert(at)")
  softmax = (f"m = f32[{r}] reduce(x, low), dimensions={{1}}, to_apply=max  mb = f32[{r},{c}] broadcast(m), dimensions={{0}}  d = f32[{r},{c}] subtract(x, mb)  "
             f"e = f32[{r},{c}] exponential(d)  s = f32[{r}] reduce(e, zero), dimensions={{1}}, to_apply=add  sb = f32[{r},{c}] broadcast(s), dimensions={{0}}  "
             f"ROOT y = f32[{r},{c}] divide(e, sb)")
  norm = (f"f = f32[] constant({1 / c})  fs = f32[{r}] broadcast(f), dimensions={{}}  s = f32[{r}] reduce(x, zero), dimensions={{1}}, to_apply=add  mean = f32[{r}] multiply(s, fs)  "
          f"mb = f32[{r},{c}] broadcast(mean), dimensions={{0}}  d = f32[{r},{c}] subtract(x, mb)  q = f32[{r},{c}] multiply(d, d)  "
          f"v = f32[{r}] reduce(q, zero), dimensions={{1}}, to_apply=add  var = f32[{r}] multiply(v, fs)  t = f32[] constant(1e-5)  ts = f32[{r}] broadcast(t), dimensions={{}}  "
          f"u = f32[{r}] add(var, ts)  z = f32[{r}] rsqrt(u)  zb = f32[{r},{c}] broadcast(z), dimensions={{0}}  ROOT y = f32[{r},{c}] multiply(d, zb)")
  return [
      ("copy", "", f"x = f32[{n}] parameter(0)  ROOT y = f32[{n}] negate(x)", 8 * n),
      ("elementwise", "", f"x = f32[{n}] parameter(0)  a = f32[{n}] parameter(1)  e = f32[{n}] tanh(x)  m = f32[{n}] multiply(e, a)  ROOT y = f32[{n}] add(m, x)", 12 * n),
      ("row_sums", ADD, f"{x}  ROOT y = f32[{r}] reduce(x, zero), dimensions={{1}}, to_apply=add", 4 * n + 4 * r),
      ("column_sums", ADD, f"{x}  ROOT y = f32[{c}] reduce(x, zero), dimensions={{0}}, to_apply=add", 4 * n + 4 * c),
      ("softmax", ADD + "\n" + MAX, f"{x}  {softmax}", 8 * n),
      ("layer_norm", ADD, f"{x}  {norm}", 8 * n),
      ("transpose", "", f"{x}  ROOT y = f32[{c},{r}] transpose(x), dimensions={{1,0}}", 8 * n),
      ("gather", "", f"t = f32[{n // w},{w}] parameter(0)  {rows}  ROOT y = f32[{n // w},{w}] gather(t, index), offset_dims={{1}}, collapsed_slice_dims={{0}}, "
                     f"start_index_map={{0}}, index_vector_dim=1, slice_sizes={{1,{w}}}", 8 * n),
      ("scatter", ADD, f"t = f32[{n // w},{w}] parameter(0)  u = f32[{n // w},{w}] parameter(1)  {rows}  ROOT y = f32[{n // w},{w}] scatter(t, index, u), update_window_dims={{1}}, "
                       f"inserted_window_dims={{0}}, scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, unique_indices=true, to_apply=add", 12 * n),
      ("sort", LESS, f"x = f32[{n // 16}] parameter(0)  ROOT y = f32[{n // 16}] sort(x), dimensions={{0}}, to_apply=less", n // 2),
      ("top_k", "", f"{x}  ROOT y = (f32[{r},16], s32[{r},16]) topk(x), k=16, largest=true", 4 * n),
      ("concatenate", "", f"a = f32[{r},{c // 4}] parameter(0)  b = f32[{r},{3 * c // 4}] parameter(1)  ROOT y = f32[{r},{c}] concatenate(a, b), dimensions={{1}}", 8 * n),
      ("cumsum", ADD, f"{x}  ROOT y = f32[{r},{c}] reduce-window(x, zero), window={{size=1x{c} pad=0_0x{c - 1}_0}}, to_apply=add", 8 * n),
  ]


def layers(product, convolve, relu, filter_gradient):
  """Some of benchmarks/gpu/{gemm,conv}_*.hlo: {name: (function, shapes)}. Images are NHWC and filters HWIO."""
  images, filters = (32, 28, 28, 256), (3, 3, 256, 256)
  return {
      "gemm_f32": (product, [(1024, 1024), (1024, 1024)]),
      "conv_f32": (convolve, [images, filters]),
      "conv_bf16_epilogue": (lambda x, w, v: relu(convolve(x, w) + v), [images, filters, (256,)]),
      "conv_bf16_filter_gradient": (filter_gradient, [images, filters, images]),
  }


def functions(np, elements, softmax, gather_rows, scatter_add, sort, top_k, concatenate, cumsum):
  """The programs as functions, by name: (function, shapes of its arguments). What the libraries spell differently comes as arguments."""
  n, r, c, w = elements, elements // COLUMNS, COLUMNS, WIDTH

  def layer_norm(x):
    d = x - x.mean(1)[:, None]
    return d * ((d * d).mean(1) + 1e-5)[:, None] ** -0.5

  return {
      "copy": (lambda x: -x, [(n,)]),
      "elementwise": (lambda x, a: np.tanh(x) * a + x, [(n,), (n,)]),
      "row_sums": (lambda x: x.sum(1), [(r, c)]),
      "column_sums": (lambda x: x.sum(0), [(r, c)]),
      "softmax": (softmax, [(r, c)]),
      "layer_norm": (layer_norm, [(r, c)]),
      "transpose": (lambda x: x.T + 0, [(r, c)]),
      "gather": (gather_rows, [(n // w, w)]),
      "scatter": (scatter_add, [(n // w, w), (n // w, w)]),
      "sort": (sort, [(n // 16,)]),
      "top_k": (lambda x: top_k(x, 16), [(r, c)]),
      "concatenate": (lambda a, b: concatenate((a, b), 1), [(r, c // 4), (r, 3 * c // 4)]),
      "cumsum": (cumsum, [(r, c)]),
  }


def main():
  folder, elements = pathlib.Path(sys.argv[1]), int(sys.argv[2])
  folder.mkdir(parents=True, exist_ok=True)
  table = []
  for name, computations, entry, size in programs(elements):
    (folder / f"{name}.hlo").write_text(f"HloModule {name}\n{computations}\nENTRY main {{\n  " + entry.replace("  ", "\n  ") + "\n}\n")
    table.append({"name": name, "bytes": size})
  (folder / "programs.json").write_text(json.dumps(table))


if __name__ == "__main__":
  main()
