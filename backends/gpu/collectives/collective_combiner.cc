#include "backends/gpu/collectives/collective_passes.h"
#include "hilo/status_macros.h"
#include "hlo/passes/partition/combine_all_reduces.h"

namespace hilo::gpu {
namespace {

class CollectiveCombiner : public HloPass {
 public:
  absl::string_view name() const override { return "combine-collectives"; }
  absl::StatusOr<bool> Run(HloModule* module, const PassContext& context) override {
    bool changed = false;
    for (HloComputation* computation : module->computations()) {
      HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
      HILO_ASSIGN_OR_RETURN(const bool combined, CombineAllReduces(computation));
      changed |= combined;
    }
    return changed;
  }
};

}  // namespace

std::unique_ptr<HloPass> MakeCollectiveCombiner() { return std::make_unique<CollectiveCombiner>(); }

}  // namespace hilo::gpu
