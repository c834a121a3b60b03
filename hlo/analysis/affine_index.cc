#include "hlo/analysis/affine_index.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "hlo/ops/table/op_attributes.h"

namespace hilo {
namespace {

// Of the walk.
constexpr int kMaxDepth = 16, kMaxVisits = 64;

using Form = std::optional<AffineIndex>;

// Returns `form` with its range if no element of `shape` wraps around.
Form Fitting(AffineIndex form, const Shape& shape) {
  form.range = {form.offset, form.offset};
  for (size_t d = 0; d < form.coefficients.size(); ++d) {
    const int64_t last = std::max<int64_t>(shape.dimensions(static_cast<int64_t>(d)), 1) - 1;
    int64_t span = 0;
    if (last == 0) form.coefficients[d] = 0;
    int64_t& end = form.coefficients[d] < 0 ? form.range.first : form.range.last;
    if (__builtin_mul_overflow(form.coefficients[d], last, &span) || __builtin_add_overflow(end, span, &end))
      return std::nullopt;
  }
  if (shape.element_type() == U64) return form.range.first >= 0 ? Form(std::move(form)) : std::nullopt;
  const std::optional<ValueRange> all = RangeOfType(shape.element_type());
  const bool fits = all.has_value() && form.range.first >= all->first && form.range.last <= all->last;
  return fits ? Form(std::move(form)) : std::nullopt;
}

bool IsUniform(const AffineIndex& form) {
  return std::all_of(form.coefficients.begin(), form.coefficients.end(), [](int64_t c) { return c == 0; });
}

Form Sum(AffineIndex a, const AffineIndex& b) {
  bool overflows = __builtin_add_overflow(a.offset, b.offset, &a.offset);
  for (size_t d = 0; d < a.coefficients.size(); ++d)
    overflows |= __builtin_add_overflow(a.coefficients[d], b.coefficients[d], &a.coefficients[d]);
  return overflows ? std::nullopt : Form(std::move(a));
}

Form Scaled(AffineIndex a, int64_t factor) {
  bool overflows = __builtin_mul_overflow(a.offset, factor, &a.offset);
  for (int64_t& coefficient : a.coefficients) overflows |= __builtin_mul_overflow(coefficient, factor, &coefficient);
  return overflows ? std::nullopt : Form(std::move(a));
}

// A reshape that adds and drops dimensions of size 1 alone.
Form Reshaped(const AffineIndex& from, const Shape& from_shape, const Shape& to_shape) {
  AffineIndex to{.offset = from.offset, .coefficients = std::vector<int64_t>(to_shape.rank(), 0), .range = {}};
  int64_t d = 0;
  for (int64_t i = 0; i < from_shape.rank(); ++i) {
    if (from_shape.dimensions(i) == 1) continue;
    while (d < to_shape.rank() && to_shape.dimensions(d) == 1) ++d;
    if (d == to_shape.rank() || to_shape.dimensions(d) != from_shape.dimensions(i)) return std::nullopt;
    to.coefficients[d++] = from.coefficients[i];
  }
  return to;
}

class Walk {
 public:
  Form Of(const HloInstruction& x, int depth) {
    if (!x.shape().IsArray() || !IsIntegralType(x.shape().element_type()) || depth == kMaxDepth ||
        ++visits_ > kMaxVisits)
      return std::nullopt;
    Form form = Stated(x, depth + 1);
    return form.has_value() ? Fitting(*std::move(form), x.shape()) : std::nullopt;
  }

 private:
  Form Stated(const HloInstruction& x, int depth) {
    const HloOpcode opcode = x.opcode();
    AffineIndex form{.offset = 0, .coefficients = std::vector<int64_t>(x.shape().rank(), 0), .range = {}};
    if (opcode == HloOpcode::kIota) {
      form.coefficients[x.attrs<IotaAttrs>().iota_dimension] = 1;
      return form;
    }
    if (opcode == HloOpcode::kConstant) {
      if (ShapeUtil::ElementsIn(x.shape()) != 1 || x.shape().element_type() == U64) return std::nullopt;
      form.offset = x.literal().GetAsInt64(0);
      return form;
    }
    const bool is_sum = opcode == HloOpcode::kAdd, is_product = opcode == HloOpcode::kMultiply;
    const bool keeps = opcode == HloOpcode::kConvert || opcode == HloOpcode::kCopy;
    if (!is_sum && !is_product && !keeps && opcode != HloOpcode::kBroadcast && opcode != HloOpcode::kReshape)
      return std::nullopt;
    const Form from = Of(*x.operand(0), depth);
    if (!from.has_value() || keeps) return from;
    if (opcode == HloOpcode::kReshape) return Reshaped(*from, x.operand(0)->shape(), x.shape());
    if (opcode == HloOpcode::kBroadcast) {
      form.offset = from->offset;
      const auto& dimensions = x.attrs<BroadcastAttrs>().dimensions;
      for (size_t d = 0; d < dimensions.size(); ++d) form.coefficients[dimensions[d]] = from->coefficients[d];
      return form;
    }
    const Form other = Of(*x.operand(1), depth);
    if (!other.has_value()) return std::nullopt;
    if (is_sum) return Sum(*from, *other);
    if (IsUniform(*other)) return Scaled(*from, other->offset);
    return IsUniform(*from) ? Scaled(*other, from->offset) : std::nullopt;
  }

  int visits_ = 0;
};

}  // namespace

std::optional<AffineIndex> AffineIndexOf(const HloInstruction& x) { return Walk().Of(x, 0); }

std::optional<std::vector<AffineIndex>> AffineStartsOf(const HloInstruction& gather) {
  const auto& attrs = gather.attrs<GatherAttrs>();
  const HloInstruction& starts = *gather.operand(1);
  const int64_t vector_dim = attrs.index_vector_dim;
  const bool has_vectors = vector_dim < starts.shape().rank();
  const size_t components = attrs.start_index_map.size();
  const bool is_concatenation = components > 1 && starts.opcode() == HloOpcode::kConcatenate &&
                                starts.attrs<ConcatenateAttrs>().dimensions[0] == vector_dim &&
                                starts.operand_count() == static_cast<int64_t>(components);
  if (components > 1 && !is_concatenation) return std::nullopt;
  std::vector<AffineIndex> forms;
  for (size_t k = 0; k < components; ++k) {
    const HloInstruction& component = is_concatenation ? *starts.operand(static_cast<int64_t>(k)) : starts;
    // As many operands as components: each is one if none is empty.
    if (has_vectors && component.shape().dimensions(vector_dim) != 1) return std::nullopt;
    Form form = AffineIndexOf(component);
    const int64_t d = attrs.start_index_map[k];
    if (!form.has_value() || form->range.first < 0 ||
        form->range.last > gather.operand(0)->shape().dimensions(d) - attrs.slice_sizes[d])
      return std::nullopt;
    if (has_vectors) form->coefficients.erase(form->coefficients.begin() + vector_dim);
    forms.push_back(*std::move(form));
  }
  return forms;
}

}  // namespace hilo
