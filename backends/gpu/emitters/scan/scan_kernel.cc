#include "backends/gpu/emitters/scan/scan_kernel.h"

#include <algorithm>

#include "backends/gpu/emitters/scan/look_back.h"
#include "base/math.h"

namespace hilo::gpu {
namespace {

using codegen::Carried;
using codegen::Index;
using codegen::LaneIndex;

// A word has 32 bits of a value below its state, which is 0 or 1.
constexpr int64_t kWordBytes = 8, kWordBits = 32, kCounterBytes = 256;

int64_t WordsOf(const PrefixScan& s) {
  int64_t words = 0;
  for (PrimitiveType type : s.types) words += std::max<int64_t>(1, 8 * PrimitiveTypeByteSize(type) / kWordBits);
  return words;
}

}  // namespace

int64_t ScanKernel::SharedBytes(const PrefixScan& s, int64_t lines, int64_t parts) {
  return kCounterBytes + lines * (parts + CeilDiv(parts, kGroupParts)) * WordsOf(s) * kWordBytes;
}

llvm::Value* ScanKernel::WordAt(llvm::Value* number, int64_t word) {
  llvm::Value* at = b_.CreateAdd(b_.CreateMul(number, Int(WordsOf(s_))), Int(kCounterBytes / kWordBytes + word));
  return b_.CreateInBoundsGEP(b_.getInt64Ty(), k_.extra(0), at);
}

void ScanKernel::StoreTotal(llvm::Value* number, const Elements& total) {
  int64_t word = 0;
  for (llvm::Value* part : codegen::Pack(total)) {
    const auto bits = static_cast<unsigned>(part->getType()->getPrimitiveSizeInBits());
    llvm::Value* whole = b_.CreateZExt(b_.CreateBitCast(part, b_.getIntNTy(bits)), b_.getInt64Ty());
    for (unsigned low = 0; low < bits; low += kWordBits) {
      llvm::Value* piece = b_.CreateAnd(b_.CreateLShr(whole, low), b_.getInt64(~uint32_t{0}));
      StoreWord(k_, b_.CreateOr(piece, b_.getInt64(uint64_t{1} << kWordBits)), WordAt(number, word++));
    }
  }
}

std::vector<Elements> ScanKernel::AwaitTotals(absl::Span<llvm::Value* const> numbers, const Elements& like) {
  std::vector<llvm::Value*> pointers;
  for (llvm::Value* number : numbers) {
    for (int64_t word = 0; word < WordsOf(s_); ++word) pointers.push_back(WordAt(number, word));
  }
  const std::vector<llvm::Value*> words = AwaitWords(k_, b_.getInt64Ty(), pointers, [&](llvm::Value* at) {
    return b_.CreateICmpNE(b_.CreateLShr(at, kWordBits), Int(0));
  });
  std::vector<Elements> totals;
  size_t next = 0;
  for (size_t i = 0; i < numbers.size(); ++i) {
    Carried total;
    for (llvm::Value* part : codegen::Pack(like)) {
      const auto bits = static_cast<unsigned>(part->getType()->getPrimitiveSizeInBits());
      llvm::Value* whole = b_.getInt64(0);
      for (unsigned low = 0; low < bits; low += kWordBits)
        whole = b_.CreateOr(whole, b_.CreateShl(b_.CreateAnd(words[next++], b_.getInt64(~uint32_t{0})), low));
      total.push_back(b_.CreateBitCast(b_.CreateTrunc(whole, b_.getIntNTy(bits)), part->getType()));
    }
    totals.push_back(codegen::Unpack(total, s_.types));
  }
  return totals;
}

LaneIndex ScanKernel::Position(const LaneIndex& step) {
  return s_.from_back ? step.MulConstant(k_.context(), -1).AddConstant(s_.size - 1).WithRange({0, s_.size - 1}) : step;
}

absl::StatusOr<Elements> ScanKernel::Input(const Index& index) {
  return codegen::ElementsOf(k_.elements(), *s_.hero, index);
}

absl::StatusOr<Elements> ScanKernel::Inits() { return codegen::InitsOf(k_.elements(), *s_.hero); }

void ScanKernel::Output(const Index& index, const Elements& values) {
  for (int64_t i = 0; i < s_.count; ++i) k_.ArrayOf(s_.instruction, i).Store(k_.context(), index, values[i]);
}

absl::StatusOr<Elements> ScanKernel::Combine(const Elements& a, const Elements& b) {
  return codegen::Combine(k_.context(), s_.computation(), a, b);
}

Elements ScanKernel::Select(llvm::Value* condition, const Elements& a, const Elements& c) {
  const Carried x = codegen::Pack(a), y = codegen::Pack(c);
  Carried chosen;
  for (size_t i = 0; i < x.size(); ++i) chosen.push_back(b_.CreateSelect(condition, x[i], y[i]));
  return codegen::Unpack(chosen, s_.types);
}

Carried ScanKernel::Zeros(const Carried& like) {
  Carried zeros;
  for (llvm::Value* part : like) zeros.push_back(llvm::Constant::getNullValue(part->getType()));
  return zeros;
}

Elements ScanKernel::LoadCellsAt(const Carried& cells, llvm::Value* at, const Carried& like) {
  Carried loaded;
  for (size_t i = 0; i < cells.size(); ++i) loaded.push_back(k_.LoadCell(cells[i], at, like[i]->getType()));
  return codegen::Unpack(loaded, s_.types);
}

void ScanKernel::StoreCellsAt(const Carried& cells, llvm::Value* at, const Elements& values) {
  const Carried packed = codegen::Pack(values);
  for (size_t i = 0; i < packed.size(); ++i) k_.StoreCell(cells[i], at, packed[i]);
}

}  // namespace hilo::gpu
