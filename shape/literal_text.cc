#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hilo/literal.h"
#include "shape/number_text.h"

namespace hilo {
namespace {

// An empty array is written with all its braces up to this many, and as "{}" beyond.
constexpr int64_t kMaxEmptyBraces = 1024;

void AppendScalar(const Literal& literal, std::string* out) {
  if (literal.shape().element_type() == PRED) {
    *out += literal.GetFirstElement<bool>() ? "true" : "false";
  } else {
    AppendNumber(literal.shape().element_type(), literal.untyped_data().data(), out);
  }
}

// { { 1, 2 }, { 3, 4 } } but {1, 2} for vectors and {} for empty rows. Walks with an explicit
// index: ranks may be large.
void AppendElements(const Literal& literal, std::string* out) {
  const Shape& shape = literal.shape();
  const int64_t rank = shape.rank();
  const int width = PrimitiveTypeByteSize(shape.element_type());
  const char* const open = rank == 1 ? "{" : "{ ";
  const char* const close = rank == 1 ? "}" : " }";
  const uint8_t* element = literal.untyped_data().data();
  std::vector<int64_t> index(rank, 0);
  int64_t depth = 0;
  while (true) {
    // Descend to an element, or to a row without any.
    while (depth < rank && shape.dimensions(depth) > 0) {
      *out += open;
      index[depth++] = 0;
    }
    if (depth < rank) {
      *out += "{}";
    } else {
      AppendNumber(shape.element_type(), element, out);
      element += width;
    }
    // Go up past all rows that end here.
    while (depth > 0 && ++index[depth - 1] == shape.dimensions(depth - 1)) {
      *out += close;
      --depth;
    }
    if (depth == 0) return;
    *out += ", ";
  }
}

bool IsHugeAndEmpty(const Shape& shape) {
  if (!ShapeUtil::IsZeroElementArray(shape)) return false;
  int64_t braces = 1;
  for (int64_t size : shape.dimensions()) {
    if (size == 0) return false;
    if (size > kMaxEmptyBraces || (braces *= size) > kMaxEmptyBraces) return true;
  }
  return false;
}

// The valid elements: sizes are known to fit.
void AppendDynamic(const Literal& literal, std::string* out) {
  absl::StatusOr<Literal> elements = literal.ToStatic();
  if (elements.ok()) AppendElements(*elements, out);
}

void AppendLiteral(const Literal& literal, int64_t max_elements, std::string* out) {
  const Shape& shape = literal.shape();
  if (shape.IsTuple()) {
    out->push_back('(');
    for (int64_t i = 0; i < literal.tuple_size(); ++i) {
      if (i > 0) *out += ", ";
      AppendLiteral(literal.element(i), max_elements, out);
    }
    out->push_back(')');
  } else if (!shape.IsArray()) {
    absl::StrAppend(out, PrimitiveTypeName(shape.element_type()));
  } else if (shape.rank() == 0) {
    AppendScalar(literal, out);
  } else if (max_elements >= 0 && literal.element_count() > max_elements) {
    *out += "{...}";
  } else if (IsHugeAndEmpty(shape)) {
    *out += "{}";
  } else if (!shape.is_static()) {
    AppendDynamic(literal, out);
  } else {
    AppendElements(literal, out);
  }
}

}  // namespace

std::string Literal::ToString(bool with_shape, int64_t max_elements) const {
  std::string out;
  if (with_shape) out += shape_.ToString();
  if (shape_.IsArray() && !shape_.is_static()) absl::StrAppend(&out, "(", absl::StrJoin(ActualDimensions(), ","), ")");
  if (!out.empty()) out += " ";
  AppendLiteral(*this, max_elements, &out);
  return out;
}

}  // namespace hilo
