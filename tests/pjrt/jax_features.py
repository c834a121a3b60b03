"""What JAX does with a platform beside running programs; jax_test.py runs these on four devices of Hilo."""

import functools
import importlib.util
import os
import socket
import subprocess
import sys
import tempfile

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P, SingleDeviceSharding

FEATURES = {}


def feature(function):
    FEATURES[function.__name__] = function
    return function


def mesh(*shape, names="ab"):
    return Mesh(np.array(jax.devices("hilo")).reshape(shape), tuple(names[:len(shape)]))


def run_alone(program, **environment):
    """Runs a program in a process of its own; returns what it prints."""
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path), **environment)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, env=environment, text=True)
    assert done.returncode == 0, done.stderr[-600:]
    return done.stdout


@feature
def default_platform():
    assert jax.default_backend() == "hilo" and len(jax.devices()) == 4
    assert jnp.ones(3).devices() == {jax.devices("hilo")[0]}


@feature
def transfers():
    for dtype in (bool, "int8", "uint16", "int32", "float16", "float32", "complex64", jnp.bfloat16, jnp.int4, jnp.float8_e5m2):
        given = np.arange(24).reshape(4, 6).astype(dtype)
        for view in (given, given.T, given[::-1, 1::2], given[:0], np.broadcast_to(given[:1], (3, 6)), given[2, 3]):
            np.testing.assert_array_equal(np.asarray(jax.device_put(view)), view)
    x = jnp.arange(5)
    np.testing.assert_array_equal(np.asarray(jax.device_put(x, jax.devices()[2])), np.arange(5))


@feature
def donation():
    step = jax.jit(lambda x, y: x + y, donate_argnums=0)
    x, y = jnp.ones(10000), jnp.ones(10000)
    place = x.unsafe_buffer_pointer()
    z = step(x, y)
    assert x.is_deleted() and not y.is_deleted() and z.unsafe_buffer_pointer() == place
    held = jnp.ones(10000)
    seen = np.asarray(held)
    step(held, y).block_until_ready()
    assert seen[0] == 1


@feature
def donated_twice():
    x = jnp.ones(300)
    for function, donated in ((lambda x, y: x + y, (0, 1)), (lambda x, y: x + y, (0,))):
        try:
            jax.jit(function, donate_argnums=donated)(x, x)
        except Exception as error:
            assert "INVALID_ARGUMENT" in str(error), error
        else:
            raise AssertionError("an argument was given up and used")
    assert not x.is_deleted()


@feature
def errors_reach_python():
    for option, value, text in [("xla_no_such_flag", True, "No such compile option: 'xla_no_such_flag'"), ("xla_embed_ir_in_executable", "maybe", "'maybe' is not a valid bool"),
                                ("xla_backend_optimization_level", 1.5, "'1.5' is not a valid int32"), ("xla_dump_to", 3, "'3' is not a valid string"),
                                ("xla_gpu_auto_spmd_partitioning_memory_budget_ratio", "x", "'x' is not a valid float")]:
        try:
            jax.jit(lambda x: x, compiler_options={option: value})(1.0)
        except Exception as error:
            assert text in str(error), error
        else:
            raise AssertionError(f"{option}={value} was taken")
    taken = {"xla_dump_max_hlo_modules": 200, "xla_gpu_autotune_level": 0, "xla_step_marker_location": "STEP_MARK_AT_ENTRY", "xla_backend_optimization_level": "2"}
    assert jax.jit(lambda x: x + 1, compiler_options=taken)(1.0) == 2


@feature
def ahead_of_time():
    lowered = jax.jit(lambda x, y: jnp.dot(x, y)).lower(jax.ShapeDtypeStruct((4, 4), jnp.float32), jax.ShapeDtypeStruct((4, 4), jnp.float32))
    compiled = lowered.compile()
    np.testing.assert_allclose(compiled(jnp.eye(4), 2 * jnp.eye(4)), 2 * np.eye(4))
    assert compiled.memory_analysis().argument_size_in_bytes == 128
    costs = compiled.cost_analysis()
    assert costs["flops"] >= 4 * 4 * 4
    assert costs["bytes accessed"] == costs["bytes accessed0{}"] + costs["bytes accessed1{}"] + costs["bytes accessedout{}"] == 3 * 64, costs
    assert costs["utilization0{}"] == costs["utilization1{}"] == 1
    assert "ENTRY" in compiled.as_text() and " dot(" in compiled.as_text()
    assert lowered.cost_analysis()["flops"] >= 4 * 4 * 4


@feature
def export():
    from jax import export as jax_export

    exported = jax_export.export(jax.jit(lambda x: jnp.sin(x).sum()), platforms=["hilo"])(jax.ShapeDtypeStruct((3,), jnp.float32))
    np.testing.assert_allclose(exported.call(jnp.zeros(3)), 0)
    if importlib.util.find_spec("flatbuffers") is not None:
        np.testing.assert_allclose(jax_export.deserialize(exported.serialize()).call(jnp.zeros(3)), 0)
    a, = jax_export.symbolic_shape("a")
    exported = jax_export.export(jax.jit(lambda x: x.reshape(-1).sum() * x.shape[0]), platforms=["hilo"])(jax.ShapeDtypeStruct((a, 2), jnp.float32))
    np.testing.assert_allclose(exported.call(jnp.ones((5, 2))), 50)


@feature
def serialized_executables():
    from jax.experimental import serialize_executable

    compiled = jax.jit(lambda x: x * 3 + 1).lower(jnp.ones(4)).compile()
    again = serialize_executable.deserialize_and_load(*serialize_executable.serialize(compiled), execution_devices=jax.devices()[:1])
    np.testing.assert_allclose(again(jnp.ones(4)), 4)


@feature
def compilation_cache():
    program = """
import jax, jax.numpy as jnp
jax.config.update("jax_compilation_cache_dir", {folder!r})
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
jax.config.update("jax_persistent_cache_min_entry_size_bytes", 0)
print(jax.jit(lambda x: jnp.sin(x) @ x.T)(jnp.ones((8, 8))).sum())
"""
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(2):
            run_alone(program.format(folder=folder))
            entries = [name for name in os.listdir(folder) if name.endswith("-cache")]
            assert entries
        assert len(entries) == len(set(entries))


@feature
def compilation_cache_of_callbacks():
    """A program that calls Python is found by another process, which lowers other programs first, and calls that process's function."""
    if jax.__version_info__ < (0, 12):
        return  # JAX does not write programs with callbacks
    program = """
import jax, jax.numpy as jnp
jax.config.update("jax_compilation_cache_dir", {folder!r})
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
jax.config.update("jax_persistent_cache_min_entry_size_bytes", 0)
hits = []
jax.monitoring.register_event_listener(lambda name, **_: hits.append(name) if name.endswith("cache_hits") else None)
def call(factor, x): return jax.pure_callback(lambda v: v * factor, jax.ShapeDtypeStruct((), jnp.float32), x)
def other(x): return call(100, x)
def wanted(x): return call({factor}, x) + call(1, x) * 10
x = jax.device_put(1.0)
if {second}: assert jax.jit(other)(x) == 100
hits.clear()
assert jax.jit(wanted)(x) == {factor} + 10
assert bool(hits) == {second}, hits
"""
    with tempfile.TemporaryDirectory() as folder:
        for factor, second in ((3, False), (5, True)):
            run_alone(program.format(folder=folder, factor=factor, second=second))


@feature
def custom_partitioning():
    from jax.experimental.custom_partitioning import custom_partitioning as wrap

    sine = wrap(jnp.sin)
    sine.def_partition(infer_sharding_from_operands=lambda mesh, args, result: args[0].sharding, sharding_rule="i j -> i j",
                       partition=lambda mesh, args, result: (mesh, jnp.sin, result.sharding, (args[0].sharding,)))
    x = np.arange(16., dtype=np.float32).reshape(4, 4)
    np.testing.assert_allclose(np.asarray(jax.jit(lambda v: sine(v) + 1)(jax.device_put(x, NamedSharding(mesh(4), P("a"))))), np.sin(x) + 1, atol=1e-6)


@feature
def dlpack():
    x = jnp.arange(6.).reshape(2, 3)
    shared = np.from_dlpack(x)
    np.testing.assert_allclose(shared, np.arange(6.).reshape(2, 3))
    on_host = not jax.devices()[0].device_kind.startswith("hilo_cuda")
    assert (shared.ctypes.data == x.unsafe_buffer_pointer()) == on_host
    program = """
import jax, jax.numpy as jnp, numpy as np
assert jnp.ones(3).devices() == {jax.devices()[0]}
for place in 0, 4:  # aligned to 64 bytes and not
    given = np.zeros(64, np.float32)
    start = -given.ctypes.data % 64 // 4 + place
    x = jax.dlpack.from_dlpack(given[start:start + 20])
    on_host = not jax.devices()[0].device_kind.startswith("hilo_cuda")
    assert x.devices() == {jax.devices()[0]} and (x.unsafe_buffer_pointer() == given[start:].ctypes.data) == (place == 0 and on_host)
for given in np.ones((0, 3)), np.float32(3), np.arange(24, dtype=np.int16).reshape(2, 3, 4).transpose(2, 0, 1), np.array([True, False]):
    given = np.asarray(given)
    np.testing.assert_array_equal(np.asarray(jax.dlpack.from_dlpack(given)), given)
class OfOlderForm:  # without the argument max_version
    def __init__(self, array): self.array, self.__dlpack_device__ = array, array.__dlpack_device__
    def __dlpack__(self, stream=None): return self.array.__dlpack__(stream=stream)
for given in np.arange(6.).reshape(2, 3).T, jnp.arange(3):
    np.testing.assert_array_equal(np.asarray(jax.dlpack.from_dlpack(OfOlderForm(given))), np.asarray(given))
x = jnp.arange(3)
for version, name in (None, '"dltensor"'), ((0, 8), '"dltensor"'), ((1, 0), '"dltensor_versioned"'):
    assert name in repr(x.__dlpack__(max_version=version)), version
assert not np.from_dlpack(x).flags.writeable and np.from_dlpack(x, copy=True).flags.writeable
for refused in jnp.float8_e4m3fn, jnp.bfloat16, jnp.int4:  # by NumPy, which has made the tensor already
    try:
        np.from_dlpack(x.astype(refused))
    except BufferError:
        pass
    else:
        assert False, refused
"""
    run_alone(program, JAX_PLATFORMS="hilo")
    program = """
import jax, jax.numpy as jnp, numpy as np
x = jnp.arange(6, dtype=jnp.bfloat16)
shared, copied = (jnp.from_dlpack(x, copy=copy) for copy in (None, True))
for y in shared, copied, jnp.from_dlpack(jnp.asarray(x, jnp.float8_e5m2)).astype(jnp.bfloat16):
    np.testing.assert_array_equal(np.asarray(y), np.asarray(x))
on_host = not jax.devices()[0].device_kind.startswith("hilo_cuda")
assert (shared.unsafe_buffer_pointer() == x.unsafe_buffer_pointer()) == on_host and x.unsafe_buffer_pointer() != copied.unsafe_buffer_pointer()
del x
assert float(shared[5]) == 5
shared.__dlpack__()  # never consumed
"""
    run_alone(program, JAX_PLATFORMS="hilo")
    program = """
import jax, numpy as np
given = np.arange(6, dtype=np.float32)
x = jax.dlpack.from_dlpack(given)  # JAX's first look at its plugins
assert x.devices() == {jax.devices()[0]} and jax.devices()[0].platform == "hilo"
np.testing.assert_array_equal(np.asarray(x), given)
np.testing.assert_array_equal(np.asarray(jax.dlpack.from_dlpack(given)), given)
try:
    jax.devices("cpu")  # is no name for Hilo's devices afterwards, either
except RuntimeError as error:
    assert "Unknown backend cpu" in str(error)
else:
    assert False
"""
    run_alone(program, JAX_PLATFORMS="hilo")
    program = """
import jax, jax.numpy as jnp, numpy as np
from jax_plugins.hilo import _dlpack
jax.devices()
_dlpack._DEVICE_TYPES["hilo_cuda-emulated"] = _dlpack._CUDA  # as if others could use its memory
for dtype in jnp.float32, jnp.bfloat16, jnp.int8, jnp.complex64, jnp.bool_:
    x = jax.device_put(jnp.arange(24).reshape(4, 6).astype(dtype), jax.devices()[1])
    assert x.__dlpack_device__() == (2, 1)
    shared, copied = jnp.from_dlpack(x), jnp.from_dlpack(x, copy=True)
    assert shared.devices() == copied.devices() == {jax.devices()[1]} and shared.dtype == dtype
    assert shared.unsafe_buffer_pointer() == x.unsafe_buffer_pointer() != copied.unsafe_buffer_pointer()
    for y in shared, copied, shared.T + copied.T:
        np.testing.assert_array_equal(np.asarray(y), np.asarray(x if y.shape == x.shape else x.T + x.T))
try:
    x.__dlpack__(dl_device=(2, 0))
except BufferError as error:
    assert "(2, 1)" in str(error)
else:
    assert False
np.testing.assert_array_equal(np.asarray(jnp.from_dlpack(np.arange(3))), np.arange(3))
"""
    run_alone(program, JAX_PLATFORMS="hilo", HILO_BACKEND="cuda-emulated")


@feature
def copies_and_views():
    x = jnp.arange(64.)
    assert jax.device_put(x, jax.devices()[0], may_alias=True).unsafe_buffer_pointer() == x.unsafe_buffer_pointer()
    assert jax.device_put(x, jax.devices()[0], may_alias=False).unsafe_buffer_pointer() != x.unsafe_buffer_pointer()
    np.testing.assert_array_equal(jnp.asarray(np.arange(64), copy=False), np.arange(64))
    assert [memory.kind for memory in jax.devices()[0].addressable_memories()] == ["device", "pinned_host", "unpinned_host"]


@feature
def rules_for_the_cpu():
    """What a program says of the platform cpu is said of this one too."""
    from jax import export as jax_export
    from jax.experimental import pallas

    by_platform = lambda x: lax.platform_dependent(x, cpu=lambda v: v + 1, tpu=lambda v: v + 2)
    assert float(jax.jit(by_platform)(1.0)) == 2
    exported = jax_export.export(jax.jit(by_platform), platforms=["cpu", "hilo", "tpu"])(jax.ShapeDtypeStruct((), jnp.float32))
    assert float(exported.call(1.0)) == 2
    try:
        pallas.pallas_call(lambda x, out: None, out_shape=jax.ShapeDtypeStruct((8,), jnp.float32))(jnp.ones(8))
    except ValueError as error:
        assert "interpret mode" in str(error), error
    else:
        raise AssertionError("a kernel ran without being interpreted")


@feature
def approximate_top_k():
    values, indices = jax.jit(lambda v: lax.approx_max_k(v, 3))(jnp.array([3., 1., 4., 1., 5., 9.]))
    np.testing.assert_allclose(values, [9, 5, 4])
    np.testing.assert_array_equal(indices, [5, 4, 2])
    smallest = jax.jit(lambda v: lax.approx_min_k(v, 2, reduction_dimension=0))
    values, indices = smallest(jnp.array([[3., 1.], [2., 7.], [5., 0.]]))
    np.testing.assert_allclose(values, [[2, 0], [3, 1]])
    np.testing.assert_array_equal(indices, [[1, 2], [0, 0]])
    assert "sort" not in smallest.lower(jnp.ones((3, 2))).as_text()


@feature
def donation_of_shards():
    m = mesh(4)
    x = jax.device_put(jnp.zeros((8, 8)), NamedSharding(m, P("a")))
    y = jax.jit(lambda v: v + 1, donate_argnums=0)(x)
    assert x.is_deleted()
    np.testing.assert_allclose(np.asarray(y), 1)


@feature
def sharded_jit():
    m = mesh(2, 2)
    x = np.arange(64., dtype=np.float32).reshape(8, 8)
    for spec_in, spec_out in [(P("a", "b"), P("b", "a")), (P("a"), P()), (P(None, ("a", "b")), P("b")), (P(), P(("b", "a"), None))]:
        given = jax.device_put(x, NamedSharding(m, spec_in))
        result = jax.jit(lambda v: jnp.sin(v) @ v.T, out_shardings=NamedSharding(m, spec_out))(given)
        assert result.sharding.is_equivalent_to(NamedSharding(m, spec_out), 2)
        np.testing.assert_allclose(np.asarray(result), np.sin(x) @ x.T, rtol=1e-5)
    free = jax.jit(lambda v: v * 2)(jax.device_put(x, NamedSharding(m, P("a", "b"))))
    np.testing.assert_allclose(np.asarray(free), 2 * x)
    constrained = jax.jit(lambda v: lax.with_sharding_constraint(v + 1, NamedSharding(m, P("b"))).sum(0))(jax.device_put(x, NamedSharding(m, P("a"))))
    np.testing.assert_allclose(np.asarray(constrained), (x + 1).sum(0))
    np.testing.assert_allclose(np.asarray(jax.grad(lambda v: jnp.sum(v ** 3))(jax.device_put(x, NamedSharding(m, P("a", "b"))))), 3 * x ** 2, rtol=1e-5)


@feature
def shard_map():
    m = mesh(4)
    x = np.arange(16., dtype=np.float32).reshape(8, 2)

    @functools.partial(jax.shard_map, mesh=m, in_specs=P("a"), out_specs=(P(), P("a"), P("a"), P("a")))
    def run(v):
        neighbours = lax.ppermute(v, "a", [(i, (i + 1) % 4) for i in range(4)])
        return lax.psum(v, "a"), lax.all_gather(v, "a").sum(0), neighbours, v * lax.axis_index("a")

    assert "all-reduce(" in jax.jit(run).lower(x).compile().as_text()
    total, gathered, moved, scaled = jax.jit(run)(x)
    np.testing.assert_allclose(np.asarray(total), x.reshape(4, 2, 2).sum(0))
    np.testing.assert_allclose(np.asarray(gathered), np.tile(x.reshape(4, 2, 2).sum(0), (4, 1)))
    np.testing.assert_allclose(np.asarray(moved), np.roll(x, 2, 0))
    np.testing.assert_allclose(np.asarray(scaled), x * np.repeat(np.arange(4), 2)[:, None])
    scattered = jax.jit(jax.shard_map(lambda v: lax.psum_scatter(v, "a", tiled=True), mesh=m, in_specs=P(None), out_specs=P("a")))(x)
    np.testing.assert_allclose(np.asarray(scattered), 4 * x)
    swapped = jax.jit(jax.shard_map(lambda v: lax.all_to_all(v, "a", 1, 0, tiled=True), mesh=m, in_specs=P("a", None), out_specs=P(None, "a")))(
        np.arange(64.).reshape(8, 8).astype(np.float32))
    np.testing.assert_allclose(np.asarray(swapped), np.arange(64.).reshape(8, 8))


@feature
def ragged_exchange():
    """Each of two devices has rows for both: device 0 sends one to itself and two to device 1, which sends two back and keeps one."""
    offsets = lambda *rows: np.array(rows, np.int32)
    sizes, starts, places = offsets([1, 2], [2, 1]), offsets([0, 1], [0, 2]), offsets([0, 0], [1, 2])
    run = jax.shard_map(lambda x, out, i, s, o, r: lax.ragged_all_to_all(x, out, i[0], s[0], o[0], r[0], axis_name="a"), mesh=Mesh(np.array(jax.devices("hilo")[:2]), ("a",)),
                        in_specs=P("a"), out_specs=P("a"), check_vma=False)
    x = np.array([10, 20, 21, 11, 12, 22], np.float32)
    result = jax.jit(run)(x, np.zeros(8, np.float32), starts, sizes, places, sizes.T)
    np.testing.assert_allclose(np.asarray(result), [10, 11, 12, 0, 20, 21, 22, 0])


@feature
def shardings_of_results():
    """Results without a requested sharding stay divided as they are computed."""
    m = mesh(2, 2)
    x = np.arange(64, dtype=np.float32).reshape(8, 8)
    given = jax.device_put(x, NamedSharding(m, P("a", "b")))
    for function, spec in [(lambda v: v * 3, P("a", "b")), (lambda v: v.T, P("b", "a")), (lambda v: v.sum(0), P("b")), (lambda v: v, P("a", "b")),
                           (lambda v: jnp.broadcast_to(v[None], (2, 8, 8)), P(None, "a", "b")), (jnp.sum, P())]:
        for result in function(given), jax.jit(function)(given):
            assert result.sharding.is_equivalent_to(NamedSharding(m, spec), result.ndim), (result.sharding, spec)
            np.testing.assert_allclose(np.asarray(result), function(x))
    several = jax.jit(lambda v: {"a": v + 1, "b": jnp.sum(v), "c": lax.with_sharding_constraint(v, NamedSharding(m, P("b")))})(given)
    assert [leaf.sharding.spec for leaf in jax.tree.leaves(several)] == [P("a", "b"), P(), P("b")]
    kept = jax.jit(lambda v: v + 1, donate_argnums=0)(jax.device_put(x, NamedSharding(m, P("a"))))
    assert kept.sharding.spec == P("a") and [s.data.shape for s in kept.addressable_shards] == [(4, 8)] * 4
    uneven = jax.jit(lambda v: lax.with_sharding_constraint(v[:6] * 2, NamedSharding(mesh(4), P("a"))))(np.ones(8, np.float32))
    np.testing.assert_allclose(np.asarray(uneven), np.full(6, 2))


@feature
def pmap():
    x = np.arange(8., dtype=np.float32).reshape(4, 2)
    np.testing.assert_allclose(jax.pmap(lambda v: v / lax.psum(v, "i"), axis_name="i")(x), x / x.sum(0))
    np.testing.assert_allclose(jax.pmap(lambda v: v * 2)(x), 2 * x)


@feature
def open_shardings():
    m = mesh(4)
    compiled = jax.jit(lambda x, y: x @ y, in_shardings=(NamedSharding(m, P("a")), None)).lower(
        jax.ShapeDtypeStruct((8, 8), jnp.float32), jax.ShapeDtypeStruct((8, 8), jnp.float32)).compile()
    assert compiled.output_shardings is not None
    x = np.ones((8, 8), np.float32)
    np.testing.assert_allclose(np.asarray(compiled(*jax.device_put((x, x), tuple(compiled.input_shardings[0])))), x @ x)


@feature
def memory_kinds():
    pinned = SingleDeviceSharding(jax.devices()[0], memory_kind="pinned_host")
    x = jax.device_put(jnp.arange(4.), pinned)
    assert x.sharding.memory_kind == "pinned_host"
    y = jax.jit(lambda v: v + 1, out_shardings=pinned)(jnp.arange(4.))
    assert y.sharding.memory_kind == "pinned_host"
    np.testing.assert_allclose(np.asarray(y), np.arange(4.) + 1)


@feature
def layouts():
    from jax.experimental.layout import Format, Layout, with_layout_constraint

    columns = Format(Layout(major_to_minor=(1, 0)), SingleDeviceSharding(jax.devices()[0]))
    y = jax.jit(lambda x: x * 2, out_shardings=columns)(jnp.arange(6.).reshape(2, 3))
    assert y.format.layout.major_to_minor == (1, 0)
    np.testing.assert_array_equal(jax.jit(lambda v: with_layout_constraint(v * 2, Layout((1, 0))) + 1)(y), np.asarray(y) * 2 + 1)
    np.testing.assert_allclose(np.asarray(y), 2 * np.arange(6.).reshape(2, 3))
    np.testing.assert_allclose(np.asarray(jax.jit(lambda x: x.sum(0))(y)), (2 * np.arange(6.)).reshape(2, 3).sum(0))


@feature
def layouts_that_the_compiler_chooses():
    """A transposed result lies as what is transposed does, so no element moves."""
    from jax.experimental.layout import Format, Layout

    x = jnp.arange(24.).reshape(2, 3, 4)
    program = jax.jit(lambda x: (jnp.moveaxis(x, 0, 2) * 2 + 1, x), out_shardings=Format(Layout.AUTO))
    moved, same = program(x)
    assert moved.format.layout.major_to_minor == (2, 0, 1) and same.format.layout.major_to_minor == (0, 1, 2)
    np.testing.assert_array_equal(moved, np.moveaxis(np.asarray(x), 0, 2) * 2 + 1)
    split = NamedSharding(mesh(4), P(None, "a"))
    divided = jax.jit(lambda x: x.T, out_shardings=Format(Layout.AUTO, split))(jax.device_put(jnp.arange(32.).reshape(8, 4), NamedSharding(mesh(4), P("a"))))
    assert divided.format.layout.major_to_minor == (1, 0) and divided.sharding == split
    np.testing.assert_array_equal(divided, np.arange(32.).reshape(8, 4).T)
    # What is donated gives its memory to the result, which lies as it does.
    auto = Format(Layout.AUTO)
    donated = jax.jit(lambda x: x.T, donate_argnums=0, in_shardings=auto, out_shardings=auto).lower(jax.ShapeDtypeStruct((4, 4), jnp.float32)).compile()
    np.testing.assert_array_equal(donated(jnp.arange(16.).reshape(4, 4)), np.arange(16.).reshape(4, 4).T)
    # A constraint of the layout leaves the sharding as it is.
    rows = NamedSharding(mesh(4), P("a"))
    constrained = jax.jit(lambda x: lax.with_sharding_constraint(x.T, Format(Layout((0, 1)), rows)))(jnp.arange(32.).reshape(8, 4))
    assert constrained.sharding == rows, constrained.sharding
    np.testing.assert_array_equal(constrained, np.arange(32.).reshape(8, 4).T)


@feature
def many_threads():
    import concurrent.futures

    def work(k):
        return float(jax.jit(lambda x: (x * k).sum())(jnp.ones(100)))
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(24))) == [100.0 * k for k in range(24)]


@feature
def doubles():
    with jax.enable_x64(True):
        x = jnp.arange(5, dtype=jnp.float64)
        assert jnp.sin(x).dtype == jnp.float64
        np.testing.assert_allclose(np.asarray(jnp.sin(x)), np.sin(np.arange(5.)), rtol=1e-15)
        np.testing.assert_allclose(np.asarray(jnp.linalg.eigvalsh(jnp.diag(x))), np.arange(5.), atol=1e-12)


@feature
def several_processes():
    """Two processes with two devices each: a global mesh, collectives and a training step."""
    program = """
import sys
import jax, jax.numpy as jnp, numpy as np
from jax.experimental import multihost_utils
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P
process = int(sys.argv[1])
jax.distributed.initialize("127.0.0.1:" + sys.argv[2], 2, process)
assert (jax.process_index(), len(jax.devices()), len(jax.local_devices())) == (process, 4, 2)
assert float((jnp.ones(3) + process).sum()) == 3 + 3 * process
mesh = jax.make_mesh((4,), ("a",), axis_types=(AxisType.Auto,))
x = np.arange(32, dtype=np.float32).reshape(8, 4) / 32
given = jax.make_array_from_callback(x.shape, NamedSharding(mesh, P("a")), lambda index: x[index])
moved = jax.jit(jax.shard_map(lambda v: jax.lax.ppermute(v, "a", [(i, (i + 1) % 4) for i in range(4)]), mesh=mesh, in_specs=P("a"), out_specs=P("a")))(given)
np.testing.assert_array_equal(multihost_utils.process_allgather(moved, tiled=True), np.roll(x, 2, 0))
step = jax.jit(lambda w, v: w - jax.grad(lambda w: ((v @ w) ** 2).sum())(w), donate_argnums=0)
weights, expected = jax.device_put(jnp.eye(4), NamedSharding(mesh, P())), np.eye(4, dtype=np.float32)
for _ in range(3):
    weights, expected = step(weights, given), expected - 2 * x.T @ (x @ expected)
np.testing.assert_allclose(np.asarray(weights.addressable_data(0)), expected, rtol=1e-4, atol=1e-5)
jax.distributed.shutdown()
"""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path), JAX_PLATFORMS="hilo", HILO_NUM_DEVICES="2")
    both = [subprocess.Popen([sys.executable, "-c", program, str(i), port], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment, text=True)
            for i in range(2)]
    try:
        for process in both:
            text = process.communicate(timeout=120)[0]
            assert process.returncode == 0, text[-600:]
    finally:
        for process in both:
            process.kill()


@feature
def source_lines():
    text = jax.jit(lambda x: jnp.tanh(x @ x)).lower(jnp.ones((4, 4))).compile().as_text()
    assert f'source_file="{__file__}"' in text, text


@feature
def profiles():
    """The instructions of the runs are in jax.profiler.trace's file, with their lines in the source."""
    if os.environ.get("HILO_BACKEND", "cpu") != "cpu":
        return  # instructions are recorded on the CPU alone
    with tempfile.TemporaryDirectory() as folder:
        program = f'''
import jax, jax.numpy as jnp
def f(x):
    return jnp.sort(jnp.tanh(x @ x), axis=1)
f, x = jax.jit(f), jnp.ones((256, 256))
f(x).block_until_ready()
with jax.profiler.trace({folder!r}):
    for _ in range(5):
        f(x).block_until_ready()
'''
        script = os.path.join(folder, "profiled.py")
        with open(script, "w") as file:
            file.write(program)
        environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path), JAX_PLATFORMS="hilo", HILO_NUM_DEVICES="1")
        done = subprocess.run([sys.executable, script], capture_output=True, env=environment, text=True)
        assert done.returncode == 0, done.stderr[-600:]
        (path,) = [os.path.join(root, name) for root, _, names in os.walk(folder) for name in names if name.endswith(".xplane.pb")]
        with open(path, "rb") as file:
            assert b"profiled.py:4" in file.read()
        data = jax.profiler.ProfileData.from_file(path)
    (plane,) = [plane for plane in data.planes if "Hilo" in plane.name]
    assert plane.name == "/device:TPU:0 Hilo cpu"
    lines = {line.name: list(line.events) for line in plane.lines}
    runs = [event for event in lines["XLA Modules"] if event.name.startswith("jit_f(")]
    steps = lines["XLA Ops"]
    assert len(runs) == 5, runs
    named = sum(event.duration_ns for event in steps)
    total = sum(event.duration_ns for event in lines["XLA Modules"])
    assert named >= 0.95 * total, (named, total)
    assert sum(" dot(" in event.name for event in steps) == 5, [event.name for event in steps]


@feature
def compiled_programs_without_arguments_or_use():
    assert jax.jit(lambda x, y: x)(1, 2) == 1
    assert jax.jit(lambda: 3)() == 3


@feature
def client_is_kept_to_the_end_of_the_process():
    """NumPy arrays that share memory with JAX's return it to the client, which jaxlib does not keep for them."""
    printed = run_alone("""
import os, sys, weakref
import jax, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

def sums():
    mesh = Mesh(np.array(jax.devices()), ("x",))
    compiled = jax.jit(lambda a: a.sum(0), in_shardings=NamedSharding(mesh, P("x"))).lower(jax.ShapeDtypeStruct((64, 8), np.float32)).compile()
    return np.asarray(compiled(jax.device_put(np.ones((64, 8), np.float32), compiled.input_shardings[0][0])))

kept = [sums() for _ in range(3)]
sys.client = weakref.ref(jax.devices()[0].client, lambda _, write=os.write: write(1, b"destroyed"))
os.write(1, b"end")
""")
    assert printed == "end", printed
