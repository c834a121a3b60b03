// The reductions that communicators may support.
#ifndef HILO_BACKENDS_GPU_COLLECTIVES_REDUCTION_KIND_H_
#define HILO_BACKENDS_GPU_COLLECTIVES_REDUCTION_KIND_H_

#include <optional>

#include "backends/gpu/collectives/device_communicator.h"
#include "hlo/ops/table/opcode_map.h"

namespace hilo::gpu {

inline std::optional<DeviceReduction> DeviceReductionOf(HloOpcode opcode) {
  static constexpr OpcodeMap<std::optional<DeviceReduction>> kReductions = {
      {HloOpcode::kAdd, DeviceReduction::kSum},
      {HloOpcode::kMaximum, DeviceReduction::kMax},
      {HloOpcode::kMinimum, DeviceReduction::kMin},
      {HloOpcode::kMultiply, DeviceReduction::kProd},
  };
  return kReductions[opcode];
}

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_COLLECTIVES_REDUCTION_KIND_H_
