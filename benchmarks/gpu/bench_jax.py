"""The programs of programs.py in JAX on its first GPU. bench_jax.py ELEMENTS: a line of JSON each, {name, ms} with the median of 20 runs; says so if there is no JAX or no GPU."""
import json
import statistics
import sys
import time

import programs


def main():
  elements = int(sys.argv[1])
  try:
    import jax
    import jax.numpy as jnp
    jax.devices("gpu")
  except Exception as error:  # not installed, or no GPU for it
    print(f"JAX is not measured: {error}".splitlines()[0])
    return
  rows = (jnp.arange(elements // programs.WIDTH, dtype=jnp.uint32) * jnp.uint32(7919)) & jnp.uint32(elements // programs.WIDTH - 1)
  table = programs.functions(jnp, elements, lambda x: jax.nn.softmax(x, axis=1), lambda t: t[rows], lambda t, u: t.at[rows].add(u, unique_indices=True), jnp.sort, jax.lax.top_k, jnp.concatenate,
                             lambda x: jnp.cumsum(x, axis=1))
  convolve = lambda x, w: jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
  table.update(programs.layers(lambda a, b: a @ b, convolve, jax.nn.relu, lambda x, w, y: jax.vjp(lambda v: convolve(x, v), w)[1](y)[0]))
  for name, (function, shapes) in table.items():
    arguments = [jax.random.normal(jax.random.key(i), shape, jnp.bfloat16 if "bf16" in name else jnp.float32) for i, shape in enumerate(shapes)]
    compiled = jax.jit(function)
    jax.block_until_ready(compiled(*arguments))
    times = []
    for _ in range(20):
      start = time.perf_counter()
      jax.block_until_ready(compiled(*arguments))
      times.append(1e3 * (time.perf_counter() - start))
    print(json.dumps({"name": name, "ms": statistics.median(times)}), flush=True)


if __name__ == "__main__":
  main()
