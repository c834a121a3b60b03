// A program on several devices at once. Every device runs on its queue's thread, except for one on the caller's if
// the program is short, and for all if it is so short that waking their threads would take longer: these are fibers of
// the caller's thread. All are enqueued under one lock, so that two launches have the same order on every device
// and their collectives cannot deadlock. One token ends them all: the first device that fails
// cancels it, and the others report that device's error. If the devices are of several processes, each process does so
// with its own; their communicators make them one run.
#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/cpu_count.h"
#include "base/errors.h"
#include "base/fibers.h"
#include "base/spin.h"
#include "collectives/in_process.h"
#include "hilo/executable.h"
#include "hilo/status_macros.h"
#include "runtime/client_core.h"
#include "runtime/device_queue.h"
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

  // Returns true if the other processes, if there are any, run their parts now.
  bool OthersHaveBegun() const { return begin_ == nullptr || begin_(); }

  CancellationToken* token() const { return limits_.token().get(); }
  int64_t run_id() const { return run_id_; }
  Communicator* communicator(int64_t i) const { return communicators_[i].get(); }

  // Ends a launch that has failed before devices [0, count) were started: the others need not wait for them.
  void AbortUnstarted(int64_t count, const absl::Status& status) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (first_error_.ok()) first_error_ = status;
    for (int64_t i = 0; i < count && i < static_cast<int64_t>(communicators_.size()); ++i)
      communicators_[i]->Finish(first_error_);
    token()->Cancel();
  }

  // Records that device `i` has ended with `status`, and returns the status that it reports.
  absl::Status FinishDevice(absl::Status status, int64_t i, int device) {
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
constexpr int64_t kMaxCollectives = 1000;

// Whether the calling thread runs the parts of all `devices` devices, the queues of all being idle: in less time than
// their threads would take with all processors.
bool RunsAllHere(const LoadedProgram& program, const ClientCore& core, int64_t devices) {
  if (core.processes != nullptr || program.effects.any || program.effects.custom_calls) return false;
  static const auto processors = static_cast<int64_t>(UsableCpuCount());
  const int64_t one_after_the_other = (devices + processors - 1) / processors;
  const int64_t longer = std::max<int64_t>(devices - one_after_the_other, 1);  // devices that another thread would run
  // Threads that share processors sleep at each collective; and they leave none to a caller that does not wait.
  const bool share = devices > processors;
  const int64_t wakes = devices * (1 + (share ? std::min(program.effects.collectives, kMaxCollectives) : 0));
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
    status = launch->FinishDevice(Guarded([&] { return run->AwaitAndRun(); }), i, device);
  }
  // Makes the results visible, to functions of the embedder, too.
  void Report() {
    run.reset();  // arguments are freed before that
    launch.reset();
    done->Set(std::move(status));
  }
};

// The calling thread's side of a launch: it prepares a run per device, starts them, and runs the parts of some.
class LaunchCall {
 public:
  // `arguments`: of the devices of this process, whose indices in `devices` are `indices`.
  LaunchCall(std::shared_ptr<const LoadedProgram> program, ClientCore* core, const DeviceAssignment& devices,
             absl::Span<const int64_t> indices, absl::Span<const std::vector<Buffer*>> arguments,
             const ExecuteOptions& options)
      : program_(std::move(program)),
        core_(*core),
        devices_(devices),
        indices_(indices),
        arguments_(arguments),
        options_(options),
        synchronous_(options.synchronous || (OnlyTheCallReports(*program_, options) && !IsOnAQueue(*core))),
        launch_(std::make_shared<Launch>(core, options)) {}

  bool synchronous() const { return synchronous_; }

  // Takes the arguments of all devices and makes their results. An error of the arguments is returned by
  // StartAndEnqueue: other processes, which may have none, expect this one to start all the same.
  Executable::ReplicatedResults Prepare() {
    Executable::ReplicatedResults results;
    prepared_.resize(arguments_.size());
    for (size_t i = 0; i < arguments_.size() && taken_.ok(); ++i) {
      const int64_t replica = indices_[i] / devices_.partition_count();
      const int64_t partition = indices_[i] % devices_.partition_count();
      ProgramRun run{.program = *program_,
                     .core = core_,
                     .context = {.thread_pool = core_.pool,
                                 .cancellation = launch_->token(),
                                 .device = devices_(replica, partition) - core_.first_device,
                                 .replica_id = replica,
                                 .partition_id = partition,
                                 .replica_count = devices_.replica_count(),
                                 .partition_count = devices_.partition_count(),
                                 .ffi_context = options_.ffi_context}};
      taken_ = AddContext(run.TakeArguments(arguments_[i], options_),
                          absl::StrCat("; replica ", replica, ", partition ", partition));
      if (!taken_.ok()) break;
      prepared_[i].run = std::make_shared<ProgramRun>(std::move(run));
      results.push_back(prepared_[i].run->MakeResults(prepared_[i].done, &prepared_[i].values));
      if (options_.ends != nullptr) options_.ends->push_back(prepared_[i].done);
    }
    runs_here_ = RunsHere(*program_, core_, synchronous_);
    for (const Prepared& one : prepared_)
      runs_here_ = runs_here_ && one.run != nullptr && (synchronous_ || one.run->IsReady());
    own_.reserve(prepared_.size());
    fibers_.reserve(prepared_.size());
    return results;
  }

  // Starts the launch and enqueues the parts of all devices but those that RunOwn runs. Returns the error of the
  // arguments, or of starting threads; all others are those of the devices, which AwaitAll returns.
  absl::Status StartAndEnqueue() {
    const absl::Status no_memory = ResourceExhausted("the process is out of memory, and not all devices have begun");
    std::lock_guard<std::mutex> lock(core_.launching);
    const absl::Status started =
        launch_->Start(core_, devices_, static_cast<int64_t>(indices_.size()), options_.processes);
    if (!started.ok()) {
      SetAll(started);  // as if it had failed in its first collective
      return taken_;
    }
    const bool all_here =
        taken_.ok() && runs_here_ && RunsAllHere(*program_, core_, devices_.device_count()) &&
        std::all_of(prepared_.begin(), prepared_.end(), [&](const Prepared& one) { return QueueOf(one).IsIdle(); });
    if (taken_.ok() && !all_here && prepared_.size() > 1) taken_ = StartThreads();
    if (!taken_.ok()) {
      launch_->communicator(0)->Finish(taken_);  // other processes need not wait for it
      SetAll(taken_);
      return taken_;
    }
    size_t unstarted = prepared_.size();
    const auto abort_unstarted = absl::MakeCleanup([&] {
      if (unstarted > 0) launch_->AbortUnstarted(static_cast<int64_t>(unstarted), no_memory);
      for (size_t i = 0; i < unstarted; ++i) prepared_[i].done->Set(no_memory);
    });
    for (size_t i = 0; i < prepared_.size(); ++i) prepared_[i].run->TakeDonations(arguments_[i], options_.donate);
    // The last one is device 0: this thread may run its part.
    for (size_t i = prepared_.size(); i-- > 0; unstarted = i) StartDevice(i, all_here);
    return absl::OkStatus();
  }

  // Runs the parts that are not enqueued, on the calling thread.
  void RunOwn() {
    if (own_.size() == 1) {
      own_[0].Run();
    } else if (!own_.empty()) {
      Fibers::Run(fibers_);
    }
    for (DevicePart& part : own_) part.Report();
    if (own_.size() == 1) {
      // The others are as good as done.
      SpinUntil([&] {
        return std::all_of(prepared_.begin(), prepared_.end(), [](const Prepared& one) { return one.done->done(); });
      });
    }
    own_.clear();
    launch_.reset();
  }

  // Waits for all devices. Returns the error of the first that has one.
  absl::Status AwaitAll() const {
    absl::Status status;
    for (const Prepared& one : prepared_) {
      const absl::Status ended = one.done->Await();
      if (status.ok()) status = ended;
    }
    return status;
  }

 private:
  struct Prepared {
    std::shared_ptr<ProgramRun> run;
    std::shared_ptr<Event> done = std::make_shared<Event>();
    FewLeaves<std::shared_ptr<BufferValue>> values;
  };

  DeviceQueue& QueueOf(const Prepared& one) const { return *core_.queues[one.run->context.device]; }

  void SetAll(const absl::Status& status) {
    for (const Prepared& one : prepared_) one.done->Set(status);
  }

  // Starts the threads of all queues: without one, a queue would run a part when it is enqueued, which would wait for
  // the parts after it.
  absl::Status StartThreads() {
    for (const Prepared& one : prepared_) {
      if (!QueueOf(one).StartThread())
        return ResourceExhausted("the system gives no thread for device ", one.run->context.device);
    }
    return absl::OkStatus();
  }

  // Enqueues the part of device `i`, or keeps it for RunOwn.
  void StartDevice(size_t i, bool all_here) {
    Prepared& one = prepared_[i];
    one.run->context.communicator = launch_->communicator(static_cast<int64_t>(i));
    one.run->context.run_id = launch_->run_id();
    DeviceQueue& queue = QueueOf(one);
    DevicePart part{.program = program_,
                    .launch = launch_,
                    .i = static_cast<int64_t>(i),
                    .device = one.run->context.device,
                    .run = std::move(one.run),
                    .values = std::move(one.values),
                    .done = one.done};
    if (all_here || (i == 0 && runs_here_ && queue.IsIdle() && launch_->OthersHaveBegun())) {
      own_.push_back(std::move(part));
      fibers_.emplace_back([last = &own_.back()] { last->Run(); });
      return;
    }
    auto work = [part = std::move(part)]() mutable {
      part.Run();
      part.Report();
    };
    runs_here_ = queue.Enqueue(std::move(work)) && runs_here_;
  }

  const std::shared_ptr<const LoadedProgram> program_;
  ClientCore& core_;
  const DeviceAssignment& devices_;
  const absl::Span<const int64_t> indices_;
  const absl::Span<const std::vector<Buffer*>> arguments_;
  const ExecuteOptions& options_;
  const bool synchronous_;
  std::shared_ptr<Launch> launch_;
  std::vector<Prepared> prepared_;  // one per device of this process
  absl::Status taken_;              // the first error of taking arguments
  bool runs_here_ = false;          // this thread may run parts
  std::vector<DevicePart> own_;     // those that it runs; never reallocated
  std::vector<std::function<void()>> fibers_;
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
    LaunchCall call(program_, core_.get(), devices, indices, arguments, options);
    ReplicatedResults results = call.Prepare();
    HILO_RETURN_IF_ERROR(call.StartAndEnqueue());
    call.RunOwn();
    if (call.synchronous()) {
      HILO_RETURN_IF_ERROR(call.AwaitAll());
    }
    return results;
  });
}

}  // namespace hilo
