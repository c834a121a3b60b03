#include "hlo/passes/partition/manual_regions.h"

#include <numeric>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "hilo/status_macros.h"
#include "hlo/ops/collective/collective_attributes.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/ops/table/opcode_map.h"

namespace hilo {
namespace {

// What a collective of one array says of the devices that it joins.
struct CollectiveForm {
  std::vector<std::vector<int64_t>> groups;
  std::vector<int64_t> whole;   // dimensions that it joins, splits or exchanges
  bool numbers_devices = true;  // the groups are of devices, not of replicas
};
using ReadForm = CollectiveForm (*)(const HloInstruction& op);

template <typename Attributes>
CollectiveForm Reduces(const HloInstruction& op) {
  const Attributes& attributes = op.attrs<Attributes>();
  return {attributes.replica_groups.groups, {}, attributes.use_global_device_ids};
}
template <typename Attributes>
CollectiveForm Joins(const HloInstruction& op) {
  const Attributes& attributes = op.attrs<Attributes>();
  return {attributes.replica_groups.groups, attributes.dimensions, attributes.use_global_device_ids};
}
CollectiveForm Exchanges(const HloInstruction& op) {
  return {op.attrs<AllToAllAttrs>().replica_groups.groups, op.attrs<AllToAllAttrs>().dimensions};
}
CollectiveForm Sends(const HloInstruction& op) {
  return {op.attrs<CollectiveBroadcastAttrs>().replica_groups.groups, {}};
}
CollectiveForm Permutes(const HloInstruction& op) {
  CollectiveForm form;
  for (const auto& [source, target] : op.attrs<CollectivePermuteAttrs>().source_target_pairs.pairs)
    form.groups.push_back({source, target});
  return form;
}

constexpr OpcodeMap<ReadForm> kForms = {
    {HloOpcode::kAllGather, Joins<AllGatherAttrs>},
    {HloOpcode::kAllReduce, Reduces<AllReduceAttrs>},
    {HloOpcode::kAllToAll, Exchanges},
    {HloOpcode::kCollectiveBroadcast, Sends},
    {HloOpcode::kCollectivePermute, Permutes},
    {HloOpcode::kReduceScatter, Joins<ReduceScatterAttrs>},
};

}  // namespace

TileAssignment ManualRegion::OfMembers(const TileAssignment& tiles) const {
  TileAssignment of_members{.counts = tiles.counts, .tile_of = {}};
  if (tiles.IsWhole() || tiles.tile_of.size() != manual.tile_of.size()) return TileAssignment();
  for (const int64_t device : devices[0]) of_members.tile_of.push_back(tiles.tile_of[device]);
  for (const std::vector<int64_t>& of_coordinate : devices) {
    for (int64_t member = 0; member < members(); ++member) {
      if (tiles.tile_of[of_coordinate[member]] != of_members.tile_of[member]) return TileAssignment();
    }
  }
  return of_members;
}

std::vector<std::vector<int64_t>> ManualRegion::OfDevices(const std::vector<std::vector<int64_t>>& groups) const {
  std::vector<std::vector<int64_t>> all;
  for (const std::vector<int64_t>& of_coordinate : devices) {
    for (const std::vector<int64_t>& group : groups) {
      std::vector<int64_t>& global = all.emplace_back();
      for (const int64_t member : group) global.push_back(of_coordinate[member]);
    }
  }
  return all;
}

std::vector<int64_t> ManualRegion::MemberOfDevice() const {
  std::vector<int64_t> members(manual.tile_of.size());
  for (const std::vector<int64_t>& of_coordinate : devices) {
    for (int64_t member = 0; member < this->members(); ++member) members[of_coordinate[member]] = member;
  }
  return members;
}

std::optional<OpFactors> ManualRegion::FactorsOf(const HloInstruction& op) const {
  const ReadForm read = kForms[op.opcode()];
  if (read == nullptr || op.operand_count() != 1 || !op.shape().IsArray() || op.HasControlDependencies())
    return std::nullopt;
  const auto [groups, whole, numbers_devices] = read(op);
  if (!numbers_devices || groups.empty()) return std::nullopt;
  const std::vector<int64_t> members = MemberOfDevice();
  for (const std::vector<int64_t>& group : groups) {
    for (const int64_t device : group) {
      if (device < 0 || device >= static_cast<int64_t>(members.size()) || members[device] != members[group[0]])
        return std::nullopt;
    }
  }
  OpFactors factors;
  for (int64_t d = 0; d < op.shape().rank(); ++d)
    factors.result.push_back(absl::c_linear_search(whole, d) ? OpFactors::kNone : factors.count++);
  factors.operands = {factors.result};
  return factors;
}

absl::StatusOr<ManualRegions> ManualRegions::Find(const HloModule& module, const ShardingMeshes& meshes) {
  ManualRegions regions;
  for (const HloComputation* computation : module.computations())
    HILO_RETURN_IF_ERROR(regions.AddEdges(*computation, meshes, module.num_partitions()));
  if (regions.axes_.empty()) return regions;
  HILO_ASSIGN_OR_RETURN(const std::vector<HloComputation*> callees_first, module.MakeComputationPostOrder());
  regions.context_[module.entry_computation()] = nullptr;
  for (auto it = callees_first.rbegin(); it != callees_first.rend(); ++it) {
    if (regions.context_.contains(*it)) regions.AddComputation(**it);  // else nothing calls it
  }
  return regions;
}

absl::Status ManualRegions::AddEdges(const HloComputation& computation, const ShardingMeshes& meshes, int64_t devices) {
  for (const HloInstruction* call : computation.instructions()) {
    if (!CutsOrJoins(*call)) continue;
    HILO_ASSIGN_OR_RETURN(std::optional<ManualAxes> axes, meshes.ManualAxesOf(*call, devices));
    if (!axes.has_value() || axes->others.count == 1) continue;
    axes->manual.tile_of.resize(devices, 0);
    axes_[call] = *std::move(axes);
  }
  return absl::OkStatus();
}

const ManualRegion* ManualRegions::RegionWithin(const ManualRegion* parent, const HloInstruction* call) {
  const auto it = axes_.find(call);
  if (it == axes_.end()) return nullptr;
  const ManualAxes& own = it->second;
  const std::string name = parent == nullptr ? own.name : absl::StrCat(names_.at(parent), " / ", own.name);
  const auto [found, is_new] = regions_.try_emplace(name);
  ManualRegion& region = found->second;
  const auto devices = static_cast<int64_t>(own.manual.tile_of.size());
  if (is_new) {
    names_[&region] = name;
    region.parent = parent;
    region.axes = own.each;
    region.manual = own.manual;
    if (parent != nullptr && AreIndependent({parent->manual, own.manual}, devices))
      region.manual = Nested(parent->manual, own.manual);
    region.devices.resize(region.manual.count);
    std::vector<int64_t> order(devices);
    std::iota(order.begin(), order.end(), 0);
    absl::c_stable_sort(order, [&](int64_t a, int64_t b) { return own.others.tile_of[a] < own.others.tile_of[b]; });
    for (const int64_t p : order) region.devices[region.manual.tile_of[p]].push_back(p);
  }
  const bool is_valid = parent == nullptr || region.manual.count == parent->manual.count * own.manual.count;
  return is_valid && region.members() > 1 ? &region : nullptr;
}

// What `user` tells of the position of its operands.
ManualRegions::Position ManualRegions::PositionOf(const HloInstruction* user, const ManualRegion* context) const {
  const auto it = positions_.find(user);
  const Position of_user = it == positions_.end() ? Position() : it->second;
  if (!CutsOrJoins(*user)) return of_user;
  const auto edge = edges_.find(user);
  if (edge == edges_.end()) {
    if (CutsToLocal(*user)) return {of_user.region, false};
    return of_user.region == nullptr ? Position() : Position{of_user.region, true};
  }
  const ManualRegion* const operands = CutsToLocal(*user) ? edge->second->parent : edge->second;
  return {operands == context ? nullptr : operands, false};
}

// An instruction is in the region that all its users are in, and one that has none in that of an operand.
void ManualRegions::AddComputation(const HloComputation& computation) {
  const ManualRegion* const context = context_.at(&computation);
  const auto within = [&](const Position& position) { return position.region == nullptr ? context : position.region; };
  const std::vector<HloInstruction*> order = computation.MakePostOrder();
  absl::flat_hash_set<const HloInstruction*> dead;  // of which users tell nothing
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const HloInstruction* op = *it;
    if (op->IsParameter()) continue;
    std::optional<Position> position;
    bool agree = true;
    for (const HloInstruction* user : op->users()) {
      if (dead.contains(user)) continue;
      const Position one = PositionOf(user, context);
      agree = agree && (!position.has_value() || position->region == one.region);
      position = Position{one.region, one.is_nested || (position.has_value() && position->is_nested)};
    }
    if (!position.has_value() && !op->HasSideEffect() && !op->IsRoot()) dead.insert(op);
    if (!agree || !position.has_value() || op->IsRoot()) position = Position();
    if (CutsToLocal(*op)) {
      const ManualRegion* const region = within(*position);
      // Null where nothing tells: what it begins is in the context.
      const bool is_told = region != context;
      const ManualRegion* const own = RegionWithin(is_told ? region->parent : context, op);
      if (!is_told || own == region) {
        position = Position{own, false};
        if (own != nullptr) edges_[op] = own;
      } else {
        position->is_nested = true;
      }
    } else if (CutsOrJoins(*op) && !position->is_nested) {
      if (const ManualRegion* const own = RegionWithin(within(*position), op); own != nullptr) edges_[op] = own;
    }
    if (position->region != nullptr) positions_[op] = *position;
  }
  for (const HloInstruction* op : order) {
    if (CutsToLocal(*op)) {
      // One that nothing ends, as its results have effects alone, is nested where its operands are in a region.
      const auto edge = edges_.find(op);
      const ManualRegion* const parent = edge == edges_.end() ? nullptr : edge->second->parent;
      for (const HloInstruction* operand : op->operands()) {
        const ManualRegion* const around = Of(operand);
        if (around == nullptr || around == Of(op) || around == parent) continue;
        positions_[op] = Position{around, true};
        edges_.erase(op);
      }
    }
    if (CutsOrJoins(*op) || positions_.contains(op)) continue;
    for (const HloInstruction* operand : op->operands()) {
      const auto it = positions_.find(operand);
      if (it == positions_.end()) continue;
      const Position position = it->second;
      positions_[op] = position;
      break;
    }
  }
  // What leaves a region without a call that ends it is a local array of each device: nothing there is divided.
  if (positions_.contains(computation.root_instruction())) {
    for (const HloInstruction* op : order) {
      positions_.erase(op);
      edges_.erase(op);
    }
  }
  for (const HloInstruction* op : order) {
    for (const HloComputation* called : op->called_computations()) {
      const ManualRegion* const region = Of(op) == nullptr ? context : Of(op);
      const auto [it, is_new] = context_.try_emplace(called, region);
      if (it->second != region) it->second = nullptr;  // regions in it are then not divided where they are nested
    }
  }
}

bool ManualRegion::IsWithin(const ManualRegion* other) const {
  const ManualRegion* outer = parent;
  while (outer != nullptr && outer != other) outer = outer->parent;
  return outer == other;
}

const ManualRegion* ManualRegions::Of(const HloInstruction* instruction) const {
  const auto it = positions_.find(instruction);
  return it == positions_.end() ? nullptr : it->second.region;
}

bool ManualRegions::IsNested(const HloInstruction* instruction) const {
  const auto it = positions_.find(instruction);
  return it != positions_.end() && it->second.is_nested;
}

const ManualRegion* ManualRegions::OfEdge(const HloInstruction* call) const {
  const auto edge = edges_.find(call);
  return edge == edges_.end() ? nullptr : edge->second;
}

}  // namespace hilo
