// Literals with dynamic dimensions: blocks at the origin of an array of bounds.
#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "hilo/literal.h"
#include "hilo/status_macros.h"

namespace hilo {
namespace {

// Copies the block of `sizes` at the origin of one array to that of another, a row (the last dimension) at a time.
void CopyBlock(absl::Span<const int64_t> sizes, const Literal& from, Literal* to) {
  for (int64_t size : sizes) {
    if (size == 0) return;
  }
  const int width = PrimitiveTypeByteSize(from.shape().element_type());
  const int64_t rank = static_cast<int64_t>(sizes.size());
  const int64_t row = rank == 0 ? 1 : sizes[rank - 1];
  std::vector<int64_t> outer(sizes.begin(), sizes.end());
  if (rank > 0) outer.back() = 1;
  std::vector<int64_t> index(rank, 0);
  do {
    std::memcpy(to->untyped_data().data() + to->LinearIndex(index) * width,
                from.untyped_data().data() + from.LinearIndex(index) * width, static_cast<size_t>(row * width));
  } while (IndexUtil::BumpIndices(outer, absl::MakeSpan(index)));
}

}  // namespace

void Literal::SetDynamicSize(int64_t d, int64_t size) {
  if (dynamic_sizes_.empty()) dynamic_sizes_.assign(shape_.dimensions().begin(), shape_.dimensions().end());
  dynamic_sizes_[d] = size;
  shape_.set_dynamic_dimension(d, true);
}

std::vector<int64_t> Literal::ActualDimensions() const {
  std::vector<int64_t> sizes;
  for (int64_t d = 0; d < shape_.rank(); ++d)
    sizes.push_back(std::clamp<int64_t>(GetDynamicSize(d), 0, shape_.dimensions(d)));
  return sizes;
}

absl::StatusOr<Literal> Literal::ToStatic() const {
  if (shape_.IsTuple()) {
    std::vector<Literal> elements;
    for (const Literal& element : elements_) {
      HILO_ASSIGN_OR_RETURN(Literal converted, element.ToStatic());
      elements.push_back(std::move(converted));
    }
    return MakeTuple(std::move(elements));
  }
  if (!shape_.IsArray()) return Create(shape_);
  const std::vector<int64_t> sizes = ActualDimensions();
  HILO_ASSIGN_OR_RETURN(Literal result, Create(Shape(shape_.element_type(), sizes)));
  CopyBlock(sizes, *this, &result);
  return result;
}

absl::StatusOr<Literal> Literal::ToBoundedDynamic(const Shape& bounded) const {
  const std::vector<int64_t> sizes = ActualDimensions();
  bool fits = shape_.IsArray() && shape_.element_type() == bounded.element_type() && shape_.rank() == bounded.rank();
  for (int64_t d = 0; fits && d < bounded.rank(); ++d) {
    fits = sizes[d] == bounded.dimensions(d) || (bounded.is_dynamic_dimension(d) && sizes[d] < bounded.dimensions(d));
  }
  if (!fits)
    return absl::InvalidArgumentError(
        absl::StrCat("expected an array within ", bounded.ToString(), ", got ", shape_.ToString()));
  HILO_ASSIGN_OR_RETURN(Literal result, Create(bounded));
  CopyBlock(sizes, *this, &result);
  for (int64_t d = 0; d < bounded.rank(); ++d) {
    if (bounded.is_dynamic_dimension(d)) result.SetDynamicSize(d, sizes[d]);
  }
  return result;
}

}  // namespace hilo
