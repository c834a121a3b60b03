// Keys of kernels that have equal code on different memory: equal layers of a network share one compilation.
#ifndef HILO_BACKENDS_CPU_FUNCTIONS_KERNEL_KEY_H_
#define HILO_BACKENDS_CPU_FUNCTIONS_KERNEL_KEY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "hlo/ir/hlo_instruction.h"
#include "hlo/memory/buffer_assignment.h"

namespace hilo::cpu {

class ProgramEmitter;

// The memory that a kernel receives as a table of pointers.
struct KernelTable {
  std::vector<BufferSlice> slices;                  // distinct
  absl::flat_hash_map<int64_t, int64_t> positions;  // by BufferSlice::buffer
};

// Returns true if a kernel's operand is a constant that the kernel reads from its table, so that kernels that differ in
// it are equal: fusions have such operands where that is so (hlo/passes/constant_operands.h).
bool IsScalarOperand(const HloInstruction& kernel, const HloInstruction& operand);

// Returns all memory of the instruction's operands and results except constants that are no scalar operands.
KernelTable KernelTableOf(const BufferAssignment& assignment, const HloInstruction* instruction);

// Returns a number of what a kernel computes, and how, on any memory. Kernels with equal keys have equal numbers if
// their operands have the same shapes.
uint64_t KernelFingerprint(const HloInstruction& instruction);

// Returns the chosen kernel, what it computes and on which memory. Kernels with equal keys can share code; each is
// called with its own table.
std::string KernelKey(ProgramEmitter& program, const KernelTable& table, const HloInstruction* instruction);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_FUNCTIONS_KERNEL_KEY_H_
