#include "backends/cpu/runtime_calls/random_state_op.h"

#include <cstring>

#include "hlo/ops/random/random_attributes.h"
#include "hlo/ops/random/random_bits.h"

namespace hilo::cpu {
namespace {

class RandomStateOp : public RuntimeCall {
 public:
  explicit RandomStateOp(uint64_t delta) : delta_(delta) {}

  absl::Status Run(const RunContext&, const RuntimeCallArrays& arrays) const override {
    const std::array<uint64_t, 2> state = AdvanceRandomState(delta_);
    std::memcpy(arrays.results[0], state.data(), sizeof(state));
    return absl::OkStatus();
  }

 private:
  uint64_t delta_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<RuntimeCall>> MakeRandomStateOp(const HloInstruction& instruction,
                                                               const CompileOptions&) {
  return std::make_unique<RandomStateOp>(instruction.attrs<RngGetAndUpdateStateAttrs>().delta);
}

}  // namespace hilo::cpu
