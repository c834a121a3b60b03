/* Arrays: a buffer of Hilo's, which other libraries read through Python's buffer protocol and DLPack. */
#include <string.h>

#include "native.h"

PyTypeObject* array_type;

static const struct {
  HiloElementType type;
  uint8_t size;
  const char* format;
  uint8_t dlpack_code, dlpack_bits; /* bits 0: none */
} kTypes[] = {{HILO_TYPE_PRED, 1, "?", 6, 8},       {HILO_TYPE_S8, 1, "b", 0, 8},
              {HILO_TYPE_S16, 2, "h", 0, 16},       {HILO_TYPE_S32, 4, "i", 0, 32},
              {HILO_TYPE_S64, 8, "q", 0, 64},       {HILO_TYPE_U8, 1, "B", 1, 8},
              {HILO_TYPE_U16, 2, "H", 1, 16},       {HILO_TYPE_U32, 4, "I", 1, 32},
              {HILO_TYPE_U64, 8, "Q", 1, 64},       {HILO_TYPE_F16, 2, "e", 2, 16},
              {HILO_TYPE_F32, 4, "f", 2, 32},       {HILO_TYPE_F64, 8, "d", 2, 64},
              {HILO_TYPE_C64, 8, "Zf", 5, 64},      {HILO_TYPE_C128, 16, "Zd", 5, 128},
              {HILO_TYPE_BF16, 2, NULL, 4, 16},     {HILO_TYPE_F8E3M4, 1, NULL, 7, 8},
              {HILO_TYPE_F8E4M3, 1, NULL, 8, 8},    {HILO_TYPE_F8E4M3B11FNUZ, 1, NULL, 9, 8},
              {HILO_TYPE_F8E4M3FN, 1, NULL, 10, 8}, {HILO_TYPE_F8E4M3FNUZ, 1, NULL, 11, 8},
              {HILO_TYPE_F8E5M2, 1, NULL, 12, 8},   {HILO_TYPE_F8E5M2FNUZ, 1, NULL, 13, 8},
              {HILO_TYPE_F8E8M0FNU, 1, NULL, 14, 8}};
enum { kNumTypes = sizeof kTypes / sizeof *kTypes };

const char* format_of(HiloElementType type) {
  for (int i = 0; i < kNumTypes; ++i) {
    if (kTypes[i].type == type) return kTypes[i].format;
  }
  return NULL;
}

/* The types that are not in the table have fewer than 8 bits, and take a byte. */
size_t size_of(HiloElementType type) {
  for (int i = 0; i < kNumTypes; ++i) {
    if (kTypes[i].type == type) return kTypes[i].size;
  }
  return type == HILO_TYPE_TOKEN ? 0 : 1;
}

HiloElementType type_of_dlpack(int code, int bits) {
  for (int i = 0; i < kNumTypes; ++i) {
    if (kTypes[i].dlpack_code == code && kTypes[i].dlpack_bits == bits) return kTypes[i].type;
  }
  return 0;
}

bool dlpack_of_type(HiloElementType type, uint8_t* code, uint8_t* bits) {
  for (int i = 0; i < kNumTypes; ++i) {
    if (kTypes[i].type != type) continue;
    *code = kTypes[i].dlpack_code;
    *bits = kTypes[i].dlpack_bits;
    return true;
  }
  return false;
}

PyObject* shape_text(const HiloShape* shape, const int64_t* dimensions) {
  PyObject* text = PyUnicode_FromFormat("%s[", hilo.HiloElementTypeName(shape->element_type));
  for (int d = 0; d < shape->rank && text != NULL; ++d) {
    const bool bound = shape->dynamic && dimensions == shape->dimensions;
    PyObject* more =
        PyUnicode_FromFormat("%U%s%s%lld", text, d == 0 ? "" : ",", bound ? "<=" : "", (long long)dimensions[d]);
    Py_DECREF(text);
    text = more;
  }
  if (text == NULL) return NULL;
  PyObject* whole = PyUnicode_FromFormat("%U]", text);
  Py_DECREF(text);
  return whole;
}

PyObject* new_array(HiloBuffer* handle, Run* run) {
  PyTypeObject* type = array_class != NULL ? (PyTypeObject*)array_class : array_type;
  ArrayObject* self = (ArrayObject*)PyType_GenericNew(type, NULL, NULL);
  if (self == NULL) {
    hilo.HiloBufferDestroy(handle);
    return NULL;
  }
  self->handle = handle;
  self->run = retain_run(run);
  hilo.HiloBufferGetShape(handle, &self->shape);
  return (PyObject*)self;
}

static void array_dealloc(ArrayObject* self) {
  PyTypeObject* type = Py_TYPE((PyObject*)self);
  if (self->handle != NULL) hilo.HiloBufferDestroy(self->handle);
  release_run(self->run);
  PyMem_Free(self->dimensions);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
  drop_released();
}

static bool has_value(ArrayObject* self) {
  if (self->handle == NULL) PyErr_SetString(PyExc_TypeError, "arrays are made by programs and by Client.array");
  return self->handle != NULL;
}

/* Waits for the run that computes the array. */
static bool await(ArrayObject* self, double seconds) {
  if (!await_run(self->run, seconds)) return false;
  Run* const run = self->run; /* another thread may have waited too */
  self->run = NULL;
  release_run(run);
  return true;
}

/* The sizes; waits if the array is dynamic. */
static const int64_t* sizes_of(ArrayObject* self) {
  if (!self->shape.dynamic) return self->shape.dimensions;
  if (self->dimensions == NULL) {
    if (!await(self, -1)) return NULL;
    const size_t rank = (size_t)self->shape.rank;
    int64_t* sizes = PyMem_Calloc(rank + 1, sizeof *sizes);
    if (sizes == NULL) return (const int64_t*)PyErr_NoMemory();
    if (!CHECK_UNLOCKED(hilo.HiloBufferGetDimensions(self->handle, sizes, rank))) {
      PyMem_Free(sizes);
      return NULL;
    }
    if (self->dimensions == NULL) {
      self->dimensions = sizes;
    } else { /* another thread was here meanwhile */
      PyMem_Free(sizes);
    }
  }
  return self->dimensions;
}

/* Where the elements are; waits. Not null for empty arrays. */
static const void* data_of(ArrayObject* self) {
  static const uint64_t empty = 0;
  const void* data = NULL;
  if (!await(self, -1) || !CHECK_UNLOCKED(hilo.HiloBufferGetData(self->handle, &data))) return NULL;
  return data != NULL ? data : &empty;
}

static bool is_row_major(const ArrayObject* self, const int64_t* sizes) {
  int64_t stride = (int64_t)size_of(self->shape.element_type);
  for (int d = self->shape.rank - 1; d >= 0; --d) {
    if (sizes[d] != 1 && self->shape.byte_strides[d] != stride) return false;
    stride *= sizes[d];
  }
  return true;
}

static int array_getbuffer(ArrayObject* self, Py_buffer* view, int flags) {
  view->obj = NULL;
  if (!has_value(self)) return -1;
  const char* format = format_of(self->shape.element_type);
  if (format == NULL) {
    PyErr_Format(PyExc_BufferError, "Python's buffers have no elements of type %s: numpy.asarray and DLPack read it",
                 hilo.HiloElementTypeName(self->shape.element_type));
    return -1;
  }
  if ((flags & PyBUF_WRITABLE) == PyBUF_WRITABLE) {
    PyErr_SetString(PyExc_BufferError, "arrays of Hilo's are read-only");
    return -1;
  }
  const int64_t* sizes = sizes_of(self);
  if (sizes == NULL) return -1;
  const bool row_major = is_row_major(self, sizes);
  const bool needs_row_major =
      (flags & PyBUF_STRIDES) != PyBUF_STRIDES || (flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS;
  if ((needs_row_major && !row_major) || ((flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS && self->shape.rank > 1)) {
    PyErr_SetString(PyExc_BufferError, "the array has another order in memory");
    return -1;
  }
  const void* data = data_of(self);
  if (data == NULL) return -1;
  const int rank = self->shape.rank;
  Py_ssize_t* lists = PyMem_Malloc((2 * (size_t)rank + 1) * sizeof *lists);
  if (lists == NULL) return PyErr_NoMemory(), -1;
  view->itemsize = (Py_ssize_t)size_of(self->shape.element_type);
  view->len = view->itemsize;
  for (int d = 0; d < rank; ++d) {
    lists[d] = (Py_ssize_t)sizes[d];
    lists[rank + d] = (Py_ssize_t)self->shape.byte_strides[d];
    view->len *= lists[d];
  }
  view->buf = (void*)data;
  view->obj = Py_NewRef((PyObject*)self);
  view->readonly = 1;
  view->ndim = rank;
  view->format = (flags & PyBUF_FORMAT) == PyBUF_FORMAT ? (char*)format : NULL;
  view->shape = (flags & PyBUF_ND) == PyBUF_ND ? lists : NULL;
  view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? lists + rank : NULL;
  view->suboffsets = NULL;
  view->internal = lists;
  return 0;
}

static void array_releasebuffer(ArrayObject* self, Py_buffer* view) {
  (void)self;
  PyMem_Free(view->internal);
}

/* --- DLPack --- */

/* A tensor with what it needs: one of the two forms, its lists, and the array, or a copy of its elements. */
typedef struct {
  union {
    DLManagedTensor old;
    DLManagedTensorVersioned versioned;
  } form;
  PyObject* array; /* null: there is a copy */
  void* copy;
  int64_t lists[];
} Exported;

/* Called on any thread. */
static void drop_exported(Exported* exported) {
  const PyGILState_STATE state = PyGILState_Ensure();
  Py_XDECREF(exported->array);
  PyMem_Free(exported->copy);
  PyMem_Free(exported);
  PyGILState_Release(state);
}
static void drop_old(DLManagedTensor* tensor) { drop_exported(tensor->context); }
static void drop_versioned(DLManagedTensorVersioned* tensor) { drop_exported(tensor->context); }

static void drop_capsule(PyObject* capsule) {
  void* tensor = PyCapsule_IsValid(capsule, "dltensor") ? PyCapsule_GetPointer(capsule, "dltensor")
                 : PyCapsule_IsValid(capsule, "dltensor_versioned")
                     ? PyCapsule_GetPointer(capsule, "dltensor_versioned")
                     : NULL;
  if (tensor == NULL) return; /* it was taken */
  drop_exported(PyCapsule_IsValid(capsule, "dltensor") ? ((DLManagedTensor*)tensor)->context
                                                       : ((DLManagedTensorVersioned*)tensor)->context);
}

/* The bytes from the first element to the end of the last. Those of a dynamic array lie as if it had its bounds. */
static size_t extent_of(const ArrayObject* self, const int64_t* sizes) {
  size_t extent = size_of(self->shape.element_type);
  for (int d = 0; d < self->shape.rank; ++d) {
    if (sizes[d] == 0) return 0;
    extent += (size_t)((sizes[d] - 1) * self->shape.byte_strides[d]);
  }
  return extent;
}

/* `exported` gets a copy of the elements, which are `size` bytes from `data`; aligned as DLPack asks for. The address
 * of the copy; null and an exception: no memory. */
static void* copy_elements(Exported* exported, const void* data, size_t size) {
  enum { ALIGNMENT = 256 };
  exported->copy = size > PY_SSIZE_T_MAX - ALIGNMENT ? NULL : PyMem_Malloc(size + ALIGNMENT);
  if (exported->copy == NULL) return PyErr_NoMemory();
  char* aligned = (char*)exported->copy + (ALIGNMENT - (uintptr_t)exported->copy % ALIGNMENT);
  return memcpy(aligned, data, size);
}

static PyObject* array_dlpack(ArrayObject* self, PyObject* arguments) {
  int versioned, copy;
  uint8_t code, bits;
  if (!PyArg_ParseTuple(arguments, "pp", &versioned, &copy) || !has_value(self)) return NULL;
  if (!dlpack_of_type(self->shape.element_type, &code, &bits))
    return PyErr_Format(PyExc_BufferError, "DLPack has no elements of type %s",
                        hilo.HiloElementTypeName(self->shape.element_type));
  const int64_t* sizes = sizes_of(self);
  const void* data = sizes == NULL ? NULL : data_of(self);
  if (data == NULL) return NULL;
  const int rank = self->shape.rank;
  const size_t item = size_of(self->shape.element_type);
  Exported* made = PyMem_Calloc(1, sizeof *made + 2 * (size_t)rank * sizeof *made->lists);
  if (made == NULL) return PyErr_NoMemory();
  for (int d = 0; d < rank; ++d) {
    made->lists[d] = sizes[d];
    made->lists[rank + d] = self->shape.byte_strides[d] / (int64_t)item;
  }
  void* elements = copy ? copy_elements(made, data, extent_of(self, sizes)) : (void*)data;
  if (elements == NULL) return PyMem_Free(made), NULL;
  const DLTensor tensor = {.data = elements,
                           .device_type = DL_CPU,
                           .ndim = rank,
                           .code = code,
                           .bits = bits,
                           .lanes = 1,
                           .shape = made->lists,
                           .strides = made->lists + rank};
  if (!copy) made->array = Py_NewRef((PyObject*)self);
  if (versioned) {
    const uint64_t flags = copy ? DL_IS_COPIED : DL_READ_ONLY;
    made->form.versioned = (DLManagedTensorVersioned){1, 0, made, drop_versioned, flags, tensor};
  } else {
    made->form.old = (DLManagedTensor){tensor, made, drop_old};
  }
  PyObject* capsule = PyCapsule_New(&made->form, versioned ? "dltensor_versioned" : "dltensor", drop_capsule);
  if (capsule == NULL) drop_exported(made);
  return capsule;
}

/* --- attributes --- */

static PyObject* array_shape(ArrayObject* self, void* closure) {
  (void)closure;
  const int64_t* sizes = has_value(self) ? sizes_of(self) : NULL;
  PyObject* tuple = sizes == NULL ? NULL : PyTuple_New(self->shape.rank);
  for (int d = 0; d < self->shape.rank && tuple != NULL; ++d) {
    PyObject* size = PyLong_FromLongLong(sizes[d]);
    if (size == NULL || PyTuple_SetItem(tuple, d, size) < 0) Py_CLEAR(tuple);
  }
  return tuple;
}

static PyObject* array_element_type(ArrayObject* self, void* closure) {
  (void)closure;
  return has_value(self) ? PyUnicode_FromString(hilo.HiloElementTypeName(self->shape.element_type)) : NULL;
}

static PyObject* array_device(ArrayObject* self, void* closure) {
  (void)closure;
  int32_t device = 0;
  return has_value(self) && check(hilo.HiloBufferGetDevice(self->handle, &device)) ? PyLong_FromLong(device) : NULL;
}

/* (address, byte strides), for numpy.asarray of types that buffers do not have. */
static PyObject* array_memory(ArrayObject* self, void* closure) {
  (void)closure;
  const void* data = has_value(self) ? data_of(self) : NULL;
  PyObject* strides = data == NULL ? NULL : PyTuple_New(self->shape.rank);
  for (int d = 0; d < self->shape.rank && strides != NULL; ++d) {
    PyObject* stride = PyLong_FromLongLong(self->shape.byte_strides[d]);
    if (stride == NULL || PyTuple_SetItem(strides, d, stride) < 0) Py_CLEAR(strides);
  }
  return strides == NULL ? NULL : Py_BuildValue("(KN)", (unsigned long long)(uintptr_t)data, strides);
}

static PyObject* array_wait(ArrayObject* self, PyObject* arguments, PyObject* named) {
  static char* names[] = {"timeout", NULL};
  PyObject* timeout = Py_None;
  if (!PyArg_ParseTupleAndKeywords(arguments, named, "|O:wait", names, &timeout) || !has_value(self)) return NULL;
  const double seconds = timeout == Py_None ? -1 : PyFloat_AsDouble(timeout);
  if (PyErr_Occurred() || !await(self, seconds)) return NULL;
  return check(hilo.HiloBufferAwait(self->handle, -1)) ? Py_NewRef((PyObject*)self) : NULL;
}

static PyGetSetDef array_getset[] = {
    {"shape", (getter)array_shape, NULL, "The dimensions, a tuple.", NULL},
    {"element_type", (getter)array_element_type, NULL,
     "The type of the elements, as HLO writes it: \"f32\", \"bf16\", \"pred\" ...", NULL},
    {"device", (getter)array_device, NULL, "The number of the client's device that holds the array.", NULL},
    {"_memory", (getter)array_memory, NULL, "The address and the byte strides.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyMethodDef array_methods[] = {
    {"_dlpack", (PyCFunction)array_dlpack, METH_VARARGS,
     "_dlpack(versioned, copy): a capsule of DLPack's, of the newer form or the older one."},
    {"wait", (PyCFunction)(void (*)(void))array_wait, METH_VARARGS | METH_KEYWORDS,
     "wait(timeout=None)\n--\n\nWaits until the array is computed, at most `timeout` seconds, and returns it.\n\n"
     "Raises hilo.Error: that of the run, or DEADLINE_EXCEEDED."},
    {NULL, NULL, 0, NULL}};

static PyType_Slot array_slots[] = {{Py_tp_dealloc, array_dealloc},
                                    {Py_tp_getset, array_getset},
                                    {Py_tp_methods, array_methods},
                                    {Py_bf_getbuffer, array_getbuffer},
                                    {Py_bf_releasebuffer, array_releasebuffer},
                                    {Py_tp_new, PyType_GenericNew},
                                    {Py_tp_doc, "An array on a device."},
                                    {0, NULL}};
static PyType_Spec array_spec = {"hilo._hilo.Array", sizeof(ArrayObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                                 array_slots};

bool make_array_type(PyObject* module) {
  array_type = (PyTypeObject*)PyType_FromSpec(&array_spec);
  return array_type != NULL && PyModule_AddObjectRef(module, "Array", (PyObject*)array_type) == 0;
}
