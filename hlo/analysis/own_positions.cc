#include "hlo/analysis/own_positions.h"

#include "hlo/ir/hlo_computation.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo {
namespace {

bool IsZero(const HloInstruction& x) {
  const HloInstruction& scalar = x.opcode() == HloOpcode::kBroadcast ? *x.operand(0) : x;
  return scalar.IsConstant() && scalar.shape().IsScalar() && scalar.literal().GetAsInt64(0) == 0;
}

// Instructions between an iota and the indices that contain it.
constexpr int kMaxSteps = 8;

// Returns the dimension of `x`, of more than one element, along which each element is its own position; -1: none.
int64_t PositionDimension(const HloInstruction& x, int steps = kMaxSteps) {
  const Shape& shape = x.shape();
  const PrimitiveType type = shape.element_type();
  // Iotas of narrow types wrap around.
  if ((type != S32 && type != S64) || ShapeUtil::IsZeroElementArray(shape) || steps == 0) return -1;
  int64_t dimension = -1;
  if (x.opcode() == HloOpcode::kIota) {
    dimension = x.attrs<IotaAttrs>().iota_dimension;
  } else if (x.opcode() == HloOpcode::kBroadcast) {
    const int64_t in_operand = PositionDimension(*x.operand(0), steps - 1);
    if (in_operand >= 0) dimension = x.attrs<BroadcastAttrs>().dimensions[in_operand];
  } else if (x.opcode() == HloOpcode::kReshape) {
    // Dimensions of size 1 come and go, the others stay in their order.
    const Shape& operand = x.operand(0)->shape();
    const int64_t in_operand = PositionDimension(*x.operand(0), steps - 1);
    if (in_operand < 0) return -1;
    int64_t d = 0;
    for (int64_t o = 0; o < operand.rank(); ++o) {
      if (operand.dimensions(o) == 1) continue;
      while (d < shape.rank() && shape.dimensions(d) == 1) ++d;
      if (d == shape.rank() || shape.dimensions(d) != operand.dimensions(o)) return -1;
      if (o == in_operand) dimension = d;
      ++d;
    }
  } else if (x.opcode() == HloOpcode::kSelect) {
    // An index that would be one from the end on if it were negative.
    const HloInstruction& test = *x.operand(0);
    if (test.opcode() == HloOpcode::kCompare && test.operand(0) == x.operand(2) &&
        test.attrs<CompareAttrs>().direction == ComparisonDirection::kLt && IsZero(*test.operand(1)))
      dimension = PositionDimension(*x.operand(2), steps - 1);
  }
  const bool fits = dimension >= 0 && shape.dimensions(dimension) > 1 && shape.dimensions(dimension) <= INT32_MAX;
  return fits ? dimension : -1;
}

}  // namespace

std::vector<OwnPosition> OwnPositionsOf(const HloInstruction& scatter) {
  const HloInstruction& indices = *scatter.operand(scatter.operand_count() / 2);
  const int64_t vector = scatter.attrs<ScatterAttrs>().index_vector_dim;
  const Shape& shape = indices.shape();
  // Each operand of the concatenation is one element of the vectors.
  if (indices.opcode() != HloOpcode::kConcatenate || vector >= shape.rank() ||
      indices.attrs<ConcatenateAttrs>().dimensions[0] != vector || indices.operand_count() != shape.dimensions(vector))
    return {};
  std::vector<OwnPosition> own;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (d == vector || shape.dimensions(d) == 1) continue;
    int64_t element = 0;
    while (element < indices.operand_count() && PositionDimension(*indices.operand(element)) != d) ++element;
    if (element == indices.operand_count()) return {};
    own.push_back({d, element});
  }
  return own;
}

}  // namespace hilo
