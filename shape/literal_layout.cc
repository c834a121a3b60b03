// Between row-major literals and the bytes of a layout.
//
// Elements are walked in row-major order, one row (the last dimension) at a time, while the
// position in the laid-out buffer follows by strides. Padding is written first, over the whole
// buffer.
#include <algorithm>
#include <array>
#include <cstring>

#include "hilo/literal.h"
#include "shape/canonical.h"

namespace hilo {
namespace {

bool IsDense(const Shape& shape) {
  return !shape.has_layout() ||
         (LayoutUtil::IsMonotonicWithDim0Major(shape.layout()) &&
          (shape.layout().padded_dimensions.empty() || shape.layout().padded_dimensions == shape.dimensions()));
}

// Elements between neighbours along each dimension in the laid-out buffer.
std::vector<int64_t> MemoryStrides(const Shape& shape) {
  const Layout& layout = shape.layout();
  std::vector<int64_t> strides(shape.rank());
  int64_t stride = 1;
  for (int64_t d : layout.minor_to_major) {
    strides[d] = stride;
    stride *= layout.padded_dimensions.empty() ? shape.dimensions(d) : layout.padded_dimensions[d];
  }
  return strides;
}

// Calls row(dense, laid_out) with the element positions of the start of each row.
template <typename F>
void ForEachRow(const Shape& shape, absl::Span<const int64_t> strides, const F& row) {
  const int64_t outer = shape.rank() - 1;
  const int64_t width = shape.dimensions(outer);
  std::vector<int64_t> index(outer, 0);
  int64_t laid_out = 0;
  for (int64_t dense = 0;; dense += width) {
    row(dense, laid_out);
    int64_t d = outer - 1;
    for (; d >= 0; --d) {
      laid_out += strides[d];
      if (++index[d] < shape.dimensions(d)) break;
      laid_out -= strides[d] * index[d];
      index[d] = 0;
    }
    if (d < 0) return;
  }
}

// Copies all elements from row-major `dense` to `laid_out` (kPack) or back.
template <bool kPack, typename Word>
void CopyWords(const Shape& shape, std::conditional_t<kPack, const uint8_t*, uint8_t*> dense,
               std::conditional_t<kPack, uint8_t*, const uint8_t*> laid_out) {
  const std::vector<int64_t> strides = MemoryStrides(shape);
  const int64_t width = shape.dimensions(shape.rank() - 1);
  const int64_t step = strides.back();
  ForEachRow(shape, strides, [&](int64_t from, int64_t to) {
    for (int64_t i = 0; i < width; ++i) {
      auto* a = dense + (from + i) * static_cast<int64_t>(sizeof(Word));
      auto* b = laid_out + (to + i * step) * static_cast<int64_t>(sizeof(Word));
      if constexpr (kPack) {
        std::memcpy(b, a, sizeof(Word));
      } else {
        std::memcpy(a, b, sizeof(Word));
      }
    }
  });
}

template <bool kPack, typename Dense, typename LaidOut>
void CopyElements(const Shape& shape, Dense* dense, LaidOut* laid_out) {
  switch (PrimitiveTypeByteSize(shape.element_type())) {
    case 1: return CopyWords<kPack, uint8_t>(shape, dense, laid_out);
    case 2: return CopyWords<kPack, uint16_t>(shape, dense, laid_out);
    case 4: return CopyWords<kPack, uint32_t>(shape, dense, laid_out);
    case 8: return CopyWords<kPack, uint64_t>(shape, dense, laid_out);
    default: return CopyWords<kPack, std::array<uint64_t, 2>>(shape, dense, laid_out);
  }
}

void FillPadding(const Shape& shape, uint8_t* out) {
  const int64_t bytes = ShapeUtil::ElementBytesOf(shape);
  const Literal value = LiteralUtil::FromDouble(shape.element_type(), shape.layout().padding_value);
  const auto element = value.untyped_data();
  for (int64_t at = 0; at < bytes; at += static_cast<int64_t>(element.size())) {
    std::memcpy(out + at, element.data(), element.size());
  }
}

void WriteSizes(const Literal& literal, uint8_t* out) {
  for (int64_t size : literal.ActualDimensions()) {
    const auto word = static_cast<int32_t>(size);
    std::memcpy(out, &word, sizeof(word));
    out += sizeof(word);
  }
}

void ReadSizes(const uint8_t* sizes, Literal* literal) {
  for (int64_t d = 0; d < literal->shape().rank(); ++d) {
    int32_t size;
    std::memcpy(&size, sizes + d * sizeof(size), sizeof(size));
    if (!literal->shape().is_dynamic_dimension(d)) continue;
    literal->SetDynamicSize(d, std::clamp<int64_t>(size, 0, literal->shape().dimensions(d)));
  }
}

}  // namespace

void Canonicalize(PrimitiveType type, absl::Span<uint8_t> bytes) {
  if (type != PRED && !IsSubByteType(type)) return;
  ArrayTypeSwitch(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (uint8_t& byte : bytes) {
      if constexpr (std::is_same_v<T, bool>) {
        byte = byte != 0;
      } else if constexpr (is_small_int<T>) {
        byte = static_cast<uint8_t>(T(byte).value);
      } else if constexpr (std::is_same_v<T, f4e2m1fn>) {
        byte &= 0xf;
      }
    }
  });
}

void ClearUnusedBits(PrimitiveType type, absl::Span<uint8_t> bytes) {
  if (!IsSubByteType(type) || !IsSignedIntegralType(type)) return;
  const auto mask = static_cast<uint8_t>((1 << PrimitiveTypeBitWidth(type)) - 1);
  for (uint8_t& byte : bytes) byte &= mask;
}

void LiteralToBytes(const Literal& literal, const Shape& layout_shape, uint8_t* out) {
  const auto data = literal.untyped_data();
  if (!layout_shape.is_static()) WriteSizes(literal, out + ShapeUtil::DynamicSizesOffset(layout_shape));
  if (IsDense(layout_shape)) {
    if (!data.empty()) std::memcpy(out, data.data(), data.size());
    return;
  }
  if (!layout_shape.layout().padded_dimensions.empty()) FillPadding(layout_shape, out);
  if (!data.empty()) CopyElements<true>(layout_shape, data.data(), out);
}

absl::StatusOr<Literal> LiteralFromBytes(const uint8_t* bytes, const Shape& layout_shape) {
  absl::StatusOr<Literal> literal = Literal::Create(layout_shape);
  if (!literal.ok()) return literal;
  const auto data = literal->untyped_data();
  if (!layout_shape.is_static()) ReadSizes(bytes + ShapeUtil::DynamicSizesOffset(layout_shape), &*literal);
  if (data.empty()) return literal;
  if (IsDense(layout_shape)) {
    std::memcpy(data.data(), bytes, data.size());
  } else {
    CopyElements<false>(layout_shape, data.data(), bytes);
  }
  Canonicalize(literal->shape().element_type(), data);
  return literal;
}

}  // namespace hilo
