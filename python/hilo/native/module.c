/* The module hilo._hilo: the library, and errors. */
#include <dlfcn.h>
#include <string.h>

#include "native.h"

struct HiloLibrary hilo;
PyObject *error_class, *array_class, *convert_function;

static const char* const kCodes[] = {
    "OK",        "CANCELLED",      "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
    "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
    "ABORTED",   "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
    "DATA_LOSS", "UNAUTHENTICATED"};

void set_error(const char* code, PyObject* text) {
  PyObject* made = PyObject_CallFunctionObjArgs(error_class, text, NULL);
  PyObject* name = made == NULL ? NULL : PyUnicode_FromString(code);
  if (name != NULL && PyObject_SetAttrString(made, "code", name) == 0) PyErr_SetObject(error_class, made);
  Py_XDECREF(name);
  Py_XDECREF(made);
}

bool check(HiloError* error) {
  if (error == NULL) return true;
  const unsigned code = hilo.HiloErrorGetCode(error);
  const char* message = hilo.HiloErrorGetMessage(error);
  PyObject* text = PyUnicode_DecodeUTF8(message, (Py_ssize_t)strlen(message), "replace");
  if (text != NULL) set_error(code < sizeof kCodes / sizeof *kCodes ? kCodes[code] : "UNKNOWN", text);
  Py_XDECREF(text);
  hilo.HiloErrorDestroy(error);
  return false;
}

bool load_library(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    PyErr_Format(PyExc_ImportError, "%s", dlerror());
    return false;
  }
  struct HiloLibrary found;
#define HILO_FIND(name)                                                                                  \
  *(void**)&found.name = dlsym(library, #name);                                                          \
  if (found.name == NULL) {                                                                              \
    PyErr_Format(PyExc_ImportError, "%s is not a library of this version of Hilo: %s", path, dlerror()); \
    return false;                                                                                        \
  }
  HILO_FUNCTIONS(HILO_FIND)
#undef HILO_FIND
  hilo = found;
  return true;
}

static PyObject* module_load_library(PyObject* module, PyObject* path) {
  (void)module;
  PyObject* bytes = NULL;
  if (!PyUnicode_FSConverter(path, &bytes)) return NULL;
  const bool loaded = load_library(PyBytes_AsString(bytes));
  Py_DECREF(bytes);
  return loaded ? PyUnicode_FromString(hilo.HiloVersion()) : NULL;
}

static PyObject* module_load_custom_calls(PyObject* module, PyObject* path) {
  (void)module;
  PyObject* bytes = NULL;
  if (!PyUnicode_FSConverter(path, &bytes)) return NULL;
  const bool loaded = CHECK_UNLOCKED(hilo.HiloClientLoadCustomCallLibrary(NULL, PyBytes_AsString(bytes)));
  Py_DECREF(bytes);
  if (!loaded) return NULL;
  Py_RETURN_NONE;
}

static PyObject* module_set_hooks(PyObject* module, PyObject* arguments) {
  (void)module;
  PyObject *array, *convert;
  if (!PyArg_ParseTuple(arguments, "OO", &array, &convert)) return NULL;
  Py_XDECREF(array_class);
  Py_XDECREF(convert_function);
  array_class = Py_NewRef(array);
  convert_function = Py_NewRef(convert);
  Py_RETURN_NONE;
}

static PyObject* module_type_name(PyObject* module, PyObject* number) {
  (void)module;
  const long value = PyLong_AsLong(number);
  return value == -1 && PyErr_Occurred() ? NULL
                                         : PyUnicode_FromString(hilo.HiloElementTypeName((HiloElementType)value));
}

static PyMethodDef functions[] = {
    {"load_library", module_load_library, METH_O, "Loads libhilo from a path, and returns its version."},
    {"load_custom_calls", module_load_custom_calls, METH_O,
     "Registers the functions of a library for the programs of all clients."},
    {"finish", module_finish, METH_NOARGS, "Waits for the ends of all runs; Ctrl-C ends them."},
    {"set_warn", module_set_warn, METH_O, "Sets the function that takes warnings."},
    {"set_hooks", module_set_hooks, METH_VARARGS,
     "Sets the class of arrays, and the function that converts other objects."},
    {"type_name", module_type_name, METH_O, "The name of an element type, of its number."},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef definition = {.m_base = PyModuleDef_HEAD_INIT,
                                        .m_name = "hilo._hilo",
                                        .m_doc = "The compiled part of the package hilo.",
                                        .m_size = -1,
                                        .m_methods = functions};

PyMODINIT_FUNC PyInit__hilo(void) {
  PyObject* module = PyModule_Create(&definition);
  if (module == NULL) return NULL;
  error_class = PyErr_NewExceptionWithDoc("hilo.Error",
                                          "What Hilo reports: what was expected, what was found and where, for a "
                                          "program's text with the line and a caret.\n\n"
                                          "`code` is the kind of error: \"INVALID_ARGUMENT\", \"UNIMPLEMENTED\", "
                                          "\"RESOURCE_EXHAUSTED\", \"DEADLINE_EXCEEDED\" ...",
                                          PyExc_RuntimeError, NULL);
  if (error_class == NULL || PyModule_AddObjectRef(module, "Error", error_class) < 0 || !make_array_type(module) ||
      !make_program_types(module)) {
    Py_DECREF(module);
    return NULL;
  }
  return module;
}
