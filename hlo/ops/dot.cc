// Dot: both operands are brought into the order [batch, m, k] and [batch, k, n], converted to the
// type that sums are kept in; then a plain triple loop, k in ascending order, and one rounding to
// the result's type at the end.
#include <algorithm>
#include <complex>

#include "hlo/ops/op_attributes.h"
#include "hlo/ops/op_checks.h"

namespace hilo {
namespace {

constexpr absl::string_view kAlgorithms[] = {
    "dot_any_f8_any_f8_f32", "dot_any_f8_any_f8_f32_fast_accum",
    "dot_f16_f16_f16",       "dot_f16_f16_f32",
    "dot_bf16_bf16_bf16",    "dot_bf16_bf16_f32",
    "dot_bf16_bf16_f32_x3",  "dot_bf16_bf16_f32_x6",
    "dot_bf16_bf16_f32_x9",  "dot_tf32_tf32_f32",
    "dot_tf32_tf32_f32_x3",  "dot_f32_f32_f32",
    "dot_f64_f64_f64"};

// Contracting and batch dimensions of one operand.
absl::Status CheckSide(const OpView& op, absl::string_view side, const Shape& shape,
                       const std::vector<int64_t>& batch, const std::vector<int64_t>& contracting) {
  const std::string batch_name = absl::StrCat(side, "_batch_dims");
  const std::string contracting_name = absl::StrCat(side, "_contracting_dims");
  HILO_RETURN_IF_ERROR(
      CheckDimensions(op, batch_name, batch, shape.rank(), side));  // dot_general_c5, c7
  HILO_RETURN_IF_ERROR(CheckDimensions(op, contracting_name, contracting, shape.rank(),
                                       side));  // dot_general_c6, c8
  HILO_RETURN_IF_ERROR(CheckUnique(op, batch_name, batch));
  HILO_RETURN_IF_ERROR(CheckUnique(op, contracting_name, contracting));
  std::vector<int64_t> both = batch;
  both.insert(both.end(), contracting.begin(), contracting.end());
  return CheckUnique(op, absl::StrCat(batch_name, " and ", contracting_name),
                     both);  // dot_general_c3, c4
}

// dot_general_c1, c2, c9, c10
absl::Status CheckPairs(const OpView& op, absl::string_view kind,
                        const std::vector<int64_t>& lhs_dims,
                        const std::vector<int64_t>& rhs_dims) {
  if (lhs_dims.size() != rhs_dims.size()) {
    return InvalidOp(op, "lhs_", kind, "_dims = ", ListText(lhs_dims), " and rhs_", kind,
                     "_dims = ", ListText(rhs_dims), " must have one length");
  }
  for (size_t i = 0; i < lhs_dims.size(); ++i) {
    const int64_t a = op.operand(0).dimensions(lhs_dims[i]);
    const int64_t b = op.operand(1).dimensions(rhs_dims[i]);
    if (a != b) {
      return InvalidOp(op, "lhs dimension ", lhs_dims[i], " has size ", a, ", but rhs dimension ",
                       rhs_dims[i], ", its ", kind, " partner, has size ", b);
    }
  }
  return absl::OkStatus();
}

// Operands may be widened and results narrowed, but nothing turns complex into real or floats into
// integers.
int Rank(PrimitiveType type) { return IsComplexType(type) ? 2 : IsFloatingPointType(type) ? 1 : 0; }

// The wider kind of the operands' types; the first operand's if they are of one kind.
PrimitiveType DefaultType(PrimitiveType lhs, PrimitiveType rhs) {
  if (Rank(lhs) != Rank(rhs)) return Rank(lhs) > Rank(rhs) ? lhs : rhs;
  return PrimitiveTypeBitWidth(lhs) >= PrimitiveTypeBitWidth(rhs) ? lhs : rhs;
}

// Dimensions in neither list.
std::vector<int64_t> FreeDimensions(int64_t rank, absl::Span<const int64_t> batch,
                                    absl::Span<const int64_t> contracting) {
  std::vector<int64_t> dimensions;
  for (int64_t d = 0; d < rank; ++d) {
    if (!Contains(batch, d) && !Contains(contracting, d)) dimensions.push_back(d);
  }
  return dimensions;
}

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

// Sizes of the three groups of dimensions that an operand or the product falls into.
struct Sizes {
  int64_t batch = 1, m = 1, n = 1, k = 1;
};
int64_t Volume(const Shape& shape, absl::Span<const int64_t> dimensions) {
  int64_t volume = 1;
  for (int64_t d : dimensions) volume *= shape.dimensions(d);
  return volume;
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
// Written out: the operator of std::complex repairs infinities, which no backend does, and is many
// times slower.
template <typename Part>
void MultiplyAdd(std::complex<Part> a, const std::complex<Part>* b, std::complex<Part>* out,
                 int64_t n) {
  for (int64_t j = 0; j < n; ++j) {
    const Part re = a.real() * b[j].real() - a.imag() * b[j].imag();
    const Part im = a.real() * b[j].imag() + a.imag() * b[j].real();
    out[j] += std::complex<Part>(re, im);
  }
}

template <typename Sum>
void Multiply(const std::vector<Sum>& lhs, const std::vector<Sum>& rhs, const Sizes& sizes,
              Literal* result) {
  const auto [batch, m, n, k] = sizes;
  std::vector<Sum> row(n);
  ArrayTypeSwitch(result->shape().element_type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* out = result->data<T>().data();
    for (int64_t i = 0; i < batch * m; ++i) {
      std::fill(row.begin(), row.end(), Sum(0));
      const Sum* b = rhs.data() + i / m * k * n;
      for (int64_t c = 0; c < k; ++c) MultiplyAdd(lhs[i * k + c], b + c * n, row.data(), n);
      for (int64_t j = 0; j < n; ++j) out[i * n + j] = FromSum<T>(row[j]);
    }
  });
}

template <typename Sum>
void DotAs(const DotAttrs& attrs, Operands operands, Literal* result) {
  const Shape& lhs = operands[0]->shape();
  const Shape& rhs = operands[1]->shape();
  const std::vector<int64_t> lhs_free =
      FreeDimensions(lhs.rank(), attrs.lhs_batch_dims, attrs.lhs_contracting_dims);
  const std::vector<int64_t> rhs_free =
      FreeDimensions(rhs.rank(), attrs.rhs_batch_dims, attrs.rhs_contracting_dims);
  const auto joined = [](std::vector<int64_t> a, const std::vector<int64_t>& b,
                         const std::vector<int64_t>& c) {
    a.insert(a.end(), b.begin(), b.end());
    a.insert(a.end(), c.begin(), c.end());
    return a;
  };
  const Sizes sizes = {.batch = Volume(lhs, attrs.lhs_batch_dims),
                       .m = Volume(lhs, lhs_free),
                       .n = Volume(rhs, rhs_free),
                       .k = Volume(lhs, attrs.lhs_contracting_dims)};
  Multiply<Sum>(Gathered<Sum>(*operands[0],
                              joined(attrs.lhs_batch_dims, lhs_free, attrs.lhs_contracting_dims)),
                Gathered<Sum>(*operands[1],
                              joined(attrs.rhs_batch_dims, attrs.rhs_contracting_dims, rhs_free)),
                sizes, result);
}

}  // namespace

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kDot>(const OpView& op) {
  HILO_RETURN_IF_ERROR(CheckArray(op, 0, "lhs"));
  HILO_RETURN_IF_ERROR(CheckArray(op, 1, "rhs"));
  const Shape& lhs = op.operand(0);
  const Shape& rhs = op.operand(1);
  const DotAttrs& attrs = op.attrs<DotAttrs>();
  HILO_RETURN_IF_ERROR(CheckSide(op, "lhs", lhs, attrs.lhs_batch_dims, attrs.lhs_contracting_dims));
  HILO_RETURN_IF_ERROR(CheckSide(op, "rhs", rhs, attrs.rhs_batch_dims, attrs.rhs_contracting_dims));
  HILO_RETURN_IF_ERROR(CheckPairs(op, "batch", attrs.lhs_batch_dims, attrs.rhs_batch_dims));
  HILO_RETURN_IF_ERROR(
      CheckPairs(op, "contracting", attrs.lhs_contracting_dims, attrs.rhs_contracting_dims));
  if (!attrs.operand_precision.empty() && attrs.operand_precision.size() != 2) {  // dot_general_c11
    return InvalidOp(op, "operand_precision has ", attrs.operand_precision.size(),
                     " entries, but there are 2 operands");
  }
  if (!attrs.algorithm.empty() &&
      std::find(std::begin(kAlgorithms), std::end(kAlgorithms),
                absl::string_view(attrs.algorithm)) == std::end(kAlgorithms)) {
    return InvalidOp(op, "there is no algorithm ", attrs.algorithm);
  }
  PrimitiveType type = DefaultType(lhs.element_type(), rhs.element_type());
  if (op.stated != nullptr) {  // dot_general_c13
    if (!op.stated->IsArray() || Rank(op.stated->element_type()) < Rank(type)) {
      return InvalidOp(op, "products of ", lhs.ToString(), " and ", rhs.ToString(),
                       " cannot be summed up as ", op.stated->ToString());
    }
    type = op.stated->element_type();
  }
  std::vector<int64_t> sizes;  // dot_general_c12
  for (int64_t d : attrs.lhs_batch_dims) sizes.push_back(lhs.dimensions(d));
  for (int64_t d : FreeDimensions(lhs.rank(), attrs.lhs_batch_dims, attrs.lhs_contracting_dims)) {
    sizes.push_back(lhs.dimensions(d));
  }
  for (int64_t d : FreeDimensions(rhs.rank(), attrs.rhs_batch_dims, attrs.rhs_contracting_dims)) {
    sizes.push_back(rhs.dimensions(d));
  }
  return Shape(type, sizes);
}

template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kDot>(const OpView& op, const Shape& shape,
                                                  Operands operands) {
  HILO_ASSIGN_OR_RETURN(Literal result, Literal::Create(shape));
  if (ShapeUtil::IsZeroElementArray(shape)) return result;
  const DotAttrs& attrs = op.attrs<DotAttrs>();
  const PrimitiveType types[] = {operands[0]->shape().element_type(),
                                 operands[1]->shape().element_type(), shape.element_type()};
  const auto any_of = [&](PrimitiveType type) {
    return std::find(std::begin(types), std::end(types), type) != std::end(types);
  };
  const bool wide = any_of(F64) || any_of(C128);
  if (IsComplexType(shape.element_type())) {
    wide ? DotAs<complex128>(attrs, operands, &result) : DotAs<complex64>(attrs, operands, &result);
  } else if (IsFloatingPointType(shape.element_type())) {
    wide ? DotAs<double>(attrs, operands, &result) : DotAs<float>(attrs, operands, &result);
  } else {
    DotAs<uint64_t>(attrs, operands, &result);
  }
  return result;
}

}  // namespace hilo
