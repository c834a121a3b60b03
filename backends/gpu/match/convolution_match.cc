// HLO has one convolution, cuDNN three. JAX's gradients are, in the notation of lib/convolution.h:
//
//   of x   convolution(y, w): y dilated by the stride, w reversed with its features exchanged, padding that adds up to
//          the window with that of the forward one
//   of w   convolution(x, y): features are images and images features, y is the window, dilated by the stride, and the
//          stride is its dilation
//
// Each kind has an interpretation of HLO's dimensions and window; the first kind whose sizes cuDNN accepts is used. If
// both apply, a filter's gradient is the one with a window larger than its result, and an input's the one whose window
// is reversed.
#include "backends/gpu/match/convolution_match.h"

#include <algorithm>
#include <array>

#include "absl/algorithm/container.h"
#include "backends/gpu/match/epilogue_match.h"
#include "hlo/analysis/precision.h"
#include "hlo/ops/linalg/convolution_attributes.h"

namespace hilo::gpu {
namespace {

// The dimensions of an array: what cuDNN calls images (of w output features), features and spatial ones.
struct Roles {
  int64_t images, features;
  std::vector<int64_t> spatial;

  std::vector<int64_t> Order(bool features_last) const {
    std::vector<int64_t> order = {images};
    if (!features_last) order.push_back(features);
    order.insert(order.end(), spatial.begin(), spatial.end());
    if (features_last) order.push_back(features);
    return order;
  }
  std::vector<int64_t> Sizes(const Shape& shape) const {
    std::vector<int64_t> sizes;
    for (int64_t d : spatial) sizes.push_back(shape.dimensions(d));
    return sizes;
  }
};

// Computes the library's padding_high from the size of y, which HLO states: equal to padding_low if the size allows
// it.
bool FindHighPadding(ConvolutionDescriptor* c) {
  for (size_t d = 0; d < c->in.size(); ++d) {
    const int64_t extent = (c->taps[d] - 1) * c->dilations[d] + 1;
    const int64_t least = (c->out[d] - 1) * c->strides[d] + extent - c->in[d] - c->padding_low[d],
                  most = least + c->strides[d] - 1;
    if (c->padding_low[d] < 0 || most < 0) return false;
    const int64_t low = c->padding_low[d];
    c->padding_high.push_back(low >= least && low <= most ? low : std::max<int64_t>(least, 0));
  }
  return true;
}

// The library requires at least two spatial dimensions.
void AddSpatialDimensions(ConvolutionDescriptor* c) {
  while (c->in.size() < 2) {
    for (std::vector<int64_t>* sizes : {&c->in, &c->taps, &c->out, &c->strides, &c->dilations})
      sizes->insert(sizes->begin(), 1);
    for (std::vector<int64_t>* sizes : {&c->padding_low, &c->padding_high}) sizes->insert(sizes->begin(), 0);
  }
}

class Reading {
 public:
  explicit Reading(const HloInstruction& convolution)
      : attrs_(convolution.attrs<ConvolutionAttrs>()),
        numbers_(attrs_.dim_labels),
        window_(attrs_.window.dimensions),
        lhs_(convolution.operand(0)->shape()),
        rhs_(convolution.operand(1)->shape()),
        result_(convolution.shape()) {}

  std::optional<ConvolutionPlan> Plan() const {
    if (lhs_.element_type() != rhs_.element_type() || !IsOfModestSize()) return std::nullopt;
    for (ConvolutionKind kind : Kinds()) {
      if (std::optional<ConvolutionPlan> plan = As(kind)) return plan;
    }
    return std::nullopt;
  }

 private:
  // Bounds sizes so that sums and products of window and sizes cannot overflow.
  bool IsOfModestSize() const {
    constexpr size_t kMaxDimensions = 3;
    if (window_.size() > kMaxDimensions) return false;
    for (const Shape* shape : {&lhs_, &rhs_, &result_}) {
      for (int64_t size : shape->dimensions()) {
        if (size < 1 || size > INT32_MAX) return false;
      }
    }
    for (const Window::Dimension& w : window_) {
      for (int64_t value : {w.stride, w.padding_low, w.padding_high, w.base_dilation, w.window_dilation}) {
        if (value > INT32_MAX || value < -INT32_MAX) return false;
      }
    }
    return true;
  }

  bool IsDilatedInput() const {
    return absl::c_any_of(window_, [](const Window::Dimension& w) { return w.base_dilation > 1; });
  }
  bool HasStride() const {
    return absl::c_any_of(window_, [](const Window::Dimension& w) { return w.stride > 1; });
  }
  // Nullopt: some dimensions are, others are not.
  std::optional<bool> IsReversed() const {
    const auto is_said = [](bool reversed) {
      return [reversed](const Window::Dimension& w) { return w.size == 1 || w.window_reversal == reversed; };
    };
    if (absl::c_all_of(window_, is_said(false))) return false;
    if (absl::c_all_of(window_, is_said(true))) return true;
    return std::nullopt;
  }

  std::vector<ConvolutionKind> Kinds() const {
    int64_t taps = 1, positions = 1;
    for (const Window::Dimension& w : window_) taps *= std::min<int64_t>(w.size, INT16_MAX);
    for (int64_t d : numbers_.output_spatial_dimensions())
      positions *= std::min<int64_t>(result_.dimensions(d), INT16_MAX);
    std::vector<ConvolutionKind> kinds;
    if (attrs_.batch_group_count > 1 || taps > positions) kinds.push_back(ConvolutionKind::kBackwardFilter);
    if (IsDilatedInput() || IsReversed() == true) kinds.push_back(ConvolutionKind::kBackwardInput);
    kinds.push_back(ConvolutionKind::kForward);
    return kinds;
  }

  // Roles of lhs, rhs and result.
  std::optional<std::array<Roles, 3>> RolesAs(ConvolutionKind kind) const {
    const auto list = [](const auto& dimensions) { return std::vector<int64_t>(dimensions.begin(), dimensions.end()); };
    const std::vector<int64_t> in = list(numbers_.input_spatial_dimensions()),
                               kernel = list(numbers_.kernel_spatial_dimensions()),
                               out = list(numbers_.output_spatial_dimensions());
    const int64_t input = numbers_.kernel_input_feature_dimension(),
                  output = numbers_.kernel_output_feature_dimension();
    const Roles given = {numbers_.input_batch_dimension(), numbers_.input_feature_dimension(), in};
    const Roles computed = {numbers_.output_batch_dimension(), numbers_.output_feature_dimension(), out};
    const std::optional<bool> reversed = IsReversed();
    if (!reversed.has_value()) return std::nullopt;
    switch (kind) {
      case ConvolutionKind::kForward:
        if (IsDilatedInput() || attrs_.batch_group_count > 1) return std::nullopt;
        return std::array<Roles, 3>{given, {output, input, kernel}, computed};
      case ConvolutionKind::kBackwardInput: {
        if (HasStride() || attrs_.batch_group_count > 1) return std::nullopt;
        if (attrs_.feature_group_count == 1) return std::array<Roles, 3>{given, {input, output, kernel}, computed};
        // A group has one feature on each side; otherwise the groups of w are along its other dimension.
        if (rhs_.dimensions(input) != 1 || rhs_.dimensions(output) != attrs_.feature_group_count) return std::nullopt;
        return std::array<Roles, 3>{given, {output, input, kernel}, computed};
      }
      case ConvolutionKind::kBackwardFilter:
        if (IsDilatedInput() || *reversed || attrs_.feature_group_count > 1) return std::nullopt;
        return std::array<Roles, 3>{Roles{given.features, given.images, in},
                                    {input, output, kernel},
                                    {computed.features, computed.images, out}};
    }
    return std::nullopt;
  }

  std::optional<ConvolutionPlan> As(ConvolutionKind kind) const {
    const std::optional<std::array<Roles, 3>> roles = RolesAs(kind);
    if (!roles.has_value()) return std::nullopt;
    const auto& [lhs, rhs, result] = *roles;
    ConvolutionPlan plan;
    ConvolutionDescriptor& c = plan.descriptor;
    c.kind = kind;
    c.type = lhs_.element_type();
    c.result_type = result_.element_type();
    c.groups = attrs_.feature_group_count * attrs_.batch_group_count;
    c.allow_tf32 = c.type == F32 && AllowsTf32(attrs_);
    c.is_reversed = kind == ConvolutionKind::kBackwardInput ? !*IsReversed() && !HasOneTap()
                                                            : kind == ConvolutionKind::kForward && *IsReversed();
    // Selects which of the three is x, w and y.
    const bool filter = kind == ConvolutionKind::kBackwardFilter, input = kind == ConvolutionKind::kBackwardInput;
    const Shape &x_shape = input ? result_ : lhs_, &w_shape = filter ? result_ : rhs_,
                &y_shape = filter  ? rhs_
                           : input ? lhs_
                                   : result_;
    const Roles &x = input ? result : lhs, &w = filter ? result : rhs, &y = filter ? rhs : input ? lhs : result;
    c.images = x_shape.dimensions(x.images);
    c.in_features = x_shape.dimensions(x.features);
    c.out_features = y_shape.dimensions(y.features);
    c.in = x.Sizes(x_shape);
    c.taps = w.Sizes(w_shape);
    c.out = y.Sizes(y_shape);
    for (const Window::Dimension& d : window_) {
      c.strides.push_back(filter ? d.window_dilation : input ? d.base_dilation : d.stride);
      c.dilations.push_back(filter ? d.stride : d.window_dilation);
      c.padding_low.push_back(input ? (d.size - 1) * d.window_dilation - d.padding_low : d.padding_low);
    }
    if (!FindHighPadding(&c)) return std::nullopt;
    AddSpatialDimensions(&c);
    if (!CheckConvolution(c).ok()) return std::nullopt;

    int64_t least = INT64_MAX;
    for (bool features_last : {true, false}) {
      std::vector<int64_t> orders[] = {lhs.Order(features_last), rhs.Order(features_last), result.Order(features_last)};
      const Shape* shapes[] = {&lhs_, &rhs_, &result_};
      int64_t moved = 0;
      for (int i = 0; i < 3; ++i) moved += IsInOrder(*shapes[i], orders[i]) ? 0 : ShapeUtil::ByteSizeOf(*shapes[i]);
      if (moved >= least) continue;
      least = moved;
      c.features_last = features_last;
      plan.lhs = std::move(orders[0]);
      plan.rhs = std::move(orders[1]);
      plan.result = std::move(orders[2]);
    }
    return plan;
  }

  bool HasOneTap() const {
    return absl::c_all_of(window_, [](const Window::Dimension& w) { return w.size == 1; });
  }

  const ConvolutionAttrs& attrs_;
  const ConvolutionDimensionNumbers& numbers_;
  const std::vector<Window::Dimension>& window_;
  const Shape &lhs_, &rhs_, &result_;
};

// Extends a match to the instructions after a convolution.
class ConvolutionEpilogueMatcher {
 public:
  explicit ConvolutionEpilogueMatcher(ConvolutionMatch match) : match_(std::move(match)) {}

  ConvolutionMatch Grow() {
    if (match_.descriptor.kind != ConvolutionKind::kForward) return std::move(match_);
    ConvolutionMatch taken = match_;
    const auto keep = [&] {
      if (CheckConvolution(match_.descriptor).ok()) taken = match_;
    };
    for (const HloInstruction* user = OnlyUser(match_.root); user != nullptr && AddTerm(user);
         user = OnlyUser(match_.root))
      keep();
    if (const HloInstruction* user = OnlyUser(match_.root); user != nullptr && Activate(user)) keep();
    return taken;
  }

 private:
  void Take(const HloInstruction* instruction) {
    for (const HloInstruction* operand : instruction->operands()) {
      const bool is_number = operand->opcode() == HloOpcode::kBroadcast && UniformNumber(operand).has_value();
      if (is_number && !absl::c_linear_search(match_.members, operand)) match_.members.push_back(operand);
    }
    match_.members.push_back(instruction);
    match_.root = instruction;
  }

  bool AddTerm(const HloInstruction* user) {
    const HloInstruction* term = OtherOperand(user, HloOpcode::kAdd, Is(match_.root));
    if (term == nullptr || term == match_.root || UniformNumber(term).has_value()) return false;
    if (IsBias(term) && match_.bias == nullptr) {
      match_.bias = term->operand(0);
      match_.descriptor.has_bias = true;
      match_.members.push_back(term);
    } else if (match_.residual == nullptr && term->opcode() != HloOpcode::kBroadcast) {
      match_.residual = term;
      match_.descriptor.has_residual = true;
    } else {
      return false;
    }
    Take(user);
    return true;
  }

  // A number for each output feature.
  bool IsBias(const HloInstruction* term) const {
    if (term->opcode() != HloOpcode::kBroadcast ||
        ShapeUtil::ElementsIn(term->operand(0)->shape()) != match_.descriptor.out_features)
      return false;
    const int64_t features = match_.convolution->attrs<ConvolutionAttrs>().dim_labels.output_feature_dimension();
    const Shape& shape = term->operand(0)->shape();
    const std::vector<int64_t>& dimensions = term->attrs<BroadcastAttrs>().dimensions;
    for (size_t i = 0; i < dimensions.size(); ++i) {
      if (dimensions[i] != features && shape.dimensions(static_cast<int64_t>(i)) != 1) return false;
    }
    return absl::c_linear_search(dimensions, features);
  }

  // max(x, 0), min(max(x, 0), 6) or clamp(0, x, 6).
  bool Activate(const HloInstruction* user) {
    const HloInstruction* x = match_.root;
    if (user->opcode() == HloOpcode::kClamp) {
      if (user->operand(1) != x || UniformNumber(user->operand(0)) != 0.0 || UniformNumber(user->operand(2)) != 6.0)
        return false;
      match_.descriptor.activation = ConvolutionActivation::kRelu6;
      Take(user);
      return true;
    }
    const HloInstruction* floor = OtherOperand(user, HloOpcode::kMaximum, Is(x));
    if (floor == nullptr || UniformNumber(floor) != 0.0) return false;
    match_.descriptor.activation = ConvolutionActivation::kRelu;
    Take(user);
    const HloInstruction* next = OnlyUser(user);
    const HloInstruction* ceiling = next == nullptr ? nullptr : OtherOperand(next, HloOpcode::kMinimum, Is(user));
    if (ceiling == nullptr || UniformNumber(ceiling) != 6.0) return true;
    match_.descriptor.activation = ConvolutionActivation::kRelu6;
    Take(next);
    return true;
  }

  ConvolutionMatch match_;
};

}  // namespace

bool IsInOrder(const Shape& shape, const std::vector<int64_t>& order) {
  int64_t last = -1;
  for (int64_t d : order) {
    if (shape.dimensions(d) == 1) continue;
    if (d < last) return false;
    last = d;
  }
  return true;
}

std::optional<ConvolutionPlan> PlanConvolution(const HloInstruction& convolution) {
  return Reading(convolution).Plan();
}

std::optional<ConvolutionMatch> MatchPlainConvolution(const HloInstruction& convolution) {
  const std::optional<ConvolutionPlan> plan = PlanConvolution(convolution);
  if (!plan.has_value() || !IsInOrder(convolution.operand(0)->shape(), plan->lhs) ||
      !IsInOrder(convolution.operand(1)->shape(), plan->rhs) || !IsInOrder(convolution.shape(), plan->result)) {
    return std::nullopt;
  }
  return ConvolutionMatch{
      .descriptor = plan->descriptor, .convolution = &convolution, .root = &convolution, .members = {&convolution}};
}

std::optional<ConvolutionMatch> MatchConvolution(const HloInstruction& convolution) {
  std::optional<ConvolutionMatch> match = MatchPlainConvolution(convolution);
  if (match.has_value()) match = ConvolutionEpilogueMatcher(*std::move(match)).Grow();
  return match;
}

std::optional<ConvolutionMatch> ConvolutionOf(const HloInstruction& instruction) {
  if (instruction.opcode() != HloOpcode::kFusion || instruction.attrs<FusionAttrs>().kind != FusionKind::kCustom)
    return std::nullopt;
  const HloComputation* computation = instruction.called_computation();
  for (const HloInstruction* inner : computation->instructions()) {
    if (inner->opcode() != HloOpcode::kConvolution) continue;
    for (std::optional<ConvolutionMatch> match : {MatchConvolution(*inner), MatchPlainConvolution(*inner)}) {
      if (match.has_value() && match->root == computation->root_instruction()) return match;
    }
  }
  return std::nullopt;
}

}  // namespace hilo::gpu
