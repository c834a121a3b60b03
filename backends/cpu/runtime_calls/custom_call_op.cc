// custom-call as a runtime call: functions of this platform and of the host platform are called on the program's own
// memory.
#include "backends/cpu/runtime_calls/custom_call_op.h"

#include "hilo/status_macros.h"
#include "runtime/custom_call/custom_call.h"

namespace hilo::cpu {
namespace {

class CustomCallOp : public RuntimeCall {
 public:
  explicit CustomCallOp(std::unique_ptr<ffi::CustomCall> call) : call_(std::move(call)) {}
  absl::Status Run(const RunContext& run, const RuntimeCallArrays& arrays) const override {
    return call_->Run(run, arrays.operands, arrays.results);
  }

 private:
  std::unique_ptr<ffi::CustomCall> call_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<RuntimeCall>> MakeCustomCallOp(const HloInstruction& instruction,
                                                              const CompileOptions& options) {
  static constexpr absl::string_view kPlatforms[] = {"cpu", kHostPlatform};
  HILO_ASSIGN_OR_RETURN(std::unique_ptr<ffi::CustomCall> call,
                        ffi::CustomCall::Create(instruction, options.custom_calls, kPlatforms));
  return std::make_unique<CustomCallOp>(std::move(call));
}

}  // namespace hilo::cpu
