#include "tests/unit/hlo/passes/pass_testing.h"

namespace hilo {
namespace {

using testing::Parse;
using testing::PassNamed;

// Replaces the root by a new negation, as often as it is run.
class Negate : public HloPass {
 public:
  absl::string_view name() const override { return "negate"; }
  absl::StatusOr<bool> Run(HloModule* module, const PassContext&) override {
    HloComputation* entry = module->entry_computation();
    auto negated = entry->AddOp(HloOpcode::kNegate, {entry->root_instruction()});
    if (!negated.ok()) return negated.status();
    const absl::Status set = entry->set_root_instruction(*negated);
    if (!set.ok()) return set;
    return true;
  }
};

class Fail : public HloPass {
 public:
  absl::string_view name() const override { return "fail"; }
  absl::StatusOr<bool> Run(HloModule*, const PassContext&) override { return absl::UnimplementedError("no way"); }
  bool optional() const override { return false; }
};

class NothingIsSupported : public testing::AnyTarget {
 public:
  Emission EmissionOf(const HloInstruction& instruction) const override {
    return instruction.IsParameter() ? Emission::kNoCode : Emission::kRewritten;
  }
};

std::vector<std::unique_ptr<HloPass>> List(std::unique_ptr<HloPass> pass) {
  std::vector<std::unique_ptr<HloPass>> list;
  list.push_back(std::move(pass));
  return list;
}

constexpr absl::string_view kText = "HloModule m\nENTRY main { ROOT x = f32[4]{0} parameter(0) }\n";

// Puts the root into another layout than the default.
class TransposeLayout : public HloPass {
 public:
  absl::string_view name() const override { return "turn-layout"; }
  absl::StatusOr<bool> Run(HloModule* module, const PassContext&) override {
    *module->entry_computation()->root_instruction()->mutable_shape()->mutable_layout() =
        LayoutUtil::MakeAscendingLayout(2);
    return true;
  }
};

TEST(PassPipeline, VerifiesEachPassByTheStageThatHasBeenReached) {
  constexpr absl::string_view kMatrix =
      "HloModule m\nENTRY main { x = f32[4,2]{1,0} parameter(0) ROOT y = f32[4,2]{1,0} negate(x) }\n";
  auto module = Parse(kMatrix);
  PassPipeline early;
  early.AddStage(HloStage::kCore, List(std::make_unique<TransposeLayout>()));
  EXPECT_TRUE(early.Run(module.get(), {.verify_each_pass = true}).ok());
  module = Parse(kMatrix);
  PassPipeline late;
  late.AddStage(HloStage::kLaidOut, {});
  late.AddStage(HloStage::kFused, List(std::make_unique<TransposeLayout>()));
  const absl::Status status = late.Run(module.get(), {.verify_each_pass = true});
  EXPECT_EQ(absl::StatusCode::kInternal, status.code());
  EXPECT_NE(std::string::npos, std::string(status.message()).find("after pass turn-layout")) << status;
}

TEST(PassPipeline, StopsAtTheLastStage) {
  auto module = Parse(kText);
  PassPipeline pipeline;
  pipeline.AddStage(HloStage::kCore, List(std::make_unique<Negate>()));
  pipeline.AddStage(HloStage::kFused, List(std::make_unique<Fail>()));
  EXPECT_TRUE(pipeline.Run(module.get(), {.last_stage = HloStage::kLaidOut}).ok());
  EXPECT_EQ("negate(x)", testing::RootExpression(*module));
}

TEST(PassPipeline, RepeatsAStageUntilNothingChanges) {
  auto module = Parse(kText);
  PassPipeline pipeline;
  pipeline.AddStage(HloStage::kCore, List(std::make_unique<Negate>()), /*max_iterations=*/3);
  pipeline.AddStage(HloStage::kCore, List(PassNamed("dce")), /*max_iterations=*/100);
  std::vector<HloStage> seen;
  PassPipeline::Options options{.observer = [&](HloStage stage, const HloModule&) { seen.push_back(stage); }};
  ASSERT_TRUE(pipeline.Run(module.get(), options).ok());
  EXPECT_EQ("negate(negate(negate(x)))", testing::RootExpression(*module));
  EXPECT_EQ(std::vector<HloStage>{HloStage::kCore}, seen);  // by two entries, and once
}

TEST(PassPipeline, LeavesOutWhatIsDisabled) {
  auto module = Parse(kText);
  PassPipeline pipeline;
  pipeline.AddStage(HloStage::kCore, List(std::make_unique<Negate>()));
  ASSERT_TRUE(pipeline.Run(module.get(), {.disabled = {"negate"}}).ok());
  EXPECT_EQ("x", testing::RootExpression(*module));
}

TEST(PassPipeline, NamesWhatCannotBeDisabled) {
  auto module = Parse(kText);
  PassPipeline pipeline;
  pipeline.AddStage(HloStage::kCore, List(std::make_unique<Fail>()));
  pipeline.AddStage(HloStage::kCore, List(std::make_unique<Negate>()));
  const absl::Status unknown = pipeline.Run(module.get(), {.disabled = {"nonsense"}});
  EXPECT_EQ(absl::StatusCode::kInvalidArgument, unknown.code());
  EXPECT_EQ("there is no pass 'nonsense'; passes that can be left out: negate", std::string(unknown.message()));
  EXPECT_EQ(absl::StatusCode::kInvalidArgument, pipeline.Run(module.get(), {.disabled = {"fail"}}).code());
}

TEST(PassPipeline, Error_NamesItsPass) {
  auto module = Parse(kText);
  PassPipeline pipeline;
  pipeline.AddStage(HloStage::kCore, List(std::make_unique<Fail>()));
  const absl::Status status = pipeline.Run(module.get(), {});
  EXPECT_EQ(absl::StatusCode::kUnimplemented, status.code());
  EXPECT_NE(std::string::npos, std::string(status.message()).find("in pass fail"));
}

TEST(SupportCheck, NamesWhatTheTargetLacks) {
  auto module = Parse("HloModule m\nENTRY main { x = f32[4] parameter(0)  ROOT r = f32[4] tanh(x) }\n");
  const NothingIsSupported target;
  const absl::Status status = MakeSupportCheck(&target)->Run(module.get(), {}).status();
  EXPECT_EQ(absl::StatusCode::kUnimplemented, status.code());
  EXPECT_NE(std::string::npos, std::string(status.message()).find("tanh"));
  EXPECT_NE(std::string::npos, std::string(status.message()).find("%r"));
  const testing::AnyTarget any;
  EXPECT_TRUE(MakeSupportCheck(&any)->Run(module.get(), {}).ok());
}

}  // namespace
}  // namespace hilo
