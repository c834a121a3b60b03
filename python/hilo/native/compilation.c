/* Compilations, on a thread of their own, so that Python sees Ctrl-C during one. All here but what the thread does is
 * guarded by Python's lock. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "native.h"

static const long kSliceNanoseconds = 50000000;

typedef struct Compilation {
  ClientObject* client; /* these four are kept while the thread uses them */
  Py_buffer program;
  PyObject* dict;
  PyObject* kind;      /* None: an executable is made, else this text */
  const char* name;    /* of `kind` */
  HiloOption* options; /* texts of `dict` */
  size_t num_options;
  HiloCancellation* cancellation;
  pid_t process; /* a child of a fork has no thread that ends the compilation */
  pthread_mutex_t mutex;
  pthread_cond_t ended;
  bool done; /* guarded by `mutex`, as what follows until it is set */
  HiloError* error;
  HiloExecutable* executable;
  HiloBytes* text;
  struct Compilation* next; /* in `abandoned` */
} Compilation;

/* Compilations that Ctrl-C has cancelled, and whose threads may not have ended. */
static Compilation* abandoned;

static void* compile(void* argument) {
  Compilation* self = argument;
  HiloClient* client = self->client->handle;
  const size_t size = (size_t)self->program.len;
  HiloExecutable* executable = NULL;
  HiloBytes* text = NULL;
  HiloError* error = self->name == NULL
                         ? hilo.HiloCompileCancellable(client, self->program.buf, size, self->options,
                                                       self->num_options, self->cancellation, &executable)
                         : hilo.HiloEmitCancellable(client, self->program.buf, size, self->options, self->num_options,
                                                    self->name, self->cancellation, &text);
  pthread_mutex_lock(&self->mutex);
  self->error = error;
  self->executable = executable;
  self->text = text;
  self->done = true;
  pthread_cond_signal(&self->ended);
  pthread_mutex_unlock(&self->mutex);
  return NULL;
}

/* Waits for the end for one slice. */
static bool await_slice(Compilation* self) {
  struct timespec end;
  clock_gettime(CLOCK_MONOTONIC, &end);
  end.tv_nsec += kSliceNanoseconds;
  if (end.tv_nsec >= 1000000000) ++end.tv_sec, end.tv_nsec -= 1000000000;
  pthread_mutex_lock(&self->mutex);
  while (!self->done && pthread_cond_timedwait(&self->ended, &self->mutex, &end) != ETIMEDOUT) continue;
  const bool done = self->done;
  pthread_mutex_unlock(&self->mutex);
  return done;
}

/* Waits for the end. False and an exception: Ctrl-C came before. */
static bool await_compilation(Compilation* self) {
  for (;;) {
    bool done;
    Py_BEGIN_ALLOW_THREADS;
    done = await_slice(self);
    Py_END_ALLOW_THREADS;
    if (done) return true;
    if (PyErr_CheckSignals() < 0) return false;
  }
}

static void drop(Compilation* self) {
  hilo.HiloErrorDestroy(self->error);
  if (self->executable != NULL) hilo.HiloExecutableDestroy(self->executable);
  hilo.HiloBytesDestroy(self->text);
  hilo.HiloCancellationDestroy(self->cancellation);
  pthread_cond_destroy(&self->ended);
  pthread_mutex_destroy(&self->mutex);
  PyMem_Free(self->options);
  Py_XDECREF(self->dict);
  Py_XDECREF(self->kind);
  if (self->program.obj != NULL) PyBuffer_Release(&self->program);
  Py_XDECREF((PyObject*)self->client);
  PyMem_Free(self);
}

static bool has_ended(Compilation* self) {
  pthread_mutex_lock(&self->mutex);
  const bool done = self->done;
  pthread_mutex_unlock(&self->mutex);
  return done;
}

static void drop_abandoned(void) {
  for (Compilation** link = &abandoned; *link != NULL;) {
    Compilation* one = *link;
    if (one->process == getpid() && has_ended(one)) {
      *link = one->next;
      drop(one);
    } else {
      link = &one->next;
    }
  }
}

/* The thread blocks all signals, as Hilo's own do. */
static bool start(Compilation* self) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  const int failure = pthread_create(&thread, NULL, compile, self);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (failure == 0) return pthread_detach(thread), true;
  PyErr_Format(PyExc_RuntimeError, "no thread for the compilation: %s", strerror(failure));
  return false;
}

/* The result is in `executable` if `kind` is None, else in `text`. */
static bool run_compilation(ClientObject* client, PyObject* program, PyObject* dict, PyObject* kind,
                            HiloExecutable** executable, HiloBytes** text) {
  drop_abandoned();
  const char* name = NULL;
  Py_ssize_t size = 0;
  if (kind != Py_None && (name = PyUnicode_AsUTF8AndSize(kind, &size)) == NULL) return false;
  if (name != NULL && strlen(name) != (size_t)size)
    return PyErr_Format(PyExc_ValueError, "expected a kind of text without NUL, got %R", kind), false;
  Compilation* self = PyMem_Calloc(1, sizeof *self);
  if (self == NULL) return PyErr_NoMemory(), false;
  self->kind = Py_NewRef(kind);
  self->name = name;
  self->client = (ClientObject*)Py_NewRef((PyObject*)client);
  self->dict = Py_NewRef(dict);
  self->process = getpid();
  pthread_mutex_init(&self->mutex, NULL);
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&self->ended, &attributes);
  pthread_condattr_destroy(&attributes);
  bool made = false;
  if (PyObject_GetBuffer(program, &self->program, PyBUF_SIMPLE) == 0 &&
      read_options(dict, &self->options, &self->num_options) &&
      check(hilo.HiloCancellationCreate(&self->cancellation)) && start(self)) {
    if (!await_compilation(self)) {
      hilo.HiloErrorDestroy(hilo.HiloCancellationCancel(self->cancellation));
      self->next = abandoned;
      abandoned = self;
      return false;
    }
    HiloError* error = self->error;
    self->error = NULL;
    made = check(error);
    *executable = self->executable;
    *text = self->text;
    self->executable = NULL;
    self->text = NULL;
  }
  drop(self);
  return made;
}

HiloExecutable* compile_program(ClientObject* client, PyObject* program, PyObject* dict) {
  HiloExecutable* executable = NULL;
  HiloBytes* none = NULL;
  run_compilation(client, program, dict, Py_None, &executable, &none);
  return executable;
}

HiloBytes* emit_text(ClientObject* client, PyObject* program, PyObject* dict, PyObject* kind) {
  HiloExecutable* none = NULL;
  HiloBytes* text = NULL;
  run_compilation(client, program, dict, kind, &none, &text);
  return text;
}

bool finish_compilations(void) {
  for (Compilation* one = abandoned; one != NULL; one = one->next) {
    if (one->process == getpid() && !await_compilation(one)) return false;
  }
  drop_abandoned();
  return true;
}
