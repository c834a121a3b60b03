// A row of a table of inference tests: an op in text, and the shape or the error that inference
// must give.
#ifndef HILO_TESTS_UNIT_HLO_OPS_INFERENCE_CASE_H_
#define HILO_TESTS_UNIT_HLO_OPS_INFERENCE_CASE_H_

#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "hlo/ops/semantics.h"

namespace hilo {

struct InferenceCase {
  std::string name;  // the label of the constraint under test, or what is special
  std::vector<std::string> operands;
  AttributeText attributes;
  std::vector<std::pair<std::vector<std::string>, std::string>> called;  // parameters, result
  std::string expected;  // the shape as text, or part of the error behind "error: "
  std::string stated;    // may be empty
};
inline void PrintTo(const InferenceCase& c, std::ostream* out) { *out << c.name; }

inline std::string CaseName(const testing::TestParamInfo<InferenceCase>& info) { return info.param.name; }

inline Shape ShapeOf(const std::string& text) {
  auto shape = ParseShape(text);
  EXPECT_TRUE(shape.ok()) << text << ": " << shape.status();
  return shape.ok() ? *shape : Shape();
}

// Infers the shape of `opcode` as `c` describes it and compares.
inline void ExpectInference(HloOpcode opcode, const InferenceCase& c) {
  std::vector<Shape> operands;
  for (const std::string& text : c.operands) operands.push_back(ShapeOf(text));
  std::vector<const Shape*> operand_pointers;
  for (const Shape& operand : operands) operand_pointers.push_back(&operand);
  std::vector<ProgramShape> programs;
  for (const auto& [parameters, result] : c.called) {
    ProgramShape& program = programs.emplace_back();
    for (const std::string& text : parameters) program.parameters.push_back(ShapeOf(text));
    program.parameter_names.resize(parameters.size());
    program.result = ShapeOf(result);
  }
  std::vector<const ProgramShape*> program_pointers;
  for (const ProgramShape& program : programs) program_pointers.push_back(&program);
  const std::unique_ptr<OpAttributes> attributes = MakeAttributes(opcode);
  for (const auto& [name, text] : c.attributes) {
    auto found = attributes->ParseField(name, text);
    ASSERT_TRUE(found.ok() && *found) << name << "=" << text;
  }
  const Shape stated = c.stated.empty() ? Shape() : ShapeOf(c.stated);
  OpView op = {.opcode = opcode,
               .operands = operand_pointers,
               .attributes = attributes.get(),
               .called = program_pointers,
               .stated = c.stated.empty() ? nullptr : &stated};

  auto shape = InferShape(op);
  const std::string prefix = "error: ";
  if (c.expected.rfind(prefix, 0) != 0) {
    ASSERT_TRUE(shape.ok()) << shape.status();
    EXPECT_EQ(shape->ToString(), c.expected);
    return;
  }
  ASSERT_FALSE(shape.ok()) << "got " << shape->ToString();
  EXPECT_EQ(shape.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(std::string(shape.status().message()).find(c.expected.substr(prefix.size())), std::string::npos)
      << shape.status();
}

}  // namespace hilo

// Runs the rows of `table` (a vector of InferenceCase) on `opcode`, each as a test of its own.
#define HILO_INFERENCE_TESTS(Suite, opcode, table)               \
  class Suite : public testing::TestWithParam<InferenceCase> {}; \
  TEST_P(Suite, Infers) { ExpectInference(opcode, GetParam()); } \
  INSTANTIATE_TEST_SUITE_P(All, Suite, testing::ValuesIn(table), CaseName)

#endif  // HILO_TESTS_UNIT_HLO_OPS_INFERENCE_CASE_H_
