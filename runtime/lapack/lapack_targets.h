// The custom calls to which JAX lowers linear algebra on host memory: lapack_sgetrf_ffi and the
// like.
#ifndef HILO_RUNTIME_LAPACK_LAPACK_TARGETS_H_
#define HILO_RUNTIME_LAPACK_LAPACK_TARGETS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hilo/ffi.h"
#include "hilo/host.h"
#include "hilo/primitive_type.h"

namespace hilo::lapack {

// An array of matrices, vectors or numbers, all of whose dimensions but the last two, one or none
// are batch dimensions. Matrices are column-major (the minor-most dimension in memory is the
// last but one), vectors dense, batches major to minor.
struct Array {
  PrimitiveType type;
  absl::Span<const int64_t> dimensions;
  void* data;
};

struct Call {
  absl::Span<const Array> operands;  // not written
  absl::Span<const Array> results;   // may share memory with the operand that they replace
  // The numbers of backend_config, by name; characters of LAPACK (uplo = 76 : ui8) by their code.
  absl::Span<const std::pair<absl::string_view, int64_t>> attributes;
  int64_t batch = 1;                  // members of the whole batch, of which the arrays may be a part
  ThreadPool* thread_pool = nullptr;  // may share the work on one matrix; null: the calling thread does it
};

// Errors: InvalidArgument if operands, results or attributes do not fit the routine;
// Unavailable without a LAPACK library; ResourceExhausted. Numerical failures (a singular matrix)
// are reported in the result `info`, as LAPACK does.
using Function = absl::Status (*)(const Call& call);

struct Target {
  std::string name;  // "lapack_spotrf_ffi"
  Function function;
  int rank;                  // dimensions of operand 0 that are not batch dimensions
  XLA_FFI_Handler* handler;  // `function` as a handler of typed FFI; the batch is distributed over the
                             // threads of the run
};

// All of them.
const std::vector<Target>& Targets();
// The handler of one; null if none has that name.
XLA_FFI_Handler* HandlerOf(absl::string_view name);

// Registers all of them for the host (CustomCallRegistry::Default() does); existing registrations
// are kept.
void RegisterTargets(CustomCallRegistry* registry);

// The parts of the list.
void AddSolverTargets(std::vector<Target>* targets);
void AddEigenTargets(std::vector<Target>* targets);
void AddTridiagonalTarget(std::vector<Target>* targets);

}  // namespace hilo::lapack

#endif  // HILO_RUNTIME_LAPACK_LAPACK_TARGETS_H_
