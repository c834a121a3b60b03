#include "backends/gpu/emitters/group_emitter.h"

#include "backends/gpu/emitters/emitters.h"
#include "backends/gpu/emitters/nest_emitter.h"
#include "backends/llvm/nest/loop_elements.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/hero.h"
#include "hlo/analysis/loop_results.h"
#include "hlo/ir/hlo_verifier.h"

namespace hilo::gpu {
namespace {

using codegen::Index;

// Emits the body of a member's nest at the indices of a thread.
absl::Status EmitMember(KernelEmitter& k, const HloInstruction* instruction, absl::Span<const Index> indices) {
  if (instruction->kernel()->kind == KernelKind::kUpdate)
    return EmitUpdateOfWindow(k, instruction, indices[0].Dims(k.context())[0].Base(k.context()));
  return EmitElements(k, LoopResultsOf(*instruction), indices);
}

codegen::NestDim NestOf(const HloInstruction* instruction) {
  const KernelConfig& config = *instruction->kernel();
  if (config.kind == KernelKind::kUpdate)
    return PerThread({ShapeUtil::ElementsIn(HeroOf(instruction)->operand(1)->shape())}, config.tile[0]);
  const LoopResults loop = LoopResultsOf(*instruction);
  const auto dimensions = loop.shape().dimensions();
  return PerThread({dimensions.begin(), dimensions.end()}, config.tile[0], config.width);
}

}  // namespace

absl::Status EmitGroup(ProgramEmitter& program, absl::Span<const HloInstruction* const> instructions) {
  const std::unique_ptr<KernelEmitter> k = KernelEmitter::ForGroup(&program, instructions);
  const int64_t block = instructions[0]->kernel()->tile[0];
  int64_t blocks = 0;
  for (const HloInstruction* instruction : instructions) {
    HILO_RET_CHECK(instruction->kernel()->tile[0] == block);
    const codegen::NestDim nest = NestOf(instruction);
    k->set_first_block(blocks);
    k->BeginInstruction(instruction);
    llvm::IRBuilder<>& b = k->b();
    // Blocks of members before this one are large numbers here.
    llvm::Value* is_own = b.CreateICmpULT(k->Block(), b.getInt64(static_cast<uint64_t>(nest.parts())));
    HILO_RETURN_IF_ERROR(AddContext(k->If("member", is_own,
                                          [&] {
                                            return EmitNest(*k, nest, [&](absl::Span<const Index> indices) {
                                              return EmitMember(*k, instruction, indices);
                                            });
                                          }),
                                    InstructionContext(*instruction)));
    blocks += nest.parts();
  }
  return k->FinishAndLaunch(instructions.back(), blocks, static_cast<int>(block));
}

}  // namespace hilo::gpu
