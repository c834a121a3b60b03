#include "hilo/xla_builder.h"

#include <functional>
#include <limits>
#include <string>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "hlo/text/hlo_parser.h"
#include "hlo/text/hlo_printer.h"

namespace hilo {
namespace {

Shape F32Shape(absl::Span<const int64_t> dimensions) { return ShapeUtil::MakeShape(F32, dimensions); }

XlaComputation ScalarComputation(const std::string& name, const std::function<XlaOp(XlaOp, XlaOp)>& f,
                                 PrimitiveType type = F32) {
  XlaBuilder b(name);
  f(Parameter(&b, 0, ShapeUtil::MakeScalarShape(type), "a"), Parameter(&b, 1, ShapeUtil::MakeScalarShape(type), "b"));
  auto computation = b.Build();
  EXPECT_TRUE(computation.ok()) << computation.status();
  return computation.ok() ? *computation : XlaComputation();
}

XlaComputation AddF32() {
  return ScalarComputation("add_f32", [](XlaOp a, XlaOp b) { return a + b; });
}

// The shape of what `make` makes of parameters x: f32[4,6] and s: f32[], and the text round trip of
// the module.
absl::StatusOr<std::string> ShapeOf(const std::function<XlaOp(XlaBuilder*, XlaOp, XlaOp)>& make) {
  XlaBuilder b("test");
  const XlaOp x = Parameter(&b, 0, F32Shape({4, 6}), "x");
  const XlaOp s = Parameter(&b, 1, F32Shape({}), "s");
  const XlaOp made = make(&b, x, s);
  auto shape = b.GetShape(made);
  if (!shape.ok()) return shape.status();
  auto computation = b.Build(made);
  if (!computation.ok()) return computation.status();
  const std::string text = PrintHloModule(*computation->module());
  auto again = ParseHloModule(text);
  EXPECT_TRUE(again.ok()) << again.status() << text;
  if (again.ok()) {
    EXPECT_EQ(PrintHloModule(**again), text);
  }
  return shape->ToString();
}
#define EXPECT_SHAPE(text, expression)                                                       \
  do {                                                                                       \
    const auto shape = ShapeOf([&]([[maybe_unused]] XlaBuilder* b, [[maybe_unused]] XlaOp x, \
                                   [[maybe_unused]] XlaOp s) { return expression; });        \
    EXPECT_TRUE(shape.ok()) << shape.status();                                               \
    if (shape.ok()) {                                                                        \
      EXPECT_EQ(*shape, text);                                                               \
    }                                                                                        \
  } while (false)
#define EXPECT_REFUSED(expression)                                                                               \
  EXPECT_FALSE(ShapeOf([&]([[maybe_unused]] XlaBuilder* b, [[maybe_unused]] XlaOp x, [[maybe_unused]] XlaOp s) { \
                 return expression;                                                                              \
               }).ok())

TEST(XlaBuilderTest, Axpy) {
  XlaBuilder b("axpy");
  const XlaOp a = Parameter(&b, 0, F32Shape({}), "a");
  const XlaOp x = Parameter(&b, 1, F32Shape({8}), "x");
  b.SetOpMetadata({.op_name = "sum"});
  const XlaOp sum = a * x + ConstantR0<float>(&b, 1);
  b.ClearOpMetadata();
  auto axpy = b.Build(Neg(sum));
  ASSERT_TRUE(axpy.ok()) << axpy.status();
  EXPECT_EQ(axpy->name(), "axpy");
  EXPECT_EQ(axpy->GetProgramShape()->ToString(), "(a: f32[], x: f32[8]) -> f32[8]");
  EXPECT_TRUE(absl::StrContains(PrintHloModule(*axpy->module()), "metadata={op_name=\"sum\"}"));
}

TEST(XlaBuilderTest, Elementwise) {
  EXPECT_SHAPE("f32[4,6]", Exp(x));
  EXPECT_SHAPE("pred[4,6]", IsFinite(x));
  EXPECT_SHAPE("f32[4,6]", Max(x, s));
  EXPECT_SHAPE("c64[4,6]", Complex(x, x));
  EXPECT_SHAPE("pred[4,6]", LtTotalOrder(x, s));
  EXPECT_SHAPE("f32[4,6]", Select(Gt(x, s), x, Neg(x)));
  EXPECT_SHAPE("f32[4,6]", Clamp(s, x, s));
  EXPECT_SHAPE("s32[4,6]", ConvertElementType(x, S32));
  EXPECT_SHAPE("s32[4,6]", ConvertElementType(x, S32) >> ConvertElementType(x, S32));
  EXPECT_SHAPE("f16[4,6,2]", BitcastConvertType(x, F16));
  EXPECT_SHAPE("f32[4,6]", BitcastConvertType(BitcastConvertType(x, F16), F32));
  EXPECT_SHAPE("f32[4,6]", ReducePrecision(x, 5, 10));
  EXPECT_SHAPE("f32[4,6]", Map(b, {x, x}, AddF32(), {0, 1}));
  EXPECT_REFUSED(And(x, x));
  EXPECT_REFUSED(Add(x, ConvertElementType(x, F64)));
  EXPECT_REFUSED(BitcastConvertType(x, TUPLE));
  EXPECT_REFUSED(BitcastConvertType(x, F64));
  EXPECT_REFUSED(ConvertElementType(x, TOKEN));
}

TEST(XlaBuilderTest, Movement) {
  EXPECT_SHAPE("f32[2,4,6]", Broadcast(x, {2}));
  EXPECT_SHAPE("f32[24]", Reshape(x, {24}));
  EXPECT_SHAPE("f32[24]", Collapse(x, {0, 1}));
  EXPECT_SHAPE("f32[8,3]", Collapse(Reshape(x, {4, 2, 3}), {0, 1}));
  EXPECT_SHAPE("f32[4,6]", Collapse(Reshape(x, {4, 2, 3}), {1, 2}));
  EXPECT_SHAPE("f32[6,4]", Transpose(x, {1, 0}));
  EXPECT_SHAPE("f32[4,6]", Rev(x, {1}));
  EXPECT_SHAPE("f32[2,3]", Slice(x, {0, 0}, {3, 6}, {2, 2}));
  EXPECT_SHAPE("f32[4,2]", SliceInDim(x, 1, 5, 2, 1));
  EXPECT_SHAPE("f32[1,6]", DynamicSlice(x, {ConstantR0<int32_t>(b, 1), ConstantR0<int32_t>(b, 0)}, {1, 6}));
  EXPECT_SHAPE("f32[1,6]", DynamicSlice(x, ConstantR1<int32_t>(b, {1, 0}), {1, 6}));
  EXPECT_SHAPE("f32[2]", DynamicSlice(Reshape(x, {24}), ConstantR0<int32_t>(b, 1), {2}));
  EXPECT_SHAPE("f32[4,6]", DynamicUpdateSlice(x, SliceInDim(x, 0, 2, 1, 0), ConstantR1<int32_t>(b, {1, 0})));
  EXPECT_SHAPE("f32[8,6]", ConcatInDim(b, {x, x}, 0));
  EXPECT_SHAPE("f32[4,9]", PadInDim(x, s, 1, 1, 2));
  EXPECT_SHAPE("s32[3,2]", Iota(b, ShapeUtil::MakeShape(S32, {3, 2}), 1));
  EXPECT_SHAPE("f32[5]", Iota(b, F32, 5));
  EXPECT_SHAPE(
      "f32[4,6]",
      GetTupleElement(Sort({x, x}, ScalarComputation("less",
                                                     [](XlaOp a, XlaOp c) {
                                                       Parameter(a.builder(), 2, ShapeUtil::MakeScalarShape(F32), "c");
                                                       Parameter(a.builder(), 3, ShapeUtil::MakeScalarShape(F32), "d");
                                                       return Lt(a, c);
                                                     })),
                      1));
  EXPECT_REFUSED(Reshape(x, {5}));
  EXPECT_REFUSED(Reshape(x, {-1, -24}));
  EXPECT_REFUSED(Collapse(x, {1, 0}));
  EXPECT_REFUSED(Collapse(x, {2}));
  EXPECT_REFUSED(Transpose(x, {0, 0}));
  EXPECT_REFUSED(Slice(x, {0}, {1, 1}, {1, 1}));
  EXPECT_REFUSED(SliceInDim(x, 0, 7, 1, 1));
  EXPECT_REFUSED(SliceInDim(x, 0, 1, 1, 2));
  EXPECT_REFUSED(ConcatInDim(b, {}, 0));
  EXPECT_REFUSED(DynamicSlice(x, x, {1, 1}));
  EXPECT_REFUSED(Broadcast(x, {std::numeric_limits<int64_t>::max()}));
  EXPECT_REFUSED(Iota(b, ShapeUtil::MakeShape(S32, {3}), 1));
}

TEST(XlaBuilderTest, GatherAndScatter) {
  GatherDimensionNumbers gather;
  gather.add_offset_dims(1);
  gather.add_collapsed_slice_dims(0);
  gather.add_start_index_map(0);
  gather.set_index_vector_dim(1);
  EXPECT_SHAPE("f32[3,6]", Gather(x, ConstantR1<int32_t>(b, {0, 2, 1}), gather, {1, 6}));
  ScatterDimensionNumbers scatter;
  scatter.add_update_window_dims(1);
  scatter.add_inserted_window_dims(0);
  scatter.add_scatter_dims_to_operand_dims(0);
  scatter.set_index_vector_dim(1);
  EXPECT_SHAPE("f32[4,6]", Scatter(x, ConstantR1<int32_t>(b, {0, 2, 1, 0}), x, AddF32(), scatter));
}

TEST(XlaBuilderTest, ReductionsAndProducts) {
  EXPECT_SHAPE("f32[6]", Reduce(x, s, AddF32(), {0}));
  EXPECT_SHAPE("f32[]", ReduceAll(x, s, AddF32()));
  EXPECT_SHAPE("f32[2,2]", ReduceWindow(x, s, AddF32(), {2, 3}, {2, 3}, Padding::kValid));
  EXPECT_SHAPE("f32[4,6]", ReduceWindow(x, s, AddF32(), {3, 2}, {1, 1}, Padding::kSame));
  EXPECT_SHAPE("f32[2,3]", ReduceWindow(x, s, AddF32(), {3, 3}, {2, 2}, Padding::kSame));
  EXPECT_SHAPE("f32[5,5]", ReduceWindowWithGeneralPadding(x, s, AddF32(), {2, 2}, {}, {}, {}, {{1, 1}, {0, 0}}));
  const XlaComputation select = [] {
    XlaBuilder ge("ge");
    Ge(Parameter(&ge, 0, F32Shape({}), "a"), Parameter(&ge, 1, F32Shape({}), "b"));
    return *ge.Build();
  }();
  EXPECT_SHAPE("f32[4,6]", SelectAndScatter(x, select, {2, 3}, {2, 3}, Padding::kValid,
                                            Slice(x, {0, 0}, {2, 2}, {1, 1}), s, AddF32()));
  EXPECT_SHAPE("f32[4,6]", SelectAndScatter(x, select, {3, 2}, {1, 1}, Padding::kSame, x, s, AddF32()));
  EXPECT_SHAPE("f32[4,6]", SelectAndScatterWithGeneralPadding(x, select, {4, 6}, {2, 3}, {{1, 1}, {3, 0}},
                                                              Slice(x, {0, 0}, {2, 2}, {1, 1}), s, AddF32()));
  EXPECT_SHAPE("f32[4,4]", Dot(x, Transpose(x, {1, 0})));
  EXPECT_SHAPE("f64[4,4]", Dot(x, Transpose(x, {1, 0}), F64));
  DotDimensionNumbers numbers;
  numbers.add_lhs_contracting_dimensions(1);
  numbers.add_rhs_contracting_dimensions(1);
  numbers.add_lhs_batch_dimensions(0);
  numbers.add_rhs_batch_dimensions(0);
  EXPECT_SHAPE("f32[4]", DotGeneral(x, x, numbers));
  EXPECT_REFUSED(Dot(x, x));
  EXPECT_REFUSED(Dot(s, x));
  EXPECT_REFUSED(Reduce(x, s, AddF32(), {2}));
  EXPECT_REFUSED(Reduce(x, s, XlaComputation(), {0}));
  EXPECT_REFUSED(ReduceWindow(x, s, AddF32(), {2}, {1}, Padding::kSame));
  EXPECT_REFUSED(ReduceWindow(x, s, AddF32(), {2, 0}, {1, 1}, Padding::kSame));
  EXPECT_REFUSED(ReduceWindow(x, s, AddF32(), {2, 2}, {1}, Padding::kValid));
  EXPECT_REFUSED(SelectAndScatter(x, select, {2}, {1}, Padding::kSame, x, s, AddF32()));
  EXPECT_REFUSED(SelectAndScatterWithGeneralPadding(x, select, {2, 3}, {2, 3}, {{0, 0}},
                                                    Slice(x, {0, 0}, {2, 2}, {1, 1}), s, AddF32()));
  EXPECT_REFUSED(SelectAndScatterWithGeneralPadding(x, AddF32(), {2, 3}, {2, 3}, {{0, 0}, {0, 0}},
                                                    Slice(x, {0, 0}, {2, 2}, {1, 1}), s, AddF32()));
}

TEST(XlaBuilderTest, NormalisationsAndRandomNumbers) {
  const auto column = [](XlaOp x) { return Reshape(SliceInDim(x, 0, 1, 1, 1), {4}); };
  EXPECT_SHAPE("(f32[4,6], f32[4], f32[4])", BatchNormTraining(x, column(x), column(x), 0.5, 0));
  EXPECT_SHAPE("f32[4,6]", BatchNormInference(x, column(x), column(x), column(x), column(x), 0.5, 0));
  EXPECT_SHAPE("(f32[4,6], f32[4], f32[4])", BatchNormGrad(x, column(x), column(x), column(x), x, 0.5, 0));
  EXPECT_SHAPE("f32[3,2]", RngNormal(s, s, F32Shape({3, 2})));
  EXPECT_SHAPE("f32[]", RngUniform(s, s, F32Shape({})));
  EXPECT_SHAPE("(u64[2], u8[5])",
               RngBitGenerator(RandomAlgorithm::kThreeFry, RngGetAndUpdateState(b, 3), ShapeUtil::MakeShape(U8, {5})));
  EXPECT_SHAPE("s8[4,6]", StochasticConvertType(x, BitcastConvertType(x, U32), S8));
  EXPECT_SHAPE("(f32[4,2], s32[4,2])", TopK(x, 2, /*largest=*/false));
  EXPECT_SHAPE("(f32[4,2], s32[4,2])", TopK(x, 2));
  EXPECT_SHAPE("(f32[4,2], u64[4,2])", TopK(x, 2, U64));
}

TEST(XlaBuilderTest, SamePadding_AddsTheOddElementAtTheEnd) {
  XlaBuilder b("same");
  ReduceWindow(Parameter(&b, 0, F32Shape({5}), "x"), ConstantR0<float>(&b, 0), AddF32(), {4}, {2}, Padding::kSame);
  auto built = b.Build();
  ASSERT_TRUE(built.ok()) << built.status();
  EXPECT_TRUE(absl::StrContains(PrintHloModule(*built->module()), "window={size=4 stride=2 pad=1_2}"));
}

TEST(XlaBuilderTest, TuplesTokensAndControlFlow) {
  const XlaComputation less = ScalarComputation("unused", [](XlaOp a, XlaOp) { return Neg(a); });
  auto unary = [](const std::string& name, const std::function<XlaOp(XlaOp)>& f) {
    XlaBuilder b(name);
    f(Parameter(&b, 0, F32Shape({}), "p"));
    return *b.Build();
  };
  const XlaComputation halve = unary("halve", [](XlaOp p) { return p / ConstantR0<float>(p.builder(), 2); });
  const XlaComputation big = unary("big", [](XlaOp p) { return Gt(p, ConstantR0<float>(p.builder(), 1)); });
  EXPECT_SHAPE("(f32[4,6], f32[])", Tuple(b, {x, s}));
  EXPECT_SHAPE("f32[]", GetTupleElement(Tuple(b, {x, s}), 1));
  EXPECT_SHAPE("f32[]", While(big, halve, s));
  EXPECT_SHAPE("f32[]", Conditional(Gt(s, s), s, halve, s, halve));
  EXPECT_SHAPE("f32[]", Conditional(ConstantR0<int32_t>(b, 0), {&halve, &halve, &halve}, {s, s, s}));
  EXPECT_SHAPE("f32[]", Call(b, halve, {s}));
  EXPECT_SHAPE("f32[]", CompositeCall(b, halve, {s}, "foo.bar", "{n = 1 : i32, tensor = dense<1> : tensor<i32>}", 1));
  EXPECT_SHAPE("f32[4,6]", OptimizationBarrier(x));
  EXPECT_SHAPE("token[]", AfterAll(b, {CreateToken(b), CreateToken(b)}));
  EXPECT_REFUSED(AfterAll(b, {}));
  EXPECT_REFUSED(GetTupleElement(Tuple(b, {x, s}), 2));
  EXPECT_REFUSED(GetTupleElement(x, 0));
  EXPECT_REFUSED(While(halve, halve, s));
  EXPECT_REFUSED(Conditional(s, s, halve, s, halve));
  EXPECT_REFUSED(Call(b, less, {s}));
  EXPECT_REFUSED(CompositeCall(b, halve, {s}, "foo", "{]"));
}

TEST(XlaBuilderTest, CalledComputation_IsCopiedOnce) {
  XlaBuilder b("twice");
  const XlaOp s = Parameter(&b, 0, F32Shape({}), "s");
  const XlaComputation add = AddF32();
  Call(&b, add, {Call(&b, add, {s, s}), s});
  auto built = b.Build();
  ASSERT_TRUE(built.ok()) << built.status();
  EXPECT_EQ(built->module()->computations().size(), 2u);
}

TEST(XlaBuilderTest, TheFirstErrorIsKept) {
  XlaBuilder b("errors");
  const XlaOp x = Parameter(&b, 0, F32Shape({2}), "x");
  const XlaOp bad = Reshape(x, {3});
  EXPECT_FALSE(bad.valid());
  EXPECT_EQ(bad.builder(), &b);
  const XlaOp worse = Transpose(Add(bad, x), {7});
  EXPECT_FALSE(worse.valid());
  EXPECT_TRUE(absl::StrContains(b.first_error().message(), "reshape"));
  EXPECT_EQ(b.Build().status(), b.first_error());
  EXPECT_EQ(b.Build(x).status(), b.first_error());
}

TEST(XlaBuilderTest, Misuse) {
  XlaBuilder a("a"), b("b");
  const XlaOp x = Parameter(&a, 0, F32Shape({2}), "x");
  const XlaOp y = Parameter(&b, 0, F32Shape({2}), "y");
  Add(x, y);
  EXPECT_TRUE(absl::StrContains(a.first_error().message(), "of another builder, b"));
  EXPECT_TRUE(Add(XlaOp(), XlaOp()).IsUninitialized());
  EXPECT_TRUE(Exp(XlaOp()).IsUninitialized());
  Add(y, XlaOp());
  EXPECT_TRUE(absl::StrContains(b.first_error().message(), "an empty XlaOp"));

  XlaBuilder empty("empty");
  EXPECT_FALSE(empty.Build().ok());
  XlaBuilder gap("gap");
  Parameter(&gap, 1, F32Shape({}), "p");
  EXPECT_TRUE(absl::StrContains(gap.Build().status().message(), "lacks parameter 0"));
  XlaBuilder twice("twice");
  Parameter(&twice, 0, F32Shape({}), "p");
  Parameter(&twice, 0, F32Shape({}), "q");
  EXPECT_TRUE(absl::StrContains(twice.Build().status().message(), "defined twice"));
  XlaBuilder range("range");
  Parameter(&range, int64_t{1} << 60, F32Shape({}), "p");
  EXPECT_FALSE(range.Build().ok());

  XlaBuilder used("used");
  const XlaOp z = Parameter(&used, 0, F32Shape({}), "z");
  EXPECT_TRUE(used.Build().ok());
  EXPECT_FALSE(Neg(z).valid());
  EXPECT_EQ(used.Build().status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(XlaBuilderTest, NamesFitHloText) {
  XlaBuilder b("my computation!");
  Neg(Parameter(&b, 0, F32Shape({}), "an argument"));
  auto built = b.Build();
  ASSERT_TRUE(built.ok());
  EXPECT_TRUE(ParseHloModule(PrintHloModule(*built->module())).ok());
}

// Errors that only the calls themselves can make.
TEST(XlaBuilderTest, MisusedCalls) {
  const Shape vector = ShapeUtil::MakeShape(F32, {4});
  const auto error_of = [&](const std::function<void(XlaBuilder*)>& use) {
    XlaBuilder b("b");
    use(&b);
    return std::string(b.Build().status().message());
  };
  const auto expect = [](const std::string& error, const char* words) {
    EXPECT_TRUE(absl::StrContains(error, words)) << error;
  };
  expect(error_of([&](XlaBuilder* b) { Add(Parameter(b, 0, vector, "x"), XlaOp()); }), "an empty XlaOp");
  expect(error_of([&](XlaBuilder* b) { CrossReplicaSum(Tuple(b, {})); }),
         "cross-replica sum: expected an array or a tuple of some");
  expect(error_of([&](XlaBuilder* b) { Add(Tuple(b, {}), Parameter(b, 0, vector, "x")); }), "expected arrays");
  EXPECT_TRUE(
      absl::StrContains(XlaComputation().GetProgramShape().status().message(), "an empty XlaComputation has no shape"));

  XlaBuilder used("used");
  const XlaOp x = Parameter(&used, 0, vector, "x");
  ASSERT_TRUE(used.Build().ok());
  EXPECT_TRUE(absl::StrContains(used.GetShape(x).status().message(), "builder used has been used up by Build()"));
  EXPECT_TRUE(absl::StrContains(used.Build().status().message(), "used up"));
}

}  // namespace
}  // namespace hilo
