/* Warnings of Hilo's log as those of Python's. They come from any thread, also from threads that Python does not know,
 * and while others wait for Python's lock; so they are kept, and Python takes them when it is ready. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "native.h"

typedef struct Message {
  struct Message* next;
  char text[];
} Message;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static Message *first, **last = &first;
static PyObject* warn_function;

static int deliver(void* unused) {
  (void)unused;
  pthread_mutex_lock(&mutex);
  Message* message = first;
  first = NULL;
  last = &first;
  pthread_mutex_unlock(&mutex);
  while (message != NULL) {
    PyObject* text = PyUnicode_DecodeUTF8(message->text, (Py_ssize_t)strlen(message->text), "replace");
    PyObject* result = text == NULL ? NULL : PyObject_CallFunctionObjArgs(warn_function, text, NULL);
    if (result == NULL) PyErr_WriteUnraisable(warn_function);
    Py_XDECREF(result);
    Py_XDECREF(text);
    Message* const next = message->next;
    free(message);
    message = next;
  }
  return 0;
}

static void keep(void* user_data, HiloLogSeverity severity, const char* text) {
  (void)user_data;
  if (severity != HILO_LOG_WARNING) return;
  const size_t size = strlen(text) + 1;
  Message* const message = malloc(sizeof(Message) + size);
  if (message == NULL) return;
  message->next = NULL;
  memcpy(message->text, text, size);
  pthread_mutex_lock(&mutex);
  *last = message;
  last = &message->next;
  pthread_mutex_unlock(&mutex);
  Py_AddPendingCall(&deliver, NULL); /* if many wait already, the next that is added delivers this one too */
}

PyObject* module_set_warn(PyObject* module, PyObject* function) {
  (void)module;
  if (function != Py_None) {
    Py_XDECREF(warn_function);
    warn_function = Py_NewRef(function);
  }
  if (!check(hilo.HiloSetLogSink(function == Py_None ? NULL : keep, NULL))) return NULL;
  Py_RETURN_NONE;
}
