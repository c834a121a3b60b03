// Dots that are large enough: tiles of the result, one block per tile (tiled_product.h). Operands are element
// generators, so producers fused into them, their types and the order of their dimensions have no extra cost; what is
// fused after the dot is computed from each sum before it is stored.
#include "backends/gpu/emitters/emitters.h"
#include "backends/gpu/emitters/products/dot_operand.h"
#include "backends/gpu/emitters/products/tiled_product.h"
#include "backends/gpu/match/operands.h"
#include "backends/llvm/elements/scalar_ops.h"
#include "backends/llvm/nest/loop_elements.h"
#include "base/math.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/dot_sides.h"
#include "hlo/analysis/hero.h"
#include "hlo/analysis/loop_results.h"
#include "hlo/ops/reduction/sum_type.h"

namespace hilo::gpu {
namespace {

using codegen::ElementValue;
using codegen::Index;
using codegen::LaneIndex;

PrimitiveType SumTypeOf(const HloInstruction& dot) {
  return SumType(dot.operand(0)->shape().element_type(), dot.operand(1)->shape().element_type(),
                 dot.shape().element_type());
}

class DotKernel {
 public:
  DotKernel(KernelEmitter& k, const HloInstruction* instruction)
      : k_(k),
        instruction_(instruction),
        dot_(DotOf(*instruction)),
        results_(LoopResultsOf(*instruction)),
        lhs_(LhsOf(*dot_)),
        rhs_(RhsOf(*dot_)),
        sum_type_(SumTypeOf(*dot_)) {}

  TiledProduct product() {
    return {.batch = Product(lhs_.batch_sizes),
            .depth = Product(lhs_.contracting_sizes),
            .lhs = ProductSideOf(k_, lhs_, ArrayOfOperand(lhs_.operand, instruction_)),
            .rhs = ProductSideOf(k_, rhs_, ArrayOfOperand(rhs_.operand, instruction_)),
            .sum_type = sum_type_,
            .store = [this](auto* batch, auto* m, auto* n, auto sums) { return Store(batch, m, n, sums); }};
  }

 private:
  absl::Status Store(llvm::Value* batch, llvm::Value* m, llvm::Value* n, absl::Span<const ElementValue> sums) {
    const std::vector<LaneIndex> batches = k_.Delinearize(batch, lhs_.batch_sizes),
                                 rows = k_.Delinearize(m, lhs_.free_sizes);
    const auto count = static_cast<int64_t>(sums.size());
    const bool adjacent = !rhs_.free_sizes.empty() && rhs_.free_sizes.back() % count == 0;
    const auto columns = k_.Adjacent(n, rhs_.free_sizes, adjacent ? count : 1);
    for (int64_t i = 0; i < count; ++i) {
      std::vector<LaneIndex> at = batches;
      at.insert(at.end(), rows.begin(), rows.end());
      const std::vector<LaneIndex> column =
          adjacent ? columns[i]
                   : k_.Delinearize(k_.b().CreateAdd(n, k_.b().getInt64(static_cast<uint64_t>(i))), rhs_.free_sizes);
      at.insert(at.end(), column.begin(), column.end());
      k_.SetValue(dot_, codegen::EmitConvert(k_.context(), sum_type_, dot_->shape().element_type(), sums[i]));
      const Index index(std::move(at));
      HILO_RETURN_IF_ERROR(EmitElements(k_, results_, {&index, 1}));
    }
    return absl::OkStatus();
  }

  KernelEmitter& k_;
  const HloInstruction *instruction_, *dot_;
  const LoopResults results_;
  const DotSide lhs_, rhs_;
  const PrimitiveType sum_type_;
};

}  // namespace

absl::Status EmitDot(ProgramEmitter& program, const HloInstruction* instruction) {
  const int64_t parts = instruction->kernel()->parts;
  std::vector<KernelArgument> sums;
  if (parts > 1) {
    const HloInstruction& dot = *DotOf(*instruction);
    const int64_t bytes = parts * ShapeUtil::ElementsIn(dot.shape()) * PrimitiveTypeByteSize(SumTypeOf(dot));
    sums.push_back(KernelArgument::Scratch(program.AllocateScratch(bytes), bytes, true));
  }
  {
    KernelEmitter k(&program, instruction, sums);
    DotKernel kernel(k, instruction);
    TiledProduct product = kernel.product();
    if (parts > 1) product.partial_sums = k.extra(0);
    HILO_RETURN_IF_ERROR(product.EmitAndLaunch(instruction, k));
  }
  if (parts == 1) return absl::OkStatus();
  sums[0].written = false;
  KernelEmitter k(&program, instruction, sums);
  DotKernel kernel(k, instruction);
  TiledProduct product = kernel.product();
  product.partial_sums = k.extra(0);
  return product.EmitCombination(instruction, k);
}

}  // namespace hilo::gpu
