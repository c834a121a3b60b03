#include "backends/gpu/emitters/products/tensor_core.h"

#include <bit>

#include "backends/llvm/elements/element_convert.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace hilo::gpu {
namespace {

using codegen::Carried;
using codegen::ElementValue;

constexpr int64_t kLineBytes = 16;

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

TensorCore::TensorCore(KernelEmitter& k, PrimitiveType type)
    : k_(k),
      b_(k.b()),
      type_(type),
      line_(kLineBytes / PrimitiveTypeByteSize(type)),
      lane_(b_.CreateURem(k.Thread(), Int(kWarp), "lane")) {}

llvm::Value* TensorCore::row() { return b_.CreateUDiv(lane_, Int(4)); }

llvm::Value* TensorCore::column() { return b_.CreateMul(b_.CreateURem(lane_, Int(4)), Int(2), "", true, true); }

StripLayout TensorCore::LayoutOf(int64_t positions, int64_t strip, bool depth_is_minor) const {
  const bool along_depth = depth_is_minor || line_ > 8;
  const int64_t cells = along_depth ? strip : positions;
  const bool is_permuted = std::has_single_bit(static_cast<uint64_t>(cells / line_));
  return {.cell = codegen::MemoryType(b_.getContext(), type_),
          .lines_are_positions = along_depth,
          .pitch = is_permuted ? cells : cells + line_,
          .permuted = is_permuted ? line_ : 0};
}

Carried TensorCore::ToCells(const ElementValue& element) {
  return {codegen::ToMemory(k_.context(), type_, element.re)};
}

Carried TensorCore::Load(const Strip& strip, llvm::Value* first, int64_t position, int64_t depth, bool depth_first) {
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
  return blocks;
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
