"""Python functions that programs of JAX call; jax_test.py runs these beside jax_features.py."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import NamedSharding, PartitionSpec as P

from jax_features import feature, mesh, run_alone


@feature
def pure_callback():
    result = jax.ShapeDtypeStruct((3,), jnp.float32)
    double = jax.jit(lambda x: jax.pure_callback(lambda v: np.asarray(v) * 2, result, x) + 1)
    np.testing.assert_allclose(double(jnp.arange(3.)), [1, 3, 5])
    batched = jax.vmap(lambda x: jax.pure_callback(lambda v: np.sin(v), jax.ShapeDtypeStruct((), jnp.float32), x, vmap_method="sequential"))
    np.testing.assert_allclose(batched(jnp.arange(4.)), np.sin(np.arange(4.)), rtol=1e-6)
    # The address of a result that is not computed yet: the callback needs Python's lock meanwhile.
    program = """
import faulthandler, time
faulthandler.dump_traceback_later(60, exit=True)
import jax, jax.numpy as jnp, numpy as np
def slow(v):
    time.sleep(0.1)
    return np.asarray(v) * 2
x = jnp.ones((256, 256))
y = jax.jit(lambda v: jax.pure_callback(slow, jax.ShapeDtypeStruct(v.shape, v.dtype), v) @ v)(x)
assert y.unsafe_buffer_pointer() != 0
np.testing.assert_array_equal(y, np.full((256, 256), 512.0))
"""
    run_alone(program)

    def fails(_):
        raise ValueError("no such thing")
    try:
        jax.block_until_ready(jax.jit(lambda x: jax.pure_callback(fails, result, x))(jnp.arange(3.)))
    except Exception as error:
        assert "no such thing" in str(error), error
    else:
        raise AssertionError("an exception was lost")


@feature
def calls_of_unknown_python_functions():
    result = jax.ShapeDtypeStruct((3,), jnp.float32)
    for attributes, expected in (({}, 'needs an attribute "number" of 64 bits'),
                                 ({"number": np.int32(1)}, 'needs an attribute "number" of 64 bits'),
                                 ({"number": np.int64(1)}, "the Python function of this program is gone")):
        call = jax.jit(lambda x: jax.ffi.ffi_call("hilo_python_callback", result)(x, **attributes))
        try:
            jax.block_until_ready(call(jnp.arange(3.)))
        except Exception as error:
            assert expected in str(error), error
        else:
            raise AssertionError(f"a call with {attributes} was accepted")


@feature
def interrupted_callbacks():
    # The exception of a signal's handler comes where Python goes on: at the start of a callback, if it was a program that ran.
    program = '''
import signal, time
import jax, jax.numpy as jnp, numpy as np
class Interrupt(Exception):
    pass
armed = False
def raise_interrupt(*_):
    global armed
    if armed:
        armed = False
        raise Interrupt
signal.signal(signal.SIGALRM, raise_interrupt)
def step(i, v):
    return jnp.tanh(v @ v.T / 64 + i)
def run(x, delay):
    function = jax.jit(lambda v: jax.pure_callback(lambda w: np.asarray(w) + 1, jax.ShapeDtypeStruct(v.shape, v.dtype), jax.lax.fori_loop(0, 200, step, v)))
    function = function.lower(x).compile()
    global armed
    try:
        armed = True
        signal.setitimer(signal.ITIMER_REAL, delay)
        jax.block_until_ready(function(x))
        armed = False
        return 0
    except Interrupt:
        return 1
    except Exception as error:
        armed = False
        assert "interrupted by an exception" in str(error) or "Interrupt" in str(error), error
        return 1
x = jnp.ones((64, 64))
interrupted = sum(run(x, 0.0002 * i) for i in range(1, 40))
assert interrupted > 0
assert run(x, 1000) == 0
'''
    run_alone(program)


@feature
def io_callbacks_and_prints():
    from jax.experimental import io_callback

    seen = []
    jax.jit(lambda x: [io_callback(lambda v, k=k: seen.append((k, float(v))), None, x + k, ordered=True) for k in range(3)] and x)(1.0)
    jax.effects_barrier()
    assert seen == [(0, 1.0), (1, 2.0), (2, 3.0)], seen
    lines = []
    jax.jit(lambda x: (jax.debug.callback(lambda v: lines.append(float(v)), x), jax.debug.print("x is {}", x), x)[-1])(4.0)
    jax.effects_barrier()
    assert lines == [4.0]

    def body(i, x):
        io_callback(lambda v: seen.append(int(v)), None, i, ordered=True)
        return x + i
    seen.clear()
    jax.block_until_ready(jax.jit(lambda x: lax.fori_loop(0, 4, body, x))(0))
    jax.effects_barrier()
    assert seen == [0, 1, 2, 3], seen

    # A loop of unknown length, that is a program of unknown time: its effects are there when the call returns.
    def counting(c):
        jax.debug.callback(lambda i: seen.append(int(i)), c[0])
        return c[0] + 1, c[1] @ c[1]
    seen.clear()
    jax.jit(lambda n, x: lax.while_loop(lambda c: c[0] < n, counting, (0, x)))(5, jnp.eye(64))
    assert seen == [0, 1, 2, 3, 4], seen


@feature
def callbacks_of_sharded_programs():
    lines = []
    x = jax.device_put(jnp.arange(8.), NamedSharding(mesh(4), P("a")))
    jax.block_until_ready(jax.jit(lambda v: (jax.debug.callback(lambda s: lines.append(float(s)), v.sum()), v + 1)[1])(x))
    jax.effects_barrier()
    assert lines == [28.0], lines
    doubled = jax.jit(lambda v: jax.pure_callback(lambda a: np.asarray(a) * 2, jax.ShapeDtypeStruct(v.shape, v.dtype), v))(x)
    np.testing.assert_allclose(np.asarray(doubled), 2 * np.arange(8.))


@feature
def callbacks_of_shards():
    """With partitioned=True each device makes the call, of what it has; in a shard_map with automatic axes one of each manual coordinate."""
    devices, seen = mesh(2, 2), []
    x = jax.device_put(jnp.arange(16.).reshape(4, 4), NamedSharding(devices, P("a", "b")))
    see = lambda v: seen.append((v.shape, float(v[0, 0])))
    shards = [((2, 2), 0.), ((2, 2), 2.), ((2, 2), 8.), ((2, 2), 10.)]
    jax.block_until_ready(jax.jit(lambda v: (jax.debug.callback(see, v, partitioned=True), v + 1)[1])(x))
    jax.effects_barrier()
    assert sorted(seen) == shards, seen
    seen.clear()
    jax.block_until_ready(jax.jit(lambda v: (jax.debug.callback(see, v, partitioned=True, ordered=False), v.T @ v)[1])(x))
    jax.effects_barrier()
    assert sorted(seen) == shards, seen
    for partitioned in False, True:
        seen.clear()
        local = lambda v: (jax.debug.callback(see, jnp.sqrt(v) ** 2, partitioned=partitioned), v * 2)[1]
        doubled = jax.jit(jax.shard_map(local, mesh=devices, in_specs=P("a"), out_specs=P("a"), axis_names={"a"}))(x)
        np.testing.assert_array_equal(np.asarray(doubled), 2 * np.asarray(x))
        jax.effects_barrier()
        assert [shape for shape, _ in seen] == [(2, 4)] * 2 and sorted(round(first, 3) for _, first in seen) == [0., 8.], seen


@feature
def callbacks_with_results_and_tokens():
    from jax.experimental import io_callback
    from jax.experimental import buffer_callback as buffer_callback_module
    from jax.experimental.buffer_callback import buffer_callback

    seen = []
    count = lambda v: seen.append(float(v)) or np.float32(2 * v)
    twice = jax.jit(lambda x: io_callback(count, jax.ShapeDtypeStruct((), jnp.float32), x, ordered=True) + 1)
    assert (float(twice(3.0)), float(twice(4.0)), seen) == (7.0, 9.0, [3.0, 4.0])

    def fill(context, out, x):
        assert context.stage == buffer_callback_module.ExecutionStage.EXECUTE
        try:
            raise AssertionError(f"a stream: {context.stream}")
        except jax.errors.JaxRuntimeError:  # on the host there is none
            pass
        np.asarray(out)[...] = np.asarray(x) * 2
    np.testing.assert_allclose(jax.jit(buffer_callback(fill, jax.ShapeDtypeStruct((3,), jnp.float32)))(jnp.arange(3.)), [0, 2, 4])

    def negate(context, out, x):
        assert np.asarray(x).dtype == np.asarray(out).dtype == jnp.bfloat16
        np.asarray(out)[...] = -np.asarray(x)
    negated = jax.jit(buffer_callback(negate, jax.ShapeDtypeStruct((3,), jnp.bfloat16)))(jnp.arange(3, dtype=jnp.bfloat16))
    np.testing.assert_array_equal(np.asarray(negated, np.float32), [0, -1, -2])

    def add_one(context, out, x):  # in place: the result's memory is the argument's
        assert np.asarray(x).ctypes.data == np.asarray(out).ctypes.data
        np.asarray(out)[...] += 1
    in_place = jax.jit(buffer_callback(add_one, jax.ShapeDtypeStruct((3,), jnp.float32), input_output_aliases={0: 0}))
    x = jnp.arange(3.)
    np.testing.assert_array_equal(in_place(x), [1, 2, 3])
    np.testing.assert_array_equal(x, [0, 1, 2])


@feature
def ordered_callbacks_of_shard_map():
    """The token of ordered callbacks goes through Shardy's manual computation."""
    from jax.experimental import io_callback

    seen = []
    count = lambda i, v: seen.append((int(i[0]), float(v.sum())))

    def record(i, v):
        io_callback(count, None, i, v, ordered=True)
        io_callback(count, None, i, v + 1, ordered=True)
        return v
    sharded = jax.shard_map(record, mesh=mesh(4), in_specs=(P("a"), P("a")), out_specs=P("a"))
    jax.block_until_ready(jax.jit(sharded)(jnp.arange(4), jnp.arange(8.)))
    jax.effects_barrier()
    for i in range(4):  # the order is one of each device
        assert [value for device, value in seen if device == i] == [4 * i + 1, 4 * i + 3], seen
