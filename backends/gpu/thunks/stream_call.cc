// A call is made in stream order, with its arrays declared: on CUDA immediately, to queue on the native stream; on the
// emulated device when the stream reaches it, and the function works on the arrays as a kernel would. There its stream
// argument is the GpuStream itself, which accepts launches like any other.
#include "backends/gpu/thunks/stream_call.h"

#include <memory>
#include <optional>

#include "absl/strings/str_cat.h"
#include "backends/gpu/driver/gpu_platform.h"
#include "backends/gpu/thunks/host_call.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/ir/hlo_verifier.h"
#include "hlo/ops/structure/custom_call_attributes.h"
#include "runtime/ffi/call_device.h"
#include "runtime/ffi/custom_call.h"

namespace hilo::gpu {
namespace {

class StreamDevice : public ffi::CallDevice {
 public:
  // `native` is null on the emulated device.
  StreamDevice(GpuDriver& driver, GpuStream& stream, void* native)
      : driver_(driver), stream_(stream), native_(native) {}
  void* stream() override { return native_ == nullptr ? &stream_ : native_; }
  // The emulated device has reached the call: memory is available now.
  absl::StatusOr<void*> Allocate(int64_t bytes) override {
    return driver_.Allocate(bytes, native_ == nullptr ? nullptr : &stream_);
  }
  absl::Status Free(void* memory) override { return driver_.Free(memory, &stream_); }

 private:
  GpuDriver& driver_;
  GpuStream& stream_;
  void* native_;
};

// Not captured into graphs: what a function queues may differ from call to call.
class StreamCallThunk : public Thunk {
 public:
  StreamCallThunk(std::string name, std::string context, std::unique_ptr<ffi::CustomCall> call, CallLeaves leaves)
      : name_(std::move(name)), context_(std::move(context)), call_(std::move(call)), leaves_(std::move(leaves)) {}

  absl::Status Run(GpuRun& run) const override {
    std::vector<const uint8_t*> operands;
    std::vector<uint8_t*> results;
    std::vector<GpuSlice> slices;
    const auto address = [&](const BufferSlice& slice) {
      return slice.kind == StorageKind::kNone ? nullptr : run.Address(slice);
    };
    for (const BufferSlice& slice : leaves_.operands) {
      operands.push_back(address(slice));
      if (operands.back() != nullptr) slices.push_back(GpuSlice::Read(operands.back(), slice.size));
    }
    for (const BufferSlice& slice : leaves_.results) {
      results.push_back(address(slice));
      if (results.back() != nullptr) slices.push_back(GpuSlice::Write(results.back(), slice.size));
    }
    for (const ffi::CustomCall::Copy& copy : call_->copies()) {
      if (copy.bytes > 0)
        HILO_RETURN_IF_ERROR(run.stream.Copy(results[copy.result], operands[copy.operand], copy.bytes));
    }
    // A function's error is the run's, not the device's.
    auto outcome = std::make_shared<std::optional<absl::Status>>();
    HILO_RETURN_IF_ERROR(run.stream.Call(
        [this, &run, operands, results, outcome](void* native) {
          StreamDevice device(*run.driver, run.stream, native);
          *outcome = call_->RunOnDevice(run.context, operands, results, &device);
          return absl::OkStatus();
        },
        slices));
    if (!outcome->has_value()) HILO_RETURN_IF_ERROR(run.stream.Synchronize());
    HILO_RET_CHECK(outcome->has_value()) << "a call was not made";
    return AddContext(**outcome, context_);
  }

  std::optional<std::vector<KernelArgument>> Touches() const override {
    std::vector<KernelArgument> touched;
    for (const BufferSlice& slice : leaves_.results) touched.push_back(KernelArgument::Slice(slice, true));
    for (const BufferSlice& slice : leaves_.operands) touched.push_back(KernelArgument::Slice(slice, false));
    std::erase_if(touched, [](const KernelArgument& argument) { return argument.slice.kind == StorageKind::kNone; });
    return touched;
  }

  std::string ToString(const std::string& indent) const override {
    std::string text = absl::StrCat(indent, "call ", name_, " (");
    const char* separator = "";
    for (const BufferSlice& slice : leaves_.results)
      absl::StrAppend(&text, std::exchange(separator, ", "), "&", SliceToString(slice));
    for (const BufferSlice& slice : leaves_.operands)
      absl::StrAppend(&text, std::exchange(separator, ", "), SliceToString(slice));
    return absl::StrCat(text, ")\n");
  }

 private:
  std::string name_, context_;
  std::unique_ptr<ffi::CustomCall> call_;
  CallLeaves leaves_;
};

}  // namespace

absl::Status EmitStreamCall(ProgramEmitter& program, const HloInstruction* instruction) {
  const CustomCallRegistry* registry = program.options().custom_calls;
  if (registry == nullptr) registry = &CustomCallRegistry::Default();
  const absl::string_view platforms[] = {kStreamPlatform};
  HILO_ASSIGN_OR_RETURN(std::unique_ptr<ffi::CustomCall> call,
                        ffi::CustomCall::Create(*instruction, registry, platforms));
  HILO_ASSIGN_OR_RETURN(CallLeaves leaves, LeavesOf(program, instruction));
  program.Add(std::make_unique<StreamCallThunk>(instruction->name(), InstructionContext(*instruction), std::move(call),
                                                std::move(leaves)));
  return absl::OkStatus();
}

}  // namespace hilo::gpu
