"""What JAX knows of platforms by their names, said of the name `hilo`.

JAX asks for a platform's name in several places: which lowering rules there are, whether arguments can be donated, how Python functions are called from
within programs, where their arguments are put, whether compiled programs can be kept, and whether arrays are shared by DLPack. Hilo's answers are those of JAX's own CPU platform, so that
programs that run there run here. None of the places is part of JAX's public interface; one that a version of JAX does not have is left alone.
"""

import collections
import dataclasses
import functools
import logging

import numpy as np

_logger = logging.getLogger(__name__)
_NAME = "hilo"
_HOST_PLATFORMS = ("cpu", "Host", "host", _NAME)  # names of platforms whose FFI handlers work on memory of the host
_DEVICE_PLATFORMS = ("gpu", "cuda", "CUDA")  # and where on that of a GPU


def install(api):
    """Installs all of them. `api` is the capsule of the plugin's table of functions."""
    from . import _callbacks, _dlpack, _ffi, _inspect

    plugin = _ffi.Plugin(api)
    for rule in (_lower_as_on_cpu, _lower_approx_top_k, _lower_narrow_erf, _lower_custom_partitioning, _allow_donation, _place_callback_arguments, _find_by_platform_name, _keep_compiled_programs,
                 _take_buffers, _choose_branches_for_cpu, _count_costs, _dlpack.share, _dlpack.take):
        _try(rule)
    _try(functools.partial(_callbacks.install, plugin))
    _try(functools.partial(_inspect.install, plugin))
    _try(functools.partial(_register_handlers, plugin))


def _try(rule):
    try:
        rule()
    except (AttributeError, ImportError, TypeError) as error:
        _logger.warning("this version of JAX does without one of Hilo's rules: %s", error)


def is_hilo(backend):
    return "hilo " in getattr(backend, "platform_version", "")


def lowers_for_hilo(ctx):
    """Whether a rule lowers a program that Hilo alone shall run. `ctx` is the rule's LoweringRuleContext."""
    try:
        return is_hilo(ctx.module_context.get_backend())
    except (NotImplementedError, RuntimeError, ValueError):  # programs for several platforms, or for one that is not here
        return False


def register_lowering(primitive, rule):
    """Registers a lowering rule for Hilo, under whatever name its platform has."""
    from jax._src.interpreters import mlir

    theirs = mlir._platform_specific_lowerings["cpu"].get(primitive) or mlir._lowerings[primitive]

    def of_the_backend(ctx, *args, **params):
        return (rule if lowers_for_hilo(ctx) else theirs.rule)(ctx, *args, **params)

    mlir.register_lowering(primitive, rule, platform=_NAME)
    mlir.register_lowering(primitive, of_the_backend, platform="cpu")


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
            order = list(range(x.ndim))  # top_k is along the last dimension
            order[reduction_dimension], order[-1] = order[-1], order[reduction_dimension]
            values, indices = lax.top_k(lax.transpose(x if is_max_k else -x, order), size)
            return [lax.transpose(array, order) for array in (values if is_max_k else -values, indices)]
        return mlir.lower_fun(exact, multiple_results=True)(ctx, operand)

    register_lowering(ann.approx_top_k_p, rule)


def _lower_narrow_erf():
    """jax.lax.erf of floats below 16 bits is computed in f32: jaxlib's client, which lowers chlo.erf before a plugin gets the program, refuses their types."""
    from jax import dtypes, lax
    from jax._src.interpreters import mlir

    general = mlir._lowerings[lax.erf_p].rule

    def rule(ctx, operand, **params):
        dtype = ctx.avals_in[0].dtype
        if dtypes.finfo(dtype).bits >= 16:
            return general(ctx, operand, **params)
        return mlir.lower_fun(lambda x: lax.erf(x.astype(np.float32)).astype(dtype), multiple_results=False)(ctx, operand)

    register_lowering(lax.erf_p, rule)


def _lower_custom_partitioning():
    """What jax.experimental.custom_partitioning wraps is computed, and divided among devices, as if it were not wrapped; the callbacks that tell how to divide it are not called."""
    from jax._src import core, custom_partitioning
    from jax._src.interpreters import mlir

    def rule(ctx, *values, call, **_):
        return mlir.lower_fun(core.jaxpr_as_fun(call), multiple_results=True)(ctx, *values)

    register_lowering(custom_partitioning.custom_partitioning_p, rule)


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


class _Backends(dict):
    """JAX's backends by the names of their plugins, and Hilo by the name of its platform too."""

    def get(self, name, default=None):
        ours = super().get(_NAME)
        return ours if name not in self and name == getattr(ours, "platform", None) else super().get(name, default)


def _find_by_platform_name():
    """jax.devices("cpu") and the like where HILO_PLATFORM_NAME is cpu."""
    from jax._src import xla_bridge

    original = xla_bridge._clear_backends

    @functools.wraps(original)
    def clear_backends():
        original()
        xla_bridge._backends = _Backends()

    xla_bridge._clear_backends = clear_backends
    xla_bridge._backends = _Backends(xla_bridge._backends)  # JAX fills it once its plugins are loaded


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


def _take_buffers():
    """jnp.asarray(numpy_array, copy=False) is for platforms that share the memory of the host, as this one does."""
    from jax._src.numpy import array_constructors

    original = array_constructors._get_platform

    @functools.wraps(original)
    def get_platform(device_or_sharding):
        platform = original(device_or_sharding)
        return "cpu" if platform == _NAME else platform

    array_constructors._get_platform = get_platform


def _choose_branches_for_cpu():
    """jax.lax.platform_dependent, and what else has rules a platform: where there is one for the CPU and none for Hilo, it is Hilo's too."""
    from jax._src.interpreters import mlir
    from jax._src.lax.control_flow import conditionals

    def with_ours(platforms):
        if platforms is None or any(names is not None and _NAME in names for names in platforms):
            return platforms
        return tuple(names if names is None or "cpu" not in names else (*names, _NAME) for names in platforms)

    def wrap(primitive, parameter):
        entry = mlir._lowerings[primitive]
        original = entry.rule

        @functools.wraps(original)
        def rule(ctx, *args, **params):
            return original(ctx, *args, **{**params, parameter: with_ours(params.get(parameter))})
        mlir._lowerings[primitive] = dataclasses.replace(entry, rule=rule)

    wrap(conditionals.platform_index_p, "platforms")
    wrap(conditionals.cond_p, "branches_platforms")
    original = mlir.lower_per_platform

    @functools.wraps(original)
    def lower_per_platform(ctx, description, platform_rules, *others, **named):
        if "cpu" in platform_rules and _NAME not in platform_rules:
            platform_rules = {**platform_rules, _NAME: platform_rules["cpu"]}
        return original(ctx, description, platform_rules, *others, **named)

    mlir.lower_per_platform = lower_per_platform


def _count_costs():
    """Lowered.cost_analysis(): what the compiled program says."""
    from jax._src.interpreters import pxla

    original = pxla.MeshComputation.cost_analysis

    @functools.wraps(original)
    def cost_analysis(self):
        backend = self.compile_args["backend"]
        return self.compile().cost_analysis() if is_hilo(backend) else original(self)

    pxla.MeshComputation.cost_analysis = cost_analysis


def _register_handlers(plugin):
    """Typed FFI handlers, and types of their states, that are registered for the CPU or for CUDA, in jaxlib and by users, now and later. Hilo has LAPACK of its own."""
    from jaxlib import xla_client

    platforms = [xla_client.xla_platform_names.get(name, name) for name in ("cpu", "gpu")]
    with xla_client._custom_callback_lock:
        known = [(platform, *target) for platform in platforms for target in xla_client._custom_callback.get(platform, ())]
        known_types = [target for platform in platforms for target in xla_client._custom_type_id.get(platform, ())]

    def register(name, handler, platform, api_version=0, traits=0):
        name = name.decode() if isinstance(name, bytes) else name
        if api_version != 1 or name.startswith(("lapack_", "xla_ffi_")):
            return
        plugin.register_handler(name, handler, "CUDA" if platform in _DEVICE_PLATFORMS else "Host")

    def register_type(name, type_id):
        registration = type_id if isinstance(type_id, dict) else {"type_id": type_id}
        plugin.register_type(name, registration["type_id"], registration.get("type_info"))

    for name, type_id in known_types:
        register_type(name, type_id)
    for platform, name, handler, api_version, traits in known:
        register(name, handler, platform, api_version, traits)
    original = xla_client.register_custom_call_target

    @functools.wraps(original)
    def register_custom_call_target(name, fn, platform="cpu", api_version=0, traits=0):
        result = original(name, fn, platform, api_version, traits)
        if platform in _HOST_PLATFORMS + _DEVICE_PLATFORMS:
            register(name, fn, platform, api_version, traits)
        return result

    xla_client.register_custom_call_target = register_custom_call_target
    original_type = xla_client.register_custom_type

    @functools.wraps(original_type)
    def register_custom_type(type_name, type_id, platform="cpu"):
        result = original_type(type_name, type_id, platform)
        if platform in _HOST_PLATFORMS + _DEVICE_PLATFORMS:
            register_type(type_name, type_id)
        return result

    xla_client.register_custom_type = register_custom_type
