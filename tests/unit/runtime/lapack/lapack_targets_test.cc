// LAPACK's custom calls on small batches: the parts that come out make up the matrix that went in.
// Skipped where there is no LAPACK library.
#include "runtime/lapack/lapack_targets.h"

#include <gtest/gtest.h>

#include <complex>
#include <map>
#include <optional>
#include <random>
#include <vector>

#include "runtime/lapack/batch_call.h"

namespace hilo::lapack {
namespace {

Function FindFunction(const std::string& name) {
  for (const Target& target : Targets()) {
    if (target.name == name) return target.function;
  }
  ADD_FAILURE() << "there is no target " << name;
  return nullptr;
}

// A batch of column-major matrices.
template <typename T>
struct Matrices {
  int64_t batch, rows, columns;
  std::vector<T> data;
  std::vector<int64_t> dimensions;

  Matrices(int64_t b, int64_t m, int64_t n) : batch(b), rows(m), columns(n), data(b * m * n), dimensions{b, m, n} {}
  T& operator()(int64_t b, int64_t i, int64_t j) { return data[(b * columns + j) * rows + i]; }
  T operator()(int64_t b, int64_t i, int64_t j) const { return data[(b * columns + j) * rows + i]; }
  Array array() { return {NativeToPrimitiveType<T>(), dimensions, data.data()}; }
};
// A batch of vectors, or of numbers if `n` is -1.
template <typename T>
struct Vectors {
  int64_t n;
  std::vector<T> data;
  std::vector<int64_t> dimensions;
  Vectors(int64_t batch, int64_t size) : n(size), data(batch * std::abs(size)), dimensions{batch} {
    if (size >= 0) dimensions.push_back(size);
  }
  T& operator()(int64_t b, int64_t i = 0) { return data[b * std::abs(n) + i]; }
  Array array() { return {NativeToPrimitiveType<T>(), dimensions, data.data()}; }
};

template <typename T>
Matrices<T> RandomMatrices(int64_t batch, int64_t m, int64_t n, int seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  Matrices<T> a(batch, m, n);
  for (T& x : a.data) {
    if constexpr (kIsComplex<T>) {
      x = T(static_cast<RealOf<T>>(normal(generator)), static_cast<RealOf<T>>(normal(generator)));
    } else {
      x = static_cast<T>(normal(generator));
    }
  }
  return a;
}
template <typename T>
Matrices<T> Product(const Matrices<T>& a, const Matrices<T>& b) {
  Matrices<T> c(a.batch, a.rows, b.columns);
  for (int64_t s = 0; s < a.batch; ++s) {
    for (int64_t i = 0; i < a.rows; ++i) {
      for (int64_t j = 0; j < b.columns; ++j) {
        for (int64_t k = 0; k < a.columns; ++k) c(s, i, j) += a(s, i, k) * b(s, k, j);
      }
    }
  }
  return c;
}
template <typename T>
T ConjugateOf(T x) {
  if constexpr (kIsComplex<T>) {
    return std::conj(x);
  } else {
    return x;
  }
}
template <typename T>
Matrices<T> Transposed(const Matrices<T>& a) {
  Matrices<T> c(a.batch, a.columns, a.rows);
  for (int64_t s = 0; s < a.batch; ++s) {
    for (int64_t i = 0; i < a.rows; ++i) {
      for (int64_t j = 0; j < a.columns; ++j) c(s, j, i) = a(s, i, j);
    }
  }
  return c;
}
template <typename T>
Matrices<T> Adjoint(const Matrices<T>& a) {
  Matrices<T> c = Transposed(a);
  for (T& x : c.data) x = ConjugateOf(x);
  return c;
}
template <typename T>
void ExpectNear(const Matrices<T>& a, const Matrices<T>& b) {
  const double tolerance = sizeof(RealOf<T>) == 4 ? 2e-4 : 1e-11;
  ASSERT_EQ(a.data.size(), b.data.size());
  for (size_t i = 0; i < a.data.size(); ++i) ASSERT_LT(std::abs(a.data[i] - b.data[i]), tolerance) << i;
}
// The part of `a` for which keep(i, j), zeros elsewhere.
template <typename T, typename Keep>
Matrices<T> Part(Matrices<T> a, const Keep& keep) {
  for (int64_t s = 0; s < a.batch; ++s) {
    for (int64_t i = 0; i < a.rows; ++i) {
      for (int64_t j = 0; j < a.columns; ++j) {
        if (!keep(i, j)) a(s, i, j) = 0;
      }
    }
  }
  return a;
}

template <typename T>
class LapackTargetsTest : public ::testing::Test {
 protected:
  using Attributes = std::vector<std::pair<absl::string_view, int64_t>>;

  void SetUp() override {
    if (Library<T>() == nullptr) GTEST_SKIP() << "there is no LAPACK library here";
  }
  static std::string Name(const std::string& real, const std::string& complex) {
    const char letter = kIsComplex<T> ? (sizeof(T) == 8 ? 'c' : 'z') : (sizeof(T) == 4 ? 's' : 'd');
    return std::string("lapack_") + letter + (kIsComplex<T> ? complex : real) + "_ffi";
  }
  static absl::Status Run(const std::string& name, std::vector<Array> operands, std::vector<Array> results,
                          const Attributes& attributes = {}) {
    const Function function = FindFunction(name);
    if (function == nullptr) return absl::InternalError("no target");
    return function({operands, results, attributes});
  }
  static void Must(const std::string& name, std::vector<Array> operands, std::vector<Array> results,
                   const Attributes& attributes = {}) {
    const absl::Status status = Run(name, operands, results, attributes);
    EXPECT_TRUE(status.ok()) << name << ": " << status;
  }
};
using Types = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(LapackTargetsTest, Types);

// What kernels of our own do for real matrices; the library does it for complex ones.
template <typename T>
class RealLapackTargetsTest : public LapackTargetsTest<T> {};
using RealElements = ::testing::Types<float, double>;
TYPED_TEST_SUITE(RealLapackTargetsTest, RealElements);

TYPED_TEST(LapackTargetsTest, Cholesky) {
  using T = TypeParam;
  const Matrices<T> m = RandomMatrices<T>(3, 5, 5, 1);
  Matrices<T> a = Product(m, Adjoint(m));
  Matrices<T> out(3, 5, 5);
  Vectors<int32_t> info(3, -1);
  this->Must(this->Name("potrf", "potrf"), {a.array()}, {out.array(), info.array()}, {{"uplo", 'L'}});
  const Matrices<T> l = Part(out, [](int64_t i, int64_t j) { return i >= j; });
  ExpectNear(Product(l, Adjoint(l)), a);
  for (int64_t b = 0; b < 3; ++b) EXPECT_EQ(info(b), 0);
  a(1, 0, 0) = T(-1);
  this->Must(this->Name("potrf", "potrf"), {a.array()}, {a.array(), info.array()}, {{"uplo", 'U'}});  // in place
  EXPECT_EQ(info(0), 0);
  EXPECT_EQ(info(1), 1);
}

// Of a size that we factor ourselves, and of one that the library does.
TYPED_TEST(LapackTargetsTest, LuAndSolve) {
  using T = TypeParam;
  for (const int64_t n : {4, 12}) {
    Matrices<T> a = RandomMatrices<T>(2, n, n, 2), b = RandomMatrices<T>(2, n, 3, 3), lu(2, n, n), x(2, n, 3);
    Vectors<int32_t> pivots(2, n), info(2, -1);
    this->Must(this->Name("getrf", "getrf"), {a.array()}, {lu.array(), pivots.array(), info.array()});
    Matrices<T> turned = b;
    for (int64_t s = 0; s < 2; ++s) {
      EXPECT_EQ(info(s), 0);
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j < 3; ++j) std::swap(turned(s, i, j), turned(s, pivots(s, i) - 1, j));
      }
    }
    const std::string trsm = this->Name("trsm", "trsm");
    this->Must(trsm, {lu.array(), turned.array()}, {x.array()},
               {{"side", 'L'}, {"uplo", 'L'}, {"trans_x", 'N'}, {"diag", 'U'}});
    this->Must(trsm, {lu.array(), x.array()}, {x.array()},
               {{"side", 'L'}, {"uplo", 'U'}, {"trans_x", 'N'}, {"diag", 'N'}});
    ExpectNear(Product(a, x), b);
  }
}

TYPED_TEST(LapackTargetsTest, LuOfSingularMatrix) {
  using T = TypeParam;
  Matrices<T> a(1, 3, 3);  // the second column is twice the first
  for (int64_t i = 0; i < 3; ++i) {
    a(0, i, 0) = T(1 << i);
    a(0, i, 1) = T(2 << i);
    a(0, i, 2) = T(i);
  }
  Vectors<int32_t> pivots(1, 3), info(1, -1);
  this->Must(this->Name("getrf", "getrf"), {a.array()}, {a.array(), pivots.array(), info.array()});
  EXPECT_EQ(pivots(0, 0), 3);
  EXPECT_EQ(info(0), 2);
}

TYPED_TEST(LapackTargetsTest, TrianglesOfAllKinds) {
  using T = TypeParam;
  for (const auto& [n, count] : std::vector<std::pair<int64_t, int64_t>>{{3, 2}, {11, 2}, {11, 1}, {35, 19}}) {
    Matrices<T> a = RandomMatrices<T>(1, n, n, 8);
    for (T& x : a.data) x /= static_cast<T>(n);  // so that a unit diagonal is large enough too
    for (int64_t i = 0; i < n; ++i) a(0, i, i) = T(3);
    for (const char side : {'L', 'R'}) {
      for (const char uplo : {'L', 'U'}) {
        for (const char trans : {'N', 'T', 'C'}) {
          for (const char diag : {'N', 'U'}) {
            const Matrices<T> b = side == 'L' ? RandomMatrices<T>(1, n, count, 9) : RandomMatrices<T>(1, count, n, 9);
            Matrices<T> x = b;
            this->Must(this->Name("trsm", "trsm"), {a.array(), x.array()}, {x.array()},
                       {{"side", side}, {"uplo", uplo}, {"trans_x", trans}, {"diag", diag}});
            Matrices<T> t = Part(a, [&](int64_t i, int64_t j) { return uplo == 'L' ? i >= j : i <= j; });
            for (int64_t i = 0; diag == 'U' && i < n; ++i) t(0, i, i) = T(1);
            if (trans == 'C') t = Adjoint(t);
            if (trans == 'T') t = Transposed(t);
            ExpectNear(side == 'L' ? Product(t, x) : Product(x, t), b);
          }
        }
      }
    }
  }
}

// Threads share the right-hand sides of one triangle; the bits do not depend on how many there are.
TYPED_TEST(LapackTargetsTest, TrianglesOnThreads) {
  using T = TypeParam;
  constexpr int64_t kSize = 130, kCount = 150;
  Matrices<T> a = RandomMatrices<T>(1, kSize, kSize, 8);
  for (T& x : a.data) x /= T(kSize);
  for (int64_t i = 0; i < kSize; ++i) a(0, i, i) = T(3);
  const Matrices<T> lower = Part(a, [&](int64_t i, int64_t j) { return i >= j; });
  for (const char side : {'L', 'R'}) {
    const Matrices<T> b = side == 'L' ? RandomMatrices<T>(1, kSize, kCount, 9) : RandomMatrices<T>(1, kCount, kSize, 9);
    std::optional<Matrices<T>> first;
    for (const int threads : {1, 2, 8}) {
      const std::unique_ptr<ThreadPool> pool = CreateThreadPool(threads).value();
      Matrices<T> x = b;
      const Array triangle = a.array(), right = x.array();
      const std::vector<std::pair<absl::string_view, int64_t>> letters = {
          {"side", side}, {"uplo", 'L'}, {"trans_x", 'N'}, {"diag", 'N'}};
      ASSERT_TRUE(
          FindFunction(this->Name("trsm", "trsm"))(
              {.operands = {triangle, right}, .results = {right}, .attributes = letters, .thread_pool = pool.get()})
              .ok());
      ExpectNear(side == 'L' ? Product(lower, x) : Product(x, lower), b);
      if (!first.has_value()) first = x;
      EXPECT_EQ(x.data, first->data) << threads << " threads";
    }
  }
}

TYPED_TEST(LapackTargetsTest, Qr) {
  using T = TypeParam;
  Matrices<T> a = RandomMatrices<T>(2, 6, 4, 4), packed(2, 6, 4), q(2, 6, 4), c = RandomMatrices<T>(2, 6, 3, 5),
              back(2, 6, 3);
  Vectors<T> tau(2, 4);
  this->Must(this->Name("geqrf", "geqrf"), {a.array()}, {packed.array(), tau.array()});
  this->Must(this->Name("orgqr", "ungqr"), {packed.array(), tau.array()}, {q.array()});
  Matrices<T> r(2, 4, 4);
  for (int64_t s = 0; s < 2; ++s) {
    for (int64_t i = 0; i < 4; ++i) {
      for (int64_t j = i; j < 4; ++j) r(s, i, j) = packed(s, i, j);
    }
  }
  ExpectNear(Product(q, r), a);
  // Q^H (Q c) is c, for the whole Q.
  const std::string ormqr = this->Name("ormqr", "unmqr");
  this->Must(ormqr, {packed.array(), tau.array(), c.array()}, {back.array()}, {{"left", 1}, {"transpose", 0}});
  this->Must(ormqr, {packed.array(), tau.array(), back.array()}, {back.array()}, {{"left", 1}, {"transpose", 1}});
  ExpectNear(back, c);
}

TYPED_TEST(LapackTargetsTest, PivotedQr) {
  using T = TypeParam;
  Matrices<T> a = RandomMatrices<T>(2, 5, 3, 6), packed(2, 5, 3), q(2, 5, 3);
  Vectors<T> tau(2, 3);
  Vectors<int32_t> free_columns(2, 3), order(2, 3);
  this->Must(this->Name("geqp3", "geqp3"), {a.array(), free_columns.array()},
             {packed.array(), order.array(), tau.array()});
  this->Must(this->Name("orgqr", "ungqr"), {packed.array(), tau.array()}, {q.array()});
  Matrices<T> r(2, 3, 3), permuted(2, 5, 3);
  for (int64_t s = 0; s < 2; ++s) {
    for (int64_t j = 0; j < 3; ++j) {
      for (int64_t i = 0; i <= j; ++i) r(s, i, j) = packed(s, i, j);
      for (int64_t i = 0; i < 5; ++i) permuted(s, i, j) = a(s, i, order(s, j) - 1);
    }
  }
  ExpectNear(Product(q, r), permuted);
}

TYPED_TEST(LapackTargetsTest, HermitianEigenvalues) {
  using T = TypeParam;
  using R = RealOf<T>;
  const Matrices<T> m = RandomMatrices<T>(3, 4, 4, 7);
  Matrices<T> a = Product(m, Adjoint(m)), v(3, 4, 4);
  Vectors<R> w(3, 4);
  Vectors<int32_t> info(3, -1);
  this->Must(this->Name("syevd", "heevd"), {a.array()}, {v.array(), w.array(), info.array()},
             {{"mode", 'V'}, {"uplo", 'U'}});
  Matrices<T> scaled = v;
  for (int64_t s = 0; s < 3; ++s) {
    for (int64_t j = 0; j < 4; ++j) {
      for (int64_t i = 0; i < 4; ++i) scaled(s, i, j) *= w(s, j);
    }
  }
  ExpectNear(Product(a, v), scaled);
}

// Of more rows than lanes take, whose squares may overflow or underflow; the half that is not given is NaN.
TYPED_TEST(LapackTargetsTest, HermitianEigenvaluesOfManyRows) {
  using T = TypeParam;
  using R = RealOf<T>;
  for (const int64_t n : {10, 37}) {
    for (const char uplo : {'L', 'U'}) {
      for (const R size : {R(1), std::numeric_limits<R>::max() / 1000, std::numeric_limits<R>::min() * 1000}) {
        const Matrices<T> m = RandomMatrices<T>(2, n, n, 7);
        Matrices<T> a = m, given(2, n, n), v(2, n, n), rest(2, n, n);
        for (int64_t s = 0; s < 2; ++s) {
          for (int64_t j = 0; j < n; ++j) {
            for (int64_t i = 0; i < n; ++i) {
              a(s, i, j) = (m(s, i, j) + ConjugateOf(m(s, j, i))) / R(2);
              const bool is_given = uplo == 'L' ? i >= j : i <= j;
              given(s, i, j) = is_given ? a(s, i, j) * size : T(std::numeric_limits<R>::quiet_NaN());
            }
          }
        }
        Vectors<R> w(2, n), alone(2, n);
        Vectors<int32_t> info(2, -1);
        for (const char mode : {'V', 'N'}) {
          this->Must(this->Name("syevd", "heevd"), {given.array()},
                     {mode == 'V' ? v.array() : rest.array(), mode == 'V' ? w.array() : alone.array(), info.array()},
                     {{"mode", mode}, {"uplo", uplo}});
          EXPECT_EQ(info(0, 0), 0);
        }
        Matrices<T> scaled = v, one(2, n, n);
        for (int64_t s = 0; s < 2; ++s) {
          for (int64_t j = 0; j < n; ++j) {
            one(s, j, j) = 1;
            EXPECT_NEAR(alone(s, j) / size, w(s, j) / size, 100 * std::numeric_limits<R>::epsilon() * double(n));
            for (int64_t i = 0; i < n; ++i) scaled(s, i, j) *= w(s, j) / size;
          }
        }
        ExpectNear(Product(a, v), scaled);
        ExpectNear(Product(Adjoint(v), v), one);
      }
    }
  }
}

TYPED_TEST(RealLapackTargetsTest, SymmetricMatricesThatAreNotFiniteAreReported) {
  using T = TypeParam;
  Matrices<T> a = RandomMatrices<T>(2, 20, 20, 7), v(2, 20, 20);
  a(0, 12, 3) = std::numeric_limits<T>::infinity();
  Vectors<T> w(2, 20);
  Vectors<int32_t> info(2, -1);
  this->Must(this->Name("syevd", ""), {a.array()}, {v.array(), w.array(), info.array()},
             {{"mode", 'V'}, {"uplo", 'L'}});
  EXPECT_EQ(info(0), 1);
  EXPECT_EQ(info(1), 0);
}

TYPED_TEST(LapackTargetsTest, Eigenvalues) {
  using T = TypeParam;
  using R = RealOf<T>;
  using C = std::complex<R>;
  Matrices<T> a = RandomMatrices<T>(3, 5, 5, 8);
  a(1, 2, 3) = std::numeric_limits<R>::infinity();  // said to have failed, not iterated on
  Matrices<C> left(3, 5, 5), right(3, 5, 5), ac(3, 5, 5);
  std::copy(a.data.begin(), a.data.end(), ac.data.begin());
  Vectors<T> w(3, 5), wi(3, 5);
  Vectors<int32_t> info(3, -1);
  std::vector<Array> results = {w.array()};
  if (!kIsComplex<T>) results.push_back(wi.array());
  for (Array array : {left.array(), right.array(), info.array()}) results.push_back(array);
  this->Must(this->Name("geev", "geev"), {a.array()}, results, {{"compute_left", 'V'}, {"compute_right", 'V'}});
  EXPECT_EQ(info(0), 0);
  EXPECT_NE(info(1), 0);
  Matrices<C> scaled_right = right, scaled_left = left;
  for (int64_t s = 0; s < 3; ++s) {
    for (int64_t j = 0; j < 5; ++j) {
      const C value = kIsComplex<T> ? C(w(s, j)) : C(std::real(w(s, j)), std::real(wi(s, j)));
      for (int64_t i = 0; i < 5; ++i) {
        scaled_right(s, i, j) *= value;
        scaled_left(s, i, j) *= std::conj(value);
      }
    }
  }
  for (Matrices<C>* each : {&scaled_right, &scaled_left, &ac, &right, &left}) {  // without the one that failed
    std::copy_n(each->data.begin() + 50, 25, each->data.begin() + 25);
  }
  ExpectNear(Product(ac, right), scaled_right);
  ExpectNear(Product(Adjoint(ac), left), scaled_left);
}

TYPED_TEST(LapackTargetsTest, Schur) {
  using T = TypeParam;
  Matrices<T> a = RandomMatrices<T>(2, 5, 5, 9), form(2, 5, 5), vectors(2, 5, 5);
  Vectors<T> w(2, 5), wi(2, 5);
  Vectors<int32_t> selected(2, -1), info(2, -1);
  std::vector<Array> results = {form.array(), vectors.array(), w.array()};
  if (!kIsComplex<T>) results.push_back(wi.array());
  results.push_back(selected.array());
  results.push_back(info.array());
  this->Must(this->Name("gees", "gees"), {a.array()}, results, {{"mode", 'V'}, {"sort", 'N'}});
  ExpectNear(Product(Product(vectors, form), Adjoint(vectors)), a);
  ExpectNear(Part(form, [](int64_t i, int64_t j) { return i <= j + (kIsComplex<T> ? 0 : 1); }), form);
}

TYPED_TEST(LapackTargetsTest, HessenbergAndTridiagonal) {
  using T = TypeParam;
  using R = RealOf<T>;
  Matrices<T> a = RandomMatrices<T>(2, 4, 4, 10), h(2, 4, 4);
  Vectors<T> tau(2, 3);
  Vectors<int32_t> info(2, -1);
  this->Must(this->Name("gehrd", "gehrd"), {a.array()}, {h.array(), tau.array(), info.array()},
             {{"low", 1}, {"high", 4}});
  // Similar matrices have equal traces, and of their squares too.
  const Matrices<T> form = Part(h, [](int64_t i, int64_t j) { return i <= j + 1; });
  const auto trace = [](const Matrices<T>& x, int64_t s) { return x(s, 0, 0) + x(s, 1, 1) + x(s, 2, 2) + x(s, 3, 3); };
  const Matrices<T> a2 = Product(a, a), form2 = Product(form, form);
  for (int64_t s = 0; s < 2; ++s) {
    EXPECT_LT(std::abs(trace(a, s) - trace(form, s)), 1e-4);
    EXPECT_LT(std::abs(trace(a2, s) - trace(form2, s)), 1e-4);
  }
  Matrices<T> hermitian = Product(a, Adjoint(a)), packed(2, 4, 4);
  Vectors<R> d(2, 4), e(2, 3);
  this->Must(this->Name("sytrd", "hetrd"), {hermitian.array()},
             {packed.array(), d.array(), e.array(), tau.array(), info.array()}, {{"uplo", 'L'}});
  const Matrices<T> hermitian2 = Product(hermitian, hermitian);
  for (int64_t s = 0; s < 2; ++s) {
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < 4; ++i) {
      sum += d(s, i);
      squares += static_cast<double>(d(s, i)) * d(s, i) + (i < 3 ? 2.0 * e(s, i) * e(s, i) : 0);
    }
    EXPECT_NEAR(sum, std::real(trace(hermitian, s)), 1e-3);
    EXPECT_NEAR(squares, std::real(trace(hermitian2, s)), 1e-3 * squares);
  }
}

TYPED_TEST(LapackTargetsTest, SingularValues) {
  using T = TypeParam;
  using R = RealOf<T>;
  for (const char* routine : {"gesdd", "gesvd"}) {
    for (const auto& [m, n] : std::vector<std::pair<int64_t, int64_t>>{{6, 4}, {3, 5}}) {
      const int64_t k = std::min(m, n);
      Matrices<T> a = RandomMatrices<T>(3, m, n, 11), rest(3, m, n), u(3, m, k), vt(3, k, n), all_u(3, m, m),
                  all_vt(3, n, n);
      Vectors<R> s(3, k), again(3, k);
      Vectors<int32_t> info(3, -1);
      this->Must(this->Name(routine, routine), {a.array()},
                 {rest.array(), s.array(), u.array(), vt.array(), info.array()}, {{"mode", 'S'}});
      Matrices<T> scaled = u;
      for (int64_t b = 0; b < 3; ++b) {
        for (int64_t j = 0; j < k; ++j) {
          for (int64_t i = 0; i < m; ++i) scaled(b, i, j) *= s(b, j);
        }
      }
      ExpectNear(Product(scaled, vt), a);
      this->Must(this->Name(routine, routine), {a.array()},
                 {rest.array(), again.array(), all_u.array(), all_vt.array(), info.array()}, {{"mode", 'A'}});
      Matrices<T> identity(3, m, m);
      for (int64_t b = 0; b < 3; ++b) {
        for (int64_t i = 0; i < m; ++i) identity(b, i, i) = 1;
        for (int64_t i = 0; i < k; ++i) EXPECT_NEAR(again(b, i), s(b, i), 1e-4);
      }
      ExpectNear(Product(all_u, Adjoint(all_u)), identity);
      this->Must(this->Name(routine, routine), {a.array()},
                 {rest.array(), again.array(), all_u.array(), all_vt.array(), info.array()}, {{"mode", 'N'}});
      for (int64_t b = 0; b < 3; ++b) EXPECT_NEAR(again(b, 0), s(b, 0), 1e-4);
    }
  }
}

TYPED_TEST(LapackTargetsTest, Tridiagonal) {
  using T = TypeParam;
  const int64_t n = 5;
  Matrices<T> b = RandomMatrices<T>(2, n, 2, 12), x(2, n, 2), a(2, n, n);
  Vectors<T> lower(2, n), diagonal(2, n), upper(2, n), l(2, n), d(2, n), u(2, n);
  Vectors<int32_t> info(2, -1);
  for (int64_t s = 0; s < 2; ++s) {
    for (int64_t i = 0; i < n; ++i) {
      a(s, i, i) = diagonal(s, i) = T(3 + static_cast<int>(i));
      lower(s, i) = T(1);
      upper(s, i) = T(-2);
      if (i > 0) a(s, i, i - 1) = lower(s, i);
      if (i + 1 < n) a(s, i, i + 1) = upper(s, i);
    }
  }
  this->Must(this->Name("gtsv", "gtsv"), {lower.array(), diagonal.array(), upper.array(), b.array()},
             {l.array(), d.array(), u.array(), x.array(), info.array()});
  ExpectNear(Product(a, x), b);
}

// A singular system has a large solution; one that is not is solved as ever, with exchanged rows.
TEST(PerturbedTridiagonalTest, FiniteResults) {
  const Function solve = FindFunction("tridiagonal_solve_perturbed_ffi");
  ASSERT_NE(solve, nullptr);
  Matrices<float> b(3, 3, 1), x(3, 3, 1);
  Vectors<float> lower(3, 3), diagonal(3, 3), upper(3, 3);
  const float lowers[] = {0, 1, 1}, diagonals[] = {1, 1, 0}, uppers[] = {1, 0, 0};
  for (int64_t i = 0; i < 3; ++i) {
    b(0, i, 0) = static_cast<float>(i + 1);
    lower(0, i) = lowers[i];
    diagonal(0, i) = diagonals[i];
    upper(0, i) = uppers[i];
    b(1, i, 0) = 1;
    diagonal(1, i) = i == 1 ? 0.0f : 2.0f;
    b(2, i, 0) = static_cast<float>(i);
    lower(2, i) = 4;
    diagonal(2, i) = 1;
    upper(2, i) = 2;
  }
  const Array operands[] = {lower.array(), diagonal.array(), upper.array(), b.array()}, results[] = {x.array()};
  ASSERT_TRUE(solve({operands, results, {}}).ok());
  EXPECT_EQ(x.data[0], -2);
  EXPECT_EQ(x.data[1], 3);
  EXPECT_EQ(x.data[2], 8388608);
  EXPECT_EQ(x.data[3], 0.5);
  EXPECT_EQ(x.data[4], 4194304);
  for (int64_t i = 0; i < 3; ++i) {
    const float sum = (i > 0 ? 4 * x(2, i - 1, 0) : 0) + x(2, i, 0) + (i < 2 ? 2 * x(2, i + 1, 0) : 0);
    EXPECT_NEAR(sum, b(2, i, 0), 1e-5);
  }
}

TYPED_TEST(LapackTargetsTest, EmptyArrays) {
  using T = TypeParam;
  Matrices<T> none(0, 3, 3), small(2, 0, 0), out(0, 3, 3), small_out(2, 0, 0);
  Vectors<int32_t> no_info(0, -1), info(2, -1);
  this->Must(this->Name("potrf", "potrf"), {none.array()}, {out.array(), no_info.array()}, {{"uplo", 'L'}});
  this->Must(this->Name("potrf", "potrf"), {small.array()}, {small_out.array(), info.array()}, {{"uplo", 'L'}});
  Vectors<T> tau(2, 0);
  this->Must(this->Name("geqrf", "geqrf"), {small.array()}, {small_out.array(), tau.array()});
}

TYPED_TEST(LapackTargetsTest, WrongCalls) {
  using T = TypeParam;
  Matrices<T> a(2, 3, 3), wide(2, 3, 4), other(1, 3, 3);
  Vectors<int32_t> info(2, -1);
  Vectors<double> numbers(2, -1);
  const std::string name = this->Name("potrf", "potrf");
  const auto code = [&](std::vector<Array> operands, std::vector<Array> results,
                        std::vector<std::pair<absl::string_view, int64_t>> attributes) {
    return this->Run(name, operands, results, attributes).code();
  };
  EXPECT_EQ(code({a.array()}, {a.array(), info.array()}, {}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code({a.array()}, {a.array(), info.array()}, {{"uplo", 'X'}}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code({a.array()}, {a.array()}, {{"uplo", 'L'}}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code({a.array()}, {wide.array(), info.array()}, {{"uplo", 'L'}}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code({wide.array()}, {wide.array(), info.array()}, {{"uplo", 'L'}}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code({a.array()}, {a.array(), numbers.array()}, {{"uplo", 'L'}}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code({other.array()}, {a.array(), info.array()}, {{"uplo", 'L'}}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code({numbers.array()}, {numbers.array(), info.array()}, {{"uplo", 'L'}}),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace hilo::lapack
