// Calls with effects that are not made on whole arrays by all devices. One that only one device shall make, such as of
// a Python function: it makes it, in a branch that the others do not take, and sends them the results. And one that
// each device makes of its own tiles.
#include <algorithm>
#include <numeric>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "hilo/literal.h"
#include "hilo/status_macros.h"
#include "hlo/ops/collective/collective_attributes.h"
#include "hlo/ops/structure/custom_call_attributes.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/make_instruction.h"
#include "hlo/passes/partition/divider.h"

namespace hilo {
namespace {

absl::StatusOr<HloInstruction*> AddParameter(HloComputation* computation, const Shape& shape) {
  return computation->AddOp(HloOpcode::kParameter, {}, std::make_unique<ParameterAttrs>(), {}, &shape);
}

// Makes the call of the elements of the parameter.
absl::StatusOr<HloComputation*> Caller(const HloInstruction& call, const Shape& operands) {
  HloComputation* computation = call.module()->AddComputation(absl::StrCat(call.name(), ".made"));
  HILO_ASSIGN_OR_RETURN(HloInstruction * parameter, AddParameter(computation, operands));
  std::vector<HloInstruction*> elements;
  for (int64_t i = 0; i < call.operand_count(); ++i) {
    HILO_ASSIGN_OR_RETURN(elements.emplace_back(), MakeTupleElement(parameter, i));
  }
  HILO_RETURN_IF_ERROR(computation->set_root_instruction(
      computation->AddInstruction(call.CloneWithNewOperands(call.shape(), elements), call.name()), true));
  return computation;
}

// Gives zeros instead.
absl::StatusOr<HloComputation*> NonCaller(const HloInstruction& call, const Shape& operands) {
  HloComputation* computation = call.module()->AddComputation(absl::StrCat(call.name(), ".awaited"));
  HILO_RETURN_IF_ERROR(AddParameter(computation, operands).status());
  std::vector<HloInstruction*> values;
  for (const ShapeUtil::Leaf& leaf : ShapeUtil::Leaves(call.shape())) {
    if (leaf.shape->IsToken()) {
      HILO_ASSIGN_OR_RETURN(values.emplace_back(), computation->AddOp(HloOpcode::kAfterAll, {}));
      continue;
    }
    HloInstruction* zero = computation->AddConstant(LiteralUtil::Zero(leaf.shape->element_type()));
    const Shape shape = ShapeUtil::MakeShape(leaf.shape->element_type(), leaf.shape->dimensions());
    HILO_ASSIGN_OR_RETURN(values.emplace_back(), computation->AddOp(HloOpcode::kBroadcast, {zero},
                                                                    std::make_unique<BroadcastAttrs>(), {}, &shape));
  }
  HloInstruction* root = values[0];
  if (call.shape().IsTuple()) {
    HILO_ASSIGN_OR_RETURN(root, computation->AddOp(HloOpcode::kTuple, values));
  }
  HILO_RETURN_IF_ERROR(computation->set_root_instruction(root, true));
  return computation;
}

}  // namespace

absl::Status Divider::VisitOnOneDevice(TileWalk* walk, HloInstruction* call, int64_t device) {
  const bool is_local =
      walk->region() != nullptr ||
      absl::c_any_of(call->operands(), [&](const HloInstruction* operand) { return walk->Get(operand).is_local; });
  const bool has_order = call->HasControlDependencies();
  if (is_local || has_order || device < 0 || device >= partitions_) return walk->Visit(call);
  HloComputation* computation = walk->computation();
  std::vector<HloInstruction*> operands;
  for (const HloInstruction* operand : call->operands()) {
    HILO_ASSIGN_OR_RETURN(operands.emplace_back(), walk->Whole(operand));
  }
  HILO_ASSIGN_OR_RETURN(HloInstruction * packed, computation->AddOp(HloOpcode::kTuple, operands));
  HILO_ASSIGN_OR_RETURN(HloComputation * caller, Caller(*call, packed->shape()));
  HILO_ASSIGN_OR_RETURN(HloComputation * non_caller, NonCaller(*call, packed->shape()));
  HILO_ASSIGN_OR_RETURN(HloInstruction * here, computation->AddOp(HloOpcode::kPartitionId, {}));
  HloInstruction* there = computation->AddConstant(LiteralUtil::CreateR0<uint32_t>(static_cast<uint32_t>(device)));
  HILO_ASSIGN_OR_RETURN(HloInstruction * is_here,
                        computation->AddOp(HloOpcode::kCompare, {here, there}, std::make_unique<CompareAttrs>()));
  HILO_ASSIGN_OR_RETURN(HloInstruction * made, computation->AddOp(HloOpcode::kConditional, {is_here, packed, packed},
                                                                  nullptr, {caller, non_caller}));
  std::vector<int64_t> group(partitions_);
  std::iota(group.begin(), group.end(), 0);
  std::rotate(group.begin(), group.begin() + device, group.end());
  const auto sent = [&](HloInstruction* value) -> absl::StatusOr<HloInstruction*> {
    if (!value->shape().IsArray()) return value;
    auto attributes = std::make_unique<CollectiveBroadcastAttrs>();
    attributes->channel_id = (*next_channel_)++;
    attributes->replica_groups.groups = {group};
    return computation->AddOp(HloOpcode::kCollectiveBroadcast, {value}, std::move(attributes));
  };
  DividedValue value;
  if (!call->shape().IsTuple()) {
    HILO_ASSIGN_OR_RETURN(value.whole, sent(made));
  }
  for (int64_t i = 0; call->shape().IsTuple() && i < call->shape().tuple_shapes_size(); ++i) {
    HILO_ASSIGN_OR_RETURN(HloInstruction * element, MakeTupleElement(made, i));
    DividedValue one;
    HILO_ASSIGN_OR_RETURN(one.whole, sent(element));
    value.elements.push_back(std::make_shared<DividedValue>(std::move(one)));
  }
  walk->Set(call, std::move(value));
  return absl::OkStatus();
}

bool Divider::IsOnTiles(const HloInstruction& call) {
  if (call.opcode() != HloOpcode::kCustomCall || !call.HasSideEffect() || call.HasControlDependencies()) return false;
  for (const ShapeUtil::Leaf& leaf : ShapeUtil::Leaves(call.shape())) {
    if (!leaf.shape->IsToken()) return false;
  }
  for (const HloInstruction* operand : call.operands()) {
    if (!operand->shape().IsArray() && !operand->shape().IsToken()) return false;
  }
  return FrontendAttribute(ExtraAttribute(call.extra_attributes(), "frontend_attributes"), "on_tiles") == "true";
}

absl::Status Divider::VisitOnTiles(TileWalk* walk, HloInstruction* call) {
  std::vector<HloInstruction*> operands;
  for (const HloInstruction* operand : call->operands()) {
    if (!operand->shape().IsArray() || walk->Get(operand).is_local) {
      HILO_ASSIGN_OR_RETURN(operands.emplace_back(), walk->Whole(operand));
      continue;
    }
    TileAssignment tiles = walk->Wanted(*operand);
    if (const DividedValue& now = walk->Get(operand); tiles.IsWhole() && now.tile != nullptr) tiles = now.tiles;
    HILO_ASSIGN_OR_RETURN(operands.emplace_back(), walk->Tile(operand, tiles));
  }
  HloInstruction* const made =
      walk->computation()->AddInstruction(call->CloneWithNewOperands(call->shape(), operands), call->name());
  OperandLayouts& layouts = made->mutable_attrs<CustomCallAttrs>().operand_layout_constraints;
  for (size_t i = 0; layouts.shapes.has_value() && i < layouts.shapes->size() && i < operands.size(); ++i) {
    Shape& shape = (*layouts.shapes)[i];
    for (int64_t d = 0; shape.IsArray() && d < shape.rank(); ++d)
      shape.set_dimensions(d, operands[i]->shape().dimensions(d));
  }
  walk->Set(call, {.whole = made});
  return absl::OkStatus();
}

}  // namespace hilo
