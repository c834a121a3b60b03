#include "backends/gpu/thunks/host_call.h"

#include <array>
#include <cstring>
#include <functional>
#include <optional>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/ir/hlo_verifier.h"
#include "hlo/ops/random/random_attributes.h"
#include "hlo/ops/random/random_bits.h"
#include "hlo/ops/structure/custom_call.h"
#include "runtime/ffi/custom_call.h"
#include "runtime/transfer_ops.h"

namespace hilo::gpu {
namespace {

// One pointer per leaf, depth first over all operands and over the result; null for tokens and empty arrays. Results
// overlap no operand.
using HostFunction = std::function<absl::Status(const RunContext& run, absl::Span<const uint8_t* const> operands,
                                                absl::Span<uint8_t* const> results)>;

class HostThunk : public Thunk {
 public:
  HostThunk(std::string name, std::string context, HostFunction function, std::vector<BufferSlice> operands,
            std::vector<BufferSlice> results)
      : name_(std::move(name)),
        context_(std::move(context)),
        function_(std::move(function)),
        operands_(std::move(operands)),
        results_(std::move(results)) {}

  absl::Status Run(GpuRun& run) const override {
    std::vector<std::vector<uint8_t>> memory;
    std::vector<const uint8_t*> operands;
    std::vector<uint8_t*> results;
    auto on_host = [&](const BufferSlice& slice) -> uint8_t* {
      if (slice.kind == StorageKind::kNone) return nullptr;
      return memory.emplace_back(static_cast<size_t>(slice.size)).data();
    };
    for (const BufferSlice& slice : operands_) {
      operands.push_back(on_host(slice));
      if (operands.back() != nullptr)
        HILO_RETURN_IF_ERROR(run.stream.Copy(memory.back().data(), run.Address(slice), slice.size));
    }
    for (const BufferSlice& slice : results_) results.push_back(on_host(slice));
    HILO_RETURN_IF_ERROR(run.stream.Synchronize());
    HILO_RETURN_IF_ERROR(AddContext(function_(run.context, operands, results), context_));
    for (size_t i = 0; i < results.size(); ++i) {
      if (results[i] != nullptr)
        HILO_RETURN_IF_ERROR(run.stream.Copy(run.Address(results_[i]), results[i], results_[i].size));
    }
    return run.stream.Synchronize();
  }

  std::string ToString(const std::string& indent) const override {
    std::string text = absl::StrCat(indent, "host ", name_, " (");
    const char* separator = "";
    for (const BufferSlice& slice : results_)
      absl::StrAppend(&text, std::exchange(separator, ", "), "&", SliceToString(slice));
    for (const BufferSlice& slice : operands_)
      absl::StrAppend(&text, std::exchange(separator, ", "), SliceToString(slice));
    return absl::StrCat(text, ")\n");
  }

 private:
  std::string name_, context_;
  HostFunction function_;
  std::vector<BufferSlice> operands_, results_;
};

HostFunction MakeDeviceId(bool partition) {
  return [partition](const RunContext& run, absl::Span<const uint8_t* const>, absl::Span<uint8_t* const> results) {
    const uint32_t id = static_cast<uint32_t>(partition ? run.partition_id : run.replica_id);
    std::memcpy(results[0], &id, sizeof(id));
    return absl::OkStatus();
  };
}

HostFunction MakeRandomState(uint64_t delta) {
  return [delta](const RunContext&, absl::Span<const uint8_t* const>, absl::Span<uint8_t* const> results) {
    const std::array<uint64_t, 2> state = AdvanceRandomState(delta);
    std::memcpy(results[0], state.data(), sizeof(state));
    return absl::OkStatus();
  };
}

absl::StatusOr<HostFunction> MakeCustomCall(const ProgramEmitter& program, const HloInstruction& instruction) {
  static constexpr absl::string_view kPlatforms[] = {kHostPlatform};
  HILO_ASSIGN_OR_RETURN(std::unique_ptr<ffi::CustomCall> call,
                        ffi::CustomCall::Create(instruction, program.options().custom_calls, kPlatforms));
  return HostFunction([call = std::shared_ptr<ffi::CustomCall>(std::move(call))](
                          const RunContext& run, absl::Span<const uint8_t* const> operands,
                          absl::Span<uint8_t* const> results) { return call->Run(run, operands, results); });
}

absl::StatusOr<Literal> ReadLeaves(const Shape& shape, absl::Span<const uint8_t* const> leaves) {
  if (!shape.IsTuple()) return leaves[0] == nullptr ? Literal::Create(shape) : LiteralFromBytes(leaves[0], shape);
  std::vector<Literal> elements;
  for (int64_t i = 0; i < shape.tuple_shapes_size(); ++i) {
    HILO_ASSIGN_OR_RETURN(elements.emplace_back(), ReadLeaves(shape.tuple_shapes(i), leaves.subspan(i, 1)));
  }
  return Literal::MakeTuple(std::move(elements));
}

void WriteLeaves(const Literal& literal, const Shape& shape, absl::Span<uint8_t* const> leaves) {
  if (shape.IsTuple()) {
    for (int64_t i = 0; i < shape.tuple_shapes_size(); ++i)
      WriteLeaves(literal.element(i), shape.tuple_shapes(i), leaves.subspan(i, 1));
  } else if (leaves[0] != nullptr) {
    LiteralToBytes(literal, shape, leaves[0]);
  }
}

absl::StatusOr<HostFunction> MakeTransfer(const HloInstruction& instruction) {
  HILO_ASSIGN_OR_RETURN(TransferOp op, TransferOp::Create(instruction));
  return HostFunction([op = std::move(op)](const RunContext& run, absl::Span<const uint8_t* const> operands,
                                           absl::Span<uint8_t* const> results) -> absl::Status {
    Literal data;
    if (op.takes_data()) {
      HILO_ASSIGN_OR_RETURN(data, ReadLeaves(op.data_shape(), operands));
    }
    HILO_ASSIGN_OR_RETURN(const Literal result, op.Run(run, &data));
    // Other results, the contexts of transfers, have been zeroed.
    if (op.yields_data()) WriteLeaves(result, op.data_shape(), results);
    return absl::OkStatus();
  });
}

absl::StatusOr<HostFunction> MakeHostFunction(const ProgramEmitter& program, const HloInstruction& instruction) {
  if (HasTrait(instruction.opcode(), kTransfer)) return MakeTransfer(instruction);
  if (instruction.opcode() == HloOpcode::kCustomCall) return MakeCustomCall(program, instruction);
  if (instruction.opcode() == HloOpcode::kRngGetAndUpdateState)
    return MakeRandomState(instruction.attrs<RngGetAndUpdateStateAttrs>().delta);
  return MakeDeviceId(/*partition=*/instruction.opcode() == HloOpcode::kPartitionId);
}

}  // namespace

bool IsHostCall(const HloInstruction& instruction) {
  if (instruction.opcode() == HloOpcode::kCustomCall) return CallsFunction(instruction.attrs<CustomCallAttrs>());
  return HasHostCall(instruction.opcode());
}

absl::StatusOr<CallLeaves> LeavesOf(ProgramEmitter& program, const HloInstruction* instruction) {
  CallLeaves leaves;
  for (const HloInstruction* operand : instruction->operands()) {
    for (int64_t leaf = 0, count = LeafCount(operand->shape()); leaf < count; ++leaf) {
      if (operand->IsConstant() && program.assignment().slice(operand).kind != StorageKind::kNone) {
        HILO_ASSIGN_OR_RETURN(leaves.operands.emplace_back(), program.SliceOf(operand));
      } else {
        leaves.operands.push_back(program.assignment().slice(operand, leaf));
      }
    }
  }
  for (int64_t leaf = 0, count = LeafCount(instruction->shape()); leaf < count; ++leaf)
    leaves.results.push_back(program.assignment().slice(instruction, leaf));
  return leaves;
}

absl::Status EmitHostCall(ProgramEmitter& program, const HloInstruction* instruction) {
  HILO_ASSIGN_OR_RETURN(HostFunction function, MakeHostFunction(program, *instruction));
  HILO_ASSIGN_OR_RETURN(CallLeaves leaves, LeavesOf(program, instruction));
  program.Add(std::make_unique<HostThunk>(instruction->name(), InstructionContext(*instruction), std::move(function),
                                          std::move(leaves.operands), std::move(leaves.results)));
  return absl::OkStatus();
}

}  // namespace hilo::gpu
