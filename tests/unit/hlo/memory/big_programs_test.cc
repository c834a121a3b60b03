// Copy insertion and assignment of large and deep programs. What is quadratic in their sizes would take minutes, and
// exceed the time that this test has.
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "hilo/host.h"
#include "hlo/memory/copy_insertion.h"
#include "hlo/memory/scheduler.h"
#include "hlo/text/hlo_parser.h"
#include "tests/unit/hlo/memory/memory_testing.h"

namespace hilo {
namespace {

void Assign(const std::string& text) {
  auto module = ParseHloModule(text);
  ASSERT_TRUE(module.ok()) << module.status();
  const absl::Status aliased = testing::TakeToAliased(module->get(), {});
  ASSERT_TRUE(aliased.ok()) << aliased;
  auto assignment = BufferAssignment::Create(**module, {});
  ASSERT_TRUE(assignment.ok()) << assignment.status();
}

TEST(BigPrograms, AChainOfElementWiseOperations) {
  std::string text = "HloModule m\nENTRY main {\n  x0 = f32[100] parameter(0)\n";
  for (int k = 0; k < 100'000; ++k) absl::StrAppend(&text, "  x", k + 1, " = f32[100] negate(x", k, ")\n");
  Assign(text + "  ROOT r = f32[100] negate(x100000)\n}\n");
}

// Assigns a program whose `count` results, of `shape`, are `op` each.
void AssignResults(int count, absl::string_view shape, absl::string_view parameters, absl::string_view op) {
  std::string body, type, results;
  for (int k = 0; k < count; ++k) {
    absl::StrAppend(&body, "  n", k, " = ", shape, " ", op, "\n");
    absl::StrAppend(&type, k == 0 ? "" : ", ", shape);
    absl::StrAppend(&results, k == 0 ? "" : ", ", "n", k);
  }
  Assign(absl::StrCat("HloModule m\nENTRY main {\n", parameters, "\n", body, "  ROOT r = (", type, ") tuple(", results,
                      ")\n}\n"));
}

// Each update could wait for all others that read the array.
TEST(BigPrograms, ManyUpdatesOfOneArray) {
  AssignResults(20'000, "f32[300]", "  x = f32[300] parameter(0)  y = f32[1] parameter(1)  i = s32[] parameter(2)",
                "dynamic-update-slice(x, y, i)");
}

TEST(BigPrograms, EndWithTheirCancellation) {
  auto module = ParseHloModule("HloModule m\nENTRY main { x = f32[4] parameter(0)  ROOT r = f32[4] negate(x) }\n");
  ASSERT_TRUE(module.ok()) << module.status();
  CancellationToken cancelled;
  cancelled.Cancel();
  EXPECT_EQ(ScheduleModule(module->get(), &cancelled).code(), absl::StatusCode::kCancelled);
  ASSERT_TRUE(testing::TakeToAliased(module->get(), {}).ok());
  EXPECT_EQ(InsertCopies(module->get(), 0, &cancelled).code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(BufferAssignment::Create(**module, {.cancellation = &cancelled}).status().code(),
            absl::StatusCode::kCancelled);
}

TEST(BigPrograms, ALoopWithManyCarries) {
  constexpr int kCount = 2000;
  std::string type = "(s32[]", gets, rotated, init, results;
  for (int k = 0; k < kCount; ++k) {
    absl::StrAppend(&type, ", f32[5]");
    absl::StrAppend(&gets, "  a", k, " = f32[5] get-tuple-element(t), index=", k + 1, "\n");
    absl::StrAppend(&rotated, ", a", (k + 1) % kCount);
    absl::StrAppend(&init, ", x");
  }
  absl::StrAppend(&type, ")");
  Assign(absl::StrCat("HloModule m\nmore { s = ", type,
                      " parameter(0)  i = s32[] get-tuple-element(s), index=0  z = s32[] constant(0)  ROOT c = pred[] "
                      "compare(i, z), direction=GT }\n",
                      "body {\n  t = ", type, " parameter(0)\n  j = s32[] get-tuple-element(t), index=0\n", gets,
                      "  one = s32[] constant(1)\n  k = s32[] subtract(j, one)\n  ROOT r = ", type, " tuple(k", rotated,
                      ")\n}\n", "ENTRY main {\n  n = s32[] parameter(0)\n  x = f32[5] parameter(1)\n  first = ", type,
                      " tuple(n", init, ")\n  ROOT w = ", type, " while(first), condition=more, body=body\n}\n"));
}

// As a training step with a parameter a weight: every other result is the parameter of another one's memory.
TEST(BigPrograms, ManyDonatedParameters) {
  constexpr int kCount = 3000;
  std::string aliases, body, results;
  for (int k = 0; k < kCount; ++k) {
    absl::StrAppend(&aliases, k == 0 ? "" : ", ", "{", k, "}: (", k, ", {}, may-alias)");
    absl::StrAppend(&body, "  p", k, " = f32[64] parameter(", k, ")\n  n", k, " = f32[64] negate(p", k, ")\n");
    absl::StrAppend(&results, k == 0 ? "" : ", ", k % 2 == 0 ? "n" : "p", k % 2 == 0 ? k : (k + 2) % kCount);
  }
  std::string type = "(f32[64]";
  for (int k = 1; k < kCount; ++k) type += ", f32[64]";
  Assign(absl::StrCat("HloModule m, input_output_alias={ ", aliases, " }\nENTRY main {\n", body, "  ROOT r = ", type,
                      ") tuple(", results, ")\n}\n"));
}

TEST(BigPrograms, ManyLoopsInARow) {
  std::string text = "HloModule m\n";
  std::string main = "ENTRY main {\n  w0 = (pred[], f32[4]) parameter(0)\n";
  for (int k = 0; k < 1000; ++k) {
    absl::StrAppend(&text, "more", k, " { s", k, " = (pred[], f32[4]) parameter(0)  ROOT p", k,
                    " = pred[] get-tuple-element(s", k, "), index=0 }\n");
    absl::StrAppend(&text, "body", k, " { t", k, " = (pred[], f32[4]) parameter(0)  a", k,
                    " = f32[4] get-tuple-element(t", k, "), index=1  b", k, " = f32[4] negate(a", k, ")  no", k,
                    " = pred[] constant(false)  ROOT r", k, " = (pred[], f32[4]) tuple(no", k, ", b", k, ") }\n");
    absl::StrAppend(&main, "  w", k + 1, " = (pred[], f32[4]) while(w", k, "), condition=more", k, ", body=body", k,
                    "\n");
  }
  Assign(text + main + "  ROOT r = f32[4] get-tuple-element(w1000), index=1\n}\n");
}

// Every result is copied at first, and no copy stays: as many walks over the operands of the root would take minutes.
TEST(BigPrograms, ManyResults) { AssignResults(300'000, "f32[4]", "  x = f32[4] parameter(0)", "negate(x)"); }

// More branches than a set may grow to by choice.
TEST(BigPrograms, AConditionalWithManyBranches) {
  std::string text = "HloModule m\n", names, operands;
  for (int k = 0; k < 700; ++k) {
    absl::StrAppend(&text, "b", k, " { a", k, " = f32[4] parameter(0)  ROOT r", k, " = f32[4] negate(a", k, ") }\n");
    absl::StrAppend(&names, k == 0 ? "" : ", ", "b", k);
    absl::StrAppend(&operands, ", x");
  }
  Assign(absl::StrCat(text,
                      "ENTRY main { i = s32[] parameter(0)  x = f32[4] parameter(1)  ROOT c = f32[4] conditional(i",
                      operands, "), branch_computations={", names, "} }\n"));
}

// Thirty levels that call the next one twice: compiled once each.
TEST(BigPrograms, CallsThatDouble) {
  std::string text = "HloModule m\nf0 { p0 = f32[4] parameter(0)  ROOT r0 = f32[4] negate(p0) }\n";
  for (int k = 1; k <= 30; ++k) {
    absl::StrAppend(&text, "f", k, " { p", k, " = f32[4] parameter(0)  a", k, " = f32[4] call(p", k, "), to_apply=f",
                    k - 1, "  ROOT r", k, " = f32[4] call(a", k, "), to_apply=f", k - 1, " }\n");
  }
  Assign(text + "ENTRY main { x = f32[4] parameter(0)  ROOT r = f32[4] call(x), to_apply=f30 }\n");
}

}  // namespace
}  // namespace hilo
