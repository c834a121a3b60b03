// On platforms without special rules, JAX lowers linear algebra to custom calls by XLA's older calling convention:
// arrays are row-major, and failures are not reported. Here they are calls of LAPACK
// (runtime/lapack), which has column-major matrices and reports failures:
//
//   (a, taus) = custom-call(x), custom_call_target="Qr"
//   =>  (a, taus) = (f32[5,3]{0,1}, f32[3]) custom-call(x), custom_call_target="lapack_sgeqrf_ffi"
//
// The approximate search for the k best elements is an exact one: all are sorted, and the first are taken.
//
// For GPUs, JAX lowers products of blocks with scales to a call of XLA's; here they are a scaled-dot.
#include "hlo/import/stablehlo/library_calls.h"

#include <limits>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/import/stablehlo/attribute_text.h"
#include "hlo/import/stablehlo/built_call.h"
#include "hlo/ops/structure/custom_call_attributes.h"

namespace hilo::stablehlo {
namespace {

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

// Calls a routine, whose first result overwrites its first operand; the results are row-major.
absl::StatusOr<Results> CallLapack(OpConversion& c, absl::string_view routine, const std::vector<Shape>& results,
                                   std::string config) {
  const Shape& matrix = c.operands[0]->shape();
  HILO_ASSIGN_OR_RETURN(const absl::string_view letter, LetterOf(matrix));
  auto attributes = std::make_unique<CustomCallAttrs>();
  attributes->custom_call_target = absl::StrCat("lapack_", letter, routine, "_ffi");
  attributes->api_version = API_VERSION_TYPED_FFI;
  attributes->backend_config.text = std::move(config);
  std::vector<Shape>& operands = attributes->operand_layout_constraints.shapes.emplace();
  for (const HloInstruction* operand : c.operands) {
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
  HILO_ASSIGN_OR_RETURN(HloInstruction * call,
                        c.Add(HloOpcode::kCustomCall, c.operands, std::move(attributes), {}, &shape));
  *call->mutable_shape() = shape;  // with its layouts
  Results values;
  for (size_t i = 0; i < shapes.size(); ++i) {
    HloInstruction* value = call;
    if (is_tuple) {
      HILO_ASSIGN_OR_RETURN(value, c.Element(call, static_cast<int64_t>(i)));
      *value->mutable_shape() = shapes[i];
    }
    HILO_ASSIGN_OR_RETURN(values.emplace_back(), c.Add(HloOpcode::kCopy, {value}));
  }
  return values;
}

absl::StatusOr<std::vector<Shape>> ResultShapesOf(const OpConversion& c) {
  std::vector<Shape> shapes;
  for (size_t i = 0; i < c.op.results.size(); ++i) {
    HILO_ASSIGN_OR_RETURN(shapes.emplace_back(), c.ResultShape(i));
  }
  return shapes;
}

absl::StatusOr<Results> Qr(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(1));
  HILO_RETURN_IF_ERROR(c.ExpectResults(2));
  HILO_ASSIGN_OR_RETURN(const std::vector<Shape> results, ResultShapesOf(c));
  return CallLapack(c, "geqrf", results, "{}");
}

absl::StatusOr<Results> ProductOfReflectors(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(2));
  HILO_RETURN_IF_ERROR(c.ExpectResults(1));
  HILO_ASSIGN_OR_RETURN(const std::vector<Shape> results, ResultShapesOf(c));
  return CallLapack(c, IsComplexType(c.operands[0]->shape().element_type()) ? "ungqr" : "orgqr", results, "{}");
}

// NaN for the matrices for which LAPACK reports a failure.
XlaOp WhereSucceeded(XlaOp info, XlaOp values, const Shape& shape, int64_t batch_dimensions) {
  XlaBuilder* builder = values.builder();
  std::vector<int64_t> batch(batch_dimensions);
  for (int64_t i = 0; i < batch_dimensions; ++i) batch[i] = i;
  const XlaOp succeeded = Eq(info, Sub(info, info));
  const XlaOp nan =
      ConstantLiteral(builder, LiteralUtil::FromDouble(shape.element_type(), std::numeric_limits<double>::quiet_NaN()));
  return Select(BroadcastInDim(succeeded, shape.dimensions(), batch), values, Broadcast(nan, shape.dimensions()));
}

// The configuration "lower,sorted,iterations,tolerance" is for Jacobi's method, of which only the first word means
// something here.
absl::StatusOr<Results> Eigh(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(1));
  HILO_RETURN_IF_ERROR(c.ExpectResults(2));
  HILO_ASSIGN_OR_RETURN(std::vector<Shape> results, ResultShapesOf(c));
  const Shape matrix = c.operands[0]->shape();
  HILO_RETURN_IF_ERROR(LetterOf(matrix).status());
  const int64_t batch_dimensions = matrix.rank() - 2;
  results.push_back(ShapeUtil::MakeShape(S32, matrix.dimensions().subspan(0, batch_dimensions)));
  const bool is_upper = absl::StartsWith(c.Text("backend_config"), "0");
  const absl::string_view routine = IsComplexType(matrix.element_type()) ? "heevd" : "syevd";
  HILO_ASSIGN_OR_RETURN(
      const Results values,
      CallLapack(c, routine, results, absl::StrCat("{mode = 86 : ui8, uplo = ", is_upper ? 85 : 76, " : ui8}")));
  XlaBuilder builder("eigh");
  const std::vector<XlaOp> parts = ParametersFor(values, &builder);
  Tuple(&builder, {WhereSucceeded(parts[2], parts[0], results[0], batch_dimensions),
                   WhereSucceeded(parts[2], parts[1], results[1], batch_dimensions)});
  return CallBuilt(c, values, &builder);
}

absl::StatusOr<Results> ApproxTopK(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(2 * c.op.results.size()));
  HILO_RETURN_IF_ERROR(c.ExpectAtLeast(2));
  if (c.regions.size() != 1) return InvalidArgument("expected one computation that compares, got ", c.regions.size());
  HILO_ASSIGN_OR_RETURN(const std::vector<Shape> results, ResultShapesOf(c));
  const Attribute* config = c.op.Find("mhlo.backend_config");
  if (config == nullptr) config = c.op.Find("backend_config");
  auto sort = std::make_unique<SortAttrs>();
  bool has_dimension = false;
  for (const NamedAttribute& entry :
       config == nullptr ? absl::Span<const NamedAttribute>() : absl::MakeConstSpan(config->entries)) {
    if (entry.name != "reduction_dim" || entry.value->kind != Attribute::Kind::kInteger) continue;
    sort->dimensions = {entry.value->integer};
    has_dimension = true;
  }
  if (!has_dimension) return InvalidArgument("expected reduction_dim in the backend_config");
  const std::vector<HloInstruction*> values(c.operands.begin(),
                                            c.operands.begin() + static_cast<std::ptrdiff_t>(results.size()));
  sort->is_stable = true;
  HILO_ASSIGN_OR_RETURN(HloInstruction * sorted, c.Add(HloOpcode::kSort, values, std::move(sort), c.regions));
  Results best;
  for (size_t i = 0; i < results.size(); ++i) {
    HloInstruction* all = sorted;
    if (results.size() > 1) {
      HILO_ASSIGN_OR_RETURN(all, c.Element(sorted, static_cast<int64_t>(i)));
    }
    if (results[i].rank() != all->shape().rank())
      return InvalidArgument("expected results of ", all->shape().rank(), " dimensions, got ", results[i].ToString());
    auto slice = std::make_unique<SliceAttrs>();
    for (const int64_t size : results[i].dimensions()) slice->slice.push_back({0, size, 1});
    HILO_ASSIGN_OR_RETURN(best.emplace_back(), c.Add(HloOpcode::kSlice, {all}, std::move(slice)));
  }
  return best;
}

// Operands are f[b,m,k] lhs, f[b,n,k] rhs and their scales, which have fewer elements along k.
absl::StatusOr<Results> BlockScaledDot(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(4));
  HILO_RETURN_IF_ERROR(c.ExpectResults(1));
  HILO_ASSIGN_OR_RETURN(const Shape result, c.ResultShape());
  for (const HloInstruction* operand : c.operands) {
    if (!operand->shape().IsArray() || operand->shape().rank() != 3)
      return InvalidArgument("expected arrays of three dimensions, got ", operand->shape().ToString());
  }
  auto attributes = std::make_unique<DotAttrs>();
  attributes->lhs_batch_dims = attributes->rhs_batch_dims = {0};
  attributes->lhs_contracting_dims = attributes->rhs_contracting_dims = {2};
  return c.Split(c.Add(HloOpcode::kScaledDot, c.operands, std::move(attributes), {}, &result));
}

}  // namespace

Converter FindLibraryCall(absl::string_view target) {
  if (target == "__op$block_scaled_dot") return BlockScaledDot;
  if (target == "ApproxTopK") return ApproxTopK;
  if (target == "Eigh") return Eigh;
  if (target == "ProductOfElementaryHouseholderReflectors") return ProductOfReflectors;
  if (target == "Qr") return Qr;
  return nullptr;
}

}  // namespace hilo::stablehlo
