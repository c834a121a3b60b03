"""XLA's FFI through ctypes: its table of functions, which the plugin hands out by an extension of its own, and call frames."""

import ctypes

_FFI_API_EXTENSION = 0x48494C4F

_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
_name = ctypes.pythonapi.PyCapsule_GetName
_name.restype, _name.argtypes = ctypes.c_char_p, [ctypes.py_object]


def address(capsule):
    """What a capsule points to."""
    return _pointer(capsule, _name(capsule))


class _Extension(ctypes.Structure):
    pass


_Extension._fields_ = [("struct_size", ctypes.c_size_t), ("type", ctypes.c_int), ("next", ctypes.POINTER(_Extension))]


class _FfiApiExtension(ctypes.Structure):
    _fields_ = [("base", _Extension), ("ffi_api", ctypes.c_void_p), ("set_sharding_inspector", ctypes.c_void_p), ("set_python_function", ctypes.c_void_p)]


class _Api(ctypes.Structure):
    """The start of the plugin's table: enough to find extensions."""
    _fields_ = [("struct_size", ctypes.c_size_t), ("extension_start", ctypes.POINTER(_Extension))]


class _Head(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("extension_start", ctypes.POINTER(_Extension))]


class _ByteSpan(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("size", ctypes.c_size_t)]


class _ErrorCreateArgs(ctypes.Structure):
    _fields_ = [("head", _Head), ("message", ctypes.c_char_p), ("code", ctypes.c_int)]


class _FfiApi(ctypes.Structure):
    """The start of XLA's table for handlers."""
    _fields_ = [("head", _Head), ("version", ctypes.c_byte * 24), ("internal_api", ctypes.c_void_p), ("error_create", ctypes.c_void_p),
                ("error_get_message", ctypes.c_void_p), ("error_destroy", ctypes.c_void_p), ("handler_register", ctypes.c_void_p),
                ("stream_get", ctypes.c_void_p), ("type_register", ctypes.c_void_p)]


class _HandlerRegisterArgs(ctypes.Structure):
    _fields_ = [("head", _Head), ("name", _ByteSpan), ("platform", _ByteSpan), ("instantiate", ctypes.c_void_p), ("prepare", ctypes.c_void_p),
                ("initialize", ctypes.c_void_p), ("execute", ctypes.c_void_p), ("traits", ctypes.c_uint32)]


class _TypeRegisterArgs(ctypes.Structure):
    _fields_ = [("head", _Head), ("name", _ByteSpan), ("type_id", ctypes.c_void_p), ("type_info", ctypes.c_void_p)]


class _ErrorMessageArgs(ctypes.Structure):
    _fields_ = [("head", _Head), ("error", ctypes.c_void_p), ("message", ctypes.c_char_p)]


class _ErrorDestroyArgs(ctypes.Structure):
    _fields_ = [("head", _Head), ("error", ctypes.c_void_p)]


ShardingInspector = ctypes.CFUNCTYPE(None, ctypes.c_uint64, ctypes.POINTER(ctypes.c_char), ctypes.c_size_t)


def _span(data):
    """A view of bytes that the caller keeps."""
    return _ByteSpan(ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p), len(data))


class Plugin:
    """The plugin behind the capsule that JAX's register_plugin returns."""

    def __init__(self, api):
        extension = ctypes.cast(address(api), ctypes.POINTER(_Api)).contents.extension_start
        while extension and extension.contents.type != _FFI_API_EXTENSION:
            extension = extension.contents.next
        if not extension:
            raise AttributeError("the plugin has no table of XLA's FFI")
        ours = ctypes.cast(extension, ctypes.POINTER(_FfiApiExtension)).contents
        self._ffi = ctypes.cast(ours.ffi_api, ctypes.POINTER(_FfiApi)).contents
        def setter(name, function_type):
            known = ours.base.struct_size > getattr(_FfiApiExtension, name).offset
            return ctypes.CFUNCTYPE(None, function_type)(getattr(ours, name)) if known else None

        self._set_sharding_inspector = setter("set_sharding_inspector", ShardingInspector)
        self._set_python_function = setter("set_python_function", PythonFunction)

    def register_handler(self, name, handler, platform="Host"):
        """Registers XLA_FFI_Handlers as the target `name` for all clients: a capsule or an address, or a dict of them by stage.

        Raises ValueError if there is another target of the name."""
        name, platform = name.encode(), platform.encode()
        stages = handler if isinstance(handler, dict) else {"execute": handler}
        functions = {stage: function if isinstance(function, int) else address(function) for stage, function in stages.items()}
        self._call(self._ffi.handler_register, _HandlerRegisterArgs(name=_span(name), platform=_span(platform), **functions))

    def set_sharding_inspector(self, inspector):
        """A ShardingInspector, which must live on: it gets, of each question in a program, its number and a serialized OpSharding."""
        if self._set_sharding_inspector is None:
            raise AttributeError("the plugin tells no shardings")
        self._set_sharding_inspector(inspector)

    def set_python_function(self, function):
        """A PythonFunction, which must live on: it is called for each custom call hilo_python_callback."""
        if self._set_python_function is None:
            raise AttributeError("the plugin calls no functions of Python")
        self._set_python_function(function)

    def register_type(self, name, type_id, type_info=None):
        """Registers a type of states. `type_id` and `type_info` are capsules; what type_id points to is set unless it has been."""
        name = name.encode()
        info = None if type_info is None else address(type_info)
        self._call(self._ffi.type_register, _TypeRegisterArgs(name=_span(name), type_id=address(type_id), type_info=info))

    def _call(self, function, args):
        args.head.struct_size = ctypes.sizeof(args)
        error = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(function)(ctypes.addressof(args))
        if not error:
            return
        message = _ErrorMessageArgs(_Head(ctypes.sizeof(_ErrorMessageArgs), None), error, None)
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self._ffi.error_get_message)(ctypes.addressof(message))
        text = message.message.decode(errors="replace")
        destroy = _ErrorDestroyArgs(_Head(ctypes.sizeof(_ErrorDestroyArgs), None), error)
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self._ffi.error_destroy)(ctypes.addressof(destroy))
        raise ValueError(text)


class CallFrame(ctypes.Structure):
    """The start of XLA's call frame: what an error is made by."""
    _fields_ = [("head", _Head), ("api", ctypes.POINTER(_FfiApi))]

    def error(self, message, code=13):
        """What a handler returns: an XLA_FFI_Error, INTERNAL unless another code is given."""
        args = _ErrorCreateArgs(_Head(ctypes.sizeof(_ErrorCreateArgs), None), message.encode(errors="replace"), code)
        create = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(_ErrorCreateArgs))(self.api.contents.error_create)
        return create(ctypes.byref(args))


class Call(ctypes.Structure):
    """What a PythonFunction is called with, and where it puts its results: those that ctypes returns are undefined after an exception."""
    _fields_ = [("struct_size", ctypes.c_size_t), ("error", ctypes.c_void_p), ("finished", ctypes.c_int32), ("_numbers", ctypes.c_void_p), ("_count", ctypes.c_int64)]

    def numbers(self):
        """Hilo_PythonCall.numbers, as an iterator. One copy, as each access to a field of a structure takes a tenth of a microsecond."""
        return iter(memoryview(ctypes.string_at(self._numbers, 8 * self._count)).cast("q").tolist())


PythonFunction = ctypes.CFUNCTYPE(None, ctypes.POINTER(CallFrame), ctypes.POINTER(Call))
