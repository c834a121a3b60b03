#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "hilo/xla_builder.h"
#include "hlo/text/hlo_printer.h"

namespace hilo {
namespace {

XlaComputation Adder(PrimitiveType type = F32) {
  XlaBuilder b("add");
  const XlaOp x = Parameter(&b, 0, ShapeUtil::MakeScalarShape(type), "x"),
              y = Parameter(&b, 1, ShapeUtil::MakeScalarShape(type), "y");
  return *b.Build(Add(x, y));
}

ReplicaGroup Group(std::initializer_list<int64_t> ids) {
  ReplicaGroup group;
  for (int64_t id : ids) group.add_replica_ids(id);
  return group;
}
ChannelHandle Channel(int64_t handle) {
  ChannelHandle channel;
  channel.set_handle(handle);
  return channel;
}

class CollectiveOpsTest : public testing::Test {
 protected:
  CollectiveOpsTest() : b_("main"), x_(Parameter(&b_, 0, ShapeUtil::MakeShape(F32, {4, 16}), "x")) {}
  // The module, or the error behind "error: ".
  std::string Text() {
    auto computation = b_.Build();
    if (!computation.ok()) return "error: " + std::string(computation.status().message());
    return PrintHloModule(*computation->module());
  }
  void ExpectText(absl::string_view part) {
    const std::string text = Text();
    EXPECT_TRUE(absl::StrContains(text, part)) << text;
  }

  XlaBuilder b_;
  XlaOp x_;
  const std::vector<ReplicaGroup> pairs_ = {Group({0, 2}), Group({1, 3})};
};

TEST_F(CollectiveOpsTest, AllReduce) {
  AllReduce(x_, Adder(), pairs_, Channel(7), std::nullopt, /*use_global_device_ids=*/true);
  ExpectText(
      "f32[4,16]{1,0} all-reduce(x), channel_id=7, replica_groups={{0,2},{1,3}}, "
      "use_global_device_ids=true, to_apply=add");
}
TEST_F(CollectiveOpsTest, AllReduceOfATuple) {
  AllReduce(Tuple(&b_, {x_, x_}), Adder());
  ExpectText("(f32[4,16]{1,0}, f32[4,16]{1,0}) all-reduce(");
}
TEST_F(CollectiveOpsTest, AllReduceOfATupleOfOneIsATuple) {
  const XlaOp op = AllReduce(Tuple(&b_, {x_}), Adder());
  EXPECT_EQ(b_.GetShape(op)->ToString(), "(f32[4,16])");
  EXPECT_EQ(b_.GetShape(AllReduceTuple({x_}, Adder()))->ToString(), "(f32[4,16])");
}
TEST_F(CollectiveOpsTest, AllReduceOfAnEmptyTuple) {
  AllReduce(Tuple(&b_, {}), Adder());
  ExpectText("error: all-reduce: expected an array or a tuple of some");
}
TEST_F(CollectiveOpsTest, CrossReplicaSum) {
  CrossReplicaSum(x_);
  const std::string text = Text();
  EXPECT_TRUE(absl::StrContains(text, "f32[4,16]{1,0} all-reduce(x), to_apply=sum")) << text;
  EXPECT_TRUE(absl::StrContains(text, "f32[] add(x.1, y)")) << text;
}
TEST_F(CollectiveOpsTest, CrossReplicaSumOfPreds) {
  CrossReplicaSum(Eq(x_, x_), pairs_);
  ExpectText("pred[] or(");
}
TEST_F(CollectiveOpsTest, AllGather) {
  AllGather(x_, 1, 8);
  ExpectText("f32[4,128]{1,0} all-gather(x), dimensions={1}");
}
TEST_F(CollectiveOpsTest, AllGatherTuple) {
  AllGatherTuple({x_, x_}, 0, 2, pairs_);
  ExpectText("(f32[8,16]{1,0}, f32[8,16]{1,0}) all-gather(");
}
TEST_F(CollectiveOpsTest, AllGatherShardCountMustBeTheGroups) {
  AllGather(x_, 0, 4, pairs_);
  ExpectText("error: all-gather: expected as many shards as a group has devices, 2; got 4");
}
TEST_F(CollectiveOpsTest, AllGatherWithoutShards) {
  AllGather(x_, 0, 0);
  ExpectText("error: all-gather: expected a shard_count of at least 1; got 0");
}
TEST_F(CollectiveOpsTest, AllGatherBeyondTheDimensions) {
  AllGather(x_, 2, 4);
  ExpectText("error: all-gather: expected arrays with a dimension 2; got f32[4,16]");
}
TEST_F(CollectiveOpsTest, AllGatherTooLarge) {
  AllGather(x_, 0, INT64_MAX);
  ExpectText("error: all-gather: dimension 0 of f32[4,16] does not go with");
}
TEST_F(CollectiveOpsTest, ReduceScatter) {
  ReduceScatter(x_, Adder(), 1, 8);
  ExpectText("f32[4,2]{1,0} reduce-scatter(x), dimensions={1}, to_apply=add");
}
TEST_F(CollectiveOpsTest, ReduceScatterShardCountMustBeTheGroups) {
  ReduceScatter(x_, Adder(), 1, 4, pairs_);
  ExpectText("error: reduce-scatter: expected as many shards as a group has devices, 2; got 4");
}
TEST_F(CollectiveOpsTest, ReduceScatterNotDivisible) {
  ReduceScatter(x_, Adder(), 1, 3);
  ExpectText("error: reduce-scatter: dimension 1 of f32[4,16] does not go with 3 shards");
}
TEST_F(CollectiveOpsTest, AllToAll) {
  const XlaOp op = AllToAll(x_, /*split_dimension=*/1, /*concat_dimension=*/0, /*split_count=*/4);
  EXPECT_EQ(b_.GetShape(op)->ToString(), "f32[16,4]");
  ExpectText("f32[4,16]{1,0} all-to-all(x), dimensions={1}");
}
TEST_F(CollectiveOpsTest, AllToAllTuple) {
  const XlaOp op = AllToAllTuple(x_, 1, 0, 4, {});
  EXPECT_EQ(b_.GetShape(op)->ToString(), "f32[16,4]");
  ExpectText("(f32[4,4]{1,0}, f32[4,4]{1,0}, f32[4,4]{1,0}, f32[4,4]{1,0}) all-to-all(");
}
TEST_F(CollectiveOpsTest, AllToAllSplitCountMustBeTheGroups) {
  AllToAll(x_, 1, 1, 4, pairs_);
  ExpectText("error: all-to-all: expected as many shards as a group has devices, 2; got 4");
}
TEST_F(CollectiveOpsTest, AllToAllNotDivisible) {
  AllToAll(x_, 1, 0, 3);
  ExpectText("error: all-to-all: dimension 1 of f32[4,16] does not go with 3 shards");
}
TEST_F(CollectiveOpsTest, AllToAllBeyondTheDimensions) {
  AllToAll(x_, 1, 2, 4);
  ExpectText("error: all-to-all: concat_dimension = 2 is no dimension of");
}
TEST_F(CollectiveOpsTest, AllToAllOfATuple) {
  AllToAll(Tuple(&b_, {x_}), 1, 0, 4);
  ExpectText("error: all-to-all: expected arrays");
}
TEST_F(CollectiveOpsTest, Permutes) {
  CollectivePermute(x_, {{0, 1}, {1, 0}}, Channel(2));
  MultiCollectivePermute({x_, x_}, {{0, 1}});
  const std::string text = Text();
  EXPECT_TRUE(absl::StrContains(text, "collective-permute(x), channel_id=2, source_target_pairs={{0,1},{1,0}}"))
      << text;
  EXPECT_TRUE(
      absl::StrContains(text, "(f32[4,16]{1,0}, f32[4,16]{1,0}) collective-permute(x, x), source_target_pairs={{0,1}}"))
      << text;
}
TEST_F(CollectiveOpsTest, CollectiveBroadcast) {
  CollectiveBroadcast(x_, {Group({1, 0})});
  ExpectText("collective-broadcast(x), replica_groups={{1,0}}");
}
TEST_F(CollectiveOpsTest, RaggedAllToAll) {
  const XlaOp output = Parameter(&b_, 1, ShapeUtil::MakeShape(F32, {9, 16}), "o");
  const XlaOp n = Parameter(&b_, 2, ShapeUtil::MakeShape(S32, {2}), "n");
  RaggedAllToAll(x_, n, n, output, n, n, {Group({0, 1})});
  ExpectText("f32[9,16]{1,0} ragged-all-to-all(x, o, n, n, n, n), replica_groups={{0,1}}");
}
TEST_F(CollectiveOpsTest, ReplicaId) { EXPECT_EQ(b_.GetShape(ReplicaId(&b_))->ToString(), "u32[]"); }

TEST(CollectiveOpsErrorTest, EmptyOperands) {
  EXPECT_FALSE(AllReduce(XlaOp(), Adder()).valid());
  EXPECT_FALSE(AllGatherTuple({}, 0, 2).valid());
  EXPECT_FALSE(MultiCollectivePermute({}, {}).valid());
}

}  // namespace
}  // namespace hilo
