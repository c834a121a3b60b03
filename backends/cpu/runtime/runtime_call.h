// Runtime calls: instructions that call C++ functions rather than generated code, because a library or the environment
// of the program performs them.
//
// A runtime call is created from its instruction when the program is compiled. The instruction no longer exists at run
// time, so the op stores what it needs. Compiled code calls it through HiloCpuContext::run_runtime_call with the
// addresses of its arrays.
#ifndef HILO_BACKENDS_CPU_RUNTIME_RUNTIME_CALL_H_
#define HILO_BACKENDS_CPU_RUNTIME_RUNTIME_CALL_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/cpu/runtime/cpu_abi.h"
#include "hilo/executable.h"
#include "hlo/ir/hlo_instruction.h"
#include "runtime/compiler.h"

namespace hilo::cpu {

// Leaves are counted depth first over all operands, and over the result; tokens and empty arrays have an index but no
// memory (null). Arrays are dense, row-major and aligned to 16 bytes. Results overlap no operand.
struct RuntimeCallArrays {
  absl::Span<const uint8_t* const> operands;
  absl::Span<uint8_t* const> results;
  // The compiled called computations; those that do not map scalars to scalars are omitted.
  absl::Span<const HiloElementFunction> computations;
};

class RuntimeCall {
 public:
  virtual ~RuntimeCall() = default;
  // Thread-safe: runs may be concurrent. Long work polls run.cancellation and may use run.thread_pool; results do not
  // depend on its size. An error ends the run and becomes its error, with a description of the instruction added.
  virtual absl::Status Run(const RunContext& run, const RuntimeCallArrays& arrays) const = 0;
};

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_RUNTIME_RUNTIME_CALL_H_
