// Which ranks join which cliques.
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "backends/gpu/collectives/collective_plan.h"

namespace hilo::gpu {
namespace {

using Form = CollectiveSpec::Form;
using Mode = CollectiveOpGroupMode;

std::string Cliques(const std::vector<CollectiveSpec>& specs, int64_t replicas, int64_t partitions) {
  const auto plan = CollectivePlan::Create(specs, replicas, partitions);
  EXPECT_TRUE(plan.ok()) << plan.status();
  if (!plan.ok()) return "";
  return absl::StrJoin(plan->cliques(), " ",
                       [](std::string* out, const CliqueSpec& clique) { out->append(clique.ToString()); });
}

CollectiveSpec Of(Mode mode, std::vector<std::vector<int64_t>> groups) {
  CollectiveSpec spec{.name = "op", .mode = mode};
  spec.groups.groups = std::move(groups);
  return spec;
}

TEST(CollectivePlanTest, GroupModes) {
  EXPECT_EQ(Cliques({Of(Mode::kCrossReplica, {})}, 2, 2), "{0,2} {1,3}");
  EXPECT_EQ(Cliques({Of(Mode::kCrossPartition, {{1, 0}})}, 2, 2), "{1,0} {3,2}");
  EXPECT_EQ(Cliques({Of(Mode::kCrossReplicaAndPartition, {{0, 2}, {1}})}, 3, 2), "{0,1,4,5} {2,3}");
  EXPECT_EQ(Cliques({Of(Mode::kFlattenedID, {{0, 3}, {1, 2}})}, 2, 2), "{0,3} {1,2}");
}

TEST(CollectivePlanTest, LargeCliquesComeFirstAndOnlyOnce) {
  EXPECT_EQ(Cliques({Of(Mode::kCrossReplica, {{2, 3}, {0, 1}}), Of(Mode::kCrossReplica, {}),
                     Of(Mode::kCrossReplica, {{0, 1}, {2, 3}})},
                    4, 1),
            "{0,1,2,3} {0,1} {2,3}");
}

TEST(CollectivePlanTest, SingleRank_NeedsNone) {
  EXPECT_EQ(Cliques({Of(Mode::kCrossReplica, {{0}, {1}})}, 2, 1), "");
  EXPECT_EQ(Cliques({Of(Mode::kCrossReplica, {})}, 1, 1), "");
}

TEST(CollectivePlanTest, SourcesAndTargets_AreIndicesInTheGroup) {
  CollectiveSpec spec{.name = "permute", .form = Form::kPairs, .mode = Mode::kCrossReplica, .pairs = {{0, 1}, {1, 2}}};
  const auto plan = *CollectivePlan::Create({spec}, 3, 2);
  const CollectiveRole& role = plan.role(0, 3);  // replica 1, partition 1
  EXPECT_EQ(plan.cliques()[role.clique].ToString(), "{1,3,5}");
  EXPECT_EQ(role.index, 1);
  EXPECT_EQ(role.source, 0);
  EXPECT_EQ(role.target, 2);
  EXPECT_EQ(plan.role(0, 0).source, -1);
  EXPECT_EQ(plan.role(0, 4).target, -1);
}

TEST(CollectivePlanTest, PairsWithinGroups) {
  CollectiveSpec spec = Of(Mode::kCrossReplica, {{0, 1}, {2}});
  spec.form = Form::kPairs;
  spec.pairs = {{0, 1}, {2, 2}};
  const auto plan = *CollectivePlan::Create({spec}, 3, 1);
  EXPECT_EQ(plan.cliques()[plan.role(0, 1).clique].ToString(), "{0,1}");
  EXPECT_EQ(plan.role(0, 1).source, 0);
  EXPECT_EQ(plan.role(0, 2).clique, -1);
  EXPECT_EQ(plan.role(0, 2).source, 0);

  spec.pairs = {{0, 2}};
  const absl::Status status = CollectivePlan::Create({spec}, 3, 1).status();
  EXPECT_TRUE(absl::StrContains(status.message(), "exchanges data with one that is not of its group")) << status;
}

TEST(CollectivePlanTest, TransfersHaveCliquesOfTwo) {
  CollectiveSpec spec{.name = "send",
                      .form = Form::kTransfer,
                      .mode = Mode::kCrossReplica,
                      .pairs = {{0, 1}, {1, 0}, {2, 2}},
                      .channel = 7};
  const auto plan = *CollectivePlan::Create({spec}, 3, 1);
  EXPECT_EQ(Cliques({spec}, 3, 1), "{0,1} channel 7 {1,0} channel 7");
  EXPECT_EQ(plan.role(0, 0).send_clique, 0);
  EXPECT_EQ(plan.role(0, 0).receive_clique, 1);
  EXPECT_TRUE(plan.role(0, 2).sends_to_itself);
}

TEST(CollectivePlanTest, RanksInNoGroupOfABroadcastTakeNoPart) {
  CollectiveSpec spec = Of(Mode::kCrossReplica, {{2, 0}});
  spec.form = Form::kSubset;
  const auto plan = *CollectivePlan::Create({spec}, 3, 1);
  EXPECT_EQ(plan.cliques()[plan.role(0, 0).clique].ToString(), "{2,0}");
  EXPECT_FALSE(plan.role(0, 1).takes_part);
}

TEST(CollectivePlanTest, GroupsThatDoNotFitAreErrorsOfTheirOp) {
  const absl::Status status = CollectivePlan::Create({Of(Mode::kCrossReplica, {{0, 1}})}, 3, 1).status();
  EXPECT_TRUE(absl::StrContains(status.message(), "in op")) << status;
}

}  // namespace
}  // namespace hilo::gpu
