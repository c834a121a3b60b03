#include "runtime/program_run.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "runtime/guarded.h"
#include "runtime/runtime_access.h"
#include "runtime/time_thresholds.h"

namespace hilo {
namespace {

// Of temporary memory: programs with more run one after the other, so that no more than the frame of one is needed.
constexpr int64_t kMaxTempBytesBeside = int64_t{64} << 20;

// Whether two runs beside each other have one thread each, rather than one of them all but one.
bool HaveThreadEach(const ClientCore& core) { return core.pool->num_threads() == 2; }

// The argument's memory if it may become a result's: given up, ours, and used by this run alone.
std::shared_ptr<MemoryBlock> TakeMemory(Argument& argument) {
  if (!argument.donated || argument.value.use_count() != 1) return nullptr;
  std::shared_ptr<MemoryBlock>& memory = argument.value->memory;
  if (!memory->writable() || memory.use_count() != 1) return nullptr;
  // The previous holder has released it; synchronize with its writes.
  std::atomic_thread_fence(std::memory_order_acquire);
  return std::move(memory);
}

// Counts a program's frame while it runs.
class TemporaryMemory {
 public:
  explicit TemporaryMemory(HostMemory* memory) : memory_(memory) {}
  TemporaryMemory(const TemporaryMemory&) = delete;
  TemporaryMemory& operator=(const TemporaryMemory&) = delete;
  ~TemporaryMemory() {
    if (bytes_ > 0) memory_->Unreserve(bytes_);
  }
  absl::Status Reserve(int64_t bytes) {
    if (bytes == 0) return absl::OkStatus();
    HILO_RETURN_IF_ERROR(memory_->Reserve(bytes));
    bytes_ = bytes;
    return absl::OkStatus();
  }

 private:
  HostMemory* memory_;
  int64_t bytes_ = 0;
};

// The value in the layout of `wanted`.
absl::StatusOr<std::shared_ptr<BufferValue>> Relayout(HostMemory* memory, const Buffer& buffer, const Shape& wanted) {
  HILO_ASSIGN_OR_RETURN(const Literal literal, buffer.ToLiteral());
  auto result = std::make_shared<BufferValue>();
  HILO_ASSIGN_OR_RETURN(result->memory, MakeBlock(literal, wanted, memory));
  return result;
}

}  // namespace

bool RunsInline(const LoadedProgram& program, const ClientCore& core, int64_t nanoseconds) {
  return core.memories[0]->device() == nullptr && program.compiled->estimated_nanoseconds() < nanoseconds;
}

bool RunsInlineByHabit(const LoadedProgram& program, const ClientCore& core) {
  if (!program.wait_habit->WaitsAtOnce()) return RunsInline(program, core, kInlineNanoseconds);
  if (core.memories[0]->device() != nullptr) return false;
  return std::min(program.compiled->estimated_nanoseconds(), program.wait_habit->RecentNanoseconds()) <
         kInlineNanosecondsIfAwaited;
}

bool IsIndependent(const ProgramRun& run) {
  const ClientCore& core = run.core;
  const HostMemory& memory = *core.memories[run.context.device];
  // Where memory is limited, runs have what is left to themselves.
  if (core.pool == nullptr || core.pool->num_threads() == 1 || memory.device() != nullptr || memory.limit() != 0)
    return false;
  const LoadedProgram& program = run.program;
  if (program.effects.any || program.compiled->temp_bytes() > kMaxTempBytesBeside) return false;
  // One that waits its turn finds its donated arguments released by earlier runs.
  if (!run.IsReady() || std::any_of(run.arguments.begin(), run.arguments.end(),
                                    [](const Argument& argument) { return argument.donated; }))
    return false;
  return HaveThreadEach(core) || program.compiled->estimated_nanoseconds() < kIndependentNanoseconds;
}

bool OnlyTheCallReports(const LoadedProgram& program, const ExecuteOptions& options) {
  return program.outputs.empty() && options.ends == nullptr && !program.effects.transfers;
}

int64_t NextRunId() {
  static std::atomic<int64_t> last{0};
  return ++last;
}

absl::Status ProgramRun::TakeArguments(absl::Span<Buffer* const> buffers, const ExecuteOptions& options) {
  if (buffers.size() != program.parameters.size()) {
    return InvalidArgument("the program takes ", program.parameters.size(),
                           " arguments (leaves of its parameters), but got ", buffers.size());
  }
  for (const int64_t i : options.donate) {
    if (i < 0 || i >= static_cast<int64_t>(buffers.size()))
      return InvalidArgument("donate: expected numbers of arguments below ", buffers.size(), ", got ", i);
  }
  arguments.resize(buffers.size());
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i] == nullptr) return InvalidArgument("argument ", i, " is null");
    const Buffer& buffer = *buffers[i];
    if (buffer.device() != context.device) {
      return InvalidArgument("argument ", i, " is on device ", buffer.device(), ", but the run is on device ",
                             context.device);
    }
    const Shape& wanted = *program.parameters[i].shape;
    const bool same = &buffer.shape() == &wanted || ShapeUtil::Equal(buffer.shape(), wanted);
    if (!same && !ShapeUtil::Compatible(buffer.shape(), wanted)) {
      return InvalidArgument("argument ", i, ": expected ", wanted.ToString(), ", got ", buffer.shape().ToString());
    }
    absl::StatusOr<std::shared_ptr<BufferValue>> value = RuntimeAccess::Share(buffer);
    if (value.ok() && !same) value = Relayout(core.memories[context.device].get(), buffer, wanted);
    if (!value.ok()) return AddContext(value.status(), absl::StrCat("; argument ", i));
    arguments[i].value = *std::move(value);
  }
  host_callbacks = options.host_callbacks;
  context.host_callbacks = host_callbacks.get();
  context.transfers = core.transfers[context.device].get();
  if (program.effects.transfers) {
    context.transfers->infeed.Restart();
    context.transfers->outfeed.Restart();
  }
  return absl::OkStatus();
}

void ProgramRun::TakeDonations(absl::Span<Buffer* const> buffers, absl::Span<const int64_t> donate) {
  for (const int64_t i : donate) {
    // A buffer that is given twice is a value that others use too.
    if (RuntimeAccess::Donate(buffers[i]).ok()) arguments[i].donated = true;
  }
}

std::vector<std::unique_ptr<Buffer>> ProgramRun::MakeResults(std::shared_ptr<Event> done,
                                                             FewLeaves<std::shared_ptr<BufferValue>>* values) {
  std::vector<std::unique_ptr<Buffer>> buffers;
  buffers.reserve(program.outputs.size());
  for (const LoadedProgram::Leaf& leaf : program.outputs) {
    auto value = std::make_shared<BufferValue>();
    value->definition = done;
    results.push_back(value.get());
    if (values != nullptr) values->push_back(value);
    buffers.push_back(RuntimeAccess::MakeBuffer(leaf.shape, context.device, std::move(value)));
  }
  return buffers;
}

absl::Status ProgramRun::Ended(absl::Status status) {
  if (!status.ok() && program.effects.transfers) {
    context.transfers->infeed.Fail(status);
    context.transfers->outfeed.Fail(status);
  }
  return status;
}

absl::Status ProgramRun::RunNow() {
  return Ended(Guarded([&] { return RunProgram(nullptr); }));
}

absl::Status ProgramRun::Run(absl::Span<const void* const> inputs, absl::Span<void* const> outputs) const {
  // The time of shorter ones decides nothing.
  if (program.compiled->estimated_nanoseconds() < kInlineNanoseconds)
    return program.compiled->Run(context, inputs, outputs);
  const auto start = std::chrono::steady_clock::now();
  HILO_RETURN_IF_ERROR(program.compiled->Run(context, inputs, outputs));
  program.wait_habit->Took(std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count());
  return absl::OkStatus();
}

absl::Status ProgramRun::RunProgram(std::unique_ptr<PendingRun>* pending) {
  if (context.cancellation != nullptr) HILO_RETURN_IF_ERROR(context.cancellation->status());
  FewLeaves<const void*> inputs;
  for (const Argument& argument : arguments) {
    const MemoryBlock* memory = argument.value->memory.get();
    inputs.push_back(memory == nullptr ? nullptr : memory->data());
  }
  HostMemory* const memory = core.memories[context.device].get();
  context.memory = memory->device();
  FewLeaves<std::shared_ptr<MemoryBlock>> blocks;
  FewLeaves<void*> outputs;
  for (const LoadedProgram::Leaf& leaf : program.outputs) {
    std::shared_ptr<MemoryBlock> block;
    if (leaf.shape->IsArray()) {
      if (leaf.donor >= 0) block = TakeMemory(arguments[leaf.donor]);
      if (block == nullptr) {
        HILO_ASSIGN_OR_RETURN(block, memory->Allocate(leaf.bytes));
        if (leaf.donor >= 0) {
          const BufferValue& given = *arguments[leaf.donor].value;
          HILO_RETURN_IF_ERROR(given.Await());  // the copy is not in the order of the runs
          HILO_RETURN_IF_ERROR(block->CopyFrom(*given.memory));
        }
      }
      if (leaf.donor >= 0) inputs[leaf.donor] = block->data();
    }
    outputs.push_back(block == nullptr ? nullptr : block->data());
    blocks.push_back(std::move(block));
  }
  TemporaryMemory temporary(memory);
  HILO_RETURN_IF_ERROR(temporary.Reserve(program.compiled->temp_bytes()));
  if (pending == nullptr) {
    HILO_RETURN_IF_ERROR(Run(inputs, outputs));
  } else {
    HILO_ASSIGN_OR_RETURN(*pending, program.compiled->Begin(context, inputs, outputs));
  }
  for (size_t i = 0; i < blocks.size(); ++i) {
    results[i]->memory = std::move(blocks[i]);
    results[i]->queued = pending != nullptr;
  }
  return absl::OkStatus();
}

bool ProgramRun::IsReady() const {
  return std::all_of(arguments.begin(), arguments.end(),
                     [](const Argument& argument) { return argument.value->defined(); });
}

absl::Status ProgramRun::AwaitAndRun() {
  for (const Argument& argument : arguments) {
    if (absl::Status ready = argument.value->Await(); !ready.ok()) return Ended(std::move(ready));
  }
  return RunNow();
}

absl::Status ProgramRun::AwaitAndBegin(std::unique_ptr<PendingRun>* pending) {
  const bool in_order = program.compiled->CanBegin() && !program.effects.transfers;
  for (const Argument& argument : arguments) {
    const BufferValue& value = *argument.value;
    if (in_order && !value.defined() && value.queued) {
      unfinished.push_back(value.definition);
    } else if (absl::Status ready = value.Await(); !ready.ok()) {
      return Ended(std::move(ready));
    }
  }
  return Ended(Guarded([&] { return RunProgram(in_order ? pending : nullptr); }));
}

namespace {

// A run that the device has, and that has yet to end.
struct Completion {
  std::shared_ptr<ProgramRun> run;
  std::unique_ptr<PendingRun> pending;
  std::function<void(absl::Status)> ended;

  void AwaitEnd() {
    absl::Status status = Guarded([&] { return pending->Await(); });
    // Earlier runs have ended before this one.
    for (const std::shared_ptr<Event>& definition : run->unfinished) {
      if (const absl::Status defined = definition->Await(); !defined.ok()) {
        status = defined;
        break;
      }
    }
    pending.reset();
    run.reset();
    ended(std::move(status));
  }
};

}  // namespace

void StartRun(std::shared_ptr<ProgramRun> run, FewLeaves<std::shared_ptr<BufferValue>> values,
              std::function<void(absl::Status)> ended) {
  // Once the device has the work, its end must be awaited: what that takes is allocated first.
  std::shared_ptr<Completion> completion;
  std::function<void()> await_end;
  if (DeviceQueue::RunsBesideAnother() && HaveThreadEach(run->core)) run->context.thread_pool = nullptr;
  absl::Status status = Guarded([&] {
    completion = std::make_shared<Completion>();
    await_end = [completion] { completion->AwaitEnd(); };
    return run->AwaitAndBegin(&completion->pending);
  });
  if (completion == nullptr || completion->pending == nullptr) {
    run.reset();
    values.clear();
    return ended(std::move(status));
  }
  // Later runs may take the memory, as the device has them in order. What the embedder lent, it gets back at the end.
  const auto lent = [](const Argument& argument) {
    const MemoryBlock* memory = argument.value->memory.get();
    return memory != nullptr && !memory->writable();
  };
  run->arguments.erase(std::remove_if(run->arguments.begin(), run->arguments.end(), std::not_fn(lent)),
                       run->arguments.end());
  values.clear();
  DeviceQueue& completions = *run->core.completions[run->context.device];
  completion->run = std::move(run);
  completion->ended = std::move(ended);
  completion.reset();
  try {
    completions.Enqueue(std::move(await_end));
  } catch (const std::bad_alloc&) {
    await_end();  // here, as the queue has no memory for it
  }
}

RunLimits::RunLimits(ClientCore* core, const ExecuteOptions& options, bool always)
    : RunLimits(
          core,
          always && options.cancellation == nullptr ? std::make_shared<CancellationToken>() : options.cancellation,
          std::min(options.deadline, core->default_deadline)) {}

RunLimits::RunLimits(ClientCore* core, std::shared_ptr<CancellationToken> token, absl::Duration deadline)
    : core_(core), token_(std::move(token)) {
  if (deadline == absl::InfiniteDuration()) return;
  if (token_ == nullptr) token_ = std::make_shared<CancellationToken>();
  if (deadline <= absl::ZeroDuration()) {
    token_->Expire();
    return;
  }
  // A century is long enough for the clock's arithmetic and for any run.
  const absl::Duration bounded = std::min(deadline, absl::Hours(24 * 365 * 100));
  watch_ = core->watchdog->Arm(token_, Watchdog::Clock::now() + absl::ToChronoNanoseconds(bounded));
}

RunLimits::~RunLimits() {
  if (watch_.has_value()) core_->watchdog->Disarm(*watch_);
}

}  // namespace hilo
