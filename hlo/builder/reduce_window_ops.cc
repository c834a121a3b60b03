// ReduceWindow and its paddings.
#include "absl/strings/str_join.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "hlo/builder/xla_builder.h"

namespace hilo {
namespace {

// Entry d of a list that may be left out.
absl::StatusOr<int64_t> Entry(absl::string_view what, absl::Span<const int64_t> list, size_t d,
                              size_t rank) {
  if (list.empty()) return 1;
  if (list.size() == rank) return list[d];
  return InvalidArgument("reduce-window: expected ", rank, " ", what, "; got {",
                         absl::StrJoin(list, ","), "}");
}

absl::StatusOr<Window> MakeWindow(absl::Span<const int64_t> sizes,
                                  absl::Span<const int64_t> strides,
                                  absl::Span<const int64_t> base_dilations,
                                  absl::Span<const int64_t> window_dilations,
                                  absl::Span<const std::pair<int64_t, int64_t>> padding) {
  if (padding.size() != sizes.size()) {
    return InvalidArgument("reduce-window: expected ", sizes.size(), " pairs of padding; got ",
                           padding.size());
  }
  Window window;
  for (size_t d = 0; d < sizes.size(); ++d) {
    Window::Dimension& dimension = window.dimensions.emplace_back();
    dimension.size = sizes[d];
    dimension.padding_low = padding[d].first;
    dimension.padding_high = padding[d].second;
    HILO_ASSIGN_OR_RETURN(dimension.stride, Entry("window strides", strides, d, sizes.size()));
    HILO_ASSIGN_OR_RETURN(dimension.base_dilation,
                          Entry("base dilations", base_dilations, d, sizes.size()));
    HILO_ASSIGN_OR_RETURN(dimension.window_dilation,
                          Entry("window dilations", window_dilations, d, sizes.size()));
  }
  return window;
}

XlaBuilder* BuilderOf(absl::Span<const XlaOp> operands) {
  return operands.empty() ? nullptr : operands[0].builder();
}

}  // namespace

XlaOp ReduceWindowWithGeneralPadding(absl::Span<const XlaOp> operands,
                                     absl::Span<const XlaOp> init_values,
                                     const XlaComputation& computation,
                                     absl::Span<const int64_t> window_dimensions,
                                     absl::Span<const int64_t> window_strides,
                                     absl::Span<const int64_t> base_dilations,
                                     absl::Span<const int64_t> window_dilations,
                                     absl::Span<const std::pair<int64_t, int64_t>> padding) {
  XlaBuilder* builder = BuilderOf(operands);
  if (builder == nullptr) return XlaOp();
  absl::StatusOr<Window> window =
      MakeWindow(window_dimensions, window_strides, base_dilations, window_dilations, padding);
  if (!window.ok()) return builder->ReportError(window.status());
  auto attributes = std::make_unique<ReduceWindowAttrs>();
  attributes->window = *std::move(window);
  std::vector<XlaOp> all(operands.begin(), operands.end());
  all.insert(all.end(), init_values.begin(), init_values.end());
  return builder->AddOp(HloOpcode::kReduceWindow, all, std::move(attributes), {&computation});
}

XlaOp ReduceWindowWithGeneralPadding(XlaOp operand, XlaOp init_value,
                                     const XlaComputation& computation,
                                     absl::Span<const int64_t> window_dimensions,
                                     absl::Span<const int64_t> window_strides,
                                     absl::Span<const int64_t> base_dilations,
                                     absl::Span<const int64_t> window_dilations,
                                     absl::Span<const std::pair<int64_t, int64_t>> padding) {
  return ReduceWindowWithGeneralPadding(
      absl::MakeConstSpan(&operand, 1), absl::MakeConstSpan(&init_value, 1), computation,
      window_dimensions, window_strides, base_dilations, window_dilations, padding);
}

XlaOp ReduceWindow(absl::Span<const XlaOp> operands, absl::Span<const XlaOp> init_values,
                   const XlaComputation& computation, absl::Span<const int64_t> window_dimensions,
                   absl::Span<const int64_t> window_strides, Padding padding) {
  XlaBuilder* builder = BuilderOf(operands);
  if (builder == nullptr) return XlaOp();
  const absl::StatusOr<Shape> shape = builder->GetShape(operands[0]);
  if (!shape.ok()) return builder->ReportError(shape.status());
  if (!shape->IsArray()) {
    return builder->ReportError(
        InvalidArgument("reduce-window: expected an array; got ", shape->ToString()));
  }
  const std::vector<int64_t> ones(window_dimensions.size(), 1);
  const absl::Span<const int64_t> strides = window_strides.empty() ? absl::MakeConstSpan(ones) : window_strides;
  const absl::Status valid = ValidatePaddingValues(shape->dimensions(), window_dimensions, strides);
  if (!valid.ok()) return builder->ReportError(valid);
  const auto pairs = MakePadding(shape->dimensions(), window_dimensions, strides, padding);
  return ReduceWindowWithGeneralPadding(operands, init_values, computation, window_dimensions,
                                        window_strides,
                                        /*base_dilations=*/{}, /*window_dilations=*/{}, pairs);
}

XlaOp ReduceWindow(XlaOp operand, XlaOp init_value, const XlaComputation& computation,
                   absl::Span<const int64_t> window_dimensions,
                   absl::Span<const int64_t> window_strides, Padding padding) {
  return ReduceWindow(absl::MakeConstSpan(&operand, 1), absl::MakeConstSpan(&init_value, 1),
                      computation, window_dimensions, window_strides, padding);
}

}  // namespace hilo
