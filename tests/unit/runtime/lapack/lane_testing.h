// Shared by the tests of the kernels in lanes: the kernels of all instruction sets that this machine has, and batches
// of matrices.
#ifndef HILO_TESTS_UNIT_RUNTIME_LAPACK_LANE_TESTING_H_
#define HILO_TESTS_UNIT_RUNTIME_LAPACK_LANE_TESTING_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "runtime/lapack/batch_call.h"
#include "runtime/lapack/lane_matrices.h"

namespace hilo::lapack {

template <typename E>
constexpr bool kComplex = !std::is_floating_point_v<E>;

template <typename E>
struct Named {
  std::string name;
  LaneRoutines<RealOf<E>> routines;
  LaneKernels<RealOf<E>> kernels;
};

template <typename E>
std::vector<Named<E>> AllRoutines() {
  using R = RealOf<E>;
  std::vector<Named<E>> all;
  const auto add = [&](const char* name, const LaneKernels<float>& f, const LaneKernels<double>& d) {
    if constexpr (std::is_same_v<R, float>) {
      all.push_back({name, kComplex<E> ? f.complex : f.real, f});
    } else {
      all.push_back({name, kComplex<E> ? d.complex : d.real, d});
    }
  };
  add("baseline", baseline::kFloat, baseline::kDouble);
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) add("avx2", avx2::kFloat, avx2::kDouble);
  if (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    add("avx512", avx512::kFloat, avx512::kDouble);
#endif
  return all;
}

// Column-major matrices, one after the other.
template <typename E>
struct Batch {
  int64_t count;
  int32_t rows, columns;
  std::vector<E> data;

  Batch(int64_t batch, int32_t m, int32_t n) : count(batch), rows(m), columns(n), data(batch * m * n) {}
  E& operator()(int64_t b, int64_t i, int64_t j) { return data[(b * columns + j) * rows + i]; }
  E operator()(int64_t b, int64_t i, int64_t j) const { return data[(b * columns + j) * rows + i]; }
  RealOf<E>* components() { return reinterpret_cast<RealOf<E>*>(data.data()); }
};

template <typename E>
Batch<E> Noise(int64_t batch, int32_t m, int32_t n, RealOf<E> diagonal) {
  using R = RealOf<E>;
  std::mt19937 generator(static_cast<unsigned>(batch * 1000 + m * 33 + n));
  std::normal_distribution<double> normal;
  Batch<E> a(batch, m, n);
  for (E& x : a.data) {
    if constexpr (kComplex<E>) {
      x = E(static_cast<R>(normal(generator)), static_cast<R>(normal(generator)));
    } else {
      x = static_cast<R>(normal(generator));
    }
  }
  for (int64_t b = 0; b < batch; ++b) {
    for (int32_t i = 0; i < std::min(m, n); ++i) a(b, i, i) += diagonal;
  }
  return a;
}

template <typename E>
E Conjugate(E x) {
  if constexpr (kComplex<E>) {
    return std::conj(x);
  } else {
    return x;
  }
}

template <typename R>
std::vector<R> WorkSpace(int64_t elements) {
  return std::vector<R>(LaneWorkSize(elements) + kLaneAlignment);
}
template <typename R>
R* Aligned(std::vector<R>& memory) {
  void* at = memory.data();
  size_t space = memory.size() * sizeof(R);
  return static_cast<R*>(std::align(kLaneAlignment, sizeof(R), at, space));
}

// Runs parts last to first, as threads may.
inline PartRunner Backwards() {
  return {[](void*, int64_t parts, void (*part)(const void*, int64_t), const void* job) {
            for (int64_t i = parts - 1; i >= 0; --i) part(job, i);
          },
          nullptr};
}

template <typename E>
double Tolerance(int32_t n) {
  return (n + 4) * (n + 4) * 8.0 * std::numeric_limits<RealOf<E>>::epsilon();
}

// The types of numbers.
using LaneTypes = testing::Types<float, double, std::complex<float>, std::complex<double>>;

}  // namespace hilo::lapack

#endif  // HILO_TESTS_UNIT_RUNTIME_LAPACK_LANE_TESTING_H_
