// A program with shardings becomes the program that each of its partitions runs.
//
// Parameters come as tiles, and what can be computed on tiles is (op_factors.h): tiles of the operands give the tile of the result, or a part of it that
// the partitions add up. What cannot is computed on whole arrays, which each partition gathers. Nothing is searched for: an array is cut as the arrays
// are that it comes from, unless the program says something else of it. So are results that are left open; others are whole.
//
//   x = f32[8,4] parameter(0), sharding={devices=[2,1]<=[2]}    =>   x = f32[4,4] parameter(0)
//   w = f32[4,4] parameter(1)                                        w = f32[4,4] parameter(1)
//   y = f32[8,4] dot(x, w)                                           y = f32[4,4] dot(x, w)
//   ROOT s = f32[4] reduce(y, 0), dimensions={0}                     p = f32[4] reduce(y, 0), dimensions={0}
//                                                                    ROOT s = f32[4] all-reduce(p)
//
// Bodies of manual computations, between the custom calls that cut an array into local shapes and those that join it, run as they are. Computations of
// loops and branches are not divided. A module that is scheduled, or tells how its results are cut, has been partitioned already; its shardings tell where it
// came from.
#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/errors.h"
#include "base/log_sink.h"
#include "base/status_macros.h"
#include "hlo/ir/hlo_verifier.h"
#include "hlo/ir/tile_assignment.h"
#include "hlo/ops/collective_attributes.h"
#include "hlo/ops/custom_call_attributes.h"
#include "hlo/ops/op_attributes.h"
#include "hlo/passes/inline_computation.h"
#include "hlo/passes/partition/tile_emitter.h"
#include "hlo/passes/partition/tile_walk.h"
#include "hlo/passes/standard_passes.h"

namespace hilo {
namespace {

// Instructions of the entry up to which calls are put in line.
constexpr int64_t kMostInlined = 200000;

using Meshes = absl::flat_hash_map<std::string, Mesh>;

absl::string_view TargetOf(const HloInstruction& instruction) {
  return instruction.opcode() == HloOpcode::kCustomCall ? absl::string_view(instruction.attrs<CustomCallAttrs>().custom_call_target) : "";
}

// Marks of shardings that say nothing to a program that computes on whole arrays.
bool IsMark(absl::string_view target) {
  return target == "Sharding" || target == "xla.sdy.FuncResultSharding" || target == "xla.sdy.PropagationBarrier" ||
         target == "xla.sdy.ShardingGroup" || target == "xla.sdy.ReshardOp";
}
bool Cuts(absl::string_view target) { return target == "SPMDFullToShardShape" || target == "xla.sdy.GlobalToLocalShape"; }
bool CutsOrJoins(absl::string_view target) { return Cuts(target) || target == "SPMDShardToFullShape" || target == "xla.sdy.LocalToGlobalShape"; }

absl::string_view ShardingOf(const HloInstruction& instruction) { return ExtraAttribute(instruction.extra_attributes(), "sharding"); }

class Partitioner : public HloPass {
 public:
  explicit Partitioner(std::vector<bool> open_results) : open_results_(std::move(open_results)) {}

  absl::string_view name() const override { return "partition"; }
  bool optional() const override { return false; }

  absl::StatusOr<bool> Run(HloModule* module) override {
    if (module->is_scheduled() || !ExtraAttribute(module->extra_attributes(), "spmd_output_sharding").empty() || !HasShardings(*module)) return false;
    partitions_ = module->num_partitions();
    HILO_RETURN_IF_ERROR(ReadModule(*module));
    bool changed = false;
    if (partitions_ > 1) changed |= InlineEntryCalls(module);
    for (HloComputation* computation : module->computations()) {
      if (partitions_ > 1 && computation->IsEntry()) continue;
      HILO_ASSIGN_OR_RETURN(const bool here, TakeOutShardings(computation));
      changed |= here;
    }
    if (partitions_ == 1) return changed;
    HILO_ASSIGN_OR_RETURN(const bool entry, DivideEntry(module));
    return changed || entry;
  }

 private:
  static bool HasShardings(const HloModule& module) {
    for (const HloComputation* computation : module.computations()) {
      for (const HloInstruction* instruction : computation->instructions()) {
        const absl::string_view target = TargetOf(*instruction);
        if (IsMark(target) || CutsOrJoins(target)) return true;
        if (computation->IsEntry() && absl::StrContains(ShardingOf(*instruction), "devices=")) return true;
      }
    }
    return false;
  }

  absl::Status ReadModule(const HloModule& module) {
    next_channel_ = 1;
    for (const HloComputation* computation : module.computations()) {
      for (const HloInstruction* instruction : computation->instructions()) {
        if (instruction->attributes() == nullptr || !HasTrait(instruction->opcode(), kPerDevice)) continue;
        int64_t channel;
        if (absl::SimpleAtoi(ExtraAttribute(instruction->attributes()->ToText(), "channel_id"), &channel) && channel < int64_t{1} << 40) {
          next_channel_ = std::max(next_channel_, channel + 1);
        }
      }
    }
    meshes_.clear();
    const std::string meshes = FrontendAttribute(ExtraAttribute(module.extra_attributes(), "frontend_attributes"), "xla.sdy.meshes");
    if (meshes.empty()) return absl::OkStatus();
    HILO_ASSIGN_OR_RETURN(meshes_, MeshesFromText(meshes));
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<TileAssignment>> SdyTiles(const HloInstruction& instruction, absl::string_view key) const {
    const absl::string_view attributes = ExtraAttribute(instruction.extra_attributes(), "frontend_attributes");
    std::optional<std::vector<std::string>> manual;
    if (const std::string axes = FrontendAttribute(attributes, "xla.sdy.manual_axes"); !axes.empty()) {
      HILO_ASSIGN_OR_RETURN(manual, ManualAxesFromText(axes));
    }
    return TileAssignmentsFromSdy(FrontendAttribute(attributes, key), meshes_, manual);
  }

  // Where each operand (of what cuts) or result (of what joins) is cut.
  absl::StatusOr<std::vector<TileAssignment>> TilesOfCall(const HloInstruction& call) const {
    const absl::string_view target = TargetOf(call);
    std::vector<TileAssignment> tiles;
    if (absl::StartsWith(target, "xla.sdy.")) {
      HILO_ASSIGN_OR_RETURN(tiles, SdyTiles(call, Cuts(target) ? "xla.sdy.in_shardings" : "xla.sdy.out_shardings"));
    } else {
      // What cuts an array reads the mark on its operand.
      const absl::string_view sharding = ShardingOf(Cuts(target) && call.operand_count() == 1 ? *call.operand(0) : call);
      HILO_ASSIGN_OR_RETURN(tiles, TileAssignmentsFromHlo(sharding, 1));
    }
    if (static_cast<int64_t>(tiles.size()) != call.operand_count()) {
      return InvalidArgument(target, ": expected a sharding for each of ", call.operand_count(), " operands, got ", tiles.size());
    }
    return tiles;
  }

  static absl::Status CheckShape(const HloInstruction& call, int64_t i, const Shape& shape) {
    const bool is_tuple = call.shape().IsTuple();
    if (is_tuple ? i < call.shape().tuple_shapes_size() && ShapeUtil::Compatible(shape, call.shape().tuple_shapes(i))
                 : i == 0 && ShapeUtil::Compatible(shape, call.shape())) {
      return absl::OkStatus();
    }
    return InvalidArgument(TargetOf(call), ": the shardings give ", shape.ToString(), ", but the call states ", call.shape().ToString());
  }
  static absl::Status CheckCount(const HloInstruction& call) {
    const int64_t results = call.shape().IsTuple() ? call.shape().tuple_shapes_size() : 1;
    if (results == call.operand_count()) return absl::OkStatus();
    return InvalidArgument(TargetOf(call), ": expected as many results as operands, got ", results, " and ", call.operand_count());
  }

  // --- computations other than the entry: on whole arrays ---
  absl::StatusOr<bool> TakeOutShardings(HloComputation* computation) {
    bool changed = false;
    for (HloInstruction* instruction : computation->instructions()) {
      if (!CutsOrJoins(TargetOf(*instruction))) continue;
      // Only an error leaves the instruction where it is.
      if (const absl::Status done = CutOrJoin(instruction); !done.ok()) return AddContext(done, InstructionContext(*instruction));
      changed = true;
    }
    for (HloInstruction* instruction : computation->instructions()) {
      if (!IsMark(TargetOf(*instruction)) || instruction->operand_count() != 1) continue;
      HILO_RETURN_IF_ERROR(CheckMark(*instruction));
      HILO_RETURN_IF_ERROR(computation->ReplaceInstruction(instruction, instruction->mutable_operand(0)));
      changed = true;
    }
    return changed;
  }

  absl::Status CutOrJoin(HloInstruction* call) {
    HloComputation* computation = call->parent();
    HILO_RETURN_IF_ERROR(CheckCount(*call));
    HILO_ASSIGN_OR_RETURN(const std::vector<TileAssignment> tiles, TilesOfCall(*call));
    TileEmitter emitter(computation, partitions_, &next_channel_);
    std::vector<HloInstruction*> values;
    for (int64_t i = 0; i < call->operand_count(); ++i) {
      HloInstruction* operand = call->mutable_operand(i);
      HILO_ASSIGN_OR_RETURN(values.emplace_back(), Cuts(TargetOf(*call)) ? emitter.Cut(operand, tiles[i]) : emitter.Join(operand, tiles[i]));
      HILO_RETURN_IF_ERROR(CheckShape(*call, i, values.back()->shape()));
    }
    HloInstruction* result = values.empty() ? nullptr : values[0];
    if (call->shape().IsTuple()) {
      HILO_ASSIGN_OR_RETURN(result, computation->AddOp(HloOpcode::kTuple, values));
    }
    HILO_RETURN_IF_ERROR(computation->ReplaceAllUsesWith(call, result));
    return computation->RemoveInstruction(call);
  }

  static absl::Status CheckMark(const HloInstruction& mark) {
    if (ShapeUtil::Compatible(mark.shape(), mark.operand(0)->shape())) return absl::OkStatus();
    return AddContext(InvalidArgument("a mark of a sharding has the shape of its operand"), InstructionContext(mark));
  }

  // --- the entry ---
  // Calls hide how arrays hang together. False if there are none.
  static bool InlineEntryCalls(HloModule* module) {
    HloComputation* entry = module->entry_computation();
    bool changed = false;
    for (bool again = true; again;) {
      again = false;
      for (HloInstruction* call : entry->instructions()) {
        if (call->opcode() != HloOpcode::kCall || entry->instruction_count() > kMostInlined) continue;
        if (!call->control_predecessors().empty() || !call->control_successors().empty()) continue;
        HloInstruction* root = InlineComputation(*call->called_computation(), call->operands(), entry);
        if (!entry->ReplaceInstruction(call, root).ok()) continue;
        again = changed = true;
      }
    }
    return changed;
  }

  absl::StatusOr<bool> DivideEntry(HloModule* module) {
    HloComputation* entry = module->entry_computation();
    TileWalk walk(entry, partitions_, &next_channel_);
    ProgramShape shape = module->EntryProgramShape();
    for (int64_t i = 0; i < entry->num_parameters(); ++i) {
      HloInstruction* parameter = entry->parameter_instruction(i);
      if (absl::Status done = CutParameter(&walk, parameter, &shape.parameters[i]); !done.ok()) return AddContext(done, InstructionContext(*parameter));
    }
    const std::vector<HloInstruction*> order = entry->MakePostOrder();
    for (HloInstruction* instruction : order) {
      if (walk.Has(instruction)) continue;
      if (absl::Status done = Visit(&walk, instruction); !done.ok()) return AddContext(done, InstructionContext(*instruction));
    }
    auto result = Result(&walk, entry->root_instruction(), &shape.result);
    if (!result.ok()) return AddContext(result.status(), InstructionContext(*entry->root_instruction()));
    HILO_RETURN_IF_ERROR(entry->set_root_instruction(*result, true));
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      if ((*it)->IsDead() && !(*it)->IsParameter() && (!(*it)->HasSideEffect() || IsMark(TargetOf(**it)) || CutsOrJoins(TargetOf(**it))))
        HILO_RETURN_IF_ERROR(entry->RemoveInstruction(*it));
    }
    module->set_entry_computation_layout(shape);
    // A result that is no longer of its parameter's shape cannot take its place.
    auto& aliases = module->input_output_aliases();
    aliases.erase(std::remove_if(aliases.begin(), aliases.end(),
                                 [&](const InputOutputAlias& alias) {
                                   const Shape& from = ShapeUtil::GetSubshape(shape.parameters[alias.parameter_number], alias.parameter_index);
                                   return !ShapeUtil::Compatible(from, ShapeUtil::GetSubshape(shape.result, alias.output_index));
                                 }),
                  aliases.end());
    if (walk.gathered_count() > 0) {
      LogWarning(module->name(), ": every partition gathers ", walk.gathered_count(), " sharded arrays whole, the first of them for ",
                 walk.first_gatherer().empty() ? "the result" : walk.first_gatherer(), ", which is not divided");
    }
    return true;
  }

  absl::Status Visit(TileWalk* walk, HloInstruction* instruction) {
    if (instruction->IsParameter()) {
      walk->Set(instruction, {.whole = instruction});
      return absl::OkStatus();
    }
    const absl::string_view target = TargetOf(*instruction);
    if (IsMark(target) && instruction->operand_count() == 1) return VisitMark(walk, instruction);
    if (!CutsOrJoins(target)) return walk->Visit(instruction);
    HILO_RETURN_IF_ERROR(CheckCount(*instruction));
    HILO_ASSIGN_OR_RETURN(const std::vector<TileAssignment> tiles, TilesOfCall(*instruction));
    DividedValue value;
    for (int64_t i = 0; i < instruction->operand_count(); ++i) {
      DividedValue element;
      if (Cuts(target)) {
        HILO_ASSIGN_OR_RETURN(element.whole, walk->Tile(instruction->operand(i), tiles[i]));
        element.is_local = true;
        HILO_RETURN_IF_ERROR(CheckShape(*instruction, i, element.whole->shape()));
      } else {
        HILO_ASSIGN_OR_RETURN(HloInstruction * local, walk->Whole(instruction->operand(i)));
        Shape whole = local->shape();
        for (size_t d = 0; d < tiles[i].counts.size() && static_cast<int64_t>(d) < whole.rank(); ++d)
          whole.set_dimensions(d, whole.dimensions(d) * tiles[i].counts[d]);
        HILO_RETURN_IF_ERROR(TileShape(whole, tiles[i]).status());
        HILO_RETURN_IF_ERROR(CheckShape(*instruction, i, whole));
        (tiles[i].IsWhole() ? element.whole : element.tile) = local;
        element.tiles = tiles[i];
      }
      value.is_local |= element.is_local;
      value.elements.push_back(std::make_shared<DividedValue>(std::move(element)));
    }
    walk->Set(instruction, instruction->shape().IsTuple() ? std::move(value) : std::move(*value.elements[0]));
    return absl::OkStatus();
  }

  // A sharded parameter becomes its tile. Its users keep a copy of the whole in its place, which nobody needs at the end.
  absl::Status CutParameter(TileWalk* walk, HloInstruction* parameter, Shape* shape) const {
    const absl::string_view sharding = ShardingOf(*parameter);
    if (!absl::StrContains(sharding, "devices=")) return absl::OkStatus();
    HILO_ASSIGN_OR_RETURN(const auto tiles, TileAssignmentsFromHlo(sharding, static_cast<int64_t>(ShapeUtil::Leaves(parameter->shape()).size())));
    if (absl::c_all_of(tiles, [](const TileAssignment& one) { return one.IsWhole(); })) return absl::OkStatus();
    if (!parameter->shape().IsArray()) return Unimplemented("sharded parameters that are tuples");
    if (static_cast<int64_t>(tiles[0].tile_of.size()) != partitions_)
      return InvalidArgument("the sharding is for ", tiles[0].tile_of.size(), " devices, but the program has ", partitions_, " partitions");
    HILO_ASSIGN_OR_RETURN(*shape, TileShape(*shape, tiles[0]));
    HILO_ASSIGN_OR_RETURN(const Shape tile_shape, TileShape(parameter->shape(), tiles[0]));
    HloComputation* entry = parameter->parent();
    const std::vector<HloInstruction*> users(parameter->users().begin(), parameter->users().end());
    HILO_ASSIGN_OR_RETURN(HloInstruction * copy, entry->AddOp(HloOpcode::kCopy, {parameter}));
    for (HloInstruction* user : users) {
      for (int64_t i = 0; i < user->operand_count(); ++i) {
        if (user->operand(i) == parameter) entry->ReplaceOperand(user, i, copy);
      }
    }
    if (parameter->IsRoot()) HILO_RETURN_IF_ERROR(entry->set_root_instruction(copy, true));
    *parameter->mutable_shape() = tile_shape;
    walk->Set(copy, {.tile = parameter, .tiles = tiles[0]});
    return absl::OkStatus();
  }

  // The program says how an array is to be cut from here on.
  static absl::Status VisitMark(TileWalk* walk, HloInstruction* mark) {
    HILO_RETURN_IF_ERROR(CheckMark(*mark));
    walk->SetAlias(mark, mark->operand(0));
    const absl::string_view sharding = ShardingOf(*mark);
    const DividedValue& value = walk->Get(mark->operand(0));
    if (TargetOf(*mark) != "Sharding" || value.is_local || !mark->shape().IsArray()) return absl::OkStatus();
    if (absl::StrContains(sharding, "replicated}") && !absl::StrContains(sharding, "devices=")) return walk->Whole(mark->operand(0)).status();
    if (!absl::StrContains(sharding, "devices=")) return absl::OkStatus();
    HILO_ASSIGN_OR_RETURN(const auto tiles, TileAssignmentsFromHlo(sharding, 1));
    if (tiles[0].IsWhole() || !TileShape(mark->shape(), tiles[0]).ok()) return absl::OkStatus();
    HILO_ASSIGN_OR_RETURN(HloInstruction * tile, walk->Tile(mark->operand(0), tiles[0]));
    walk->Set(mark, {.tile = tile, .tiles = tiles[0]});
    return absl::OkStatus();
  }

  absl::StatusOr<HloInstruction*> Result(TileWalk* walk, HloInstruction* root, Shape* shape) {
    std::string sharding(ShardingOf(*root));
    // What a mark says of a result, the result keeps.
    for (const HloInstruction* at = root; sharding.empty() && IsMark(TargetOf(*at)) && at->operand_count() == 1; at = at->operand(0))
      sharding = std::string(ShardingOf(*at->operand(0)));
    const auto leaves = static_cast<int64_t>(ShapeUtil::Leaves(root->shape()).size());
    std::vector<TileAssignment> tiles(leaves);
    if (absl::StrContains(sharding, "devices=")) {
      HILO_ASSIGN_OR_RETURN(tiles, TileAssignmentsFromHlo(sharding, leaves));
    }
    HILO_RETURN_IF_ERROR(ChooseTiles(walk, root, &tiles));
    if (absl::c_all_of(tiles, [](const TileAssignment& one) { return one.IsWhole(); })) return walk->Whole(root);
    if (root->shape().IsArray()) {
      HILO_ASSIGN_OR_RETURN(*shape, TileShape(*shape, tiles[0]));
      return walk->Tile(root, tiles[0]);
    }
    if (static_cast<int64_t>(tiles.size()) != root->shape().tuple_shapes_size()) return Unimplemented("sharded results in nested tuples");
    HILO_ASSIGN_OR_RETURN(const std::vector<std::shared_ptr<DividedValue>> elements, walk->Elements(root));
    std::vector<HloInstruction*> values;
    for (int64_t i = 0; i < root->shape().tuple_shapes_size(); ++i) {
      HILO_ASSIGN_OR_RETURN(values.emplace_back(), walk->Tile(*elements[i], tiles[i]));
      HILO_ASSIGN_OR_RETURN(*shape->mutable_tuple_shapes(i), TileShape(shape->tuple_shapes(i), tiles[i]));
    }
    return root->parent()->AddOp(HloOpcode::kTuple, values);
  }

  // Results that are open stay cut as they are. The module says then how its results are cut.
  absl::Status ChooseTiles(TileWalk* walk, HloInstruction* root, std::vector<TileAssignment>* tiles) const {
    if (open_results_.size() != tiles->size() || !absl::c_linear_search(open_results_, true)) return absl::OkStatus();
    if (!root->shape().IsArray() && root->shape().tuple_shapes_size() != static_cast<int64_t>(tiles->size())) return absl::OkStatus();
    std::vector<const DividedValue*> values;
    std::vector<std::shared_ptr<DividedValue>> elements;
    if (root->shape().IsArray()) {
      values.push_back(&walk->Get(root));
    } else {
      HILO_ASSIGN_OR_RETURN(elements, walk->Elements(root));
      for (const auto& element : elements) values.push_back(element.get());
    }
    for (size_t i = 0; i < tiles->size(); ++i) {
      if (open_results_[i]) (*tiles)[i] = values[i]->tile != nullptr && !values[i]->is_local ? values[i]->tiles : TileAssignment();
    }
    const std::string text = absl::StrJoin(*tiles, ", ", [](std::string* out, const TileAssignment& one) { absl::StrAppend(out, TileAssignmentToHlo(one)); });
    root->parent()->parent()->extra_attributes().emplace_back("spmd_output_sharding", root->shape().IsArray() ? text : absl::StrCat("{", text, "}"));
    return absl::OkStatus();
  }

  const std::vector<bool> open_results_;
  int64_t partitions_ = 1, next_channel_ = 1;
  Meshes meshes_;
};

}  // namespace

std::unique_ptr<HloPass> MakePartitioner(std::vector<bool> open_results) { return std::make_unique<Partitioner>(std::move(open_results)); }

}  // namespace hilo
