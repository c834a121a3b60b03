// The interface between the runtime and a backend: a Compiler compiles modules to CompiledPrograms.
#ifndef HILO_RUNTIME_COMPILER_H_
#define HILO_RUNTIME_COMPILER_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hilo/executable.h"
#include "hilo/host.h"
#include "hilo/shape.h"
#include "hilo/status_macros.h"
#include "hlo/ir/hlo_module.h"

namespace hilo {

struct Artifact;
class Communicator;
class DeviceMemory;
struct HostCallbacks;
struct TransferQueues;
namespace ffi {
class ExecutionContext;
}
namespace profile {
struct StepTable;
}

// The runtime's inputs to one run on one device.
struct RunContext {
  ThreadPool* thread_pool = nullptr;          // null: everything on the calling thread
  CancellationToken* cancellation = nullptr;  // null: the run cannot be stopped
  int device = 0;                             // the client's number of the device
  DeviceMemory* memory = nullptr;             // the device's own memory; null: parameters and results are on the host
  // The device's position among those that run the program together.
  int64_t replica_id = 0, partition_id = 0;
  int64_t replica_count = 1, partition_count = 1;
  Communicator* communicator = nullptr;           // to the others; null if there are none
  TransferQueues* transfers = nullptr;            // the device's infeed and outfeed
  const HostCallbacks* host_callbacks = nullptr;  // null: the host has given none
  int64_t run_id = 0;                             // identifies the run; equal on all its devices
  // What the caller provides for handlers of custom calls; null: nothing.
  const ffi::ExecutionContext* ffi_context = nullptr;
};

// A run whose work is queued on its device.
class PendingRun {
 public:
  virtual ~PendingRun() = default;
  // Waits on the host until the device has finished the run. Errors: those of CompiledProgram::Run.
  virtual absl::Status Await() = 0;
};

// A compiled module. Thread-safe: any number of runs at once.
class CompiledProgram {
 public:
  virtual ~CompiledProgram() = default;

  // Runs on memory of the device. Leaves of parameters and results are counted depth first over all of them; tokens and
  // empty arrays have an entry but no memory (null). Arrays have the layouts of program_shape(). Memory is aligned to
  // 64 bytes. A pair of donations() has one pointer for both. Errors: Cancelled, DeadlineExceeded; ResourceExhausted if
  // temporary memory is short; what custom calls return.
  virtual absl::Status Run(const RunContext& context, absl::Span<const void* const> parameters,
                           absl::Span<void* const> outputs) const = 0;

  // Returns true if Begin is implemented: the device is asynchronous.
  virtual bool CanBegin() const { return false; }
  // As Run, but returns once the work is queued on the device; null if the run is complete. The device orders the runs
  // that begin so, and DeviceMemory::Free after them: parameters may be results of pending runs, and once this returns
  // the memory may be passed to later runs, or freed. What `context` refers to outlives the result.
  virtual absl::StatusOr<std::unique_ptr<PendingRun>> Begin(const RunContext& context,
                                                            absl::Span<const void* const> parameters,
                                                            absl::Span<void* const> outputs) const {
    HILO_RETURN_IF_ERROR(Run(context, parameters, outputs));
    return nullptr;
  }

  // Returns the parameters and the result with their layouts.
  virtual const ProgramShape& program_shape() const = 0;
  // Returns pairs of an output leaf and the donated parameter leaf whose memory it uses.
  virtual absl::Span<const std::pair<int64_t, int64_t>> donations() const = 0;
  // Returns the bytes of temporary memory that a run uses.
  virtual int64_t temp_bytes() const = 0;
  virtual int64_t code_bytes() const = 0;
  // Estimates the time of a run, in nanoseconds; the runtime runs short programs on the calling thread.
  virtual int64_t estimated_nanoseconds() const = 0;
  // Returns the steps that profiles of runs have; null if there are none.
  virtual const profile::StepTable* steps() const { return nullptr; }
  // Adds the sections from which Compiler::Load makes the program, and sets the target. Errors: Unimplemented.
  virtual absl::Status Serialize(Artifact* artifact) const;
};

class Compiler {
 public:
  virtual ~Compiler() = default;
  virtual std::string platform() const = 0;
  // Returns true if Compile takes modules with dynamic dimensions, and Run buffers with sizes. Others get them expanded
  // (runtime/dynamic_program.h).
  virtual bool TakesDynamicShapes() const { return false; }
  // Prepares device `device` (from 0) for programs of this compiler, and returns its memory; null: programs run on the
  // host's. The client calls it once for each of its devices before anything else. Errors: Unavailable, naming what is
  // missing.
  virtual absl::StatusOr<std::shared_ptr<DeviceMemory>> OpenDevice(int /*device*/) {
    return std::shared_ptr<DeviceMemory>();
  }
  // Takes a verified module at HloStage::kInput.
  // Errors: Unimplemented naming the instruction; ResourceExhausted past a limit; InvalidArgument for bad options.
  virtual absl::StatusOr<std::unique_ptr<CompiledProgram>> Compile(std::unique_ptr<HloModule> module,
                                                                   const CompileOptions& options, ThreadPool* pool) = 0;
  // The exact machine that Compile generates code for: modules compiled for one target with one set of options are one
  // program. Empty: none, so that caching has no benefit. Errors: InvalidArgument for bad options.
  virtual absl::StatusOr<std::string> TargetOf(const CompileOptions&) const { return std::string(); }
  // Makes a program from the output of Serialize; only options about running apply (custom_calls, perf_jitdump, and the
  // counts of replicas and partitions).
  // The artifact may hold anything: inconsistent parts are rejected, but its code is trusted. Errors:
  // FailedPrecondition naming the machine that it was made for, if it cannot run on this one; InvalidArgument; NotFound
  // for custom calls; ResourceExhausted; Unimplemented.
  virtual absl::StatusOr<std::unique_ptr<CompiledProgram>> Load(const Artifact& artifact,
                                                                const CompileOptions& options);
  // The kinds of Emit.
  virtual absl::Span<const absl::string_view> EmitKinds() const = 0;
  // Text of the compilation's output, for `hilo compile --emit=`: "hlo", "llvm", "asm", "buffers" ...
  // Errors: InvalidArgument listing EmitKinds().
  virtual absl::StatusOr<std::string> Emit(std::unique_ptr<HloModule> module, const CompileOptions& options,
                                           absl::string_view kind) = 0;
};

}  // namespace hilo

#endif  // HILO_RUNTIME_COMPILER_H_
