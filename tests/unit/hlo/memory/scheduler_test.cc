#include "hlo/memory/scheduler.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "hlo/ir/hlo_verifier.h"
#include "hlo/text/hlo_parser.h"
#include "tests/unit/hlo/memory/memory_testing.h"

namespace hilo {
namespace {

std::unique_ptr<HloModule> Schedule(absl::string_view text) {
  auto module = ParseHloModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  EXPECT_TRUE(testing::PassNamed("normalize-layout")->Run(module->get(), {}).ok());
  EXPECT_TRUE(ScheduleModule(module->get()).ok());
  const absl::Status valid = VerifyHloModule(**module, HloStage::kScheduled);
  EXPECT_TRUE(valid.ok()) << valid;
  return *std::move(module);
}

int64_t Position(const HloModule& module, absl::string_view computation, absl::string_view name) {
  const auto& order = module.schedule().at(module.GetComputation(computation));
  const auto at = std::find_if(order.begin(), order.end(), [&](const HloInstruction* i) { return i->name() == name; });
  EXPECT_NE(at, order.end()) << name;
  return at - order.begin();
}

TEST(Scheduler, OtherReadersComeBeforeAnUpdateInPlace) {
  auto module = Schedule(R"(HloModule m
ENTRY main {
  x = f32[1000] parameter(0)
  i = s32[] parameter(1)
  v = f32[1] constant({1})
  a = f32[1000] negate(x)
  updated = f32[1000] dynamic-update-slice(a, v, i)
  reader = f32[1000] reverse(a), dimensions={0}
  ROOT r = f32[1000] add(updated, reader)
}
)");
  EXPECT_LT(Position(*module, "main", "reader"), Position(*module, "main", "updated"));
}

TEST(Scheduler, ReaderOfUpdatedArray_StaysAfterTheUpdate) {
  auto module = Schedule(R"(HloModule m
ENTRY main {
  x = f32[1000] parameter(0)
  i = s32[] parameter(1)
  v = f32[1] constant({1})
  a = f32[1000] negate(x)
  updated = f32[1000] dynamic-update-slice(a, v, i)
  ROOT both = f32[1000] add(updated, a)
}
)");
  EXPECT_LT(Position(*module, "main", "updated"), Position(*module, "main", "both"));
}

TEST(Scheduler, ReadersOfACarryComeBeforeItsNextValue) {
  auto module = Schedule(R"(HloModule m
more { s = (s32[], f32[1000], f32[1000]) parameter(0)  i = s32[] get-tuple-element(s), index=0  z = s32[] constant(0)  ROOT c = pred[] compare(i, z), direction=GT }
body {
  t = (s32[], f32[1000], f32[1000]) parameter(0)
  j = s32[] get-tuple-element(t), index=0
  a = f32[1000] get-tuple-element(t), index=1
  b = f32[1000] get-tuple-element(t), index=2
  next = f32[1000] add(a, a)
  reader = f32[1000] add(b, a)
  one = s32[] constant(1)
  k = s32[] subtract(j, one)
  ROOT r = (s32[], f32[1000], f32[1000]) tuple(k, next, reader)
}
ENTRY main {
  n = s32[] parameter(0)
  x = f32[1000] parameter(1)
  init = (s32[], f32[1000], f32[1000]) tuple(n, x, x)
  ROOT w = (s32[], f32[1000], f32[1000]) while(init), condition=more, body=body
}
)");
  EXPECT_LT(Position(*module, "body", "reader"), Position(*module, "body", "next"));
}

TEST(Scheduler, KeepsControlDependencies) {
  auto module = Schedule(R"(HloModule m
ENTRY main {
  x = f32[4] parameter(0)
  a = f32[4] negate(x), control-predecessors={b}
  b = f32[4] exponential(x)
  ROOT r = f32[4] add(a, b)
}
)");
  EXPECT_LT(Position(*module, "main", "b"), Position(*module, "main", "a"));
}

TEST(Scheduler, OrdersWhatControlFlowReachesOnly) {
  auto module = Schedule(R"(HloModule m
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
g { y = f32[4] parameter(0)  ROOT m = f32[4] negate(y) }
ENTRY main {
  x = f32[4] parameter(0)
  z = f32[] constant(0)
  y = f32[4] call(x), to_apply=g
  ROOT s = f32[] reduce(y, z), dimensions={0}, to_apply=add
}
)");
  EXPECT_EQ(2u, module->schedule().size());
  auto sequential = SequentialComputations(*module);
  ASSERT_TRUE(sequential.ok());
  ASSERT_EQ(2u, sequential->size());
  EXPECT_EQ("g", (*sequential)[0]->name());
  EXPECT_TRUE((*sequential)[1]->IsEntry());
}

// A long chain of updates, each also read, takes linear time.
TEST(Scheduler, TakesALongChain) {
  std::string text = "HloModule m\nENTRY main {\n  x0 = f32[1000] parameter(0)\n  i = s32[] parameter(1)\n";
  constexpr int kCount = 30'000;
  for (int k = 0; k < kCount; ++k) {
    absl::StrAppend(&text, "  d", k, " = f32[1] dynamic-slice(x", k, ", i), dynamic_slice_sizes={1}\n");
    absl::StrAppend(&text, "  x", k + 1, " = f32[1000] dynamic-update-slice(x", k, ", d", k, ", i)\n");
  }
  absl::StrAppend(&text, "  ROOT r = f32[1000] negate(x", kCount, ")\n}\n");
  Schedule(text);
}

// Loops inside each other, as text: level 0 is the innermost.
std::string NestedLoops(int levels) {
  std::string text = "HloModule m\n";
  for (int level = 0; level < levels; ++level) {
    absl::StrAppend(&text, "more", level, " { s", level, " = (pred[], f32[4]) parameter(0)  ROOT p", level,
                    " = pred[] get-tuple-element(s", level, "), index=0 }\n");
    absl::StrAppend(&text, "body", level, " { t", level, " = (pred[], f32[4]) parameter(0)  ");
    if (level == 0) {
      absl::StrAppend(
          &text,
          "a = f32[4] get-tuple-element(t0), index=1  b = f32[4] negate(a)  no = pred[] constant(false)  ROOT r = "
          "(pred[], f32[4]) tuple(no, b) }\n");
    } else {
      absl::StrAppend(&text, "w", level, " = (pred[], f32[4]) while(t", level, "), condition=more", level - 1,
                      ", body=body", level - 1, "  c", level, " = f32[4] get-tuple-element(w", level, "), index=1  no",
                      level, " = pred[] constant(false)  ROOT r", level, " = (pred[], f32[4]) tuple(no", level, ", c",
                      level, ") }\n");
    }
  }
  return absl::StrCat(
      text, "ENTRY main { x = (pred[], f32[4]) parameter(0)  ROOT w = (pred[], f32[4]) while(x), condition=more",
      levels - 1, ", body=body", levels - 1, " }\n");
}

TEST(Scheduler, LimitsNesting) {
  auto deep = ParseHloModule(NestedLoops(400));
  ASSERT_TRUE(deep.ok()) << deep.status();
  EXPECT_TRUE(ScheduleModule(deep->get()).ok());
  auto deeper = ParseHloModule(NestedLoops(2000));
  ASSERT_TRUE(deeper.ok()) << deeper.status();
  EXPECT_EQ(absl::StatusCode::kResourceExhausted, ScheduleModule(deeper->get()).code());
}

}  // namespace
}  // namespace hilo
