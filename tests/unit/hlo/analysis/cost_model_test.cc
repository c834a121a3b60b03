#include "hlo/analysis/cost_model.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "hlo/text/hlo_parser.h"

namespace hilo {
namespace {

// The work of the root of `text`'s entry.
Work RootWork(const char* text) {
  auto module = ParseHloModule(text, {});
  EXPECT_TRUE(module.ok()) << module.status();
  return WorkOf(*(*module)->entry_computation()->root_instruction());
}

TEST(CostModelTest, DynamicSlice_TouchesItsSlice) {
  const Work work = RootWork(R"(HloModule m
ENTRY main { x = f32[1000000] parameter(0)  i = s32[] parameter(1)  ROOT s = f32[8] dynamic-slice(x, i), dynamic_slice_sizes={8} })");
  EXPECT_EQ(work.bytes_read, 8 * 4 + 4);
  EXPECT_EQ(work.bytes_written, 8 * 4);
}

TEST(CostModelTest, DynamicUpdateSlice_WritesItsUpdate) {
  const Work work = RootWork(R"(HloModule m
ENTRY main { x = f32[1000000] parameter(0)  u = f32[8] parameter(1)  i = s32[] parameter(2)  ROOT s = f32[1000000] dynamic-update-slice(x, u, i) })");
  EXPECT_EQ(work.bytes_read, 8 * 4 + 4);
  EXPECT_EQ(work.bytes_written, 8 * 4);
}

TEST(CostModelTest, NarrowIntegers_TakeLessTime) {
  const auto operations = [](const char* type) {
    return RootWork(absl::StrCat("HloModule m\nENTRY main { x = ", type, "[1000] parameter(0)  ROOT s = ", type,
                                 "[1000] add(x, x) }")
                        .c_str())
        .operations;
  };
  EXPECT_EQ(operations("u8"), 250);
  EXPECT_EQ(operations("s16"), 500);
  EXPECT_EQ(operations("s32"), 1000);
  EXPECT_EQ(operations("u64"), 2000);
}

TEST(CostModelTest, DivisionsByConstants_TakeLessTime) {
  const auto operations = [](const char* op, const char* type, const char* divisor) {
    return RootWork(absl::StrCat("HloModule m\nENTRY main { x = ", type, "[1000] parameter(0)  d = ", type, "[] ",
                                 divisor, "  b = ", type, "[1000] broadcast(d)  ROOT r = ", type, "[1000] ", op,
                                 "(x, b) }")
                        .c_str())
        .operations;
  };
  EXPECT_EQ(operations("divide", "u8", "constant(3)"), 3000);
  EXPECT_EQ(operations("remainder", "s32", "constant(97)"), 8000);
  EXPECT_EQ(operations("remainder", "u64", "constant(97)"), 24000);
  EXPECT_EQ(operations("remainder", "u64", "parameter(1)"), 64000);
}

TEST(CostModelTest, Slice_ShufflesStridedElements) {
  const Work adjacent = RootWork(R"(HloModule m
ENTRY main { x = f32[100,8] parameter(0)  ROOT s = f32[50,4] slice(x), slice={[0:100:2], [0:4]} })");
  const Work strided = RootWork(R"(HloModule m
ENTRY main { x = f32[100,8] parameter(0)  ROOT s = f32[100,4] slice(x), slice={[0:100], [0:8:2]} })");
  EXPECT_EQ(adjacent.operations, 200);
  EXPECT_EQ(strided.operations, 800);
}

// A routine's time grows between the square and the cube of the rows; that of another function is not known.
TEST(CostModelTest, CallsOfLapack_TakeLongerThanTheirArrays) {
  const auto work = [](const char* target, const char* type, int rows) {
    const std::string matrix = absl::StrCat(type, "[3,", rows, ",", rows, "]");
    return RootWork(absl::StrCat("HloModule m\nENTRY main { x = ", matrix, " parameter(0)  ROOT r = (", matrix,
                                 ", s32[3]) custom-call(x), custom_call_target=\"", target,
                                 "\", api_version=API_VERSION_TYPED_FFI }")
                        .c_str());
  };
  const Work small = work("lapack_spotrf_ffi", "f32", 100), large = work("lapack_spotrf_ffi", "f32", 200);
  EXPECT_NEAR(small.product_flops, 1e6, 1);
  EXPECT_NEAR(large.product_flops, 8e6, 1);
  EXPECT_EQ(small.operations, 80 * 3e4 + 3e4 + 3);
  EXPECT_GT(work("lapack_dpotrf_ffi", "f64", 100).operations, 1.9 * small.operations);
  EXPECT_GT(work("lapack_ssyevd_ffi", "f32", 100).operations, 20 * small.operations);
  EXPECT_GT(work("lapack_cheevd_ffi", "c64", 100).operations, work("lapack_ssyevd_ffi", "f32", 100).operations);
  EXPECT_EQ(work("lapack_of_others", "f32", 100).operations, 3e4 + 3);
}

TEST(CostModelTest, Concatenate_CopiesItsElements) {
  const Work work = RootWork(R"(HloModule m
ENTRY main { x = f32[100] parameter(0)  ROOT s = f32[200] concatenate(x, x), dimensions={0} })");
  EXPECT_EQ(work.operations, 200);
}

TEST(CostModelTest, Fusion_ComputesWhatItsRootReads) {
  const Work work = RootWork(R"(HloModule m
f {
  x = f32[1000000] parameter(0)  i = s32[] parameter(1)
  e = f32[1000000] exponential(x)
  ROOT s = f32[8] dynamic-slice(e, i), dynamic_slice_sizes={8}
}
ENTRY main { x = f32[1000000] parameter(0)  i = s32[] parameter(1)  ROOT r = f32[8] fusion(x, i), kind=kLoop, calls=f })");
  EXPECT_EQ(work.transcendentals, 8);
  EXPECT_EQ(work.bytes_read, 8 * 4 + 4);
}

TEST(CostModelTest, Fusion_ReadsWholeArraysOnce) {
  const Work work = RootWork(R"(HloModule m
f {
  x = f32[100] parameter(0)
  b = f32[50,100] broadcast(x), dimensions={1}
  c = f32[50,100] add(b, b)
  ROOT m = f32[50,100] multiply(c, b)
}
ENTRY main { x = f32[100] parameter(0)  ROOT r = f32[50,100] fusion(x), kind=kLoop, calls=f })");
  EXPECT_EQ(work.flops, 2 * 5000);
  EXPECT_EQ(work.bytes_read, 400);
  EXPECT_EQ(work.bytes_written, 20000);
}

TEST(CostModelTest, Instructions_AreThoseOfScalarCode) {
  const auto sum = [](const char* type) {
    return RootWork(absl::StrCat("HloModule m\nENTRY main { x = ", type, "[10] parameter(0)  ROOT y = ", type,
                                 "[10] add(x, x) }")
                        .c_str())
        .instructions;
  };
  EXPECT_EQ(sum("f32"), 10);
  EXPECT_EQ(sum("f64"), 10);
  EXPECT_EQ(sum("bf16"), 10);
  EXPECT_EQ(sum("f8e4m3fn"), 10 * 3);
  EXPECT_EQ(sum("c64"), 10 * 3);
  const Work product = RootWork(R"(HloModule m
ENTRY main { x = f32[4,5] parameter(0)  y = f32[5,6] parameter(1)  ROOT d = f32[4,6] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0} })");
  EXPECT_EQ(product.instructions, 4 * 5 * 6 * 3);
}

TEST(CostModelTest, Reduction_CallsItsComputationForEachElement) {
  const Work work = RootWork(R"(HloModule m
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY main { x = f32[30,40] parameter(0)  z = f32[] constant(0)  ROOT r = f32[30] reduce(x, z), dimensions={1}, to_apply=add })");
  EXPECT_EQ(work.flops, 1200);
  EXPECT_EQ(work.bytes_read, 4800);
  EXPECT_EQ(work.bytes_written, 120);
}

TEST(CostModelTest, WideElementsTakeLonger) {
  const auto time = [](const char* type) {
    const std::string text = absl::StrCat("HloModule m\nENTRY main { x = ", type,
                                          "[1000] parameter(0)  ROOT r = ", type, "[1000] exponential(x) }");
    return RootWork(text.c_str()).operations;
  };
  EXPECT_GT(time("f64"), 2 * time("f32"));
  EXPECT_GT(time("bf16"), time("f32"));
  EXPECT_GT(time("c64"), time("f64"));
  EXPECT_GT(time("c128"), time("c64"));
}

constexpr MachineFacts kMachine = {
    .operations_per_ns = 8,
    .product_flops_per_ns = 50,
    .memory = {
        {{.bytes = 100, .bytes_per_ns = 50}, {.bytes = 600, .bytes_per_ns = 30}, {.bytes = 0, .bytes_per_ns = 10}}}};

TEST(CostModelTest, Nanoseconds_HalfOfTheShorterIsHidden) {
  const Work work = {.operations = 80, .product_flops = 500, .bytes_read = 200, .bytes_written = 200};
  EXPECT_EQ(Nanoseconds(work, kMachine), (10 + 10) + (2 + 10) / 2);
}

TEST(CostModelTest, MemoryNanoseconds_GrowWithTheDistance) {
  EXPECT_EQ(kMachine.MemoryNanoseconds(50), 1);
  EXPECT_EQ(kMachine.MemoryNanoseconds(100), 2);
  EXPECT_EQ(kMachine.MemoryNanoseconds(700), 2 + 20);
  EXPECT_EQ(kMachine.MemoryNanoseconds(1000), 2 + 20 + 30);
}

TEST(CostModelTest, Transpose_OfWholeRowsIsACopy) {
  const double rows = RootWork(
                          "HloModule m\nENTRY main { x = f32[8,9,10] parameter(0)  ROOT t = f32[9,8,10] "
                          "transpose(x), dimensions={1,0,2} }")
                          .operations;
  const double across = RootWork(
                            "HloModule m\nENTRY main { x = f32[8,9,10] parameter(0)  ROOT t = f32[8,10,9] "
                            "transpose(x), dimensions={0,2,1} }")
                            .operations;
  EXPECT_EQ(rows, 720);
  EXPECT_EQ(across, 5 * 720);
}

TEST(CostModelTest, DivisionByConstant_IsCheap) {
  auto module = ParseHloModule(R"(HloModule m
ENTRY main {
  x = f32[1000] parameter(0)  y = f32[1000] parameter(1)  three = f32[] constant(3)
  t = f32[1000] broadcast(three), dimensions={}
  a = f32[1000] divide(x, t)
  ROOT b = f32[1000] divide(a, y)
})",
                               {});
  ASSERT_TRUE(module.ok()) << module.status();
  const HloInstruction* root = (*module)->entry_computation()->root_instruction();
  EXPECT_TRUE(IsExpensiveToRepeat(*root));
  EXPECT_FALSE(IsExpensiveToRepeat(*root->operand(0)));
  EXPECT_TRUE(IsFreeToRepeat(*root->operand(0)->operand(1)));
}

TEST(CostModelTest, MachineExponentials_AreOfRealNumbers) {
  const auto instructions = [](const char* type) {
    return RootWork(absl::StrCat("HloModule m\nENTRY main { x = ", type, "[1000] parameter(0)  ROOT e = ", type,
                                 "[1000] exponential(x) }")
                        .c_str())
        .instructions;
  };
  EXPECT_EQ(instructions("f32"), 12000);
  EXPECT_EQ(instructions("f64"), 25000);
  EXPECT_EQ(instructions("c64"), 75000);
}

}  // namespace
}  // namespace hilo
