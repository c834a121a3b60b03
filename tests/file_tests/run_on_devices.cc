#include "tests/file_tests/run_on_devices.h"

#include <utility>

#include "hilo/status_macros.h"

namespace hilo::testing {
namespace {

using Buffers = std::vector<std::unique_ptr<Buffer>>;

absl::Status Put(Client& client, const Literal& literal, int device, Buffers* buffers) {
  if (literal.shape().IsTuple()) {
    for (int64_t i = 0; i < literal.tuple_size(); ++i)
      HILO_RETURN_IF_ERROR(Put(client, literal.element(i), device, buffers));
    return absl::OkStatus();
  }
  HILO_ASSIGN_OR_RETURN(buffers->emplace_back(), client.BufferFromLiteral(literal, device));
  return absl::OkStatus();
}

absl::StatusOr<Literal> Get(const Shape& shape, const Buffers& buffers, size_t* next) {
  if (!shape.IsTuple()) return buffers[(*next)++]->ToLiteral();
  std::vector<Literal> elements;
  for (const Shape& element : shape.tuple_shapes()) {
    HILO_ASSIGN_OR_RETURN(elements.emplace_back(), Get(element, buffers, next));
  }
  return Literal::MakeTuple(std::move(elements));
}

}  // namespace

absl::StatusOr<std::vector<Literal>> RunOnDevices(Client& client, const Executable& executable,
                                                  const std::vector<std::vector<const Literal*>>& arguments) {
  std::vector<Literal> results;
  if (arguments.size() == 1) {
    HILO_ASSIGN_OR_RETURN(results.emplace_back(), executable.ExecuteLiterals(arguments[0]));
    return results;
  }
  std::vector<Buffers> buffers(arguments.size());
  std::vector<std::vector<Buffer*>> pointers(arguments.size());
  for (size_t device = 0; device < arguments.size(); ++device) {
    for (const Literal* argument : arguments[device]) {
      HILO_RETURN_IF_ERROR(Put(client, *argument, static_cast<int>(device), &buffers[device]));
    }
    for (const auto& buffer : buffers[device]) pointers[device].push_back(buffer.get());
  }
  HILO_ASSIGN_OR_RETURN(const Executable::ReplicatedResults outputs,
                        executable.ExecuteReplicated(pointers, {.deadline = absl::Seconds(60), .synchronous = true}));
  for (const Buffers& output : outputs) {
    size_t next = 0;
    HILO_ASSIGN_OR_RETURN(results.emplace_back(), Get(executable.program_shape().result, output, &next));
  }
  return results;
}

}  // namespace hilo::testing
