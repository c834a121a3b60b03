#include "hlo/passes/partition/divider.h"

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/ir/hlo_verifier.h"
#include "hlo/ops/structure/custom_call_attributes.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/inline_computation.h"
#include "hlo/passes/make_instruction.h"

namespace hilo {
namespace {

// Instructions of a computation up to which calls are put in line.
constexpr int64_t kMaxInlined = 200000;
// Instructions of the copies of bodies that several loops or branches have.
constexpr int64_t kMaxSeparated = 200000;

// Makes the root state the sharding that `stated` has, the attributes of a call that was the root: what the call
// returned may be a parameter or a mark that states another one.
absl::Status StateOfRoot(HloComputation* computation, const AttributeText& stated) {
  HloInstruction* root = computation->root_instruction();
  const absl::string_view sharding = ExtraAttribute(stated, "sharding");
  if (sharding.empty() || ShardingOf(*root) == sharding) return absl::OkStatus();
  if (root->shape().IsTuple()) {
    std::vector<HloInstruction*> elements;
    for (int64_t i = 0; i < root->shape().tuple_shapes_size(); ++i) {
      auto attributes = std::make_unique<GetTupleElementAttrs>();
      attributes->index = i;
      HILO_ASSIGN_OR_RETURN(elements.emplace_back(),
                            computation->AddOp(HloOpcode::kGetTupleElement, {root}, std::move(attributes)));
    }
    HILO_ASSIGN_OR_RETURN(root, computation->AddOp(HloOpcode::kTuple, elements));
  } else {
    HILO_ASSIGN_OR_RETURN(root, computation->AddOp(HloOpcode::kCopy, {root}));
  }
  for (const auto& [name, text] : stated) root->add_extra_attribute(name, text);
  return computation->set_root_instruction(root);
}

}  // namespace

bool Divider::InlineCalls(HloComputation* computation) {
  bool changed = false;
  for (bool again = true; again;) {
    again = false;
    // Operands first, so that what dies with a call has been passed.
    for (HloInstruction* call : computation->MakePostOrder()) {
      if (call->opcode() != HloOpcode::kCall || computation->instruction_count() > kMaxInlined) continue;
      if (call->HasControlDependencies()) continue;
      const AttributeText stated = call->IsRoot() ? call->extra_attributes() : AttributeText();
      HloInstruction* root = InlineComputation(*call->called_computation(), call->operands(), computation);
      if (!computation->ReplaceInstruction(call, root).ok()) continue;
      StateOfRoot(computation, stated).IgnoreError();  // an array or a tuple can be copied
      again = changed = true;
    }
  }
  // An element of a tuple that a call returned is the value itself, which is divided as its users want it.
  for (HloInstruction* element : computation->MakePostOrder()) {
    if (!changed || element->opcode() != HloOpcode::kGetTupleElement || element == computation->root_instruction() ||
        element->operand(0)->opcode() != HloOpcode::kTuple || element->HasControlDependencies() ||
        element->operand(0)->HasControlDependencies() || !ShardingOf(*element).empty())
      continue;
    HloInstruction* const value = element->mutable_operand(0)->mutable_operand(element->tuple_index());
    computation->ReplaceInstruction(element, value).IgnoreError();  // else it stays
  }
  return changed;
}

bool Divider::SeparateBodies(HloModule* module) {
  std::vector<HloComputation*> reached = {module->entry_computation()};
  absl::flat_hash_set<const HloComputation*> seen = {module->entry_computation()};
  int64_t copied = 0;
  for (size_t i = 0; i < reached.size(); ++i) {
    for (HloInstruction* op : reached[i]->MakePostOrder()) {
      if (!HasTrait(op->opcode(), kControlFlow)) continue;
      for (size_t k = 0; k < op->called_computations().size(); ++k) {
        HloComputation* called = op->called_computations()[k];
        if (!seen.insert(called).second) {
          if (copied + called->instruction_count() > kMaxSeparated) continue;
          copied += called->instruction_count();
          called = module->CloneComputation(*called, "separate");
          op->set_called_computation(static_cast<int64_t>(k), called);
        }
        reached.push_back(called);
      }
    }
  }
  return copied > 0;
}

absl::Status Divider::CutParameter(TileWalk* walk, HloInstruction* parameter,
                                   const std::vector<TileAssignment>& tiles) {
  HloComputation* computation = parameter->parent();
  if (absl::c_all_of(tiles, [](const TileAssignment& one) { return one.IsWhole() && !one.reduction.has_value(); })) {
    walk->Set(parameter, {.whole = parameter});
    return absl::OkStatus();
  }
  if (!parameter->shape().IsTuple()) {
    HILO_RETURN_IF_ERROR(walk->Check(tiles[0]));
    HILO_ASSIGN_OR_RETURN(const Shape tile_shape, TileShape(parameter->shape(), tiles[0]));
    HILO_ASSIGN_OR_RETURN(HloInstruction * copy, computation->AddOp(HloOpcode::kCopy, {parameter}));
    const std::vector<HloInstruction*> users(parameter->users().begin(), parameter->users().end());
    for (HloInstruction* user : users) {
      for (int64_t i = 0; i < user->operand_count(); ++i) {
        if (user != copy && user->operand(i) == parameter) computation->ReplaceOperand(user, i, copy);
      }
    }
    if (parameter->IsRoot()) HILO_RETURN_IF_ERROR(computation->set_root_instruction(copy, true));
    *parameter->mutable_shape() = tile_shape;
    HILO_ASSIGN_OR_RETURN(HloInstruction * tile, walk->Reduce(parameter, tiles[0]));
    walk->Set(copy, DividedOf(tile, tiles[0].Reduced()));
    walk->SetAlias(parameter, copy);
    return absl::OkStatus();
  }
  // The elements are read again; their readers now get these, and readers of the tuple get one that is made of
  // them.
  for (size_t i = 0; i < tiles.size(); ++i) {
    HILO_ASSIGN_OR_RETURN(*parameter->mutable_shape()->mutable_tuple_shapes(static_cast<int64_t>(i)),
                          TileShape(parameter->shape().tuple_shapes(static_cast<int64_t>(i)), tiles[i]));
  }
  DividedValue value;
  for (size_t i = 0; i < tiles.size(); ++i) {
    HILO_ASSIGN_OR_RETURN(HloInstruction * element, MakeTupleElement(parameter, static_cast<int64_t>(i)));
    value.elements.push_back(std::make_shared<DividedValue>(DividedOf(element, tiles[i])));
  }
  walk->Set(parameter, std::move(value));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<HloInstruction*>> Divider::Visit(TileWalk* walk, int depth) {
  std::vector<HloInstruction*> order = walk->computation()->MakePostOrder();
  for (HloInstruction* instruction : order) {
    HILO_RETURN_IF_ERROR(context_.CheckNotCancelled());
    const HloInstruction* original = walk->OriginalOf(instruction);
    const ManualRegion* const region = regions_.Of(original);
    const bool is_within = region != nullptr && region->IsWithin(walk->region());
    // Of a computation that is called in several regions, what another one begins is nested.
    const bool is_nested = is_within ? regions_.IsNested(original) : region != nullptr;
    TileWalk* const here = is_within ? &walk->Within(*region) : walk;
    if (here->Has(instruction)) continue;
    const ManualRegion* const begun = regions_.OfEdge(original);
    const bool is_edge =
        begun != nullptr && !is_nested && here->region() == (CutsToLocal(*instruction) ? begun : begun->parent);
    if (here != walk && !is_edge) HILO_RETURN_IF_ERROR(here->TakeOperands(walk, instruction));
    here->SetVisited(instruction);
    const absl::Status done = is_edge ? VisitRegionEdge(walk, instruction, *begun) : Visit(here, instruction, depth);
    if (!done.ok()) return AddContext(done, InstructionContext(*instruction));
    if (is_nested && !CutsOrJoins(*instruction)) here->SetLocal(instruction);
  }
  walk->TakeNotesWithin();
  walk->SetVisited(nullptr);
  return order;
}

absl::Status Divider::Visit(TileWalk* walk, HloInstruction* instruction, int depth) {
  if (instruction->IsParameter()) {
    walk->Set(instruction, {.whole = instruction});
    return absl::OkStatus();
  }
  if (IsShardingMark(*instruction)) return VisitMark(walk, instruction);
  if (CutsOrJoins(*instruction)) return VisitEdge(walk, instruction);
  if (IsOnTiles(*instruction)) return VisitOnTiles(walk, instruction);
  if (const std::optional<int64_t> device = OnlyDeviceOf(*instruction); device.has_value())
    return VisitOnOneDevice(walk, instruction, *device);
  if (instruction->opcode() == HloOpcode::kOptimizationBarrier) return VisitBarrier(walk, instruction);
  if (MayDivide(*walk, *instruction, depth)) {
    HILO_ASSIGN_OR_RETURN(const bool divided, instruction->opcode() == HloOpcode::kWhile
                                                  ? VisitLoop(walk, instruction, depth)
                                                  : VisitBranches(walk, instruction, depth));
    if (divided) return absl::OkStatus();
  }
  HILO_RETURN_IF_ERROR(walk->Visit(instruction));
  if (HasTrait(instruction->opcode(), kControlFlow) && DiffersAmongPartitions(*instruction))
    walk->SetLocal(instruction);
  return absl::OkStatus();
}

// The mark states the sharding of an array from here on, or queries it.
absl::Status Divider::VisitMark(TileWalk* walk, HloInstruction* mark) const {
  HILO_RETURN_IF_ERROR(CheckMark(*mark));
  walk->SetAlias(mark, mark->operand(0));
  const DividedValue& value = walk->Get(mark->operand(0));
  if (!mark->shape().IsArray()) return absl::OkStatus();
  if (QueriesSharding(*mark))
    walk->Note(mark->attrs<CustomCallAttrs>().backend_config.text, walk->WantedOfDevices(*mark->operand(0)));
  if (!StatesSharding(*mark) || value.is_local) return absl::OkStatus();
  HILO_ASSIGN_OR_RETURN(const std::vector<StatedSharding> stated, meshes_.StatedBy(*mark, 1));
  const bool is_open = absl::c_linear_search(stated[0].is_open, true);
  if (walk->region() == nullptr) HILO_RETURN_IF_ERROR(walk->Check(stated[0].tiles.Reduced()));
  const TileAssignment tiles = walk->Wanted(*mark);
  if ((tiles.IsWhole() && !is_open) || walk->HasPaddedTilesOf(*mark)) return absl::OkStatus();
  HILO_ASSIGN_OR_RETURN(HloInstruction * part, walk->Tile(mark->operand(0), tiles));
  if (!tiles.IsWhole()) {
    walk->Set(mark, {.whole = value.whole, .tile = part, .tiles = tiles});  // the whole array, if there is one, is free
  } else if (is_open) {
    walk->Set(mark, DividedOf(part, tiles));
  }
  return absl::OkStatus();
}

absl::Status Divider::VisitRegionEdge(TileWalk* walk, HloInstruction* call, const ManualRegion& region) const {
  HILO_RETURN_IF_ERROR(CheckCount(*call));
  HILO_ASSIGN_OR_RETURN(const std::vector<TileAssignment> manual, meshes_.TilesOfCall(*call));
  TileWalk& inner = walk->Within(region);
  TileWalk& outer = region.parent == walk->region() ? *walk : walk->Within(*region.parent);
  const bool cuts = CutsToLocal(*call);
  if (TileWalk& of_operands = cuts ? outer : inner; &of_operands != walk)
    HILO_RETURN_IF_ERROR(of_operands.TakeOperands(walk, call));
  // Of devices, as tiles of what shares the outer array.
  const auto of_outer = [&](const TileAssignment& tiles) {
    return region.parent == nullptr ? tiles : region.parent->OfMembers(tiles.Reduced());
  };
  DividedValue value;
  for (int64_t i = 0; i < call->operand_count(); ++i) {
    HILO_RETURN_IF_ERROR(outer.Check(of_outer(manual[i])));
    const HloInstruction& local = cuts ? *call : *call->operand(i);
    TileAssignment tiles = inner.WantedOfDevices(local, cuts ? i : 0);  // of the local array, by the other axes
    if (manual[i].reduction.has_value()) tiles = TileAssignment();
    const Shape& given = call->operand(i)->shape();
    std::vector<TileCut> of_whole;
    for (int64_t d = 0; given.IsArray() && d < given.rank(); ++d)
      of_whole.push_back(Nested(CutOfDimension(manual[i], d), CutOfDimension(tiles, d)));
    const TileAssignment all = of_outer(TilesOfCuts(of_whole, partitions_));
    DividedValue element;
    if (cuts) {
      HILO_ASSIGN_OR_RETURN(const Shape expected, TileShape(given, manual[i].Reduced()));
      HILO_RETURN_IF_ERROR(CheckResult(*call, i, expected));
      HILO_ASSIGN_OR_RETURN(HloInstruction * tile, outer.Tile(call->operand(i), all));
      HILO_ASSIGN_OR_RETURN(tile, outer.PartOf(tile, of_outer(manual[i])));
      element = DividedOf(tile, region.OfMembers(tiles));
    } else {
      Shape whole = given;
      for (size_t d = 0; d < manual[i].counts.size() && static_cast<int64_t>(d) < whole.rank(); ++d)
        whole.set_dimensions(d, whole.dimensions(d) * manual[i].counts[d]);
      HILO_RETURN_IF_ERROR(TileShape(whole, manual[i]).status());
      HILO_RETURN_IF_ERROR(CheckResult(*call, i, whole));
      HILO_ASSIGN_OR_RETURN(HloInstruction * tile, inner.Tile(call->operand(i), region.OfMembers(tiles)));
      HILO_ASSIGN_OR_RETURN(tile, outer.Reduce(tile, of_outer(manual[i])));
      element = DividedOf(tile, all);
    }
    value.elements.push_back(std::make_shared<DividedValue>(std::move(element)));
  }
  (cuts ? inner : outer).Set(call, call->shape().IsTuple() ? std::move(value) : std::move(*value.elements[0]));
  return absl::OkStatus();
}

// The edge of a manual computation whose arrays are not divided.
absl::Status Divider::VisitEdge(TileWalk* walk, HloInstruction* call) const {
  HILO_RETURN_IF_ERROR(CheckCount(*call));
  HILO_ASSIGN_OR_RETURN(std::vector<TileAssignment> tiles, meshes_.TilesOfCall(*call));
  for (TileAssignment& one : tiles) {
    if (walk->region() != nullptr) one = walk->region()->OfMembers(one.Reduced());
  }
  DividedValue value;
  for (int64_t i = 0; i < call->operand_count(); ++i) {
    DividedValue element;
    HILO_RETURN_IF_ERROR(walk->Check(tiles[i]));
    if (CutsToLocal(*call)) {
      HILO_ASSIGN_OR_RETURN(HloInstruction * tile, walk->Tile(call->operand(i), tiles[i].Reduced()));
      HILO_ASSIGN_OR_RETURN(element.whole, walk->PartOf(tile, tiles[i]));
      element.is_local = true;
      HILO_RETURN_IF_ERROR(CheckResult(*call, i, element.whole->shape()));
    } else {
      HILO_ASSIGN_OR_RETURN(HloInstruction * local, walk->Whole(call->operand(i)));
      HILO_ASSIGN_OR_RETURN(local, walk->Reduce(local, tiles[i]));
      Shape whole = local->shape();
      for (size_t d = 0; d < tiles[i].counts.size() && static_cast<int64_t>(d) < whole.rank(); ++d)
        whole.set_dimensions(d, whole.dimensions(d) * tiles[i].counts[d]);
      HILO_RETURN_IF_ERROR(TileShape(whole, tiles[i]).status());
      HILO_RETURN_IF_ERROR(CheckResult(*call, i, whole));
      element = DividedOf(local, tiles[i].Reduced());
    }
    value.is_local |= element.is_local;
    value.elements.push_back(std::make_shared<DividedValue>(std::move(element)));
  }
  walk->Set(call, call->shape().IsTuple() ? std::move(value) : std::move(*value.elements[0]));
  return absl::OkStatus();
}

// What passes through is what every partition has.
absl::Status Divider::VisitBarrier(TileWalk* walk, HloInstruction* barrier) {
  const HloInstruction* operand = barrier->operand(0);
  const bool is_tuple = operand->shape().IsTuple();
  if (walk->Get(operand).is_local || (is_tuple && walk->Get(operand).elements.empty())) return walk->Visit(barrier);
  if (barrier->HasControlDependencies()) return walk->Visit(barrier);
  HILO_ASSIGN_OR_RETURN(const Leaves leaves, walk->LeavesOf(operand));
  std::vector<TileAssignment> tiles;
  for (const auto& leaf : leaves) tiles.push_back(leaf->tile != nullptr ? leaf->tiles : TileAssignment());
  HILO_ASSIGN_OR_RETURN(HloInstruction * value, walk->Pack(leaves, tiles, is_tuple));
  value = walk->computation()->AddInstruction(barrier->CloneWithNewOperands(value->shape(), {value}), barrier->name());
  return walk->SetDivided(barrier, value, tiles);
}

absl::Status Divider::RemoveReplaced(const TileWalk& walk, const std::vector<HloInstruction*>& visited) {
  for (auto it = visited.rbegin(); it != visited.rend(); ++it) {
    HloInstruction* instruction = *it;
    if (!instruction->IsDead() || instruction->IsParameter()) continue;
    const bool is_replaced = walk.Get(instruction).whole != instruction;
    // What is called may have effects.
    if (!is_replaced && (instruction->HasSideEffect() || !instruction->called_computations().empty())) continue;
    HILO_RETURN_IF_ERROR(walk.computation()->RemoveInstruction(instruction));
  }
  return absl::OkStatus();
}

}  // namespace hilo
