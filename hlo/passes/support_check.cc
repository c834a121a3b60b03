#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/ir/hlo_verifier.h"
#include "hlo/passes/standard_passes.h"

namespace hilo {
namespace {

class SupportCheck : public HloPass {
 public:
  explicit SupportCheck(const Target* target) : target_(*target) {}
  absl::string_view name() const override { return "check-support"; }
  bool optional() const override { return false; }

  absl::StatusOr<bool> Run(HloModule* module, const PassContext& context) override {
    for (const HloComputation* computation : module->computations()) {
      HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
      for (const HloInstruction* instruction : computation->instructions()) {
        if (target_.Supports(*instruction)) continue;
        return AddContext(
            Unimplemented(HloOpcodeString(instruction->opcode()), " is not supported on this platform yet"),
            InstructionContext(*instruction));
      }
    }
    return false;
  }

 private:
  const Target& target_;
};

}  // namespace

std::unique_ptr<HloPass> MakeSupportCheck(const Target* target) { return std::make_unique<SupportCheck>(target); }

}  // namespace hilo
