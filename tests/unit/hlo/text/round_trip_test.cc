// parse(print(m)) == m, over the forms of HLO text that other programs write.
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "hlo/text/hlo_parser.h"
#include "hlo/text/hlo_printer.h"

namespace hilo {
namespace {

// Parses, prints in the canonical and the full form, parses both again and expects the same text.
// Returns the canonical text.
std::string RoundTrip(absl::string_view text, bool verify = true) {
  const ParseOptions options = {.file_name = "test.hlo", .verify = verify};
  auto module = ParseHloModule(text, options);
  EXPECT_TRUE(module.ok()) << module.status().message();
  if (!module.ok()) return "";
  const std::string canonical = PrintHloModule(**module);
  for (const PrintOptions& form : {PrintOptions(), PrintOptions::Full()}) {
    const std::string printed = PrintHloModule(**module, form);
    auto again = ParseHloModule(printed, options);
    EXPECT_TRUE(again.ok()) << again.status().message() << "\n" << printed;
    if (again.ok()) {
      EXPECT_EQ(PrintHloModule(**again), canonical);
    }
  }
  return canonical;
}

// A module of one instruction, on parameters that most attributes can go with, which need not be
// verified.
std::string Instruction(absl::string_view instruction) {
  return absl::StrCat(
      "HloModule m\n\nadd {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] "
      "add(a, b)\n}\n\n",
      "ENTRY main {\n  x = f32[4,4] parameter(0)\n  y = f32[] parameter(1)\n  ROOT r = ", instruction, "\n}\n");
}

TEST(RoundTripTest, ProgramsFromJax) {
  int files = 0;
  for (const char* folder : {"tests/programs", "examples"}) {
    std::error_code missing;  // leaves nothing to iterate over
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, missing)) {
      if (entry.path().extension() != ".hlo") continue;
      std::ifstream file(entry.path());
      std::stringstream text;
      text << file.rdbuf();
      SCOPED_TRACE(entry.path().string());
      // Test files hold several modules, with a line between them.
      const std::string all = text.str();
      for (absl::string_view module : absl::StrSplit(all, "\n// ----")) {
        module.remove_prefix(module.find("HloModule"));
        RoundTrip(module, /*verify=*/false);
      }
      ++files;
    }
  }
  EXPECT_GT(files, 0);
}

TEST(RoundTripTest, ShortFormIsCanonical) {
  const std::string text =
      "HloModule square\n\nENTRY main {\n  x = f32[3] parameter(0)\n  ROOT y = f32[3] multiply(x, "
      "x)\n}\n";
  EXPECT_EQ(RoundTrip(text), text);
}

TEST(RoundTripTest, OneLine) {
  EXPECT_EQ(RoundTrip("HloModule m ENTRY e { x = f32[3] parameter(0) ROOT y = f32[3] negate(x) }"),
            "HloModule m\n\nENTRY e {\n  x = f32[3] parameter(0)\n  ROOT y = f32[3] negate(x)\n}\n");
}

TEST(RoundTripTest, FullForm) {
  const std::string text =
      R"(HloModule jit_f, is_scheduled=true, entry_computation_layout={(f32[2]{0}, /*index=1*/s32[])->(f32[2]{0}, s32[])}

%region_0.1_spmd (Arg_0.2: f32[], Arg_1.3: f32[]) -> f32[] {
  %Arg_0.2 = f32[] parameter(0), metadata={op_name="a"}
  %Arg_1.3 = f32[] parameter(1)
  ROOT %add.4 = f32[] add(f32[] %Arg_0.2, f32[] %Arg_1.3), metadata={op_type="add" op_name="jit(f)/add \"{(" source_file="/a/b.py" source_line=3 source_end_line=3 stack_frame_id=1}
}

ENTRY %main.1 (Arg_0.1: f32[2], x: s32[]) -> (f32[2], s32[]) {
  %Arg_0.1 = f32[2]{0} parameter(0), sharding={replicated}
  %x = s32[] parameter(1)
  %zero = f32[] constant(0)
  %sum = f32[] reduce(f32[2]{0} %Arg_0.1, f32[] %zero), dimensions={0}, to_apply=%region_0.1_spmd
  %negate-start = f32[2]{0} broadcast(f32[] %sum), dimensions={}
  ROOT %tuple.1 = (f32[2]{0}, s32[]) tuple(f32[2]{0} %negate-start, /*index=1*/s32[] %x)
}, execution_thread="main"
)";
  const std::string canonical = RoundTrip(text);
  EXPECT_TRUE(absl::StrContains(canonical, "is_scheduled=true"));
  EXPECT_TRUE(absl::StrContains(canonical, "op_name=\"jit(f)/add \\\"{(\""));
  EXPECT_TRUE(absl::StrContains(canonical, "source_end_line=3 stack_frame_id=1"));
  EXPECT_TRUE(absl::StrContains(canonical, "sharding={replicated}"));
  EXPECT_TRUE(absl::StrContains(canonical, "dimensions={0}, to_apply=region_0.1_spmd"));
}

TEST(RoundTripTest, Header) {
  const std::string text =
      R"(HloModule m, input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {0}, must-alias) }, buffer_donor={ (1, {1}) }, entry_computation_layout={(f32[2,3]{0,1}, (s32[], s32[]))->(f32[2,3]{1,0}, s32[])}, replica_count=2, num_partitions=4, allow_spmd_sharding_propagation_to_parameters={true,false}, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["i"=4]>}}

FileNames
1 "/tmp/a.py"
2 "b \"c\".py"

StackFrames
1 {file_location_id=1 parent_frame_id=1}

ENTRY main {
  x = f32[2,3] parameter(0)
  p = (s32[], s32[]) parameter(1)
  q = s32[] get-tuple-element(p), index=1
  ROOT r = (f32[2,3], s32[]) tuple(x, q)
}
)";
  EXPECT_EQ(RoundTrip(text), text);
}

TEST(RoundTripTest, CommentsAnywhere) {
  EXPECT_EQ(RoundTrip("// head {\nHloModule /* a */ m // b }\nENTRY e { // (\n /*i*/ x /*=*/ = "
                      "f32[2,/*2*/2] constant({ /*i0=0*/ { 1, 2 }, "
                      "// row\n{3,4} }), /*index=5*/ sharding={replicated} // end\n }"),
            "HloModule m\n\nENTRY e {\n  ROOT x = f32[2,2] constant({ { 1, 2 }, { 3, 4 } }), "
            "sharding={replicated}\n}\n");
}

TEST(RoundTripTest, ComputationsAfterTheirUse) {
  const std::string canonical = RoundTrip(
      "HloModule m\nENTRY e { p = f32[] parameter(0) ROOT c = f32[] call(p), to_apply=%g }\n"
      "g { q = f32[] parameter(0) ROOT n = f32[] negate(q) }");
  EXPECT_LT(canonical.find("g {"), canonical.find("ENTRY e {"));
}

TEST(RoundTripTest, ControlFlowRoles) {
  const std::string text = R"(HloModule m

body {
  b = s32[] parameter(0)
  one = s32[] constant(1)
  ROOT next = s32[] add(b, one)
}

cond {
  c = s32[] parameter(0)
  ten = s32[] constant(10)
  ROOT less = pred[] compare(c, ten), direction=LT
}

ENTRY main {
  x = s32[] parameter(0)
  p = pred[] parameter(1)
  loop = s32[] while(x), condition=cond, body=body
  either = s32[] conditional(p, loop, x), true_computation=body, false_computation=body
  ROOT one.1 = s32[] conditional(either, x, x, x), branch_computations={body, body, body}, control-predecessors={loop}
}
)";
  const std::string canonical = RoundTrip(text);
  EXPECT_TRUE(absl::StrContains(canonical, "condition=cond, body=body"));
  EXPECT_TRUE(absl::StrContains(canonical, "true_computation=body, false_computation=body"));
  EXPECT_TRUE(absl::StrContains(canonical, "branch_computations={body, body, body}, control-predecessors={loop}"));
}

TEST(RoundTripTest, PredConditionalWithBranchList) {
  EXPECT_TRUE(absl::StrContains(RoundTrip("HloModule m\nf { a = f32[] parameter(0) }\ng { b = f32[] parameter(0) }\n"
                                          "ENTRY e { p = pred[] parameter(0) x = f32[] parameter(1) "
                                          "ROOT c = f32[] conditional(p, x, x), branch_computations={%f, %g} }"),
                                "true_computation=f, false_computation=g"));
}

TEST(RoundTripTest, CompositeCall) {
  const std::string attributes =
      R"(is_composite=true, to_apply=add, frontend_attributes={composite.attributes={n = 2 : i64},composite.name="a.b",composite.version="1"})";
  EXPECT_TRUE(absl::StrContains(RoundTrip(Instruction(absl::StrCat("f32[] call(y, y), ", attributes))), attributes));
}

TEST(RoundTripTest, WithoutEntryTheUncalledComputationIsIt) {
  EXPECT_TRUE(absl::StrContains(RoundTrip("HloModule m\nf { a = f32[] parameter(0) ROOT n = f32[] negate(a) }\n"
                                          "g { b = f32[] parameter(0) ROOT c = f32[] call(b), to_apply=f }"),
                                "ENTRY g"));
}

TEST(RoundTripTest, SharedNamesBecomeUnique) {
  const std::string canonical = RoundTrip(
      "HloModule m\nf { x = f32[] parameter(0) ROOT n = f32[] negate(x) }\n"
      "ENTRY e { x = f32[] parameter(0) n = f32[] negate(x) ROOT c = f32[] call(n), to_apply=f }");
  EXPECT_TRUE(absl::StrContains(canonical, "x.1 = f32[] parameter(0)"));
  EXPECT_TRUE(absl::StrContains(canonical, "n.1 = f32[] negate(x.1)"));
}

TEST(RoundTripTest, NamesLikeKeywordsAndOpcodes) {
  RoundTrip(
      "HloModule HloModule\nENTRY ENTRY { ROOT = f32[] parameter(0) add = f32[] add(ROOT, ROOT) "
      "ROOT ROOT.1 = f32[] negate(add) }");
}

TEST(RoundTripTest, ParametersInAnyOrder) {
  EXPECT_EQ(RoundTrip("HloModule m ENTRY e { b = f32[] parameter(1) a = s32[] parameter(0) ROOT n "
                      "= f32[] negate(b) }"),
            "HloModule m\n\nENTRY e {\n  a = s32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT "
            "n = f32[] negate(b)\n}\n");
}

TEST(RoundTripTest, ScheduledTextKeepsItsOrder) {
  const std::string text =
      "HloModule m, is_scheduled=true\n\nENTRY e {\n  a = f32[] parameter(0)\n  n = f32[] "
      "negate(a)\n  b = f32[] "
      "parameter(1)\n  ROOT r = f32[] add(n, b)\n}\n";
  EXPECT_EQ(RoundTrip(text), text);
}

TEST(RoundTripTest, StartsByTheNameOfTheirOp) {
  const std::string canonical = RoundTrip(
      "HloModule m\nadd { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }\n"
      "async_wrapped { x = f32[4] parameter(0) ROOT n = f32[4] negate(x) }\n"
      "ENTRY e { x = f32[4] parameter(0) m = f32[4] call(x), to_apply=async_wrapped\n"
      "s = ((f32[4]), f32[2], u32[]) reduce-scatter-start(m), channel_id=3, "
      "replica_groups=[1,2]<=[2], dimensions={0}, to_apply=add, async_execution_thread=\"t\", "
      "metadata={op_name=\"n\"}\n"
      "ROOT d = f32[2] reduce-scatter-done(s) }");
  EXPECT_TRUE(absl::StrContains(canonical,
                                "s = ((f32[4]), f32[2], u32[]) async-start(m), async_execution_thread=\"t\", "
                                "calls=async_wrapped.1, metadata={op_name=\"n\"}"))
      << canonical;
  EXPECT_TRUE(absl::StrContains(canonical,
                                "reduce-scatter(wrapped_parameter.0), channel_id=3, "
                                "replica_groups=[1,2]<=[2], dimensions={0}, to_apply=add"))
      << canonical;
}

TEST(RoundTripTest, StartsAreNoEntry) {
  RoundTrip(
      "HloModule m\ne { x = f32[4] parameter(0) s = ((f32[4]), f32[4]) negate-start(x) "
      "ROOT d = f32[4] negate-done(s) }");
}

struct Form {
  const char* instruction;
  bool verifies = false;  // ops that Hilo knows by name only, and attributes that do not fit x, are
                          // read all the same
};

class AttributeFormTest : public testing::TestWithParam<Form> {};

TEST_P(AttributeFormTest, IsPrintedAsItWasWritten) {
  EXPECT_TRUE(absl::StrContains(RoundTrip(Instruction(GetParam().instruction), GetParam().verifies),
                                absl::StrCat("r = ", GetParam().instruction, "\n")));
}

INSTANTIATE_TEST_SUITE_P(
    All, AttributeFormTest,
    testing::Values(
        Form{"f32[2,2] slice(x), slice={[0:3:2], [2:4]}", true},
        Form{"f32[1,4] dynamic-slice(x, y), dynamic_slice_sizes={1,4}"}, Form{"f32[3,6] pad(x, y), padding=-2_1x0_0_1"},
        Form{"f32[4,4] transpose(x), dimensions={1,0}", true},
        Form{"pred[4,4] compare(x, x), direction=LT, type=TOTALORDER", true},
        Form{"pred[4,4] compare(x, x), direction=NE", true},
        Form{"f32[2,2] reduce-window(x, y), window={size=2x2 stride=2x2}, to_apply=add", true},
        Form{"f32[4,4] reduce-window(x, y), window={size=3x3 pad=1_1x1_1}, to_apply=add", true},
        Form{"f32[4,4] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}, "
             "operand_precision={high,highest}",
             true},
        Form{"f32[4,4] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}, "
             "algorithm=dot_tf32_tf32_f32",
             true},
        Form{"f32[4,4] dot(x, x), lhs_batch_dims={0}, lhs_contracting_dims={1}, "
             "rhs_batch_dims={0}, rhs_contracting_dims={1}"},
        Form{"f32[4,4] reduce-precision(x), exponent_bits=5, mantissa_bits=10", true},
        Form{"s32[4] iota(), iota_dimension=0", true}, Form{"f32[] get-tuple-element(x), index=0"},
        Form{"f32[4,4] convolution(x, x), window={size=3x3 stride=2x1 pad=1_1x2_0 lhs_dilate=2x2 "
             "rhs_dilate=1x2 "
             "rhs_reversal=0x1}, dim_labels=f01b_i01o->01bf, feature_group_count=2"},
        Form{"c64[4] fft(x), fft_type=RFFT, fft_length={8}"}, Form{"f32[4] rng(y, y), distribution=rng_uniform"},
        Form{"(u64[2], u32[4]) rng-bit-generator(x), algorithm=rng_philox"},
        Form{"f32[4,4] triangular-solve(x, x), left_side=true, lower=true, "
             "transpose_a=TRANSPOSE"},
        Form{"(f32[4,3], s32[4,3]) topk(x), k=3, largest=true"},
        Form{"f32[4] batch-norm-inference(x, y, y, y, y), epsilon=0.001, feature_index=3"},
        Form{"f32[4,4] sort(x), dimensions={0}, is_stable=true, to_apply=add"},
        Form{"f32[4,4] fusion(x), kind=kLoop, calls=add"},
        Form{"f32[4,4] all-reduce(x), channel_id=1, replica_groups={{0,1},{2}}, "
             "use_global_device_ids=true, to_apply=add"},
        Form{"f32[4,4] all-reduce(x), replica_groups={}, to_apply=add"},
        Form{"f32[4,4] all-reduce(x), replica_groups=[2,4]<=[8], to_apply=add"},
        Form{"f32[4,4] all-reduce(x), replica_groups=[2,4]<=[4,2]T(1,0), "
             "constrain_layout=true, to_apply=add"},
        Form{"f32[4,4] all-reduce(x), channel_id=2, replica_groups=mesh['a'=2,'b'=2] {'a'}, "
             "to_apply=add"},
        Form{"f32[4,4] all-reduce(x), channel_id=2, replica_groups=mesh['a'=2,'b'=2], "
             "device_ids=([2,2]T(1,0)) {'b'}, to_apply=add"},
        Form{"f32[4,4] all-to-all(x), replica_groups={{0,1}}, split_dimension=1"},
        Form{"f32[4,4] collective-permute(x), source_target_pairs={{0,1},{1,0}}"},
        Form{"((f32[4,4]), f32[4,4]) async-start(x), async_execution_thread=\"x\", calls=add"},
        Form{"f32[4,4] negate(x), sharding={devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}", true},
        Form{"f32[4,4] negate(x), sharding={{replicated}, {maximal device=0}, {manual}}", true},
        Form{"f32[4,4] negate(x), origin={{\"w\"}}, statistics={visualizing_index=1}", true},
        Form{"f32[4,4] negate(x), frontend_attributes={a=it's,url=http://x/y}", true},
        Form{"f32[] custom-call(x), window={size=3x3}, dim_labels=b01f_01io->b01f, feature_group_count=2, "
             "batch_group_count=3, padding_type=PADDING_SAME, custom_call_target=\"a\\\"b\", "
             "operand_layout_constraints={f32[4,4]{1,0}}, custom_call_has_side_effect=true, literal=s32[] 5, "
             "output_to_operand_aliasing={{}: (1, {})}, schedule=SCHEDULE_LATEST, "
             "api_version=API_VERSION_TYPED_FFI, backend_config={uplo = 76 : ui8}, "
             "called_computations={add, add}"},
        Form{"(f32[4,4], f32[4,4]) custom-call(x), custom_call_target=\"a\", "
             "operand_layout_constraints={f32[4,4]{1,0}}, output_to_operand_aliasing={{1}: (0, {})}",
             true},
        Form{"f32[4,4] custom-call(x), custom_call_target=\"a\", signature={(f32[4,4]{0,1})->f32[4,4]{0,1}}", true},
        Form{"f32[4,4] custom-call(x), custom_call_target=\"a\", backend_config=\"{x // }\"", true},
        Form{"f32[4,4] custom-call(x), custom_call_target=\"a\", backend_config=\"{\\\"}\"", true},
        Form{"f32[4,4] custom-call(x), custom_call_target=\"a\", backend_config=\"{}{}\"", true},
        Form{"f32[] custom-call(x), custom_call_target=\"a\", backend_config=\"[x=1}\""},
        Form{"f32[] custom-call(x), custom_call_target=\"a\", "
             "backend_config={\"k\":[1,{\"b\":\"}\"}]}"}));

class ConstantFormTest : public testing::TestWithParam<const char*> {};

TEST_P(ConstantFormTest, IsPrintedAsItWasWritten) {
  EXPECT_TRUE(absl::StrContains(RoundTrip(Instruction(GetParam())), absl::StrCat("r = ", GetParam(), "\n")));
}

INSTANTIATE_TEST_SUITE_P(All, ConstantFormTest,
                         testing::Values("f32[2,2] constant({ { 1, 2 }, { 3, 4 } })", "f32[2,0] constant({ {}, {} })",
                                         "f32[4] constant({nan, inf, -inf, -0})", "c64[] constant((1.5, -2.5))",
                                         "pred[2] constant({1, 0})", "pred[] constant(true)", "s8[] constant(-128)",
                                         "f64[] constant(5e-324)"));

TEST(RoundTripTest, ShapesWithLayouts) {
  for (absl::string_view shape : {"f32[4,3]{0,1}", "f32[2,3,4]{2,0,1}", "f32[16,128]{1,0:T(8,128)}", "f32[4]{0:S(1)}",
                                  "s4[8]{0:E(4)}", "f32[<=8]", "(f32[2]{0}, (s32[], token[]))", "()"}) {
    RoundTrip(absl::StrCat("HloModule m ENTRY e { ROOT x = ", shape, " parameter(0) }"));
  }
}

TEST(RoundTripTest, MetadataWithoutAComma) {
  EXPECT_TRUE(
      absl::StrContains(RoundTrip(Instruction("f32[4,4] negate(x), sharding={replicated} metadata={op_name=\"n\"}")),
                        "sharding={replicated}, metadata={op_name=\"n\"}"));
}

TEST(PrinterTest, ShortFormLeavesOutWhatReadersSkip) {
  auto module = ParseHloModule(
      "HloModule m ENTRY e { c = f32[20] "
      "constant({1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20}) "
      "ROOT n = f32[20]{0} negate(c), metadata={op_name=\"n\"} }");
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(PrintHloModule(**module, PrintOptions::Short()),
            "HloModule m\n\nENTRY e {\n  c = f32[20] constant({...})\n  ROOT n = f32[20] negate(c)\n}\n");
}

}  // namespace
}  // namespace hilo
