// Runs and their events.
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <mutex>

#include "base/spin.h"
#include "capi/handles.h"
#include "hilo/status_macros.h"
#include "runtime/wait_habit.h"

namespace hilo::capi {
namespace {

struct Waiter {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
};

// The options, checked; `donate` holds the list that the result points to.
absl::StatusOr<ExecuteOptions> OptionsFrom(const HiloExecuteOptions* options, size_t num_parameters,
                                           std::vector<int64_t>* donate) {
  ExecuteOptions wanted;
  if (options == nullptr) return wanted;
  if (options->struct_size < sizeof(HiloExecuteOptions)) {
    return InvalidArgument("options->struct_size: expected ", sizeof(HiloExecuteOptions), " or more, got ",
                           options->struct_size);
  }
  if (!(options->deadline_seconds >= 0))
    return InvalidArgument("options->deadline_seconds: expected 0 or more, got ", options->deadline_seconds);
  wanted.device = options->device;
  wanted.synchronous = options->synchronous;
  if (options->deadline_seconds > 0) wanted.deadline = absl::Seconds(options->deadline_seconds);
  if (options->num_donated > 0) HILO_RETURN_IF_ERROR(CheckNotNull(options->donated, "options->donated"));
  for (size_t i = 0; i < options->num_donated; ++i) {
    if (options->donated[i] >= num_parameters)
      return InvalidArgument("options->donated[", i, "]: there is no parameter ", options->donated[i]);
    donate->push_back(static_cast<int64_t>(options->donated[i]));
  }
  wanted.donate = *donate;
  return wanted;
}

absl::Status Execute(const HiloExecutable* executable, HiloBuffer* const* arguments, size_t num_arguments,
                     const HiloExecuteOptions* options, HiloBuffer** results, size_t num_results, HiloEvent** event) {
  HILO_RETURN_IF_ERROR(CheckNotNull(executable, "executable"));
  const Executable& program = *executable->executable;
  const size_t devices = program.assignment().device_count();
  const size_t parameters = executable->parameters.size(), outputs = executable->results.size();
  if (num_arguments != devices * parameters || num_results != devices * outputs) {
    return InvalidArgument("expected ", devices * parameters, " arguments and room for ", devices * outputs,
                           " results of a program on ", devices, " devices, got ", num_arguments, " and ", num_results);
  }
  if (num_arguments > 0) HILO_RETURN_IF_ERROR(CheckNotNull(arguments, "arguments"));
  if (num_results > 0) HILO_RETURN_IF_ERROR(CheckNotNull(results, "results"));
  std::vector<Buffer*> all(num_arguments);
  for (size_t i = 0; i < num_arguments; ++i) {
    if (arguments[i] == nullptr) return InvalidArgument("argument ", i, " is NULL");
    all[i] = arguments[i]->buffer.get();
  }
  std::vector<int64_t> donate;
  HILO_ASSIGN_OR_RETURN(ExecuteOptions wanted, OptionsFrom(options, parameters, &donate));
  std::unique_ptr<HiloEvent> made;
  if (event != nullptr) {
    made = std::make_unique<HiloEvent>();
    made->cancellation = wanted.cancellation = std::make_shared<CancellationToken>();
    wanted.ends = &made->ends;
  }
  Executable::ReplicatedResults buffers(1);
  if (devices == 1) {
    HILO_ASSIGN_OR_RETURN(buffers[0], program.Execute(all, wanted));
  } else {
    std::vector<std::vector<Buffer*>> lists(devices);
    for (size_t i = 0; i < num_arguments; ++i) lists[i / parameters].push_back(all[i]);
    HILO_ASSIGN_OR_RETURN(buffers, program.ExecuteReplicated(lists, wanted));
  }
  std::vector<std::unique_ptr<HiloBuffer>> handles;
  handles.reserve(num_results);
  for (std::vector<std::unique_ptr<Buffer>>& of_device : buffers) {
    for (size_t i = 0; i < of_device.size(); ++i) {
      handles.emplace_back(new HiloBuffer{.buffer = std::move(of_device[i]), .shape = executable->results[i].shape});
    }
  }
  for (size_t i = 0; i < handles.size(); ++i) results[i] = handles[i].release();
  if (event != nullptr) *event = made.release();
  return absl::OkStatus();
}

absl::Status AwaitAll(const HiloEvent* event, double seconds) {
  HILO_RETURN_IF_ERROR(CheckNotNull(event, "event"));
  if (std::isnan(seconds)) return InvalidArgument("`seconds` is not a number");
  WaitHabit::Waits();
  const auto start = std::chrono::steady_clock::now();
  for (const std::shared_ptr<Event>& end : event->ends) {
    if (end == nullptr) continue;
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    HILO_RETURN_IF_ERROR(AwaitFor(end.get(), seconds < 0 ? seconds : std::max(0.0, seconds - passed.count())));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status AwaitFor(Event* event, double seconds) {
  if (std::isnan(seconds)) return InvalidArgument("`seconds` is not a number");
  constexpr double kForever = 1e9;  // 30 years
  if (SpinUntil([event] { return event->done(); }) || seconds < 0 || seconds > kForever) return event->Await();
  const auto waiter = std::make_shared<Waiter>();
  event->OnDone([waiter](const absl::Status&) {
    const std::lock_guard<std::mutex> lock(waiter->mutex);
    waiter->done = true;
    waiter->changed.notify_all();
  });
  std::unique_lock<std::mutex> lock(waiter->mutex);
  if (waiter->changed.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return waiter->done; }))
    return event->Await();
  return DeadlineExceeded("the run has not ended within ", seconds, " seconds");
}

}  // namespace hilo::capi

using hilo::capi::Call;
using hilo::capi::CheckNotNull;

HiloError* HiloExecute(const HiloExecutable* executable, HiloBuffer* const* arguments, size_t num_arguments,
                       const HiloExecuteOptions* options, HiloBuffer** results, size_t num_results, HiloEvent** event) {
  return Call(
      [&] { return hilo::capi::Execute(executable, arguments, num_arguments, options, results, num_results, event); });
}

HiloError* HiloEventAwait(const HiloEvent* event, double seconds) {
  return Call([&] { return hilo::capi::AwaitAll(event, seconds); });
}

HiloError* HiloEventIsDone(const HiloEvent* event, bool* done) {
  return Call([&]() -> absl::Status {
    HILO_RETURN_IF_ERROR(CheckNotNull(event, "event"));
    HILO_RETURN_IF_ERROR(CheckNotNull(done, "done"));
    *done = std::all_of(event->ends.begin(), event->ends.end(),
                        [](const auto& end) { return end == nullptr || end->done(); });
    return absl::OkStatus();
  });
}

HiloError* HiloEventCancel(HiloEvent* event) {
  return Call([&]() -> absl::Status {
    HILO_RETURN_IF_ERROR(CheckNotNull(event, "event"));
    event->cancellation->Cancel();
    return absl::OkStatus();
  });
}

void HiloEventDestroy(HiloEvent* event) { delete event; }
