#include "hlo/passes/partition/manual_regions.h"

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
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
  if (regions.regions_.empty()) return regions;
  for (const HloComputation* computation : module.computations()) regions.AddComputation(*computation);
  return regions;
}

absl::Status ManualRegions::AddEdges(const HloComputation& computation, const ShardingMeshes& meshes, int64_t devices) {
  for (const HloInstruction* call : computation.instructions()) {
    if (!CutsOrJoins(*call)) continue;
    HILO_ASSIGN_OR_RETURN(const std::optional<ManualAxes> axes, meshes.ManualAxesOf(*call, devices));
    if (!axes.has_value() || axes->others.count == 1) continue;
    const auto [it, is_new] = regions_.try_emplace(axes->name);
    ManualRegion& region = it->second;
    if (is_new) {
      region.manual = axes->manual;
      region.axes = axes->each;
      region.manual.tile_of.resize(devices, 0);
      region.devices.assign(region.manual.count, std::vector<int64_t>(axes->others.count));
      for (int64_t p = 0; p < devices; ++p) region.devices[region.manual.tile_of[p]][axes->others.tile_of[p]] = p;
    }
    edges_[call] = &region;
  }
  return absl::OkStatus();
}

// What `user` tells of the position of its operands.
ManualRegions::Position ManualRegions::PositionOf(const HloInstruction* user) const {
  const auto it = positions_.find(user);
  const Position of_user = it == positions_.end() ? Position() : it->second;
  const auto edge = edges_.find(user);
  if (!CutsOrJoins(*user)) return of_user;
  const ManualRegion* own = edge == edges_.end() ? nullptr : edge->second;
  if (CutsToLocal(*user)) return of_user.region == own ? Position() : Position{of_user.region, false};
  return of_user.region == nullptr ? Position{own, false} : Position{of_user.region, true};
}

// An instruction is in the region that all its users are in, and one that has none in that of an operand.
void ManualRegions::AddComputation(const HloComputation& computation) {
  const std::vector<HloInstruction*> order = computation.MakePostOrder();
  absl::flat_hash_set<const HloInstruction*> dead;  // of which users tell nothing
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const HloInstruction* op = *it;
    if (op->IsParameter() || op->IsRoot()) continue;
    const auto edge = edges_.find(op);
    std::optional<Position> position;
    bool agree = true;
    for (const HloInstruction* user : op->users()) {
      if (dead.contains(user)) continue;
      const Position one = PositionOf(user);
      agree = agree && (!position.has_value() || position->region == one.region);
      position = Position{one.region, one.is_nested || (position.has_value() && position->is_nested)};
    }
    if (!position.has_value() && !op->HasSideEffect()) dead.insert(op);
    if (!agree || !position.has_value()) position = Position();
    if (CutsToLocal(*op)) {
      const ManualRegion* own = edge == edges_.end() ? nullptr : edge->second;
      if (position->region == nullptr || position->region == own) {
        position = Position{own, false};
      } else {
        position->is_nested = true;
      }
    }
    if (position->region != nullptr) positions_[op] = *position;
  }
  for (const HloInstruction* op : order) {
    if (CutsToLocal(*op)) {
      // One that nothing ends, as its results have effects alone, is nested where its operands are in a region.
      for (const HloInstruction* operand : op->operands()) {
        const ManualRegion* const around = Of(operand);
        if (around != nullptr && around != Of(op)) positions_[op] = Position{around, true};
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
  if (!positions_.contains(computation.root_instruction())) return;
  for (const HloInstruction* op : order) {
    positions_.erase(op);
    edges_.erase(op);
  }
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
  if (edge == edges_.end()) return nullptr;
  const auto it = positions_.find(call);
  if (CutsToLocal(*call)) return it != positions_.end() && it->second.is_nested ? nullptr : edge->second;
  return it == positions_.end() ? edge->second : nullptr;
}

}  // namespace hilo
