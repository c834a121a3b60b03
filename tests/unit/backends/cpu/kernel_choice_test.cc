// Each kind of the CPU's kernels is chosen by some program; what the text of a module states is never obeyed.
#include "backends/cpu/kernels/kernel_choice.h"

#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "backends/cpu/compile/cpu_compiler.h"
#include "base/file.h"
#include "gtest/gtest.h"
#include "hlo/text/hlo_parser.h"

namespace hilo::cpu {
namespace {

// Adds the kinds of the kernels of all instructions, in any computation.
void AddKinds(const HloModule& module, std::set<KernelKind>* kinds) {
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      if (instruction->kernel() != nullptr) kinds->insert(instruction->kernel()->kind);
    }
  }
}

// The module as it is emitted.
std::unique_ptr<HloModule> Compiled(absl::string_view text, const CompileOptions& options) {
  auto module = ParseHloModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return nullptr;
  const auto emitted = CreateCpuCompiler()->Emit(*std::move(module), options, "hlo");
  EXPECT_TRUE(emitted.ok()) << emitted.status();
  if (!emitted.ok()) return nullptr;
  auto compiled = ParseHloModule(*emitted);
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  return compiled.ok() ? *std::move(compiled) : nullptr;
}

TEST(KernelChoice, EachKindIsChosenBySomeProgram) {
  // One kind per module; its CHECK lines state which.
  const auto text = ReadFile("tests/codegen/kernel_choice.hlo");
  ASSERT_TRUE(text.ok()) << text.status();
  std::set<KernelKind> chosen;
  for (absl::string_view one : absl::StrSplit(*text, "// ----\n")) {
    CompileOptions options{.cpu = "x86-64-v4"};
    options.strict = absl::StrContains(one, "--strict");
    if (const std::unique_ptr<HloModule> module = Compiled(one, options)) AddKinds(*module, &chosen);
  }
  for (size_t i = 0; i < kKernelKindCount; ++i) {
    const auto kind = static_cast<KernelKind>(i);
    EXPECT_EQ(chosen.contains(kind), IsCpuKernel(kind)) << KernelKindString(kind);
  }
}

TEST(KernelChoice, KernelsInTheTextOfAModuleAreOverwritten) {
  const auto module = Compiled(R"(
HloModule m
ENTRY main {
  x = f32[1000] parameter(0)
  ROOT y = f32[1000] exponential(x), kernel={kind=convolution width=64 tile={-1} parts=1000000 parallel=true}
})",
                               {.cpu = "x86-64-v4"});
  ASSERT_NE(module, nullptr);
  const KernelConfig* kernel = module->entry_computation()->root_instruction()->kernel();
  ASSERT_NE(kernel, nullptr);
  EXPECT_EQ(kernel->kind, KernelKind::kLoop);
  EXPECT_EQ(kernel->width, 8);
  EXPECT_EQ(kernel->tile, std::vector<int64_t>{1000});
  EXPECT_EQ(kernel->parts, 1);
}

TEST(KernelChoice, KernelsOfInstructionsWithoutCodeAreIgnored) {
  const auto module = Compiled(R"(
HloModule m
ENTRY main {
  x = f32[0] parameter(0)
  ROOT y = f32[0] exponential(x), kernel={kind=rows parallel=true}
})",
                               {.cpu = "x86-64-v4"});
  ASSERT_NE(module, nullptr);
  for (const HloInstruction* instruction : module->entry_computation()->instructions()) {
    EXPECT_EQ(KernelOf(*instruction), nullptr) << instruction->ToString();
  }
}

}  // namespace
}  // namespace hilo::cpu
