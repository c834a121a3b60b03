#include "backends/cpu/kernels/kernels.h"

#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/ops/table/hlo_opcode.h"

namespace hilo::cpu {

using codegen::LaneIndex;

const HloInstruction* HeroOf(const HloInstruction* instruction) {
  while (instruction->opcode() == HloOpcode::kFusion) {
    instruction = instruction->called_computation()->root_instruction();
  }
  return instruction;
}

bool HasIndependentParts(const HloInstruction& instruction) {
  const HloOpcode hero = HeroOf(&instruction)->opcode();
  return hero != HloOpcode::kDynamicUpdateSlice && hero != HloOpcode::kScatter;
}

absl::StatusOr<Kernel> MakeKernel(FunctionEmitter& f, const HloInstruction* instruction) {
  const HloInstruction* hero = HeroOf(instruction);
  switch (hero->opcode()) {
    case HloOpcode::kReduce: return ReduceKernel(f, instruction);
    case HloOpcode::kDynamicUpdateSlice: return UpdateSliceKernel(f, instruction);
    case HloOpcode::kDot: return DotKernel(f, instruction);
    case HloOpcode::kScatter: return ScatterKernel(f, instruction);
    case HloOpcode::kSort: return SortKernel(f, instruction);
    case HloOpcode::kReduceWindow: return ReduceWindowKernel(f, instruction);
    case HloOpcode::kSelectAndScatter: return SelectAndScatterKernel(f, instruction);
    case HloOpcode::kCopy:
      if (hero == instruction) return CopyKernel(f, instruction);
      return LoopKernel(f, instruction);
    case HloOpcode::kConvolution: return ConvolutionKernel(f, instruction);
    default: break;
  }
  if (!codegen::IsElementGenerated(hero->opcode()) && hero->opcode() != HloOpcode::kTuple) {
    return Unimplemented(HloOpcodeString(hero->opcode()), " is not supported on this platform yet");
  }
  return LoopKernel(f, instruction);
}

absl::Status ForEach(FunctionEmitter& f, absl::string_view name, llvm::Value* begin, llvm::Value* end,
                     absl::FunctionRef<absl::Status(llvm::Value*)> body, int64_t step, int64_t most) {
  auto* first = llvm::dyn_cast<llvm::ConstantInt>(begin);
  auto* last = llvm::dyn_cast<llvm::ConstantInt>(end);
  if (first != nullptr && last != nullptr && first->getSExtValue() + step >= last->getSExtValue()) {
    if (first->getSExtValue() >= last->getSExtValue()) return absl::OkStatus();
    return body(begin);
  }
  auto result = codegen::EmitLoop(
      f.context(), name, begin, end, step, {},
      [&](llvm::Value* i, const codegen::Carried&) -> absl::StatusOr<codegen::Carried> {
        HILO_RETURN_IF_ERROR(body(i));
        return codegen::Carried();
      },
      /*at_least_once=*/false, most);
  return result.status();
}

absl::Status ForEachVector(FunctionEmitter& f, absl::string_view name, int64_t size, int width,
                           absl::FunctionRef<absl::Status(const LaneIndex&)> body) {
  llvm::IRBuilder<>& b = f.b();
  const int64_t whole = size / width * width;
  if (whole > 0) {
    codegen::RegionScope region(f.context());
    f.context().lanes = {.width = width};
    HILO_RETURN_IF_ERROR(ForEach(
        f, name, b.getInt64(0), b.getInt64(whole),
        [&](llvm::Value* i) { return body(LaneIndex::Strided(i, 1, width, size)); }, width));
  }
  if (whole == size) return absl::OkStatus();
  codegen::RegionScope region(f.context());
  std::vector<llvm::Constant*> active;
  for (int lane = 0; lane < width; ++lane) active.push_back(b.getInt1(lane < size - whole));
  f.context().lanes = {.width = width, .mask = llvm::ConstantVector::get(active)};
  return body(LaneIndex::Strided(b.getInt64(whole), 1, width, size));
}

std::vector<LaneIndex> Delinearize(FunctionEmitter& f, llvm::Value* linear, absl::Span<const int64_t> dimensions) {
  int64_t count = 1;
  for (int64_t dimension : dimensions) count *= dimension;
  if (dimensions.empty()) return {};
  return codegen::Index::FromLinear(LaneIndex::Uniform(linear, 1, count), dimensions).Dims(f.context());
}

}  // namespace hilo::cpu
