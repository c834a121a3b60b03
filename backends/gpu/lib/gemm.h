// Matrix products by the platform's library: cuBLASLt on CUDA; on the emulated device a plain loop that rejects what
// cuBLASLt rejects.
//
//   D = epilogue(alpha op(A) op(B) + beta C + bias),   op(A) m x k, op(B) k x n, C and D m x n, a batch of them
//
// Matrices are column-major, as in BLAS: element (i, j) of A is at i + j lda, or, transposed, at j + i lda. A row-major
// product is this one with the operands exchanged: D' = B' A'. Sums are in f32 for the small floats, f64 for f64 and
// s32 for s8.
#ifndef HILO_BACKENDS_GPU_LIB_GEMM_H_
#define HILO_BACKENDS_GPU_LIB_GEMM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/gpu/driver/gpu_driver.h"
#include "backends/gpu/lib/algorithm_selector.h"
#include "hilo/primitive_type.h"

namespace hilo::gpu {

// Applied to a result, after the bias (m elements of D's type, one per row) if there is one. kGelu is the tanh
// approximation.
enum class GemmActivation { kNone, kRelu, kGelu };

struct GemmDescriptor {
  PrimitiveType a_type = F32, b_type = F32;
  PrimitiveType d_type = F32;  // also C's and the bias's
  bool transpose_a = false, transpose_b = false;
  int64_t m = 0, n = 0, k = 0;
  int64_t lda = 0, ldb = 0, ldd = 0;  // leading dimensions in elements; C's is D's
  int64_t batch = 1;
  int64_t stride_a = 0, stride_b = 0, stride_d = 0;  // elements between the matrices of a batch
  double alpha = 1, beta = 0;                        // exact in the type of the sums
  bool has_bias = false;
  GemmActivation activation = GemmActivation::kNone;
  bool allow_tf32 = false;  // f32 factors may be rounded to 10 bits of mantissa
  // Of the arrays, in bytes; C's is D's. Algorithms may rely on them.
  int64_t alignment_a = kDeviceAlignment, alignment_b = kDeviceAlignment, alignment_d = kDeviceAlignment;

  // One line, for caches and messages.
  std::string ToString() const;
};

// A loop around a product: its trip count, and the elements between the arrays of two iterations.
struct GemmLoop {
  int64_t count = 1;
  int64_t step_a = 0, step_b = 0, step_d = 0;  // C's is D's
};

// Bytes from the first to the last element of each array; C's are D's. INT64_MAX: more than memory can have.
struct GemmBytes {
  int64_t a = 0, b = 0, d = 0, bias = 0;
};
// Of all iterations. Sizes are at least 0.
GemmBytes BytesOfGemm(const GemmDescriptor& gemm, const GemmLoop& loop = {});

struct GemmOperands {
  const void* a = nullptr;
  const void* b = nullptr;
  const void* c = nullptr;  // may be d; not read if beta is 0
  void* d = nullptr;
  const void* bias = nullptr;
};

// A workspace size that pays on large devices.
inline constexpr int64_t kGemmWorkspaceBytes = int64_t{32} << 20;

// Returns true if the library's kernels for this type require A transposed and B not: those of 8-bit types.
bool WantsTransposedA(PrimitiveType type);

// Checks the rules of cuBLASLt, for any numbers. Errors: InvalidArgument for sizes, leading dimensions, null and
// misaligned pointers; Unimplemented for unsupported type combinations and for arrays that lack the alignment that
// 8-bit kernels require.
absl::Status CheckGemm(const GemmDescriptor& gemm, const GemmOperands& operands);
// Checks all but the operands, and that the iterations of a loop write different results.
absl::Status CheckGemm(const GemmDescriptor& gemm, const GemmLoop& loop);

// Returns at most `most` (at least 1) algorithms for a product, the library's first choice first. Without a driver
// there is one: the library chooses when it runs. The emulated device has three with different workspaces, of which the
// second is the fastest. Errors: as CheckGemm; Unavailable if the library cannot be loaded; Unimplemented if it has no
// kernel for the product.
absl::StatusOr<std::vector<LibraryAlgorithm>> GemmAlgorithms(const LibraryDevice& device, const GemmDescriptor& gemm,
                                                             int most);
// For an AlgorithmSelector.
LibraryWork GemmWork(const LibraryDevice& device, const GemmDescriptor& gemm);

// Queues the product. Errors: as CheckGemm and GemmAlgorithms; InvalidArgument if an array lacks the descriptor's
// alignment, or if the algorithm is not the library's or needs more than the workspace.
absl::Status RunGemm(GpuStream* stream, const GemmDescriptor& gemm, const GemmOperands& operands,
                     const LibraryWorkspace& workspace, const LibraryAlgorithm& algorithm = {});

// Computes the product on the host, on host memory.
absl::Status GemmOnHost(const GemmDescriptor& gemm, const GemmOperands& operands);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_LIB_GEMM_H_
