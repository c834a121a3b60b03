// text -> proto -> module -> text.
#include "hlo/import/hlo_proto.h"

#include <algorithm>
#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/file.h"
#include "gtest/gtest.h"
#include "hilo/module.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/text/hlo_parser.h"
#include "hlo/text/hlo_printer.h"

namespace hilo {
namespace {

// Every array has a layout, and a comparison's type that its operands have anyhow is left out, as in XLA's text.
void Normalize(HloModule* module) {
  for (HloComputation* computation : module->computations()) {
    for (HloInstruction* instruction : computation->instructions()) {
      ShapeUtil::AddMissingLayouts(instruction->mutable_shape());
      if (instruction->opcode() != HloOpcode::kCompare) continue;
      CompareAttrs& attributes = instruction->mutable_attrs<CompareAttrs>();
      if (attributes.type != ComparisonType::kTotalOrder) attributes.type = ComparisonType::kDefault;
    }
  }
}

// Kernels are results of compilation and have no field.
std::string WithoutKernels(std::string text) {
  for (size_t at = text.find(", kernel={"); at != std::string::npos; at = text.find(", kernel={", at))
    text.erase(at, text.find("\"}", at) + 2 - at);
  return text;
}

// The text of `module` with what the proto adds, the layout of the entry, and without what it has no room for.
std::string ComparableText(HloModule* module) {
  Normalize(module);
  ProgramShape entry = module->EntryProgramShape();
  for (Shape& parameter : entry.parameters) ShapeUtil::AddMissingLayouts(&parameter);
  ShapeUtil::AddMissingLayouts(&entry.result);
  module->set_entry_computation_layout(std::move(entry));
  auto& header = module->extra_attributes();
  header.erase(std::remove_if(header.begin(), header.end(),
                              [](const auto& attribute) {
                                return absl::StartsWith(attribute.first, "allow_spmd_sharding") ||
                                       attribute.second.empty();
                              }),
               header.end());
  return WithoutKernels(PrintHloModule(*module));
}

// Expects the module to be the same after a way through its proto.
void ExpectRoundTrip(HloModule* module) {
  auto bytes = HloModuleToProto(*module);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  EXPECT_TRUE(LooksLikeHloProto(*bytes));
  auto again = HloModuleFromProto(*bytes, {.verify = false});
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(ComparableText(again->get()), ComparableText(module));
  bytes = HloModuleToProto(*module);
  auto bytes_again = HloModuleToProto(**again);
  ASSERT_TRUE(bytes_again.ok()) << bytes_again.status();
  EXPECT_TRUE(*bytes_again == *bytes);
}

std::unique_ptr<HloModule> ParsedModule(absl::string_view text, bool verify = false) {
  auto module = ParseHloModule(text, {.verify = verify});
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() ? *std::move(module) : nullptr;
}

void ExpectTextRoundTrip(absl::string_view text) {
  SCOPED_TRACE(text);
  if (auto module = ParsedModule(text)) ExpectRoundTrip(module.get());
}

TEST(HloProtoTest, AllModulesOfTheTests) {
  int modules = 0;
  for (const char* folder : {"tests/ops", "tests/programs", "tests/passes", "tests/codegen", "examples"}) {
    std::error_code missing;  // leaves nothing to iterate over
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, missing)) {
      if (entry.path().extension() != ".hlo") continue;
      const auto all = ReadFile(entry.path().string());
      ASSERT_TRUE(all.ok());
      SCOPED_TRACE(entry.path().string());
      for (absl::string_view text : absl::StrSplit(*all, "\n// ----")) {
        // Modules that are wrong on purpose may say what no proto can.
        const size_t begin = text.find("HloModule");
        if (begin == absl::string_view::npos || absl::StrContains(text, "// error:")) continue;
        auto module = ParseHloModule(text.substr(begin), {.verify = false});
        if (!module.ok()) continue;
        ++modules;
        ExpectRoundTrip(module->get());
      }
    }
  }
  EXPECT_GT(modules, 200);
}

TEST(HloProtoTest, ChannelsAreNotZero) {
  const auto module = ParsedModule(
      "HloModule m\nENTRY main { x = f32[2] parameter(0)  ROOT c = f32[2] collective-permute(x), channel_id=0, "
      "source_target_pairs={{0,0}} }");
  ASSERT_NE(module, nullptr);
  const absl::Status status = HloModuleToProto(*module).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_TRUE(absl::StrContains(status.message(), "no channel_id of 0, as collective-permute has")) << status;
}

TEST(HloProtoTest, ConstantsWithDynamicDimensionsAreAtTheirBounds) {
  ExpectTextRoundTrip("HloModule m\nENTRY main { ROOT c = f32[2,<=3] constant({{1,2,3},{4,5,6}}) }");
  const auto smaller = ParsedModule("HloModule m\nENTRY main { ROOT c = f32[<=4] constant((2) {1,2}) }");
  ASSERT_NE(smaller, nullptr);
  const absl::Status status = HloModuleToProto(*smaller).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_TRUE(absl::StrContains(status.message(), "sizes of dynamic dimensions, as in a literal of f32[<=4]"))
      << status;
}

// A module of one instruction, which need not be verified.
std::string Instruction(absl::string_view instruction) {
  return absl::StrCat(
      "HloModule m\n\nadd {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n}\n\n",
      "ENTRY main {\n  x = f32[4,4] parameter(0)\n  y = f32[] parameter(1)\n  t = token[] after-all()\n  ROOT r = ",
      instruction, "\n}\n");
}

TEST(HloProtoTest, Attributes) {
  for (const char* instruction : {
           "f32[4,4] all-reduce(x), channel_id=1, replica_groups=[2,4]<=[4,2]T(1,0), use_global_device_ids=true, "
           "to_apply=add",
           "f32[4,4] all-reduce(x), replica_groups=[1,8]<=[8], to_apply=add",
           "f32[4,4] all-reduce(x), replica_groups={{0,1},{2}}, to_apply=add",
           "f32[4,4] all-reduce(x), replica_groups={}, to_apply=add",
           "f32[4,4] all-reduce(x), constrain_layout=true, to_apply=add",
           "f32[4,4] reduce-scatter(x), replica_groups={{0}}, dimensions={1}, to_apply=add",
           "f32[8,4] all-gather(x), replica_groups={{0,1}}, dimensions={0}",
           "f32[4,4] all-to-all(x), replica_groups={{0,1}}, dimensions={0}",
           "f32[4,4] collective-permute(x, x, x, x), source_target_pairs={{0,1}}, slice_sizes={{1,2},{3,4}}",
           "f32[4,4] collective-permute(x), channel_id=3, source_target_pairs={{0,1},{1,0}}",
           "f32[4,4] custom-call(x, y), window={size=3x3 pad=1_1x1_1}, dim_labels=01bf_01io->01bf, "
           "feature_group_count=2, "
           "padding_type=PADDING_VALID, custom_call_target=\"f \\\"q\\\"\", operand_layout_constraints={f32[4,4]{1,0}, "
           "f32[]}, "
           "custom_call_has_side_effect=true, schedule=SCHEDULE_LATEST, api_version=API_VERSION_TYPED_FFI, "
           "backend_config={uplo = 76 : ui8}",
           "f32[4,4] custom-call(x), custom_call_target=\"f\", literal=s32[2]{0} {1, 2}, "
           "output_to_operand_aliasing={{}: (0, {})}, "
           "called_computations={add}, backend_config=\"a\\nb\"",
           "f32[4,4] custom-call(x), custom_call_target=\"f\", signature={(f32[4,4]{0,1})->f32[4,4]{0,1}}",
           "f32[4,4] custom-call(x), custom_call_target=\"f\", signature={(f32[4,4]{0,1})->f32[4,4]{1,0}}, "
           "frontend_attributes={a=\"b\",c={x = 1}}",
           "f32[4,4] custom-call(x), custom_call_target=\"f\", operand_precision={high}, "
           "output_to_operand_aliasing={{0}: (0, {}), {1,2}: (1, {3})}",
           "f32[4,4] copy(x), frontend_attributes={a=\"b\",c={x = 1},d=\"\\\"\"}, "
           "statistics={visualizing_index=1,a=1.5,b=2}, "
           "backend_config={\"outer\":[\"a\",\"{\"]}",
           "f32[4,4] exponential(x), result_accuracy={mode=highest}",
           "f32[4,4] exponential(x), result_accuracy={tolerance={atol=0.1,rtol=0.2,ulps=3}}",
           "f32[4,4] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}, operand_precision={high,default}, "
           "algorithm=dot_bf16_bf16_f32_x3",
           "f32[4,4] dot(x, x), lhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_batch_dims={0}, "
           "rhs_contracting_dims={1}",
           "token[] outfeed(y, t), outfeed_config=\"abc\"",
           "(f32[4], token[]) infeed(t), infeed_config=\"abc\"",
           "(f32[4,4], u32[], token[]) send(x, t), channel_id=2, is_host_transfer=true",
           "f32[4,4] domain(x), domain={kind=\"sharding\", entry={maximal device=0}, exit={maximal device=1}}",
           "(f32[4,4], f32[4,4], u32[]) copy-start(x), cross_program_prefetch_index=0",
           "(f32[4,1], s32[4,1]) topk(x), k=1, largest=true",
           "f32[4,3] pad(x, y), padding=0_0_0x-1_0",
           "f32[4,6] pad(x, y), padding=0_0_0x-1_0_1",
           "f32[4,4] batch-norm-inference(x, x, x, x, x), epsilon=0.001, feature_index=1",
           "f32[4,4] convolution(x, x), dim_labels=bf_io->bf",
           "f32[4,4] convolution(x, x), window={size=3 stride=2 pad=1_-1 lhs_dilate=2 rhs_dilate=3 rhs_reversal=1}, "
           "dim_labels=b0f_0io->fb0, "
           "feature_group_count=2, batch_group_count=3, operand_precision={highest,default}",
           "f32[4,4] triangular-solve(x, x), left_side=true, lower=true, unit_diagonal=true, transpose_a=ADJOINT",
           "f32[4,4] triangular-solve(x, x), lower=true",
           "f32[4,4] cholesky(x), lower=true",
           "c64[4,3] fft(x), fft_type=RFFT, fft_length={4}",
           "f32[4] rng(y, y), distribution=rng_uniform",
           "u64[2] rng-get-and-update-state(), delta=4096",
           "(u64[2], u32[4]) rng-bit-generator(x), algorithm=rng_philox",
           "f32[4,4] select-and-scatter(x, x, y), window={size=2x2 stride=2x2}, select=add, scatter=add",
           "f32[2,2] reduce-window(x, y), window={size=2x2 stride=2x2}, to_apply=add",
           "f32[4,4] ragged-dot(x, x, x), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, "
           "rhs_group_dims={0}",
           "f32[4,4] fusion(x), kind=kCustom, calls=add, output_to_operand_aliasing={{}: (0, {})}",
           "f32[4,4] call(x), is_composite=true, to_apply=add, frontend_attributes={composite.name=\"a.b\"}",
           "s32[] get-dimension-size(x), dimensions={1}",
           "pred[4,4] compare(x, x), direction=LE, type=TOTALORDER",
           "f32[<=4,4]{0,1:T(8,128)(2,1)E(32)S(1)} copy(x), control-predecessors={y, t}",
           "f32[4,4]{1,0:T(*,128)} copy(x)",
           "f32[4,4] copy(x), metadata={op_type=\"t\" op_name=\"n\" source_file=\"f.py\" source_line=3 "
           "source_end_line=4 source_column=5 "
           "source_end_column=6 deduplicated_name=\"d\" stack_frame_id=7 scheduling_name=\"s\"}",
       }) {
    ExpectTextRoundTrip(Instruction(instruction));
  }
}

TEST(HloProtoTest, Shardings) {
  for (const char* sharding : {
           "{replicated}",
           "{maximal device=3}",
           "{manual}",
           "{unknown}",
           "{unreduced}",
           "{devices=[2,2]0,1,2,3}",
           "{devices=[2,1,4]<=[8] last_tile_dim_replicate}",
           "{devices=[2,1,2,2]<=[2,4]T(1,0) last_tile_dims={manual, replicated}}",
           "{devices=[2,2]<=[4] metadata={op_name=\"a\"}}",
           "{replicated metadata={{op_name=\"a\"}, {op_name=\"b\"}}}",
           "{replicated shard_as 3}",
           "{devices=[2,2]<=[4] shard_like 2}",
           "{{replicated}, {maximal device=1}}",
           "{}",
           "{mesh['x'=2,'y'=4], [{'x'}, {'y'}]}",
           "{mesh['x'=2,'y'=4], [{'x'}, {?}], replicated={'y'}}",
           "{mesh['x'=2,'y'=4], device_ids=([4,2]T(1,0)), [{'y':(1)2, ?}, {}], unreduced={'x'}, manual={'y':(2)2}}",
           "{mesh['x'=2], device_ids=(1,0), [{}, {}], metadata={op_name=\"a\"}}",
           "{mesh[], [{}, {}]}",
           "{mesh[], replicated}",
           "{mesh['x'=2,'y'=4], replicated}",
           "{mesh['x'=2,'y'=4], unreduced}",
           "{mesh['x'=2,'y'=4], manual, metadata={op_name=\"a\"}}",
           "{maximal_mesh[device_id=5]}",
           "{maximal_mesh[device_id=0], metadata={op_name=\"a\"}}",
           "{mesh['a.b'=2,'<axis> def'=4,'z/w'=2], [{'a.b'}, {'<axis> def':(2)2, 'z/w'}]}",
       }) {
    ExpectTextRoundTrip(Instruction(absl::StrCat("f32[4,4] copy(x), sharding=", sharding)));
  }
}

TEST(HloProtoTest, Literals) {
  for (const char* constant : {
           "pred[3]{0} constant({1, 0, 1})",
           "s1[3]{0} constant({0, -1, 0})",
           "s2[3]{0} constant({1, -2, 0})",
           "s4[3]{0} constant({1, -8, 7})",
           "s8[3]{0} constant({1, -128, 3})",
           "s16[3]{0} constant({1, -2, 300})",
           "s32[3]{0} constant({1, -2147483648, 3})",
           "s64[2]{0} constant({-9223372036854775808, 3})",
           "u1[3]{0} constant({1, 0, 1})",
           "u2[3]{0} constant({1, 3, 0})",
           "u4[3]{0} constant({1, 15, 0})",
           "u8[3]{0} constant({1, 255, 0})",
           "u16[3]{0} constant({1, 65535, 0})",
           "u32[3]{0} constant({1, 4294967295, 0})",
           "u64[2]{0} constant({18446744073709551615, 0})",
           "f16[3]{0} constant({1.5, -inf, 0})",
           "bf16[3]{0} constant({1.5, -inf, 0})",
           "f32[3]{0} constant({1.5, nan(0x1), -0})",
           "f64[3]{0} constant({1.5, -nan, 5e-324})",
           "c64[2]{0} constant({(1, -2), (nan, inf)})",
           "c128[2]{0} constant({(1, -2), (0.1, -0)})",
           "f4e2m1fn[3]{0} constant({1, 0.5, -6})",
           "f8e5m2[3]{0} constant({1, 0.5, -inf})",
           "f8e4m3[3]{0} constant({1, 0.5, -6})",
           "f8e4m3fn[3]{0} constant({1, 0.5, nan})",
           "f8e4m3b11fnuz[2]{0} constant({1, 0.5})",
           "f8e5m2fnuz[2]{0} constant({1, 0.5})",
           "f8e4m3fnuz[2]{0} constant({1, 0.5})",
           "f8e3m4[2]{0} constant({1, 0.5})",
           "f8e8m0fnu[2]{0} constant({1, 0.5})",
           "s32[] constant(7)",
           "f32[0,3]{1,0} constant({})",
           "s32[2,3]{0,1} constant({ { 1, 2, 3 }, { 4, 5, 6 } })",
           "u4[2,3]{0,1} constant({ { 1, 2, 3 }, { 4, 5, 6 } })",
           "(s32[], (f32[2]{0}, pred[])) constant((1, ({2, 3}, 1)))",
       }) {
    ExpectTextRoundTrip(absl::StrCat("HloModule m\n\nENTRY main {\n  ROOT c = ", constant, "\n}\n"));
  }
}

TEST(HloProtoTest, HeaderAndSchedule) {
  ExpectTextRoundTrip(
      R"(HloModule m, is_scheduled=true, input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {0}, must-alias) }, buffer_donor={ (1, {1}) }, entry_computation_layout={(f32[4]{0}, (s32[], s32[]))->(f32[4]{0}, s32[])}, replica_count=2, num_partitions=3, frontend_attributes={a="1",m={mesh = #sdy.mesh<["i"=4]>}}

FileNames
1 "a.py"

FunctionNames
1 "f"
2 "g \"h\""

FileLocations
1 {file_name_id=1 function_name_id=2 line=6 end_line=7 column=17 end_column=29}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=1 parent_frame_id=2}

ENTRY e {
  b = (s32[], s32[]) parameter(1)
  a = f32[4]{0} parameter(0), parameter_replication={true}
  late = f32[4]{0} negate(a)
  i = s32[] get-tuple-element(b), index=0
  ROOT t = (f32[4]{0}, s32[]) tuple(late, i)
}
)");
}

TEST(HloProtoTest, ControlFlowAndAsynchronousPairs) {
  ExpectTextRoundTrip(R"(HloModule m
condition { s = s32[] parameter(0)  ten = s32[] constant(10)  ROOT t = pred[] compare(s, ten), direction=LT }
body { s = s32[] parameter(0)  one = s32[] constant(1)  ROOT n = s32[] add(s, one) }
other { s = s32[] parameter(0)  ROOT n = s32[] negate(s) }
ENTRY main {
  x = s32[] parameter(0)
  p = pred[] constant(1)
  w = s32[] while(x), condition=condition, body=body, backend_config={"known_trip_count":{"n":"10"}}
  c = s32[] conditional(p, w, x), true_computation=body, false_computation=other
  d = s32[] conditional(x, w, x, c), branch_computations={body, other, body}
  start = ((s32[]), s32[], u32[]) async-start(d), calls=other, async_execution_thread="th"
  update = ((s32[]), s32[], u32[]) async-update(start)
  ROOT done = s32[] async-done(update)
})");
}

TEST(HloProtoTest, AnHloProtoHoldsTheModule) {
  auto module = ParsedModule(Instruction("f32[4,4] negate(x)"));
  auto wrapped = HloModuleToHloProto(*module);
  ASSERT_TRUE(wrapped.ok());
  EXPECT_TRUE(LooksLikeHloProto(*wrapped));
  auto again = HloModuleFromProto(*wrapped);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(ComparableText(again->get()), ComparableText(module.get()));
}

TEST(HloProtoTest, TextDoesNotLookLikeAProto) {
  for (const char* text :
       {"", "\n", "\n\n\n", "HloModule m", "\nHloModule m\n", "\n\n// a comment\n\nHloModule m", "\n\x05ot"}) {
    EXPECT_FALSE(LooksLikeHloProto(text)) << text;
  }
}

TEST(HloProtoTest, XlaComputationToAndFrom) {
  XlaComputation computation(std::shared_ptr<const HloModule>(ParsedModule(Instruction("f32[4,4] negate(x)"))));
  auto bytes = SerializeAsHloModuleProto(computation);
  ASSERT_TRUE(bytes.ok());
  auto again = XlaComputationFromProto(*bytes);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->GetProgramShape()->result.ToString(), "f32[4,4]");
  EXPECT_FALSE(SerializeAsHloModuleProto(XlaComputation()).ok());
}

TEST(HloProtoTest, LongChains) {
  std::string text = "HloModule m\n\nENTRY main {\n  x0 = f32[] parameter(0)\n";
  for (int i = 1; i <= 100000; ++i) absl::StrAppend(&text, "  x", i, " = f32[] negate(x", i - 1, ")\n");
  auto module = ParsedModule(text + "}\n");
  ExpectRoundTrip(module.get());
}

TEST(HloProtoTest, InexpressibleFields_AreRefusedByName) {
  const auto refusal = [](absl::string_view text) { return HloModuleToProto(*ParsedModule(text)).status(); };
  const absl::Status attribute = refusal(Instruction("f32[4,4] negate(x), strange=5"));
  EXPECT_EQ(attribute.code(), absl::StatusCode::kUnimplemented);
  EXPECT_TRUE(absl::StrContains(attribute.message(), "strange")) << attribute;
  EXPECT_EQ(refusal(Instruction("f32[4,4]{1,0:pad(4,5)} negate(x)")).code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(refusal("HloModule m, strange=5 ENTRY e { ROOT x = f32[] parameter(0) }").code(),
            absl::StatusCode::kUnimplemented);
  EXPECT_EQ(refusal("HloModule m, replica_count=2000000 ENTRY e { ROOT x = f32[] parameter(0) }").code(),
            absl::StatusCode::kResourceExhausted);
}

// A message says that its module was partitioned by telling how the result, or the parameters, are cut.
TEST(HloProtoTest, PartitionedModulesAreKnown) {
  const auto module =
      ParsedModule("HloModule m, num_partitions=2, is_spmd_partitioned=true\nENTRY e { ROOT x = f32[2] parameter(0) }");
  ExpectRoundTrip(module.get());
  const absl::string_view mark = "is_spmd_partitioned=true";
  const std::string bytes =
      *HloModuleToProto(*ParsedModule("HloModule m, num_partitions=2\nENTRY e { ROOT x = f32[2] parameter(0) }"));
  EXPECT_FALSE(absl::StrContains(PrintHloModule(**HloModuleFromProto(bytes)), mark));
  for (const char* field :
       {"\x62\x02\x08\x01", "\x72\x02\x08\x01"}) {  // spmd_output_sharding, spmd_parameters_shardings: {maximal}
    EXPECT_TRUE(absl::StrContains(PrintHloModule(**HloModuleFromProto(absl::StrCat(bytes, field))), mark));
  }
}

}  // namespace
}  // namespace hilo
