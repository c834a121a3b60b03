// Reading of StableHLO programs: what beside the computation comes along, and what damaged bytes give. That programs
// compute the right things is tested with tests/programs/stablehlo.
#include "hlo/import/stablehlo/stablehlo_import.h"

#include <filesystem>
#include <random>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/file.h"
#include "gtest/gtest.h"
#include "hlo/import/stablehlo/op_conversion.h"
#include "hlo/text/hlo_parser.h"
#include "hlo/text/hlo_printer.h"

namespace hilo {
namespace {

namespace fs = std::filesystem;

std::string Artifact(absl::string_view name) {
  return ReadFile(absl::StrCat("tests/programs/stablehlo/", name, ".mlirbc")).value_or("");
}

std::vector<std::string> AllArtifacts() {
  std::vector<std::string> all;
  for (const auto& entry : fs::directory_iterator("tests/programs/stablehlo")) {
    if (entry.path().extension() == ".mlirbc") all.push_back(ReadFile(entry.path().string()).value_or(""));
  }
  EXPECT_GT(all.size(), 10u);
  return all;
}

void ExpectBytecodeError(absl::string_view bytes, absl::StatusCode code, absl::string_view text) {
  const auto program = ImportStablehlo(bytes);
  ASSERT_FALSE(program.ok());
  EXPECT_EQ(program.status().code(), code) << program.status();
  EXPECT_TRUE(absl::StrContains(program.status().message(), text)) << program.status();
}

TEST(StablehloImportTest, ModulesPrintAsTextThatParsesAgain) {
  for (const std::string& bytes : AllArtifacts()) {
    const auto program = ImportStablehlo(bytes);
    ASSERT_TRUE(program.ok()) << program.status();
    const std::string text = PrintHloModule(*program->module);
    const auto again = ParseHloModule(text);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(PrintHloModule(**again), text);
  }
}

TEST(StablehloImportTest, DonationOfArguments) {
  const auto program = ImportStablehlo(Artifact("donated"));
  ASSERT_TRUE(program.ok()) << program.status();
  ASSERT_EQ(program->arguments.size(), 3u);
  EXPECT_EQ(program->arguments[0].aliasing_output, 0);
  EXPECT_FALSE(program->arguments[2].aliasing_output.has_value());
  ASSERT_EQ(program->module->input_output_aliases().size(), 1u);
  EXPECT_EQ(program->module->input_output_aliases()[0].output_index, ShapeIndex({0}));
  EXPECT_EQ(program->module->input_output_aliases()[0].parameter_number, 0);
}

// A result whose layout is left open lies as it is computed, but for one in the memory of an argument.
TEST(StablehloImportTest, OpenLayoutOfADonatedResult_IsThatOfTheArgument) {
  const auto layout_with = [](absl::string_view argument) {
    const auto program = ImportStablehlo(absl::StrCat("module { func.func @main(%x: tensor<2x2xf32>", argument,
                                                      R"() -> (tensor<2x2xf32> {mhlo.layout_mode = "auto"}) {
             %y = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x2xf32>) -> tensor<2x2xf32>
             return %y : tensor<2x2xf32> } })"));
    EXPECT_TRUE(program.ok()) << program.status();
    if (!program.ok()) return std::vector<int64_t>();
    const auto& order = program->module->entry_computation_layout()->result.layout().minor_to_major;
    return std::vector<int64_t>(order.begin(), order.end());
  };
  EXPECT_EQ(layout_with(""), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(layout_with(" {tf.aliasing_output = 0 : i32}"), (std::vector<int64_t>{1, 0}));
}

TEST(StablehloImportTest, ShardingsOfArgumentsAndResults) {
  const auto program = ImportStablehlo(Artifact("sharded_product"));
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ(program->module->num_partitions(), 4);
  ASSERT_EQ(program->arguments.size(), 2u);
  EXPECT_EQ(program->arguments[0].sharding, "{devices=[2,1,2]0,1,2,3 last_tile_dim_replicate}");
  EXPECT_EQ(program->arguments[1].sharding, "{devices=[1,2,2]0,2,1,3 last_tile_dim_replicate}");
  ASSERT_EQ(program->results.size(), 2u);
  EXPECT_EQ(program->results[0].sharding, "{devices=[2,2]0,1,2,3}");
  EXPECT_EQ(program->results[1].sharding, "{devices=[2,2]0,2,1,3 last_tile_dim_replicate}");
}

// A result without a sharding of its own has that of the computation that makes it.
TEST(StablehloImportTest, ShardingsOfManualComputations) {
  const auto program = ImportStablehlo(Artifact("manual_collectives"));
  ASSERT_TRUE(program.ok()) << program.status();
  ASSERT_EQ(program->results.size(), 6u);
  EXPECT_EQ(program->results[1].sharding, "{devices=[2,2]0,1,2,3}");
  EXPECT_EQ(program->results[3].sharding, "{replicated}");
}

// Groups that are said by the axes of a mesh become lists of devices, in the order of the axes.
TEST(StablehloImportTest, GroupsAlongAxesOfMeshes) {
  constexpr absl::string_view kXy =
      R"(axes = [#stablehlo.mesh_axis<name = "x", size = 2>, #stablehlo.mesh_axis<name = "y in quotes", size = 4>])";
  constexpr absl::string_view kX = R"(#stablehlo.axis_ref<name = "x">)",
                              kY = R"(#stablehlo.axis_ref<name = "y in quotes">)";
  struct {
    std::string mesh, axes;
    absl::string_view groups;
  } const cases[] = {
      {absl::StrCat("#stablehlo.mesh<", kXy, ">"), std::string(kX), "{{0,4},{1,5},{2,6},{3,7}}"},
      {absl::StrCat("#stablehlo.mesh<", kXy, ">"), std::string(kY), "{{0,1,2,3},{4,5,6,7}}"},
      {absl::StrCat("#stablehlo.mesh<", kXy, ">"), absl::StrCat(kY, ", ", kX), "{{0,4,1,5,2,6,3,7}}"},
      {absl::StrCat("#stablehlo.mesh<", kXy, ">"), R"(#stablehlo.axis_ref<name = "y in quotes", sub_axis_info = (1)2>)",
       "{{0,2},{1,3},{4,6},{5,7}}"},
      {absl::StrCat("#stablehlo.mesh<", kXy, ">"), R"(#sdy<axis_ref"y in quotes":(2)2>)", "{{0,1},{2,3},{4,5},{6,7}}"},
      {absl::StrCat("#stablehlo.mesh<", kXy, ", device_ids = dense<[7, 6, 5, 4, 3, 2, 1, 0]> : tensor<8xi64>>"),
       std::string(kX), "{{7,3},{6,2},{5,1},{4,0}}"},
      {"@pair", R"(#stablehlo.axis_ref<name = "p">)", "{{1,0}}"},
  };
  for (const auto& [mesh, axes, groups] : cases) {
    const auto program =
        ImportStablehlo(absl::StrCat(R"(module {
  sdy.mesh @pair = <["p"=2], device_ids=[1, 0]>
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %y = "stablehlo.collective_broadcast"(%x) <{replica_groups = #stablehlo.replica_group_mesh_axes<mesh = )",
                                     mesh, ", axes = [", axes, R"(]>}> : (tensor<4xf32>) -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
})"));
    ASSERT_TRUE(program.ok()) << program.status() << mesh << axes;
    EXPECT_TRUE(absl::StrContains(PrintHloModule(*program->module), absl::StrCat("replica_groups=", groups)))
        << PrintHloModule(*program->module);
  }
}

TEST(StablehloImportTest, Instructions_KeepTheirSource) {
  const auto program = ImportStablehlo(Artifact("reductions"));
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_TRUE(absl::StrContains(PrintHloModule(*program->module), "op_name=\"jit(reductions)"));
}

TEST(StablehloImportTest, UnknownNames_AreNamed) {
  ExpectBytecodeError(absl::StrReplaceAll(Artifact("oldest_version"), {{"tanh_v1", "tanx_v1"}}),
                      absl::StatusCode::kUnimplemented, "operation vhlo.tanx_v1");
  // The dialect of a module that is not a portable artifact.
  ExpectBytecodeError(absl::StrReplaceAll(Artifact("oldest_version"), {{"vhlo", "func"}}),
                      absl::StatusCode::kUnimplemented, "serialize_portable_artifact");
  std::string newer = Artifact("donated");
  newer[4] = 0x0F;
  ExpectBytecodeError(newer, absl::StatusCode::kUnimplemented, "MLIR bytecode of version 7");
  ExpectBytecodeError("", absl::StatusCode::kInvalidArgument, "expected");
  ExpectBytecodeError("ML\xefR", absl::StatusCode::kInvalidArgument, "at byte 4");
}

TEST(StablehloImportTest, TruncatedBytesAreErrors) {
  for (const std::string& bytes : AllArtifacts()) {
    for (size_t size = 0; size < bytes.size(); size += size < 64 ? 1 : 13) {
      EXPECT_FALSE(ImportStablehlo(absl::string_view(bytes).substr(0, size)).ok()) << size;
    }
  }
}

// A damaged program is refused, or it is another program; what is accepted is a module like any other.
TEST(StablehloImportTest, DamagedBytes_AreRefused) {
  std::mt19937 random(7);
  int accepted = 0;
  for (const std::string& bytes : AllArtifacts()) {
    for (int i = 0; i < 300; ++i) {
      std::string damaged = bytes;
      for (uint32_t flips = random() % 3 + 1; flips > 0; --flips)
        damaged[random() % damaged.size()] ^= static_cast<char>(1 << random() % 8);
      const auto program = ImportStablehlo(damaged);
      if (!program.ok()) {
        EXPECT_NE(program.status().code(), absl::StatusCode::kInternal) << program.status();
        continue;
      }
      ++accepted;
      if (i % 8 != 0) continue;
      const auto again = ParseHloModule(PrintHloModule(*program->module));
      EXPECT_TRUE(again.ok()) << again.status();
    }
  }
  EXPECT_GT(accepted, 0);
}

TEST(StablehloImport, EveryElementwiseOpHasOneOfTheDialects) {
  const auto converter = [](absl::string_view dialect, HloOpcode opcode) {
    return stablehlo::FindConverter(
        absl::StrCat(dialect, ".", absl::StrReplaceAll(HloOpcodeString(opcode), {{"-", "_"}})));
  };
  for (int i = 0; i < kHloOpcodeCount; ++i) {
    const HloOpcode opcode = static_cast<HloOpcode>(i);
    if (OpcodeInfo(opcode).family == HloFamily::kOwn) continue;
    EXPECT_TRUE(converter("stablehlo", opcode) != nullptr || converter("chlo", opcode) != nullptr)
        << HloOpcodeString(opcode);
  }
  EXPECT_EQ(converter("stablehlo", HloOpcode::kErf), nullptr);
  EXPECT_EQ(converter("chlo", HloOpcode::kAdd), nullptr);
  EXPECT_NE(converter("stablehlo", HloOpcode::kTan), nullptr);
  EXPECT_NE(converter("chlo", HloOpcode::kTan), nullptr);
}

}  // namespace
}  // namespace hilo
