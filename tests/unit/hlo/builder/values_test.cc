// What the builder's functions compute: each row makes a value from constants, and the evaluator must find the expected
// one.
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "hilo/xla_builder.h"
#include "hlo/evaluator/hlo_evaluator.h"
#include "hlo/text/hlo_printer.h"

namespace hilo {
namespace {

struct ValueCase {
  std::string name;
  std::string expected;  // shape and elements
  std::function<XlaOp(XlaBuilder*)> make;
};
void PrintTo(const ValueCase& c, std::ostream* out) { *out << c.name; }

// "f32[2]{1,2}", "(s32[], f32[2]) (1, {2, 3})". Braces behind an array's dimensions are elements, not a layout.
Literal Parsed(const std::string& text) {
  const size_t end = text[0] == '(' ? text.find(')') + 1 : text.find(']') + 1;
  const auto shape = ParseShape(text.substr(0, end));
  EXPECT_TRUE(shape.ok()) << text << ": " << shape.status();
  if (!shape.ok()) return Literal();
  auto literal = ParseLiteral(text.substr(end), *shape);
  EXPECT_TRUE(literal.ok()) << text << ": " << literal.status();
  return literal.ok() ? *std::move(literal) : Literal();
}
XlaOp Value(XlaBuilder* b, const std::string& text) { return ConstantLiteral(b, Parsed(text)); }

Shape Scalar(PrimitiveType type) { return ShapeUtil::MakeScalarShape(type); }

// A computation of `count` scalar parameters.
XlaComputation Of(PrimitiveType type, int count, const std::function<XlaOp(std::vector<XlaOp>)>& f) {
  XlaBuilder b("f");
  std::vector<XlaOp> parameters;
  for (int i = 0; i < count; ++i) parameters.push_back(Parameter(&b, i, Scalar(type), "p" + std::to_string(i)));
  auto built = b.Build(f(parameters));
  EXPECT_TRUE(built.ok()) << built.status();
  return built.ok() ? *built : XlaComputation();
}
XlaComputation SumOfFloats() {
  return Of(F32, 2, [](std::vector<XlaOp> p) { return Add(p[0], p[1]); });
}
XlaComputation Smaller() {
  return Of(F32, 2, [](std::vector<XlaOp> p) { return Min(p[0], p[1]); });
}
XlaComputation Less(int operands = 1) {
  return Of(F32, 2 * operands, [](std::vector<XlaOp> p) { return Lt(p[0], p[1]); });
}
XlaComputation GreaterOrEqual() {
  return Of(F32, 2, [](std::vector<XlaOp> p) { return Ge(p[0], p[1]); });
}

class BuilderValueTest : public testing::TestWithParam<ValueCase> {};

TEST_P(BuilderValueTest, IsComputed) {
  XlaBuilder b("main");
  const XlaOp made = GetParam().make(&b);
  auto computation = b.Build(made);
  ASSERT_TRUE(computation.ok()) << computation.status();
  auto value = HloEvaluator().Evaluate(*computation->module(), {});
  ASSERT_TRUE(value.ok()) << value.status();
  const Literal expected = Parsed(GetParam().expected);
  EXPECT_TRUE(*value == expected) << value->ToString() << " for " << expected.ToString();
}

std::string NameOf(const testing::TestParamInfo<ValueCase>& info) { return info.param.name; }

const char kMatrix[] = "f32[2,3]{{1,2,3},{4,5,6}}";
const char kZeros[] = "f32[3,3]{{0,0,0},{0,0,0},{0,0,0}}";
const char kCuboid[] =
    "f32[4,2,3]{{{10,11,12},{15,16,17}},{{20,21,22},{25,26,27}},{{30,31,32},{35,36,37}},{{40,41,42},{45,46,47}}}";

const std::vector<ValueCase> kBroadcasting = {
    {"vector_to_each_row", "f32[2,3]{{8,10,12},{11,13,15}}",
     [](XlaBuilder* b) { return Add(Value(b, kMatrix), Value(b, "f32[3]{7,8,9}"), {1}); }},
    {"scalar_to_each_element", "f32[2,3]{{8,9,10},{11,12,13}}",
     [](XlaBuilder* b) { return Add(Value(b, kMatrix), ConstantR0<float>(b, 7)); }},
    {"vector_as_rows", "f32[3,3]{{7,8,9},{7,8,9},{7,8,9}}",
     [](XlaBuilder* b) { return Add(Value(b, kZeros), Value(b, "f32[3]{7,8,9}"), {1}); }},
    {"vector_as_columns", "f32[3,3]{{7,7,7},{8,8,8},{9,9,9}}",
     [](XlaBuilder* b) { return Add(Value(b, "f32[3]{7,8,9}"), Value(b, kZeros), {0}); }},
    {"matrix_to_the_minor_dimensions", "s32[2,1,3]{{{8,9,10}},{{11,12,13}}}",
     [](XlaBuilder* b) {
       return Add(Value(b, "s32[2,1,3]{{{1,2,3}},{{4,5,6}}}"), Value(b, "s32[1,3]{{7,7,7}}"), {1, 2});
     }},
    {"matrix_to_the_outer_dimensions", "s32[2,2,2]{{{1,2},{1,2}},{{3,4},{3,4}}}",
     [](XlaBuilder* b) {
       return Add(Value(b, "s32[2,2,2]{{{0,0},{0,0}},{{0,0},{0,0}}}"), Value(b, "s32[2,2]{{1,2},{3,4}}"), {0, 2});
     }},
    {"column_stretched", "f32[2,3]{{11,12,13},{24,25,26}}",
     [](XlaBuilder* b) { return Add(Value(b, "f32[2,1]{{10},{20}}"), Value(b, kMatrix)); }},
    {"outer_operation", "s32[2,3]{{10,20,30},{100,200,300}}",
     [](XlaBuilder* b) { return Mul(Value(b, "s32[2,1]{{10},{100}}"), Value(b, "s32[1,3]{{1,2,3}}")); }},
    {"both_kinds", "s32[4,2]{{6,7},{7,8},{8,9},{9,10}}",
     [](XlaBuilder* b) { return Add(Value(b, "s32[4]{1,2,3,4}"), Value(b, "s32[1,2]{{5,6}}"), {0}); }},
    {"both_kinds_in_three_dimensions", "s32[2,3,2]{{{1,10},{2,11},{3,12}},{{4,13},{5,14},{6,15}}}",
     [](XlaBuilder* b) {
       return Add(Value(b, "s32[1,2]{{1,10}}"), Value(b, "s32[2,3,1]{{{0},{1},{2}},{{3},{4},{5}}}"), {1, 2});
     }},
    {"comparison", "pred[2,3]{{true,false,false},{true,true,false}}",
     [](XlaBuilder* b) { return Gt(Value(b, "f32[2,1]{{2},{3}}"), Value(b, "f32[3]{1,2,3}"), {1}); }},
    {"new_dimensions_in_front", "s32[2,1,2]{{{1,2}},{{1,2}}}",
     [](XlaBuilder* b) { return Broadcast(Value(b, "s32[2]{1,2}"), {2, 1}); }},
    {"scalar_to_matrix", "f32[2,3]{{2,2,2},{2,2,2}}",
     [](XlaBuilder* b) { return Broadcast(ConstantR0<float>(b, 2), {2, 3}); }},
    {"in_dim_stretched", "s32[2,2]{{1,2},{1,2}}",
     [](XlaBuilder* b) { return BroadcastInDim(Value(b, "s32[1,2]{{1,2}}"), {2, 2}, {0, 1}); }},
    {"in_dim_between", "s32[2,2,2]{{{1,2},{1,2}},{{3,4},{3,4}}}",
     [](XlaBuilder* b) { return BroadcastInDim(Value(b, "s32[2,2]{{1,2},{3,4}}"), {2, 2, 2}, {0, 2}); }},
};
INSTANTIATE_TEST_SUITE_P(Broadcasting, BuilderValueTest, testing::ValuesIn(kBroadcasting), NameOf);

const std::vector<ValueCase> kMovement = {
    {"collapse_all", "f32[24]{10,11,12,15,16,17,20,21,22,25,26,27,30,31,32,35,36,37,40,41,42,45,46,47}",
     [](XlaBuilder* b) { return Collapse(Value(b, kCuboid), {0, 1, 2}); }},
    {"collapse_outer",
     "f32[8,3]{{10,11,12},{15,16,17},{20,21,22},{25,26,27},{30,31,32},{35,36,37},{40,41,42},{45,46,47}}",
     [](XlaBuilder* b) { return Collapse(Value(b, kCuboid), {0, 1}); }},
    {"collapse_inner", "f32[4,6]{{10,11,12,15,16,17},{20,21,22,25,26,27},{30,31,32,35,36,37},{40,41,42,45,46,47}}",
     [](XlaBuilder* b) { return Collapse(Value(b, kCuboid), {1, 2}); }},
    {"collapse_the_middle", "s32[1,4,2]{{{1,2},{3,4},{5,6},{7,8}}}",
     [](XlaBuilder* b) { return Collapse(Value(b, "s32[1,2,2,2]{{{{1,2},{3,4}},{{5,6},{7,8}}}}"), {1, 2}); }},
    {"slice_without_strides", "s32[2,2]{{7,8},{10,11}}",
     [](XlaBuilder* b) { return Slice(Value(b, "s32[4,3]{{0,1,2},{3,4,5},{6,7,8},{9,10,11}}"), {2, 1}, {4, 3}); }},
    {"slice_with_strides", "s32[3]{0,2,4}",
     [](XlaBuilder* b) { return Slice(Value(b, "s32[5]{0,1,2,3,4}"), {0}, {5}, {2}); }},
    {"dynamic_slice_from_a_vector", "s32[2,2]{{7,8},{10,11}}",
     [](XlaBuilder* b) {
       return DynamicSlice(Value(b, "s32[4,3]{{0,1,2},{3,4,5},{6,7,8},{9,10,11}}"), ConstantR1<int32_t>(b, {2, 1}),
                           {2, 2});
     }},
    {"dynamic_slice_from_scalars", "s32[1,2]{{10,11}}",
     [](XlaBuilder* b) {
       return DynamicSlice(Value(b, "s32[4,3]{{0,1,2},{3,4,5},{6,7,8},{9,10,11}}"),
                           {ConstantR0<int32_t>(b, 9), ConstantR0<int32_t>(b, 9)}, {1, 2});
     }},
    {"dynamic_update_slice_from_a_vector", "s32[4,3]{{0,1,2},{3,12,13},{6,14,15},{9,16,17}}",
     [](XlaBuilder* b) {
       return DynamicUpdateSlice(Value(b, "s32[4,3]{{0,1,2},{3,4,5},{6,7,8},{9,10,11}}"),
                                 Value(b, "s32[3,2]{{12,13},{14,15},{16,17}}"), ConstantR1<int32_t>(b, {1, 1}));
     }},
    {"select_between_tuples", "(s32[], f32[2]) (2, {5, 6})",
     [](XlaBuilder* b) {
       return Select(ConstantR0<bool>(b, false), Tuple(b, {Value(b, "s32[] 1"), Value(b, "f32[2]{3,4}")}),
                     Tuple(b, {Value(b, "s32[] 2"), Value(b, "f32[2]{5,6}")}));
     }},
    {"sort_takes_the_last_dimension", "f32[2,3]{{1,2,3},{4,5,6}}",
     [](XlaBuilder* b) { return Sort({Value(b, "f32[2,3]{{3,1,2},{6,5,4}}")}, Less()); }},
    {"transpose_is_permuted", "s32[3,1,2]{{{1,4}},{{2,5}},{{3,6}}}",
     [](XlaBuilder* b) { return Transpose(Value(b, "s32[1,2,3]{{{1,2,3},{4,5,6}}}"), {2, 0, 1}); }},
};
INSTANTIATE_TEST_SUITE_P(Movement, BuilderValueTest, testing::ValuesIn(kMovement), NameOf);

XlaOp Row(XlaBuilder* b) { return Value(b, "f32[1,1,5]{{{1,2,3,4,5}}}"); }
XlaOp Kernel(XlaBuilder* b) { return Value(b, "f32[1,1,3]{{{10,20,30}}}"); }

DotDimensionNumbers Contracting(int64_t lhs, int64_t rhs) {
  DotDimensionNumbers numbers;
  numbers.add_lhs_contracting_dimensions(lhs);
  numbers.add_rhs_contracting_dimensions(rhs);
  return numbers;
}

const std::vector<ValueCase> kProducts = {
    {"conv_same", "f32[1,1,5]{{{80,140,200,260,140}}}",
     [](XlaBuilder* b) { return Conv(Row(b), Kernel(b), {1}, Padding::kSame); }},
    {"conv_valid", "f32[1,1,3]{{{140,200,260}}}",
     [](XlaBuilder* b) { return Conv(Row(b), Kernel(b), {1}, Padding::kValid); }},
    // [batch, feature, spatial] with [output feature, input feature, spatial].
    {"conv_default_dimensions", "f32[2,3,1]{{{1},{2},{3}},{{3},{4},{7}}}",
     [](XlaBuilder* b) {
       return Conv(Value(b, "f32[2,2,1]{{{1},{2}},{{3},{4}}}"), Value(b, "f32[3,2,1]{{{1},{0}},{{0},{1}},{{1},{1}}}"),
                   {1}, Padding::kValid);
     }},
    {"conv_padded", "f32[1,1,2]{{{200,260}}}",
     [](XlaBuilder* b) { return ConvWithGeneralPadding(Row(b), Kernel(b), {1}, {{-1, 0}}); }},
    {"conv_padded_is_conv_of_the_padded", "f32[1,1,5]{{{0,0,0,0,0}}}",
     [](XlaBuilder* b) {
       PaddingConfig config;
       config.dimensions = {{}, {}, {.edge_padding_low = 1, .edge_padding_high = 1}};
       const XlaOp padded = Pad(Row(b), ConstantR0<float>(b, 0), config);
       return Sub(ConvWithGeneralPadding(padded, Kernel(b), {1}, {{0, 0}}),
                  ConvWithGeneralPadding(Row(b), Kernel(b), {1}, {{1, 1}}));
     }},
    {"conv_dilated", "f32[1,1,7]{{{70,40,110,60,150,80,190}}}",
     [](XlaBuilder* b) {
       const std::vector<int64_t> two = {2}, one = {1};
       return ConvWithGeneralPadding(Row(b), Kernel(b), one, {{0, 0}}, two, one);
     }},
    {"dot_vector_matrix", "f32[3]{9,12,15}",
     [](XlaBuilder* b) { return Dot(Value(b, "f32[2]{1,2}"), Value(b, kMatrix)); }},
    {"dot_general_rows", "f32[2,2]{{6,12},{15,30}}",
     [](XlaBuilder* b) {
       return DotGeneral(Value(b, kMatrix), Value(b, "f32[2,3]{{1,1,1},{2,2,2}}"), Contracting(1, 1));
     }},
    {"dot_general_batch", "f32[2,2,2]{{{1,2},{3,4}},{{5,6},{7,8}}}",
     [](XlaBuilder* b) {
       DotDimensionNumbers numbers = Contracting(2, 1);
       numbers.add_lhs_batch_dimensions(0);
       numbers.add_rhs_batch_dimensions(0);
       return DotGeneral(Value(b, "f32[2,2,2]{{{1,2},{3,4}},{{5,6},{7,8}}}"),
                         Value(b, "f32[2,2,2]{{{1,0},{0,1}},{{1,0},{0,1}}}"), numbers);
     }},
    {"reduce_window_valid", "f32[2]{100,1}",
     [](XlaBuilder* b) {
       return ReduceWindow(Value(b, "f32[5]{10000,1000,100,10,1}"), ConstantLiteral(b, LiteralUtil::MaxValue(F32)),
                           Smaller(), {3}, {2}, Padding::kValid);
     }},
    {"reduce_window_same", "f32[3]{1000,10,1}",
     [](XlaBuilder* b) {
       return ReduceWindow(Value(b, "f32[5]{10000,1000,100,10,1}"), ConstantLiteral(b, LiteralUtil::MaxValue(F32)),
                           Smaller(), {3}, {2}, Padding::kSame);
     }},
    {"reduce_window_of_the_builder", "f32[2,2]{{3,6},{7,-1}}",
     [](XlaBuilder* b) {
       XlaBuilder scalar("max");
       const XlaOp y = Parameter(&scalar, 0, Scalar(F32), "y"), x = Parameter(&scalar, 1, Scalar(F32), "x");
       scalar.Max(y, x);
       const XlaComputation max = *scalar.Build();
       return ReduceWindow(Value(b, "f32[4,6]{{1,2,3,4,5,6},{-1,-2,-3,-4,-5,-6},{0,0,7,-1,-2,-3},{1,1,1,-3,-2,-9}}"),
                           ConstantLiteral(b, LiteralUtil::MinValue(F32)), max, {2, 3}, {2, 3}, Padding::kValid);
     }},
    {"select_and_scatter_same", "f32[3]{0,111,0}",
     [](XlaBuilder* b) {
       return SelectAndScatter(Value(b, "f32[3]{1,5,2}"), GreaterOrEqual(), {3}, {1}, Padding::kSame,
                               Value(b, "f32[3]{1,10,100}"), ConstantR0<float>(b, 0), SumOfFloats());
     }},
    {"select_and_scatter_valid", "f32[3]{0,11,0}",
     [](XlaBuilder* b) {
       return SelectAndScatter(Value(b, "f32[3]{1,5,2}"), GreaterOrEqual(), {2}, {1}, Padding::kValid,
                               Value(b, "f32[2]{1,10}"), ConstantR0<float>(b, 0), SumOfFloats());
     }},
};
INSTANTIATE_TEST_SUITE_P(Products, BuilderValueTest, testing::ValuesIn(kProducts), NameOf);

// Every element-wise function of two operands takes broadcast_dimensions.
TEST(BuilderFormsTest, EveryBinaryFunctionTakesBroadcastDimensions) {
  const auto check = [](const char* name, XlaOp (*f)(XlaOp, XlaOp, absl::Span<const int64_t>), PrimitiveType type) {
    XlaBuilder b(name);
    const XlaOp x = Parameter(&b, 0, ShapeUtil::MakeShape(type, {2, 3}), "x");
    const XlaOp y = Parameter(&b, 1, ShapeUtil::MakeShape(type, {2}), "y");
    auto shape = b.GetShape(f(x, y, {0}));
    ASSERT_TRUE(shape.ok()) << name << ": " << shape.status();
    EXPECT_EQ(shape->dimensions(), absl::MakeConstSpan({int64_t{2}, int64_t{3}})) << name;
  };
  for (const auto& [name, f] :
       {std::pair("Add", &Add), std::pair("Atan2", &Atan2), std::pair("Complex", &Complex), std::pair("Div", &Div),
        std::pair("Max", &Max), std::pair("Min", &Min), std::pair("Mul", &Mul), std::pair("Pow", &Pow),
        std::pair("Rem", &Rem), std::pair("Sub", &Sub)}) {
    check(name, f, F32);
  }
  for (const auto& [name, f] :
       {std::pair("And", &And), std::pair("Or", &Or), std::pair("Xor", &Xor), std::pair("ShiftLeft", &ShiftLeft),
        std::pair("ShiftRightArithmetic", &ShiftRightArithmetic), std::pair("ShiftRightLogical", &ShiftRightLogical)}) {
    check(name, f, S32);
  }
#define HILO_CHECK_COMPARISON(Function, direction) \
  check(#Function, &Function, F32);                \
  check(#Function "TotalOrder", &Function##TotalOrder, F32);
  HILO_COMPARISON_FUNCTIONS(HILO_CHECK_COMPARISON)
#undef HILO_CHECK_COMPARISON
}

TEST(BuilderFormsTest, CompositeCallWithoutVersionAndAttributes) {
  XlaBuilder b("main");
  const XlaComputation sum = SumOfFloats();
  CompositeCall(&b, sum, {ConstantR0<float>(&b, 1), ConstantR0<float>(&b, 2)}, "foo.bar");
  auto built = b.Build();
  ASSERT_TRUE(built.ok()) << built.status();
  const std::string text = PrintHloModule(*built->module());
  EXPECT_NE(text.find("is_composite=true"), std::string::npos) << text;
  EXPECT_NE(text.find("frontend_attributes={composite.name=\"foo.bar\",composite.version=\"0\"}"), std::string::npos)
      << text;
  EXPECT_TRUE(*HloEvaluator().Evaluate(*built->module(), {}) == LiteralUtil::CreateR0<float>(3));
}

TEST(BuilderFormsTest, SortsAreNotStableUnlessAskedTo) {
  const auto text = [](bool stable) {
    XlaBuilder b("main");
    const XlaOp x = Value(&b, "f32[2]{2,1}");
    stable ? Sort({x}, Less(), -1, true) : Sort({x}, Less());
    return PrintHloModule(*(*b.Build()).module());
  };
  EXPECT_EQ(text(false).find("is_stable"), std::string::npos);
  EXPECT_NE(text(true).find("is_stable=true"), std::string::npos);
}

TEST(BuilderFormsTest, RefusedInputs) {
  const auto refused = [](const std::function<XlaOp(XlaBuilder*)>& make) {
    XlaBuilder b("refused");
    make(&b);
    EXPECT_EQ(b.Build().status().code(), absl::StatusCode::kInvalidArgument);
  };
  refused([](XlaBuilder* b) { return Collapse(Value(b, kCuboid), {1, 0}); });
  refused([](XlaBuilder* b) { return Collapse(Value(b, kCuboid), {0, 2}); });
  refused([](XlaBuilder* b) { return Collapse(Value(b, kCuboid), {2, 3}); });
  refused([](XlaBuilder* b) {
    const XlaOp pair = Tuple(b, {Value(b, "s32[] 1")});
    return Select(Value(b, "pred[1]{true}"), pair, pair);
  });
  refused([](XlaBuilder* b) {
    return Select(ConstantR0<bool>(b, true), Tuple(b, {Value(b, "s32[] 1")}), Tuple(b, {Value(b, "f32[] 1")}));
  });
  refused([](XlaBuilder* b) { return Conv(Row(b), Value(b, "f32[1,3]{{1,2,3}}"), {1}, Padding::kSame); });
  refused([](XlaBuilder* b) { return Lt(Value(b, kMatrix), Value(b, "f32[3]{1,2,3}")); });
  refused([](XlaBuilder* b) { return Broadcast(Value(b, "s32[] 1"), {-1}); });
}

}  // namespace
}  // namespace hilo
