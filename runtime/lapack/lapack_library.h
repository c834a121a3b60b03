// LAPACK and BLAS, loaded at run time: OpenBLAS if this machine has it.
#ifndef HILO_RUNTIME_LAPACK_LAPACK_LIBRARY_H_
#define HILO_RUNTIME_LAPACK_LAPACK_LIBRARY_H_

#include <complex>
#include <cstddef>
#include <cstdint>

namespace hilo::lapack {

using Int = int32_t;  // Fortran's INTEGER

// The addresses of the routines for one element type, under their names for real numbers; for
// complex ones orgqr is ungqr, ormqr unmqr, syevd heevd and sytrd hetrd.
struct Routines {
#define HILO_LAPACK_ROUTINE(name, complex_name) void* name = nullptr;
#include "runtime/lapack/lapack_routines.def"
#undef HILO_LAPACK_ROUTINE
};

// Null if there is no library on this machine. Loaded on the first call. Routines may be called
// from any number of threads at once and start none. T: float, double, std::complex<float>,
// std::complex<double>.
template <typename T>
const Routines* Library();

// Calls a routine in Fortran's way: everything by address, and the lengths of character arguments,
// size_t, behind all others.
template <typename... Args>
void CallRoutine(void* routine, Args... args) {
  reinterpret_cast<void (*)(Args...)>(routine)(args...);
}

}  // namespace hilo::lapack

#endif  // HILO_RUNTIME_LAPACK_LAPACK_LIBRARY_H_
