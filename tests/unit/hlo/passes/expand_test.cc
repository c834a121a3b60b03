#include "hlo/passes/expand/expansions.h"
#include "hlo/passes/standard_passes.h"
#include "tests/unit/hlo/passes/pass_testing.h"

namespace hilo {
namespace {

using testing::Count;
using testing::Parse;

// Emits what has no expansion, and sorts.
class FewOps : public testing::AnyTarget {
 public:
  Emission EmissionOf(const HloInstruction& instruction) const override {
    return HasExpansion(instruction.opcode()) && instruction.opcode() != HloOpcode::kSort
               ? Emission::kExpanded
               : AnyTarget::EmissionOf(instruction);
  }
};

bool Expand(HloModule* module) {
  const FewOps target;
  absl::StatusOr<bool> changed = MakeExpander(&target)->Run(module, {});
  EXPECT_TRUE(changed.ok()) << changed.status();
  const absl::Status valid = VerifyHloModule(*module, HloStage::kInput);
  EXPECT_TRUE(valid.ok()) << valid << "\n" << PrintHloModule(*module);
  return changed.ok() && *changed;
}

constexpr char kInference[] = R"(HloModule m
ENTRY main {
  x = f32[2,3] parameter(0)
  s = f32[3] parameter(1)
  before = f32[3] negate(s)
  n = f32[2,3] batch-norm-inference(x, s, s, s, s), epsilon=0.5, feature_index=1, control-predecessors={before}, metadata={op_name="norm"}, sharding={replicated}, frontend_attributes={a="b"}
  after = f32[3] exponential(s), control-predecessors={n}
  ROOT r = (f32[2,3], f32[3]) tuple(n, after)
}
)";

TEST(Expand, LeavesWhatTheTargetEmits) {
  auto module = Parse(kInference);
  const testing::AnyTarget target;
  absl::StatusOr<bool> changed = MakeExpander(&target)->Run(module.get(), {});
  ASSERT_TRUE(changed.ok()) << changed.status();
  EXPECT_FALSE(*changed);
}

TEST(Expand, ReplacesTheRest) {
  auto module = Parse(kInference);
  EXPECT_TRUE(Expand(module.get()));
  EXPECT_EQ(0, Count(*module, HloOpcode::kBatchNormInference));
  EXPECT_EQ(1, Count(*module, HloOpcode::kRsqrt));
  EXPECT_FALSE(Expand(module.get()));
}

TEST(Expand, MetadataGoesToAllShardingToTheResult) {
  auto module = Parse(kInference);
  EXPECT_TRUE(Expand(module.get()));
  const HloInstruction* result = module->entry_computation()->root_instruction()->operand(0);
  EXPECT_EQ("norm", result->metadata().op_name);
  const AttributeText all = {{"sharding", "{replicated}"}, {"frontend_attributes", "{a=\"b\"}"}};
  EXPECT_EQ(all, result->extra_attributes());
  for (const HloInstruction* instruction : module->entry_computation()->instructions()) {
    if (instruction->opcode() != HloOpcode::kRsqrt) continue;
    EXPECT_EQ("norm", instruction->metadata().op_name);
    const AttributeText frontend = {{"frontend_attributes", "{a=\"b\"}"}};
    EXPECT_EQ(frontend, instruction->extra_attributes());
  }
}

TEST(Expand, CreatedInstructions_KeepControlOrder) {
  auto module = Parse(kInference);
  EXPECT_TRUE(Expand(module.get()));
  bool seen_before = false, seen_result = false;
  const HloInstruction* result = module->entry_computation()->root_instruction()->operand(0);
  for (const HloInstruction* instruction : module->entry_computation()->MakePostOrder()) {
    seen_before |= instruction->opcode() == HloOpcode::kNegate;
    seen_result |= instruction == result;
    if (instruction->opcode() == HloOpcode::kRsqrt) {
      EXPECT_TRUE(seen_before);
      ASSERT_EQ(1u, instruction->control_predecessors().size());
    }
    if (instruction->opcode() == HloOpcode::kExp) {
      EXPECT_TRUE(seen_result);
    }
  }
}

TEST(Expand, CalledComputationsAndTheirTuplesToo) {
  auto module = Parse(R"(HloModule m
body {
  p = (s32[], f32[4,2], f32[2]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[4,2] get-tuple-element(p), index=1
  s = f32[2] get-tuple-element(p), index=2
  one = s32[] constant(1)
  next = s32[] add(i, one)
  n = (f32[4,2], f32[2], f32[2]) batch-norm-training(x, s, s), epsilon=0.5, feature_index=1
  y = f32[4,2] get-tuple-element(n), index=0
  m = f32[2] get-tuple-element(n), index=1
  ROOT r = (s32[], f32[4,2], f32[2]) tuple(next, y, m)
}
condition {
  p = (s32[], f32[4,2], f32[2]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(2)
  ROOT c = pred[] compare(i, n), direction=LT
}
ENTRY main {
  x = f32[4,2] parameter(0)
  s = f32[2] parameter(1)
  zero = s32[] constant(0)
  t = (s32[], f32[4,2], f32[2]) tuple(zero, x, s)
  ROOT w = (s32[], f32[4,2], f32[2]) while(t), condition=condition, body=body
}
)");
  auto original = module->Clone();
  EXPECT_TRUE(Expand(module.get()));
  EXPECT_EQ(0, Count(*module, HloOpcode::kBatchNormTraining));
  EXPECT_EQ(2, Count(*module, HloOpcode::kReduce));
  const absl::StatusOr<Literal> want = testing::EvaluateOnEdgeCases(*original, 1);
  const absl::StatusOr<Literal> got = testing::EvaluateOnEdgeCases(*module, 1);
  ASSERT_TRUE(want.ok() && got.ok()) << want.status() << got.status();
  EXPECT_TRUE(CompareLiterals(*want, *got, {.absolute = 1e-5, .relative = 1e-5}).ok());
}

TEST(Expand, ExpandedOps_AreExpandedAgain) {
  auto module = Parse(R"(HloModule m
ENTRY main {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[7] rng(a, b), distribution=rng_normal
}
)");
  EXPECT_TRUE(Expand(module.get()));
  EXPECT_EQ(0, Count(*module, HloOpcode::kRng));
  EXPECT_EQ(0, Count(*module, HloOpcode::kRngBitGenerator));
  EXPECT_EQ(1, Count(*module, HloOpcode::kRngGetAndUpdateState));
}

TEST(Expand, ComputationsThatItBringsBelongToTheModule) {
  auto module = Parse(R"(HloModule m
ENTRY main {
  x = f32[9] parameter(0)
  ROOT r = (f32[2], s32[2]) topk(x), k=2, largest=true
}
)");
  EXPECT_TRUE(Expand(module.get()));
  EXPECT_EQ(1, Count(*module, HloOpcode::kSort));
  EXPECT_EQ(2u, module->computations().size());
}

TEST(Expand, TheResultKeepsItsLayout) {
  auto module = Parse(R"(HloModule m
ENTRY main {
  x = f32[2,3]{0,1} parameter(0)
  s = f32[3]{0} parameter(1)
  ROOT n = f32[2,3]{0,1} batch-norm-inference(x, s, s, s, s), epsilon=0.5, feature_index=1
}
)");
  EXPECT_TRUE(Expand(module.get()));
  EXPECT_EQ("f32[2,3]{0,1}", module->entry_computation()->root_instruction()->shape().ToString(/*print_layout=*/true));
}

}  // namespace
}  // namespace hilo
