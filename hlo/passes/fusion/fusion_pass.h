// What the passes that make fusions share: which computations they visit, and how large their groups may become.
#ifndef HILO_HLO_PASSES_FUSION_FUSION_PASS_H_
#define HILO_HLO_PASSES_FUSION_FUSION_PASS_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "hlo/ir/hlo_computation.h"
#include "hlo/ir/hlo_module.h"
#include "hlo/passes/hlo_pass.h"

namespace hilo {

// Bounds of one group. They bound the code of its kernel, the depth to which emission recurses, and the search for the
// group; the operands are pointers that the kernel keeps in registers or reloads.
struct FusionLimits {
  size_t members;
  size_t operands;
};
// Measured with 256 members and 512 (and half of the emitted members below), CPU: the logarithm of gamma as JAX writes
// it, 400 instructions, 730 and 567 us, compiled in 49 and 33 ms; 4000 instructions of products, sums and functions 107
// and 107 ms, 355 and 185; two Bessel functions 1.54 and 1.73 ms, 27 and 32.
inline constexpr FusionLimits kLoopLimits = {.members = 512, .operands = 192};
// Loops that are merged into one with several results, each of which is read or written as a stream besides.
inline constexpr FusionLimits kMergedLoopLimits = {.members = 192, .operands = 24};
inline constexpr FusionLimits kRowLimits = {.members = 128, .operands = 48};
inline constexpr FusionLimits kDotLimits = {.members = 64, .operands = 48};
inline constexpr FusionLimits kAttentionLimits = {.members = 96, .operands = 32};
inline constexpr FusionLimits kAttentionGradientLimits = {.members = 160, .operands = 32};

// Members that a kernel computes, each counted once for every index at which it does: when producers join a loop, and
// when loops are merged.
inline constexpr int64_t kMaxEmittedOfGroup = 600;

// A pass that fuses instructions of the entry computation, of called computations and of those of control flow, but
// not of those that are part of an instruction, as reducers and the bodies of fusions are.
class FusionPass : public HloPass {
 public:
  absl::StatusOr<bool> Run(HloModule* module, const PassContext& context) final;

 protected:
  // Returns true if the computation changed. Errors: as Run.
  virtual absl::StatusOr<bool> FuseComputation(HloComputation* computation, const PassContext& context) = 0;
};

}  // namespace hilo

#endif  // HILO_HLO_PASSES_FUSION_FUSION_PASS_H_
