// ReduceWindow and SelectAndScatter with their paddings, and Scan.
#include "absl/strings/str_join.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hilo/xla_builder.h"
#include "hlo/builder/add_op.h"
#include "hlo/builder/padding.h"
#include "hlo/ops/reduction/search_attributes.h"

namespace hilo {
namespace {

// Entry d of a list that may be left out.
absl::StatusOr<int64_t> Entry(absl::string_view name, absl::string_view what, absl::Span<const int64_t> list, size_t d,
                              size_t rank) {
  if (list.empty()) return 1;
  if (list.size() == rank) return list[d];
  return InvalidArgument(name, ": expected ", rank, " ", what, "; got {", absl::StrJoin(list, ","), "}");
}

absl::StatusOr<Window> MakeWindow(absl::string_view name, absl::Span<const int64_t> sizes,
                                  absl::Span<const int64_t> strides, absl::Span<const int64_t> base_dilations,
                                  absl::Span<const int64_t> window_dilations,
                                  absl::Span<const std::pair<int64_t, int64_t>> padding) {
  if (padding.size() != sizes.size()) {
    return InvalidArgument(name, ": expected ", sizes.size(), " pairs of padding; got ", padding.size());
  }
  Window window;
  for (size_t d = 0; d < sizes.size(); ++d) {
    Window::Dimension& dimension = window.dimensions.emplace_back();
    dimension.size = sizes[d];
    dimension.padding_low = padding[d].first;
    dimension.padding_high = padding[d].second;
    HILO_ASSIGN_OR_RETURN(dimension.stride, Entry(name, "window strides", strides, d, sizes.size()));
    HILO_ASSIGN_OR_RETURN(dimension.base_dilation, Entry(name, "base dilations", base_dilations, d, sizes.size()));
    HILO_ASSIGN_OR_RETURN(dimension.window_dilation,
                          Entry(name, "window dilations", window_dilations, d, sizes.size()));
  }
  return window;
}

absl::StatusOr<std::vector<std::pair<int64_t, int64_t>>> PaddingOf(absl::string_view name, XlaOp operand,
                                                                   absl::Span<const int64_t> window_dimensions,
                                                                   absl::Span<const int64_t> window_strides,
                                                                   Padding padding) {
  HILO_ASSIGN_OR_RETURN(const Shape shape, operand.builder()->GetShape(operand));
  if (!shape.IsArray()) return InvalidArgument(name, ": expected an array; got ", shape.ToString());
  const std::vector<int64_t> ones(window_dimensions.size(), 1);
  const absl::Span<const int64_t> strides = window_strides.empty() ? absl::MakeConstSpan(ones) : window_strides;
  HILO_RETURN_IF_ERROR(ValidatePaddingValues(shape.dimensions(), window_dimensions, strides));
  return MakePadding(shape.dimensions(), window_dimensions, strides, padding);
}

}  // namespace

XlaOp ReduceWindowWithGeneralPadding(absl::Span<const XlaOp> operands, absl::Span<const XlaOp> init_values,
                                     const XlaComputation& computation, absl::Span<const int64_t> window_dimensions,
                                     absl::Span<const int64_t> window_strides, absl::Span<const int64_t> base_dilations,
                                     absl::Span<const int64_t> window_dilations,
                                     absl::Span<const std::pair<int64_t, int64_t>> padding) {
  XlaBuilder* builder = BuilderOf(operands);
  if (builder == nullptr) return XlaOp();
  absl::StatusOr<Window> window =
      MakeWindow("reduce-window", window_dimensions, window_strides, base_dilations, window_dilations, padding);
  if (!window.ok()) return builder->ReportError(window.status());
  auto attributes = std::make_unique<ReduceWindowAttrs>();
  attributes->window = *std::move(window);
  std::vector<XlaOp> all(operands.begin(), operands.end());
  all.insert(all.end(), init_values.begin(), init_values.end());
  return AddOp(builder, HloOpcode::kReduceWindow, all, std::move(attributes), {&computation});
}

XlaOp ReduceWindowWithGeneralPadding(XlaOp operand, XlaOp init_value, const XlaComputation& computation,
                                     absl::Span<const int64_t> window_dimensions,
                                     absl::Span<const int64_t> window_strides, absl::Span<const int64_t> base_dilations,
                                     absl::Span<const int64_t> window_dilations,
                                     absl::Span<const std::pair<int64_t, int64_t>> padding) {
  return ReduceWindowWithGeneralPadding(absl::MakeConstSpan(&operand, 1), absl::MakeConstSpan(&init_value, 1),
                                        computation, window_dimensions, window_strides, base_dilations,
                                        window_dilations, padding);
}

XlaOp ReduceWindow(absl::Span<const XlaOp> operands, absl::Span<const XlaOp> init_values,
                   const XlaComputation& computation, absl::Span<const int64_t> window_dimensions,
                   absl::Span<const int64_t> window_strides, Padding padding) {
  XlaBuilder* builder = BuilderOf(operands);
  if (builder == nullptr) return XlaOp();
  const auto pairs = PaddingOf("reduce-window", operands[0], window_dimensions, window_strides, padding);
  if (!pairs.ok()) return builder->ReportError(pairs.status());
  return ReduceWindowWithGeneralPadding(operands, init_values, computation, window_dimensions, window_strides,
                                        /*base_dilations=*/{}, /*window_dilations=*/{}, *pairs);
}

XlaOp ReduceWindow(XlaOp operand, XlaOp init_value, const XlaComputation& computation,
                   absl::Span<const int64_t> window_dimensions, absl::Span<const int64_t> window_strides,
                   Padding padding) {
  return ReduceWindow(absl::MakeConstSpan(&operand, 1), absl::MakeConstSpan(&init_value, 1), computation,
                      window_dimensions, window_strides, padding);
}

XlaOp SelectAndScatterWithGeneralPadding(XlaOp operand, const XlaComputation& select,
                                         absl::Span<const int64_t> window_dimensions,
                                         absl::Span<const int64_t> window_strides,
                                         absl::Span<const std::pair<int64_t, int64_t>> padding, XlaOp source,
                                         XlaOp init_value, const XlaComputation& scatter) {
  XlaBuilder* builder = operand.builder();
  if (builder == nullptr) return XlaOp();
  absl::StatusOr<Window> window =
      MakeWindow("select-and-scatter", window_dimensions, window_strides, /*base_dilations=*/{},
                 /*window_dilations=*/{}, padding);
  if (!window.ok()) return builder->ReportError(window.status());
  auto attributes = std::make_unique<SelectAndScatterAttrs>();
  attributes->window = *std::move(window);
  return AddOp(builder, HloOpcode::kSelectAndScatter, {operand, source, init_value}, std::move(attributes),
               {&select, &scatter});
}

XlaOp SelectAndScatter(XlaOp operand, const XlaComputation& select, absl::Span<const int64_t> window_dimensions,
                       absl::Span<const int64_t> window_strides, Padding padding, XlaOp source, XlaOp init_value,
                       const XlaComputation& scatter) {
  XlaBuilder* builder = operand.builder();
  if (builder == nullptr) return XlaOp();
  const auto pairs = PaddingOf("select-and-scatter", operand, window_dimensions, window_strides, padding);
  if (!pairs.ok()) return builder->ReportError(pairs.status());
  return SelectAndScatterWithGeneralPadding(operand, select, window_dimensions, window_strides, *pairs, source,
                                            init_value, scatter);
}

XlaOp Scan(absl::Span<const XlaOp> inputs, absl::Span<const XlaOp> inits, const XlaComputation& to_apply,
           int64_t scan_dimension, bool is_reverse, bool is_associative) {
  XlaBuilder* builder = BuilderOf(inputs);
  if (builder == nullptr) return XlaOp();
  auto attributes = std::make_unique<ScanAttrs>();
  attributes->dimensions = {scan_dimension};
  attributes->num_carries = static_cast<int64_t>(inits.size());
  attributes->is_reverse = is_reverse;
  attributes->is_associative = is_associative;
  std::vector<XlaOp> all(inputs.begin(), inputs.end());
  all.insert(all.end(), inits.begin(), inits.end());
  return AddOp(builder, HloOpcode::kScan, all, std::move(attributes), {&to_apply});
}

}  // namespace hilo
