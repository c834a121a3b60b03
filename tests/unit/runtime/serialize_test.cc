// Executables that become bytes and executables again.
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "backends/cpu/runtime/program_image.h"
#include "backends/cpu/runtime_calls/runtime_call_text.h"
#include "backends/interpreter/interpreter_compiler.h"
#include "base/byte_stream.h"
#include "base/sha256.h"
#include "gtest/gtest.h"
#include "hilo/client.h"
#include "hilo/version.h"
#include "hilo/xla_builder.h"
#include "runtime/instruction_text.h"
#include "runtime/runtime_access.h"
#include "runtime/saved_program.h"

namespace hilo {
namespace {

std::unique_ptr<Client> MakeClient(const std::string& platform = "cpu", int devices = 1) {
  auto client = Client::Create({.platform = platform, .device_count = devices, .num_threads = 1, .cache_dir = ""});
  EXPECT_TRUE(client.ok()) << client.status();
  return *std::move(client);
}

// A constant, a runtime call, and an aliased parameter.
constexpr char kProgram[] = R"(HloModule program, input_output_alias={ {0}: (0, {}, may-alias) }
ENTRY main {
  x = f32[4] parameter(0)
  c = f32[4] constant({1, 2, 3, 4})
  sum = f32[4] add(x, c)
  t = c64[3] fft(sum), fft_type=RFFT, fft_length={4}
  m = f32[3] real(t)
  ROOT r = (f32[4], f32[3]) tuple(sum, m)
})";

constexpr char kCustom[] = R"(HloModule custom
ENTRY main {
  x = f32[2] parameter(0)
  ROOT r = f32[2] custom-call(x), custom_call_target="serialize_test.twice", api_version=API_VERSION_STATUS_RETURNING
})";

constexpr char kDynamic[] = R"(HloModule dynamic
ENTRY main {
  x = f32[<=4] parameter(0)
  ROOT r = f32[<=4] add(x, x)
})";

void Twice(void* out, const void** in, XlaCustomCallStatus*) {
  for (int i = 0; i < 2; ++i) static_cast<float*>(out)[i] = 2 * static_cast<const float*>(in[0])[i];
}

std::string SerializedFrom(Client& client, absl::string_view text, const CompileOptions& options = {}) {
  auto executable = client.CompileHloText(text, options);
  EXPECT_TRUE(executable.ok()) << executable.status();
  auto bytes = (*executable)->Serialize();
  EXPECT_TRUE(bytes.ok()) << bytes.status();
  return *std::move(bytes);
}

const std::string& CpuBytes() {
  static const auto* bytes = new std::string(SerializedFrom(*MakeClient(), kProgram));
  return *bytes;
}

std::string RunOn(const Executable& executable, const Literal& argument) {
  auto result = executable.ExecuteLiterals({&argument});
  return result.ok() ? result->ToString(false) : std::string(result.status().message());
}

TEST(SerializeTest, LoadedProgramsAreWhatWasSerialized) {
  for (const char* platform : {"cpu", "interpreter"}) {
    auto client = MakeClient(platform);
    auto compiled = client->CompileHloText(kProgram);
    ASSERT_TRUE(compiled.ok()) << compiled.status();
    const auto bytes = (*compiled)->Serialize();
    ASSERT_TRUE(bytes.ok()) << bytes.status();
    client = MakeClient(platform);
    const auto loaded = client->Load(*bytes);
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    EXPECT_EQ((*loaded)->program_shape().ToString(), (*compiled)->program_shape().ToString());
    EXPECT_EQ(RuntimeAccess::ProgramOf(*(*loaded)).compiled->donations(),
              RuntimeAccess::ProgramOf(*(*compiled)).compiled->donations());
    EXPECT_EQ((*loaded)->estimated_nanoseconds(), (*compiled)->estimated_nanoseconds());
    EXPECT_EQ(*(*loaded)->fingerprint(), *(*compiled)->fingerprint());
    EXPECT_EQ(RunOn(**loaded, LiteralUtil::CreateR1<float>({1, 0, 0, 0})), "({2, 2, 3, 4}, {11, -1, -1})");
  }
}

// A compiled program holds the literal of a constant that is so large; a loaded one copies its bytes.
TEST(SerializeTest, LargeConstantsOutliveTheModule) {
  constexpr int64_t kSize = 3 << 18;
  auto client = MakeClient();
  std::string bytes;
  const std::vector<float> ones(kSize, 1);
  const Literal argument = LiteralUtil::CreateR1<float>(ones);
  const auto sum = [&](const Executable& executable) {
    auto result = executable.ExecuteLiterals({&argument});
    return result.ok() ? result->Get<float>({kSize - 1}) : -1;
  };
  {
    std::unique_ptr<Executable> compiled;
    {
      XlaBuilder builder("large");
      std::vector<float> values(kSize);
      for (int64_t i = 0; i < kSize; ++i) values[i] = static_cast<float>(i);
      Add(Parameter(&builder, 0, argument.shape(), "x"), ConstantR1<float>(&builder, values));
      auto built = client->Compile(*builder.Build());
      ASSERT_TRUE(built.ok()) << built.status();
      compiled = *std::move(built);
    }
    EXPECT_EQ(sum(*compiled), kSize);
    bytes = *compiled->Serialize();
  }
  EXPECT_EQ(sum(**client->Load(bytes)), kSize);
}

TEST(SerializeTest, CompilingTwiceGivesTheSameBytes) {
  auto client = MakeClient();
  EXPECT_EQ(SerializedFrom(*client, kProgram), CpuBytes());
  EXPECT_EQ((*client->CompileHloText(kProgram))->fingerprint()->size(), 64u);
  EXPECT_NE(SerializedFrom(*client, kProgram, {.flush_denormals = true}), CpuBytes());
}

TEST(SerializeTest, InfoIsReadWithoutLoading) {
  EXPECT_TRUE(LooksLikeExecutable(CpuBytes()));
  EXPECT_FALSE(LooksLikeExecutable("HloModule m"));
  const auto info = ReadExecutableInfo(CpuBytes());
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_EQ(info->platform, "cpu");
  EXPECT_TRUE(absl::StrContains(info->target, "linux")) << info->target;
  EXPECT_EQ(info->replica_count, 1);
}

TEST(SerializeTest, Devices_AreSavedOrChosenAgain) {
  constexpr char kReplicated[] = R"(HloModule sum, replica_count=2
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY main { x = f32[] parameter(0)  ROOT r = f32[] all-reduce(x), replica_groups={{0,1}}, to_apply=add })";
  auto client = MakeClient("cpu", 4);
  const std::string bytes = SerializedFrom(*client, kReplicated, {.devices = {3, 1}});
  const auto same = client->Load(bytes), other = client->Load(bytes, {.devices = {0, 2}});
  ASSERT_TRUE(same.ok() && other.ok()) << same.status() << other.status();
  EXPECT_EQ((*same)->assignment().ToString(), "{{3},{1}}");
  EXPECT_EQ((*other)->assignment().ToString(), "{{0},{2}}");
  std::vector<std::unique_ptr<Buffer>> buffers;
  std::vector<std::vector<Buffer*>> arguments;
  for (const int device : {0, 2}) {
    buffers.push_back(*client->BufferFromLiteral(LiteralUtil::CreateR0<float>(static_cast<float>(device + 1)), device));
    arguments.push_back({buffers.back().get()});
  }
  const auto results = (*other)->ExecuteReplicated(arguments);
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ((*results)[1][0]->ToLiteral()->ToString(false), "4");
  const absl::Status lacking = MakeClient("cpu", 1)->Load(bytes).status();
  EXPECT_EQ(lacking.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(absl::StrContains(lacking.message(), "2 replicas")) << lacking;
}

TEST(SerializeTest, DynamicSizesGoThrough) {
  auto client = MakeClient();
  const auto loaded = client->Load(SerializedFrom(*client, kDynamic));
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  auto argument = LiteralUtil::CreateR1<float>({1, 2}).ToBoundedDynamic((*loaded)->program_shape().parameters[0]);
  ASSERT_TRUE(argument.ok()) << argument.status();
  EXPECT_EQ(RunOn(**loaded, *argument), "(2) {2, 4}");
}

TEST(SerializeTest, TransfersGoThrough) {
  constexpr char kTransfer[] = R"(HloModule transfer
ENTRY main {
  t = token[] after-all()
  in = (f32[2], token[]) infeed(t)
  x = f32[2] get-tuple-element(in), index=0
  u = token[] get-tuple-element(in), index=1
  y = f32[2] negate(x)
  v = token[] outfeed(y, u), outfeed_shape=f32[2]
  s = (f32[2], u32[], token[]) send(x, v), channel_id=1, is_host_transfer=true
  ROOT d = token[] send-done(s), channel_id=1, is_host_transfer=true
})";
  auto client = MakeClient();
  const auto loaded = client->Load(SerializedFrom(*client, kTransfer));
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_TRUE(RuntimeAccess::ProgramOf(*(*loaded)).effects.transfers);
  ASSERT_EQ(RuntimeAccess::ProgramOf(*(*loaded)).effects.infeeds.size(), 1u);
  EXPECT_EQ(RuntimeAccess::ProgramOf(*(*loaded)).effects.infeeds[0].ToString(), "f32[2]");
  ASSERT_TRUE(client->TransferToInfeed(LiteralUtil::CreateR1<float>({1, 2})).ok());
  auto callbacks = std::make_shared<HostCallbacks>();
  std::string sent;
  callbacks->sends.push_back({.channel_id = 1, .callback = [&](int, const Literal& data) {
                                sent = data.ToString(false);
                                return absl::OkStatus();
                              }});
  const auto results = (*loaded)->Execute({}, {.host_callbacks = callbacks, .synchronous = true});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ(client->TransferFromOutfeed()->ToString(false), "{-1, -2}");
  EXPECT_EQ(sent, "{1, 2}");
}

TEST(SerializeTest, CustomCallsAreLookedUpAgain) {
  for (const char* platform : {"cpu", "interpreter"}) {
    auto client = MakeClient(platform);
    ASSERT_TRUE(client->custom_call_registry()->Register("serialize_test.twice", &Twice).ok());
    const std::string bytes = SerializedFrom(*client, kCustom);
    const auto loaded = client->Load(bytes);
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    EXPECT_EQ(RunOn(**loaded, LiteralUtil::CreateR1<float>({1, 2})), "{2, 4}");
    auto stranger = MakeClient(platform);
    const absl::Status missing = stranger->Load(bytes).status();
    EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound) << missing;
    EXPECT_TRUE(absl::StrContains(missing.message(), "serialize_test.twice")) << missing;
    EXPECT_TRUE(stranger->Load(bytes, {.custom_calls = client->custom_call_registry()}).ok());
  }
}

// Replaces a text of the header by one as long, and makes the header whole again.
std::string WithHeaderText(std::string bytes, const std::string& from, const std::string& to) {
  EXPECT_EQ(from.size(), to.size());
  const size_t at = bytes.find(from);
  EXPECT_NE(at, std::string::npos);
  bytes.replace(at, to.size(), to);
  ByteReader reader(bytes, "");
  reader.Raw(12);
  const size_t digest = reader.U32() - 32;
  bytes.replace(digest, 32, std::string(DigestBytes(Sha256::Of(absl::string_view(bytes).substr(0, digest)))));
  return bytes;
}

// What the verifier refuses would be taken at its word.
TEST(SerializeTest, TextsOfInstructionsAreVerified) {
  const auto read = [](const char* alias) {
    return InstructionsFromText(absl::StrCat(
        "HloModule m\nENTRY main { x = f32[4] parameter(0)  ROOT c = f32[4] custom-call(x), custom_call_target=\"t\", "
        "output_to_operand_aliasing={",
        alias, "} }"));
  };
  EXPECT_TRUE(read("{}: (0, {})").ok());
  EXPECT_EQ(read("{5}: (3, {})").status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(SerializeTest, OtherPlatformsVersionsAndMachinesAreRefusedByName) {
  const auto expect_refusal = [](const absl::Status& status, absl::string_view words) {
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), words)) << status;
  };
  auto client = MakeClient();
  expect_refusal(MakeClient("interpreter")->Load(CpuBytes()).status(),
                 "was made for platform cpu; this client's is interpreter");
  const std::string version(Version());
  const std::string other = std::string(version.size() - 1, '7') + "8";
  expect_refusal(client->Load(WithHeaderText(CpuBytes(), version, other)).status(),
                 absl::StrCat("made by Hilo ", other, "; this is Hilo ", version));
  expect_refusal(client->Load(WithHeaderText(CpuBytes(), "-linux-", "-LINUX-")).status(), "-LINUX-");
  std::string format = CpuBytes();
  format[8] = 9;
  expect_refusal(client->Load(format).status(), "format 9");
#ifdef __x86_64__
  // A feature that no machine has, in place of one of as many letters.
  const absl::Status lacking = client->Load(WithHeaderText(CpuBytes(), "+sse4.2", "+time.4")).status();
  expect_refusal(lacking, "time.4, which this machine");
  expect_refusal(lacking, "was made for x86_64");
#endif
}

TEST(SerializeTest, NamedProcessorsAreCheckedByName) {
#ifdef __x86_64__
  auto client = MakeClient();
  const std::string bytes = SerializedFrom(*client, kProgram, {.cpu = "x86-64"});
  EXPECT_TRUE(client->Load(bytes).ok());
  EXPECT_TRUE(absl::StrContains(ReadExecutableInfo(bytes)->target, " x86-64 ")) << ReadExecutableInfo(bytes)->target;
  const absl::Status unknown = client->Load(WithHeaderText(bytes, " x86-64 ", " x86-46 ")).status();
  EXPECT_EQ(unknown.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(absl::StrContains(unknown.message(), "x86-46")) << unknown;
#endif
}

TEST(SerializeTest, EveryTruncationIsRefused) {
  auto client = MakeClient();
  for (size_t size = 0; size < CpuBytes().size(); size += size < 256 ? 1 : 64) {
    const absl::Status status = client->Load(CpuBytes().substr(0, size)).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << size << ": " << status;
  }
  EXPECT_FALSE(client->Load(CpuBytes() + "x").ok());
  EXPECT_FALSE(client->Load(CpuBytes() + CpuBytes()).ok());
}

TEST(SerializeTest, EveryFlippedBitIsRefused) {
  auto client = MakeClient();
  std::string bytes = CpuBytes();
  int64_t flips = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    // All bits of the header, one of each byte behind it.
    for (int bit = i < 1024 ? 0 : static_cast<int>(i % 8); bit < (i < 1024 ? 8 : static_cast<int>(i % 8) + 1); ++bit) {
      bytes[i] ^= static_cast<char>(1 << bit);
      const absl::Status status = client->Load(bytes).status();
      EXPECT_FALSE(status.ok()) << "byte " << i << ", bit " << bit;
      EXPECT_TRUE(status.code() == absl::StatusCode::kInvalidArgument || i < 12) << status;
      bytes[i] ^= static_cast<char>(1 << bit);
      ++flips;
    }
  }
  EXPECT_GT(flips, 8000);
  EXPECT_TRUE(client->Load(bytes).ok());
}

// Behind the checksums: sections that say anything are read, and refused or taken, but never lead outside of
// themselves.
TEST(SerializeTest, DamagedSectionsAreReadSafely) {
  auto client = MakeClient();
  auto artifact = DecodeArtifact(CpuBytes());
  ASSERT_TRUE(artifact.ok()) << artifact.status();
  int64_t refused = 0;
  for (Artifact::Section& section : artifact->sections) {
    if (section.name == "code" || section.name == "constants") continue;  // any bytes will do there
    for (size_t i = 0; i < section.bytes.size(); ++i) {
      for (const char value : {'\x00', '\x01', '\x7f', '\x80', '\xff', ' '}) {
        const char before = std::exchange(section.bytes[i], value);
        const auto facts = ReadRunFacts(*artifact);
        const auto program = cpu::DecodeProgram(*artifact);
        const absl::Status made = program.ok() ? cpu::MakeRuntimeCalls(program->image, {}).status() : program.status();
        refused += facts.ok() && made.ok() ? 0 : 1;
        section.bytes[i] = before;
      }
    }
  }
  EXPECT_GT(refused, 1000);
  for (Artifact::Section& section : artifact->sections) {
    const std::string whole = section.bytes;
    const size_t end =
        section.name == "runtime call text" ? whole.size() - 1 : whole.size();  // the text needs no line end
    for (size_t size = 0; size < end; ++size) {
      section.bytes = whole.substr(0, size);
      const auto program = cpu::DecodeProgram(*artifact);
      EXPECT_FALSE(ReadRunFacts(*artifact).ok() && program.ok() && cpu::MakeRuntimeCalls(program->image, {}).ok())
          << section.name << " " << size;
      if (size > 2000) break;
    }
    section.bytes = whole;
  }
}

// The wrapper of dynamic sizes, over a program that is safe to load from anything.
TEST(SerializeTest, DamagedDynamicSectionsAreRefusedOrRun) {
  auto made = RuntimeAccess::CreateClient({.num_threads = 1, .cache_dir = ""},
                                          CreateInterpreterCompiler({.assigned_buffers = true}));
  ASSERT_TRUE(made.ok());
  Client& client = **made;
  auto artifact = DecodeArtifact(SerializedFrom(client, kDynamic));
  ASSERT_TRUE(artifact.ok());
  const Literal argument = *LiteralUtil::CreateR1<float>({1, 2}).ToBoundedDynamic(*ParseShape("f32[<=4]"));
  int64_t sections = 0, refused = 0;
  for (Artifact::Section& section : artifact->sections) {
    if (section.name != "dynamic") continue;
    ++sections;
    for (size_t i = 0; i < section.bytes.size(); ++i) {
      for (int bit = 0; bit < 8; ++bit) {
        section.bytes[i] ^= static_cast<char>(1 << bit);
        auto loaded = client.Load(EncodeArtifact(*artifact));
        if (loaded.ok()) {
          (*loaded)->ExecuteLiterals({&argument}).status().IgnoreError();
        } else {
          ++refused;
        }
        section.bytes[i] ^= static_cast<char>(1 << bit);
      }
    }
  }
  EXPECT_EQ(sections, 1);
  EXPECT_GT(refused, 100);
}

TEST(SerializeTest, ManyThreadsLoadAtOnce) {
  auto client = MakeClient();
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 10; ++j) {
        auto loaded = client->Load(CpuBytes());
        if (loaded.ok() &&
            RunOn(**loaded, LiteralUtil::CreateR1<float>({1, 0, 0, 0})) == "({2, 2, 3, 4}, {11, -1, -1})")
          ++right;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 40);
}

}  // namespace
}  // namespace hilo
