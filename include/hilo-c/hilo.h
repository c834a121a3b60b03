/* Hilo's C interface: programs are compiled, loaded and run with plain C11. docs/api.md states what is promised.
 *
 *   HiloClient* client;
 *   HiloExecutable* executable;
 *   HiloError* error = HiloClientCreate("cpu", NULL, 0, &client);
 *   if (error == NULL) error = HiloCompile(client, text, strlen(text), NULL, 0, &executable);
 *
 * Every function that can fail returns an error, which the caller destroys, or NULL for success. None of them aborts,
 * throws or prints. A null pointer where one is required is an error of code HILO_INVALID_ARGUMENT. After an error the
 * outputs are unchanged. Handles are opaque; each has a function that destroys it, which accepts NULL. Executables and
 * buffers may outlive their client. All functions may be called from any thread; a handle must not be destroyed while
 * another call uses it. Strings are UTF-8 and end with a zero byte. */
#ifndef HILO_C_HILO_H_
#define HILO_C_HILO_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hilo/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface, which grows with each addition (docs/api.md). */
#define HILO_C_API_VERSION 3

typedef struct HiloError HiloError;
typedef struct HiloClient HiloClient;
typedef struct HiloExecutable HiloExecutable;
typedef struct HiloBuffer HiloBuffer;
typedef struct HiloEvent HiloEvent;
typedef struct HiloCancellation HiloCancellation;
typedef struct HiloBytes HiloBytes;

/* --- versions and errors --- */

/* "0.1.0". */
HILO_EXPORT const char* HiloVersion(void);
/* The HILO_C_API_VERSION that the library was built with. */
HILO_EXPORT int32_t HiloApiVersion(void);

/* The numbers are those of absl::StatusCode. */
typedef enum HiloErrorCode {
  HILO_OK = 0,
  HILO_CANCELLED = 1,
  HILO_UNKNOWN = 2,
  HILO_INVALID_ARGUMENT = 3,
  HILO_DEADLINE_EXCEEDED = 4,
  HILO_NOT_FOUND = 5,
  HILO_ALREADY_EXISTS = 6,
  HILO_PERMISSION_DENIED = 7,
  HILO_RESOURCE_EXHAUSTED = 8,
  HILO_FAILED_PRECONDITION = 9,
  HILO_ABORTED = 10,
  HILO_OUT_OF_RANGE = 11,
  HILO_UNIMPLEMENTED = 12,
  HILO_INTERNAL = 13,
  HILO_UNAVAILABLE = 14,
  HILO_DATA_LOSS = 15,
  HILO_UNAUTHENTICATED = 16
} HiloErrorCode;

/* HILO_OK for NULL. */
HILO_EXPORT HiloErrorCode HiloErrorGetCode(const HiloError* error);
/* What was expected, what was found and where; of a program's text also the line and a caret. It lives as long as the
 * error. "" for NULL. */
HILO_EXPORT const char* HiloErrorGetMessage(const HiloError* error);
HILO_EXPORT void HiloErrorDestroy(HiloError* error);

/* --- options and bytes --- */

/* A setting as text: numbers in decimal, switches as "true" and "false". An unknown name is an error that lists the
 * known ones. */
typedef struct HiloOption {
  const char* name;
  const char* value;
} HiloOption;

/* A zero byte follows the last byte. */
HILO_EXPORT const char* HiloBytesGetData(const HiloBytes* bytes);
HILO_EXPORT size_t HiloBytesGetSize(const HiloBytes* bytes);
HILO_EXPORT void HiloBytesDestroy(HiloBytes* bytes);

/* --- clients --- */

/* `platform`: "cpu", "interpreter", "cuda" or "cuda-emulated". Options: devices (default 1), threads (of one run;
 * default: the processors that the process may use), memory_limit (bytes), deadline (seconds, of every run that sets no
 * other), cache_dir (a folder in which compiled programs are kept), cache_limit (bytes).
 * Errors: HILO_INVALID_ARGUMENT for unknown platforms and options; HILO_UNAVAILABLE, with what is missing. */
HILO_EXPORT HiloError* HiloClientCreate(const char* platform, const HiloOption* options, size_t num_options,
                                        HiloClient** client);
HILO_EXPORT void HiloClientDestroy(HiloClient* client);
/* Of a null client: "" and 0. */
HILO_EXPORT const char* HiloClientGetPlatform(const HiloClient* client);
HILO_EXPORT int32_t HiloClientGetDeviceCount(const HiloClient* client);
/* Bytes that buffers and runs in progress use, and the most that they have used. */
HILO_EXPORT HiloError* HiloClientGetMemory(const HiloClient* client, int32_t device, int64_t* bytes_in_use,
                                           int64_t* peak_bytes);

/* --- custom calls and the log (since version 2) --- */

struct HiloCustomCallRegistrar; /* hilo/ffi.h, whose first part is plain C */

/* Calls `function` once, which registers functions of yours under the names by which programs call them
 * (docs/custom_calls.md), for programs that `client` compiles or loads from then on. `client` may be null: for those of
 * every client of the process, for good.
 * Errors: HILO_ALREADY_EXISTS for a name that has another function, HILO_INVALID_ARGUMENT. */
HILO_EXPORT HiloError* HiloClientRegisterCustomCalls(HiloClient* client,
                                                     void (*function)(const struct HiloCustomCallRegistrar* registrar));
/* The same with the function HiloRegisterCustomCalls of the shared library at `path`, which stays loaded. Errors: also
 * HILO_NOT_FOUND, with the system's reason. */
HILO_EXPORT HiloError* HiloClientLoadCustomCallLibrary(HiloClient* client, const char* path);

typedef enum HiloLogSeverity { HILO_LOG_INFO = 0, HILO_LOG_WARNING = 1 } HiloLogSeverity;

/* Takes a message of the log, which lives during the call. Called from any thread, by one at a time; it must not call
 * Hilo. */
typedef void HiloLogSink(void* user_data, HiloLogSeverity severity, const char* message);

/* Sends the log of the whole process to `sink` from then on. Null, as at the start: there is no log. Errors are never
 * logged; they are returned. */
HILO_EXPORT HiloError* HiloSetLogSink(HiloLogSink* sink, void* user_data);

/* --- programs --- */

/* Compiles HLO text, a serialized HloModuleProto, or StableHLO as text or bytecode; which of them is detected by
 * content. Options: file_name (in messages about text), replicas and partitions (devices that run the program; default:
 * as it states), partitioned, strict, flush_denormals, cpu (the processor to compile for), disabled_passes ("a,b"),
 * constant_folding_limit (elements), verify_each_pass, dump_dir, deadline (seconds). hilo/executable.h describes them.
 * Errors: HILO_INVALID_ARGUMENT with the position if the program is wrong; HILO_UNIMPLEMENTED; HILO_RESOURCE_EXHAUSTED;
 * HILO_DEADLINE_EXCEEDED. */
HILO_EXPORT HiloError* HiloCompile(HiloClient* client, const void* program, size_t size, const HiloOption* options,
                                   size_t num_options, HiloExecutable** executable);
/* The same, ended from outside by `cancellation` (since version 3), which serves one compilation: a deadline that
 * expires uses it up, too. Errors: also HILO_CANCELLED. */
HILO_EXPORT HiloError* HiloCompileCancellable(HiloClient* client, const void* program, size_t size,
                                              const HiloOption* options, size_t num_options,
                                              HiloCancellation* cancellation, HiloExecutable** executable);
HILO_EXPORT HiloError* HiloCancellationCreate(HiloCancellation** cancellation);
/* Ends the compilation soon, with an error of code HILO_CANCELLED unless it ends before; one that has yet to begin
 * fails at its start. */
HILO_EXPORT HiloError* HiloCancellationCancel(HiloCancellation* cancellation);
HILO_EXPORT void HiloCancellationDestroy(HiloCancellation* cancellation);
/* The text of a stage of that compilation: "input", "hlo" (the optimized module) and the kinds of `hilo compile
 * --emit` but for "so" and "wasm", which call a linker. Options as above. Errors: also HILO_INVALID_ARGUMENT listing
 * the kinds. */
HILO_EXPORT HiloError* HiloEmit(HiloClient* client, const void* program, size_t size, const HiloOption* options,
                                size_t num_options, const char* kind, HiloBytes** text);
/* The same, ended from outside as HiloCompileCancellable is (since version 3). */
HILO_EXPORT HiloError* HiloEmitCancellable(HiloClient* client, const void* program, size_t size,
                                           const HiloOption* options, size_t num_options, const char* kind,
                                           HiloCancellation* cancellation, HiloBytes** text);
/* Loads what HiloExecutableSerialize returned. It is native code, to be trusted like a shared library. Damaged bytes,
 * and those for other machines or versions, are rejected. */
HILO_EXPORT HiloError* HiloLoad(HiloClient* client, const void* bytes, size_t size, HiloExecutable** executable);
HILO_EXPORT HiloError* HiloExecutableSerialize(const HiloExecutable* executable, HiloBytes** bytes);
HILO_EXPORT void HiloExecutableDestroy(HiloExecutable* executable);

/* Element types, by the numbers of XLA's PrimitiveType. In memory an element takes at least one byte. */
typedef enum HiloElementType {
  HILO_TYPE_PRED = 1,
  HILO_TYPE_S8 = 2,
  HILO_TYPE_S16 = 3,
  HILO_TYPE_S32 = 4,
  HILO_TYPE_S64 = 5,
  HILO_TYPE_U8 = 6,
  HILO_TYPE_U16 = 7,
  HILO_TYPE_U32 = 8,
  HILO_TYPE_U64 = 9,
  HILO_TYPE_F16 = 10,
  HILO_TYPE_F32 = 11,
  HILO_TYPE_F64 = 12,
  HILO_TYPE_C64 = 15,
  HILO_TYPE_BF16 = 16,
  HILO_TYPE_TOKEN = 17, /* orders effects; holds no data */
  HILO_TYPE_C128 = 18,
  HILO_TYPE_F8E5M2 = 19,
  HILO_TYPE_F8E4M3FN = 20,
  HILO_TYPE_S4 = 21,
  HILO_TYPE_U4 = 22,
  HILO_TYPE_F8E4M3B11FNUZ = 23,
  HILO_TYPE_F8E5M2FNUZ = 24,
  HILO_TYPE_F8E4M3FNUZ = 25,
  HILO_TYPE_S2 = 26,
  HILO_TYPE_U2 = 27,
  HILO_TYPE_F8E4M3 = 28,
  HILO_TYPE_F8E3M4 = 29,
  HILO_TYPE_S1 = 30,
  HILO_TYPE_U1 = 31,
  HILO_TYPE_F4E2M1FN = 32,
  HILO_TYPE_F8E8M0FNU = 33
} HiloElementType;

/* The name in HLO text: "f32"; "invalid" for other numbers. */
HILO_EXPORT const char* HiloElementTypeName(HiloElementType type);

/* An array. The lists live as long as the handle that they were read from, and are never null. */
typedef struct HiloShape {
  HiloElementType element_type;
  int32_t rank;
  const int64_t* dimensions;   /* upper bounds if `dynamic` */
  const int64_t* byte_strides; /* of the array in memory */
  size_t dense_bytes;          /* of the array in row-major order without gaps */
  bool dynamic;                /* the sizes are known at run time only */
} HiloShape;

/* The arrays that a program takes and returns on each device: tuples are flattened, depth first. */
HILO_EXPORT HiloError* HiloExecutableGetCounts(const HiloExecutable* executable, size_t* num_parameters,
                                               size_t* num_results);
/* Names: of parameters those in the program, for an element of a tuple followed by its index: "state{1,0}". Results are
 * "out0", "out1" ... */
HILO_EXPORT HiloError* HiloExecutableGetParameter(const HiloExecutable* executable, size_t index, const char** name,
                                                  HiloShape* shape);
HILO_EXPORT HiloError* HiloExecutableGetResult(const HiloExecutable* executable, size_t index, const char** name,
                                               HiloShape* shape);
/* Whether the program's result is a tuple, or one array. */
HILO_EXPORT HiloError* HiloExecutableReturnsTuple(const HiloExecutable* executable, bool* tuple);
/* The devices that run the program together: replicas times partitions. */
HILO_EXPORT HiloError* HiloExecutableGetDeviceCount(const HiloExecutable* executable, int32_t* count);

typedef struct HiloCost {
  size_t struct_size;      /* sizeof(HiloCost), set by the caller */
  double flops;            /* of one run; -1 for executables that were loaded */
  double transcendentals;  /* likewise */
  double bytes_accessed;   /* likewise */
  int64_t temporary_bytes; /* memory of a run besides arguments and results */
  int64_t code_bytes;
  int64_t estimated_nanoseconds; /* of one run */
} HiloCost;
HILO_EXPORT HiloError* HiloExecutableGetCost(const HiloExecutable* executable, HiloCost* cost);

/* --- buffers --- */

/* Called once, on any thread, when Hilo no longer uses the memory. It must not call Hilo. */
typedef void HiloRelease(void* user_data);

/* An array on a device with the contents of row-major host memory; `size` is the number of its bytes, as a check. With
 * `release`, memory on the host that is aligned to 64 bytes is used in place, and must not change until `release` is
 * called. Other memory is copied before the function returns; `release` is then called at once. After an error
 * `release` is not called. */
HILO_EXPORT HiloError* HiloBufferFromHost(HiloClient* client, int32_t device, HiloElementType type,
                                          const int64_t* dimensions, size_t rank, const void* data, size_t size,
                                          HiloRelease* release, void* user_data, HiloBuffer** buffer);
/* The same for a parameter with dynamic dimensions, whose dimensions are `bounds`: a copy. */
HILO_EXPORT HiloError* HiloBufferFromHostDynamic(HiloClient* client, int32_t device, HiloElementType type,
                                                 const int64_t* dimensions, const int64_t* bounds, size_t rank,
                                                 const void* data, size_t size, HiloBuffer** buffer);
/* Does not wait. */
HILO_EXPORT HiloError* HiloBufferGetShape(const HiloBuffer* buffer, HiloShape* shape);
HILO_EXPORT HiloError* HiloBufferGetDevice(const HiloBuffer* buffer, int32_t* device);
/* Waits, and returns the sizes of an array, `rank` of them, those of dynamic dimensions included. */
HILO_EXPORT HiloError* HiloBufferGetDimensions(const HiloBuffer* buffer, int64_t* dimensions, size_t rank);
/* Waits, and writes the elements in row-major order. `size` must be their number of bytes (dense_bytes; less if the
 * array is dynamic). */
HILO_EXPORT HiloError* HiloBufferCopyToHost(const HiloBuffer* buffer, void* data, size_t size);
/* Waits; the memory of the array, in the strides of its shape, for as long as the handle lives: the buffer's own if it
 * is on the host, else a copy. It must not be written to. */
HILO_EXPORT HiloError* HiloBufferGetData(HiloBuffer* buffer, const void** data);
/* Whether HiloBufferAwait would not wait. */
HILO_EXPORT HiloError* HiloBufferIsReady(const HiloBuffer* buffer, bool* ready);
/* Waits at most `seconds` (negative: without limit) until the array is computed. Errors: those of the run that computes
 * it; HILO_DEADLINE_EXCEEDED if the time is over, and the run goes on. */
HILO_EXPORT HiloError* HiloBufferAwait(const HiloBuffer* buffer, double seconds);
HILO_EXPORT void HiloBufferDestroy(HiloBuffer* buffer);

/* --- runs --- */

typedef struct HiloExecuteOptions {
  size_t struct_size;      /* sizeof(HiloExecuteOptions), set by the caller */
  int32_t device;          /* of a program on one device */
  bool synchronous;        /* the run ends before HiloExecute returns */
  double deadline_seconds; /* from the call to the end of the run; 0: the client's default */
  const size_t* donated;   /* parameters whose buffers become invalid, so that results may use their memory */
  size_t num_donated;
} HiloExecuteOptions;

/* Runs a program. `arguments` are the parameters of its first device, then those of the second ..., and `results` takes
 * the results in the same order; the counts are checked. `options` may be null. Short programs run on the calling
 * thread; the results of others become ready later. `event`, if not null, takes the end of the run; without it a run
 * that has no results is waited for. */
HILO_EXPORT HiloError* HiloExecute(const HiloExecutable* executable, HiloBuffer* const* arguments, size_t num_arguments,
                                   const HiloExecuteOptions* options, HiloBuffer** results, size_t num_results,
                                   HiloEvent** event);

/* Waits at most `seconds` (negative: without limit) for the end of the run on all devices, and returns its error;
 * HILO_DEADLINE_EXCEEDED if the time is over, and the run goes on; HILO_FAILED_PRECONDITION in a process that was
 * forked before the end, which it cannot observe. */
HILO_EXPORT HiloError* HiloEventAwait(const HiloEvent* event, double seconds);
HILO_EXPORT HiloError* HiloEventIsDone(const HiloEvent* event, bool* done);
/* Ends the run soon, with an error of code HILO_CANCELLED unless it ends before. */
HILO_EXPORT HiloError* HiloEventCancel(HiloEvent* event);
HILO_EXPORT void HiloEventDestroy(HiloEvent* event);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HILO_C_HILO_H_ */
