#include "tests/fuzz/random_shardings.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/reduction_op.h"
#include "hlo/ops/structure/custom_call_attributes.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/standard_passes.h"
#include "tests/fuzz/random_manual_regions.h"
#include "tests/fuzz/random_numbers.h"

namespace hilo::fuzz {
namespace {

// Of so many programs one has a manual region.
constexpr uint64_t kManualEvery = 4;

// Mostly multiples of the numbers of devices.
constexpr int64_t kSizes[] = {1, 2, 3, 4, 4, 5, 6, 7, 8, 8, 8, 9, 12, 16, 16, 24, 32, 33};

// The axes of meshes of two to eight devices.
const std::vector<int64_t> kMeshes[] = {{2}, {3}, {4}, {2, 2}, {6}, {2, 3}, {8}, {2, 4}, {4, 2}, {2, 2, 2}};

class Sharder {
 public:
  Sharder(uint64_t seed, RandomProgram* program)
      : random_(seed), module_(*program->module), axes_(random_.Of(kMeshes)), devices_(Product()) {
    std::iota(devices_.begin(), devices_.end(), 0);
    if (!random_.Chance(25)) return;
    for (size_t i = devices_.size() - 1; i > 0; --i) std::swap(devices_[i], devices_[random_.Below(i + 1)]);
  }

  void Run() {
    module_.set_num_partitions(Product());
    HloComputation* const entry = module_.entry_computation();
    for (HloInstruction* parameter : entry->parameter_instructions()) {
      if (parameter->shape().IsArray() && random_.Chance(70))
        State(parameter, TileAssignmentToHlo(RandomArgumentTiles(parameter->shape())));
    }
    std::vector<HloComputation*> computations = {entry};
    for (size_t i = 0; i < computations.size(); ++i) {
      for (HloInstruction* instruction : computations[i]->MakePostOrder()) {
        if (HasTrait(instruction->opcode(), kControlFlow)) {
          for (HloComputation* called : instruction->called_computations()) {
            if (std::find(computations.begin(), computations.end(), called) == computations.end())
              computations.push_back(called);
          }
        }
        if (instruction->shape().IsArray() && instruction->shape().is_static() && random_.Chance(25)) Mark(instruction);
      }
    }
    StateResults(entry->root_instruction());
  }

 private:
  int64_t Product() const { return std::accumulate(axes_.begin(), axes_.end(), int64_t{1}, std::multiplies<>()); }

  // Where the coordinate along an axis is in the number of a device's position in the mesh.
  int64_t StrideOf(size_t axis) const {
    int64_t stride = 1;
    for (size_t i = axis + 1; i < axes_.size(); ++i) stride *= axes_[i];
    return stride;
  }

  // Axes of the mesh along random dimensions; with `divides`, only such as divide the array. The axes of each dimension
  // are added to `of_dimensions`, if given, most major first, and those that no dimension has to `free`.
  TileAssignment RandomTiles(const Shape& shape, bool divides,
                             std::vector<std::vector<size_t>>* of_dimensions = nullptr,
                             std::vector<size_t>* free = nullptr) {
    TileAssignment tiles;
    const int64_t rank = shape.rank();
    if (rank == 0 || !shape.is_static()) return tiles;
    tiles.counts.assign(rank, 1);
    tiles.tile_of.assign(devices_.size(), std::vector<int64_t>(rank, 0));
    std::vector<size_t> order(axes_.size());
    std::iota(order.begin(), order.end(), 0);
    for (size_t i = order.size() - 1; i > 0; --i) std::swap(order[i], order[random_.Below(i + 1)]);
    for (const size_t axis : order) {
      const int64_t d = random_.Below(rank), size = shape.dimensions(d);
      const int64_t count = tiles.counts[d] * axes_[axis];
      const bool fits = divides ? size > 0 && size % count == 0 : size >= count;
      if (!fits || random_.Chance(15)) {
        if (free != nullptr) free->push_back(axis);
        continue;
      }
      tiles.counts[d] = count;
      if (of_dimensions != nullptr) (*of_dimensions)[d].push_back(axis);
      const int64_t stride = StrideOf(axis);
      for (size_t p = 0; p < devices_.size(); ++p) {
        int64_t& tile = tiles.tile_of[devices_[p]][d];
        tile = tile * axes_[axis] + static_cast<int64_t>(p) / stride % axes_[axis];
      }
    }
    return tiles;
  }

  // What a mark states: tiles, or axes of the mesh along dimensions, some of which are open to more.
  std::string RandomText(const Shape& shape, bool divides) {
    std::vector<std::vector<size_t>> of_dimensions(shape.rank());
    const TileAssignment tiles = RandomTiles(shape, divides, &of_dimensions);
    if (tiles.counts.empty() || random_.Chance(50)) return TileAssignmentToHlo(tiles);
    const auto name = [](size_t axis) { return absl::StrCat("'a", axis, "'"); };
    std::vector<std::string> axes, dimensions;
    for (size_t axis = 0; axis < axes_.size(); ++axis) axes.push_back(absl::StrCat(name(axis), "=", axes_[axis]));
    for (const std::vector<size_t>& of_dimension : of_dimensions) {
      std::vector<std::string> parts;
      for (const size_t axis : of_dimension) parts.push_back(name(axis));
      if (random_.Chance(40)) parts.push_back("?");
      dimensions.push_back(absl::StrCat("{", absl::StrJoin(parts, ", "), "}"));
    }
    const std::string ids = std::is_sorted(devices_.begin(), devices_.end())
                                ? ""
                                : absl::StrCat(", device_ids=(", absl::StrJoin(devices_, ","), ")");
    return absl::StrCat("{mesh[", absl::StrJoin(axes, ","), "]", ids, ", [", absl::StrJoin(dimensions, ", "), "]}");
  }

  // A parameter's tiles; some of them in parts, by an axis that no dimension has.
  TileAssignment RandomArgumentTiles(const Shape& shape) {
    std::vector<std::vector<size_t>> of_dimensions(shape.rank());
    std::vector<size_t> free;
    TileAssignment tiles = RandomTiles(shape, true, &of_dimensions, &free);
    // F8E8M0FNU has no 0, which parts of a sum are.
    if (free.empty() || shape.element_type() == PRED || shape.element_type() == F8E8M0FNU ||
        IsComplexType(shape.element_type()) || !random_.Chance(30))
      return tiles;
    tiles.reduction = random_.Of(std::array{PartReduction::kSum, PartReduction::kMax, PartReduction::kMin});
    tiles.part_of.assign(devices_.size(), 0);
    for (size_t p = 0; p < devices_.size(); ++p)
      tiles.part_of[devices_[p]] = static_cast<int64_t>(p) / StrideOf(free[0]) % axes_[free[0]];
    return tiles;
  }

  static void State(HloInstruction* instruction, const std::string& sharding) {
    instruction->add_extra_attribute("sharding", sharding);
  }

  // Users of the value use a mark of it instead.
  void Mark(HloInstruction* value) {
    HloComputation* const computation = value->parent();
    auto attributes = std::make_unique<CustomCallAttrs>();
    attributes->custom_call_target = "Sharding";
    const std::vector<HloInstruction*> users(value->users().begin(), value->users().end());
    const Shape shape = ShapeUtil::MakeShape(value->shape().element_type(), value->shape().dimensions());
    auto mark = computation->AddOp(HloOpcode::kCustomCall, {value}, std::move(attributes), {}, &shape);
    if (!mark.ok()) return;
    const bool is_result = value == module_.entry_computation()->root_instruction();
    // A result that is a mark has the tiles that this states.
    State(*mark, is_result ? TileAssignmentToHlo(RandomTiles(shape, true)) : RandomText(shape, random_.Chance(60)));
    for (HloInstruction* user : users) {
      for (int64_t i = 0; i < user->operand_count(); ++i) {
        if (user->operand(i) == value) computation->ReplaceOperand(user, i, *mark);
      }
    }
    if (value->IsRoot()) (void)computation->set_root_instruction(*mark, true);
  }

  void StateResults(HloInstruction* root) {
    if (random_.Chance(30)) return;  // whole
    std::vector<std::string> shardings;
    for (const ShapeUtil::Leaf& leaf : ShapeUtil::Leaves(root->shape())) {
      const bool is_cut = leaf.shape->IsArray() && random_.Chance(60);
      shardings.push_back(TileAssignmentToHlo(is_cut ? RandomTiles(*leaf.shape, true) : TileAssignment()));
    }
    for (const Shape& element : root->shape().tuple_shapes()) {
      if (element.IsTuple()) return;  // shardings of nested tuples are refused
    }
    if (shardings.empty()) return;
    const std::string text = absl::StrJoin(shardings, ", ");
    if (root->opcode() == HloOpcode::kCustomCall) return;  // a mark states its own
    root->add_extra_attribute("sharding", root->shape().IsTuple() ? absl::StrCat("{", text, "}") : text);
  }

  Random random_;
  HloModule& module_;
  const std::vector<int64_t> axes_;
  std::vector<int64_t> devices_;
};

// Whether the device has the first part of its tile.
bool HasFirstPart(const TileAssignment& tiles, int64_t device) {
  if (!tiles.part_of.empty()) return tiles.part_of[device] == 0;
  if (tiles.IsWhole()) return device == 0;
  return std::find(tiles.tile_of.begin(), tiles.tile_of.begin() + device, tiles.tile_of[device]) ==
         tiles.tile_of.begin() + device;
}

}  // namespace

RandomProgram MakePartitionedProgram(uint64_t seed) {
  if (seed % kManualEvery == 0) return MakeManualProgram(seed);
  RandomOptions options{.sizes = kSizes};
  RandomProgram program = MakeRandomProgram(seed * 16, options);  // of no other family
  program.module->set_entry_computation_layout(std::nullopt);
  Sharder(seed, &program).Run();
  return program;
}

absl::StatusOr<std::unique_ptr<HloModule>> WithoutShardings(const HloModule& module) {
  std::unique_ptr<HloModule> copy = module.Clone();
  copy->set_num_partitions(1);
  HILO_RETURN_IF_ERROR(MakePartitioner({}, nullptr)->Run(copy.get(), {}).status());
  return copy;
}

absl::StatusOr<std::vector<TileAssignment>> StatedTiles(const HloInstruction& instruction) {
  const auto leaves = static_cast<int64_t>(ShapeUtil::Leaves(instruction.shape()).size());
  const absl::string_view text = ExtraAttribute(instruction.extra_attributes(), "sharding");
  if (text.empty()) return std::vector<TileAssignment>(leaves);
  return TileAssignmentsFromHlo(text, leaves);
}

Literal TileOf(const Literal& whole, const TileAssignment& tiles, int64_t device) {
  if (tiles.reduction == PartReduction::kSum && !HasFirstPart(tiles, device)) {
    // -0 where there is one: a part of 0 makes 0 of the -0 of another one, which a total order tells from it.
    const std::optional<Literal> nothing = IdentityOf(HloOpcode::kAdd, whole.shape().element_type());
    Literal part = *Literal::Create(whole.shape());
    for (size_t i = 0; nothing.has_value() && i < part.untyped_data().size(); i += nothing->untyped_data().size())
      absl::c_copy(nothing->untyped_data(), part.untyped_data().begin() + static_cast<std::ptrdiff_t>(i));
    return TileOf(part, tiles.Reduced(), device);
  }
  if (tiles.IsWhole()) return whole.Clone();
  Shape shape = ShapeUtil::MakeShape(whole.shape().element_type(), whole.shape().dimensions());
  std::vector<int64_t> first;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    shape.set_dimensions(d, shape.dimensions(d) / tiles.counts[d]);
    first.push_back(tiles.tile_of[device][d] * shape.dimensions(d));
  }
  Literal tile = *Literal::Create(shape);
  const int64_t elements = tile.element_count();
  const size_t bytes = elements == 0 ? 0 : tile.untyped_data().size() / static_cast<size_t>(elements);
  for (int64_t i = 0; i < elements; ++i) {
    std::vector<int64_t> from(shape.rank());
    for (int64_t d = shape.rank() - 1, left = i; d >= 0; left /= shape.dimensions(d--))
      from[d] = first[d] + left % shape.dimensions(d);
    std::memcpy(tile.untyped_data().data() + static_cast<size_t>(i) * bytes,
                whole.untyped_data().data() + static_cast<size_t>(whole.LinearIndex(from)) * bytes, bytes);
  }
  return tile;
}

}  // namespace hilo::fuzz
