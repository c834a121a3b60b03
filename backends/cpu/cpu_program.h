// A compiled module: linked code, its constants, and frames that runs borrow.
#ifndef HILO_BACKENDS_CPU_CPU_PROGRAM_H_
#define HILO_BACKENDS_CPU_CPU_PROGRAM_H_

#include <memory>
#include <mutex>
#include <vector>

#include "backends/cpu/cpu_abi.h"
#include "backends/cpu/program_emitter.h"
#include "backends/llvm/host_jit.h"
#include "base/aligned_buffer.h"
#include "runtime/compiler.h"
#include "shape/literal.h"

namespace hilo::cpu {

// The facts of a compiled module beside its code.
struct ProgramFacts {
  ProgramShape shape;
  std::vector<std::pair<int64_t, int64_t>> donations;
  int64_t frame_bytes = 0;
  int64_t parameter_leaves = 0;
  int64_t output_leaves = 0;
  double estimated_nanoseconds = 0;
  bool flush_denormals = false;
};

class CpuProgram : public CompiledProgram {
 public:
  // Copies the constants to aligned memory. Errors: ResourceExhausted; Internal if the code lacks its entry.
  static absl::StatusOr<std::unique_ptr<CpuProgram>> Create(
      ProgramFacts facts, std::unique_ptr<codegen::CompiledCode> code,
      absl::Span<const std::shared_ptr<const Literal>> constants, std::vector<PlacedHostOp> host_ops);

  absl::Status Run(const RunContext& context, absl::Span<const void* const> parameters,
                   absl::Span<void* const> outputs) const override;
  const ProgramShape& program_shape() const override { return facts_.shape; }
  absl::Span<const std::pair<int64_t, int64_t>> donations() const override { return facts_.donations; }
  int64_t temp_bytes() const override { return facts_.frame_bytes; }
  int64_t code_bytes() const override { return static_cast<int64_t>(code_->code_bytes()); }
  int64_t estimated_nanoseconds() const override { return static_cast<int64_t>(facts_.estimated_nanoseconds); }

 private:
  CpuProgram() = default;
  // HiloCpuContext::run_host_op.
  static int32_t RunHostOp(HiloCpuContext* context, int64_t index, uint8_t** pointers);
  absl::StatusOr<AlignedBuffer> TakeFrame() const;
  void ReturnFrame(AlignedBuffer frame) const;

  ProgramFacts facts_;
  std::unique_ptr<codegen::CompiledCode> code_;
  std::vector<PlacedHostOp> host_ops_;
  HiloScopeFunction entry_ = nullptr;
  AlignedBuffer constant_memory_;
  std::vector<const uint8_t*> constants_;
  mutable std::mutex mutex_;
  mutable std::vector<AlignedBuffer> frames_;  // idle ones
};

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_CPU_PROGRAM_H_
