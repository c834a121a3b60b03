#include <string>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "hlo/ir/hlo_verifier.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/text/hlo_parser.h"

namespace hilo {
namespace {

std::unique_ptr<HloModule> Parse(absl::string_view text) {
  auto module = ParseHloModule(text, {.verify = false});
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() ? *std::move(module) : nullptr;
}

// An error of the given stage that contains `message`.
void ExpectError(const HloModule& module, absl::string_view message, HloStage stage = HloStage::kInput,
                 const HloLimits& limits = {}) {
  const absl::Status status = VerifyHloModule(module, stage, limits);
  EXPECT_FALSE(status.ok());
  EXPECT_TRUE(absl::StrContains(status.message(), message)) << status;
}

constexpr char kChain[] =
    "HloModule m ENTRY e { x = f32[2]{0} parameter(0) y = f32[2]{0} negate(x) ROOT z = f32[2]{0} "
    "add(x, y) }";

TEST(VerifierTest, AcceptsAGoodModule) {
  EXPECT_EQ(VerifyHloModule(*Parse(kChain), HloStage::kInput), absl::OkStatus());
}

TEST(VerifierTest, NamesTheInstructionAndItsLine) {
  const HloInstruction* culprit = nullptr;
  auto module = Parse("HloModule m\nENTRY e {\n x = f32[2] parameter(0)\n y = f32[3] negate(x)\n}");
  const absl::Status status = VerifyHloModule(*module, HloStage::kInput, {}, &culprit);
  EXPECT_TRUE(absl::EndsWith(status.message(), "; in %y = f32[3] negate(f32[2] %x), line 4")) << status;
  EXPECT_EQ(culprit, module->entry_computation()->root_instruction());
}

TEST(VerifierTest, Entry) {
  HloModule module("m");
  ExpectError(module, "no entry computation");
  module.set_entry_computation(module.AddComputation("e"));
  ExpectError(module, "no root");
}

TEST(VerifierTest, Cycles) {
  auto module = Parse(kChain);
  HloComputation* entry = module->entry_computation();
  HloInstruction* y = entry->root_instruction()->mutable_operand(1);
  entry->ReplaceOperand(y, 0, entry->root_instruction());
  ExpectError(*module, "needs its own result");
}

TEST(VerifierTest, OperandsOfOtherComputations) {
  auto module = Parse(
      "HloModule m f { a = f32[2] parameter(0) } ENTRY e { x = f32[2] parameter(0) ROOT r = f32[2] "
      "call(x), to_apply=f }");
  HloComputation* entry = module->entry_computation();
  entry->ReplaceOperand(entry->root_instruction(), 0, module->GetComputation("f")->root_instruction());
  ExpectError(*module, "is not in computation e");
}

TEST(VerifierTest, Recursion) {
  ExpectError(*Parse("HloModule m f { a = f32[] parameter(0) ROOT b = f32[] call(a), to_apply=g } "
                     "g { c = f32[] parameter(0) ROOT d = f32[] call(c), to_apply=f } ENTRY e { x "
                     "= f32[] parameter(0) }"),
              "calls itself");
}

TEST(VerifierTest, KernelsOfInstructionsWithoutCode) {
  constexpr absl::string_view kStale = "has no code of its own, and so no kernel; in %a";
  ExpectError(*Parse("HloModule m ENTRY e { ROOT a = f32[] parameter(0), kernel={kind=loop} }"), kStale);
  ExpectError(*Parse("HloModule m ENTRY e { ROOT a = f32[] constant(0), kernel={kind=loop} }"), kStale);
  ExpectError(*Parse("HloModule m f { p = f32[2] parameter(0) ROOT a = f32[2] negate(p), kernel={kind=loop} } "
                     "ENTRY e { x = f32[2] parameter(0) ROOT r = f32[2] fusion(x), kind=kLoop, calls=f }"),
              kStale);
}

TEST(VerifierTest, EntryIsNotCalled) {
  ExpectError(*Parse("HloModule m f { a = f32[] parameter(0) ROOT b = f32[] call(a), to_apply=e } "
                     "ENTRY e { x = f32[] parameter(0) }"),
              "the entry computation may not be called");
}

TEST(VerifierTest, SharedFusedComputation) {
  ExpectError(*Parse("HloModule m f { a = f32[] parameter(0) ROOT n = f32[] negate(a) } ENTRY e { "
                     "x = f32[] parameter(0) "
                     "y = f32[] fusion(x), kind=kLoop, calls=f ROOT z = f32[] fusion(y), "
                     "kind=kLoop, calls=f }"),
              "no other fusion calls");
}

TEST(VerifierTest, Limits) {
  ExpectError(*Parse(kChain), "3 instructions; the limit is 2", HloStage::kInput, {.max_instructions = 2});
  ExpectError(*Parse(kChain), "8 bytes; the limit is 4", HloStage::kInput, {.max_array_bytes = 4});
  ExpectError(*Parse("HloModule m ENTRY e { a = f32[] parameter(0) ROOT b = f32[] parameter(1) }"),
              "2 parameters; the limit is 1", HloStage::kInput, {.max_parameters = 1});
  ExpectError(*Parse("HloModule m f { a = f32[] parameter(0) } ENTRY e { x = f32[] parameter(0) "
                     "ROOT r = f32[] call(x), to_apply=f }"),
              "deeper than 1 levels", HloStage::kInput, {.max_call_depth = 1});
}

TEST(VerifierTest, EntryLayout) {
  ExpectError(*Parse("HloModule m, entry_computation_layout={(f32[3]{0})->f32[2]{0}} ENTRY e { x = "
                     "f32[2] parameter(0) }"),
              "expected f32[2] for parameter 0; got f32[3]");
  ExpectError(*Parse("HloModule m, entry_computation_layout={()->f32[2]{0}} ENTRY e { x = f32[2] "
                     "parameter(0) }"),
              "expected 1 parameters; got 0");
  ExpectError(*Parse("HloModule m, entry_computation_layout={(f32[2]{0})->s32[2]{0}} ENTRY e { x = "
                     "f32[2] parameter(0) }"),
              "expected f32[2] for the result");
}

TEST(VerifierTest, Aliases) {
  auto with = [](const std::string& header) {
    return Parse("HloModule m, " + header +
                 " ENTRY e { x = f32[2] parameter(0) y = f32[3] parameter(1) p = (f32[2], f32[2]) "
                 "parameter(2) "
                 "ROOT r = (f32[2], f32[3]) tuple(x, y) }");
  };
  EXPECT_EQ(VerifyHloModule(*with("input_output_alias={ {0}: (2, {1}), {1}: (1, {}) }, buffer_donor={ (0, {}) }"),
                            HloStage::kInput),
            absl::OkStatus());
  ExpectError(*with("input_output_alias={ {0}: (3, {}) }"), "parameter number below 3; got 3");
  ExpectError(*with("input_output_alias={ {0}: (2, {}) }"), "expected an array of the parameters; got (2, {})");
  ExpectError(*with("input_output_alias={ {0}: (2, {5}) }"), "expected an array of the parameters; got (2, {5})");
  ExpectError(*with("input_output_alias={ {2}: (0, {}) }"), "expected an array of the result; got {2}");
  ExpectError(*with("input_output_alias={ {-1}: (0, {}) }"), "expected an array of the result; got {-1}");
  ExpectError(*with("input_output_alias={ {}: (0, {}) }"), "expected an array of the result; got {}");
  ExpectError(*with("input_output_alias={ {0}: (0, {}), {0}: (2, {0}) }"), "output {0} has two parameters");
  ExpectError(*with("input_output_alias={ {0}: (1, {}) }"), "8 bytes of output {0}; got 12 bytes");
  ExpectError(*with("input_output_alias={ {0}: (0, {}), {1}: (0, {}) }"), "parameter (0, {}) has two outputs");
  ExpectError(*with("buffer_donor={ (0, {}), (0, {}) }"), "given up twice");
  ExpectError(*with("buffer_donor={ (3, {}) }"), "buffer_donor: expected a parameter number below 3; got 3");
  ExpectError(*with("buffer_donor={ (2, {}) }"), "buffer_donor: expected an array of the parameters; got (2, {})");
}

TEST(VerifierTest, LayoutsFromLaidOutOn) {
  EXPECT_EQ(VerifyHloModule(*Parse(kChain), HloStage::kLaidOut), absl::OkStatus());
  ExpectError(*Parse("HloModule m ENTRY e { x = f32[2,3]{0,1} parameter(0) }"),
              "expected the default layout at stage laidout", HloStage::kLaidOut);
  ExpectError(*Parse("HloModule m ENTRY e { x = f32[2,3] parameter(0) }"), "expected the default layout",
              HloStage::kLaidOut);
}

TEST(VerifierTest, SchedulesFromScheduledOn) {
  auto module = Parse(kChain);
  ExpectError(*module, "computation e has no schedule at stage scheduled", HloStage::kScheduled);
  const HloComputation* entry = module->entry_computation();
  const std::vector<HloInstruction*> order = entry->MakePostOrder();
  module->schedule()[entry] = order;
  EXPECT_EQ(VerifyHloModule(*module, HloStage::kScheduled), absl::OkStatus());
  module->schedule()[entry] = {order[0], order[2], order[1]};
  ExpectError(*module, "scheduled before an operand", HloStage::kScheduled);
  module->schedule()[entry] = {order[0], order[1]};
  ExpectError(*module, "has 2 instructions; expected 3", HloStage::kAliased);
  module->schedule()[entry] = {order[0], order[0], order[1]};
  ExpectError(*module, "scheduled twice", HloStage::kScheduled);
  auto other = Parse(kChain);
  module->schedule()[entry] = {order[0], order[1], other->entry_computation()->root_instruction()};
  ExpectError(*module, "holds an instruction that is not in it", HloStage::kScheduled);
}

// What no text says, but those who edit modules may do.
TEST(VerifierTest, PartsOfOtherModulesAndComputations) {
  auto module = Parse(
      "HloModule m f { a = f32[2] parameter(0) } ENTRY e { x = f32[2] parameter(0) ROOT r = f32[2] call(x), to_apply=f "
      "}");
  auto other = Parse(kChain);
  HloComputation* const entry = module->entry_computation();
  module->set_entry_computation(other->entry_computation());
  ExpectError(*module, "the entry computation is not of module m");
  module->set_entry_computation(entry);
  HloComputation* const f = module->GetComputation("f");
  entry->root_instruction()->set_called_computation(0, other->entry_computation());
  ExpectError(*module, "a called computation is not of this module");
  entry->root_instruction()->set_called_computation(0, f);
  f->root_instruction()->AddControlDependencyTo(entry->root_instruction());
  ExpectError(*module, "control predecessor a is in another computation");
}

TEST(VerifierTest, Parameters_AreInOrder) {
  auto module =
      Parse("HloModule m ENTRY e { x = f32[2] parameter(0) y = f32[2] parameter(1) ROOT z = f32[2] add(x, y) }");
  module->entry_computation()->parameter_instruction(0)->mutable_attrs<ParameterAttrs>().number = 1;
  ExpectError(*module, "expected one parameter of each number from 0 to 1; got a second or misplaced 1");
  module->entry_computation()->parameter_instruction(0)->mutable_attrs<ParameterAttrs>().number = 2;
  ExpectError(*module, "got a second or misplaced 2");
}

TEST(VerifierTest, ShapesAreValid) {
  auto module = Parse(kChain);
  *module->entry_computation()->root_instruction()->mutable_shape() = Shape(static_cast<PrimitiveType>(1000), {2});
  ExpectError(*module, "shape");
  module = Parse(kChain);
  module->set_entry_computation_layout(
      ProgramShape{.parameters = {Shape(F32, {-2})}, .result = ShapeUtil::MakeShape(F32, {2})});
  ExpectError(*module, "expected sizes of at least 0, got -2");
  module->set_entry_computation_layout(
      ProgramShape{.parameters = {ShapeUtil::MakeShape(F32, {2})}, .result = Shape(F32, {-2})});
  ExpectError(*module, "expected sizes of at least 0, got -2");
}

TEST(VerifierTest, RootsBelongToTheirComputations) {
  auto module = Parse(kChain);
  auto other = Parse("HloModule m ENTRY e { x = f32[3] parameter(0) y = f32[2] negate(x) }");
  HloComputation* const entry = module->entry_computation();
  EXPECT_TRUE(absl::StrContains(entry->set_root_instruction(other->entry_computation()->root_instruction()).message(),
                                "root y is not an instruction of computation e"));
  HloComputation* const second = other->entry_computation();
  EXPECT_TRUE(absl::StrContains(second->set_root_instruction(second->parameter_instruction(0)).message(),
                                "the new root of e has shape f32[3], expected f32[2]"));
  EXPECT_EQ(second->set_root_instruction(second->parameter_instruction(0), /*allow_shape_change=*/true),
            absl::OkStatus());
}

}  // namespace
}  // namespace hilo
