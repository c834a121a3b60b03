// Fourier transforms of arrays: HLO's fft over 1 to 3 minor dimensions, for real or complex data.
#ifndef HILO_BACKENDS_CPU_FFT_FFT_H_
#define HILO_BACKENDS_CPU_FFT_FFT_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/cpu/fft/row_fft.h"
#include "hilo/primitive_type.h"
#include "hlo/ops/linalg/linalg_attributes.h"

namespace hilo::cpu::fft {

// A transform with all its tables. Thread-safe.
class Fft {
 public:
  virtual ~Fft() = default;
  // `in` and `out` are dense row-major arrays that do not overlap. Errors: ResourceExhausted;
  // Cancelled, DeadlineExceeded.
  virtual absl::Status Run(const Workers& workers, const void* in, void* out) const = 0;

  // `part` is F32 or F64, the type of real and imaginary parts; `lengths` are the time-domain sizes of the
  // transformed dimensions, major to minor; `batch` is the number of such arrays. All are at least 1. Errors:
  // ResourceExhausted.
  static absl::StatusOr<std::unique_ptr<Fft>> Create(PrimitiveType part, FftType type, int64_t batch,
                                                     absl::Span<const int64_t> lengths);
};

}  // namespace hilo::cpu::fft

#endif  // HILO_BACKENDS_CPU_FFT_FFT_H_
