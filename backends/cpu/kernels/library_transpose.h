// Which transposes are computed by the tiles of transpose/, and their loops in numbers. Independent of LLVM.
#ifndef HILO_BACKENDS_CPU_KERNELS_LIBRARY_TRANSPOSE_H_
#define HILO_BACKENDS_CPU_KERNELS_LIBRARY_TRANSPOSE_H_

#include <optional>

#include "backends/cpu/transpose/transpose_loops.h"
#include "backends/llvm/lanes/lane_plan.h"
#include "hlo/ir/hlo_instruction.h"
#include "hlo/ir/kernel_config.h"

namespace hilo::cpu {

// Returns the loops of an instruction of the kernel tiled-transpose if it is a transpose and nothing else, of elements
// of 4 or 8 bytes, whose rows and columns fill the vectors of the kernel.
std::optional<transpose::Loops> LibraryLoopsOf(const HloInstruction& instruction, const KernelConfig& tiles,
                                               const codegen::TargetTraits& target);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_KERNELS_LIBRARY_TRANSPOSE_H_
