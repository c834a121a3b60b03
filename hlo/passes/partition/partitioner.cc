// Converts a program with shardings to the program that each of its partitions runs.
//
// Parameters are tiles, and all ops that can be computed on tiles are (op_factors.h): tiles of the operands give the
// tile of the result, or a part of it that the partitions sum up. Other ops are computed on whole arrays, which every
// partition gathers. Which sharding an array should have is propagated before (propagate_shardings.h); open parameters
// and results get that, others that are not stated are whole. Each op is divided in the way that exchanges the fewest
// bytes (tile_walk.h).
//
//   x = f32[8,4] parameter(0), sharding={devices=[2,1]<=[2]}    =>   x = f32[4,4] parameter(0)
//   w = f32[4,4] parameter(1)                                        w = f32[4,4] parameter(1)
//   y = f32[8,4] dot(x, w)                                           y = f32[4,4] dot(x, w)
//   ROOT s = f32[4] reduce(y, 0), dimensions={0}                     p = f32[4] reduce(y, 0),
//   dimensions={0}
//                                                                    ROOT s = f32[4] all-reduce(p)
//
// Bodies of manual computations, between the custom calls that split an array into local shapes and those that join it,
// run as they are, but for axes that are not manual: these divide the local arrays (manual_regions.h). Loops and
// branches are partitioned too (divide_control_flow.cc), or computed on whole arrays. A module that is scheduled, that
// states the shardings of its results, or has is_spmd_partitioned=true, has been partitioned already; its shardings
// describe its origin.
#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/errors.h"
#include "base/log_sink.h"
#include "hilo/status_macros.h"
#include "hlo/ir/hlo_verifier.h"
#include "hlo/ir/tile_assignment.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/partition/combine_all_reduces.h"
#include "hlo/passes/partition/constraints.h"
#include "hlo/passes/partition/divider.h"
#include "hlo/passes/partition/propagate_shardings.h"
#include "hlo/passes/partition/split_constants.h"
#include "hlo/passes/partition/sum_after_loop.h"
#include "hlo/passes/partition/sum_before_exchange.h"
#include "hlo/passes/partition/tile_emitter.h"
#include "hlo/passes/partition/tile_walk.h"
#include "hlo/passes/standard_passes.h"

namespace hilo {
namespace {

constexpr absl::string_view kPartitionedAttribute = "is_spmd_partitioned";

// Instructions that a warning names.
constexpr size_t kMaxNamed = 16;

bool IsPartitioned(const HloModule& module) {
  return module.is_scheduled() || !ExtraAttribute(module.extra_attributes(), "spmd_output_sharding").empty() ||
         ExtraAttribute(module.extra_attributes(), kPartitionedAttribute) == "true";
}

// Whether the instruction only occurs in the program of a partition: it reads the partition's number, or
// exchanges data between partitions. A number that custom calls alone read chooses no data: a call of the host has it
// so that one partition makes it.
bool IsOfOnePartition(const HloInstruction& instruction) {
  if (instruction.opcode() == HloOpcode::kPartitionId) {
    return !absl::c_all_of(instruction.users(),
                           [](const HloInstruction* user) { return user->opcode() == HloOpcode::kCustomCall; });
  }
  return HasTrait(instruction.opcode(), kPerDevice) && instruction.attributes() != nullptr &&
         !ExtraAttribute(instruction.attributes()->ToText(), "channel_id").empty();
}

// A program over whole arrays talks between partitions in manual computations alone. One without these that does so all
// the same, and has sharded parameters, has most likely been partitioned before, and its tiles would be cut once more.
void WarnIfPartitioned(const HloModule& module) {
  if (module.num_partitions() <= 1) return;
  const HloInstruction* found = nullptr;
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      if (CutsOrJoins(*instruction)) return;
      if (found == nullptr && IsOfOnePartition(*instruction)) found = instruction;
    }
  }
  if (found == nullptr) return;
  const HloComputation& entry = *module.entry_computation();
  for (int64_t i = 0; i < entry.num_parameters(); ++i) {
    if (!absl::StrContains(ShardingOf(*entry.parameter_instruction(i)), "devices=")) continue;
    LogWarning(module.name(), " has a sharded parameter, and its ", HloOpcodeString(found->opcode()), " ",
               found->name(),
               " is of the kind that partitioned programs have: if its shapes are those of one partition, compile it "
               "as partitioned (",
               kPartitionedAttribute, "=true in the module's header, CompileOptions::partitioned, --partitioned)");
    return;
  }
}

// A bitcast means what the layouts of its operand and result say, and tiles have layouts of their own.
absl::Status RefuseBitcastsOfLayouts(const HloModule& module) {
  const auto is_default = [](const Shape& shape) {
    return !shape.IsArray() || !shape.has_layout() || LayoutUtil::IsDefault(shape.layout());
  };
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      if (instruction->opcode() != HloOpcode::kBitcast) continue;
      if (is_default(instruction->shape()) && is_default(instruction->operand(0)->shape())) continue;
      return Unimplemented("a bitcast of an array that is not row-major cannot be partitioned",
                           InstructionContext(*instruction));
    }
  }
  return absl::OkStatus();
}

// The value that the instruction returns in another shape, or null: a reshape, or a broadcast that adds dimensions of
// size 1.
HloInstruction* Reshaped(const HloInstruction& instruction) {
  if (instruction.opcode() != HloOpcode::kReshape && instruction.opcode() != HloOpcode::kBroadcast) return nullptr;
  const Shape &shape = instruction.shape(), &operand = instruction.operand(0)->shape();
  if (!shape.is_static() || !operand.is_static() || instruction.HasControlDependencies() ||
      !ShardingOf(instruction).empty() || ShapeUtil::ElementsIn(shape) != ShapeUtil::ElementsIn(operand))
    return nullptr;
  if (instruction.opcode() == HloOpcode::kBroadcast &&
      !absl::c_is_sorted(instruction.attrs<BroadcastAttrs>().dimensions))
    return nullptr;
  return const_cast<HloInstruction&>(instruction).mutable_operand(0);
}

// Chains of reshapes that end in the shape with which they begin change nothing: jnp.pad repeats the border of an array
// by such ones, between moves that are divided together (visit_moves.cc).
absl::Status TakeOutReshapes(HloComputation* computation) {
  constexpr int kLongest = 8;
  for (HloInstruction* last : computation->MakePostOrder()) {
    if (last->opcode() != HloOpcode::kReshape || last->IsRoot()) continue;
    HloInstruction* value = Reshaped(*last);
    for (int i = 0; i < kLongest && value != nullptr; ++i) {
      if (ShapeUtil::Compatible(value->shape(), last->shape())) {
        HILO_RETURN_IF_ERROR(computation->ReplaceAllUsesWith(last, value));
        break;
      }
      value = Reshaped(*value);
    }
  }
  for (HloInstruction* dead : computation->MakePostOrder()) {
    if (dead->IsDead() && Reshaped(*dead) != nullptr)
      HILO_RETURN_IF_ERROR(computation->RemoveInstructionAndUnusedOperands(dead));
  }
  return absl::OkStatus();
}

// Whether the partitions have something else than the whole array.
bool IsDivided(const TileAssignment& tiles) { return !tiles.IsWhole() || tiles.reduction.has_value(); }

// Warns of instructions that are not divided as they should be; all of them are named on the level of information.
void Warn(const HloModule& module, absl::string_view what, absl::Span<const std::string> names) {
  if (names.empty()) return;
  const absl::Span<const std::string> first = names.subspan(0, kMaxNamed);
  LogWarning(module.name(), ": ", what, " ", absl::StrJoin(first, ", "), names.size() > kMaxNamed ? ", ..." : "");
  if (names.size() > kMaxNamed) LogInfo(module.name(), ": ", what, " ", absl::StrJoin(names, ", "));
}

// "add.3 (f32[10] into 2 instead of 4 along dimension 0)" for each array that its sharding does not divide.
std::vector<std::pair<const HloInstruction*, std::string>> NotDivided(const HloModule& module,
                                                                      const PropagatedShardings& wanted) {
  std::vector<std::pair<const HloInstruction*, std::string>> names;
  if (!LogSinkIsSet()) return names;
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      // Tuples and their elements are arrays of other instructions.
      if (!instruction->shape().IsArray() || instruction->opcode() == HloOpcode::kGetTupleElement) continue;
      const TileAssignment tiles = wanted.Of(instruction);
      if (tiles.IsWhole()) continue;
      const Shape& shape = instruction->shape();
      const TileAssignment divides = DividingTiles(shape, tiles, module.num_partitions());
      for (int64_t d = 0; d < shape.rank(); ++d) {
        const int64_t count = divides.IsWhole() ? 1 : divides.counts[d];
        if (count == tiles.counts[d]) continue;
        names.emplace_back(instruction, absl::StrCat(instruction->name(), " (", shape.ToString(), " into ", count,
                                                     " instead of ", tiles.counts[d], " along dimension ", d, ")"));
      }
    }
  }
  return names;
}

class Partitioner : public HloPass {
 public:
  Partitioner(OpenValues open, std::vector<ShardingNote>* notes) : open_(std::move(open)), notes_(notes) {}

  absl::string_view name() const override { return "partition"; }
  bool optional() const override { return false; }

  absl::StatusOr<bool> Run(HloModule* module, const PassContext& context) override {
    if (IsPartitioned(*module) || !HasShardingMarks(*module->entry_computation())) return false;
    partitions_ = module->num_partitions();
    WarnIfPartitioned(*module);
    HILO_RETURN_IF_ERROR(ReadModule(*module));
    bool changed = false;
    if (partitions_ > 1) {
      for (HloComputation* computation : module->computations()) {
        changed |= Divider::InlineCalls(computation);
        HILO_RETURN_IF_ERROR(RemoveOpenMarks(computation, meshes_));
        HILO_RETURN_IF_ERROR(TakeOutReshapes(computation));
        HILO_ASSIGN_OR_RETURN(const bool split, SplitConstants(computation));
        changed |= split;
      }
      changed |= Divider::SeparateBodies(module);
      HILO_ASSIGN_OR_RETURN(const bool divided, DivideEntry(module, context));
      changed |= divided;
    }
    // What has not been divided computes on whole arrays.
    for (HloComputation* computation : module->computations()) {
      HILO_ASSIGN_OR_RETURN(const bool here, TakeOutShardings(computation));
      changed |= here;
    }
    return changed;
  }

 private:
  absl::Status ReadModule(const HloModule& module) {
    next_channel_ = 1;
    for (const HloComputation* computation : module.computations()) {
      for (const HloInstruction* instruction : computation->instructions()) {
        if (instruction->attributes() == nullptr || !HasTrait(instruction->opcode(), kPerDevice)) continue;
        int64_t channel;
        if (absl::SimpleAtoi(ExtraAttribute(instruction->attributes()->ToText(), "channel_id"), &channel) &&
            channel < int64_t{1} << 40) {
          next_channel_ = std::max(next_channel_, channel + 1);
        }
      }
    }
    return meshes_.Read(module);
  }

  // --- computations other than the entry: on whole arrays ---
  absl::StatusOr<bool> TakeOutShardings(HloComputation* computation) {
    bool changed = false;
    for (HloInstruction* instruction : computation->instructions()) {
      if (!CutsOrJoins(*instruction)) continue;
      // Only an error leaves the instruction where it is.
      if (const absl::Status done = CutOrJoin(instruction); !done.ok())
        return AddContext(done, InstructionContext(*instruction));
      changed = true;
    }
    // Operands first, so that what dies with a mark has been passed.
    for (HloInstruction* instruction : computation->MakePostOrder()) {
      if (!IsShardingMark(*instruction)) continue;
      HILO_RETURN_IF_ERROR(CheckMark(*instruction));
      HILO_RETURN_IF_ERROR(computation->ReplaceInstruction(instruction, instruction->mutable_operand(0)));
      changed = true;
    }
    return changed;
  }

  absl::Status CutOrJoin(HloInstruction* call) {
    HloComputation* computation = call->parent();
    HILO_RETURN_IF_ERROR(CheckCount(*call));
    HILO_ASSIGN_OR_RETURN(const std::vector<TileAssignment> tiles, meshes_.TilesOfCall(*call));
    TileEmitter emitter(computation, nullptr, &next_channel_);
    std::vector<HloInstruction*> values;
    for (int64_t i = 0; i < call->operand_count(); ++i) {
      HloInstruction* operand = call->mutable_operand(i);
      if (CutsToLocal(*call)) {
        HILO_ASSIGN_OR_RETURN(HloInstruction * tile, emitter.Cut(operand, tiles[i]));
        HILO_ASSIGN_OR_RETURN(values.emplace_back(), emitter.PartOf(tile, tiles[i]));
      } else {
        HILO_ASSIGN_OR_RETURN(HloInstruction * tile, emitter.Reduce(operand, tiles[i]));
        HILO_ASSIGN_OR_RETURN(values.emplace_back(), emitter.Join(tile, tiles[i]));
      }
      HILO_RETURN_IF_ERROR(CheckResult(*call, i, values.back()->shape()));
    }
    HloInstruction* result = values.empty() ? nullptr : values[0];
    if (call->shape().IsTuple()) {
      HILO_ASSIGN_OR_RETURN(result, computation->AddOp(HloOpcode::kTuple, values));
    }
    HILO_RETURN_IF_ERROR(computation->ReplaceAllUsesWith(call, result));
    return computation->RemoveInstruction(call);
  }

  // --- the entry ---
  absl::StatusOr<bool> DivideEntry(HloModule* module, const PassContext& context) {
    HloComputation* entry = module->entry_computation();
    HILO_RETURN_IF_ERROR(RefuseBitcastsOfLayouts(*module));
    HILO_RETURN_IF_ERROR(ReadThroughGroupMarks(module));
    ReadThroughConstraints(module, meshes_);
    HILO_ASSIGN_OR_RETURN(const ManualRegions regions, ManualRegions::Find(*module, meshes_));
    HILO_ASSIGN_OR_RETURN(const PropagatedShardings wanted,
                          PropagateShardings(*module, meshes_, regions, open_, context));
    const auto not_divided = NotDivided(*module, wanted);
    TileWalk walk(entry, nullptr, &next_channel_, wanted, *entry);
    ProgramShape shape = module->EntryProgramShape();
    for (int64_t i = 0; i < entry->num_parameters(); ++i) {
      HloInstruction* parameter = entry->parameter_instruction(i);
      if (i < static_cast<int64_t>(open_.parameters.size()) && open_.parameters[i] && parameter->shape().IsArray()) {
        const TileAssignment tiles = walk.WantedOfParameter(*parameter);
        parameter->add_extra_attribute(
            "sharding", TileAssignmentToHlo(IsConstrained(*parameter) ? tiles : wanted.WholeAxes(tiles)));
      }
      if (absl::Status done = CutParameter(&walk, parameter, &shape.parameters[i]); !done.ok())
        return AddContext(done, InstructionContext(*parameter));
    }
    Divider divider(meshes_, regions, wanted, partitions_, &next_channel_, context);
    HILO_ASSIGN_OR_RETURN(const std::vector<HloInstruction*> visited, divider.Visit(&walk));
    std::vector<std::string> cut_less;
    for (const auto& [instruction, name] : not_divided) {
      if (!walk.Has(instruction) || !walk.Get(instruction).padded.has_value()) cut_less.push_back(name);
    }
    Warn(*module, "shardings do not divide arrays into equal tiles; these are cut less:", cut_less);
    auto result = Result(&walk, entry->root_instruction(), &shape.result);
    if (!result.ok()) return AddContext(result.status(), InstructionContext(*entry->root_instruction()));
    HILO_RETURN_IF_ERROR(entry->set_root_instruction(*result, true));
    HILO_RETURN_IF_ERROR(Divider::RemoveReplaced(walk, visited));
    HILO_RETURN_IF_ERROR(module->RemoveUnusedComputations().status());
    HILO_ASSIGN_OR_RETURN(const std::vector<HloComputation*> computations, module->MakeComputationPostOrder());
    for (HloComputation* computation : computations) {
      HILO_RETURN_IF_ERROR(SumAfterLoops(computation).status());
      HILO_RETURN_IF_ERROR(SumBeforeExchange(computation).status());
    }
    HILO_RETURN_IF_ERROR(module->RemoveUnusedComputations().status());  // bodies that have been replaced
    for (HloComputation* computation : module->computations())
      HILO_RETURN_IF_ERROR(CombineAllReduces(computation).status());
    if (notes_ != nullptr) *notes_ = walk.notes();
    module->set_entry_computation_layout(shape);
    // A result that no longer has its parameter's shape cannot share its memory.
    auto& aliases = module->input_output_aliases();
    aliases.erase(
        std::remove_if(aliases.begin(), aliases.end(),
                       [&](const InputOutputAlias& alias) {
                         const Shape& from =
                             ShapeUtil::GetSubshape(shape.parameters[alias.parameter_number], alias.parameter_index);
                         return !ShapeUtil::Compatible(from, ShapeUtil::GetSubshape(shape.result, alias.output_index));
                       }),
        aliases.end());
    Warn(*module, absl::StrCat("every partition gathers ", walk.gathered_count(), " sharded arrays whole, for"),
         walk.gatherers());
    Warn(*module, "every partition computes the same, whole, for", walk.repeated());
    return true;
  }

  // Whether a closed constraint states the sharding of an open parameter itself, which then may be cut by parts of
  // axes.
  bool IsConstrained(const HloInstruction& parameter) const {
    return absl::c_any_of(parameter.users(), [&](const HloInstruction* user) {
      const absl::StatusOr<std::optional<TileAssignment>> tiles = ClosedBy(*user, meshes_);
      return tiles.ok() && tiles->has_value() && AllRequire(parameter, **tiles, meshes_);
    });
  }

  // A sharded parameter becomes its tile. Its users keep a copy of the whole instead, which has no users at the
  // end.
  absl::Status CutParameter(TileWalk* walk, HloInstruction* parameter, Shape* shape) const {
    const absl::string_view sharding = ShardingOf(*parameter);
    if (!DividesArray(sharding)) return absl::OkStatus();
    HILO_ASSIGN_OR_RETURN(
        const auto tiles,
        TileAssignmentsFromHlo(sharding, static_cast<int64_t>(ShapeUtil::Leaves(parameter->shape()).size())));
    if (absl::c_none_of(tiles, IsDivided)) return absl::OkStatus();
    if (!parameter->shape().IsArray()) return Unimplemented("sharded parameters that are tuples");
    if (!tiles[0].tile_of.empty() && static_cast<int64_t>(tiles[0].tile_of.size()) != partitions_)
      return InvalidArgument("the sharding is for ", tiles[0].tile_of.size(), " devices, but the program has ",
                             partitions_, " partitions");
    HILO_ASSIGN_OR_RETURN(*shape, TileShape(*shape, tiles[0]));
    return Divider::CutParameter(walk, parameter, tiles);
  }

  absl::StatusOr<HloInstruction*> Result(TileWalk* walk, HloInstruction* root, Shape* shape) {
    std::string sharding(ShardingOf(*root));
    // The result keeps the sharding that a mark states.
    for (const HloInstruction* at = root; sharding.empty() && IsShardingMark(*at); at = at->operand(0))
      sharding = std::string(ShardingOf(*at->operand(0)));
    const auto count = static_cast<int64_t>(ShapeUtil::Leaves(root->shape()).size());
    std::vector<TileAssignment> tiles(count);
    if (DividesArray(sharding)) {
      HILO_ASSIGN_OR_RETURN(tiles, TileAssignmentsFromHlo(sharding, count));
    }
    HILO_RETURN_IF_ERROR(ChooseTiles(walk, root, &tiles));
    if (absl::c_none_of(tiles, IsDivided)) return walk->Whole(root);
    if (root->shape().IsArray()) {
      HILO_ASSIGN_OR_RETURN(*shape, TileShape(*shape, tiles[0]));
    } else {
      if (static_cast<int64_t>(tiles.size()) != root->shape().tuple_shapes_size())
        return Unimplemented("sharded results in nested tuples");
      for (int64_t i = 0; i < root->shape().tuple_shapes_size(); ++i) {
        HILO_ASSIGN_OR_RETURN(*shape->mutable_tuple_shapes(i), TileShape(shape->tuple_shapes(i), tiles[i]));
      }
    }
    HILO_ASSIGN_OR_RETURN(const Leaves leaves, walk->LeavesOf(root));
    return walk->Pack(leaves, tiles, root->shape().IsTuple());
  }

  // Open results keep their computed sharding. The module then states the shardings of its results.
  absl::Status ChooseTiles(TileWalk* walk, HloInstruction* root, std::vector<TileAssignment>* tiles) const {
    if (open_.results.size() != tiles->size()) return absl::OkStatus();
    if (!root->shape().IsArray() && root->shape().tuple_shapes_size() != static_cast<int64_t>(tiles->size()))
      return absl::OkStatus();
    HILO_ASSIGN_OR_RETURN(const Leaves leaves, walk->LeavesOf(root));
    for (size_t i = 0; i < tiles->size(); ++i) {
      if (open_.results[i]) (*tiles)[i] = leaves[i]->is_local ? TileAssignment() : walk->WantedOfResult(i);
    }
    const std::string text = absl::StrJoin(*tiles, ", ", [](std::string* out, const TileAssignment& one) {
      absl::StrAppend(out, TileAssignmentToHlo(one));
    });
    root->parent()->parent()->extra_attributes().emplace_back(
        "spmd_output_sharding", root->shape().IsArray() ? text : absl::StrCat("{", text, "}"));
    return absl::OkStatus();
  }

  const OpenValues open_;
  std::vector<ShardingNote>* const notes_;
  int64_t partitions_ = 1, next_channel_ = 1;
  ShardingMeshes meshes_;
};

}  // namespace

std::unique_ptr<HloPass> MakePartitioner(OpenValues open, std::vector<ShardingNote>* notes) {
  return std::make_unique<Partitioner>(std::move(open), notes);
}

void MarkPartitioned(HloModule* module) {
  if (!IsPartitioned(*module)) module->extra_attributes().emplace_back(kPartitionedAttribute, "true");
}

}  // namespace hilo
