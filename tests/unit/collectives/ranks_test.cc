#include "collectives/ranks.h"

#include "gtest/gtest.h"

namespace hilo {
namespace {

using Ids = std::vector<int64_t>;
using enum CollectiveOpGroupMode;

struct GroupCase {
  const char* groups;
  CollectiveOpGroupMode mode;
  DevicePosition position;
  Ids expected;  // empty: an error
};

// 2 replicas of 3 partitions: ranks 0 1 2 and 3 4 5.
TEST(RanksTest, GroupOfADevice) {
  const GroupCase table[] = {
      {"{}", kCrossReplica, {1, 2, 2, 3}, {2, 5}},
      {"{{1,0}}", kCrossReplica, {0, 1, 2, 3}, {4, 1}},
      {"{{0},{1}}", kCrossReplica, {1, 1, 2, 3}, {4}},
      {"{}", kCrossPartition, {1, 0, 2, 3}, {3, 4, 5}},
      {"{{2,0},{1}}", kCrossPartition, {1, 0, 2, 3}, {5, 3}},
      {"{{2,0},{1}}", kCrossPartition, {0, 1, 2, 3}, {1}},
      {"{}", kCrossReplicaAndPartition, {1, 0, 2, 3}, {0, 1, 2, 3, 4, 5}},
      {"{{1,0}}", kCrossReplicaAndPartition, {1, 0, 2, 3}, {3, 4, 5, 0, 1, 2}},
      {"{{0},{1}}", kCrossReplicaAndPartition, {1, 0, 2, 3}, {3, 4, 5}},
      {"{{5,0},{1,2,3,4}}", kFlattenedID, {1, 2, 2, 3}, {5, 0}},
      {"[3,2]<=[2,3]T(1,0)", kFlattenedID, {0, 1, 2, 3}, {1, 4}},
      // Not each id once.
      {"{{0,1,2}}", kCrossReplica, {0, 0, 2, 3}, {}},
      {"{{0}}", kCrossReplica, {0, 0, 2, 3}, {}},
      {"{{0,1}}", kCrossPartition, {0, 0, 2, 3}, {}},
      {"{{0,1,2}}", kFlattenedID, {0, 0, 2, 3}, {}},
  };
  for (const GroupCase& row : table) {
    SCOPED_TRACE(std::string(row.groups) + " " + std::string(CollectiveOpGroupModeName(row.mode)));
    ReplicaGroups groups;
    ASSERT_TRUE(FieldFromText(row.groups, &groups).ok());
    const auto ranks = GroupOf(groups, row.mode, row.position);
    EXPECT_EQ(ranks.ok(), !row.expected.empty()) << ranks.status();
    if (ranks.ok()) {
      EXPECT_EQ(*ranks, row.expected);
    } else {
      EXPECT_EQ(ranks.status().code(), absl::StatusCode::kInvalidArgument);
    }
  }
}

// Those that exchange nothing with each other do not wait for each other.
TEST(RanksTest, GroupsOfPairs) {
  const struct {
    std::vector<std::pair<int64_t, int64_t>> pairs;
    int64_t count;
    std::vector<Ids> groups;
  } table[] = {
      {{}, 2, {{0}, {1}}},
      {{{0, 1}, {1, 2}, {2, 0}}, 3, {{0, 1, 2}}},
      {{{2, 1}, {3, 2}}, 5, {{1, 2, 3}, {0}, {4}}},
      {{{0, 2}, {2, 0}, {3, 1}}, 4, {{1, 3}, {0, 2}}},
      {{{1, 1}}, 2, {{1}, {0}}},
      {{{1, 7}}, 2, {{1, 7}, {0}}},
  };
  for (const auto& row : table) EXPECT_EQ(GroupsOf({row.pairs}, row.count).groups, row.groups);
}

}  // namespace
}  // namespace hilo
