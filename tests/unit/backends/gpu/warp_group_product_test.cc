// Products by warp groups: which ones they compute, what the assembler makes of them, and that the emulated device,
// with every access checked, has the interpreter's results.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/gpu/compile/gpu_compiler.h"
#include "backends/gpu/ptx/assembler.h"
#include "backends/gpu/runtime/gpu_platform.h"
#include "hilo/client.h"
#include "hlo/evaluator/hlo_evaluator.h"
#include "hlo/text/hlo_parser.h"
#include "runtime/runtime_access.h"

namespace hilo::gpu {
namespace {

// A product of `rows` x `depth` by `depth` x `columns` in `batch`, each side with its depth last or first.
struct Product {
  int64_t batch = 1, rows, columns, depth;
  bool lhs_deep = true, rhs_deep = false;
  const char *type = "bf16", *epilogue = "";
};

std::string TextOf(const Product& p) {
  const std::string batch = p.batch == 1 ? "" : absl::StrCat(p.batch, ","),
                    result = absl::StrCat(batch, p.rows, ",", p.columns);
  const int64_t first = p.batch == 1 ? 0 : 1;
  const auto side = [&](bool deep, int64_t positions) {
    return absl::StrCat(p.type, "[", batch, deep ? positions : p.depth, ",", deep ? p.depth : positions, "]");
  };
  const std::string dot =
      absl::StrCat("f32[", result, "] dot(x, y), ", p.batch == 1 ? "" : "lhs_batch_dims={0}, rhs_batch_dims={0}, ",
                   "lhs_contracting_dims={", first + (p.lhs_deep ? 1 : 0), "}, rhs_contracting_dims={",
                   first + (p.rhs_deep ? 1 : 0), "}");
  std::string text = absl::StrCat("HloModule m\nENTRY main {\n  x = ", side(p.lhs_deep, p.rows),
                                  " parameter(0)\n  y = ", side(p.rhs_deep, p.columns), " parameter(1)\n");
  if (*p.epilogue == '\0') return absl::StrCat(text, "  ROOT d = ", dot, "\n}");
  // A bias of the columns, a residual, an activation and a conversion.
  return absl::StrCat(text, "  d = ", dot, "\n  v = f32[", p.columns, "] parameter(2)\n  b = f32[", result,
                      "] broadcast(v), dimensions={", first + 1, "}\n  s = f32[", result, "] add(d, b)\n  z = ", p.type,
                      "[", result, "] parameter(3)\n  w = f32[", result, "] convert(z)\n  h = f32[", result,
                      "] add(s, w)\n  t = f32[", result, "] tanh(h)\n  ROOT c = ", p.type, "[", result,
                      "] convert(t)\n}");
}

Literal Numbers(const Shape& shape, uint32_t seed) {
  std::vector<float> values(ShapeUtil::ElementsIn(shape));
  for (float& value : values) {
    seed = seed * 1664525 + 1013904223;
    value = static_cast<float>(static_cast<int32_t>(seed >> 20) - 2048) / 2048;
  }
  const Literal wide = LiteralUtil::CreateFromArray<float>(values, shape.dimensions());
  return *wide.Convert(shape.element_type());
}

absl::StatusOr<std::string> Emit(const std::string& text, const char* kind, const char* arch = "sm_90") {
  auto module = ParseHloModule(text);
  if (!module.ok()) return module.status();
  CompileOptions options;
  options.cpu = arch;
  return CreateGpuCompiler(kCudaPlatform, {.kernels = {.library_thresholds = LibraryThresholds::Never()}})
      ->Emit(*std::move(module), options, kind);
}

bool ByWarpGroups(const std::string& text, const char* arch = "sm_90") {
  const auto hlo = Emit(text, "hlo", arch);
  EXPECT_TRUE(hlo.ok()) << hlo.status();
  return hlo.ok() && absl::StrContains(*hlo, "by warp groups");
}

// Returns how far the results are apart, relative to the largest; `setting` is HILO_EMULATED.
double Difference(const std::string& text, const char* setting = "check,seed=5") {
  const auto module = *ParseHloModule(text);
  std::vector<Literal> arguments;
  std::vector<const Literal*> pointers;
  const HloComputation& entry = *module->entry_computation();
  for (int64_t i = 0; i < entry.num_parameters(); ++i)
    arguments.push_back(Numbers(entry.parameter_instruction(i)->shape(), static_cast<uint32_t>(17 * i + 1)));
  for (const Literal& argument : arguments) pointers.push_back(&argument);
  const auto expected = HloEvaluator().Evaluate(*module, pointers);
  EXPECT_TRUE(expected.ok()) << expected.status();
  setenv("HILO_EMULATED", setting, /*overwrite=*/1);
  auto client = RuntimeAccess::CreateClient(
      {.device_count = 1},
      CreateGpuCompiler(kEmulatedPlatform, {.kernels = {.library_thresholds = LibraryThresholds::Never()}}));
  unsetenv("HILO_EMULATED");
  EXPECT_TRUE(client.ok()) << client.status();
  const auto executable = (*client)->CompileHloText(text);
  EXPECT_TRUE(executable.ok()) << executable.status();
  if (!executable.ok()) return INFINITY;
  const auto result = (*executable)->ExecuteLiterals(pointers);
  EXPECT_TRUE(result.ok()) << result.status();
  if (!result.ok()) return INFINITY;
  const Literal x = *result->Convert(F32), y = *expected->Convert(F32);
  double most = 0, largest = 0;
  for (int64_t i = 0; i < ShapeUtil::ElementsIn(x.shape()); ++i) {
    most = std::max<double>(most, std::abs(x.data<float>()[i] - y.data<float>()[i]));
    largest = std::max<double>(largest, std::abs(y.data<float>()[i]));
  }
  return most / largest;
}

TEST(WarpGroupProduct, AgreesWithTheInterpreter) {
  const Product products[] = {
      {.rows = 300, .columns = 264, .depth = 128},
      {.rows = 256, .columns = 320, .depth = 192, .lhs_deep = true, .rhs_deep = true},
      {.rows = 200, .columns = 328, .depth = 128, .lhs_deep = false, .rhs_deep = false},
      {.rows = 200, .columns = 328, .depth = 128, .lhs_deep = false, .rhs_deep = true, .type = "f16"},
      // Edges: rows, columns and depth that are no multiples of a tile, nor of 16 bytes.
      {.rows = 100, .columns = 110, .depth = 136, .rhs_deep = true},
      {.rows = 301, .columns = 250, .depth = 162},
      {.rows = 177, .columns = 230, .depth = 130, .lhs_deep = true, .rhs_deep = true},
      // Elements of which no two are adjacent at addresses of four bytes: threads load them.
      {.rows = 1024, .columns = 1031, .depth = 129},
      // Tiles of 256 columns.
      {.rows = 1088, .columns = 2304, .depth = 128},
      {.batch = 3, .rows = 120, .columns = 264, .depth = 144},
      {.batch = 2, .rows = 130, .columns = 192, .depth = 128, .lhs_deep = false, .rhs_deep = true},
      {.rows = 256, .columns = 256, .depth = 128, .epilogue = "all"},
      {.batch = 2, .rows = 200, .columns = 140, .depth = 136, .type = "f16", .epilogue = "all"},
  };
  for (const Product& p : products) {
    SCOPED_TRACE(TextOf(p));
    EXPECT_TRUE(ByWarpGroups(TextOf(p)));
    EXPECT_LE(Difference(TextOf(p)), *p.epilogue == '\0' ? 1e-5 : 1e-2);
  }
}

// Both operands as they are in memory, and weights that threads make.
TEST(WarpGroupProduct, Assembled) {
  const std::string copied = TextOf({.rows = 2048, .columns = 4096, .depth = 1024, .epilogue = "all"});
  const char made[] = R"(
HloModule m
ENTRY main {
  x = bf16[2048,1024] parameter(0)
  q = s8[1024,4096] parameter(1)
  w = bf16[1024,4096] convert(q)
  ROOT r = bf16[2048,4096] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})";
  for (const std::string& text : {copied, std::string(made)}) {
    const auto ptx = Emit(text, "ptx");
    ASSERT_TRUE(ptx.ok()) << ptx.status();
    for (const char* wanted :
         {".target sm_90a", "wgmma.mma_async.sync.aligned.m64n", "wgmma.commit_group", "fence.proxy.async"})
      EXPECT_TRUE(absl::StrContains(*ptx, wanted)) << wanted;
    EXPECT_FALSE(absl::StrContains(*ptx, ".local"));
    if (!CheckAssembler().ok()) continue;
    const auto resources = Emit(text, "resources");
    ASSERT_TRUE(resources.ok()) << resources.status();
    EXPECT_TRUE(absl::StrContains(*resources, "stack=0 spill_stores=0 spill_loads=0")) << *resources;
    if (!CheckDisassembler().ok()) continue;
    const auto sass = Emit(text, "sass");
    ASSERT_TRUE(sass.ok()) << sass.status();
    EXPECT_TRUE(absl::StrContains(*sass, "HGMMA.64x"));
  }
}

// Where warps multiply instead: few rows, columns or indices of the depth, other types, and other architectures, which
// do not have the instruction.
TEST(WarpGroupProduct, LeavesOthersToWarps) {
  const Product large{.rows = 2048, .columns = 2048, .depth = 512};
  EXPECT_TRUE(ByWarpGroups(TextOf(large)));
  for (const char* arch : {"sm_80", "sm_89", "sm_100"}) EXPECT_FALSE(ByWarpGroups(TextOf(large), arch)) << arch;
  const auto differs = [&](auto change) {
    Product p = large;
    change(p);
    return ByWarpGroups(TextOf(p));
  };
  EXPECT_FALSE(differs([](Product& p) { p.rows = 32; }));
  EXPECT_FALSE(differs([](Product& p) { p.columns = 32; }));
  EXPECT_FALSE(differs([](Product& p) { p.depth = 96; }));
  EXPECT_FALSE(differs([](Product& p) { p.type = "f32"; }));
  EXPECT_TRUE(differs([](Product& p) { p.type = "f16"; }));
}

}  // namespace
}  // namespace hilo::gpu
