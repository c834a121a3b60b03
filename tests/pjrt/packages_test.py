"""Packages that people use with JAX, on Hilo: packages_test.py LIBPJRT_HILO [NAME...]

Each program runs on Hilo and on jaxlib's CPU with the same seeds, and the results are compared. What is not installed is skipped with a word.
"""

import importlib.util
import os
import pathlib
import sys
import tempfile
import traceback

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = []


def program(*packages):
    def add(function):
        PROGRAMS.append((function, packages))
        return function
    return add


@program("flax", "optax")
def flax_linen_with_batch_norm_and_dropout():
    import flax.linen as nn
    import jax
    import optax

    class Network(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = nn.relu(nn.BatchNorm(use_running_average=False)(nn.Conv(4, (3, 3))(x)))
            x = nn.avg_pool(x, (2, 2), (2, 2)).reshape(x.shape[0], -1)
            return nn.Dense(3)(nn.Dropout(0.1, deterministic=False)(x))

    model, optimizer = Network(), optax.adamw(1e-2)
    x, labels = jax.random.normal(jax.random.key(2), (6, 8, 8, 1)), jax.numpy.arange(6) % 3
    state = model.init({"params": jax.random.key(0), "dropout": jax.random.key(1)}, x)
    parameters, statistics = state["params"], state["batch_stats"]
    moments = optimizer.init(parameters)

    @jax.jit
    def step(parameters, statistics, moments, key):
        def loss(parameters):
            logits, new = model.apply({"params": parameters, "batch_stats": statistics}, x, rngs={"dropout": key}, mutable=["batch_stats"])
            return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean(), new["batch_stats"]
        (value, new), gradient = jax.value_and_grad(loss, has_aux=True)(parameters)
        updates, moments2 = optimizer.update(gradient, moments, parameters)
        return optax.apply_updates(parameters, updates), new, moments2, value
    losses = []
    for i in range(4):
        parameters, statistics, moments, value = step(parameters, statistics, moments, jax.random.key(i))
        losses.append(value)
    return losses


@program("flax", "optax")
def flax_nnx():
    import jax
    import optax
    from flax import nnx

    class Model(nnx.Module):
        def __init__(self, rngs):
            self.inner, self.norm, self.outer = nnx.Linear(3, 8, rngs=rngs), nnx.LayerNorm(8, rngs=rngs), nnx.Linear(8, 2, rngs=rngs)

        def __call__(self, x):
            return self.outer(nnx.gelu(self.norm(self.inner(x))))

    model = Model(nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adam(1e-2), wrt=nnx.Param)
    x = jax.random.normal(jax.random.key(1), (6, 3))

    @nnx.jit
    def step(model, optimizer):
        loss, gradient = nnx.value_and_grad(lambda model: (model(x) ** 2).mean())(model)
        optimizer.update(model, gradient)
        return loss
    return [step(model, optimizer) for _ in range(4)]


@program("equinox", "optax")
def equinox_with_optax():
    import equinox as eqx
    import jax
    import optax

    model, optimizer = eqx.nn.MLP(3, 2, 8, 2, key=jax.random.key(0)), optax.chain(optax.clip_by_global_norm(1.0), optax.rmsprop(1e-2))
    x = jax.random.normal(jax.random.key(1), (10, 3))
    state = optimizer.init(eqx.filter(model, eqx.is_array))

    @eqx.filter_jit
    def step(model, state):
        loss, gradient = eqx.filter_value_and_grad(lambda model: (jax.vmap(model)(x) ** 2).mean())(model)
        updates, state = optimizer.update(gradient, state)
        return eqx.apply_updates(model, updates), state, loss
    losses = []
    for _ in range(4):
        model, state, loss = step(model, state)
        losses.append(loss)
    refused = eqx.filter_jit(lambda x: eqx.error_if(x, x < 0, "it must not be negative"))
    try:
        jax.block_until_ready(refused(jax.numpy.float32(-1)))
    except Exception as error:
        assert "it must not be negative" in str(error), error
    else:
        raise AssertionError("an error was lost")
    return losses


@program("diffrax")
def diffrax_with_adjoint():
    import diffrax
    import jax
    import jax.numpy as jnp

    field = diffrax.ODETerm(lambda t, y, a: jnp.stack([a[0] * y[0] - y[0] * y[1], -y[1] + a[1] * y[0] * y[1]]))

    def total(a):
        return diffrax.diffeqsolve(field, diffrax.Tsit5(), 0, 2, 0.05, jnp.array([1.0, 2.0]), args=a, max_steps=200,
                                   stepsize_controller=diffrax.PIDController(1e-4, 1e-5)).ys.sum()
    return jax.jit(jax.value_and_grad(total))(jnp.array([1.1, 0.9]))


@program("numpyro")
def numpyro_svi():
    import jax
    import numpy as np
    import numpyro
    from numpyro import distributions, infer

    given = np.random.default_rng(0).standard_normal(50).astype(np.float32) + 3

    def model(x):
        mean = numpyro.sample("mean", distributions.Normal(0, 5))
        with numpyro.plate("data", x.shape[0]):
            numpyro.sample("x", distributions.Normal(mean, 1), obs=x)
    svi = infer.SVI(model, infer.autoguide.AutoNormal(model), numpyro.optim.Adam(0.05), infer.Trace_ELBO())
    return svi.run(jax.random.key(0), 60, jax.numpy.asarray(given), progress_bar=False).losses[-3:]


@program("blackjax")
def blackjax_hmc():
    import blackjax
    import jax
    import jax.numpy as jnp

    hmc = blackjax.hmc(lambda x: -0.5 * jnp.sum(x ** 2 * jnp.array([1.0, 2.0])), 0.1, jnp.ones(2), 10)

    def step(state, key):
        state, _ = hmc.step(key, state)
        return state, state.position
    return jax.jit(lambda state: jax.lax.scan(step, state, jax.random.split(jax.random.key(0), 6)))(hmc.init(jnp.ones(2)))[1]


@program("orbax.checkpoint")
def orbax_checkpoint():
    import jax
    import jax.numpy as jnp
    import numpy as np
    import orbax.checkpoint as checkpoint

    tree = {"w": jnp.arange(12.0).reshape(3, 4), "i": jnp.int32(3), "b": jnp.ones(5, jnp.bfloat16)}
    with tempfile.TemporaryDirectory() as folder, checkpoint.StandardCheckpointer() as checkpointer:
        checkpointer.save(folder + "/x", tree)
        checkpointer.wait_until_finished()
        again = checkpointer.restore(folder + "/x", jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=x.sharding), tree))
    for name, array in tree.items():
        np.testing.assert_array_equal(np.asarray(again[name]), np.asarray(array))
        assert again[name].devices() == array.devices()
    return []


def has(package):
    try:
        return importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:  # the package that it would be in
        return False


def main():
    if not has("jax"):
        print("skipped: this Python has no jax")
        return 0
    os.environ["HILO_PJRT_LIBRARY"] = sys.argv[1]
    os.environ["JAX_PLATFORMS"] = "hilo,cpu"
    sys.path.insert(0, str(HERE.parents[1] / "python"))
    import jax
    import numpy as np

    failed = 0
    for function, packages in PROGRAMS:
        if sys.argv[2:] and function.__name__ not in sys.argv[2:]:
            continue
        if missing := [package for package in packages if not has(package)]:
            print(f"skipped {function.__name__}: there is no {missing[0]}")
            continue
        try:
            results = []
            for platform in ("hilo", "cpu"):
                with jax.default_device(jax.devices(platform)[0]):
                    results.append([np.asarray(leaf, np.float64) for leaf in jax.tree.leaves(function())])
            for ours, theirs in zip(*results, strict=True):
                np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-4)
            print(f"passed {function.__name__}", flush=True)
        except Exception:
            failed += 1
            print(f"FAILED {function.__name__}: {traceback.format_exc()}", flush=True)
    return 1 if failed else 0


sys.exit(main())
