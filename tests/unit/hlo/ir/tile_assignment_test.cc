#include "hlo/ir/tile_assignment.h"

#include <optional>

#include "absl/strings/match.h"
#include "gtest/gtest.h"

namespace hilo {
namespace {

std::string TilesText(const TileAssignment& tiles) {
  std::string text;
  for (const std::vector<int64_t>& tile : tiles.tile_of) {
    if (!text.empty()) text += ' ';
    for (int64_t i : tile) text += std::to_string(i);
  }
  return text;
}

struct Good {
  const char* text;
  std::vector<int64_t> counts;
  const char* tile_of;  // a word a device
};

TEST(TileAssignmentTest, OfHlo) {
  const Good cases[] = {
      {"{devices=[2,2]<=[4]}", {2, 2}, "00 01 10 11"},
      {"{devices=[2,2]<=[2,2]T(1,0)}", {2, 2}, "00 10 01 11"},
      {"{devices=[4,1]0,2,1,3}", {4, 1}, "00 20 10 30"},
      {"{devices=[2,1,2]<=[4] last_tile_dim_replicate}", {2, 1}, "00 00 10 10"},
      {"{devices=[1,2,2]<=[4] last_tile_dims={manual}}", {1, 2}, "00 00 01 01"},
      {"{mesh['a'=2,'b'=2], [{'b'}, {'a'}]}", {2, 2}, "00 10 01 11"},
      {"{mesh['a'=4], [{'a':(1)2}, {'a':(2)2, ?}], metadata={op_name=\"x\"}}", {2, 2}, "00 01 10 11"},
      {"{mesh['a'=2,'b'=2], device_ids=(3,2,1,0), [{'a'}, {}], manual={'b'}}", {2, 1}, "10 10 00 00"},
      {"{mesh['a'=2,'b'=2], device_ids=([2,2]T(1,0)), [{'a'}, {}], replicated={'b'}}", {2, 1}, "00 10 00 10"},
  };
  for (const Good& c : cases) {
    const auto tiles = TileAssignmentsFromHlo(c.text, 1);
    ASSERT_TRUE(tiles.ok()) << c.text << ": " << tiles.status();
    EXPECT_EQ((*tiles)[0].counts, c.counts) << c.text;
    EXPECT_EQ(TilesText((*tiles)[0]), c.tile_of) << c.text;
  }
  for (const char* whole :
       {"{replicated}", "{maximal device=0}", "{manual}", "{devices=[1,1,4]<=[4] last_tile_dim_replicate}",
        "{mesh['a'=4], replicated}", "{mesh['a'=4], manual}", "{mesh[], replicated}", "{maximal_mesh[device_id=3]}"}) {
    const auto tiles = TileAssignmentsFromHlo(whole, 1);
    ASSERT_TRUE(tiles.ok()) << whole << ": " << tiles.status();
    EXPECT_TRUE((*tiles)[0].IsWhole()) << whole;
  }
}

// Unreduced axes in both notations, and HLO's text of what is read of them.
TEST(TileAssignmentTest, Unreduced) {
  const auto meshes = MeshesFromText("{m = #sdy.mesh<[\"a\"=2, \"b\"=2]>}");
  ASSERT_TRUE(meshes.ok()) << meshes.status();
  const struct {
    const char *hlo, *sdy, *text;
  } cases[] = {
      {"{devices=[2,2]<=[4] last_tile_dims={unreduced}}", "#sdy.sharding<@m, [{\"a\"}], unreduced={\"b\"}>",
       "{devices=[2,2]0,1,2,3 last_tile_dims={unreduced} metadata={op_type=\"sdy::reduction_op\" op_name=\"SUM\"}}"},
      {"{devices=[2,2]0,2,1,3 last_tile_dims={unreduced} metadata={op_type=\"sdy::reduction_op\" op_name=\"MAX\"}}",
       "#sdy.sharding<@m, [{\"b\"}], unreduced=max{\"a\"}>",
       "{devices=[2,2]0,2,1,3 last_tile_dims={unreduced} metadata={op_type=\"sdy::reduction_op\" op_name=\"MAX\"}}"},
      {"{devices=[1,2,2]0,2,1,3 last_tile_dims={replicated, unreduced}}",
       "#sdy.sharding<@m, [{}], replicated={\"b\"}, unreduced={\"a\"}>",
       "{devices=[1,2,2]0,1,2,3 last_tile_dims={unreduced, replicated} metadata={op_type=\"sdy::reduction_op\" "
       "op_name=\"SUM\"}}"},
      {"{unreduced metadata={op_type=\"sdy::reduction_op\" op_name=\"MIN\"}}",
       "#sdy.sharding<@m, [{}], unreduced=min{\"b\", \"a\"}>",
       "{unreduced metadata={op_type=\"sdy::reduction_op\" op_name=\"MIN\"}}"},
      {"{devices=[2,2]<=[4] last_tile_dims={replicated} metadata={op_name=\"x\"}}", "#sdy.sharding<@m, [{\"a\"}]>",
       "{devices=[2,2]0,1,2,3 last_tile_dim_replicate}"},
  };
  for (const auto& c : cases) {
    const auto of_hlo = TileAssignmentsFromHlo(c.hlo, 1);
    ASSERT_TRUE(of_hlo.ok()) << c.hlo << ": " << of_hlo.status();
    EXPECT_EQ(TileAssignmentToHlo((*of_hlo)[0]), c.text);
    const auto of_sdy = TileAssignmentsFromSdy(c.sdy, *meshes, std::nullopt);
    ASSERT_TRUE(of_sdy.ok()) << c.sdy << ": " << of_sdy.status();
    EXPECT_EQ(TileAssignmentToHlo((*of_sdy)[0]), c.text);
  }
  EXPECT_FALSE(
      TileAssignmentsFromHlo("{unreduced metadata={op_type=\"sdy::reduction_op\" op_name=\"PRODUCT\"}}", 1).ok());
  EXPECT_FALSE(TileAssignmentsFromSdy("#sdy.sharding<@m, [{}], unreduced=product{\"a\"}>", *meshes, std::nullopt).ok());
  EXPECT_FALSE(TileAssignmentsFromHlo("{unreduced metadata={", 1).ok());
}

TEST(TileAssignmentTest, BadShardings) {
  const struct {
    const char *text, *message;
    int64_t leaves = 1;
  } cases[] = {
      {"{devices=[2,0]<=[0]}", "in positive numbers, got [2,0]"},
      {"{devices=[1000000,1000000]<=[4]}", "expected at most"},
      {"{devices=[2,2]<=[2,2]T(0,0)}", "T(0,0) does not permute the dimensions [2,2]"},
      {"{devices=[2,2]<=[2,2]T(0)}", "T(0) does not permute"},
      {"{devices=[2,2]0,1,2}", "does not fit 3 devices"},
      {"{devices=[2]<=[2] last_tile_dim_replicate}", "does not fit 2 devices"},
      {"{devices=[2,2]0,1,1,3}", "expected each of the devices 0 to 3 once"},
      {"{devices=[2,2]0,1,2,4}", "expected each of the devices 0 to 3 once"},
      {"{devices=[2,9223372036854775807]<=[4]}", "expected at most"},
      {"{devices=[2,2]0,1,2,4000000000}", "expected each of the devices 0 to 3 once"},
      {"{devices=[2]<=[2]}", "expected 2 shardings, got 1", 2},
      {"devices=[2]0,1", "expected { before"},
      {"{devices[2]0,1}", "expected = before"},
      {"{devices=2}", "expected [ before"},
      {"{devices=[2,x]0,1}", "expected a 64-bit integer, got \"x\""},
      {"{devices=[2;2]0,1}", "expected ] before"},
      {"{devices=[2]<[2]}", "expected <=[ before"},
      {"{devices=[1,2]<=[2] last_tile_dims{manual}}", "expected ={ before"},
      {"{devices=[1,2]<=[2] last_tile_dims={manual;}}", "expected } before \";"},
      {"{devices=[2]<=[2] ;}", "expected } before \";"},
      {"{tiled}", "expected replicated, maximal, manual, unknown, devices= or mesh["},
      {"{mesh['a'=2], [{'b'}]}", "the mesh has no axis \"b\"; it has a"},
      {"{mesh['a'=2], [{'a'}, {'a'}]}", "the axis \"a\" occurs twice"},
      {"{mesh['a'=4], [{'a':(1)2}], replicated={'a'}}", "the axis \"a\" occurs twice"},
      {"{mesh['a'=2], [{a}]}", "expected a name in quotes before"},
      {"{mesh['a'=2], shared}", "expected device_ids, replicated, unreduced, manual or metadata"},
      {"{mesh['a'=2], device_ids=(0)}", "expected 2 device_ids, got 1"},
      {"{mesh['a'=2], device_ids=[0]}", "expected =( before"},
      {"{mesh['a'=2], device_ids=(7,6), [{'a'}]}", "expected each of the devices 0 to 1 once"},
      {"{mesh['a'=2], device_ids=(0,0), [{'a'}]}", "expected each of the devices 0 to 1 once"},
      {"{mesh['a'=9223372036854775807,'b'=4], [{'a'}]}", "in positive numbers"},
      {"{mesh['a'=2], [{'a'}p-1]}", "expected a priority such as p1"},
      {"{maximal_mesh[3]}", "expected [device_id= before"},
      {"{maximal_mesh[device_id=3]", "expected ]} at the end"},
      {"{replicated ;}", "expected } before \";"},
      {"{replicated} 1", "expected the end of the value before \"1\""},
      {"{{replicated}} 1", "expected the end of the value before \"1\""},
      {"{{replicated}", "expected } at the end"},
      {"{{replicated}, {replicated}, {replicated}}", "expected 2 shardings, got 3", 2},
  };
  for (const auto& c : cases) {
    const auto tiles = TileAssignmentsFromHlo(c.text, c.leaves);
    ASSERT_FALSE(tiles.ok()) << c.text;
    EXPECT_TRUE(absl::StrContains(tiles.status().message(), c.message)) << c.text << ": " << tiles.status();
  }
}

TEST(TileAssignmentTest, OfShardy) {
  const auto meshes = MeshesFromText(
      "{mesh = #sdy.mesh<[\"a\"=2, \"b\"=4]>, turned = #sdy.mesh<[\"a\"=2, \"b\"=2], device_ids=[3, 2, 1, 0]>, "
      "odd = #sdy.mesh<[\" <axis 0x7f>\"=2, \"\\22quoted\\\\\"=2]>}");
  ASSERT_TRUE(meshes.ok()) << meshes.status();
  const Good cases[] = {
      {"#sdy.sharding<@mesh, [{\"a\"}, {}]>", {2, 1}, "00 00 00 00 10 10 10 10"},
      {"#sdy.sharding<@mesh, [{}, {\"b\":(1)2}]>", {1, 2}, "00 00 01 01 00 00 01 01"},
      {"#sdy.sharding<@turned, [{\"b\"}, {\"a\"}]>", {2, 2}, "11 01 10 00"},
      {"#sdy.sharding<@odd, [{\"\\\"quoted\\5C\"}, {\" <axis 0x7f>\"}]>", {2, 2}, "00 10 01 11"},
  };
  for (const Good& c : cases) {
    const auto tiles = TileAssignmentsFromSdy(c.text, *meshes, std::nullopt);
    ASSERT_TRUE(tiles.ok()) << c.text << ": " << tiles.status();
    EXPECT_EQ((*tiles)[0].counts, c.counts) << c.text;
    EXPECT_EQ(TilesText((*tiles)[0]), c.tile_of) << c.text;
  }
  const struct {
    const char *text, *message;
  } wrong[] = {
      {"#sdy.sharding<@other, [{\"a\"}]>", "there is no mesh @other"},
      {"#sdy.sharding<@mesh, [{\"c\"}]>", "the mesh has no axis \"c\"; it has a, b"},
      {"#sdy.sharding<@mesh, [{\"b\":(1)3}]>", "\"b\":(1)3 is no part of an axis of size 4"},
      {"#sdy.sharding<@mesh, [{\"b\":(0)2}]>", "is no part of an axis"},
      {"sdy.sharding<@mesh, [{}]>", "expected #sdy.sharding before"},
      {"#sdy.shard<@mesh, [{}]>", "expected #sdy.sharding or #sdy.sharding_per_value"},
      {"#sdy.sharding @mesh", "expected < before"},
      {"#sdy.sharding<grid, [{}]>", "expected @ and the name of a mesh"},
      {"#sdy.sharding<@mesh {}>", "expected , [ before"},
      {"#sdy.sharding<@mesh, [\"a\"]>", "expected { before"},
      {"#sdy.sharding<@mesh, [{}]", "expected > at the end"},
      {"#sdy.sharding<@mesh, [{a}]>", "expected a name in quotes before \"a}"},
      {"#sdy.sharding<@mesh, [{\"\"}]>", "expected a name in quotes"},
      {"#sdy.sharding<@mesh, [{\"a}]>", "expected a name in quotes before \"\"a}]"},
      {"#sdy.sharding<@mesh, [{\"b\":1)2}]>", "expected ( before"},
      {"#sdy.sharding<@mesh, [{\"b\":(1 2}]>", "expected ) before"},
      {"#sdy.sharding<@mesh, [{}]> 1", "expected the end of the value"},
      {"#sdy.sharding_per_value<{}>", "expected <[ before"},
      {"#sdy.sharding_per_value<[<@mesh, [{}, {}]>]", "expected > at the end"},
  };
  for (const auto& c : wrong) {
    const auto tiles = TileAssignmentsFromSdy(c.text, *meshes, std::nullopt);
    ASSERT_FALSE(tiles.ok()) << c.text;
    EXPECT_TRUE(absl::StrContains(tiles.status().message(), c.message)) << c.text << ": " << tiles.status();
  }
}

// What propagation may add to a sharding, and when.
TEST(TileAssignmentTest, StatedShardings) {
  const auto meshes = MeshesFromText("{m = #sdy.mesh<[\"a\"=2, \"b\"=2]>}");
  ASSERT_TRUE(meshes.ok()) << meshes.status();
  const auto sdy =
      StatedShardingsFromSdy("#sdy.sharding<@m, [{\"a\"}p1, {?}, {}p12], replicated={\"b\"}>", *meshes, std::nullopt);
  ASSERT_TRUE(sdy.ok()) << sdy.status();
  EXPECT_EQ((*sdy)[0].is_open, (std::vector<bool>{false, true, false}));
  EXPECT_EQ((*sdy)[0].priorities, (std::vector<int64_t>{1, 0, 12}));
  EXPECT_EQ(TilesText((*sdy)[0].replicated), "0 1 0 1");
  const auto hlo = StatedShardingsFromHlo("{mesh['a'=2,'b'=2], [{'a', ?}, {}]}", 1);
  ASSERT_TRUE(hlo.ok()) << hlo.status();
  EXPECT_EQ((*hlo)[0].is_open, (std::vector<bool>{true, false}));
  const auto unreduced = StatedShardingsFromHlo("{mesh['a'=2,'b'=2], unreduced}", 1);
  ASSERT_TRUE(unreduced.ok()) << unreduced.status();
  EXPECT_EQ((*unreduced)[0].tiles.reduction, PartReduction::kSum);
  EXPECT_TRUE((*unreduced)[0].tiles.tile_of.empty());
  for (const char* wrong : {"#sdy.sharding<@m, [{}p]>", "#sdy.sharding<@m, [{}p99999999999999999999]>"}) {
    const auto stated = StatedShardingsFromSdy(wrong, *meshes, std::nullopt);
    EXPECT_TRUE(absl::StrContains(stated.status().message(), "expected a priority")) << stated.status();
  }
}

TEST(TileAssignmentTest, BadMeshes) {
  const struct {
    const char *text, *message;
  } cases[] = {
      {"{m = #sdy.mesh<[\"a\"=2], device_ids=[0]>}", "expected 2 device_ids, got 1"},
      {"{m = #sdy.mesh<[\"a\"=2], device_ids=[0, 9999999]>}", "got 9999999"},
      {"m = #sdy.mesh<[]>", "expected { before"},
      {"{m : #sdy.mesh<[]>}", "expected a mesh: name = #sdy.mesh<...>"},
      {"{m = #sdy.grid<[]>}", "expected a mesh: name = #sdy.mesh<...>"},
      {"{m = #sdy.mesh[\"a\"=2]>}", "expected <[ before"},
      {"{m = #sdy.mesh<[\"a\":2]>}", "expected = before"},
      {"{m = #sdy.mesh<[\"a\"=2], ids=[0, 1]>}", "expected device_ids= before"},
      {"{m = #sdy.mesh<[\"a\"=2]}", "expected > before"},
      {"{m = #sdy.mesh<[\"a\"=2]>} 1", "expected the end of the value"},
  };
  for (const auto& c : cases) {
    const auto meshes = MeshesFromText(c.text);
    ASSERT_FALSE(meshes.ok()) << c.text;
    EXPECT_TRUE(absl::StrContains(meshes.status().message(), c.message)) << c.text << ": " << meshes.status();
  }
  EXPECT_EQ(*ManualAxesFromText("#sdy<manual_axes{\"a\", \"b\"}>"), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(absl::StrContains(ManualAxesFromText("{\"a\"}").status().message(), "expected #sdy<manual_axes{"));
  EXPECT_TRUE(
      absl::StrContains(ManualAxesFromText("#sdy<manual_axes{\"a\"}").status().message(), "expected > at the end"));
}

}  // namespace
}  // namespace hilo
