// What tests of passes share: running one by its name, and showing what a module computes as one expression.
#ifndef HILO_TESTS_UNIT_HLO_PASSES_PASS_TESTING_H_
#define HILO_TESTS_UNIT_HLO_PASSES_PASS_TESTING_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "hlo/evaluator/hlo_evaluator.h"
#include "hlo/ir/hlo_verifier.h"
#include "hlo/text/hlo_parser.h"
#include "hlo/text/hlo_printer.h"
#include "tests/unit/hlo/memory/memory_testing.h"

namespace hilo::testing {

inline std::unique_ptr<HloModule> Parse(absl::string_view text) {
  auto module = ParseHloModule(text);
  EXPECT_TRUE(module.ok()) << module.status() << "\n" << text;
  return module.ok() ? *std::move(module) : nullptr;
}

// Runs the passes; true if one of them changed the module, which must be valid afterwards.
inline bool RunPasses(HloModule* module, const std::vector<std::string>& names) {
  bool changed = false;
  for (const std::string& name : names) {
    absl::StatusOr<bool> here = PassNamed(name)->Run(module, {});
    EXPECT_TRUE(here.ok()) << here.status();
    changed |= here.ok() && *here;
    const absl::Status valid = VerifyHloModule(*module, HloStage::kInput);
    EXPECT_TRUE(valid.ok()) << valid << "\nafter " << name << "\n" << PrintHloModule(*module);
  }
  return changed;
}

// "add(x, reverse(y))": opcodes, names of parameters, values of constants. For small graphs.
inline std::string Expression(const HloInstruction& instruction) {
  if (instruction.IsParameter()) return instruction.name();
  if (instruction.IsConstant()) return instruction.literal().ToString(/*with_shape=*/false);
  std::vector<std::string> operands;
  for (const HloInstruction* operand : instruction.operands()) operands.push_back(Expression(*operand));
  const std::string element =
      instruction.opcode() == HloOpcode::kGetTupleElement ? absl::StrCat("#", instruction.tuple_index()) : "";
  return absl::StrCat(HloOpcodeString(instruction.opcode()), element, "(", absl::StrJoin(operands, ", "), ")");
}

inline std::string RootExpression(const HloModule& module) {
  return Expression(*module.entry_computation()->root_instruction());
}

inline int64_t Count(const HloModule& module, HloOpcode opcode) {
  int64_t count = 0;
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) count += instruction->opcode() == opcode;
  }
  return count;
}

// An argument of `shape` that holds the numbers on which rules break: zeros of both signs, infinities, NaN, extremes.
inline Literal EdgeCaseArgument(const Shape& shape, int64_t salt) {
  if (shape.IsTuple()) {
    std::vector<Literal> elements;
    for (const Shape& element : shape.tuple_shapes()) elements.push_back(EdgeCaseArgument(element, ++salt));
    return Literal::MakeTuple(std::move(elements));
  }
  const PrimitiveType type = shape.element_type();
  static const double kFloats[] = {0.0, -0.0, 1.5, -3.0, INFINITY, -INFINITY, NAN, 1e-45, 255.0, -1e30, 7.0, -0.3125};
  static const double kIntegers[] = {3, 0, 1, 2, -1, 100, -128, 127, 5, 4, 2147483647, -2147483648.0};
  Literal literal = *Literal::Create(shape);
  const int64_t bytes = PrimitiveTypeByteSize(type);
  for (int64_t i = 0; i < literal.element_count(); ++i) {
    const int64_t at = (i * 5 + salt * 3) % 12;
    const bool real = IsFloatingPointType(type) || IsComplexType(type);
    const Literal element = type == PRED ? LiteralUtil::FromDouble(PRED, at % 2)
                                         : LiteralUtil::FromDouble(type, real ? kFloats[at] : kIntegers[at]);
    std::memcpy(literal.untyped_data().data() + i * bytes, element.untyped_data().data(), bytes);
  }
  return literal;
}

inline absl::StatusOr<Literal> EvaluateOnEdgeCases(const HloModule& module, int64_t salt) {
  std::vector<Literal> arguments;
  std::vector<const Literal*> pointers;
  for (const HloInstruction* parameter : module.entry_computation()->parameter_instructions()) {
    arguments.push_back(EdgeCaseArgument(parameter->shape(), salt++));
  }
  for (const Literal& argument : arguments) pointers.push_back(&argument);
  HloEvaluator evaluator;
  return evaluator.Evaluate(module, pointers);
}

}  // namespace hilo::testing

#endif  // HILO_TESTS_UNIT_HLO_PASSES_PASS_TESTING_H_
