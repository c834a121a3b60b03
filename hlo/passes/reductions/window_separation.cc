// Windows of several dimensions, dimension by dimension, and long windows of one dimension in two steps:
//
//   reduce-window(f32[100,100] x), window={size=7x7}
//     =>  reduce-window(reduce-window(x), window={size=7x1}), window={size=1x7}        14 elements a result, not 49
//   reduce-window(f32[1000] x), window={size=20}
//     =>  reduce-window(reduce-window(x), window={size=4}), window={size=5 rhs_dilate=4}          9 elements, not 20
//
// The first of two steps may be part of several results of the second: that is what is saved. It costs an array in
// between, so small windows, and those that stride from one to the next, stay. Windows of an op that does not count an
// element twice, such as a maximum, may overlap in the second step, so that windows of any length are two steps.
//
// Elements of the padding have the initial value, and each step starts with it: nothing changes if it is the op's
// identity, nor if the op returns one of two equal operands.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "hilo/status_macros.h"
#include "hlo/analysis/prefix_scan.h"
#include "hlo/analysis/reduction_op.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/standard_passes.h"

namespace hilo {
namespace {

// What an element of an array in between costs, in elements of a window, and how much faster steps must be. Results of
// f32 on two threads with AVX-512, us, called from JAX: five windows of 5x5 on 100 x 110 62 -> 22, five of 7x7 on 110 x
// 130 66 -> 24, two of 20 on 20000 33 -> 10.
constexpr double kStepCost = 3, kMinGain = 1.25;
// The longest windows of a first step, which may itself become two.
constexpr int64_t kLongestFirst = 1 << 8;

bool IsIdempotent(HloOpcode op) {
  return op == HloOpcode::kMaximum || op == HloOpcode::kMinimum || op == HloOpcode::kAnd || op == HloOpcode::kOr;
}

// Whether the windows may start with the initial value more than once.
bool MayStartAgain(const HloInstruction& reduce_window, HloOpcode op) {
  if (IsIdempotent(op)) return true;
  const HloInstruction& init = *reduce_window.operand(1);
  if (!init.IsConstant()) return false;
  const PrimitiveType type = init.shape().element_type();
  const std::optional<Literal> identity = IdentityOf(op, type);
  // A sum that starts with 0 and not with -0 is only 0 where it were -0, in both forms.
  return identity.has_value() &&
         (init.literal() == *identity || (op == HloOpcode::kAdd && init.literal() == LiteralUtil::Zero(type)));
}

using Dimensions = std::vector<Window::Dimension>;

Dimensions Trivial(int64_t rank) { return Dimensions(static_cast<size_t>(rank)); }

// A window in two steps, the first one first.
struct Steps {
  Dimensions first, second;
};

// The elements of the results that windows have over an array of `sizes`; nullopt if that does not fit.
std::optional<double> ResultsOf(absl::Span<const int64_t> sizes, const Dimensions& window) {
  double results = 1;
  for (size_t d = 0; d < window.size(); ++d) {
    const std::optional<int64_t> size = WindowedOutputSize(sizes[d], window[d]);
    if (!size.has_value()) return std::nullopt;
    results *= static_cast<double>(*size);
  }
  return results;
}

double ElementsOf(const Dimensions& window) {
  double elements = 1;
  for (const Window::Dimension& w : window) elements *= static_cast<double>(w.size);
  return elements;
}

// The first dimension of several that have windows, before the others: its vectors are rows of the array.
std::optional<Steps> ByDimensions(absl::Span<const int64_t> sizes, const Dimensions& window) {
  Steps steps{.first = Trivial(static_cast<int64_t>(window.size())), .second = window};
  for (size_t d = 0; d < window.size(); ++d) {
    if (window[d].size == 1) continue;
    steps.first[d] = window[d];
    steps.second[d] = {};
    break;
  }
  if (ElementsOf(steps.second) == 1) return std::nullopt;
  const std::optional<double> between = ResultsOf(sizes, steps.first), results = ResultsOf(sizes, window);
  if (!between.has_value() || !results.has_value()) return std::nullopt;
  const double whole = *results * (ElementsOf(window) + kStepCost);
  double apart = *between * (ElementsOf(steps.first) + kStepCost);
  for (const Window::Dimension& w : steps.second) {
    // At most: a further step has no more results than the last one unless the windows stride.
    if (w.size > 1) apart += std::max(*between, *results) * (static_cast<double>(w.size) + kStepCost);
  }
  if (apart * kMinGain > whole) return std::nullopt;
  return steps;
}

// The only dimension that has windows, in two steps.
std::optional<Steps> ByLength(absl::Span<const int64_t> sizes, const Dimensions& window, HloOpcode op) {
  size_t d = 0;
  while (d < window.size() && window[d].size == 1) ++d;
  if (d == window.size()) return std::nullopt;
  const Window::Dimension& w = window[d];
  if (w.stride != 1 || w.base_dilation != 1 || w.window_dilation != 1 || w.size > sizes[d]) return std::nullopt;
  int64_t best = w.size, best_first = 0, best_dilation = 0;
  for (int64_t first = 2; first < std::min(w.size, kLongestFirst); ++first) {
    // The second step takes `count` of the first, `dilation` apart, which cover the window.
    for (int64_t dilation = first; dilation > (IsIdempotent(op) ? first / 2 : first - 1); --dilation) {
      if ((w.size - first) % dilation != 0) continue;
      const int64_t count = (w.size - first) / dilation + 1;
      if (first + count < best) {
        best = first + count;
        best_first = first;
        best_dilation = dilation;
      }
      break;
    }
  }
  if (best_first == 0 ||
      (static_cast<double>(best) + 2 * kStepCost) * kMinGain > static_cast<double>(w.size) + kStepCost)
    return std::nullopt;
  Steps steps{.first = window, .second = Trivial(static_cast<int64_t>(window.size()))};
  steps.first[d].size = best_first;
  steps.second[d].size = (w.size - best_first) / best_dilation + 1;
  steps.second[d].window_dilation = best_dilation;
  return steps;
}

std::optional<Steps> StepsOf(const HloInstruction& reduce_window, bool strict) {
  if (reduce_window.operand_count() != 2 || reduce_window.HasControlDependencies() ||
      !MayReorder(reduce_window, strict) || ShapeUtil::IsZeroElementArray(reduce_window.shape()) ||
      ShapeUtil::IsZeroElementArray(reduce_window.operand(0)->shape()) || ScanWindowOf(reduce_window).has_value())
    return std::nullopt;
  const HloOpcode op = *ReductionOp(*reduce_window.called_computation());
  const PrimitiveType type = reduce_window.shape().element_type();
  // What is between the steps would be rounded.
  if (!IsIdempotent(op) && IsFloatingPointType(type) && PrimitiveTypeBitWidth(type) < 32) return std::nullopt;
  if (!MayStartAgain(reduce_window, op)) return std::nullopt;
  const auto sizes = reduce_window.operand(0)->shape().dimensions();
  const Dimensions& window = reduce_window.attrs<ReduceWindowAttrs>().window.dimensions;
  int64_t windows = 0;
  for (const Window::Dimension& w : window) windows += w.size > 1 ? 1 : 0;
  return windows > 1 ? ByDimensions(sizes, window) : ByLength(sizes, window, op);
}

absl::StatusOr<HloInstruction*> MakeStep(HloInstruction* x, const HloInstruction& whole, Dimensions window) {
  auto attributes = std::make_unique<ReduceWindowAttrs>();
  attributes->window.dimensions = std::move(window);
  return x->parent()->AddOp(HloOpcode::kReduceWindow, {x, whole.operand(1)}, std::move(attributes),
                            {whole.called_computation()});
}

class WindowSeparation : public HloPass {
 public:
  explicit WindowSeparation(bool strict) : strict_(strict) {}
  absl::string_view name() const override { return "separate-windows"; }

  absl::StatusOr<bool> Run(HloModule* module, const PassContext& context) override {
    bool changed = false;
    for (HloComputation* computation : module->computations()) {
      if (computation->IsFusion()) continue;
      std::vector<HloInstruction*> work = computation->MakePostOrder();
      while (!work.empty()) {
        HloInstruction* const whole = work.back();
        work.pop_back();
        if (whole->opcode() != HloOpcode::kReduceWindow) continue;
        HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
        std::optional<Steps> steps = StepsOf(*whole, strict_);
        if (!steps.has_value()) continue;
        HILO_ASSIGN_OR_RETURN(HloInstruction * first,
                              MakeStep(whole->mutable_operand(0), *whole, std::move(steps->first)));
        HILO_ASSIGN_OR_RETURN(HloInstruction * second, MakeStep(first, *whole, std::move(steps->second)));
        HILO_RETURN_IF_ERROR(computation->ReplaceInstruction(whole, second));
        work.insert(work.end(), {first, second});  // each has fewer elements in its windows
        changed = true;
      }
    }
    return changed;
  }

 private:
  const bool strict_;
};

}  // namespace

std::unique_ptr<HloPass> MakeWindowSeparation(bool strict) { return std::make_unique<WindowSeparation>(strict); }

}  // namespace hilo
