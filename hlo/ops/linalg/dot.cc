// Dot: both operands are brought into the order [batch, m, k] and [batch, k, n], converted to the
// type that sums are kept in; then a plain triple loop, k in ascending order, and one rounding to
// the result's type at the end.
#include <algorithm>

#include "hlo/ops/linalg/contraction.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/ops/table/op_checks.h"

namespace hilo {
namespace {

constexpr absl::string_view kAlgorithms[] = {"dot_any_f8_any_f8_f32", "dot_any_f8_any_f8_f32_fast_accum",
                                             "dot_f16_f16_f16",       "dot_f16_f16_f32",
                                             "dot_bf16_bf16_bf16",    "dot_bf16_bf16_f32",
                                             "dot_bf16_bf16_f32_x3",  "dot_bf16_bf16_f32_x6",
                                             "dot_bf16_bf16_f32_x9",  "dot_tf32_tf32_f32",
                                             "dot_tf32_tf32_f32_x3",  "dot_f32_f32_f32",
                                             "dot_f64_f64_f64"};

// Sizes of the three groups of dimensions that an operand or the product falls into.
struct Sizes {
  int64_t batch = 1, m = 1, n = 1, k = 1;
};

template <typename Sum>
absl::Status Multiply(const OpView& op, const std::vector<Sum>& lhs, const std::vector<Sum>& rhs, const Sizes& sizes,
                      Literal* result) {
  const auto [batch, m, n, k] = sizes;
  std::vector<Sum> row(n);
  // What sums over nothing is the product itself, also if that is -0.
  const bool is_sum = !std::is_floating_point_v<Sum> || !op.attrs<DotAttrs>().lhs_contracting_dims.empty();
  const Sum start = is_sum ? Sum(0) : -Sum(0);
  return ArrayTypeSwitch(result->shape().element_type(), [&](auto tag) -> absl::Status {
    using T = typename decltype(tag)::type;
    T* out = result->data<T>().data();
    for (int64_t i = 0; i < batch * m; ++i) {
      std::fill(row.begin(), row.end(), start);
      const Sum* b = rhs.data() + i / m * k * n;
      for (int64_t c = 0; c < k; ++c) {
        HILO_RETURN_IF_ERROR(op.Spend(n));
        MultiplyAdd(lhs[i * k + c], b + c * n, row.data(), n);
      }
      for (int64_t j = 0; j < n; ++j) out[i * n + j] = FromSum<T>(row[j]);
    }
    return absl::OkStatus();
  });
}

template <typename Sum>
absl::Status DotAs(const OpView& op, Operands operands, Literal* result) {
  const DotAttrs& attrs = op.attrs<DotAttrs>();
  const Shape& lhs = operands[0]->shape();
  const Shape& rhs = operands[1]->shape();
  const std::vector<int64_t> lhs_free = FreeDimensions(lhs.rank(), attrs.lhs_batch_dims, attrs.lhs_contracting_dims);
  const std::vector<int64_t> rhs_free = FreeDimensions(rhs.rank(), attrs.rhs_batch_dims, attrs.rhs_contracting_dims);
  const auto joined = [](std::vector<int64_t> a, const std::vector<int64_t>& b, const std::vector<int64_t>& c) {
    a.insert(a.end(), b.begin(), b.end());
    a.insert(a.end(), c.begin(), c.end());
    return a;
  };
  const Sizes sizes = {.batch = Volume(lhs, attrs.lhs_batch_dims),
                       .m = Volume(lhs, lhs_free),
                       .n = Volume(rhs, rhs_free),
                       .k = Volume(lhs, attrs.lhs_contracting_dims)};
  return Multiply<Sum>(
      op, Gathered<Sum>(*operands[0], joined(attrs.lhs_batch_dims, lhs_free, attrs.lhs_contracting_dims)),
      Gathered<Sum>(*operands[1], joined(attrs.rhs_batch_dims, attrs.rhs_contracting_dims, rhs_free)), sizes, result);
}

}  // namespace

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kDot>(const OpView& op) {
  const DotAttrs& attrs = op.attrs<DotAttrs>();
  HILO_RETURN_IF_ERROR(CheckContraction(op, attrs.lhs_batch_dims, attrs.lhs_contracting_dims, attrs.rhs_batch_dims,
                                        attrs.rhs_contracting_dims));
  HILO_RETURN_IF_ERROR(CheckPrecision(op, attrs.operand_precision));  // dot_general_c11
  if (!attrs.algorithm.empty() && std::find(std::begin(kAlgorithms), std::end(kAlgorithms),
                                            absl::string_view(attrs.algorithm)) == std::end(kAlgorithms)) {
    return InvalidOp(op, "there is no algorithm ", attrs.algorithm);
  }
  const Shape& lhs = op.operand(0);
  const Shape& rhs = op.operand(1);
  HILO_ASSIGN_OR_RETURN(const PrimitiveType type, ProductType(op));  // dot_general_c13
  std::vector<int64_t> sizes;                                        // dot_general_c12
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
absl::StatusOr<Literal> Evaluate<HloOpcode::kDot>(const OpView& op, const Shape& shape, Operands operands) {
  HILO_ASSIGN_OR_RETURN(Literal result, Literal::Create(shape));
  if (ShapeUtil::IsZeroElementArray(shape)) return result;
  HILO_RETURN_IF_ERROR(SumTypeSwitch(operands, shape.element_type(), [&](auto tag) {
    return DotAs<typename decltype(tag)::type>(op, operands, &result);
  }));
  return result;
}

}  // namespace hilo
