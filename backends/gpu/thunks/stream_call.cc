// A call is made in stream order, with its arrays declared: on CUDA immediately, to queue on the native stream; on the
// emulated device when the stream reaches it, and the function works on the arrays as a kernel would. There its stream
// argument is the GpuStream itself, which accepts launches like any other.
#include "backends/gpu/thunks/stream_call.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "backends/gpu/driver/platform_names.h"
#include "backends/gpu/thunks/thunk_stream.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/ops/structure/custom_call.h"
#include "hlo/ops/structure/custom_call_attributes.h"
#include "runtime/ffi/call_device.h"

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

}  // namespace

absl::StatusOr<std::unique_ptr<StreamCallThunk>> StreamCallThunk::Create(const HloInstruction& instruction,
                                                                         CallInstruction call,
                                                                         const CustomCallRegistry* custom_calls) {
  if (custom_calls == nullptr) custom_calls = &CustomCallRegistry::Default();
  const absl::string_view platforms[] = {kStreamPlatform};
  HILO_ASSIGN_OR_RETURN(std::unique_ptr<ffi::CustomCall> function,
                        ffi::CustomCall::Create(instruction, custom_calls, platforms));
  return std::unique_ptr<StreamCallThunk>(new StreamCallThunk(std::move(call), std::move(function)));
}

std::unique_ptr<Thunk> StreamCallThunk::Read(ThunkReader& in) {
  CallInstruction call;
  const std::unique_ptr<HloModule> module = ReadCall(in, &call);
  if (module == nullptr) return nullptr;
  const HloInstruction& instruction = *module->entry_computation()->root_instruction();
  if (!in.Require(instruction.opcode() == HloOpcode::kCustomCall && IsHostCall(instruction), "a custom call"))
    return nullptr;
  const std::string context = call.context;
  absl::StatusOr<std::unique_ptr<StreamCallThunk>> thunk =
      Create(instruction, std::move(call), in.environment().custom_calls);
  if (thunk.ok()) return *std::move(thunk);
  in.Fail(thunk.status(), context);
  return nullptr;
}

absl::Status StreamCallThunk::Run(GpuRun& run) const {
  std::vector<const uint8_t*> operands;
  std::vector<uint8_t*> results;
  std::vector<GpuSlice> slices;
  const auto address = [&](const BufferSlice& slice) {
    return slice.kind == StorageKind::kNone ? nullptr : run.Address(slice);
  };
  for (const BufferSlice& slice : call_.operands) {
    operands.push_back(address(slice));
    if (operands.back() != nullptr) slices.push_back(GpuSlice::Read(operands.back(), slice.size));
  }
  for (const BufferSlice& slice : call_.results) {
    results.push_back(address(slice));
    if (results.back() != nullptr) slices.push_back(GpuSlice::Write(results.back(), slice.size));
  }
  for (const ffi::CustomCall::Copy& copy : function_->copies()) {
    if (copy.bytes > 0) HILO_RETURN_IF_ERROR(run.stream.Copy(results[copy.result], operands[copy.operand], copy.bytes));
  }
  // A function's error is the run's, not the device's.
  auto outcome = std::make_shared<std::optional<absl::Status>>();
  HILO_RETURN_IF_ERROR(run.stream.Call(
      [this, &run, operands, results, outcome](void* native) {
        StreamDevice device(*run.driver, run.stream, native);
        *outcome = function_->RunOnDevice(run.context, operands, results, &device);
        return absl::OkStatus();
      },
      slices));
  if (!outcome->has_value()) HILO_RETURN_IF_ERROR(run.stream.Synchronize());
  HILO_RET_CHECK(outcome->has_value()) << "a call was not made";
  return AddContext(**outcome, call_.context);
}

std::optional<std::vector<KernelArgument>> StreamCallThunk::Touches() const {
  std::vector<KernelArgument> touched;
  for (const BufferSlice& slice : call_.results) touched.push_back(KernelArgument::Slice(slice, true));
  for (const BufferSlice& slice : call_.operands) touched.push_back(KernelArgument::Slice(slice, false));
  std::erase_if(touched, [](const KernelArgument& argument) { return argument.slice.kind == StorageKind::kNone; });
  return touched;
}

std::string StreamCallThunk::ToString(const std::string& indent) const {
  return absl::StrCat(indent, "call ", call_.name, " ", call_.SlicesToString(), "\n");
}

}  // namespace hilo::gpu
