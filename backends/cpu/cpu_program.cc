#include "backends/cpu/cpu_program.h"

#include <cstring>

#include "absl/container/inlined_vector.h"
#include "backends/cpu/cpu_runtime.h"
#include "backends/cpu/floating_point_mode.h"
#include "base/errors.h"
#include "base/status_macros.h"

namespace hilo::cpu {
namespace {

// Idle frames that are kept.
constexpr size_t kMaxIdleFrames = 4;

}  // namespace

absl::StatusOr<std::unique_ptr<CpuProgram>> CpuProgram::Create(
    ProgramFacts facts, std::unique_ptr<codegen::CompiledCode> code,
    absl::Span<const std::shared_ptr<const Literal>> constants, std::vector<PlacedHostOp> host_ops) {
  auto program = std::unique_ptr<CpuProgram>(new CpuProgram());
  program->facts_ = std::move(facts);
  program->entry_ = reinterpret_cast<HiloScopeFunction>(code->Lookup(ProgramEmitter::kEntrySymbol));
  if (program->entry_ == nullptr) return Internal("the compiled program has no entry");
  program->code_ = std::move(code);
  program->host_ops_ = std::move(host_ops);
  int64_t bytes = 0;
  std::vector<int64_t> offsets;
  for (const auto& constant : constants) {
    offsets.push_back(bytes);
    bytes += (static_cast<int64_t>(constant->untyped_data().size()) + 63) / 64 * 64;
  }
  HILO_ASSIGN_OR_RETURN(program->constant_memory_, AlignedBuffer::Create(bytes));
  for (size_t i = 0; i < constants.size(); ++i) {
    uint8_t* place = program->constant_memory_.data() + offsets[i];
    const auto data = constants[i]->untyped_data();
    if (!data.empty()) std::memcpy(place, data.data(), data.size());
    program->constants_.push_back(place);
  }
  return program;
}

absl::StatusOr<AlignedBuffer> CpuProgram::TakeFrame() const {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!frames_.empty()) {
      AlignedBuffer frame = std::move(frames_.back());
      frames_.pop_back();
      return frame;
    }
  }
  return AlignedBuffer::Create(facts_.frame_bytes);
}

void CpuProgram::ReturnFrame(AlignedBuffer frame) const {
  std::lock_guard<std::mutex> lock(mutex_);
  if (frames_.size() < kMaxIdleFrames) frames_.push_back(std::move(frame));
}

int32_t CpuProgram::RunHostOp(HiloCpuContext* context, int64_t index, uint8_t** pointers) {
  const PlacedHostOp& placed = static_cast<const CpuProgram*>(context->program)->host_ops_[index];
  uint8_t** results = pointers + placed.operand_leaves;
  auto* computations = reinterpret_cast<HiloElementFunction*>(results + placed.result_leaves);
  const absl::Status status = placed.op->Run(*static_cast<const RunContext*>(context->run),
                                             {.operands = {pointers, placed.operand_leaves},
                                              .results = {results, placed.result_leaves},
                                              .computations = {computations, placed.computations}});
  if (status.ok()) return HILO_OK;
  *static_cast<absl::Status*>(context->error) = AddContext(status, placed.context);
  return HILO_FAILED;
}

absl::Status CpuProgram::Run(const RunContext& context, absl::Span<const void* const> parameters,
                             absl::Span<void* const> outputs) const {
  if (static_cast<int64_t>(parameters.size()) != facts_.parameter_leaves ||
      static_cast<int64_t>(outputs.size()) != facts_.output_leaves) {
    return InvalidArgument("the program takes ", facts_.parameter_leaves, " parameter and ", facts_.output_leaves,
                           " output leaves, but got ", parameters.size(), " and ", outputs.size());
  }
  absl::InlinedVector<uint8_t*, 16> buffers;
  for (const void* parameter : parameters) buffers.push_back(static_cast<uint8_t*>(const_cast<void*>(parameter)));
  for (void* output : outputs) buffers.push_back(static_cast<uint8_t*>(output));
  static constexpr int32_t kNeverCancelled = 0;
  absl::Status error;
  HiloCpuContext run{.cancelled = context.cancellation == nullptr ? &kNeverCancelled : context.cancellation->flag(),
                     .constants = constants_.data(),
                     .parallel_for = &ParallelFor,
                     .run_host_op = &RunHostOp,
                     .program = this,
                     .run = &context,
                     .error = &error,
                     .thread_pool = context.thread_pool,
                     .flush_denormals = facts_.flush_denormals};
  int32_t status;
  FloatingPointMode mode(facts_.flush_denormals);
  if (facts_.frame_bytes == 0) {
    alignas(64) uint8_t empty[64];
    status = entry_(&run, empty, buffers.data());
  } else {
    HILO_ASSIGN_OR_RETURN(AlignedBuffer frame, TakeFrame());
    status = entry_(&run, frame.data(), buffers.data());
    ReturnFrame(std::move(frame));
  }
  switch (status) {
    case HILO_OK:
      return absl::OkStatus();
    case HILO_STOPPED:
      return context.cancellation->status();
    case HILO_FAILED:
      return error;
    default:
      return ResourceExhausted("a sort could not get memory for its work space");
  }
}

}  // namespace hilo::cpu
