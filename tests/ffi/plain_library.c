/* A library of custom calls in plain C, as `hilo run --ffi-library` takes it. */
#include "hilo/ffi.h"

static void AddOne(void* out, const void** in) {
  for (int i = 0; i < 3; ++i) ((float*)out)[i] = ((const float*)in[0])[i] + 1;
}

static void (*fail)(struct XlaCustomCallStatus* status, const char* message, size_t message_len);
static void Never(void* out, const void** in, struct XlaCustomCallStatus* status) {
  (void)out, (void)in;
  fail(status, "never", 5);
}

/* For a device: on the emulated one its arrays are the host's. */
static void AddTwo(void* stream, void** buffers, const char* opaque, size_t opaque_len) {
  (void)stream, (void)opaque, (void)opaque_len;
  for (int i = 0; i < 3; ++i) ((float*)buffers[1])[i] = ((const float*)buffers[0])[i] + 2;
}

void HiloRegisterCustomCalls(const HiloCustomCallRegistrar* registrar) {
  fail = registrar->set_failure;
  registrar->register_target(registrar, "add_one", "Host", HILO_CUSTOM_CALL_ORIGINAL, (void*)AddOne);
  registrar->register_target(registrar, "add_one", "CUDA", HILO_CUSTOM_CALL_ORIGINAL, (void*)AddTwo);
  registrar->register_target(registrar, "never", "Host", HILO_CUSTOM_CALL_STATUS_RETURNING, (void*)Never);
}
