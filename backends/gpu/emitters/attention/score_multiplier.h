// Products whose left side is the lines of a warp: of scores, and of what is computed from these, element by element.
//
// A warp has 16 lines. Fragments of results are those of tensor cores (tensor_core.h): a lane has columns c and c + 1
// of two lines, eight apart. Multiplications are of 16 lines by 16 positions of a strip, 16 elements deep. What a lane
// has of results 16 columns wide becomes factors without leaving the lanes that share a line.
//
// Factors of 16 bits are multiplied by tensor cores, those of F32 by tensor cores as tf32, or by the lanes. tf32 has
// eight elements of depth: of lane l, number 2 (l % 4) and the next one stand for l % 4 and l % 4 + 4, on both sides.
#ifndef HILO_BACKENDS_GPU_EMITTERS_ATTENTION_SCORE_MULTIPLIER_H_
#define HILO_BACKENDS_GPU_EMITTERS_ATTENTION_SCORE_MULTIPLIER_H_

#include <array>
#include <cstdint>

#include "absl/types/span.h"
#include "backends/gpu/emitters/kernel_emitter.h"
#include "backends/gpu/emitters/products/strip_loader.h"
#include "backends/gpu/emitters/products/tensor_core.h"

namespace hilo::gpu {

class ScoreMultiplier {
 public:
  static constexpr int64_t kLines = TensorCore::kRows, kColumns = TensorCore::kColumns, kOwn = TensorCore::kOwn;
  static constexpr int64_t kPiece = 2 * kColumns;  // positions, and depth, of a multiplication
  static constexpr int64_t kOwnLines = 2;          // of a lane
  static constexpr int kLineLanes = 4;             // that share a line
  // What a lane has of 16 x 8 elements: two of each of its lines, or anything else of its lines.
  using Fragment = std::array<llvm::Value*, kOwn>;
  using OwnLines = std::array<llvm::Value*, kOwnLines>;
  // What a lane has of 16 x kPiece elements of type `type`.
  using Piece = std::array<std::array<codegen::ElementValue, kOwn>, 2>;

  // `type`: of the factors, BF16, F16 or F32. Sums are F32. `by_threads`: not by tensor cores, if the type is F32.
  // `rounds_strips`: strips have all bits of F32, and are rounded as they are read.
  ScoreMultiplier(KernelEmitter& k, PrimitiveType type, bool by_threads = false, bool rounds_strips = false)
      : k_(k), b_(k.b()), type_(type), by_threads_(by_threads), rounds_strips_(rounds_strips), core_(k, type) {}

  bool by_threads() const { return by_threads_; }
  llvm::Value* lane() const { return core_.lane(); }
  // The lane's first line of a warp's, and its first column of a fragment.
  llvm::Value* line() { return core_.row(); }
  llvm::Value* column() { return core_.column(); }

  StripLayout LayoutOf(int64_t positions, int64_t strip, bool depth_is_minor) const;
  StripLoader::ToCells ToCells() {
    return [this](const codegen::ElementValue& element) { return CellsOf(element); };
  }

  // Returns the lane's factors of a piece: of what is in registers, or of the block's lines from `first` on in shared
  // memory, from depth `depth` on.
  codegen::Carried FactorsOf(const Piece& piece);
  codegen::Carried Load(const Strip& lines, llvm::Value* first, int64_t depth);
  // Adds the products of each of `factors` and the strip's elements from `position` and `depth` on to two fragments.
  void Multiply(absl::Span<const codegen::Carried> factors, const Strip& strip, int64_t position, int64_t depth,
                Fragment* sums);

 private:
  llvm::Value* Int(int64_t value) { return b_.getInt64(static_cast<uint64_t>(value)); }
  llvm::Value* Plus(llvm::Value* x, int64_t y) { return b_.CreateAdd(x, Int(y), "", true, true); }
  llvm::Value* ToTf32(llvm::Value* x);
  codegen::Carried CellsOf(const codegen::ElementValue& element);
  llvm::Value* Word(const codegen::ElementValue& low, const codegen::ElementValue& high);
  llvm::Value* Bits(llvm::Value* x) { return b_.CreateBitCast(x, b_.getInt32Ty()); }
  // Reads `count` cells that are adjacent along the depth, or else along the positions.
  codegen::Carried Read(const Strip& strip, llvm::Value* position, llvm::Value* depth, bool along_depth, int64_t count);
  codegen::Carried Gather(const Piece& piece);
  void MultiplyTf32(absl::Span<const codegen::Carried> factors, const Strip& strip, int64_t position, int64_t depth,
                    Fragment* sums);
  void MultiplyByThreads(absl::Span<const codegen::Carried> factors, const Strip& strip, int64_t position,
                         int64_t depth, Fragment* sums);

  KernelEmitter& k_;
  llvm::IRBuilder<>& b_;
  const PrimitiveType type_;
  const bool by_threads_, rounds_strips_;
  TensorCore core_;
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMITTERS_ATTENTION_SCORE_MULTIPLIER_H_
