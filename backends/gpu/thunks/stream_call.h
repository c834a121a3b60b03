// Custom calls of functions that work on device memory and queue on the device's stream: those registered for platform
// CUDA.
#ifndef HILO_BACKENDS_GPU_THUNKS_STREAM_CALL_H_
#define HILO_BACKENDS_GPU_THUNKS_STREAM_CALL_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/gpu/thunks/host_call.h"
#include "runtime/custom_call/custom_call.h"

namespace hilo::gpu {

// Not captured into graphs: what a function queues may differ from call to call.
class StreamCallThunk : public Thunk {
 public:
  // Errors: as ffi::CustomCall::Create, for functions that are not registered for kStreamPlatform.
  static absl::StatusOr<std::unique_ptr<StreamCallThunk>> Create(const HloInstruction& instruction,
                                                                 CallInstruction call,
                                                                 const CustomCallRegistry* custom_calls);
  static std::unique_ptr<Thunk> Read(ThunkReader& in);
  ThunkKind kind() const override { return ThunkKind::kStreamCall; }
  void Write(ThunkWriter& out) const override { WriteCall(call_, out); }
  absl::Status Run(GpuRun& run) const override;
  std::optional<std::vector<KernelArgument>> Touches() const override;
  std::string ToString(const std::string& indent) const override;

 private:
  StreamCallThunk(CallInstruction call, std::unique_ptr<ffi::CustomCall> function)
      : call_(std::move(call)), function_(std::move(function)) {}

  CallInstruction call_;
  std::unique_ptr<ffi::CustomCall> function_;
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_THUNKS_STREAM_CALL_H_
