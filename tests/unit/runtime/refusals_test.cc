// What clients, executables and buffers refuse of their callers.
#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "hilo/client.h"
#include "hilo/executable.h"
#include "runtime/runtime_access.h"

namespace hilo {
namespace {

void ExpectRefused(const absl::Status& status, absl::string_view words) {
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), words)) << status;
}

TEST(RefusalsTest, OptionsOfClients) {
  ExpectRefused(Client::Create({.device_count = 0}).status(), "device_count: expected 1 to");
  ExpectRefused(Client::Create({.device_count = -1}).status(), "device_count: expected 1 to");
  ExpectRefused(Client::Create({.device_count = INT32_MAX}).status(), "got 2147483647");
  ExpectRefused(Client::Create({.num_threads = -1}).status(), "num_threads: expected 0");
  ExpectRefused(Client::Create({.num_threads = INT32_MAX}).status(), "num_threads: expected 0");
  ExpectRefused(Client::Create({.memory_limit = -1}).status(),
                "memory_limit: expected a number of bytes, or 0 for none, got -1");
  ExpectRefused(Client::Create({.cache_limit = -1}).status(), "cache_limit: expected a number of bytes, got -1");
  ExpectRefused(RuntimeAccess::CreateClient({}, nullptr).status(), "a client needs a compiler, but got null");
}

TEST(RefusalsTest, Programs) {
  auto client = *Client::Create({});
  ExpectRefused(RuntimeAccess::Compile(client.get(), nullptr).status(), "there is no module to compile, but null");
  ExpectRefused(client->Compile(XlaComputation()).status(), "there is no computation to compile: it is null");
}

TEST(RefusalsTest, Buffers) {
  auto client = *Client::Create({});
  const Literal two = LiteralUtil::CreateR1<float>({1, 2});
  const Shape vector = ShapeUtil::MakeShape(F32, {2}), three = ShapeUtil::MakeShape(F32, {3}),
              tuple(std::vector<Shape>{vector});
  for (int device : {-1, 1}) {
    ExpectRefused(client->BufferFromLiteral(two, device).status(), "there is no device");
    ExpectRefused(RuntimeAccess::UninitializedBuffer(client.get(), vector, device).status(), "there is no device");
    ExpectRefused(client->BufferFromHostMemory(&two, vector, device, nullptr).status(), "there is no device");
    ExpectRefused(client->TransferToInfeed(two, device), "there is no device");
  }
  ExpectRefused(client->BufferFromLiteral(two, 0, &tuple).status(), "a buffer holds one array or token, not (f32[2]");
  ExpectRefused(client->BufferFromLiteral(two, 0, &three).status(), "expected a layout for f32[2], got one for f32[3]");
  const Shape bare(F32, {2});
  ExpectRefused(client->BufferFromLiteral(two, 0, &bare).status(), "expected a layout on f32[2]");
  ExpectRefused(client->BufferFromHostMemory(&two, tuple, 0, nullptr).status(),
                "a buffer of host memory is an array, not");
  ExpectRefused(client->BufferFromHostMemory(nullptr, vector, 0, nullptr).status(),
                "expected 8 bytes of host memory, got null");
  ExpectRefused(client->BufferFromHostMemory(&two, Shape(F32, {-2}), 0, nullptr).status(),
                "expected sizes of at least 0");
  ExpectRefused(RuntimeAccess::UninitializedBuffer(client.get(), tuple, 0).status(),
                "a buffer to be filled is an array, not");
  ExpectRefused(RuntimeAccess::UninitializedBuffer(client.get(), Shape(F32, {-2}), 0).status(),
                "expected sizes of at least 0");
  std::vector<Literal> parts;
  parts.push_back(LiteralUtil::CreateR0<float>(1));
  std::vector<Literal> nested;
  nested.push_back(Literal::MakeTuple(std::move(parts)));
  ExpectRefused(client->TransferToInfeed(Literal::MakeTuple(std::move(nested))),
                "an infeed takes an array or a tuple of arrays, not ((f32[]))");
}

TEST(RefusalsTest, ArgumentsAsLiterals) {
  auto client = *Client::Create({});
  auto executable =
      client->CompileHloText("HloModule m ENTRY main { x = f32[2] parameter(0) ROOT y = f32[2] negate(x) }");
  ASSERT_TRUE(executable.ok()) << executable.status();
  const Literal three = LiteralUtil::CreateR1<float>({1, 2, 3});
  ExpectRefused((*executable)->ExecuteLiterals({}).status(), "the program takes 1 arguments, but got 0");
  ExpectRefused((*executable)->ExecuteLiterals({&three, &three}).status(), "the program takes 1 arguments, but got 2");
  ExpectRefused((*executable)->ExecuteLiterals({nullptr}).status(), "argument 0 is null");
  ExpectRefused((*executable)->ExecuteLiterals({&three}).status(), "argument 0: expected f32[2], got f32[3]");
}

TEST(RefusalsTest, DeviceAssignments) {
  ExpectRefused(DeviceAssignment::Create(0, 1, {}).status(), "expected a device for each of 0 replicas");
  ExpectRefused(DeviceAssignment::Create(1, -1, {0}).status(), "expected a device for each");
  ExpectRefused(DeviceAssignment::Create(int64_t{1} << 62, 4, {}).status(), "expected a device for each");
  ExpectRefused(DeviceAssignment::Create(2, 1, {0}).status(), "got 1");
  ExpectRefused(DeviceAssignment::Create(2, 1, {3, 3}).status(), "expected different devices, got {3,3}");
  ExpectRefused(DeviceAssignment::Create(2, 1, {0, -1}).status(), "expected different devices, got {0,-1}");
}

}  // namespace
}  // namespace hilo
