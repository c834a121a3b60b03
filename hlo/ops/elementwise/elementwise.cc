// The two element-wise families: inference by the table's type classes, evaluation by a loop per op
// and wide type.
#include <cmath>

#include "hilo/status_macros.h"
#include "hlo/ops/elementwise/elementwise_kernels.h"
#include "hlo/ops/linalg/wide_elements.h"
#include "hlo/ops/table/checks.h"

namespace hilo {
namespace {

PrimitiveType UnaryResultType(const OpView& op) {
  const PrimitiveType type = op.operand(0).element_type();
  switch (OpcodeInfo(op.opcode).result_rule) {
    case ResultRule::kSameType: return type;
    case ResultRule::kComplexToReal: return ComplexComponentType(type);
    case ResultRule::kPred: return PRED;
  }
  return PRIMITIVE_TYPE_INVALID;
}

absl::Status MissingLoop(const OpView& op, PrimitiveType type) {
  return absl::InternalError(
      absl::StrCat(HloOpcodeString(op.opcode), ": no evaluation for elements of type ", PrimitiveTypeName(type)));
}

// Unary ops whose result is of another type. `out` has the result's shape.

absl::Status EvaluateIsFinite(const OpView& op, const Literal& operand, Literal* out) {
  return WideTypeSwitch(operand.shape().element_type(), [&](auto tag) {
    using W = typename decltype(tag)::type;
    if constexpr (std::is_floating_point_v<W>) {
      auto loop = [](const W* x, bool* y, int64_t n) {
        for (int64_t i = 0; i < n; ++i) y[i] = std::isfinite(x[i]);
      };
      return ForEachBlock(op, out->element_count(), loop, WideWriter<bool>(out), WideReader<W>(operand));
    }
    return MissingLoop(op, operand.shape().element_type());
  });
}

template <typename R>
void EvaluatePart(HloOpcode opcode, const Literal& operand, Literal* out) {
  const auto x = operand.data<std::complex<R>>();
  const auto y = out->data<R>();
  for (size_t i = 0; i < x.size(); ++i) {
    y[i] = opcode == HloOpcode::kReal   ? x[i].real()
           : opcode == HloOpcode::kImag ? x[i].imag()
                                        : std::hypot(x[i].real(), x[i].imag());
  }
}

template <typename R>
void EvaluateComplexNumber(Operands operands, Literal* out) {
  const auto re = operands[0]->data<R>(), im = operands[1]->data<R>();
  const auto y = out->data<std::complex<R>>();
  for (size_t i = 0; i < re.size(); ++i) y[i] = {re[i], im[i]};
}

}  // namespace

absl::StatusOr<Shape> InferUnary(const OpView& op) {
  HILO_RETURN_IF_ERROR(CheckArrayOperands(op));
  HILO_RETURN_IF_ERROR(CheckTypeClass(op, 0, OpcodeInfo(op.opcode).operand_types));
  return ElementwiseShape(op, UnaryResultType(op));
}

absl::StatusOr<Shape> InferBinary(const OpView& op) {
  HILO_RETURN_IF_ERROR(CheckArrayOperands(op));
  HILO_RETURN_IF_ERROR(CheckSameElementTypes(op));
  HILO_RETURN_IF_ERROR(CheckTypeClass(op, 0, OpcodeInfo(op.opcode).operand_types));
  if (!ShapeUtil::SameDimensions(op.operand(0), op.operand(1))) {
    return InvalidOp(op, "operands must have the same dimensions, got ", op.operand(0).ToString(), " and ",
                     op.operand(1).ToString());
  }
  PrimitiveType type = op.operand(0).element_type();
  if (op.opcode == HloOpcode::kComplexNumber) {
    // complex_c2
    if (type != F32 && type != F64) return InvalidOp(op, "operands must be f32 or f64, got ", op.operand(0).ToString());
    type = ComplexTypeOf(type);
  }
  return ElementwiseShape(op, type);
}

absl::StatusOr<Literal> EvaluateUnary(const OpView& op, const Shape& shape, Operands operands) {
  auto result = Literal::Create(shape);
  if (!result.ok()) return result;
  const Literal& operand = *operands[0];
  const PrimitiveType type = operand.shape().element_type();
  if (OpcodeInfo(op.opcode).result_rule == ResultRule::kPred) {
    HILO_RETURN_IF_ERROR(EvaluateIsFinite(op, operand, &*result));
    return result;
  }
  if (IsComplexType(type) && shape.element_type() != type) {
    type == C64 ? EvaluatePart<float>(op.opcode, operand, &*result)
                : EvaluatePart<double>(op.opcode, operand, &*result);
    return result;
  }
  HILO_RETURN_IF_ERROR(WideTypeSwitch(type, [&](auto tag) {
    using W = typename decltype(tag)::type;
    const UnaryKernel<W> kernel = FindUnaryKernel<W>(op.opcode);
    if (kernel == nullptr) return MissingLoop(op, type);
    auto loop = [&](const W* x, W* y, int64_t n) { kernel(PrimitiveTypeBitWidth(type), x, y, n); };
    return ForEachBlock(op, result->element_count(), loop, WideWriter<W>(&*result), WideReader<W>(operand));
  }));
  return result;
}

absl::StatusOr<Literal> EvaluateBinary(const OpView& op, const Shape& shape, Operands operands) {
  auto result = Literal::Create(shape);
  if (!result.ok()) return result;
  const PrimitiveType type = operands[0]->shape().element_type();
  if (op.opcode == HloOpcode::kComplexNumber) {
    type == F32 ? EvaluateComplexNumber<float>(operands, &*result) : EvaluateComplexNumber<double>(operands, &*result);
    return result;
  }
  HILO_RETURN_IF_ERROR(WideTypeSwitch(type, [&](auto tag) {
    using W = typename decltype(tag)::type;
    const BinaryKernel<W> kernel = FindBinaryKernel<W>(op.opcode);
    if (kernel == nullptr) return MissingLoop(op, type);
    auto loop = [&](const W* x, const W* y, W* z, int64_t n) { kernel(PrimitiveTypeBitWidth(type), x, y, z, n); };
    return ForEachBlock(op, result->element_count(), loop, WideWriter<W>(&*result), WideReader<W>(*operands[0]),
                        WideReader<W>(*operands[1]));
  }));
  return result;
}

}  // namespace hilo
