"""The FFI extension of the PJRT C API, and XLA's FFI call frames, through ctypes."""

import ctypes

_FFI_EXTENSION = 5

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


class _FfiExtension(ctypes.Structure):
    _fields_ = [("base", _Extension), ("type_register", ctypes.c_void_p), ("user_data_add", ctypes.c_void_p), ("register_handler", ctypes.c_void_p)]


class _RegisterHandlerArgs(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("target_name", ctypes.c_char_p), ("target_name_size", ctypes.c_size_t), ("handler", ctypes.c_void_p),
                ("platform_name", ctypes.c_char_p), ("platform_name_size", ctypes.c_size_t), ("traits", ctypes.c_uint32)]


class _Api(ctypes.Structure):
    """The start of the plugin's table: enough to find extensions, and to read and free an error."""
    _fields_ = [("struct_size", ctypes.c_size_t), ("extension_start", ctypes.POINTER(_Extension)), ("version", ctypes.c_byte * 24),
                ("error_destroy", ctypes.c_void_p), ("error_message", ctypes.c_void_p)]


class _ErrorArgs(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("extension_start", ctypes.c_void_p), ("error", ctypes.c_void_p), ("message", ctypes.c_void_p),
                ("message_size", ctypes.c_size_t)]


class Plugin:
    """The plugin behind the capsule that JAX's register_plugin returns."""

    def __init__(self, api):
        self._api = ctypes.cast(address(api), ctypes.POINTER(_Api)).contents
        extension = self._api.extension_start
        while extension and extension.contents.type != _FFI_EXTENSION:
            extension = extension.contents.next
        self._ffi = ctypes.cast(extension, ctypes.POINTER(_FfiExtension)).contents

    def register_handler(self, name, handler, platform="Host"):
        """Registers an XLA_FFI_Handler, a capsule or an address, as the target `name` for all clients. Raises ValueError if it has another one."""
        name, platform = name.encode(), platform.encode()
        function = handler if isinstance(handler, int) else address(handler)
        args = _RegisterHandlerArgs(ctypes.sizeof(_RegisterHandlerArgs), name, len(name), function, platform, len(platform), 0)
        register = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(_RegisterHandlerArgs))(self._ffi.register_handler)
        if error := register(ctypes.byref(args)):
            raise ValueError(self._take(error))

    def _take(self, error):
        args = _ErrorArgs(ctypes.sizeof(_ErrorArgs), None, error, None, 0)
        function = ctypes.CFUNCTYPE(None, ctypes.POINTER(_ErrorArgs))
        function(self._api.error_message)(ctypes.byref(args))
        text = ctypes.string_at(args.message, args.message_size).decode()
        function(self._api.error_destroy)(ctypes.byref(args))
        return text


class _Head(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("extension_start", ctypes.POINTER(_Extension))]


class Buffer(ctypes.Structure):
    _fields_ = [("head", _Head), ("dtype", ctypes.c_int), ("data", ctypes.c_void_p), ("rank", ctypes.c_int64), ("dims", ctypes.POINTER(ctypes.c_int64))]


class _Buffers(ctypes.Structure):
    _fields_ = [("head", _Head), ("size", ctypes.c_int64), ("types", ctypes.c_void_p), ("buffers", ctypes.POINTER(ctypes.POINTER(Buffer)))]


class _ByteSpan(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("size", ctypes.c_size_t)]


class _Scalar(ctypes.Structure):
    _fields_ = [("dtype", ctypes.c_int), ("value", ctypes.POINTER(ctypes.c_uint64))]


class _Attributes(ctypes.Structure):
    _fields_ = [("head", _Head), ("size", ctypes.c_int64), ("types", ctypes.c_void_p), ("names", ctypes.POINTER(ctypes.POINTER(_ByteSpan))),
                ("values", ctypes.POINTER(ctypes.c_void_p))]


class _ErrorCreateArgs(ctypes.Structure):
    _fields_ = [("head", _Head), ("message", ctypes.c_char_p), ("code", ctypes.c_int)]


class _FfiApi(ctypes.Structure):
    """The start of XLA's table for handlers."""
    _fields_ = [("head", _Head), ("version", ctypes.c_byte * 24), ("internal_api", ctypes.c_void_p), ("error_create", ctypes.c_void_p)]


class CallFrame(ctypes.Structure):
    _fields_ = [("head", _Head), ("api", ctypes.POINTER(_FfiApi)), ("context", ctypes.c_void_p), ("stage", ctypes.c_int), ("args", _Buffers),
                ("rets", _Buffers), ("attrs", _Attributes)]

    def arguments(self):
        return [self.args.buffers[i].contents for i in range(self.args.size)]

    def results(self):
        return [self.rets.buffers[i].contents for i in range(self.rets.size)]

    def integer_attribute(self, name):
        """A scalar attribute of 64 bits."""
        for i in range(self.attrs.size):
            span = self.attrs.names[i].contents
            if ctypes.string_at(span.data, span.size).decode() == name:
                return ctypes.cast(self.attrs.values[i], ctypes.POINTER(_Scalar)).contents.value[0]
        raise KeyError(name)

    def error(self, message, code=13):
        """What a handler returns: an XLA_FFI_Error, INTERNAL unless another code is given."""
        args = _ErrorCreateArgs(_Head(ctypes.sizeof(_ErrorCreateArgs), None), message.encode(errors="replace"), code)
        create = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(_ErrorCreateArgs))(self.api.contents.error_create)
        return create(ctypes.byref(args))


class Metadata(ctypes.Structure):
    """What a handler is asked about itself."""
    _fields_ = [("struct_size", ctypes.c_size_t), ("version_head", _Head), ("major", ctypes.c_int), ("minor", ctypes.c_int), ("traits", ctypes.c_uint32)]


class MetadataExtension(ctypes.Structure):
    _fields_ = [("base", _Extension), ("metadata", ctypes.POINTER(Metadata))]


Handler = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(CallFrame))
