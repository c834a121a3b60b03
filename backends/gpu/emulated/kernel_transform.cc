// NVPTX adds little to plain LLVM IR: special registers become loads from the thread's context, shared variables
// offsets in the block's memory, barriers and warp operations calls at which the thread waits, and the remaining
// intrinsics functions with the same semantics. Address spaces are kept: the host ignores them.
#include "backends/gpu/emulated/kernel_transform.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "backends/gpu/emulated/group_assembly.h"
#include "backends/gpu/emulated/kernel_calls.h"
#include "backends/gpu/emulated/kernel_code.h"
#include "backends/llvm/elements/small_float_emit.h"
#include "backends/llvm/jit/host_features.h"
#include "backends/llvm/llvm_compat.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

namespace hilo::gpu {
namespace {

using codegen::ToStringView;
using llvm::Value;

constexpr int64_t kSharedAlignment = 16;

int64_t AlignTo(int64_t bytes, int64_t alignment) { return (bytes + alignment - 1) / alignment * alignment; }

class Transform {
 public:
  Transform(llvm::Module* module, bool checked)
      : module_(*module), context_(module->getContext()), code_(module, checked), b_(code_.b()) {}

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

    auto* function =
        llvm::Function::Create(llvm::FunctionType::get(b_.getVoidTy(), {b_.getPtrTy(), b_.getPtrTy()}, false),
                               llvm::GlobalValue::ExternalLinkage, info.name + kEmulatedSuffix, module_);
    auto* entry = llvm::BasicBlock::Create(context_, "arguments", function);
    code_.Begin(&info, function->getArg(1));
    b_.SetInsertPoint(entry);
    llvm::ValueToValueMapTy values;
    for (llvm::Argument& argument : kernel->args()) {
      values[&argument] = b_.CreateLoad(
          argument.getType(), b_.CreateConstInBoundsGEP1_64(b_.getInt64Ty(), function->getArg(0), argument.getArgNo()));
    }
    shared_base_ = code_.Field(kSharedOffset, b_.getPtrTy());
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
      HILO_ASSIGN_OR_RETURN(const bool replaced, ReplaceCall(&code_, instruction));
      if (!replaced) code_.Check(instruction);
    }
    code_.Begin(nullptr, nullptr);
    return info;
  }

  // A function that is not inlined: arithmetic alone, as libdevice's slow paths.
  absl::Status Helper(llvm::Function* function) {
    code_.Begin(nullptr, nullptr);
    std::vector<llvm::Instruction*> work;
    for (llvm::Instruction& instruction : llvm::instructions(function)) work.push_back(&instruction);
    for (llvm::Instruction* instruction : work) {
      b_.SetInsertPoint(instruction);
      if (ReplaceConversion(instruction)) continue;
      HILO_RETURN_IF_ERROR(ReplaceCall(&code_, instruction).status());
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
    Value* address = b_.CreatePtrToInt(code_.Generic(cast->getPointerOperand()), b_.getInt64Ty());
    Value* offset = b_.CreateSub(address, b_.CreatePtrToInt(shared_base_, b_.getInt64Ty()));
    instruction->replaceAllUsesWith(b_.CreateZExtOrTrunc(offset, instruction->getType()));
    instruction->eraseFromParent();
    return true;
  }

  llvm::Module& module_;
  llvm::LLVMContext& context_;
  KernelCode code_;
  llvm::IRBuilder<>& b_;
  std::vector<llvm::GlobalVariable*> shared_;
  // State of the current kernel.
  std::vector<std::pair<const llvm::GlobalVariable*, int64_t>> placed_;
  int64_t shared_bytes_ = 0;
  Value* shared_base_ = nullptr;
};

}  // namespace

absl::StatusOr<std::vector<EmulatedKernelInfo>> TransformKernels(codegen::HostModule* module, bool checked) {
  return Transform(module->module.get(), checked).Run();
}

}  // namespace hilo::gpu
