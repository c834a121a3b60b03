#include "hlo/passes/dimensions/transpose_tiles.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "absl/algorithm/container.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/ops/table/opcode_map.h"

namespace hilo {
namespace {

// Rows and columns from which a kernel transposes tiles, and bytes of an element: larger ones are moved one by one as
// fast as by one more kernel.
constexpr int64_t kMinTransposedRows = 4, kMaxTransposedBytes = 4;

// Returns true for transposes that loops over tiles compute: the minor-most dimension of the result is another one than
// the operand's, neither is short, and the elements are small.
bool IsTransposedInTiles(const HloInstruction& instruction) {
  if (instruction.opcode() != HloOpcode::kTranspose || instruction.shape().rank() == 0 ||
      PrimitiveTypeByteSize(instruction.shape().element_type()) > kMaxTransposedBytes)
    return false;
  const Shape& operand = instruction.operand(0)->shape();
  const int64_t row = instruction.attrs<TransposeAttrs>().dimensions.back();
  int64_t contiguous = 1;
  for (int64_t d = operand.rank() - 1; d > row; --d) contiguous *= operand.dimensions(d);
  return std::min(contiguous, operand.dimensions(row)) >= kMinTransposedRows;
}

// Returns true for reshapes that add or drop dimensions of size 1 only.
bool KeepsIndices(const HloInstruction& instruction) {
  if (instruction.opcode() != HloOpcode::kReshape) return false;
  const auto sizes = [](const Shape& shape) {
    std::vector<int64_t> longer;
    absl::c_copy_if(shape.dimensions(), std::back_inserter(longer), [](int64_t size) { return size != 1; });
    return longer;
  };
  return sizes(instruction.shape()) == sizes(instruction.operand(0)->shape());
}

}  // namespace

bool PreventsTiles(const HloInstruction& producer, const HloInstruction& user) {
  static constexpr OpcodeSet kUntiled = {HloOpcode::kBroadcast, HloOpcode::kConcatenate, HloOpcode::kReshape};
  if (!HasTrait(user.opcode(), kMovement) || KeepsIndices(producer) || KeepsIndices(user)) return false;
  return (IsTransposedInTiles(producer) &&
          2 * ShapeUtil::ElementsIn(user.shape()) > ShapeUtil::ElementsIn(producer.shape())) ||
         (IsTransposedInTiles(user) && kUntiled.contains(producer.opcode()));
}

}  // namespace hilo
