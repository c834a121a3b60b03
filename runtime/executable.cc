#include "hilo/executable.h"

#include <utility>

#include "base/errors.h"
#include "hilo/status_macros.h"
#include "runtime/client_core.h"
#include "runtime/guarded.h"
#include "runtime/loaded_program.h"
#include "runtime/program_run.h"

namespace hilo {
namespace {

absl::StatusOr<Literal> Assemble(const Shape& shape, absl::Span<const std::unique_ptr<Buffer>> leaves, size_t* next) {
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

LoadedProgram::LoadedProgram(std::unique_ptr<CompiledProgram> program, DeviceAssignment assignment,
                             ProgramEffects effects)
    : compiled(std::move(program)), assignment(std::move(assignment)), effects(std::move(effects)) {
  for (const Shape& parameter : compiled->program_shape().parameters) AddLeaves(parameter, &parameters);
  AddLeaves(compiled->program_shape().result, &outputs);
  for (const auto& [output, parameter] : compiled->donations()) outputs[output].donor = parameter;
}

Executable::Executable(std::shared_ptr<ClientCore> core, std::shared_ptr<const LoadedProgram> program)
    : core_(std::move(core)), program_(std::move(program)) {}

const ProgramShape& Executable::program_shape() const { return program_->compiled->program_shape(); }
int64_t Executable::temp_bytes() const { return program_->compiled->temp_bytes(); }
int64_t Executable::code_bytes() const { return program_->compiled->code_bytes(); }
int64_t Executable::estimated_nanoseconds() const { return program_->compiled->estimated_nanoseconds(); }
const DeviceAssignment& Executable::assignment() const { return program_->assignment; }
std::vector<int64_t> Executable::addressable() const {
  const int64_t first = core_->first_device, end = first + static_cast<int64_t>(core_->queues.size());
  std::vector<int64_t> indices;
  for (int64_t index = 0; index < assignment().device_count(); ++index) {
    const int device = assignment().devices()[index];
    if (device >= first && device < end) indices.push_back(index);
  }
  return indices;
}

absl::StatusOr<std::vector<std::unique_ptr<Buffer>>> Executable::Execute(absl::Span<Buffer* const> arguments,
                                                                         const ExecuteOptions& options) const {
  return Guarded([&] { return ExecuteUnguarded(arguments, options); });
}

absl::StatusOr<std::vector<std::unique_ptr<Buffer>>> Executable::ExecuteUnguarded(absl::Span<Buffer* const> arguments,
                                                                                  const ExecuteOptions& options) const {
  HILO_RETURN_IF_ERROR(core_->CheckProcess());
  HILO_RETURN_IF_ERROR(core_->CheckDevice(options.device));
  if (assignment().device_count() > 1) {
    return InvalidArgument("the program runs on ", assignment().replica_count(), " replicas and ",
                           assignment().partition_count(), " partitions at once: use ExecuteReplicated");
  }
  ProgramRun run{.program = *program_,
                 .core = *core_,
                 .context = {.thread_pool = core_->pool,
                             .device = options.device,
                             .run_id = NextRunId(),
                             .ffi_context = options.ffi_context}};
  HILO_RETURN_IF_ERROR(run.TakeArguments(arguments, options));
  // A program that a custom call runs, on the thread of its own device, cannot wait in that device's queue.
  const bool synchronous = options.synchronous || core_->queues[options.device]->IsCurrent();
  bool ready = true;
  for (const Argument& argument : run.arguments) {
    if (synchronous || argument.value->defined()) {
      HILO_RETURN_IF_ERROR(argument.value->Await());
    } else {
      ready = false;
    }
  }
  run.TakeDonations(arguments, options.donate);
  if (synchronous || (ready && !program_->effects.transfers && RunsInlineByHabit(*program_, *core_))) {
    std::vector<std::unique_ptr<Buffer>> results = run.MakeResults(nullptr, nullptr);
    const RunLimits limits(core_.get(), options);
    run.context.cancellation = limits.token().get();
    HILO_RETURN_IF_ERROR(run.RunNow());
    if (options.ends != nullptr) options.ends->push_back(nullptr);
    WaitHabit::Returned(program_->wait_habit);
    return results;
  }
  auto done = std::make_shared<Event>();
  if (options.ends != nullptr) options.ends->push_back(done);
  FewLeaves<std::shared_ptr<BufferValue>> values;
  std::vector<std::unique_ptr<Buffer>> results = run.MakeResults(done, &values);
  // The core outlives the queue's work; a shared reference from here could make the queue wait for
  // itself.
  const DeviceQueue::Order order = IsIndependent(run) ? DeviceQueue::Order::kIndependent : DeviceQueue::Order::kInOrder;
  auto limits = std::make_shared<RunLimits>(core_.get(), options);
  auto later = std::make_shared<ProgramRun>(std::move(run));
  later->context.cancellation = limits->token().get();
  std::function<void(absl::Status)> ended = [program = program_, limits = std::move(limits),
                                             done](absl::Status status) mutable {
    limits.reset();
    done->Set(std::move(status));
  };
  core_->queues[options.device]->Enqueue(
      [later = std::move(later), values = std::move(values), ended = std::move(ended)]() mutable {
        StartRun(std::move(later), std::move(values), std::move(ended));
      },
      order);
  if (OnlyTheCallReports(*program_, options)) HILO_RETURN_IF_ERROR(done->Await());
  WaitHabit::Returned(program_->wait_habit);
  return results;
}

absl::StatusOr<Literal> Executable::ExecuteLiterals(absl::Span<const Literal* const> arguments,
                                                    const ExecuteOptions& options) const {
  return Guarded([&]() -> absl::StatusOr<Literal> {
    const ProgramShape& shape = program_shape();
    if (arguments.size() != shape.parameters.size()) {
      return InvalidArgument("the program takes ", shape.parameters.size(), " arguments, but got ", arguments.size(),
                             ": ", shape.ToString());
    }
    std::vector<const Literal*> leaves;
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (arguments[i] == nullptr) return InvalidArgument("argument ", i, " is null");
      if (!ShapeUtil::Compatible(arguments[i]->shape(), shape.parameters[i])) {
        return InvalidArgument("argument ", i, ": expected ", shape.parameters[i].ToString(), ", got ",
                               arguments[i]->shape().ToString());
      }
      CollectLeaves(*arguments[i], &leaves);
    }
    std::vector<std::unique_ptr<Buffer>> buffers;
    std::vector<Buffer*> pointers;
    for (size_t i = 0; i < leaves.size(); ++i) {
      HILO_ASSIGN_OR_RETURN(std::unique_ptr<Buffer> buffer,
                            core_->BufferFromLiteral(*leaves[i], options.device, *program_->parameters[i].shape));
      pointers.push_back(buffer.get());
      buffers.push_back(std::move(buffer));
    }
    ExecuteOptions synchronous = options;
    synchronous.synchronous = true;
    HILO_ASSIGN_OR_RETURN(std::vector<std::unique_ptr<Buffer>> results, ExecuteUnguarded(pointers, synchronous));
    size_t next = 0;
    return Assemble(shape.result, results, &next);
  });
}

}  // namespace hilo
