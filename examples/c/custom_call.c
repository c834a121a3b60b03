/* A function of this program, called by a program of Hilo's, and a log on standard error.
 *
 *     cc -std=c11 examples/c/custom_call.c $(pkg-config --cflags --libs hilo) -o custom_call && ./custom_call
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hilo-c/hilo.h"
#include "hilo/ffi.h"

static const char kProgram[] =
    "HloModule smooth\n"
    "ENTRY main {\n"
    "  x = f32[5] parameter(0)\n"
    "  ROOT y = f32[5] custom-call(x), custom_call_target=\"median3\"\n"
    "}\n";

enum { kSize = 5 };

/* The median of each element and its neighbours; the first and the last stay as they are. */
static void median3(void* out, const void** in) {
  const float* x = in[0];
  float* y = out;
  for (int i = 0; i < kSize; ++i) {
    if (i == 0 || i == kSize - 1) {
      y[i] = x[i];
      continue;
    }
    const float a = x[i - 1], b = x[i], c = x[i + 1];
    const float low = a < b ? a : b, high = a < b ? b : a;
    y[i] = c < low ? low : c > high ? high : c;
  }
}

static void register_functions(const HiloCustomCallRegistrar* registrar) {
  registrar->register_target(registrar, "median3", "Host", HILO_CUSTOM_CALL_ORIGINAL, (void*)(uintptr_t)median3);
}

static void print_message(void* user_data, HiloLogSeverity severity, const char* message) {
  fprintf(user_data, "%s: %s\n", severity == HILO_LOG_WARNING ? "warning" : "info", message);
}

/* Prints an error and ends the program. */
static void check(HiloError* error) {
  if (error == NULL) return;
  fprintf(stderr, "%s\n", HiloErrorGetMessage(error));
  HiloErrorDestroy(error);
  exit(1);
}

int main(void) {
  HiloClient* client;
  HiloExecutable* executable;
  HiloBuffer *argument, *result;
  check(HiloSetLogSink(print_message, stderr));
  check(HiloClientCreate("cpu", NULL, 0, &client));
  check(HiloClientRegisterCustomCalls(client, register_functions));
  check(HiloCompile(client, kProgram, strlen(kProgram), NULL, 0, &executable));

  const float x[kSize] = {1, 9, 2, 3, 4};
  const int64_t size = kSize;
  check(HiloBufferFromHost(client, 0, HILO_TYPE_F32, &size, 1, x, sizeof x, NULL, NULL, &argument));
  check(HiloExecute(executable, &argument, 1, NULL, &result, 1, NULL));
  float y[kSize];
  check(HiloBufferCopyToHost(result, y, sizeof y));
  printf("%g %g %g %g %g\n", y[0], y[1], y[2], y[3], y[4]);

  HiloBufferDestroy(result);
  HiloBufferDestroy(argument);
  HiloExecutableDestroy(executable);
  HiloClientDestroy(client);
  return 0;
}
