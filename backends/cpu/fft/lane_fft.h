// The innermost part of the fast Fourier transform: W transforms of one length at once, one per lane of the vector
// registers.
//
// Shared by the planner (row_fft.h) and the kernels (lane_kernels.inc, compiled once per instruction
// set). It names no vector type and includes nothing that could be compiled differently on the two
// sides.
#ifndef HILO_BACKENDS_CPU_FFT_LANE_FFT_H_
#define HILO_BACKENDS_CPU_FFT_LANE_FFT_H_

#include <cstdint>

namespace hilo::cpu::fft {

inline constexpr int kMaxStages = 64;
// Larger prime factors use Bluestein's algorithm.
inline constexpr int kMaxRadix = 251;

// One pass of Stockham's algorithm. `stride` is the product of the radices of earlier passes, `groups` that of later
// passes.
template <typename T>
struct Stage {
  int radix = 0;
  int64_t stride = 0;
  int64_t groups = 0;
  const T* twiddles = nullptr;  // [groups][radix - 1][2]: exp(-2 pi i p j / (groups * radix)), j from 1
  const T* roots = nullptr;     // [radix][2]: cosine and sine of 2 pi k / radix; for radices without
                                // code of their own
};

// A transform of `length` points in `stage_count` passes; no passes for length 1.
template <typename T>
struct LaneFft {
  int64_t length = 1;
  int stage_count = 0;
  Stage<T> stages[kMaxStages];
};

// Complex numbers in memory, real part first; strides count complex numbers. Point i of lane l is
// at i * point_stride + l * lane_stride.
template <typename T>
struct LaneArray {
  T* data = nullptr;
  int64_t point_stride = 0;
  int64_t lane_stride = 0;
};

template <typename T>
struct LaneJob {
  const LaneFft<T>* fft = nullptr;
  LaneArray<const T> in;
  LaneArray<T> out;             // may be the same memory as `in`
  int lanes = 0;                // 1 .. LaneKernels::lanes
  bool inverse = false;         // exp(+2 pi i jk / n); not divided by anything
  T scale = 1;                  // of the result
  const T* twiddles = nullptr;  // [length][2][W] or null: factors of the results
                                // (conjugated for an inverse); aligned as scratch
  T* scratch = nullptr;         // 4 * length * W numbers, aligned to the vector
};

// Rows of `length` real numbers each and their length / 2 + 1 complex results, in lanes. Strides count real numbers.
template <typename T>
struct RealLaneJob {
  const LaneFft<T>* fft =
      nullptr;  // of an even length, of half as many complex numbers; of an odd one, of real passes:
                // `stride` is the length before a pass, radices are 3, 5, 7 or 9, and twiddles are
                // [stride / 2 + 1][radix - 1][2]: exp(-2 pi i k r / (stride * radix)), r from 1
  int64_t length = 1;
  const T* in = nullptr;  // for an inverse the complex numbers
  int64_t in_stride = 0;  // from row to row
  T* out = nullptr;       // does not overlap `in`
  int64_t out_stride = 0;
  int lanes = 0;
  bool inverse = false;
  T scale = 1;
  const T* w_re = nullptr;  // of an even length, for k up to length / 4: exp(-2 pi i k / length)
  const T* w_im = nullptr;
  T* scratch = nullptr;  // 4 * (length / 2 + 1) * W numbers, aligned to the vector
};

// The longest columns of OddColumns.
inline constexpr int kMaxOddColumn = 61;

// Columns of a matrix with `radix`, an odd number of, rows of `count` real numbers, and their results 0 to radix / 2.
template <typename T>
struct OddColumns {
  int radix = 1;
  int64_t count = 0;
  const T* twiddles = nullptr;  // [radix / 2 + 1][count][2]: exp(-2 pi i k c / (radix * count))
  const T* roots = nullptr;     // [radix / 2][radix / 2][2]: cosine and sine of 2 pi k r / radix, k and r from 1
};

template <typename T>
struct LaneKernels {
  int lanes = 0;  // W
  void (*run)(const LaneJob<T>& job) = nullptr;
  void (*run_real)(const RealLaneJob<T>& job) = nullptr;
  // Converts between `half` complex numbers z, the transform of real data viewed as complex, and its half +
  // 1 results. Both may be the same memory. w_re and w_im are exp(-2 pi i k / (2 half)) for k up to half /
  // 2.
  void (*real_from_half)(const T* z, T* result, int64_t half, const T* w_re, const T* w_im) = nullptr;
  void (*half_from_real)(const T* spectrum, T* z, int64_t half, const T* w_re, const T* w_im) = nullptr;
  // From the real matrix to the complex one of the columns' results, which are multiplied by the twiddle factors; and
  // from results divided by them to radix times the columns.
  void (*from_real)(const OddColumns<T>& columns, const T* x, T* y) = nullptr;
  void (*to_real)(const OddColumns<T>& columns, const T* y, T* x) = nullptr;
  // out[k] = a[k] * b[k] * scale, complex; swap_a and swap_out swap the real and imaginary parts of a and of the
  // product.
  void (*multiply)(const T* a, bool swap_a, const T* b, T* out, bool swap_out, T scale, int64_t n) = nullptr;
};

// Returns the kernels for the best instruction set of this machine.
template <typename T>
const LaneKernels<T>& HostLaneKernels();

namespace baseline {
extern const LaneKernels<float> kFloat;
extern const LaneKernels<double> kDouble;
}  // namespace baseline
#if defined(__x86_64__)
namespace avx2 {
extern const LaneKernels<float> kFloat;
extern const LaneKernels<double> kDouble;
}  // namespace avx2
namespace avx512 {
extern const LaneKernels<float> kFloat;
extern const LaneKernels<double> kDouble;
}  // namespace avx512
#endif

}  // namespace hilo::cpu::fft

#endif  // HILO_BACKENDS_CPU_FFT_LANE_FFT_H_
