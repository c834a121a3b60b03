#include "backends/cpu/runtime/cpu_program.h"

#include <cstring>
#include <new>
#include <optional>

#include "absl/container/inlined_vector.h"
#include "backends/cpu/runtime/cpu_runtime.h"
#include "backends/cpu/runtime/floating_point_mode.h"
#include "base/errors.h"
#include "base/math.h"
#include "hilo/status_macros.h"
#include "runtime/guarded.h"
#include "runtime/profile/recorder.h"
#include "runtime/profile/tool_ranges.h"

namespace hilo::cpu {
namespace {

constexpr int64_t kAlignment = 64;

// Constants of so many bytes are not copied: 400 MB of weights take 0.4 s less to compile, and once their memory.
constexpr size_t kMinHeldBytes = 1 << 20;

bool IsHeld(const ProgramConstant& constant) {
  return constant.literal != nullptr && constant.bytes.size() >= kMinHeldBytes &&
         reinterpret_cast<uintptr_t>(constant.bytes.data()) % kAlignment == 0;
}

int64_t SlotBytes(const ProgramConstant& constant) {
  return CeilDiv(static_cast<int64_t>(constant.bytes.size()), kAlignment) * kAlignment;
}

// Idle frames that are kept.
constexpr size_t kMaxIdleFrames = 4;

// The profilers that see the steps of a run, as compiled code calls them. Lives as long as the run.
class RunProfile : public HiloProfile {
 public:
  RunProfile(const std::shared_ptr<const profile::StepTable>& table, int device)
      : HiloProfile{&MarkStep}, recorder_(profile::Session::OfThisThread()) {
    if (recorder_ != nullptr) recorder_->BeginRun(table, device);
    if (profile::ToolIsAttached()) ranges_.emplace(*table);
  }
  ~RunProfile() {
    ranges_.reset();
    if (recorder_ != nullptr) recorder_->EndRun();
  }
  RunProfile(const RunProfile&) = delete;
  RunProfile& operator=(const RunProfile&) = delete;

  bool is_on() const { return recorder_ != nullptr || ranges_.has_value(); }

 private:
  static void MarkStep(HiloProfile* profile, int64_t mark) {
    auto* const self = static_cast<RunProfile*>(profile);
    if (self->recorder_ != nullptr) self->recorder_->Mark(mark);
    if (self->ranges_.has_value()) self->ranges_->Mark(mark);
  }

  const std::shared_ptr<profile::Recorder> recorder_;
  std::optional<profile::ToolRanges> ranges_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<CpuProgram>> CpuProgram::Create(
    ProgramImage image, std::unique_ptr<codegen::CompiledCode> code, absl::Span<const ProgramConstant> constants,
    std::vector<std::unique_ptr<RuntimeCall>> runtime_calls) {
  auto program = std::unique_ptr<CpuProgram>(new CpuProgram());
  program->image_ = std::move(image);
  program->entry_ = reinterpret_cast<HiloScopeFunction>(code->Lookup(kEntrySymbol));
  if (program->entry_ == nullptr) return Internal("the compiled program has no entry");
  program->code_ = std::move(code);
  program->runtime_calls_ = std::move(runtime_calls);
  int64_t copied_bytes = 0;
  for (const ProgramConstant& constant : constants) {
    if (!IsHeld(constant)) copied_bytes += SlotBytes(constant);
  }
  HILO_ASSIGN_OR_RETURN(program->constant_memory_, AlignedBuffer::Create(copied_bytes));
  uint8_t* free = program->constant_memory_.data();
  for (const ProgramConstant& constant : constants) {
    program->constant_sizes_.push_back(constant.bytes.size());
    if (IsHeld(constant)) {
      program->literals_.push_back(constant.literal);
      program->constants_.push_back(reinterpret_cast<const uint8_t*>(constant.bytes.data()));
      continue;
    }
    if (!constant.bytes.empty()) std::memcpy(free, constant.bytes.data(), constant.bytes.size());
    program->constants_.push_back(free);
    free += SlotBytes(constant);
  }
  return program;
}

absl::Status CpuProgram::Serialize(Artifact* artifact) const {
  std::vector<absl::string_view> constants;
  for (size_t i = 0; i < constants_.size(); ++i) {
    constants.emplace_back(reinterpret_cast<const char*>(constants_[i]), constant_sizes_[i]);
  }
  EncodeProgram(image_, constants, artifact);
  return absl::OkStatus();
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
  return AlignedBuffer::Create(facts().frame_bytes);
}

void CpuProgram::ReturnFrame(AlignedBuffer frame) const {
  std::lock_guard<std::mutex> lock(mutex_);
  if (frames_.size() < kMaxIdleFrames) frames_.push_back(std::move(frame));
}

int32_t CpuProgram::RunRuntimeCall(HiloCpuContext* context, int64_t index, uint8_t** pointers) {
  const auto* program = static_cast<const CpuProgram*>(context->program);
  const RuntimeCallFacts& facts = program->image_.runtime_calls[index];
  uint8_t** results = pointers + facts.operand_leaves;
  auto* computations = reinterpret_cast<HiloElementFunction*>(results + facts.result_leaves);
  // The code that calls this cannot be unwound.
  try {
    const absl::Status status = Guarded([&] {
      return program->runtime_calls_[index]->Run(
          *static_cast<const RunContext*>(context->run),
          {.operands = {pointers, static_cast<size_t>(facts.operand_leaves)},
           .results = {results, static_cast<size_t>(facts.result_leaves)},
           .computations = {computations, static_cast<size_t>(facts.computations)}});
    });
    if (status.ok()) return HILO_OK;
    *static_cast<absl::Status*>(context->error) = AddContext(status, facts.context);
    return HILO_FAILED;
  } catch (const std::bad_alloc&) {  // even the allocation of the error text failed
    return HILO_OUT_OF_MEMORY;
  }
}

absl::Status CpuProgram::Run(const RunContext& context, absl::Span<const void* const> parameters,
                             absl::Span<void* const> outputs) const {
  if (static_cast<int64_t>(parameters.size()) != facts().parameter_leaves ||
      static_cast<int64_t>(outputs.size()) != facts().output_leaves) {
    return InvalidArgument("the program takes ", facts().parameter_leaves, " parameter and ", facts().output_leaves,
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
                     .run_runtime_call = &RunRuntimeCall,
                     .program = this,
                     .run = &context,
                     .error = &error,
                     .thread_pool = context.thread_pool,
                     .flush_denormals = facts().flush_denormals,
                     .profile = nullptr};
  RunProfile run_profile(image_.steps, context.device);
  if (run_profile.is_on()) run.profile = &run_profile;
  int32_t status;
  FloatingPointMode mode(facts().flush_denormals);
  if (facts().frame_bytes == 0) {
    alignas(64) uint8_t empty[64];
    status = entry_(&run, empty, buffers.data());
  } else {
    HILO_ASSIGN_OR_RETURN(AlignedBuffer frame, TakeFrame());
    status = entry_(&run, frame.data(), buffers.data());
    ReturnFrame(std::move(frame));
  }
  switch (status) {
    case HILO_OK: return absl::OkStatus();
    case HILO_STOPPED: return context.cancellation->status();
    case HILO_FAILED: return error;
    default: return ResourceExhausted("a sort or a function of the library could not get memory for its work space");
  }
}

}  // namespace hilo::cpu
