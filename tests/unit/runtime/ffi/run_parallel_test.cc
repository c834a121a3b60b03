// Programs that run a grid of processes and check what these return: StableHLO's interpreter.run_parallel, probes, and
// transfers between the processes.
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

class RunParallelTest : public testing::TestWithParam<const char*> {
 protected:
  // Runs on four devices; the program has one result.
  absl::Status Run(const std::string& program) {
    const absl::StatusOr<XlaComputation> computation = XlaComputationFromStablehlo(program);
    if (!computation.ok()) return computation.status();
    const auto client = *Client::Create({.platform = GetParam(), .device_count = 4});
    const auto executable = client->Compile(*computation);
    if (!executable.ok()) return executable.status();
    const auto results = (*executable)->ExecuteReplicated({{}, {}, {}, {}});
    if (!results.ok()) return results.status();
    for (const auto& of_device : *results) {
      if (const auto result = of_device[0]->ToLiteral(); !result.ok()) return result.status();
    }
    return absl::OkStatus();
  }
};

INSTANTIATE_TEST_SUITE_P(Platforms, RunParallelTest, testing::Values("interpreter", "cpu", "cuda-emulated"),
                         [](const auto& info) {
                           return info.param == std::string("cuda-emulated") ? "emulated" : info.param;
                         });

// Two replicas of two partitions run one function, each on inputs of its own.
std::string Sums(absl::string_view last) {
  return absl::StrCat(R"(module {
  func.func @sums(%x: tensor<2xi64>, %y: tensor<i1>) -> (tensor<2xi64>, tensor<ui32>, tensor<i1>) {
    %s = "stablehlo.all_reduce"(%x) ({
      ^bb0(%a: tensor<i64>, %b: tensor<i64>):
        %c = stablehlo.add %a, %b : tensor<i64>
        stablehlo.return %c : tensor<i64>
    }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xi64>) -> tensor<2xi64>
    %p = stablehlo.partition_id : tensor<ui32>
    return %s, %p, %y : tensor<2xi64>, tensor<ui32>, tensor<i1>
  }
  func.func @main() -> tensor<2xi64> {
    %a = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
    %b = stablehlo.constant dense<[3, 4]> : tensor<2xi64>
    %c = stablehlo.constant dense<[5, 6]> : tensor<2xi64>
    %d = stablehlo.constant dense<[7, 8]> : tensor<2xi64>
    %t = stablehlo.constant dense<true> : tensor<i1>
    %f = stablehlo.constant dense<false> : tensor<i1>
    %r:12 = "interpreter.run_parallel"(%a, %t, %b, %f, %c, %t, %d, %f) {
      programs = [[@sums, @sums], [@sums, @sums]]
    } : (tensor<2xi64>, tensor<i1>, tensor<2xi64>, tensor<i1>, tensor<2xi64>, tensor<i1>, tensor<2xi64>, tensor<i1>)
     -> (tensor<2xi64>, tensor<ui32>, tensor<i1>, tensor<2xi64>, tensor<ui32>, tensor<i1>,
         tensor<2xi64>, tensor<ui32>, tensor<i1>, tensor<2xi64>, tensor<ui32>, tensor<i1>)
    check.expect_eq_const %r#0, dense<[6, 8]> : tensor<2xi64>
    check.expect_eq_const %r#2, dense<true> : tensor<i1>
    check.expect_eq_const %r#3, dense<[10, 12]> : tensor<2xi64>
    check.expect_eq_const %r#4, dense<1> : tensor<ui32>
    check.expect_eq_const %r#6, dense<[6, 8]> : tensor<2xi64>
    check.expect_eq_const %r#7, dense<0> : tensor<ui32>
    check.expect_eq_const %r#9, dense<)",
                      last, R"(> : tensor<2xi64>
    check.expect_eq_const %r#11, dense<false> : tensor<i1>
    func.return %a : tensor<2xi64>
  }
})");
}

TEST_P(RunParallelTest, OneFunction) {
  EXPECT_EQ(Run(Sums("[10, 12]")), absl::OkStatus());
  const absl::Status failed = Run(Sums("[10, 13]"));
  EXPECT_TRUE(absl::StrContains(failed.message(), "first element {1}: expected 13, actual 12")) << failed;
}

// Two replicas run functions of different signatures, one of which sends to the other.
TEST_P(RunParallelTest, SeveralFunctionsAndTransfers) {
  EXPECT_EQ(Run(R"(module {
  func.func public @sender(%x: tensor<2xi64>, %t: !stablehlo.token) -> !stablehlo.token {
    %0 = "stablehlo.send"(%x, %t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
      is_host_transfer = false, source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}>
      : (tensor<2xi64>, !stablehlo.token) -> !stablehlo.token
    return %0 : !stablehlo.token
  }
  func.func public @receiver(%t: !stablehlo.token) -> (tensor<2xi64>, !stablehlo.token, tensor<ui32>) {
    %0:2 = "stablehlo.recv"(%t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
      is_host_transfer = false, source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}>
      : (!stablehlo.token) -> (tensor<2xi64>, !stablehlo.token)
    %1 = stablehlo.replica_id : tensor<ui32>
    return %0#0, %0#1, %1 : tensor<2xi64>, !stablehlo.token, tensor<ui32>
  }
  func.func public @idle() { return }
  func.func public @run() -> tensor<2xi64> {
    %x = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
    %t = stablehlo.after_all : !stablehlo.token
    %r:4 = "interpreter.run_parallel"(%x, %t, %t) {programs = [[@sender], [@receiver], [@idle], [@idle]]}
      : (tensor<2xi64>, !stablehlo.token, !stablehlo.token)
      -> (!stablehlo.token, tensor<2xi64>, !stablehlo.token, tensor<ui32>)
    check.expect_eq_const %r#1, dense<[1, 2]> : tensor<2xi64>
    check.expect_eq_const %r#3, dense<1> : tensor<ui32>
    func.return %x : tensor<2xi64>
  }
})"),
            absl::OkStatus());
}

class InterpreterDialectTest : public testing::Test {
 protected:
  // Operations on %x = [1, 2], beside a function @f that takes such an array and returns it.
  static absl::Status Run(absl::string_view ops) {
    const absl::StatusOr<XlaComputation> computation = XlaComputationFromStablehlo(absl::StrCat(
        R"(func.func @f(%x: tensor<2xi32>) -> tensor<2xi32> { return %x : tensor<2xi32> }
      func.func @main() {
        %x = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
        %y = stablehlo.add %x, %x : tensor<2xi32>
        )",
        ops, "\n func.return }"));
    if (!computation.ok()) return computation.status();
    const auto client = *Client::Create({.platform = "cpu"});
    const auto executable = client->Compile(*computation);
    return executable.ok() ? (*executable)->ExecuteLiterals({}).status() : executable.status();
  }
  static void ExpectFailure(absl::string_view ops, absl::string_view message) {
    const absl::Status status = Run(ops);
    EXPECT_TRUE(!status.ok() && absl::StrContains(status.message(), message)) << status;
  }
};

TEST_F(InterpreterDialectTest, Probes) {
  EXPECT_EQ(Run(R"(%k = interpreter.probe %y, probe_id = "k" : tensor<2xi32>
                   check.expect_serialized_eq %y, probe_id = "k" : tensor<2xi32>
                   "check.expect_serialized_eq"(%k) <{probe_id = "k"}> : (tensor<2xi32>) -> ())"),
            absl::OkStatus());
  ExpectFailure(R"(%k = interpreter.probe %y, probe_id = "k" : tensor<2xi32>
                   check.expect_serialized_eq %x, probe_id = "k" : tensor<2xi32>)",
                "first element {0}: expected 2, actual 1");
  ExpectFailure(R"(check.expect_serialized_eq %x, probe_id = "k" : tensor<2xi32>)", "no probe \"k\" comes before");
  ExpectFailure(R"(%k = interpreter.probe %y, probe_id = "k" : tensor<2xi32>
                   %l = interpreter.probe %y, probe_id = "k" : tensor<2xi32>)",
                "there are two probes \"k\"");
}

TEST_F(InterpreterDialectTest, Prints) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(Run(R"(%p = interpreter.print %y : tensor<2xi32>
                   interpreter.print %y : tensor<2xi32>
                   check.expect_eq_const %p, dense<[2, 4]> : tensor<2xi32>)"),
            absl::OkStatus());
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "s32[2] {2, 4}\ns32[2] {2, 4}\n");
}

TEST_F(InterpreterDialectTest, GridsThatDoNotFit) {
  const auto run = [](absl::string_view inputs, absl::string_view programs, absl::string_view types) {
    return absl::StrCat("%r = \"interpreter.run_parallel\"(", inputs, ") {", programs, "} : (", types,
                        ") -> tensor<2xi32>");
  };
  ExpectFailure(run("%x", "infeed = [@f], programs = [[@f]]", "tensor<2xi32>"), "infeed queues of processes");
  ExpectFailure(run("%x", "", "tensor<2xi32>"), "expected a grid of functions as programs");
  ExpectFailure(run("%x", "programs = [[@g]]", "tensor<2xi32>"), "there is no function @g");
  ExpectFailure(run("%x", "programs = [[@f, @f], [@f]]", "tensor<2xi32>"), "rows of programs of different lengths");
  ExpectFailure(run("%x, %y", "programs = [[@f]]", "tensor<2xi32>, tensor<2xi32>"),
                "the programs do not take 2 inputs and return 1 results together");
}

}  // namespace
}  // namespace hilo
