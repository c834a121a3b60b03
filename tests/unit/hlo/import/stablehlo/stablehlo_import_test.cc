// Reading of StableHLO programs: what beside the computation comes along, and what damaged bytes give. That programs compute the right things
// is tested with tests/programs/stablehlo.
#include "hlo/import/stablehlo/stablehlo_import.h"

#include <filesystem>
#include <random>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/file.h"
#include "gtest/gtest.h"
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

void ExpectError(absl::string_view bytes, absl::StatusCode code, absl::string_view text) {
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

TEST(StablehloImportTest, InstructionsKnowWhereTheyComeFrom) {
  const auto program = ImportStablehlo(Artifact("reductions"));
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_TRUE(absl::StrContains(PrintHloModule(*program->module), "op_name=\"jit(reductions)"));
}

TEST(StablehloImportTest, WhatIsNotKnownIsNamed) {
  ExpectError(absl::StrReplaceAll(Artifact("oldest_version"), {{"tanh_v1", "tanx_v1"}}), absl::StatusCode::kUnimplemented, "operation vhlo.tanx_v1");
  std::string newer = Artifact("donated");
  newer[4] = 0x0F;
  ExpectError(newer, absl::StatusCode::kUnimplemented, "MLIR bytecode of version 7");
  ExpectError("", absl::StatusCode::kInvalidArgument, "expected");
  ExpectError("ML\xefR", absl::StatusCode::kInvalidArgument, "at byte 4");
}

TEST(StablehloImportTest, TruncatedBytesAreErrors) {
  for (const std::string& bytes : AllArtifacts()) {
    for (size_t size = 0; size < bytes.size(); size += size < 64 ? 1 : 13) {
      EXPECT_FALSE(ImportStablehlo(absl::string_view(bytes).substr(0, size)).ok()) << size;
    }
  }
}

// A damaged program is refused, or it is another program; what is accepted is a module like any other.
TEST(StablehloImportTest, DamagedBytesDoNoHarm) {
  std::mt19937 random(7);
  int accepted = 0;
  for (const std::string& bytes : AllArtifacts()) {
    for (int i = 0; i < 1000; ++i) {
      std::string damaged = bytes;
      for (uint32_t flips = random() % 3 + 1; flips > 0; --flips) damaged[random() % damaged.size()] ^= static_cast<char>(1 << random() % 8);
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

}  // namespace
}  // namespace hilo
