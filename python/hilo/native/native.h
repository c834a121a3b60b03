/* What the files of the extension module share. It is built for Python's limited API, so that one file serves
 * Python 3.11 and later. */
#ifndef HILO_PYTHON_NATIVE_H_
#define HILO_PYTHON_NATIVE_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>

#include "hilo-c/hilo.h"

/* --- the library, loaded at run time --- */

/* clang-format off */
#define HILO_FUNCTIONS(X) \
  X(HiloVersion) X(HiloApiVersion) X(HiloErrorGetCode) X(HiloErrorGetMessage) X(HiloErrorDestroy) \
  X(HiloBytesGetData) X(HiloBytesGetSize) X(HiloBytesDestroy) X(HiloClientCreate) X(HiloClientDestroy) \
  X(HiloClientGetPlatform) X(HiloClientGetDeviceCount) X(HiloClientGetMemory) X(HiloCompileCancellable) \
  X(HiloLoad) X(HiloExecutableSerialize) X(HiloExecutableDestroy) X(HiloElementTypeName) \
  X(HiloExecutableGetCounts) X(HiloExecutableGetParameter) X(HiloExecutableGetResult) \
  X(HiloExecutableReturnsTuple) X(HiloExecutableGetDeviceCount) X(HiloExecutableGetCost) \
  X(HiloBufferFromHost) X(HiloBufferFromHostDynamic) X(HiloBufferGetShape) X(HiloBufferGetDevice) \
  X(HiloBufferGetDimensions) X(HiloBufferGetData) X(HiloBufferIsReady) X(HiloBufferAwait) \
  X(HiloBufferDestroy) X(HiloExecute) X(HiloEventAwait) X(HiloEventIsDone) X(HiloEventCancel) \
  X(HiloEventDestroy) X(HiloClientLoadCustomCallLibrary) X(HiloSetLogSink) X(HiloCancellationCreate) \
  X(HiloCancellationCancel) X(HiloCancellationDestroy) X(HiloEmitCancellable)
/* clang-format on */

/* Its functions, as hilo.HiloCompile(...); null until load_library has succeeded. */
struct HiloLibrary {
#define HILO_DECLARE(name) __typeof__(&name) name;
  HILO_FUNCTIONS(HILO_DECLARE)
#undef HILO_DECLARE
};
extern struct HiloLibrary hilo;

/* Sets an exception on failure. */
bool load_library(const char* path);

/* --- errors --- */

extern PyObject* error_class; /* hilo.Error */

/* Sets hilo.Error. */
void set_error(const char* code, PyObject* text);
/* True for success; else sets hilo.Error, and destroys the error. */
bool check(HiloError* error);
/* As check, on the result of a call made without Python's lock. */
#define CHECK_UNLOCKED(call)  \
  ({                          \
    HiloError* error_of_call; \
    Py_BEGIN_ALLOW_THREADS;   \
    error_of_call = call;     \
    Py_END_ALLOW_THREADS;     \
    check(error_of_call);     \
  })

/* hilo._hilo.set_warn: sends the warnings of Hilo's log to a function of one string; None: nowhere. */
PyObject* module_set_warn(PyObject* module, PyObject* function);

/* --- types --- */

typedef struct {
  PyObject_HEAD HiloClient* handle;
} ClientObject;

typedef struct Run Run;

typedef struct {
  PyObject_HEAD HiloBuffer* handle;
  HiloShape shape;     /* lists of the handle's */
  int64_t* dimensions; /* the sizes of a dynamic array, once they are known */
  Run* run;            /* that computes it; null once it is known to have ended */
} ArrayObject;

typedef struct {
  const char* name;
  HiloShape shape;
} Value;

typedef struct {
  PyObject_HEAD ClientObject* client;
  HiloExecutable* handle;
  Value *parameters, *results;
  size_t num_parameters, num_results;
  int32_t devices;
  bool returns_tuple;
} ProgramObject;

extern PyTypeObject *client_type, *array_type, *program_type;
/* The class of new arrays, hilo.Array, and the function that makes arrays of objects with neither interface: both are
 * set by the module. */
extern PyObject *array_class, *convert_function;

bool make_array_type(PyObject* module);
bool make_program_types(PyObject* module);

/* Takes the handle. `run`: that computes it; null: it is computed. */
PyObject* new_array(HiloBuffer* handle, Run* run);

/* The options of a dict of strings, which lives while they are used. The list is for PyMem_Free. False and an
 * exception: it is no such dict. */
bool read_options(PyObject* dict, HiloOption** list, size_t* count);

/* --- compilations --- */

/* Compiles a bytes-like object with options of a dict. Ctrl-C ends the wait at once, and the compilation soon. Null and
 * an exception: it failed. */
HiloExecutable* compile_program(ClientObject* client, PyObject* program, PyObject* dict);
/* `kind` is a string; the caller owns the text. */
HiloBytes* emit_text(ClientObject* client, PyObject* program, PyObject* dict, PyObject* kind);
/* Waits for those that Ctrl-C has ended. False and an exception: Ctrl-C came again. */
bool finish_compilations(void);

/* --- runs that have not ended --- */

/* A reference to a run of the client's; null and an exception: no memory. Takes the event, which has not completed, if
 * it succeeds. */
Run* new_run(ClientObject* client, HiloEvent* event);
/* Both accept null. */
Run* retain_run(Run* run);
void release_run(Run* run);
/* Waits for the end of a run (null: it has ended), at most `seconds` (negative: without limit). Does not look at the
 * run's error. False and an exception: Ctrl-C came, which ends the run; the time is over; or the process was forked
 * before the end. */
bool await_run(Run* run, double seconds);
/* Waits for a run that Ctrl-C has ended. */
void await_end(Run* run);
/* hilo._hilo.finish: waits for all runs, and for compilations that Ctrl-C has ended. Ctrl-C ends them. */
PyObject* module_finish(PyObject* module, PyObject* unused);

/* "f32[2,3]", a new string. */
PyObject* shape_text(const HiloShape* shape, const int64_t* dimensions);
/* Of Python's buffers; null for types without one. */
const char* format_of(HiloElementType type);
size_t size_of(HiloElementType type);

/* An argument of a run. */
typedef struct {
  HiloBuffer* buffer;
  PyObject* owner; /* an Array; null: `buffer` is destroyed after the run */
  bool borrowed;   /* `buffer` uses memory of the object that it was made from */
} Argument;

/* A buffer of `object`, an array of any library, for a parameter on a device. `copy`: never borrows. */
bool take_argument(HiloClient* client, int32_t device, PyObject* object, const Value* parameter, size_t index,
                   bool copy, Argument* argument);
/* Gives up memory that Hilo has released. */
void drop_released(void);

/* --- DLPack, as its specification describes it --- */

typedef struct {
  void* data;
  int32_t device_type, device_id;
  int32_t ndim;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *shape, *strides;
  uint64_t byte_offset;
} DLTensor;

typedef struct DLManagedTensor {
  DLTensor tensor;
  void* context;
  void (*deleter)(struct DLManagedTensor*);
} DLManagedTensor;

typedef struct DLManagedTensorVersioned {
  uint32_t major, minor;
  void* context;
  void (*deleter)(struct DLManagedTensorVersioned*);
  uint64_t flags;
  DLTensor tensor;
} DLManagedTensorVersioned;

enum { DL_CPU = 1, DL_READ_ONLY = 1, DL_IS_COPIED = 2 };

/* 0 if DLPack has no such type. */
HiloElementType type_of_dlpack(int code, int bits);
bool dlpack_of_type(HiloElementType type, uint8_t* code, uint8_t* bits);

#endif
