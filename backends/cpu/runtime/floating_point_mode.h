// The floating-point mode of a thread while it runs compiled code (docs/numerics.md).
#ifndef HILO_BACKENDS_CPU_RUNTIME_FLOATING_POINT_MODE_H_
#define HILO_BACKENDS_CPU_RUNTIME_FLOATING_POINT_MODE_H_

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace hilo::cpu {

// Sets the thread's floating-point mode to the one that the code was compiled for, and restores it.
class FloatingPointMode {
 public:
#if defined(__x86_64__)
  explicit FloatingPointMode(bool flush_denormals) : saved_(_mm_getcsr()) {
    constexpr unsigned kFlush = 0x8040;          // flush to zero, denormals are zero
    constexpr unsigned kMaskedNearest = 0x1f80;  // all exceptions masked, round to nearest even
    const unsigned wanted = kMaskedNearest | (flush_denormals ? kFlush : 0);
    if ((saved_ & ~0x3fu) != wanted) _mm_setcsr(wanted);
  }
  ~FloatingPointMode() {
    if (_mm_getcsr() != saved_) _mm_setcsr(saved_);
  }

 private:
  unsigned saved_;
#else
  explicit FloatingPointMode(bool) {}
#endif
};

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_RUNTIME_FLOATING_POINT_MODE_H_
