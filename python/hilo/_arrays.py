"""Arrays, and what becomes one."""

import array as _array
import functools
import struct

from . import _hilo, _types


class _Memory:
    """The memory of an array as numpy.asarray takes it, for types that Python's buffers do not have."""

    def __init__(self, owner):
        address, strides = owner._memory
        size = _types.numpy_dtype(owner.element_type).itemsize
        self.owner = owner
        self.__array_interface__ = {"version": 3, "shape": owner.shape, "typestr": f"<u{size}", "data": (address, True), "strides": strides}


class Array(_hilo.Array):
    """An array on a device, perhaps not computed yet: what programs return and take.

    NumPy, PyTorch and others read it without a copy if its device is on the host: ``numpy.asarray(a)``, ``torch.from_dlpack(a)``, ``memoryview(a)``. It
    is read-only, and reading waits until it is computed.
    """

    __slots__ = ()

    @property
    def ndim(self):
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self):
        """The number of elements."""
        count = 1
        for size in self.shape:
            count *= size
        return count

    @property
    def dtype(self):
        """NumPy's type of the elements; those that NumPy lacks are of the package ml_dtypes."""
        return _types.numpy_dtype(self.element_type)

    def __array__(self, dtype=None, copy=None):
        own = self.dtype
        import numpy

        raw = _types.FORMATS.get(self.element_type) is None and own.kind != "c"
        array = numpy.asarray(_Memory(self)).view(own) if raw else numpy.asarray(memoryview(self))
        if dtype is not None and numpy.dtype(dtype) != own:
            if copy is False:
                raise ValueError(f"a copy is needed to make {dtype} of {own}")
            return array.astype(dtype)
        return array.copy() if copy else array

    def __dlpack_device__(self):
        return (1, 0)  # memory of the host

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        if stream is not None:
            raise BufferError(f"arrays in the memory of the host have no streams: expected stream=None, got {stream}")
        if dl_device is not None and tuple(dl_device) != (1, 0):
            raise BufferError(f"the array is in the memory of the host, device (1, 0) of DLPack's, and cannot be given to {tuple(dl_device)}")
        return self._dlpack(max_version is not None and tuple(max_version) >= (1, 0), bool(copy))

    def tolist(self):
        """The elements as nested lists of Python numbers."""
        if self.element_type == "f16":  # which memoryview cannot read in Python 3.11
            return _nested(struct.unpack(f"{self.size}e", memoryview(self).tobytes()), self.shape)
        if self.element_type in ("c64", "c128"):
            parts = struct.unpack(f"{2 * self.size}{'f' if self.element_type == 'c64' else 'd'}", memoryview(self).tobytes())
            return _nested(list(map(complex, parts[::2], parts[1::2])), self.shape)
        if self.element_type in _types.FORMATS:
            return memoryview(self).tolist()
        return self.__array__().tolist()

    def item(self):
        """The element of an array that has one."""
        if self.size != 1:
            raise ValueError(f"expected an array of one element, got {self.element_type}{list(self.shape)}")
        value = self.tolist()
        while isinstance(value, list):
            value = value[0]
        return value

    def __len__(self):
        if not self.shape:
            raise TypeError("an array without dimensions has no len()")
        return self.shape[0]

    def __getitem__(self, index):
        """A part of ``numpy.asarray(self)``, with NumPy's rules."""
        return self.__array__()[index]

    def __float__(self):
        return float(self.item())

    def __int__(self):
        return int(self.item())

    def __bool__(self):
        return bool(self.item())

    def __repr__(self):
        what = f"{self.element_type}[{','.join(map(str, self.shape))}]"
        try:
            return f"Array({what} {self.tolist()})" if self.size <= 64 else f"Array({what})"
        except (ImportError, TypeError):  # no ml_dtypes; a token
            return f"Array({what})"


def _nested(elements, shape):
    """Elements in row-major order as nested lists."""
    if not shape:
        return elements[0]
    step = len(elements) // shape[0] if shape[0] else 0
    return [_nested(elements[i * step:(i + 1) * step], shape[1:]) for i in range(shape[0])]


def _flatten(value, name):
    """Nested lists as a list and their dimensions."""
    if not isinstance(value, (list, tuple)):
        return [value], ()
    rows = [_flatten(row, name) for row in value]
    shapes = {shape for _, shape in rows}
    if len(shapes) > 1:
        raise TypeError(f"{name}: the lists have rows of different sizes: {' and '.join(str(list(shape)) for shape in sorted(shapes))}")
    return [element for elements, _ in rows for element in elements], (len(rows), *(shapes.pop() if shapes else ()))


def convert(value, element_type, index, name):
    """A buffer with the elements of `value`, and the number of their type. For what has no buffer of its own: NumPy's arrays of ml_dtypes' types, other
    objects that NumPy takes, numbers, and nested lists of numbers."""
    where = f"argument {index} ({name})"
    wanted = _types.NAMES[element_type]
    if isinstance(value, (bool, int, float, complex, list, tuple)):
        elements, shape = _flatten(value, where)
        try:
            if wanted in ("c64", "c128"):
                return _complex(elements, wanted, shape), element_type
            if wanted not in _types.FORMATS:
                import numpy

                dtype = _types.numpy_dtype(wanted)
                return numpy.array(value, dtype).view(f"u{dtype.itemsize}"), element_type
            data = struct.pack(f"{len(elements)}{_types.FORMATS[wanted]}", *elements)
        except (struct.error, OverflowError, TypeError, ValueError):
            raise TypeError(f"{where}: expected numbers that are {wanted}, got {value!r:.100}") from None
        return _shaped(data, wanted, shape), element_type
    dtype = getattr(value, "dtype", None)
    name_of_type = _types.name_of_dtype(dtype)
    if name_of_type is not None:
        import numpy

        value = numpy.asarray(value)
        return (value if name_of_type in _types.FORMATS else numpy.ascontiguousarray(value).view(f"u{value.itemsize}")), _types.NUMBERS[name_of_type]
    array = value.__array__() if hasattr(value, "__array__") else None
    if array is not None and array is not value:
        return convert(array, element_type, index, name)
    raise TypeError(f"{where}: expected an array of {wanted}, got {type(value).__name__}{'' if dtype is None else f' of {dtype}'}")


@functools.lru_cache(maxsize=None)
def _structure(element_type):
    """ctypes' type of a complex number, whose arrays are buffers: memoryview casts to no elements of 16 bytes."""
    import ctypes

    part = {"c64": ctypes.c_float, "c128": ctypes.c_double}[element_type]
    return type(element_type, (ctypes.Structure,), {"_fields_": [("real", part), ("imag", part)]})


def _complex(elements, element_type, shape):
    """Complex numbers as a buffer of these dimensions."""
    if any(isinstance(element, str) for element in elements):  # which complex() would read
        raise TypeError("a string is no number")
    kind = _structure(element_type)
    for size in reversed(shape):
        kind = kind * size
    parts = [part for element in map(complex, elements) for part in (element.real, element.imag)]
    return kind.from_buffer_copy(_array.array("f" if element_type == "c64" else "d", parts))


def _shaped(data, element_type, shape):
    """Bytes as a buffer of these dimensions. Its format only states the size of the elements: memoryview has none for f16 in Python 3.11."""
    kind = "H" if element_type == "f16" else _types.FORMATS[element_type]
    if 0 not in shape:
        return memoryview(data).cast(kind, shape)
    if len(shape) == 1:
        return _array.array("b" if kind == "?" else kind)
    raise TypeError(f"nested lists of dimensions {list(shape)} have no elements: give an array of NumPy's")
