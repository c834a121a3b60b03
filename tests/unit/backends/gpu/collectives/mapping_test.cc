// From HLO to a communicator's calls: golden lists. That the results are right is tested by tests/programs/replicated.
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/unit/backends/gpu/collectives/devices.h"

namespace hilo::gpu {
namespace {

struct Mapping {
  const char* name;
  const char* header;  // replicas and partitions
  const char* reduction;
  const char* body;
  const char* calls[2];  // of devices 0 and 1, without the brackets of groups of one
};

const Mapping kMappings[] = {
    {"SumOfFloats",
     "replica_count=2",
     "f32 add",
     "x = f32[2,3] iota(), iota_dimension=1  ROOT y = f32[2,3] all-reduce(x), replica_groups={}, to_apply=f",
     {"AllReduce 6 f32 sum", "AllReduce 6 f32 sum"}},
    {"SeveralOperandsAreOneGroup",
     "replica_count=2",
     "f32 add",
     "x = f32[2] iota(), iota_dimension=0  z = f32[5] iota(), iota_dimension=0  ROOT y = (f32[2], f32[5]) "
     "all-reduce(x, z), replica_groups={}, to_apply=f",
     {"GroupStart; AllReduce 2 f32 sum; AllReduce 5 f32 sum; GroupEnd",
      "GroupStart; AllReduce 2 f32 sum; AllReduce 5 f32 sum; GroupEnd"}},
    {"SmallSumsThatDoNotWaitAreOneGroup",
     "replica_count=2",
     "f32 add",
     "x = f32[2] iota(), iota_dimension=0  z = f32[5] iota(), iota_dimension=0  a = f32[2] all-reduce(x), "
     "replica_groups={}, to_apply=f"
     "  b = f32[5] all-reduce(z), replica_groups={}, to_apply=f  ROOT y = (f32[2], f32[5]) tuple(a, b)",
     {"GroupStart; AllReduce 2 f32 sum; AllReduce 5 f32 sum; GroupEnd",
      "GroupStart; AllReduce 2 f32 sum; AllReduce 5 f32 sum; GroupEnd"}},
    {"SumsThatWaitAreNot",
     "replica_count=2",
     "f32 add",
     "x = f32[2] iota(), iota_dimension=0  a = f32[2] all-reduce(x), replica_groups={}, to_apply=f  ROOT b = f32[2] "
     "all-reduce(a), replica_groups={}, to_apply=f",
     {"AllReduce 2 f32 sum; AllReduce 2 f32 sum", "AllReduce 2 f32 sum; AllReduce 2 f32 sum"}},
    {"PredicatesAreBytes",
     "replica_count=2",
     "pred and",
     "x = pred[4] constant({1,0,1,1})  ROOT y = pred[4] all-reduce(x), replica_groups={}, to_apply=f",
     {"AllReduce 4 u8 min", "AllReduce 4 u8 min"}},
    {"OrOfPredicates",
     "replica_count=2",
     "pred or",
     "x = pred[4] constant({1,0,1,1})  ROOT y = pred[4] all-reduce(x), replica_groups={}, to_apply=f",
     {"AllReduce 4 u8 max", "AllReduce 4 u8 max"}},
    {"XorIsGathered",
     "replica_count=2",
     "s32 xor",
     "x = s32[4] iota(), iota_dimension=0  ROOT y = s32[4] all-reduce(x), replica_groups={}, to_apply=f",
     {"AllGather 16 u8", "AllGather 16 u8"}},
    {"ShortIntegersAreWidened",
     "replica_count=2",
     "s16 multiply",
     "x = s16[4] iota(), iota_dimension=0  ROOT y = s16[4] all-reduce(x), replica_groups={}, to_apply=f",
     {"AllReduce 4 s32 prod", "AllReduce 4 s32 prod"}},
    {"ComplexSumsArePairs",
     "replica_count=2",
     "c64 add",
     "x = c64[4] iota(), iota_dimension=0  ROOT y = c64[4] all-reduce(x), replica_groups={}, to_apply=f",
     {"AllReduce 8 f32 sum", "AllReduce 8 f32 sum"}},
    {"ComplexProductsAreGathered",
     "replica_count=2",
     "c64 multiply",
     "x = c64[4] iota(), iota_dimension=0  ROOT y = c64[4] all-reduce(x), replica_groups={}, to_apply=f",
     {"AllGather 32 u8", "AllGather 32 u8"}},
    {"EightBitFloatsAreGathered",
     "replica_count=2",
     "f8e4m3fn add",
     "x = f8e4m3fn[4] iota(), iota_dimension=0  ROOT y = f8e4m3fn[4] all-reduce(x), replica_groups={}, to_apply=f",
     {"AllGather 4 u8", "AllGather 4 u8"}},
    {"UnknownReductionIsGathered",
     "replica_count=2",
     "f32 subtract",
     "x = f32[4] iota(), iota_dimension=0  ROOT y = f32[4] all-reduce(x), replica_groups={}, to_apply=f",
     {"AllGather 16 u8", "AllGather 16 u8"}},
    {"ReduceScatter",
     "replica_count=2",
     "f32 maximum",
     "x = f32[4,3] iota(), iota_dimension=0  ROOT y = f32[2,3] reduce-scatter(x), replica_groups={}, dimensions={0}, "
     "to_apply=f",
     {"ReduceScatter 6 f32 max", "ReduceScatter 6 f32 max"}},
    {"ReduceScatterAlongAMinorDimension",
     "replica_count=2",
     "f32 add",
     "x = f32[3,4] iota(), iota_dimension=0  ROOT y = f32[3,2] reduce-scatter(x), replica_groups={}, dimensions={1}, "
     "to_apply=f",
     {"ReduceScatter 6 f32 sum", "ReduceScatter 6 f32 sum"}},
    {"UnknownReduceScatterExchanges",
     "replica_count=2",
     "f32 subtract",
     "x = f32[4] iota(), iota_dimension=0  ROOT y = f32[2] reduce-scatter(x), replica_groups={}, dimensions={0}, "
     "to_apply=f",
     {"AllToAll 8 u8", "AllToAll 8 u8"}},
    {"AllGather",
     "replica_count=2",
     "",
     "x = f32[4,3] iota(), iota_dimension=0  ROOT y = f32[4,6] all-gather(x), replica_groups={}, dimensions={1}",
     {"AllGather 48 u8", "AllGather 48 u8"}},
    {"AllToAllOfAnArray",
     "replica_count=2",
     "",
     "x = f32[3,4] iota(), iota_dimension=0  ROOT y = f32[3,4] all-to-all(x), replica_groups={}, dimensions={1}",
     {"AllToAll 24 u8", "AllToAll 24 u8"}},
    {"AllToAllOfATuple",
     "replica_count=2",
     "",
     "x = f32[3] iota(), iota_dimension=0  z = f32[3] constant({4,5,6})  ROOT y = (f32[3], f32[3]) all-to-all(x, z), "
     "replica_groups={}",
     {"GroupStart; Send 12 u8 to 0; Receive 12 u8 from 0; Send 12 u8 to 1; Receive 12 u8 from 1; GroupEnd",
      "GroupStart; Send 12 u8 to 0; Receive 12 u8 from 0; Send 12 u8 to 1; Receive 12 u8 from 1; GroupEnd"}},
    {"PermuteWithoutSourceOrTarget",
     "replica_count=3",
     "",
     "x = f32[4] iota(), iota_dimension=0  ROOT y = f32[4] collective-permute(x), source_target_pairs={{0,1},{1,2}}",
     {"Send 16 u8 to 1", "GroupStart; Send 16 u8 to 2; Receive 16 u8 from 0; GroupEnd"}},
    {"PermuteToItselfIsACopy",
     "replica_count=2",
     "",
     "x = f32[4] iota(), iota_dimension=0  ROOT y = f32[4] collective-permute(x), source_target_pairs={{0,0},{1,1}}",
     {"", ""}},
    {"Broadcast",
     "replica_count=3",
     "",
     "x = f32[4] iota(), iota_dimension=0  ROOT y = f32[4] collective-broadcast(x), replica_groups={{1,0}}",
     {"Broadcast 16 u8 from 0", "Broadcast 16 u8 from 0"}},
    {"RaggedExchangesOffsetsFirst",
     "replica_count=2",
     "",
     "x = f32[4] iota(), iota_dimension=0  o = f32[4] constant({9,9,9,9})  a = s32[2] constant({0,1})  n = s32[2] "
     "constant({1,1})  t = s32[2] constant({2,2})"
     "  ROOT y = f32[4] ragged-all-to-all(x, o, a, n, t, n), replica_groups={{0,1}}",
     {"GroupStart; AllToAll 4 u8; AllToAll 4 u8; GroupEnd; GroupStart; Send 4 u8 to 1; Receive 4 u8 from 1; GroupEnd",
      "GroupStart; AllToAll 4 u8; AllToAll 4 u8; GroupEnd; GroupStart; Send 4 u8 to 0; Receive 4 u8 from 0; GroupEnd"}},
    {"AloneNothingIsCalled",
     "replica_count=2",
     "f32 add",
     "x = f32[4] iota(), iota_dimension=0  ROOT y = f32[4] all-reduce(x), replica_groups={{0},{1}}, to_apply=f",
     {"", ""}},
    {"FlattenedIds",
     "replica_count=1, num_partitions=4",
     "f32 add",
     "x = f32[4] iota(), iota_dimension=0  ROOT y = f32[4] all-reduce(x), channel_id=1, use_global_device_ids=true, "
     "replica_groups=[2,2]<=[4], to_apply=f",
     {"AllReduce 4 f32 sum", "AllReduce 4 f32 sum"}},
};

std::string TextOf(const Mapping& mapping) {
  std::string text = absl::StrCat("HloModule m, ", mapping.header, "\n");
  if (*mapping.reduction != '\0') {
    const std::string reduction = mapping.reduction, type = reduction.substr(0, reduction.find(' ')),
                      op = reduction.substr(reduction.find(' ') + 1);
    absl::StrAppend(&text, "f { a = ", type, "[] parameter(0)  b = ", type, "[] parameter(1)  ROOT c = ", type, "[] ",
                    op, "(a, b) }\n");
  }
  return absl::StrCat(text, "ENTRY main { ", mapping.body, " }");
}

// Groups of one call lose their brackets.
std::string Joined(const std::vector<std::string>& calls) {
  std::vector<std::string> kept;
  for (size_t i = 0; i < calls.size(); ++i) {
    const bool is_single = calls[i] == "GroupStart" && i + 2 < calls.size() && calls[i + 2] == "GroupEnd";
    if (!is_single) {
      kept.push_back(calls[i]);
      continue;
    }
    kept.push_back(calls[i + 1]);
    i += 2;
  }
  return absl::StrJoin(kept, "; ");
}

class CollectiveMapping : public testing::TestWithParam<int> {};

TEST_P(CollectiveMapping, Calls) {
  const Mapping& mapping = kMappings[GetParam()];
  Devices devices(4);
  devices.Compile(TextOf(mapping));
  const auto results = devices.Run();
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ(Joined(devices.Calls(0)), mapping.calls[0]);
  EXPECT_EQ(Joined(devices.Calls(1)), mapping.calls[1]);
}

INSTANTIATE_TEST_SUITE_P(All, CollectiveMapping, testing::Range(0, static_cast<int>(std::size(kMappings))),
                         [](const testing::TestParamInfo<int>& info) {
                           return std::string(kMappings[info.param].name);
                         });

TEST(CollectiveMappingTest, LibrariesWithoutAllToAllGetAGroup) {
  Devices devices(2, {.has_all_to_all = false});
  devices.Compile(
      "HloModule m, replica_count=2\nENTRY main { x = f32[4] iota(), iota_dimension=0  ROOT y = f32[4] all-to-all(x), "
      "replica_groups={}, dimensions={0} }");
  const auto results = devices.Run();
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ(Joined(devices.Calls(0)),
            "GroupStart; Send 8 u8 to 0; Receive 8 u8 from 0; Send 8 u8 to 1; Receive 8 u8 from 1; GroupEnd");
}

// Two devices never get to the permute of the branch, and pairs differ in how often they get to that of the loop: only
// devices that are paired wait for each other.
TEST(CollectiveMappingTest, PermutesWaitForThePairedOnly) {
  Devices devices(6);
  devices.Compile(R"(HloModule m, replica_count=6
turned { x = u32[] parameter(0)  ROOT y = u32[] collective-permute(x), source_target_pairs={{0,1},{1,0},{2,3},{3,2}} }
negated { x = u32[] parameter(0)  ROOT y = u32[] negate(x) }
more { s = (u32[], u32[]) parameter(0)  n = u32[] get-tuple-element(s), index=0  zero = u32[] constant(0)  ROOT t = pred[] compare(n, zero), direction=GT }
next {
  s = (u32[], u32[]) parameter(0)
  n = u32[] get-tuple-element(s), index=0
  x = u32[] get-tuple-element(s), index=1
  one = u32[] constant(1)
  m = u32[] subtract(n, one)
  z = u32[] collective-permute(x), source_target_pairs={{0,1},{1,0},{2,3},{3,2},{4,4}}
  y = u32[] add(z, x)
  ROOT r = (u32[], u32[]) tuple(m, y)
}
ENTRY main {
  id = u32[] replica-id()
  four = u32[] constant(4)
  is_low = pred[] compare(id, four), direction=LT
  a = u32[] conditional(is_low, id, id), true_computation=turned, false_computation=negated
  two = u32[] constant(2)
  times = u32[] divide(id, two)
  begin = (u32[], u32[]) tuple(times, a)
  end = (u32[], u32[]) while(begin), condition=more, body=next
  ROOT b = u32[] get-tuple-element(end), index=1
})");
  const auto results = devices.Run();
  ASSERT_TRUE(results.ok()) << results.status();
  std::vector<uint32_t> values;
  for (const Literal& result : *results) values.push_back(result.GetFirstElement<uint32_t>());
  // Devices 2 and 3 add their values once; device 4 doubles its own twice; device 5 adds zeros.
  EXPECT_EQ(values, (std::vector<uint32_t>{1, 0, 5, 5, uint32_t(-16), uint32_t(-5)}));
}

// A rank that is alone in its group, or in none, copies or fills after the collective whose result it needs.
TEST(CollectiveMappingTest, LoneRanksWaitForEarlierCollectives) {
  Devices devices(3);
  devices.Compile(R"(HloModule m, replica_count=3
f { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY main {
  x = f32[64] parameter(0)
  a = f32[64] all-reduce(x), replica_groups={}, to_apply=f
  b = f32[64] all-reduce(a), replica_groups={{0},{1,2}}, to_apply=f
  c = f32[64] collective-permute(b), source_target_pairs={{0,0},{1,2}}
  d = f32[64] collective-broadcast(c), replica_groups={{2}}
  ROOT e = f32[64] all-reduce(d), replica_groups={{2},{0,1}}, to_apply=f
})");
  std::vector<Literal> arguments;
  arguments.push_back(LiteralUtil::CreateFromArray<float>(std::vector<float>(64, 1), {64}));
  const auto results = devices.Run(arguments);
  ASSERT_TRUE(results.ok()) << results.status();
  std::vector<float> values;
  for (const Literal& result : *results) values.push_back(result.GetFirstElement<float>());
  EXPECT_EQ(values, (std::vector<float>{0, 0, 6}));
}

// Communicators are made before the first op, the largest first, split where they can be, and kept.
TEST(CollectiveMappingTest, CliquesAreSplitAndKept) {
  Devices devices(4);
  devices.Compile(R"(HloModule m, replica_count=4
f { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY main {
  x = f32[4] iota(), iota_dimension=0
  y = f32[4] all-reduce(x), replica_groups={{0,2},{1,3}}, to_apply=f
  ROOT z = f32[4] all-reduce(y), replica_groups={}, to_apply=f
})");
  ASSERT_TRUE(devices.Run().ok());
  const std::string calls = "GroupStart; AllReduce 4 f32 sum; GroupEnd; GroupStart; AllReduce 4 f32 sum; GroupEnd";
  EXPECT_EQ(absl::StrJoin(devices.log().Take(0), "; "),
            "Create rank 0 of 4; Split color 0 key 0; Split color -1 key 0; " + calls);
  EXPECT_EQ(absl::StrJoin(devices.log().Take(3), "; "),
            "Create rank 3 of 4; Split color -1 key 0; Split color 0 key 1; " + calls);
  ASSERT_TRUE(devices.Run().ok());
  EXPECT_EQ(absl::StrJoin(devices.log().Take(0), "; "), calls);
}

}  // namespace
}  // namespace hilo::gpu
