// The windows of a convolution as the rows of a matrix, whose product with the kernel is the convolution.
#ifndef HILO_BACKENDS_CPU_CONVOLUTION_PATCHES_H_
#define HILO_BACKENDS_CPU_CONVOLUTION_PATCHES_H_

#include <cstdint>

namespace hilo::cpu::convolution {

// A spatial dimension: window position i and tap t read the input at i * stride + t * dilation - padding, or zero if
// that is not in [0, input).
struct PatchAxis {
  int64_t input = 1, output = 1, taps = 1;
  int64_t stride = 1, dilation = 1, padding = 0;
};

// A convolution of bytes whose features are the last dimension of the input and of the result, the batch the first.
// Generated code has it as a constant. Row r of the matrix is the window of result position r, row-major, in the order
// of the taps with the features innermost. The kernel is [taps, features, results], or [results, taps, features] if it
// is transposed. A call computes the results of `block` rows.
struct Patches {
  static constexpr int64_t kAxes = 3;

  int64_t batch = 1, features = 1, results = 1, block = 1;
  int64_t kernel_transposed = 0;
  PatchAxis axes[kAxes];  // the innermost last; those that there are not have one position and one tap

  int64_t Positions() const { return axes[0].output * axes[1].output * axes[2].output; }  // of an image
  int64_t Rows() const { return batch * Positions(); }
  int64_t Terms() const { return axes[0].taps * axes[1].taps * axes[2].taps * features; }
  // Returns true if the rows are those of the input.
  bool AreInput() const {
    for (const PatchAxis& axis : axes) {
      if (axis.taps != 1 || axis.stride != 1 || axis.padding != 0 || axis.output != axis.input) return false;
    }
    return true;
  }
};

// Writes rows [first, first + count) of the matrix, which are dense.
void CopyPatches(const Patches& patches, const int8_t* input, int64_t first, int64_t count, int8_t* to);

}  // namespace hilo::cpu::convolution

#endif  // HILO_BACKENDS_CPU_CONVOLUTION_PATCHES_H_
