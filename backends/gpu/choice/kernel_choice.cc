#include "backends/gpu/choice/kernel_choice.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "backends/gpu/choice/kernel_families.h"
#include "backends/gpu/match/launch_sizes.h"
#include "backends/gpu/match/operands.h"
#include "backends/gpu/match/sort_match.h"
#include "backends/gpu/thunks/host_call.h"
#include "backends/gpu/thunks/transfer_thunk.h"
#include "backends/llvm/elements/generated_ops.h"
#include "backends/llvm/lanes/lane_plan.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/hero.h"
#include "hlo/analysis/in_place.h"
#include "hlo/analysis/loop_results.h"
#include "hlo/analysis/trip_count.h"
#include "hlo/ir/hlo_verifier.h"
#include "hlo/memory/scheduler.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/ops/table/opcode_map.h"

namespace hilo::gpu {
namespace {

// Instructions of a fusion of which a thread repeats up to kMaxInGroup copies: longer code would exceed the
// instruction cache and the registers, so only two are kept.
constexpr int64_t kMaxGrouped = 64;

KernelConfig ThreadPerElement(KernelKind kind, int64_t count, absl::string_view why) {
  return {.kind = kind, .tile = {BlockFor(count)}, .why = std::string(why)};
}

// Returns true if all results are tokens or empty arrays.
bool HasNoResult(const HloInstruction& instruction) {
  const std::vector<ShapeUtil::Leaf> leaves = ShapeUtil::Leaves(instruction.shape());
  return std::all_of(leaves.begin(), leaves.end(), [](const ShapeUtil::Leaf& leaf) {
    return !leaf.shape->IsArray() || ShapeUtil::IsZeroElementArray(*leaf.shape);
  });
}

bool HasEffect(const HloInstruction& instruction) {
  return HasTrait(instruction.opcode(), kControlFlow) || IsHostCall(instruction) || IsDeviceTransfer(instruction) ||
         HasTrait(instruction.opcode(), kCollective);
}

// Returns true for instructions that neither forward values nor have none to compute.
bool IsCode(const HloInstruction& instruction) {
  return !instruction.IsParameter() && !instruction.IsConstant() && !IsForwarding(instruction) &&
         instruction.opcode() != HloOpcode::kAfterAll;
}

KernelConfig ChooseControlFlow(const HloInstruction& instruction) {
  if (instruction.opcode() == HloOpcode::kConditional)
    return {.kind = KernelKind::kConditional, .why = "a branch is read when it runs"};
  if (instruction.opcode() == HloOpcode::kCall)
    return {.kind = KernelKind::kCall, .why = "several callers share its code"};
  if (const std::optional<int64_t> count = TripCount(instruction))
    return {.kind = KernelKind::kCountedLoop, .tile = {*count}, .why = "the trip count is known"};
  return {.kind = KernelKind::kWhile, .why = "the condition is read in each iteration"};
}

// Chooses the kernel of an instruction by its hero, or of the hero itself.
using Chooser = absl::StatusOr<KernelConfig> (*)(const HloInstruction& instruction, const KernelFacts& facts);
using Choice = absl::StatusOr<KernelConfig>;

KernelConfig ChooseSelectAndScatter(const HloInstruction& instruction) {
  return ThreadPerElement(KernelKind::kSelectAndScatter, ShapeUtil::ElementsIn(instruction.shape()),
                          "each result visits its windows in order");
}

// Of fusions and instructions with this hero; null: a loop.
constexpr OpcodeMap<Chooser> kOfHeroes = {
    {HloOpcode::kCholesky,
     [](const HloInstruction& i, const KernelFacts&) -> Choice {
       return ThreadPerElement(KernelKind::kCholesky, HeroOf(&i)->shape().dimensions().back(), "a block per matrix");
     }},
    {HloOpcode::kConcatenate, ChooseConcatenate},
    {HloOpcode::kConvolution, ChooseConvolution},
    {HloOpcode::kCopy,
     [](const HloInstruction& i, const KernelFacts& facts) -> Choice {
       if (i.opcode() == HloOpcode::kCopy && !i.operand(0)->IsConstant())
         return KernelConfig{.kind = KernelKind::kCopy, .why = "the memory is copied as it is"};
       return ChooseLoop(i, facts, "a constant, or computed in the fusion");
     }},
    {HloOpcode::kDynamicUpdateSlice, ChooseUpdate},
    {HloOpcode::kFft,
     [](const HloInstruction&, const KernelFacts&) -> Choice {
       return KernelConfig{.kind = KernelKind::kFft, .why = "a pass per prime factor"};
     }},
    {HloOpcode::kRaggedDot, ChooseRaggedDot},
    {HloOpcode::kReduce, ChooseReduction},
    {HloOpcode::kReduceWindow, ChooseReduceWindow},
    {HloOpcode::kScatter, ChooseScatter},
    {HloOpcode::kSelectAndScatter,
     [](const HloInstruction& i, const KernelFacts&) -> Choice { return ChooseSelectAndScatter(i); }},
    {HloOpcode::kSlice,
     [](const HloInstruction& i, const KernelFacts& facts) -> Choice {
       return HeroOf(&i)->operand(0)->opcode() == HloOpcode::kSelectAndScatter && i.opcode() == HloOpcode::kFusion
                  ? ChooseSelectAndScatter(i)
                  : ChooseLoop(i, facts, "");
     }},
    {HloOpcode::kSort, ChooseSort},
    {HloOpcode::kTopK, [](const HloInstruction& i, const KernelFacts&) -> Choice { return ChooseTopK(i); }},
    {HloOpcode::kTranspose, ChooseTranspose},
    {HloOpcode::kTriangularSolve,
     [](const HloInstruction& i, const KernelFacts&) -> Choice {
       const HloInstruction& solve = *HeroOf(&i);
       const int64_t rows = std::max<int64_t>(solve.operand(0)->shape().dimensions().back(), 1);
       return ThreadPerElement(KernelKind::kTriangularSolve, ShapeUtil::ElementsIn(solve.shape()) / rows,
                               "a thread per right-hand side");
     }},
};

// Of an instruction that no library, host or other rank computes.
absl::StatusOr<KernelConfig> ChooseOwnKernel(const HloInstruction& instruction, const KernelFacts& facts) {
  if (instruction.opcode() == HloOpcode::kFusion) {
    if (const std::optional<Attention> attention = AttentionOf(instruction)) return ChooseAttention(*attention);
    if (const std::optional<ScoreGrid> grid = ScoreGridOfFusion(instruction))
      return ChooseAttentionGradient(instruction, *grid);
  }
  if (DotOf(instruction) != nullptr) return ChooseDot(instruction, facts);
  const HloInstruction& hero = *HeroOf(&instruction);
  if (instruction.opcode() == HloOpcode::kFusion && hero.opcode() != HloOpcode::kReduce) {
    if (std::optional<KernelConfig> rows = ChooseRegisterRows(instruction, facts)) return *std::move(rows);
    if (std::optional<KernelConfig> rows = ChooseStreamedRows(instruction, facts)) return *std::move(rows);
  }
  if (const Chooser choose = kOfHeroes[hero.opcode()]) return choose(instruction, facts);
  if (!codegen::IsElementGenerated(hero.opcode()) && hero.opcode() != HloOpcode::kTuple && !hero.IsParameter())
    return Unimplemented(HloOpcodeString(hero.opcode()), " is not supported on this platform yet");
  return ChooseLoop(instruction, facts, "");
}

class KernelChoice : public HloPass {
 public:
  explicit KernelChoice(const KernelFacts& facts) : facts_(facts) {}
  absl::string_view name() const override { return "choose-kernels"; }
  bool optional() const override { return false; }

  absl::StatusOr<bool> Run(HloModule* module, const PassContext& context) override {
    HILO_ASSIGN_OR_RETURN(const std::vector<HloComputation*> sequential, SequentialComputations(*module));
    bool changed = false;
    for (HloComputation* computation : sequential) {
      for (HloInstruction* instruction : computation->instructions()) {
        HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
        if (!IsCode(*instruction) || (HasNoResult(*instruction) && !HasEffect(*instruction))) continue;
        HILO_ASSIGN_OR_RETURN(KernelConfig config, ChooseKernel(*instruction, facts_));
        changed |= instruction->kernel() == nullptr || *instruction->kernel() != config;
        instruction->set_kernel(std::move(config));
      }
    }
    return changed;
  }

 private:
  const KernelFacts facts_;
};

}  // namespace

bool TakesRows(const HloInstruction& fusion, const KernelFacts& facts) {
  return ChooseRegisterRows(fusion, facts).has_value() || ChooseStreamedRows(fusion, facts).has_value();
}

int64_t GroupOf(int64_t bytes, int64_t line, int64_t most) {
  int64_t group = std::clamp<int64_t>(kGroupBytes / std::max<int64_t>(bytes, 1), 1, most);
  while (group > 1 && line % group != 0) group /= 2;
  return group;
}

int64_t LoopWidth(const HloInstruction& instruction, const LoopResults& results, const KernelFacts& facts) {
  const Shape& shape = results.leaf_shapes[0];
  const int64_t count = ShapeUtil::ElementsIn(shape);
  // Smaller arrays do not fill a device with more than one element per thread.
  if (count < facts.settings.group_elements_from || !results.has_root_per_leaf()) return 1;
  int64_t widest = WidestOperandBytes(instruction);
  bool flat = true;
  for (size_t i = 0; i < results.roots.size(); ++i) {
    widest = std::max<int64_t>(widest, PrimitiveTypeByteSize(results.leaf_shapes[i].element_type()));
    flat = flat && codegen::IsFlat(results.roots[i]);
  }
  const bool is_long =
      instruction.opcode() == HloOpcode::kFusion && instruction.called_computation()->instruction_count() > kMaxGrouped;
  const int64_t line = flat || shape.rank() == 0 ? count : shape.dimensions().back();
  return GroupOf(widest, line, is_long ? 2 : kMaxInGroup);
}

absl::StatusOr<KernelConfig> ChooseLoop(const HloInstruction& instruction, const KernelFacts& facts,
                                        absl::string_view why) {
  const LoopResults results = LoopResultsOf(instruction);
  for (const Shape& leaf : results.leaf_shapes) {
    if (!leaf.IsArray()) return Unimplemented("a fusion with a result that is not an array");
  }
  if (results.are_one_loop()) {
    const int64_t width = LoopWidth(instruction, results, facts);
    if (why.empty()) why = width > 1 ? "each element on its own, in groups of 16 bytes" : "each element on its own";
    return KernelConfig{.kind = KernelKind::kLoop,
                        .width = width,
                        .tile = {BlockFor(ShapeUtil::ElementsIn(results.leaf_shapes[0]) / width)},
                        .why = std::string(why)};
  }
  KernelConfig config{.kind = KernelKind::kLoopPerResult, .why = "results of different sizes"};
  for (size_t i = 0; i < results.roots.size(); ++i) {
    const LoopResults one = results.Only(static_cast<int64_t>(i));
    const int64_t width = LoopWidth(instruction, one, facts);
    config.tile.push_back(BlockFor(ShapeUtil::ElementsIn(one.leaf_shapes[0]) / width));
    config.tile.push_back(width);
  }
  return config;
}

absl::StatusOr<KernelConfig> ChooseKernel(const HloInstruction& instruction, const KernelFacts& facts) {
  if (HasTrait(instruction.opcode(), kControlFlow)) return ChooseControlFlow(instruction);
  if (IsDeviceTransfer(instruction))
    return KernelConfig{.kind = KernelKind::kDeviceTransfer, .why = "another rank has the other end"};
  if (HasTrait(instruction.opcode(), kCollective))
    return KernelConfig{.kind = KernelKind::kCollective, .why = "all ranks of a group take part"};
  const auto choose = [&]() -> absl::StatusOr<KernelConfig> {
    if (instruction.opcode() == HloOpcode::kCustomCall) return ChooseCustomCall(instruction, facts);
    if (IsHostCall(instruction)) return KernelConfig{.kind = KernelKind::kHostCall, .why = "the host has the data"};
    if (std::optional<KernelConfig> call = ChooseLibraryCall(instruction, facts)) return *std::move(call);
    return ChooseOwnKernel(instruction, facts);
  };
  absl::StatusOr<KernelConfig> config = choose();
  if (!config.ok()) return AddContext(config.status(), InstructionContext(instruction));
  return config;
}

std::unique_ptr<HloPass> MakeKernelChoice(const KernelFacts& facts) { return std::make_unique<KernelChoice>(facts); }

absl::Status CompleteKernelChoice(HloModule* module, const BufferAssignment& assignment, const KernelFacts& facts,
                                  const PassContext& context) {
  HILO_ASSIGN_OR_RETURN(const std::vector<HloComputation*> sequential, SequentialComputations(*module));
  for (HloComputation* computation : sequential) {
    for (HloInstruction* instruction : computation->instructions()) {
      if (!IsEmitted(*instruction, assignment)) continue;
      HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
      const KernelConfig* chosen = instruction->kernel();
      if (chosen == nullptr) {
        HILO_ASSIGN_OR_RETURN(KernelConfig config, ChooseKernel(*instruction, facts));
        instruction->set_kernel(std::move(config));
      } else if (chosen->kind == KernelKind::kUpdate && !UpdatesInPlace(*instruction, assignment)) {
        HILO_ASSIGN_OR_RETURN(KernelConfig config, ChooseLoop(*instruction, facts, "the operand is needed later"));
        instruction->set_kernel(std::move(config));
      }
      if (IsGenerated(*instruction))
        instruction->set_kernel({.kind = KernelKind::kGenerated, .why = "sorts by digits alone read it"});
    }
  }
  if (!facts.settings.sequences) return absl::OkStatus();
  HILO_RETURN_IF_ERROR(ChooseSequences(module, assignment, context));
  return ChooseGroups(module, assignment, facts, context);
}

bool IsEmitted(const HloInstruction& instruction, const BufferAssignment& assignment) {
  if (!IsCode(instruction)) return false;
  // Control flow may have side effects without a result.
  if (HasTrait(instruction.opcode(), kControlFlow) || IsHostCall(instruction)) return true;
  for (int64_t leaf = 0, leaves = LeafCount(instruction.shape()); leaf < leaves; ++leaf) {
    if (assignment.slice(&instruction, leaf).kind != StorageKind::kNone) return true;
  }
  return false;
}

bool UpdatesInPlace(const HloInstruction& instruction, const BufferAssignment& assignment) {
  const HloInstruction* hero = HeroOf(&instruction);
  if (hero->opcode() != HloOpcode::kDynamicUpdateSlice) return false;
  const HloInstruction* operand = FusedOperand(hero->operand(0), &instruction);
  return !operand->parent()->IsFusion() && !operand->IsConstant() &&
         assignment.slice(&instruction).SameMemory(assignment.slice(operand));
}

}  // namespace hilo::gpu
