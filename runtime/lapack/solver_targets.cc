// Factorizations and solutions: potrf, getrf, geqrf, geqp3, orgqr, ormqr, trsm, gtsv.
#include "runtime/lapack/batch_call.h"
#include "runtime/lapack/lane_matrices.h"
#include "runtime/lapack/small_matrices.h"
#include "runtime/lapack/triangle_solve.h"

namespace hilo::lapack {
namespace {

template <typename T>
absl::Status Potrf(const Call& call) {
  using B = BatchCall<T>;
  HILO_ASSIGN_OR_RETURN(const B batch,
                        B::Create(call, {{B::kNumber, 2}}, {{B::kNumber, 2}, {B::kIndex, 0}}, kIsComplex<T>));
  HILO_RETURN_IF_ERROR(batch.Start(0, 0));
  HILO_ASSIGN_OR_RETURN(const char uplo, batch.Letter("uplo", "LU"));
  const Int n = batch.ResultSize(0, 1), lda = std::max(n, 1);
  HILO_RETURN_IF_ERROR(B::Expect(batch.ResultSize(0, 2) == n, "square matrices"));
  if (IsFasterInLanes(call.batch, int64_t{n} * n)) {
    HILO_ASSIGN_OR_RETURN(const auto work, AlignedWork<RealOf<T>>(LaneWorkSize(int64_t{n} * n)));
    Lanes<T>().factor_definite(Components(batch.Result(0, 0)), n, uplo == 'L', batch.count(),
                               batch.template Result<Int>(1, 0), work.get());
    return absl::OkStatus();
  }
  if constexpr (!kIsComplex<T>) {
    if (n <= kSmallMatrix) {
      for (int64_t b = 0; b < batch.count(); ++b)
        *batch.template Result<Int>(1, b) = CholeskySmall(batch.Result(0, b), n, uplo == 'L');
      return absl::OkStatus();
    }
    HILO_ASSIGN_OR_RETURN(const auto work, AlignedWork<T>(DenseWorkSize<T>(n, n)));
    for (int64_t b = 0; b < batch.count(); ++b) {
      HostLaneKernels<T>().factor_definite_dense(batch.Result(0, b), n, uplo == 'L', batch.template Result<Int>(1, b),
                                                 work.get(), RunnerOn(call.thread_pool));
    }
    return absl::OkStatus();
  }
  for (int64_t b = 0; b < batch.count(); ++b) {
    CallRoutine(batch.routines().potrf, &uplo, &n, batch.Result(0, b), &lda, batch.template Result<Int>(1, b),
                size_t{1});
  }
  return absl::OkStatus();
}

template <typename T>
absl::Status Getrf(const Call& call) {
  using B = BatchCall<T>;
  HILO_ASSIGN_OR_RETURN(const B batch, B::Create(call, {{B::kNumber, 2}},
                                                 {{B::kNumber, 2}, {B::kIndex, 1}, {B::kIndex, 0}}, kIsComplex<T>));
  HILO_RETURN_IF_ERROR(batch.Start(0, 0));
  const Int m = batch.ResultSize(0, 2), n = batch.ResultSize(0, 1), lda = std::max(m, 1);
  HILO_RETURN_IF_ERROR(
      B::Expect(batch.ResultSize(1, 1) == std::min(m, n), "as many pivots as the smaller size of the matrix"));
  if (std::max(m, n) <= kLaneMatrix && IsFasterInLanes(call.batch, int64_t{m} * n)) {
    HILO_ASSIGN_OR_RETURN(const auto work, AlignedWork<RealOf<T>>(LaneWorkSize(int64_t{m} * n)));
    Lanes<T>().factor(Components(batch.Result(0, 0)), m, n, batch.count(), batch.template Result<Int>(1, 0),
                      batch.template Result<Int>(2, 0), work.get());
    return absl::OkStatus();
  }
  if constexpr (!kIsComplex<T>) {
    if (m <= kSmallMatrix && n <= kSmallMatrix) {
      for (int64_t b = 0; b < batch.count(); ++b) {
        *batch.template Result<Int>(2, b) = FactorSmall(batch.Result(0, b), m, n, batch.template Result<Int>(1, b));
      }
      return absl::OkStatus();
    }
    HILO_ASSIGN_OR_RETURN(const auto work, AlignedWork<T>(DenseWorkSize<T>(m, n)));
    for (int64_t b = 0; b < batch.count(); ++b) {
      HostLaneKernels<T>().factor_dense(batch.Result(0, b), m, n, batch.template Result<Int>(1, b),
                                        batch.template Result<Int>(2, b), work.get(), RunnerOn(call.thread_pool));
    }
    return absl::OkStatus();
  }
  for (int64_t b = 0; b < batch.count(); ++b) {
    CallRoutine(batch.routines().getrf, &m, &n, batch.Result(0, b), &lda, batch.template Result<Int>(1, b),
                batch.template Result<Int>(2, b));
  }
  return absl::OkStatus();
}

template <typename T>
absl::Status Geqrf(const Call& call) {
  using B = BatchCall<T>;
  HILO_ASSIGN_OR_RETURN(const B batch,
                        B::Create(call, {{B::kNumber, 2}}, {{B::kNumber, 2}, {B::kNumber, 1}}, kIsComplex<T>));
  HILO_RETURN_IF_ERROR(batch.Start(0, 0));
  const Int m = batch.ResultSize(0, 2), n = batch.ResultSize(0, 1), lda = std::max(m, 1);
  HILO_RETURN_IF_ERROR(
      B::Expect(batch.ResultSize(1, 1) == std::min(m, n), "as many taus as the smaller size of the matrix"));
  if (IsReflectedInLanes(call.batch, m, n)) {
    HILO_ASSIGN_OR_RETURN(const auto work, AlignedWork<RealOf<T>>(LaneWorkSize(int64_t{m} * n)));
    Lanes<T>().factor_orthogonal(Components(batch.Result(0, 0)), m, n, batch.count(), Components(batch.Result(1, 0)),
                                 work.get());
    return absl::OkStatus();
  }
  if constexpr (!kIsComplex<T>) {
    HILO_ASSIGN_OR_RETURN(const auto work, AlignedWork<T>(DenseOrthogonalWorkSize<T>(m, n)));
    for (int64_t b = 0; b < batch.count(); ++b) {
      HostLaneKernels<T>().factor_orthogonal_dense(batch.Result(0, b), m, n, batch.Result(1, b), work.get(),
                                                   RunnerOn(call.thread_pool));
    }
    return absl::OkStatus();
  }
  return WithWork<T>(batch.count(), [&](int64_t b, T* work, const Int* lwork) {
    Int info = 0;
    CallRoutine(batch.routines().geqrf, &m, &n, batch.Result(0, b), &lda, batch.Result(1, b), work, lwork, &info);
  });
}

template <typename T>
absl::Status Geqp3(const Call& call) {
  using B = BatchCall<T>;
  HILO_ASSIGN_OR_RETURN(const B batch, B::Create(call, {{B::kNumber, 2}, {B::kIndex, 1}},
                                                 {{B::kNumber, 2}, {B::kIndex, 1}, {B::kNumber, 1}}));
  HILO_RETURN_IF_ERROR(batch.Start(0, 0));
  HILO_RETURN_IF_ERROR(batch.Start(1, 1));
  const Int m = batch.ResultSize(0, 2), n = batch.ResultSize(0, 1), lda = std::max(m, 1);
  HILO_RETURN_IF_ERROR(B::Expect(batch.ResultSize(1, 1) == n, "a column number for each column"));
  HILO_RETURN_IF_ERROR(
      B::Expect(batch.ResultSize(2, 1) == std::min(m, n), "as many taus as the smaller size of the matrix"));
  HILO_ASSIGN_OR_RETURN(const auto rwork, Work<RealOf<T>>(int64_t{2} * n));
  return WithWork<T>(batch.count(), [&](int64_t b, T* work, const Int* lwork) {
    Int info = 0;
    T* a = batch.Result(0, b);
    Int* jpvt = batch.template Result<Int>(1, b);
    T* tau = batch.Result(2, b);
    if constexpr (kIsComplex<T>) {
      CallRoutine(batch.routines().geqp3, &m, &n, a, &lda, jpvt, tau, work, lwork, rwork.get(), &info);
    } else {
      CallRoutine(batch.routines().geqp3, &m, &n, a, &lda, jpvt, tau, work, lwork, &info);
    }
  });
}

template <typename T>
absl::Status Orgqr(const Call& call) {
  using B = BatchCall<T>;
  HILO_ASSIGN_OR_RETURN(const B batch,
                        B::Create(call, {{B::kNumber, 2}, {B::kNumber, 1}}, {{B::kNumber, 2}}, kIsComplex<T>));
  HILO_RETURN_IF_ERROR(batch.Start(0, 0));
  const Int m = batch.ResultSize(0, 2), n = batch.ResultSize(0, 1), k = batch.OperandSize(1, 1), lda = std::max(m, 1);
  HILO_RETURN_IF_ERROR(B::Expect(m >= n && n >= k, "no more reflectors than columns, and no more columns than rows"));
  if (IsReflectedInLanes(call.batch, m, n)) {
    HILO_ASSIGN_OR_RETURN(const auto work, AlignedWork<RealOf<T>>(LaneWorkSize(int64_t{m} * n)));
    Lanes<T>().generate_orthogonal(Components(batch.Result(0, 0)), m, n, k, batch.count(),
                                   Components(batch.Operand(1, 0)), work.get());
    return absl::OkStatus();
  }
  if constexpr (!kIsComplex<T>) {
    HILO_ASSIGN_OR_RETURN(const auto work, AlignedWork<T>(DenseOrthogonalWorkSize<T>(m, n)));
    for (int64_t b = 0; b < batch.count(); ++b) {
      HostLaneKernels<T>().generate_orthogonal_dense(batch.Result(0, b), m, n, k, batch.Operand(1, b), work.get(),
                                                     RunnerOn(call.thread_pool));
    }
    return absl::OkStatus();
  }
  return WithWork<T>(batch.count(), [&](int64_t b, T* work, const Int* lwork) {
    Int info = 0;
    CallRoutine(batch.routines().orgqr, &m, &n, &k, batch.Result(0, b), &lda, batch.Operand(1, b), work, lwork, &info);
  });
}

template <typename T>
absl::Status Ormqr(const Call& call) {
  using B = BatchCall<T>;
  HILO_ASSIGN_OR_RETURN(const B batch,
                        B::Create(call, {{B::kNumber, 2}, {B::kNumber, 1}, {B::kNumber, 2}}, {{B::kNumber, 2}}));
  HILO_RETURN_IF_ERROR(batch.Start(0, 2));
  HILO_ASSIGN_OR_RETURN(const int64_t left, batch.Attribute("left"));
  HILO_ASSIGN_OR_RETURN(const int64_t transpose, batch.Attribute("transpose"));
  const char side = left != 0 ? 'L' : 'R', trans = transpose == 0 ? 'N' : kIsComplex<T> ? 'C' : 'T';
  const Int m = batch.ResultSize(0, 2), n = batch.ResultSize(0, 1), k = batch.OperandSize(1, 1);
  const Int rows = batch.OperandSize(0, 2), lda = std::max(rows, 1), ldc = std::max(m, 1);
  HILO_RETURN_IF_ERROR(B::Expect(rows == (left != 0 ? m : n) && batch.OperandSize(0, 1) >= k && k <= rows,
                                 "reflectors as long as the matrix that they are applied to, and no more of them"));
  return WithWork<T>(batch.count(), [&](int64_t b, T* work, const Int* lwork) {
    Int info = 0;
    CallRoutine(batch.routines().ormqr, &side, &trans, &m, &n, &k, batch.Operand(0, b), &lda, batch.Operand(1, b),
                batch.Result(0, b), &ldc, work, lwork, &info, size_t{1}, size_t{1});
  });
}

template <typename T>
absl::Status Trsm(const Call& call) {
  using B = BatchCall<T>;
  HILO_ASSIGN_OR_RETURN(const B batch, B::Create(call, {{B::kNumber, 2}, {B::kNumber, 2}}, {{B::kNumber, 2}}));
  HILO_RETURN_IF_ERROR(batch.Start(0, 1));
  HILO_ASSIGN_OR_RETURN(const char side, batch.Letter("side", "LR"));
  HILO_ASSIGN_OR_RETURN(const char uplo, batch.Letter("uplo", "LU"));
  HILO_ASSIGN_OR_RETURN(const char trans, batch.Letter("trans_x", "NTC"));
  HILO_ASSIGN_OR_RETURN(const char diag, batch.Letter("diag", "NU"));
  const Int m = batch.ResultSize(0, 2), n = batch.ResultSize(0, 1), size = batch.OperandSize(0, 1);
  const Int lda = std::max(size, 1), ldb = std::max(m, 1);
  HILO_RETURN_IF_ERROR(B::Expect(batch.OperandSize(0, 2) == size && size == (side == 'L' ? m : n),
                                 "triangles as large as what they are applied to"));
  const int64_t elements = int64_t{size} * size + int64_t{m} * n;
  if (IsFasterInLanes(call.batch, elements)) {
    HILO_ASSIGN_OR_RETURN(const auto work, AlignedWork<RealOf<T>>(LaneWorkSize(elements)));
    const LaneTriangles triangles = {.size = size,
                                     .left = side == 'L',
                                     .lower = uplo == 'L',
                                     .unit_diagonal = diag == 'U',
                                     .transposed = trans != 'N',
                                     .conjugated = trans == 'C'};
    Lanes<T>().solve(triangles, Components(batch.Operand(0, 0)), m, n, batch.count(), Components(batch.Result(0, 0)),
                     work.get());
    return absl::OkStatus();
  }
  if constexpr (!kIsComplex<T>) {
    if (m <= kSmallMatrix && n <= kSmallMatrix) {
      const bool left = side == 'L', flipped = (trans != 'N') == left;
      for (int64_t b = 0; b < batch.count(); ++b) {
        SolveSmallTriangles(batch.Operand(0, b), m, n, left, flipped, (uplo == 'L') != flipped, diag == 'U',
                            batch.Result(0, b));
      }
      return absl::OkStatus();
    }
  }
  for (int64_t b = 0; b < batch.count(); ++b) {
    HILO_RETURN_IF_ERROR(SolveTriangle({side, uplo, trans, diag}, m, n, batch.Operand(0, b), lda, batch.Result(0, b),
                                       ldb, call.thread_pool));
  }
  return absl::OkStatus();
}

// Of the lower diagonal the first number does not count, of the upper one the last.
template <typename T>
absl::Status Gtsv(const Call& call) {
  using B = BatchCall<T>;
  HILO_ASSIGN_OR_RETURN(
      const B batch, B::Create(call, {{B::kNumber, 1}, {B::kNumber, 1}, {B::kNumber, 1}, {B::kNumber, 2}},
                               {{B::kNumber, 1}, {B::kNumber, 1}, {B::kNumber, 1}, {B::kNumber, 2}, {B::kIndex, 0}}));
  for (int i = 0; i < 4; ++i) HILO_RETURN_IF_ERROR(batch.Start(i, i));
  const Int n = batch.ResultSize(3, 2), columns = batch.ResultSize(3, 1), ldb = std::max(n, 1);
  for (int i = 0; i < 3; ++i)
    HILO_RETURN_IF_ERROR(B::Expect(batch.ResultSize(i, 1) == n, "diagonals as long as the right-hand side"));
  for (int64_t b = 0; b < batch.count(); ++b) {
    CallRoutine(batch.routines().gtsv, &n, &columns, batch.Result(0, b) + (n > 0 ? 1 : 0), batch.Result(1, b),
                batch.Result(2, b), batch.Result(3, b), &ldb, batch.template Result<Int>(4, b));
  }
  return absl::OkStatus();
}

}  // namespace

void AddSolverTargets(std::vector<Target>* targets) {
  HILO_LAPACK_TARGET(targets, "potrf", "potrf", Potrf, 2);
  HILO_LAPACK_TARGET(targets, "getrf", "getrf", Getrf, 2);
  HILO_LAPACK_TARGET(targets, "geqrf", "geqrf", Geqrf, 2);
  HILO_LAPACK_TARGET(targets, "geqp3", "geqp3", Geqp3, 2);
  HILO_LAPACK_TARGET(targets, "orgqr", "ungqr", Orgqr, 2);
  HILO_LAPACK_TARGET(targets, "ormqr", "unmqr", Ormqr, 2);
  HILO_LAPACK_TARGET(targets, "trsm", "trsm", Trsm, 2);
  HILO_LAPACK_TARGET(targets, "gtsv", "gtsv", Gtsv, 1);
}

}  // namespace hilo::lapack
