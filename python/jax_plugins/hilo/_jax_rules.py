"""What JAX knows of platforms by their names, said of the name `hilo`.

JAX asks for a platform's name in several places: which lowering rules there are, whether arguments can be donated, how Python functions are called from
within programs, where their arguments are put, whether compiled programs can be kept, and whether arrays are shared by DLPack. Hilo's answers are those of JAX's own CPU platform, so that
programs that run there run here. None of the places is part of JAX's public interface; one that a version of JAX does not have is left alone.
"""

import collections
import functools
import logging

import numpy as np

_logger = logging.getLogger(__name__)
_NAME = "hilo"
_HOST_PLATFORMS = ("cpu", "Host", "host", _NAME)  # what names of platforms say where an FFI handler works on memory of the host


def install(api):
    """Installs all of them. `api` is the capsule of the plugin's table of functions."""
    from . import _callbacks, _ffi

    plugin = _ffi.Plugin(api)
    for rule in (_lower_as_on_cpu, _lower_approx_top_k, _lower_custom_partitioning, _allow_donation, _place_callback_arguments, _keep_compiled_programs, _share_by_dlpack,
                 _take_dlpack):
        _try(rule)
    _try(functools.partial(_callbacks.install, plugin))
    _try(functools.partial(_register_handlers, plugin))


def _try(rule):
    try:
        rule()
    except (AttributeError, ImportError, TypeError) as error:
        _logger.warning("this version of JAX does without one of Hilo's rules: %s", error)


def is_hilo(backend):
    return "hilo " in getattr(backend, "platform_version", "")


def _lower_as_on_cpu():
    """Rules that are registered for the CPU, now and later, stand behind those for Hilo."""
    from jax._src.interpreters import mlir

    rules = mlir._platform_specific_lowerings
    rules[_NAME] = collections.ChainMap(rules[_NAME], rules["cpu"])


def _lower_approx_top_k():
    """jax.lax.approx_max_k and approx_min_k are exact here."""
    from jax import lax
    from jax._src.interpreters import mlir
    from jax._src.lax import ann

    def rule(ctx, operand, *, k, reduction_dimension, is_max_k, **_):
        reduction_dimension %= ctx.avals_in[0].ndim
        size = ctx.avals_out[0].shape[reduction_dimension]

        def exact(x):
            indices = lax.broadcasted_iota(np.int32, x.shape, reduction_dimension)
            _, values, indices = lax.sort((-x if is_max_k else x, x, indices), dimension=reduction_dimension, num_keys=1)
            return [lax.slice_in_dim(array, 0, size, axis=reduction_dimension) for array in (values, indices)]
        return mlir.lower_fun(exact, multiple_results=True)(ctx, operand)

    mlir.register_lowering(ann.approx_top_k_p, rule, platform=_NAME)


def _lower_custom_partitioning():
    """Hilo divides no programs among devices, but for what is divided by hand: it computes what jax.experimental.custom_partitioning wraps as it is."""
    from jax._src import core, custom_partitioning
    from jax._src.interpreters import mlir

    def rule(ctx, *values, call, **_):
        return mlir.lower_fun(core.jaxpr_as_fun(call), multiple_results=True)(ctx, *values)

    mlir.register_lowering(custom_partitioning.custom_partitioning_p, rule, platform=_NAME)


def _allow_donation():
    from jax._src.interpreters import mlir

    if _NAME not in mlir._platforms_with_donation:
        mlir._platforms_with_donation.append(_NAME)


def _place_callback_arguments():
    """Callbacks want their arguments on a CPU device. With JAX_PLATFORMS=hilo there is none but ours."""
    from jax._src import xla_bridge

    original = xla_bridge.local_devices

    @functools.wraps(original)
    def local_devices(process_index=None, backend=None, host_id=None):
        if backend == "cpu" and "cpu" not in xla_bridge.backends() and _NAME in xla_bridge.backends():
            backend = _NAME
        return original(process_index, backend, host_id)

    xla_bridge.local_devices = local_devices


def _keep_compiled_programs():
    """jax_compilation_cache_dir."""
    from jax._src import compilation_cache

    original = compilation_cache.is_cache_used

    @functools.wraps(original)
    def is_cache_used(backend):
        if is_hilo(backend) and backend.platform == _NAME:
            return compilation_cache._is_cache_enabled()
        return original(backend)

    compilation_cache.is_cache_used = is_cache_used


class _Writable:
    """The memory of an array as DLPack wants it: without the mark that it must not be written to."""

    def __init__(self, array):
        self._array = array
        self.__array_interface__ = {**array.__array_interface__, "data": (array.__array_interface__["data"][0], False)}


def _share_by_dlpack():
    """numpy.from_dlpack, torch.from_dlpack of JAX's arrays: as of NumPy's arrays of the same memory."""
    from jax._src.array import ArrayImpl

    original, original_device = ArrayImpl.__dlpack__, ArrayImpl.__dlpack_device__

    def is_ours(array):
        return len(array.sharding.device_set) == 1 and array.platform() == _NAME

    @functools.wraps(original)
    def dlpack(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        if not is_ours(self):
            return original(self, stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)
        return np.asarray(_Writable(np.asarray(self))).__dlpack__(max_version=max_version, dl_device=dl_device, copy=copy)

    @functools.wraps(original_device)
    def dlpack_device(self):
        return (1, 0) if is_ours(self) else original_device(self)

    ArrayImpl.__dlpack__, ArrayImpl.__dlpack_device__ = dlpack, dlpack_device


class _WithoutCpu:
    """The module xla_bridge as jax.dlpack sees it: arrays of the CPU are put on Hilo's devices where jaxlib's CPU is not among the platforms."""

    def __init__(self, xla_bridge):
        self._xla_bridge = xla_bridge

    def __getattr__(self, name):
        return getattr(self._xla_bridge, name)

    def get_backend(self, platform=None):
        backends = self._xla_bridge.backends()
        return self._xla_bridge.get_backend(_NAME if platform == "cpu" and "cpu" not in backends and _NAME in backends else platform)


def _take_dlpack():
    """jax.dlpack.from_dlpack."""
    from jax._src import dlpack

    dlpack.xla_bridge = _WithoutCpu(dlpack.xla_bridge)


def _register_handlers(plugin):
    """Typed FFI handlers, and types of their states, that are registered for the CPU, in jaxlib and by users, now and later. Hilo has LAPACK of its own."""
    from jaxlib import xla_client

    platform = xla_client.xla_platform_names.get("cpu", "cpu")
    with xla_client._custom_callback_lock:
        known = list(xla_client._custom_callback.get(platform, ()))
        known_types = list(xla_client._custom_type_id.get(platform, ()))

    def register(name, handler, platform, api_version=0, traits=0):
        name = name.decode() if isinstance(name, bytes) else name
        if api_version != 1 or name.startswith(("lapack_", "xla_ffi_")):
            return
        plugin.register_handler(name, handler)

    def register_type(name, type_id):
        registration = type_id if isinstance(type_id, dict) else {"type_id": type_id}
        plugin.register_type(name, registration["type_id"], registration.get("type_info"))

    for name, type_id in known_types:
        register_type(name, type_id)
    for name, handler, api_version, traits in known:
        register(name, handler, platform, api_version, traits)
    original = xla_client.register_custom_call_target

    @functools.wraps(original)
    def register_custom_call_target(name, fn, platform="cpu", api_version=0, traits=0):
        result = original(name, fn, platform, api_version, traits)
        if platform in _HOST_PLATFORMS:
            register(name, fn, platform, api_version, traits)
        return result

    xla_client.register_custom_call_target = register_custom_call_target
    original_type = xla_client.register_custom_type

    @functools.wraps(original_type)
    def register_custom_type(type_name, type_id, platform="cpu"):
        result = original_type(type_name, type_id, platform)
        if platform in _HOST_PLATFORMS:
            register_type(type_name, type_id)
        return result

    xla_client.register_custom_type = register_custom_type
