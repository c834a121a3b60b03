"""The programs of programs.py and the rows of rows_jax.py in JAX: bench_jax.py ELEMENTS PLATFORM LINES. PLATFORM is "cuda", JAX's own, or "hilo" (with the plugin's environment).

Appends a line of JSON to the file LINES for each that is not there yet: {name, and what clock.measure returns}, or {name, error}. Says so if there is no JAX or no such device.
"""
import sys

import clock
import lines
import programs


def main():
  elements, platform = int(sys.argv[1]), sys.argv[2]
  try:
    import jax
    import jax.numpy as jnp
    jax.config.update("jax_platforms", f"{platform},cpu" if platform == "cuda" else platform)
    jax.devices(platform)
  except Exception as error:  # not installed, or no device for it
    print(f"JAX on {platform} is not measured: {error}".splitlines()[0])
    return 0
  import rows_jax
  rows = (jnp.arange(elements // programs.WIDTH, dtype=jnp.uint32) * jnp.uint32(7919)) & jnp.uint32(elements // programs.WIDTH - 1)
  table = programs.functions(jnp, elements, lambda x: jax.nn.softmax(x, axis=1), lambda t: t[rows], lambda t, u: t.at[rows].add(u, unique_indices=True), jnp.sort, jax.lax.top_k, jnp.concatenate,
                             lambda x: jnp.cumsum(x, axis=1))
  convolve = lambda x, w: jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
  if not lines.is_small(elements):
    table.update(programs.layers(lambda a, b: a @ b, convolve, jax.nn.relu, lambda x, w, y: jax.vjp(lambda v: convolve(x, v), w)[1](y)[0]))
  arguments_of = lambda name, shapes: [jax.random.normal(jax.random.key(i), shape, jnp.bfloat16 if "bf16" in name else jnp.float32) for i, shape in enumerate(shapes)]
  work = {name: lambda name=name, f=function, s=shapes: (f, arguments_of(name, s)) for name, (function, shapes) in table.items()}
  work.update({name: lambda row=row: row for name, row in rows_jax.rows(lines.is_small(elements)).items()})

  def measure(function, arguments):
    compiled = jax.jit(function)
    return clock.measure(lambda: compiled(*arguments), jax.block_until_ready)

  return lines.measure_all(work, measure, sys.argv[3])


if __name__ == "__main__":
  sys.exit(main())
