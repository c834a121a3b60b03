// Which kernels are the same code on other memory: a network of equal layers compiles each of its kernels once.
#ifndef HILO_BACKENDS_CPU_COMPILE_KERNEL_KEY_H_
#define HILO_BACKENDS_CPU_COMPILE_KERNEL_KEY_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "hlo/ir/hlo_instruction.h"
#include "hlo/memory/buffer_assignment.h"

namespace hilo::cpu {

class ProgramEmitter;

// The memory that a kernel gets as a table of pointers.
struct KernelTable {
  std::vector<BufferSlice> slices;                  // distinct
  absl::flat_hash_map<int64_t, int64_t> positions;  // by BufferSlice::buffer
};

// All memory of the instruction's operands and results but constants.
KernelTable KernelTableOf(const BufferAssignment& assignment, const HloInstruction* instruction);

// Equal keys: the same code serves, given each kernel's own table.
std::string KernelKey(ProgramEmitter& program, const KernelTable& table, const HloInstruction* instruction);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_COMPILE_KERNEL_KEY_H_
