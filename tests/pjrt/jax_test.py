"""JAX on Hilo: jax_test.py LIBPJRT_HILO [NAME...]

Runs the programs of jax_programs.py, and what jax_features.py, jax_callbacks.py, jax_platform_name.py, jax_recovery.py and jax_sharding.py do with devices,
donation, callbacks, caches, deaths of processes and the like. Without JAX it says so and passes: JAX is nothing that Hilo needs.
"""

import importlib.util
import os
import pathlib
import sys
import traceback

HERE = pathlib.Path(__file__).resolve().parent


def main():
    if importlib.util.find_spec("jax") is None:
        print("skipped: this Python has no jax")
        return 0
    os.environ["HILO_PJRT_LIBRARY"] = sys.argv[1]
    os.environ["HILO_NUM_DEVICES"] = "4"
    os.environ["JAX_PLATFORMS"] = "hilo,cpu"
    sys.path[:0] = [str(HERE), str(HERE.parents[1] / "python")]
    import jax_callbacks  # this, jax_platform_name, jax_recovery and jax_sharding add to the features
    import jax_features
    import jax_platform_name
    import jax_programs
    import jax_recovery
    import jax_sharding

    wanted = sys.argv[2:]
    tests = {name: (compare, (function, args)) for name, (function, args) in jax_programs.PROGRAMS.items()}
    tests |= {name: (function, ()) for name, function in jax_features.FEATURES.items()}
    failed = []
    for name, (test, args) in tests.items():
        if wanted and name not in wanted:
            continue
        try:
            test(*args)
        except Exception as error:  # the others are of interest too
            failed.append(name)
            text = traceback.format_exc() if wanted else f"{type(error).__name__}: {error}"
            print(f"FAILED {name}: {text if wanted else text[:400]}", flush=True)
    print(f"{len(tests) if not wanted else len(wanted)} programs, {len(failed)} failed")
    return 1 if failed else 0


def compare(function, args):
    """Results on Hilo against those on jaxlib's CPU, bit for bit where they are integers."""
    import jax
    import numpy as np

    here, there = jax.devices("hilo")[0], jax.devices("cpu")[0]
    given = [jax.tree.leaves(jax.jit(function)(*jax.device_put(args, device))) if args else on_device(function, device) for device in (here, there)]
    assert len(given[0]) == len(given[1])
    for ours, theirs in zip(*given):
        assert args == () or ours.devices() == {here}, ours.devices()
        ours, theirs = np.asarray(ours), np.asarray(theirs)
        assert ours.dtype == theirs.dtype and ours.shape == theirs.shape, (ours.dtype, ours.shape, theirs.dtype, theirs.shape)
        if ours.dtype.kind in "fcV":
            np.testing.assert_allclose(ours, theirs, rtol=3e-5, atol=3e-5)
        else:
            np.testing.assert_array_equal(ours, theirs)


def on_device(function, device):
    import jax

    with jax.default_device(device):
        return jax.tree.leaves(jax.jit(function)())


sys.exit(main())
