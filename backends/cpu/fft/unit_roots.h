// Roots of one.
#ifndef HILO_BACKENDS_CPU_FFT_UNIT_ROOTS_H_
#define HILO_BACKENDS_CPU_FFT_UNIT_ROOTS_H_

#include <cstdint>
#include <vector>

namespace hilo::cpu::fft {

// exp(-2 pi i k / n) for 0 <= k < n, to the last bit but one of T.
template <typename T>
class UnitRoots {
 public:
  explicit UnitRoots(int64_t n);
  void At(int64_t k, T* re, T* im) const;

 private:
  // Roots are products of two from short tables, computed in a type with bits to spare.
  int64_t block_;
  std::vector<long double> coarse_, fine_;  // pairs
};

}  // namespace hilo::cpu::fft

#endif  // HILO_BACKENDS_CPU_FFT_UNIT_ROOTS_H_
