// Transposes by tiles that were compiled with Hilo give the interpreter's bits.
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <numeric>
#include <random>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "backends/cpu/compile/cpu_compiler.h"
#include "backends/cpu/transpose/transpose_loops.h"
#include "gtest/gtest.h"
#include "hilo/client.h"
#include "hlo/text/hlo_parser.h"
#include "tests/fuzz/random_numbers.h"
#include "tests/support/platform_client.h"

namespace hilo {
namespace {

using fuzz::Random;

// Arrays of two to five dimensions, of which some are as long as vectors.
std::string RandomTranspose(Random& random) {
  const int64_t rank = 2 + random.Below(4);
  std::vector<int64_t> sizes, permutation(rank);
  std::iota(permutation.begin(), permutation.end(), 0);
  for (int64_t d = rank - 1; d > 0; --d) std::swap(permutation[d], permutation[random.Below(d + 1)]);
  for (int64_t d = 0; d < rank; ++d) {
    const bool is_long = d == rank - 1 || d == permutation[rank - 1];
    sizes.push_back(!is_long            ? 1 + random.Below(3)
                    : random.Chance(50) ? 16 * (1 + random.Below(20))
                                        : 4 + random.Below(70));
  }
  std::vector<int64_t> result;
  for (const int64_t d : permutation) result.push_back(sizes[d]);
  static constexpr const char* kTypes[] = {"f32", "s32", "f64", "u64", "c64", "bf16", "u16", "u8", "s8"};
  const std::string type = random.Of(kTypes);
  return absl::StrCat("HloModule random\nENTRY main { x = ", type, "[", absl::StrJoin(sizes, ","),
                      "] parameter(0)  ROOT t = ", type, "[", absl::StrJoin(result, ","),
                      "] transpose(x), dimensions={", absl::StrJoin(permutation, ","), "} }");
}

TEST(LibraryTransposeTest, RandomTransposes_GiveTheInterpretersBits) {
  const std::unique_ptr<Client> interpreter = ClientOf("interpreter"), cpu = ClientOf("cpu");
  std::vector<std::string> processors = {""};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) processors.push_back("x86-64-v3");
#endif
  int in_library = 0;
  for (int seed = 0; seed < 150; ++seed) {
    Random random(seed);
    const std::string text = RandomTranspose(random);
    auto module = ParseHloModule(text);
    ASSERT_TRUE(module.ok()) << module.status() << "\n" << text;
    const Shape shape = (*module)->entry_computation()->parameter_instruction(0)->shape();
    const auto emitted = cpu::CreateCpuCompiler()->Emit(*std::move(module), {.cpu = "x86-64-v3"}, "hlo");
    ASSERT_TRUE(emitted.ok()) << emitted.status();
    if (absl::StrContains(*emitted, "kind=library-transpose")) ++in_library;
    Literal numbers = *Literal::Create(Shape(F64, shape.dimensions()));
    for (double& value : numbers.data<double>()) value = static_cast<double>(random.Below(100));
    const Literal argument = *numbers.Convert(shape.element_type());
    const Literal* arguments[] = {&argument};
    const Literal expected = *(*interpreter->CompileHloText(text, {}))->ExecuteLiterals(arguments);
    for (const std::string& processor : processors) {
      auto executable = cpu->CompileHloText(text, {.cpu = processor});
      ASSERT_TRUE(executable.ok()) << executable.status() << "\n" << text;
      const auto result = (*executable)->ExecuteLiterals(arguments);
      ASSERT_TRUE(result.ok()) << result.status();
      const absl::Status same = CompareLiterals(expected, *result, {});
      EXPECT_TRUE(same.ok()) << same << "\nseed " << seed << " " << processor << "\n" << text;
    }
  }
  EXPECT_GE(in_library, 25);
}

// Transposes of "OPERAND RESULT PERMUTATION" give the interpreter's bits.
void ExpectInterpretersBits(std::initializer_list<const char*> transposes) {
  const std::unique_ptr<Client> interpreter = ClientOf("interpreter"), cpu = ClientOf("cpu");
  for (const char* shapes : transposes) {
    const std::vector<std::string> parts = absl::StrSplit(shapes, ' ');
    const std::string text =
        absl::StrCat("HloModule transposed\nENTRY main { x = ", parts[0], " parameter(0)  ROOT t = ", parts[1],
                     " transpose(x), dimensions={", parts[2], "} }");
    const Shape shape = (*ParseHloModule(text))->entry_computation()->parameter_instruction(0)->shape();
    Literal numbers = *Literal::Create(Shape(F64, shape.dimensions()));
    std::iota(numbers.data<double>().begin(), numbers.data<double>().end(), 0.0);
    if (PrimitiveTypeByteSize(shape.element_type()) < 4) {
      for (double& number : numbers.data<double>()) number = std::fmod(number, 127);  // which all types have
    }
    const Literal argument = *numbers.Convert(shape.element_type());
    const Literal* arguments[] = {&argument};
    const Literal expected = *(*interpreter->CompileHloText(text, {}))->ExecuteLiterals(arguments);
    const auto result = (*cpu->CompileHloText(text, {}))->ExecuteLiterals(arguments);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_TRUE(CompareLiterals(expected, *result, {}).ok()) << text;
  }
}

// Rows of the result are a multiple of 4 KB apart: whole groups of tiles, a rest of them, and of elements.
TEST(LibraryTransposeTest, StagedTiles_GiveTheInterpretersBits) {
  ExpectInterpretersBits({"f32[1024,64] f32[64,1024] 1,0", "f32[2,1024,40] f32[2,40,1024] 0,2,1",
                          "f64[512,24] f64[24,512] 1,0", "f32[1024,17] f32[17,1024] 1,0",
                          "f32[3,1024,2,32] f32[2,32,3,1024] 2,3,0,1", "f32[8,32,32,64] f32[8,64,32,32] 0,3,1,2"});
}

// Rows in several dimensions: few, as many as the table of their positions has, and more, once and for several outer
// indices.
TEST(LibraryTransposeTest, RowsInSeveralDimensions_GiveTheInterpretersBits) {
  ExpectInterpretersBits({"f32[8,15,9] f32[9,15,8] 2,1,0", "f32[16,64,8] f32[8,64,16] 2,1,0",
                          "f32[9,203,10] f32[10,203,9] 2,1,0", "f64[2,12,5,301,4] f64[4,5,301,2,12] 4,2,3,0,1",
                          "f32[3,8,2,130,9] f32[2,9,3,130,8] 2,4,0,3,1",
                          "s32[4,8,16,6,10] s32[10,16,4,6,8] 4,2,0,3,1"});
}

// Narrow elements: tiles of 8 and of 16 columns, rows of one dimension and of several, rests of both.
TEST(LibraryTransposeTest, NarrowElements_GiveTheInterpretersBits) {
  ExpectInterpretersBits({"u8[100,60] u8[60,100] 1,0", "s8[8,15,9] s8[9,15,8] 2,1,0", "u8[15,48] u8[48,15] 1,0",
                          "u8[17,5,33] u8[5,33,17] 1,2,0", "bf16[100,60] bf16[60,100] 1,0",
                          "u16[3,9,203,5] u16[3,5,203,9] 0,3,2,1", "f16[8,8] f16[8,8] 1,0",
                          "u8[12,3,20,300] u8[300,20,3,12] 3,2,1,0"});
}

// Any range of units is computed, and no other: of two outer dimensions, two blocks of columns and three strips.
TEST(LibraryTransposeTest, PartsBeginAnywhere) {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) GTEST_SKIP() << "the tiles need AVX2";
  cpu::transpose::Loops loops{.element_bytes = 4,
                              .vector_bytes = 32,
                              .rows = 24,
                              .columns = 16,
                              .block = 8,
                              .column = 24,
                              .outer_count = 2,
                              .row_dimensions = 2};
  loops.outer[0] = {.count = 2, .operand = 3 * 384, .result = 3 * 384};
  loops.outer[1] = {.count = 3, .operand = 384, .result = 384};
  loops.of_rows[0] = {.count = 2, .operand = 12, .result = 16};
  loops.of_rows[1] = {.count = 12, .operand = 1, .result = 32};
  constexpr int64_t kUnits = 2 * 3 * 2 * 3, kElements = 6 * 384;
  std::vector<int32_t> operand(kElements), whole(kElements);
  std::iota(operand.begin(), operand.end(), 0);
  const volatile int32_t cancelled = 0;
  ASSERT_TRUE(cpu::transpose::Run(loops, operand.data(), whole.data(), 0, kUnits, &cancelled));
  for (const int64_t part : {1, 2, 5, 7}) {
    std::vector<int32_t> result(kElements, -1);
    for (int64_t begin = 0; begin < kUnits; begin += part) {
      const std::vector<int32_t> before = result;
      ASSERT_TRUE(
          cpu::transpose::Run(loops, operand.data(), result.data(), begin, std::min(begin + part, kUnits), &cancelled));
      EXPECT_EQ(kElements - std::count(result.begin(), result.end(), -1),
                kElements - std::count(before.begin(), before.end(), -1) + 64 * std::min(part, kUnits - begin));
    }
    EXPECT_EQ(result, whole) << part;
  }
#else
  GTEST_SKIP() << "the tiles are of x86-64";
#endif
}

TEST(LibraryTransposeTest, StoppedRun_Ends) {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) GTEST_SKIP() << "the tiles need AVX2";
  constexpr int64_t kSize = 16;
  cpu::transpose::Loops loops{.element_bytes = 4,
                              .vector_bytes = 32,
                              .rows = kSize,
                              .columns = kSize,
                              .block = kSize,
                              .column = kSize,
                              .row_dimensions = 1};
  loops.of_rows[0] = {.count = kSize, .operand = 1, .result = kSize};
  std::vector<int32_t> operand(kSize * kSize), result(kSize * kSize, -1);
  std::iota(operand.begin(), operand.end(), 0);
  volatile int32_t cancelled = 1;
  EXPECT_FALSE(cpu::transpose::Run(loops, operand.data(), result.data(), 0, 2, &cancelled));
  EXPECT_EQ(result, std::vector<int32_t>(kSize * kSize, -1));
  cancelled = 0;
  EXPECT_TRUE(cpu::transpose::Run(loops, operand.data(), result.data(), 0, 2, &cancelled));
  EXPECT_EQ(result[1], kSize);
#else
  GTEST_SKIP() << "the tiles are of x86-64";
#endif
}

}  // namespace
}  // namespace hilo
