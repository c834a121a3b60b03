#include "backends/gpu/emulated/kernel_calls.h"

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "backends/gpu/emulated/device_math.h"
#include "backends/gpu/emulated/group_assembly.h"
#include "backends/gpu/emulated/group_multiply.h"
#include "backends/gpu/emulated/thread_context.h"
#include "backends/llvm/llvm_compat.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "llvm/IR/InlineAsm.h"

namespace hilo::gpu {
namespace {

using codegen::ToStringView;
using llvm::Value;

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

class CallReplacement {
 public:
  explicit CallReplacement(KernelCode* code) : code_(*code), b_(code->b()) {}

  absl::StatusOr<bool> Replace(llvm::Instruction* instruction) {
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

 private:
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
      code_.Check(load);
      return load;
    }
    if (absl::StartsWith(name, "cp.async.")) return Copy(call, name);
    if (name == "barrier0" || absl::StartsWith(name, "barrier.cta.sync")) {
      HILO_RETURN_IF_ERROR(code_.NeedsThread(name));
      code_.Call(kBarrierFunction, b_.getVoidTy(), {code_.thread(), code_.NextSite()});
      return nullptr;
    }
    if (name == "nanosleep") {
      HILO_RETURN_IF_ERROR(code_.NeedsThread(name));
      code_.info().waits_for_blocks = true;
      code_.Call(kPollFunction, b_.getVoidTy(), {code_.thread()});
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
    return b_.CreateCall(code_.module().getOrInsertFunction(function, call->getFunctionType()), arguments);
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
    HILO_RETURN_IF_ERROR(code_.NeedsThread(name));
    return code_.Call(
        kWarpFunction, b_.getInt32Ty(),
        {code_.thread(), b_.getInt32(static_cast<uint32_t>(operation)), mask, value, operand, clamp, code_.NextSite()});
  }

  // Registers go to memory of the thread, and results come from there.
  absl::StatusOr<Value*> Matrix(llvm::CallInst* call, absl::string_view name, WarpOperation operation) {
    HILO_RETURN_IF_ERROR(code_.NeedsThread(name));
    Value* words = code_.WarpWords(call);
    const auto word = [&](unsigned i) { return b_.CreateConstInBoundsGEP1_64(b_.getInt32Ty(), words, i); };
    for (unsigned i = 0; i < call->arg_size(); ++i) {
      Value* argument = call->getArgOperand(i);
      if (argument->getType()->isPointerTy()) {
        argument = code_.CheckedMatrixLine(code_.Generic(argument));
        b_.CreateAlignedStore(argument, word(i), llvm::Align(4));
      } else {
        b_.CreateStore(argument, word(i));
      }
    }
    code_.Call(kMatrixFunction, b_.getVoidTy(),
               {code_.thread(), b_.getInt32(static_cast<uint32_t>(operation)), words, code_.NextSite()});
    auto* types = llvm::cast<llvm::StructType>(call->getType());
    return ResultsOf(call, [&](unsigned i) { return b_.CreateLoad(types->getElementType(i), word(i)); });
  }

  // llvm.nvvm.cp.async.{ca,cg}.shared.global.BYTES[.s], where `.s` has the bytes that are read, and waiting for copies.
  absl::StatusOr<Value*> Copy(llvm::CallInst* call, absl::string_view name) {
    HILO_RETURN_IF_ERROR(code_.NeedsThread(name));
    if (name == "cp.async.commit.group") {
      code_.Call(kCopyCommitFunction, b_.getVoidTy(), {code_.thread()});
      return nullptr;
    }
    if (name == "cp.async.wait.group" || name == "cp.async.wait.all") {
      Value* rest = call->arg_empty() ? b_.getInt32(~0u) : call->getArgOperand(0);
      code_.Call(kCopyWaitFunction, b_.getVoidTy(), {code_.thread(), rest});
      return nullptr;
    }
    absl::string_view text = name;
    const bool has_size = absl::ConsumeSuffix(&text, ".s");
    for (const absl::string_view prefix : {"cp.async.ca.shared.global.", "cp.async.cg.shared.global."}) {
      uint32_t bytes = 0;
      if (!absl::ConsumePrefix(&text, prefix) || !absl::SimpleAtoi(text, &bytes)) continue;
      Value* size = b_.getInt32(bytes);
      Value* site = code_.NextSite();
      code_.NextSite();
      code_.Call(kCopyFunction, b_.getVoidTy(),
                 {code_.thread(), code_.Generic(call->getArgOperand(0)), code_.Generic(call->getArgOperand(1)), size,
                  has_size ? call->getArgOperand(2) : size, site});
      return nullptr;
    }
    return Unimplemented("the emulated device has no llvm.nvvm.", name);
  }

  absl::StatusOr<Value*> Register(absl::string_view name) {
    if (name == "warpsize") return b_.getInt32(32);
    if (code_.thread() == nullptr)
      return Unimplemented("llvm.nvvm.read.ptx.sreg.", name, " in a function that is not inlined");
    if (name == "laneid") return code_.Field(kLaneOffset, b_.getInt32Ty());
    for (const auto& [prefix, offset] : kSpecialRegisters) {
      if (absl::StartsWith(name, prefix) && name.size() == prefix.size() + 1)
        return code_.Field(offset + 4 * (name.back() - 'x'), b_.getInt32Ty());
    }
    return Unimplemented("the emulated device has no llvm.nvvm.read.ptx.sreg.", name);
  }

  // libdevice's few inline assembly templates, recognized by their distinctive parts. Pairs of words carry.
  absl::StatusOr<Value*> Assembly(llvm::CallInst* call, llvm::StringRef text) {
    const auto operand = [&](unsigned i) { return call->getArgOperand(i); };
    const auto function = [&](const char* name) -> Value* {
      const llvm::SmallVector<Value*, 3> arguments(call->args());
      return b_.CreateCall(code_.module().getOrInsertFunction(name, call->getFunctionType()), arguments);
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
    HILO_RETURN_IF_ERROR(code_.NeedsThread(ToStringView(text)));
    if (text.starts_with("fence.proxy.async")) {
      code_.Call(kProxyFenceFunction, b_.getVoidTy(), {code_.thread()});
      return nullptr;
    }
    if (IsGroupMultiplication(text)) return MultiplyByGroup(call, text);
    const std::optional<GroupStepAssembly> step = GroupStepOf(text);
    if (!step.has_value()) return Unimplemented("the emulated device has no assembly \"", ToStringView(text), "\"");
    code_.Call(kGroupStepFunction, b_.getVoidTy(),
               {code_.thread(), b_.getInt32(static_cast<uint32_t>(step->step)),
                b_.getInt32(static_cast<uint32_t>(step->pending)), code_.NextSite()});
    if (call->getType()->isVoidTy()) return nullptr;
    return ResultsOf(call, [&](unsigned i) { return call->getArgOperand(i); });
  }

  absl::StatusOr<Value*> MultiplyByGroup(llvm::CallInst* call, llvm::StringRef text) {
    HILO_ASSIGN_OR_RETURN(const GroupMultiplication multiplication, GroupMultiplication::Parse(ToStringView(text)));
    const unsigned sums = static_cast<unsigned>(multiplication.sums());
    if (call->arg_size() != sums + 2)
      return InvalidArgument(ToStringView(text), ": expected ", sums + 2, " operands, got ", call->arg_size());
    Value* words = code_.GroupWords(call);
    const auto word = [&](unsigned i) { return b_.CreateConstInBoundsGEP1_64(b_.getInt32Ty(), words, i); };
    for (unsigned i = 0; i < 2; ++i) b_.CreateAlignedStore(call->getArgOperand(i), word(2 * i), llvm::Align(4));
    for (unsigned i = 0; i < sums; ++i) b_.CreateStore(call->getArgOperand(i + 2), word(kDescriptorWords + i));
    code_.Call(kGroupMultiplyFunction, b_.getVoidTy(),
               {code_.thread(), b_.getInt32(multiplication.Encode()), words, code_.NextSite()});
    return ResultsOf(call, [&](unsigned i) {
      return b_.CreateLoad(call->getArgOperand(i + 2)->getType(), word(kDescriptorWords + i));
    });
  }

  absl::StatusOr<Value*> AtSharedBarrier(llvm::CallInst* call, BarrierStep step) {
    HILO_RETURN_IF_ERROR(code_.NeedsThread("mbarrier"));
    Value* value = call->arg_size() > 1 ? call->getArgOperand(1) : b_.getInt32(0);
    code_.Call(
        kSharedBarrierFunction, b_.getVoidTy(),
        {code_.thread(), b_.getInt32(static_cast<uint32_t>(step)), call->getArgOperand(0), value, code_.NextSite()});
    return nullptr;
  }

  // Operands: where to, the tensor, coordinates, the barrier.
  absl::StatusOr<Value*> CopyTensor(llvm::CallInst* call, int64_t dimensions) {
    HILO_RETURN_IF_ERROR(code_.NeedsThread("cp.async.bulk.tensor"));
    const auto count = static_cast<unsigned>(dimensions);
    if (call->arg_size() != count + 3)
      return InvalidArgument("cp.async.bulk.tensor: expected ", count + 3, " operands, got ", call->arg_size());
    Value* words = code_.WarpWords(call);
    for (unsigned i = 0; i < count; ++i)
      b_.CreateStore(call->getArgOperand(2 + i), b_.CreateConstInBoundsGEP1_64(b_.getInt32Ty(), words, i));
    Value* map = call->getArgOperand(1);
    if (!map->getType()->isPointerTy()) map = b_.CreateIntToPtr(map, b_.getPtrTy());
    code_.Call(kTensorCopyFunction, b_.getVoidTy(),
               {code_.thread(), call->getArgOperand(0), code_.Generic(map), words, call->getArgOperand(2 + count),
                code_.NextSite()});
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

  KernelCode& code_;
  llvm::IRBuilder<>& b_;
};

}  // namespace

absl::StatusOr<bool> ReplaceCall(KernelCode* code, llvm::Instruction* instruction) {
  return CallReplacement(code).Replace(instruction);
}

}  // namespace hilo::gpu
