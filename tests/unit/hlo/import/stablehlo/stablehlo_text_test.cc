// StableHLO as text: the forms of its operations, functions, types and resources, and what text that is wrong gives.
#include <random>
#include <tuple>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/file.h"
#include "gtest/gtest.h"
#include "hlo/import/stablehlo/stablehlo_import.h"
#include "hlo/text/hlo_printer.h"

namespace hilo {
namespace {

void ExpectError(absl::string_view bytes, absl::StatusCode code, absl::string_view text) {
  const auto program = ImportStablehlo(bytes);
  ASSERT_FALSE(program.ok());
  EXPECT_EQ(program.status().code(), code) << program.status();
  EXPECT_TRUE(absl::StrContains(program.status().message(), text)) << program.status();
}

// A module with a function of one argument.
std::string Module(absl::string_view body, absl::string_view argument = "tensor<4xf32>",
                   absl::string_view result = "tensor<4xf32>") {
  return absl::StrCat("module {\n  func.func @main(%x: ", argument, ") -> ", result, " {\n", body, "\n  }\n}\n");
}

TEST(StablehloTextTest, BothFormsOfTextGiveTheSameModule) {
  const std::string pretty = Module(R"(
    %c = stablehlo.constant dense<[1.0, 2.5, -0.0, 0x7FC00000]> : tensor<4xf32>
    %s = stablehlo.slice %c [1:4:2] : (tensor<4xf32>) -> tensor<2xf32>
    %p = stablehlo.compare GT, %x, %c, TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1> loc("a name"("file.py":3:4))
    %r = stablehlo.select %p, %x, %c : tensor<4xi1>, tensor<4xf32>
    return %r : tensor<4xf32>)");
  const std::string generic = R"("builtin.module"() ({
  "func.func"() <{function_type = (tensor<4xf32>) -> tensor<4xf32>, sym_name = "main"}> ({
  ^bb0(%x: tensor<4xf32> loc("here")):
    %c = "stablehlo.constant"() <{value = dense<"0x0000803F0000204000000080 0000C07F"> : tensor<4xf32>}> : () -> tensor<4xf32> loc(#loc1)
    %s = "stablehlo.slice"(%c) <{limit_indices = array<i64: 4>, start_indices = array<i64: 1>, strides = array<i64: 2>}> : (tensor<4xf32>) -> tensor<2xf32>
    %p = "stablehlo.compare"(%x, %c) <{compare_type = #stablehlo<comparison_type TOTALORDER>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1> loc(#loc1)
    %r = "stablehlo.select"(%p, %x, %c) : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    "func.return"(%r) : (tensor<4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
#loc1 = loc("a name"("file.py":3:4))
)";
  const auto a = ImportStablehlo(pretty);
  const auto b = ImportStablehlo(absl::StrReplaceAll(generic, {{"80 00", "8000"}}));
  ASSERT_TRUE(a.ok()) << a.status();
  ASSERT_TRUE(b.ok()) << b.status();
  const std::string text = PrintHloModule(*a->module);
  EXPECT_EQ(text, PrintHloModule(*b->module));
  EXPECT_TRUE(absl::StrContains(text, R"(metadata={op_name="a name" source_file="file.py" source_line=3})")) << text;
}

TEST(StablehloTextTest, FunctionsMayStandWithoutAModule) {
  const std::string functions = R"(// Two functions.
func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = stablehlo.add %x, %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = call @twice(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
)";
  ASSERT_TRUE(LooksLikeMlirText(functions));
  const auto bare = ImportStablehlo(functions);
  const auto wrapped = ImportStablehlo(absl::StrCat("module {\n", functions, "}\n"));
  ASSERT_TRUE(bare.ok()) << bare.status();
  ASSERT_TRUE(wrapped.ok()) << wrapped.status();
  EXPECT_EQ(PrintHloModule(*bare->module), PrintHloModule(*wrapped->module));
  EXPECT_TRUE(ImportStablehlo(absl::StrCat(functions, "#loc = loc(unknown)\n")).ok());
  ExpectError(absl::StrCat(functions, "}"), absl::StatusCode::kInvalidArgument, "expected an operation");
  ExpectError(functions.substr(0, functions.size() - 2), absl::StatusCode::kInvalidArgument,
              "expected an operation, got the end");
}

TEST(StablehloTextTest, OperationsThatWereCustomCalls) {
  const auto with = [](absl::string_view erf, absl::string_view top_k) {
    return ImportStablehlo(absl::StrCat(R"(module @m {
  func.func @main(%x: tensor<9xf32>) -> (tensor<3xf32>, tensor<3xi32>) {
    %y = )",
                                        erf, R"( : (tensor<9xf32>) -> tensor<9xf32>
    %z:2 = )",
                                        top_k, R"( : (tensor<9xf32>) -> (tensor<3xf32>, tensor<3xi32>)
    return %z#0, %z#1 : tensor<3xf32>, tensor<3xi32>
  }
}
)"));
  };
  const auto now = with(R"("chlo.erf"(%x))", R"("chlo.top_k"(%y) <{k = 3 : i64}>)");
  const auto then = with(
      "stablehlo.custom_call @mhlo.erf(%x) {mhlo.attributes = {}, mhlo.version = 1 : i64}",
      "stablehlo.custom_call @mhlo.topk(%y) {mhlo.attributes = {k = 3 : i64, largest = true}, mhlo.version = 1 : i64}");
  ASSERT_TRUE(now.ok()) << now.status();
  ASSERT_TRUE(then.ok()) << then.status();
  EXPECT_EQ(PrintHloModule(*now->module), PrintHloModule(*then->module));
  const auto least = with(R"("chlo.erf"(%x))",
                          "stablehlo.custom_call @mhlo.topk(%y) {mhlo.attributes = {k = 3 : i64, largest = false}}");
  ASSERT_TRUE(least.ok()) << least.status();
  EXPECT_TRUE(absl::StrContains(PrintHloModule(*least->module), "k=3, largest=false"));
  const auto wrong = with(R"("chlo.erf"(%x))",
                          "stablehlo.custom_call @mhlo.topk(%y) {mhlo.attributes = {k = 3 : i64, largest = 0 : i64}}");
  EXPECT_TRUE(absl::StrContains(wrong.status().message(), "expected true or false as largest")) << wrong.status();
}

TEST(StablehloTextTest, AliasesOfTypes) {
  const auto text = [](absl::string_view element) {
    const std::string type = absl::StrCat("tensor<4x", element, ">");
    return absl::StrCat("func.func @main(%x: ", type, ") -> ", type, " {\n  %y = stablehlo.abs %x : ", type,
                        "\n  return %y : ", type, "\n}");
  };
  constexpr absl::string_view kQuantized = "!quant.uniform<i8:f32, 0.5:3>";
  const std::string aliased = absl::StrCat("!e = ", kQuantized, "\n", text("!e"));
  EXPECT_TRUE(LooksLikeMlirText(aliased));
  const auto with = ImportStablehlo(aliased), without = ImportStablehlo(text(kQuantized));
  ASSERT_TRUE(with.ok()) << with.status();
  ASSERT_TRUE(without.ok()) << without.status();
  EXPECT_EQ(PrintHloModule(*with->module), PrintHloModule(*without->module));
  ExpectError(absl::StrCat("! = f32\n", text("f32")), absl::StatusCode::kInvalidArgument,
              "expected the name of a type");
  ExpectError(text("!e"), absl::StatusCode::kUnimplemented, "tensor of !e");
}

// #a0 = {x = "0123456789"}, #a1 = {x = #a0, y = #a0} ...: the text of the last doubles with each line.
TEST(StablehloTextTest, AliasesThatDouble) {
  const auto with = [](int lines, absl::string_view use, absl::string_view first = "x = \"0123456789\"") {
    std::string text = absl::StrCat("#a0 = {", first, "}\n");
    for (int i = 1; i <= lines; ++i) absl::StrAppend(&text, "#a", i, " = {x = #a", i - 1, ", y = #a", i - 1, "}\n");
    return absl::StrCat(text, "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %y = ", use, " = #a", lines,
                        "} : (tensor<4xf32>) -> tensor<4xf32>\n  return %y : tensor<4xf32>\n}");
  };
  constexpr absl::string_view kCall = "stablehlo.custom_call @f(%x) {mhlo.backend_config";
  const std::string small = with(3, kCall);
  EXPECT_TRUE(LooksLikeMlirText(small));
  const auto program = ImportStablehlo(small);
  ASSERT_TRUE(program.ok()) << program.status();
  const std::string printed = PrintHloModule(*program->module);
  EXPECT_TRUE(absl::StrContains(printed, "y = {x = {x = \"0123456789\"}, y = {x = \"0123456789\"}}")) << printed;
  ExpectError(with(30, kCall), absl::StatusCode::kResourceExhausted,
              "the dictionaries of custom calls have more text than is supported");
  ExpectError(with(26, kCall, ""), absl::StatusCode::kResourceExhausted, "have more text than is supported");
  // What nothing reads takes no memory, however often it doubles.
  EXPECT_TRUE(ImportStablehlo(with(40, "\"stablehlo.abs\"(%x) {unknown")).ok());
}

// Elements are read again when their type is known.
TEST(StablehloTextTest, ElementsInFrontOfTheirType) {
  const auto text = [](absl::string_view elements, absl::string_view type) {
    return absl::StrCat("func.func @main() -> ", type, " {\n  %c = stablehlo.constant dense<", elements, "> : ", type,
                        "\n  %d = stablehlo.add %c, %c : ", type, "\n  return %d : ", type, "\n}");
  };
  for (const auto& [elements, type, printed] :
       {std::tuple<const char*, const char*, const char*>{"[[1, 2],\n // of which the second\n [3, 0x04]]",
                                                          "tensor<2x2xi32>", "constant({{1,2},{3,4}})"},
        {"[(1.0, 2.0), (-0.5, nan)]", "tensor<2xcomplex<f32>>", "constant({(1,2),(-0.5,nan)})"},
        {"(1.0, -2.0)", "tensor<complex<f32>>", "constant((1,-2))"},
        {"[true, false, true]", "tensor<3xi1>", "constant({1,0,1})"}}) {
    const auto program = ImportStablehlo(text(elements, type));
    ASSERT_TRUE(program.ok()) << program.status();
    const std::string module = PrintHloModule(*program->module);
    EXPECT_TRUE(absl::StrContains(absl::StrReplaceAll(module, {{" ", ""}}), printed)) << module;
  }
  ExpectError(text("[1.0, 2.x]", "tensor<2xf32>"), absl::StatusCode::kInvalidArgument, "2.x");
  ExpectError(text("[1.0, 2.0]", "tensor<3xf32>"), absl::StatusCode::kInvalidArgument,
              "expected 3 elements of f32[3], got 2");
}

TEST(StablehloTextTest, ConstantsFromResources) {
  const auto text = [](absl::string_view value, absl::string_view behind) {
    return absl::StrCat("func.func @main() -> tensor<2xi16> {\n  %c = arith.constant ", value,
                        "\n  return %c : tensor<2xi16>\n}\n", behind);
  };
  constexpr absl::string_view kOfOthers =
      R"({-# external_resources: { mlir_reproducer: { verify: "true" } }, dialect_resources: { other: { a: [1] }, )";
  const auto listed = ImportStablehlo(text("dense<[258, -1]> : tensor<2xi16>", ""));
  ASSERT_TRUE(listed.ok()) << listed.status();
  for (const absl::string_view name : {"a", "\"a b\""}) {
    const auto resource = ImportStablehlo(
        text(absl::StrCat("dense_resource<", name, "> : tensor<2xi16>"),
             absl::StrCat(kOfOthers, "builtin: { z: \"0x00\", ", name, ": \"0x020000000201FFFF\" } } #-}")));
    ASSERT_TRUE(resource.ok()) << resource.status();
    EXPECT_EQ(PrintHloModule(*resource->module), PrintHloModule(*listed->module));
  }
  const std::string user = text("dense_resource<a> : tensor<2xi16>", "");
  ExpectError(user, absl::StatusCode::kInvalidArgument, "there is no resource a");
  for (const auto& [bytes, error] : {std::pair("0x0200", "expected an alignment"),
                                     std::pair("0x020000000201", "resource a has 2 bytes of tensor<2xi16>"),
                                     std::pair("02", "expected 0x and hexadecimal digits")}) {
    ExpectError(absl::StrCat(user, "{-# dialect_resources: { builtin: { a: \"", bytes, "\" } } #-}"),
                absl::StatusCode::kInvalidArgument, error);
  }
  ExpectError(absl::StrCat(user, "{-# dialect_resources: { builtin: { a: \"0x"), absl::StatusCode::kInvalidArgument,
              "");
  ExpectError(absl::StrCat(user, "{-# others: {} #-}"), absl::StatusCode::kInvalidArgument,
              "expected dialect_resources");
}

// Numbers of dimensions by their names are the same as letters in their places.
TEST(StablehloTextTest, DimensionsOfConvolutionsByName) {
  const auto text = [](absl::string_view dimensions) {
    return absl::StrCat(R"(func.func @main(%x: tensor<1x4x4x2xf32>, %k: tensor<3x3x2x5xf32>) -> tensor<1x2x2x5xf32> {
  %y = "stablehlo.convolution"(%x, %k) <{dimension_numbers = #stablehlo.conv<)",
                        dimensions, R"(>, batch_group_count = 1 : i64, feature_group_count = 1 : i64}>
    : (tensor<1x4x4x2xf32>, tensor<3x3x2x5xf32>) -> tensor<1x2x2x5xf32>
  return %y : tensor<1x2x2x5xf32>
})");
  };
  const auto letters = ImportStablehlo(text("[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]"));
  const auto names = ImportStablehlo(text(
      "raw input_batch_dimension = 0, input_feature_dimension = 3, input_spatial_dimensions = [1, 2], "
      "kernel_input_feature_dimension = 2, kernel_output_feature_dimension = 3, kernel_spatial_dimensions = [0, 1], "
      "output_batch_dimension = 0, output_feature_dimension = 3, output_spatial_dimensions = [1, 2]"));
  ASSERT_TRUE(letters.ok()) << letters.status();
  ASSERT_TRUE(names.ok()) << names.status();
  EXPECT_EQ(PrintHloModule(*names->module), PrintHloModule(*letters->module));
}

// What a composite computes is its decomposition, whatever its regions are.
TEST(StablehloTextTest, CompositesWithRegions) {
  const auto text = [](absl::string_view regions) {
    return absl::StrCat(
        "module {\n  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n    %y = stablehlo.composite \"a.b\" %x ",
        regions, R"({decomposition = @d, version = 1 : i32} : (tensor<4xf32>) -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
  func.func private @d(%x: tensor<4xf32>) -> tensor<4xf32> {
    %y = stablehlo.negate %x : tensor<4xf32>
    return %y : tensor<4xf32>
  }
})");
  };
  constexpr absl::string_view kRegion =
      "{\n    ^bb0(%z: tensor<4xf32>):\n      %s = stablehlo.sine %z : tensor<4xf32>\n      stablehlo.return %s : "
      "tensor<4xf32>\n    }";
  const auto without = ImportStablehlo(text(""));
  ASSERT_TRUE(without.ok()) << without.status();
  for (const std::string& regions :
       {absl::StrCat("(", kRegion, ") "), absl::StrCat("(", kRegion, ", ", kRegion, ") ")}) {
    const auto with = ImportStablehlo(text(regions));
    ASSERT_TRUE(with.ok()) << with.status();
    EXPECT_TRUE(absl::StrContains(PrintHloModule(*with->module), "negate"));
    EXPECT_FALSE(absl::StrContains(PrintHloModule(*with->module), "sine"));
  }
}

// The region of an operation that is started may take its operands, or use them.
TEST(StablehloTextTest, RegionsThatAreStarted) {
  const auto text = [](absl::string_view argument, absl::string_view used) {
    return absl::StrCat(
        "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %f = \"stablehlo.async_start\"(%x) ({\n", argument,
        "    %s = stablehlo.sine ", used, R"( : tensor<4xf32>
    "stablehlo.return"(%s) : (tensor<4xf32>) -> ()
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>>
  %y = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<4xf32>>) -> tensor<4xf32>
  return %y : tensor<4xf32>
})");
  };
  const auto taken = ImportStablehlo(text("  ^bb0(%a: tensor<4xf32>):\n", "%a"));
  const auto used = ImportStablehlo(text("", "%x"));
  ASSERT_TRUE(taken.ok()) << taken.status();
  ASSERT_TRUE(used.ok()) << used.status();
  const auto two = ImportStablehlo(R"(func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %f = "stablehlo.async_start"(%x) ({
  ^bb0(%a: tensor<4xf32>):
    %s = stablehlo.sine %a : tensor<4xf32>
    %t = stablehlo.cosine %a : tensor<4xf32>
    "stablehlo.return"(%s, %t) : (tensor<4xf32>, tensor<4xf32>) -> ()
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>, tensor<4xf32>>
  %y:2 = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<4xf32>, tensor<4xf32>>) -> (tensor<4xf32>, tensor<4xf32>)
  %z = stablehlo.add %y#0, %y#1 : tensor<4xf32>
  return %z : tensor<4xf32>
})");
  ASSERT_TRUE(two.ok()) << two.status();
}

// Slice sizes that are no constants are those that the result's type states.
TEST(StablehloTextTest, SliceSizesOfDynamicGathers) {
  const auto text = [](absl::string_view sizes, absl::string_view result) {
    return absl::StrCat("func.func @main(%x: tensor<4x5xf32>, %i: tensor<3x1xi32>, %s: tensor<2xi32>) -> ", result,
                        " {\n", sizes, R"(
  %y = "stablehlo.dynamic_gather"(%x, %i, %t) <{dimension_numbers = #stablehlo.gather<offset_dims = [1],
    collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}>
    : (tensor<4x5xf32>, tensor<3x1xi32>, tensor<2xi32>) -> )",
                        result, "\n  return %y : ", result, "\n}");
  };
  constexpr absl::string_view kUnknown = "  %t = stablehlo.negate %s : tensor<2xi32>",
                              kKnown = "  %t = stablehlo.constant dense<[1, 2]> : tensor<2xi32>";
  const auto unknown = ImportStablehlo(text(kUnknown, "tensor<3x2xf32>"));
  ASSERT_TRUE(unknown.ok()) << unknown.status();
  EXPECT_TRUE(absl::StrContains(PrintHloModule(*unknown->module), "slice_sizes={1,2}"));
  EXPECT_TRUE(ImportStablehlo(text(kKnown, "tensor<3x2xf32>")).ok());
  ExpectError(text(kUnknown, "tensor<3x?xf32>"), absl::StatusCode::kUnimplemented, "slice sizes that are not known");
  ExpectError(text(kUnknown, "tensor<3xf32>"), absl::StatusCode::kInvalidArgument,
              "expected a dimension of f32[3] in offset_dims for dimension 1");
}

// JAX's programs with explicit shardings have such casts between a constant and Shardy's operations on it.
TEST(StablehloTextTest, CastsOfConstantsFromOutsideOfRegions) {
  const auto text = [](absl::string_view outside) {
    return absl::StrCat("func.func @main(%x: tensor<4xf32>, %y: tensor<f32>) -> tensor<4xf32> {\n", outside, R"(
  %c = "builtin.unrealized_conversion_cast"(%b) : (tensor<f32>) -> tensor<f32>
  %r = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %c : tensor<f32>
    %l = stablehlo.compare LT, %s, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %l : tensor<i1>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
})");
  };
  constexpr absl::string_view kCast = "  %b = builtin.unrealized_conversion_cast %a : tensor<f32> to tensor<f32>";
  const auto constant =
      ImportStablehlo(text(absl::StrCat("  %a = stablehlo.constant dense<0.0> : tensor<f32>\n", kCast)));
  EXPECT_TRUE(constant.ok()) << constant.status();
  ExpectError(text(absl::StrCat("  %a = stablehlo.negate %y : tensor<f32>\n", kCast)), absl::StatusCode::kUnimplemented,
              "uses values from outside");
}

TEST(StablehloTextTest, FunctionsOfOpenSizes) {
  const auto text = [](absl::string_view body, absl::string_view others) {
    return absl::StrCat("module {\n  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n", body,
                        "\n    return %x : tensor<4xf32>\n  }\n", others, "}");
  };
  constexpr absl::string_view kCall = "    %y = func.call @f(%x) : (tensor<4xf32>) -> tensor<?xf32>";
  const auto function = [](absl::string_view name, absl::string_view body) {
    return absl::StrCat("  func.func private @", name, "(%x: tensor<?xf32>) -> tensor<?xf32> {\n", body,
                        "\n    return %x : tensor<?xf32>\n  }\n");
  };
  EXPECT_TRUE(ImportStablehlo(text(kCall, function("f", ""))).ok());
  ExpectError(text(kCall, function("f", "    %y = func.call @f(%x) : (tensor<?xf32>) -> tensor<?xf32>")),
              absl::StatusCode::kInvalidArgument, "@f calls itself");
  ExpectError(
      text("    %y = func.call @f(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<?xf32>", function("f", "")),
      absl::StatusCode::kInvalidArgument, "a call with 2 operands of a function of 1 arguments");
  ExpectError(text("    %y = func.call @f(%x) : (tensor<4xf32>) -> tensor<5xf32>", function("f", "")),
              absl::StatusCode::kInvalidArgument, "result 0 is f32[5], but it is f32[4]");
  ExpectError(
      text("    %s = stablehlo.constant dense<5> : tensor<1xi64>\n    %y = stablehlo.custom_call "
           "@stablehlo.shape_refinement_operand_wrapper(%x, %s) : (tensor<4xf32>, tensor<1xi64>) -> tensor<?xf32>",
           ""),
      absl::StatusCode::kInvalidArgument, "the sizes are not those of f32[4]");
  // Each of 40 functions calls the next one twice.
  std::string chain;
  for (int i = 0; i < 40; ++i) {
    const std::string next = absl::StrCat("func.call @f", i + 1, "(%x) : (tensor<?xf32>) -> tensor<?xf32>\n");
    absl::StrAppend(&chain, function(absl::StrCat("f", i), absl::StrCat("    %a = ", next, "    %b = ", next)));
  }
  absl::StrAppend(&chain, function("f40", ""));
  ExpectError(text("    %y = func.call @f0(%x) : (tensor<4xf32>) -> tensor<?xf32>", chain),
              absl::StatusCode::kResourceExhausted, "more than 2000000 instructions");
}

TEST(StablehloTextTest, ErrorsSayWhere) {
  ExpectError(Module("    %y = stablehlo.add %x, %x : ()\n    return %y : tensor<4xf32>"),
              absl::StatusCode::kInvalidArgument, "has 0 results, but 1 names");
  ExpectError(Module("    %y = stablehlo.add %x, %z : tensor<4xf32>"), absl::StatusCode::kInvalidArgument,
              "MLIR text:3:30: %z is not defined\n"
              "    %y = stablehlo.add %x, %z : tensor<4xf32>\n"
              "                             ^");
  ExpectError(Module("    %y = stablehlo.add %x, %x : tensor<5xf32>\n    return %y : tensor<5xf32>", "tensor<4xf32>",
                     "tensor<5xf32>"),
              absl::StatusCode::kInvalidArgument,
              "MLIR text:3:10: the program says that result 0 is f32[5], but it is f32[4]; in stablehlo.add\n"
              "    %y = stablehlo.add %x, %x : tensor<5xf32>\n"
              "         ^");
  ExpectError(Module("    %y = stablehlo.iota dims = 0 : tensor<4xf32>"), absl::StatusCode::kInvalidArgument,
              "'dims' is no word of stablehlo.iota");
  ExpectError(Module("    %y = stablehlo.einsum %x, %x, labels = \"a,a->a\""), absl::StatusCode::kInvalidArgument,
              "'labels' is no word");
  ExpectError(Module("    %y = \"stablehlo.nosuch\"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>\n    "
                     "return %y : tensor<4xf32>"),
              absl::StatusCode::kUnimplemented, "operation stablehlo.nosuch");
  ExpectError(Module("    %y = stablehlo.einsum %x, %x, config = \"aa,a->a\" : (tensor<4xf32>, tensor<4xf32>) -> "
                     "tensor<4xf32>\n    return %y : tensor<4xf32>"),
              absl::StatusCode::kInvalidArgument, "'aa' does not name the dimensions of f32[4]");
  const auto quantized = [](absl::string_view element) {
    const std::string type = absl::StrCat("tensor<4x!quant.", element, ">");
    return Module(absl::StrCat("    %y = stablehlo.abs %x : ", type, "\n    return %y : ", type), type, type);
  };
  ExpectError(quantized("any<i8>"), absl::StatusCode::kUnimplemented, "tensor of !quant.any");
  ExpectError(quantized("uniform<i8:f32:{0:3}, {0.1, 0.2}>"), absl::StatusCode::kInvalidArgument,
              "2 scales for blocks of 3 along dimension 0 of");
  ExpectError(quantized("uniform<i8:f32:{0:0}, {0.1, 0.2}>"), absl::StatusCode::kInvalidArgument, "blocks of 0");
  ExpectError(quantized("uniform<i8:f32:{1:2}, {{0.1, 0.2}}>"), absl::StatusCode::kInvalidArgument,
              "scales along dimension 1 of");
  ExpectError(quantized("uniform<i8:f32:{1:2}, {0.1, 0.2}>"), absl::StatusCode::kInvalidArgument,
              "no list of scales along dimension 1");
  ExpectError(quantized("uniform<i8:f32:{0:2, 0:2}, {0.1, 0.2}>"), absl::StatusCode::kInvalidArgument,
              "two sizes of blocks along dimension 0");
  ExpectError(quantized("uniform<i8:f32:{0:2}, {{0.1, 0.2}, {0.1}}>"), absl::StatusCode::kInvalidArgument,
              "lists of scales of different sizes");
  ExpectError(quantized("uniform<i8:f32:{0:2}, {{0.1, 0.2}, 0.1}>"), absl::StatusCode::kInvalidArgument,
              "expected '{'");
  ExpectError(quantized("uniform<i8:f32:{0:2}, {0.1, 0.2"), absl::StatusCode::kInvalidArgument, "expected '}'");
  ExpectError(quantized("uniform<i8:f32, 0.0>"), absl::StatusCode::kInvalidArgument, "a scale of 0 of f32");
  ExpectError(quantized("uniform<i8:f32, 1e39>"), absl::StatusCode::kInvalidArgument, "a scale of 1e+39 of f32");
  ExpectError(quantized("uniform<i8:f32, 0.1:128>"), absl::StatusCode::kInvalidArgument,
              "a zero point of 128, which is not in [-128, 127]");
  ExpectError(quantized("uniform<i8<-129:127>:f32, 0.1>"), absl::StatusCode::kInvalidArgument,
              "from -129 to 127 in s8");
  ExpectError(quantized("uniform<f32:f32, 0.1>"), absl::StatusCode::kInvalidArgument, "expected integers");
  ExpectError(quantized("uniform<i8:i32, 0.1>"), absl::StatusCode::kInvalidArgument, "expected floats");
  ExpectError(quantized("uniform<i8:f32, {0.1, 0.2}>"), absl::StatusCode::kInvalidArgument, "expected 1 scales, got 2");
  ExpectError(quantized("uniform<i8:f32:0, {0.1, 0.2}>"), absl::StatusCode::kInvalidArgument,
              "2 scales for blocks of 1 along dimension 0 of");
  ExpectError(Module("    return %x : tensor<?xf32>", "tensor<?xf32>", "tensor<?xf32>"),
              absl::StatusCode::kUnimplemented, "tensor<?xf32>");
  ExpectError("module { func.func @main() { func.call @main() : () -> ()\n return } }",
              absl::StatusCode::kInvalidArgument, "@main calls itself");
  // Through another function, and from a region.
  ExpectError(R"(module {
  func.func @main(%x: tensor<4xf32>, %i: tensor<f32>) -> tensor<f32> {
    %y = "stablehlo.reduce"(%x, %i) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = func.call @f(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      stablehlo.return %c : tensor<f32>
    }) {dimensions = array<i64: 0>} : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    return %y : tensor<f32>
  }
  func.func private @f(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
    %c = func.call @g(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    return %c : tensor<f32>
  }
  func.func private @g(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
    %c = func.call @f(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    return %c : tensor<f32>
  }
})",
              absl::StatusCode::kInvalidArgument, "@f calls itself");
  ExpectError(Module("    return %x : tensor<4xf32>\n    return %x : tensor<4xf32>"),
              absl::StatusCode::kInvalidArgument, "operations behind a return");
  ExpectError("module {", absl::StatusCode::kInvalidArgument, "expected an operation, got the end");
}

// What is nested deeply is an error, and what stands in a long row is none.
TEST(StablehloTextTest, DepthIsBoundedAndLengthIsNot) {
  std::string deep = "    ", close, row;
  for (int i = 0; i < 100'000; ++i) {
    deep += "%r = \"stablehlo.if\"(%x) ({ ";
    close += " stablehlo.return %x : tensor<i1> }, { stablehlo.return %x : tensor<i1> }) : (tensor<i1>) -> tensor<i1>";
    absl::StrAppend(&row, "    %", i, " = stablehlo.not %", i == 0 ? "x" : absl::StrCat(i - 1), " : tensor<i1>\n");
  }
  ExpectError(Module(deep + close + " return %r : tensor<i1>", "tensor<i1>", "tensor<i1>"),
              absl::StatusCode::kResourceExhausted, "nested more than");
  EXPECT_TRUE(ImportStablehlo(Module(row + "    return %99999 : tensor<i1>", "tensor<i1>", "tensor<i1>")).ok());
  ExpectError(Module(absl::StrCat("    %c = stablehlo.constant ", std::string(100'000, '['), " : tensor<f32>")),
              absl::StatusCode::kInvalidArgument, "nested too deeply");
  ExpectError(Module(absl::StrCat("    %c = \"stablehlo.constant\"() <{value = ", std::string(100'000, '{'))),
              absl::StatusCode::kInvalidArgument, "expected");
}

TEST(StablehloTextTest, DamagedText_IsRefused) {
  std::mt19937 random(11);
  for (absl::string_view name : {"control_flow", "manual_collectives", "products", "windows"}) {
    const std::string text = ReadFile(absl::StrCat("tests/programs/stablehlo/", name, ".mlir")).value_or("");
    ASSERT_TRUE(ImportStablehlo(text).ok());
    for (int i = 0; i < 500; ++i) {
      std::string damaged = text;
      const size_t at = random() % damaged.size();
      if (i % 2 == 0) damaged[at] = damaged[random() % damaged.size()];
      if (i % 2 == 1) damaged.erase(at, random() % 20);
      const auto program = ImportStablehlo(damaged);
      EXPECT_NE(program.status().code(), absl::StatusCode::kInternal) << program.status();
    }
    for (size_t size = 0; size + 4 < text.size(); size += 37)
      EXPECT_FALSE(ImportStablehlo(absl::string_view(text).substr(0, size)).ok());
  }
}

// Of elements with their numbers; of others all are sorted.
TEST(StablehloTextTest, ApproximateSearches_AreTopK) {
  std::string program = ReadFile("tests/programs/stablehlo/library_calls.mlir").value_or("");
  const auto count = [&](absl::string_view op) {
    const auto imported = ImportStablehlo(program);
    return imported.ok()
               ? std::vector<absl::string_view>(absl::StrSplit(PrintHloModule(*imported->module), op)).size() - 1
               : 0;
  };
  EXPECT_EQ(count(" topk("), 2);
  EXPECT_EQ(count(" sort("), 0);
  ASSERT_EQ(absl::StrReplaceAll({{"%21 = stablehlo.iota dim = 1", "%21 = stablehlo.iota dim = 0"}}, &program), 1);
  EXPECT_EQ(count(" topk("), 1);
  EXPECT_EQ(count(" sort("), 1);
  ASSERT_EQ(absl::StrReplaceAll({{"compare LT, %arg0, %arg1", "compare LT, %arg1, %arg0"}}, &program), 1);
  EXPECT_EQ(count(" topk("), 0);
  EXPECT_EQ(count(" sort("), 2);
}

TEST(StablehloTextTest, TypedCustomCallsAndLayouts) {
  const auto program = ImportStablehlo(Module(R"(
    %y = stablehlo.custom_call @f(%x) {backend_config = "", has_side_effect = true, mhlo.backend_config = {a = 3 : i64, "b c" = "t\22", d = dense<[1, 2]> : tensor<2xi32>, e = true, g = 2.5 : f32},
         operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>],
         result_layouts = [dense<[0, 1]> : tensor<2xindex>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    return %y : tensor<2x3xf32>)",
                                              "tensor<2x3xf32>", "tensor<2x3xf32>"));
  ASSERT_TRUE(program.ok()) << program.status();
  const std::string text = PrintHloModule(*program->module);
  EXPECT_TRUE(absl::StrContains(
      text,
      "f32[2,3]{0,1} custom-call(arg0), custom_call_target=\"f\", operand_layout_constraints={f32[2,3]{0,1}}, "
      "custom_call_has_side_effect=true, output_to_operand_aliasing={{}: (0, {})}, api_version=API_VERSION_TYPED_FFI, "
      "backend_config={a = 3 : i64, \"b c\" = \"t\\22\", d = dense<[1, 2]> : tensor<2xi32>, e = true, g = 2.5 : f32}"))
      << text;
}

}  // namespace
}  // namespace hilo
