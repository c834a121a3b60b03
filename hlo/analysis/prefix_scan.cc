#include "hlo/analysis/prefix_scan.h"

#include "base/math.h"
#include "hlo/analysis/hero.h"
#include "hlo/analysis/reduction_op.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo {

std::optional<ScanWindow> ScanWindowOf(const HloInstruction& reduce_window) {
  const auto& window = reduce_window.attrs<ReduceWindowAttrs>().window.dimensions;
  const Shape& shape = reduce_window.operand(0)->shape();
  std::optional<ScanWindow> running;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    const Window::Dimension& w = window[d];
    const int64_t size = shape.dimensions(d), reach = w.size - 1;
    if (w.stride != 1 || w.base_dilation != 1) return std::nullopt;
    if (w.size == 1 && w.padding_low == 0 && w.padding_high == 0) continue;
    if (running.has_value() || w.window_dilation != 1 || w.size < size || size == 0) return std::nullopt;
    const bool front = w.padding_low == reach && w.padding_high == 0,
               back = w.padding_low == 0 && w.padding_high == reach;
    if (!front && !back) return std::nullopt;
    running = {.dimension = d, .from_back = back};
  }
  return running;
}

std::optional<PrefixScan> PrefixScanOf(const HloInstruction& instruction) {
  PrefixScan scan{.instruction = &instruction, .hero = HeroOf(&instruction)};
  const std::optional<ScanWindow> window = ScanWindowOf(*scan.hero);
  if (!window.has_value() || ShapeUtil::IsZeroElementArray(scan.hero->operand(0)->shape())) return std::nullopt;
  const auto sizes = scan.hero->operand(0)->shape().dimensions();
  scan.from_back = window->from_back;
  scan.count = scan.hero->operand_count() / 2;
  scan.outer = Product(sizes.first(window->dimension));
  scan.size = sizes[window->dimension];
  scan.inner = Product(sizes.subspan(window->dimension + 1));
  scan.dimensions.assign(sizes.begin(), sizes.end());
  for (int64_t i = 0; i < scan.count; ++i) scan.types.push_back(scan.hero->operand(i)->shape().element_type());
  if (scan.count == 1) scan.opcode = ReductionOp(scan.computation());
  return scan;
}

}  // namespace hilo
