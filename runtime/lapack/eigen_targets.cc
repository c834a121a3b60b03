// Eigenvalues, singular values, and the forms on the way to them: syevd, geev, gees, gehrd, sytrd,
// gesdd, gesvd.
#include "runtime/lapack/batch_call.h"

namespace hilo::lapack {
namespace {

template <typename T>
bool AllFinite(const T* data, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    if (!std::isfinite(std::real(data[i])) || !std::isfinite(std::imag(data[i]))) return false;
  }
  return true;
}

// The exponent of the power of two by which a matrix must be divided lest squares of its elements overflow or
// underflow, or 0.
template <typename R>
int ExponentOfScale(const R* a, int64_t elements) {
  constexpr int kHarmless = std::numeric_limits<R>::max_exponent / 4;
  R largest = 0;
  for (int64_t i = 0; i < elements; ++i) largest = std::max(largest, std::abs(a[i]));
  int exponent = 0;
  std::frexp(largest, &exponent);
  return std::abs(exponent) <= kHarmless ? 0 : exponent;
}

// Where the reductions of dense_tridiagonal.inc are faster than the library's. A Zen 5, eigenvectors by the library and
// by these and its stedc, us: f32 10 rows 5 and 5, 16 13 and 11, 64 145 and 118, 256 2,467 and 1,578, 1000 61,998 and
// 41,498; f64 16 14 and 12, 64 200 and 168, 256 4,106 and 2,778.
constexpr Int kMinReducedRows = 10;

// Syevd of real matrices of n rows, whose first result has them.
template <typename R>
absl::Status EigenOfReal(const BatchCall<R>& batch, char mode, bool lower, Int n, ThreadPool* pool) {
  const int64_t elements = int64_t{n} * n;
  HILO_ASSIGN_OR_RETURN(const auto memory, AlignedWork<R>(SymmetricWorkSize<R>(n)));
  HILO_ASSIGN_OR_RETURN(const auto beside, Work<R>(n));
  HILO_ASSIGN_OR_RETURN(const auto taus, Work<R>(n));
  const char vectors = mode == 'V' ? 'I' : 'N';
  const auto solve = [&](int64_t b, R* work, const Int* lwork, Int* iwork, const Int* liwork) {
    CallRoutine(batch.routines().stedc, &vectors, &n, batch.Result(1, b), beside.get(), batch.Result(0, b), &n, work,
                lwork, iwork, liwork, batch.template Result<Int>(2, b), size_t{1});
  };
  R work_size = 0;
  Int liwork = 0;
  const Int query = -1;
  solve(0, &work_size, &query, &liwork, &query);
  const Int lwork = QueriedSize(work_size);
  HILO_ASSIGN_OR_RETURN(const auto work, Work<R>(lwork));
  HILO_ASSIGN_OR_RETURN(const auto iwork, Work<Int>(liwork));
  const LaneKernels<R>& kernels = HostLaneKernels<R>();
  for (int64_t b = 0; b < batch.count(); ++b) {
    R *const a = batch.Result(0, b), *const values = batch.Result(1, b);
    Int* const info = batch.template Result<Int>(2, b);
    for (Int j = 0; j < n; ++j) {  // the other half is not read, and may be anything
      for (Int i = 0; i < j; ++i) (lower ? a[i + int64_t{j} * n] : a[j + int64_t{i} * n]) = 0;
    }
    if (!AllFinite(a, elements)) {
      *info = 1;
      continue;
    }
    const int exponent = ExponentOfScale(a, elements);
    for (int64_t i = 0; exponent != 0 && i < elements; ++i) a[i] = std::ldexp(a[i], -exponent);
    kernels.reduce_symmetric(a, n, lower, values, beside.get(), taus.get(), memory.get(), RunnerOn(pool));
    solve(b, work.get(), &lwork, iwork.get(), &liwork);
    if (mode == 'V') kernels.apply_reduction(a, n, taus.get(), memory.get(), RunnerOn(pool));
    for (Int i = 0; exponent != 0 && i < n; ++i) values[i] = std::ldexp(values[i], exponent);
  }
  return absl::OkStatus();
}

template <typename T>
absl::Status Syevd(const Call& call) {
  using B = BatchCall<T>;
  using R = RealOf<T>;
  HILO_ASSIGN_OR_RETURN(const B batch,
                        B::Create(call, {{B::kNumber, 2}}, {{B::kNumber, 2}, {B::kReal, 1}, {B::kIndex, 0}}));
  HILO_RETURN_IF_ERROR(batch.Start(0, 0));
  HILO_ASSIGN_OR_RETURN(const char mode, batch.Letter("mode", "NV"));
  HILO_ASSIGN_OR_RETURN(const char uplo, batch.Letter("uplo", "LU"));
  const Int n = batch.ResultSize(0, 1), lda = std::max(n, 1);
  HILO_RETURN_IF_ERROR(B::Expect(batch.ResultSize(0, 2) == n && batch.ResultSize(1, 1) == n,
                                 "square matrices and an eigenvalue for each row"));
  if (IsRotatedInLanes(call.batch, n, n, sizeof(R))) {
    HILO_ASSIGN_OR_RETURN(const auto work, AlignedWork<R>(LaneWorkSize(LaneEigenElements(n))));
    Lanes<T>().eigen(Components(batch.Result(0, 0)), n, uplo == 'L', mode == 'V', batch.count(),
                     batch.template Result<R>(1, 0), batch.template Result<Int>(2, 0), work.get());
    return absl::OkStatus();
  }
  if (batch.count() == 0) return absl::OkStatus();
  if constexpr (!kIsComplex<T>) {
    if (n >= kMinReducedRows) return EigenOfReal(batch, mode, uplo == 'L', n, call.thread_pool);
  }
  const auto run = [&](int64_t b, T* work, const Int* lwork, R* rwork, const Int* lrwork, Int* iwork,
                       const Int* liwork) {
    T* a = batch.Result(0, b);
    R* w = batch.template Result<R>(1, b);
    Int* info = batch.template Result<Int>(2, b);
    if constexpr (kIsComplex<T>) {
      CallRoutine(batch.routines().syevd, &mode, &uplo, &n, a, &lda, w, work, lwork, rwork, lrwork, iwork, liwork, info,
                  size_t{1}, size_t{1});
    } else {
      CallRoutine(batch.routines().syevd, &mode, &uplo, &n, a, &lda, w, work, lwork, iwork, liwork, info, size_t{1},
                  size_t{1});
    }
  };
  T work_size = 0;
  R rwork_size = 0;
  Int liwork = -1;
  const Int query = -1;
  run(0, &work_size, &query, &rwork_size, &query, &liwork, &query);
  const Int lwork = QueriedSize(work_size), lrwork = QueriedSize(rwork_size);
  HILO_ASSIGN_OR_RETURN(const auto work, Work<T>(lwork));
  HILO_ASSIGN_OR_RETURN(const auto rwork, Work<R>(lrwork));
  HILO_ASSIGN_OR_RETURN(const auto iwork, Work<Int>(liwork));
  for (int64_t b = 0; b < batch.count(); ++b) run(b, work.get(), &lwork, rwork.get(), &lrwork, iwork.get(), &liwork);
  return absl::OkStatus();
}

// Eigenvectors of a real matrix: a conjugate pair of eigenvalues shares two columns, real and
// imaginary parts.
template <typename R>
void UnpackVectors(Int n, const R* imaginary_eigenvalues, const R* packed, std::complex<R>* vectors) {
  for (Int j = 0; j < n; ++j) {
    const R* column = packed + int64_t{j} * n;
    std::complex<R>* out = vectors + int64_t{j} * n;
    if (imaginary_eigenvalues[j] == 0 || std::isnan(imaginary_eigenvalues[j]) || j + 1 == n) {
      for (Int i = 0; i < n; ++i) out[i] = column[i];
      continue;
    }
    for (Int i = 0; i < n; ++i) {
      out[i] = {column[i], column[n + i]};
      out[n + i] = {column[i], -column[n + i]};
    }
    ++j;
  }
}

// Results of real matrices: real and imaginary parts of the eigenvalues, then complex left and
// right vectors; of complex ones the eigenvalues in one.
template <typename T>
absl::Status Geev(const Call& call) {
  using B = BatchCall<T>;
  using R = RealOf<T>;
  using Part = typename B::Part;
  constexpr int kValues = kIsComplex<T> ? 1 : 2;
  std::vector<Part> parts(kValues, Part{B::kNumber, 1});
  parts.insert(parts.end(), {Part{B::kComplex, 2}, Part{B::kComplex, 2}, Part{B::kIndex, 0}});
  HILO_ASSIGN_OR_RETURN(const B batch, B::Create(call, {{B::kNumber, 2}}, parts));
  HILO_ASSIGN_OR_RETURN(const char left, batch.Letter("compute_left", "NV"));
  HILO_ASSIGN_OR_RETURN(const char right, batch.Letter("compute_right", "NV"));
  const Int n = batch.OperandSize(0, 1), ld = std::max(n, 1);
  bool square = batch.OperandSize(0, 2) == n;
  for (int i = 0; i < kValues + 2; ++i) square = square && batch.ResultSize(i, 1) == n;
  square = square && batch.ResultSize(kValues, 2) == n && batch.ResultSize(kValues + 1, 2) == n;
  HILO_RETURN_IF_ERROR(B::Expect(square, "square matrices, and results of their size"));
  if (batch.count() == 0) return absl::OkStatus();
  const int64_t elements = int64_t{n} * n;
  HILO_ASSIGN_OR_RETURN(const auto a, Work<T>(elements));
  HILO_ASSIGN_OR_RETURN(const auto rwork, Work<R>(kIsComplex<T> ? int64_t{2} * n : 0));
  HILO_ASSIGN_OR_RETURN(const auto packed_left, Work<T>(kIsComplex<T> ? 0 : elements));
  HILO_ASSIGN_OR_RETURN(const auto packed_right, Work<T>(kIsComplex<T> ? 0 : elements));
  const auto run = [&](int64_t b, T* work, const Int* lwork) {
    Int* info = batch.template Result<Int>(kValues + 2, b);
    auto* vl = batch.template Result<std::complex<R>>(kValues, b);
    auto* vr = batch.template Result<std::complex<R>>(kValues + 1, b);
    if constexpr (kIsComplex<T>) {
      CallRoutine(batch.routines().geev, &left, &right, &n, a.get(), &ld, batch.Result(0, b), vl, &ld, vr, &ld, work,
                  lwork, rwork.get(), info, size_t{1}, size_t{1});
    } else {
      R* imaginary = batch.Result(1, b);
      CallRoutine(batch.routines().geev, &left, &right, &n, a.get(), &ld, batch.Result(0, b), imaginary,
                  packed_left.get(), &ld, packed_right.get(), &ld, work, lwork, info, size_t{1}, size_t{1});
      if (*lwork < 0 || *info != 0) return;
      if (left == 'V') UnpackVectors(n, imaginary, packed_left.get(), vl);
      if (right == 'V') UnpackVectors(n, imaginary, packed_right.get(), vr);
    }
  };
  return WithWork<T>(batch.count(), run, [&](int64_t b) {
    // The iteration need not end on infinities and NaN.
    if (!AllFinite(batch.Operand(0, b), elements)) {
      *batch.template Result<Int>(kValues + 2, b) = -5;
      return false;
    }
    std::copy_n(batch.Operand(0, b), elements, a.get());
    return true;
  });
}

// Results: the Schur form, its vectors, eigenvalues as in Geev, the number of those selected, info.
template <typename T>
absl::Status Gees(const Call& call) {
  using B = BatchCall<T>;
  using R = RealOf<T>;
  using Part = typename B::Part;
  constexpr int kValues = kIsComplex<T> ? 1 : 2;
  std::vector<Part> parts = {Part{B::kNumber, 2}, Part{B::kNumber, 2}};
  parts.insert(parts.end(), kValues, Part{B::kNumber, 1});
  parts.insert(parts.end(), {Part{B::kIndex, 0}, Part{B::kIndex, 0}});
  HILO_ASSIGN_OR_RETURN(const B batch, B::Create(call, {{B::kNumber, 2}}, parts));
  HILO_RETURN_IF_ERROR(batch.Start(0, 0));
  HILO_ASSIGN_OR_RETURN(const char mode, batch.Letter("mode", "NV"));
  HILO_ASSIGN_OR_RETURN(const char sort, batch.Letter("sort", "N"));
  const Int n = batch.ResultSize(0, 1), ld = std::max(n, 1);
  bool square = batch.ResultSize(0, 2) == n && batch.ResultSize(1, 2) == n && batch.ResultSize(1, 1) == n &&
                batch.ResultSize(2, 1) == n;
  if (kValues == 2) square = square && batch.ResultSize(3, 1) == n;
  HILO_RETURN_IF_ERROR(B::Expect(square, "square matrices, and results of their size"));
  if (batch.count() == 0) return absl::OkStatus();
  HILO_ASSIGN_OR_RETURN(const auto rwork, Work<R>(kIsComplex<T> ? n : 0));
  const auto run = [&](int64_t b, T* work, const Int* lwork) {
    T* a = batch.Result(0, b);
    T* vs = batch.Result(1, b);
    T* w = batch.Result(2, b);
    Int* selected = batch.template Result<Int>(2 + kValues, b);
    Int* info = batch.template Result<Int>(3 + kValues, b);
    void* select = nullptr;
    Int* bwork = nullptr;
    if constexpr (kIsComplex<T>) {
      CallRoutine(batch.routines().gees, &mode, &sort, select, &n, a, &ld, selected, w, vs, &ld, work, lwork,
                  rwork.get(), bwork, info, size_t{1}, size_t{1});
    } else {
      CallRoutine(batch.routines().gees, &mode, &sort, select, &n, a, &ld, selected, w, batch.Result(3, b), vs, &ld,
                  work, lwork, bwork, info, size_t{1}, size_t{1});
    }
  };
  return WithWork<T>(batch.count(), run, [&](int64_t b) {
    if (!AllFinite(batch.Result(0, b), int64_t{n} * n)) {
      *batch.template Result<Int>(2 + kValues, b) = 0;
      *batch.template Result<Int>(3 + kValues, b) = -5;
      return false;
    }
    return true;
  });
}

template <typename T>
absl::Status Gehrd(const Call& call) {
  using B = BatchCall<T>;
  HILO_ASSIGN_OR_RETURN(const B batch,
                        B::Create(call, {{B::kNumber, 2}}, {{B::kNumber, 2}, {B::kNumber, 1}, {B::kIndex, 0}}));
  HILO_RETURN_IF_ERROR(batch.Start(0, 0));
  HILO_ASSIGN_OR_RETURN(const int64_t low_value, batch.Attribute("low"));
  HILO_ASSIGN_OR_RETURN(const int64_t high_value, batch.Attribute("high"));
  const Int n = batch.ResultSize(0, 1), lda = std::max(n, 1);
  HILO_RETURN_IF_ERROR(B::Expect(batch.ResultSize(0, 2) == n && batch.ResultSize(1, 1) == std::max(n - 1, 0),
                                 "square matrices and a tau less"));
  HILO_RETURN_IF_ERROR(B::Expect(low_value >= 1 && low_value <= std::max(high_value, int64_t{1}) && high_value <= n,
                                 "1 <= low <= high <= n"));
  if (batch.count() == 0) return absl::OkStatus();
  const Int low = static_cast<Int>(low_value), high = static_cast<Int>(high_value);
  const auto run = [&](int64_t b, T* work, const Int* lwork) {
    CallRoutine(batch.routines().gehrd, &n, &low, &high, batch.Result(0, b), &lda, batch.Result(1, b), work, lwork,
                batch.template Result<Int>(2, b));
  };
  return WithWork<T>(batch.count(), run);
}

template <typename T>
absl::Status Sytrd(const Call& call) {
  using B = BatchCall<T>;
  using R = RealOf<T>;
  HILO_ASSIGN_OR_RETURN(const B batch,
                        B::Create(call, {{B::kNumber, 2}},
                                  {{B::kNumber, 2}, {B::kReal, 1}, {B::kReal, 1}, {B::kNumber, 1}, {B::kIndex, 0}}));
  HILO_RETURN_IF_ERROR(batch.Start(0, 0));
  HILO_ASSIGN_OR_RETURN(const char uplo, batch.Letter("uplo", "LU"));
  const Int n = batch.ResultSize(0, 1), lda = std::max(n, 1);
  const Int below = std::max(n - 1, 0);
  HILO_RETURN_IF_ERROR(
      B::Expect(batch.ResultSize(0, 2) == n && batch.ResultSize(1, 1) == n && batch.ResultSize(2, 1) == below &&
                    batch.ResultSize(3, 1) == below,
                "square matrices of n rows, n numbers on the diagonal, n - 1 beside it and n - 1 taus"));
  const auto run = [&](int64_t b, T* work, const Int* lwork) {
    CallRoutine(batch.routines().sytrd, &uplo, &n, batch.Result(0, b), &lda, batch.template Result<R>(1, b),
                batch.template Result<R>(2, b), batch.Result(3, b), work, lwork, batch.template Result<Int>(4, b),
                size_t{1});
  };
  return WithWork<T>(batch.count(), run);
}

// Results: the remains of the matrix, the singular values, U, V^H, info. Mode A: all of U and V,
// S: as many vectors as values, N: none.
template <typename T, bool kDivideAndConquer>
absl::Status SingularValues(const Call& call) {
  using B = BatchCall<T>;
  using R = RealOf<T>;
  HILO_ASSIGN_OR_RETURN(const B batch,
                        B::Create(call, {{B::kNumber, 2}},
                                  {{B::kNumber, 2}, {B::kReal, 1}, {B::kNumber, 2}, {B::kNumber, 2}, {B::kIndex, 0}}));
  HILO_RETURN_IF_ERROR(batch.Start(0, 0));
  HILO_ASSIGN_OR_RETURN(const char mode, batch.Letter("mode", "ASN"));
  const Int m = batch.ResultSize(0, 2), n = batch.ResultSize(0, 1), k = std::min(m, n), lda = std::max(m, 1);
  const Int u_columns = batch.ResultSize(2, 1), v_rows = batch.ResultSize(3, 2), ldu = std::max(m, 1),
            ldv = std::max(v_rows, 1);
  HILO_RETURN_IF_ERROR(
      B::Expect(batch.ResultSize(1, 1) == k, "as many singular values as the smaller size of the matrix"));
  HILO_RETURN_IF_ERROR(B::Expect(mode == 'N' || (batch.ResultSize(2, 2) == m && batch.ResultSize(3, 1) == n &&
                                                 u_columns == (mode == 'A' ? m : k) && v_rows == (mode == 'A' ? n : k)),
                                 "vectors of the matrix's sizes, as many as the mode asks for"));
  if (batch.count() == 0) return absl::OkStatus();
  if (IsRotatedInLanes(call.batch, m, n, sizeof(R))) {
    HILO_ASSIGN_OR_RETURN(const auto work, AlignedWork<R>(LaneWorkSize(LaneSingularElements(m, n))));
    const LaneVectors wanted = mode == 'N' ? LaneVectors::kNone : mode == 'S' ? LaneVectors::kThin : LaneVectors::kFull;
    Lanes<T>().singular(Components(batch.Result(0, 0)), m, n, wanted, batch.count(), batch.template Result<R>(1, 0),
                        Components(batch.Result(2, 0)), Components(batch.Result(3, 0)),
                        batch.template Result<Int>(4, 0), work.get());
    return absl::OkStatus();
  }
  const int64_t small = k, large = std::max(m, n);
  HILO_ASSIGN_OR_RETURN(
      const auto rwork,
      Work<R>(kIsComplex<T> ? std::max(5 * small * small + 7 * small, 2 * large * small + 2 * small * small + small)
                            : 0));
  HILO_ASSIGN_OR_RETURN(const auto iwork, Work<Int>(kDivideAndConquer ? 8 * small : 0));
  const auto run = [&](int64_t b, T* work, const Int* lwork) {
    T* a = batch.Result(0, b);
    R* s = batch.template Result<R>(1, b);
    T* u = batch.Result(2, b);
    T* vt = batch.Result(3, b);
    Int* info = batch.template Result<Int>(4, b);
    const Routines& routines = batch.routines();
    if constexpr (kDivideAndConquer && kIsComplex<T>) {
      CallRoutine(routines.gesdd, &mode, &m, &n, a, &lda, s, u, &ldu, vt, &ldv, work, lwork, rwork.get(), iwork.get(),
                  info, size_t{1});
    } else if constexpr (kDivideAndConquer) {
      CallRoutine(routines.gesdd, &mode, &m, &n, a, &lda, s, u, &ldu, vt, &ldv, work, lwork, iwork.get(), info,
                  size_t{1});
    } else if constexpr (kIsComplex<T>) {
      CallRoutine(routines.gesvd, &mode, &mode, &m, &n, a, &lda, s, u, &ldu, vt, &ldv, work, lwork, rwork.get(), info,
                  size_t{1}, size_t{1});
    } else {
      CallRoutine(routines.gesvd, &mode, &mode, &m, &n, a, &lda, s, u, &ldu, vt, &ldv, work, lwork, info, size_t{1},
                  size_t{1});
    }
  };
  return WithWork<T>(batch.count(), run, [&](int64_t b) {
    if (!AllFinite(batch.Result(0, b), int64_t{m} * n)) {
      *batch.template Result<Int>(4, b) = -4;
      return false;
    }
    return true;
  });
}

template <typename T>
absl::Status Gesdd(const Call& call) {
  return SingularValues<T, true>(call);
}
template <typename T>
absl::Status Gesvd(const Call& call) {
  return SingularValues<T, false>(call);
}

}  // namespace

void AddEigenTargets(std::vector<Target>* targets) {
  HILO_LAPACK_TARGET(targets, "syevd", "heevd", Syevd, 2);
  HILO_LAPACK_TARGET(targets, "geev", "geev", Geev, 2);
  HILO_LAPACK_TARGET(targets, "gees", "gees", Gees, 2);
  HILO_LAPACK_TARGET(targets, "gehrd", "gehrd", Gehrd, 2);
  HILO_LAPACK_TARGET(targets, "sytrd", "hetrd", Sytrd, 2);
  HILO_LAPACK_TARGET(targets, "gesdd", "gesdd", Gesdd, 2);
  HILO_LAPACK_TARGET(targets, "gesvd", "gesvd", Gesvd, 2);
}

}  // namespace hilo::lapack
