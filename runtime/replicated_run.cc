// A program on several devices at once. Every device runs on its queue's thread; all are enqueued under one lock, so that two launches meet on
// every device in the same order and their collectives cannot wait for each other crosswise. One token ends them all: the first device that
// fails cancels it, and the others report that device's error.
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "collectives/in_process.h"
#include "runtime/client_core.h"
#include "runtime/executable.h"
#include "runtime/guarded.h"
#include "runtime/program_run.h"

namespace hilo {
namespace {

// What the devices of one launch share.
class Launch {
 public:
  Launch(ClientCore* core, const ExecuteOptions& options, int64_t devices)
      : limits_(core, options, /*always=*/true), communicators_(MakeInProcessCommunicators(devices)) {}

  CancellationToken* token() const { return limits_.token(); }

  Communicator* communicator(int64_t rank) const { return communicators_[rank].get(); }

  // What the device of rank `rank` reports when it has ended with `status`.
  absl::Status Ended(absl::Status status, int64_t rank, int device) {
    if (status.ok()) {
      communicators_[rank]->Finish(status);
      return status;
    }
    std::lock_guard<std::mutex> lock(mutex_);
    if (first_error_.ok()) {
      first_error_ = AddContext(status, absl::StrCat("; on device ", device));
      communicators_[rank]->Finish(first_error_);
      token()->Cancel();
    }
    return first_error_;
  }

 private:
  RunLimits limits_;
  const std::vector<std::unique_ptr<Communicator>> communicators_;  // by rank
  std::mutex mutex_;
  absl::Status first_error_;
};

}  // namespace

absl::StatusOr<Executable::ReplicatedResults> Executable::ExecuteReplicated(
    absl::Span<const std::vector<Buffer*>> arguments, const ExecuteOptions& options) const {
  return Guarded([&]() -> absl::StatusOr<ReplicatedResults> {
    HILO_RETURN_IF_ERROR(core_->CheckProcess());
    const DeviceAssignment& devices = assignment();
    if (static_cast<int64_t>(arguments.size()) != devices.device_count()) {
      return InvalidArgument("the program runs on ", devices.device_count(), " devices (", devices.replica_count(), " replicas, ",
                             devices.partition_count(), " partitions), but got arguments for ", arguments.size());
    }
    auto launch = std::make_shared<Launch>(core_.get(), options, devices.device_count());
    ReplicatedResults results;
    struct Prepared {
      std::shared_ptr<ProgramRun> run;
      std::shared_ptr<Event> done = std::make_shared<Event>();
      FewLeaves<std::shared_ptr<BufferValue>> values;
    };
    std::vector<Prepared> prepared(arguments.size());
    const int64_t run_id = NextRunId();
    for (size_t i = 0; i < arguments.size(); ++i) {
      const int64_t replica = static_cast<int64_t>(i) / devices.partition_count();
      const int64_t partition = static_cast<int64_t>(i) % devices.partition_count();
      ProgramRun run{.program = *program_,
                     .core = *core_,
                     .context = {.thread_pool = core_->pool,
                                 .cancellation = launch->token(),
                                 .device = devices(replica, partition),
                                 .replica_id = replica,
                                 .partition_id = partition,
                                 .replica_count = devices.replica_count(),
                                 .partition_count = devices.partition_count(),
                                 .communicator = launch->communicator(i),
                                 .run_id = run_id,
                                 .ffi_context = options.ffi_context}};
      if (absl::Status taken = run.TakeArguments(arguments[i], options); !taken.ok()) {
        return AddContext(taken, absl::StrCat("; replica ", replica, ", partition ", partition));
      }
      prepared[i].run = std::make_shared<ProgramRun>(std::move(run));
      results.push_back(prepared[i].run->MakeResults(prepared[i].done, &prepared[i].values));
      if (options.ends != nullptr) options.ends->push_back(prepared[i].done);
    }
    {
      std::lock_guard<std::mutex> lock(core_->launching);
      for (size_t rank = 0; rank < prepared.size(); ++rank) {
        Prepared& one = prepared[rank];
        const int device = one.run->context.device;
        core_->queues[device]->Enqueue([program = program_, launch, rank, device, run = std::move(one.run),
                                        values = std::move(one.values), done = one.done]() mutable {
          absl::Status status = launch->Ended(Guarded([&] { return run->AwaitAndRun(); }), rank, device);
          run.reset();  // arguments are free before anybody hears of the results
          launch.reset();
          done->Set(std::move(status));
        });
      }
    }
    launch.reset();
    if (!options.synchronous) return results;
    absl::Status status;
    for (const Prepared& one : prepared) {
      const absl::Status ended = one.done->Await();
      if (status.ok()) status = ended;
    }
    if (!status.ok()) return status;
    return results;
  });
}

}  // namespace hilo
