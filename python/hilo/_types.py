"""Element types: their names in HLO, their numbers, and NumPy's types for them."""

import functools

NUMBERS = {"pred": 1, "s8": 2, "s16": 3, "s32": 4, "s64": 5, "u8": 6, "u16": 7, "u32": 8, "u64": 9, "f16": 10, "f32": 11, "f64": 12, "c64": 15, "bf16": 16,
           "c128": 18, "f8e5m2": 19, "f8e4m3fn": 20, "s4": 21, "u4": 22, "f8e4m3b11fnuz": 23, "f8e5m2fnuz": 24, "f8e4m3fnuz": 25, "s2": 26, "u2": 27,
           "f8e4m3": 28, "f8e3m4": 29, "s1": 30, "u1": 31, "f4e2m1fn": 32, "f8e8m0fnu": 33}
NAMES = {number: name for name, number in NUMBERS.items()}
# Characters of the module struct.
FORMATS = {"pred": "?", "s8": "b", "s16": "h", "s32": "i", "s64": "q", "u8": "B", "u16": "H", "u32": "I", "u64": "Q", "f16": "e", "f32": "f", "f64": "d"}
_NUMPY = {"pred": "bool", "s8": "int8", "s16": "int16", "s32": "int32", "s64": "int64", "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64",
          "f16": "float16", "f32": "float32", "f64": "float64", "c64": "complex64", "c128": "complex128"}
# Of the package ml_dtypes.
_ML_DTYPES = {"bf16": "bfloat16", "s4": "int4", "u4": "uint4", "s2": "int2", "u2": "uint2", "s1": "int1", "u1": "uint1",
              **{name: "float" + name[1:].replace("e", "_e", 1) for name in NUMBERS if name[:2] in ("f8", "f4")}}
_FROM_DTYPE = {dtype: name for table in (_NUMPY, _ML_DTYPES) for name, dtype in table.items()}


@functools.lru_cache(maxsize=None)
def numpy_dtype(name):
    """NumPy's type of an element type, by its HLO name. Errors: TypeError for a token, which has no elements; ImportError if NumPy, or a version of ml_dtypes that
    has it for types that NumPy lacks, is not installed."""
    if name not in NUMBERS:
        raise TypeError(f"NumPy has no elements of type {name}")
    import numpy

    if name in _NUMPY:
        return numpy.dtype(_NUMPY[name])
    try:
        import ml_dtypes
        return numpy.dtype(getattr(ml_dtypes, _ML_DTYPES[name]))
    except (ImportError, AttributeError) as error:
        raise ImportError(f"NumPy has no element type {name}; the package ml_dtypes has, in its newer versions") from error


def name_of_dtype(dtype):
    """The HLO name of one of NumPy's types, or None."""
    return _FROM_DTYPE.get(getattr(dtype, "name", None))


def name_of_torch(dtype):
    """The HLO name of one of PyTorch's types, or None."""
    return _FROM_DTYPE.get(str(dtype).removeprefix("torch."))


def name_of_format(format, size):
    """The HLO name of a character of the module struct and the size of its elements, or None."""
    format = format.lstrip("@=<")
    kind = "s" if format in "bhilqn" else "u" if format in "BHILQN" else "f" if format in "efd" else None
    return "pred" if format == "?" else None if kind is None else f"{kind}{8 * size}"
