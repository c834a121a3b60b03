// A program on several devices at once. Every device runs on its queue's thread, except for one on the caller's if
// the program is short, and for all if it is so short that waking their threads would take longer: these are fibers of
// the caller's thread. All are enqueued under one lock, so that two launches have the same order on every device
// and their collectives cannot deadlock. One token ends them all: the first device that fails
// cancels it, and the others report that device's error. If the devices are of several processes, each process does so
// with its own; their communicators make them one run.
#include <algorithm>
#include <functional>
#include <mutex>
#include <new>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "base/cpu_count.h"
#include "base/errors.h"
#include "base/fibers.h"
#include "base/spin.h"
#include "collectives/in_process.h"
#include "hilo/executable.h"
#include "hilo/status_macros.h"
#include "runtime/client_core.h"
#include "runtime/guarded.h"
#include "runtime/program_run.h"

namespace hilo {
namespace {

// What the devices of one launch share. Devices are counted among those of this process.
class Launch {
 public:
  Launch(ClientCore* core, const ExecuteOptions& options) : limits_(core, options, /*always=*/true) {}

  // With core.launching held: launches get their communicators in the order in which they are enqueued.
  absl::Status Start(const ClientCore& core, const DeviceAssignment& assignment, int64_t here,
                     absl::Span<const ProcessIncarnation> live) {
    if (here == assignment.device_count()) {
      communicators_ = MakeInProcessCommunicators(here);
      run_id_ = NextRunId();
      return absl::OkStatus();
    }
    std::vector<int64_t> processes;
    for (int device : assignment.devices()) processes.push_back(core.ProcessOf(device));
    HILO_ASSIGN_OR_RETURN(ProcessGroup::Run run,
                          core.processes->StartRun(assignment.devices(), std::move(processes), live));
    communicators_ = std::move(run.communicators);
    begin_ = std::move(run.begin);
    run_id_ = run.id;
    return absl::OkStatus();
  }

  // Whether the other processes, if there are any, run their parts now.
  bool OthersHaveBegun() const { return begin_ == nullptr || begin_(); }

  CancellationToken* token() const { return limits_.token().get(); }
  int64_t run_id() const { return run_id_; }
  Communicator* communicator(int64_t i) const { return communicators_[i].get(); }

  // Devices [0, begun) of a launch that has failed never begin; the others need not wait for them.
  void EndedBefore(int64_t begun, const absl::Status& status) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (first_error_.ok()) first_error_ = status;
    for (int64_t i = 0; i < begun && i < static_cast<int64_t>(communicators_.size()); ++i)
      communicators_[i]->Finish(first_error_);
    token()->Cancel();
  }

  // What device `i` reports when it has ended with `status`.
  absl::Status Ended(absl::Status status, int64_t i, int device) {
    if (status.ok()) {
      communicators_[i]->Finish(status);
      return status;
    }
    std::lock_guard<std::mutex> lock(mutex_);
    if (first_error_.ok()) {
      try {
        first_error_ = AddContext(status, absl::StrCat("; on device ", device));
      } catch (const std::bad_alloc&) {
        first_error_ = status;
      }
      communicators_[i]->Finish(first_error_);
      token()->Cancel();
    }
    return first_error_;
  }

 private:
  RunLimits limits_;
  std::vector<std::unique_ptr<Communicator>> communicators_;
  std::function<bool()> begin_;  // null: there are no other processes
  int64_t run_id_ = 0;
  std::mutex mutex_;
  absl::Status first_error_;
};

// Whether the calling thread is that of a device: a custom call that makes the call.
bool IsOnAQueue(const ClientCore& core) {
  return std::any_of(core.queues.begin(), core.queues.end(), [](const auto& queue) { return queue->IsCurrent(); });
}

// Whether the calling thread may run the part of one device while the queues, all idle, run those of the others: it
// waits for nothing else then, and one thread fewer need be woken. Devices of other processes might come much later: it
// waits for those that have begun only.
bool RunsHere(const LoadedProgram& program, const ClientCore& core, bool synchronous) {
  if (program.effects.transfers || IsOnAQueue(core)) return false;
  return synchronous || RunsInline(program, core, kInlineNanosecondsOfSeveral);
}

// More than these of a program are no longer counted.
constexpr int64_t kMostCollectives = 1000;

// Whether the calling thread runs the parts of all `devices` devices, the queues of all being idle: in less time than
// their threads would take with all processors.
bool RunsAllHere(const LoadedProgram& program, const ClientCore& core, int64_t devices) {
  if (core.processes != nullptr || program.effects.any || program.effects.custom_calls) return false;
  static const auto processors = static_cast<int64_t>(UsableCpuCount());
  const int64_t one_after_the_other = (devices + processors - 1) / processors;
  const int64_t longer = std::max<int64_t>(devices - one_after_the_other, 1);  // devices that another thread would run
  // Threads that share processors sleep at each collective; and they leave none to a caller that does not wait.
  const bool share = devices > processors;
  const int64_t wakes = devices * (1 + (share ? std::min(program.effects.collectives, kMostCollectives) : 0));
  return RunsInline(program, core, (share ? kInlineNanosecondsIfAwaited : kInlineNanosecondsOfSeveral) / devices) &&
         RunsInline(program, core, wakes * kDeviceThreadNanoseconds / longer) && Fibers::Reserve(devices);
}

// What one device does in a launch.
struct DevicePart {
  std::shared_ptr<const LoadedProgram> program;
  std::shared_ptr<Launch> launch;
  int64_t i;
  int device;
  std::shared_ptr<ProgramRun> run;
  FewLeaves<std::shared_ptr<BufferValue>> values;
  std::shared_ptr<Event> done;
  absl::Status status;

  void Run() {
    status = launch->Ended(Guarded([&] { return run->AwaitAndRun(); }), i, device);
  }
  // Makes the results visible, to functions of the embedder, too.
  void Report() {
    run.reset();  // arguments are freed before that
    launch.reset();
    done->Set(std::move(status));
  }
};

}  // namespace

absl::StatusOr<Executable::ReplicatedResults> Executable::ExecuteReplicated(
    absl::Span<const std::vector<Buffer*>> arguments, const ExecuteOptions& options) const {
  return Guarded([&]() -> absl::StatusOr<ReplicatedResults> {
    HILO_RETURN_IF_ERROR(core_->CheckProcess());
    const DeviceAssignment& devices = assignment();
    const std::vector<int64_t> indices = addressable();
    if (arguments.size() != indices.size() || indices.empty()) {
      return InvalidArgument(
          "the program runs on ", devices.device_count(), " devices (", devices.replica_count(), " replicas, ",
          devices.partition_count(), " partitions), ",
          core_->processes == nullptr ? "" : absl::StrCat(indices.size(), " of them in this process, "),
          "but got arguments for ", arguments.size());
    }
    const bool synchronous = options.synchronous || (OnlyTheCallReports(*program_, options) && !IsOnAQueue(*core_));
    auto launch = std::make_shared<Launch>(core_.get(), options);
    ReplicatedResults results;
    struct Prepared {
      std::shared_ptr<ProgramRun> run;
      std::shared_ptr<Event> done = std::make_shared<Event>();
      FewLeaves<std::shared_ptr<BufferValue>> values;
    };
    std::vector<Prepared> prepared(arguments.size());
    absl::Status taken;
    for (size_t i = 0; i < arguments.size() && taken.ok(); ++i) {
      const int64_t replica = indices[i] / devices.partition_count();
      const int64_t partition = indices[i] % devices.partition_count();
      ProgramRun run{.program = *program_,
                     .core = *core_,
                     .context = {.thread_pool = core_->pool,
                                 .cancellation = launch->token(),
                                 .device = devices(replica, partition) - core_->first_device,
                                 .replica_id = replica,
                                 .partition_id = partition,
                                 .replica_count = devices.replica_count(),
                                 .partition_count = devices.partition_count(),
                                 .ffi_context = options.ffi_context}};
      taken = AddContext(run.TakeArguments(arguments[i], options),
                         absl::StrCat("; replica ", replica, ", partition ", partition));
      if (!taken.ok()) break;
      prepared[i].run = std::make_shared<ProgramRun>(std::move(run));
      results.push_back(prepared[i].run->MakeResults(prepared[i].done, &prepared[i].values));
      if (options.ends != nullptr) options.ends->push_back(prepared[i].done);
    }
    bool here = RunsHere(*program_, *core_, synchronous);
    for (const Prepared& one : prepared) here = here && one.run != nullptr && (synchronous || one.run->IsReady());
    std::vector<DevicePart> own;  // parts that this thread runs
    own.reserve(prepared.size());
    std::vector<std::function<void()>> fibers;
    fibers.reserve(prepared.size());
    const absl::Status no_memory = ResourceExhausted("the process is out of memory, and not all devices have begun");
    {
      std::lock_guard<std::mutex> lock(core_->launching);
      const absl::Status started =
          launch->Start(*core_, devices, static_cast<int64_t>(indices.size()), options.processes);
      if (!started.ok()) {
        // As if it had failed in its first collective.
        for (const Prepared& one : prepared) one.done->Set(started);
        if (!taken.ok() || synchronous) return taken.ok() ? started : taken;
        return results;
      }
      const bool all_here = taken.ok() && here && RunsAllHere(*program_, *core_, devices.device_count()) &&
                            std::all_of(prepared.begin(), prepared.end(), [&](const Prepared& one) {
                              return core_->queues[one.run->context.device]->IsIdle();
                            });
      // One that ran when it is enqueued would wait for those after it.
      for (const Prepared& one : prepared) {
        if (!taken.ok() || all_here || prepared.size() == 1) break;
        const int device = one.run->context.device;
        if (!core_->queues[device]->StartThread())
          taken = ResourceExhausted("the system gives no thread for device ", device);
      }
      if (!taken.ok()) {
        launch->communicator(0)->Finish(taken);  // other processes need not wait for it
        for (const Prepared& one : prepared) one.done->Set(taken);
        return taken;
      }
      // The last to go is device 0: this thread may take its part.
      size_t waiting = prepared.size();
      const auto end_those_that_wait = absl::MakeCleanup([&] {
        if (waiting > 0) launch->EndedBefore(static_cast<int64_t>(waiting), no_memory);
        for (size_t i = 0; i < waiting; ++i) prepared[i].done->Set(no_memory);
      });
      for (size_t i = 0; i < prepared.size(); ++i) prepared[i].run->TakeDonations(arguments[i], options.donate);
      for (size_t i = prepared.size(); i-- > 0;) {
        Prepared& one = prepared[i];
        one.run->context.communicator = launch->communicator(i);
        one.run->context.run_id = launch->run_id();
        const int device = one.run->context.device;
        DevicePart part{.program = program_,
                        .launch = launch,
                        .i = static_cast<int64_t>(i),
                        .device = device,
                        .run = std::move(one.run),
                        .values = std::move(one.values),
                        .done = one.done};
        if (all_here || (i == 0 && here && core_->queues[device]->IsIdle() && launch->OthersHaveBegun())) {
          own.push_back(std::move(part));
          fibers.emplace_back([last = &own.back()] { last->Run(); });
        } else {
          auto work = [part = std::move(part)]() mutable {
            part.Run();
            part.Report();
          };
          here = core_->queues[device]->Enqueue(std::move(work)) && here;
        }
        waiting = i;
      }
    }
    if (own.size() == 1) {
      own[0].Run();
    } else if (!own.empty()) {
      Fibers::Run(fibers);
    }
    for (DevicePart& part : own) part.Report();
    if (own.size() == 1) {
      // The others are as good as done.
      SpinUntil([&] {
        return std::all_of(prepared.begin(), prepared.end(), [](const Prepared& one) { return one.done->done(); });
      });
    }
    own.clear();
    launch.reset();
    if (!synchronous) return results;
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
