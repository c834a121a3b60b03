/* y = a x + y on the CPU, in C: compiled, saved, loaded again and run.
 *
 *     cc -std=c11 examples/c/main.c $(pkg-config --cflags --libs hilo) -o saxpy && ./saxpy
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hilo-c/hilo.h"

static const char kProgram[] =
    "HloModule saxpy\n"
    "ENTRY main {\n"
    "  a = f32[] parameter(0)  x = f32[4] parameter(1)  y = f32[4] parameter(2)\n"
    "  many = f32[4] broadcast(a), dimensions={}  product = f32[4] multiply(many, x)\n"
    "  ROOT sum = f32[4] add(product, y)\n"
    "}\n";

/* Prints an error and ends the program. */
static void check(HiloError* error) {
  if (error == NULL) return;
  fprintf(stderr, "%s\n", HiloErrorGetMessage(error));
  HiloErrorDestroy(error);
  exit(1);
}

/* Compiles the program and returns it as bytes, which another process could load. */
static HiloBytes* compile(HiloClient* client) {
  HiloExecutable* executable;
  HiloBytes* bytes;
  check(HiloCompile(client, kProgram, strlen(kProgram), NULL, 0, &executable));
  check(HiloExecutableSerialize(executable, &bytes));
  HiloExecutableDestroy(executable);
  return bytes;
}

int main(void) {
  const HiloOption options[] = {{"threads", "1"}};
  HiloClient* client;
  check(HiloClientCreate("cpu", options, 1, &client));
  HiloBytes* bytes = compile(client);
  HiloExecutable* executable;
  check(HiloLoad(client, HiloBytesGetData(bytes), HiloBytesGetSize(bytes), &executable));
  HiloBytesDestroy(bytes);

  static const float a = 2, x[] = {1, 2, 3, 4}, y[] = {10, 20, 30, 40};
  static const void* const data[] = {&a, x, y};
  HiloBuffer* arguments[3];
  for (size_t i = 0; i < 3; ++i) {
    const char* name;
    HiloShape shape;
    check(HiloExecutableGetParameter(executable, i, &name, &shape));
    check(HiloBufferFromHost(client, 0, shape.element_type, shape.dimensions, (size_t)shape.rank, data[i],
                             shape.dense_bytes, NULL, NULL, &arguments[i]));
    printf("%s: %s, %zu bytes\n", name, HiloElementTypeName(shape.element_type), shape.dense_bytes);
  }

  HiloBuffer* result;
  HiloEvent* end;
  const HiloExecuteOptions run = {.struct_size = sizeof run, .deadline_seconds = 10};
  check(HiloExecute(executable, arguments, 3, &run, &result, 1, &end));
  check(HiloEventAwait(end, -1));
  float sum[4];
  check(HiloBufferCopyToHost(result, sum, sizeof sum));
  printf("%g %g %g %g\n", sum[0], sum[1], sum[2], sum[3]);

  HiloEventDestroy(end);
  HiloBufferDestroy(result);
  for (size_t i = 0; i < 3; ++i) HiloBufferDestroy(arguments[i]);
  HiloExecutableDestroy(executable);
  HiloClientDestroy(client);
  return 0;
}
