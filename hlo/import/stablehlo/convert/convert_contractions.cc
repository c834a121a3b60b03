// Products of matrices, convolutions and linear algebra.
#include <algorithm>

#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/import/stablehlo/op_conversion.h"
#include "hlo/import/stablehlo/op_movement.h"
#include "hlo/ops/linalg/convolution_attributes.h"
#include "hlo/ops/linalg/linalg_attributes.h"

namespace hilo::stablehlo {

absl::StatusOr<std::vector<Precision>> Precisions(const OpConversion& c) {
  std::vector<Precision> precisions;
  const Attribute* config = c.op.Find("precision_config");
  if (config == nullptr) return precisions;
  for (const Attribute* element : config->elements) {
    if (element->text != "DEFAULT" && element->text != "HIGH" && element->text != "HIGHEST")
      return InvalidArgument("expected DEFAULT, HIGH or HIGHEST as precision, got \"", element->text, "\"");
    precisions.push_back(element->text == "HIGHEST" ? Precision::kHighest
                         : element->text == "HIGH"  ? Precision::kHigh
                                                    : Precision::kDefault);
  }
  if (std::all_of(precisions.begin(), precisions.end(), [](Precision one) { return one == Precision::kDefault; }))
    precisions.clear();
  return precisions;
}

namespace {

// "" for none.
absl::string_view AlgorithmType(const OpConversion& c, absl::string_view name) {
  const Attribute* attribute = c.op.Find(name);
  if (attribute == nullptr || attribute->kind != Attribute::Kind::kType || attribute->type->kind == Type::Kind::kNone)
    return "";
  const Type& type = *attribute->type;
  return type.kind == Type::Kind::kForeign ? absl::string_view(type.name) : PrimitiveTypeName(type.element);
}

// XLA names the algorithms; StableHLO describes them by the types of operands and sums, and by the number of products
// of parts.
absl::StatusOr<Word> Algorithm(const OpConversion& c) {
  struct Row {
    absl::string_view operand, sum;
    int64_t components, products;
    bool imprecise;
    absl::string_view name;
  };
  static constexpr Row kRows[] = {
      {"f16", "f16", 1, 1, false, "dot_f16_f16_f16"},
      {"f16", "f32", 1, 1, false, "dot_f16_f16_f32"},
      {"bf16", "bf16", 1, 1, false, "dot_bf16_bf16_bf16"},
      {"bf16", "f32", 1, 1, false, "dot_bf16_bf16_f32"},
      {"bf16", "f32", 1, 3, false, "dot_bf16_bf16_f32_x3"},
      {"bf16", "f32", 1, 6, false, "dot_bf16_bf16_f32_x6"},
      {"bf16", "f32", 1, 9, false, "dot_bf16_bf16_f32_x9"},
      {"tf32", "f32", 1, 1, false, "dot_tf32_tf32_f32"},
      {"tf32", "f32", 1, 3, false, "dot_tf32_tf32_f32_x3"},
      {"f32", "f32", 1, 1, false, "dot_f32_f32_f32"},
      {"f64", "f64", 1, 1, false, "dot_f64_f64_f64"},
      {"f8", "f32", 1, 1, false, "dot_any_f8_any_f8_f32"},
      {"f8", "f32", 1, 1, true, "dot_any_f8_any_f8_f32_fast_accum"},
  };
  const absl::string_view lhs = AlgorithmType(c, "lhs_precision_type");
  const absl::string_view rhs = AlgorithmType(c, "rhs_precision_type"), sum = AlgorithmType(c, "accumulation_type");
  if (lhs.empty()) return Word();
  HILO_ASSIGN_OR_RETURN(const std::vector<Precision> precisions, Precisions(c));
  if (!precisions.empty()) return InvalidArgument("expected DEFAULT as precision_config beside an algorithm");
  HILO_ASSIGN_OR_RETURN(const int64_t lhs_components, c.Integer("lhs_component_count"));
  HILO_ASSIGN_OR_RETURN(const int64_t rhs_components, c.Integer("rhs_component_count"));
  HILO_ASSIGN_OR_RETURN(const int64_t products, c.Integer("num_primitive_operations"));
  const bool imprecise = c.Flag("allow_imprecise_accumulation");
  for (const Row& row : kRows) {
    auto matches = [&](absl::string_view type) {
      return type == row.operand || (row.operand == "f8" && type.substr(0, 2) == "f8");
    };
    if (matches(lhs) && matches(rhs) && sum == row.sum && lhs_components == row.components &&
        rhs_components == row.components && products == row.products && imprecise == row.imprecise) {
      Word word;
      word = std::string(row.name);
      return word;
    }
  }
  return Unimplemented("the algorithm ", lhs, " x ", rhs, " -> ", sum, " of ", products, " products");
}

// The result as far as the program states it; inference reads its element type alone.
absl::StatusOr<Shape> SumType(const OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectResults(1));
  const Type& type = c.ResultType();
  return type.kind == Type::Kind::kTensor && !type.IsStatic() ? Shape(type.element, {}) : c.ResultShape();
}

// Products of floats are summed up as floats, even if the program requests integers, and those of complex numbers as
// such: the sums are converted. `shape`: that of the result, which becomes that of the sums.
PrimitiveType SummedAs(const OpConversion& c, Shape* shape) {
  const PrimitiveType wanted = shape->element_type(), given = c.operands[0]->shape().element_type();
  const bool converts = (IsFloatingPointType(given) && !IsFloatingPointType(wanted) && !IsComplexType(wanted)) ||
                        (IsComplexType(given) && !IsComplexType(wanted));
  if (converts) shape->set_element_type(given);
  return wanted;
}

absl::StatusOr<HloInstruction*> Converted(OpConversion& c, absl::StatusOr<HloInstruction*> sums, PrimitiveType type) {
  HILO_RETURN_IF_ERROR(sums.status());
  if ((*sums)->shape().element_type() == type) return sums;
  if (IsComplexType((*sums)->shape().element_type())) {
    HILO_ASSIGN_OR_RETURN(sums, c.Add(HloOpcode::kReal, {*sums}));
  }
  const Shape shape = ShapeUtil::ChangeElementType((*sums)->shape(), type);
  return c.Add(HloOpcode::kConvert, {*sums}, nullptr, {}, &shape);
}

absl::StatusOr<Results> DotGeneral(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(2));
  auto attributes = std::make_unique<DotAttrs>();
  HILO_ASSIGN_OR_RETURN(attributes->lhs_batch_dims, c.Integers("lhs_batching_dimensions"));
  HILO_ASSIGN_OR_RETURN(attributes->rhs_batch_dims, c.Integers("rhs_batching_dimensions"));
  HILO_ASSIGN_OR_RETURN(attributes->lhs_contracting_dims, c.Integers("lhs_contracting_dimensions"));
  HILO_ASSIGN_OR_RETURN(attributes->rhs_contracting_dims, c.Integers("rhs_contracting_dimensions"));
  HILO_ASSIGN_OR_RETURN(attributes->operand_precision, Precisions(c));
  HILO_ASSIGN_OR_RETURN(attributes->algorithm, Algorithm(c));
  HILO_ASSIGN_OR_RETURN(Shape shape, SumType(c));
  const PrimitiveType type = SummedAs(c, &shape);
  return c.Split(Converted(c, c.Add(HloOpcode::kDot, c.operands, std::move(attributes), {}, &shape), type));
}

// Vectors and matrices.
absl::StatusOr<Results> Dot(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(2));
  auto attributes = std::make_unique<DotAttrs>();
  attributes->lhs_contracting_dims = {c.operands[0]->shape().rank() - 1};
  attributes->rhs_contracting_dims = {0};
  HILO_ASSIGN_OR_RETURN(attributes->operand_precision, Precisions(c));
  HILO_ASSIGN_OR_RETURN(Shape shape, SumType(c));
  const PrimitiveType type = SummedAs(c, &shape);
  return c.Split(Converted(c, c.Add(HloOpcode::kDot, c.operands, std::move(attributes), {}, &shape), type));
}

absl::StatusOr<Results> Convolution(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(2));
  HILO_ASSIGN_OR_RETURN(const auto padding, c.Pairs("padding"));
  return c.Split(Convolve(c, c.operands[0], padding));
}

absl::StatusOr<Results> Fft(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(1));
  auto attributes = std::make_unique<FftAttrs>();
  HILO_RETURN_IF_ERROR(FieldFromText(c.Text("fft_type"), &attributes->fft_type));
  HILO_ASSIGN_OR_RETURN(attributes->fft_length, c.Integers("fft_length"));
  return c.Split(c.Add(HloOpcode::kFft, c.operands, std::move(attributes)));
}

absl::StatusOr<Results> Cholesky(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(1));
  auto attributes = std::make_unique<CholeskyAttrs>();
  attributes->lower = c.Flag("lower");
  return c.Split(c.Add(HloOpcode::kCholesky, c.operands, std::move(attributes)));
}

absl::StatusOr<Results> TriangularSolve(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(2));
  auto attributes = std::make_unique<TriangularSolveAttrs>();
  attributes->left_side = c.Flag("left_side");
  attributes->lower = c.Flag("lower");
  attributes->unit_diagonal = c.Flag("unit_diagonal");
  HILO_RETURN_IF_ERROR(FieldFromText(c.Text("transpose_a"), &attributes->transpose_a));
  return c.Split(c.Add(HloOpcode::kTriangularSolve, c.operands, std::move(attributes)));
}

template <typename Set>
absl::Status SetDimension(const OpConversion& c, absl::string_view name, Set&& set) {
  HILO_ASSIGN_OR_RETURN(const int64_t dimension, c.Integer(name));
  set(dimension);
  return absl::OkStatus();
}

absl::StatusOr<ConvolutionDimensionNumbers> DimensionNumbers(const OpConversion& c) {
  ConvolutionDimensionNumbers n;
  HILO_RETURN_IF_ERROR(SetDimension(c, "input_batch_dimension", [&](int64_t d) { n.set_input_batch_dimension(d); }));
  HILO_RETURN_IF_ERROR(
      SetDimension(c, "input_feature_dimension", [&](int64_t d) { n.set_input_feature_dimension(d); }));
  HILO_RETURN_IF_ERROR(
      SetDimension(c, "kernel_input_feature_dimension", [&](int64_t d) { n.set_kernel_input_feature_dimension(d); }));
  HILO_RETURN_IF_ERROR(
      SetDimension(c, "kernel_output_feature_dimension", [&](int64_t d) { n.set_kernel_output_feature_dimension(d); }));
  HILO_RETURN_IF_ERROR(SetDimension(c, "output_batch_dimension", [&](int64_t d) { n.set_output_batch_dimension(d); }));
  HILO_RETURN_IF_ERROR(
      SetDimension(c, "output_feature_dimension", [&](int64_t d) { n.set_output_feature_dimension(d); }));
  HILO_ASSIGN_OR_RETURN(*n.mutable_input_spatial_dimensions(), c.Integers("input_spatial_dimensions"));
  HILO_ASSIGN_OR_RETURN(*n.mutable_kernel_spatial_dimensions(), c.Integers("kernel_spatial_dimensions"));
  HILO_ASSIGN_OR_RETURN(*n.mutable_output_spatial_dimensions(), c.Integers("output_spatial_dimensions"));
  return n;
}

constexpr ConversionRule kContractionRules[] = {
    {"stablehlo.cholesky", Cholesky}, {"stablehlo.convolution", Convolution},
    {"stablehlo.dot", Dot},           {"stablehlo.dot_general", DotGeneral},
    {"stablehlo.fft", Fft},           {"stablehlo.triangular_solve", TriangularSolve},
};

}  // namespace

absl::StatusOr<HloInstruction*> Convolve(OpConversion& c, HloInstruction* input,
                                         const std::vector<std::pair<int64_t, int64_t>>& padding, bool dilate_input) {
  auto attributes = std::make_unique<ConvolutionAttrs>();
  HILO_ASSIGN_OR_RETURN(attributes->dim_labels, DimensionNumbers(c));
  const auto& kernel = attributes->dim_labels.kernel_spatial_dimensions();
  const auto rank = static_cast<int64_t>(kernel.size());
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> strides, c.Integers("window_strides", rank, 1));
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> base, c.Integers("lhs_dilation", rank, 1));
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> dilations, c.Integers("rhs_dilation", rank, 1));
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> reversal, c.Integers("window_reversal", rank, 0));
  if (!padding.empty() && static_cast<int64_t>(padding.size()) != rank) {
    return InvalidArgument("expected ", rank, " pairs as padding, got ", padding.size());
  }
  const Shape& shape = c.operands[1]->shape();
  for (int64_t d = 0; d < rank; ++d) {
    if (kernel[d] < 0 || kernel[d] >= shape.rank())
      return InvalidArgument("kernel dimension ", kernel[d], " is none of ", shape.ToString());
    const auto [low, high] = padding.empty() ? std::pair<int64_t, int64_t>(0, 0) : padding[d];
    attributes->window.dimensions.push_back({.size = shape.dimensions(kernel[d]),
                                             .stride = strides[d],
                                             .padding_low = low,
                                             .padding_high = high,
                                             .base_dilation = dilate_input ? base[d] : 1,
                                             .window_dilation = dilations[d],
                                             .window_reversal = reversal[d] != 0});
  }
  HILO_ASSIGN_OR_RETURN(attributes->feature_group_count, c.IntegerOr("feature_group_count", 1));
  HILO_ASSIGN_OR_RETURN(attributes->batch_group_count, c.IntegerOr("batch_group_count", 1));
  HILO_ASSIGN_OR_RETURN(attributes->operand_precision, Precisions(c));
  HILO_ASSIGN_OR_RETURN(const Shape result, SumType(c));
  return c.Add(HloOpcode::kConvolution, {input, c.operands[1]}, std::move(attributes), {}, &result);
}

absl::Span<const ConversionRule> ContractionRules() { return kContractionRules; }

}  // namespace hilo::stablehlo
