// dynamic-update-slice in place: only the window is written, with one thread per element.
#include "backends/gpu/emitters/emitters.h"
#include "backends/gpu/emitters/nest_emitter.h"
#include "backends/llvm/elements/predication.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/hero.h"

namespace hilo::gpu {
namespace {

using codegen::ElementValue;
using codegen::Index;
using codegen::LaneIndex;

}  // namespace

absl::Status EmitUpdateOfWindow(KernelEmitter& k, const HloInstruction* instruction, llvm::Value* i) {
  const HloInstruction* hero = HeroOf(instruction);
  const HloInstruction* update = hero->operand(1);
  const std::vector<LaneIndex> from = k.Delinearize(i, update->shape().dimensions());
  HILO_ASSIGN_OR_RETURN(ElementValue value, k.elements().Generate(update, Index(from)));
  std::vector<LaneIndex> to;
  for (int64_t d = 0; d < hero->shape().rank(); ++d) {
    const HloInstruction* operand = hero->operand(2 + d);
    HILO_ASSIGN_OR_RETURN(ElementValue start, k.elements().Generate(operand, Index()));
    const int64_t highest = hero->shape().dimensions(d) - update->shape().dimensions(d);
    to.push_back(
        codegen::ClampedIndex(k.context(), operand->shape().element_type(), start, highest).Add(k.context(), from[d]));
  }
  k.ArrayOf(instruction).Store(k.context(), Index(std::move(to)), value);
  return absl::OkStatus();
}

absl::Status EmitUpdateSlice(ProgramEmitter& program, const HloInstruction* instruction) {
  const int64_t count = ShapeUtil::ElementsIn(HeroOf(instruction)->operand(1)->shape());
  const int64_t block = instruction->kernel()->tile[0];
  KernelEmitter k(&program, instruction);
  return EmitThreads(k, instruction, count, block,
                     [&](llvm::Value* i) { return EmitUpdateOfWindow(k, instruction, i); });
}

}  // namespace hilo::gpu
