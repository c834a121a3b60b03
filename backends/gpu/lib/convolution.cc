#include "backends/gpu/lib/convolution.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <thread>
#include <type_traits>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/gpu/lib/cuda_libraries.h"
#include "base/errors.h"
#include "base/math.h"
#include "hilo/primitive_type.h"
#include "hilo/status_macros.h"

namespace hilo::gpu {
namespace {

// Strides in elements, in an array of images (or output features), features and spatial dimensions.
struct Strides {
  int64_t image = 0, feature = 0;
  std::array<int64_t, 3> spatial = {};

  Strides(bool features_last, int64_t features, const std::array<int64_t, 3>& sizes) {
    int64_t stride = features_last ? features : 1;
    for (int d = 2; d >= 0; --d) {
      spatial[d] = stride;
      stride *= sizes[d];
    }
    feature = features_last ? 1 : stride;
    image = features_last ? stride : stride * features;
  }
};

std::array<int64_t, 3> InThree(const std::vector<int64_t>& values, int64_t filler) {
  std::array<int64_t, 3> three = {filler, filler, filler};
  std::copy(values.begin(), values.end(), three.end() - static_cast<ptrdiff_t>(values.size()));
  return three;
}

// Calls visit(x, w, y) with the indices of the elements of all products. Those of an element of y come in the order of
// taps and features.
template <typename Visit>
void ForEachProduct(const ConvolutionDescriptor& c, Visit visit) {
  const std::array<int64_t, 3> in = InThree(c.in, 1), taps = InThree(c.taps, 1), out = InThree(c.out, 1),
                               strides = InThree(c.strides, 1), dilations = InThree(c.dilations, 1),
                               low = InThree(c.padding_low, 0);
  const int64_t in_features = c.in_features / c.groups, out_features = c.out_features / c.groups;
  const Strides x(c.features_last, c.in_features, in), w(c.features_last, in_features, taps),
      y(c.features_last, c.out_features, out);
  // The index at which x is read in dimension d; negative: in the padding.
  const auto input_index = [&](int d, int64_t p, int64_t r) {
    const int64_t at = p * strides[d] + r * dilations[d] - low[d];
    return at < in[d] ? at : -1;
  };
  const auto tap = [&](int d, int64_t r) { return (c.is_reversed ? taps[d] - 1 - r : r) * w.spatial[d]; };
  for (int64_t n = 0; n < c.images; ++n) {
    for (int64_t k = 0; k < c.out_features; ++k) {
      const int64_t first = k / out_features * in_features;
      for (int64_t p = 0; p < out[0] * out[1] * out[2]; ++p) {
        const int64_t p0 = p / (out[1] * out[2]), p1 = p / out[2] % out[1], p2 = p % out[2];
        const int64_t at_y = n * y.image + k * y.feature + p0 * y.spatial[0] + p1 * y.spatial[1] + p2 * y.spatial[2];
        for (int64_t r0 = 0; r0 < taps[0]; ++r0) {
          const int64_t i0 = input_index(0, p0, r0);
          if (i0 < 0) continue;
          for (int64_t r1 = 0; r1 < taps[1]; ++r1) {
            const int64_t i1 = input_index(1, p1, r1);
            if (i1 < 0) continue;
            for (int64_t r2 = 0; r2 < taps[2]; ++r2) {
              const int64_t i2 = input_index(2, p2, r2);
              if (i2 < 0) continue;
              const int64_t at_x =
                  n * x.image + first * x.feature + i0 * x.spatial[0] + i1 * x.spatial[1] + i2 * x.spatial[2];
              const int64_t at_w = k * w.image + tap(0, r0) + tap(1, r1) + tap(2, r2);
              for (int64_t f = 0; f < in_features; ++f) visit(at_x + f * x.feature, at_w + f * w.feature, at_y);
            }
          }
        }
      }
    }
  }
}

template <typename T, typename Result>
void Convolve(const ConvolutionDescriptor& c, const ConvolutionOperands& operands) {
  using Sum = std::conditional_t<std::is_same_v<T, double>, double, float>;
  const auto *lhs = static_cast<const T*>(operands.lhs), *rhs = static_cast<const T*>(operands.rhs);
  std::vector<Sum> sums(static_cast<size_t>(c.ElementsOfResult()), Sum(0));
  const auto product = [&](int64_t l, int64_t r, int64_t to) {
    sums[to] += static_cast<Sum>(lhs[l]) * static_cast<Sum>(rhs[r]);
  };
  switch (c.kind) {
    case ConvolutionKind::kForward:
      ForEachProduct(c, [&](int64_t x, int64_t w, int64_t y) { product(x, w, y); });
      break;
    case ConvolutionKind::kBackwardInput:
      ForEachProduct(c, [&](int64_t x, int64_t w, int64_t y) { product(y, w, x); });
      break;
    case ConvolutionKind::kBackwardFilter:
      ForEachProduct(c, [&](int64_t x, int64_t w, int64_t y) { product(x, y, w); });
      break;
  }
  auto* result = static_cast<Result*>(operands.result);
  const int64_t positions = Product(c.out);
  for (size_t i = 0; i < sums.size(); ++i) {
    Sum sum = sums[i];
    if (c.has_residual) sum += static_cast<Sum>(static_cast<const T*>(operands.residual)[i]);
    if (c.has_bias) {
      const auto at = static_cast<int64_t>(i);
      sum += static_cast<Sum>(static_cast<const T*>(
          operands.bias)[c.features_last ? at % c.out_features : at / positions % c.out_features]);
    }
    if (c.activation != ConvolutionActivation::kNone) sum = sum > 0 ? sum : Sum(0);
    if (c.activation == ConvolutionActivation::kRelu6) sum = std::min(sum, Sum(6));
    result[i] = static_cast<Result>(sum);
  }
}

// The second one is the one that a tuner should find.
const std::array<LibraryAlgorithm, 2> kEmulatedAlgorithms = {{{"e0", 65536}, {"e1", 0}}};
constexpr std::array<int, 2> kEmulatedDelays = {200, 0};  // microseconds

// A real algorithm may overwrite its workspace.
absl::Status EmulatedConvolution(const ConvolutionDescriptor& convolution, const ConvolutionOperands& operands,
                                 const LibraryWorkspace& workspace, const LibraryAlgorithm& algorithm) {
  for (size_t i = 0; i < kEmulatedAlgorithms.size(); ++i) {
    if (!algorithm.code.empty() && algorithm.code != kEmulatedAlgorithms[i].code) continue;
    if (algorithm.workspace_bytes > 0)
      std::memset(workspace.memory, 0xA5, static_cast<size_t>(algorithm.workspace_bytes));
    if (!algorithm.code.empty()) std::this_thread::sleep_for(std::chrono::microseconds(kEmulatedDelays[i]));
    return ConvolveOnHost(convolution, operands);
  }
  return InvalidArgument(convolution.ToString(), ": the library has no algorithm ", algorithm.code);
}

absl::StatusOr<std::string> LibraryVersion(const LibraryDevice& device) {
  if (device.is_emulated) return std::string("emulated");
  return CudnnVersion();
}

// Returns true if the elements, of at most 16 bytes, can be counted.
bool FitsMemory(int64_t images, int64_t features, const std::vector<int64_t>& sizes) {
  int64_t bytes = 16;
  for (const int64_t size : {images, features}) {
    if (__builtin_mul_overflow(bytes, size, &bytes)) return false;
  }
  return absl::c_none_of(sizes, [&](int64_t size) { return __builtin_mul_overflow(bytes, size, &bytes); });
}

// Of spatial dimension d.
absl::Status CheckDimension(const ConvolutionDescriptor& c, size_t d) {
  const auto invalid = [&](const auto&... what) {
    return InvalidArgument(c.ToString(), ": ", what..., " in spatial dimension ", d);
  };
  for (const std::vector<int64_t>* sizes : {&c.in, &c.taps, &c.out, &c.strides, &c.dilations}) {
    if ((*sizes)[d] < 1) return invalid("expected sizes, strides and dilations of at least 1");
    if ((*sizes)[d] > INT32_MAX) return Unimplemented(c.ToString(), ": the library counts in 32 bits");
  }
  if (c.padding_low[d] < 0 || c.padding_high[d] < 0) return invalid("expected padding of at least 0");
  if (c.padding_low[d] > INT32_MAX || c.padding_high[d] > INT32_MAX)
    return Unimplemented(c.ToString(), ": the library counts in 32 bits");
  const int64_t extent = (c.taps[d] - 1) * c.dilations[d] + 1, padded = c.in[d] + c.padding_low[d] + c.padding_high[d];
  if (extent > padded) return invalid("the window of ", extent, " is larger than the padded input of ", padded);
  const int64_t positions = (padded - extent) / c.strides[d] + 1;
  if (c.out[d] != positions) return invalid("expected an output of ", positions, ", got ", c.out[d]);
  return absl::OkStatus();
}

}  // namespace

int64_t ConvolutionDescriptor::ElementsOfX() const { return images * in_features * Product(in); }
int64_t ConvolutionDescriptor::ElementsOfW() const { return out_features * (in_features / groups) * Product(taps); }
int64_t ConvolutionDescriptor::ElementsOfY() const { return images * out_features * Product(out); }

int64_t ConvolutionDescriptor::ElementsOfResult() const {
  switch (kind) {
    case ConvolutionKind::kForward: return ElementsOfY();
    case ConvolutionKind::kBackwardInput: return ElementsOfX();
    case ConvolutionKind::kBackwardFilter: break;
  }
  return ElementsOfW();
}

std::string ConvolutionDescriptor::ToString() const {
  const auto sizes = [](const std::vector<int64_t>& values) { return absl::StrJoin(values, "x"); };
  constexpr const char* kKinds[] = {"convolution", "convolution-of-input-gradient", "convolution-of-filter-gradient"};
  std::string text =
      absl::StrCat(kKinds[static_cast<int>(kind)], " ", PrimitiveTypeName(type),
                   result_type == type ? "" : absl::StrCat("->", PrimitiveTypeName(result_type)),
                   features_last ? " nhwc " : " nchw ", images, " images ", in_features, "->", out_features,
                   " features ", sizes(in), "->", sizes(out), " window ", sizes(taps), " stride ", sizes(strides),
                   " dilation ", sizes(dilations), " padding ", sizes(padding_low), "_", sizes(padding_high));
  if (groups > 1) absl::StrAppend(&text, " groups ", groups);
  absl::StrAppend(&text, is_reversed ? " reversed" : "", has_residual ? " residual" : "", has_bias ? " bias" : "",
                  activation == ConvolutionActivation::kRelu    ? " relu"
                  : activation == ConvolutionActivation::kRelu6 ? " relu6"
                                                                : "",
                  allow_tf32 ? " tf32" : "");
  return text;
}

absl::Status CheckConvolution(const ConvolutionDescriptor& c) {
  const auto invalid = [&](const auto&... what) { return InvalidArgument(c.ToString(), ": ", what...); };
  const auto unimplemented = [&](const auto&... what) { return Unimplemented(c.ToString(), ": ", what...); };
  if (c.type != F16 && c.type != BF16 && c.type != F32 && c.type != F64)
    return unimplemented("the library does not convolve this type");
  const bool is_small = c.type == F16 || c.type == BF16;
  if (c.result_type != c.type && !(is_small && c.result_type == F32))
    return unimplemented("the library has no such type of result");
  const size_t rank = c.in.size();
  for (const std::vector<int64_t>* sizes :
       {&c.taps, &c.out, &c.strides, &c.dilations, &c.padding_low, &c.padding_high}) {
    if (sizes->size() != rank) return invalid("expected as many sizes everywhere");
  }
  if (rank != 2 && rank != 3) return unimplemented("the library convolves in two and three dimensions");
  if (c.images < 1 || c.in_features < 1 || c.out_features < 1 || c.groups < 1)
    return invalid("expected sizes of at least 1");
  if (c.images > INT32_MAX || c.in_features > INT32_MAX || c.out_features > INT32_MAX)
    return unimplemented("the library counts in 32 bits");
  if (c.in_features % c.groups != 0 || c.out_features % c.groups != 0)
    return invalid("the groups do not divide the features");
  for (size_t d = 0; d < rank; ++d) HILO_RETURN_IF_ERROR(CheckDimension(c, d));
  if (!FitsMemory(c.images, c.in_features, c.in) || !FitsMemory(c.images, c.out_features, c.out) ||
      !FitsMemory(c.out_features, c.in_features, c.taps))
    return invalid("the arrays fit into no memory");
  if (!c.HasEpilogue()) return absl::OkStatus();
  if (c.kind != ConvolutionKind::kForward) return unimplemented("the library fuses nothing with gradients");
  if (c.type == F64 || c.result_type != c.type)
    return unimplemented("the library fuses for floats of at most 32 bits alone, all of one type");
  if (is_small && (c.in_features / c.groups % 8 != 0 || c.out_features / c.groups % 8 != 0)) {
    return unimplemented(
        "with floats of 16 bits the library fuses for numbers of features that are multiples of 8 alone");
  }
  return absl::OkStatus();
}

absl::Status CheckConvolution(const ConvolutionDescriptor& convolution, const ConvolutionOperands& operands) {
  HILO_RETURN_IF_ERROR(CheckConvolution(convolution));
  const auto check_pointer = [&](const char* name, const void* pointer) -> absl::Status {
    if (pointer == nullptr) return InvalidArgument(convolution.ToString(), ": ", name, " is null");
    constexpr uintptr_t kAlignment = 16;  // as stated in the descriptors
    if (reinterpret_cast<uintptr_t>(pointer) % kAlignment != 0)
      return InvalidArgument(convolution.ToString(), ": expected ", name, " at a multiple of ", kAlignment, " bytes");
    return absl::OkStatus();
  };
  HILO_RETURN_IF_ERROR(check_pointer("lhs", operands.lhs));
  HILO_RETURN_IF_ERROR(check_pointer("rhs", operands.rhs));
  HILO_RETURN_IF_ERROR(check_pointer("result", operands.result));
  if (convolution.has_residual) HILO_RETURN_IF_ERROR(check_pointer("residual", operands.residual));
  if (convolution.has_bias) HILO_RETURN_IF_ERROR(check_pointer("bias", operands.bias));
  return absl::OkStatus();
}

absl::Status ConvolveOnHost(const ConvolutionDescriptor& convolution, const ConvolutionOperands& operands) {
  HILO_RETURN_IF_ERROR(CheckConvolution(convolution, operands));
  const bool is_wide = convolution.result_type == F32;
  switch (convolution.type) {
    case F16:
      return is_wide ? Convolve<half, float>(convolution, operands) : Convolve<half, half>(convolution, operands),
             absl::OkStatus();
    case BF16:
      return is_wide ? Convolve<bfloat16, float>(convolution, operands)
                     : Convolve<bfloat16, bfloat16>(convolution, operands),
             absl::OkStatus();
    case F32: return Convolve<float, float>(convolution, operands), absl::OkStatus();
    default: return Convolve<double, double>(convolution, operands), absl::OkStatus();
  }
}

absl::StatusOr<std::vector<LibraryAlgorithm>> ConvolutionAlgorithms(const LibraryDevice& device,
                                                                    const ConvolutionDescriptor& convolution,
                                                                    int most) {
  HILO_RETURN_IF_ERROR(CheckConvolution(convolution));
  if (device.is_emulated) {
    std::vector<LibraryAlgorithm> all(kEmulatedAlgorithms.begin(), kEmulatedAlgorithms.end());
    if (most < static_cast<int>(all.size())) all.resize(most);
    return all;
  }
  if (device.driver != nullptr) return CudnnConvolutionAlgorithms(convolution, most);
  HILO_RETURN_IF_ERROR(CheckCudnnConvolution(convolution));
  return std::vector<LibraryAlgorithm>{{.workspace_bytes = kConvolutionWorkspaceBytes}};
}

LibraryWork ConvolutionWork(const LibraryDevice& device, const ConvolutionDescriptor& convolution) {
  const int64_t bytes = PrimitiveTypeByteSize(convolution.type),
                result_bytes = convolution.ElementsOfResult() * PrimitiveTypeByteSize(convolution.result_type);
  return {.text = convolution.ToString(),
          .max_workspace_bytes = kConvolutionWorkspaceBytes,
          .version = [device] { return LibraryVersion(device); },
          .algorithms = [device, convolution](int most) { return ConvolutionAlgorithms(device, convolution, most); },
          .array_bytes = {convolution.ElementsOfLhs() * bytes, convolution.ElementsOfRhs() * bytes, result_bytes,
                          convolution.has_residual ? result_bytes : 0,
                          convolution.has_bias ? convolution.out_features * bytes : 0},
          .run =
              [convolution](GpuStream* stream, absl::Span<void* const> arrays, const LibraryWorkspace& workspace,
                            const LibraryAlgorithm& algorithm) {
                return RunConvolution(
                    stream, convolution,
                    {.lhs = arrays[0], .rhs = arrays[1], .result = arrays[2], .residual = arrays[3], .bias = arrays[4]},
                    workspace, algorithm);
              }};
}

absl::Status RunConvolution(GpuStream* stream, const ConvolutionDescriptor& convolution,
                            const ConvolutionOperands& operands, const LibraryWorkspace& workspace,
                            const LibraryAlgorithm& algorithm) {
  HILO_RETURN_IF_ERROR(CheckConvolution(convolution, operands));
  if (algorithm.workspace_bytes > workspace.bytes) {
    return InvalidArgument(convolution.ToString(), ": the algorithm needs ", algorithm.workspace_bytes,
                           " bytes of workspace, got ", workspace.bytes);
  }
  const int64_t bytes = PrimitiveTypeByteSize(convolution.type),
                result_bytes = convolution.ElementsOfResult() * PrimitiveTypeByteSize(convolution.result_type);
  std::vector<GpuSlice> slices = {GpuSlice::Read(operands.lhs, convolution.ElementsOfLhs() * bytes),
                                  GpuSlice::Read(operands.rhs, convolution.ElementsOfRhs() * bytes)};
  if (convolution.has_residual) slices.push_back(GpuSlice::Read(operands.residual, result_bytes));
  if (convolution.has_bias) slices.push_back(GpuSlice::Read(operands.bias, convolution.out_features * bytes));
  slices.push_back(GpuSlice::Write(operands.result, result_bytes));
  slices.push_back(GpuSlice::Write(workspace.memory, workspace.bytes));
  auto call = [convolution, operands, workspace, algorithm](void* native) -> absl::Status {
    if (native == nullptr) return EmulatedConvolution(convolution, operands, workspace, algorithm);
    return ConvolveByCudnn(native, convolution, operands, workspace, algorithm);
  };
  return stream->Call(std::move(call), slices);
}

}  // namespace hilo::gpu
