/* Hilo from C: the PJRT C API, with a program as HLO text.
 *
 *     cc -I. examples/pjrt/main.c -ldl -o main && ./main build/lib/libpjrt_hilo.so
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pjrt/abi.h"

static const PJRT_Api* api;

static void check(PJRT_Error* error) {
  if (error == NULL) return;
  PJRT_Error_Message_Args message = {.struct_size = sizeof message, .error = error};
  api->PJRT_Error_Message(&message);
  fprintf(stderr, "%.*s\n", (int)message.message_size, message.message);
  exit(1);
}

/* CALL(Client_Create, args, .num_options = 0): declares `args`, calls PJRT_Client_Create, ends on an error. */
#define CALL(function, args, ...)                                          \
  PJRT_##function##_Args args = {.struct_size = sizeof args, __VA_ARGS__}; \
  check(api->PJRT_##function(&args))

static char program_text[] =
    "HloModule saxpy\n"
    "ENTRY main {\n"
    "  a = f32[] parameter(0)  x = f32[4] parameter(1)  y = f32[4] parameter(2)\n"
    "  many = f32[4] broadcast(a), dimensions={}  product = f32[4] multiply(many, x)\n"
    "  ROOT sum = f32[4] add(product, y)\n"
    "}\n";

int main(int argc, char** argv) {
  void* library = dlopen(argc > 1 ? argv[1] : "libpjrt_hilo.so", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return fprintf(stderr, "%s\n", dlerror()), 1;
  const PJRT_Api* (*get)(void);
  *(void**)&get = dlsym(library, "GetPjrtApi");
  api = get();
  CALL(Client_Create, client, .num_options = 0);
  CALL(Client_Devices, devices, .client = client.client);

  PJRT_Program program = {.struct_size = sizeof program,
                          .code = program_text,
                          .code_size = strlen(program_text),
                          .format = "hlo_text",
                          .format_size = 8};
  CALL(Client_Compile, compile, .client = client.client, .program = &program);

  const float a = 2, x[4] = {1, 2, 3, 4}, y[4] = {10, 20, 30, 40};
  const void* data[3] = {&a, x, y};
  const int64_t dims[1] = {4};
  PJRT_Buffer* arguments[3];
  for (int i = 0; i < 3; ++i) {
    CALL(Client_BufferFromHostBuffer, host, .client = client.client, .data = data[i], .type = PJRT_Buffer_Type_F32,
         .dims = dims, .num_dims = i > 0, .host_buffer_semantics = PJRT_HostBufferSemantics_kImmutableOnlyDuringCall,
         .device = devices.devices[0]);
    CALL(Event_Destroy, done, .event = host.done_with_host_buffer);
    arguments[i] = host.buffer;
  }
  PJRT_Buffer* results[1];
  PJRT_Buffer* const* argument_lists[1] = {arguments};
  PJRT_Buffer** result_lists[1] = {results};
  PJRT_ExecuteOptions options = {.struct_size = sizeof options};
  CALL(LoadedExecutable_Execute, run, .executable = compile.executable, .options = &options,
       .argument_lists = argument_lists, .num_devices = 1, .num_args = 3, .output_lists = result_lists);

  float sum[4];
  CALL(Buffer_ToHostBuffer, copy, .src = results[0], .dst = sum, .dst_size = sizeof sum);
  CALL(Event_Await, wait, .event = copy.event);
  printf("%g %g %g %g\n", sum[0], sum[1], sum[2], sum[3]);

  CALL(Event_Destroy, copied, .event = copy.event);
  CALL(Buffer_Destroy, result, .buffer = results[0]);
  for (int i = 0; i < 3; ++i) {
    CALL(Buffer_Destroy, argument, .buffer = arguments[i]);
  }
  CALL(LoadedExecutable_Destroy, executable, .executable = compile.executable);
  CALL(Client_Destroy, end, .client = client.client);
  return 0;
}
