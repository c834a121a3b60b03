// Collectives beside other work: where thunks of a program wait for them.
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "hlo/text/hlo_parser.h"
#include "tests/unit/backends/gpu/collectives/devices.h"

namespace hilo::gpu {
namespace {

// The first words of a program's thunks, awaits with the collective's name.
std::string ThunksText(absl::string_view text, bool overlap = true) {
  auto module = ParseHloModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return "";
  const auto compiler = CreateGpuCompiler(
      kEmulatedPlatform,
      {.kernels = {.sequences = false, .overlap_collectives = overlap}, .graph_thunks_from = INT64_MAX});
  const auto thunks = compiler->Emit(*std::move(module), {}, "thunks");
  EXPECT_TRUE(thunks.ok()) << thunks.status();
  if (!thunks.ok()) return "";
  std::vector<std::string> words;
  for (absl::string_view line : absl::StrSplit(*thunks, '\n', absl::SkipEmpty())) {
    const std::vector<std::string> parts = absl::StrSplit(line, ' ', absl::SkipEmpty());
    words.push_back(parts[0] == "kernel" || parts[0] == "await" ? parts[0] + " " + parts[1] : parts[0]);
  }
  return absl::StrJoin(words, "; ");
}

constexpr char kIndependent[] = R"(HloModule m, replica_count=2
f { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY main {
  x = f32[4] parameter(0)
  y = f32[64] parameter(1)
  c = f32[4] all-reduce(x), replica_groups={}, to_apply=f
  d = f32[4] negate(c)
  e = f32[64] exponential(y)
  ROOT t = (f32[4], f32[64]) tuple(d, e)
})";

TEST(CollectiveOverlap, OtherWorkComesBeforeTheAwait) {
  EXPECT_EQ(ThunksText(kIndependent), "all-reduce; kernel e; await %c.1; kernel d");
  EXPECT_EQ(ThunksText(kIndependent, /*overlap=*/false), "all-reduce; kernel d; kernel e");
}

TEST(CollectiveOverlap, StartsComeEarly) {
  EXPECT_EQ(ThunksText(R"(HloModule m, replica_count=2
f { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY main {
  x = f32[4] parameter(0)
  y = f32[64] parameter(1)
  e = f32[64] exponential(y)
  s = f32[4] all-reduce-start(x), replica_groups={}, to_apply=f, control-predecessors={e}
  g = f32[64] sine(y), control-predecessors={s}
  d = f32[4] all-reduce-done(s)
  n = f32[4] negate(d)
  ROOT t = (f32[4], f32[64], f32[64]) tuple(n, e, g)
})"),
            "kernel e; all-reduce; kernel g; await %s.1; kernel n");
}

TEST(CollectiveOverlap, ResultsOfTheProgramAreAwaited) {
  EXPECT_EQ(ThunksText(R"(HloModule m, replica_count=2
ENTRY main { x = f32[4] parameter(0)  ROOT y = f32[8] all-gather(x), replica_groups={}, dimensions={0} })"),
            "all-gather; await %y");
}

TEST(CollectiveOverlap, Loop_AwaitsStartsOfItsBody) {
  EXPECT_EQ(ThunksText(R"(HloModule m, replica_count=2
f { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
more { p = (f32[4], s32[]) parameter(0)  n = s32[] get-tuple-element(p), index=1  zero = s32[] constant(0)  ROOT t = pred[] compare(n, zero), direction=GT }
body {
  p = (f32[4], s32[]) parameter(0)
  x = f32[4] get-tuple-element(p), index=0
  n = s32[] get-tuple-element(p), index=1
  one = s32[] constant(1)
  m = s32[] subtract(n, one)
  y = f32[4] all-reduce(x), replica_groups={}, to_apply=f
  ROOT r = (f32[4], s32[]) tuple(y, m)
}
ENTRY main { p = (f32[4], s32[]) parameter(0)  ROOT w = (f32[4], s32[]) while(p), condition=more, body=body })"),
            "copy; copy; while; condition; kernel t; body; all-reduce; kernel m; await %y; copy");
}

}  // namespace
}  // namespace hilo::gpu
