// A pass transforms a module and returns whether it changed.
#ifndef HILO_HLO_PASSES_HLO_PASS_H_
#define HILO_HLO_PASSES_HLO_PASS_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hilo/host.h"
#include "hlo/ir/hlo_module.h"
#include "hlo/passes/emission.h"

namespace hilo {

// Inputs of a pass besides the module.
struct PassContext {
  const CancellationToken* cancellation = nullptr;  // null: the compilation cannot be cancelled

  // For long-running passes: called at each instruction, or at each step of a search. Errors: Cancelled,
  // DeadlineExceeded.
  absl::Status CheckNotCancelled() const {
    return cancellation == nullptr ? absl::OkStatus() : cancellation->status("compilation");
  }
};

class HloPass {
 public:
  virtual ~HloPass() = default;
  // As in --passes=: "simplify", "cse".
  virtual absl::string_view name() const = 0;
  // Returns true if the module changed. Errors: those of the pass; Cancelled, DeadlineExceeded.
  virtual absl::StatusOr<bool> Run(HloModule* module, const PassContext& context) = 0;
  // False for passes that later stages rely on: they cannot be switched off.
  virtual bool optional() const { return true; }
};

// The properties of a target that the middle end needs.
class Target {
 public:
  virtual ~Target() = default;
  virtual Emission EmissionOf(const HloInstruction& instruction) const = 0;
  // True if the backend emits this instruction as it is; otherwise a pass rewrites it.
  bool Supports(const HloInstruction& instruction) const { return IsEmitted(EmissionOf(instruction)); }
  // True if the instruction may be a part of a fusion (as producer or root).
  bool IsFusible(const HloInstruction& instruction) const { return hilo::IsFusible(EmissionOf(instruction)); }
};

// Passes that lead a module from stage to stage, run in order. The verifier checks the rules of a stage when it is
// reached; if requested, also after each pass, those of the stage that has been reached before.
class PassPipeline {
 public:
  struct Stage {
    HloStage stage;  // is reached after the last consecutive entry that names it
    std::vector<std::unique_ptr<HloPass>> passes;
    // The passes are repeated until none changes the module, at most this often.
    int max_iterations = 1;
  };
  struct Options {
    std::vector<std::string> disabled;
    bool verify_each_pass = false;
    // Passes that lead beyond this stage do not run.
    HloStage last_stage = HloStage::kAliased;
    // Polled before and within passes; null: the pipeline runs to its end.
    const CancellationToken* cancellation = nullptr;
    // Called when a stage is reached: for dumps.
    std::function<void(HloStage stage, const HloModule& module)> observer;
  };

  void AddStage(HloStage stage, std::vector<std::unique_ptr<HloPass>> passes, int max_iterations = 1) {
    stages_.push_back({stage, std::move(passes), max_iterations});
  }
  // Errors: InvalidArgument for an unknown or indispensable name in `disabled`; a pass's error with the pass named; the
  // verifier's; Cancelled, DeadlineExceeded.
  absl::Status Run(HloModule* module, const Options& options);
  const std::vector<Stage>& stages() const { return stages_; }

 private:
  std::vector<Stage> stages_;
};

}  // namespace hilo

#endif  // HILO_HLO_PASSES_HLO_PASS_H_
