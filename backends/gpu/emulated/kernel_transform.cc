// NVPTX adds little to plain LLVM IR: special registers become loads from the thread's context, shared variables
// offsets in the block's memory, barriers and warp operations calls at which the thread waits, and the remaining
// intrinsics functions with the same semantics. Address spaces are kept: the host ignores them.
#include "backends/gpu/emulated/kernel_transform.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "backends/gpu/emulated/device_math.h"
#include "backends/gpu/emulated/group_assembly.h"
#include "backends/gpu/emulated/group_multiply.h"
#include "backends/llvm/elements/small_float_emit.h"
#include "backends/llvm/jit/host_features.h"
#include "backends/llvm/llvm_compat.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

namespace hilo::gpu {
namespace {

using codegen::ToStringView;
using llvm::Value;

constexpr unsigned kSharedSpace = 3;
constexpr int64_t kSharedAlignment = 16;
constexpr int kMatrixLineBytes = 16;

int64_t AlignTo(int64_t bytes, int64_t alignment) { return (bytes + alignment - 1) / alignment * alignment; }

struct WarpIntrinsic {
  absl::string_view prefix;
  WarpOperation operation;
};
// llvm.nvvm.* by prefix; the operand after the mask is the value.
constexpr WarpIntrinsic kWarpIntrinsics[] = {
    {"shfl.sync.down.", WarpOperation::kShuffleDown},
    {"shfl.sync.up.", WarpOperation::kShuffleUp},
    {"shfl.sync.bfly.", WarpOperation::kShuffleButterfly},
    {"shfl.sync.idx.", WarpOperation::kShuffleIndex},
    {"vote.ballot.sync", WarpOperation::kBallot},
    {"vote.all.sync", WarpOperation::kAll},
    {"vote.any.sync", WarpOperation::kAny},
    {"match.any.sync.i32", WarpOperation::kMatch},
};
// redux.sync.*: the value comes first.
constexpr WarpIntrinsic kReductions[] = {
    {"redux.sync.add", WarpOperation::kAdd},
    {"redux.sync.min", WarpOperation::kMin},
    {"redux.sync.max", WarpOperation::kMax},
    {"redux.sync.umin", WarpOperation::kUnsignedMin},
    {"redux.sync.umax", WarpOperation::kUnsignedMax},
    {"redux.sync.and", WarpOperation::kAnd},
    {"redux.sync.or", WarpOperation::kOr},
    {"redux.sync.xor", WarpOperation::kXor},
};

// By prefix; ldmatrix of four blocks.
constexpr WarpIntrinsic kMatrixIntrinsics[] = {
    {"ldmatrix.sync.aligned.m8n8.x4.b16", WarpOperation::kLoadMatrix},
    {"ldmatrix.sync.aligned.m8n8.x4.trans.b16", WarpOperation::kLoadMatrixTransposed},
    {"mma.m16n8k16.row.col.bf16", WarpOperation::kMultiplyBf16},
    {"mma.m16n8k16.row.col.f32.f32", WarpOperation::kMultiplyF16},
    {"mma.m16n8k32.row.col.s8", WarpOperation::kMultiplyS8},
    {"mma.m16n8k32.row.col.u8", WarpOperation::kMultiplyU8},
    {"mma.m16n8k8.row.col.tf32", WarpOperation::kMultiplyTf32},
};

struct SpecialRegister {
  absl::string_view name;
  size_t offset;
};
constexpr SpecialRegister kSpecialRegisters[] = {
    {"tid.", kThreadOffset},
    {"ctaid.", kBlockOffset},
    {"ntid.", kBlockSizeOffset},
    {"nctaid.", kGridSizeOffset},
};

class Transform {
 public:
  Transform(llvm::Module* module, bool checked)
      : module_(*module), context_(module->getContext()), b_(context_), checked_(checked) {}

  absl::StatusOr<std::vector<EmulatedKernelInfo>> Run() {
    llvm::StripDebugInfo(module_);  // code of several kernels becomes host code, which has no instructions for it
    if (llvm::NamedMDNode* annotations = module_.getNamedMetadata("nvvm.annotations")) annotations->eraseFromParent();
    CollectShared();
    std::vector<llvm::Function*> kernels, helpers;
    for (llvm::Function& function : module_) {
      if (function.isDeclaration()) continue;
      (function.getCallingConv() == llvm::CallingConv::PTX_Kernel ? kernels : helpers).push_back(&function);
    }
    std::vector<EmulatedKernelInfo> infos;
    for (llvm::Function* kernel : kernels) {
      HILO_ASSIGN_OR_RETURN(EmulatedKernelInfo info, Kernel(kernel));
      infos.push_back(std::move(info));
    }
    for (llvm::Function* kernel : kernels) kernel->eraseFromParent();
    for (llvm::Function* helper : helpers) HILO_RETURN_IF_ERROR(Helper(helper));
    HILO_RETURN_IF_ERROR(DropShared());
    return infos;
  }

 private:
  // ---- shared memory ------------------------------------------------------------------------------------------

  void CollectShared() {
    std::vector<llvm::Constant*> constants;
    for (llvm::GlobalVariable& global : module_.globals()) {
      if (global.getAddressSpace() != kSharedSpace) continue;
      shared_.push_back(&global);
      constants.push_back(&global);
    }
    llvm::convertUsersOfConstantsToInstructions(constants);
  }

  // Each kernel has the shared memory that it uses, independent of the module's other kernels.
  void LayOutSharedMemory(const llvm::Function& kernel) {
    const auto is_used = [&](const llvm::GlobalVariable* global) {
      return std::any_of(global->user_begin(), global->user_end(), [&](const llvm::User* user) {
        const auto* instruction = llvm::dyn_cast<llvm::Instruction>(user);
        return instruction != nullptr && instruction->getFunction() == &kernel;
      });
    };
    placed_.clear();
    shared_bytes_ = 0;
    bool has_dynamic = false;
    for (const llvm::GlobalVariable* global : shared_) {
      if (!is_used(global)) continue;
      if (global->isDeclaration()) {  // the launch determines its size; it comes last
        has_dynamic = true;
        continue;
      }
      shared_bytes_ = AlignTo(shared_bytes_, std::max<int64_t>(global->getAlign().valueOrOne().value(), 1));
      placed_.push_back({global, shared_bytes_});
      shared_bytes_ += module_.getDataLayout().getTypeAllocSize(global->getValueType());
    }
    if (!has_dynamic) return;
    const auto is_dynamic = [&](const llvm::GlobalVariable* global) {
      return global->isDeclaration() && is_used(global);
    };
    int64_t alignment = kSharedAlignment;
    for (const llvm::GlobalVariable* global : shared_) {
      if (is_dynamic(global))
        alignment = std::max(alignment, static_cast<int64_t>(global->getAlign().valueOrOne().value()));
    }
    shared_bytes_ = AlignTo(shared_bytes_, alignment);
    for (const llvm::GlobalVariable* global : shared_) {
      if (is_dynamic(global)) placed_.push_back({global, shared_bytes_});
    }
  }

  absl::Status DropShared() {
    for (llvm::GlobalVariable* global : shared_) {
      global->removeDeadConstantUsers();
      if (!global->use_empty())
        return Unimplemented("shared memory in a function that is not inlined: ", ToStringView(global->getName()));
      global->eraseFromParent();
    }
    return absl::OkStatus();
  }

  std::optional<int64_t> SharedOffset(const Value* value) const {
    for (const auto& [global, offset] : placed_) {
      if (global == value) return offset;
    }
    return std::nullopt;
  }

  void UseSharedAddresses(llvm::Instruction* instruction) {
    for (llvm::Use& use : instruction->operands()) {
      const std::optional<int64_t> offset = SharedOffset(use.get());
      if (!offset.has_value()) continue;
      auto* phi = llvm::dyn_cast<llvm::PHINode>(instruction);
      b_.SetInsertPoint(phi != nullptr ? phi->getIncomingBlock(use)->getTerminator() : instruction);
      use.set(
          b_.CreateAddrSpaceCast(b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), shared_base_, *offset), use->getType()));
    }
  }

  // ---- functions ----------------------------------------------------------------------------------------------

  absl::StatusOr<EmulatedKernelInfo> Kernel(llvm::Function* kernel) {
    HILO_RETURN_IF_ERROR(CheckPendingSums(*kernel));
    LayOutSharedMemory(*kernel);
    EmulatedKernelInfo info{.name = kernel->getName().str(),
                            .parameter_count = static_cast<int64_t>(kernel->arg_size()),
                            .shared_bytes = shared_bytes_};
    const llvm::Attribute most = kernel->getFnAttribute("nvvm.maxntid");
    if (most.isValid()) info.max_threads = std::atoi(most.getValueAsString().str().c_str());
    info_ = &info;
    words_ = group_words_ = nullptr;

    auto* function =
        llvm::Function::Create(llvm::FunctionType::get(b_.getVoidTy(), {b_.getPtrTy(), b_.getPtrTy()}, false),
                               llvm::GlobalValue::ExternalLinkage, info.name + kEmulatedSuffix, module_);
    auto* entry = llvm::BasicBlock::Create(context_, "arguments", function);
    thread_ = function->getArg(1);
    b_.SetInsertPoint(entry);
    llvm::ValueToValueMapTy values;
    for (llvm::Argument& argument : kernel->args()) {
      values[&argument] = b_.CreateLoad(
          argument.getType(), b_.CreateConstInBoundsGEP1_64(b_.getInt64Ty(), function->getArg(0), argument.getArgNo()));
    }
    shared_base_ = Field(kSharedOffset, b_.getPtrTy());
    llvm::SmallVector<llvm::ReturnInst*, 4> returns;
    llvm::CloneFunctionInto(function, kernel, values, llvm::CloneFunctionChangeType::LocalChangesOnly, returns);
    function->setCallingConv(llvm::CallingConv::C);
    function->setAttributes(llvm::AttributeList().addFnAttribute(context_, llvm::Attribute::NoUnwind));
    b_.SetInsertPoint(entry);
    b_.CreateBr(entry->getNextNode());

    std::vector<llvm::Instruction*> work;
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (instruction.getParent() != entry) work.push_back(&instruction);
    }
    for (llvm::Instruction* instruction : work) {
      if (const auto* variable = llvm::dyn_cast<llvm::AllocaInst>(instruction)) {
        info.stack_bytes += module_.getDataLayout().getTypeAllocSize(variable->getAllocatedType()) *
                            (variable->isArrayAllocation() ? 64 : 1);
      }
      UseSharedAddresses(instruction);
      b_.SetInsertPoint(instruction);
      if (ReplaceConversion(instruction) || ReplaceSharedAddress(instruction)) continue;
      HILO_ASSIGN_OR_RETURN(const bool replaced, ReplaceCall(instruction));
      if (!replaced && checked_) Check(instruction);
    }
    info_ = nullptr;
    return info;
  }

  // A function that is not inlined: arithmetic alone, as libdevice's slow paths.
  absl::Status Helper(llvm::Function* function) {
    thread_ = nullptr;
    std::vector<llvm::Instruction*> work;
    for (llvm::Instruction& instruction : llvm::instructions(function)) work.push_back(&instruction);
    for (llvm::Instruction* instruction : work) {
      b_.SetInsertPoint(instruction);
      if (ReplaceConversion(instruction)) continue;
      HILO_RETURN_IF_ERROR(ReplaceCall(instruction).status());
    }
    function->removeFnAttr("target-cpu");
    function->removeFnAttr("target-features");
    return absl::OkStatus();
  }

  // Conversions of narrow floats that the host may have no instruction for.
  bool ReplaceConversion(llvm::Instruction* instruction) {
    const bool narrows = llvm::isa<llvm::FPTruncInst>(instruction), widens = llvm::isa<llvm::FPExtInst>(instruction);
    if (!narrows && !widens) return false;
    Value* operand = instruction->getOperand(0);
    const llvm::Type *wide = (narrows ? operand : instruction)->getType()->getScalarType(),
                     *narrow = (narrows ? instruction : operand)->getType()->getScalarType();
    if (!wide->isFloatTy() || !(narrow->isHalfTy() || narrow->isBFloatTy())) return false;
    const bool has_f16c = codegen::HostFeatures().has_f16c;
    Value* result = narrow->isHalfTy() ? narrows ? codegen::EmitFloatToHalf(b_, operand, has_f16c)
                                                 : codegen::EmitHalfToFloat(b_, operand, has_f16c)
                    : narrows ? codegen::EmitFloatToBfloat(b_, operand)
                                       : codegen::EmitBfloatToFloat(b_, operand);
    instruction->replaceAllUsesWith(result);
    instruction->eraseFromParent();
    return true;
  }

  // A shared address as a number is an offset in the block's memory.
  bool ReplaceSharedAddress(llvm::Instruction* instruction) {
    auto* cast = llvm::dyn_cast<llvm::PtrToIntInst>(instruction);
    if (cast == nullptr || cast->getPointerAddressSpace() != kSharedSpace) return false;
    Value* address = b_.CreatePtrToInt(Generic(cast->getPointerOperand()), b_.getInt64Ty());
    Value* offset = b_.CreateSub(address, b_.CreatePtrToInt(shared_base_, b_.getInt64Ty()));
    instruction->replaceAllUsesWith(b_.CreateZExtOrTrunc(offset, instruction->getType()));
    instruction->eraseFromParent();
    return true;
  }

  // ---- calls --------------------------------------------------------------------------------------------------

  absl::StatusOr<bool> ReplaceCall(llvm::Instruction* instruction) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(instruction);
    if (call == nullptr) return false;
    Value* result = nullptr;
    if (const auto* assembly = llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand())) {
      HILO_ASSIGN_OR_RETURN(result, Assembly(call, assembly->getAsmString()));
    } else if (call->getCalledFunction() != nullptr && call->getCalledFunction()->getName().starts_with("llvm.nvvm.")) {
      HILO_ASSIGN_OR_RETURN(
          result, Intrinsic(call, absl::StripPrefix(ToStringView(call->getCalledFunction()->getName()), "llvm.nvvm.")));
    } else {
      return false;
    }
    if (result != nullptr) call->replaceAllUsesWith(result);
    call->eraseFromParent();
    return true;
  }

  // Returns the value that replaces the call; null for none.
  absl::StatusOr<Value*> Intrinsic(llvm::CallInst* call, absl::string_view name) {
    if (absl::ConsumePrefix(&name, "read.ptx.sreg.")) return Register(name);
    if (absl::StartsWith(name, "membar.")) {
      b_.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent);
      return nullptr;
    }
    if (absl::StartsWith(name, "ldg.global.")) {
      auto* load = b_.CreateAlignedLoad(call->getType(), call->getArgOperand(0),
                                        llvm::cast<llvm::ConstantInt>(call->getArgOperand(1))->getAlignValue());
      if (checked_) Check(load);
      return load;
    }
    if (absl::StartsWith(name, "cp.async.")) return Copy(call, name);
    if (name == "barrier0" || absl::StartsWith(name, "barrier.cta.sync")) {
      HILO_RETURN_IF_ERROR(NeedsThread(name));
      Call(kBarrierFunction, b_.getVoidTy(), {thread_, NextSite()});
      return nullptr;
    }
    if (name == "nanosleep") {
      HILO_RETURN_IF_ERROR(NeedsThread(name));
      info_->waits_for_blocks = true;
      Call(kPollFunction, b_.getVoidTy(), {thread_});
      return nullptr;
    }
    Value* zero = b_.getInt32(0);
    if (name == "bar.warp.sync") {
      HILO_RETURN_IF_ERROR(Warp(name, WarpOperation::kBarrier, call->getArgOperand(0), zero, zero, zero).status());
      return nullptr;
    }
    for (const auto& [prefix, operation] : kMatrixIntrinsics) {
      if (absl::StartsWith(name, prefix)) return Matrix(call, name, operation);
    }
    for (const auto& [prefix, operation] : kReductions) {
      if (name == prefix) return Warp(name, operation, call->getArgOperand(1), call->getArgOperand(0), zero, zero);
    }
    for (const auto& [prefix, operation] : kWarpIntrinsics) {
      if (absl::StartsWith(name, prefix) && (call->getType()->isFloatTy() || call->getType()->isIntegerTy()))
        return VoteOrShuffle(call, name, operation);
    }
    const std::string function = DeviceMathFunction(absl::StrCat("llvm.nvvm.", name));
    if (function.empty()) return Unimplemented("the emulated device has no llvm.nvvm.", name);
    const llvm::SmallVector<Value*, 3> arguments(call->args());
    return b_.CreateCall(module_.getOrInsertFunction(function, call->getFunctionType()), arguments);
  }

  absl::StatusOr<Value*> VoteOrShuffle(llvm::CallInst* call, absl::string_view name, WarpOperation operation) {
    Value* zero = b_.getInt32(0);
    Value* value = call->getArgOperand(1);
    value = value->getType()->isIntegerTy(1) ? b_.CreateZExt(value, b_.getInt32Ty())
                                             : b_.CreateBitCast(value, b_.getInt32Ty());
    const bool is_shuffle = call->arg_size() == 4;
    HILO_ASSIGN_OR_RETURN(
        Value * result, Warp(name, operation, call->getArgOperand(0), value, is_shuffle ? call->getArgOperand(2) : zero,
                             is_shuffle ? call->getArgOperand(3) : zero));
    return call->getType()->isIntegerTy(1) ? b_.CreateTrunc(result, b_.getInt1Ty())
                                           : b_.CreateBitCast(result, call->getType());
  }

  absl::StatusOr<Value*> Warp(absl::string_view name, WarpOperation operation, Value* mask, Value* value,
                              Value* operand, Value* clamp) {
    HILO_RETURN_IF_ERROR(NeedsThread(name));
    return Call(kWarpFunction, b_.getInt32Ty(),
                {thread_, b_.getInt32(static_cast<uint32_t>(operation)), mask, value, operand, clamp, NextSite()});
  }

  // Returns memory of the thread for the registers of operations on matrices, `*memory` once it is made.
  Value* WordsOf(llvm::CallInst* call, Value** memory, int count) {
    if (*memory != nullptr) return *memory;
    const llvm::IRBuilder<>::InsertPointGuard guard(b_);
    llvm::BasicBlock& entry = call->getFunction()->getEntryBlock();
    b_.SetInsertPoint(&entry, entry.begin());
    *memory = b_.CreateAlloca(b_.getInt32Ty(), b_.getInt32(static_cast<uint32_t>(count)));
    info_->stack_bytes += 4 * count;
    return *memory;
  }

  // Registers go to memory of the thread, and results come from there.
  absl::StatusOr<Value*> Matrix(llvm::CallInst* call, absl::string_view name, WarpOperation operation) {
    HILO_RETURN_IF_ERROR(NeedsThread(name));
    Value* words = WordsOf(call, &words_, kMatrixWords);
    const auto word = [&](unsigned i) { return b_.CreateConstInBoundsGEP1_64(b_.getInt32Ty(), words, i); };
    for (unsigned i = 0; i < call->arg_size(); ++i) {
      Value* argument = call->getArgOperand(i);
      if (argument->getType()->isPointerTy()) {
        argument = Generic(argument);
        if (checked_) {
          argument = Call(kAccessFunction, b_.getPtrTy(),
                          {thread_, argument, b_.getInt64(kMatrixLineBytes), b_.getInt32(kMatrixLineBytes),
                           b_.getInt32(static_cast<uint32_t>(AccessKind::kLoad)), NextSite()});
        }
        b_.CreateAlignedStore(argument, word(i), llvm::Align(4));
      } else {
        b_.CreateStore(argument, word(i));
      }
    }
    Call(kMatrixFunction, b_.getVoidTy(), {thread_, b_.getInt32(static_cast<uint32_t>(operation)), words, NextSite()});
    auto* types = llvm::cast<llvm::StructType>(call->getType());
    Value* results = llvm::PoisonValue::get(types);
    for (unsigned i = 0; i < types->getNumElements(); ++i)
      results = b_.CreateInsertValue(results, b_.CreateLoad(types->getElementType(i), word(i)), i);
    return results;
  }

  // llvm.nvvm.cp.async.{ca,cg}.shared.global.BYTES[.s], where `.s` has the bytes that are read, and waiting for copies.
  absl::StatusOr<Value*> Copy(llvm::CallInst* call, absl::string_view name) {
    HILO_RETURN_IF_ERROR(NeedsThread(name));
    if (name == "cp.async.commit.group") {
      Call(kCopyCommitFunction, b_.getVoidTy(), {thread_});
      return nullptr;
    }
    if (name == "cp.async.wait.group" || name == "cp.async.wait.all") {
      Value* rest = call->arg_empty() ? b_.getInt32(~0u) : call->getArgOperand(0);
      Call(kCopyWaitFunction, b_.getVoidTy(), {thread_, rest});
      return nullptr;
    }
    absl::string_view text = name;
    const bool has_size = absl::ConsumeSuffix(&text, ".s");
    for (const absl::string_view prefix : {"cp.async.ca.shared.global.", "cp.async.cg.shared.global."}) {
      uint32_t bytes = 0;
      if (!absl::ConsumePrefix(&text, prefix) || !absl::SimpleAtoi(text, &bytes)) continue;
      Value* size = b_.getInt32(bytes);
      Value* site = NextSite();
      NextSite();
      Call(kCopyFunction, b_.getVoidTy(),
           {thread_, Generic(call->getArgOperand(0)), Generic(call->getArgOperand(1)), size,
            has_size ? call->getArgOperand(2) : size, site});
      return nullptr;
    }
    return Unimplemented("the emulated device has no llvm.nvvm.", name);
  }

  absl::Status NeedsThread(absl::string_view name) {
    if (info_ == nullptr || thread_ == nullptr)
      return Unimplemented("llvm.nvvm.", name, " in a function that is not inlined");
    info_->has_barriers = true;
    return absl::OkStatus();
  }

  absl::StatusOr<Value*> Register(absl::string_view name) {
    if (name == "warpsize") return b_.getInt32(32);
    if (thread_ == nullptr)
      return Unimplemented("llvm.nvvm.read.ptx.sreg.", name, " in a function that is not inlined");
    if (name == "laneid") return Field(kLaneOffset, b_.getInt32Ty());
    for (const auto& [prefix, offset] : kSpecialRegisters) {
      if (absl::StartsWith(name, prefix) && name.size() == prefix.size() + 1)
        return Field(offset + 4 * (name.back() - 'x'), b_.getInt32Ty());
    }
    return Unimplemented("the emulated device has no llvm.nvvm.read.ptx.sreg.", name);
  }

  // libdevice's few inline assembly templates, recognized by their distinctive parts. Pairs of words carry.
  absl::StatusOr<Value*> Assembly(llvm::CallInst* call, llvm::StringRef text) {
    const auto operand = [&](unsigned i) { return call->getArgOperand(i); };
    const auto function = [&](const char* name) -> Value* {
      const llvm::SmallVector<Value*, 3> arguments(call->args());
      return b_.CreateCall(module_.getOrInsertFunction(name, call->getFunctionType()), arguments);
    };
    if (text.starts_with("wgmma.") || text.starts_with("fence.proxy.async")) return GroupOperation(call, text);
    if (const std::optional<BarrierStep> step = BarrierStepOf(text); step.has_value())
      return AtSharedBarrier(call, *step);
    if (const std::optional<int64_t> rank = TensorCopyOf(text); rank.has_value()) return CopyTensor(call, *rank);
    if (text.starts_with("rcp.approx.ftz.f32")) return function("hilo_nvvm_rcp.approx.ftz.f");
    if (text.starts_with("rsqrt.approx.ftz.f64")) return function("hilo_nvvm_rsqrt.approx.d");
    if (text.starts_with("sub.rn")) return b_.CreateFSub(operand(0), operand(1));
    if (text.contains("setp.equ.f64"))
      return b_.CreateSelect(b_.CreateFCmpUEQ(operand(0), operand(1)), operand(2), operand(3));
    const auto halves = [&](Value* wide, unsigned bits) {
      llvm::Type* part = b_.getIntNTy(bits);
      Value* low = b_.CreateInsertValue(llvm::PoisonValue::get(call->getType()), b_.CreateTrunc(wide, part), 0);
      return b_.CreateInsertValue(low, b_.CreateTrunc(b_.CreateLShr(wide, bits), part), 1);
    };
    const auto product = [&](unsigned bits) {
      llvm::Type* wide = b_.getIntNTy(2 * bits);
      Value* result = b_.CreateMul(b_.CreateZExt(operand(0), wide), b_.CreateZExt(operand(1), wide));
      return halves(call->arg_size() == 3 ? b_.CreateAdd(result, b_.CreateZExt(operand(2), wide)) : result, bits);
    };
    const auto pair = [&](unsigned first) {
      llvm::Type* wide = b_.getIntNTy(128);
      return b_.CreateOr(b_.CreateZExt(operand(first), wide),
                         b_.CreateShl(b_.CreateZExt(operand(first + 1), wide), 64));
    };
    if (text.contains("mad.lo.cc.u32   $0, $2, $3, $4")) return product(32);
    if (text.contains("mul.hi.u32      r1, alo, blo") || text.contains("mad.lo.cc.u32   r0, alo, blo, clo"))
      return product(64);
    if (text.contains("sub.cc.u32      r0, a0, b0")) return halves(b_.CreateSub(pair(0), pair(2)), 64);
    if (text.contains("add.cc.u32      r0, a0, b0")) return halves(b_.CreateAdd(pair(0), pair(2)), 64);
    return Unimplemented("the emulated device has no assembly \"", ToStringView(text), "\"");
  }

  // ---- warp groups --------------------------------------------------------------------------------------------

  // Multiplications of warp groups and what orders them. Sums go through fences and waits as operands that are results
  // too.
  absl::StatusOr<Value*> GroupOperation(llvm::CallInst* call, llvm::StringRef text) {
    HILO_RETURN_IF_ERROR(NeedsThread(ToStringView(text)));
    if (text.starts_with("fence.proxy.async")) {
      Call(kProxyFenceFunction, b_.getVoidTy(), {thread_});
      return nullptr;
    }
    if (IsGroupMultiplication(text)) return MultiplyByGroup(call, text);
    const std::optional<GroupStepAssembly> step = GroupStepOf(text);
    if (!step.has_value()) return Unimplemented("the emulated device has no assembly \"", ToStringView(text), "\"");
    Call(kGroupStepFunction, b_.getVoidTy(),
         {thread_, b_.getInt32(static_cast<uint32_t>(step->step)), b_.getInt32(static_cast<uint32_t>(step->pending)),
          NextSite()});
    if (call->getType()->isVoidTy()) return nullptr;
    return ResultsOf(call, [&](unsigned i) { return call->getArgOperand(i); });
  }

  absl::StatusOr<Value*> MultiplyByGroup(llvm::CallInst* call, llvm::StringRef text) {
    HILO_ASSIGN_OR_RETURN(const GroupMultiplication multiplication, GroupMultiplication::Parse(ToStringView(text)));
    const unsigned sums = static_cast<unsigned>(multiplication.sums());
    if (call->arg_size() != sums + 2)
      return InvalidArgument(ToStringView(text), ": expected ", sums + 2, " operands, got ", call->arg_size());
    Value* words = WordsOf(call, &group_words_, kMostGroupWords);
    const auto word = [&](unsigned i) { return b_.CreateConstInBoundsGEP1_64(b_.getInt32Ty(), words, i); };
    for (unsigned i = 0; i < 2; ++i) b_.CreateAlignedStore(call->getArgOperand(i), word(2 * i), llvm::Align(4));
    for (unsigned i = 0; i < sums; ++i) b_.CreateStore(call->getArgOperand(i + 2), word(kDescriptorWords + i));
    Call(kGroupMultiplyFunction, b_.getVoidTy(), {thread_, b_.getInt32(multiplication.Encode()), words, NextSite()});
    return ResultsOf(call, [&](unsigned i) {
      return b_.CreateLoad(call->getArgOperand(i + 2)->getType(), word(kDescriptorWords + i));
    });
  }

  absl::StatusOr<Value*> AtSharedBarrier(llvm::CallInst* call, BarrierStep step) {
    HILO_RETURN_IF_ERROR(NeedsThread("mbarrier"));
    Value* value = call->arg_size() > 1 ? call->getArgOperand(1) : b_.getInt32(0);
    Call(kSharedBarrierFunction, b_.getVoidTy(),
         {thread_, b_.getInt32(static_cast<uint32_t>(step)), call->getArgOperand(0), value, NextSite()});
    return nullptr;
  }

  // Operands: where to, the tensor, coordinates, the barrier.
  absl::StatusOr<Value*> CopyTensor(llvm::CallInst* call, int64_t dimensions) {
    HILO_RETURN_IF_ERROR(NeedsThread("cp.async.bulk.tensor"));
    const auto count = static_cast<unsigned>(dimensions);
    if (call->arg_size() != count + 3)
      return InvalidArgument("cp.async.bulk.tensor: expected ", count + 3, " operands, got ", call->arg_size());
    Value* words = WordsOf(call, &words_, kMatrixWords);
    for (unsigned i = 0; i < count; ++i)
      b_.CreateStore(call->getArgOperand(2 + i), b_.CreateConstInBoundsGEP1_64(b_.getInt32Ty(), words, i));
    Value* map = call->getArgOperand(1);
    if (!map->getType()->isPointerTy()) map = b_.CreateIntToPtr(map, b_.getPtrTy());
    Call(kTensorCopyFunction, b_.getVoidTy(),
         {thread_, call->getArgOperand(0), Generic(map), words, call->getArgOperand(2 + count), NextSite()});
    return nullptr;
  }

  // Returns the results of the call, of which `result` returns each.
  Value* ResultsOf(llvm::CallInst* call, llvm::function_ref<Value*(unsigned)> result) {
    auto* types = llvm::dyn_cast<llvm::StructType>(call->getType());
    if (types == nullptr) return result(0);
    Value* results = llvm::PoisonValue::get(types);
    for (unsigned i = 0; i < types->getNumElements(); ++i) results = b_.CreateInsertValue(results, result(i), i);
    return results;
  }

  // ---- checks -------------------------------------------------------------------------------------------------

  struct Access {
    unsigned operand = 0;
    llvm::Type* type = nullptr;
    llvm::Align alignment;
    AccessKind kind = AccessKind::kLoad;
  };

  static std::optional<Access> AccessOf(const llvm::Instruction* instruction) {
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(instruction)) {
      return Access{load->getPointerOperandIndex(), load->getType(), load->getAlign(),
                    load->isAtomic() ? AccessKind::kAtomic : AccessKind::kLoad};
    }
    if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(instruction)) {
      return Access{store->getPointerOperandIndex(), store->getValueOperand()->getType(), store->getAlign(),
                    store->isAtomic() ? AccessKind::kAtomic : AccessKind::kStore};
    }
    if (const auto* atomic = llvm::dyn_cast<llvm::AtomicRMWInst>(instruction)) {
      return Access{atomic->getPointerOperandIndex(), atomic->getType(), atomic->getAlign(), AccessKind::kAtomic};
    }
    if (const auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(instruction)) {
      return Access{exchange->getPointerOperandIndex(), exchange->getNewValOperand()->getType(), exchange->getAlign(),
                    AccessKind::kAtomic};
    }
    return std::nullopt;
  }

  static bool IsPrivate(const Value* pointer) {
    const Value* object = llvm::getUnderlyingObject(pointer);
    return llvm::isa<llvm::AllocaInst>(object) || llvm::isa<llvm::GlobalVariable>(object);
  }

  Value* Generic(Value* pointer) {
    return pointer->getType()->getPointerAddressSpace() == 0 ? pointer : b_.CreateAddrSpaceCast(pointer, b_.getPtrTy());
  }

  void Check(llvm::Instruction* instruction) {
    b_.SetInsertPoint(instruction);
    if (auto* memory = llvm::dyn_cast<llvm::MemIntrinsic>(instruction)) return CheckRange(memory);
    const std::optional<Access> access = AccessOf(instruction);
    if (!access.has_value()) return;
    Value* pointer = instruction->getOperand(access->operand);
    if (IsPrivate(pointer)) return;
    Value* checked =
        Call(kAccessFunction, b_.getPtrTy(),
             {thread_, Generic(pointer), b_.getInt64(module_.getDataLayout().getTypeStoreSize(access->type)),
              b_.getInt32(static_cast<uint32_t>(access->alignment.value())),
              b_.getInt32(static_cast<uint32_t>(access->kind)), NextSite()});
    instruction->setOperand(access->operand, checked->getType() == pointer->getType()
                                                 ? checked
                                                 : b_.CreateAddrSpaceCast(checked, pointer->getType()));
  }

  void CheckRange(llvm::MemIntrinsic* memory) {
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

  // ---- small things -------------------------------------------------------------------------------------------

  Value* NextSite() { return b_.getInt32(++site_); }

  Value* Field(size_t offset, llvm::Type* type) {
    llvm::LoadInst* load = b_.CreateLoad(type, b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), thread_, offset));
    load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(context_, {}));
    return load;
  }

  Value* Call(const char* name, llvm::Type* result, llvm::ArrayRef<Value*> arguments) {
    llvm::SmallVector<llvm::Type*, 8> types;
    for (Value* argument : arguments) types.push_back(argument->getType());
    llvm::FunctionCallee callee = module_.getOrInsertFunction(name, llvm::FunctionType::get(result, types, false));
    auto* function = llvm::cast<llvm::Function>(callee.getCallee());
    function->addFnAttr(llvm::Attribute::NoUnwind);
    function->addFnAttr(llvm::Attribute::Convergent);
    return b_.CreateCall(callee, arguments);
  }

  llvm::Module& module_;
  llvm::LLVMContext& context_;
  llvm::IRBuilder<> b_;
  const bool checked_;
  std::vector<llvm::GlobalVariable*> shared_;
  uint32_t site_ = 0;
  // State of the current kernel.
  std::vector<std::pair<const llvm::GlobalVariable*, int64_t>> placed_;
  int64_t shared_bytes_ = 0;
  EmulatedKernelInfo* info_ = nullptr;
  Value* thread_ = nullptr;
  Value* shared_base_ = nullptr;
  // Memory for the registers of operations on matrices by warps and by warp groups; null before the first.
  Value *words_ = nullptr, *group_words_ = nullptr;
};

}  // namespace

absl::StatusOr<std::vector<EmulatedKernelInfo>> TransformKernels(codegen::HostModule* module, bool checked) {
  return Transform(module->module.get(), checked).Run();
}

}  // namespace hilo::gpu
