// A program with shardings becomes the program that each of its partitions runs.
//
// No computation is divided: each partition gathers its sharded parameters to whole arrays, computes with these, and keeps its tile of each
// sharded result.
//
//   x = f32[8,4] parameter(0), sharding={devices=[2,1]<=[2]}    =>   x = f32[4,4] parameter(0)
//   ROOT y = f32[8,4] negate(x), sharding={devices=[2,1]<=[2]}       g = f32[8,4] (all-gather and reshape of x)
//                                                                    y = f32[8,4] negate(g)
//                                                                    ROOT t = f32[4,4] dynamic-slice(y, ... of partition-id)
//
// Only what the program itself divides runs in parts: the bodies of manual computations, between the custom calls that cut an array into local
// shapes and those that join it. A module that is scheduled has been partitioned already; its shardings tell where it came from.
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
#include "hlo/passes/standard_passes.h"

namespace hilo {
namespace {

using Meshes = absl::flat_hash_map<std::string, Mesh>;

absl::string_view TargetOf(const HloInstruction& instruction) {
  return instruction.opcode() == HloOpcode::kCustomCall ? absl::string_view(instruction.attrs<CustomCallAttrs>().custom_call_target) : "";
}

// Marks of shardings that say nothing to a program that computes on whole arrays.
bool IsMark(absl::string_view target) {
  return target == "Sharding" || target == "xla.sdy.FuncResultSharding" || target == "xla.sdy.PropagationBarrier" ||
         target == "xla.sdy.ShardingGroup" || target == "xla.sdy.ReshardOp";
}
bool CutsOrJoins(absl::string_view target) {
  return target == "SPMDFullToShardShape" || target == "SPMDShardToFullShape" || target == "xla.sdy.GlobalToLocalShape" ||
         target == "xla.sdy.LocalToGlobalShape";
}

absl::string_view ShardingOf(const HloInstruction& instruction) { return ExtraAttribute(instruction.extra_attributes(), "sharding"); }

// The tile's shape. Errors: Unimplemented if the tiles are not equal.
absl::StatusOr<Shape> TileShape(Shape shape, const TileAssignment& tiles) {
  if (tiles.IsWhole()) return shape;
  if (!shape.IsArray() || shape.rank() != static_cast<int64_t>(tiles.counts.size())) {
    return InvalidArgument("a sharding of ", tiles.counts.size(), " dimensions does not fit ", shape.ToString());
  }
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (shape.dimensions(d) % tiles.counts[d] != 0) {
      return Unimplemented("dimension ", d, " of ", shape.ToString(), " is not a multiple of the ", tiles.counts[d], " parts it is cut into");
    }
    shape.set_dimensions(d, shape.dimensions(d) / tiles.counts[d]);
  }
  return shape;
}

// Emits into one computation.
class TileEmitter {
 public:
  TileEmitter(HloComputation* computation, int64_t partitions, int64_t* next_channel)
      : computation_(computation), partitions_(partitions), next_channel_(next_channel) {}

  // This partition's tile of `whole`.
  absl::StatusOr<HloInstruction*> Cut(HloInstruction* whole, const TileAssignment& tiles) {
    if (tiles.IsWhole()) return whole;
    HILO_RETURN_IF_ERROR(Check(tiles));
    HILO_ASSIGN_OR_RETURN(const Shape shape, TileShape(whole->shape(), tiles));
    HILO_ASSIGN_OR_RETURN(HloInstruction * partition, computation_->AddOp(HloOpcode::kPartitionId, {}));
    std::vector<HloInstruction*> operands = {whole};
    for (int64_t d = 0; d < shape.rank(); ++d) {
      std::vector<int64_t> starts(partitions_, 0);
      for (int64_t i = 0; i < partitions_; ++i) starts[i] = tiles.tile_of[i][d] * shape.dimensions(d);
      HloInstruction* table = computation_->AddConstant(LiteralUtil::CreateR1<int64_t>(starts));
      auto one = std::make_unique<DynamicSliceAttrs>();
      one->dynamic_slice_sizes = {1};
      HILO_ASSIGN_OR_RETURN(HloInstruction * start, computation_->AddOp(HloOpcode::kDynamicSlice, {table, partition}, std::move(one)));
      HILO_ASSIGN_OR_RETURN(operands.emplace_back(), Reshape(start, {}));
    }
    auto attributes = std::make_unique<DynamicSliceAttrs>();
    attributes->dynamic_slice_sizes.assign(shape.dimensions().begin(), shape.dimensions().end());
    return computation_->AddOp(HloOpcode::kDynamicSlice, operands, std::move(attributes));
  }

  // The whole array of which every partition has its tile `tile`.
  absl::StatusOr<HloInstruction*> Join(HloInstruction* tile, const TileAssignment& tiles) {
    if (tiles.IsWhole()) return tile;
    HILO_RETURN_IF_ERROR(Check(tiles));
    const std::vector<int64_t> sizes(tile->shape().dimensions().begin(), tile->shape().dimensions().end());
    if (sizes.size() != tiles.counts.size()) {
      return InvalidArgument("a sharding of ", tiles.counts.size(), " dimensions does not fit ", tile->shape().ToString());
    }
    std::vector<int64_t> with_device = sizes;
    with_device.insert(with_device.begin(), 1);
    HILO_ASSIGN_OR_RETURN(HloInstruction * value, Reshape(tile, with_device));
    auto gather = std::make_unique<AllGatherAttrs>();
    gather->channel_id = (*next_channel_)++;
    gather->dimensions = {0};
    // Partitions meet within each replica.
    gather->use_global_device_ids = true;
    for (int64_t replica = 0; replica < computation_->parent()->replica_count(); ++replica) {
      std::vector<int64_t>& group = gather->replica_groups.groups.emplace_back();
      for (int64_t i = 0; i < partitions_; ++i) group.push_back(replica * partitions_ + i);
    }
    with_device[0] = partitions_;
    const Shape gathered = ShapeUtil::MakeShape(tile->shape().element_type(), with_device);
    HILO_ASSIGN_OR_RETURN(value, computation_->AddOp(HloOpcode::kAllGather, {value}, std::move(gather), {}, &gathered));
    HILO_ASSIGN_OR_RETURN(value, InTileOrder(value, tiles));
    // [c0, c1, s0, s1] to [c0, s0, c1, s1] to [c0 * s0, c1 * s1].
    const auto rank = static_cast<int64_t>(sizes.size());
    std::vector<int64_t> apart = tiles.counts, whole;
    apart.insert(apart.end(), sizes.begin(), sizes.end());
    auto transpose = std::make_unique<TransposeAttrs>();
    for (int64_t d = 0; d < rank; ++d) {
      transpose->dimensions.push_back(d);
      transpose->dimensions.push_back(rank + d);
      whole.push_back(tiles.counts[d] * sizes[d]);
    }
    HILO_ASSIGN_OR_RETURN(value, Reshape(value, apart));
    HILO_ASSIGN_OR_RETURN(value, computation_->AddOp(HloOpcode::kTranspose, {value}, std::move(transpose)));
    return Reshape(value, whole);
  }

 private:
  absl::Status Check(const TileAssignment& tiles) const {
    if (static_cast<int64_t>(tiles.tile_of.size()) == partitions_ &&
        absl::c_none_of(tiles.tile_of, [](const auto& tile) { return tile.empty(); })) {
      return absl::OkStatus();
    }
    return InvalidArgument("the sharding is for ", tiles.tile_of.size(), " devices, but the program has ", partitions_,
                           partitions_ == 1 ? " partition" : " partitions");
  }

  absl::StatusOr<HloInstruction*> Reshape(HloInstruction* value, const std::vector<int64_t>& sizes) {
    const Shape shape = ShapeUtil::MakeShape(value->shape().element_type(), sizes);
    return computation_->AddOp(HloOpcode::kReshape, {value}, nullptr, {}, &shape);
  }

  // Rows of `value` are devices; the result's are tiles in row-major order.
  absl::StatusOr<HloInstruction*> InTileOrder(HloInstruction* value, const TileAssignment& tiles) {
    std::vector<int64_t> device_of;
    bool in_order = true;
    for (std::vector<int64_t> tile(tiles.counts.size(), 0);;) {
      const auto it = absl::c_find(tiles.tile_of, tile);
      if (it == tiles.tile_of.end()) return InvalidArgument("no device has tile {", absl::StrJoin(tile, ","), "} of a sharded array");
      device_of.push_back(it - tiles.tile_of.begin());
      in_order &= device_of.back() == static_cast<int64_t>(device_of.size()) - 1;
      if (!IndexUtil::BumpIndices(tiles.counts, absl::MakeSpan(tile))) break;
    }
    if (in_order && static_cast<int64_t>(device_of.size()) == partitions_) return value;
    std::vector<HloInstruction*> rows;
    for (int64_t device : device_of) {
      auto slice = std::make_unique<SliceAttrs>();
      for (int64_t size : value->shape().dimensions()) slice->slice.push_back({0, size, 1});
      slice->slice[0] = {device, device + 1, 1};
      HILO_ASSIGN_OR_RETURN(rows.emplace_back(), computation_->AddOp(HloOpcode::kSlice, {value}, std::move(slice)));
    }
    if (rows.size() == 1) return rows[0];
    auto concatenate = std::make_unique<ConcatenateAttrs>();
    concatenate->dimensions = {0};
    return computation_->AddOp(HloOpcode::kConcatenate, rows, std::move(concatenate));
  }

  HloComputation* computation_;
  int64_t partitions_;
  int64_t* next_channel_;
};

class Partitioner : public HloPass {
 public:
  absl::string_view name() const override { return "partition"; }
  bool optional() const override { return false; }

  absl::StatusOr<bool> Run(HloModule* module) override {
    if (module->is_scheduled() || !HasShardings(*module)) return false;
    partitions_ = module->num_partitions();
    HILO_RETURN_IF_ERROR(ReadModule(*module));
    bool changed = false;
    for (HloComputation* computation : module->computations()) {
      // What cuts an array reads the mark on its operand.
      for (HloInstruction* instruction : computation->instructions()) {
        if (!CutsOrJoins(TargetOf(*instruction))) continue;
        // Only an error leaves the instruction where it is.
        if (const absl::Status done = CutOrJoin(instruction); !done.ok()) return AddContext(done, InstructionContext(*instruction));
        changed = true;
      }
      for (HloInstruction* instruction : computation->instructions()) {
        if (!IsMark(TargetOf(*instruction)) || instruction->operand_count() != 1) continue;
        HILO_RETURN_IF_ERROR(RemoveMark(instruction));
        changed = true;
      }
    }
    if (partitions_ > 1) {
      HILO_ASSIGN_OR_RETURN(const bool entry, RewriteEntry(module));
      if (entry) {
        LogWarning(module->name(), " has sharded parameters or results: every partition gathers them, computes on whole arrays, and keeps its part");
      }
      changed |= entry;
    }
    return changed;
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

  static absl::Status RemoveMark(HloInstruction* mark) {
    HloInstruction* value = mark->mutable_operand(0);
    if (!ShapeUtil::Compatible(mark->shape(), value->shape())) {
      return AddContext(InvalidArgument("a mark of a sharding has the shape of its operand"), InstructionContext(*mark));
    }
    // What the mark says of a result, the result keeps.
    if (mark->IsRoot() && ShardingOf(*value).empty() && !ShardingOf(*mark).empty()) {
      value->add_extra_attribute("sharding", std::string(ShardingOf(*mark)));
    }
    HILO_RETURN_IF_ERROR(mark->parent()->ReplaceAllUsesWith(mark, value));
    return mark->parent()->RemoveInstruction(mark);
  }

  absl::Status CutOrJoin(HloInstruction* call) {
    const absl::string_view target = TargetOf(*call);
    HloComputation* computation = call->parent();
    std::vector<TileAssignment> tiles;
    const bool cuts = target == "SPMDFullToShardShape" || target == "xla.sdy.GlobalToLocalShape";
    if (absl::StartsWith(target, "xla.sdy.")) {
      HILO_ASSIGN_OR_RETURN(tiles, SdyTiles(*call, cuts ? "xla.sdy.in_shardings" : "xla.sdy.out_shardings"));
    } else {
      const absl::string_view sharding = ShardingOf(cuts && call->operand_count() == 1 ? *call->operand(0) : *call);
      HILO_ASSIGN_OR_RETURN(tiles, TileAssignmentsFromHlo(sharding, 1));
    }
    if (static_cast<int64_t>(tiles.size()) != call->operand_count()) {
      return InvalidArgument(target, ": expected a sharding for each of ", call->operand_count(), " operands, got ", tiles.size());
    }
    TileEmitter emitter(computation, partitions_, &next_channel_);
    std::vector<HloInstruction*> values;
    for (size_t i = 0; i < tiles.size(); ++i) {
      HloInstruction* operand = call->mutable_operand(static_cast<int64_t>(i));
      HILO_ASSIGN_OR_RETURN(values.emplace_back(), cuts ? emitter.Cut(operand, tiles[i]) : emitter.Join(operand, tiles[i]));
    }
    HloInstruction* result = values.empty() ? nullptr : values[0];
    if (call->shape().IsTuple()) {
      HILO_ASSIGN_OR_RETURN(result, computation->AddOp(HloOpcode::kTuple, values));
    }
    if (result == nullptr || !ShapeUtil::Compatible(result->shape(), call->shape())) {
      return InvalidArgument(target, ": the shardings give ", result == nullptr ? "nothing" : result->shape().ToString(), ", but the call states ",
                             call->shape().ToString());
    }
    HILO_RETURN_IF_ERROR(computation->ReplaceAllUsesWith(call, result));
    return computation->RemoveInstruction(call);
  }

  // Parameters come, and results go, as tiles.
  absl::StatusOr<bool> RewriteEntry(HloModule* module) {
    HloComputation* entry = module->entry_computation();
    ProgramShape shape = module->EntryProgramShape();
    bool changed = false;
    for (int64_t i = 0; i < entry->num_parameters(); ++i) {
      HloInstruction* parameter = entry->parameter_instruction(i);
      auto here = RewriteParameter(parameter, &shape.parameters[i]);
      if (!here.ok()) return AddContext(here.status(), InstructionContext(*parameter));
      changed |= *here;
    }
    HloInstruction* root = entry->root_instruction();
    auto result = RewriteResult(root, &shape.result);
    if (!result.ok()) return AddContext(result.status(), InstructionContext(*root));
    changed |= *result;
    if (!changed) return false;
    module->set_entry_computation_layout(shape);
    // A result that is no longer of its parameter's shape cannot take its place.
    auto& aliases = module->input_output_aliases();
    aliases.erase(std::remove_if(aliases.begin(), aliases.end(),
                                 [&](const InputOutputAlias& alias) {
                                   const Shape& from = ShapeUtil::GetSubshape(shape.parameters[alias.parameter_number], alias.parameter_index);
                                   return !ShapeUtil::Compatible(from, ShapeUtil::GetSubshape(shape.result, alias.output_index));
                                 }),
                  aliases.end());
    return true;
  }

  absl::StatusOr<bool> RewriteParameter(HloInstruction* parameter, Shape* shape) {
    const absl::string_view sharding = ShardingOf(*parameter);
    if (!absl::StrContains(sharding, "devices=")) return false;
    HILO_ASSIGN_OR_RETURN(const auto tiles, TileAssignmentsFromHlo(sharding, static_cast<int64_t>(ShapeUtil::Leaves(parameter->shape()).size())));
    if (absl::c_all_of(tiles, [](const TileAssignment& one) { return one.IsWhole(); })) return false;
    if (!parameter->shape().IsArray()) return Unimplemented("sharded parameters that are tuples");
    HILO_ASSIGN_OR_RETURN(*shape, TileShape(*shape, tiles[0]));
    const std::vector<HloInstruction*> users(parameter->users().begin(), parameter->users().end());
    HILO_ASSIGN_OR_RETURN(*parameter->mutable_shape(), TileShape(parameter->shape(), tiles[0]));
    TileEmitter emitter(parameter->parent(), partitions_, &next_channel_);
    HILO_ASSIGN_OR_RETURN(HloInstruction * whole, emitter.Join(parameter, tiles[0]));
    for (HloInstruction* user : users) {
      for (int64_t i = 0; i < user->operand_count(); ++i) {
        if (user->operand(i) == parameter) parameter->parent()->ReplaceOperand(user, i, whole);
      }
    }
    if (parameter->IsRoot()) HILO_RETURN_IF_ERROR(parameter->parent()->set_root_instruction(whole, true));
    return true;
  }

  absl::StatusOr<bool> RewriteResult(HloInstruction* root, Shape* shape) {
    const absl::string_view sharding = ShardingOf(*root);
    if (!absl::StrContains(sharding, "devices=")) return false;
    HILO_ASSIGN_OR_RETURN(const auto tiles, TileAssignmentsFromHlo(sharding, static_cast<int64_t>(ShapeUtil::Leaves(root->shape()).size())));
    if (absl::c_all_of(tiles, [](const TileAssignment& one) { return one.IsWhole(); })) return false;
    HloComputation* computation = root->parent();
    TileEmitter emitter(computation, partitions_, &next_channel_);
    HloInstruction* result;
    if (root->shape().IsArray()) {
      HILO_ASSIGN_OR_RETURN(result, emitter.Cut(root, tiles[0]));
      HILO_ASSIGN_OR_RETURN(*shape, TileShape(*shape, tiles[0]));
    } else {
      if (static_cast<int64_t>(tiles.size()) != root->shape().tuple_shapes_size()) return Unimplemented("sharded results in nested tuples");
      std::vector<HloInstruction*> values;
      for (int64_t i = 0; i < root->shape().tuple_shapes_size(); ++i) {
        auto attributes = std::make_unique<GetTupleElementAttrs>();
        attributes->index = i;
        HILO_ASSIGN_OR_RETURN(HloInstruction * element, computation->AddOp(HloOpcode::kGetTupleElement, {root}, std::move(attributes)));
        HILO_ASSIGN_OR_RETURN(values.emplace_back(), emitter.Cut(element, tiles[i]));
        HILO_ASSIGN_OR_RETURN(*shape->mutable_tuple_shapes(i), TileShape(shape->tuple_shapes(i), tiles[i]));
      }
      HILO_ASSIGN_OR_RETURN(result, computation->AddOp(HloOpcode::kTuple, values));
    }
    HILO_RETURN_IF_ERROR(computation->set_root_instruction(result, true));
    return true;
  }

  int64_t partitions_ = 1, next_channel_ = 1;
  Meshes meshes_;
};

}  // namespace

std::unique_ptr<HloPass> MakePartitioner() { return std::make_unique<Partitioner>(); }

}  // namespace hilo
