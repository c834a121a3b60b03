// Memory of devices: programs keep theirs between runs until it is needed elsewhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "absl/strings/str_cat.h"
#include "backends/gpu/compile/gpu_compiler.h"
#include "backends/gpu/emulated/emulated_driver.h"
#include "backends/gpu/runtime/gpu_devices.h"
#include "backends/gpu/runtime/gpu_platform.h"
#include "hilo/client.h"
#include "hlo/text/hlo_parser.h"
#include "runtime/runtime_access.h"

namespace hilo::gpu {
namespace {

// A client of an emulated device of `bytes` bytes.
std::unique_ptr<Client> ClientOf(int64_t bytes) {
  setenv("HILO_EMULATED", absl::StrCat("memory=", bytes).c_str(), /*overwrite=*/1);
  auto client =
      RuntimeAccess::CreateClient({.device_count = 1}, CreateGpuCompiler(kEmulatedPlatform, {}));  // opens the device
  unsetenv("HILO_EMULATED");
  EXPECT_TRUE(client.ok()) << client.status();
  return *std::move(client);
}

// Has 4 MiB of temporary memory: the products.
std::unique_ptr<Executable> ProgramOf(Client& client, int addend) {
  auto executable = RuntimeAccess::Compile(&client, *ParseHloModule(absl::StrCat(R"(
HloModule sums
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
ENTRY main {
  x = f32[1024,4] parameter(0)
  products = f32[1024,1024] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  start = f32[] constant()",
                                                                                 addend, R"()
  ROOT sums = f32[1024] reduce(products, start), dimensions={0}, to_apply=add
})")));
  EXPECT_TRUE(executable.ok()) << executable.status();
  return *std::move(executable);
}

TEST(GpuMemoryTest, IdlePrograms_ReleaseTheirs) {
  const auto client = ClientOf(10 << 20);
  std::vector<std::unique_ptr<Executable>> programs;
  for (int i = 0; i < 3; ++i) programs.push_back(ProgramOf(*client, i));
  const auto ones =
      *client->BufferFromLiteral(LiteralUtil::CreateFromArray<float>(std::vector<float>(4096, 1.0f), {1024, 4}));
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 3; ++i) {
      const auto outputs = programs[i]->Execute({ones.get()}, {.synchronous = true});
      ASSERT_TRUE(outputs.ok()) << outputs.status();
      const auto result = outputs->front()->ToLiteral();
      ASSERT_TRUE(result.ok()) << result.status();
      EXPECT_EQ(result->Get<float>({7}), 4096.0f + i);
    }
  }
  // So do they for buffers.
  const auto large =
      client->BufferFromLiteral(LiteralUtil::CreateFromArray<float>(std::vector<float>(9 << 18, 2.0f), {9 << 18}));
  ASSERT_TRUE(large.ok()) << large.status();
  EXPECT_EQ((*large)->ToLiteral()->Get<float>({5}), 2.0f);
  // What is in use stays.
  const auto refused = programs[0]->Execute({ones.get()}, {.synchronous = true});
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kResourceExhausted) << refused.status();
}

// Programs that have not run for long leave most of the device to others.
TEST(GpuMemoryTest, IdleMemoryIsBounded) {
  constexpr int64_t kBytes = int64_t{64} << 20, kArena = int64_t{4} << 20;
  setenv("HILO_EMULATED", absl::StrCat("memory=", kBytes).c_str(), /*overwrite=*/1);
  const auto devices = std::make_shared<GpuDevices>(kEmulatedPlatform);
  const auto client =
      RuntimeAccess::CreateClient({.device_count = 1}, CreateGpuCompiler(kEmulatedPlatform, {.devices = devices}));
  unsetenv("HILO_EMULATED");
  ASSERT_TRUE(client.ok()) << client.status();
  const auto ones =
      *(*client)->BufferFromLiteral(LiteralUtil::CreateFromArray<float>(std::vector<float>(4096, 1.0f), {1024, 4}));
  std::vector<std::unique_ptr<Executable>> programs;
  int64_t most_used = 0;
  for (int i = 0; i < 8; ++i) {
    programs.push_back(ProgramOf(**client, i));
    const auto outputs = programs.back()->Execute({ones.get()}, {.synchronous = true});
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    EXPECT_EQ(outputs->front()->ToLiteral()->Get<float>({7}), 4096.0f + i);
    const auto memory = (*devices->Get(0))->MemoryInfo();
    ASSERT_TRUE(memory.ok()) << memory.status();
    most_used = std::max(most_used, memory->total_bytes - memory->free_bytes);
  }
  EXPECT_GE(most_used, 3 * kArena);
  EXPECT_LE(most_used, kBytes / 4 + (int64_t{1} << 20));
}

// A program releases the idle memory of one device also while it is loaded on another one.
TEST(GpuMemoryTest, ProgramsThatAreLoaded_ReleaseTheirs) {
  const auto devices = std::make_shared<GpuDevices>(kEmulatedPlatform);
  std::vector<EmulatedDriver*> drivers;
  for (int i = 0; i < 2; ++i) {
    auto driver = CreateEmulatedDriver({.asynchronous = true, .memory_bytes = 10 << 20});
    ASSERT_TRUE(driver.ok()) << driver.status();
    drivers.push_back(driver->get());
    devices->Use(i, *std::move(driver));
  }
  const auto client =
      RuntimeAccess::CreateClient({.device_count = 2}, CreateGpuCompiler(kEmulatedPlatform, {.devices = devices}));
  ASSERT_TRUE(client.ok()) << client.status();
  // The constant is copied to a device when the program is loaded there.
  std::string weights;
  for (int i = 0; i < 1024; ++i) absl::StrAppend(&weights, i == 0 ? "" : ",", i);
  const auto program = RuntimeAccess::Compile(client->get(), *ParseHloModule(absl::StrCat(R"(
HloModule sums
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
ENTRY main {
  x = f32[1024,4] parameter(0)
  products = f32[1024,1024] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  zero = f32[] constant(0)
  sums = f32[1024] reduce(products, zero), dimensions={0}, to_apply=add
  weights = f32[1024] constant({)",
                                                                                          weights, R"(})
  ROOT weighted = f32[1024] multiply(sums, weights)
})")));
  ASSERT_TRUE(program.ok()) << program.status();
  const Literal ones = LiteralUtil::CreateFromArray<float>(std::vector<float>(4096, 1.0f), {1024, 4});
  const auto first = *(*client)->BufferFromLiteral(ones, 0), second = *(*client)->BufferFromLiteral(ones, 1);
  const auto run = (*program)->Execute({first.get()}, {.device = 0, .synchronous = true});
  ASSERT_TRUE(run.ok()) << run.status();
  drivers[1]->SetPaused(true);
  const auto other = (*program)->Execute({second.get()}, {.device = 1});
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (drivers[1]->PendingCount() == 0 && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  EXPECT_GE(drivers[1]->PendingCount(), 1);
  const auto large =
      (*client)->BufferFromLiteral(LiteralUtil::CreateFromArray<float>(std::vector<float>(9 << 18, 2.0f), {9 << 18}));
  EXPECT_TRUE(large.ok()) << large.status();
  drivers[1]->SetPaused(false);
  ASSERT_TRUE(other.ok()) << other.status();
  for (const auto* outputs : {&*run, &*other}) {
    const auto result = outputs->front()->ToLiteral();
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->Get<float>({7}), 7 * 4096.0f);
  }
}

}  // namespace
}  // namespace hilo::gpu
