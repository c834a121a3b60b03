"""Arrays that are shared by DLPack.

An array in the memory of the host is given away as NumPy's array of the same memory, but for element types that NumPy does not know: for these, and for
arrays in the memory of a GPU, the tensor is corrected here. JAX takes tensors for those of a platform `cpu` or `cuda`; where there is none but ours, they are ours.
"""

import ctypes
import functools
import sys

import numpy as np

_NAME = "hilo"
_CPU, _CUDA = 1, 2  # kDLCPU, kDLCUDA
_DEVICE_TYPES = {"hilo_cuda": _CUDA}  # by kind of device: those whose memory others can use; of other devices' memory there are copies on the host
_CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6,  # DLDataTypeCode, by NumPy's kinds and, for types of other packages, by their names
          "bfloat16": 4, "float8_e3m4": 7, "float8_e4m3": 8, "float8_e4m3b11fnuz": 9, "float8_e4m3fn": 10, "float8_e4m3fnuz": 11, "float8_e5m2": 12,
          "float8_e5m2fnuz": 13, "float8_e8m0fnu": 14}


class _Tensor(ctypes.Structure):  # DLTensor
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class _ManagedTensor(ctypes.Structure):  # DLManagedTensor
    _fields_ = [("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class _VersionedTensor(ctypes.Structure):  # DLManagedTensorVersioned
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
                ("flags", ctypes.c_uint64), ("tensor", _Tensor)]


_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", ctypes.pythonapi))
_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))


def _tensor(capsule):
    """What a capsule of either form holds, for as long as that lives."""
    for name, form in ((b"dltensor", _ManagedTensor), (b"dltensor_versioned", _VersionedTensor)):
        if _is_valid(id(capsule), name):
            return form.from_address(_pointer(id(capsule), name)).tensor
    raise BufferError("expected a DLPack capsule that has not been taken")


def _code(dtype):
    """Of an element type; None if tensors have none for it."""
    return _CODES.get(dtype.name, _CODES.get(dtype.kind) if dtype.isbuiltin == 1 else None)


class _Memory:
    """An array's memory, which may be written to, for np.asarray: numbers of the same size, if NumPy does not know the element type."""

    def __init__(self, array, address, strides):
        dtype = array.dtype if array.dtype.isbuiltin == 1 else np.dtype(f"u{array.dtype.itemsize}")
        self._array = array
        self.__array_interface__ = {"version": 3, "typestr": dtype.str, "shape": array.shape, "data": (address, False), "strides": strides}


def _writable(array):
    """NumPy's array of the memory of another."""
    return np.asarray(_Memory(array, array.__array_interface__["data"][0], array.strides))


def _capsule(numbers, dtype, place):
    """NumPy's tensor of `numbers`, as one of elements of `dtype` on the device `place`. NumPy makes and deletes it: a destructor of ours would be Python that
    runs while the exception of a consumer is pending."""
    capsule = numbers.__dlpack__()
    tensor = _tensor(capsule)
    tensor.device_type, tensor.device_id = place
    tensor.code = _code(dtype)
    return capsule


def _device_capsule(array, place):
    """Of an array of JAX's in the memory of a GPU. It is there once the array is ready, as runs end before their results are."""
    order = array.format.layout.major_to_minor
    strides, stride = [0] * array.ndim, array.dtype.itemsize
    for dimension in reversed(order):
        strides[dimension], stride = stride, stride * array.shape[dimension]
    return _capsule(np.asarray(_Memory(array, array.unsafe_buffer_pointer(), tuple(strides))), array.dtype, place)


def share():
    """numpy.from_dlpack, torch.from_dlpack and jax.dlpack.from_dlpack of JAX's arrays, and their addresses."""
    from jax._src.array import ArrayImpl
    from jax._src.dlpack import DLDeviceType

    original, original_device = ArrayImpl.__dlpack__, ArrayImpl.__dlpack_device__

    def is_ours(array):
        return len(array.sharding.device_set) == 1 and array.platform() == _NAME

    @functools.wraps(original)
    def dlpack(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        if not is_ours(self):
            return original(self, stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)
        place = dlpack_device(self)
        wanted = place if dl_device is None else (int(dl_device[0]), dl_device[1])
        if wanted == place and place[0] != _CPU and _code(self.dtype) is not None:
            return _device_capsule(self.copy() if copy else self, place)
        if wanted[0] != _CPU:
            raise BufferError(f"an array on the device {(int(place[0]), place[1])} of DLPack's cannot be given to the device {wanted}")
        if stream is not None and place[0] == _CPU:
            raise RuntimeError(f"arrays in the memory of the host have no streams: expected stream=None, got {stream}")
        array = np.asarray(self)
        if array.dtype.isbuiltin == 1 or _code(array.dtype) is None:
            # The older form of tensors has no flag for memory that must not be written to.
            says_so = max_version is not None and tuple(max_version) >= (1, 0)
            return (array if says_so else _writable(array)).__dlpack__(max_version=max_version, copy=copy)
        return _capsule(_writable(array.copy() if copy else array), array.dtype, place)

    @functools.wraps(original_device)
    def dlpack_device(self):
        if not is_ours(self):
            return original_device(self)
        (device,) = self.sharding.device_set
        kind = _DEVICE_TYPES.get(device.device_kind, _CPU)
        return (DLDeviceType(kind), 0 if kind == _CPU else device.local_hardware_id)

    original_pointer = ArrayImpl.unsafe_buffer_pointer

    def unsafe_buffer_pointer(self):
        # The original waits with Python's lock held, which callbacks of the program that computes the array need.
        return original_pointer(self.block_until_ready() if is_ours(self) else self)

    ArrayImpl.__dlpack__, ArrayImpl.__dlpack_device__ = dlpack, dlpack_device
    ArrayImpl.unsafe_buffer_pointer = unsafe_buffer_pointer


class _WithoutOthers:
    """The module xla_bridge as jax.dlpack sees it: tensors of a platform that is not there are put on Hilo's devices."""

    def __init__(self, xla_bridge):
        self._xla_bridge = xla_bridge

    def __getattr__(self, name):
        return getattr(self._xla_bridge, name)

    def get_backend(self, platform=None):
        return self._xla_bridge.get_backend(_platform_for(platform, self._xla_bridge.backends()))


def _platform_for(platform, backends):
    """The platform whose devices take tensors of `platform`."""
    if platform not in ("cpu", "cuda") or platform in backends or _NAME not in backends:
        return platform
    if platform == "cuda" and backends[_NAME].devices()[0].device_kind not in _DEVICE_TYPES:
        raise RuntimeError("a tensor on a GPU, and no platform that shares its memory: expected HILO_BACKEND=cuda")
    return _NAME


def _copy(capsule):
    """A tensor in the memory of the host as an array of NumPy's with bytes of its own."""
    import ml_dtypes

    tensor = _tensor(capsule)
    name = {code: name for name, code in _CODES.items()}[tensor.code]
    dtype = np.dtype(f"{name}{tensor.bits // 8}" if len(name) == 1 else getattr(ml_dtypes, name))
    shape = tensor.shape[:tensor.ndim]
    ends = np.cumprod([1, *shape[:0:-1]], dtype=np.int64)[::-1]  # of row-major order, which null strides stand for
    strides = [int(stride) * dtype.itemsize for stride in (tensor.strides[:tensor.ndim] if tensor.strides else ends[:tensor.ndim])]
    reach = [(size - 1) * stride for size, stride in zip(shape, strides)] if all(shape) else []
    low, high = sum(min(0, last) for last in reach), sum(max(0, last) for last in reach) + dtype.itemsize
    memory = (ctypes.c_ubyte * (high - low)).from_address(tensor.data + tensor.byte_offset + low) if all(shape) else b""
    return np.ndarray(shape, dtype, memory, -low, strides).copy()


class _WithCopies:
    """jaxlib as jax.dlpack sees it: a plugin's client takes tensors of its own memory as they are, and copies come afterwards."""

    def __init__(self, jaxlib):
        self._jaxlib = jaxlib
        self.after_first_call = None

    def __getattr__(self, name):
        return getattr(self._jaxlib, name)

    def dlpack_managed_tensor_to_buffer(self, tensor, device, stream, copy=None, *others):
        import jax
        from jax import numpy as jnp

        if self.after_first_call is not None:
            self.after_first_call()
            self.after_first_call = None
        if getattr(device, "platform", None) != _NAME:
            return self._jaxlib.dlpack_managed_tensor_to_buffer(tensor, device, stream, copy, *others)
        if _tensor(tensor).device_type == _CPU and device.device_kind.startswith("hilo_cuda"):
            return jax.device_put(_copy(tensor), device)
        array = self._jaxlib.dlpack_managed_tensor_to_buffer(tensor, device, stream, None, *others)
        return jnp.array(array, copy=True) if copy else array


def _take_within_first_call(dlpack, xla_bridge):
    """jax.dlpack.from_dlpack as the first call of a process: it has called xla_bridge.get_backend, which has JAX look for its plugins before it looks
    up the platform."""
    frame = sys._getframe()
    while frame is not None and frame.f_globals is not vars(dlpack):
        frame = frame.f_back
    if frame is None:
        return
    original = xla_bridge.canonicalize_platform

    def canonicalize_platform(platform):
        if sys._getframe(1).f_code.co_name != "_get_backend_uncached":
            return original(platform)
        xla_bridge.canonicalize_platform = original
        return _platform_for(original(platform), xla_bridge.backends())

    xla_bridge.canonicalize_platform = canonicalize_platform
    # The call keeps what it finds under the name that it asked for.
    dlpack._jax.after_first_call = xla_bridge.get_backend.cache_clear


def take():
    """jax.dlpack.from_dlpack."""
    from jax._src import dlpack

    xla_bridge = dlpack.xla_bridge
    dlpack.xla_bridge, dlpack._jax = _WithoutOthers(xla_bridge), _WithCopies(dlpack._jax)
    _take_within_first_call(dlpack, xla_bridge)
