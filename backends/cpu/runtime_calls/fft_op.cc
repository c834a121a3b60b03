// The runtime call of fft.
#include "backends/cpu/fft/fft.h"
#include "backends/cpu/runtime_calls/linear_algebra_ops.h"
#include "hilo/status_macros.h"

namespace hilo::cpu {
namespace {

class FftOp : public RuntimeCall {
 public:
  explicit FftOp(std::unique_ptr<fft::Fft> fft) : fft_(std::move(fft)) {}
  absl::Status Run(const RunContext& run, const RuntimeCallArrays& arrays) const override {
    if (fft_ == nullptr) return absl::OkStatus();
    return fft_->Run({run.thread_pool, run.cancellation}, arrays.operands[0], arrays.results[0]);
  }

 private:
  std::unique_ptr<fft::Fft> fft_;  // null if there is nothing to transform
};

}  // namespace

absl::StatusOr<std::unique_ptr<RuntimeCall>> MakeFftOp(const HloInstruction& instruction, const CompileOptions&) {
  const FftAttrs& attrs = instruction.attrs<FftAttrs>();
  const Shape& shape = instruction.shape();
  if (ShapeUtil::IsZeroElementArray(shape)) return std::make_unique<FftOp>(nullptr);
  int64_t batch = 1;
  for (int64_t d = 0; d < shape.rank() - static_cast<int64_t>(attrs.fft_length.size()); ++d)
    batch *= shape.dimensions(d);
  HILO_ASSIGN_OR_RETURN(
      auto fft, fft::Fft::Create(ComplexComponentType(shape.element_type()), attrs.fft_type, batch, attrs.fft_length));
  return std::make_unique<FftOp>(std::move(fft));
}

}  // namespace hilo::cpu
