#include "backends/gpu/thunks/host_call.h"

#include <array>
#include <cstring>
#include <optional>

#include "absl/strings/str_cat.h"
#include "backends/gpu/thunks/program_image.h"
#include "backends/gpu/thunks/thunk_stream.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/ops/random/random_attributes.h"
#include "hlo/ops/random/random_bits.h"
#include "hlo/ops/structure/custom_call.h"
#include "runtime/custom_call/custom_call.h"
#include "runtime/instruction_text.h"
#include "runtime/transfer_ops.h"

namespace hilo::gpu {
namespace {

HostThunk::Function MakeDeviceId(bool partition) {
  return [partition](const RunContext& run, absl::Span<const uint8_t* const>, absl::Span<uint8_t* const> results) {
    const uint32_t id = static_cast<uint32_t>(partition ? run.partition_id : run.replica_id);
    std::memcpy(results[0], &id, sizeof(id));
    return absl::OkStatus();
  };
}

HostThunk::Function MakeRandomState(uint64_t delta) {
  return [delta](const RunContext&, absl::Span<const uint8_t* const>, absl::Span<uint8_t* const> results) {
    const std::array<uint64_t, 2> state = AdvanceRandomState(delta);
    std::memcpy(results[0], state.data(), sizeof(state));
    return absl::OkStatus();
  };
}

absl::StatusOr<HostThunk::Function> MakeCustomCall(const HloInstruction& instruction,
                                                   const CustomCallRegistry* custom_calls) {
  static constexpr absl::string_view kPlatforms[] = {kHostPlatform};
  HILO_ASSIGN_OR_RETURN(std::unique_ptr<ffi::CustomCall> call,
                        ffi::CustomCall::Create(instruction, custom_calls, kPlatforms));
  return HostThunk::Function([call = std::shared_ptr<ffi::CustomCall>(std::move(call))](
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

absl::StatusOr<HostThunk::Function> MakeTransfer(const HloInstruction& instruction) {
  HILO_ASSIGN_OR_RETURN(TransferOp op, TransferOp::Create(instruction));
  return HostThunk::Function([op = std::move(op)](const RunContext& run, absl::Span<const uint8_t* const> operands,
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

absl::StatusOr<HostThunk::Function> MakeFunction(const HloInstruction& instruction,
                                                 const CustomCallRegistry* custom_calls) {
  if (HasTrait(instruction.opcode(), kTransfer)) return MakeTransfer(instruction);
  if (instruction.opcode() == HloOpcode::kCustomCall) return MakeCustomCall(instruction, custom_calls);
  if (instruction.opcode() == HloOpcode::kRngGetAndUpdateState)
    return MakeRandomState(instruction.attrs<RngGetAndUpdateStateAttrs>().delta);
  return MakeDeviceId(/*partition=*/instruction.opcode() == HloOpcode::kPartitionId);
}

}  // namespace

bool IsHostCall(const HloInstruction& instruction) {
  if (instruction.opcode() == HloOpcode::kCustomCall) return CallsFunction(instruction.attrs<CustomCallAttrs>());
  return HasHostCall(instruction.opcode());
}

std::string CallInstruction::SlicesToString() const {
  std::string text = "(";
  const char* separator = "";
  for (const BufferSlice& slice : results)
    absl::StrAppend(&text, std::exchange(separator, ", "), "&", SliceToString(slice));
  for (const BufferSlice& slice : operands)
    absl::StrAppend(&text, std::exchange(separator, ", "), SliceToString(slice));
  return absl::StrCat(text, ")");
}

template <typename Stream, typename Call>
static void Fields(Stream& stream, Call& call) {
  stream.Text(call.name);
  stream.Text(call.context);
  stream.Text(call.text);
  stream.Slices(call.operands);
  stream.Slices(call.results);
}

void WriteCall(const CallInstruction& call, ThunkWriter& out) { Fields(out, call); }

std::unique_ptr<HloModule> ReadCall(ThunkReader& in, CallInstruction* call) {
  Fields(in, *call);
  if (!in.ok()) return nullptr;
  absl::StatusOr<std::unique_ptr<HloModule>> module = InstructionsFromText(call->text);
  if (!module.ok()) {
    in.Fail(module.status(), "; in the serialized executable");
    return nullptr;
  }
  const HloInstruction& root = *(*module)->entry_computation()->root_instruction();
  const auto check = [&](const std::vector<BufferSlice>& slices, const std::vector<int64_t>& bytes, bool written) {
    if (!in.Require(slices.size() == bytes.size(), "memory for each array of the call")) return;
    for (size_t i = 0; i < bytes.size(); ++i) {
      in.Require(slices[i].size == bytes[i], absl::StrCat("the ", bytes[i], " bytes of an array of the call"));
      in.RequireBytes(slices[i], bytes[i], written);
    }
  };
  std::vector<int64_t> operands;
  for (const HloInstruction* operand : root.operands()) {
    for (const int64_t bytes : LeafBytes(operand->shape())) operands.push_back(bytes);
  }
  check(call->operands, operands, /*written=*/false);
  check(call->results, LeafBytes(root.shape()), /*written=*/true);
  return in.ok() ? *std::move(module) : nullptr;
}

absl::StatusOr<std::unique_ptr<HostThunk>> HostThunk::Create(const HloInstruction& instruction, CallInstruction call,
                                                             const CustomCallRegistry* custom_calls) {
  HILO_ASSIGN_OR_RETURN(Function function, MakeFunction(instruction, custom_calls));
  return std::unique_ptr<HostThunk>(new HostThunk(std::move(call), std::move(function)));
}

std::unique_ptr<Thunk> HostThunk::Read(ThunkReader& in) {
  CallInstruction call;
  const std::unique_ptr<HloModule> module = ReadCall(in, &call);
  if (module == nullptr) return nullptr;
  const HloInstruction& instruction = *module->entry_computation()->root_instruction();
  if (!in.Require(IsHostCall(instruction), "an instruction that the host executes")) return nullptr;
  const std::string context = call.context;
  absl::StatusOr<std::unique_ptr<HostThunk>> thunk =
      Create(instruction, std::move(call), in.environment().custom_calls);
  if (thunk.ok()) return *std::move(thunk);
  in.Fail(thunk.status(), context);
  return nullptr;
}

absl::Status HostThunk::Run(GpuRun& run) const {
  std::vector<std::vector<uint8_t>> memory;
  std::vector<const uint8_t*> operands;
  std::vector<uint8_t*> results;
  auto on_host = [&](const BufferSlice& slice) -> uint8_t* {
    if (slice.kind == StorageKind::kNone) return nullptr;
    return memory.emplace_back(static_cast<size_t>(slice.size)).data();
  };
  for (const BufferSlice& slice : call_.operands) {
    operands.push_back(on_host(slice));
    if (operands.back() != nullptr)
      HILO_RETURN_IF_ERROR(run.stream.Copy(memory.back().data(), run.Address(slice), slice.size));
  }
  for (const BufferSlice& slice : call_.results) results.push_back(on_host(slice));
  HILO_RETURN_IF_ERROR(run.stream.Synchronize());
  HILO_RETURN_IF_ERROR(AddContext(function_(run.context, operands, results), call_.context));
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i] != nullptr)
      HILO_RETURN_IF_ERROR(run.stream.Copy(run.Address(call_.results[i]), results[i], call_.results[i].size));
  }
  return run.stream.Synchronize();
}

std::string HostThunk::ToString(const std::string& indent) const {
  return absl::StrCat(indent, "host ", call_.name, " ", call_.SlicesToString(), "\n");
}

}  // namespace hilo::gpu
