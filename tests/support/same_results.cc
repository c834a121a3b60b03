#include "tests/support/same_results.h"

#include <gtest/gtest.h>

#include "hilo/client.h"
#include "hlo/text/hlo_parser.h"
#include "runtime/runtime_access.h"

namespace hilo {
namespace {

Literal SmallNumbers(const Shape& shape, uint32_t seed) {
  absl::StatusOr<Literal> literal = Literal::Create(ShapeUtil::MakeShape(S32, shape.dimensions()));
  EXPECT_TRUE(literal.ok()) << literal.status();
  for (int32_t& value : literal->data<int32_t>()) {
    seed = seed * 1664525 + 1013904223;
    value = static_cast<int32_t>(seed >> 29) - 3;
  }
  return *std::move(literal);
}

}  // namespace

void ExpectSameResults(const std::string& text) {
  absl::StatusOr<Literal> results[2];
  const char* platforms[] = {"interpreter", "cpu"};
  for (int i = 0; i < 2; ++i) {
    absl::StatusOr<std::unique_ptr<Client>> client = Client::Create({.platform = platforms[i], .num_threads = 3});
    ASSERT_TRUE(client.ok()) << client.status();
    absl::StatusOr<std::unique_ptr<HloModule>> module = ParseHloModule(text);
    ASSERT_TRUE(module.ok()) << module.status() << text;
    std::vector<Literal> arguments;
    for (int64_t p = 0; p < (*module)->entry_computation()->num_parameters(); ++p) {
      arguments.push_back(
          SmallNumbers((*module)->entry_computation()->parameter_instruction(p)->shape(), static_cast<uint32_t>(p)));
    }
    std::vector<const Literal*> pointers;
    for (const Literal& argument : arguments) pointers.push_back(&argument);
    auto executable = RuntimeAccess::Compile(client->get(), *std::move(module));
    ASSERT_TRUE(executable.ok()) << executable.status() << text;
    results[i] = (*executable)->ExecuteLiterals(pointers);
    ASSERT_TRUE(results[i].ok()) << results[i].status() << text;
  }
  EXPECT_TRUE(*results[0] == *results[1]) << text;
}

}  // namespace hilo
