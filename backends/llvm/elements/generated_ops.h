// The opcodes that an ElementEmitter emits from their operands' elements: those allowed in the loop of a fusion.
#ifndef HILO_BACKENDS_LLVM_ELEMENTS_GENERATED_OPS_H_
#define HILO_BACKENDS_LLVM_ELEMENTS_GENERATED_OPS_H_

#include "hlo/ops/table/opcode_map.h"

namespace hilo::codegen {

// Their elements are those of another instruction: an operand, or the root of a fusion.
inline constexpr OpcodeSet kResolvedOps = {
    HloOpcode::kAddDependency,       HloOpcode::kFusion, HloOpcode::kGetTupleElement,
    HloOpcode::kOptimizationBarrier, HloOpcode::kTuple,
};
// Besides the element-wise ops, those that have a generator (data_movement.cc).
inline constexpr OpcodeSet kGeneratedOps = {
    HloOpcode::kBitcast,      HloOpcode::kBitcastConvert,
    HloOpcode::kBroadcast,    HloOpcode::kConcatenate,
    HloOpcode::kConstant,     HloOpcode::kDot,
    HloOpcode::kDynamicSlice, HloOpcode::kDynamicUpdateSlice,
    HloOpcode::kGather,       HloOpcode::kIota,
    HloOpcode::kPad,          HloOpcode::kReduce,
    HloOpcode::kReduceWindow, HloOpcode::kReshape,
    HloOpcode::kReverse,      HloOpcode::kSlice,
    HloOpcode::kTranspose,
};

constexpr bool IsElementGenerated(HloOpcode opcode) {
  return IsElementwise(opcode) || kResolvedOps.contains(opcode) || kGeneratedOps.contains(opcode);
}

}  // namespace hilo::codegen

#endif  // HILO_BACKENDS_LLVM_ELEMENTS_GENERATED_OPS_H_
