#include "backends/cpu/functions/function_emitter.h"

#include <algorithm>

#include "absl/numeric/bits.h"
#include "backends/cpu/functions/program_emitter.h"
#include "backends/cpu/runtime/cpu_abi.h"
#include "base/math.h"
#include "hilo/host.h"
#include "hilo/status_macros.h"
#include "llvm/IR/MDBuilder.h"

namespace hilo::cpu {
namespace {

// Bytes of what a loop carries up to which it is a local of the function, so that LLVM keeps it in registers.
constexpr int64_t kLoopLocalBytes = 16;

// Functions that receive a pointer to a local treat it as a buffer. Arrays that fit a 16-byte register are aligned to
// 16 bytes only, so no code may assume more for arrays of that size; others are aligned as buffers are.
int64_t AlignmentOf(const BufferSlice& slice) {
  return slice.kind != StorageKind::kConstant && slice.size <= 16 ? 16 : kBufferAlignment;
}

// The bytes of a local. Those of an array have room for the idle lanes of a vector, of which there are fewer than
// elements: masks would keep the array in memory.
int64_t LocalBytes(const BufferSlice& slice) {
  constexpr int64_t kScalar = 8;
  return slice.size <= kScalar ? absl::bit_ceil(static_cast<uint64_t>(slice.size)) : 2 * slice.size;
}

// The bytes that are the slice's alone: slices of the frame begin at multiples of the alignment.
int64_t BytesOf(const BufferSlice& slice) {
  if (slice.kind == StorageKind::kStack) return LocalBytes(slice);
  return slice.kind == StorageKind::kFrame ? CeilDiv(slice.size, kBufferAlignment) * kBufferAlignment : slice.size;
}

}  // namespace

FunctionEmitter::FunctionEmitter(ProgramEmitter* program, llvm::Function* function, const KernelTable* table)
    : program_(*program), table_(table), function_(function), builder_(function->getContext()) {
  prologue_ = llvm::BasicBlock::Create(function->getContext(), "prologue", function);
  llvm::BasicBlock* code = llvm::BasicBlock::Create(function->getContext(), "code", function);
  builder_.SetInsertPoint(prologue_);
  builder_.CreateBr(code);
  builder_.SetInsertPoint(code);
  context_ = std::make_unique<codegen::EmitterContext>(&builder_, program->target(), program->numerics());
  context_->poll = [this] { PollCancellation(); };
  elements_ = std::make_unique<codegen::ElementEmitter>(context_.get(), this);
}

void FunctionEmitter::BeginInstruction(const HloInstruction* instruction) {
  current_ = instruction;
  // Values in registers are cached within one instruction only: the program's control flow is between
  // instructions.
  region_ = std::make_unique<codegen::RegionScope>(*context_);
  scopes_.clear();
  std::vector<int64_t> buffers;
  auto note = [&](const HloInstruction* owner) {
    for (int64_t leaf = 0, leaves = LeafCount(owner->shape()); leaf < leaves; ++leaf) {
      const BufferSlice& slice = program_.assignment().slice(owner, leaf);
      if (slice.kind != StorageKind::kNone && scopes_.try_emplace(slice.buffer).second) buffers.push_back(slice.buffer);
    }
  };
  note(instruction);
  for (const HloInstruction* operand : instruction->operands()) note(operand);
  if (buffers.size() < 2 || buffers.size() > 64) {
    scopes_.clear();
    return;
  }
  llvm::MDBuilder metadata(function_->getContext());
  llvm::MDNode* domain = metadata.createAnonymousAliasScopeDomain();
  std::vector<llvm::Metadata*> all;
  for (size_t i = 0; i < buffers.size(); ++i) all.push_back(metadata.createAnonymousAliasScope(domain));
  for (size_t i = 0; i < buffers.size(); ++i) {
    std::vector<llvm::Metadata*> others;
    for (size_t j = 0; j < buffers.size(); ++j) {
      if (j != i) others.push_back(all[j]);
    }
    scopes_[buffers[i]] = {llvm::MDNode::get(function_->getContext(), {all[i]}),
                           llvm::MDNode::get(function_->getContext(), others)};
  }
}

void FunctionEmitter::EndInstruction() {
  region_.reset();
  current_ = nullptr;
  scopes_.clear();
  values_.clear();
}

llvm::Value* FunctionEmitter::LoadPointer(llvm::Value* table, int64_t index, absl::string_view name,
                                          int64_t alignment) {
  llvm::IRBuilder<> b(prologue_->getTerminator());
  llvm::Value* slot = b.CreateConstInBoundsGEP1_64(b.getPtrTy(), table, index);
  llvm::LoadInst* load = b.CreateAlignedLoad(b.getPtrTy(), slot, llvm::Align(8), llvm::Twine(std::string(name)));
  load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(b.getContext(), {}));
  llvm::MDBuilder metadata(b.getContext());
  load->setMetadata(llvm::LLVMContext::MD_align,
                    llvm::MDNode::get(b.getContext(), metadata.createConstant(b.getInt64(alignment))));
  return load;
}

llvm::Value* FunctionEmitter::PointerTo(const BufferSlice& slice) {
  if (slice.kind == StorageKind::kNone) return llvm::ConstantPointerNull::get(builder_.getPtrTy());
  // Constants of the table are equal here, but need not be where other instructions share this function.
  const bool is_pooled =
      slice.kind == StorageKind::kConstant && (table_ == nullptr || !table_->positions.contains(slice.buffer));
  const std::pair<int, int64_t> key = {static_cast<int>(slice.kind), is_pooled ? ~slice.index : slice.buffer};
  if (auto it = pointers_.find(key); it != pointers_.end()) return it->second;
  llvm::Value* pointer = MakePointer(slice);
  pointers_[key] = pointer;
  return pointer;
}

llvm::Value* FunctionEmitter::MakePointer(const BufferSlice& slice) {
  if (table_ != nullptr && (slice.kind != StorageKind::kConstant || table_->positions.contains(slice.buffer))) {
    return LoadPointer(buffers(), table_->positions.at(slice.buffer), "buffer", AlignmentOf(slice));
  }
  switch (slice.kind) {
    case StorageKind::kParameter: return LoadPointer(buffers(), slice.index, "parameter", AlignmentOf(slice));
    case StorageKind::kOutput:
      return LoadPointer(buffers(), program_.parameter_leaves() + slice.index, "output", AlignmentOf(slice));
    case StorageKind::kConstant:
      return LoadPointer(ContextField(offsetof(HiloCpuContext, constants), "constants"), slice.index, "constant",
                         kBufferAlignment);
    case StorageKind::kStack: {
      llvm::IRBuilder<> b(prologue_, prologue_->begin());
      llvm::AllocaInst* local =
          b.CreateAlloca(llvm::ArrayType::get(b.getInt8Ty(), LocalBytes(slice)), nullptr, "local");
      local->setAlignment(llvm::Align(AlignmentOf(slice)));
      return local;
    }
    case StorageKind::kFrame: {
      llvm::IRBuilder<> b(prologue_->getTerminator());
      return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), frame(), slice.offset, "slice");
    }
    case StorageKind::kNone: break;
  }
  return nullptr;
}

llvm::Value* FunctionEmitter::ContextField(int64_t offset, absl::string_view name) {
  llvm::Value*& field = context_fields_[offset];
  if (field == nullptr) field = LoadPointer(run_context(), offset / 8, name, 1);
  return field;
}

llvm::Value* FunctionEmitter::PointerTable(absl::Span<llvm::Value* const> pointers) {
  llvm::Type* ptr = builder_.getPtrTy();
  llvm::Value* table = context_->EntryAlloca(ptr, std::max<int64_t>(pointers.size(), 1), 8, "pointers");
  for (size_t i = 0; i < pointers.size(); ++i)
    builder_.CreateAlignedStore(pointers[i], builder_.CreateConstInBoundsGEP1_64(ptr, table, i), llvm::Align(8));
  return table;
}

llvm::Value* FunctionEmitter::CallChunks(llvm::FunctionCallee function, llvm::Value* buffers, bool parallel,
                                         llvm::Value* begin, llvm::Value* end) {
  if (!parallel) return builder_.CreateCall(function, {run_context(), frame(), buffers, begin, end});
  llvm::Type* ptr = builder_.getPtrTy();
  auto* type = llvm::FunctionType::get(builder_.getInt32Ty(), {ptr, ptr, ptr, ptr, builder_.getInt64Ty()}, false);
  llvm::Value* parallel_for = ContextField(offsetof(HiloCpuContext, parallel_for), "parallel_for");
  return builder_.CreateCall(type, parallel_for, {run_context(), function.getCallee(), frame(), buffers, end});
}

absl::StatusOr<std::vector<FunctionEmitter::LoopLocal>> FunctionEmitter::BeginLoop(const HloInstruction* loop) {
  const HloInstruction* start = loop->operand(0);
  std::vector<LoopLocal> locals;
  for (int64_t leaf = 0, leaves = LeafCount(loop->shape()); leaf < leaves; ++leaf) {
    const BufferSlice& slice = program_.assignment().slice(loop, leaf);
    if ((slice.kind != StorageKind::kFrame && slice.kind != StorageKind::kOutput) || slice.size > kLoopLocalBytes ||
        slice.size == 0)
      continue;
    llvm::Value* memory = PointerTo(slice);
    if (llvm::isa<llvm::AllocaInst>(memory)) continue;  // that of a loop around this one
    const int64_t alignment = AlignmentOf(slice), bytes = BytesOf(slice);
    llvm::Type* type = llvm::ArrayType::get(builder_.getInt8Ty(), static_cast<uint64_t>(bytes));
    llvm::Value* local = context_->EntryAlloca(type, 1, alignment, "carried");
    pointers_[{static_cast<int>(slice.kind), slice.buffer}] = local;
    locals.push_back({slice, memory});
    // Where a counter starts says how far it goes.
    const HloInstruction* first =
        start->opcode() == HloOpcode::kTuple && leaves == start->operand_count() ? start->operand(leaf) : nullptr;
    while (first != nullptr && first->opcode() == HloOpcode::kCopy) first = first->operand(0);
    if (first != nullptr && first->IsConstant() && first->shape().IsScalar() &&
        program_.assignment().slice(start->operand(leaf), 0).SameMemory(slice)) {
      HILO_ASSIGN_OR_RETURN(const codegen::ElementValue value, LoadScalar(first));
      ArrayOf(start->operand(leaf)).Store(*context_, codegen::Index(), value);
      continue;
    }
    builder_.CreateMemCpy(local, llvm::Align(alignment), memory, llvm::Align(alignment),
                          static_cast<uint64_t>(slice.size));
  }
  return locals;
}

void FunctionEmitter::EndLoop(absl::Span<const LoopLocal> locals) {
  for (const LoopLocal& local : locals) {
    llvm::Value*& pointer = pointers_.at({static_cast<int>(local.slice.kind), local.slice.buffer});
    const llvm::Align alignment(AlignmentOf(local.slice));
    builder_.CreateMemCpy(local.memory, alignment, pointer, alignment, static_cast<uint64_t>(local.slice.size));
    pointer = local.memory;
  }
}

llvm::Value* FunctionEmitter::PointerTo(const HloInstruction* instruction, int64_t leaf) {
  return PointerTo(program_.assignment().slice(instruction, leaf));
}

codegen::IrArray FunctionEmitter::ArrayOf(const HloInstruction* instruction, int64_t leaf) {
  const BufferSlice& slice = program_.assignment().slice(instruction, leaf);
  codegen::IrArray array;
  array.pointer = PointerTo(slice);
  array.shape =
      instruction->shape().IsTuple() ? *ShapeUtil::Leaves(instruction->shape())[leaf].shape : instruction->shape();
  array.alignment = AlignmentOf(slice);
  array.invariant = slice.kind == StorageKind::kConstant || slice.kind == StorageKind::kParameter;
  // Kernels that are functions of their own may be shared by other buffers.
  if (table_ == nullptr) array.padding = BytesOf(slice) - ShapeUtil::ByteSizeOf(array.shape);
  if (auto it = scopes_.find(slice.buffer); it != scopes_.end()) {
    array.alias_scope = it->second.alias_scope;
    array.noalias = it->second.noalias;
  }
  return array;
}

bool FunctionEmitter::IsLocal(const HloInstruction* instruction) const {
  return !instruction->IsConstant() && program_.assignment().slice(instruction, 0).kind == StorageKind::kStack;
}

bool FunctionEmitter::HoldsVectors(const HloInstruction* instruction) const {
  const auto it = holds_vectors_.find(program_.assignment().slice(instruction, 0).buffer);
  return it != holds_vectors_.end() && it->second;
}

bool FunctionEmitter::HoldsElements(const HloInstruction* instruction) const {
  if (instruction->IsConstant()) return false;
  const auto it = holds_vectors_.find(program_.assignment().slice(instruction, 0).buffer);
  return it != holds_vectors_.end() && !it->second;
}

void FunctionEmitter::SetHoldsVectors(const HloInstruction* instruction, bool holds_vectors) {
  for (int64_t leaf = 0, leaves = LeafCount(instruction->shape()); leaf < leaves; ++leaf)
    holds_vectors_[program_.assignment().slice(instruction, leaf).buffer] = holds_vectors;
}

absl::StatusOr<std::optional<codegen::Materialized>> FunctionEmitter::Find(const HloInstruction* instruction,
                                                                           int64_t leaf) {
  if (const auto value = values_.find(instruction); value != values_.end()) return value->second;
  if (instruction == current_) return std::nullopt;
  if (instruction->IsConstant()) {
    if (table_ != nullptr && current_ != nullptr && IsScalarOperand(*current_, *instruction) &&
        program_.IsSequential(instruction->parent())) {
      return codegen::Materialized{.array = ArrayOf(instruction)};
    }
    if (ShapeUtil::ElementsIn(instruction->shape()) == 1) return std::nullopt;  // an immediate
    BufferSlice slice{.kind = StorageKind::kConstant, .index = program_.ConstantIndex(instruction->shared_literal())};
    codegen::IrArray array;
    array.pointer = PointerTo(slice);
    array.shape = instruction->shape();
    array.alignment = kBufferAlignment;
    array.invariant = true;
    return codegen::Materialized{.array = array};
  }
  if (!program_.IsSequential(instruction->parent())) return std::nullopt;
  return codegen::Materialized{.array = ArrayOf(instruction, leaf)};
}

absl::StatusOr<codegen::ElementValue> FunctionEmitter::LoadScalar(const HloInstruction* instruction, int64_t leaf) {
  if (instruction->IsConstant()) return elements_->Generate(instruction, codegen::Index());
  return ArrayOf(instruction, leaf).Load(*context_, codegen::Index());
}

absl::Status FunctionEmitter::LoadScalarOperands(const HloInstruction* instruction) {
  for (const HloInstruction* operand : instruction->operands()) {
    if (!operand->shape().IsScalar()) continue;
    auto value = elements_->Generate(operand, codegen::Index());
    if (!value.ok()) return value.status();
  }
  return absl::OkStatus();
}

void FunctionEmitter::ReturnIfStopped(llvm::Value* status) {
  llvm::BasicBlock* stop = llvm::BasicBlock::Create(builder_.getContext(), "stopped", function_);
  llvm::BasicBlock* go = llvm::BasicBlock::Create(builder_.getContext(), "go_on", function_);
  llvm::MDBuilder metadata(builder_.getContext());
  builder_.CreateCondBr(builder_.CreateICmpNE(status, builder_.getInt32(0)), stop, go,
                        metadata.createBranchWeights(1, 1 << 20));
  builder_.SetInsertPoint(stop);
  builder_.CreateRet(status);
  builder_.SetInsertPoint(go);
}

void FunctionEmitter::PollCancellation() {
  llvm::Value* flag = ContextField(offsetof(HiloCpuContext, cancelled), "cancelled");
  llvm::LoadInst* value = builder_.CreateAlignedLoad(builder_.getInt32Ty(), flag, llvm::Align(4), "cancelled_now");
  value->setVolatile(true);
  // The flag also states the reason; the status does not.
  llvm::Value* stopped = builder_.CreateICmpNE(value, builder_.getInt32(0));
  ReturnIfStopped(builder_.CreateSelect(stopped, builder_.getInt32(HILO_STOPPED), builder_.getInt32(HILO_OK)));
}

void FunctionEmitter::Return(int32_t status) { builder_.CreateRet(builder_.getInt32(status)); }

void FunctionEmitter::MarkProfile(int64_t mark) {
  llvm::Value* profile = ContextField(offsetof(HiloCpuContext, profile), "profile");
  llvm::BasicBlock* record = llvm::BasicBlock::Create(builder_.getContext(), "mark", function_);
  llvm::BasicBlock* go = llvm::BasicBlock::Create(builder_.getContext(), "go_on", function_);
  llvm::MDBuilder metadata(builder_.getContext());
  builder_.CreateCondBr(builder_.CreateIsNotNull(profile), record, go, metadata.createBranchWeights(1, 1 << 20));
  builder_.SetInsertPoint(record);
  llvm::Type* ptr = builder_.getPtrTy();
  auto* type = llvm::FunctionType::get(builder_.getVoidTy(), {ptr, builder_.getInt64Ty()}, false);
  llvm::CallInst* call = builder_.CreateCall(type, builder_.CreateAlignedLoad(ptr, profile, llvm::Align(8), "mark"),
                                             {profile, builder_.getInt64(mark)});
  // The program has no access to the recorder's memory: values stay in registers, and stores may move across the call.
  call->setMemoryEffects(llvm::MemoryEffects::inaccessibleMemOnly());
  call->addFnAttr(llvm::Attribute::NoUnwind);
  call->addFnAttr(llvm::Attribute::WillReturn);
  builder_.CreateBr(go);
  builder_.SetInsertPoint(go);
}

}  // namespace hilo::cpu
