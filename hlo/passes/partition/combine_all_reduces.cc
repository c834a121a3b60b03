// One exchange for several small ones: all-reduces that wait for equally many others are not waiting for each other,
// and those of them that add up parts in the same groups become one of several arrays.
//
//   a = f32[4] all-reduce(x)          c = (f32[4], f32[8]) all-reduce(x, y)
//   b = f32[8] all-reduce(y)    =>    a = f32[4] get-tuple-element(c), index=0 ...
#include "hlo/passes/partition/combine_all_reduces.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/reduction_op.h"
#include "hlo/ops/collective/collective_attributes.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/make_instruction.h"

namespace hilo {
namespace {

// Larger arrays take their time anyway.
constexpr int64_t kMaxBytes = 256 << 10;

// What those have alike that can be combined; nothing of what stays alone.
std::optional<std::string> KindOf(const HloInstruction& op) {
  if (op.opcode() != HloOpcode::kAllReduce || op.operand_count() != 1 || !op.shape().IsArray() ||
      !op.shape().is_static())
    return std::nullopt;
  if (op.IsDead() || op.HasControlDependencies() || ShapeUtil::ByteSizeOf(op.shape()) > kMaxBytes) return std::nullopt;
  const std::optional<HloOpcode> reduction = ReductionOp(*op.called_computation());
  if (!reduction.has_value()) return std::nullopt;
  const AllReduceAttrs& attrs = op.attrs<AllReduceAttrs>();
  return absl::StrCat(HloOpcodeString(*reduction), " ", PrimitiveTypeName(op.shape().element_type()), " ",
                      attrs.channel_id.has_value(), " ", attrs.use_global_device_ids, " ",
                      FieldToText(attrs.replica_groups));
}

absl::Status Combine(const std::vector<HloInstruction*>& ops) {
  HloComputation* computation = ops[0]->parent();
  std::vector<HloInstruction*> operands;
  std::vector<Shape> shapes;
  for (HloInstruction* op : ops) {
    operands.push_back(op->mutable_operand(0));
    shapes.push_back(op->shape());
  }
  HloInstruction* combined =
      computation->AddInstruction(ops[0]->CloneWithNewOperands(Shape(shapes), operands), ops[0]->name());
  for (size_t i = 0; i < ops.size(); ++i) {
    HILO_ASSIGN_OR_RETURN(HloInstruction * element, MakeTupleElement(combined, static_cast<int64_t>(i)));
    HILO_RETURN_IF_ERROR(computation->ReplaceAllUsesWith(ops[i], element));
    HILO_RETURN_IF_ERROR(computation->RemoveInstruction(ops[i]));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<bool> CombineAllReduces(HloComputation* computation) {
  absl::flat_hash_map<const HloInstruction*, int64_t>
      waits;  // all-reduces one after the other, up to and with this one
  std::map<std::pair<int64_t, std::string>, std::vector<HloInstruction*>> alike;
  for (HloInstruction* op : computation->MakePostOrder()) {
    int64_t waited = 0;
    for (const auto& before : {op->operands(), op->control_predecessors()}) {
      for (const HloInstruction* other : before) waited = std::max(waited, waits.at(other));
    }
    std::optional<std::string> kind = KindOf(*op);
    if (kind.has_value()) alike[{++waited, std::move(*kind)}].push_back(op);
    waits[op] = waited;
  }
  bool changed = false;
  for (const auto& [kind, ops] : alike) {
    if (ops.size() < 2) continue;
    HILO_RETURN_IF_ERROR(Combine(ops));
    changed = true;
  }
  return changed;
}

}  // namespace hilo
