// The runtime calls of cholesky and triangular-solve: batches and blocks of right-hand sides are parallelized over
// threads. Floats of fewer than 32 bits are computed as f32 and rounded once.
#include <algorithm>
#include <complex>
#include <memory>
#include <type_traits>

#include "backends/cpu/runtime/parallel_parts.h"
#include "backends/cpu/runtime_calls/linear_algebra_ops.h"
#include "backends/cpu/runtime_calls/triangular_kernels.h"
#include "base/errors.h"
#include "hilo/primitive_type.h"
#include "hilo/status_macros.h"

namespace hilo::cpu {
namespace {

// The type in which elements of type T are computed.
template <typename T>
using ComputedAs = std::conditional_t<is_small_float<T>, float, T>;

template <typename T>
absl::StatusOr<std::unique_ptr<T[]>> Allocate(int64_t count) {
  std::unique_ptr<T[]> memory(new (std::nothrow) T[std::max<int64_t>(count, 1)]);
  if (memory == nullptr) return ResourceExhausted("no memory for ", count, " numbers of work space");
  return memory;
}

template <typename T>
class CholeskyOp : public RuntimeCall {
 public:
  CholeskyOp(int64_t batch, int64_t n, bool lower)
      : batch_(batch), n_(n), lower_(lower), code_(CholeskyCode<ComputedAs<T>>(n)) {}

  absl::Status Run(const RunContext& run, const RuntimeCallArrays& arrays) const override {
    using C = ComputedAs<T>;
    const T* a = reinterpret_cast<const T*>(arrays.operands[0]);
    T* result = reinterpret_cast<T*>(arrays.results[0]);
    const int64_t size = n_ * n_;
    const double work = 20 + static_cast<double>(size) * static_cast<double>(n_) * 0.05;
    return ForParts({run.thread_pool, run.cancellation}, batch_, work, [&](int64_t begin, int64_t end) -> absl::Status {
      const bool wide = std::is_same_v<C, T>;
      HILO_ASSIGN_OR_RETURN(const auto scratch, Allocate<C>(code_ == TriangularCode::kLoops ? size : 0));
      HILO_ASSIGN_OR_RETURN(const auto converted, Allocate<C>(wide ? 0 : 2 * size));
      for (int64_t b = begin; b < end; ++b) {
        if constexpr (std::is_same_v<C, T>) {
          CholeskyFactor(code_, n_, lower_, a + b * size, result + b * size, scratch.get());
        } else {
          for (int64_t i = 0; i < size; ++i) converted[i] = static_cast<C>(a[b * size + i]);
          CholeskyFactor<C>(code_, n_, lower_, converted.get(), converted.get() + size, scratch.get());
          for (int64_t i = 0; i < size; ++i) result[b * size + i] = static_cast<T>(converted[size + i]);
        }
      }
      return absl::OkStatus();
    });
  }

 private:
  const int64_t batch_, n_;
  const bool lower_;
  const TriangularCode code_;
};

template <typename T>
class TriangularSolveOp : public RuntimeCall {
 public:
  TriangularSolveOp(int64_t batch, int64_t count, const TriangularSystem& system)
      : batch_(batch), count_(count), system_(system), code_(TriangularSolveCode<ComputedAs<T>>(system.n)) {}

  absl::Status Run(const RunContext& run, const RuntimeCallArrays& arrays) const override {
    using C = ComputedAs<T>;
    const T* a = reinterpret_cast<const T*>(arrays.operands[0]);
    const T* right = reinterpret_cast<const T*>(arrays.operands[1]);
    T* result = reinterpret_cast<T*>(arrays.results[0]);
    const int64_t size = system_.n * system_.n, values = system_.n * count_;
    if constexpr (std::is_same_v<C, T>) {
      std::copy_n(right, batch_ * values, result);
      return Solve(run, a, result);
    } else {
      HILO_ASSIGN_OR_RETURN(const auto matrices, Allocate<C>(batch_ * size));
      HILO_ASSIGN_OR_RETURN(const auto x, Allocate<C>(batch_ * values));
      for (int64_t i = 0; i < batch_ * size; ++i) matrices[i] = static_cast<C>(a[i]);
      for (int64_t i = 0; i < batch_ * values; ++i) x[i] = static_cast<C>(right[i]);
      HILO_RETURN_IF_ERROR(Solve(run, matrices.get(), x.get()));
      for (int64_t i = 0; i < batch_ * values; ++i) result[i] = static_cast<T>(x[i]);
      return absl::OkStatus();
    }
  }

 private:
  // Number of right-hand sides per task; a constant, so that results do not depend on the number of
  // threads.
  static constexpr int64_t kBlock = 128;

  template <typename C>
  absl::Status Solve(const RunContext& run, const C* a, C* x) const {
    const int64_t n = system_.n, blocks = (count_ + kBlock - 1) / kBlock;
    const double work = 20 + static_cast<double>(n * n) * static_cast<double>(std::min(count_, kBlock)) * 0.1;
    return ForParts(
        {run.thread_pool, run.cancellation}, batch_ * blocks, work, [&](int64_t begin, int64_t end) -> absl::Status {
          HILO_ASSIGN_OR_RETURN(const auto triangle, Allocate<C>(code_ == TriangularCode::kLoops ? n * n : 0));
          int64_t prepared = -1;
          for (int64_t i = begin; i < end; ++i) {
            const int64_t b = i / blocks, first = i % blocks * kBlock;
            if (code_ == TriangularCode::kLoops && b != prepared)
              PrepareTriangle(system_, a + b * n * n, count_, triangle.get());
            prepared = b;
            HILO_RETURN_IF_ERROR(SolveTriangular(code_, system_, a + b * n * n, triangle.get(), x + b * n * count_,
                                                 count_, first, std::min(count_, first + kBlock)));
          }
          return absl::OkStatus();
        });
  }

  const int64_t batch_, count_;
  const TriangularSystem system_;
  const TriangularCode code_;
};

// An op on empty arrays.
class EmptyOp : public RuntimeCall {
 public:
  absl::Status Run(const RunContext&, const RuntimeCallArrays&) const override { return absl::OkStatus(); }
};

// Op<T>(arguments...) for the element type, a floating-point or complex one.
template <template <typename> class Op, typename... Args>
absl::StatusOr<std::unique_ptr<RuntimeCall>> MakeTyped(PrimitiveType type, const Args&... args) {
  std::unique_ptr<RuntimeCall> op;
  ArrayTypeSwitch(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (is_complex<T> || std::is_floating_point_v<T> || is_small_float<T>)
      op = std::make_unique<Op<T>>(args...);
  });
  if (op == nullptr) return Unimplemented("there is no linear algebra in ", PrimitiveTypeName(type));
  return op;
}

int64_t BatchOf(const Shape& shape) {
  int64_t batch = 1;
  for (int64_t d = 0; d < shape.rank() - 2; ++d) batch *= shape.dimensions(d);
  return batch;
}

}  // namespace

absl::StatusOr<std::unique_ptr<RuntimeCall>> MakeCholeskyOp(const HloInstruction& instruction, const CompileOptions&) {
  const Shape& shape = instruction.shape();
  if (ShapeUtil::IsZeroElementArray(shape)) return std::make_unique<EmptyOp>();
  return MakeTyped<CholeskyOp>(shape.element_type(), BatchOf(shape), shape.dimensions(shape.rank() - 1),
                               instruction.attrs<CholeskyAttrs>().lower);
}

absl::StatusOr<std::unique_ptr<RuntimeCall>> MakeTriangularSolveOp(const HloInstruction& instruction,
                                                                   const CompileOptions&) {
  const Shape& shape = instruction.shape();
  if (ShapeUtil::IsZeroElementArray(shape)) return std::make_unique<EmptyOp>();
  const TriangularSolveAttrs& attrs = instruction.attrs<TriangularSolveAttrs>();
  const TriangularSystem system = {.n = shape.dimensions(shape.rank() - (attrs.left_side ? 2 : 1)),
                                   .left_side = attrs.left_side,
                                   .lower = attrs.lower,
                                   .unit_diagonal = attrs.unit_diagonal,
                                   .transpose_a = attrs.transpose_a};
  return MakeTyped<TriangularSolveOp>(shape.element_type(), BatchOf(shape),
                                      shape.dimensions(shape.rank() - (attrs.left_side ? 1 : 2)), system);
}

}  // namespace hilo::cpu
