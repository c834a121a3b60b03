/* Arguments of programs from arrays of any library. Memory of 32 KiB and more that is aligned as Hilo's own is used in
 * place until the run has ended; other memory is copied. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "native.h"

enum { kMinBorrowed = 32 << 10, kAlignment = 64, kMaxRank = 64 };

/* What the memory of an argument belongs to. */
typedef struct Lender {
  struct Lender* next;
  PyObject* capsule; /* of DLPack; null: `view` */
  Py_buffer view;
} Lender;

static _Atomic(Lender*) released;

static void give_back(Lender* lender) {
  if (lender->capsule != NULL) {
    Py_DECREF(lender->capsule); /* its destructor deletes the tensor */
  } else {
    PyBuffer_Release(&lender->view);
  }
  free(lender);
}

/* Called on any thread, without Python's lock. */
static void release(void* user_data) {
  Lender* lender = user_data;
  lender->next = atomic_load(&released);
  while (!atomic_compare_exchange_weak(&released, &lender->next, lender)) {
  }
}

void drop_released(void) {
  if (atomic_load(&released) == NULL) return;
  Lender* lender = atomic_exchange(&released, NULL);
  while (lender != NULL) {
    Lender* next = lender->next;
    give_back(lender);
    lender = next;
  }
}

/* Memory of the host as an array. */
typedef struct {
  const char* data;
  HiloElementType type;
  int rank;
  int64_t sizes[kMaxRank], byte_strides[kMaxRank];
} HostArray;

static bool wrong(size_t index, const Value* parameter, const HostArray* got) {
  const HiloShape shape = {.element_type = got->type, .rank = got->rank};
  PyObject* expected = shape_text(&parameter->shape, parameter->shape.dimensions);
  PyObject* found = expected == NULL ? NULL : shape_text(&shape, got->sizes);
  if (found != NULL)
    PyErr_Format(PyExc_TypeError, "argument %zu (%s): expected %U, got %U", index, parameter->name, expected, found);
  Py_XDECREF(expected);
  Py_XDECREF(found);
  return false;
}

static bool fits(const HostArray* array, const HiloShape* shape) {
  if (array->type != shape->element_type || array->rank != shape->rank) return false;
  for (int d = 0; d < array->rank; ++d) {
    const bool same = array->sizes[d] == shape->dimensions[d];
    if (!same && !(shape->dynamic && array->sizes[d] < shape->dimensions[d])) return false;
  }
  return true;
}

static bool is_dense(const HostArray* array) {
  int64_t stride = (int64_t)size_of(array->type);
  for (int d = array->rank - 1; d >= 0; --d) {
    if (array->sizes[d] != 1 && array->byte_strides[d] != stride) return false;
    stride *= array->sizes[d];
  }
  return true;
}

/* Copies the elements from dimension `d` on in row-major order; returns the end. */
static char* copy_dense(const HostArray* array, int d, const char* source, char* target) {
  const size_t item = size_of(array->type);
  if (d == array->rank) return memcpy(target, source, item), target + item;
  for (int64_t i = 0; i < array->sizes[d]; ++i)
    target = copy_dense(array, d + 1, source + i * array->byte_strides[d], target);
  return target;
}

/* A buffer of the array. `lender` is taken in any case. */
static bool make_buffer(HiloClient* client, int32_t device, const HostArray* array, const HiloShape* shape, bool copy,
                        Lender* lender, Argument* argument) {
  size_t size = size_of(array->type);
  bool is_empty = false;
  for (int d = 0; d < array->rank; ++d) is_empty |= array->sizes[d] == 0;
  for (int d = 0; d < array->rank && !is_empty; ++d) size *= (size_t)array->sizes[d];
  if (is_empty) size = 0;
  const size_t rank = (size_t)array->rank;
  const char* data = array->data;
  char* dense = NULL;
  if (size > 0 && !is_dense(array)) {
    dense = malloc(size);
    if (dense == NULL) return give_back(lender), PyErr_NoMemory(), false;
    copy_dense(array, 0, array->data, dense);
    data = dense;
  }
  const bool borrow =
      !copy && dense == NULL && !shape->dynamic && size >= kMinBorrowed && (uintptr_t)data % kAlignment == 0;
  HiloError* error = shape->dynamic
                         ? hilo.HiloBufferFromHostDynamic(client, device, array->type, array->sizes, shape->dimensions,
                                                          rank, data, size, &argument->buffer)
                         : hilo.HiloBufferFromHost(client, device, array->type, array->sizes, rank, data, size,
                                                   borrow ? release : NULL, lender, &argument->buffer);
  free(dense);
  if (!borrow || error != NULL) give_back(lender);
  argument->borrowed = borrow;
  return check(error);
}

/* The type of elements that struct's character and their size state; 0 if there is none. */
static HiloElementType type_of_format(const char* format, Py_ssize_t size) {
  if (format == NULL) return size == 1 ? HILO_TYPE_U8 : 0;
  if (*format == '@' || *format == '=' || *format == '<') ++format;
  if (format[0] == 'Z' && format[1] != '\0' && format[2] == '\0')
    return format[1] == 'f' && size == 8 ? HILO_TYPE_C64 : format[1] == 'd' && size == 16 ? HILO_TYPE_C128 : 0;
  if (format[0] == '\0' || format[1] != '\0') return 0;
  const int log = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : size == 8 ? 3 : -1;
  if (log < 0) return 0;
  if (*format == '?') return log == 0 ? HILO_TYPE_PRED : 0;
  if (strchr("bhilqn", *format) != NULL) return HILO_TYPE_S8 + log;
  if (strchr("BHILQN", *format) != NULL) return HILO_TYPE_U8 + log;
  if (strchr("efd", *format) != NULL && log > 0) return HILO_TYPE_F16 + log - 1;
  return 0;
}

static Lender* new_lender(void) {
  Lender* lender = calloc(1, sizeof *lender);
  if (lender == NULL) PyErr_NoMemory();
  return lender;
}

/* `type`: that of the elements if the buffer only states their size; 0: none. */
static bool take_buffer(HiloClient* client, int32_t device, PyObject* object, HiloElementType type,
                        const Value* parameter, size_t index, bool copy, Argument* argument) {
  Lender* lender = new_lender();
  if (lender == NULL) return false;
  if (PyObject_GetBuffer(object, &lender->view, PyBUF_RECORDS_RO) < 0) return free(lender), false;
  const Py_buffer* view = &lender->view;
  HostArray array = {.data = view->buf, .rank = view->ndim};
  array.type = type != 0 ? type : type_of_format(view->format, view->itemsize);
  if (view->ndim > kMaxRank || array.type == 0 || (size_t)view->itemsize != size_of(array.type)) {
    PyErr_Format(
        PyExc_TypeError,
        "argument %zu (%s): expected at most %d dimensions of %s in this machine's byte order, got a buffer of %d "
        "dimensions and format '%s'",
        index, parameter->name, kMaxRank, hilo.HiloElementTypeName(parameter->shape.element_type), view->ndim,
        view->format == NULL ? "B" : view->format);
    return give_back(lender), false;
  }
  int64_t dense = view->itemsize;
  for (int d = view->ndim - 1; d >= 0; --d) {
    array.sizes[d] = view->shape[d];
    array.byte_strides[d] = view->strides == NULL ? dense : view->strides[d]; /* arrays of ctypes have none */
    dense *= array.sizes[d];
  }
  if (!fits(&array, &parameter->shape)) return give_back(lender), wrong(index, parameter, &array);
  return make_buffer(client, device, &array, &parameter->shape, copy, lender, argument);
}

/* Deletes the tensor of a capsule that this module has renamed. */
static void delete_taken(PyObject* capsule) {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  if (PyCapsule_IsValid(capsule, "used_dltensor")) {
    DLManagedTensor* tensor = PyCapsule_GetPointer(capsule, "used_dltensor");
    if (tensor->deleter != NULL) tensor->deleter(tensor);
  } else if (PyCapsule_IsValid(capsule, "used_dltensor_versioned")) {
    DLManagedTensorVersioned* tensor = PyCapsule_GetPointer(capsule, "used_dltensor_versioned");
    if (tensor->deleter != NULL) tensor->deleter(tensor);
  }
  PyErr_Restore(type, value, traceback);
}

/* The tensor of a capsule, which now belongs to it alone: its destructor deletes the tensor. */
static const DLTensor* take_tensor(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, "dltensor")) {
    DLManagedTensor* tensor = PyCapsule_GetPointer(capsule, "dltensor");
    if (PyCapsule_SetName(capsule, "used_dltensor") < 0 || PyCapsule_SetDestructor(capsule, delete_taken) < 0)
      return NULL;
    return &tensor->tensor;
  }
  if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
    DLManagedTensorVersioned* tensor = PyCapsule_GetPointer(capsule, "dltensor_versioned");
    if (PyCapsule_SetName(capsule, "used_dltensor_versioned") < 0 || PyCapsule_SetDestructor(capsule, delete_taken) < 0)
      return NULL;
    return &tensor->tensor;
  }
  PyErr_SetString(PyExc_BufferError, "__dlpack__ returned no capsule that can be taken");
  return NULL;
}

static bool take_dlpack(HiloClient* client, int32_t device, PyObject* object, const Value* parameter, size_t index,
                        bool copy, Argument* argument) {
  PyObject* capsule = PyObject_CallMethod(object, "__dlpack__", NULL);
  if (capsule == NULL) return false;
  const DLTensor* tensor = take_tensor(capsule);
  if (tensor == NULL) return Py_DECREF(capsule), false;
  HostArray array = {.data = (const char*)tensor->data + tensor->byte_offset, .rank = tensor->ndim};
  array.type = tensor->lanes == 1 ? type_of_dlpack(tensor->code, tensor->bits) : 0;
  if (tensor->device_type != DL_CPU || array.type == 0 || tensor->ndim > kMaxRank) {
    PyErr_Format(PyExc_TypeError,
                 "argument %zu (%s): expected a tensor on the host with at most %d dimensions of one of Hilo's types, "
                 "got one on device type %d with %d "
                 "dimensions of code %d, %d bits",
                 index, parameter->name, kMaxRank, tensor->device_type, tensor->ndim, tensor->code, tensor->bits);
    return Py_DECREF(capsule), false;
  }
  int64_t dense = (int64_t)size_of(array.type);
  for (int d = array.rank - 1; d >= 0; --d) {
    array.sizes[d] = tensor->shape[d];
    array.byte_strides[d] = tensor->strides == NULL ? dense : tensor->strides[d] * (int64_t)size_of(array.type);
    dense *= array.sizes[d];
  }
  Lender* lender = fits(&array, &parameter->shape) ? new_lender() : NULL;
  if (lender == NULL) return Py_DECREF(capsule), PyErr_Occurred() ? false : wrong(index, parameter, &array);
  lender->capsule = capsule;
  return make_buffer(client, device, &array, &parameter->shape, copy, lender, argument);
}

/* By the module's function, which returns an object with a buffer. */
static bool take_converted(HiloClient* client, int32_t device, PyObject* object, const Value* parameter, size_t index,
                           bool copy, Argument* argument) {
  PyObject* converted = PyObject_CallFunction(convert_function, "Oins", object, (int)parameter->shape.element_type,
                                              (Py_ssize_t)index, parameter->name);
  if (converted == NULL) return false;
  /* (buffer, type of its elements) */
  PyObject* buffer = PyTuple_GetItem(converted, 0);
  const long type = PyLong_AsLong(PyTuple_GetItem(converted, 1));
  const bool taken = take_buffer(client, device, buffer, (HiloElementType)type, parameter, index, copy, argument);
  Py_DECREF(converted);
  return taken;
}

bool take_argument(HiloClient* client, int32_t device, PyObject* object, const Value* parameter, size_t index,
                   bool copy, Argument* argument) {
  *argument = (Argument){NULL, NULL, false};
  if (PyObject_TypeCheck(object, array_type)) {
    argument->buffer = ((ArrayObject*)object)->handle;
    argument->owner = object;
    if (argument->buffer == NULL)
      PyErr_Format(PyExc_TypeError, "argument %zu (%s) is an array without a value", index, parameter->name);
    return argument->buffer != NULL;
  }
  if (PyObject_CheckBuffer(object)) {
    if (take_buffer(client, device, object, 0, parameter, index, copy, argument)) return true;
    /* NumPy's arrays of other packages' types have a buffer in name only. */
    if (!PyErr_ExceptionMatches(PyExc_ValueError) && !PyErr_ExceptionMatches(PyExc_BufferError)) return false;
    PyErr_Clear();
    return take_converted(client, device, object, parameter, index, copy, argument);
  }
  if (PyObject_HasAttrString(object, "__dlpack__"))
    return take_dlpack(client, device, object, parameter, index, copy, argument);
  return take_converted(client, device, object, parameter, index, copy, argument);
}
