// What is recorded of runs, and the files that are made of it.
#include <map>
#include <thread>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "hilo/client.h"
#include "hlo/import/hlo_proto_wire.h"
#include "runtime/profile/export.h"
#include "runtime/profile/recorder.h"
#include "runtime/profile/summary.h"

namespace hilo::profile {
namespace {

std::shared_ptr<const StepTable> Table() {
  auto table = std::make_shared<StepTable>();
  table->program = "three";
  table->steps = {{.name = "a", .category = "add", .text = "a = add", .flops = 10, .bytes = 20},
                  {.name = "w", .category = "while", .text = "w = while"},
                  {.name = "b",
                   .category = "dot",
                   .text = "b = dot",
                   .op_name = "jit(f)/dot",
                   .source_file = "f.py",
                   .source_line = 7}};
  return table;
}

std::shared_ptr<Session> StartSession() {
  absl::StatusOr<std::shared_ptr<Session>> session = Session::Start();
  EXPECT_TRUE(session.ok()) << session.status();
  return *std::move(session);
}

// A run of all three steps, the last one twice within the second.
void RunThree(const std::shared_ptr<const StepTable>& table, int device = 0) {
  const std::shared_ptr<Recorder> recorder = Session::OfThisThread();
  ASSERT_NE(recorder, nullptr);
  recorder->BeginRun(table, device);
  for (const int64_t mark : {int64_t{1}, kEnter, int64_t{2}, int64_t{2}, kLeave}) recorder->Mark(mark);
  recorder->EndRun();
}

TEST(ProfileTest, WithoutSession_NothingIsRecorded) { EXPECT_EQ(Session::OfThisThread(), nullptr); }

TEST(ProfileTest, Steps_FollowAndContainEachOther) {
  const std::shared_ptr<Session> session = StartSession();
  RunThree(Table());
  session->Stop();
  EXPECT_EQ(Session::OfThisThread(), nullptr);
  const Profile profile = session->Collect();
  ASSERT_EQ(profile.runs.size(), 1u);
  const std::vector<Span>& spans = profile.runs[0].spans;
  std::vector<int64_t> steps;
  for (const Span& span : spans) steps.push_back(span.step);
  EXPECT_EQ(steps, (std::vector<int64_t>{-1, 0, 1, 2, 2}));
  EXPECT_EQ(spans[1].end, spans[2].begin);
  EXPECT_EQ(spans[3].end, spans[4].begin);
  EXPECT_LE(spans[2].begin, spans[3].begin);
  EXPECT_LE(spans[4].end, spans[2].end);
  EXPECT_EQ(spans[2].within, spans[4].end - spans[3].begin);
  EXPECT_EQ(spans[0].within, spans[2].end - spans[1].begin);
  EXPECT_LE(spans[0].end, profile.duration_ns);
}

TEST(ProfileTest, ThereIsOneSession) {
  const std::shared_ptr<Session> session = StartSession();
  EXPECT_EQ(Session::Start().status().code(), absl::StatusCode::kFailedPrecondition);
  session->Stop();
  session->Stop();
  StartSession()->Stop();
}

TEST(ProfileTest, RunsThatOutlastTheSession_EndWithIt) {
  const std::shared_ptr<Session> session = StartSession();
  const std::shared_ptr<Recorder> recorder = Session::OfThisThread();
  recorder->BeginRun(Table(), 0);
  recorder->Mark(1);
  recorder->Mark(kEnter);
  session->Stop();
  recorder->Mark(2);
  StartSession()->Stop();
  recorder->EndRun();
  const Profile profile = session->Collect();
  ASSERT_EQ(profile.runs.size(), 1u);
  EXPECT_EQ(profile.runs[0].spans[0].end, profile.duration_ns);
}

TEST(ProfileTest, MarksThatDoNotBelong_AreIgnored) {
  const std::shared_ptr<Session> session = StartSession();
  const std::shared_ptr<Recorder> recorder = Session::OfThisThread();
  recorder->Mark(1);
  recorder->EndRun();
  recorder->BeginRun(Table(), 0);
  recorder->Mark(kLeave);
  recorder->Mark(99);
  recorder->EndRun();
  session->Stop();
  const Profile profile = session->Collect();
  ASSERT_EQ(profile.runs.size(), 1u);
  EXPECT_EQ(profile.runs[0].spans.size(), 2u);
}

TEST(ProfileTest, ProgramsRunWithinOthers_AndByManyThreads) {
  const std::shared_ptr<const StepTable> outer = Table(), inner = Table();
  const std::shared_ptr<Session> session = StartSession();
  const std::shared_ptr<Recorder> recorder = Session::OfThisThread();
  recorder->BeginRun(outer, 0);
  RunThree(inner);
  recorder->EndRun();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 5000; ++j) RunThree(inner, 1);
    });
  }
  for (std::thread& thread : threads) thread.join();
  session->Stop();
  const Profile profile = session->Collect();
  EXPECT_TRUE(profile.is_complete);
  ASSERT_EQ(profile.runs.size(), 20002u);
  const std::vector<ProgramTimes> programs = Summarize(profile);
  ASSERT_EQ(programs.size(), 2u);
  for (const ProgramTimes& times : programs) {
    EXPECT_EQ(times.runs, times.program == inner.get() ? 20001 : 1);
    EXPECT_LE(times.OwnNanoseconds(), times.total_ns);
  }
}

std::vector<WireMessage> All(const WireMessage& message, int field) {
  absl::StatusOr<std::vector<WireMessage>> all = message.Messages(field);
  EXPECT_TRUE(all.ok()) << all.status();
  return *std::move(all);
}
// The only message in a field whose name (field 2) is `name`.
WireMessage Named(const WireMessage& message, int field, absl::string_view name) {
  for (const WireMessage& one : All(message, field)) {
    if (one.Bytes(2) == name) return one;
  }
  ADD_FAILURE() << "no " << name;
  return *WireMessage::Parse("");
}

TEST(ProfileTest, XSpace) {
  const std::shared_ptr<Session> session = StartSession();
  const std::shared_ptr<const StepTable> table = Table();
  RunThree(table);
  RunThree(table);
  RunThree(table, 1);
  session->Stop();
  const std::string bytes = ToXSpace(session->Collect(), "cpu", {.gigaflops = 100, .gigabytes_per_second = 20});
  const WireMessage space = *WireMessage::Parse(bytes);
  ASSERT_EQ(space.AllBytes(1).size(), 2u);
  Named(space, 1, "/device:TPU:1 Hilo cpu");
  const WireMessage plane = Named(space, 1, "/device:TPU:0 Hilo cpu");
  EXPECT_EQ(Named(plane, 3, "XLA Modules").AllBytes(4).size(), 2u);
  EXPECT_EQ(Named(plane, 3, "XLA Ops").AllBytes(4).size(), 8u);
  EXPECT_GT(Named(plane, 3, "XLA Ops").Int(3), 1'700'000'000'000'000'000);
  // Names of stats, and the stats of the step with a source.
  std::map<int64_t, std::string> names;
  for (const WireMessage& entry : All(plane, 5)) names[entry.Int(1)] = std::string(entry.Message(2)->Bytes(2));
  std::map<std::string, std::string> stats;
  for (const WireMessage& entry : All(plane, 4)) {
    const WireMessage metadata = *entry.Message(2);
    EXPECT_EQ(metadata.Int(1), entry.Int(1));
    if (metadata.Bytes(4) != "b") continue;
    for (const WireMessage& stat : All(metadata, 5)) stats[names.at(stat.Int(1))] = std::string(stat.Bytes(5));
  }
  EXPECT_EQ(stats.at("source"), "f.py:7");
  EXPECT_EQ(stats.at("tf_op"), "jit(f)/dot");
  EXPECT_EQ(stats.at("hlo_category"), "dot");
  EXPECT_FALSE(stats.contains("flops"));
}

TEST(ProfileTest, XSpaceHasTheHloOfPrograms) {
  const std::shared_ptr<Session> session = StartSession();
  const std::shared_ptr<const StepTable> known = Table(), unknown = Table();
  RunThree(unknown);
  RunThree(known);
  RunThree(known, 1);
  session->Stop();
  int calls = 0;
  const auto hlo_of = [&](const StepTable& steps) {
    ++calls;
    return std::string(&steps == known.get() ? "proto" : "");
  };
  const std::string bytes = ToXSpace(session->Collect(), "cpu", {}, hlo_of);
  EXPECT_EQ(calls, 2);
  const WireMessage space = *WireMessage::Parse(bytes);
  const WireMessage plane = Named(space, 1, "/host:metadata");
  const std::vector<WireMessage> entries = All(plane, 4);
  ASSERT_EQ(entries.size(), 1u);
  // The number is the one that the events of both devices state.
  EXPECT_EQ(entries[0].Int(1), 2);
  const WireMessage program = *entries[0].Message(2);
  EXPECT_EQ(program.Bytes(2), known->program + "(2)");
  EXPECT_EQ(All(program, 5)[0].Bytes(6), "proto");
  const WireMessage device = Named(space, 1, "/device:TPU:1 Hilo cpu");
  EXPECT_EQ(All(device, 4)[0].Message(2)->Bytes(2), known->program + "(2)");
}

TEST(ProfileTest, ChromeTrace) {
  const std::shared_ptr<Session> session = StartSession();
  RunThree(Table());
  session->Stop();
  const std::string text = ToChromeTrace(session->Collect(), "cpu");
  EXPECT_TRUE(absl::StrContains(text, R"("name":"b","cat":"dot","pid":0,"tid":0,"ts":)")) << text;
  EXPECT_TRUE(absl::StrContains(text, R"("source":"f.py:7")")) << text;
}

// A loop whose body has instructions that are long enough to be steps, and short instructions behind it.
constexpr char kLoop[] = R"(HloModule loop
body {
  s = (f32[128,128], s32[]) parameter(0)
  x = f32[128,128] get-tuple-element(s), index=0
  i = s32[] get-tuple-element(s), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  d = f32[128,128] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="jit(f)/dot" source_file="f.py" source_line=3}
  t = f32[128,128] tanh(d), metadata={op_name="jit(f)/tanh" source_file="f.py" source_line=4}
  ROOT r = (f32[128,128], s32[]) tuple(t, next)
}
condition {
  s = (f32[128,128], s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=1
  n = s32[] constant(50)
  ROOT c = pred[] compare(i, n), direction=LT
}
ENTRY main {
  x = f32[128,128] parameter(0)
  zero = s32[] constant(0)
  t = (f32[128,128], s32[]) tuple(x, zero)
  w = (f32[128,128], s32[]) while(t), condition=condition, body=body
  y = f32[128,128] get-tuple-element(w), index=0
  ROOT s = f32[1,8] slice(y), slice={[0:1], [0:8]}
}
)";

void ExpectLoopProfile(const Executable& executable, Buffer* argument) {
  ASSERT_TRUE(executable.Execute(std::vector<Buffer*>{argument}, {.synchronous = true}).ok());
  const std::shared_ptr<Session> session = StartSession();
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(executable.Execute(std::vector<Buffer*>{argument}, {.synchronous = true}).ok());
  session->Stop();
  const Profile profile = session->Collect();
  const std::vector<ProgramTimes> programs = Summarize(profile);
  ASSERT_EQ(programs.size(), 1u);
  EXPECT_EQ(programs[0].program->program, "loop");
  EXPECT_EQ(programs[0].runs, 3);
  EXPECT_GE(static_cast<double>(programs[0].OwnNanoseconds()), 0.95 * static_cast<double>(programs[0].total_ns));
  std::map<std::string, const StepTimes*> steps;
  for (const StepTimes& times : programs[0].steps) steps[times.step->category] = &times;
  ASSERT_TRUE(steps.contains("dot") && steps.contains("while"));
  EXPECT_EQ(steps["dot"]->executions, 150);
  EXPECT_EQ(steps["dot"]->step->source_file, "f.py");
  EXPECT_EQ(steps["dot"]->step->source_line, 3);
  EXPECT_GE(steps["dot"]->step->flops, 2.0 * 128 * 128 * 128);
  EXPECT_EQ(steps["while"]->executions, 3);
  EXPECT_LE(steps["while"]->own_ns, steps["while"]->total_ns / 2);
}

TEST(ProfileTest, Programs_StateTheirInstructions_AlsoWhenLoaded) {
  const std::unique_ptr<Client> client =
      *Client::Create({.platform = "cpu", .device_count = 1, .num_threads = 1, .cache_dir = ""});
  const absl::StatusOr<std::unique_ptr<Executable>> executable = client->CompileHloText(kLoop);
  ASSERT_TRUE(executable.ok()) << executable.status();
  const std::unique_ptr<Buffer> argument =
      *client->BufferFromLiteral(*Literal::Create(ShapeUtil::MakeShape(F32, {128, 128})), 0);
  ExpectLoopProfile(**executable, argument.get());
  const absl::StatusOr<std::unique_ptr<Executable>> loaded = client->Load(*(*executable)->Serialize());
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  ExpectLoopProfile(**loaded, argument.get());
}

}  // namespace
}  // namespace hilo::profile
