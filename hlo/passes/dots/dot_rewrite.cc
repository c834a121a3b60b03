#include "hlo/passes/dots/dot_rewrite.h"

#include <utility>

#include "hilo/status_macros.h"
#include "hlo/ir/hlo_computation.h"
#include "hlo/ir/hlo_module.h"

namespace hilo {
namespace {

class DotRewrite : public HloPass {
 public:
  DotRewrite(absl::string_view name, std::function<bool(const HloInstruction&)> accepts, MakeDotReplacement replacement)
      : name_(name), accepts_(std::move(accepts)), replacement_(std::move(replacement)) {}
  absl::string_view name() const override { return name_; }

  absl::StatusOr<bool> Run(HloModule* module, const PassContext& context) override {
    bool changed = false;
    for (HloComputation* computation : module->computations()) {
      if (computation->IsFusion()) continue;
      for (HloInstruction* dot : computation->MakePostOrder()) {
        if (dot->opcode() != HloOpcode::kDot || !accepts_(*dot)) continue;
        HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
        HILO_ASSIGN_OR_RETURN(HloInstruction* const replacement, replacement_(dot));
        HILO_RETURN_IF_ERROR(computation->ReplaceInstruction(dot, replacement));
        changed = true;
      }
    }
    return changed;
  }

 private:
  const absl::string_view name_;
  const std::function<bool(const HloInstruction&)> accepts_;
  const MakeDotReplacement replacement_;
};

}  // namespace

std::unique_ptr<HloPass> MakeDotRewrite(absl::string_view name, std::function<bool(const HloInstruction& dot)> accepts,
                                        MakeDotReplacement replacement) {
  return std::make_unique<DotRewrite>(name, std::move(accepts), std::move(replacement));
}

}  // namespace hilo
