#include "hilo/shape.h"

#include "absl/strings/str_cat.h"

namespace hilo {
namespace {

// Nesting is bounded by ShapeUtil::kMaxTupleDepth in every shape that passed Validate, so recursion
// is safe.
void AppendShape(const Shape& shape, bool print_layout, std::string* out) {
  if (shape.IsTuple()) {
    out->push_back('(');
    for (int64_t i = 0; i < shape.tuple_shapes_size(); ++i) {
      if (i > 0) *out += ", ";
      AppendShape(shape.tuple_shapes(i), print_layout, out);
    }
    out->push_back(')');
    return;
  }
  absl::StrAppend(out, PrimitiveTypeName(shape.element_type()), "[");
  for (int64_t d = 0; d < shape.rank(); ++d) {
    absl::StrAppend(out, d > 0 ? "," : "", shape.is_dynamic_dimension(d) ? "<=" : "", shape.dimensions(d));
  }
  out->push_back(']');
  if (print_layout && shape.has_layout()) {
    const std::string layout = shape.layout().ToString();
    if (layout != "{}") *out += layout;  // as XLA, nothing for scalars
  }
}

}  // namespace

Shape::Shape(PrimitiveType type, absl::Span<const int64_t> dimensions, std::vector<bool> dynamic)
    : type_(type), dimensions_(dimensions.begin(), dimensions.end()) {
  // All static is stored as no flags, so that equality is memberwise.
  for (size_t d = 0; d < dynamic.size() && d < dimensions_.size(); ++d) {
    if (dynamic[d]) set_dynamic_dimension(static_cast<int64_t>(d), true);
  }
}

Shape::Shape(std::vector<Shape> tuple_shapes) : type_(TUPLE), tuple_shapes_(std::move(tuple_shapes)) {}

void Shape::set_dynamic_dimension(int64_t i, bool dynamic) {
  if (dynamic_.empty()) {
    if (!dynamic) return;
    dynamic_.resize(dimensions_.size(), false);
  }
  dynamic_[i] = dynamic;
  for (bool flag : dynamic_) {
    if (flag) return;
  }
  dynamic_.clear();
}

bool Shape::is_static() const {
  if (!dynamic_.empty()) return false;
  for (const Shape& element : tuple_shapes_) {
    if (!element.is_static()) return false;
  }
  return true;
}

Layout* Shape::mutable_layout() {
  if (!layout_.has_value()) layout_ = LayoutUtil::MakeDescendingLayout(rank());
  return &*layout_;
}

std::string Shape::ToString(bool print_layout) const {
  std::string out;
  AppendShape(*this, print_layout, &out);
  return out;
}

std::string ProgramShape::ToString() const {
  std::string out = "(";
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (i > 0) out += ", ";
    if (i < parameter_names.size()) absl::StrAppend(&out, parameter_names[i], ": ");
    out += parameters[i].ToString();
  }
  return absl::StrCat(out, ") -> ", result.ToString());
}

}  // namespace hilo
