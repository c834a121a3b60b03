// Runs.
#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "hilo/status_macros.h"
#include "pjrt/buffer.h"
#include "pjrt/error.h"
#include "pjrt/event.h"
#include "pjrt/execute_context.h"
#include "pjrt/program.h"
#include "pjrt/promises.h"
#include "runtime/runtime_access.h"

namespace hilo::pjrt {
namespace {

// What one device is given. Tokens come as whatever array the framework holds for them; its definition is what the
// program waits for.
class DeviceArguments {
 public:
  absl::Status Take(const Program& program, int device, PJRT_Buffer* const* given, RunDependencies* dependencies) {
    buffers_.reserve(program.parameters.shapes.size());
    for (size_t i = 0; i < program.parameters.shapes.size(); ++i) {
      HILO_RETURN_IF_ERROR(CheckHandle(given[i], "PJRT_Buffer as an argument"));
      if (given[i]->client != program.client)
        return InvalidArgument("argument ", i, " of ", program.name, " is a buffer of another client");
      buffers_.push_back(given[i]->value.get());
      dependencies->AddArgument(*given[i]->value);
    }
    for (const int64_t i : program.tokens) {
      if (buffers_[i]->shape().IsToken()) continue;
      HILO_ASSIGN_OR_RETURN(const std::shared_ptr<BufferValue> given_value, RuntimeAccess::Share(*buffers_[i]));
      auto value = std::make_shared<BufferValue>();
      value->definition = given_value->definition;
      tokens_.push_back(RuntimeAccess::MakeBuffer(std::make_shared<const Shape>(TOKEN), device, std::move(value)));
      buffers_[i] = tokens_.back().get();
    }
    return absl::OkStatus();
  }
  absl::Span<Buffer* const> buffers() const { return buffers_; }

 private:
  absl::InlinedVector<Buffer*, 16> buffers_;
  std::vector<std::unique_ptr<Buffer>> tokens_;
};

// Of a device; null if there are none.
PJRT_Buffer* const* ArgumentsOf(const PJRT_LoadedExecutable_Execute_Args& args, size_t device) {
  return args.num_args == 0 ? nullptr : args.argument_lists[device];
}

// The errors of deleted arguments are the caller's.
absl::Status RunError(const absl::Status& status, const PJRT_LoadedExecutable_Execute_Args& args) {
  if (status.code() != absl::StatusCode::kFailedPrecondition) return status;
  for (size_t d = 0; d < args.num_devices; ++d) {
    for (size_t i = 0; i < args.num_args; ++i) {
      if (args.argument_lists[d][i]->value->IsDeleted()) return InvalidArgument(status.message());
    }
  }
  return status;
}

absl::Status CheckCall(const Program& program, const PJRT_LoadedExecutable_Execute_Args& args,
                       const PJRT_ExecuteOptions& options) {
  if (args.executable->deleted) return InvalidArgument("the executable ", program.name, " has been deleted");
  const size_t devices = args.execute_device == nullptr ? program.devices.size() : 1;
  if (args.num_devices != devices)
    return InvalidArgument(program.name, " runs on ", devices, " devices, but got arguments for ", args.num_devices);
  if (args.execute_device != nullptr && args.execute_device->client != program.client.get())
    return InvalidArgument(program.name, " cannot be run on a device of another client");
  if (args.execute_device != nullptr && program.executable->assignment().device_count() != 1) {
    return InvalidArgument(program.name, " runs on ", program.executable->assignment().device_count(),
                           " devices and cannot be run on one");
  }
  if (devices == 0) return InvalidArgument(program.name, " runs on devices of other processes");
  if (args.num_args != program.parameters.shapes.size()) {
    return InvalidArgument(program.name, " takes ", program.parameters.shapes.size(), " arguments, but got ",
                           args.num_args);
  }
  if (options.num_send_ops != 0 || options.num_recv_ops != 0) return Unimplemented("send and recv callbacks of a run");
  for (size_t d = 0; d < devices; ++d) {
    if (args.num_args > 0 && (args.argument_lists == nullptr || args.argument_lists[d] == nullptr))
      return InvalidArgument("expected ", args.num_args, " arguments for each device, got a null list");
    if (!program.results.shapes.empty() && (args.output_lists == nullptr || args.output_lists[d] == nullptr))
      return InvalidArgument("expected room for ", program.results.shapes.size(),
                             " results of each device, got a null list");
  }
  return absl::OkStatus();
}

std::vector<int64_t> Donations(const Program& program, const PJRT_ExecuteOptions& options) {
  std::vector<int64_t> donate = program.donated;
  const absl::Span<const int64_t> kept(options.non_donatable_input_indices, options.num_non_donatable_input_indices);
  donate.erase(std::remove_if(donate.begin(), donate.end(),
                              [&](int64_t i) { return std::find(kept.begin(), kept.end(), i) != kept.end(); }),
               donate.end());
  return donate;
}

// Those on which the processes have agreed last; empty if they never have.
std::vector<ProcessIncarnation> LiveProcesses(const PJRT_ExecuteOptions& options) {
  std::vector<ProcessIncarnation> live;
  if (options.task_ids == nullptr || options.incarnation_ids == nullptr) return live;
  live.resize(options.num_tasks);
  for (size_t i = 0; i < live.size(); ++i)
    live[i] = {.process = options.task_ids[i], .incarnation = static_cast<uint64_t>(options.incarnation_ids[i])};
  return live;
}

// XLA's rule: a donated argument cannot be another argument of the same call, donated or not.
absl::Status CheckDonations(absl::Span<const int64_t> donate, PJRT_Buffer* const* arguments, size_t count) {
  absl::flat_hash_map<const PJRT_Buffer*, int64_t> donated;
  for (const int64_t i : donate) {
    const auto [first, is_new] = donated.try_emplace(arguments[i], i);
    if (!is_new)
      return InvalidArgument("arguments ", first->second, " and ", i,
                             " are the same buffer, which cannot be donated twice, as in f(donate(a), donate(a))");
  }
  for (size_t i = 0; i < count; ++i) {
    const auto found = donated.find(arguments[i]);
    if (found != donated.end() && found->second != static_cast<int64_t>(i)) {
      return InvalidArgument("argument ", i, " is the buffer that is donated as argument ", found->second,
                             " of the same call, as in f(donate(a), a)");
    }
  }
  return absl::OkStatus();
}

// Returns the results; from here on only allocations can fail.
void GiveResults(const Program& program, absl::Span<PJRT_Device* const> devices, Executable::ReplicatedResults results,
                 absl::Span<const std::shared_ptr<Event>> ends, PJRT_LoadedExecutable_Execute_Args* args) {
  std::vector<std::unique_ptr<PJRT_Buffer>> buffers;
  for (size_t d = 0; d < devices.size(); ++d) {
    for (size_t i = 0; i < results[d].size(); ++i) {
      buffers.push_back(std::make_unique<PJRT_Buffer>(
          program.client, &devices[d]->memories[program.results.memory_kinds[i]], std::move(results[d][i])));
    }
  }
  std::vector<std::unique_ptr<PJRT_Event>> events;
  if (args->device_complete_events != nullptr) {
    for (const std::shared_ptr<Event>& end : ends) events.push_back(std::make_unique<PJRT_Event>(PJRT_Event{end}));
  }
  for (size_t d = 0, next = 0; d < devices.size(); ++d) {
    for (size_t i = 0; i < results[d].size(); ++i) args->output_lists[d][i] = buffers[next++].release();
    if (!events.empty()) args->device_complete_events[d] = events[d].release();
  }
}

}  // namespace

absl::Status LoadedExecutable_Execute(PJRT_LoadedExecutable_Execute_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->executable, "PJRT_LoadedExecutable"));
  HILO_RETURN_IF_ERROR(CheckHandle(args->options, "PJRT_ExecuteOptions"));
  const PJRT_ExecuteOptions given = Whole(args->options);
  const Program& program = *args->executable->program;
  HILO_RETURN_IF_ERROR(CheckCall(program, *args, given));
  absl::Span<PJRT_Device* const> devices = program.devices;
  if (args->execute_device != nullptr) devices = absl::MakeConstSpan(&args->execute_device, 1);

  std::vector<int64_t> donate;
  if (!program.donated.empty()) {
    donate = Donations(program, given);
    for (size_t d = 0; d < devices.size(); ++d)
      HILO_RETURN_IF_ERROR(CheckDonations(donate, args->argument_lists[d], args->num_args));
  }
  std::vector<std::shared_ptr<Event>> ends;
  // What Python functions do has been done when the call returns, as on jaxlib's CPU: programs look at it at once.
  ExecuteOptions options{
      .device = devices[0]->number(), .donate = donate, .synchronous = program.calls_python, .ends = &ends};
  if (given.context != nullptr && !given.context->is_empty) {
    options.ffi_context = &given.context->objects;
    options.synchronous = true;  // the context is the caller's
  }
  const std::vector<ProcessIncarnation> live = LiveProcesses(given);
  options.processes = live;
  RunDependencies dependencies;  // of all devices, which wait for each other in collectives
  Executable::ReplicatedResults results;
  if (program.executable->assignment().device_count() == 1) {
    DeviceArguments arguments;
    HILO_RETURN_IF_ERROR(arguments.Take(program, options.device, ArgumentsOf(*args, 0), &dependencies));
    auto run = program.executable->Execute(arguments.buffers(), options);
    if (!run.ok()) return RunError(run.status(), *args);
    results.push_back(*std::move(run));
  } else {
    std::vector<DeviceArguments> arguments(devices.size());
    std::vector<std::vector<Buffer*>> lists;
    for (size_t d = 0; d < devices.size(); ++d) {
      HILO_RETURN_IF_ERROR(arguments[d].Take(program, devices[d]->number(), ArgumentsOf(*args, d), &dependencies));
      lists.emplace_back(arguments[d].buffers().begin(), arguments[d].buffers().end());
    }
    auto run = program.executable->ExecuteReplicated(lists, options);
    if (!run.ok()) return RunError(run.status(), *args);
    results = *std::move(run);
  }
  for (const std::vector<std::unique_ptr<Buffer>>& of_device : results) {
    if (!of_device.empty()) dependencies.AddResult(*of_device[0]);  // the results of a device share one definition
  }
  GiveResults(program, devices, std::move(results), ends, args);
  return absl::OkStatus();
}

absl::Status ExecuteContext_Create(PJRT_ExecuteContext_Create_Args* args) {
  args->context = new PJRT_ExecuteContext;
  return absl::OkStatus();
}

absl::Status ExecuteContext_Destroy(PJRT_ExecuteContext_Destroy_Args* args) {
  delete args->context;
  return absl::OkStatus();
}

}  // namespace hilo::pjrt
