// tridiagonal_solve_perturbed_ffi: tridiagonal systems that may be singular, as inverse iteration
// makes them. A pivot by which a division would overflow is moved by about eps times the largest
// element of U, so that results are large but finite.
#include "runtime/lapack/batch_call.h"

namespace hilo::lapack {
namespace {

// A factor of U has two diagonals above the main one where rows were exchanged.
template <typename T>
struct Diagonals {
  std::unique_ptr<T[]> main, upper, second;
};

template <typename T>
RealOf<T> Size(T x) {
  return std::abs(std::real(x)) + std::abs(std::imag(x));
}

// Elimination with partial pivoting, on the right-hand sides x[columns][n] at once. Returns the
// largest element of U.
template <typename T>
RealOf<T> Eliminate(int64_t n, int64_t columns, const T* lower, Diagonals<T>& u, T* x) {
  for (int64_t i = 0; i + 1 < n; ++i) {
    const T below = lower[i + 1];
    u.second[i] = 0;
    if (Size(u.main[i]) >= Size(below)) {
      const T factor = below == T(0) ? T(0) : below / u.main[i];
      u.main[i + 1] -= factor * u.upper[i];
      for (int64_t c = 0; c < columns; ++c) x[c * n + i + 1] -= factor * x[c * n + i];
      continue;
    }
    const T factor = u.main[i] / below;
    u.main[i] = below;
    const T next = u.main[i + 1];
    u.main[i + 1] = u.upper[i] - factor * next;
    u.upper[i] = next;
    if (i + 2 < n) {
      u.second[i] = u.upper[i + 1];
      u.upper[i + 1] = -factor * u.upper[i + 1];
    }
    for (int64_t c = 0; c < columns; ++c) {
      T* row = x + c * n + i;
      const T first = row[0];
      row[0] = row[1];
      row[1] = first - factor * row[0];
    }
  }
  RealOf<T> largest = 0;
  for (int64_t i = 0; i < n; ++i) {
    largest = std::max({largest, Size(u.main[i]), i + 1 < n ? Size(u.upper[i]) : 0, i + 2 < n ? Size(u.second[i]) : 0});
  }
  return largest;
}

template <typename T>
T PerturbedQuotient(T dividend, T pivot, RealOf<T> step) {
  using R = RealOf<T>;
  const R limit = std::numeric_limits<R>::max() / 4;
  // Ends: the steps double.
  while (pivot == T(0) || (Size(pivot) < 1 && Size(dividend) > Size(pivot) * limit)) {
    pivot += std::real(pivot) < 0 ? -step : step;
    step *= 2;
  }
  return dividend / pivot;
}

template <typename T>
absl::Status Solve(const Call& call) {
  using B = BatchCall<T>;
  using R = RealOf<T>;
  HILO_ASSIGN_OR_RETURN(
      const B batch,
      B::Create(call, {{B::kNumber, 1}, {B::kNumber, 1}, {B::kNumber, 1}, {B::kNumber, 2}}, {{B::kNumber, 2}},
                /*needs_library=*/false));
  HILO_RETURN_IF_ERROR(batch.Start(0, 3));
  const int64_t n = batch.ResultSize(0, 2), columns = batch.ResultSize(0, 1);
  for (int i = 0; i < 3; ++i)
    HILO_RETURN_IF_ERROR(B::Expect(batch.OperandSize(i, 1) == n, "diagonals as long as the right-hand side"));
  Diagonals<T> u;
  HILO_ASSIGN_OR_RETURN(u.main, Work<T>(n));
  HILO_ASSIGN_OR_RETURN(u.upper, Work<T>(n));
  HILO_ASSIGN_OR_RETURN(u.second, Work<T>(n));
  for (int64_t b = 0; b < batch.count() && n > 0; ++b) {
    std::copy_n(batch.Operand(1, b), n, u.main.get());
    std::copy_n(batch.Operand(2, b), n, u.upper.get());
    T* x = batch.Result(0, b);
    const R step = std::max(std::numeric_limits<R>::min(),
                            std::numeric_limits<R>::epsilon() * Eliminate(n, columns, batch.Operand(0, b), u, x));
    for (int64_t c = 0; c < columns; ++c, x += n) {
      for (int64_t i = n - 1; i >= 0; --i) {
        if (i + 1 < n) x[i] -= u.upper[i] * x[i + 1];
        if (i + 2 < n) x[i] -= u.second[i] * x[i + 2];
        x[i] = PerturbedQuotient(x[i], u.main[i], step);
      }
    }
  }
  return absl::OkStatus();
}

absl::Status SolvePerturbed(const Call& call) {
  if (call.operands.empty()) return InvalidArgument("expected 4 operands; got none");
  switch (call.operands[0].type) {
    case F32: return Solve<float>(call);
    case F64: return Solve<double>(call);
    case C64: return Solve<std::complex<float>>(call);
    case C128: return Solve<std::complex<double>>(call);
    default:
      return InvalidArgument("expected operand 0 to be f32, f64, c64 or c128; got ",
                             PrimitiveTypeName(call.operands[0].type));
  }
}

}  // namespace

void AddTridiagonalTarget(std::vector<Target>* targets) {
  AddTarget<&SolvePerturbed, 1>(targets, "tridiagonal_solve_perturbed_ffi");
}

}  // namespace hilo::lapack
