// A run is a record that holds everything it uses: the program, its arguments' values, its results'
// values. It is run in place, or handed to the device's queue; either way nobody has to wait before
// letting go of executables and buffers.
#include "runtime/executable.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "runtime/client_core.h"
#include "runtime/guarded.h"
#include "runtime/loaded_program.h"

namespace hilo {
namespace {

// Programs that are guessed to take less run on the calling thread: to hand a run to another thread
// and back takes some 10 us.
constexpr int64_t kInlineNanoseconds = 50'000;
// Leaves for which a run needs no memory beside the stack's.
constexpr size_t kFewLeaves = 8;

template <typename T>
using FewLeaves = absl::InlinedVector<T, kFewLeaves>;

struct Argument {
  std::shared_ptr<BufferValue> value;
  bool donated = false;
};

struct Run {
  const LoadedProgram& program;
  ClientCore& core;
  FewLeaves<Argument> arguments;
  FewLeaves<BufferValue*> results;
  CancellationToken* cancellation = nullptr;
};

// The argument's memory if it may become a result's: given up, ours, and used by this run alone.
std::shared_ptr<MemoryBlock> TakeMemory(Argument& argument) {
  if (!argument.donated || argument.value.use_count() != 1) return nullptr;
  std::shared_ptr<MemoryBlock>& memory = argument.value->memory;
  if (!memory->writable() || memory.use_count() != 1) return nullptr;
  // Whoever held it before has let go; see all that it wrote.
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

// A run on defined arguments. Results get their memory, and then their elements.
absl::Status RunNow(Run& run) {
  const LoadedProgram& program = run.program;
  if (run.cancellation != nullptr) HILO_RETURN_IF_ERROR(run.cancellation->status());
  FewLeaves<const void*> inputs;
  for (const Argument& argument : run.arguments) {
    const MemoryBlock* memory = argument.value->memory.get();
    inputs.push_back(memory == nullptr ? nullptr : memory->data());
  }
  FewLeaves<std::shared_ptr<MemoryBlock>> blocks;
  FewLeaves<void*> outputs;
  for (const LoadedProgram::Leaf& leaf : program.outputs) {
    std::shared_ptr<MemoryBlock> block;
    if (leaf.shape->IsArray()) {
      if (leaf.donor >= 0) block = TakeMemory(run.arguments[leaf.donor]);
      if (block == nullptr) {
        HILO_ASSIGN_OR_RETURN(block, run.core.memory->Allocate(leaf.bytes));
        if (leaf.donor >= 0 && leaf.bytes > 0)
          std::memcpy(block->data(), inputs[leaf.donor], leaf.bytes);
      }
      if (leaf.donor >= 0) inputs[leaf.donor] = block->data();
    }
    outputs.push_back(block == nullptr ? nullptr : block->data());
    blocks.push_back(std::move(block));
  }
  TemporaryMemory temporary(run.core.memory.get());
  HILO_RETURN_IF_ERROR(temporary.Reserve(program.compiled->temp_bytes()));
  HILO_RETURN_IF_ERROR(program.compiled->Run(
      {.thread_pool = run.core.pool, .cancellation = run.cancellation}, inputs, outputs));
  for (size_t i = 0; i < blocks.size(); ++i) run.results[i]->memory = std::move(blocks[i]);
  return absl::OkStatus();
}

// The value in the layout of `wanted`.
absl::StatusOr<std::shared_ptr<BufferValue>> Relayout(const ClientCore& core,
                                                      const BufferValue& value, const Shape& shape,
                                                      const Shape& wanted) {
  HILO_RETURN_IF_ERROR(value.Await());
  auto result = std::make_shared<BufferValue>();
  HILO_ASSIGN_OR_RETURN(result->memory, core.memory->Allocate(ShapeUtil::ByteSizeOf(wanted)));
  if (result->memory->size() > 0) {
    HILO_ASSIGN_OR_RETURN(Literal literal, LiteralFromBytes(value.memory->data(), shape));
    LiteralToBytes(literal, wanted, result->memory->data());
  }
  return result;
}

// Takes the values of all arguments, and those that are donated from their buffers.
absl::Status TakeArguments(const ClientCore& core, const LoadedProgram& program,
                           absl::Span<Buffer* const> buffers, const ExecuteOptions& options,
                           FewLeaves<Argument>* arguments) {
  if (buffers.size() != program.parameters.size()) {
    return InvalidArgument("the program takes ", program.parameters.size(),
                           " arguments (leaves of its parameters), but got ", buffers.size());
  }
  arguments->resize(buffers.size());
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i] == nullptr) return InvalidArgument("argument ", i, " is null");
    const Buffer& buffer = *buffers[i];
    if (buffer.device() != options.device) {
      return InvalidArgument("argument ", i, " is on device ", buffer.device(),
                             ", but the run is on device ", options.device);
    }
    const Shape& wanted = *program.parameters[i].shape;
    const bool same = &buffer.shape() == &wanted || ShapeUtil::Equal(buffer.shape(), wanted);
    if (!same && !ShapeUtil::Compatible(buffer.shape(), wanted)) {
      return InvalidArgument("argument ", i, ": expected ", wanted.ToString(), ", got ",
                             buffer.shape().ToString());
    }
    absl::StatusOr<std::shared_ptr<BufferValue>> value = buffer.Share();
    if (value.ok() && !same) value = Relayout(core, **value, buffer.shape(), wanted);
    if (!value.ok()) return AddContext(value.status(), absl::StrCat("; argument ", i));
    (*arguments)[i].value = *std::move(value);
  }
  for (int64_t i : options.donate) {
    if (i < 0 || i >= static_cast<int64_t>(buffers.size())) {
      return InvalidArgument("donate: expected numbers of arguments below ", buffers.size(),
                             ", got ", i);
    }
    // A buffer that is given twice is a value that others use too.
    if (buffers[i]->Donate().ok()) (*arguments)[i].donated = true;
  }
  return absl::OkStatus();
}

// The token of a run and the deadline that watches it.
class RunLimits {
 public:
  RunLimits(ClientCore* core, const ExecuteOptions& options)
      : core_(core), token_(options.cancellation) {
    const absl::Duration deadline = std::min(options.deadline, core->default_deadline);
    if (deadline == absl::InfiniteDuration()) return;
    if (token_ == nullptr) token_ = std::make_shared<CancellationToken>();
    if (deadline <= absl::ZeroDuration()) {
      token_->Expire();
      return;
    }
    // A century is long enough for the clock's arithmetic and for any run.
    const absl::Duration bounded = std::min(deadline, absl::Hours(24 * 365 * 100));
    watch_ =
        core->watchdog->Arm(token_, Watchdog::Clock::now() + absl::ToChronoNanoseconds(bounded));
  }
  RunLimits(const RunLimits&) = delete;
  RunLimits& operator=(const RunLimits&) = delete;
  ~RunLimits() {
    if (watch_.has_value()) core_->watchdog->Disarm(*watch_);
  }
  CancellationToken* token() const { return token_.get(); }

 private:
  ClientCore* core_;
  std::shared_ptr<CancellationToken> token_;
  std::optional<Watchdog::Watch> watch_;
};

absl::StatusOr<Literal> Assemble(const Shape& shape,
                                 absl::Span<const std::unique_ptr<Buffer>> leaves, size_t* next) {
  if (!shape.IsTuple()) return leaves[(*next)++]->ToLiteral();
  std::vector<Literal> elements;
  for (const Shape& element : shape.tuple_shapes()) {
    HILO_ASSIGN_OR_RETURN(Literal literal, Assemble(element, leaves, next));
    elements.push_back(std::move(literal));
  }
  return Literal::MakeTuple(std::move(elements));
}

void CollectLeaves(const Literal& literal, std::vector<const Literal*>* leaves) {
  if (!literal.shape().IsTuple()) return leaves->push_back(&literal);
  for (int64_t i = 0; i < literal.tuple_size(); ++i) CollectLeaves(literal.element(i), leaves);
}

void AddLeaves(const Shape& shape, std::vector<LoadedProgram::Leaf>* leaves) {
  for (const ShapeUtil::Leaf& leaf : ShapeUtil::Leaves(shape)) {
    leaves->push_back({.shape = std::make_shared<const Shape>(*leaf.shape),
                       .bytes = leaf.shape->IsArray() ? ShapeUtil::ByteSizeOf(*leaf.shape) : 0});
  }
}

}  // namespace

LoadedProgram::LoadedProgram(std::unique_ptr<CompiledProgram> program)
    : compiled(std::move(program)) {
  for (const Shape& parameter : compiled->program_shape().parameters)
    AddLeaves(parameter, &parameters);
  AddLeaves(compiled->program_shape().result, &outputs);
  for (const auto& [output, parameter] : compiled->donations()) outputs[output].donor = parameter;
}

Executable::Executable(std::shared_ptr<ClientCore> core,
                       std::shared_ptr<const LoadedProgram> program)
    : core_(std::move(core)), program_(std::move(program)) {}

const ProgramShape& Executable::program_shape() const {
  return program_->compiled->program_shape();
}
const CompiledProgram& Executable::program() const { return *program_->compiled; }

absl::StatusOr<std::vector<std::unique_ptr<Buffer>>> Executable::Execute(
    absl::Span<Buffer* const> arguments, const ExecuteOptions& options) const {
  return Guarded([&] { return ExecuteUnguarded(arguments, options); });
}

absl::StatusOr<std::vector<std::unique_ptr<Buffer>>> Executable::ExecuteUnguarded(
    absl::Span<Buffer* const> arguments, const ExecuteOptions& options) const {
  HILO_RETURN_IF_ERROR(core_->CheckProcess());
  HILO_RETURN_IF_ERROR(core_->CheckDevice(options.device));
  Run run{.program = *program_, .core = *core_};
  HILO_RETURN_IF_ERROR(TakeArguments(*core_, *program_, arguments, options, &run.arguments));
  bool ready = true;
  for (const Argument& argument : run.arguments) {
    if (options.synchronous || argument.value->defined()) {
      HILO_RETURN_IF_ERROR(argument.value->Await());
    } else {
      ready = false;
    }
  }
  const bool in_place = options.synchronous ||
                        (ready && program_->compiled->estimated_nanoseconds() < kInlineNanoseconds);
  std::shared_ptr<Event> done = in_place ? nullptr : std::make_shared<Event>();
  std::vector<std::unique_ptr<Buffer>> results;
  results.reserve(program_->outputs.size());
  FewLeaves<std::shared_ptr<BufferValue>> values;
  for (const LoadedProgram::Leaf& leaf : program_->outputs) {
    auto value = std::make_shared<BufferValue>();
    value->definition = done;
    run.results.push_back(value.get());
    if (!in_place) values.push_back(value);
    results.push_back(std::make_unique<Buffer>(leaf.shape, options.device, std::move(value)));
  }
  if (in_place) {
    const RunLimits limits(core_.get(), options);
    run.cancellation = limits.token();
    HILO_RETURN_IF_ERROR(RunNow(run));
    return results;
  }
  // The core outlives the queue's work; a shared reference from here could make the queue wait for
  // itself.
  auto limits = std::make_shared<RunLimits>(core_.get(), options);
  auto later = std::make_shared<Run>(std::move(run));
  later->cancellation = limits->token();
  core_->queues[options.device]->Enqueue([program = program_, limits = std::move(limits),
                                          later = std::move(later), values = std::move(values),
                                          done = std::move(done)]() mutable {
    absl::Status status = Guarded([&]() -> absl::Status {
      for (const Argument& argument : later->arguments)
        HILO_RETURN_IF_ERROR(argument.value->Await());
      return RunNow(*later);
    });
    later.reset();  // arguments are free before anybody hears of the results
    limits.reset();
    done->Set(std::move(status));
  });
  return results;
}

absl::StatusOr<Literal> Executable::ExecuteLiterals(absl::Span<const Literal* const> arguments,
                                                    const ExecuteOptions& options) const {
  return Guarded([&]() -> absl::StatusOr<Literal> {
    const ProgramShape& shape = program_shape();
    if (arguments.size() != shape.parameters.size()) {
      return InvalidArgument("the program takes ", shape.parameters.size(), " arguments, but got ",
                             arguments.size(), ": ", shape.ToString());
    }
    std::vector<const Literal*> leaves;
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (arguments[i] == nullptr) return InvalidArgument("argument ", i, " is null");
      if (!ShapeUtil::Compatible(arguments[i]->shape(), shape.parameters[i])) {
        return InvalidArgument("argument ", i, ": expected ", shape.parameters[i].ToString(),
                               ", got ", arguments[i]->shape().ToString());
      }
      CollectLeaves(*arguments[i], &leaves);
    }
    std::vector<std::unique_ptr<Buffer>> buffers;
    std::vector<Buffer*> pointers;
    for (size_t i = 0; i < leaves.size(); ++i) {
      HILO_ASSIGN_OR_RETURN(
          std::unique_ptr<Buffer> buffer,
          core_->BufferFromLiteral(*leaves[i], options.device, *program_->parameters[i].shape));
      pointers.push_back(buffer.get());
      buffers.push_back(std::move(buffer));
    }
    ExecuteOptions synchronous = options;
    synchronous.synchronous = true;
    HILO_ASSIGN_OR_RETURN(std::vector<std::unique_ptr<Buffer>> results,
                          ExecuteUnguarded(pointers, synchronous));
    size_t next = 0;
    return Assemble(shape.result, results, &next);
  });
}

}  // namespace hilo
