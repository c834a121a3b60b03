"""Arrays that are shared by DLPack.

An array on Hilo's devices lies in the memory of the host, so it is given away as NumPy's array of the same memory, but for element types that NumPy does
not know: for these the tensor is described here. JAX takes tensors of the host for those of a platform `cpu`; where there is none but ours, they are ours.
"""

import ctypes
import functools

import numpy as np

_NAME = "hilo"
_CPU = 1  # kDLCPU
_CODES = {"bfloat16": 4, "float8_e3m4": 7, "float8_e4m3": 8, "float8_e4m3b11fnuz": 9, "float8_e4m3fn": 10, "float8_e4m3fnuz": 11, "float8_e5m2": 12,
          "float8_e5m2fnuz": 13, "float8_e8m0fnu": 14}  # DLDataTypeCode


class _Tensor(ctypes.Structure):  # DLTensor
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class _ManagedTensor(ctypes.Structure):  # DLManagedTensor
    _fields_ = [("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


_given = {}  # what must outlive its tensor, by the tensor's address
_new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(("PyCapsule_New", ctypes.pythonapi))
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", ctypes.pythonapi))
_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _delete_tensor(address):
    _given.pop(address, None)


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _delete_capsule(capsule):
    if _is_valid(capsule, b"dltensor"):  # nobody has taken the tensor
        _delete_tensor(_pointer(capsule, b"dltensor"))


def _capsule(array):
    """A DLManagedTensor of the memory of a NumPy array whose type has a row in _CODES."""
    sizes = (ctypes.c_int64 * array.ndim)(*array.shape)
    strides = (ctypes.c_int64 * array.ndim)(*(stride // array.itemsize for stride in array.strides))
    tensor = _ManagedTensor(_Tensor(array.__array_interface__["data"][0], _CPU, 0, array.ndim, _CODES[array.dtype.name], 8 * array.itemsize, 1, sizes, strides, 0),
                            None, ctypes.cast(_delete_tensor, ctypes.c_void_p))
    address = ctypes.addressof(tensor)
    _given[address] = (array, sizes, strides, tensor)
    return _new(address, b"dltensor", ctypes.cast(_delete_capsule, ctypes.c_void_p))


class _Writable:
    """The memory of an array as DLPack wants it: without the mark that it must not be written to."""

    def __init__(self, array):
        self._array = array
        self.__array_interface__ = {**array.__array_interface__, "data": (array.__array_interface__["data"][0], False)}


def share():
    """numpy.from_dlpack, torch.from_dlpack and jax.dlpack.from_dlpack of JAX's arrays."""
    from jax._src.array import ArrayImpl

    original, original_device = ArrayImpl.__dlpack__, ArrayImpl.__dlpack_device__

    def is_ours(array):
        return len(array.sharding.device_set) == 1 and array.platform() == _NAME

    @functools.wraps(original)
    def dlpack(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        if not is_ours(self):
            return original(self, stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)
        if stream is not None:
            raise RuntimeError(f"arrays in the memory of the host have no streams: expected stream=None, got {stream}")
        array = np.asarray(self)
        if array.dtype.name not in _CODES:
            return np.asarray(_Writable(array)).__dlpack__(max_version=max_version, dl_device=dl_device, copy=copy)
        if dl_device is not None and int(dl_device[0]) != _CPU:
            raise BufferError(f"an array in the memory of the host cannot be given to a device of type {dl_device[0]}")
        return _capsule(array.copy() if copy else array)

    @functools.wraps(original_device)
    def dlpack_device(self):
        return (_CPU, 0) if is_ours(self) else original_device(self)

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


class _WithCopies:
    """jaxlib as jax.dlpack sees it: a plugin's client takes tensors as they are, and copies come afterwards."""

    def __init__(self, jaxlib):
        self._jaxlib = jaxlib

    def __getattr__(self, name):
        return getattr(self._jaxlib, name)

    def dlpack_managed_tensor_to_buffer(self, tensor, device, stream, copy=None, *others):
        if not copy or getattr(device, "platform", None) != _NAME:
            return self._jaxlib.dlpack_managed_tensor_to_buffer(tensor, device, stream, copy, *others)
        from jax import numpy as jnp

        return jnp.array(self._jaxlib.dlpack_managed_tensor_to_buffer(tensor, device, stream, None, *others), copy=True)


def take():
    """jax.dlpack.from_dlpack."""
    from jax._src import dlpack

    dlpack.xla_bridge, dlpack._jax = _WithoutCpu(dlpack.xla_bridge), _WithCopies(dlpack._jax)
