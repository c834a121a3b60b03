// Roots of unity.
#ifndef HILO_BACKENDS_CPU_FFT_UNIT_ROOTS_H_
#define HILO_BACKENDS_CPU_FFT_UNIT_ROOTS_H_

#include <cstdint>
#include <vector>

namespace hilo::cpu::fft {

// exp(-2 pi i k / n) for 0 <= k < n, accurate to all but the last bit of T.
template <typename T>
class UnitRoots {
 public:
  explicit UnitRoots(int64_t n);
  void At(int64_t k, T* re, T* im) const;

 private:
  // A root is the product of two entries of short tables, computed in a type with extra precision.
  int64_t block_;
  std::vector<long double> coarse_, fine_;  // pairs
};

}  // namespace hilo::cpu::fft

#endif  // HILO_BACKENDS_CPU_FFT_UNIT_ROOTS_H_
