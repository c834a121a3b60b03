// Classifies reduction computations for communicators that may support them.
#ifndef HILO_BACKENDS_GPU_COLLECTIVES_REDUCTION_KIND_H_
#define HILO_BACKENDS_GPU_COLLECTIVES_REDUCTION_KIND_H_

#include <optional>

#include "backends/gpu/collectives/device_communicator.h"
#include "hlo/ir/hlo_computation.h"

namespace hilo::gpu {

// Returns the opcode if the computation only applies a binary op to its two parameters, in either order.
inline std::optional<HloOpcode> ReductionOpcode(const HloComputation& computation) {
  const HloInstruction& root = *computation.root_instruction();
  if (computation.num_parameters() != 2 || root.operand_count() != 2) return std::nullopt;
  const HloInstruction *a = root.operand(0), *b = root.operand(1);
  if (!a->IsParameter() || !b->IsParameter() || a == b) return std::nullopt;
  switch (root.opcode()) {
    case HloOpcode::kAdd:
    case HloOpcode::kAnd:
    case HloOpcode::kMaximum:
    case HloOpcode::kMinimum:
    case HloOpcode::kMultiply:
    case HloOpcode::kOr:
    case HloOpcode::kXor: return root.opcode();
    default: return std::nullopt;
  }
}

inline std::optional<DeviceReduction> DeviceReductionOf(HloOpcode opcode) {
  switch (opcode) {
    case HloOpcode::kAdd: return DeviceReduction::kSum;
    case HloOpcode::kMultiply: return DeviceReduction::kProd;
    case HloOpcode::kMaximum: return DeviceReduction::kMax;
    case HloOpcode::kMinimum: return DeviceReduction::kMin;
    default: return std::nullopt;
  }
}

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_COLLECTIVES_REDUCTION_KIND_H_
