// fft => products with small matrices of roots of unity. A transform of n = p m points is p transforms of m points,
// each of every p-th element, whose results k are multiplied by the roots r k of n, and m transforms of p points across
// them:
//
//   y = c64[p m] fft(x)   =>   t = c64[p,m] transpose(c64[m,p] reshape(x))
//                              f = c64[p,m] fft(t)
//                              w = c64[p,m] multiply(f, roots)
//                              y = reshape(dot(c64[p,p] roots of p, w))
//
// Where n has a large prime factor p, the transform of p points is a convolution with a chirp (Bluestein), by
// transforms of a power of two. Real transforms are complex ones.
#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "hilo/status_macros.h"
#include "hlo/ops/linalg/linalg_attributes.h"
#include "hlo/passes/expand/expansions.h"

namespace hilo {
namespace {

constexpr int64_t kLargestMatrix = 16;  // of several factors
constexpr int64_t kLargestPrime = 64;   // that is transformed by a matrix

// The number of points of the matrix in which n points are transformed last.
int64_t FactorOf(int64_t n) {
  if (n <= kLargestMatrix) return n;
  for (int64_t p = kLargestMatrix; p > 1; --p) {
    if (n % p == 0) return p;
  }
  for (int64_t p = kLargestMatrix + 1; p <= n / p; ++p) {
    if (n % p == 0) return p;
  }
  return n;
}

// Complex transforms of the rows of matrices [rows, n].
class Transforms {
 public:
  Transforms(XlaBuilder* builder, PrimitiveType type) : builder_(builder), type_(type) {}

  XlaOp Rows(XlaOp x, int64_t rows, int64_t n) {
    if (n == 1) return x;
    const int64_t p = FactorOf(n), m = n / p;
    if (p == n) return p > kLargestPrime ? Chirp(x, rows, n) : Columns(Reshape(x, {rows, n, 1}), rows, n, 1);
    const XlaOp parts = Reshape(Transpose(Reshape(x, {rows, m, p}), {0, 2, 1}), {rows * p, m});
    const XlaOp twiddles = Constant({p, m}, [&](int64_t i) { return Root((i / m) * (i % m), n); });
    const XlaOp transformed = Reshape(Rows(parts, rows * p, m), {rows, p, m});
    return Columns(Mul(transformed, BroadcastInDim(twiddles, {rows, p, m}, {1, 2})), rows, p, m);
  }

  // Conjugates before and after make it the inverse.
  XlaOp InverseRows(XlaOp x, int64_t rows, int64_t n) {
    const XlaOp sum = Conjugate(Rows(Conjugate(x), rows, n));
    return Mul(sum, Number(1 / static_cast<long double>(n)));
  }

  XlaOp Conjugate(XlaOp x) { return Complex(Real(x), Neg(Imag(x))); }

 private:
  using Value = std::complex<long double>;

  static Value Root(int64_t i, int64_t n) {
    const long double angle =
        2 * std::numbers::pi_v<long double> * static_cast<long double>(i % n) / static_cast<long double>(n);
    return Value(std::cos(angle), -std::sin(angle));
  }

  // Transforms dimension 1 of [rows, p, m] by the matrix of roots, and returns [rows, p * m].
  XlaOp Columns(XlaOp x, int64_t rows, int64_t p, int64_t m) {
    const XlaOp matrix = Constant({p, p}, [&](int64_t i) { return Root((i / p) * (i % p), p); });
    DotDimensionNumbers numbers;
    numbers.add_lhs_contracting_dimensions(1);
    numbers.add_rhs_contracting_dimensions(1);
    const XlaOp product = DotGeneral(matrix, x, numbers);  // [p, rows, m]
    return Reshape(Transpose(product, {1, 0, 2}), {rows, p * m});
  }

  // With jk = (j^2 + k^2 - (k - j)^2) / 2, result k is c[k] times the sum of (x[j] c[j]) / c[k - j], where c[j] is the
  // root j^2 of 2n.
  XlaOp Chirp(XlaOp x, int64_t rows, int64_t n) {
    int64_t size = 1;
    while (size < 2 * n - 1) size *= 2;
    const auto chirp_at = [n](int64_t j) { return Root(j * j, 2 * n); };
    const XlaOp chirp = BroadcastInDim(Constant({n}, chirp_at), {rows, n}, {1});
    const XlaOp filter = Constant({1, size}, [&](int64_t i) {
      const int64_t distance = std::min(i, size - i);
      return distance < n ? std::conj(chirp_at(distance)) : Value(0);
    });
    const XlaOp signal = Rows(PadInDim(Mul(x, chirp), Number(0), 1, 0, size - n), rows, size);
    const XlaOp spectrum = BroadcastInDim(Reshape(Rows(filter, 1, size), {size}), {rows, size}, {1});
    return Mul(SliceInDim(InverseRows(Mul(signal, spectrum), rows, size), 0, n, 1, 1), chirp);
  }

  XlaOp Number(long double value) {
    return Reshape(Constant({1}, [&](int64_t) { return Value(value); }), {});
  }

  template <typename F>
  XlaOp Constant(absl::Span<const int64_t> dimensions, const F& value) {
    return type_ == C64 ? ConstantOf<float>(dimensions, value) : ConstantOf<double>(dimensions, value);
  }
  template <typename Part, typename F>
  XlaOp ConstantOf(absl::Span<const int64_t> dimensions, const F& value) {
    int64_t count = 1;
    for (const int64_t size : dimensions) count *= size;
    std::vector<std::complex<Part>> values;
    values.reserve(count);
    for (int64_t i = 0; i < count; ++i) {
      const Value wide = value(i);
      values.emplace_back(static_cast<Part>(wide.real()), static_cast<Part>(wide.imag()));
    }
    return ConstantLiteral(builder_, LiteralUtil::CreateFromArray<std::complex<Part>>(values, dimensions));
  }

  XlaBuilder* const builder_;
  const PrimitiveType type_;
};

// The spectrum of n real points in rows, of which x has the first half: the others are conjugates of these. The first
// and that of half the sampling rate are real.
XlaOp WholeSpectrum(Transforms& transforms, XlaOp x, int64_t rows, int64_t n) {
  XlaBuilder* const b = x.builder();
  const int64_t half = n / 2 + 1;
  const XlaOp k = Iota(b, ShapeUtil::MakeShape(S64, {rows, half}), 1);
  XlaOp is_real = Eq(k, ConstantR0<int64_t>(b, 0));
  if (n % 2 == 0) is_real = Or(is_real, Eq(k, ConstantR0<int64_t>(b, n / 2)));
  const XlaOp imaginary = Imag(x);
  const XlaOp spectrum = Complex(Real(x), Select(is_real, Sub(imaginary, imaginary), imaginary));
  if (n == half) return spectrum;
  return ConcatInDim(b, {spectrum, transforms.Conjugate(Rev(SliceInDim(spectrum, 1, n - half + 1, 1, 1), {1}))}, 1);
}

}  // namespace

absl::StatusOr<XlaOp> ExpandFft(const HloInstruction& instruction, XlaBuilder* builder,
                                absl::Span<const XlaOp> operands) {
  const FftAttrs& attrs = instruction.attrs<FftAttrs>();
  const Shape& result = instruction.shape();
  const PrimitiveType type = result.element_type();
  const Shape& shape = instruction.operand(0)->shape();
  if (ShapeUtil::IsZeroElementArray(result) || ShapeUtil::IsZeroElementArray(shape))
    return Broadcast(ConstantLiteral(builder, LiteralUtil::Zero(type)), result.dimensions());
  const bool to_real = attrs.fft_type == FftType::kIrfft, from_real = attrs.fft_type == FftType::kRfft;
  const bool inverse = to_real || attrs.fft_type == FftType::kIfft;
  Transforms transforms(builder, to_real ? shape.element_type() : type);
  const int64_t last = result.rank() - 1;
  std::vector<int64_t> sizes(shape.dimensions().begin(), shape.dimensions().end());
  XlaOp x = operands[0];
  if (from_real) x = Complex(x, Broadcast(ConstantLiteral(builder, LiteralUtil::Zero(shape.element_type())), sizes));

  const auto transform = [&](int64_t dimension) {
    // Swaps the dimension with the last one.
    std::vector<int64_t> order(sizes.size());
    for (size_t d = 0; d < order.size(); ++d) order[d] = static_cast<int64_t>(d);
    std::swap(order[dimension], order[last]);
    std::swap(sizes[dimension], sizes[last]);
    if (dimension != last) x = Transpose(x, order);
    int64_t rows = 1;
    for (int64_t d = 0; d < last; ++d) rows *= sizes[d];
    x = Reshape(x, {rows, sizes[last]});
    if (to_real && dimension == last) {
      sizes[last] = attrs.fft_length.back();
      x = WholeSpectrum(transforms, x, rows, sizes[last]);
    }
    x = inverse ? transforms.InverseRows(x, rows, sizes[last]) : transforms.Rows(x, rows, sizes[last]);
    if (from_real && dimension == last) {
      sizes[last] = sizes[last] / 2 + 1;
      x = SliceInDim(x, 0, sizes[last], 1, 1);
    }
    x = Reshape(x, sizes);
    if (dimension != last) x = Transpose(x, order);
    std::swap(sizes[dimension], sizes[last]);
  };
  // The half that is stored of a spectrum is along the last dimension, which comes first, or last on the way back.
  if (!to_real) transform(last);
  for (int64_t d = last - 1; d > last - static_cast<int64_t>(attrs.fft_length.size()); --d) transform(d);
  if (to_real) {
    transform(last);
    x = Real(x);
  }
  return x;
}

}  // namespace hilo
