#include "gtest/gtest.h"
#include "hlo/ops/semantics.h"
#include "tests/unit/hlo/ops/inference_case.h"

namespace hilo {
namespace {

// Every unary and binary op takes exactly the element types of its row in the table, and can be
// evaluated in each of them.
TEST(ElementwiseTest, EveryTypeOfTheTableIsEvaluated) {
  for (int i = 0; i < kHloOpcodeCount; ++i) {
    const HloOpcode opcode = static_cast<HloOpcode>(i);
    const HloOpcodeInfo& info = OpcodeInfo(opcode);
    if (info.family != HloFamily::kUnary && info.family != HloFamily::kBinary) continue;
    for (int t = 0; t < kPrimitiveTypeCount; ++t) {
      const PrimitiveType type = static_cast<PrimitiveType>(t);
      if (!IsArrayType(type)) continue;
      const Shape shape(type, {3});
      const std::vector<const Shape*> shapes(info.arity, &shape);
      const OpView op{.opcode = opcode, .operands = shapes};
      auto result = InferShape(op);
      bool allowed = InTypeClass(type, info.operand_types);
      if (opcode == HloOpcode::kComplexNumber) allowed = type == F32 || type == F64;
      ASSERT_EQ(result.ok(), allowed) << info.text << " of " << PrimitiveTypeName(type);
      if (!allowed) continue;
      auto operand = Literal::Create(shape);
      ASSERT_TRUE(operand.ok());
      const std::vector<const Literal*> operands(info.arity, &*operand);
      auto value = EvaluateOp(op, *result, operands);
      ASSERT_TRUE(value.ok()) << value.status();
      EXPECT_TRUE(ShapeUtil::Compatible(value->shape(), *result)) << info.text << " of " << PrimitiveTypeName(type);
    }
  }
}

const std::vector<InferenceCase> kAddCases = {
    {"same_shape", {"f32[2,3]", "f32[2,3]"}, {}, {}, "f32[2,3]"},
    {"layouts_do_not_matter", {"f32[2,3]{0,1}", "f32[2,3]{1,0}"}, {}, {}, "f32[2,3]"},
    {"scalars", {"pred[]", "pred[]"}, {}, {}, "pred[]"},
    {"dynamic_if_either_is", {"f32[<=2,3]", "f32[2,<=3]"}, {}, {}, "f32[<=2,<=3]"},
    {"different_sizes",
     {"f32[2]", "f32[3]"},
     {},
     {},
     "error: add: operands must have the same dimensions, got f32[2] and f32[3]"},
    {"no_degenerate_broadcast", {"f32[1]", "f32[3]"}, {}, {}, "error: add: operands must have the same dimensions"},
    {"no_scalar_broadcast", {"f32[]", "f32[3]"}, {}, {}, "error: add: operands must have the same dimensions"},
    {"different_types",
     {"f32[2]", "f64[2]"},
     {},
     {},
     "error: add: operands must have one element type, got f32[2] and f64[2]"},
    {"tuple", {"(f32[2])", "f32[2]"}, {}, {}, "error: add: operand 0 must be an array, got (f32[2])"},
    {"token", {"f32[2]", "token[]"}, {}, {}, "error: add: operand 1 must be an array"},
    {"one_operand", {"f32[2]"}, {}, {}, "error: add: expects 2 operands, got 1"},
    {"called",
     {"f32[2]", "f32[2]"},
     {},
     {{{"f32[]"}, "f32[]"}},
     "error: add: expects the called computations (), got 1"},
};
HILO_INFERENCE_TESTS(AddTest, HloOpcode::kAdd, kAddCases);

const std::vector<InferenceCase> kAbs = {
    {"real", {"s8[<=4]"}, {}, {}, "s8[<=4]"},
    {"complex", {"c128[4]"}, {}, {}, "f64[4]"},
    {"unsigned_operand",
     {"u8[4]"},
     {},
     {},
     "error: abs: operand 0 must have a signed integer or floating-point or complex"},
};
HILO_INFERENCE_TESTS(AbsTest, HloOpcode::kAbs, kAbs);

const std::vector<InferenceCase> kClamp = {
    {"arrays", {"f32[3]", "f32[3]", "f32[3]"}, {}, {}, "f32[3]"},
    {"scalar_min", {"f32[]", "f32[3]", "f32[3]"}, {}, {}, "f32[3]"},
    {"scalar_max", {"f32[<=3]", "f32[3]", "f32[]"}, {}, {}, "f32[<=3]"},
    {"clamp_c1", {"f32[1]", "f32[3]", "f32[]"}, {}, {}, "error: clamp: operand 0"},
    {"array_min_of_a_scalar", {"f32[3]", "f32[]", "f32[]"}, {}, {}, "error: clamp: operand 0"},
};
HILO_INFERENCE_TESTS(ClampTest, HloOpcode::kClamp, kClamp);

const std::vector<InferenceCase> kSelect = {
    {"scalar_pred", {"pred[]", "f32[<=3]", "f32[3]"}, {}, {}, "f32[<=3]"},
    {"dynamic_pred", {"pred[<=3]", "f32[3]", "f32[3]"}, {}, {}, "f32[<=3]"},
    {"select_c1", {"pred[3]", "f32[]", "f32[]"}, {}, {}, "error: select: operand 0"},
};
HILO_INFERENCE_TESTS(SelectTest, HloOpcode::kSelect, kSelect);

}  // namespace
}  // namespace hilo
