#include "tests/file_tests/test_targets.h"

#include <algorithm>
#include <cstdint>

#include "hilo/status_macros.h"

namespace hilo::testing {
namespace {

const float* Floats(const void* data) { return static_cast<const float*>(data); }

// The specification's example: x = f32[2], y = f32[2,3], result f32[3,3].
void MyFunc(void* out, const void** in) {
  auto* z = static_cast<float*>(out);
  std::fill(z, z + 9, 0.0f);
  z[0] = Floats(in[0])[1] + Floats(in[1])[3];
}

// Six floats as they lie in memory.
void CopySix(void* out, const void** in) { std::copy_n(Floats(in[0]), 6, static_cast<float*>(out)); }

// (s32[2], f32[]) from (f32[], s32[2]).
void SwapPair(void* out, const void** in) {
  void** results = static_cast<void**>(out);
  std::copy_n(static_cast<const int32_t*>(in[1]), 2, static_cast<int32_t*>(results[0]));
  *static_cast<float*>(results[1]) = Floats(in[0])[0];
}

void Seven(void* out, const void**) { *static_cast<float*>(out) = 7; }

// Negative numbers have no square root.
void CheckedRoot(void* out, const void** in, XlaCustomCallStatus* status) {
  const float x = Floats(in[0])[0];
  if (x < 0) return XlaCustomCallStatusSetFailure(status, "negative", 8);
  *static_cast<float*>(out) = x / 2;
}

// The length of the configuration, and its first byte.
void Config(void* out, const void**, const char* opaque, size_t opaque_len, XlaCustomCallStatus* status) {
  auto* result = static_cast<int32_t*>(out);
  result[0] = static_cast<int32_t>(opaque_len);
  result[1] = opaque_len == 0 ? -1 : opaque[0];
  XlaCustomCallStatusSetSuccess(status);
}

// Adds 1 to the first of the result's numbers, which an alias has filled.
void IncrementFirst(void* out, const void**) { *static_cast<float*>(out) += 1; }

}  // namespace

absl::Status RegisterTestTargets(CustomCallRegistry* registry) {
  HILO_RETURN_IF_ERROR(registry->Register("test.myfunc", &MyFunc));
  HILO_RETURN_IF_ERROR(registry->Register("test.copy_six", &CopySix));
  HILO_RETURN_IF_ERROR(registry->Register("test.swap_pair", &SwapPair));
  HILO_RETURN_IF_ERROR(registry->Register("test.seven", &Seven));
  HILO_RETURN_IF_ERROR(registry->Register("test.checked_root", &CheckedRoot));
  HILO_RETURN_IF_ERROR(registry->Register("test.config", &Config));
  return registry->Register("test.increment_first", &IncrementFirst);
}

}  // namespace hilo::testing
