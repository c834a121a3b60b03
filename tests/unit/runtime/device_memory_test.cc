// Clients whose devices have memory of their own: the runtime touches it by copies alone. The device here hands out
// addresses that are nowhere.
#include "runtime/device_memory.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <future>
#include <map>
#include <mutex>

#include "backends/interpreter/interpreter_compiler.h"
#include "base/errors.h"
#include "hilo/client.h"
#include "hilo/literal.h"
#include "hilo/status_macros.h"
#include "runtime/runtime_access.h"

namespace hilo {
namespace {

// Addresses that are never mapped, because they are not canonical.
constexpr uintptr_t kFirstAddress = uintptr_t{1} << 62;

class FarMemory : public DeviceMemory {
 public:
  int64_t alignment() const override { return 64; }
  absl::StatusOr<void*> Allocate(int64_t size) override {
    std::lock_guard<std::mutex> lock(mutex_);
    const uintptr_t address = next_;
    next_ += static_cast<uintptr_t>(size + 63) / 64 * 64;
    blocks_[address] = std::vector<uint8_t>(size, 0xff);
    return reinterpret_cast<void*>(address);
  }
  void Free(void* memory, int64_t size) override {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto it = blocks_.find(reinterpret_cast<uintptr_t>(memory));
    ASSERT_TRUE(it != blocks_.end() && static_cast<int64_t>(it->second.size()) == size);
    blocks_.erase(it);
  }
  absl::Status CopyFromHost(void* to, const void* from, int64_t size) override {
    HILO_ASSIGN_OR_RETURN(uint8_t* at, Find(to, size));
    std::memcpy(at, from, size);
    return absl::OkStatus();
  }
  absl::Status CopyToHost(void* to, const void* from, int64_t size) override {
    HILO_ASSIGN_OR_RETURN(const uint8_t* at, Find(from, size));
    std::memcpy(to, at, size);
    return absl::OkStatus();
  }
  absl::Status CopyWithin(void* to, const void* from, int64_t size) override {
    HILO_ASSIGN_OR_RETURN(const uint8_t* at, Find(from, size));
    ++copies_within;
    return CopyFromHost(to, at, size);
  }

  absl::Status AwaitStream(void* stream) override { return stream == this ? absl::OkStatus() : Internal("no stream"); }

  size_t block_count() const { return blocks_.size(); }
  int copies_within = 0;

 private:
  absl::StatusOr<uint8_t*> Find(const void* memory, int64_t size) {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto address = reinterpret_cast<uintptr_t>(memory);
    auto it = blocks_.upper_bound(address);
    if (it == blocks_.begin()) return Internal("no such address");
    --it;
    if (address - it->first + size > it->second.size()) return Internal("a copy out of bounds");
    return it->second.data() + (address - it->first);
  }

  std::mutex mutex_;
  uintptr_t next_ = kFirstAddress;
  std::map<uintptr_t, std::vector<uint8_t>> blocks_;
};

// Brings what is far to the host, runs there, and brings the results back.
class FarProgram : public CompiledProgram {
 public:
  explicit FarProgram(std::unique_ptr<CompiledProgram> program) : program_(std::move(program)) {}

  absl::Status Run(const RunContext& context, absl::Span<const void* const> parameters,
                   absl::Span<void* const> outputs) const override {
    HILO_RET_CHECK(context.memory != nullptr);
    std::vector<std::vector<uint64_t>> storage;
    const auto make = [&](const Shape& shape) {
      storage.emplace_back((ShapeUtil::ByteSizeOf(shape) + 71) / 8);
      return reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(storage.back().data()) + 63) / 64 * 64);
    };
    std::vector<const void*> inputs;
    std::vector<void*> results;
    std::vector<const Shape*> result_shapes;
    for (const Shape& parameter : program_->program_shape().parameters) {
      for (const ShapeUtil::Leaf& leaf : ShapeUtil::Leaves(parameter)) {
        void* near = make(*leaf.shape);
        HILO_RETURN_IF_ERROR(
            context.memory->CopyToHost(near, parameters[inputs.size()], ShapeUtil::ByteSizeOf(*leaf.shape)));
        inputs.push_back(near);
      }
    }
    const std::vector<ShapeUtil::Leaf> leaves = ShapeUtil::Leaves(program_->program_shape().result);
    for (const ShapeUtil::Leaf& leaf : leaves) results.push_back(make(*leaf.shape));
    RunContext near = context;
    near.memory = nullptr;
    HILO_RETURN_IF_ERROR(program_->Run(near, inputs, results));
    for (size_t i = 0; i < results.size(); ++i) {
      HILO_RETURN_IF_ERROR(
          context.memory->CopyFromHost(outputs[i], results[i], ShapeUtil::ByteSizeOf(*leaves[i].shape)));
    }
    return absl::OkStatus();
  }
  const ProgramShape& program_shape() const override { return program_->program_shape(); }
  absl::Span<const std::pair<int64_t, int64_t>> donations() const override { return program_->donations(); }
  int64_t temp_bytes() const override { return program_->temp_bytes(); }
  int64_t code_bytes() const override { return program_->code_bytes(); }
  int64_t estimated_nanoseconds() const override { return program_->estimated_nanoseconds(); }

 private:
  std::unique_ptr<CompiledProgram> program_;
};

class FarCompiler : public Compiler {
 public:
  std::string platform() const override { return "far"; }
  absl::StatusOr<std::shared_ptr<DeviceMemory>> OpenDevice(int device) override {
    if (device >= 2) return Unavailable("there are 2 devices");
    devices.push_back(std::make_shared<FarMemory>());
    return std::shared_ptr<DeviceMemory>(devices.back());
  }
  absl::StatusOr<std::unique_ptr<CompiledProgram>> Compile(std::unique_ptr<HloModule> module,
                                                           const CompileOptions& options, ThreadPool* pool) override {
    HILO_ASSIGN_OR_RETURN(std::unique_ptr<CompiledProgram> program, near_->Compile(std::move(module), options, pool));
    return std::make_unique<FarProgram>(std::move(program));
  }
  absl::Span<const absl::string_view> EmitKinds() const override { return {}; }
  absl::StatusOr<std::string> Emit(std::unique_ptr<HloModule>, const CompileOptions&, absl::string_view) override {
    return InvalidArgument("nothing to emit");
  }

  std::vector<std::shared_ptr<FarMemory>> devices;

 private:
  std::unique_ptr<Compiler> near_ = CreateInterpreterCompiler();
};

struct FarClient {
  explicit FarClient(ClientOptions options = {.device_count = 2}) {
    auto made = std::make_unique<FarCompiler>();
    compiler = made.get();
    auto created = RuntimeAccess::CreateClient(options, std::move(made));
    EXPECT_TRUE(created.ok()) << created.status();
    client = *std::move(created);
  }
  FarCompiler* compiler;
  std::unique_ptr<Client> client;
};

Literal Text(const char* text) { return *ParseLiteral(text); }

TEST(DeviceMemoryTest, Buffers_RoundTrip) {
  FarClient far;
  const Literal literal = Text("f32[2,3] {{1,2,3},{4,5,6}}");
  auto buffer = *far.client->BufferFromLiteral(literal, 1);
  EXPECT_EQ(far.compiler->devices[0]->block_count(), 0u);
  EXPECT_EQ(far.compiler->devices[1]->block_count(), 1u);
  EXPECT_EQ(*buffer->ToLiteral(), literal);
  const auto bytes = *buffer->Bytes();
  EXPECT_EQ(reinterpret_cast<const float*>(bytes.get())[5], 6.0f);
  EXPECT_EQ(far.client->memory_stats(1).bytes_in_use, 24);
  EXPECT_EQ(far.client->memory_stats(0).bytes_in_use, 0);

  const float host[2] = {7, 8};
  bool released = false;
  auto copied = *far.client->BufferFromHostMemory(host, ShapeUtil::MakeShape(F32, {2}), 0, [&] { released = true; });
  EXPECT_TRUE(released);
  EXPECT_EQ(*copied->ToLiteral(), Text("f32[2] {7,8}"));
  buffer.reset();
  EXPECT_EQ(far.compiler->devices[1]->block_count(), 0u);
}

TEST(DeviceMemoryTest, BuffersOfOthersMemory) {
  FarClient far;
  const Shape shape = ShapeUtil::MakeShape(F32, {2});
  // What its maker fills.
  const auto made = *RuntimeAccess::UninitializedBuffer(far.client.get(), shape, 1);
  const std::shared_ptr<BufferValue> value = *RuntimeAccess::Share(*made);
  const float host[2] = {7, 8};
  ASSERT_TRUE(value->memory->CopyFromHost(host).ok());
  EXPECT_EQ(*made->ToLiteral(), Text("f32[2] {7,8}"));
  // A view of it.
  int released = 0;
  auto view = *far.client->BufferFromDeviceMemory(value->memory->data(), shape, 1, [&] { ++released; });
  EXPECT_EQ(*view->ToLiteral(), Text("f32[2] {7,8}"));
  EXPECT_EQ((*RuntimeAccess::Share(*view))->memory->data(), value->memory->data());
  EXPECT_EQ(far.client->memory_stats(1).bytes_in_use, 8);
  EXPECT_EQ(released, 0);
  view.reset();
  EXPECT_EQ(released, 1);
  // Of a part that is not aligned there is a copy.
  view = *far.client->BufferFromDeviceMemory(value->memory->data() + 4, ShapeUtil::MakeShape(F32, {}), 1,
                                             [&] { ++released; });
  EXPECT_EQ(released, 2);
  EXPECT_EQ(*view->ToLiteral(), Text("f32[] 8"));
  EXPECT_EQ(far.compiler->devices[1]->copies_within, 1);
  EXPECT_EQ(far.client->BufferFromDeviceMemory(nullptr, shape, 1).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(far.client->BufferFromDeviceMemory(host, shape, 9).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(DeviceMemoryTest, StreamsOfOthersAreAwaited) {
  FarClient far;
  FarMemory* const memory = far.compiler->devices[1].get();
  EXPECT_TRUE(RuntimeAccess::AwaitStream(far.client.get(), 1, memory).ok());
  EXPECT_EQ(RuntimeAccess::AwaitStream(far.client.get(), 0, memory).message(), "no stream");
  EXPECT_EQ(RuntimeAccess::AwaitStream(far.client.get(), 9, memory).code(), absl::StatusCode::kInvalidArgument);
  const auto near = *Client::Create({.platform = "interpreter"});
  EXPECT_EQ(RuntimeAccess::AwaitStream(near.get(), 0, memory).code(), absl::StatusCode::kUnimplemented);
}

// The caller waits for a result while it holds a lock that `release` needs, as Python code may with Python's lock.
TEST(DeviceMemoryTest, ReleasesDoNotBlockTheDevice) {
  std::promise<void> unlocked;
  std::promise<bool> released;
  {
    FarClient far;
    const Shape shape = ShapeUtil::MakeShape(F32, {2});
    auto executable = far.client->CompileHloText(
        "HloModule m\nENTRY e { x = f32[2] parameter(0) y = f32[2] parameter(1) ROOT s = f32[2] add(x, y) }");
    ASSERT_TRUE(executable.ok()) << executable.status();
    const auto made = *far.client->BufferFromLiteral(Text("f32[2] {7,8}"), 1);
    auto view = *far.client->BufferFromDeviceMemory((*RuntimeAccess::Share(*made))->memory->data(), shape, 1, [&] {
      released.set_value(unlocked.get_future().wait_for(std::chrono::seconds(20)) == std::future_status::ready);
    });
    // The first run waits for this argument, and so it has the last reference to the view.
    auto later = std::make_shared<BufferValue>();
    later->definition = std::make_shared<Event>();
    later->memory = (*RuntimeAccess::Share(*made))->memory;
    const auto argument = RuntimeAccess::MakeBuffer(RuntimeAccess::SharedShape(*made), 1, later);
    auto first = (*executable)->Execute({view.get(), argument.get()}, {.device = 1});
    ASSERT_TRUE(first.ok()) << first.status();
    auto second = (*executable)->Execute({(*first)[0].get(), made.get()}, {.device = 1});
    ASSERT_TRUE(second.ok()) << second.status();
    view.reset();
    later->definition->Set(absl::OkStatus());
    EXPECT_EQ(*(*first)[0]->ToLiteral(), Text("f32[2] {14,16}"));
    EXPECT_EQ(*(*second)[0]->ToLiteral(), Text("f32[2] {21,24}"));
    unlocked.set_value();
  }
  // The client waited for the call.
  auto result = released.get_future();
  ASSERT_EQ(result.wait_for(std::chrono::seconds(0)), std::future_status::ready);
  EXPECT_TRUE(result.get());
}

TEST(DeviceMemoryTest, ProgramsRun) {
  FarClient far;
  auto executable = far.client->CompileHloText(R"(HloModule m
ENTRY e { x = f32[2,2] parameter(0) y = f32[] parameter(1) b = f32[2,2] broadcast(y), dimensions={} s = f32[2,2] add(x, b) ROOT t = (f32[2,2], f32[]) tuple(s, y) })");
  ASSERT_TRUE(executable.ok()) << executable.status();
  const Literal x = Text("f32[2,2] {{1,2},{3,4}}"), y = Text("f32[] 10");
  for (int device : {0, 1}) {
    auto result = (*executable)->ExecuteLiterals({&x, &y}, {.device = device});
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->element(0), Text("f32[2,2] {{11,12},{13,14}}"));
    EXPECT_EQ(result->element(1), y);
  }
  // An argument in another layout.
  Shape columns = ShapeUtil::MakeShape(F32, {2, 2});
  *columns.mutable_layout() = Layout({0, 1});
  auto transposed = far.client->BufferFromLiteral(x, 0, &columns);
  ASSERT_TRUE(transposed.ok()) << transposed.status();
  auto scalar = *far.client->BufferFromLiteral(y);
  auto results = (*executable)->Execute({transposed->get(), scalar.get()}, {.synchronous = true});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ(*(*results)[0]->ToLiteral(), Text("f32[2,2] {{11,12},{13,14}}"));
}

TEST(DeviceMemoryTest, ArgumentsNotDonated_AreCopied) {
  FarClient far;
  auto executable = far.client->CompileHloText(R"(HloModule m, input_output_alias={ {}: (0, {}, may-alias) }
ENTRY e { x = f32[2] parameter(0) ROOT s = f32[2] add(x, x) })");
  ASSERT_TRUE(executable.ok()) << executable.status();
  auto x = *far.client->BufferFromLiteral(Text("f32[2] {1,2}"));
  auto result = (*executable)->Execute({x.get()}, {.synchronous = true});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(*(*result)[0]->ToLiteral(), Text("f32[2] {2,4}"));
  EXPECT_EQ(*x->ToLiteral(), Text("f32[2] {1,2}"));
  if (!RuntimeAccess::ProgramOf(*(*executable)).compiled->donations().empty()) {
    EXPECT_EQ(far.compiler->devices[0]->copies_within, 1);
  }
}

TEST(DeviceMemoryTest, DynamicDimensions) {
  FarClient far;
  auto executable =
      far.client->CompileHloText("HloModule m\nENTRY e { x = f32[<=4] parameter(0) ROOT s = f32[<=4] add(x, x) }");
  ASSERT_TRUE(executable.ok()) << executable.status();
  const Literal x = Text("f32[<=4](3) {1,2,3}");
  auto result = (*executable)->ExecuteLiterals({&x});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(*result, Text("f32[<=4](3) {2,4,6}"));
  EXPECT_EQ(far.compiler->devices[0]->block_count(), 0u);
}

TEST(DeviceMemoryTest, DevicesThatAreMissing) {
  auto created = RuntimeAccess::CreateClient({.device_count = 3}, std::make_unique<FarCompiler>());
  EXPECT_EQ(created.status().code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace hilo
