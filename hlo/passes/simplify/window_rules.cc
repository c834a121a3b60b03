// Reduce-windows that are shifted prefix scans.
//
// A window that reaches over the front of the array at every position covers all elements up to its position plus a
// constant: it is an element of the prefix scan, which backends compute in one pass where the windows take a square.
//
//   e = reduce-window(f32[1000] x, init), window={size=1000 pad=1000_-1}          the exclusive scan
//
//   =>  scan = reduce-window(x, init), window={size=1000 pad=999_0}
//       e = concatenate(broadcast(init), slice(scan, {[0:999]}))
//
// Positions before the first element have the initial value, those after the last one the whole reduction.
// Windows that reach over the end are the same from the back. Each window combines the same elements in the same order
// as before, so every bit stays.
//
// Sums of windows of which each has one element, as in the gradient of an average of windows side by side, repeat it:
//
//   p = pad(f32[8] x, 0), padding=1_1_1    r = reduce-window(p, 0), window={size=2}, add
//
//   =>  r = reshape(broadcast(x) to f32[8,2])
#include <algorithm>

#include "hilo/status_macros.h"
#include "hlo/analysis/prefix_scan.h"
#include "hlo/analysis/reduction_op.h"
#include "hlo/passes/make_instruction.h"
#include "hlo/passes/simplify/rules.h"

namespace hilo::simplify {
namespace {

using Result = absl::StatusOr<HloInstruction*>;

// Windows and positions fewer than this are not worth a rewrite.
constexpr int64_t kFew = 8;

// Position o of the result is element o + shift of the scan along `dimension`.
struct ShiftedScan {
  int64_t dimension = 0, size = 0, positions = 0, shift = 0;
  bool from_back = false;
};

std::optional<ShiftedScan> ShiftedScanOf(const HloInstruction& reduce_window) {
  if (ScanWindowOf(reduce_window).has_value()) return std::nullopt;  // is one
  const Shape& array = reduce_window.operand(0)->shape();
  const Shape& result = reduce_window.shape().IsTuple() ? reduce_window.shape().tuple_shapes(0) : reduce_window.shape();
  const auto& window = reduce_window.attrs<ReduceWindowAttrs>().window.dimensions;
  std::optional<ShiftedScan> scan;
  for (int64_t d = 0; d < array.rank(); ++d) {
    const Window::Dimension& w = window[d];
    if (w.stride != 1 || w.base_dilation != 1) return std::nullopt;
    if (w.size == 1 && w.padding_low == 0 && w.padding_high == 0) continue;
    const int64_t size = array.dimensions(d), positions = result.dimensions(d);
    if (scan.has_value() || w.window_dilation != 1 || size < kFew || positions < kFew || w.size < kFew)
      return std::nullopt;
    // Position o covers [o - padding_low, o - padding_low + w.size).
    const bool over_front = w.padding_low >= positions - 1, over_end = w.size - w.padding_low >= size;
    if (over_front == over_end)
      return std::nullopt;  // of those that cover the whole array, or part of it in the middle
    scan = {.dimension = d,
            .size = size,
            .positions = positions,
            .shift = over_front ? w.size - 1 - w.padding_low : -w.padding_low,
            .from_back = over_end};
  }
  return scan;
}

Result MakeScan(HloInstruction* reduce_window, const ShiftedScan& scan) {
  auto attributes = std::make_unique<ReduceWindowAttrs>(reduce_window->attrs<ReduceWindowAttrs>());
  Window::Dimension& w = attributes->window.dimensions[scan.dimension];
  w.size = scan.size;
  w.padding_low = scan.from_back ? 0 : scan.size - 1;
  w.padding_high = scan.from_back ? scan.size - 1 : 0;
  return reduce_window->parent()->AddOp(HloOpcode::kReduceWindow, reduce_window->operands(), std::move(attributes),
                                        {reduce_window->called_computation()});
}

// Elements [first, last) of `array` along the dimension.
Result MakeRange(HloInstruction* array, const ShiftedScan& scan, int64_t first, int64_t last) {
  std::vector<SliceRange> ranges;
  for (int64_t size : array->shape().dimensions()) ranges.push_back({0, size, 1});
  ranges[scan.dimension] = {first, last, 1};
  return MakeSlice(array, std::move(ranges));
}

Result ShiftScan(HloInstruction* array, HloInstruction* init, const ShiftedScan& scan) {
  std::vector<HloInstruction*> parts;
  const auto shape_of = [&](int64_t count) {
    Shape shape = array->shape();
    shape.set_dimensions(scan.dimension, count);
    return shape;
  };
  // `count` times the initial value, or the reduction of all elements.
  const auto repeat = [&](int64_t count, bool all) -> absl::Status {
    if (count <= 0) return absl::OkStatus();
    if (!all) {
      HILO_ASSIGN_OR_RETURN(parts.emplace_back(), MakeBroadcast(init, shape_of(count), {}));
      return absl::OkStatus();
    }
    const int64_t last = scan.from_back ? 0 : scan.size - 1;
    HILO_ASSIGN_OR_RETURN(HloInstruction * one, MakeRange(array, scan, last, last + 1));
    std::vector<int64_t> dimensions;
    for (int64_t d = 0; d < array->shape().rank(); ++d) {
      if (d != scan.dimension) dimensions.push_back(d);
    }
    HILO_ASSIGN_OR_RETURN(one, MakeReshape(one, ShapeUtil::DeleteDimensions({scan.dimension}, array->shape())));
    HILO_ASSIGN_OR_RETURN(parts.emplace_back(), MakeBroadcast(one, shape_of(count), std::move(dimensions)));
    return absl::OkStatus();
  };
  const int64_t first = std::clamp<int64_t>(scan.shift, 0, scan.size),
                last = std::clamp<int64_t>(scan.shift + scan.positions, 0, scan.size);
  const int64_t before = std::clamp<int64_t>(-scan.shift, 0, scan.positions);
  HILO_RETURN_IF_ERROR(repeat(before, /*all=*/scan.from_back));
  if (first < last) {
    HILO_ASSIGN_OR_RETURN(parts.emplace_back(), MakeRange(array, scan, first, last));
  }
  HILO_RETURN_IF_ERROR(repeat(scan.positions - before - std::max<int64_t>(last - first, 0), /*all=*/!scan.from_back));
  if (parts.size() == 1) return parts[0];
  auto attributes = std::make_unique<ConcatenateAttrs>();
  attributes->dimensions = {scan.dimension};
  return array->parent()->AddOp(HloOpcode::kConcatenate, parts, std::move(attributes));
}

Result ScanOfWindows(HloInstruction* reduce_window) {
  const std::optional<ShiftedScan> scan = ShiftedScanOf(*reduce_window);
  if (!scan.has_value()) return nullptr;
  HILO_ASSIGN_OR_RETURN(HloInstruction * whole, MakeScan(reduce_window, *scan));
  const int64_t count = reduce_window->operand_count() / 2;
  if (count == 1) return ShiftScan(whole, reduce_window->operand(1), *scan);
  std::vector<HloInstruction*> results;
  for (int64_t i = 0; i < count; ++i) {
    HILO_ASSIGN_OR_RETURN(HloInstruction * array, MakeTupleElement(whole, i));
    HILO_ASSIGN_OR_RETURN(results.emplace_back(), ShiftScan(array, reduce_window->operand(count + i), *scan));
  }
  return whole->parent()->AddOp(HloOpcode::kTuple, results);
}

// Returns how often the sum of windows repeats each element of the array that its operand pads, for each dimension; or
// nullopt. Between two elements, before the first and after the last one are as many zeros as a window has others.
std::optional<std::vector<int64_t>> RepeatsOf(const HloInstruction& reduce_window) {
  const HloInstruction& pad = *reduce_window.operand(0);
  if (reduce_window.operand_count() != 2 || pad.opcode() != HloOpcode::kPad || !IsAll(pad.operand(1), 0) ||
      !IsAll(reduce_window.operand(1), 0) || !ShapeUtil::SameElementType(reduce_window.shape(), pad.shape()) ||
      ReductionOp(*reduce_window.called_computation()) != HloOpcode::kAdd)
    return std::nullopt;
  const auto& window = reduce_window.attrs<ReduceWindowAttrs>().window.dimensions;
  const auto& padding = pad.attrs<PadAttrs>().padding.dimensions;
  std::vector<int64_t> repeats;
  for (size_t d = 0; d < window.size(); ++d) {
    const Window::Dimension& w = window[d];
    const int64_t zeros = w.size - 1;
    if (w.stride != 1 || w.padding_low != 0 || w.padding_high != 0 || w.base_dilation != 1 || w.window_dilation != 1 ||
        padding[d].edge_padding_low != zeros || padding[d].edge_padding_high != zeros ||
        padding[d].interior_padding != zeros || pad.operand(0)->shape().dimensions(static_cast<int64_t>(d)) == 0)
      return std::nullopt;
    repeats.push_back(w.size);
  }
  return repeats;
}

Result SumOfOne(HloInstruction* reduce_window) {
  const std::optional<std::vector<int64_t>> repeats = RepeatsOf(*reduce_window);
  if (!repeats.has_value()) return nullptr;
  HloInstruction* const x = reduce_window->operand(0)->operand(0);
  std::vector<int64_t> sizes, kept;
  for (size_t d = 0; d < repeats->size(); ++d) {
    kept.push_back(static_cast<int64_t>(sizes.size()));
    sizes.push_back(x->shape().dimensions(static_cast<int64_t>(d)));
    if ((*repeats)[d] > 1) sizes.push_back((*repeats)[d]);
  }
  HILO_ASSIGN_OR_RETURN(HloInstruction* const repeated,
                        MakeBroadcast(x, ShapeUtil::MakeShape(x->shape().element_type(), sizes), std::move(kept)));
  return MakeReshape(repeated, reduce_window->shape());
}

const Rule kWindowRules[] = {
    {HloOpcode::kReduceWindow, "reduce-window(pad(x, 0)), sums of one element each => repeated elements of x", SumOfOne,
     /*exact=*/false},
    {HloOpcode::kReduceWindow,
     "reduce-window(x), over the front or the end at every position => concatenate of parts of a prefix scan",
     ScanOfWindows},
};

}  // namespace

absl::Span<const Rule> WindowRules() { return kWindowRules; }

}  // namespace hilo::simplify
