#include "backends/gpu/emulated/kernel_code.h"

#include <optional>

#include "backends/gpu/emulated/group_multiply.h"
#include "backends/gpu/emulated/thread_context.h"
#include "base/errors.h"
#include "llvm/Analysis/ValueTracking.h"

namespace hilo::gpu {
namespace {

using llvm::Value;

constexpr int kMatrixLineBytes = 16;

struct Access {
  unsigned operand = 0;
  llvm::Type* type = nullptr;
  llvm::Align alignment;
  AccessKind kind = AccessKind::kLoad;
};

std::optional<Access> AccessOf(const llvm::Instruction* instruction) {
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(instruction)) {
    return Access{load->getPointerOperandIndex(), load->getType(), load->getAlign(),
                  load->isAtomic() ? AccessKind::kAtomic : AccessKind::kLoad};
  }
  if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(instruction)) {
    return Access{store->getPointerOperandIndex(), store->getValueOperand()->getType(), store->getAlign(),
                  store->isAtomic() ? AccessKind::kAtomic : AccessKind::kStore};
  }
  if (const auto* atomic = llvm::dyn_cast<llvm::AtomicRMWInst>(instruction))
    return Access{atomic->getPointerOperandIndex(), atomic->getType(), atomic->getAlign(), AccessKind::kAtomic};
  if (const auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(instruction)) {
    return Access{exchange->getPointerOperandIndex(), exchange->getNewValOperand()->getType(), exchange->getAlign(),
                  AccessKind::kAtomic};
  }
  return std::nullopt;
}

bool IsPrivate(const Value* pointer) {
  const Value* object = llvm::getUnderlyingObject(pointer);
  return llvm::isa<llvm::AllocaInst>(object) || llvm::isa<llvm::GlobalVariable>(object);
}

}  // namespace

void KernelCode::Begin(EmulatedKernelInfo* info, Value* thread) {
  info_ = info;
  thread_ = thread;
  warp_words_ = group_words_ = nullptr;
}

absl::Status KernelCode::NeedsThread(absl::string_view operation) {
  if (info_ == nullptr || thread_ == nullptr)
    return Unimplemented("llvm.nvvm.", operation, " in a function that is not inlined");
  info_->has_barriers = true;
  return absl::OkStatus();
}

Value* KernelCode::Field(size_t offset, llvm::Type* type) {
  llvm::LoadInst* load = b_.CreateLoad(type, b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), thread_, offset));
  load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(module_.getContext(), {}));
  return load;
}

Value* KernelCode::Call(const char* name, llvm::Type* result, llvm::ArrayRef<Value*> arguments) {
  llvm::SmallVector<llvm::Type*, 8> types;
  for (Value* argument : arguments) types.push_back(argument->getType());
  llvm::FunctionCallee callee = module_.getOrInsertFunction(name, llvm::FunctionType::get(result, types, false));
  auto* function = llvm::cast<llvm::Function>(callee.getCallee());
  function->addFnAttr(llvm::Attribute::NoUnwind);
  function->addFnAttr(llvm::Attribute::Convergent);
  return b_.CreateCall(callee, arguments);
}

Value* KernelCode::Generic(Value* pointer) {
  return pointer->getType()->getPointerAddressSpace() == 0 ? pointer : b_.CreateAddrSpaceCast(pointer, b_.getPtrTy());
}

Value* KernelCode::WarpWords(llvm::CallInst* call) { return WordsOf(call, &warp_words_, kMatrixWords); }

Value* KernelCode::GroupWords(llvm::CallInst* call) { return WordsOf(call, &group_words_, kMaxGroupWords); }

Value* KernelCode::WordsOf(llvm::CallInst* call, Value** memory, int count) {
  if (*memory != nullptr) return *memory;
  const llvm::IRBuilder<>::InsertPointGuard guard(b_);
  llvm::BasicBlock& entry = call->getFunction()->getEntryBlock();
  b_.SetInsertPoint(&entry, entry.begin());
  *memory = b_.CreateAlloca(b_.getInt32Ty(), b_.getInt32(static_cast<uint32_t>(count)));
  info_->stack_bytes += 4 * count;
  return *memory;
}

void KernelCode::Check(llvm::Instruction* instruction) {
  if (!checked_ || thread_ == nullptr) return;
  b_.SetInsertPoint(instruction);
  if (auto* memory = llvm::dyn_cast<llvm::MemIntrinsic>(instruction)) return CheckRange(memory);
  const std::optional<Access> access = AccessOf(instruction);
  if (!access.has_value()) return;
  Value* pointer = instruction->getOperand(access->operand);
  if (IsPrivate(pointer)) return;
  Value* checked = Call(kAccessFunction, b_.getPtrTy(),
                        {thread_, Generic(pointer), b_.getInt64(module_.getDataLayout().getTypeStoreSize(access->type)),
                         b_.getInt32(static_cast<uint32_t>(access->alignment.value())),
                         b_.getInt32(static_cast<uint32_t>(access->kind)), NextSite()});
  instruction->setOperand(access->operand, checked->getType() == pointer->getType()
                                               ? checked
                                               : b_.CreateAddrSpaceCast(checked, pointer->getType()));
}

void KernelCode::CheckRange(llvm::MemIntrinsic* memory) {
  const auto check = [&](Value* pointer, AccessKind kind) {
    if (IsPrivate(pointer)) return;
    Value* bytes = b_.CreateZExtOrTrunc(memory->getLength(), b_.getInt64Ty());
    Value* checked = Call(kRangeFunction, b_.getInt64Ty(),
                          {thread_, Generic(pointer), bytes, b_.getInt32(static_cast<uint32_t>(kind)), NextSite()});
    memory->setLength(b_.CreateZExtOrTrunc(checked, memory->getLength()->getType()));
  };
  if (auto* transfer = llvm::dyn_cast<llvm::MemTransferInst>(memory))
    check(transfer->getRawSource(), AccessKind::kLoad);
  check(memory->getRawDest(), AccessKind::kStore);
}

Value* KernelCode::CheckedMatrixLine(Value* address) {
  if (!checked_) return address;
  return Call(kAccessFunction, b_.getPtrTy(),
              {thread_, address, b_.getInt64(kMatrixLineBytes), b_.getInt32(kMatrixLineBytes),
               b_.getInt32(static_cast<uint32_t>(AccessKind::kLoad)), NextSite()});
}

}  // namespace hilo::gpu
