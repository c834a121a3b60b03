// The operands of dots as the sides of products.
#ifndef HILO_BACKENDS_GPU_EMITTERS_PRODUCTS_DOT_OPERAND_H_
#define HILO_BACKENDS_GPU_EMITTERS_PRODUCTS_DOT_OPERAND_H_

#include "backends/gpu/emitters/kernel_emitter.h"
#include "backends/gpu/emitters/products/strip_loader.h"
#include "hlo/analysis/dot_sides.h"

namespace hilo::gpu {

// Batches, positions and depths are row-major indices of the side's batch, free and contracting dimensions. `array` is
// what holds the operand in memory, in the same order, or what gathers take it from (ArrayOfLines); null: elements are
// computed. The arguments outlive the result.
ProductSide ProductSideOf(KernelEmitter& k, const DotSide& side, const HloInstruction* array = nullptr);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMITTERS_PRODUCTS_DOT_OPERAND_H_
