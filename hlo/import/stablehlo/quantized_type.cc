#include "hlo/import/stablehlo/quantized_type.h"

#include <cmath>

#include "base/errors.h"
#include "hilo/literal.h"

namespace hilo::stablehlo {

void SetStorageRange(Quantization* quantization) {
  if (!IsIntegralType(quantization->storage)) return;
  quantization->min = LiteralUtil::MinValue(quantization->storage).GetAsInt64(0);
  quantization->max = LiteralUtil::MaxValue(quantization->storage).GetAsInt64(0);
}

absl::Status CheckQuantization(const Quantization& quantization) {
  Quantization full = quantization;
  if (!IsIntegralType(full.storage) || PrimitiveTypeBitWidth(full.storage) > 32)
    return InvalidArgument("expected integers of at most 32 bits to store quantized numbers, got ",
                           PrimitiveTypeName(full.storage));
  if (!IsFloatingPointType(full.expressed))
    return InvalidArgument("expected floats as quantized numbers, got ", PrimitiveTypeName(full.expressed));
  SetStorageRange(&full);
  if (quantization.min < full.min || quantization.max > full.max || quantization.min >= quantization.max)
    return InvalidArgument("quantized numbers from ", quantization.min, " to ", quantization.max, " in ",
                           PrimitiveTypeName(full.storage));
  if (quantization.scales.empty() || quantization.scales.size() != quantization.zero_points.size())
    return InvalidArgument("expected a zero point for each scale, got ", quantization.zero_points.size(), " for ",
                           quantization.scales.size());
  int64_t blocks = 1, previous = -1;
  for (size_t i = 0; i < quantization.dimensions.size(); ++i) {
    if (quantization.dimensions[i] <= previous)
      return InvalidArgument("expected dimensions in ascending order, got ", quantization.dimensions[i], " after ",
                             previous);
    previous = quantization.dimensions[i];
    if (quantization.block_sizes[i] < 1) return InvalidArgument("blocks of ", quantization.block_sizes[i], " elements");
    blocks *= quantization.grid[i];
  }
  if (static_cast<int64_t>(quantization.scales.size()) != blocks)
    return InvalidArgument("expected ", blocks, " scales, got ", quantization.scales.size());
  for (const double scale : quantization.scales) {
    const double rounded = LiteralUtil::FromDouble(full.expressed, scale).GetAsDouble(0);
    if (!(rounded > 0) || !std::isfinite(rounded))
      return InvalidArgument("a scale of ", scale, " of ", PrimitiveTypeName(full.expressed));
  }
  for (const int64_t zero : quantization.zero_points) {
    if (zero < quantization.min || zero > quantization.max)
      return InvalidArgument("a zero point of ", zero, ", which is not in [", quantization.min, ", ", quantization.max,
                             "]");
  }
  return absl::OkStatus();
}

}  // namespace hilo::stablehlo
