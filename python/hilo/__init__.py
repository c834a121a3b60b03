"""Hilo: a JIT execution engine for HLO and StableHLO programs.

    import hilo
    program = hilo.compile('''
        HloModule line
        ENTRY main {
          x = f32[3] parameter(0)
          ROOT y = f32[3] add(x, x)
        }''')
    print(program([1, 2, 3]))                # Array(f32[3] [2.0, 4.0, 6.0])

Programs come as HLO text, HloModuleProto, or StableHLO as text or bytecode, and run on a platform: "cpu", "cuda", "cuda-emulated", or "interpreter", the
reference. Arguments are arrays of NumPy, PyTorch (or whatever has ``__dlpack__`` or a buffer), lists and numbers; results are ``hilo.Array``, which those
libraries read in place. A program's text is that of ``jax.jit(f).lower(x).as_text()``, and JAX need not be there when it runs.

``compile`` makes a ``Program``; ``Program.save`` and ``load`` keep compiled programs in files; ``Client`` holds several devices. Errors are ``hilo.Error``; warnings go to the logger "hilo" of Python's ``logging``.
"""

import atexit
import collections
import logging
import os
import pathlib
import threading

_FOLDER = pathlib.Path(__file__).resolve().parent
_BUILD = _FOLDER.parents[1] / "build" / "lib"  # of the source tree
if not (_FOLDER / "_hilo.abi3.so").is_file():
    __path__.append(str(_BUILD))

from . import _hilo  # noqa: E402
from ._hilo import Error  # noqa: E402


def _library():
    """HILO_LIBRARY, or the library that was installed with this package, or that of the source tree's build."""
    if os.environ.get("HILO_LIBRARY"):
        return os.environ["HILO_LIBRARY"]
    candidates = [_FOLDER.parent / "jax_plugins" / "hilo" / "libpjrt_hilo.so", _BUILD / "libhilo.so"]
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    raise ImportError(f"Hilo's library is missing: there is no {' nor '.join(map(str, candidates))}; HILO_LIBRARY may name it")


__version__ = _hilo.load_library(os.fspath(_library()))

from ._arrays import Array, convert as _convert  # noqa: E402
from . import _types  # noqa: E402

_hilo.set_hooks(Array, _convert)
_hilo.set_warn(logging.getLogger("hilo").warning)
atexit.register(_hilo.set_warn, None)
atexit.register(_hilo.finish)

__all__ = ["Array", "Client", "Cost", "Error", "Memory", "Program", "Value", "compile", "load", "load_custom_calls", "__version__"]

Value = collections.namedtuple("Value", ["name", "element_type", "shape", "dynamic"])
Value.__doc__ = """A parameter or result: its name, element type ("f32"), dimensions, and whether these are upper bounds."""
Cost = collections.namedtuple("Cost", ["flops", "transcendentals", "bytes_accessed", "temporary_bytes", "code_bytes", "seconds"])
Cost.__doc__ = """What one run of a program costs: operations, bytes, and an estimate of its time. Counts are -1 for programs that were loaded."""
Memory = collections.namedtuple("Memory", ["bytes_in_use", "peak_bytes"])
Memory.__doc__ = """The memory of a device."""


def _options(named):
    """Options as the C interface takes them: names and texts."""
    texts = {}
    for name, value in named.items():
        if value is None:
            continue
        if isinstance(value, bool):
            texts[name] = "true" if value else "false"
        elif isinstance(value, (list, tuple)):
            texts[name] = ",".join(value)
        else:
            texts[name] = os.fspath(value) if isinstance(value, os.PathLike) else str(value)
    return texts


def _read(program):
    """The bytes of a program, and the name of their file if they are of one."""
    if isinstance(program, (bytes, bytearray, memoryview)):
        return program, None
    # A text on one line has braces, as the names of few files do; an empty one is a program that is missing.
    if isinstance(program, str) and (not program or "\n" in program or "{" in program and not os.path.exists(program)):
        return program.encode(), None
    if isinstance(program, (str, os.PathLike)):
        path = os.fspath(program)
        return pathlib.Path(path).read_bytes(), path
    if hasattr(program, "as_text"):
        return program.as_text().encode(), None
    raise TypeError(f"expected a program as text, bytes or a path, got {type(program).__name__}")


class Client(_hilo.Client):
    """Devices of a platform, on which programs run.

    Options: ``threads`` of one run, ``memory_limit`` in bytes, ``deadline`` of every run in seconds, ``cache_dir``, a folder in which compiled programs
    are kept for the next time, and ``cache_limit``, its bytes.
    """

    __slots__ = ("__weakref__",)

    def __new__(cls, platform="cpu", *, devices=1, threads=None, memory_limit=None, deadline=None, cache_dir=None, cache_limit=None):
        return super().__new__(cls, platform, _options({"devices": devices, "threads": threads, "memory_limit": memory_limit, "deadline": deadline,
                                                        "cache_dir": cache_dir, "cache_limit": cache_limit}))

    def compile(self, program, **options):
        """Compiles a program for this client's devices: see hilo.compile."""
        source, path = _read(program)
        return Program(self, source, {"file_name": path, **options})

    def load(self, program):
        """Loads a compiled program: see hilo.load."""
        source, path = _read(program)
        try:
            return Program(self, source, None)
        except Error as error:
            if path is not None:
                error.add_note(f"in {path}")
            raise

    def array(self, value, element_type=None, *, device=0, copy=True):
        """An array on a device, which programs take without copying it again.

        `element_type`, "f32" or a type of NumPy's, is that of numbers and lists; arrays of other libraries have one. With ``copy=False`` memory of the
        host may be used in place; it must not be changed then.
        """
        value, element_type, shape = _describe(value, element_type)
        return self._array(value, _types.NUMBERS[element_type], shape, device, copy)

    def memory(self, device=0):
        """The memory of a device that buffers and runs use."""
        return Memory(*self._memory(device))

    def __repr__(self):
        return f"Client({self.platform!r}, devices={self.device_count})"


def _describe(value, element_type):
    """An object as an array with an element type and dimensions."""
    if element_type is not None and not isinstance(element_type, str):
        import numpy

        element_type = _types.name_of_dtype(numpy.dtype(element_type)) or str(element_type)
    if element_type is not None and element_type not in _types.NUMBERS:
        raise TypeError(f"there is no element type {element_type!r}; there are {', '.join(_types.NUMBERS)}")
    if isinstance(value, (bool, int, float, complex, list, tuple)):
        if element_type is None:
            raise TypeError("numbers and lists need an element type: Client.array([1, 2], 'f32')")
        buffer, _ = _convert(value, _types.NUMBERS[element_type], 0, "array")
        return value, element_type, memoryview(buffer).shape
    value_shape = ()
    if isinstance(value, Array):
        found = value.element_type
    elif getattr(getattr(value, "dtype", None), "is_floating_point", None) is not None:  # PyTorch's
        found = _types.name_of_torch(value.dtype)
    elif hasattr(value, "dtype"):
        found = _types.name_of_dtype(value.dtype)
    else:
        try:
            view = memoryview(value)
        except TypeError:
            raise TypeError(f"expected an array, numbers or nested lists, got {type(value).__name__}") from None
        found, value_shape = _types.name_of_format(view.format, view.itemsize), view.shape
    if found is None:
        raise TypeError(f"there are no arrays of Hilo's with elements of {getattr(value, 'dtype', None) or view.format}")
    return value, element_type or found, tuple(getattr(value, "shape", value_shape))


class Program(_hilo.Program):
    """A compiled program: call it with its arguments.

        y = program(x)                                   # one array, or a tuple of them
        y = program(x, device=1, deadline=2.5)           # on another device; at most 2.5 seconds
        state = program(state, x, donate=[0])            # the first argument's memory may become the result's

    Arguments are ``hilo.Array``, arrays with ``__dlpack__`` or Python's buffer interface (of NumPy, PyTorch ...), numbers and nested lists; tuples of the
    program are flattened. Large arrays of the host whose memory is aligned to 64 bytes are read in place, and the call then returns when the run has
    ended; other arrays are copied. Any other call may return before the run has ended: its results wait when they are read. Ctrl-C ends the run that a
    call or a read waits for, and those that were started before it.
    """

    __slots__ = ("_source", "_compile_options", "__weakref__")

    def __new__(cls, client, program, options):
        made = super().__new__(cls, client, program, None if options is None else _options(options))
        made._source = None if options is None else bytes(program)
        made._compile_options = options
        return made

    @property
    def parameters(self):
        """A list of Value, in the order of the arguments."""
        return [Value(*row) for row in self._parameters]

    @property
    def results(self):
        """A list of Value."""
        return [Value(*row) for row in self._results]

    def on_devices(self, arguments, *, deadline=None, donate=None):
        """Runs a program of several devices (``replicas=`` or ``partitions=`` of hilo.compile, or as it states itself).

        Takes a list of arguments for each device, and returns a list of results for each.
        """
        lists = []
        for one in arguments:
            if not isinstance(one, (list, tuple)):
                raise TypeError(f"expected a list of arguments for each device, got {type(one).__name__} for device {len(lists)}")
            lists.append(tuple(one))
        return self._execute(tuple(lists), deadline=deadline, donate=donate)

    def save(self, path):
        """Writes the compiled program to a file, which hilo.load and `hilo run` take: native code for this version of Hilo and machines like this one."""
        pathlib.Path(path).write_bytes(self.serialize())

    def cost(self):
        """What a run costs: operations, bytes accessed, temporary memory, and an estimate of the time."""
        *counts, nanoseconds = self._cost()
        return Cost(*counts, nanoseconds * 1e-9)

    def text(self, stage="hlo"):
        """The program at a stage of its compilation: "input", "hlo" (optimized), "llvm", "asm", "buffers"; on GPUs also "ptx" and "thunks".

        Raises ValueError for programs that were loaded, of which there is only machine code.
        """
        if not isinstance(stage, str):
            raise TypeError(f"stage: expected a string, got {type(stage).__name__}")
        if self._source is None:
            raise ValueError("a program that was loaded has no text: expected one of hilo.compile")
        return self.client._emit(self._source, _options(self._compile_options), stage).decode(errors="replace")

    def __repr__(self):
        def values(rows):
            return ", ".join(f"{name}: {element_type}[{','.join(map(str, shape))}]" for name, element_type, shape, _ in rows)
        return f"<hilo.Program ({values(self._parameters)}) -> ({values(self._results)}) on {self.client.platform}>"


_clients = {}
_lock = threading.Lock()


def _client(platform, devices, threads):
    with _lock:
        key = (os.getpid(), platform, devices, threads)  # a client does not outlive a fork
        if key not in _clients:
            _clients[key] = Client(platform, devices=devices, threads=threads)
        return _clients[key]


def compile(program, platform="cpu", *, devices=1, threads=None, **options):
    """Compiles a program and returns a Program.

    Args:
      program: text of HLO or StableHLO (a string with line breaks), the path of a file, bytes: an HloModuleProto, or MLIR bytecode;
        or an object with the method as_text, such as jax.jit(f).lower(x).
      platform: "cpu", "interpreter", "cuda" or "cuda-emulated".
      devices: how many devices the platform has; a program of several replicas or partitions needs as many.
      threads: of one run; all processors if None.
      options: replicas and partitions (0: as the program says), strict (every operation rounds on its own), flush_denormals, cpu (the processor to compile for), disabled_passes (a
        list), constant_folding_limit, verify_each_pass, dump_dir, deadline (seconds), file_name (in messages).

    Raises:
      hilo.Error: for a wrong program, with the line, the column and a caret.

    Clients are shared: programs of one platform, with the same number of devices and threads, take each other's arrays.
    """
    return _client(platform, devices, threads).compile(program, **options)


def load(program, platform="cpu", *, devices=1, threads=None):
    """Loads what Program.save has written (or bytes of Program.serialize). It is native code: load only what you would run.

    Raises:
      hilo.Error: for damaged files, and those of another version, platform or machine.
    """
    return _client(platform, devices, threads).load(program)


def load_custom_calls(path):
    """Loads a shared library of functions that programs call as custom calls, for all programs that are compiled or loaded afterwards.

    It exports HiloRegisterCustomCalls (hilo/ffi.h, plain C), and stays loaded.

    Raises:
      hilo.Error: if it cannot be loaded, exports no such function, or registers a name that is taken.
    """
    _hilo.load_custom_calls(path)
