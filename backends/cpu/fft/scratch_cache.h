// Scratch memory that runs borrow and return.
#ifndef HILO_BACKENDS_CPU_FFT_SCRATCH_CACHE_H_
#define HILO_BACKENDS_CPU_FFT_SCRATCH_CACHE_H_

#include <cstdint>
#include <mutex>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "base/aligned_buffer.h"

namespace hilo::cpu::fft {

// Scratch memory of a run, kept for the next run unless it is large. Thread-safe.
class ScratchCache {
 public:
  // Calls body with memory of at least `bytes`, aligned to 64 bytes. Errors: ResourceExhausted; those of
  // body.
  absl::Status With(int64_t bytes, absl::FunctionRef<absl::Status(uint8_t*)> body);

 private:
  std::mutex mutex_;
  std::vector<AlignedBuffer> idle_;
};

}  // namespace hilo::cpu::fft

#endif  // HILO_BACKENDS_CPU_FFT_SCRATCH_CACHE_H_
