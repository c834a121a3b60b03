// What devices exchange in programs that the partitioner divides, and which tiles they compute.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/substitute.h"
#include "gtest/gtest.h"
#include "hlo/passes/standard_passes.h"
#include "hlo/text/hlo_parser.h"
#include "hlo/text/hlo_printer.h"

namespace hilo {
namespace {

// From x y on dimension 0 and z on 2 to z on 0 and x on 1: only the last step joins tiles, two of them.
TEST(DividedProgramsTest, ReshardsExchangeSmallTiles) {
  auto module = ParseHloModule(R"(HloModule m, num_partitions=8
ENTRY e {
  x = f32[8,4,32] parameter(0), sharding={mesh['x'=2,'y'=2,'z'=2], [{'x','y'}, {}, {'z'}]}
  ROOT c = f32[8,4,32] custom-call(x), custom_call_target="Sharding", sharding={mesh['x'=2,'y'=2,'z'=2], [{'z'}, {'x'}, {}]}
})");
  ASSERT_TRUE(module.ok()) << module.status();
  ASSERT_TRUE(MakePartitioner({.results = {true}})->Run(module->get(), {}).ok());
  const std::string text = PrintHloModule(**module);
  for (const char* part : {" all-to-all(", " collective-permute(", "= f32[2,2,2,32]{3,2,1,0} all-gather("})
    EXPECT_TRUE(absl::StrContains(text, part)) << part << "\n" << text;
}

// From x z on rows to x y z on columns, and to z y x on rows: y, of which devices have copies, is between others in the
// wanted cut. Copies are cut first, and nothing is joined.
TEST(DividedProgramsTest, CopiesAreCutByAxesBetweenOthers) {
  for (const char* to : {"[{}, {'x','y','z'}]", "[{'z','y','x'}, {}]"}) {
    auto module = ParseHloModule(absl::Substitute(R"(HloModule m, num_partitions=8
ENTRY e {
  x = f32[16,32] parameter(0), sharding={mesh['x'=2,'y'=2,'z'=2], [{'x','z'}, {}]}
  ROOT c = f32[16,32] custom-call(x), custom_call_target="Sharding", sharding={mesh['x'=2,'y'=2,'z'=2], $0}
})",
                                                  to));
    ASSERT_TRUE(module.ok()) << module.status();
    ASSERT_TRUE(MakePartitioner({.results = {true}})->Run(module->get(), {}).ok());
    const std::string text = PrintHloModule(**module);
    EXPECT_TRUE(absl::StrContains(text, " collective-permute(")) << text;
    EXPECT_FALSE(absl::StrContains(text, " all-gather(")) << text;
  }
}

// From x y on dimension 2 to x, y and z, of which devices have copies: z cuts dimension 0 before anything moves, and
// all that moves are tiles of an eighth.
TEST(DividedProgramsTest, CopiesAreCutBeforeSeveralDimensionsAre) {
  auto module = ParseHloModule(R"(HloModule m, num_partitions=8
ENTRY e {
  x = f32[8,16,8] parameter(0), sharding={mesh['x'=2,'y'=2,'z'=2], [{}, {}, {'x','y'}]}
  ROOT c = f32[8,16,8] custom-call(x), custom_call_target="Sharding", sharding={mesh['x'=2,'y'=2,'z'=2], [{'x'}, {'y'}, {'z'}]}
})");
  ASSERT_TRUE(module.ok()) << module.status();
  ASSERT_TRUE(MakePartitioner({.results = {true}})->Run(module->get(), {}).ok());
  const std::string text = PrintHloModule(**module);
  for (const char* part : {"= f32[2,4,8,2]{3,2,1,0} all-to-all(", "= f32[4,8,4]{2,1,0} collective-permute("})
    EXPECT_TRUE(absl::StrContains(text, part)) << part << "\n" << text;
}

// From x on rows and y z on columns to y z on rows: rows take one of the two parts that columns give up, and the other
// one is joined at the end, to tiles of 4 rows.
TEST(DividedProgramsTest, ReshardsJoinWhatIsLeft) {
  auto module = ParseHloModule(R"(HloModule m, num_partitions=8
ENTRY e {
  x = f32[16,32] parameter(0), sharding={mesh['x'=2,'y'=2,'z'=2], [{'x'}, {'y','z'}]}
  ROOT c = f32[16,32] custom-call(x), custom_call_target="Sharding", sharding={mesh['x'=2,'y'=2,'z'=2], [{'y','z'}, {}]}
})");
  ASSERT_TRUE(module.ok()) << module.status();
  ASSERT_TRUE(MakePartitioner({.results = {true}})->Run(module->get(), {}).ok());
  const std::string text = PrintHloModule(**module);
  for (const char* part : {" all-to-all(", "= f32[4,16]{1,0} collective-permute(", "= f32[2,4,16]{2,1,0} all-gather("})
    EXPECT_TRUE(absl::StrContains(text, part)) << part << "\n" << text;
}

// From z on columns to x z y on columns: the copies are cut by x and by y, and a quarter of what was there is permuted.
TEST(DividedProgramsTest, CopiesAreCutBySeveralAxes) {
  auto module = ParseHloModule(R"(HloModule m, num_partitions=8
ENTRY e {
  x = f32[16,32] parameter(0), sharding={mesh['x'=2,'y'=2,'z'=2], [{}, {'z'}]}
  ROOT c = f32[16,32] custom-call(x), custom_call_target="Sharding", sharding={mesh['x'=2,'y'=2,'z'=2], [{}, {'x','z','y'}]}
})");
  ASSERT_TRUE(module.ok()) << module.status();
  ASSERT_TRUE(MakePartitioner({.results = {true}})->Run(module->get(), {}).ok());
  const std::string text = PrintHloModule(**module);
  EXPECT_TRUE(absl::StrContains(text, "= f32[16,4]{1,0} collective-permute(")) << text;
}

// Several dimensions become finer. From x y z on 2 to x on 0, y on 1 and z on 2: dimensions 0 and 1 each take a part of
// what 2 gives up. From y z on 0 and x on 2 to z on 0 and y x on 1: 1 takes a part from each. From y on 0 to x on 0,
// y on 1 and z on 2: copies are cut along 1 and 2. Nothing is joined.
TEST(DividedProgramsTest, SeveralDimensionsBecomeFiner) {
  struct Case {
    std::string from, to;
    bool exchanged;
  };
  for (const Case& c : {Case{"[{}, {}, {'x','y','z'}]", "[{'x'}, {'y'}, {'z'}]", true},
                        Case{"[{'y','z'}, {}, {'x'}]", "[{'z'}, {'y','x'}, {}]", true},
                        Case{"[{'y'}, {}, {}]", "[{'x'}, {'y'}, {'z'}]", false},
                        Case{"[{'z'}, {}, {}]", "[{'x'}, {'y','z'}, {}]", false}}) {
    auto module = ParseHloModule(absl::Substitute(R"(HloModule m, num_partitions=8
ENTRY e {
  x = f32[8,8,8] parameter(0), sharding={mesh['x'=2,'y'=2,'z'=2], $0}
  ROOT c = f32[8,8,8] custom-call(x), custom_call_target="Sharding", sharding={mesh['x'=2,'y'=2,'z'=2], $1}
})",
                                                  c.from, c.to));
    ASSERT_TRUE(module.ok()) << module.status();
    ASSERT_TRUE(MakePartitioner({.results = {true}})->Run(module->get(), {}).ok());
    const std::string text = PrintHloModule(**module);
    EXPECT_FALSE(absl::StrContains(text, " all-gather(")) << text;
    EXPECT_EQ(absl::StrContains(text, " all-to-all("), c.exchanged) << text;
    EXPECT_TRUE(absl::StrContains(text, " collective-permute(")) << text;
  }
}

// The program as it is divided.
std::string Divided(absl::string_view text, OpenValues open = {}) {
  auto module = ParseHloModule(text);
  if (!module.ok()) return std::string(module.status().message());
  const auto run = MakePartitioner(std::move(open))->Run(module->get(), {});
  return run.ok() ? PrintHloModule(**module) : std::string(run.status().message());
}

int CountOf(absl::string_view text, absl::string_view part) {
  return static_cast<int>(std::vector<absl::string_view>(absl::StrSplit(text, part)).size()) - 1;
}

// An open parameter that a constraint states the sharding of is cut by the part of an axis that divides it, others and
// results only by whole axes: a result is not computed in tiles that would be joined.
TEST(DividedProgramsTest, PartsOfAxes) {
  const std::string text =
      Divided(R"(HloModule m, num_partitions=8, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["x"=2, "y"=4]>}}
ENTRY e {
  x = f32[11,14] parameter(0)
  c = f32[11,14] custom-call(x), custom_call_target="Sharding", sharding={mesh['x'=2,'y'=4], [{'x'}, {'y'}]}
  ROOT r = f32[11,14] exponential(c)
})",
              {.parameters = {true}, .results = {true}});
  EXPECT_TRUE(absl::StrContains(text, "f32[11,7] parameter(0)")) << text;
  EXPECT_TRUE(absl::StrContains(text, "spmd_output_sharding={replicated}")) << text;
  EXPECT_EQ(CountOf(text, " all-gather("), 1) << text;
  const std::string propagated =
      Divided(R"(HloModule m, num_partitions=8, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["x"=2, "y"=4]>}}
ENTRY e {
  x = f32[12,14] parameter(0)
  y = f32[12,14] cosine(x)
  c = f32[12,14] custom-call(y), custom_call_target="Sharding", sharding={mesh['x'=2,'y'=4], [{'x'}, {'y'}]}
  ROOT r = f32[12,14] exponential(c)
})",
              {.parameters = {true}, .results = {true}});
  EXPECT_TRUE(absl::StrContains(propagated, "f32[6,14] parameter(0)")) << propagated;
}

// Dimensions that are reversed together are exchanged together.
TEST(DividedProgramsTest, ReversesAreOneExchange) {
  const std::string text = Divided(R"(HloModule m, num_partitions=8
ENTRY e {
  x = f32[8,16,4] parameter(0), sharding={devices=[2,2,2]<=[8]}
  ROOT r = f32[8,16,4] reverse(x), dimensions={0,1,2}, sharding={devices=[2,2,2]<=[8]}
})");
  EXPECT_EQ(CountOf(text, " collective-permute("), 1) << text;
  EXPECT_TRUE(absl::StrContains(text, "source_target_pairs={{4,3},{5,2},{6,1},{7,0},{0,7},{1,6},{2,5},{3,4}}")) << text;
}

// Windows of which the tiles divide neither the operand nor the results take what they reach of their neighbors' tiles.
TEST(DividedProgramsTest, WindowsOfSizesThatDoNotDivide) {
  const std::string text = Divided(R"(HloModule m, num_partitions=4
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY e {
  x = f32[32,8] parameter(0), sharding={devices=[4,1]<=[4]}
  zero = f32[] constant(0)
  v = f32[30,8] reduce-window(x, zero), window={size=3x1}, to_apply=add
  w = f32[29,8] reduce-window(v, zero), window={size=2x1}, to_apply=add
  e = f32[29,8] exponential(w)
  ROOT s = f32[8] reduce(e, zero), dimensions={0}, to_apply=add
})");
  EXPECT_EQ(CountOf(text, " all-gather("), 0) << text;
  EXPECT_EQ(CountOf(text, " all-reduce("), 1) << text;
  EXPECT_TRUE(absl::StrContains(text, "f32[8,8] reduce-window(")) << text;
}

// Tiles that do not divide the windows of a kernel's gradient: the last partition adds up those that it has.
TEST(DividedProgramsTest, TilesThatDoNotDivideWindows) {
  const std::string text = Divided(R"(HloModule m, num_partitions=4
ENTRY e {
  x = f32[1,16,2] parameter(0), sharding={devices=[1,4,1]<=[4]}
  k = f32[3,2,2] parameter(1)
  v = f32[1,14,2] convolution(x, k), window={size=3}, dim_labels=b0f_0io->b0f
  ROOT g = f32[3,2,2] convolution(x, v), window={size=14}, dim_labels=f0b_i0o->0bf
})");
  EXPECT_EQ(CountOf(text, " all-gather("), 0) << text;
  EXPECT_EQ(CountOf(text, " all-reduce("), 1) << text;
  EXPECT_EQ(CountOf(text, "window={size=4"), 1) << text;
  EXPECT_EQ(CountOf(text, "window={size=2"), 1) << text;
}

// Borders that are repeated along two dimensions, as jnp.pad does it, stay in tiles.
TEST(DividedProgramsTest, RepeatedBordersAreNotGathered) {
  const std::string text = Divided(R"(HloModule m, num_partitions=8
ENTRY e {
  x = f32[32,16] parameter(0), sharding={devices=[4,2]<=[8]}
  row = f32[1,16] slice(x), slice={[0:1], [0:16]}
  one = f32[1,1,16] broadcast(row), dimensions={0,2}
  again = f32[1,16] reshape(one)
  last = f32[1,16] slice(x), slice={[31:32], [0:16]}
  rows = f32[34,16] concatenate(again, x, last), dimensions={0}
  left = f32[34,1] slice(rows), slice={[0:34], [0:1]}
  right = f32[34,1] slice(rows), slice={[0:34], [15:16]}
  both = f32[34,18] concatenate(left, rows, right), dimensions={1}
  moved = f32[32,16] slice(both), slice={[2:34], [1:17]}
  ROOT r = f32[32,16] subtract(x, moved), sharding={devices=[4,2]<=[8]}
})");
  EXPECT_EQ(CountOf(text, " all-gather("), 0) << text;
}

TEST(DividedProgramsTest, IotasAreMadeByTile) {
  const std::string text = Divided(R"(HloModule m, num_partitions=8
ENTRY e {
  i = u32[64,16] iota(), iota_dimension=0
  j = f32[64,16] iota(), iota_dimension=1
  k = u32[64,16] multiply(i, i)
  f = f32[64,16] convert(k)
  ROOT r = f32[64,16] add(f, j), sharding={devices=[4,2]<=[8]}
})");
  EXPECT_TRUE(absl::StrContains(text, "u32[16,8] iota(), iota_dimension=0")) << text;
  // Floats round: those of another start are not these plus the start.
  EXPECT_TRUE(absl::StrContains(text, "f32[64,16] iota(), iota_dimension=1")) << text;
  EXPECT_EQ(CountOf(text, "u32[64,16]"), 0) << text;
}

// A manual computation without results in another one whose other axes are automatic, as debug prints of JAX are.
TEST(DividedProgramsTest, ManualComputationsOfEffectsAlone) {
  const std::string text =
      Divided(R"(HloModule m, num_partitions=8, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["x"=2, "y"=4]>}}
ENTRY e {
  v = f32[4,8] parameter(0), sharding={devices=[2,4]<=[8]}
  l = f32[2,8] custom-call(v), custom_call_target="xla.sdy.GlobalToLocalShape", frontend_attributes={xla.sdy.in_shardings="#sdy.sharding_per_value<[<@mesh, [{\"x\"}, {}]>]>",xla.sdy.manual_axes="#sdy<manual_axes{\"x\"}>"}
  n = f32[2,8] custom-call(l), custom_call_target="xla.sdy.GlobalToLocalShape", frontend_attributes={xla.sdy.in_shardings="#sdy.sharding_per_value<[<@mesh, [{}, {}]>]>",xla.sdy.manual_axes="#sdy<manual_axes{\"y\"}>"}
  effect = () custom-call(n), custom_call_target="see", custom_call_has_side_effect=true
  m = f32[2,8] negate(l)
  ROOT g = f32[4,8] custom-call(m), custom_call_target="xla.sdy.LocalToGlobalShape", frontend_attributes={xla.sdy.out_shardings="#sdy.sharding_per_value<[<@mesh, [{\"x\"}, {}]>]>",xla.sdy.manual_axes="#sdy<manual_axes{\"x\"}>"}
})");
  EXPECT_TRUE(absl::StrContains(text, "custom_call_target=\"see\"")) << text;
}

// A manual computation in another one, in a loop or not, is divided by the axes that neither makes manual.
TEST(DividedProgramsTest, ManualComputationsInOthers) {
  constexpr absl::string_view kProgram =
      R"(HloModule m, num_partitions=8, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["x"=2, "y"=2, "z"=2]>}}
step {
  v = f32[8,32] parameter(0)
  n = f32[8,16] custom-call(v), custom_call_target="xla.sdy.GlobalToLocalShape", frontend_attributes={xla.sdy.in_shardings="#sdy.sharding_per_value<[<@mesh, [{?}, {\"y\", ?}]>]>",xla.sdy.manual_axes="#sdy<manual_axes{\"y\"}>"}
  p = f32[8,16] collective-permute(n), channel_id=1, source_target_pairs={{0,2},{2,0},{1,3},{3,1},{4,6},{6,4},{5,7},{7,5}}
  j = f32[8,32] custom-call(p), custom_call_target="xla.sdy.LocalToGlobalShape", frontend_attributes={xla.sdy.out_shardings="#sdy.sharding_per_value<[<@mesh, [{?}, {\"y\", ?}]>]>",xla.sdy.manual_axes="#sdy<manual_axes{\"y\"}>"}
  ROOT s = f32[8,32] add(v, j)
}
body {
  p = (s32[], f32[8,32]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  v = f32[8,32] get-tuple-element(p), index=1
  s = f32[8,32] call(v), to_apply=step
  one = s32[] constant(1)
  k = s32[] add(i, one)
  ROOT r = (s32[], f32[8,32]) tuple(k, s)
}
condition {
  p = (s32[], f32[8,32]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(3)
  ROOT c = pred[] compare(i, n), direction=LT
}
loop {
  v = f32[8,32] parameter(0)
  zero = s32[] constant(0)
  state = (s32[], f32[8,32]) tuple(zero, v)
  w = (s32[], f32[8,32]) while(state), condition=condition, body=body
  ROOT r = f32[8,32] get-tuple-element(w), index=1
}
ENTRY e {
  v = f32[16,32] parameter(0), sharding={devices=[2,4]<=[8]}
  l = f32[8,32] custom-call(v), custom_call_target="xla.sdy.GlobalToLocalShape", frontend_attributes={xla.sdy.in_shardings="#sdy.sharding_per_value<[<@mesh, [{\"x\", ?}, {?}]>]>",xla.sdy.manual_axes="#sdy<manual_axes{\"x\"}>"}
  m = f32[8,32] call(l), to_apply=$0
  ROOT g = f32[16,32] custom-call(m), custom_call_target="xla.sdy.LocalToGlobalShape", sharding={devices=[2,4]<=[8]}, frontend_attributes={xla.sdy.out_shardings="#sdy.sharding_per_value<[<@mesh, [{\"x\", ?}, {?}]>]>",xla.sdy.manual_axes="#sdy<manual_axes{\"x\"}>"}
})";
  for (const absl::string_view steps : {"step", "loop"}) {
    const std::string text = Divided(absl::Substitute(kProgram, steps));
    EXPECT_EQ(CountOf(text, " all-gather("), 0) << text;
    EXPECT_EQ(CountOf(text, " collective-permute("), 1) << text;
    EXPECT_EQ(CountOf(text, "f32[8,8] collective-permute("), 1) << text;
  }
}

// Each partition makes the call, of its tile, whatever the result of the program has.
TEST(DividedProgramsTest, CallsOnTiles) {
  const std::string text = Divided(R"(HloModule m, num_partitions=4
ENTRY e {
  x = f32[8,2] parameter(0), sharding={devices=[4,1]<=[4]}
  effect = () custom-call(x), custom_call_target="see", custom_call_has_side_effect=true, operand_layout_constraints={f32[8,2]{1,0}}, frontend_attributes={on_tiles="true"}
  ROOT r = f32[8,2] negate(x), sharding={devices=[4,1]<=[4]}
})");
  EXPECT_EQ(CountOf(text, " all-gather("), 0) << text;
  EXPECT_TRUE(absl::StrContains(text, "operand_layout_constraints={f32[2,2]{1,0}}")) << text;
}

// What a loop adds up of all devices is exchanged once, behind the loop, but only if the loop does nothing else with
// it.
TEST(DividedProgramsTest, SumsOfLoopsAreExchangedBehindThem) {
  constexpr absl::string_view kLoop = R"(HloModule m, num_partitions=4
body {
  p = (s32[], f32[8,8], f32[3,16,8]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  s = f32[8,8] get-tuple-element(p), index=1
  x = f32[3,16,8] get-tuple-element(p), index=2
  zero = s32[] constant(0)
  row = f32[1,16,8] dynamic-slice(x, i, zero, zero), dynamic_slice_sizes={1,16,8}
  a = f32[16,8] reshape(row)
  d = f32[8,8] dot(a, a), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  g = f32[8,8] transpose(d), dimensions={1,0}
  t = f32[8,8] $0
  one = s32[] constant(1)
  j = s32[] add(i, one)
  ROOT r = (s32[], f32[8,8], f32[3,16,8]) tuple(j, t, x)
}
condition {
  p = (s32[], f32[8,8], f32[3,16,8]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(3)
  ROOT c = pred[] compare(i, n), direction=LT
}
ENTRY e {
  x = f32[3,16,8] parameter(0), sharding={devices=[1,4,1]<=[4]}
  y = f32[8,8] parameter(1)
  zero = s32[] constant(0)
  start = f32[] constant(0)
  none = f32[8,8] broadcast(start), dimensions={}
  state = (s32[], f32[8,8], f32[3,16,8]) tuple(zero, $1, x)
  w = (s32[], f32[8,8], f32[3,16,8]) while(state), condition=condition, body=body
  ROOT r = f32[8,8] get-tuple-element(w), index=1
})";
  const auto entry = [&](absl::string_view sum, absl::string_view start) {
    const std::string text = Divided(absl::Substitute(kLoop, sum, start));
    EXPECT_EQ(CountOf(text, " all-reduce("), 1) << text;
    return text.substr(text.find("ENTRY"));
  };
  EXPECT_EQ(CountOf(entry("add(s, g)", "none"), " all-reduce("), 1);
  EXPECT_EQ(CountOf(entry("add(s, g)", "none"), " add("), 0);
  const std::string with_start = entry("add(g, s)", "y");
  EXPECT_EQ(CountOf(with_start, " all-reduce("), 1) << with_start;
  EXPECT_EQ(CountOf(with_start, " add(y, "), 1) << with_start;
  EXPECT_TRUE(absl::StrContains(with_start, "constant(-0)")) << with_start;
  EXPECT_EQ(CountOf(entry("multiply(s, g)", "none"), " all-reduce("), 0);
  EXPECT_EQ(CountOf(entry("subtract(s, g)", "none"), " all-reduce("), 0);
}

// Of rows that loops take one after the other, and of which the bodies need columns, these are exchanged before them.
TEST(DividedProgramsTest, StatesAreExchangedBeforeLoops) {
  const std::string text = Divided(R"(HloModule m, num_partitions=8
body {
  p = (s32[], f32[16], f32[8,16]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  c = f32[16] get-tuple-element(p), index=1
  x = f32[8,16] get-tuple-element(p), index=2
  zero = s32[] constant(0)
  row = f32[1,16] dynamic-slice(x, i, zero), dynamic_slice_sizes={1,16}
  a = f32[16] reshape(row)
  t = f32[16] multiply(c, a)
  one = s32[] constant(1)
  j = s32[] add(i, one)
  ROOT r = (s32[], f32[16], f32[8,16]) tuple(j, t, x)
}
condition {
  p = (s32[], f32[16], f32[8,16]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(8)
  ROOT c = pred[] compare(i, n), direction=LT
}
ENTRY e {
  x = f32[8,16] parameter(0), sharding={devices=[8,1]<=[8]}
  y = f32[16] parameter(1), sharding={devices=[8]<=[8]}
  zero = s32[] constant(0)
  state = (s32[], f32[16], f32[8,16]) tuple(zero, y, x)
  w = (s32[], f32[16], f32[8,16]) while(state), condition=condition, body=body
  ROOT r = f32[16] get-tuple-element(w), index=1, sharding={devices=[8]<=[8]}
})");
  EXPECT_EQ(CountOf(text, " all-gather("), 0) << text;
  EXPECT_EQ(CountOf(text, " all-to-all("), 1) << text;
  EXPECT_EQ(CountOf(text.substr(text.find("ENTRY")), " all-to-all("), 1) << text;
}

// A difference of differences: what every partition has all of is not computed in tiles, which would be joined again.
TEST(DividedProgramsTest, SlicesOfGatheredArraysAreWhole) {
  const std::string text = Divided(R"(HloModule m, num_partitions=8
ENTRY e {
  x = f32[64,16] parameter(0), sharding={devices=[8,1]<=[8]}
  a = f32[63,16] slice(x), slice={[1:64], [0:16]}
  b = f32[63,16] slice(x), slice={[0:63], [0:16]}
  d = f32[63,16] subtract(a, b)
  e = f32[62,16] slice(d), slice={[1:63], [0:16]}
  f = f32[62,16] slice(d), slice={[0:62], [0:16]}
  ROOT r = f32[62,16] subtract(e, f)
})",
                                   {.results = {true}});
  EXPECT_EQ(CountOf(text, " all-gather("), 1) << text;
}

// Elements that are taken apart and put together again, as in the gradient of a scan: 60 rows stay in 8 tiles.
TEST(DividedProgramsTest, PadsOfTilesThatDoNotDivide) {
  const std::string text = Divided(R"(HloModule m, num_partitions=8
ENTRY e {
  x = f32[64,16] parameter(0), sharding={devices=[8,1]<=[8]}
  zero = f32[] constant(0)
  a = f32[60,16] slice(x), slice={[2:62], [0:16]}
  even = f32[30,16] slice(a), slice={[0:60:2], [0:16]}
  odd = f32[30,16] slice(a), slice={[1:60:2], [0:16]}
  product = f32[30,16] multiply(even, odd)
  difference = f32[30,16] subtract(even, odd)
  spread = f32[60,16] pad(product, zero), padding=0_1_1x0_0
  between = f32[60,16] pad(difference, zero), padding=1_0_1x0_0
  sum = f32[60,16] add(spread, between)
  ROOT r = f32[64,16] pad(sum, zero), padding=2_2x0_0, sharding={devices=[8,1]<=[8]}
})");
  EXPECT_EQ(CountOf(text, " all-gather("), 0) << text;
  EXPECT_EQ(CountOf(text, " all-to-all("), 0) << text;
}

// A constraint that states such tiles keeps them, and so does a reverse; one that states others does not.
TEST(DividedProgramsTest, ConstraintsOfTilesThatDoNotDivide) {
  const auto divided = [](absl::string_view tiles) {
    return Divided(absl::Substitute(R"(HloModule m, num_partitions=8
ENTRY e {
  x = f32[64,16] parameter(0), sharding={devices=[8,1]<=[8]}
  zero = f32[] constant(0)
  a = f32[60,16] slice(x), slice={[2:62], [0:16]}
  c = f32[60,16] custom-call(a), custom_call_target="Sharding", sharding={devices=$0<=[8]}
  back = f32[60,16] reverse(c), dimensions={0}
  sum = f32[60,16] add(back, c)
  d = f32[60,16] custom-call(sum), custom_call_target="Sharding", sharding={devices=$0<=[8]}
  ROOT r = f32[64,16] pad(d, zero), padding=2_2x0_0, sharding={devices=[8,1]<=[8]}
})",
                                    tiles));
  };
  std::string text = divided("[8,1]");
  EXPECT_EQ(CountOf(text, " all-gather("), 0) << text;
  EXPECT_TRUE(absl::StrContains(text, "f32[8,16]{1,0} add(") || absl::StrContains(text, "f32[8,16] add(")) << text;
  text = divided("[4,2]");
  EXPECT_TRUE(absl::StrContains(text, "f32[15,8]{1,0} add(") || absl::StrContains(text, "f32[15,8] add(")) << text;
}

// Of 63 rows in 8 tiles: what updates are scattered to, and what is gathered of them, is combined; a result that is
// larger than the updates is not.
TEST(DividedProgramsTest, IndicesOfTilesThatDoNotDivide) {
  const auto divided = [](int rows) {
    return Divided(absl::Substitute(R"(HloModule m, num_partitions=8
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY e {
  x = f32[64,4] parameter(0), sharding={devices=[8,1]<=[8]}
  p = s32[64,1] parameter(1), sharding={devices=[8,1]<=[8]}
  few = s32[5,1] parameter(2), sharding={replicated}
  updates = f32[63,4] slice(x), slice={[1:64], [0:4]}
  places = s32[63,1] slice(p), slice={[1:64], [0:1]}
  zero = f32[] constant(0)
  zeros = f32[$0,4] broadcast(zero), dimensions={}
  sums = f32[$0,4] scatter(zeros, places, updates), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, indices_are_sorted=true, unique_indices=true, to_apply=add
  gathered = f32[5,4] gather(updates, few), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,4}
  ROOT r = (f32[$0,4], f32[5,4]) tuple(sums, gathered)
})",
                                    rows),
                   {.results = {true, true}});
  };
  std::string text = divided(13);
  EXPECT_EQ(CountOf(text, " all-gather("), 0) << text;
  EXPECT_TRUE(absl::StrContains(text, "f32[13,4] scatter(")) << text;
  EXPECT_TRUE(absl::StrContains(text, "f32[5,4] gather(")) << text;
  // Those beyond the array repeat others.
  EXPECT_FALSE(absl::StrContains(text, "unique_indices=true")) << text;
  EXPECT_FALSE(absl::StrContains(text, "indices_are_sorted=true")) << text;
  text = divided(1000);
  EXPECT_EQ(CountOf(text, " all-reduce("), 0) << text;
}

// Of 63 lists of sorted indices in tiles of 32 lists, those beyond the array are any.
TEST(DividedProgramsTest, SortedIndicesOfTilesThatDoNotDivide) {
  const std::string text = Divided(R"(HloModule m, num_partitions=8
ENTRY e {
  x = f32[64,4096,4] parameter(0), sharding={devices=[2,4,1]<=[8]}
  p = s32[64,5,1] parameter(1), sharding={devices=[2,1,1,4]<=[8] last_tile_dim_replicate}
  zero = f32[] constant(0)
  tables = f32[63,4096,4] slice(x), slice={[1:64], [0:4096], [0:4]}
  places = s32[63,5,1] slice(p), slice={[1:64], [0:5], [0:1]}
  gathered = f32[63,5,4] gather(tables, places), offset_dims={2}, collapsed_slice_dims={1}, start_index_map={1}, operand_batching_dims={0}, start_indices_batching_dims={0}, index_vector_dim=2, slice_sizes={1,1,4}, indices_are_sorted=true
  ROOT r = f32[64,5,4] pad(gathered, zero), padding=1_0x0_0x0_0, sharding={devices=[2,1,1,4]<=[8] last_tile_dim_replicate}
})");
  EXPECT_TRUE(absl::StrContains(text, "f32[32,5,4] gather(")) << text;
  EXPECT_EQ(CountOf(text, " all-gather("), 0) << text;
  EXPECT_FALSE(absl::StrContains(text, "indices_are_sorted=true")) << text;
}

// Tiles of 9 elements, which 5 or 6 windows reach: each gets what its own ones reach.
TEST(DividedProgramsTest, SelectedWindowsThatExist) {
  const std::string text = Divided(R"(HloModule m, num_partitions=4
ge { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = pred[] compare(a, b), direction=GE }
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY e {
  x = f32[32,8] parameter(0), sharding={devices=[4,1]<=[4]}
  s = f32[16,8] parameter(1), sharding={devices=[4,1]<=[4]}
  low = f32[] constant(-inf)
  zero = f32[] constant(0)
  padded = f32[33,8] pad(x, low), padding=0_1x0_0
  g = f32[33,8] select-and-scatter(padded, s, zero), window={size=3x1 stride=2x1}, select=ge, scatter=add
  ROOT r = f32[32,8] slice(g), slice={[0:32], [0:8]}, sharding={devices=[4,1]<=[4]}
})");
  EXPECT_TRUE(absl::StrContains(text, "f32[13,8]{1,0} select-and-scatter(")) << text;
  // To make tiles of 9 and back; what windows reach of the neighbors is two elements.
  EXPECT_EQ(CountOf(text, "f32[3,8]{1,0} collective-permute("), 2) << text;
  EXPECT_EQ(CountOf(text, "f32[2,8]{1,0} collective-permute("), 3) << text;
}

}  // namespace
}  // namespace hilo
