#include "hilo/literal.h"

#include <algorithm>
#include <limits>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/aligned_buffer.h"
#include "shape/convert.h"

namespace hilo {
namespace {

// Bytes of an array literal: dense, so its shape's padding does not count.
int64_t DenseByteSize(const Shape& shape) {
  return ShapeUtil::ElementsIn(shape) * PrimitiveTypeByteSize(shape.element_type());
}

// Every real number as one of four types that hold it exactly. Converting through them takes one
// loop a type, not one a pair of types.
template <typename T>
using Carrier = std::conditional_t<
    is_complex<T>, complex128,
    std::conditional_t<std::is_same_v<T, uint64_t>, uint64_t,
                       std::conditional_t<std::is_integral_v<T> || is_small_int<T>, int64_t, double>>>;

constexpr int64_t kChunk = 512;

template <typename C>
void StoreChunk(const C* from, int64_t count, PrimitiveType type, uint8_t* out) {
  ArrayTypeSwitch(type, [&](auto tag) {
    using To = typename decltype(tag)::type;
    To* to = reinterpret_cast<To*>(out);
    for (int64_t i = 0; i < count; ++i) to[i] = ConvertElement<C, To>(from[i]);
  });
}

// Arrays of so many bytes are aligned as the arrays of programs are, so that programs can have them as constants.
constexpr int64_t kMinAlignedBytes = 1 << 20;

// Returns memory that std::free frees; null if it is short.
uint8_t* AllocateZeros(int64_t size) {
  if (size < kMinAlignedBytes) return static_cast<uint8_t*>(std::calloc(1, static_cast<size_t>(size)));
  absl::StatusOr<AlignedBuffer> buffer = AlignedBuffer::CreateZeroed(size);
  return buffer.ok() ? (*std::move(buffer)).Release() : nullptr;
}

}  // namespace

absl::StatusOr<Literal> Literal::Create(const Shape& shape) {
  if (absl::Status status = ShapeUtil::Validate(shape); !status.ok()) return status;
  Literal literal;
  literal.shape_ = shape;
  if (shape.IsTuple()) {
    literal.elements_.reserve(shape.tuple_shapes_size());
    for (const Shape& element : shape.tuple_shapes()) {
      absl::StatusOr<Literal> created = Create(element);
      if (!created.ok()) return created;
      literal.elements_.push_back(*std::move(created));
    }
  } else if (shape.IsArray()) {
    literal.size_ = DenseByteSize(shape);
    literal.data_.reset(AllocateZeros(std::max<int64_t>(1, literal.size_)));
    if (literal.data_ == nullptr) {
      return absl::ResourceExhaustedError(
          absl::StrCat("no memory for a literal of ", literal.size_, " bytes: ", shape.ToString()));
    }
  }
  return literal;
}

Literal Literal::MakeTuple(std::vector<Literal> elements) {
  std::vector<Shape> shapes;
  shapes.reserve(elements.size());
  for (const Literal& element : elements) shapes.push_back(element.shape());
  Literal literal;
  literal.shape_ = Shape(std::move(shapes));
  literal.elements_ = std::move(elements);
  return literal;
}

Literal Literal::Clone() const {
  absl::StatusOr<Literal> clone = Create(shape_);
  if (!clone.ok()) return Literal();
  if (size_ > 0) std::memcpy(clone->data_.get(), data_.get(), size_);
  clone->dynamic_sizes_ = dynamic_sizes_;
  for (size_t i = 0; i < elements_.size(); ++i) clone->elements_[i] = elements_[i].Clone();
  return *std::move(clone);
}

int64_t Literal::LinearIndex(absl::Span<const int64_t> index) const {
  int64_t linear = 0;
  for (size_t d = 0; d < index.size(); ++d) linear = linear * shape_.dimensions(d) + index[d];
  return linear;
}

int64_t Literal::GetAsInt64(int64_t linear) const {
  return ArrayTypeSwitch(shape_.element_type(), [&](auto tag) -> int64_t {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, uint64_t>) {
      return static_cast<int64_t>(std::min<uint64_t>(data<T>()[linear], std::numeric_limits<int64_t>::max()));
    } else {
      return ConvertElement<T, int64_t>(data<T>()[linear]);
    }
  });
}

double Literal::GetAsDouble(int64_t linear) const {
  return ArrayTypeSwitch(shape_.element_type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return ConvertElement<T, double>(data<T>()[linear]);
  });
}

const Literal& Literal::at(const ShapeIndex& index) const {
  const Literal* literal = this;
  for (int64_t i : index) literal = &literal->element(i);
  return *literal;
}

std::vector<Literal> Literal::DecomposeTuple() && {
  std::vector<Literal> elements = std::move(elements_);
  *this = Literal();
  return elements;
}

bool Literal::operator==(const Literal& other) const {
  if (!ShapeUtil::Compatible(shape_, other.shape_) || size_ != other.size_ ||
      ActualDimensions() != other.ActualDimensions() || elements_.size() != other.elements_.size()) {
    return false;
  }
  if (size_ > 0 && std::memcmp(data_.get(), other.data_.get(), size_) != 0) return false;
  return std::equal(elements_.begin(), elements_.end(), other.elements_.begin());
}

size_t Literal::Hash() const {
  const absl::string_view bytes(reinterpret_cast<const char*>(data_.get()), size_);
  size_t hash = absl::HashOf(static_cast<int>(shape_.element_type()), shape_.dimensions(), bytes);
  for (const Literal& element : elements_) hash = absl::HashOf(hash, element.Hash());
  return hash;
}

absl::StatusOr<Literal> Literal::Convert(PrimitiveType type) const {
  if (!shape_.IsArray() || !IsArrayType(type)) {
    return absl::InvalidArgumentError(
        absl::StrCat("convert: no conversion from ", shape_.ToString(), " to ", PrimitiveTypeName(type)));
  }
  absl::StatusOr<Literal> result = Create(ShapeUtil::ChangeElementType(shape_, type));
  if (!result.ok()) return result;
  if (type == shape_.element_type()) {
    if (size_ > 0) std::memcpy(result->data_.get(), data_.get(), size_);
    return result;
  }
  const int64_t count = element_count();
  const int64_t width = PrimitiveTypeByteSize(type);
  ArrayTypeSwitch(shape_.element_type(), [&](auto tag) {
    using From = typename decltype(tag)::type;
    using C = Carrier<From>;
    const From* from = data<From>().data();
    C carried[kChunk];
    for (int64_t begin = 0; begin < count; begin += kChunk) {
      const int64_t n = std::min(kChunk, count - begin);
      for (int64_t i = 0; i < n; ++i) carried[i] = ConvertElement<From, C>(from[begin + i]);
      StoreChunk(carried, n, type, result->data_.get() + begin * width);
    }
  });
  return result;
}

absl::StatusOr<Literal> Literal::Reshape(absl::Span<const int64_t> dimensions) const {
  if (!shape_.IsArray()) {
    return absl::InvalidArgumentError(absl::StrCat("reshape: expected an array, got ", shape_.ToString()));
  }
  absl::StatusOr<Literal> result = Create(ShapeUtil::MakeShape(shape_.element_type(), dimensions));
  if (!result.ok()) return result;
  if (result->size_ != size_) {
    return absl::InvalidArgumentError(absl::StrCat("reshape: expected ", element_count(), " elements as in ",
                                                   shape_.ToString(), ", got [", absl::StrJoin(dimensions, ","), "]"));
  }
  if (size_ > 0) std::memcpy(result->data_.get(), data_.get(), size_);
  return result;
}

}  // namespace hilo
