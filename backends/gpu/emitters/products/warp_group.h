// Tensor cores of a warp group, the four warps of 128 threads in a row: wgmma.mma_async multiplies 64 rows by `columns`
// columns, 32 bytes of each along the depth, that lie in shared memory, while the threads go on. Of the results lane l
// of warp w has columns 8 j + 2 (l % 4) and the next, for each j, of rows 16 w + l / 4 and 8 rows on.
//
// Multiplications read shared memory through the asynchronous proxy: threads that wrote there (asynchronous copies,
// cp.async, count as their thread's) order it by ProxyFence, before the barrier. The registers of sums belong to
// multiplications from Fence until Wait; sums go through both as values, so that nothing else moves in between.
#ifndef HILO_BACKENDS_GPU_EMITTERS_PRODUCTS_WARP_GROUP_H_
#define HILO_BACKENDS_GPU_EMITTERS_PRODUCTS_WARP_GROUP_H_

#include <cstdint>

#include "backends/gpu/emitters/kernel_emitter.h"
#include "backends/gpu/emitters/products/strip_loader.h"

namespace hilo::gpu {

class WarpGroup {
 public:
  static constexpr int64_t kThreads = 128, kRows = 64;
  // Bytes of a line of a strip that are swizzled together, at most.
  static constexpr int64_t kLineBytes = 128;

  // `type`: of the elements of both operands, BF16 or F16. `columns` is a multiple of 8, up to 256. Sums are F32.
  WarpGroup(KernelEmitter& k, PrimitiveType type, int64_t columns);

  // Depth of one multiplication, in elements.
  static int64_t StepOf(PrimitiveType type) { return 32 / PrimitiveTypeByteSize(type); }
  // Returns the layout of a strip of `positions` by `depth` elements, whose cells are of the operands' type as in
  // memory.
  static StripLayout LayoutOf(llvm::LLVMContext& context, PrimitiveType type, int64_t positions, int64_t depth,
                              bool depth_is_minor);

  // Number of a thread's sums.
  int64_t sums() const { return columns_ / 2; }
  // The number of the thread's warp group in its block.
  llvm::Value* group() const { return group_; }

  codegen::Carried Fence(const codegen::Carried& sums);
  // Starts to add the product of the strips, the rows of the lhs from `first_row` on, a multiple of kRows, and all
  // positions of the rhs, along `depth` elements. All threads of the warp group take part.
  codegen::Carried Multiply(const Strip& lhs, llvm::Value* first_row, const Strip& rhs, int64_t depth,
                            const codegen::Carried& sums);
  // Makes a group of the multiplications since the last call.
  void Commit();
  // Waits for all groups but the newest `pending`.
  codegen::Carried Wait(const codegen::Carried& sums, int64_t pending);

 private:
  // A strip as the hardware describes it: in units of 16 bytes.
  llvm::Value* DescriptorOf(const Strip& strip, llvm::Value* first_position);
  codegen::Carried Assembly(const std::string& text, absl::Span<llvm::Value* const> operands,
                            const codegen::Carried& sums);

  KernelEmitter& k_;
  llvm::IRBuilder<>& b_;
  const PrimitiveType type_;
  const int64_t columns_;
  llvm::Value* group_;
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMITTERS_PRODUCTS_WARP_GROUP_H_
