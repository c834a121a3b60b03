/* Clients and programs. */
#include <string.h>

#include "native.h"

PyTypeObject *client_type, *program_type;

/* --- options: a dict of strings --- */

bool read_options(PyObject* dict, HiloOption** list, size_t* count) {
  *count = 0;
  if (!PyDict_Check(dict)) return PyErr_SetString(PyExc_TypeError, "options are a dict"), false;
  *list = PyMem_Calloc((size_t)PyDict_Size(dict) + 1, sizeof **list);
  if (*list == NULL) return PyErr_NoMemory(), false;
  PyObject *name, *value;
  Py_ssize_t position = 0;
  while (PyDict_Next(dict, &position, &name, &value)) {
    HiloOption* option = &(*list)[(*count)++];
    Py_ssize_t name_size = 0, value_size = 0;
    option->name = PyUnicode_AsUTF8AndSize(name, &name_size);
    option->value = option->name == NULL ? NULL : PyUnicode_AsUTF8AndSize(value, &value_size);
    const bool cut = option->value != NULL &&
                     (strlen(option->name) != (size_t)name_size || strlen(option->value) != (size_t)value_size);
    if (cut) PyErr_Format(PyExc_ValueError, "the option %s: expected text without NUL, got %R", option->name, value);
    if (option->value == NULL || cut) {
      PyMem_Free(*list);
      *list = NULL;
      return false;
    }
  }
  return true;
}

/* --- clients --- */

static PyObject* client_new(PyTypeObject* type, PyObject* arguments, PyObject* named) {
  (void)named;
  const char* platform;
  PyObject* dict;
  HiloOption* options;
  size_t num_options;
  HiloClient* handle = NULL;
  if (!PyArg_ParseTuple(arguments, "sO", &platform, &dict) || !read_options(dict, &options, &num_options)) return NULL;
  const bool made = CHECK_UNLOCKED(hilo.HiloClientCreate(platform, options, num_options, &handle));
  PyMem_Free(options);
  ClientObject* self = made ? (ClientObject*)PyType_GenericNew(type, NULL, NULL) : NULL;
  if (self != NULL) self->handle = handle;
  if (self == NULL && handle != NULL) hilo.HiloClientDestroy(handle);
  return (PyObject*)self;
}

static void client_dealloc(ClientObject* self) {
  PyTypeObject* type = Py_TYPE((PyObject*)self);
  if (self->handle != NULL) {
    Py_BEGIN_ALLOW_THREADS;
    hilo.HiloClientDestroy(self->handle);
    Py_END_ALLOW_THREADS;
  }
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

static PyObject* client_emit(ClientObject* self, PyObject* arguments) {
  PyObject *program, *dict, *kind;
  if (!PyArg_ParseTuple(arguments, "OOU", &program, &dict, &kind)) return NULL;
  HiloBytes* text = emit_text(self, program, dict, kind);
  if (text == NULL) return NULL;
  PyObject* result = PyBytes_FromStringAndSize(hilo.HiloBytesGetData(text), (Py_ssize_t)hilo.HiloBytesGetSize(text));
  hilo.HiloBytesDestroy(text);
  return result;
}

static PyObject* client_memory(ClientObject* self, PyObject* device) {
  int64_t in_use = 0, peak = 0;
  int number;
  if (!PyArg_Parse(device, "i", &number)) return NULL;
  if (!check(hilo.HiloClientGetMemory(self->handle, number, &in_use, &peak))) return NULL;
  return Py_BuildValue("(LL)", (long long)in_use, (long long)peak);
}

/* _array(object, type, dimensions, device, copy): an array of the host as one of a device. */
static PyObject* client_array(ClientObject* self, PyObject* arguments) {
  PyObject *object, *dimensions;
  int type, device, copy;
  if (!PyArg_ParseTuple(arguments, "OiO!ip", &object, &type, &PyTuple_Type, &dimensions, &device, &copy)) return NULL;
  int64_t sizes[64];
  const Py_ssize_t rank = PyTuple_Size(dimensions);
  if (rank > 64) return PyErr_SetString(PyExc_ValueError, "at most 64 dimensions"), NULL;
  for (Py_ssize_t d = 0; d < rank; ++d) sizes[d] = PyLong_AsLongLong(PyTuple_GetItem(dimensions, d));
  if (PyErr_Occurred()) return NULL;
  const Value value = {"array", {.element_type = (HiloElementType)type, .rank = (int32_t)rank, .dimensions = sizes}};
  Argument argument;
  if (!take_argument(self->handle, device, object, &value, 0, copy, &argument)) return NULL;
  return argument.owner != NULL ? Py_NewRef(argument.owner) : new_array(argument.buffer, NULL);
}

static PyObject* client_platform(ClientObject* self, void* closure) {
  (void)closure;
  return PyUnicode_FromString(hilo.HiloClientGetPlatform(self->handle));
}

static PyObject* client_device_count(ClientObject* self, void* closure) {
  (void)closure;
  return PyLong_FromLong(hilo.HiloClientGetDeviceCount(self->handle));
}

static PyGetSetDef client_getset[] = {
    {"platform", (getter)client_platform, NULL, "The name of the platform.", NULL},
    {"device_count", (getter)client_device_count, NULL, "The number of devices.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyMethodDef client_methods[] = {{"_emit", (PyCFunction)client_emit, METH_VARARGS, "The text of a stage."},
                                       {"_memory", (PyCFunction)client_memory, METH_O, "Bytes in use, and their peak."},
                                       {"_array", (PyCFunction)client_array, METH_VARARGS, "An array on a device."},
                                       {NULL, NULL, 0, NULL}};
static PyType_Slot client_slots[] = {{Py_tp_new, client_new},
                                     {Py_tp_dealloc, client_dealloc},
                                     {Py_tp_getset, client_getset},
                                     {Py_tp_methods, client_methods},
                                     {0, NULL}};
static PyType_Spec client_spec = {"hilo._hilo.Client", sizeof(ClientObject), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, client_slots};

/* --- programs --- */

typedef HiloError* GetValue(const HiloExecutable*, size_t, const char**, HiloShape*);

static Value* read_values(const HiloExecutable* handle, size_t count, GetValue* get) {
  Value* values = PyMem_Calloc(count + 1, sizeof *values);
  if (values == NULL) return (Value*)PyErr_NoMemory();
  for (size_t i = 0; i < count; ++i) get(handle, i, &values[i].name, &values[i].shape);
  return values;
}

static HiloExecutable* load_program(ClientObject* client, PyObject* program) {
  Py_buffer bytes;
  HiloExecutable* handle = NULL;
  if (PyObject_GetBuffer(program, &bytes, PyBUF_SIMPLE) < 0) return NULL;
  CHECK_UNLOCKED(hilo.HiloLoad(client->handle, bytes.buf, (size_t)bytes.len, &handle));
  PyBuffer_Release(&bytes);
  return handle;
}

/* (client, bytes, options), or (client, bytes, None) to load them. */
static PyObject* program_new(PyTypeObject* type, PyObject* arguments, PyObject* named) {
  (void)named;
  ClientObject* client;
  PyObject *bytes, *dict;
  if (!PyArg_ParseTuple(arguments, "O!OO", client_type, &client, &bytes, &dict)) return NULL;
  HiloExecutable* handle = dict == Py_None ? load_program(client, bytes) : compile_program(client, bytes, dict);
  if (handle == NULL) return NULL;
  ProgramObject* self = (ProgramObject*)PyType_GenericNew(type, NULL, NULL);
  if (self == NULL) {
    hilo.HiloExecutableDestroy(handle);
    return NULL;
  }
  self->handle = handle;
  self->client = (ClientObject*)Py_NewRef((PyObject*)client);
  hilo.HiloExecutableGetCounts(handle, &self->num_parameters, &self->num_results);
  hilo.HiloExecutableGetDeviceCount(handle, &self->devices);
  hilo.HiloExecutableReturnsTuple(handle, &self->returns_tuple);
  self->parameters = read_values(handle, self->num_parameters, hilo.HiloExecutableGetParameter);
  self->results = read_values(handle, self->num_results, hilo.HiloExecutableGetResult);
  if (self->parameters == NULL || self->results == NULL) {
    Py_DECREF((PyObject*)self);
    return NULL;
  }
  return (PyObject*)self;
}

static void program_dealloc(ProgramObject* self) {
  PyTypeObject* type = Py_TYPE((PyObject*)self);
  if (self->handle != NULL) hilo.HiloExecutableDestroy(self->handle);
  PyMem_Free(self->parameters);
  PyMem_Free(self->results);
  Py_XDECREF((PyObject*)self->client);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

/* Waits for the end of a run, and takes its error. */
static bool end_run(Run* run, const HiloEvent* event) {
  if (await_run(run, -1)) return check(hilo.HiloEventAwait(event, -1));
  await_end(run);
  return false;
}

/* Runs on arguments that are taken; the results, or false and an exception. `run`: a reference, null if it has ended.
 */
static bool run_taken(ProgramObject* self, Argument* arguments, size_t count, const HiloExecuteOptions* options,
                      HiloBuffer** results, size_t num_results, Run** run) {
  HiloBuffer* few[16];
  HiloBuffer** buffers = count <= 16 ? few : PyMem_Malloc(count * sizeof *buffers);
  if (buffers == NULL) return PyErr_NoMemory(), false;
  bool borrowed = false;
  for (size_t i = 0; i < count; ++i) {
    buffers[i] = arguments[i].buffer;
    borrowed |= arguments[i].borrowed;
  }
  HiloEvent* event = NULL;
  bool ran = CHECK_UNLOCKED(hilo.HiloExecute(self->handle, buffers, count, options, results, num_results, &event));
  if (buffers != few) PyMem_Free(buffers);
  if (!ran) return false;
  /* Memory of the caller's is read until the end; errors of a run without results are seen nowhere else. */
  const bool awaits = borrowed || num_results == 0;
  bool done = false;
  hilo.HiloErrorDestroy(hilo.HiloEventIsDone(event, &done));
  *run = done ? NULL : new_run(self->client, event);
  if (*run != NULL) {
    ran = !awaits || end_run(*run, event);
  } else {
    ran = done && (!awaits || check(hilo.HiloEventAwait(event, -1)));
    if (!done) hilo.HiloErrorDestroy(hilo.HiloEventAwait(event, -1)); /* there is no memory to keep track of it */
    hilo.HiloEventDestroy(event);
  }
  for (size_t i = 0; i < num_results && !ran; ++i) hilo.HiloBufferDestroy(results[i]);
  return ran;
}

static void drop_arguments(Argument* arguments, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (arguments[i].owner == NULL) hilo.HiloBufferDestroy(arguments[i].buffer);
  }
  drop_released();
}

/* The results of one device: an array, or a tuple of them. Takes the handles. */
static PyObject* wrap_results(const ProgramObject* self, HiloBuffer** results, Run* run) {
  if (!self->returns_tuple) return new_array(results[0], run);
  PyObject* tuple = PyTuple_New((Py_ssize_t)self->num_results);
  for (size_t i = 0; i < self->num_results; ++i) {
    PyObject* array = tuple == NULL ? (hilo.HiloBufferDestroy(results[i]), NULL) : new_array(results[i], run);
    if (tuple != NULL && (array == NULL || PyTuple_SetItem(tuple, (Py_ssize_t)i, array) < 0)) Py_CLEAR(tuple);
  }
  return tuple;
}

static const size_t kMaxNames = 16; /* in a message */

/* "x, y", the names of the parameters. */
static PyObject* parameter_names(const ProgramObject* self) {
  PyObject* text = PyUnicode_FromString("");
  for (size_t i = 0; i < self->num_parameters && i <= kMaxNames && text != NULL; ++i) {
    const char* name = i == kMaxNames ? "..." : self->parameters[i].name;
    PyObject* more = PyUnicode_FromFormat("%U%s%s", text, i == 0 ? "" : ", ", name);
    Py_DECREF(text);
    text = more;
  }
  return text;
}

/* Takes the arguments of one device from a tuple. */
static bool take_arguments(ProgramObject* self, int32_t device, PyObject* tuple, Argument* arguments) {
  const Py_ssize_t given = PyTuple_Size(tuple);
  if (given != (Py_ssize_t)self->num_parameters) {
    PyObject* names = parameter_names(self);
    if (names != NULL)
      PyErr_Format(PyExc_TypeError, "expected %zu argument%s (%U), got %zd", self->num_parameters,
                   self->num_parameters == 1 ? "" : "s", names, given);
    Py_XDECREF(names);
    return false;
  }
  for (size_t i = 0; i < self->num_parameters; ++i) {
    if (!take_argument(self->client->handle, device, PyTuple_GetItem(tuple, (Py_ssize_t)i), &self->parameters[i], i,
                       false, &arguments[i])) {
      drop_arguments(arguments, i);
      return false;
    }
  }
  return true;
}

/* execute(list of argument tuples, device, deadline, donated): a list of results, one a device. */
static PyObject* program_execute(ProgramObject* self, PyObject* list, const HiloExecuteOptions* options) {
  const size_t devices = (size_t)self->devices, parameters = self->num_parameters;
  if (PyTuple_Size(list) != (Py_ssize_t)devices)
    return PyErr_Format(PyExc_TypeError,
                        "the program runs on %zu device%s: expected that many lists of arguments, got %zd", devices,
                        devices == 1 ? "" : "s", PyTuple_Size(list));
  Argument few_arguments[16];
  HiloBuffer* few_results[16];
  const size_t count = devices * parameters, num_results = devices * self->num_results;
  Argument* arguments = count <= 16 ? few_arguments : PyMem_Calloc(count, sizeof *arguments);
  HiloBuffer** results = num_results <= 16 ? few_results : PyMem_Calloc(num_results, sizeof *results);
  bool ran = arguments != NULL && results != NULL;
  if (!ran) PyErr_NoMemory();
  size_t taken = 0;
  for (size_t d = 0; d < devices && ran; ++d) {
    ran = take_arguments(self, devices == 1 ? options->device : (int32_t)d, PyTuple_GetItem(list, (Py_ssize_t)d),
                         arguments + taken);
    if (ran) taken += parameters;
  }
  Run* run = NULL;
  if (ran) ran = run_taken(self, arguments, count, options, results, num_results, &run);
  if (arguments != NULL) drop_arguments(arguments, taken);
  PyObject* made = ran ? PyList_New((Py_ssize_t)devices) : NULL;
  for (size_t d = 0; d < devices && ran; ++d) {
    HiloBuffer** of_device = results + d * self->num_results;
    if (made == NULL) {
      for (size_t i = 0; i < self->num_results; ++i) hilo.HiloBufferDestroy(of_device[i]);
      continue;
    }
    PyObject* wrapped = wrap_results(self, of_device, run);
    if (wrapped == NULL || PyList_SetItem(made, (Py_ssize_t)d, wrapped) < 0) Py_CLEAR(made);
  }
  release_run(run);
  if (arguments != few_arguments) PyMem_Free(arguments);
  if (results != few_results) PyMem_Free(results);
  return made;
}

/* Names the keyword whose value Python could not convert. */
static bool refuse_option(const char* name, const char* expected, PyObject* value) {
  if (PyErr_ExceptionMatches(PyExc_TypeError) || PyErr_ExceptionMatches(PyExc_OverflowError))
    PyErr_Format(PyExc_TypeError, "%s: expected %s, got %R", name, expected, value);
  return false;
}

/* The keywords of a call. */
static bool read_call_options(PyObject* named, HiloExecuteOptions* options, size_t** donated) {
  *options = (HiloExecuteOptions){.struct_size = sizeof *options};
  *donated = NULL;
  if (named == NULL) return true;
  static char* names[] = {"device", "deadline", "donate", NULL};
  PyObject *device = Py_None, *deadline = Py_None, *donate = Py_None, *empty = PyTuple_New(0);
  const bool parsed =
      empty != NULL && PyArg_ParseTupleAndKeywords(empty, named, "|$OOO:__call__", names, &device, &deadline, &donate);
  Py_XDECREF(empty);
  if (!parsed) return false;
  if (device != Py_None && !PyArg_Parse(device, "i", &options->device))
    return refuse_option("device", "an integer", device);
  options->deadline_seconds = deadline == Py_None ? 0 : PyFloat_AsDouble(deadline);
  if (PyErr_Occurred()) return refuse_option("deadline", "seconds", deadline);
  if (donate == Py_None) return true;
  const Py_ssize_t count = PySequence_Size(donate);
  if (count < 0) return refuse_option("donate", "a list of indices of arguments", donate);
  *donated = PyMem_Calloc((size_t)count + 1, sizeof **donated);
  if (*donated == NULL) return PyErr_NoMemory(), false;
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* number = PySequence_GetItem(donate, i);
    (*donated)[i] = number == NULL ? 0 : PyLong_AsSize_t(number);
    Py_XDECREF(number);
    if (PyErr_Occurred())
      return PyMem_Free(*donated), refuse_option("donate", "a list of indices of arguments", donate);
  }
  options->donated = *donated;
  options->num_donated = (size_t)count;
  return true;
}

static PyObject* program_call(ProgramObject* self, PyObject* arguments, PyObject* named) {
  HiloExecuteOptions options;
  size_t* donated;
  if (!read_call_options(named, &options, &donated)) return NULL;
  PyObject* list = self->devices == 1 ? PyTuple_Pack(1, arguments) : NULL;
  if (self->devices != 1)
    PyErr_Format(PyExc_TypeError, "the program runs on %d devices: use Program.on_devices", (int)self->devices);
  PyObject* results = list == NULL ? NULL : program_execute(self, list, &options);
  PyObject* result = results == NULL ? NULL : Py_NewRef(PyList_GetItem(results, 0));
  Py_XDECREF(results);
  Py_XDECREF(list);
  PyMem_Free(donated);
  return result;
}

/* _execute(tuple of tuples, **options). */
static PyObject* program_on_devices(ProgramObject* self, PyObject* arguments, PyObject* named) {
  HiloExecuteOptions options;
  size_t* donated;
  PyObject* lists;
  if (!PyArg_ParseTuple(arguments, "O!", &PyTuple_Type, &lists) || !read_call_options(named, &options, &donated))
    return NULL;
  PyObject* results = program_execute(self, lists, &options);
  PyMem_Free(donated);
  return results;
}

static PyObject* program_serialize(ProgramObject* self, PyObject* unused) {
  (void)unused;
  HiloBytes* bytes = NULL;
  if (!CHECK_UNLOCKED(hilo.HiloExecutableSerialize(self->handle, &bytes))) return NULL;
  PyObject* result = PyBytes_FromStringAndSize(hilo.HiloBytesGetData(bytes), (Py_ssize_t)hilo.HiloBytesGetSize(bytes));
  hilo.HiloBytesDestroy(bytes);
  return result;
}

static PyObject* program_cost(ProgramObject* self, PyObject* unused) {
  (void)unused;
  HiloCost cost = {.struct_size = sizeof cost};
  if (!check(hilo.HiloExecutableGetCost(self->handle, &cost))) return NULL;
  return Py_BuildValue("(dddLLL)", cost.flops, cost.transcendentals, cost.bytes_accessed,
                       (long long)cost.temporary_bytes, (long long)cost.code_bytes,
                       (long long)cost.estimated_nanoseconds);
}

/* A list of (name, element type, dimensions, whether dynamic). */
static PyObject* describe(const Value* values, size_t count) {
  PyObject* list = PyList_New(0);
  for (size_t i = 0; i < count && list != NULL; ++i) {
    const HiloShape* shape = &values[i].shape;
    PyObject* sizes = PyTuple_New(shape->rank);
    for (int d = 0; d < shape->rank && sizes != NULL; ++d)
      PyTuple_SetItem(sizes, d, PyLong_FromLongLong(shape->dimensions[d]));
    PyObject* row = sizes == NULL
                        ? NULL
                        : Py_BuildValue("(ssNO)", values[i].name, hilo.HiloElementTypeName(shape->element_type), sizes,
                                        shape->dynamic ? Py_True : Py_False);
    if (row == NULL || PyList_Append(list, row) < 0) Py_CLEAR(list);
    Py_XDECREF(row);
  }
  return list;
}

static PyObject* program_parameters(ProgramObject* self, void* closure) {
  (void)closure;
  return describe(self->parameters, self->num_parameters);
}

static PyObject* program_results(ProgramObject* self, void* closure) {
  (void)closure;
  return describe(self->results, self->num_results);
}

static PyObject* program_client(ProgramObject* self, void* closure) {
  (void)closure;
  return Py_NewRef((PyObject*)self->client);
}

static PyObject* program_device_count(ProgramObject* self, void* closure) {
  (void)closure;
  return PyLong_FromLong(self->devices);
}

static PyGetSetDef program_getset[] = {
    {"_parameters", (getter)program_parameters, NULL, "The parameters.", NULL},
    {"_results", (getter)program_results, NULL, "The results.", NULL},
    {"client", (getter)program_client, NULL, "The client that runs the program.", NULL},
    {"device_count", (getter)program_device_count, NULL,
     "The devices that run the program together: replicas times partitions.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyMethodDef program_methods[] = {
    {"_execute", (PyCFunction)(void (*)(void))program_on_devices, METH_VARARGS | METH_KEYWORDS, "Runs on all devices."},
    {"serialize", (PyCFunction)program_serialize, METH_NOARGS,
     "serialize()\n--\n\nThe compiled program as bytes, which hilo.load takes."},
    {"_cost", (PyCFunction)program_cost, METH_NOARGS, "Operations, bytes and time."},
    {NULL, NULL, 0, NULL}};
static PyType_Slot program_slots[] = {{Py_tp_new, program_new},         {Py_tp_dealloc, program_dealloc},
                                      {Py_tp_call, program_call},       {Py_tp_getset, program_getset},
                                      {Py_tp_methods, program_methods}, {0, NULL}};
static PyType_Spec program_spec = {"hilo._hilo.Program", sizeof(ProgramObject), 0,
                                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, program_slots};

bool make_program_types(PyObject* module) {
  client_type = (PyTypeObject*)PyType_FromSpec(&client_spec);
  program_type = client_type == NULL ? NULL : (PyTypeObject*)PyType_FromSpec(&program_spec);
  return program_type != NULL && PyModule_AddObjectRef(module, "Client", (PyObject*)client_type) == 0 &&
         PyModule_AddObjectRef(module, "Program", (PyObject*)program_type) == 0;
}
