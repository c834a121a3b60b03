#include "backends/gpu/match/sort_match.h"

#include <algorithm>
#include <vector>

#include "absl/algorithm/container.h"
#include "hlo/analysis/sort_keys.h"
#include "hlo/analysis/value_range.h"
#include "hlo/ir/hlo_computation.h"
#include "hlo/ir/kernel_config.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/ops/table/opcode_map.h"

namespace hilo::gpu {
namespace {

// Returns true if all of `key`, a function of one parameter, is computed by what kernels know.
bool IsOfKeyOps(const HloInstruction* key) {
  std::vector<const HloInstruction*> work = {key};
  for (size_t i = 0; i < work.size(); ++i) {
    if (work[i]->IsParameter() || work[i]->IsConstant()) continue;
    if (!IsKeyOp(work[i]->opcode())) return false;
    work.insert(work.end(), work[i]->operands().begin(), work[i]->operands().end());
  }
  return true;
}

}  // namespace

bool HasOrderKey(PrimitiveType type) { return type == PRED || IsIntegralType(type) || IsFloatingPointType(type); }

bool IsKeyOp(HloOpcode opcode) {
  static constexpr OpcodeSet kKeyOps = {HloOpcode::kAbs,    HloOpcode::kAnd, HloOpcode::kCompare, HloOpcode::kConvert,
                                        HloOpcode::kNegate, HloOpcode::kNot, HloOpcode::kOr,      HloOpcode::kSelect};
  return kKeyOps.contains(opcode);
}

std::optional<KeySort> KeySortOf(const HloInstruction& sort) {
  const HloInstruction* root = sort.called_computation()->root_instruction();
  if (root->opcode() != HloOpcode::kCompare) return std::nullopt;
  const CompareAttrs& compare = root->attrs<CompareAttrs>();
  if (compare.direction != ComparisonDirection::kLt && compare.direction != ComparisonDirection::kGt)
    return std::nullopt;
  KeySort r{.instruction = &sort,
            .key = root->operand(0),
            .descending = compare.direction == ComparisonDirection::kGt,
            .count = sort.operand_count()};
  if (!AreTwins(root->operand(0), root->operand(1), &r.key_array)) {
    // compare(y, x), LT sorts in descending order.
    if (!AreTwins(root->operand(1), root->operand(0), &r.key_array)) return std::nullopt;
    r.key = root->operand(1);
    r.descending = !r.descending;
  }
  const PrimitiveType type = r.key->shape().element_type();
  if (!IsOfKeyOps(r.key) || !HasOrderKey(type) ||
      (IsFloatingPointType(type) && compare.type != ComparisonType::kTotalOrder))
    return std::nullopt;
  const Shape& shape = sort.operand(0)->shape();
  const int64_t dimension = sort.attrs<SortAttrs>().dimensions[0];
  r.elements = ShapeUtil::ElementsIn(shape);
  r.length = shape.dimensions(dimension);
  for (int64_t d = dimension + 1; d < shape.rank(); ++d) r.stride *= shape.dimensions(d);
  const auto is_element = [](const HloInstruction* user) { return user->opcode() == HloOpcode::kGetTupleElement; };
  const bool by_element = r.count > 1 && !sort.IsRoot() && absl::c_all_of(sort.users(), is_element);
  r.is_read.assign(r.count, !by_element);
  for (const HloInstruction* user : sort.users()) {
    if (by_element) r.is_read[user->attrs<GetTupleElementAttrs>().index] = true;
  }
  return r;
}

bool KeySort::Generates(int64_t array) const {
  const HloInstruction& operand = *instruction->operand(array);
  return array != key_array && operand.opcode() == HloOpcode::kIota && IsIntegralType(operand.shape().element_type()) &&
         operand.attrs<IotaAttrs>().iota_dimension == instruction->attrs<SortAttrs>().dimensions[0];
}

bool IsGenerated(const HloInstruction& iota) {
  if (iota.opcode() != HloOpcode::kIota || iota.IsRoot()) return false;
  return absl::c_all_of(iota.users(), [&](const HloInstruction* user) {
    if (user->kernel() == nullptr || user->kernel()->kind != KernelKind::kRadixSort) return false;
    const std::optional<KeySort> sort = KeySortOf(*user);
    if (!sort.has_value()) return false;
    for (int64_t i = 0; i < sort->count; ++i) {
      if (user->operand(i) == &iota && !sort->Generates(i)) return false;
    }
    return true;
  });
}

int64_t KeySort::key_bits() const {
  const PrimitiveType type = key->shape().element_type();
  if (type == PRED) return 1;
  if (key->IsParameter() && IsIntegralType(type)) {
    const std::optional<ValueRange> range = ValueRangeOf(*instruction->operand(key_array));
    if (range.has_value()) return std::max<int64_t>(DifferentBits(*range, PrimitiveTypeBitWidth(type)), 1);
  }
  return 8 * (IsFloatingPointType(type) ? std::max(4, PrimitiveTypeByteSize(type)) : PrimitiveTypeByteSize(type));
}

int64_t TopKCellBytes(PrimitiveType type) { return PrimitiveTypeByteSize(type) > 4 ? 16 : 8; }

}  // namespace hilo::gpu
