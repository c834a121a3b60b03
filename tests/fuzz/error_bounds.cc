// Error bounds of one number an array. They need not be tight: a wrong index, type, mask or order
// of operands gives errors of the values' own size, and the random programs stay short.
#include "tests/fuzz/error_bounds.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "hilo/status_macros.h"
#include "hlo/evaluator/hlo_evaluator.h"
#include "hlo/ops/linalg/convolution_attributes.h"
#include "hlo/ops/linalg/linalg_attributes.h"
#include "hlo/ops/reduction/search_attributes.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo::fuzz {
namespace {

// Half the distance from 1 to the next number of the type, relative to 1.
double UnitRoundoff(PrimitiveType type) {
  switch (type) {
    case F64:
    case C128: return 0x1p-53;
    case F32:
    case C64: return 0x1p-24;
    case F16: return 0x1p-11;
    case BF16: return 0x1p-8;
    default: return IsFloatingPointType(type) ? 0x1p-2 : 0;
  }
}

// The distance between the numbers of the type next to 0.
double LeastStep(PrimitiveType type) {
  switch (type) {
    case F64:
    case C128: return 0x1p-1074;
    case F32:
    case C64: return 0x1p-149;
    case F16: return 0x1p-24;
    case BF16: return 0x1p-133;
    default: return 0;
  }
}

bool IsInexactType(PrimitiveType type) { return IsFloatingPointType(type) || IsComplexType(type); }

// The elements as doubles, real and imaginary parts in turn.
std::vector<double> Parts(const Literal& literal) {
  std::vector<double> parts;
  if (IsComplexType(literal.shape().element_type())) {
    auto wide = literal.Convert(C128);
    if (!wide.ok()) return parts;
    for (complex128 z : wide->data<complex128>()) {
      parts.push_back(z.real());
      parts.push_back(z.imag());
    }
  } else {
    parts.reserve(literal.element_count());
    for (int64_t i = 0; i < literal.element_count(); ++i) parts.push_back(literal.GetAsDouble(i));
  }
  return parts;
}

bool AllIntegral(const Literal& literal) {
  for (double x : Parts(literal)) {
    if (!std::isfinite(x) || x != std::nearbyint(x)) return false;
  }
  return true;
}

bool HasNonFinite(const Literal& literal) {
  if (!IsInexactType(literal.shape().element_type())) return false;
  for (double x : Parts(literal)) {
    if (!std::isfinite(x)) return true;
  }
  return false;
}

// `literal` with `step` (or one last place, if more) added to the given part of every element.
absl::StatusOr<Literal> Moved(const Literal& literal, double step, int part) {
  const PrimitiveType type = literal.shape().element_type();
  const double last_place = 2 * UnitRoundoff(type);
  const auto moved = [&](double x) {
    return std::isfinite(x) ? x + std::copysign(std::max(std::abs(step), std::abs(x) * last_place), step) : x;
  };
  HILO_ASSIGN_OR_RETURN(Literal wide, literal.Convert(IsComplexType(type) ? C128 : F64));
  if (IsComplexType(type)) {
    for (complex128& z : wide.data<complex128>()) {
      z = part == 0 ? complex128(moved(z.real()), z.imag()) : complex128(z.real(), moved(z.imag()));
    }
  } else {
    for (double& x : wide.data<double>()) x = moved(x);
  }
  return wide.Convert(type);
}

// Largest difference; unknown where one is finite and the other is not, or integers differ.
double Distance(const Literal& a, const Literal& b) {
  if (!IsInexactType(a.shape().element_type())) return a == b ? 0 : kUnknown;
  const std::vector<double> x = Parts(a), y = Parts(b);
  double distance = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i]))) continue;
    if (!std::isfinite(x[i]) || !std::isfinite(y[i])) return kUnknown;
    distance = std::max(distance, std::abs(x[i] - y[i]));
  }
  return distance;
}

// What a reduction's computation does, if it is one op of its two parameters.
enum class Combiner { kSum, kProduct, kSelection, kOther };
Combiner CombinerOf(const HloComputation& computation) {
  const HloInstruction& root = *computation.root_instruction();
  if (root.IsParameter()) return Combiner::kSelection;
  if (root.operand_count() != 2 || !root.operand(0)->IsParameter() || !root.operand(1)->IsParameter())
    return Combiner::kOther;
  switch (root.opcode()) {
    case HloOpcode::kAdd: return Combiner::kSum;
    case HloOpcode::kMultiply: return Combiner::kProduct;
    case HloOpcode::kMaximum:
    case HloOpcode::kMinimum: return Combiner::kSelection;
    default: return Combiner::kOther;
  }
}

// Combining `count` values, in any order.
double CombinedError(const HloComputation& computation, absl::Span<const Tracked* const> values, double count,
                     const Literal& result) {
  const PrimitiveType type = result.shape().element_type();
  double error = 0, size = 0;
  bool integral = true, finite = true;
  for (const Tracked* value : values) {
    error = std::max(error, value->error);
    size = std::max(size, MaxFinite(*value->value));
    integral = integral && AllIntegral(*value->value);
    finite = finite && !HasNonFinite(*value->value);
  }
  if (!IsInexactType(type)) return error == 0 ? 0 : kUnknown;
  const double u = UnitRoundoff(type), exact_limit = 0.5 / u;
  switch (CombinerOf(computation)) {
    case Combiner::kSelection: return error;
    case Combiner::kSum:
      if (error == 0 && integral && count * size <= exact_limit) return 0;
      if (!finite || HasNonFinite(result)) return kUnknown;
      return count * error + u * count * count * size;
    case Combiner::kProduct: {
      const double bound = std::pow(std::max(size, 1.0), count);
      if (IsComplexType(type) || !finite || bound > 1e4) return kUnknown;
      if (error == 0 && integral && bound <= exact_limit) return 0;
      return bound * count * (u + error);
    }
    case Combiner::kOther: return error == 0 ? 0 : kUnknown;
  }
  return kUnknown;
}

// Sums of `count` products.
double DotError(double count, const Tracked& lhs, const Tracked& rhs, const Literal& result) {
  const PrimitiveType type = result.shape().element_type();
  if (!IsInexactType(type)) return lhs.error == 0 && rhs.error == 0 ? 0 : kUnknown;
  if (HasNonFinite(*lhs.value) || HasNonFinite(*rhs.value) || HasNonFinite(result)) return kUnknown;
  if (IsComplexType(type)) count *= 2;
  const double a = MaxFinite(*lhs.value), b = MaxFinite(*rhs.value), u = UnitRoundoff(type);
  if (lhs.error == 0 && rhs.error == 0 && AllIntegral(*lhs.value) && AllIntegral(*rhs.value) &&
      count * a * b <= 0.5 / u)
    return 0;
  return count * (a * rhs.error + b * lhs.error + lhs.error * rhs.error) + u * count * count * a * b;
}

double SizeOf(const Shape& shape, absl::Span<const int64_t> dimensions) {
  double size = 1;
  for (int64_t d : dimensions) size *= static_cast<double>(shape.dimensions(d));
  return size;
}

// How many products an element of the result of a contraction adds up.
double ProductCount(const HloInstruction& instruction) {
  const Shape& lhs = instruction.operand(0)->shape();
  switch (instruction.opcode()) {
    case HloOpcode::kRaggedDot: return SizeOf(lhs, instruction.attrs<RaggedDotAttrs>().lhs_contracting_dims);
    case HloOpcode::kConvolution: {
      const auto& labels = instruction.attrs<ConvolutionAttrs>().dim_labels;
      const Shape& kernel = instruction.operand(1)->shape();
      const double images =
          static_cast<double>(lhs.dimensions(labels.input_batch_dimension()));  // batch groups add up over them
      return images * static_cast<double>(ShapeUtil::ElementsIn(kernel)) /
             std::max<double>(1, kernel.dimensions(labels.kernel_output_feature_dimension()));
    }
    default: return SizeOf(lhs, instruction.attrs<DotAttrs>().lhs_contracting_dims);
  }
}

double FftError(const HloInstruction& fft, const Tracked& operand, const Literal& result) {
  if (HasNonFinite(*operand.value) || HasNonFinite(result)) return kUnknown;
  const auto& attributes = fft.attrs<FftAttrs>();
  double points = 1;
  for (int64_t n : attributes.fft_length) points *= static_cast<double>(n);
  const bool forward = attributes.fft_type == FftType::kFft || attributes.fft_type == FftType::kRfft;
  const double scale = forward ? points : 2;
  const double error =
      scale * (2 * operand.error + 8 * (std::log2(points + 1) + 1) * UnitRoundoff(result.shape().element_type()) *
                                       MaxFinite(*operand.value));
  return std::max(error, 1e-300);  // sums of zeros may have either sign
}

// Of a running combination of exact values.
double ScanError(const HloInstruction& scan, absl::Span<const Tracked* const> operands, const Literal& result) {
  if (!IsInexactType(result.shape().element_type())) return 0;
  const HloInstruction& combined = *scan.called_computation()->root_instruction()->operand(0);
  if (combined.opcode() == HloOpcode::kMaximum || combined.opcode() == HloOpcode::kMinimum) return 0;
  if (combined.opcode() != HloOpcode::kAdd || HasNonFinite(result)) return kUnknown;
  const double count = 1.0 + SizeOf(scan.operand(0)->shape(), scan.attrs<ScanAttrs>().dimensions);
  const double size = std::max(MaxFinite(*operands[0]->value), MaxFinite(*operands[1]->value));
  const double u = UnitRoundoff(result.shape().element_type());
  if (AllIntegral(*operands[0]->value) && AllIntegral(*operands[1]->value) && count * size <= 0.5 / u) return 0;
  return u * count * count * size;
}

// Unknown if the errors could change the comparison of any two elements: equality is not seen by moving either of
// them.
double CompareError(const Tracked& lhs, const Tracked& rhs) {
  if (lhs.error == 0 && rhs.error == 0) return 0;
  const PrimitiveType type = lhs.value->shape().element_type();
  const std::vector<double> x = Parts(*lhs.value), y = Parts(*rhs.value);
  const size_t parts = IsComplexType(type) ? 2 : 1;
  for (size_t i = 0; i < x.size(); i += parts) {
    bool apart = false;
    for (size_t part = i; part < i + parts; ++part) {
      // As far as CompareTracked lets values be from what is expected.
      const double error =
          4 * (lhs.error + rhs.error) + 2 * UnitRoundoff(type) * (std::abs(x[part]) + std::abs(y[part]));
      apart = apart || !std::isfinite(x[part]) || !std::isfinite(y[part]) || std::abs(x[part] - y[part]) > error;
    }
    if (!apart) return kUnknown;
  }
  return 0;
}

// Of a conversion to PRED: unknown if the error could make any element 0, or what is 0 something else. Moving a small
// number by more than its size does not show that. An error of 1e-300 only leaves the signs of zeros open.
double TruthError(const Tracked& x) {
  if (x.error <= 1e-300) return 0;
  const PrimitiveType type = x.value->shape().element_type();
  for (const double part : Parts(*x.value)) {
    if (std::abs(part) <= 4 * x.error + 2 * UnitRoundoff(type) * std::abs(part)) return kUnknown;
  }
  return 0;
}

// Roundings of an elementary function, in units of UnitRoundoff; 0 for ops that do not round.
double UnitsOf(HloOpcode opcode) {
  switch (opcode) {
    case HloOpcode::kAbs:
    case HloOpcode::kCeil:
    case HloOpcode::kClamp:
    case HloOpcode::kCompare:
    case HloOpcode::kComplexNumber:
    case HloOpcode::kCopy:
    case HloOpcode::kFloor:
    case HloOpcode::kImag:
    case HloOpcode::kIsFinite:
    case HloOpcode::kMaximum:
    case HloOpcode::kMinimum:
    case HloOpcode::kNegate:
    case HloOpcode::kReal:
    case HloOpcode::kReducePrecision:
    case HloOpcode::kRemainder:
    case HloOpcode::kRoundNearestAfz:
    case HloOpcode::kRoundNearestEven:
    case HloOpcode::kSign: return 0;
    case HloOpcode::kAdd:
    case HloOpcode::kConvert:
    case HloOpcode::kMultiply:
    case HloOpcode::kSubtract: return 1;
    case HloOpcode::kDivide:
    case HloOpcode::kSqrt: return 2;
    default: return 16;
  }
}

bool RoundsOnce(HloOpcode opcode) {
  switch (opcode) {
    case HloOpcode::kAdd:
    case HloOpcode::kConvert:
    case HloOpcode::kDivide:
    case HloOpcode::kMultiply:
    case HloOpcode::kSqrt:
    case HloOpcode::kSubtract: return true;
    default: return false;
  }
}

// Operands that say where, not what; they must be exact.
bool IsIndexOperand(const HloInstruction& instruction, int64_t i) {
  switch (instruction.opcode()) {
    case HloOpcode::kSelect: return i == 0;
    case HloOpcode::kGather:
    case HloOpcode::kDynamicSlice: return i >= 1;
    case HloOpcode::kDynamicUpdateSlice: return i >= 2;
    case HloOpcode::kScatter: return i == instruction.operand_count() / 2;
    default: return false;
  }
}

double LargestError(absl::Span<const Tracked* const> operands) {
  double error = 0;
  for (const Tracked* operand : operands) error = std::max(error, operand->error);
  return error;
}

// What rounding adds.
double Rounding(const HloInstruction& instruction, absl::Span<const Tracked* const> operands, const Literal& result,
                bool strict) {
  const PrimitiveType type = result.shape().element_type();
  double units = UnitsOf(instruction.opcode());
  const bool is_magnitude = instruction.opcode() == HloOpcode::kAbs || instruction.opcode() == HloOpcode::kSign;
  if (is_magnitude && IsComplexType(operands[0]->value->shape().element_type())) units = 8;
  if (!IsInexactType(type) || units == 0) return 0;
  double size = MaxFinite(result);
  bool integral = AllIntegral(result), finite = true;
  for (const Tracked* operand : operands) {
    integral = integral && AllIntegral(*operand->value);
    finite = finite && !HasNonFinite(*operand->value);
  }
  if (RoundsOnce(instruction.opcode())) {
    const bool is_complex_quotient = IsComplexType(type) && instruction.opcode() == HloOpcode::kDivide;
    if (integral && size <= 0.5 / UnitRoundoff(type) && !is_complex_quotient) return 0;
    if (strict && !IsComplexType(type)) return 0;
    if (strict && (instruction.opcode() == HloOpcode::kAdd || instruction.opcode() == HloOpcode::kSubtract)) return 0;
  }
  if (instruction.opcode() == HloOpcode::kConvert) {
    // Into a type that holds every operand there is nothing to round.
    auto back = result.Convert(operands[0]->value->shape().element_type());
    if (back.ok() && CompareLiterals(*operands[0]->value, *back, {}).ok()) return 0;
  }
  // More digits than the type has may keep a value finite.
  if (!strict && finite && HasNonFinite(result) && type != F64 && type != C128) return kUnknown;
  if (IsComplexType(type) || (!operands.empty() && IsComplexType(operands[0]->value->shape().element_type()))) {
    if (HasNonFinite(result)) return kUnknown;
    units *= 4;
    size = std::max(size, 1.0);
    for (const Tracked* operand : operands) size = std::max(size, MaxFinite(*operand->value));
  }
  // Never quite 0: the sign of a zero (and of a NaN, which some small floats turn into one) is open. A function's
  // denormal results may be a step or two off.
  const double least = RoundsOnce(instruction.opcode()) ? 0 : 2 * LeastStep(type);
  return std::max({units * UnitRoundoff(type) * size, least, 1e-300});
}

// How much the result changes when the operands move by their errors.
absl::StatusOr<double> Sensitivity(const HloInstruction& instruction, absl::Span<const Tracked* const> operands,
                                   const Literal& result) {
  double error = 0;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i]->error == 0) continue;
    if (operands[i]->error == kUnknown) return kUnknown;
    std::vector<const Literal*> moved;
    for (const Tracked* operand : operands) moved.push_back(operand->value.get());
    const int parts = IsComplexType(operands[i]->value->shape().element_type()) ? 2 : 1;
    for (int part = 0; part < parts; ++part) {
      for (double sign : {1.0, -1.0}) {
        HILO_ASSIGN_OR_RETURN(Literal neighbour, Moved(*operands[i]->value, sign * operands[i]->error, part));
        moved[i] = &neighbour;
        HILO_ASSIGN_OR_RETURN(Literal other, HloEvaluator().EvaluateInstruction(instruction, moved));
        error += Distance(result, other);
      }
    }
  }
  return error;
}

}  // namespace

absl::StatusOr<double> ErrorBound(const HloInstruction& instruction, absl::Span<const Tracked* const> operands,
                                  const Literal& result, bool strict) {
  for (size_t i = 0; i < operands.size(); ++i) {
    if (IsIndexOperand(instruction, static_cast<int64_t>(i)) && operands[i]->error != 0) return kUnknown;
  }
  const double largest = LargestError(operands);
  const int64_t elements = std::max<int64_t>(1, result.element_count());
  switch (instruction.opcode()) {
    case HloOpcode::kConstant:
    case HloOpcode::kIota: return 0;
    case HloOpcode::kDynamicReshape:
    case HloOpcode::kDynamicUpdateSlice:
    case HloOpcode::kSelect:
    case HloOpcode::kSetDimensionSize: return largest;
    case HloOpcode::kGetDimensionSize: return 0;
    case HloOpcode::kBitcast:
    case HloOpcode::kBitcastConvert:
    case HloOpcode::kSort: return largest == 0 ? 0 : kUnknown;
    case HloOpcode::kRngBitGenerator:
    case HloOpcode::kStochasticConvert:
    case HloOpcode::kTopK: return largest == 0 ? 0 : kUnknown;
    case HloOpcode::kConvolution:
    case HloOpcode::kDot:
    case HloOpcode::kRaggedDot: return DotError(ProductCount(instruction), *operands[0], *operands[1], result);
    case HloOpcode::kScaledDot: {
      double size = 1;
      for (const Tracked* operand : operands) {
        if (HasNonFinite(*operand->value)) return kUnknown;
        size *= std::max(1.0, MaxFinite(*operand->value));
      }
      if (largest > 0 || HasNonFinite(result)) return kUnknown;
      const double count = 1 + ProductCount(instruction);
      return 4 * UnitRoundoff(result.shape().element_type()) * count * count * size;
    }
    case HloOpcode::kFft: return FftError(instruction, *operands[0], result);
    case HloOpcode::kCholesky:
    case HloOpcode::kTriangularSolve: {
      // The generator's matrices are small and well conditioned.
      if (largest > 0 || HasNonFinite(result) || HasNonFinite(*operands.back()->value)) return kUnknown;
      const double size = std::max({1.0, MaxFinite(result), MaxFinite(*operands.back()->value)});
      return 1000 * UnitRoundoff(result.shape().element_type()) * size;
    }
    case HloOpcode::kBatchNormGrad:
    case HloOpcode::kBatchNormInference:
    case HloOpcode::kBatchNormTraining: {
      if (largest > 0 || HasNonFinite(result)) return kUnknown;
      double size = 1;
      for (const Tracked* operand : operands) {
        if (HasNonFinite(*operand->value)) return kUnknown;
        size = std::max(size, MaxFinite(*operand->value));
      }
      const double count = static_cast<double>(operands[0]->value->element_count());
      return 64 * UnitRoundoff(result.shape().element_type()) * (count + 1) * size * size * size;
    }
    case HloOpcode::kScan: return largest == 0 ? ScanError(instruction, operands, result) : kUnknown;
    case HloOpcode::kSelectAndScatter:
      if (operands[0]->error > 0) return kUnknown;
      return CombinedError(*instruction.called_computation(1), operands.subspan(1),
                           1.0 + operands[1]->value->element_count(), result);
    case HloOpcode::kReduce:
      return CombinedError(*instruction.called_computation(), operands,
                           1.0 + static_cast<double>(operands[0]->value->element_count()) / elements, result);
    case HloOpcode::kReduceWindow: {
      double count = 1;
      for (const auto& d : instruction.attrs<ReduceWindowAttrs>().window.dimensions) count *= d.size;
      return CombinedError(*instruction.called_computation(), operands, count + 1, result);
    }
    case HloOpcode::kScatter: {
      std::vector<const Tracked*> values;
      for (size_t i = 0; i < operands.size(); ++i) {
        if (!IsIndexOperand(instruction, static_cast<int64_t>(i))) values.push_back(operands[i]);
      }
      return CombinedError(*instruction.called_computation(), values, 1.0 + values.back()->value->element_count(),
                           result);
    }
    default: break;
  }
  if (HasTrait(instruction.opcode(), kMovement)) return largest;
  HILO_ASSIGN_OR_RETURN(double error, Sensitivity(instruction, operands, result));
  if (instruction.opcode() == HloOpcode::kMap) {
    double size = std::max(1.0, MaxFinite(result));
    if (HasNonFinite(result)) return kUnknown;
    for (const Tracked* operand : operands) size = std::max(size, MaxFinite(*operand->value));
    return error + 64 * UnitRoundoff(result.shape().element_type()) * size * size;
  }
  error += Rounding(instruction, operands, result, strict);
  if (instruction.opcode() == HloOpcode::kCompare) error = std::max(error, CompareError(*operands[0], *operands[1]));
  if (instruction.opcode() == HloOpcode::kConvert && result.shape().element_type() == PRED)
    error = std::max(error, TruthError(*operands[0]));
  // The sign of a NaN that is computed is open; only what tells them apart may depend on it.
  if (instruction.opcode() == HloOpcode::kCompare && largest > 0 &&
      instruction.attrs<CompareAttrs>().type == ComparisonType::kTotalOrder &&
      (HasNonFinite(*operands[0]->value) || HasNonFinite(*operands[1]->value)))
    return kUnknown;
  // What rounds to zero here may be the other zero there.
  if (largest > 0 && IsInexactType(result.shape().element_type())) error = std::max(error, 1e-300);
  return error == 0 && HasNonFinite(result) && UnitsOf(instruction.opcode()) > 0 ? 1e-300 : error;
}

double MaxFinite(const Literal& literal) {
  double size = 0;
  for (double x : Parts(literal)) {
    if (std::isfinite(x)) size = std::max(size, std::abs(x));
  }
  return size;
}

absl::Status CompareTracked(const Tracked& expected, const Literal& actual, bool zeros_are_equal) {
  if (expected.error == kUnknown) return absl::OkStatus();
  const PrimitiveType type = expected.value->shape().element_type();
  // Products may be contracted differently, and the bounds are of first order: a factor for both.
  ErrorSpec spec{.absolute = 4 * expected.error};
  if (expected.error > 0) spec.relative = 2 * UnitRoundoff(type);
  if (zeros_are_equal && IsInexactType(type)) spec.absolute = std::max(spec.absolute, 1e-300);
  return CompareLiterals(*expected.value, actual, spec);
}

}  // namespace hilo::fuzz
