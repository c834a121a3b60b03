// Custom calls that XLA defines for blocks with scales, as JAX has them for GPUs. Products become a scaled-dot:
//
//   __op$block_scaled_dot   (f[b,m,k] lhs, f[b,n,k] rhs, their scales, which are smaller along k) -> f[b,m,n] product
//
// `b` may be missing, as the scale of rhs may be; a fifth operand, a number, is a factor of the product. Arrays become
// narrow numbers with a scale for each block along the last dimension, and back:
//
//   __op$quantize     x -> (x / scales as narrow floats, scales = max |x| of each block / 2^e)
//   __op$dequantize   (x, scales) -> x * scales
//
// 2^e is the largest power of two that the narrow type has. As in XLA, the scale of a block of zeros is zero, and its
// quotients are NaN.
//
// Those for linear algebra become calls of LAPACK (runtime/lapack):
//
//   (a, taus) = custom-call(x), custom_call_target="Qr"
//   =>  (a, taus) = (f32[5,3]{0,1}, f32[3]) custom-call(x), custom_call_target="lapack_sgeqrf_ffi"
//
//   ProductOfElementaryHouseholderReflectors (a, taus) -> q
//   Qr                                       a -> (r above reflectors, taus)
//   Eigh                                     a -> (eigenvectors, eigenvalues), in ascending order
//
// XLA's have row-major arrays and report no failures; LAPACK's have column-major matrices and report failures. The
// configuration of Eigh, "lower,sorted,iterations,tolerance", is for Jacobi's method; only its first word has a meaning
// here.
#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "hilo/literal.h"
#include "hilo/status_macros.h"
#include "hlo/ir/hlo_verifier.h"
#include "hlo/ir/tile_assignment.h"
#include "hlo/ops/structure/custom_call_attributes.h"
#include "hlo/passes/make_instruction.h"
#include "hlo/passes/standard_passes.h"

namespace hilo {
namespace {

using Results = std::vector<HloInstruction*>;

// "s" of "lapack_sgeqrf_ffi".
absl::StatusOr<absl::string_view> LetterOf(const Shape& matrix) {
  switch (matrix.IsArray() && matrix.rank() >= 2 ? matrix.element_type() : PRIMITIVE_TYPE_INVALID) {
    case F32: return "s";
    case F64: return "d";
    case C64: return "c";
    case C128: return "z";
    default: return InvalidArgument("expected matrices of f32, f64, c64 or c128, got ", matrix.ToString());
  }
}

// Arrays of as many dimensions as the first operand are matrices, others are vectors and numbers.
Shape InLayoutOfLapack(Shape shape, const Shape& matrix) {
  ShapeUtil::SetToDefaultLayout(&shape);
  if (shape.rank() == matrix.rank())
    std::swap(shape.mutable_layout()->minor_to_major[0], shape.mutable_layout()->minor_to_major[1]);
  return shape;
}

absl::Status CheckSignature(const HloInstruction& call, int64_t operands, int64_t results) {
  const int64_t given = call.shape().IsTuple() ? call.shape().tuple_shapes_size() : 1;
  if (call.operand_count() == operands && given == results) return absl::OkStatus();
  return InvalidArgument("expected ", operands, " operands and ", results, " results, got ", call.operand_count(),
                         " and ", given);
}

// Calls a routine on the operands of `call`. Its first result overwrites its first operand; the results are row-major.
absl::StatusOr<Results> CallLapack(const HloInstruction& call, absl::string_view routine,
                                   absl::Span<const Shape> results, std::string config) {
  const Shape& matrix = call.operand(0)->shape();
  HILO_ASSIGN_OR_RETURN(const absl::string_view letter, LetterOf(matrix));
  auto attributes = std::make_unique<CustomCallAttrs>();
  attributes->custom_call_target = absl::StrCat("lapack_", letter, routine, "_ffi");
  attributes->api_version = API_VERSION_TYPED_FFI;
  attributes->backend_config.text = std::move(config);
  std::vector<Shape>& operands = attributes->operand_layout_constraints.shapes.emplace();
  for (const HloInstruction* operand : call.operands()) {
    if (!operand->shape().IsArray()) return InvalidArgument("expected arrays, got ", operand->shape().ToString());
    operands.push_back(InLayoutOfLapack(operand->shape(), matrix));
  }
  std::vector<Shape> shapes;
  for (const Shape& result : results) {
    if (!result.IsArray()) return InvalidArgument("expected arrays as results, got ", result.ToString());
    shapes.push_back(InLayoutOfLapack(result, matrix));
  }
  const bool is_tuple = shapes.size() > 1;
  attributes->output_to_operand_aliasing.push_back(
      {.output_index = is_tuple ? ShapeIndex{0} : ShapeIndex{}, .operand = 0, .operand_index = {}});
  const Shape shape = is_tuple ? Shape(shapes) : shapes[0];
  HILO_ASSIGN_OR_RETURN(HloInstruction * lapack, call.parent()->AddOp(HloOpcode::kCustomCall, call.operands(),
                                                                      std::move(attributes), {}, &shape));
  lapack->set_metadata(call.metadata());
  if (const absl::string_view text = ExtraAttribute(call.extra_attributes(), "frontend_attributes"); !text.empty())
    lapack->add_extra_attribute("frontend_attributes", std::string(text));
  *lapack->mutable_shape() = shape;  // with its layouts
  Results values;
  for (size_t i = 0; i < shapes.size(); ++i) {
    HloInstruction* value = lapack;
    if (is_tuple) {
      HILO_ASSIGN_OR_RETURN(value, MakeTupleElement(lapack, static_cast<int64_t>(i)));
      *value->mutable_shape() = shapes[i];
    }
    HILO_ASSIGN_OR_RETURN(values.emplace_back(), call.parent()->AddOp(HloOpcode::kCopy, {value}));
  }
  return values;
}

absl::StatusOr<Results> Qr(const HloInstruction& call) {
  HILO_RETURN_IF_ERROR(CheckSignature(call, 1, 2));
  return CallLapack(call, "geqrf", call.shape().tuple_shapes(), "{}");
}

absl::StatusOr<Results> ProductOfReflectors(const HloInstruction& call) {
  HILO_RETURN_IF_ERROR(CheckSignature(call, 2, 1));
  const bool is_complex = call.operand(0)->shape().IsArray() && IsComplexType(call.operand(0)->shape().element_type());
  return CallLapack(call, is_complex ? "ungqr" : "orgqr", {call.shape()}, "{}");
}

// NaN for the matrices for which LAPACK reports a failure.
absl::StatusOr<HloInstruction*> WhereSucceeded(HloInstruction* info, HloInstruction* values) {
  std::vector<int64_t> batch(info->shape().rank());
  for (size_t i = 0; i < batch.size(); ++i) batch[i] = static_cast<int64_t>(i);
  HILO_ASSIGN_OR_RETURN(HloInstruction * zero, MakeUniform(info, 0));
  HloComputation* computation = values->parent();
  HILO_ASSIGN_OR_RETURN(HloInstruction * succeeded,
                        computation->AddOp(HloOpcode::kCompare, {info, zero}, std::make_unique<CompareAttrs>()));
  HILO_ASSIGN_OR_RETURN(
      HloInstruction * mask,
      MakeBroadcast(succeeded, ShapeUtil::MakeShape(PRED, values->shape().dimensions()), std::move(batch)));
  HILO_ASSIGN_OR_RETURN(HloInstruction * nan, MakeUniform(values, std::numeric_limits<double>::quiet_NaN()));
  return computation->AddOp(HloOpcode::kSelect, {mask, values, nan});
}

absl::StatusOr<Results> Eigh(const HloInstruction& call) {
  HILO_RETURN_IF_ERROR(CheckSignature(call, 1, 2));
  const Shape& matrix = call.operand(0)->shape();
  HILO_RETURN_IF_ERROR(LetterOf(matrix).status());
  std::vector<Shape> results = call.shape().tuple_shapes();
  results.push_back(ShapeUtil::MakeShape(S32, matrix.dimensions().subspan(0, matrix.rank() - 2)));
  const bool is_upper = absl::StartsWith(call.attrs<CustomCallAttrs>().backend_config.text, "0");
  const absl::string_view routine = IsComplexType(matrix.element_type()) ? "heevd" : "syevd";
  HILO_ASSIGN_OR_RETURN(
      Results values,
      CallLapack(call, routine, results, absl::StrCat("{mode = 86 : ui8, uplo = ", is_upper ? 85 : 76, " : ui8}")));
  HloInstruction* info = values.back();
  values.pop_back();
  for (HloInstruction*& value : values) {
    HILO_ASSIGN_OR_RETURN(value, WhereSucceeded(info, value));
  }
  return values;
}

absl::StatusOr<Results> BlockScaledDot(const HloInstruction& call) {
  const int64_t count = std::clamp<int64_t>(call.operand_count(), 3, 5);
  HILO_RETURN_IF_ERROR(CheckSignature(call, count, 1));
  std::vector<HloInstruction*> operands(call.operands().begin(), call.operands().end());
  HloInstruction* const factor = count == 5 ? operands.back() : nullptr;
  if (factor != nullptr) operands.pop_back();
  const int64_t rank = operands[0]->shape().IsArray() ? operands[0]->shape().rank() : 0;
  for (const HloInstruction* operand : operands) {
    if (!operand->shape().IsArray() || operand->shape().rank() != rank || rank < 2 || rank > 3)
      return InvalidArgument("expected matrices, or arrays of three dimensions, got ", operand->shape().ToString());
  }
  if (factor != nullptr &&
      !ShapeUtil::Compatible(factor->shape(), ShapeUtil::MakeShape(call.shape().element_type(), {})))
    return InvalidArgument("expected a factor of the product that is a number of its type, got ",
                           factor->shape().ToString());
  // A number as scale is none.
  if (count == 3) operands.push_back(call.parent()->AddConstant(LiteralUtil::CreateR0<float>(1)));
  auto attributes = std::make_unique<DotAttrs>();
  if (rank == 3) attributes->lhs_batch_dims = attributes->rhs_batch_dims = {0};
  attributes->lhs_contracting_dims = attributes->rhs_contracting_dims = {rank - 1};
  HILO_ASSIGN_OR_RETURN(HloInstruction * product, call.parent()->AddOp(HloOpcode::kScaledDot, operands,
                                                                       std::move(attributes), {}, &call.shape()));
  if (factor == nullptr) return Results{product};
  HILO_ASSIGN_OR_RETURN(HloInstruction * factors, MakeBroadcast(factor, call.shape(), {}));
  HILO_ASSIGN_OR_RETURN(product, call.parent()->AddOp(HloOpcode::kMultiply, {product, factors}));
  return Results{product};
}

// Checks that `scales` has a number for each block of elements along the last dimension of `array`.
absl::Status CheckBlocks(const Shape& array, const Shape& scales) {
  bool fits = array.IsArray() && scales.IsArray() && array.is_static() && scales.is_static() && array.rank() >= 1 &&
              scales.rank() == array.rank() && IsFloatingPointType(array.element_type()) &&
              IsFloatingPointType(scales.element_type());
  for (int64_t d = 0; fits && d < array.rank(); ++d) {
    const int64_t size = array.dimensions(d), blocks = scales.dimensions(d);
    fits = d + 1 < array.rank() ? size == blocks : blocks > 0 && size % blocks == 0;
  }
  if (fits) return absl::OkStatus();
  return InvalidArgument("expected floats, and scales of equal blocks along their last dimension, got ",
                         array.ToString(), " and ", scales.ToString());
}

absl::StatusOr<HloInstruction*> Convert(HloInstruction* x, PrimitiveType type) {
  const Shape shape = ShapeUtil::MakeShape(type, x->shape().dimensions());
  return x->parent()->AddOp(HloOpcode::kConvert, {x}, nullptr, {}, &shape);
}

// The sizes of blocks and, as a new last dimension, of the elements within one.
std::vector<int64_t> BlockDimensions(const Shape& array, const Shape& scales) {
  std::vector<int64_t> sizes(scales.dimensions().begin(), scales.dimensions().end());
  sizes.push_back(array.dimensions(array.rank() - 1) / sizes.back());
  return sizes;
}

// `opcode`, a product or a quotient, of each element of x and the scale of its block.
absl::StatusOr<HloInstruction*> WithScales(HloOpcode opcode, HloInstruction* x, HloInstruction* scales) {
  const PrimitiveType type = x->shape().element_type();
  std::vector<int64_t> kept(x->shape().rank());
  for (size_t i = 0; i < kept.size(); ++i) kept[i] = static_cast<int64_t>(i);
  HILO_ASSIGN_OR_RETURN(HloInstruction * factors, Convert(scales, type));
  const Shape blocks = ShapeUtil::MakeShape(type, BlockDimensions(x->shape(), scales->shape()));
  HILO_ASSIGN_OR_RETURN(factors, MakeBroadcast(factors, blocks, std::move(kept)));
  HILO_ASSIGN_OR_RETURN(factors, MakeReshape(factors, ShapeUtil::MakeShape(type, x->shape().dimensions())));
  return MakeBinary(opcode, x, factors);
}

absl::StatusOr<Results> Dequantize(const HloInstruction& call) {
  HILO_RETURN_IF_ERROR(CheckSignature(call, 2, 1));
  HILO_RETURN_IF_ERROR(CheckBlocks(call.operand(0)->shape(), call.operand(1)->shape()));
  if (!call.shape().IsArray() || !IsFloatingPointType(call.shape().element_type()))
    return InvalidArgument("expected a result of floats, got ", call.shape().ToString());
  HILO_ASSIGN_OR_RETURN(HloInstruction * x, Convert(call.operands()[0], call.shape().element_type()));
  HILO_ASSIGN_OR_RETURN(x, WithScales(HloOpcode::kMultiply, x, call.operands()[1]));
  return Results{x};
}

double LargestPowerOfTwo(PrimitiveType type) {
  double power = 1;
  while (std::isfinite(2 * power) && LiteralUtil::FromDouble(type, 2 * power).GetAsDouble(0) == 2 * power) power *= 2;
  return power;
}

absl::StatusOr<Results> Quantize(const HloInstruction& call) {
  HILO_RETURN_IF_ERROR(CheckSignature(call, 1, 2));
  HloInstruction* const x = call.operands()[0];
  const Shape &narrow = call.shape().tuple_shapes(0), &scale_shape = call.shape().tuple_shapes(1);
  HILO_RETURN_IF_ERROR(CheckBlocks(x->shape(), scale_shape));
  if (!narrow.IsArray() || !IsSmallFloatType(narrow.element_type()))
    return InvalidArgument("expected floats of at most 8 bits as the first result, got ", narrow.ToString());
  const PrimitiveType type = x->shape().element_type();
  HILO_ASSIGN_OR_RETURN(HloInstruction * magnitudes, x->parent()->AddOp(HloOpcode::kAbs, {x}));
  HILO_ASSIGN_OR_RETURN(magnitudes,
                        MakeReshape(magnitudes, ShapeUtil::MakeShape(type, BlockDimensions(x->shape(), scale_shape))));
  HloComputation* maximum = x->parent()->parent()->AddComputation("maximum");
  const Shape scalar = ShapeUtil::MakeShape(type, {});
  HILO_ASSIGN_OR_RETURN(
      HloInstruction * larger,
      maximum->AddOp(HloOpcode::kMaximum, {maximum->AddInstruction(HloInstruction::CreateParameter(0, scalar, "x")),
                                           maximum->AddInstruction(HloInstruction::CreateParameter(1, scalar, "y"))}));
  HILO_RETURN_IF_ERROR(maximum->set_root_instruction(larger));
  HILO_ASSIGN_OR_RETURN(
      HloInstruction * scales,
      MakeReduce(magnitudes, x->parent()->AddConstant(LiteralUtil::Zero(type)), {x->shape().rank()}, maximum));
  HILO_ASSIGN_OR_RETURN(HloInstruction * power, MakeUniform(scales, LargestPowerOfTwo(narrow.element_type())));
  HILO_ASSIGN_OR_RETURN(scales, MakeBinary(HloOpcode::kDivide, scales, power));
  HILO_ASSIGN_OR_RETURN(scales, Convert(scales, scale_shape.element_type()));
  HILO_ASSIGN_OR_RETURN(HloInstruction * quotients, WithScales(HloOpcode::kDivide, x, scales));
  HILO_ASSIGN_OR_RETURN(quotients, Convert(quotients, narrow.element_type()));
  return Results{quotients, scales};
}

using Rewrite = absl::StatusOr<Results> (*)(const HloInstruction& call);

Rewrite FindRewrite(const HloInstruction& instruction) {
  if (instruction.opcode() != HloOpcode::kCustomCall) return nullptr;
  const std::string& target = instruction.attrs<CustomCallAttrs>().custom_call_target;
  if (target == "__op$block_scaled_dot") return BlockScaledDot;
  if (target == "__op$dequantize") return Dequantize;
  if (target == "__op$quantize") return Quantize;
  if (target == "Eigh") return Eigh;
  if (target == "ProductOfElementaryHouseholderReflectors") return ProductOfReflectors;
  if (target == "Qr") return Qr;
  return nullptr;
}

class LibraryCalls : public HloPass {
 public:
  absl::string_view name() const override { return "library-calls"; }
  bool optional() const override { return false; }

  absl::StatusOr<bool> Run(HloModule* module, const PassContext& context) override {
    bool changed = false;
    for (HloComputation* computation : module->computations()) {
      for (HloInstruction* instruction : computation->MakePostOrder()) {
        const Rewrite rewrite = FindRewrite(*instruction);
        if (rewrite == nullptr) continue;
        HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
        const absl::Status replaced = Replace(instruction, rewrite);
        if (!replaced.ok()) return AddContext(replaced, InstructionContext(*instruction));
        changed = true;
      }
    }
    return changed;
  }

 private:
  static absl::Status Replace(HloInstruction* call, Rewrite rewrite) {
    HILO_ASSIGN_OR_RETURN(const Results values, rewrite(*call));
    HloInstruction* replacement = values[0];
    if (values.size() > 1) {
      HILO_ASSIGN_OR_RETURN(replacement, call->parent()->AddOp(HloOpcode::kTuple, values));
    }
    if (!ShapeUtil::Compatible(replacement->shape(), call->shape()))
      return InvalidArgument("expected results ", replacement->shape().ToString(), ", got ", call->shape().ToString());
    *replacement->mutable_shape() = call->shape();  // users that speak of memory expect the layout that they have seen
    replacement->CopyOriginFrom(*call);
    return call->parent()->ReplaceInstruction(call, replacement);
  }
};

}  // namespace

std::unique_ptr<HloPass> MakeLibraryCalls() { return std::make_unique<LibraryCalls>(); }

}  // namespace hilo
