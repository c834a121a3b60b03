// Convolutions of bytes as products of patches give the interpreter's bits.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "backends/cpu/compile/cpu_compiler.h"
#include "gtest/gtest.h"
#include "hilo/client.h"
#include "hlo/text/hlo_parser.h"
#include "tests/fuzz/random_numbers.h"
#include "tests/support/platform_client.h"

namespace hilo {
namespace {

using fuzz::Random;

// Up to three spatial dimensions, in which some windows read padding on either side, or leave elements of the input
// out, and kernels of both orders.
std::string RandomPatchConvolution(Random& random) {
  const int64_t spatial = random.Below(4), features = 1 + random.Below(40), results = 2 + random.Below(80);
  const bool is_transposed = random.Chance(30);
  std::vector<int64_t> input = {1 + random.Below(3)}, output = input, taps;
  std::string size, stride, pad, dilation, digits;
  for (int64_t s = 0; s < spatial; ++s) {
    const int64_t window = 1 + random.Below(spatial == 3 ? 3 : 5), step = 1 + random.Below(2),
                  holes = random.Chance(30) ? 2 : 1, low = random.Below(4) - 1, high = random.Below(4) - 1;
    const int64_t reach = (window - 1) * holes + 1, length = reach + 2 + random.Below(spatial == 1 ? 120 : 10);
    input.push_back(length);
    output.push_back((length + low + high - reach) / step + 1);
    taps.push_back(window);
    const char* separator = s == 0 ? "" : "x";
    absl::StrAppend(&size, separator, window);
    absl::StrAppend(&stride, separator, step);
    absl::StrAppend(&pad, separator, low, "_", high);
    absl::StrAppend(&dilation, separator, holes);
    absl::StrAppend(&digits, s);
  }
  std::vector<int64_t> kernel = taps;
  kernel.push_back(features);
  kernel.insert(is_transposed ? kernel.begin() : kernel.end(), results);
  input.push_back(features);
  output.push_back(results);
  const std::string window = spatial == 0 ? ""
                                          : absl::StrCat(", window={size=", size, " stride=", stride, " pad=", pad,
                                                         " rhs_dilate=", dilation, "}");
  const auto shape = [](const char* type, const std::vector<int64_t>& sizes) {
    return absl::StrCat(type, "[", absl::StrJoin(sizes, ","), "]");
  };
  return absl::StrCat("HloModule random\nENTRY main { x = ", shape("s8", input),
                      " parameter(0)  k = ", shape("s8", kernel), " parameter(1)  ROOT y = ", shape("s32", output),
                      " convolution(x, k)", window, ", dim_labels=b", digits, "f_", is_transposed ? "o" : "", digits,
                      "i", is_transposed ? "" : "o", "->b", digits, "f }");
}

TEST(PatchConvolutionTest, RandomConvolutions_GiveTheInterpretersBits) {
  const std::unique_ptr<Client> interpreter = ClientOf("interpreter"), cpu = ClientOf("cpu");
  int of_patches = 0;
  for (int seed = 0; seed < 80; ++seed) {
    Random random(seed);
    const std::string text = RandomPatchConvolution(random);
    auto module = ParseHloModule(text);
    ASSERT_TRUE(module.ok()) << module.status() << "\n" << text;
    std::vector<Literal> numbers;
    for (const int64_t parameter : {0, 1}) {
      Literal bytes = *Literal::Create((*module)->entry_computation()->parameter_instruction(parameter)->shape());
      // The least and the largest number often.
      for (int8_t& value : bytes.data<int8_t>()) {
        const int64_t extreme = random.Chance(50) ? -128 : 127;
        value = static_cast<int8_t>(random.Chance(20) ? extreme : random.Below(256) - 128);
      }
      numbers.push_back(std::move(bytes));
    }
    const Literal* arguments[] = {&numbers[0], &numbers[1]};
    const auto emitted = cpu::CreateCpuCompiler()->Emit(*std::move(module), {.cpu = "cascadelake"}, "hlo");
    ASSERT_TRUE(emitted.ok()) << emitted.status();
    if (absl::StrContains(*emitted, "windows are copied")) ++of_patches;
    const Literal expected = *(*interpreter->CompileHloText(text, {}))->ExecuteLiterals(arguments);
    for (const bool strict : {false, true}) {
      auto executable = cpu->CompileHloText(text, {.strict = strict});
      ASSERT_TRUE(executable.ok()) << executable.status() << "\n" << text;
      const auto result = (*executable)->ExecuteLiterals(arguments);
      ASSERT_TRUE(result.ok()) << result.status();
      const absl::Status same = CompareLiterals(expected, *result, {});
      EXPECT_TRUE(same.ok()) << same << "\nseed " << seed << "\n" << text;
    }
  }
  EXPECT_GE(of_patches, 20);
}

}  // namespace
}  // namespace hilo
