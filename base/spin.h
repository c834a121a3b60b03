// Busy waiting for an event that another processor is about to cause, without sleeping: waking a thread costs more
// than many such waits take.
#ifndef HILO_BASE_SPIN_H_
#define HILO_BASE_SPIN_H_

namespace hilo {

constexpr int kSpins = 300;  // some 10 us

// Polls `ready()`, at most `spins` times: on a busy machine an endless spin would consume the very time slice
// that the other thread waits for. Returns whether it is ready.
template <typename Ready>
bool SpinUntil(Ready ready, int spins = kSpins) {
  for (int spin = 0; spin < spins; ++spin) {
    if (ready()) return true;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  return ready();
}

}  // namespace hilo

#endif  // HILO_BASE_SPIN_H_
