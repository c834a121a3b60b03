// Products whose left side is the lines of a warp: of scores, and of what is computed from these, element by element.
//
// A warp has 16 lines. Fragments of results are those of tensor cores (tensor_core.h): a lane has columns c and c + 1
// of two lines, eight apart. Multiplications are of 16 lines by 16 positions of a strip, 16 elements deep. What a lane
// has of results 16 columns wide becomes factors without leaving it.
#ifndef HILO_BACKENDS_GPU_EMITTERS_SCORE_MULTIPLIER_H_
#define HILO_BACKENDS_GPU_EMITTERS_SCORE_MULTIPLIER_H_

#include <array>
#include <cstdint>

#include "absl/types/span.h"
#include "backends/gpu/emitters/kernel_emitter.h"
#include "backends/gpu/emitters/strip_loader.h"
#include "backends/gpu/emitters/tensor_core.h"

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

  // `type`: of the factors, BF16 or F16. Sums are F32.
  ScoreMultiplier(KernelEmitter& k, PrimitiveType type) : b_(k.b()), core_(k, type) {}

  llvm::Value* lane() const { return core_.lane(); }
  // The lane's first line of a warp's, and its first column of a fragment.
  llvm::Value* line() { return core_.row(); }
  llvm::Value* column() { return core_.column(); }

  StripLayout LayoutOf(int64_t positions, int64_t strip, bool depth_is_minor) const {
    return core_.LayoutOf(positions, strip, depth_is_minor);
  }
  StripLoader::ToCells ToCells() {
    return [this](const codegen::ElementValue& element) { return core_.ToCells(element); };
  }

  // Returns the lane's factors of a piece: of what is in registers, or of the block's lines from `first` on in shared
  // memory, from depth `depth` on.
  codegen::Carried FactorsOf(const Piece& piece);
  codegen::Carried Load(const Strip& lines, llvm::Value* first, int64_t depth) {
    return core_.Load(lines, first, 0, depth, /*depth_first=*/false);
  }
  // Adds the products of each of `factors` and the strip's elements from `position` and `depth` on to two fragments.
  void Multiply(absl::Span<const codegen::Carried> factors, const Strip& strip, int64_t position, int64_t depth,
                Fragment* sums);

 private:
  llvm::Value* Word(const codegen::ElementValue& low, const codegen::ElementValue& high);

  llvm::IRBuilder<>& b_;
  TensorCore core_;
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMITTERS_SCORE_MULTIPLIER_H_
