// Atomic scatters into few elements, such as histograms: threads that update the same element of the result wait for
// each other, the more the fewer there are.
//
// A block has all elements in its shared memory, and applies a part of the updates to them; then it applies what has
// become of each to the result. Lanes of a warp that update the same element would still wait for each other: the
// elements are there several times, adjacent, and a lane updates those of its number. Words in shared memory are
// integers, which the machine updates there: of sums of whole numbers that are floats these numbers, of extrema of
// floats their keys, which have the floats' order.
#include <cstdint>
#include <optional>
#include <vector>

#include "backends/gpu/emitters/program_emitter.h"
#include "backends/gpu/emitters/scatter/scatter_kernel.h"
#include "backends/gpu/match/launch_sizes.h"
#include "base/math.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/reduction_op.h"
#include "hlo/ir/kernel_config.h"
#include "hlo/ops/table/opcode_map.h"
#include "llvm/IR/Intrinsics.h"

namespace hilo::gpu {
namespace {

using codegen::Index;
using codegen::LaneIndex;

using BinOp = llvm::AtomicRMWInst::BinOp;
constexpr OpcodeMap<std::optional<BinOp>> kSignedAtomics = {
    {HloOpcode::kAdd, BinOp::Add}, {HloOpcode::kAnd, BinOp::And},     {HloOpcode::kMaximum, BinOp::Max},
    {HloOpcode::kOr, BinOp::Or},   {HloOpcode::kMinimum, BinOp::Min}, {HloOpcode::kXor, BinOp::Xor},
};
constexpr OpcodeMap<std::optional<BinOp>> kUnsignedAtomics = {
    {HloOpcode::kAdd, BinOp::Add}, {HloOpcode::kAnd, BinOp::And},      {HloOpcode::kMaximum, BinOp::UMax},
    {HloOpcode::kOr, BinOp::Or},   {HloOpcode::kMinimum, BinOp::UMin}, {HloOpcode::kXor, BinOp::Xor},
};

// Updates of a thread that are read before the first is applied.
constexpr int64_t kAtATime = 4;
constexpr uint32_t kSign = uint32_t{1} << 31;

// What an operation leaves unchanged.
uint32_t NeutralWord(BinOp operation) {
  switch (operation) {
    case BinOp::And:
    case BinOp::UMin: return UINT32_MAX;
    case BinOp::Max: return kSign;
    case BinOp::Min: return ~kSign;
    default: return 0;
  }
}

// What words in shared memory stand for.
enum class Words { kThemselves, kWholeNumbers, kOrderKeys };

Words WordsOf(const Scatter& s) {
  if (!IsFloatingPointType(s.operand.element_type())) return Words::kThemselves;
  return IsSumOfWholeNumbers(s) ? Words::kWholeNumbers : Words::kOrderKeys;
}

BinOp WordOperation(const Scatter& s) {
  switch (WordsOf(s)) {
    case Words::kThemselves: return MachineOperation(s);
    case Words::kWholeNumbers: return BinOp::Add;
    case Words::kOrderKeys: break;
  }
  return ReductionOp(s.computation()) == HloOpcode::kMaximum ? BinOp::UMax : BinOp::UMin;
}

class PartsKernel {
 public:
  PartsKernel(KernelEmitter& k, const Scatter& s)
      : k_(k),
        b_(k.b()),
        s_(s),
        kernel_(k, s),
        block_(s.instruction->kernel()->tile[0]),
        copies_(s.instruction->kernel()->tile[1]),
        elements_(ShapeUtil::ElementsIn(s.operand)),
        words_(WordsOf(s)),
        operation_(WordOperation(s)),
        neutral_(b_.getInt32(NeutralWord(operation_))),
        thread_(k.Thread()) {}

  absl::Status Emit() {
    cells_ = k_.Shared(b_.getInt32Ty(), elements_ * copies_, "cells");
    HILO_RETURN_IF_ERROR(k_.ForEach("clear", thread_, Int(elements_ * copies_), block_, [&](llvm::Value* cell) {
      k_.StoreCell(cells_, cell, neutral_);
      return absl::OkStatus();
    }));
    k_.Barrier();
    // Whole blocks of updates, so that threads read along the lines of the memory.
    const int64_t updates = ShapeUtil::ElementsIn(s_.updates),
                  of_block = CeilDiv(CeilDiv(updates, s_.instruction->kernel()->parts), block_) * block_;
    llvm::Value* begin = b_.CreateMul(k_.Block(), Int(of_block), "", true, true);
    llvm::Value* end =
        b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, b_.CreateAdd(begin, Int(of_block)), Int(updates));
    HILO_RETURN_IF_ERROR(k_.ForEach("updates", begin, end, kAtATime * block_, [&](llvm::Value* first) {
      return Apply(b_.CreateAdd(first, thread_, "", true, true), end);
    }));
    k_.Barrier();
    return k_.ForEach("results", thread_, Int(elements_), block_,
                      [&](llvm::Value* element) { return Finish(element); });
  }

 private:
  struct Update {
    llvm::Value* exists;
    llvm::Value* cell;
    llvm::Value* value;
  };

  llvm::Value* Int(int64_t value) { return b_.getInt64(static_cast<uint64_t>(value)); }

  // Applies the updates `first`, and every block-th up to `end`.
  absl::Status Apply(llvm::Value* first, llvm::Value* end) {
    std::vector<Update> updates;
    for (int64_t i = 0; i < kAtATime; ++i) {
      HILO_ASSIGN_OR_RETURN(updates.emplace_back(),
                            UpdateAt(b_.CreateAdd(first, Int(i * block_), "", true, true), end));
    }
    for (const Update& update : updates) {
      HILO_RETURN_IF_ERROR(k_.If("exists", update.exists, [&] {
        b_.CreateAtomicRMW(operation_, b_.CreateInBoundsGEP(b_.getInt32Ty(), cells_, update.cell), update.value,
                           llvm::MaybeAlign(4), llvm::AtomicOrdering::Monotonic);
        return absl::OkStatus();
      }));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Update> UpdateAt(llvm::Value* number, llvm::Value* end) {
    const std::vector<int64_t> batch_sizes = s_.BatchSizes(), window_sizes = s_.WindowSizes();
    std::vector<int64_t> sizes = batch_sizes;
    sizes.insert(sizes.end(), window_sizes.begin(), window_sizes.end());
    llvm::Value* is_there = b_.CreateICmpULT(number, end);
    const std::vector<LaneIndex> at =
        k_.Delinearize(b_.CreateSelect(is_there, number, b_.CreateSub(end, Int(1))), sizes);
    const auto window_begin = at.begin() + static_cast<int64_t>(batch_sizes.size());
    const std::vector<LaneIndex> batch(at.begin(), window_begin), window(window_begin, at.end());
    HILO_ASSIGN_OR_RETURN(const std::vector<llvm::Value*> origin, kernel_.OriginOf(batch));
    HILO_ASSIGN_OR_RETURN(const Elements updates, kernel_.UpdatesAt(batch, window));
    llvm::Value* element =
        Index(kernel_.PositionOf(origin, window)).Linear(k_.context(), s_.operand.dimensions()).Base(k_.context());
    llvm::Value* own = b_.CreateAnd(thread_, Int(copies_ - 1));
    return Update{.exists = b_.CreateAnd(is_there, kernel_.IsInside(origin)),
                  .cell = b_.CreateAdd(b_.CreateMul(element, Int(copies_)), own),
                  .value = WordOf(updates[0].re)};
  }

  // Applies what the block has of an element to the result. Threads begin with different copies, in different banks.
  absl::Status Finish(llvm::Value* element) {
    llvm::Value *first = b_.CreateMul(element, Int(copies_), "", true, true), *word = neutral_;
    for (int64_t copy = 0; copy < copies_; ++copy) {
      llvm::Value* own = b_.CreateAnd(b_.CreateAdd(thread_, Int(copy)), Int(copies_ - 1));
      word = Combined(word, k_.LoadCell(cells_, b_.CreateAdd(first, own, "", true, true), b_.getInt32Ty()));
    }
    return k_.If("changes", b_.CreateICmpNE(word, neutral_), [&] {
      const Index position = Index::FromLinear(LaneIndex::Uniform(element, 1, elements_), s_.operand.dimensions());
      if (words_ == Words::kOrderKeys) return kernel_.ApplyByExchange(position, {FloatOf(word)});
      llvm::Type* type = codegen::RegisterType(b_.getContext(), s_.operand.element_type());
      return kernel_.ApplyAtomically(MachineOperation(s_), position,
                                     {words_ == Words::kWholeNumbers ? b_.CreateSIToFP(word, type) : word});
    });
  }

  llvm::Value* WordOf(llvm::Value* value) {
    if (words_ == Words::kThemselves) return value;
    if (words_ == Words::kWholeNumbers) return b_.CreateFPToSI(value, b_.getInt32Ty());
    // NaN, of the sign with which it is the result whatever else there is.
    llvm::Value* nan = llvm::ConstantFP::getNaN(value->getType(), /*Negative=*/operation_ == BinOp::UMin);
    llvm::Value* bits = b_.CreateBitCast(b_.CreateSelect(b_.CreateFCmpUNO(value, value), nan, value), b_.getInt32Ty());
    return b_.CreateXor(bits, b_.CreateOr(b_.CreateAShr(bits, 31), b_.getInt32(kSign)));
  }

  // Returns the float of a key: negative ones have the complement of their bits.
  llvm::Value* FloatOf(llvm::Value* key) {
    llvm::Value* changed = b_.CreateOr(b_.CreateNot(b_.CreateAShr(key, 31)), b_.getInt32(kSign));
    return b_.CreateBitCast(b_.CreateXor(key, changed), b_.getFloatTy());
  }

  llvm::Value* Combined(llvm::Value* x, llvm::Value* y) {
    switch (operation_) {
      case BinOp::And: return b_.CreateAnd(x, y);
      case BinOp::Or: return b_.CreateOr(x, y);
      case BinOp::Xor: return b_.CreateXor(x, y);
      case BinOp::Max: return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, x, y);
      case BinOp::Min: return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, x, y);
      case BinOp::UMax: return b_.CreateBinaryIntrinsic(llvm::Intrinsic::umax, x, y);
      case BinOp::UMin: return b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, x, y);
      default: return b_.CreateAdd(x, y);
    }
  }

  KernelEmitter& k_;
  llvm::IRBuilder<>& b_;
  const Scatter& s_;
  ScatterKernel kernel_;
  const int64_t block_, copies_, elements_;
  const Words words_;
  const BinOp operation_;
  llvm::Value* const neutral_;
  llvm::Value* const thread_;
  llvm::Value* cells_ = nullptr;
};

}  // namespace

BinOp MachineOperation(const Scatter& s) {
  const PrimitiveType type = s.operand.element_type();
  if (IsFloatingPointType(type)) return BinOp::FAdd;
  return (IsSignedIntegralType(type) ? kSignedAtomics : kUnsignedAtomics)[*AtomicOperation(s)].value_or(BinOp::Add);
}

absl::Status EmitScatterParts(ProgramEmitter& program, const Scatter& s) {
  KernelEmitter k(&program, s.instruction);
  HILO_RETURN_IF_ERROR(PartsKernel(k, s).Emit());
  const KernelConfig& config = *s.instruction->kernel();
  return k.FinishAndLaunch(s.instruction, config.parts, static_cast<int>(config.tile[0]));
}

}  // namespace hilo::gpu
