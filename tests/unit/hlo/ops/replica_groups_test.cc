#include "hlo/ops/collective/replica_groups.h"

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace hilo {
namespace {

using Groups = std::vector<std::vector<int64_t>>;

struct FormCase {
  const char* text;
  Groups groups;
};

class ReplicaGroupFormTest : public testing::TestWithParam<FormCase> {};

TEST_P(ReplicaGroupFormTest, Expanded_PrintsAsRead) {
  ReplicaGroups groups;
  ASSERT_EQ(FieldFromText(GetParam().text, &groups), absl::OkStatus());
  EXPECT_EQ(groups.groups, GetParam().groups);
  EXPECT_EQ(FieldToText(groups), GetParam().text);
}

INSTANTIATE_TEST_SUITE_P(All, ReplicaGroupFormTest,
                         testing::Values(FormCase{"{}", {}}, FormCase{"{{0,1},{2}}", {{0, 1}, {2}}},
                                         FormCase{"[2,4]<=[8]", {{0, 1, 2, 3}, {4, 5, 6, 7}}},
                                         FormCase{"[2,4]<=[4,2]T(1,0)", {{0, 2, 4, 6}, {1, 3, 5, 7}}},
                                         FormCase{"[4,2]<=[2,2,2]T(2,0,1)", {{0, 2}, {4, 6}, {1, 3}, {5, 7}}},
                                         FormCase{"mesh['a'=2,'b'=2] {'a'}", {{0, 2}, {1, 3}}},
                                         FormCase{"mesh['a'=2,'b'=2] {'b','a'}", {{0, 2, 1, 3}}},
                                         FormCase{"mesh['a'=2,'b'=2], device_ids=([2,2]T(1,0)) {'b'}",
                                                  {{0, 2}, {1, 3}}},
                                         FormCase{"mesh['a'=2,'b'=2], device_ids=(3,2,1,0) {'b'}", {{3, 2}, {1, 0}}},
                                         FormCase{"mesh['a'=8] {'a':(1)2}", {{0, 4}, {1, 5}, {2, 6}, {3, 7}}},
                                         FormCase{"mesh['a'=8] {'a':(2)2}", {{0, 2}, {1, 3}, {4, 6}, {5, 7}}},
                                         FormCase{"mesh['a'=8] {'a':(4)2,'a':(1)2}", {{0, 4, 1, 5}, {2, 6, 3, 7}}},
                                         FormCase{"mesh['a'=2,'b'=4] {'a','b':(1)2}", {{0, 2, 4, 6}, {1, 3, 5, 7}}}));

struct BadForm {
  const char* text;
  const char* error;
};

class ReplicaGroupErrorTest : public testing::TestWithParam<BadForm> {};

TEST_P(ReplicaGroupErrorTest, IsRefused) {
  ReplicaGroups groups;
  const absl::Status status = FieldFromText(GetParam().text, &groups);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(status.ToString().find(GetParam().error), std::string::npos) << status;
}

INSTANTIATE_TEST_SUITE_P(
    All, ReplicaGroupErrorTest,
    testing::Values(
        BadForm{"", "mesh"}, BadForm{"{0,1}", "expected {"}, BadForm{"{{0,1}", "expected }"},
        BadForm{"{{0,x}}", "64-bit integer"}, BadForm{"{{0}} 1", "end of the value"}, BadForm{"[2,4]", "<="},
        BadForm{"[2,4]<=[9]", "holds 8 ids, but 9"}, BadForm{"[8]<=[8]", "before <="},
        BadForm{"[2,0]<=[0]", "must be positive"}, BadForm{"[2,4]<=[4,2]T(1,1)", "permutation"},
        BadForm{"[1,9223372036854775807]<=[9223372036854775807]", "more than"},
        BadForm{"[2097152,1]<=[2097152]", "more than"}, BadForm{"mesh['a'=2] {'b'}", "no axis 'b'"},
        BadForm{"mesh['a'=2], device_ids=(0,1,2) {'a'}", "hold 2 ids"},
        BadForm{"mesh['a'=8] {'a':(2)3}", "does not fit"}, BadForm{"mesh['a'=8] {'a':(1)4,'a':(2)2}", "does not fit"},
        BadForm{"mesh['a'=8] {'a','a'}", "does not fit"}, BadForm{"mesh['a'=8] {'a':(0)2}", "does not fit"},
        BadForm{"[2,4<=[8]", "expected"}, BadForm{"[2,4]<=8", "expected [ before"}, BadForm{"[2,4]<=[8", "at the end"},
        BadForm{"[2,4]<=[4,2]T1,0", "expected ( before"}, BadForm{"[2,4]<=[4,2]T(1,0", "at the end"},
        BadForm{"mesh{'a'=2} {'a'}", "expected [ before"}, BadForm{"mesh[a=2] {'a'}", "expected ' before"},
        BadForm{"mesh['a=2] {'a'}", "expected ' before"}, BadForm{"mesh[''=2] {''}", "the name of an axis"},
        BadForm{"mesh['a':2] {'a'}", "expected = before"}, BadForm{"mesh['a'=x] {'a'}", "64-bit integer, got \"x\""},
        BadForm{"mesh['a'=2 {'a'}", "expected ] before"},
        BadForm{"mesh['a'=2], ids=(0,1) {'a'}", "expected device_ids=(...)"},
        BadForm{"mesh['a'=2], device_ids(0,1) {'a'}", "expected =( before"},
        BadForm{"mesh['a'=2], device_ids=([2] {'a'}", "expected ) before"},
        BadForm{"mesh['a'=2], device_ids=(0,1 {'a'}", "before \"{'a'}"},
        BadForm{"mesh['a'=2] 'a'", "expected { before"}, BadForm{"mesh['a'=8] {'a':2)2}", "expected ( before"},
        BadForm{"mesh['a'=8] {'a':(x)2}", "64-bit integer, got \"x\""},
        BadForm{"mesh['a'=8] {'a':(2 2}", "expected ) before"},
        BadForm{"mesh['a'=8] {'a':(2)x}", "64-bit integer, got \"x\""},
        BadForm{"mesh['a'=2] {'a'", "expected } at the end"}));

TEST(ReplicaGroupsTest, ListBeyondTheLimit_IsRefused) {
  std::string text = "{{0";
  for (int64_t i = 1; i <= kMaxReplicaIds; ++i) absl::StrAppend(&text, ",", i);
  ReplicaGroups groups;
  EXPECT_FALSE(FieldFromText(text + "}}", &groups).ok());
  std::string empties = "{{}";
  for (int64_t i = 0; i <= 2 * kMaxReplicaIds; ++i) empties += ",{}";
  EXPECT_FALSE(FieldFromText(empties + "}", &groups).ok());
}

TEST(SourceTargetPairsTest, RoundTrips) {
  SourceTargetPairs pairs;
  for (const char* text : {"{}", "{{0,1},{1,0}}"}) {
    ASSERT_TRUE(FieldFromText(text, &pairs).ok());
    EXPECT_EQ(FieldToText(pairs), text);
  }
  for (const char* text : {"{{0,1,2}}", "{{0}}", "{0,1}", "{{0,1}", "0,1"}) {
    EXPECT_FALSE(FieldFromText(text, &pairs).ok()) << text;
  }
}

struct ModeCase {
  bool has_channel_id;
  std::optional<bool> use_global_device_ids;
  const char* expected;  // empty: an error
};

// The whole table.
TEST(CollectiveOpGroupModeTest, FollowsChannelAndGlobalIds) {
  const ModeCase table[] = {
      {false, std::nullopt, "cross_replica"},
      {false, false, "cross_replica"},
      {false, true, ""},
      {true, std::nullopt, "cross_partition"},
      {true, false, "cross_replica_and_partition"},
      {true, true, "flattened_id"},
  };
  for (const ModeCase& row : table) {
    const auto mode = GetCollectiveOpGroupMode(row.has_channel_id, row.use_global_device_ids);
    EXPECT_EQ(mode.ok() ? std::string(CollectiveOpGroupModeName(*mode)) : "", row.expected);
  }
}

}  // namespace
}  // namespace hilo
