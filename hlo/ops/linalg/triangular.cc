// cholesky and triangular-solve, by substitution; sums are kept in double.
//
// A matrix that is not positive definite has no Cholesky factor: all elements of its result are
// then NaN. The other triangle is 0.
#include <cmath>
#include <complex>
#include <limits>
#include <type_traits>

#include "hilo/status_macros.h"
#include "hlo/ops/linalg/linalg_attributes.h"
#include "hlo/ops/table/checks.h"
#include "hlo/ops/table/op_checks.h"

namespace hilo {
namespace {

// Operand `i`, called `name`, is a batch of matrices of floating-point or complex numbers.
absl::Status CheckMatrices(const OpView& op, int64_t i, absl::string_view name) {
  HILO_RETURN_IF_ERROR(CheckArray(op, i, name));
  HILO_RETURN_IF_ERROR(CheckTypeClass(op, i, kFloat | kComplex));
  if (op.operand(i).rank() >= 2) return absl::OkStatus();
  return InvalidOp(op, name, " must have rank 2 or more, got ", op.operand(i).ToString());
}

absl::Status CheckSquare(const OpView& op, const Shape& a) {
  if (a.dimensions(a.rank() - 1) == a.dimensions(a.rank() - 2)) return absl::OkStatus();
  return InvalidOp(op, "the two minor dimensions of a must be equal, got ", a.ToString());
}

template <typename T>
auto WideNumber() {
  if constexpr (is_complex<T>) {
    return std::complex<double>();
  } else {
    return double();
  }
}
template <typename T>
using WideNumberOf = decltype(WideNumber<T>());

double Conjugate(double x) { return x; }
std::complex<double> Conjugate(std::complex<double> x) { return std::conj(x); }

template <typename W, typename T>
W Widened(T value) {
  if constexpr (is_complex<T>) {
    return W(value.real(), value.imag());
  } else {
    return static_cast<W>(value);
  }
}
template <typename T, typename W>
T Narrowed(W value) {
  if constexpr (is_complex<T>) {
    using Part = typename T::value_type;
    return T(static_cast<Part>(value.real()), static_cast<Part>(value.imag()));
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value);
  } else {
    return static_cast<T>(static_cast<float>(value));
  }
}

// The lower factor of the matrix whose lower triangle is a(i, j). False if it is not positive
// definite.
template <typename W, typename A>
absl::StatusOr<bool> Factor(const OpView& op, int64_t n, const A& a, std::vector<W>* l) {
  for (int64_t j = 0; j < n; ++j) {
    double pivot = std::real(a(j, j));
    for (int64_t k = 0; k < j; ++k) pivot -= std::norm((*l)[j * n + k]);
    if (!(pivot > 0)) return false;
    const double root = std::sqrt(pivot);
    (*l)[j * n + j] = root;
    for (int64_t i = j + 1; i < n; ++i) {
      HILO_RETURN_IF_ERROR(op.Spend(j));
      W sum = a(i, j);
      for (int64_t k = 0; k < j; ++k) sum -= (*l)[i * n + k] * Conjugate((*l)[j * n + k]);
      (*l)[i * n + j] = sum / root;
    }
  }
  return true;
}

template <typename T>
absl::Status Cholesky(const OpView& op, int64_t n, bool lower, const T* a, T* result) {
  using W = WideNumberOf<T>;
  std::vector<W> l(n * n);
  // u of the upper triangle is the conjugate transpose of l of the mirrored matrix.
  const auto element = [&](int64_t i, int64_t j) {
    return lower ? Widened<W>(a[i * n + j]) : Conjugate(Widened<W>(a[j * n + i]));
  };
  HILO_ASSIGN_OR_RETURN(const bool is_definite, Factor<W>(op, n, element, &l));
  if (!is_definite) l.assign(n * n, W(std::numeric_limits<double>::quiet_NaN()));
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) result[i * n + j] = Narrowed<T>(lower ? l[i * n + j] : Conjugate(l[j * n + i]));
  }
  return absl::OkStatus();
}

// Solves t x = b for `count` columns; t(i, j) is a triangle, b and x are at(i, column).
template <typename W, typename Triangle, typename At>
absl::Status Substitute(const OpView& op, int64_t n, int64_t count, bool lower, const Triangle& t, const At& at) {
  const bool unit_diagonal = op.attrs<TriangularSolveAttrs>().unit_diagonal;
  for (int64_t c = 0; c < count; ++c) {
    for (int64_t step = 0; step < n; ++step) {
      HILO_RETURN_IF_ERROR(op.Spend(step));
      const int64_t i = lower ? step : n - 1 - step;
      W sum = at(i, c);
      for (int64_t j = lower ? 0 : i + 1; j < (lower ? i : n); ++j) sum -= t(i, j) * at(j, c);
      at(i, c) = unit_diagonal ? sum : sum / t(i, i);
    }
  }
  return absl::OkStatus();
}

template <typename T>
absl::Status Solve(const OpView& op, int64_t n, int64_t count, const T* a, const T* b, T* x) {
  const TriangularSolveAttrs& attrs = op.attrs<TriangularSolveAttrs>();
  using W = WideNumberOf<T>;
  std::vector<W> values(n * count);
  for (int64_t i = 0; i < n * count; ++i) values[i] = Widened<W>(b[i]);
  const bool transposed = attrs.transpose_a != TransposeKind::kNoTranspose;
  // x op(a) = b is op(a)^T x^T = b^T.
  const bool reads_transposed = transposed == attrs.left_side;
  const auto t = [&](int64_t i, int64_t j) {
    const W value = Widened<W>(reads_transposed ? a[j * n + i] : a[i * n + j]);
    return attrs.transpose_a == TransposeKind::kAdjoint ? Conjugate(value) : value;
  };
  const auto at = [&](int64_t i, int64_t c) -> W& {
    return attrs.left_side ? values[i * count + c] : values[c * n + i];
  };
  HILO_RETURN_IF_ERROR(Substitute<W>(op, n, count, attrs.lower != reads_transposed, t, at));
  for (int64_t i = 0; i < n * count; ++i) x[i] = Narrowed<T>(values[i]);
  return absl::OkStatus();
}

// Calls f(tag of the element type) for floating-point and complex types.
template <typename F>
absl::Status NumberTypeSwitch(PrimitiveType type, const F& f) {
  return ArrayTypeSwitch(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (is_complex<T> || std::is_floating_point_v<T> || is_small_float<T>) return f(tag);
    return absl::OkStatus();
  });
}

}  // namespace

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kCholesky>(const OpView& op) {
  HILO_RETURN_IF_ERROR(CheckMatrices(op, 0, "a"));       // cholesky_c2
  HILO_RETURN_IF_ERROR(CheckSquare(op, op.operand(0)));  // cholesky_c3
  return WithoutLayouts(op.operand(0));                  // cholesky_c1
}

template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kCholesky>(const OpView& op, const Shape& shape, Operands operands) {
  HILO_ASSIGN_OR_RETURN(Literal result, Literal::Create(shape));
  if (result.element_count() == 0) return result;
  const int64_t n = shape.dimensions(shape.rank() - 1);
  HILO_RETURN_IF_ERROR(NumberTypeSwitch(shape.element_type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    absl::Status status;
    for (int64_t at = 0; at < result.element_count() && status.ok(); at += n * n) {
      status = Cholesky<T>(op, n, op.attrs<CholeskyAttrs>().lower, operands[0]->data<T>().data() + at,
                           result.data<T>().data() + at);
    }
    return status;
  }));
  return result;
}

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kTriangularSolve>(const OpView& op) {
  HILO_RETURN_IF_ERROR(CheckMatrices(op, 0, "a"));  // triangular_solve_c2
  HILO_RETURN_IF_ERROR(CheckMatrices(op, 1, "b"));
  HILO_RETURN_IF_ERROR(CheckSameElementTypes(op));  // triangular_solve_c1
  const TriangularSolveAttrs& attrs = op.attrs<TriangularSolveAttrs>();
  const Shape& a = op.operand(0);
  const Shape& b = op.operand(1);
  HILO_RETURN_IF_ERROR(CheckSquare(op, a));  // triangular_solve_c3
  if (a.rank() != b.rank())
    return InvalidOp(op, "a and b must have equal ranks, got ", a.ToString(), " and ", b.ToString());
  for (int64_t d = 0; d < a.rank() - 2; ++d) {
    if (a.dimensions(d) == b.dimensions(d)) continue;
    return InvalidOp(op, "a and b must have equal batch dimensions, got ", a.ToString(), " and ", b.ToString());
  }
  const int64_t shared = b.rank() - (attrs.left_side ? 2 : 1);
  if (b.dimensions(shared) != a.dimensions(a.rank() - 1)) {
    return InvalidOp(op, "with left_side=", attrs.left_side ? "true" : "false", " dimension ", shared,
                     " of b must be as large as a, got ", a.ToString(), " and ", b.ToString());
  }
  if (attrs.transpose_a == TransposeKind::kInvalid) {
    return InvalidOp(op, "transpose_a must be NO_TRANSPOSE, TRANSPOSE or ADJOINT");
  }
  return WithoutLayouts(b);  // triangular_solve_c4
}

template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kTriangularSolve>(const OpView& op, const Shape& shape, Operands operands) {
  HILO_ASSIGN_OR_RETURN(Literal result, Literal::Create(shape));
  if (result.element_count() == 0) return result;
  const TriangularSolveAttrs& attrs = op.attrs<TriangularSolveAttrs>();
  const Shape& a = operands[0]->shape();
  const int64_t n = a.dimensions(a.rank() - 1);
  const int64_t count = shape.dimensions(shape.rank() - (attrs.left_side ? 1 : 2));
  HILO_RETURN_IF_ERROR(NumberTypeSwitch(shape.element_type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    absl::Status status;
    for (int64_t i = 0; i < result.element_count() / (n * count) && status.ok(); ++i) {
      status = Solve<T>(op, n, count, operands[0]->data<T>().data() + i * n * n,
                        operands[1]->data<T>().data() + i * n * count, result.data<T>().data() + i * n * count);
    }
    return status;
  }));
  return result;
}

}  // namespace hilo
