// The built-in targets check.*, and StableHLO's dialect check, whose operations become calls of them.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "hilo/client.h"
#include "hilo/executable.h"
#include "hilo/module.h"

namespace hilo {
namespace {

class CheckCallTest : public testing::TestWithParam<const char*> {
 protected:
  CheckCallTest() : client_(*Client::Create({.platform = GetParam()})) {}

  absl::Status Run(const std::string& program) {
    const absl::StatusOr<XlaComputation> computation = XlaComputationFromStablehlo(program);
    if (!computation.ok()) return computation.status();
    const auto executable = client_->Compile(*computation);
    if (!executable.ok()) return executable.status();
    return (*executable)->ExecuteLiterals({}).status();
  }
  // Runs operations on %x = [1.5, -0, nan, inf] and %i = [1, 2].
  absl::Status RunOps(absl::string_view ops) {
    return Run(absl::StrCat(R"(func.func @main() {
      %x = stablehlo.constant dense<[1.5, -0.0, 0x7FC00000, 0x7F800000]> : tensor<4xf32>
      %i = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
      )",
                            ops, "\n func.return }"));
  }
  void ExpectFailure(absl::string_view ops, absl::string_view message) {
    const absl::Status status = RunOps(ops);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << ops;
    EXPECT_TRUE(absl::StrContains(status.message(), message)) << status;
  }

  std::unique_ptr<Client> client_;
};

INSTANTIATE_TEST_SUITE_P(Platforms, CheckCallTest, testing::Values("interpreter", "cpu", "cuda-emulated"),
                         [](const auto& info) {
                           return info.param == std::string("cuda-emulated") ? "emulated" : info.param;
                         });

TEST_P(CheckCallTest, ChecksThatHold) {
  EXPECT_EQ(RunOps("check.expect_eq %x, %x : tensor<4xf32>"), absl::OkStatus());
  EXPECT_EQ(RunOps("check.expect_eq_const %i, dense<[1, 2]> : tensor<2xi32>"), absl::OkStatus());
  EXPECT_EQ(RunOps("check.expect_eq_const %x, dense<[1.5, 0.0, 0x7FC00001, 0x7F800000]> : tensor<4xf32>"),
            absl::OkStatus());
  EXPECT_EQ(
      RunOps("check.expect_almost_eq_const %x, dense<[1.50005, 0.00005, 0x7FC00000, 0x7F800000]> : tensor<4xf32>"),
      absl::OkStatus());
  EXPECT_EQ(RunOps("check.expect_almost_eq_const %x, dense<[2.0, 0.0, 0x7FC00000, 0x7F800000]> : tensor<4xf32>, "
                   "tolerance = 0.5"),
            absl::OkStatus());
  EXPECT_EQ(RunOps("check.expect_almost_eq %x, %x, tolerance = 1 : f64 : tensor<4xf32>"), absl::OkStatus());
  EXPECT_EQ(RunOps("check.expect_close %x, %x, max_ulp_difference = 3, min_ulp_difference = 0 : tensor<4xf32>, "
                   "tensor<4xf32>"),
            absl::OkStatus());
  EXPECT_EQ(
      RunOps("\"check.expect_close\"(%x, %x) {max_ulp_difference = 4 : ui64} : (tensor<4xf32>, tensor<4xf32>) -> ()"),
      absl::OkStatus());
  EXPECT_EQ(RunOps("%e = stablehlo.constant dense<> : tensor<0xf32>\n check.expect_eq %e, %e : tensor<0xf32>"),
            absl::OkStatus());
  EXPECT_EQ(RunOps("%r = stablehlo.custom_call @check.eq(%i, %i) : (tensor<2xi32>, tensor<2xi32>) -> tensor<i1>\n"
                   "check.expect_eq_const %r, dense<true> : tensor<i1>"),
            absl::OkStatus());
}

TEST_P(CheckCallTest, ChecksThatFail) {
  ExpectFailure(
      "check.expect_eq_const %i, dense<[1, 3]> : tensor<2xi32>",
      "custom call check.expect_eq: 1 of 2 elements of s32[2] differ; first element {1}: expected 3, actual 2");
  ExpectFailure("check.expect_almost_eq_const %x, dense<[1.502, 0.0, 0x7FC00000, 0x7F800000]> : tensor<4xf32>",
                "first element {0}: expected 1.502, actual 1.5");
  ExpectFailure("check.expect_eq_const %x, dense<[1.5, 0.0, 0x7F800000, 0x7F800000]> : tensor<4xf32>",
                "first element {2}: expected inf, actual nan");
}

// Three units in the last place of 1.5 are 3.6e-7.
TEST_P(CheckCallTest, CloseIsThreeUlpsInCustomCalls) {
  const auto close_to = [](absl::string_view number) {
    return absl::StrCat("%y = stablehlo.constant dense<[", number,
                        ", 0.0, 0x7FC00000, 0x7F800000]> : tensor<4xf32>\n stablehlo.custom_call "
                        "@check.expect_close(%x, %y) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> ()");
  };
  EXPECT_EQ(RunOps(close_to("1.50000035")), absl::OkStatus());
  ExpectFailure(close_to("1.5000005"), "4 ulps apart");
}

TEST_P(CheckCallTest, WrongUses) {
  ExpectFailure("stablehlo.custom_call @check.expect_eq(%x, %i) : (tensor<4xf32>, tensor<2xi32>) -> ()",
                "expected two arrays of the same shape, got (f32[4], s32[2])");
  ExpectFailure("stablehlo.custom_call @check.expect_close(%i, %i) : (tensor<2xi32>, tensor<2xi32>) -> ()",
                "expected floating-point or complex numbers, got s32[2]");
  ExpectFailure("%r = stablehlo.custom_call @check.expect_eq(%i, %i) : (tensor<2xi32>, tensor<2xi32>) -> tensor<i1>",
                "expected no result; got pred[]");
  ExpectFailure("check.expect_almost_eq %x, %x, tolerance = -1.0 : tensor<4xf32>",
                "expected tolerance, f64 and not negative; got tolerance");
  ExpectFailure("check.expect_almost_eq %x, %x, tolerance = : tensor<4xf32>", "expected a number");
  ExpectFailure(
      "stablehlo.custom_call @check.expect_eq(%i, %i) {backend_config = {a = 1 : i64}} : (tensor<2xi32>, "
      "tensor<2xi32>) -> ()",
      "expected no attributes, got a");
  EXPECT_EQ(RunOps("check.expect_close %x, %x, max_ulp_difference = 3, min_ulp_difference = 1 : tensor<4xf32>, "
                   "tensor<4xf32>")
                .code(),
            absl::StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace hilo
