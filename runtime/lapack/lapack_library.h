// LAPACK and BLAS, loaded at run time: OpenBLAS if it is installed.
#ifndef HILO_RUNTIME_LAPACK_LAPACK_LIBRARY_H_
#define HILO_RUNTIME_LAPACK_LAPACK_LIBRARY_H_

#include <complex>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace hilo::lapack {

using Int = int32_t;  // Fortran's INTEGER

// The addresses of the routines for one element type, under their names for real numbers; for
// complex ones orgqr is ungqr, ormqr unmqr, syevd heevd and sytrd hetrd.
struct Routines {
#define HILO_LAPACK_ROUTINE(name, complex_name) void* name = nullptr;
#include "runtime/lapack/lapack_routines.def"
#undef HILO_LAPACK_ROUTINE
};

// Null if no library is installed. Loaded on the first call. CallRoutine may call the routines from any number of
// threads concurrently, and they use the caller's thread alone. T: float, double, std::complex<float>,
// std::complex<double>.
template <typename T>
const Routines* Library();

// The mutex that every call must hold if the library does not allow concurrent calls; else null.
std::mutex* CallMutex();

// Calls a routine by Fortran's convention: all arguments by address, and the lengths of character arguments,
// size_t, after all others.
template <typename... Args>
void CallRoutine(void* routine, Args... args) {
  std::unique_lock<std::mutex> lock;
  if (std::mutex* const mutex = CallMutex()) lock = std::unique_lock(*mutex);
  reinterpret_cast<void (*)(Args...)>(routine)(args...);
}

}  // namespace hilo::lapack

#endif  // HILO_RUNTIME_LAPACK_LAPACK_LIBRARY_H_
