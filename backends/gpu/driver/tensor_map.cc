#include "backends/gpu/driver/tensor_map.h"

#include "absl/strings/str_cat.h"

namespace hilo::gpu {
namespace {

constexpr int64_t kAlignment = 16;  // of the address and of strides
constexpr int64_t kMaxBox = 256, kMaxSize = int64_t{1} << 32, kMaxStride = int64_t{1} << 40;

}  // namespace

std::string TensorMap::Fault() const {
  if (dimensions < 1 || dimensions > kMaxTensorDimensions)
    return absl::StrCat(dimensions, " dimensions, expected 1 to ", kMaxTensorDimensions);
  if (element_bytes != 1 && element_bytes != 2 && element_bytes != 4 && element_bytes != 8)
    return absl::StrCat("elements of ", element_bytes, " bytes, expected 1, 2, 4 or 8");
  if (address == nullptr || reinterpret_cast<uintptr_t>(address) % kAlignment != 0)
    return absl::StrCat("an address that is not a multiple of ", kAlignment);
  for (int d = 0; d < dimensions; ++d) {
    if (sizes[d] < 1 || sizes[d] > kMaxSize)
      return absl::StrCat("size ", sizes[d], " of dimension ", d, ", expected 1 to 2^32");
    if (box[d] < 1 || box[d] > kMaxBox)
      return absl::StrCat("a box of ", box[d], " elements of dimension ", d, ", expected 1 to ", kMaxBox);
    if (d > 0 && (strides[d] <= 0 || strides[d] % kAlignment != 0 || strides[d] >= kMaxStride)) {
      return absl::StrCat("a stride of ", strides[d], " bytes of dimension ", d, ", expected a multiple of ",
                          kAlignment, " below 2^40");
    }
  }
  if (swizzle != 0 && swizzle != 32 && swizzle != 64 && swizzle != 128)
    return absl::StrCat("a swizzle of ", swizzle, " bytes, expected 0, 32, 64 or 128");
  const int64_t line = box[0] * element_bytes;
  if (line % kAlignment != 0 || (swizzle != 0 && line > swizzle)) {
    return absl::StrCat("a box with lines of ", line, " bytes, expected a multiple of ", kAlignment,
                        swizzle != 0 ? absl::StrCat(" of at most ", swizzle) : "");
  }
  return "";
}

int64_t TensorMap::BoxBytes() const {
  int64_t bytes = element_bytes;
  for (int d = 0; d < dimensions; ++d) bytes *= box[d];
  return bytes;
}

}  // namespace hilo::gpu
