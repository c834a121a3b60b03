#include "hlo/ops/semantics.h"

#include "hlo/ops/collective/collective_attributes.h"
#include "hlo/ops/collective/transfer_attributes.h"
#include "hlo/ops/linalg/convolution_attributes.h"
#include "hlo/ops/linalg/linalg_attributes.h"
#include "hlo/ops/movement/dimension_size_attributes.h"
#include "hlo/ops/random/random_attributes.h"
#include "hlo/ops/reduction/batch_norm_attributes.h"
#include "hlo/ops/reduction/search_attributes.h"
#include "hlo/ops/structure/custom_call_attributes.h"
#include "hlo/ops/table/checks.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo {
namespace {

template <typename AttributesStruct>
std::unique_ptr<OpAttributes> Make() {
  if constexpr (std::is_same_v<AttributesStruct, NoAttributes>) {
    return nullptr;
  } else {
    return std::make_unique<AttributesStruct>();
  }
}

struct Row {
  absl::StatusOr<Shape> (*infer)(const OpView&);
  absl::StatusOr<Literal> (*evaluate)(const OpView&, const Shape&, Operands);
  std::unique_ptr<OpAttributes> (*make_attributes)();
  bool has_attributes;
};
constexpr Row kRows[] = {
#define HLO_UNARY(...) {InferUnary, EvaluateUnary, Make<NoAttributes>, false},
#define HLO_BINARY(...) {InferBinary, EvaluateBinary, Make<NoAttributes>, false},
#define HLO_OP(opcode, text, arity, attributes, called, traits, cost) \
  {Infer<HloOpcode::opcode>, Evaluate<HloOpcode::opcode>, Make<attributes>, !std::is_same_v<attributes, NoAttributes>},
#include "hlo/ops/table/hlo_opcode.def"
#undef HLO_UNARY
#undef HLO_BINARY
#undef HLO_OP
};
static_assert(std::size(kRows) == kHloOpcodeCount);
const Row& RowOf(HloOpcode opcode) { return kRows[static_cast<int>(opcode)]; }

// Whether `count` matches the number of called computations named in the table; "name*" is any number.
bool CalledCountFits(absl::string_view names, size_t count) {
  if (names.empty()) return count == 0;
  if (names.back() == '*') return true;
  size_t expected = 1;
  for (char c : names) expected += c == ',';
  return count == expected;
}

}  // namespace

absl::StatusOr<Shape> InferShape(const OpView& op) {
  const HloOpcodeInfo& info = OpcodeInfo(op.opcode);
  if (info.arity != kVariadic && op.operands.size() != static_cast<size_t>(info.arity)) {
    return InvalidOp(op, "expects ", info.arity, info.arity == 1 ? " operand" : " operands", ", got ",
                     op.operands.size());
  }
  if (RowOf(op.opcode).has_attributes && op.attributes == nullptr) return InvalidOp(op, "needs its attributes");
  if (!CalledCountFits(info.called, op.called.size())) {
    return InvalidOp(op, "expects the called computations (", info.called, "), got ", op.called.size(),
                     " computations");
  }
  absl::StatusOr<Shape> shape = RowOf(op.opcode).infer(op);
  if (!shape.ok()) return shape;
  // Sizes that grow (pad, concatenate, broadcast ...) may leave what an array can hold.
  if (absl::Status valid = ShapeUtil::Validate(*shape); !valid.ok()) return InvalidOp(op, valid.message());
  return shape;
}

absl::StatusOr<Literal> EvaluateOp(const OpView& op, const Shape& shape, Operands operands) {
  return RowOf(op.opcode).evaluate(op, shape, operands);
}

std::unique_ptr<OpAttributes> MakeAttributes(HloOpcode opcode) { return RowOf(opcode).make_attributes(); }

}  // namespace hilo
