#include "backends/gpu/emitters/products/tensor_core.h"

#include <bit>
#include <utility>

#include "backends/llvm/elements/element_convert.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace hilo::gpu {
namespace {

using codegen::Carried;
using codegen::ElementValue;

constexpr int64_t kLineBytes = 16;
// Of f32 along the positions: those that the lanes read of one index of the depth, which four of them share, are in
// other banks than those of the next three.
constexpr int64_t kWordPositions = 8;

llvm::Intrinsic::ID MultiplyOf(PrimitiveType type) {
  switch (type) {
    case BF16: return llvm::Intrinsic::nvvm_mma_m16n8k16_row_col_bf16;
    case F16: return llvm::Intrinsic::nvvm_mma_m16n8k16_row_col_f32_f32;
    case F32: return llvm::Intrinsic::nvvm_mma_m16n8k8_row_col_tf32;
    case U8: return llvm::Intrinsic::nvvm_mma_m16n8k32_row_col_u8;
    default: return llvm::Intrinsic::nvvm_mma_m16n8k32_row_col_s8;
  }
}

}  // namespace

TensorCore::TensorCore(KernelEmitter& k, PrimitiveType type, bool rounds_as_read)
    : k_(k),
      b_(k.b()),
      type_(type),
      rounds_as_read_(rounds_as_read && type == F32),
      line_(kLineBytes / PrimitiveTypeByteSize(type)),
      lane_(b_.CreateURem(k.Thread(), Int(kWarp), "lane")) {}

llvm::Value* TensorCore::row() { return b_.CreateUDiv(lane_, Int(4)); }

llvm::Value* TensorCore::column() { return b_.CreateMul(b_.CreateURem(lane_, Int(4)), Int(2), "", true, true); }

StripLayout TensorCore::LayoutOf(int64_t positions, int64_t strip, bool depth_is_minor) const {
  const bool along_depth = depth_is_minor || line_ > 8;
  const int64_t cells = along_depth ? strip : positions;
  const int64_t together = type_ == F32 && !along_depth ? kWordPositions : line_;
  const bool is_permuted = std::has_single_bit(static_cast<uint64_t>(cells / together));
  return {.cell = codegen::MemoryType(b_.getContext(), type_),
          .lines_are_positions = along_depth,
          .pitch = is_permuted ? cells : cells + together,
          .permuted = is_permuted ? together : 0};
}

llvm::Value* TensorCore::ToTf32(llvm::Value* x) {
  return b_.CreateIntrinsic(b_.getInt32Ty(), llvm::Intrinsic::nvvm_f2tf32_rna, {x});
}

Carried TensorCore::ToCells(const ElementValue& element) {
  if (type_ == F32 && !rounds_as_read_) return {b_.CreateBitCast(ToTf32(element.re), b_.getFloatTy())};
  return {codegen::ToMemory(k_.context(), type_, element.re)};
}

Carried TensorCore::LoadWords(const Strip& strip, llvm::Value* position, int64_t depth, bool depth_first) {
  llvm::Value *own_position = b_.CreateAdd(position, row(), "", true, true),
              *own_depth = b_.CreateAdd(b_.CreateURem(lane_, Int(4)), Int(depth), "", true, true);
  Carried words;
  for (int64_t block = 0; block < 4; ++block) {
    const int64_t even = block % 2, upper = block / 2;
    llvm::Value* cell =
        strip.Cell(b_, b_.CreateAdd(own_position, Int((depth_first ? upper : even) * kColumns), "", true, true),
                   b_.CreateAdd(own_depth, Int((depth_first ? even : upper) * line_), "", true, true));
    words.push_back(b_.CreateBitCast(k_.LoadCell(strip.cells[0], cell, strip.layout.cell), b_.getInt32Ty()));
  }
  return words;
}

Carried TensorCore::Load(const Strip& strip, llvm::Value* first, int64_t position, int64_t depth, bool depth_first) {
  const auto rounded = [&](Carried words) {
    for (llvm::Value*& word : words) {
      if (rounds_as_read_) word = ToTf32(b_.CreateBitCast(word, b_.getFloatTy()));
    }
    return words;
  };
  if (type_ == F32 && !strip.layout.lines_are_positions)
    return rounded(LoadWords(strip, b_.CreateAdd(first, Int(position), "", true, true), depth, depth_first));
  llvm::Value *line = b_.CreateURem(lane_, Int(8)), *block = b_.CreateUDiv(lane_, Int(8));
  llvm::Value *even = b_.CreateURem(block, Int(2)), *upper = b_.CreateUDiv(block, Int(2));
  llvm::Value* in_positions = b_.CreateMul(depth_first ? upper : even, Int(8), "", true, true);
  llvm::Value* in_depth = b_.CreateMul(depth_first ? even : upper, Int(line_), "", true, true);
  const bool transposed = !strip.layout.lines_are_positions;
  (transposed ? in_depth : in_positions) = b_.CreateAdd(transposed ? in_depth : in_positions, line, "", true, true);
  llvm::Value* cell =
      strip.Cell(b_, b_.CreateAdd(b_.CreateAdd(first, in_positions, "", true, true), Int(position), "", true, true),
                 b_.CreateAdd(in_depth, Int(depth), "", true, true));
  llvm::Value* address = b_.CreateInBoundsGEP(strip.layout.cell, strip.cells[0], cell);
  llvm::CallInst* loaded = b_.CreateIntrinsic(transposed ? llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x4_trans_b16
                                                         : llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x4_b16,
                                              {address->getType()}, {address});
  loaded->setConvergent();
  Carried blocks;
  for (unsigned i = 0; i < 4; ++i) blocks.push_back(b_.CreateExtractValue(loaded, i));
  return rounded(std::move(blocks));
}

void TensorCore::Multiply(absl::Span<llvm::Value* const> x, absl::Span<llvm::Value* const> y, llvm::Value** sums) {
  Carried arguments;
  llvm::Type* pair = type_ == F16 ? llvm::FixedVectorType::get(b_.getHalfTy(), 2) : nullptr;
  for (const auto& fragment : {x, y}) {
    for (llvm::Value* word : fragment) arguments.push_back(pair == nullptr ? word : b_.CreateBitCast(word, pair));
  }
  arguments.insert(arguments.end(), sums, sums + kOwn);
  llvm::CallInst* product = b_.CreateIntrinsic(MultiplyOf(type_), {}, arguments);
  product->setConvergent();  // moved into a branch, some lanes would not take part
  for (unsigned i = 0; i < kOwn; ++i) sums[i] = b_.CreateExtractValue(product, i);
}

}  // namespace hilo::gpu
