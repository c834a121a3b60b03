// Attention whose keys are divided into parts: few rows would leave most of the device idle. Each block has computed
// rows of one part; what is here scales them to the maximum of all parts and adds them up, in the order of the parts:
//
//   m = max(m[p]),  o = sum(exp(m[p] - m) * o[p]) / sum(exp(m[p] - m) * s[p])
//
// The sink of a row, if it has one, is a part of which only the maximum and the sum count.
// A thread has one feature of a row. The parts of a row are adjacent, and the features of a part.
#include <limits>

#include "backends/gpu/emitters/attention/attention_rows.h"
#include "backends/llvm/elements/predication.h"
#include "base/math.h"
#include "hilo/status_macros.h"

namespace hilo::gpu {
namespace {

using codegen::Carried;

// Small, as there are few rows.
constexpr int kBlock = 128;
constexpr int64_t kCellBytes = 4;

class AttentionMerge : AttentionRows {
 public:
  AttentionMerge(KernelEmitter& k, const HloInstruction* instruction, const Attention& attention,
                 const PartialRows& partial)
      : AttentionRows(k, instruction, attention), partial_(partial) {}

  int64_t threads() const { return batches() * rows_ * features_; }

  absl::Status Emit() {
    llvm::Value* thread = k_.GlobalThread(kBlock);
    return k_.If("inside", b_.CreateICmpULT(thread, Int(threads())), [&] { return Merge(thread); });
  }

 private:
  absl::Status Merge(llvm::Value* thread) {
    llvm::Value *row = b_.CreateUDiv(thread, Int(features_)), *feature = b_.CreateURem(thread, Int(features_));
    const auto over_parts = [&](Carried start, auto step) {
      return codegen::EmitLoop(k_.context(), "parts", Int(0), Int(parts_), 1, std::move(start), step);
    };
    llvm::Value* lowest = Float(-std::numeric_limits<double>::infinity());
    const std::vector<codegen::LaneIndex> logits =
        LogitsOf(b_.CreateUDiv(row, Int(rows_)), b_.CreateURem(row, Int(rows_)));
    HILO_ASSIGN_OR_RETURN(llvm::Value * sink, SinkOf(logits));
    const auto larger = [&](llvm::Value* part, const Carried& carried) -> absl::StatusOr<Carried> {
      llvm::Value* own = partial_.Maximum(k_, row, part);
      return Carried{codegen::EmitBinaryIntrinsic(b_, llvm::Intrinsic::maxnum, carried[0], own)};
    };
    HILO_ASSIGN_OR_RETURN(const Carried maximum, over_parts({sink}, larger));
    // A row of -inf alone has exponentials of 0.
    llvm::Value* from = b_.CreateSelect(b_.CreateFCmpOEQ(maximum[0], lowest), Float(0), maximum[0]);
    const auto add = [&](llvm::Value* part, const Carried& carried) -> absl::StatusOr<Carried> {
      llvm::Value* scale = Exponential(b_.CreateFSub(partial_.Maximum(k_, row, part), from));
      const auto plus = [&](llvm::Value* sum, llvm::Value* x) { return b_.CreateFAdd(sum, b_.CreateFMul(x, scale)); };
      return Carried{plus(carried[0], partial_.Sum(k_, row, part)),
                     plus(carried[1], partial_.Result(k_, row, part, feature))};
    };
    llvm::Value* of_sink = attention_.sink == nullptr ? Float(0) : Exponential(b_.CreateFSub(sink, from));
    HILO_ASSIGN_OR_RETURN(const Carried sums, over_parts({of_sink, Float(0)}, add));
    return StoreResult(logits, k_.Delinearize(feature, sides_.values.free_sizes), b_.CreateFDiv(sums[1], sums[0]));
  }

  const PartialRows& partial_;
};

}  // namespace

PartialRows::PartialRows(ProgramEmitter& program, int64_t rows, int64_t parts, int64_t features)
    : parts_(parts), features_(features) {
  for (const int64_t in_row : {int64_t{1}, int64_t{1}, features}) {
    const int64_t bytes = rows * parts * in_row * kCellBytes;
    memory_.push_back(KernelArgument::Scratch(program.AllocateScratch(bytes), bytes, true));
  }
}

std::vector<KernelArgument> PartialRows::Arguments(bool written) const {
  std::vector<KernelArgument> arguments = memory_;
  for (KernelArgument& argument : arguments) argument.written = written;
  return arguments;
}

void PartialRows::Store(KernelEmitter& k, llvm::Value* row, llvm::Value* part, llvm::Value* maximum,
                        llvm::Value* sum) const {
  k.StoreCell(k.extra(0), CellOf(k, row, part), maximum);
  k.StoreCell(k.extra(1), CellOf(k, row, part), sum);
}

llvm::Value* PartialRows::Maximum(KernelEmitter& k, llvm::Value* row, llvm::Value* part) const {
  return k.LoadCell(k.extra(0), CellOf(k, row, part), k.b().getFloatTy());
}

llvm::Value* PartialRows::Sum(KernelEmitter& k, llvm::Value* row, llvm::Value* part) const {
  return k.LoadCell(k.extra(1), CellOf(k, row, part), k.b().getFloatTy());
}

void PartialRows::StorePair(KernelEmitter& k, llvm::Value* row, llvm::Value* part, llvm::Value* feature,
                            llvm::Value* first, llvm::Value* second) const {
  llvm::IRBuilder<>& b = k.b();
  llvm::Value* pair = llvm::PoisonValue::get(llvm::FixedVectorType::get(b.getFloatTy(), 2));
  pair = b.CreateInsertElement(pair, first, uint64_t{0});
  pair = b.CreateInsertElement(pair, second, uint64_t{1});
  llvm::Value* address = b.CreateInBoundsGEP(b.getFloatTy(), k.extra(2), CellOf(k, row, part, feature));
  b.CreateAlignedStore(pair, address, llvm::Align(2 * kCellBytes));
}

llvm::Value* PartialRows::Result(KernelEmitter& k, llvm::Value* row, llvm::Value* part, llvm::Value* feature) const {
  return k.LoadCell(k.extra(2), CellOf(k, row, part, feature), k.b().getFloatTy());
}

llvm::Value* PartialRows::CellOf(KernelEmitter& k, llvm::Value* row, llvm::Value* part) const {
  llvm::IRBuilder<>& b = k.b();
  llvm::Value* first = b.CreateMul(row, b.getInt64(static_cast<uint64_t>(parts_)), "", true, true);
  return b.CreateAdd(first, part, "", true, true);
}

llvm::Value* PartialRows::CellOf(KernelEmitter& k, llvm::Value* row, llvm::Value* part, llvm::Value* feature) const {
  llvm::IRBuilder<>& b = k.b();
  llvm::Value* first = b.CreateMul(CellOf(k, row, part), b.getInt64(static_cast<uint64_t>(features_)), "", true, true);
  return b.CreateAdd(first, feature, "", true, true);
}

absl::Status EmitAttentionParts(ProgramEmitter& program, const HloInstruction* instruction, const Attention& attention,
                                const PartialRows& parts) {
  KernelEmitter k(&program, instruction, parts.Arguments(/*written=*/false));
  AttentionMerge kernel(k, instruction, attention, parts);
  HILO_RETURN_IF_ERROR(kernel.Emit());
  return k.FinishAndLaunch(instruction, CeilDiv(kernel.threads(), kBlock), kBlock);
}

}  // namespace hilo::gpu
