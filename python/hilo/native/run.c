/* Runs that had not ended when their call returned. Python waits for them in slices, so that Ctrl-C is seen, and ends
 * them. All here is guarded by Python's lock. */
#include "native.h"

static const double kSlice = 0.1; /* seconds */

struct Run {
  HiloEvent* event;
  PyObject* client; /* while the run is listed: it is not destroyed before, which would wait for the run */
  Py_ssize_t references;
  Run *before, *after;
};

/* The runs that are not known to have ended, in the order of their starts. The list holds a reference to each. */
static Run *oldest, *newest;

static bool has_ended(const HiloEvent* event) {
  bool done = true;
  hilo.HiloErrorDestroy(hilo.HiloEventIsDone(event, &done));
  return done;
}

static void release(Run* run) {
  if (--run->references > 0) return;
  hilo.HiloEventDestroy(run->event);
  PyMem_Free(run);
}

static void unlist(Run* run) {
  if (run->client == NULL) return;
  *(run->before != NULL ? &run->before->after : &oldest) = run->after;
  *(run->after != NULL ? &run->after->before : &newest) = run->before;
  run->before = run->after = NULL;
  PyObject* client = run->client;
  run->client = NULL;
  release(run);
  Py_DECREF(client);
}

Run* new_run(ClientObject* client, HiloEvent* event) {
  while (oldest != NULL && has_ended(oldest->event)) unlist(oldest);
  Run* run = PyMem_Malloc(sizeof *run);
  if (run == NULL) return (Run*)PyErr_NoMemory();
  *run = (Run){.event = event, .client = Py_NewRef((PyObject*)client), .references = 2, .before = newest};
  *(newest != NULL ? &newest->after : &oldest) = run;
  return newest = run;
}

Run* retain_run(Run* run) {
  if (run != NULL) ++run->references;
  return run;
}

void release_run(Run* run) {
  if (run == NULL) return;
  if (has_ended(run->event)) unlist(run);
  release(run);
}

/* Ends the run, and those that were started before it, as it may wait for them. */
static void cancel(Run* run) {
  for (; run != NULL; run = run->before) hilo.HiloErrorDestroy(hilo.HiloEventCancel(run->event));
}

bool await_run(Run* run, double seconds) {
  if (run == NULL) return true;
  retain_run(run);
  bool ended = false;
  for (double left = seconds;; left -= kSlice) {
    HiloError* error;
    Py_BEGIN_ALLOW_THREADS;
    error = hilo.HiloEventAwait(run->event, seconds >= 0 && left < kSlice ? left : kSlice);
    Py_END_ALLOW_THREADS;
    ended = has_ended(run->event);
    const bool waits = !ended && hilo.HiloErrorGetCode(error) == HILO_DEADLINE_EXCEEDED;
    if (ended || waits) hilo.HiloErrorDestroy(error);
    if (ended) break;
    if (!waits) {
      unlist(run); /* it does not end in this process, which was forked */
      check(error);
      break;
    }
    if (PyErr_CheckSignals() < 0) {
      cancel(run);
      break;
    }
    if (seconds >= 0 && left <= kSlice) {
      PyObject* number = PyFloat_FromDouble(seconds);
      PyObject* text = number == NULL ? NULL : PyUnicode_FromFormat("the run has not ended within %S seconds", number);
      if (text != NULL) set_error("DEADLINE_EXCEEDED", text);
      Py_XDECREF(text);
      Py_XDECREF(number);
      break;
    }
  }
  release_run(run);
  return ended;
}

void await_end(Run* run) {
  Py_BEGIN_ALLOW_THREADS;
  hilo.HiloErrorDestroy(hilo.HiloEventAwait(run->event, -1));
  Py_END_ALLOW_THREADS;
}

PyObject* module_finish(PyObject* module, PyObject* unused) {
  (void)module;
  (void)unused;
  while (newest != NULL) {
    if (await_run(newest, -1)) continue;
    if (!PyErr_ExceptionMatches(error_class)) return NULL;
    PyErr_Clear();
  }
  if (!finish_compilations()) return NULL;
  Py_RETURN_NONE;
}
