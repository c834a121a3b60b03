#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/errors.h"
#include "base/phase_times.h"
#include "hilo/status_macros.h"
#include "hlo/ir/hlo_verifier.h"
#include "hlo/passes/hlo_pass.h"

namespace hilo {
namespace {

absl::Status CheckDisabled(const std::vector<PassPipeline::Stage>& stages, const std::vector<std::string>& disabled) {
  for (const std::string& name : disabled) {
    const HloPass* found = nullptr;
    std::vector<std::string> names;
    for (const PassPipeline::Stage& stage : stages) {
      for (const auto& pass : stage.passes) {
        if (pass->name() == name) found = pass.get();
        if (pass->optional() && std::find(names.begin(), names.end(), pass->name()) == names.end()) {
          names.emplace_back(pass->name());
        }
      }
    }
    if (found == nullptr || !found->optional()) {
      return InvalidArgument(found == nullptr ? "there is no pass '" : "the pass cannot be left out: '", name,
                             "'; passes that can be left out: ", absl::StrJoin(names, ", "));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> RunTimed(HloPass* pass, HloModule* module, const PassContext& context) {
  const PhaseTimer timer("pass", pass->name());
  return pass->Run(module, context);
}

absl::Status VerifyTimed(const HloModule& module, HloStage stage) {
  const PhaseTimer timer("check", "module");
  return VerifyHloModule(module, stage);
}

}  // namespace

absl::Status PassPipeline::Run(HloModule* module, const Options& options) {
  const PassContext context{.cancellation = options.cancellation};
  HILO_RETURN_IF_ERROR(CheckDisabled(stages_, options.disabled));
  HloStage reached = HloStage::kInput;
  for (size_t i = 0; i < stages_.size() && stages_[i].stage <= options.last_stage; ++i) {
    const Stage& stage = stages_[i];
    bool changed = true;
    for (int iteration = 0; changed && iteration < stage.max_iterations; ++iteration) {
      changed = false;
      for (const auto& pass : stage.passes) {
        if (std::find(options.disabled.begin(), options.disabled.end(), pass->name()) != options.disabled.end())
          continue;
        HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
        absl::StatusOr<bool> result = RunTimed(pass.get(), module, context);
        if (!result.ok()) return AddContext(result.status(), absl::StrCat("; in pass ", pass->name()));
        changed |= *result;
        if (!options.verify_each_pass) continue;
        absl::Status valid = VerifyTimed(*module, reached);
        if (!valid.ok()) return Internal(valid.message(), "; after pass ", pass->name());
      }
    }
    if (i + 1 < stages_.size() && stages_[i + 1].stage == stage.stage) continue;
    reached = stage.stage;
    absl::Status valid = VerifyTimed(*module, reached);
    if (!valid.ok()) return AddContext(valid, absl::StrCat("; after stage ", HloStageName(reached)));
    if (options.observer) options.observer(reached, *module);
  }
  return absl::OkStatus();
}

}  // namespace hilo
