// Shardings that the partitioner finds for the results of programs, which leave them open.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/substitute.h"
#include "gtest/gtest.h"
#include "hilo/host.h"
#include "hlo/import/stablehlo/stablehlo_import.h"
#include "hlo/ir/tile_assignment.h"
#include "hlo/passes/standard_passes.h"
#include "hlo/text/hlo_parser.h"
#include "hlo/text/hlo_printer.h"
#include "tests/unit/hlo/passes/sharding_testing.h"

namespace hilo {
namespace {

using testing::kAOnColumns;
using testing::kAOnRows;
using testing::kBOnColumns;
using testing::kBOnRows;
using testing::kBothOnRowsAndColumns;
using testing::OfStablehlo;
using testing::ResultSharding;

// Of a mesh of other devices than the program has, or of only some of them.
TEST(ShardingsTest, DevicesThatAreLeftOut) {
  for (const char* mesh : {R"(mesh<["c"=2], device_ids=[7, 6]>)", R"(mesh<["c"=2], device_ids=[0, 1]>)",
                           R"(mesh<["c"=2], device_ids=[70, 60]>)"}) {
    for (const char* dimension : {R"({"c"})", R"({"c"}p1)", R"({"c", ?})"}) {
      const std::string result = OfStablehlo(
          absl::StrCat("%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<", mesh, ", [", dimension, ", {}]>}"),
          "  %s = stablehlo.sine %x : tensor<8x16xf32>\n  return %s : tensor<8x16xf32>");
      EXPECT_TRUE(absl::StrContains(result, "devices")) << result;
      const std::string constrained = OfStablehlo(
          "%x: tensor<8x16xf32>", absl::StrCat("  %s = sdy.sharding_constraint %x <", mesh, ", [", dimension,
                                               ", {}]> : tensor<8x16xf32>\n  return %s : tensor<8x16xf32>"));
      EXPECT_TRUE(absl::StrContains(constrained, "devices")) << constrained;
    }
  }
}

TEST(ShardingsTest, GroupsAsText) {
  constexpr char kArguments[] =
      R"(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<mesh<["a"=2, "b"=4]>, [{"a"}, {}]>})";
  constexpr char kBody[] = R"(  %i = stablehlo.iota dim = 0 : tensor<8x16xf32>
  %s = stablehlo.sine %x : tensor<8x16xf32>
  sdy.sharding_group %s group_id=21 : tensor<8x16xf32>
  sdy.sharding_group %i group_id = 21 : tensor<8x16xf32>
  return %i : tensor<8x16xf32>)";
  EXPECT_EQ(OfStablehlo(kArguments, kBody), kAOnRows);
}

std::string OfHlo(absl::string_view x, absl::string_view body) {
  return ResultSharding(ParseHloModule(absl::StrCat(
      "HloModule m, num_partitions=8\nENTRY e {\n  x = f32[8,16] parameter(0), sharding=", x, "\n", body, "\n}\n")));
}

// Shardings of HLO by the axes of a mesh.
TEST(ShardingsTest, OfNamedAxes) {
  constexpr char kSine[] = "  ROOT s = f32[8,16] sine(x)";
  EXPECT_EQ(OfHlo("{mesh['a'=2,'b'=4], [{'a'}, {}]}", kSine), kAOnRows);
  EXPECT_EQ(OfHlo("{mesh['a'=2,'b'=4], [{}, {'b'}]}", kSine), kBOnColumns);
  EXPECT_EQ(OfHlo("{mesh['a'=2,'b'=4], [{'a'}, {'b'}]}", kSine), kBothOnRowsAndColumns);
  EXPECT_EQ(OfHlo("{mesh['b'=4,'a'=2], device_ids=([2,4]T(1,0)), [{'b'}, {}]}", kSine), kBOnRows);
  EXPECT_EQ(OfHlo("{mesh['z/w'=8], [{'z/w':(1)2}, {}]}", kSine), kAOnRows);
  // A mark, with a dimension that it leaves open.
  EXPECT_EQ(OfHlo("{mesh['a'=2,'b'=4], [{'a'}, {}]}",
                  "  ROOT c = f32[8,16] custom-call(x), custom_call_target=\"Sharding\", sharding={mesh['a'=2,'b'=4], "
                  "[{?}, {'b'}]}"),
            kBothOnRowsAndColumns);
}

// Rules of ops by which Shardy propagates, beside those that tiles are computed by.
TEST(ShardingsTest, OfOps) {
  constexpr char kReplicated[] = "{replicated}";
  const struct {
    const char *x, *sharding, *root, *result;
  } cases[] = {
      {"u32[8,16]", "[{'a'}, {'b'}]", "f32[8,16] bitcast-convert(x)", kBothOnRowsAndColumns},
      {"f32[8,16,2]", "[{'a'}, {'b'}, {}]", "f64[8,16] bitcast-convert(x)", kBothOnRowsAndColumns},
      // The sizes have the divisor 4.
      {"f32[8,12]", "[{'b'}, {}]", "f32[12,8] reshape(x)", kBOnRows},
      {"f32[8,12]", "[{}, {'b'}]", "f32[12,8] reshape(x)", kReplicated},
      {"f32[6,4]", "[{}, {'b'}]", "f32[3,8] reshape(x)", kReplicated},
      // Half a spectrum, and all of it.
      {"c64[8,8]", "[{}, {'a'}]", "f32[8,14] fft(x), fft_type=IRFFT, fft_length={14}", kReplicated},
      {"c64[8,8]", "[{}, {'a'}]", "c64[8,8] fft(x), fft_type=FFT, fft_length={8}", kAOnColumns},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(ResultSharding(ParseHloModule(absl::StrCat("HloModule m, num_partitions=8\nENTRY e {\n  x = ", c.x,
                                                         " parameter(0), sharding={mesh['a'=2,'b'=4], ", c.sharding,
                                                         "}\n  ROOT r = ", c.root, "\n}\n"))),
              c.result)
        << c.x << " " << c.sharding << " " << c.root;
  }
}

// Indices that get a dimension of size 1 are the same, so that the rows that they gather, which are more than the other
// operand, decide.
TEST(ShardingsTest, OfGatheredRows) {
  EXPECT_EQ(OfStablehlo(R"(%t: tensor<64x32xf32>, %i: tensor<16xi32> {sdy.sharding = #sdy.sharding<@m, [{"a"}]>},
                  %w: tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}, {}]>})",
                        R"(  %j = stablehlo.broadcast_in_dim %i, dims = [0] : (tensor<16xi32>) -> tensor<16x1xi32>
  %h = "stablehlo.gather"(%t, %j) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 32>}> : (tensor<64x32xf32>, tensor<16x1xi32>) -> tensor<16x32xf32>
  %z = stablehlo.dot_general %w, %h, contracting_dims = [1] x [1] : (tensor<8x32xf32>, tensor<16x32xf32>) -> tensor<8x16xf32>
  return %z : tensor<8x16xf32>)"),
            kAOnColumns);
}

// Groups are the major part of what they divide, and of the output features; the other part of the features is the
// kernel's, that of the batch the result's.
TEST(ShardingsTest, OfConvolutionsWithGroups) {
  const struct {
    const char *x, *kernel;
    int batch_groups, feature_groups;
    const char* result;
  } cases[] = {
      {R"([{}, {"b"}])", "[{}, {}]", 1, 4, kBOnColumns},
      {R"([{}, {"b"}])", "[{}, {}]", 1, 2, "{replicated}"},  // half of "b"
      {R"([{"a"}, {}])", R"([{}, {"b"}])", 1, 2, kBothOnRowsAndColumns},
      {R"([{"b"}, {}])", "[{}, {}]", 4, 1, kBOnColumns},
      {R"([{"b"}, {}])", "[{}, {}]", 2, 1, "{replicated}"},  // one half on rows, one on columns
      {R"([{"a"}, {}])", R"([{}, {}])", 2, 1, kAOnColumns},
      {"[{}, {}]", R"([{}, {"b"}])", 2, 1, kBOnColumns},
  };
  for (const auto& c : cases) {
    const std::string x = absl::StrCat("tensor<", 8 * c.batch_groups, "x16xf32>"),
                      kernel = absl::StrCat("tensor<", 16 / c.feature_groups, "x16xf32>");
    EXPECT_EQ(
        OfStablehlo(absl::StrCat("%x: ", x, " {sdy.sharding = #sdy.sharding<@m, ", c.x, ">}, %k: ", kernel,
                                 " {sdy.sharding = #sdy.sharding<@m, ", c.kernel, ">}"),
                    absl::StrCat("  %z = stablehlo.convolution(%x, %k) dim_numbers = [b, f]x[i, o]->[b, f], "
                                 "window = {} {batch_group_count = ",
                                 c.batch_groups, " : i64, feature_group_count = ", c.feature_groups, " : i64} : (", x,
                                 ", ", kernel, ") -> tensor<8x16xf32>\n", "  return %z : tensor<8x16xf32>")),
        c.result)
        << c.x << " and " << c.kernel << ", " << c.batch_groups << " and " << c.feature_groups << " groups";
  }
}

// Two marks of one group.
TEST(ShardingsTest, OfShardGroups) {
  for (const char* kind : {"shard_as", "shard_like"}) {
    EXPECT_EQ(OfHlo("{devices=[2,1,4]<=[8] last_tile_dim_replicate}", absl::StrReplaceAll(R"(  s = f32[8,16] sine(x)
  t = f32[8,16] custom-call(s), custom_call_target="Sharding", sharding={unknown KIND 3}
  i = f32[8,16] iota(), iota_dimension=0
  ROOT r = f32[8,16] custom-call(i), custom_call_target="Sharding", sharding={unknown KIND 3})",
                                                                                          {{"KIND", kind}})),
              kAOnRows)
        << kind;
  }
}

// A sharding goes past ShardBarrierFrom to the operand alone, past ShardBarrierTo to the result alone, and past a
// barrier of Shardy as that says.
TEST(ShardingsTest, BarriersOfOneDirection) {
  const auto barrier = [](int direction) {
    return absl::StrCat("xla.sdy.PropagationBarrier\", frontend_attributes={xla.sdy.allowed_direction=\"", direction,
                        " : i32\"}, backend_config=\"");
  };
  const auto forward = [](absl::string_view target) {
    return OfHlo("{devices=[2,1,4]<=[8] last_tile_dim_replicate}", absl::StrReplaceAll(R"(  s = f32[8,16] sine(x)
  ROOT r = f32[8,16] custom-call(s), custom_call_target="TARGET", custom_call_has_side_effect=true)",
                                                                                       {{"TARGET", target}}));
  };
  EXPECT_EQ(forward("ShardBarrierTo"), kAOnRows);
  EXPECT_EQ(forward("ShardBarrierFrom"), "{replicated}");
  EXPECT_EQ(forward(barrier(0)), "{replicated}");
  EXPECT_EQ(forward(barrier(1)), kAOnRows);
  EXPECT_EQ(forward(barrier(2)), "{replicated}");
  const auto backward = [](absl::string_view target) {
    return OfHlo("{devices=[2,1,4]<=[8] last_tile_dim_replicate}",
                 absl::StrReplaceAll(R"(  f = f32[8,16] iota(), iota_dimension=0
  i = f32[8,16] reverse(f), dimensions={1}
  b = f32[8,16] custom-call(i), custom_call_target="TARGET", custom_call_has_side_effect=true
  t = f32[8,16] add(b, x)
  ROOT r = f32[8,16] cosine(i))",
                                     {{"TARGET", target}}));
  };
  EXPECT_EQ(backward("ShardBarrierTo"), "{replicated}");
  EXPECT_EQ(backward("ShardBarrierFrom"), kAOnRows);
  EXPECT_EQ(backward(barrier(0)), "{replicated}");
  EXPECT_EQ(backward(barrier(1)), "{replicated}");
  EXPECT_EQ(backward(barrier(2)), kAOnRows);
}

// Three of six: of the four parts that the sharding asks for, two. The log names what is not divided as wanted.
TEST(ShardingsTest, SizesThatDoNotDivide) {
  std::string log;
  SetLogSink([&log](LogSeverity, absl::string_view message) { absl::StrAppend(&log, message, "\n"); });
  const std::string result = ResultSharding(ParseHloModule(R"(HloModule m, num_partitions=4
greater { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = pred[] compare(a, b), direction=GT }
ENTRY e {
  x = f32[8] parameter(0), sharding={mesh['a'=2,'b'=2], [{'a', 'b'}]}
  y = f32[6] slice(x), slice={[0:6]}
  z = f32[6] sine(y)
  s = f32[6] sort(z), dimensions={0}, to_apply=greater
  c = f32[6] custom-call(s), custom_call_target="Sharding", sharding={mesh['a'=2,'b'=2], [{'a'}]}
  ROOT r = f32[6] add(c, z)
})"));
  SetLogSink(nullptr);
  EXPECT_EQ(result, "{devices=[2,2]0,1,2,3 last_tile_dim_replicate}");
  for (const char* part : {"z (f32[6] into 2 instead of 4 along dimension 0)", "sharded arrays whole, for s",
                           "every partition computes the same, whole, for s"})
    EXPECT_TRUE(absl::StrContains(log, part)) << part << "\n" << log;
}

// The partitions exchange one result of each tile, not the tiles.
TEST(ShardingsTest, ScansExchangeTheirLastResults) {
  for (const bool from_back : {false, true}) {
    auto module = ParseHloModule(absl::StrCat(R"(HloModule m, num_partitions=4
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY e {
  x = f32[64,6] parameter(0), sharding={devices=[4,1]<=[4]}
  zero = f32[] constant(0)
  ROOT s = f32[64,6] reduce-window(x, zero), window={size=64x1 pad=)",
                                              from_back ? "0_63" : "63_0", R"(x0_0}, to_apply=add
})"));
    ASSERT_TRUE(module.ok()) << module.status();
    ASSERT_TRUE(MakePartitioner({.results = {true}})->Run(module->get(), {}).ok());
    const std::string text = PrintHloModule(**module);
    EXPECT_TRUE(absl::StrContains(text, "f32[4,6]{1,0} all-gather(")) << text;
    EXPECT_TRUE(absl::StrContains(text, absl::StrCat("window={size=16x1 pad=", from_back ? "0_15" : "15_0"))) << text;
    EXPECT_FALSE(absl::StrContains(text, "collective-permute(")) << text;
    EXPECT_EQ(ExtraAttribute((*module)->extra_attributes(), "spmd_output_sharding"), "{devices=[4,1]0,1,2,3}");
  }
}

// A reduction that does not begin with its identity would count its start once for each tile.
TEST(ShardingsTest, ScansWithAStartAreGathered) {
  auto module = ParseHloModule(R"(HloModule m, num_partitions=4
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY e {
  x = f32[64] parameter(0), sharding={devices=[4]<=[4]}
  one = f32[] constant(1)
  ROOT s = f32[64] reduce-window(x, one), window={size=64 pad=63_0}, to_apply=add
})");
  ASSERT_TRUE(module.ok()) << module.status();
  ASSERT_TRUE(MakePartitioner({.results = {true}})->Run(module->get(), {}).ok());
  EXPECT_FALSE(absl::StrContains(PrintHloModule(**module), "f32[4]{0} all-gather(")) << PrintHloModule(**module);
}

// What each partition's part of a reduction begins with is counted once; the partitions exchange the parts alone.
// Arrays that the computation mixes, and ops that the partitions cannot combine, are gathered.
TEST(ShardingsTest, ReductionsInParts) {
  const struct {
    const char *reduction, *combined;
    bool gathers;
  } cases[] = {
      {"(f32[], f32[]) reduce(x, y, zero, zero), dimensions={0}, to_apply=each", "(f32[], f32[]) all-reduce(", false},
      {"(f32[], f32[]) reduce(x, y, zero, start), dimensions={0}, to_apply=each", "(f32[], f32[]) all-reduce(", false},
      {"f32[] reduce(x, start), dimensions={0}, to_apply=add", "f32[] all-reduce(", false},
      {"(f32[], f32[]) reduce(x, y, zero, zero), dimensions={0}, to_apply=mixed", "f32[4,16]{1,0} all-gather(", true},
  };
  for (const auto& c : cases) {
    auto module = ParseHloModule(absl::StrCat(R"(HloModule m, num_partitions=4
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
each {
  a = f32[] parameter(0)  b = f32[] parameter(1)  c = f32[] parameter(2)  d = f32[] parameter(3)
  e = f32[] add(a, c)  f = f32[] add(d, b)
  ROOT g = (f32[], f32[]) tuple(e, f)
}
mixed {
  a = f32[] parameter(0)  b = f32[] parameter(1)  c = f32[] parameter(2)  d = f32[] parameter(3)
  e = f32[] add(a, c)  f = f32[] add(d, b)  h = f32[] multiply(e, f)
  ROOT g = (f32[], f32[]) tuple(e, h)
}
ENTRY e {
  x = f32[64] parameter(0), sharding={devices=[4]<=[4]}
  start = f32[] parameter(1)
  zero = f32[] constant(0)
  y = f32[64] sine(x)
  ROOT s = )",
                                              c.reduction, "\n}"));
    ASSERT_TRUE(module.ok()) << module.status();
    ASSERT_TRUE(MakePartitioner({})->Run(module->get(), {}).ok());
    const std::string text = PrintHloModule(**module);
    EXPECT_TRUE(absl::StrContains(text, c.combined)) << text;
    EXPECT_EQ(absl::StrContains(text, "all-gather("), c.gathers) << text;
  }
}

// From x y on dimension 0 and z on 2 to z on 0 and x on 1: only the last step joins tiles, two of them.
TEST(ShardingsTest, ReshardsExchangeSmallTiles) {
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
TEST(ShardingsTest, PartsOfAxes) {
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
TEST(ShardingsTest, ReversesAreOneExchange) {
  const std::string text = Divided(R"(HloModule m, num_partitions=8
ENTRY e {
  x = f32[8,16,4] parameter(0), sharding={devices=[2,2,2]<=[8]}
  ROOT r = f32[8,16,4] reverse(x), dimensions={0,1,2}, sharding={devices=[2,2,2]<=[8]}
})");
  EXPECT_EQ(CountOf(text, " collective-permute("), 1) << text;
  EXPECT_TRUE(absl::StrContains(text, "source_target_pairs={{4,3},{5,2},{6,1},{7,0},{0,7},{1,6},{2,5},{3,4}}")) << text;
}

// Windows of which the tiles divide neither the operand nor the results take what they reach of their neighbors' tiles.
TEST(ShardingsTest, WindowsOfSizesThatDoNotDivide) {
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
TEST(ShardingsTest, TilesThatDoNotDivideWindows) {
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
TEST(ShardingsTest, RepeatedBordersAreNotGathered) {
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

TEST(ShardingsTest, IotasAreMadeByTile) {
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
TEST(ShardingsTest, ManualComputationsOfEffectsAlone) {
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
TEST(ShardingsTest, ManualComputationsInOthers) {
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
TEST(ShardingsTest, CallsOnTiles) {
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
TEST(ShardingsTest, SumsOfLoopsAreExchangedBehindThem) {
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
TEST(ShardingsTest, StatesAreExchangedBeforeLoops) {
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
TEST(ShardingsTest, SlicesOfGatheredArraysAreWhole) {
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

// Tiles of 9 elements, which 5 or 6 windows reach: each gets what its own ones reach.
TEST(ShardingsTest, SelectedWindowsThatExist) {
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
