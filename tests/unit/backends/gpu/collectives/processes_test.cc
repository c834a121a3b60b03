// Emulated devices of two processes, which are threads of this one: each has its own client, library and devices, and
// nothing of the other but what is sent.
#include <functional>
#include <thread>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "collectives/processes/sockets.h"
#include "hilo/collectives.h"
#include "runtime/runtime_access.h"
#include "tests/unit/backends/gpu/collectives/devices.h"

namespace hilo::gpu {
namespace {

using Kind = CommunicatorFault::Kind;

constexpr char kProgram[] = R"(HloModule program, replica_count=4
f { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY main {
  id = u32[] replica-id()
  x = f32[] convert(id)
  y = f32[4] broadcast(x), dimensions={}
  z = f32[4] all-reduce(y), replica_groups={}, to_apply=f
  p = f32[4] add(y, z)
  q = f32[4] collective-permute(p), source_target_pairs={{0,2},{2,1},{1,3},{3,0}}
  ROOT r = f32[8] all-gather(q), replica_groups={{0,3},{1,2}}, dimensions={0}
})";

class GpuProcessesTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto store = MakeInProcessStore();
    InEach([&](int process) {
      logs_[process] = std::make_shared<CommunicatorLog>();
      GpuCompilerOptions options;
      options.communicators = CreateRecordingLibrary(CreateEmulatedCommunicatorLibrary(), logs_[process]);
      auto client = RuntimeAccess::CreateClient(
          {.device_count = 2,
           .num_threads = 1,
           .processes =
               ProcessGroupOptions{
                   .process_id = process, .process_count = 2, .store = store, .timeout = absl::Seconds(10)}},
          CreateGpuCompiler(kEmulatedPlatform, options));
      ASSERT_TRUE(client.ok()) << client.status();
      clients_[process] = *std::move(client);
      auto executable = clients_[process]->CompileHloText(kProgram, {});
      ASSERT_TRUE(executable.ok()) << executable.status();
      executables_[process] = *std::move(executable);
    });
  }
  // A process that goes waits a little for those that may still need it.
  void TearDown() override {
    InEach([&](int process) {
      executables_[process].reset();
      clients_[process].reset();
    });
  }
  static void InEach(const std::function<void(int process)>& f) {
    std::thread other([&] { f(1); });
    f(0);
    other.join();
  }

  absl::Status Run(int process, absl::Duration deadline = absl::Seconds(30)) {
    const auto outputs = executables_[process]->ExecuteReplicated(std::vector<std::vector<Buffer*>>(2),
                                                                  {.deadline = deadline, .synchronous = true});
    if (!outputs.ok()) return outputs.status();
    for (int device : {0, 1}) {
      const int rank = 2 * process + device;
      const bool is_outer = rank == 0 || rank == 3;  // of the gathering's first group
      const Literal result = *(*outputs)[device][0]->ToLiteral();
      EXPECT_EQ(result.Get<float>({0}), is_outer ? 9 : 8) << rank;
      EXPECT_EQ(result.Get<float>({7}), is_outer ? 7 : 6) << rank;
    }
    return absl::OkStatus();
  }
  void ExpectRuns() {
    InEach([&](int process) {
      const absl::Status status = Run(process);
      EXPECT_TRUE(status.ok()) << status;
    });
  }
  // Of each process, when one device of process 1 is at fault; the run after that is free of it.
  std::vector<absl::Status> Fail(Kind kind, absl::Duration deadline) {
    ExpectRuns();
    logs_[1]->SetFault({.kind = kind, .device = 1, .call = 0});
    std::vector<absl::Status> failures(2);
    InEach([&](int process) { failures[process] = Run(process, deadline); });
    logs_[1]->SetFault({});
    ExpectRuns();
    return failures;
  }

  std::shared_ptr<CommunicatorLog> logs_[2];
  std::unique_ptr<Client> clients_[2];
  std::unique_ptr<Executable> executables_[2];
};

// The unique id of process 0 has come to process 1, and the ranks are those of all devices.
TEST_F(GpuProcessesTest, Ranks_CoverAllProcesses) {
  constexpr int kTargets[] = {2, 3, 1, 0};
  ExpectRuns();
  ExpectRuns();
  for (int process : {0, 1}) {
    for (int device : {0, 1}) {
      const int rank = 2 * process + device;
      const std::vector<std::string> calls = logs_[process]->Take(device);
      ASSERT_GE(calls.size(), 9u);
      EXPECT_EQ(calls[0], absl::StrCat("Create rank ", rank, " of 4"));
      EXPECT_EQ(absl::c_count(calls, calls[0]), 1) << "the communicator is kept";
      EXPECT_EQ(absl::c_count(calls, "AllReduce 4 f32 sum"), 2);
      EXPECT_EQ(absl::c_count(calls, absl::StrCat("Send 16 u8 to ", kTargets[rank])), 2);
      EXPECT_EQ(absl::c_count(calls, "AllGather 16 u8"), 2);
    }
  }
}

TEST_F(GpuProcessesTest, CountsThatDoNotMatchAreAnErrorOfAll) {
  for (const absl::Status& failure : Fail(Kind::kWrongCount, absl::Seconds(20))) {
    EXPECT_EQ(failure.code(), absl::StatusCode::kFailedPrecondition) << failure;
    EXPECT_TRUE(absl::StrContains(failure.message(),
                                  "rank 0 is at all-reduce of 4 f32 by sum, but rank 3 at all-reduce of 3 f32 by sum"))
        << failure;
  }
}

TEST_F(GpuProcessesTest, BrokenRank_EndsTheRunOnAllRanks) {
  for (const absl::Status& failure : Fail(Kind::kAborts, absl::Seconds(20)))
    EXPECT_TRUE(absl::StrContains(failure.message(), "a fault that was asked for")) << failure;
}

TEST_F(GpuProcessesTest, MissingRank_IsAwaitedUntilTheDeadline) {
  const absl::Time before = absl::Now();
  for (const absl::Status& failure : Fail(Kind::kNeverComes, absl::Milliseconds(300))) {
    EXPECT_EQ(failure.code(), absl::StatusCode::kDeadlineExceeded) << failure;
    // Process 0 has queued all that it has to; whichever process is heard first speaks for both.
    const bool names = absl::StrContains(
        failure.message(),
        "all-reduce %z: the run was ended by its deadline while waiting for rank 3 of the group {0,1,2,3}");
    EXPECT_TRUE(names || absl::StrContains(failure.message(), " in other processes")) << failure;
  }
  EXPECT_LT(absl::Now() - before, absl::Seconds(5));
}

TEST_F(GpuProcessesTest, AnotherProgramIsRefused) {
  std::string text(kProgram);
  text.replace(text.find("{{0,3},{1,2}}"), 13, "{{0,1},{3,2}}");
  auto other = clients_[1]->CompileHloText(text, {});
  ASSERT_TRUE(other.ok()) << other.status();
  executables_[1] = *std::move(other);
  InEach([&](int process) {
    const absl::Status status = Run(process);
    EXPECT_TRUE(absl::StrContains(status.message(), "runs another program than rank")) << status;
  });
}

// What a hub hears before it has seen the secret is not believed.
TEST(EmulatedHub, UnknownPeers_AreDisconnected) {
  const auto library = CreateEmulatedCommunicatorLibrary();
  const std::string id = *library->MakeUniqueId();
  const auto endpoint = ParseEndpoint(id.substr(0, id.find(' ')));
  ASSERT_TRUE(endpoint.ok()) << id;
  for (const std::string& words :
       {std::string("GET / HTTP/1.0\r\n\r\n"), std::string(8, '\xff'), std::string("\4\0\0\0\0\0\0\0\1\0\0\0", 12)}) {
    const auto socket = Connect(*endpoint, absl::Now() + absl::Seconds(5));
    ASSERT_TRUE(socket.ok()) << socket.status();
    ASSERT_TRUE(SendAll(*socket, words, absl::Now() + absl::Seconds(5)).ok());
    EXPECT_EQ(ReceiveExactly(*socket, 1, absl::Now() + absl::Seconds(5)).status().code(),
              absl::StatusCode::kUnavailable);
  }
  const auto driver = *OpenGpuDriver(kEmulatedPlatform, 0);
  EXPECT_EQ(library->Create("nonsense", 2, 0, *driver, 0, nullptr).status().code(), absl::StatusCode::kInvalidArgument);
  std::string wrong = id;
  wrong[id.find(' ') + 1] ^= 1;
  EXPECT_EQ(library->Create(wrong, 2, 0, *driver, 0, nullptr).status().code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace hilo::gpu
