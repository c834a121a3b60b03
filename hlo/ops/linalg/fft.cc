// fft: discrete Fourier transforms over the minor dimensions.
//
// The result at k is the sum over j of x[j] exp(-2 pi i jk / n), for IFFT and IRFFT with + and
// divided by n. Evaluation goes by the definition in long double, split at the prime factors of n
// so that it takes n times their sum rather than n squared.
#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "hilo/status_macros.h"
#include "hlo/ops/linalg/linalg_attributes.h"
#include "hlo/ops/table/checks.h"
#include "hlo/ops/table/op_checks.h"

namespace hilo {
namespace {

using Number = std::complex<long double>;

// Written out: the operator of std::complex repairs infinities, and is many times slower.
Number Times(Number a, Number b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

int64_t SmallestFactor(int64_t n) {
  for (int64_t p = 2; p <= n / p; ++p) {
    if (n % p == 0) return p;
  }
  return n;
}

// out[k] = sum of in[j * stride] * root^(jk), for n points; roots[i * step] are the powers of the
// root. Recursion is as deep as n has factors.
absl::Status Transform(const OpView& op, const Number* in, int64_t stride, int64_t n, const std::vector<Number>& roots,
                       int64_t step, Number* out) {
  if (n == 1) {
    out[0] = in[0];
    return absl::OkStatus();
  }
  const int64_t p = SmallestFactor(n), m = n / p;
  std::vector<Number> parts(n);
  for (int64_t r = 0; r < p; ++r)
    HILO_RETURN_IF_ERROR(Transform(op, in + r * stride, stride * p, m, roots, step * p, parts.data() + r * m));
  for (int64_t k = 0; k < n; ++k) {
    HILO_RETURN_IF_ERROR(op.Spend(p));
    Number sum = 0;
    int64_t power = 0;  // r * k mod n
    for (int64_t r = 0; r < p; ++r) {
      sum += Times(parts[r * m + k % m], roots[power * step]);
      power += k;
      if (power >= n) power -= n;
    }
    out[k] = sum;
  }
  return absl::OkStatus();
}

// Transforms dimension `d` of the array `x` of the given sizes.
absl::Status TransformDimension(const OpView& op, const std::vector<int64_t>& sizes, size_t d, bool inverse,
                                std::vector<Number>* x) {
  const int64_t n = sizes[d];
  if (n == 0 || x->empty()) return absl::OkStatus();
  int64_t inner = 1;
  for (size_t i = d + 1; i < sizes.size(); ++i) inner *= sizes[i];
  std::vector<Number> roots(n), line(n);
  for (int64_t k = 0; k < n; ++k) {
    const long double angle =
        2 * std::numbers::pi_v<long double> * static_cast<long double>(k) / static_cast<long double>(n);
    roots[k] = Number(std::cos(angle), inverse ? std::sin(angle) : -std::sin(angle));
  }
  for (int64_t block = 0; block < static_cast<int64_t>(x->size()); block += n * inner) {
    for (int64_t i = 0; i < inner; ++i) {
      Number* start = x->data() + block + i;
      HILO_RETURN_IF_ERROR(Transform(op, start, inner, n, roots, 1, line.data()));
      for (int64_t k = 0; k < n; ++k) start[k * inner] = inverse ? line[k] / static_cast<long double>(n) : line[k];
    }
  }
  return absl::OkStatus();
}

// The rows of `x`, `from` long, become `to` long: cut off, or filled up with what the spectrum of
// real data must be there.
std::vector<Number> ResizedRows(const std::vector<Number>& x, int64_t from, int64_t to) {
  std::vector<Number> result;
  const int64_t rows = from == 0 ? 0 : static_cast<int64_t>(x.size()) / from;
  result.reserve(rows * to);
  for (int64_t r = 0; r < rows; ++r) {
    const Number* row = x.data() + r * from;
    for (int64_t k = 0; k < to; ++k) result.push_back(k < from ? row[k] : std::conj(row[to - k]));
    if (to <= from) continue;
    // The first number and the one at the Nyquist frequency are their own conjugates: real.
    Number* start = result.data() + r * to;
    start[0] = start[0].real();
    if (to % 2 == 0) start[to / 2] = start[to / 2].real();
  }
  return result;
}

}  // namespace

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kFft>(const OpView& op) {
  HILO_RETURN_IF_ERROR(CheckArray(op, 0, "operand"));
  const FftAttrs& attrs = op.attrs<FftAttrs>();
  const Shape& operand = op.operand(0);
  const PrimitiveType type = operand.element_type();
  const bool real_input = attrs.fft_type == FftType::kRfft;
  const int64_t count = static_cast<int64_t>(attrs.fft_length.size());
  const absl::string_view name = EnumNames<FftType>::names[static_cast<int>(attrs.fft_type)];
  if (count < 1 || count > 3) {  // fft_c3
    return InvalidOp(op, "fft_length = ", ListText(attrs.fft_length), " must have 1 to 3 entries");
  }
  if (count > operand.rank()) {  // fft_c1
    return InvalidOp(op, "fft_length = ", ListText(attrs.fft_length), " has more entries than operand ",
                     operand.ToString(), " has dimensions");
  }
  for (int64_t length : attrs.fft_length) {
    if (length < 0) return InvalidOp(op, "fft_length = ", ListText(attrs.fft_length), " has a negative entry");
  }
  // fft_c2
  if (real_input ? type != F32 && type != F64 : !IsComplexType(type)) {
    return InvalidOp(op, name, " takes ", real_input ? "f32 or f64" : "c64 or c128", ", got ", operand.ToString());
  }
  // fft_c4, fft_c5; and the same for FFT and IFFT.
  const int64_t first = operand.rank() - count;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t length = attrs.fft_length[i], size = operand.dimensions(first + i);
    const bool halved = attrs.fft_type == FftType::kIrfft && i == count - 1;
    if (size == (halved ? length / 2 + 1 : length) || (halved && length == 0 && size == 0)) continue;
    return InvalidOp(op, name, " with fft_length = ", ListText(attrs.fft_length), " needs size ",
                     halved ? length / 2 + 1 : length, " in dimension ", first + i, ", got ", operand.ToString());
  }
  Shape result = operand;
  result.clear_layout();
  const int64_t last = attrs.fft_length.back();
  if (attrs.fft_type == FftType::kRfft) {
    result.set_element_type(ComplexTypeOf(type));
    result.set_dimensions(operand.rank() - 1, last == 0 ? 0 : last / 2 + 1);
  } else if (attrs.fft_type == FftType::kIrfft) {
    result.set_element_type(ComplexComponentType(type));
    result.set_dimensions(operand.rank() - 1, last);
  }
  return result;
}

template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kFft>(const OpView& op, const Shape& shape, Operands operands) {
  HILO_ASSIGN_OR_RETURN(Literal result, Literal::Create(shape));
  if (result.element_count() == 0) return result;
  const FftAttrs& attrs = op.attrs<FftAttrs>();
  const Literal& operand = *operands[0];
  const bool inverse = attrs.fft_type == FftType::kIfft || attrs.fft_type == FftType::kIrfft;
  const size_t count = attrs.fft_length.size(), rank = operand.shape().rank();
  std::vector<int64_t> sizes(operand.shape().dimensions().begin(), operand.shape().dimensions().end());
  std::vector<Number> x;
  x.reserve(operand.element_count());
  ArrayTypeSwitch(operand.shape().element_type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (is_complex<T>) {
      for (const T& value : operand.data<T>()) x.emplace_back(value.real(), value.imag());
    } else if constexpr (std::is_floating_point_v<T>) {
      for (T value : operand.data<T>()) x.emplace_back(value, 0);
    }
  });
  // The minor-most dimension first; for IRFFT it is last.
  if (attrs.fft_type != FftType::kIrfft) HILO_RETURN_IF_ERROR(TransformDimension(op, sizes, rank - 1, inverse, &x));
  if (attrs.fft_type == FftType::kRfft) {
    x = ResizedRows(x, sizes.back(), shape.dimensions(rank - 1));
    sizes.back() = shape.dimensions(rank - 1);
  }
  for (size_t d = rank - 1; d-- > rank - count;) HILO_RETURN_IF_ERROR(TransformDimension(op, sizes, d, inverse, &x));
  if (attrs.fft_type == FftType::kIrfft) {
    x = ResizedRows(x, sizes.back(), attrs.fft_length.back());
    sizes.back() = attrs.fft_length.back();
    HILO_RETURN_IF_ERROR(TransformDimension(op, sizes, rank - 1, true, &x));
  }
  ArrayTypeSwitch(shape.element_type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const absl::Span<T> out = result.data<T>();
    for (size_t i = 0; i < out.size(); ++i) {
      if constexpr (is_complex<T>) {
        using Part = typename T::value_type;
        out[i] = T(static_cast<Part>(x[i].real()), static_cast<Part>(x[i].imag()));
      } else if constexpr (std::is_floating_point_v<T>) {
        out[i] = static_cast<T>(x[i].real());
      }
    }
  });
  return result;
}

}  // namespace hilo
