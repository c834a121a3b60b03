// The three batch normalizations, in double, feature by feature; results are rounded once.
#include <cmath>

#include "hlo/ops/reduction/batch_norm_attributes.h"
#include "hlo/ops/table/op_checks.h"

namespace hilo {
namespace {

constexpr absl::string_view kFeatureOperands[] = {"scale", "offset", "mean", "variance"};

// Operand 0 is the array, followed by vectors with one element per feature, named by their index in kFeatureOperands.
absl::Status CheckOperands(const OpView& op, absl::Span<const int> vectors) {
  for (size_t i = 0; i < op.operands.size(); ++i)
    HILO_RETURN_IF_ERROR(CheckTypeClass(op, i, kFloat));  // which tuples are not
  const Shape& array = op.operand(0);
  const auto& attributes = op.attrs<BatchNormAttrs>();
  const int64_t feature = attributes.feature_index;
  if (feature < 0 || feature >= array.rank()) {  // batch_norm_c1
    return InvalidOp(op, "feature_index = ", feature, " is not a dimension of the operand, ", array.ToString());
  }
  for (size_t i = 0; i < vectors.size(); ++i) {
    const Shape& vector = op.operand(i + 1);
    if (vector.rank() != 1 || vector.dimensions(0) != array.dimensions(feature)) {
      return InvalidOp(op, kFeatureOperands[vectors[i]], " must have the dimensions [", array.dimensions(feature),
                       "], one element a feature, but is ", vector.ToString());
    }
  }
  return absl::OkStatus();
}

Shape FeatureShape(const OpView& op) {
  const Shape& array = op.operand(0);
  return Shape(array.element_type(), {array.dimensions(op.attrs<BatchNormAttrs>().feature_index)});
}

Shape ArrayShape(const OpView& op) { return WithoutLayouts(op.operand(0)); }

// Values of an array or, for each feature, of a vector.
using Values = std::vector<double>;

Values Read(const Literal& literal) {
  Values values(literal.element_count());
  for (size_t i = 0; i < values.size(); ++i) values[i] = literal.GetAsDouble(i);
  return values;
}

absl::StatusOr<Literal> Write(const Values& values, Shape shape) {
  const PrimitiveType type = shape.element_type();
  shape.set_element_type(F64);
  HILO_ASSIGN_OR_RETURN(Literal literal, Literal::Create(shape));
  std::copy(values.begin(), values.end(), literal.data<double>().begin());
  return literal.Convert(type);
}

// Elements to features, and sums over the elements of one.
class Features {
 public:
  explicit Features(const OpView& op) {
    const Shape& array = op.operand(0);
    const int64_t feature = op.attrs<BatchNormAttrs>().feature_index;
    size_ = array.dimensions(feature);
    stride_ = ShapeUtil::RowMajorStrides(array.dimensions())[feature];
    double count = 1;
    for (int64_t d = 0; d < array.rank(); ++d) count *= d == feature ? 1.0 : static_cast<double>(array.dimensions(d));
    count_ = count;
    epsilon_ = static_cast<float>(op.attrs<BatchNormAttrs>().epsilon);
  }

  int64_t Of(int64_t element) const { return element / stride_ % size_; }
  double epsilon() const { return epsilon_; }
  Values Sum(const Values& array) const {
    Values sums(size_, 0);
    for (size_t i = 0; i < array.size(); ++i) sums[Of(i)] += array[i];
    return sums;
  }
  Values Mean(const Values& array) const {
    Values means = Sum(array);
    for (double& mean : means) mean /= count_;
    return means;
  }
  Values Normalize(const Values& x, const Values& scale, const Values& offset, const Values& mean,
                   const Values& variance) const {
    Values y(x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      const int64_t f = Of(i);
      y[i] = scale[f] * (x[i] - mean[f]) / std::sqrt(variance[f] + epsilon_) + offset[f];
    }
    return y;
  }

 private:
  int64_t size_, stride_;
  double count_, epsilon_;
};

}  // namespace

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kBatchNormTraining>(const OpView& op) {
  HILO_RETURN_IF_ERROR(CheckOperands(op, {0, 1}));
  return Shape(std::vector<Shape>{ArrayShape(op), FeatureShape(op), FeatureShape(op)});
}

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kBatchNormInference>(const OpView& op) {
  HILO_RETURN_IF_ERROR(CheckOperands(op, {0, 1, 2, 3}));
  return ArrayShape(op);
}

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kBatchNormGrad>(const OpView& op) {
  HILO_RETURN_IF_ERROR(CheckOperands(op, {0, 2, 3}));
  if (!ShapeUtil::SameDimensions(op.operand(0), op.operand(4))) {
    return InvalidOp(op, "grad_output must have the dimensions of the operand, ", op.operand(0).ToString(), ", but is ",
                     op.operand(4).ToString());
  }
  return Shape(std::vector<Shape>{ArrayShape(op), FeatureShape(op), FeatureShape(op)});
}

template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kBatchNormTraining>(const OpView& op, const Shape&, Operands operands) {
  const Features features(op);
  const Values x = Read(*operands[0]);
  const Values mean = features.Mean(x);
  Values squares(x.size());
  for (size_t i = 0; i < x.size(); ++i) squares[i] = (x[i] - mean[features.Of(i)]) * (x[i] - mean[features.Of(i)]);
  const Values variance = features.Mean(squares);
  std::vector<Literal> results(3);
  HILO_ASSIGN_OR_RETURN(
      results[0], Write(features.Normalize(x, Read(*operands[1]), Read(*operands[2]), mean, variance), ArrayShape(op)));
  HILO_ASSIGN_OR_RETURN(results[1], Write(mean, FeatureShape(op)));
  HILO_ASSIGN_OR_RETURN(results[2], Write(variance, FeatureShape(op)));
  return Literal::MakeTuple(std::move(results));
}

template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kBatchNormInference>(const OpView& op, const Shape&, Operands operands) {
  std::vector<Values> values;
  for (const Literal* operand : operands) values.push_back(Read(*operand));
  return Write(Features(op).Normalize(values[0], values[1], values[2], values[3], values[4]), ArrayShape(op));
}

template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kBatchNormGrad>(const OpView& op, const Shape&, Operands operands) {
  const Features features(op);
  const Values x = Read(*operands[0]), scale = Read(*operands[1]), mean = Read(*operands[2]),
               variance = Read(*operands[3]);
  const Values grad = Read(*operands[4]);
  Values products(x.size()), grad_x(x.size());
  for (size_t i = 0; i < x.size(); ++i) products[i] = grad[i] * (x[i] - mean[features.Of(i)]);
  const Values mean_grad = features.Mean(grad), mean_product = features.Mean(products);
  for (size_t i = 0; i < x.size(); ++i) {
    const int64_t f = features.Of(i);
    const double shifted = variance[f] + features.epsilon();
    grad_x[i] = scale[f] / std::sqrt(shifted) * (grad[i] - mean_grad[f] - mean_product[f] / shifted * (x[i] - mean[f]));
  }
  Values grad_scale = features.Sum(products);
  for (size_t f = 0; f < grad_scale.size(); ++f) grad_scale[f] /= std::sqrt(variance[f] + features.epsilon());
  std::vector<Literal> results(3);
  HILO_ASSIGN_OR_RETURN(results[0], Write(grad_x, ArrayShape(op)));
  HILO_ASSIGN_OR_RETURN(results[1], Write(grad_scale, FeatureShape(op)));
  HILO_ASSIGN_OR_RETURN(results[2], Write(features.Sum(grad), FeatureShape(op)));
  return Literal::MakeTuple(std::move(results));
}

}  // namespace hilo
