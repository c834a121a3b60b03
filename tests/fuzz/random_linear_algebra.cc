// Sums of products, what is made of them, and random bits.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "hlo/ops/linalg/convolution_attributes.h"
#include "hlo/ops/linalg/linalg_attributes.h"
#include "hlo/ops/random/random_attributes.h"
#include "hlo/ops/reduction/batch_norm_attributes.h"
#include "tests/fuzz/random_grower.h"

namespace hilo::fuzz {
namespace {

// A type of a dot's result that is not that of its operands.
PrimitiveType OtherResultType(Grower& g, PrimitiveType type) {
  if (IsComplexType(type)) return type == C64 ? C128 : C64;
  if (IsFloatingPointType(type)) return PrimitiveTypeBitWidth(type) <= 16 ? F32 : type == F32 ? F64 : F32;
  static constexpr PrimitiveType kTypes[] = {S32, S32, S64, S8, F32};
  return g.random.Of(kTypes);
}

bool DotOp(Grower& g, Scope& scope) {
  const Value* x = g.Pick(scope, [](const Value& v) { return v.shape().IsArray() && v.type() != PRED; });
  if (x == nullptr) return false;
  HloInstruction* lhs = x->instruction;
  const Shape shape = lhs->shape();
  const bool is_narrow = IsSubByteType(shape.element_type()) || IsSmallFloatType(shape.element_type());
  const PrimitiveType type =
      is_narrow || g.random.Chance(20) ? OtherResultType(g, shape.element_type()) : shape.element_type();
  const Dims order = g.Permutation(shape.rank());
  const int64_t batch = g.random.Below(std::min<int64_t>(shape.rank(), 2) + 1);
  const int64_t contracted = g.random.Below(std::min<int64_t>(shape.rank() - batch, 2) + 1);
  auto attributes = std::make_unique<DotAttrs>();
  // The right side: its dimensions are the shared ones and one or two free ones, shuffled.
  Dims parts, dims;
  for (int64_t i = 0; i < batch + contracted; ++i) parts.push_back(order[i]);
  for (int i = g.random.Below(3); i > 0; --i) parts.push_back(-1);
  const Dims places = g.Permutation(parts.size());
  dims.resize(parts.size());
  for (size_t i = 0; i < parts.size(); ++i)
    dims[places[i]] = parts[i] < 0 ? g.RandomSize() : shape.dimensions(parts[i]);
  for (int64_t i = 0; i < batch + contracted; ++i) {
    (i < batch ? attributes->lhs_batch_dims : attributes->lhs_contracting_dims).push_back(order[i]);
    (i < batch ? attributes->rhs_batch_dims : attributes->rhs_contracting_dims).push_back(places[i]);
  }
  if (Product(dims) > g.options.max_elements || dims.size() > 4) return false;
  Dims results;
  for (int64_t d : attributes->lhs_batch_dims) results.push_back(shape.dimensions(d));
  for (const auto& [sizes, contracting, batches] :
       {std::tuple(DimsOf(shape), attributes->lhs_contracting_dims, attributes->lhs_batch_dims),
        std::tuple(dims, attributes->rhs_contracting_dims, attributes->rhs_batch_dims)}) {
    for (size_t d = 0; d < sizes.size(); ++d) {
      const auto at = static_cast<int64_t>(d);
      if (std::find(contracting.begin(), contracting.end(), at) == contracting.end() &&
          std::find(batches.begin(), batches.end(), at) == batches.end())
        results.push_back(sizes[d]);
    }
  }
  if (Product(results) > 2 * g.options.max_elements) return false;
  const Shape result = ShapeUtil::MakeShape(type, results);
  return g.Add(scope, HloOpcode::kDot, {lhs, g.Like(scope, dims, shape.element_type())}, std::move(attributes), {},
               &result);
}

// Labels in any order, groups, strides, padding, dilation and reversal.
bool ConvolutionOp(Grower& g, Scope& scope) {
  static constexpr PrimitiveType kTypes[] = {F32, F32, F32, F64, BF16, F16, S32, C64};
  const PrimitiveType type = g.random.Of(kTypes);
  const int64_t spatial = 1 + g.random.Below(2), groups = g.random.Chance(30) ? 1 + g.random.Below(3) : 1;
  auto attributes = std::make_unique<ConvolutionAttrs>();
  const bool batch_groups = groups > 1 && g.random.Chance(40);
  (batch_groups ? attributes->batch_group_count : attributes->feature_group_count) = groups;
  const int64_t batch = (1 + g.random.Below(2)) * (batch_groups ? groups : 1), features = 1 + g.random.Below(4);
  const Dims input_places = g.Permutation(spatial + 2), kernel_places = g.Permutation(spatial + 2),
             output_places = g.Permutation(spatial + 2);
  Dims input(spatial + 2), kernel(spatial + 2);
  ConvolutionDimensionNumbers& labels = attributes->dim_labels;
  labels.set_input_batch_dimension(input_places[0]);
  labels.set_input_feature_dimension(input_places[1]);
  labels.set_kernel_output_feature_dimension(kernel_places[0]);
  labels.set_kernel_input_feature_dimension(kernel_places[1]);
  labels.set_output_batch_dimension(output_places[0]);
  labels.set_output_feature_dimension(output_places[1]);
  input[input_places[0]] = batch;
  input[input_places[1]] = features * (batch_groups ? 1 : groups);
  kernel[kernel_places[0]] = groups * (1 + g.random.Below(4));
  kernel[kernel_places[1]] = features;
  for (int64_t i = 0; i < spatial; ++i) {
    labels.add_input_spatial_dimensions(input_places[i + 2]);
    labels.add_kernel_spatial_dimensions(kernel_places[i + 2]);
    labels.add_output_spatial_dimensions(output_places[i + 2]);
    Window::Dimension d{.size = 1 + g.random.Below(4), .stride = 1 + g.random.Below(2)};
    d.padding_low = g.random.Below(4) - 1;
    d.padding_high = g.random.Below(4) - 1;
    if (g.random.Chance(25)) d.base_dilation = 1 + g.random.Below(3);
    if (g.random.Chance(25)) d.window_dilation = 1 + g.random.Below(3);
    d.window_reversal = g.random.Chance(20);
    input[input_places[i + 2]] = 1 + g.random.Below(12);
    kernel[kernel_places[i + 2]] = d.size;
    attributes->window.dimensions.push_back(d);
  }
  HloInstruction* lhs = g.Like(scope, input, type);
  return g.Add(scope, HloOpcode::kConvolution, {lhs, g.Like(scope, kernel, type)}, std::move(attributes));
}

bool FftOp(Grower& g, Scope& scope) {
  const auto kind = static_cast<FftType>(g.random.Below(4));
  const bool real = kind == FftType::kRfft, wide = g.random.Chance(40);
  const Value* x = g.Pick(scope, [&](const Value& v) {
    return v.shape().IsArray() && v.shape().rank() >= 1 &&
           v.type() == (real ? (wide ? F64 : F32) : (wide ? C128 : C64));
  });
  HloInstruction* operand = x != nullptr ? x->instruction
                                         : g.Like(scope, {1 + g.random.Below(3), 1 + g.random.Below(40)},
                                                  real ? (wide ? F64 : F32) : (wide ? C128 : C64));
  if (operand == nullptr) return false;
  auto attributes = std::make_unique<FftAttrs>();
  attributes->fft_type = kind;
  const Dims dims = DimsOf(operand->shape());
  const int64_t count = 1 + g.random.Below(std::min<int64_t>(3, dims.size()));
  attributes->fft_length.assign(dims.end() - count, dims.end());
  if (kind == FftType::kIrfft) attributes->fft_length.back() = dims.back() * 2 - 1 - g.random.Below(2);
  return g.Add(scope, HloOpcode::kFft, {operand}, std::move(attributes));
}

// A lower triangular matrix with a diagonal of 1 to 3 and small integers below it.
Literal Triangle(Grower& g, int64_t n) {
  Literal literal = *Literal::Create(ShapeUtil::MakeShape(F64, {n, n}));
  for (int64_t i = 0; i < n * n; ++i) {
    const int64_t row = i / n, column = i % n;
    literal.data<double>()[i] = column > row ? 0 : column == row ? 1 + g.random.Below(3) : g.random.Below(3) - 1;
  }
  return literal;
}

PrimitiveType RealOrComplex(Grower& g) {
  static constexpr PrimitiveType kTypes[] = {F32, F32, F64, C64, C128};
  return g.random.Of(kTypes);
}

// Of L L^T, with an L that is known to be well conditioned.
bool CholeskyOp(Grower& g, Scope& scope) {
  const int64_t n = 1 + g.random.Below(6);
  const Literal factor = Triangle(g, n);
  Literal product = *Literal::Create(factor.shape());
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < n; ++k) sum += factor.data<double>()[i * n + k] * factor.data<double>()[j * n + k];
      product.data<double>()[i * n + j] = sum;
    }
  }
  auto attributes = std::make_unique<CholeskyAttrs>();
  attributes->lower = g.random.Chance(50);
  HloInstruction* matrix = g.Constant(scope, *product.Convert(RealOrComplex(g)))->instruction;
  return g.Add(scope, HloOpcode::kCholesky, {matrix}, std::move(attributes));
}

bool TriangularSolveOp(Grower& g, Scope& scope) {
  const int64_t n = 1 + g.random.Below(6), columns = g.random.Below(5);
  const PrimitiveType type = RealOrComplex(g);
  auto attributes = std::make_unique<TriangularSolveAttrs>();
  attributes->left_side = g.random.Chance(50);
  attributes->lower = g.random.Chance(80);
  attributes->unit_diagonal = g.random.Chance(30);
  attributes->transpose_a = static_cast<TransposeKind>(1 + g.random.Below(3));
  HloInstruction* a = g.Constant(scope, *Triangle(g, n).Convert(type))->instruction;
  HloInstruction* b = g.Like(scope, attributes->left_side ? Dims{n, columns} : Dims{columns, n}, type, true);
  return g.Add(scope, HloOpcode::kTriangularSolve, {a, b}, std::move(attributes));
}

// Groups of rows, or of the dimension that is summed over.
bool RaggedDotOp(Grower& g, Scope& scope) {
  static constexpr PrimitiveType kTypes[] = {F32, F32, F64, BF16, S32};
  const PrimitiveType type = g.random.Of(kTypes);
  const int64_t m = 1 + g.random.Below(7), k = 1 + g.random.Below(5), n = 1 + g.random.Below(5),
                groups = 1 + g.random.Below(3);
  const bool rows = g.random.Chance(60);
  auto attributes = std::make_unique<RaggedDotAttrs>();
  attributes->lhs_contracting_dims = {1};
  attributes->rhs_contracting_dims = {rows ? 1 : 0};
  attributes->lhs_ragged_dims = {rows ? 0 : 1};
  if (rows) attributes->rhs_group_dims = {0};
  Literal sizes = *Literal::Create(ShapeUtil::MakeShape(S32, {groups}));
  for (int32_t& size : sizes.data<int32_t>()) size = static_cast<int32_t>(g.random.Below(4));
  HloInstruction* lhs = g.Like(scope, {m, k}, type);
  HloInstruction* rhs = g.Like(scope, rows ? Dims{groups, k, n} : Dims{k, n}, type);
  return g.Add(scope, HloOpcode::kRaggedDot, {lhs, rhs, g.Constant(scope, std::move(sizes))->instruction},
               std::move(attributes));
}

bool ScaledDotOp(Grower& g, Scope& scope) {
  static constexpr PrimitiveType kTypes[] = {F8E4M3FN, F8E5M2, BF16, F32};
  const PrimitiveType type = g.random.Of(kTypes);
  const int64_t m = 1 + g.random.Below(5), blocks = 1 + g.random.Below(3), n = 1 + g.random.Below(5),
                k = blocks * (1 + g.random.Below(3));
  auto attributes = std::make_unique<DotAttrs>();
  attributes->lhs_contracting_dims = {1};
  attributes->rhs_contracting_dims = {0};
  const PrimitiveType scale = g.random.Chance(50) ? BF16 : F8E8M0FNU;
  HloInstruction* lhs = g.Like(scope, {m, k}, type, true);
  HloInstruction* rhs = g.Like(scope, {k, n}, type, true);
  HloInstruction* lhs_scale = g.Like(scope, {m, blocks}, scale, true);
  HloInstruction* rhs_scale = g.Like(scope, {blocks, n}, scale, true);
  const Shape shape = ShapeUtil::MakeShape(g.random.Chance(70) ? F32 : BF16, {m, n});
  return g.Add(scope, HloOpcode::kScaledDot, {lhs, rhs, lhs_scale, rhs_scale}, std::move(attributes), {}, &shape);
}

bool BatchNormOp(Grower& g, Scope& scope) {
  const Value* x = g.Pick(scope, [](const Value& v) {
    return v.shape().IsArray() && v.shape().rank() >= 2 && v.exact() && (v.type() == F32 || v.type() == F64);
  });
  if (x == nullptr) return false;
  HloInstruction* operand = x->instruction;
  const PrimitiveType type = operand->shape().element_type();
  auto attributes = std::make_unique<BatchNormAttrs>();
  attributes->epsilon = 0.5;
  attributes->feature_index = g.random.Below(operand->shape().rank());
  const Dims features = {operand->shape().dimensions(attributes->feature_index)};
  HloInstruction* scale = g.Like(scope, features, type, true);
  const int which = g.random.Below(3);
  if (which == 0) {
    return g.TakeApart(scope, g.Add(scope, HloOpcode::kBatchNormTraining,
                                    {operand, scale, g.Like(scope, features, type, true)}, std::move(attributes)));
  }
  HloInstruction* mean = g.Like(scope, features, type, true);
  Literal positive = g.RandomLiteral(ShapeUtil::MakeShape(type, features));
  positive = *positive.Convert(F64);
  for (double& v : positive.data<double>()) v = std::isfinite(v) ? std::abs(v) : 1;
  HloInstruction* variance = g.Constant(scope, *positive.Convert(type))->instruction;
  if (which == 1) {
    HloInstruction* offset = g.Like(scope, features, type, true);
    return g.Add(scope, HloOpcode::kBatchNormInference, {operand, scale, offset, mean, variance},
                 std::move(attributes));
  }
  HloInstruction* gradient = g.Like(scope, DimsOf(operand->shape()), type, true);
  return g.TakeApart(scope, g.Add(scope, HloOpcode::kBatchNormGrad, {operand, scale, mean, variance, gradient},
                                  std::move(attributes)));
}

bool RngBitGeneratorOp(Grower& g, Scope& scope) {
  static constexpr PrimitiveType kTypes[] = {U8, U16, U32, U32, U64, S32};
  auto attributes = std::make_unique<RngBitGeneratorAttrs>();
  const int which = g.random.Below(3);
  attributes->algorithm = static_cast<RandomAlgorithm>(which);
  const int64_t words = attributes->algorithm == RandomAlgorithm::kThreeFry ? 2 : 2 + g.random.Below(2);
  HloInstruction* state = g.Like(scope, {words}, U64, true);
  const Shape shape = ShapeUtil::MakeTupleShape(
      {ShapeUtil::MakeShape(U64, {words}), ShapeUtil::MakeShape(g.random.Of(kTypes), g.RandomDims())});
  return g.TakeApart(scope, g.Add(scope, HloOpcode::kRngBitGenerator, {state}, std::move(attributes), {}, &shape));
}

}  // namespace

absl::Span<const Kind> LinearAlgebraKinds() {
  static constexpr Kind kKinds[] = {{4, &DotOp},       {3, &ConvolutionOp},     {2, &FftOp},
                                    {1, &CholeskyOp},  {1, &TriangularSolveOp}, {1, &RaggedDotOp},
                                    {1, &ScaledDotOp}, {2, &BatchNormOp},       {2, &RngBitGeneratorOp}};
  return kKinds;
}

}  // namespace hilo::fuzz
