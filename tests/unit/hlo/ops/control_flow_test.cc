#include "hlo/ops/semantics.h"
#include "hlo/ops/table/op_attributes.h"
#include "tests/unit/hlo/ops/inference_case.h"

namespace hilo {
namespace {

const std::vector<InferenceCase> kCall = {
    {"two_arguments", {"f32[2]{0}", "s32[]"}, {}, {{{"f32[2]", "s32[]"}, "(f32[2]{0})"}}, "(f32[2])", ""},
    {"no_arguments", {}, {}, {{{}, "f32[]"}}, "f32[]", ""},
    {"too_few",
     {"f32[2]"},
     {},
     {{{"f32[2]", "s32[]"}, "f32[]"}},
     "error: call: called computation 0 takes 2 parameters",
     ""},
    {"wrong_type",
     {"f32[2]"},
     {},
     {{{"f32[3]"}, "f32[]"}},
     "error: call: parameter 0 of called computation 0 is f32[3]",
     ""},
};
HILO_INFERENCE_TESTS(CallTest, HloOpcode::kCall, kCall);

const std::vector<InferenceCase> kFusion = {
    {"forwards", {"f32[2]"}, {}, {{{"f32[2]"}, "pred[2]"}}, "pred[2]", ""},
    {"wrong_type", {"f32[2]"}, {}, {{{"f64[2]"}, "f32[]"}}, "error: fusion: parameter 0", ""},
};
HILO_INFERENCE_TESTS(FusionTest, HloOpcode::kFusion, kFusion);

const std::vector<InferenceCase> kConditional = {
    {"pred", {"pred[]", "f32[2]", "s32[]"}, {}, {{{"f32[2]"}, "u8[]"}, {{"s32[]"}, "u8[]"}}, "u8[]", ""},
    {"index", {"s32[]", "f32[2]"}, {}, {{{"f32[2]"}, "()"}}, "()", ""},
    {"case_c1", {"s32[]"}, {}, {}, "error: conditional: needs at least one branch", ""},
    {"operand_count",
     {"s32[]"},
     {},
     {{{"f32[2]"}, "f32[]"}},
     "error: conditional: expected a selector and one operand",
     ""},
    {"no_operands", {}, {}, {{{"f32[2]"}, "f32[]"}}, "error: conditional: expected a selector and one operand", ""},
    {"selector_type",
     {"s64[]", "f32[]"},
     {},
     {{{"f32[]"}, "f32[]"}},
     "error: conditional: operand 0 must be pred[] or s32[]",
     ""},
    {"selector_rank",
     {"pred[1]", "f32[]"},
     {},
     {{{"f32[]"}, "f32[]"}},
     "error: conditional: operand 0 must be pred[] or",
     ""},
    {"pred_branches",
     {"pred[]", "f32[]"},
     {},
     {{{"f32[]"}, "f32[]"}},
     "error: conditional: a pred[] chooses between 2",
     ""},
    {"case_c2",
     {"s32[]", "f32[]"},
     {},
     {{{"f32[]", "f32[]"}, "f32[]"}},
     "error: conditional: called computation 0 takes 2",
     ""},
    {"if_c1",
     {"pred[]", "f32[]", "s8[]"},
     {},
     {{{"f32[]"}, "f32[]"}, {{"u8[]"}, "f32[]"}},
     "error: conditional: parameter 0 of called computation 1 is u8[]",
     ""},
    {"if_c2",
     {"pred[]", "f32[]", "f32[]"},
     {},
     {{{"f32[]"}, "f32[]"}, {{"f32[]"}, "f64[]"}},
     "error: conditional: branches must return one shape",
     ""},
};
HILO_INFERENCE_TESTS(ConditionalTest, HloOpcode::kConditional, kConditional);

const std::vector<InferenceCase> kWhile = {
    {"tuple",
     {"(s32[], f32[10]{0})"},
     {},
     {{{"(s32[], f32[10])"}, "pred[]"}, {{"(s32[], f32[10])"}, "(s32[], f32[10])"}},
     "(s32[], f32[10])",
     ""},
    {"while_c1_parameter",
     {"s32[]"},
     {},
     {{{"s64[]"}, "pred[]"}, {{"s32[]"}, "s32[]"}},
     "error: while: parameter 0 of called computation 0 is s64[]",
     ""},
    {"while_c1_result",
     {"s32[]"},
     {},
     {{{"s32[]"}, "s32[]"}, {{"s32[]"}, "s32[]"}},
     "error: while: condition must return pred[], but returns s32[]",
     ""},
    {"while_c1_result_rank",
     {"s32[]"},
     {},
     {{{"s32[]"}, "pred[1]"}, {{"s32[]"}, "s32[]"}},
     "error: while: condition must return pred[]",
     ""},
    {"while_c2_parameter",
     {"s32[]"},
     {},
     {{{"s32[]"}, "pred[]"}, {{"s32[]", "s32[]"}, "s32[]"}},
     "error: while: called computation 1 takes 2 parameters",
     ""},
    {"while_c2_result",
     {"s32[2]"},
     {},
     {{{"s32[2]"}, "pred[]"}, {{"s32[2]"}, "s32[3]"}},
     "error: while: body must return s32[2], but returns s32[3]",
     ""},
};
HILO_INFERENCE_TESTS(WhileTest, HloOpcode::kWhile, kWhile);

const std::vector<InferenceCase> kTuple = {
    {"two", {"f32[10]{0}", "s32[]"}, {}, {}, "(f32[10], s32[])", ""},
    {"empty", {}, {}, {}, "()", ""},
    {"nested", {"()", "(token[])"}, {}, {}, "((), (token[]))", ""},
};
HILO_INFERENCE_TESTS(TupleTest, HloOpcode::kTuple, kTuple);

const std::vector<InferenceCase> kGetTupleElement = {
    {"element", {"(f32[10], s32[])"}, {{"index", "1"}}, {}, "s32[]", ""},
    {"get_tuple_element_c1",
     {"(f32[10], s32[])"},
     {{"index", "2"}},
     {},
     "error: get-tuple-element: index = 2 is not in [0, 2)",
     ""},
    {"negative", {"(f32[10], s32[])"}, {{"index", "-1"}}, {}, "error: get-tuple-element: index = -1", ""},
    {"no_tuple", {"f32[10]"}, {{"index", "0"}}, {}, "error: get-tuple-element: the operand must be a tuple", ""},
};
HILO_INFERENCE_TESTS(GetTupleElementTest, HloOpcode::kGetTupleElement, kGetTupleElement);

const std::vector<InferenceCase> kAfterAll = {
    {"none", {}, {}, {}, "token[]", ""},
    {"two", {"token[]", "token[]"}, {}, {}, "token[]", ""},
    {"array", {"token[]", "f32[]"}, {}, {}, "error: after-all: operands must be tokens, but operand 1 is f32[]", ""},
};
HILO_INFERENCE_TESTS(AfterAllTest, HloOpcode::kAfterAll, kAfterAll);

const std::vector<InferenceCase> kAddDependency = {
    {"array", {"f32[2]", "token[]"}, {}, {}, "f32[2]", ""},
    {"no_token", {"f32[2]", "f32[]"}, {}, {}, "error: add-dependency: operand 1 must be a token", ""},
};
HILO_INFERENCE_TESTS(AddDependencyTest, HloOpcode::kAddDependency, kAddDependency);

const std::vector<InferenceCase> kParameter = {
    {"stated", {}, {{"number", "3"}}, {}, "f32[2]", "f32[2]{0}"},
    {"no_shape", {}, {{"number", "3"}}, {}, "error: parameter: a parameter needs a stated shape", ""},
    {"negative", {}, {{"number", "-3"}}, {}, "error: parameter: number = -3 is negative", "f32[2]"},
};
HILO_INFERENCE_TESTS(ParameterTest, HloOpcode::kParameter, kParameter);

TEST(ConstantTest, ReturnsItsLiteral) {
  ConstantAttrs attrs;
  attrs.literal.value = std::make_shared<const Literal>(LiteralUtil::CreateR1<int32_t>({1, 2}));
  const Shape wrong(S32, {3});
  OpView op = {.opcode = HloOpcode::kConstant, .operands = {}, .attributes = &attrs};
  auto shape = InferShape(op);
  ASSERT_TRUE(shape.ok()) << shape.status();
  EXPECT_EQ(shape->ToString(), "s32[2]");
  auto value = EvaluateOp(op, *shape, {});
  ASSERT_TRUE(value.ok());
  EXPECT_TRUE(*value == *attrs.literal.value);
  EXPECT_EQ(FieldToText(attrs.literal), attrs.literal.value->ToString(false));
  op.stated = &wrong;
  EXPECT_FALSE(InferShape(op).ok());
}

TEST(ConstantTest, ElidedValue_IsAnErrorWhenNeeded) {
  const ConstantAttrs attrs;
  const Shape stated(S32, {3});
  OpView op = {.opcode = HloOpcode::kConstant, .operands = {}, .attributes = &attrs};
  EXPECT_FALSE(InferShape(op).ok());
  op.stated = &stated;
  EXPECT_TRUE(InferShape(op).ok());
  EXPECT_EQ(EvaluateOp(op, stated, {}).status().message(), "constant: the value was left out of the text ({...})");
  EXPECT_EQ(FieldToText(attrs.literal), "{...}");
}

}  // namespace
}  // namespace hilo
