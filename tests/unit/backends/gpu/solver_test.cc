// Linear algebra by the library: what is refused, and on every device that is there the results.
#include "backends/gpu/lib/solver.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/gpu_device_test.h"

namespace hilo::gpu {
namespace {

class GpuSolverTest : public GpuDeviceTest {
 protected:
  void SetUp() override {
    GpuDeviceTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    const absl::Status there = CheckSolver(device_, "potrf", F64);
    if (absl::IsUnavailable(there)) GTEST_SKIP() << there;
  }
  SolverArray ToDevice(std::vector<int64_t> dimensions, const std::vector<double>& values) {
    SolverArray array{.type = F64, .dimensions = std::move(dimensions)};
    EXPECT_EQ(array.bytes(), BytesOf(values));
    array.data = GpuDeviceTest::ToDevice(values);
    return array;
  }
  SolverArray Empty(PrimitiveType type, std::vector<int64_t> dimensions) {
    SolverArray array{.type = type, .dimensions = std::move(dimensions)};
    array.data = *driver_->Allocate(array.bytes());
    return array;
  }
  template <typename T>
  std::vector<T> ToHost(const SolverArray& array) {
    return GpuDeviceTest::ToHost(static_cast<const T*>(array.data), array.bytes() / sizeof(T));
  }
  absl::Status Run(const SolverCall& call) {
    const absl::Status queued = RunSolver(stream_.get(), call);
    return queued.ok() ? stream_->Synchronize() : queued;
  }
};

TEST_P(GpuSolverTest, Refusals) {
  const SolverArray a = ToDevice({2, 2}, {4, 2, 2, 3}), info = Empty(S32, {});
  const SolverCall good{.routine = "potrf", .operands = {a}, .results = {a, info}, .attributes = {{"uplo", 'L'}}};
  EXPECT_TRUE(Run(good).ok());
  const auto refused = [&](auto change) {
    SolverCall call = good;
    change(call);
    return RunSolver(stream_.get(), call).code();
  };
  EXPECT_EQ(refused([](SolverCall& c) { c.routine = "potrs"; }), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(refused([](SolverCall& c) { c.operands[0].type = F16; }), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(refused([](SolverCall& c) { c.operands.clear(); }), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(refused([](SolverCall& c) { c.results.pop_back(); }), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(refused([](SolverCall& c) { c.results[0].data = nullptr; }), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(refused([](SolverCall& c) { c.operands[0].dimensions = {2, 2, 2}; }), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(refused([](SolverCall& c) { c.operands[0].dimensions = {4}; }), absl::StatusCode::kInvalidArgument);
}

// A batch of two, of which the second has no factor. Columns: a = [4 2; 2 3].
TEST_P(GpuSolverTest, Cholesky) {
  const SolverArray a = ToDevice({2, 2, 2}, {4, 2, 2, 3, -1, 0, 0, 1}), info = Empty(S32, {2}),
                    l = Empty(F64, {2, 2, 2});
  ASSERT_TRUE(Run({.routine = "potrf", .operands = {a}, .results = {l, info}, .attributes = {{"uplo", 'L'}}}).ok());
  const std::vector<double> factor = ToHost<double>(l);
  EXPECT_NEAR(factor[0], 2, 1e-12);
  EXPECT_NEAR(factor[1], 1, 1e-12);
  EXPECT_NEAR(factor[3], std::sqrt(2.0), 1e-12);
  EXPECT_EQ(ToHost<int32_t>(info), std::vector<int32_t>({0, 1}));
  EXPECT_EQ(ToHost<double>(a)[0], 4);  // operands stay
}

TEST_P(GpuSolverTest, TriangularSystem) {
  // [2 0; 1 4] x = (2, 9)
  const SolverArray a = ToDevice({2, 2}, {2, 1, 0, 4}), b = ToDevice({2, 1}, {2, 9});
  ASSERT_TRUE(Run({.routine = "trsm",
                   .operands = {a, b},
                   .results = {b},
                   .attributes = {{"side", 'L'}, {"uplo", 'L'}, {"trans_x", 'N'}, {"diag", 'N'}}})
                  .ok());
  EXPECT_EQ(ToHost<double>(b), std::vector<double>({1, 2}));
}

TEST_P(GpuSolverTest, FactorsWithPivots) {
  const SolverArray a = ToDevice({2, 2}, {1, 4, 2, 2}), pivots = Empty(S32, {2}), info = Empty(S32, {});
  ASSERT_TRUE(Run({.routine = "getrf", .operands = {a}, .results = {a, pivots, info}}).ok());
  EXPECT_EQ(ToHost<int32_t>(pivots), std::vector<int32_t>({2, 2}));
  EXPECT_EQ(ToHost<double>(a), std::vector<double>({4, 0.25, 2, 1.5}));
}

TEST_P(GpuSolverTest, OrthogonalFactor) {
  const SolverArray a = ToDevice({3, 2}, {3, 4, 0, 1, 2, 2}), taus = Empty(F64, {2});
  ASSERT_TRUE(Run({.routine = "geqrf", .operands = {a}, .results = {a, taus}}).ok());
  const std::vector<double> r = ToHost<double>(a);
  EXPECT_NEAR(std::abs(r[0]), 5, 1e-12);
  const SolverArray c = ToDevice({3, 2}, {3, 4, 0, 1, 2, 2});
  ASSERT_TRUE(
      Run({.routine = "ormqr", .operands = {a, taus, c}, .results = {c}, .attributes = {{"left", 1}, {"transpose", 1}}})
          .ok());
  const std::vector<double> upper = ToHost<double>(c);
  EXPECT_NEAR(upper[0], r[0], 1e-12);
  EXPECT_NEAR(upper[1], 0, 1e-12);
  EXPECT_NEAR(upper[4], r[4], 1e-12);
  ASSERT_TRUE(Run({.routine = "orgqr", .operands = {a, taus}, .results = {a}}).ok());
  const std::vector<double> q = ToHost<double>(a);
  EXPECT_NEAR(q[0] * q[3] + q[1] * q[4] + q[2] * q[5], 0, 1e-12);
  EXPECT_NEAR(q[3] * q[3] + q[4] * q[4] + q[5] * q[5], 1, 1e-12);
}

TEST_P(GpuSolverTest, EigenAndSingularValues) {
  const SolverArray a = ToDevice({2, 2}, {2, 1, 1, 2}), w = Empty(F64, {2}), info = Empty(S32, {});
  ASSERT_TRUE(
      Run({.routine = "syevd", .operands = {a}, .results = {a, w, info}, .attributes = {{"mode", 'V'}, {"uplo", 'L'}}})
          .ok());
  const std::vector<double> values = ToHost<double>(w);
  EXPECT_NEAR(values[0], 1, 1e-12);
  EXPECT_NEAR(values[1], 3, 1e-12);
  const SolverArray x = ToDevice({3, 2}, {3, 0, 0, 0, 4, 0}), s = Empty(F64, {2}), u = Empty(F64, {3, 3}),
                    vt = Empty(F64, {2, 2});
  ASSERT_TRUE(
      Run({.routine = "gesvd", .operands = {x}, .results = {x, s, u, vt, info}, .attributes = {{"mode", 'A'}}}).ok());
  EXPECT_EQ(ToHost<double>(s), std::vector<double>({4, 3}));
  EXPECT_EQ(ToHost<int32_t>(info), std::vector<int32_t>({0}));
}

HILO_TEST_ON_GPUS(GpuSolverTest);

}  // namespace
}  // namespace hilo::gpu
