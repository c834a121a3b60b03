// Calls of functions on the host, and of functions that queue on the stream.
#include "backends/gpu/emitters/emitters.h"
#include "backends/gpu/emitters/nest_emitter.h"
#include "backends/gpu/match/launch_sizes.h"
#include "backends/gpu/thunks/host_call.h"
#include "backends/gpu/thunks/stream_call.h"
#include "hilo/shape.h"
#include "hilo/status_macros.h"
#include "hlo/ir/hlo_verifier.h"
#include "hlo/memory/buffer_assignment.h"
#include "runtime/instruction_text.h"

namespace hilo::gpu {
namespace {

absl::StatusOr<CallInstruction> CallOf(ProgramEmitter& program, const HloInstruction* instruction) {
  CallInstruction call{.name = instruction->name(),
                       .context = InstructionContext(*instruction),
                       .text = InstructionsToText(*instruction->module(), {&instruction, 1})};
  for (const HloInstruction* operand : instruction->operands()) {
    for (int64_t leaf = 0, count = LeafCount(operand->shape()); leaf < count; ++leaf) {
      if (operand->IsConstant() && program.assignment().slice(operand).kind != StorageKind::kNone) {
        HILO_ASSIGN_OR_RETURN(call.operands.emplace_back(), program.SliceOf(operand));
      } else {
        call.operands.push_back(program.assignment().slice(operand, leaf));
      }
    }
  }
  for (int64_t leaf = 0, count = LeafCount(instruction->shape()); leaf < count; ++leaf)
    call.results.push_back(program.assignment().slice(instruction, leaf));
  return call;
}

// Functions may leave any bits above those of values of fewer than 8: a kernel makes them what Canonicalize does.
absl::Status EmitCanonicalBytes(ProgramEmitter& program, const HloInstruction* instruction, const Shape& shape,
                                const BufferSlice& slice) {
  const PrimitiveType type = shape.element_type();
  const int64_t bytes = ShapeUtil::ElementBytesOf(shape), group = bytes % 16 == 0 ? 16 : 1, threads = bytes / group;
  const auto bits = static_cast<uint64_t>(PrimitiveTypeBitWidth(type));
  KernelEmitter k(&program, nullptr, {KernelArgument::Slice(slice, /*written=*/true)});
  return EmitThreads(k, instruction, threads, BlockFor(threads), [&](llvm::Value* thread) {
    llvm::IRBuilder<>& b = k.b();
    llvm::Type* const bytes_type = llvm::FixedVectorType::get(b.getInt8Ty(), static_cast<unsigned>(group));
    llvm::Value* address = b.CreateInBoundsGEP(bytes_type, k.extra(0), thread);
    const llvm::Align align(static_cast<uint64_t>(group));
    llvm::Value* value = b.CreateAlignedLoad(bytes_type, address, align);
    if (type == PRED) {
      value = b.CreateZExt(b.CreateIsNotNull(value), bytes_type);
    } else if (IsSignedIntegralType(type)) {
      value = b.CreateAShr(b.CreateShl(value, 8 - bits), 8 - bits);
    } else {
      value = b.CreateAnd(value, llvm::ConstantInt::get(bytes_type, (uint64_t{1} << bits) - 1));
    }
    b.CreateAlignedStore(value, address, align);
    return absl::OkStatus();
  });
}

}  // namespace

absl::Status EmitHostCall(ProgramEmitter& program, const HloInstruction* instruction) {
  HILO_ASSIGN_OR_RETURN(CallInstruction call, CallOf(program, instruction));
  HILO_ASSIGN_OR_RETURN(std::unique_ptr<Thunk> thunk,
                        HostThunk::Create(*instruction, std::move(call), program.options().custom_calls));
  program.Add(std::move(thunk));
  return absl::OkStatus();
}

absl::Status EmitStreamCall(ProgramEmitter& program, const HloInstruction* instruction) {
  HILO_ASSIGN_OR_RETURN(CallInstruction call, CallOf(program, instruction));
  const std::vector<BufferSlice> results = call.results;
  HILO_ASSIGN_OR_RETURN(std::unique_ptr<Thunk> thunk,
                        StreamCallThunk::Create(*instruction, std::move(call), program.options().custom_calls));
  program.Add(std::move(thunk));
  const std::vector<ShapeUtil::Leaf> leaves = ShapeUtil::Leaves(instruction->shape());
  HILO_RET_CHECK(leaves.size() == results.size());
  for (size_t i = 0; i < results.size(); ++i) {
    const Shape& shape = *leaves[i].shape;
    if (!shape.IsArray() || (shape.element_type() != PRED && !IsSubByteType(shape.element_type()))) continue;
    if (results[i].kind == StorageKind::kNone || ShapeUtil::ElementBytesOf(shape) == 0) continue;
    HILO_RETURN_IF_ERROR(EmitCanonicalBytes(program, instruction, shape, results[i]));
  }
  return absl::OkStatus();
}

}  // namespace hilo::gpu
