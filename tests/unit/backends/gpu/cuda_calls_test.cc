// Linear algebra of programs for CUDA: what becomes of the calls, and what is refused. That results are right is
// tests/programs/cuda_calls.
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "backends/gpu/compile/gpu_compiler.h"
#include "backends/gpu/lib/solver.h"
#include "backends/gpu/runtime/gpu_platform.h"
#include "hilo/client.h"
#include "hlo/text/hlo_parser.h"
#include "runtime/runtime_access.h"

namespace hilo::gpu {
namespace {

std::string Call(const std::string& parameter, const std::string& result, const std::string& target,
                 const std::string& config) {
  return absl::StrCat("HloModule m\nENTRY main { a = ", parameter, " parameter(0)  ROOT c = ", result,
                      " custom-call(a), custom_call_target=\"", target,
                      "\", api_version=API_VERSION_TYPED_FFI, backend_config={", config, "} }");
}

absl::StatusOr<std::string> Thunks(const std::string& text, const LibraryThresholds& libraries = {}) {
  auto module = ParseHloModule(text);
  if (!module.ok()) return module.status();
  return CreateGpuCompiler(kEmulatedPlatform, {.kernels = {.library_thresholds = libraries}})
      ->Emit(*std::move(module), {}, "thunks");
}

TEST(CudaCallsTest, LargeMatricesStayOnTheDevice) {
  const auto large = Thunks(Call("f32[256,256]", "(f32[256,256], s32[256], s32[])", "cusolver_getrf_ffi", ""));
  ASSERT_TRUE(large.ok()) << large.status();
  EXPECT_TRUE(absl::StrContains(*large, "solver getrf f32[256,256]")) << *large;
  const auto small = Thunks(Call("f32[2,2]", "(f32[2,2], s32[2], s32[])", "cusolver_getrf_ffi", ""));
  ASSERT_TRUE(small.ok()) << small.status();
  EXPECT_TRUE(absl::StrContains(*small, "host c")) << *small;
  EXPECT_FALSE(absl::StrContains(*small, "solver")) << *small;
  // Jacobi's singular values of a tall matrix are on the device, and of a wide one on the host.
  const auto values = [](const char* m, const char* n) {
    return Thunks(Call(absl::StrCat("f64[", m, ",", n, "]"),
                       absl::StrCat("(f64[", m, ",", n, "], f64[200], f64[", m, ",200], f64[", n, ",200], s32[])"),
                       "cusolver_gesvdj_ffi", "full_matrices = false, compute_uv = true"));
  };
  const auto tall = values("300", "200"), wide = values("200", "300");
  ASSERT_TRUE(tall.ok() && wide.ok()) << tall.status() << wide.status();
  EXPECT_TRUE(absl::StrContains(*tall, "solver gesvd f64[300,200] mode S")) << *tall;
  EXPECT_TRUE(absl::StrContains(*wide, "host ")) << *wide;
}

TEST(CudaCallsTest, BatchesOfFactors) {
  const auto batch = Thunks(Call("f32[3,4,4]", "(f32[3,4,4], s32[3,4], s32[3])", "cublas_getrf_batched_ffi", ""));
  ASSERT_TRUE(batch.ok()) << batch.status();
  EXPECT_TRUE(absl::StrContains(*batch, "host c")) << *batch;
}

TEST(CudaCallsTest, RoutinesByName) {
  EXPECT_EQ(SolverRoutineOf("lapack_sgetrf_ffi"), "getrf");
  EXPECT_EQ(SolverRoutineOf("lapack_zungqr_ffi"), "orgqr");
  EXPECT_EQ(SolverRoutineOf("lapack_cheevd_ffi"), "syevd");
  EXPECT_EQ(SolverRoutineOf("lapack_dgesdd_ffi"), "gesvd");
  for (const char* none : {"lapack_dgeev_ffi", "lapack__ffi", "lapack_ffi", "getrf", "", "lapack_sgetrf"})
    EXPECT_EQ(SolverRoutineOf(none), "") << none;
}

TEST(CudaCallsTest, Refusals) {
  const auto refused = [](const std::string& text) { return std::string(Thunks(text).status().message()); };
  EXPECT_TRUE(absl::StrContains(refused(Call("f32[2,2]", "(f32[2,2], s32[2])", "cusolver_getrf_ffi", "")),
                                "expected 1 operands and 3 results, got 1 and 2"));
  EXPECT_TRUE(absl::StrContains(refused(Call("f32[2]", "(f32[2], s32[])", "cusolver_potrf_ffi", "lower = true")),
                                "expected at least 2 dimensions"));
  EXPECT_TRUE(absl::StrContains(refused(Call("f32[2,2]", "(f32[2,2], s32[])", "cusolver_potrf_ffi", "")),
                                "expected an attribute lower that is true or false"));
  EXPECT_TRUE(absl::StrContains(refused(Call("f32[2,2]", "(f32[2,2], s32[])", "cusolver_potrf_ffi", "lower = 1 : ui8")),
                                "expected an attribute lower"));
  EXPECT_TRUE(absl::StrContains(refused(Call("f32[3,2]", "(f32[3,2], f32[2], f32[3,3], f32[2,3], s32[])",
                                             "cusolver_gesvdj_ffi", "full_matrices = true")),
                                "expected results "));
  EXPECT_TRUE(
      absl::StrContains(refused(Call("(f32[2,2], f32[2])", "(f32[2,2], s32[])", "cusolver_potrf_ffi", "lower = true")),
                        "expected arrays"));
  // A type that LAPACK lacks, and an unknown function.
  EXPECT_TRUE(absl::StrContains(refused(Call("f16[2,2]", "(f16[2,2], s32[2], s32[])", "cusolver_getrf_ffi", "")),
                                "cusolver_getrf_ffi"));
  EXPECT_TRUE(absl::StrContains(refused(Call("f32[2,2]", "f32[2,2]", "cusolver_potrs_ffi", "")), "cusolver_potrs_ffi"));
}

// Exchanges with rows that are not there are left out.
TEST(CudaCallsTest, PermutationOfPivots) {
  auto client = RuntimeAccess::CreateClient({.device_count = 1}, CreateGpuCompiler(kEmulatedPlatform, {}));
  ASSERT_TRUE(client.ok());
  const auto executable = (*client)->CompileHloText(Call("s32[2,3]", "s32[2,5]", "cu_lu_pivots_to_permutation", ""));
  ASSERT_TRUE(executable.ok()) << executable.status();
  const Literal pivots = LiteralUtil::CreateFromArray<int32_t>({2, 4, 2, -1, 7, 3}, {2, 3});
  const auto result = (*executable)->ExecuteLiterals({&pivots});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(*result, LiteralUtil::CreateFromArray<int32_t>({2, 4, 0, 3, 1, 0, 1, 3, 2, 4}, {2, 5}));
}

}  // namespace
}  // namespace hilo::gpu
