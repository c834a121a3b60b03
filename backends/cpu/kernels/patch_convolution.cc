#include "backends/cpu/kernels/patch_convolution.h"

#include <algorithm>

#include "backends/cpu/kernels/even_part.h"
#include "base/math.h"
#include "hlo/ops/linalg/convolution_attributes.h"

namespace hilo::cpu {
namespace {

using convolution::PatchAxis;
using convolution::Patches;

// Terms of a sum, and pairs of a feature of the input and one of the result at least: fewer do not fill the tiles of a
// product. 3x3 on a batch of 2 of 28 x 28 in F32 and with patches, in us: from 8 to 8 features 36 and 46, from 16 to 4
// 23 and 32, from 64 to 3 229 and 103.
constexpr int64_t kMinPatchTerms = 64, kMinPatchPairs = 128;
// Results of a row at least without AVX-512 VNNI, where bytes become pairs of 16 bits first. Measured on two threads
// (Zen 4), in us: in F32 and with VNNI, then in F32 and without VNNI, both with AVX2. 3x3 from 64 to 64 features on a
// batch of 2 of 28 x 28: 570 and 176, 690 and 563. 1x1 from 128 to 128 on the same: 304 and 76, 253 and 202. 3x3 from
// 16 to 32 on 4 of 32 x 32: 253 and 100, 215 and 271. 3x3 from 8 to 16 on 2 of 32 x 32: 52 and 42, 52 and 123.
constexpr int64_t kMinResultsWithoutVnni = 64;
// Bytes that are copied at once.
constexpr int64_t kMinPatchCopied = 16;
// Products at least, and of a call if there are less than kManyPatchCalls, unless it would have fewer rows than
// kMinPatchRows.
constexpr double kMinPatchWork = 1 << 19, kMinPatchCallWork = 2e6;
constexpr int64_t kManyPatchCalls = 8, kMinPatchRows = 64, kPatchRowMultiple = 8;
// Bytes of the patches of a call, which stay in the second cache.
constexpr int64_t kPatchBytes = 128 << 10;
// Weights, so that a call of kMinPatchRows takes some milliseconds at most: cancellation is polled between calls.
constexpr int64_t kMaxPatchWeights = 1 << 24;
// Sizes, strides and paddings, whose products then fit in 64 bits.
constexpr int64_t kLargestPatchNumber = 1 << 20;

// Returns true if the batch is dimension 0, the features are the last one, and spatial dimensions are in order.
bool IsBatchFirst(int64_t batch, int64_t feature, const std::vector<int64_t>& spatial) {
  if (batch != 0 || feature != static_cast<int64_t>(spatial.size()) + 1) return false;
  for (size_t s = 0; s < spatial.size(); ++s) {
    if (spatial[s] != static_cast<int64_t>(s) + 1) return false;
  }
  return true;
}

// Returns true if the kernel's spatial dimensions, in order, and then its input features follow dimension `first`.
bool AreTaps(const ConvolutionDimensionNumbers& numbers, int64_t first) {
  for (const int64_t dimension : numbers.kernel_spatial_dimensions()) {
    if (dimension != first++) return false;
  }
  return numbers.kernel_input_feature_dimension() == first;
}

// Chooses the rows of a call.
int64_t BlockOf(const Patches& patches) {
  const int64_t rows = patches.Rows();
  const double work = static_cast<double>(rows) * static_cast<double>(patches.Terms() * patches.results);
  const int64_t wanted = static_cast<int64_t>(std::clamp(work / kMinPatchCallWork, 1.0, double{kManyPatchCalls}));
  int64_t block = std::min(CeilDiv(rows, wanted), std::max(kMinPatchRows, kPatchBytes / patches.Terms()));
  block = std::min(rows, std::max(kMinPatchRows, CeilDiv(block, kPatchRowMultiple) * kPatchRowMultiple));
  return EvenPart(rows, block, kPatchRowMultiple);
}

}  // namespace

std::optional<Patches> PatchesOf(const HloInstruction& convolution) {
  const Shape &lhs = convolution.operand(0)->shape(), &kernel = convolution.operand(1)->shape(),
              &out = convolution.shape();
  if (lhs.element_type() != S8 || kernel.element_type() != S8 || out.element_type() != S32 ||
      ShapeUtil::IsZeroElementArray(lhs) || ShapeUtil::IsZeroElementArray(kernel) || ShapeUtil::IsZeroElementArray(out))
    return std::nullopt;
  const ConvolutionAttrs& attrs = convolution.attrs<ConvolutionAttrs>();
  const ConvolutionDimensionNumbers& numbers = attrs.dim_labels;
  const std::vector<Window::Dimension>& windows = attrs.window.dimensions;
  if (attrs.feature_group_count != 1 || attrs.batch_group_count != 1 || windows.size() > Patches::kAxes ||
      !IsBatchFirst(numbers.input_batch_dimension(), numbers.input_feature_dimension(),
                    numbers.input_spatial_dimensions()) ||
      !IsBatchFirst(numbers.output_batch_dimension(), numbers.output_feature_dimension(),
                    numbers.output_spatial_dimensions()))
    return std::nullopt;
  const int64_t result_dimension = numbers.kernel_output_feature_dimension();
  const bool is_transposed = result_dimension == 0;
  if (!AreTaps(numbers, is_transposed ? 1 : 0)) return std::nullopt;
  Patches patches{.batch = lhs.dimensions(0),
                  .features = lhs.dimensions().back(),
                  .results = kernel.dimensions(result_dimension),
                  .kernel_transposed = is_transposed ? 1 : 0};
  for (size_t s = 0; s < windows.size(); ++s) {
    const Window::Dimension& window = windows[s];
    if (window.base_dilation != 1 || window.window_reversal) return std::nullopt;
    const auto dimension = static_cast<int64_t>(s) + 1;
    const PatchAxis axis{.input = lhs.dimensions(dimension),
                         .output = out.dimensions(dimension),
                         .taps = window.size,
                         .stride = window.stride,
                         .dilation = window.window_dilation,
                         .padding = window.padding_low};
    for (const int64_t number : {axis.input, axis.output, axis.taps, axis.stride, axis.dilation, axis.padding}) {
      if (number > kLargestPatchNumber || number < -kLargestPatchNumber) return std::nullopt;
    }
    patches.axes[Patches::kAxes - windows.size() + s] = axis;
  }
  const int64_t copied = (patches.axes[2].dilation == 1 ? patches.axes[2].taps : 1) * patches.features;
  const int64_t weights = ShapeUtil::ElementsIn(kernel);
  if (patches.features * patches.results < kMinPatchPairs || patches.Terms() < kMinPatchTerms ||
      copied < kMinPatchCopied || weights > kMaxPatchWeights ||
      static_cast<double>(patches.Rows()) * static_cast<double>(weights) < kMinPatchWork)
    return std::nullopt;
  patches.block = BlockOf(patches);
  return patches;
}

bool IsPatchConvolution(const HloInstruction& convolution, const codegen::CpuFeatures& features) {
  if (features.vector_bits < 256) return false;
  const std::optional<Patches> patches = PatchesOf(convolution);
  return patches.has_value() && (features.has_vnni || patches->results >= kMinResultsWithoutVnni);
}

int64_t CallsOf(const Patches& patches) { return CeilDiv(patches.Rows(), patches.block); }

}  // namespace hilo::cpu
