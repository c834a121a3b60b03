"""The name by which JAX finds Hilo's devices, and their number: features for jax_test.py."""

from jax_features import feature, run_alone


@feature
def named_as_the_cpu():
    """HILO_PLATFORM_NAME=cpu: JAX finds Hilo's devices by that name, and its rules are Hilo's."""
    run_alone("""
import jax, numpy as np
import jax.export, jax.extend.backend
from jax import lax
from jax.experimental.buffer_callback import buffer_callback
assert len(jax.devices("cpu")) == 4  # JAX's first look at its plugins
assert jax.default_backend() == "cpu" and "hilo" in jax.devices()[0].client.platform_version
assert jax.devices("cpu") == jax.devices() == jax.local_devices(backend="cpu") == jax.devices("hilo") and jax.device_count("cpu") == 4
x = np.arange(3., dtype=np.float32)
with jax.default_device("cpu"):
    assert jax.jit(lambda x: x + 1)(x).devices() == {jax.devices()[0]}
assert jax.jit(lambda x: x + 1, backend="cpu")(1.) == 2
assert lax.platform_dependent(x, cpu=lambda x: x * 2, tpu=lambda x: x)[1] == 2
def fill(context, out, x):
    np.asarray(out)[...] = np.asarray(x) * 2
np.testing.assert_array_equal(jax.jit(buffer_callback(fill, jax.ShapeDtypeStruct((3,), np.float32)))(x), 2 * x)
np.testing.assert_array_equal(jax.pure_callback(np.negative, jax.ShapeDtypeStruct((3,), np.float32), x), -x)
assert jax.export.default_export_platform() == "cpu"
from jax.experimental.custom_partitioning import custom_partitioning
@custom_partitioning
def halve(x):
    return x / 2
def partition(mesh, arguments, result):
    return mesh, lambda x: x / 2, result.sharding, [argument.sharding for argument in arguments]
halve.def_partition(partition, infer_sharding_from_operands=lambda mesh, arguments, result: arguments[0].sharding, sharding_rule="i -> i")
np.testing.assert_array_equal(jax.jit(halve)(x), x / 2)
assert lax.approx_max_k(x, 1)[1] == 2
np.testing.assert_allclose(np.asarray(lax.erf(x.astype("float8_e4m3fn")), np.float32), [0, 0.8125, 1])
jax.extend.backend.clear_backends()
assert len(jax.devices("cpu")) == 4
""", JAX_PLATFORMS="hilo", HILO_PLATFORM_NAME="cpu")
    run_alone("""
import jax
jax.config.update("jax_platform_name", "cpu")
assert jax.default_backend() == "cpu" and jax.numpy.ones(2).devices() == {jax.devices()[0]}
""", JAX_PLATFORMS="hilo", HILO_PLATFORM_NAME="cpu")
    run_alone("""
import jax
try:
    jax.devices("cpu")
except RuntimeError as error:
    assert "Unknown backend cpu" in str(error)
else:
    assert False
""", JAX_PLATFORMS="hilo")


@feature
def counted_as_the_cpus():
    """jax_num_cpu_devices counts Hilo's devices too, unless HILO_NUM_DEVICES does."""
    run_alone("""
import os
import jax
if hasattr(jax.config, "jax_num_cpu_devices"):
    del os.environ["HILO_NUM_DEVICES"]
    jax.config.update("jax_num_cpu_devices", 3)
    assert len(jax.devices("hilo")) == 3
""")
    run_alone("""
import jax
if hasattr(jax.config, "jax_num_cpu_devices"):
    jax.config.update("jax_num_cpu_devices", 3)
assert len(jax.devices("hilo")) == 4
""")
