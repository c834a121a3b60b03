/* The C interface as a program in C sees it: each function, and what it does with null and wrong arguments. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hilo-c/hilo.h"
#include "hilo/ffi.h"

static int failures = 0;
static bool on_host = true; /* buffers are in the memory of the host */

#define EXPECT(condition)                                                                              \
  do {                                                                                                 \
    if (!(condition)) printf("%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition), ++failures; \
  } while (0)

#define OK(call) expect_error(__LINE__, #call, call, HILO_OK, "")
#define ERROR(code, part, call) expect_error(__LINE__, #call, call, code, part)

static void expect_error(int line, const char* call, HiloError* error, HiloErrorCode code, const char* part) {
  if (HiloErrorGetCode(error) != code || strstr(HiloErrorGetMessage(error), part) == NULL) {
    printf("%s:%d: %s: expected code %d with '%s', got %d: %s\n", __FILE__, line, call, (int)code, part,
           (int)HiloErrorGetCode(error), HiloErrorGetMessage(error));
    ++failures;
  }
  HiloErrorDestroy(error);
}

static const char kPair[] =
    "HloModule pair\n"
    "ENTRY main {\n"
    "  state = (f32[2,3], (s32[4])) parameter(0)\n"
    "  x = f32[2,3] get-tuple-element(state), index=0  inner = (s32[4]) get-tuple-element(state), index=1\n"
    "  n = s32[4] get-tuple-element(inner), index=0\n"
    "  twice = f32[2,3] add(x, x)  more = s32[4] add(n, n)\n"
    "  ROOT both = (f32[2,3], s32[4]) tuple(twice, more)\n"
    "}\n";

/* Runs for hours. */
static const char kLong[] =
    "HloModule long\n"
    "body { p = s64[] parameter(0)  one = s64[] constant(1)  ROOT n = s64[] add(p, one) }\n"
    "test { p = s64[] parameter(0)  end = s64[] constant(9000000000000000000)\n"
    "  q = s64[] multiply(p, p)  r = s64[] xor(q, p)  ROOT c = pred[] compare(r, end), direction=NE }\n"
    "ENTRY main { x = s64[] parameter(0)  ROOT w = s64[] while(x), condition=test, body=body }\n";

static const char kFilter[] =
    "HloModule filter\n"
    "ENTRY main { x = f32[<=5] parameter(0)  ROOT y = f32[<=5] add(x, x) }\n";

static const char kReplicas[] =
    "HloModule sum, replica_count=2\n"
    "add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }\n"
    "ENTRY main { x = f32[2] parameter(0)  ROOT y = f32[2] all-reduce(x), to_apply=add, replica_groups={{0,1}} }\n";

static HiloClient* client_with(const char* platform, const char* devices) {
  HiloClient* client = NULL;
  const HiloOption options[] = {{"devices", devices}, {"threads", "1"}};
  OK(HiloClientCreate(platform, options, 2, &client));
  return client;
}

static HiloExecutable* compiled(HiloClient* client, const char* program) {
  HiloExecutable* executable = NULL;
  OK(HiloCompile(client, program, strlen(program), NULL, 0, &executable));
  return executable;
}

static HiloBuffer* floats(HiloClient* client, int device, const float* data, int64_t count) {
  HiloBuffer* buffer = NULL;
  OK(HiloBufferFromHost(client, device, HILO_TYPE_F32, &count, 1, data, (size_t)count * sizeof(float), NULL, NULL,
                        &buffer));
  return buffer;
}

static void test_versions(void) {
  EXPECT(strchr(HiloVersion(), '.') != NULL);
  EXPECT(HiloApiVersion() == HILO_C_API_VERSION);
  EXPECT(strcmp(HiloElementTypeName(HILO_TYPE_BF16), "bf16") == 0);
  EXPECT(strcmp(HiloElementTypeName((HiloElementType)13), "invalid") == 0);
  EXPECT(strcmp(HiloElementTypeName((HiloElementType)-1), "invalid") == 0);
  EXPECT(HiloErrorGetCode(NULL) == HILO_OK && strcmp(HiloErrorGetMessage(NULL), "") == 0);
}

static void test_null_arguments(HiloClient* client) {
  HiloExecutable* executable = compiled(client, kPair);
  HiloBuffer* buffer = NULL;
  HiloBytes* bytes = NULL;
  const int64_t one = 1;
  int64_t number;
  const float x = 1;
  bool flag;
  const HiloOption no_value = {"threads", NULL};
  ERROR(HILO_INVALID_ARGUMENT, "`platform` is NULL", HiloClientCreate(NULL, NULL, 0, &client));
  ERROR(HILO_INVALID_ARGUMENT, "`client` is NULL", HiloClientCreate("cpu", NULL, 0, NULL));
  ERROR(HILO_INVALID_ARGUMENT, "`options` is NULL", HiloClientCreate("cpu", NULL, 1, &client));
  ERROR(HILO_INVALID_ARGUMENT, "has no value", HiloClientCreate("cpu", &no_value, 1, &client));
  ERROR(HILO_INVALID_ARGUMENT, "`client` is NULL", HiloCompile(NULL, kPair, 1, NULL, 0, &executable));
  ERROR(HILO_INVALID_ARGUMENT, "`program` is NULL", HiloCompile(client, NULL, 1, NULL, 0, &executable));
  ERROR(HILO_INVALID_ARGUMENT, "`executable` is NULL", HiloCompile(client, kPair, 1, NULL, 0, NULL));
  ERROR(HILO_INVALID_ARGUMENT, "`kind` is NULL", HiloEmit(client, kPair, 1, NULL, 0, NULL, &bytes));
  ERROR(HILO_INVALID_ARGUMENT, "`bytes` is NULL", HiloLoad(client, NULL, 0, &executable));
  ERROR(HILO_INVALID_ARGUMENT, "`bytes` is NULL", HiloExecutableSerialize(executable, NULL));
  ERROR(HILO_INVALID_ARGUMENT, "`executable` is NULL", HiloExecutableGetCounts(NULL, NULL, NULL));
  ERROR(HILO_INVALID_ARGUMENT, "`executable` is NULL", HiloExecutableGetParameter(NULL, 0, NULL, NULL));
  ERROR(HILO_INVALID_ARGUMENT, "`tuple` is NULL", HiloExecutableReturnsTuple(executable, NULL));
  ERROR(HILO_INVALID_ARGUMENT, "`count` is NULL", HiloExecutableGetDeviceCount(executable, NULL));
  ERROR(HILO_INVALID_ARGUMENT, "`cost` is NULL", HiloExecutableGetCost(executable, NULL));
  ERROR(HILO_INVALID_ARGUMENT, "`data` is NULL",
        HiloBufferFromHost(client, 0, HILO_TYPE_F32, &one, 1, NULL, 4, NULL, NULL, &buffer));
  ERROR(HILO_INVALID_ARGUMENT, "`dimensions` is NULL",
        HiloBufferFromHost(client, 0, HILO_TYPE_F32, NULL, 1, &x, 4, NULL, NULL, &buffer));
  ERROR(HILO_INVALID_ARGUMENT, "`buffer` is NULL",
        HiloBufferFromHost(client, 0, HILO_TYPE_F32, &one, 1, &x, 4, NULL, NULL, NULL));
  ERROR(HILO_INVALID_ARGUMENT, "`buffer` is NULL", HiloBufferGetShape(NULL, NULL));
  ERROR(HILO_INVALID_ARGUMENT, "`buffer` is NULL", HiloBufferGetDevice(NULL, NULL));
  ERROR(HILO_INVALID_ARGUMENT, "`buffer` is NULL", HiloBufferGetDimensions(NULL, &number, 1));
  ERROR(HILO_INVALID_ARGUMENT, "`buffer` is NULL", HiloBufferCopyToHost(NULL, NULL, 0));
  ERROR(HILO_INVALID_ARGUMENT, "`buffer` is NULL", HiloBufferGetData(NULL, NULL));
  ERROR(HILO_INVALID_ARGUMENT, "`buffer` is NULL", HiloBufferAwait(NULL, 0));
  ERROR(HILO_INVALID_ARGUMENT, "`buffer` is NULL", HiloBufferIsReady(NULL, &flag));
  ERROR(HILO_INVALID_ARGUMENT, "`executable` is NULL", HiloExecute(NULL, NULL, 0, NULL, NULL, 0, NULL));
  ERROR(HILO_INVALID_ARGUMENT, "`arguments` is NULL", HiloExecute(executable, NULL, 2, NULL, &buffer, 2, NULL));
  ERROR(HILO_INVALID_ARGUMENT, "`event` is NULL", HiloEventAwait(NULL, 0));
  ERROR(HILO_INVALID_ARGUMENT, "`event` is NULL", HiloEventIsDone(NULL, &flag));
  ERROR(HILO_INVALID_ARGUMENT, "`event` is NULL", HiloEventCancel(NULL));
  ERROR(HILO_INVALID_ARGUMENT, "`cancellation` is NULL", HiloCancellationCreate(NULL));
  ERROR(HILO_INVALID_ARGUMENT, "`cancellation` is NULL", HiloCancellationCancel(NULL));
  ERROR(HILO_INVALID_ARGUMENT, "`cancellation` is NULL",
        HiloCompileCancellable(client, kPair, 1, NULL, 0, NULL, &executable));
  ERROR(HILO_INVALID_ARGUMENT, "`cancellation` is NULL",
        HiloEmitCancellable(client, kPair, 1, NULL, 0, "hlo", NULL, &bytes));
  ERROR(HILO_INVALID_ARGUMENT, "`client` is NULL", HiloClientGetMemory(NULL, 0, &number, &number));
  EXPECT(strcmp(HiloClientGetPlatform(NULL), "") == 0 && HiloClientGetDeviceCount(NULL) == 0);
  EXPECT(HiloBytesGetSize(NULL) == 0);
  HiloClientDestroy(NULL);
  HiloExecutableDestroy(executable);
  HiloExecutableDestroy(NULL);
  HiloBufferDestroy(NULL);
  HiloEventDestroy(NULL);
  HiloBytesDestroy(NULL);
  HiloErrorDestroy(NULL);
}

static void test_errors(HiloClient* client) {
  static const char wrong[] = "HloModule m\nENTRY main { x = f32[2] parameter(0)  ROOT y = f32[3] add(x, x) }\n";
  const HiloOption named = {"file_name", "wrong.hlo"}, unknown = {"thread", "1"}, not_a_number = {"threads", "many"},
                   not_a_switch = {"strict", "yes"};
  HiloClient* other = NULL;
  HiloExecutable* executable = NULL;
  ERROR(HILO_INVALID_ARGUMENT, "there is no option 'thread'; there are devices, threads",
        HiloClientCreate("cpu", &unknown, 1, &other));
  ERROR(HILO_INVALID_ARGUMENT, "threads: expected an integer", HiloClientCreate("cpu", &not_a_number, 1, &other));
  ERROR(HILO_INVALID_ARGUMENT, "tpu", HiloClientCreate("tpu", NULL, 0, &other));
  ERROR(HILO_INVALID_ARGUMENT, "wrong.hlo:2:", HiloCompile(client, wrong, strlen(wrong), &named, 1, &executable));
  ERROR(HILO_INVALID_ARGUMENT, "^", HiloCompile(client, wrong, strlen(wrong), NULL, 0, &executable));
  ERROR(HILO_INVALID_ARGUMENT, "strict: expected true or false",
        HiloCompile(client, kPair, strlen(kPair), &not_a_switch, 1, &executable));
  ERROR(HILO_INVALID_ARGUMENT, "is empty", HiloCompile(client, "", 0, NULL, 0, &executable));
  ERROR(HILO_UNIMPLEMENTED, "a zip archive", HiloCompile(client, "PK\3\4", 4, NULL, 0, &executable));
  ERROR(HILO_INVALID_ARGUMENT, "", HiloLoad(client, kPair, strlen(kPair), &executable));
  EXPECT(other == NULL && executable == NULL);
}

static void test_descriptions(HiloClient* client) {
  HiloExecutable* executable = compiled(client, kPair);
  size_t parameters = 0, results = 0;
  const char* name = "";
  HiloShape shape;
  bool tuple = false;
  int32_t devices = 0;
  HiloCost cost = {.struct_size = sizeof cost}, small = {.struct_size = 8};
  OK(HiloExecutableGetCounts(executable, &parameters, &results));
  EXPECT(parameters == 2 && results == 2);
  OK(HiloExecutableGetParameter(executable, 1, &name, &shape));
  EXPECT(strcmp(name, "state{1,0}") == 0 && shape.element_type == HILO_TYPE_S32 && shape.dense_bytes == 16);
  OK(HiloExecutableGetResult(executable, 0, &name, &shape));
  EXPECT(strcmp(name, "out0") == 0 && shape.rank == 2 && shape.dimensions[0] == 2 && shape.dimensions[1] == 3);
  EXPECT(shape.byte_strides[0] == 12 && shape.byte_strides[1] == 4 && !shape.dynamic);
  ERROR(HILO_INVALID_ARGUMENT, "there is no result 2; the program has 2",
        HiloExecutableGetResult(executable, 2, &name, &shape));
  OK(HiloExecutableReturnsTuple(executable, &tuple));
  OK(HiloExecutableGetDeviceCount(executable, &devices));
  EXPECT(tuple && devices == 1);
  OK(HiloExecutableGetCost(executable, &cost));
  EXPECT(cost.flops == 10 && cost.bytes_accessed > 0 && cost.code_bytes > 0);
  ERROR(HILO_INVALID_ARGUMENT, "struct_size", HiloExecutableGetCost(executable, &small));
  HiloBytes* text = NULL;
  OK(HiloEmit(client, kPair, strlen(kPair), NULL, 0, "input", &text));
  EXPECT(strstr(HiloBytesGetData(text), "HloModule pair") != NULL);
  HiloBytesDestroy(text);
  OK(HiloEmit(client, kPair, strlen(kPair), NULL, 0, "buffers", &text));
  EXPECT(HiloBytesGetSize(text) == strlen(HiloBytesGetData(text)) && HiloBytesGetSize(text) > 20);
  HiloBytesDestroy(text);
  HiloExecutableDestroy(executable);
}

static void count_release(void* user_data) { ++*(int*)user_data; }

static void test_buffers(HiloClient* client) {
  static _Alignas(64) float memory[16];
  const int64_t dimensions[] = {4, 4};
  HiloBuffer* buffer = NULL;
  HiloShape shape;
  const void* data = NULL;
  int released = 0;
  int32_t device = -1;
  float copy[16] = {0};
  int64_t sizes[2] = {0}, in_use = 0, peak = 0;
  memory[5] = 7;
  OK(HiloBufferFromHost(client, 0, HILO_TYPE_F32, dimensions, 2, memory, sizeof memory, count_release, &released,
                        &buffer));
  OK(HiloBufferGetData(buffer, &data));
  if (on_host) EXPECT(data == memory && released == 0);
  OK(HiloBufferGetShape(buffer, &shape));
  EXPECT(shape.rank == 2 && shape.dense_bytes == sizeof memory);
  OK(HiloBufferGetDevice(buffer, &device));
  EXPECT(device == 0);
  OK(HiloBufferCopyToHost(buffer, copy, sizeof copy));
  EXPECT(copy[5] == 7);
  OK(HiloBufferGetDimensions(buffer, sizes, 2));
  EXPECT(sizes[0] == 4 && sizes[1] == 4);
  ERROR(HILO_INVALID_ARGUMENT, "expected room for the 64 bytes", HiloBufferCopyToHost(buffer, copy, 60));
  ERROR(HILO_INVALID_ARGUMENT, "expected the 2 dimensions", HiloBufferGetDimensions(buffer, sizes, 1));
  OK(HiloClientGetMemory(client, 0, &in_use, &peak));
  ERROR(HILO_INVALID_ARGUMENT, "there is no device 9", HiloClientGetMemory(client, 9, &in_use, &peak));
  HiloBufferDestroy(buffer);
  EXPECT(released == 1);
  /* Memory that is not aligned is copied, and released at once. */
  OK(HiloBufferFromHost(client, 0, HILO_TYPE_F32, dimensions, 1, memory + 1, 16, count_release, &released, &buffer));
  EXPECT(released == 2);
  HiloBufferDestroy(buffer);
  ERROR(HILO_INVALID_ARGUMENT, "expected the 64 bytes",
        HiloBufferFromHost(client, 0, HILO_TYPE_F32, dimensions, 2, memory, 60, count_release, &released, &buffer));
  ERROR(HILO_INVALID_ARGUMENT, "no array has elements of type 13",
        HiloBufferFromHost(client, 0, (HiloElementType)13, dimensions, 2, memory, 64, NULL, NULL, &buffer));
  ERROR(HILO_INVALID_ARGUMENT, "",
        HiloBufferFromHost(client, 99, HILO_TYPE_F32, dimensions, 2, memory, 64, count_release, &released, &buffer));
  EXPECT(released == 2);
}

static void test_runs(HiloClient* client) {
  static const float x[] = {1, 2, 3, 4, 5, 6};
  static const int32_t n[] = {1, 2, 3, 4};
  const int64_t rows[] = {2, 3}, four = 4;
  HiloExecutable* executable = compiled(client, kPair);
  HiloBytes* bytes = NULL;
  OK(HiloExecutableSerialize(executable, &bytes));
  HiloExecutableDestroy(executable);
  OK(HiloLoad(client, HiloBytesGetData(bytes), HiloBytesGetSize(bytes), &executable));
  ERROR(HILO_INVALID_ARGUMENT, "use HiloLoad",
        HiloCompile(client, HiloBytesGetData(bytes), HiloBytesGetSize(bytes), NULL, 0, &executable));
  HiloBytesDestroy(bytes);
  HiloBuffer *arguments[2] = {NULL, NULL}, *results[2] = {NULL, NULL};
  HiloEvent* event = NULL;
  OK(HiloBufferFromHost(client, 0, HILO_TYPE_F32, rows, 2, x, sizeof x, NULL, NULL, &arguments[0]));
  ERROR(HILO_INVALID_ARGUMENT, "argument 1 is NULL", HiloExecute(executable, arguments, 2, NULL, results, 2, NULL));
  OK(HiloBufferFromHost(client, 0, HILO_TYPE_S32, &four, 1, n, sizeof n, NULL, NULL, &arguments[1]));
  ERROR(HILO_INVALID_ARGUMENT, "expected 2 arguments and room for 2 results",
        HiloExecute(executable, arguments, 1, NULL, results, 2, NULL));
  const size_t donated[] = {0}, beyond[] = {2};
  HiloExecuteOptions options = {
      .struct_size = sizeof options, .synchronous = true, .donated = beyond, .num_donated = 1};
  ERROR(HILO_INVALID_ARGUMENT, "there is no parameter 2",
        HiloExecute(executable, arguments, 2, &options, results, 2, NULL));
  options.donated = donated;
  OK(HiloExecute(executable, arguments, 2, &options, results, 2, &event));
  bool done = false;
  OK(HiloEventIsDone(event, &done));
  EXPECT(done);
  OK(HiloEventAwait(event, 0));
  OK(HiloBufferAwait(results[0], 0));
  float twice[6];
  int32_t more[4];
  OK(HiloBufferCopyToHost(results[0], twice, sizeof twice));
  OK(HiloBufferCopyToHost(results[1], more, sizeof more));
  EXPECT(twice[5] == 12 && more[3] == 8);
  ERROR(HILO_FAILED_PRECONDITION, "donated", HiloExecute(executable, arguments, 2, NULL, results, 2, NULL));
  /* What is left lives without its client's handle and its executable's. */
  HiloExecutableDestroy(executable);
  OK(HiloBufferCopyToHost(results[0], twice, sizeof twice));
  for (int i = 0; i < 2; ++i) HiloBufferDestroy(arguments[i]), HiloBufferDestroy(results[i]);
  HiloEventDestroy(event);
}

static void test_deadlines(HiloClient* client) {
  HiloExecutable* executable = compiled(client, kLong);
  const int64_t zero = 0;
  HiloBuffer *argument = NULL, *result = NULL;
  HiloEvent* event = NULL;
  bool done = true;
  OK(HiloBufferFromHost(client, 0, HILO_TYPE_S64, NULL, 0, &zero, sizeof zero, NULL, NULL, &argument));
  OK(HiloExecute(executable, &argument, 1, NULL, &result, 1, &event));
  ERROR(HILO_DEADLINE_EXCEEDED, "has not ended", HiloEventAwait(event, 0.01));
  ERROR(HILO_DEADLINE_EXCEEDED, "has not ended", HiloBufferAwait(result, 0.01));
  ERROR(HILO_INVALID_ARGUMENT, "not a number", HiloEventAwait(event, (double)NAN));
  OK(HiloEventIsDone(event, &done));
  EXPECT(!done);
  OK(HiloBufferIsReady(result, &done));
  EXPECT(!done);
  OK(HiloEventCancel(event));
  ERROR(HILO_CANCELLED, "cancelled", HiloEventAwait(event, -1));
  ERROR(HILO_CANCELLED, "cancelled", HiloBufferAwait(result, -1));
  HiloBufferDestroy(result);
  HiloEventDestroy(event);
  HiloExecuteOptions options = {.struct_size = sizeof options, .synchronous = true, .deadline_seconds = 0.02};
  ERROR(HILO_DEADLINE_EXCEEDED, "deadline", HiloExecute(executable, &argument, 1, &options, &result, 1, NULL));
  HiloBufferDestroy(argument);
  HiloExecutableDestroy(executable);
}

static void test_cancelled_compilations(HiloClient* client) {
  HiloCancellation* cancellation = NULL;
  HiloExecutable* executable = NULL;
  HiloBytes* text = NULL;
  OK(HiloCancellationCreate(&cancellation));
  OK(HiloCompileCancellable(client, kPair, strlen(kPair), NULL, 0, cancellation, &executable));
  HiloExecutableDestroy(executable);
  executable = NULL;
  OK(HiloCancellationCancel(cancellation));
  ERROR(HILO_CANCELLED, "the compilation was cancelled",
        HiloCompileCancellable(client, kPair, strlen(kPair), NULL, 0, cancellation, &executable));
  ERROR(HILO_CANCELLED, "the compilation was cancelled",
        HiloEmitCancellable(client, kPair, strlen(kPair), NULL, 0, "asm", cancellation, &text));
  EXPECT(executable == NULL && text == NULL);
  HiloCancellationDestroy(cancellation);
  HiloCancellationDestroy(NULL);
}

static void test_dynamic(HiloClient* client) {
  HiloExecutable* executable = compiled(client, kFilter);
  static const float x[] = {1, 2, 3};
  const int64_t three = 3, five = 5, two = 2;
  int64_t size = 0;
  float twice[3];
  HiloBuffer *argument = NULL, *result = NULL;
  HiloShape shape;
  OK(HiloExecutableGetParameter(executable, 0, NULL, &shape));
  EXPECT(shape.dynamic && shape.dimensions[0] == 5);
  ERROR(HILO_INVALID_ARGUMENT, "",
        HiloBufferFromHostDynamic(client, 0, HILO_TYPE_F32, &three, &two, 1, x, sizeof x, &argument));
  OK(HiloBufferFromHostDynamic(client, 0, HILO_TYPE_F32, &three, &five, 1, x, sizeof x, &argument));
  OK(HiloExecute(executable, &argument, 1, NULL, &result, 1, NULL));
  OK(HiloBufferGetDimensions(result, &size, 1));
  EXPECT(size == 3);
  OK(HiloBufferCopyToHost(result, twice, sizeof twice));
  EXPECT(twice[2] == 6);
  HiloBufferDestroy(argument);
  HiloBufferDestroy(result);
  HiloExecutableDestroy(executable);
}

static void test_replicas(const char* platform) {
  static const float x[] = {1, 2}, y[] = {10, 20};
  HiloClient* client = client_with(platform, "2");
  HiloExecutable* executable = compiled(client, kReplicas);
  HiloBuffer* arguments[] = {floats(client, 0, x, 2), floats(client, 1, y, 2)};
  HiloBuffer* results[2] = {NULL, NULL};
  HiloEvent* event = NULL;
  int32_t devices = 0, device = -1;
  OK(HiloExecutableGetDeviceCount(executable, &devices));
  EXPECT(devices == 2);
  OK(HiloExecute(executable, arguments, 2, NULL, results, 2, &event));
  HiloClientDestroy(client);
  OK(HiloEventAwait(event, 60));
  for (int i = 0; i < 2; ++i) {
    float sum[2] = {0, 0};
    OK(HiloBufferCopyToHost(results[i], sum, sizeof sum));
    OK(HiloBufferGetDevice(results[i], &device));
    EXPECT(sum[0] == 11 && sum[1] == 22 && device == i);
    HiloBufferDestroy(arguments[i]), HiloBufferDestroy(results[i]);
  }
  HiloEventDestroy(event);
  HiloExecutableDestroy(executable);
}

static void add_one(void* out, const void** in) {
  for (int i = 0; i < 2; ++i) ((float*)out)[i] = ((const float*)in[0])[i] + 1;
}
static void (*fail)(struct XlaCustomCallStatus* status, const char* message, size_t message_len);
static void never(void* out, const void** in, struct XlaCustomCallStatus* status) {
  (void)out, (void)in;
  fail(status, "never", 5);
}
static void another(void* out, const void** in) { (void)out, (void)in; }

static void register_ours(const HiloCustomCallRegistrar* registrar) {
  fail = registrar->set_failure;
  registrar->register_target(registrar, "add_one", "Host", HILO_CUSTOM_CALL_ORIGINAL, (void*)(uintptr_t)add_one);
  registrar->register_target(registrar, "never", "Host", HILO_CUSTOM_CALL_STATUS_RETURNING, (void*)(uintptr_t)never);
}
static void register_another(const HiloCustomCallRegistrar* registrar) {
  registrar->register_target(registrar, "add_one", "Host", HILO_CUSTOM_CALL_ORIGINAL, (void*)(uintptr_t)another);
}

/* Functions of this program, called by a program of Hilo's. */
static void test_custom_calls(void) {
  static const char call[] =
      "HloModule call\nENTRY main { x = f32[2] parameter(0)\n"
      "  ROOT y = f32[2] custom-call(x), custom_call_target=\"add_one\" }\n";
  static const char failing[] =
      "HloModule call\nENTRY main { x = f32[2] parameter(0)\n"
      "  ROOT y = f32[2] custom-call(x), custom_call_target=\"never\", "
      "api_version=API_VERSION_STATUS_RETURNING }\n";
  HiloClient* client = client_with("cpu", "1");
  HiloExecutable* executable = NULL;
  ERROR(HILO_NOT_FOUND, "add_one", HiloCompile(client, call, strlen(call), NULL, 0, &executable));
  ERROR(HILO_INVALID_ARGUMENT, "`function` is NULL", HiloClientRegisterCustomCalls(client, NULL));
  ERROR(HILO_INVALID_ARGUMENT, "`path` is NULL", HiloClientLoadCustomCallLibrary(NULL, NULL));
  ERROR(HILO_NOT_FOUND, "nosuch.so", HiloClientLoadCustomCallLibrary(client, "nosuch.so"));
  OK(HiloClientRegisterCustomCalls(client, register_ours));
  OK(HiloClientRegisterCustomCalls(client, register_ours));
  ERROR(HILO_ALREADY_EXISTS, "add_one", HiloClientRegisterCustomCalls(client, register_another));
  const float x[] = {1, 2};
  const int64_t two = 2;
  for (int i = 0; i < 2; ++i) {
    const char* program = i == 0 ? call : failing;
    HiloBuffer *argument = NULL, *result = NULL;
    OK(HiloCompile(client, program, strlen(program), NULL, 0, &executable));
    OK(HiloBufferFromHost(client, 0, HILO_TYPE_F32, &two, 1, x, sizeof x, NULL, NULL, &argument));
    const HiloExecuteOptions run = {.struct_size = sizeof run, .synchronous = true};
    HiloError* error = HiloExecute(executable, &argument, 1, &run, &result, 1, NULL);
    float y[2] = {0};
    if (error == NULL) error = HiloBufferCopyToHost(result, y, sizeof y);
    if (i == 0) {
      OK(error);
      EXPECT(y[0] == 2 && y[1] == 3);
    } else {
      expect_error(__LINE__, "never", error, HILO_INTERNAL, "never");
    }
    HiloBufferDestroy(result);
    HiloBufferDestroy(argument);
    HiloExecutableDestroy(executable);
  }
  HiloClientDestroy(client);
}

static void count_messages(void* user_data, HiloLogSeverity severity, const char* message) {
  if (severity == HILO_LOG_WARNING && strstr(message, "not cached") != NULL) ++*(int*)user_data;
}

/* A folder that cannot be made is a warning. */
static void test_log(void) {
  const HiloOption cache[] = {{"cache_dir", "/dev/null/cache"}};
  int messages = 0;
  for (int i = 0; i < 2; ++i) {
    OK(HiloSetLogSink(i == 0 ? count_messages : NULL, &messages));
    HiloClient* client = NULL;
    HiloExecutable* executable = NULL;
    OK(HiloClientCreate("cpu", cache, 1, &client));
    OK(HiloCompile(client, kPair, strlen(kPair), NULL, 0, &executable));
    HiloExecutableDestroy(executable);
    HiloClientDestroy(client);
  }
  EXPECT(messages == 1);
}

int main(int argc, char** argv) {
  const char* platform = argc > 1 ? argv[1] : "cpu";
  HiloClient* client = client_with(platform, "1");
  on_host = strcmp(platform, "cpu") == 0;
  EXPECT(strcmp(HiloClientGetPlatform(client), platform) == 0 && HiloClientGetDeviceCount(client) == 1);
  test_versions();
  test_null_arguments(client);
  test_errors(client);
  test_descriptions(client);
  test_buffers(client);
  test_runs(client);
  test_deadlines(client);
  test_cancelled_compilations(client);
  test_dynamic(client);
  test_replicas(platform);
  test_custom_calls();
  test_log();
  HiloClientDestroy(client);
  printf("%d failures\n", failures);
  return failures > 0;
}
