// Programs made to hurt: very deep, very long, very large, or without an end. Each must be handled
// in time linear in its size, or be refused with a status; what is refused must not have been
// touched.
#include <array>
#include <chrono>
#include <cstring>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "backends/cpu/compile/cpu_compiler.h"
#include "base/aligned_buffer.h"
#include "gtest/gtest.h"
#include "hlo/text/hlo_parser.h"
#include "hlo/text/hlo_printer.h"

namespace hilo {
namespace {

// Of processor time, which does not depend on what else the machine does.
double SecondsSince(std::clock_t begin) { return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC; }

std::string Repeat(const std::string& text, int64_t times) {
  std::string all;
  all.reserve(text.size() * times);
  for (int64_t i = 0; i < times; ++i) all += text;
  return all;
}

absl::StatusOr<std::unique_ptr<CompiledProgram>> Compile(const std::string& text) {
  auto module = ParseHloModule(text);
  if (!module.ok()) return module.status();
  return cpu::CreateCpuCompiler()->Compile(*std::move(module), {}, nullptr);
}

// Runs a program whose parameters and results are arrays of at most 64 bytes; `in` fills each
// parameter, and the first bytes of the first result come back.
template <typename T>
absl::StatusOr<T> RunScalars(const CompiledProgram& program, T in, CancellationToken* token = nullptr) {
  struct alignas(64) Slot {
    char bytes[64];
  };
  const ProgramShape& shape = program.program_shape();
  std::vector<Slot> inputs(shape.parameters.size()), outputs(ShapeUtil::Leaves(shape.result).size());
  std::vector<const void*> parameters;
  std::vector<void*> results;
  for (Slot& slot : inputs) {
    std::memcpy(slot.bytes, &in, sizeof in);
    parameters.push_back(&slot);
  }
  for (Slot& slot : outputs) results.push_back(&slot);
  const absl::Status status = program.Run({.cancellation = token}, parameters, results);
  if (!status.ok()) return status;
  T out;
  std::memcpy(&out, results[0], sizeof out);
  return out;
}

// OK, or refused in a way that is allowed; never Internal.
void ExpectHandled(const absl::Status& status) {
  EXPECT_TRUE(status.ok() || absl::IsInvalidArgument(status) || absl::IsResourceExhausted(status) ||
              absl::IsUnimplemented(status))
      << status;
}

TEST(Adversarial, DeeplyNestedTupleShape) {
  const int64_t depth = 20'000;
  const std::string shape = Repeat("(", depth) + "f32[]" + Repeat(")", depth);
  const auto module = ParseHloModule("HloModule m\nENTRY main { ROOT x = " + shape + " parameter(0) }");
  EXPECT_TRUE(absl::IsInvalidArgument(module.status())) << module.status();
}

TEST(Adversarial, MillionParentheses) {
  const auto begin = std::clock();
  for (const char* bracket : {"(", "{", "["}) {
    for (const std::string before :
         {"", "HloModule m, a=", "HloModule m\nENTRY main { ROOT x = ",
          "HloModule m\nENTRY main { ROOT x = f32[] constant(", "HloModule m\nENTRY main { ROOT x = f32[] add(",
          "HloModule m\nENTRY main { ROOT x = f32[] parameter(0), metadata="}) {
      const auto module = ParseHloModule(before + Repeat(bracket, 1'000'000));
      EXPECT_FALSE(module.ok());
      EXPECT_LT(module.status().message().size(), 2000u);
    }
  }
  EXPECT_LT(SecondsSince(begin), 18);
}

TEST(Adversarial, DeeplyNestedTupleOperands) {
  std::string text = "HloModule m\nENTRY main {\n  t0 = f32[] parameter(0)\n";
  std::string shape = "f32[]";
  for (int i = 1; i <= 200; ++i) {
    shape = "(" + shape + ")";
    absl::StrAppend(&text, "  t", i, " = ", shape, " tuple(t", i - 1, ")\n");
  }
  ExpectHandled(Compile(text + "}").status());
}

TEST(Adversarial, ChainOfAdditions) {
  const int64_t length = 100'000;
  std::string text = "HloModule m\nENTRY main {\n  x0 = f32[] parameter(0)\n  one = f32[] parameter(1)\n";
  for (int64_t i = 1; i <= length; ++i) absl::StrAppend(&text, "  x", i, " = f32[] add(x", i - 1, ", one)\n");
  const auto begin = std::clock();
  auto program = Compile(text + "}");
  ExpectHandled(program.status());
  if (program.ok()) {
    auto sum = RunScalars<float>(**program, 1);
    ASSERT_TRUE(sum.ok()) << sum.status();
    EXPECT_EQ(*sum, length + 1);
  }
  EXPECT_LT(SecondsSince(begin), 20);
}

// Without sharing, the last of these is 2^50 additions.
TEST(Adversarial, Diamonds) {
  for (const char* shape : {"f64[]", "f64[8]"}) {
    std::string text = absl::StrCat("HloModule m\nENTRY main {\n  x0 = ", shape, " parameter(0)\n");
    for (int i = 1; i <= 50; ++i) absl::StrAppend(&text, "  x", i, " = ", shape, " add(x", i - 1, ", x", i - 1, ")\n");
    auto program = Compile(text + "}");
    ASSERT_TRUE(program.ok()) << program.status();
    auto result = RunScalars<std::array<double, 8>>(**program, {1});
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ((*result)[0], 0x1p50);
  }
}

// Each function calls the one before it twice: inlined, the last is 2^30 calls.
TEST(Adversarial, DoublingCalls) {
  std::string text = "HloModule m\nf0 { x = s32[] parameter(0)  ROOT y = s32[] add(x, x) }\n";
  for (int i = 1; i <= 30; ++i) {
    absl::StrAppend(&text, "f", i, " { x = s32[] parameter(0)  a = s32[] call(x), to_apply=f", i - 1,
                    "  ROOT b = s32[] call(a), to_apply=f", i - 1, " }\n");
  }
  const auto begin = std::clock();
  ExpectHandled(Compile(text + "ENTRY main { x = s32[] parameter(0)  ROOT y = s32[] call(x), to_apply=f30 }").status());
  EXPECT_LT(SecondsSince(begin), 12);
}

TEST(Adversarial, NestedCalls) {
  const int64_t depth = 20'000 - 2;
  std::string text = "HloModule m\nf0 { x = s32[] parameter(0)  ROOT y = s32[] negate(x) }\n";
  for (int64_t i = 1; i <= depth; ++i) {
    absl::StrAppend(&text, "f", i, " { x = s32[] parameter(0)  ROOT y = s32[] call(x), to_apply=f", i - 1, " }\n");
  }
  const auto begin = std::clock();
  auto program = Compile(
      absl::StrCat(text, "ENTRY main { x = s32[] parameter(0)  ROOT y = s32[] call(x), to_apply=f", depth, " }"));
  ExpectHandled(program.status());
  if (program.ok()) {
    auto result = RunScalars<int32_t>(**program, 5);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(*result, -5);
  }
  EXPECT_LT(SecondsSince(begin), 20);
}

TEST(Adversarial, LoopOverManyScalars) {
  const int count = 512;
  std::string shape = "(s32[]", gtes, next = "n0", init = "zero";
  for (int i = 1; i < count; ++i) {
    absl::StrAppend(&shape, ", f32[]");
    absl::StrAppend(&init, ", x");
  }
  shape += ")";
  for (int i = 1; i < count; ++i) {
    absl::StrAppend(&gtes, "  g", i, " = f32[] get-tuple-element(p), index=", i, "\n");
    absl::StrAppend(&next, ", g", i == count - 1 ? 1 : i + 1);  // each value moves one place down
  }
  const std::string text = absl::StrCat(
      "HloModule m\nbody {\n  p = ", shape,
      " parameter(0)\n  g0 = s32[] get-tuple-element(p), index=0\n  one = s32[] constant(1)\n",
      "  n0 = s32[] add(g0, one)\n", gtes, "  ROOT t = ", shape, " tuple(", next, ")\n}\ncondition {\n  p = ", shape,
      " parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n  n = s32[] constant(1000)\n  "
      "ROOT c = pred[] compare(i, n), direction=LT\n}\n",
      "ENTRY main {\n  x = f32[] parameter(0)\n  zero = s32[] constant(0)\n  t = ", shape, " tuple(", init,
      ")\n  w = ", shape,
      " while(t), condition=condition, body=body\n  ROOT r = f32[] get-tuple-element(w), "
      "index=7\n}\n");
  const auto begin = std::clock();
  auto program = Compile(text);
  ASSERT_TRUE(program.ok()) << program.status();
  auto result = RunScalars<float>(**program, 3.5f);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(*result, 3.5f);
  EXPECT_LT(SecondsSince(begin), 20);
}

// Each term is a value in the frame: functions of hundreds of loads and stores in one block.
TEST(Adversarial, TreeOfAdditions) {
  const int count = 1 << 14;
  std::string text = absl::StrCat("HloModule m\nENTRY main {\n  p = f32[", count, "] parameter(0)\n");
  for (int i = 0; i < count; ++i) {
    absl::StrAppend(&text, "  s", i, " = f32[1] slice(p), slice={[", i, ":", i + 1, "]}\n");
    absl::StrAppend(&text, "  x", i, " = f32[] reshape(s", i, ")\n");
  }
  for (int i = 0; i + 1 < count; ++i) {
    absl::StrAppend(&text, "  x", count + i, " = f32[] add(x", 2 * i, ", x", 2 * i + 1, ")\n");
  }
  const auto begin = std::clock();
  auto program = Compile(text + "}");
  EXPECT_TRUE(program.ok()) << program.status();
  EXPECT_LT(SecondsSince(begin), 12);
}

// A billion elements that need no memory: an iota is computed where it is read.
TEST(Adversarial, HugeReduction) {
  auto program = Compile(
      "HloModule m\nsum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) "
      "}\n"
      "ENTRY main { x = f32[] parameter(0)  big = f32[1000000000] broadcast(x), dimensions={}\n"
      "  zero = f32[] constant(0)  ROOT r = f32[] reduce(big, zero), dimensions={0}, to_apply=sum "
      "}");
  ExpectHandled(program.status());
  if (!program.ok()) return;
  CancellationToken token;
  std::clock_t cancelled = 0;
  std::thread stop([&] {
    std::this_thread::sleep_for(std::chrono::seconds(5));
    cancelled = std::clock();
    token.Cancel();
  });
  const auto sum = RunScalars<float>(**program, 1, &token);
  EXPECT_TRUE(sum.ok() || absl::IsCancelled(sum.status()) || absl::IsResourceExhausted(sum.status())) << sum.status();
  const std::clock_t end = std::clock();
  stop.join();
  EXPECT_LT(end - cancelled, CLOCKS_PER_SEC);
}

TEST(Adversarial, FourTebibyteArrays) {
  const auto begin = std::clock();
  auto program = Compile(
      "HloModule m\nENTRY main { x = f32[] parameter(0)  y = f32[1099511627776] broadcast(x), "
      "dimensions={}\n"
      "  z = f32[1099511627776] sort(y), dimensions={0}, to_apply=less\n  s = f32[1] slice(z), "
      "slice={[5:6]}\n"
      "  ROOT r = f32[] reshape(s) }\n"
      "less { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = pred[] compare(a, b), "
      "direction=LT }");
  absl::Status status = program.status();
  if (program.ok()) status = RunScalars<float>(**program, 1).status();
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_LT(SecondsSince(begin), 5);
}

// Sizes at which 32 and 64 bits end, alone and multiplied.
TEST(Adversarial, SizesAtTheEndOfIntegers) {
  const std::vector<std::string> sizes = {"2147483648", "4294967296", "4611686018427387904", "9223372036854775807"};
  for (const std::string& a : sizes) {
    for (const std::string& b : {std::string("0"), std::string("1"), std::string("2"), sizes[0], sizes[2], sizes[3]}) {
      for (const char* op : {"broadcast(x), dimensions={}", "iota(), iota_dimension=0", "parameter(1)"}) {
        const std::string shape = absl::StrCat("f32[", a, ",", b, "]");
        const auto program = Compile(absl::StrCat("HloModule m\nENTRY main { x = f32[] parameter(0)  y = ", shape, " ",
                                                  op, "\n  ROOT z = ", shape, " negate(y) }"));
        ExpectHandled(program.status());
      }
    }
  }
}

TEST(Adversarial, SizesThatOverflowInInference) {
  for (const char* text : {"x = f32[1073741824] parameter(0)  y = f32[1] parameter(1)  z = f32[] parameter(2)  ROOT p "
                           "= f32[1] pad(x, z), padding=9223372036854775807_9223372036854775807",
                           "x = f32[4] parameter(0)  z = f32[] parameter(1)  ROOT p = f32[4] pad(x, z), "
                           "padding=0_0_9223372036854775807",
                           "x = f32[4] parameter(0)  z = f32[] parameter(1)  ROOT p = f32[4] pad(x, z), "
                           "padding=-9223372036854775808_-9223372036854775808",
                           "x = s8[4611686018427387904] parameter(0)  ROOT c = s8[1] concatenate(x, x), "
                           "dimensions={0}",
                           "x = f32[4] parameter(0)  ROOT s = f32[1] slice(x), slice={[0:4:9223372036854775807]}",
                           "x = f32[4] parameter(0)  ROOT s = f32[1] slice(x), "
                           "slice={[-9223372036854775808:9223372036854775807]}"}) {
    const auto program = Compile(absl::StrCat("HloModule m\nENTRY main { ", text, " }"));
    ExpectHandled(program.status());
  }
}

TEST(Adversarial, EndlessLoopIsCancelled) {
  for (const char* body : {"ROOT n = s32[] add(p, one)", "m = s32[] multiply(p, one)  ROOT n = s32[] xor(m, one)"}) {
    auto program = Compile(absl::StrCat("HloModule m\nbody { p = s32[] parameter(0)  one = s32[] constant(1)  ", body,
                                        " }\ncondition { p = s32[] parameter(0)  ROOT c = pred[] constant(true) }\n"
                                        "ENTRY main { x = s32[] parameter(0)  ROOT w = s32[] while(x), "
                                        "condition=condition, body=body }"));
    ASSERT_TRUE(program.ok()) << program.status();
    CancellationToken token;
    std::clock_t cancelled = 0;
    std::thread stop([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      cancelled = std::clock();
      token.Cancel();
    });
    const auto result = RunScalars<int32_t>(**program, 0, &token);
    stop.join();
    EXPECT_TRUE(absl::IsCancelled(result.status())) << result.status();
    EXPECT_LT(SecondsSince(cancelled), 0.1);
  }
}

}  // namespace
}  // namespace hilo
