// CompileDriver: what every compilation does alike, whatever the backend: dumps, the passes, the schedule, copies and
// buffer assignment.
#ifndef HILO_RUNTIME_COMPILE_DRIVER_H_
#define HILO_RUNTIME_COMPILE_DRIVER_H_

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hilo/executable.h"
#include "hilo/shape.h"
#include "hlo/ir/hlo_module.h"
#include "hlo/memory/buffer_assignment.h"
#include "hlo/passes/hlo_pass.h"

namespace hilo {

// The backend's part of a lowering.
struct LoweringSteps {
  PassPipeline pipeline;  // to kFused
  // Called on the module at kScheduled, whose schedules it may change; null: nothing.
  std::function<void(HloModule* module)> after_schedule;
  // Results of loops of at most so many bytes are not in the memory of the program's results (InsertCopies).
  int64_t loop_local_bytes = 0;
  // Called on the module after copy insertion, to choose the kernels of copies; null: nothing.
  std::function<absl::Status(HloModule* module)> after_copies;
  // The options of buffer assignment for the module at kAliased; null: the defaults.
  std::function<absl::StatusOr<BufferAssignmentOptions>(const HloModule& module)> assignment_options;
  // Called once memory is assigned, to choose the kernels that depend on it; null: nothing.
  std::function<absl::Status(HloModule* module, const BufferAssignment& assignment)> after_assignment;
};

// A module that is ready for a backend's emitter.
struct LoweredModule {
  std::unique_ptr<HloModule> module;  // at kAliased
  ProgramShape shape;                 // as callers see it
  BufferAssignment assignment;

  // The kinds of Compiler::Emit that all backends have: "hlo" and "buffers"; nullopt for others.
  std::optional<std::string> Text(absl::string_view kind) const;
};

class CompileDriver {
 public:
  // Makes the folder of dumps. `options` must outlive the driver. Errors: InvalidArgument if it cannot be made.
  static absl::StatusOr<CompileDriver> Create(const CompileOptions& options);

  // Takes a verified module at kInput. Polls options.cancellation between all steps. Errors: InvalidArgument for a pass
  // that cannot be left out; those of passes and of buffer assignment; Cancelled, DeadlineExceeded.
  absl::StatusOr<LoweredModule> Lower(std::unique_ptr<HloModule> module, LoweringSteps steps) const;

  // Writes DUMP_DIR/NUMBER.NAME if there is such a folder; `text` is called only then. Numbers of a module's stages are
  // ten times that of the stage; what backends write comes after them, from kFirstBackendDump on. A file that cannot be
  // written is a warning in the log, the first of a compilation's.
  static constexpr int kFirstBackendDump = 60;
  void Dump(int number, absl::string_view name, absl::FunctionRef<std::string()> text) const;

 private:
  explicit CompileDriver(const CompileOptions& options) : options_(&options) {}

  const CompileOptions* options_;
  // By pointer, as drivers are moved.
  std::unique_ptr<std::atomic<bool>> warned_of_dumps_ = std::make_unique<std::atomic<bool>>(false);
};

// Errors: InvalidArgument, listing `kinds`, those that the platform emits, unless `kind` is one of them.
absl::Status CheckEmitKind(absl::string_view platform, absl::string_view kind,
                           absl::Span<const absl::string_view> kinds);

}  // namespace hilo

#endif  // HILO_RUNTIME_COMPILE_DRIVER_H_
