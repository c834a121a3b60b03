// Shared by the functions of LAPACK's custom calls: checks of their arrays, iteration over
// batches, work space.
#ifndef HILO_RUNTIME_LAPACK_BATCH_CALL_H_
#define HILO_RUNTIME_LAPACK_BATCH_CALL_H_

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <type_traits>

#include "absl/status/statusor.h"
#include "base/errors.h"
#include "hilo/primitive_type.h"
#include "hilo/status_macros.h"
#include "runtime/lapack/lane_matrices.h"
#include "runtime/lapack/lapack_library.h"
#include "runtime/lapack/lapack_targets.h"

namespace hilo::lapack {

template <typename T>
struct RealPart {
  using type = T;
};
template <typename P>
struct RealPart<std::complex<P>> {
  using type = P;
};
template <typename T>
using RealOf = typename RealPart<T>::type;
template <typename T>
inline constexpr bool kIsComplex = !std::is_same_v<T, RealOf<T>>;

// The arrays of a call with elements of type T.
template <typename T>
class BatchCall {
 public:
  // The element kind of an array: T, the real numbers of T, the complex ones, or s32; and the number of
  // its dimensions that are not batch dimensions.
  enum Kind { kNumber, kReal, kComplex, kIndex };
  struct Part {
    Kind kind;
    int rank;
  };

  // Errors: InvalidArgument if arrays are not as described, batches differ, or a size is beyond
  // LAPACK's integers; Unavailable if a library is needed and none is installed.
  static absl::StatusOr<BatchCall> Create(const Call& call, absl::Span<const Part> operands,
                                          absl::Span<const Part> results, bool needs_library = true) {
    BatchCall batch(call);
    if (needs_library && Library<T>() == nullptr) {
      return Unavailable(
          "there is no LAPACK library: expected OpenBLAS (libopenblas.so.0, in Debian the package "
          "libopenblas0-pthread)");
    }
    HILO_RETURN_IF_ERROR(batch.CheckAll("operand", call.operands, operands));
    HILO_RETURN_IF_ERROR(batch.CheckAll("result", call.results, results));
    return batch;
  }

  int64_t count() const { return count_; }
  const Routines& routines() const { return *Library<T>(); }
  // Size of dimension `d` of operand or result i, counted from the last one (1) on.
  int64_t OperandSize(int i, int d) const { return Size(call_.operands[i], d); }
  int64_t ResultSize(int i, int d) const { return Size(call_.results[i], d); }

  // Element b of a batch.
  template <typename E = T>
  E* Operand(int i, int64_t b) const {
    return At<E>(call_.operands[i], b);
  }
  template <typename E = T>
  E* Result(int i, int64_t b) const {
    return At<E>(call_.results[i], b);
  }

  // Initializes result `result` with operand `operand`, unless it already shares its memory.
  // Errors: InvalidArgument if they differ in shape.
  absl::Status Start(int result, int operand) const {
    const Array& from = call_.operands[operand];
    const Array& to = call_.results[result];
    if (from.type != to.type || from.dimensions != to.dimensions) {
      return InvalidArgument("result ", result, " must have the shape of operand ", operand);
    }
    const int64_t elements = Elements(from);
    if (from.data != to.data && elements > 0)
      std::memcpy(to.data, from.data, elements * PrimitiveTypeByteSize(from.type));
    return absl::OkStatus();
  }

  // Errors: InvalidArgument if the attribute is missing.
  absl::StatusOr<int64_t> Attribute(absl::string_view name) const {
    for (const auto& [key, value] : call_.attributes) {
      if (key == name) return value;
    }
    return InvalidArgument("expected an attribute ", name, " in backend_config");
  }
  // An attribute that is one of the characters of `allowed`.
  absl::StatusOr<char> Letter(absl::string_view name, absl::string_view allowed) const {
    HILO_ASSIGN_OR_RETURN(const int64_t code, Attribute(name));
    for (char letter : allowed) {
      if (code == letter) return letter;
    }
    return InvalidArgument("expected attribute ", name, " to be one of the characters ", allowed, "; got the code ",
                           code);
  }
  // Errors: InvalidArgument, naming what was expected, if `holds` is false.
  static absl::Status Expect(bool holds, absl::string_view what) {
    return holds ? absl::OkStatus() : InvalidArgument("expected ", what);
  }

 private:
  explicit BatchCall(const Call& call) : call_(call) {}

  static PrimitiveType TypeOf(Kind kind) {
    switch (kind) {
      case kNumber: return NativeToPrimitiveType<T>();
      case kReal: return NativeToPrimitiveType<RealOf<T>>();
      case kComplex: return NativeToPrimitiveType<std::complex<RealOf<T>>>();
      case kIndex: return S32;
    }
    return PRIMITIVE_TYPE_INVALID;
  }

  absl::Status CheckAll(absl::string_view what, absl::Span<const Array> arrays, absl::Span<const Part> parts) {
    if (arrays.size() != parts.size())
      return InvalidArgument("expected ", parts.size(), " ", what, "s; got ", arrays.size());
    for (size_t i = 0; i < parts.size(); ++i) {
      const Array& array = arrays[i];
      const PrimitiveType type = TypeOf(parts[i].kind);
      if (array.type != type) {
        return InvalidArgument("expected ", what, " ", i, " to be of type ", PrimitiveTypeName(type), "; got ",
                               PrimitiveTypeName(array.type));
      }
      const int64_t rank = static_cast<int64_t>(array.dimensions.size());
      if (rank < parts[i].rank)
        return InvalidArgument("expected ", what, " ", i, " to have rank ", parts[i].rank, " or more; got ", rank);
      for (int64_t size : array.dimensions) {
        if (size > std::numeric_limits<Int>::max())
          return InvalidArgument(what, " ", i, " has size ", size, ", beyond LAPACK's integers");
      }
      const auto batch = array.dimensions.first(rank - parts[i].rank);
      if (count_ < 0) {
        batch_ = batch;
        count_ = 1;
        for (int64_t size : batch) count_ *= size;
      } else if (batch != batch_) {
        return InvalidArgument(what, " ", i, " has other batch dimensions than operand 0");
      }
    }
    return absl::OkStatus();
  }

  static int64_t Size(const Array& array, int d) { return array.dimensions[array.dimensions.size() - d]; }
  static int64_t Elements(const Array& array) {
    int64_t elements = 1;
    for (int64_t size : array.dimensions) elements *= size;
    return elements;
  }
  template <typename E>
  E* At(const Array& array, int64_t b) const {
    return static_cast<E*>(array.data) + b * (count_ == 0 ? 0 : Elements(array) / count_);
  }

  Call call_;
  absl::Span<const int64_t> batch_;
  int64_t count_ = -1;
};

// The routines in lanes for numbers T, and a pointer to the components of a number.
template <typename T>
const LaneRoutines<RealOf<T>>& Lanes() {
  const LaneKernels<RealOf<T>>& kernels = HostLaneKernels<RealOf<T>>();
  return kIsComplex<T> ? kernels.complex : kernels.real;
}
template <typename T>
RealOf<T>* Components(T* numbers) {
  return reinterpret_cast<RealOf<T>*>(numbers);
}

// Runs the parts of a kernel on the threads of a pool, which may be null.
inline PartRunner RunnerOn(ThreadPool* pool) {
  if (pool == nullptr || pool->num_threads() == 1) return {};
  return {[](void* context, int64_t parts, void (*part)(const void*, int64_t), const void* job) {
            static_cast<ThreadPool*>(context)->ParallelFor(parts, [&](int64_t i) { part(job, i); });
          },
          pool};
}

// Uninitialized memory for `count` elements, at least one. Errors: ResourceExhausted.
template <typename E>
absl::StatusOr<std::unique_ptr<E[]>> Work(int64_t count) {
  static_assert(std::is_trivially_destructible_v<E>);
  std::unique_ptr<E[]> memory(new (std::nothrow) E[std::max<int64_t>(1, count)]);
  if (memory == nullptr)
    return ResourceExhausted("no memory for ", count * static_cast<int64_t>(sizeof(E)),
                             " bytes of LAPACK's work space");
  return memory;
}

// The same, aligned to kLaneAlignment (lane_matrices.h).
struct FreeAligned {
  void operator()(void* memory) const { ::operator delete(memory, std::align_val_t(kLaneAlignment)); }
};
template <typename E>
absl::StatusOr<std::unique_ptr<E[], FreeAligned>> AlignedWork(int64_t count) {
  const size_t bytes = static_cast<size_t>(std::max<int64_t>(1, count)) * sizeof(E);
  std::unique_ptr<E[], FreeAligned> memory(
      static_cast<E*>(::operator new(bytes, std::align_val_t(kLaneAlignment), std::nothrow)));
  if (memory == nullptr) return ResourceExhausted("no memory for ", bytes, " bytes of LAPACK's work space");
  return memory;
}

// The size that a routine's query stored in work[0]: a floating-point number, which may have been
// rounded down.
template <typename T>
Int QueriedSize(T answer) {
  const double size =
      std::ceil(static_cast<double>(std::real(answer)) * (1 + 2 * std::numeric_limits<RealOf<T>>::epsilon()));
  return static_cast<Int>(std::clamp(size, 1.0, static_cast<double>(std::numeric_limits<Int>::max())));
}

// Calls routine(b, work, lwork), first to query the size of its work space, then for each b of
// the batch for which accept(b) is true.
template <typename T, typename Routine, typename Accept>
absl::Status WithWork(int64_t count, const Routine& routine, const Accept& accept) {
  if (count == 0) return absl::OkStatus();
  T answer = 0;
  Int size = -1;
  routine(0, &answer, &size);
  size = QueriedSize(answer);
  HILO_ASSIGN_OR_RETURN(const auto work, Work<T>(size));
  for (int64_t b = 0; b < count; ++b) {
    if (accept(b)) routine(b, work.get(), &size);
  }
  return absl::OkStatus();
}

template <typename T, typename Routine>
absl::Status WithWork(int64_t count, const Routine& routine) {
  return WithWork<T>(count, routine, [](int64_t) { return true; });
}

// Calls `function` with the contents of the frame of a typed FFI call.
XLA_FFI_Error* HandleCall(Function function, int rank, XLA_FFI_CallFrame* frame);
template <Function kFunction, int kRank>
XLA_FFI_Error* Handler(XLA_FFI_CallFrame* frame) {
  return HandleCall(kFunction, kRank, frame);
}
template <Function kFunction, int kRank>
void AddTarget(std::vector<Target>* targets, std::string name) {
  targets->push_back({std::move(name), kFunction, kRank, &Handler<kFunction, kRank>});
}

// The four instances of a function template, under the names lapack_{s,d,c,z}NAME_ffi.
#define HILO_LAPACK_TARGET(targets, name, complex_name, Function, rank)                        \
  do {                                                                                         \
    AddTarget<&Function<float>, rank>(targets, "lapack_s" name "_ffi");                        \
    AddTarget<&Function<double>, rank>(targets, "lapack_d" name "_ffi");                       \
    AddTarget<&Function<std::complex<float>>, rank>(targets, "lapack_c" complex_name "_ffi");  \
    AddTarget<&Function<std::complex<double>>, rank>(targets, "lapack_z" complex_name "_ffi"); \
  } while (false)

}  // namespace hilo::lapack

#endif  // HILO_RUNTIME_LAPACK_BATCH_CALL_H_
