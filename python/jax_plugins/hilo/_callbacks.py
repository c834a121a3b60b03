"""Python functions that programs call: jax.pure_callback, io_callback, jax.debug, buffer_callback.

JAX lowers such a call to a custom call that its own client knows how to serve. For Hilo it is the custom call `hilo_python_callback`, for which the plugin
calls a function of this module: it looks the Python function up by the number that the call carries, and hands arrays to and fro. A function is kept as long
as the program that calls it.

A program on several devices computes everywhere what is not divided among them. Calls for their effects alone, as jax.debug.print, then carry the
number of the partition, and only the first one makes them.
"""

import ctypes
import functools
import hashlib
import inspect
import math
import threading
import traceback
import weakref

import numpy as np

from . import _ffi

_TARGET = "hilo_python_callback"
_TOKEN = 17

_lock = threading.Lock()
_functions = weakref.WeakValueDictionary()  # by number
_numbers = set()  # those of functions that are gone too


class _Function:
    """A Python function on arrays, alive as long as a program holds it. One of `buffers` gets those of the results too, and fills them.

    The number is part of the program, by whose text JAX's cache on disk finds it. It follows from where the call is in the program, so that another process
    finds the same one, whatever else that process has lowered before; of programs with equal names and types it follows from their order too. No number is used twice."""

    def __init__(self, call, ctx, buffers=False):
        self.call = call
        self.buffers = buffers
        context = ctx.module_context
        place = (str(context.module.operation.attributes["sym_name"]), len(context.host_callbacks), str(ctx.name_stack), ctx.avals_in, ctx.avals_out)
        number = int.from_bytes(hashlib.sha256(repr(place).encode()).digest()[:7], "little")
        with _lock:
            while number in _numbers:
                number += 1
            _numbers.add(number)
            self.number = number
            _functions[number] = self

    def __call__(self, *args):
        return self.call(*args)


@functools.cache
def _dtypes():
    """NumPy's types by the numbers of XLA's."""
    import ml_dtypes

    names = {1: "bool", 2: "int8", 3: "int16", 4: "int32", 5: "int64", 6: "uint8", 7: "uint16", 8: "uint32", 9: "uint64", 10: "float16", 11: "float32",
             12: "float64", 15: "complex64", 16: "bfloat16", 18: "complex128", 19: "float8_e5m2", 20: "float8_e4m3fn", 21: "int4", 22: "uint4",
             23: "float8_e4m3b11fnuz", 24: "float8_e5m2fnuz", 25: "float8_e4m3fnuz", 26: "int2", 27: "uint2", 28: "float8_e4m3", 29: "float8_e3m4",
             32: "float4_e2m1fn", 33: "float8_e8m0fnu"}
    return {number: np.dtype(getattr(ml_dtypes, name, None) or name) for number, name in names.items()}


_memory = ctypes.pythonapi.PyMemoryView_FromMemory
_memory.restype, _memory.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int]
_WRITABLE = 0x200


class _Array:
    """An array in the program's memory, read from the numbers of a call."""

    def __init__(self, numbers):
        self.type, self.address, rank = next(numbers), next(numbers), next(numbers)
        self.shape = tuple(next(numbers) for _ in range(rank))

    def _bytes(self, dtype):
        return math.prod(self.shape) * dtype.itemsize

    def view(self):
        dtype = _dtypes()[self.type]
        size = self._bytes(dtype)
        return np.ndarray(self.shape, dtype, _memory(self.address, size, _WRITABLE)) if size else np.empty(self.shape, dtype)

    def copy(self):
        """A copy that cannot be written."""
        dtype = _dtypes()[self.type]
        return np.ndarray(self.shape, dtype, ctypes.string_at(self.address, self._bytes(dtype)))


class _Buffer:
    """What functions of jax.experimental.buffer_callback get: the program's own memory."""

    def __init__(self, array, writeable):
        self._array = array
        self._array.flags.writeable = writeable
        self.shape, self.dtype, self.ndim, self.size, self.writeable = array.shape, array.dtype, array.ndim, array.size, writeable
        if array.dtype.isbuiltin == 1:  # the interface has no words for others, such as bf16; NumPy then asks __array__
            self.__array_interface__ = array.__array_interface__

    def __array__(self, dtype=None, copy=None):
        return np.array(self._array, dtype=dtype, copy=copy)

    def __dlpack__(self, **options):
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


class _Context:
    """The context of such a function, as jaxlib's ExecutionContext where there are no streams."""

    @property
    def stage(self):
        from jax.experimental import buffer_callback

        return buffer_callback.ExecutionStage.EXECUTE

    @property
    def stream(self):
        import jax

        raise jax.errors.JaxRuntimeError("UNIMPLEMENTED: XLA FFI GPU context is not available")


@_ffi.PythonFunction
def _serve(frame_pointer, call_pointer):
    call = call_pointer.contents
    try:
        call.error = _run(frame_pointer, call.numbers())
    except BaseException:  # it must not get lost on its way through the program
        call.error = frame_pointer.contents.error("CpuCallback error calling callback: " + traceback.format_exc())
    call.finished = 1


def _run(frame_pointer, numbers):
    """Calls the function. Returns an XLA_FFI_Error or None."""
    function = _functions.get(next(numbers))
    if function is None:
        return frame_pointer.contents.error("the Python function of this program is gone", code=9)
    first_only, argument_count, result_count = next(numbers), next(numbers), next(numbers)
    arguments = [_Array(numbers) for _ in range(argument_count)]
    results = [_Array(numbers) for _ in range(result_count)]
    if function.buffers:
        function(_Context(), *(_Buffer(array.view(), False) for array in arguments), *(_Buffer(array.view(), True) for array in results))
        return None
    arguments = [array.copy() for array in arguments if array.type != _TOKEN]
    if first_only and arguments.pop() != 0:
        return None
    values = function(*arguments)
    for array, value in zip((array for array in results if array.type != _TOKEN), values, strict=True):
        if value.size:
            array.view()[...] = value
    return None


def _whole(sharding_impls, devices):
    """The sharding of a token."""
    return sharding_impls.SdyArray(mesh_shape=(), dim_shardings=(), logical_device_ids=devices)


def _call_on_buffers(ctx, *args, callback, in_tree, out_tree, has_side_effect, input_output_aliases, **_):
    from jax._src import ffi, tree_util

    def call(context, *buffers):
        positional, named = tree_util.tree_unflatten(in_tree, buffers[:in_tree.num_leaves])
        if callback(context, tree_util.tree_unflatten(out_tree, buffers[in_tree.num_leaves:]), *positional, **named) is not None:
            raise ValueError("buffer_callback callback must not return any values.")

    function = _Function(call, ctx, buffers=True)
    ctx.module_context.add_host_callback(function)
    lower = ffi.ffi_lowering(_TARGET, has_side_effect=has_side_effect, operand_output_aliases=dict(input_output_aliases))
    return lower(ctx, *args, number=np.uint64(function.number))


def install(plugin):
    """Makes JAX lower callbacks to calls of the function above where the backend is Hilo."""
    from jax._src import callback as jax_callback
    from jax._src import buffer_callback, core, dtypes, ffi, sharding_impls
    from jax._src.interpreters import mlir
    from jax._src.lib.mlir import ir
    from jax._src.lib.mlir.dialects import hlo
    from jax.interpreters import mlir as interpreters_mlir

    from ._jax_rules import lowers_for_hilo, register_lowering

    original = jax_callback.emit_python_callback
    plugin.set_python_function(_serve)

    def checked(call, result_avals):
        """`call` with results of the promised types."""
        def run(*args):
            values = tuple(dtypes.canonicalize_value(np.asarray(value)) for value in call(*args))
            if len(values) != len(result_avals):
                raise RuntimeError(f"Mismatched number of outputs from callback. Expected: {len(result_avals)}, Actual: {len(values)}")
            for i, (value, aval) in enumerate(zip(values, result_avals)):
                if value.shape != aval.shape:
                    raise RuntimeError(f"Incorrect output shape for return value #{i}: Expected: {aval.shape}, Actual: {value.shape}")
                if value.dtype != aval.dtype:
                    raise RuntimeError(f"Incorrect output dtype for return value #{i}: Expected: {aval.dtype}, Actual: {value.dtype}")
            return values
        return run

    @functools.wraps(original)
    def emit_python_callback(ctx, callback, token, operands, operand_avals, result_avals, *, has_side_effect, returns_token=True, partitioned=False,
                             sharding=None):
        if not lowers_for_hilo(ctx):
            return original(ctx, callback, token, operands, operand_avals, result_avals, has_side_effect=has_side_effect, returns_token=returns_token,
                            partitioned=partitioned, sharding=sharding)
        if partitioned and result_avals:
            raise ValueError("Partitioned callback not supported with return values.")
        function = _Function(checked(callback, result_avals), ctx)
        ctx.module_context.add_host_callback(function)
        if token:
            operands = [token, *operands]
            ctx = ctx.replace(avals_in=[core.abstract_token, *ctx.avals_in], avals_out=[core.abstract_token, *ctx.avals_out])
            if result_avals and isinstance(sharding, sharding_impls.SdyArrayList):
                sharding = sharding_impls.SdyArrayList((_whole(sharding_impls, sharding.shardings[0].logical_device_ids), *sharding.shardings))
        axes = ctx.module_context.axis_context
        is_divided = isinstance(axes, sharding_impls.ShardingContext) and axes.num_devices > 1
        on_tiles = partitioned and is_divided  # each device makes the call, of what it has
        first_only = not result_avals and is_divided and not on_tiles
        if first_only:
            operands = [*operands, hlo.PartitionIdOp().result]
            ctx = ctx.replace(avals_in=[*ctx.avals_in, core.ShapedArray((), np.dtype("uint32"))])
        lower = ffi.build_ffi_lowering_function(_TARGET, has_side_effect=has_side_effect)
        call = lower(ctx, *operands, number=np.uint64(function.number), first_partition_only=np.uint64(first_only))
        if on_tiles:
            call.operation.attributes["mhlo.frontend_attributes"] = ir.DictAttr.get({"on_tiles": ir.StringAttr.get("true")})
        elif sharding is not None:
            context = [ctx.module_context] if "ctx" in inspect.signature(mlir.set_sharding).parameters else []
            mlir.set_sharding(*context, call, sharding)
        results = list(call.results)
        if token:
            token, *results = results
        return results, token, function

    jax_callback.emit_python_callback = emit_python_callback
    interpreters_mlir.emit_python_callback = emit_python_callback
    register_lowering(buffer_callback.buffer_callback_p, _call_on_buffers)
