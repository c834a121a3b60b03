// A compiled module: linked code, its constants, and frames that runs borrow.
#ifndef HILO_BACKENDS_CPU_RUNTIME_CPU_PROGRAM_H_
#define HILO_BACKENDS_CPU_RUNTIME_CPU_PROGRAM_H_

#include <memory>
#include <mutex>
#include <vector>

#include "absl/strings/string_view.h"
#include "backends/cpu/runtime/cpu_abi.h"
#include "backends/cpu/runtime/program_image.h"
#include "backends/cpu/runtime/runtime_call.h"
#include "backends/llvm/jit/host_jit.h"
#include "base/aligned_buffer.h"
#include "hilo/literal.h"
#include "runtime/compiler.h"

namespace hilo::cpu {

// The elements of a constant, and the literal that they are in; null if a program has to copy them.
struct ProgramConstant {
  absl::string_view bytes;
  std::shared_ptr<const Literal> literal;
};

class CpuProgram : public CompiledProgram {
 public:
  // Holds large constants by their literals; the bytes of others are copied to aligned memory. `code` is the image's
  // linked objects; `runtime_calls` were made for it. Errors: ResourceExhausted; Internal if the code lacks its entry.
  static absl::StatusOr<std::unique_ptr<CpuProgram>> Create(ProgramImage image,
                                                            std::unique_ptr<codegen::CompiledCode> code,
                                                            absl::Span<const ProgramConstant> constants,
                                                            std::vector<std::unique_ptr<RuntimeCall>> runtime_calls);

  absl::Status Run(const RunContext& context, absl::Span<const void* const> parameters,
                   absl::Span<void* const> outputs) const override;
  absl::Status Serialize(Artifact* artifact) const override;
  const ProgramShape& program_shape() const override { return facts().shape; }
  absl::Span<const std::pair<int64_t, int64_t>> donations() const override { return facts().donations; }
  int64_t temp_bytes() const override { return facts().frame_bytes; }
  int64_t code_bytes() const override { return static_cast<int64_t>(code_->code_bytes()); }
  int64_t estimated_nanoseconds() const override { return static_cast<int64_t>(facts().estimated_nanoseconds); }
  const profile::StepTable* steps() const override { return image_.steps.get(); }

 private:
  CpuProgram() = default;
  // HiloCpuContext::run_runtime_call.
  static int32_t RunRuntimeCall(HiloCpuContext* context, int64_t index, uint8_t** pointers);
  absl::StatusOr<AlignedBuffer> TakeFrame() const;
  void ReturnFrame(AlignedBuffer frame) const;

  const ProgramFacts& facts() const { return image_.facts; }

  ProgramImage image_;  // kept for serialization, with its objects, which are about 1.5 times the linked code
  std::unique_ptr<codegen::CompiledCode> code_;
  std::vector<std::unique_ptr<RuntimeCall>> runtime_calls_;
  HiloScopeFunction entry_ = nullptr;
  AlignedBuffer constant_memory_;
  std::vector<std::shared_ptr<const Literal>> literals_;  // constants outside of constant_memory_
  std::vector<const uint8_t*> constants_;
  std::vector<size_t> constant_sizes_;
  mutable std::mutex mutex_;
  mutable std::vector<AlignedBuffer> frames_;  // idle
};

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_RUNTIME_CPU_PROGRAM_H_
