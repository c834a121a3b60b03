#include "backends/gpu/emitters/kernel_emitter.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "backends/gpu/emitters/line_info.h"
#include "backends/gpu/emitters/program_emitter.h"
#include "backends/gpu/ptx/ptx.h"
#include "backends/llvm/llvm_compat.h"
#include "base/errors.h"
#include "base/math.h"
#include "hilo/status_macros.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace hilo::gpu {
namespace {

constexpr uint32_t kAllLanes = ~0U;
constexpr int64_t kLargeAlignment = 1024;

using codegen::Carried;

// All elements have the same bytes: such a constant needs no memory.
bool IsSplat(const Literal& literal) {
  const absl::Span<const uint8_t> bytes = literal.untyped_data();
  const size_t size = PrimitiveTypeByteSize(literal.shape().element_type());
  return bytes.size() >= size && std::equal(bytes.begin() + size, bytes.end(), bytes.begin());
}

std::pair<int, int64_t> KeyOf(const BufferSlice& slice) {
  return slice.kind == StorageKind::kConstant ? std::make_pair(1, slice.index) : std::make_pair(0, slice.buffer);
}

llvm::Type* CellType(llvm::Type* type) {
  return type->isIntegerTy(1) ? llvm::Type::getInt8Ty(type->getContext()) : type;
}

// The sizes of dynamic dimensions are stored after their array (ShapeUtil::DynamicSizesOffset); in a program they are
// parameters and results of 4 bytes.
int64_t AlignmentOf(const BufferSlice& slice) {
  const bool outside = slice.kind == StorageKind::kParameter || slice.kind == StorageKind::kOutput;
  return outside && slice.size == 4 ? 4 : kDeviceAlignment;
}

// Names of a launch's instructions that are a part of its own.
constexpr size_t kMaxNames = 4;

std::string NameOf(absl::Span<const HloInstruction* const> instructions) {
  std::string name;
  for (const HloInstruction* instruction : instructions.first(std::min(instructions.size(), kMaxNames)))
    absl::StrAppend(&name, name.empty() ? "" : "_and_", instruction->name());
  if (instructions.size() > kMaxNames) absl::StrAppend(&name, "_and_", instructions.size() - kMaxNames, "_more");
  return name;
}

}  // namespace

KernelEmitter::KernelEmitter(ProgramEmitter* program, absl::string_view name) : program_(*program), name_(name) {}

KernelEmitter::KernelEmitter(ProgramEmitter* program, const HloInstruction* instruction,
                             std::vector<KernelArgument> more)
    : program_(*program), name_(instruction == nullptr ? "kernel" : instruction->name()), current_(instruction) {
  if (instruction != nullptr) {
    // These read their operands as memory, never through element generators.
    needs_memory_ =
        instruction->opcode() == HloOpcode::kCholesky || instruction->opcode() == HloOpcode::kTriangularSolve;
    NoteKernel(instruction);
  }
  first_extra_ = arguments_.size();
  arguments_.insert(arguments_.end(), more.begin(), more.end());
  CreateFunction();
}

std::unique_ptr<KernelEmitter> KernelEmitter::ForSequence(ProgramEmitter* program,
                                                          absl::Span<const HloInstruction* const> instructions,
                                                          std::vector<KernelArgument> more) {
  auto kernel = std::unique_ptr<KernelEmitter>(new KernelEmitter(program, NameOf(instructions)));
  kernel->overlaps_ = true;
  for (const HloInstruction* instruction : instructions) kernel->NoteSequence(instruction);
  kernel->first_extra_ = kernel->arguments_.size();
  kernel->arguments_.insert(kernel->arguments_.end(), more.begin(), more.end());
  kernel->CreateFunction();
  return kernel;
}

std::unique_ptr<KernelEmitter> KernelEmitter::ForGroup(ProgramEmitter* program,
                                                       absl::Span<const HloInstruction* const> instructions) {
  auto kernel = std::unique_ptr<KernelEmitter>(new KernelEmitter(program, NameOf(instructions)));
  for (const HloInstruction* instruction : instructions) kernel->NoteKernel(instruction);
  kernel->first_extra_ = kernel->arguments_.size();
  kernel->CreateFunction();
  return kernel;
}

// Results first, so that memory used as both is marked as written.
void KernelEmitter::NoteKernel(const HloInstruction* instruction) {
  Note(instruction, true);
  for (const HloInstruction* operand : instruction->operands()) Note(operand, false);
  for (const HloComputation* called : instruction->called_computations()) NoteConstantsIn(called);
}

void KernelEmitter::NoteSequence(const HloInstruction* instruction) {
  Note(instruction, !instruction->IsParameter());
  for (const HloInstruction* operand : instruction->operands()) Note(operand, false);
  for (const HloComputation* called : instruction->called_computations()) {
    if (program_.IsSequential(called)) {
      for (const HloInstruction* inner : called->instructions()) NoteSequence(inner);
    } else {
      NoteConstantsIn(called);
    }
  }
}

void KernelEmitter::Note(const HloInstruction* instruction, bool written) {
  if (instruction->IsConstant()) {
    if (auto slice = ConstantSlice(instruction)) NoteSlice(*slice, false);
    return;
  }
  for (int64_t leaf = 0, leaves = LeafCount(instruction->shape()); leaf < leaves; ++leaf)
    NoteSlice(program_.assignment().slice(instruction, leaf), written);
}

void KernelEmitter::NoteConstantsIn(const HloComputation* computation) {
  for (const HloInstruction* instruction : computation->instructions()) {
    if (instruction->IsConstant()) Note(instruction, false);
    for (const HloComputation* called : instruction->called_computations()) NoteConstantsIn(called);
  }
}

void KernelEmitter::NoteSlice(const BufferSlice& slice, bool written) {
  if (slice.kind == StorageKind::kNone) return;
  BufferSlice whole = slice;
  if (slice.kind == StorageKind::kConstant) written = false;
  if (overlaps_ && slice.kind == StorageKind::kFrame)
    whole = {.kind = StorageKind::kFrame, .offset = 0, .size = program_.frame_bytes(), .buffer = -1};
  const auto [it, fresh] = positions_.try_emplace(KeyOf(whole), arguments_.size());
  if (fresh) arguments_.push_back(KernelArgument::Slice(whole, written));
  arguments_[it->second].written |= written;
}

std::optional<BufferSlice> KernelEmitter::ConstantSlice(const HloInstruction* constant) {
  if (!constant->shape().IsArray() || ShapeUtil::IsZeroElementArray(constant->shape())) return std::nullopt;
  if (!needs_memory_ && (ShapeUtil::ElementsIn(constant->shape()) == 1 || IsSplat(constant->literal())))
    return std::nullopt;
  return BufferSlice{.kind = StorageKind::kConstant,
                     .index = program_.ConstantIndex(constant->shared_literal()),
                     .size = static_cast<int64_t>(constant->literal().untyped_data().size())};
}

void KernelEmitter::CreateFunction() {
  llvm::LLVMContext& context = program_.llvm_context();
  module_ = program_.NewModule("kernel", context);
  builder_ = std::make_unique<llvm::IRBuilder<>>(context);
  llvm::IRBuilder<>& b = *builder_;
  std::vector<llvm::Type*> types;
  for (const KernelArgument& argument : arguments_) {
    types.push_back(argument.kind == KernelArgument::Kind::kInteger ? static_cast<llvm::Type*>(b.getInt64Ty())
                                                                    : b.getPtrTy());
  }
  function_ = llvm::Function::Create(llvm::FunctionType::get(b.getVoidTy(), types, false),
                                     llvm::GlobalValue::ExternalLinkage, "kernel", *module_);
  function_->addFnAttr(llvm::Attribute::NoUnwind);
  if (program_.emission().line_info) {
    lines_ = DescribeKernel(function_);
    SetLocation(b, lines_, name_);
  }
  for (size_t i = 0; i < arguments_.size(); ++i) {
    if (arguments_[i].kind == KernelArgument::Kind::kInteger) continue;
    const unsigned number = static_cast<unsigned>(i);
    if (!overlaps_) function_->addParamAttr(number, llvm::Attribute::NoAlias);
    if (!arguments_[i].written) function_->addParamAttr(number, llvm::Attribute::ReadOnly);
    function_->addParamAttr(number,
                            llvm::Attribute::getWithAlignment(context, llvm::Align(AlignmentOf(arguments_[i].slice))));
  }
  b.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", function_));
  llvm::BasicBlock* code = llvm::BasicBlock::Create(context, "code", function_);
  b.CreateBr(code);
  b.SetInsertPoint(code);
  // No vectors: a thread is a lane. LLVM expands the truncation to bf16 for GPUs before Ampere.
  constexpr codegen::TargetTraits kThread{.vector_bits = 0,
                                          .has_fma = true,
                                          .has_f16c = true,
                                          .has_bf16_rounding = true,
                                          .has_ieee_extremes = true,
                                          .has_exp2_f32 = true};
  context_ = std::make_unique<codegen::EmitterContext>(&b, kThread, program_.numerics());
  elements_ = std::make_unique<codegen::ElementEmitter>(context_.get(), this);
}

void KernelEmitter::BeginInstruction(const HloInstruction* instruction) {
  current_ = instruction;
  region_.reset();
  if (instruction != nullptr) region_ = std::make_unique<codegen::RegionScope>(*context_);
}

llvm::Value* KernelEmitter::extra(int64_t i) { return function_->getArg(static_cast<unsigned>(first_extra_ + i)); }

llvm::Value* KernelEmitter::PointerTo(const BufferSlice& slice) {
  const bool in_frame = overlaps_ && slice.kind == StorageKind::kFrame;
  const auto it = positions_.find(in_frame ? std::make_pair(0, int64_t{-1}) : KeyOf(slice));
  if (it == positions_.end()) return llvm::ConstantPointerNull::get(b().getPtrTy());
  llvm::Value* pointer = function_->getArg(static_cast<unsigned>(it->second));
  return in_frame ? b().CreateConstInBoundsGEP1_64(b().getInt8Ty(), pointer, slice.offset) : pointer;
}

codegen::IrArray KernelEmitter::ArrayOf(const HloInstruction* instruction, int64_t leaf) {
  if (lines_ != nullptr) SetLocation(b(), lines_, instruction->name());
  const BufferSlice slice =
      instruction->IsConstant() ? *ConstantSlice(instruction) : program_.assignment().slice(instruction, leaf);
  codegen::IrArray array;
  array.pointer = PointerTo(slice);
  array.shape =
      instruction->shape().IsTuple() ? *ShapeUtil::Leaves(instruction->shape())[leaf].shape : instruction->shape();
  array.alignment = AlignmentOf(slice);
  if (const auto it = positions_.find(KeyOf(slice)); it != positions_.end())
    array.invariant = !arguments_[it->second].written && !overlaps_;
  return array;
}

bool KernelEmitter::SameMemory(const HloInstruction* a, int64_t a_leaf, const HloInstruction* b, int64_t b_leaf) {
  if (a->IsConstant() || b->IsConstant()) return false;
  const BufferSlice &x = program_.assignment().slice(a, a_leaf), &y = program_.assignment().slice(b, b_leaf);
  return x.kind != StorageKind::kNone && x.kind == y.kind && x.buffer == y.buffer;
}

absl::StatusOr<std::optional<codegen::Materialized>> KernelEmitter::Find(const HloInstruction* instruction,
                                                                         int64_t leaf) {
  if (const auto known = values_.find(instruction); known != values_.end())
    return codegen::Materialized{.array = std::nullopt, .value = known->second};
  if (instruction == current_) return std::nullopt;
  if (instruction->IsConstant()) {
    if (!ConstantSlice(instruction)) return std::nullopt;  // an immediate
  } else if (!program_.IsSequential(instruction->parent())) {
    return std::nullopt;
  }
  return codegen::Materialized{.array = ArrayOf(instruction, leaf)};
}

llvm::Value* KernelEmitter::Thread() {
  return b().CreateZExt(b().CreateIntrinsic(b().getInt32Ty(), llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x, {}),
                        b().getInt64Ty(), "thread");
}

llvm::Value* KernelEmitter::Block() {
  llvm::Value* block =
      b().CreateZExt(b().CreateIntrinsic(b().getInt32Ty(), llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x, {}),
                     b().getInt64Ty(), "block");
  return first_block_ == 0 ? block : b().CreateSub(block, b().getInt64(static_cast<uint64_t>(first_block_)));
}

llvm::Value* KernelEmitter::GlobalThread(int64_t block_size) {
  llvm::Value* first = b().CreateMul(Block(), b().getInt64(block_size), "", true, true);
  return b().CreateAdd(first, Thread(), "i", true, true);
}

std::vector<std::vector<codegen::LaneIndex>> KernelEmitter::Adjacent(llvm::Value* linear,
                                                                     absl::Span<const int64_t> dimensions,
                                                                     int64_t count) {
  using codegen::LaneIndex;
  std::vector<LaneIndex> first;
  if (!dimensions.empty()) {
    first =
        codegen::Index::FromLinear(LaneIndex::Uniform(linear, count, Product(dimensions)), dimensions).Dims(context());
  }
  std::vector<std::vector<LaneIndex>> all(count, first);
  for (int64_t i = 1; i < count; ++i) all[i].back() = first.back().AddConstant(i).WithRange({0, dimensions.back() - 1});
  return all;
}

void KernelEmitter::Barrier() { b().CreateIntrinsic(b().getVoidTy(), llvm::Intrinsic::nvvm_barrier0, {}); }

llvm::Value* KernelEmitter::Shared(llvm::Type* type, int64_t count, absl::string_view name) {
  llvm::ArrayType* cells = llvm::ArrayType::get(CellType(type), static_cast<uint64_t>(count));
  auto* shared = new llvm::GlobalVariable(*module_, cells, false, llvm::GlobalValue::InternalLinkage,
                                          llvm::PoisonValue::get(cells), codegen::ToStringRef(name), nullptr,
                                          llvm::GlobalValue::NotThreadLocal, 3);
  shared->setAlignment(llvm::Align(16));
  return shared;
}

llvm::Value* KernelEmitter::LargeShared(llvm::Type* type, int64_t count) {
  constexpr char kName[] = "large";
  llvm::GlobalVariable* all = module_->getNamedGlobal(kName);
  if (all == nullptr) {
    all = new llvm::GlobalVariable(*module_, llvm::ArrayType::get(b().getInt8Ty(), 0), false,
                                   llvm::GlobalValue::ExternalLinkage, nullptr, kName, nullptr,
                                   llvm::GlobalValue::NotThreadLocal, 3);
    all->setAlignment(llvm::Align(kLargeAlignment));
  }
  llvm::Value* cells = b().CreateConstInBoundsGEP1_64(b().getInt8Ty(), all, static_cast<uint64_t>(large_shared_bytes_));
  large_shared_bytes_ += CeilDiv(count * CellBytes(type), kLargeAlignment) * kLargeAlignment;
  return cells;
}

int64_t KernelEmitter::CellBytes(llvm::Type* type) { return std::max<int64_t>(1, type->getScalarSizeInBits() / 8); }

void KernelEmitter::StoreCell(llvm::Value* cells, llvm::Value* index, llvm::Value* value) {
  llvm::Type* type = CellType(value->getType());
  if (type != value->getType()) value = b().CreateZExt(value, type);
  b().CreateAlignedStore(value, b().CreateInBoundsGEP(type, cells, index), llvm::Align(CellBytes(type)));
}

llvm::Value* KernelEmitter::LoadCell(llvm::Value* cells, llvm::Value* index, llvm::Type* type) {
  llvm::Type* cell = CellType(type);
  llvm::Value* value =
      b().CreateAlignedLoad(cell, b().CreateInBoundsGEP(cell, cells, index), llvm::Align(CellBytes(cell)));
  return cell == type ? value : b().CreateICmpNE(value, llvm::ConstantInt::get(cell, 0));
}

absl::Status KernelEmitter::StartCopy(llvm::Value* shared, llvm::Value* global, int64_t bytes, llvm::Value* inside) {
  // Those of 16 bytes leave the first level of the cache alone.
  const auto intrinsic = [&](llvm::Intrinsic::ID whole, llvm::Intrinsic::ID part) {
    global = b().CreateAddrSpaceCast(global, llvm::PointerType::get(b().getContext(), 1));
    llvm::Value* arguments[] = {shared, global, nullptr};
    if (inside != nullptr) arguments[2] = b().CreateSelect(inside, b().getInt32(bytes), b().getInt32(0));
    b().CreateIntrinsic(inside == nullptr ? whole : part, {},
                        llvm::ArrayRef<llvm::Value*>(arguments).take_front(inside == nullptr ? 2 : 3));
    return absl::OkStatus();
  };
  switch (bytes) {
    case 4:
      return intrinsic(llvm::Intrinsic::nvvm_cp_async_ca_shared_global_4,
                       llvm::Intrinsic::nvvm_cp_async_ca_shared_global_4_s);
    case 8:
      return intrinsic(llvm::Intrinsic::nvvm_cp_async_ca_shared_global_8,
                       llvm::Intrinsic::nvvm_cp_async_ca_shared_global_8_s);
    case 16:
      return intrinsic(llvm::Intrinsic::nvvm_cp_async_cg_shared_global_16,
                       llvm::Intrinsic::nvvm_cp_async_cg_shared_global_16_s);
    default: return Internal("no asynchronous copy of ", bytes, " bytes");
  }
}

void KernelEmitter::CommitCopies() { b().CreateIntrinsic(llvm::Intrinsic::nvvm_cp_async_commit_group, {}, {}); }

void KernelEmitter::WaitForCopies(int64_t newest) {
  b().CreateIntrinsic(llvm::Intrinsic::nvvm_cp_async_wait_group, {}, {b().getInt32(static_cast<uint32_t>(newest))});
}

void KernelEmitter::ProxyFence() { Assembly("fence.proxy.async.shared::cta;"); }

void KernelEmitter::Assembly(absl::string_view text) {
  auto* type = llvm::FunctionType::get(b().getVoidTy(), false);
  auto* assembly = llvm::InlineAsm::get(type, codegen::ToStringRef(text), "~{memory}", /*hasSideEffects=*/true);
  b().CreateCall(type, assembly)->setConvergent();
}

void KernelEmitter::NeedExactArchitecture() { function_->addFnAttr(kExactArchitecture); }

void KernelEmitter::WarpBarrier() {
  b().CreateIntrinsic(b().getVoidTy(), llvm::Intrinsic::nvvm_bar_warp_sync, {b().getInt32(kAllLanes)});
}

void KernelEmitter::WaitForBlocks(uint32_t ns) {
  b().CreateIntrinsic(b().getVoidTy(), llvm::Intrinsic::nvvm_nanosleep, {b().getInt32(ns)});
}

llvm::Value* KernelEmitter::MatchLanes(llvm::Value* value) {
  return b().CreateIntrinsic(b().getInt32Ty(), llvm::Intrinsic::nvvm_match_any_sync_i32,
                             {b().getInt32(kAllLanes), value});
}

llvm::Value* KernelEmitter::ShuffleDown(llvm::Value* value, int distance) {
  return Shuffle(llvm::Intrinsic::nvvm_shfl_sync_down_i32, value, b().getInt32(distance), kWarp - 1);
}

llvm::Value* KernelEmitter::ShuffleAcross(llvm::Value* value, int distance) {
  return Shuffle(llvm::Intrinsic::nvvm_shfl_sync_bfly_i32, value, b().getInt32(distance), kWarp - 1);
}

llvm::Value* KernelEmitter::ShuffleUp(llvm::Value* value, int distance) {
  return Shuffle(llvm::Intrinsic::nvvm_shfl_sync_up_i32, value, b().getInt32(distance), 0);
}

llvm::Value* KernelEmitter::ShuffleLast(llvm::Value* value, int lanes) {
  llvm::Value* thread = b().CreateIntrinsic(b().getInt32Ty(), llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x, {});
  llvm::Value* last =
      b().CreateOr(b().CreateAnd(thread, b().getInt32(kWarp - 1)), b().getInt32(static_cast<uint32_t>(lanes - 1)));
  return ShuffleFrom(value, last);
}

llvm::Value* KernelEmitter::ShuffleFrom(llvm::Value* value, llvm::Value* lane) {
  return Shuffle(llvm::Intrinsic::nvvm_shfl_sync_idx_i32, value, lane, kWarp - 1);
}

// The machine shuffles 32 bits.
llvm::Value* KernelEmitter::Shuffle(unsigned intrinsic, llvm::Value* value, llvm::Value* lane, int clamp) {
  llvm::IRBuilder<>& b = this->b();
  llvm::Type* type = value->getType();
  const int bits = static_cast<int>(type->getPrimitiveSizeInBits());
  llvm::Value* whole = type->isIntegerTy() ? value : b.CreateBitCast(value, b.getIntNTy(bits));
  auto shuffle = [&](llvm::Value* word) -> llvm::Value* {
    return b.CreateIntrinsic(b.getInt32Ty(), intrinsic, {b.getInt32(kAllLanes), word, lane, b.getInt32(clamp)});
  };
  if (bits <= 32) {
    whole = b.CreateTrunc(shuffle(b.CreateZExt(whole, b.getInt32Ty())), b.getIntNTy(bits));
  } else {
    llvm::Value* low = shuffle(b.CreateTrunc(whole, b.getInt32Ty()));
    llvm::Value* high = shuffle(b.CreateTrunc(b.CreateLShr(whole, 32), b.getInt32Ty()));
    whole = b.CreateOr(b.CreateZExt(low, b.getInt64Ty()), b.CreateShl(b.CreateZExt(high, b.getInt64Ty()), 32));
  }
  return type->isIntegerTy() ? whole : b.CreateBitCast(whole, type);
}

absl::Status KernelEmitter::If(absl::string_view name, llvm::Value* condition, absl::FunctionRef<absl::Status()> body) {
  auto then = [&]() -> absl::StatusOr<Carried> {
    HILO_RETURN_IF_ERROR(body());
    return Carried();
  };
  return codegen::EmitBranches(*context_, name, condition, then, []() -> absl::StatusOr<Carried> { return Carried(); })
      .status();
}

absl::Status KernelEmitter::ForEach(absl::string_view name, llvm::Value* begin, llvm::Value* end, int64_t step,
                                    absl::FunctionRef<absl::Status(llvm::Value*)> body) {
  auto iteration = [&](llvm::Value* i, const Carried&) -> absl::StatusOr<Carried> {
    HILO_RETURN_IF_ERROR(body(i));
    return Carried();
  };
  return codegen::EmitLoop(*context_, name, begin, end, step, {}, iteration).status();
}

absl::StatusOr<int64_t> KernelEmitter::Finish(int block_size) {
  BeginInstruction(nullptr);
  b().CreateRetVoid();
  return program_.AddKernel(name_, std::move(module_), function_, arguments_.size(), block_size);
}

absl::Status KernelEmitter::FinishAndLaunch(const HloInstruction* instruction, int64_t blocks, int block_size) {
  HILO_ASSIGN_OR_RETURN(const int64_t kernel, Finish(block_size));
  return program_.Launch(instruction, kernel, blocks, block_size, arguments_, large_shared_bytes_);
}

}  // namespace hilo::gpu
