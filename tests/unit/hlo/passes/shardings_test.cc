// Shardings that the partitioner finds for the results of programs, which leave them open.
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "hilo/host.h"
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

// Each partition adds a bias to its rows: the bias is repeated for these alone, and the log has nothing to say.
TEST(ShardingsTest, NoPartitionRepeatsABroadcastWhole) {
  std::string log;
  SetLogSink([&log](LogSeverity, absl::string_view message) { absl::StrAppend(&log, message, "\n"); });
  auto module = ParseHloModule(R"(HloModule m, num_partitions=2
ENTRY e {
  x = f32[64,8] parameter(0), sharding={devices=[2,1]<=[2]}
  w = f32[8,32] parameter(1), sharding={replicated}
  bias = f32[32] parameter(2), sharding={replicated}
  product = f32[64,32] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  rows = f32[64,32] broadcast(bias), dimensions={1}
  ROOT sum = f32[64,32] add(product, rows), sharding={devices=[2,1]<=[2]}
})");
  ASSERT_TRUE(module.ok()) << module.status();
  const absl::Status divided = MakePartitioner({.results = {true}})->Run(module->get(), {}).status();
  SetLogSink(nullptr);
  ASSERT_TRUE(divided.ok()) << divided;
  const std::string text = PrintHloModule(**module);
  EXPECT_TRUE(absl::StrContains(text, "rows.1 = f32[32,32] broadcast(bias)")) << text;
  EXPECT_FALSE(absl::StrContains(text, "f32[64,32]")) << text;
  EXPECT_EQ(log, "");
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
      {"(f32[], f32[]) reduce(x, y, zero, zero), dimensions={0}, to_apply=choose", "f32[4]{0} all-gather(", true},
      {"(f32[64], f32[64]) reduce-window(x, y, zero, zero), window={size=3 pad=1_1}, to_apply=choose",
       "collective-permute(", true},
  };
  for (const auto& c : cases) {
    auto module = ParseHloModule(absl::StrCat(R"(HloModule m, num_partitions=4
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
each {
  a = f32[] parameter(0)  b = f32[] parameter(1)  c = f32[] parameter(2)  d = f32[] parameter(3)
  e = f32[] add(a, c)  f = f32[] add(d, b)
  ROOT g = (f32[], f32[]) tuple(e, f)
}
choose {
  a = f32[] parameter(0)  b = f32[] parameter(1)  c = f32[] parameter(2)  d = f32[] parameter(3)
  e = f32[] maximum(a, c)  f = pred[] compare(a, c), direction=GE  h = f32[] select(f, b, d)
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

// As of one array, along the dimensions of the windows too.
TEST(ShardingsTest, WindowsOfSeveralArrays) {
  const auto of = [](const char* dimensions) {
    return OfStablehlo(absl::StrCat("%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@m, [", dimensions, "]>}"), R"(
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %w:2 = "stablehlo.reduce_window"(%x, %x, %zero, %zero) <{window_dimensions = array<i64: 1, 3>, padding = dense<[[0, 0], [1, 1]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
    %e = stablehlo.maximum %a, %c : tensor<f32>
    %f = stablehlo.add %b, %d : tensor<f32>
    stablehlo.return %e, %f : tensor<f32>, tensor<f32>
  }) : (tensor<8x16xf32>, tensor<8x16xf32>, tensor<f32>, tensor<f32>) -> (tensor<8x16xf32>, tensor<8x16xf32>)
  return %w#1 : tensor<8x16xf32>)");
  };
  EXPECT_EQ(of(R"({"a"}, {})"), kAOnRows);
  EXPECT_EQ(of(R"({}, {"a"})"), kAOnColumns);
}

// In XLA such arrays are constants before shardings are propagated.
TEST(ShardingsTest, ArraysWithoutElements) {
  EXPECT_EQ(
      OfStablehlo(R"(%x: tensor<8x0xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}, {}]>}, %y: tensor<0x16xf32>)", R"(
  %z = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<8x0xf32>, tensor<0x16xf32>) -> tensor<8x16xf32>
  return %z : tensor<8x16xf32>)"),
      "{replicated}");
}

// A loop that is called twice is two loops, each of which has shardings of its own.
TEST(ShardingsTest, BodiesThatSeveralLoopsHave) {
  EXPECT_EQ(
      OfStablehlo(
          R"(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}, {}]>}, %y: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {"a"}]>})",
          R"(
  %p = func.call @twice(%x) : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %q = func.call @twice(%y) : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %q : tensor<8x16xf32>
}
func.func private @twice(%a: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %i = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = stablehlo.while(%j = %i, %v = %a) : tensor<i32>, tensor<8x16xf32>
  cond {
    %n = stablehlo.constant dense<2> : tensor<i32>
    %c = stablehlo.compare LT, %j, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %k = stablehlo.add %j, %one : tensor<i32>
    %s = stablehlo.sine %v : tensor<8x16xf32>
    stablehlo.return %k, %s : tensor<i32>, tensor<8x16xf32>
  }
  return %r#1 : tensor<8x16xf32>)"),
      kAOnColumns);
}

}  // namespace
}  // namespace hilo
