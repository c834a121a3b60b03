#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "hilo/client.h"
#include "hilo/collectives.h"

namespace hilo {
namespace {

constexpr char kSum[] = R"(HloModule sum, replica_count=4
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY main { x = f32[] parameter(0)  ROOT y = f32[] all-reduce(x), replica_groups={}, to_apply=add })";
constexpr char kDouble[] = "HloModule double ENTRY main { x = f32[] parameter(0)  ROOT y = f32[] add(x, x) }";

// Clients of two processes with `devices[p]` devices, which are threads of this one.
class ProcessesTest : public testing::Test {
 protected:
  void MakeClients(std::vector<int> devices) {
    const auto store = MakeInProcessStore();
    InEach([&](int process) {
      auto client = Client::Create(
          {.device_count = devices[process],
           .num_threads = 1,
           .processes = ProcessGroupOptions{
               .process_id = process, .process_count = 2, .store = store, .timeout = absl::Seconds(10)}});
      ASSERT_TRUE(client.ok()) << client.status();
      clients_[process] = *std::move(client);
    });
  }
  static void InEach(const std::function<void(int process)>& f) {
    std::thread other([&] { f(1); });
    f(0);
    other.join();
  }
  // The results of the process's devices, whose arguments are 1 + their places.
  absl::StatusOr<std::vector<float>> Run(int process, const CompileOptions& options = {}, int missing = 0) {
    auto executable = clients_[process]->CompileHloText(kSum, options);
    if (!executable.ok()) return executable.status();
    std::vector<std::unique_ptr<Buffer>> buffers;
    std::vector<std::vector<Buffer*>> arguments;
    for (int64_t place : (*executable)->addressable()) {
      const int device =
          static_cast<int>((*executable)->assignment().devices()[place] - clients_[process]->first_device());
      buffers.push_back(*clients_[process]->BufferFromLiteral(
          LiteralUtil::CreateR0<float>(1.0f + static_cast<float>(place)), device));
      arguments.push_back({buffers.back().get()});
    }
    if (missing > 0) arguments[0].clear();
    auto results = (*executable)->ExecuteReplicated(arguments, {.synchronous = true});
    if (!results.ok()) return results.status();
    std::vector<float> values;
    for (const auto& of_device : *results) values.push_back(of_device[0]->ToLiteral()->GetFirstElement<float>());
    return values;
  }

  std::unique_ptr<Client> clients_[2];
};

TEST_F(ProcessesTest, DevicesOfAllProcesses_AreCounted) {
  MakeClients({3, 2});
  for (int process : {0, 1}) {
    EXPECT_EQ(clients_[process]->process_id(), process);
    EXPECT_EQ(clients_[process]->process_count(), 2);
    EXPECT_EQ(clients_[process]->global_device_count(), 5);
    EXPECT_EQ(clients_[process]->device_count(), process == 0 ? 3 : 2);
    EXPECT_EQ(clients_[process]->first_device(), process == 0 ? 0 : 3);
  }
}

TEST_F(ProcessesTest, EachRunsItsOwnDevices) {
  MakeClients({3, 2});
  for (int round = 0; round < 3; ++round) {
    InEach([&](int process) {
      const auto values = Run(process);
      ASSERT_TRUE(values.ok()) << values.status();
      EXPECT_EQ(*values, std::vector<float>(process == 0 ? 3 : 1, 10.0f));
    });
  }
  InEach([&](int process) {  // the same, on devices in another order
    const auto values = Run(process, {.devices = {4, 0, 3, 1}});
    ASSERT_TRUE(values.ok()) << values.status();
    EXPECT_EQ(*values, std::vector<float>(2, 10.0f));
  });
}

// The call of one process returns before the other one makes its own, though a program as short may run in the call.
TEST_F(ProcessesTest, LaunchesDoNotWaitForTheOtherProcess) {
  MakeClients({1, 1});
  std::string text = kSum;
  text.replace(text.find("=4"), 2, "=2");
  std::unique_ptr<Executable> executables[2];
  std::unique_ptr<Buffer> arguments[2];
  for (int process : {0, 1}) {
    auto executable = clients_[process]->CompileHloText(text);
    ASSERT_TRUE(executable.ok()) << executable.status();
    executables[process] = *std::move(executable);
    arguments[process] = *clients_[process]->BufferFromLiteral(LiteralUtil::CreateR0<float>(1.0f), 0);
  }
  for (int round = 0; round < 20; ++round) {
    std::vector<Executable::ReplicatedResults> results;
    for (int process : {round % 2, 1 - round % 2}) {  // one after the other, on one thread
      const std::vector<std::vector<Buffer*>> lists = {{arguments[process].get()}};
      auto launched = executables[process]->ExecuteReplicated(lists, {});
      ASSERT_TRUE(launched.ok()) << launched.status();
      results.push_back(*std::move(launched));
    }
    for (const Executable::ReplicatedResults& result : results) {
      const auto literal = result[0][0]->ToLiteral();
      ASSERT_TRUE(literal.ok()) << literal.status();
      EXPECT_EQ(literal->GetFirstElement<float>(), 2.0f);
    }
  }
}

TEST_F(ProcessesTest, SingleDeviceProgram_RunsWhereItIsCompiled) {
  MakeClients({1, 1});
  const Literal one = LiteralUtil::CreateR0<float>(1);
  auto executable = clients_[1]->CompileHloText(kDouble);
  ASSERT_TRUE(executable.ok()) << executable.status();
  EXPECT_EQ((*executable)->assignment().devices()[0], 1);
  auto result = (*executable)->ExecuteLiterals({&one});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->GetFirstElement<float>(), 2.0f);
}

TEST_F(ProcessesTest, LaunchFailure_ReachesTheOtherProcess) {
  MakeClients({2, 2});
  absl::Status statuses[2];
  InEach([&](int process) { statuses[process] = Run(process, {}, /*missing=*/process).status(); });
  EXPECT_EQ(statuses[1].code(), absl::StatusCode::kInvalidArgument) << statuses[1];
  EXPECT_EQ(statuses[0].code(), absl::StatusCode::kInvalidArgument) << statuses[0];
  EXPECT_TRUE(absl::StrContains(statuses[0].message(), "all-reduce %y (number 1)")) << statuses[0];
  EXPECT_TRUE(absl::StrContains(statuses[0].message(), "the program takes 1 arguments")) << statuses[0];
  InEach([&](int process) { EXPECT_TRUE(Run(process).ok()); });
}

TEST_F(ProcessesTest, UnknownDevice) {
  MakeClients({2, 2});
  EXPECT_EQ(clients_[0]->CompileHloText(kSum, {.devices = {0, 1, 2, 4}}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(clients_[0]->CompileHloText(kSum, {.replica_count = 5}).status().code(),
            absl::StatusCode::kInvalidArgument);
  auto elsewhere = clients_[0]->CompileHloText(kSum, {.replica_count = 2, .devices = {2, 3}});
  ASSERT_TRUE(elsewhere.ok()) << elsewhere.status();
  EXPECT_TRUE((*elsewhere)->addressable().empty());
  EXPECT_EQ((*elsewhere)->ExecuteReplicated({}).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace hilo
