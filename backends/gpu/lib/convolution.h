// Convolutions by the platform's library: cuDNN on CUDA; on the emulated device plain loops that reject what cuDNN
// rejects.
//
//   y[n, k, p] = sum over c, r of x[n, c, p stride + r dilation - padding_low] w[k, c, r]
//
// for every position p of the window and tap r in it, where x is 0 outside its bounds; with groups, the features of y
// are split into as many parts, each of which reads the same part of the features of x. Two of the three arrays are
// given and the third is computed: y itself, or, with y as its gradient, that of x or of w.
#ifndef HILO_BACKENDS_GPU_LIB_CONVOLUTION_H_
#define HILO_BACKENDS_GPU_LIB_CONVOLUTION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/gpu/driver/gpu_driver.h"
#include "backends/gpu/lib/algorithm_selector.h"
#include "hilo/primitive_type.h"

namespace hilo::gpu {

enum class ConvolutionKind { kForward, kBackwardInput, kBackwardFilter };

// Applied to y after the residual and the bias are added.
enum class ConvolutionActivation { kNone, kRelu, kRelu6 };

struct ConvolutionDescriptor {
  ConvolutionKind kind = ConvolutionKind::kForward;
  PrimitiveType type = F32;         // of the two given arrays, of residual and bias
  PrimitiveType result_type = F32;  // `type`, or F32 for small floats
  // Order of the arrays' dimensions, most major first: images (for w output features), features, spatial ones; or
  // features last.
  bool features_last = false;
  bool is_reversed = false;  // the first tap of a dimension of w is the window's last
  int64_t images = 1;
  int64_t in_features = 1, out_features = 1;  // of x and y; w has in_features / groups
  int64_t groups = 1;
  std::vector<int64_t> in, taps, out;  // spatial sizes of x, w and y: 2 or 3 dimensions
  std::vector<int64_t> strides, dilations, padding_low, padding_high;
  // Forward only: y is activation(sum + residual + bias), residual has the shape of y, bias one number per feature.
  bool has_residual = false, has_bias = false;
  ConvolutionActivation activation = ConvolutionActivation::kNone;
  bool allow_tf32 = false;  // f32 factors may be rounded to 10 bits of mantissa

  bool HasEpilogue() const { return has_residual || has_bias || activation != ConvolutionActivation::kNone; }
  int64_t ElementsOfX() const;
  int64_t ElementsOfW() const;
  int64_t ElementsOfY() const;
  // Elements of the given arrays in the order of the operands, and of the result.
  int64_t ElementsOfLhs() const { return kind == ConvolutionKind::kBackwardInput ? ElementsOfY() : ElementsOfX(); }
  int64_t ElementsOfRhs() const { return kind == ConvolutionKind::kBackwardFilter ? ElementsOfY() : ElementsOfW(); }
  int64_t ElementsOfResult() const;
  // One line, for caches and messages.
  std::string ToString() const;
};

struct ConvolutionOperands {
  const void* lhs = nullptr;  // x; kBackwardInput: y
  const void* rhs = nullptr;  // w; kBackwardFilter: y
  void* result = nullptr;
  const void* residual = nullptr;
  const void* bias = nullptr;
};

// The maximum workspace of an algorithm.
inline constexpr int64_t kConvolutionWorkspaceBytes = int64_t{256} << 20;

// Checks the rules of cuDNN's operations. Errors: InvalidArgument for inconsistent sizes, null and misaligned pointers;
// Unimplemented for types, sizes beyond 32 bits, and what cuDNN does not fuse.
absl::Status CheckConvolution(const ConvolutionDescriptor& convolution, const ConvolutionOperands& operands);
// Checks the descriptor alone.
absl::Status CheckConvolution(const ConvolutionDescriptor& convolution);

// Returns at most `most` (at least 1) algorithms, the library's first choice first. Without a driver there is one: the
// library chooses when it runs. The emulated device has two with different workspaces, of which the second is the
// fastest. Errors: as CheckConvolution; Unavailable if the library cannot be loaded; Unimplemented if it has no kernel.
absl::StatusOr<std::vector<LibraryAlgorithm>> ConvolutionAlgorithms(const LibraryDevice& device,
                                                                    const ConvolutionDescriptor& convolution, int most);
// For an AlgorithmSelector.
LibraryWork ConvolutionWork(const LibraryDevice& device, const ConvolutionDescriptor& convolution);

// Queues the convolution. Errors: as CheckConvolution and ConvolutionAlgorithms; InvalidArgument if the algorithm is
// not the library's or needs more than the workspace.
absl::Status RunConvolution(GpuStream* stream, const ConvolutionDescriptor& convolution,
                            const ConvolutionOperands& operands, const LibraryWorkspace& workspace,
                            const LibraryAlgorithm& algorithm = {});

// Computes it on the host, on host memory.
absl::Status ConvolveOnHost(const ConvolutionDescriptor& convolution, const ConvolutionOperands& operands);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_LIB_CONVOLUTION_H_
