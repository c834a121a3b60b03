// The matrices of a batch are factored one after the other: small ones are not sent here. Routines whose 64-bit form
// has other integers than LAPACK's (the pivots of getrf), or that have none, are called in the form with 32-bit sizes.
// Workspace comes from the stream's pool; a handle is used under a lock.
#include "backends/gpu/lib/solver.h"

#include <cuda_runtime_api.h>
#include <library_types.h>

#include <algorithm>
#include <complex>
#include <mutex>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/container/flat_hash_map.h"
#include "backends/gpu/cuda/cuda_status.h"
#include "backends/gpu/driver/cuda_library.h"
#include "backends/gpu/lib/cuda_libraries.h"
#include "base/errors.h"
#include "hilo/status_macros.h"

#if __has_include(<cusolverDn.h>)
#include <cusolverDn.h>
#endif

namespace hilo::gpu {
namespace {

constexpr int kLower = 0, kUpper = 1, kLeft = 0, kRight = 1, kUnit = 1, kNoVectors = 0, kVectors = 1;
constexpr int kPlain = 0, kTransposed = 1, kAdjoint = 2;

#if __has_include(<cusolverDn.h>)
static_assert(kLower == CUBLAS_FILL_MODE_LOWER && kUpper == CUBLAS_FILL_MODE_UPPER && kLeft == CUBLAS_SIDE_LEFT &&
              kRight == CUBLAS_SIDE_RIGHT && kUnit == CUBLAS_DIAG_UNIT && kNoVectors == CUSOLVER_EIG_MODE_NOVECTOR &&
              kVectors == CUSOLVER_EIG_MODE_VECTOR);
static_assert(kPlain == CUBLAS_OP_N && kTransposed == CUBLAS_OP_T && kAdjoint == CUBLAS_OP_C);
#endif

struct Cusolver {
#define HILO_CUDA_FN HILO_CUDA_FN_MEMBER
#include "backends/gpu/cuda/cusolver.def"
#undef HILO_CUDA_FN
};
struct Cublas {
#define HILO_CUDA_FN HILO_CUDA_FN_MEMBER
#include "backends/gpu/cuda/cublas.def"
#undef HILO_CUDA_FN
};

absl::StatusOr<Cusolver> LoadCusolver() {
  HILO_ASSIGN_OR_RETURN(void* library, LoadCudaLibrary({"libcusolver.so.12", "libcusolver.so.11"}));
  Cusolver table;
#define HILO_CUDA_FN HILO_CUDA_FN_LOAD
#include "backends/gpu/cuda/cusolver.def"
#undef HILO_CUDA_FN
  return table;
}
absl::StatusOr<Cublas> LoadCublas() {
  HILO_ASSIGN_OR_RETURN(void* library, LoadCudaLibrary({"libcublas.so.13", "libcublas.so.12"}));
  Cublas table;
#define HILO_CUDA_FN HILO_CUDA_FN_LOAD
#include "backends/gpu/cuda/cublas.def"
#undef HILO_CUDA_FN
  return table;
}
const absl::StatusOr<Cusolver>& Solver() {
  static const auto* const library = new absl::StatusOr<Cusolver>(LoadCusolver());
  return *library;
}
const absl::StatusOr<Cublas>& Blas() {
  static const auto* const library = new absl::StatusOr<Cublas>(LoadCublas());
  return *library;
}

absl::Status Checked(int status, const char* what) {
  return status == 0 ? absl::OkStatus() : Internal(what, ": error ", status, " of the library");
}

struct Handles {
  void *solver = nullptr, *params = nullptr, *blas = nullptr;
};
std::mutex& HandlesMutex() {
  static auto* const mutex = new std::mutex;
  return *mutex;
}
// Returns the handles of the current device. HandlesMutex() must be held.
absl::StatusOr<Handles> HandlesOfDevice() {
  static auto* const all = new absl::flat_hash_map<int, Handles>;
  int device = 0;
  HILO_CUDA_RETURN_IF_ERROR(cudaGetDevice(&device));
  Handles& handles = (*all)[device];
  if (handles.solver == nullptr)
    HILO_RETURN_IF_ERROR(Checked(Solver()->cusolverDnCreate(&handles.solver), "cusolverDnCreate"));
  if (handles.params == nullptr)
    HILO_RETURN_IF_ERROR(Checked(Solver()->cusolverDnCreateParams(&handles.params), "cusolverDnCreateParams"));
  if (handles.blas == nullptr) HILO_RETURN_IF_ERROR(Checked(Blas()->cublasCreate_v2(&handles.blas), "cublasCreate"));
  return handles;
}

template <typename Function>
Function ByType(PrimitiveType type, Function s, Function d, Function c, Function z) {
  return type == F32 ? s : type == F64 ? d : type == C64 ? c : z;
}
// The four forms of a function that has another name for complex numbers.
#define HILO_BY_TYPE(table, prefix, real, complex, suffix)                                                         \
  ByType(type_, table->prefix##S##real##suffix, table->prefix##D##real##suffix, table->prefix##C##complex##suffix, \
         table->prefix##Z##complex##suffix)

class Call {
 public:
  Call(cudaStream_t stream, const Handles& handles, const SolverCall& call)
      : stream_(stream),
        handles_(handles),
        call_(call),
        type_(call.type()),
        number_(ByType(type_, CUDA_R_32F, CUDA_R_64F, CUDA_C_32F, CUDA_C_64F)),
        real_(type_ == F32 || type_ == C64 ? CUDA_R_32F : CUDA_R_64F) {
    for (size_t d = 0; d + 2 < call.operands[0].dimensions.size(); ++d) batch_ *= call.operands[0].dimensions[d];
  }

  absl::Status Run() {
    if (batch_ == 0) return absl::OkStatus();
    const absl::string_view routine = call_.routine;
    HILO_RETURN_IF_ERROR(Start(routine == "trsm" ? 1 : routine == "ormqr" ? 2 : 0));
    for (int64_t b = 0; b < batch_; ++b) {
      absl::Status status;
      if (routine == "potrf") status = Potrf(b);
      if (routine == "trsm") status = Trsm(b);
      if (routine == "getrf") status = Getrf(b);
      if (routine == "geqrf") status = Geqrf(b);
      if (routine == "orgqr") status = Orgqr(b);
      if (routine == "ormqr") status = Ormqr(b);
      if (routine == "syevd") status = Syevd(b);
      if (routine == "gesvd") status = Gesvd(b);
      HILO_RETURN_IF_ERROR(AddContext(status, absl::StrCat("; ", call_.ToString())));
    }
    return absl::OkStatus();
  }

 private:
  // Initializes result 0 with an operand.
  absl::Status Start(int operand) {
    const SolverArray &from = call_.operands[operand], &to = call_.results[0];
    if (from.bytes() != to.bytes())
      return InvalidArgument(call_.routine, ": expected a first result of the size of operand ", operand);
    if (from.data == to.data) return absl::OkStatus();
    return CudaStatus(cudaMemcpyAsync(to.data, from.data, from.bytes(), cudaMemcpyDeviceToDevice, stream_),
                      "cudaMemcpyAsync");
  }
  // Returns dimension d counted from the end, from 1.
  static int64_t Size(const SolverArray& array, int d) { return array.dimensions[array.dimensions.size() - d]; }
  template <typename T = void>
  T* At(const SolverArray& array, int64_t b) const {
    return reinterpret_cast<T*>(static_cast<char*>(array.data) + b * (array.bytes() / batch_));
  }
  template <typename T = void>
  T* Operand(int i, int64_t b) const {
    return At<T>(call_.operands[i], b);
  }
  template <typename T = void>
  T* Result(int i, int64_t b) const {
    return At<T>(call_.results[i], b);
  }
  int Uplo() const { return call_.Attribute("uplo") == 'L' ? kLower : kUpper; }

  // Calls run(memory, info): device memory, and an int in it.
  template <typename Function>
  absl::Status WithMemory(size_t bytes, Function run) {
    constexpr size_t kInfoBytes = 256;
    void* memory = nullptr;
    HILO_CUDA_RETURN_IF_ERROR(cudaMallocAsync(&memory, bytes + kInfoBytes, stream_));
    const absl::Status status = run(static_cast<char*>(memory) + kInfoBytes, static_cast<int*>(memory));
    HILO_CUDA_RETURN_IF_ERROR(cudaFreeAsync(memory, stream_));
    return status;
  }
  // The same for the 64-bit routines, which also need host memory: it must live until the device is done with
  // it.
  template <typename Ask, typename Function>
  absl::Status With64(Ask ask, Function run) {
    size_t device_bytes = 0, host_bytes = 0;
    HILO_RETURN_IF_ERROR(Checked(ask(&device_bytes, &host_bytes), "size of workspace"));
    std::vector<char> host(host_bytes);
    HILO_RETURN_IF_ERROR(WithMemory(device_bytes, [&](void* device, int* info) {
      return Checked(run(device, device_bytes, host.data(), host_bytes, info), "routine");
    }));
    return host.empty() ? absl::OkStatus() : CudaStatus(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
  }
  template <typename Ask, typename Function>
  absl::Status With32(Ask ask, Function run) {
    int count = 0;
    HILO_RETURN_IF_ERROR(Checked(ask(&count), "size of workspace"));
    return WithMemory(static_cast<size_t>(count) * PrimitiveTypeByteSize(type_),
                      [&](void* device, int* info) { return Checked(run(device, count, info), "routine"); });
  }

  absl::Status Potrf(int64_t b) {
    const int64_t n = Size(call_.results[0], 1), lda = std::max<int64_t>(n, 1);
    void *solver = handles_.solver, *params = handles_.params, *a = Result(0, b);
    return With64(
        [&](size_t* d, size_t* h) {
          return Solver()->cusolverDnXpotrf_bufferSize(solver, params, Uplo(), n, number_, a, lda, number_, d, h);
        },
        [&](void* d, size_t ds, void* h, size_t hs, int*) {
          return Solver()->cusolverDnXpotrf(solver, params, Uplo(), n, number_, a, lda, number_, d, ds, h, hs,
                                            Result<int>(1, b));
        });
  }

  absl::Status Trsm(int64_t b) {
    const auto m = static_cast<int>(Size(call_.results[0], 2)), n = static_cast<int>(Size(call_.results[0], 1)),
               size = static_cast<int>(Size(call_.operands[0], 1));
    const std::complex<double> one_double = 1;
    const std::complex<float> one_float = 1;
    const void* one = real_ == CUDA_R_64F ? static_cast<const void*>(&one_double) : &one_float;
    const int64_t trans = call_.Attribute("trans_x");
    return Checked(HILO_BY_TYPE(Blas(), cublas, trsm, trsm, _v2)(
                       handles_.blas, call_.Attribute("side") == 'L' ? kLeft : kRight, Uplo(),
                       trans == 'N'   ? kPlain
                       : trans == 'T' ? kTransposed
                                      : kAdjoint,
                       call_.Attribute("diag") == 'U' ? kUnit : 0, m, n, one, Operand(0, b), std::max(size, 1),
                       Result(0, b), std::max(m, 1)),
                   "cublasXtrsm");
  }

  absl::Status Getrf(int64_t b) {
    const auto m = static_cast<int>(Size(call_.results[0], 2)), n = static_cast<int>(Size(call_.results[0], 1)),
               lda = std::max(m, 1);
    void* a = Result(0, b);
    return With32(
        [&](int* count) {
          return HILO_BY_TYPE(Solver(), cusolverDn, getrf, getrf, _bufferSize)(handles_.solver, m, n, a, lda, count);
        },
        [&](void* work, int, int*) {
          return HILO_BY_TYPE(Solver(), cusolverDn, getrf, getrf, )(handles_.solver, m, n, a, lda, work,
                                                                    Result<int>(1, b), Result<int>(2, b));
        });
  }

  absl::Status Geqrf(int64_t b) {
    const int64_t m = Size(call_.results[0], 2), n = Size(call_.results[0], 1), lda = std::max<int64_t>(m, 1);
    void *solver = handles_.solver, *params = handles_.params, *a = Result(0, b), *tau = Result(1, b);
    return With64(
        [&](size_t* d, size_t* h) {
          return Solver()->cusolverDnXgeqrf_bufferSize(solver, params, m, n, number_, a, lda, number_, tau, number_, d,
                                                       h);
        },
        [&](void* d, size_t ds, void* h, size_t hs, int* info) {
          return Solver()->cusolverDnXgeqrf(solver, params, m, n, number_, a, lda, number_, tau, number_, d, ds, h, hs,
                                            info);
        });
  }

  absl::Status Orgqr(int64_t b) {
    const auto m = static_cast<int>(Size(call_.results[0], 2)), n = static_cast<int>(Size(call_.results[0], 1)),
               k = static_cast<int>(Size(call_.operands[1], 1));
    const int lda = std::max(m, 1);
    void *a = Result(0, b), *tau = Operand(1, b);
    return With32(
        [&](int* count) {
          return HILO_BY_TYPE(Solver(), cusolverDn, orgqr, ungqr, _bufferSize)(handles_.solver, m, n, k, a, lda, tau,
                                                                               count);
        },
        [&](void* work, int count, int* info) {
          return HILO_BY_TYPE(Solver(), cusolverDn, orgqr, ungqr, )(handles_.solver, m, n, k, a, lda, tau, work, count,
                                                                    info);
        });
  }

  absl::Status Ormqr(int64_t b) {
    const auto m = static_cast<int>(Size(call_.results[0], 2)), n = static_cast<int>(Size(call_.results[0], 1)),
               k = static_cast<int>(Size(call_.operands[1], 1));
    const int lda = std::max(static_cast<int>(Size(call_.operands[0], 2)), 1), ldc = std::max(m, 1);
    const int side = call_.Attribute("left") != 0 ? kLeft : kRight;
    const int trans = call_.Attribute("transpose") == 0 ? kPlain : IsComplexType(type_) ? kAdjoint : kTransposed;
    void *a = Operand(0, b), *tau = Operand(1, b), *c = Result(0, b);
    return With32(
        [&](int* count) {
          return HILO_BY_TYPE(Solver(), cusolverDn, ormqr, unmqr, _bufferSize)(handles_.solver, side, trans, m, n, k, a,
                                                                               lda, tau, c, ldc, count);
        },
        [&](void* work, int count, int* info) {
          return HILO_BY_TYPE(Solver(), cusolverDn, ormqr, unmqr, )(handles_.solver, side, trans, m, n, k, a, lda, tau,
                                                                    c, ldc, work, count, info);
        });
  }

  absl::Status Syevd(int64_t b) {
    const int64_t n = Size(call_.results[0], 1), lda = std::max<int64_t>(n, 1);
    const int mode = call_.Attribute("mode") == 'V' ? kVectors : kNoVectors;
    void *solver = handles_.solver, *params = handles_.params, *a = Result(0, b), *w = Result(1, b);
    return With64(
        [&](size_t* d, size_t* h) {
          return Solver()->cusolverDnXsyevd_bufferSize(solver, params, mode, Uplo(), n, number_, a, lda, real_, w,
                                                       number_, d, h);
        },
        [&](void* d, size_t ds, void* h, size_t hs, int*) {
          return Solver()->cusolverDnXsyevd(solver, params, mode, Uplo(), n, number_, a, lda, real_, w, number_, d, ds,
                                            h, hs, Result<int>(2, b));
        });
  }

  absl::Status Gesvd(int64_t b) {
    const int64_t m = Size(call_.results[0], 2), n = Size(call_.results[0], 1), lda = std::max<int64_t>(m, 1);
    if (m < n) return Unimplemented("gesvd: the library takes no matrices of fewer rows than columns");
    const auto job = static_cast<signed char>(call_.Attribute("mode"));
    const int64_t ldu = std::max<int64_t>(m, 1), ldvt = std::max<int64_t>(n, 1);
    void *solver = handles_.solver, *params = handles_.params, *a = Result(0, b), *s = Result(1, b), *u = Result(2, b),
         *vt = Result(3, b);
    return With64(
        [&](size_t* d, size_t* h) {
          return Solver()->cusolverDnXgesvd_bufferSize(solver, params, job, job, m, n, number_, a, lda, real_, s,
                                                       number_, u, ldu, number_, vt, ldvt, number_, d, h);
        },
        [&](void* d, size_t ds, void* h, size_t hs, int*) {
          return Solver()->cusolverDnXgesvd(solver, params, job, job, m, n, number_, a, lda, real_, s, number_, u, ldu,
                                            number_, vt, ldvt, number_, d, ds, h, hs, Result<int>(4, b));
        });
  }

  const cudaStream_t stream_;
  const Handles handles_;
  const SolverCall& call_;
  const PrimitiveType type_;
  const int number_, real_;
  int64_t batch_ = 1;
};

}  // namespace

absl::Status CheckCusolver() {
  HILO_RETURN_IF_ERROR(Solver().status());
  return Blas().status();
}

absl::Status SolveByCusolver(void* stream, const SolverCall& call) {
  HILO_RETURN_IF_ERROR(CheckCusolver());
  std::lock_guard<std::mutex> lock(HandlesMutex());
  HILO_ASSIGN_OR_RETURN(const Handles handles, HandlesOfDevice());
  HILO_RETURN_IF_ERROR(Checked(Solver()->cusolverDnSetStream(handles.solver, stream), "cusolverDnSetStream"));
  HILO_RETURN_IF_ERROR(Checked(Blas()->cublasSetStream_v2(handles.blas, stream), "cublasSetStream"));
  return Call(static_cast<cudaStream_t>(stream), handles, call).Run();
}

}  // namespace hilo::gpu
