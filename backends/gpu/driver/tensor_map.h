// Tensors in global memory of which kernels copy boxes (cp.async.bulk.tensor): what cuTensorMapEncodeTiled encodes.
#ifndef HILO_BACKENDS_GPU_DRIVER_TENSOR_MAP_H_
#define HILO_BACKENDS_GPU_DRIVER_TENSOR_MAP_H_

#include <cstdint>
#include <string>

namespace hilo::gpu {

inline constexpr int kMaxTensorDimensions = 5;

// Dimensions are in ascending order of their strides; elements of the first are adjacent. Elements of a box that are
// outside of the tensor are zeros.
struct TensorMap {
  const void* address = nullptr;
  int element_bytes = 2;
  int dimensions = 1;
  int64_t sizes[kMaxTensorDimensions] = {1, 1, 1, 1, 1};  // elements
  int64_t strides[kMaxTensorDimensions] = {};             // bytes; that of the first is not read
  int64_t box[kMaxTensorDimensions] = {1, 1, 1, 1, 1};    // elements
  int64_t swizzle = 0;                                    // bytes of a line of a box, which its pattern moves; 0: none

  // Returns what the hardware does not take; empty: nothing.
  std::string Fault() const;
  int64_t BoxBytes() const;
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_DRIVER_TENSOR_MAP_H_
