// Which convolutions are products of patches (convolution/patches.h) and the kernel. Independent of LLVM.
#ifndef HILO_BACKENDS_CPU_KERNELS_PATCH_CONVOLUTION_H_
#define HILO_BACKENDS_CPU_KERNELS_PATCH_CONVOLUTION_H_

#include <optional>

#include "backends/cpu/convolution/patches.h"
#include "backends/llvm/jit/host_features.h"
#include "hlo/ir/hlo_instruction.h"

namespace hilo::cpu {

// Returns the patches of a convolution of s8 whose sums are s32, without groups and holes in its input, with batch and
// features as the patches have them, if there is enough work to copy them for.
std::optional<convolution::Patches> PatchesOf(const HloInstruction& convolution);

// Returns true if there are such patches, and processors with `features` compute their product in less time than the
// convolution in F32. Other convolutions of s8 are expanded before kernels are chosen.
bool IsPatchConvolution(const HloInstruction& convolution, const codegen::CpuFeatures& features);

// Returns the number of calls.
int64_t CallsOf(const convolution::Patches& patches);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_KERNELS_PATCH_CONVOLUTION_H_
