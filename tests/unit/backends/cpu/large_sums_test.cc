// Dots and reductions that are big enough for library calls, for parts that threads share and for sums in two steps:
// all forms give what the interpreter gives. Arguments are small whole numbers, so every order of adding up is exact.
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "hilo/client.h"
#include "hlo/text/hlo_parser.h"
#include "runtime/runtime_access.h"
#include "tests/support/same_results.h"

namespace hilo {
namespace {

class LargeDotsTest : public ::testing::TestWithParam<const char*> {};

TEST_P(LargeDotsTest, Dots) {
  struct Case {
    const char *lhs, *rhs, *result, *attributes;
  };
  for (const Case& c : {
           Case{"70,90", "90,50", "70,50", "lhs_contracting_dims={1}, rhs_contracting_dims={0}"},
           Case{"90,70", "50,90", "70,50", "lhs_contracting_dims={0}, rhs_contracting_dims={1}"},
           Case{"3,40,30", "3,30,20", "3,40,20",
                "lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}"},
           Case{"40,3,30", "30,3,20", "3,40,20",
                "lhs_batch_dims={1}, rhs_batch_dims={1}, lhs_contracting_dims={2}, rhs_contracting_dims={0}"},
           Case{"4,70,30", "4,30,50", "70,50", "lhs_contracting_dims={2,0}, rhs_contracting_dims={1,0}"},
           Case{"30,70,3,4", "50,4,30,3", "3,70,50",
                "lhs_batch_dims={2}, rhs_batch_dims={3}, lhs_contracting_dims={3,0}, rhs_contracting_dims={1,2}"},
           Case{"7,30,10", "30,50", "7,10,50", "lhs_contracting_dims={1}, rhs_contracting_dims={0}"},
           Case{"45,37", "37", "45", "lhs_contracting_dims={1}, rhs_contracting_dims={0}"},
           Case{"37", "37,1200", "1200", "lhs_contracting_dims={0}, rhs_contracting_dims={0}"},
           Case{"1,37", "37,1203", "1,1203", "lhs_contracting_dims={1}, rhs_contracting_dims={0}"},
           Case{"1050", "1050", "", "lhs_contracting_dims={0}, rhs_contracting_dims={0}"},
           Case{"4,33,17", "4,17", "4,33",
                "lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}"},
           Case{"33,4,17", "4,17", "4,33",
                "lhs_batch_dims={1}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}"},
           Case{"30,20,17", "17,30", "20", "lhs_contracting_dims={0,2}, rhs_contracting_dims={1,0}"},
       }) {
    ExpectSameResults(
        absl::Substitute("HloModule dot\nENTRY main {\n  a = s32[$0] parameter(0)\n  b = s32[$1] parameter(1)\n  x = "
                         "$4[$0] convert(a)\n  y = $4[$1] convert(b)\n"
                         "  ROOT r = $4[$2] dot(x, y), $3\n}\n",
                         c.lhs, c.rhs, c.result, c.attributes, GetParam()));
  }
}

// Few rows times many weights, which are converted and scaled on the way.
TEST(StreamDotTest, WeightsOfAnyType) {
  for (int64_t rows : {2, 7, 16}) {
    for (const char* type : {"f32", "f64", "bf16", "s8", "s4"}) {
      for (int64_t columns : {320, 601}) {
        const bool is_wide = absl::StrContains(type, "f64");
        ExpectSameResults(absl::Substitute(
            "HloModule stream\nENTRY main {\n  a = s32[$0,1000] parameter(0)\n  b = s32[1000,$1] parameter(1)\n  c = "
            "s32[$1] parameter(2)\n  x = $3[$0,1000] convert(a)\n  y = $2[1000,$1] convert(b)\n  w = $3[1000,$1] "
            "convert(y)\n  s = $3[$1] convert(c)\n  t = $3[1000,$1] broadcast(s), dimensions={1}\n  v = $3[1000,$1] "
            "multiply(w, t)\n  ROOT r = $3[$0,$1] dot(x, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n",
            rows, columns, type, is_wide ? "f64" : "f32"));
      }
    }
    // The same with weights whose rows lie along the sums.
    for (const char* type : {"f32", "f64", "bf16", "s8"}) {
      ExpectSameResults(absl::Substitute(
          "HloModule lanes\nENTRY main {\n  a = s32[$0,1008] parameter(0)\n  b = s32[301,1008] parameter(1)\n  c = "
          "s32[301] parameter(2)\n  x = $2[$0,1008] convert(a)\n  y = $1[301,1008] convert(b)\n  w = $2[301,1008] "
          "convert(y)\n  s = $2[301] convert(c)\n  t = $2[301,1008] broadcast(s), dimensions={0}\n  v = $2[301,1008] "
          "multiply(w, t)\n  ROOT r = $2[$0,301] dot(x, v), lhs_contracting_dims={1}, rhs_contracting_dims={1}\n}\n",
          rows, type, absl::StrContains(type, "f64") ? "f64" : "f32"));
    }
    // A batch of them, with another order of dimensions.
    ExpectSameResults(absl::Substitute(
        "HloModule batch\nENTRY main {\n  a = s32[3,$0,128] parameter(0)\n  b = s32[700,3,128] parameter(1)\n  x = "
        "bf16[3,$0,128] convert(a)\n  y = bf16[700,3,128] convert(b)\n  ROOT r = f32[3,$0,700] dot(x, y), "
        "lhs_batch_dims={0}, rhs_batch_dims={1}, lhs_contracting_dims={2}, rhs_contracting_dims={2}\n}\n",
        rows));
    // Batches, of one too.
    for (int64_t batch : {1, 3}) {
      ExpectSameResults(absl::Substitute(
          "HloModule batch\nENTRY main {\n  a = s32[$1,$0,701] parameter(0)\n  b = s32[$1,701,390] parameter(1)\n  x = "
          "bf16[$1,$0,701] convert(a)\n  y = bf16[$1,701,390] convert(b)\n  ROOT r = f32[$1,$0,390] dot(x, y), "
          "lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}\n}\n",
          rows, batch));
      ExpectSameResults(absl::Substitute(
          "HloModule batch\nENTRY main {\n  a = s32[$1,$0,704] parameter(0)\n  b = s32[$1,390,704] parameter(1)\n  x = "
          "f32[$1,$0,704] convert(a)\n  y = f32[$1,390,704] convert(b)\n  ROOT r = f32[$1,$0,390] dot(x, y), "
          "lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={2}\n}\n",
          rows, batch));
    }
    // Several contracted and free dimensions; a last block that is shorter.
    ExpectSameResults(absl::Substitute(
        "HloModule stream\nENTRY main {\n  a = s32[$0,3,337] parameter(0)\n  b = s32[3,337,20,16] parameter(1)\n  x = "
        "bf16[$0,3,337] convert(a)\n  y = bf16[3,337,20,16] convert(b)\n  ROOT r = f32[$0,20,16] dot(x, y), "
        "lhs_contracting_dims={1,2}, rhs_contracting_dims={0,1}\n}\n",
        rows));
  }
}

TEST(LargeReductionTest, ToOneAndToRows) {
  struct Case {
    const char *operand, *result, *dimensions, *op;
  };
  for (const Case& c :
       {Case{"600,500", "", "0,1", "add"}, Case{"300000", "", "0", "add"}, Case{"2,262144", "", "0,1", "maximum"},
        Case{"1,524288,1", "", "0,1,2", "minimum"}, Case{"262147", "", "0", "add"}, Case{"5,1500", "1500", "0", "add"},
        Case{"5,3,1024", "3,1024", "0", "maximum"}, Case{"2,7,1100", "2,1100", "1", "add"},
        Case{"5000,9", "9", "0", "add"}, Case{"7,29,31,40", "40", "0,1,2", "add"}, Case{"700,3,2", "3,2", "0", "add"},
        Case{"9,5,128,6", "5,6", "0,2", "add"}, Case{"3,70000,2", "3,2", "1", "add"}}) {
    for (const char* type : {"f32", "s64"})
      ExpectSameResults(
          absl::Substitute("HloModule reduce\nstep { p = $3[] parameter(0)  q = $3[] parameter(1)  ROOT r = $3[] $4(p, "
                           "q) }\nENTRY main {\n  a = s32[$0] parameter(0)\n"
                           "  x = $3[$0] convert(a)\n  seven = $3[] constant(7)\n  ROOT r = $3[$1] reduce(x, seven), "
                           "dimensions={$2}, to_apply=step\n}\n",
                           c.operand, c.result, c.dimensions, type, c.op));
  }
}

// Adding up one by one is off by 2e-4 of the sum.
TEST(LargeReductionTest, LongSumsAreAccurate) {
  absl::StatusOr<std::unique_ptr<Client>> client = Client::Create({.platform = "cpu"});
  ASSERT_TRUE(client.ok()) << client.status();
  for (const char* shape : {"100000,17", "50,20,100,17", "100000,1", "17,100000"}) {
    const bool is_row = absl::StartsWith(shape, "17");
    absl::StatusOr<std::unique_ptr<HloModule>> module = ParseHloModule(absl::Substitute(
        "HloModule sums\nstep { p = f32[] parameter(0)  q = f32[] parameter(1)  ROOT r = f32[] add(p, q) }\nENTRY main "
        "{\n  a = f32[$0] parameter(0)\n"
        "  zero = f32[] constant(0)\n  ROOT r = f32[$1] reduce(a, zero), dimensions={$2}, to_apply=step\n}\n",
        shape, absl::EndsWith(shape, ",1") ? "1" : "17",
        is_row                          ? "1"
        : absl::StartsWith(shape, "50") ? "0,1,2"
                                        : "0"));
    ASSERT_TRUE(module.ok()) << module.status();
    Literal argument = *Literal::Create((*module)->entry_computation()->parameter_instruction(0)->shape());
    for (float& value : argument.data<float>()) value = 0.1f;
    auto executable = RuntimeAccess::Compile(client->get(), *std::move(module));
    ASSERT_TRUE(executable.ok()) << executable.status();
    absl::StatusOr<Literal> sums = (*executable)->ExecuteLiterals({&argument});
    ASSERT_TRUE(sums.ok()) << sums.status();
    for (float sum : sums->data<float>()) EXPECT_NEAR(sum, 100000 * static_cast<double>(0.1f), 0.01) << shape;
  }
}

INSTANTIATE_TEST_SUITE_P(Types, LargeDotsTest, ::testing::Values("f32", "f64", "s32", "u32", "s64"),
                         [](const auto& info) { return std::string(info.param); });

TEST(RaggedDotTest, RowsInGroups) {
  struct Case {
    const char *lhs, *rhs, *attributes;
  };
  for (const Case& c :
       {Case{"300,20", "5,20,33",
             "lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}"},
        Case{"20,300", "33,5,20",
             "lhs_contracting_dims={0}, rhs_contracting_dims={2}, lhs_ragged_dims={1}, rhs_group_dims={1}"}}) {
    // Groups that end before the last row, behind it, and one of a negative size.
    for (const char* sizes : {"7,0,150,1,100", "2,3,4,5,6", "100,100,0,50,1000", "200,-100,90,0,3"}) {
      for (const char* type : {"f32", "f64", "s32", "bf16"}) {
        ExpectSameResults(
            absl::Substitute("HloModule ragged\nENTRY main {\n  a = s32[$0] parameter(0)\n  b = s32[$1] parameter(1)\n "
                             " x = $2[$0] convert(a)\n  y = $2[$1] convert(b)\n"
                             "  g = s64[5] constant({$3})\n  ROOT r = $2[300,33] ragged-dot(x, y, g), $4\n}\n",
                             c.lhs, c.rhs, type, sizes, c.attributes));
      }
    }
  }
}

// Sums that round once, at the end.
TEST(LargeDotTest, NarrowFloatsAreSummedInF32) {
  for (const char* type : {"bf16", "f16", "f8e4m3fn"}) {
    for (const char* result : {"bf16", "f16", "f32"}) {
      for (absl::string_view columns : {"50", "1"}) {
        ExpectSameResults(
            absl::Substitute("HloModule dot\nENTRY main {\n  a = s32[70,90] parameter(0)\n  b = s32[90,$2] "
                             "parameter(1)\n  x = $0[70,90] convert(a)\n  y = $0[90,$2] convert(b)\n"
                             "  ROOT r = $1[70,$2] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n",
                             type, result, columns));
      }
    }
  }
}

// All bits of the widest sums, over more terms than f32 adds up at once, and results that wrap around.
TEST(LargeDotTest, NarrowIntegersAreExact) {
  for (const char* lhs : {"s8", "u8", "s4"}) {
    for (const char* rhs : {"s8", "u8"}) {
      for (const char* result : {"s32", "s8", "u16", "s64"}) {
        for (const char* terms : {"90", "3000"}) {
          ExpectSameResults(absl::Substitute(
              "HloModule dot\nENTRY main {\n  a = s32[33,$3] parameter(0)\n  b = s32[$3,40] parameter(1)\n  k = s32[] "
              "constant(255)\n"
              "  ka = s32[33,$3] broadcast(k), dimensions={}\n  kb = s32[$3,40] broadcast(k), dimensions={}\n  ma = "
              "s32[33,$3] multiply(a, ka)\n"
              "  mb = s32[$3,40] multiply(b, kb)\n  x = $0[33,$3] convert(ma)\n  y = $1[$3,40] convert(mb)\n"
              "  ROOT r = $2[33,40] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n",
              lhs, rhs, result, terms));
        }
      }
    }
  }
}

}  // namespace
}  // namespace hilo
