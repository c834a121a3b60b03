// StableHLO defines an operation on quantized arrays by that on floats:
//
//   %c = stablehlo.add %a, %b : tensor<4x!quant.uniform<i8:f32, 0.5:3>>
//   =>  a' = (f32(a) - 3) * 0.5, b' likewise; c = s8(round(clamp(-128, (a' + b') / 0.5 + 3, 127)))
//
// and so it is here, but for products of matrices and convolutions of two quantized arrays, whose sums of integers are
// exact:
//
//   %c = stablehlo.dot_general %a, %b  =>  c' = f32(dot(s32(a) - zero(a), s32(b) - zero(b))) * (scale(a) * scale(b))
#include "hlo/import/stablehlo/quantization.h"

#include <algorithm>
#include <deque>
#include <optional>

#include "base/errors.h"
#include "hilo/status_macros.h"

namespace hilo::stablehlo {
namespace {

// Operations whose results have the integers of their operands, and those that apply a region to them. Sorted.
constexpr absl::string_view kOnIntegers[] = {
    "builtin.unrealized_conversion_cast",
    "check.expect_eq",
    "check.expect_eq_const",
    "mhlo.copy",
    "sdy.propagation_barrier",
    "stablehlo.all_gather",
    "stablehlo.all_reduce",
    "stablehlo.all_to_all",
    "stablehlo.bitcast_convert",
    "stablehlo.broadcast",
    "stablehlo.broadcast_in_dim",
    "stablehlo.collective_broadcast",
    "stablehlo.collective_permute",
    "stablehlo.concatenate",
    "stablehlo.constant",
    "stablehlo.custom_call",
    "stablehlo.dynamic_broadcast_in_dim",
    "stablehlo.dynamic_gather",
    "stablehlo.dynamic_pad",
    "stablehlo.dynamic_reshape",
    "stablehlo.dynamic_slice",
    "stablehlo.dynamic_update_slice",
    "stablehlo.gather",
    "stablehlo.get_dimension_size",
    "stablehlo.get_tuple_element",
    "stablehlo.infeed",
    "stablehlo.map",
    "stablehlo.optimization_barrier",
    "stablehlo.outfeed",
    "stablehlo.pad",
    "stablehlo.real_dynamic_slice",
    "stablehlo.recv",
    "stablehlo.reduce",
    "stablehlo.reduce_scatter",
    "stablehlo.reduce_window",
    "stablehlo.reshape",
    "stablehlo.reverse",
    "stablehlo.scatter",
    "stablehlo.select_and_scatter",
    "stablehlo.send",
    "stablehlo.set_dimension_size",
    "stablehlo.slice",
    "stablehlo.sort",
    "stablehlo.transpose",
    "stablehlo.tuple",
};

absl::StatusOr<HloInstruction*> ConvertTo(OpConversion& c, HloInstruction* x, PrimitiveType type) {
  if (x->shape().element_type() == type) return x;
  const Shape shape = ShapeUtil::ChangeElementType(x->shape(), type);
  return c.Add(HloOpcode::kConvert, {x}, nullptr, {}, &shape);
}

// `values`, one for each block, as numbers of the shape and type of `x`. A dimension in blocks of several elements is
// two in between: the block, and the element in it.
template <typename T>
absl::StatusOr<HloInstruction*> Spread(OpConversion& c, const std::vector<T>& values, const Quantization& blocks,
                                       const HloInstruction& x) {
  const Shape& shape = x.shape();
  std::vector<int64_t> divided;
  auto attributes = std::make_unique<BroadcastAttrs>();
  size_t next = 0;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (next == blocks.dimensions.size() || blocks.dimensions[next] != d) {
      divided.push_back(shape.dimensions(d));
      continue;
    }
    const int64_t size = blocks.block_sizes[next], count = blocks.grid[next];
    if (shape.dimensions(d) % size != 0 || shape.dimensions(d) / size != count)
      return InvalidArgument(count, " scales for blocks of ", size, " along dimension ", d, " of ", shape.ToString());
    attributes->dimensions.push_back(static_cast<int64_t>(divided.size()));
    divided.push_back(count);
    if (size > 1) divided.push_back(size);
    ++next;
  }
  if (next != blocks.dimensions.size())
    return InvalidArgument("scales along dimension ", blocks.dimensions[next], " of ", shape.ToString());
  HILO_ASSIGN_OR_RETURN(Literal grid, LiteralUtil::CreateR1<T>(values).Reshape(blocks.grid));
  HILO_ASSIGN_OR_RETURN(Literal converted, grid.Convert(shape.element_type()));
  HloInstruction* constant = c.AddConstant(std::make_shared<const Literal>(std::move(converted)));
  const Shape in_blocks(shape.element_type(), divided);
  HILO_ASSIGN_OR_RETURN(HloInstruction * spread,
                        c.Add(HloOpcode::kBroadcast, {constant}, std::move(attributes), {}, &in_blocks));
  if (in_blocks.rank() == shape.rank()) return spread;
  return c.Add(HloOpcode::kReshape, {spread}, nullptr, {}, &shape);
}

HloInstruction* Scalar(OpConversion& c, PrimitiveType type, int64_t value) {
  return c.AddConstant(std::make_shared<const Literal>(LiteralUtil::FromDouble(type, static_cast<double>(value))));
}

bool HasZeroPoint(const Quantization& quantization) {
  return std::any_of(quantization.zero_points.begin(), quantization.zero_points.end(),
                     [](int64_t zero) { return zero != 0; });
}

// The integers less their zero points, as `type`.
absl::StatusOr<HloInstruction*> Centered(OpConversion& c, HloInstruction* x, const Quantization& quantization,
                                         PrimitiveType type) {
  HILO_ASSIGN_OR_RETURN(x, ConvertTo(c, x, type));
  if (!HasZeroPoint(quantization)) return x;
  HILO_ASSIGN_OR_RETURN(HloInstruction * zeros, Spread(c, quantization.zero_points, quantization, *x));
  return c.Add(HloOpcode::kSubtract, {x, zeros});
}

// Numbers halfway between two integers are common, so products and quotients by scales must round as they are written,
// although a program need not be strict (docs/numerics.md): reduce-precision keeps products out of fused operations,
// and quotients of f32 are those of f64, which are the same once converted, even by a reciprocal.
absl::StatusOr<HloInstruction*> TimesScale(OpConversion& c, HloInstruction* x, const Quantization& quantization) {
  HILO_ASSIGN_OR_RETURN(HloInstruction * scales, Spread(c, quantization.scales, quantization, *x));
  HILO_ASSIGN_OR_RETURN(x, c.Add(HloOpcode::kMultiply, {x, scales}));
  if (x->shape().element_type() != F32) return x;
  auto attributes = std::make_unique<ReducePrecisionAttrs>();
  attributes->exponent_bits = 8;
  attributes->mantissa_bits = 23;
  return c.Add(HloOpcode::kReducePrecision, {x}, std::move(attributes));
}

absl::StatusOr<HloInstruction*> ByScale(OpConversion& c, HloInstruction* x, const Quantization& quantization) {
  const PrimitiveType type = x->shape().element_type(), exact = type == F32 ? F64 : type;
  HILO_ASSIGN_OR_RETURN(HloInstruction * scales, Spread(c, quantization.scales, quantization, *x));
  HILO_ASSIGN_OR_RETURN(x, ConvertTo(c, x, exact));
  HILO_ASSIGN_OR_RETURN(scales, ConvertTo(c, scales, exact));
  HILO_ASSIGN_OR_RETURN(x, c.Add(HloOpcode::kDivide, {x, scales}));
  return ConvertTo(c, x, type);
}

absl::StatusOr<HloInstruction*> Dequantized(OpConversion& c, HloInstruction* x, const Quantization& quantization) {
  const PrimitiveType wide = PrimitiveTypeBitWidth(quantization.storage) < 32 ? S32 : S64;
  HILO_ASSIGN_OR_RETURN(x, Centered(c, x, quantization, wide));
  HILO_ASSIGN_OR_RETURN(x, ConvertTo(c, x, quantization.expressed));
  return TimesScale(c, x, quantization);
}

absl::StatusOr<HloInstruction*> Quantized(OpConversion& c, HloInstruction* x, const Quantization& quantization) {
  const PrimitiveType type = quantization.expressed;
  HILO_ASSIGN_OR_RETURN(x, ConvertTo(c, x, type));
  HILO_ASSIGN_OR_RETURN(x, ByScale(c, x, quantization));
  if (HasZeroPoint(quantization)) {
    HILO_ASSIGN_OR_RETURN(HloInstruction * zeros, Spread(c, quantization.zero_points, quantization, *x));
    HILO_ASSIGN_OR_RETURN(x, c.Add(HloOpcode::kAdd, {x, zeros}));
  }
  HILO_ASSIGN_OR_RETURN(
      x, c.Add(HloOpcode::kClamp, {Scalar(c, type, quantization.min), x, Scalar(c, type, quantization.max)}));
  HILO_ASSIGN_OR_RETURN(x, c.Add(HloOpcode::kRoundNearestEven, {x}));
  return ConvertTo(c, x, quantization.storage);
}

// Where dimension `d` of the right operand is in the result of a product; -1 if it is summed up.
absl::StatusOr<int64_t> ResultDimension(const OpConversion& c, int64_t d) {
  if (c.op.name == "stablehlo.convolution") {
    HILO_ASSIGN_OR_RETURN(const int64_t feature, c.Integer("kernel_output_feature_dimension"));
    return d == feature ? c.Integer("output_feature_dimension") : -1;
  }
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> batch, c.Integers("rhs_batching_dimensions"));
  HILO_ASSIGN_OR_RETURN(std::vector<int64_t> summed, c.Integers("rhs_contracting_dimensions"));
  if (c.op.name == "stablehlo.dot") summed = {0};
  const auto in_batch = std::find(batch.begin(), batch.end(), d);
  if (in_batch != batch.end()) return in_batch - batch.begin();
  if (std::find(summed.begin(), summed.end(), d) != summed.end()) return -1;
  const auto taken = [&](const std::vector<int64_t>& dimensions) {
    return std::count_if(dimensions.begin(), dimensions.end(), [&](int64_t other) { return other < d; });
  };
  const int64_t lhs_rank = c.operands[0]->shape().rank(), contracted = static_cast<int64_t>(summed.size());
  return lhs_rank - contracted + d - taken(batch) - taken(summed);
}

const Quantization* QuantizationOf(const Value& value) { return value.type->quantization.get(); }

// The quantization of the exact sums of a product; nullopt if it is not one of two quantized arrays with a scale for
// each sum.
absl::StatusOr<std::optional<Quantization>> SumsOf(const OpConversion& c) {
  const bool is_product =
      c.op.name == "stablehlo.dot_general" || c.op.name == "stablehlo.dot" || c.op.name == "stablehlo.convolution";
  if (!is_product || c.operands.size() != 2) return std::nullopt;
  const Quantization *lhs = QuantizationOf(*c.op.operands[0]), *rhs = QuantizationOf(*c.op.operands[1]);
  if (lhs == nullptr || rhs == nullptr || !lhs->dimensions.empty() || rhs->dimensions.size() > 1) return std::nullopt;
  Quantization sums = *rhs;
  for (int64_t& dimension : sums.dimensions) {
    HILO_ASSIGN_OR_RETURN(dimension, ResultDimension(c, dimension));
    if (dimension < 0) return std::nullopt;
  }
  for (double& scale : sums.scales) scale *= lhs->scales[0];
  const int bits = std::max(PrimitiveTypeBitWidth(lhs->storage), PrimitiveTypeBitWidth(rhs->storage));
  sums.storage = bits <= 8 ? S32 : S64;
  return sums;
}

}  // namespace

bool ComputesOnQuantized(const Operation& op) {
  if (std::binary_search(std::begin(kOnIntegers), std::end(kOnIntegers), op.name)) return false;
  const auto is_quantized = [](const Value* value) { return QuantizationOf(*value) != nullptr; };
  return std::any_of(op.operands.begin(), op.operands.end(), is_quantized) ||
         std::any_of(op.results.begin(), op.results.end(), is_quantized);
}

absl::StatusOr<Results> ConvertQuantized(OpConversion& c, Converter convert) {
  HILO_ASSIGN_OR_RETURN(const std::optional<Quantization> sums, SumsOf(c));
  std::vector<HloInstruction*> operands = c.operands;
  for (size_t i = 0; i < operands.size(); ++i) {
    const Quantization* quantization = QuantizationOf(*c.op.operands[i]);
    if (quantization == nullptr) continue;
    HILO_ASSIGN_OR_RETURN(operands[i], sums.has_value() ? Centered(c, operands[i], *quantization, sums->storage)
                                                        : Dequantized(c, operands[i], *quantization));
  }
  // The operation as it is on numbers.
  Operation plain = c.op;
  std::deque<Type> types;
  std::deque<Value> values;
  for (Value*& result : plain.results) {
    const Quantization* quantization = QuantizationOf(*result);
    if (quantization == nullptr && !sums.has_value()) continue;
    Type& type = types.emplace_back(*result->type);
    type.quantization = nullptr;
    type.element = sums.has_value() ? sums->storage : quantization->expressed;
    if (type.kind == Type::Kind::kTensor && type.IsStatic())
      type.shape = ShapeUtil::ChangeElementType(type.shape, type.element);
    Value& value = values.emplace_back(*result);
    value.type = &type;
    result = &value;
  }
  OpConversion on_numbers(plain, c.computation, std::move(operands), c.regions, &c.state);
  HILO_ASSIGN_OR_RETURN(Results results, convert(on_numbers));
  for (size_t i = 0; i < results.size() && i < c.op.results.size(); ++i) {
    const Quantization* quantization = QuantizationOf(*c.op.results[i]);
    if (sums.has_value()) {
      HILO_ASSIGN_OR_RETURN(results[i], ConvertTo(c, results[i], sums->expressed));
      HILO_ASSIGN_OR_RETURN(results[i], TimesScale(c, results[i], *sums));
    }
    if (quantization == nullptr) continue;
    HILO_ASSIGN_OR_RETURN(results[i], Quantized(c, results[i], *quantization));
  }
  return results;
}

}  // namespace hilo::stablehlo
