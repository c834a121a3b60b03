// Shared by the dots and convolution: checks of their operands, and sums of products in a few wide types. Private to
// hlo/ops.
#ifndef HILO_HLO_OPS_LINALG_CONTRACTION_H_
#define HILO_HLO_OPS_LINALG_CONTRACTION_H_

#include <algorithm>
#include <complex>
#include <vector>

#include "hilo/literal.h"
#include "hlo/ops/reduction/sum_type.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/ops/table/op_checks.h"

namespace hilo {

// Both operands are arrays; the lists are valid, and paired dimensions have equal sizes.
absl::Status CheckContraction(const OpView& op, const std::vector<int64_t>& lhs_batch,
                              const std::vector<int64_t>& lhs_contracting, const std::vector<int64_t>& rhs_batch,
                              const std::vector<int64_t>& rhs_contracting);
// None, or one for each of the two operands.
absl::Status CheckPrecision(const OpView& op, const std::vector<Precision>& precision);
// The element type of sums of products of operands 0 and 1: the stated one, or else the wider kind of the two. Operands
// may be widened and results narrowed, but complex is never converted to real nor floats to integers.
absl::StatusOr<PrimitiveType> ProductType(const OpView& op);

// Dimensions in neither list.
std::vector<int64_t> FreeDimensions(int64_t rank, absl::Span<const int64_t> batch,
                                    absl::Span<const int64_t> contracting);
int64_t Volume(const Shape& shape, absl::Span<const int64_t> dimensions);

// Conversions between element types and types of sums: float, double, uint64_t (wrapping integers),
// complex.
template <typename Sum, typename T>
Sum ToSum(T value) {
  if constexpr (is_complex<Sum>) {
    using Part = typename Sum::value_type;
    if constexpr (is_complex<T>) {
      return Sum(static_cast<Part>(value.real()), static_cast<Part>(value.imag()));
    } else {
      return Sum(ToSum<Part>(value), 0);
    }
  } else if constexpr (is_complex<T>) {
    return static_cast<Sum>(value.real());
  } else if constexpr (is_small_float<T> && std::is_integral_v<Sum>) {
    return static_cast<Sum>(static_cast<int64_t>(static_cast<float>(value)));
  } else if constexpr (is_small_int<T> && std::is_integral_v<Sum>) {
    return static_cast<Sum>(static_cast<int64_t>(value));  // sign extended
  } else {
    return static_cast<Sum>(value);
  }
}
template <typename T, typename Sum>
T FromSum(Sum sum) {
  if constexpr (is_complex<Sum>) {
    if constexpr (is_complex<T>) {
      return T(sum);
    } else {
      return FromSum<T>(sum.real());
    }
  } else if constexpr (is_complex<T>) {
    return T(static_cast<typename T::value_type>(sum), 0);
  } else if constexpr (std::is_same_v<T, bool>) {
    return sum != 0;  // sum of ands
  } else if constexpr (is_small_int<T>) {
    return T(static_cast<int64_t>(sum));
  } else {
    return static_cast<T>(sum);
  }
}

// Calls f(NativeTag<Sum>{}) with the C++ type in which products of the first two operands are summed up for a result of
// `type`: SumType's, except that all integers are summed up in 64 bits and wrapped at the end, which is equivalent.
template <typename F>
auto SumTypeSwitch(Operands operands, PrimitiveType type, F&& f) {
  switch (SumType(operands[0]->shape().element_type(), operands[1]->shape().element_type(), type)) {
    case F32: return f(NativeTag<float>{});
    case F64: return f(NativeTag<double>{});
    case C64: return f(NativeTag<complex64>{});
    case C128: return f(NativeTag<complex128>{});
    default: return f(NativeTag<uint64_t>{});
  }
}

// The elements of `literal` with its dimensions in `order`, converted.
template <typename Sum>
std::vector<Sum> Gathered(const Literal& literal, const std::vector<int64_t>& order) {
  const Shape& shape = literal.shape();
  const std::vector<int64_t> strides = ShapeUtil::RowMajorStrides(shape.dimensions());
  std::vector<int64_t> sizes, order_strides;
  for (int64_t d : order) {
    sizes.push_back(shape.dimensions(d));
    order_strides.push_back(strides[d]);
  }
  std::vector<Sum> result(literal.element_count());
  if (result.empty()) return result;
  ArrayTypeSwitch(shape.element_type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto data = literal.data<T>();
    std::vector<int64_t> index(sizes.size(), 0);
    for (Sum& out : result) {
      out = ToSum<Sum>(data[DotProduct(index, order_strides)]);
      IndexUtil::BumpIndices(sizes, absl::MakeSpan(index));
    }
  });
  return result;
}

template <typename Sum>
void MultiplyAdd(Sum a, const Sum* b, Sum* out, int64_t n) {
  for (int64_t j = 0; j < n; ++j) out[j] += a * b[j];
}
// Written out: the operator of std::complex recovers infinities, which no backend does, and is many
// times slower.
template <typename Part>
void MultiplyAdd(std::complex<Part> a, const std::complex<Part>* b, std::complex<Part>* out, int64_t n) {
  for (int64_t j = 0; j < n; ++j) {
    const Part re = a.real() * b[j].real() - a.imag() * b[j].imag();
    const Part im = a.real() * b[j].imag() + a.imag() * b[j].real();
    out[j] += std::complex<Part>(re, im);
  }
}

}  // namespace hilo

#endif  // HILO_HLO_OPS_LINALG_CONTRACTION_H_
