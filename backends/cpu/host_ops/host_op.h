// Host ops: instructions that are calls of C++ rather than generated code, because a library or the world outside the
// program does their work.
//
// A host op is made from its instruction when the program is compiled; its instruction is gone when it runs, so it
// keeps what it needs. The code of the program calls it through HiloCpuContext::run_host_op with the addresses of its
// arrays.
#ifndef HILO_BACKENDS_CPU_HOST_OPS_HOST_OP_H_
#define HILO_BACKENDS_CPU_HOST_OPS_HOST_OP_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/cpu/runtime/cpu_abi.h"
#include "hlo/ir/hlo_instruction.h"
#include "runtime/compile_options.h"
#include "runtime/compiler.h"

namespace hilo::cpu {

// Leaves are counted depth first over all operands, and over the result; tokens and empty arrays have a place but no
// memory (null). Arrays are dense and row-major, and aligned to 16 bytes. Results overlap no operand.
struct HostOpArrays {
  absl::Span<const uint8_t* const> operands;
  absl::Span<uint8_t* const> results;
  // The called computations, compiled; those that do not map scalars to scalars are left out.
  absl::Span<const HiloElementFunction> computations;
};

class HostOp {
 public:
  virtual ~HostOp() = default;
  // Thread-safe: any number of runs at once. Long work polls run.cancellation and may use run.thread_pool; results do
  // not depend on its size. Errors end the run and are its errors; what the instruction is gets added to them.
  virtual absl::Status Run(const RunContext& run, const HostOpArrays& arrays) const = 0;
};

// Whether the instruction is emitted as a host op.
bool IsHostOp(const HloInstruction& instruction);
// Errors: Unimplemented; InvalidArgument.
absl::StatusOr<std::unique_ptr<HostOp>> MakeHostOp(const HloInstruction& instruction, const CompileOptions& options);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_HOST_OPS_HOST_OP_H_
