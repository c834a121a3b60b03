#include "runtime/compile_driver.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "backends/cpu/compile/cpu_compiler.h"
#include "backends/gpu/compile/gpu_compiler.h"
#include "backends/gpu/runtime/gpu_platform.h"
#include "backends/interpreter/interpreter_compiler.h"
#include "hlo/text/hlo_parser.h"
#include "runtime/compiler.h"

namespace hilo {
namespace {

constexpr absl::string_view kText =
    "HloModule m\nENTRY main { x = f32[4] parameter(0) y = f32[4] add(x, x) ROOT z = f32[4] negate(y) }\n";

std::vector<std::string> DumpsOf(Compiler* compiler) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "compile_driver_test";
  std::filesystem::remove_all(folder);
  const absl::Status compiled =
      compiler->Compile(*ParseHloModule(kText), {.dump_dir = folder.string()}, nullptr).status();
  EXPECT_TRUE(compiled.ok()) << compiled;
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  std::filesystem::remove_all(folder);
  return names;
}

TEST(CompileDriverTest, DumpsEachStageOnce) {
  std::vector<std::string> stages = {"00.input.hlo", "10.core.hlo",    "20.laidout.hlo",
                                     "30.fused.hlo", "50.aliased.hlo", "55.buffers.txt"};
  EXPECT_EQ(DumpsOf(CreateInterpreterCompiler({.assigned_buffers = true}).get()), stages);
  stages.push_back("60.program.ll");
  EXPECT_EQ(DumpsOf(cpu::CreateCpuCompiler().get()), stages);
  stages.back() = "60.kernels.ll";
  stages.push_back("70.thunks.txt");
  EXPECT_EQ(DumpsOf(gpu::CreateGpuCompiler(gpu::kEmulatedPlatform, {}).get()), stages);
}

TEST(CompileDriverTest, ReportsWhereItCannotDump) {
  const absl::Status status = CompileDriver::Create({.dump_dir = "/dev/null/dumps"}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
}

TEST(CompileDriverTest, ListsTheKindsOfText) {
  EXPECT_TRUE(CheckEmitKind("cpu", "asm", {"hlo", "llvm", "asm"}).ok());
  EXPECT_EQ(CheckEmitKind("cpu", "ptx", {"hlo", "llvm", "asm"}).message(),
            "the cpu platform emits hlo, llvm, asm; got 'ptx'");
}

}  // namespace
}  // namespace hilo
