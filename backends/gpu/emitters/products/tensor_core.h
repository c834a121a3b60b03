// Tensor cores: mma.sync multiplies 16 x k by k x 8 elements of 32 bytes along the depth (k is 16 for numbers of 16
// bits, 32 for those of 8, 8 for f32 as tf32), whose fragments ldmatrix reads from shared memory. Of the 16 x 8 results
// lane l has columns 2 (l % 4) and the next of rows l / 4 and l / 4 + 8.
//
// ldmatrix reads blocks of eight lines of 16 bytes; lane l has the address of line l % 8 of block l / 8. Elements of 16
// bits may lie along the depth or along the positions, as in memory: blocks of the latter are transposed as they are
// read. Those of 8 bits lie along the depth; f32 along the positions is read word by word. The lines of a block are in
// different banks: by the order of what is in them, or by a gap between them if they are not a power of two long.
#ifndef HILO_BACKENDS_GPU_EMITTERS_PRODUCTS_TENSOR_CORE_H_
#define HILO_BACKENDS_GPU_EMITTERS_PRODUCTS_TENSOR_CORE_H_

#include <cstdint>

#include "backends/gpu/emitters/kernel_emitter.h"
#include "backends/gpu/emitters/products/strip_loader.h"

namespace hilo::gpu {

class TensorCore {
 public:
  static constexpr int64_t kRows = 16, kColumns = 8;  // of a fragment of results
  static constexpr int64_t kOwn = 4;                  // results of a lane in it: two of each of its rows

  // `type`: of the elements of both operands, BF16, F16, S8, U8, or F32 as tf32. Sums are F32 or S32. Tensor cores
  // ignore the last bits of F32, which ToCells rounds; with `rounds_as_read` Load does, for strips that were copied.
  TensorCore(KernelEmitter& k, PrimitiveType type, bool rounds_as_read = false);

  // Depth of one multiplication, in elements.
  int64_t step() const { return 2 * line_; }
  llvm::Value* lane() const { return lane_; }
  // The lane's first row of a fragment of results, and its first column.
  llvm::Value* row();
  llvm::Value* column();

  // Returns the layout of a strip, whose cells are of the operands' type as in memory.
  StripLayout LayoutOf(int64_t positions, int64_t strip, bool depth_is_minor) const;
  codegen::Carried ToCells(const codegen::ElementValue& element);

  // Reads 16 positions from `first` + `position` on by 32 bytes of the depth from `depth` on, as four blocks: the two
  // blocks of positions of one half of the depth and then of the other, or with `depth_first` of the depth first. The
  // former is a fragment of the left side, the latter two of the right one, for 8 columns each.
  codegen::Carried Load(const Strip& strip, llvm::Value* first, int64_t position, int64_t depth, bool depth_first);
  // Adds the product of a fragment of each side to the kOwn sums.
  void Multiply(absl::Span<llvm::Value* const> x, absl::Span<llvm::Value* const> y, llvm::Value** sums);

 private:
  llvm::Value* Int(int64_t value) { return b_.getInt64(static_cast<uint64_t>(value)); }
  // Returns an i32.
  llvm::Value* ToTf32(llvm::Value* x);
  // Returns the lane's words of the four blocks that begin at these cells.
  codegen::Carried LoadWords(const Strip& strip, llvm::Value* position, int64_t depth, bool depth_first);

  KernelEmitter& k_;
  llvm::IRBuilder<>& b_;
  const PrimitiveType type_;
  const bool rounds_as_read_;
  const int64_t line_;  // elements of a line
  llvm::Value* lane_;
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMITTERS_PRODUCTS_TENSOR_CORE_H_
