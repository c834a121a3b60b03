// Scatters of rows that threads share: each part has a range of the operand's rows, and applies the updates of those in
// order.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "backends/cpu/compile/cpu_compiler.h"
#include "gtest/gtest.h"
#include "hilo/client.h"
#include "hlo/text/hlo_parser.h"
#include "tests/fuzz/random_numbers.h"
#include "tests/support/platform_client.h"

namespace hilo {
namespace {

Literal RunOn(Client* client, const std::string& text, absl::Span<const Literal* const> arguments) {
  auto executable = client->CompileHloText(text, {});
  EXPECT_TRUE(executable.ok()) << executable.status();
  if (!executable.ok()) return Literal();
  auto result = (*executable)->ExecuteLiterals(arguments);
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? *std::move(result) : Literal();
}

TEST(ScatterPartsTest, GivesTheInterpretersResults) {
  constexpr char kAdd[] = "f { a=f32[] parameter(0)  b=f32[] parameter(1)  ROOT c=f32[] add(a,b) }";
  constexpr char kLast[] = "f { a=f32[] parameter(0)  ROOT b=f32[] parameter(1) }";
  constexpr char kRows[] =
      "update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, "
      "to_apply=f";
  // Parameters: 0 indices, 1 updates, 2 the operand.
  const std::vector<std::string> kCases = {
      absl::StrCat(kAdd,
                   "\nENTRY main { i=s32[900,1] parameter(0) u=f32[900,70] parameter(1) x=f32[61,70] parameter(2) ",
                   "ROOT y=f32[61,70] scatter(x,i,u), ", kRows, " }"),
      absl::StrCat(kLast,
                   "\nENTRY main { i=s32[900,1] parameter(0) u=f32[900,70] parameter(1) x=f32[61,70] parameter(2) ",
                   "ROOT y=f32[61,70] scatter(x,i,u), ", kRows, " }"),
      absl::StrCat(kAdd,
                   "\nENTRY main { i=s32[900,1] parameter(0) u=f32[900,64] parameter(1) x=f32[61,64] parameter(2) ",
                   "ROOT y=f32[61,64] scatter(x,i,u), indices_are_sorted=true, ", kRows, " }"),
      // The operand is computed in the fusion.
      absl::StrCat(kAdd,
                   "\nENTRY main { i=s32[900,1] parameter(0) u=f32[900,64] parameter(1) x=f32[61,64] parameter(2) ",
                   "z=f32[] constant(3) b=f32[61,64] broadcast(z), dimensions={} s=f32[61,64] scatter(b,i,u), ", kRows,
                   " ROOT y=f32[61,64] multiply(s,x) }"),
      // Two index dimensions, of which the first is the rows'.
      absl::StrCat(kAdd,
                   "\nENTRY main { i=s32[900,2] parameter(0) u=f32[900,64] parameter(1) x=f32[40,3,64] parameter(2) ",
                   "ROOT y=f32[40,3,64] scatter(x,i,u), update_window_dims={1}, inserted_window_dims={0,1}, ",
                   "scatter_dims_to_operand_dims={0,1}, index_vector_dim=1, to_apply=f }"),
      // The rows are a batch.
      absl::StrCat(kAdd, "\nENTRY main { i=s32[40,25,1] parameter(0) u=f32[40,25,64] parameter(1) ",
                   "x=f32[40,7,64] parameter(2) ROOT y=f32[40,7,64] scatter(x,i,u), update_window_dims={2}, ",
                   "inserted_window_dims={1}, scatter_dims_to_operand_dims={1}, input_batching_dims={0}, ",
                   "scatter_indices_batching_dims={0}, index_vector_dim=2, to_apply=f }"),
  };
  const std::unique_ptr<Client> interpreter = ClientOf("interpreter", 1);
  const std::unique_ptr<Client> clients[] = {ClientOf("cpu", 1), ClientOf("cpu", 3)};
  for (const std::string& body : kCases) {
    const std::string text = absl::StrCat("HloModule m\n", body, "\n");
    SCOPED_TRACE(text);
    auto module = ParseHloModule(text);
    ASSERT_TRUE(module.ok()) << module.status();
    fuzz::Random random(5);
    std::vector<Literal> values;
    for (const HloInstruction* parameter : (*module)->entry_computation()->parameter_instructions()) {
      Literal wide = *Literal::Create(Shape(F64, parameter->shape().dimensions()));
      const bool is_index = parameter->parameter_number() == 0;
      // Some indices are outside.
      for (double& value : wide.data<double>()) value = static_cast<double>(random.Below(is_index ? 66 : 9)) - 2;
      if (absl::StrContains(text, "sorted=true") && is_index)
        std::sort(wide.data<double>().begin(), wide.data<double>().end());
      values.push_back(*wide.Convert(parameter->shape().element_type()));
    }
    const Literal* arguments[] = {&values[0], &values[1], &values[2]};
    const auto emitted = cpu::CreateCpuCompiler()->Emit(*std::move(module), {.cpu = "x86-64-v3"}, "hlo");
    ASSERT_TRUE(emitted.ok()) << emitted.status();
    const size_t kernel = emitted->find("kind=scatter");
    ASSERT_NE(kernel, std::string::npos) << *emitted;
    EXPECT_TRUE(absl::StrContains(emitted->substr(kernel, emitted->find('\n', kernel) - kernel), "parallel=true"))
        << *emitted;
    const Literal expected = RunOn(interpreter.get(), text, arguments);
    for (const std::unique_ptr<Client>& client : clients) {
      const absl::Status same = CompareLiterals(expected, RunOn(client.get(), text, arguments), {});
      EXPECT_TRUE(same.ok()) << same;
    }
  }
}

}  // namespace
}  // namespace hilo
