#include "tests/fuzz/random_shardings.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hilo/status_macros.h"
#include "hlo/ops/structure/custom_call_attributes.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/standard_passes.h"
#include "tests/fuzz/random_numbers.h"

namespace hilo::fuzz {
namespace {

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
      if (parameter->shape().IsArray() && random_.Chance(70)) State(parameter, RandomTiles(parameter->shape(), true));
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

  // Axes of the mesh along random dimensions; with `divides`, only such as divide the array.
  TileAssignment RandomTiles(const Shape& shape, bool divides) {
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
      if (!fits || random_.Chance(15)) continue;
      tiles.counts[d] = count;
      int64_t stride = 1;
      for (size_t i = axis + 1; i < axes_.size(); ++i) stride *= axes_[i];
      for (size_t p = 0; p < devices_.size(); ++p) {
        int64_t& tile = tiles.tile_of[devices_[p]][d];
        tile = tile * axes_[axis] + static_cast<int64_t>(p) / stride % axes_[axis];
      }
    }
    return tiles;
  }

  static void State(HloInstruction* instruction, const TileAssignment& tiles) {
    instruction->add_extra_attribute("sharding", TileAssignmentToHlo(tiles));
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
    State(*mark, RandomTiles(shape, is_result || random_.Chance(60)));
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

}  // namespace

RandomProgram MakePartitionedProgram(uint64_t seed) {
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
